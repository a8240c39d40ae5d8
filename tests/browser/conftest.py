"""Chromium for the tests of the report, and an eye on everything a page does.

A page is opened from disk in a context of its own, without a network and with the page's security policy in force.
When a test ends, no page may have written an error or a warning to its console, thrown, opened a dialog, asked for
anything but itself or run against its policy.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from browser import studies
from browser.watching import Watch

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from playwright.sync_api import Browser, BrowserContext, Page

HERE = Path(__file__).parent
ARGUMENTS = (
    "--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync"
)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if HERE in item.path.parents:
            item.add_marker("browser")


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    found = os.environ.get("BAYESIEVE_CHROMIUM") or shutil.which("chromium")
    if found is None:
        pytest.skip("there is no chromium on the path, and BAYESIEVE_CHROMIUM does not name one")
    api = pytest.importorskip("playwright.sync_api", reason="pip install '.[browser]'")
    with api.sync_playwright() as play:
        launched = play.chromium.launch(executable_path=found, args=ARGUMENTS.split())
        yield launched
        launched.close()


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], studies.Study]:
    """Write a report by its name in ``studies.MAKERS``, once."""
    folder = tmp_path_factory.mktemp("reports")
    kept: dict[str, studies.Study] = {}

    def make(name: str) -> studies.Study:
        if name not in kept:
            (folder / name).mkdir()
            kept[name] = studies.MAKERS[name](folder / name)
        return kept[name]

    return make


@pytest.fixture
def opened(browser: Browser) -> Iterator[Callable[..., Page]]:
    """Open a report and wait until it is ready; options are those of a browser context."""
    contexts: list[BrowserContext] = []
    watches: list[Watch] = []

    def open_report(path: Path, fragment: str = "", **options: Any) -> Page:
        options = {"viewport": {"width": 1440, "height": 900}, "offline": True, **options}
        context = browser.new_context(**options)
        context.set_default_timeout(20_000)
        contexts.append(context)
        page = context.new_page()
        watches.append(Watch(page, path))
        page.goto(path.resolve().as_uri() + fragment)
        page.wait_for_load_state("load")
        ready = page.evaluate(
            "document.documentElement.dataset.ready"
        )  # the script runs before the page is complete
        assert ready == "true", watches[-1].found()
        return page

    yield open_report
    problems = [problem for watch in watches for problem in watch.found()]
    for context in contexts:
        context.close()
    assert problems == []
