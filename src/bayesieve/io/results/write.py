"""The ranked table of a screen as a file: CSV, TSV, Parquet or JSON."""

from __future__ import annotations

import csv
import io
import json
import math
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Any

import numpy as np

from bayesieve.errors import OptionError
from bayesieve.utils import FloatArray, IntArray, replacing

Columns = Mapping[str, Any]
Part = Callable[[IntArray], Columns]
About = Mapping[str, Any]
_CHUNK = 2**15  # rows
_FEW = 10_000  # rows that are written before polars could be imported
_ENDINGS = (".csv", ".tsv", ".txt", ".parquet", ".json")


def check_ending(path: str | os.PathLike[str]) -> str:
    """Return the ending of an output file, or say which are known."""
    ending = Path(path).suffix.lower()
    if ending not in _ENDINGS:
        raise OptionError(
            f"Cannot tell the format of {os.fspath(path)} by its ending {ending!r}. Use {', '.join(_ENDINGS)}."
        )
    return ending


def write_results(
    path: str | os.PathLike[str],
    columns: Columns | Part,
    about: Callable[[], About],
    order: IntArray | None = None,
) -> None:
    r"""Write a table atomically, in the format its ending says.

    Parameters
    ----------
    path
        The file.
    columns
        Arrays or lists of equal length by name, or a function that makes them for some rows: a table
        of a million rows then is never held whole (as text).
    about
        Returns what else there is to say; asked where the format has a place for it (JSON, Parquet).
    order
        In which order to write the rows; as they are when not given, but needed with a function.
    """
    ending = check_ending(path)
    with replacing(path) as file:
        if ending == ".parquet":
            _parquet(file, _take(columns, order), about())
        elif ending == ".json":
            file.write(_json(_take(columns, order), about()).encode("utf-8", "surrogatepass"))
        else:
            for chunk in text_chunks(columns, "," if ending == ".csv" else "\t", order):
                file.write(chunk)


def text_chunks(columns: Columns | Part, delimiter: str = ",", order: IntArray | None = None) -> Iterator[bytes]:
    r"""Yield a table as delimited UTF-8 text, some rows at a time; floats round-trip, missing values are empty."""
    if order is None:
        assert not callable(columns)
        order = np.arange(max((len(column) for column in columns.values()), default=0))
    write = _python_rows if order.size <= _FEW else _polars_rows
    for lo in range(0, max(order.size, 1), _CHUNK):
        part = _take(columns, order[lo : lo + _CHUNK])
        if not lo:
            yield delimiter.join(_quote_all(list(part), delimiter)).encode("utf-8", "surrogatepass") + b"\n"
        yield write(list(part.values()), delimiter)


def number_bytes(values: FloatArray, delimiter: bytes) -> bytes:
    """Return numbers as texts that read back exactly, with a delimiter between them."""
    import polars as pl  # noqa: PLC0415 - slow to import

    texts = pl.DataFrame({"": values}).write_csv(include_header=False).encode()
    return texts[:-1].replace(b"\n", delimiter)


def _take(columns: Columns | Part, rows: IntArray | None) -> Columns:
    if callable(columns):
        assert rows is not None
        return columns(rows)
    if rows is None:
        return columns
    return {
        name: column[rows] if isinstance(column, np.ndarray) else [column[i] for i in rows.tolist()]
        for name, column in columns.items()
    }


def _python_rows(columns: Sequence[Any], delimiter: str) -> bytes:
    rows = zip(*(_texts(column, delimiter) for column in columns), strict=True)
    return "".join(delimiter.join(row) + "\n" for row in rows).encode("utf-8", "surrogatepass")


def _polars_rows(columns: Sequence[Any], delimiter: str) -> bytes:
    """Write rows by polars, whose printer of floats is exact and quick; texts come quoted where they must be."""
    import polars as pl  # noqa: PLC0415 - slow to import

    try:
        series = [
            pl.Series(str(k), column.astype(np.float64), nan_to_null=True)
            if isinstance(column, np.ndarray) and column.dtype.kind == "f"
            else pl.Series(str(k), _texts(column, delimiter))
            for k, column in enumerate(columns)
        ]
    except UnicodeEncodeError:  # half of a character
        return _python_rows(columns, delimiter)
    text = pl.DataFrame(series).write_csv(include_header=False, separator=delimiter, quote_style="never")
    return text.encode()


def _texts(column: Any, delimiter: str) -> Sequence[str]:
    array = np.asarray(column) if isinstance(column, np.ndarray) or _numeric(column) else None
    if array is None or array.dtype.kind not in "fbiu":
        return _quote_all(["" if cell is None else str(cell) for cell in column], delimiter)
    if array.dtype.kind == "f":
        return ["" if math.isnan(value) else repr(value) for value in array.tolist()]
    if array.dtype.kind == "b":
        return ["true" if value else "false" for value in array.tolist()]
    return list(map(str, array.tolist()))


def _numeric(column: Any) -> bool:
    return len(column) > 0 and all(isinstance(cell, (int, float)) for cell in column)


def _quote_all(texts: Sequence[str], delimiter: str) -> Sequence[str]:
    """Quote texts where they need it; most tables have none that do."""
    everything = "".join(texts)
    if not any(mark in everything for mark in (delimiter, '"', "\n", "\r")):
        return texts
    return [_quote(text) if set(text) & {delimiter, '"', "\n", "\r"} else text for text in texts]


def _quote(text: str) -> str:
    out = io.StringIO()
    csv.writer(out, quoting=csv.QUOTE_ALL, lineterminator="").writerow([text])
    return out.getvalue()


def _json(columns: Columns, about: About) -> str:
    names = [json.dumps(name, ensure_ascii=False) for name in columns]
    cells = [_json_cells(column) for column in columns.values()]
    rows = (
        ", ".join(f"{name}: {cell}" for name, cell in zip(names, row, strict=True))
        for row in zip(*cells, strict=True)
    )
    head = json.dumps(about, ensure_ascii=False, indent=1, default=str).removesuffix("}").rstrip("\n")
    comma = "," if len(about) else ""
    return head + f'{comma}\n "features": [\n  {{' + "},\n  {".join(rows) + "}\n ]\n}\n"


def _json_cells(column: Any) -> list[str]:
    array = np.asarray(column)
    if array.dtype.kind == "f":
        return [_json_number(value) for value in array.tolist()]
    dump: Callable[[Any], str] = json.JSONEncoder(ensure_ascii=False).encode
    return [dump(value) for value in (array.tolist() if array.dtype.kind in "biu" else column)]


def _json_number(value: float) -> str:
    if math.isnan(value):
        return "null"
    return repr(value) if math.isfinite(value) else ("1e999" if value > 0 else "-1e999")


def _parquet(file: IO[bytes], columns: Columns, about: About) -> None:
    import polars as pl  # noqa: PLC0415 - slow to import

    text = json.dumps(about, ensure_ascii=False, default=str)
    pl.DataFrame(dict(columns)).write_parquet(file, metadata={"bayesieve": text})
