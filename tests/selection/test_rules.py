"""Every rule against brute force over all sets, and its edges."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from posteriors import posterior_of

import bayesieve as bs
from bayesieve.selection import as_rule


def all_sets(n):
    for bits in itertools.product([False, True], repeat=n):
        yield np.array(bits)


@pytest.fixture(params=range(5))
def posterior(request):
    rng = np.random.default_rng(request.param)
    return posterior_of(rng.normal(0, 2.5, 12 if request.param == 0 else 10))


def log_set_probability(q, mask):
    return float(np.sum(np.log(np.where(mask, q, 1 - q))))


def test_most_probable_set_is_the_best_of_all_and_equals_mnc(posterior):
    q = posterior.probability
    best = max(all_sets(q.size), key=lambda mask: log_set_probability(q, mask))
    np.testing.assert_array_equal(bs.MostProbable().select(posterior).mask, best)
    np.testing.assert_array_equal(bs.MinimalRisk(0.5).select(posterior).mask, best)
    correct = max(all_sets(q.size), key=lambda mask: np.where(mask, q, 1 - q).sum())
    np.testing.assert_array_equal(correct, best)


@pytest.mark.parametrize("size", [0, 1, 4, 10])
def test_constrained_rules_are_the_best_of_their_size(posterior, size):
    q = posterior.probability
    sets = [mask for mask in all_sets(q.size) if mask.sum() == size]
    by_probability = max(sets, key=lambda mask: log_set_probability(q, mask))
    by_count = max(sets, key=lambda mask: q[mask].sum())
    np.testing.assert_array_equal(bs.MostProbable(size=size).select(posterior).mask, by_probability)
    np.testing.assert_array_equal(bs.FixedSize(size).select(posterior).mask, by_count)


@pytest.mark.parametrize("costs", [(0, 1, 1, 0), (0, 9, 1, 0), (-2, 1, 3, -1), (0, 0.2, 5, 0)])
def test_minimal_risk_has_the_least_risk_of_all_sets(posterior, costs):
    q = posterior.probability
    tp, fp, fn, tn = costs

    def risk(mask):
        return (np.where(mask, tp * q + fp * (1 - q), fn * q + tn * (1 - q))).sum()

    rule = bs.MinimalRisk.from_loss(true_positive=tp, false_positive=fp, false_negative=fn, true_negative=tn)
    selection = rule.select(posterior)
    assert risk(selection.mask) == pytest.approx(min(risk(mask) for mask in all_sets(q.size)), rel=1e-12)
    assert selection.risk(bs.Loss(tp, fp, fn, tn)) == pytest.approx(risk(selection.mask), rel=1e-12)


@pytest.mark.parametrize("alpha", [0.0, 0.05, 0.7, 2.0, 100.0])
def test_neyman_pearson_finds_the_most_true_positives(posterior, alpha):
    q = posterior.probability
    allowed = [mask for mask in all_sets(q.size) if (1 - q)[mask].sum() <= alpha + 1e-12]
    best = max(q[mask].sum() for mask in allowed)
    selection = bs.NeymanPearson(alpha).select(posterior)
    assert selection.expected_true_positives == pytest.approx(best, rel=1e-12)
    assert selection.expected_false_positives <= alpha + 1e-9


def fp_mass(null):
    mass = np.array([1.0])
    for p in null:
        mass = np.convolve(mass, [1 - p, p])
    return mass


@pytest.mark.parametrize("proportion", [0.05, 0.1, 0.3, 0.6])
def test_false_discovery_lists_are_the_longest_allowed(rng, proportion):
    posterior = posterior_of(np.concatenate([rng.normal(3, 2, 25), rng.normal(-2, 2, 60)]))
    null = np.sort(posterior.null_probability)
    k = max([k for k in range(1, 86) if null[:k].mean() <= proportion], default=0)
    assert bs.FalseDiscovery(proportion).select(posterior).n_selected == k
    for confidence in (0.5, 0.9, 0.99):
        sure = [
            k
            for k in range(1, 86)
            if fp_mass(null[:k])[: math.floor(proportion * k + 1e-9) + 1].sum() >= confidence
        ]
        got = bs.FalseDiscovery(proportion, confidence).select(posterior)
        assert got.n_selected == max(sure, default=0)


def test_the_sure_list_does_not_stop_at_the_first_failure():
    """With proportion 1/10 a list of 9 may hold no error and one of 10 may hold one."""
    posterior = posterior_of(np.full(10, 3.0))
    null = float(posterior.null_probability[0])
    assert (1 - null) ** 2 < 0.92 < (1 - null) ** 10 + 10 * null * (1 - null) ** 9 + 0.1
    nine, ten = (fp_mass([null] * k)[: math.floor(0.1 * k) + 1].sum() for k in (9, 10))
    confidence = (nine + ten) / 2
    assert nine < confidence < ten
    assert bs.FalseDiscovery(0.1, confidence).select(posterior).n_selected == 10


def test_ties_go_by_feature_order_and_are_reported():
    posterior = posterior_of([1.0, 2.0, 1.0, 1.0, -3.0])
    selection = bs.FixedSize(2).select(posterior)
    assert selection.names == ("x1", "x0")
    assert selection.n_tied_out == 2
    assert "2 features lie exactly at the cut" in selection.summary()
    assert bs.FixedSize(4).select(posterior).n_tied_out == 0
    at_cut = bs.MinimalRisk(0.5).select(posterior_of([0.0, 1.0]))
    assert at_cut.mask.tolist() == [False, True]
    assert at_cut.n_tied_out == 1


def test_certain_features():
    """Prior probabilities of 0 and 1 give infinite log-odds that every rule accepts."""
    posterior = posterior_of([0.3, -0.2, 4.0]).with_prior([0.0, 1.0, 0.01])
    assert posterior.log_odds[0] == -np.inf
    assert posterior.log_odds[1] == np.inf
    assert posterior.probability[:2].tolist() == [0.0, 1.0]
    assert posterior.ranking.tolist() == [1, 2, 0]
    assert bs.NeymanPearson(0.0).select(posterior).names == ("x1",)
    assert bs.MinimalRisk(0.5).select(posterior).names == ("x1",)
    assert bs.MinimalRisk(1.0).select(posterior).n_selected == 0
    assert bs.MostProbable().select(posterior).log_probability > -np.inf
    assert bs.FalseDiscovery(0.0).select(posterior).names == ("x1",)
    assert bs.NeymanPearson(3.0).select(posterior).n_selected == 3


def test_extreme_thresholds():
    posterior = posterior_of([-800.0, 800.0])
    assert bs.MinimalRisk(0.0).select(posterior).n_selected == 2
    assert bs.MinimalRisk(1.0).select(posterior).n_selected == 0
    assert bs.MinimalRisk(1 - 1e-15).select(posterior).names == ("x1",)


def test_names_and_table_of_a_selection():
    posterior = posterior_of([0.5, 3.0, -1.0], names=("a", "b", "c"))
    selection = bs.MinimalRisk(0.5).select(posterior)
    assert selection.names == ("b", "a")
    assert selection.indices.tolist() == [1, 0]
    table = selection.to_polars()
    assert table["selected"].to_list() == [True, True, False]
    assert table["rank"].to_list() == [2, 1, 3]
    assert table.columns[:5] == ["rank", "feature", "log_odds", "probability", "selected"]
    assert selection.to_pandas().shape == (3, table.width)
    assert selection.threshold == pytest.approx(0.5)


def test_nothing_selected_says_what_would_be_needed():
    text = bs.MinimalRisk(0.9).select(posterior_of([-2.0, -1.0])).summary()
    assert "0 of 2 features selected" in text
    assert "'x1'" in text
    assert "0.269" in text
    assert "3.2 below the cut" in text
    assert "FixedSize" in text
    empty = bs.FixedSize(0).select(posterior_of([1.0]))
    assert "0 of 1" in empty.summary()


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("MNC", bs.MinimalRisk(0.5)),
        (" mnc ", bs.MinimalRisk(0.5)),
        ("MAP", bs.MostProbable()),
        ("mr:0.9", bs.MinimalRisk(0.9)),
        ("CMNC:7", bs.FixedSize(7)),
        ("cmap:7", bs.MostProbable(size=7)),
        ("np:5", bs.NeymanPearson(5)),
        ("fdr:0.1", bs.FalseDiscovery(0.1)),
        ("FDP:0.1:0.9", bs.FalseDiscovery(0.1, 0.9)),
    ],
)
def test_acronyms(text, rule):
    assert as_rule(text) == rule


@pytest.mark.parametrize("text", ["np", "np:", "np:x", "np:1:2", "mnc:0.5", "cmnc:0.5", "mr:7", "bh:0.05", ""])
def test_acronyms_with_other_numbers_are_refused(text):
    with pytest.raises(bs.RuleError):
        as_rule(text)
