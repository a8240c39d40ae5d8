r"""One integral over the ratio of two variances, in log space.

When two classes share a location, or several blocks share a shift, everything but the ratio
:math:`\rho = \sigma_1 / \sigma_0` of the class variances integrates out in closed form. With
:math:`t = \ln\rho` what is left is

.. math::
    \int dt\; \rho^{-N_1/2} \left[\frac{S_0 + S_1/\rho + q(\rho)}{u}\right]^{-n/2}
    \left[\frac{w(\rho)\,(N_0\rho + N_1)}{n}\right]^{-1/2}

where :math:`1/v_b = n_{b0} n_{b1} / (n_{b1} + \rho\, n_{b0})` is the weight of block b,
:math:`w = \sum_b 1/v_b`, and :math:`q = \sum_b (d_b - \hat d)^2 / v_b` is what the blocks' mean
differences :math:`d_b` leave unexplained. The shift :math:`\hat d` is their weighted mean, or 0
where the classes share their location; the last factor is there only when the shift is free.

Covariates with slopes that the classes share (:mod:`bayesieve.models.gaussian.slopes`) take

.. math::
    q(\rho) = -(1 - 1/\rho)^2 \sum_k c_k^2 / D_k, \quad D_k = \lambda_k + (1 - \lambda_k) / \rho

off the spread and multiply the integrand by :math:`\prod_k D_k^{-1/2}`, with the power :math:`n - p` in place of
:math:`n`.

Why few points are enough: for a complex :math:`t` with imaginary part :math:`\theta < \pi` the
integrand is analytic and at most :math:`\cos(\theta/2)^{-n/2-1}` times its value on the real axis,
so the trapezoidal rule converges exponentially; its step follows from the two sample sizes and is
halved until two grids agree. With slopes it is chosen so small by this bound that one grid is enough.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from bayesieve.utils import FloatArray, compiled, for_each, n_threads_for

_CUT = 42.0  # heights further below the highest are left out: exp(-42) is 6e-19
_AGREE = 1e-8  # two grids that differ by this leave an error of about its square in their mean
_FINE = 26.0  # the same cut, and minus the log of the error of one grid, where slopes make heights dear: 5e-12
_MOST_HALVINGS = 12
_SCAN = 0.25
_CHUNK = 4096
_RANK = 1e-12  # shares of a class in the products of covariates that count as none
_WORK = 256  # an integral costs about as much as reading this many values


def log_ratio_integral(
    squares: FloatArray,
    counts: npt.ArrayLike,
    differences: FloatArray,
    *,
    free_shift: bool,
    slopes: tuple[FloatArray, ...] | None = None,
    n_threads: int | None = None,
) -> FloatArray:
    r"""Log of the integral for every feature; NaN where it does not exist.

    It exists where both classes have at least two values and centred squares over 0 and, when the
    shift is free, where at least one block holds both classes. The unit of the squares is the sum of
    the centred squares of the blocks, classes taken together.

    Parameters
    ----------
    squares
        Centred squares within classes and blocks, added up over the blocks: ``(2, n_features)``.
    counts
        Values of every block and class: ``(n_blocks, 2, 1)`` or ``(n_blocks, 2, n_features)``.
    differences
        Mean of the second class minus that of the first: ``(n_blocks, n_features)``; not used in a
        block that lacks a class.
    free_shift
        Whether the classes differ by a shift that is integrated out; otherwise it is 0.
    slopes
        For covariates :math:`\lambda` and :math:`c`, both ``(n_covariates, n_features)``. With a third such
        array,
        squared differences of the class means of the covariates, the prior of the slopes has the unit of the
        values: the power stays :math:`n`, and a root takes the place of the product.
    n_threads
        Threads to use; the result is the same to the last bit.
    """
    n_blocks, n_features = differences.shape
    sizes = np.broadcast_to(np.asarray(counts, dtype=np.float64), (n_blocks, 2, n_features))
    result = np.empty(n_features)
    nothing = np.empty((0, n_features))
    shares, turned, apart = (*(slopes or (nothing, nothing)), nothing)[:3]

    def work(first: int) -> None:
        part = slice(first, first + _CHUNK)
        n0, n1 = (np.ascontiguousarray(sizes[:, k, part].T) for k in range(2))
        inputs = (np.ascontiguousarray(squares[:, part]), n0, n1, np.ascontiguousarray(differences[:, part].T))
        rest = tuple(np.ascontiguousarray(each[:, part].T) for each in (shares, turned, apart))
        _integrate_all(*inputs, rest, free_shift, result[part])

    for_each(work, range(0, n_features, _CHUNK), n_threads_for(n_threads, _WORK * n_features))
    return result


@compiled()
def _integrate_all(
    squares: FloatArray, n0: FloatArray, n1: FloatArray, d: FloatArray, slopes: Any, free: bool, out: FloatArray
) -> None:
    for j in range(out.size):
        unit, shared = squares[0, j] + squares[1, j], False
        for b in range(d.shape[1]):
            if n0[j, b] > 0 and n1[j, b] > 0:
                unit += n0[j, b] * n1[j, b] / (n0[j, b] + n1[j, b]) * d[j, b] ** 2
                shared = True
        totals = (n0[j].sum(), n1[j].sum())
        spreads = (squares[0, j] / unit, squares[1, j] / unit)
        defined = min(spreads) > 0 and min(totals) >= 2 and (shared or not free)
        out[j] = math.nan
        if defined:
            turned = slopes[1][j] ** 2 / unit
            case = (
                spreads,
                totals,
                n0[j],
                n1[j],
                d[j] / math.sqrt(unit),
                free,
                slopes[0][j],
                turned,
                slopes[2][j],
            )
            if turned.size == 0 or _leaves_spread(case):
                out[j] = _integral(case)


@compiled()
def _integral(case: Any) -> float:
    total0, total1 = case[1]
    width = math.sqrt(2.0 / total0 + 2.0 / total1)
    low, high = _hull(case)
    start, top = _highest(case, low, high, width)
    if case[6].size:
        step = _step_for(total0 + total1 + 2.0)
        return top + math.log(step * _sum(case, start, step, low, high, (top, _FINE)))
    step = min(0.4, 0.75 * width)
    coarse = step * _sum(case, start, step, low, high, (top, _CUT))
    for _ in range(_MOST_HALVINGS):
        middle = step * _sum(case, start + 0.5 * step, step, low, high, (top, _CUT))
        fine = 0.5 * (coarse + middle)
        if abs(middle - coarse) <= _AGREE * fine:
            break
        step, coarse = 0.5 * step, fine
    return top + math.log(fine)


@compiled()
def _step_for(n: float) -> float:
    r"""Return a step h at which one grid errs by :math:`2 \cos(\theta/2)^{-n/2} e^{-2\pi\theta/h}` at most."""
    theta = min(4.0 * math.sqrt(_FINE / n), 2.6)
    return 2.0 * math.pi * theta / (_FINE - 0.5 * n * math.log(math.cos(0.5 * theta)))


@compiled()
def _height(case: Any, t: float) -> float:
    """Log of the integrand."""
    (spread0, spread1), (total0, total1), n0, n1, d, free, shares, turned, apart = case
    ratio = math.exp(t)
    weight, shift = 0.0, 0.0
    if free:
        for b in range(d.size):
            if n0[b] > 0 and n1[b] > 0:
                inverse = n0[b] * n1[b] / (n1[b] + ratio * n0[b])
                weight += inverse
                shift += inverse * d[b]
        shift /= weight
    spread = spread0 + spread1 / ratio
    for b in range(d.size):
        if n0[b] > 0 and n1[b] > 0:
            spread += n0[b] * n1[b] / (n1[b] + ratio * n0[b]) * (d[b] - shift) ** 2
    n = total0 + total1
    height: float = -0.5 * total1 * t
    power = n
    if shares.size:
        explained, log_determinant, between = slope_terms(shares, turned, apart, 1.0 / ratio)
        spread -= explained
        if apart.size:
            height += 0.5 * math.log1p(n0[0] * n1[0] / (n1[0] + ratio * n0[0]) * between)
        else:
            power = n - shares.size
            height -= 0.5 * log_determinant
    height -= 0.5 * power * math.log(spread)
    if free:
        height -= 0.5 * math.log(weight / n * (total0 * ratio + total1))
    return height


@compiled()
def slope_terms(shares: Any, turned: Any, apart: Any, inverse: float) -> tuple[float, float, float]:
    """Squares that slopes explain at a ratio of variances, log determinant, and squares between class means."""
    explained, between, product, log_determinant = 0.0, 0.0, 1.0, 0.0
    for k in range(shares.size):
        weight = shares[k] + (1.0 - shares[k]) * inverse
        explained += turned[k] / weight
        product *= weight
        if k % 8 == 7:  # before a product of many leaves the range of numbers
            log_determinant += math.log(product)
            product = 1.0
        if apart.size:
            between += apart[k] / weight
    return (1.0 - inverse) ** 2 * explained, log_determinant + math.log(product), between


@compiled()
def _extremes(case: Any) -> tuple[float, float, float, float, int, int]:
    """Least and largest squares of each class given any slopes between those of the classes, and ranks of both."""
    (spread0, spread1), _, _, _, _, _, shares, turned, _ = case
    least0, least1, most0, most1, rank0, rank1 = spread0, spread1, spread0, spread1, 0, 0
    for k in range(shares.size):
        a, b = shares[k], 1.0 - shares[k]
        if a > _RANK:
            rank0 += 1
            least0 -= turned[k] / a
            most1 += turned[k] * (2.0 / a + b / (a * a))
        if b > _RANK:
            rank1 += 1
            least1 -= turned[k] / b
            most0 += turned[k] * (2.0 / b + a / (b * b))
    return least0, least1, most0, most1, rank0, rank1


@compiled()
def _leaves_spread(case: Any) -> bool:
    """Whether each class has spread around a regression of its own, and more values than that takes."""
    least0, least1, _, _, rank0, rank1 = _extremes(case)
    enough = case[1][0] - rank0 >= 2 and case[1][1] - rank1 >= 2
    return bool(enough and least0 > _RANK * case[0][0] and least1 > _RANK * case[0][1])


@compiled()
def _hull(case: Any) -> tuple[float, float]:
    r"""Interval outside which the height falls on both sides, so that it holds every mode.

    q falls with :math:`\rho` and :math:`\rho q` rises, which bounds the slope of the height: below the
    first point it is positive, above the second negative. The factor of the shift adds at most 1/2
    to the slope, either way.
    """
    (spread0, spread1), (total0, total1), n0, n1, d, free, shares, _, apart = case
    if shares.size:
        least0, least1, most0, most1, rank0, rank1 = _extremes(case)
        p = shares.size
        below, above = (total0 - rank0, total1 - p + rank0), (total0 - p + rank1, total1 - rank1)
        if apart.size:
            below, above = (total0 - 1.0, total1 + 1.0), (total0 + 1.0, total1 - 1.0)
        return math.log(least1 / most0 * below[0] / below[1]), math.log(most1 / least0 * above[0] / above[1])
    extra = 1.0 if free else 0.0
    rest0, rest1 = _unexplained(n0, n1, d, n0, free), _unexplained(n0, n1, d, n1, free)
    low = math.log(spread1 / (spread0 + rest0)) + math.log((total0 - extra) / (total1 + extra))
    high = math.log((spread1 + rest1) / spread0) + math.log((total0 + extra) / (total1 - extra))
    return low, high


@compiled()
def _unexplained(n0: FloatArray, n1: FloatArray, d: FloatArray, weights: FloatArray, free: bool) -> float:
    """Weighted squares of the differences around their weighted mean, or around 0."""
    total, shift, rest = 0.0, 0.0, 0.0
    for b in range(d.size):
        if free and n0[b] > 0 and n1[b] > 0:
            total += weights[b]
            shift += weights[b] * d[b]
    if free:
        shift /= total
    for b in range(d.size):
        if n0[b] > 0 and n1[b] > 0:
            rest += weights[b] * (d[b] - shift) ** 2
    return rest


@compiled()
def _highest(case: Any, low: float, high: float, width: float) -> tuple[float, float]:
    """Place and height of the highest mode: a scan of the hull, and a closer look around each mode."""
    n_steps = max(1, math.ceil((high - low) / _SCAN))
    step = (high - low) / n_steps
    best, top = low, _height(case, low)
    before, here = -math.inf, top
    for i in range(n_steps + 1):
        after = _height(case, low + (i + 1) * step) if i < n_steps else -math.inf
        if here >= before and here >= after:
            t = _climb(case, low + (i - 1) * step, low + (i + 1) * step, (0.5 if case[6].size else 0.2) * width)
            height = _height(case, t)
            if height > top:
                best, top = t, height
        before, here = here, after
    return best, top


@compiled()
def _climb(case: Any, a: float, b: float, tolerance: float) -> float:
    """Golden-section search for a mode between two points."""
    golden = 0.5 * (math.sqrt(5.0) - 1.0)
    left, right = b - golden * (b - a), a + golden * (b - a)
    f_left, f_right = _height(case, left), _height(case, right)
    while b - a > tolerance:
        if f_left > f_right:
            b, right, f_right = right, left, f_left
            left = b - golden * (b - a)
            f_left = _height(case, left)
        else:
            a, left, f_left = left, right, f_right
            right = a + golden * (b - a)
            f_right = _height(case, right)
    return 0.5 * (a + b)


@compiled()
def _sum(case: Any, start: float, step: float, low: float, high: float, limits: Any) -> float:
    """Sum of the integrand over its top at start, start +- step, ... as far as it matters: to the cut below."""
    total0, total1 = case[1]
    extra = 1.0 if case[5] or case[8].size else 0.0
    right = _walk(case, start, step, high - start, (total0 + extra) / 2, limits)
    return right + _walk(case, start - step, -step, start - step - low, (total1 + extra) / 2, limits)


@compiled()
def _walk(case: Any, start: float, step: float, reach: float, rise: float, limits: Any) -> float:
    """Sum in one direction; where the height is too low, skip what it cannot climb back over.

    ``rise`` is the steepest ascent possible in this direction. Beyond ``reach`` there is no ascent.
    """
    total, i = 0.0, 0
    stride, (top, cut) = abs(step), limits
    while True:
        height = _height(case, start + i * step)
        if height > top - cut:
            total += math.exp(height - top)
            i += 1
        elif i * stride > reach:
            return total
        else:
            i += max(1, int((top - cut - height) / (rise * stride)))
