"""Parquet and Arrow IPC (Feather) tables, read by polars a few columns or a few rows at a time.

Pieces hold features in both orientations: samples in rows give batches of columns, samples in columns
give slices of rows.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from bayesieve.io.formats.columnar_file import ColumnarFile
from bayesieve.io.tables.roles import (
    ID_NAMES,
    asks_for_labels,
    check_distinct,
    check_features,
    check_ignored,
    count_levels,
    matches,
    no_match,
    no_sample_column,
    no_such_column,
    sample_orientation,
)
from bayesieve.io.tables.table import (
    FeatureChunk,
    FeatureTable,
    ReadOptions,
    cut,
    features_per_chunk,
    id_text,
    label_text,
    take_samples,
    without_words,
)
from bayesieve.io.text.reader import encode_texts
from bayesieve.utils import FileError, IntArray, n_threads_for

_MOST_BYTES = 2**24  # of columns at a time; larger batches do not read faster


def open_columnar(path: str | os.PathLike[str], options: ReadOptions) -> FeatureTable:
    """Open a Parquet file or an Arrow IPC file (Feather version 2) or stream."""
    file = ColumnarFile(os.fspath(path))
    check_ignored(file.path, options.ignore, file.names)
    if options.id_column is not None and options.id_column not in file.dtypes:
        raise no_such_column(file.path, options.id_column, file.names)
    known = options.known_ids is not None
    row_ids = {name: file.texts(name) for name in _may_be_ids(file, options)} if known else {}
    samples_in = sample_orientation(file.path, options, file.names, row_ids, file.text)
    return (_with_rows if samples_in == "rows" else _with_columns)(file, options, row_ids)


def read_all(path: str | os.PathLike[str]) -> tuple[dict[str, list[str | None]], dict[str, tuple[str, ...]]]:
    """Read a small file as texts by column, None where a cell is missing or empty; and declared levels."""
    file = ColumnarFile(os.fspath(path))
    texts = {name: [text or None for text in file.texts(name)] for name in file.names}
    return texts, {name: levels for name in file.names if (levels := file.declared(name))}


def _may_be_ids(file: ColumnarFile, options: ReadOptions) -> list[str]:
    if options.id_column is not None:
        return [options.id_column]
    return list(dict.fromkeys([*file.index, *file.text, file.names[0]]))


def _with_rows(file: ColumnarFile, options: ReadOptions, row_ids: dict[str, list[str]]) -> FeatureTable:
    columns = options.columns
    for name in columns.values():
        if name not in file.dtypes:
            raise no_such_column(file.path, name, file.names, listing=file.text)
    key, ids = _sample_ids(file, options, row_ids)
    if ids is not None:
        check_distinct(file.path, ids, "sample")
    taken = {key, *columns.values(), *options.ignore}
    other = [name for name in file.names if name not in taken]
    features = [name for name in file.numeric(other) if name not in file.index]
    texts = [name for name in other if name not in file.index]
    categories = options.are_texts(len(texts) - len(features), len(features))
    features = texts if categories else features
    if not features:
        raise FileError(
            f"{file.path} has no column with numbers besides ids, labels and ignored columns.", kind="no-numbers"
        )
    words = options.missing_words
    could_be = [name for name in other if name not in file.index] if asks_for_labels(options) else []
    return (_CategoriesInRows if categories else _SamplesInRows)(
        path=file.path,
        form=file.form,
        samples_in="rows",
        left_out=_left_out(file, [] if categories else other, options),
        sample_ids=None if ids is None else tuple(ids),
        n_samples=file.n_rows,
        columns={
            role: [label_text(value, words) for value in file.column(name)] for role, name in columns.items()
        },
        file=file,
        options=options,
        features=features,
        candidates={name: count_levels(file.column(name), words) for name in file.few_levels(could_be)},
        declared=file.declared(columns.get("labels")),
    )


def _sample_ids(
    file: ColumnarFile, options: ReadOptions, row_ids: dict[str, list[str]]
) -> tuple[str | None, list[str] | None]:
    if options.known_ids is not None:
        known = options.known_ids
        best = max(row_ids, key=lambda name: matches(known, row_ids[name]))
        if not matches(known, row_ids[best]):
            raise no_match(file.path, known, row_ids[best])
        return best, row_ids[best]
    if options.id_column is not None:
        return options.id_column, file.texts(options.id_column)
    apart = {*options.columns.values(), *options.ignore}
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
    for role, name in options.columns.items():
        raise no_sample_column(file.path, role, name)
    key = options.id_column or _feature_column(file)
    ids = row_ids[key] if key in row_ids else file.texts(key)
    check_features(file.path, ids, options)
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

    def chunks(self, samples: IntArray) -> Iterator[FeatureChunk]:
        size = features_per_chunk(self.n_samples, self.options, _MOST_BYTES)
        batches = [self.features[lo : lo + size] for lo in range(0, len(self.features), size)]
        parts = cut(len(self.features), size, self.options)
        for part, values in zip(parts, self._ahead(batches), strict=True):
            names = self.features[part]
            yield FeatureChunk(names, without_words(take_samples(values.T, samples), self.options))

    def _ahead(self, batches: list[list[str]]) -> Iterator[npt.NDArray[np.float64]]:
        """Read batches of columns, the next ones while others are summed: most of the time goes into decoding."""
        threads = n_threads_for(self.options.n_threads, self.n_samples * len(self.features))
        if threads == 1 or len(batches) == 1:
            yield from map(self.file.floats, batches)
            return
        with ThreadPoolExecutor(min(threads, 4)) as pool:
            waiting: deque[Future[npt.NDArray[np.float64]]] = deque()
            for batch in batches:
                waiting.append(pool.submit(self.file.floats, batch))
                if len(waiting) > min(threads, 4):
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()


@dataclass(slots=True)
class _CategoriesInRows(_SamplesInRows):
    def chunks(self, samples: IntArray) -> Iterator[FeatureChunk]:
        size = features_per_chunk(self.n_samples, self.options, _MOST_BYTES)
        for part in cut(len(self.features), size, self.options):
            names = self.features[part]
            columns = [list(map(id_text, column)) for column in self.file.objects(names)]
            values, levels = encode_texts(columns, self.options.missing_words)
            yield FeatureChunk(names, take_samples(values, samples), levels)


@dataclass(slots=True)
class _SamplesInColumns(FeatureTable):
    file: ColumnarFile = field(kw_only=True)
    options: ReadOptions = field(kw_only=True)
    feature_ids: list[str] = field(kw_only=True)

    def chunks(self, samples: IntArray) -> Iterator[FeatureChunk]:
        assert self.sample_ids is not None
        places, order = np.unique(samples, return_inverse=True)
        names = [self.sample_ids[place] for place in places]
        for part in cut(self.file.n_rows, features_per_chunk(len(names), self.options), self.options):
            values = take_samples(self.file.floats(names, part), order)
            yield FeatureChunk(self.feature_ids[part], without_words(values, self.options))
