"""The SQLite store of a study: one row for each data set and method, safe against being killed at any moment."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import polars as pl
from numpy import __version__ as numpy_version

from bayesieve import __version__
from bayesieve.study.design import BEST, StudyDesign
from bayesieve.study.measures import COSTS, Row, measure_names
from bayesieve.utils import (
    DataWarning,
    FileError,
    OptionError,
    decoding,
    has_tables,
    is_number,
    is_whole,
    meta_of,
    open_store,
    parse_json,
    using_store,
    warn,
)


def differences(old: StudyDesign, new: StudyDesign) -> list[str]:
    """Say what keeps a study from going on as another one; what may grow is no difference."""
    pairs = [("", old.definition, new.definition)]
    known = {method.name: method for method in old.methods}
    pairs += [
        (f"of method {each.name} ", known[each.name].definition, each.definition)
        for each in new.methods
        if each.name in known
    ]
    return [
        f"{whose}{key} is {_short(before[key])} there and {_short(after[key])} here"
        for whose, before, after in pairs
        for key in before
        if before[key] != after[key]
    ]


def _short(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) <= 80 else f"{text[:77]}..."


def join_designs(old: StudyDesign, new: StudyDesign) -> StudyDesign:
    """Return the study that holds both."""
    names = {method.name for method in new.methods}
    return replace(
        new,
        sizes=tuple({*old.sizes, *new.sizes}),
        iterations=max(old.iterations, new.iterations),
        methods=(*new.methods, *(method for method in old.methods if method.name not in names)),
    )


def warn_about_version(began: str, path: str | os.PathLike[str]) -> None:
    """Warn if a study goes on with another version of the library."""
    if began != __version__:
        warn(
            DataWarning,
            f"{os.fspath(path)} was begun with bayesieve {began} and goes on with {__version__}; if the methods "
            "or the data changed in between, its numbers do not belong together.",
        )


_FORMAT = "bayesieve study 1"
_TABLES, _KIND = ("meta", "results"), "a study"
_LARGEST = 2**53  # of numbers of samples and of iterations
FILE_NAME = "study.sqlite"
_KEYS = ("n", "iteration", "method")
_FORMER = {"expected_by_chance": "expected_under_null"}  # measures that had another name


def _is_count(cell: Any) -> bool:
    return is_whole(cell) and 0 <= cell <= _LARGEST


_CELLS: dict[str, tuple[str, Callable[[Any], bool]]] = {
    "n": ("a whole number", _is_count),
    "iteration": ("a whole number", _is_count),
    "method": ("a text", lambda cell: isinstance(cell, str)),
}


class Database:
    """An open store; one process writes to it, others may read.

    Rows of a batch are committed together: after a crash each batch is there as a whole or not at all.

    Parameters
    ----------
    path
        The file, or a folder in which it is called ``study.sqlite``.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = file_of(path)
        with self._failing_clearly():
            self._connection = open_store(self.path)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._connection.close()

    def prepare(self, design: StudyDesign) -> None:
        """Begin a study, or check that the one in the file is the same and may go on; it may grow."""
        with self._failing_clearly(), self._transaction():
            held = self._meta()
            if held:
                self._rename_former()
                old = self._with_results(self._design(held), design)
                self._check_same(old, design)
                warn_about_version(held["bayesieve"], self.path)
                design = join_designs(old, design)
            else:
                self._create(design)
            self._write_meta("design", json.dumps(design.to_dict(), sort_keys=True))
        with self._failing_clearly():
            self._connection.execute("PRAGMA journal_mode = WAL")

    def design(self) -> StudyDesign:
        """Return the study that the file holds."""
        with self._failing_clearly():
            held = self._meta()
        if not held:
            raise FileError(f"{self.path} holds no study yet.")
        return self._design(held)

    def version(self) -> str:
        """Version of the library that began the study."""
        with self._failing_clearly():
            return self._meta().get("bayesieve", "")

    def done(self) -> set[tuple[int, int, str]]:
        """Return which method has been run on which data set: numbers of samples, iterations, methods."""
        with self._failing_clearly():
            rows = self._connection.execute("SELECT n, iteration, method FROM results").fetchall()
        for name, cells in zip(_KEYS, zip(*rows, strict=True), strict=False):
            self._check_cells(name, list(cells))
        return set(rows)

    def add(self, rows: Iterable[Row]) -> None:
        """Store a batch; what is there already stays as it is."""
        with self._failing_clearly(), self._transaction():
            for n, iteration, method, measured in rows:
                names = ", ".join(f'"{name}"' for name in measured)
                marks = ", ".join("?" * (3 + len(measured)))
                self._connection.execute(
                    f"INSERT OR IGNORE INTO results (n, iteration, method, {names}) VALUES ({marks})",
                    (n, iteration, method, *measured.values()),
                )

    def columns(self) -> dict[str, list[Any]]:
        """Return all rows as columns, ordered by number of samples, iteration and method."""
        with self._failing_clearly():
            cursor = self._connection.execute("SELECT * FROM results ORDER BY n, iteration, method")
            names = [_FORMER.get(entry[0], entry[0]) for entry in cursor.description]
            rows = cursor.fetchall()
        found = {name: [row[k] for row in rows] for k, name in enumerate(names)}
        for name, cells in found.items():
            self._check_cells(name, cells)
        return found

    def _check_cells(self, name: str, cells: list[Any]) -> None:
        """Raise unless a column holds what a study writes there; SQLite lets any cell hold anything."""
        what, fits = _CELLS.get(name, ("a number", lambda cell: cell is None or is_number(cell)))
        wrong = [place for place, cell in enumerate(cells) if not fits(cell)]
        if wrong:
            cell = cells[wrong[0]]
            shown = repr(cell) if len(repr(cell)) <= 40 else type(cell).__name__
            raise self._damage(
                f"{len(wrong):,} of {len(cells):,} cells of the column {name!r} do not hold {what}, the first is "
                f"{shown} in row {wrong[0] + 1:,}"
            )

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[None]:
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            yield
            self._connection.execute("COMMIT")
        except BaseException:
            if self._connection.in_transaction:  # SQLite may have gone back by itself
                self._connection.execute("ROLLBACK")
            raise

    def _failing_clearly(self) -> contextlib.AbstractContextManager[None]:
        return using_store(self.path, _KIND)

    def _create(self, design: StudyDesign) -> None:
        measures = ", ".join(f'"{name}" REAL' for name in measure_names(design.measures))
        self._connection.execute("CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL)")
        self._connection.execute(
            f"CREATE TABLE results (n INTEGER, iteration INTEGER, method TEXT, {measures}, "
            "PRIMARY KEY (n, iteration, method)) WITHOUT ROWID"
        )
        for key, value in (("format", _FORMAT), ("bayesieve", __version__), ("numpy", numpy_version)):
            self._write_meta(key, value)

    def _rename_former(self) -> None:
        for name in {row[1] for row in self._connection.execute("PRAGMA table_info(results)")} & set(_FORMER):
            self._connection.execute(f'ALTER TABLE results RENAME COLUMN "{name}" TO "{_FORMER[name]}"')

    def _meta(self) -> dict[str, str]:
        if not has_tables(self._connection, self.path, _TABLES, _KIND):
            return {}
        held = meta_of(self._connection, self.path, ("format", "bayesieve", "design"))
        if held["format"] != _FORMAT:
            raise FileError(f"{self.path} was not written by a study of this version. Choose another name.")
        columns = self._connection.execute("PRAGMA table_info(results)").fetchall()
        lacks = [key for key in _KEYS if key not in {name for _, name, *_ in columns}]
        if lacks:
            raise self._damage(f"its table of results has no column {lacks[0]!r}")
        return held

    def _damage(self, what: str) -> FileError:
        return FileError(
            f"The store {self.path} is damaged or has been changed: {what}. Restore the file from a copy, or "
            "delete it "
            "and run the study again."
        )

    def _write_meta(self, key: str, value: str) -> None:
        self._connection.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (key, value))

    def _design(self, held: dict[str, str]) -> StudyDesign:
        again = "Restore the file from a copy, or delete it and run the study again."
        values = parse_json(held["design"], self.path, again)
        with decoding(self.path, again):
            return StudyDesign.from_dict(dict(values), str(self.path))

    def _with_results(self, old: StudyDesign, new: StudyDesign) -> StudyDesign:
        """Return the stored study without methods that have no results yet: these may still be mended."""
        there = {name for (name,) in self._connection.execute("SELECT DISTINCT method FROM results")}
        kept = tuple(method for method in old.methods if method.name in there)
        return replace(old, methods=kept or new.methods)

    def _check_same(self, old: StudyDesign, new: StudyDesign) -> None:
        found = differences(old, new)
        if found:
            raise OptionError(
                f"{self.path} holds another study than the one asked for: {'; '.join(found[:4])}. Choose another "
                "folder or name; sizes, iterations and methods may be added to a study, the rest may not change."
            )


def file_of(path: str | os.PathLike[str]) -> Path:
    """Return the file of a store, given as such or as its folder."""
    return Path(path, FILE_NAME) if Path(path).is_dir() else Path(path)


def _with_best(design: StudyDesign, wide: pl.DataFrame) -> pl.DataFrame:
    """Give a method with the rule ``best`` the rows of its best list after averaging, at each number of samples.

    Rows of its lists are those called METHOD/LIST; its time stays what all of them took together. What was best in
    each iteration is kept as METHOD/each.
    """
    for method in design.methods:
        lists = wide.filter(
            pl.col("method").str.starts_with(f"{method.name}/") & ~pl.col("method").str.ends_with("/each")
        )
        if method.rule != BEST or lists.is_empty():
            continue
        own = wide.filter(pl.col("method") == method.name)
        each = wide.filter(pl.col("method") == f"{method.name}/each")
        each = own.with_columns(method=pl.lit(f"{method.name}/each")) if each.is_empty() else each
        means = lists.group_by("n", "method", maintain_order=True).agg(pl.col("correct").mean())
        best = means.sort("correct", descending=True, maintain_order=True).unique("n", keep="first")
        chosen = lists.join(best.select("n", "method"), on=["n", "method"], how="semi")
        costs = [name for name in COSTS if name in wide.columns]
        chosen = chosen.with_columns(method=pl.lit(method.name)).drop(costs)
        chosen = chosen.join(own.select("n", "iteration", *costs), on=["n", "iteration"], how="left")
        rest = wide.filter(~pl.col("method").is_in([method.name, f"{method.name}/each"]))
        wide = pl.concat([rest, each, chosen.select(wide.columns)])
    return wide


@dataclass(frozen=True, slots=True, eq=False)
class StudyResults:
    """What came out of a study, as far as it has got.

    Parameters
    ----------
    design
        The study.
    wide
        One row for each number of samples, iteration and method, one column for each measure; null where a
        method has no such number.
    version
        Version of the library that began the study.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from bayesieve.study import built_in, run_study
    >>> design = built_in("figure-1b").changed(sizes=[100], iterations=2, methods=["mnc-obf-jp", "bd"])
    >>> results = run_study(design, pathlib.Path(tempfile.mkdtemp()), workers=1)
    >>> results.means().select("title", "n", "iterations").rows()
    [('MNC-OBF-JP', 100, 2), ('Bhattacharyya', 100, 2)]
    """

    design: StudyDesign
    wide: pl.DataFrame
    version: str = ""

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> StudyResults:
        """Read a store, also of a study that is not finished or still runs.

        Parameters
        ----------
        path
            The store, or its folder.

        Examples
        --------
        >>> from bayesieve.errors import FileError
        >>> from bayesieve.study import StudyResults
        >>> try:
        ...     StudyResults.load("no-such-folder")
        ... except FileError as error:
        ...     print(error)
        There is no study in no-such-folder.
        """
        if not file_of(path).is_file():
            raise FileError(f"There is no study in {os.fspath(path)}.")
        with Database(path) as store:
            design, version, columns = store.design(), store.version(), store.columns()
        kinds = dict.fromkeys(columns, pl.Float64) | {
            "n": pl.Int64,
            "iteration": pl.Int64,
            "method": pl.String,
        }
        return cls(design, _with_best(design, pl.DataFrame(columns, schema=kinds)), version)

    @property
    def measures(self) -> tuple[str, ...]:
        """Names of the measures."""
        return tuple(name for name in self.wide.columns if name not in _KEYS)

    def table(self) -> pl.DataFrame:
        """One row for each number: n, iteration, method, measure and value.

        Examples
        --------
        >>> import pathlib, tempfile
        >>> from bayesieve.study import built_in, run_study
        >>> design = built_in("figure-1b").changed(sizes=[100], iterations=1, methods=["bd"])
        >>> table = run_study(design, pathlib.Path(tempfile.mkdtemp()), workers=1).table()
        >>> table.columns, table["measure"].to_list()
        (['n', 'iteration', 'method', 'measure', 'value'],
         ['correct', 'n_selected', 'true_positives', 'false_positives', 'seconds'])
        """
        long = self.wide.unpivot(index=list(_KEYS), variable_name="measure", value_name="value")
        return long.drop_nulls("value")

    def means(self, measure: str = "correct") -> pl.DataFrame:
        """Mean of a measure over the iterations, with its Monte Carlo standard error, by method and n.

        Parameters
        ----------
        measure
            One of :attr:`measures`.

        Examples
        --------
        >>> import pathlib, tempfile
        >>> from bayesieve.study import built_in, run_study
        >>> design = built_in("figure-1b").changed(sizes=[100], iterations=2, methods=["bd"])
        >>> run_study(design, pathlib.Path(tempfile.mkdtemp()), workers=1).means("n_selected").rows()
        [('bd', 'Bhattacharyya', 100, 100.0, 0.0, 2)]
        """
        if measure not in self.measures:
            raise OptionError(f"The study did not measure {measure!r}, but {', '.join(self.measures)}.")
        value = pl.col(measure)
        means = (
            self.wide.drop_nulls(measure)
            .group_by("method", "n", maintain_order=True)
            .agg(
                mean=value.mean(),
                standard_error=(value.std() / value.count().sqrt()).fill_null(float("nan")),
                iterations=value.count().cast(pl.Int64),
            )
        )
        return self._by_method(means).select("method", "title", "n", "mean", "standard_error", "iterations")

    def restricted(self, design: StudyDesign) -> StudyResults:
        """Return the results of what a design asks for only, where the store holds more.

        Examples
        --------
        >>> import pathlib, tempfile
        >>> from bayesieve.study import built_in, run_study
        >>> design = built_in("figure-1b").changed(sizes=[100], iterations=1, methods=["bd", "welch"])
        >>> results = run_study(design, pathlib.Path(tempfile.mkdtemp()), workers=1)
        >>> results.restricted(design.changed(methods=["bd"])).wide.height
        1
        """
        wanted = pl.lit(False)
        for method in design.methods:
            sizes, iterations = list(design.sizes_of(method)), design.iterations_of(method)
            own = (pl.col("method") == method.name) | pl.col("method").str.starts_with(f"{method.name}/")
            wanted = wanted | (own & pl.col("n").is_in(sizes) & (pl.col("iteration") < iterations))
        return StudyResults(design, _with_best(design, self.wide.filter(wanted)), self.version)

    def _by_method(self, frame: pl.DataFrame) -> pl.DataFrame:
        """Put titles to methods and rows in the order of the design."""
        methods = self.design.methods
        order = pl.DataFrame(
            {
                "method": [method.name for method in methods],
                "title": [method.title for method in methods],
                "place": range(len(methods)),
            }
        )
        return frame.join(order, on="method", how="inner").sort("place", "n").drop("place")
