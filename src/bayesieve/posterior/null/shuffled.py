"""ShuffledLabels: what the same screen shows when the labels of the samples are shuffled."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from bayesieve.utils import BoolArray, FloatArray, IntArray, OptionError, check_between, option

ESTIMATE = "estimate"  # in the place of a prior probability
SCHEMES = ("samples", "batches", "pairs", "residuals", "subjects")
"""What labels are shuffled among."""
_TIE = 1e-9
_RARELY = 0.05  # how often shuffled labels may suggest more markers than are believed in for that
_MOST_SHARE = 0.5  # so that no feature is believed in against its own evidence
_LARGEST_LOG, _STEPS, _DIGITS = 700.0, 100, 1e-9


def estimate_share(log_bayes_factor: FloatArray) -> float:
    r"""Share of markers that Bayes factors suggest, one pseudo-observation of a non-marker against it.

    The maximum of :math:`\sum_f \log(1 - \pi + \pi BF_f) + \log(1 - \pi)`, to which the EM algorithm
    :math:`\pi \leftarrow \sum_f q_f / (p + 1)` with the posterior probabilities :math:`q_f` would climb. It is
    concave, so that Newton's method within bounds finds its only maximum; 0 if it falls from the start. Effect
    sizes are those that the model believes in: where it expects many weak markers, weak ones are counted that
    cannot be seen one by one.
    """
    gain = np.expm1(np.minimum(log_bayes_factor, _LARGEST_LOG))
    if not gain.sum() > 1.0:
        return 0.0
    low, high = 0.0, 1.0
    share = min(max(float(np.mean(log_bayes_factor > 0)), 1.0 / gain.size), 0.5)
    for _ in range(_STEPS):
        each = gain / (1.0 + share * gain)
        rest = 1.0 - share
        slope = float(each.sum()) - 1.0 / rest
        low, high = (share, high) if slope > 0.0 else (low, share)
        moved = share + slope / (float(each @ each) + 1.0 / rest**2)
        moved = moved if low < moved < high else 0.5 * (low + high)
        done = abs(moved - share) <= _DIGITS * share
        share = moved
        if done:
            break
    return share


def no_shuffles() -> OptionError:
    """Return the error of an estimate that nothing can be held against."""
    return OptionError(
        option("prior_probability", ESTIMATE),
        " holds the data's estimate against that of shuffled labels, and there are none here.",
        hint=("Give a table of samples and leave ", option("shuffles"), " on, or give a probability."),
        kind="options",
    )


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
    least
        Values over this number were kept.
    own_share, shares
        Share of markers that the Bayes factors suggest (:func:`estimate_share`) with the true labels, and in each
        shuffle; NaN and empty if not known.
    least_share
        One feature as a share of all.
    """

    values: tuple[FloatArray, ...]
    reaching: FloatArray
    share: FloatArray
    scheme: str = "samples"
    complete: bool = False
    by_feature: bool = False
    least: float = 0.0
    own_share: float = np.nan
    shares: FloatArray = field(default_factory=lambda: np.empty(0))
    least_share: float = 0.0

    @classmethod
    def collect(
        cls,
        own: FloatArray,
        shuffled: Iterable[FloatArray],
        scheme: str = "samples",
        *,
        complete: bool = False,
        by_feature: bool = False,
        least: float = 0.0,
    ) -> ShuffledLabels:
        """Reduce the evidence of every shuffle to what passes, and to how far features are reached."""
        order, _, ties = _in_order(own)
        reaching = np.where(own == np.inf, 0.0, float(own.size))
        reaching[order] = 0.0
        values = []
        for every in shuffled:
            falling = np.sort(-every[np.isfinite(every)])  # others are certain whatever the labels
            reaching[order] += np.searchsorted(falling, ties, side="right")
            values.append(-falling[: np.searchsorted(falling, -least, side="left")])
        reaching[order] /= len(values)
        return cls(tuple(values), reaching, share_of(own, reaching), scheme, complete, by_feature, least)

    def __post_init__(self) -> None:
        for array in (*self.values, self.reaching, self.share, self.shares):
            array.flags.writeable = False

    @property
    def n_shuffles(self) -> int:
        """Number of shuffles."""
        return len(self.values)

    @property
    def chance_share(self) -> float:
        """Share of markers that shuffled labels suggest in 5% of all cases: 95% of all labellings stay below."""
        if not self.shares.size:
            return np.nan
        place = min(math.ceil((1.0 - _RARELY) * (self.shares.size + 1)), self.shares.size)
        return float(np.sort(self.shares)[place - 1])

    @property
    def excess_share(self) -> float:
        """How much the share of the true labels exceeds that; NaN if not known."""
        return self.own_share - self.chance_share

    @property
    def suggested_share(self) -> float:
        """The same as a prior probability: one feature at least, and half of them at most; NaN if not known."""
        return float(np.clip(self.excess_share, self.least_share, max(_MOST_SHARE, self.least_share)))

    def with_shares(self, own: float, shuffled: Sequence[float], n_features: int) -> ShuffledLabels:
        """Add the shares of markers that the Bayes factors suggest."""
        return replace(self, own_share=own, shares=np.array(shuffled, dtype=float), least_share=1 / n_features)

    def counts(self, cut: float, prior_log_odds: float | FloatArray) -> IntArray:
        """Number of features of each shuffle with log-odds over a cut (Bayes factors over 1, at least)."""
        over = self._over(cut, prior_log_odds)
        return np.array([np.searchsorted(-each, -over, side="left") for each in self.values], dtype=np.int64)

    def weaker_than_kept(self, cut: float, prior_log_odds: float | FloatArray) -> bool:
        """Whether a cut lets features pass whose like was not kept of the shuffles."""
        return self._over(cut, prior_log_odds) < self.least

    def kept(self, log_odds: FloatArray, prior_log_odds: float | FloatArray) -> BoolArray:
        """Features so strong that shuffled ones like them were kept."""
        prior = 0.0 if self.by_feature else float(np.asarray(prior_log_odds))
        return np.greater(log_odds, self.least + prior)

    def _over(self, cut: float, prior_log_odds: float | FloatArray) -> float:
        """A cut on log-odds as a cut on the values."""
        return cut if self.by_feature else cut - float(np.asarray(prior_log_odds))

    def expected(self, cut: float, prior_log_odds: float | FloatArray) -> float:
        """Mean number of features over the cut."""
        return float(self.counts(cut, prior_log_odds).mean())

    def interval(self, cut: float, prior_log_odds: float | FloatArray, level: float = 0.9) -> tuple[float, float]:
        """Central interval of the number of features over the cut; wide where features are correlated."""
        check_between("level", level, open_ends=True)
        ends = [(1 - level) / 2, (1 + level) / 2]
        low, high = np.quantile(self.counts(cut, prior_log_odds), ends, method="inverted_cdf")
        return float(low), float(high)

    def moved(self, by: float) -> ShuffledLabels:
        """The same after a number was added to every log Bayes factor, with true labels and with shuffled ones."""
        return replace(self, values=tuple(each + by for each in self.values), least=self.least + by)

    def take(self, places: npt.NDArray[np.int64] | Any) -> ShuffledLabels:
        """Some of the features; counts remain those of all."""
        return replace(self, reaching=self.reaching[places].copy(), share=self.share[places].copy())


def share_of(own: FloatArray, reaching: FloatArray) -> FloatArray:
    """False discovery rate without markers: features that come as far with shuffled labels, over own ones."""
    order, falling, ties = _in_order(own)
    share = np.where(own == np.inf, 0.0, 1.0)
    rate = reaching[order] / np.maximum(np.searchsorted(falling, ties, side="right"), 1)
    share[order] = np.minimum(np.minimum.accumulate(rate[::-1])[::-1], 1.0)
    return share


def _in_order(own: FloatArray) -> tuple[IntArray, FloatArray, FloatArray]:
    """Order from the strongest that is not certain, negative values in it, and the reach of rounding."""
    order = np.argsort(-own, kind="stable")
    order = order[np.isfinite(own[order])]
    falling = -own[order]
    return order, falling, falling + _TIE * (1.0 + np.abs(falling))
