"""Figures of genes: how fast known markers are recovered, and gene sets as dots."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesieve.enrichment import Enrichment, RecoveryCurve, set_title
from bayesieve.report.figures.style import (
    BLACK,
    GREY,
    PAGE,
    SCALE,
    above,
    drawing_on,
    plain,
    plain_legend,
    small,
    titles,
    write,
)
from bayesieve.utils import PALETTE, DataError, round_numbers

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_LINES: Any = ("-", (0, (5, 1.5)), (0, (1.5, 1.2)), (0, (6, 1.5, 1.5, 1.5)))
_SMALLEST, _LARGEST = 12.0, 110.0  # areas of dots


def recovery(curves: RecoveryCurve | Sequence[RecoveryCurve], ax: Axes | None = None) -> Axes:
    """Draw which share of known markers is among the first n genes of one or several rankings (Figure S2).

    Parameters
    ----------
    curves
        What :func:`bayesieve.enrichment.recovery_curve` returned.
    ax
        Where to draw; a new figure of one column's width by default.

    Returns
    -------
    matplotlib.axes.Axes
        The axes.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> import bayesieve as bs
    >>> from bayesieve.report import figures
    >>> curve = bs.enrichment.recovery_curve(["A", "B", "C"], ["B"], "mine")
    >>> figures.recovery(curve, Figure().subplots()).get_ylabel()
    'share of the known markers'
    """
    drawn = [curves] if isinstance(curves, RecoveryCurve) else list(curves)
    if not drawn:
        raise DataError("There is no curve to draw. Give what recovery_curve() returned.")
    longest = max(curve.n_ranked for curve in drawn)
    with drawing_on(ax) as axes:
        axes.plot([0, longest], [0, 1], color=GREY, lw=0.7, zorder=1)
        write(axes, 0.36 * longest, 0.33, "chance", ha="left", va="top", color=GREY)
        for k, curve in enumerate(drawn):
            sizes, share = curve.points
            axes.step(sizes, share, where="post", color=PALETTE[k % len(PALETTE)], lw=1.3, zorder=3,
                      ls=_LINES[k // len(PALETTE) % len(_LINES)] if len(drawn) > len(PALETTE)
                      else _LINES[k % len(_LINES)], label=plain(curve.method or "ranking"))  # fmt: skip
        axes.set_xlim(0, longest)
        axes.set_ylim(0, 1.02)
        axes.locator_params(axis="x", nbins=5)
        axes.xaxis.set_major_formatter("{x:,.0f}")
        titles(axes, "genes from the top of the ranking", "share of the known markers")
        if len(drawn) > 1 or drawn[0].method:
            plain_legend(axes.legend(loc="lower right", handlelength=2.6, borderaxespad=0.3))
        above(axes, right=f"{drawn[0].n_known:,} known markers")
    return axes


def set_dots(found: Enrichment, n: int = 20, ax: Axes | None = None) -> Axes:
    """Draw the first gene sets: dots at their fold, as large as their selected genes, darker for smaller q-values.

    Parameters
    ----------
    found
        What :func:`bayesieve.enrich` returned.
    n
        How many sets.
    ax
        Where to draw; a new figure of the page's width by default.

    Returns
    -------
    matplotlib.axes.Axes
        The axes.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> import bayesieve as bs
    >>> from bayesieve.report import figures
    >>> genes = [f"G{i}" for i in range(40)]
    >>> sets = bs.enrichment.GeneSets.from_dict({"first": genes[:10], "last": genes[30:]})
    >>> found = bs.enrich(genes, sets, selected=6, min_share=0.0)
    >>> [text.get_text() for text in figures.set_dots(found, ax=Figure().subplots()).get_yticklabels()]
    ['first']
    """
    from matplotlib.colors import LinearSegmentedColormap, Normalize  # noqa: PLC0415 - optional and slow to import

    shown = np.flatnonzero(found.selected > 0)[:n]
    names = [plain(set_title(found.names[k]), 46) for k in shown.tolist()]
    with drawing_on(ax, PAGE, max(1.8, 0.9 + 0.19 * max(shown.size, 3))) as axes:
        above(axes, f"{found.n_selected:,} of {found.n_universe:,} genes selected", f"{len(found):,} sets tested")
        if not shown.size:
            axes.set_axis_off()
            write(axes, 0.5, 0.5, "No set holds a selected gene.", across=True, ha="center", va="center")
            return axes
        strength = -found.log_q_value[shown] / np.log(10.0)
        most = max(float(strength.max()), 2.0)
        count = found.selected[shown].astype(float)
        area = _SMALLEST + (_LARGEST - _SMALLEST) * count / count.max()
        colours = LinearSegmentedColormap.from_list("q", ["#E3E3E3", *SCALE])
        rows = np.arange(shown.size)[::-1]
        fold = found.fold[shown]
        dots = axes.scatter(fold, rows, s=area, c=strength, cmap=colours, norm=Normalize(0, most), lw=0.5,
                            edgecolors=BLACK, zorder=3)  # fmt: skip
        axes.set_yticks(rows, names, parse_math=False)
        axes.set_ylim(-0.7, shown.size - 0.3)
        if fold.max() > 20 * fold.min():
            axes.set_xscale("log")
            round_numbers(axes.xaxis, 0.8 * float(fold.min()), 1.3 * float(fold.max()))
            axes.set_xlim(0.6 * float(fold.min()), 1.6 * float(fold.max()))
        else:
            axes.set_xlim(0, 1.12 * float(fold.max()))
        axes.axvline(1.0, color=GREY, lw=0.7, zorder=1)
        axes.grid(axis="y", color="#E8E8E8", lw=0.5, zorder=0)
        axes.set_axisbelow(True)
        titles(axes, "selected over expected by chance (fold)", "")
        bar = axes.figure.colorbar(dots, ax=axes, shrink=0.6, aspect=14, pad=0.02, anchor=(0.0, 0.0))
        bar.set_label("-log10 q-value".replace("-", "\N{MINUS SIGN}", 1))
        _sizes(axes, count, area)
    return axes


def _sizes(axes: Axes, count: Any, area: Any) -> None:
    """Explain the sizes of dots beside the axes."""
    from matplotlib.lines import Line2D  # noqa: PLC0415 - optional and slow to import

    wanted = sorted({int(count.min()), int(np.median(count)), int(count.max())})
    per = (float(area.max()) - _SMALLEST) / float(count.max())
    marks = [
        Line2D(
            [], [], ls="", marker="o", ms=float(np.sqrt(_SMALLEST + per * each)), mfc="none", mec=BLACK, mew=0.5
        )
        for each in wanted
    ]
    legend = axes.legend(
        marks, [f"{each:,}" for each in wanted], title="selected", title_fontsize=small(), loc="upper left",
        bbox_to_anchor=(1.0, 1.0), labelspacing=0.9, borderaxespad=0.2,
    )  # fmt: skip
    plain_legend(legend)
