r"""The exact law of the Pearson-Neyman statistic when a feature is no marker.

Under Gaussian data with equal classes, :math:`\lambda = c\, T^{n/2} V^{n_0/2} (1 - V)^{n_1/2}` with
:math:`V \sim \mathrm{Beta}(\frac{n_0-1}2, \frac{n_1-1}2)` independent of
:math:`T \sim \mathrm{Beta}(\frac{n-2}2, \frac12)`. The probability of a value at most as large as
:math:`\lambda` is therefore a one-dimensional integral, taken here in log space.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import betainc, betaln, logsumexp

from bayesieve.errors import DataError

FloatArray = npt.NDArray[np.float64]

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(96)
_SMALLEST = 1e-290


def log_null_probability(log_lambda: npt.ArrayLike, n0: int, n1: int) -> FloatArray:
    r"""Log probability that a non-marker shows :math:`\log\lambda` at most this large.

    Parameters
    ----------
    log_lambda
        Values of the statistic, at most 0 (a positive value counts as 0).
    n0, n1
        Class sizes, at least 2 each.

    Examples
    --------
    >>> from bayesieve.posterior.null_law import log_null_probability
    >>> float(log_null_probability(-3.8466393963, 4, 5).round(8))
    -2.69406675
    """
    if n0 < 2 or n1 < 2:
        raise DataError(f"The law of lambda needs at least 2 samples per class, not {n0} and {n1}.")
    values = np.minimum(np.asarray(log_lambda, dtype=np.float64), 0.0)
    flat = np.atleast_1d(values).ravel()
    result = np.full(flat.shape, -np.inf)
    result[flat == 0] = 0.0
    inner = np.isfinite(flat) & (flat < 0)
    if inner.any():
        result[inner] = _log_tail(flat[inner], int(n0), int(n1))
    return result.reshape(values.shape)


def _log_tail(log_lambda: FloatArray, n0: int, n1: int) -> FloatArray:
    n, r = n0 + n1, n0 / (n0 + n1)
    centre = np.log(n0 / n1)
    excess = -2.0 / n * log_lambda  # -log t at the centre, the largest value of -log t
    left = _edge(excess, r, centre, -1.0)
    right = _edge(excess, r, centre, 1.0)
    a0, a1 = (n0 - 1) / 2, (n1 - 1) / 2
    parts = [
        _log_betainc(a0, a1, -_softplus(-left), -_softplus(left)),
        _log_betainc(a1, a0, -_softplus(right), -_softplus(-right)),
    ]
    theta = 0.25 * np.pi * (_NODES + 1.0)
    for edge in (left, right):
        span = (centre - edge)[:, None]
        u = edge[:, None] + span * np.sin(theta) ** 2
        log_t = np.minimum(-_height(u, r, centre, excess[:, None]), 0.0)
        density = -a0 * _softplus(-u) - a1 * _softplus(u) - betaln(a0, a1)
        log_step = np.log(np.abs(span) * 2.0 * np.sin(theta) * np.cos(theta) * (0.25 * np.pi * _WEIGHTS))
        inside = _log_betainc((n - 2) / 2, 0.5, log_t, np.log(-np.expm1(np.minimum(log_t, -1e-300))))
        parts.append(logsumexp(inside + density + log_step, axis=1))
    return np.asarray(np.minimum(logsumexp(np.stack(parts), axis=0), 0.0))


def _height(u: Any, r: float, centre: float, excess: Any) -> Any:
    """Return -log t(u): ``excess`` at the centre, falling to 0 at the two edges."""
    at_centre = -r * np.logaddexp(0.0, -centre) - (1 - r) * np.logaddexp(0.0, centre)
    return excess + (-r * _softplus(-u) - (1 - r) * _softplus(u)) - at_centre


def _edge(excess: FloatArray, r: float, centre: float, side: float) -> FloatArray:
    """Find where -log t reaches 0 on one side of the centre, by doubling and bisection."""
    step = np.full(excess.shape, 1e-8)
    while (open_ := _height(centre + side * step, r, centre, excess) > 0).any():
        step = np.where(open_, 2.0 * step, step)
    low, high = np.zeros_like(step), step
    for _ in range(100):
        middle = 0.5 * (low + high)
        above = _height(centre + side * middle, r, centre, excess) > 0
        low, high = np.where(above, middle, low), np.where(above, high, middle)
    return np.asarray(centre + side * 0.5 * (low + high))


def _softplus(x: Any) -> Any:
    return np.logaddexp(0.0, x)


def _log_betainc(a: float, b: float, log_x: FloatArray, log_rest: FloatArray) -> FloatArray:
    """Log of the regularised incomplete beta function at ``x = exp(log_x)``, ``1 - x = exp(log_rest)``."""
    x = np.exp(log_x)
    plain = betainc(a, b, x)
    with np.errstate(divide="ignore"):
        result = np.asarray(np.log(plain))
    tiny = plain < _SMALLEST
    if tiny.any():
        result[tiny] = a * log_x[tiny] + b * log_rest[tiny] - np.log(a) - betaln(a, b) + _log_series(a, b, x[tiny])
    return result


def _log_series(a: float, b: float, x: FloatArray) -> FloatArray:
    """Log of 2F1(a + b, 1; a + 1; x), a positive series that converges fast where it is needed."""
    total, term, k = np.ones_like(x), np.ones_like(x), 0
    while (term > 1e-17 * total).any() and k < 100_000:
        term = term * (a + b + k) / (a + 1 + k) * x
        total, k = total + term, k + 1
    return np.asarray(np.log(total))
