"""Values of the synthetic microarray, tile by tile (section 6)."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from bayesieve.simulation.data_model import FloatArray, IntArray, Kind, KindArray
from bayesieve.simulation.synergetic_layout import Layout, even_parts
from bayesieve.simulation.tiles import STRIP, TILE, Range, TileMaker, generator
from bayesieve.stats.compiled import compiled

if TYPE_CHECKING:
    from bayesieve.simulation.synergetic import SynergeticModel


class Noise(Protocol):
    """How standard Gaussian noise is turned into another, with mean 0."""

    def shared(self, rng: np.random.Generator, n_rows: int, n_blocks: int) -> FloatArray | None:
        """Draw what the features of a block have in common: samples x blocks, if anything."""

    def reshape(
        self, values: FloatArray, shared: FloatArray | None, block: IntArray, rng: np.random.Generator
    ) -> None:
        """Turn standard Gaussian values (samples x features) into others, in place.

        Parameters
        ----------
        values
            Correlated within blocks.
        shared
            What :meth:`shared` returned.
        block
            Block of every feature; the number of blocks for features outside of any.
        rng
            For whatever is drawn feature by feature.
        """


@dataclass(frozen=True, slots=True, eq=False)
class SynergeticValues:
    """A random table as a source of tiles.

    A value is a location plus a spread times noise, both depending on the part that the sample belongs to: class
    0, or one of the subclasses of class 1.

    Parameters
    ----------
    model
        The constants.
    layout, share
        What the columns are, and the share of the first component in high-variance non-markers.
    sizes, seed
        Sizes of the classes; what the streams are derived from.
    other_noise
        How noise departs from the Gaussian, if it does.
    """

    model: SynergeticModel
    layout: Layout
    share: FloatArray
    sizes: tuple[int, int]
    seed: np.random.SeedSequence
    other_noise: Noise | None = None
    _part: IntArray = field(init=False)
    _location: FloatArray = field(init=False)
    _spread: FloatArray = field(init=False)
    _ratio: FloatArray = field(init=False)
    _own: FloatArray = field(init=False)

    def __post_init__(self) -> None:
        parts = (self.sizes[0], *even_parts(self.sizes[1], self.model.n_subclasses))
        deviations = np.sqrt(np.array(self.model.class_variances))[self.layout.group]
        differs = differing(self.layout, self.model.n_subclasses)
        in_block = self.layout.kind != Kind.HIGH_VARIANCE_NON_MARKER
        made = {
            "_part": np.repeat(np.arange(len(parts)), parts),
            "_location": np.where(differs, self.model.shifts[self.layout.position], 0.0),
            "_spread": np.where(differs, deviations[:, 1], deviations[:, 0]),
            "_ratio": deviations[:, 1] / deviations[:, 0],
            "_own": np.where(in_block, math.sqrt(1.0 - self.model.correlation), 1.0),
        }
        for name, array in made.items():
            array.flags.writeable = False
            object.__setattr__(self, name, array)

    @property
    def kind(self) -> KindArray:
        """Kind of every feature."""
        return self.layout.kind

    @property
    def group(self) -> KindArray:
        """Group of every feature."""
        return self.layout.group

    def strip(self, number: int, rows: Range) -> TileMaker:
        """Draw what the blocks share in some samples, and return what makes the tiles."""
        rng = generator(self.seed, STRIP, number)
        n_rows, n_blocks = rows[1] - rows[0], self.model.n_blocks
        common = np.zeros((n_rows, n_blocks + 1))  # nothing in common outside of blocks
        common[:, :-1] = rng.standard_normal((n_rows, n_blocks))
        common *= math.sqrt(self.model.correlation)
        shared = None if self.other_noise is None else self.other_noise.shared(rng, n_rows, n_blocks)
        return functools.partial(self._tile, number, rows, common, shared)

    def _tile(
        self, strip: int, rows: Range, common: FloatArray, shared: FloatArray | None, number: int, columns: Range
    ) -> FloatArray:
        rng = generator(self.seed, TILE, strip, number)
        block = self.layout.block[slice(*columns)]
        values = rng.standard_normal((rows[1] - rows[0], block.size))
        _correlate(values, common, block, self._own[slice(*columns)])
        if self.other_noise is not None:
            self.other_noise.reshape(values, shared, block, rng)
        _place(values, self._part[slice(*rows)], self._location, self._spread, columns[0])
        alone = np.flatnonzero(block == common.shape[1] - 1)
        places = alone + columns[0]
        second = rng.random((len(values), alone.size))
        _mix(values, alone, second, self.share[places], self._ratio[places], self.model.mixture_shift)
        return values


def differing(layout: Layout, n_subclasses: int) -> Any:
    """Whether a feature is drawn from the second law, in class 0 and in each subclass of class 1.

    Examples
    --------
    >>> from bayesieve.simulation import SynergeticModel
    >>> from bayesieve.simulation.synergetic_values import differing
    >>> layout = SynergeticModel(block_size=1).layout
    >>> differing(layout, 2)[:, :6].astype(int).tolist()
    [[0, 0, 0, 0, 0, 0], [1, 0, 0, 1, 1, 0], [1, 1, 1, 0, 0, 0]]
    """
    is_global = layout.kind == Kind.GLOBAL_MARKER
    mixed = [layout.subclass == k for k in range(n_subclasses)]
    return np.array([np.zeros_like(is_global), *(is_global | differs for differs in mixed)])


@compiled()
def _correlate(values: Any, common: Any, block: Any, own: Any) -> None:
    for i in range(values.shape[0]):
        for j in range(values.shape[1]):
            values[i, j] = own[j] * values[i, j] + common[i, block[j]]


@compiled()
def _place(values: Any, part: Any, location: Any, spread: Any, first: int) -> None:
    for i in range(values.shape[0]):
        k = part[i]
        for j in range(values.shape[1]):
            values[i, j] = location[k, first + j] + spread[k, first + j] * values[i, j]


@compiled()
def _mix(values: Any, columns: Any, second: Any, share: Any, ratio: Any, shift: float) -> None:
    """Turn values of the first component into values of the second where a uniform number says so."""
    for i in range(values.shape[0]):
        for j in range(columns.size):
            if second[i, j] >= share[j]:
                values[i, columns[j]] = shift + ratio[j] * values[i, columns[j]]
