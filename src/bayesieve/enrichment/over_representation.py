"""enrich(): over-representation of gene sets in a list, and the number of markers each is expected to hold."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from bayesieve.data import genes_of
from bayesieve.enrichment.hypergeometric import log_upper_tail
from bayesieve.enrichment.identifiers import Matching, Overlap, id_kind
from bayesieve.enrichment.ranked_genes import RankedGenes
from bayesieve.posterior import CountDistribution, PoissonBinomial, Tabular
from bayesieve.utils import (
    DataError,
    DataWarning,
    FloatArray,
    IntArray,
    OptionError,
    Piece,
    Wording,
    check_whole,
    list_names,
    option,
    plural,
    warn,
)

MIN_SIZE, MAX_SIZE, MIN_SHARE = 10, 500, 0.7
COLUMNS = ("set", "size", "in_universe", "selected", "expected", "fold", "p_value", "q_value", "expected_markers",
           "interval", "features")  # fmt: skip
_LEVEL = 0.9


@dataclass(frozen=True, slots=True, eq=False)
class GeneSets:
    """Named sets of genes, such as pathways.

    Parameters
    ----------
    names
        Name of every set.
    genes
        Genes of every set, each once.
    descriptions
        What the file says about every set: a source or an address.
    source
        Where they were read from; for messages.

    Examples
    --------
    >>> import bayesieve as bs
    >>> sets = bs.enrichment.GeneSets.from_dict({"glycolysis": ["HK1", "PFKM"], "cycle": ["CDK1"]})
    >>> len(sets), sets.genes[0]
    (2, ('HK1', 'PFKM'))
    """

    names: tuple[str, ...]
    genes: tuple[tuple[str, ...], ...]
    descriptions: tuple[str, ...] = ()
    source: str = "the gene sets"

    @classmethod
    def from_dict(cls, sets: Mapping[str, Iterable[str]], source: str = "the gene sets") -> GeneSets:
        """Make them of a mapping from names to genes.

        Examples
        --------
        >>> import bayesieve as bs
        >>> bs.enrichment.GeneSets.from_dict({"a": ["B", "B", "C"]}).genes
        (('B', 'C'),)
        """
        genes = tuple(tuple(dict.fromkeys(map(str, each))) for each in sets.values())
        return cls(tuple(map(str, sets)), genes, source=source)

    def __len__(self) -> int:
        return len(self.names)

    def __iter__(self) -> Iterator[tuple[str, tuple[str, ...]]]:
        return iter(zip(self.names, self.genes, strict=True))

    @property
    def ids(self) -> set[str]:
        """All genes of all sets."""
        return {gene for genes in self.genes for gene in genes}

    def joined(self, *others: GeneSets) -> GeneSets:
        """Put several collections together.

        Examples
        --------
        >>> import bayesieve as bs
        >>> one, other = (bs.enrichment.GeneSets.from_dict({name: ["G"]}) for name in "ab")
        >>> one.joined(other).names
        ('a', 'b')
        """
        every = (self, *others)
        described = any(each.descriptions for each in every)
        return GeneSets(
            tuple(name for each in every for name in each.names),
            tuple(genes for each in every for genes in each.genes),
            tuple(text for each in every for text in each.descriptions or ("",) * len(each)) if described else (),
            ", ".join(each.source for each in every),
        )


def set_title(name: str) -> str:
    """Return what a person reads of the name of a set: of ``NAME%SOURCE%ID`` the name."""
    return name.partition("%")[0].strip() or name


@dataclass(frozen=True, slots=True, eq=False)
class Enrichment(Tabular):
    r"""Gene sets, the most over-represented first.

    Parameters
    ----------
    names, size
        Sets, and how many genes each has in its file.
    in_universe, selected
        How many of the genes screened belong to it, and how many of the genes selected.
    expected
        How many of the selected would belong to it by chance.
    log_p_value, log_q_value
        Log of the hypergeometric :math:`P(X \ge selected)`, and of its Benjamini-Hochberg correction over all sets
        within the size limits.
    markers
        Posterior distribution of the number of markers in it, whether selected or not.
    features
        The selected genes that belong to it, the strongest first.
    n_universe, n_selected
        Genes screened, and genes selected.
    n_outside
        Sets left out because of their size.
    overlap
        How far the ids are the same.

    Examples
    --------
    >>> import bayesieve as bs
    >>> genes = [f"G{i}" for i in range(40)]
    >>> sets = bs.enrichment.GeneSets.from_dict({"first": genes[:10], "last": genes[30:]})
    >>> found = bs.enrich(genes, sets, selected=6, min_share=0.0)
    >>> found.names, found.selected.tolist(), found.q_value.round(5).tolist()
    (('first', 'last'), [6, 0], [0.00011, 1.0])
    """

    names: tuple[str, ...]
    size: IntArray
    in_universe: IntArray
    selected: IntArray
    expected: FloatArray
    log_p_value: FloatArray
    log_q_value: FloatArray
    markers: tuple[CountDistribution, ...]
    features: tuple[tuple[str, ...], ...]
    n_universe: int
    n_selected: int
    n_outside: int
    overlap: Overlap

    def __len__(self) -> int:
        return len(self.names)

    @property
    def p_value(self) -> FloatArray:
        """Hypergeometric probability of as many selected genes or more."""
        return np.exp(self.log_p_value)

    @property
    def q_value(self) -> FloatArray:
        """The same, corrected for the number of sets."""
        return np.exp(self.log_q_value)

    @property
    def fold(self) -> FloatArray:
        """Selected over expected; NaN if nothing was selected."""
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray(self.selected / self.expected)

    @property
    def expected_markers(self) -> FloatArray:
        """Posterior expected number of markers; NaN without a posterior."""
        return np.array([law.mean for law in self.markers]) if self.markers else np.full(len(self), np.nan)

    def intervals(self, level: float = _LEVEL) -> list[tuple[int, int]]:
        """Credible intervals of the number of markers; none without a posterior.

        Examples
        --------
        >>> import bayesieve as bs
        >>> sets = bs.enrichment.GeneSets.from_dict({"a": ["G1", "G2"]})
        >>> found = bs.enrich(["G1", "G2"], sets, probability=[0.99, 0.5], min_size=1)
        >>> found.intervals()
        [(1, 2)]
        """
        return [law.interval(level) for law in self.markers]

    def to_dict(self) -> dict[str, Any]:
        """Table of the sets as columns; ``interval`` is a 90% credible interval, such as ``3 to 9``.

        Examples
        --------
        >>> import bayesieve as bs
        >>> sets = bs.enrichment.GeneSets.from_dict({"a": ["G1", "G2"]})
        >>> list(bs.enrich(["G1", "G2"], sets, min_size=1).to_dict())[:5]
        ['set', 'size', 'in_universe', 'selected', 'expected']
        """
        return {
            "set": list(self.names),
            "size": self.size,
            "in_universe": self.in_universe,
            "selected": self.selected,
            "expected": self.expected,
            "fold": self.fold,
            "p_value": self.p_value,
            "q_value": self.q_value,
            "expected_markers": self.expected_markers,
            "interval": [f"{low} to {high}" for low, high in self.intervals()] or [""] * len(self),
            "features": ["; ".join(genes) for genes in self.features],
        }


def enrich(
    result: Any,
    sets: GeneSets | Sequence[GeneSets],
    *,
    selected: int | Iterable[str] | None = None,
    probability: Any = None,
    min_size: int = MIN_SIZE,
    max_size: int = MAX_SIZE,
    min_share: float = MIN_SHARE,
    ignore_case: bool = False,
    ignore_version: bool = False,
) -> Enrichment:
    r"""Find gene sets with more selected genes than chance would give, and the number of markers in each.

    The universe are the genes that were screened, and nothing else; a row of several genes (``A /// B``) is one
    item, which belongs to a set if any of its genes does. Every set with ``min_size`` to ``max_size`` items of the
    universe counts in the correction, also those of which nothing was selected.

    The p-value takes the genes for independent. They are not: genes of a pathway go together, and when noise
    puts one of them on a list it puts others there, too. It says how uneven a list is, not whether the list is
    right; with an empty list there is nothing to explain.

    Parameters
    ----------
    result
        What a rule selected, what :func:`bayesieve.screen` returned, or names in rank order.
    sets
        Gene sets, or several collections of them (one correction over all).
    selected
        The list, if it is not that of the result: the number of the strongest, or names.
    probability
        Marker probability of every gene in rank order, for names without a posterior.
    min_size, max_size
        Limits of the number of screened genes in a set.
    min_share
        Warn if fewer ids of the result are in any set.
    ignore_case, ignore_version
        Whether ids that differ in case, or in the version of an Ensembl or RefSeq id, are the same.

    Examples
    --------
    >>> import numpy as np
    >>> import bayesieve as bs
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(40, 300))
    >>> X[20:, :12] += 2.5
    >>> genes = [f"G{i}" for i in range(300)]
    >>> posterior = bs.screen(X, [0] * 20 + [1] * 20, feature_names=genes)
    >>> sets = bs.enrichment.GeneSets.from_dict({f"S{k}": genes[k : k + 15] for k in range(0, 300, 15)})
    >>> found = bs.enrich(bs.MinimalRisk(0.5).select(posterior), sets)
    >>> found.names[0], int(found.selected[0]), found.intervals()[0]
    ('S0', 12, (12, 12))
    """
    check_whole("min_size", min_size, 1)
    check_whole("max_size", max_size, 1)
    if min_size > max_size:
        raise OptionError(
            option("min_size", min_size), f" is more than {max_size}, the largest size. Give the smaller first."
        )
    every = sets if isinstance(sets, GeneSets) else _joined(sets)
    kinds = {each.source: id_kind(each.ids) for each in ([sets] if isinstance(sets, GeneSets) else sets)}
    genes = _with_list(RankedGenes.of(result), selected, probability)
    matching = Matching(ignore_case, ignore_version)
    members = _members(genes.names, every, matching)
    overlap = _check_overlap(genes.names, every, kinds, matching, min_share)
    sizes = np.array([each.size for each in members], dtype=np.int64)
    inside = np.flatnonzero((sizes >= min_size) & (sizes <= max_size))
    if not inside.size:
        raise DataError(
            f"None of the {plural(len(every), 'gene set')} of {every.source} has {min_size:,} to {max_size:,} of "
            f"the {len(genes.names):,} genes screened; the largest has {int(sizes.max(initial=0)):,}. The genes "
            f"are {overlap.kind}, the sets hold {overlap.set_kind}.",
            hint=(
                "Use the same kind of ids in both, or other limits: ",
                option("min_size"),
                ", ",
                option("max_size"),
                ".",
            ),
        )
    return _table(genes, every, members, inside, overlap)


def _joined(sets: Sequence[GeneSets]) -> GeneSets:
    if not sets:
        raise DataError("There are no gene sets. Read some with read_gene_sets().")
    return sets[0].joined(*sets[1:])


def _with_list(genes: RankedGenes, selected: Any, probability: Any) -> RankedGenes:
    """Put another list, or probabilities, in the place of the result's."""
    n = len(genes.names)
    mask, known = genes.selected, genes.probability
    if isinstance(selected, (int, np.integer)):
        check_whole("selected", selected, 0)
        if selected > n:
            raise OptionError(f"A list of {selected:,} was asked for, but only {n:,} genes were screened.")
        mask = np.arange(n) < selected
    elif selected is not None:
        wanted = set(map(str, selected))
        mask = np.array([name in wanted for name in genes.names])
        if mask.sum() < len(wanted):
            absent = sorted(wanted.difference(genes.names))
            raise DataError(f"{plural(len(absent), 'selected gene')} was not screened: {list_names(absent)}.")
    if probability is not None:
        known = np.asarray(probability, dtype=np.float64)
        if known.shape != (n,) or not ((known >= 0) & (known <= 1)).all():
            raise DataError(f"probability needs a number from 0 to 1 for each of the {n:,} genes, in rank order.")
    return replace(genes, selected=mask, probability=known)


def _members(names: Sequence[str], sets: GeneSets, matching: Matching) -> list[IntArray]:
    """Positions, in rank order, of the genes of every set."""
    rows: dict[str, list[int]] = {}
    for i, name in enumerate(names):
        for gene in matching.keys(genes_of(name)):
            rows.setdefault(gene, []).append(i)
    found = []
    for _, genes in sets:
        places = {i for key in matching.keys(genes) for i in rows.get(key, ())}
        found.append(np.array(sorted(places), dtype=np.int64))
    return found


def _table(
    genes: RankedGenes, sets: GeneSets, members: Sequence[IntArray], inside: IntArray, overlap: Overlap
) -> Enrichment:
    n, listed = len(genes.names), int(genes.selected.sum())
    chosen = [members[k] for k in inside.tolist()]
    sizes = np.array([each.size for each in chosen], dtype=np.int64)
    hits = [each[genes.selected[each]] for each in chosen]
    count = np.array([each.size for each in hits], dtype=np.int64)
    log_p = log_upper_tail(count, n, sizes, listed)
    log_q = adjust(log_p)
    mean = np.zeros(inside.size)
    if genes.probability is not None:
        mean = np.array([genes.probability[each].sum() for each in chosen])
    order = np.lexsort((np.arange(inside.size), -mean, -count / sizes, log_p))
    probability = genes.probability
    markers: tuple[CountDistribution, ...] = ()
    if probability is not None:
        markers = tuple(PoissonBinomial.of(probability[chosen[k]]) for k in order.tolist())
    return Enrichment(
        tuple(sets.names[inside[k]] for k in order.tolist()),
        np.array([len(sets.genes[inside[k]]) for k in order.tolist()], dtype=np.int64),
        sizes[order],
        count[order],
        (sizes * listed / n)[order],
        log_p[order],
        log_q[order],
        markers,
        tuple(tuple(genes.names[i] for i in hits[k].tolist()) for k in order.tolist()),
        n,
        listed,
        len(sets) - int(inside.size),
        overlap,
    )


def adjust(log_p_value: FloatArray) -> FloatArray:
    """Benjamini-Hochberg correction in log space, so that the smallest keep their digits."""
    order = np.argsort(log_p_value, kind="stable")
    n = log_p_value.size
    raw = log_p_value[order] + np.log(n / np.arange(1, n + 1))
    adjusted = np.empty(n)
    adjusted[order] = np.minimum(np.minimum.accumulate(raw[::-1])[::-1], 0.0)
    return adjusted


def _check_overlap(
    names: Sequence[str], sets: GeneSets, kinds: Mapping[str, str], matching: Matching, min_share: float
) -> Overlap:
    """Warn if few ids of the result are in any set."""
    ids = list(dict.fromkeys(gene for name in names for gene in genes_of(name)))
    overlap = Overlap.of(ids, sets.ids, matching, min_share)
    if len(set(kinds.values())) > 1:
        overlap = replace(overlap, set_kind=", ".join(f"{kind} ({source})" for source, kind in kinds.items()))
    if overlap.share >= min_share:
        return overlap
    if overlap.kind == overlap.set_kind:
        why = f"Both seem to hold {overlap.kind}; ids that are in no set count in the universe all the same."
    else:
        theirs = ", ".join(f"{source} {kind}" for source, kind in kinds.items())
        why = f"The result seems to hold {overlap.kind}, {theirs}."
    offers: list[Piece] = []
    if overlap.n_other_case:
        offers += [
            f"{overlap.n_other_case:,} more match with ",
            Wording("ignore_case=True", "--ignore-case"),
            ". ",
        ]
    if overlap.n_other_version:
        flag = Wording("ignore_version=True", "--ignore-version")
        offers += [f"{overlap.n_other_version:,} more match with ", flag, ". "]
    if overlap.kind != overlap.set_kind:
        offers.append("Use sets of the same kind of ids, or map the features to such genes first.")
    warn(
        DataWarning,
        f"{overlap.n_matched:,} of {overlap.n_ids:,} ids of the result ({overlap.share:.0%}) are in any set. ",
        why,
        hint=tuple(offers),
        kind="few-ids-match",
        n_matched=overlap.n_matched,
        n_ids=overlap.n_ids,
    )
    return overlap
