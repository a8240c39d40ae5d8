"""Three groups with shared slopes: evidences by sums over grids of slopes, not over ratios of variances.

Given slopes, the groups are those of a screen without covariates, whose evidences are known. So the Bayes factor
is the integral of their product over all slopes, divided by that of the evidence of all samples together.
"""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import bayesieve as bs
from bayesieve.models.gaussian.slopes import group_log_bayes_factor
from bayesieve.stats import DesignMoments, Moments
from bayesieve.utils import OptionError

JEFFREYS, PROPER = bs.GaussianModel.jeffreys(0.1), bs.GaussianModel.proper(mean_locations=(0.3,))


def evidence(design, model):
    """Log Bayes factor of all classes different."""
    n = len(design.classes)
    priors = [*(model.prior_of(k, 3) for k in range(n)), model.pooled_prior]
    return group_log_bayes_factor(design, priors, model.evidences(design.moments).log_constant(n))


def by_slopes(x, Z, y, model, half=5.0, n_points=141):
    """Sum over a grid of slopes, stretched by a hyperbolic sine; covariates are about their means."""
    kept = ~np.isnan(x)
    x, Z, y = x[kept], Z[kept] - Z[kept].mean(axis=0), y[kept]
    classes = sorted(set(y))
    within = np.concatenate([Z[y == k] - Z[y == k].mean(axis=0) for k in classes])
    left = np.concatenate([x[y == k] - x[y == k].mean() for k in classes])
    centre, spread = np.linalg.lstsq(within, left, rcond=None)[0], np.linalg.inv(within.T @ within)
    axes = np.linalg.cholesky(spread) * np.sqrt(((left - within @ centre) ** 2).mean())
    u, step = np.linspace(-half, half, n_points, retstep=True)
    grid = np.array(list(itertools.product(np.sinh(u), repeat=Z.shape[1])))
    weights = np.log(np.array(list(itertools.product(np.cosh(u) * step, repeat=Z.shape[1])))).sum(axis=1)
    values = x[:, None] - Z @ (centre[:, None] + axes @ grid.T)
    moments = Moments.from_matrix(values, y, classes=classes)
    prior = model.pooled_prior
    whole = bs.GaussianModel((prior,), prior, None if model.is_proper else 1.0).log_evidence(moments.pool())
    of_all = model.log_bayes_factor(moments, "distinct") + whole
    return np.logaddexp.reduce(of_all + weights) - np.logaddexp.reduce(whole + weights)


def study(rng, sizes, p, n_features=3):
    """Classes of different spread, and of different slopes in the last feature."""
    y = np.repeat(["a", "b", "c"], sizes)
    Z = rng.normal(size=(y.size, p)) + (y == "b")[:, None]
    X = rng.normal(size=(y.size, n_features)) * np.where(y == "c", 3.0, 1.0)[:, None] + Z @ rng.normal(size=(p, 1))
    X[:, -1] += 4.0 * Z[:, 0] * (y == "a") - 4.0 * Z[:, 0] * (y == "b")
    return X, Z, y


@pytest.mark.parametrize("model", [JEFFREYS, PROPER], ids=["jeffreys", "proper"])
@pytest.mark.parametrize(("sizes", "p"), [((12, 9, 15), 1), ((5, 4, 6), 1), ((40, 6, 8), 1), ((14, 11, 9), 2)])
def test_evidence_is_the_integral_over_slopes(rng, model, sizes, p):
    X, Z, y = study(rng, sizes, p)
    found = evidence(DesignMoments.from_matrix(X, y, Z - Z.mean(axis=0)), model)
    fine = {"half": 9.0, "n_points": 4001} if p == 1 else {"half": 5.0, "n_points": 241}
    expected = [by_slopes(x, Z, y, model, **fine) for x in X.T]
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-8)


def by_peaks(x, z, y, model):
    """Sum over slopes by Gauss and Legendre's rule on intervals that are short near the slope of every class."""
    nodes, weights = np.polynomial.legendre.leggauss(10)
    z, edges = z - z.mean(), []
    for some in ("a", "b", "c", "abc"):
        here = np.isin(y, list(some))
        a, b = z[here] - z[here].mean(), x[here] - x[here].mean()
        slope = a @ b / (a @ a)
        width = np.sqrt(((b - slope * a) ** 2).sum() / (a @ a) / max(here.sum() - 2, 1))
        away = width * np.geomspace(1e-3, 1e7, 120)
        edges += [slope, *(slope - away), *(slope + away)]
    edges = np.unique(edges)
    half = 0.5 * np.diff(edges)[:, None]
    grid, log_weights = ((edges[:-1, None] + half) + half * nodes).ravel(), np.log((half * weights).ravel())
    moments, prior = Moments.from_matrix(x[:, None] - np.outer(z, grid), y), model.pooled_prior
    whole = bs.GaussianModel((prior,), prior, 1.0).log_evidence(moments.pool())
    of_all = model.log_bayes_factor(moments, "distinct") + whole
    return np.logaddexp.reduce(of_all + log_weights) - np.logaddexp.reduce(whole + log_weights)


def test_groups_that_contradict_each_other(rng):
    """Spreads that differ a hundredfold and slopes by many standard errors: several modes."""
    for _ in range(6):
        sizes = rng.integers(4, 25, 3)
        y = np.repeat(["a", "b", "c"], sizes)
        z = rng.normal(size=y.size)
        X = rng.standard_t(3, size=(y.size, 3)) * np.where(y == "c", 10 ** rng.uniform(-2, 2), 1.0)[:, None]
        for label in "abc":
            X += np.outer(z * (y == label), rng.normal(size=3) * 10 ** rng.uniform(-1, 1.5))
        expected = [by_peaks(x, z, y, JEFFREYS) for x in X.T]
        found = evidence(DesignMoments.from_matrix(X, y, z), JEFFREYS)
        np.testing.assert_allclose(found, expected, rtol=0, atol=5e-8)


def test_missing_values_are_those_of_the_samples_that_are_there(rng):
    X, Z, y = study(rng, (13, 10, 12), 1)
    X[rng.random(X.shape) < 0.15] = np.nan
    found = evidence(DesignMoments.from_matrix(X, y, Z, missing="omit"), JEFFREYS)
    expected = [by_slopes(x, Z, y, JEFFREYS, half=9.0, n_points=4001) for x in X.T]
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-8)


def test_without_covariates_it_is_the_product_of_evidences(rng):
    X, _, y = study(rng, (7, 10, 12), 1, 20)
    for model in (JEFFREYS, PROPER):
        found = evidence(DesignMoments.from_matrix(X, y, np.empty((y.size, 0))), model)
        moments = Moments.from_matrix(X, y)
        np.testing.assert_allclose(found, model.log_bayes_factor(moments, "distinct"), rtol=0, atol=1e-10)


def test_units_and_mixtures_of_covariates_and_the_order_of_classes_change_nothing(rng):
    X, Z, y = study(rng, (15, 12, 9), 3, 8)
    found = evidence(DesignMoments.from_matrix(X, y, Z), JEFFREYS)
    mixed = evidence(DesignMoments.from_matrix(5.0 * X - 2.0, y, Z @ rng.normal(size=(3, 3)) + 7.0), JEFFREYS)
    turned = evidence(DesignMoments.from_matrix(X, y, Z, classes=("c", "a", "b")), JEFFREYS)
    np.testing.assert_allclose(mixed, found, rtol=0, atol=1e-8)
    np.testing.assert_allclose(turned, found, rtol=0, atol=1e-8)


def test_screens_of_three_classes_share_patterns_among_all_priors(rng):
    X, Z, y = study(rng, (20, 20, 20), 1, 30)
    X[y == "b", :3] += 4.0
    for model in (None, JEFFREYS, PROPER):
        found = bs.screen(X, y, covariates=Z, model=model, shuffles=0)
        assert set(np.flatnonzero(found.log_odds > 0)) >= {0, 1, 2}
        assert found.to_dict()["pattern"][0] == "{a}, {b} and {c} all differ"  # c varies more
    four = np.tile(["a", "b", "c", "d"], 15)
    with pytest.raises(OptionError, match="up to 3 groups"):
        bs.screen(X, four, covariates=Z, model=JEFFREYS, shuffles=0)
    rest = bs.screen(X, four, covariates=Z, model=JEFFREYS, patterns="one-versus-rest", shuffles=0)
    assert np.isfinite(rest.log_odds).all()


def test_a_group_without_spread_has_no_evidence(rng):
    X, Z, y = study(rng, (10, 10, 10), 1)
    X[y == "a", 0] = 1.0 + 2.0 * Z[y == "a", 0]
    found = evidence(DesignMoments.from_matrix(X, y, Z), JEFFREYS)
    assert np.isnan(found[0])
    assert np.isfinite(found[1:]).all()
