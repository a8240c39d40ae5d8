"""The first screen: the verdict, what to follow up, words explained where they stand, and where things lie."""

from __future__ import annotations

import pytest
from browser.handling import results, row_names, settle, until
from browser.test_access import PHONE

import bayesieve as bs

TOP = "(id) => document.getElementById(id).getBoundingClientRect().top"
TIP = "() => { const tip = document.getElementById('tip'); return tip.hidden ? null : tip.textContent; }"


def test_verdict_checks_picture_budget_and_proof_come_in_this_order(opened, made):
    page = opened(made("doubtful").path)
    parts = ("verdict-report", "checks", "chart-effect", "budget", "decide", "proof")
    places = [page.evaluate(TOP, part) for part in parts]
    assert places == sorted(places)
    plain = opened(made("two classes").path)
    assert plain.evaluate(TOP, "chart-effect") < 900, "the picture begins on the first screen"


def test_a_budget_cuts_the_list_and_tells_its_false_positives(opened, made):
    study = made("two classes")
    page = opened(study.path)
    assert page.locator("#budget-n").input_value() == "50"
    fifty = bs.FixedSize(50).select(study.posterior)
    assert f"among the 50 strongest: {fifty.expected_false_positives:.3g}" in page.inner_text("#budget-words")
    assert page.locator("#verdict-report").is_visible()
    page.locator("#budget-take").click()
    settle(page)
    assert results(page)["n_selected"] == 50
    assert results(page)["expected_false"] == pytest.approx(fifty.expected_false_positives, rel=1e-9)
    page.locator("#budget-n").fill("17")
    settle(page)
    chosen = bs.FixedSize(17).select(study.posterior)
    assert results(page)["expected_false"] == pytest.approx(chosen.expected_false_positives, rel=1e-9)
    assert page.inner_text("#verdict").startswith("17 of 2,000 features are listed")
    assert not page.locator("#verdict-report").is_visible()
    page.locator("#budget-n").fill("2001")
    assert page.locator("#budget-bounds").is_visible()
    assert results(page)["n_selected"] == 17
    page.wait_for_timeout(400)
    assert "rule=cmnc" in page.evaluate("location.hash")
    again = opened(study.path, page.evaluate("location.hash") + "&feature=" + study.ranking[3])
    assert again.locator("#budget-n").input_value() == "17"
    assert again.locator("#feature").get_attribute("data-feature") == study.ranking[3]
    again.locator("#budget-back").click()
    settle(again)
    assert again.locator("#verdict-report").is_visible()
    assert again.evaluate("document.activeElement.id") == "budget-n"


def test_words_are_explained_under_the_pointer_by_keyboard_and_by_touch(opened, made):
    page = opened(made("two classes").path)
    word = page.locator("#chart-effect .term[data-term=log-odds]")
    meaning = page.locator("#term-log-odds").text_content()
    assert "base e" in meaning
    word.hover()
    page.wait_for_timeout(400)
    assert page.evaluate(TIP) == meaning
    page.keyboard.press("Escape")
    assert page.evaluate(TIP) is None
    page.locator("#map-title .term").focus()
    page.keyboard.press("Tab")
    assert page.evaluate(TIP) == meaning
    assert word.get_attribute("aria-describedby") == "term-log-odds"
    page.locator("#map-axes").select_option("welch-p")
    settle(page)
    assert page.locator("#map-title .term").get_attribute("data-term") == "p-value"
    phone = opened(made("two classes").path, **PHONE)
    phone.locator("#feature .term[data-term=probability]").tap()
    assert phone.evaluate(TIP) == phone.locator("#term-probability").text_content()
    tip = phone.locator("#tip").bounding_box()
    assert tip["x"] >= 0
    assert tip["x"] + tip["width"] <= 390
    assert phone.evaluate("location.hash") == ""


def test_the_heatmap_and_the_components_follow_the_list(opened, made):
    page = opened(made("two classes").path, "#rule=cmnc&n_selected=30")
    page.locator("#chart-heatmap").scroll_into_view_if_needed()
    settle(page)
    assert page.inner_text("#heatmap-shown") == "50 features are shown, 30 of them in the list."
    page.locator("#heatmap-size").select_option("list")
    settle(page)
    assert page.inner_text("#heatmap-shown") == "30 features are shown, all of them are in the list."
    page.wait_for_timeout(400)
    assert page.inner_text("#components-shown") == "the 30 features of the list"
    assert "heatmap=list" in page.evaluate("location.hash")


def test_six_tasks_take_three_actions_at_most(opened, made):
    study = made("doubtful")
    page = opened(study.path, permissions=["clipboard-read", "clipboard-write"])
    # Is the top feature believable? It is open: nothing to do.
    assert page.locator("#feature").get_attribute("data-feature") == study.ranking[0]
    assert "one sample" in page.inner_text("#feature-notes")
    # Which array is bad? One click.
    page.locator('[data-check="one-sample"] a').click()
    until(page, "() => document.getElementById('samples').getBoundingClientRect().top < 900")
    settle(page)
    told = page.locator("#chart-hanging canvas").get_attribute("aria-label")
    assert "Most hang on 25 (" in told
    # Find ten features of a list: go to the field and paste it.
    page.locator("#table-search").click()
    wanted = study.ranking[10:20]
    page.evaluate("(text) => navigator.clipboard.writeText(text)", "\n".join([*wanted[:9], "TP53"]))
    page.keyboard.press("Control+V")
    settle(page)
    assert "TP53" in page.inner_text("#table-count")
    assert set(row_names(page)) == set(wanted[:9])
    # Compare two features: keep one, open the other.
    page.locator("#feature-pin").click()
    page.locator("#table-grid [role=row][data-position]").first.click()
    settle(page)
    assert page.locator("#pinned-both").is_visible()
    # Save the figure for a slide, share the setting: one click each.
    with page.expect_download() as coming:
        page.locator("#chart-effect button:has-text('PNG')").click()
    assert coming.value.suggested_filename.endswith(".png")
    page.locator("[data-copy=page-link]").click()
    shared = page.evaluate("navigator.clipboard.readText()")
    assert "pinned=" in shared
    assert f"feature={wanted[0]}" in shared
