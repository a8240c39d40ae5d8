"""The count test: whether a list holds more features than shuffled labels give.

The length of the list at its own cut, and at stricter ones, is compared with the lengths that shuffled labels
give at the same cuts. Every cut has a rank among all labellings; the least rank over the cuts is compared with the
least ranks of the shuffles (Westfall and Young 1993), so that trying several cuts costs what it must and no more.
If labels can be exchanged, a list stands in at most 5% of all cases, whatever the distributions and correlations
of the features.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from bayesieve.utils import FloatArray, IntArray

LADDER = (0.8, 0.9, 0.95, 0.99, 0.999)  # probabilities of the stricter cuts
LEVEL = 0.05


@dataclass(frozen=True, slots=True, eq=False)
class CountTest:
    """Lengths of a list and of its stricter versions, against shuffled labels.

    Parameters
    ----------
    cuts, lengths
        Log-odds, from that of the rule to the strictest, and the number of features over each.
    p_values
        For each cut, adjusted for all of them: the share of labellings (the true one included) as extreme as it.
    n_as_long
        For each cut, shuffles that give at least as many features.
    n_shuffles, level
        Number of shuffles, and the level of the test.
    """

    cuts: FloatArray
    lengths: IntArray
    p_values: FloatArray
    n_as_long: IntArray
    n_shuffles: int
    level: float = LEVEL

    @classmethod
    def of(
        cls, cuts: npt.ArrayLike, lengths: npt.ArrayLike, shuffled: npt.NDArray[np.int64], level: float = LEVEL
    ) -> CountTest:
        """Compare lengths, one per cut, with those of the shuffles, ``(n_cuts, n_shuffles)``."""
        own = np.asarray(lengths, dtype=np.int64)
        everyone = np.concatenate([own[:, None], shuffled], axis=1)
        n = everyone.shape[1]
        ranks = np.array([n - np.searchsorted(np.sort(row), row, side="left") for row in everyone])
        least = np.sort(ranks.min(axis=0))
        p_values = np.searchsorted(least, ranks[:, 0], side="right") / n
        return cls(np.asarray(cuts, dtype=np.float64), own, p_values, ranks[:, 0] - 1, n - 1, level)

    @property
    def can_stand(self) -> bool:
        """Whether there are enough labellings for any list to stand."""
        return 1.0 / (1.0 + self.n_shuffles) <= self.level

    @property
    def stands_at(self) -> int | None:
        """The first cut whose list is longer than shuffled labels allow; None if there is none."""
        good = np.flatnonzero((self.p_values <= self.level) & (self.lengths > 0))
        return int(good[0]) if good.size else None
