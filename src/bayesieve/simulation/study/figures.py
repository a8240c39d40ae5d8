"""Figures of a study: how many features are labelled correctly as samples grow, and what methods cost."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from bayesieve.errors import DataError
from bayesieve.simulation.study.curves import line, size_axis, stretched
from bayesieve.simulation.study.drawing import BLUE, GREY, Look, drawn, looks
from bayesieve.simulation.study.error_figures import errors
from bayesieve.simulation.study.estimates import Measured
from bayesieve.simulation.study.scene import Scene
from bayesieve.simulation.study.sensitivity_figure import sensitivity

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from bayesieve.simulation.study.store import StudyResults


def figures_of(results: StudyResults | Scene) -> dict[str, Callable[[], Figure]]:
    """Figures that the results of a study can fill, by name; each is drawn when it is called.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from bayesieve.simulation.study import built_in, run_study
    >>> from bayesieve.simulation.study.figures import figures_of
    >>> design = built_in("figure-1b").changed(sizes=[100, 200], iterations=2, methods=["mnc-obf-jp", "bd"])
    >>> list(figures_of(run_study(design, pathlib.Path(tempfile.mkdtemp()), workers=1)))
    ['accuracy', 'errors']
    """
    scene = Scene.of(results)
    found: dict[str, Callable[[], Figure]] = {}
    several = len(scene.measured().sizes()) > 1
    if "costs" in scene.design.measures:
        found["costs"] = lambda: costs(scene)
    elif scene.varied:
        found["sensitivity"] = lambda: sensitivity(scene)
    elif several and scene.design.data != "prior":
        found["accuracy"] = lambda: accuracy(scene)
    if "sensitivity" not in found and scene.measured("expected_false_positives").methods and several:
        found["errors"] = lambda: errors(scene)
    return found


def accuracy(results: StudyResults | Scene) -> Figure:
    """Figure 1: the mean number of correctly labelled features against the number of samples.

    The lower panel shows how far each method is behind the best one at every number of samples, where
    curves that coincide above come apart. Bands are two Monte Carlo standard errors either way; those of
    the lower panel are of the paired difference, which is known much better than the means.

    Parameters
    ----------
    results
        Of a study that measured ``correct``.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from bayesieve.simulation.study import built_in, run_study
    >>> from bayesieve.simulation.study.figures import accuracy
    >>> design = built_in("figure-1b").changed(sizes=[100, 200], iterations=2, methods=["mnc-obf-jp", "bd"])
    >>> results = run_study(design, pathlib.Path(tempfile.mkdtemp()), workers=1)
    >>> len(accuracy(results).axes)
    2
    """
    scene = Scene.of(results)
    measured = scene.measured()
    if not measured.methods:
        raise DataError("These results hold no numbers of correctly labelled features. Run the study first.")
    look = looks(scene.methods)
    with drawn(height=6.2) as figure:
        above, below = figure.subplots(2, 1, sharex=True)
        for i, method in enumerate(measured.methods):
            sizes = measured.sizes(method)
            means = [measured.mean(method, n) for n in sizes]
            line(above, sizes, means, look[method], measured.titles[method], i)
        _draw_references(above, scene)
        _draw_behind(below, measured, look)
        above.set_ylabel("features labelled correctly\n(mean)")
        above.yaxis.set_major_formatter("{x:,.0f}")
        below.set_xlabel("number of samples n (logarithmic scale)")
        size_axis(below, measured.sizes())
        figure.legend(loc="outside upper center", ncols=4, handlelength=3.2, columnspacing=1.4)
    return figure


def _draw_references(axes: Axes, scene: Scene) -> None:
    """Lines for everything right and for nothing selected, with words where no curve runs."""
    sizes = scene.measured().sizes()
    for level, words, place, side in (
        (scene.n_features, f"all {scene.n_features:,} right", sizes[0], 1),
        (scene.trivial, "nothing selected", sizes[-1], -1),
    ):
        axes.axhline(level, color=GREY, lw=0.8, zorder=0)
        axes.annotate(words, (place, level), (0, 3 * side), textcoords="offset points", color=GREY, fontsize=8.0,
                      ha="left" if side > 0 else "right", va="bottom" if side > 0 else "top")  # fmt: skip


def _draw_behind(axes: Axes, measured: Measured, look: dict[str, Look]) -> None:
    best = {n: measured.best(n) for n in measured.sizes()}
    lowest = 0.0
    for i, method in enumerate(measured.methods):
        sizes = measured.sizes(method)
        gaps = [measured.difference(method, best[n], n) for n in sizes]
        line(axes, sizes, gaps, look[method], offset=i)
        lowest = min([lowest, *(gap.mean for gap in gaps)])
    stretched(axes, lowest)
    axes.set_ylabel("difference from the best method\n(features, stretched near 0)")


def costs(results: StudyResults | Scene) -> Figure:
    """Table 1 as a figure: time of each method in units of the first one's, and its peak of memory.

    Parameters
    ----------
    results
        Of a study that measured ``costs``.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from bayesieve.simulation.study import built_in, run_study
    >>> from bayesieve.simulation.study.figures import costs
    >>> design = built_in("table-1").changed(sizes=[20], iterations=1, methods=["cmnc-obf-jp", "bd"])
    >>> results = run_study(design, pathlib.Path(tempfile.mkdtemp()), workers=1)
    >>> [label.get_text() for label in costs(results).axes[0].get_yticklabels()]
    ['Bhattacharyya', 'CMNC-OBF-JP']
    """
    from bayesieve.simulation.study.costs import relative_costs  # noqa: PLC0415 - one study in many

    scene = Scene.of(results)
    table = relative_costs(scene.results)
    table = table.filter(table["n"] == table["n"].max()).reverse()
    names = table["title"].to_list()
    with drawn(height=1.1 + 0.22 * len(names)) as figure:
        panels = figure.subplots(1, 2, sharey=True)
        unit = scene.methods[0].title
        _ratios(panels[0], table["times_reference"].to_list(), "{:.2g}", f"time\n({unit} = 1, logarithmic scale)")
        _ratios(panels[1], table["peak_megabytes"].to_list(), "{:.2g} MB",
                "peak of memory beyond the data\n(MB, logarithmic scale)")  # fmt: skip
        panels[0].set_yticks(range(len(names)), names)
    return figure


def _ratios(axes: Axes, values: list[float], form: str, label: str) -> None:
    """Points on a logarithmic axis, each joined to the value of the method that is the unit (the last)."""
    places = range(len(values))
    axes.set_xscale("log")
    axes.axvline(values[-1], color=GREY, lw=0.8, zorder=0)
    axes.hlines(places, values[-1], values, color=BLUE, lw=2.5)
    axes.plot(values, places, "o", color=BLUE, ms=5)
    for place, value in zip(places, values, strict=True):
        right = value >= values[-1]
        axes.annotate(form.format(value), (value, place), (6 if right else -6, 0), textcoords="offset points",
                      ha="left" if right else "right", va="center", fontsize=8.0)  # fmt: skip
    axes.set_xlim(0.35 * min(values), 4.0 * max(values))
    axes.set_xlabel(label)
    axes.xaxis.set_major_formatter("{x:,g}")
    axes.tick_params(axis="y", length=0)
