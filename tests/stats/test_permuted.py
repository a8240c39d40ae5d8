"""Sums under permuted labels, against literally relabelled data; drawing and counting, against brute force."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import bayesieve as bs
from bayesieve.stats import (
    CentredValues,
    Relabellings,
    Thresholds,
    count_exceedances,
    deal,
    reach,
    share_under_null,
)
from bayesieve.stats.resampling.permuted import n_labellings

CLASSES = ("a", "b", "c")


@pytest.mark.parametrize("counts", [(3, 3), (1, 4), (2, 2, 2), (1, 2, 3), (0, 2, 2)])
def test_all_labellings_are_those_of_itertools(counts):
    codes = np.repeat(np.arange(len(counts)), counts)[::-1].copy()
    every = set(itertools.permutations(codes.tolist()))
    found = Relabellings.draw(codes, len(counts), 10_000)
    assert n_labellings(counts) == len(every)
    assert found.complete
    assert {tuple(row) for row in found.codes.tolist()} == every - {tuple(codes.tolist())}
    assert found.n_permutations == len(every) - 1


@pytest.mark.parametrize("wanted", [1, 60, 68, 69, 70])
def test_draws_are_distinct_keep_the_sizes_and_leave_out_the_labels_as_they_are(wanted):
    codes = np.array([0, 1, 0, 1, 1, 0, 0, 1])
    found = Relabellings.draw(codes, 2, wanted, seed=3)
    assert found.complete == (wanted >= 69)
    assert len({row.tobytes() for row in found.codes}) == found.n_permutations == min(wanted, 69)
    assert not (found.codes == codes).all(axis=1).any()
    assert (np.sort(found.codes, axis=1) == np.sort(codes)).all()


def test_draws_depend_on_the_seed_alone_and_are_uniform():
    codes = np.repeat([0, 1, 2], [10, 20, 30])
    first, again, other = (Relabellings.draw(codes, 3, 4000, seed) for seed in (1, 1, 2))
    assert (first.codes == again.codes).all()
    assert not (first.codes == other.codes).all()
    for k, share in enumerate((1 / 6, 1 / 3, 1 / 2)):  # every sample is of class k equally often
        often = (first.codes == k).mean(axis=0)
        assert np.abs(often - share).max() < 5 * np.sqrt(share * (1 - share) / 4000)


def test_one_class_cannot_be_permuted():
    with pytest.raises(bs.OptionError, match="at least two classes"):
        Relabellings.draw(np.zeros(5, np.int64), 2, 10)


def relabelled(X, codes):
    """Moments of literally relabelled data, one labelling after the other: the independent route."""
    return [bs.Moments.from_matrix(X, [CLASSES[k] for k in row], missing="omit") for row in codes]


TABLES = {
    "plain": lambda rng: rng.normal(size=(40, 12)),
    "far from zero": lambda rng: 1e8 + rng.normal(size=(40, 12)),
    "other units": lambda rng: rng.normal(size=(40, 12)) * 10.0 ** rng.integers(-60, 60, size=12),
    "missing": lambda rng: np.where(rng.random((40, 12)) < 0.2, np.nan, 3.0 + rng.normal(size=(40, 12))),
    "skewed": lambda rng: np.exp(2.0 * rng.normal(size=(40, 12))),
    "outliers": lambda rng: rng.normal(size=(40, 12)) + 1e6 * (rng.random((40, 12)) < 0.03),
    "counts": lambda rng: rng.poisson(0.2, size=(40, 12)).astype(float),
}


@pytest.mark.parametrize("sizes", [(20, 20), (35, 5), (3, 37), (15, 15, 10), (4, 30, 6)])
@pytest.mark.parametrize("table", TABLES)
def test_moments_equal_those_of_literally_relabelled_data(table, sizes):
    rng = np.random.default_rng(7)
    X, codes = TABLES[table](rng), np.repeat(np.arange(len(sizes)), sizes)
    others = Relabellings.draw(codes, len(sizes), 60)
    which = slice(10, 60)
    sums = CentredValues.of(X).sums(others, which)
    moments, unsure = sums.moments(CLASSES[: len(sizes)], slice(2, 12))
    assert unsure.shape == (10, 50)
    assert table in ("outliers", "counts", "skewed") or unsure.mean() < 0.15
    for r, exact in enumerate(relabelled(X[:, 2:], others.codes[which])):
        sure = ~unsure[:, r]
        mine = moments.take(np.arange(10) * 50 + r)  # all permutations of a feature stand together
        assert (np.broadcast_to(mine.counts, exact.mean.shape) == exact.counts)[:, sure].all()
        np.testing.assert_allclose(
            mine.centred_squares[:, sure], exact.centred_squares[:, sure], rtol=1e-10, atol=0
        )
        spread = np.sqrt(exact.pool().centred_squares / exact.pool().counts)
        apart = (mine.mean - exact.mean) + (mine.residual - exact.residual)
        assert (np.abs(apart) <= 1e-10 * spread)[:, sure].all()


def test_lost_digits_and_single_values_are_marked():
    X = np.array([[5.0, 0.0, 1.0], [5.0, 0.0, np.nan], [0.0, 3.0, np.nan], [1.0, 9.0, 2.0], [2.0, 0.0, 3.0]])
    others = Relabellings.draw(np.array([0, 0, 1, 1, 1]), 2, 100)
    _, unsure = CentredValues.of(X).sums(others, slice(0, 9)).moments(("a", "b"), slice(0, 3))
    for r, row in enumerate(others.codes):
        groups = [[X[row == k, j] for k in (0, 1)] for j in range(3)]
        constant = [any(np.ptp(group) == 0 for group in pair) for pair in groups[:2]]
        assert (np.array(constant) <= unsure[:2, r]).all()
        few = any((~np.isnan(group)).sum() < 2 for group in groups[2])
        assert few <= unsure[2, r]


def test_dealt_values_are_those_of_the_order():
    rng = np.random.default_rng(0)
    values, order = rng.normal(size=(6, 4)), np.argsort(rng.random((3, 6)), axis=1)
    rows, places, dealt = np.array([3, 0, 3]), np.array([0, 2, 1]), np.empty((3, 6))
    deal(values, rows, order, places, dealt)
    assert (dealt == np.array([values[order[k], j] for j, k in zip(rows, places, strict=True)])).all()


numbers = st.lists(st.one_of(st.integers(-3, 3).map(float), st.floats(-1e6, 1e6)), min_size=1, max_size=40)


@settings(max_examples=60, deadline=None)
@given(numbers, numbers, st.floats(-2, 2))
def test_counting_equals_comparing_every_pair(shown, values, cut):
    thresholds, block = Thresholds.of(np.array(shown)), np.array([values, values[::-1], values])
    own, odds = np.array([0.0, 1.0, 2.0]), np.array([-0.5, np.nan, 0.5])
    n = len(values)
    into = np.zeros(3, int), np.zeros(len(shown) + 1, int), np.zeros(n, int), np.full(n, -np.inf)
    count_exceedances(block, own, odds, cut, thresholds, into)
    assert into[0].tolist() == (block >= own[:, None]).sum(axis=1).tolist()
    pool = block[[0, 2]]
    reached = np.cumsum(into[1][::-1])[::-1][1:]  # values that reach each threshold, in increasing order
    assert reached.tolist() == [(pool >= threshold).sum() for threshold in sorted(shown)]
    assert into[2].tolist() == (odds[[0, 2], None] + pool > cut).sum(axis=0).tolist()
    assert into[3].tolist() == pool.max(axis=0).tolist()


def test_share_by_chance_is_the_least_over_all_weaker_cuts():
    rng = np.random.default_rng(1)
    values = np.round(rng.normal(size=50), 1)  # with ties
    chance = 30.0 * np.exp(-values)
    raw = {t: c / (values >= t - 1e-12).sum() for t, c in zip(values, chance, strict=True)}
    expected = [min(share for t, share in raw.items() if t <= v) for v in values]
    np.testing.assert_allclose(share_under_null(values, chance), expected, rtol=1e-14)


def test_reaching_forgives_rounding_only():
    values = np.array([0.0, 5.0, -300.0])
    assert (reach(values) < values).all()
    assert (reach(values) > values - 1e-6).all()
