r"""Sums over all sets of features under a prior on the number of markers.

With :math:`x_f` the Bayes factors and :math:`c_k` the log prior probability of one set of :math:`k` markers,

.. math::
    P(|\bar G| = k \mid S) \propto e^{c_k} e_k(x), \qquad
    \frac{\pi^*(f)}{1 - \pi^*(f)} = x_f\,
    \frac{\sum_m e^{c_{m+1}} e_m(x_{-f})}{\sum_m e^{c_m} e_m(x_{-f})}

with :math:`e_k` the elementary symmetric polynomials, held as tilted laws
(:mod:`bayesieve.feature_sets.tilting`). Taking one coin out of such a law gives :math:`e_m(x_{-f})`: from the left
if the coin rather falls on 0, from the right if rather on 1. In the other direction rounding errors grow
without bound.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from bayesieve.feature_sets.masks import log_sum
from bayesieve.feature_sets.tilting import Reference, Window, coins, cover
from bayesieve.stats.compiled import compiled
from bayesieve.stats.threads import for_each, n_threads_for, share

FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]

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
        From :func:`bayesieve.feature_sets.tilting.cover`.

    Examples
    --------
    >>> import numpy as np
    >>> import bayesieve as bs
    >>> from bayesieve.feature_sets.symmetric import SymmetricSums
    >>> sums = SymmetricSums.of(np.log([3.0, 1.0]), bs.SizePrior.uniform().log_per_set(2))
    >>> np.exp(sums.log_size_probability).round(6).tolist()
    [0.166667, 0.333333, 0.5]
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
        r"""Log probability that the features of a mask are all the markers and nothing else is.

        Examples
        --------
        >>> import numpy as np
        >>> import bayesieve as bs
        >>> from bayesieve.feature_sets.symmetric import SymmetricSums
        >>> sums = SymmetricSums.of(np.log([3.0, 1.0]), bs.SizePrior.uniform().log_per_set(2))
        >>> float(np.exp(sums.log_probability(np.array([True, False]))).round(6))
        0.25
        """
        terms = self.log_factor * (mask.astype(np.float64) - (self.reference.sign < 0))
        return float(self.log_per_set[int(mask.sum())] + terms.sum() - self.log_total)

    def log_odds_before(self, n_threads: int | None = None) -> FloatArray:
        """Log-odds of every feature given the data of all others but not its own.

        The log Bayes factor added to them gives the posterior log-odds.

        Examples
        --------
        >>> import numpy as np
        >>> import bayesieve as bs
        >>> from bayesieve.feature_sets.symmetric import SymmetricSums
        >>> sums = SymmetricSums.of(np.log([3.0, 1.0]), bs.SizePrior.uniform().log_per_set(2))
        >>> np.exp(sums.log_odds_before()).round(6).tolist()
        [1.0, 1.4]
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
        pmf, first = window.law.pmf.copy(), window.first - window.law.lowest
        sums = np.empty((2, levels.size))
        threads = n_threads_for(n_threads, levels.size * m.size)
        _take_out(odds[:n_low], pmf, first, weights, sums[:, :n_low], threads)
        flipped, first = pmf[::-1].copy(), window.law.lowest + pmf.size - 1 - window.last  # coins turned over
        _take_out(odds[n_low:], flipped, first, weights[:, ::-1].copy(), sums[:, n_low:], threads)
        return sums, scales

    def number_in(self, mask: BoolArray) -> FloatArray:
        """Law of the number of markers among the features of a mask, from 0 to their number.

        Examples
        --------
        >>> import numpy as np
        >>> import bayesieve as bs
        >>> from bayesieve.feature_sets.symmetric import SymmetricSums
        >>> sums = SymmetricSums.of(np.zeros(3), bs.SizePrior.fixed(2).log_per_set(3))
        >>> sums.number_in(np.array([True, True, False])).round(6).tolist()
        [0.0, 0.666667, 0.333333]
        """
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
    """Take each coin, of odds up to 1, out of a law, and add up what is left from ``first`` on, weighted.

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
