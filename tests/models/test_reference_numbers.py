"""Numbers worked out beforehand for data set R1 and for the constants of the Jeffreys prior."""

from __future__ import annotations

import math

import jeffreys
import numpy as np
import pytest

import bayesieve as bs
from bayesieve.models import jeffreys_constant, log_prior_ratio


def log_lambda(X, y):
    total = 0.0
    for rows, sign in ((X[y == 0], 1), (X[y == 1], 1), (X, -1)):
        total = total + sign * len(rows) / 2 * np.log(np.var(rows, axis=0))
    return total


def test_moments_of_r1(r1):
    moments = bs.Moments.from_matrix(*r1)
    np.testing.assert_allclose(moments.mean[:, 0], [0.2, 1.28], rtol=1e-15)
    np.testing.assert_allclose(moments.centred_squares[:, 0], [0.74, 1.208], rtol=1e-14)
    pooled = moments.pool()
    assert pooled.centred_squares[0, 0] == pytest.approx(4.54, rel=1e-14)
    assert pooled.mean[0, 0] == pytest.approx(0.8, rel=1e-15)


def test_proper_prior_on_r1(r1):
    moments = bs.Moments.from_matrix(*r1)
    model = bs.GaussianModel.proper()
    first, second = model.class_priors
    assert first.log_constant() == pytest.approx(-1.9586593040 - 2.0702310797, abs=2e-10)
    flat = bs.NormalInverseGamma(3.0, 0.5, 2.0 * math.pi)  # B = 1, so that A stands alone
    assert flat.log_constant() == pytest.approx(-1.9586593040, abs=1e-10)
    assert first.log_constant() - flat.log_constant() == pytest.approx(-2.0702310797, abs=1e-10)
    scales = [first.updated(moments.group(0)), second.updated(moments.group(1))]
    scales.append(model.pooled_prior.updated(moments.pool()))
    assert [s.variance_scale[0] for s in scales] == pytest.approx(
        [1.2439024390, 1.8223529412, 5.1032967033], abs=1e-10
    )
    groups = [(first, moments.group(0)), (second, moments.group(1)), (model.pooled_prior, moments.pool())]
    evidences = [bs.log_evidence(prior, group)[0] for prior, group in groups]
    assert evidences == pytest.approx([-4.6280982170, -6.3554305587, -13.3174814898], abs=1e-10)
    posterior = jeffreys.screen(*r1, model=model, prior_probability=0.005)
    assert posterior.log_bayes_factor[0] == pytest.approx(2.3339527142, abs=1e-10)
    assert posterior.log_odds[0] == pytest.approx(-2.9593521106, abs=1e-10)
    assert math.exp(model.log_prior_ratio(moments)) == pytest.approx(0.01779406, abs=1e-8)


@pytest.mark.filterwarnings("ignore:Class 0 has only 4 samples")
def test_jeffreys_prior_on_r1(r1):
    one = jeffreys.screen(*r1, model=bs.GaussianModel.jeffreys(prior_ratio=1.0))
    assert one.log_bayes_factor[0] == pytest.approx(5.2885974758, abs=1e-10)
    assert jeffreys.screen(*r1, prior_probability=0.005).log_odds[0] == pytest.approx(-2.3072924420, abs=1e-10)
    assert log_lambda(*r1)[0] == pytest.approx(-3.8466393963, abs=1e-10)
    from_evidence = jeffreys_constant(4, 5) - one.log_bayes_factor[0]  # log BF = K - log lambda at L = 1
    assert math.exp(from_evidence) == pytest.approx(0.0213513695, abs=1e-10)


@pytest.mark.parametrize(
    ("n", "exact", "stirling"), [(50, -0.33128, -0.34128), (200, -1.72507, -1.72757), (1000, -3.33651, -3.33701)]
)
def test_constant_between_bayes_factor_and_pearson_neyman_statistic(n, exact, stirling):
    assert float(jeffreys_constant(n // 2, n // 2)) == pytest.approx(exact, abs=5e-6)
    approximation = math.log(2 * math.sqrt(2) * math.pi * n / (n / 2) ** 2)
    assert approximation == pytest.approx(stirling, abs=5e-6)


@pytest.mark.parametrize(
    ("n", "needed"),
    [
        (50, {"paper": 2.634, "half_sqrt2pi": 1.943, "sqrt2pi": 1.250, "n_decay": 5.162, "bic": 3.912}),
        (200, {"paper": 4.028, "half_sqrt2pi": 3.337, "sqrt2pi": 2.644, "n_decay": 7.942, "bic": 5.298}),
        (1000, {"paper": 5.639, "half_sqrt2pi": 4.949, "sqrt2pi": 4.255, "n_decay": 11.163, "bic": 6.908}),
    ],
)
def test_evidence_needed_for_even_odds_under_each_named_ratio(n, needed):
    for name, value in needed.items():
        got = -(log_prior_ratio(name, n // 2, n // 2) + jeffreys_constant(n // 2, n // 2))
        assert float(got) == pytest.approx(value, abs=1e-3), name


def test_jeffreys_ranking_is_the_pearson_neyman_ranking(rng):
    X = rng.normal(size=(30, 200))
    y = np.repeat([0, 1], [12, 18])
    posterior = jeffreys.screen(X, y)
    np.testing.assert_array_equal(posterior.ranking, np.argsort(log_lambda(X, y), kind="stable"))
    expected = math.log(0.1) + float(jeffreys_constant(12, 18)) - log_lambda(X, y)
    np.testing.assert_allclose(posterior.log_bayes_factor, expected, rtol=1e-11, atol=1e-11)
