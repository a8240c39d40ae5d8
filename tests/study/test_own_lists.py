"""Methods that choose a list by themselves, or offer several of which a study reports the best."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import bayesieve as bs
from bayesieve.study import Method, StudyDesign, StudyResults, run_study
from bayesieve.study.methods import draw_data

OWN = """
import numpy as np
import bayesieve as bs

CUTS = (0.1, 0.5, 1.0, 2.0)

def run(moments, cut=1.0):
    gap = np.abs(moments.mean_difference)
    lists = np.array([gap > cut for cut in CUTS])
    return bs.FeatureScores(
        "gaps", np.round(gap), tie_break=gap, selected=gap > cut,
        diagnostics={"list_names": [f"cut={cut}" for cut in CUTS], "lists": lists},
    )

RIVAL = bs.Rival("gaps", "Gaps", "moments", run)
"""
CONSTANTS = {"n_features": 300, "marker_share": 0.05}


@pytest.fixture
def place(tmp_path):
    path = tmp_path / "gaps.py"
    path.write_text(OWN, encoding="utf-8")
    return f"{path}:RIVAL"


def design(place, *rules, iterations=6):
    methods = tuple(Method(rule, rule.title(), place, rule=rule, n_selected=7) for rule in rules)
    return StudyDesign(
        "gaps", methods, sizes=(10, 60), iterations=iterations, data="shapes", constants=CONSTANTS, raw=True,
        measures=("labels",),
    )  # fmt: skip


def right(study, n, iteration, cut):
    data = draw_data(study, n, iteration)
    return int(((np.abs(data.moments.mean_difference) > cut) == data.truth).sum())


def test_a_list_of_its_own_is_measured(place, tmp_path):
    study = design(place, "own", iterations=2)
    found = run_study(study, tmp_path / "store", workers=1)
    expected = [right(study, n, k, 1.0) for n in (10, 60) for k in range(2)]
    assert found.wide.sort("n", "iteration")["correct"].to_list() == expected


def test_the_best_of_several_lists_is_that_after_averaging(place, tmp_path):
    study = design(place, "best")
    found = run_study(study, tmp_path / "store", workers=1)
    counts = {
        n: np.array([[right(study, n, k, c) for c in (0.1, 0.5, 1.0, 2.0)] for k in range(6)]) for n in (10, 60)
    }
    for n, table in counts.items():
        best = int(table.mean(axis=0).argmax())
        own = found.wide.filter((pl.col("method") == "best") & (pl.col("n") == n)).sort("iteration")
        assert own["correct"].to_list() == table[:, best].tolist()
        assert own["seconds"].null_count() == 0
        each = found.wide.filter((pl.col("method") == "best/each") & (pl.col("n") == n)).sort("iteration")
        assert each["correct"].to_list() == table.max(axis=1).tolist()
    assert counts[10].mean(axis=0).argmax() != counts[60].mean(axis=0).argmax()
    again = StudyResults.load(tmp_path / "store").restricted(study.changed(iterations=2))
    few = counts[60][:2].mean(axis=0).argmax()
    kept = again.wide.filter((pl.col("method") == "best") & (pl.col("n") == 60)).sort("iteration")
    assert kept["correct"].to_list() == counts[60][:2, few].tolist()
    assert found.means().select("method", "n").rows() == [("best", 10), ("best", 60)]


def test_ties_are_broken_before_a_list_is_cut(place, tmp_path):
    study = design(place, "top", iterations=1)
    found = run_study(study, tmp_path / "store", workers=1).wide.filter(pl.col("n") == 10)
    data = draw_data(study, 10, 0)
    strongest = np.argsort(-np.abs(data.moments.mean_difference))[:7]
    assert found["true_positives"].item() == data.truth[strongest].sum()


@pytest.mark.parametrize(("rule", "words"), [("own", "chooses no list"), ("best", "does not offer several")])
def test_methods_without_lists_are_told_so(rule, words, tmp_path):
    study = StudyDesign(
        "s", (Method("a", "A", "welch", rule=rule),), sizes=(20,), iterations=1, data="shapes", constants=CONSTANTS
    )
    with pytest.raises(bs.BayesieveError, match=words):
        run_study(study, tmp_path / "store", workers=1)
