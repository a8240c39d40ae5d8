"""known_markers(): where known markers rank, how many are in the top, and how far by chance."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bayesieve.data import genes_of
from bayesieve.enrichment.hypergeometric import log_upper_tail
from bayesieve.enrichment.ranking import names_in_order
from bayesieve.posterior import Tabular
from bayesieve.utils import BoolArray, DataError, FloatArray, IntArray, check_whole, list_names, plural

TOPS = (1000, 2000, 5000)


def find_ranks(names: Sequence[str], known: Iterable[str]) -> dict[str, int]:
    """Rank of every known gene: its own row if it has one, else the best row that lists it; 0 if there is none."""
    own = {name: rank for rank, name in reversed([*enumerate(names, 1)])}
    shared: dict[str, int] = {}
    for rank, name in enumerate(names, 1):
        for gene in genes_of(name):
            shared.setdefault(gene, rank)
    return {gene: own.get(gene, shared.get(gene, 0)) for gene in known}


@dataclass(frozen=True, slots=True, eq=False)
class KnownMarkers(Tabular):
    r"""Ranks of known markers, and how many are in the top, compared with chance.

    Parameters
    ----------
    genes, rank
        The known markers that were ranked, the best first, and their ranks.
    absent
        Known markers that were not ranked.
    n_ranked
        Number of genes ranked: the population.
    n_known
        Rows of the ranking that are known markers, out of the population.
    tops
        Lengths N.
    count, expected
        Known markers among the N best, and how many were expected by chance.
    log_p_value
        Log of :math:`P(X \ge k)` for k known ones among N drawn without replacement.
    log_p_value_paper
        Log of :math:`P(X > k)`, which the paper's Table S2 prints: one known marker more than were seen.

    Examples
    --------
    >>> import bayesieve as bs
    >>> found = bs.enrichment.known_markers([f"G{i}" for i in range(1, 101)], ["G2", "G5", "G50"], tops=[10])
    >>> found.genes, found.rank.tolist(), found.count.tolist(), found.p_value.round(4).tolist()
    (('G2', 'G5', 'G50'), [2, 5, 50], [2], [0.0258])
    """

    genes: tuple[str, ...]
    rank: IntArray
    absent: tuple[str, ...]
    n_ranked: int
    n_known: int
    tops: IntArray
    count: IntArray
    expected: FloatArray
    log_p_value: FloatArray
    log_p_value_paper: FloatArray

    @property
    def p_value(self) -> FloatArray:
        r"""Probability of as many known markers or more, :math:`P(X \ge k)`."""
        return np.exp(self.log_p_value)

    @property
    def p_value_paper(self) -> FloatArray:
        r"""The paper's :math:`P(X > k)`; too small, for comparison with Table S2 only."""
        return np.exp(self.log_p_value_paper)

    def to_dict(self) -> dict[str, Any]:
        """Table of the lengths as columns.

        Examples
        --------
        >>> import bayesieve as bs
        >>> found = bs.enrichment.known_markers(["A", "B", "C"], ["B"], tops=[1, 2])
        >>> list(found.to_dict())
        ['top', 'known', 'expected', 'p_value', 'p_value_paper']
        """
        return {
            "top": self.tops,
            "known": self.count,
            "expected": self.expected,
            "p_value": self.p_value,
            "p_value_paper": self.p_value_paper,
        }

    def ranks(self) -> dict[str, Any]:
        """Table of the known markers and their ranks, those that were not ranked last (missing rank).

        Examples
        --------
        >>> import bayesieve as bs
        >>> bs.enrichment.known_markers(["A", "B", "C"], ["C", "X"], tops=[1]).ranks()
        {'gene': ['C', 'X'], 'rank': [3, None]}
        """
        return {
            "gene": [*self.genes, *self.absent],
            "rank": [*self.rank.tolist(), *(None for _ in self.absent)],
        }

    def describe(self) -> str:
        """Say how many of the known markers were ranked."""
        n = len(self.genes) + len(self.absent)
        left = f"; not ranked: {list_names(self.absent)}" if self.absent else ""
        known = f"{len(self.genes):,} of {plural(n, 'known marker')}"
        return f"{known} among {plural(self.n_ranked, 'gene')} ranked{left}."


def known_markers(
    ranked_genes: Any, known: Iterable[str], tops: Iterable[int] = TOPS, *, n_ranked: int | None = None
) -> KnownMarkers:
    r"""Find known markers in a ranking, and compare their number in the top N with chance.

    Parameters
    ----------
    ranked_genes
        Genes in rank order (also a :class:`GeneRanking`, or what :func:`bayesieve.screen` returned). A row of
        several genes, ``A /// B``, is looked at for a known gene without a row of its own.
    known
        Known markers; repetitions count once.
    tops
        Lengths N; those longer than the ranking are left out.
    n_ranked
        The population, for a ranking of the best only (a costly method behind a quick one): the number of genes
        from which they were picked.

    Examples
    --------
    >>> import bayesieve as bs
    >>> found = bs.enrichment.known_markers(["A", "B /// C", "D", "E"], ["C", "E", "X"], tops=[2, 100])
    >>> found.absent, found.tops.tolist(), found.count.tolist()
    (('X',), [2], [1])
    """
    names = names_in_order(ranked_genes)
    population = len(names) if n_ranked is None else n_ranked
    if population < len(names):
        raise DataError(f"n_ranked is {population:,}, but {len(names):,} genes are ranked. It is the population.")
    wanted = list(dict.fromkeys(map(str, known)))
    if not wanted:
        raise DataError("There are no known markers to look for. Give their names.")
    lengths = [int(top) for top in tops]
    for top in lengths:
        check_whole("tops", top, 1)
    ranks = find_ranks(names, wanted)
    found = sorted((rank, gene) for gene, rank in ranks.items() if rank)
    absent = tuple(gene for gene in wanted if not ranks[gene])
    if not found:
        raise DataError(
            f"None of the {plural(len(wanted), 'known marker')} ({list_names(wanted)}) is among the "
            f"{len(names):,} genes ranked ({list_names(names[:2])}, ...). Use the same kind of ids in both."
        )
    return counted([rank for rank, _ in found], population, lengths, tuple(g for _, g in found), absent)


def counted(
    ranks: Sequence[int], population: int, tops: Sequence[int], genes: tuple[str, ...] = (),
    absent: tuple[str, ...] = (), n_known: int | None = None,
) -> KnownMarkers:  # fmt: skip
    """Count known markers by their ranks; genes of one row are one marker.

    ``n_known`` counts those, too, whose rank is not known but beyond the top.
    """
    rows = np.unique(np.asarray(ranks, dtype=np.int64))
    kept = np.array([top for top in tops if top <= population], dtype=np.int64)
    count = np.searchsorted(rows, kept, side="right").astype(np.int64)
    good = rows.size if n_known is None else n_known
    return KnownMarkers(
        genes, np.asarray(ranks, dtype=np.int64), absent, population, good, kept, count,
        kept * good / population, log_upper_tail(count, population, good, kept),
        log_upper_tail(count + 1, population, good, kept),
    )  # fmt: skip


@dataclass(frozen=True, slots=True, eq=False)
class RecoveryCurve:
    """Share of the known markers among the first n genes of a ranking, for every n (the paper's Figure S2).

    Parameters
    ----------
    method
        Name of the ranking.
    rank
        Ranks of the known markers that were ranked, the best first.
    n_known
        Number of known markers, ranked or not.
    n_ranked
        Length of the ranking.

    Examples
    --------
    >>> import bayesieve as bs
    >>> curve = bs.enrichment.recovery_curve(["A", "B", "C", "D"], ["B", "D"])
    >>> curve.at([1, 2, 3, 4]).tolist()
    [0.0, 0.5, 0.5, 1.0]
    """

    method: str
    rank: IntArray
    n_known: int
    n_ranked: int

    def at(self, n: Any) -> FloatArray:
        """Share of the known markers among the first ``n`` genes.

        Examples
        --------
        >>> import bayesieve as bs
        >>> float(bs.enrichment.recovery_curve(["A", "B"], ["B", "X"]).at(2))
        0.5
        """
        return np.searchsorted(self.rank, np.asarray(n), side="right") / self.n_known

    @property
    def points(self) -> tuple[IntArray, FloatArray]:
        """Where the curve rises, from 0 to the end of the ranking, and its heights."""
        sizes = np.unique(np.concatenate([[0], self.rank, [self.n_ranked]])).astype(np.int64)
        return sizes, self.at(sizes)

    @property
    def area(self) -> float:
        """Mean height over all lengths: 0.5 by chance if all known markers were ranked, 1 at best."""
        return float((self.n_ranked + 0.5 - self.rank).sum() / (self.n_ranked * self.n_known))


def recovery_curve(ranked_genes: Any, known: Iterable[str], method: str = "") -> RecoveryCurve:
    """Follow the share of known markers found from the strongest gene to the weakest.

    Parameters
    ----------
    ranked_genes
        Genes in rank order, as for :func:`known_markers`.
    known
        Known markers.
    method
        Name of the ranking, for a legend.

    Examples
    --------
    >>> import bayesieve as bs
    >>> curves = [bs.enrichment.recovery_curve(list(order), "AC", order) for order in ("ACBD", "BDAC")]
    >>> [curve.area for curve in curves]
    [0.75, 0.25]
    """
    names = names_in_order(ranked_genes)
    wanted = list(dict.fromkeys(map(str, known)))
    if not wanted:
        raise DataError("There are no known markers to look for. Give their names.")
    ranks = sorted(rank for rank in find_ranks(names, wanted).values() if rank)
    return RecoveryCurve(method, np.array(ranks, dtype=np.int64), len(wanted), len(names))


def recovery_table(curves: Sequence[RecoveryCurve], sizes: Iterable[int]) -> Mapping[str, Any]:
    """Shares of several rankings side by side, as columns; missing beyond the end of a ranking."""
    at = np.fromiter(sizes, dtype=np.int64)
    table: dict[str, Any] = {"top": at}
    for curve in curves:
        beyond: BoolArray = at > curve.n_ranked
        table[curve.method] = np.where(beyond, np.nan, curve.at(at))
    return table
