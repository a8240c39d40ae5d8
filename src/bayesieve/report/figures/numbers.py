"""Figures of numbers: how many false positives there may be, and how sure the screen is of its features."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bayesieve.posterior import FeaturePosterior, chance_resolution
from bayesieve.report.figures.style import (
    BLACK,
    BLUE,
    ORANGE,
    PALE,
    VERMILION,
    drawing_on,
    said,
    selected,
    titles,
    write,
)
from bayesieve.selection import Selection

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_BARS = 60  # more numbers than these are drawn as an area
_TAIL = 1e-4
_BINS = 20


def false_positives(found: FeaturePosterior | Selection, ax: Axes | None = None, *, level: float = 0.9) -> Axes:
    """Draw the probability of every number of false positives in the list, with interval and number by chance.

    Parameters
    ----------
    found
        A posterior (then features that are more probably markers than not are selected) or a selection.
    ax
        Where to draw; a new figure of one column's width by default.
    level
        Probability of the equal-tailed interval.

    Returns
    -------
    matplotlib.axes.Axes
        The axes.

    Examples
    --------
    >>> import numpy as np
    >>> from matplotlib.figure import Figure
    >>> import bayesieve as bs
    >>> from bayesieve.report import figures
    >>> X = np.random.default_rng(0).normal(size=(40, 50))
    >>> ax = figures.false_positives(bs.FixedSize(10).select(bs.screen(X, [0, 1] * 20)), Figure().subplots())
    >>> ax.get_xlabel()
    'false positives among the 10 selected'
    """
    selection = selected(found)
    law = selection.false_positives
    low, high = law.interval(level)
    first, last = law.quantile(_TAIL), law.quantile(1.0 - _TAIL)
    number = np.arange(first, last + 1)
    mass = law.masses(last)[first:]
    inside = (number >= low) & (number <= high)
    with drawing_on(ax) as drawn:
        if number.size <= _BARS:
            colours = [ORANGE if each else PALE for each in inside.tolist()]
            drawn.bar(number, mass, width=0.82, color=colours, zorder=2)
        else:
            drawn.fill_between(number, mass, color=PALE, lw=0, zorder=2)
            drawn.fill_between(number, mass, where=inside.tolist(), color=ORANGE, lw=0, zorder=3)
        drawn.set_xlim(max(first - 0.6, -0.6), max(last, first + 3) + 0.6 + 0.04 * number.size)
        drawn.set_ylim(0.0, 1.45 * float(mass.max()))
        _lines(drawn, selection, (low, high), level)
        _whole_numbers(drawn)
        titles(drawn, f"false positives among the {selection.n_selected:,} selected", "probability")
    return drawn


def _lines(ax: Axes, selection: Selection, interval: tuple[int, int], level: float) -> None:
    """Expected number under the model and by chance, with a word on each and on the interval."""
    expected = selection.expected_false_positives
    ax.axvline(expected, ymax=0.74, color=VERMILION, lw=1.1, zorder=4)
    lines = [
        (f"{said(expected)} expected under the model, {level:.0%} interval {interval[0]:,} to {interval[1]:,}",
         VERMILION)
    ]  # fmt: skip
    by_chance = selection.expected_by_chance if selection.posterior.calibrated else float("nan")
    if np.isfinite(by_chance):
        low, high = ax.get_xlim()
        if high < by_chance <= 2.5 * high + 5.0:
            ax.set_xlim(low, by_chance * 1.05 + 0.5)
        words = f"{_told(selection, by_chance)} by chance if there were no markers"
        if by_chance <= ax.get_xlim()[1]:
            ax.axvline(by_chance, ymax=0.74, color=BLACK, lw=1.1, ls=(0, (4, 2)), zorder=4)
        else:
            words += ", further to the right"
        lines.append((f"{words} (dashed)" if by_chance <= ax.get_xlim()[1] else words, BLACK))
    else:
        lines.append(("number by chance not known for this screen", BLACK))
    for k, (words, colour) in enumerate(lines):
        write(ax, 0.02, 0.985 - 0.095 * k, words, across=True, va="top", color=colour)


def _told(selection: Selection, by_chance: float) -> str:
    """The number by chance; of a simulation in which nothing passed, what it cannot tell from nothing."""
    step = chance_resolution(selection.posterior)
    return f"fewer than {said(step)}" if by_chance < step / 2 else said(by_chance)


def _whole_numbers(ax: Axes) -> None:
    from matplotlib.ticker import FuncFormatter, MaxNLocator  # noqa: PLC0415 - optional and slow to import

    ax.xaxis.set_major_locator(MaxNLocator(nbins=7, integer=True, min_n_ticks=1))
    ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))


def probabilities(found: FeaturePosterior | Selection, ax: Axes | None = None, *, bins: int = _BINS) -> Axes:
    """Draw how many features have which probability of being a marker; selected ones are coloured.

    Numbers are on a logarithmic axis, because nearly all features are surely no markers.

    Parameters
    ----------
    found
        A posterior (then features that are more probably markers than not are selected) or a selection.
    ax
        Where to draw; a new figure of one column's width by default.
    bins
        Number of bars.

    Returns
    -------
    matplotlib.axes.Axes
        The axes.

    Examples
    --------
    >>> import numpy as np
    >>> from matplotlib.figure import Figure
    >>> import bayesieve as bs
    >>> from bayesieve.report import figures
    >>> X = np.random.default_rng(0).normal(size=(40, 50))
    >>> ax = figures.probabilities(bs.screen(X, [0, 1] * 20), Figure().subplots())
    >>> int(sum(bar.get_height() for bar in ax.patches))
    50
    """
    selection = selected(found)
    probability, edges = selection.posterior.probability, np.linspace(0.0, 1.0, bins + 1)
    chosen, rest = (np.histogram(probability[mask], edges)[0] for mask in (selection.mask, ~selection.mask))
    with drawing_on(ax) as drawn:
        how: Any = {"width": 0.86 / bins, "zorder": 2}
        middle = (edges[1:] + edges[:-1]) / 2.0
        drawn.bar(middle, rest, color=PALE, label=f"not selected ({int(rest.sum()):,})", **how)
        drawn.bar(middle, chosen, bottom=rest, color=BLUE, label=f"selected ({int(chosen.sum()):,})", **how)
        drawn.set_yscale("log")
        drawn.set_ylim(0.6, 1.8 * max(float((chosen + rest).max(initial=1)), 2.0))
        drawn.set_xlim(-0.01, 1.01)
        drawn.yaxis.set_major_formatter("{x:,.0f}")
        drawn.minorticks_off()
        drawn.legend(loc="upper right", handlelength=1.0, handleheight=0.8, frameon=False)
        titles(drawn, "probability of being a marker", "number of features (logarithmic)")
    return drawn
