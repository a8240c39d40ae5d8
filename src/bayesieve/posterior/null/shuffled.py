"""ShuffledLabels: what the same screen shows when the labels of the samples are shuffled."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from bayesieve.utils import FloatArray, IntArray, check_between

_TIE = 1e-9


@dataclass(frozen=True, slots=True, eq=False)
class ShuffledLabels:
    """Log-odds of all features under shuffled labels, as far as they speak for a difference.

    Labels are shuffled among all samples, within batches, or (for pairs) between the two samples of a pair;
    features keep their distributions and what they have in common. Everything that the screen takes from the data
    is taken from the shuffled data anew.

    Parameters
    ----------
    values
        Of each shuffle the log Bayes factors over 0, the largest first; log-odds over ``prior`` if that is one
        number per feature.
    reaching
        For every feature the mean number of features that come as far with shuffled labels.
    share
        The same over the number that come as far with the true labels: the false discovery rate if there were no
        markers. At most 1, and never falling from a stronger feature to a weaker one.
    scheme
        Among whom labels were shuffled: ``"samples"``, ``"batches"`` or ``"pairs"``.
    complete
        Whether there are no other labellings.
    by_feature
        Whether prior probabilities differ between features, so that values are log-odds.
    """

    values: tuple[FloatArray, ...]
    reaching: FloatArray
    share: FloatArray
    scheme: str = "samples"
    complete: bool = False
    by_feature: bool = False

    @classmethod
    def collect(
        cls,
        own: FloatArray,
        shuffled: Sequence[FloatArray],
        scheme: str = "samples",
        *,
        complete: bool = False,
        by_feature: bool = False,
        least: float = 0.0,
    ) -> ShuffledLabels:
        """Reduce the evidence of every shuffle to what passes, and to how far features are reached."""
        shuffled = [
            each[np.isfinite(each)] for each in shuffled
        ]  # certain features pass with any labels, or never
        order = np.argsort(-own, kind="stable")
        order = order[np.isfinite(own[order])]
        falling = -own[order]
        ties = falling + _TIE * (1.0 + np.abs(falling))  # equal but for rounding counts as reaching
        reaching = np.where(own == np.inf, 0.0, float(own.size))
        share = np.where(own == np.inf, 0.0, 1.0)
        reaching[order] = 0.0
        for each in shuffled:
            reaching[order] += np.searchsorted(np.sort(-each), ties, side="right")
        reaching[order] /= len(shuffled)
        rate = reaching[order] / np.maximum(np.searchsorted(falling, ties, side="right"), 1)
        share[order] = np.minimum(np.minimum.accumulate(rate[::-1])[::-1], 1.0)
        values = tuple(np.sort(each[each > least])[::-1].copy() for each in shuffled)
        return cls(values, reaching, share, scheme, complete, by_feature)

    def __post_init__(self) -> None:
        for array in (*self.values, self.reaching, self.share):
            array.flags.writeable = False

    @property
    def n_shuffles(self) -> int:
        """Number of shuffles."""
        return len(self.values)

    def counts(self, cut: float, prior_log_odds: float | FloatArray) -> IntArray:
        """Number of features of each shuffle with log-odds over a cut (Bayes factors over 1, at least)."""
        over = cut if self.by_feature else cut - float(np.asarray(prior_log_odds))
        return np.array([np.searchsorted(-each, -over, side="left") for each in self.values], dtype=np.int64)

    def expected(self, cut: float, prior_log_odds: float | FloatArray) -> float:
        """Mean number of features over the cut."""
        return float(self.counts(cut, prior_log_odds).mean())

    def interval(self, cut: float, prior_log_odds: float | FloatArray, level: float = 0.9) -> tuple[float, float]:
        """Central interval of the number of features over the cut; wide where features are correlated."""
        check_between("level", level, open_ends=True)
        ends = [(1 - level) / 2, (1 + level) / 2]
        low, high = np.quantile(self.counts(cut, prior_log_odds), ends, method="inverted_cdf")
        return float(low), float(high)

    def take(self, places: npt.NDArray[np.int64] | Any) -> ShuffledLabels:
        """Some of the features; counts remain those of all."""
        return replace(self, reaching=self.reaching[places].copy(), share=self.share[places].copy())
