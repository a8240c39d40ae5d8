"""Random tables in tiles: every tile has its own stream, so that any slice is the same however it is asked for.

A strip is a fixed number of samples, a tile a fixed number of features within a strip. What a strip or a tile
holds depends on the seed and its number alone; neither threads nor chunks change a bit of it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any, Protocol

import numpy as np

from bayesieve.simulation.data_model import KindArray, Seed, SyntheticData, SyntheticMoments
from bayesieve.stats import Moments
from bayesieve.utils import FloatArray, check_choice, check_whole, for_each, n_threads_for

ROWS, COLUMNS = 32, 2048
LAYOUT, STRIP, TILE, STATISTICS = range(4)
"""What a stream is for."""

Range = tuple[int, int]
TileMaker = Callable[[int, Range], FloatArray]

_DATA = 0x64617461  # keeps these streams apart from those that a caller spawns from the same seed
_VALUES_AT_ONCE = 2**22


class TileSource(Protocol):
    """A random table: sizes of its classes, what its features are, and how to make a tile."""

    @property
    def sizes(self) -> tuple[int, int]:
        """Samples of class 0, which come first, and of class 1."""

    @property
    def kind(self) -> KindArray:
        """Kind of every feature."""

    @property
    def group(self) -> KindArray:
        """Group of every feature."""

    def strip(self, number: int, rows: Range) -> TileMaker:
        """Prepare what the tiles of a strip share, and return what makes tile ``number`` of some columns."""


def seed_sequence(seed: Seed) -> np.random.SeedSequence:
    """Return the seed as NumPy's seed sequence; a fresh one when it is None."""
    if isinstance(seed, np.random.SeedSequence):
        return seed
    number = None if seed is None else check_whole("seed", seed, instead=" or a NumPy SeedSequence")
    return np.random.SeedSequence(number)


def generator(seed: np.random.SeedSequence, *key: int) -> np.random.Generator:
    """Return the stream of a seed that belongs to a key, independent of those of other keys."""
    child = np.random.SeedSequence(
        seed.entropy, spawn_key=(*seed.spawn_key, _DATA, *key), pool_size=seed.pool_size
    )
    return np.random.Generator(np.random.SFC64(child))


def whole(source: TileSource, n_threads: int | None = None) -> SyntheticData:
    """Draw a whole data set."""
    return _piece(source, (0, sum(source.sizes)), (0, source.kind.size), n_threads)


def pieces(
    source: TileSource, by: str = "samples", size: int | None = None, n_threads: int | None = None
) -> Iterator[SyntheticData]:
    """Draw a data set some samples, or some features, at a time; together the same as :func:`whole`."""
    n, p = sum(source.sizes), source.kind.size
    check_choice("by", by, ("samples", "features"))
    if size is not None:
        check_whole("size", size, 1, instead=" or None")
    return (
        _by_samples(source, size or _rows_at_once(p), n_threads)
        if by == "samples"
        else (
            _piece(source, (0, n), part, n_threads) for part in _cut((0, p), size or COLUMNS * _tiles_at_once(n))
        )
    )


def summed(source: TileSource, n_threads: int | None = None) -> SyntheticMoments:
    """Sufficient statistics of a data set, from its values, which are never held all at once."""
    total: Moments | None = None
    for piece in _by_samples(source, _rows_at_once(source.kind.size), n_threads):
        part = Moments.from_matrix(piece.values, piece.labels, classes=(0, 1), n_threads=n_threads)
        total = part if total is None else total.merge(part)
    assert total is not None
    return SyntheticMoments(total, source.kind, source.group)


def _by_samples(source: TileSource, size: int, n_threads: int | None) -> Iterator[SyntheticData]:
    for rows in _cut((0, sum(source.sizes)), size):
        yield _piece(source, rows, (0, source.kind.size), n_threads)


def _piece(source: TileSource, rows: Range, columns: Range, n_threads: int | None) -> SyntheticData:
    """Draw the tiles that a piece touches, strip by strip, and keep what belongs to it."""
    n = sum(source.sizes)
    values = np.empty((rows[1] - rows[0], columns[1] - columns[0]))

    def fill(number: int) -> None:
        strip = number * ROWS, min((number + 1) * ROWS, n)
        make = source.strip(number, strip)
        inside = max(rows[0], strip[0]), min(rows[1], strip[1])
        for k in range(columns[0] // COLUMNS, math.ceil(columns[1] / COLUMNS)):
            tile = k * COLUMNS, min((k + 1) * COLUMNS, source.kind.size)
            across = max(columns[0], tile[0]), min(columns[1], tile[1])
            values[_within(inside, rows), _within(across, columns)] = make(k, tile)[
                _within(inside, strip), _within(across, tile)
            ]

    for_each(fill, range(rows[0] // ROWS, math.ceil(rows[1] / ROWS)), n_threads_for(n_threads, values.size))
    values.flags.writeable = False
    labels = np.repeat([0, 1], source.sizes)[slice(*rows)]
    labels.flags.writeable = False
    return SyntheticData(values, labels, source.kind[slice(*columns)], source.group[slice(*columns)])


def _within(part: Range, of: Range) -> slice:
    return slice(part[0] - of[0], part[1] - of[0])


def _cut(of: Range, size: int) -> Iterator[Any]:
    return ((lo, min(lo + size, of[1])) for lo in range(of[0], of[1], size))


def _rows_at_once(n_features: int) -> int:
    return ROWS * max(1, _VALUES_AT_ONCE // (ROWS * n_features))


def _tiles_at_once(n_samples: int) -> int:
    return max(1, _VALUES_AT_ONCE // (COLUMNS * n_samples))
