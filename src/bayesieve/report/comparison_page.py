"""write_comparison(): several methods side by side as one page - which features they share, rank against rank."""

from __future__ import annotations

import math
import os
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from bayesieve.report.page import write_plain
from bayesieve.rivals import MethodComparison
from bayesieve.utils import plural

_COLUMNS, _ROWS, _POINTS, _PANELS = 24, 50, 1500, 15
_STEP, _TALL, _ROW = 26, 150, 22  # pixels of a column, of the bars and of a method
_SIDE, _LEFT, _LOW = 220, 40, 190  # pixels of a panel, and its axes


def write_comparison(found: MethodComparison, path: str | os.PathLike[str], *, title: str | None = None) -> Path:
    """Write the page of a comparison: one HTML file without script.

    Parameters
    ----------
    found
        What :func:`bayesieve.compare_methods` returned.
    path
        The file to write or replace; it ends in ``.html``.
    title
        Title of the page; the number of methods when not given.

    Returns
    -------
    pathlib.Path
        The file.
    """
    return write_plain(path, "comparison", comparison_content(found, title))


def comparison_content(found: MethodComparison, title: str | None = None) -> dict[str, Any]:
    """Return what the page tells: sentences, the overlap, panels of ranks and a table."""
    n, titles = found.top[-1], [found.titles[method] for method in found.methods]
    union = found.union()
    shared = int((found.n_lists() == len(titles)).sum())
    return {
        "title": title or f"{plural(len(titles), 'method')} on {plural(found.n_features, 'feature')}",
        "lead": f"{plural(int(union.size), 'feature')} stand among the {n:,} strongest of at least one method, "
        f"{shared:,} among those of every one.",
        "summary": found.summary(),
        "overlap": overlap(found.listed(), titles),
        "panels": _panels(found, titles),
        "heads": ["feature", "lists", *titles],
        "rows": [
            [found.names[i], f"{found.n_lists()[i]:,}", *(f"{rank:,}" for rank in found.ranks[:, i].tolist())]
            for i in union[:_ROWS].tolist()
        ],
        "n": f"{n:,}",
    }


def overlap(listed: Any, titles: list[str]) -> dict[str, Any]:
    """Sets of features that just these methods list, the largest first, as bars over a matrix of dots."""
    codes = (np.asarray(listed).T * (1 << np.arange(len(titles)))).sum(axis=1)
    kinds, counts = np.unique(codes[codes > 0], return_counts=True)
    order = np.lexsort((kinds, -counts))[:_COLUMNS]
    most = max(1, int(counts.max(initial=1)))
    columns = []
    for place, k in enumerate(order.tolist()):
        members = [row for row in range(len(titles)) if int(kinds[k]) >> row & 1]
        height = _TALL * int(counts[k]) / most
        ys = [_TALL + 24 + _ROW * row for row in range(len(titles))]
        columns.append({
            "x": 10 + _STEP * place, "middle": 10 + _STEP * place + 9, "y": round(14 + _TALL - height, 2),
            "height": round(height, 2), "count": f"{int(counts[k]):,}",
            "dots": [(ys[row], row in members) for row in range(len(titles))],
            "from": ys[members[0]], "to": ys[members[-1]],
            "words": f"{int(counts[k]):,} in {', '.join(titles[row] for row in members)} only",
        })  # fmt: skip
    labels = [(title, _TALL + 28 + _ROW * row, f"{int(n):,}") for row, (title, n) in
              enumerate(zip(titles, np.asarray(listed).sum(axis=1), strict=True))]  # fmt: skip
    width = 20 + _STEP * max(1, len(columns))
    return {"columns": columns, "labels": labels, "width": width, "height": _TALL + 20 + _ROW * len(titles)}


def _panels(found: MethodComparison, titles: list[str]) -> list[dict[str, Any]]:
    """Rank against rank of the features that any method lists, on logarithmic axes."""
    shown, largest = found.union()[:_POINTS], math.log(max(2, found.n_features))
    correlation = found.rank_correlation()
    ticks = [(10**k, _place(10**k, largest)) for k in range(math.floor(math.log10(max(2, found.n_features))) + 1)]
    panels = []
    for a, b in list(combinations(range(len(titles)), 2))[:_PANELS]:
        xs, ys = (found.ranks[k, shown].tolist() for k in (a, b))
        points = [
            (round(_LEFT + _place(x, largest), 1), round(_LOW - _place(y, largest), 1))
            for x, y in zip(xs, ys, strict=True)
        ]
        panels.append({
            "x": titles[a], "y": titles[b], "points": points,
            "x_ticks": [(f"{tick:,}", round(_LEFT + at, 1)) for tick, at in ticks],
            "y_ticks": [(f"{tick:,}", round(_LOW - at, 1)) for tick, at in ticks],
            "words": f"rank correlation over all features {correlation[a, b]:.2f}".replace("-", "\u2212"),
        })  # fmt: skip
    return panels


def _place(rank: float, largest: float) -> float:
    return (_SIDE - _LEFT - 10) * math.log(rank) / largest
