"""Finding: what else is known about every feature, beside its log-odds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, Self, runtime_checkable

from bayesieve.errors import DataError, Message

if TYPE_CHECKING:
    from bayesieve.posterior.feature_posterior import FeaturePosterior


class Finding(Protocol):
    """Columns beside the log-odds: patterns of classes, kinds of difference, blocks, fragility."""

    def columns(self, posterior: FeaturePosterior) -> dict[str, Any]:
        """Columns for the table of results, under the prior of ``posterior``."""
        ...

    def take(self, places: Any) -> Self:
        """The same for some of the features."""
        ...

    def notes(self) -> list[Message]:
        """Sentences for the summary."""
        ...


@runtime_checkable
class OfThePrior(Protocol):
    """A finding that says something about the prior, and has a say when another one is put in its place."""

    def reweighed(self, prior_log_odds: Any) -> tuple[Finding | None, Any]:
        """Return the finding under another prior (None if it no longer applies), and that prior."""
        ...


def check_same_features(what: str, names: tuple[str, ...] | None, n: int, posterior: FeaturePosterior) -> None:
    """Raise if a finding is of other features than a screen, or of the same in another order."""
    if posterior.n_features != n:
        raise DataError(f"{what} of {n:,} features do not fit a table of {posterior.n_features:,}.")
    if names is None or posterior.feature_names is None or names == posterior.feature_names:
        return
    place = next(
        i for i, pair in enumerate(zip(names, posterior.feature_names, strict=True)) if pair[0] != pair[1]
    )
    raise DataError(
        f"{what} are of other features than the screen, or in another order: feature {place} is {names[place]!r} "
        f"there and {posterior.feature_names[place]!r} here. Take the same features in the same order."
    )


@dataclass(frozen=True, slots=True)
class Remark:
    """Sentences for the summary, without columns.

    Parameters
    ----------
    sentences
        What is to be said.
    """

    sentences: tuple[Message | str, ...]

    def columns(self, posterior: FeaturePosterior) -> dict[str, Any]:
        """No columns."""
        del posterior
        return {}

    def take(self, places: Any) -> Self:
        """The same for some of the features."""
        del places
        return self

    def notes(self) -> list[Message]:
        """Sentences for the summary."""
        return [Message.of(sentence) for sentence in self.sentences]


@dataclass(frozen=True, slots=True)
class PriorRemark(Remark):
    """Sentences about the prior, to be dropped when another one is put in its place."""

    def reweighed(self, prior_log_odds: Any) -> tuple[None, Any]:
        """Nothing is left of it under another prior."""
        return None, prior_log_odds
