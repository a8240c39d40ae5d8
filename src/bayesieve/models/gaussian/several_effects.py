"""Bayes factors of means and of variances that differ between three or more groups."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from bayesieve.models.gaussian.effect_mixture import EXACT
from bayesieve.utils import FloatArray, compiled, for_each, n_threads_for

_TILE = 2048  # features of one task


def several_means(
    counts: FloatArray, means: FloatArray, within: FloatArray, prior: Any, half_dof: Any, taus: FloatArray
) -> FloatArray:
    r"""Log Bayes factor of means that differ between three or more groups.

    Deviations of the group means are :math:`N(0, \sigma^2 \tau^2 / 2)`, so that two of them differ as two groups
    do. With :math:`v_g = 1 / (\tau^2/2 + 1/n_g)` and :math:`Q_\tau = \sum_g v_g (\bar x_g - \bar x_v)^2`,

    .. math::

        \log BF = \tfrac12 \sum_g \log \frac{v_g}{n_g} - \tfrac12 \log \frac{\sum_g v_g}{n}
            + \tfrac{n - 1 + d_0}{2} \left[\log\left(1 + \tfrac{Q_0}{A + W}\right)
            - \log\left(1 + \tfrac{Q_\tau}{A + W}\right)\right]

    Parameters
    ----------
    counts, means
        Of the groups, ``(n_groups, n_features)``; means may be taken about any common value.
    within, prior, half_dof
        Squares within groups, those of the prior, and half the degrees of freedom of both and one more mean.
    taus
        Effect sizes, of which the mean Bayes factor is taken.
    """
    total, scale = counts.sum(axis=0), within + prior

    def spread(weights: FloatArray) -> FloatArray:
        centre = (weights * means).sum(axis=0) / weights.sum(axis=0)
        return np.asarray((weights * (means - centre) ** 2).sum(axis=0) / scale)

    gain = half_dof * np.log1p(spread(counts))
    terms = []
    for tau in taus.tolist():
        weights = 1.0 / (0.5 * tau * tau + 1.0 / counts)
        constant = 0.5 * (np.log(weights / counts).sum(axis=0) - np.log(weights.sum(axis=0) / total))
        terms.append(constant + gain - half_dof * np.log1p(spread(weights)))
    return np.asarray(np.logaddexp.reduce(terms) - math.log(len(terms)))


def several_variances(
    squares: FloatArray, dof: FloatArray, share: FloatArray, shapes: FloatArray, nodes: tuple[float, int] = EXACT
) -> FloatArray:
    r"""Log Bayes factor of variances that differ between three or more groups.

    Precisions of the groups are a common one times :math:`\xi_g \sim \text{Gamma}(a, a)`, with :math:`\psi'(a) =
    \omega^2 / 2`, so that two log variances differ by a variance of :math:`\omega^2`. The :math:`\xi_g` are
    integrated in closed form, the common scale by the trapezoidal rule.

    Parameters
    ----------
    squares, dof
        Centred squares and degrees of freedom of the groups, ``(n_groups, n_features)``.
    share
        Share g of the evidence that heavy tails leave, one per feature.
    shapes
        Shapes a, of which the mean Bayes factor is taken.
    """
    n = squares.shape[1]
    found = np.empty(n)
    columns = np.ascontiguousarray(squares), np.ascontiguousarray(np.broadcast_to(dof, squares.shape), np.float64)

    def work(lo: int) -> None:
        where = slice(lo, min(lo + _TILE, n))
        _several_variances(columns[0][:, where], columns[1][:, where], share[where], shapes, *nodes, found[where])

    for_each(work, range(0, n, _TILE), n_threads_for(None, n * 512))
    return found


@compiled()
def _several_variances(
    squares: Any, dof: Any, share: Any, shapes: Any, step: float, half: int, found: Any
) -> None:
    n_groups = squares.shape[0]
    s, m = np.empty(n_groups), np.empty(n_groups)
    for f in range(found.shape[0]):
        g, within, total = share[f], 0.0, 0.0
        for k in range(n_groups):
            s[k], m[k] = 0.5 * g * squares[k, f], 0.5 * g * dof[k, f]
            within, total = within + s[k], total + m[k]
            if not (s[k] > 0.0 and m[k] > 0.0):
                g = 0.0
        if g == 0.0:
            found[f] = 0.0
            continue
        null = math.lgamma(total) - total * math.log(within)
        largest, sum_of_terms = -np.inf, 0.0
        for i in range(shapes.shape[0]):
            a = shapes[i]
            constant = -null
            for k in range(n_groups):
                constant += a * math.log(a) - math.lgamma(a) + math.lgamma(a + m[k])
            term = constant + _common_scale(s, m, a, math.log(within / total), total, step, half)
            if term > largest:
                sum_of_terms, largest = sum_of_terms * math.exp(largest - term) + 1.0, term
            else:
                sum_of_terms += math.exp(term - largest)
        found[f] = largest + math.log(sum_of_terms / shapes.shape[0])


@compiled()
def _common_scale(s: Any, m: Any, a: float, start: float, total: float, step: float, half: int) -> float:
    """Log integral over the log of the common variance; the integrand has one mode."""
    mode, curvature = start, 1.0
    for _ in range(30):
        slope, curvature = -total, 0.0
        for k in range(s.shape[0]):
            x = s[k] * math.exp(-mode)
            weight = (a + m[k]) / (a + x)
            slope += weight * x
            curvature += weight * x * a / (a + x)
        change = max(-2.0, min(2.0, slope / curvature))
        mode += change
        if abs(change) < 1e-6:
            break
    width = step / math.sqrt(curvature)
    high, area = 0.0, 0.0
    for i in range(-half - 1, half + 1):
        u = mode + (i if i >= -half else 0) * width  # first the mode itself
        value = -total * u
        for k in range(s.shape[0]):
            value -= (a + m[k]) * math.log(a + s[k] * math.exp(-u))
        if i < -half:
            high = value
        else:
            area += math.exp(value - high)
    return high + math.log(area * width)
