"""From a table of categories to counts: which levels there are, which kernel counts them.

Levels are looked for in a small sample of the table. The counts then tell for every feature whether
all its values were among them: only where some are left is the whole feature searched, and counted
again. The result is exact, and the table is as a rule read once.
"""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Number
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt

from bayesieve.data import LabelledMatrix, is_sparse
from bayesieve.data.categories import MOST_LEVELS, Levels, outside_levels, place, plain
from bayesieve.errors import DataError, MissingValueError
from bayesieve.stats.category_tables import CountableTable, DenseTable, IntArray, SparseTable, Table
from bayesieve.stats.threads import n_threads_for

_MORE = 6  # values outside the declared levels that are worth finding


def count_categories(
    matrix: LabelledMatrix, *, levels: Levels | None = None, missing: str = "raise", n_threads: int | None = None
) -> tuple[Levels, Table]:
    """Count the categories of every feature, class by class.

    Parameters
    ----------
    matrix
        Checked values and labels; where it has levels, its values are positions in them.
    levels
        Declared levels. Otherwise those of the matrix, else the sorted distinct values.
    missing
        ``"raise"``: a missing value is an error. ``"omit"``: it is not counted.
    n_threads
        Threads to use, all cores by default.

    Returns
    -------
    levels, table
        The levels, and counts of shape (n_classes, n_levels, n_features).

    Examples
    --------
    >>> from bayesieve.data import LabelledMatrix
    >>> from bayesieve.stats.category_counting import count_categories
    >>> matrix = LabelledMatrix.from_arrays([[0, 1], [2, 1]], ["a", "b"])
    >>> levels, table = count_categories(matrix)
    >>> levels, table[0].tolist()
    ((0, 1, 2), [[1, 0], [0, 1], [0, 0]])
    """
    if missing not in ("raise", "omit"):
        raise DataError(f"missing must be 'raise' or 'omit', not {missing!r}.")
    threads = n_threads_for(n_threads, matrix.n_samples * matrix.n_features)
    kind = SparseTable if is_sparse(matrix.values) else DenseTable
    countable: CountableTable = kind(matrix.values, matrix.labels, threads)
    given = matrix.levels if levels is None else levels
    found, table, absent = _observed(matrix, countable) if given is None else _declared(matrix, countable, given)
    if missing == "raise" and absent.any():
        _explain_missing(matrix, absent)
    return found, table


def _observed(matrix: LabelledMatrix, countable: CountableTable) -> tuple[Levels, Table, IntArray]:
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
            f"X holds more than {MOST_LEVELS} different values, among them "
            f"{', '.join(repr(plain(mark)) for mark in marks[:3])}: it looks like measurements, not like "
            "categories. Use a model of measurements or of counts, or declare the levels."
        )


def _declared(matrix: LabelledMatrix, countable: CountableTable, levels: Levels) -> tuple[Levels, Table, IntArray]:
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
        f"X holds {int(absent.sum())} missing value(s) in {short.size} of {matrix.n_features} features, the first "
        f"at {place(matrix, sample, j)}. Pass missing='omit' to use the values that are there (exact if values "
        "are missing at random), or make 'missing' a category of its own."
    )
