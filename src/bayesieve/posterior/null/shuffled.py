"""ShuffledLabels: what the same screen shows when the labels of the samples are shuffled."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from bayesieve.utils import BoolArray, FloatArray, IntArray, check_between

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
    least
        Values over this number were kept.

    Examples
    --------
    >>> import numpy as np
    >>> import bayesieve as bs
    >>> X = np.random.default_rng(0).standard_t(3, size=(40, 1000))
    >>> shuffled = bs.screen(X, [0] * 20 + [1] * 20, shuffles=50).shuffled
    >>> shuffled.n_shuffles, shuffled.scheme
    (50, 'samples')
    """

    values: tuple[FloatArray, ...]
    reaching: FloatArray
    share: FloatArray
    scheme: str = "samples"
    complete: bool = False
    by_feature: bool = False
    least: float = 0.0

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
        """Reduce the evidence of every shuffle to what passes, and to how far features are reached.

        Examples
        --------
        >>> import numpy as np
        >>> from bayesieve.posterior.null.shuffled import ShuffledLabels
        >>> found = ShuffledLabels.collect(np.array([3.0, 1.0, -1.0]), [np.array([2.0, -1.0, -2.0]), np.zeros(3)])
        >>> found.share.round(3).tolist()
        [0.0, 0.25, 0.5]
        """
        order, _, ties = _in_order(own)
        reaching = np.zeros(own.size)
        for each in shuffled:
            reaching[order] += np.searchsorted(np.sort(-each), ties, side="right")
        reaching /= len(shuffled)
        values = tuple(np.sort(each[each > least])[::-1].copy() for each in shuffled)
        return cls(values, reaching, share_of(own, reaching), scheme, complete, by_feature, least)

    def __post_init__(self) -> None:
        for array in (*self.values, self.reaching, self.share):
            array.flags.writeable = False

    @property
    def n_shuffles(self) -> int:
        """Number of shuffles."""
        return len(self.values)

    def counts(self, cut: float, prior_log_odds: float | FloatArray) -> IntArray:
        """Number of features of each shuffle with log-odds over a cut (Bayes factors over 1, at least).

        Examples
        --------
        >>> import numpy as np
        >>> from bayesieve.posterior.null.shuffled import ShuffledLabels
        >>> found = ShuffledLabels.collect(np.zeros(2), [np.array([2.0, 1.0]), np.array([3.0, -1.0])])
        >>> found.counts(0.0, -1.5).tolist()
        [1, 1]
        """
        over = self._over(cut, prior_log_odds)
        return np.array([np.searchsorted(-each, -over, side="left") for each in self.values], dtype=np.int64)

    def weaker_than_kept(self, cut: float, prior_log_odds: float | FloatArray) -> bool:
        """Whether a cut lets features pass whose like was not kept of the shuffles.

        Examples
        --------
        >>> import numpy as np
        >>> from bayesieve.posterior.null.shuffled import ShuffledLabels
        >>> found = ShuffledLabels.collect(np.zeros(2), [np.array([2.0, -1.0])])
        >>> found.weaker_than_kept(-2.0, -1.5), found.weaker_than_kept(0.0, -1.5)
        (True, False)
        """
        return self._over(cut, prior_log_odds) < self.least

    def kept(self, log_odds: FloatArray, prior_log_odds: float | FloatArray) -> BoolArray:
        """Features so strong that shuffled ones like them were kept.

        Examples
        --------
        >>> import numpy as np
        >>> from bayesieve.posterior.null.shuffled import ShuffledLabels
        >>> found = ShuffledLabels.collect(np.zeros(2), [np.array([2.0, -1.0])])
        >>> found.kept(np.array([-1.0, -2.0]), -1.5).tolist()
        [True, False]
        """
        prior = 0.0 if self.by_feature else float(np.asarray(prior_log_odds))
        return np.greater(log_odds, self.least + prior)

    def _over(self, cut: float, prior_log_odds: float | FloatArray) -> float:
        """A cut on log-odds as a cut on the values."""
        return cut if self.by_feature else cut - float(np.asarray(prior_log_odds))

    def expected(self, cut: float, prior_log_odds: float | FloatArray) -> float:
        """Mean number of features over the cut.

        Examples
        --------
        >>> import numpy as np
        >>> from bayesieve.posterior.null.shuffled import ShuffledLabels
        >>> ShuffledLabels.collect(np.zeros(2), [np.array([2.0, 1.0]), np.zeros(2)]).expected(0.0, -0.5)
        1.0
        """
        return float(self.counts(cut, prior_log_odds).mean())

    def interval(self, cut: float, prior_log_odds: float | FloatArray, level: float = 0.9) -> tuple[float, float]:
        """Central interval of the number of features over the cut; wide where features are correlated.

        Examples
        --------
        >>> import numpy as np
        >>> from bayesieve.posterior.null.shuffled import ShuffledLabels
        >>> ShuffledLabels.collect(np.zeros(2), [np.array([2.0, 1.0]), np.zeros(2)]).interval(0.0, -0.5)
        (0.0, 2.0)
        """
        check_between("level", level, open_ends=True)
        ends = [(1 - level) / 2, (1 + level) / 2]
        low, high = np.quantile(self.counts(cut, prior_log_odds), ends, method="inverted_cdf")
        return float(low), float(high)

    def moved(self, by: float) -> ShuffledLabels:
        """The same after a number was added to every log Bayes factor, with true labels and with shuffled ones.

        Examples
        --------
        >>> import numpy as np
        >>> from bayesieve.posterior.null.shuffled import ShuffledLabels
        >>> ShuffledLabels.collect(np.zeros(2), [np.array([2.0, 1.0])]).moved(0.5).values[0].tolist()
        [2.5, 1.5]
        """
        return replace(self, values=tuple(each + by for each in self.values), least=self.least + by)

    def take(self, places: npt.NDArray[np.int64] | Any) -> ShuffledLabels:
        """Some of the features; counts remain those of all.

        Examples
        --------
        >>> import numpy as np
        >>> from bayesieve.posterior.null.shuffled import ShuffledLabels
        >>> ShuffledLabels.collect(np.zeros(2), [np.ones(2)]).take([0]).share.size
        1
        """
        return replace(self, reaching=self.reaching[places].copy(), share=self.share[places].copy())


def share_of(own: FloatArray, reaching: FloatArray) -> FloatArray:
    """False discovery rate without markers: features that come as far with shuffled labels, over own ones."""
    order, falling, ties = _in_order(own)
    share = np.empty(own.size)
    rate = reaching[order] / np.maximum(np.searchsorted(falling, ties, side="right"), 1)
    share[order] = np.minimum(np.minimum.accumulate(rate[::-1])[::-1], 1.0)
    return share


def _in_order(own: FloatArray) -> tuple[IntArray, FloatArray, FloatArray]:
    """Order from the strongest, negative values in it, and up to where others are equal but for rounding."""
    order = np.argsort(-own, kind="stable")
    falling = -own[order]
    return order, falling, falling + _TIE * (1.0 + np.abs(falling))
