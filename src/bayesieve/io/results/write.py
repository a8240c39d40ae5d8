"""write_result(): the ranked table of a screen with its record, as CSV, TSV, Excel, Parquet or JSON."""

from __future__ import annotations

import contextlib
import csv
import io
import json
import math
import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Any

import numpy as np

from bayesieve.io.results.formulas import quote_formula
from bayesieve.posterior import FeaturePosterior
from bayesieve.screening import RunRecord
from bayesieve.selection import Selection
from bayesieve.utils import DataError, FileError, FloatArray, IntArray, OptionError, replacing, together

Columns = Mapping[str, Any]
Part = Callable[[IntArray], Columns]
About = Mapping[str, Any]
_CHUNK = 2**15  # rows
_FEW = 10_000  # rows that are written before polars could be imported
_ENDINGS = (".csv", ".tsv", ".txt", ".xlsx", ".parquet", ".json")


def check_ending(path: str | os.PathLike[str]) -> str:
    """Return the ending of an output file, or say which are known."""
    ending = Path(path).suffix.lower()
    if ending not in _ENDINGS:
        raise OptionError(
            f"Cannot tell the format of {os.fspath(path)} by its ending {ending!r}. Use {', '.join(_ENDINGS)}."
        )
    if ending == ".xlsx":
        from bayesieve.io.results.workbook import check_writer  # noqa: PLC0415 - an extra

        check_writer(path)
    return ending


def side_car(path: str | os.PathLike[str]) -> str | None:
    """Return where the record of a text table stands; None for formats that hold it."""
    return f"{os.fspath(path)}.json" if Path(path).suffix.lower() not in (".parquet", ".pq", ".json") else None


def check_side_car(path: str | os.PathLike[str]) -> None:
    """Raise if the record of a table would replace a file that is none."""
    beside = side_car(path)
    if beside is None or not os.path.lexists(beside):
        return
    with contextlib.suppress(OSError, ValueError):
        content = json.loads(Path(beside).read_bytes())
        if isinstance(content, dict) and content.get("format") == "bayesieve-record" and "features" not in content:
            return
    raise FileError(
        f"The record of {os.fspath(path)} would overwrite {beside}, which is something else. Name another table, "
        "or move that file."
    )


def write_result(
    path: str | os.PathLike[str],
    selection: Selection,
    record: RunRecord | None = None,
    annotation: Any = None,
    *,
    quote_formulas: bool = False,
) -> Path:
    """Write a result so that :func:`bayesieve.read_result` gives the same again, to the last bit of its log-odds.

    The record of the run (model, prior, rule, findings) goes into a Parquet or JSON file; a text table gets it as
    a file beside it, ``ranked.csv.json`` for ``ranked.csv``. A workbook is for people to look at: Excel keeps 15
    digits, so that it is not read back. The record names no sample; the table does so only in
    the column ``culprit`` of a fragility.

    Parameters
    ----------
    path
        The file to write or replace: .csv, .tsv, .txt, .xlsx, .parquet or .json.
    selection
        The list of a rule.
    record
        What is known of the run beyond the list; made of the list when not given.
    annotation
        Columns about the features: a mapping from names of columns to their values (in feature order, or by
        feature name), or a data frame.
    quote_formulas
        In text tables, put ``'`` before names that a spreadsheet would take for formulas (``=``, ``+``, ``-``,
        ``@``); :func:`bayesieve.read_result` takes it away again. Workbooks hold names as texts in any case.

    Returns
    -------
    pathlib.Path
        The file.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import bayesieve as bs
    >>> X = [[0.1, 5.0], [-0.4, 4.1], [0.3, 5.2], [6.8, 4.7], [7.7, 4.4], [8.1, 4.6]]
    >>> selection = bs.FixedSize(1).select(bs.screen(X, ["a"] * 3 + ["b"] * 3, model=bs.GaussianModel.proper()))
    >>> path = bs.write_result(pathlib.Path(tempfile.mkdtemp()) / "ranked.csv", selection)
    >>> sorted(file.name for file in path.parent.iterdir())
    ['ranked.csv', 'ranked.csv.json']
    >>> (bs.read_result(path).posterior.log_odds == selection.posterior.log_odds).tolist()
    [True, True]
    """
    check_ending(path)
    check_side_car(path)
    public = (record or RunRecord.of(selection)).redacted().without_folders()
    columns = ranked_columns(selection, public.transform, annotation)
    beside = side_car(path)
    with together():
        write_results(path, columns, public.to_dict, selection.posterior.ranking, quote_formulas=quote_formulas)
        if beside is not None:
            with replacing(beside) as file:
                file.write(record_bytes(public.to_dict()))
    return Path(path)


def record_bytes(content: Mapping[str, Any]) -> bytes:
    """Return a record or a manifest as JSON."""
    text = json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False)
    return f"{text}\n".encode("utf-8", "surrogatepass")


def ranked_columns(selection: Selection, transform: str, annotation: Any = None) -> Part:
    """Return a function that makes the columns of the table for some features."""
    others, rank = annotation_columns(annotation, selection.posterior), selection.posterior.rank
    expected_fdr = selection.posterior.expected_fdr  # down to each of all features

    def columns(rows: IntArray) -> dict[str, Any]:
        part = selection.take(rows).to_dict()
        part |= {"rank": rank[rows], "expected_fdr": expected_fdr[rows], "transform": [transform] * rows.size}
        for name, values in _take(others, rows).items():
            part[name if name not in part else f"annotation_{name}"] = values
        return part

    return columns


def annotation_columns(annotation: Any, posterior: FeaturePosterior) -> dict[str, list[Any]]:
    """Bring annotation to one value per feature, in feature order."""
    if annotation is None:
        return {}
    if hasattr(annotation, "columns") and hasattr(annotation, "dtypes"):
        annotation = _of_frame(annotation)
    if not isinstance(annotation, Mapping):
        raise DataError(
            "annotation is a mapping from names of columns to their values, or a data frame, not "
            f"{type(annotation).__name__}."
        )
    names, columns = posterior.names, {}
    column: Any
    for name, values in annotation.items():
        if isinstance(values, Mapping):
            column = [values.get(feature) for feature in names]
            if all(value is None for value in column) and values:
                raise DataError(
                    f"The annotation {name!r} names none of the features: it has ids like {next(iter(values))!r}, "
                    f"the screen {names[0]!r}. Use the same ids in both."
                )
        else:
            column = values if isinstance(values, np.ndarray) else list(values)
        if len(column) != posterior.n_features:
            raise DataError(
                f"The annotation {name!r} has {len(column):,} values for {posterior.n_features:,} features. Give "
                "one each, in the order of the features, or a mapping from their names."
            )
        columns[str(name)] = column
    return columns


def _of_frame(frame: Any) -> dict[str, Any]:
    """Columns of a data frame, None where a cell is missing; by the names in its index, if it has names."""
    if not hasattr(frame, "iloc"):
        return {str(name): list(frame[name]) for name in frame.columns}
    columns = {
        str(name): [
            None if absent else cell
            for cell, absent in zip(frame[name].tolist(), frame[name].isna().tolist(), strict=True)
        ]
        for name in frame.columns
    }
    if frame.index.dtype.kind in "iuf":
        return columns
    ids = [str(name) for name in frame.index]
    _check_once(ids)
    return {name: dict(zip(ids, cells, strict=True)) for name, cells in columns.items()}


def _check_once(ids: list[str]) -> None:
    often = [name for name, n in Counter(ids).items() if n > 1]
    if often:
        stand = "ids of the annotation stand" if len(often) > 1 else "id of the annotation stands"
        raise DataError(
            f"{len(often):,} {stand} in more than one row of the frame, for example "
            f"{', '.join(map(repr, often[:3]))}: which row is meant cannot be told. Keep one row per feature."
        )


def write_results(
    path: str | os.PathLike[str],
    columns: Columns | Part,
    about: Callable[[], About],
    order: IntArray | None = None,
    *,
    quote_formulas: bool = False,
) -> None:
    r"""Write a table atomically, in the format its ending says."""
    ending = check_ending(path)
    with replacing(path) as file:
        if ending == ".parquet":
            _parquet(file, _take(columns, order), about())
        elif ending == ".xlsx":
            from bayesieve.io.results.workbook import write_workbook  # noqa: PLC0415 - an extra

            write_workbook(os.fspath(path), file, _take(columns, order), about())
        elif ending == ".json":
            file.write(_json(_take(columns, order), about()).encode("utf-8", "surrogatepass"))
        else:
            for chunk in text_chunks(
                columns, "," if ending == ".csv" else "\t", order, quote_formulas=quote_formulas
            ):
                file.write(chunk)


def text_chunks(
    columns: Columns | Part,
    delimiter: str = ",",
    order: IntArray | None = None,
    *,
    quote_formulas: bool = False,
) -> Iterator[bytes]:
    r"""Yield a table as delimited UTF-8 text, some rows at a time; floats round-trip, missing values are empty."""
    if order is None:
        assert not callable(columns)
        order = np.arange(max((len(column) for column in columns.values()), default=0))
    write = _python_rows if order.size <= _FEW else _polars_rows
    for lo in range(0, max(order.size, 1), _CHUNK):
        part = _take(columns, order[lo : lo + _CHUNK])
        part = _without_formulas(part) if quote_formulas else part
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


def _without_formulas(columns: Columns) -> Columns:
    return {
        quote_formula(name): column
        if isinstance(column, np.ndarray) and column.dtype.kind in "fbiu"
        else [quote_formula(cell) if isinstance(cell, str) else cell for cell in column]
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
