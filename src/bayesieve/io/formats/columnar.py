"""Parquet and Arrow IPC (Feather) tables, read by polars a few columns or a few rows at a time.

Pieces hold features in both orientations: samples in rows give batches of columns, samples in columns
give slices of rows.
"""

from __future__ import annotations

import glob
import json
import os
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from bayesieve.io.formats.crashes import look_at_columns, look_through_once
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
    exact_ids,
    features_per_chunk,
    id_text,
    label_text,
    take_samples,
    without_words,
)
from bayesieve.io.text.reader import encode_texts
from bayesieve.utils import FileError, IntArray, check_file, n_threads_for, wrap_read_errors

_PARQUET, _IPC, _STREAM = "Parquet", "Arrow IPC", "Arrow IPC stream"
_MAGIC = {b"PAR1": _PARQUET, b"ARROW1": _IPC, b"\xff\xff\xff\xff": _STREAM}
_READERS = {_PARQUET: "read_parquet", _IPC: "read_ipc", _STREAM: "read_ipc_stream"}
_MOST_CODED = 20
_PANDAS_INDEX = "__index_level_0__"


class ColumnarFile:
    """A file as polars sees it.

    Parameters
    ----------
    path
        The file; what it holds is told by its first bytes.

    Attributes
    ----------
    dtypes
        Types of all columns, by name.
    names, text
        All columns, and those that do not hold numbers.
    index
        Columns that were the index of a pandas frame: ids, even if they are numbers.
    n_rows
        Number of rows.
    """

    def __init__(self, path: str) -> None:
        files = _files_of(path)
        self.path, self.form = path, _form(files[0])
        for file in files:
            look_through_once(file, look_at_columns(_READERS[self.form]))
        with self._reading() as polars:
            if self.form == _PARQUET:
                self._lazy = polars.scan_parquet(files, glob=False)
            elif self.form == _IPC:
                self._lazy = polars.scan_ipc(glob.escape(path))
            else:
                self._lazy = polars.read_ipc_stream(path).lazy()
            self.dtypes: dict[str, Any] = dict(self._lazy.collect_schema())
            self.n_rows = int(self._lazy.select(polars.len()).collect().item()) if self.dtypes else 0
            named = self.form == _PARQUET and _names_pandas(files[0])
            index = _pandas_index(polars, files[0]) if named else []
        if self.n_rows == 0:
            raise FileError(
                f"{path} holds no values: {len(self.dtypes):,} columns and 0 rows. Check how it was made."
            )
        self.index = [name for name in dict.fromkeys([*index, _PANDAS_INDEX]) if name in self.dtypes]
        self.names = list(self.dtypes)
        kinds = {_kind(dtype): dtype for dtype in self.dtypes.values()}  # comparing types themselves takes long
        numbers = {kind for kind, dtype in kinds.items() if _is_number(dtype)}
        self.text = [name for name, dtype in self.dtypes.items() if _kind(dtype) not in numbers]
        self._texts, self._columns = frozenset(self.text), dict[str, list[Any]]()
        self._floats = all(str(kinds[kind]) == "Float64" for kind in numbers)
        self._places = {name: place for place, name in enumerate(self.names)}  # "^x$" would be a pattern

    def numeric(self, names: Sequence[str]) -> list[str]:
        """Return those columns that hold numbers or truth values."""
        return [name for name in names if name not in self._texts]

    def few_levels(self, names: Sequence[str]) -> list[str]:
        """Return those columns that hold texts, truth values or a few whole numbers; no numbers if many do."""
        coded = [name for name in names if self.dtypes[name].is_integer() or str(self.dtypes[name]) == "Boolean"]
        coded = coded if len(coded) <= _MOST_CODED else []
        return [*(name for name in names if name in self._texts), *coded]

    def texts(self, name: str) -> list[str]:
        """Return a column as texts, empty where it is missing."""
        return exact_ids(self.path, self.column(name))

    def column(self, name: str) -> list[Any]:
        """Return a column as Python objects."""
        if name not in self._columns:
            with self._reading():
                self._columns[name] = list(self._frame([name]).get_column(name).to_list())
        return self._columns[name]

    def declared(self, name: str | None) -> tuple[str, ...]:
        """Return all levels of a column in the order that its type declares (Enum); empty for other types."""
        dtype: Any = None if name is None else self.dtypes[name]
        ordered = type(dtype).__name__ == "Enum"
        return tuple(label_text(level) or "" for level in dtype.categories.to_list()) if ordered else ()

    def objects(self, names: Sequence[str]) -> list[list[Any]]:
        """Return several columns as Python objects."""
        with self._reading():
            return [list(column.to_list()) for column in self._frame(names).get_columns()]

    def floats(self, names: Sequence[str], part: slice | None = None) -> npt.NDArray[np.float64]:
        """Return numeric columns, named in the order of the file, or a range of their rows; NaN where missing.

        All rows come in Fortran order, a range of them in C order.
        """
        with self._reading() as polars:
            frame = self._frame(names, part)
            frame = frame if self._floats else frame.cast(polars.Float64)
            values: npt.NDArray[np.float64] = frame.to_numpy(order="fortran" if part is None else "c")
        return values

    def _frame(self, names: Sequence[str], part: slice | None = None) -> Any:
        import polars  # noqa: PLC0415 - slow to import

        part = slice(0, self.n_rows) if part is None else part
        length = part.stop - part.start
        chosen = self._lazy.select(polars.nth([self._places[name] for name in names]))
        frame = (chosen if length == self.n_rows else chosen.slice(part.start, length)).collect()
        if frame.shape != (length, len(names)):
            raise ValueError(f"{frame.height:,} rows where {length:,} were promised")
        return frame

    @contextmanager
    def _reading(self) -> Iterator[Any]:
        """Turn whatever polars raises about a file, panics included, into words."""
        import polars  # noqa: PLC0415 - slow to import

        with wrap_read_errors(self.path, self.form):
            yield polars


def _files_of(path: str) -> list[str]:
    """Return the files of a table, in the order of their names: one, or those of a folder."""
    if not os.path.isdir(path):
        return [path]
    return [os.path.join(path, name) for name in sorted(os.listdir(path)) if name.lower().endswith(SUFFIXES[:2])]


def _form(path: str) -> str:
    try:
        with check_file(path).open("rb") as stream:
            start = stream.read(8)
    except OSError as error:
        raise FileError(f"{path} cannot be read: {error.strerror or error}.") from error
    if start.startswith(b"FEA1"):
        raise FileError(
            f"{path} is a Feather file of version 1, which is no longer read. Convert it in Python: "
            f"import pyarrow.feather as f; f.write_feather(f.read_table({path!r}), 'new.feather')"
        )
    found = next((form for magic, form in _MAGIC.items() if start.startswith(magic)), None)
    if found is None:
        raise FileError(
            f"{path} is neither Parquet nor Arrow IPC (Feather): it begins with {start!r}. If it is text, let its "
            "name end in .csv or .tsv; otherwise fetch it again."
        )
    return found


def _names_pandas(path: str) -> bool:
    """Whether the end of a Parquet file, which tells of its columns, speaks of pandas at all."""
    with open(path, "rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(size - 8, 0))
        length = int.from_bytes(file.read(4), "little")
        file.seek(max(size - 8 - length, 0))
        return b"pandas" in file.read(length)


def _pandas_index(polars: Any, path: str) -> list[str]:
    """Names of columns that were the index of a pandas frame; such numbers are ids, not values."""
    if not hasattr(polars, "read_parquet_metadata"):  # an older polars
        return []
    try:
        columns = json.loads(polars.read_parquet_metadata(path).get("pandas", "{}")).get("index_columns", [])
    except (ValueError, AttributeError):
        return []
    return [name for name in columns if isinstance(name, str)]


def _kind(dtype: Any) -> type:
    """What a type is, without its parameters."""
    return dtype if isinstance(dtype, type) else type(dtype)


def _is_number(dtype: Any) -> bool:
    return bool(dtype.is_numeric()) or str(dtype) == "Boolean"


SUFFIXES = (".parquet", ".pq", ".arrow", ".feather", ".ipc", ".arrows")

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
