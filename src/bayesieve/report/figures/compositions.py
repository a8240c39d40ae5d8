"""What the log-odds of one feature are made of, step by step."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bayesieve.posterior import FeaturePosterior, composition_of
from bayesieve.report.figures.style import (
    BLACK,
    BLUE,
    COLUMN,
    VERMILION,
    drawing_on,
    place_of,
    plain,
    said,
    selected,
    small,
    titles,
    write,
)
from bayesieve.selection import Selection

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MOST = 12  # blocks that get a line of their own
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
    posterior = selected(found).posterior
    place = place_of(posterior, name)
    terms = _shortened(composition_of(posterior.take(np.array([place]))).of(posterior.take(np.array([place])), 0))
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
        _numbers(drawn, [value for _, value in terms] + [total])
        titles(drawn, f"log-odds of {plain(posterior.names[place])}", "")
    return drawn


def _numbers(ax: Axes, values: list[float]) -> None:
    """Write the numbers in a column at the right."""
    from matplotlib.transforms import (  # noqa: PLC0415 - optional and slow to import
        ScaledTranslation,
        blended_transform_factory,
    )

    ax.use_sticky_edges = False  # bars keep away from the edge
    ax.margins(x=0.04)
    last = len(values) - 1
    texts = ["+" * (value > 0 and row < last) + _said(value) for row, value in enumerate(values)]
    inches = (4.0 + _DIGIT * small() * max(map(len, texts))) / 72.0  # beside the axes, whatever their width is
    aside = ScaledTranslation(inches, 0.0, ax.figure.dpi_scale_trans)
    place = blended_transform_factory(ax.transAxes, ax.transData) + aside
    for row, text in enumerate(texts):
        weight = "bold" if row == last else "normal"
        write(ax, 1.0, -row, text, transform=place, ha="right", va="center", fontweight=weight)
    ax.set_ylim(-len(values) + 0.5, 0.5)


def _said(value: float) -> str:
    return f"{value:,.2f}".replace("-", "\N{MINUS SIGN}") if np.isfinite(value) else said(value)


def _shortened(terms: list[tuple[str, float]]) -> list[tuple[str, float]]:
    """Throw the smallest terms together where there are many blocks."""
    if len(terms) <= _MOST + 2:
        return terms
    prior, rest = terms[0], terms[1:]
    kept = set(np.argsort([-abs(value) for _, value in rest], kind="stable")[:_MOST].tolist())
    others = [value for k, (_, value) in enumerate(rest) if k not in kept]
    return [
        prior,
        *(each for k, each in enumerate(rest) if k in kept),
        (f"{len(others)} other terms", sum(others)),
    ]
