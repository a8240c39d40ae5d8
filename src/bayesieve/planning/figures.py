"""Figures of a plan for paper and slides."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bayesieve.planning.page import Line, number_lines, power_lines
from bayesieve.planning.plan import Plan
from bayesieve.utils import BASE_STYLE, PALETTE, OptionError, normalise_formats, open_figure, render, write_files

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

STYLE: Any = {**BASE_STYLE, "font.family": "DejaVu Sans", "font.size": 8.5, "axes.titlelocation": "left",
              "axes.linewidth": 0.7, "lines.linewidth": 1.3, "lines.markersize": 3.5}  # fmt: skip
_PANEL, _HIGH, _DPI = 3.25, 2.6, 200
_MARKS = ("o", "s", "^", "D", "v", "P", "X", "h")


class PlanPlots:
    """Figures of a plan, as methods; each returns a figure of matplotlib.

    Parameters
    ----------
    plan
        The plan.
    """

    def __init__(self, plan: Plan) -> None:
        self._plan = plan

    def numbers(self) -> Figure:
        """Expected true and false markers over the size of the study, with 90% intervals; a panel for each."""
        found = self._plan
        panels = [(rule, number_lines(found, rule)) for rule in found.rules]
        return _draw(panels, "samples in all", "features listed")

    def power(self) -> Figure:
        """Probability that a marker is listed, by the size of its difference; a panel for each rule and kind."""
        found = self._plan
        panels = [
            (f"{rule}, {words}", power_lines(found, rule, kind))
            for rule in found.rules
            for kind, words in (("mean", "means, in sd"), ("variance", "ratio of variances"))
        ]
        return _draw(panels, "size of the difference", "probability to be listed", top=1.02)


def save_figures(found: Plan, path: str | os.PathLike[str]) -> tuple[Path, ...]:
    """Write the two figures beside each other's names, in the format of the path: NAME.png and NAME-power.png."""
    target = Path(path)
    ending = target.suffix.lower().lstrip(".")
    if not ending:
        raise OptionError(f"A figure is an .svg, .pdf or .png file; let {os.fspath(path)!r} end in one of these.")
    (form,) = normalise_formats(ending)
    plots = PlanPlots(found)
    drawn: dict[str, Callable[[], Figure]] = {
        target.name: plots.numbers, f"{target.stem}-power{target.suffix}": plots.power
    }  # fmt: skip
    return write_files(
        target.parent, {name: render(draw(), form, STYLE, dpi=_DPI) for name, draw in drawn.items()}
    )


def _draw(panels: list[tuple[str, list[Line]]], x_title: str, y_title: str, top: float | None = None) -> Figure:
    columns = min(2, len(panels))
    rows = -(-len(panels) // columns)
    with open_figure(STYLE, _PANEL * columns, _HIGH * rows) as figure:
        every = figure.subplots(rows, columns, squeeze=False).flat
        for axes, (title, lines) in zip(every, panels, strict=False):
            for k, line in enumerate(lines):
                _line(axes, line, k)
            axes.set(title=title, xlabel=x_title, ylabel=y_title)
            axes.set_ylim(0.0, top)
            axes.legend(fontsize=7.5)
        for axes in list(figure.axes)[len(panels) :]:
            axes.set_axis_off()
    return figure


def _line(axes: Axes, line: Line, k: int) -> None:
    colour = PALETTE[k % len(PALETTE)]
    if len(line.low):
        axes.fill_between(list(line.x), list(line.low), list(line.high), color=colour, alpha=0.2, lw=0)
    axes.plot(
        list(line.x), list(line.y), color=colour, marker=_MARKS[k % len(_MARKS)], mfc="white", label=line.name
    )
