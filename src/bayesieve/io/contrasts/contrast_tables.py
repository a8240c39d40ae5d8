"""Contrasts of one table: read once, checked before the first is computed, and summed one after the other."""

from __future__ import annotations

import contextlib
import os
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np

from bayesieve.data import check_treatment, named_columns
from bayesieve.io.contrasts.contrast_file import Contrast
from bayesieve.io.contrasts.described import Described
from bayesieve.io.contrasts.held_table import HeldFeatures, HeldSamples, hold
from bayesieve.io.tables.chunks import Chunks
from bayesieve.io.tables.classes import ClassMap, Encoder
from bayesieve.io.tables.columns import Columns, read_reference
from bayesieve.io.tables.duplicates import DUPLICATES, averaged
from bayesieve.io.tables.memory import bytes_kept, bytes_stated
from bayesieve.io.tables.metadata import Metadata, find_metadata
from bayesieve.io.tables.read_table import (
    TOTAL,
    category_mode,
    moments_or_model,
    open_samples,
)
from bayesieve.io.tables.samples import Labeller, Samples
from bayesieve.io.tables.summary import Summary, summarise
from bayesieve.io.tables.table import FeatureTable, Progress, ReadOptions, SampleTable
from bayesieve.models import Model
from bayesieve.utils import (
    BayesieveError,
    DataError,
    DataWarning,
    FileError,
    Message,
    OptionError,
    SampleIds,
    Wording,
    check_choice,
    check_missing,
    free_memory,
    plural,
)

_ROLE = "contrasts "  # and the name of a column


@dataclass(slots=True)
class ContrastTables:
    """A table that was read once for several contrasts; iterate over it, or ask for one summary.

    Parameters
    ----------
    contrasts
        What is compared, checked.
    path, samples
        The table, and the file that describes its samples (None: the table itself does).
    """

    contrasts: tuple[Contrast, ...]
    path: str
    samples: str | None
    options: ReadOptions
    model: Model | None
    transform: str
    missing: str
    extras: dict[str, str]
    keep: tuple[str, ...]
    sheet: tuple[str, ...]
    bytes_kept: int
    by_total: bool = False
    normalise: str = "none"
    table: HeldSamples | HeldFeatures = field(init=False)
    described: Described = field(init=False)
    about: Metadata = field(init=False)
    _labellers: dict[str, Labeller] = field(init=False)
    _texts: dict[str, list[str | None]] = field(init=False)
    _first: tuple[Contrast, Summary] | None = field(init=False, default=None)
    _notes: list[Message] = field(init=False, default_factory=list)

    @classmethod
    def read(  # noqa: PLR0913 - every option of the command line
        cls,
        path: str | os.PathLike[str],
        contrasts: Sequence[Contrast],
        samples: str | os.PathLike[str] | None = None,
        *,
        model: Model | None = None,
        blocks: str | None = None,
        pairs: str | None = None,
        exposures: str | None = None,
        normalise: str = "none",
        transform: str = "none",
        missing: str = "raise",
        duplicates: str = "number",
        keep: Sequence[str] = (),
        memory: int | str | None = None,
        n_threads: int | None = None,
        progress: Progress | None = None,
        keep_values: bool = True,
        **reading: Any,
    ) -> Self:
        """Check the contrasts, open the table and read it; see :func:`bayesieve.read_table` for the options."""
        check_treatment(normalise, transform)
        check_missing(missing)
        check_choice("duplicates", duplicates, DUPLICATES)
        if not contrasts:
            raise OptionError("There are no contrasts. Give one at least.")
        sheet = None if samples is None else os.fspath(samples)
        file = None if sheet is None else read_sheet(sheet, reading.get("encoding"))
        if file is not None:
            Described(file.path, file.columns).check_columns(contrasts)
        if blocks is not None:
            several = named_columns(blocks) or ()
            contrasts = [replace(each, blocking=(*several, *each.blocking)) for each in contrasts]
        model = moments_or_model(model, normalise, paired=pairs is not None, exposed=exposures is not None)
        for name in ("ignore", "na_values"):
            reading[name] = tuple(reading.get(name) or ())
        options = ReadOptions(
            missing_words=reading.pop("na_values"), memory=bytes_stated(memory) or free_memory() // 2,
            n_threads=n_threads,
            progress=progress, categories=category_mode(model, transform), duplicates=duplicates, **reading,
        )  # fmt: skip
        by_total = exposures == TOTAL
        named = {"pairs": pairs, "exposures": None if by_total else exposures}
        columns = () if file is None else tuple(file.names)
        extras = {
            role: f"{sheet}:{name}" if name in columns else name
            for role, name in named.items()
            if name is not None
        }
        found = cls(
            tuple(contrasts), os.fspath(path), sheet, options, model, transform, missing, extras, tuple(keep),
            columns, bytes_kept(keep_values, memory is not None, options.memory), by_total, normalise,
        )  # fmt: skip
        found._open(options)
        try:
            found._find_metadata([] if file is None else [file])
        except BaseException:
            found.close()
            raise
        return found

    def __iter__(self) -> Iterator[tuple[Contrast, Summary]]:
        return ((contrast, self.summary(contrast)) for contrast in self.contrasts)

    def close(self) -> None:
        """Close the file."""
        self.table.close()

    @property
    def id_column(self) -> str:
        """Name of the column of feature ids, ``feature_id`` if the table has none."""
        table: Any = self.table.table
        table = getattr(table, "table", table)  # averaged
        layout = getattr(table, "layout", None)
        if isinstance(table, FeatureTable) and layout is not None and layout.ids is not None:
            return str(table.source.form.names[layout.ids]) or "feature_id"  # type: ignore[attr-defined]
        return str(getattr(table, "id_name", "")) or "feature_id"

    def summary(self, contrast: Contrast) -> Summary:
        """Return the statistics of a contrast; as :func:`bayesieve.read_table` would, without reading anew."""
        if self._first is not None and contrast == self._first[0]:
            (_, first), self._first = self._first, None
            return first
        summary = self._summarise(contrast)
        if self.about.certain:
            self.about.tell(summary.chunks.table)
        return summary

    def _summarise(self, contrast: Contrast) -> Summary:
        wanted = ClassMap(contrast.levels, {level: level for level in contrast.levels})
        whose = self._labellers[contrast.variable]
        labeller = Labeller(
            Encoder(wanted), in_order=self.described.labels(contrast), unmatched=list(whose.unmatched),
            by_match=dict(whose.by_match), ids_in=whose.ids_in,
        )  # fmt: skip
        extras = {role: Labeller(Encoder(), in_order=self._texts[role]) for role in self.extras}
        names = dict(self.extras)
        if contrast.blocking:
            extras["blocks"] = Labeller(Encoder(), in_order=self.described.blocks(contrast))
            names["blocks"] = " x ".join(contrast.blocking)
        table = replace(self.table, notes=[*self.table.notes, *self._notes], left_out=dict(self.table.left_out))
        n_excluded = self.described.n_excluded(contrast)
        if n_excluded:
            text = f"{plural(n_excluded, 'sample')} left out by {contrast.exclude_column!r}."
            table.notes.append(Message.of(text, kind="excluded"))
        summary = summarise(
            Chunks(table, self.transform, self.options.memory, "pairs" in extras, normalise=self.normalise),
            Samples(labeller, extras, names), missing=self.missing, n_threads=self.options.n_threads,
            model=self.model, by_total=self.by_total, keep=self.bytes_kept, duplicates=self.options.duplicates,
        )  # fmt: skip
        labeller.encoder.n_unlabelled -= n_excluded + len(whose.unmatched)  # said otherwise
        return summary

    def _open(self, options: ReadOptions) -> None:
        """Open the table, find out who its samples are, check the contrasts and hold the values."""
        columns = list(dict.fromkeys(name for each in self.contrasts for name in each.columns))
        named = {name: f"{self.samples}:{name}" if name in self.sheet else name for name in columns}
        first = self.contrasts[0].variable
        extras = {f"{_ROLE}{name!r}": text for name, text in named.items() if name != first} | self.extras
        try:
            table, labeller, found = open_samples(
                self.path, replace(options, labels=named[first]), Encoder(), extras
            )
        except BayesieveError as error:
            if self.samples is not None:
                raise
            sheet = Wording("samples='samplesheet.csv'", "--labels samplesheet.csv")
            hint = (
                *error.message.hint,
                "If a sample sheet has the columns of the contrasts, name it: ",
                sheet,
                ".",
            )
            raise type(error)(*error.message.text, hint=hint, kind=error.message.kind) from None
        try:
            self._labellers = {name: found.get(f"{_ROLE}{name!r}", labeller) for name in columns}
            texts = _texts(table, {**found, "labels": labeller})
            self._texts = texts
            of_column = {name: texts["labels" if name == first else f"{_ROLE}{name!r}"] for name in columns}
            self.described = Described(labeller.source or self.path, of_column)
            self.contrasts = self.described.check(self.contrasts)
            wanted = {(each.variable, level) for each in self.contrasts for level in each.levels}
            used = [k for k in range(len(texts["labels"])) if any((n, of_column[n][k]) in wanted for n in columns)]
            if options.duplicates == "mean":
                table = averaged(table, self.model)
            self._notes = _notes(labeller)
            self.table = hold(table, np.array(used, np.int64), options.memory // 2)
        except BaseException:
            table.close()
            raise

    def _find_metadata(self, files: list[Columns]) -> None:
        """Leave out columns that describe the samples, as :func:`bayesieve.read_table` does."""
        self.about = Metadata()
        first = self._first_summary()
        if first is None:
            return
        self.about = find_metadata(first[1], self.keep, files)
        if self.about.certain:
            self.close()
            ignore = (*self.options.ignore, *self.about.names)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", DataWarning)  # all was said at the first reading
                self._open(replace(self.options, ignore=ignore))
                first = first[0], self._summarise(first[0])
            self.about.tell(first[1].chunks.table)
        self.about.doubt(self.path)
        self._first = first

    def _first_summary(self) -> tuple[Contrast, Summary] | None:
        """Return the first contrast whose values can be used; the others say why not when they are asked for."""
        for contrast in self.contrasts:
            with contextlib.suppress(DataError):
                return contrast, self._summarise(contrast)
        return None


def read_sheet(reference: str, encoding: str | None = None) -> Columns:
    """Read the file that describes the samples; it is named without a column."""
    file, column = read_reference(reference, encoding=encoding)
    if column is not None and not column.endswith(":"):
        raise OptionError(
            f"{reference}: the contrasts name the columns.",
            hint=("Give the file alone: ", Wording(f"samples={file.path!r}", f"--labels {file.path}"), "."),
        )
    if len(file.names) < 2:
        raise FileError(f"{file.path} has one column only; ids and what describes the samples are two at least.")
    return file


def _texts(table: SampleTable | FeatureTable, labellers: dict[str, Labeller]) -> dict[str, list[str | None]]:
    """Return what is said of every sample of the table, in order, by role."""
    found: dict[str, list[str | None]] = {role: [] for role in labellers}
    if isinstance(table, FeatureTable):
        parts: list[Any] = [(table.sample_ids, table.columns, table.n_samples)]
    else:
        chunks = table.chunks(slice(0, 1))
        parts = [(chunk.ids, chunk.columns, int(chunk.values.shape[0])) for chunk in chunks]
    for ids, columns, n_samples in parts:
        for role, labeller in labellers.items():
            found[role] += labeller.texts(table.path, ids, columns.get(role), n_samples)[0]
    return found


def _notes(labeller: Labeller) -> list[Message]:
    """Say which ids of the sheet are not in the table, and how others were matched."""
    absent = tuple(name for name in labeller.by_id or {} if name not in labeller.matched)
    notes = []
    if absent:
        are = "is" if len(absent) == 1 else "are"
        text = f"{plural(len(absent), 'id')} of {labeller.source} {are} not in the table"
        notes.append(Message.of(text, SampleIds(absent, " ("), SampleIds((")",)), ".", kind="labels"))
    if labeller.match is not None and labeller.by_match:
        notes.append(labeller.match.describe(labeller.by_match, labeller.source))
    return notes
