"""Costs: a small Table 1."""

from __future__ import annotations

import pytest
from small_studies import CONSTANTS, reproducible, small_study

from bayesieve.errors import OptionError
from bayesieve.study import StudyDesign, built_in, relative_costs, run_study


def test_table_1_small(tmp_path):
    """Costs are those of each method alone, yet its list is the one of a study that does not measure them."""
    table = built_in("table-1").changed(methods=["cmnc-obf-jp", "bd", "limma", "nmc", "wilcoxon"])
    design = StudyDesign("small", table.methods, (20,), 2, raw=True, constants=CONSTANTS, measures=table.measures)
    results = run_study(design, tmp_path)
    costs = relative_costs(results)
    assert costs["method"].to_list() == [method.name for method in table.methods]
    assert costs["times_reference"][0] == pytest.approx(1.0)
    assert (costs["seconds"] > 0).all()
    assert (costs["peak_megabytes"] > 0.001).all()
    other = relative_costs(results, "bd")
    assert other.filter(other["method"] == "bd")["times_reference"].to_list() == pytest.approx([1.0])
    plain = StudyDesign("small", table.methods, (20,), 2, raw=True, constants=CONSTANTS)
    labels = ["correct", "false_positives", "n_selected", "true_positives"]
    same = reproducible(run_study(plain, tmp_path / "plain.sqlite", workers=1))
    assert reproducible(results).equals(same.filter(same["measure"].is_in(labels)))


def test_memory_is_that_of_the_arrays_a_method_makes(tmp_path):
    path = tmp_path / "mine.py"
    path.write_text(
        "import numpy as np\nimport bayesieve as bs\n"
        "def run(moments):\n"
        "    large = np.ones(5_000_000)\n"
        "    return bs.FeatureScores('mine', moments.mean_difference * large.sum())\n"
        "RIVAL = bs.Rival('mine', 'Mine', 'moments', run)\n"
    )
    settings = {
        "sizes": [20], "iterations": 1, "raw": True, "measures": ["costs"], "constants": CONSTANTS,
        "name": "memory", "methods": [{"scores": str(path), "n_selected": 5}],
    }  # fmt: skip
    costs = relative_costs(run_study(StudyDesign.from_dict(settings), tmp_path, workers=1))
    assert 40.0 < costs["peak_megabytes"][0] < 41.0


def test_costs_need_values_and_a_study_that_measured_them(tmp_path):
    with pytest.raises(OptionError, match="raw = true"):
        run_study(small_study(measures=("costs",)), tmp_path / "a.sqlite", workers=1)
    with pytest.raises(OptionError, match="did not measure costs"):
        relative_costs(run_study(small_study(iterations=1, sizes=(20,)), tmp_path / "b.sqlite", workers=1))
