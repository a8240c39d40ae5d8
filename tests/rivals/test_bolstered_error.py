"""Bolstered error of the nearest mean: the numbers of the specification, plain Python, Monte Carlo, limits."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

import bayesieve as bs
from bayesieve.data import LabelledMatrix
from bayesieve.rivals.bolstered_error import ALPHA, bolstered_error


def error(X, y, **options):
    return bolstered_error(LabelledMatrix.from_arrays(X, y), **options).details["error"]


def by_definition(column, y, alpha=ALPHA):
    """The formula of the specification with SciPy's normal distribution, neighbours by brute force."""
    groups = [[x for x, label in zip(column, y, strict=True) if label == k and not math.isnan(x)] for k in (0, 1)]
    if min(map(len, groups)) < 2:
        return math.nan
    means = [math.fsum(group) / len(group) for group in groups]
    c, total = (means[0] + means[1]) / 2, 0.0
    if means[0] == means[1]:
        return 0.5
    for k, group in enumerate(groups):
        nearest = [min(abs(x - other) for j, other in enumerate(group) if j != i) for i, x in enumerate(group)]
        sigma = math.fsum(nearest) / len(group) / alpha
        for x in group:
            beyond = (x - c) * (1 if means[1] > means[0] else -1) * (1 if k == 0 else -1)
            step = 0.5 if beyond == 0 else float(beyond > 0)
            total += step if sigma == 0 else stats.norm.cdf(beyond / sigma)
    return total / sum(map(len, groups))


def test_numbers_of_the_specification_on_r1(r1):
    X, y = r1
    scores = bolstered_error(LabelledMatrix.from_arrays(X, y))
    details = {name: column[0] for name, column in scores.details.items()}
    assert details["error"] == pytest.approx(0.2212613114, abs=5e-11)
    assert details["threshold"] == pytest.approx(0.74, rel=1e-14)
    assert details["spread_0"] == pytest.approx(0.5189107765, abs=5e-11)
    assert details["spread_1"] == pytest.approx(0.4744327099, abs=5e-11)
    assert scores.score[0] == -details["error"]


def test_alpha_is_the_median_of_chi_with_one_degree_of_freedom(r1):
    assert pytest.approx(0.6744897502, abs=5e-11) == ALPHA
    assert pytest.approx(stats.norm.ppf(0.75), rel=1e-15) == ALPHA
    assert pytest.approx(stats.chi(1).median(), rel=1e-12) == ALPHA
    np.testing.assert_allclose(error(*r1, alpha=0.67448425), error(*r1), atol=1e-5)  # that of the authors' code


def test_r1_by_monte_carlo(r1):
    """Draw from the kernels and count: the specification found .22133."""
    X, y = r1
    rng = np.random.default_rng(1)
    sigma = np.where(y == 0, 0.5189107765, 0.4744327099)
    drawn = X[:, 0] + sigma * rng.normal(size=(200_000, 9))
    wrong = (drawn > 0.74) == (y == 0)
    assert abs(wrong.mean() - error(X, y)[0]) < 4 * 0.5 / math.sqrt(wrong.size)
    assert abs(0.22133 - error(X, y)[0]) < 2e-4


@pytest.mark.filterwarnings("ignore::bayesieve.DegenerateFeatureWarning")
def test_random_tables_with_ties_and_gaps_by_brute_force(rng):
    y = rng.permutation([0] * 9 + [1] * 14)
    X = rng.normal(size=(23, 40)) * 10.0 ** rng.integers(-200, 140, 40)
    X[:, 10:20] = rng.integers(0, 8, (23, 10))
    X[:, 20:25] += 30.0 * y[:, None] * X[:, 20:25].std(axis=0)
    X[:, 25] = 3.0
    X[:, 26] = y
    X[rng.random(X.shape) < 0.2] = np.nan
    X[np.flatnonzero(y == 0)[1:], 27] = np.nan
    X[:, 28] = np.nan
    got = error(X, y)
    expected = [by_definition(column, y.tolist()) for column in X.T.tolist()]
    np.testing.assert_allclose(got, expected, rtol=1e-10)
    assert np.isnan(got[27:29]).all()
    assert got[25] == 0.5
    assert got[26] == 0.0


def test_small_errors_keep_their_digits_by_scipy():
    for gap in (8.0, 40.0):
        got = error(np.array([[0.0], [1.0], [gap + 1], [gap + 2]]), [0, 0, 1, 1])
        halves = gap / 2 + np.array([0.0, 1.0])
        assert got[0] == pytest.approx(stats.norm.sf(halves * ALPHA).mean(), rel=1e-12)
    assert got[0] < 1e-39


def test_invariances(rng):
    X, y = rng.normal(size=(40, 30)), np.repeat([0, 1], [15, 25])
    plain = error(X, y)
    np.testing.assert_allclose(error(7.0 - 1e-3 * X, y), plain, rtol=1e-10)
    np.testing.assert_allclose(error(X, 1 - y), plain, rtol=1e-12)
    mixed = rng.permutation(40)
    np.testing.assert_array_equal(error(X[mixed], y[mixed]), plain)


def test_limits(rng):
    """Well separated: 0. Equal classes: 1/2. Narrow kernels: resubstitution error, counted by hand."""
    X, y = rng.normal(size=(60, 20)), np.repeat([0, 1], 30)
    assert (error(X + 100.0 * y[:, None], y) < 1e-200).all()
    twice = np.vstack([X[:30], rng.permutation(X[:30])])
    np.testing.assert_array_equal(error(twice, y), 0.5)
    c = (X[:30].mean(axis=0) + X[30:].mean(axis=0)) / 2
    right_of = c < X
    wrong = np.where(
        X[30:].mean(axis=0) > X[:30].mean(axis=0), right_of != (y == 1)[:, None], right_of == (y == 1)[:, None]
    )
    np.testing.assert_allclose(error(X, y, alpha=1e14), wrong.mean(axis=0), rtol=1e-12)
    wide = rng.normal(size=(4000, 20))
    assert np.abs(error(wide, np.repeat([0, 1], 2000)) - 0.5).max() < 0.04


def test_twins_have_kernels_without_width_and_a_value_at_the_threshold_counts_half():
    X = np.array([0.0, 0.0, 2.0, 2.0, 4.0, 4.0, 2.0, 2.0])[:, None]  # means 1 and 3, threshold 2
    scores = bolstered_error(LabelledMatrix.from_arrays(X, [0] * 4 + [1] * 4))
    assert scores.details["spread_0"].tolist() == [0.0]
    assert scores.details["error"].tolist() == [0.25]


def test_means_that_differ_by_rounding_only_are_equal():
    X = np.array([0.1, 0.5, 0.2, 0.4])[:, None]
    assert np.mean([0.2, 0.4]) != np.mean([0.1, 0.5])
    assert error(X, [0, 0, 1, 1]).tolist() == [0.5]
    assert error(X + 1e-9 * np.array([[0], [0], [1], [1]]), [0, 0, 1, 1])[0] != 0.5


@pytest.mark.parametrize("alpha", [0.0, -1.0, math.inf, math.nan, "a", True])
def test_wrong_alpha(r1, alpha):
    with pytest.raises(bs.OptionError, match="alpha must be a positive number"):
        error(*r1, alpha=alpha)
