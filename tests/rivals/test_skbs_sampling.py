"""Samplers of shared kernels: against exact evidence, and calibrated on parameters drawn from the prior."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from scipy.special import expit

from bayesieve.rivals.skbs.evidence import exact_log_bayes_factor
from bayesieve.rivals.skbs.kernel_prior import KernelPrior
from bayesieve.rivals.skbs.sampling import DictionarySampler, sample_kernels, sample_posterior
from bayesieve.rivals.skbs.shared_kernels import SharedKernels

TWO = SharedKernels([0.0, 1.0], [0.4, 0.6], [2.0, 1.0])
THREE = SharedKernels([0.0, 1.0, 2.5], [0.4, 0.6, 0.5], [0.7, 1.0, 0.4])


def draw_values(weights, kernels, rng):
    """Values of features with these weights, one column of weights per sample: ``(n_features, n_samples, K)``."""
    places = (rng.random((*weights.shape[:2], 1)) > np.cumsum(weights, axis=2)[..., :-1]).sum(axis=2)
    return kernels.mean[places] + kernels.sd[places] * rng.normal(size=places.shape)


def draw_from_prior(kernels, n_features, sizes, share, seed):
    """Draw markers and others, their weights by class, and values."""
    rng = np.random.default_rng(seed)
    marker = rng.random(n_features) < share
    weights = rng.dirichlet(kernels.alpha, (n_features, 2))
    weights[~marker, 1] = weights[~marker, 0]
    return marker, weights, draw_values(np.repeat(weights, sizes, axis=1), kernels, rng)


@pytest.mark.parametrize(("kernels", "share"), [(TWO, 0.5), (THREE, 0.5), (TWO, 0.1)])
def test_the_sampler_agrees_with_the_integral(kernels, share):
    """Probabilities of 96 features within their standard errors, which are below 0.01."""
    _, _, rows = draw_from_prior(kernels, 96, [12, 15], share, 3)
    exact = exact_log_bayes_factor(rows, 12, kernels)[0]
    expected = expit(exact + np.log(share) - np.log1p(-share))
    found = sample_posterior(rows, 12, kernels, prior_probability=share, draws=6000, burn_in=200, seed=1)
    z = (found.probability - expected) / np.maximum(found.error, 1e-4)
    assert found.error.max() < 0.02
    assert abs(z.mean()) < 4 / np.sqrt(96)
    assert 0.7 < z.std() < 1.5
    assert np.abs(z).max() < 5.0
    clear = (expected > 0.02) & (expected < 0.98)
    np.testing.assert_allclose(found.log_bayes_factor[clear], exact[clear], atol=0.35)


def test_the_averaged_sampler_is_slightly_off():
    _, _, rows = draw_from_prior(TWO, 160, [12, 15], 0.5, 3)
    exact = expit(exact_log_bayes_factor(rows, 12, TWO)[0])
    settings = {"draws": 4000, "burn_in": 200, "seed": 1}
    plain, averaged = (sample_posterior(rows, 12, TWO, averaged=each, **settings) for each in (False, True))
    gap = averaged.probability - exact
    assert np.abs(gap).max() < 0.1
    assert np.abs(gap).mean() > 2.0 * np.abs(plain.probability - exact).mean()


@pytest.mark.parametrize("kernels", [TWO, THREE])
def test_the_sampler_is_calibrated(kernels):
    """Ranks of weights drawn from the prior among 19 draws that lie far apart are uniform.

    With 2,000 features and 20 ranks a test at 0.001 finds, in nine of ten cases, frequencies that differ from the
    uniform ones by 15% (root mean square).
    """
    n, kept = 2000, 19
    marker, weights, rows = draw_from_prior(kernels, n, [7, 9], 0.5, 11)
    found = sample_posterior(rows, 7, kernels, draws=kept * 30, burn_in=60, seed=2, keep_trace=True)
    draws = found.trace[:, ::30]
    for statistic, truth in ((draws[:, :, 0], weights[:, 0, 0]), (draws[:, :, 1], weights[:, 1, 0])):
        ranks = (statistic < truth[:, None]).sum(axis=1)
        assert stats.chisquare(np.bincount(ranks, minlength=kept + 1)).pvalue > 1e-3
    gap, truth = draws[:, :, 0] - draws[:, :, 1], weights[:, 0, 0] - weights[:, 1, 0]
    ties = np.random.default_rng(5).random(gap.shape) < np.random.default_rng(6).random((n, 1))
    ranks = ((gap < truth[:, None]) | ((gap == truth[:, None]) & ties)).sum(axis=1)
    assert stats.chisquare(np.bincount(ranks, minlength=kept + 1)).pvalue > 1e-3
    error = np.sqrt(np.sum(found.probability * (1.0 - found.probability)))
    assert abs(found.probability.sum() - marker.sum()) < 4 * error  # probabilities add up to the number of markers


def test_calibration_notices_a_wrong_sampler():
    """A guard of the guard: values from other kernels than the sampler believes in."""
    n, kept = 600, 19
    _, weights, rows = draw_from_prior(TWO, n, [7, 9], 0.5, 11)
    other = SharedKernels([0.0, 1.3], TWO.sd, TWO.alpha)
    draws = sample_posterior(rows, 7, other, draws=kept * 30, burn_in=60, seed=2, keep_trace=True).trace[:, ::30]
    ranks = (draws[:, :, 0] < weights[:, 0, :1]).sum(axis=1)
    assert stats.chisquare(np.bincount(ranks, minlength=kept + 1)).pvalue < 1e-3


@pytest.mark.parametrize("support", [None, (-1.0, 2.0)])
def test_the_sampler_of_the_dictionary_is_calibrated(support):
    """Ranks of kernels drawn from the prior, in the order of their means, among 19 draws; alpha is known.

    200 tables of 6 features and 8 values. With 10 groups of ranks a test at 0.001 finds, in nine of ten cases,
    frequencies that differ from the uniform ones by some 40% (root mean square).
    """
    rng, alpha = np.random.default_rng(8), np.array([1.0, 1.0])
    prior = KernelPrior(0.3, 1.0, 3.0, 2.0)
    n, kept, thin = 200, 19, 12
    ranks = np.empty((n, 4), np.int64)
    for table in range(n):
        precision = rng.gamma(prior.shape, 1.0 / prior.rate, 2)
        mean = prior.centre + rng.normal(size=2) / np.sqrt(prior.size * precision)
        truth = SharedKernels(mean, precision**-0.5, alpha, support).ordered()
        places = (rng.random((6, 8)) > rng.dirichlet(alpha, 6)[:, :1]).astype(int)
        at, wide = truth.mean[places], truth.sd[places]
        if support is None:
            rows = at + wide * rng.normal(size=at.shape)
        else:
            ends = ((end - at) / wide for end in support)
            rows = np.clip(stats.truncnorm.rvs(*ends, at, wide, random_state=rng), *support)
        sampler = DictionarySampler(rows, truth, prior, seed=table)
        drawn = []
        for sweep in range(kept * thin):
            sampler.sweep()
            if sweep % thin == thin - 1:
                now = sampler.kernels.ordered()
                drawn.append([*now.mean, *now.sd])
        ranks[table] = (np.array(drawn) < [*truth.mean, *truth.sd]).sum(axis=0)
    for column in ranks.T:
        assert stats.chisquare(np.bincount(column // 2, minlength=10)).pvalue > 1e-3


def test_sampled_kernels_are_those_of_the_simulation():
    """As the specification's check: 150 features of 60 values."""
    rng = np.random.default_rng(0)
    weights = np.repeat(rng.dirichlet([2.0, 1.0], (150, 1)), 60, axis=1)
    rows = draw_values(weights, TWO, rng)
    found = sample_kernels(rows, 2, draws=600)
    np.testing.assert_allclose(found.mean, [0.0, 1.0], atol=0.04)
    np.testing.assert_allclose(found.sd, [0.4, 0.6], atol=0.03)
    np.testing.assert_allclose(found.alpha, [2.0, 1.0], rtol=0.3)


def test_draws_depend_on_the_seed_and_not_on_threads():
    _, _, rows = draw_from_prior(THREE, 40, [6, 6], 0.5, 3)
    settings = {"draws": 50, "burn_in": 10}
    one, three = (sample_posterior(rows, 6, THREE, n_threads=n, **settings).probability for n in (1, 3))
    np.testing.assert_array_equal(one, three)
    assert np.abs(sample_posterior(rows, 6, THREE, seed=1, **settings).probability - one).max() > 0
    first, second = (sample_kernels(rows, 3, draws=20, n_threads=n) for n in (1, 3))
    np.testing.assert_array_equal(first.mean, second.mean)


def test_tiny_concentrations_are_drawn():
    """Draws of gamma distributions would be 0 as floats."""
    kernels = SharedKernels([0.0, 5.0], [1.0, 1.0], [1e-3, 1e-3])
    rows = np.random.default_rng(1).normal(size=(20, 12))
    rows[:10, 6:] += 5.0
    found = sample_posterior(rows, 6, kernels, draws=300, burn_in=50)
    exact = exact_log_bayes_factor(rows, 6, kernels)[0]
    assert np.isfinite(found.log_bayes_factor).all()
    np.testing.assert_allclose(found.probability[:10], expit(exact[:10]), atol=0.05)
