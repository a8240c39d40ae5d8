"""Leaving one sample out of two groups under priors on differences: the least Bayes factor, feature by feature."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from bayesieve.models.gaussian.effect_mixture import mean_part, room_for, variance_part
from bayesieve.models.gaussian.mean_difference import mean_bayes_factor
from bayesieve.models.gaussian.variance_likelihood import add_exp, log_variance_ratio
from bayesieve.utils import compiled

_COARSE, _COARSE_ERROR = (1.2, 4), 5e-3  # to find out which samples matter: an error of 2e-3 at most
_MEAN, _VARIANCE = 1.0, 2.0  # what is asked about, 0 for any difference
_FEW_LEFT = 1e-3  # of the squares are left without a sample: what is left is summed again


@compiled()
def least_without(
    columns: Any, codes: Any, steps: Any, floored: Any, limits: Any, constants: Any, taus: Any, omegas: Any,
    nodes: tuple[float, int], least: Any, numbers: Any,
) -> None:  # fmt: skip
    """Leave out every value of some features in turn, and keep the least log Bayes factor.

    All samples are looked at with few nodes; those that may give the least, or may be on either side of the limit,
    again with all of them.

    Parameters
    ----------
    columns, codes
        Values, features x samples, NaN where missing, and the class of each sample.
    steps, floored, limits
        Of each feature: the step to which values are rounded, whether the screen flagged it as degenerate, and the
        log Bayes factor at or below which it does not pass (minus infinity to count nothing).
    constants
        Degrees of freedom and squares of the prior of variances, the weights of :func:`mix_kinds`, the least
        excess kurtosis, infinite if fourth powers are not to be used, and what is asked about: 0 for any
        difference, 1 for that of means, 2 for that of variances.
    taus, omegas, nodes
        Effect sizes and nodes of the screen.
    least, numbers
        Filled: the least log Bayes factor, and the sample (-1 if none), removals at or below the limit, removals
        skipped and removals looked at, ``(4, n_features)``.
    """
    found, whole = np.empty(codes.shape[0]), np.empty((2, 5))
    room = room_for(taus, omegas, nodes[1])
    for f in range(columns.shape[0]):
        x, step, limit = columns[f] - np.nanmedian(columns[f]), steps[f], limits[f]  # large offsets cost digits
        for c in range(2):
            _sum_class(x, codes, c, -1, whole[c])
        smallest = np.inf
        for i in range(x.shape[0]):
            found[i] = np.nan
            if not np.isnan(x[i]):
                found[i] = _without(x, codes, i, whole, step, floored[f], constants, taus, omegas, _COARSE, room)
                numbers[2 if np.isnan(found[i]) else 3, f] += 1
                smallest = found[i] if found[i] < smallest else smallest
        least[f], numbers[0, f] = np.inf, -1
        for i in range(x.shape[0]):
            near = abs(found[i] - limit) <= _COARSE_ERROR
            if near or found[i] <= smallest + 2.0 * _COARSE_ERROR:  # never for what is not there
                found[i] = _without(x, codes, i, whole, step, floored[f], constants, taus, omegas, nodes, room)
                if found[i] < least[f]:
                    least[f], numbers[0, f] = found[i], i
            if found[i] <= limit:
                numbers[1, f] += 1


@compiled()
def _sum_class(x: Any, codes: Any, c: int, without: int, sums: Any) -> None:
    """Count, mean and centred second to fourth powers of a class, one sample left out; 0 if values are equal."""
    first, count, total, equal = 0.0, 0.0, 0.0, True
    for i in range(x.shape[0]):
        if codes[i] == c and i != without and not np.isnan(x[i]):
            if count == 0.0:
                first = x[i]
            equal = equal and x[i] == first
            count += 1.0
            total += x[i] - first
    sums[:] = 0.0
    sums[0], sums[1] = count, first + (total / count if count > 0.0 else 0.0)
    if equal:
        return
    one = 0.0
    for i in range(x.shape[0]):
        if codes[i] == c and i != without and not np.isnan(x[i]):
            d = x[i] - sums[1]
            one += d
            sums[2] += d * d
            sums[3] += d * d * d
            sums[4] += d * d * d * d
    sums[1] += one / count
    sums[2] -= one * one / count


@compiled()
def _without(
    x: Any, codes: Any, i: int, whole: Any, step: float, floored: bool, constants: Any, taus: Any, omegas: Any,
    nodes: Any, room: Any,
) -> float:  # fmt: skip
    """Log Bayes factor without a sample; NaN where a class is left undefined, 0 if it was so before."""
    c = codes[i]
    n, d = whole[c, 0] - 1.0, x[i] - whole[c, 1]
    if n < 1.0:
        return np.nan
    shift = -d / n  # of the mean
    mean, squares = whole[c, 1] + shift, whole[c, 2] - d * d * (1.0 + 1.0 / n)
    cubes, rest = whole[c, 3] - d * d * d, whole[c, 2] - d * d
    fourths = whole[c, 4] - d**4 - 4.0 * shift * cubes + 6.0 * shift**2 * rest - 3.0 * n * shift**4
    if not (squares > _FEW_LEFT * whole[c, 2] and fourths > 0.01 * _FEW_LEFT * whole[c, 4]):
        again = np.empty(5)
        _sum_class(x, codes, c, i, again)
        mean, squares, fourths = again[1], again[2], again[4]
    m, other_squares, other_fourths = whole[1 - c, 0], whole[1 - c, 2], whole[1 - c, 4]
    apart = mean - whole[1 - c, 1]
    if step > 0.0:
        rounding = step * step / 12.0
        fourths += 6.0 * rounding * squares + n * step**4 / 80.0
        other_fourths += 6.0 * rounding * other_squares + m * step**4 / 80.0
        squares, other_squares = squares + n * rounding, other_squares + m * rounding
    size, within = n * m / (n + m), squares + other_squares
    flat = (squares <= 0.0 and n > 1.0) or (other_squares <= 0.0 and m > 1.0)
    nothing = n + m < 3.0 or (within <= 0.0 and (constants[0] == 0.0 or apart == 0.0))
    if m < 1.0 or ((flat or nothing) and not floored):
        return np.nan
    if nothing:
        return 0.0
    share = 0.0
    if n > 2.0 and m > 2.0 and squares > 0.0 and other_squares > 0.0 and constants[4] < np.inf:
        ideal = 2.0 / (n - 1.0) + 2.0 / (m - 1.0)
        tails, other_tails = math.sqrt(fourths) / squares, math.sqrt(other_fourths) / other_squares
        excess = tails * tails * (n + 1.0) / (n - 1.0) - 3.0 / n
        excess += other_tails * other_tails * (m + 1.0) / (m - 1.0) - 3.0 / m
        share = ideal / (ideal + max(excess, constants[4] * (1.0 / n + 1.0 / m)))
    groups = n, m, apart, squares, other_squares
    return _of_question(groups, size, share, constants, taus, omegas, nodes, room)


@compiled()
def _of_question(
    groups: Any, size: float, share: float, constants: Any, taus: Any, omegas: Any, nodes: Any,
    room: Any,
) -> float:  # fmt: skip
    """Log Bayes factor of what is asked about."""
    n, m, apart, squares, other_squares = groups
    within = squares + other_squares
    b, dof = size * apart * apart / (within + constants[1]), 0.5 * (n + m - 1.0 + constants[0])
    weight, asked = constants[2], constants[5]
    if asked == _MEAN:
        if constants[4] == np.inf and min(n, m) > 2.0 and min(squares, other_squares) > 0.0:
            share = 1.0
        return mean_bayes_factor(
            np.full(1, n), np.full(1, m), np.full(1, apart), squares, other_squares, n - 1.0, m - 1.0, share, dof,
            constants[1], 0.0, taus, omegas, weight, nodes[0],
        )  # fmt: skip
    of_ratio = 0.0
    if share > 0.0 and omegas.shape[0] > 0 and weight > 0.0:
        theta = log_variance_ratio(squares, other_squares, n - 1.0, m - 1.0)
        of_ratio = variance_part(
            theta, squares, other_squares, n - 1.0, m - 1.0, share, omegas, nodes[0], nodes[1], room
        )
    if asked == _VARIANCE:
        return of_ratio
    of_mean = mean_part(b, size, dof, dof * math.log1p(b), taus, room)
    if weight == 0.0:
        return of_mean
    both = constants[3]
    total, high = add_exp(1.0, math.log1p(-weight) + of_mean, math.log(weight) + math.log1p(-both) + of_ratio)
    if both > 0.0:
        total, high = add_exp(total, high, math.log(weight * both) + of_mean + of_ratio)
    return high + math.log(total)
