"""write_plan(): a plan as one page - the answer, the table, curves over sizes and of power."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from bayesieve.planning.plan import Plan
from bayesieve.report import write_plain

_WIDE, _HIGH, _LEFT, _RIGHT, _TOP, _LOW = 360, 240, 44, 350, 12, 200
_LINES = 8  # looks that can be told apart


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a chart: what it is, its points, and the ends of a band around it, if there is one."""

    name: str
    x: Sequence[float]
    y: Sequence[float]
    low: Sequence[float] = ()
    high: Sequence[float] = ()


def write_plan(found: Plan, path: str | os.PathLike[str], *, title: str | None = None) -> Path:
    """Write the page of a plan: one HTML file without script.

    Parameters
    ----------
    found
        What :func:`bayesieve.plan` returned.
    path
        The file to write or replace; it ends in ``.html``.
    title
        Title of the page.

    Returns
    -------
    pathlib.Path
        The file.
    """
    return write_plain(path, "plan", plan_content(found, title))


def plan_content(found: Plan, title: str | None = None) -> dict[str, Any]:
    """Return what the page tells."""
    head, *rows = found.cells()
    sentences = found.sentences()
    answer = next((line for line in sentences if line.startswith(("The cheapest", "The goal"))), None)
    return {
        "title": title or "How many samples?",
        "lead": sentences[0],
        "answer": answer,
        "reached": found.answer is not None,
        "notes": [line for line in sentences[1:] if line != answer],
        "head": head,
        "rows": rows,
        "numbers": [chart(number_lines(found, rule), rule, "samples in all", "features") for rule in found.rules],
        "power": [
            chart(power_lines(found, rule, kind), f"{rule}, {words}", axis, "probability to be listed", top=1.0)
            for rule in found.rules
            for kind, words, axis in (
                ("mean", "means", "difference in standard deviations"),
                ("variance", "variances", "ratio of variances"),
            )
        ],
        "right": f"{found.right:.0%}",
        "interim": any(each.interim is not None for each in found.expected),
    }


def number_lines(found: Plan, rule: str) -> list[Line]:
    """Expected true and false markers of a rule over the size of the study, with 90% intervals."""
    rows = [each.row(found.right) for each in found.of_rule(rule)]
    x = [row["n0"] + row["n1"] for row in rows]
    return [
        Line(f"{name} markers", x, [row[key] for row in rows], [row[f"{key}_low"] for row in rows],
             [row[f"{key}_high"] for row in rows])
        for key, name in (("true", "true"), ("false", "false"))
    ]  # fmt: skip


def power_lines(found: Plan, rule: str, kind: str) -> list[Line]:
    """Probability that a marker is listed over its size, a line for each design."""
    table = found.power()
    lines = []
    for each in found.of_rule(rule):
        chosen = [
            i for i in range(len(table["rule"]))
            if (table["rule"][i], table["n0"][i], table["n1"][i], table["kind"][i])
            == (rule, each.design.n0, each.design.n1, kind)
        ]  # fmt: skip
        lines.append(
            Line(str(each.design), [table["size"][i] for i in chosen], [table["power"][i] for i in chosen])
        )
    return lines


def chart(
    lines: Sequence[Line], title: str, x_title: str, y_title: str, top: float | None = None
) -> dict[str, Any]:
    """Places of a chart's lines, bands and ticks."""
    xs = np.concatenate([np.asarray(line.x, float) for line in lines])
    ys = np.concatenate([np.asarray([*line.y, *line.high], float) for line in lines])
    x_low, x_high = float(xs.min()), float(xs.max())
    if x_low == x_high:
        x_low, x_high = 0.5 * x_low, 1.5 * x_high
    highest = max(float(ys.max()), 1e-9) if top is None else top

    def place(x: float, y: float) -> tuple[float, float]:
        return (
            round(_LEFT + (x - x_low) / (x_high - x_low) * (_RIGHT - _LEFT), 1),
            round(_LOW - y / highest * (_LOW - _TOP), 1),
        )

    drawn = []
    for k, line in enumerate(lines):
        points = [place(x, y) for x, y in zip(line.x, line.y, strict=True)]
        band = [place(x, y) for x, y in zip(line.x, line.high, strict=False)]
        band += [place(x, y) for x, y in zip(line.x[::-1], line.low[::-1], strict=False)]
        drawn.append({
            "name": line.name, "look": k % _LINES, "points": points, "path": _path(points), "band": _path(band),
            "words": ", ".join(f"{y:.3g} at {x:g}" for x, y in zip(line.x, line.y, strict=True)),
        })  # fmt: skip
    return {
        "title": title, "x_title": x_title, "y_title": y_title, "lines": drawn,
        "x_ticks": [(f"{x:g}", place(x, 0.0)[0]) for x in _apart(sorted(set(xs.tolist())), x_high - x_low)],
        "y_ticks": [(f"{y:,g}", place(x_low, y)[1]) for y in _round_ticks(highest)],
    }  # fmt: skip


def _path(points: Sequence[tuple[float, float]]) -> str:
    return " ".join(f"{x},{y}" for x, y in points)


def _apart(places: Sequence[float], width: float) -> list[float]:
    """Leave out ticks that would run into the one before."""
    kept: list[float] = []
    for place in places:
        if not kept or place - kept[-1] >= 0.1 * width:
            kept.append(place)
    return kept


def _round_ticks(highest: float) -> list[float]:
    """Round numbers from 0 to the highest, some four of them."""
    step = 10.0 ** np.floor(np.log10(highest / 4.0))
    step = next(float(step * k) for k in (1, 2, 2.5, 5, 10) if highest / (step * k) <= 5.0)
    return [float(f"{k * step:.6g}") for k in range(int(highest / step + 1e-9) + 1)]
