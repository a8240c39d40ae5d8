"""Names beside points, where there is room for them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from bayesieve.report.figures.style import small
from bayesieve.report.figures.texts import plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FloatArray = npt.NDArray[np.float64]

_SIDES = ((1, 0), (-1, 0), (0, 1), (0, -1), (1, 1), (-1, 1), (1, -1), (-1, -1))
_REACHES = (4.0, 9.0, 15.0)  # points from the mark to the text
_MARK = 1.8  # half the width of a mark, in points
_LEADER = 7.0  # texts further away are tied to their mark by a line


def name_points(
    ax: Axes, x: FloatArray, y: FloatArray, names: Sequence[str], avoid: tuple[FloatArray, FloatArray]
) -> list[Any]:
    """Write names beside points without covering other names or marks; a name without room is left out.

    Names are placed one after the other, in the order given, at the nearest free place of those tried. Limits and
    scales of the axes must be final.

    Parameters
    ----------
    ax
        The axes.
    x, y
        Points to name, in the units of the data.
    names
        Their names.
    avoid
        Points not to be covered.

    Returns
    -------
    list
        The annotations that found room.

    Examples
    --------
    >>> import numpy as np
    >>> from matplotlib.figure import Figure
    >>> from bayesieve.report.figures.labels import name_points
    >>> ax = Figure(figsize=(3, 3)).subplots()
    >>> x = np.array([0.5, 0.5])
    >>> [text.get_text() for text in name_points(ax, x, x, ["first", "second"], (x, x))]
    ['first', 'second']
    """
    figure: Any = ax.figure
    figure = getattr(figure, "figure", figure)  # the whole, where the axes are on a part
    figure.draw_without_rendering()  # the layout has to be settled before places can be compared
    scale = float(figure.dpi) / 72.0
    frame = ax.get_window_extent()
    marks = ax.transData.transform(np.column_stack(avoid))
    taken: list[tuple[float, float, float, float]] = []
    written = []
    for place, name in zip(ax.transData.transform(np.column_stack([x, y])), names, strict=True):
        text = ax.annotate(
            plain(name), (0.0, 0.0), xycoords="data", fontsize=small(), parse_math=False, usetex=False, zorder=6
        )  # fmt: skip
        extent = text.get_window_extent()
        text.remove()
        found = _room(place, (extent.width, extent.height), scale, frame, marks, taken)
        if found is not None:
            box, side, reach = found
            taken.append(box)
            written.append(_written(ax, (place, name), side, reach))
    return written


def _room(
    place: FloatArray, size: tuple[float, float], scale: float, frame: Any, marks: FloatArray, taken: list[Any]
) -> tuple[tuple[float, float, float, float], tuple[int, int], float] | None:
    """First place, nearest first, that is inside, covers no text and fewest marks; None if there is none."""
    best, fewest = None, np.inf
    for reach in _REACHES:
        for side in _SIDES:
            left = place[0] + side[0] * reach * scale + (-1.0, -0.5, 0.0)[side[0] + 1] * size[0]
            low = place[1] + side[1] * reach * scale + (-1.0, -0.5, 0.0)[side[1] + 1] * size[1]
            box = (left, low, left + size[0], low + size[1])
            inside = box[0] > frame.x0 and box[2] < frame.x1 and box[1] > frame.y0 and box[3] < frame.y1
            if not inside or any(_overlap(box, other) for other in taken):
                continue
            covered = int(_inside(box, marks, _MARK * scale).sum())
            if covered < fewest:
                best, fewest = (box, side, reach), covered
            if not covered:
                return best
    return best


def _inside(box: tuple[float, ...], marks: FloatArray, margin: float) -> npt.NDArray[np.bool_]:
    x, y = marks.T
    found: npt.NDArray[np.bool_] = (
        (x > box[0] - margin) & (x < box[2] + margin) & (y > box[1] - margin) & (y < box[3] + margin)
    )  # fmt: skip
    return found


def _overlap(a: tuple[float, ...], b: tuple[float, ...]) -> bool:
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]


def _written(ax: Axes, named: tuple[FloatArray, str], side: tuple[int, int], reach: float) -> Any:
    place, name = named
    point = ax.transData.inverted().transform(place)
    line = {"arrowstyle": "-", "lw": 0.4, "color": "#606060", "shrinkA": 0.0, "shrinkB": 1.5}
    return ax.annotate(
        plain(name),
        (float(point[0]), float(point[1])),
        (side[0] * reach, side[1] * reach),
        textcoords="offset points",
        ha=("right", "center", "left")[side[0] + 1],
        va=("top", "center", "bottom")[side[1] + 1],
        fontsize=small(),
        parse_math=False,
        usetex=False,
        zorder=6,
        arrowprops=line if reach > _LEADER else None,
    )
