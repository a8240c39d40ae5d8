"""Comparison: which data were compared under which model, so that it can be done again on other data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol, Self

import numpy as np

from bayesieve.models.evidences import Evidences, PatternShares, SumOfEvidences, compare
from bayesieve.models.model import Model
from bayesieve.models.patterns import Patterns
from bayesieve.stats import ClassStatistics
from bayesieve.utils import BoolArray, FloatArray

_NUMBERS_HELD = 2**24  # evidences of groups that are in memory at the same time


class Compared(Protocol):
    """What a posterior remembers of the comparison it came from."""

    def take(self, places: Any) -> Self:
        """The same for some of the features."""
        ...

    @property
    def cost(self) -> int:
        """How much a draw costs, relative to one of two classes."""
        ...

    def null_log_bayes_factor(self, rng: np.random.Generator) -> FloatArray | None:
        """Draw log Bayes factors as if no feature were a marker; None if the model does not know how."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """Data that are independent of the other parts: a block of samples, or the absence of values.

    Parameters
    ----------
    model
        Model of these data.
    statistics
        Their statistics, every evidence defined.
    kept
        Features about which the part has a say; None for all.
    resolution, before
        Step to which values are rounded, whose variance is in ``statistics``, and the statistics without it.
    """

    model: Model
    statistics: ClassStatistics
    kept: BoolArray | None = None
    resolution: Any = None
    before: ClassStatistics | None = None

    def evidences(self) -> Evidences:
        """Log evidences of the groups of classes."""
        return self.model.evidences(self.statistics)

    def take(self, places: Any) -> Part:
        """The same for some of the features."""
        step = self.resolution
        return Part(
            self.model.take(places, self.statistics.n_features),
            self.statistics.take(places),
            None if self.kept is None else self.kept[places],
            step[places] if isinstance(step, np.ndarray) and step.ndim else step,
            None if self.before is None else self.before.take(places),
        )

    def drawn(self, rng: np.random.Generator) -> Part | None:
        """Draw the same part as if the classes were alike."""
        statistics: Any = self.model.draw_null(self.before or self.statistics, rng)
        if statistics is None:
            return None
        if self.resolution is not None:
            statistics = statistics.with_resolution(self.resolution)
        return Part(self.model.quick(), statistics, self.kept)


@dataclass(frozen=True, slots=True, eq=False)
class Comparison:
    """Patterns of differing classes against no difference, on one or more independent parts of data.

    Parameters
    ----------
    patterns
        The patterns; all parts share the one that holds.
    parts
        The data; log evidences add up over them.
    """

    patterns: Patterns
    parts: tuple[Part, ...]

    def evidences(self) -> Evidences:
        """Log evidences of the groups of classes, added up over the parts."""
        return sum_of_evidences(self.parts)

    def log_bayes_factor(self) -> FloatArray:
        """Log Bayes factor of some difference against none."""
        return self._compare_chunks(None)

    def in_detail(self) -> tuple[FloatArray, PatternShares | None]:
        """Log Bayes factor, and which pattern it speaks for; None for two classes, which have one."""
        if len(self.patterns.classes) == 2:
            return self._compare_chunks(None), None
        shares = PatternShares.empty(self.patterns, self.n_features)
        return self._compare_chunks(shares), shares

    @property
    def n_features(self) -> int:
        """Number of features."""
        return self.parts[0].statistics.n_features

    def _compare_chunks(self, shares: PatternShares | None) -> FloatArray:
        """Go through the features in pieces, so that the evidences of all groups need bounded memory."""
        n, held = self.n_features, max(2 ** len(self.patterns.classes), len(self.patterns.growths))
        step = max(2**12, _NUMBERS_HELD // (held * len(self.parts)))
        with np.errstate(divide="ignore", invalid="ignore"):  # what has no evidence is found later
            if n <= step:
                return compare(self.evidences(), self.patterns, shares)
            pieces = []
            for lo in range(0, n, step):
                places = slice(lo, min(lo + step, n))
                part = None if shares is None else shares.take(places)
                pieces.append(compare(self.take(places).evidences(), self.patterns, part))
        return np.concatenate(pieces)

    @property
    def cost(self) -> int:
        """How much a draw costs."""
        draws = sum(part.model.draw_cost(part.statistics) for part in self.parts)
        return max(draws, len(self.parts) * len(self.patterns.growths))

    def take(self, places: Any) -> Comparison:
        """The same for some of the features."""
        return Comparison(self.patterns, tuple(part.take(places) for part in self.parts))

    def null_log_bayes_factor(self, rng: np.random.Generator) -> FloatArray | None:
        """Draw log Bayes factors as if no feature were a marker."""
        drawn = [part.drawn(rng) for part in self.parts]
        parts = tuple(part for part in drawn if part is not None)
        if len(parts) < len(drawn):
            return None
        return Comparison(self.patterns, parts).log_bayes_factor()


@dataclass(frozen=True, slots=True)
class UnknownComparison:
    """A comparison that cannot be repeated on other data, so that numbers under the global null are not known.

    Parameters
    ----------
    cost
        How much a draw did cost.
    """

    cost: int = 1
    unknown_because: ClassVar[str] = (
        "the stored table does not hold what it takes; a report of the manifest of its run, which screens the "
        "data again, would"
    )

    def take(self, places: Any) -> UnknownComparison:
        """The same for some of the features."""
        del places
        return self

    def null_log_bayes_factor(self, rng: np.random.Generator) -> None:
        """Not known."""
        del rng


def sum_of_evidences(parts: Sequence[Part]) -> Evidences:
    """Add up the evidences of several parts."""
    if len(parts) == 1 and parts[0].kept is None:
        return parts[0].evidences()
    return SumOfEvidences([part.evidences() for part in parts], [part.kept for part in parts])
