"""RankedGenes: genes in rank order, with what a screen says about each."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from bayesieve.data import GeneMap, genes_of
from bayesieve.enrichment.ranking import GeneRanking, collapse, names_in_order
from bayesieve.posterior import FeaturePosterior
from bayesieve.selection import Selection
from bayesieve.utils import BoolArray, FloatArray, compiled

_DIRECTIONS = ("mean_difference_within", "mean_difference", "log_rate_ratio")


@dataclass(frozen=True, slots=True, eq=False)
class RankedGenes:
    """Genes in rank order, with what a screen says about each.

    Parameters
    ----------
    names
        Genes in rank order.
    selected
        Whether each is on the list.
    probability
        Posterior probability that each is a marker; None if there is no posterior.
    score
        How strong each is, with the sign of the difference where that is known; None without a posterior.
    signed
        Whether scores have signs.
    method
        Name of the ranking.

    Examples
    --------
    >>> import bayesieve as bs
    >>> X = [[0.1, 5.0], [-0.4, 4.1], [0.3, 5.2], [-6.8, 4.7], [-7.7, 4.4], [-8.1, 4.6]]
    >>> posterior = bs.screen(X, [0, 0, 0, 1, 1, 1], model=bs.GaussianModel.proper(), prior_probability=0.1)
    >>> genes = bs.enrichment.RankedGenes.of(bs.MinimalRisk(0.5).select(posterior))
    >>> genes.names, genes.selected.tolist(), genes.score.round(2).tolist()
    (('x0', 'x1'), [True, False], [-4.13, -0.0])
    """

    names: tuple[str, ...]
    selected: BoolArray
    probability: FloatArray | None = None
    score: FloatArray | None = None
    signed: bool = False
    method: str = ""

    @classmethod
    def of(cls, result: Any, method: str = "") -> RankedGenes:
        """Take them from a selection, a posterior (nothing is selected), or names in rank order.

        Examples
        --------
        >>> import bayesieve as bs
        >>> bs.enrichment.RankedGenes.of(["B", "A"]).names
        ('B', 'A')
        """
        if isinstance(result, RankedGenes):
            return result
        posterior = result.posterior if isinstance(result, Selection) else result
        if not isinstance(posterior, FeaturePosterior):
            names = names_in_order(result)
            return cls(names, np.zeros(len(names), dtype=bool), method=method)
        order = posterior.ranking
        names = tuple(posterior.names[i] for i in order.tolist())
        mask = result.mask[order] if isinstance(result, Selection) else np.zeros(order.size, dtype=bool)
        likely = marker_probability(posterior.probability[order], posterior.expected_fdr[order])
        return cls(names, mask, likely, *signed_scores(posterior), method=method)

    def collapsed(self, gene_map: GeneMap, unmapped: str = "drop") -> tuple[RankedGenes, GeneRanking]:
        """Return the genes of ranked features, each with what is said about its best, and what became of features.

        Examples
        --------
        >>> import bayesieve as bs
        >>> ranked = bs.enrichment.RankedGenes.of(["p1", "p2", "p3"])
        >>> ranked.collapsed(bs.GeneMap.from_pairs([("p1", "A"), ("p2", "B"), ("p3", "A")]))[0].names
        ('A', 'B')
        """
        found = collapse(self.names, gene_map, unmapped)
        places = found.feature_rank - 1
        return replace(
            self,
            names=found.genes,
            selected=self.selected[places],
            probability=None if self.probability is None else self.probability[places],
            score=None if self.score is None else self.score[places],
        ), found

    def single_genes(self) -> tuple[list[str], list[float]]:
        """Return single genes with the scores of their best rows, for programs that know no lists of genes."""
        scores = np.zeros(len(self.names)) if self.score is None else self.score
        found: dict[str, float] = {}
        for name, value in zip(self.names, scores.tolist(), strict=True):
            for gene in genes_of(name):
                found.setdefault(gene, value)
        return [*found], [*found.values()]


def signed_scores(posterior: FeaturePosterior) -> tuple[FloatArray, bool]:
    """Strength in rank order: minus the decimal logarithm of the local FDR, with the sign of the difference.

    It falls with the log-odds alone, and is never below 0 without its sign.
    """
    order = posterior.ranking
    strength = np.logaddexp(0.0, posterior.log_odds[order]) / np.log(10.0)
    if len(posterior.classes) != 2:
        return strength, False
    table: dict[str, Any] = posterior.statistics.describe([str(label) for label in posterior.classes])
    for finding in posterior.findings:
        table |= finding.columns(posterior)
    name = next((each for each in _DIRECTIONS if each in table), None)
    if name is None:
        return strength, False
    direction = np.sign(np.nan_to_num(np.asarray(table[name], dtype=np.float64)))[order]
    return np.where(direction == 0, 0.0, direction * strength), True


def marker_probability(probability: FloatArray, expected_fdr: FloatArray) -> FloatArray:
    """Probability of being a marker, in rank order: the posterior's, as far as shuffled labels let it stand.

    The number of false positives among the first r is r times the expected false discovery rate, which comes from
    shuffled labels where there are any. What each rank adds to it, made to rise from rank to rank (isotonic
    regression), is a local false discovery rate; one minus it is an upper limit. Without shuffles that is the
    posterior probability itself.

    Examples
    --------
    >>> import numpy as np
    >>> import bayesieve as bs
    >>> limit = bs.enrichment.marker_probability(np.array([0.99, 0.9, 0.8]), np.array([0.0, 0.25, 0.5]))
    >>> limit.tolist()
    [0.99, 0.5, 0.0]
    """
    false = np.arange(1, probability.size + 1) * expected_fdr
    steps = np.diff(false, prepend=0.0)
    limit: FloatArray = 1.0 - np.clip(_rising(steps), 0.0, 1.0)
    return np.minimum(probability, limit)


@compiled()
def _rising(values: Any) -> Any:
    """Nearest rising sequence in least squares: neighbours that fall are pooled."""
    n = values.shape[0]
    mean, weight, last = np.empty(n), np.empty(n), -1
    for i in range(n):
        last += 1
        mean[last], weight[last] = values[i], 1.0
        while last > 0 and mean[last - 1] > mean[last]:
            both = weight[last - 1] + weight[last]
            mean[last - 1] += (mean[last] - mean[last - 1]) * weight[last] / both
            weight[last - 1] = both
            last -= 1
    out, at = np.empty(n), 0
    for k in range(last + 1):
        for _ in range(int(weight[k])):
            out[at] = mean[k]
            at += 1
    return out
