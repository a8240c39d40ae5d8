"""Kinds of gene ids: which kind a list seems to hold, and how two lists are matched."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass

_VERSION = re.compile(r"\.\d{1,3}$")
_KINDS = {  # the first that fits
    "Entrez ids": re.compile(r"\d{1,9}"),
    "Ensembl ids": re.compile(r"ENS[A-Z]{0,5}[GTP]\d{11}(\.\d+)?"),
    "Affymetrix probe sets": re.compile(r".+_at|\d{7,8}_st"),
    "Illumina probes": re.compile(r"ILMN_\d+"),
    "RefSeq ids": re.compile(r"[NXY][MRPGC]_\d{5,9}(\.\d+)?"),
    "UniProt accessions": re.compile(r"[OPQ]\d[A-Z\d]{3}\d|[A-NR-Z]\d([A-Z][A-Z\d]{2}\d){1,2}"),
    "gene symbols": re.compile(r"[A-Za-z][A-Za-z0-9@.\-_/ ]{0,24}"),
}
_LOOK = 500
UNKNOWN = "ids of no known kind"
_VERSIONED = ("Ensembl ids", "RefSeq ids")


def id_kind(ids: Iterable[str]) -> str:
    """Return the kind of ids that most of a list are; of a long one some are looked at."""
    every = sorted(ids)
    kinds = Counter(_kind(name) for name in every[:: 1 + len(every) // _LOOK])
    return kinds.most_common(1)[0][0] if kinds else UNKNOWN


def _kind(name: str) -> str:
    return next((kind for kind, form in _KINDS.items() if form.fullmatch(name)), UNKNOWN)


def without_version(name: str) -> str:
    """Return an Ensembl or RefSeq id without its version; other ids as they are."""
    return _VERSION.sub("", name) if "." in name and _kind(name) in _VERSIONED else name


@dataclass(frozen=True, slots=True)
class Matching:
    """How ids are compared.

    Parameters
    ----------
    ignore_case
        Whether ``Trp53`` and ``TRP53`` are the same.
    ignore_version
        Whether ``ENSG00000141510.16`` and ``ENSG00000141510`` are the same.
    """

    ignore_case: bool = False
    ignore_version: bool = False

    def key(self, name: str) -> str:
        """Return what is compared of an id."""
        name = without_version(name) if self.ignore_version else name
        return name.casefold() if self.ignore_case else name

    def keys(self, names: Iterable[str]) -> set[str]:
        """Return what is compared of some ids."""
        return {self.key(name) for name in names} if self.ignore_case or self.ignore_version else set(names)


@dataclass(frozen=True, slots=True)
class Overlap:
    """How far the ids of a ranking and those of gene sets are the same.

    Parameters
    ----------
    n_ids, n_matched
        Ids of the ranking, and those that are in any set.
    n_set_ids
        Ids of the sets.
    kind, set_kind
        Which kind of ids each seems to hold.
    n_other_case, n_other_version
        How many more would match if case, or versions, were ignored.
    """

    n_ids: int
    n_matched: int
    n_set_ids: int
    kind: str
    set_kind: str
    n_other_case: int = 0
    n_other_version: int = 0

    @classmethod
    def of(cls, ids: Collection[str], set_ids: Collection[str], matching: Matching, min_share: float) -> Overlap:
        """Compare two lists of ids; also in other ways, if fewer than a share match."""

        def matched(way: Matching) -> int:
            theirs = way.keys(set_ids)
            return sum(way.key(name) in theirs for name in ids)

        n = matched(matching)
        kinds = id_kind(ids), id_kind(set_ids)
        if n >= min_share * len(ids):
            return cls(len(ids), n, len(set_ids), *kinds)
        case = Matching(True, matching.ignore_version)
        version = Matching(matching.ignore_case, True)
        return cls(len(ids), n, len(set_ids), *kinds, matched(case) - n, matched(version) - n)

    @property
    def share(self) -> float:
        """Share of the ids of the ranking that are in any set."""
        return self.n_matched / max(self.n_ids, 1)
