"""Bayes factors of means and of variances that differ between three or more groups."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from bayesieve.models.gaussian.effect_mixture import EXACT
from bayesieve.models.gaussian.variance_likelihood import LARGEST_EXPONENT, SMALL_POWER, add_exp, fall
from bayesieve.models.log_terms import log_gamma_rest
from bayesieve.utils import FloatArray, compiled, for_each, n_threads_for

_TILE = 2048  # features of one task
_FEW = 20  # nodes on each side, up to which digits are not asked for
_LEAST_TERMS, _MOST_NODES = (1e-15, 1e-8), 400  # of the sum over the log of a common variance


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
    freedom = np.broadcast_to(np.asarray(dof, dtype=np.float64), squares.shape)
    defined = (share > 0.0) & (squares > 0.0).all(axis=0) & (freedom > 0.0).all(axis=0)

    def work(lo: int) -> None:
        where = slice(lo, min(lo + _TILE, n))
        halves = 0.5 * np.where(defined[where], share[where], 1.0) * np.maximum(freedom[:, where], 1e-9)
        rests = [
            (log_gamma_rest(halves + a) - log_gamma_rest(a)).sum(axis=0) - log_gamma_rest(halves.sum(axis=0))
            for a in shapes.tolist()
        ]
        part = np.ascontiguousarray(squares[:, where])
        _several_variances(part, halves, defined[where], np.array(rests), shapes, *nodes, found[where])

    for_each(work, range(0, n, _TILE), n_threads_for(None, n * 512))
    return found


@compiled()
def _several_variances(
    squares: Any, halves: Any, defined: Any, rests: Any, shapes: Any, step: float, half: int, found: Any
) -> None:
    n_groups = squares.shape[0]
    v, inverse, m = np.empty(n_groups), np.empty(n_groups), np.empty(n_groups)  # variances over the common one
    for f in range(found.shape[0]):
        if not defined[f]:
            found[f] = 0.0
            continue
        within, total, top = squares[:, f].sum(), halves[:, f].sum(), 0.0
        for k in range(n_groups):
            m[k] = halves[k, f]
            ratio = squares[k, f] / within * (total / m[k])
            v[k], inverse[k] = math.log(ratio), 1.0 / ratio
            top += m[k] * ((ratio - 1.0) - v[k])
        largest, sum_of_terms = -np.inf, 0.0
        for i in range(shapes.shape[0]):
            term = top + rests[i, f] + _common_scale(v, inverse, m, shapes[i], step, half)
            sum_of_terms, largest = add_exp(sum_of_terms, largest, term)
        found[f] = largest + math.log(sum_of_terms / shapes.shape[0])


@compiled()
def _common_scale(v: Any, inverse: Any, m: Any, a: float, step: float, half: int) -> float:
    """Log integral over the log of the common variance; the integrand has one mode."""
    mode, curvature = 0.0, 1.0
    for _ in range(30):
        slope, curvature = 0.0, 0.0
        for k in range(v.shape[0]):
            x = m[k] * math.exp(v[k] - mode)
            weight = (a + m[k]) / (a + x)
            slope += weight * x - m[k]
            curvature += weight * x * a / (a + x)
        change = max(-2.0, min(2.0, slope / curvature))
        mode += change
        if abs(change) < 1e-6:
            break
    width, least = step / math.sqrt(curvature), _LEAST_TERMS[0 if half > _FEW else 1]
    high, area = _at_scale(mode, v, inverse, m, a), 1.0
    for side in (-1.0, 1.0):
        term, i = 1.0, 0
        while term > least and i < _MOST_NODES:  # tails are exponential where there are few values
            i += 1
            term = math.exp(_at_scale(mode + side * i * width, v, inverse, m, a) - high)
            area += term
    return high + math.log(area * width)


@compiled()
def _at_scale(u: float, v: Any, inverse: Any, m: Any, a: float) -> float:
    """Log integrand at the log of a common variance, less its maximum over all variances of the groups."""
    value, root = 0.0, math.exp(min(u, LARGEST_EXPONENT))
    for k in range(v.shape[0]):
        power, x = a + m[k], u - v[k]
        if power < SMALL_POWER and abs(x) < LARGEST_EXPONENT:
            value -= power * math.log((m[k] + a * (root * inverse[k])) / power) - a * x
        else:
            value -= power * fall(x, a / power, power)
    return value
