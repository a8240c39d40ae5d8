"""Stability selection: its shares, its bound, its subsamples (spec E4)."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from regression_problems import matrix_of, table
from scipy import sparse

import bayesieve as bs
from bayesieve.errors import LabelError, OptionError
from bayesieve.rivals.regression.path import Regression, regression_path
from bayesieve.rivals.regression.stability import StabilitySelection, stability_selection, subsample
from bayesieve.rivals.regression.units import Running

GRID = np.arange(1, 21) / 50
HERE = Running(1)


def made(share=0.5, pairs=False, q=4.0):
    counts = sparse.csc_array(np.array([[8, 0, 3, 0], [9, 1, 6, 0]]))
    return StabilitySelection(np.array([0.2, 0.1]), counts, 10, q, share, pairs, np.ones(2, dtype=bool))


def test_shares_are_maxima_and_means_over_the_penalties():
    found = made()
    assert found.probability.tolist() == [0.9, 0.1, 0.6, 0.0]
    assert found.mean_probability.tolist() == [0.85, 0.05, 0.45, 0.0]
    assert found.selected(0.6).tolist() == [True, False, True, False]


def test_the_bound_is_equation_9_and_falls_with_the_threshold():
    found = made()
    assert found.expected_false(0.75) == pytest.approx(4.0**2 / (0.5 * 4))
    assert found.false_share(0.75) == pytest.approx(8.0)
    assert found.expected_false(0.5) == math.inf
    bounds = [found.expected_false(each) for each in (0.51, 0.6, 0.75, 0.9, 1.0)]
    assert bounds == sorted(bounds, reverse=True)
    assert made(q=0.0).false_share(1.0) == 0.0
    for wanted in (5.0, 8.0, 100.0):
        assert found.expected_false(found.threshold_for(wanted)) == pytest.approx(wanted)
    with pytest.raises(OptionError, match=r"No threshold bounds .* by 1: 4.0 of 4 features .* by 4 only.*most=1 "):
        found.threshold_for(1.0)


def test_the_counts_of_the_paper_contradict_its_bound():
    """Spec E1: q is at least the sum of the shares, and the printed counts alone give 3.15 at 0.51."""
    sums = 0.1 * 97 + 0.25 * 51 + 0.5 * 28 + 0.75 * 12 + 0.9 * 7
    counts = sparse.csc_array((40, 42_450), dtype=np.int64)
    found = StabilitySelection(np.ones(40), counts, 100, sums, 0.9, False, np.ones(40, dtype=bool))
    assert found.expected_false(0.51) == pytest.approx(3.15, abs=0.01)


@pytest.mark.parametrize(
    ("found", "threshold", "says"),
    [
        (made(), 0.5, "no bound on false features for a threshold of 0.5"),
        (made(share=0.9), 0.7, "subsamples of 90% overlap more, so here it is a number and no guarantee"),
        (made(pairs=True), 0.7, "whatever the features depend on"),
        (made(), 0.7, "exchangeable"),
    ],
)
def test_conditions_are_said_in_a_sentence(found, threshold, says):
    assert says in found.conditions(threshold)


def test_one_subsample_is_the_union_of_a_plain_path():
    X, y = table(60, 150, 1)
    found = stability_selection(matrix_of(X, y), Regression(), GRID, n_subsamples=1, seed=4, running=HERE)
    rows = subsample(y.astype(float), 0.5, 4, 0)
    path = regression_path(matrix_of(X[rows], y[rows]), GRID)
    union = path.selected.any(axis=0)
    np.testing.assert_array_equal(found.selected(1.0), union)
    assert set(found.probability) <= {0.0, 1.0}
    assert found.q == union.sum() > 5


def test_shares_are_those_of_paths_one_by_one():
    X, y = table(40, 80, 2)
    found = stability_selection(
        matrix_of(X, y), Regression("linear", 0.5), GRID, n_subsamples=6, share=0.9, running=HERE
    )
    chosen = []
    for number in range(6):
        rows = subsample(y.astype(float), 0.9, 0, number)
        chosen.append(regression_path(matrix_of(X[rows], y[rows]), GRID, link="linear", alpha=0.5).selected)
    np.testing.assert_allclose(found.probability, np.mean(chosen, axis=0).max(axis=0))
    assert found.q == pytest.approx(np.mean([each.any(axis=0).sum() for each in chosen]))
    assert found.q >= found.probability.sum()
    assert (found.probability >= 0).all()
    assert (found.probability <= 1).all()
    sets = [set(np.flatnonzero(found.selected(each))) for each in (0.1, 0.25, 0.5, 0.75, 0.9)]
    assert all(smaller <= larger for larger, smaller in pairwise(sets))


@pytest.mark.parametrize(("share", "sizes"), [(0.5, (7, 13)), (0.9, (28, 210)), (0.7, (10, 10))])
def test_subsamples_take_a_share_of_each_class_without_replacement(share, sizes):
    y = np.random.default_rng(0).permutation(np.repeat([0.0, 1.0], sizes))
    rows = subsample(y, share, 0, 5)
    assert np.unique(rows).size == rows.size
    assert [(y[rows] == label).sum() for label in (0, 1)] == [int(share * size + 1e-9) for size in sizes]
    assert not np.array_equal(rows, subsample(y, share, 0, 6))
    np.testing.assert_array_equal(rows, subsample(y, share, 0, 5))
    np.testing.assert_array_equal(rows, subsample(1.0 - y, share, 0, 5))


def test_pairs_have_no_sample_in_common():
    y = np.repeat([0.0, 1.0], [9, 14])
    for number in range(0, 10, 2):
        first, second = (subsample(y, 0.5, 1, number + half, pairs=True) for half in (0, 1))
        assert not set(first) & set(second)
        assert first.size == second.size == 4 + 7


def test_every_sample_is_drawn_equally_often():
    y = np.repeat([0.0, 1.0], [10, 30])
    drawn = np.zeros(40)
    for number in range(2000):
        drawn[subsample(y, 0.5, 0, number)] += 1
    assert np.abs(drawn / 2000 - 0.5).max() < 4 * math.sqrt(0.25 / 2000)


def test_noise_leaves_few_features_and_markers_stay():
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(80, 400)), np.repeat([0, 1], 40)
    noise = bs.score(X, y, method="stability", n_subsamples=40, n_threads=1)
    assert noise.selected.sum() <= 2
    X[y == 1, :4] += 1.5
    found = bs.score(X, y, method="stability", n_subsamples=40, n_threads=1)
    assert set(found.selection) == {"x0", "x1", "x2", "x3"}
    assert set(found.top(4)) == set(found.selection)
    assert found.diagnostics["expected_false"] == pytest.approx(found.diagnostics["q"] ** 2 / (0.2 * 400))
    assert found.diagnostics["conditions"] == str(found.caveat)


def test_a_path_may_end_before_too_many_features():
    X, y = table(60, 200, 5)
    options = {"n_subsamples": 10, "running": HERE}
    whole = stability_selection(matrix_of(X, y), Regression(), GRID, **options)
    capped = stability_selection(matrix_of(X, y), Regression(), GRID, most=8, **options)
    assert whole.q > 8 >= capped.q > 0
    assert (capped.counts.toarray() <= whole.counts.toarray()).all()
    found = bs.score(X, y, method="stability", penalties=GRID, most=8, pfer=1.0, n_subsamples=10, n_threads=1)
    assert found.diagnostics["threshold"] == pytest.approx(0.5 * (1 + capped.q**2 / 200))
    assert found.diagnostics["expected_false"] == pytest.approx(1.0)
    assert found.selected.sum() == capped.selected(found.diagnostics["threshold"]).sum()


def test_seeds_and_order_of_classes():
    X, y = table(40, 60, 6, sizes=(14, 26))
    options = {"n_subsamples": 8, "running": HERE}
    one = stability_selection(matrix_of(X, y), Regression(), GRID, **options)
    swapped = stability_selection(matrix_of(X, y, classes=[1, 0]), Regression(), GRID, **options)
    np.testing.assert_array_equal(one.counts.toarray(), swapped.counts.toarray())
    again = stability_selection(matrix_of(X, y), Regression(), GRID, seed=1, **options)
    assert not np.array_equal(one.counts.toarray(), again.counts.toarray())


def test_ties_are_ordered_and_constant_features_have_no_score():
    X, y = table(40, 60, 7)
    X[:, 10] = 2.0
    found = bs.score(X, y, method="stability", n_subsamples=4, penalties=[0.25, 0.2], n_threads=1)
    assert np.isnan(found.score[10])
    assert not found.selected[10]
    never = np.flatnonzero(found.score == 0)
    gap = np.abs(X[y == 1].mean(axis=0) - X[y == 0].mean(axis=0)) / np.where(X.std(axis=0) > 0, X.std(axis=0), 1)
    order = [place for place in found.ranking if place in set(never.tolist())]
    assert order == sorted(never.tolist(), key=lambda place: -gap[place])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"threshold": 0.0}, "threshold must be a number between"),
        ({"threshold": 1.1}, "threshold must be"),
        ({"threshold": 0.6, "pfer": 1.0}, "and not both"),
        ({"pfer": -1.0, "n_subsamples": 2, "n_threads": 1}, "pfer must be"),
        ({"share": 1.0}, "share must be"),
        ({"n_subsamples": 0}, "n_subsamples must be"),
        ({"pairs": True, "n_subsamples": 5}, "an even n_subsamples, not share=0.5 and n_subsamples=5"),
        ({"pairs": True, "share": 0.9}, "Pairs are two halves"),
        ({"most": 0}, "most must be"),
        ({"link": "log"}, "link must be"),
    ],
)
def test_bad_options_are_refused(options, message):
    X, y = table(20, 5)
    with pytest.raises(OptionError, match=message):
        bs.score(X, y, method="stability", **options)


def test_too_few_samples_are_refused():
    X, _ = table(20, 5)
    with pytest.raises(LabelError, match="stability needs at least 4 samples of each class"):
        bs.score(X, np.repeat([0, 1], [17, 3]), method="stability")
    with pytest.raises(LabelError, match=r"takes 0\.3 of each class, which of 5 samples leaves fewer than 2"):
        bs.score(X, np.repeat([0, 1], [15, 5]), method="stability", share=0.3)
