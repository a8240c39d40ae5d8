"""A Parquet or Arrow IPC file: its columns, their types, and any part of the values."""

from __future__ import annotations

import glob
import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import numpy.typing as npt

from bayesieve.errors import FileError
from bayesieve.io.damage import reading
from bayesieve.io.text.opening import check_file
from bayesieve.io.texts import id_text

_PARQUET, _IPC, _STREAM = "Parquet", "Arrow IPC", "Arrow IPC stream"
_MAGIC = {b"PAR1": _PARQUET, b"ARROW1": _IPC, b"\xff\xff\xff\xff": _STREAM}
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

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import polars as pl
    >>> from bayesieve.io.columnar_file import ColumnarFile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "table.parquet"
    >>> pl.DataFrame({"id": ["a", "b"], "x": [1, 2]}).write_parquet(path)
    >>> file = ColumnarFile(str(path))
    >>> file.names, file.text, file.n_rows, file.floats(["x"]).tolist()
    (['id', 'x'], ['id'], 2, [[1.0], [2.0]])
    """

    def __init__(self, path: str) -> None:
        self.path, self.form = path, _form(path)
        with self._reading() as polars:
            if self.form == _PARQUET:
                self._lazy = polars.scan_parquet(path, glob=False)
            elif self.form == _IPC:
                self._lazy = polars.scan_ipc(glob.escape(path))
            else:
                self._lazy = polars.read_ipc_stream(path).lazy()
            self.dtypes: dict[str, Any] = dict(self._lazy.collect_schema())
            self.n_rows = int(self._lazy.select(polars.len()).collect().item()) if self.dtypes else 0
            index = _pandas_index(polars, path) if self.form == _PARQUET else []
        if self.n_rows == 0:
            raise FileError(
                f"{path} holds no values: {len(self.dtypes):,} columns and 0 rows. Check how it was made."
            )
        self.index = [name for name in dict.fromkeys([*index, _PANDAS_INDEX]) if name in self.dtypes]
        self.names = list(self.dtypes)
        self.text = [name for name, dtype in self.dtypes.items() if not _is_number(dtype)]

    def numeric(self, names: Sequence[str]) -> list[str]:
        """Return those columns that hold numbers or truth values."""
        return [name for name in names if _is_number(self.dtypes[name])]

    def texts(self, name: str) -> list[str]:
        """Return a column as texts, empty where it is missing."""
        return [id_text(value) for value in self.column(name)]

    def column(self, name: str) -> list[Any]:
        """Return a column as Python objects."""
        with self._reading():
            return list(self._frame([name]).get_column(name).to_list())

    def objects(self, names: Sequence[str]) -> list[list[Any]]:
        """Return several columns as Python objects."""
        with self._reading():
            return [list(column.to_list()) for column in self._frame(names).get_columns()]

    def floats(self, names: Sequence[str], part: slice | None = None) -> npt.NDArray[np.float64]:
        """Return numeric columns, named in the order of the file, or a range of their rows; NaN where missing.

        All rows come in Fortran order, a range of them in C order.
        """
        with self._reading() as polars:
            frame = self._frame(names, part).cast(polars.Float64)
            values: npt.NDArray[np.float64] = frame.to_numpy(order="fortran" if part is None else "c")
        return values

    def _frame(self, names: Sequence[str], part: slice | None = None) -> Any:
        import polars  # noqa: PLC0415 - slow to import

        part = slice(0, self.n_rows) if part is None else part
        length = part.stop - part.start
        places = {name: place for place, name in enumerate(self.names)}  # a name like "^x$" would be a pattern
        chosen = self._lazy.select(polars.nth(*(places[name] for name in names)))
        frame = (chosen if length == self.n_rows else chosen.slice(part.start, length)).collect()
        if frame.shape != (length, len(names)):
            raise ValueError(f"{frame.height:,} rows where {length:,} were promised")
        return frame

    @contextmanager
    def _reading(self) -> Iterator[Any]:
        """Turn whatever polars raises about a file, panics included, into words."""
        import polars  # noqa: PLC0415 - slow to import

        with reading(self.path, self.form):
            yield polars


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


def _pandas_index(polars: Any, path: str) -> list[str]:
    """Names of columns that were the index of a pandas frame; such numbers are ids, not values."""
    if not hasattr(polars, "read_parquet_metadata"):  # an older polars
        return []
    try:
        columns = json.loads(polars.read_parquet_metadata(path).get("pandas", "{}")).get("index_columns", [])
    except (ValueError, AttributeError):
        return []
    return [name for name in columns if isinstance(name, str)]


def _is_number(dtype: Any) -> bool:
    return bool(dtype.is_numeric()) or str(dtype) == "Boolean"
