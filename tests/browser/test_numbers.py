"""The live numbers and lists of the page are those of the Python rules.

A few states prove that the controls reach the rules; tests/scripts compares the rules themselves under thousands.
"""

from __future__ import annotations

import math

import pytest
from browser.handling import list_names, results, set_to, settle
from report.engine_cases import expected, reweighed, rule_of, settings

EXACT = ("n_selected", "interval_low", "interval_high")
CLOSE = ("expected_true", "expected_false", "expected_missed", "expected_markers", "false_discovery_rate", "cut")
MOVED = ("prior", "odds_factor", "ratio")


def few(posterior):
    """Return one state of every rule, and one for each part of the prior that can be moved and all of them."""
    groups = {}
    for state in settings(posterior):
        moved = tuple(key for key in MOVED if key in state)
        groups.setdefault(moved or state["rule"], []).append(state)
    return [group[len(group) // 2] for group in groups.values()]


def check(page, posterior, state):
    found, known = results(page), expected(posterior, state)
    for name in EXACT:
        assert found[name] == known[name], (state, name, found[name], known[name])
    for name in CLOSE:
        assert found[name] == pytest.approx(known[name], rel=1e-9, abs=1e-12, nan_ok=True), (state, name)
    assert found["hit_rate"] == pytest.approx(known["hit_rate"], abs=1e-9, nan_ok=True), state
    if math.isnan(known["under_null"]):
        assert math.isnan(found["under_null"]), state
    else:
        assert found["under_null"] == pytest.approx(known["under_null"], rel=0.01, abs=1e-6), state


def test_the_page_opens_with_the_numbers_of_the_report(opened, made):
    study = made("two classes")
    page = opened(study.path)
    check(page, study.posterior, {"rule": "mnc"})
    assert not page.locator("#control-reset").is_visible()


def test_every_number_is_that_of_the_python_rule(opened, made):
    study = made("two classes")
    states = few(study.posterior)
    assert {state["rule"] for state in states} == {"mnc", "mr", "cmnc", "np", "fdr", "fdp"}
    assert {key for state in states for key in MOVED if key in state} == {"prior", "ratio"}
    page = opened(study.path)
    for state in states:
        set_to(page, state)
        check(page, study.posterior, state)


def test_numbers_with_one_prior_for_each_feature(opened, made):
    study = made("own priors")
    page = opened(study.path)
    assert not page.locator("#control-prior").is_visible()
    for state in few(study.posterior):
        set_to(page, state)
        check(page, study.posterior, state)


def test_the_list_in_the_table_is_that_of_the_python_rule(opened, made):
    study = made("two classes")
    page = opened(study.path)
    for state in few(study.posterior):
        set_to(page, state)
        selection = rule_of(state).select(reweighed(study.posterior, state))
        kept = set(selection.names)
        assert list_names(page) == [name for name in study.ranking if name in kept], state


def test_sliders_answer_and_the_number_beside_them_follows(opened, made):
    study = made("two classes")
    page = opened(study.path)
    for rule, control, key in (
        ("mr", "control-threshold", "threshold"),
        ("cmnc", "control-n", "n_selected"),
        ("np", "control-np", "expected_false_positives"),
        ("fdr", "control-proportion", "proportion"),
    ):
        set_to(page, {"rule": rule})
        slider = page.locator(f"#{control}-slider")
        slider.focus()
        for key_pressed in ("ArrowRight", "ArrowRight", "PageUp", "ArrowLeft"):
            slider.press(key_pressed)
        settle(page)
        number = float(page.locator(f"#{control}").input_value())
        check(page, study.posterior, {"rule": rule, key: int(number) if key == "n_selected" else number})


def test_a_cost_is_a_threshold(opened, made):
    study = made("two classes")
    page = opened(study.path)
    set_to(page, {"rule": "mr"})
    page.locator("#control-cost").fill("9")
    page.locator("#control-cost").press("Enter")
    settle(page)
    assert float(page.locator("#control-threshold").input_value()) == pytest.approx(0.9)
    check(page, study.posterior, {"rule": "mr", "threshold": 0.9})


def test_reset_goes_back_to_the_report(opened, made):
    study = made("no values")
    page = opened(study.path)
    stored = {"rule": "cmnc", "n_selected": 7}
    check(page, study.posterior, stored)
    set_to(page, {"rule": "mr", "threshold": 0.99, "prior": 0.2})
    assert results(page)["n_selected"] != 7
    page.locator("#control-reset").click()
    settle(page)
    check(page, study.posterior, stored)


@pytest.mark.parametrize("text", ["", "-", "1e999", "-3", "abc", "0x10"])
def test_a_number_that_is_none_does_no_harm(opened, made, text):
    page = opened(made("two classes").path)
    set_to(page, {"rule": "mr", "threshold": 0.9})
    field = page.locator("#control-threshold")
    field.focus()
    field.press("Control+a")
    field.press("Delete")
    page.keyboard.type(text)
    field.press("Tab")
    settle(page)
    found = results(page)
    assert 0 <= found["n_selected"] <= 2000
    assert math.isfinite(found["expected_true"])
