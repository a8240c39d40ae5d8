"""Informative absence: the share of missing values as evidence."""

from __future__ import annotations

import jeffreys
import mpmath as mp
import numpy as np
import pytest

import bayesieve as bs


def test_beta_binomial_factor():
    """By mpmath from the integrals of binomial likelihoods over uniform shares."""
    rng = np.random.default_rng(0)
    y = np.array(["a"] * 14 + ["b"] * 11)
    X = rng.normal(size=(25, 6))
    X[rng.random(X.shape) < np.array([0.05, 0.5])[(y == "b").astype(int)][:, None]] = np.nan
    plain = bs.screen(X, y, missing="omit")
    informed = bs.screen(X, y, missing="omit", informative_missing=True)
    absent = np.isnan(X)
    for j in range(6):
        u = [int(absent[y == label, j].sum()) for label in "ab"]
        with mp.workdps(40):
            factor = (
                mp.beta(1 + u[0], 15 - u[0]) * mp.beta(1 + u[1], 12 - u[1])
                / (mp.beta(1, 1) * mp.beta(1 + sum(u), 26 - sum(u)))
            )  # fmt: skip
        difference = informed.log_bayes_factor[j] - plain.log_bayes_factor[j]
        assert difference == pytest.approx(float(mp.log(factor)), rel=1e-9)


def test_absence_joins_the_partition_of_many_classes():
    """Three classes: evidence of values and of absence share the pattern; checked for one pattern at a time."""
    rng = np.random.default_rng(1)
    y = np.array(list("abc") * 12)
    X = rng.normal(size=(36, 3))
    X[(y == "c")[:, None] & (rng.random(X.shape) < 0.6)] = np.nan
    options = {"missing": "omit", "patterns": "a,b | c"}
    got = jeffreys.screen(X, y, informative_missing=True, **options).log_bayes_factor
    merged = np.where(y == "c", "c", "ab")
    two = jeffreys.screen(X, merged, missing="omit", informative_missing=True).log_bayes_factor
    np.testing.assert_allclose(got, two, rtol=1e-10)


def test_absence_in_blocks_adds_up():
    rng = np.random.default_rng(2)
    y, batch = np.array(["a", "b"] * 20), np.repeat([0, 1], 20)
    X = np.where(rng.random((40, 4)) < 0.2, np.nan, rng.normal(size=(40, 4)))
    options = {"missing": "omit", "informative_missing": True}
    got = jeffreys.screen(X, y, blocks=batch, **options)
    alone = [jeffreys.screen(X[batch == k], y[batch == k], **options).log_bayes_factor for k in (0, 1)]
    np.testing.assert_allclose(got.log_bayes_factor, sum(alone), rtol=1e-10)
    np.testing.assert_allclose(got.block_evidence.contributions, alone, rtol=1e-9)


def test_a_feature_without_any_value_returns_the_prior():
    X = np.random.default_rng(3).normal(size=(12, 2))
    X[:, 1] = np.nan
    model = bs.GaussianModel.proper()
    assert bs.screen(X, ["a", "b"] * 6, missing="omit", model=model).log_bayes_factor[1] == 0.0


def test_absence_works_for_other_models_and_needs_the_table():
    X = np.array([[1.0], [2.0], [np.nan], [3.0], [np.nan], [np.nan]])
    y = ["a"] * 3 + ["b"] * 3
    plain = bs.screen(X, y, missing="omit", model=bs.PoissonModel())
    informed = bs.screen(X, y, missing="omit", model=bs.PoissonModel(), informative_missing=True)
    factor = mp.beta(2, 3) * mp.beta(3, 2) / mp.beta(4, 4)  # 1 of 3 and 2 of 3 are absent
    assert informed.log_bayes_factor[0] - plain.log_bayes_factor[0] == pytest.approx(
        float(mp.log(factor)), rel=1e-9
    )
    moments = bs.Moments.from_matrix(np.arange(12.0)[:, None], ["a", "b"] * 6)
    with pytest.raises(bs.DataError, match="number of samples per class"):
        bs.screen(moments, informative_missing=True)


def test_absence_speaks_where_values_cannot():
    """A class without any value: the evidence of absence alone, by mpmath."""
    X = np.random.default_rng(4).normal(size=(20, 2))
    y = np.repeat(["a", "b"], 10)
    X[y == "b", 1] = np.nan
    with pytest.warns(bs.DegenerateFeatureWarning):
        posterior = bs.screen(X, y, missing="omit", informative_missing=True)
    factor = mp.beta(1, 11) * mp.beta(11, 1) / mp.beta(11, 11)
    assert posterior.log_bayes_factor[1] == pytest.approx(float(mp.log(factor)), rel=1e-10)
    assert "Missing values of 1 of 2 features" in bs.MinimalRisk(0.5).select(posterior).summary()


def test_nothing_missing_is_told():
    with pytest.warns(bs.DataWarning, match="no value is missing"):
        bs.screen(np.random.default_rng(5).normal(size=(20, 2)), ["a", "b"] * 10, informative_missing=True)
