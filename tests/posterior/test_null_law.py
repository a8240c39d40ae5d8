"""The law of lambda among non-markers, and the number of features that pass by chance."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

import bayesieve as bs
from bayesieve.posterior.null_law import log_null_probability


@pytest.mark.parametrize(
    ("n0", "n1", "log_lambda", "expected"),
    [
        (4, 5, -3.8466393963, -2.694066750),
        (28, 210, -12.0, -11.594348725),
        (25, 25, -30.0, -28.405368436),
        (100, 100, -3.0, -2.958803166),
    ],
)
def test_values_checked_by_thirty_digit_quadrature(n0, n1, log_lambda, expected):
    assert float(log_null_probability(log_lambda, n0, n1)) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize(
    ("n0", "n1", "log_lambda", "expected"), [(500, 500, -500, -498.661166), (25, 25, -200, -190.499155)]
)
def test_far_tails(n0, n1, log_lambda, expected):
    assert float(log_null_probability(log_lambda, n0, n1)) == pytest.approx(expected, abs=1e-6)
    assert float(log_null_probability(10 * log_lambda, n0, n1)) < 9 * expected


def test_ends_and_symmetry():
    np.testing.assert_array_equal(log_null_probability([0.0, 1.0, -np.inf], 4, 6), [0.0, 0.0, -np.inf])
    x = -np.geomspace(1e-4, 50, 40)
    values = log_null_probability(x, 6, 9)
    assert (np.diff(values) < 0).all()
    np.testing.assert_allclose(values, log_null_probability(x, 9, 6), rtol=1e-9, atol=1e-12)
    with pytest.raises(bs.DataError, match="at least 2"):
        log_null_probability(-1.0, 1, 5)


@pytest.mark.parametrize(("n0", "n1"), [(2, 2), (3, 8), (10, 12)])
def test_p_values_of_gaussian_data_are_uniform(rng, n0, n1):
    X = rng.normal(3.0, 2.0, size=(n0 + n1, 20_000))
    parts = [(X[:n0], n0), (X[n0:], n1)]
    log_lambda = sum(n / 2 * np.log(x.var(axis=0)) for x, n in parts) - (n0 + n1) / 2 * np.log(X.var(axis=0))
    p = np.exp(log_null_probability(log_lambda, n0, n1))
    assert stats.kstest(p, "uniform").pvalue > 1e-3


@pytest.mark.parametrize(("n", "rate"), [(50, 5.6e-4), (200, 1.0e-4), (1000, 1.8e-5)])
def test_null_size_of_mnc_under_jeffreys(n, rate):
    """Share of Gaussian non-markers that pass at prior ratio 0.1, prior probability 0.005."""
    half = n // 2
    moments = bs.Moments((0, 1), np.array([half, half]), np.zeros((2, 1000)), np.full((2, 1000), half - 1.0))
    posterior = bs.screen(moments, prior_probability=0.005)
    assert bs.expected_by_chance(posterior, 0.0) / 1000 == pytest.approx(rate, rel=0.04)


@pytest.mark.parametrize(("n", "share"), [(2, 0.129), (5, 0.010)])
@pytest.mark.filterwarnings("ignore:Class 0 has only")
def test_tiny_classes_by_simulation(rng, n, share):
    X = rng.normal(size=(2 * n, 40_000))
    posterior = bs.screen(X, np.repeat([0, 1], n), prior_probability=0.005)
    observed = (posterior.log_odds > 0).mean()
    predicted = bs.expected_by_chance(posterior, 0.0) / 40_000
    assert predicted == pytest.approx(share, rel=0.05)
    assert observed == pytest.approx(predicted, abs=4 * np.sqrt(share / 40_000))


def test_drawing_agrees_with_quadrature_and_with_data(rng):
    """A nearly flat prior goes the drawing way; it must give what quadrature gives for the flat one."""
    X = rng.normal(2.0, 1.5, size=(16, 30_000))
    y = np.repeat([0, 1], 8)
    flat = bs.screen(X, y)
    almost = bs.NormalInverseGamma(0.0, 0.0, 1e-12, 2.0)
    nearly = bs.screen(X, y, model=bs.GaussianModel((almost,), almost, 0.1))
    by_quadrature, by_drawing = bs.expected_by_chance(flat, 0.0), bs.expected_by_chance(nearly, 0.0)
    assert by_drawing == pytest.approx(by_quadrature, rel=0.1)
    assert int((flat.log_odds > 0).sum()) == pytest.approx(by_quadrature, abs=4 * np.sqrt(by_quadrature))
    assert bs.expected_by_chance(nearly, 0.0) == by_drawing  # seeded


def test_per_feature_priors_and_counts_by_simulation(rng):
    X = rng.normal(size=(30, 20_000))
    X[rng.random(X.shape) < 0.1] = np.nan
    prior = np.where(np.arange(20_000) % 2, 0.2, 0.02)
    posterior = bs.screen(X, np.repeat([0, 1], 15), missing="omit", prior_probability=prior)
    expected = bs.expected_by_chance(posterior, 0.0)
    assert int((posterior.log_odds > 0).sum()) == pytest.approx(expected, abs=4 * np.sqrt(expected))


def test_infinite_cuts():
    posterior = bs.screen(np.random.default_rng(0).normal(size=(20, 7)), [0, 1] * 10)
    assert bs.expected_by_chance(posterior, np.inf) == 0.0
    assert bs.expected_by_chance(posterior, -np.inf) == 7.0
