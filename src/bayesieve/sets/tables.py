"""Values of two classes, all of them there: a table in memory, or a file that is read again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from bayesieve.data import Label, LabelledMatrix, Labels, is_sparse
from bayesieve.screening import SummarisedTable, values_of
from bayesieve.stats import ClassStatistics, Moments, as_moments, complete_moments
from bayesieve.utils import DataError, IntArray, LabelError, MissingValueError, OptionError

_VALUES_OF_A_FILE = 2**25  # held in memory together; a file is read again for each slab


@dataclass(frozen=True, slots=True, eq=False)
class TwoClasses:
    """A table of two classes whose values, and not only their sums, can be looked at.

    Parameters
    ----------
    table
        The values.
    classes, counts
        Labels of the classes, and their numbers of samples.
    feature_names
        Names, or None for ``x0``, ``x1``, ...
    n_features
        Number of features.
    """

    table: LabelledMatrix | SummarisedTable
    classes: tuple[Label, ...]
    counts: IntArray
    feature_names: tuple[str, ...] | None
    n_features: int

    @classmethod
    def of(
        cls,
        X: Any,
        y: Any,
        *,
        what: str,
        classes: Sequence[Label] | None = None,
        feature_names: Sequence[str] | None = None,
    ) -> TwoClasses:
        """Check a table and its labels, or a file that has been read; ``what`` wants them, in words."""
        if isinstance(X, SummarisedTable):
            if any(value is not None for value in (y, classes, feature_names)):
                raise LabelError("The table holds its classes and features already. Say them to read_table only.")
            made = _of_file(X, what)
        elif isinstance(X, ClassStatistics):
            raise DataError(
                f"{type(X).__name__} hold no correlations. {what} needs the values themselves: hand over the "
                "table and its labels."
            )
        else:
            matrix = LabelledMatrix.from_arrays(X, y, classes=classes, feature_names=feature_names)
            labels = matrix.labels
            made = cls(matrix, labels.classes, labels.counts, matrix.feature_names, matrix.n_features)
        if len(made.classes) != 2:
            raise LabelError(f"{what} compares two classes, not {len(made.classes)}. Choose two of them.")
        return made

    def columns(self, places: npt.ArrayLike) -> LabelledMatrix:
        """Bring some columns into memory, in the order given."""
        wanted = np.asarray(places, dtype=np.int64)
        order = np.argsort(wanted)
        codes, values = values_of(self.table, wanted[order])  # files are read from left to right
        names = None if self.feature_names is None else tuple(self.feature_names[i] for i in wanted.tolist())
        samples = getattr(self.table, "sample_names", None) or None
        return LabelledMatrix(values[:, np.argsort(order)], Labels(self.classes, codes), names, samples)

    def slabs(self) -> Iterator[tuple[int, Any]]:
        """Yield (first column, values) until all columns have been there; a table in memory as a whole."""
        if isinstance(self.table, LabelledMatrix):
            yield 0, self.table.values.tocsc() if is_sparse(self.table.values) else self.table.values
            return
        width = max(1, _VALUES_OF_A_FILE // int(self.counts.sum()))
        for lo in range(0, self.n_features, width):
            yield lo, values_of(self.table, np.arange(lo, min(lo + width, self.n_features)))[1]

    def moments(self, n_threads: int | None = None) -> Moments:
        """Moments of all features; missing values are an error."""
        why = "All of them are needed here"
        if isinstance(self.table, LabelledMatrix):
            return complete_moments(self.table, why, n_threads=n_threads)
        moments = cast("Moments", self.table.statistics)  # as _of_file has checked
        absent = np.broadcast_to(self.counts[:, None] - moments.counts, moments.mean.shape).sum(axis=0)
        if absent.any():
            first = self.feature_names[int(absent.argmax())] if self.feature_names else int(absent.argmax())
            raise MissingValueError(
                f"{int(absent.sum()):,} value(s) of {np.count_nonzero(absent):,} of {self.n_features:,} features "
                f"are missing, most of {first!r}. {why}: fill them in first."
            )
        return moments


def _of_file(table: SummarisedTable, what: str) -> TwoClasses:
    statistics = table.statistics
    if table.n_pairs or table.blocked:
        design = "pairs" if table.n_pairs else "blocks"
        raise OptionError(f"{what} knows no {design}. Read the table without them.")
    if as_moments(statistics) is None:
        raise DataError(
            f"The table was read for another model, to {type(statistics).__name__}. Read it without model=...",
            kind="capability",
        )
    counts = np.array([table.class_counts[str(label)] for label in statistics.classes], dtype=np.int64)
    return TwoClasses(table, statistics.classes, counts, table.feature_names, statistics.n_features)
