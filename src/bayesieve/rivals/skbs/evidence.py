r"""Log Bayes factors of shared kernels without sampling: two kernels on a line of weights, three on a triangle.

Given the kernels, the evidence of a set of values is
:math:`I(x) = E_{w \sim Dir(\alpha)} \prod_i \sum_k w_k f_k(x_i)`, and
:math:`\log BF = \ln I(x_0) + \ln I(x_1) - \ln I(x_0 \cup x_1)`.

Nodes and their error are those of :mod:`bayesieve.rivals.skbs.quadrature`.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from bayesieve.rivals.skbs.quadrature import quadrature, quadrature_error
from bayesieve.rivals.skbs.shared_kernels import SharedKernels
from bayesieve.utils import FloatArray, compiled, for_each, share

MOST_KERNELS = 3
_AT_ONCE = 12  # factors multiplied before a logarithm is taken; none is far below the smallest node


def exact_log_bayes_factor(
    rows: FloatArray, n_first: int, kernels: SharedKernels, *, n_threads: int = 1
) -> tuple[FloatArray, float]:
    """Log Bayes factor of every feature, and the bound of its error.

    Parameters
    ----------
    rows
        One feature per row: first the ``n_first`` values of the first class, then those of the second; NaN where
        there is none.
    n_first
        Number of samples of the first class.
    kernels
        One, two or three kernels.

    Returns
    -------
    log_bayes_factor : ndarray
        One number per feature.
    error : float
        Bound of the error: that of three integrals.
    """
    found = np.zeros(rows.shape[0])
    if kernels.n_kernels == 1:
        return found, 0.0
    alpha = tuple(kernels.alpha.tolist())
    rule = quadrature(alpha, rows.shape[1])

    def work(part: tuple[int, int]) -> None:
        lo, hi = part
        _integrate(rows[lo:hi], n_first, kernels.constants, rule.nodes, rule.log_weights, found[lo:hi])

    for_each(work, share(rows.shape[0], n_threads), n_threads)
    return found, 3.0 * quadrature_error(alpha, rows.shape[1])


@compiled(fastmath={"contract"})
def _log_likelihoods(values: Any, constants: Any, nodes: Any, logs: Any) -> None:
    """Log-likelihood of values at every node; the largest density of a value is taken for 1."""
    n_kernels, n_nodes = nodes.shape
    density, product = np.empty(n_kernels), np.ones(n_nodes)
    logs[:] = 0.0
    kept = 0
    for x in values:
        if math.isnan(x):
            continue
        for k in range(n_kernels):
            scaled = (x - constants[0, k]) * constants[1, k]
            density[k] = constants[2, k] - 0.5 * scaled * scaled
        most = density.max()
        d0, d1, d2 = math.exp(density[0] - most), math.exp(density[1] - most), 0.0
        if n_kernels == 2:
            for q in range(n_nodes):
                product[q] *= d0 * nodes[0, q] + d1 * nodes[1, q]
        else:
            d2 = math.exp(density[2] - most)
            for q in range(n_nodes):
                product[q] *= d0 * nodes[0, q] + d1 * nodes[1, q] + d2 * nodes[2, q]
        kept += 1
        if kept == _AT_ONCE:
            logs += np.log(product)
            product[:] = 1.0
            kept = 0
    logs += np.log(product)


@compiled()
def _log_sum(logs: Any) -> float:
    most = logs.max()
    total = 0.0
    for each in logs:
        total += math.exp(each - most)
    return float(most + math.log(total))


@compiled()
def _integrate(rows: Any, n_first: int, constants: Any, nodes: Any, log_weights: Any, found: Any) -> None:
    """Integrate both classes and all samples on the same nodes; a common factor of densities cancels."""
    first, second = np.empty((2, nodes.shape[1]))
    for f in range(rows.shape[0]):
        _log_likelihoods(rows[f, :n_first], constants, nodes, first)
        _log_likelihoods(rows[f, n_first:], constants, nodes, second)
        both = _log_sum(log_weights + first + second)
        found[f] = _log_sum(log_weights + first) + _log_sum(log_weights + second) - both
