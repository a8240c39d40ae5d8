"""Style of the figures: rcParams, column widths, colours, names and numbers as texts."""

from __future__ import annotations

import contextlib
import contextvars
import math
import textwrap
import unicodedata
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from bayesieve.posterior import FeaturePosterior
from bayesieve.selection import MinimalRisk, Selection
from bayesieve.utils import (
    BASE_STYLE,
    BLACK,
    BLUE,
    GREEN,
    GREY,
    ORANGE,
    PURPLE,
    SKY,
    VERMILION,
    DataError,
    FloatArray,
    RuleError,
    did_you_mean,
    load_matplotlib,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes


_LONGEST, _MINUS = 28, "\N{MINUS SIGN}"


def plain(name: Any, longest: int = _LONGEST) -> str:
    r"""Turn a name into one line of readable text: no control characters, not too long."""
    text = "".join(" " if unicodedata.category(c) in ("Cc", "Zl", "Zp") else c for c in str(name))
    text = "".join("\ufffd" if unicodedata.category(c) == "Cs" else c for c in " ".join(text.split()))
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


def in_lines(title: str, width: int) -> str:
    """Break a long title, after a comma or semicolon if that will do."""
    text = plain(title, 4 * width)
    if len(text) <= width:
        return text
    stops = [i + 1 for i, c in enumerate(text) if c in ",;" and i < width and len(text) - i - 2 <= width]
    if stops:
        return f"{text[: stops[-1]]}\n{text[stops[-1] :].strip()}"
    return "\n".join(textwrap.wrap(text, width, break_long_words=True))


def format_number(number: float, digits: int = 3) -> str:
    r"""Write a number for people, with a true minus sign."""
    if not math.isfinite(number):
        return "unknown" if math.isnan(number) else ("∞" if number > 0 else f"{_MINUS}∞")
    text = f"{number:,.0f}" if abs(number) >= 10**digits else f"{number:,.{digits}g}"
    return text.replace("-", _MINUS)


def format_probability(probability: float) -> str:
    """Write a probability; one that rounding would make certain is said to be beyond 0.9999."""
    if probability > 0.9999:
        return "over 0.9999"
    return "under 0.0001" if probability < 0.0001 else f"{probability:.{4 if probability > 0.99 else 3}g}"


def as_selection(found: Any) -> Selection:
    """Take a selection as it is; from a posterior select what is more probably a marker than not."""
    if isinstance(found, Selection):
        return found
    if isinstance(found, FeaturePosterior):
        return MinimalRisk(0.5).select(found)
    raise RuleError(
        f"A figure shows what screen() or a rule returned, not {type(found).__name__}. Screen the data first, for "
        "example: posterior = bs.screen(X, y)."
    )


def clip_infinite(log_odds: FloatArray) -> FloatArray:
    """Put infinite log-odds (prior probabilities of 0 and 1) a little beyond the others."""
    finite = log_odds[np.isfinite(log_odds)]
    low, high = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 0.0)
    margin = max(0.1 * (high - low), 1.0)
    return np.clip(log_odds, low - margin, high + margin)


_MOST_COMPARED = 50_000


def place_of(posterior: FeaturePosterior, feature: Any) -> int:
    """Find a feature by its name or by its number in the order of the columns."""
    return int(places_of(posterior, [feature])[0])


def places_of(posterior: FeaturePosterior, features: Sequence[Any]) -> npt.NDArray[np.int64]:
    """Find several features; see :func:`place_of`."""
    asked = [features] if isinstance(features, str) else list(features)
    if not asked:
        return np.empty(0, np.int64)
    names, n = posterior.names, posterior.n_features
    number = {name: i for i, name in reversed(list(enumerate(names)))}  # the first of two that share a name
    found = []
    for each in asked:
        if isinstance(each, str):
            if each not in number:
                raise DataError(
                    f"There is no feature {each!r} among the {n:,} of this screen.{_like(each, names)}"
                )
            found.append(number[each])
        elif isinstance(each, (int, np.integer)) and -n <= each < n:
            found.append(int(each) % n)
        else:
            raise DataError(
                f"There is no feature number {each!r}: numbers go from 0 to {n - 1:,}, names are text."
            )
    return np.array(found, dtype=np.int64)


def _like(name: str, names: tuple[str, ...]) -> str:
    return did_you_mean(name, names[:_MOST_COMPARED]) or " Names are case-sensitive."


COLUMN, PAGE = 85 / 25.4, 174 / 25.4
"""Widths of one column and of both, in inches."""

PALE = "#B5B5B5"
CLASS_COLOURS = (BLUE, VERMILION, GREEN, PURPLE, ORANGE, SKY, "#882255", "#999933")
CLASS_MARKERS = ("o", "D", "s", "^", "v", "P", "X", "h")
SCALE = ("#6FB7E0", "#0072B2", "#0B2A5B")
"""Colours of log-odds from the cut to the largest."""

STYLE: Any = {
    **BASE_STYLE,
    "text.usetex": False,
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],
    "font.size": 8.0,
    "axes.titlesize": 8.0,
    "axes.labelsize": 8.0,
    "axes.linewidth": 0.6,
    "axes.edgecolor": "#404040",
    "axes.unicode_minus": True,
    "xtick.labelsize": 7.5,
    "ytick.labelsize": 7.5,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "xtick.major.size": 2.8,
    "ytick.major.size": 2.8,
    "legend.fontsize": 7.5,
    "svg.fonttype": "none",
    "path.simplify": True,
}

_ON_PAPER: contextvars.ContextVar[bool] = contextvars.ContextVar("on_paper", default=False)
_WIDEST, _HIGHEST = 46, 36  # characters of a title along an axis


@contextlib.contextmanager
def drawing_on(ax: Axes | None, width: float = COLUMN, height: float = 2.6) -> Iterator[Axes]:
    """Draw on the axes given, or on those of a new figure in the style of the house.

    A new figure is one of ``pyplot``, so that notebooks show it; it is neither shown nor closed here, and the
    settings of matplotlib are as before.
    """
    load_matplotlib()
    if ax is not None:
        yield ax
        return
    if _ON_PAPER.get():
        from matplotlib.figure import Figure  # noqa: PLC0415 - optional and slow to import

        made: Any = Figure
    else:
        import matplotlib.pyplot as plt  # noqa: PLC0415 - optional and slow to import

        made = plt.figure
    with journal_style():
        yield made(figsize=(width, height), layout="constrained").subplots()


@contextlib.contextmanager
def on_paper() -> Iterator[None]:
    """Make new figures without ``pyplot`` for a while: they are written to files, and nobody has to close them."""
    token = _ON_PAPER.set(True)
    try:
        yield
    finally:
        _ON_PAPER.reset(token)


@contextlib.contextmanager
def journal_style() -> Iterator[None]:
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
    mpl = load_matplotlib()
    interactive = mpl.is_interactive()
    try:
        with mpl.rc_context(STYLE):
            try:
                yield
            finally:
                interactive = (
                    mpl.is_interactive()
                )  # the first figure of a notebook loads its backend, which sets it
    finally:
        mpl.interactive(interactive)


def titles(ax: Axes, x: str, y: str) -> None:
    """Name the axes, in text that is never taken for a formula, and in two lines if it is long."""
    for name, title in (("xlabel", x), ("ylabel", y)):
        ax.set(**{name: in_lines(title, _WIDEST if name == "xlabel" else _HIGHEST)})
    for label in (ax.xaxis.label, ax.yaxis.label):
        label.set_parse_math(False)
        label.set_usetex(False)


def write(ax: Axes, x: float, y: float, text: str, **how: Any) -> Any:
    """Write plain text a little smaller than the axes; ``across=True`` places it in parts of the axes."""
    if how.pop("across", False):
        how["transform"] = ax.transAxes
    return ax.text(x, y, text, **({"fontsize": small(), "parse_math": False, "usetex": False} | how))


def above(ax: Axes, left: str = "", right: str = "", colours: tuple[str, str] = (BLACK, BLACK)) -> None:
    """Write a line above the axes; it takes height from them and never width, however long it is."""
    narrow = 0.5 * small() * len(left + right) > 72.0 / float(ax.figure.dpi) * ax.get_window_extent().width
    room_above(ax, 2 if narrow and left and right else 1)
    for text, at, side, colour in zip((left, right), (0.0, 1.0), ("left", "right"), colours, strict=True):
        if text:
            how = {"across": True, "va": "bottom", "ha": side, "color": colour, "in_layout": False}
            write(ax, at, 1.02, text + "\n " * bool(narrow and right and text is left), **how)


def room_above(ax: Axes, n_lines: int = 1) -> None:
    """Keep lines free above the axes."""
    if not ax.get_title():
        ax.set_title("\n".join([" "] * n_lines), fontsize=small())


def small() -> float:
    """Size of type inside a figure: nine tenths of the usual, 7.2 points in the style of the house."""
    return 0.9 * float(load_matplotlib().rcParams["font.size"])


def plain_legend(legend: Any) -> None:
    """Keep the texts of a legend from being taken for formulas."""
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
    "on_paper",
    "plain_legend",
    "room_above",
    "small",
    "titles",
    "write",
]
