"""The strip of checks: what it says is what Python says, for everybody."""

from __future__ import annotations

import pytest
from browser.handling import settle, until

STRIP = """() => Array.from(document.querySelectorAll("#checks [data-check]"), (card) => ({
  name: card.dataset.check, state: card.dataset.state, word: card.querySelector(".check-word").textContent,
  shown: card.querySelector(".check-number")?.textContent ?? "not checked",
  text: Array.from(card.querySelectorAll(".check-sentence"), (p) => p.textContent).join(" "),
  target: card.querySelector("a")?.getAttribute("href") ?? "" }))"""
BELOW = """() => document.querySelector("#checks").getBoundingClientRect().top
  < document.querySelector("#decide").getBoundingClientRect().top"""


@pytest.mark.parametrize("name", ["doubtful", "two classes"])
def test_the_strip_says_what_python_says(opened, made, name):
    study = made(name)
    page = opened(study.path)
    settle(page)
    wanted = [
        {
            "name": check.name,
            "state": check.state,
            "word": check.word,
            "shown": check.shown,
            "text": check.render(),
        }
        for check in study.posterior.checks
    ]
    found = page.evaluate(STRIP)
    assert [{key: card[key] for key in wanted[0]} for card in found] == wanted
    assert page.evaluate(BELOW)
    for card in found:
        assert not card["target"] or page.locator(card["target"]).count() == 1


def test_the_doubtful_study_is_doubted(opened, made):
    study = made("doubtful")
    states = {check.name: check.state for check in study.posterior.checks}
    assert states["one-sample"] == states["confounding"] == states["leak"] == "alarm"
    page = opened(study.path)
    settle(page)
    page.locator('[data-check="confounding"] a').click()
    until(page, "() => document.querySelector('.sample-columns').open")
    assert page.locator("#sample-columns tbody tr").count() == 2
    cells = page.evaluate("""() => Array.from(document.querySelectorAll("#table-grid [role=columnheader]"),
      (head) => head.textContent)""")
    assert any("holds without one sample" in cell for cell in cells)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_serious_in_the_strip(opened, made, scheme):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="pip install '.[browser]'").Axe()
    page = opened(made("doubtful").path, color_scheme=scheme, viewport={"width": 390, "height": 844})
    settle(page)
    page.locator(".sample-columns summary").click()
    response = axe.run(page, context="#checks", options={"resultTypes": ["violations"]}).response
    assert [rule["id"] for rule in response["violations"] if rule["impact"] in ("serious", "critical")] == []
    assert page.evaluate("() => document.documentElement.scrollWidth <= window.innerWidth")
