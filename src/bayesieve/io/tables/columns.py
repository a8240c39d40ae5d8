"""Small tables beside the big one: labels, feature annotations, a hyper-parameter per feature."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path

from bayesieve.io.tables.places import WORKBOOKS, split_sheet
from bayesieve.io.tables.roles import check_distinct
from bayesieve.io.text.files import TextBytes, plain_suffix
from bayesieve.io.text.footers import count_remarks
from bayesieve.io.text.parsing import COMMA
from bayesieve.io.text.sniffing import named_delimiter, sniff
from bayesieve.utils import FileError, OptionError, Wording, did_you_mean, list_names, option, separating_colons

_LAST = 60  # rows among which remarks are looked for
_BLOCK = 2**22
_SUFFIXES = {".parquet", ".pq"}
_TABLES = {".csv", ".tsv", ".txt", *_SUFFIXES}


@dataclass(frozen=True, slots=True)
class Columns:
    """A small table of texts.

    Parameters
    ----------
    path
        The file.
    columns
        Texts by column, in the order of the file; None where a cell is empty.
    declared
        All levels of the columns that declare an order of them.
    """

    path: str
    columns: dict[str, list[str | None]]
    declared: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def names(self) -> list[str]:
        """Names of the columns."""
        return list(self.columns)

    def column(self, name: str) -> list[str | None]:
        """Return one column, or say which there are."""
        if name not in self.columns:
            shown = ", ".join(self.names[:8]) + (", ..." if len(self.names) > 8 else "")
            raise FileError(
                f"{self.path} has no column {name!r}.{did_you_mean(name, self.names)} Its columns are: {shown}."
            )
        return self.columns[name]

    def id_column(self, ids: Iterable[str], named: str | None = None) -> tuple[str, int]:
        """Return the column that knows most of these ids, and how many it knows."""
        wanted = set(ids)
        names = self.names if named is None else [named]
        known = {name: len(wanted.intersection(self.column(name))) for name in names}
        most = max(known.values())
        best = [name for name in names if known[name] == most]
        best = [name for name in best if name.casefold() not in ("", "unnamed: 0", "index")] or best
        if most and any(self.columns[name] != self.columns[best[0]] for name in best):
            raise FileError(
                f"{self.path}: the columns {list_names(best)} know the same number of ids, but not in the same "
                "order.",
                hint=("Say which one holds them: ", Wording("id_column='NAME'", "--id-column NAME"), "."),
            )
        return best[0], most

    def by_key(self, key: str, name: str) -> dict[str, str | None]:
        """Return one column as a mapping from the ids in another."""
        ids = [text for text in self.column(key) if text is not None]
        check_distinct(self.path, ids, f"ids in column {key!r}")
        pairs = zip(self.column(key), self.column(name), strict=True)
        return {text: value for text, value in pairs if text is not None}


def split_reference(reference: str) -> tuple[str, str | None]:
    """Split ``file.csv:column`` into its two parts; the column may be left out, and its name may hold colons.

    The second part of ``book.xlsx:sheet:column`` is ``sheet:column``.
    """
    if Path(reference).exists():
        return reference, None
    book, rest = split_sheet(reference)
    if rest is not None:
        return book, rest
    parts: list[tuple[str, str | None]] = [
        (reference[:k], reference[k + 1 :]) for k in separating_colons(reference)
    ]
    there = [part for part in parts if Path(part[0]).is_file()]
    named = [part for part in parts if plain_suffix(part[0]) in _TABLES]
    return (there or named or parts[-1:] or [(reference, None)])[0]


_HELD: ContextVar[dict[tuple[str, str | None], Columns] | None] = ContextVar("held_references", default=None)


def is_reference(text: str) -> bool:
    """Tell whether a text names a file (with or without a column) rather than a column alone."""
    path = split_reference(text)[0]
    return Path(path).exists() or plain_suffix(path) in {*_TABLES, *WORKBOOKS}


def read_reference(reference: str, *, encoding: str | None = None) -> tuple[Columns, str | None]:
    r"""Read the small table that ``FILE:COLUMN`` names; return it and the column, if one is named."""
    path, column = split_reference(reference)
    if _is_workbook(path):
        return _from_workbook(path, column)
    held = _HELD.get()
    if held is None:
        return read_columns(path, encoding=encoding), column
    if (path, encoding) not in held:
        held[path, encoding] = read_columns(path, encoding=encoding)
    return held[path, encoding], column


@contextmanager
def held_references() -> Iterator[None]:
    """Read every file that is referred to once only for a while: labels, ids and other columns are in the same."""
    token = _HELD.set({})
    try:
        yield
    finally:
        _HELD.reset(token)


def read_columns(
    path: str | os.PathLike[str], *, encoding: str | None = None, delimiter: str | None = None
) -> Columns:
    r"""Read a small table: delimited text, compressed or not, or Parquet."""
    if plain_suffix(path) in _SUFFIXES:
        return _from_parquet(os.fspath(path))
    book, sheet = split_sheet(path)
    if _is_workbook(book):
        return _from_workbook(book, None if sheet is None else f"{sheet}:")[0]
    with TextBytes(path, encoding) as stream:
        data = b"".join(iter(lambda: stream.read(_BLOCK), b""))
        name = stream.name
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        raise FileError(
            f"{name} is not UTF-8 text.",
            hint=("Name its encoding, for example ", option("encoding", "latin-1"), "."),
        ) from None
    return _from_text(name, text, plain_suffix(path), named_delimiter(delimiter))


def _from_text(name: str, text: str, suffix: str, delimiter: str | None) -> Columns:
    lines = text.split("\n")
    head = [line.rstrip("\r") for line in lines[:50]]
    form = sniff(name, head, suffix, delimiter, ".")
    body = "\n".join(lines[form.skipped :])
    return Columns(name, _table(name, form.names, body, form.delimiter, form.skipped))


def _is_workbook(path: str) -> bool:
    if plain_suffix(path) not in WORKBOOKS:
        return False
    from bayesieve.io.formats.workbook import is_workbook  # noqa: PLC0415 - rarely wanted

    return is_workbook(path)


def _from_workbook(path: str, rest: str | None) -> tuple[Columns, str | None]:
    from bayesieve.io.formats.workbook import sheet_text  # noqa: PLC0415 - rarely wanted

    sheet, content, column = sheet_text(path, rest)
    return _from_text(f"{path}:{sheet}", content.decode(), ".tsv", "\t"), column


def _table(
    name: str, names: Sequence[str], body: str, delimiter: str, skipped: int
) -> dict[str, list[str | None]]:
    check_distinct(name, names, "column names")
    rows: list[list[str]] = []
    lines: list[int] = []
    apart: list[bool] = []
    reader = csv.reader(io.StringIO(body, newline=""), delimiter=delimiter)
    blank = False
    try:
        for row in reader:
            if not "".join(row).strip():
                blank = True
                continue
            rows.append(row)
            lines.append(reader.line_num)
            apart.append(blank)
            blank = False
    except csv.Error as error:
        raise FileError(f"{name}, line {skipped + reader.line_num}: {error}.") from None
    n_remarks = count_remarks(rows[-_LAST:], apart[-_LAST:], len(names), ended=body.endswith("\n"))
    del rows[len(rows) - n_remarks :]
    odd = next((k for k, row in enumerate(rows) if len(row) != len(names)), None)
    if odd is not None:
        raise FileError(
            f"{name}, line {skipped + lines[odd]}: {len(rows[odd])} fields where the header has {len(names)}.",
            hint=(
                f"Quote fields that hold the delimiter {delimiter!r}, or name another one with ",
                option("delimiter"),
                "; delete remarks below the table.",
            ),
        )
    columns = zip(*rows, strict=True) if rows else ((),) * len(names)
    return {key: [text.strip() or None for text in column] for key, column in zip(names, columns, strict=True)}


def _from_parquet(path: str) -> Columns:
    from bayesieve.io.formats.columnar import read_all  # noqa: PLC0415 - imports polars

    return Columns(path, *read_all(path))


def numbers_by_feature(
    reference: str, feature_ids: Sequence[str], what: str, *, encoding: str | None = None
) -> list[float]:
    r"""Read one number per feature from ``file.csv:column``, matched by feature id."""
    table, column = read_reference(reference, encoding=encoding)
    path = table.path
    key, known = table.id_column(feature_ids)
    if not known:
        raise FileError(
            f"{path} names none of the features: it has ids like {_first(table.column(table.names[0]))!r}, the "
            f"table has {feature_ids[0]!r}. Use the same ids in both."
        )
    column = column or _other(table, key)
    values = table.by_key(key, column)
    absent = [name for name in feature_ids if values.get(name) is None]
    if absent:
        raise FileError(
            f"{path} gives no {column!r} for {len(absent):,} of {len(feature_ids):,} features, for example "
            f"{', '.join(map(repr, absent[:3]))}; {what} is needed for every feature. Add them."
        )
    return [_number(path, column, name, values[name]) for name in feature_ids]


def _other(table: Columns, key: str) -> str:
    others = [name for name in table.names if name != key]
    if len(others) != 1:
        shown = ", ".join(others[:8])
        raise OptionError(f"Say which column of {table.path} is meant: {table.path}:COLUMN. There are: {shown}.")
    return others[0]


def _number(path: str, column: str, feature: str, text: str | None) -> float:
    plain = (text or "").replace(",", ".") if COMMA.fullmatch(text or "") else text or ""
    try:
        return float(plain)
    except ValueError:
        raise FileError(f"{path}: {column!r} of feature {feature!r} is {text!r}, which is no number.") from None


def _first(texts: Sequence[str | None]) -> str:
    return next((text for text in texts if text), "")
