r"""Log Bayes factors of shared kernels without sampling: two kernels on a line of weights, three on a triangle.

Given the kernels, the evidence of a set of values is
:math:`I(x) = E_{w \sim Dir(\alpha)} \prod_i \sum_k w_k f_k(x_i)`, and
:math:`\log BF = \ln I(x_0) + \ln I(x_1) - \ln I(x_0 \cup x_1)`.

For two kernels the integrand is :math:`\sum_a c_a p^a (1 - p)^{n - a}` with :math:`c_a \ge 0` whatever the data. A
rule with positive weights therefore errs, relative to :math:`I`, by at most its largest relative error for the
:math:`n + 1` terms :math:`p^a (1 - p)^{n - a}`, of which the integrals are Beta functions: the error is known
before any data are seen. Weights of three kernels are :math:`u, (1 - u) v, (1 - u)(1 - v)` with independent Beta
distributions, so that the bound is that of two such rules.

The degree is :math:`n`, so that :math:`n / 2 + 1` nodes leave only rounding. About :math:`4 \sqrt n` do as well:
terms are as narrow as :math:`1 / \sqrt n`, and nodes lie :math:`\pi / Q` apart in the angle.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from bayesieve.rivals.skbs.shared_kernels import SharedKernels
from bayesieve.utils import FloatArray, compiled, for_each, share

MOST_KERNELS = 3
_AT_ONCE = 12  # factors multiplied before a logarithm is taken; none is far below the smallest node
_ALL_TERMS = 4000


@dataclass(frozen=True, slots=True, eq=False)
class Quadrature:
    """Nodes for the weights of kernels.

    Parameters
    ----------
    nodes
        Weights of the kernels: ``(n_kernels, n_nodes)``.
    log_weights
        Logarithms of the weights of the nodes.
    error
        Bound of the relative error of the evidence of up to so many values, rounding included.
    """

    nodes: FloatArray
    log_weights: FloatArray
    error: float


@functools.lru_cache(maxsize=8)
def quadrature(alpha: tuple[float, ...], n_values: int) -> Quadrature:
    """Return nodes for one, two or three kernels and any sets of up to ``n_values`` values."""
    if len(alpha) == 1:
        return Quadrature(np.ones((1, 1)), np.zeros(1), 0.0)
    if len(alpha) == 2:
        p, q, log_weights = _beta_nodes(*alpha, n_values)
        return Quadrature(np.stack([p, q]), log_weights, _largest_error(p, q, log_weights, *alpha, n_values))
    axes = (alpha[0], alpha[1] + alpha[2]), (alpha[1], alpha[2])
    (u, not_u, log_u), (v, not_v, log_v) = (_beta_nodes(*axis, n_values) for axis in axes)
    errors = [
        _largest_error(*rule, *axis, n_values)
        for rule, axis in zip(((u, not_u, log_u), (v, not_v, log_v)), axes, strict=True)
    ]
    nodes = np.stack([np.repeat(u, v.size), np.outer(not_u, v).ravel(), np.outer(not_u, not_v).ravel()])
    return Quadrature(nodes, np.add.outer(log_u, log_v).ravel(), sum(errors))


def _beta_nodes(a: float, b: float, n_values: int) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Nodes p, 1 - p and log weights for Beta(a, b).

    Whole parts of a and b are taken into the integrand: a rule for a narrow prior would have no nodes where data
    that contradict it need them.
    """
    from scipy.linalg import eigh_tridiagonal  # noqa: PLC0415 - slow to import
    from scipy.special import betaln  # noqa: PLC0415

    rest_a, rest_b = (each - max(math.ceil(each) - 1, 0) for each in (a, b))
    degree = n_values + (a - rest_a) + (b - rest_b)
    number = int(min(degree // 2 + 1, math.ceil(4.0 * math.sqrt(degree)) + 8))
    diagonal, beside = _jacobi_matrix(rest_a, rest_b, number)
    x = eigh_tridiagonal(diagonal, beside, eigvals_only=True)
    before, now, total = np.zeros(number), np.ones(number), np.ones(number)
    for j in range(number - 1):  # weights of Gauss: one over the sum of squares of orthonormal polynomials
        before, now = now, ((x - diagonal[j]) * now - (beside[j - 1] if j else 0.0) * before) / beside[j]
        total += now * now
    p, q = 0.5 * (1.0 + x), 0.5 * (1.0 - x)
    tiny = np.finfo(np.float64).tiny
    p, q = np.maximum(p, tiny), np.maximum(q, tiny)
    moved = (a - rest_a) * np.log(p) + (b - rest_b) * np.log(q) + betaln(rest_a, rest_b) - betaln(a, b)
    return p, q, moved - np.log(total)


def _jacobi_matrix(a: float, b: float, number: int) -> tuple[FloatArray, FloatArray]:
    """Return the recurrence of the orthonormal polynomials of Beta(a, b), moved to (-1, 1)."""
    s = a + b - 2.0
    k = np.arange(1.0, number)
    diagonal = np.empty(number)
    diagonal[0] = (a - b) / (a + b)
    diagonal[1:] = (a - b) * s / ((2.0 * k + s) * (2.0 * k + s + 2.0))
    squared = np.empty(number - 1)
    squared[:1] = 4.0 * a * b / ((a + b) ** 2 * (a + b + 1.0))
    k, c = k[1:], 2.0 * k[1:] + s
    squared[1:] = 4.0 * k * (k + b - 1.0) * (k + a - 1.0) * (k + s) / (c * c * (c + 1.0) * (c - 1.0))
    return diagonal, np.sqrt(squared)


def _largest_error(p: FloatArray, q: FloatArray, log_weights: FloatArray, a: float, b: float, n: int) -> float:
    """Largest relative error of the rule for p^i (1 - p)^(n - i): a bound for every set of up to n values."""
    from scipy.special import betaln, logsumexp  # noqa: PLC0415 - slow to import

    i = np.arange(n + 1.0)
    if n > _ALL_TERMS:  # the error changes slowly away from the ends
        i = np.unique(np.round(0.5 * n * (1.0 - np.cos(np.linspace(0.0, np.pi, _ALL_TERMS)))))
    worst = 0.0
    for part in np.array_split(i, -(-i.size // 500)):
        terms = log_weights + np.outer(part, np.log(p)) + np.outer(n - part, np.log(q))
        exact = betaln(a + part, b + n - part) - betaln(a, b)
        worst = max(worst, float(np.abs(np.expm1(logsumexp(terms, axis=1) - exact)).max()))
    return worst


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
        Bound of the error: three integrals with the bound of :class:`Quadrature`.
    """
    found = np.zeros(rows.shape[0])
    if kernels.n_kernels == 1:
        return found, 0.0
    rule = quadrature(tuple(kernels.alpha.tolist()), rows.shape[1])

    def work(part: tuple[int, int]) -> None:
        lo, hi = part
        _integrate(rows[lo:hi], n_first, kernels.constants, rule.nodes, rule.log_weights, found[lo:hi])

    for_each(work, share(rows.shape[0], n_threads), n_threads)
    return found, 3.0 * rule.error


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
