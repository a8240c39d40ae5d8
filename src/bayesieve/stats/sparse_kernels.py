"""Sums over the stored values of sparse tables."""

from __future__ import annotations

from typing import Any

import numpy as np

from bayesieve.stats.compiled import compiled

_LOOSE = {"contract", "nsz", "reassoc"}


@compiled(fastmath={"contract"})
def csr_block(data: Any, indices: Any, indptr: Any, rows: Any, starts: Any, block: int, sums: Any) -> None:
    """Sums and squares of one block of rows; ``sums`` is (class, column, 2).

    They are taken about zero, so that the implicit zeros add nothing and need not be counted.
    """
    for c in range(starts.shape[1] - 1):
        part = sums[c]
        for k in range(starts[block, c], starts[block, c + 1]):
            begin, end = indptr[rows[k]], indptr[rows[k] + 1]
            values, columns = data[begin:end], indices[begin:end]
            for t in range(end - begin):
                j = np.uint64(columns[t])
                value = np.float64(values[t])
                part[j, 0] += value
                part[j, 1] += value * value


@compiled(fastmath={"contract"})
def csr_block_careful(
    data: Any, indices: Any, indptr: Any, rows: Any, starts: Any, block: int, slot: Any, sums: Any
) -> None:
    """Pivoted sums of chosen columns; missing values are counted and skipped.

    ``slot[j]`` is the place of column ``j`` in ``sums`` or -1; ``sums`` is (class, slot, 5): pivot,
    sum, squares, number of values, number missing.
    """
    for c in range(starts.shape[1] - 1):
        for k in range(starts[block, c], starts[block, c + 1]):
            for t in range(indptr[rows[k]], indptr[rows[k] + 1]):
                place = slot[indices[t]]
                if place >= 0:
                    _add_careful(np.float64(data[t]), sums[c, place])


@compiled()
def _add_careful(value: float, cell: Any) -> None:
    if np.isnan(value):
        cell[4] += 1.0
        return
    if cell[3] == 0.0:
        cell[0] = value
    difference = value - cell[0]
    cell[1] += difference
    cell[2] += difference * difference
    cell[3] += 1.0


@compiled(fastmath=_LOOSE)
def _csc_sweep(values: Any, rows: Any, codes: Any, c: int) -> tuple[float, float, float, float]:
    """Sums and squares of a column and of its part in class ``c``."""
    total = square = member_total = member_square = 0.0
    for t in range(values.shape[0]):
        value = np.float64(values[t])
        member = value if codes[np.uint64(rows[t])] == c else 0.0
        total += value
        square += value * value
        member_total += member
        member_square += member * member
    return total, square, member_total, member_square


@compiled()
def csc_columns(data: Any, indices: Any, indptr: Any, codes: Any, lo: int, hi: int, sums: Any, raw: Any) -> None:
    """Sums and squares about zero of columns ``lo : hi``; ``sums`` is (class, column, 2).

    The first class is what the others leave; ``raw`` holds the squares of whole columns, to tell
    where that costs digits.
    """
    n_classes = sums.shape[0]
    for f in range(lo, hi):
        values, rows = data[indptr[f] : indptr[f + 1]], indices[indptr[f] : indptr[f + 1]]
        rest, rest_squares = 0.0, 0.0
        for c in range(min(1, n_classes - 1), n_classes):
            total, square, member_total, member_square = _csc_sweep(values, rows, codes, c)
            sums[c, f, 0], sums[c, f, 1] = member_total, member_square
            rest, rest_squares = rest + member_total, rest_squares + member_square
            raw[f] = square
        if n_classes > 1:
            sums[0, f, 0], sums[0, f, 1] = total - rest, square - rest_squares


@compiled()
def csc_columns_careful(data: Any, indices: Any, indptr: Any, codes: Any, columns: Any, sums: Any) -> None:
    """Pivoted sums of a list of columns; ``sums`` as in :func:`csr_block_careful`."""
    for place in range(columns.shape[0]):
        for t in range(indptr[columns[place]], indptr[columns[place] + 1]):
            _add_careful(np.float64(data[t]), sums[codes[indices[t]], place])
