"""Student's t: against SciPy, scikit-learn's F and mpmath."""

from __future__ import annotations

import mpmath as mp
import numpy as np
import pytest
from scipy import stats
from sklearn.feature_selection import f_classif

import bayesieve as bs
from bayesieve.errors import DegenerateFeatureWarning
from bayesieve.rivals.t_tests import student_t

NAN = float("nan")


def halves(n0, n1):
    return [0] * n0 + [1] * n1


def test_by_scipy(rng):
    X = rng.normal(size=(15, 300)) + np.repeat([0.0, 0.8], [6, 9])[:, None]
    got = student_t(bs.Moments.from_matrix(X, halves(6, 9)))
    expected = stats.ttest_ind(X[6:], X[:6])
    np.testing.assert_allclose(got.details["t"], expected.statistic, rtol=1e-10)
    np.testing.assert_allclose(got.p_value, expected.pvalue, rtol=1e-10)
    np.testing.assert_array_equal(got.score, -got.log_p_value)


def test_square_is_the_f_statistic_of_scikit_learn(rng):
    X = rng.normal(size=(15, 50))
    got = student_t(bs.Moments.from_matrix(X, halves(6, 9)))
    f, p = f_classif(X, halves(6, 9))
    np.testing.assert_allclose(got.details["t"] ** 2, f, rtol=1e-9)
    np.testing.assert_allclose(got.p_value, p, rtol=1e-10)


def test_by_scipy_with_missing_values(rng):
    X = rng.normal(size=(20, 100))
    X[rng.uniform(size=X.shape) < 0.3] = np.nan
    got = student_t(bs.Moments.from_matrix(X, halves(10, 10), missing="omit"))
    expected = stats.ttest_ind(X[10:], X[:10], nan_policy="omit")
    np.testing.assert_allclose(got.details["t"], expected.statistic, rtol=1e-10)
    np.testing.assert_allclose(got.details["dof"], expected.df)
    np.testing.assert_allclose(got.p_value, expected.pvalue, rtol=1e-10)
    np.testing.assert_array_equal(got.ranking, np.argsort(got.log_p_value, kind="stable"))


def test_log_p_by_mpmath_where_floats_underflow():
    X = np.array([0.0, 1, 2, 3] * 50)[:, None]
    X[100:] += 2.0**20
    got = student_t(bs.Moments.from_matrix(X, halves(100, 100)))
    with mp.workdps(50):
        squares = 200 * mp.mpf("1.25")
        t = mp.mpf(2) ** 20 / mp.sqrt(squares / 198 * mp.mpf(2) / 100)
        x = 198 / (198 + t * t)
        series = mp.hyp2f1(99.5, 1, 100, x) * x**99 * mp.sqrt(1 - x) / 99 / mp.beta(99, 0.5)
        expected = float(mp.log(series))
    assert got.details["t"][0] == pytest.approx(float(t), rel=1e-14)
    assert expected < -2000
    assert got.log_p_value[0] == pytest.approx(expected, rel=1e-13)


def test_without_p_values_the_ranking_is_the_same(rng):
    moments = bs.Moments.from_matrix(rng.normal(size=(15, 300)), halves(6, 9))
    quick = student_t(moments, p_values=False)
    assert quick.log_p_value is None
    np.testing.assert_array_equal(quick.ranking, student_t(moments).ranking)


def test_one_sample_in_a_class_and_features_without_variance():
    X = np.array([[1, 2, 1, 4, 4], [1, 3, 1, 5, 4], [1, 3, 1, 6, NAN], [1, 9, 2, NAN, 7.0]])
    with pytest.warns(DegenerateFeatureWarning, match="4 of 5 features") as caught:
        got = student_t(bs.Moments.from_matrix(X, halves(3, 1), missing="omit"))
    assert "2 constant in each class, with a p-value of 0" in str(caught[0].message)
    assert "1 constant in all samples, with a p-value of 1" in str(caught[0].message)
    assert "1 not tested: too few values" in str(caught[0].message)
    np.testing.assert_array_equal(got.p_value[[0, 2, 3, 4]], [1.0, 0.0, NAN, 0.0])
    assert got.p_value[1] == pytest.approx(stats.ttest_ind([2, 3, 3], [9]).pvalue, rel=1e-10)
