"""From a table to the moments of its classes: choose the kernel, share the work, merge in a fixed order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from bayesieve.data import LabelledMatrix, is_sparse
from bayesieve.errors import DataError
from bayesieve.stats import dense_kernels as by_row
from bayesieve.stats import feature_kernels as by_feature
from bayesieve.stats.row_plan import IntArray, RowPlan
from bayesieve.stats.sparse_sums import sparse_sums
from bayesieve.stats.threads import for_each, n_threads_for, share

FloatArray = npt.NDArray[np.float64]

SMALLEST_SQUARES = 1e-305  # below this, squares have lost digits
_CONVERT_TILE = 512  # columns copied at a time where the kernels cannot read the table as it lies


@dataclass(slots=True)
class Sums:
    """The moments while they grow: plain arrays, (n_classes, n_features)."""

    count: IntArray
    mean: FloatArray
    residual: FloatArray
    centred_squares: FloatArray


def accumulate(matrix: LabelledMatrix, *, missing: str, n_threads: int | None) -> Sums:
    """Sum a labelled matrix class by class, reading it once.

    Parameters
    ----------
    matrix
        Checked values and labels.
    missing
        ``"raise"``: NaN is an error. ``"omit"``: NaN is left out and counts are per feature.
    n_threads
        Threads to use; all cores by default. The result does not depend on it.
    """
    if missing not in ("raise", "omit"):
        raise DataError(f"missing must be 'raise' or 'omit', not {missing!r}.")
    threads = n_threads_for(n_threads, matrix.n_samples * matrix.n_features)
    if is_sparse(matrix.values):
        sums = Sums(*sparse_sums(matrix.values, matrix.labels, missing == "omit", threads))
    else:
        sums = _dense_sums(matrix, missing == "omit", threads)
    filled = sums.count > 0 if sums.count.ndim == 2 else (sums.count > 0)[:, None]
    finite = np.isfinite(sums.mean + sums.centred_squares) | ~filled
    if not finite.all():
        matrix.explain_non_finite(np.flatnonzero(~finite.all(axis=0)), missing)
    lost = (sums.centred_squares > 0) & (sums.centred_squares < SMALLEST_SQUARES)
    if lost.any():
        raise DataError(
            f"The values of {int(lost.any(axis=0).sum())} feature(s) differ by so little that their squares "
            "leave the range of float64. Multiply the table by a constant so that differences exceed 1e-150."
        )
    return sums


def _dense_sums(matrix: LabelledMatrix, omit: bool, threads: int) -> Sums:
    labels = matrix.labels
    n_classes, values = len(labels.classes), _readable(matrix.values)
    plan = RowPlan.build(labels.codes, n_classes, by_row.ROW_BLOCK)
    count = np.zeros((n_classes, matrix.n_features), np.int64) if omit and values.dtype.kind == "f" else None
    empty = np.zeros if count is not None or not labels.counts.all() else np.empty
    sums = Sums(
        labels.counts if count is None else count,
        *(empty((n_classes, matrix.n_features)) for _ in range(3)),
    )
    if values.flags.f_contiguous and (values.shape[1] == 1 or not values.flags.c_contiguous):
        _by_feature(values.T, labels.codes, plan, sums, count is not None, threads)
    elif values.flags.c_contiguous and values.dtype.isnative and values.dtype.itemsize != 2:
        _by_row(values, plan, sums, count is not None, threads)
    else:
        _by_converted_row(values, plan, sums, count is not None, threads)
    return _with_plain_counts(sums, labels.counts)


def _readable(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return a read-only view: kernels then compile for one kind of array only."""
    view = values.view(np.uint8) if values.dtype == np.bool_ else values.view(np.ndarray)
    view.flags.writeable = False
    return view


def _by_row(values: Any, plan: RowPlan, sums: Sums, omit: bool, threads: int) -> None:
    width = tile_width(values.shape[1], values.dtype.itemsize)

    def work(lo: int) -> None:
        _add_rows(values, plan.rows, plan.starts, plan.seen, lo, min(width, values.shape[1] - lo), sums, omit)

    for_each(work, range(0, values.shape[1], width), threads)


def _add_rows(
    values: Any, rows: IntArray, starts: IntArray, seen: IntArray, lo: int, width: int, sums: Sums, omit: bool
) -> None:
    cells = (sums.mean, sums.residual, sums.centred_squares)
    if omit:
        by_row.rows_present(values, rows, starts, lo, width, sums.count, *cells)
    elif values.dtype.itemsize == 1:
        by_row.rows_bytes(values, rows, starts, seen, lo, width, by_row.EXACT_ROWS[values.dtype.kind], *cells)
    else:
        by_row.rows_complete(values, rows, starts, seen, lo, width, *cells)


def add_rows_present(values: Any, plan: RowPlan, sums: Sums, threads: int) -> None:
    """Add the values that are there of some rows to sums whose ``count`` is per class and column."""
    if values.dtype not in (np.float64, np.float32) or not values.dtype.isnative or not values.flags.c_contiguous:
        values = np.ascontiguousarray(values, dtype=np.float64)
    _by_row(_readable(values), plan, sums, True, threads)


def _by_converted_row(values: Any, plan: RowPlan, sums: Sums, omit: bool, threads: int) -> None:
    """Strided tables, float16 and foreign byte orders: copy small pieces into a form kernels read."""
    dtype = np.float32 if values.dtype == np.float16 else np.float64
    n_features = values.shape[1]

    def work(lo: int) -> None:
        hi = min(lo + _CONVERT_TILE, n_features)
        part = Sums(
            sums.count[:, lo:hi] if omit else sums.count,
            *(a[:, lo:hi] for a in (sums.mean, sums.residual, sums.centred_squares)),
        )
        for block in range(plan.n_blocks):
            begin, end = plan.starts[block, 0], plan.starts[block, -1]
            piece = _readable(np.ascontiguousarray(values[begin:end, lo:hi], dtype=dtype))
            rows, starts = plan.rows[begin:end] - begin, plan.starts[block : block + 1] - begin
            _add_rows(piece, rows, starts, plan.seen[block : block + 1], 0, hi - lo, part, omit)

    for_each(work, range(0, n_features, _CONVERT_TILE), threads)


def _by_feature(V: Any, codes: IntArray, plan: RowPlan, sums: Sums, omit: bool, threads: int) -> None:
    cells = (sums.mean, sums.residual, sums.centred_squares)
    members = (codes == np.arange(sums.mean.shape[0])[:, None]).astype(np.float32)
    if V.dtype == np.float16 or not V.dtype.isnative:
        _by_converted_row(V.T, plan, sums, omit, threads)
        return

    def work(part: tuple[int, int]) -> None:
        lo, hi = part
        if omit:
            by_feature.features_present(V, plan.rows, plan.starts, lo, hi, sums.count, *cells)
        else:
            by_feature.features_complete(V, members, plan.rows, plan.starts, plan.seen, lo, hi, *cells)

    for_each(work, share(V.shape[0], threads), threads)


def tile_width(n_features: int, itemsize: int) -> int:
    """Return the number of columns a thread sweeps together: a function of the table alone.

    Examples
    --------
    >>> from bayesieve.stats.accumulate import tile_width
    >>> tile_width(100, 8), tile_width(20_000, 8), tile_width(20_000, 4)
    (512, 5056, 10048)
    """
    widest = min(by_row.MAX_TILE, by_row.MAX_TILE_BYTES // itemsize)
    n_tiles = 2 * -(-n_features // (2 * widest))
    return max(512, 64 * -(-n_features // (64 * n_tiles)))


def _with_plain_counts(sums: Sums, class_counts: IntArray) -> Sums:
    """Hold counts per class only, where no value turned out to be missing."""
    if sums.count.ndim == 2 and (sums.count == class_counts[:, None]).all():
        sums.count = class_counts
    return sums
