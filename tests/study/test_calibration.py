"""Where the model is right, what it expects comes true: false positives, intervals, probabilities."""

from __future__ import annotations

import numpy as np
import pytest

from bayesieve.study import StudyDesign, built_in, run_study
from bayesieve.study.measures import EDGES, bin_names

ITERATIONS = 60


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    whole = built_in("calibration")
    methods = [
        {"name": each.name, "title": each.title, "scores": each.scores, "rule": each.rule,
         "options": {"prior_probability": 0.1}}
        for each in whole.methods
    ]  # fmt: skip
    settings = {
        **whole.to_dict(), "methods": methods, "sizes": [30], "iterations": ITERATIONS,
        "constants": {"n_features": 1000, "prior_probability": 0.1},
    }  # fmt: skip
    return run_study(StudyDesign.from_dict(settings), tmp_path_factory.mktemp("calibration"), workers=1)


def test_expected_false_positives_are_those_that_come_true(results):
    for method in results.design.methods:
        rows = results.wide.filter(results.wide["method"] == method.name)
        gap = (rows["expected_false_positives"] - rows["false_positives"]).to_numpy()
        assert rows["n_selected"].mean() > 10
        assert abs(gap.mean()) < 4 * gap.std(ddof=1) / np.sqrt(ITERATIONS)


def test_intervals_hold_the_truth_as_often_as_they_say(results):
    for method in results.design.methods:
        rows = results.wide.filter(results.wide["method"] == method.name)
        inside = rows["false_positives"].is_between(rows["interval_low"], rows["interval_high"]).to_numpy()
        said = rows["interval_probability"].to_numpy()
        assert (said >= 0.9).all()
        error = np.sqrt((said * (1 - said)).sum())
        assert abs(inside.sum() - said.sum()) < 4 * error + 1e-9


def test_of_the_features_in_a_bin_as_many_are_markers_as_their_probabilities_say(results):
    rows = results.wide.filter(results.wide["method"] == "mnc")
    total = 0.0
    for k in range(len(EDGES) - 1):
        features, probability, markers = (rows[name].to_numpy() for name in bin_names(k))
        low, high = EDGES[k] * features.sum(), EDGES[k + 1] * features.sum()
        assert low <= probability.sum() <= high
        spread = np.sqrt(max((probability * (1 - probability / np.maximum(features, 1))).sum(), 1.0))
        assert abs(markers.sum() - probability.sum()) < 4 * spread
        total += features.sum()
    assert total == 1000 * ITERATIONS


def test_rules_keep_the_bounds_they_are_given(results):
    means = {row["method"]: row["mean"] for row in results.means("false_positives").iter_rows(named=True)}
    errors = {
        row["method"]: row["standard_error"] for row in results.means("false_positives").iter_rows(named=True)
    }
    assert means["np-5"] <= 5 + 4 * errors["np-5"]
    rows = results.wide.filter(results.wide["method"] == "fdr-0.1")
    share = (rows["false_positives"] / rows["n_selected"]).to_numpy()
    assert share.mean() < 0.1 + 4 * share.std(ddof=1) / np.sqrt(ITERATIONS)
    rows = results.wide.filter(results.wide["method"] == "fdp-0.1-0.9")
    kept = (rows["false_positives"] <= np.floor(0.1 * rows["n_selected"].to_numpy() + 1e-9)).to_numpy()
    assert kept.mean() > 0.9 - 4 * np.sqrt(0.09 / ITERATIONS)
