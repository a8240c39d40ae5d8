"""Counting categories at the speed of reading the table.

A category is told by the number that stands for it, its mark; NaN is a mark like any other. Every
kernel compares with one mark at a time and adds up in bytes, for no more samples than a byte can
count: 32 or more values are then compared and added at a time, and a level more costs little.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bayesieve.stats.compiled import compiled

TILE = 4096
_MOST_ROWS = 248  # a multiple of 8 that a byte holds
_MOST_SAMPLES = 128  # a multiple of what is added at a time


@compiled()
def _is(value: Any, mark: Any, blank: bool) -> Any:
    return value != value if blank else value == mark  # noqa: PLR0124 - only NaN differs from itself


@compiled()
def _sweep_eight(X: Any, rows: Any, first: int, lo: int, mark: Any, blank: bool, counter: Any) -> None:
    a, b, c, d = X[rows[first], lo:], X[rows[first + 1], lo:], X[rows[first + 2], lo:], X[rows[first + 3], lo:]
    first += 4
    e, f, g, h = X[rows[first], lo:], X[rows[first + 1], lo:], X[rows[first + 2], lo:], X[rows[first + 3], lo:]
    for j in range(counter.shape[0]):
        left = (_is(a[j], mark, blank) + _is(b[j], mark, blank)) + (
            _is(c[j], mark, blank) + _is(d[j], mark, blank)
        )
        right = (_is(e[j], mark, blank) + _is(f[j], mark, blank)) + (
            _is(g[j], mark, blank) + _is(h[j], mark, blank)
        )
        counter[j] = np.uint8(counter[j] + (left + right))


@compiled()
def _sweep(X: Any, rows: Any, first: int, last: int, lo: int, mark: Any, counter: Any) -> None:
    """Count one mark in up to eight rows."""
    blank = mark != mark  # noqa: PLR0124 - only NaN differs from itself
    if first + 8 == last:
        _sweep_eight(X, rows, first, lo, mark, blank, counter)
        return
    for k in range(first, last):
        a = X[rows[k], lo:]
        for j in range(counter.shape[0]):
            counter[j] = np.uint8(counter[j] + _is(a[j], mark, blank))


@compiled()
def count_rows(X: Any, rows: Any, starts: Any, lo: int, hi: int, marks: Any, table: Any) -> None:
    """Count columns ``lo : hi`` of a row-major table into ``table``, (class, mark, column).

    ``rows`` are the rows sorted by class; those of class ``c`` begin at ``starts[c]``.
    """
    n_marks, width = marks.shape[0], hi - lo
    counters = np.empty((n_marks, width), dtype=np.uint8)
    for c in range(starts.shape[0] - 1):
        for first in range(starts[c], starts[c + 1], _MOST_ROWS):
            last = min(first + _MOST_ROWS, starts[c + 1])
            counters[:] = 0
            for k in range(first, last, 8):
                for m in range(n_marks):
                    _sweep(X, rows, k, min(k + 8, last), lo, marks[m], counters[m])
            for m in range(n_marks):
                for j in range(width):
                    table[c, m, lo + j] += counters[m, j]


@compiled()
def _count_both(values: Any, member: Any, mark: Any) -> tuple[Any, Any]:
    """Count a mark among all samples and among the members of a class, at most 255 of them."""
    blank = mark != mark  # noqa: PLR0124 - only NaN differs from itself
    total, part = np.uint8(0), np.uint8(0)
    for i in range(values.shape[0]):
        hit = np.uint8(_is(values[i], mark, blank))
        total = np.uint8(total + hit)
        part = np.uint8(part + (hit & member[i]))
    return total, part


@compiled()
def count_features(V: Any, members: Any, lo: int, hi: int, marks: Any, table: Any) -> None:
    """Count features ``lo : hi`` of a features x samples table into ``table``, (class, mark, feature).

    ``members[c]`` is 1 for the samples of class ``c`` and 0 elsewhere. The first class is what the
    others leave.
    """
    n_classes, n = members.shape
    for f in range(lo, hi):
        for first in range(0, n, _MOST_SAMPLES):
            last = min(first + _MOST_SAMPLES, n)
            for m in range(marks.shape[0]):
                total = np.uint8(0)
                for c in range(min(1, n_classes - 1), n_classes):
                    total, part = _count_both(V[f, first:last], members[c, first:last], marks[m])
                    if c > 0:
                        table[c, m, f] += part
                        table[0, m, f] -= part
                table[0, m, f] += total


@compiled()
def find_unknown(values: Any, known: Any, n_known: int) -> int:
    """Append the values that are not among the first ``n_known`` of ``known``; stop when it is full.

    Return how many are known in the end. NaN is passed over.
    """
    for i in range(values.shape[0]):
        for j in range(values.shape[1]):
            value = values[i, j]
            strange = value == value  # noqa: PLR0124 - only NaN differs from itself
            for m in range(n_known):
                strange &= value != known[m]
            if strange:
                known[n_known] = value
                n_known += 1
                if n_known == known.shape[0]:
                    return n_known
    return n_known


@compiled()
def _place(value: Any, marks: Any) -> Any:
    """Position of a mark; the number of marks for anything else."""
    place = marks.shape[0]
    for m in range(marks.shape[0]):  # no early return: which mark it is cannot be foreseen
        place = m if _is(value, marks[m], marks[m] != marks[m]) else place
    return place


@compiled()
def count_csr(data: Any, indices: Any, indptr: Any, codes: Any, lo: int, hi: int, marks: Any, table: Any) -> None:
    """Count the stored values of rows ``lo : hi``; the last row of ``table`` is for what carries no mark."""
    for i in range(lo, hi):
        part = table[codes[i]]
        for t in range(indptr[i], indptr[i + 1]):
            part[_place(data[t], marks), indices[t]] += 1


@compiled()
def count_csc(data: Any, indices: Any, indptr: Any, codes: Any, lo: int, hi: int, marks: Any, table: Any) -> None:
    """Count the stored values of columns ``lo : hi``; ``table`` as in :func:`count_csr`."""
    for j in range(lo, hi):
        for t in range(indptr[j], indptr[j + 1]):
            table[codes[indices[t]], _place(data[t], marks), j] += 1
