r"""The synthetic microarray of section 6, a variant of the synergetic model of Hua et al. (2009).

The mean of a independent samples from :math:`N(\mu, s\Sigma)` is :math:`N(\mu, s\Sigma / a)` and, independently of
it, their scatter is Wishart with a - 1 degrees of freedom; its diagonal is kept (Bartlett's decomposition).
Parts of a class are merged as statistics always are. The time does not depend on the sample size.

It breaks the assumptions of the screen on purpose: features are correlated within blocks, and
unknown subclasses make some of them mixtures.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from bayesieve.simulation.data_model import Kind, Seed, SyntheticData, SyntheticMoments, class_sizes_of
from bayesieve.simulation.synergetic_layout import (
    Layout,
    Noise,
    SynergeticValues,
    even_parts,
    orderly_layout,
    settle,
)
from bayesieve.simulation.tiles import LAYOUT, STATISTICS, generator, pieces, seed_sequence, whole
from bayesieve.stats import Moments, merge
from bayesieve.utils import FloatArray, IntArray


def draw_moments(
    model: SynergeticModel, layout: Layout, share: FloatArray, sizes: tuple[int, int], seed: np.random.SeedSequence
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


__all__ = ["Kind", "Layout", "SynergeticModel", "SyntheticData"]


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
        settle(self)

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
        given = self.heterogeneous_blocks
        return given if isinstance(given, tuple) else even_parts(given, self.n_subclasses)

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
        return whole(self._values(n_samples, seed, shuffle), n_threads)

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
        return pieces(self._values(n_samples, seed, shuffle), by, size, n_threads)

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
        layout, share = self._arranged(sequence, shuffle)
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
        return SynergeticValues(self, *self._arranged(sequence, shuffle), sizes, sequence, self.noise())

    def _arranged(self, seed: np.random.SeedSequence, shuffle: bool) -> tuple[Layout, FloatArray]:
        """Order of the columns, and the share of the first component in every high-variance feature."""
        rng = generator(seed, LAYOUT)
        layout = self.layout
        share = np.ones(self.n_features)
        in_blocks = self.n_blocks * self.block_size
        share[in_blocks:] = rng.uniform(*self.mixture_range, self.n_features - in_blocks)
        if shuffle:
            order = rng.permutation(self.n_features)
            layout, share = layout.taken(order), share[order]
        share.flags.writeable = False
        return layout, share
