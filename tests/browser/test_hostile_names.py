"""Names that try to be more than names stay text, wherever they appear."""

from __future__ import annotations

from browser.handling import downloaded, list_names, row_names, settle, tooltip
from browser.studies import HOSTILE

MADE = """() => Array.from(document.querySelectorAll("img, iframe, object, embed, svg, base, link, meta, script"))
  .map((element) => element.tagName).sort()"""
HANDLERS = """() => Array.from(document.querySelectorAll("*")).flatMap((element) =>
  Array.from(element.attributes, (attribute) => attribute.name)).filter((name) => name.startsWith("on"))"""


def test_nothing_is_made_of_hostile_names(opened, made):
    study = made("hostile names")
    page = opened(study.path)
    for name in study.ranking[: len(HOSTILE) + 2]:
        assert page.locator("#feature").get_attribute("data-feature") == name
        page.locator("#feature-next").click()
        settle(page)
    assert page.evaluate(MADE) == opened(made("two classes").path).evaluate(MADE)
    assert page.evaluate(HANDLERS) == []


def test_hostile_names_are_shown_as_they_are(opened, made):
    study = made("hostile names")
    page = opened(study.path)
    rows = downloaded(page)
    assert [row["feature"] for row in rows] == study.ranking
    assert set(HOSTILE) <= set(study.ranking)
    for name in HOSTILE[:6]:
        page.locator("#table-search").fill(name)
        settle(page)
        assert name in row_names(page)
    page.locator("#table-search").fill("")
    settle(page)
    for text in (HOSTILE[0], HOSTILE[1]):
        assert text in page.locator("main").inner_text()
    assert page.title() == HOSTILE[0]


def test_a_hostile_name_can_be_opened_from_its_address(opened, made):
    study = made("hostile names")
    page = opened(study.path)
    position = study.ranking.index(HOSTILE[0])
    canvas = page.locator("#chart-effect canvas")
    canvas.focus()
    canvas.press("Home")
    for _ in range(position):
        canvas.press("ArrowRight")
    assert HOSTILE[0] in tooltip(page, "chart-effect").inner_text()
    canvas.press("Enter")
    page.wait_for_timeout(400)
    assert page.locator("#feature").get_attribute("data-feature") == HOSTILE[0]
    again = opened(study.path, page.evaluate("location.hash"))
    assert again.locator("#feature-name").inner_text() == HOSTILE[0]
    assert again.locator("img").count() == 0


def test_lists_of_hostile_names_are_written_whole(opened, made):
    study = made("hostile names")
    page = opened(study.path, "#rule=cmnc&n_selected=20")
    assert list_names(page) == study.ranking[:20]
