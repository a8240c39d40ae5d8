"""What lists claim: measures by brute force, verdicts on made numbers, and a grid that goes on where it was."""

from __future__ import annotations

import itertools
import math
import tomllib
from dataclasses import replace

import numpy as np
import polars as pl
import pytest

import bayesieve as bs
from bayesieve.errors import OptionError
from bayesieve.study import (
    StudyGrid,
    StudyResults,
    TrustView,
    built_in_grid,
    check_trust,
    run_grid,
    write_trust_report,
)
from bayesieve.study.measures import FOUND_AT, claim_measures, measure_names, ranking_measures
from bayesieve.study.results_view import Estimate
from bayesieve.study.trust import Claim
from bayesieve.study.verdicts import Verdict


@pytest.mark.parametrize("seed", range(20))
def test_markers_found_at_equal_errors_by_brute_force(seed):
    """The longest list, over all prefixes, that holds no more false positives than allowed."""
    rng = np.random.default_rng(seed)
    p = int(rng.integers(5, 4000))
    truth, ranking = rng.random(p) < 0.3, rng.permutation(p)
    found = ranking_measures(ranking, truth)
    for name, of_20000 in zip(FOUND_AT, (3, 10, 30), strict=True):
        allowed = max(1, math.ceil(of_20000 * p / 20_000))
        best = 0
        for length in range(p + 1):
            chosen = truth[ranking[:length]]
            if (~chosen).sum() <= allowed:
                best = max(best, int(chosen.sum()))
        assert found[name] == best


def test_claims_of_a_judged_list_by_hand():
    rng = np.random.default_rng(4)
    X = rng.normal(size=(30, 300))
    X[15:, :10] += 2.0
    posterior = bs.screen(X, [0] * 15 + [1] * 15, shuffles=60, seed=3)
    selection = bs.MinimalRisk(0.5).select(posterior)
    passing = [int((each + posterior.prior_log_odds > selection.cut).sum()) for each in posterior.shuffled.values]
    found = claim_measures(selection, 1)
    assert found["claimed_false_positives"] == pytest.approx(0.99 * np.mean(passing), rel=1e-12)
    low, high = (round(0.99 * sorted(passing)[k]) for k in (2, 56))  # 5% and 95% of 60
    assert (found["claimed_low"], found["claimed_high"]) == (low, high)
    assert found["claim_holds"] == (low <= 1 <= high)
    assert "expected_under_null" not in found


def test_an_empty_list_claims_nothing():
    X = np.random.default_rng(0).normal(size=(20, 50))
    selection = bs.MinimalRisk(0.999999).select(bs.screen(X, [0] * 10 + [1] * 10, shuffles=30))
    assert selection.n_selected == 0
    assert selection.false_positive_estimate.expected == 0.0
    found = claim_measures(selection, 0)
    assert (found["claimed_false_positives"], found["claimed_high"], found["claim_holds"]) == (0.0, 0.0, 1.0)


def test_claims_of_the_papers_list_are_those_of_the_model():
    X = np.random.default_rng(1).normal(size=(20, 200))
    posterior = bs.screen(X, [0] * 10 + [1] * 10, model=bs.GaussianModel.jeffreys(), shuffles=0)
    selection = bs.MinimalRisk(0.5).select(posterior)
    found = claim_measures(selection, selection.n_selected)
    assert found["claimed_false_positives"] == selection.expected_false_positives
    assert found["expected_under_null"] == selection.expected_under_null
    assert set(found) <= set(measure_names(["trust"]))


def small_grid(**changes):
    settings = {"iterations": 3, "sizes": [20], "scenarios": ["gaussian-mean", "t3-none"], "n_features": 300}
    grid = built_in_grid("trust").changed(**(settings | changes))
    methods = tuple(replace(method, shuffles=min(method.shuffles, 20)) for method in grid.base.methods)
    return replace(grid, base=replace(grid.base, methods=methods))


def numbers(results):
    return [found.wide.drop("seconds").sort("n", "iteration", "method") for found in results.values()]


def test_a_grid_goes_on_where_it_was_interrupted(tmp_path):
    grid = small_grid()

    def stop(done, total):
        assert total == 6
        if done:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_grid(grid, tmp_path / "a", workers=1, progress=stop)
    there = StudyResults.load(tmp_path / "a" / "gaussian-mean")
    assert 0 < there.wide["iteration"].n_unique() < 3
    seen = []
    again = run_grid(grid, tmp_path / "a", workers=1, progress=lambda done, total: seen.append((done, total)))
    assert seen[-1] == (6, 6)
    whole = run_grid(grid, tmp_path / "b", workers=1)
    for one, other in zip(numbers(again), numbers(whole), strict=True):
        assert one.equals(other)


def test_scenarios_have_data_of_their_own_and_methods_share_them(tmp_path):
    grid = small_grid(scenarios=["gaussian-mean", "t3-mean"], iterations=1)
    seeds = [design.seed for design in grid.designs.values()]
    assert len(set(seeds)) == 2
    found = run_grid(grid, tmp_path, workers=1)["gaussian-mean"].wide
    shared = found.filter(pl.col("method").is_in(["calibrated-mnc", "calibrated-fdr"]))
    assert shared["found_at_10"].n_unique() == 1
    assert found.filter(pl.col("method") == "welch")["claimed_false_positives"].item() == pytest.approx(
        0.1 * found.filter(pl.col("method") == "welch")["n_selected"].item()
    )


def test_a_grid_reads_what_it_writes_and_says_what_is_wrong():
    grid = small_grid()
    assert StudyGrid.from_dict(tomllib.loads(grid.to_toml())) == grid
    with pytest.raises(OptionError, match="no scenario 'gaus'"):
        grid.changed(scenarios=["gaus"])
    with pytest.raises(OptionError, match="each with a name"):
        StudyGrid.from_dict({"sizes": [20], "methods": [{"scores": "welch"}], "scenarios": [{"noise": "student"}]})
    with pytest.raises(OptionError, match="two scenarios"):
        StudyGrid(grid.base, grid.scenarios[:1] * 2)
    paper = built_in_grid("trust").changed(scenarios=["paper"], n_features=1000).designs["paper"]
    assert bs.simulation.SynergeticModel(**paper.constants).n_features == pytest.approx(1000, abs=25)


@pytest.mark.parametrize(
    ("claimed", "true", "why"),
    [
        (9.0, 10.0, "ratio"),
        (12.6, 10.0, ""),
        (0.4, 1.2, "difference"),
        (5.0, 10.0, ""),
        (0.0, 0.0, "difference"),
    ],
)
def test_why_a_claim_holds(claimed, true, why):
    error = 0.1
    ratio = Estimate(claimed / true if true else math.nan, error, 50)
    gap = Estimate(claimed - true, error, 50)
    made = Claim(Estimate(claimed, error, 50), Estimate(true, error, 50), gap, ratio, 10_000)
    assert made.agrees_by == why
    wide = Claim(made.claimed, made.true, Estimate(gap.mean, 3.0, 50), ratio, 10_000)
    assert wide.agrees_by in (why or "error", "error", "ratio", "difference")
    assert wide.agrees_by


def made_results(claimed_over_true, found=(20.0, 20.0), wrong=40.0):
    """Results of a grid in which every list is off by a factor, and rankings find what is said."""
    grid = small_grid(scenarios=["gaussian-mean", "t3-none"], iterations=30)
    rng = np.random.default_rng(0)
    results = {}
    for name, design in grid.designs.items():
        rows = []
        for iteration, method in itertools.product(range(30), design.methods):
            false = float(rng.poisson(wrong)) if name != "t3-none" else 0.0
            markers = found[0] if method.scores == "obf" else found[1]
            there = name != "t3-none"
            claim = {"claimed_false_positives": claimed_over_true * wrong * there, "claim_holds": 1.0}
            claim |= {"was_emptied": 0.0, "was_shortened": 0.0, "n_selected": false + markers * there}
            claim |= dict.fromkeys(FOUND_AT, markers + rng.normal() / 9)
            rows.append({"n": 20, "iteration": iteration, "method": method.name, "correct": 200.0,
                         "true_positives": markers, "false_positives": false, **claim})  # fmt: skip
        results[name] = StudyResults(design, pl.DataFrame(rows))
    return grid, results


def verdicts(*arguments, **options):
    return {claim: found.verdict for claim, found in check_trust(TrustView(*made_results(*arguments, **options)))
            if found.rows}  # fmt: skip


def test_statements_hold_and_fail_where_they_should():
    good, low = verdicts(1.0), verdicts(0.5)
    about = next(claim for claim in good if "MNC list agree in all Gaussian" in claim)
    assert good[about] is Verdict.HOLDS
    assert low[about] is Verdict.FAILS
    together = [claim for claim in good if "scenarios together (0.8" in claim]
    assert len(together) == 2
    assert {good[claim] for claim in together} == {Verdict.HOLDS}
    assert {low[claim] for claim in together} == {Verdict.FAILS}
    power = next(claim for claim in good if "0.95 of what JP" in claim)
    assert verdicts(1.0, found=(19.5, 20.0))[power] is Verdict.HOLDS
    assert verdicts(1.0, found=(17.0, 20.0))[power] is Verdict.FAILS
    moderated = next(claim for claim in good if "what moderated t finds" in claim)
    assert verdicts(1.0, found=(19.5, 20.0))[moderated] is Verdict.FAILS
    level = next(claim for claim in good if "Without markers" in claim)
    assert good[level] is Verdict.HOLDS


def test_the_report_holds_what_was_measured(tmp_path):
    grid, results = made_results(0.5)
    files = write_trust_report(grid, results, tmp_path, formats=["svg"])
    assert {path.name for path in files} >= {"results.csv", "summary.md", "summary.html", "trust.svg"}
    table = pl.read_csv(tmp_path / "results.csv")
    row = table.filter((pl.col("scenario") == "gaussian-mean") & (pl.col("method") == "calibrated-mnc"))
    drawn = results["gaussian-mean"].wide.filter(pl.col("method") == "calibrated-mnc")
    assert row["claimed_over_true"].item() == pytest.approx(20.0 / drawn["false_positives"].mean(), rel=1e-5)
    text = (tmp_path / "summary.md").read_text()
    assert "Does not hold" in text
    assert "!" in text
