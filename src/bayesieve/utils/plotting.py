"""Plotting: matplotlib loaded on demand, one style, files that are the same every time, ticks at round numbers."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from bayesieve.utils.errors import MissingExtraError, OptionError
from bayesieve.utils.installation import install_command

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure

BLACK, GREY, BLUE, VERMILION, GREEN, ORANGE, PURPLE, SKY = (
    "#000000", "#767676", "#0072B2", "#D55E00", "#009E73", "#E69F00", "#CC79A7", "#56B4E9",
)  # fmt: skip
"""Colours that everybody can tell apart (Okabe and Ito, with a darker grey)."""

PALETTE = (BLUE, VERMILION, GREEN, BLACK, ORANGE, PURPLE, SKY, GREY, "#882255", "#999933", "#332288")
"""Colours of lines, in the order in which they are taken."""

FORMATS = ("svg", "pdf", "png")

BASE_STYLE: Mapping[str, Any] = {
    "text.parse_math": False,  # names and titles are plain text, dollars and all
    "axes.spines.top": False,
    "axes.spines.right": False,
    "legend.frameon": False,
    "svg.hashsalt": "bayesieve",
    "pdf.fonttype": 42,
}
"""rcParams that all figures share."""

_UNDATED: dict[str, dict[str, Any]] = {
    "svg": {"Date": None},
    "pdf": {"CreationDate": None},
    "png": {"Software": None},
}


def load_matplotlib() -> Any:
    """Load matplotlib, or say how to get it."""
    try:
        import matplotlib as mpl  # noqa: PLC0415 - optional and slow to import
    except ImportError as error:
        raise MissingExtraError(
            f"Figures need matplotlib. Install it with: {install_command('figures')}."
        ) from error
    return mpl


@contextlib.contextmanager
def open_figure(style: Mapping[str, Any], width: float, height: float) -> Iterator[Figure]:
    """Open an empty figure (sizes in inches) in a style; when it is left, its layout is fixed for all files."""
    mpl = load_matplotlib()
    from matplotlib.figure import Figure  # noqa: PLC0415 - optional and slow to import

    with mpl.rc_context(style):
        figure = Figure(figsize=(width, height), layout="constrained")
        yield figure
        figure.draw_without_rendering()
        figure.set_layout_engine("none")


def normalise_formats(formats: str | Sequence[str]) -> tuple[str, ...]:
    """Names of formats in lower case, without dots and each once; unknown ones are refused."""
    names = (formats,) if isinstance(formats, str) else formats
    wanted = tuple(dict.fromkeys(str(name).lower().lstrip(".") for name in names))
    odd = [name for name in wanted if name not in FORMATS]
    if odd:
        raise OptionError(
            f"Figures are written as {', '.join(FORMATS)}, not as {', '.join(map(repr, odd))}. Choose one or more "
            "of these."
        )
    return wanted


def render(figure: Figure, form: str, style: Mapping[str, Any], *, dpi: int, palette: bool = False) -> bytes:
    """Return a figure as the bytes of a file, the same for the same figure: without dates and random names."""
    target = io.BytesIO()
    with load_matplotlib().rc_context(style):
        figure.savefig(target, format=form, dpi=dpi, metadata=_UNDATED[form])
    if form != "png" or not palette:
        return target.getvalue()
    from PIL import Image  # noqa: PLC0415 - comes with matplotlib

    small = io.BytesIO()
    with Image.open(target) as image:
        image.convert("RGB").quantize(256).save(small, "PNG", optimize=True, dpi=(dpi, dpi))
    return small.getvalue()


def stretch_near_zero(axes: Axes, lowest: float, highest: float = 0.0) -> None:
    """Stretch the vertical axis near 0: differences of one and of fifty show side by side."""
    from matplotlib.ticker import FixedLocator, NullLocator  # noqa: PLC0415 - optional and slow to import

    axes.set_yscale("asinh", linear_width=2.0)
    ticks = [k * 10**power for power in range(5) for k in (1, 2, 5)]
    shown = [-t for t in ticks if t < 1.15 * -lowest + 1] + [0] + [t for t in ticks if t < 1.15 * highest]
    axes.yaxis.set_major_locator(FixedLocator(shown))
    axes.yaxis.set_minor_locator(NullLocator())
    axes.yaxis.set_major_formatter("{x:,.0f}")
    axes.set_ylim(1.15 * lowest - 0.3, 1.15 * highest + 0.4)


def round_numbers(axis: Axis, low: float, high: float) -> None:
    """Ticks at 1, 2 and 5 times powers of ten, at those from ``low`` to ``high``, written out."""
    from matplotlib.ticker import FixedLocator, NullLocator  # noqa: PLC0415 - optional and slow to import

    numbers = [float(f"{k}e{power}") for power in range(-4, 7) for k in (1, 2, 5)]
    axis.set_major_locator(FixedLocator([number for number in numbers if low <= number <= high] or [low]))
    axis.set_minor_locator(NullLocator())
    axis.set_major_formatter("{x:,g}")
