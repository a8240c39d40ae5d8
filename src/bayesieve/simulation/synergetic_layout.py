"""Layout and values of the synthetic microarray, tile by tile (section 6)."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from bayesieve.errors import DataError
from bayesieve.simulation.data_model import Kind, KindArray, frozen
from bayesieve.simulation.tiles import STRIP, TILE, Range, TileMaker, generator
from bayesieve.utils import FloatArray, IntArray, compiled, is_whole

if TYPE_CHECKING:
    from bayesieve.simulation.synergetic import SynergeticModel


@dataclass(frozen=True, slots=True, eq=False)
class Layout:
    """What every feature is, in some order of the columns.

    Parameters
    ----------
    kind, group
        Kind and group of variances.
    block
        Number of the block; the number of blocks for features outside of any.
    position
        Place within the block, from 0.
    subclass
        The subclass of class 1 in which a heterogeneous marker differs; -1 for other features.
    order
        Place of the feature in the orderly arrangement: blocks first, group after group, high-variance
        non-markers last.
    """

    kind: KindArray
    group: KindArray
    block: IntArray
    position: IntArray
    subclass: IntArray
    order: IntArray

    def __post_init__(self) -> None:
        for array in self._arrays():
            array.flags.writeable = False

    def taken(self, order: IntArray) -> Layout:
        """Return the features in another order."""
        return Layout(*(array[order] for array in self._arrays()))

    def _arrays(self) -> tuple[Any, ...]:
        return self.kind, self.group, self.block, self.position, self.subclass, self.order


def even_parts(n: int, n_parts: int) -> tuple[int, ...]:
    """Cut n into parts that differ by 1 at most, the larger first."""
    return tuple(n // n_parts + (k < n % n_parts) for k in range(n_parts))


def _blocks_of_a_group(model: SynergeticModel) -> list[tuple[Kind, int]]:
    """Kind and subclass of the blocks of a group; heterogeneous ones that differ in the last subclass first."""
    mixed = [
        (Kind.HETEROGENEOUS_MARKER, k)
        for k in reversed(range(model.n_subclasses))
        for _ in range(model.blocks_by_subclass[k])
    ]
    alike = [(Kind.LOW_VARIANCE_NON_MARKER, -1)] * model.low_variance_blocks
    return [(Kind.GLOBAL_MARKER, -1)] * model.global_blocks + mixed + alike


@functools.lru_cache(maxsize=16)
def orderly_layout(model: SynergeticModel) -> Layout:
    """Return what the features are, blocks first and group after group; made once for every model."""
    blocks = np.array(_blocks_of_a_group(model) * model.n_groups, dtype=np.int64).reshape(-1, 2)
    n_blocks, k = len(blocks), model.block_size
    alone = model.n_groups * model.high_variance_features
    names = np.arange(model.n_groups, dtype=np.int8)
    kind = np.append(np.repeat(blocks[:, 0], k), np.full(alone, Kind.HIGH_VARIANCE_NON_MARKER))
    group = np.append(
        np.repeat(names, n_blocks * k // model.n_groups), np.repeat(names, model.high_variance_features)
    )
    return Layout(
        kind.astype(np.int8),
        group,
        np.append(np.repeat(np.arange(n_blocks), k), np.full(alone, n_blocks)),
        np.append(np.tile(np.arange(k), n_blocks), np.zeros(alone, dtype=np.int64)),
        np.append(np.repeat(blocks[:, 1], k), np.full(alone, -1)),
        np.arange(n_blocks * k + alone),
    )


def settle(model: SynergeticModel) -> None:
    """Turn lists among the constants into tuples, and raise unless the constants make sense."""
    for name in ("class_variances", "heterogeneous_blocks", "mean_shifts", "mixture_range"):
        object.__setattr__(model, name, frozen(getattr(model, name)))
    _check_variances(model.class_variances)
    _check_numbers(model)
    _check_the_rest(model)


def _check_variances(variances: Any) -> None:
    array = _reals(variances)
    if array is None or (array.size and array.shape[1:] != (2,)) or (array <= 0).any() or len(array) > 127:
        raise DataError(
            f"Variances must be positive, two for every group (127 groups at most), not {variances!r}."
        )


def _check_numbers(model: SynergeticModel) -> None:
    given = model.heterogeneous_blocks
    mixed = given if isinstance(given, tuple) else (given,)
    counts = (model.global_blocks, *mixed, model.low_variance_blocks, model.high_variance_features)
    sizes = (model.block_size, model.n_subclasses)
    if not all(map(is_whole, (*counts, *sizes))):
        raise DataError("Block size and numbers of blocks, features and subclasses must be whole numbers.")
    if min(sizes) < 1 or min(counts) < 0:
        raise DataError("Block size and number of subclasses must be at least 1, other numbers at least 0.")
    if isinstance(given, tuple) and len(given) != model.n_subclasses:
        raise DataError(
            f"heterogeneous_blocks holds {len(given)} numbers; give one for each of the {model.n_subclasses} "
            "subclasses, or a single one."
        )
    if model.n_features < 1:
        raise DataError("Some feature is needed: all numbers of blocks and features are 0, or there is no group.")


def _check_the_rest(model: SynergeticModel) -> None:
    if (rho := _reals(model.correlation)) is None or rho.shape or not 0 <= rho < 1:
        raise DataError(f"correlation must lie in [0, 1), not {model.correlation!r}.")
    if model.mean_shifts is not None:
        shifts = _reals(model.mean_shifts)
        if shifts is None or shifts.shape != (model.block_size,):
            raise DataError(f"mean_shifts must be {model.block_size} finite numbers, one per feature of a block.")
    if model.n_markers and 0.0 in model.shifts and any(first == second for first, second in model.class_variances):
        raise DataError("A marker must differ: mean_shifts holds 0, and a group has equal variances.")
    mixture, shift = _reals(model.mixture_range), _reals(model.mixture_shift)
    if mixture is None or mixture.shape != (2,) or not 0 <= mixture[0] <= mixture[1] <= 1:
        raise DataError("mixture_range must be two numbers between 0 and 1, lower end first.")
    if shift is None or shift.shape:
        raise DataError(f"mixture_shift must be a finite number, not {model.mixture_shift!r}.")


def _reals(value: Any) -> Any:
    """Return finite numbers as an array, or None if there is anything else."""
    try:
        array = np.asarray(value)
        if array.dtype.kind not in "iuf":
            return None
    except ValueError:  # rows of different lengths
        return None
    return array.astype(np.float64) if np.isfinite(array).all() else None


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
    """Whether a feature is drawn from the second law, in class 0 and in each subclass of class 1."""
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
