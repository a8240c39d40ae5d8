"""Samples: which are used, their class, block, pair and exposure, from the table itself or from another file."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from bayesieve.data import Label, is_sparse, match_pairs
from bayesieve.io.tables.classes import Encoder, natural_order
from bayesieve.io.tables.matching import IdMatch
from bayesieve.io.tables.roles import check_distinct, no_ids, together
from bayesieve.io.text.parsing import number
from bayesieve.utils import (
    DataError,
    DataWarning,
    FloatArray,
    IntArray,
    LabelError,
    SampleIds,
    Wording,
    list_names,
    option,
    warn,
)

_WHOLE = re.compile(r"[0-9]+(\.0+)?")


def spellings(name: str) -> tuple[str, ...]:
    """Return an id and the other way of writing the same whole number: programs turn 7 into 7.0."""
    if not _WHOLE.fullmatch(name):
        return (name,)
    return (name, name.partition(".")[0]) if "." in name else (name, f"{name}.0")


def _fold(name: str) -> str:
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
        Sentence about the columns that could hold labels, for messages.
    in_order, n_seen
        Labels by position, for tables without sample ids, and how many have been used.
    ids_in
        Where ids were found in the label file, if not in its first column.
    unmatched, matched
        Samples of the table that the label file does not know, and those that it does.
    match, by_match
        How ids that the two files write differently are brought together, and those for which that was done.
    """

    encoder: Encoder
    by_id: Mapping[str, str | None] | None = None
    source: str = ""
    candidates: str = ""
    in_order: Sequence[str | None] | None = None
    n_seen: int = 0
    ids_in: str = ""
    unmatched: list[str] = field(default_factory=list)
    matched: set[str] = field(default_factory=set)
    match: IdMatch | None = None
    by_match: dict[str, str] = field(default_factory=dict)

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
        """Return the label texts of the samples, and which samples the label file knows (None: no such file)."""
        if self.in_order is not None:
            labels = self.in_order[self.n_seen : self.n_seen + n_samples]
            self.n_seen += n_samples
            if len(labels) != n_samples:
                self._wrong_number(path, f"more than {len(self.in_order):,}")
            return labels, None
        if self.by_id is None:
            if labels is None:
                raise self.no_labels(path)
            return labels, None
        if ids is None:
            raise no_ids(path, self.source)
        by_id = self.by_id
        keys = [self._key(path, name, by_id) for name in ids]
        self.unmatched += [name for name, key in zip(ids, keys, strict=True) if key is None]
        self.matched.update(key for key in keys if key is not None)
        known = np.array([key is not None for key in keys], dtype=bool)
        return [None if key is None else by_id[key] for key in keys], known

    def _key(self, path: str, name: str, by_id: Mapping[str, str | None]) -> str | None:
        """Return the id of the label file: as it is written, or by the match of both files."""
        key = next((form for form in spellings(name) if form in by_id), None)
        if key is not None or self.match is None:
            return key
        key = self.match.key(name)
        if key is None or key not in by_id:
            return None
        if key in self.matched or key in self.by_match.values():
            raise self.match.clash(path, name, key, self.source)
        self.by_match[name] = key
        return key

    def no_labels(self, path: str) -> LabelError:
        """Ask for the column that holds the labels."""
        listing = f" {self.candidates}" if self.candidates else ""
        return LabelError(
            f"Which class each sample of {path} belongs to was not said.",
            hint=(
                "Name a column of it (",
                Wording("labels='COLUMN'", "--labels COLUMN"),
                ") or of a label file (",
                Wording("labels='pheno.csv:COLUMN'", "--labels pheno.csv:COLUMN"),
                f").{listing}",
            ),
        )

    def finish(self, path: str, left_out: Sequence[str] = ()) -> None:
        """Raise if labels are left over at the end of the table; warn if ids differ in their spelling only."""
        if self.by_id is not None:
            unknown = {_fold(name): name for name in (*self.unmatched, *left_out)}
            unused = {_fold(name): name for name in self.by_id if name not in self.matched}
            alike = [key for key in unknown if key in unused]
            if alike:
                warn(
                    DataWarning,
                    f"{len(alike):,} samples of {path} are left out although {self.source} knows them by another "
                    "spelling",
                    SampleIds((f"{unknown[alike[0]]!r} and {unused[alike[0]]!r}",), ", for example "),
                    ". Write them alike.",
                    kind="spelling",
                )
        if self.in_order is not None and self.n_seen != len(self.in_order):
            self._wrong_number(path, f"{self.n_seen:,}")

    def _wrong_number(self, path: str, n_samples: str) -> None:
        assert self.in_order is not None
        raise LabelError(
            f"{path} has {n_samples} samples without ids, but {self.source} has {len(self.in_order):,} labels. "
            "Without ids, labels are taken in order, so there must be one for every sample."
        )

    def restart(self) -> Labeller:
        """Return a labeller that has not counted anything yet."""
        encoder = Encoder(self.encoder.wanted, self.encoder.declared)
        return Labeller(encoder, self.by_id, self.source, in_order=self.in_order, match=self.match)


_MOST_BLOCKS = 1000


@dataclass(frozen=True, slots=True, eq=False)
class SampleRoles:
    """Which samples of a table (or of a part of it) are used, and as what.

    Parameters
    ----------
    rows, names
        Their positions and ids (none if the table has none). Pairs: all samples of the first class, then
        their partners in the same order.
    cells, units
        Cell and name of every sample, or of every pair. A cell is a class, or a class and a block; see
        :meth:`Samples.cells`.
    exposures
        Of the samples, or None.
    paired
        Whether values are to be turned into differences.
    said
        What columns say of the samples, by role.
    """

    rows: IntArray
    names: Sequence[str]
    cells: IntArray
    units: Sequence[str]
    exposures: FloatArray | None = None
    paired: bool = False
    said: Mapping[str, Sequence[str]] = field(default_factory=dict)

    def name(self, i: int) -> str:
        """Return how messages name the ``i``-th sample."""
        return repr(self.names[i]) if self.names else f"number {i + 1}"

    def differences(self, values: Any) -> Any:
        """Return the values of the samples, or the differences within the pairs: second class minus first."""
        if not self.paired:
            return values
        values, half = values.astype(np.float64), self.cells.size
        values = values.tocsr() if is_sparse(values) else values
        return values[half:] - values[:half]


@dataclass(slots=True)
class Samples:
    """Gives samples, as they come, their class and whatever else is said of them.

    Parameters
    ----------
    labeller
        Who gives them their class.
    extras
        Who gives them their block, pair and exposure, by role; a sample without one of them is left out.
    names
        How the user named these columns, by role.
    totals
        Exposures in the order of the samples used, where they were computed from the values.
    groups
        The groups that samples were put together to, of the last reading.
    """

    labeller: Labeller
    extras: dict[str, Labeller] = field(default_factory=dict)
    names: dict[str, str] = field(default_factory=dict)
    totals: FloatArray | None = None
    n_used: int = 0
    lacking: dict[str, int] = field(default_factory=dict)
    block_names: list[str] = field(default_factory=list)
    incomplete: list[str] = field(default_factory=list)
    exposures: list[float] = field(default_factory=list)
    groups: Any = None
    _cells: dict[tuple[int, int], int] = field(default_factory=dict)

    @property
    def paired(self) -> bool:
        """Whether samples come in pairs."""
        return "pairs" in self.extras

    def roles(
        self, path: str, ids: Sequence[str] | None, columns: Mapping[str, Sequence[str | None]], n_samples: int
    ) -> SampleRoles:
        """Choose, of the next samples of the table, those that have everything, or the pairs that are complete."""
        return self.chosen(path, ids, *self.said(path, ids, columns, n_samples))

    def said(
        self, path: str, ids: Sequence[str] | None, columns: Mapping[str, Sequence[str | None]], n_samples: int
    ) -> tuple[IntArray, dict[str, Sequence[str | None]]]:
        """Return the class of the next samples, -1 where one lacks something, and what else is said of them."""
        codes = self.labeller.codes(path, ids, columns.get("labels"), n_samples)
        texts: dict[str, Sequence[str | None]] = {}
        for role, labeller in self.extras.items():
            texts[role], _ = labeller.texts(path, ids, columns.get(role), n_samples)
            absent = np.array([text is None for text in texts[role]], dtype=bool) & (codes >= 0)
            self.lacking[role] = self.lacking.get(role, 0) + int(absent.sum())
            codes = np.where(absent, -1, codes)
        return codes, texts

    def chosen(
        self, path: str, ids: Sequence[str] | None, codes: IntArray, texts: Mapping[str, Sequence[str | None]]
    ) -> SampleRoles:
        """Choose those of some samples (or of all groups of samples) that are used."""
        exposures = self._exposures(path, ids, texts.get("exposures"), codes)
        cells = codes if "blocks" not in texts else self._in_cells(path, together(texts, "blocks"), codes)
        if "pairs" in texts:
            return self._in_pairs(path, ids, texts["pairs"], codes, cells)
        rows = np.flatnonzero(cells >= 0)
        names = [ids[i] for i in rows.tolist()] if ids else []
        said = {role: [str(column[i]) for i in rows.tolist()] for role, column in texts.items()}
        exposures = None if exposures is None else exposures[rows]
        return SampleRoles(rows, names, cells[rows], names, exposures, said=said)

    def _in_pairs(
        self, path: str, ids: Sequence[str] | None, pairs: Sequence[str | None], codes: IntArray, cells: IntArray
    ) -> SampleRoles:
        order = self.labeller.encoder.order()
        if len(order) != 2:
            raise LabelError(
                f"Pairs compare two classes, but {path} has {len(order)}: {list_names(order)}.",
                hint=("Pick two with ", option("classes"), "."),
            )
        position = np.array([*(order.index(label) for label in self.labeller.encoder.classes), -1])
        names = [str(pair) for pair in pairs]
        try:
            both, self.incomplete = match_pairs(
                names, position[codes], order, lambda i: repr(ids[i]) if ids else f"number {i + 1}"
            )
        except LabelError as error:
            text = (f"{path}, {self.names['pairs']!r}: ", *error.message.text)
            raise LabelError(*text, hint=error.message.hint, kind=error.message.kind) from None
        halves = np.array(list(both.values()), np.int64).T
        samples = [ids[i] for i in halves.ravel().tolist()] if ids else []
        check_distinct(path, samples, "sample")
        blocks = self._blocks_of_pairs(path, both, cells)
        return SampleRoles(halves.ravel(), samples, blocks, list(both), paired=True)

    def _blocks_of_pairs(self, path: str, pairs: Mapping[str, tuple[int, int]], cells: IntArray) -> IntArray:
        """Block of every pair, 0 without blocks."""
        if "blocks" not in self.extras:
            return np.zeros(len(pairs), np.int64)
        block_of_cell = np.array([block for block, _ in self._cells], np.int64)
        first, second = (block_of_cell[cells[[rows[k] for rows in pairs.values()]]] for k in (0, 1))
        apart = [pair for pair, differ in zip(pairs, first != second, strict=True) if differ]
        if apart:
            raise LabelError(
                f"{path}: {len(apart):,} of {len(pairs):,} pairs are spread over two blocks of "
                f"{self.names['blocks']!r}",
                SampleIds(tuple(map(repr, apart)), ": "),
                ". Differences within a pair are free of its block only if both samples are in it.",
                hint=("Correct the blocks, or leave ", option("blocks"), " out."),
            )
        return first

    def _in_cells(self, path: str, blocks: Sequence[str | None], codes: IntArray) -> IntArray:
        places = {name: k for k, name in enumerate(self.block_names)}
        cells = np.full(codes.size, -1, np.int64)
        for i in np.flatnonzero(codes >= 0).tolist():
            block = places.setdefault(str(blocks[i]), len(places))
            cells[i] = self._cells.setdefault((block, int(codes[i])), len(self._cells))
        self.block_names = list(places)
        if len(places) > _MOST_BLOCKS:
            raise LabelError(
                f"{path}: {self.names['blocks']!r} takes more than {_MOST_BLOCKS:,} different values, for example "
                f"{self.block_names[0]!r} and {self.block_names[-1]!r}: they look like measurements or ids, not "
                "blocks. Choose another column."
            )
        return cells

    def _exposures(
        self, path: str, ids: Sequence[str] | None, texts: Sequence[str | None] | None, codes: IntArray
    ) -> FloatArray | None:
        kept = np.flatnonzero(codes >= 0)
        exposures = np.ones(codes.size)
        if self.totals is not None:
            exposures[kept] = self.totals[self.n_used : self.n_used + kept.size]
            self.n_used += kept.size
            return exposures
        if texts is None:
            return None
        for i in kept.tolist():
            exposures[i] = number(str(texts[i]))
            if not 0 < exposures[i] < math.inf:
                who = repr(ids[i]) if ids else f"number {i + 1}"
                raise DataError(
                    f"{path}: the exposure of sample {who} in {self.names['exposures']!r} is {texts[i]!r}. An "
                    "exposure is a positive number.",
                    hint="Correct it, or leave the cell empty to leave the sample out.",
                )
        self.exposures += exposures[kept].tolist()
        return exposures

    def cells(self, *, complete: bool = False) -> list[Label]:
        """Return the labels of the cells: classes, or (block, class); ``complete``: also those never met."""
        classes = self.labeller.encoder.classes
        if self.paired:
            label = self.order()[0]
            return [(name, label) for name in self.block_names] if "blocks" in self.extras else [label]
        if "blocks" not in self.extras:
            return list(classes)
        if complete:
            for block in range(len(self.block_names)):
                for k in range(len(classes)):
                    self._cells.setdefault((block, k), len(self._cells))
        return [(self.block_names[block], classes[k]) for block, k in self._cells]

    def blocks(self) -> list[str]:
        """Return the names of the blocks, sorted; none without blocks."""
        return natural_order(self.block_names)

    def order(self) -> list[Label]:
        """Return the classes in their final order; for pairs the one class of their differences."""
        order = self.labeller.encoder.order()
        return [f"{order[1]} - {order[0]}"] if self.paired else list(order)

    def classes_of(self, cells: IntArray, order: Sequence[Label]) -> IntArray:
        """Return the class of each cell, as a position in the final order of the classes."""
        labels = self.cells()
        if "blocks" in self.extras:
            labels = [label[1] for label in labels if isinstance(label, tuple)]
        return np.array([order.index(label) for label in labels], np.int64)[cells]

    def check_order(self, path: str, cells: IntArray) -> list[Label]:
        """Return the classes in their final order; raise if one of them, or all, have no samples."""
        order = self.order()
        if not cells.size:
            raise LabelError(
                f"{path}: no sample is left, because none has a usable label"
                f"{''.join(f' and a value of {name!r}' for name in self.names.values())}. Check the label column."
            )
        counts = np.bincount(self.classes_of(cells, order), minlength=len(order))
        for name, count in zip(order, counts.tolist(), strict=True):
            if not count:
                raise LabelError(f"{path}: class {name!r} has no samples. Check the classes and the label column.")
        return order

    def finish(self, path: str, left_out: Sequence[str]) -> None:
        """Raise if labels are left over at the end of the table; see :meth:`Labeller.finish`."""
        self.labeller.finish(path, left_out)
        for labeller in self.extras.values():
            labeller.finish(path)

    def restart(self) -> Samples:
        """Return the same for another reading of the table."""
        extras = {role: labeller.restart() for role, labeller in self.extras.items()}
        return Samples(self.labeller.restart(), extras, self.names, self.totals)
