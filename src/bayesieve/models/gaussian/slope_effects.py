r"""Calibrated Bayes factors given covariates: differences in mean and in variance, with slopes that groups share.

Slopes are flat under both hypotheses, as the location is. The indicators :math:`Y` of the groups, less what the
constant and the covariates explain of them, have the products :math:`\Omega = Y^T M Y`, and :math:`s = Y^T M x`
with a
feature. Effects of the groups are :math:`N(0, \sigma^2 \tau^2 / 2)`, so that two of them differ by
:math:`\delta\sigma` with :math:`\delta \sim N(0, \tau^2)`; with the eigenvalues :math:`\omega_k` of
:math:`\Omega` and
:math:`s` turned into its axes,

.. math::
    \log BF_M(\tau) = -\tfrac12 \sum_k \log(1 + \tfrac{\tau^2}{2} \omega_k) - \tfrac{n - 1 - p + d_0}{2}
        \log\left[1 - \frac{1}{A + x^T M x} \sum_k \frac{\tau^2 s_k^2 / 2}{1 + \tau^2 \omega_k / 2}\right].

Of two groups that is the closed form without covariates, with :math:`1 / (1/N + \delta^T A^{-1} \delta)` in place
of
:math:`N`. The variances of two groups are compared by

.. math::
    \log BF_V(\omega) = \log \int e^{g h(t)} N(t; 0, \omega^2) dt, \quad h(t) = -\tfrac{n_1 - 1}{2} t
        - \tfrac12 \sum_k \log D_k(e^t) - \tfrac{n - 2 - p}{2} \log \frac{R(e^t)}{R(1)}

with the regression weighted by precisions of :mod:`bayesieve.models.gaussian.slopes`. Both are exact. Variances
of three
and more groups are compared by their squares about the shared slopes, each with the degrees of freedom that slopes
leave it, :math:`n_g - 1 - \mathrm{tr}(A^{-1} A_g)`.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from bayesieve.models.gaussian.effect_mixture import EXACT, two_group_evidence
from bayesieve.models.gaussian.several_effects import several_variances
from bayesieve.models.gaussian.slopes import SlopeGroups
from bayesieve.models.gaussian.variance_ratio import slope_terms
from bayesieve.stats import AdjustedMoments, DesignMoments, solve
from bayesieve.utils import FloatArray, compiled, for_each, n_threads_for

_TILE = 1024
_NEAR, _MOST_STEPS = 1e-3, 8  # of the search for a mode: squared standard deviations, and steps
_FEW, _FEWER = (0.5, 20), (0.75, 12)  # nodes where a narrow prior or many values make the integrand smooth
_NARROW, _NARROWER, _MANY = 1.0, 0.4, 50.0


def kinds_given_slopes(
    design: DesignMoments,
    prior: tuple[float, float],
    share: FloatArray,
    grids: tuple[FloatArray, FloatArray],
    shapes: FloatArray,
    nodes: tuple[float, int] = EXACT,
) -> tuple[FloatArray, FloatArray]:
    """Log Bayes factors of groups that differ in mean, and in variance, given their covariates.

    Parameters
    ----------
    design
        Moments of the groups and their covariates.
    prior
        Degrees of freedom and scale of the prior of the variance.
    share
        Share g of the variance evidence that heavy tails leave.
    grids, shapes
        Effect sizes of means and log variance ratios; for three and more groups, shapes of gamma variables.
    nodes
        Of the integral over the ratio.
    """
    dof, scale = prior
    if len(design.classes) > 2:
        return _several(design, dof, scale, share, grids[0], shapes, nodes)
    groups, p = SlopeGroups.of(design), design.n_covariates
    n0, n1 = groups.counts
    between = groups.size * groups.moments.mean_difference**2
    half_dof = 0.5 * (n0 + n1 - 1.0 - p + dof)
    mean, _ = two_group_evidence(
        (between, groups.within, groups.size, half_dof, dof * scale), (0.0,) * 5, (grids[0], np.empty(0))
    )
    ratio = _ratios(groups, share, grids[1], nodes) if grids[1].size else np.zeros(design.n_features)
    enough = groups.defined & (n0 + n1 - 2.0 - p + dof > 0)
    return np.where(enough, mean, 0.0), np.where(enough, ratio, 0.0)


def _several(
    design: DesignMoments,
    dof: float,
    scale: float,
    share: FloatArray,
    taus: FloatArray,
    shapes: FloatArray,
    nodes: Any,
) -> tuple[FloatArray, FloatArray]:
    """Three and more groups."""
    n = np.broadcast_to(design.counts, design.moments.mean.shape).astype(np.float64)
    pooled, p = design.pool(), design.n_covariates
    wide = design.by_feature
    place = design.location if wide else design.location[..., None]
    centre = pooled.location[0] if wide else pooled.location[0][:, None]
    counts = n if wide or design.counts.shape[1] > 1 else n[:, :1]
    away = counts[:, None] * (place - centre)  # groups x covariates: what the centred covariates sum to
    inner, outer = pooled.scatter[0], pooled.cross[0]
    residual = np.asarray(design.moments.residual) - np.asarray(pooled.moments.residual)[0]
    deviations = n * ((design.moments.mean - pooled.moments.mean[0]) + residual)
    slopes = solve(inner, outer)
    left = pooled.moments.centred_squares[0] - (slopes * outer).sum(axis=0)
    scores = deviations - (away * slopes).sum(axis=1)
    inverse = _inverse_products(inner, away)
    total = counts.sum(axis=0)
    products = (
        np.einsum("gf,gh->ghf", counts, np.eye(len(counts))) - counts[:, None] * counts[None] / total - inverse
    )
    half_dof = 0.5 * (total - 1.0 - p + dof)
    means = group_effects(products, scores, left + dof * scale, half_dof, taus)
    means = np.where(np.isfinite(means) & (total - len(n) - p + dof > 0), means, 0.0)
    if not shapes.size:
        return means, np.zeros(design.n_features)
    squares = AdjustedMoments.of(design).centred_squares
    freedom = n - 1.0 - _traces(design)
    return means, several_variances(squares, freedom, share, shapes, nodes)


def group_effects(
    products: FloatArray, scores: FloatArray, squares: FloatArray, half_dof: Any, taus: FloatArray
) -> FloatArray:
    """Log Bayes factor of effects of groups, the mean over effect sizes.

    Parameters
    ----------
    products
        The matrix of the module's formula, ``(n_groups, n_groups, 1)`` or one for every feature.
    scores
        Products of the groups with the features, ``(n_groups, n_features)``.
    squares
        Squares without effects, with those of the prior of the variance.
    half_dof
        Half their degrees of freedom.
    taus
        Effect sizes.
    """
    values, vectors = np.linalg.eigh(np.moveaxis(products, -1, 0))
    turned = (np.einsum("fgk,gf->kf", vectors, scores) if len(values) > 1 else vectors[0].T @ scores) ** 2
    values = np.maximum(values.T, 0.0)
    terms = []
    for tau in taus.tolist():
        ridge = 0.5 * tau * tau
        weight = 1.0 + ridge * values
        with np.errstate(divide="ignore", invalid="ignore"):
            explained = (ridge * turned / weight).sum(axis=0) / squares
            terms.append(-0.5 * np.log(weight).sum(axis=0) - half_dof * np.log1p(-explained))
    return np.asarray(np.logaddexp.reduce(terms) - math.log(len(terms)))


def _inverse_products(inner: FloatArray, away: FloatArray) -> FloatArray:
    """Products of what groups sum to, with the inverse of the products of the covariates between them."""
    if inner.ndim == 2:
        sides = away[..., 0]
        return np.asarray((sides @ np.linalg.solve(inner, sides.T))[..., None]) if len(inner) else np.zeros(1)
    solved = np.stack([solve(inner, side) for side in away])
    return np.asarray(np.einsum("gaf,haf->ghf", away, solved))


def _traces(design: DesignMoments) -> FloatArray:
    """Degrees of freedom that slopes take from every group."""
    whole, n = design.scatter.sum(axis=0), design.n_features
    if not design.n_covariates:
        return np.zeros((len(design.classes), 1))
    if not design.by_feature:
        return np.array([[np.trace(np.linalg.solve(whole, each))] for each in design.scatter])
    columns = range(design.n_covariates)
    return np.array([sum(solve(whole, each[:, k])[k] for k in columns) for each in design.scatter]).reshape(-1, n)


def _ratios(groups: SlopeGroups, share: FloatArray, omegas: FloatArray, nodes: tuple[float, int]) -> FloatArray:
    n = groups.moments.n_features
    found = np.empty(n)
    squares = np.ascontiguousarray(groups.moments.centred_squares)
    counts = np.ascontiguousarray(np.broadcast_to(groups.counts, (2, n)))
    tempered = np.broadcast_to(share, (n,))

    def work(lo: int) -> None:
        where = slice(lo, min(lo + _TILE, n))
        shares, turned = (np.ascontiguousarray(each[:, where].T) for each in (groups.shares, groups.turned))
        part = (np.ascontiguousarray(squares[:, where]), np.ascontiguousarray(counts[:, where]))
        _all_ratios(*part, np.ascontiguousarray(tempered[where]), shares, turned, omegas, *nodes, found[where])

    for_each(work, range(0, n, _TILE), n_threads_for(None, n * 1024))
    return found


@compiled()
def _all_ratios(
    squares: Any,
    counts: Any,
    share: Any,
    shares: Any,
    turned: Any,
    omegas: Any,
    step: float,
    half: int,
    found: Any,
) -> None:
    for f in range(found.shape[0]):
        s0, s1, m0, m1, g = squares[0, f], squares[1, f], counts[0, f] - 1.0, counts[1, f] - 1.0, share[f]
        found[f] = 0.0
        first, second = m0, m1  # degrees of freedom that slopes leave
        for k in range(shares.shape[1]):
            first -= shares[f, k]
            second -= 1.0 - shares[f, k]
        if g > 0.0 and s0 > 0.0 and s1 > 0.0 and first > 0.5 and second > 0.5:
            unit = s0 + s1
            case = (s0 / unit, s1 / unit, m0, m1, shares[f], turned[f] ** 2 / unit, turned[f, :0])
            found[f] = _ratio(case, first, second, g, omegas, step, half)


@compiled()
def _height(case: Any, t: float) -> float:
    """h(t) of the module's formula."""
    s0, s1, m0, m1, shares, turned, nothing = case
    inverse = math.exp(-t)
    explained, log_determinant, _ = slope_terms(shares, turned, nothing, inverse)
    power = m0 + m1 - shares.size
    left = s0 + s1 * inverse - explained
    if left <= 0.0:  # rounding, far from the mode
        return -np.inf
    height: float = -0.5 * m1 * t - 0.5 * log_determinant - 0.5 * power * math.log(left)
    return height


@compiled()
def _ratio(case: Any, m0: float, m1: float, g: float, omegas: Any, step: float, half: int) -> float:
    """Log of the mean Bayes factor over the grid; each by the trapezoidal rule around the mode."""
    theta, variance = math.log(case[1] / m1) - math.log(case[0] / m0), 2.0 / m0 + 2.0 / m1
    many, whole = g * min(m0, m1) >= _MANY, (step, half)
    largest, total = -np.inf, 0.0
    for k in range(omegas.shape[0]):
        step, half = whole
        if whole[1] > _FEW[1] and (many or omegas[k] <= _NARROW):
            step, half = _FEWER if many or omegas[k] <= _NARROWER else _FEW
        precision = 1.0 / (omegas[k] * omegas[k])
        mode, curvature = _mode(case, theta, variance, g, precision)
        width = step / math.sqrt(curvature)
        high = g * _height(case, mode) - 0.5 * precision * mode * mode
        area = 0.0
        for i in range(-half, half + 1):
            t = mode + i * width
            area += math.exp(g * _height(case, t) - 0.5 * precision * t * t - high)
        term = high + math.log(area * width / (omegas[k] * math.sqrt(2.0 * math.pi)))
        if term > largest:
            total, largest = total * math.exp(largest - term) + 1.0, term
        else:
            total += math.exp(term - largest)
    return largest + math.log(total / omegas.shape[0])


@compiled()
def _mode(case: Any, theta: float, variance: float, g: float, precision: float) -> tuple[float, float]:
    """Mode and curvature by Newton's method with differences, from the mode of the normal approximation."""
    curvature = precision + g / variance
    mode = theta * (g / variance) / curvature
    for _ in range(_MOST_STEPS):
        gap = 0.1 / math.sqrt(curvature)
        here, left, right = _height(case, mode), _height(case, mode - gap), _height(case, mode + gap)
        slope = g * (right - left) / (2.0 * gap) - precision * mode
        bend = precision - g * (right - 2.0 * here + left) / (gap * gap)
        curvature = max(bend, precision)
        change = max(-2.0, min(2.0, slope / curvature))
        mode += change
        if change * change * curvature < _NEAR:
            break
    return mode, curvature
