r"""Centred third and fourth powers of every class and feature: what the shape of a distribution adds to moments.

Two sweeps over the values in memory, the second about the class means, so that no digits cancel; parts merge by
the formulas of Pébay (2008).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bayesieve.data import LabelledMatrix, is_sparse
from bayesieve.utils import FloatArray, compiled, for_each, n_threads_for

_TILE = 512  # columns swept together
_ROW_BLOCK = 8192  # rows of a CSR matrix whose means are taken together


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
            return cls._of_columns(values, codes, n_classes)
        parts = [
            cls._of_rows(values, codes, slice(lo, lo + _ROW_BLOCK), n_classes, threads)
            for lo in range(0, max(matrix.n_samples, 1), _ROW_BLOCK)
        ]
        whole = parts[0]
        for part in parts[1:]:
            whole = whole.merge(part)
        return whole

    @classmethod
    def _of_dense(cls, values: Any, codes: Any, n_classes: int, threads: int) -> Shape:
        sums = np.zeros((5, n_classes, values.shape[1]))
        order = np.argsort(codes, kind="stable")
        starts = np.searchsorted(codes[order], np.arange(n_classes + 1))

        def work(lo: int) -> None:
            tile = np.ascontiguousarray(values[:, lo : lo + _TILE], dtype=np.float64)
            _sweep(tile, order, starts, sums[:, :, lo : lo + tile.shape[1]])

        for_each(work, range(0, values.shape[1], _TILE), threads)
        return cls(*sums)

    @classmethod
    def _of_columns(cls, values: Any, codes: Any, n_classes: int) -> Shape:
        sums = np.zeros((5, n_classes, values.shape[1]))
        number = np.bincount(codes, minlength=n_classes).astype(np.float64)
        data = values.data.astype(np.float64, copy=False)
        _sweep_columns(data, values.indices, values.indptr, codes, number, sums)
        return cls(*sums)

    @classmethod
    def _of_rows(cls, values: Any, codes: Any, part: slice, n_classes: int, threads: int) -> Shape:
        """Sum some rows of a CSR matrix, class by class; to the last bit as :meth:`_of_columns` does."""
        here = codes[part]
        order = part.start + np.argsort(here, kind="stable")
        starts = np.searchsorted(here[order - part.start], np.arange(n_classes + 1))
        sums = np.zeros((5, n_classes, values.shape[1]))

        def work(c: int) -> None:
            _sweep_rows(values.data, values.indices, values.indptr, order[starts[c] : starts[c + 1]], c, sums)

        for_each(work, range(n_classes), threads)
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
            if np.isnan(data[t]):
                n[c] -= 1.0
            else:
                mean[c] += data[t]
        for c in range(n_classes):
            mean[c] = mean[c] / n[c] if n[c] > 0.0 else 0.0
            d = -mean[c]
            powers[c, 0], powers[c, 1] = zeros[c] * d, zeros[c] * d * d
            powers[c, 2], powers[c, 3] = zeros[c] * d**3, zeros[c] * d**4
        for t in range(indptr[j], indptr[j + 1]):
            if not np.isnan(data[t]):
                c = codes[indices[t]]
                d = data[t] - mean[c]
                e = d * d
                powers[c, 0] += d
                powers[c, 1] += e
                powers[c, 2] += e * d
                powers[c, 3] += e * e
        for c in range(n_classes):
            _store(sums, c, j, n[c], mean[c], powers[c, 0], powers[c, 1], powers[c, 2], powers[c, 3])


@compiled()
def _sweep_rows(data: Any, indices: Any, indptr: Any, rows: Any, c: int, sums: Any) -> None:
    """Sums of the rows of one class of a CSR matrix; implicit zeros are one more value with a weight."""
    width = sums.shape[2]
    n, zeros, mean = np.full(width, float(rows.shape[0])), np.full(width, float(rows.shape[0])), np.zeros(width)
    for k in range(rows.shape[0]):
        for t in range(indptr[rows[k]], indptr[rows[k] + 1]):
            f, value = np.uint64(indices[t]), np.float64(data[t])
            zeros[f] -= 1.0
            if np.isnan(value):
                n[f] -= 1.0
            else:
                mean[f] += value
    powers = np.empty((width, 4))
    for j in range(width):
        mean[j] = mean[j] / n[j] if n[j] > 0.0 else 0.0
        d = -mean[j]
        powers[j, 0], powers[j, 1] = zeros[j] * d, zeros[j] * d * d
        powers[j, 2], powers[j, 3] = zeros[j] * d**3, zeros[j] * d**4
    for k in range(rows.shape[0]):
        for t in range(indptr[rows[k]], indptr[rows[k] + 1]):
            f, value = np.uint64(indices[t]), np.float64(data[t])
            if not np.isnan(value):
                d = value - mean[f]
                e = d * d
                cell = powers[f]
                cell[0] += d
                cell[1] += e
                cell[2] += e * d
                cell[3] += e * e
    for j in range(width):
        _store(sums, c, j, n[j], mean[j], powers[j, 0], powers[j, 1], powers[j, 2], powers[j, 3])
