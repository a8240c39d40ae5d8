"""Tables that can be counted: how they lie in memory, and which kernel reads them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from bayesieve.data import Labels, Values
from bayesieve.stats import category_kernels as kernels
from bayesieve.stats.threads import for_each, share

Table = npt.NDArray[np.int64]  # counts: (n_classes, n_marks, n_features)
IntArray = npt.NDArray[np.int64]
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
                lambda part: kernels.count_features(values.T, members, *part, marks, table),
                share(n_features, self._threads),
                self._threads,
            )
        elif ready and values.flags.c_contiguous:
            rows, starts = _by_class(codes, n_classes)
            for_each(
                lambda part: kernels.count_rows(values, rows, starts, *part, marks, table),
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
            kernels.count_rows(piece, *_by_class(self._labels.codes[rows], len(table)), 0, hi - lo, marks, counts)
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
        kernel = kernels.count_csr if by_row else kernels.count_csc
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
            n_found = kernels.find_unknown(block, found, n_found)
    return found[known.size : n_found]


def _by_class(codes: IntArray, n_classes: int) -> tuple[IntArray, IntArray]:
    """Rows sorted by class, and where each class begins among them."""
    starts = np.zeros(n_classes + 1, dtype=np.int64)
    np.cumsum(np.bincount(codes, minlength=n_classes), out=starts[1:])
    return np.argsort(codes, kind="stable"), starts


def _tiles(n_features: int, threads: int) -> list[tuple[int, int]]:
    """Columns that a thread sweeps together: enough of them to keep every thread busy."""
    width = min(kernels.TILE, max(512, 64 * -(-n_features // (128 * threads))))
    return [(lo, min(lo + width, n_features)) for lo in range(0, n_features, width)]
