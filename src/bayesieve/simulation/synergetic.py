r"""The synthetic microarray of section 6, a variant of the synergetic model of Hua et al. (2009).

It breaks the assumptions of the screen on purpose: features are correlated within blocks, and unknown subclasses
make some of them mixtures.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from bayesieve.simulation.synergetic_sampling import Noise, SynergeticValues, draw_moments, even_parts
from bayesieve.simulation.synthetic_data import (
    LAYOUT,
    Kind,
    KindArray,
    Seed,
    SyntheticData,
    SyntheticMoments,
    as_tuples,
    class_sizes_of,
    draw_pieces,
    draw_whole,
    generator,
    seed_sequence,
)
from bayesieve.utils import DataError, FloatArray, IntArray


@dataclass(frozen=True, slots=True)
class SynergeticModel:
    r"""Constants of section 6; the defaults are the paper's.

    Parameters
    ----------
    block_size
        Features per correlated block, :math:`k`.
    correlation
        Correlation within a block, :math:`\rho`.
    class_variances
        For every group the variances :math:`(\sigma_{0,i}, \sigma_{1,i})`.
    global_blocks, low_variance_blocks, high_variance_features
        How many there are *per group*.
    heterogeneous_blocks
        The same for blocks of markers that differ in one subclass of class 1 only: a number, spread evenly
        over the subclasses, or one number per subclass.
    n_subclasses
        Hidden subclasses of class 1, :math:`c`, as equal in size as can be; the first ones are the larger.
    mean_shifts
        The means :math:`\mu_1` of a block of markers where they differ from 0; :math:`1, 1/2, \dots, 1/k` when
        not given.
    mixture_shift, mixture_range
        A high-variance non-marker is :math:`N(0, \sigma_{0,i})` with a probability drawn once per feature,
        uniformly from this range, and :math:`N(\text{shift}, \sigma_{1,i})` otherwise.

    Examples
    --------
    >>> from bayesieve.simulation import SynergeticModel
    >>> model = SynergeticModel()
    >>> model.n_features, model.n_markers
    (20000, 100)
    >>> data = model.draw(20, seed=1)
    >>> data.values.shape, int(data.true_markers.sum())
    ((20, 20000), 100)
    """

    block_size: int = 5
    correlation: float = 0.8
    class_variances: tuple[tuple[float, float], ...] = ((0.16, 0.16), (0.49, 0.49), (0.09, 0.25), (0.49, 0.64))
    global_blocks: int = 1
    heterogeneous_blocks: int | tuple[int, ...] = 4
    low_variance_blocks: int = 595
    high_variance_features: int = 2000
    n_subclasses: int = 2
    mean_shifts: tuple[float, ...] | None = None
    mixture_shift: float = 1.0
    mixture_range: tuple[float, float] = (0.0, 1.0)

    def __post_init__(self) -> None:
        check_constants(self)

    @property
    def n_groups(self) -> int:
        """Number of groups."""
        return len(self.class_variances)

    @property
    def n_blocks(self) -> int:
        """Number of correlated blocks, of markers and of non-markers."""
        blocks = self.global_blocks + sum(self.blocks_by_subclass) + self.low_variance_blocks
        return self.n_groups * blocks

    @property
    def n_features(self) -> int:
        """Number of features."""
        return self.n_blocks * self.block_size + self.n_groups * self.high_variance_features

    @property
    def n_markers(self) -> int:
        """Number of true markers."""
        blocks = self.global_blocks + sum(self.blocks_by_subclass)
        return self.n_groups * blocks * self.block_size

    @property
    def blocks_by_subclass(self) -> tuple[int, ...]:
        """Blocks of heterogeneous markers per group that differ in each subclass.

        Examples
        --------
        >>> from bayesieve.simulation import SynergeticModel
        >>> SynergeticModel().blocks_by_subclass, SynergeticModel(heterogeneous_blocks=3).blocks_by_subclass
        ((2, 2), (2, 1))
        """
        blocks = self.heterogeneous_blocks
        return blocks if isinstance(blocks, tuple) else even_parts(blocks, self.n_subclasses)

    @property
    def shifts(self) -> FloatArray:
        r"""The means :math:`\mu_1` within a block.

        Examples
        --------
        >>> from bayesieve.simulation import SynergeticModel
        >>> SynergeticModel().shifts.round(3).tolist()
        [1.0, 0.5, 0.333, 0.25, 0.2]
        """
        return (
            1.0 / np.arange(1.0, self.block_size + 1) if self.mean_shifts is None else np.array(self.mean_shifts)
        )

    @property
    def layout(self) -> Layout:
        """What the features are in the orderly arrangement: blocks first, group after group."""
        return orderly_layout(self)

    def draw(
        self,
        n_samples: int | tuple[int, int],
        *,
        seed: Seed = None,
        shuffle: bool = True,
        n_threads: int | None = None,
    ) -> SyntheticData:
        """Draw a data set; the samples of class 0 come first, then the subclasses of class 1.

        Parameters
        ----------
        n_samples
            Even number of samples, or the sizes of the two classes.
        seed
            Same seed, same data: a whole number or a NumPy seed sequence.
        shuffle
            Scatter the kinds of features over the columns.
        n_threads
            Threads to use; the values do not depend on them.

        Examples
        --------
        >>> from bayesieve.simulation import SynergeticModel
        >>> small = SynergeticModel(low_variance_blocks=2, high_variance_features=3)
        >>> small.draw(10, seed=0).values.shape, small.draw((4, 9), seed=0).values.shape
        ((10, 152), (13, 152))
        """
        return draw_whole(self._values(n_samples, seed, shuffle), n_threads)

    def chunks(
        self,
        n_samples: int | tuple[int, int],
        *,
        seed: Seed = None,
        shuffle: bool = True,
        by: str = "samples",
        size: int | None = None,
        n_threads: int | None = None,
    ) -> Iterator[SyntheticData]:
        """Draw the same data set as :meth:`draw` in pieces.

        Parameters
        ----------
        n_samples, seed, shuffle, n_threads
            As in :meth:`draw`.
        by
            ``"samples"`` or ``"features"``. The latter takes longer where columns are shuffled: what the
            features of a block share is drawn again for every piece.
        size
            Samples or features per piece; some 32 MB when not given.

        Examples
        --------
        >>> from bayesieve.simulation import SynergeticModel
        >>> small = SynergeticModel(low_variance_blocks=2, high_variance_features=3)
        >>> [piece.values.shape for piece in small.chunks(10, seed=0, by="features", size=100)]
        [(10, 100), (10, 52)]
        """
        return draw_pieces(self._values(n_samples, seed, shuffle), by, size, n_threads)

    def draw_moments(
        self, n_samples: int | tuple[int, int], *, seed: Seed = None, shuffle: bool = True
    ) -> SyntheticMoments:
        """Draw counts, means and centred squares directly, exactly as data would have them.

        The time does not depend on the number of samples. The same seed gives the same features as
        :meth:`draw`, in the same columns, but another sample of them.

        Parameters
        ----------
        n_samples, seed, shuffle
            As in :meth:`draw`.

        Examples
        --------
        >>> import bayesieve as bs
        >>> from bayesieve.simulation import SynergeticModel
        >>> drawn = SynergeticModel().draw_moments(5000, seed=1)
        >>> posterior = bs.screen(drawn.moments, prior_probability=0.005)
        >>> int((posterior.probability > 0.5).sum())
        98
        """
        sizes = class_sizes_of(n_samples)
        sequence = seed_sequence(seed)
        layout, share = self._arrange(sequence, shuffle)
        return draw_moments(self, layout, share, sizes, sequence)

    def noise(self) -> Noise | None:
        """How noise departs from the Gaussian; here it does not.

        Examples
        --------
        >>> from bayesieve.simulation import SynergeticModel
        >>> SynergeticModel().noise() is None
        True
        """
        return None

    def _values(self, n_samples: Any, seed: Seed, shuffle: bool) -> SynergeticValues:
        sizes = class_sizes_of(n_samples)
        sequence = seed_sequence(seed)
        return SynergeticValues(self, *self._arrange(sequence, shuffle), sizes, sequence, self.noise())

    def _arrange(self, seed: np.random.SeedSequence, shuffle: bool) -> tuple[Layout, FloatArray]:
        """Order of the columns, and the share of the first component in every high-variance feature."""
        rng = generator(seed, LAYOUT)
        layout = self.layout
        share = np.ones(self.n_features)
        in_blocks = self.n_blocks * self.block_size
        share[in_blocks:] = rng.uniform(*self.mixture_range, self.n_features - in_blocks)
        if shuffle:
            order = rng.permutation(self.n_features)
            layout, share = layout.reorder(order), share[order]
        share.flags.writeable = False
        return layout, share


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

    def reorder(self, order: IntArray) -> Layout:
        """Return the features in another order."""
        return Layout(*(array[order] for array in self._arrays()))

    def _arrays(self) -> tuple[Any, ...]:
        return self.kind, self.group, self.block, self.position, self.subclass, self.order


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


def check_constants(model: SynergeticModel) -> None:
    """Turn lists among the constants into tuples, and raise unless the constants make sense."""
    for name in ("class_variances", "heterogeneous_blocks", "mean_shifts", "mixture_range"):
        object.__setattr__(model, name, as_tuples(getattr(model, name)))
    _check_variances(model.class_variances)
    _check_numbers(model)
    _check_reals(model)


def _check_variances(variances: Any) -> None:
    array = _reals(variances)
    if array is None or (array.size and array.shape[1:] != (2,)) or (array <= 0).any() or len(array) > 127:
        raise DataError(
            f"Variances must be positive, two for every group (127 groups at most), not {variances!r}."
        )


def _check_numbers(model: SynergeticModel) -> None:
    blocks = model.heterogeneous_blocks
    mixed = blocks if isinstance(blocks, tuple) else (blocks,)
    counts = (model.global_blocks, *mixed, model.low_variance_blocks, model.high_variance_features)
    sizes = (model.block_size, model.n_subclasses)
    if not all(isinstance(n, (int, np.integer)) and not isinstance(n, bool) for n in (*counts, *sizes)):
        raise DataError("Block size and numbers of blocks, features and subclasses must be whole numbers.")
    if min(sizes) < 1 or min(counts) < 0:
        raise DataError("Block size and number of subclasses must be at least 1, other numbers at least 0.")
    if isinstance(blocks, tuple) and len(blocks) != model.n_subclasses:
        raise DataError(
            f"heterogeneous_blocks holds {len(blocks)} numbers; give one for each of the {model.n_subclasses} "
            "subclasses, or a single one."
        )
    if model.n_features < 1:
        raise DataError("Some feature is needed: all numbers of blocks and features are 0, or there is no group.")


def _check_reals(model: SynergeticModel) -> None:
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
