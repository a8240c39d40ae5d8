"""Synthetic data sets and their truth, drawn in tiles so that any slice is the same however it is asked for.

A strip is a fixed number of samples, a tile a fixed number of features within a strip. What a strip or a tile
holds depends on the seed and its number alone; neither threads nor chunks change a bit of it.
"""

from __future__ import annotations

import enum
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from bayesieve.stats import Moments
from bayesieve.utils import (
    BoolArray,
    DataError,
    FloatArray,
    IntArray,
    check_choice,
    check_whole,
    for_each,
    n_threads_for,
)

KindArray = npt.NDArray[np.int8]
Seed: TypeAlias = "int | np.random.SeedSequence | None"

ROWS, COLUMNS = 32, 2048
LAYOUT, STRIP, TILE, STATISTICS = range(4)
"""What a stream is for."""

Range = tuple[int, int]
TileMaker = Callable[[int, Range], FloatArray]

_DATA = 0x64617461  # keeps these streams apart from those that a caller spawns from the same seed
_VALUES_AT_ONCE = 2**22


class Kind(enum.IntEnum):
    """What a synthetic feature is.

    Examples
    --------
    >>> from bayesieve.simulation import Kind
    >>> Kind.HETEROGENEOUS_MARKER.words, Kind.HETEROGENEOUS_MARKER.is_marker
    ('heterogeneous marker', True)
    """

    GLOBAL_MARKER = 0
    HETEROGENEOUS_MARKER = 1
    LOW_VARIANCE_NON_MARKER = 2
    HIGH_VARIANCE_NON_MARKER = 3
    MARKER = 4
    NON_MARKER = 5

    @property
    def words(self) -> str:
        """The kind as people call it."""
        return (
            "global marker",
            "heterogeneous marker",
            "no marker, low variance",
            "no marker, high variance",
            "marker",
            "no marker",
        )[self]

    @property
    def is_marker(self) -> bool:
        """Whether the distribution differs between the classes."""
        return self in (Kind.GLOBAL_MARKER, Kind.HETEROGENEOUS_MARKER, Kind.MARKER)


_IS_MARKER = np.array([kind.is_marker for kind in Kind])


@dataclass(frozen=True, slots=True, eq=False)
class SyntheticData:
    """A synthetic data set, or a piece of one, and its truth.

    Parameters
    ----------
    values
        Samples x features.
    labels
        Class of every sample, 0 or 1.
    kind
        A :class:`Kind` per feature.
    group
        Group of variances per feature.

    Examples
    --------
    >>> from bayesieve.simulation import SynergeticModel
    >>> data = SynergeticModel(low_variance_blocks=2, high_variance_features=3).draw(6, seed=0)
    >>> data.values.shape, data.labels.tolist(), int(data.true_markers.sum())
    ((6, 152), [0, 0, 0, 1, 1, 1], 100)
    """

    values: FloatArray
    labels: IntArray
    kind: KindArray
    group: KindArray

    @property
    def true_markers(self) -> BoolArray:
        """True for the features whose distribution differs between the classes."""
        return np.asarray(_IS_MARKER[self.kind])


@dataclass(frozen=True, slots=True, eq=False)
class SyntheticMoments:
    """Sufficient statistics of a synthetic data set, and its truth.

    Parameters
    ----------
    moments
        Counts, means and centred squares of the classes 0 and 1.
    kind
        A :class:`Kind` per feature.
    group
        Group of variances per feature.

    Examples
    --------
    >>> from bayesieve.simulation import SynergeticModel
    >>> drawn = SynergeticModel().draw_moments(1_000_000, seed=0)
    >>> drawn.moments.count.tolist(), int(drawn.true_markers.sum())
    ([500000, 500000], 100)
    """

    moments: Moments
    kind: KindArray
    group: KindArray

    @property
    def true_markers(self) -> BoolArray:
        """True for the features whose distribution differs between the classes."""
        return np.asarray(_IS_MARKER[self.kind])


def class_sizes_of(n_samples: Any) -> tuple[int, int]:
    """Sizes of the two classes: halves of an even total, or as given."""
    if isinstance(n_samples, (tuple, list)):
        if len(n_samples) != 2 or not all(_is_whole(n) and n >= 1 for n in n_samples):
            raise DataError(f"Class sizes must be two whole numbers of at least 1, not {n_samples!r}.")
        return int(n_samples[0]), int(n_samples[1])
    if not _is_whole(n_samples) or n_samples < 2 or n_samples % 2:
        raise DataError(
            f"n_samples must be even and at least 2, or a pair of class sizes such as (40, 60), not {n_samples!r}."
        )
    return int(n_samples) // 2, int(n_samples) // 2


def _is_whole(n: Any) -> bool:
    return isinstance(n, (int, np.integer)) and not isinstance(n, bool)


def as_tuples(value: Any) -> Any:
    """Return lists, as files hold them, as tuples."""
    return tuple(as_tuples(item) for item in value) if isinstance(value, list) else value


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


def draw_whole(source: TileSource, n_threads: int | None = None) -> SyntheticData:
    """Draw a whole data set."""
    return _piece(source, (0, sum(source.sizes)), (0, source.kind.size), n_threads)


def draw_pieces(
    source: TileSource, by: str = "samples", size: int | None = None, n_threads: int | None = None
) -> Iterator[SyntheticData]:
    """Draw a data set some samples, or some features, at a time; together the same as :func:`draw_whole`."""
    n, p = sum(source.sizes), source.kind.size
    check_choice("by", by, ("samples", "features"))
    if size is not None:
        check_whole("size", size, 1, instead=" or None")
    return (
        _by_samples(source, size or _rows_at_once(p), n_threads)
        if by == "samples"
        else (
            _piece(source, (0, n), part, n_threads) for part in _split((0, p), size or COLUMNS * _tiles_at_once(n))
        )
    )


def draw_statistics(source: TileSource, n_threads: int | None = None) -> SyntheticMoments:
    """Sufficient statistics of a data set, from its values, which are never held all at once."""
    total: Moments | None = None
    for piece in _by_samples(source, _rows_at_once(source.kind.size), n_threads):
        part = Moments.from_matrix(piece.values, piece.labels, classes=(0, 1), n_threads=n_threads)
        total = part if total is None else total.merge(part)
    assert total is not None
    return SyntheticMoments(total, source.kind, source.group)


def _by_samples(source: TileSource, size: int, n_threads: int | None) -> Iterator[SyntheticData]:
    for rows in _split((0, sum(source.sizes)), size):
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


def _split(of: Range, size: int) -> Iterator[Any]:
    return ((lo, min(lo + size, of[1])) for lo in range(of[0], of[1], size))


def _rows_at_once(n_features: int) -> int:
    return ROWS * max(1, _VALUES_AT_ONCE // (ROWS * n_features))


def _tiles_at_once(n_samples: int) -> int:
    return max(1, _VALUES_AT_ONCE // (COLUMNS * n_samples))
