"""Pairs of features on the page: scatter plots by class with ellipses, and the network of the strongest pairs.

Drawn as SVG in the template, without the script: a page on paper, or with scripts off, shows the same.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from bayesieve.data import disambiguate
from bayesieve.report.raw_values import values_of_features
from bayesieve.rivals import PairScreen
from bayesieve.selection import Selection
from bayesieve.utils import BoolArray, FloatArray, IntArray

MOST_PANELS, MOST_EDGES, MOST_POINTS = 8, 40, 400
SIDE, MARGIN = 220.0, 14.0
_CONTOUR = math.sqrt(-2.0 * math.log(0.05))  # holds 95% of a bivariate Gaussian
_ROUND = np.linspace(0.0, 2.0 * math.pi, 49)
WIDTH, _CELL, _LINE, _EDGE = 1080.0, 180.0, 84.0, 52.0
_STEPS = 400


@dataclass(frozen=True, slots=True)
class PairPanel:
    """A scatter plot of two features, in units of the drawing.

    Parameters
    ----------
    title, words
        Names of the two, and what changed.
    x_name, y_name
        Names on the axes.
    points
        For each class, places of its samples as texts.
    ellipses
        For each class the path of an ellipse that holds 95% of a Gaussian; empty where there is none.
    """

    title: str
    words: str
    x_name: str
    y_name: str
    points: tuple[tuple[tuple[str, str], ...], ...]
    ellipses: tuple[str, ...]


def draw_panel(
    names: tuple[str, str], words: str, x: FloatArray, y: FloatArray, codes: IntArray, n_classes: int
) -> PairPanel:
    """Lay out the scatter plot of two features; of many samples only some are drawn, ellipses are of all."""
    across, up = _scale(x), _scale(y)
    points, ellipses = [], []
    for k in range(n_classes):
        mine = np.flatnonzero((codes == k) & np.isfinite(x) & np.isfinite(y))
        ellipses.append(_ellipse(x[mine], y[mine], across, up))
        shown = mine[:: max(1, -(-mine.size // MOST_POINTS))]
        points.append(tuple(
            (f"{MARGIN + a:.1f}", f"{SIDE - MARGIN - b:.1f}")
            for a, b in zip(_place(x[shown], across), _place(y[shown], up), strict=True)
        ))  # fmt: skip
    return PairPanel(f"{names[0]} and {names[1]}", words, *names, tuple(points), tuple(ellipses))


def _scale(values: FloatArray) -> tuple[float, float]:
    """Lowest value, and units of the drawing per unit of the values."""
    known = values[np.isfinite(values)]
    low, high = (float(known.min()), float(known.max())) if known.size else (0.0, 0.0)
    room = 0.06 * (high - low)
    span = high - low + 2.0 * room
    return low - room, (SIDE - 2.0 * MARGIN) / span if span > 0.0 and math.isfinite(span) else 0.0


def _place(values: FloatArray, scale: tuple[float, float]) -> FloatArray:
    low, unit = scale
    return (values - low) * unit if unit else np.full(values.shape, SIDE / 2.0 - MARGIN)


def _ellipse(x: FloatArray, y: FloatArray, across: tuple[float, float], up: tuple[float, float]) -> str:
    if x.size < 3:
        return ""
    a, b = _place(x, across), _place(y, up)
    spread, turn = np.linalg.eigh(np.cov(a, b))
    axes = turn * np.sqrt(np.maximum(spread, 0.0)) * _CONTOUR
    ring = axes @ np.array([np.cos(_ROUND), np.sin(_ROUND)])
    places = (f"{MARGIN + a.mean() + u:.1f} {SIDE - MARGIN - b.mean() - v:.1f}" for u, v in ring.T)
    return f"M{' L'.join(places)}Z"


@dataclass(frozen=True, slots=True)
class Network:
    """Features that are strongest together, as dots and lines in units of the drawing.

    Parameters
    ----------
    nodes
        Name, place, size of the dot, and whether the feature is in the list of the screen.
    edges
        Places of both ends, width of the line, its classes of style, and what it says.
    height
        Of the drawing.
    """

    nodes: tuple[dict[str, Any], ...]
    edges: tuple[dict[str, Any], ...]
    height: str


def draw_network(
    first: IntArray, second: IntArray, strength: FloatArray, styles: list[str], words: list[str], names: Any,
    listed: BoolArray,
) -> Network:  # fmt: skip
    """Lay out pairs as a network: every connected part in a box of its own, the largest first."""
    members, ends = np.unique(np.array([first, second]), return_inverse=True)
    one, other = ends.reshape(2, -1)
    place, height = _layout(members.size, one, other)
    degree = np.bincount(np.concatenate([one, other]), minlength=members.size)
    nodes = tuple(
        {"name": str(names[f]), "x": f"{x:.1f}", "y": f"{y:.1f}", "r": f"{3.0 + 1.6 * math.sqrt(d):.1f}",
         "listed": bool(listed[f])}
        for f, (x, y), d in zip(members.tolist(), place.tolist(), degree.tolist(), strict=True)
    )  # fmt: skip
    most = max(float(np.max(strength)), 1e-12)
    edges = tuple(
        {"x1": f"{place[a][0]:.1f}", "y1": f"{place[a][1]:.1f}", "x2": f"{place[b][0]:.1f}",
         "y2": f"{place[b][1]:.1f}", "width": f"{1.2 + 3.5 * max(float(s), 0.0) / most:.2f}", "style": style,
         "words": text}
        for a, b, s, style, text in zip(one.tolist(), other.tolist(), strength, styles, words, strict=True)
    )  # fmt: skip
    return Network(nodes, edges, f"{height:.0f}")


def _layout(n: int, one: IntArray, other: IntArray) -> tuple[FloatArray, float]:
    """Places of the dots, and the height they take: boxes of connected parts in rows from left to right."""
    part = _parts(n, one, other)
    place = np.empty((n, 2))
    x = y = row = 0.0
    sizes = np.bincount(part)
    for k in np.argsort(-sizes, kind="stable").tolist():
        mine = np.flatnonzero(part == k)
        inside = np.isin(one, mine)
        width = min(WIDTH, _CELL * math.ceil(1.3 * math.sqrt(mine.size)))
        height = _LINE * math.ceil(math.sqrt(mine.size - 1.0))
        if x + width > WIDTH:
            x, y, row = 0.0, y + row, 0.0
        where = _springs(mine.size, np.searchsorted(mine, one[inside]), np.searchsorted(mine, other[inside]))
        low, span = where.min(axis=0), np.ptp(where, axis=0)
        room = np.array([width - 2.0 * _EDGE, height - _LINE / 2.0])
        scaled = np.where(span > 1e-9, (where - low) / np.maximum(span, 1e-9), 0.5)
        place[mine] = np.array([x + _EDGE, y + _LINE / 4.0]) + scaled * room
        x, row = x + width, max(row, height)
    return place, y + row


def _parts(n: int, one: IntArray, other: IntArray) -> IntArray:
    """Number of the connected part of every dot, counted from 0."""
    part = np.arange(n)
    for _ in range(n):  # the least number spreads along the lines
        before = part.copy()
        least = np.minimum(part[one], part[other])
        np.minimum.at(part, one, least)
        np.minimum.at(part, other, least)
        if np.array_equal(part, before):
            break
    return np.unique(part, return_inverse=True)[1]


def _springs(n: int, one: IntArray, other: IntArray) -> FloatArray:
    """Lay out one connected part: springs along the lines, repulsion between all; its long axis lies level."""
    turn = 2.399963 * np.arange(n)  # a sunflower to begin with: no two dots in one place
    place = np.sqrt(np.arange(n) + 0.5)[:, None] * np.column_stack([np.cos(turn), np.sin(turn)])
    for step in range(_STEPS):
        gap = place[:, None, :] - place[None, :, :]
        force = (gap / ((gap**2).sum(axis=2) + np.eye(n))[:, :, None]).sum(axis=1)
        pull = place[other] - place[one]
        pull *= np.sqrt((pull**2).sum(axis=1))[:, None]
        np.add.at(force, one, pull)
        np.add.at(force, other, -pull)
        length = np.sqrt((force**2).sum(axis=1))[:, None]
        place = place + force / np.maximum(length, 1e-9) * np.minimum(length, 0.5 * (1.0 - step / _STEPS))
    centred = place - place.mean(axis=0)
    turned = centred @ np.linalg.svd(centred, full_matrices=False)[2].T
    return np.where(np.ptp(turned, axis=0) > 1e-6, turned, 0.0)


@dataclass(frozen=True, slots=True)
class PairSection:
    """What the page tells about pairs.

    Parameters
    ----------
    lines
        What was compared, and what chance would give.
    head, rows
        Table of the pairs, as texts.
    classes
        Names of the two classes.
    panels
        Scatter plots of the strongest; none where values are not to be shown.
    network
        The strongest pairs as a network.
    n_edges
        Number of pairs in it.
    """

    lines: tuple[str, ...]
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    classes: tuple[str, ...]
    panels: tuple[PairPanel, ...]
    network: Network
    n_edges: int


def describe_pairs(
    found: PairScreen, selection: Selection, data: Any = None, labels: Any = None, *, show_values: bool = True
) -> PairSection | None:
    """Gather what the page tells about pairs; None if there is no pair."""
    if not found.n_listed:
        return None
    classes = tuple(disambiguate(found.classes))
    words = [
        f"{kind}: correlation {r:.2f} in {classes[0]}, {s:.2f} in {classes[1]}"
        for kind, r, s in zip(found.kinds, *found.correlation.tolist(), strict=True)
    ]
    posterior = selection.posterior
    in_list = {posterior.names[i] for i in np.flatnonzero(selection.mask).tolist()}
    listed = np.array([name in in_list for name in found.names])
    few = min(found.n_listed, MOST_EDGES)
    network = draw_network(
        found.first[:few], found.second[:few], found.score[:few], _styles(found, few),
        [f"{a} and {b}, {told}" for (a, b), told in zip(found.pairs[:few], words[:few], strict=True)],
        found.names, listed,
    )  # fmt: skip
    panels = _panels(found, words, data, labels) if show_values and data is not None else ()
    return PairSection(tuple(found.summary().splitlines()), *_table(found, classes), classes, panels, network, few)


def _styles(found: PairScreen, few: int) -> list[str]:
    """Classes of style of the lines: what changed, and whether shuffled labels gave a pair as strong."""
    known = {"reversed": "pair-reversed", "joint shift": "pair-shift", "margins": "pair-shift"}
    styles = [known.get(kind, "pair-changed") for kind in found.kinds[:few]]
    if found.null is None:
        return styles
    chance = found.score[:few] <= found.null.largest.max()
    return [f"{style} pair-chance" if weak else style for style, weak in zip(styles, chance, strict=True)]


def _table(found: PairScreen, classes: tuple[str, ...]) -> tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]:
    head = ("pair", "what changed", "together", "evidence", *(f"correlation, {name}" for name in classes))
    columns: list[list[str]] = [
        [f"{a} + {b}" for a, b in found.pairs],
        list(found.kinds),
        [f"{value:.1f}" for value in found.together.tolist()],
        [f"{value:.1f}" for value in found.evidence.tolist()],
        *([f"{value:.2f}" for value in row] for row in found.correlation.tolist()),
    ]
    if found.null is not None:
        head = (*head, "by chance")
        columns.append([f"{value:,.1f}" for value in found.null.expected.tolist()])
    return head, tuple(zip(*columns, strict=True))


def _panels(found: PairScreen, words: list[str], data: Any, labels: Any) -> tuple[PairPanel, ...]:
    few = min(found.n_listed, MOST_PANELS)
    members, ends = np.unique(np.array([found.first[:few], found.second[:few]]), return_inverse=True)
    codes, values = values_of_features(data, labels, found.classes, found.names, members)
    one, other = ends.reshape(2, -1)
    return tuple(
        draw_panel(names, told, values[:, a], values[:, b], codes, len(found.classes))
        for names, told, a, b in zip(found.pairs[:few], words[:few], one.tolist(), other.tolist(), strict=True)
    )
