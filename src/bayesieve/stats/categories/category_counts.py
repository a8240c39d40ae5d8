"""CategoryCounts: how often each category occurs, per class and feature; counted in one pass.

Levels are looked for in a small sample of the table. The counts then tell for every feature whether
all its values were among them: only where some are left is the whole feature searched, and counted
again. The result is exact, and the table is as a rule read once.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Number
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt

from bayesieve.data import (
    MOST_LEVELS,
    USE_WHAT_IS_THERE,
    Label,
    LabelledMatrix,
    Levels,
    check_classes,
    check_levels,
    is_lazy,
    is_sparse,
    labelled_categories,
    outside_levels,
    place,
    plain,
    union_of_classes,
)
from bayesieve.distributed import sum_labelled
from bayesieve.stats.categories.tables import CountableTable, DenseTable, SparseTable, Table
from bayesieve.utils import (
    TABLE,
    CountArray,
    DataError,
    Glimpse,
    Glimpsed,
    IntArray,
    LabelError,
    MissingValueError,
    check_missing,
    glimpse_of_classes,
    n_threads_for,
)

_MORE = 6  # values outside the declared levels that are worth finding


def count_categories(
    matrix: LabelledMatrix, *, levels: Levels | None = None, missing: str = "raise", n_threads: int | None = None
) -> tuple[Levels, Table]:
    """Count the categories of every feature, class by class.

    Returns
    -------
    levels, table
        The levels, and counts of shape (n_classes, n_levels, n_features).
    """
    check_missing(missing)
    threads = n_threads_for(n_threads, matrix.n_samples * matrix.n_features)
    kind = SparseTable if is_sparse(matrix.values) else DenseTable
    countable: CountableTable = kind(matrix.values, matrix.labels, threads)
    declared = matrix.levels if levels is None else levels
    found, table, absent = (
        _count_observed(matrix, countable) if declared is None else _count_declared(matrix, countable, declared)
    )
    if missing == "raise" and absent.any():
        _explain_missing(matrix, absent)
    return found, table


def _count_observed(matrix: LabelledMatrix, countable: CountableTable) -> tuple[Levels, Table, IntArray]:
    """Levels, counts, and the number of missing values of each feature."""
    blank = np.array([np.nan] if countable.dtype.kind == "f" else [], dtype=countable.dtype)
    marks = np.concatenate([blank, countable.first_marks(MOST_LEVELS + 1)])
    _check_number(marks[blank.size :])
    table = countable.count(marks)
    short = _short(table, matrix.n_samples)
    more = countable.unknown(short, marks, blank.size + MOST_LEVELS + 1)
    if more.size:
        marks = np.concatenate([marks, more])
        _check_number(marks[blank.size :])
        table = np.concatenate([table, np.zeros((len(table), more.size, table.shape[2]), np.int64)], axis=1)
        countable.count_again(short, marks, table)
    occur = blank.size + np.flatnonzero(table[:, blank.size :].any(axis=(0, 2)))
    order = occur[np.argsort(marks[occur])]
    if np.isinf(marks[order]).any():
        endless = table[:, order[np.isinf(marks[order])]].any(axis=(0, 1))
        matrix.explain_non_finite(np.flatnonzero(endless), "omit")
    names = (bool(marks[m]) if matrix.values.dtype.kind == "b" else plain(marks[m]) for m in order)
    absent = table[:, : blank.size].sum(axis=(0, 1))
    return tuple(names), table if np.array_equal(order, np.arange(marks.size)) else table[:, order], absent


def _check_number(marks: npt.NDArray[Any]) -> None:
    if marks.size > MOST_LEVELS:
        raise DataError(
            TABLE,
            f" holds more than {MOST_LEVELS} different values, among them "
            f"{', '.join(repr(plain(mark)) for mark in marks[:3])}: it looks like measurements, not like "
            "categories. Use a model of measurements or of counts, or declare the levels.",
        )


def _count_declared(
    matrix: LabelledMatrix, countable: CountableTable, levels: Levels
) -> tuple[Levels, Table, IntArray]:
    """Do the same with levels that are known."""
    if matrix.levels is not None and levels != matrix.levels:
        raise DataError(
            f"The table was read with the levels {list(matrix.levels)!r} and is to be counted with "
            f"{list(levels)!r}. Declare the levels once, when the table is read."
        )
    there, marks = _marks(levels if matrix.levels is None else range(len(levels)), countable.dtype)
    blank: list[Any] = [np.nan] if countable.dtype.kind == "f" else [] if matrix.levels is None else [-1]
    marks = np.concatenate([marks, np.array(blank, dtype=marks.dtype)])
    counts = countable.count(marks)
    short = _short(counts, matrix.n_samples)
    more = countable.unknown(short, marks, marks.size + _MORE)
    if more.size:
        _explain_outside(matrix, short, marks, more, levels)
    table = np.zeros((len(counts), len(levels), matrix.n_features), np.int64)
    table[:, there] = counts[:, : len(there)]
    return levels, table, counts[:, len(there) :].sum(axis=(0, 1))


def _marks(levels: Sequence[Any], dtype: np.dtype[Any]) -> tuple[list[int], npt.NDArray[Any]]:
    """Which levels a table of this type can hold, and as which numbers."""
    numbers = [level for level in levels if isinstance(level, Number)]
    if not numbers:
        raise DataError(
            f"The declared levels {list(levels)!r} are no numbers, but X holds nothing else. Declare numbers, or "
            "turn X into text first."
        )
    there, marks = [], []
    for i, level in enumerate(levels):
        if isinstance(level, Number):
            with np.errstate(all="ignore"):
                mark = np.array(level).astype(dtype)
            if mark == level:
                there.append(i)
                marks.append(mark)
    return there, np.array(marks, dtype=dtype)


def _short(table: Table, n_samples: int) -> IntArray:
    """Features with values that carry no mark."""
    return np.flatnonzero(table.sum(axis=(0, 1)) < n_samples)


def _explain_outside(
    matrix: LabelledMatrix, short: IntArray, known: npt.NDArray[Any], more: npt.NDArray[Any], levels: Levels
) -> NoReturn:
    count, where = 0, ""
    for j, column in matrix.columns(short):
        odd = np.flatnonzero(~(np.isnan(column) | np.isin(column, known.astype(np.float64))))
        where = where or (place(matrix, int(odd[0]), j) if odd.size else "")
        count += odd.size
    raise outside_levels(count, [plain(value) for value in np.sort(more)], where, levels)


def _explain_missing(matrix: LabelledMatrix, absent: IntArray) -> NoReturn:
    short = np.flatnonzero(absent)
    j, column = next(matrix.columns(short[:1]))
    sample = int(np.flatnonzero(np.isnan(column) if matrix.levels is None else column < 0)[0])
    raise MissingValueError(
        TABLE,
        f" holds {int(absent.sum())} missing value(s) in {short.size} of {matrix.n_features} features, the first "
        f"at {place(matrix, sample, j)}.",
        hint=(*USE_WHAT_IS_THERE, ", or make 'missing' a category of its own."),
        kind="missing-values",
    )


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class CategoryCounts(Glimpsed):
    """Sufficient statistics of the categorical model: all it needs to know about each class of samples.

    Counts merge: those of two parts of the data, in any order and however they were split, give the
    counts of the whole.

    Parameters
    ----------
    classes
        Class labels, in order.
    levels
        The categories, in order; a feature need not have them all.
    table
        Counts, ``(n_classes, n_levels, n_features)``.

    Examples
    --------
    >>> from bayesieve.stats.categories.category_counts import CategoryCounts
    >>> counts = CategoryCounts.from_matrix([["AA"], ["AG"], ["AG"]], ["well", "sick", "sick"])
    >>> counts.classes, counts.levels, counts.table[:, :, 0].tolist()
    (('sick', 'well'), ('AA', 'AG'), [[0, 2], [1, 0]])
    """

    classes: tuple[Label, ...]
    levels: Levels
    table: CountArray

    def __post_init__(self) -> None:
        classes, levels = tuple(check_classes(self.classes)), check_levels(self.levels)
        try:
            counts = np.asarray(self.table)
            table = counts.astype(np.int64)
            whole = counts.dtype.kind in "iuf" and bool((table == counts).all() and (table >= 0).all())
        except (TypeError, ValueError):
            table, whole = np.empty(0, np.int64), False
        if not whole:
            raise DataError("The table of counts must hold whole numbers of samples, at least 0.")
        if table.ndim != 3 or table.shape[:2] != (len(classes), len(levels)) or not table.shape[2]:
            raise DataError(
                f"The table of counts has shape {table.shape}; it must be (n_classes, n_levels, n_features) with "
                f"n_classes = {len(classes)}, n_levels = {len(levels)} and at least one feature."
            )
        _fill(self, classes, levels, table)

    @classmethod
    def from_matrix(
        cls,
        X: Any,
        y: Any,
        *,
        classes: Sequence[Label] | None = None,
        missing: str = "raise",
        levels: Sequence[Any] | None = None,
        n_threads: int | None = None,
    ) -> CategoryCounts:
        """Count the categories of a samples x features table class by class.

        Parameters
        ----------
        X
            Array of numbers, booleans or texts, pandas or polars frame, CSR or CSC matrix. Implicit zeros
            count. Whole numbers are levels whatever their type; more than 64 different ones are refused.
        y
            One label per sample.
        classes
            Order of the classes; sorted when not given. A class without samples is kept.
        missing
            ``"raise"`` (default) or ``"omit"``: count the values that are there.
        levels
            The categories there can be, in the order wanted; the sorted distinct values when not given.
        n_threads
            Threads to use, all cores by default; the result is the same.

        Examples
        --------
        >>> from bayesieve.stats.categories.category_counts import CategoryCounts
        >>> counts = CategoryCounts.from_matrix([[0, 2], [1, 2], [0, 2]], ["a", "a", "b"])
        >>> counts.levels, counts.table[0].tolist()
        ((0, 1, 2), [[1, 0], [1, 0], [0, 2]])
        """
        if is_lazy(X):
            function = functools.partial(cls.from_labelled, levels=levels)
            blockwise = functools.partial(labelled_categories, levels=levels)
            found: CategoryCounts = sum_labelled(
                X, y, function, classes=classes, missing=missing, matrix=blockwise, texts=True
            )
            return found
        matrix = labelled_categories(X, y, classes=classes, levels=levels)
        return cls.from_labelled(matrix, missing=missing, levels=levels, n_threads=n_threads)

    @classmethod
    def from_labelled(
        cls,
        matrix: LabelledMatrix,
        *,
        missing: str = "raise",
        levels: Sequence[Any] | None = None,
        n_threads: int | None = None,
    ) -> CategoryCounts:
        """Count a table that has been checked already; see :meth:`from_matrix`.

        Where the matrix has levels, its values are positions in them and -1 is missing.

        Examples
        --------
        >>> from bayesieve.data import LabelledMatrix
        >>> from bayesieve.stats.categories.category_counts import CategoryCounts
        >>> matrix = LabelledMatrix.from_arrays([[0.0], [1.0], [1.0]], ["a", "b", "b"])
        >>> CategoryCounts.from_labelled(matrix).table[:, :, 0].tolist()
        [[1, 0], [0, 2]]
        """
        declared = None if levels is None else check_levels(levels)
        found, table = count_categories(matrix, levels=declared, missing=missing, n_threads=n_threads)
        return cls.trusted(matrix.labels.classes, found, table)

    def _glimpse(self) -> Glimpse:
        """Return the classes with their numbers of values."""
        return glimpse_of_classes(self)

    @property
    def n_features(self) -> int:
        """Number of features."""
        return int(self.table.shape[2])

    @property
    def counts(self) -> CountArray:
        """Values present, per class and feature."""
        return np.asarray(self.table.sum(axis=1))

    def pick(self, classes: Sequence[Label]) -> CategoryCounts:
        """Counts of some classes, in the order given.

        Examples
        --------
        >>> from bayesieve.stats.categories.category_counts import CategoryCounts
        >>> CategoryCounts.from_matrix([[0], [1]], ["a", "b"]).pick(["b"]).table.tolist()
        [[[0], [1]]]
        """
        places = [self._position(label) for label in check_classes(classes)]
        where: Any = slice(places[0], places[0] + 1) if len(places) == 1 else places  # one class: no copy
        return self.trusted(tuple(classes), self.levels, self.table[where])

    def pool(self, classes: Sequence[Label] | None = None) -> CategoryCounts:
        """Counts of several classes taken together, as one class whose label is the tuple of theirs.

        Examples
        --------
        >>> from bayesieve.stats.categories.category_counts import CategoryCounts
        >>> pooled = CategoryCounts.from_matrix([[0], [1], [1]], ["a", "a", "b"]).pool()
        >>> pooled.classes, pooled.table.tolist()
        ((('a', 'b'),), [[[1], [2]]])
        """
        chosen = self.classes if classes is None else tuple(check_classes(classes))
        first, *others = (self.table[self._position(label)] for label in chosen)
        whole = first.copy() if others else first
        for other in others:
            whole += other
        return self.trusted((chosen,), self.levels, whole[None])

    def merge(self, other: CategoryCounts) -> CategoryCounts:
        """Counts of both samples together; a part may lack a class or a level.

        Examples
        --------
        >>> from bayesieve.stats.categories.category_counts import CategoryCounts
        >>> a = CategoryCounts.from_matrix([[0], [2]], ["well", "sick"])
        >>> b = CategoryCounts.from_matrix([[1]], ["sick"])
        >>> whole = a.merge(b)
        >>> whole.levels, whole.table[:, :, 0].tolist()
        ((0, 1, 2), [[0, 1, 1], [1, 0, 0]])
        """
        return self._combined(other, union_of_classes(self.classes, self._same_features(other).classes), 1)

    def remove(self, other: CategoryCounts) -> CategoryCounts:
        """Counts of what is left when ``other``, a part of these samples, is withdrawn.

        The inverse of :meth:`merge`, except that levels are kept although nobody may have them now.

        Examples
        --------
        >>> from bayesieve.stats.categories.category_counts import CategoryCounts
        >>> whole = CategoryCounts.from_matrix([[0], [1], [1]], ["a", "a", "a"])
        >>> whole.remove(CategoryCounts.from_matrix([[1]], ["a"])).table.tolist()
        [[[1], [1]]]
        """
        for label in self._same_features(other).classes:
            self._position(label)
        left = self._combined(other, self.classes, -1)
        if (left.table < 0).any():
            k, m, j = (int(places[0]) for places in np.nonzero(left.table < 0))
            raise DataError(
                f"The samples to remove are no part of these: they hold level {left.levels[m]!r} of feature {j} "
                f"more often in class {self.classes[k]!r} ({-int(left.table[k, m, j])} too many)."
            )
        return left

    def take(self, places: Any) -> CategoryCounts:
        """Counts of some features, by position or as a slice, in the order given.

        Examples
        --------
        >>> from bayesieve.stats.categories.category_counts import CategoryCounts
        >>> CategoryCounts.from_matrix([[0, 1], [1, 1]], ["a", "a"]).take([1]).table.tolist()
        [[[0], [2]]]
        """
        return self.trusted(self.classes, self.levels, self.table[:, :, places])

    def renamed(self, classes: Sequence[Label]) -> CategoryCounts:
        """Return the same counts under other class labels.

        Examples
        --------
        >>> from bayesieve.stats.categories.category_counts import CategoryCounts
        >>> CategoryCounts.from_matrix([[0], [1]], ["a", "b"]).renamed(["x", "y"]).classes
        ('x', 'y')
        """
        return self.trusted(tuple(classes), self.levels, self.table)

    @staticmethod
    def join(parts: Sequence[CategoryCounts]) -> CategoryCounts:
        """Put the features of several counts of the same classes side by side.

        Examples
        --------
        >>> from bayesieve.stats.categories.category_counts import CategoryCounts
        >>> counts = CategoryCounts.from_matrix([[0], [1]], ["a", "b"])
        >>> CategoryCounts.join([counts, counts]).table[0].tolist()
        [[1, 1], [0, 0]]
        """
        first, levels = parts[0], parts[0].levels
        for part in parts[1:]:
            if part.classes != first.classes:
                raise LabelError(f"The parts have the classes {list(first.classes)!r} and {list(part.classes)!r}.")
            levels = union_of_classes(levels, part.levels)
        table = np.concatenate([part.with_levels(levels).table for part in parts], axis=2)
        return first.trusted(first.classes, levels, table)

    def with_levels(self, levels: Sequence[Any]) -> CategoryCounts:
        """Return the same counts with other levels, in the order given; one that occurs must not be left out.

        Examples
        --------
        >>> from bayesieve.stats.categories.category_counts import CategoryCounts
        >>> CategoryCounts.from_matrix([[0], [1]], ["a", "b"]).with_levels([1, 0, 9]).table[0].tolist()
        [[0], [1], [0]]
        """
        wanted = tuple(levels)
        if wanted == self.levels:
            return self
        places = {level: i for i, level in enumerate(wanted)}
        table = np.zeros((len(self.classes), len(wanted), self.n_features), dtype=np.int64)
        for m, level in enumerate(self.levels):
            if level in places:
                table[:, places[level]] = self.table[:, m]
            elif (count := int(self.table[:, m].sum())) > 0:
                raise DataError(f"Level {level!r} occurs {count} times but is not among {list(wanted)!r}.")
        return self.trusted(self.classes, wanted, table)

    def describe(self, labels: Sequence[str]) -> dict[str, Any]:
        """Number of values of every class, and which share of them each level has.

        Examples
        --------
        >>> from bayesieve.stats.categories.category_counts import CategoryCounts
        >>> columns = CategoryCounts.from_matrix([[0], [1], [1]], ["a", "b", "b"]).describe(["a", "b"])
        >>> {name: column.tolist() for name, column in columns.items()}
        {'n_a': [1], 'share_0_a': [1.0], 'share_1_a': [0.0], 'n_b': [2], 'share_0_b': [0.0], 'share_1_b': [1.0]}
        """
        counts = self.counts
        columns: dict[str, Any] = {}
        texts = [str(level) for level in self.levels]
        for k, label in enumerate(labels):
            columns[f"n_{label}"] = counts[k]
            total = np.where(counts[k] > 0, counts[k], np.nan)
            for m, (text, level) in enumerate(zip(texts, self.levels, strict=True)):
                name = text if texts.count(text) == 1 else repr(level)  # the number 1 and the text '1'
                columns[f"share_{name}_{label}"] = self.table[k, m] / total
        return columns

    def _combined(self, other: CategoryCounts, classes: tuple[Label, ...], sign: int) -> CategoryCounts:
        levels = union_of_classes(self.levels, other.levels)
        table = np.zeros((len(classes), len(levels), self.n_features), dtype=np.int64)
        for part, factor in ((self, 1), (other, sign)):
            aligned = part.with_levels(levels).table
            for k, label in enumerate(part.classes):
                table[classes.index(label)] += factor * aligned[k]
        return self.trusted(classes, levels, table)

    def _position(self, label: Label) -> int:
        if label not in self.classes:
            raise LabelError(f"There is no class {label!r}; the classes are {list(self.classes)!r}.")
        return self.classes.index(label)

    def _same_features(self, other: CategoryCounts) -> CategoryCounts:
        if not isinstance(other, CategoryCounts):
            raise DataError(f"CategoryCounts merge with CategoryCounts, not with {type(other).__name__}.")
        if self.n_features != other.n_features:
            raise DataError(
                f"These counts describe {self.n_features} features and the others {other.n_features}. "
                "Both parts must hold the same features in the same order."
            )
        return other

    @classmethod
    def trusted(cls, classes: tuple[Label, ...], levels: Levels, table: CountArray) -> CategoryCounts:
        """Build from counts known to be right.

        Examples
        --------
        >>> import numpy as np
        >>> from bayesieve.stats.categories.category_counts import CategoryCounts
        >>> CategoryCounts.trusted(("a",), (0, 1), np.zeros((1, 2, 3), np.int64)).n_features
        3
        """
        made = object.__new__(cls)
        _fill(made, classes, levels, table)
        return made


def _fill(counts: CategoryCounts, classes: tuple[Label, ...], levels: Levels, table: CountArray) -> None:
    view = table.view()  # the caller's own array stays writeable
    view.flags.writeable = False
    for name, value in (("classes", classes), ("levels", levels), ("table", view)):
        object.__setattr__(counts, name, value)
