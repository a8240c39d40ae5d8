"""The results of a study as tables."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bayesieve.errors import FileError, OptionError
from bayesieve.simulation.study.database import Database, file_of
from bayesieve.simulation.study.design import StudyDesign

if TYPE_CHECKING:
    import polars as pl

_KEYS = ("n", "iteration", "method")


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
    >>> from bayesieve.simulation.study import built_in, run_study
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
        >>> from bayesieve.simulation.study import StudyResults
        >>> try:
        ...     StudyResults.load("no-such-folder")
        ... except FileError as error:
        ...     print(error)
        There is no study in no-such-folder.
        """
        import polars as pl  # noqa: PLC0415 - slow to import

        if not file_of(path).is_file():
            raise FileError(f"There is no study in {os.fspath(path)}.")
        with Database(path) as store:
            design, version, columns = store.design(), store.version(), store.columns()
        kinds = dict.fromkeys(columns, pl.Float64) | {
            "n": pl.Int64,
            "iteration": pl.Int64,
            "method": pl.String,
        }
        return cls(design, pl.DataFrame(columns, schema=kinds), version)

    @property
    def measures(self) -> tuple[str, ...]:
        """Names of the measures."""
        return tuple(name for name in self.wide.columns if name not in _KEYS)

    def table(self) -> pl.DataFrame:
        """One row for each number: n, iteration, method, measure and value.

        Examples
        --------
        >>> import pathlib, tempfile
        >>> from bayesieve.simulation.study import built_in, run_study
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
        >>> from bayesieve.simulation.study import built_in, run_study
        >>> design = built_in("figure-1b").changed(sizes=[100], iterations=2, methods=["bd"])
        >>> run_study(design, pathlib.Path(tempfile.mkdtemp()), workers=1).means("n_selected").rows()
        [('bd', 'Bhattacharyya', 100, 100.0, 0.0, 2)]
        """
        import polars as pl  # noqa: PLC0415 - slow to import

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
        >>> from bayesieve.simulation.study import built_in, run_study
        >>> design = built_in("figure-1b").changed(sizes=[100], iterations=1, methods=["bd", "welch"])
        >>> results = run_study(design, pathlib.Path(tempfile.mkdtemp()), workers=1)
        >>> results.restricted(design.changed(methods=["bd"])).wide.height
        1
        """
        import polars as pl  # noqa: PLC0415 - slow to import

        wanted = pl.lit(False)
        for method in design.methods:
            sizes, iterations = list(design.sizes_of(method)), design.iterations_of(method)
            wanted = wanted | (
                (pl.col("method") == method.name) & pl.col("n").is_in(sizes) & (pl.col("iteration") < iterations)
            )
        return StudyResults(design, self.wide.filter(wanted), self.version)

    def _by_method(self, frame: pl.DataFrame) -> pl.DataFrame:
        """Put titles to methods and rows in the order of the design."""
        import polars as pl  # noqa: PLC0415 - slow to import

        methods = self.design.methods
        order = pl.DataFrame(
            {
                "method": [method.name for method in methods],
                "title": [method.title for method in methods],
                "place": range(len(methods)),
            }
        )
        return frame.join(order, on="method", how="inner").sort("place", "n").drop("place")
