"""The criteria of section 3, against literal sums over pairs of chosen and true sets."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

import bayesieve as bs
from bayesieve.feature_sets.feature_set import FeatureSet


def literal(posterior, value):
    """E value(chosen, true) of every chosen set, set by set over Python sets: 4^p terms."""
    p = posterior.n_features
    sets = [frozenset(f for f in range(p) if g >> f & 1) for g in range(2**p)]
    chance = posterior.probability
    return np.array([math.fsum(w * value(s, t, p) for w, t in zip(chance, sets, strict=True)) for s in sets])


def true_positives(chosen, true, p):
    del p
    return len(chosen & true)


def false_positives(chosen, true, p):
    del p
    return len(chosen - true)


def sizes(p):
    return np.array([g.bit_count() for g in range(2**p)])


@pytest.fixture
def random_posteriors(rng):
    return [bs.SetPosterior.of_log_likelihood(rng.normal(0, 2.5, 16), rng.uniform(0.2, 0.8, 4)) for _ in range(12)]


@pytest.mark.parametrize("threshold", [0.1, 0.5, 0.8])
def test_minimal_risk_is_the_least_literal_loss(random_posteriors, threshold):
    def loss(chosen, true, p):
        del p
        return threshold * len(chosen - true) + (1 - threshold) * len(true - chosen)

    for posterior in random_posteriors:
        assert posterior.select(bs.MinimalRisk(threshold)).bits == np.argmin(literal(posterior, loss))


def test_minimal_risk_of_any_loss(random_posteriors):
    """Four costs: the literal expected loss is least at the threshold that follows from them."""
    costs = bs.Loss(true_positive=-1.0, false_positive=3.0, false_negative=0.5, true_negative=0.25)

    def loss(chosen, true, p):
        tp, fp, fn = len(chosen & true), len(chosen - true), len(true - chosen)
        return -1.0 * tp + 3.0 * fp + 0.5 * fn + 0.25 * (p - tp - fp - fn)

    for posterior in random_posteriors:
        values = literal(posterior, loss)
        chosen = posterior.select(bs.MinimalRisk(costs.threshold))
        assert chosen.bits == np.argmin(values)
        assert chosen.risk(costs) == pytest.approx(values.min(), rel=1e-12)
        assert FeatureSet.of(posterior, [0, 3]).risk(costs) == pytest.approx(values[0b1001], rel=1e-12)


def test_map_minimises_the_zero_one_loss(random_posteriors):
    for posterior in random_posteriors:
        wrong = literal(posterior, lambda chosen, true, p: float(chosen != true))
        assert posterior.select(bs.MostProbable()).bits == np.argmin(wrong)
        for size in range(5):
            of_size = np.where(sizes(4) == size, wrong, np.inf)
            assert posterior.select(bs.MostProbable(size=size)).bits == np.argmin(of_size)


def test_fixed_size_mislabels_least(random_posteriors):
    for posterior in random_posteriors:
        wrong = literal(posterior, lambda chosen, true, p: len(chosen ^ true))
        for size in range(5):
            of_size = np.where(sizes(4) == size, wrong, np.inf)
            assert posterior.select(bs.FixedSize(size)).bits == np.argmin(of_size)


@pytest.mark.parametrize("alpha", [0.0, 0.1, 0.4, 1.0, 1.7, 4.0])
def test_neyman_pearson_by_brute_force(random_posteriors, alpha):
    for posterior in random_posteriors:
        found, wrong = literal(posterior, true_positives), literal(posterior, false_positives)
        chosen = posterior.select(bs.NeymanPearson(alpha))
        assert wrong[chosen.bits] <= alpha + 1e-12
        assert found[chosen.bits] == pytest.approx(found[wrong <= alpha].max(), rel=1e-12)


@pytest.mark.parametrize("share", [0.0, 0.1, 0.3, 0.6])
def test_false_discovery_by_brute_force(random_posteriors, share):
    for posterior in random_posteriors:
        wrong, found = literal(posterior, false_positives), literal(posterior, true_positives)
        within = wrong <= share * sizes(4)
        largest = within & (sizes(4) == sizes(4)[within].max())
        assert posterior.select(bs.FalseDiscovery(share)).bits == np.argmax(np.where(largest, found, -1.0))


def test_expected_numbers_and_laws_are_literal_sums(random_posteriors):
    for posterior in random_posteriors[:4]:
        for bits in (0b0000, 0b0101, 0b1110, 0b1111):
            chosen = FeatureSet.of(posterior, [f for f in range(4) if bits >> f & 1])
            assert chosen.bits == bits
            tp, fp = literal(posterior, true_positives)[bits], literal(posterior, false_positives)[bits]
            fn = literal(posterior, lambda s, t, p: len(t - s))[bits]
            assert chosen.expected_true_positives == pytest.approx(tp, abs=1e-13)
            assert chosen.expected_false_positives == pytest.approx(fp, abs=1e-13)
            assert chosen.expected_false_negatives == pytest.approx(fn, abs=1e-13)
            assert chosen.expected_true_negatives == pytest.approx(4 - tp - fp - fn, abs=1e-13)
            assert chosen.expected_mislabelled == pytest.approx(fp + fn, abs=1e-13)
            law = [literal(posterior, lambda s, t, p, k=k: len(s - t) == k)[bits] for k in range(chosen.size + 1)]
            np.testing.assert_allclose(chosen.false_positives.masses(chosen.size), law, atol=1e-14)
            law = [literal(posterior, lambda s, t, p, k=k: len(t - s) == k)[bits] for k in range(5 - chosen.size)]
            np.testing.assert_allclose(chosen.false_negatives.masses(4 - chosen.size), law, atol=1e-14)
            law = [literal(posterior, lambda s, t, p, k=k: len(t ^ s) == k)[bits] for k in range(5)]
            np.testing.assert_allclose(chosen.mislabelled.masses(4), law, atol=1e-14)


def test_false_positives_of_independent_features_are_poisson_binomial(rng):
    """Equal coins: SciPy's binomial. Dependence: a coin thrown once for all features."""
    odds = rng.normal()
    independent = bs.SetPosterior.of_log_likelihood(lambda s: odds * len(s), 0.5, n_features=6)
    chosen = FeatureSet.of(independent, range(4))
    expected = stats.binom(4, 1 / (1 + np.exp(odds))).pmf(np.arange(5))
    np.testing.assert_allclose(chosen.false_positives.masses(4), expected, rtol=1e-12)
    together = bs.SetPosterior.of_log_likelihood(np.zeros(64), bs.SetTable({(): 1.0, tuple(range(6)): 3.0}))
    np.testing.assert_allclose(
        FeatureSet.of(together, range(4)).false_positives.pmf, [0.75, 0, 0, 0, 0.25], atol=1e-15
    )


def test_ties_go_to_the_smallest_bit_mask_whatever_the_rounding():
    for shift in (0.0, 1.0 / 3.0, 1e3 / 7.0):
        equal = bs.SetPosterior.of_log_likelihood(np.full(8, shift), 0.5)
        assert equal.select("MAP").bits == 0
        assert equal.select("MNC").bits == 0  # exactly at the threshold: left out
        assert equal.select(bs.MostProbable(size=2)).bits == 0b011
        assert equal.select(bs.FixedSize(2)).bits == 0b011
        assert equal.select(bs.NeymanPearson(1.0)).bits == 0b011
    weights = np.log([0.1 + 0.2, 0.3, 1e-9, 1e-9])  # 0.30000000000000004 and 0.3
    assert bs.SetPosterior.of_log_likelihood(weights[[1, 0, 2, 3]], 0.5).select("MAP").bits == 0


def test_strong_features_are_told_apart_where_probabilities_saturate():
    strong = bs.SetPosterior.of_log_likelihood(
        lambda s: sum((60.0, 90.0, 75.0, -2.0)[f] for f in s), 0.5, n_features=4
    )
    assert (strong.marginal_probability[:3] == 1.0).all()
    assert [strong.select(bs.FixedSize(k)).bits for k in range(5)] == [0, 0b0010, 0b0110, 0b0111, 0b1111]
    assert strong.select("MNC").bits == strong.select("MAP").bits == 0b0111


def test_known_features():
    known = bs.SetPosterior.of_log_likelihood(np.zeros(8), [1.0, 0.0, 0.25])
    assert known.log_odds.tolist()[:2] == [np.inf, -np.inf]
    assert known.select("MNC").bits == known.select("MAP").bits == 0b001
    assert known.select(bs.NeymanPearson(0.0)).bits == 0b001
    assert known.select(bs.FixedSize(2)).bits == 0b101
    assert known.select(bs.MinimalRisk(0.0)).bits == 0b101
    assert known.select(bs.MinimalRisk(1.0)).bits == 0
    with pytest.raises(bs.RuleError, match="positive probability"):
        known.select(bs.MostProbable(size=0))


def test_errors_say_what_works():
    posterior = bs.SetPosterior.of_log_likelihood(np.zeros(4), 0.5)

    class Mine:
        """A rule of one's own."""

        def select(self, posterior):
            return posterior

    with pytest.raises(bs.RuleError, match="MostProbable, MinimalRisk, FixedSize"):
        posterior.select(Mine())
    with pytest.raises(bs.RuleError, match="independent features only"):
        posterior.select(bs.FalseDiscovery(0.1, confidence=0.9))
    with pytest.raises(bs.RuleError, match="only 2"):
        posterior.select(bs.FixedSize(3))
    with pytest.raises(bs.RuleError, match="Unknown rule"):
        posterior.select("best")
    with pytest.raises(bs.RuleError, match="no features called"):
        posterior.log_probability_of(["nobody"])


def test_summary_of_nothing():
    nothing = bs.SetPosterior.of_log_likelihood([0.0, -3.0], 0.5, feature_names=["gene"]).select("MAP")
    assert str(nothing).startswith("0 of 1 features selected (the most probable set).")
