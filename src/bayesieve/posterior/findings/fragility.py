"""Leave-one-out influence (fragility) of single samples on the log-odds: the result."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from bayesieve.posterior.feature_posterior import FeaturePosterior
from bayesieve.utils import DataError, FloatArray, Glimpse, Glimpsed, IntArray, Message, SampleIds, numbers, plural

_ARRAYS = ("least_log_bayes_factor", "culprit", "n_below", "n_skipped", "n_removals")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Fragility(Glimpsed):
    """Leave-one-out influence (fragility): the least log-odds of every feature without any one sample.

    Only samples that hold a value of the feature count. Features that were given a floor get the floor of
    what is left; those without any evidence keep their log-odds and have no culprit.

    Parameters
    ----------
    full
        The screen of all samples.
    least_log_bayes_factor
        The least log Bayes factor over all removals of one sample.
    culprit
        Number of the sample (from 0, in the order of the table) whose removal gives it, the first one
        where several hold the same value; -1 if none could be removed.
    n_below
        For features over the cut: how many removals bring the log-odds to the cut or below; 0 for others.
    n_skipped
        Removals left out because they would leave a class undefined under the prior.
    n_removals
        Removals that were looked at.
    cut
        Log-odds over which a feature passes.
    sample_names
        Names of the samples, or None.
    discreet
        Whether the table and the sentences leave out on which sample a feature hangs.
    totals
        Numbers of the sentences as they were recorded, where the arrays do not give them (any more).

    Examples
    --------
    >>> import bayesieve as bs
    >>> from bayesieve.screening.leave_one_out import fragility
    >>> X = [[0.1, 0.2], [-0.4, 0.1], [0.3, -0.3], [0.2, 0.4], [-0.1, 0.3],
    ...      [6.8, 0.1], [7.7, 0.2], [8.1, -0.2], [7.1, 0.0], [7.5, 9.0]]
    >>> found = fragility(X, ["a"] * 5 + ["b"] * 5, bs.GaussianModel.jeffreys(), prior_probability=0.1)
    >>> found.full.log_odds.round(1).tolist(), found.least_log_odds.round(1).tolist()
    ([20.9, 7.4], [17.9, -2.2])
    >>> found.culprit.tolist(), found.n_below.tolist()
    ([0, 9], [0, 1])
    """

    full: FeaturePosterior
    least_log_bayes_factor: FloatArray
    culprit: IntArray
    n_below: IntArray
    n_skipped: IntArray
    n_removals: IntArray
    cut: float = 0.0
    sample_names: tuple[str, ...] | None = None
    discreet: bool = False
    totals: Mapping[str, int] | None = None

    def _glimpse(self) -> Glimpse:
        """Return the strongest features with their least log-odds."""
        places = self.full.ranking[:5]
        title = f"Fragility of {self.full.n_features:,} features without any one sample"
        columns = {
            "feature": [self.full.names[i] for i in places.tolist()],
            "log-odds": numbers(self.full.log_odds[places], ".2f"),
            "least": numbers(self.least_log_odds[places], ".2f"),
        }
        return Glimpse(title, (), columns)

    def __post_init__(self) -> None:
        for name in _ARRAYS:
            getattr(self, name).flags.writeable = False

    @property
    def least_log_odds(self) -> FloatArray:
        """Prior log-odds plus the least log Bayes factor."""
        return self.full.prior_log_odds + self.least_log_bayes_factor

    @property
    def fragile(self) -> npt.NDArray[np.bool_]:
        """Features over the cut that a single sample keeps there."""
        return np.greater(self.n_below, 0)

    def posterior(self) -> FeaturePosterior:
        """Return the screen with the least log-odds in place of the log-odds; any rule takes it.

        It is a cautious ranking and not a posterior: what is expected of it (markers, false
        discoveries) is not calibrated, and shuffled labels of the screen, whose log-odds are not the least of
        several, say nothing about it.

        Examples
        --------
        >>> import bayesieve as bs
        >>> from bayesieve.screening.leave_one_out import fragility
        >>> X = [[0.1], [-0.4], [0.3], [0.2], [0.1], [6.8], [7.7], [8.1], [7.1], [7.5]]
        >>> found = fragility(X, ["a"] * 5 + ["b"] * 5)
        >>> bs.MinimalRisk(0.5).select(found.posterior()).names
        ('x0',)
        """
        least = self.least_log_bayes_factor  # shuffled labels were not left out one by one
        return replace(self.full, log_bayes_factor=least, calibrated=False, shuffled=None)

    def culprit_names(self) -> list[str]:
        """Name of the culprit of every feature, its number if samples have no names, empty if there is none.

        Examples
        --------
        >>> from bayesieve.screening.leave_one_out import fragility
        >>> X = [[0.1], [-0.4], [0.3], [0.2], [0.1], [0.2], [0.3], [-0.1], [0.0], [9.9]]
        >>> fragility(X, ["a"] * 5 + ["b"] * 5).culprit_names()
        ['9']
        """
        return [self._name(number) for number in self.culprit.tolist()]

    def columns(self, posterior: FeaturePosterior) -> dict[str, Any]:
        """Columns for the result table, in feature order.

        Parameters
        ----------
        posterior
            The screen whose table it is; it must have the same features.

        Examples
        --------
        >>> from bayesieve.screening.leave_one_out import fragility
        >>> X = [[0.1], [-0.4], [0.3], [0.2], [0.1], [6.8], [7.7], [8.1], [7.1], [9.9]]
        >>> found = fragility(X, ["a"] * 5 + ["b"] * 5)
        >>> list(found.columns(found.full))
        ['least_log_odds', 'culprit', 'n_fragile_removals']
        """
        if posterior.n_features != self.culprit.size:
            raise DataError(
                f"The fragility of {self.culprit.size} features does not fit a table of {posterior.n_features}."
            )
        culprit = {} if self.discreet else {"culprit": self.culprit_names()}
        return {"least_log_odds": self.least_log_odds, **culprit, "n_fragile_removals": self.n_below}

    def without_samples(self) -> Self:
        """Return the same without the samples on which features hang.

        Examples
        --------
        >>> import bayesieve as bs
        >>> X = [[0.1], [-0.4], [0.3], [0.2], [0.1], [6.8], [7.7], [8.1], [7.1], [9.9]]
        >>> found = bs.fragility(X, ["a"] * 5 + ["b"] * 5).without_samples()
        >>> list(found.columns(found.full))
        ['least_log_odds', 'n_fragile_removals']
        """
        return replace(self, culprit=np.full(self.culprit.size, -1), sample_names=None, discreet=True)

    def take(self, places: npt.ArrayLike) -> Self:
        """Some of the features, in the order given.

        Examples
        --------
        >>> import bayesieve as bs
        >>> from bayesieve.screening.leave_one_out import fragility
        >>> X = [[0.1, 3.0], [-0.4, 1.0], [0.3, 2.0], [6.8, 2.5], [7.7, 1.5], [8.1, 0.0]]
        >>> fragility(X, ["a"] * 3 + ["b"] * 3, bs.GaussianModel.proper()).take([1]).full.names
        ('x1',)
        """
        chosen = np.arange(self.culprit.size)[np.asarray(places)]
        return replace(
            self, full=self.full.take(chosen), **{name: getattr(self, name)[chosen] for name in _ARRAYS}
        )

    def notes(self) -> list[Message]:
        """Sentences for a summary.

        Examples
        --------
        >>> import bayesieve as bs
        >>> X = [[0.1], [-0.4], [0.3], [0.2], [-0.1], [0.1], [0.2], [-0.2], [0.0], [9.0]]
        >>> found = bs.fragility(X, ["a"] * 5 + ["b"] * 5, bs.GaussianModel.jeffreys(), prior_probability=0.1)
        >>> print(found.notes()[0])
        1 of 1 feature over the cut would not pass without a certain sample, most often sample 9, counting from 0
        (1 of them).
        """
        totals, lost = self.count_removals(), self.culprit[self.fragile]
        passing = plural(totals["n_passing"], "feature")
        text = f"{lost.size:,} of {passing} over the cut would not pass without a certain sample"
        culprit: tuple[str, ...] = ()
        if lost.size and not self.discreet:
            numbers, times = np.unique(lost, return_counts=True)
            most = int(np.argmax(times))
            counted = "" if self.sample_names else ", counting from 0"
            culprit = (f"{self._name(int(numbers[most]))}{counted} ({times[most]:,} of them)",)
        notes = [Message.of(text, SampleIds(culprit, ", most often sample "), ".", kind="fragility")]
        n_skipped, n_short = totals["n_skipped"], totals["n_short"]
        if n_skipped:
            skipped = (
                f"{n_skipped:,} removal{'s were' if n_skipped > 1 else ' was'} skipped in "
                f"{plural(n_short, 'feature')}, because a class would be left with too few values or without "
                "spread for its prior."
            )
            notes.append(Message.of(skipped, kind="fragility"))
        return notes

    def count_removals(self) -> dict[str, int]:
        """Count features over the cut, removals that were skipped, and features with such.

        Examples
        --------
        >>> import bayesieve as bs
        >>> X = [[0.1], [-0.4], [0.3], [0.2], [0.1], [6.8], [7.7], [8.1], [7.1], [9.9]]
        >>> bs.fragility(X, ["a"] * 5 + ["b"] * 5).count_removals()
        {'n_passing': 1, 'n_skipped': 0, 'n_short': 0}
        """
        if self.totals is not None:
            return dict(self.totals)
        return {
            "n_passing": int((self.full.log_odds > self.cut).sum()),
            "n_skipped": int(self.n_skipped.sum()),
            "n_short": int((self.n_skipped > 0).sum()),
        }

    def _name(self, number: int) -> str:
        if number < 0:
            return ""
        return self.sample_names[number] if self.sample_names else str(number)
