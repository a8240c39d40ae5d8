"""A page of Bokeh against the report's own drawing, for docs/experiments/charts.md: bytes, seconds, the policy.

Both pages show the same screen (20,000 features x 200 samples of the synthetic microarray). The page of Bokeh has
a map of effects with the list in colour, an expected ROC curve with the list's place on it, a table of all
features and a slider for the length of the list, wired by a script of our own; the report is the whole report
without raw values. Times are the browser's own account of its main thread, without the frames it draws when idle.

Run: python docs/experiments/charts.py FOLDER        (needs bokeh, playwright and a Chromium; takes a minute)
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import shutil
import statistics
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from bokeh.embed import json_item
from bokeh.layouts import column
from bokeh.models import (
    CDSView,
    ColumnDataSource,
    DataTable,
    HoverTool,
    IndexFilter,
    LinearColorMapper,
    TableColumn,
)
from bokeh.plotting import figure
from bokeh.resources import Resources
from playwright.sync_api import CDPSession, Page, sync_playwright

import bayesieve as bs
from bayesieve.simulation import SynergeticModel

ARGUMENTS = (
    "--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync"
)
STYLE = "body { font-family: sans-serif; color-scheme: light dark }"
SCRIPT = """
"use strict";
(async function () {
  await Bokeh.embed.embed_item(JSON.parse(document.getElementById("item").textContent), "app");
  const page = Bokeh.documents[0];
  const cut = page.get_model_by_name("cut");
  const dot = page.get_model_by_name("dot");
  const probability = page.get_model_by_name("scatter").renderers[0].data_source.get_column("probability");
  document.getElementById("size").addEventListener("input", (event) => {
    const size = Number(event.target.value);
    cut.indices = Array.from({ length: size }, (_, i) => i);
    let missed = 0;
    for (let i = 0; i < size; i++) missed += 1 - probability[i];
    dot.data = { x: [missed], y: [size - missed] };
  });
  document.documentElement.dataset.ready = "true";
})().catch((error) => { document.documentElement.dataset.failed = String(error); });
"""
FRAMES = """() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() =>
  requestAnimationFrame(done))))"""
MOVE = """([id, size]) => { const input = document.getElementById(id); input.value = String(size);
  input.dispatchEvent(new Event("input", { bubbles: true })); }"""
WATCH = """window.refused = [];
document.addEventListener("securitypolicyviolation", (event) => window.refused.push(event.violatedDirective));"""
REACH = """() => { const found = { canvases: 0, named: 0, focusable: 0 };
  const walk = (root) => { for (const element of root.querySelectorAll("*")) {
    if (element.tagName === "CANVAS") {
      found.canvases += 1;
      const named = element.closest("[aria-label], [aria-labelledby]");
      found.named += named ? 1 : 0;
      found.focusable += element.closest("[tabindex='0']") ? 1 : 0;
    }
    if (element.shadowRoot) walk(element.shadowRoot);
  } };
  walk(document); return found; }"""


def source_of(text: str) -> str:
    """Return the hash under which a security policy lets ``text`` in."""
    return "'sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() + "'"


def drawn_by_bokeh(ranked: dict[str, Any], backend: str) -> str:
    """Return the item Bokeh embeds, as JSON."""
    source = ColumnDataSource(ranked)
    size = int((ranked["log_odds"] > 0).sum())
    view = CDSView(filter=IndexFilter(indices=list(range(size)), name="cut"))
    scatter = figure(sizing_mode="stretch_width", height=420, output_backend=backend, name="scatter")
    scatter.scatter("x", "y", source=source, size=4, color="#bbbbbb", line_color=None)
    colour = {"field": "log_odds", "transform": LinearColorMapper(palette="Viridis256", low=0, high=30)}
    marks = scatter.scatter("x", "y", source=source, view=view, size=7, fill_color=colour, line_color=None)
    scatter.add_tools(HoverTool(tooltips=[("feature", "@name"), ("log-odds", "@log_odds")], renderers=[marks]))
    false, true = np.cumsum(1 - ranked["probability"]), np.cumsum(ranked["probability"])
    shown = np.unique(np.geomspace(1, len(false), 400).astype(int)) - 1
    curve = figure(sizing_mode="stretch_width", height=300, output_backend=backend)
    curve.line(false[shown], true[shown])
    curve.scatter("x", "y", source=ColumnDataSource({"x": [false[size]], "y": [true[size]]}, name="dot"), size=9)
    columns = [TableColumn(field=name, title=name) for name in ("name", "log_odds", "probability")]
    table = DataTable(source=source, columns=columns, height=300, sizing_mode="stretch_width")
    return json.dumps(json_item(column(scatter, curve, table, sizing_mode="stretch_width"), "app"))


def page_of_bokeh(ranked: dict[str, Any], *, backend: str = "canvas", styles: str | None = None) -> str:
    """Return the page; ``styles`` are what the policy lets in besides our own (None: nothing)."""
    rooms = ["bokeh", "bokeh-widgets", "bokeh-tables", *(["bokeh-gl"] if backend == "webgl" else [])]
    scripts = [*Resources(mode="inline", components=rooms).js_raw, SCRIPT]
    policy = (
        f"default-src 'none'; script-src {' '.join(map(source_of, scripts))}; "
        f"style-src {styles or source_of(STYLE)}; img-src data:; base-uri 'none'; form-action 'none'"
    )
    item = drawn_by_bokeh(ranked, backend).replace("<", "\\u003c")
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Trial</title>'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}"><style>{STYLE}</style></head><body>'
        '<label>length <input id="size" type="range" min="1" max="1000" value="48"></label><div id="app"></div>'
        f'<script type="application/json" id="item">{item}</script>'
        + "".join(f"<script>{script}</script>" for script in scripts)
        + "</body></html>"
    )


def busy(session: CDPSession) -> float:
    """Return the milliseconds for which the page's main thread has worked so far."""
    metrics = session.send("Performance.getMetrics")["metrics"]
    return 1000 * next(m["value"] for m in metrics if m["name"] == "TaskDuration")


def moved(page: Page, session: CDPSession, control: str | None) -> float:
    """Return the median work of 30 moves of a control, each with three frames (None: the frames alone)."""
    taken = []
    for k in range(30):
        before = busy(session)
        if control is not None:
            page.evaluate(MOVE, [control, 40 + 7 * k])
        page.evaluate(FRAMES)
        taken.append(busy(session) - before)
    return statistics.median(taken)


def look(browser: Any, path: Path, control: str, fragment: str = "") -> dict[str, Any]:
    """Return what a browser finds on a page."""
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.add_init_script(WATCH)
    session = page.context.new_cdp_session(page)
    session.send("Performance.enable")
    start = time.perf_counter()
    page.goto(path.resolve().as_uri() + fragment)
    page.wait_for_selector("html[data-ready], html[data-failed]", state="attached", timeout=60_000)
    found: dict[str, Any] = {"page": path.name, "kB": path.stat().st_size // 1000}
    found["ready s"] = round(time.perf_counter() - start, 2)
    page.wait_for_timeout(1000)
    found["failed"] = page.evaluate("document.documentElement.dataset.failed ?? ''")
    found["refused"] = page.evaluate("window.refused.length")
    if not found["failed"]:
        page.evaluate("document.querySelector('#chart-effect, #app').scrollIntoView()")  # what is drawn is seen
        found["move ms"] = round(moved(page, session, control) - moved(page, session, None), 1)
        found.update(page.evaluate(REACH))
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)
            page.wait_for_timeout(500)
            page.screenshot(path=path.with_name(f"{path.stem}-{scheme}.png"))
        page.set_viewport_size({"width": 390, "height": 844})
        page.wait_for_timeout(500)
        found["wide at 390"] = page.evaluate("document.documentElement.scrollWidth")
        page.screenshot(path=path.with_name(f"{path.stem}-390.png"))
        page.pdf(path=path.with_suffix(".pdf"))
    page.close()
    return found


def ranked_columns(X: np.ndarray, y: np.ndarray, posterior: bs.FeaturePosterior) -> dict[str, Any]:
    """Return what the page of Bokeh shows, strongest feature first."""
    order = np.argsort(-posterior.log_odds, kind="stable")
    first, second = X[y == 0][:, order], X[y == 1][:, order]
    spread, other = first.var(axis=0, ddof=1), second.var(axis=0, ddof=1)
    return {
        "name": [f"x{i}" for i in order],
        "log_odds": posterior.log_odds[order],
        "probability": posterior.probability[order],
        "x": (second.mean(axis=0) - first.mean(axis=0)) / np.sqrt((spread + other) / 2),
        "y": np.log(other / spread),
    }


def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    draw = SynergeticModel().draw(200, seed=1)
    posterior = bs.screen(draw.values, draw.labels)
    ranked = ranked_columns(draw.values, draw.labels, posterior)
    written: dict[str, float] = {}
    for name, options in {
        "bokeh-strict": {},
        "bokeh-canvas": {"styles": "'unsafe-inline'"},
        "bokeh-webgl": {"styles": "'unsafe-inline'", "backend": "webgl"},
    }.items():
        start = time.perf_counter()
        (folder / f"{name}.html").write_text(page_of_bokeh(ranked, **options), encoding="utf-8")
        written[name] = time.perf_counter() - start
    start = time.perf_counter()
    bs.report.write(posterior, folder / "own.html")
    written["own"] = time.perf_counter() - start
    with sync_playwright() as play:
        chromium = os.environ.get("BAYESIEVE_CHROMIUM") or shutil.which("chromium")
        browser = play.chromium.launch(executable_path=chromium, args=ARGUMENTS.split())
        for name, seconds in written.items():
            own = name == "own"
            control, fragment = ("control-n", "#rule=cmnc") if own else ("size", "")
            print({**look(browser, folder / f"{name}.html", control, fragment), "write s": round(seconds, 2)})
        browser.close()


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "charts"))
