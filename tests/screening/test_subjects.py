"""Repeated measures: against the wide regression with a column per subject, and what cannot be compared."""

from __future__ import annotations

import numpy as np
import pytest

import bayesieve as bs
from bayesieve.models.gaussian.slope_effects import kinds_given_slopes
from bayesieve.stats import DesignMoments
from bayesieve.utils import LabelError, OptionError


@pytest.fixture(scope="module")
def visits():
    """Any number of samples of 14 subjects, two of whom have samples of one class only."""
    rng = np.random.default_rng(2)
    subject = np.array([*np.repeat(np.arange(12), 4), 0, 1, 1, 12, 12, 13])
    y = np.array([*[0, 0, 1, 1] * 12, 1, 0, 1, 0, 0, 1])
    X = rng.normal(0.0, 0.7, size=(y.size, 150)) + rng.normal(0.0, 2.0, size=(14, 150))[subject]
    X[y == 1, :4] += 1.2
    return X, y, subject


@pytest.mark.parametrize("with_covariate", [False, True])
def test_it_is_the_regression_with_a_column_per_subject(visits, with_covariate):
    X, y, subject = visits
    dose = np.random.default_rng(0).normal(size=y.size)
    covariates = {"dose": dose} if with_covariate else None
    found = bs.screen(X, y, subject=subject, covariates=covariates, shuffles=0)
    wide = (subject[:, None] == np.arange(1, 14)).astype(float)
    wide = np.column_stack([wide, dose]) if with_covariate else wide
    model = found.model
    wanted, _ = kinds_given_slopes(
        DesignMoments.from_matrix(X, y, wide), (model.variance_dof, model.variance_scale), np.zeros(1),
        (np.array(model.mean_sizes), np.empty(0)), np.empty(0),
    )  # fmt: skip
    np.testing.assert_allclose(found.log_bayes_factor, wanted, atol=1e-10)
    A = np.column_stack([np.ones(y.size), y, wide])
    fit = np.linalg.lstsq(A, X, rcond=None)[0]
    np.testing.assert_allclose(found.to_dict()["mean_difference"], fit[1], atol=1e-10)
    left = ((X - A @ fit) ** 2).sum(axis=0)
    np.testing.assert_allclose(found.moments.centred_squares.sum(axis=0), left, rtol=1e-10)


def test_what_subjects_hide_is_found_within_them(visits):
    X, y, subject = visits
    assert not bs.MinimalRisk(0.5).select(bs.screen(X, y, shuffles=20)).n_selected
    found = bs.MinimalRisk(0.5).select(bs.screen(X, y, subject=subject, shuffles=20))
    assert set(found.indices) == {0, 1, 2, 3}
    assert "12 of 14 subjects have samples of several classes; the other 2 subjects" in str(found)
    assert "within subjects" in str(found)


def test_three_classes_within_subjects(visits):
    X, y, subject = visits
    three = np.where((np.arange(y.size) % 4 == 3), 2, y)
    X = X.copy()
    X[three == 2, 9] += 3.0
    found = bs.screen(X, three, subject=subject, shuffles=2)
    assert found.ranking[0] == 9


def test_what_cannot_be_compared_within_subjects(visits):
    X, y, subject = visits
    with pytest.raises(LabelError, match="None of the 54 subjects"):
        bs.screen(X, y, subject=np.arange(y.size))
    with pytest.raises(OptionError, match="'age' is the same in all samples of a subject"):
        bs.screen(X, y, subject=subject, covariates={"age": 40.0 + subject})
    with pytest.raises(OptionError, match="under the calibrated prior"):
        bs.screen(X, y, subject=subject, model=bs.GaussianModel.jeffreys())
    with pytest.raises(OptionError, match="does not go with blocks"):
        bs.screen(X, y, subject=subject, blocks=subject)
    with pytest.raises(OptionError, match="without missing values"):
        bs.screen(np.where(X > 5, np.nan, X), y, subject=subject, missing="omit")


def test_subjects_of_the_selector_and_of_an_object(visits):
    X, y, subject = visits
    wanted = bs.screen(X, y, subject=subject, shuffles=0).log_odds
    selector = bs.OBFSelector(shuffles=0).fit(X, y, subject=subject)
    np.testing.assert_array_equal(selector.posterior_.log_odds, wanted)
    anndata, pd = pytest.importorskip("anndata"), pytest.importorskip("pandas")
    about = pd.DataFrame({"state": y, "who": subject}, index=[f"s{i}" for i in range(y.size)])
    found = bs.screen(anndata.AnnData(X, obs=about), "state", subject="who", shuffles=0)
    np.testing.assert_array_equal(found.log_odds, wanted)
