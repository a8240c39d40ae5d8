r"""Sufficient statistics of the synthetic microarray, drawn without drawing data.

The mean of a independent samples from :math:`N(\mu, s\Sigma)` is :math:`N(\mu, s\Sigma / a)` and, independently of
it, their scatter is Wishart with a - 1 degrees of freedom; its diagonal is kept (Bartlett's decomposition).
Parts of a class are merged as statistics always are. The time does not depend on the sample size.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bayesieve.simulation.data_model import FloatArray, IntArray, Kind, SyntheticMoments
from bayesieve.simulation.synergetic_layout import Layout, even_parts
from bayesieve.simulation.tiles import STATISTICS, generator
from bayesieve.stats import Moments
from bayesieve.stats.merging import merge

if TYPE_CHECKING:
    from bayesieve.simulation.synergetic import SynergeticModel


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
