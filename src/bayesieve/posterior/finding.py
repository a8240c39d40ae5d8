"""Finding: what else is known about every feature, beside its log-odds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, Self

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

    def notes(self) -> list[str]:
        """Sentences for the summary."""
        ...


@dataclass(frozen=True, slots=True)
class Remark:
    """Sentences for the summary, without columns.

    Parameters
    ----------
    sentences
        What is to be said.

    Examples
    --------
    >>> from bayesieve.posterior.finding import Remark
    >>> Remark(("20 pairs.",)).notes()
    ['20 pairs.']
    """

    sentences: tuple[str, ...]

    def columns(self, posterior: FeaturePosterior) -> dict[str, Any]:
        """No columns."""
        del posterior
        return {}

    def take(self, places: Any) -> Remark:
        """The same for some of the features."""
        del places
        return self

    def notes(self) -> list[str]:
        """Sentences for the summary."""
        return list(self.sentences)
