"""Pairs: evidence of differences within pairs."""

from __future__ import annotations

import math

import jeffreys
import mpmath as mp
import numpy as np
import pytest
import scipy.sparse as sp
from scipy import stats

import bayesieve as bs
from bayesieve.models import PAIR_CONSTANT
from bayesieve.models.gaussian.paired import paired_log_bayes_factor


def pairs(n=20, p=30, seed=0):
    rng = np.random.default_rng(seed)
    person = 3.0 * rng.normal(size=(n, p))
    before, after = person + rng.normal(size=(n, p)), person + rng.normal(size=(n, p))
    after[:, :5] += 1.5
    order = rng.permutation(2 * n)
    X = np.concatenate([before, after])[order]
    y = np.repeat(["1 before", "2 after"], n)[order]
    return X, y, np.tile([f"p{i}" for i in range(n)], 2)[order]


def exact(d):
    """Both evidences by quadrature over the parameters (mpmath), with the constant of the further mean."""
    d = [mp.mpf(float(x)) for x in d]
    n = len(d)
    total, mean = mp.fsum([x * x for x in d]), mp.fsum(d) / len(d)
    squares = mp.fsum([(x - mean) ** 2 for x in d])

    def null(t):
        s = mp.e**t
        return (2 * mp.pi * s) ** (-mp.mpf(n) / 2) * mp.e ** (-total / (2 * s))

    def marker(t):  # the mean is integrated by hand: a Gaussian integral
        s = mp.e**t
        over_mean = mp.sqrt(2 * mp.pi * s / n) * s ** mp.mpf(-0.5)
        return (2 * mp.pi * s) ** (-mp.mpf(n) / 2) * mp.e ** (-squares / (2 * s)) * over_mean

    points = [-60, -20, -5, 0, 5, 20, 60]
    return mp.log(PAIR_CONSTANT * mp.quad(marker, points) / mp.quad(null, points))


def test_bayes_factor_by_quadrature():
    rng = np.random.default_rng(1)
    d = rng.normal(0.7, 1.0, size=(9, 4))
    got = paired_log_bayes_factor(bs.Moments.from_matrix(d, ["d"] * 9))
    for j in range(4):
        assert got[j] == pytest.approx(float(exact(d[:, j])), rel=1e-10)


def test_the_constant_is_that_of_the_fractional_bayes_factor():
    """Training fraction 2/n, data whose mean is 0 (no likelihood ratio): closed forms of the four marginals."""
    n = 50
    b = 2.0 / n

    def log_marginals(fraction):
        """Null and marker for sum d^2 = SS = 1 (mean 0), likelihood to the power ``fraction``: closed forms."""
        m = fraction * n
        null = math.lgamma(m / 2) - (m / 2) * math.log(math.pi * fraction)
        marker = 0.5 * math.log(2 * math.pi / m) + null
        return null, marker

    (null, marker), (null_b, marker_b) = log_marginals(1.0), log_marginals(b)
    fractional = (marker - null) - (marker_b - null_b)
    own = math.log(PAIR_CONSTANT) + 0.5 * math.log(2 * math.pi / n)
    assert fractional == pytest.approx(own, rel=1e-12)


def test_pairs_are_matched_in_any_order_and_formula_holds():
    X, y, person = pairs()
    posterior = jeffreys.screen(X, y, pairs=person, prior_probability=0.1)
    names = sorted(set(person))
    d = np.array([
        X[(person == name) & (y == "2 after")][0] - X[(person == name) & (y == "1 before")][0] for name in names
    ])  # fmt: skip
    n, squares = len(names), ((d - d.mean(axis=0)) ** 2).sum(axis=0)
    expected = math.log(math.pi**-0.5 * math.sqrt(2 * math.pi / n)) + n / 2 * np.log((d**2).sum(axis=0) / squares)
    np.testing.assert_allclose(posterior.log_odds, math.log(1 / 9) + expected, rtol=1e-11)
    assert (posterior.log_odds[:5] > 0).all()
    table = posterior.to_dict()
    np.testing.assert_allclose(table["mean_2 after - 1 before"], d.mean(axis=0), rtol=1e-11)
    said = bs.MinimalRisk(0.5).select(posterior).summary()
    assert "20 pairs" in said
    assert "see the mean only" in said


def test_pairs_find_what_the_two_sample_screen_misses():
    X, y, person = pairs(seed=2)
    assert (bs.screen(X, y, pairs=person).log_odds[:5] > 0).sum() > (bs.screen(X, y).log_odds[:5] > 0).sum()


def test_the_prior_ratio_of_two_samples_does_not_enter():
    X, y, person = pairs()
    one, two = (bs.screen(X, y, pairs=person, model=bs.GaussianModel.jeffreys(r)).log_odds for r in (0.1, 0.4))
    np.testing.assert_array_equal(one, two)


def test_incomplete_pairs_missing_values_sparse_and_blocks():
    X, y, person = pairs()
    whole = jeffreys.screen(X, y, pairs=person)
    extra = jeffreys.screen(np.vstack([X, X[:1]]), [*y, y[0]], pairs=[*person, "alone"])
    np.testing.assert_array_equal(whole.log_odds, extra.log_odds)
    assert "1 incomplete pair is left out" in bs.MinimalRisk(0.5).select(extra).summary()
    holes = X.copy()
    holes[3, 2] = np.nan
    kept = person != person[3]
    omitted = jeffreys.screen(holes, y, pairs=person, missing="omit")
    assert omitted.log_odds[2] == pytest.approx(
        jeffreys.screen(X[kept], y[kept], pairs=person[kept]).log_odds[2], rel=1e-11
    )
    np.testing.assert_allclose(
        jeffreys.screen(sp.csr_array(X), y, pairs=person).log_odds, whole.log_odds, rtol=1e-10
    )
    half = np.array([int(name[1:]) % 2 for name in person])
    blocked = jeffreys.screen(X, y, pairs=person, blocks=half)
    parts = [jeffreys.screen(X[half == k], y[half == k], pairs=person[half == k]).log_bayes_factor for k in (0, 1)]
    np.testing.assert_allclose(blocked.log_bayes_factor, sum(parts), rtol=1e-11)


@pytest.mark.parametrize("dtype", [np.uint8, np.int8, bool, np.float32])
def test_small_types_do_not_wrap_around(dtype):
    rng = np.random.default_rng(4)
    counts, y, person = rng.poisson(0.8, size=(40, 5)).astype(dtype), ["a", "b"] * 20, np.repeat(np.arange(20), 2)
    expected = bs.screen(counts.astype(float), y, pairs=person).log_odds
    np.testing.assert_allclose(bs.screen(counts, y, pairs=person).log_odds, expected, rtol=1e-12)
    for kind in (sp.csr_array, sp.csc_array):
        np.testing.assert_allclose(bs.screen(kind(counts), y, pairs=person).log_odds, expected, rtol=1e-10)


def test_rounded_values_have_twice_the_rounding_variance_in_pairs():
    """Formula with SS + 2 n step^2 / 12, and the number under the global null against fresh rounded null data."""
    rng = np.random.default_rng(5)
    n, step = 10, 1.5
    X, y, person = rng.normal(size=(2 * n, 5000)), ["a", "b"] * n, np.repeat(np.arange(n), 2)
    X = np.round(X / step) * step
    posterior = jeffreys.screen(X, y, pairs=person, resolution=step, prior_probability=0.2)
    d = X[1::2] - X[::2]
    squares = ((d - d.mean(axis=0)) ** 2).sum(axis=0) + 2 * n * step**2 / 12
    growth = n / 2 * np.log1p(n * d.mean(axis=0) ** 2 / squares)
    np.testing.assert_allclose(
        posterior.log_bayes_factor, math.log(PAIR_CONSTANT * math.sqrt(2 * math.pi / n)) + growth, rtol=1e-10
    )
    seen, expected = (posterior.log_odds > 0).sum(), bs.expected_under_null(posterior, 0.0)
    assert abs(seen - expected) < 6 * math.sqrt(expected)


def test_chance_of_pairs_is_what_null_data_show():
    """Monte Carlo against fresh null data, and Student's t as the exact distribution of one pair statistic."""
    rng = np.random.default_rng(3)
    n = 12
    X, y, person = rng.normal(size=(2 * n, 20_000)), ["a", "b"] * n, np.repeat(np.arange(n), 2)
    posterior = jeffreys.screen(X, y, pairs=person, prior_probability=0.1)
    expected = bs.expected_under_null(posterior, 0.0)
    growth = 2 / n * (math.log(9) - math.log(PAIR_CONSTANT * math.sqrt(2 * math.pi / n)))
    t = math.sqrt((n - 1) * math.expm1(growth))
    exactly = 20_000 * 2 * stats.t.sf(t, n - 1)
    assert expected == pytest.approx(exactly, rel=0.1)
    assert abs((posterior.log_odds > 0).sum() - exactly) < 5 * math.sqrt(exactly)


def test_features_without_two_different_differences_are_flagged():
    X, y, person = pairs(p=3)
    X[:, 1] = (y == "2 after") * 2.0
    X[:, 2] = 0.0
    with pytest.warns(bs.DegenerateFeatureWarning, match="2 of 3 features"):
        posterior = bs.screen(X, y, pairs=person)
    assert posterior.degenerate.tolist() == [False, True, True]
    assert posterior.log_bayes_factor[1:].tolist() == [0.0, 0.0]
    stepped = bs.screen(X, y, pairs=person, resolution=1.0)
    assert stepped.log_bayes_factor[1] > 20
    assert stepped.log_bayes_factor[2] < 0
    with pytest.raises(bs.DegenerateFeatureError):
        bs.screen(X, y, pairs=person, degenerate="raise")


def test_pairs_that_do_not_fit():
    X, y, person = pairs(p=2)
    with pytest.raises(bs.LabelError, match="pairs: pair 'same' has two samples of class"):
        bs.screen(X, y, pairs=["same"] * len(y))
    with pytest.raises(bs.LabelError, match="none of the 40 pairs has a sample of both classes"):
        bs.screen(X, y, pairs=np.arange(len(y)))
    with pytest.raises(bs.LabelError, match="pairs holds 3 values"):
        bs.screen(X, y, pairs=person[:3])
    with pytest.raises(bs.LabelError, match="Pairs compare two classes"):
        bs.screen(X, [*y[:-1], "third"], pairs=person)
    with pytest.raises(bs.OptionError, match="Jeffreys"):
        bs.screen(X, y, pairs=person, model=bs.GaussianModel.proper())
    with pytest.raises(bs.OptionError, match="PoissonModel"):
        bs.screen(np.abs(X).round(), y, pairs=person, model=bs.PoissonModel())
    with pytest.raises(bs.LabelError, match="different blocks"):
        bs.screen(X, y, pairs=person, blocks=y)
    with pytest.raises(bs.LabelError, match="blocks holds 41 values for 40 samples"):
        bs.screen(X, y, pairs=person, blocks=["p"] * 41)
    for options in ({"patterns": "distinct"}, {"informative_missing": True}):
        with pytest.raises(bs.OptionError, match="Pairs know no patterns"):
            bs.screen(X, y, pairs=person, **options)
    with pytest.raises(bs.PriorError, match="3"):
        bs.screen(X, y, pairs=person, model=bs.GaussianModel.jeffreys([0.1] * 3))
