"""The table of a result file: its columns, statistics of the classes, and prior log-odds read off them."""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

import numpy as np
import numpy.typing as npt

from bayesieve.data import Label
from bayesieve.io.formats.columnar_file import ColumnarFile
from bayesieve.io.results.rows import check_rows
from bayesieve.io.results.workbook import not_read_back
from bayesieve.io.tables.roles import check_distinct
from bayesieve.io.text.files import TextBytes, plain_suffix
from bayesieve.stats import Moments
from bayesieve.utils import (
    DataError,
    FileError,
    FloatArray,
    LabelError,
    check_file,
    decoding,
    did_you_mean,
    list_names,
    parse_json,
    read_json,
    wrap_read_errors,
)

if TYPE_CHECKING:
    import polars as pl


_BLOCK, _AGAIN = 2**22, "Write it again with bayesieve screen --out."
_DELIMITERS = (",", "\t", ";")
_TRUE, _FALSE = ("true", "True", "TRUE", "1"), ("false", "False", "FALSE", "0")
ALWAYS_TEXT = (
    "feature", "kept_feature", "kind", "pattern", "culprit", "without_block", "degenerate_reason", "transform",
)  # fmt: skip


@dataclass(frozen=True, slots=True, eq=False)
class StoredTable:
    r"""Columns of a result file.

    Parameters
    ----------
    path
        The file.
    columns
        Columns by name, in the order of the file.
    about
        What the file says beside its rows; text files say nothing.
    """

    path: str
    columns: dict[str, pl.Series]
    about: dict[str, Any]

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(next(iter(self.columns.values())))

    def check_columns(self, names: Sequence[str]) -> None:
        """Raise if columns are not there that every result has."""
        absent = [name for name in names if name not in self.columns]
        if absent:
            have = list(self.columns)
            shown = ", ".join(have[:8]) + (", ..." if len(have) > 8 else "")
            raise FileError(
                f"{self.path} is no result of bayesieve screen: it has no column {list_names(absent)}."
                f"{did_you_mean(absent[0], have)} Its columns are: {shown}. Name a file that bayesieve screen "
                "--out wrote, with all its columns."
            )

    def texts(self, name: str) -> list[str]:
        """Return a column as texts, empty where it is missing."""
        return ["" if text is None else text for text in self.optional_texts(name)]

    def optional_texts(self, name: str) -> list[str | None]:
        """Return a column as texts, None where it is missing."""
        import polars as pl  # noqa: PLC0415 - slow to import

        column = self.columns[name]
        return list((column if column.dtype == pl.String else column.cast(pl.String)).to_list())

    def numbers(self, name: str) -> FloatArray:
        """Return a column as numbers, NaN where it is missing; a cell that is none is an error."""
        values, wrong = _as_numbers(self.columns[name])
        if wrong.any():
            row = int(np.flatnonzero(wrong)[0])
            raise FileError(
                f"{self.path}: {int(wrong.sum()):,} of {self.n_rows:,} cells of the column {name!r} hold no "
                f"number, the first {self.columns[name][row]!r} in row {row + 1:,}. The file has been changed "
                "since it was written; write it again with bayesieve screen --out."
            )
        return values

    def present(self, name: str) -> FloatArray:
        """Return a column of numbers in which none may be missing."""
        values = self.numbers(name)
        absent = np.isnan(values)
        if absent.any():
            raise FileError(
                f"{self.path}: {int(absent.sum()):,} of {self.n_rows:,} rows have no {name!r}, the first is row "
                f"{int(np.flatnonzero(absent)[0]) + 1:,}. The file has been cut short or changed; write it again "
                "with bayesieve screen --out."
            )
        return values

    def flags(self, name: str) -> npt.NDArray[np.bool_]:
        """Return a column of truth values."""
        texts = self.texts(name)
        wrong = [k for k, text in enumerate(texts) if text not in _TRUE + _FALSE]
        if wrong:
            raise FileError(
                f"{self.path}: {len(wrong):,} of {self.n_rows:,} cells of the column {name!r} are neither true "
                f"nor false, the first {texts[wrong[0]]!r} in row {wrong[0] + 1:,}. Write the file again."
            )
        return np.array([text in _TRUE for text in texts], dtype=bool)

    def as_it_is(self, name: str) -> Any:
        """Return a column as numbers, truth values or texts, whichever it holds."""
        if name in ALWAYS_TEXT:
            return self.texts(name)
        values, wrong = _as_numbers(self.columns[name])
        if not wrong.any():
            return values
        texts = self.texts(name)
        return self.flags(name) if set(texts) <= {*_TRUE, *_FALSE} else texts

    def renamed(self, name: Callable[[str], str]) -> StoredTable:
        """Return the same table with other names of columns and other texts in them."""

        def again(column: pl.Series) -> pl.Series:
            texts = str(column.dtype) == "String"
            return _column(column.name, [cell and name(cell) for cell in column.to_list()]) if texts else column

        return StoredTable(self.path, {name(old): again(self.columns[old]) for old in self.columns}, self.about)

    def rows(self, order: npt.NDArray[np.int64]) -> StoredTable:
        """Return the same table with its rows in another order."""
        return StoredTable(self.path, {name: column[order] for name, column in self.columns.items()}, self.about)


def _as_numbers(column: pl.Series) -> tuple[FloatArray, npt.NDArray[np.bool_]]:
    """Numbers of a column, and where a cell holds something else; truth values are something else."""
    import polars as pl  # noqa: PLC0415 - slow to import

    present = column.is_not_null()
    if column.dtype == pl.Boolean:
        return np.full(len(column), np.nan), present.to_numpy()
    if column.dtype == pl.String:
        column = column.str.strip_chars()
        present = column.is_not_null() & (column != "")
    found = column.cast(pl.Float64, strict=False)
    return found.fill_null(float("nan")).to_numpy(), np.array((present & found.is_null()).to_numpy())


def read_stored_table(path: str | os.PathLike[str]) -> StoredTable:
    """Read the columns of a result file: delimited text, Parquet or JSON."""
    name = os.fspath(check_file(path))
    if plain_suffix(name) == ".xlsx":
        raise not_read_back(name)
    readers = {".parquet": _from_parquet, ".pq": _from_parquet, ".json": _from_json}
    return readers.get(plain_suffix(name), _from_text)(name)


def _from_text(path: str) -> StoredTable:
    import polars as pl  # noqa: PLC0415 - slow to import

    with TextBytes(path, None) as stream:
        data = b"".join(iter(lambda: bytes(stream.read(_BLOCK)), b""))
    head = data.partition(b"\n")[0].decode("utf-8", "replace")
    delimiter = max(_DELIMITERS, key=head.count)
    if data.strip():
        check_rows(path, data, delimiter)
    with wrap_read_errors(path, "a result table", "write it again with bayesieve screen --out"):
        text = io.BytesIO(data)
        frame = pl.read_csv(text, has_header=False, infer_schema=False, separator=delimiter, quote_char='"')
    names = ["" if cell is None else str(cell) for cell in frame.row(0)]
    check_distinct(path, names, "column names")
    if frame.height < 2:
        raise FileError(f"{path} holds no features: there is nothing below its header. Check how it was written.")
    columns = frame.slice(1).get_columns()
    return StoredTable(path, dict(zip(names, columns, strict=True)), {})


def _from_parquet(path: str) -> StoredTable:
    import polars as pl  # noqa: PLC0415 - slow to import

    names = ColumnarFile(path).names  # says what is wrong with a file that is none
    with wrap_read_errors(path, "Parquet"):
        frame = pl.read_parquet(path, glob=False)
        text = pl.read_parquet_metadata(path).get("bayesieve", "{}")
    with decoding(path, _AGAIN):
        about = dict(parse_json(text, path, _AGAIN))
    if about.get("format") == "bayesieve-statistics":
        raise FileError(
            f"{path} is a statistics file, not a result. Screen it first: bayesieve screen {path} --out result.csv"
        )
    return StoredTable(path, {name: frame.get_column(name) for name in names}, about)


def _from_json(path: str) -> StoredTable:
    content = read_json(path)
    rows = content.get("features") if isinstance(content, dict) else None
    if not isinstance(rows, list) or not rows or not all(isinstance(row, dict) for row in rows):
        raise FileError(
            f"{path} is JSON, but no result of bayesieve screen: it holds no list of features. Name a file that "
            "bayesieve screen --out wrote."
        )
    names = list(rows[0])
    uneven = [k for k, row in enumerate(rows) if row.keys() != rows[0].keys()]
    if uneven:
        raise FileError(
            f"{path}: {len(uneven):,} of {len(rows):,} features lack columns that the first one has, or have "
            f"others, for example number {uneven[0] + 1:,}. Write the file again with bayesieve screen --out."
        )
    with decoding(path, _AGAIN):
        columns = {name: _column(name, [row[name] for row in rows]) for name in names}
    return StoredTable(path, columns, {key: value for key, value in content.items() if key != "features"})


def _column(name: str, cells: list[Any]) -> pl.Series:
    import polars as pl  # noqa: PLC0415 - slow to import

    kinds = {type(cell) for cell in cells if cell is not None}
    if kinds == {bool}:
        return pl.Series(name, cells, pl.Boolean)
    if kinds and kinds <= {int, float}:
        return pl.Series(name, [None if cell is None else float(cell) for cell in cells], pl.Float64)
    return pl.Series(name, [None if cell is None else str(cell) for cell in cells], pl.String)


_SECOND = " (2)"  # added to a column whose name was taken


class ClassColumns(NamedTuple):
    """Where the statistics of the classes stand.

    Parameters
    ----------
    labels
        Class labels.
    kind
        ``"moments"``, or ``"counts"`` where only the sizes serve as statistics.
    columns
        Names of the columns of every class: its count first.
    """

    labels: tuple[Label, ...]
    kind: str
    columns: tuple[tuple[str, ...], ...]


def class_columns(names: Sequence[str], labels: Sequence[Label] = ()) -> ClassColumns:
    """Find the columns of the classes by the order in which a result has them."""
    found: list[tuple[str, ...]] = []
    kind = "moments"
    for i, name in enumerate(names):
        if not name.startswith("n_") or i + 1 == len(names):
            continue
        label = name.removesuffix(_SECOND).removeprefix("n_")
        after = [following.removesuffix(_SECOND) for following in names[i + 1 : i + 3]]
        if after[:2] == [f"mean_{label}", f"sd_{label}"]:
            found.append((name, names[i + 1], names[i + 2]))
        elif after[0] == f"rate_{label}" or (after[0].startswith("share_") and after[0].endswith(f"_{label}")):
            found.append((name,))
            kind = "counts"
    if not found:
        trailing = [
            name for name in names if name.startswith("n_") and name not in ("n_fragile_removals", "n_sites")
        ]
        found, kind = [(name,) for name in trailing], "counts"
    column_names = tuple(columns[0].removesuffix(_SECOND).removeprefix("n_") for columns in found)
    return ClassColumns(tuple(labels) if len(labels) == len(column_names) else column_names, kind, tuple(found))


@dataclass(frozen=True, slots=True, eq=False)
class StoredStatistics:
    """Statistics of which only the sizes of the classes and the columns of a table are known.

    Parameters
    ----------
    classes
        Class labels.
    counts
        Values present, ``(n_classes, n_features)``.
    held
        All columns of the classes by name.
    """

    classes: tuple[Label, ...]
    counts: npt.NDArray[np.int64]
    held: dict[str, Any]

    @property
    def n_features(self) -> int:
        """Number of features."""
        return int(self.counts.shape[1])

    def take(self, places: Any) -> StoredStatistics:
        """Some features."""
        return StoredStatistics(self.classes, self.counts[:, places], take_columns(self.held, places))

    def renamed(self, classes: Sequence[Label]) -> StoredStatistics:
        """The same under other class labels; the columns keep their names."""
        return StoredStatistics(tuple(classes), self.counts, self.held)

    def describe(self, labels: Sequence[str]) -> dict[str, Any]:
        """The columns of the table."""
        del labels
        return dict(self.held)

    def pick(self, *parts: Any, **named: Any) -> NoReturn:
        """Raise: sums of other classes, or of other samples, are not known."""
        raise DataError(
            "A stored result holds no statistics of counts or categories but its columns. Screen the data again "
            "for that."
        )

    pool = merge = remove = pick

    @staticmethod
    def join(parts: Sequence[Any]) -> NoReturn:
        """Raise: a result is whole."""
        raise DataError("Stored results cannot be joined.")


def take_columns(held: Mapping[str, Any], places: Any) -> dict[str, Any]:
    """Return some rows of columns, which are arrays or lists."""
    where = np.asarray(places)
    return {
        name: column[where] if isinstance(column, np.ndarray) else [column[i] for i in where.tolist()]
        for name, column in held.items()
    }


def stored_statistics(table: StoredTable, found: ClassColumns, names: Sequence[str]) -> Moments | StoredStatistics:
    """Rebuild the statistics of the classes, of which ``names`` are all columns."""
    if not found.labels:
        raise FileError(
            f"{table.path} says nothing about the classes: there is no column such as n_control for the number of "
            "values in a class. Keep all columns that bayesieve screen writes."
        )
    count = np.array([_whole(table, columns[0]) for columns in found.columns])
    if found.kind == "counts":
        return StoredStatistics(found.labels, count, {name: table.as_it_is(name) for name in names})
    mean, sd = (np.array([table.numbers(columns[k]) for columns in found.columns]) for k in (1, 2))
    absent, alone = count == 0, count < 2
    wrong = (np.isnan(mean) & ~absent) | ((np.isnan(sd) | (sd < 0)) & ~alone)
    if wrong.any():
        k, row = (int(i[0]) for i in np.nonzero(wrong))
        raise FileError(
            f"{table.path}: {int(wrong.any(axis=0).sum()):,} of {table.n_rows:,} rows lack the mean or the "
            f"standard deviation of a class that has values, the first is row {row + 1:,} "
            f"(class {found.labels[k]!r}). Write the file again with bayesieve screen --out."
        )
    with np.errstate(over="ignore"):  # which the check of Moments finds
        mean, squares = np.where(absent, 0.0, mean), np.where(alone, 0.0, sd * sd * (count - 1.0))
    same = (count == count[:, :1]).all()
    try:
        return Moments(found.labels, count[:, 0] if same else count, mean, squares, _residual(table, mean, count))
    except (DataError, LabelError) as error:
        raise FileError(f"{table.path} holds no usable statistics of the classes: {error}") from None


def _whole(table: StoredTable, name: str) -> npt.NDArray[np.int64]:
    values = table.present(name)
    wrong = ~((values >= 0) & (values == np.round(values)) & (values < 2.0**53))
    if wrong.any():
        row = int(np.flatnonzero(wrong)[0])
        raise FileError(
            f"{table.path}: the column {name!r} counts values, but row {row + 1:,} says {values[row]:g}. Write "
            "the file again with bayesieve screen --out."
        )
    return values.astype(np.int64)


def _residual(table: StoredTable, mean: FloatArray, count: npt.NDArray[np.int64]) -> FloatArray | None:
    """What rounding took from the means of two classes; their difference was stored with all its digits."""
    if len(mean) != 2 or "mean_difference" not in table.columns:
        return None
    lost = table.numbers("mean_difference") - (mean[1] - mean[0])
    tiny = np.abs(lost) <= 1e-9 * (np.abs(mean[0]) + np.abs(mean[1]))
    return np.array([np.zeros(lost.size), np.where(tiny & (count > 0).all(axis=0), lost, 0.0)])


def stored_prior(log_odds: FloatArray, log_bayes_factor: FloatArray) -> float | FloatArray:
    """Prior log-odds: what log-odds have beyond the log Bayes factor; a number if it is the same for all."""
    with np.errstate(invalid="ignore"):
        prior = np.asarray(log_odds - log_bayes_factor)
        nearest = float(prior[np.argmin(np.abs(log_bayes_factor))])
        size = np.maximum(np.abs(log_odds), np.abs(log_bayes_factor)) + 1.0
        rounded = np.abs(prior - nearest) <= 4.0 * np.finfo(float).eps * size
    same = (prior == nearest) | (rounded & np.isfinite(prior) & np.isfinite(nearest))  # 0 and 1 are no rounding
    if same.all():
        ends = np.nextafter(nearest, [-np.inf, np.inf]).tolist() if np.isfinite(nearest) else []
        return next((end for end in (nearest, *ends) if (end + log_bayes_factor == log_odds).all()), nearest)
    for _ in range(3):  # to the last bit, so that features keep their ranks
        with np.errstate(invalid="ignore"):
            off = log_odds - (prior + log_bayes_factor)
        prior = prior + np.where(np.isfinite(off), off, 0.0)
    return prior
