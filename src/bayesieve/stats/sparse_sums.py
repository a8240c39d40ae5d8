"""Moments of sparse tables, from their stored values alone.

Sums are first taken about zero: the implicit zeros then add nothing. That loses digits only where
the centred squares are small beside the raw ones (a column with hardly any zeros); such columns,
and those with missing values, are summed again about a value of their own, and their zeros are
merged in as one more part.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from bayesieve.data import Labels
from bayesieve.stats import sparse_kernels as kernels
from bayesieve.stats.merging import merge
from bayesieve.stats.row_plan import IntArray, RowPlan
from bayesieve.stats.threads import for_each, run, share

FloatArray = npt.NDArray[np.float64]
Cells = tuple[Any, FloatArray, FloatArray, FloatArray]  # count, mean, residual, centred squares

SPARSE_ROW_BLOCK = 8192
_CANCELLED = 100.0  # raw squares this many times the centred ones: too many digits are gone


def sparse_sums(matrix: Any, labels: Labels, omit: bool, threads: int) -> Cells:
    """Count, mean, residual and centred squares per class of a CSR or CSC matrix.

    Parameters
    ----------
    matrix
        A canonical CSR or CSC matrix; it is never made dense.
    labels
        Class of every row.
    omit
        Leave stored NaN out instead of letting it show in the result.
    threads
        Number of threads; the result does not depend on it.
    """
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
        kernels.csr_block(matrix.data, matrix.indices, matrix.indptr, plan.rows, plan.starts, block, sums)
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
        kernels.csc_columns(matrix.data, matrix.indices, matrix.indptr, codes, *part, sums, raw)

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
        kernels.csr_block_careful(
            matrix.data, matrix.indices, matrix.indptr, plan.rows, plan.starts, block, slot, sums
        )
        return sums

    return list(run(work, range(plan.n_blocks), threads))


def _csc_careful(matrix: Any, labels: Labels, columns: IntArray, threads: int) -> list[FloatArray]:
    del threads  # few columns: one thread
    sums = np.zeros((len(labels.classes), columns.size, 5))
    kernels.csc_columns_careful(matrix.data, matrix.indices, matrix.indptr, labels.codes, columns, sums)
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
