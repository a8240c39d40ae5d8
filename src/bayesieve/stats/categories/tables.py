"""Compiled counting of categories, and which kernel reads which memory layout.

A category is told by the number that stands for it, its mark; NaN is a mark like any other. Every
kernel compares with one mark at a time and adds up in bytes, for no more samples than a byte can
count: 32 or more values are then compared and added at a time, and a level more costs little.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from bayesieve.data import Labels, Values
from bayesieve.utils import IntArray, compiled, for_each, share

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


Table = npt.NDArray[np.int64]  # counts: (n_classes, n_marks, n_features)
Marks = npt.NDArray[Any]  # the numbers that stand for levels, of the type of the values

_SAMPLE = (32, 2048)  # rows and columns in which levels are looked for first
_AT_ONCE = 2**24  # values copied together where features are looked at again
_PIECE = (4096, 512)  # rows and columns copied together where kernels cannot read the table as it lies


class CountableTable(Protocol):
    """What the search for levels needs of a table."""

    dtype: np.dtype[Any]

    def first_marks(self, most: int) -> Marks:
        """Look for values in a part of the table; more may turn up later."""
        ...

    def count(self, marks: Marks) -> Table:
        """Count some values, per class and feature."""
        ...

    def count_again(self, columns: IntArray, marks: Marks, table: Table) -> None:
        """Count in some columns only."""
        ...

    def unknown(self, columns: IntArray, known: Marks, most: int) -> Marks:
        """Find the values of some columns that are not known, until ``most`` are."""
        ...


class DenseTable:
    """A NumPy array of any type and layout.

    Parameters
    ----------
    values, labels, threads
        The table, the class of every row, and how many threads count.
    """

    def __init__(self, values: Values, labels: Labels, threads: int) -> None:
        self._is_bool = values.dtype == np.bool_
        view = values.view(np.uint8) if self._is_bool else values.view(np.ndarray)
        view.flags.writeable = False  # kernels then compile for one kind of array only
        self._values, self._labels, self._threads = view, labels, threads
        self.dtype: np.dtype[Any] = (
            np.dtype(np.float32) if view.dtype == np.float16 else view.dtype.newbyteorder("=")
        )

    def first_marks(self, most: int) -> Marks:
        """Look for values in evenly spaced rows and columns."""
        if self._is_bool:
            return np.array([0, 1], dtype=np.uint8)
        rows, columns = (-(-size // part) for size, part in zip(self._values.shape, _SAMPLE, strict=True))
        return _search([self._readable(self._values[::rows, ::columns])], np.empty(0, self.dtype), most)

    def count(self, marks: Marks) -> Table:
        """Count some values, per class and feature."""
        values, codes = self._values, self._labels.codes
        n_classes, n_features = len(self._labels.classes), values.shape[1]
        table = np.zeros((n_classes, marks.size, n_features), dtype=np.int64)
        ready = values.dtype == self.dtype
        if ready and values.flags.f_contiguous and not values.flags.c_contiguous:
            members = (codes == np.arange(n_classes)[:, None]).astype(np.uint8)
            for_each(
                lambda part: count_features(values.T, members, *part, marks, table),
                share(n_features, self._threads),
                self._threads,
            )
        elif ready and values.flags.c_contiguous:
            rows, starts = _by_class(codes, n_classes)
            for_each(
                lambda part: count_rows(values, rows, starts, *part, marks, table),
                _tiles(n_features, self._threads),
                self._threads,
            )
        else:
            parts = [(lo, min(lo + _PIECE[1], n_features)) for lo in range(0, n_features, _PIECE[1])]
            for_each(lambda part: self._count_copies(*part, marks, table), parts, self._threads)
        return table

    def _count_copies(self, lo: int, hi: int, marks: Marks, table: Table) -> None:
        counts = np.zeros((*table.shape[:2], hi - lo), dtype=np.int64)
        for first in range(0, self._values.shape[0], _PIECE[0]):
            rows = slice(first, first + _PIECE[0])
            piece = self._readable(self._values[rows, lo:hi])
            count_rows(piece, *_by_class(self._labels.codes[rows], len(table)), 0, hi - lo, marks, counts)
        table[:, :, lo:hi] = counts

    def count_again(self, columns: IntArray, marks: Marks, table: Table) -> None:
        """Count in some columns only."""
        for part, values in self._some(columns):
            table[:, :, part] = DenseTable(values, self._labels, self._threads).count(marks)

    def unknown(self, columns: IntArray, known: Marks, most: int) -> Marks:
        """Find the values of some columns that are not known, until ``most`` are."""
        return _search((values for _, values in self._some(columns)), known, most)

    def _some(self, columns: IntArray) -> Iterator[tuple[IntArray, npt.NDArray[Any]]]:
        """Copy some columns, as many at a time as memory bears."""
        width = max(1, _AT_ONCE // self._values.shape[0])
        for lo in range(0, columns.size, width):
            part = columns[lo : lo + width]
            yield part, self._readable(self._values[:, part])

    def _readable(self, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        copy = np.ascontiguousarray(values, dtype=self.dtype).view()
        copy.flags.writeable = False
        return copy


class SparseTable:
    """A CSR or CSC matrix, never made dense; its implicit zeros are values like any other.

    Parameters
    ----------
    matrix, labels, threads
        The table, the class of every row, and how many threads count.
    """

    def __init__(self, matrix: Values, labels: Labels, threads: int) -> None:
        self._matrix, self._labels, self._threads = matrix, labels, threads
        data = matrix.data.view(np.uint8) if matrix.dtype == np.bool_ else matrix.data
        self.dtype: np.dtype[Any] = (
            np.dtype(np.float32) if data.dtype == np.float16 else data.dtype.newbyteorder("=")
        )
        self._data = data.astype(self.dtype, copy=False)

    def first_marks(self, most: int) -> Marks:
        """Find all stored values, and zero where some are implicit."""
        implicit = self._matrix.nnz < self._matrix.shape[0] * self._matrix.shape[1]
        zero = np.zeros(int(implicit), self.dtype)
        return np.concatenate([zero, _search([self._data[None, :]], zero, most)])

    def count(self, marks: Marks) -> Table:
        """Count some values, per class and feature."""
        by_row = self._matrix.format == "csr"
        kernel = count_csr if by_row else count_csc
        n_samples, n_features = self._matrix.shape
        n_tables = self._threads if by_row else 1  # rows share columns: every thread needs counts of its own
        tables = np.zeros((n_tables, len(self._labels.classes), marks.size + 1, n_features), np.int64)
        step = -(-n_samples // n_tables)
        parts = [(k * step, min((k + 1) * step, n_samples)) for k in range(n_tables)]
        tasks = list(enumerate(parts)) if by_row else [(0, part) for part in share(n_features, self._threads)]
        stored = (self._data, self._matrix.indices, self._matrix.indptr, self._labels.codes)
        for_each(lambda task: kernel(*stored, *task[1], marks, tables[task[0]]), tasks, self._threads)
        table = tables[0] if n_tables == 1 else tables.sum(axis=0)
        zeros = self._labels.counts[:, None] - table.sum(axis=1)
        table[:, np.flatnonzero(marks == 0)] += zeros[:, None]
        return np.ascontiguousarray(table[:, :-1])

    def count_again(self, columns: IntArray, marks: Marks, table: Table) -> None:
        """Count in some columns only."""
        table[:, :, columns] = self.count(marks)[:, :, columns]

    def unknown(self, columns: IntArray, known: Marks, most: int) -> Marks:
        """Find stored values, or zero, that are not known, until ``most`` are."""
        if not columns.size:
            return known[:0]
        more = _search([self._data[None, :]], known, most)
        n_samples, n_features = self._matrix.shape
        if self._matrix.nnz < n_samples * n_features and not (np.concatenate([known, more]) == 0).any():
            more = np.concatenate([more, np.zeros(1, self.dtype)])
        return more


def _search(blocks: Iterable[npt.NDArray[Any]], known: Marks, most: int) -> Marks:
    """Return the values in some 2-D arrays that are not known, until ``most`` are."""
    found = np.empty(max(most, known.size + 1), dtype=known.dtype)
    found[: known.size] = known
    n_found = known.size
    for block in blocks:
        if n_found < found.size:
            n_found = find_unknown(block, found, n_found)
    return found[known.size : n_found]


def _by_class(codes: IntArray, n_classes: int) -> tuple[IntArray, IntArray]:
    """Rows sorted by class, and where each class begins among them."""
    starts = np.zeros(n_classes + 1, dtype=np.int64)
    np.cumsum(np.bincount(codes, minlength=n_classes), out=starts[1:])
    return np.argsort(codes, kind="stable"), starts


def _tiles(n_features: int, threads: int) -> list[tuple[int, int]]:
    """Columns that a thread sweeps together: enough of them to keep every thread busy."""
    width = min(TILE, max(512, 64 * -(-n_features // (128 * threads))))
    return [(lo, min(lo + width, n_features)) for lo in range(0, n_features, width)]
