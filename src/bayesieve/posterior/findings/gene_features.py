"""GeneFeatures: the features that stand for genes in a screen that was collapsed."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesieve.utils import IntArray, Message

if TYPE_CHECKING:
    from bayesieve.posterior.feature_posterior import FeaturePosterior


@dataclass(frozen=True, slots=True, eq=False)
class GeneFeatures:
    """Which feature stands for each gene, and of how many.

    Parameters
    ----------
    kept
        Name of the feature of every gene.
    number
        How many features have exactly these genes.
    places
        Positions of the features in the table that was screened.
    sentences
        What became of the features.
    """

    kept: tuple[str, ...]
    number: IntArray
    places: IntArray
    sentences: tuple[Message, ...] = ()

    def columns(self, posterior: FeaturePosterior) -> dict[str, Any]:
        """Columns ``kept_feature`` and ``n_gene_features``."""
        del posterior
        return {"kept_feature": list(self.kept), "n_gene_features": self.number}

    def take(self, places: Any) -> GeneFeatures:
        """Some of the genes."""
        chosen = np.arange(len(self.kept))[places]
        names = tuple(self.kept[i] for i in chosen.tolist())
        return replace(self, kept=names, number=self.number[chosen], places=self.places[chosen])

    def notes(self) -> list[Message]:
        """Sentences for the summary."""
        return list(self.sentences)
