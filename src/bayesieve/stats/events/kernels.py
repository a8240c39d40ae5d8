"""Totals of counts over dense and sparse tables, at the speed of reading them.

Sums of whole numbers are exact in float64 in any order, up to 2**53.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from bayesieve.data import LabelledMatrix, is_sparse
from bayesieve.stats.moments.accumulate import RowPlan, tile_width
from bayesieve.utils import (
    TABLE,
    DataError,
    FloatArray,
    IntArray,
    Wording,
    check_missing,
    compiled,
    for_each,
    n_threads_for,
    share,
)

Totals = tuple[IntArray, FloatArray, FloatArray]  # count, total, exposure

MAX_TILE = 10_240  # as wide as the widest tile_width(); a kernel takes its constants from its own file
_CONVERT_TILE = 512  # columns copied at a time where the kernels cannot read the table as it lies
_ADVICE = (
    "Counts cannot be negative. For measurements (log ratios, centred or batch-corrected values) use the "
    "Gaussian model; for counts go back to the table as it was counted, or use its log1p",
    Wording("", " (--transform log1p)"),
    " with the Gaussian model.",
)


@compiled()
def _rows(X: Any, rows: Any, starts: Any, lo: int, width: int, total: Any, negative: Any) -> None:
    """Columns ``lo : lo + width`` of a row-major table without missing values, four rows at a time."""
    buffer = np.empty(2 * MAX_TILE)
    for c in range(starts.shape[0] - 1):
        buffer[:] = 0.0
        k, last = starts[c], starts[c + 1]
        while k + 4 <= last:
            p, q, r, s = X[rows[k], lo:], X[rows[k + 1], lo:], X[rows[k + 2], lo:], X[rows[k + 3], lo:]
            for j in range(width):
                a, b, d, e = np.float64(p[j]), np.float64(q[j]), np.float64(r[j]), np.float64(s[j])
                buffer[j] += (a + b) + (d + e)
                buffer[MAX_TILE + j] += (_below(a) + _below(b)) + (_below(d) + _below(e))
            k += 4
        while k < last:
            p = X[rows[k], lo:]
            for j in range(width):
                a = np.float64(p[j])
                buffer[j] += a
                buffer[MAX_TILE + j] += _below(a)
            k += 1
        for j in range(width):
            total[c, lo + j] = buffer[j]
            negative[lo + j] += buffer[MAX_TILE + j]


@compiled()
def _rows_present(
    X: Any, exposures: Any, rows: Any, starts: Any, lo: int, width: int,
    count: Any, total: Any, exposure: Any, negative: Any,
) -> None:  # fmt: skip
    """Return the same as :func:`_rows` of the values that are there, with their number and their exposure."""
    buffer = np.empty(4 * MAX_TILE)
    for c in range(starts.shape[0] - 1):
        buffer[:] = 0.0
        for k in range(starts[c], starts[c + 1]):
            row, weight = X[rows[k], lo:], exposures[rows[k]]
            for j in range(width):
                value = np.float64(row[j])
                absent = np.isnan(value)
                buffer[j] += 0.0 if absent else value
                buffer[MAX_TILE + j] += _below(value)
                buffer[2 * MAX_TILE + j] += 0.0 if absent else 1.0
                buffer[3 * MAX_TILE + j] += 0.0 if absent else weight
        for j in range(width):
            total[c, lo + j] = buffer[j]
            negative[lo + j] += buffer[MAX_TILE + j]
            count[c, lo + j] = np.int64(buffer[2 * MAX_TILE + j])
            exposure[c, lo + j] = buffer[3 * MAX_TILE + j]


@compiled()
def _below(value: float) -> float:
    return 1.0 if value < 0.0 else 0.0


@compiled(fastmath={"reassoc", "nsz"})
def _sum_of(values: Any, rows: Any, first: int, last: int) -> tuple[float, float]:
    total = negative = 0.0
    for k in range(first, last):
        value = np.float64(values[rows[k]])
        total += value
        negative += _below(value)
    return total, negative


@compiled()
def _features(V: Any, rows: Any, starts: Any, lo: int, hi: int, total: Any, negative: Any) -> None:
    """Features ``lo : hi`` of a features x samples table without missing values."""
    for f in range(lo, hi):
        for c in range(starts.shape[0] - 1):
            total[c, f], below = _sum_of(V[f], rows, starts[c], starts[c + 1])
            negative[f] += below


@compiled()
def _features_present(
    V: Any, exposures: Any, rows: Any, starts: Any, lo: int, hi: int,
    count: Any, total: Any, exposure: Any, negative: Any,
) -> None:  # fmt: skip
    """Features ``lo : hi`` of a features x samples table, the values that are there."""
    for f in range(lo, hi):
        for c in range(starts.shape[0] - 1):
            n, events, exposed, below = 0, 0.0, 0.0, 0.0
            for k in range(starts[c], starts[c + 1]):
                value = np.float64(V[f, rows[k]])
                absent = np.isnan(value)
                n += 0 if absent else 1
                events += 0.0 if absent else value
                exposed += 0.0 if absent else exposures[rows[k]]
                below += _below(value)
            count[c, f], total[c, f], exposure[c, f] = n, events, exposed
            negative[f] += below


def event_sums(matrix: LabelledMatrix, exposures: FloatArray, missing: str, n_threads: int | None) -> Totals:
    """Count, total and exposure per class; counts and exposures per feature only where values are missing."""
    check_missing(missing)
    if is_sparse(matrix.values):
        return _sparse_sums(matrix, exposures, missing)
    return _dense_sums(matrix, exposures, missing, n_threads_for(n_threads, matrix.n_samples * matrix.n_features))


def _plain(matrix: LabelledMatrix, exposures: FloatArray) -> tuple[IntArray, FloatArray]:
    """Count and exposure of the classes where nothing is missing."""
    labels = matrix.labels
    sums = np.bincount(labels.codes, weights=exposures, minlength=len(labels.classes))
    return labels.counts, sums.astype(np.float64)


def _dense_sums(matrix: LabelledMatrix, exposures: FloatArray, missing: str, threads: int) -> Totals:
    labels, values = matrix.labels, matrix.values
    shape = (len(labels.classes), matrix.n_features)
    plan = RowPlan.build(labels.codes, shape[0], matrix.n_samples)
    total, negative = np.zeros(shape), np.zeros(shape[1])
    count, exposure = _plain(matrix, exposures)
    if missing == "omit" and values.dtype.kind == "f":
        counted, exposed = np.zeros(shape, np.int64), np.zeros(shape)
        _sweep(values, plan, (exposures,), (counted, total, exposed, negative), threads)
        if (counted != count[:, None]).any():
            count, exposure = counted, exposed
    else:
        _sweep(values, plan, (), (total, negative), threads)
    finite = np.isfinite(total).all(axis=0)
    if not finite.all():
        matrix.explain_non_finite(np.flatnonzero(~finite), missing)
    if negative.any():
        _explain_negative(matrix, np.flatnonzero(negative), int(negative.sum()))
    return count, total, exposure


def _sweep(values: Any, plan: RowPlan, exposures: tuple[Any, ...], out: tuple[Any, ...], threads: int) -> None:
    """Run the kernel that reads the table as it lies, with exposures if values may be missing."""
    rows, starts, n_features = plan.rows, plan.starts[0], values.shape[1]
    values = values.view(np.uint8) if values.dtype == np.bool_ else values.view(np.ndarray)
    values.flags.writeable = False  # kernels then compile for one kind of array only
    by_row: Any = _rows_present if exposures else _rows
    by_feature: Any = _features_present if exposures else _features
    readable = values.dtype.isnative and values.dtype != np.float16
    if readable and values.flags.f_contiguous and not values.flags.c_contiguous:
        transposed = values.T
        for_each(
            lambda part: by_feature(transposed, *exposures, rows, starts, *part, *out),
            share(n_features, threads),
            threads,
        )
        return
    direct = readable and values.flags.c_contiguous
    width = tile_width(n_features, values.dtype.itemsize) if direct else _CONVERT_TILE

    def work(lo: int) -> None:
        wide = min(width, n_features - lo)
        if direct:
            by_row(values, *exposures, rows, starts, lo, wide, *out)
            return
        piece = np.ascontiguousarray(values[:, lo : lo + wide], dtype=np.float64)
        piece.flags.writeable = False
        by_row(piece, *exposures, rows, starts, 0, wide, *(array[..., lo : lo + wide] for array in out))

    for_each(work, range(0, n_features, width), threads)


def _sparse_sums(matrix: LabelledMatrix, exposures: FloatArray, missing: str) -> Totals:
    """Sums of the stored values as a product with the table of memberships; the implicit zeros add nothing."""
    labels, values = matrix.labels, matrix.values
    members = np.zeros((matrix.n_samples, len(labels.classes)))
    members[np.arange(matrix.n_samples), labels.codes] = 1.0
    count, exposure = _plain(matrix, exposures)
    absent = np.isnan(values.data)
    bad = np.isinf(values.data) | absent if missing == "raise" else np.isinf(values.data)
    if bad.any():
        matrix.explain_non_finite(_columns_of(values, bad), missing)
    negative = values.data < 0
    if negative.any():
        _explain_negative(matrix, _columns_of(values, negative), int(negative.sum()))
    if absent.any():
        gone = _with_data(values, absent.astype(np.float64)).T
        count = count[:, None] - np.rint((gone @ members).T).astype(np.int64)
        exposure = np.where(count > 0, exposure[:, None] - (gone @ (members * exposures[:, None])).T, 0.0)
        values = _with_data(values, np.where(absent, 0, values.data))
    return count, np.ascontiguousarray((values.T @ members).T), exposure


def _with_data(values: Any, data: Any) -> Any:
    return type(values)((data, values.indices, values.indptr), shape=values.shape)


def _columns_of(values: Any, chosen: npt.NDArray[np.bool_]) -> IntArray:
    return np.unique(values.tocoo().col[chosen]).astype(np.int64)


def _explain_negative(matrix: LabelledMatrix, columns: IntArray, n_negative: int) -> None:
    j, column = next(iter(matrix.columns(columns[:1])))
    i = int(np.flatnonzero(column < 0)[0])
    sample = repr(matrix.sample_names[i]) if matrix.sample_names else str(i)
    feature = f"column {j}" if matrix.feature_names is None else repr(matrix.feature_names[j])
    raise DataError(
        TABLE,
        f" holds {n_negative} negative value(s) in {columns.size} of {matrix.n_features} features, the first at "
        f"sample {sample}, feature {feature}: {column[i]:g}.",
        hint=_ADVICE,
        kind="negative-counts",
    )
