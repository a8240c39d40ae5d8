"""Where names stand beside points; the page places them by the same steps (scripts/label_places.js).

A name is tried at five distances in sixteen directions around its point. It must lie inside the frame and cover no
other name; among the places left the cheapest is taken: near the point, on the side away from the middle, over few
other points, with no other point nearer to it than its own, and with a leader that crosses nothing. A name whose
cheapest place is too dear is left out. A name far from its point, or nearer to another one, gets a leader.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from bayesieve.utils import FloatArray

_REACHES = (5.0, 12.0, 20.0, 30.0, 42.0)  # from the point to the name, in pixels of the page
_DIRECTIONS = 16
_NEAR = 9.0  # names further away are tied to their point
_SHORT = 7.0  # a leader shorter than this is not seen
_PAD = 1.5  # around a name
_COVERED, _AMBIGUOUS, _CROSSED, _TANGLED, _INWARDS = 14.0, 16.0, 6.0, 40.0, 5.0  # costs, in pixels
_DEAREST = 70.0

Box = tuple[float, float, float, float]  # left, low, right, high


class LabelPlace(NamedTuple):
    """Where a name stands: its box, and the end of its leader on the box (None without a leader)."""

    box: Box
    leader: tuple[float, float] | None


def place_labels(
    points: FloatArray,
    widths: Sequence[float],
    height: float,
    marks: FloatArray,
    frame: Box,
    *,
    radius: float = 3.0,
    scale: float = 1.0,
    always: int = 0,
) -> list[LabelPlace | None]:
    """Place names of the given widths and height beside points, one after the other.

    Parameters
    ----------
    points
        Points to be named, n x 2.
    widths, height
        Sizes of the names.
    marks
        All points that should not be covered, those to be named among them.
    frame
        What names must stay in.
    radius
        Half the width of a point.
    scale
        Pixels of the drawing per pixel of a page.
    always
        How many of the first names are written at any cost, as long as they are inside.
    """
    middle = (0.5 * (frame[0] + frame[2]), 0.5 * (frame[1] + frame[3]))
    boxes: list[Box] = []
    leaders: list[tuple[float, float, float, float]] = []
    found: list[LabelPlace | None] = []
    for k, width in enumerate(widths):
        x, y = float(points[k, 0]), float(points[k, 1])
        others = marks[np.hypot(marks[:, 0] - x, marks[:, 1] - y) > 0.01 * scale]
        outwards = float(np.arctan2(y - middle[1], x - middle[0]))
        best, least = None, np.inf if k < always else _DEAREST
        for reach in _REACHES:
            for turn in range(_DIRECTIONS):
                angle = outwards + 2.0 * np.pi * turn / _DIRECTIONS
                box = _box((x, y), reach * scale, angle, (width, height))
                inside = box[0] >= frame[0] and box[2] <= frame[2] and box[1] >= frame[1] and box[3] <= frame[3]
                if not inside or any(_meet(_wider(box, _PAD * scale), other) for other in boxes):
                    continue
                cost = reach + _INWARDS * (1.0 - np.cos(angle - outwards))
                if cost >= least:
                    continue
                place, extra = _judge(box, (x, y), others, boxes, leaders, radius, scale)
                if cost + extra < least:
                    best, least = place, cost + extra
        found.append(best)
        if best is not None:
            boxes.append(best.box)
            if best.leader is not None:
                leaders.append((*best.leader, x, y))
    return found


def _box(point: tuple[float, float], reach: float, angle: float, size: tuple[float, float]) -> Box:
    """Box of a name that lies in a direction from a point."""
    across, along = float(np.cos(angle)), float(np.sin(angle))
    left = point[0] + reach * across - 0.5 * size[0] * (1.0 - across)
    low = point[1] + reach * along - 0.5 * size[1] * (1.0 - along)
    return left, low, left + size[0], low + size[1]


def _judge(
    box: Box,
    point: tuple[float, float],
    others: FloatArray,
    boxes: Sequence[Box],
    leaders: Sequence[tuple[float, float, float, float]],
    radius: float,
    scale: float,
) -> tuple[LabelPlace, float]:
    """Return whether a name needs a leader, and what its place costs beyond the distance."""
    end = (min(max(point[0], box[0]), box[2]), min(max(point[1], box[1]), box[3]))
    own = float(np.hypot(end[0] - point[0], end[1] - point[1]))
    apart = np.hypot(
        np.maximum(np.maximum(box[0] - others[:, 0], others[:, 0] - box[2]), 0.0),
        np.maximum(np.maximum(box[1] - others[:, 1], others[:, 1] - box[3]), 0.0),
    )
    cost = _COVERED * int((apart < radius).sum())
    ambiguous = bool((apart < own + 0.5 * scale).any())
    cost += _TANGLED * sum(_crosses(leader, box) for leader in leaders)
    if own <= _NEAR * scale and not ambiguous:
        return LabelPlace(box, None), cost
    line = (*end, *point)
    if own < _SHORT * scale:
        cost += _AMBIGUOUS
    cost += _CROSSED * int((_from_segment(others, line) < radius).sum())
    cost += _TANGLED * sum(_crosses(line, other) for other in boxes)
    cost += _TANGLED * sum(_cross(line, other) for other in leaders)
    return LabelPlace(box, end), cost


def _wider(box: Box, by: float) -> Box:
    return box[0] - by, box[1] - by, box[2] + by, box[3] + by


def _meet(a: Box, b: Box) -> bool:
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]


def _from_segment(points: FloatArray, line: tuple[float, float, float, float]) -> FloatArray:
    """Distance of points from a segment."""
    x0, y0, x1, y1 = line
    dx, dy = x1 - x0, y1 - y0
    length = dx * dx + dy * dy
    share = ((points[:, 0] - x0) * dx + (points[:, 1] - y0) * dy) / length if length else np.zeros(len(points))
    share = np.clip(share, 0.0, 1.0)
    distance: FloatArray = np.hypot(points[:, 0] - x0 - share * dx, points[:, 1] - y0 - share * dy)
    return distance


def _cross(a: tuple[float, float, float, float], b: tuple[float, float, float, float]) -> bool:
    """Whether two segments cross."""

    def side(line: tuple[float, ...], x: float, y: float) -> bool:
        return (line[2] - line[0]) * (y - line[1]) > (line[3] - line[1]) * (x - line[0])

    return side(a, b[0], b[1]) != side(a, b[2], b[3]) and side(b, a[0], a[1]) != side(b, a[2], a[3])


def _crosses(line: tuple[float, float, float, float], box: Box) -> bool:
    """Whether a segment runs through a box."""
    edges = (
        (box[0], box[1], box[2], box[3]),
        (box[0], box[3], box[2], box[1]),
    )  # its diagonals: what runs through a box meets one of them
    within = any(box[0] < line[i] < box[2] and box[1] < line[i + 1] < box[3] for i in (0, 2))  # or ends inside
    return within or any(_cross(line, edge) for edge in edges)
