"""Figures of a list: log-odds and cut, expected ROC curve, false discoveries, false positives, probabilities."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from bayesieve.posterior import FeaturePosterior, expected_roc as roc_of, null_resolution
from bayesieve.report.figures.style import (
    BLACK,
    BLUE,
    ORANGE,
    PALE,
    VERMILION,
    above,
    as_selection,
    clip_infinite,
    drawing_on,
    format_number,
    small,
    titles,
    write,
)
from bayesieve.selection import Selection
from bayesieve.utils import FloatArray, round_numbers

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_LINEAR = 10.0  # log-odds up to which the axis is linear
_MOST_POINTS = 2_000  # points of a curve
_DASHES: Any = (0, (4, 3))


def log_odds_by_rank(found: FeaturePosterior | Selection, ax: Axes | None = None) -> Axes:
    """Draw the log-odds of all features from the strongest to the weakest, with the cut.

    Parameters
    ----------
    found
        A posterior (then features that are more probably markers than not are selected) or a selection.
    ax
        Where to draw; a new figure of one column's width by default.

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
    >>> figures.log_odds_by_rank(bs.screen(X, [0, 1] * 20), Figure().subplots()).get_xlabel()
    'rank'
    """
    selection = as_selection(found)
    posterior = selection.posterior
    order = posterior.ranking
    rank, log_odds, mask = (
        np.arange(1, order.size + 1),
        clip_infinite(posterior.log_odds)[order],
        selection.mask[order],
    )
    with drawing_on(ax) as drawn:
        for chosen, colour, layer in ((~mask, PALE, 2), (mask, BLUE, 3)):
            drawn.scatter(rank[chosen], log_odds[chosen], s=7.0, c=colour, lw=0, zorder=layer,
                          rasterized=bool(chosen.sum() > _MOST_POINTS))  # fmt: skip
        drawn.set_xscale("log")
        drawn.set_xlim(0.8, 1.4 * max(order.size, 2))
        round_numbers_of_ten(drawn.xaxis, order.size)
        _log_odds_axis(drawn, float(log_odds.min()), float(log_odds.max()))
        if np.isfinite(selection.cut):
            drawn.axhline(selection.cut, color=BLACK, lw=0.7, ls=_DASHES, zorder=1)
            words = f"cut at {format_number(selection.cut)}"
            _beside(drawn, selection.cut, words)
        count = f"{selection.n_selected:,} of {order.size:,} selected"
        above(drawn, right=count, colours=(BLACK, BLUE if selection.n_selected else BLACK))
        long = max(np.abs(log_odds).max(initial=0.0), 0.0) > _LINEAR
        titles(drawn, "rank", "log-odds" + " (logarithmic beyond 10)" * bool(long))
    return drawn


def _beside(ax: Axes, height: float, words: str) -> None:
    """Write what a horizontal line means just above it, at the right end."""
    from matplotlib.transforms import blended_transform_factory  # noqa: PLC0415 - optional and slow to import

    place = blended_transform_factory(ax.transAxes, ax.transData)
    write(ax, 0.99, height, words, transform=place, ha="right", va="bottom")


def _log_odds_axis(ax: Axes, low: float, high: float) -> None:
    from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator  # noqa: PLC0415

    if max(abs(low), abs(high)) > _LINEAR:
        ax.set_yscale("symlog", linthresh=_LINEAR, linscale=1.0)
        steps = [k * 10**power for power in range(1, 8) for k in (1, 2, 5)]
        ticks = [-t for t in steps if t <= -low * 1.2] + [-5, 0, 5] + [t for t in steps if t <= high * 1.2]
        shown = [t for t in ticks if low - 3.0 <= t <= 1.3 * high + 3.0]
        ax.yaxis.set_major_locator(FixedLocator(shown))
        ax.yaxis.set_minor_locator(NullLocator())
    ax.yaxis.set_major_formatter(FuncFormatter(lambda value, _: format_number(value)))
    ax.margins(y=0.08)


def round_numbers_of_ten(axis: Any, highest: int) -> None:
    """Ticks at powers of ten up to ``highest``, written out; finer ones where there are few."""
    round_numbers(axis, 1, highest)
    if highest > 200:
        from matplotlib.ticker import FixedLocator  # noqa: PLC0415 - optional and slow to import

        axis.set_major_locator(FixedLocator([10.0**k for k in range(len(str(int(highest))))]))


def expected_roc(found: FeaturePosterior | Selection, ax: Axes | None = None) -> Axes:
    """Draw expected true against expected false positives along the ranking, with the place of the list.

    The axis of false positives ends where there is little left to find, or at three times those of the list.

    Parameters
    ----------
    found
        A posterior (then features that are more probably markers than not are selected) or a selection.
    ax
        Where to draw; a new figure of one column's width by default.

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
    >>> figures.expected_roc(bs.screen(X, [0, 1] * 20), Figure().subplots()).get_xlabel()
    'expected false positives'
    """
    selection = as_selection(found)
    curve = roc_of(selection.posterior)
    false, true = curve.false_positives, curve.true_positives
    here = (selection.expected_false_positives, selection.expected_true_positives)
    with drawing_on(ax) as drawn:
        end = _end(false, true, here[0])
        keep = _thin(false, int(np.searchsorted(false, end)) + 1)
        drawn.plot(false[keep], true[keep], color=BLUE, lw=1.3, zorder=3)
        drawn.plot([here[0], here[0], 0.0], [0.0, here[1], here[1]], color=BLACK, lw=0.6, ls=_DASHES, zorder=2)
        drawn.plot([here[0]], [here[1]], "o", color=VERMILION, ms=4.5, zorder=4, clip_on=False)
        drawn.axhline(true[-1], color=BLACK, lw=0.4, alpha=0.35, zorder=1)
        drawn.set_xlim(0.0, max(end, 1e-12))
        drawn.set_ylim(0.0, max(1.12 * float(true[-1]), 1e-12))
        _beside(drawn, float(true[-1]), f"{format_number(float(true[-1]))} markers expected among all features")
        _write_place(drawn, selection, here, bool(np.interp(end, false, true) > 0.5 * true[-1]))
        titles(drawn, "expected false positives", "expected true positives")
    return drawn


def _write_place(ax: Axes, selection: Selection, here: tuple[float, float], below: bool) -> None:
    """Write what the list is expected to hold, below or above the curve."""
    words = (
        f"list of {selection.n_selected:,}:\n{format_number(here[1])} true and\n"
        f"{format_number(here[0])} false positives\nexpected"
    )
    if not selection.n_selected:
        words = "nothing is selected"
    height, anchor = (0.06, "bottom") if below else (0.86, "top")
    write(ax, 0.97, height, words, across=True, ha="right", va=anchor, color=VERMILION)


def _end(false: FloatArray, true: FloatArray, here: float) -> float:
    """Where the curve has little left to show."""
    enough = float(false[min(int(np.searchsorted(true, 0.98 * true[-1])), false.size - 1)])
    return max(min(enough, max(3.0 * here, float(true[-1]))), 1.2 * here, float(false[min(1, false.size - 1)]))


def _thin(x: FloatArray, stop: int) -> npt.NDArray[np.int64]:
    """Numbers of the points of a curve that are worth drawing, ends included."""
    stop = min(stop + 1, x.size)
    return np.unique(np.linspace(0, stop - 1, min(stop, _MOST_POINTS)).round().astype(np.int64))


def false_discovery(found: FeaturePosterior | Selection, ax: Axes | None = None) -> Axes:
    """Draw the expected share of false positives in, and of markers missed by, lists of every length.

    Parameters
    ----------
    found
        A posterior (then features that are more probably markers than not are selected) or a selection.
    ax
        Where to draw; a new figure of one column's width by default.

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
    >>> figures.false_discovery(bs.screen(X, [0, 1] * 20), Figure().subplots()).get_xlabel()
    'length of the list'
    """
    selection = as_selection(found)
    curve = roc_of(selection.posterior)
    n = curve.false_positives.size - 1
    length = np.unique(np.geomspace(1, n, min(n, _MOST_POINTS)).round().astype(np.int64))
    total = float(curve.true_positives[-1])
    rate = curve.false_positives[length] / length
    missed = 1.0 - curve.true_positives[length] / (total if total > 0 else np.nan)
    here = (selection.expected_false_discovery_rate, selection.expected_false_negatives / max(total, 1e-300))
    with drawing_on(ax) as drawn:
        drawn.plot(length, rate, color=VERMILION, lw=1.3, zorder=3)
        drawn.plot(length, missed, color=BLUE, lw=1.3, ls=(0, (5, 1.5)), zorder=3)
        drawn.set_xscale("log")
        drawn.set_xlim(0.9, 1.1 * max(n, 2))
        drawn.set_ylim(0.0, 1.02)
        round_numbers_of_ten(drawn.xaxis, n)
        if selection.n_selected:
            drawn.axvline(selection.n_selected, color=BLACK, lw=0.7, ls=_DASHES, zorder=1)
            for value, colour in zip(here, (VERMILION, BLUE), strict=True):
                drawn.plot([selection.n_selected], [value], "o", color=colour, ms=4.5, zorder=4)
            _write_note(drawn, selection.n_selected)
        else:
            write(drawn, 0.02, 0.5, "nothing is selected", across=True)
        _name_curves(drawn, here if selection.n_selected else None)
        titles(drawn, "length of the list", "expected share")
    return drawn


def _write_note(ax: Axes, size: int) -> None:
    """Write how long the list is beside its line, on the side that has more room."""
    from matplotlib.transforms import blended_transform_factory  # noqa: PLC0415 - optional and slow to import

    left = ax.transAxes.inverted().transform(ax.transData.transform((size, 0.5)))[0] > 0.5
    place = blended_transform_factory(ax.transData, ax.transAxes)
    text = f"list of {size:,}"
    ax.annotate(text, (size, 0.8), (-3.0 if left else 3.0, 0.0), xycoords=place, textcoords="offset points",
                ha="right" if left else "left", va="center", rotation=90, fontsize=small())  # fmt: skip


def _name_curves(ax: Axes, here: tuple[float, float] | None) -> None:
    """Write what the curves are above them, with their values for the list."""
    false, missed = ("", "") if here is None else (f": {here[0]:.1%}", f": {here[1]:.1%}")
    above(ax, f"false in the list{false}", f"markers missed{missed} (dashed)", (VERMILION, BLUE))


_BARS = 60  # more numbers than these are drawn as an area
_TAIL = 1e-4
_BINS = 20


def false_positives(found: FeaturePosterior | Selection, ax: Axes | None = None, *, level: float = 0.9) -> Axes:
    """Draw the probability of every number of false positives in the list, with interval and global null.

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
    selection = as_selection(found)
    distribution = selection.false_positives
    low, high = distribution.interval(level)
    first, last = distribution.quantile(_TAIL), distribution.quantile(1.0 - _TAIL)
    number = np.arange(first, last + 1)
    mass = distribution.masses(last)[first:]
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
        _draw_lines(drawn, selection, (low, high), level)
        _whole_numbers(drawn)
        titles(drawn, f"false positives among the {selection.n_selected:,} selected", "probability")
    return drawn


def _draw_lines(ax: Axes, selection: Selection, interval: tuple[int, int], level: float) -> None:
    """Numbers expected under the model, and with shuffled labels or under the global null, with a word on each."""
    expected = selection.expected_false_positives
    ax.axvline(expected, ymax=0.74, color=VERMILION, lw=1.1, zorder=4)
    lines = [
        (f"{format_number(expected)} expected under the model, "
         f"{level:.0%} interval {interval[0]:,} to {interval[1]:,}", VERMILION)
    ]  # fmt: skip
    estimate, source = selection.false_positive_estimate, "under the global null"
    if estimate.source == "shuffles":
        under_null, source = estimate.expected, "from shuffled labels"
    else:
        under_null = selection.expected_under_null if selection.posterior.calibrated else float("nan")
    if np.isfinite(under_null):
        low, high = ax.get_xlim()
        if high < under_null <= 2.5 * high + 5.0:
            ax.set_xlim(low, under_null * 1.05 + 0.5)
        words = f"{_describe(selection, under_null)} expected {source}"
        if under_null <= ax.get_xlim()[1]:
            ax.axvline(under_null, ymax=0.74, color=BLACK, lw=1.1, ls=(0, (4, 2)), zorder=4)
        else:
            words += ", further to the right"
        lines.append((f"{words} (dashed)" if under_null <= ax.get_xlim()[1] else words, BLACK))
    else:
        lines.append(("number under the global null not known for this screen", BLACK))
    for k, (words, colour) in enumerate(lines):
        write(ax, 0.02, 0.985 - 0.095 * k, words, across=True, va="top", color=colour)


def _describe(selection: Selection, under_null: float) -> str:
    """The number expected under the global null; below what a simulation can resolve, that bound."""
    step = selection.false_positive_estimate.step or null_resolution(selection.posterior)
    return f"fewer than {format_number(step)}" if under_null < step / 2 else format_number(under_null)


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
    selection = as_selection(found)
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
