"""Finding: what else is known about every feature, beside its log-odds."""

from __future__ import annotations

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
