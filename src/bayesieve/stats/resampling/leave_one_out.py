"""Leave-one-out candidates: the values next to thresholds, class by class, and the samples they belong to.

A function of the sample taken out that falls before a threshold and rises after it is least, over the
values that are there, at the nearest value below or above the threshold. One sweep finds both, for two
thresholds per class and feature.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from bayesieve.data import is_sparse
from bayesieve.stats.moments.accumulate import RowPlan
from bayesieve.utils import FloatArray, IntArray, compiled

TILE = 1024  # columns swept together
_PARTS = 10  # of the buffer of a tile: two thresholds, four values, four positions


@dataclass(frozen=True, slots=True, eq=False)
class Neighbours:
    """Nearest values of each class on both sides of two thresholds.

    Parameters
    ----------
    values
        ``(n_classes, 4, n_features)``: the largest value up to the first threshold, the least over it,
        and the same for the second; infinite where there is none.
    positions
        Number of the first sample that holds the value, same shape; -1 where there is none.
    """

    values: FloatArray
    positions: FloatArray

    @classmethod
    def nothing(cls, n_classes: int, n_features: int) -> Neighbours:
        """Before any value has been seen."""
        values = np.empty((n_classes, 4, n_features))
        values[:, 0::2], values[:, 1::2] = -np.inf, np.inf
        return cls(values, np.full(values.shape, -1.0))

    def look(
        self, values: Any, plan: RowPlan, thresholds: FloatArray, *, lo: int = 0, at: int = 0, sample: int = 0
    ) -> None:
        """Look at some values, from column ``lo`` on as far as thresholds (and the table) reach.

        Parameters
        ----------
        values
            Samples x columns, dense or CSC; NaN is missing.
        plan
            Classes of the samples, in one block; see :func:`whole_plan`.
        thresholds
            ``(n_classes, 2, n_features)``, for all features of this object.
        lo, at
            Column ``lo`` of the values is feature ``at`` of this object.
        sample
            Number of the first sample.
        """
        for first in range(lo, min(values.shape[1], lo + thresholds.shape[2] - at), TILE):
            width = min(TILE, values.shape[1] - first, thresholds.shape[2] - at - (first - lo))
            tile = readable(values, first, first + width)
            _sweep_classes(
                tile, plan.rows, plan.starts[0], first if tile.shape[1] == values.shape[1] else 0, width,
                at + first - lo, sample, thresholds, self.values, self.positions,
            )  # fmt: skip


def whole_plan(codes: IntArray, n_classes: int) -> RowPlan:
    """Plan to look at all samples class by class."""
    return RowPlan.build(codes, n_classes, max(1, codes.size))


def readable(values: Any, lo: int, hi: int) -> npt.NDArray[Any]:
    """Return the whole table where kernels can read it as it lies, otherwise a copy of columns ``lo : hi``."""
    view: npt.NDArray[Any]
    if is_sparse(values):
        view = values[:, lo:hi].toarray(order="C").astype(np.float64, copy=False)
    elif values.flags.c_contiguous and values.dtype.isnative and values.dtype in (np.float64, np.float32):
        view = values.view(np.ndarray)
    else:
        view = np.ascontiguousarray(values[:, lo:hi], dtype=np.float64).view()
    view.flags.writeable = False  # kernels then compile for one kind of array only
    return view


@compiled()
def _sweep_classes(
    X: Any, rows: Any, starts: Any, lo: int, width: int, first: int, sample: int,
    thresholds: Any, values: Any, positions: Any,
) -> None:  # fmt: skip
    buffer = np.empty(_PARTS * TILE)
    for c in range(starts.shape[0] - 1):
        for j in range(width):
            buffer[j], buffer[TILE + j] = thresholds[c, 0, first + j], thresholds[c, 1, first + j]
            for part in range(4):
                buffer[(2 + part) * TILE + j] = values[c, part, first + j]
                buffer[(6 + part) * TILE + j] = positions[c, part, first + j]
        k = starts[c]
        while k + 4 <= starts[c + 1]:
            _sweep_four(X, rows[k], rows[k + 1], rows[k + 2], rows[k + 3], lo, width, sample, buffer)
            k += 4
        while k < starts[c + 1]:  # a row seen again changes nothing
            _sweep_four(X, rows[k], rows[k], rows[k], rows[k], lo, width, sample, buffer)
            k += 1
        for j in range(width):
            for part in range(4):
                values[c, part, first + j] = buffer[(2 + part) * TILE + j]
                positions[c, part, first + j] = buffer[(6 + part) * TILE + j]


@compiled()
def _sweep_four(X: Any, k: int, l: int, m: int, n: int, lo: int, width: int, sample: int, buffer: Any) -> None:  # noqa: E741
    """Four rows at a time, written so that the compiler uses vector instructions; a NaN passes no comparison."""
    u, v, w, z = X[k, lo:], X[l, lo:], X[m, lo:], X[n, lo:]
    p, q, r, s = np.float64(sample + k), np.float64(sample + l), np.float64(sample + m), np.float64(sample + n)
    for j in range(width):
        first, second = buffer[j], buffer[TILE + j]
        a, b, c, d = buffer[2 * TILE + j], buffer[3 * TILE + j], buffer[4 * TILE + j], buffer[5 * TILE + j]
        e, f, g, h = buffer[6 * TILE + j], buffer[7 * TILE + j], buffer[8 * TILE + j], buffer[9 * TILE + j]
        for x, place in ((u[j], p), (v[j], q), (w[j], r), (z[j], s)):
            value = np.float64(x)
            low = value <= first
            better = low & (value > a)
            a, e = value if better else a, place if better else e
            better = (not low) & (value < b)
            b, f = value if better else b, place if better else f
            low = value <= second
            better = low & (value > c)
            c, g = value if better else c, place if better else g
            better = (not low) & (value < d)
            d, h = value if better else d, place if better else h
        buffer[2 * TILE + j], buffer[3 * TILE + j], buffer[4 * TILE + j], buffer[5 * TILE + j] = a, b, c, d
        buffer[6 * TILE + j], buffer[7 * TILE + j], buffer[8 * TILE + j], buffer[9 * TILE + j] = e, f, g, h
