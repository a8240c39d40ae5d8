r"""Bayes factors of a trend: a slope on an outcome against none, and variances that rise or fall with it.

The outcome :math:`t` is in units of two standard deviations, so that two groups of equal size are 1 apart.
Location, slopes on covariates and scale are shared by both hypotheses; the slope is :math:`\delta\sigma` with
:math:`\delta \sim N(0, \tau^2)`. With :math:`N` the squares of the outcome given covariates, the slope's estimate
:math:`d` and the squares :math:`W` that it leaves, the Bayes factor is that of two groups
(:mod:`bayesieve.models.gaussian.effect_mixture`), with one degree of freedom less for every covariate.

Where samples share their outcomes (stages, doses) and there are no covariates, the squares :math:`S_g` within
levels, on :math:`\nu_g` degrees of freedom, tell of variances :math:`\sigma^2 e^{\theta t_g}`:

.. math:: \log BF_V(\omega) = \log \int e^{g h(\theta)} N(\theta; 0, \omega^2) d\theta, \quad
    h(\theta) = -\tfrac{\theta}{2} \sum_g \nu_g t_g
    - \tfrac{\nu}{2} \log \frac{\sum_g S_g e^{-\theta t_g}}{\sum_g S_g}

with :math:`t_g` about their mean weighted by :math:`\nu_g`. Of two levels that is the closed form of two groups.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from bayesieve.models.gaussian.effect_mixture import EXACT, effect_sizes, two_group_evidence
from bayesieve.stats import Slopes, TrendMoments
from bayesieve.utils import FloatArray, compiled, for_each, n_threads_for

_TILE = 1024
_NEAR, _MOST_STEPS = 1e-3, 30  # of the search for a mode: squared standard deviations, and steps


def trend_sizes(moments: TrendMoments) -> tuple[FloatArray, FloatArray]:
    """Effect sizes of slopes, and of the log variance ratio over a unit of the outcome; none if not known."""
    assert moments.trend is not None
    size = float(np.max(Slopes.of(moments.trend).size))
    found = _freedom_and_scores(moments)
    if found is None:
        return effect_sizes(size, math.inf)
    freedom, scores = found
    largest = freedom.max(axis=1)
    return effect_sizes(size, 2.0 / float((largest * scores**2).sum()))


def kinds_of_trend(
    moments: TrendMoments,
    prior: tuple[float, float],
    share: FloatArray,
    grids: tuple[FloatArray, FloatArray],
    nodes: tuple[float, int] = EXACT,
) -> tuple[FloatArray, FloatArray]:
    """Log Bayes factors of means, and of variances, that change with the outcome.

    Parameters
    ----------
    moments
        Moments of groups, and of the outcome.
    prior
        Degrees of freedom and scale of the prior of the variance.
    share
        Share g of the variance evidence that heavy tails leave.
    grids
        Effect sizes, :func:`trend_sizes`.
    nodes
        Of the integral over variance ratios.
    """
    assert moments.trend is not None
    dof, scale = prior
    found = Slopes.of(moments.trend)
    between = found.size * found.slope**2
    half_dof = 0.5 * (found.freedom + 1.0 + dof)
    mean, _ = two_group_evidence(
        (between, found.left, found.size, half_dof, dof * scale), (0.0,) * 5, (grids[0], np.empty(0))
    )
    enough = (found.freedom + dof > 0) & (found.left + dof * scale > 0) & (found.size > 0)
    levels = _freedom_and_scores(moments) if grids[1].size else None
    ratio = np.zeros(moments.n_features) if levels is None else _ratios(moments, *levels, share, grids[1], nodes)
    return np.where(enough, mean, 0.0), np.where(enough, ratio, 0.0)


def _freedom_and_scores(moments: TrendMoments) -> tuple[FloatArray, FloatArray] | None:
    """Degrees of freedom of levels, and their outcomes about the mean; None if variances cannot be compared."""
    if moments.scores is None or moments.trend is None or moments.trend.n_covariates > 1:
        return None
    freedom = np.maximum(np.broadcast_to(moments.counts, moments.mean.shape) - 1.0, 0.0)
    largest = freedom.max(axis=1)
    if (largest > 0).sum() < 2:
        return None
    return freedom, moments.scores - float((largest * moments.scores).sum() / largest.sum())


def _ratios(
    moments: TrendMoments,
    freedom: FloatArray,
    scores: FloatArray,
    share: Any,
    omegas: FloatArray,
    nodes: tuple[float, int],
) -> FloatArray:
    n = moments.n_features
    found, squares = np.empty(n), np.ascontiguousarray(moments.centred_squares.T)
    free, tempered = np.ascontiguousarray(freedom.T), np.ascontiguousarray(np.broadcast_to(share, (n,)))

    def work(lo: int) -> None:
        where = slice(lo, min(lo + _TILE, n))
        _all_ratios(squares[where], free[where], scores, tempered[where], omegas, *nodes, found[where])

    for_each(work, range(0, n, _TILE), n_threads_for(None, n * 512))
    return found


@compiled()
def _all_ratios(
    squares: Any, freedom: Any, scores: Any, share: Any, omegas: Any, step: float, half: int, found: Any
) -> None:
    for f in range(found.shape[0]):
        found[f] = 0.0
        told = 0
        for k in range(scores.shape[0]):
            told += squares[f, k] > 0.0
        if share[f] > 0.0 and told >= 2:
            found[f] = _ratio(squares[f], freedom[f], scores, share[f], omegas, step, half)


@compiled()
def _height(theta: float, squares: Any, freedom: Any, scores: Any) -> tuple[float, float, float]:
    """Height h of the module's formula, less a constant, with its first and second derivatives."""
    high = -np.inf
    for k in range(scores.shape[0]):
        if squares[k] > 0.0:
            high = max(high, -theta * scores[k])
    total = first = second = slope = power = 0.0
    for k in range(scores.shape[0]):
        weight = squares[k] * math.exp(-theta * scores[k] - high) if squares[k] > 0.0 else 0.0
        total += weight
        first += weight * scores[k]
        second += weight * scores[k] * scores[k]
        slope += freedom[k] * scores[k]
        power += freedom[k]
    mean = first / total
    value = -0.5 * theta * slope - 0.5 * power * (math.log(total) + high)
    return value, -0.5 * slope + 0.5 * power * mean, -0.5 * power * (second / total - mean * mean)


@compiled()
def _ratio(squares: Any, freedom: Any, scores: Any, g: float, omegas: Any, step: float, half: int) -> float:
    """Log of the mean Bayes factor over the grid; each by the trapezoidal rule around the only mode."""
    null = g * _height(0.0, squares, freedom, scores)[0]
    largest, total, mode = -np.inf, 0.0, 0.0
    for k in range(omegas.shape[0]):
        precision = 1.0 / (omegas[k] * omegas[k])
        curvature = precision
        for _ in range(_MOST_STEPS):
            _, slope, bend = _height(mode, squares, freedom, scores)
            curvature = precision - g * bend
            change = max(-2.0, min(2.0, (g * slope - precision * mode) / curvature))
            mode += change
            if change * change * curvature < _NEAR:
                break
        width = step / math.sqrt(curvature)
        high = g * _height(mode, squares, freedom, scores)[0] - 0.5 * precision * mode * mode
        area = 0.0
        for i in range(-half, half + 1):
            t = mode + i * width
            value = g * _height(t, squares, freedom, scores)[0] - 0.5 * precision * t * t
            area += math.exp(value - high)
        term = high - null + math.log(area * width / (omegas[k] * math.sqrt(2.0 * math.pi)))
        if term > largest:
            total, largest = total * math.exp(largest - term) + 1.0, term
        else:
            total += math.exp(term - largest)
    return largest + math.log(total / omegas.shape[0])
