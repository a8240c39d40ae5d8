"""Parquet and Arrow IPC (Feather) files, looked into by polars a few columns at a time."""

from __future__ import annotations

import glob
import json
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import numpy.typing as npt

from bayesieve.io.formats.crashes import look_at_columns, look_through_once
from bayesieve.io.tables.table import (
    exact_ids,
    label_text,
)
from bayesieve.utils import FileError, check_file, wrap_read_errors

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
