"""What passes under shuffled labels, and the test of the length of a list, against counting by hand."""

from __future__ import annotations

import numpy as np
import pytest

import bayesieve as bs
from bayesieve.posterior import ShuffledLabels
from bayesieve.selection import FalsePositiveEstimate
from bayesieve.selection.count_test import CountTest


def test_how_far_features_are_reached_by_counting(rng):
    own, shuffled = np.round(rng.normal(size=60), 1), [np.round(rng.normal(size=60), 1) for _ in range(7)]
    found = ShuffledLabels.collect(own, shuffled)
    reaching = np.array([np.mean([(each >= value).sum() for each in shuffled]) for value in own])
    np.testing.assert_allclose(found.reaching, reaching)
    rate = reaching / np.array([(own >= value).sum() for value in own])
    share = [min(1.0, rate[own <= value].min()) for value in own]  # never falls from a stronger to a weaker one
    np.testing.assert_allclose(found.share, share)


def test_a_small_case_by_hand():
    found = ShuffledLabels.collect(np.array([3.0, 1.0, -1.0]), [np.array([2.0, -1.0, -2.0]), np.zeros(3)])
    assert found.reaching.tolist() == [0.0, 0.5, 2.5]
    assert found.share == pytest.approx([0.0, 0.25, 2.5 / 3])
    assert found.take([1]).share.tolist() == [0.25]


def test_numbers_over_a_cut_by_counting(rng):
    shuffled = [rng.normal(size=50) for _ in range(20)]
    found = ShuffledLabels.collect(np.zeros(50), shuffled)
    for cut, prior in ((0.0, -0.5), (0.3, -0.2), (2.0, -1.0)):
        counts = np.array([(each + prior > cut).sum() for each in shuffled])
        assert found.counts(cut, prior).tolist() == counts.tolist()
        assert found.expected(cut, prior) == counts.mean()
        low, high = found.interval(cut, prior)
        assert (np.sort(counts)[0], np.sort(counts)[18]) == (low, high)
    assert found.n_shuffles == 20
    assert found.take([0]).counts(0.0, -0.5).tolist() == found.counts(0.0, -0.5).tolist()


def test_the_count_test_by_hand():
    test = CountTest.of([0.0, 2.0], [12, 5], np.zeros((2, 99), int))
    assert test.stands_at == 0
    assert test.p_values.tolist() == [0.01, 0.01]
    assert CountTest.of([0.0], [3], np.full((1, 99), 3)).stands_at is None
    few = CountTest.of([0.0], [3], np.zeros((1, 10), int))
    assert not few.can_stand
    second = CountTest.of([0.0, 2.0], [12, 5], np.array([[20] * 50 + [0] * 49, [0] * 99]))
    assert second.stands_at == 1
    assert second.n_as_long.tolist() == [50, 0]


def test_the_count_test_holds_its_level(rng):
    """Exchangeable lengths of nested lists, strongly dependent: a list stands in at most one of twenty cases."""
    n_stand = 0
    for _ in range(2000):
        longest = rng.poisson(rng.gamma(0.5, 20.0, size=40))
        lengths = np.array([longest, rng.binomial(longest, 0.3), rng.binomial(longest, 0.05)])
        lengths.sort(axis=0)
        n_stand += CountTest.of([0.0, 1.0, 2.0], lengths[::-1, 0], lengths[::-1, 1:]).stands_at is not None
    assert n_stand <= 2000 * 0.05 + 3 * np.sqrt(2000 * 0.05 * 0.95)


def test_the_estimate_in_words():
    assert (
        FalsePositiveEstimate(1.52, 0.0, 4.0, "shuffles", 0.01).describe() == "1.5 expected (90% interval 0 to 4)"
    )
    assert FalsePositiveEstimate(0.0, 0.0, 0.0, "shuffles", 0.01).describe().startswith("fewer than 0.01 expected")


@pytest.fixture
def shuffled_posterior(rng):
    X = rng.normal(size=(30, 200))
    X[15:, :10] += 2.0
    return bs.screen(X, [0] * 15 + [1] * 15, shuffles=20)


def test_shuffles_go_where_they_no_longer_fit(shuffled_posterior):
    """A prior per feature or on their number, and the least evidence without any sample, change the order."""
    assert shuffled_posterior.shuffled.n_shuffles == 20
    assert shuffled_posterior.with_prior(0.2).shuffled is shuffled_posterior.shuffled
    assert shuffled_posterior.with_prior(np.linspace(0.01, 0.2, 200)).shuffled is None
    sized = bs.with_size_prior(shuffled_posterior, bs.SizePrior.uniform())
    assert sized.posterior.shuffled is None
    assert sized.select("MNC").n_selected >= 5


def test_a_selector_shuffles_as_it_is_told(rng):
    X = rng.normal(size=(30, 50))
    X[15:, 0] += 4.0
    y = [0] * 15 + [1] * 15
    selector = bs.OBFSelector(shuffles=25, random_state=3).fit(X, y)
    expected = bs.screen(X, y, shuffles=25, seed=3)
    np.testing.assert_array_equal(selector.posterior_.shuffled.reaching, expected.shuffled.reaching)
    assert selector.selection_.count_test.n_shuffles == 25
    assert bs.OBFSelector(shuffles=0).fit(X, y).posterior_.shuffled is None
    assert bs.OBFSelector(shuffles=25).partial_fit(X, y).posterior_.shuffled is None
    with pytest.raises(bs.OptionError, match="shuffles"):
        bs.OBFSelector(shuffles="many").fit(X, y)


def test_certain_features_neither_pass_nor_fail_with_shuffled_labels(rng):
    """Markers by assumption stay listed whatever shuffled labels say, and do not count as their doing."""
    X = rng.normal(size=(30, 200))
    X[15:, 2:12] += 2.5
    y = [0] * 15 + [1] * 15
    prior = np.full(200, 0.01)
    prior[[0, 1]] = 1.0, 0.0
    posterior = bs.screen(X, y, prior_probability=prior, shuffles=40)
    assert posterior.shuffled.reaching[:2].tolist() == [0.0, 200.0]
    assert posterior.shuffled.share[:2].tolist() == [0.0, 1.0]
    assert np.isfinite(posterior.expected_fdr).all()
    for rule in (bs.MinimalRisk(0.5), bs.NeymanPearson(0.5), bs.FalseDiscovery(0.1), bs.FalseDiscovery(0.1, 0.9)):
        selection = rule.select(posterior)
        assert selection.mask[0]
        assert not selection.mask[1]
        assert selection.n_selected > 5
    noise = np.array(X)
    noise[:, 2:12] = rng.normal(size=(30, 10))
    weak = np.where(np.isin(prior, (0.0, 1.0)), prior, 0.3)
    selection = bs.MinimalRisk(0.5).select(bs.screen(noise, y, prior_probability=weak, shuffles=40))
    assert selection.was_cut
    assert np.flatnonzero(selection.mask).tolist() == [0]
    assert "Only features that were certain are listed" in selection.summary()
    assert bs.FalseDiscovery(0.1, 0.9).select(bs.screen(X, y, prior_probability=1.0, shuffles=20)).n_selected > 0
