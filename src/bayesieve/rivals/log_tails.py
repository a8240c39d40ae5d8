r"""Logarithms of two-sided tails of Student's t and of the normal distribution, far below the smallest float.

With :math:`a = \nu/2` and :math:`x = \nu/(\nu + t^2)` the tail :math:`P(|T_\nu| \ge |t|)` is the regularised
incomplete beta function :math:`I_x(a, \tfrac12)`. Three expansions cover all arguments, each with terms that do
not cancel, or cancel without harm, where it is used:

* near 0, one minus the series of :math:`I_{1-x}(\tfrac12, a)` in powers of :math:`1 - x`;
* for :math:`x` well below 1, the series of :math:`I_x(a, \tfrac12)` in powers of :math:`x`;
* for many degrees of freedom, the expansion of Didonato and Morris (1992, ACM TOMS 18, equation 9) in
  incomplete gamma functions, which are complementary error functions here, in powers of :math:`1/\nu^2`.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from bayesieve.utils import FloatArray, compiled

_MANY_DOF = 30.0  # degrees of freedom from which the expansion for many of them is used
_NORMAL_DOF = 1e150  # degrees of freedom from which squares overflow; the normal distribution to all digits
_SMALL_T, _SMALL_SQUARE = 1e-2, 0.4  # t, and t**2 / dof with few dof, up to which the series at 0 is used
_NEGLIGIBLE, _MOST_TERMS = 1e-17, 400
_FAR = 25.0  # beyond it erfc is close to the smallest floats
_LOG_PI, _ROOT_PI = math.log(math.pi), math.sqrt(math.pi)


def _expansion(n_terms: int) -> FloatArray:
    r"""Didonato and Morris' :math:`p_1, p_2, \ldots` for :math:`b = \frac12`."""
    p = [1.0]
    for n in range(1, n_terms + 1):
        inner = sum((0.5 * m - n) * p[n - m] / math.factorial(2 * m + 1) for m in range(1, n))
        p.append(-0.5 / math.factorial(2 * n + 1) + inner / n)
    return np.array(p[1:])


_COEFFICIENTS = _expansion(9)


def log_student_tails(t: npt.ArrayLike, dof: npt.ArrayLike) -> FloatArray:
    r"""Log of the probability that Student's t is at least as far from 0 as ``t``.

    Returns
    -------
    numpy.ndarray
        :math:`\log P(|T_\nu| \ge |t|)`, with a relative error of about 1e-13; NaN where ``t`` is NaN or ``dof``
        is not positive.
    """
    size, freedom = np.broadcast_arrays(np.abs(np.asarray(t, np.float64)), np.asarray(dof, np.float64))
    out = np.empty(size.size)
    _fill(size.ravel(), freedom.ravel(), _COEFFICIENTS, out)
    return out.reshape(size.shape)


def log_normal_tails(z: npt.ArrayLike) -> FloatArray:
    r"""Log of the probability that a standard normal variable is at least as far from 0 as ``z``."""
    return log_student_tails(z, np.inf)


@compiled()
def _fill(t: FloatArray, dof: FloatArray, coefficients: FloatArray, out: FloatArray) -> None:
    """Choose the expansion, one statistic after the other."""
    for i in range(out.size):
        size, d = t[i], dof[i]
        if np.isnan(size) or not d > 0.0:
            out[i] = np.nan
            continue
        ratio = size / math.sqrt(d)
        if size == 0.0:
            out[i] = 0.0
        elif np.isinf(size):
            out[i] = -np.inf
        elif d >= _NORMAL_DOF:
            out[i] = _normal(size / math.sqrt(2.0))
        elif size <= _SMALL_T or (d < _MANY_DOF and ratio * ratio <= _SMALL_SQUARE):
            out[i] = _near(0.5 * d, ratio)
        elif d < _MANY_DOF or ratio > 1.0:
            out[i] = _far(0.5 * d, ratio)
        else:
            out[i] = _many(d, ratio, coefficients)


@compiled()
def _near(a: float, ratio: float) -> float:
    """Near 0: one minus the beta function of the other tail."""
    square = ratio * ratio
    y = square / (1.0 + square)
    term = total = 1.0
    for k in range(_MOST_TERMS):
        term *= y * ((a + (0.5 + k)) / (1.5 + k))
        total += term
        if term <= _NEGLIGIBLE * total:
            break
    front = math.exp(_log_half_step(a) - (a + 0.5) * math.log1p(square))
    return math.log1p(-2.0 / _ROOT_PI * ratio * front * total)


@compiled()
def _far(a: float, ratio: float) -> float:
    """Far from 0: the beta function in powers of x."""
    minus_log_x = 2.0 * math.log(ratio) if ratio > 1e8 else math.log1p(ratio * ratio)
    x = math.exp(-minus_log_x)
    term = total = 1.0
    for k in range(_MOST_TERMS):
        term *= x * ((a + (0.5 + k)) / (a + (1.0 + k)))
        total += term
        if term <= _NEGLIGIBLE * total:
            break
    log_front = _log_half_step(a) - math.log(a) - 0.5 * _LOG_PI
    return min(log_front - a * minus_log_x + 0.5 * math.log1p(-x) + math.log(total), 0.0)


@compiled()
def _many(dof: float, ratio: float, coefficients: FloatArray) -> float:
    """Many degrees of freedom: the expansion of Didonato and Morris with their b = 1/2."""
    shifted = 0.5 * dof - 0.25
    minus_log_x = math.log1p(ratio * ratio)
    u = shifted * minus_log_x
    root = math.sqrt(u)
    step, square = 0.25 / (shifted * shifted), 0.25 * minus_log_x * minus_log_x
    j = _ROOT_PI * _scaled_erfc(root, u) / root
    total, power = j, 1.0
    for n in range(coefficients.size):
        j = step * (((2.0 * n + 0.5) * (2.0 * n + 1.5)) * j + (u + (2.0 * n + 1.5)) * power)
        power *= square
        total += coefficients[n] * j
        if abs(coefficients[n]) * j <= _NEGLIGIBLE * total:
            break
    log_front = _log_half_step(0.5 * dof) - 0.5 * (_LOG_PI + math.log(shifted))
    return min(log_front - u + math.log(root * total), 0.0)


@compiled()
def _normal(z: float) -> float:
    """Log of the complementary error function."""
    if z < 0.5:
        return math.log1p(-math.erf(z))
    return math.log(_scaled_erfc(z, z * z)) - z * z


@compiled()
def _scaled_erfc(z: float, square: float) -> float:
    """Complementary error function times the exponential of the square; by its asymptotic series far out."""
    if z < _FAR:
        return math.exp(square) * math.erfc(z)
    w = 0.5 / square
    series = 1.0 - w * (1.0 - 3.0 * w * (1.0 - 5.0 * w * (1.0 - 7.0 * w * (1.0 - 9.0 * w))))
    return series / (z * _ROOT_PI)


@compiled()
def _log_half_step(a: float) -> float:
    """Log of gamma(a + 1/2) / gamma(a), by Stirling's series for a that is raised to 12."""
    product = 1.0
    while a < 12.0:
        product *= a / (a + 0.5)
        a += 1.0
    w = 1.0 / (a * a)
    series = -1 / 8 + w * (1 / 192 + w * (-1 / 640 + w * (17 / 14336 + w * (-31 / 18432 + w * (691 / 180224)))))
    return math.log(product) + 0.5 * math.log(a) + series / a
