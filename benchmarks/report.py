"""The report: time to write it, its size, and how fast it answers in a browser.

The first table compares writing with the screen and with one read of the array, 20,000 features x 200 samples. The
second moves sliders of reports with 20,000 and 100,000 features in Chromium from end to end, 60 steps: what the
page's script says an update took (all drawing calls, before the browser lays out and paints), and the work of the
browser's main thread for a step, less that of frames in which nothing happens. The effect map is in sight.

Run: python benchmarks/report.py        (needs playwright and a Chromium for the second table)
"""

from __future__ import annotations

import os
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import bayesieve as bs
from bayesieve.simulation import SynergeticModel

ARGUMENTS = (
    "--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync"
)
STEPS = 60  # of the 240 places of a slider
SLIDERS = {
    "MNC, prior probability": ("rule=mnc", "control-prior-slider"),
    "MR, threshold": ("rule=mr", "control-threshold-slider"),
    "CMNC, length": ("rule=cmnc", "control-n-slider"),
    "NP, bound": ("rule=np", "control-np-slider"),
    "FDR, share": ("rule=fdr", "control-proportion-slider"),
    "FDP, share": ("rule=fdp", "control-proportion-slider"),
    "FDP, prior probability": ("rule=fdp", "control-prior-slider"),
}
FRAMES = """() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() =>
  setTimeout(() => requestAnimationFrame(done), 60))))"""  # the distribution may follow 30 ms later
MOVE = """([id, place]) => { const slider = document.getElementById(id); slider.value = String(place);
  const root = document.documentElement; root.dataset.lastUpdate = "0"; root.dataset.lastDistribution = "0";
  slider.dispatchEvent(new Event("input", { bubbles: true })); }"""
DATA = "document.documentElement.dataset"
TIMES = f"() => [{DATA}.lastUpdate, {DATA}.lastDistribution].map(Number)"


def seconds(action: Callable[[], Any], rounds: int = 5) -> float:
    taken = []
    for _ in range(rounds):
        start = time.perf_counter()
        action()
        taken.append(time.perf_counter() - start)
    return statistics.median(taken)


def spread(values: list[float]) -> str:
    """Return the median and the 95th percentile."""
    return f"{np.median(values):7.1f} {np.percentile(values, 95):7.1f}" if values else f"{'':15}"


def writing(folder: Path) -> None:
    draw = SynergeticModel().draw(200, seed=1)
    X, y = draw.values, draw.labels
    posterior = bs.screen(X, y)
    bs.report.write(posterior, folder / "20000.html")
    read, screen = (
        seconds(X.sum, 15),
        seconds(lambda: bs.screen(X, y, model=bs.GaussianModel.jeffreys(), shuffles=0), 15),
    )
    print(f"20,000 x 200: numpy reads the array in {1e3 * read:.1f} ms, the screen takes {1e3 * screen:.1f} ms")
    print(f"{'report':34} {'seconds':>8} {'/ screen':>9} {'/ read':>8} {'MB':>6}")
    cases: dict[str, dict[str, Any]] = {
        "without values (bar 2.5 s)": {},
        "values of the first 500 (2.5 s, 3 MB)": {"data": X, "labels": y},
    }
    for name, options in cases.items():
        path = folder / "20000.html" if not options else folder / "values.html"
        taken = seconds(lambda path=path, options=options: bs.report.write(posterior, path, **options))
        size = path.stat().st_size / 1e6
        print(f"{name:34} {taken:8.2f} {taken / screen:9.0f} {taken / read:8.0f} {size:6.2f}")
    many = SynergeticModel(low_variance_blocks=2995, high_variance_features=10_000).draw(40, seed=1)
    found = bs.screen(many.values, many.labels)
    taken = seconds(lambda: bs.report.write(found, folder / "100000.html"), 3)
    size = (folder / "100000.html").stat().st_size / 1e6
    print(f"{'100,000 features, without values':34} {taken:8.2f} {'':9} {'':8} {size:6.2f}")


def busy(session: Any) -> float:
    """Return the milliseconds for which the page's main thread has worked so far."""
    metrics = session.send("Performance.getMetrics")["metrics"]
    return 1000 * next(m["value"] for m in metrics if m["name"] == "TaskDuration")


def stepped(page: Any, session: Any, slider: str | None) -> tuple[list[float], list[float], list[float]]:
    """Move a slider from end to end; return times of updates and of the distribution, and the work done."""
    updates, distributions, works = [], [], []
    for k in range(STEPS):
        before = busy(session)
        if slider is not None:
            page.evaluate(MOVE, [slider, round(240 * (k + 0.5) / STEPS)])
        page.evaluate(FRAMES)
        works.append(busy(session) - before)
        update, distribution = page.evaluate(TIMES)
        if update > 0 and slider is not None:
            updates.append(update)
            distributions.append(distribution)
    return updates, distributions, works


def answering(browser: Any, path: Path) -> None:
    page = browser.new_page(viewport={"width": 1440, "height": 900})
    ready = []
    for _ in range(5):
        start = time.perf_counter()
        page.goto(path.as_uri())
        page.wait_for_selector("html[data-ready=true]", state="attached")
        ready.append(time.perf_counter() - start)
        page.goto("about:blank")
    print(f"\n{path.stem} features: ready {statistics.median(ready):.2f} s after navigation (median of 5)")
    print(
        f"{'slider':26} {'update ms':>15} {'distribution ms':>15} {'all work ms':>15} {'steps':>6}  (median, 95%)"
    )
    for name, (fragment, slider) in SLIDERS.items():
        page.goto("about:blank")
        page.goto(f"{path.as_uri()}#{fragment}")
        page.wait_for_selector("html[data-ready=true]", state="attached")
        page.evaluate("document.getElementById('chart-effect').scrollIntoView()")  # what is drawn is seen
        page.wait_for_timeout(300)
        session = page.context.new_cdp_session(page)
        session.send("Performance.enable")
        rest = statistics.median(stepped(page, session, None)[2])
        updates, distributions, works = stepped(page, session, slider)
        drawn = [work - rest for work in works]
        print(f"{name:26} {spread(updates)} {spread(distributions)} {spread(drawn)} {len(updates):6d}")
    page.close()


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve()
        writing(folder)
        try:
            from playwright.sync_api import sync_playwright  # noqa: PLC0415 - an extra
        except ImportError:
            sys.exit("the second table needs playwright: pip install '.[browser]'")
        with sync_playwright() as play:
            chromium = os.environ.get("BAYESIEVE_CHROMIUM") or shutil.which("chromium")
            browser = play.chromium.launch(executable_path=chromium, args=ARGUMENTS.split())
            for n_features in (20_000, 100_000):
                answering(browser, folder / f"{n_features}.html")
            browser.close()


if __name__ == "__main__":
    main()
