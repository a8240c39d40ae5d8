"""Compiled loops over the log Bayes factor without one sample; :mod:`bayesieve.models.downdated` says what it is.

``centres``, ``lags``, ``scales``, ``steps`` and ``sizes`` are the arrays of
:class:`~bayesieve.models.downdated.Downdates`. ``curves`` (:math:`q` of both classes, :math:`Q`) and ``constants``
(:math:`c` of both classes) hold some features only, from ``lo`` on: fresh memory costs more than arithmetic.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from bayesieve.stats.compiled import compiled

POWER, HALF_DOF, WEIGHT, LONE, CONSTANT = range(5)  # rows of sizes
_POOL = 2
_NEARLY_ALL = 0.999  # of the scale leaves with the sample: too many digits are gone
_CLOSE = 1e-6
_STEPS = 60
_SMALLEST = 1e-200  # leading coefficient of the cubic


@compiled()
def fill_terms(scales: Any, steps: Any, sizes: Any, lo: int, hi: int, curves: Any, constants: Any) -> None:
    r"""Work out :math:`q, Q` and :math:`c`, the logarithms relative to the pooled scale."""
    pooled = scales[_POOL]
    for c in range(2):
        own, other = scales[c], scales[1 - c]
        for j in range(lo, hi):
            k, step = min(j, sizes.shape[2] - 1), steps[min(j, steps.shape[0] - 1)]
            p, half = sizes[c, POWER, k], sizes[1 - c, HALF_DOF, k]
            surplus = sizes[_POOL, POWER, k] - p - half
            constant = sizes[c, CONSTANT, k] - p * math.log(own[j] / pooled[j])
            constant -= half * math.log((other[j] + step) / pooled[j])
            constants[c, j - lo] = constant + surplus * math.log(pooled[j]) if surplus != 0.0 else constant
            curves[c, j - lo] = sizes[c, WEIGHT, k] / own[j]
            curves[_POOL, j - lo] = sizes[_POOL, WEIGHT, k] / pooled[j]


@compiled()
def log_bayes_factor_without(
    d: float, e: float, c: int, j: int, lo: int, sizes: Any, curves: Any, constants: Any
) -> float:
    r"""Return :math:`f(x)` of feature ``j`` for a value of class ``c``; NaN where it has to be found otherwise.

    That is where the downdate loses digits, or where all other values of the group may be equal. ``d`` and ``e``
    are the distances of the value from the updated means of the class and of the pooled sample.
    """
    k = min(j, sizes.shape[2] - 1)
    share, pooled_share = curves[c, j - lo] * d * d, curves[_POOL, j - lo] * e * e
    lone, pooled_lone = sizes[c, LONE, k], sizes[_POOL, LONE, k]
    if (
        not (share < _NEARLY_ALL and pooled_share < _NEARLY_ALL)
        or abs(share - lone) < _CLOSE * lone
        or abs(pooled_share - pooled_lone) < _CLOSE * pooled_lone
    ):
        return np.nan
    change = sizes[_POOL, POWER, k] * math.log1p(-pooled_share) - sizes[c, POWER, k] * math.log1p(-share)
    return float(constants[c, j - lo] + change)


@compiled()
def _outer(k: float) -> float:
    """Solve ``y**3 - 3 * y = k`` for ``y >= 1``, to a few digits if ``-2 <= k <= 2``."""
    if k > 2.0:
        root = math.exp(math.log(0.5 * (k + math.sqrt(k * k - 4.0))) / 3.0)
        return float(root + 1.0 / root)
    beyond = math.sqrt(max(k + 2.0, 0.0) / 3.0)
    return 1.0 + beyond / math.sqrt(1.0 + beyond / 3.0)


@compiled()
def _only(k: float) -> float:
    """Solve ``y**3 + 3 * y = k``."""
    root = math.exp(math.log(0.5 * (abs(k) + math.sqrt(k * k + 4.0))) / 3.0)
    return math.copysign(root - 1.0 / root, k)


@compiled()
def _value(a: float, b: float, c: float, d: float, z: float) -> float:
    return ((a * z + b) * z + c) * z + d


@compiled()
def _root(a: float, b: float, c: float, d: float, guess: float, bend: float, end: float) -> float:
    """Return the root between a bend of the cubic and infinity on the side of ``end``, 1 or -1.

    The cubic bends one way there, so that Newton's method from the end is monotone.
    """
    if bend * end >= 1.0 or _value(a, b, c, d, end) * end <= 0.0:
        return end * np.inf
    if bend * end < -1.0 and _value(a, b, c, d, -end) * end >= 0.0:
        return -end * np.inf
    z = guess if bend * end < guess * end < 1.0 else end
    for _ in range(_STEPS):
        slope = (3.0 * a * z + 2.0 * b) * z + c
        step = _value(a, b, c, d, z) / slope
        z = z - step if slope > 0.0 and abs(z - step) < 1.0 else end
        if abs(step) < _CLOSE:  # what is left is about its square
            break
    return z


@compiled()
def turning_points(a: float, b: float, c: float, d: float) -> tuple[float, float]:
    """Where a cubic with ``a > 0`` goes from negative to positive, infinite outside [-1, 1].

    There are one or two such places; a single one is returned twice. Relative to its point of inflection,
    and in units of the distance from there to its bends, a cubic is ``y**3 - 3 * y + k`` or, without
    bends, ``y**3 + 3 * y + k``, which gives a first guess.
    """
    inside, centre = b * b - 3.0 * a * c, -b / (3.0 * a)
    unit = math.sqrt(abs(inside)) / (3.0 * a)
    k = _value(a, b, c, d, centre) / (a * unit * unit * unit)
    low = high = centre
    if inside > 0.0:
        total = -(b + math.copysign(math.sqrt(inside), b))
        low, high = total / (3.0 * a), c / total
        if low > high:
            low, high = high, low
    first = second = np.nan
    if _value(a, b, c, d, low) >= 0.0:  # a root before the first bend
        guess = centre - unit * (_outer(k) if inside > 0.0 else _only(k))
        first = second = _root(a, b, c, d, guess, low, -1.0)
    if not _value(a, b, c, d, high) >= 0.0:  # a root after the second
        guess = centre + unit * (_outer(-k) if inside > 0.0 else _only(-k))
        second = _root(a, b, c, d, guess, high, 1.0)
    return second if np.isnan(first) else first, second


@compiled()
def find_thresholds(
    centres: Any, lags: Any, sizes: Any, curves: Any, lo: int, hi: int, thresholds: Any, awkward: Any
) -> None:
    """Find, for features ``lo : hi``, the values at which the log Bayes factor without them is locally least."""
    for c in range(2):
        centre, lag, pooled_centre, pooled_lag = centres[c], lags[c], centres[_POOL], lags[_POOL]
        for j in range(lo, hi):
            k = min(j, sizes.shape[2] - 1)
            q, p, Q, P = curves[c, j - lo], sizes[c, POWER, k], curves[_POOL, j - lo], sizes[_POOL, POWER, k]
            gap = (centre[j] - pooled_centre[j]) + (lag[j] - pooled_lag[j])
            unit = 1.0 / math.sqrt(q)
            ratio, slant = Q * unit * unit, Q * gap * unit
            if not (P - p) * ratio > _SMALLEST:
                awkward[j] = True
            first, second = turning_points(
                (P - p) * ratio, (P - 2.0 * p) * slant, p * (1.0 - Q * gap * gap) - P * ratio, -P * slant
            )
            place = centre[j] + lag[j]
            thresholds[c, 0, j - lo], thresholds[c, 1, j - lo] = place + first * unit, place + second * unit


@compiled()
def choose_least(
    centres: Any, lags: Any, sizes: Any, curves: Any, constants: Any, values: Any, positions: Any,
    lo: int, least: Any, culprit: Any, awkward: Any,
) -> None:  # fmt: skip
    """Evaluate the candidates of features from ``lo`` on and keep the least, the first class first."""
    for c in range(2):
        centre, lag, pooled_centre, pooled_lag = centres[c], lags[c], centres[_POOL], lags[_POOL]
        for j in range(lo, lo + values.shape[2]):
            if np.isnan(constants[c, j - lo]):
                continue
            for part in range(4):
                place = positions[c, part, j - lo]
                if place < 0.0 or (part > 1 and place == positions[c, part - 2, j - lo]):
                    continue
                x = values[c, part, j - lo]
                d, e = (x - centre[j]) - lag[j], (x - pooled_centre[j]) - pooled_lag[j]
                found = log_bayes_factor_without(d, e, c, j, lo, sizes, curves, constants)
                if found < least[j]:
                    least[j], culprit[j] = found, np.int64(place)
                elif np.isnan(found):
                    awkward[j] = True


@compiled()
def evaluate_all(
    values: Any, codes: Any, centres: Any, lags: Any, sizes: Any, curves: Any, constants: Any, direct: Any,
    found: Any, awkward: Any,
) -> None:  # fmt: skip
    """Evaluate every value of a samples x features table; NaN where there is none or nothing to leave."""
    for i in range(values.shape[0]):
        c = codes[i]
        centre, lag, pooled_centre, pooled_lag = centres[c], lags[c], centres[_POOL], lags[_POOL]
        for j in range(values.shape[1]):
            x = values[i, j]
            if np.isnan(x) or np.isnan(constants[c, j]):
                continue
            d, e = (x - centre[j]) - lag[j], (x - pooled_centre[j]) - pooled_lag[j]
            if not direct[c, j]:
                found[i, j] = log_bayes_factor_without(d, e, c, j, 0, sizes, curves, constants)
            awkward[i, j] = np.isnan(found[i, j])
