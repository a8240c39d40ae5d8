"""Rank-sum test against SciPy, enumeration and mpmath."""

from __future__ import annotations

import itertools
import math

import mpmath
import numpy as np
import pytest
from scipy import stats

import bayesieve as bs
from bayesieve.data import LabelledMatrix
from bayesieve.rivals.wilcoxon import exact_log_tails, wilcoxon


def ranked(X, y, **options):
    return wilcoxon(LabelledMatrix.from_arrays(X, y), **options)


def table(rng, sizes):
    y = rng.permutation(np.repeat([0, 1], sizes))
    X = rng.normal(size=(y.size, 30)) + 0.8 * y[:, None] * (np.arange(30) % 3)
    X[:, 10:20] = X[:, 10:20].round()
    X[:, 20] = 1.0
    X[rng.random(X.shape) < 0.1] = np.nan
    return X, y


@pytest.mark.parametrize("sizes", [(6, 9), (8, 30), (20, 25), (150, 60)])
@pytest.mark.parametrize(("law", "method"), [("auto", "auto"), ("normal", "asymptotic")])
def test_p_values_by_scipy(rng, sizes, law, method):
    X, y = table(rng, sizes)
    got = ranked(X, y, law=law)
    assert got.log_p_value[20] == 0.0  # constant; SciPy 1.18 says NaN, earlier versions 1
    for f, column in enumerate(X.T):
        if f == 20:
            continue
        second, first = (column[(y == k) & ~np.isnan(column)] for k in (1, 0))
        theirs = stats.mannwhitneyu(second, first, method=method)
        assert got.log_p_value[f] == pytest.approx(np.log(theirs.pvalue), rel=1e-10, abs=1e-13)
        assert got.details["u"][f] == theirs.statistic
        pairs = np.sign(second[:, None] - first)
        assert got.details["auc"][f] == pytest.approx(0.5 + 0.5 * pairs.mean(), rel=1e-14)
        assert np.sign(got.details["z"][f]) in (0.0, np.sign(pairs.sum()))
    np.testing.assert_array_equal(got.score, -got.log_p_value)


@pytest.mark.parametrize(("m", "n"), [(1, 1), (1, 4), (2, 2), (3, 5), (4, 4)])
def test_exact_law_by_enumeration_of_all_orders(m, n):
    """Every choice of ranks for the smaller class is one order."""
    us = [sum(ranks) - m * (m + 1) // 2 for ranks in itertools.combinations(range(1, m + n + 1), m)]
    expected = [np.mean(np.array(us) >= u) for u in range(m * n + 1)]
    np.testing.assert_allclose(np.exp(exact_log_tails(m, n)), expected, rtol=1e-13)


def test_exact_tail_beyond_floats_that_hold_whole_numbers():
    """Eight values above all of 5,000: one order among binomial(5008, 8), far above 2**53."""
    assert exact_log_tails(8, 5000)[-1] == pytest.approx(-math.log(math.comb(5008, 8)), rel=1e-14)
    assert exact_log_tails(8, 5000)[0] == 0.0


def test_r1_by_counting(r1):
    """All but one of 20 pairs are in order; of 126 orders one has U = 20 and one 19."""
    scores = ranked(*r1)
    assert scores.details["u"].tolist() == [19.0]
    assert scores.p_value[0] == pytest.approx(2 * 2 / 126, rel=1e-13)


def test_log_p_values_far_below_the_smallest_float_by_mpmath():
    y = np.repeat([0, 1], 2000)
    X = np.arange(4000.0)[:, None]
    got = ranked(X, y)
    with mpmath.workdps(50):
        z = (mpmath.mpf(2000 * 2000) / 2 - mpmath.mpf(1) / 2) / mpmath.sqrt(mpmath.mpf(2000 * 2000) * 4001 / 12)
        expected = mpmath.log(mpmath.erfc(z / mpmath.sqrt(2)))
    assert float(expected) < -1400
    assert got.log_p_value[0] == pytest.approx(float(expected), rel=1e-12)
    assert got.p_value[0] == 0.0


def test_nothing_to_tell_apart():
    X = np.array([[1.0, np.nan, 1.0], [1.0, np.nan, 1.0], [1.0, 2.0, 2.0], [1.0, 3.0, 3.0]])
    with pytest.warns(bs.DegenerateFeatureWarning, match=r"1 of 3 features have no score \(wilcoxon\): no values"):
        scores = ranked(X, [0, 0, 1, 1])
    assert scores.log_p_value[0] == 0.0
    assert scores.details["auc"][0] == 0.5
    assert scores.details["z"][0] == 0.0
    assert np.isnan(
        [scores.score[1], scores.log_p_value[1], *(scores.details[k][1] for k in ("u", "z", "auc"))]
    ).all()
    assert scores.rank[1] == 3
    assert not math.copysign(1.0, scores.score[0]) < 0


def test_invariances(rng):
    X, y = table(rng, (12, 14))
    plain = ranked(X, y)
    np.testing.assert_array_equal(ranked(2.0 * X + 8.0, y).log_p_value, plain.log_p_value)
    np.testing.assert_allclose(ranked(-X, y).log_p_value, plain.log_p_value, rtol=1e-13)
    swapped = ranked(X, 1 - y)
    np.testing.assert_allclose(swapped.log_p_value, plain.log_p_value, rtol=1e-13)
    np.testing.assert_allclose(swapped.details["z"], -plain.details["z"], rtol=1e-13)
    np.testing.assert_allclose(swapped.details["auc"], 1 - plain.details["auc"], rtol=1e-13)


def test_p_values_without_a_difference_are_uniform():
    """Monte Carlo: the share of p-values below a level is the level."""
    rng = np.random.default_rng(4)
    p = ranked(rng.normal(size=(60, 4000)), np.repeat([0, 1], 30)).p_value
    for level in (0.01, 0.05, 0.5):
        assert abs((p <= level).mean() - level) < 4 * math.sqrt(level * (1 - level) / 4000) + 0.005


def test_wrong_option(r1):
    with pytest.raises(bs.OptionError, match="law must be 'auto' or 'normal', not 'exact'"):
        ranked(*r1, law="exact")
