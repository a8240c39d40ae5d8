"""The address holds the settings, and only settings."""

from __future__ import annotations

import pytest
from browser.handling import results, row_names, set_to, settle, until
from report.engine_cases import expected

PAUSE = 400  # milliseconds: the address is written a little later than the page


def test_a_copied_address_brings_everything_back(opened, made):
    study = made("two classes")
    page = opened(study.path)
    set_to(page, {"rule": "mr", "threshold": 0.9, "prior": 0.1, "ratio": 0.02})
    page.locator("#table-search").fill("x1")
    page.locator("button[data-sort=mean_case]").click()
    page.locator("#table-filter").select_option("selected")
    settle(page)
    page.locator("#table-grid [role=row][data-position]").first.click()
    page.wait_for_timeout(PAUSE)
    fragment = page.evaluate("location.hash")
    assert "rule=mr" in fragment
    again = opened(study.path, fragment)
    assert results(again) == results(page)
    assert row_names(again) == row_names(page)
    assert again.locator("#feature").get_attribute("data-feature") == page.locator("#feature").get_attribute(
        "data-feature"
    )
    assert again.locator("#table-search").input_value() == "x1"
    assert again.locator("#control-threshold").input_value() == "0.9"
    again.wait_for_timeout(PAUSE)
    assert again.evaluate("location.hash") == fragment


def test_an_untouched_page_has_a_clean_address(opened, made):
    page = opened(made("two classes").path)
    assert page.evaluate("location.hash") == ""
    set_to(page, {"rule": "np", "expected_false_positives": 1.0})
    page.locator("#control-reset").click()
    page.wait_for_timeout(PAUSE)
    assert "=" not in page.evaluate("location.hash")


def test_the_page_follows_an_address_changed_by_hand(opened, made):
    page = opened(made("two classes").path)
    page.evaluate("location.hash = '#rule=cmnc&n_selected=12'")
    until(page, "() => document.querySelector('[data-result=n_selected]').dataset.value === '12'")
    assert page.locator("#control-rule input[value=cmnc]").is_checked()


def test_links_to_sections_leave_the_settings_alone(opened, made):
    page = opened(made("two classes").path, "#rule=cmnc&n_selected=12")
    page.locator("nav a[href='#table']").click()
    settle(page)
    assert results(page)["n_selected"] == 12
    page.wait_for_timeout(PAUSE)
    assert "n_selected=12" in page.evaluate("location.hash")


@pytest.mark.parametrize(
    "fragment",
    [
        "#rule=<img src=x onerror=alert(1)>",
        "#rule=__proto__&threshold=constructor",
        "#threshold=NaN&prior=-1&ratio=0&n_selected=1e999",
        "#prior=javascript:alert(1)&feature=javascript:alert(1)",
        "#feature=%3Cimg%20src%3Dx%20onerror%3Dalert(1)%3E&filter=drop&sort_key=__proto__",
        "#%E0%A4%A&rule=%ZZ",
        "#__proto__[rule]=mr&constructor=1&toString=2",
        "#" + "a=" * 5000,
        "#search=" + "x" * 20000,
    ],
)
def test_a_hostile_address_changes_nothing(opened, made, fragment):
    study = made("two classes")
    page = opened(study.path, fragment)
    known = expected(study.posterior, {"rule": "mnc"})
    found = results(page)
    for name in ("n_selected", "expected_true", "expected_false", "expected_markers"):
        assert found[name] == pytest.approx(known[name], rel=1e-9), name
    assert page.locator("img, svg[onload], iframe, object, embed").count() == 0
    set_to(page, {"rule": "cmnc", "n_selected": 4})
    assert results(page)["n_selected"] == 4


def test_markup_in_a_search_is_text(opened, made):
    page = opened(made("two classes").path, "#search=%3Cimg%20src%3Dx%20onerror%3Dalert(1)%3E")
    assert page.locator("#table-search").input_value() == "<img src=x onerror=alert(1)>"
    assert page.locator("img").count() == 0
    assert row_names(page) == []
