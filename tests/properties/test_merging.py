"""Merging and removing, for any split of any data (Hypothesis)."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from hypothesis.extra import numpy as hnp

import bayesieve as bs

VALUES = st.floats(-1e6, 1e6, allow_nan=False, width=64).map(lambda x: round(x, 6))


@st.composite
def labelled(draw):
    n = draw(st.integers(1, 40))
    X = draw(hnp.arrays(np.float64, (n, 3), elements=VALUES))
    y = draw(hnp.arrays(np.int64, n, elements=st.integers(0, 2)))
    parts = draw(hnp.arrays(np.int64, n, elements=st.integers(0, 4)))
    order = draw(st.permutations(sorted(set(parts.tolist()))))
    return X, y, parts, order


def merged(X, y, parts, order):
    result = None
    for part in order:
        piece = bs.Moments.from_matrix(X[parts == part], y[parts == part])
        result = piece if result is None else result.merge(piece)
    return result


def assert_same(a, b, X):
    scale = max(1.0, float(np.abs(X).max()))
    assert a.classes == b.classes
    np.testing.assert_array_equal(a.count, b.count)
    np.testing.assert_allclose(a.mean, b.mean, rtol=1e-12, atol=1e-12 * scale)
    np.testing.assert_allclose(a.centred_squares, b.centred_squares, rtol=1e-10, atol=1e-14 * scale**2 * len(X))


@settings(max_examples=150, deadline=None)
@given(labelled())
def test_any_split_in_any_order_merges_to_the_whole(case):
    X, y, parts, order = case
    assert_same(merged(X, y, parts, order), bs.Moments.from_matrix(X, y), X)


@pytest.mark.filterwarnings("ignore:What was removed held:bayesieve.errors.DataWarning")
@settings(max_examples=100, deadline=None)
@given(labelled())
def test_removing_what_was_merged_restores_what_was(case):
    X, y, parts, _ = case
    inside = parts > 0
    if inside.all() or not inside.any():
        return
    kept, gone = bs.Moments.from_matrix(X[inside], y[inside]), bs.Moments.from_matrix(X[~inside], y[~inside])
    restored = kept.merge(gone).remove(gone)
    scale = float(np.abs(X).max()) + 1.0
    for label in kept.classes:
        a, b = kept.group(label), restored.group(label)
        np.testing.assert_array_equal(a.count, b.count)
        np.testing.assert_allclose(a.mean, b.mean, rtol=1e-9, atol=1e-10 * scale)
        np.testing.assert_allclose(a.centred_squares, b.centred_squares, rtol=1e-7, atol=1e-12 * scale**2 * len(X))


@settings(max_examples=60, deadline=None)
@given(st.floats(-1e9, 1e9), st.lists(st.integers(1, 30), min_size=1, max_size=6))
def test_a_constant_stays_exactly_constant(constant, sizes):
    result = None
    for size in sizes:
        piece = bs.Moments.from_matrix(np.full((size, 1), constant), ["a"] * size)
        result = piece if result is None else result.merge(piece)
    assert result.centred_squares[0, 0] == 0.0
    assert result.mean[0, 0] == constant


def test_removing_everything_leaves_nothing(rng):
    X, y = rng.standard_normal((10, 2)), np.repeat([0, 1], 5)
    moments = bs.Moments.from_matrix(X, y)
    empty = moments.remove(moments)
    assert empty.count.tolist() == [0, 0]
    assert (empty.centred_squares == 0).all()
    np.testing.assert_allclose(empty.merge(moments).centred_squares, moments.centred_squares)


def test_per_feature_counts_merge_with_plain_counts(rng):
    X, y = rng.standard_normal((20, 3)), np.repeat([0, 1], 10)
    X[0, 1] = np.nan
    a = bs.Moments.from_matrix(X[::2], y[::2], missing="omit")
    b = bs.Moments.from_matrix(X[1::2], y[1::2])
    whole = bs.Moments.from_matrix(X, y, missing="omit")
    np.testing.assert_array_equal(a.merge(b).count, whole.count)
    np.testing.assert_allclose(a.merge(b).centred_squares, whole.centred_squares, rtol=1e-12)
    with pytest.raises(bs.DataError, match="would be removed"):
        a.remove(whole)


@settings(max_examples=60, deadline=None)
@given(labelled())
def test_log_odds_do_not_depend_on_the_split(case):
    X, y, parts, order = case
    y = np.minimum(y, 1)
    if len(set(y.tolist())) < 2:
        return
    model = bs.GaussianModel.proper(variance_scale=1e8)
    whole = model.log_bayes_factor(bs.Moments.from_matrix(X, y))
    split = model.log_bayes_factor(merged(X, y, parts, order))
    np.testing.assert_allclose(split, whole, rtol=1e-8, atol=1e-8)
