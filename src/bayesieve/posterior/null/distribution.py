r"""Null distribution of the Pearson-Neyman statistic (section S6): exact, and interpolated for many features.

Under Gaussian data with equal classes, :math:`\lambda = c\, T^{n/2} V^{n_0/2} (1 - V)^{n_1/2}` with
:math:`V \sim \mathrm{Beta}(\frac{n_0-1}2, \frac{n_1-1}2)` independent of
:math:`T \sim \mathrm{Beta}(\frac{n-2}2, \frac12)`, so that its moments are ratios of gamma functions.
They are the Laplace transform of :math:`x = -\log\lambda`, and

.. math:: P(\Lambda \le \lambda) = -\frac{1}{2\pi i} \int E[\Lambda^h] e^{h x} \frac{dh}{h}

along any path that leaves the poles of the moments to its left and 0 to its right; with 0 to its left the
same integral, without the sign, is :math:`P(\Lambda > \lambda)`. The path here is a hyperbola through (about)
the saddle point, on which the trapezoidal rule converges geometrically and nothing cancels, so that log
probabilities keep their digits at both ends and for all class sizes.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
from numpy.polynomial import Chebyshev
from scipy.special import bernoulli, digamma, loggamma

from bayesieve.utils import DataError, FloatArray, for_each, n_threads_for

_N_NODES, _REACH, _ANGLE = 60, 5.25, math.pi / 4.0
_ROWS = 256  # values inverted together
_SWITCH = 1.0  # below this x the probability of a larger lambda is the smaller one
_LARGE = 20.0  # from here on the series of the gamma function has all digits
_POWERS = np.arange(1, 15)
_SERIES = 0.5**_POWERS / _POWERS + (0.5**_POWERS - 1.0) * bernoulli(15)[2:] / (_POWERS * (_POWERS + 1))
_MOST_STEPS, _NEAR = 50, 1e-12
_LEAST = 1e-300  # anything nearer to 0 stays as it is


def _path() -> tuple[npt.NDArray[np.complex128], npt.NDArray[np.complex128]]:
    """Half a hyperbola around the negative axis that crosses the positive axis at 1: points and steps."""
    step = _REACH / _N_NODES
    u = step * np.arange(_N_NODES)
    size, fall = 1.0 / (1.0 - math.sin(_ANGLE)), math.sin(_ANGLE)
    points = size * (1.0 - fall * np.cosh(u) + 1j * math.cos(_ANGLE) * np.sinh(u))
    steps = step / math.pi * size * (-fall * np.sinh(u) + 1j * math.cos(_ANGLE) * np.cosh(u))
    steps[0] *= 0.5
    return points, steps


_POINTS, _STEPS = _path()


def log_null_probability(log_lambda: npt.ArrayLike, n0: npt.ArrayLike, n1: npt.ArrayLike) -> FloatArray:
    r"""Log probability that a non-marker shows :math:`\log\lambda` at most this large: the exact log p-value.

    Notes
    -----
    Each value is worked out by itself. Relative errors of the result are below 1e-13 for class sizes up to at
    least 10 million and log probabilities from -1e-14 to -1e8.
    """
    values, n0, n1 = _broadcast(np.minimum(np.asarray(log_lambda, dtype=np.float64), 0.0), n0, n1)
    return _row_by_row(lambda x, small, large: _invert(-x, small, large)[0], values, n0, n1)


def null_quantile(log_probability: npt.ArrayLike, n0: npt.ArrayLike, n1: npt.ArrayLike) -> FloatArray:
    r"""Find the :math:`\log\lambda` that non-markers stay below with a given log probability.

    The inverse of :func:`log_null_probability`, by Newton's method. A cut of the size :math:`\alpha` is
    ``null_quantile(log(alpha), n0, n1)``.
    """
    values, n0, n1 = _broadcast(np.asarray(log_probability, dtype=np.float64), n0, n1)
    if (values > 0).any():
        raise DataError(f"A log probability is at most 0, not {values.max()}.")
    return _row_by_row(_quantile, values, n0, n1)


def log_null_moment(order: npt.ArrayLike, n0: npt.ArrayLike, n1: npt.ArrayLike) -> FloatArray:
    r"""Log of :math:`E[\Lambda^h]` of a non-marker; infinite for :math:`h \le 1/\min(n_0, n_1) - 1`.

    .. math::
        E[\Lambda^h] = c^h \frac{\Gamma(\frac{n_0(1+h)-1}2) \Gamma(\frac{n_1(1+h)-1}2) \Gamma(\frac{n-1}2)}
        {\Gamma(\frac{n_0-1}2) \Gamma(\frac{n_1-1}2) \Gamma(\frac{n(1+h)-1}2)}, \quad
        \log c = \tfrac12 (n \log n - n_0 \log n_0 - n_1 \log n_1)
    """
    values, n0, n1 = _broadcast(np.asarray(order, dtype=np.float64), n0, n1)
    small, large = np.minimum(n0, n1), np.maximum(n0, n1)
    beyond = values + (1.0 - 1.0 / small)
    inside = np.where(beyond > 0, beyond, 1.0)
    result = _log_scaled_moment(inside, small, large) - np.log(inside + 1.0 / small)
    return np.asarray(np.where(beyond > 0, result, np.where(np.isnan(beyond), np.nan, np.inf)))


def null_mean(n0: npt.ArrayLike, n1: npt.ArrayLike) -> FloatArray:
    r"""Return :math:`E[\log\Lambda]` of a non-marker, near -1 unless classes are small.

    .. math:: \log c + \sum_y \tfrac{n_y}2 \left[\psi(\tfrac{n_y-1}2) - \psi(\tfrac{n-1}2)\right]

    Bartlett's approximation divides :math:`\log\lambda` by minus this number.
    """
    _, n0, n1 = _broadcast(np.asarray(0.0), n0, n1)
    small, large = np.minimum(n0, n1), np.maximum(n0, n1)
    parts = [0.5 * size * _slope_of_rest(0.5 * (size - 1.0)) for size in (small, large, small + large)]
    return np.asarray(parts[0] + parts[1] - parts[2] - 1.0)


def _broadcast(values: FloatArray, n0: Any, n1: Any) -> list[FloatArray]:
    """Check the class sizes and give all three the same shape."""
    sizes = [np.asarray(n, dtype=np.float64) for n in (n0, n1)]
    least = [float(np.min(n, initial=np.inf)) for n in sizes]
    if not all(n >= 2 for n in least):
        raise DataError(
            f"The distribution of lambda needs at least 2 samples per class, not {least[0]:g} and {least[1]:g}."
        )
    return list(np.broadcast_arrays(values, *sizes))


def _row_by_row(
    function: Callable[[FloatArray, FloatArray, FloatArray], FloatArray],
    values: FloatArray,
    n0: FloatArray,
    n1: FloatArray,
) -> FloatArray:
    """Apply a function that fixes 0 and minus infinity to some values at a time, to need little memory."""
    flat, n0, n1 = values.ravel(), n0.ravel(), n1.ravel()
    result = np.array(flat)
    inner = np.flatnonzero(np.isfinite(flat) & (flat < -_LEAST))

    def work(first: int) -> None:
        rows = inner[first : first + _ROWS]
        result[rows] = function(flat[rows], np.minimum(n0[rows], n1[rows]), np.maximum(n0[rows], n1[rows]))

    for_each(work, range(0, inner.size, _ROWS), n_threads_for(None, inner.size * _N_NODES))
    return result.reshape(values.shape)


def _invert(x: FloatArray, small: FloatArray, large: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the log probability of more than ``x`` and its slope, for ``x`` above 0.

    The path crosses the real axis where the integrand would have its saddle if the moments were 1 / (h + pole).
    """
    pole = 1.0 - 1.0 / small  # how far left of 0 the first pole of the moments lies
    lower = x < _SWITCH
    root = np.hypot(x * pole, 2.0)
    width = np.where(lower, (2.0 - x * pole + root) / (2.0 * x), 2.0 * pole / (2.0 + x * pole + root))[:, None]
    path = width * _POINTS
    h, beyond = (path + np.where(lower, near, far)[:, None] for near, far in ((0.0, -pole), (pole, 0.0)))
    log_term = _log_scaled_moment(beyond, small[:, None], large[:, None]) + x[:, None] * path
    top = log_term.real[:, 0].copy()
    log_term -= top[:, None]
    term = np.exp(log_term) * (width * _STEPS) / (beyond + 1.0 / small[:, None])
    density, tail = term.imag.sum(axis=1), np.abs((term / h).imag.sum(axis=1))
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):  # the branch that is not taken
        below = np.exp(top) * tail
        log_tail = np.where(lower, np.log1p(-below), top - x * pole + np.log(tail))
        slope = np.where(lower, -np.exp(top) * density / (1.0 - below), -density / tail)
    return log_tail, slope


def _quantile(log_probability: FloatArray, small: FloatArray, large: FloatArray) -> FloatArray:
    """Solve for log lambda; log probabilities are nearly straight lines, so a few steps do."""
    x = -log_probability
    for _ in range(_MOST_STEPS):
        value, slope = _invert(x, small, large)
        moved = np.maximum(x - (value - log_probability) / slope, 0.125 * x)
        done = np.abs(moved - x) <= _NEAR * x
        x = moved
        if done.all():
            break
    return -x


def _log_scaled_moment(beyond: Any, small: FloatArray, large: FloatArray) -> Any:
    r"""Return :math:`\log((1 + h) E[\Lambda^h])` at ``beyond`` right of the first pole; it is of order 1.

    With :math:`R(z) = \log\Gamma(z) - (w - 1) \log w + w - \tfrac12 \log 2\pi`, :math:`w = z + \tfrac12`, the
    large terms cancel against :math:`c^h` and leave the factor :math:`1/(1 + h)`.
    """
    result = np.zeros_like(beyond)
    for size, sign in ((small, 1.0), (large, 1.0), (small + large, -1.0)):
        half = 0.5 * size
        result += sign * (_rest(half * beyond + 0.5 * ((size - small) / small)) - _rest(half - 0.5))
    return result


def _rest(z: Any) -> Any:
    """Return what is left of log gamma(z) without the large terms, by DLMF 5.11.8 or directly where z is small."""
    w = z + 0.5
    near = (np.abs(w.real) < _LARGE) & (np.abs(w.imag) < _LARGE)
    rest = np.zeros_like(w)
    if not near.all():
        inverse = 1.0 / w
        for coefficient in _SERIES[::-1]:
            rest += coefficient
            rest *= inverse
    if near.any():
        z, w = z[near], w[near]
        rest[near] = loggamma(z) - (w - 1.0) * np.log(w) + w - 0.5 * math.log(2.0 * math.pi)
    return rest


def _slope_of_rest(z: FloatArray) -> FloatArray:
    w = z + 0.5
    series = sum(
        -power * coefficient * w ** -(power + 1.0) for power, coefficient in zip(_POWERS, _SERIES, strict=True)
    )
    return np.asarray(np.where(w < _LARGE, digamma(z) - np.log(w) + 1.0 / w, series))


_DEGREE = 64
_FAR = 4096.0  # -log lambda beyond it is worked out directly
_MANY = 2 * (_DEGREE + 1)  # features with the same class sizes for which a table is worth its cost


def tabulated_log_null_probability(log_lambda: npt.ArrayLike, n0: npt.ArrayLike, n1: npt.ArrayLike) -> FloatArray:
    r"""Log p-values of many features, those with common class sizes by interpolation.

    The ratio of :math:`\log p` to :math:`\log\lambda` changes little and smoothly, so a polynomial of degree 64
    in :math:`\log(1 - \log\lambda)` holds it to about 1e-13 for :math:`-\log\lambda` up to 4,096. Values beyond,
    and class sizes of few features, go through
    :func:`~bayesieve.posterior.null.distribution.log_null_probability` itself.
    """
    values, n0, n1 = np.broadcast_arrays(np.asarray(log_lambda, dtype=np.float64), n0, n1)
    flat, sizes = values.ravel(), np.stack([np.minimum(n0, n1).ravel(), np.maximum(n0, n1).ravel()])
    result, left = np.empty_like(flat), np.ones(flat.shape, dtype=bool)
    near = np.flatnonzero((flat < 0) & (flat >= -_FAR))
    for rows in _of_equal_sizes(sizes, near):
        small, large = sizes[:, rows[0]].tolist()
        if rows.size >= _MANY and small >= 2:
            result[rows], left[rows] = _interpolate(flat[rows], small, large), False
    result[left] = log_null_probability(flat[left], *sizes[:, left])
    return result.reshape(values.shape)


def _of_equal_sizes(sizes: npt.NDArray[np.float64], rows: npt.NDArray[np.int64]) -> list[npt.NDArray[np.int64]]:
    """Put together the rows that have the same class sizes."""
    if not rows.size or (sizes[:, rows] == sizes[:, rows[:1]]).all():
        return [rows] if rows.size else []
    _, which, counts = np.unique(sizes[:, rows], axis=1, return_inverse=True, return_counts=True)
    return np.split(rows[np.argsort(which.ravel(), kind="stable")], np.cumsum(counts)[:-1])


def _interpolate(log_lambda: FloatArray, small: float, large: float) -> FloatArray:
    def ratio(position: FloatArray) -> FloatArray:
        x = np.expm1(position)
        return log_null_probability(-x, small, large) / -x

    table = Chebyshev.interpolate(ratio, _DEGREE, domain=[0.0, np.log1p(_FAR)])
    return np.asarray(log_lambda * table(np.log1p(-log_lambda)))
