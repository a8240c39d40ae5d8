"""The report of a grid about what is found: shares as a figure and in numbers, statements, a CSV file."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from bayesieve.study.figures import STYLE, WIDTH
from bayesieve.study.grid import StudyGrid
from bayesieve.study.grid_view import means_of_grid
from bayesieve.study.methods import draw_data
from bayesieve.study.recovery import RecoveryView, check_recovery
from bayesieve.study.report import draw_pictures, origin, render_pages
from bayesieve.study.results_view import Estimate
from bayesieve.study.store import StudyResults
from bayesieve.study.verdicts import Verdict
from bayesieve.utils import (
    BLUE,
    FORMATS,
    PALETTE,
    DataError,
    make_folder,
    normalise_formats,
    open_figure,
    write_files,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from matplotlib.figure import Figure

_CAPTIONS = {
    "recovery": (
        "Share of the markers found, mean over data sets. The first methods take as many features as there are "
        "markers; LASSO, REMAIN and SPM choose their own lists."
    ),
    "examples": (
        "Two markers of the examples (a), (b) and (c) of supplement S4 in one data set: circles are class 0, "
        "triangles class 1."
    ),
}
_EXAMPLES = ("a", "b", "c")
_EXAMPLE_SAMPLES = 240


def write_recovery_report(
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
    >>> from bayesieve.study import built_in_grid, run_grid, write_recovery_report
    >>> grid = built_in_grid("correlations").changed(iterations=1, sizes=[40], scenarios=["b"], methods=["t-test"])
    >>> folder = tempfile.mkdtemp()
    >>> sorted(path.name for path in write_recovery_report(grid, run_grid(grid, folder, workers=1), folder))[-1]
    'summary.md'
    """
    view = RecoveryView(grid, results)
    if not view.views:
        raise DataError(f"The study {grid.name} has no results yet. Run it first.")
    make_folder(folder)
    drawn: dict[str, Callable[[], Figure]] = {"recovery": lambda: draw_recovery(view)}
    if all(name in view.views for name in _EXAMPLES):
        drawn["examples"] = lambda: draw_examples(view)
    files, pictures, missing = draw_pictures(grid.name, drawn, _CAPTIONS, "recovery", normalise_formats(formats))
    files["results.csv"] = (
        pl.DataFrame(means_of_grid(view), infer_schema_length=None).write_csv(float_precision=6).encode()
    )
    files |= render_pages(_page(view, pictures, command))
    paths = write_files(folder, files)
    if missing is not None:
        raise missing
    return paths


def _page(view: RecoveryView, pictures: list[dict[str, str]], command: str) -> dict[str, Any]:
    order = list(Verdict)
    checks = [
        {"verdict": str(found.verdict), "claim": claim, "source": source, "words": found.words}
        for claim, source, found in sorted(check_recovery(view), key=lambda each: order.index(each[2].verdict))
        if found.rows
    ]
    return {
        "name": view.grid.name,
        "title": view.grid.title and f"{view.grid.title.rstrip('.')}.",
        "design": _describe(view),
        "method_columns": ("method", "name", "scores", "rule"),
        "methods": [(each.title, each.name, each.scores, each.rule) for each in view.grid.base.methods],
        "pictures": pictures,
        "numbers": list(_sections(view)),
        "lead_of_checks": "Standard errors stand in brackets; found means a share of at least 80%, not found "
        "at most 20%; what is less than three standard errors on the wrong side is undecided.",
        "checks": checks,
        "command": command,
        "origin": origin(next(iter(view.views.values())).results.version),
    }


def _describe(view: RecoveryView) -> str:
    counts = [
        found.measure().mean(*cell).iterations for found in view.views.values() for cell in found.measure().cells
    ]
    span = f"{min(counts)} to {max(counts)}" if min(counts) < max(counts) else str(counts[0])
    sizes = ", ".join(f"{n // 2} + {n // 2}" for n in view.sizes)
    return (
        f"{len(view.views)} scenarios with {sizes} samples, {span} data sets of each, seed "
        f"{view.grid.base.seed}; 200 features, two of them markers, unless it says otherwise. Where covariances "
        "differ, each marker by itself has the same distribution in both classes, and the correlation with its "
        "partner changes from 0.8 to -0.8; in blocks of five it does so between every second feature and the "
        "others. All methods see the same data."
    )


def _sections(view: RecoveryView) -> Iterator[dict[str, Any]]:
    for n in view.sizes:
        rows = [
            (title, *(_percent(view.share_found(name, method, n)) for method in view.methods))
            for name, title in view.titles.items()
            if name not in view.without_markers
        ]
        yield {
            "title": f"Share of the markers found, {n // 2} + {n // 2} samples",
            "lead": "Means over data sets, with standard errors in brackets.",
            "head": ("scenario", *view.methods.values()),
            "rows": rows,
        }
    own = {each.name: each.title for each in view.grid.base.methods if each.rule == "own"}
    if own:
        heads = [f"{title}, n = {n:,}" for title in own.values() for n in view.sizes]
        rows = [
            (title, *(_list(view, name, method, n) for method in own for n in view.sizes))
            for name, title in view.titles.items()
        ]
        yield {
            "title": "Lists that methods choose by themselves",
            "lead": "Markers and other features in the list, means over data sets: markers + others.",
            "head": ("scenario", *heads),
            "rows": rows,
        }


def _percent(share: Estimate) -> str:
    return "" if not share.iterations else f"{share.mean:.0%} ({share.standard_error:.0%})"


def _list(view: RecoveryView, scenario: str, method: str, n: int) -> str:
    true, false = (view.mean(name, scenario, method, n) for name in ("true_positives", "false_positives"))
    return "" if not true.iterations else f"{true.mean:.1f} + {false.mean:.1f}"


def draw_recovery(view: RecoveryView) -> Figure:
    """Shares found as a table of shaded cells: scenarios by methods, a panel for each number of samples."""
    shown = [name for name in view.titles if name not in view.without_markers] or list(view.titles)
    heads = [title.partition(",")[0] for title in view.methods.values()]
    with open_figure(STYLE, WIDTH + 2.2, 1.5 + 0.24 * len(shown)) as figure:
        from matplotlib.colors import LinearSegmentedColormap  # noqa: PLC0415 - an extra

        shades = LinearSegmentedColormap.from_list("shares", ["#ffffff", BLUE])
        panels = figure.subplots(1, len(view.sizes), sharey=True, squeeze=False)[0]
        for axes, n in zip(panels, view.sizes, strict=True):
            shares = np.array([[view.share_found(name, each, n).mean for each in view.methods] for name in shown])
            axes.imshow(shares, cmap=shades, vmin=0.0, vmax=1.0, aspect="auto")
            for (i, j), share in np.ndenumerate(shares):
                if np.isfinite(share):
                    colour = "white" if share > 0.6 else "black"
                    axes.text(j, i, f"{100 * share:.0f}", ha="center", va="center", color=colour, fontsize=6.5)
            axes.set_xticks(range(len(heads)), heads, rotation=90)
            axes.set_title(f"{n // 2} + {n // 2}")
            axes.tick_params(length=0)
            axes.grid(visible=False)
        panels[0].set_yticks(range(len(shown)), [view.titles[name] for name in shown])
    return figure


def draw_examples(view: RecoveryView) -> Figure:
    """Two markers of each of S4's examples, in one data set."""
    with open_figure(STYLE, WIDTH, 2.5) as figure:
        panels = figure.subplots(1, len(_EXAMPLES), sharex=True, sharey=True)
        for axes, name in zip(panels, _EXAMPLES, strict=True):
            data = draw_data(view.grid.designs[name], _EXAMPLE_SAMPLES, 0)
            assert data.matrix is not None
            two = np.asarray(data.matrix.values)[:, np.flatnonzero(data.truth)[:2]]
            two = two / two[data.matrix.labels.codes == 0].std(axis=0)
            for k, (colour, marker) in enumerate(((PALETTE[0], "o"), (PALETTE[1], "^"))):
                axes.scatter(*two[data.matrix.labels.codes == k].T, s=7, c=colour, marker=marker, alpha=0.6, lw=0)
            axes.set(title=view.titles[name].partition(",")[0], xlabel="feature 1", aspect="equal")
        panels[0].set_ylabel("feature 2")
    return figure
