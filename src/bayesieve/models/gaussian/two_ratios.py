r"""One integral over the two ratios of the variances of three groups with shared slopes, in log space.

With :math:`w_0 = 1, w_g = e^{-t_g}`, squares :math:`S_g` about the shared slopes, products :math:`A_g` of the
covariates (turned so that they add up to the unit matrix) and :math:`c_g`, what is left of the cross-products,

.. math::
    \iint dt_1 dt_2\; e^{-(\kappa_1 t_1 + \kappa_2 t_2) / 2} |M|^{-1/2}
    \left[\frac{\sum_g w_g S_g - v^T M^{-1} v}{\sum_g S_g}\right]^{-(\kappa - p)/2},
    \quad M = \sum_g w_g A_g,\; v = \sum_g w_g c_g

with the degrees of freedom :math:`\kappa_g` of the groups and their sum. The group with the most of them is the
one that the others are compared with, which keeps the two log ratios from going together.

The trapezoidal rule converges exponentially, as it does for one ratio
(:mod:`bayesieve.models.gaussian.variance_ratio`). Its lattice is walked row by row along the ridge of the
integrand, as far as that matters, and its steps are halved until a lattice and the one between its points agree.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from bayesieve.utils import FloatArray, compiled, for_each, n_threads_for

_CUT = 36.0  # heights further below the highest are left out: exp(-36) is 2e-16
_AGREE = 1e-9  # two lattices that differ by this are both right
_MOST_HALVINGS = 4
_STEP, _LONGEST = 0.7, 0.4  # in standard deviations, and for heavy tails
_CLIMBS, _CLOSE = 12, 1e-3
_FAR = 60.0  # log ratios beyond are left out
_RANK = 1e-12
_CHUNK = 512
_WORK = 16384


def log_two_ratios_integral(
    squares: FloatArray,
    dofs: FloatArray,
    scatter: FloatArray,
    cross: FloatArray,
    *,
    n_threads: int | None = None,
) -> FloatArray:
    """Log of the integral for every feature; NaN where a group leaves no spread about a regression of its own.

    Parameters
    ----------
    squares
        Squares of three groups about the shared slopes, ``(3, n_features)``.
    dofs
        Degrees of freedom, ``(3, 1)`` or ``(3, n_features)``.
    scatter
        Products of covariates that add up to the unit matrix, ``(n, 3, p, p)`` with one matrix for all features or
        one for each.
    cross
        Cross-products less those that the shared slopes explain, ``(3, p, n_features)``.
    n_threads
        Threads; the result is the same to the last bit.
    """
    n_features = squares.shape[1]
    result = np.empty(n_features)
    freedom = np.ascontiguousarray(np.broadcast_to(dofs, (3, n_features)).T, dtype=np.float64)
    values, vectors = np.linalg.eigh(scatter)
    turned = np.moveaxis(cross, -1, 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        inverse = np.where(values > _RANK, 1.0 / values, 0.0)
    of_axes = np.einsum("ngab,fga->fgb" if len(scatter) == 1 else "fgab,fga->fgb", vectors, turned)
    own = squares.T - (of_axes**2 * inverse).sum(axis=-1)  # about slopes of each group
    ranks = (values > _RANK).sum(axis=-1)
    defined = ((own > _RANK * squares.T) & (freedom - ranks >= 2)).all(axis=1) & np.isfinite(squares).all(axis=0)
    starts = np.einsum("ngab,fgb->fga" if len(scatter) == 1 else "fgab,fgb->fga", vectors, of_axes * inverse)
    held = tuple(map(np.ascontiguousarray, (squares.T, turned, scatter, starts)))

    def work(lo: int) -> None:
        _integrate_all(held, freedom, defined, lo, min(lo + _CHUNK, n_features), result)

    for_each(work, range(0, n_features, _CHUNK), n_threads_for(n_threads, _WORK * n_features))
    return result


@compiled()
def _integrate_all(held: Any, dofs: Any, defined: Any, lo: int, hi: int, result: Any) -> None:
    squares, cross, scatter, starts = held
    p = cross.shape[2]
    room = np.empty((p + 1, p + 1))
    for f in range(lo, hi):
        result[f] = math.nan
        if not defined[f]:
            continue
        unit = squares[f].sum()
        order = np.zeros(3, np.int64)  # the group with the most degrees of freedom first
        order[0] = int(np.argmax(dofs[f]))
        order[1], order[2] = (order[0] + 1) % 3, (order[0] + 2) % 3
        s, d = squares[f][order] / unit, dofs[f][order]
        c, a = cross[f][order] / math.sqrt(unit), scatter[f % scatter.shape[0]][order]
        result[f] = _integral((s, d, c, a, room), starts[f] / math.sqrt(unit))


@compiled()
def _weighted(case: Any, t1: float, t2: float) -> tuple[float, float]:
    """Squares that the weighted regression leaves, and log determinant; the factor is left in the room."""
    s, _, c, a, room = case
    p = c.shape[1]
    w1, w2 = math.exp(-t1), math.exp(-t2)
    left, log_determinant = s[0] + w1 * s[1] + w2 * s[2], 0.0
    for i in range(p):
        for j in range(i + 1):
            total = a[0, i, j] + w1 * a[1, i, j] + w2 * a[2, i, j]
            for k in range(j):
                total -= room[i, k] * room[j, k]
            if i == j:
                if total <= 0.0:
                    return -1.0, 0.0
                room[i, i] = math.sqrt(total)
                log_determinant += math.log(total)
            else:
                room[i, j] = total / room[j, j]
        value = c[0, i] + w1 * c[1, i] + w2 * c[2, i]
        for k in range(i):
            value -= room[i, k] * room[p, k]
        room[p, i] = value / room[i, i]
        left -= room[p, i] ** 2
    return left, log_determinant


@compiled()
def _height(case: Any, t1: float, t2: float) -> float:
    """Log of the integrand."""
    if abs(t1) > _FAR or abs(t2) > _FAR:
        return -math.inf
    left, log_determinant = _weighted(case, t1, t2)
    if left <= 0.0:  # rounding, far from the mode
        return -math.inf
    d, p = case[1], case[2].shape[1]
    power = d[0] + d[1] + d[2] - p
    height: float = -0.5 * (d[1] * t1 + d[2] * t2) - 0.5 * log_determinant - 0.5 * power * math.log(left)
    return height


@compiled()
def _spread(case: Any, slopes: Any, g: int) -> float:
    """Squares of a group about some slopes."""
    s, _, c, a, _ = case
    total = s[g]
    for i in range(slopes.size):
        total -= 2.0 * c[g, i] * slopes[i]
        for j in range(slopes.size):
            total += slopes[i] * a[g, i, j] * slopes[j]
    return max(float(total), 1e-300)


@compiled()
def _climb(case: Any, slopes: Any) -> tuple[float, float]:
    """Go to a mode from some slopes: variances given slopes, and slopes given variances."""
    d, room, p = case[1], case[4], slopes.size
    t1 = t2 = 0.0
    for _ in range(_CLIMBS):
        of0 = math.log(_spread(case, slopes, 0) / d[0])
        new1 = math.log(_spread(case, slopes, 1) / d[1]) - of0
        new2 = math.log(_spread(case, slopes, 2) / d[2]) - of0
        change = abs(new1 - t1) + abs(new2 - t2)
        t1, t2 = new1, new2
        if change < _CLOSE or p == 0:
            break
        left, _ = _weighted(case, t1, t2)
        if left <= 0.0:
            break
        for i in range(p - 1, -1, -1):  # slopes, from the factor
            value = room[p, i]
            for k in range(i + 1, p):
                value -= room[k, i] * slopes[k]
            slopes[i] = value / room[i, i]
    return t1, t2


@compiled()
def _modes(case: Any, starts: Any) -> Any:
    """Modes from the shared slopes and from those of every group."""
    found = np.empty((4, 3))
    for k in range(4):
        t1, t2 = _climb(case, starts[k - 1].copy() if k else np.zeros(starts.shape[1]))
        found[k, 0], found[k, 1], found[k, 2] = t1, t2, _height(case, t1, t2)
    return found


@compiled()
def _integral(case: Any, starts: Any) -> float:
    modes = _modes(case, starts)
    best = int(np.argmax(modes[:, 2]))
    top = modes[best, 2]
    if not math.isfinite(top):
        return math.nan
    near = modes[modes[:, 2] > top - _CUT]
    box = (near[:, 0].min(), near[:, 0].max(), near[:, 1].min(), near[:, 1].max())
    d = case[1]
    steps = (
        min(_LONGEST, _STEP * math.sqrt(2.0 / d[0] + 2.0 / d[1])),
        min(_LONGEST, _STEP * math.sqrt(2.0 / d[0] + 2.0 / d[2])),
    )
    start = (modes[best, 0], modes[best, 1])
    for _ in range(_MOST_HALVINGS):
        one = _lattice(case, start, steps, 0.0, box, top)
        two = _lattice(case, start, steps, 0.5, box, top)
        both = 0.5 * (one + two) * steps[0] * steps[1]
        if abs(one - two) <= _AGREE * (one + two):
            break
        steps = (0.5 * steps[0], 0.5 * steps[1])
    found: float = top + math.log(both)
    return found


@compiled()
def _lattice(case: Any, start: Any, steps: Any, shift: float, box: Any, top: float) -> float:
    """Sum of the integrand over ``top`` on a lattice, shifted by a share of its steps."""
    total, ridge = _rows(case, start, steps, shift, 1, 0, box, top)
    below, _ = _rows(case, start, steps, shift, -1, ridge, box, top)
    return total + below


@compiled()
def _rows(
    case: Any, start: Any, steps: Any, shift: float, way: int, ridge: int, box: Any, top: float
) -> tuple[float, int]:
    """Sum rows from the start one way; also return where the ridge is in the first row."""
    total, first = 0.0, ridge
    i = 0 if way > 0 else -1
    while True:
        t1 = start[0] + (i + shift) * steps[0]
        if abs(t1) > _FAR:
            break
        part, ridge, highest = _row(case, t1, start[1] + shift * steps[1], steps[1], ridge, box, top)
        if i == 0:
            first = ridge
        total += part
        beyond = t1 > box[1] if way > 0 else t1 < box[0]
        if highest < top - _CUT and beyond:
            break
        i += way
    return total, first


@compiled()
def _row(
    case: Any, t1: float, zero: float, step: float, ridge: int, box: Any, top: float
) -> tuple[float, int, float]:
    """Sum a row; return its sum, the place of its highest point and the height there."""
    here = _height(case, t1, zero + ridge * step)
    for way in (1, -1):
        while True:
            after = _height(case, t1, zero + (ridge + way) * step)
            if not after > here:
                break
            here, ridge = after, ridge + way
    total, best, place = math.exp(here - top), here, ridge
    for way in (1, -1):
        j = ridge + way
        while True:
            t2 = zero + j * step
            height = _height(case, t1, t2)
            if height > best:
                best, place = height, j
            if height > top - _CUT:
                total += math.exp(height - top)
            elif (t2 > box[3] if way > 0 else t2 < box[2]) or abs(t2) > _FAR:
                break
            j += way
    return total, place, best
