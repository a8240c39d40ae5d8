"""Figures of what OBF expects: false positives expected and true, coverage of intervals, reliability."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from bayesieve.simulation.study.curves import lengths, points, round_numbers, size_axis
from bayesieve.simulation.study.drawing import BLACK, GREY, Look, drawn, looks
from bayesieve.simulation.study.estimates import Estimate, Measured, spread
from bayesieve.simulation.study.measures import CONFIDENCE, EDGES, bin_names
from bayesieve.simulation.study.scene import Scene

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from bayesieve.simulation.study.store import StudyResults

_FEWEST = 20  # false positives expected in all iterations together, below which a ratio says nothing
_MOST = 10  # numbers of samples that are shown
_APART = 1.05  # by which the points of two methods at the same n are drawn apart


def errors(results: StudyResults | Scene) -> Figure:
    """What OBF expects against what is true: false positives, their intervals, and probabilities.

    Means over iterations with two standard errors either way. Where the data follow the model and its prior,
    points lie on the grey lines; elsewhere the figure shows what the assumptions cost.

    Parameters
    ----------
    results
        Of a study with methods that give probabilities.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from bayesieve.simulation.study import built_in, run_study
    >>> from bayesieve.simulation.study.error_figures import errors
    >>> design = built_in("calibration").changed(sizes=[50, 100], iterations=2, methods=["mnc"])
    >>> results = run_study(design, pathlib.Path(tempfile.mkdtemp()), workers=1)
    >>> len(errors(results).axes)
    4
    """
    scene = Scene.of(results)
    names = scene.measured("expected_false_positives").methods
    look = looks([method for method in scene.methods if method.name in names])
    with drawn(height=6.0) as figure:
        panels = figure.subplots(2, 2)
        _expected(panels[0, 0], scene, look)
        _ratio(panels[0, 1], scene, look)
        _coverage(panels[1, 0], scene, look)
        if scene.measured(bin_names(0)[0]).methods:
            _reliability(panels[1, 1], scene)
        else:
            _along(panels[1, 1], scene, look)
        for axes, letter in zip(panels.flat, "abcd", strict=True):
            axes.set_title(f"({letter})")
        handles, labels = panels[0, 0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside upper center", ncols=min(len(labels), 6), columnspacing=1.4)
    return figure


def _expected(axes: Axes, scene: Scene, look: dict[str, Look]) -> None:
    """True false positives against expected ones, a point for each number of samples."""
    expected, false = scene.measured("expected_false_positives"), scene.measured("false_positives")
    ends = []
    for method in expected.methods:
        x, y = ([each.mean(method, n) for n in _some(expected, method)] for each in (expected, false))
        pairs = [(a, b) for a, b in zip(x, y, strict=True) if a.mean > 0 and b.mean > 0]
        x, y = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
        places, each = [one.mean for one in x], look[method]
        heights = [one.mean for one in y]
        axes.errorbar(places, heights, lengths(y), lengths(x), color=each.colour, ls="", mfc="white",
                      marker=each.marker, mew=0.9, elinewidth=0.8, label=expected.titles[method])  # fmt: skip
        ends += [*places, *heights]
    span = (0.5 * min(ends), 2.0 * max(ends)) if ends else (0.1, 10.0)
    axes.plot(span, span, color=GREY, lw=0.8, zorder=0)
    axes.set(xscale="log", yscale="log", xlim=span, ylim=span)
    axes.set(xlabel="expected false positives", ylabel="true false positives")
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter("{x:,g}")


def _ratio(axes: Axes, scene: Scene, look: dict[str, Look]) -> None:
    """True false positives in units of the expected ones, where there are enough of them."""
    expected, false = scene.measured("expected_false_positives"), scene.measured("false_positives")
    for i, method in enumerate(expected.methods):
        sizes = [n for n in _some(expected, method) if expected.values(method, n).sum() >= _FEWEST]
        ratios = [ratio(false.values(method, n), expected.values(method, n)) for n in sizes]
        points(axes, _apart(sizes, i, len(look)), ratios, look[method])
    axes.axhline(1.0, color=GREY, lw=0.8, zorder=0)
    axes.set(xlabel="number of samples n", ylabel="false positives, true / expected")
    axes.set_ylim(bottom=0.0)
    size_axis(axes, expected.sizes())


def ratio(above: npt.NDArray[np.float64], below: npt.NDArray[np.float64]) -> Estimate:
    """Quotient of two means over the same iterations, with its standard error to first order.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve.simulation.study.error_figures import ratio
    >>> ratio(np.array([2.0, 4.0]), np.array([1.0, 2.0]))
    Estimate(mean=2.0, standard_error=0.0, iterations=2)
    """
    quotient = float(above.mean() / below.mean())
    return Estimate(quotient, Estimate.of((above - quotient * below) / below.mean()).standard_error, above.size)


def _coverage(axes: Axes, scene: Scene, look: dict[str, Look]) -> None:
    """How often the interval of false positives held their number."""
    found = scene.measured("interval_low")
    for i, method in enumerate(found.methods):
        sizes = _some(found, method)
        points(axes, _apart(sizes, i, len(look)), [scene.coverage(method, n) for n in sizes], look[method])
    axes.axhline(CONFIDENCE, color=GREY, lw=0.8, zorder=0)
    axes.set(xlabel="number of samples n", ylabel=f"coverage of {CONFIDENCE:.0%} intervals")
    low, high = axes.get_ylim()
    axes.set_ylim(max(low, -0.02), min(high, 1.02))
    size_axis(axes, found.sizes())


def _along(axes: Axes, scene: Scene, look: dict[str, Look]) -> None:
    """False positives of lists of any length: true, expected, and by chance among Gaussian non-markers."""
    shown = [method.name for method in scene.methods if method.name in look and method.rule != "top"]
    styles = (("false_positives", "-", "true"), ("expected_false_positives", (0, (4, 1.5)), "expected"),
              ("expected_by_chance", (0, (1, 1)), "by chance"))  # fmt: skip
    for measure, style, label in styles:
        measured = scene.measured(measure)
        axes.plot([], [], color=BLACK, ls=style, label=label)
        for method in (method for method in shown if method in measured.titles):
            sizes = measured.sizes(method)
            means = [measured.mean(method, n).mean for n in sizes]
            axes.plot(sizes, means, color=look[method].colour, ls=style)
    axes.set(xlabel="number of samples n", ylabel="false positives of lists of any length", yscale="log")
    axes.legend(loc="best")
    round_numbers(axes.yaxis, *axes.get_ylim())
    size_axis(axes, scene.measured().sizes())


def _reliability(axes: Axes, scene: Scene) -> None:
    """Share of markers among features of a probability; all numbers of samples together."""
    method = scene.measured(bin_names(0)[0]).methods[0]  # methods of such a study share their probabilities
    places, shares = [], []
    for k in range(len(EDGES) - 1):
        features, probability, markers = (
            np.concatenate([each.values(method, n) for n in each.sizes(method)])
            for each in map(scene.measured, bin_names(k))
        )
        if features.sum():
            places.append(float(probability.sum() / features.sum()))
            shares.append(ratio(markers, features))
    axes.plot([0.0, 1.0], [0.0, 1.0], color=GREY, lw=0.8, zorder=0)
    points(axes, places, shares, Look(BLACK, "", "o"))
    axes.set(xlabel="probability of being a marker", ylabel="share of markers")
    axes.set(xlim=(-0.03, 1.03), ylim=(-0.03, 1.03))


def _some(measured: Measured, method: str) -> tuple[int, ...]:
    return spread(measured.sizes(method), _MOST)


def _apart(sizes: list[int] | tuple[int, ...], place: int, number: int) -> list[float]:
    return [n * _APART ** (place - (number - 1) / 2.0) for n in sizes]
