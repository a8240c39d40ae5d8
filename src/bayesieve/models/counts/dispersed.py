r"""Evidence of counts whose dispersion is not known, integrated over what the feature and all others say of it.

With :math:`u = \log\alpha`, size :math:`r = e^{-u}`, totals :math:`X_y` of classes and :math:`X_A, n_A` of
groups of classes, the evidence of a pattern :math:`P` is

.. math::
    \int p(u)\, p(W \mid u) \prod_y \frac{\Gamma(X_y + n_y r)}{\Gamma(n_y r)}
    \prod_{A \in P} \Big[(1 - f) \frac{B(a + n_A r,\, b + X_A)}{B(a, b)}
    + f \frac{B(\tfrac12 + n_A r,\, \tfrac12 + X_A)}{B(\tfrac12, \tfrac12)}\Big] du,
    \quad a = \tfrac12 \Big(1 + \frac{r}{\bar x}\Big), \; b = \tfrac12 \Big(1 + \frac{\bar x}{r}\Big)

with :math:`f` = 0.1: the first prior of the mean of a group lies about that of all, but falls off exponentially
towards 0 (or infinity), so that a group without events would count as a marvel of dispersion; the second has the
tails. Here :math:`p(u)` and :math:`p(W \mid u)` are those of :mod:`bayesieve.models.counts.dispersion`: a sum of
negative binomial counts is one of size :math:`n_y r`, and the centred squares depend on it through their
expectation only. Beyond dispersions of 1e-5 and 100 the prior falls off as a normal distribution of
:math:`u` does. Whatever is the same for all patterns is left out. Integrals are sums over
:math:`u = c + s \sinh v` with equal steps of :math:`v`, about the peak :math:`c` of each pattern, whose curvature
gives :math:`s`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from bayesieve.models.counts.dispersion import (
    HIGHEST,
    LOWEST,
    PRIOR_DOF,
    Trend,
    find_likely,
    freedom,
    log_spread,
    overall_mean,
    spread_of,
    trend_at,
)
from bayesieve.models.evidences import Evidences, Term
from bayesieve.models.patterns import Patterns
from bayesieve.stats import EventTotals
from bayesieve.utils import FloatArray, compiled, for_each, n_threads_for, share

Nodes = tuple[float, float]  # step and end of v

EXACT: Nodes = (0.2, 5.0)  # errors of log Bayes factors below 1e-4, of most below 1e-6
QUICK: Nodes = (0.6, 3.6)  # below 1e-2
_MOST_PATTERNS = 20
_COST = 400  # of a feature, next to reading a value
_SERIES_FROM = 10.0
_LOG_2_PI = math.log(2.0 * math.pi)
_MARGIN = 3.0  # beyond the bounds of log dispersions, for peaks
_FAR = 0.1  # prior probability of a mean that is far from that of all groups
_END = 8.0  # where nothing is left of the prior, and numbers would lose their digits


@compiled()
def _rest(x: float) -> float:
    r"""Return :math:`\log\Gamma(x) - x \log x + x`."""
    if x < _SERIES_FROM:
        return math.lgamma(x) - x * math.log(x) + x
    i = 1.0 / x
    s = i * i
    series = i * (1 / 12 - s * (1 / 360 - s * (1 / 1260 - s * (1 / 1680 - s * (1 / 1188 - s * 691 / 360360)))))
    return series + 0.5 * (_LOG_2_PI - math.log(x))


@compiled()
def _log_beta(p: float, q: float, share_p: float, share_q: float) -> float:
    r"""Return :math:`\log B(p, q)` less :math:`p \log s_p + q \log s_q`, with the digits of small numbers."""
    whole = p + q
    excess = p * share_q - q * share_p
    return (
        _rest(p) + _rest(q) - _rest(whole)
        + p * math.log1p(excess / (whole * share_p)) + q * math.log1p(-excess / (whole * share_q))
    )  # fmt: skip


@compiled()
def _log_pattern(u: float, data: Any, places: Any, number: Any, total: Any, f: int) -> float:
    """Log integrand of a pattern; classes ``y`` are in the groups ``places[y]``."""
    counts, means, squares, nu, centre, width, mean = data
    r, m = math.exp(-u), mean[f]
    z = (u - centre[f]) / width
    value = log_spread(u, counts, means, squares, nu, f) - 0.5 * (PRIOR_DOF + 1.0) * math.log1p(z * z / PRIOR_DOF)
    beyond = max(u - HIGHEST, LOWEST - u, 0.0)
    value -= 0.5 * beyond * beyond
    a, b = 0.5 * (1.0 + r / m), 0.5 * (1.0 + m / r)
    share_p, share_q = r / (r + m), m / (r + m)
    number[:] = 0.0
    total[:] = 0.0
    for y in range(places.size):
        n = counts[y, f]
        x = n * means[y, f]
        number[places[y]] += n
        total[places[y]] += x
        if x > 0.0:
            value -= _log_beta(n * r, x, share_p, share_q)
        elif n > 0.0:
            value += n * r * math.log(share_p)
    prior, wide = _log_beta(a, b, share_p, share_q), _log_beta(0.5, 0.5, share_p, share_q)
    for g in range(number.size):
        if number[g] > 0.0:
            near = _log_beta(a + number[g] * r, b + total[g], share_p, share_q) - prior
            far = _log_beta(0.5 + number[g] * r, 0.5 + total[g], share_p, share_q) - wide
            high = max(near, far)
            value += high + math.log((1.0 - _FAR) * math.exp(near - high) + _FAR * math.exp(far - high))
    return value


@compiled()
def _peak(
    start: float, step: float, data: Any, places: Any, number: Any, total: Any, f: int
) -> tuple[float, float, float]:
    """Place, width and height of the peak of a log integrand."""
    low, high = LOWEST - _MARGIN, HIGHEST + _MARGIN
    at = min(max(start, low), high)
    top = _log_pattern(at, data, places, number, total, f)
    scale = step
    for _ in range(2):
        left = _log_pattern(at - step, data, places, number, total, f)
        right = _log_pattern(at + step, data, places, number, total, f)
        for _ in range(200):
            if right > top and at < high:
                left, top, at = top, right, at + step
                right = _log_pattern(at + step, data, places, number, total, f)
            elif left > top and at > low:
                right, top, at = top, left, at - step
                left = _log_pattern(at - step, data, places, number, total, f)
            else:
                break
        bend = 2.0 * top - left - right
        if bend <= 0.0:
            break
        scale = min(step / math.sqrt(bend), 2.0)
        at += min(max(0.5 * step * (right - left) / bend, -step), step)
        top = _log_pattern(at, data, places, number, total, f)
        step = 0.5 * scale
    return at, scale, top


@compiled()
def _integrate(
    data: Any, places: Any, starts: Any, scales: Any, first: int, last: int, step: float, end: float, out: Any
) -> None:
    """Log integrals of features ``first : last``."""
    n_groups = 0
    for y in range(places.size):
        n_groups = max(n_groups, places[y] + 1)
    number, total = np.empty(n_groups), np.empty(n_groups)
    half = math.floor(end / step + 0.5)
    for f in range(first, last):
        if data[6][f] <= 0.0:
            out[f] = 0.0
            continue
        at, scale, top = _peak(starts[f], scales[f], data, places, number, total, f)
        area = 0.0
        for k in range(-half, half + 1):
            v = k * step
            u = at + scale * math.sinh(v)
            if u < LOWEST - _END or u > HIGHEST + _END:
                continue
            value = _log_pattern(u, data, places, number, total, f)
            area += math.cosh(v) * math.exp(value - top)
        out[f] = top + math.log(area * step * scale)


class DispersedEvidences(Evidences):
    """Bayes factors of patterns of classes, with the dispersion of each feature integrated out.

    Parameters
    ----------
    statistics
        Totals of the classes, with their spread.
    trend
        Trend of dispersions, and width of the prior about it.
    nodes
        Step and end of the sums.
    plain
        Evidences at the most probable dispersions, for very many patterns.
    """

    __slots__ = ("_data", "_nodes", "_plain", "_pooled", "_scales", "_starts")

    def __init__(
        self,
        statistics: EventTotals,
        trend: Trend,
        nodes: Nodes = EXACT,
        plain: Callable[[], Evidences] | None = None,
    ) -> None:
        counts, means, squares = spread_of([statistics])
        mean = overall_mean(counts, means)
        centre = trend_at(trend, mean)
        nu = freedom(counts, means, centre)
        self._data = counts, means, squares, nu, centre, trend[2], mean
        self._nodes, self._plain = nodes, plain
        likely, precision = np.empty((2, mean.size))
        find_likely(counts, means, squares, nu, likely, precision)
        both = precision + trend[2] ** -2.0
        self._starts = (centre * trend[2] ** -2.0 + likely * precision) / both
        self._scales = 1.0 / np.sqrt(both)
        self._pooled: FloatArray | None = None

    def pattern(self, groups: Sequence[tuple[int, ...]]) -> FloatArray:
        """Log evidence of groups of classes that differ less that of all together."""
        if self._pooled is None:
            self._pooled = self._integral([tuple(range(len(self._data[0])))])
        return self._integral(groups) - self._pooled

    def terms(self, patterns: Patterns) -> list[Term]:
        """Log Bayes factors of patterns; of very many, at the most probable dispersions."""
        if self._plain is not None and len(patterns.growths) > _MOST_PATTERNS:
            return self._plain().terms(patterns)
        return Evidences.terms(self, patterns)

    def peaks(self) -> FloatArray:
        """Log dispersion that is most probable if all classes differ."""
        places = np.arange(len(self._data[0]))
        return np.asarray(_peaks(self._data, places, self._starts, self._scales))

    def _integral(self, groups: Sequence[tuple[int, ...]]) -> FloatArray:
        places = np.zeros(len(self._data[0]), np.int64)
        for k, members in enumerate(groups):
            places[list(members)] = k
        out = np.empty(self._starts.size)
        threads = n_threads_for(None, out.size * _COST)

        def work(part: tuple[int, int]) -> None:
            _integrate(self._data, places, self._starts, self._scales, *part, *self._nodes, out)

        for_each(work, share(out.size, threads), threads)
        return out


@compiled()
def _peaks(data: Any, places: Any, starts: Any, scales: Any) -> Any:
    number, total, out = np.empty(places.size), np.empty(places.size), np.empty(starts.size)
    for f in range(starts.size):
        out[f] = starts[f]
        if data[6][f] > 0.0:
            out[f] = _peak(starts[f], scales[f], data, places, number, total, f)[0]
    return out
