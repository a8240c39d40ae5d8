"""From a table, dense or sparse, to the moments of its classes: choose the kernel, share the work, merge in order.

Sums are first taken about zero: the implicit zeros then add nothing. That loses digits only where
the centred squares are small beside the raw ones (a column with hardly any zeros); such columns,
and those with missing values, are summed again about a value of their own, and their zeros are
merged in as one more part.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from bayesieve.data import LabelledMatrix, Labels, is_sparse
from bayesieve.stats.moments import kernels
from bayesieve.stats.moments.kernels import merge
from bayesieve.utils import (
    DataError,
    FloatArray,
    IntArray,
    check_missing,
    compiled,
    for_each,
    n_threads_for,
    run,
    share,
)


@dataclass(frozen=True, slots=True, eq=False)
class RowPlan:
    """Rows grouped by block and class, as an index and not as a copy.

    Parameters
    ----------
    rows
        Row numbers, sorted by block, then by class.
    starts
        ``starts[b, c]`` is where class ``c`` of block ``b`` begins in ``rows``; one more column
        closes the block.
    seen
        ``seen[b, c]`` samples of class ``c`` come before block ``b``.

    Notes
    -----
    Blocks are fixed by row number alone. Sums over a block and the order in which blocks are
    merged are therefore the same whatever the number of threads.
    """

    rows: IntArray
    starts: IntArray
    seen: IntArray

    @classmethod
    def build(cls, codes: IntArray, n_classes: int, block: int) -> RowPlan:
        """Plan the sums for the class codes of all samples."""
        n = codes.size
        n_blocks = -(-n // block)
        key = (np.arange(n) // block) * n_classes + codes
        sizes = np.bincount(key, minlength=n_blocks * n_classes).reshape(n_blocks, n_classes)
        ends = np.cumsum(sizes).reshape(n_blocks, n_classes)
        starts = np.empty((n_blocks, n_classes + 1), dtype=np.int64)
        starts[:, 1:] = ends
        starts[:, 0] = ends[:, 0] - sizes[:, 0]
        seen = np.zeros((n_blocks, n_classes), dtype=np.int64)
        np.cumsum(sizes[:-1], axis=0, out=seen[1:])
        small = key.astype(np.uint16) if n_blocks * n_classes < 2**16 else key  # sorted by radix
        return cls(np.argsort(small, kind="stable"), starts, seen)

    @property
    def n_blocks(self) -> int:
        """Number of row blocks."""
        return int(self.starts.shape[0])


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


Cells = tuple[Any, FloatArray, FloatArray, FloatArray]  # count, mean, residual, centred squares

SPARSE_ROW_BLOCK = 8192
_CANCELLED = 100.0  # raw squares this many times the centred ones: too many digits are gone


def sparse_sums(matrix: Any, labels: Labels, omit: bool, threads: int) -> Cells:
    """Count, mean, residual and centred squares per class of a CSR or CSC matrix."""
    by_row = matrix.format == "csr"
    with np.errstate(over="ignore", invalid="ignore"):  # infinities show in the result, not as warnings
        (count, *cells), raw = (_csr if by_row else _csc)(matrix, labels, threads)
        again = (raw > _CANCELLED * cells[2]).any(axis=0)
        if omit:
            again |= ~np.isfinite(cells[0] + cells[2]).all(axis=0)
        columns = np.flatnonzero(again)
        if columns.size:
            sums = (_csr_careful if by_row else _csc_careful)(matrix, labels, columns, threads)
            part, missing = _with_zeros(sums, labels.counts)
            for whole, piece in zip(cells, part, strict=True):
                whole[:, columns] = piece
            if missing.any():
                count = np.repeat(labels.counts[:, None], matrix.shape[1], axis=1)
                count[:, columns] -= missing.astype(np.int64)
        return count, cells[0], cells[1], cells[2]


def _csr(matrix: Any, labels: Labels, threads: int) -> tuple[Cells, FloatArray]:
    shape = (len(labels.classes), matrix.shape[1])
    plan = RowPlan.build(labels.codes, shape[0], SPARSE_ROW_BLOCK)

    def work(block: int) -> FloatArray:
        sums = np.zeros((*shape, 2))
        csr_block(matrix.data, matrix.indices, matrix.indptr, plan.rows, plan.starts, block, sums)
        return sums

    whole, raw = _nothing(shape), np.zeros(shape)
    for block, sums in enumerate(run(work, range(plan.n_blocks), threads)):
        raw += sums[..., 1]
        whole = _add(whole, np.diff(plan.starts[block])[:, None], 0.0, sums[..., 0], sums[..., 1])
    return (labels.counts, *whole[1:]), raw


def _csc(matrix: Any, labels: Labels, threads: int) -> tuple[Cells, FloatArray]:
    shape = (len(labels.classes), matrix.shape[1])
    sums, raw = np.zeros((*shape, 2)), np.zeros(shape[1])
    codes = labels.codes.astype(np.int8 if shape[0] < 128 else np.int32)

    def work(part: tuple[int, int]) -> None:
        csc_columns(matrix.data, matrix.indices, matrix.indptr, codes, *part, sums, raw)

    for_each(work, share(shape[1], threads), threads)
    whole = _add(_nothing(shape), labels.counts[:, None], 0.0, sums[..., 0], sums[..., 1])
    return (labels.counts, *whole[1:]), np.broadcast_to(raw, shape)


def _csr_careful(matrix: Any, labels: Labels, columns: IntArray, threads: int) -> list[FloatArray]:
    shape = (len(labels.classes), columns.size)
    slot = np.full(matrix.shape[1], -1, np.int64)
    slot[columns] = np.arange(columns.size)
    plan = RowPlan.build(labels.codes, shape[0], SPARSE_ROW_BLOCK)

    def work(block: int) -> FloatArray:
        sums = np.zeros((*shape, 5))
        csr_block_careful(matrix.data, matrix.indices, matrix.indptr, plan.rows, plan.starts, block, slot, sums)
        return sums

    return list(run(work, range(plan.n_blocks), threads))


def _csc_careful(matrix: Any, labels: Labels, columns: IntArray, threads: int) -> list[FloatArray]:
    del threads  # few columns: one thread
    sums = np.zeros((len(labels.classes), columns.size, 5))
    csc_columns_careful(matrix.data, matrix.indices, matrix.indptr, labels.codes, columns, sums)
    return [sums]


def _with_zeros(blocks: list[FloatArray], counts: IntArray) -> tuple[list[FloatArray], FloatArray]:
    """Merge careful sums block by block, then the implicit zeros; also return how many are missing."""
    shape = blocks[0].shape[:2]
    whole, missing = _nothing(shape), np.zeros(shape)
    for sums in blocks:
        whole = _add(whole, sums[..., 3], sums[..., 0], sums[..., 1], sums[..., 2])
        missing += sums[..., 4]
    zeros = counts[:, None] - missing - whole[0]
    return list(merge(*whole, zeros, 0.0, 0.0, 0.0)), missing


def _nothing(shape: tuple[int, ...]) -> Cells:
    return np.zeros(shape), np.zeros(shape), np.zeros(shape), np.zeros(shape)


def _add(whole: Cells, number: Any, pivot: Any, total: FloatArray, square: FloatArray) -> Cells:
    """Merge sums about a pivot into what there is."""
    offset = total / np.maximum(number, 1)
    spread = np.maximum(square - total * offset, 0.0)
    return whole[0] + number, *merge(*whole, number, pivot, offset, spread)


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
    """Sum a labelled matrix class by class, reading it once."""
    check_missing(missing)
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
    plan = RowPlan.build(labels.codes, n_classes, kernels.ROW_BLOCK)
    count = np.zeros((n_classes, matrix.n_features), np.int64) if omit and values.dtype.kind == "f" else None
    empty = np.zeros if count is not None or not labels.counts.all() else np.empty
    sums = Sums(
        labels.counts if count is None else count, *(empty((n_classes, matrix.n_features)) for _ in range(3))
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
        kernels.rows_present(values, rows, starts, lo, width, sums.count, *cells)
    elif values.dtype.itemsize == 1:
        kernels.rows_bytes(values, rows, starts, seen, lo, width, kernels.EXACT_ROWS[values.dtype.kind], *cells)
    else:
        kernels.rows_complete(values, rows, starts, seen, lo, width, *cells)


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
            kernels.features_present(V, plan.rows, plan.starts, lo, hi, sums.count, *cells)
        else:
            kernels.features_complete(V, members, plan.rows, plan.starts, plan.seen, lo, hi, *cells)

    for_each(work, share(V.shape[0], threads), threads)


def tile_width(n_features: int, itemsize: int) -> int:
    """Return the number of columns a thread sweeps together: a function of the table alone."""
    widest = min(kernels.MAX_TILE, kernels.MAX_TILE_BYTES // itemsize)
    n_tiles = 2 * -(-n_features // (2 * widest))
    return max(512, 64 * -(-n_features // (64 * n_tiles)))


def _with_plain_counts(sums: Sums, class_counts: IntArray) -> Sums:
    """Hold counts per class only, where no value turned out to be missing."""
    if sums.count.ndim == 2 and (sums.count == class_counts[:, None]).all():
        sums.count = class_counts
    return sums
