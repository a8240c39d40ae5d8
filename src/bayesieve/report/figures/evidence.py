"""The evidence on one feature: what its log-odds are made of, and the forest plot of its sites."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bayesieve.posterior import FeaturePosterior, composition_of
from bayesieve.report.figures.style import (
    BLACK,
    BLUE,
    COLUMN,
    VERMILION,
    as_selection,
    drawing_on,
    format_number,
    place_of,
    plain,
    small,
    titles,
    write,
)
from bayesieve.screening import SiteView
from bayesieve.selection import Selection
from bayesieve.utils import DataError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MOST_TERMS = 12  # blocks that get a line of their own
_DIGIT = 0.66  # width of a digit, in sizes of the type


def composition(found: FeaturePosterior | Selection, name: str | int, ax: Axes | None = None) -> Axes:
    """Draw how prior odds and data add up to the log-odds of a feature.

    Under Jeffreys' prior and two classes the data are taken apart into prior ratio, number of samples, means and
    variances; with blocks into the blocks.

    Parameters
    ----------
    found
        A posterior or a selection.
    name
        The feature, by name or by number.
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
    >>> ax = figures.composition(bs.screen(X, [0, 1] * 20), "x7", Figure().subplots())
    >>> [text.get_text() for text in ax.get_yticklabels()][-1]
    'log-odds'
    """
    posterior = as_selection(found).posterior
    place = place_of(posterior, name)
    terms = _shorten(composition_of(posterior.take(np.array([place]))).of(posterior.take(np.array([place])), 0))
    total = float(posterior.log_odds[place])
    with drawing_on(ax, COLUMN, 0.75 + 0.21 * (len(terms) + 1)) as drawn:
        at = 0.0
        for row, (_, value) in enumerate(terms):
            step = value if np.isfinite(value) else 0.0  # a prior of 0 or 1 is told in words
            drawn.barh(-row, step, left=at, height=0.62, color=BLUE if value >= 0 else VERMILION, zorder=2)
            drawn.plot([at + step] * 2, [-row - 0.31, -row - 0.69], color=BLACK, lw=0.5, zorder=3)
            at += step
        drawn.barh(-len(terms), at, height=0.62, color=BLACK, zorder=2)
        drawn.axvline(0.0, color=BLACK, lw=0.5, zorder=1)
        names = [plain(each) for each, _ in terms] + ["log-odds"]
        drawn.set_yticks([-k for k in range(len(names))], names, parse_math=False, usetex=False)
        drawn.tick_params(axis="y", length=0)
        drawn.spines["left"].set_visible(False)
        _write_values(drawn, [value for _, value in terms] + [total])
        titles(drawn, f"log-odds of {plain(posterior.names[place])}", "")
    return drawn


def _write_values(ax: Axes, values: list[float]) -> None:
    """Write the numbers in a column at the right."""
    from matplotlib.transforms import (  # noqa: PLC0415 - optional and slow to import
        ScaledTranslation,
        blended_transform_factory,
    )

    ax.use_sticky_edges = False  # bars keep away from the edge
    ax.margins(x=0.04)
    last = len(values) - 1
    texts = ["+" * (value > 0 and row < last) + _format_signed(value) for row, value in enumerate(values)]
    inches = (4.0 + _DIGIT * small() * max(map(len, texts))) / 72.0  # beside the axes, whatever their width is
    aside = ScaledTranslation(inches, 0.0, ax.figure.dpi_scale_trans)
    place = blended_transform_factory(ax.transAxes, ax.transData) + aside
    for row, text in enumerate(texts):
        weight = "bold" if row == last else "normal"
        write(ax, 1.0, -row, text, transform=place, ha="right", va="center", fontweight=weight)
    ax.set_ylim(-len(values) + 0.5, 0.5)


def _format_signed(value: float) -> str:
    return f"{value:,.2f}".replace("-", "\N{MINUS SIGN}") if np.isfinite(value) else format_number(value)


def _shorten(terms: list[tuple[str, float]]) -> list[tuple[str, float]]:
    """Throw the smallest terms together where there are many blocks."""
    if len(terms) <= _MOST_TERMS + 2:
        return terms
    prior, rest = terms[0], terms[1:]
    kept = set(np.argsort([-abs(value) for _, value in rest], kind="stable")[:_MOST_TERMS].tolist())
    others = [value for k, (_, value) in enumerate(rest) if k not in kept]
    return [
        prior,
        *(each for k, each in enumerate(rest) if k in kept),
        (f"{len(others)} other terms", sum(others)),
    ]


_EDGE = (1.0, 1.17)  # where the column of log Bayes factors is, in widths of the axes


def forest(sites: SiteView, feature: str | int = 0, ax: Axes | None = None) -> Axes:
    """Draw the difference of means in every site with its interval, and that of all samples below.

    Squares grow with the number of samples. At the right is every site's own log Bayes factor; below them that of
    all samples pooled and the sum of the sites', the one that the screen used in bold. More than two classes
    have no difference: the log Bayes factors are drawn.

    Parameters
    ----------
    sites
        From :meth:`bayesieve.screening.sites.SiteView.of`.
    feature
        A feature that the view holds, by name or by its place in it (0 is the strongest).
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
    >>> from bayesieve.screening.sites import SiteView
    >>> X = np.random.default_rng(0).normal(size=(40, 3))
    >>> posterior = bs.screen(X, ["a", "b"] * 20, blocks=["Oslo"] * 20 + ["Bonn"] * 20)
    >>> ax = figures.forest(SiteView.of_blocks(posterior), ax=Figure().subplots())
    >>> [text.get_text().split()[0] for text in ax.get_yticklabels()]
    ['Bonn', 'Oslo', 'all', 'sum']
    """
    if not isinstance(sites, SiteView):
        raise DataError(
            f"A forest plot shows a SiteView, not {type(sites).__name__}. Make one with SiteView.of(...)."
        )
    place = _place(sites, feature)
    with drawing_on(ax, COLUMN, 1.0 + 0.24 * (len(sites.names) + 2)) as drawn:
        if sites.pooled.difference is None:
            _log_bayes_factors(drawn, sites, place)
        else:
            _differences(drawn, sites, place)
        texts = [
            f"{plain(name, 18)} ({int(counts.sum()):,})"
            for name, counts in zip(sites.names, sites.counts, strict=True)
        ]
        texts += [f"all pooled ({int(sites.counts.sum()):,})", "sum of sites"]
        rows = [-k for k in range(len(texts))]
        drawn.set_yticks(rows, texts, parse_math=False, usetex=False)
        drawn.set_ylim(rows[-1] - 0.7, 0.7)
        drawn.tick_params(axis="y", length=0)
        drawn.spines["left"].set_visible(False)
        drawn.axvline(0.0, color=BLACK, lw=0.6, alpha=0.6, zorder=1)
        drawn.set_title(
            plain(sites.features[place]), loc="left", fontweight="bold", parse_math=False, usetex=False
        )
    return drawn


def _place(sites: SiteView, feature: str | int) -> int:
    n = len(sites.features)
    if isinstance(feature, str):
        if feature in sites.features:
            return sites.features.index(feature)
    elif -n <= feature < n:
        return int(feature) % n
    raise DataError(
        f"The view of sites holds {n:,} features, from {sites.features[0]!r} to {sites.features[-1]!r} in the "
        f"order of their strength, and {feature!r} is none of them. Make it with a larger n_features."
    )


def _differences(ax: Axes, sites: SiteView, place: int) -> None:
    sizes = sites.counts.sum(axis=1)
    for k, (site, size) in enumerate(zip(sites.sites, sizes.tolist(), strict=True)):
        middle, low, high = _of(site, place)
        if np.isfinite([low, high]).all():
            ax.plot([low, high], [-k, -k], color=BLUE, lw=1.0, zorder=2)
        if np.isfinite(middle):
            side = 3.0 + 4.0 * float(np.sqrt(size / max(int(sizes.max()), 1)))
            ax.plot([middle], [-k], "s", color=BLUE, ms=side, mew=0, zorder=3)
        else:
            write(ax, 0.5, _up(ax, -k, len(sites.names)), "not measured", across=True, ha="center", va="center")
    middle, low, high = _of(sites.pooled, place)
    row = -len(sites.names)
    if np.isfinite([middle, low, high]).all():
        ax.fill([low, middle, high, middle], [row, row + 0.26, row, row - 0.26], color=BLACK, lw=0, zorder=3)
    ax.axhline(row + 0.5, color=BLACK, lw=0.4, alpha=0.5)
    ax.margins(x=0.06)
    _column(ax, sites, place)
    titles(ax, f"{sites.title}, {sites.level:.0%} interval", "")


def _of(part: Any, place: int) -> tuple[float, float, float]:
    return tuple(float(each[place]) for each in (part.difference, part.low, part.high))  # type: ignore[return-value]


def _up(ax: Axes, row: float, n: int) -> float:
    """Height of a row as a part of the axes, whose limits are set later; two rows follow those of n sites."""
    del ax
    return (row + n + 1.7) / (n + 2.4)


def _evidence(sites: SiteView, place: int) -> list[float]:
    """Log Bayes factors of every site, of all samples pooled, and the sum of the sites'."""
    own = [float(site.log_bayes_factor[place]) for site in sites.sites]
    return [*own, float(sites.pooled.log_bayes_factor[place]), float(sites.combined[place])]


def _column(ax: Axes, sites: SiteView, place: int) -> None:
    """Log Bayes factors at the right, the one that the screen used in bold."""
    n = len(sites.names)
    used = {"pooled": n, "combined": n + 1}.get(sites.used)
    for k, value in enumerate(_evidence(sites, place)):
        bold = "bold" if k == used else "normal"
        text = "" if np.isnan(value) else format_number(value)
        write(ax, _EDGE[1], _up(ax, -k, n), text, across=True, ha="right", va="center", fontweight=bold)
    write(ax, _EDGE[1], 1.02, "log Bayes factor", across=True, ha="right", va="bottom")


def _log_bayes_factors(ax: Axes, sites: SiteView, place: int) -> None:
    for k, value in enumerate(_evidence(sites, place)):
        if np.isfinite(value):
            last = k >= len(sites.names)
            ax.plot([0.0, value], [-k, -k], color=BLACK if last else BLUE, lw=1.0, zorder=2)
            ax.plot([value], [-k], "D" if last else "s", color=BLACK if last else BLUE, ms=5.0, zorder=3)
    ax.margins(x=0.08)
    titles(ax, "log Bayes factor of every site, pooled, and their sum", "")
