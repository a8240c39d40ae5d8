"""Methods: lists against full sorting, rules against the library, shared work against each method alone."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy.stats import false_discovery_control
from small_studies import CONSTANTS, small_study

import bayesieve as bs
from bayesieve.errors import BayesieveError, OptionError
from bayesieve.simulation import data_model
from bayesieve.study import Method
from bayesieve.study.methods import Scores, Scoring, Unit, check_runnable, draw_data, rivals_of, run_unit, select


def rows_of(design, n=40, iteration=3):
    names = tuple(method.name for method in design.methods)
    return {row[2]: row[3] for row in run_unit(design, Unit(n, iteration, names), rivals_of(design))}


@given(
    st.lists(st.sampled_from([0.0, 1.0, 2.0, float("nan"), float("inf"), -float("inf")]), min_size=1), st.data()
)
def test_top_lists_are_those_of_a_full_stable_sort(values, data):
    score = np.array(values)
    n = data.draw(st.integers(0, score.size + 2))
    found, _, _ = select(Method("a", "A", "bd", n_selected=n), Scores(score))
    expected = np.zeros(score.size, dtype=bool)
    expected[np.argsort(-score, kind="stable")[:n]] = True
    assert found.tolist() == (expected & ~np.isnan(score)).tolist()


@pytest.mark.parametrize(
    ("rule", "same"),
    [
        ("mnc", bs.MinimalRisk(0.5)),
        ("MR:0.9", bs.MinimalRisk(0.9)),
        ("np:2", bs.NeymanPearson(2)),
        ("fdr:0.2", bs.FalseDiscovery(0.2)),
        ("fdp:0.2:0.9", bs.FalseDiscovery(0.2, 0.9)),
        ("map", bs.MostProbable()),
        ("top", bs.FixedSize(30)),
    ],
)
def test_rules_are_those_of_the_library(rule, same):
    data = draw_data(small_study(), 40, 0)
    posterior = bs.screen(data.moments, prior_probability=0.3)
    selection = same.select(posterior)
    method = Method("a", "A", "obf-jp", rule, 30)
    mask, cut, _ = select(method, Scores(posterior.log_odds, posterior))
    assert 0 < mask.sum() < mask.size
    assert mask.tolist() == selection.mask.tolist()
    assert cut == selection.cut


def test_benjamini_hochberg_is_that_of_scipy():
    design = small_study(methods=(Method("a", "A", "welch", "bh:0.05"),))
    data = draw_data(design, 40, 0)
    p = np.exp(bs.score(data.moments, method="welch").log_p_value)
    mask = false_discovery_control(p) <= 0.05
    assert rows_of(design, iteration=0)["a"]["n_selected"] == mask.sum() > 3


def test_a_unit_by_hand():
    design = small_study()
    seed = np.random.SeedSequence((1, 40, 3))
    found = data_model("synergetic", **CONSTANTS).draw_moments(40, seed=seed)
    truth = found.true_markers
    posterior = bs.screen(found.moments, model=bs.GaussianModel.jeffreys(), prior_probability=0.3)
    selection = bs.MinimalRisk(0.5).select(posterior)
    measured = rows_of(design)["mnc"]
    assert measured["correct"] == (selection.mask == truth).sum()
    assert measured["n_selected"] == selection.n_selected
    assert measured["false_positives"] == (selection.mask & ~truth).sum()
    assert measured["expected_false_positives"] == selection.expected_false_positives
    assert measured["expected_under_null"] == selection.expected_under_null
    assert (measured["interval_low"], measured["interval_high"]) == selection.false_positives.interval(0.9)
    proper = bs.screen(found.moments, model=bs.GaussianModel.proper(), prior_probability=0.3)
    best = bs.FixedSize(80).select(proper)
    assert rows_of(design)["pp"]["correct"] == (best.mask == truth).sum()
    best = bs.score(found.moments, method="welch").ranking[:80]
    assert rows_of(design)["welch"]["true_positives"] == truth[best].sum()


def test_methods_see_the_same_data_alone_and_together():
    design = small_study(
        raw=True,
        methods=(
            *small_study().methods,
            Method("mi", "MI", "mi", n_selected=80),
            Method("nmc", "NMC", "nmc", n_selected=80),
            Method("wilcoxon", "Wilcoxon", "wilcoxon", n_selected=80),
            Method("bh", "Wilcoxon BH", "wilcoxon", "bh:0.05"),
        ),
    )
    together = rows_of(design)
    for method in design.methods:
        alone = rows_of(design.changed(methods=[method.name]))[method.name]
        assert {**alone, "seconds": 0.0} == {**together[method.name], "seconds": 0.0}


def test_values_and_their_moments_belong_together():
    data = draw_data(small_study(raw=True), 20, 1)
    again = bs.Moments.from_matrix(data.matrix.values, data.matrix.labels.codes)
    np.testing.assert_array_equal(data.moments.mean, again.mean)
    assert data.truth.sum() == 100


def test_scores_are_computed_once_for_all_methods_that_share_them(monkeypatch):
    methods = tuple(Method(f"m{n}", "M", "obf-jp", n_selected=n) for n in (10, 20))
    design = small_study(methods=methods)
    scoring = Scoring(draw_data(design, 20, 0), methods, rivals_of(design))
    assert scoring.of(methods[0]) is scoring.of(methods[1])


def test_what_cannot_run_is_refused_before_any_work():
    for method, said in [
        (Method("a", "A", "nothing"), "no method 'nothing'"),
        (Method("a", "A", "welch", "mnc"), "needs log-odds"),
        (Method("a", "A", "mi"), "Set raw = true"),
        (Method("a", "A", "welch", options={"colour": 1}), "colour"),
    ]:
        with pytest.raises(OptionError, match=said):
            check_runnable(small_study(methods=(method,)))
    with pytest.raises(OptionError, match="no data model"):
        check_runnable(small_study(data="nothing"))
    with pytest.raises(OptionError, match="constant 'colour'"):
        check_runnable(small_study(constants={"colour": 1}))


def test_a_failure_says_which_method_and_where(tmp_path):
    path = tmp_path / "mine.py"
    path.write_text(
        "import bayesieve as bs\n"
        "def run(moments):\n    raise ZeroDivisionError('no luck')\n"
        "RIVAL = bs.Rival('mine', 'Mine', 'moments', run)\n"
    )
    design = small_study(methods=(Method("mine", "Mine", str(path)),))
    with pytest.raises(
        BayesieveError, match=r"'mine' failed with 40 samples in iteration 3: .*ZeroDivisionError: no luck"
    ):
        rows_of(design)
    with pytest.raises(BayesieveError, match="has no p-values"):
        rows_of(small_study(methods=(Method("bd", "BD", "bd", "bh:0.1"),)))
