"""Differences: which of more than two classes differ, in words and pair by pair."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from bayesieve.data import told_apart
from bayesieve.errors import Message
from bayesieve.models import PatternShares
from bayesieve.utils import FloatArray

if TYPE_CHECKING:
    from bayesieve.posterior.feature_posterior import FeaturePosterior


@dataclass(frozen=True, slots=True, eq=False)
class Differences:
    """Posterior over the patterns of differing classes.

    Parameters
    ----------
    shares
        Most probable pattern and probabilities of equality, given that a feature is a marker.
    """

    shares: PatternShares

    def __post_init__(self) -> None:
        for array in (self.shares.best, self.shares.log_share, self.shares.equal):
            array.flags.writeable = False

    def leading(self, posterior: FeaturePosterior) -> npt.NDArray[np.int16]:
        """Number of the leading pattern of every feature: the most probable of those that differ.

        It is -1, no difference, where that is more probable than all patterns together.
        """
        return np.where(posterior.log_odds > 0, self.shares.best, np.int16(-1))

    def words(self, posterior: FeaturePosterior) -> list[str]:
        """Say the leading pattern of every feature, for example "{BL} differs from {EWS, NB}"."""
        patterns = self.shares.patterns
        said = [patterns.words(i) for i in range(len(patterns.growths))]
        return [said[i] if i >= 0 else patterns.words(-1) for i in self.leading(posterior).tolist()]

    def probability(self, posterior: FeaturePosterior) -> FloatArray:
        """Probability of the pattern that :meth:`words` says."""
        best = np.exp(posterior.log_probability + self.shares.log_share)
        return np.where(posterior.log_odds > 0, best, posterior.null_probability)

    def equal(self, posterior: FeaturePosterior) -> FloatArray:
        """Probability that two classes are alike, for every pair (rows) and feature (columns)."""
        return posterior.null_probability + posterior.probability * self.shares.equal

    def columns(self, posterior: FeaturePosterior) -> dict[str, Any]:
        """Columns ``pattern``, ``pattern_probability`` and ``equal_A_B`` for every pair of classes."""
        equal, classes = self.equal(posterior), told_apart(self.shares.patterns.classes)
        names = [f"equal_{classes[a]}_{classes[b]}" for a, b in self.shares.pairs]
        if len(set(names)) < len(names):  # classes with underscores
            names = [f"equal_{classes[a]}|{classes[b]}" for a, b in self.shares.pairs]
        table: dict[str, Any] = {
            "pattern": self.words(posterior), "pattern_probability": self.probability(posterior),
        }  # fmt: skip
        return table | dict(zip(names, equal, strict=True))

    def take(self, places: Any) -> Differences:
        """Some features."""
        return Differences(self.shares.take(places))

    def notes(self) -> list[Message]:
        """Say which patterns were compared."""
        patterns = self.shares.patterns
        said = {
            "any": f"every difference between the classes ({len(patterns.growths):,} patterns)",
            "distinct": "all classes different from each other",
            "one-versus-rest": "one class different from all others",
        }.get(patterns.kind, f"{len(patterns.growths):,} given pattern{'s' * (len(patterns.growths) > 1)}")
        return [Message.of(f"Compared with no difference: {said}.", kind="patterns")]
