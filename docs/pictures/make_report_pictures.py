"""Take the pictures of the report: ``python docs/pictures/make_report_pictures.py [FOLDER]`` (extra ``browser``).

Writes the example report of ``bayesieve demo --report``, opens it in Chromium and takes screenshots at three
widths, light and dark, and a printed PDF. Without a folder only the pictures of the documentation are written.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

HERE = Path(__file__).parent
WIDTHS = {1440: 1180, 820: 1100, 390: 844}
IN_THE_DOCS = {  # pictures and the parts of the page they show
    (1440, "light"): {"report.png": "look", "report_first.png": "headline"},
    (820, "dark"): {"report_dark.png": "decide"},
    (390, "light"): {"report_phone.png": "headline"},
}
ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"]


def open_report(browser, report: Path, width: int, scheme: str) -> Page:
    phone = width < 500
    page = browser.new_page(
        viewport={"width": width, "height": WIDTHS[width]},
        color_scheme=scheme,
        device_scale_factor=2 if phone else 1,
    )
    page.goto(report.as_uri())
    page.wait_for_selector("html[data-ready=true]")
    return page


def main(folder: Path | None) -> None:
    work = Path(tempfile.mkdtemp())
    report = work / "demo.html"
    subprocess.run([shutil.which("bayesieve") or "bayesieve", "demo", "--report", str(report)], check=True)
    chromium = os.environ.get("BAYESIEVE_CHROMIUM") or shutil.which("chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=ARGUMENTS)
        for width in WIDTHS:
            for scheme in ("light", "dark"):
                if folder is None and (width, scheme) not in IN_THE_DOCS:
                    continue
                page = open_report(browser, report, width, scheme)
                if folder is not None:
                    page.screenshot(path=folder / f"{width}_{scheme}.png", full_page=True)
                else:
                    for name, part in IN_THE_DOCS[width, scheme].items():
                        page.evaluate(
                            "part => document.getElementById(part).scrollIntoView({behavior: 'instant'})", part
                        )
                        page.wait_for_timeout(1000)
                        page.screenshot(path=HERE / name)
                page.close()
        if folder is not None:
            page = open_report(browser, report, 1440, "light")
            page.pdf(path=folder / "print.pdf", format="A4", print_background=True)
        browser.close()
    shutil.rmtree(work)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else None)
