"""Gibbs samplers of shared kernels: the dictionary, and the posterior probability of every feature."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from bayesieve.rivals.skbs import gibbs_loops
from bayesieve.rivals.skbs.dictionary import alpha_by_moments, starting_kernels
from bayesieve.rivals.skbs.kernel_prior import KernelPrior
from bayesieve.rivals.skbs.shared_kernels import SharedKernels
from bayesieve.utils import FloatArray, for_each

_BLOCK = 16  # features with a stream of random numbers of their own, whatever the number of threads
_BATCHES = 20
_METROPOLIS_STEPS = 20


def sample_kernels(
    rows: FloatArray,
    n_kernels: int,
    *,
    support: tuple[float, float] | None = None,
    draws: int = 1000,
    seed: int = 0,
    n_threads: int = 1,
) -> SharedKernels:
    """Posterior means of kernels and alpha after the first fifth of the draws, by Gibbs sampling.

    Kernels are put in the order of their means in every draw. Alpha is set by the moments of the weights drawn,
    which is no step of Gibbs.
    """
    start = starting_kernels(rows, n_kernels, support)[0]
    sampler = DictionarySampler(rows, start, KernelPrior.of(rows), seed=seed, n_threads=n_threads)
    total, burn_in = np.zeros((3, n_kernels)), draws // 5
    for draw in range(draws):
        sampler.sweep()
        sampler.renew_alpha()
        if draw >= burn_in:
            now = sampler.kernels.ordered()
            total += np.stack([now.mean, now.sd, now.alpha])
    mean, sd, alpha = total / (draws - burn_in)
    return SharedKernels(mean, sd, alpha, support)


class DictionarySampler:
    """State of the sampler of the dictionary: kernels, and weights of every feature."""

    def __init__(
        self, rows: FloatArray, kernels: SharedKernels, prior: KernelPrior, *, seed: int = 0, n_threads: int = 1
    ) -> None:
        self.rows, self.kernels, self.prior, self.n_threads = rows, kernels, prior, n_threads
        starts = list(range(0, rows.shape[0], _BLOCK))
        own, *streams = np.random.SeedSequence(seed).spawn(len(starts) + 1)
        self._rng = np.random.default_rng(own)
        self._blocks = [
            (i, lo, np.random.default_rng(stream))
            for i, (lo, stream) in enumerate(zip(starts, streams, strict=True))
        ]
        self.weights = np.full((rows.shape[0], kernels.n_kernels), 1.0 / kernels.n_kernels)

    def sweep(self) -> None:
        """Draw kernels of values, weights of features, and the kernels themselves."""
        sums = np.zeros((len(self._blocks), 3, self.kernels.n_kernels))
        constants, alpha = self.kernels.constants, self.kernels.alpha

        def work(block: tuple[int, int, np.random.Generator]) -> None:
            i, lo, rng = block
            part = slice(lo, lo + _BLOCK)
            gibbs_loops.sweep_dictionary(self.rows[part], constants, alpha, self.weights[part], sums[i], rng)

        for_each(work, self._blocks, self.n_threads)
        self._draw_kernels(sums.sum(axis=0))

    def _draw_kernels(self, sums: FloatArray) -> None:
        here = self.kernels
        if here.support is None:
            centre, size, shape, rate = self.prior.updated(here, sums)
            precision = self._rng.gamma(shape) / rate
            mean = centre + self._rng.standard_normal(size.size) / np.sqrt(size * precision)
            self.kernels = SharedKernels(mean, precision**-0.5, here.alpha)
            return
        prior = np.array([self.prior.centre, self.prior.size, self.prior.shape, self.prior.rate])
        constants, ends = here.constants, np.array(here.support)
        found = [
            gibbs_loops.walk(k, constants, sums, prior, ends, _METROPOLIS_STEPS, self._rng)
            for k in range(here.n_kernels)
        ]
        mean, sd = np.array(found).T
        self.kernels = SharedKernels(mean, sd, here.alpha, here.support)

    def renew_alpha(self) -> None:
        """Set alpha by the moments of the weights drawn."""
        if self.kernels.n_kernels > 1:
            alpha = alpha_by_moments(self.weights)
            self.kernels = SharedKernels(self.kernels.mean, self.kernels.sd, alpha, self.kernels.support)


@dataclass(frozen=True, slots=True, eq=False)
class SampledFeatures:
    """What the sampler says of every feature.

    Parameters
    ----------
    log_bayes_factor
        From the mean probabilities that the classes are the same and that they differ, which cannot both vanish.
    probability
        That the classes differ.
    error
        Standard error of the probability, from batches of draws.
    trace
        By feature and draw, the weight of the first kernel in both classes.
    """

    log_bayes_factor: FloatArray
    probability: FloatArray
    error: FloatArray
    trace: FloatArray


def sample_posterior(
    rows: FloatArray,
    n_first: int,
    kernels: SharedKernels,
    *,
    prior_probability: float = 0.5,
    draws: int = 5000,
    burn_in: int = 1000,
    averaged: bool = False,
    seed: int = 0,
    n_threads: int = 1,
    keep_trace: bool = False,
) -> SampledFeatures:
    """Sample the posterior of every feature given its kernels; parameters as in :mod:`gibbs_loops`."""
    n_features = rows.shape[0]
    starts = range(0, n_features, _BLOCK)
    streams = np.random.SeedSequence(seed).spawn(len(starts))
    log_means = np.empty((n_features, min(_BATCHES, draws), 2))
    trace = np.empty((n_features if keep_trace else 0, draws, 2))
    log_prior_odds = math.log(prior_probability) - math.log1p(-prior_probability)
    constants = kernels.constants

    def work(task: tuple[int, np.random.SeedSequence]) -> None:
        lo, stream = task
        hi = min(lo + _BLOCK, n_features)
        kept = trace[lo:hi] if keep_trace else np.empty((hi - lo, draws, 2))
        gibbs_loops.sample_features(
            rows[lo:hi], n_first, constants, kernels.alpha, log_prior_odds, burn_in, averaged,
            np.random.default_rng(stream), log_means[lo:hi], kept,
        )  # fmt: skip

    for_each(work, list(zip(starts, streams, strict=True)), n_threads)
    log_same, log_differ = np.logaddexp.reduce(log_means, axis=1).T - math.log(log_means.shape[1])
    batches = np.exp(log_means[:, :, 1])
    error = batches.std(axis=1, ddof=1) / math.sqrt(batches.shape[1]) if draws > 1 else np.full(n_features, np.nan)
    return SampledFeatures(log_differ - log_same - log_prior_odds, np.exp(log_differ), error, trace)
