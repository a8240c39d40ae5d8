"""The map of effect sizes, coloured by log-odds, with names beside points where there is room."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesieve.posterior import Effect, FeaturePosterior, effect_of
from bayesieve.report.figures.label_places import LabelPlace, place_labels
from bayesieve.report.figures.style import (
    BLACK,
    COLUMN,
    PALE,
    SCALE,
    as_selection,
    clip_infinite,
    drawing_on,
    places_of,
    plain,
    plain_legend,
    room_above,
    small,
    titles,
    write,
)
from bayesieve.selection import Selection
from bayesieve.utils import FloatArray, IntArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes


_MARK = 1.8  # half the width of a mark, in points


def name_points(
    ax: Axes, x: FloatArray, y: FloatArray, names: Sequence[str], avoid: tuple[FloatArray, FloatArray]
) -> list[Any]:
    """Write names beside points without covering other names; a name without room is left out.

    Names are placed one after the other, in the order given. Limits and scales of the axes must be final.

    Returns
    -------
    list
        The annotations that found room.
    """
    figure: Any = ax.figure
    figure = getattr(figure, "figure", figure)  # the whole, where the axes are on a part
    figure.draw_without_rendering()  # the layout has to be settled before places can be compared
    scale = float(figure.dpi) / 72.0
    points = ax.transData.transform(np.column_stack([x, y]))
    extents = [_extent(ax, plain(name)) for name in names]
    height = max((extent.height for extent in extents), default=0.0)
    frame = ax.get_window_extent()
    places = place_labels(
        points, [extent.width for extent in extents], height, ax.transData.transform(np.column_stack(avoid)),
        (frame.x0, frame.y0, frame.x1, frame.y1), radius=_MARK * scale, scale=0.75 * scale,
    )  # fmt: skip
    found = zip(np.column_stack([x, y]).tolist(), points.tolist(), names, places, strict=True)
    return [
        _write_name(ax, (data, pixels), plain(name), place, scale)
        for data, pixels, name, place in found
        if place is not None
    ]


def _extent(ax: Axes, name: str) -> Any:
    text = ax.annotate(name, (0.0, 0.0), xycoords="data", fontsize=small(), parse_math=False, usetex=False)
    extent = text.get_window_extent()
    text.remove()
    return extent


def _write_name(ax: Axes, point: tuple[Any, Any], name: str, place: LabelPlace, scale: float) -> Any:
    """Write a name with a halo, and draw its leader from the edge of its box to the rim of its mark."""
    from matplotlib.patheffects import withStroke  # noqa: PLC0415 - optional and slow to import

    data, (x, y) = point
    if place.leader is not None:
        offset = ((place.leader[0] - x) / scale, (place.leader[1] - y) / scale)
        line = {"arrowstyle": "-", "lw": 0.5, "color": "#505050", "shrinkA": 0.0, "shrinkB": _MARK}
        ax.annotate("", data, offset, textcoords="offset points", arrowprops=line, zorder=5)
    middle = (0.5 * (place.box[0] + place.box[2]) - x, 0.5 * (place.box[1] + place.box[3]) - y)
    text = ax.annotate(
        name, data, (middle[0] / scale, middle[1] / scale), textcoords="offset points", ha="center", va="center",
        fontsize=small(), parse_math=False, usetex=False, zorder=6,
    )  # fmt: skip
    text.set_path_effects([withStroke(linewidth=1.8, foreground="white")])
    return text


def effect_map(
    found: FeaturePosterior | Selection,
    ax: Axes | None = None,
    *,
    n_labels: int = 8,
    highlight: Sequence[str | int] = (),
    colour_bar: bool = True,
) -> Axes:
    """Draw every feature by how much the classes differ in mean and in variance, coloured by log-odds.

    Features that are not selected are grey and, however many, become a picture of 300 dots per inch inside an
    SVG or PDF file. Pairs, counts and categories have one effect, drawn against the log-odds.

    Parameters
    ----------
    found
        A posterior (then features that are more probably markers than not are selected) or a selection.
    ax
        Where to draw; a new figure of one column's width by default.
    n_labels
        How many of the strongest selected features are named, where there is room.
    highlight
        Further features to name and ring, selected or not.
    colour_bar
        Whether to tell what the colours mean, where they are not told by an axis.

    Returns
    -------
    matplotlib.axes.Axes
        The axes; ``ax.figure`` is the figure.

    Examples
    --------
    >>> import numpy as np
    >>> from matplotlib.figure import Figure
    >>> import bayesieve as bs
    >>> from bayesieve.report import figures
    >>> X = np.random.default_rng(0).normal(size=(40, 50))
    >>> X[20:, 0] += 3.0
    >>> ax = figures.effect_map(bs.screen(X, ["a"] * 20 + ["b"] * 20), Figure().subplots())
    >>> ax.get_ylabel()
    'log variance ratio, b over a'
    """
    selection = as_selection(found)
    posterior = selection.posterior
    effect = effect_of(posterior)
    ringed = places_of(posterior, highlight)
    with drawing_on(ax, COLUMN, 2.75) as drawn:
        if effect is None:
            write(drawn, 0.5, 0.5, "This model has no effect to draw.", across=True, ha="center", va="center")
            drawn.set_axis_off()
            return drawn
        x, y = effect.x, clip_infinite(posterior.log_odds) if effect.y is None else effect.y
        _points(drawn, selection, x, y, colour_bar and effect.kind == "map")
        titles(drawn, effect.x_title, effect.y_title)
        _frame(drawn, effect, selection.cut)
        _note(drawn, x, y, selection)
        _names(drawn, selection, (x, y), n_labels, ringed)
    return drawn


def _points(ax: Axes, selection: Selection, x: FloatArray, y: FloatArray, colour_bar: bool) -> None:
    there = np.isfinite(x) & np.isfinite(y)
    rest = there & ~selection.mask
    ax.scatter(x[rest], y[rest], s=4.0, c=PALE, lw=0, alpha=0.6, rasterized=True, zorder=2,
               label=f"not selected ({int((~selection.mask).sum()):,})")  # fmt: skip
    chosen = selection.indices[::-1]
    chosen = chosen[there[chosen]]  # the strongest are drawn last
    if not chosen.size:
        return
    log_odds = clip_infinite(selection.posterior.log_odds)[chosen]
    low = float(min(log_odds.min(), selection.cut if np.isfinite(selection.cut) else log_odds.min()))
    many = chosen.size > 2_000
    drawn = ax.scatter(x[chosen], y[chosen], c=log_odds, s=9.0, lw=0.0, cmap=_colours(), zorder=3,
                       norm=_norm(low, float(log_odds.max())), rasterized=many,
                       label=f"selected ({selection.n_selected:,})")  # fmt: skip
    if colour_bar:
        figure: Any = ax.figure
        bar = figure.colorbar(drawn, ax=ax, pad=0.01, fraction=0.04, aspect=28)
        bar.set_label("log-odds of selected features")
        bar.outline.set_visible(False)
        bar.ax.minorticks_off()


def _colours() -> Any:
    from matplotlib.colors import LinearSegmentedColormap  # noqa: PLC0415 - optional and slow to import

    return LinearSegmentedColormap.from_list("bayesieve", SCALE)


def _norm(low: float, high: float) -> Any:
    """Half the colours for the weaker features, of which there are more."""
    from matplotlib.colors import PowerNorm  # noqa: PLC0415 - optional and slow to import

    return PowerNorm(0.5, low, high if high > low else low + 1.0)


def _frame(ax: Axes, effect: Effect, cut: float) -> None:
    ax.axvline(0.0, color=BLACK, lw=0.4, alpha=0.35, zorder=1)
    if effect.kind == "map":
        ax.axhline(0.0, color=BLACK, lw=0.4, alpha=0.35, zorder=1)
    elif np.isfinite(cut):
        ax.axhline(cut, color=BLACK, lw=0.7, ls=(0, (4, 3)), zorder=1)
    ax.margins(0.08)
    ax.autoscale_view()


def _note(ax: Axes, x: FloatArray, y: FloatArray, selection: Selection) -> None:
    """Say how many are drawn, how many selected, and how many have no place."""
    missing = int((~(np.isfinite(x) & np.isfinite(y))).sum())
    legend = ax.legend(loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=2, borderaxespad=0.0, handletextpad=0.1,
                       columnspacing=1.0, markerscale=1.3, frameon=False)  # fmt: skip
    plain_legend(legend)
    legend.set_in_layout(False)  # a wide one must not make the axes narrow
    room_above(ax)
    if missing:
        write(ax, 0.99, 0.99, f"{missing:,} without a place", across=True, ha="right", va="top", alpha=0.8)
    if not selection.n_selected:
        write(ax, 0.01, 0.99, "nothing is selected", across=True, ha="left", va="top")


def _names(
    ax: Axes, selection: Selection, at: tuple[FloatArray, FloatArray], n_labels: int, ringed: IntArray
) -> None:
    x, y = at
    there = np.isfinite(x) & np.isfinite(y)
    ringed = ringed[there[ringed]]
    ax.scatter(x[ringed], y[ringed], s=26.0, facecolors="none", edgecolors=BLACK, lw=0.7, zorder=5)
    strongest = [i for i in selection.indices[:n_labels].tolist() if there[i]]
    places = np.array(list(dict.fromkeys([*ringed.tolist(), *strongest])), dtype=np.int64)
    if places.size:
        names = selection.posterior.names
        chosen = np.union1d(places, np.flatnonzero(selection.mask & there))
        name_points(ax, x[places], y[places], [names[i] for i in places.tolist()], (x[chosen], y[chosen]))
