"""The built site for everybody: without a network, in the light and in the dark, on a phone."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from browser.watching import Watch

ROOT = Path(__file__).resolve().parents[2]
SITE = Path(os.environ.get("BAYESIEVE_SITE", ROOT / "build" / "site"))
PAGES = (
    "index", "tutorials/csv-to-report", "how-to/my-csv", "reference/api/FeaturePosterior",
    "reference/command-line", "faq", "gallery", "theory/method", "architecture", "glossary",
)  # fmt: skip
AXE = {"resultTypes": ["violations"], "preload": False}  # preloading asks for styles, which the disk refuses
WIDTHS = "() => [document.documentElement.scrollWidth, window.innerWidth]"

pytestmark = pytest.mark.skipif(not (SITE / "index.html").is_file(), reason="python docs/build.py builds the site")


@pytest.fixture
def visit(browser):
    """Open a page of the site without a network; nothing but files of the site may be asked for."""
    contexts, watches = [], []

    def go(page, query="", width=1440, scheme="light"):
        context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme, offline=True)
        contexts.append(context)
        tab = context.new_page()
        watches.append(Watch(tab, SITE))
        tab.goto((SITE / f"{page}.html").as_uri() + query)
        tab.wait_for_load_state("load")
        return tab

    yield go
    found = [
        said for watch in watches for said in watch.found() if "[PST]" not in said and "theme mode" not in said
    ]
    for context in contexts:
        context.close()
    assert found == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("page", PAGES)
def test_axe_finds_nothing_serious(visit, page, scheme):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="pip install '.[browser]'").Axe()
    response = axe.run(visit(page, scheme=scheme), options=AXE).response
    grave = [rule for rule in response["violations"] if rule["impact"] in ("serious", "critical")]
    assert [(rule["id"], [node["html"][:160] for node in rule["nodes"][:5]]) for rule in grave] == []
    assert len(response["passes"]) > 15


@pytest.mark.parametrize("page", PAGES)
def test_pages_fit_a_phone_and_a_tablet(visit, page):
    for width in (390, 820):
        needed, there = visit(page, width=width).evaluate(WIDTHS)
        assert needed <= there


def test_the_dark_is_dark(visit):
    colours = [
        visit("faq", scheme=scheme).evaluate("() => getComputedStyle(document.body).backgroundColor")
        for scheme in ("light", "dark")
    ]
    light, dark = (sum(map(int, colour.strip("rgba()").split(", ")[:3])) for colour in colours)
    assert light > 700
    assert dark < 150


def test_search_works_from_disk(visit):
    page = visit("search", "?q=pseudobulk")
    page.wait_for_selector("#search-results li a")
    found = page.locator("#search-results li a").evaluate_all(
        "links => links.map(link => link.getAttribute('href'))"
    )
    assert any(address.partition("?")[0].startswith("how-to/pseudobulk.html") for address in found)


def test_formulas_are_drawn_by_the_browser(visit):
    page = visit("theory/method")
    box = page.locator("math[display=block]").first.bounding_box()
    assert box["width"] > 100
    assert box["height"] > 25  # a fraction has two storeys
    assert all(page.locator("math").evaluate_all("all => all.map(one => Boolean(one.getAttribute('alttext')))"))
