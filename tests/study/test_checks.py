"""Verdicts on statements, from numbers whose answer is known and from the specification's accuracies."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from made_studies import K4, K4_ERROR, METHODS, as_in_the_specification, results_of
from scipy import stats

from bayesieve.study import Method, StudyDesign, StudyResults, built_in, run_study
from bayesieve.study.checks import STATEMENTS, check_statements
from bayesieve.study.results_view import Estimate, Measure, ResultsView, spread
from bayesieve.study.verdicts import (
    Row,
    Verdict,
    judge_decline,
    judge_equality,
    judge_gain,
    judge_lead,
    judge_no_deficit,
    step,
)

RESULTS = Path(__file__).resolve().parents[2] / "docs" / "results"


def is_within_errors(mean: float, error: float, n: int, method: str) -> bool:
    reference = K4[n][METHODS.index(method)]
    return abs(mean - reference) <= 4.0 * math.hypot(error, K4_ERROR.get(n, 0.3))


@pytest.fixture(scope="module")
def specified() -> dict[str, object]:
    return check_statements(ResultsView(as_in_the_specification()))


@pytest.mark.parametrize(
    ("name", "verdict"),
    [
        ("pp-mnc-best", Verdict.FAILS),
        ("order-of-obf", Verdict.FAILS),
        ("mnc-pp-above-jp", Verdict.FAILS),  # K4 (a)
        ("cmnc-pp-above-jp", Verdict.FAILS),
        ("jp-mnc-above-cmnc", Verdict.HOLDS),
        ("pp-mnc-above-cmnc", Verdict.HOLDS),
        ("cmnc-above-mnc-late", Verdict.FAILS),
        ("bd-like-cmnc", Verdict.HOLDS),  # K4 (c)
        ("bd-above-t", Verdict.FAILS),  # K4 (b)
        ("obf-best", Verdict.HOLDS),
        ("obf-best-throughout", Verdict.FAILS),
        ("t-gains", Verdict.HOLDS),
        ("moderation", Verdict.HOLDS),
        ("consistent", Verdict.HOLDS),  # K4 (d)
        ("jp-errors-vanish", Verdict.HOLDS),
        ("jp-beats-nothing", Verdict.FAILS),  # 19,893.6 at n = 50
        ("pp-beats-nothing", Verdict.HOLDS),
        ("t-above-nmc", Verdict.UNDECIDED),  # not in these results
        ("mi-poorest", Verdict.UNDECIDED),
        ("expected-errors", Verdict.UNDECIDED),
        ("cost-of-t-and-bd", Verdict.UNDECIDED),
    ],
)
def test_verdicts_on_the_reference_accuracies(specified, name, verdict):
    """The specification's own reading of its numbers: K4 (a) to (d) and finding 4 of its README."""
    assert specified[name].verdict is verdict, specified[name].words


def test_the_words_say_where_a_claim_fails(specified):
    (prior,) = specified["mnc-pp-above-jp"].words
    assert prior.startswith("MNC-OBF-PP minus MNC-OBF-JP: +10.5 (")
    assert "ahead at n = 50 to 100, " in prior or "ahead at n = 50 to 200, " in prior
    assert prior.endswith(" to 1,000.")
    (test,) = specified["bd-above-t"].words
    assert "ahead at n = 50 to 500, behind at n = 650 to 1,000." in test
    assert not specified["mi-poorest"].rows


@pytest.mark.parametrize(("study", "absent"), [("figure-1b", {50, 650}), ("figure-1a", {2000, 3000, 5000})])
def test_the_committed_figures_agree_with_the_reference_accuracies(study, absent):
    """Every listed n of K4 that the study has, within four standard errors of the difference."""
    path = RESULTS / f"{study}.csv"
    if not path.is_file():
        pytest.skip("there are no committed results")
    table = pl.read_csv(path)
    compared = 0
    for method, n, mean, error in table.select("method", "n", "correct", "correct_standard_error").iter_rows():
        if n in K4 and method in METHODS:
            assert is_within_errors(mean, error, n, method), (method, n, mean)
            compared += 1
    assert compared == len(METHODS) * len(set(K4) - absent)


@pytest.fixture(scope="module")
def small(tmp_path_factory) -> StudyResults:
    design = built_in("figure-1b").changed(sizes=[50, 200, 1000], iterations=10, methods=METHODS)
    return run_study(design, tmp_path_factory.mktemp("study"), workers=1)


def test_a_small_run_agrees_with_the_reference_accuracies(small):
    for method, _, n, mean, error, _ in small.means().iter_rows():
        assert is_within_errors(mean, error, n, method), (method, n, mean)


def test_a_small_run_finds_what_is_plain(small):
    found = {name: finding.verdict for name, finding in check_statements(ResultsView(small)).items()}
    assert found["jp-mnc-above-cmnc"] is Verdict.HOLDS
    assert found["pp-mnc-above-cmnc"] is Verdict.HOLDS
    assert found["obf-best"] is Verdict.HOLDS
    assert found["consistent"] is Verdict.UNDECIDED  # 30 wrong labels at n = 1,000
    assert found["intervals"] is Verdict.FAILS  # correlated features that are not Gaussian


def test_expectations_hold_where_the_model_is_right(tmp_path):
    """Data drawn from the prior of the model: expected errors, intervals and probabilities are right."""
    design = built_in("calibration").changed(sizes=[50], iterations=25)
    found = check_statements(ResultsView(run_study(design, tmp_path, workers=1)))
    assert found["intervals"].verdict is Verdict.HOLDS
    assert found["reliable"].verdict is Verdict.HOLDS
    assert found["expected-errors"].verdict is not Verdict.FAILS
    assert not found["jp-mnc-above-cmnc"].rows  # what section 6 says is about its own data


def test_larger_priors_select_more(tmp_path):
    design = built_in("sensitivity").changed(sizes=[200], iterations=6)
    found = check_statements(ResultsView(run_study(design, tmp_path, workers=1)))
    assert found["larger-lists"].verdict is found["jp-beats-nothing"].verdict is Verdict.HOLDS
    assert {row.label.split(" minus ")[0] for row in found["jp-beats-nothing"].rows} == {"prior probability 0.005"}


def test_costs_are_ratios_to_obf():
    methods = (Method("obf", "OBF", "obf-jp"), Method("bd", "BD", "bd"), Method("nmc", "NMC", "nmc"))
    design = StudyDesign("times", methods, (20,), 3, raw=True, measures=("labels", "costs"))
    times = {"obf": [1.0, 2.0, 4.0], "bd": [1.5, 3.0, 6.0], "nmc": [1.5, 3.0, 6.0]}
    columns = {"n": [20] * 9, "iteration": [0, 1, 2] * 3, "method": [m for m in times for _ in range(3)]}
    columns |= {name: [5.0] * 9 for name in ("correct", "n_selected", "true_positives", "false_positives")}
    columns |= {"seconds": [second for method in times.values() for second in method], "peak_bytes": [1e6] * 9}
    found = check_statements(ResultsView(results_of(columns, design)))
    assert found["cost-of-t-and-bd"].verdict is Verdict.HOLDS
    assert [(row.label, row.n, row.value.mean) for row in found["cost-of-t-and-bd"].rows] == [
        ("BD, times OBF", 20, pytest.approx(1.5))
    ]
    assert found["cost-of-mi-and-nmc"].verdict is Verdict.FAILS
    assert [name for name, finding in found.items() if finding.rows] == ["cost-of-t-and-bd", "cost-of-mi-and-nmc"]


def test_a_statement_says_which_methods_it_lacks(small):
    needed = {role for statement in STATEMENTS.values() for role in statement.needs}
    assert needed <= {(method.scores, method.rule) for method in built_in("figure-1a").methods}
    assert "nmc (top)" in check_statements(ResultsView(small))["t-above-nmc"].words[0]


def rows_of(*means: float, error: float = 0.1, iterations: int = 50) -> tuple[Row, ...]:
    return tuple(
        Row("A minus B", 100 * (k + 1), Estimate(mean, error, iterations)) for k, mean in enumerate(means)
    )


@pytest.mark.parametrize(
    ("rows", "verdict"),
    [
        (rows_of(1.0, 1.0, 0.1), Verdict.HOLDS),
        (rows_of(1.0, 1.0, -0.5), Verdict.FAILS),  # five standard errors
        (rows_of(1.0, 1.0, -0.3), Verdict.UNDECIDED),  # three
        (rows_of(1.0, 0.1, 0.1), Verdict.UNDECIDED),
        (rows_of(1.0, 1.0, iterations=4), Verdict.UNDECIDED),
        (rows_of(-1.0, error=math.nan, iterations=1), Verdict.UNDECIDED),
        ((), Verdict.UNDECIDED),
    ],
)
def test_leads(rows, verdict):
    assert judge_lead(rows).verdict is verdict


def test_never_behind_needs_no_lead():
    assert judge_no_deficit(rows_of(0.0, 0.1, -0.1)).verdict is Verdict.HOLDS
    assert judge_no_deficit(rows_of(0.0, -0.5)).verdict is Verdict.FAILS
    assert judge_no_deficit(rows_of(0.0, iterations=2)).verdict is Verdict.UNDECIDED
    assert "too few iterations" in judge_no_deficit(rows_of(0.0, iterations=2)).words[0]


def test_alike_closing_and_vanishing():
    assert judge_equality(rows_of(0.5, -0.7), 1.0).verdict is Verdict.HOLDS
    assert judge_equality(rows_of(0.5, -0.9), 1.0).verdict is Verdict.UNDECIDED
    assert judge_equality(rows_of(0.5, -1.5), 1.0).verdict is Verdict.FAILS
    assert judge_gain(rows_of(-5.0, 3.0, -1.0)).verdict is Verdict.HOLDS
    assert judge_gain(rows_of(-1.0, -5.0)).verdict is Verdict.FAILS
    assert judge_gain(rows_of(-1.0, -1.0)).verdict is Verdict.UNDECIDED
    assert judge_decline(rows_of(50.0, 20.0, 4.0), 5.0).verdict is Verdict.HOLDS
    assert judge_decline(rows_of(50.0, 20.0, 10.0), 5.0).verdict is Verdict.UNDECIDED  # still falling
    assert judge_decline(rows_of(50.0, 20.0, 20.0, 20.0), 5.0).verdict is Verdict.FAILS
    assert judge_decline(rows_of(50.0, 20.0, 25.0, 4.0), 5.0).verdict is Verdict.FAILS


def test_directions_are_four_standard_errors():
    assert Estimate(0.41, 0.1, 50).direction == 1
    assert Estimate(-0.41, 0.1, 50).direction == -1
    assert Estimate(0.39, 0.1, 50).direction == 0
    assert step(Estimate(1.0, 0.3, 50), Estimate(3.01, 0.4, 50)) == 1  # 0.5 for both together
    assert step(Estimate(1.0, 0.3, 50), Estimate(2.99, 0.4, 50)) == 0


def test_paired_differences_agree_with_scipys_paired_t_test():
    rng = np.random.default_rng(1)
    one, other = rng.normal(size=30), rng.normal(size=25)
    measured = Measure({"a": "A", "b": "B"},
                        {"a": {10: (np.arange(30), one)}, "b": {10: (np.arange(25) + 5, other)}})  # fmt: skip
    found = measured.difference("a", "b", 10)
    test = stats.ttest_rel(one[5:], other)
    assert found.mean / found.standard_error == pytest.approx(test.statistic, rel=1e-12)
    assert found.iterations == 25
    assert measured.mean("a", 10).standard_error == pytest.approx(stats.sem(one), rel=1e-12)


def test_the_error_of_a_quotient_agrees_with_the_jackknife():
    rng = np.random.default_rng(2)
    below = rng.normal(10.0, 1.0, 400)
    above = 2.0 * below + rng.normal(0.0, 1.0, 400)
    found = Estimate.ratio(above, below)
    left_out = (above.sum() - above) / (below.sum() - below)
    jackknife = math.sqrt(399 / 400 * ((left_out - left_out.mean()) ** 2).sum())
    assert found.mean == pytest.approx(above.sum() / below.sum(), rel=1e-12)
    assert found.standard_error == pytest.approx(jackknife, rel=0.01)


def test_missing_numbers_do_not_count():
    assert Estimate.of([1.0, math.nan, 3.0]).iterations == 2
    assert math.isnan(Estimate.of([]).mean)
    assert math.isnan(Estimate.share([]).mean)
    assert Estimate.share([True] * 12).standard_error == pytest.approx(math.sqrt(14 * 2 / 16**3), rel=1e-12)


def test_the_truth_follows_from_the_labels(small):
    view = ResultsView(small)
    assert (view.n_features, view.trivial, view.n_markers) == (20_000, 19_900.0, 100.0)
    assert view.find("obf-jp", "mnc") == "mnc-obf-jp"
    assert view.find("nmc") is None
    found = small.wide.filter((pl.col("method") == "mnc-obf-jp") & (pl.col("n") == 200))
    assert view.missed_markers("mnc-obf-jp", 200).mean == pytest.approx(
        100 - found["true_positives"].mean(), rel=1e-12
    )
    assert view.gain("mnc-obf-jp", 200).mean == pytest.approx(found["correct"].mean() - 19_900, rel=1e-12)


def test_sizes_are_spread_evenly_by_ratio():
    assert spread((10, 20, 30), 5) == (10, 20, 30)
    assert spread(range(100, 5001, 100), 4) == (100, 400, 1400, 5000)


def test_closeness_to_nothing_and_to_each_other_is_judged():
    """Made numbers: one method 4 above nothing, one 40 below it; two methods 3 apart."""
    made = {("regressions", "best"): 4, ("skbs", "own"): -40, ("bpm", "top"): 53, ("bd", "top"): 50}
    design = built_in("figure-1a")
    methods = [next(m for m in design.methods if (m.scores, m.rule) == role) for role in made]
    design = design.changed(sizes=[200, 500], methods=[m.name for m in methods])
    rows = [
        {"n": n, "iteration": k, "method": m.name, "correct": 19_900.0 + gain + k % 2, "n_selected": 100.0,
         "true_positives": 60.0 + gain + k % 2, "false_positives": 60.0, "seconds": 1.0}
        for m, gain in zip(methods, made.values(), strict=True) for n in (200, 500) for k in range(8)
    ]  # fmt: skip
    view = ResultsView(results_of({key: [row[key] for row in rows] for key in rows[0]}, design))
    found = check_statements(view)
    assert found["near-nothing"].verdict is Verdict.FAILS
    assert {(row.label, row.n) for row in found["near-nothing"].rows} == {
        ("Regularized-best minus nothing selected", 200), ("MR-SKBS minus nothing selected", 200)
    }  # fmt: skip
    assert found["bpm-near-bd"].verdict is Verdict.HOLDS
    assert [row.n for row in found["bpm-near-bd"].rows] == [500]
    assert not found["skbs-then-below-limma"].rows
