"""The page of a screen whose labels were shuffled: one number of false positives, that of Python."""

from __future__ import annotations

import numpy as np
import pytest
from browser.handling import list_names, results, set_to
from report.engine_cases import expected

import bayesieve as bs

STATES = (
    {"rule": "mr", "threshold": 0.9}, {"rule": "cmnc", "n_selected": 30},
    {"rule": "np", "expected_false_positives": 1.0}, {"rule": "fdr", "proportion": 0.1},
    {"rule": "fdp", "proportion": 0.2, "confidence": 0.8}, {"rule": "mnc", "prior": 0.1},
    {"rule": "fdr", "proportion": 0.1, "prior": 0.2},
)  # fmt: skip
NUMBERS = (
    "n_selected", "expected_true", "expected_false", "interval_low", "interval_high", "false_discovery_rate",
    "hit_rate", "n_as_long", "model_false", "expected_missed",
)  # fmt: skip


def check(page, posterior, state):
    found, known = results(page), expected(posterior, state)
    for name in NUMBERS:
        assert found[name] == pytest.approx(known[name], rel=1e-9, abs=1e-12), (state, name)


def test_the_page_opens_with_the_number_of_the_shuffles(opened, made):
    study = made("shuffled")
    page = opened(study.path)
    selection = bs.MinimalRisk(0.5).select(study.posterior)
    check(page, study.posterior, {"rule": "mnc"})
    assert results(page)["expected_false"] == pytest.approx(selection.false_positive_estimate.expected, rel=1e-12)
    assert "from 40 shuffles of the labels" in page.inner_text("#verdict")
    assert "The list stands" in page.inner_text("#judgement")
    assert "global null" not in page.inner_text("main")
    assert page.locator('[data-result="under_null"]').count() == 0


def test_other_lists_have_the_numbers_of_python_and_no_test(opened, made):
    study = made("shuffled")
    page = opened(study.path)
    for state in STATES:
        set_to(page, state)
        check(page, study.posterior, state)
        assert page.inner_text("#judgement") == "The count test belongs to the list of the run, not to this one."
    page.locator("#control-reset").click()
    page.wait_for_timeout(300)
    assert "The list stands" in page.inner_text("#judgement")


def test_a_list_that_the_test_has_shortened_is_the_one_shown(opened, made):
    study = made("cut short")
    selection = bs.MinimalRisk(0.35).select(study.posterior)
    assert selection.was_cut
    page = opened(study.path)
    found = results(page)
    assert found["n_selected"] == selection.n_selected < int((study.posterior.probability > 0.35).sum())
    assert found["expected_false"] == pytest.approx(selection.false_positive_estimate.expected)
    assert "pass the cut of the rule" in page.inner_text("#judgement")
    assert list_names(page) == list(selection.names)
    set_to(page, {"rule": "mr", "threshold": 0.3})
    assert results(page)["n_selected"] == int((study.posterior.probability > 0.3).sum())


def test_the_share_that_the_data_suggest_is_marked_and_can_be_taken(opened, made):
    study = made("shuffled")
    share = study.posterior.estimated_share
    assert share is not None
    assert share > study.posterior.shuffled.least_share
    page = opened(study.path)
    assert f"The data suggest that {100 * share:.2g}% are (marked)." in page.inner_text("#prior-suggested")
    place = float(page.locator("#prior-marks option").get_attribute("value"))
    assert place == pytest.approx(240 * np.log(share / 1e-5) / np.log(0.5 / 1e-5), abs=1)
    assert page.locator("#control-prior-slider").get_attribute("list") == "prior-marks"
    page.locator("#control-suggested").click()
    page.wait_for_timeout(300)
    taken = float(f"{share:.2g}")
    assert float(page.input_value("#control-prior")) == taken
    check(page, study.posterior, {"rule": "mnc", "prior": taken})


def test_nothing_is_suggested_without_shuffled_labels(opened, made):
    page = opened(made("two classes").path)
    assert not page.locator("#prior-suggested").is_visible()


def test_a_list_that_ends_at_a_limit_claims_the_same_on_its_page(tmp_path, opened):
    rng = np.random.default_rng(2)
    X = rng.normal(size=(60, 300))
    X[30:, :30] += 1.1
    selection = bs.FalseDiscovery(0.1).select(bs.screen(X, np.repeat(["a", "b"], 30), shuffles=40))
    assert selection.estimate is not None
    bs.report.write(selection, tmp_path / "page.html")
    page = opened(tmp_path / "page.html")
    assert results(page)["expected_false"] == pytest.approx(selection.false_positive_estimate.expected, rel=1e-12)
    set_to(page, {"rule": "fdr", "proportion": 0.2})
    check(page, selection.posterior, {"rule": "fdr", "proportion": 0.2})
