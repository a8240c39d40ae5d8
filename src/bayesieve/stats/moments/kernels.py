"""Compiled sums of counts, means and squared deviations over dense tables, and the merge of two parts.

Class means are held as ``mean + residual``, the float64 nearest to the mean and the little that
rounding took away. Differences of means then keep their digits even when all values sit at 1e8.

Row-major tables are swept in tiles of columns, eight rows at a time; feature-major ones feature by
feature, two classes at a time. Values are taken relative to a pivot (the class's first value, later
its running mean) and added up in float64 whatever the input type.

The scratch buffer of a tile holds its parts at constant distances, which lets the compiler prove
that they do not overlap and use vector instructions.

Two features share a sweep. A sweep adds up all samples and, weighted by membership (1 or 0), those
of one class, about a common pivot; what is left is the first class. Where that costs digits (a
class with little spread of its own, or far from the pivot) the class is summed again by itself.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from bayesieve.utils import compiled


def merge_parts(
    n0: Any, mean0: Any, residual0: Any, squares0: Any, n1: Any, mean1: Any, residual1: Any, squares1: Any
) -> tuple[Any, Any, Any]:
    r"""Mean, residual and centred squares of two parts together (Chan, Golub & LeVeque 1979).

    Written so that a constant stays exactly constant: the mean is the first part's mean plus a
    share of the difference. Works on numbers and on arrays. An empty part must carry the other's mean.

    .. math::
        \delta = \bar x_1 - \bar x_0, \quad
        \bar x = \bar x_0 + \delta\, n_1 / n, \quad
        SS = SS_0 + SS_1 + \delta^2\, n_0 n_1 / n
    """
    share = n1 / (n0 + n1)
    delta = (mean1 - mean0) + (residual1 - residual0)
    squares = (squares0 + squares1) + (n0 * share) * (delta * delta)
    offset = residual0 + delta * share
    mean = mean0 + offset
    back = mean - mean0
    residual = (mean0 - (mean - back)) + (offset - back)
    return mean, residual, squares


merge_one = compiled()(merge_parts)


@compiled()
def _merge_all(parts: Any, mean: Any, residual: Any, squares: Any) -> None:
    for i in range(mean.shape[0]):
        n0, n1 = parts[0][i], parts[4][i]
        if n1 == 0:
            mean[i], residual[i], squares[i] = parts[1][i], parts[2][i], parts[3][i]
        elif n0 == 0:
            mean[i], residual[i], squares[i] = merge_one(
                0.0, parts[5][i], 0.0, 0.0, n1, parts[5][i], parts[6][i], parts[7][i]
            )
        else:
            mean[i], residual[i], squares[i] = merge_one(
                n0, parts[1][i], parts[2][i], parts[3][i], n1, parts[5][i], parts[6][i], parts[7][i]
            )


@compiled()
def _merge_counted(n0: float, n1: float, parts: Any, mean: Any, residual: Any, squares: Any) -> None:
    """As :func:`_merge_all` where every feature has the same counts, above 0: no division per feature."""
    for i in range(mean.shape[0]):
        mean[i], residual[i], squares[i] = merge_one(
            n0, parts[0][i], parts[1][i], parts[2][i], n1, parts[3][i], parts[4][i], parts[5][i]
        )


def merge(*parts: Any) -> tuple[Any, Any, Any]:
    """Merge arrays of parts as :func:`merge_parts` does, where any part may be empty."""
    shape = np.broadcast_shapes(*(np.shape(part) for part in parts))
    merged = tuple(np.empty(math.prod(shape)) for _ in range(3))
    n0, n1 = parts[0], parts[4]
    if np.ndim(n0) == np.ndim(n1) == 0 and n0 > 0 and n1 > 0:
        values = tuple(_flat(part, shape) for part in (*parts[1:4], *parts[5:]))
        _merge_counted(float(n0), float(n1), values, *merged)
    else:
        _merge_all(tuple(_flat(part, shape) for part in parts), *merged)
    mean, residual, squares = (array.reshape(shape) for array in merged)
    return mean, residual, squares


def _flat(part: Any, shape: tuple[int, ...]) -> Any:
    """Return one contiguous read-only vector, so that a single compiled kernel serves all."""
    array = np.asarray(part, dtype=np.float64)
    if array.shape != shape:
        array = np.ascontiguousarray(np.broadcast_to(array, shape))
    flat = array.reshape(-1).view()
    flat.flags.writeable = False
    return flat


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


_LOOSE = {"contract", "nsz", "reassoc"}
_CANCELLED = 100.0  # squares of the sweep this many times the centred ones of a class: sum it again


@compiled(fastmath=_LOOSE)
def _sweep_feature(u: Any, v: Any, member: Any, pu: float, pv: float) -> tuple[float, ...]:
    """Sums and squares of all samples and of the members, for two features about their pivots."""
    s0 = s1 = s2 = s3 = q0 = q1 = q2 = q3 = 0.0
    for i in range(u.shape[0]):
        weight = np.float64(member[i])
        d, e = np.float64(u[i]) - pu, np.float64(v[i]) - pv
        f, g = d * weight, e * weight
        s0, q0 = s0 + d, q0 + d * d
        s1, q1 = s1 + f, q1 + f * d
        s2, q2 = s2 + e, q2 + e * e
        s3, q3 = s3 + g, q3 + g * e
    return s0, q0, s1, q1, s2, q2, s3, q3


@compiled()
def _add_feature(
    values: Any, rows: Any, starts: Any, seen: Any, block: int, f: int, pivot: float, sums: Any,
    mean: Any, residual: Any, squares: Any,
) -> None:  # fmt: skip
    """Merge the sums of one block of one feature; ``sums`` is (class, 2), in the end all classes in row 0."""
    everything = sums[0, 1]
    for c in range(1, sums.shape[0]):
        sums[0, 0] -= sums[c, 0]
        sums[0, 1] -= sums[c, 1]
    for c in range(sums.shape[0]):
        first, last = starts[block, c], starts[block, c + 1]
        n_new = last - first
        if n_new == 0:
            continue
        start, total, square = pivot, sums[c, 0], sums[c, 1]
        if everything > _CANCELLED * (square - total * total / n_new):
            start, total, square = np.float64(values[rows[first]]), 0.0, 0.0
            for k in range(first, last):
                difference = values[rows[k]] - start
                total += difference
                square += difference * difference
        fold(c, f, seen[block, c], n_new, start, total, square, mean, residual, squares)


@compiled()
def features_complete(
    V: Any, members: Any, rows: Any, starts: Any, seen: Any, lo: int, hi: int,
    mean: Any, residual: Any, squares: Any,
) -> None:  # fmt: skip
    """Add features ``lo : hi`` of a features x samples table without missing values, two at a time.

    ``members[c]`` is 1 for the samples of class ``c`` and 0 elsewhere.
    """
    n_classes = starts.shape[1] - 1
    left, right = np.zeros((n_classes, 2)), np.zeros((n_classes, 2))
    for f in range(lo, hi, 2):
        g = min(f + 1, hi - 1)
        for block in range(starts.shape[0]):
            begin, end = starts[block, 0], starts[block, n_classes]
            u, v = V[f, begin:end], V[g, begin:end]
            pu, pv = np.float64(u[0]), np.float64(v[0])
            for c in range(min(1, n_classes - 1), n_classes):
                s = _sweep_feature(u, v, members[c, begin:end], pu, pv)
                left[c, 0], left[c, 1], right[c, 0], right[c, 1] = s[2], s[3], s[6], s[7]
                left[0, 0], left[0, 1], right[0, 0], right[0, 1] = s[0], s[1], s[4], s[5]
            _add_feature(V[f], rows, starts, seen, block, f, pu, left, mean, residual, squares)
            if g > f:
                _add_feature(V[g], rows, starts, seen, block, g, pv, right, mean, residual, squares)


@compiled()
def features_present(
    V: Any, rows: Any, starts: Any, lo: int, hi: int, count: Any, mean: Any, residual: Any, squares: Any
) -> None:
    """Add the values that are there of a features x samples table; ``count`` is per class and feature."""
    for f in range(lo, hi):
        for block in range(starts.shape[0]):
            for c in range(starts.shape[1] - 1):
                pivot = np.nan
                n_new, total, square = 0, 0.0, 0.0
                for k in range(starts[block, c], starts[block, c + 1]):
                    value = np.float64(V[f, rows[k]])
                    if np.isnan(value):
                        continue
                    if np.isnan(pivot):
                        pivot = value
                    n_new += 1
                    total += value - pivot
                    square += (value - pivot) * (value - pivot)
                if n_new:
                    fold(c, f, count[c, f], n_new, pivot, total, square, mean, residual, squares)
                    count[c, f] += n_new
