"""GeneMap: which genes a feature measures, and the groups of features with the same genes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from bayesieve.utils import DataError, IntArray, OptionError, check_choice, list_names, plural

BETWEEN_GENES = " /// "
UNMAPPED = ("drop", "keep")
_SEPARATORS = re.compile(r"\s*(?:///|[;|,])\s*")
_NO_GENE = {"", "---", "--", "-", "na", "n/a", "nan", "null", "none"}


def split_genes(text: str) -> tuple[str, ...]:
    """Return the genes of a cell: ``A /// B``, with ``;``, ``|`` or ``,`` as good; each once, in their order."""
    parts = _SEPARATORS.split(text.strip())
    return tuple(dict.fromkeys(part for part in parts if part.casefold() not in _NO_GENE))


def genes_of(label: str) -> tuple[str, ...]:
    """Return the genes of a row of a result, ``A /// B``; other signs are part of a name."""
    return tuple(label.split(BETWEEN_GENES)) if BETWEEN_GENES in label else (label,)


@dataclass(frozen=True, slots=True, eq=False)
class GeneMap:
    """Genes of every feature: of a probe set one, several, or none.

    Parameters
    ----------
    genes
        Tuple of genes by feature; empty for a feature without a gene.
    source
        Where it was read from, in words; for messages.

    Examples
    --------
    >>> import bayesieve as bs
    >>> genes = bs.GeneMap.from_pairs([("1007_s_at", "DDR1 /// MIR4640"), ("1053_at", "RFC2"), ("x_at", "---")])
    >>> genes["1007_s_at"], genes.n_features, genes.n_genes, genes.n_without
    (('DDR1', 'MIR4640'), 3, 3, 1)
    """

    genes: Mapping[str, tuple[str, ...]]
    source: str = "the gene map"

    @classmethod
    def from_pairs(
        cls, pairs: Iterable[tuple[str, str | Iterable[str] | None]], source: str = "the gene map"
    ) -> GeneMap:
        """Make it of pairs of a feature and its gene, or genes; a feature may occur several times.

        Examples
        --------
        >>> import bayesieve as bs
        >>> bs.GeneMap.from_pairs([("p1", "A"), ("p1", "B"), ("p2", ["A", "B"])])["p1"]
        ('A', 'B')
        """
        found: dict[str, tuple[str, ...]] = {}
        for feature, genes in pairs:
            more = genes or ""
            listed = split_genes(more) if isinstance(more, str) else tuple(g for e in more for g in split_genes(e))
            before = found.get(feature, ())
            found[feature] = tuple(dict.fromkeys((*before, *listed))) if before else listed
        if not found:
            raise DataError(f"{source} holds no features. Give pairs of a feature and its gene.")
        return cls(found, source)

    def __getitem__(self, feature: str) -> tuple[str, ...]:
        return self.genes.get(feature, ())

    def __contains__(self, feature: object) -> bool:
        return feature in self.genes

    def __iter__(self) -> Iterator[str]:
        return iter(self.genes)

    def __len__(self) -> int:
        return len(self.genes)

    @property
    def n_features(self) -> int:
        """Number of features, with a gene or without."""
        return len(self.genes)

    @property
    def n_without(self) -> int:
        """Number of features without a gene."""
        return sum(not genes for genes in self.genes.values())

    @property
    def n_several(self) -> int:
        """Number of features with several genes."""
        return sum(len(genes) > 1 for genes in self.genes.values())

    @property
    def n_genes(self) -> int:
        """Number of different genes."""
        return len({gene for genes in self.genes.values() for gene in genes})

    @property
    def n_gene_lists(self) -> int:
        """Number of different lists of genes (genes and families), as the paper counts them."""
        return len({frozenset(genes) for genes in self.genes.values() if genes})

    def group(self, names: Sequence[str], unmapped: str = "drop") -> GeneGroups:
        """Group features by exactly the same genes, in whatever order these are written.

        Parameters
        ----------
        names
            Features of a table.
        unmapped
            Features without a gene: ``"drop"`` them, or ``"keep"`` each under its own name.

        Examples
        --------
        >>> import bayesieve as bs
        >>> genes = bs.GeneMap.from_pairs([("p1", "A"), ("p2", "A /// B"), ("p3", "A")])
        >>> groups = genes.group(["p3", "p2", "p1", "p0"])
        >>> groups.labels, groups.codes.tolist()
        (('A', 'A /// B'), [0, 1, 0, -1])
        """
        check_choice("unmapped", unmapped, UNMAPPED)
        known = sum(name in self.genes for name in names)
        if not known:
            raise DataError(
                f"{self.source} knows none of the {plural(len(names), 'feature')}: it holds features like "
                f"{list_names(list(self.genes)[:2])}, the table holds {list_names(list(names)[:2])}. Use the "
                "annotation of the platform that was measured, with the same ids."
            )
        places: dict[frozenset[str], int] = {}
        lists: list[tuple[str, ...]] = []
        codes = np.full(len(names), -1, dtype=np.int64)
        alone = []
        for i, name in enumerate(names):
            genes = self.genes.get(name, ())
            if genes:
                key = frozenset(genes)
                if key not in places:
                    places[key] = len(lists)
                    lists.append(genes)
                codes[i] = places[key]
            else:
                alone.append(i)
        if not lists and unmapped == "drop":
            raise OptionError(
                f"None of the {plural(len(names), 'feature')} has a gene in {self.source}, so that nothing would "
                "be left. Check which column holds the genes."
            )
        labels = [BETWEEN_GENES.join(genes) for genes in lists]
        if unmapped == "keep":
            taken = set(labels)
            for i in alone:
                codes[i] = len(labels)
                labels.append(names[i] if names[i] not in taken else f"{names[i]} (feature)")
                lists.append(())
        return GeneGroups(tuple(labels), tuple(lists), codes, len(alone))


@dataclass(frozen=True, slots=True, eq=False)
class GeneGroups:
    """Features of a table in groups with the same genes.

    Parameters
    ----------
    labels
        Name of every group: its genes, or the feature itself where it has none.
    genes
        Genes of every group; none for a feature that was kept without one.
    codes
        Group of every feature; -1 for one that is dropped.
    n_unmapped
        Features without a gene, dropped or kept.
    """

    labels: tuple[str, ...]
    genes: tuple[tuple[str, ...], ...]
    codes: IntArray
    n_unmapped: int

    @property
    def n_groups(self) -> int:
        """Number of groups."""
        return len(self.labels)

    @property
    def sizes(self) -> IntArray:
        """Number of features of every group."""
        return np.bincount(self.codes[self.codes >= 0], minlength=self.n_groups).astype(np.int64)

    @property
    def n_several_genes(self) -> int:
        """Features with several genes."""
        several = np.array([len(genes) > 1 for genes in self.genes] or [False])
        return int(several[self.codes[self.codes >= 0]].sum())

    def first(self, order: IntArray) -> IntArray:
        """Return the feature of every group that comes first in an order of all features."""
        codes = self.codes[order]
        there = codes >= 0
        found, places = np.unique(codes[there], return_index=True)
        kept = np.full(self.n_groups, -1, dtype=np.int64)
        kept[found] = order[there][places]
        return kept

    def largest(self, values: np.ndarray[tuple[int], np.dtype[np.float64]]) -> IntArray:
        """Return the feature of every group with the largest value; of equal ones the first."""
        return self.first(np.argsort(-values, kind="stable"))

    def describe(self) -> str:
        """Say how many features and genes there were, and what became of them."""
        n, sizes, several = self.codes.size, self.sizes, self.n_several_genes
        parts = []
        if self.n_unmapped:
            fate = "dropped" if (self.codes < 0).any() else "kept under their own names"
            parts.append(f"{plural(self.n_unmapped, 'feature')} without a gene {fate}")
        if several:
            parts.append(f"{plural(several, 'feature')} with several genes")
        if (sizes > 1).any():
            many = plural(int((sizes > 1).sum()), "gene")
            parts.append(f"{many} with several features (at most {int(sizes.max()):,})")
        end = f": {'; '.join(parts)}" if parts else ""
        return f"{plural(n, 'feature')} collapsed to {plural(self.n_groups, 'gene')}{end}."

    def counts(self) -> dict[str, int]:
        """Return the same as plain numbers."""
        sizes = self.sizes
        return {
            "n_features": int(self.codes.size),
            "n_unmapped": self.n_unmapped,
            "n_dropped": int((self.codes < 0).sum()),
            "n_several_genes": self.n_several_genes,
            "n_genes": self.n_groups,
            "n_genes_with_several_features": int((sizes > 1).sum()),
            "most_features": int(sizes.max(initial=0)),
        }
