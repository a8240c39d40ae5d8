"""The synthetic microarray of section 6, a variant of the "synergetic" model of Hua et al. (2009).

It breaks the assumptions of the screen on purpose: features are correlated within blocks, and
unknown subclasses make some of them mixtures.
"""

from __future__ import annotations

import enum
import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from bayesieve.errors import DataError

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]


class Kind(enum.IntEnum):
    """What a synthetic feature is."""

    GLOBAL_MARKER = 0
    HETEROGENEOUS_MARKER_A = 1
    HETEROGENEOUS_MARKER_B = 2
    LOW_VARIANCE_NON_MARKER = 3
    HIGH_VARIANCE_NON_MARKER = 4

    @property
    def words(self) -> str:
        """The kind as people call it."""
        return (
            "global marker",
            "heterogeneous marker",
            "heterogeneous marker",
            "no marker, low variance",
            "no marker, high variance",
        )[self]


@dataclass(frozen=True, slots=True, eq=False)
class SyntheticData:
    """A synthetic data set and its truth.

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
    """

    values: FloatArray
    labels: IntArray
    kind: npt.NDArray[np.int8]
    group: npt.NDArray[np.int8]

    @property
    def true_markers(self) -> npt.NDArray[np.bool_]:
        """True for the features whose distribution differs between the classes."""
        return self.kind <= Kind.HETEROGENEOUS_MARKER_B


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
    global_blocks, heterogeneous_blocks, low_variance_blocks, high_variance_features
        How many there are *per group*.

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
    class_variances: tuple[tuple[float, float], ...] = (
        (0.16, 0.16),
        (0.49, 0.49),
        (0.09, 0.25),
        (0.49, 0.64),
    )
    global_blocks: int = 1
    heterogeneous_blocks: int = 4
    low_variance_blocks: int = 595
    high_variance_features: int = 2000

    def __post_init__(self) -> None:
        counts = (self.global_blocks, self.heterogeneous_blocks, self.low_variance_blocks,
                  self.high_variance_features)  # fmt: skip
        if self.block_size < 1 or min(counts) < 0 or self.n_features < 1:
            raise DataError("Block size must be at least 1, other numbers at least 0, and some feature is needed.")
        if not 0 <= self.correlation < 1:
            raise DataError(f"correlation must lie in [0, 1), not {self.correlation}.")
        if any(variance <= 0 for pair in self.class_variances for variance in pair):
            raise DataError("Variances must be positive.")

    @property
    def n_groups(self) -> int:
        """Number of groups."""
        return len(self.class_variances)

    @property
    def n_features(self) -> int:
        """Number of features."""
        blocks = self.global_blocks + self.heterogeneous_blocks + self.low_variance_blocks
        return self.n_groups * (blocks * self.block_size + self.high_variance_features)

    @property
    def n_markers(self) -> int:
        """Number of true markers."""
        return self.n_groups * (self.global_blocks + self.heterogeneous_blocks) * self.block_size

    def draw(self, n_samples: int, *, seed: int | None = None, shuffle: bool = True) -> SyntheticData:
        """Draw a data set with equal classes; class 1 has two hidden subclasses.

        Parameters
        ----------
        n_samples
            Even number of samples.
        seed
            Same seed, same data.
        shuffle
            Scatter the kinds of features over the columns.

        Examples
        --------
        >>> from bayesieve.simulation import SynergeticModel
        >>> small = SynergeticModel(low_variance_blocks=2, high_variance_features=3)
        >>> small.draw(10, seed=0).values.shape
        (10, 152)
        """
        if not isinstance(n_samples, (int, np.integer)) or n_samples < 2 or n_samples % 2:
            raise DataError(f"n_samples must be even and at least 2, not {n_samples}.")
        rng = np.random.default_rng(seed)
        kind, group, block = self._layout()
        if shuffle:
            order = rng.permutation(self.n_features)
            kind, group, block = kind[order], group[order], block[order]
        else:
            order = np.arange(self.n_features)
        values = self._noise(n_samples, block, rng)
        variances = np.array(self.class_variances)
        values *= np.sqrt(variances[group, 0])
        labels = np.repeat([0, 1], n_samples // 2)
        shift = 1.0 / (1.0 + order % self.block_size)  # only read for features in blocks, which lie aligned
        ratio = np.sqrt(variances[group, 1] / variances[group, 0])
        for column in np.flatnonzero(kind <= Kind.HETEROGENEOUS_MARKER_B).tolist():
            different = self._different_samples(Kind(int(kind[column])), n_samples)
            values[different, column] = values[different, column] * ratio[column] + shift[column]
        self._mix(values, np.flatnonzero(kind == Kind.HIGH_VARIANCE_NON_MARKER), ratio, rng)
        return SyntheticData(values, labels, kind, group)

    def _layout(self) -> tuple[npt.NDArray[np.int8], npt.NDArray[np.int8], IntArray]:
        """Kind, group and block (-1 for none) of the features in an orderly arrangement, blocks first."""
        half = self.heterogeneous_blocks // 2
        blocks = (
            [Kind.GLOBAL_MARKER] * self.global_blocks
            + [Kind.HETEROGENEOUS_MARKER_A] * half
            + [Kind.HETEROGENEOUS_MARKER_B] * (self.heterogeneous_blocks - half)
            + [Kind.LOW_VARIANCE_NON_MARKER] * self.low_variance_blocks
        )
        in_blocks = np.repeat(np.array(blocks * self.n_groups, dtype=np.int8), self.block_size)
        n_alone = self.n_groups * self.high_variance_features
        kind = np.concatenate([in_blocks, np.full(n_alone, Kind.HIGH_VARIANCE_NON_MARKER, dtype=np.int8)])
        names = np.arange(self.n_groups, dtype=np.int8)
        group = np.concatenate(
            [np.repeat(names, len(blocks) * self.block_size), np.repeat(names, self.high_variance_features)]
        )
        block = np.full(kind.size, -1, dtype=np.int64)
        block[: in_blocks.size] = np.arange(in_blocks.size) // self.block_size
        return kind, group, block

    def _noise(self, n_samples: int, block: IntArray, rng: np.random.Generator) -> FloatArray:
        """Standard normal values, correlated within blocks through a shared part."""
        values = rng.standard_normal((n_samples, block.size))
        shared = math.sqrt(self.correlation) * rng.standard_normal((n_samples, max(int(block.max()) + 1, 1)))
        own = np.where(block >= 0, math.sqrt(1.0 - self.correlation), 1.0)
        values *= own
        inside = np.flatnonzero(block >= 0)
        values[:, inside] += shared[:, block[inside]]
        return values

    @staticmethod
    def _different_samples(kind: Kind, n_samples: int) -> slice:
        """Samples of class 1 in which a marker of this kind differs from class 0."""
        start = n_samples // 2
        middle = start + math.ceil(start / 2)
        return {
            Kind.GLOBAL_MARKER: slice(start, None),
            Kind.HETEROGENEOUS_MARKER_A: slice(middle, None),
            Kind.HETEROGENEOUS_MARKER_B: slice(start, middle),
        }[kind]

    @staticmethod
    def _mix(values: FloatArray, columns: IntArray, ratio: FloatArray, rng: np.random.Generator) -> None:
        """Turn standard values into the two-component mixture of the high-variance non-markers."""
        share = rng.random(columns.size)
        second = rng.random((values.shape[0], columns.size)) >= share
        part = values[:, columns]
        values[:, columns] = np.where(second, 1.0 + part * ratio[columns], part)
