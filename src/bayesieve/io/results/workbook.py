"""Result tables as Excel workbooks: for people to look at, sort and pass on."""

from __future__ import annotations

import importlib
import os
from collections.abc import Iterator, Mapping
from typing import IO, Any

import numpy as np

from bayesieve.utils import FileError, MissingExtraError

_MOST_ROWS, _MOST_COLUMNS, _LONGEST = 2**20 - 1, 2**14, 2**15 - 1
_SAFE = {"strings_to_formulas": False, "strings_to_urls": False, "strings_to_numbers": False}
_WIDE = ("feature", "degenerate_reason")


def not_read_back(path: str) -> FileError:
    """Say that a workbook is no store of results."""
    return FileError(
        f"{path} is a workbook, which keeps 15 digits of its numbers and is not read back. Screen again with "
        "--out ending in .csv or .parquet, or save the sheet as CSV if it is all there is."
    )


def check_writer(path: str | os.PathLike[str]) -> Any:
    """Return the package that writes workbooks, or say how to get it."""
    try:
        return importlib.import_module("xlsxwriter")
    except ImportError as error:
        raise MissingExtraError(
            f"Writing {os.fspath(path)} needs the package xlsxwriter: run python -m pip install "
            f'"bayesieve[excel]" ({error}). Or let its name end in .csv.'
        ) from error


def write_workbook(path: str, file: IO[bytes], columns: Mapping[str, Any], about: Mapping[str, Any]) -> None:
    """Write columns as the first sheet, and what is known of the run as the second; texts stay texts."""
    n_rows = max((len(column) for column in columns.values()), default=0)
    if n_rows > _MOST_ROWS or len(columns) > _MOST_COLUMNS:
        raise FileError(
            f"{path}: {n_rows:,} rows x {len(columns):,} columns do not fit a sheet of Excel, which has "
            f"{_MOST_ROWS + 1:,} x {_MOST_COLUMNS:,} cells. Let the name end in .csv or .parquet."
        )
    book = check_writer(path).Workbook(file, {"in_memory": True, **_SAFE})
    bold = book.add_format({"bold": True})
    sheet = book.add_worksheet("ranked")
    sheet.write_row(0, 0, [str(name) for name in columns], bold)
    for j, (name, column) in enumerate(columns.items()):
        sheet.write_column(1, j, _cells(column))
        sheet.set_column(j, j, 18 if name in _WIDE else max(10, min(24, len(str(name)) + 2)))
    sheet.freeze_panes(1, 2 if "feature" in columns else 1)
    if n_rows and columns:
        sheet.autofilter(0, 0, n_rows, len(columns) - 1)
    other = book.add_worksheet("about")
    for i, (key, value) in enumerate(_lines(about)):
        other.write_row(i, 0, [key[:_LONGEST], value[:_LONGEST]])
    other.set_column(0, 0, 32)
    book.close()


def _cells(column: Any) -> list[Any]:
    """Cells as Excel has them: empty where missing, infinities and long texts as text."""
    values = column.tolist() if isinstance(column, np.ndarray) else list(column)
    return [_cell(value) for value in values]


def _cell(value: Any) -> Any:
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    if isinstance(value, (int, float, np.number)):
        number = float(value)
        return None if np.isnan(number) else value if np.isfinite(number) else str(number)
    return None if value is None else str(value)[:_LONGEST]


def _lines(about: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, str]]:
    for key, value in about.items():
        name = f"{before}{key}"
        if isinstance(value, Mapping):
            yield from _lines(value, f"{name}.")
        else:
            yield name, "" if value is None else str(value)
