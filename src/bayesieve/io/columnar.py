"""Parquet and Arrow IPC (Feather) tables, read by polars a few columns or a few rows at a time.

Pieces hold features in both orientations: samples in rows give batches of columns, samples in columns
give slices of rows.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from bayesieve.errors import FileError, LabelError
from bayesieve.io.columnar_file import ColumnarFile
from bayesieve.io.cutting import cut, features_per_piece, take_samples, without_words
from bayesieve.io.roles import (
    ID_NAMES,
    check_distinct,
    check_ignored,
    matches,
    no_match,
    no_such_column,
    sample_orientation,
)
from bayesieve.io.table import FeaturePiece, FeatureTable, IntArray, ReadOptions
from bayesieve.io.texts import id_text, label_text

SUFFIXES = (".parquet", ".pq", ".arrow", ".feather", ".ipc", ".arrows")

_MOST_BYTES = 2**24  # of columns at a time; larger batches do not read faster


def open_columnar(path: str | os.PathLike[str], options: ReadOptions) -> FeatureTable:
    """Open a Parquet file or an Arrow IPC file (Feather version 2) or stream.

    Parameters
    ----------
    path
        The file; what it holds is told by its first bytes.
    options
        How to read it.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import numpy as np, polars as pl
    >>> from bayesieve.io.columnar import open_columnar
    >>> from bayesieve.io.table import ReadOptions
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "table.parquet"
    >>> pl.DataFrame({"id": ["a", "b"], "stage": [1, 2], "TP53": [0.5, None]}).write_parquet(path)
    >>> table = open_columnar(path, ReadOptions(labels="stage"))
    >>> table.sample_ids, table.labels
    (('a', 'b'), ['1', '2'])
    >>> [(piece.ids, piece.values.tolist()) for piece in table.pieces(np.arange(2))]
    [(['TP53'], [[0.5, nan]])]
    """
    file = ColumnarFile(os.fspath(path))
    check_ignored(file.path, options.ignore, file.names)
    if options.id_column is not None and options.id_column not in file.dtypes:
        raise no_such_column(file.path, options.id_column, file.names)
    known = options.known_ids is not None
    row_ids = {name: file.texts(name) for name in _may_be_ids(file, options)} if known else {}
    samples_in = sample_orientation(file.path, options, file.names, row_ids, file.text)
    return (_with_rows if samples_in == "rows" else _with_columns)(file, options, row_ids)


def read_all(path: str | os.PathLike[str]) -> dict[str, list[str | None]]:
    """Read a small file as texts by column, None where a cell is missing or empty.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import polars as pl
    >>> from bayesieve.io.columnar import read_all
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "labels.parquet"
    >>> pl.DataFrame({"id": ["a", "b"], "stage": [1, None]}).write_parquet(path)
    >>> read_all(path)
    {'id': ['a', 'b'], 'stage': ['1', None]}
    """
    file = ColumnarFile(os.fspath(path))
    return {name: [text or None for text in file.texts(name)] for name in file.names}


def _may_be_ids(file: ColumnarFile, options: ReadOptions) -> list[str]:
    if options.id_column is not None:
        return [options.id_column]
    return list(dict.fromkeys([*file.index, *file.text, file.names[0]]))


def _with_rows(file: ColumnarFile, options: ReadOptions, row_ids: dict[str, list[str]]) -> FeatureTable:
    label = options.labels if options.labels in file.dtypes else None
    if options.labels is not None and label is None and options.known_ids is None:
        raise no_such_column(file.path, options.labels, file.names, listing=file.text)
    key, ids = _sample_ids(file, options, label, row_ids)
    if ids is not None:
        check_distinct(file.path, ids, "sample")
    taken = {key, label, *options.ignore, *options.described}
    other = [name for name in file.names if name not in taken]
    features = [name for name in file.numeric(other) if name not in file.index]
    texts = [name for name in other if name not in file.index]
    categories = options.are_texts(len(texts) - len(features), len(features))
    features = texts if categories else features
    if not features:
        raise FileError(f"{file.path} has no column with numbers besides ids, labels and ignored columns.")
    words = options.missing_words
    return (_CategoriesInRows if categories else _SamplesInRows)(
        path=file.path,
        form=file.form,
        samples_in="rows",
        left_out=_left_out(file, [] if categories else other, options),
        sample_ids=None if ids is None else tuple(ids),
        n_samples=file.n_rows,
        labels=None if label is None else [label_text(value, words) for value in file.column(label)],
        file=file,
        options=options,
        features=features,
    )


def _sample_ids(
    file: ColumnarFile, options: ReadOptions, label: str | None, row_ids: dict[str, list[str]]
) -> tuple[str | None, list[str] | None]:
    if options.known_ids is not None:
        known = options.known_ids
        best = max(row_ids, key=lambda name: matches(known, row_ids[name]))
        if not matches(known, row_ids[best]):
            raise no_match(file.path, known, row_ids[best])
        return best, row_ids[best]
    if options.id_column is not None:
        return options.id_column, file.texts(options.id_column)
    apart = {label, *options.ignore, *options.described}
    for name in [*file.index, *file.text]:
        if name not in apart:
            ids = file.texts(name)
            if len(set(ids)) == len(ids):
                return name, ids
    first = file.names[0]
    if first not in apart and first.lower() in ID_NAMES:
        return first, file.texts(first)
    return None, None


def _with_columns(file: ColumnarFile, options: ReadOptions, row_ids: dict[str, list[str]]) -> FeatureTable:
    if options.labels is not None and options.known_ids is None:
        raise LabelError(
            f"{file.path} has its samples in columns, so it has no label column {options.labels!r}. Give the "
            "labels in a file of their own, with one line per sample."
        )
    key = options.id_column or _feature_column(file)
    ids = row_ids[key] if key in row_ids else file.texts(key)
    check_distinct(file.path, ids, "feature")
    taken = {key, *options.ignore}
    other = [name for name in file.names if name not in taken]
    samples = [name for name in file.numeric(other) if name not in file.index]
    if not samples:
        raise FileError(f"{file.path} has no column with numbers besides {key!r} and ignored columns.")
    if options.known_ids is not None and not matches(options.known_ids, samples):
        raise no_match(file.path, options.known_ids, samples)
    return _SamplesInColumns(
        path=file.path,
        form=file.form,
        samples_in="columns",
        left_out=_left_out(file, other, options),
        sample_ids=tuple(samples),
        n_samples=len(samples),
        file=file,
        options=options,
        feature_ids=ids,
    )


def _feature_column(file: ColumnarFile) -> str:
    """The index of a pandas frame (stored last), else the first column unless only a later one can hold ids."""
    first = file.names[0]
    if file.index:
        return file.index[0]
    return file.text[0] if file.text and file.dtypes[first].is_float() else first


def _left_out(file: ColumnarFile, other: Sequence[str], options: ReadOptions) -> dict[str, list[str]]:
    numeric = set(file.numeric(other))
    groups = {
        "ignored": [name for name in file.names if name in options.ignore],
        "not numeric": [name for name in other if name not in numeric],
        "index": [name for name in other if name in numeric and name in file.index],
    }
    return {reason: names for reason, names in groups.items() if names}


@dataclass(slots=True)
class _SamplesInRows(FeatureTable):
    file: ColumnarFile = field(kw_only=True)
    options: ReadOptions = field(kw_only=True)
    features: list[str] = field(kw_only=True)

    def pieces(self, samples: IntArray) -> Iterator[FeaturePiece]:
        size = features_per_piece(self.n_samples, self.options, _MOST_BYTES)
        for part in cut(len(self.features), size, self.options):
            names = self.features[part]
            values = self.file.floats(names).T
            yield FeaturePiece(names, without_words(take_samples(values, samples), self.options))


@dataclass(slots=True)
class _CategoriesInRows(_SamplesInRows):
    def pieces(self, samples: IntArray) -> Iterator[FeaturePiece]:
        from bayesieve.io.text_categories import encoded  # noqa: PLC0415 - most tables hold numbers

        size = features_per_piece(self.n_samples, self.options, _MOST_BYTES)
        for part in cut(len(self.features), size, self.options):
            names = self.features[part]
            columns = [list(map(id_text, column)) for column in self.file.objects(names)]
            values, levels = encoded(columns, self.options.missing_words)
            yield FeaturePiece(names, take_samples(values, samples), levels)


@dataclass(slots=True)
class _SamplesInColumns(FeatureTable):
    file: ColumnarFile = field(kw_only=True)
    options: ReadOptions = field(kw_only=True)
    feature_ids: list[str] = field(kw_only=True)

    def pieces(self, samples: IntArray) -> Iterator[FeaturePiece]:
        assert self.sample_ids is not None
        places, order = np.unique(samples, return_inverse=True)
        names = [self.sample_ids[place] for place in places]
        for part in cut(self.file.n_rows, features_per_piece(len(names), self.options), self.options):
            values = take_samples(self.file.floats(names, part), order)
            yield FeaturePiece(self.feature_ids[part], without_words(values, self.options))
