"""Figures of a study: correct labels as samples grow, expected against true errors, sensitivity, costs."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesieve.study.design import Method
from bayesieve.study.measures import CONFIDENCE, EDGES, bin_names
from bayesieve.study.results_view import PAPER, Estimate, Measure, ResultsView, relative_costs, spread
from bayesieve.utils import (
    BASE_STYLE,
    BLACK,
    BLUE,
    GREY,
    PALETTE,
    DataError,
    FloatArray,
    open_figure,
    round_numbers,
    stretch_near_zero,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


WIDTH = 6.5
"""Width of a figure in inches: that of a printed page, so that type keeps its size."""

STYLE: Any = {
    **BASE_STYLE,
    "font.family": "DejaVu Sans", "font.size": 8.5, "axes.titlesize": 9.0, "axes.labelsize": 8.5,
    "axes.linewidth": 0.7, "axes.titlelocation": "left", "xtick.labelsize": 8.0, "ytick.labelsize": 8.0,
    "legend.fontsize": 8.0, "lines.linewidth": 1.2, "lines.markersize": 3.8, "svg.fonttype": "path",
}  # fmt: skip

BAND = 2.0
"""Half width of Monte Carlo error bands and bars, in standard errors."""

_MARKS = 0.13  # from one marker to the next along a line, as a share of the diagonal
_SCORES = ("obf-jp", "obf-pp", "bd", "welch", "limma", "pearson-neyman", "mi", "nmc", "wilcoxon", "obf")
_SOLID = (0, ())
_DASHES: tuple[Any, ...] = (
    (0, (4, 1.5)), (0, (6, 1.5, 1, 1.5)), (0, (1, 1)), (0, (2.5, 1)), (0, (6, 1.5, 1, 1.5, 1, 1.5)), (0, (8, 2)),
)  # fmt: skip
_MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">", "*", "h", "p", "d", "8", "H", "1", "2", "3")


@dataclass(frozen=True, slots=True)
class Look:
    """Colour, line and marker of a method; two methods share at most one of them."""

    colour: str
    line: Any
    marker: str


def assign_looks(methods: Sequence[Method]) -> dict[str, Look]:
    """Give each method its look: a colour for what is scored, full lines where the number selected varies."""
    alike = len({method.scores for method in methods}) == 1
    colours = dict(zip(_SCORES, PALETTE, strict=False))
    looks: dict[str, Look] = {}
    taken: set[tuple[str, Any]] = set()
    dashes = itertools.cycle(_DASHES)
    for i, method in enumerate(methods):
        full, usual = alike or method.rule != "top", PALETTE[i % len(PALETTE)]
        wanted = usual if alike else colours.get(method.scores, PALETTE[0])
        line = _SOLID if full else next(dashes)
        colour = next((each for each in (wanted, *PALETTE) if (each, line) not in taken), usual)
        taken.add((colour, line))
        looks[method.name] = Look(colour, line, _MARKERS[i % len(_MARKERS)])
    return looks


def draw_line(
    axes: Axes, x: Sequence[float], estimates: Sequence[Estimate], look: Look, label: str = "", offset: int = 0
) -> None:
    """Draw means with their error band; markers are few and shifted, so that lines below others still show."""
    mean = np.array([each.mean for each in estimates])
    error = BAND * np.nan_to_num([each.standard_error for each in estimates])
    places = [float(each) for each in x]
    axes.fill_between(places, mean - error, mean + error, color=look.colour, alpha=0.25, lw=0)
    axes.plot(places, mean, color=look.colour, ls=look.line, marker=look.marker, mfc="white", mew=0.9,
              markevery=(_MARKS * (0.1 + 0.27 * offset % 1.0), _MARKS), label=label or "_")  # fmt: skip


def draw_points(
    axes: Axes, x: Sequence[float], estimates: Sequence[Estimate], look: Look, label: str = ""
) -> None:
    """Draw means with error bars, joined by a thin line."""
    places, mean = [float(each) for each in x], [each.mean for each in estimates]
    if look.line:
        axes.plot(places, mean, color=look.colour, ls=look.line, lw=0.7, alpha=0.6)
    axes.errorbar(places, mean, bar_lengths(estimates), color=look.colour, ls="", marker=look.marker, mfc="white",
                  mew=0.9, elinewidth=0.8, label=label or "_")  # fmt: skip


def bar_lengths(estimates: Sequence[Estimate]) -> list[FloatArray]:
    """Lengths of error bars below and above; below, a little less than the mean, for logarithmic axes."""
    error = BAND * np.nan_to_num([each.standard_error for each in estimates])
    mean = np.array([each.mean for each in estimates])
    return [np.where(mean > 0, np.minimum(error, 0.999 * mean), error), error]


def size_axis(axes: Axes, sizes: Sequence[int]) -> None:
    """Numbers of samples on a logarithmic axis, written out."""
    axes.set_xscale("log")
    round_numbers(axes.xaxis, sizes[0], sizes[-1])


_FEWEST = 20  # false positives expected in all iterations together, below which a ratio says nothing
_MOST = 10  # numbers of samples that are shown
_APART = 1.05  # by which the points of two methods at the same n are drawn apart


def errors(view: ResultsView) -> Figure:
    """What OBF expects against what is true: false positives, their intervals, and probabilities.

    Means over iterations with two standard errors either way. Where the data follow the model and its prior,
    points lie on the grey lines; elsewhere the figure shows what the assumptions cost.
    """
    names = view.measure("expected_false_positives").methods
    look = assign_looks([method for method in view.methods if method.name in names])
    with open_figure(STYLE, WIDTH, 6.0) as figure:
        panels = figure.subplots(2, 2)
        _expected(panels[0, 0], view, look)
        _ratio(panels[0, 1], view, look)
        _coverage(panels[1, 0], view, look)
        if view.measure(bin_names(0)[0]).methods:
            _reliability(panels[1, 1], view)
        else:
            _along(panels[1, 1], view, look)
        for axes, letter in zip(panels.flat, "abcd", strict=True):
            axes.set_title(f"({letter})")
        handles, labels = panels[0, 0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside upper center", ncols=min(len(labels), 6), columnspacing=1.4)
    return figure


def _expected(axes: Axes, view: ResultsView, look: dict[str, Look]) -> None:
    """True false positives against expected ones, a point for each number of samples."""
    expected, false = view.measure("expected_false_positives"), view.measure("false_positives")
    ends = []
    for method in expected.methods:
        x, y = ([each.mean(method, n) for n in _some(expected, method)] for each in (expected, false))
        pairs = [(a, b) for a, b in zip(x, y, strict=True) if a.mean > 0 and b.mean > 0]
        x, y = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
        places, each = [one.mean for one in x], look[method]
        heights = [one.mean for one in y]
        axes.errorbar(places, heights, bar_lengths(y), bar_lengths(x), color=each.colour, ls="", mfc="white",
                      marker=each.marker, mew=0.9, elinewidth=0.8, label=expected.titles[method])  # fmt: skip
        ends += [*places, *heights]
    span = (0.5 * min(ends), 2.0 * max(ends)) if ends else (0.1, 10.0)
    axes.plot(span, span, color=GREY, lw=0.8, zorder=0)
    axes.set(xscale="log", yscale="log", xlim=span, ylim=span)
    axes.set(xlabel="expected false positives", ylabel="true false positives")
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter("{x:,g}")


def _ratio(axes: Axes, view: ResultsView, look: dict[str, Look]) -> None:
    """True false positives in units of the expected ones, where there are enough of them."""
    expected, false = view.measure("expected_false_positives"), view.measure("false_positives")
    for i, method in enumerate(expected.methods):
        sizes = [n for n in _some(expected, method) if expected.values(method, n).sum() >= _FEWEST]
        ratios = [Estimate.ratio(false.values(method, n), expected.values(method, n)) for n in sizes]
        draw_points(axes, _apart(sizes, i, len(look)), ratios, look[method])
    axes.axhline(1.0, color=GREY, lw=0.8, zorder=0)
    axes.set(xlabel="number of samples n", ylabel="false positives, true / expected")
    axes.set_ylim(bottom=0.0)
    size_axis(axes, expected.sizes())


def _coverage(axes: Axes, view: ResultsView, look: dict[str, Look]) -> None:
    """How often the interval of false positives held their number."""
    found = view.measure("interval_low")
    for i, method in enumerate(found.methods):
        sizes = _some(found, method)
        draw_points(axes, _apart(sizes, i, len(look)), [view.coverage(method, n) for n in sizes], look[method])
    axes.axhline(CONFIDENCE, color=GREY, lw=0.8, zorder=0)
    axes.set(xlabel="number of samples n", ylabel=f"coverage of {CONFIDENCE:.0%} intervals")
    low, high = axes.get_ylim()
    axes.set_ylim(max(low, -0.02), min(high, 1.02))
    size_axis(axes, found.sizes())


def _along(axes: Axes, view: ResultsView, look: dict[str, Look]) -> None:
    """False positives of lists of any length: true, expected, and expected under the global null."""
    shown = [method.name for method in view.methods if method.name in look and method.rule != "top"]
    styles = (("false_positives", "-", "true"), ("expected_false_positives", (0, (4, 1.5)), "expected"),
              ("expected_under_null", (0, (1, 1)), "under the global null"))  # fmt: skip
    for name, style, label in styles:
        measure = view.measure(name)
        axes.plot([], [], color=BLACK, ls=style, label=label)
        for method in (method for method in shown if method in measure.titles):
            sizes = measure.sizes(method)
            means = [measure.mean(method, n).mean for n in sizes]
            axes.plot(sizes, means, color=look[method].colour, ls=style)
    axes.set(xlabel="number of samples n", ylabel="false positives of lists of any length", yscale="log")
    axes.legend(loc="best")
    round_numbers(axes.yaxis, *axes.get_ylim())
    size_axis(axes, view.measure().sizes())


def _reliability(axes: Axes, view: ResultsView) -> None:
    """Share of markers among features of a probability; all numbers of samples together."""
    method = view.measure(bin_names(0)[0]).methods[0]  # methods of such a study share their probabilities
    places, shares = [], []
    for k in range(len(EDGES) - 1):
        features, probability, markers = (
            np.concatenate([each.values(method, n) for n in each.sizes(method)])
            for each in map(view.measure, bin_names(k))
        )
        if features.sum():
            places.append(float(probability.sum() / features.sum()))
            shares.append(Estimate.ratio(markers, features))
    axes.plot([0.0, 1.0], [0.0, 1.0], color=GREY, lw=0.8, zorder=0)
    draw_points(axes, places, shares, Look(BLACK, "", "o"))
    axes.set(xlabel="probability of being a marker", ylabel="share of markers")
    axes.set(xlim=(-0.03, 1.03), ylim=(-0.03, 1.03))


def _some(measure: Measure, method: str) -> tuple[int, ...]:
    return spread(measure.sizes(method), _MOST)


def _apart(sizes: list[int] | tuple[int, ...], place: int, number: int) -> list[float]:
    return [n * _APART ** (place - (number - 1) / 2.0) for n in sizes]


_WORDS = {"n_decay": "1/(2.51 n)", "bic": "BIC"}
_LABELS = {"prior_probability": "prior probability of a marker", "prior_ratio": "L"}
_SHADES = ("#D9B300", "#A69B6C", "#7C7B78", "#4E576C", "#123570", "#00204D")  # cividis, light to dark


def sensitivity(view: ResultsView) -> Figure:
    """Correct labels and the number selected under other prior probabilities and other L, for several n.

    The upper panels show the paired difference from the paper's choice (0.005 and 0.1), with two standard
    errors either way; the lower ones the mean number of features selected.
    """
    groups = view.varied
    if not groups:
        raise DataError("No option is varied in these results. Run bayesieve study sensitivity.")
    sizes = spread(view.measure().sizes(), len(_SHADES))
    with open_figure(STYLE, WIDTH, 5.4) as figure:
        panels = figure.subplots(2, len(groups), sharex="col", sharey="row", squeeze=False)
        gaps = [
            gap
            for column, (option, methods) in enumerate(groups.items())
            for gap in _draw_option(panels[:, column], view, methods, option, sizes)
        ]
        stretch_near_zero(panels[0, 0], min(gaps), max(gaps))
        panels[0, 0].set_ylabel("correct labels: difference from\nthe paper's choice (features)")
        panels[1, 0].set_ylabel("features selected (grey: markers)")
        panels[1, 0].set_yscale("log")
        round_numbers(panels[1, 0].yaxis, *panels[1, 0].get_ylim())
        handles, labels = panels[1, 0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside upper center", ncols=len(labels), columnspacing=1.4)
    return figure


def _draw_option(
    panels: Any, view: ResultsView, methods: list[Method], option: str, sizes: tuple[int, ...]
) -> list[float]:
    """Draw both panels of an option; return the ends of the error bars of the upper one."""
    correct, selected = view.measure(), view.measure("n_selected")
    values = [method.options[option] for method in methods]
    centre = methods[values.index(PAPER[option]) if PAPER[option] in values else 0]
    n_numbers = sum(not isinstance(value, str) for value in values)  # named choices are not on the scale
    x, gaps = range(len(values)), []
    panels[1].axhline(view.n_markers, color=GREY, lw=0.8, zorder=0)
    for k, n in enumerate(sizes):
        differences = [correct.difference(method.name, centre.name, n) for method in methods]
        numbers = [selected.mean(method.name, n) for method in methods]
        for part, line in ((slice(n_numbers), "-"), (slice(n_numbers, None), "")):
            look = Look(_SHADES[k], line, _MARKERS[k])
            draw_points(panels[0], x[part], differences[part], look)
            draw_points(panels[1], x[part], numbers[part], look, f"n = {n:,}" if line else "")
        gaps += [each.mean + sign * BAND * each.standard_error for each in differences for sign in (-1, 1)]
    panels[1].set_xticks(list(x), [_label(value) for value in values])
    panels[1].set_xlabel(_LABELS[option])
    return gaps


def _label(value: object) -> str:
    return _WORDS.get(value, value) if isinstance(value, str) else f"{value:g}"


def figures_of(view: ResultsView) -> dict[str, Callable[[], Figure]]:
    """Figures that the results of a study can fill, by name; each is drawn when it is called."""
    found: dict[str, Callable[[], Figure]] = {}
    several = len(view.measure().sizes()) > 1
    if "costs" in view.design.measures:
        found["costs"] = lambda: costs(view)
    elif view.varied:
        found["sensitivity"] = lambda: sensitivity(view)
    elif several and view.design.data != "prior":
        found["accuracy"] = lambda: accuracy(view)
    if "sensitivity" not in found and view.measure("expected_false_positives").methods and several:
        found["errors"] = lambda: errors(view)
    return found


def accuracy(view: ResultsView) -> Figure:
    """Figure 1: the mean number of correctly labelled features against the number of samples.

    The lower panel shows how far each method is behind the best one at every number of samples, where
    curves that coincide above come apart. Bands are two Monte Carlo standard errors either way; those of
    the lower panel are of the paired difference, which is known much better than the means.
    """
    measure = view.measure()
    if not measure.methods:
        raise DataError("These results hold no numbers of correctly labelled features. Run the study first.")
    look = assign_looks(view.methods)
    with open_figure(STYLE, WIDTH, 6.2) as figure:
        above, below = figure.subplots(2, 1, sharex=True)
        for i, method in enumerate(measure.methods):
            sizes = measure.sizes(method)
            means = [measure.mean(method, n) for n in sizes]
            draw_line(above, sizes, means, look[method], measure.titles[method], i)
        _draw_references(above, view)
        _draw_behind(below, measure, look)
        above.set_ylabel("features labelled correctly\n(mean)")
        above.yaxis.set_major_formatter("{x:,.0f}")
        below.set_xlabel("number of samples n (logarithmic scale)")
        size_axis(below, measure.sizes())
        figure.legend(loc="outside upper center", ncols=4, handlelength=3.2, columnspacing=1.4)
    return figure


def _draw_references(axes: Axes, view: ResultsView) -> None:
    """Lines for everything right and for nothing selected, with words where no curve runs."""
    sizes = view.measure().sizes()
    for level, words, place, side in (
        (view.n_features, f"all {view.n_features:,} right", sizes[0], 1),
        (view.trivial, "nothing selected", sizes[-1], -1),
    ):
        axes.axhline(level, color=GREY, lw=0.8, zorder=0)
        axes.annotate(words, (place, level), (0, 3 * side), textcoords="offset points", color=GREY, fontsize=8.0,
                      ha="left" if side > 0 else "right", va="bottom" if side > 0 else "top")  # fmt: skip


def _draw_behind(axes: Axes, measure: Measure, look: dict[str, Look]) -> None:
    best = {n: measure.best(n) for n in measure.sizes()}
    lowest = 0.0
    for i, method in enumerate(measure.methods):
        sizes = measure.sizes(method)
        gaps = [measure.difference(method, best[n], n) for n in sizes]
        draw_line(axes, sizes, gaps, look[method], offset=i)
        lowest = min([lowest, *(gap.mean for gap in gaps)])
    stretch_near_zero(axes, lowest)
    axes.set_ylabel("difference from the best method\n(features, stretched near 0)")


def costs(view: ResultsView) -> Figure:
    """Table 1 as a figure: time of each method in units of the first one's, and its peak of memory."""
    table = relative_costs(view.results)
    table = table.filter(table["n"] == table["n"].max()).reverse()
    names = table["title"].to_list()
    with open_figure(STYLE, WIDTH, 1.1 + 0.22 * len(names)) as figure:
        panels = figure.subplots(1, 2, sharey=True)
        unit = view.methods[0].title
        _ratios(panels[0], table["times_reference"].to_list(), "", f"time\n({unit} = 1, logarithmic scale)")
        _ratios(panels[1], table["peak_megabytes"].to_list(), " MB",
                "peak of memory beyond the data\n(MB, logarithmic scale)")  # fmt: skip
        panels[0].set_yticks(range(len(names)), names)
    return figure


def _ratios(axes: Axes, values: list[float], unit: str, label: str) -> None:
    """Points on a logarithmic axis, each joined to the value of the method that is the unit (the last)."""
    places = range(len(values))
    axes.set_xscale("log")
    axes.axvline(values[-1], color=GREY, lw=0.8, zorder=0)
    axes.hlines(places, values[-1], values, color=BLUE, lw=2.5)
    axes.plot(values, places, "o", color=BLUE, ms=5)
    for place, value in zip(places, values, strict=True):
        number = f"{value:,.0f}" if value >= 10 else f"{value:.2g}"
        axes.annotate(f"{number}{unit}", (max(value, values[-1]), place), (6, 0), textcoords="offset points",
                      ha="left", va="center", fontsize=8.0)  # fmt: skip
    axes.set_xlim(0.35 * min(values), 8.0 * max(values))
    axes.set_xlabel(label)
    axes.xaxis.set_major_formatter("{x:,g}")
    axes.tick_params(axis="y", length=0)
