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
def _csc_pair(values: Any, rows: Any, codes: Any, c: int) -> tuple[float, float, float, float]:
    total = square = other_total = other_square = 0.0
    for t in range(values.shape[0]):
        code, value = codes[np.uint64(rows[t])], np.float64(values[t])
        d = value if code == c else 0.0
        e = value if code == c + 1 else 0.0
        total += d
        square += d * d
        other_total += e
        other_square += e * e
    return total, square, other_total, other_square


@compiled()
def csc_columns(data: Any, indices: Any, indptr: Any, codes: Any, lo: int, hi: int, sums: Any) -> None:
    """Sums and squares about zero of columns ``lo : hi``; ``sums`` is (class, column, 2)."""
    n_classes = sums.shape[0]
    for f in range(lo, hi):
        values, rows = data[indptr[f] : indptr[f + 1]], indices[indptr[f] : indptr[f + 1]]
        for c in range(0, n_classes, 2):
            total, square, other_total, other_square = _csc_pair(values, rows, codes, c)
            sums[c, f, 0], sums[c, f, 1] = total, square
            if c + 1 < n_classes:
                sums[c + 1, f, 0], sums[c + 1, f, 1] = other_total, other_square


@compiled()
def csc_columns_careful(data: Any, indices: Any, indptr: Any, codes: Any, columns: Any, sums: Any) -> None:
    """Pivoted sums of a list of columns; ``sums`` as in :func:`csr_block_careful`."""
    for place in range(columns.shape[0]):
        for t in range(indptr[columns[place]], indptr[columns[place] + 1]):
            _add_careful(np.float64(data[t]), sums[codes[indices[t]], place])
