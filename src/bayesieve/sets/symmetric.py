r"""Sums over all sets of features under a prior on the number of markers (elementary symmetric polynomials).

Multiplied by :math:`e^\tau`, Bayes factors :math:`x_f` are the odds of independent coins, and

.. math:: e_k(x) = P_\tau(k) \, e^{-k\tau} \prod_f (1 + x_f e^\tau)

with :math:`P_\tau(k)` the probability that :math:`k` coins fall on 1 (a Poisson-binomial distribution). The tilt
:math:`\tau` brings any :math:`k` into its middle. A *window* is the middle of one such distribution; windows
are added until what they leave out is known to be negligible.

With :math:`x_f` the Bayes factors and :math:`c_k` the log prior probability of one set of :math:`k` markers,

.. math::
    P(|\bar G| = k \mid S) \propto e^{c_k} e_k(x), \qquad
    \frac{\pi^*(f)}{1 - \pi^*(f)} = x_f\,
    \frac{\sum_m e^{c_{m+1}} e_m(x_{-f})}{\sum_m e^{c_m} e_m(x_{-f})}

with :math:`e_k` the elementary symmetric polynomials, held as tilted
distributions. Taking one coin out of such a distribution gives :math:`e_m(x_{-f})`: from the left
if the coin rather falls on 0, from the right if rather on 1. In the other direction rounding errors grow
without bound.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from bayesieve.posterior import PoissonBinomial, expit
from bayesieve.sets.masks import log_sum
from bayesieve.sets.size_prior import log_choose
from bayesieve.utils import BoolArray, FloatArray, compiled, for_each, n_threads_for, share

LOG_NEGLIGIBLE = -45.0
_MIDDLE = 1e-3
_BELOW_ONE = np.nextafter(1.0, 0.0)
_N_LEVELS = 9


@dataclass(frozen=True, slots=True, eq=False)
class Reference:
    """Features whose Bayes factors are divided out of every polynomial, so that no large number is left.

    Parameters
    ----------
    sign
        -1 for a feature of the reference, 1 for another.
    size
        Number of features in the reference.
    """

    sign: FloatArray
    size: int

    @classmethod
    def at(cls, log_factor: FloatArray, tilt: float) -> Reference:
        """Take the coins that rather fall on 1 after a tilt."""
        sign = np.where(log_factor + tilt > 0, -1.0, 1.0)
        return cls(sign, int((sign < 0).sum()))

    @classmethod
    def none(cls, n_features: int) -> Reference:
        """Take nothing out."""
        return cls(np.ones(n_features), 0)

    def log_factors(self, log_factor: FloatArray, tilt: float) -> FloatArray:
        r"""Return :math:`\log(1 + x_f e^\tau)`, for the reference less :math:`\log x_f`."""
        return np.logaddexp(0.0, self.sign * (log_factor + tilt)) + np.where(self.sign < 0, tilt, 0.0)


@dataclass(frozen=True, slots=True, eq=False)
class Window:
    """The distribution of the coins after one tilt, and the numbers it is used for.

    Parameters
    ----------
    tilt
        What was added to all log Bayes factors.
    distribution
        Distribution of the number of coins on 1.
    first, last
        The middle of the distribution: its masses from ``first`` to ``last`` are over a thousandth of the largest.
    fresh
        Those of the numbers from ``first`` up to but without ``last`` that no earlier window serves.
    log_scale
        Log of what the masses are multiplied by, apart from the power of the tilt.
    reference_size
        Number of features in the reference.
    """

    tilt: float
    distribution: PoissonBinomial
    first: int
    last: int
    fresh: BoolArray
    log_scale: float = 0.0
    reference_size: int = 0

    def log_weight(self, number: npt.NDArray[np.int64]) -> FloatArray:
        """Log of what a mass of the distribution is multiplied by to give the polynomial of that number."""
        return np.asarray(self.log_scale + (self.reference_size - number) * self.tilt, dtype=np.float64)

    def log_polynomial(self) -> FloatArray:
        """Log symmetric polynomials from ``first`` to ``last``."""
        number = np.arange(self.first, self.last + 1)
        return np.asarray(
            np.log(self.distribution.pmf[number - self.distribution.lowest]) + self.log_weight(number)
        )

    def scaled(self, log_factor: FloatArray, reference: Reference) -> Window:
        """Divide the factors of a reference out."""
        log_scale = float(np.logaddexp(0.0, reference.sign * (log_factor + self.tilt)).sum())
        return replace(self, log_scale=log_scale, reference_size=reference.size)


def coins(log_factor: FloatArray, tilt: float) -> PoissonBinomial:
    """Distribution of the number of coins on 1, their log-odds being tilted log Bayes factors."""
    x = log_factor + tilt
    return PoissonBinomial.of(np.minimum(expit(x), _BELOW_ONE), expit(-x))  # none is taken as certain


def tilt_to(log_factor: FloatArray, mean: float, start: float = 0.0) -> float:
    """Return the tilt at which the expected number of coins on 1 is near ``mean``.

    It is rounded to a few binary digits, so that its products with whole numbers are exact.
    """
    reach = math.log(log_factor.size) + 40.0
    low, high = -float(log_factor.max()) - reach, -float(log_factor.min()) + reach
    tilt = min(max(start, low), high)
    for _ in range(500):
        q = expit(log_factor + tilt)
        off = mean - float(q.sum())
        if abs(off) < 0.05:
            break
        low, high = (tilt, high) if off > 0 else (low, tilt)
        slope = float((q * (1.0 - q)).sum())
        step = tilt + off / slope if slope > 0 else math.inf
        tilt = step if low < step < high else 0.5 * (low + high)
    return round(tilt * 2**20) / 2**20


def cover(
    log_factor: FloatArray, log_per_set: FloatArray, start: float
) -> tuple[tuple[Window, ...], Reference, FloatArray]:
    """Return windows that cover every number of markers that matters, the reference, and log polynomials.

    Notes
    -----
    Polynomials that do not matter are NaN: their terms are below e^-45 of the largest, in the sums for the
    number of markers and for the odds of any feature.
    """
    found, bulk = _find(log_factor, log_per_set, start)
    reference = Reference.at(log_factor, bulk.tilt)  # what has the most weight is then held most exactly
    windows = tuple(window.scaled(log_factor, reference) for window in found)
    polynomial = np.full(log_factor.size + 1, np.nan)
    for window in windows:
        polynomial[window.first : window.last + 1] = window.log_polynomial()
    return windows, reference, polynomial


def _find(log_factor: FloatArray, log_per_set: FloatArray, start: float) -> tuple[list[Window], Window]:
    """Place windows until the rest is negligible; also return the one where most weight lies.

    Polynomials are needed roughly here, and are made without a reference.
    """
    n = log_factor.size
    possible = np.flatnonzero(log_per_set > -np.inf)
    place = int(min(np.clip(expit(log_factor + start).sum(), possible[0], possible[-1]), n - 1))
    levels, choose = np.quantile(log_factor, np.linspace(0.0, 1.0, _N_LEVELS)), log_choose(n)
    served, polynomial = np.zeros(n, dtype=bool), np.full(n + 1, np.nan)
    windows: list[Window] = []
    wanted: int | None = place
    while wanted is not None:
        tilt = tilt_to(log_factor, place + 0.5, windows[-1].tilt if windows else start)
        window = _middle(coins(log_factor, tilt), tilt, served)
        windows.append(window)
        rough = window.scaled(log_factor, Reference.none(n))
        polynomial[window.first : window.last + 1] = rough.log_polynomial()
        served[window.first : window.last] = True
        wanted = _most_wanted(_bound(polynomial, choose), log_per_set, served, levels)
        if wanted is not None:
            place = _move(wanted, served, int(0.45 * (window.last - window.first)))
    bulk = int(np.nanargmax(np.where(log_per_set > -np.inf, log_per_set + polynomial, np.nan)))
    return windows, next(window for window in windows if window.first <= bulk <= window.last)


def _middle(distribution: PoissonBinomial, tilt: float, served: BoolArray) -> Window:
    middle = np.flatnonzero(distribution.pmf >= _MIDDLE * distribution.pmf.max()) + distribution.lowest
    first, last = int(middle[0]), int(middle[-1])
    return Window(tilt, distribution, first, last, ~served[first:last])


def _bound(polynomial: FloatArray, choose: FloatArray) -> FloatArray:
    r"""Log polynomials, bounded from above where unknown: :math:`e_k / \binom{n}{k}` is log-concave (Newton)."""
    n, known, k = polynomial.size, ~np.isnan(polynomial), np.arange(polynomial.size)
    mean = polynomial - choose
    left = np.maximum.accumulate(np.where(known, k, -1))
    right = np.minimum.accumulate(np.where(known, k, n)[::-1])[::-1]
    at, to = np.maximum(left, 1), np.minimum(right, n - 2)
    from_left = np.where(left > 0, mean[at] + (k - at) * (mean[at] - mean[at - 1]), np.inf)
    from_right = np.where(right < n - 1, mean[to] - (to - k) * (mean[to + 1] - mean[to]), np.inf)
    return np.where(known, polynomial, np.minimum(from_left, from_right) + choose)


def _most_wanted(bound: FloatArray, log_per_set: FloatArray, served: BoolArray, levels: FloatArray) -> int | None:
    r"""Return the number to serve next; None if all that are left are negligible.

    :math:`e_m` and :math:`e_{m+1} / x_f` bound :math:`e_m(x_{-f})`, and the lesser is at most twice as large.
    Its share is looked at in the odds of the weakest feature, the strongest, and some between.

    The search ends after as many windows as there are numbers, at the latest. The next window is centred on a
    number :math:`m` that no window serves (:func:`_move` sees to that), by a distribution of mean
    :math:`m + 1/2`. It has its mode at :math:`m` or :math:`m + 1`, and at the other one at least a thousandth of
    that: otherwise, being log-concave, it had next to nothing on that side of the mode, and its mean could not
    lie there. So both are in its middle, and :math:`m` is served.
    """
    gain = np.full(served.size, -np.inf)
    for level in levels:
        left_out = np.minimum(bound[:-1], bound[1:] - level)
        for weight in (log_per_set[1:], log_per_set[:-1]):
            score = weight + left_out
            top = score[served].max()
            top = score.max() if top == -np.inf else top
            if top > -np.inf:
                np.maximum(gain, score - top, out=gain)
    gain[served] = -np.inf
    best = int(gain.argmax())
    if gain[best] <= LOG_NEGLIGIBLE:
        return None
    if gain[best] > 3.0:  # the bulk has not been found yet
        return best
    beside = np.zeros_like(served)
    beside[1:] |= served[:-1]
    beside[:-1] |= served[1:]
    near = np.where(beside, gain, -np.inf)
    return int(near.argmax()) if near.max() > LOG_NEGLIGIBLE else best


def _move(place: int, served: BoolArray, half: int) -> int:
    """Centre of a window with ``place`` at its edge, if what lies on one side of it is served already."""
    if place > 0 and served[place - 1]:
        ahead = served[place : place + half + 1]
        return place + (int(ahead.argmax()) // 2 if ahead.any() else ahead.size - 1)
    if place < served.size - 1 and served[place + 1]:
        ahead = served[max(place - half, 0) : place + 1][::-1]
        return place - (int(ahead.argmax()) // 2 if ahead.any() else ahead.size - 1)
    return place


_LANES = 8


@dataclass(frozen=True, slots=True, eq=False)
class SymmetricSums:
    """Polynomials of the Bayes factors of all features, wherever a prior on sizes gives them weight.

    Parameters
    ----------
    log_factor
        Log Bayes factors.
    log_per_set
        Log prior probability of one set of 0, 1, ... markers.
    windows, reference, log_polynomial
        From :func:`bayesieve.sets.symmetric.cover`.
    """

    log_factor: FloatArray
    log_per_set: FloatArray
    windows: tuple[Window, ...]
    reference: Reference
    log_polynomial: FloatArray

    @classmethod
    def of(cls, log_factor: FloatArray, log_per_set: FloatArray, start: float = 0.0) -> SymmetricSums:
        """Cover the numbers of markers that matter; ``start`` is a guess of the tilt."""
        return cls(log_factor, log_per_set, *cover(log_factor, log_per_set, start))

    @property
    def log_terms(self) -> FloatArray:
        r""":math:`c_k + \log e_k`, the reference divided out; minus infinity where it does not matter."""
        return np.where(np.isnan(self.log_polynomial), -np.inf, self.log_per_set + self.log_polynomial)

    @property
    def log_total(self) -> float:
        r""":math:`\log \sum_k e^{c_k} e_k`, the reference divided out."""
        return float(log_sum(self.log_terms))

    @property
    def log_size_probability(self) -> FloatArray:
        """Log posterior probability of every number of markers; minus infinity where it does not matter."""
        terms = self.log_terms
        terms -= terms.max()  # first, so that the largest are exact
        return np.asarray(terms - log_sum(terms))

    def log_probability(self, mask: BoolArray) -> float:
        r"""Log probability that the features of a mask are all the markers and nothing else is."""
        terms = self.log_factor * (mask.astype(np.float64) - (self.reference.sign < 0))
        return float(self.log_per_set[int(mask.sum())] + terms.sum() - self.log_total)

    def log_odds_before(self, n_threads: int | None = None) -> FloatArray:
        """Log-odds of every feature given the data of all others but not its own.

        The log Bayes factor added to them gives the posterior log-odds.
        """
        levels, place, back = np.unique(self.log_factor, return_index=True, return_inverse=True)
        reference = Reference(self.reference.sign[place], self.reference.size)
        inside = np.full(levels.size, -np.inf)
        outside = inside.copy()
        for window in self.windows:
            sums, scales = self._left_out(window, levels, n_threads)
            with np.errstate(divide="ignore"):
                logs = np.log(sums) + scales - reference.log_factors(levels, window.tilt)
            np.logaddexp(inside, logs[0], out=inside)
            np.logaddexp(outside, logs[1], out=outside)
        return np.asarray((inside - outside)[back.reshape(-1)])

    def _left_out(
        self, window: Window, levels: FloatArray, n_threads: int | None
    ) -> tuple[FloatArray, FloatArray]:
        """Sums over the fresh numbers of a window, one feature left out: were it a marker, were it none."""
        m = np.arange(window.first, window.last)
        logs = np.stack([self.log_per_set[m + 1], self.log_per_set[m]]) + window.log_weight(m)
        logs[:, ~window.fresh] = -np.inf
        scales = logs.max(axis=1, keepdims=True)
        scales[scales == -np.inf] = 0.0
        weights = np.exp(logs - scales)
        n_low = int(np.searchsorted(levels, -window.tilt, side="right"))
        odds = np.exp(-np.abs(levels + window.tilt))
        pmf, first = window.distribution.pmf.copy(), window.first - window.distribution.lowest
        sums = np.empty((2, levels.size))
        threads = n_threads_for(n_threads, levels.size * m.size)
        _take_out(odds[:n_low], pmf, first, weights, sums[:, :n_low], threads)
        flipped, first = (
            pmf[::-1].copy(),
            window.distribution.lowest + pmf.size - 1 - window.last,
        )  # coins turned over
        _take_out(odds[n_low:], flipped, first, weights[:, ::-1].copy(), sums[:, n_low:], threads)
        return sums, scales

    def number_in(self, mask: BoolArray) -> FloatArray:
        """Distribution of the number of markers among the features of a mask, from 0 to their number."""
        found, total = np.zeros(int(mask.sum()) + 1), self.log_total
        taken = np.zeros(self.log_factor.size + 1, dtype=bool)
        for window in self.windows:
            k = np.arange(window.first, window.last + 1)
            weights = np.zeros(taken.size)
            weights[k] = np.exp(np.where(taken[k], -np.inf, self.log_per_set[k] + window.log_weight(k) - total))
            taken[k] = True
            inside, outside = (coins(self.log_factor[part], window.tilt) for part in (mask, ~mask))
            lowest = inside.lowest + outside.lowest
            reached = weights[lowest : lowest + inside.pmf.size + outside.pmf.size - 1]
            found[inside.support] += inside.pmf * np.correlate(reached, outside.pmf, mode="valid")
        return found


def _take_out(
    odds: FloatArray, pmf: FloatArray, first: int, weights: FloatArray, sums: FloatArray, n_threads: int
) -> None:
    """Share the coins among threads, in whole groups so that threads do not change the result."""

    def work(part: tuple[int, int]) -> None:
        here = slice(part[0] * _LANES, part[1] * _LANES)
        _take_coins_out(odds[here], pmf, first, weights, sums[:, here])

    for_each(work, share(-(-odds.size // _LANES), n_threads), n_threads)


@compiled(fastmath={"contract"})
def _take_coins_out(odds: Any, pmf: Any, first: int, weights: Any, sums: Any) -> None:
    """Take each coin, of odds up to 1, out of a distribution, and add up what is left from ``first`` on, weighted.

    A start some numbers below ``first`` is enough: an error there shrinks by the odds at every step.
    Coins are treated in groups, one processor instruction serving several of them.
    """
    n, width = odds.shape[0], weights.shape[1]
    ratio, scale, rest = np.zeros(_LANES), np.zeros(_LANES), np.zeros(_LANES)
    with_it, without_it = np.zeros(_LANES), np.zeros(_LANES)
    for start in range(0, n, _LANES):
        largest = 0.0
        for i in range(_LANES):
            ratio[i] = odds[start + i] if start + i < n else 0.0
            scale[i] = 1.0 + ratio[i]
            rest[i] = with_it[i] = without_it[i] = 0.0
            largest = max(largest, ratio[i])
        for k in range(first - _run_in(first, largest), first):
            for i in range(_LANES):
                rest[i] = pmf[k] * scale[i] - ratio[i] * rest[i]
        for k in range(width):
            mass, inside, outside = pmf[first + k], weights[0, k], weights[1, k]
            for i in range(_LANES):
                rest[i] = mass * scale[i] - ratio[i] * rest[i]
                with_it[i] += inside * rest[i]
                without_it[i] += outside * rest[i]
        for i in range(min(_LANES, n - start)):
            sums[0, start + i], sums[1, start + i] = with_it[i], without_it[i]


@compiled()
def _run_in(first: int, odds: float) -> int:
    if odds >= 1.0:
        return first
    return min(first, int(1.0 - 50.0 / math.log(odds))) if odds > 0.0 else 0
