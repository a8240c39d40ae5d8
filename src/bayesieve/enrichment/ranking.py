"""collapse(): from a ranking of features to one of genes, by the paper's rule."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bayesieve.data import GeneGroups, GeneMap
from bayesieve.posterior import Tabular
from bayesieve.utils import DataError, IntArray, list_names


def names_in_order(ranking: Any) -> tuple[str, ...]:
    """Return names from the strongest to the weakest: of a posterior, a selection, scores, or names themselves."""
    ranked = getattr(ranking, "posterior", ranking)  # a selection ranks as its posterior does
    if hasattr(ranked, "ranking") and hasattr(ranked, "names"):
        names = ranked.names
        return tuple(names[i] for i in np.asarray(ranked.ranking).tolist())
    if isinstance(ranking, GeneRanking):
        return ranking.genes
    if isinstance(ranking, (str, bytes)) or not isinstance(ranking, Sequence | np.ndarray):
        raise DataError(
            f"A ranking is what screen() or score() returned, or names in the order of their ranks, not "
            f"{type(ranking).__name__}."
        )
    names = tuple(map(str, ranking))
    if len(set(names)) < len(names):
        seen: set[str] = set()
        twice = [name for name in names if name in seen or seen.add(name)]  # type: ignore[func-returns-value]
        raise DataError(f"A ranking names every feature once, but {list_names(twice)} occur(s) again.")
    if not names:
        raise DataError("The ranking is empty: there is nothing to collapse or to look for.")
    return names


@dataclass(frozen=True, slots=True, eq=False)
class GeneRanking(Tabular):
    """Genes (or families: lists of genes) from the strongest to the weakest, each by its best feature.

    Parameters
    ----------
    genes
        Genes in rank order; several of one feature with " /// " between.
    gene_lists
        The same as tuples; empty for a feature that was kept without a gene.
    features
        The feature kept for each.
    feature_rank
        Its rank among all features.
    n_features
        How many features have exactly these genes.
    counts
        What became of the features: ``n_features``, ``n_unmapped``, ``n_dropped``, ``n_several_genes``,
        ``n_genes``, ``n_genes_with_several_features``, ``most_features``.
    sentence
        The same in words.

    Examples
    --------
    >>> import bayesieve as bs
    >>> genes = bs.GeneMap.from_pairs([("p1", "A"), ("p2", "A /// B"), ("p3", "A")])
    >>> ranked = bs.enrichment.collapse(["p3", "p2", "p1"], genes)
    >>> ranked.genes, ranked.features
    (('A', 'A /// B'), ('p3', 'p2'))
    """

    genes: tuple[str, ...]
    gene_lists: tuple[tuple[str, ...], ...]
    features: tuple[str, ...]
    feature_rank: IntArray
    n_features: IntArray
    counts: dict[str, int]
    sentence: str

    def __len__(self) -> int:
        return len(self.genes)

    def to_dict(self) -> dict[str, Any]:
        """Table of the genes as columns, in rank order.

        Examples
        --------
        >>> import bayesieve as bs
        >>> genes = bs.GeneMap.from_pairs([("p1", "A"), ("p2", "B"), ("p3", "A")])
        >>> list(bs.enrichment.collapse(["p3", "p2", "p1"], genes).to_dict())
        ['rank', 'gene', 'feature', 'feature_rank', 'n_features']
        """
        return {
            "rank": np.arange(1, len(self.genes) + 1),
            "gene": list(self.genes),
            "feature": list(self.features),
            "feature_rank": self.feature_rank,
            "n_features": self.n_features,
        }


def collapse(ranking: Any, gene_map: GeneMap, unmapped: str = "drop") -> GeneRanking:
    """Rank genes by their best features: of those with exactly the same genes the best ranked is kept.

    This is the paper's rule. The best of several is chosen by looking at the ranks, so that genes with many
    features come far by chance more often; ``screen(..., gene_map=...)`` counts that in its shuffles.

    Parameters
    ----------
    ranking
        What :func:`bayesieve.screen`, a rule or :func:`bayesieve.score` returned, or names in rank order.
    gene_map
        Genes of the features.
    unmapped
        Features without a gene: ``"drop"`` or ``"keep"``.

    Examples
    --------
    >>> import bayesieve as bs
    >>> genes = bs.GeneMap.from_pairs([("p1", "A"), ("p2", "B"), ("p3", "A")])
    >>> bs.enrichment.collapse(["p3", "p2", "p1", "p0"], genes).sentence
    '4 features collapsed to 2 genes: 1 feature without a gene dropped; 1 gene with several features (at most 2).'
    """
    names = names_in_order(ranking)
    groups = gene_map.group(names, unmapped)
    kept = groups.first(np.arange(len(names)))
    return _ranked(names, groups, kept)


def _ranked(names: Sequence[str], groups: GeneGroups, kept: IntArray) -> GeneRanking:
    order = np.argsort(kept, kind="stable")
    places = order.tolist()
    return GeneRanking(
        tuple(groups.labels[k] for k in places),
        tuple(groups.genes[k] for k in places),
        tuple(names[i] for i in kept[order].tolist()),
        kept[order] + 1,
        groups.sizes[order],
        groups.counts(),
        groups.describe(),
    )
