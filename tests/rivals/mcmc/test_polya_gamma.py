"""Polya-Gamma and inverse Gaussian numbers: moments, Laplace transforms, distributions."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest
from scipy import stats

from bayesieve.rivals.mcmc.polya_gamma import inverse_gaussian, laplace_scales, polya_gamma

N = 100_000


def drawn(c, seed=0):
    draws = np.empty(N)
    polya_gamma(np.random.default_rng(seed), np.full(N, float(c)), draws)
    return draws


def moments(c):
    """Mean and variance, by many digits where they cancel."""
    if c == 0:
        return 0.25, 1 / 24
    with mpmath.workdps(40):
        c = mpmath.mpf(c)
        variance = (mpmath.sinh(c) - c) / (4 * c**3 * mpmath.cosh(c / 2) ** 2)
        return float(mpmath.tanh(c / 2) / (2 * c)), float(variance)


@pytest.mark.parametrize("c", [0, 1e-3, 0.7, 2.0, 3.1, 3.2, -5.0, 12.0, 80.0, 1500.0])
def test_moments(c):
    """Within 4 standard errors; that of the variance from the draws themselves."""
    draws, (mean, variance) = drawn(c), moments(abs(c))
    assert abs(draws.mean() - mean) < 4 * np.sqrt(variance / N)
    squares = (draws - mean) ** 2
    assert abs(squares.mean() - variance) < 4 * squares.std() / np.sqrt(N)


@pytest.mark.parametrize("c", [0.0, 1.5, 6.0])
@pytest.mark.parametrize("t", [0.5, 4.0, 30.0])
def test_laplace_transform(c, t):
    """E exp(-t w) = cosh(c / 2) / cosh(sqrt((c^2 + 2 t) / 4)), within 4 standard errors."""
    values = np.exp(-t * drawn(c, 1))
    expected = np.cosh(c / 2) / np.cosh(np.sqrt((c * c + 2 * t) / 4))
    assert abs(values.mean() - expected) < 4 * values.std() / np.sqrt(N)


@pytest.mark.parametrize("c", [0.0, 2.5])
def test_the_sum_of_gammas_that_defines_it(c):
    """Two samples, Kolmogorov and Smirnov at 0.001; the tail of the sum is replaced by its mean."""
    rng, k = np.random.default_rng(2), np.arange(1, 201)
    weights = 1 / (2 * np.pi**2 * ((k - 0.5) ** 2 + c * c / (4 * np.pi**2)))
    sums = rng.standard_exponential((5000, k.size)) @ weights
    sums += moments(c)[0] - weights.sum()
    assert stats.ks_2samp(sums, drawn(c, 3)[:5000]).pvalue > 0.001


@pytest.mark.parametrize(("mean", "shape"), [(0.3, 1.0), (1.0, 2.0), (40.0, 2.0), (1e6, 2.0)])
def test_inverse_gaussian_by_scipy(mean, shape):
    rng = np.random.default_rng(4)
    draws = np.array([inverse_gaussian(rng, mean, shape) for _ in range(4000)])
    assert stats.kstest(draws, stats.invgauss(mean / shape, scale=shape).cdf).pvalue > 0.001


def test_an_inverse_gaussian_of_endless_mean_is_levy():
    rng = np.random.default_rng(5)
    draws = np.array([inverse_gaussian(rng, 1e150, 2.0) for _ in range(4000)])
    assert stats.kstest(draws, stats.levy(scale=2.0).cdf).pvalue > 0.001


@pytest.mark.parametrize("square", [0.0, 0.01, 2.0, 50.0])
def test_local_scales_of_a_laplace_prior(square):
    """Given b, density proportional to l^(-1/2) exp(-b^2 / (2 l) - l): a generalised inverse Gaussian."""
    draws = np.empty(4000)
    laplace_scales(np.random.default_rng(6), np.full(4000, square), draws)
    if square == 0:
        expected = stats.gamma(0.5)
    else:  # l = sqrt(square / 2) times geninvgauss(1/2, sqrt(2 square))
        expected = stats.geninvgauss(0.5, np.sqrt(2 * square), scale=np.sqrt(square / 2))
    assert stats.kstest(draws, expected.cdf).pvalue > 0.001
