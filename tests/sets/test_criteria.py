"""The criteria of section 3, against literal sums over pairs of chosen and true sets."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from posteriors import posterior_of
from scipy import stats

import bayesieve as bs
from bayesieve.posterior import expit
from bayesieve.sets import FeatureSet


def literal(posterior, value):
    """E value(chosen, true) of every chosen set, set by set over Python sets: 4^p terms."""
    p = posterior.n_features
    sets = [frozenset(f for f in range(p) if g >> f & 1) for g in range(2**p)]
    chance = posterior.set_probability
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


def test_expected_numbers_and_distributions_are_literal_sums(random_posteriors):
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
            distribution = [
                literal(posterior, lambda s, t, p, k=k: len(s - t) == k)[bits]
                for k in range(chosen.n_selected + 1)
            ]
            np.testing.assert_allclose(chosen.false_positives.masses(chosen.n_selected), distribution, atol=1e-14)
            distribution = [
                literal(posterior, lambda s, t, p, k=k: len(t - s) == k)[bits]
                for k in range(5 - chosen.n_selected)
            ]
            np.testing.assert_allclose(
                chosen.false_negatives.masses(4 - chosen.n_selected), distribution, atol=1e-14
            )
            distribution = [literal(posterior, lambda s, t, p, k=k: len(t ^ s) == k)[bits] for k in range(5)]
            np.testing.assert_allclose(chosen.mislabelled.masses(4), distribution, atol=1e-14)


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
    assert (strong.probability[:3] == 1.0).all()
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
    assert "There is no marker with probability" in str(nothing)


def independent(log_odds, pi=0.5):
    """The same features as a posterior over sets and as a screen: log-odds add up over a set."""
    together = bs.SetPosterior.of_log_likelihood(
        lambda s: math.fsum(log_odds[f] for f in s), pi, n_features=len(log_odds)
    )
    return together, posterior_of(log_odds).with_prior(pi)


@pytest.mark.parametrize(
    ("log_odds", "alpha", "expected"),
    [
        ((5, -40, -60), 3.0, [0, 1, 2]),
        ((5, -40, -60), 1.5, [0, 1]),
        ((5, -60, -40), 1.5, [0, 2]),
        ((5, -800, -900), 3.0, [0, 1, 2]),
        ((5, -800, -900), 1.5, [0, 1]),
        ((-900, 800, 700), 0.5, [1, 2]),
        ((-900, 800, 700), 1.0, [0, 1, 2]),
    ],
)
def test_neyman_pearson_tells_improbable_features_apart(log_odds, alpha, expected):
    together, alone = independent(log_odds)
    rule = bs.NeymanPearson(alpha)
    assert together.select(rule).indices.tolist() == sorted(rule.select(alone).indices.tolist()) == expected
    assert together.select(bs.FixedSize(len(expected))).indices.tolist() == expected


RULES = (
    *(bs.NeymanPearson(alpha) for alpha in (0.0, 1e-30, 0.013, 0.5, 1.0, 1.5, 3.7)),
    *(bs.FalseDiscovery(share) for share in (0.0, 0.013, 0.3, 0.9)),
    *(bs.MinimalRisk(threshold) for threshold in (0.0, 1e-15, 0.1, 0.5, 0.9, 1.0)),
)


_FEATURES = st.tuples(st.integers(-900_000, 900_000), st.sampled_from([0.5, 0.5, 0.5, 0.0, 1.0]))


@settings(max_examples=150, deadline=None)
@given(st.lists(_FEATURES, min_size=1, max_size=6), st.sampled_from([1e-3, 1e-4, 1e-5]))
def test_extreme_independent_features_are_selected_as_filters_select_them(drawn, unit):
    """Log-odds between -900 and 900, ties, prior probabilities of 0 and 1: rules on a screen against all sets."""
    log_odds, pi = [unit * number for number, _ in drawn], [prior for _, prior in drawn]
    together, alone = independent(log_odds, pi)
    for rule in (*RULES, *(bs.FixedSize(k) for k in range(len(drawn) + 1))):
        np.testing.assert_array_equal(together.select(rule).mask, rule.select(alone).mask, err_msg=str(rule))


def test_one_vocabulary_with_a_screen(rng):
    """Every question about features has the name and the answer that it has for a screen."""
    together, alone = independent(rng.normal(0, 3, 5).tolist(), rng.uniform(0.1, 0.9, 5))
    for name in ("log_odds", "probability", "null_probability", "expected_markers"):
        np.testing.assert_allclose(getattr(together, name), getattr(alone, name), rtol=1e-12)
    for name in ("ranking", "rank", "names", "n_features"):
        np.testing.assert_array_equal(getattr(together, name), getattr(alone, name))
    chosen, picked = FeatureSet.of(together, [4, 1]), bs.ErrorAnalysis.of(alone, [4, 1])
    costs = bs.Loss(true_positive=-1.0, false_positive=3.0, false_negative=0.5, true_negative=0.25)
    for name in ("expected_false_discovery_rate", "expected_false_omission_rate", "n_selected", "log_probability"):
        assert getattr(chosen, name) == pytest.approx(getattr(picked, name), rel=1e-12)
    assert chosen.regret(costs) == pytest.approx(picked.regret(costs), rel=1e-11)
    assert chosen.indices.tolist() == [1, 4]
    assert chosen.names == ("x1", "x4")
    assert (
        together.log_probability_of(chosen) == chosen.log_probability == together.log_probability_of(["x4", "x1"])
    )


def test_expected_roc_of_dependent_features_by_literal_sums(random_posteriors):
    """Expected false and true positives of the first k features, from sums over all true sets."""
    for posterior in random_posteriors:
        curve = bs.expected_roc(posterior)
        fp, tp = literal(posterior, false_positives), literal(posterior, true_positives)
        order = np.argsort(-posterior.log_odds)
        masks = [sum(1 << int(f) for f in order[:k]) for k in range(5)]
        np.testing.assert_allclose(curve.false_positives, fp[masks], atol=1e-14)
        np.testing.assert_allclose(curve.true_positives, tp[masks], atol=1e-14)


def test_masks_of_feature_sets_are_copies_and_read_only():
    posterior = bs.SetPosterior.of_log_likelihood(np.zeros(4), 0.5)
    mine = np.array([True, False])
    chosen = FeatureSet(posterior, mine)
    mine[1] = True
    assert chosen.mask.tolist() == [True, False]
    with pytest.raises(ValueError, match="read-only"):
        chosen.mask[0] = False
    np.testing.assert_array_equal(chosen.posterior.probability, expit(np.zeros(2)))
