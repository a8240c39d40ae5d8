"""The count test: exact under exchangeable labels, by going through all labellings."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import bayesieve as bs
from bayesieve.selection.count_test import CountTest


def test_the_least_rank_is_compared_with_the_least_ranks(rng):
    """By its definition, labelling by labelling."""
    own, shuffled = rng.integers(0, 6, 4), rng.integers(0, 6, (4, 40))
    everyone = np.concatenate([own[:, None], shuffled], axis=1)
    ranks = np.array([[(row >= each).mean() for each in row] for row in everyone])
    least = ranks.min(axis=0)
    test = CountTest.of(np.arange(4.0), own, shuffled)
    np.testing.assert_allclose(test.p_values, [(least <= rank + 1e-12).mean() for rank in ranks[:, 0]])
    assert test.n_as_long.tolist() == [(row[1:] >= row[0]).sum() for row in everyone]


@pytest.mark.parametrize("seed", range(5))
def test_a_list_stands_in_at_most_the_level_of_all_labellings(seed):
    """Whatever the lengths: every labelling in turn is taken for the true one."""
    rng = np.random.default_rng(seed)
    lengths = np.sort(rng.poisson(rng.gamma(0.5, 8.0, size=101), size=(6, 101)), axis=0)[::-1]
    stands = 0
    for k in range(101):
        test = CountTest.of(np.arange(6.0), lengths[:, k], np.delete(lengths, k, axis=1))
        stands += test.stands_at is not None
    assert stands <= 0.05 * 101
    assert stands > 0  # it is not empty of meaning


def test_real_labels_that_are_exchangeable_list_something_in_one_case_of_twenty():
    """All 462 ways to deal 5 of 11 samples, of correlated features; each is screened and judged in turn."""
    rng = np.random.default_rng(7)
    factor = rng.normal(size=(11, 1))
    X = rng.standard_t(3, size=(11, 40)) + 1.5 * factor
    model = bs.CalibratedModel(variance_weight=0.2)
    log_odds = []
    for chosen in itertools.combinations(range(11), 5):
        y = np.isin(np.arange(11), chosen).astype(int)
        log_odds.append(bs.screen(X, y, model=model, shuffles=0, prior_probability=0.2).log_odds)
    log_odds = np.array(log_odds)
    cuts = np.log([1.0, 4.0, 9.0, 19.0, 99.0, 999.0])
    lengths = (log_odds[:, None, :] > cuts[None, :, None]).sum(axis=2).T
    assert lengths[0].max() > 3  # some labellings agree with the factor
    stands = [
        CountTest.of(cuts, lengths[:, k], np.delete(lengths, k, axis=1)).stands_at is not None for k in range(462)
    ]
    assert 0.0 < np.mean(stands) <= 0.05


def test_no_list_stands_where_labellings_are_few():
    test = CountTest.of([0.0], [7], np.zeros((1, 9), int))
    assert not test.can_stand
    assert test.stands_at is None


def selection_of(n_markers, rule, *, shift=2.5, factor=0.0, seed=0, shuffles=99):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(30, 300)) + factor * rng.normal(size=(30, 1)) * rng.normal(size=300)
    X[15:, :n_markers] += shift
    return rule.select(bs.screen(X, [0] * 15 + [1] * 15, shuffles=shuffles))


def test_a_list_of_markers_stands():
    selection = selection_of(10, bs.MinimalRisk(0.5))
    assert selection.n_selected >= 9
    assert selection.count_test.stands_at == 0
    assert not selection.was_cut
    assert "The list stands: none of 99 shuffles" in selection.summary()


def test_a_list_that_shuffles_match_is_emptied_or_shortened():
    """The labels agree with a factor that all features share."""
    rng = np.random.default_rng(3)
    factor = rng.normal(size=(30, 1))
    X = rng.normal(size=(30, 500)) + 3.0 * factor
    y = rng.integers(0, 2, 30)
    posterior = bs.screen(X, y, shuffles=99, prior_probability=0.3)
    before = int((posterior.log_odds > 0).sum())
    selection = bs.MinimalRisk(0.5).select(posterior)
    test = selection.count_test
    if before and test.stands_at is None:
        assert selection.n_selected == 0
        assert selection.was_cut
        assert "Nothing is listed." in selection.summary()
    shuffled = np.array([posterior.shuffled.counts(cut, posterior.prior_log_odds) for cut in test.cuts])
    again = CountTest.of(test.cuts, test.lengths, shuffled)
    np.testing.assert_array_equal(again.p_values, test.p_values)


def test_shortening_takes_the_first_cut_that_stands():
    """Strong markers among weak features that a factor moves: the weak ones go."""
    found = False
    for seed in range(40):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(24, 400)) + 2.0 * rng.normal(size=(24, 1))
        X[12:, :4] += 9.0
        posterior = bs.screen(X, [0] * 12 + [1] * 12, shuffles=60, prior_probability=0.2)
        selection = bs.MinimalRisk(0.5).select(posterior)
        if selection.was_cut and selection.n_selected:
            test = selection.count_test
            cut = test.cuts[test.stands_at]
            assert selection.cut == cut
            np.testing.assert_array_equal(selection.mask, posterior.log_odds > cut)
            assert (test.p_values[: test.stands_at] > 0.05).all()
            found = True
    assert found


def test_a_promised_length_is_kept():
    selection = selection_of(0, bs.FixedSize(25))
    assert selection.n_selected == 25
    assert not selection.was_cut
    assert "The list does not stand" in selection.summary()


@pytest.mark.parametrize("rule", [bs.FalseDiscovery(0.1), bs.NeymanPearson(2.0), bs.FalseDiscovery(0.1, 0.9)])
def test_rules_bound_what_shuffled_labels_say(rule):
    selection = selection_of(12, rule)
    estimate = selection.false_positive_estimate
    posterior = selection.posterior
    counts = posterior.shuffled.counts(np.nextafter(selection.cut, -np.inf), posterior.prior_log_odds)
    assert selection.n_selected >= 8
    assert estimate.source == "shuffles"
    if isinstance(rule, bs.NeymanPearson):
        assert 0.99 * counts.mean() <= 2.0
    elif rule.confidence is None:
        assert 0.99 * counts.mean() <= 0.1 * selection.n_selected
    else:
        assert np.mean(0.99 * counts <= 0.1 * selection.n_selected) >= 0.9


def test_a_list_that_ends_at_a_limit_claims_what_passes_there():
    """Between its last feature and the next, more and more pass with shuffled labels, up to the limit."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(60, 600))
    X[30:, :40] += 1.0
    posterior = bs.screen(X, np.repeat([0, 1], 30), shuffles=60)
    for rule, limit_of in ((bs.FalseDiscovery(0.1), lambda k: 0.1 * k), (bs.NeymanPearson(2.5), lambda k: 2.5)):
        selection = rule.select(posterior)
        k = selection.n_selected
        assert not selection.was_cut
        falling = np.sort(posterior.log_odds)[::-1]
        passing = [
            posterior.null_share * posterior.shuffled.expected(cut, posterior.prior_log_odds)
            for cut in np.linspace(falling[k - 1], falling[k] + 1e-9, 400)
        ]
        claim = selection.false_positive_estimate
        assert claim.expected == pytest.approx(min(limit_of(k), max(passing)), rel=0.05)
        assert claim.expected > passing[0]
        assert claim.high >= claim.expected
    cut = posterior.shuffled.expected(0.0, posterior.prior_log_odds) * posterior.null_share
    assert bs.MinimalRisk(0.5).select(posterior).false_positive_estimate.expected == pytest.approx(cut)
