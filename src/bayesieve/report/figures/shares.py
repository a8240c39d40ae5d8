"""One feature that is counted: rates of the classes, or shares of its categories."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bayesieve.data.labels import told_apart
from bayesieve.report.figures.style import CLASS_COLOURS, plain_legend, titles, write
from bayesieve.report.figures.texts import plain, said
from bayesieve.stats.category_counts import CategoryCounts
from bayesieve.stats.event_totals import EventTotals
from bayesieve.stats.statistics import largest_counts

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MOST_LEVELS = 8


def draw_rates(ax: Axes, totals: EventTotals) -> None:
    """Draw the rate of one feature in every class as a bar with its number.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from bayesieve.report.figures.shares import draw_rates
    >>> from bayesieve.stats.event_totals import EventTotals
    >>> ax = Figure().subplots()
    >>> draw_rates(ax, EventTotals.from_matrix([[3], [5], [2]], ["a", "a", "b"]))
    >>> [float(bar.get_width()) for bar in ax.patches]
    [4.0, 2.0]
    """
    rates = np.nan_to_num(totals.rate[:, 0])
    rows = -np.arange(rates.size)
    ax.barh(rows, rates, height=0.55, color=[CLASS_COLOURS[k % len(CLASS_COLOURS)] for k in range(rates.size)])
    for row, rate in zip(rows.tolist(), rates.tolist(), strict=True):
        write(ax, rate, row, f" {said(rate)}", va="center")
    ax.set_xlim(0.0, 1.18 * max(float(rates.max()), 1e-12))
    _class_names(ax, totals)
    titles(ax, "events per unit of exposure", "")


def draw_shares(ax: Axes, counts: CategoryCounts) -> None:
    """Draw the shares of the categories of one feature in every class, one bar per class.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from bayesieve.report.figures.shares import draw_shares
    >>> from bayesieve.stats.category_counts import CategoryCounts
    >>> ax = Figure().subplots()
    >>> draw_shares(ax, CategoryCounts.from_matrix([["AA"], ["AG"], ["AG"]], ["a", "a", "b"]))
    >>> [round(float(bar.get_width()), 2) for bar in ax.patches]
    [0.5, 0.0, 0.5, 1.0]
    """
    table = counts.table[:, :, 0]
    there = np.flatnonzero(table.sum(axis=0) > 0)
    common = there[np.argsort(-table.sum(axis=0)[there], kind="stable")][:_MOST_LEVELS]
    shown = np.sort(common)
    shares = table / np.maximum(table.sum(axis=1, keepdims=True), 1)
    rows, start = -np.arange(len(counts.classes)), np.zeros(len(counts.classes))
    for number, m in enumerate(shown.tolist()):
        ax.barh(rows, shares[:, m], left=start, height=0.55, label=plain(counts.levels[m], 12), edgecolor="white",
                lw=0.5, color=CLASS_COLOURS[number % len(CLASS_COLOURS)])  # fmt: skip
        start = start + shares[:, m]
    if there.size > shown.size:
        ax.barh(
            rows, 1.0 - start, left=start, height=0.55, label=f"{there.size - shown.size} more", color="#D0D0D0"
        )
    ax.set_xlim(0.0, 1.0)
    _class_names(ax, counts)
    titles(ax, "share of the samples", "")
    if shown.size:
        plain_legend(ax.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), handlelength=1.0, handleheight=0.9))


def _class_names(ax: Axes, statistics: EventTotals | CategoryCounts) -> None:
    names = [plain(label, 16) for label in told_apart(statistics.classes)]
    texts = [f"{name}\n({n:,})" for name, n in zip(names, largest_counts(statistics), strict=True)]
    ax.set_yticks([-k for k in range(len(names))], texts, parse_math=False, usetex=False)
    ax.set_ylim(-len(names) + 0.5, 0.5)
    ax.tick_params(axis="y", length=0)
