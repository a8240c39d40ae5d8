"""Tidy tables of moments in files: CSV, Parquet or a workbook that a database or Spark wrote."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

from bayesieve.io.tables.columns import read_columns
from bayesieve.io.text.files import TextBytes, plain_suffix
from bayesieve.stats import MOMENT_KEYS, MOMENT_NUMBERS, StatisticsSet, column_places, tidy_statistics
from bayesieve.utils import BayesieveError

_TEXT = (".csv", ".tsv", ".txt")
_PARQUET = (".parquet", ".pq")
_HEAD = 4096
_FOOTER = 2**17  # bytes; a table of few columns has a short one
_SEALED = b'"bayesieve-statistics"'


def is_moment_table(path: str | os.PathLike[str]) -> bool:
    """Tell from the names of its columns whether a file is a table of moments."""
    with contextlib.suppress(BayesieveError, OSError, ValueError, TypeError):
        suffix = plain_suffix(path)
        if not Path(path).is_file() or suffix not in (*_TEXT, *_PARQUET):
            return False
        names = _header(path) if suffix in _TEXT else _schema(path) if _may_be(path) else []
        return column_places(names) is not None
    return False


def read_moment_table(path: str | os.PathLike[str]) -> StatisticsSet:
    """Read a table of moments; without a column of sites it is that of one site, the file's name."""
    name = os.fspath(path)
    columns = read_columns(name).columns
    return tidy_statistics(columns, name=name, site=Path(name).name.split(".")[0])


def _header(path: str | os.PathLike[str]) -> list[str]:
    with TextBytes(path, None) as stream:
        line = stream.read(_HEAD).decode("utf-8", "replace").lstrip("\ufeff").partition("\n")[0]
    delimiter = max(",;\t|", key=line.count)
    return [name.strip().strip("\"'") for name in line.strip().split(delimiter)]


def _may_be(path: str | os.PathLike[str]) -> bool:
    """Look for the names in the footer of a Parquet file, before polars sees bytes that may be damaged."""
    with open(path, "rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(size - 8, 0))
        length, magic = int.from_bytes(file.read(4), "little"), file.read(4)
        if magic != b"PAR1" or length > min(_FOOTER, size - 12):
            return False
        file.seek(size - 8 - length)
        footer = file.read(length)
    folded = footer.lower()
    return _SEALED not in footer and all(
        name.encode() in folded for name in (*MOMENT_KEYS, *MOMENT_NUMBERS[:2], "_squares")
    )


def _schema(path: str | os.PathLike[str]) -> list[str]:
    from bayesieve.io.formats.columnar_file import ColumnarFile  # noqa: PLC0415 - imports polars

    return ColumnarFile(os.fspath(path)).names
