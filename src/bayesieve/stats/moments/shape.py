r"""Centred third and fourth powers of every class and feature: what the shape of a distribution adds to moments.

Two sweeps over the values in memory, the second about the class means, so that no digits cancel; parts merge by
the formulas of Pébay (2008). Of the rows of a sparse matrix one sweep is enough, about zero or about a rough mean
of the features that are rarely zero; what that costs digits is swept again about the class means.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bayesieve.data import LabelledMatrix, is_sparse
from bayesieve.utils import FloatArray, IntArray, compiled, for_each, n_threads_for, run, share

_TILE, _NARROW = 512, 128  # columns swept together, of few samples and of many
_MOST = 2**18  # values that columns of few samples hold together, so that they stay in the processor's cache
_ROWS = 4096  # rows of a CSR matrix that are added up together
_SAMPLE = 512  # rows that tell which columns are dense
_DENSE = 1.5  # squares about zero this many times those about the mean: few zeros
_CANCELLED = 10.0  # squares about the pivot this many times those about the mean cost digits


@dataclass(frozen=True, slots=True, eq=False)
class Shape:
    """Number, mean and centred second to fourth powers, each ``(n_classes, n_features)``.

    Parameters
    ----------
    count, mean
        Number of values and their mean.
    squares, cubes, fourths
        Sums of powers of the distance from the mean.
    """

    count: FloatArray
    mean: FloatArray
    squares: FloatArray
    cubes: FloatArray
    fourths: FloatArray

    @classmethod
    def of(cls, matrix: LabelledMatrix, n_threads: int | None = None) -> Shape:
        """Sum a table; missing values are left out."""
        values, codes, n_classes = matrix.values, matrix.labels.codes, len(matrix.labels.classes)
        threads = n_threads_for(n_threads, matrix.n_samples * matrix.n_features)
        if not is_sparse(values):
            return cls._of_dense(np.asarray(values), codes, n_classes, threads)
        if values.format == "csc":
            return cls._of_columns(values, codes, n_classes, threads)
        return cls._of_rows(values, codes, n_classes, threads)

    @classmethod
    def _of_dense(cls, values: Any, codes: Any, n_classes: int, threads: int) -> Shape:
        sums = np.zeros((5, n_classes, values.shape[1]))
        order = np.argsort(codes, kind="stable")
        starts = np.searchsorted(codes[order], np.arange(n_classes + 1))

        width = max(_NARROW, min(_TILE, _MOST // max(values.shape[0], 1)))

        def work(lo: int) -> None:
            tile = np.ascontiguousarray(values[:, lo : lo + width], dtype=np.float64)
            _sweep(tile, order, starts, sums[:, :, lo : lo + tile.shape[1]])

        for_each(work, range(0, values.shape[1], width), threads)
        return cls(*sums)

    @classmethod
    def _of_columns(cls, values: Any, codes: Any, n_classes: int, threads: int = 1) -> Shape:
        sums = np.zeros((5, n_classes, values.shape[1]))
        number = np.bincount(codes, minlength=n_classes).astype(np.float64)

        def work(part: tuple[int, int]) -> None:
            ends = values.indptr[part[0] : part[1] + 1]
            _sweep_columns(values.data, values.indices, ends, codes, number, sums[:, :, slice(*part)])

        for_each(work, share(values.shape[1], threads), threads)
        return cls(*sums)

    @classmethod
    def _of_rows(cls, values: Any, codes: Any, n_classes: int, threads: int) -> Shape:
        """Sum the rows of a CSR matrix, class by class; some columns of a class once or twice more."""
        rows, sums = _SortedRows.of(values, codes, n_classes), np.zeros((5, n_classes, values.shape[1]))
        pivots, lost = rows.pivots(), np.zeros(sums.shape[1:], np.bool_)
        cells, present = np.zeros((*lost.shape, 4)), np.zeros(lost.shape)
        for c, powers, count in rows.sums(pivots, threads):
            cells[c] += powers
            present[c] += count
        _store_cells(cells, present, rows.number[:, None], pivots, sums, lost)
        again = np.flatnonzero(lost.any(axis=1)).tolist()
        for_each(lambda c: rows.sum_again(c, np.flatnonzero(lost[c]), sums), again, threads)
        return cls(*sums)

    def is_complete(self, counts: Any) -> bool:
        """Whether every value was there and finite, so that means and squares are all that there is to know."""
        here = self.count == np.asarray(counts)[:, None]
        return bool(here.all() and np.isfinite(self.mean).all() and np.isfinite(self.fourths).all())

    def grow(self, n_classes: int) -> Shape:
        """The same with more classes, of which nothing has been seen."""
        more = n_classes - self.mean.shape[0]
        if more <= 0:
            return self
        return Shape(*(np.concatenate([part, np.zeros((more, part.shape[1]))]) for part in self._parts))

    def merge(self, other: Shape) -> Shape:
        """Both samples together."""
        return Shape(*merge_powers(self._parts, other._parts))

    @staticmethod
    def join(parts: Sequence[Shape]) -> Shape:
        """Features of several, side by side."""
        names = ("count", "mean", "squares", "cubes", "fourths")
        return Shape(*(np.concatenate([getattr(part, name) for part in parts], axis=1) for name in names))

    @property
    def _parts(self) -> tuple[FloatArray, ...]:
        return self.count, self.mean, self.squares, self.cubes, self.fourths


def merge_powers(first: tuple[Any, ...], second: tuple[Any, ...]) -> tuple[Any, ...]:
    """Count, mean and centred second to fourth powers of two samples together; either may be empty."""
    every = (*first, *second)
    shape = np.broadcast_shapes(*(np.shape(each) for each in every))
    merged = np.empty((5, *shape))
    columns = tuple(_flat(each, shape) for each in every)
    _merge_powers(columns[:5], columns[5:], merged.reshape(5, -1))
    return tuple(merged)


def _flat(part: Any, shape: tuple[int, ...]) -> Any:
    """Return one read-only vector, of one element for a number."""
    array = np.asarray(part, dtype=np.float64)
    if array.ndim and array.shape != shape:
        array = np.broadcast_to(array, shape)
    flat = np.ascontiguousarray(array).reshape(-1).view()
    flat.flags.writeable = False
    return flat


@compiled()
def _merge_powers(first: Any, second: Any, merged: Any) -> None:
    """Merge feature by feature; what is the same for all has one element."""
    for i in range(merged.shape[1]):
        na, nb = first[0][i % first[0].shape[0]], second[0][i % second[0].shape[0]]
        ma, mb = first[1][i % first[1].shape[0]], second[1][i % second[1].shape[0]]
        qa, qb = first[2][i % first[2].shape[0]], second[2][i % second[2].shape[0]]
        ca, cb = first[3][i % first[3].shape[0]], second[3][i % second[3].shape[0]]
        fa, fb = first[4][i % first[4].shape[0]], second[4][i % second[4].shape[0]]
        n = na + nb
        a, b = (na / n, nb / n) if n > 0.0 else (0.0, 0.0)
        d = mb - ma if na > 0.0 and nb > 0.0 else 0.0
        weight = n * a * b
        merged[0, i] = n
        merged[1, i] = ma + d * b if na > 0.0 else mb
        merged[2, i] = qa + qb + d * d * weight
        merged[3, i] = ca + cb + d * d * d * weight * (a - b) + 3.0 * d * (a * qb - b * qa)
        merged[4, i] = (
            fa + fb + d * d * d * d * weight * (a * a - a * b + b * b)
            + 6.0 * d * d * (a * a * qb + b * b * qa) + 4.0 * d * (a * cb - b * ca)
        )  # fmt: skip


@np.errstate(over="ignore", invalid="ignore")
def remove_powers(whole: tuple[Any, ...], part: tuple[Any, ...], left: tuple[Any, ...]) -> tuple[Any, Any]:
    """Centred third and fourth powers of what is left; ``left`` is its count, mean and centred squares."""
    (n, _, _, c, f), (nb, mb, qb, cb, fb), (na, ma, qa) = whole, part, left
    n = np.asarray(n, dtype=np.float64)
    a = np.divide(na, n, out=np.zeros(np.shape(n)), where=n > 0)
    b = np.divide(nb, n, out=np.zeros(np.shape(n)), where=n > 0)
    d = np.where(np.logical_and(np.asarray(na) > 0, np.asarray(nb) > 0), mb - ma, 0.0)
    weight = n * a * b
    cubes = c - cb - d**3 * weight * (a - b) - 3.0 * d * (a * qb - b * qa)
    fourths = (
        f - fb - d**4 * weight * (a * a - a * b + b * b)
        - 6.0 * d * d * (a * a * qb + b * b * qa) - 4.0 * d * (a * cb - b * cubes)
    )  # fmt: skip
    enough = np.asarray(na) > 1
    return np.where(enough, cubes, 0.0), np.where(enough, np.maximum(fourths, 0.0), 0.0)


@compiled(fastmath={"contract"})
def _sweep(X: Any, order: Any, starts: Any, sums: Any) -> None:
    """Sums of a row-major tile; the mean comes from a first sweep, its rounding is made good in the second."""
    width = X.shape[1]
    number, mean = np.empty(width), np.empty(width)
    one, two, three, four = np.empty(width), np.empty(width), np.empty(width), np.empty(width)
    for c in range(starts.shape[0] - 1):
        number[:], mean[:], one[:], two[:], three[:], four[:] = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
        for k in range(starts[c], starts[c + 1]):
            row = X[order[k]]
            for j in range(width):
                there = row[j] == row[j]
                number[j] += 1.0 if there else 0.0
                mean[j] += row[j] if there else 0.0
        for j in range(width):
            mean[j] = mean[j] / number[j] if number[j] > 0.0 else 0.0
        for k in range(starts[c], starts[c + 1]):
            row = X[order[k]]
            for j in range(width):
                d = row[j] - mean[j] if row[j] == row[j] else 0.0
                e = d * d
                one[j] += d
                two[j] += e
                three[j] += e * d
                four[j] += e * e
        for j in range(width):
            _store(sums, c, j, number[j], mean[j], one[j], two[j], three[j], four[j])


@compiled()
def _store(
    sums: Any, c: int, j: int, n: float, pivot: float, one: float, two: float, three: float, four: float
) -> None:
    """Turn powers about a pivot next to the mean into powers about the mean."""
    if n == 0.0:
        return
    s = one / n
    sums[0, c, j], sums[1, c, j] = n, pivot + s
    sums[2, c, j] = max(two - one * s, 0.0)
    sums[3, c, j] = three - 3.0 * s * two + 2.0 * one * s * s
    sums[4, c, j] = max(four - 4.0 * s * three + 6.0 * s * s * two - 3.0 * one * s**3, 0.0)


@compiled()
def _sweep_columns(data: Any, indices: Any, indptr: Any, codes: Any, number: Any, sums: Any) -> None:
    """Sums of the columns of a CSC matrix; implicit zeros are one more value with a weight."""
    n_classes = number.shape[0]
    n, mean, zeros, powers = (
        np.empty(n_classes),
        np.empty(n_classes),
        np.empty(n_classes),
        np.empty((n_classes, 4)),
    )
    for j in range(indptr.shape[0] - 1):
        n[:], zeros[:], mean[:], powers[:] = number, number, 0.0, 0.0
        for t in range(indptr[j], indptr[j + 1]):
            c = codes[indices[t]]
            zeros[c] -= 1.0
            value = np.float64(data[t])
            if np.isnan(value):
                n[c] -= 1.0
            else:
                mean[c] += value
        for c in range(n_classes):
            mean[c] = mean[c] / n[c] if n[c] > 0.0 else 0.0
            d = -mean[c]
            powers[c, 0], powers[c, 1] = zeros[c] * d, zeros[c] * d * d
            powers[c, 2], powers[c, 3] = zeros[c] * d**3, zeros[c] * d**4
        for t in range(indptr[j], indptr[j + 1]):
            value = np.float64(data[t])
            if not np.isnan(value):
                c = codes[indices[t]]
                d = value - mean[c]
                e = d * d
                powers[c, 0] += d
                powers[c, 1] += e
                powers[c, 2] += e * d
                powers[c, 3] += e * e
        for c in range(n_classes):
            _store(sums, c, j, n[c], mean[c], powers[c, 0], powers[c, 1], powers[c, 2], powers[c, 3])


@dataclass(frozen=True, slots=True, eq=False)
class _SortedRows:
    """Rows of a CSR matrix by class, cut into parts of which the sums do not depend on the threads.

    Parameters
    ----------
    values, order
        The matrix, and its rows in the order of classes.
    number
        Rows of each class.
    """

    values: Any
    order: IntArray
    number: FloatArray

    @classmethod
    def of(cls, values: Any, codes: IntArray, n_classes: int) -> _SortedRows:
        small = codes.astype(np.uint16) if n_classes < 2**16 else codes  # sorted by radix
        return cls(values, np.argsort(small, kind="stable"), np.bincount(codes, minlength=n_classes).astype(float))

    def pivots(self) -> FloatArray:
        """Means of the columns with few zeros, among some of the rows: sums about zero would cost digits there."""
        rows = np.arange(0, self.order.size, max(self.order.size // _SAMPLE, 1))
        powers, zeros = np.zeros((self.values.shape[1], 4)), np.zeros(self.values.shape[1])
        _sum_rows(*self._arrays, rows, zeros, powers, zeros.astype(np.int32))
        mean = powers[:, 0] / max(rows.size, 1)
        with np.errstate(invalid="ignore", over="ignore"):
            dense = powers[:, 1] > _DENSE * (powers[:, 1] - powers[:, 0] * mean)
        return np.where(dense & np.isfinite(mean), mean, 0.0)

    @property
    def _arrays(self) -> tuple[Any, Any, Any]:
        return self.values.data, self.values.indices, self.values.indptr

    def sums(self, pivots: FloatArray, threads: int) -> Iterator[tuple[int, FloatArray, Any]]:
        """Yield classes, sums over some of their rows, and numbers of values that are not implicit zeros."""
        ends = np.concatenate([[0], np.cumsum(self.number)]).astype(np.int64).tolist()
        parts = [
            (c, self.order[lo : min(lo + _ROWS, ends[c + 1])])
            for c in range(self.number.size)
            for lo in range(ends[c], ends[c + 1], _ROWS)
        ]

        def work(part: tuple[int, IntArray]) -> tuple[int, FloatArray, Any]:
            c, rows = part
            powers, present = np.zeros((pivots.size, 4)), np.zeros(pivots.size, np.int32)
            _sum_rows(*self._arrays, rows, pivots, powers, present)
            return c, powers, present

        yield from run(work, parts, threads)

    def sum_again(self, c: int, columns: IntArray, sums: FloatArray) -> None:
        """Sum columns of a class about its means; first about zero where missing values hide these."""
        ends = np.cumsum(self.number).astype(np.int64)
        rows = self.order[ends[c] - int(self.number[c]) : ends[c]]
        while columns.size:
            slots = np.full(self.values.shape[1], -1, np.int32)
            slots[columns] = np.arange(columns.size)
            known = np.isfinite(sums[1, c, columns])
            pivots = np.where(known, sums[1, c, columns], 0.0)
            cells, count = np.zeros((columns.size, 4)), np.zeros((columns.size, 2))
            _sum_rows_again(*self._arrays, rows, slots, pivots, cells, count)
            swept, lost = np.zeros((5, 1, columns.size)), np.zeros((1, columns.size), np.bool_)
            _store_cells(cells[None], count[None, :, 0], self.number[c] - count[None, :, 1], pivots, swept, lost)
            sums[:, c, columns] = swept[:, 0]
            columns = columns[~known & lost[0] & np.isfinite(swept[1, 0])]


@compiled(fastmath={"contract"})
def _sum_rows(data: Any, indices: Any, indptr: Any, rows: Any, pivots: Any, powers: Any, present: Any) -> None:
    """First to fourth powers about pivots of the values of some rows; the sums of a column lie side by side."""
    for k in range(rows.shape[0]):
        begin, end = indptr[rows[k]], indptr[rows[k] + 1]
        values, columns = data[begin:end], indices[begin:end]
        for t in range(end - begin):
            f = np.uint64(columns[t])
            d = np.float64(values[t]) - pivots[f]
            e = d * d
            powers[f, 0] += d
            powers[f, 1] += e
            powers[f, 2] += e * d
            powers[f, 3] += e * e
            present[f] += np.int32(1)


@compiled(fastmath={"contract"})
def _sum_rows_again(
    data: Any, indices: Any, indptr: Any, rows: Any, slots: Any, pivots: Any, powers: Any, count: Any
) -> None:
    """The same of columns that have a slot; values that are there and those that are missing are counted."""
    for k in range(rows.shape[0]):
        for t in range(indptr[rows[k]], indptr[rows[k] + 1]):
            slot = slots[np.uint64(indices[t])]
            if slot < 0:
                continue
            d = np.float64(data[t]) - pivots[slot]
            if np.isnan(d):
                count[slot, 1] += 1.0
                continue
            e = d * d
            powers[slot, 0] += d
            powers[slot, 1] += e
            powers[slot, 2] += e * d
            powers[slot, 3] += e * e
            count[slot, 0] += 1.0


@compiled()
def _store_cells(cells: Any, present: Any, number: Any, pivots: Any, sums: Any, lost: Any) -> None:
    """Powers about the mean from those about pivots; implicit zeros are one more value with a weight."""
    for c in range(cells.shape[0]):
        for j in range(cells.shape[1]):
            n, d = number[c, j % number.shape[1]], -pivots[j]
            zeros = n - present[c, j]
            one, two = cells[c, j, 0] + zeros * d, cells[c, j, 1] + zeros * d * d
            three, four = cells[c, j, 2] + zeros * d**3, cells[c, j, 3] + zeros * d**4
            _store(sums, c, j, n, -d, one, two, three, four)
            lost[c, j] = not two <= _CANCELLED * sums[2, c, j]
