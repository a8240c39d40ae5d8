"""Priors on the number of markers, against SciPy, whole-number arithmetic and mpmath."""

from __future__ import annotations

import math
from fractions import Fraction

import mpmath as mp
import numpy as np
import pytest
from scipy import stats

import bayesieve as bs
from bayesieve.sets.size_prior import log_choose, running_sum

PRIORS = {
    "uniform": bs.SizePrior.uniform(),
    "beta-binomial": bs.SizePrior.beta_binomial(0.7, 4.2),
    "binomial": bs.SizePrior.binomial(0.2),
    "fixed": bs.SizePrior.fixed(3),
    "at most": bs.SizePrior.at_most(4),
    "table": bs.SizePrior([1.0, 0.0, 2.0, 0.5]),
    "function": bs.SizePrior(lambda k: 1.0 / (1 + k) ** 2),
}


@pytest.mark.parametrize("name", PRIORS)
def test_sets_of_one_size_are_equally_probable_and_all_add_up_to_1_by_enumeration(name):
    n, prior = 7, PRIORS[name]
    log_sets = prior.log_probability(n)
    sizes = np.array([g.bit_count() for g in range(2**n)])
    assert np.exp(log_sets).sum() == pytest.approx(1.0, abs=1e-14)
    for k in range(n + 1):
        sets = log_sets[sizes == k]
        assert len(sets) == math.comb(n, k)
        assert (sets == sets[0]).all()
        assert np.exp(sets).sum() == pytest.approx(np.exp(prior.log_sizes(n)[k]), abs=1e-14)
    share = sizes @ np.exp(log_sets) / n
    assert prior.prior_probability(n) == pytest.approx(share, rel=1e-13)
    np.testing.assert_allclose(prior.log_weights(n), log_sets, atol=1e-14)


@pytest.mark.parametrize("n", [1, 2, 9, 500])
def test_named_distributions_against_scipy(n):
    k = np.arange(n + 1)
    cases = [
        (bs.SizePrior.uniform(), np.full(n + 1, -math.log(n + 1))),
        (bs.SizePrior.binomial(0.03), stats.binom.logpmf(k, n, 0.03)),
        (bs.SizePrior.beta_binomial(1.5, 20.0), stats.betabinom.logpmf(k, n, 1.5, 20.0)),
        (bs.SizePrior.beta_binomial(0.5, 0.5), stats.betabinom.logpmf(k, n, 0.5, 0.5)),
    ]
    for prior, expected in cases:
        np.testing.assert_allclose(prior.log_sizes(n), expected, rtol=1e-11, atol=1e-11)


def test_ends_of_the_binomial_and_short_tables():
    assert bs.SizePrior.binomial(0.0).log_sizes(2).tolist() == [0.0, -np.inf, -np.inf]
    assert bs.SizePrior.binomial(1.0).log_sizes(2).tolist() == [-np.inf, -np.inf, 0.0]
    np.testing.assert_allclose(np.exp(bs.SizePrior([2, 6]).log_sizes(3)), [0.25, 0.75, 0, 0], atol=1e-15)
    np.testing.assert_allclose(np.exp(bs.SizePrior([2, 6, 0, 0]).log_sizes(1)), [0.25, 0.75], atol=1e-15)
    np.testing.assert_allclose(np.exp(bs.SizePrior.at_most(9).log_sizes(1)), [0.5, 0.5], atol=1e-15)


@pytest.mark.parametrize("n", [0, 1, 2, 3, 10, 11, 60])
def test_log_choose_against_whole_numbers(n):
    np.testing.assert_allclose(log_choose(n), [math.log(math.comb(n, k)) for k in range(n + 1)], rtol=1e-14)


def test_large_logarithms_keep_their_digits_by_mpmath():
    """Differences of log gammas are off by some 1e-11 here; what is left must be the last digit."""
    n = 20_000
    choose, uniform = log_choose(n), bs.SizePrior.uniform().log_per_set(n)
    with mp.workdps(50):
        for k in (1, 137, 6000, 10_000, 13_500, 19_999):
            exact = mp.log(mp.binomial(n, k))
            assert abs(float(exact - mp.mpf(float(choose[k])))) < 4e-12
            assert abs(float(exact + mp.log(n + 1) + mp.mpf(float(uniform[k])))) < 8e-12


def test_running_sum_against_fractions(rng):
    """Sums reach 1e5, so that the last digit is 1.5e-11; the plain sum is off by several of them."""
    terms = rng.normal(size=3000) * 1e3
    exact, total = [], Fraction(0)
    for term in terms.tolist():
        total += Fraction(term)
        exact.append(total)
    worst, plain = (
        max(abs(float(e - Fraction(value))) for e, value in zip(exact, got.tolist(), strict=True))
        for got in (running_sum(terms)[1:], np.cumsum(terms))
    )
    assert worst < 1.5e-11 < plain
    assert running_sum(np.zeros(0)).tolist() == [0.0]


def test_words():
    assert bs.SizePrior.uniform().words == "every number of markers equally probable"
    assert bs.SizePrior.fixed(1500).words == "exactly 1,500 markers"
    assert bs.SizePrior.fixed(1).words == "exactly 1 marker"
    assert "at most 7" in bs.SizePrior.at_most(7).words
    assert "Beta(1, 99)" in bs.SizePrior.beta_binomial(1, 99).words
    assert "0.01" in bs.SizePrior.binomial(0.01).words
    assert bs.SizePrior([1, 2]).words == bs.SizePrior(lambda k: k).words == "the weights given"


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: bs.SizePrior.fixed(-1), "whole number of at least 0, not -1"),
        (lambda: bs.SizePrior.fixed(True), "whole number"),
        (lambda: bs.SizePrior.at_most(2.5), "whole number of at least 0, not 2.5"),
        (lambda: bs.SizePrior.binomial(1.5), "between 0 and 1, not 1.5"),
        (lambda: bs.SizePrior.binomial("a"), "between 0 and 1"),
        (lambda: bs.SizePrior.beta_binomial(0, 1), "positive numbers, not 0 and 1"),
        (lambda: bs.SizePrior.beta_binomial(1, math.inf), "positive numbers"),
        (lambda: bs.SizePrior([]), "one weight for 0, 1, 2"),
        (lambda: bs.SizePrior([0.0, 0.0]), "at least one of them positive"),
        (lambda: bs.SizePrior([1.0, -1.0]), "not negative"),
        (lambda: bs.SizePrior("markers"), "one weight"),
        (lambda: bs.SizePrior.fixed(4).log_sizes(3), "4 markers are supposed, but there are only 3 features"),
        (lambda: bs.SizePrior([1, 1, 1]).log_sizes(1), "weight to more than 1 markers"),
        (lambda: bs.SizePrior(lambda k: 1 / (2 - k)).log_sizes(3), r"failed for 2 \(ZeroDivisionError: division"),
        (lambda: bs.SizePrior({0: 1.0, 1: 2.0}.__getitem__).log_sizes(4), r"failed for 2 \(KeyError: 2\)"),
        (lambda: bs.SizePrior(lambda k: "x").log_sizes(1), "failed for 0"),
        (lambda: bs.SizePrior(lambda k: -1).log_sizes(1), "not negative"),
    ],
)
def test_errors_for_people(make, message):
    with pytest.raises(bs.PriorError, match=message):
        make()


@pytest.mark.parametrize("n_features", [2.5, -1, "3", None, True])
def test_numbers_of_features_that_are_none(n_features):
    prior = bs.SizePrior.uniform()
    for ask in (prior.log_sizes, prior.log_per_set, prior.log_weights, prior.log_probability):
        with pytest.raises(bs.OptionError, match="n_features must be a whole number of at least 0"):
            ask(n_features)
    with pytest.raises(bs.OptionError, match="whole number of at least 1"):
        prior.prior_probability(0)
