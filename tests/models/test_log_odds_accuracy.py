"""Log-odds against a 50-digit evaluation from raw data."""

from __future__ import annotations

import exact
import jeffreys
import mpmath as mp
import numpy as np
import pytest

import bayesieve as bs


def assert_close(X, y, *, hypers=None, model=None, relative=1e-11, absolute=1e-9, **kwargs):
    """Every column of X agrees with mpmath to the larger of both tolerances."""
    got = jeffreys.screen(X, y, model=model, prior_probability=kwargs.get("prior_probability", 0.01)).log_odds
    worst = 0.0
    for j in range(X.shape[1]):
        chosen = hypers(j) if callable(hypers) else hypers or (exact.JEFFREYS,) * 3
        expected = exact.log_odds(X[y == 0, j], X[y == 1, j], chosen, **kwargs)
        error = abs(mp.mpf(float(got[j])) - expected)
        assert error <= max(relative * abs(expected), absolute), (j, got[j], expected)
        worst = max(worst, float(error / max(abs(expected), 1)))
    return worst


def data(rng, n0, n1, p, shift=1.0, ratio=1.0):
    X = rng.normal(size=(n0 + n1, p))
    X[n0:] = X[n0:] * ratio + shift
    return X, np.repeat([0, 1], [n0, n1])


@pytest.mark.filterwarnings("ignore:Class 0 has only 2 samples")
def test_two_samples_per_class(rng):
    assert_close(*data(rng, 2, 2, 20))


def test_one_sample_in_a_class_under_a_proper_prior(rng):
    X, y = data(rng, 1, 6, 20)
    assert_close(X, y, hypers=exact.PROPER, model=bs.GaussianModel.proper())


@pytest.mark.parametrize("shift", [0.0, 1.0])
def test_the_papers_colon_cancer_sizes(rng, shift):
    X, y = data(rng, 28, 210, 6, shift)
    assert_close(X, y)
    assert_close(X, y, hypers=exact.PROPER, model=bs.GaussianModel.proper())


def test_large_classes_with_log_odds_above_ten_thousand(rng):
    X, y = data(rng, 2500, 2500, 2, shift=40.0, ratio=2.0)
    assert jeffreys.screen(X, y).log_odds.min() > 10_000
    assert_close(X, y)


def test_float32_values_are_taken_as_they_are(rng):
    X, y = data(rng, 30, 40, 10)
    assert_close(X.astype(np.float32), y)


@pytest.mark.parametrize("scale", [1e-150, 1e-30, 1e30, 1e150])
def test_extreme_scales(rng, scale):
    X, y = data(rng, 12, 15, 10)
    assert_close(X * scale, y)


@pytest.mark.parametrize("scale", [1e-150, 1e150])
def test_extreme_scales_under_a_proper_prior_of_that_scale(rng, scale):
    X, y = data(rng, 12, 15, 5)
    location = 0.2 * scale
    model = bs.GaussianModel.proper(variance_scale=0.5 * scale**2, mean_locations=(0.0, location))
    hypers = tuple(exact.Hyper(3, 0.5 * scale**2, 0.1, m) for m in (0.0, location, 0.0))
    assert_close(X * scale, y, hypers=hypers, model=model)


def test_per_feature_proper_and_improper_priors(rng):
    X, y = data(rng, 6, 9, 8)
    kappa, s, nu = (rng.uniform(0.2, 4, 8) for _ in range(3))
    kappa[3:], s[3:], nu[3:] = 0.0, 0.0, 0.0
    s[5], kappa[6], nu[7] = 0.7, 2.0, 1.5  # improper in three different ways
    m = rng.normal(size=8)
    ratio = rng.uniform(0.05, 2, 8)
    one = bs.NormalInverseGamma(kappa, s, nu, m)
    model = bs.GaussianModel((one, bs.NormalInverseGamma(kappa, s, nu, m + 1)), one, ratio)
    got = jeffreys.screen(X, y, model=model).log_odds
    for j in range(8):
        first, second = exact.Hyper(kappa[j], s[j], nu[j], m[j]), exact.Hyper(kappa[j], s[j], nu[j], m[j] + 1)
        expected = exact.log_odds(X[y == 0, j], X[y == 1, j], (first, second, first), prior_ratio=ratio[j])
        assert abs(got[j] - float(expected)) <= max(1e-11 * abs(float(expected)), 1e-9)


def test_log_odds_below_minus_forty_thousand(rng):
    X = rng.normal(size=(8000, 2))
    y = np.repeat([0, 1], 4000)
    far = bs.NormalInverseGamma(1e6, 1e11, 1e6, 50.0)
    near = bs.NormalInverseGamma(3.0, 3.0, 1.0, 0.0)
    model = bs.GaussianModel((far,), near)
    assert jeffreys.screen(X, y, model=model).log_odds.max() < -40_000
    hypers = (exact.Hyper(1e6, 1e11, 1e6, 50.0),) * 2 + (exact.Hyper(3, 3, 1, 0),)
    assert_close(X, y, hypers=hypers, model=model)


@pytest.mark.parametrize("spread", [1.0, 1e-6])
@pytest.mark.parametrize("layout", ["C", "F"])
def test_values_far_from_zero(rng, spread, layout):
    """Mean 1e8 with variance 1 or 1e-12: the residual of the means keeps the digits."""
    X, y = data(rng, 20, 25, 10, shift=0.5)
    X = np.asarray(1e8 + spread * X, order=layout)
    assert_close(X, y, relative=1e-11, absolute=1e-9)
    pieces = [bs.Moments.from_matrix(X[i : i + 9], y[i : i + 9], classes=[0, 1]) for i in range(0, 45, 9)]
    merged = pieces[0]
    for piece in pieces[1:]:
        merged = merged.merge(piece)
    np.testing.assert_allclose(
        jeffreys.screen(merged).log_odds, jeffreys.screen(X, y).log_odds, rtol=1e-9, atol=1e-9
    )
