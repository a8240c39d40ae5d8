"""Bayes factors given covariates: against sums over grids of all parameters, and special cases."""

from __future__ import annotations

import brute_force_slopes as brute_force
import numpy as np
import pytest
from scipy.integrate import quad

import bayesieve as bs
from bayesieve.models.gaussian.effect_designs import EffectShift
from bayesieve.models.gaussian.shared_shift import shared_shift_log_bayes_factor
from bayesieve.models.gaussian.slope_effects import _several, kinds_given_slopes
from bayesieve.models.gaussian.slopes import SlopeGroups, group_log_bayes_factor, grouped, slopes_log_bayes_factor
from bayesieve.stats import AdjustedMoments, DesignMoments

LOG_RATIO = np.log(0.1)


@pytest.fixture(scope="module")
def small():
    """Eleven samples whose covariate agrees with the class."""
    rng = np.random.default_rng(1)
    y = np.array([0] * 5 + [1] * 6)
    z = rng.normal(size=11) + 0.5 * y
    return 1 + 0.7 * z + 0.8 * y + rng.normal(size=11) * (1 + y), z, y


def made(rng, n=60, n_features=40, p=3, missing=0.0, n_classes=2):
    y = np.arange(n) % n_classes
    Z = rng.normal(size=(n, p))
    Z[:, :1] += 0.8 * y[:, None]
    X = rng.normal(size=(n, n_features)) * (1 + 0.5 * rng.random(n_features) * y[:, None]) + Z @ rng.normal(
        size=(p, n_features)
    )
    X[rng.random(X.shape) < missing] = np.nan
    return X, y, Z


def one(x, z, y):
    return DesignMoments.from_matrix(x[:, None], y, z)


def test_jeffreys_prior_against_sums_over_all_parameters(small):
    found = slopes_log_bayes_factor(one(*small), LOG_RATIO)
    assert found[0] == pytest.approx(brute_force.jeffreys(*small, 0.1), abs=1e-8)


def test_proper_priors_against_sums_over_all_parameters(small):
    x, z, y = small
    model = bs.GaussianModel.proper()
    design = one(x, z, y)
    priors = (*model.class_priors, model.pooled_prior)
    found = group_log_bayes_factor(design, priors, model.log_prior_ratio(design.moments))
    assert found[0] == pytest.approx(brute_force.proper(x, z, y, model), abs=1e-8)


@pytest.mark.parametrize(("dof", "scale"), [(0.0, 0.0), (2.0, 0.5)])
def test_calibrated_means_against_sums_over_all_parameters(small, dof, scale):
    found, _ = kinds_given_slopes(
        one(*small), (dof, scale), np.zeros(1), (np.array([0.7]), np.empty(0)), np.empty(0)
    )
    assert found[0] == pytest.approx(brute_force.mean_difference(*small, 0.7, dof, scale), abs=1e-8)


@pytest.mark.parametrize(("omega", "share"), [(0.3, 1.0), (1.6, 0.5)])
def test_calibrated_variances_against_sums_over_all_parameters(small, omega, share):
    grids = (np.array([0.7]), np.array([omega]))
    _, found = kinds_given_slopes(one(*small), (0.0, 0.0), np.full(1, share), grids, np.empty(0))
    assert found[0] == pytest.approx(brute_force.variance_ratio(*small, omega, share), abs=1e-8)


def test_without_covariates_it_is_the_optimal_bayesian_filter(rng):
    X, y, Z = made(rng)
    moments, design = bs.Moments.from_matrix(X, y), DesignMoments.from_matrix(X, y, Z[:, :0])
    jeffreys, proper = bs.GaussianModel.jeffreys(0.1), bs.GaussianModel.proper()
    np.testing.assert_allclose(
        slopes_log_bayes_factor(design, LOG_RATIO), jeffreys.log_bayes_factor(moments), atol=1e-10
    )
    found = group_log_bayes_factor(
        design, (*proper.class_priors, proper.pooled_prior), proper.log_prior_ratio(moments)
    )
    np.testing.assert_allclose(found, proper.log_bayes_factor(moments), atol=1e-10)
    evidences = bs.CalibratedModel().evidences(moments)
    model = bs.CalibratedModel().estimate([moments])
    prior = (model.variance_dof, model.variance_scale)
    found = kinds_given_slopes(design, prior, evidences.share, model.grids(moments), np.empty(0))
    np.testing.assert_allclose(found, evidences.kinds([(0,), (1,)]), atol=1e-10)


@pytest.mark.parametrize("missing", [0.0, 0.1])
def test_indicators_of_blocks_are_the_shared_shift(rng, missing):
    X, y, _ = made(rng, missing=missing)
    blocks = rng.integers(4, size=60)
    design = DesignMoments.from_matrix(X, y, (blocks[:, None] == [1, 2, 3]).astype(float), missing="omit")
    parts = [
        bs.Moments.from_matrix(X[blocks == k], y[blocks == k], classes=(0, 1), missing="omit") for k in range(4)
    ]
    np.testing.assert_allclose(
        slopes_log_bayes_factor(design, LOG_RATIO, scaled=True),
        shared_shift_log_bayes_factor(parts, 0.1),
        atol=1e-10,
    )
    # of the calibrated prior the means: variances have a location per block and class there
    model = bs.CalibratedModel(
        variance_weight=0.0, both_share=0.0, variance_dof=2.0, variance_scale=0.5, kurtosis=0.0
    )
    grids = model.grids(bs.Moments.from_matrix(X, y, missing="omit"))
    mean, _ = kinds_given_slopes(design, (2.0, 0.5), np.zeros(1), (grids[0], np.empty(0)), np.empty(0))
    np.testing.assert_allclose(mean, EffectShift(tuple(parts), model).log_bayes_factor(), atol=1e-10)


def test_both_routes_of_jeffreys_prior_agree(rng):
    X, y, Z = made(rng, missing=0.1)
    design, flat = DesignMoments.from_matrix(X, y, Z, missing="omit"), bs.NormalInverseGamma()
    np.testing.assert_allclose(
        group_log_bayes_factor(design, (flat, flat, flat), LOG_RATIO),
        slopes_log_bayes_factor(design, LOG_RATIO),
        atol=1e-10,
    )


def test_a_feature_with_missing_values_is_one_of_the_samples_it_has(rng):
    X, y, Z = made(rng, n_features=6, missing=0.15)
    whole = DesignMoments.from_matrix(X, y, Z, missing="omit")
    grids = (np.array([0.5, 1.0]), np.array([0.4, 1.6]))
    found = slopes_log_bayes_factor(whole, LOG_RATIO)
    kinds = kinds_given_slopes(whole, (1.0, 0.5), np.full(6, 0.8), grids, np.empty(0))
    for j in range(6):
        there = ~np.isnan(X[:, j])
        alone = one(X[there, j], Z[there], y[there])
        assert found[j] == pytest.approx(slopes_log_bayes_factor(alone, LOG_RATIO)[0], abs=1e-10)
        each = kinds_given_slopes(alone, (1.0, 0.5), np.full(1, 0.8), grids, np.empty(0))
        np.testing.assert_allclose(np.ravel(each), np.array(kinds)[:, j], atol=1e-10)


@pytest.mark.parametrize("missing", [0.0, 0.1])
def test_two_groups_are_a_case_of_several(rng, missing):
    X, y, Z = made(rng, missing=missing)
    design, taus = DesignMoments.from_matrix(X, y, Z, missing="omit"), np.array([0.3, 1.0])
    several, _ = _several(design, 3.0, 0.5, np.zeros(40), taus, np.empty(0), (0.3, 33))
    two, _ = kinds_given_slopes(design, (3.0, 0.5), np.zeros(40), (taus, np.empty(0)), np.empty(0))
    np.testing.assert_allclose(several, two, atol=1e-10)


def test_several_means_against_a_general_linear_model(rng):
    """Marginal likelihood of Gaussian effects by the determinant of the whole covariance, one variance summed."""
    X, y, Z = made(rng, n=15, n_features=3, p=2, n_classes=3)
    tau = 0.9
    found, _ = kinds_given_slopes(
        DesignMoments.from_matrix(X, y, Z), (0.0, 0.0), np.zeros(3), (np.array([tau]), np.empty(0)), np.empty(0)
    )
    flat = np.column_stack([np.ones(15), Z])
    basis = np.linalg.svd(flat)[0][:, flat.shape[1] :]  # what is left of the samples: flat directions do not count
    effects = basis.T @ (y[:, None] == [0, 1, 2])
    for j in range(3):
        x = basis.T @ X[:, j]
        cover = np.eye(x.size) + 0.5 * tau**2 * effects @ effects.T
        log_bf = -0.5 * np.linalg.slogdet(cover)[1]
        log_bf += 0.5 * x.size * (np.log(x @ x) - np.log(x @ np.linalg.solve(cover, x)))
        assert found[j] == pytest.approx(log_bf, abs=1e-10)


def test_linear_changes_of_covariates_and_values_change_nothing(rng):
    X, y, Z = made(rng)
    turn = rng.normal(size=(3, 3)) + 2 * np.eye(3)
    before, after = (
        DesignMoments.from_matrix(X, y, Z),
        DesignMoments.from_matrix(7.0 - 3.0 * X + Z[:, :1], y, 5.0 + Z @ turn),
    )
    np.testing.assert_allclose(
        slopes_log_bayes_factor(before, 0.0), slopes_log_bayes_factor(after, 0.0), atol=1e-8
    )
    swapped = DesignMoments.from_matrix(X, 1 - y, Z)
    np.testing.assert_allclose(
        slopes_log_bayes_factor(before, 0.0), slopes_log_bayes_factor(swapped, 0.0), atol=1e-8
    )


def test_a_ratio_of_variances_against_adaptive_quadrature(rng):
    X, y, Z = made(rng, n=24, n_features=4, p=6)
    design = DesignMoments.from_matrix(X, y, Z)
    groups = SlopeGroups.of(design)
    _, found = kinds_given_slopes(design, (0.0, 0.0), np.ones(4), (np.ones(1), np.array([1.3])), np.empty(0))
    for j in range(4):

        def integrand(t, j=j):
            W = np.exp(np.where(y == 1, -t / 2, t / 2))
            A = np.column_stack([y == 0, y == 1, Z]).astype(float)
            left = X[:, j] - A @ np.linalg.solve(A.T @ (W[:, None] * A), A.T @ (W * X[:, j]))
            at = 0.5 * np.log(W).sum() - 0.5 * np.linalg.slogdet(A.T @ (W[:, None] * A))[1]
            return at - 0.5 * (24 - 8) * np.log(W @ left**2)

        value = quad(
            lambda t: np.exp(integrand(t) - integrand(0.0) - t * t / 2 / 1.69), -15, 15, epsabs=0, epsrel=1e-11
        )
        assert found[j] == pytest.approx(np.log(value[0] / 1.3 / np.sqrt(2 * np.pi)), abs=1e-8)
    assert groups.shares.shape == (6, 4)


def test_a_class_that_a_regression_fits_exactly_has_no_evidence(rng):
    X, y, Z = made(rng, n=8, n_features=3, p=3)
    assert np.isnan(slopes_log_bayes_factor(DesignMoments.from_matrix(X, y, Z), 0.0)).all()
    X, y, Z = made(rng)
    twice = DesignMoments.from_matrix(X, y, np.column_stack([Z, Z[:, 0]]), missing="omit").spread()
    assert np.isnan(slopes_log_bayes_factor(twice, 0.0)).all()


def test_adjusted_moments_are_those_of_adjusted_values(rng):
    X, y, Z = made(rng, missing=0.1)
    design = DesignMoments.from_matrix(X, y, Z, missing="omit")
    adjusted = AdjustedMoments.of(design)
    for j in range(5):
        there = ~np.isnan(X[:, j])
        A = np.column_stack([y == 0, y == 1, Z - Z[there].mean(axis=0)]).astype(float)[there]
        slopes = np.linalg.lstsq(A, X[there, j], rcond=None)[0]
        np.testing.assert_allclose(adjusted.mean[:, j], slopes[:2], atol=1e-10)
        left = X[there, j] - A[:, 2:] @ slopes[2:]
        for k in (0, 1):
            part = left[y[there] == k]
            assert adjusted.centred_squares[k, j] == pytest.approx(((part - part.mean()) ** 2).sum(), rel=1e-10)
    taken = adjusted.take([3, 1])
    assert isinstance(taken, AdjustedMoments)
    np.testing.assert_array_equal(taken.design.cross, design.cross[..., [3, 1]])
    assert grouped(design, [(0, 1)]).classes == (0,)


def test_bayes_factors_of_null_features_average_to_one(rng):
    """So do their products: under the null the two kinds are independent."""
    y = np.repeat([0, 1], [13, 17])
    Z = rng.normal(size=(30, 6)) + y[:, None]
    X = rng.normal(size=(30, 30_000)) + Z @ rng.normal(size=(6, 1))
    design = DesignMoments.from_matrix(X, y, Z, shape=False)
    kinds = kinds_given_slopes(design, (0.0, 0.0), np.ones(1), (np.array([0.5]), np.array([0.5])), np.empty(0))
    for log_bf in (*kinds, kinds[0] + kinds[1]):
        factor = np.exp(log_bf)
        assert factor.mean() == pytest.approx(1.0, abs=4 * factor.std() / np.sqrt(factor.size))
