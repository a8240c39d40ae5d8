"""Sums over feature-major tables (genes x samples, or Fortran order): one feature after the other.

Two features and two classes share a sweep, weighted by membership (1 or 0); more classes take more
sweeps over values that are then in the cache.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bayesieve.stats.compiled import compiled
from bayesieve.stats.dense_kernels import _fold

_LOOSE = {"contract", "nsz", "reassoc"}


@compiled(fastmath=_LOOSE)
def _pair_sums(
    u: Any, v: Any, this: Any, that: Any, pu: float, qu: float, pv: float, qv: float
) -> tuple[float, float, float, float, float, float, float, float]:
    """Sums and squares of two features in two classes, each about its own pivot.

    ``this`` and ``that`` are 1 for the samples of either class and 0 elsewhere.
    """
    s0 = s1 = s2 = s3 = q0 = q1 = q2 = q3 = 0.0
    for i in range(u.shape[0]):
        one, other = np.float64(this[i]), np.float64(that[i])
        x, y = np.float64(u[i]), np.float64(v[i])
        d, e, f, g = (x - pu) * one, (x - qu) * other, (y - pv) * one, (y - qv) * other
        s0 += d
        q0 += d * d
        s1 += e
        q1 += e * e
        s2 += f
        q2 += f * f
        s3 += g
        q3 += g * g
    return s0, q0, s1, q1, s2, q2, s3, q3


@compiled()
def _pivot(V: Any, rows: Any, starts: Any, seen: Any, mean: Any, block: int, c: int, f: int) -> float:
    """Return the running mean of a class or, at its first block, its first value."""
    if c >= starts.shape[1] - 1 or starts[block, c + 1] == starts[block, c]:
        return 0.0
    return mean[c, f] if seen[block, c] else np.float64(V[f, rows[starts[block, c]]])


@compiled()
def features_complete(
    V: Any, members: Any, rows: Any, starts: Any, seen: Any, lo: int, hi: int,
    mean: Any, residual: Any, squares: Any,
) -> None:  # fmt: skip
    """Add features ``lo : hi`` of a features x samples table without missing values, two at a time.

    ``members[c]`` is 1 for the samples of class ``c`` and 0 elsewhere.
    """
    n_classes = starts.shape[1] - 1
    cells = (mean, residual, squares)
    for f in range(lo, hi, 2):
        g = min(f + 1, hi - 1)
        for block in range(starts.shape[0]):
            begin, end = starts[block, 0], starts[block, n_classes]
            for c in range(0, n_classes, 2):
                pu = _pivot(V, rows, starts, seen, mean, block, c, f)
                pv = _pivot(V, rows, starts, seen, mean, block, c, g)
                qu = _pivot(V, rows, starts, seen, mean, block, c + 1, f)
                qv = _pivot(V, rows, starts, seen, mean, block, c + 1, g)
                this, that = members[c, begin:end], members[min(c + 1, n_classes - 1), begin:end]
                s = _pair_sums(V[f, begin:end], V[g, begin:end], this, that, pu, qu, pv, qv)
                n_old, n_new = seen[block, c], starts[block, c + 1] - starts[block, c]
                if n_new:
                    _fold(c, f, n_old, n_new, pu, s[0], s[1], *cells)
                    if g > f:
                        _fold(c, g, n_old, n_new, pv, s[4], s[5], *cells)
                n_new = starts[block, c + 2] - starts[block, c + 1] if c + 1 < n_classes else 0
                if n_new:
                    n_old = seen[block, c + 1]
                    _fold(c + 1, f, n_old, n_new, qu, s[2], s[3], *cells)
                    if g > f:
                        _fold(c + 1, g, n_old, n_new, qv, s[6], s[7], *cells)


@compiled()
def features_present(
    V: Any, rows: Any, starts: Any, lo: int, hi: int, count: Any, mean: Any, residual: Any, squares: Any
) -> None:
    """Add the values that are there of a features x samples table; ``count`` is per class and feature."""
    for f in range(lo, hi):
        for block in range(starts.shape[0]):
            for c in range(starts.shape[1] - 1):
                pivot = mean[c, f] if count[c, f] else np.nan
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
                    _fold(c, f, count[c, f], n_new, pivot, total, square, mean, residual, squares)
                    count[c, f] += n_new
