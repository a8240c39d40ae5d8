"""Figures show the numbers, can be read, and are the same file every time."""

from __future__ import annotations

import itertools
import re
import sys

import numpy as np
import polars as pl
import pytest
from made_studies import as_in_the_specification, results_of

from bayesieve.errors import DataError, MissingExtraError, OptionError
from bayesieve.study import Method, StudyDesign, built_in, run_study
from bayesieve.study.figures import STYLE, WIDTH, accuracy, assign_looks, costs, figures_of, sensitivity
from bayesieve.study.results_view import ResultsView
from bayesieve.utils import FORMATS, normalise_formats, open_figure, render

pytest.importorskip("matplotlib")


@pytest.fixture(scope="module")
def specified():
    return ResultsView(as_in_the_specification(iterations=20))


@pytest.fixture(scope="module")
def calibrated(tmp_path_factory):
    design = built_in("calibration").changed(sizes=[50, 200], iterations=6)
    return ResultsView(run_study(design, tmp_path_factory.mktemp("calibration"), workers=1))


@pytest.fixture(scope="module")
def varied(tmp_path_factory):
    design = built_in("sensitivity").changed(sizes=[50, 200], iterations=6)
    return ResultsView(run_study(design, tmp_path_factory.mktemp("sensitivity"), workers=1))


@pytest.fixture(scope="module")
def timed():
    methods = tuple(Method(name, name.upper(), name) for name in ("obf-jp", "bd", "nmc"))
    design = StudyDesign("times", methods, (20,), 3, raw=True, measures=("labels", "costs"))
    seconds = {"obf-jp": [1.0, 2.0, 4.0], "bd": [0.5, 1.0, 2.0], "nmc": [50.0, 100.0, 200.0]}
    columns = {"n": [20] * 9, "iteration": [0, 1, 2] * 3, "method": [name for name in seconds for _ in range(3)]}
    columns |= {name: [5.0] * 9 for name in ("correct", "n_selected", "true_positives", "false_positives")}
    columns |= {"seconds": [each for times in seconds.values() for each in times], "peak_bytes": [2e6] * 9}
    return ResultsView(results_of(columns, design))


@pytest.fixture(scope="module")
def all_figures(specified, calibrated, varied, timed):
    found = {}
    for view in (specified, calibrated, varied, timed):
        for name, draw in figures_of(view).items():
            found[f"{view.design.name} {name}"] = draw()
    return found


def test_each_study_has_its_figures(all_figures):
    assert list(all_figures) == [
        "figure-1b accuracy",
        "calibration errors",
        "sensitivity sensitivity",
        "times costs",
    ]


def test_curves_are_the_means(specified):
    """Route: the means of the store, not of the figure's own arithmetic."""
    figure = accuracy(specified)
    above, below = figure.axes
    lines = {line.get_label(): line for line in above.lines if not line.get_label().startswith("_")}
    means = specified.results.means()
    for title, drawn_line in lines.items():
        expected = means.filter(means["title"] == title)
        assert drawn_line.get_xdata() == pytest.approx(expected["n"].to_numpy())
        assert drawn_line.get_ydata() == pytest.approx(expected["mean"].to_numpy(), rel=1e-12)
    assert len(lines) == len(specified.design.methods)
    best = means.group_by("n").agg(pl.col("mean").max()).sort("n")["mean"].to_numpy()
    for line, title in zip(below.lines, lines, strict=True):
        expected = means.filter(means["title"] == title)["mean"].to_numpy() - best
        assert line.get_ydata() == pytest.approx(expected, abs=1e-8)


def test_lines_mark_all_right_and_nothing_selected(specified):
    above = accuracy(specified).axes[0]
    assert {20_000.0, 19_900.0} <= {line.get_ydata()[0] for line in above.lines}
    assert {"all 20,000 right", "nothing selected"} <= {text.get_text() for text in above.texts}


def test_nothing_is_smaller_than_8_points_on_a_page(all_figures):
    for name, figure in all_figures.items():
        assert figure.get_size_inches()[0] == WIDTH
        texts = [
            text for text in figure.findobj(lambda artist: hasattr(artist, "get_fontsize")) if text.get_text()
        ]
        assert min(text.get_fontsize() for text in texts) >= 8.0, name


def test_labels_of_an_axis_do_not_overlap(all_figures):
    for name, figure in all_figures.items():
        for axes in figure.axes:
            for axis in (axes.xaxis, axes.yaxis):
                low, high = sorted(axis.get_view_interval())
                boxes = [
                    tick.label1.get_window_extent()
                    for tick in axis.get_major_ticks()
                    if low <= tick.get_loc() <= high and tick.label1.get_text() and tick.label1.get_visible()
                ]
                assert not any(one.overlaps(other) for one, other in itertools.combinations(boxes, 2)), name


def test_everything_lies_on_the_page_and_legends_cover_no_data(all_figures):
    for name, figure in all_figures.items():
        page = figure.bbox
        for axes in figure.axes:
            box = axes.get_tightbbox()
            assert min(box.x0, box.y0) >= -1, name
            assert max(box.x1 - page.x1, box.y1 - page.y1) <= 1, name
            for legend in figure.legends:
                assert not legend.get_window_extent().overlaps(axes.get_window_extent()), name


def test_methods_differ_in_more_than_colour():
    methods = built_in("figure-1a").methods
    found = assign_looks(methods)
    for one, other in itertools.combinations(found.values(), 2):
        same = (one.colour == other.colour) + (one.line == other.line) + (one.marker == other.marker)
        assert same <= 1
    assert len({look.marker for look in found.values()}) == len(methods)


def test_many_methods_still_get_looks():
    methods = [Method(f"m{k}", "M", "bd") for k in range(30)]
    assert len(assign_looks(methods)) == 30
    assert len(assign_looks([*methods, Method("other", "O", "welch")])) == 31


def line():
    with open_figure(STYLE, WIDTH, 2.0) as figure:
        figure.subplots().plot([1.0, 2.0], label="a line")
        figure.legend(loc="outside upper center")
    return figure


def test_files_are_the_same_every_time_and_hold_no_date():
    svg, pdf, png = (render(line(), form, STYLE, dpi=120, palette=True) for form in FORMATS)
    assert [svg, pdf, png] == [render(line(), form, STYLE, dpi=120, palette=True) for form in FORMATS]
    assert b"<dc:date>" not in svg
    assert b"CreationDate" not in pdf
    assert b"Software" not in png
    assert png.startswith(b"\x89PNG")


def test_pictures_are_small(all_figures):
    figure = all_figures["figure-1b accuracy"]
    small, plain = (render(figure, "png", STYLE, dpi=120, palette=palette) for palette in (True, False))
    assert len(small) < min(150_000, 0.5 * len(plain))


def test_formats_are_names_without_dots():
    assert normalise_formats(".PNG") == normalise_formats(["png", "PNG"]) == ("png",)
    with pytest.raises(OptionError, match="svg, pdf, png, not as 'gif'"):
        normalise_formats(["svg", "gif"])


def test_without_matplotlib_the_extra_is_named(specified, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingExtraError, match=r"pip install .*\[figures\]"):
        accuracy(specified)


def test_results_that_cannot_fill_a_figure_are_refused(specified):
    with pytest.raises(DataError, match="No option is varied"):
        sensitivity(specified)
    empty = ResultsView(results_of({"n": [], "iteration": [], "method": [], "correct": []}, specified.design))
    with pytest.raises(DataError, match="no numbers of correctly labelled"):
        accuracy(empty)


def test_costs_are_drawn_relative_to_the_first_method(timed):
    figure = costs(timed)
    texts = [text.get_text() for text in figure.axes[0].texts]
    assert texts == ["50", "0.5", "1"]
    assert [label.get_text() for label in figure.axes[0].get_yticklabels()] == ["NMC", "BD", "OBF-JP"]


def test_reliability_lies_near_the_diagonal(calibrated):
    """A rough look at the panel: probabilities of data drawn from the prior are right."""
    axes = figures_of(calibrated)["errors"]().axes[3]
    (points,) = [line for line in axes.lines if line.get_marker() == "o"]
    x, y = np.asarray(points.get_xdata()), np.asarray(points.get_ydata())
    assert x.size >= 10
    assert abs(x - y)[[0, 1, -1]].max() < 0.02  # where most features are


def test_the_svg_needs_no_other_file(specified):
    svg = render(accuracy(specified), "svg", STYLE, dpi=120).decode()
    assert re.findall(r'(?:href|src)="(?!#)([^"]*)"', svg) == []
    assert "<script" not in svg
