"""Methods side by side: the same scores as one by one, and lists counted by hand and by other routes."""

from __future__ import annotations

import functools
import itertools
from pathlib import Path

import mpmath
import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
import scipy.stats
from sklearn.metrics import jaccard_score

import bayesieve as bs
from bayesieve.rivals import comparison as module, register, rival
from bayesieve.rivals.method_comparison import (
    average_overlap,
    check_top,
    jaccard_index,
    mean_z,
    rank_correlation,
    shared_features,
    variance_alone,
    variance_z,
)

MOMENTS = ("obf-jp", "obf-pp", "welch", "student", "limma", "bd", "pearson-neyman")
VALUES = ("mi", "nmc", "wilcoxon")
NAN, INF = np.nan, np.inf
LABELS = ["a"] * 18 + ["b"] * 22

pytestmark = pytest.mark.filterwarnings("ignore:The median mean")  # far from the location of the proper prior


def draw(n_features=120, seed=3):
    """Feature 0 differs in mean, feature 1 in variance alone."""
    values = np.random.default_rng(seed).normal(10.0, 2.0, size=(40, n_features))
    values[18:, 0] += 7.0
    values[18:, 1] = 10.0 + 8.0 * (values[18:, 1] - values[18:, 1].mean())
    values[:18, 1] += 10.0 - values[:18, 1].mean()
    return values


X = draw()
NAMES = [f"g{j}" for j in range(X.shape[1])]


def given(**scores):
    """Compare scores made by hand, on any data of that many features."""
    size = len(next(iter(scores.values())))
    values = np.random.default_rng(0).normal(size=(8, size))
    methods = [bs.FeatureScores(name, column) for name, column in scores.items()]
    return functools.partial(bs.compare_methods, values, [0] * 4 + [1] * 4, methods)


def sets_of(scores, n):
    """Features of a top list, found by sorting pairs in plain Python."""
    pairs = sorted((-value, place) for place, value in enumerate(scores) if not np.isnan(value))
    return [place for _, place in pairs[:n]]


def assert_same_scores(found, expected):
    np.testing.assert_array_equal(found.score, expected.score)
    assert (found.log_p_value is None) == (expected.log_p_value is None)
    if expected.log_p_value is not None:
        np.testing.assert_array_equal(found.log_p_value, expected.log_p_value)


@pytest.mark.parametrize("kind", ["array", "pandas", "polars", "sparse"])
def test_scores_are_those_of_every_method_alone(kind):
    table = {
        "array": X,
        "pandas": pd.DataFrame(X, columns=NAMES),
        "polars": pl.DataFrame(X, schema=NAMES),
        "sparse": sp.csr_matrix(X),
    }[kind]
    names = None if kind in ("pandas", "polars") else NAMES
    found = bs.compare_methods(table, LABELS, MOMENTS + VALUES, feature_names=names)
    assert found.methods == MOMENTS + VALUES
    assert found.names == tuple(NAMES)
    for k, name in enumerate(found.methods):
        alone = bs.score(table, LABELS, method=name, feature_names=names)
        assert_same_scores(found.scores[name], alone)
        np.testing.assert_array_equal(found.ranks[k], alone.rank)
        np.testing.assert_array_equal(found.ranking(name), alone.ranking)


def test_missing_values_are_left_out_as_by_every_method_alone():
    holes = np.where(np.random.default_rng(5).random(X.shape) < 0.1, NAN, X)
    with pytest.raises(bs.MissingValueError, match="missing='omit'"):
        bs.compare_methods(holes, LABELS, "welch,mi")
    found = bs.compare_methods(holes, LABELS, MOMENTS + VALUES, missing="omit")
    for name in found.methods:
        assert_same_scores(found.scores[name], bs.score(holes, LABELS, method=name, missing="omit"))


def test_ready_moments_serve_the_methods_that_use_moments():
    moments = bs.Moments.from_matrix(X, LABELS)
    found = bs.compare_methods(moments, methods=MOMENTS, feature_names=NAMES)
    expected = bs.compare_methods(X, LABELS, MOMENTS, feature_names=NAMES)
    np.testing.assert_array_equal(found.ranks, expected.ranks)
    assert found.names == tuple(NAMES)
    with pytest.raises(bs.DataError, match="mi needs the values"):
        bs.compare_methods(moments, methods=("welch", "mi"))


def test_a_file_is_summed_once_and_its_values_are_brought_together_once(tmp_path, monkeypatch):
    path = tmp_path / "table.csv"
    pd.DataFrame(X, columns=NAMES).assign(stage=LABELS).to_csv(path, index=False, float_format="%.17g")
    table = bs.read_table(path, labels="stage")
    looks = []
    blocks = type(table).blocks
    monkeypatch.setattr(type(table), "blocks", lambda self, which: looks.append(1) or blocks(self, which))
    found = bs.compare_methods(table, methods=("welch", "bd", *VALUES))
    assert len(looks) == 1
    for name in found.methods:
        np.testing.assert_allclose(
            found.scores[name].score, bs.score(X, LABELS, method=name).score, rtol=1e-9, atol=1e-12
        )
    bs.compare_methods(table, methods=("welch", "bd"))
    assert len(looks) == 1


def test_data_in_memory_are_reduced_once(monkeypatch):
    calls = {"two_class_moments": 0, "two_class_values": 0}

    def counting(name):
        original = getattr(module, name)

        def wrapped(*arguments, **keywords):
            calls[name] += 1
            return original(*arguments, **keywords)

        return wrapped

    for name in calls:
        monkeypatch.setattr(module, name, counting(name))
    bs.compare_methods(X, LABELS, MOMENTS + VALUES)
    assert calls == {"two_class_moments": 1, "two_class_values": 1}
    bs.compare_methods(X, LABELS, MOMENTS)
    assert calls == {"two_class_moments": 2, "two_class_values": 1}


def test_threads_do_not_matter():
    one, two = (bs.compare_methods(X, LABELS, MOMENTS + VALUES, n_threads=n).to_dict() for n in (1, 2))
    for name, column in one.items():
        np.testing.assert_array_equal(column, two[name])


def test_overlap_counted_by_hand():
    found = given(first=[9, 8, 7, 6, 5, 4], second=[4, 9, 8, 5, 6, 7], third=[1, 2, 3, 4, 5, 6])(top=[4, 2])
    assert found.top == (2, 4)
    assert found.overlap(2).tolist() == [[2, 1, 0], [1, 2, 0], [0, 0, 2]]
    assert found.overlap().tolist() == [[4, 2, 2], [2, 4, 3], [2, 3, 4]]
    np.testing.assert_allclose(found.jaccard(2), [[1, 1 / 3, 0], [1 / 3, 1, 0], [0, 0, 1]], rtol=1e-15)
    np.testing.assert_allclose(found.jaccard()[0], [1, 2 / 6, 2 / 6], rtol=1e-15)
    # first against second: nothing at depth 1, x1 at 2, x1 and x2 at 3 and 4
    np.testing.assert_allclose(found.agreement(4)[0, 1], (0 + 1 / 2 + 2 / 3 + 2 / 4) / 4, rtol=1e-15)
    assert found.only("first") == ("x0",)
    assert found.only("third", 2) == ("x5", "x4")
    assert found.n_lists().tolist() == [1, 2, 3, 2, 2, 2]
    assert found.union(2).tolist() == [0, 1, 2, 4, 5]
    assert found.union(1).tolist() == [0, 1, 5]


def test_ties_go_to_the_lower_index_and_are_announced():
    found = given(flat=[1, 1, 1, 1], steep=[1, 2, 3, 4])(top=2)
    assert found.ranks.tolist() == [[1, 2, 3, 4], [4, 3, 2, 1]]
    assert found.overlap().tolist() == [[2, 0], [0, 2]]
    assert (
        "Ranks 1 to 4 of flat are a tie: the order of the table decides which of these are among the first 2."
        in (found.summary())
    )
    assert "tie" not in given(flat=[1, 1, 0, 0], steep=[1, 2, 3, 4])(top=2).summary()


def test_features_without_a_score_rank_last_and_are_on_no_list():
    found = given(holey=[NAN, 2, NAN, 1], whole=[4, 3, 2, 1], nothing=[NAN] * 4)(top=3)
    assert found.ranks.tolist() == [[3, 1, 4, 2], [1, 2, 3, 4], [1, 2, 3, 4]]
    assert found.overlap().tolist() == [[2, 1, 0], [1, 3, 0], [0, 0, 0]]
    assert found.jaccard()[0, 1] == 1 / 4
    assert np.isnan(found.jaccard()[2, 2])
    assert found.agreement()[0, 0] == 1
    assert np.isnan(found.agreement()[2, 2])
    np.testing.assert_allclose(found.agreement()[0, 1], (0 + 1 / 2 + 1 / 3) / 3, rtol=1e-15)
    assert found.only("whole") == ("x0", "x2")
    assert "holey has no score for 2 features, ranked last." in found.summary()
    assert found.to_dict()["n_lists"].tolist() == [1, 2, 1, 1]


def test_infinite_scores_rank_first():
    found = given(one=[1, INF, 3, -INF], two=[1, 2, 3, 4])(top=2)
    assert found.ranks[0].tolist() == [3, 1, 2, 4]
    np.testing.assert_allclose(
        found.rank_correlation()[0, 1], scipy.stats.spearmanr([1, 9, 3, -9], [1, 2, 3, 4]).statistic, rtol=1e-12
    )


@pytest.mark.parametrize("seed", range(5))
def test_lists_against_sets_scikit_learn_and_the_definition(seed):
    rng = np.random.default_rng(seed)
    scores = rng.integers(0, 12, size=(4, 30)).astype(float)  # many ties
    scores[rng.random(scores.shape) < 0.1] = NAN
    ranks = np.array([bs.FeatureScores("m", row).rank for row in scores])
    ranks[np.isnan(scores)] = 31
    for n in (1, 7, 20):
        lists = [sets_of(row, n) for row in scores]
        masks = [np.isin(np.arange(30), each) for each in lists]
        for a, b in itertools.product(range(4), repeat=2):
            assert shared_features(ranks, n)[a, b] == len(set(lists[a]) & set(lists[b]))
            np.testing.assert_allclose(
                jaccard_index(ranks, n)[a, b], jaccard_score(masks[a], masks[b]), rtol=1e-12
            )
            depths = range(1, max(len(lists[a]), len(lists[b])) + 1)
            shares = [len(set(lists[a][:d]) & set(lists[b][:d])) / d for d in depths]
            np.testing.assert_allclose(average_overlap(ranks, n)[a, b], np.mean(shares), rtol=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_rank_correlation_against_scipy_with_ties(seed):
    rng = np.random.default_rng(seed)
    scores = rng.integers(0, 15, size=(3, 60)).astype(float)
    scores[0, :4] = NAN
    expected = scipy.stats.spearmanr(scores[:, 4:], axis=1).statistic
    np.testing.assert_allclose(rank_correlation(list(scores)), expected, rtol=1e-12, atol=1e-13)


def test_rank_correlation_of_equal_scores_or_one_feature_is_not_a_number():
    assert np.isnan(rank_correlation([np.ones(5), np.arange(5.0)])[0]).all()
    assert np.isnan(rank_correlation([np.ones(1), np.ones(1)])).all()
    assert np.isnan(rank_correlation([np.array([NAN, 1.0]), np.array([1.0, NAN])])).all()


def test_mean_z_is_the_statistic_of_scipy():
    holes = np.where(np.random.default_rng(1).random(X.shape) < 0.1, NAN, X)
    for values in (X, holes):
        moments = bs.Moments.from_matrix(values, LABELS, missing="omit")
        expected = scipy.stats.ttest_ind(values[18:], values[:18], equal_var=False, nan_policy="omit").statistic
        np.testing.assert_allclose(mean_z(moments), np.asarray(expected), rtol=1e-10, atol=1e-12)


def test_variance_z_against_mpmath():
    values = np.where(np.random.default_rng(1).random(X.shape) < 0.1, NAN, X)[:, :10]
    moments = bs.Moments.from_matrix(values, LABELS, missing="omit")
    with mpmath.workdps(50):
        for j in range(10):
            parts = []
            for rows in (values[:18, j], values[18:, j]):
                x = [mpmath.mpf(float(value)) for value in rows if not np.isnan(value)]
                d = mpmath.mpf(len(x) - 1)
                centre = mpmath.fsum(x) / len(x)
                squares = mpmath.fsum((each - centre) ** 2 for each in x)
                parts.append(
                    (mpmath.log(squares / d) - mpmath.psi(0, d / 2) + mpmath.log(d / 2), mpmath.psi(1, d / 2))
                )
            expected = (parts[1][0] - parts[0][0]) / mpmath.sqrt(parts[0][1] + parts[1][1])
            np.testing.assert_allclose(variance_z(moments)[j], float(expected), rtol=1e-10)


def test_variance_z_of_gaussian_data_has_mean_0_and_variance_1_by_monte_carlo():
    values = np.random.default_rng(2).normal(size=(3 + 9, 40_000))
    z = variance_z(bs.Moments.from_matrix(values, [0] * 3 + [1] * 9))
    assert abs(z.mean()) < 4 / np.sqrt(z.size)
    assert abs(z.var() - 1) < 4 * (z**2).std() / np.sqrt(z.size)


def test_variance_alone_against_the_tests_of_scipy():
    rng = np.random.default_rng(7)
    values = rng.normal(size=(5 + 9, 4000)) * np.where(np.arange(14) < 5, 1.0, 12.0)[:, None]
    found = variance_alone(bs.Moments.from_matrix(values, [0] * 5 + [1] * 9))
    ratio = values[5:].var(axis=0, ddof=1) / values[:5].var(axis=0, ddof=1)
    distribution = scipy.stats.f(8, 4)
    p_variance = 2 * np.minimum(distribution.cdf(ratio), distribution.sf(ratio))
    p_mean = scipy.stats.ttest_ind(values[5:], values[:5], equal_var=False).pvalue
    np.testing.assert_array_equal(found, (p_variance < 1e-4) & (p_mean > 0.05))
    assert 100 < found.sum() < 3900


def test_features_without_variance_have_infinite_or_no_z():
    values = np.array([[1.0, 1.0, 1.0], [1.0, 2.0, 1.0], [5.0, 3.0, 1.0], [5.0, 3.0, 1.0]])
    moments = bs.Moments.from_matrix(values, [0, 0, 1, 1])
    np.testing.assert_array_equal(mean_z(moments)[[0, 2]], [INF, NAN])
    np.testing.assert_array_equal(variance_z(moments), [NAN, -INF, NAN])
    assert variance_alone(moments).tolist() == [False, False, False]
    few = bs.Moments.from_matrix([[1.0], [2.0], [3.0]], [0, 0, 1])
    assert np.isnan(mean_z(few)).all()
    assert np.isnan(variance_z(few)).all()


def test_a_difference_in_variance_alone_is_named_and_is_what_t_tests_miss():
    found = bs.compare_methods(X, LABELS, "obf-jp,welch,limma", top=2, feature_names=NAMES)
    assert np.flatnonzero(found.variance_alone).tolist() == [1]
    assert found.scores["obf-jp"].top(2) == ("g0", "g1")
    assert found.only("obf-jp") == ("g1",)
    assert abs(found.differences["mean_z"][1]) < 1e-10
    said = found.summary().splitlines()
    assert said[0] == "3 methods ranked 120 features; classes a (18) and b (22)."
    assert "1 is on no other list (g1); 1 of them differs in variance alone." in found.summary()
    assert said[-1] == (
        "1 of the 3 features on any list differs in variance alone (p-value of the F test below 0.0001, of "
        "Welch's t test above 0.05, for Gaussian data): methods that compare means do not see it."
    )


def test_summary_of_lists_made_by_hand():
    found = given(first=[9, 8, 7, 6, 5, 4], second=[4, 9, 8, 5, 6, 7], third=[1, 2, 3, 4, 5, 6])(top=[2, 4])
    assert found.summary().splitlines() == [
        "3 methods ranked 6 features; classes 0 (4) and 1 (4).",
        "On all 3 lists: 0 of the 2 strongest, 1 of the 4 strongest.",
        "Most alike: second and third (3 of 4); least alike: first and second (2 of 4).",
        "Of the 4 strongest of first, 1 is on no other list (x0).",
    ]


def test_the_table_has_ranks_scores_and_log_p_values_side_by_side():
    found = bs.compare_methods(X, LABELS, ("obf-jp", "welch", "nmc"), feature_names=NAMES)
    table = found.to_dict()
    assert list(table) == [
        "feature", "rank_obf_jp", "rank_welch", "rank_nmc", "n_lists",
        "score_obf_jp", "score_welch", "log_p_welch", "score_nmc",
        "mean_difference", "log_variance_ratio", "mean_z", "variance_z", "variance_alone",
    ]  # fmt: skip
    assert found.to_pandas()["rank_welch"].tolist() == found.ranks[1].tolist()
    assert found.to_polars()["score_nmc"].to_list() == found.scores["nmc"].score.tolist()
    np.testing.assert_allclose(table["mean_difference"], X[18:].mean(axis=0) - X[:18].mean(axis=0), atol=1e-12)
    np.testing.assert_allclose(
        table["log_variance_ratio"], np.log(X[18:].var(axis=0, ddof=1) / X[:18].var(axis=0, ddof=1)), rtol=1e-9
    )
    for column in (found.ranks, *found.differences.values()):
        assert not column.flags.writeable


def test_the_order_of_classes_is_kept():
    found = bs.compare_methods(X, LABELS, "welch", classes=("b", "a"))
    assert found.class_counts == {"b": 22, "a": 18}
    assert found.differences["mean_difference"][0] < 0


def test_default_lengths_are_at_most_half_of_the_features():
    assert [check_top(None, n) for n in (1, 5, 20, 99, 100, 199, 20_000)] == [
        (1,), (2,), (10,), (10,), (10, 50), (10, 50), (10, 50, 100)
    ]  # fmt: skip
    assert check_top([7, 3, 7], 9) == (3, 7)
    assert check_top(np.int64(4), 9) == (4,)


@pytest.mark.parametrize("top", [0, -1, 121, 2.5, True, "ten", [], [10, 0]])
def test_lengths_that_are_none(top):
    with pytest.raises(bs.OptionError, match="whole number from 1 to the number of features"):
        bs.compare_methods(X, LABELS, "welch", top=top)


def test_names_in_one_text_and_aliases():
    found = bs.compare_methods(X, LABELS, " obf-jp, t ; moderated-t ")
    assert found.methods == ("obf-jp", "welch", "limma")
    assert bs.compare_methods(X, LABELS).methods == ("obf", "obf-jp", "welch", "limma", "bd")


@pytest.mark.parametrize("methods", ["welch,t", ["bd", "bhattacharyya"]])
def test_a_method_cannot_be_asked_for_twice(methods):
    with pytest.raises(bs.OptionError, match="is asked for twice"):
        bs.compare_methods(X, LABELS, methods)


@pytest.mark.parametrize("methods", ["", " , ", [], None])
def test_without_methods_there_is_nothing_to_compare(methods):
    with pytest.raises(bs.OptionError, match="at least one method"):
        bs.compare_methods(X, LABELS, methods)


def test_an_unknown_method_is_told_with_all_names():
    with pytest.raises(bs.OptionError, match=r"no method 'welsh'.*obf-jp.*mutual-info"):
        bs.compare_methods(X, LABELS, "obf-jp,welsh")


def test_three_classes_are_an_error():
    with pytest.raises(bs.LabelError, match="two classes, not 3"):
        bs.compare_methods(X, ["a", "b", "c", "a"] * 10, "welch,mi")


def test_options_reach_their_method():
    found = bs.compare_methods(
        X, LABELS, "obf-jp,nmc", options={"obf-jp": {"prior_ratio": 0.4}, "nmc": {"alpha": 2.0}}
    )
    assert_same_scores(found.scores["obf-jp"], bs.score(X, LABELS, method="obf-jp", prior_ratio=0.4))
    assert_same_scores(found.scores["nmc"], bs.score(X, LABELS, method="nmc", alpha=2.0))
    with pytest.raises(bs.OptionError, match="no option 'colour'"):
        bs.compare_methods(X, LABELS, "obf-jp", options={"obf-jp": {"colour": 1}})
    with pytest.raises(bs.OptionError, match="options for 'bd', which is not among the methods"):
        bs.compare_methods(X, LABELS, "obf-jp", options={"bd": {}})


def test_scores_found_elsewhere_are_brought_into_the_order_of_the_table():
    order = np.random.default_rng(0).permutation(len(NAMES))
    outside = bs.FeatureScores("my_tool", np.arange(120.0)[order], [NAMES[j] for j in order])
    found = bs.compare_methods(X, LABELS, ["welch", outside], feature_names=NAMES)
    assert found.methods == ("welch", "my-tool")
    assert found.titles["my-tool"] == "my tool"
    np.testing.assert_array_equal(found.scores["my-tool"].score, np.arange(120.0))
    np.testing.assert_array_equal(found.to_dict()["rank_my_tool"], np.arange(120, 0, -1))


def test_scores_of_other_features_are_an_error():
    with pytest.raises(bs.DataError, match="mine scores 3 features, but the table has 120"):
        bs.compare_methods(X, LABELS, ["welch", bs.FeatureScores("mine", [1.0, 2.0, 3.0])])
    other = bs.FeatureScores("mine", np.arange(120.0), [f"h{j}" for j in range(120)])
    with pytest.raises(bs.DataError, match="no score for 120 of the 120 features, the first is 'g0'"):
        bs.compare_methods(X, LABELS, ["welch", other], feature_names=NAMES)


def gap(moments):
    return bs.FeatureScores("mean_gap", np.abs(moments.mean_difference))


def spread(matrix, n_threads=None):
    return bs.FeatureScores("spread", matrix.values.std(axis=0))


def test_rivals_of_ones_own_by_object_name_and_file(tmp_path, monkeypatch):
    monkeypatch.setattr("bayesieve.rivals.registry._own", {})
    mine = bs.Rival("mean-gap", "Difference of means", "moments", gap)
    register(bs.Rival("spread-of-all", "Spread", "values", spread))
    path = tmp_path / "my_rival.py"
    Path(path).write_text(
        "import numpy as np\nimport bayesieve as bs\n"
        "def run(moments):\n    ratio = moments.variance[1] / moments.variance[0]\n"
        "    return bs.FeatureScores('ratio', np.abs(np.log(ratio)))\n"
        "RIVAL = bs.Rival('ratio', 'Ratio', 'moments', run)\n",
        encoding="utf-8",
    )
    found = bs.compare_methods(X, LABELS, [mine, "spread-of-all", f"{path}:RIVAL"])
    assert found.methods == ("mean-gap", "spread-of-all", "ratio")
    np.testing.assert_array_equal(found.scores["mean-gap"].score, np.abs(found.differences["mean_difference"]))
    np.testing.assert_array_equal(found.scores["spread-of-all"].score, X.std(axis=0))
    np.testing.assert_allclose(
        found.scores["ratio"].score, np.abs(found.differences["log_variance_ratio"]), rtol=1e-12
    )


def test_the_same_method_under_two_names_with_other_options():
    run = functools.partial(rival("obf-jp").run, prior_ratio=0.4)
    other = bs.Rival("obf-wide", "OBF, L = 0.4", "moments", run)
    found = bs.compare_methods(X, LABELS, ["obf-jp", other])
    np.testing.assert_array_equal(found.ranks[0], found.ranks[1])
    np.testing.assert_allclose(
        found.scores["obf-wide"].score - found.scores["obf-jp"].score, np.log(4.0), rtol=1e-9
    )


def test_errors_say_which_method_they_come_from():
    def fails(moments):
        raise bs.DataError("The values are odd.")

    def wrong(moments):
        return moments.mean_difference

    with pytest.raises(bs.DataError, match=r"^Odd one \(odd-one\): The values are odd\.$"):
        bs.compare_methods(X, LABELS, ["welch", bs.Rival("odd-one", "Odd one", "moments", fails)])
    with pytest.raises(bs.OptionError, match="run of wrong must return FeatureScores, not ndarray"):
        bs.compare_methods(X, LABELS, ["welch", bs.Rival("wrong", "Wrong", "moments", wrong)])


def test_features_without_variance_are_announced_once_for_all_methods():
    values = X.copy()
    values[:, 3], values[:18, 4], values[1:18, 5] = 1.0, 2.0, NAN
    with pytest.warns(bs.DegenerateFeatureWarning) as said:
        found = bs.compare_methods(values, LABELS, MOMENTS + VALUES, missing="omit")
    about = [warning for warning in said if issubclass(warning.category, bs.DegenerateFeatureWarning)]
    assert [str(warning.message) for warning in about] == [
        "Of 120 features, a class does not vary in 2 and has fewer than two values in 1. Methods treat these in "
        "different ways, from the first rank to none: look at them before comparing lists."
    ]
    assert found.ranks.shape == (10, 120)


def test_only_asks_for_a_method_that_was_compared():
    with pytest.raises(bs.OptionError, match=r"'bd' was not compared\. Methods are welch"):
        bs.compare_methods(X, LABELS, "welch").only("bd")


def test_a_single_method_has_nothing_to_agree_with():
    found = bs.compare_methods(X, LABELS, "welch", top=5)
    assert found.summary() == "1 method ranked 120 features; classes a (18) and b (22)."
    assert found.overlap().tolist() == [[5]]
