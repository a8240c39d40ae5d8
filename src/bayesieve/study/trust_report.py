"""The report of a grid: claimed against true false positives as figures, tables, statements and a CSV file."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from bayesieve.study.design import Method
from bayesieve.study.figures import STYLE, WIDTH, Look, assign_looks, bar_lengths
from bayesieve.study.grid import StudyGrid
from bayesieve.study.grid_view import means_of_grid
from bayesieve.study.measures import CLAIM_HOLDS, EMPTIED, FOUND_AT, SHORTENED
from bayesieve.study.report import draw_pictures, origin, render_pages
from bayesieve.study.results_view import Estimate
from bayesieve.study.store import StudyResults
from bayesieve.study.trust import AGREE, TrustView, check_trust
from bayesieve.study.verdicts import Verdict
from bayesieve.utils import (
    BLUE,
    FORMATS,
    GREY,
    PALETTE,
    DataError,
    make_folder,
    normalise_formats,
    open_figure,
    write_files,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_CAPTIONS = {
    "claims": (
        "Claimed against true false positives of 20,000 features, means over data sets, a point for each "
        "scenario; bars are two standard errors either way. On the grey line claim and truth agree; the band is "
        "0.8 to 1.25. Both axes are linear below 1 and logarithmic above. Points below the line claim too little."
    ),
    "power": (
        "Share of the markers that each ranking finds before more than 10 of 20,000 features are false positives, "
        "in scenarios of 1% markers; bars are two standard errors either way."
    ),
}
_CHECKS = "Standard errors stand in brackets."
_SHOWN = FOUND_AT[1]


def write_trust_report(
    grid: StudyGrid,
    results: Mapping[str, StudyResults],
    folder: str | os.PathLike[str],
    *,
    command: str = "",
    formats: Sequence[str] = FORMATS,
) -> tuple[Path, ...]:
    """Write figures, ``summary.md``, ``summary.html`` and ``results.csv`` of a grid, as far as it has got.

    Parameters
    ----------
    grid, results
        The grid, and the results of its scenarios.
    folder, command, formats
        As for :func:`write_report`.

    Raises
    ------
    MissingExtraError
        If matplotlib is not installed; everything but the figures is written first.

    Examples
    --------
    >>> import tempfile
    >>> from bayesieve.study import built_in_grid, run_grid, write_trust_report
    >>> grid = built_in_grid("trust").changed(
    ...     iterations=1, sizes=[20], scenarios=["gaussian-mean"], n_features=200, methods=["welch"])
    >>> folder = tempfile.mkdtemp()
    >>> sorted(path.name for path in write_trust_report(grid, run_grid(grid, folder, workers=1), folder))[:2]
    ['results.csv', 'summary.html']
    """
    view = TrustView(grid, results)
    if not view.views:
        raise DataError(f"The study {grid.name} has no results yet. Run it first.")
    make_folder(folder)
    drawn = _figures_of(view)
    files, pictures, missing = draw_pictures(grid.name, drawn, _CAPTIONS, "claims", normalise_formats(formats))
    files["results.csv"] = trust_table(view).write_csv(float_precision=6).encode()
    files |= render_pages(_page(view, pictures, command))
    paths = write_files(folder, files)
    if missing is not None:
        raise missing
    return paths


def trust_table(view: TrustView) -> pl.DataFrame:
    """Mean and standard error of every measure: one row for each scenario, number of samples and method."""
    rows = means_of_grid(view)
    for row in rows:
        claim = view.claim(row["scenario"], row["method"], row["n"])
        known = claim is not None and np.isfinite(claim.ratio.mean)
        row["claimed_over_true"] = claim.ratio.mean if claim is not None and known else None
        row["claimed_over_true_standard_error"] = (
            claim.ratio.standard_error if claim is not None and known else None
        )
    return pl.DataFrame(rows, infer_schema_length=None)


def _page(view: TrustView, pictures: list[dict[str, str]], command: str) -> dict[str, Any]:
    base, order = view.grid.base, list(Verdict)
    checks = [
        {"verdict": str(found.verdict), "claim": claim, "source": "our own promise", "words": found.words}
        for claim, found in sorted(check_trust(view), key=lambda each: order.index(each[1].verdict))
        if found.rows
    ]
    methods = [
        (each.title, each.name, each.scores, each.rule, f"{each.shuffles:,} shuffles" if each.shuffles else "none")
        for each in base.methods
    ]
    version = next(iter(view.views.values())).results.version
    return {
        "name": view.grid.name,
        "title": view.grid.title and f"{view.grid.title.rstrip('.')}.",
        "design": _describe(view),
        "method_columns": ("method", "name", "scores", "rule", "judged by"),
        "methods": methods,
        "pictures": pictures,
        "numbers": list(_sections(view)),
        "lead_of_checks": _CHECKS,
        "checks": checks,
        "command": command,
        "origin": origin(version),
    }


def _describe(view: TrustView) -> str:
    counts = [
        found.measure().mean(*cell).iterations for found in view.views.values() for cell in found.measure().cells
    ]
    features = sorted({found.n_features for found in view.views.values()})
    sizes = ", ".join(f"{n // 2} + {n // 2}" for n in view.sizes)
    span = f"{min(counts)} to {max(counts)}" if min(counts) < max(counts) else str(counts[0])
    number = f"{features[0]:,}" if len(features) == 1 else f"{features[0]:,} to {features[-1]:,}"
    return (
        f"{len(view.views)} scenarios with {sizes} samples, {span} data sets of each; {number} features, 1% of "
        f"them markers unless it says otherwise; every value was drawn, seed {view.grid.base.seed}. Standard "
        "deviations differ between features. Markers differ in mean by a Gaussian number of standard deviations, "
        "in variance by a factor of 2.5 up or down, or in both. All methods see the same data, and all screens "
        "are told 1% of markers. A list claims: with shuffles, what passes with shuffled labels; without, what "
        "the model expects; with BH, its level times its length."
    )


def _sections(view: TrustView) -> Iterator[dict[str, Any]]:
    yield _ratios(view)
    for n in view.sizes:
        rows = []
        for name, title in view.titles.items():
            claims = (view.claim(name, method, n) for method in view.methods)
            cells = ["" if each is None else f"{each.claimed.mean:.1f} / {each.true.mean:.1f}" for each in claims]
            rows.append((title, *cells))
        yield {
            "title": f"Claimed and true false positives, {n // 2} + {n // 2} samples",
            "lead": "Means over data sets: claimed / true.",
            "head": ("scenario", *view.methods.values()),
            "rows": rows,
        }
    for n in view.sizes:
        yield _means(view, n, "true_positives", f"Markers in the list, {n // 2} + {n // 2} samples")
    for n in view.sizes:
        words = f"Markers found at equal errors (10 false positives of 20,000), {n // 2} + {n // 2} samples"
        yield _means(view, n, _SHOWN, words)
    yield _judged(view)


def _ratios(view: TrustView) -> dict[str, Any]:
    """Claimed over true of the judged lists."""
    judged = {each.name: each.title for each in view.grid.base.methods if each.shuffles}
    rows = []
    for name, title in view.titles.items():
        cells = [title]
        for method in judged:
            for n in view.sizes:
                claim = view.claim(name, method, n)
                cells.append("" if claim is None else _number(claim.ratio, claim.agrees_by))
        rows.append(tuple(cells))
    heads = [f"{title}, n = {n:,}" for title in judged.values() for n in view.sizes]
    return {
        "title": "Claimed over true false positives",
        "lead": "Quotients of means, with standard errors in brackets; none where no list held a false positive. "
        "Marked with ! where claim and truth differ: neither a quotient of 0.8 to 1.25, nor a difference of at "
        "most 2 in 20,000 features, nor within 3 standard errors.",
        "head": ("scenario", *heads),
        "rows": rows,
    }


def _number(value: Estimate, agrees: str = "yes") -> str:
    text = "" if np.isnan(value.mean) else f"{value.mean:.2f} ({value.standard_error:.2f})"
    return text if agrees else f"{text} !".strip()


def _means(view: TrustView, n: int, measure: str, title: str) -> dict[str, Any]:
    """Means by scenario with markers, and method; one method for each ranking if it is about rankings."""
    methods = view.methods
    if measure in FOUND_AT:
        methods = {each.name: each.title.partition(",")[0] for each in _one_for_each_ranking(view)}
    rows = [
        (words, *(_number(view.mean(measure, name, method, n)) for method in methods))
        for name, words in view.titles.items()
        if view.constants[name].get("marker_share") != 0.0
    ]
    lead = "Means, with standard errors in brackets."
    return {"title": title, "lead": lead, "head": ("scenario", *methods.values()), "rows": rows}


def _one_for_each_ranking(view: TrustView) -> list[Method]:
    first = {each.scores: each for each in reversed(view.grid.base.methods)}
    return [each for each in view.grid.base.methods if first[each.scores] is each]


def _judged(view: TrustView) -> dict[str, Any]:
    """How often intervals held the truth, and what the count test did."""
    rows = []
    for method, title in ((each.name, each.title) for each in view.grid.base.methods if each.shuffles):
        for name, words in view.titles.items():
            for n in view.sizes:
                shares = [view.mean(each, name, method, n).mean for each in (CLAIM_HOLDS, SHORTENED, EMPTIED)]
                rows.append((words, title, f"{n:,}", *(f"{share:.0%}" for share in shares)))
    return {
        "title": "Intervals, and lists that did not stand",
        "lead": "Share of data sets in which the 90% interval holds the true number of false positives, in which "
        "the list was shortened, and in which it was emptied, because shuffled labels gave lists as long.",
        "head": ("scenario", "method", "n", "interval holds", "shortened", "emptied"),
        "rows": rows,
    }


def _figures_of(view: TrustView) -> dict[str, Callable[[], Figure]]:
    return {"claims": lambda: draw_claims(view), "power": lambda: draw_power(view)}


def _looks(view: TrustView) -> dict[str, Look]:
    """Looks of the methods: blues for judged lists, other colours for the rest."""
    blues, others = [BLUE, PALETTE[6]], [each for each in PALETTE if each not in (BLUE, PALETTE[6])]
    looks = assign_looks(view.grid.base.methods)
    for method in view.grid.base.methods:
        queue = blues if method.shuffles and blues else others
        looks[method.name] = replace(looks[method.name], colour=queue.pop(0) if queue else GREY)
    return looks


def draw_claims(view: TrustView) -> Figure:
    """Claimed against true false positives, a panel for each number of samples."""
    look = _looks(view)
    with open_figure(STYLE, WIDTH, 0.6 + 2.9 * -(-len(view.sizes) // 2)) as figure:
        panels = figure.subplots(-(-len(view.sizes) // 2), min(2, len(view.sizes)), squeeze=False)
        for axes, n in zip(panels.flat, view.sizes, strict=False):
            for method, title in view.methods.items():
                _points(axes, view, method, n, look[method], title)
            _agreement(axes)
            axes.set(title=f"{n // 2} + {n // 2} samples", xlabel="true false positives (of 20,000)",
                     ylabel="claimed false positives")  # fmt: skip
        for axes in panels.flat[len(view.sizes) :]:
            axes.set_axis_off()
        handles, labels = panels.flat[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside upper center", ncols=4, columnspacing=1.2)
    return figure


def _points(axes: Axes, view: TrustView, method: str, n: int, look: Any, title: str) -> None:
    claims = [claim for name in view.views if (claim := view.claim(name, method, n)) is not None]
    scale = [20_000 / claim.n_features for claim in claims]
    x, y = (
        [
            Estimate(each.mean * unit, each.standard_error * unit, each.iterations)
            for each, unit in zip(values, scale, strict=True)
        ]
        for values in ([claim.true for claim in claims], [claim.claimed for claim in claims])
    )
    axes.errorbar([each.mean for each in x], [each.mean for each in y], bar_lengths(y), bar_lengths(x),
                  color=look.colour, ls="", marker=look.marker, mfc="white", mew=0.9, elinewidth=0.4,
                  label=title)  # fmt: skip


def _agreement(axes: Axes) -> None:
    """The line of equal numbers, its band, and axes that hold 0."""
    most = max(axes.get_xlim()[1], axes.get_ylim()[1], 10.0)
    line = np.concatenate([np.linspace(0.0, 1.0, 20), np.geomspace(1.0, most, 60)])
    axes.fill_between(line, AGREE[0] * line, AGREE[1] * line, color=GREY, alpha=0.25, lw=0, zorder=0)
    axes.plot(line, line, color=GREY, lw=0.8, zorder=0)
    axes.set_xscale("symlog", linthresh=1.0, linscale=0.6)
    axes.set_yscale("symlog", linthresh=1.0, linscale=0.6)
    axes.set(xlim=(-0.15, most), ylim=(-0.15, most))
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter("{x:,g}")


def draw_power(view: TrustView) -> Figure:
    """Share of the markers found at equal errors, by scenario; a panel for each number of samples."""
    shown = [
        name for name in view.views
        if view.constants[name]["data"] == "shapes" and "marker_share" not in view.constants[name]
    ] or list(view.views)  # fmt: skip
    methods = _one_for_each_ranking(view)
    look = _looks(view)
    with open_figure(STYLE, WIDTH, 1.2 + 0.24 * len(shown)) as figure:
        panels = figure.subplots(1, len(view.sizes), sharey=True, squeeze=False)[0]
        for axes, n in zip(panels, view.sizes, strict=True):
            for k, method in enumerate(methods):
                found = [_share_found(view, name, method.name, n) for name in shown]
                places = [-i + 0.12 * (k - (len(methods) - 1) / 2) for i in range(len(shown))]
                mark = look[method.name]
                axes.errorbar([each.mean for each in found], places, xerr=bar_lengths(found), color=mark.colour,
                              ls="", marker=mark.marker, mfc="white", mew=0.8, ms=3.2, elinewidth=0.6,
                              label=method.title.partition(",")[0])  # fmt: skip
            axes.set(title=f"{n // 2} + {n // 2}", xlim=(0.0, None), xlabel="share found")
            axes.xaxis.set_major_formatter("{x:g}")
        panels[0].set_yticks([-i for i in range(len(shown))], [view.titles[name] for name in shown])
        handles, labels = panels[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside upper center", ncols=5, columnspacing=1.2)
    return figure


def _share_found(view: TrustView, scenario: str, method: str, n: int) -> Estimate:
    found, markers = view.mean(_SHOWN, scenario, method, n), max(view.views[scenario].n_markers, 1.0)
    return Estimate(found.mean / markers, found.standard_error / markers, found.iterations)
