"""Welch's t: against mpmath from raw data, SciPy, and the numbers of the specification."""

from __future__ import annotations

import mpmath as mp
import numpy as np
import pytest
from scipy import stats

import bayesieve as bs
from bayesieve.errors import DataError, DegenerateFeatureWarning, LabelError, OptionError
from bayesieve.rivals.t_tests import welch_t

NAN = float("nan")


def halves(n0, n1):
    return [0] * n0 + [1] * n1


def exact(x0, x1):
    """t, degrees of freedom and log p from raw data with 50 digits."""
    parts = []
    for x in (x0, x1):
        values = [mp.mpf(float(v)) for v in x]
        mean = mp.fsum(values) / len(values)
        parts.append((mean, mp.fsum([(v - mean) ** 2 for v in values]) / (len(values) - 1) / len(values)))
    (m0, a), (m1, b) = parts
    t = (m1 - m0) / mp.sqrt(a + b)
    dof = (a + b) ** 2 / (a**2 / (len(x0) - 1) + b**2 / (len(x1) - 1))
    x = dof / (dof + t * t)
    return t, dof, mp.log(1 - mp.betainc(mp.mpf(1) / 2, dof / 2, 0, 1 - x, regularized=True))


def test_numbers_of_the_specification(r1):
    """The specification has the first class minus the second; differences here are second minus first."""
    got = welch_t(bs.Moments.from_matrix(*r1))
    assert got.details["t"][0] == pytest.approx(3.0911865, abs=5e-8)
    assert got.details["dof"][0] == pytest.approx(6.8361389, abs=5e-8)
    assert got.p_value[0] == pytest.approx(0.0180698, abs=5e-8)
    assert got.log_p_value[0] == pytest.approx(-4.0135133, abs=5e-8)


@pytest.mark.parametrize(("offset", "scale"), [(0.0, 1.0), (1e8, 1.0), (0.0, 1e-100), (0.0, 1e140)])
def test_by_mpmath_from_raw_data(rng, offset, scale):
    X = rng.normal(size=(13, 12))
    X[5:] = X[5:] * 3 + 1
    X = offset + scale * X
    got = welch_t(bs.Moments.from_matrix(X, halves(5, 8)))
    with mp.workdps(50):
        expected = np.array([[float(v) for v in exact(x[:5], x[5:])] for x in X.T])
    tolerance = {"rtol": 1e-12, "atol": 1e-13}
    np.testing.assert_allclose(got.details["t"], expected[:, 0], **tolerance)
    np.testing.assert_allclose(got.details["dof"], expected[:, 1], **tolerance)
    np.testing.assert_allclose(got.log_p_value, expected[:, 2], rtol=1e-11, atol=1e-13)


def test_by_scipy_with_missing_values(rng):
    X = rng.normal(size=(30, 200)) + np.repeat([0.0, 0.5], 15)[:, None]
    X[rng.uniform(size=X.shape) < 0.2] = np.nan
    got = welch_t(bs.Moments.from_matrix(X, halves(15, 15), missing="omit"))
    expected = stats.ttest_ind(X[15:], X[:15], equal_var=False, nan_policy="omit")
    np.testing.assert_allclose(got.details["t"], expected.statistic, rtol=1e-10)
    np.testing.assert_allclose(got.p_value, expected.pvalue, rtol=1e-10)
    np.testing.assert_allclose(got.details["dof"], expected.df, rtol=1e-10)


def test_ranks_by_p_value_although_degrees_of_freedom_differ(rng):
    X = rng.normal(size=(12, 500)) * rng.uniform(0.1, 5, size=(12, 500))
    moments = bs.Moments.from_matrix(X, halves(5, 7))
    by_p, by_t = welch_t(moments), welch_t(moments, score="abs_t")
    np.testing.assert_array_equal(by_p.ranking, np.argsort(by_p.log_p_value, kind="stable"))
    np.testing.assert_array_equal(by_t.ranking, np.argsort(-np.abs(by_t.details["t"]), kind="stable"))
    assert (by_p.ranking != by_t.ranking).any()
    np.testing.assert_array_equal(by_t.log_p_value, by_p.log_p_value)
    assert welch_t(moments, score="abs_t", p_values=False).log_p_value is None
    assert welch_t(moments, p_values=False).log_p_value is not None


def test_log_p_of_a_feature_far_apart_does_not_underflow(rng):
    X = rng.normal(size=(1000, 1))
    X[500:] += 13.0
    got = welch_t(bs.Moments.from_matrix(X, halves(500, 500)))
    assert got.p_value[0] == 0
    assert got.details["t"][0] == pytest.approx(200, abs=15)
    assert -2200 < got.log_p_value[0] < -1500


def test_features_without_variance():
    X = np.array([[1, 1, 1, 1, 4], [1, 1, 2, 1, 5], [1, 3, 5, 2, 6], [1, 3, 6, 2, 9.0]])
    X[:2, 2] = 1
    X[0, 4] = X[2:, 3] = NAN
    moments = bs.Moments.from_matrix(X, halves(2, 2), missing="omit")
    with pytest.warns(DegenerateFeatureWarning, match="4 of 5 features have no usable variance") as caught:
        got = welch_t(moments)
    assert "1 constant in each class, with a p-value of 0" in str(caught[0].message)
    assert "1 constant in all samples, with a p-value of 1" in str(caught[0].message)
    assert "2 not tested: too few values in a class" in str(caught[0].message)
    np.testing.assert_array_equal(got.details["t"][[0, 1, 3, 4]], [NAN, np.inf, NAN, NAN])
    np.testing.assert_array_equal(got.p_value[[0, 1, 3, 4]], [1.0, 0.0, NAN, NAN])
    assert got.details["dof"][2] == 1.0  # only one class varies: its n - 1
    assert got.ranking.tolist() == [1, 2, 0, 3, 4]
    np.testing.assert_array_equal(got.adjusted_p_value[[0, 1, 3, 4]], [1.0, NAN, NAN, NAN])


def test_errors_say_what_to_do():
    moments = bs.Moments.from_matrix([[1.0], [2.0], [3.0]], ["a", "b", "b"])
    with pytest.raises(LabelError, match="at least 2 samples of each class, but class 'a' has 1"):
        welch_t(moments)
    three = bs.Moments.from_matrix(np.arange(6.0)[:, None], ["a", "b", "c"] * 2)
    with pytest.raises(LabelError, match=r"compares two classes, not 3 \(a, b, c\)"):
        welch_t(three)
    with pytest.raises(OptionError, match="score must be 'p_value' or 'abs_t', not 'p'"):
        welch_t(three.pick(["a", "b"]), score="p")
    with pytest.raises(DataError, match="takes Moments, not list"):
        welch_t([[1.0]])
    tiny = bs.Moments.from_matrix(np.array([[1.0], [2.0], [3.0], [5.0]]) * 1e-170, halves(2, 2))
    with pytest.raises(DataError, match=r"values of 1 feature\(s\) are so small"):
        welch_t(tiny)
