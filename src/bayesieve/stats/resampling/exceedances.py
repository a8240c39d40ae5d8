"""How many of very many numbers reach thresholds, without keeping them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from bayesieve.utils import FloatArray, compiled

_TIE = 1e-9


def reach(values: FloatArray) -> FloatArray:
    """Return the least numbers that count as reaching these: equal but for rounding."""
    return values - _TIE * (1.0 + np.abs(values))


def share_under_null(values: FloatArray, under_null: npt.NDArray[Any]) -> FloatArray:
    """Divide how many would reach each value under the null by how many do; the least over all lower values."""
    order = np.argsort(values, kind="stable")
    found = order.size - np.searchsorted(values[order], reach(values), side="left")
    share = np.empty(order.size)
    share[order] = np.minimum.accumulate((under_null / found)[order])
    return share


@dataclass(frozen=True, slots=True, eq=False)
class Thresholds:
    """Numbers in increasing order, with an index to find places among them quickly.

    Parameters
    ----------
    values
        The numbers.
    starts
        How many numbers lie in earlier cells of a regular grid; numbers beyond its ends are in the cells there.
    low, per_unit
        The start of the grid, and the number of its cells per unit.
    """

    values: FloatArray
    starts: npt.NDArray[np.int64]
    low: float
    per_unit: float

    @classmethod
    def of(cls, values: FloatArray) -> Thresholds:
        """Sort numbers; the grid spans all but the thousandth part at the upper end."""
        ordered = np.sort(values)
        n_cells = max(16, ordered.size)
        span = ordered[int(0.999 * (ordered.size - 1))] - ordered[0] if ordered.size else 0.0
        low, per_unit = (ordered[0], n_cells / span) if span > 0 else (0.0, 1.0)
        cells = np.clip((ordered - low) * per_unit, 0.0, n_cells - 1.0).astype(np.int64)
        starts = np.concatenate([[0], np.cumsum(np.bincount(cells, minlength=n_cells))])
        return cls(ordered, starts, float(low), float(per_unit))


@compiled()
def _place(value: float, ordered: Any, starts: Any, low: float, per_unit: float) -> int:
    """How many of the ordered numbers are at most ``value``: a cell of the grid, then halving."""
    cell = int(min(max((value - low) * per_unit, 0.0), starts.size - 2.0))
    first, end = starts[cell], starts[cell + 1]
    while first < end:
        middle = (first + end) // 2
        if ordered[middle] <= value:
            first = middle + 1
        else:
            end = middle
    return int(first)


def count_exceedances(
    values: FloatArray, own: FloatArray, odds: FloatArray, cut: float, thresholds: Thresholds, into: Any
) -> None:
    """Go through log Bayes factors of permuted labels, ``(n_features, n_permutations)``, and count."""
    grid = thresholds.values, thresholds.starts, thresholds.low, thresholds.per_unit
    _count(values, own, odds, cut, grid, *into)


@compiled()
def _count(
    values: Any, own: Any, odds: Any, cut: float, grid: Any,
    reaching: Any, places: Any, passing: Any, largest: Any,
) -> None:  # fmt: skip
    ordered, starts, low, per_unit = grid
    for j in range(values.shape[0]):
        pooled = odds[j] == odds[j]  # not NaN
        for r in range(values.shape[1]):
            value = values[j, r]
            if value >= own[j]:
                reaching[j] += 1
            if pooled:
                if odds[j] + value > cut:
                    passing[r] += 1
                largest[r] = max(largest[r], value)
                places[_place(value, ordered, starts, low, per_unit)] += 1
