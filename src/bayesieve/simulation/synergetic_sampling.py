r"""How the synthetic microarray is drawn: its values tile by tile, or its sufficient statistics directly.

The mean of a independent samples from :math:`N(\mu, s\Sigma)` is :math:`N(\mu, s\Sigma / a)` and, independently of
it, their scatter is Wishart with a - 1 degrees of freedom; its diagonal is kept (Bartlett's decomposition).
Parts of a class are merged as statistics always are. The time does not depend on the sample size.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from bayesieve.simulation.synthetic_data import (
    STATISTICS,
    STRIP,
    TILE,
    Kind,
    KindArray,
    Range,
    SyntheticMoments,
    TileMaker,
    generator,
)
from bayesieve.stats import Moments, merge
from bayesieve.utils import FloatArray, IntArray, compiled

if TYPE_CHECKING:
    from bayesieve.simulation.synergetic import Layout, SynergeticModel


def even_parts(n: int, n_parts: int) -> tuple[int, ...]:
    """Cut n into parts that differ by 1 at most, the larger first."""
    return tuple(n // n_parts + (k < n % n_parts) for k in range(n_parts))


def draw_moments(
    model: SynergeticModel,
    layout: Layout,
    share: FloatArray,
    sizes: tuple[int, int],
    seed: np.random.SeedSequence,
) -> SyntheticMoments:
    """Draw the statistics of both classes; see :meth:`bayesieve.simulation.SynergeticModel.draw_moments`."""
    rng = generator(seed, STATISTICS)
    drawn = np.zeros((3, 2, model.n_features))  # mean, residual and centred squares of the orderly arrangement
    blocks = _Blocks(model)
    ordered = np.empty_like(share)
    ordered[layout.order] = share
    in_blocks = model.n_blocks * model.block_size
    for k, size in enumerate(sizes):
        drawn[:, k, :in_blocks] = blocks.draw(k, size, rng).reshape(3, in_blocks)
        drawn[:, k, in_blocks:] = _mixtures(model, ordered[in_blocks:], size, rng)
    mean, residual, squares = np.take(drawn, layout.order, axis=2)
    moments = Moments.trusted((0, 1), np.array(sizes, dtype=np.int64), mean, squares, residual)
    return SyntheticMoments(moments, layout.kind, layout.group)


class _Blocks:
    """Statistics of all correlated blocks in a class."""

    def __init__(self, model: SynergeticModel) -> None:
        k = model.block_size
        every = slice(0, model.n_blocks * k, k)
        self.model = model
        self.kind, self.subclass = model.layout.kind[every], model.layout.subclass[every]
        self.variance = np.array(model.class_variances)[model.layout.group[every]].T
        correlation = np.full((k, k), model.correlation)
        np.fill_diagonal(correlation, 1.0)
        self.root = np.linalg.cholesky(correlation)

    def draw(self, which: int, size: int, rng: np.random.Generator) -> FloatArray:
        """Mean, residual and centred squares in class ``which``: 3 x blocks x features."""
        drawn = np.zeros((3, self.kind.size, self.model.block_size))
        if which == 0:
            drawn[0], drawn[2] = self._part(size, self.variance[0], rng)
            return drawn
        alike = np.flatnonzero(self.kind != Kind.HETEROGENEOUS_MARKER)
        differs = self.kind[alike] == Kind.GLOBAL_MARKER
        variance = np.where(differs, self.variance[1, alike], self.variance[0, alike])
        mean, drawn[2, alike] = self._part(size, variance, rng)
        drawn[0, alike] = mean + differs[:, None] * self.model.shifts
        for k, different in enumerate(even_parts(size, self.model.n_subclasses)):
            mixed = np.flatnonzero(self.subclass == k)
            mean0, squares0 = self._part(size - different, self.variance[0, mixed], rng)
            mean1, squares1 = self._part(different, self.variance[1, mixed], rng)
            drawn[:, mixed] = merge(
                size - different, mean0, 0.0, squares0, different, mean1 + self.model.shifts, 0.0, squares1
            )
        return drawn

    def _part(self, n: int, variance: FloatArray, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
        """Means (about 0) and centred squares of n samples, blocks x features."""
        if n == 0:
            return np.zeros((2, variance.size, self.model.block_size))  # type: ignore[return-value]
        normals = rng.standard_normal((self.model.block_size, variance.size))
        mean = np.sqrt(variance / n) * (self.root @ normals)
        return mean.T, (variance * self._standard_squares(n - 1, variance.size, rng)).T

    def _standard_squares(self, freedom: int, n_blocks: int, rng: np.random.Generator) -> Any:
        """Diagonal of Wishart matrices, features x blocks."""
        k = self.model.block_size
        if freedom < k:
            factor = rng.standard_normal((k, freedom, n_blocks))
        else:
            factor = np.zeros((k, k, n_blocks))
            rows, columns = np.tril_indices(k, -1)
            factor[rows, columns] = rng.standard_normal((rows.size, n_blocks))
            degrees = freedom - np.arange(k, dtype=np.float64)
            factor[np.arange(k), np.arange(k)] = np.sqrt(rng.chisquare(degrees[:, None], (k, n_blocks)))
        product = self.root @ factor.reshape(k, -1)
        product *= product
        return product.reshape(factor.shape).sum(axis=1)


def _mixtures(model: SynergeticModel, share: FloatArray, size: int, rng: np.random.Generator) -> Any:
    """Mean, residual and centred squares of the high-variance non-markers in a class."""
    variances = np.repeat(np.array(model.class_variances), model.high_variance_features, axis=0).T
    first = rng.binomial(size, share)
    second = size - first
    mean0, squares0 = _alone(first, variances[0], rng)
    mean1, squares1 = _alone(second, variances[1], rng)
    return merge(first, mean0, 0.0, squares0, second, mean1 + model.mixture_shift, 0.0, squares1)


def _alone(n: IntArray, variance: FloatArray, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
    """Means (about 0) and centred squares of independent features with n samples each, some with none or one."""
    mean = np.sqrt(variance / np.maximum(n, 1)) * rng.standard_normal(n.size)
    return mean, variance * (2.0 * rng.standard_gamma(0.5 * np.maximum(n - 1, 0)))


class Noise(Protocol):
    """How standard Gaussian noise is turned into another, with mean 0."""

    def shared(self, rng: np.random.Generator, n_rows: int, n_blocks: int) -> FloatArray | None:
        """Draw what the features of a block have in common: samples x blocks, if anything."""

    def reshape(
        self, values: FloatArray, shared: FloatArray | None, block: IntArray, rng: np.random.Generator
    ) -> None:
        """Turn standard Gaussian values (samples x features) into others, in place."""


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
        differs = differs_by_part(self.layout, self.model.n_subclasses)
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


def differs_by_part(layout: Layout, n_subclasses: int) -> Any:
    """Whether a feature is drawn from the second distribution, in class 0 and in each subclass of class 1."""
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
