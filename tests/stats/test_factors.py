"""Factors that samples share: the fit against ordinary least squares, and what it is for."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats as scipy_stats

import bayesieve as bs
from bayesieve.errors import OptionError
from bayesieve.models.gaussian.calibrated import tempering
from bayesieve.models.gaussian.effect_mixture import two_group_evidence
from bayesieve.stats.factors import first_factor_share, fit_factors, number_of_factors


def confounded(rng, n=20, p=600, n_factors=2, agreement=0.8, n_markers=10, shift=2.5):
    """Two classes that differ in a factor of all features, and ten markers."""
    y = np.repeat([0, 1], n)
    factors = rng.normal(size=(2 * n, n_factors))
    factors[:, 0] += agreement * y
    X = rng.normal(size=(2 * n, p)) + factors @ rng.normal(size=(n_factors, p))
    X[n:, :n_markers] += shift
    return X, y


def design(fit, y):
    """Intercept, class, and the factors with the part that agrees with the classes."""
    contrast = np.where(y == 1, 0.5, -0.5)
    return np.column_stack([np.ones(y.size), y, fit.scores + np.outer(contrast, fit.agreement)])


def test_the_values_given_factors_are_those_of_least_squares(rng):
    X, y = confounded(rng)
    fit = fit_factors(X, y, 2)
    Z = design(fit, y)
    coefficients, *_ = np.linalg.lstsq(Z, X, rcond=None)
    difference = fit.values[y == 1].mean(axis=0) - fit.values[y == 0].mean(axis=0)
    np.testing.assert_allclose(difference, coefficients[1], atol=1e-12)
    means = np.array([fit.values[y == k].mean(axis=0) for k in (0, 1)])
    np.testing.assert_allclose(fit.values - means[y], X - Z @ coefficients, atol=1e-12)
    assert np.linalg.inv(Z.T @ Z)[1, 1] == pytest.approx(2 / 20 + fit.penalty, rel=1e-12)


def test_evidence_given_factors_is_that_of_the_regression(rng):
    """N, squares and degrees of freedom from least squares by hand, put into the formula."""
    X, y = confounded(rng)
    posterior = bs.screen(X, y, factors=2, shuffles=0)
    model = posterior.model
    fit = fit_factors(X, y, 2)
    Z = design(fit, y)
    coefficients, *_ = np.linalg.lstsq(Z, X, rcond=None)
    rest = X - Z @ coefficients
    size = 1 / np.linalg.inv(Z.T @ Z)[1, 1]
    by_class = [(rest[y == k] ** 2).sum(axis=0) for k in (0, 1)]
    dof = (40 - 2 - 2) / 2
    mean, ratio = two_group_evidence(
        (size * coefficients[1] ** 2, by_class[0] + by_class[1], size, 0.5 * (40 - 1 - 2 + model.variance_dof),
         model.variance_dof * model.variance_scale),
        (*by_class, dof, dof, tempering(bs.Moments.from_matrix(fit.values, y), model.kurtosis)),
        (np.array(model.mean_sizes), np.array(model.ratio_sizes)),
    )  # fmt: skip
    weight = model.variance_weight
    both = model.both_share
    parts = (np.log1p(-weight) + mean, np.log(weight * (1 - both)) + ratio, np.log(weight * both) + mean + ratio)
    expected = np.logaddexp.reduce(parts)
    np.testing.assert_allclose(posterior.log_bayes_factor, expected, rtol=1e-9, atol=1e-9)


def test_differences_of_non_markers_are_standard_normal_given_factors(rng):
    X, y = confounded(rng, p=2000, agreement=1.0)
    fit = fit_factors(X, y, 2)
    difference = fit.values[y == 1].mean(axis=0) - fit.values[y == 0].mean(axis=0)
    z = difference[10:] / np.sqrt(2 / 20 + fit.penalty)  # the noise has variance 1
    assert scipy_stats.kstest(z, "norm").pvalue > 0.001
    naive = X[y == 1].mean(axis=0) - X[y == 0].mean(axis=0)
    assert naive[10:].std() > 2.0 * difference[10:].std()


@pytest.mark.parametrize("n_factors", [0, 1, 3])
def test_parallel_analysis_finds_strong_factors(n_factors):
    rng = np.random.default_rng(n_factors)
    y = np.repeat([0, 1], 25)
    X = rng.standard_t(5, size=(50, 800))
    if n_factors:
        X += 1.5 * rng.normal(size=(50, n_factors)) @ rng.normal(size=(n_factors, 800))
    assert number_of_factors(X, y) == n_factors


def test_confounded_features_leave_the_list(rng):
    X, y = confounded(rng, n=30, agreement=1.5)
    naive = bs.MinimalRisk(0.5).select(bs.screen(X, y, shuffles=20))
    given = bs.MinimalRisk(0.5).select(bs.screen(X, y, factors="auto", shuffles=20))
    assert naive.mask[10:].sum() > 30
    assert given.mask[10:].sum() <= 3
    assert given.mask[:10].sum() >= naive.mask[:10].sum()
    assert given.mask[:10].sum() >= 8
    assert "Given 2 factors that samples share" in given.summary()
    assert "One factor carries" in naive.summary()


def test_shuffles_take_their_own_factors_out(rng):
    X, y = confounded(rng)
    posterior = bs.screen(X, y, factors=2, shuffles=3)
    from bayesieve.screening.inputs import Shufflable  # noqa: PLC0415 - the labels that were drawn

    codes = Shufflable(bs.LabelledMatrix.from_arrays(X, y)).draw(3, 0)[0][1]
    alone = bs.screen(X, codes, factors=2, model=bs.CalibratedModel().quick(), shuffles=0).log_bayes_factor
    np.testing.assert_allclose(posterior.shuffled.values[1], np.sort(alone[alone > 0])[::-1], atol=1e-9)


def test_the_share_of_one_factor(rng):
    factor, loadings = rng.normal(size=(40, 1)), rng.normal(size=(1, 30))
    X, y = factor @ loadings, np.repeat([0, 1], 20)
    assert first_factor_share(X, y) == pytest.approx(1.0)
    noise = rng.normal(size=(40, 30))
    rest = noise - np.array([noise[y == k].mean(axis=0) for k in (0, 1)])[y]
    values = np.linalg.eigvalsh(np.corrcoef(rest.T))
    assert first_factor_share(noise, y) == pytest.approx(values[-1] / 30, rel=1e-10)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"factors": "some"}, "auto"),
        ({"factors": -1}, "factors"),
        ({"factors": 39}, "too many"),
        ({"factors": 1, "blocks": [0, 1] * 20}, "without blocks"),
        ({"factors": 1, "model": bs.GaussianModel.jeffreys()}, "calibrated"),
    ],
)
def test_what_factors_cannot_do_is_said(rng, options, words):
    X, y = confounded(rng)
    with pytest.raises(OptionError, match=words):
        bs.screen(X, y, **options)
