"""Markers of many groups: the same numbers as one screen of two classes for each, from one reading."""

from __future__ import annotations

import itertools
import math
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from exact import log_odds

import bayesieve as bs
from bayesieve.screening.inputs import Shufflable

K = 11
GROUPS = np.array([f"c{k:02d}" for k in range(K)])


@pytest.fixture
def cells(rng):
    """Log counts of 11 clusters of unequal size, most of them 0, with markers up and down."""
    labels = rng.choice(GROUPS, 330, p=np.arange(1, K + 1) / np.arange(1, K + 1).sum())
    rate = np.exp(rng.normal(-0.5, 1.0, 40))
    X = rng.poisson(rate, (330, 40)).astype(float)
    X[labels == "c10", 3] += rng.poisson(4.0, (labels == "c10").sum())
    X[labels == "c09", 4] = 0.0
    return np.log1p(X), labels


def alone(X, labels, group, reference, **options):
    """The same comparison as a screen of two classes."""
    used = np.ones(len(labels), bool) if reference == "rest" else np.isin(labels, [group, reference])
    y = np.where(labels[used] == group, "group", "other")
    return bs.screen(X[used], y, classes=("other", "group"), shuffles=0, **options)


@pytest.mark.parametrize("reference", ["rest", "c05", "each"])
@pytest.mark.parametrize("model", [None, bs.GaussianModel.jeffreys(prior_ratio=0.1), bs.GaussianModel.proper()])
@pytest.mark.filterwarnings("ignore::bayesieve.BayesieveWarning")
def test_every_comparison_is_a_screen_of_two_classes(cells, reference, model):
    X, labels = cells
    markers = bs.screen_groups(X, labels, reference=reference, model=model, shuffles=0)
    pairs = {
        "rest": [(group, "rest") for group in GROUPS],
        "c05": [(group, "c05") for group in GROUPS if group != "c05"],
        "each": list(itertools.combinations(GROUPS, 2)),
    }[reference]
    assert markers.comparisons == tuple(pairs)
    for i in range(0, len(pairs), 7 if reference == "each" else 1):
        one = alone(X, labels, *pairs[i], model=model)
        np.testing.assert_allclose(markers.log_odds[i], one.log_odds, rtol=1e-10, atol=1e-10)
        np.testing.assert_allclose(markers.difference[i], one.moments.mean_difference, atol=1e-12)
        assert (markers.posterior.degenerate_codes.reshape(markers.shape)[i] == one.degenerate_codes).all()


@pytest.mark.parametrize("make", [sp.csr_matrix, sp.csc_matrix, np.asfortranarray, np.float32])
def test_kinds_of_tables_agree(cells, make):
    X, labels = cells
    X = np.round(X * 64) / 64  # exact in 32 bits
    found = bs.screen_groups(make(X), labels, shuffles=2)
    dense = bs.screen_groups(X, labels, shuffles=2)
    np.testing.assert_allclose(found.log_odds, dense.log_odds, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(found.posterior.shuffled.reaching, dense.posterior.shuffled.reaching, atol=0.6)


def test_statistics_of_groups_are_enough(cells):
    X, labels = cells
    of_values = bs.screen_groups(X, labels, shuffles=0)
    parts = bs.Moments.from_matrix(X[:100], labels[:100]).merge(bs.Moments.from_matrix(X[100:], labels[100:]))
    np.testing.assert_allclose(bs.screen_groups(parts).log_odds, of_values.log_odds, rtol=1e-10, atol=1e-10)


@pytest.mark.filterwarnings("ignore:.*rest on a floor")
def test_missing_values_are_left_out(cells, rng):
    X, labels = cells
    X = np.where(rng.random(X.shape) < 0.05, np.nan, X)
    with pytest.raises(bs.MissingValueError, match="missing"):
        bs.screen_groups(X, labels, shuffles=0)
    markers = bs.screen_groups(X, labels, missing="omit", shuffles=0)
    for i in (0, 10):
        one = alone(X, labels, GROUPS[i], "rest", missing="omit")
        np.testing.assert_allclose(markers.log_odds[i], one.log_odds, rtol=1e-10, atol=1e-10)


def test_far_values_keep_their_digits(cells):
    """The rest comes from merging: subtracting sums from a total would leave noise at an offset of 1e7."""
    X, labels = cells
    X = np.round(X * 2**10) / 2**10
    far, near = (bs.screen_groups(values, labels, shuffles=0).log_odds for values in (X + 1e7, X))
    np.testing.assert_allclose(far, near, rtol=1e-6, atol=1e-6)


def test_jeffreys_against_mpmath(cells):
    X, labels = cells
    markers = bs.screen_groups(X, labels, model=bs.GaussianModel.jeffreys(prior_ratio=0.1), shuffles=0)
    i, feature = 10, 3
    inside = labels == GROUPS[i]
    exact = log_odds(X[~inside, feature].tolist(), X[inside, feature].tolist(), prior_ratio=0.1)
    assert markers.log_odds[i, feature] == pytest.approx(float(exact), abs=1e-10)


def test_counts_have_rate_ratios(rng):
    labels = np.repeat(["a", "b", "c"], 30)
    X = rng.poisson(3.0, (90, 6))
    X[labels == "b", 2] += rng.poisson(6.0, 30)
    markers = bs.screen_groups(X, labels, model=bs.PoissonModel(), shuffles=0)
    one = alone(X, labels, "b", "rest", model=bs.PoissonModel())
    np.testing.assert_allclose(markers.log_odds[1], one.log_odds, rtol=1e-10)
    assert markers.direction[1, 2] == 1
    assert "log_rate_ratio" in markers.select().to_dict()


def test_shuffles_are_screens_with_shuffled_groups(cells):
    X, labels = cells
    markers = bs.screen_groups(X, labels, shuffles=3, seed=4)
    drawn, _ = Shufflable(bs.LabelledMatrix.from_arrays(X, labels)).draw(3, 4)
    for values, codes in zip(markers.posterior.shuffled.values, drawn, strict=True):
        again = bs.screen_groups(X, GROUPS[codes], model=bs.CalibratedModel().quick(), shuffles=0)
        every = again.log_bayes_factor.reshape(-1)
        np.testing.assert_allclose(values, np.sort(every[every > 0])[::-1], atol=1e-9)


def test_one_budget_for_all_groups(cells):
    X, labels = cells
    markers = bs.screen_groups(X, labels, shuffles=0)
    for rule in (bs.MinimalRisk(0.9), bs.FalseDiscovery(0.05), bs.FixedSize(17), bs.NeymanPearson(0.5)):
        lists = markers.select(rule)
        strongest = np.sort(markers.log_odds.ravel())[::-1][: lists.n_selected]
        np.testing.assert_array_equal(np.sort(markers.log_odds[lists.mask])[::-1], strongest)
    lists = markers.select(bs.FalseDiscovery(0.05))
    assert markers.local_fdr[lists.mask].mean() <= 0.05 + 1e-12
    order = np.argsort(-markers.log_odds.ravel(), kind="stable")
    running = np.cumsum(markers.local_fdr.ravel()[order]) / np.arange(1, order.size + 1)
    np.testing.assert_allclose(markers.expected_fdr.ravel()[order], running, rtol=1e-12)


def test_long_table(cells):
    X, labels = cells
    lists = bs.screen_groups(X, labels, log_scale="log1p", shuffles=0).select(bs.FixedSize(12))
    table = lists.to_pandas()
    assert len(table) == K * 40
    assert table["selected"].sum() == 12
    assert (table.groupby("group")["rank"].apply(list).map(lambda ranks: ranks == list(range(1, 41)))).all()
    row = table[(table.group == "c10") & (table.feature == "x3")].iloc[0]
    inside = labels == "c10"
    assert row.difference == pytest.approx(X[inside, 3].mean() - X[~inside, 3].mean())
    assert (row.mean_group, row.mean_reference) == pytest.approx((X[inside, 3].mean(), X[~inside, 3].mean()))
    ratio = (math.expm1(X[inside, 3].mean()) + 1e-9) / (math.expm1(X[~inside, 3].mean()) + 1e-9)
    assert row.log2_fold_change == pytest.approx(math.log2(ratio))
    assert row.direction == "higher"
    assert len(lists.to_dict(only_selected=True)["feature"]) == 12
    assert "log2_fold_change" not in bs.screen_groups(X, labels, shuffles=0).select().to_dict()


def test_each_other_group_is_in_the_tables_of_both(cells):
    X, labels = cells
    lists = bs.screen_groups(X, labels, reference="each", log_scale="ln", shuffles=0).select()
    one = lists.to_pandas().set_index(["group", "reference", "feature"]).sort_index()
    assert len(one) == K * (K - 1) * 40
    there, back = one.loc[("c09", "c10")], one.loc[("c10", "c09")]
    np.testing.assert_array_equal(there.log_odds, back.log_odds)
    np.testing.assert_array_equal(there.difference, -back.difference)
    np.testing.assert_array_equal(there.mean_group, back.mean_reference)
    np.testing.assert_allclose(there.log2_fold_change, there.difference / math.log(2.0))
    assert set(there.direction[there.difference != 0]) <= {"higher", "lower"}


def test_scores_fall_from_higher_markers_to_lower_ones(cells):
    X, labels = cells
    markers = bs.screen_groups(X, labels, shuffles=0)
    i = 9
    order = np.argsort(-markers.score[i], kind="stable")
    sign, odds = markers.direction[i][order], markers.log_odds[i][order]
    switch = int((sign > 0).sum())
    assert (sign[:switch] > 0).all()
    assert (np.diff(odds[:switch]) <= 0).all()
    assert (np.diff(odds[switch:]) >= 0).all()
    np.testing.assert_allclose(np.exp(-np.abs(markers.score)), markers.local_fdr, rtol=1e-12)


def test_two_hundred_groups(rng):
    labels = np.repeat(np.arange(200), 6)
    X = rng.normal(size=(1200, 8))
    X[labels == 77, 5] += 6.0
    lists = bs.screen_groups(X, labels, shuffles=0).select()
    assert lists.names(77) == ("x5",)
    assert lists.n_selected == 1
    with pytest.raises(bs.OptionError, match="too many to hold"):
        bs.screen_groups(sp.csr_matrix((1200, 3000)), labels, reference="each")


def test_groups_can_be_named(cells):
    X, labels = cells
    every = bs.screen_groups(X, labels, shuffles=0)
    some = bs.screen_groups(X, labels, only=["c07", "c02"], shuffles=0)
    assert some.groups == ("c02", "c07")
    np.testing.assert_array_equal(some.log_odds, every.log_odds[[2, 7]])
    with pytest.raises(bs.LabelError, match=r"names no group.*'c00'"):
        bs.screen_groups(X, labels, reference="c99", shuffles=0)
    with pytest.raises(bs.LabelError, match=r"330 of the 330 groups hold one sample.*measurements"):
        bs.screen_groups(X, np.arange(330.0))
    named = bs.screen_groups(X, np.where(labels == "c00", "rest", labels), shuffles=0)
    assert named.comparisons[-1] == ("rest", "the rest")


def test_a_table_that_was_read_knows_its_transformation(cells, tmp_path):
    X, labels = cells
    path = tmp_path / "cells.csv"
    names = [f"g{j}" for j in range(40)]
    rows = [",".join(map(str, (label, *np.expm1(row).round()))) for label, row in zip(labels, X, strict=True)]
    path.write_text("\n".join([",".join(["cluster", *names]), *rows]) + "\n")
    table = bs.read_table(path, labels="cluster", transform="log1p", keep_values=True)
    found = bs.screen_groups(table, shuffles=1)
    given = bs.screen_groups(X, labels, log_scale="log1p", shuffles=1, feature_names=names)
    np.testing.assert_allclose(found.log_odds, given.log_odds, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(found.log2_fold_change, given.log2_fold_change, rtol=1e-9, atol=1e-9)
    assert found.posterior.shuffled.n_shuffles == 1


def test_the_prior_can_be_estimated(cells):
    X, labels = cells
    markers = bs.screen_groups(X, labels, prior_probability="estimate", shuffles=20)
    assert 1 / markers.log_odds.size <= 1.0 - markers.posterior.null_share <= 0.5
    with pytest.raises(bs.OptionError, match="shuffled labels"):
        bs.screen_groups(X, labels, prior_probability="estimate", shuffles=0)


def test_clusters_of_the_same_values_are_called_circular(cells):
    assert "by construction" in bs.screen_groups(*cells, shuffles=0).select().summary()


def test_nothing_is_listed_when_groups_mean_nothing(rng):
    labels = rng.choice(GROUPS, 200)
    lists = bs.screen_groups(rng.standard_t(3, (200, 100)), labels, shuffles=20).select()
    assert lists.n_selected == 0
    assert "0 of 1,100 comparisons" in lists.summary()


def test_features_that_never_vary_are_told_once(cells):
    X, labels = cells
    X = np.column_stack([X, np.zeros(len(X))])
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        bs.screen_groups(X, labels, shuffles=0)
    assert [str(each.message) for each in said if "usable variance" in str(each.message)] == [
        "1 of 41 features have no usable variance (they are constant, or have too few values); they are flagged "
        "in .degenerate and left at the prior."
    ]


def test_many_classes_in_a_screen_are_sent_here(cells):
    with pytest.raises(bs.LabelError, match=r"11 classes.*bs\.screen_groups\(X, y\)"):
        bs.screen(*cells)
