"""Sums over feature-major tables (genes x samples, or Fortran order): one feature after the other.

Two features share a sweep. A sweep adds up all samples and, weighted by membership (1 or 0), those
of one class, about a common pivot; what is left is the first class. Where that costs digits (a
class with little spread of its own, or far from the pivot) the class is summed again by itself.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bayesieve.stats.compiled import compiled
from bayesieve.stats.dense_kernels import fold

_LOOSE = {"contract", "nsz", "reassoc"}
_CANCELLED = 100.0  # squares of the sweep this many times the centred ones of a class: sum it again


@compiled(fastmath=_LOOSE)
def _sweep(
    u: Any, v: Any, member: Any, pu: float, pv: float
) -> tuple[float, float, float, float, float, float, float, float]:
    """Sums and squares of all samples and of the members, for two features about their pivots."""
    s0 = s1 = s2 = s3 = q0 = q1 = q2 = q3 = 0.0
    for i in range(u.shape[0]):
        weight = np.float64(member[i])
        d, e = np.float64(u[i]) - pu, np.float64(v[i]) - pv
        f, g = d * weight, e * weight
        s0 += d
        q0 += d * d
        s1 += f
        q1 += f * d
        s2 += e
        q2 += e * e
        s3 += g
        q3 += g * e
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
                s = _sweep(u, v, members[c, begin:end], pu, pv)
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
