"""Which rows of a table are read, and which of them make up a pair."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bayesieve.data import is_sparse, match_pairs
from bayesieve.errors import LabelError
from bayesieve.io.tables.roles import check_distinct
from bayesieve.io.tables.samples import Samples, Seen
from bayesieve.utils import FloatArray, IntArray, listed


@dataclass(frozen=True, slots=True, eq=False)
class Chosen:
    """The samples of a table that are used.

    Parameters
    ----------
    rows, names
        Their positions and ids (none if the table has none). Pairs: all samples of the first class, then
        their partners in the same order.
    cells, units
        Cell and name of every sample, or of every pair.
    exposures
        Of the samples, or None.
    paired
        Whether values are to be turned into differences.
    """

    rows: IntArray
    names: list[str]
    cells: IntArray
    units: list[str]
    exposures: FloatArray | None = None
    paired: bool = False

    def combined(self, values: Any) -> Any:
        """Return the values of the samples, or the differences within the pairs: second class minus first."""
        if not self.paired:
            return values
        values, half = values.astype(np.float64), self.cells.size
        values = values.tocsr() if is_sparse(values) else values
        return values[half:] - values[:half]


def choose(path: str, ids: Sequence[str] | None, seen: Seen, samples: Samples) -> Chosen:
    """Choose the samples that have a class and everything else, or the pairs that are complete."""
    if seen.pairs is None:
        rows = np.flatnonzero(seen.cells >= 0)
        names = [ids[i] for i in rows.tolist()] if ids else []
        exposures = None if seen.exposures is None else seen.exposures[rows]
        return Chosen(rows, names, seen.cells[rows], names, exposures)
    both, samples.incomplete = _matched(path, ids, seen, samples)
    halves = np.array(list(both.values()), np.int64).T
    names = [ids[i] for i in halves.ravel().tolist()] if ids else []
    check_distinct(path, names, "sample")
    return Chosen(halves.ravel(), names, _blocks(path, both, seen, samples), list(both), paired=True)


def _matched(
    path: str, ids: Sequence[str] | None, seen: Seen, samples: Samples
) -> tuple[dict[str, tuple[int, int]], list[str]]:
    """Rows of the samples of every pair, first class first, and the pairs that lack one."""
    encoder = samples.labeller.encoder
    order = encoder.order()
    if len(order) != 2:
        raise LabelError(
            f"Pairs compare two classes, but {path} has {len(order)}: {listed(order)}. Pick two with --classes."
        )
    position = np.array([*(order.index(label) for label in encoder.classes), -1])
    assert seen.pairs is not None
    names = [str(pair) for pair in seen.pairs]
    try:
        return match_pairs(
            names, position[seen.codes], order, lambda i: repr(ids[i]) if ids else f"number {i + 1}"
        )
    except LabelError as error:
        raise LabelError(f"{path}, {samples.names['pairs']!r}: {error}") from None


def _blocks(path: str, pairs: dict[str, tuple[int, int]], seen: Seen, samples: Samples) -> IntArray:
    """Block of every pair, 0 without blocks."""
    if "blocks" not in samples.extras:
        return np.zeros(len(pairs), np.int64)
    first, second = (samples.block_of(seen.cells[[rows[k] for rows in pairs.values()]]) for k in (0, 1))
    apart = [pair for pair, differ in zip(pairs, first != second, strict=True) if differ]
    if apart:
        raise LabelError(
            f"{path}: {len(apart):,} of {len(pairs):,} pairs are spread over two blocks of "
            f"{samples.names['blocks']!r}: {listed(apart, 3)}. Differences within a pair are free of its block "
            "only if both samples are in it: correct the blocks, or leave --blocks out."
        )
    return first
