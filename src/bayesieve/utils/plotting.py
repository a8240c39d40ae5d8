"""Plotting: matplotlib loaded on demand, colours everybody can tell apart, ticks at round numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bayesieve.errors import MissingExtraError

if TYPE_CHECKING:
    from matplotlib.axis import Axis

BLACK, GREY, BLUE, VERMILION, GREEN, ORANGE, PURPLE, SKY = (
    "#000000", "#767676", "#0072B2", "#D55E00", "#009E73", "#E69F00", "#CC79A7", "#56B4E9",
)  # fmt: skip


def load_matplotlib() -> Any:
    """Load matplotlib, or say how to get it."""
    try:
        import matplotlib as mpl  # noqa: PLC0415 - optional and slow to import
    except ImportError as error:
        raise MissingExtraError(
            'Figures need matplotlib. Install it with: python -m pip install "bayesieve[figures]".'
        ) from error
    return mpl


def round_numbers(axis: Axis, low: float, high: float) -> None:
    """Ticks at 1, 2 and 5 times powers of ten, at those from ``low`` to ``high``, written out."""
    from matplotlib.ticker import FixedLocator, NullLocator  # noqa: PLC0415 - optional and slow to import

    numbers = [float(f"{k}e{power}") for power in range(-4, 7) for k in (1, 2, 5)]
    axis.set_major_locator(FixedLocator([number for number in numbers if low <= number <= high] or [low]))
    axis.set_minor_locator(NullLocator())
    axis.set_major_formatter("{x:,g}")
