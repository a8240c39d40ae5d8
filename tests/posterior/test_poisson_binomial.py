"""The distribution of a number of errors against direct convolution, SciPy, mpmath and Monte Carlo."""

from __future__ import annotations

import mpmath as mp
import numpy as np
import pytest
from scipy import stats

import bayesieve as bs


def convolved(p):
    mass = np.array([1.0])
    for value in p:
        mass = np.convolve(mass, [1 - value, value])
    return mass


def dense(distribution, size):
    mass = np.zeros(size)
    mass[distribution.lowest : distribution.lowest + distribution.pmf.size] = distribution.pmf
    return mass


@pytest.mark.parametrize("n", [1, 2, 7, 60, 400])
def test_against_direct_convolution(rng, n):
    p = rng.random(n)
    np.testing.assert_allclose(dense(bs.PoissonBinomial.of(p), n + 1), convolved(p), rtol=1e-11, atol=1e-27)


def test_equal_probabilities_are_binomial():
    distribution = bs.PoissonBinomial.of(np.full(2000, 0.3))
    np.testing.assert_allclose(
        distribution.pmf, stats.binom.pmf(distribution.support, 2000, 0.3), rtol=1e-9, atol=1e-28
    )
    assert distribution.mean == pytest.approx(600)
    assert distribution.variance == pytest.approx(420)
    assert distribution.sd == pytest.approx(np.sqrt(420))
    assert distribution.mode == 600


@pytest.mark.skipif(not hasattr(stats, "poisson_binom"), reason="needs SciPy 1.15")
def test_against_scipy(rng):
    p = rng.random(150)
    distribution = bs.PoissonBinomial.of(p)
    np.testing.assert_allclose(distribution.pmf, stats.poisson_binom(p).pmf(distribution.support), atol=1e-14)


def test_tails_keep_relative_accuracy(rng):
    p = rng.uniform(0.001, 0.05, 60)
    distribution = bs.PoissonBinomial.of(p)
    with mp.workdps(40):
        mass = [mp.mpf(1)]
        for value in (mp.mpf(float(v)) for v in p):
            mass = [a * (1 - value) + b * value for a, b in zip([*mass, 0], [0, *mass], strict=True)]
        for k in range(distribution.pmf.size):
            assert distribution.pmf[k] == pytest.approx(float(mass[k]), rel=1e-12)
    assert distribution.pmf[-1] < 1e-25


def test_certain_trials_shift_and_impossible_ones_vanish():
    distribution = bs.PoissonBinomial.of([1.0, 1.0, 0.0, 0.5])
    assert (distribution.lowest, distribution.pmf.tolist()) == (2, [0.5, 0.5])
    assert bs.PoissonBinomial.of([]).pmf.tolist() == [1.0]
    assert bs.PoissonBinomial.of([0.0]).quantile(0.99) == 0


def test_tiny_complements_are_not_lost():
    """1 - 1e-20 is 1 in float64, but its complement can be told."""
    distribution = bs.PoissonBinomial.of([1 - 1e-17] * 3, [1e-20] * 3)
    assert distribution.mean == pytest.approx(3)
    small = bs.PoissonBinomial.of([1e-20] * 3, [1.0] * 3)
    assert small.pmf[1] == pytest.approx(3e-20)


def test_quantiles_and_intervals_by_their_definition(rng):
    p = rng.random(80)
    distribution = bs.PoissonBinomial.of(p)
    cdf = np.cumsum(convolved(p))
    for level in (0.001, 0.05, 0.5, 0.95, 0.999):
        assert distribution.quantile(level) == int(np.searchsorted(cdf, level))
    low, high = distribution.interval(0.9)
    assert (low, high) == (distribution.quantile(0.05), distribution.quantile(0.95))
    assert distribution.cdf(high) - distribution.cdf(low - 1) >= 0.9
    assert distribution.cdf(-1) == 0.0
    assert distribution.cdf(80) == pytest.approx(1.0)
    short = distribution.highest_density(0.9)
    assert distribution.cdf(short[1]) - distribution.cdf(short[0] - 1) >= 0.9
    assert short[1] - short[0] <= high - low


def test_twenty_thousand_features_lose_no_mass(rng):
    for p in (np.full(20_000, 0.5), rng.random(20_000), rng.beta(0.05, 5, 20_000)):
        distribution = bs.PoissonBinomial.of(p)
        assert distribution.pmf.sum() == pytest.approx(1.0, abs=1e-12)
        assert float(distribution.support @ distribution.pmf) == pytest.approx(p.sum(), rel=1e-12)
        assert float((distribution.support - p.sum()) ** 2 @ distribution.pmf) == pytest.approx(
            (p * (1 - p)).sum(), rel=1e-9
        )


@pytest.mark.parametrize("wrong", [[-0.1], [1.1], [np.nan]])
def test_probabilities_are_checked(wrong):
    with pytest.raises(bs.RuleError, match="between 0 and 1"):
        bs.PoissonBinomial.of(wrong)


@pytest.mark.parametrize("level", [-0.1, 1.0, 2.0])
def test_levels_are_checked(level):
    with pytest.raises(bs.RuleError, match="level"):
        bs.PoissonBinomial.of([0.5]).interval(level)
