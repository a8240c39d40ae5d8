"""One feature: its values or shares in every class, the fitted distributions, means and standard deviations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesieve.data import disambiguate
from bayesieve.posterior import FeaturePosterior, Fragility, predictive
from bayesieve.report.figures.style import (
    BLACK,
    CLASS_COLOURS,
    CLASS_MARKERS,
    COLUMN,
    as_selection,
    drawing_on,
    format_number,
    format_probability,
    place_of,
    plain,
    plain_legend,
    small,
    titles,
    write,
)
from bayesieve.report.raw_values import RawValues, raw_values
from bayesieve.selection import Selection
from bayesieve.stats import CategoryCounts, EventTotals, Moments, as_moments, largest_counts
from bayesieve.utils import DataError, FloatArray, LabelError, Wording

if TYPE_CHECKING:
    from matplotlib.axes import Axes


_MOST_LEVELS = 8


def draw_rates(ax: Axes, totals: EventTotals) -> None:
    """Draw the rate of one feature in every class as a bar with its number."""
    rates = np.nan_to_num(totals.rate[:, 0])
    rows = -np.arange(rates.size)
    ax.barh(rows, rates, height=0.55, color=[CLASS_COLOURS[k % len(CLASS_COLOURS)] for k in range(rates.size)])
    for row, rate in zip(rows.tolist(), rates.tolist(), strict=True):
        write(ax, rate, row, f" {format_number(rate)}", va="center")
    ax.set_xlim(0.0, 1.18 * max(float(rates.max()), 1e-12))
    _class_names(ax, totals)
    titles(ax, "events per unit of exposure", "")


def draw_shares(ax: Axes, counts: CategoryCounts) -> None:
    """Draw the shares of the categories of one feature in every class, one bar per class."""
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
    names = [plain(label, 16) for label in disambiguate(statistics.classes)]
    texts = [f"{name}\n({n:,})" for name, n in zip(names, largest_counts(statistics), strict=True)]
    ax.set_yticks([-k for k in range(len(names))], texts, parse_math=False, usetex=False)
    ax.set_ylim(-len(names) + 0.5, 0.5)
    ax.tick_params(axis="y", length=0)


_CURVE, _STRIP = 0.62, (-0.07, -0.24)  # height of the highest density, and where points are, in rows
_GOLDEN = 0.6180339887498949
_POINTS = 400


def feature(
    found: FeaturePosterior | Selection,
    name: str | int,
    data: Any = None,
    labels: Any = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw one feature class by class: values, fitted distribution of a new value, mean and standard deviation.

    The dashed curve is the distribution all classes would share if the feature were no marker. Counts are drawn as
    rates, categories as shares.

    Parameters
    ----------
    found
        A posterior or a selection.
    name
        The feature, by name or by number.
    data
        What was screened (a table, or what :func:`bayesieve.read_table` returned), or the values of this feature
        alone, one per sample. Without it, distributions and statistics are drawn.
    labels
        Class of every sample, for a plain table or values.
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
    >>> X, y = np.random.default_rng(0).normal(size=(40, 50)), [0, 1] * 20
    >>> posterior = bs.screen(X, y, model=bs.GaussianModel.jeffreys())
    >>> figures.feature(posterior, "x7", X, y, ax=Figure().subplots()).get_xlabel()
    'value of x7'
    """
    posterior = as_selection(found).posterior
    place = place_of(posterior, name)
    values = _values(posterior, place, data, labels)
    statistics = posterior.statistics.take(np.array([place]))
    with drawing_on(ax, COLUMN, 1.0 + 0.62 * len(posterior.classes)) as drawn:
        if isinstance(statistics, CategoryCounts):
            draw_shares(drawn, statistics)
        elif isinstance(statistics, EventTotals) and values is None:
            draw_rates(drawn, statistics)
        else:
            _draw_values(drawn, posterior, place, statistics, values)
        _head(drawn, posterior, place)
    return drawn


def _values(posterior: FeaturePosterior, place: int, data: Any, labels: Any) -> RawValues | None:
    """Values of one feature: picked as if it were the strongest, or as given."""
    if data is None:
        return None
    if np.ndim(data) == 1 and not hasattr(data, "columns"):
        numbers = np.asarray(data, dtype=np.float64)
        if labels is None or len(labels) != numbers.size:
            held = "no labels" if labels is None else f"{len(labels):,} labels"
            raise LabelError(f"{numbers.size:,} values were given with {held}. Give the class of every sample.")
        number = {label: k for k, label in enumerate(posterior.classes)}
        odd = [label for label in np.asarray(labels).tolist() if label not in number]
        if odd:
            raise LabelError(f"There is no class {odd[0]!r}; the classes are {list(posterior.classes)!r}.")
        codes = np.array([number[label] for label in np.asarray(labels).tolist()], dtype=np.int64)
        return RawValues(numbers[None], codes)
    first = (np.arange(posterior.n_features) == place).astype(np.float64)
    return raw_values(replace(posterior, log_bayes_factor=first, prior_log_odds=0.0), data, labels, 1)


def check_drawable(posterior: FeaturePosterior, place: int, values: Any) -> None:
    """Raise if there is nothing about a feature that :func:`feature` could draw."""
    if values is None and not isinstance(posterior.statistics, (Moments, CategoryCounts, EventTotals)):
        raise DataError(
            f"This screen holds no statistics of the values of {posterior.names[place]!r} to draw.",
            hint=Wording(
                "Give data=X and labels=y, the table that was screened.",
                "Draw the figures of the manifest that screen --manifest wrote: bayesieve figures MANIFEST reads "
                "the data again.",
            ),
            kind="no-values",
        )


def _draw_values(
    ax: Axes, posterior: FeaturePosterior, place: int, statistics: Any, values: RawValues | None
) -> None:
    names = [plain(label, 16) for label in disambiguate(posterior.classes)]
    n = len(names)
    moments = as_moments(statistics)
    check_drawable(posterior, place, values)
    distributions = predictive(posterior, [place]) if moments is not None else None
    low, high = _range(moments, distributions, values)
    if distributions is not None:
        _draw_distributions(ax, distributions, np.linspace(low, high, _POINTS), n)
    for k in range(n):
        colour = CLASS_COLOURS[k % len(CLASS_COLOURS)]
        ax.axhline(-k, color=BLACK, lw=0.4, alpha=0.5, zorder=1)
        if values is not None:
            _strip(ax, values, k, colour)
        if moments is not None and np.isfinite(moments.variance[k, 0]):
            mean, sd = float(moments.mean[k, 0]), float(np.sqrt(moments.variance[k, 0]))
            ax.plot([mean - sd, mean + sd], [-k, -k], color=colour, lw=2.2, solid_capstyle="butt", zorder=4)
            ax.plot([mean], [-k], "|", color=BLACK, ms=7.0, mew=1.2, zorder=5)
    if values is not None:
        _ring_culprit(ax, posterior, place, values)
    ax.set_xlim(low, high)
    ax.set_ylim(-n + 1 - 0.38, _CURVE + 0.1)
    _class_ticks(ax, names, largest_counts(statistics))
    what = "value" if n > 1 else "difference"  # of pairs
    titles(ax, f"{what} of {plain(posterior.names[place])}", "")


def _class_ticks(ax: Axes, names: Sequence[str], counts: Sequence[int]) -> None:
    texts = [
        f"{name}{' ' if len(name) < 6 else chr(10)}({count:,})" for name, count in zip(names, counts, strict=True)
    ]
    ax.set_yticks([-k for k in range(len(names))], texts, parse_math=False, usetex=False)
    ax.tick_params(axis="y", length=0)
    ax.spines["left"].set_visible(False)


def _range(moments: Moments | None, distributions: Any, values: RawValues | None) -> tuple[float, float]:
    """Where all values, means with standard deviations, and most of the fitted distributions are."""
    ends = [] if values is None else values.values[np.isfinite(values.values)].tolist()
    if moments is not None:
        sd = np.sqrt(np.nan_to_num(moments.variance[:, 0]))
        ends += [*(moments.mean[:, 0] - sd).tolist(), *(moments.mean[:, 0] + sd).tolist()]
    if distributions is not None:
        spread = 3.0 * np.nan_to_num(distributions.scale[:, 0])
        middle = distributions.location[:, 0]
        reach = np.concatenate([middle - spread, middle + spread])
        ends += reach[np.isfinite(reach)].tolist()
    low, high = (min(ends), max(ends)) if ends else (0.0, 1.0)
    margin = 0.03 * (high - low) or 0.5
    return low - margin, high + margin


def _draw_distributions(ax: Axes, distributions: Any, grid: FloatArray, n_classes: int) -> None:
    """Densities of a new value on the line of its class; that of all classes alike on every line, dashed."""
    from scipy.stats import t as student  # noqa: PLC0415 - SciPy is slow to import

    rows = [
        student.pdf(grid, distributions.dof[k, 0], distributions.location[k, 0], distributions.scale[k, 0])
        for k in range(n_classes + 1)
    ]
    highest = float(np.nanmax(rows)) if np.isfinite(rows).any() else 1.0
    for k in range(n_classes):
        colour, curve = CLASS_COLOURS[k % len(CLASS_COLOURS)], rows[k] * _CURVE / highest
        ax.fill_between(grid, -k, curve - k, color=colour, alpha=0.22, lw=0, zorder=2)
        ax.plot(grid, curve - k, color=colour, lw=1.2, zorder=3)
        ax.plot(grid, rows[-1] * _CURVE / highest - k, color=BLACK, lw=0.7, ls=(0, (3, 2)), zorder=3)


def _strip(ax: Axes, values: RawValues, k: int, colour: str) -> None:
    """Points below the line of their class, apart from each other in a fixed way."""
    mine = values.codes == k
    x = values.values[0, mine]
    ax.scatter(x, _heights(k, int(mine.sum())), s=7.0, marker=CLASS_MARKERS[k % len(CLASS_MARKERS)], c=colour,
               lw=0, alpha=0.7, zorder=3, rasterized=bool(x.size > 5_000))  # fmt: skip


def _heights(k: int, n: int) -> FloatArray:
    return np.asarray(-k + _STRIP[0] + (_STRIP[1] - _STRIP[0]) * ((np.arange(n) * _GOLDEN) % 1.0), np.float64)


def _ring_culprit(ax: Axes, posterior: FeaturePosterior, place: int, values: RawValues) -> None:
    """Ring the sample without which the log-odds would be least, where that was worked out."""
    found = next((each for each in posterior.findings if isinstance(each, Fragility)), None)
    if found is None or not 0 <= found.culprit[place] < values.codes.size:
        return
    sample = int(found.culprit[place])
    k = int(values.codes[sample])
    height = _heights(k, values.codes.size)[int((values.codes[:sample] == k).sum())]
    ax.scatter([values.values[0, sample]], [height], s=34.0, facecolors="none", edgecolors=BLACK, lw=0.8, zorder=5)


def _head(ax: Axes, posterior: FeaturePosterior, place: int) -> None:
    """Name, log-odds and probability above the plot; the pattern where there are more than two classes."""
    lines = [
        f"log-odds {format_number(float(posterior.log_odds[place]))}, "
        f"probability {format_probability(float(posterior.probability[place]))}"
    ]
    if posterior.differences is not None:
        one = posterior.take(np.array([place]))
        assert one.differences is not None
        lines.insert(0, plain(one.differences.words(one)[0], 60))
    if posterior.degenerate[place]:
        lines.insert(0, f"degenerate: {posterior.degenerate_reason[place]}")
    above = 4.0 + 1.35 * small() * len(lines)
    ax.set_title(plain(posterior.names[place]), loc="left", fontweight="bold", pad=above, parse_math=False,
                 usetex=False)  # fmt: skip
    ax.annotate("\n".join(lines), (0.0, 1.0), (0.0, 3.0), xycoords="axes fraction", textcoords="offset points",
                va="bottom", fontsize=small(), parse_math=False, usetex=False, annotation_clip=False,
                in_layout=False)  # fmt: skip
