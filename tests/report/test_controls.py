"""Where the controls start: every rule, and selections that only know what they hold."""

from __future__ import annotations

import numpy as np
import pytest

import bayesieve as bs
from bayesieve.report import ReportData
from bayesieve.report.controls import RuleState, start_of_controls


@pytest.fixture
def posterior(rng):
    values, labels = rng.normal(size=(40, 300)), np.arange(40) % 2
    values[labels == 1, :20] += 1.5
    return bs.screen(values, labels)


@pytest.mark.parametrize(
    ("rule", "state"),
    [
        ("MNC", {"name": "mnc"}),
        ("MAP", {"name": "mnc"}),
        (bs.MinimalRisk(0.5), {"name": "mnc"}),
        (bs.MinimalRisk(0.9), {"name": "mr", "threshold": 0.9}),
        (bs.FixedSize(17), {"name": "cmnc", "n_selected": 17}),
        (bs.MostProbable(size=5), {"name": "cmnc", "n_selected": 5}),
        (bs.NeymanPearson(2), {"name": "np", "expected_false_positives": 2.0}),
        (bs.FalseDiscovery(0.2), {"name": "fdr", "proportion": 0.2}),
        (bs.FalseDiscovery(0.2, confidence=0.0), {"name": "fdp", "proportion": 0.2, "confidence": 0.0}),
    ],
)
def test_rules_start_their_controls(posterior, rule, state):
    report = ReportData.of(posterior, rule=rule)
    assert state.items() <= report.rule.content().items()
    assert 0 < report.rule.n_selected <= 300


def test_selections_are_recognised(posterior):
    selection, state = start_of_controls(bs.MinimalRisk(0.5).select(posterior), None)
    assert state.name == "mnc"
    longer = bs.FixedSize(selection.n_selected + 3).select(posterior)
    assert start_of_controls(longer, None)[1] == RuleState("cmnc", n_selected=longer.n_selected)
    given = bs.NeymanPearson(1.5)
    assert start_of_controls(given.select(posterior), given)[1].expected_false_positives == 1.5


def test_selections_that_are_no_list_of_the_best_are_refused(posterior):
    mask = np.zeros(300, bool)
    mask[posterior.ranking[[0, 2]]] = True
    odd = bs.Selection(posterior, mask, "by hand", 0.0)
    with pytest.raises(bs.RuleError, match=r"leaves out '.*' \(rank 2\) and holds '.*' \(rank 3\)"):
        ReportData.of(odd)
    with pytest.raises(bs.RuleError, match="the selection holds"):
        ReportData.of(bs.FixedSize(3).select(posterior), rule=bs.FixedSize(4))


def test_rules_from_elsewhere_become_a_size(posterior):
    class Third:
        def select(self, posterior):
            return bs.FixedSize(33).select(posterior)

    assert ReportData.of(posterior, rule=Third()).rule == RuleState("cmnc", n_selected=33)
