r"""Nodes and weights for integrals over the weights of two or three kernels, with a bound of their error.

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

import numpy as np

from bayesieve.utils import FloatArray

FINE, COARSE = 4.0, 2.0  # nodes per root of the degree: to rounding, and for estimates
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
    """

    nodes: FloatArray
    log_weights: FloatArray


@functools.lru_cache(maxsize=8)
def quadrature(alpha: tuple[float, ...], n_values: int, pace: float = FINE) -> Quadrature:
    """Return nodes for two or three kernels and any sets of up to ``n_values`` values."""
    if len(alpha) == 2:
        p, q, log_weights = _beta_nodes(*alpha, n_values, pace)
        return Quadrature(np.stack([p, q]), log_weights)
    (u, not_u, log_u), (v, not_v, log_v) = (_beta_nodes(*axis, n_values, pace) for axis in _axes(alpha))
    nodes = np.stack([np.repeat(u, v.size), np.outer(not_u, v).ravel(), np.outer(not_u, not_v).ravel()])
    return Quadrature(nodes, np.add.outer(log_u, log_v).ravel())


@functools.lru_cache(maxsize=8)
def quadrature_error(alpha: tuple[float, ...], n_values: int, pace: float = FINE) -> float:
    """Bound of the relative error of the evidence of up to so many values, rounding included."""
    return sum(_largest_error(*axis, n_values, pace) for axis in _axes(alpha))


def _axes(alpha: tuple[float, ...]) -> list[tuple[float, float]]:
    """Beta distributions that the weights are made of."""
    return [(alpha[k], sum(alpha[k + 1 :])) for k in range(len(alpha) - 1)]


def _beta_nodes(a: float, b: float, n_values: int, pace: float) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Nodes p, 1 - p and log weights for Beta(a, b).

    Whole parts of a and b are taken into the integrand: a rule for a narrow prior would have no nodes where data
    that contradict it need them.
    """
    from scipy.linalg import eigh_tridiagonal  # noqa: PLC0415 - slow to import
    from scipy.special import betaln  # noqa: PLC0415

    rest_a, rest_b = (each - max(math.ceil(each) - 1, 0) for each in (a, b))
    degree = n_values + (a - rest_a) + (b - rest_b)
    number = int(min(degree // 2 + 1, math.ceil(pace * math.sqrt(degree)) + 8))
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


def _largest_error(a: float, b: float, n: int, pace: float) -> float:
    """Largest relative error of the rule for p^i (1 - p)^(n - i): a bound for every set of up to n values."""
    from scipy.special import betaln, logsumexp  # noqa: PLC0415 - slow to import

    p, q, log_weights = _beta_nodes(a, b, n, pace)
    i = np.arange(n + 1.0)
    if n > _ALL_TERMS:  # the error changes slowly away from the ends
        i = np.unique(np.round(0.5 * n * (1.0 - np.cos(np.linspace(0.0, np.pi, _ALL_TERMS)))))
    worst = 0.0
    for part in np.array_split(i, -(-i.size // 500)):
        terms = log_weights + np.outer(part, np.log(p)) + np.outer(n - part, np.log(q))
        exact = betaln(a + part, b + n - part) - betaln(a, b)
        worst = max(worst, float(np.abs(np.expm1(logsumexp(terms, axis=1) - exact)).max()))
    return worst
