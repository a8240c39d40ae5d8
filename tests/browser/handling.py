"""What a reader does with a report, as functions of the page."""

from __future__ import annotations

import csv
import io
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

CONTROLS = {
    "threshold": "control-threshold",
    "n_selected": "control-n",
    "expected_false_positives": "control-np",
    "proportion": "control-proportion",
    "confidence": "control-confidence",
    "prior": "control-prior",
    "odds_factor": "control-odds",
    "ratio": "control-ratio",
}
THREE_FRAMES = """() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() =>
  requestAnimationFrame(() => setTimeout(done, 0)))))"""
RESULTS = """() => Object.fromEntries(Array.from(document.querySelectorAll("[data-result]"),
  (element) => [element.dataset.result, element.dataset.value ?? null]))"""

ROWS = """() => Array.from(document.querySelectorAll("#table-grid [role=row][data-position]"))
  .filter((row) => !row.hidden)
  .map((row) => [Number(row.getAttribute("aria-rowindex")), row.querySelector(".name").textContent])"""


def settle(page: Page) -> None:
    """Wait until the page has drawn what was asked for."""
    page.evaluate(THREE_FRAMES)
    until(
        page, "() => !document.querySelector('[data-result].waiting')"
    )  # the distribution may come a moment later


def until(page: Page, condition: str, argument: Any = None) -> None:
    """Wait for a condition of the page (Playwright's own way would be refused by the page's policy)."""
    for _ in range(1000):
        if page.evaluate(condition, argument):
            return
        page.wait_for_timeout(20)
    raise AssertionError(f"still not so: {condition}")


def choose(page: Page, rule: str) -> None:
    """Choose a rule with the mouse."""
    page.locator(f"#control-rule label:has(input[value={rule}])").click()


def set_to(page: Page, state: dict[str, Any]) -> None:
    """Go back to the report's own settings, then choose the rule and write the numbers of a state."""
    if page.locator("#control-reset").is_visible():
        page.locator("#control-reset").click()
    choose(page, state["rule"])
    for key in [key for key in CONTROLS if key in state]:
        field = page.locator(f"#{CONTROLS[key]}")
        field.fill(repr(state[key]))
        field.press("Tab")
    settle(page)


def results(page: Page) -> dict[str, float | None]:
    """Return every live number of the page at its full precision; NaN where the page knows none."""
    said = page.evaluate(RESULTS)
    return {name: _number(text) for name, text in said.items()}


def _number(text: str | None) -> float:
    return math.nan if text in (None, "", "NaN", "null") else float(text.replace("Infinity", "inf"))


def row_names(page: Page) -> list[str]:
    """Return the names in the rows that exist at the moment, from top to bottom."""
    found = page.evaluate(ROWS)
    return [name for _, name in sorted(found)]


def downloaded(page: Page) -> list[dict[str, str]]:
    """Press the button and return the rows of the file."""
    with page.expect_download() as coming:
        page.locator("#download-csv").click()
    text = Path(coming.value.path()).read_bytes().decode("utf-8-sig")
    return list(csv.DictReader(io.StringIO(text, newline="")))


def list_names(page: Page) -> list[str]:
    """Return the names of the list: the table filtered and saved."""
    page.locator("#table-filter").select_option("selected")
    settle(page)
    names = [row["feature"] for row in downloaded(page)]
    page.locator("#table-filter").select_option("all")
    return names


def tooltip(page: Page, chart: str) -> Locator:
    return page.locator(f"#{chart} .plot-tooltip")
