"""What the figures of a study are made of: curves with error bands, points with error bars, axes of sizes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from bayesieve.simulation.study.drawing import Look
from bayesieve.simulation.study.estimates import Estimate

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis

FloatArray = npt.NDArray[np.float64]

BAND = 2.0
"""Half width of Monte Carlo error bands and bars, in standard errors."""

_MARKS = 0.13  # from one marker to the next along a line, as a share of the diagonal


def line(
    axes: Axes, x: Sequence[float], estimates: Sequence[Estimate], look: Look, label: str = "", offset: int = 0
) -> None:
    """Draw means with their error band; markers are few and shifted, so that lines below others still show.

    Examples
    --------
    >>> from bayesieve.simulation.study.curves import line
    >>> from bayesieve.simulation.study.drawing import Look, drawn
    >>> from bayesieve.simulation.study.estimates import Estimate
    >>> with drawn() as figure:
    ...     axes = figure.subplots()
    ...     line(axes, [10, 20], [Estimate(1.0, 0.1, 9), Estimate(2.0, 0.1, 9)], Look("black", "-", "o"))
    >>> axes.lines[0].get_ydata().tolist()
    [1.0, 2.0]
    """
    mean = np.array([each.mean for each in estimates])
    error = BAND * np.nan_to_num([each.standard_error for each in estimates])
    places = [float(each) for each in x]
    axes.fill_between(places, mean - error, mean + error, color=look.colour, alpha=0.25, lw=0)
    axes.plot(places, mean, color=look.colour, ls=look.line, marker=look.marker, mfc="white", mew=0.9,
              markevery=(_MARKS * (0.1 + 0.27 * offset % 1.0), _MARKS), label=label or "_")  # fmt: skip


def points(axes: Axes, x: Sequence[float], estimates: Sequence[Estimate], look: Look, label: str = "") -> None:
    """Draw means with error bars, joined by a thin line.

    Examples
    --------
    >>> from bayesieve.simulation.study.curves import points
    >>> from bayesieve.simulation.study.drawing import Look, drawn
    >>> from bayesieve.simulation.study.estimates import Estimate
    >>> with drawn() as figure:
    ...     axes = figure.subplots()
    ...     points(axes, [10], [Estimate(1.0, 0.1, 9)], Look("black", "-", "o"))
    >>> len(axes.containers)
    1
    """
    places, mean = [float(each) for each in x], [each.mean for each in estimates]
    if look.line:
        axes.plot(places, mean, color=look.colour, ls=look.line, lw=0.7, alpha=0.6)
    axes.errorbar(places, mean, lengths(estimates), color=look.colour, ls="", marker=look.marker, mfc="white",
                  mew=0.9, elinewidth=0.8, label=label or "_")  # fmt: skip


def lengths(estimates: Sequence[Estimate]) -> list[FloatArray]:
    """Lengths of error bars below and above; below, a little less than the mean, for logarithmic axes.

    Examples
    --------
    >>> from bayesieve.simulation.study.curves import lengths
    >>> from bayesieve.simulation.study.estimates import Estimate
    >>> [length.tolist() for length in lengths([Estimate(3.0, 0.5, 10), Estimate(-3.0, 0.5, 10)])]
    [[1.0, 1.0], [1.0, 1.0]]
    """
    error = BAND * np.nan_to_num([each.standard_error for each in estimates])
    mean = np.array([each.mean for each in estimates])
    return [np.where(mean > 0, np.minimum(error, 0.999 * mean), error), error]


def stretched(axes: Axes, lowest: float, highest: float = 0.0) -> None:
    """Stretch the axis near 0: differences of one feature and of fifty show side by side.

    Examples
    --------
    >>> from bayesieve.simulation.study.curves import stretched
    >>> from bayesieve.simulation.study.drawing import drawn
    >>> with drawn() as figure:
    ...     axes = figure.subplots()
    ...     stretched(axes, -12.0, 3.0)
    >>> axes.get_yticks().tolist()
    [-1, -2, -5, -10, 0, 1, 2]
    """
    from matplotlib.ticker import FixedLocator, NullLocator  # noqa: PLC0415 - optional and slow to import

    axes.set_yscale("asinh", linear_width=2.0)
    ticks = [k * 10**power for power in range(5) for k in (1, 2, 5)]
    shown = [-t for t in ticks if t < 1.15 * -lowest + 1] + [0] + [t for t in ticks if t < 1.15 * highest]
    axes.yaxis.set_major_locator(FixedLocator(shown))
    axes.yaxis.set_minor_locator(NullLocator())
    axes.yaxis.set_major_formatter("{x:,.0f}")
    axes.set_ylim(1.15 * lowest - 0.3, 1.15 * highest + 0.4)


def size_axis(axes: Axes, sizes: Sequence[int]) -> None:
    """Numbers of samples on a logarithmic axis, written out.

    Examples
    --------
    >>> from bayesieve.simulation.study.curves import size_axis
    >>> from bayesieve.simulation.study.drawing import drawn
    >>> with drawn() as figure:
    ...     axes = figure.subplots()
    ...     size_axis(axes, [100, 300, 1000])
    >>> axes.get_xticks().tolist()
    [100.0, 200.0, 500.0, 1000.0]
    """
    axes.set_xscale("log")
    round_numbers(axes.xaxis, sizes[0], sizes[-1])


def round_numbers(axis: Axis, low: float, high: float) -> None:
    """Ticks at 1, 2 and 5 times powers of ten, at those from ``low`` to ``high``, written out.

    Examples
    --------
    >>> from bayesieve.simulation.study.curves import round_numbers
    >>> from bayesieve.simulation.study.drawing import drawn
    >>> with drawn() as figure:
    ...     axes = figure.subplots()
    ...     round_numbers(axes.yaxis, 0.2, 2.0)
    >>> axes.get_yticks().tolist()
    [0.2, 0.5, 1.0, 2.0]
    """
    from matplotlib.ticker import FixedLocator, NullLocator  # noqa: PLC0415 - optional and slow to import

    numbers = [float(f"{k}e{power}") for power in range(-4, 7) for k in (1, 2, 5)]
    axis.set_major_locator(FixedLocator([number for number in numbers if low <= number <= high] or [low]))
    axis.set_minor_locator(NullLocator())
    axis.set_major_formatter("{x:,g}")
