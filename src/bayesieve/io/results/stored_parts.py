"""What a stored result puts in the place of things that no table can hold: the model, samples, findings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NoReturn, Self

import numpy as np
import numpy.typing as npt

from bayesieve.data import Label
from bayesieve.errors import DataError, Message
from bayesieve.models import Model
from bayesieve.posterior import FeaturePosterior, Fragility

OF_FRAGILITY = ("least_log_odds", "culprit", "n_fragile_removals")
_OF_THE_PRIOR = (
    "kind", "probability_same", "probability_mean_only", "probability_variance_only", "probability_both",
    "pattern", "pattern_probability", "log_odds_pooled", "log_odds_without_a_block", "least_log_odds",
    "n_fragile_removals",
)  # fmt: skip


def of_the_prior(name: str) -> bool:
    """Whether a column of findings holds for the prior only under which it was worked out."""
    return name in _OF_THE_PRIOR or name.startswith("equal_")


def _not_stored(what: str) -> NoReturn:
    raise DataError(
        f"A stored result holds no {what}: it knows log Bayes factors and what stands in its columns. Screen the "
        "data again for that."
    )


@dataclass(frozen=True, slots=True)
class StoredModel(Model):
    """The model of a result of which only the log Bayes factors are known.

    Parameters
    ----------
    family, caveat
        What non-markers are called, and a sentence that belongs into the summary; empty if not known.
    """

    family: str = ""  # type: ignore[misc]
    caveat: str | Message = ""  # type: ignore[misc]

    def statistic(self, values: Any) -> NoReturn:
        """Raise: there are no values to sum."""
        _not_stored("model")

    def merge(self, first: Any, second: Any) -> NoReturn:
        """Raise: there is nothing to merge."""
        _not_stored("model")

    def log_evidence(self, group: Any) -> NoReturn:
        """Raise: the evidence of a group is not known."""
        _not_stored("model")


@dataclass(frozen=True, slots=True, eq=False)
class StoredStatistics:
    """Classes and their sizes, where a result holds no moments; other columns are a finding.

    Parameters
    ----------
    classes
        Class labels.
    count
        Values present, ``(n_classes, n_features)``.
    """

    classes: tuple[Label, ...]
    count: npt.NDArray[np.int64]

    @property
    def n_features(self) -> int:
        """Number of features."""
        return int(self.count.shape[1])

    @property
    def counts(self) -> npt.NDArray[np.int64]:
        """Values present per class and feature."""
        return self.count

    def take(self, places: Any) -> StoredStatistics:
        """Some features."""
        return StoredStatistics(self.classes, self.count[:, places])

    def renamed(self, classes: Sequence[Label]) -> StoredStatistics:
        """The same under other class labels."""
        return StoredStatistics(tuple(classes), self.count)

    def describe(self, labels: Sequence[str]) -> dict[str, Any]:
        """Nothing: the columns are those of the file."""
        del labels
        return {}

    def pool(self, classes: Sequence[Label] | None = None) -> NoReturn:
        """Raise: sums of other classes are not known."""
        _not_stored("statistics")

    def pick(self, classes: Sequence[Label]) -> NoReturn:
        """Raise: the result is of all classes."""
        _not_stored("statistics")

    def merge(self, other: Any) -> NoReturn:
        """Raise: there is nothing to merge."""
        _not_stored("statistics")

    def remove(self, other: Any) -> NoReturn:
        """Raise: there is nothing to take away."""
        _not_stored("statistics")

    @staticmethod
    def join(parts: Sequence[Any]) -> NoReturn:
        """Raise: a result is whole."""
        _not_stored("statistics")


class Unrepeatable:
    """A comparison that cannot be done again on other data, so that numbers by chance are not known."""

    cost: ClassVar[int] = 1
    unknown_because: ClassVar[str] = (
        "the stored table does not hold what it takes; a report of the manifest of its run, which screens the "
        "data again, would"
    )

    def take(self, places: Any) -> Unrepeatable:
        """The same for some of the features."""
        del places
        return self

    def null_log_bayes_factor(self, rng: np.random.Generator) -> None:
        """Not known."""
        del rng


@dataclass(frozen=True, slots=True, eq=False)
class StoredColumns:
    """Further columns of a result file, as a finding of the posterior.

    Parameters
    ----------
    held
        Arrays or lists by name, one cell per feature.
    sentences
        What was said about them.
    """

    held: dict[str, Any]
    sentences: tuple[Message, ...] = ()

    def columns(self, posterior: FeaturePosterior) -> dict[str, Any]:
        """Columns as they were stored."""
        del posterior
        return dict(self.held)

    def take(self, places: Any) -> StoredColumns:
        """Some of the features."""
        where = np.asarray(places)
        held = {
            name: column[where] if isinstance(column, np.ndarray) else [column[i] for i in where.tolist()]
            for name, column in self.held.items()
        }
        return StoredColumns(held, self.sentences)

    def without_samples(self) -> StoredColumns:
        """Return the same without the samples on which features hang; a sentence of no kind may name one."""
        held = {name: column for name, column in self.held.items() if name != "culprit"}
        return StoredColumns(held, tuple(note for note in self.sentences if note.kind))

    def notes(self) -> list[Message]:
        """Sentences for the summary."""
        return list(self.sentences)

    def reweighed(self, prior_log_odds: Any) -> tuple[StoredColumns, Any]:
        """Drop the columns that hold for the stored prior only."""
        kept = {name: column for name, column in self.held.items() if not of_the_prior(name)}
        return StoredColumns(kept), prior_log_odds


@dataclass(frozen=True, slots=True, eq=False)
class StoredFragility(Fragility):
    """Fragility as it was stored: how many removals were skipped is not known.

    Parameters
    ----------
    sentences
        What was said about it.
    """

    sentences: tuple[Message, ...] = ()

    def without_samples(self) -> Self:
        """Return the same without the samples on which features hang, told anew from the columns."""
        plain = Fragility.without_samples(self)
        return replace(plain, sentences=tuple(Fragility.notes(plain)) if self.full.calibrated else ())

    def notes(self) -> list[Message]:
        """Sentences for the summary."""
        return list(self.sentences)


def stored_fragility(
    posterior: FeaturePosterior, held: Mapping[str, Any], mask: npt.NDArray[np.bool_], said: Sequence[Message]
) -> Fragility:
    """Put the columns of a fragility together again.

    Parameters
    ----------
    posterior
        The stored result.
    held
        Columns ``least_log_odds``, ``culprit`` and ``n_fragile_removals``.
    mask
        The list: a feature is fragile if a removal takes it out.
    said
        Sentences about it, if they are known.
    """
    log_odds, names = posterior.log_odds, list(held["culprit"])
    known = {name: k for k, name in enumerate(dict.fromkeys(name for name in names if name))}
    with np.errstate(invalid="ignore"):
        least = np.asarray(held["least_log_odds"] - np.asarray(posterior.prior_log_odds), dtype=np.float64)
    below = np.asarray(held["n_fragile_removals"]).astype(np.int64)
    none = np.zeros(below.size, dtype=np.int64)
    cut = float(np.nextafter(log_odds[mask].min(), -np.inf)) if mask.any() else float(log_odds.max())
    culprit = np.array([known.get(name, -1) for name in names], dtype=np.int64)
    parts = (posterior, least, culprit, below, none, none.copy(), cut, tuple(known) or None)
    sentences = said or (Fragility(*parts).notes() if posterior.calibrated else ())
    return StoredFragility(*parts, sentences=tuple(sentences))
