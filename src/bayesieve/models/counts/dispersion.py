r"""Dispersions of counts that all features inform: a likelihood from sums, a trend over means, a prior about it.

The variance of a count of mean :math:`\mu` and dispersion :math:`\alpha = 1/r` is
:math:`\mu + \alpha \mu^2`. Given the total :math:`X_y` of a class of :math:`n_y` values, their spread does not
depend on :math:`\mu`, and the centred squares :math:`W_y` of these values have the expectation (of the
Dirichlet-multinomial distribution, with :math:`m_y = X_y/n_y`)

.. math:: E_y(\alpha) = (n_y - 1)\, m_y \frac{1 + \alpha m_y}{1 + \alpha / n_y}

so that the sums that screens hold anyway inform about the dispersion of a feature, through

.. math:: \log p(W \mid \alpha) = -\frac{\nu}{2} \Big(\log E(\alpha) + \frac{W}{E(\alpha)}\Big), \quad
          W = \sum_y W_y, \; E = \sum_y E_y

a scaled :math:`\chi^2` distribution. Its degrees of freedom :math:`\nu = 2 E^2 / \mathrm{Var}(W)` take the
variance of centred squares of negative binomial counts (excess kurtosis
:math:`6\alpha + 1/(\mu + \alpha\mu^2)`) at the dispersion of the trend: small counts say little. The log
dispersion of a feature has a Student distribution with :data:`PRIOR_DOF` degrees of freedom about the trend,

.. math:: \log\alpha_f = \log\Big(a_0 + \frac{a_1}{\mu_f}\Big) + \omega\, t_f

and :math:`a_0, a_1, \omega` are those under which the spread within classes of all features is most probable: of
what single features show, the width :math:`\omega` keeps what their sampling does not explain.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from bayesieve.stats import EventTotals, Moments
from bayesieve.utils import DataError, FloatArray, compiled

Trend = tuple[float, float, float]  # a_0, a_1 and the width of the prior about the trend

PRIOR_DOF = 5.0
LOWEST, HIGHEST = math.log(1e-5), math.log(1e2)  # of log dispersions that are looked at
_FEWEST, _MOST = 10, 1000  # features that inform the trend
_NO_EVENTS = 1e-11  # means that are 0 but for what rounding left of samples taken off
_LEAST_TOTAL = 5.0  # events of a feature that informs it
_STEP, _HALF = 0.5, 7  # of the sums over dispersions
_ROUNDS, _STEPS, _CLOSE = 2, 25, 0.02  # the last in log likelihood
_PRIOR_WIDTH = (
    0.5  # about which the logarithm of the width has a standard normal prior, which matters to few features
)
_PRIOR_WIDTH_LOG = math.log(_PRIOR_WIDTH)
_RIDGE = 0.01
_LEAST, _LARGEST = np.log([1e-6, 1e-6, 0.15]), np.log([1e2, 1e4, 2.0])
_FEW_WIDTH = 1.0  # of the prior where features are too few to inform it


def spread_of(parts: Sequence[EventTotals]) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return number of values and mean of all classes of all parts, and the sum of their centred squares."""
    held = [part.moments for part in parts]
    if any(moments is None for moments in held):
        raise DataError(
            "The dispersion is estimated from the spread of the counts, which these totals do not hold. Make them "
            "with EventTotals.from_matrix(..., spread=True), or give size to the model."
        )
    moments: list[Any] = held
    counts = np.concatenate([np.broadcast_to(each.counts, each.mean.shape) for each in moments]).astype(np.float64)
    means = np.concatenate([np.where(each.mean > _NO_EVENTS, each.mean, 0.0) for each in moments])
    squares = np.concatenate([each.centred_squares for each in moments])
    return counts, np.ascontiguousarray(means), np.ascontiguousarray(squares.sum(axis=0))


def trend_at(trend: Trend, mean: FloatArray) -> FloatArray:
    """Log dispersion of the trend at some means."""
    with np.errstate(divide="ignore"):
        found = np.log(trend[0] + trend[1] / np.maximum(mean, 1e-12))
    return np.asarray(np.clip(found, LOWEST, HIGHEST))


def overall_mean(counts: FloatArray, means: FloatArray) -> FloatArray:
    """Mean of all values of every feature."""
    return np.asarray((counts * means).sum(axis=0) / np.maximum(counts.sum(axis=0), 1.0))


def freedom(counts: FloatArray, means: FloatArray, log_dispersion: FloatArray) -> FloatArray:
    """Degrees of freedom of the centred squares at a dispersion; 0 where they say nothing."""
    alpha, free = np.exp(log_dispersion), np.maximum(counts - 1.0, 0.0)
    variance = means + alpha * means**2
    expected = (free * variance).sum(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        excess = np.where(variance > 0, 6.0 * alpha + 1.0 / variance, 0.0)
        of_squares = (variance**2 * (2.0 * free + free**2 * excess / np.maximum(counts, 1.0))).sum(axis=0)
        return np.asarray(np.where(of_squares > 0, 2.0 * expected**2 / of_squares, 0.0))


@compiled()
def expected_squares(alpha: float, counts: Any, means: Any, f: int) -> float:
    """Expected centred squares of a feature, given its totals."""
    total = 0.0
    for y in range(counts.shape[0]):
        n = counts[y, f]
        if n > 1.0:
            m = means[y, f]
            total += (n - 1.0) * m * (1.0 + alpha * m) / (1.0 + alpha / n)
    return float(total)


@compiled()
def log_spread(u: float, counts: Any, means: Any, squares: Any, nu: Any, f: int) -> float:
    """Log likelihood of the centred squares of a feature at a log dispersion."""
    if nu[f] <= 0.0:
        return 0.0
    expected = expected_squares(math.exp(u), counts, means, f)
    return float(-0.5 * nu[f] * (math.log(expected) + squares[f] / expected))


@compiled()
def likely_dispersion(counts: Any, means: Any, squares: Any, f: int) -> float:
    """Log dispersion at which the expected centred squares are those that are there, within bounds."""
    low, high = LOWEST, HIGHEST
    if expected_squares(math.exp(low), counts, means, f) >= squares[f]:
        return low
    if expected_squares(math.exp(high), counts, means, f) <= squares[f]:
        return high
    for _ in range(40):
        middle = 0.5 * (low + high)
        if expected_squares(math.exp(middle), counts, means, f) < squares[f]:
            low = middle
        else:
            high = middle
    return 0.5 * (low + high)


@compiled()
def find_likely(counts: Any, means: Any, squares: Any, nu: Any, likely: Any, precision: Any) -> None:
    """Log dispersion that the spread of every feature speaks for, and roughly how precisely; 0 if it is open."""
    for f in range(likely.size):
        likely[f], precision[f] = 0.0, 0.0
        if nu[f] <= 0.0:
            continue
        place = likely_dispersion(counts, means, squares, f)
        if place > LOWEST and place < HIGHEST:
            here = math.log(expected_squares(math.exp(place), counts, means, f))
            slope = (math.log(expected_squares(math.exp(place + 1e-3), counts, means, f)) - here) / 1e-3
            likely[f], precision[f] = place, 0.5 * nu[f] * slope * slope


@compiled()
def _score(data: Any, likely: Any, precision: Any, slope: Any, centre: Any, width: float, scores: Any) -> float:
    """Log likelihood of the trend, and for every feature its derivatives by the logarithms of a_0, a_1 and width.

    Integrals over the dispersion of a feature are sums as in :mod:`bayesieve.models.counts.dispersed`.
    """
    counts, means, squares, nu = data
    value, of_prior = 0.0, 1.0 / (width * width)
    for f in range(likely.size):
        both = of_prior + precision[f]
        at, scale = (centre[f] * of_prior + likely[f] * precision[f]) / both, 1.0 / math.sqrt(both)
        top = log_spread(at, counts, means, squares, nu, f)
        total = first = second = 0.0
        for k in range(-_HALF, _HALF + 1):
            u = at + scale * math.sinh(k * _STEP)
            z = (u - centre[f]) / width
            tail = 1.0 + z * z / PRIOR_DOF
            density = math.cosh(k * _STEP) * scale / (width * tail * tail * tail)
            density *= math.exp(min(log_spread(u, counts, means, squares, nu, f) - top, 500.0))
            pull = density * (PRIOR_DOF + 1.0) / (PRIOR_DOF * tail) * z
            total += density
            first += pull
            second += pull * z
        total = max(total, 1e-300)
        value += math.log(total) + top
        away = first / (total * width)
        scores[f, 0], scores[f, 1] = away * slope[f], away * (1.0 - slope[f])
        scores[f, 2] = second / total - 1.0
    return value


def fit_trend(parts: Sequence[EventTotals]) -> Trend:
    """Return the trend of dispersions over means, and the width of the prior about it, of all features."""
    counts, means, squares = spread_of(parts)
    mean = overall_mean(counts, means)
    told = ((counts > 1) & (means > 0)).any(axis=0) & ((counts * means).sum(axis=0) >= _LEAST_TOTAL)
    used = np.flatnonzero(told)
    if used.size > _MOST:  # of all means alike
        order = used[np.argsort(mean[used], kind="stable")]
        used = np.sort(order[np.linspace(0, order.size - 1, _MOST).astype(np.int64)])
    if not used.size:
        return 0.1, 0.0, _FEW_WIDTH
    counts, means, squares, mean = counts[:, used], means[:, used], squares[used], mean[used]
    counts, means = np.ascontiguousarray(counts), np.ascontiguousarray(means)
    trend = _first_trend(counts, means, squares, mean)
    if used.size < _FEWEST:
        return (*trend, _FEW_WIDTH)
    return _most_probable(counts, means, squares, mean, trend)


def _first_trend(counts: Any, means: Any, squares: Any, mean: Any) -> tuple[float, float]:
    """One dispersion for all: the median of the ratios of extra to possible variation, weighted by freedom."""
    free = np.maximum(counts - 1.0, 0.0)
    extra = squares - (free * means).sum(axis=0)
    possible = (free * means**2).sum(axis=0)
    ratio = extra / np.maximum(possible, 1e-300)
    heavy = mean >= np.median(mean)
    common = float(np.clip(np.mean(np.clip(ratio[heavy], 0.0, 10.0)), 1e-3, 10.0))
    return common, 1e-3 * common


def _most_probable(counts: Any, means: Any, squares: Any, mean: Any, start: tuple[float, float]) -> Trend:
    """Maximise the likelihood of the logarithms of a_0, a_1 and the width, by scoring with shortened steps."""
    likely, precision = np.empty((2, mean.size))
    scores, now = np.empty((mean.size, 3)), np.log([start[0], max(start[1], 0.1), _PRIOR_WIDTH])
    for _ in range(_ROUNDS):
        nu = freedom(counts, means, trend_at((*np.exp(now[:2]).tolist(), 1.0), mean))  # follows the trend
        find_likely(counts, means, squares, nu, likely, precision)
        data = counts, means, squares, nu

        def look(place: FloatArray, data: Any = data) -> float:
            first, second, width = np.exp(place).tolist()
            whole = first + second / mean
            value = _score(data, likely, precision, first / whole, np.log(whole), width, scores)
            return float(value - 0.5 * ((place[2] - _PRIOR_WIDTH_LOG) ** 2 + _RIDGE * (place[1] ** 2)))

        value = look(now)
        for _ in range(_STEPS):
            gradient = scores.sum(axis=0) - [0.0, _RIDGE * now[1], now[2] - _PRIOR_WIDTH_LOG]
            curvature = scores.T @ scores + np.diag([_RIDGE, _RIDGE, 1.0])
            step = np.clip(np.linalg.solve(curvature, gradient), -1.0, 1.0)
            size, best = 1.0, value
            while size > 0.01:
                place = np.clip(now + size * step, _LEAST, _LARGEST)
                value = look(place)
                if value >= best:
                    break
                size *= 0.4
            if value < best:
                look(now)
                break
            now = place
            if value - best < _CLOSE:
                break
    first, second, width = np.exp(now).tolist()
    return first, second, width


def with_spread(totals: EventTotals, log_dispersion: FloatArray, rng: np.random.Generator) -> EventTotals:
    """Give drawn totals the spread that they might have, as the likelihood has it."""
    held: Any = totals.moments
    n = np.broadcast_to(held.counts, totals.total.shape).astype(np.float64)
    mean, alpha = np.where(n > 0, totals.total / np.maximum(n, 1.0), 0.0), np.exp(log_dispersion)
    expected = np.maximum(n - 1.0, 0.0) * mean * (1.0 + alpha * mean) / (1.0 + alpha / np.maximum(n, 1.0))
    free = np.maximum(freedom(n, mean, log_dispersion), 1e-3)
    squares = expected * (rng.chisquare(free) / free)
    moments = Moments(held.classes, held.count, mean, squares)
    return dataclasses.replace(totals, moments=moments)
