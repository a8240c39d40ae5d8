"""Theorem 1: filtering is optimal under the independent model, and the gap in its "only if" part."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

import bayesieve as bs

MODEL = bs.GaussianModel.proper(mean_locations=(0.0,))


def _data(rng, n=20, p=5):
    X = rng.normal(size=(n, p)) @ (np.eye(p) + 0.5 * rng.normal(size=(p, p)))
    X[n // 2 :, 0] += 0.8
    return X, np.repeat([0, 1], n // 2)


def test_other_columns_change_a_marginal_under_the_joint_model_and_cannot_under_the_independent_one(rng):
    X, y = _data(rng)
    other = X.copy()
    other[:, 1:] = _data(rng)[0][:, 1:]
    before, after = (bs.enumerate_sets(each, y, model=MODEL, prior=0.3, structure="joint") for each in (X, other))
    assert abs(before.log_odds[0] - after.log_odds[0]) > 1.0
    before, after = (bs.enumerate_sets(each, y, model=MODEL, prior=0.3) for each in (X, other))
    assert before.log_odds[0] == pytest.approx(after.log_odds[0], abs=1e-12)
    before, after = (bs.screen(each, y, model=MODEL, prior_probability=0.3) for each in (X, other))
    assert before.log_odds[0] == after.log_odds[0]  # to the last bit: nothing else enters


def test_a_dependent_prior_is_enough_to_make_features_matter_to_each_other(rng):
    """Independent likelihoods, but the number of markers is given."""
    X, y = _data(rng)
    other = X.copy()
    other[10:, 1] += 4.0
    two = bs.SetTable({(a, b): 1.0 for a in range(5) for b in range(a)})
    before, after = (bs.enumerate_sets(each, y, model=MODEL, prior=two) for each in (X, other))
    assert abs(before.probability[0] - after.probability[0]) > 0.01


def test_minimal_risk_at_every_threshold_is_a_simple_filter(rng):
    """Solved over all sets for thresholds between all probabilities, against one cut for h(f, S^f)."""
    X, y = _data(rng)
    together = bs.enumerate_sets(X, y, model=MODEL, prior=0.3)
    score = np.array([_probability_alone(X[:, f], y) for f in range(5)])
    ordered = np.sort(score)
    for threshold in [0.0, 1e-6, *(ordered[1:] + ordered[:-1]) / 2, 0.5, 0.999999, 1.0]:
        chosen = together.select(bs.MinimalRisk(float(threshold)))
        np.testing.assert_array_equal(chosen.mask, score > threshold)


def _probability_alone(column, y):
    return float(bs.screen(column[:, None], y, model=MODEL, prior_probability=0.3).probability[0])


def test_most_correct_is_at_least_as_correct_as_most_probable_and_the_other_way_round(rng):
    """Numbers of right labels summed over all pairs of sets."""
    differ = 0
    for _ in range(40):
        posterior = bs.SetPosterior.of_log_likelihood(rng.normal(0, 2, size=32), 0.5)
        best, correct = posterior.select("MAP"), posterior.select("MNC")
        right = [
            sum(p * (5 - (chosen.bits ^ true).bit_count()) for true, p in enumerate(posterior.set_probability))
            for chosen in (best, correct)
        ]
        assert right[1] >= right[0] - 1e-12
        assert best.probability >= correct.probability
        differ += best.bits != correct.bits
    assert differ > 5


@pytest.mark.parametrize("with_features", ["equal", "own"])
def test_independent_model_map_is_mnc_cmap_is_cmnc_and_marginals_are_the_filter(rng, with_features):
    X, y = _data(rng, n=24, p=7)
    pi, model = rng.uniform(0.05, 0.9, 7), MODEL
    if with_features == "own":
        priors = [_own_prior(rng) for _ in range(3)]
        model = bs.GaussianModel(tuple(priors[:2]), priors[2])
    screened = bs.screen(X, y, model=model, prior_probability=pi)
    posterior = bs.enumerate_sets(X, y, model=model, prior=pi)
    np.testing.assert_allclose(posterior.probability, 1 / (1 + np.exp(-screened.log_odds)), rtol=1e-12)
    np.testing.assert_allclose(posterior.log_odds, screened.log_odds, rtol=1e-12, atol=1e-12)
    assert posterior.select("MAP").bits == posterior.select("MNC").bits
    np.testing.assert_array_equal(posterior.select("MNC").mask, bs.MinimalRisk(0.5).select(screened).mask)
    for size in range(8):
        most_probable, most_correct = (
            posterior.select(bs.MostProbable(size=size)),
            posterior.select(bs.FixedSize(size)),
        )
        assert most_probable.bits == most_correct.bits
        np.testing.assert_array_equal(most_correct.mask, bs.FixedSize(size).select(screened).mask)
    for alpha in (0.0, 0.01, 0.3, 1.0, 2.5, 7.0):
        rule = bs.NeymanPearson(alpha)
        np.testing.assert_array_equal(posterior.select(rule).mask, rule.select(screened).mask)
    for share in (0.0, 0.01, 0.2, 0.5):
        rule = bs.FalseDiscovery(share)
        np.testing.assert_array_equal(posterior.select(rule).mask, rule.select(screened).mask)


def _own_prior(rng):
    kappa, s, nu = rng.uniform(1, 5, 7), rng.uniform(0.5, 2, 7), rng.uniform(0.1, 1, 7)
    return bs.NormalInverseGamma(kappa, s, nu, rng.normal(0, 0.3, 7))


# The counter-example: a dependent model that no independent model can follow, although it filters.

EQUAL = ((Fraction(9, 10), Fraction(9, 10)), (Fraction(1, 10), Fraction(1, 10)))
DISTINCT = ((Fraction(9, 10), Fraction(8, 10)), (Fraction(1, 10), Fraction(2, 10)))


def _likelihood(sample, distributions):
    """p(S | G) of one sample per class; features 1 and 2 have the same distribution whatever their status."""

    def of_set(features):
        if 0 not in features:
            return np.log(0.25)
        of_one = distributions[0] if len(features & {1, 2}) == 1 else distributions[1]
        chances = [p if x else 1 - p for x, p in zip(sample, of_one, strict=True)]
        return float(np.log(float(chances[0] * chances[1])))

    return of_set


def _marginals(distributions):
    return {
        sample: bs.SetPosterior.of_log_likelihood(_likelihood(sample, distributions), 0.5, n_features=3)
        for sample in product((0, 1), repeat=2)
    }


def test_counter_example_has_the_printed_marginals():
    for sample, posterior in _marginals(EQUAL).items():
        expected = Fraction(41, 66) if sample[0] == sample[1] else Fraction(9, 34)
        assert posterior.probability[0] == pytest.approx(float(expected), rel=1e-14)
        np.testing.assert_allclose(posterior.probability[1:], 0.5, rtol=1e-14)


@pytest.mark.parametrize("distributions", [EQUAL, DISTINCT], ids=["equal", "distinct"])
def test_counter_example_minimal_risk_is_a_simple_filter_at_every_threshold(distributions):
    """Over all sets, and by one cut for scores that are looked up by the feature's own data."""
    same, other = (41, 9) if distributions is EQUAL else (37, 13)
    score = {True: Fraction(same, same + 25), False: Fraction(other, other + 25)}
    for sample, posterior in _marginals(distributions).items():
        scores = np.array([score[sample[0] == sample[1]], Fraction(1, 2), Fraction(1, 2)])
        for threshold in [Fraction(k, 1000) for k in range(1001)]:
            chosen = posterior.select(bs.MinimalRisk(float(threshold)))
            np.testing.assert_array_equal(chosen.mask, scores > threshold)


def test_repaired_independent_model_has_the_marginals_of_the_counter_example():
    """A joint prior of both classes' parameters, with the rest of the set as a hidden part H, in whole numbers."""
    for sample, posterior in _marginals(EQUAL).items():
        given_h = [[p if x else 1 - p for x, p in zip(sample, each, strict=True)] for each in EQUAL]
        good = sum(Fraction(1, 2) * first * second for first, second in given_h)
        bad = Fraction(1, 4)
        expected = Fraction(41, 66) if sample[0] == sample[1] else Fraction(9, 34)
        assert good / (good + bad) == expected
        separate = np.prod([sum(Fraction(1, 2) * each[y] for each in given_h) for y in (0, 1)])
        assert separate / (separate + bad) == Fraction(
            1, 2
        )  # a product over the classes cannot tell samples apart

        def log_likelihood(features, good=good):
            return float(np.log(float(good) if 0 in features else 0.25))

        repaired = bs.SetPosterior.of_log_likelihood(log_likelihood, 0.5, n_features=3)
        np.testing.assert_allclose(repaired.log_odds, posterior.log_odds, atol=1e-14)
        for threshold in (0.1, 0.3, 0.55, 0.7):
            rule = bs.MinimalRisk(threshold)
            assert repaired.select(rule).bits == posterior.select(rule).bits


def test_counter_example_distinct_class_variant():
    """Averages of the two products of chances, by hand: 0.37 and 0.13 against 0.25."""
    for sample, posterior in _marginals(DISTINCT).items():
        expected = Fraction(37, 62) if sample[0] == sample[1] else Fraction(13, 38)
        assert posterior.probability[0] == pytest.approx(float(expected), rel=1e-14)
        np.testing.assert_allclose(posterior.probability[1:], 0.5, rtol=1e-14)


@pytest.mark.parametrize(
    ("distributions", "expected"), [(EQUAL, (0.41 / 0.09) ** 2), (DISTINCT, (0.37 / 0.13) ** 2)]
)
def test_counter_example_odds_product(distributions, expected):
    odds = {
        sample: float(np.exp(posterior.log_odds[0])) for sample, posterior in _marginals(distributions).items()
    }
    assert _odds_product(odds) == pytest.approx(expected, rel=1e-12)
    assert expected > 1
    if distributions is EQUAL:
        assert _odds_product(odds) == pytest.approx(20.75, abs=5e-3)


def test_odds_product_of_independent_models_is_at_most_one(rng):
    """Cauchy-Schwarz: the bad one is exchangeable, the good one cancels. Random mixtures, and Beta-Bernoulli."""
    largest = 0.0
    for _ in range(50):
        theta, weight = rng.beta(0.5, 0.5, 4), rng.dirichlet(np.ones(4))
        good, pi = rng.uniform(0.05, 0.95, 2), rng.uniform(0.05, 0.95)
        odds = {}
        for sample in product((0, 1), repeat=2):
            bad = (weight * np.prod([theta if x else 1 - theta for x in sample], axis=0)).sum()
            marker = np.prod([p if x else 1 - p for x, p in zip(sample, good, strict=True)])
            posterior = bs.SetPosterior.of_log_likelihood(np.log([bad, marker]), pi)
            odds[sample] = float(np.exp(posterior.log_odds[0]))
        largest = max(largest, _odds_product(odds))
    assert 0.1 < largest <= 1 + 1e-12


@pytest.mark.parametrize("alpha", [0.1, 0.5, 3.0])
def test_odds_product_of_beta_bernoulli_screens_is_at_most_one(alpha):
    model = bs.CategoricalModel(alpha, levels=(0, 1))
    odds = {}
    for sample in product((0, 1), repeat=2):
        screened = bs.screen(np.array(sample)[:, None], ["a", "b"], model=model, prior_probability=0.5)
        odds[sample] = float(np.exp(screened.log_odds[0]))
    assert _odds_product(odds) == pytest.approx((alpha / (alpha + 1)) ** 2, rel=1e-12)  # from Beta moments


def _odds_product(odds):
    return odds[1, 1] * odds[0, 0] / (odds[1, 0] * odds[0, 1])
