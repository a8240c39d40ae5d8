"""Known genes in the top by chance: genes with several probes come far more often, as the best of several."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from bayesieve.data import GeneGroups
from bayesieve.utils import FloatArray, IntArray

_DRAWS = 2000


@dataclass(frozen=True, slots=True, eq=False)
class KnownRows:
    """Where known genes stand among the genes and families of a table.

    Parameters
    ----------
    groups
        Probes in groups with the same genes.
    rows
        Groups of every known gene: its own, or all that list it if it has none.
    """

    groups: GeneGroups
    rows: tuple[IntArray, ...]

    @classmethod
    def of(cls, groups: GeneGroups, known: Mapping[str, str]) -> KnownRows:
        """Find the groups of known genes, given by what they are called here."""
        own = {label: k for k, label in enumerate(groups.labels)}
        listing: dict[str, list[int]] = {}
        for k, genes in enumerate(groups.genes):
            for gene in genes:
                listing.setdefault(gene, []).append(k)
        found = [[own[name]] if name in own else listing[name] for name in known.values()]
        return cls(groups, tuple(np.array(each, dtype=np.int64) for each in found))

    @property
    def n_probes(self) -> tuple[float, float]:
        """Mean number of probes of a known gene, and of any gene."""
        sizes = self.groups.sizes
        return float(np.mean([sizes[each].sum() for each in self.rows])), float(sizes.mean())

    def count(self, order: IntArray, tops: Sequence[int]) -> list[int]:
        """Count known genes among the first genes of an order of all probes, by the paper's rule."""
        place = np.empty(order.size)
        place[order] = np.arange(order.size)
        return self._count(place[self.groups.first(order)], tops)

    def draw(self, tops: Sequence[int], seed: int = 0) -> IntArray:
        """Count them in random orders of the probes: draws x tops.

        The first of k probes in a random order comes as early as the least of k exponential variables, which is
        exponential with rate k.
        """
        rng = np.random.default_rng(np.random.SeedSequence([seed, 36]))
        sizes = self.groups.sizes
        return np.array([self._count(rng.exponential(size=sizes.size) / sizes, tops) for _ in range(_DRAWS)])

    def _count(self, keys: FloatArray, tops: Sequence[int]) -> list[int]:
        best = np.array([keys[each].min() for each in self.rows])
        cuts = np.partition(keys, [top - 1 for top in tops])
        return [int((best <= cuts[top - 1]).sum()) for top in tops]
