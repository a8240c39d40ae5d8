"""Reports of all kinds of screens open without a complaint and answer their controls."""

from __future__ import annotations

import pytest
from browser import studies
from browser.handling import results, set_to, settle, until
from browser.watching import Watch

RULES = ("mnc", "mr", "cmnc", "np", "fdr", "fdp")


@pytest.mark.parametrize("name", list(studies.MAKERS))
def test_a_report_is_ready_and_every_rule_answers(opened, made, name):
    study = made(name)
    page = opened(study.path, color_scheme="light")
    n_features = study.posterior.n_features
    for rule in RULES:
        set_to(page, {"rule": rule})
        found = results(page)
        assert 0 <= found["n_selected"] <= n_features
        shuffled = study.posterior.shuffled is not None  # tells false positives; the rest is of the model
        listed = found["n_selected"] - found["model_false"] if shuffled else found["expected_true"]
        total = listed + found["expected_missed"]
        assert total == pytest.approx(found["expected_markers"], rel=1e-9, abs=1e-9)
    page.emulate_media(color_scheme="dark")
    settle(page)
    assert page.locator("#feature").get_attribute("data-feature") == study.ranking[0]
    if n_features > 1:
        page.locator("#feature-next").click()
        settle(page)
        assert page.locator("#feature").get_attribute("data-feature") == study.ranking[1]
    else:
        assert page.locator("#feature-next").is_disabled()


def test_sites_have_a_forest(opened, made):
    page = opened(made("sites").path)
    section = page.locator("#sites")
    for site in ("Oslo", "Bonn", "Lyon"):
        assert site in section.inner_text()
    assert page.locator("#chart-forest .plot [aria-label]").first.get_attribute("aria-label")


def test_three_classes_are_told_by_name(opened, made):
    page = opened(made("three classes").path)
    text = page.locator("#feature").inner_text()
    for label in ("low", "middle", "high"):
        assert label in text


def test_nothing_selected_says_what_to_do(opened, made):
    page = opened(made("nothing selected").path)
    assert results(page)["n_selected"] == 0
    assert results(page)["expected_false"] == 0
    assert "probability" in page.locator("#headline").inner_text()


def test_the_policy_of_the_page_is_the_strict_one(opened, made):
    page = opened(made("two classes").path)
    policy = page.locator("meta[http-equiv='Content-Security-Policy']").get_attribute("content")
    parts = dict(part.strip().split(" ", 1) for part in policy.strip("; ").split(";"))
    assert parts.pop("default-src") == "'none'"
    assert parts.pop("img-src") == "data:"
    assert parts.pop("base-uri") == parts.pop("form-action") == "'none'"
    for which in ("script-src", "style-src"):
        assert all(source.startswith("'sha256-") for source in parts.pop(which).split())
    assert parts == {}


def test_the_policy_stops_what_would_be_put_in(browser, made):
    page = browser.new_page()
    watch = Watch(page, made("two classes").path)
    page.goto(made("two classes").path.resolve().as_uri())
    page.wait_for_selector("html[data-ready=true]", state="attached")
    assert watch.found() == []
    page.evaluate("""() => { const script = document.createElement("script");
      script.textContent = "window.putIn = true"; document.body.append(script);
      const image = document.createElement("img"); image.src = "https://example.org/x.png"; image.alt = "";
      document.body.append(image); }""")
    until(page, "() => window.refusedByPolicy.length >= 2")
    assert page.evaluate("window.putIn") is None
    refused = " ".join(watch.found())
    assert "script-src" in refused
    assert "img-src" in refused
    page.close()
