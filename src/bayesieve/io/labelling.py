"""Which sample belongs to which class, from the table itself or from a label file."""

from __future__ import annotations

import re
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from bayesieve.errors import DataWarning, LabelError
from bayesieve.io.classes import Encoder
from bayesieve.io.roles import listed
from bayesieve.io.table import IntArray

_WHOLE = re.compile(r"[0-9]+(\.0+)?")


def spellings(name: str) -> tuple[str, ...]:
    """Return an id and the other way of writing the same whole number: programs turn 7 into 7.0.

    Examples
    --------
    >>> from bayesieve.io.labelling import spellings
    >>> spellings("7.0"), spellings("7"), spellings("S7")
    (('7.0', '7'), ('7', '7.0'), ('S7',))
    """
    if not _WHOLE.fullmatch(name):
        return (name,)
    return (name, name.partition(".")[0]) if "." in name else (name, f"{name}.0")


def no_ids(path: str, source: str) -> LabelError:
    """Say that samples without ids cannot be looked up.

    Examples
    --------
    >>> from bayesieve.io.labelling import no_ids
    >>> print(str(no_ids("a.csv", "pheno.csv")).partition(".csv.")[0])
    The samples of a.csv have no ids that could be looked up in pheno
    """
    return LabelError(
        f"The samples of {path} have no ids that could be looked up in {source}. Name the column that holds them "
        "with --id-column."
    )


def _folded(name: str) -> str:
    return name.strip().casefold().partition(".0")[0].lstrip("0").replace(" ", "").replace("_", "-")


@dataclass(slots=True)
class Labeller:
    """Gives every sample its class.

    Parameters
    ----------
    encoder
        Raw labels to classes.
    by_id
        Raw label by sample id, from a label file; None if the table holds the labels.
    source
        The label file, for messages.
    candidates
        Columns that could hold labels, for messages.
    in_order, n_seen
        Labels by position, for tables without sample ids, and how many have been used.
    ids_in
        Where ids were found in the label file, if not in its first column.
    unmatched, matched
        Samples of the table that the label file does not know, and those that it does.

    Examples
    --------
    >>> from bayesieve.io.classes import Encoder
    >>> from bayesieve.io.labelling import Labeller
    >>> labeller = Labeller(Encoder(), {"s1": "late", "s2": "early"}, "pheno.csv")
    >>> labeller.codes("a.csv", ["s2", "s9", "s1"], None, 3).tolist(), labeller.unmatched
    ([0, -1, 1], ['s9'])
    """

    encoder: Encoder
    by_id: Mapping[str, str | None] | None = None
    source: str = ""
    candidates: tuple[str, ...] = ()
    in_order: Sequence[str | None] | None = None
    n_seen: int = 0
    ids_in: str = ""
    unmatched: list[str] = field(default_factory=list)
    matched: set[str] = field(default_factory=set)

    def codes(
        self, path: str, ids: Sequence[str] | None, labels: Sequence[str | None] | None, n_samples: int
    ) -> IntArray:
        """Position of the class of each sample in ``encoder.classes``, -1 for those left out."""
        texts, known = self.texts(path, ids, labels, n_samples)
        if known is None:
            return self.encoder.encode(texts)
        codes = np.full(n_samples, -1, np.int64)
        codes[known] = self.encoder.encode([text for text, is_known in zip(texts, known, strict=True) if is_known])
        return codes

    def texts(
        self, path: str, ids: Sequence[str] | None, labels: Sequence[str | None] | None, n_samples: int
    ) -> tuple[Sequence[str | None], npt.NDArray[np.bool_] | None]:
        """Return what is written about each sample, and which samples the other file knows (None: no other file).

        Examples
        --------
        >>> from bayesieve.io.classes import Encoder
        >>> from bayesieve.io.labelling import Labeller
        >>> Labeller(Encoder(), {"s1": "Oslo"}, "sites.csv").texts("a.csv", ["s2", "s1"], None, 2)
        ([None, 'Oslo'], array([False,  True]))
        """
        if self.in_order is not None:
            labels = self.in_order[self.n_seen : self.n_seen + n_samples]
            self.n_seen += n_samples
            if len(labels) != n_samples:
                self._wrong_number(path, f"more than {len(self.in_order):,}")
            return labels, None
        if self.by_id is None:
            if labels is None:
                hint = f" Columns with text: {listed(self.candidates)}." if self.candidates else ""
                raise LabelError(
                    f"Which class each sample of {path} belongs to was not said. Name a column of it (--labels "
                    f"COLUMN) or of a label file (--labels pheno.csv:COLUMN).{hint}"
                )
            return labels, None
        if ids is None:
            raise no_ids(path, self.source)
        by_id = self.by_id
        keys = [next((form for form in spellings(name) if form in by_id), None) for name in ids]
        self.unmatched += [name for name, key in zip(ids, keys, strict=True) if key is None]
        self.matched.update(key for key in keys if key is not None)
        known = np.array([key is not None for key in keys], dtype=bool)
        return [None if key is None else by_id[key] for key in keys], known

    def finish(self, path: str, left_out: Sequence[str] = ()) -> None:
        """Raise if labels are left over at the end of the table; warn if ids differ in their spelling only."""
        if self.by_id is not None:
            unknown = {_folded(name): name for name in (*self.unmatched, *left_out)}
            unused = {_folded(name): name for name in self.by_id if name not in self.matched}
            alike = [key for key in unknown if key in unused]
            if alike:
                warnings.warn(
                    f"{len(alike):,} samples of {path} are left out although {self.source} knows them by another "
                    f"spelling, for example {unknown[alike[0]]!r} and {unused[alike[0]]!r}. Write them alike.",
                    DataWarning,
                    stacklevel=2,
                )
        if self.in_order is not None and self.n_seen != len(self.in_order):
            self._wrong_number(path, f"{self.n_seen:,}")

    def _wrong_number(self, path: str, n_samples: str) -> None:
        assert self.in_order is not None
        raise LabelError(
            f"{path} has {n_samples} samples without ids, but {self.source} has {len(self.in_order):,} labels. "
            "Without ids, labels are taken in order, so there must be one for every sample."
        )

    def afresh(self) -> Labeller:
        """Return a labeller that has not counted anything yet.

        Examples
        --------
        >>> from bayesieve.io.classes import Encoder
        >>> from bayesieve.io.labelling import Labeller
        >>> Labeller(Encoder(), unmatched=["s1"]).afresh().unmatched
        []
        """
        return Labeller(Encoder(self.encoder.wanted), self.by_id, self.source, in_order=self.in_order)
