"""Sums over dense tables, at the speed of reading them.

Row-major tables are swept in tiles of columns, eight rows at a time; feature-major ones feature by
feature, two classes at a time. Values are taken relative to a pivot (the class's first value, later
its running mean) and added up in float64 whatever the input type.

The scratch buffer of a tile holds its parts at constant distances, which lets the compiler prove
that they do not overlap and use vector instructions.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from bayesieve.stats.compiled import compiled
from bayesieve.stats.merging import merge_one

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]

ROW_BLOCK = 4096
MAX_TILE = 10_240
MAX_TILE_BYTES = 40_960  # of one row: long enough for the hardware to fetch ahead
EXACT_ROWS = {"i": 1024, "u": 256}  # squares of this many (un)signed bytes add up exactly in float32
_SUMS, _SQUARES, _COUNTS = MAX_TILE, 2 * MAX_TILE, 3 * MAX_TILE


@compiled(fastmath={"contract"})
def _sweep(X: Any, rows: Any, first: int, last: int, lo: int, width: int, buffer: Any) -> None:
    k = first
    while k + 8 <= last:
        a, b, c, d = X[rows[k], lo:], X[rows[k + 1], lo:], X[rows[k + 2], lo:], X[rows[k + 3], lo:]
        e, f, g, h = X[rows[k + 4], lo:], X[rows[k + 5], lo:], X[rows[k + 6], lo:], X[rows[k + 7], lo:]
        for j in range(width):
            pivot = buffer[j]
            da, db, dc, dd = a[j] - pivot, b[j] - pivot, c[j] - pivot, d[j] - pivot
            de, df, dg, dh = e[j] - pivot, f[j] - pivot, g[j] - pivot, h[j] - pivot
            buffer[_SUMS + j] += ((da + db) + (dc + dd)) + ((de + df) + (dg + dh))
            buffer[_SQUARES + j] += ((da * da + db * db) + (dc * dc + dd * dd)) + (
                (de * de + df * df) + (dg * dg + dh * dh)
            )
        k += 8
    while k < last:
        a = X[rows[k], lo:]
        for j in range(width):
            da = a[j] - buffer[j]
            buffer[_SUMS + j] += da
            buffer[_SQUARES + j] += da * da
        k += 1


@compiled()
def rows_complete(
    X: Any, rows: Any, starts: Any, seen: Any, lo: int, width: int, mean: Any, residual: Any, squares: Any
) -> None:
    """Add a row-major table without missing values to the moments of columns ``lo : lo + width``."""
    buffer = np.empty(3 * MAX_TILE)
    for block in range(starts.shape[0]):
        for c in range(starts.shape[1] - 1):
            first, last = starts[block, c], starts[block, c + 1]
            n_new, n_old = last - first, seen[block, c]
            if n_new == 0:
                continue
            for j in range(width):
                buffer[j] = mean[c, lo + j] if n_old else X[rows[first], lo + j]
                buffer[_SUMS + j] = 0.0
                buffer[_SQUARES + j] = 0.0
            _sweep(X, rows, first, last, lo, width, buffer)
            for j in range(width):
                fold(c, lo + j, n_old, n_new, buffer[j], buffer[_SUMS + j], buffer[_SQUARES + j],
                      mean, residual, squares)  # fmt: skip


@compiled()
def fold(
    c: int, j: int, n_old: Any, n_new: Any, pivot: float, total: float, square: float,
    mean: Any, residual: Any, squares: Any,
) -> None:  # fmt: skip
    """Merge the sums of one block, taken about ``pivot``, into one cell of the moments."""
    offset = total / n_new
    spread = square - total * offset
    if spread < 0.0:  # noqa: PLR1730 - rounding is cut off, but a NaN must stay
        spread = 0.0
    before, left = (squares[c, j], residual[c, j]) if n_old else (0.0, 0.0)
    centre = mean[c, j] if n_old else pivot
    mean[c, j], residual[c, j], squares[c, j] = merge_one(
        n_old, centre, left, before, n_new, pivot, offset, spread
    )


@compiled(fastmath={"contract"})
def _sweep_present(X: Any, rows: Any, first: int, last: int, lo: int, width: int, buffer: Any) -> None:
    k = first
    while k + 8 <= last:
        a, b, c, d = X[rows[k], lo:], X[rows[k + 1], lo:], X[rows[k + 2], lo:], X[rows[k + 3], lo:]
        e, f, g, h = X[rows[k + 4], lo:], X[rows[k + 5], lo:], X[rows[k + 6], lo:], X[rows[k + 7], lo:]
        for j in range(width):
            pivot = buffer[j]
            da, db, dc, dd = a[j] - pivot, b[j] - pivot, c[j] - pivot, d[j] - pivot
            de, df, dg, dh = e[j] - pivot, f[j] - pivot, g[j] - pivot, h[j] - pivot
            buffer[_COUNTS + j] += ((_there(da) + _there(db)) + (_there(dc) + _there(dd))) + (
                (_there(de) + _there(df)) + (_there(dg) + _there(dh))
            )
            da, db, dc, dd = _or_zero(da), _or_zero(db), _or_zero(dc), _or_zero(dd)
            de, df, dg, dh = _or_zero(de), _or_zero(df), _or_zero(dg), _or_zero(dh)
            buffer[_SUMS + j] += ((da + db) + (dc + dd)) + ((de + df) + (dg + dh))
            buffer[_SQUARES + j] += ((da * da + db * db) + (dc * dc + dd * dd)) + (
                (de * de + df * df) + (dg * dg + dh * dh)
            )
        k += 8
    while k < last:
        a = X[rows[k], lo:]
        for j in range(width):
            da = a[j] - buffer[j]
            buffer[_COUNTS + j] += _there(da)
            da = _or_zero(da)
            buffer[_SUMS + j] += da
            buffer[_SQUARES + j] += da * da
        k += 1


@compiled()
def _there(value: float) -> float:
    return 0.0 if np.isnan(value) else 1.0


@compiled()
def _or_zero(value: float) -> float:
    return 0.0 if np.isnan(value) else value


@compiled()
def rows_present(
    X: Any, rows: Any, starts: Any, lo: int, width: int, count: Any, mean: Any, residual: Any, squares: Any
) -> None:
    """Add the values that are there of a row-major table; ``count`` is per class and column."""
    buffer = np.empty(4 * MAX_TILE)
    for block in range(starts.shape[0]):
        for c in range(starts.shape[1] - 1):
            first, last = starts[block, c], starts[block, c + 1]
            if last == first:
                continue
            for j in range(width):
                pivot = mean[c, lo + j] if count[c, lo + j] else np.float64(X[rows[first], lo + j])
                k = first + 1
                while not np.isfinite(pivot) and k < last:
                    pivot = np.float64(X[rows[k], lo + j])
                    k += 1
                buffer[j] = pivot if np.isfinite(pivot) else 0.0  # an infinity must not hide itself
                buffer[_SUMS + j] = 0.0
                buffer[_SQUARES + j] = 0.0
                buffer[_COUNTS + j] = 0.0
            _sweep_present(X, rows, first, last, lo, width, buffer)
            for j in range(width):
                n_new = np.int64(buffer[_COUNTS + j])
                if n_new:
                    fold(c, lo + j, count[c, lo + j], n_new, buffer[j], buffer[_SUMS + j],
                          buffer[_SQUARES + j], mean, residual, squares)  # fmt: skip
                    count[c, lo + j] += n_new


@compiled(fastmath={"contract"})
def _sweep_bytes(X: Any, rows: Any, first: int, last: int, lo: int, width: int, buffer: Any) -> None:
    """At most 1024 or 256 rows: every partial sum is a whole number up to 2**24, exact in float32."""
    k, single = first, np.float32
    while k + 8 <= last:
        a, b, c, d = X[rows[k], lo:], X[rows[k + 1], lo:], X[rows[k + 2], lo:], X[rows[k + 3], lo:]
        e, f, g, h = X[rows[k + 4], lo:], X[rows[k + 5], lo:], X[rows[k + 6], lo:], X[rows[k + 7], lo:]
        for j in range(width):
            va, vb, vc, vd = single(a[j]), single(b[j]), single(c[j]), single(d[j])
            ve, vf, vg, vh = single(e[j]), single(f[j]), single(g[j]), single(h[j])
            buffer[j] += ((va + vb) + (vc + vd)) + ((ve + vf) + (vg + vh))
            buffer[_SUMS + j] += ((va * va + vb * vb) + (vc * vc + vd * vd)) + (
                (ve * ve + vf * vf) + (vg * vg + vh * vh)
            )
        k += 8
    while k < last:
        a = X[rows[k], lo:]
        for j in range(width):
            va = single(a[j])
            buffer[j] += va
            buffer[_SUMS + j] += va * va
        k += 1


@compiled()
def rows_bytes(
    X: Any, rows: Any, starts: Any, seen: Any, lo: int, width: int, exact: int,
    mean: Any, residual: Any, squares: Any,
) -> None:  # fmt: skip
    """Add a row-major table of 8-bit integers: the sums over a block are exact.

    ``exact`` is the number of rows whose squares add up exactly in float32, see :data:`EXACT_ROWS`.
    """
    buffer = np.empty(2 * MAX_TILE, dtype=np.float32)
    whole = np.empty(2 * MAX_TILE)
    for block in range(starts.shape[0]):
        for c in range(starts.shape[1] - 1):
            n_new, n_old = starts[block, c + 1] - starts[block, c], seen[block, c]
            if n_new == 0:
                continue
            whole[:] = 0.0
            for first in range(starts[block, c], starts[block, c + 1], exact):
                buffer[:] = 0.0
                _sweep_bytes(X, rows, first, min(first + exact, starts[block, c + 1]), lo, width, buffer)
                for j in range(width):
                    whole[j] += buffer[j]
                    whole[_SUMS + j] += buffer[_SUMS + j]
            for j in range(width):
                part, spread = whole[j] / n_new, (n_new * whole[_SUMS + j] - whole[j] * whole[j]) / n_new
                before, left = (squares[c, lo + j], residual[c, lo + j]) if n_old else (0.0, 0.0)
                mean[c, lo + j], residual[c, lo + j], squares[c, lo + j] = merge_one(
                    n_old, mean[c, lo + j] if n_old else part, left, before, n_new, part, 0.0, spread
                )
