"""FeatureScores: ranks, p-values after Benjamini and Hochberg, tables."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from posteriors import posterior_of

import bayesieve as bs

NAN = float("nan")


def by_hand(p):
    """Benjamini-Hochberg from its definition: the least level at which a hypothesis is rejected."""
    p = np.asarray(p, dtype=float)
    tested = np.flatnonzero(~np.isnan(p))
    adjusted = np.full(p.shape, np.nan)
    ordered = np.sort(p[tested])
    for i in tested:
        candidates = [tested.size * value / (k + 1) for k, value in enumerate(ordered) if value >= p[i]]
        adjusted[i] = min(1.0, *candidates, 1.0)
    return adjusted


@pytest.mark.parametrize("n", [1, 2, 7, 300])
def test_adjusted_p_values_by_the_definition(rng, n):
    p = rng.uniform(size=n) ** 3
    p[rng.uniform(size=n) < 0.2] = NAN
    p[: n // 4] = p[n // 2]  # ties
    scores = bs.FeatureScores("test", -p, log_p_value=np.log(p))
    np.testing.assert_allclose(scores.adjusted_p_value, by_hand(p), rtol=1e-12)
    for level in (0.0, 0.01, 0.05, 0.3, 1.0):
        chosen = {f"x{i}" for i in np.flatnonzero(by_hand(p) <= level * (1 + 1e-12))}
        assert set(scores.significant(level)) == chosen


def test_significant_is_the_step_up_rule(rng):
    """The largest k with p(k) <= k * level / m, as Benjamini and Hochberg wrote it."""
    p = np.sort(rng.uniform(size=200) ** 4)
    scores = bs.FeatureScores("test", -p, log_p_value=np.log(p))
    for level in (0.01, 0.05, 0.2):
        k = int(np.flatnonzero(p <= np.arange(1, 201) * level / 200).max(initial=-1)) + 1
        assert scores.significant(level) == tuple(f"x{i}" for i in range(k))


def test_ranking_puts_ties_in_order_and_nan_last():
    scores = bs.FeatureScores("test", [1.0, NAN, 3.0, 1.0, np.inf, NAN, -2.0])
    assert scores.ranking.tolist() == [4, 2, 0, 3, 6, 1, 5]
    assert scores.rank.tolist() == [3, 6, 2, 4, 1, 7, 5]
    assert scores.top(3) == ("x4", "x2", "x0")
    assert scores.top(100) == ("x4", "x2", "x0", "x3", "x6")
    assert scores.top(0) == ()


def test_p_values_far_below_the_smallest_float():
    scores = bs.FeatureScores("test", [2000.0, 1000.0, 1.0], log_p_value=[-2000.0, -1000.0, -0.5])
    assert scores.p_value.tolist()[:2] == [0.0, 0.0]
    assert scores.adjusted_p_value.tolist()[:2] == [0.0, 0.0]
    assert scores.significant(0.05) == ("x0", "x1")
    assert scores.log_p_value.tolist() == [-2000.0, -1000.0, -0.5]


def test_nothing_tested():
    scores = bs.FeatureScores("test", [NAN, NAN], log_p_value=[NAN, NAN])
    assert np.isnan(scores.adjusted_p_value).all()
    assert scores.significant() == () == scores.top(2)
    assert bs.FeatureScores("test", [], log_p_value=[]).significant() == ()


def test_part_of_a_family_keeps_its_adjusted_p_values(rng):
    p = rng.uniform(size=50) ** 3
    whole = bs.FeatureScores("test", -p, log_p_value=np.log(p), details={"more": p})
    some = whole.take([7, 3, 40])
    np.testing.assert_array_equal(some.adjusted_p_value, whole.adjusted_p_value[[7, 3, 40]])
    np.testing.assert_array_equal(some.take([2, 1]).adjusted_p_value, whole.adjusted_p_value[[40, 3]])
    assert some.names == ("x7", "x3", "x40")
    np.testing.assert_array_equal(some.details["more"], p[[7, 3, 40]])
    np.testing.assert_array_equal(whole.take(p < 0.1).score, -p[p < 0.1])
    assert whole.take(slice(2)).names == ("x0", "x1")
    assert bs.FeatureScores("plain", p).take([4]).adjusted_p_value is None
    assert np.isnan(bs.FeatureScores("test", [NAN, 1.0]).take([0]).score).all()


def test_tables():
    scores = bs.FeatureScores(
        "test", [1.0, 2.0], ("a", "b"), [-0.1, -5.0], {"log_lambda": [-1.0, -2.0], "rank": [7.0, 8.0]}
    )
    table = scores.to_dict()
    assert list(table) == [
        "rank", "feature", "score", "log_p_value", "p_value", "adjusted_p_value", "log_lambda", "rank (2)",
    ]  # fmt: skip
    assert table["rank"].tolist() == [2, 1]
    assert scores.to_polars()["feature"].to_list() == ["a", "b"] == scores.to_pandas()["feature"].tolist()
    assert list(bs.FeatureScores("plain", [1.0]).to_dict()) == ["rank", "feature", "score"]


def test_as_a_finding_one_set_of_scores_or_several():
    posterior = posterior_of([3.0, -1.0, 0.5])
    first = bs.FeatureScores("welch", [1.0, 2.0, 3.0], log_p_value=[-1.0, -2.0, -30.0], caveat="If Gaussian.")
    second = bs.FeatureScores("other", [1.0, 2.0, 3.0], log_p_value=[-1.0, -20.0, -30.0])
    third = bs.FeatureScores("distance", [1.0, 2.0, 3.0])
    one = posterior.with_finding(first)
    assert {"log_p_value", "p_value", "adjusted_p_value"} <= set(one.to_dict())
    both = one.with_finding(second).with_finding(third)
    table = both.to_dict()
    assert {"welch_p_value", "other_adjusted_p_value", "distance_score"} <= set(table)
    assert "p_value" not in table
    np.testing.assert_array_equal(both.take([2, 0]).to_dict()["welch_log_p_value"], [-30.0, -1.0])
    summary = bs.MinimalRisk(0.5).select(both).summary()
    assert (
        "1 of 3 features tested has an adjusted p-value of at most 5% (welch, Benjamini-Hochberg). If G" in summary
    )
    assert "2 of 3 features tested have" in summary
    assert third.notes() == []
    with pytest.raises(bs.DataError, match="3 features do not fit a table of 2"):
        first.columns(posterior.take([0, 1]))


def test_arrays_are_copies_and_read_only():
    score = np.array([1.0, 2.0])
    scores = bs.FeatureScores("test", score, log_p_value=-score, details={"more": score})
    score[0] = 9.0
    assert scores.score.tolist() == [1.0, 2.0] == scores.details["more"].tolist()
    for array in (scores.score, scores.log_p_value, scores.details["more"]):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0.0
    assert pickle.loads(pickle.dumps(scores)).names == ("x0", "x1")


@pytest.mark.parametrize(
    ("call", "kind", "message"),
    [
        (
            lambda: bs.FeatureScores("m", [[1.0]]),
            bs.DataError,
            "score must be one number per feature, not of shape",
        ),
        (lambda: bs.FeatureScores("m", ["high"]), bs.DataError, "score must be one number per feature"),
        (
            lambda: bs.FeatureScores("m", [1.0], log_p_value=[0.0, 0.0]),
            bs.DataError,
            "log_p_value must be 1 numbers",
        ),
        (
            lambda: bs.FeatureScores("m", [1.0, 2.0], log_p_value=[0.3, -1]),
            bs.DataError,
            "1 log p-values are above 0",
        ),
        (lambda: bs.FeatureScores("m", [1.0], ("a", "b")), bs.DataError, "2 feature names for 1 features"),
        (lambda: bs.FeatureScores("m", [1.0], details={"d": [1.0, 2.0]}), bs.DataError, "d must be 1 numbers"),
        (lambda: bs.FeatureScores("m", [1.0]).significant(), bs.RuleError, "no p-values"),
        (lambda: bs.FeatureScores("m", [1.0], None, [-1.0]).significant(5), bs.RuleError, "between 0 and 1"),
        (lambda: bs.FeatureScores("m", [1.0]).top(-1), bs.RuleError, "whole number"),
        (lambda: bs.FeatureScores("m", [1.0]).top(True), bs.RuleError, "whole number"),
    ],
)
def test_errors(call, kind, message):
    with pytest.raises(kind, match=message):
        call()


def test_scores_of_other_features_are_not_put_beside_a_screen(rng):
    X, y = rng.normal(size=(12, 4)), [0, 1] * 6
    posterior = bs.screen(X, y, feature_names=list("abcd"))
    same = bs.pearson_neyman(X, y, feature_names=list("abcd"))
    turned = bs.pearson_neyman(X[:, ::-1], y, feature_names=list("dcba"))
    assert "p_value" in posterior.with_finding(same).to_dict()
    with pytest.raises(bs.DataError, match="feature 0 is 'd' there and 'a' here"):
        posterior.with_finding(turned).to_dict()
    assert "p_value" in posterior.with_finding(bs.pearson_neyman(X, y)).to_dict()


@pytest.mark.parametrize("name", ["a b", "", "2nd", "é", "a\n"])
def test_names_of_methods_are_plain(name):
    with pytest.raises(bs.DataError, match="letters, digits and underscores"):
        bs.FeatureScores(name, [1.0])


def test_features_that_are_not_there():
    with pytest.raises(bs.DataError, match="There are 1 features"):
        bs.FeatureScores("example", [1.0]).take([5])
