"""Sheets of Excel and OpenDocument workbooks, read by calamine through polars and handed on as text."""

from __future__ import annotations

import functools
import logging
import os
import re
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesieve.io.formats.crashes import look_through_once
from bayesieve.io.tables.places import split_sheet
from bayesieve.io.tables.table import MISSING_WORDS, FeatureTable, ReadOptions, SampleTable
from bayesieve.io.text.footers import Footers
from bayesieve.io.text.foreign import OLE, ZIP, is_old_workbook, zip_kind
from bayesieve.io.text.reader import Source, as_table, head_lines
from bayesieve.io.text.sniffing import sniff
from bayesieve.utils import (
    FileError,
    MissingExtraError,
    OptionError,
    check_archive,
    check_file,
    did_you_mean,
    plural,
    wrap_read_errors,
)

if TYPE_CHECKING:
    import polars as pl

_LOOK_THROUGH = """
import sys, fastexcel

book = fastexcel.read_excel(sys.argv[1])
for name in book.sheet_names:
    book.load_sheet(name, header_row=None)
"""
_LOGS = ("fastexcel", "_fastexcel", "calamine")
_HEAD = 30  # rows that are looked at to tell headers from values
_MOST_LISTED = 8
_LOOK = 2**18
_HEAD_BYTES, _MOST_CELLS = 4096, 2**28
_DIMENSION = re.compile(rb'<dimension ref="[A-Z]+[0-9]+:([A-Z]{1,3})([0-9]{1,7})"')
_EXACT = 2.0**53
_COPY = re.compile(r"(.*)_\d+", re.DOTALL)
_MIDNIGHT = r"^(\d{4}-\d\d-\d\d)[T ]00:00:00(?:\.0+)?$"

Cells = list[str | None]


def is_workbook(path: str | os.PathLike[str]) -> bool:
    """Tell by its bytes whether a file is a workbook; text that is called .xls is none."""
    name = os.fspath(path)
    with wrap_read_errors(name, "a file"), check_file(path).open("rb") as stream:
        start = stream.read(_LOOK)
        rest = stream.read() if start.startswith(OLE) else b""
    if start.startswith(ZIP):
        return zip_kind(name) == "workbook"
    if start.startswith(OLE) and "EncryptedPackage".encode("utf-16-le") in start + rest:
        raise FileError(f"{name} is protected by a password. Save it without one, or save the sheet as CSV.")
    return is_old_workbook(start + rest)


@dataclass(frozen=True, slots=True)
class _Sheet:
    """A sheet as it looks from above.

    Parameters
    ----------
    name
        Of the sheet.
    rows
        Its first rows as texts.
    n_rows, n_columns
        Its size.
    visible
        Whether it is shown.
    """

    name: str
    rows: list[Cells]
    n_rows: int
    n_columns: int
    visible: bool = True

    @property
    def begin(self) -> int:
        """Row of the header: the first that is at least half full; titles and remarks above it are not."""
        width = sum(any(row[j] is not None for row in self.rows) for j in range(self.n_columns))
        full = (k for k, row in enumerate(self.rows) if sum(c is not None for c in row) >= max(2, width / 2))
        return next(full, 0)

    @property
    def header(self) -> Cells:
        """Names of the columns."""
        return self.rows[self.begin] if self.rows else []

    @property
    def numeric(self) -> list[int]:
        """Columns that hold numbers below the header."""
        below = self.rows[self.begin + 1 :]
        return [j for j in range(self.n_columns) if _mostly_numbers([row[j] for row in below])]

    @property
    def first_values(self) -> int:
        """The first row that is not a header, a row of units or a row of labels."""
        numeric, begin = self.numeric, self.begin
        texts = [sum(_is_text(row[j]) for j in numeric) for row in self.rows]
        above = (k for k, n in enumerate(texts) if k > begin and n > len(numeric) / 2)
        return max(above, default=begin) + 1

    @property
    def has_rows(self) -> bool:
        """Whether it could be a table of anything."""
        return self.n_rows > 1 and self.n_columns > 1

    @property
    def is_table(self) -> bool:
        """Whether it could be a table of values."""
        return self.n_rows > 2 and len(self.numeric) >= min(2, self.n_columns - 1) > 0

    def __str__(self) -> str:
        return f"{self.name!r} ({plural(self.n_rows, 'row')} x {plural(self.n_columns, 'column')})"


class Workbook:
    """A workbook.

    Parameters
    ----------
    path
        The file.

    Attributes
    ----------
    names
        Names of its sheets.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        _check_size(path)
        if path.lower().endswith((".xlsb", ".xls")):  # records of bytes, whose lengths are believed
            look_through_once(path, _LOOK_THROUGH)
        with _reading(path) as fastexcel:
            self._reader: Any = fastexcel.read_excel(path)
            self.names = [str(name) for name in self._reader.sheet_names]
        if not self.names:
            raise FileError(f"{path} has no sheet with cells. Save the table as a sheet of its own.")

    def sheet(self, name: str) -> str:
        """Return the name of a sheet as the workbook spells it; raise if it has none of that name."""
        folded = {known.strip().casefold(): known for known in self.names}
        found = name if name in self.names else folded.get(name.strip().casefold())
        if found is None:
            raise OptionError(
                f"{self.path} has no sheet {name!r}.{did_you_mean(name, self.names)} It has: "
                f"{self._list(self.names)}."
            )
        return found

    def choose(self, column: str | None = None, what: str = "{}:SHEET", *, numbers: bool = True) -> str:
        """Return the only sheet that looks like a table (of numbers), or that has the column; else ask."""
        if len(self.names) == 1:
            return self.names[0]
        seen = [self.look(name) for name in self.names]
        having = [sheet for sheet in seen if column is not None and column in sheet.header]
        tables = having or [sheet for sheet in seen if (sheet.is_table if numbers else sheet.has_rows)]
        tables = [sheet for sheet in tables if sheet.visible] or tables
        if len(tables) == 1:
            return tables[0].name
        shown = ", ".join(map(str, (tables or seen)[:_MOST_LISTED]))
        which = "several sheets that could be the table" if tables else "no sheet that looks like a table"
        raise OptionError(f"{self.path} has {which}: {shown}. Say which one: {what.format(self.path)}.")

    def look(self, name: str) -> _Sheet:
        """Look at the first rows of a sheet."""
        with _reading(self.path):
            sheet = self._reader.load_sheet(name, header_row=None, skip_rows=0, n_rows=_HEAD, dtypes="string")
            rows = [[_clean(cell) for cell in row] for row in sheet.to_polars().rows()]
            shown = getattr(sheet, "visible", "visible") == "visible"
            return _Sheet(name, rows, int(sheet.total_height), int(sheet.width), shown)

    def text(self, name: str, decimal: str = ".") -> tuple[bytes, int]:
        """Return a sheet as text with tabs between its cells, and the row its header stands in."""
        plain = self._plain_text(name, decimal)
        if plain is not None:
            return plain, 1
        seen = self.look(name)
        if not seen.rows or not seen.header:
            raise FileError(f"{self.path}, sheet {name!r} is empty. Name another sheet: {self._list(self.names)}.")
        begin, first = seen.begin, seen.first_values
        with _reading(self.path):
            body = self._values(name, first, decimal)
            head = _frame(seen.rows[begin:first], body.width)
            nulls = zip(body.columns, head.null_count().row(0), body.null_count().row(0), strict=True)
            filled = [c for c, above, below in nulls if above < head.height or below < body.height]
            above = b"\n" * begin  # so that messages count lines as the sheet does
            return above + _write(head[filled], decimal) + _write(body[filled], decimal), begin + 1

    def _plain_text(self, name: str, decimal: str) -> bytes | None:
        """Return a sheet as text from one reading, if it has a header in its first row and columns of one kind."""
        with _reading(self.path):
            sheet = self._reader.load_sheet(name, header_row=0, schema_sample_rows=None)
            body = sheet.to_polars()
            known = [(str(each.name), each.column_name_from) for each in sheet.selected_columns]
        names = [text for text, _ in known]
        twice = _COPY.fullmatch  # the reader writes name_1 for a name that is there before
        if (
            body.height == 0
            or any(source != "looked_up" for _, source in known)
            or any((found := twice(text)) and found[1] in names for text in names)
            or _mixed(body)
        ):
            return None
        head = _frame([[_clean(text) for text in names]], len(names))
        with _reading(self.path):
            return _write(head, decimal) + _write(_plain(body), decimal)

    def _values(self, name: str, first: int, decimal: str) -> pl.DataFrame:
        """Rows from the first one with values; numbers are exact, also among texts."""

        def load(dtypes: dict[int, str] | None = None) -> pl.DataFrame:
            sheet = self._reader.load_sheet(
                name, header_row=None, skip_rows=first, schema_sample_rows=None, dtypes=dtypes
            )
            frame: pl.DataFrame = sheet.to_polars()
            return frame.rename({old: f"c{j}" for j, old in enumerate(frame.columns)})

        body = load()
        mixed = _mixed(body)
        if mixed:  # calamine writes numbers among texts with nine decimals
            exact = load(dict.fromkeys(mixed, "float"))
            body = body.with_columns(_exact(body[f"c{j}"], exact[f"c{j}"], decimal) for j in mixed)
        return _plain(body)

    def _list(self, names: Sequence[str]) -> str:
        more = ", ..." if len(names) > _MOST_LISTED else ""
        return ", ".join(map(repr, names[:_MOST_LISTED])) + more


def _check_size(path: str) -> None:
    """Raise if a sheet says that it stretches so far that its cells would not fit into memory."""
    if not zipfile.is_zipfile(path):
        return
    with wrap_read_errors(path, "an Excel workbook"), zipfile.ZipFile(path) as archive:
        check_archive(path, archive, "save the sheet as CSV")
        if any(part.endswith(".bin") for part in archive.namelist()):  # damaged records can end the process
            damaged = archive.testzip()
            if damaged is not None:
                raise FileError(
                    f"{path} is damaged: the checksum of its part {damaged} does not match. Copy it again."
                )
        for part in archive.namelist():
            if not (part.startswith("xl/worksheets/") and part.endswith(".xml")):
                continue
            with archive.open(part) as stream:
                found = _DIMENSION.search(stream.read(_HEAD_BYTES))
            if found is None:
                continue
            width = functools.reduce(lambda n, letter: 26 * n + letter - 64, found[1], 0)
            if width * int(found[2]) > _MOST_CELLS:
                last = (found[1] + found[2]).decode()
                raise FileError(
                    f"{path}: a sheet stretches to cell {last}, {width:,} columns by {int(found[2]):,} rows; a "
                    "cell far from the table is filled. Delete the rows and columns beyond the table, or save the "
                    "sheet as CSV."
                )


def _mixed(body: pl.DataFrame) -> list[int]:
    """Columns of texts, some of which are numbers."""
    import polars as pl  # noqa: PLC0415 - slow to import

    texts = [j for j, dtype in enumerate(body.dtypes) if dtype == pl.String]
    return [j for j in texts if body.to_series(j).cast(pl.Float64, strict=False).is_not_null().any()]


def _exact(texts: pl.Series, numbers: pl.Series, decimal: str) -> pl.Series:
    """Put the exact number where its text was rounded."""
    import polars as pl  # noqa: PLC0415 - slow to import

    rounded = numbers.is_not_null() & (texts.cast(pl.Float64, strict=False) != numbers).fill_null(False)
    written = numbers.cast(pl.String)
    written = written.str.replace(".", ",", literal=True) if decimal == "," else written
    return pl.select(pl.when(rounded).then(written).otherwise(texts).alias(texts.name)).to_series()


def _plain(body: pl.DataFrame) -> pl.DataFrame:
    """Whole numbers without a point, dates without midnight, no empty rows."""
    import polars as pl  # noqa: PLC0415 - slow to import

    nulls = body.null_count().row(0) if body.width else ()
    filled = [body.to_series(j) for j, n in enumerate(nulls) if n < body.height]
    numbers = [column for column in filled if column.dtype.is_float()]
    values = pl.DataFrame(numbers).to_numpy() if numbers else np.empty((0, 0))
    whole = (np.isnan(values) | ((values == np.round(values)) & (np.abs(values) < _EXACT))).all(axis=0)
    changed = [column.cast(pl.Int64) for column, is_whole in zip(numbers, whole.tolist(), strict=True) if is_whole]
    for column in filled:
        if column.dtype.is_temporal():
            changed.append(column.cast(pl.String).str.replace(_MIDNIGHT, "$1"))
        elif column.dtype == pl.String:
            changed.append(column.str.strip_chars().str.replace(_MIDNIGHT, "$1"))
    body = body.with_columns(changed)
    return body.filter(pl.any_horizontal(pl.all().is_not_null())) if body.width else body


def _frame(rows: list[Cells], width: int) -> pl.DataFrame:
    import polars as pl  # noqa: PLC0415 - slow to import

    filled = [[*row, *([None] * (width - len(row)))] for row in rows]
    return pl.DataFrame([pl.Series(f"c{j}", [row[j] for row in filled], pl.String) for j in range(width)])


def _write(frame: pl.DataFrame, decimal: str) -> bytes:
    text = frame.write_csv(include_header=False, separator="\t", decimal_comma=decimal == ",")
    return text.encode()


def _clean(cell: Any) -> str | None:
    text = None if cell is None else str(cell).strip()
    return (text.removesuffix(" 00:00:00") if text.endswith(" 00:00:00") else text) if text else None


def _is_text(cell: str | None) -> bool:
    if cell is None or cell in MISSING_WORDS:
        return False
    try:
        float(cell.replace(",", "."))
    except ValueError:
        return True
    return False


def _mostly_numbers(cells: Cells) -> bool:
    filled = [cell for cell in cells if cell is not None and cell not in MISSING_WORDS]
    return bool(filled) and sum(not _is_text(cell) for cell in filled) > len(filled) / 2


@contextmanager
def _reading(path: str) -> Iterator[Any]:
    """Turn whatever the reader raises into words; what it logs about odd columns is no news."""
    try:
        import fastexcel  # noqa: PLC0415 - an extra
        import polars  # noqa: F401, PLC0415 - slow to import
    except ImportError as error:
        raise MissingExtraError(
            f"{path} is a workbook, and reading it needs the package fastexcel: run python -m pip install "
            f'"bayesieve[excel]" ({error}). Or save the sheet as CSV.'
        ) from error
    logs = [logging.getLogger(name) for name in _LOGS]
    levels = [log.level for log in logs]
    for log in logs:
        log.setLevel(logging.CRITICAL)
    try:
        with wrap_read_errors(
            path,
            "an Excel workbook" if not path.lower().endswith(".ods") else "an OpenDocument workbook",
            "save it anew, or save the sheet as CSV",
        ):
            yield fastexcel
    finally:
        for log, level in zip(logs, levels, strict=True):
            log.setLevel(level)


def open_workbook(path: str | os.PathLike[str], options: ReadOptions) -> SampleTable | FeatureTable:
    """Open a sheet of a workbook: the one that is named, or the only one that looks like a table."""
    file, wanted = split_sheet(path)
    book = Workbook(file)
    name = book.choose(options.labels) if wanted is None else book.sheet(wanted)
    decimal = options.decimal or "."  # numbers of a workbook are numbers, whatever mark they are shown with
    content, row = book.text(name, decimal)
    plain = replace(options, encoding=None, delimiter=None, decimal=decimal)
    form = sniff(file, head_lines(file, plain, content=content), ".tsv", "\t", decimal)
    kind = "OpenDocument" if file.lower().endswith(".ods") else "Excel"
    where = f", from row {row}" if row > 1 else ""
    footers = Footers(file, form.delimiter, len(form.names))
    source = Source(file, form, plain, content=content, footers=footers)
    return as_table(source, f"{kind}, sheet {name!r}{where}")


def sheet_text(path: str, rest: str | None) -> tuple[str, bytes, str | None]:
    """Return the sheet that ``SHEET``, ``COLUMN`` or ``SHEET:COLUMN`` means, its text, and the column if any.

    One name is a column; if no sheet has such a column, it is a sheet.
    """
    book = Workbook(path)
    before, colon, after = (rest or "").partition(":")
    if rest is None:
        sheet, column = book.choose(what="{}:SHEET:COLUMN", numbers=False), None
    elif colon and (before in book.names or not after):
        sheet, column = book.sheet(before), after or None
    elif rest in book.names and not any(rest in book.look(name).header for name in book.names):
        sheet, column = rest, None
    else:
        sheet, column = book.choose(rest, f"{{}}:SHEET:{rest}", numbers=False), rest
    return sheet, book.text(sheet)[0], column
