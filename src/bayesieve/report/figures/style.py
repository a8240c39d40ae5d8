"""How the figures look: widths of a journal's columns, type that can be read there, colours everybody can tell."""

from __future__ import annotations

import contextlib
import contextvars
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from bayesieve.errors import MissingExtraError
from bayesieve.report.figures.texts import in_lines
from bayesieve.simulation.study.drawing import BLACK, BLUE, GREEN, GREY, ORANGE, PURPLE, SKY, VERMILION

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COLUMN, PAGE = 85 / 25.4, 174 / 25.4
"""Widths of one column and of both, in inches."""

PALE = "#B5B5B5"
CLASS_COLOURS = (BLUE, VERMILION, GREEN, PURPLE, ORANGE, SKY, "#882255", "#999933")
CLASS_MARKERS = ("o", "D", "s", "^", "v", "P", "X", "h")
SCALE = ("#6FB7E0", "#0072B2", "#0B2A5B")
"""Colours of log-odds from the cut to the largest."""

STYLE: Any = {
    "text.usetex": False,
    "text.parse_math": False,  # names are plain text, dollars and all
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],
    "font.size": 8.0,
    "axes.titlesize": 8.0,
    "axes.labelsize": 8.0,
    "axes.linewidth": 0.6,
    "axes.edgecolor": "#404040",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.unicode_minus": True,
    "xtick.labelsize": 7.5,
    "ytick.labelsize": 7.5,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "xtick.major.size": 2.8,
    "ytick.major.size": 2.8,
    "legend.fontsize": 7.5,
    "legend.frameon": False,
    "svg.hashsalt": "bayesieve",
    "svg.fonttype": "none",
    "pdf.fonttype": 42,
    "path.simplify": True,
}

_ON_PAPER: contextvars.ContextVar[bool] = contextvars.ContextVar("on_paper", default=False)
_WIDEST, _HIGHEST = 46, 36  # characters of a title along an axis


@contextlib.contextmanager
def drawing_on(ax: Axes | None, width: float = COLUMN, height: float = 2.6) -> Iterator[Axes]:
    """Draw on the axes given, or on those of a new figure in the style of the house.

    A new figure is one of ``pyplot``, so that notebooks show it; it is neither shown nor closed here, and the
    settings of matplotlib are as before.

    Examples
    --------
    >>> from bayesieve.report.figures.style import COLUMN, drawing_on
    >>> from matplotlib.figure import Figure
    >>> mine = Figure().subplots()
    >>> with drawing_on(mine) as ax:
    ...     ax is mine
    True
    """
    mpl = matplotlib()
    if ax is not None:
        yield ax
        return
    if _ON_PAPER.get():
        from matplotlib.figure import Figure  # noqa: PLC0415 - optional and slow to import

        made: Any = Figure
    else:
        import matplotlib.pyplot as plt  # noqa: PLC0415 - optional and slow to import

        made = plt.figure
    with mpl.rc_context(STYLE):
        yield made(figsize=(width, height), layout="constrained").subplots()


@contextlib.contextmanager
def on_paper() -> Iterator[None]:
    """Make new figures without ``pyplot`` for a while: they are written to files, and nobody has to close them.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from bayesieve.report.figures.style import drawing_on, on_paper
    >>> before = len(plt.get_fignums())
    >>> with on_paper(), drawing_on(None) as ax:
    ...     len(plt.get_fignums()) == before
    True
    """
    token = _ON_PAPER.set(True)
    try:
        yield
    finally:
        _ON_PAPER.reset(token)


def matplotlib() -> Any:
    """Load matplotlib, or say how to get it.

    Examples
    --------
    >>> from bayesieve.report.figures.style import matplotlib
    >>> matplotlib().__name__
    'matplotlib'
    """
    try:
        import matplotlib as mpl  # noqa: PLC0415 - optional and slow to import
    except ImportError as error:
        raise MissingExtraError(
            'Figures need matplotlib. Install it with: python -m pip install "bayesieve[figures]".'
        ) from error
    return mpl


def journal_style() -> Any:
    """Type, lines and colours of the house for a figure of your own: a context for its making and its saving.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from bayesieve.report import figures
    >>> with figures.journal_style():
    ...     ax = Figure(figsize=(174 / 25.4, 3.0)).subplots()
    >>> ax.xaxis.label.get_fontsize()
    8.0
    """
    return matplotlib().rc_context(STYLE)


def titles(ax: Axes, x: str, y: str) -> None:
    """Name the axes, in text that is never taken for a formula, and in two lines if it is long.

    Examples
    --------
    >>> from bayesieve.report.figures.style import titles
    >>> from matplotlib.figure import Figure
    >>> ax = Figure().subplots()
    >>> titles(ax, "price in $", "rank")
    >>> ax.get_xlabel()
    'price in $'
    """
    for name, title in (("xlabel", x), ("ylabel", y)):
        ax.set(**{name: in_lines(title, _WIDEST if name == "xlabel" else _HIGHEST)})
    for label in (ax.xaxis.label, ax.yaxis.label):
        label.set_parse_math(False)
        label.set_usetex(False)


def write(ax: Axes, x: float, y: float, text: str, **how: Any) -> Any:
    """Write plain text a little smaller than the axes; ``across=True`` places it in parts of the axes.

    Examples
    --------
    >>> from bayesieve.report.figures.style import write
    >>> from matplotlib.figure import Figure
    >>> write(Figure().subplots(), 0.5, 0.5, "$5", across=True).get_parse_math()
    False
    """
    if how.pop("across", False):
        how["transform"] = ax.transAxes
    return ax.text(x, y, text, **({"fontsize": small(), "parse_math": False, "usetex": False} | how))


def above(ax: Axes, left: str = "", right: str = "", colours: tuple[str, str] = (BLACK, BLACK)) -> None:
    """Write a line above the axes; it takes height from them and never width, however long it is.

    Examples
    --------
    >>> from bayesieve.report.figures.style import above
    >>> from matplotlib.figure import Figure
    >>> ax = Figure().subplots()
    >>> above(ax, "48 selected")
    >>> [text.get_text() for text in ax.texts]
    ['48 selected']
    """
    narrow = 0.5 * small() * len(left + right) > 72.0 / float(ax.figure.dpi) * ax.get_window_extent().width
    room_above(ax, 2 if narrow and left and right else 1)
    for text, at, side, colour in zip((left, right), (0.0, 1.0), ("left", "right"), colours, strict=True):
        if text:
            how = {"across": True, "va": "bottom", "ha": side, "color": colour, "in_layout": False}
            write(ax, at, 1.02, text + "\n " * bool(narrow and right and text is left), **how)


def room_above(ax: Axes, n_lines: int = 1) -> None:
    """Keep lines free above the axes.

    Examples
    --------
    >>> from bayesieve.report.figures.style import room_above
    >>> from matplotlib.figure import Figure
    >>> room_above(Figure().subplots())
    """
    if not ax.get_title():
        ax.set_title("\n".join([" "] * n_lines), fontsize=small())


def small() -> float:
    """Size of type inside a figure: nine tenths of the usual, 7.2 points in the style of the house.

    Examples
    --------
    >>> from bayesieve.report.figures.style import small
    >>> small() > 5
    True
    """
    return 0.9 * float(matplotlib().rcParams["font.size"])


def plain_legend(legend: Any) -> None:
    """Keep the texts of a legend from being taken for formulas.

    Examples
    --------
    >>> from bayesieve.report.figures.style import plain_legend
    >>> from matplotlib.figure import Figure
    >>> ax = Figure().subplots()
    >>> _ = ax.plot([0, 1], label="class $1$")
    >>> plain_legend(ax.legend())
    >>> ax.get_legend().get_texts()[0].get_parse_math()
    False
    """
    for text in legend.get_texts():
        text.set_parse_math(False)
        text.set_usetex(False)


__all__ = [
    "BLACK",
    "BLUE",
    "CLASS_COLOURS",
    "CLASS_MARKERS",
    "COLUMN",
    "GREY",
    "ORANGE",
    "PAGE",
    "PALE",
    "SCALE",
    "STYLE",
    "VERMILION",
    "above",
    "drawing_on",
    "journal_style",
    "matplotlib",
    "on_paper",
    "plain_legend",
    "room_above",
    "small",
    "titles",
    "write",
]
