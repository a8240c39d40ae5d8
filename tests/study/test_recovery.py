"""Which method finds what: the rule that takes the true number, statements on made numbers, and the report."""

from __future__ import annotations

import itertools

import numpy as np
import polars as pl
import pytest

from bayesieve.study import (
    RecoveryView,
    StudyResults,
    built_in_grid,
    check_recovery,
    describe_recovery,
    run_grid,
    write_recovery_report,
)
from bayesieve.study.verdicts import Verdict


def grid_of(*scenarios, **changes):
    return built_in_grid("correlations").changed(scenarios=scenarios, sizes=[120], **changes)


def made(shares, scenarios=("a", "b", "c", "none"), iterations=40):
    """Results in which methods find a share of the markers: ``shares[scenario][method]``, 1 if it is not given."""
    grid = grid_of(*scenarios, iterations=iterations)
    rng = np.random.default_rng(1)
    results = {}
    for name, design in grid.designs.items():
        rows = []
        n_markers = 0 if name.startswith("none") else 2
        for iteration, method in itertools.product(range(iterations), design.methods):
            share = shares.get(name, {}).get(method.name, 0.0 if name.startswith("none") else 1.0)
            found = float(rng.binomial(n_markers, share))
            false = float(rng.random() < share) if not n_markers else 0.0
            rows.append({"n": 120, "iteration": iteration, "method": method.name,
                         "correct": 200.0 - n_markers + found - false, "n_selected": found + false,
                         "true_positives": found, "false_positives": false})  # fmt: skip
        results[name] = StudyResults(design, pl.DataFrame(rows))
    return grid, results


AS_S4_SAYS = {
    "a": {"t-test": 0.05},
    "b": {"t-test": 0.02, "obf-jp": 0.02, "obf": 0.02, "lasso": 0.0},
    "c": {"lasso": 0.5},
}


def verdicts(shares):
    found = check_recovery(RecoveryView(*made(shares)))
    return {claim: finding.verdict for claim, _, finding in found if finding.rows}


def test_the_statements_of_s4_hold_where_they_should():
    found = verdicts(AS_S4_SAYS)
    assert set(found.values()) == {Verdict.HOLDS}
    assert len([claim for claim in found if "S4" in claim]) == 7


@pytest.mark.parametrize(
    ("scenario", "method", "share", "about"),
    [
        ("a", "t-test", 0.9, "cannot detect differences of variances"),
        ("a", "obf-jp", 0.3, "OBF detects differences of variances"),
        ("b", "obf", 0.9, "Neither t-test nor OBF"),
        ("b", "pofac", 0.4, "2MNC-Robust and POFAC find features"),
        ("c", "t-test", 0.3, "detect both of two correlated"),
        ("c", "lasso", 1.0, "A regression misses more"),
        ("none", "remain", 0.5, "lists of REMAIN are empty"),
    ],
)
def test_a_statement_fails_where_numbers_contradict_it(scenario, method, share, about):
    shares = {name: dict(each) for name, each in AS_S4_SAYS.items()}
    shares.setdefault(scenario, {})[method] = share
    found = verdicts(shares)
    claim = next(claim for claim in found if about in claim)
    assert found[claim] is not Verdict.HOLDS
    if about != "A regression misses more":  # equal shares are no contradiction, but no support either
        assert found[claim] is Verdict.FAILS


def test_the_true_number_is_taken(tmp_path):
    grid = grid_of("c", "b-many", "none", iterations=2, methods=["t-test", "obf-jp"])
    for name, found in run_grid(grid, tmp_path, workers=1).items():
        assert set(found.wide["n_selected"]) == {{"c": 2.0, "b-many": 20.0, "none": 0.0}[name]}


def test_table_and_report_hold_what_was_measured(tmp_path):
    grid, results = made(AS_S4_SAYS)
    view = RecoveryView(grid, results)
    lines = describe_recovery(view)
    assert len(lines) == 2 + 3  # the scenario without markers is left out
    files = write_recovery_report(grid, results, tmp_path, formats=["svg"])
    assert {path.name for path in files} >= {"correlations.svg", "correlations-examples.svg", "results.csv"}
    table = pl.read_csv(tmp_path / "results.csv")
    row = table.filter((pl.col("scenario") == "c") & (pl.col("method") == "lasso"))
    drawn = results["c"].wide.filter(pl.col("method") == "lasso")["true_positives"]
    assert row["true_positives"].item() == pytest.approx(drawn.mean(), abs=1e-6)
    text = (tmp_path / "summary.md").read_text()
    assert "Holds: 2MNC" in text
    assert f"{drawn.mean() / 2:.0%}" in text
