"""The strongest features of a summary and those around the cut, in rows that fit a terminal."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from bayesieve.cli.layout import unsigned_zero
from bayesieve.posterior import class_statistics
from bayesieve.selection import Selection

_WIDTH = 79
_BEST, _BORDERLINE = 5, 2
_SHORTEST_NAME = 12
Shown = tuple[str, str, Callable[[int], str]]  # heading, alignment and text of a column


def feature_rows(selection: Selection) -> list[str]:
    """The strongest features and those around the cut, in rows of one line; ranks in brackets did not make it."""
    posterior, n = selection.posterior, selection.n_selected
    order, names = posterior.ranking, [" ".join(name.split()) for name in posterior.names]
    best = list(range(min(_BEST, order.size)))
    edge = [k for k in range(n - _BORDERLINE, n + _BORDERLINE) if best[-1] < k < order.size] if n else []
    shown = _columns(selection)
    longest = max(len(names[int(order[k])]) for k in best + edge)
    for head in _FIRST_TO_GO:
        if _room(shown) < min(longest, _SHORTEST_NAME):
            shown = [column for column in shown if column[0] != head]
    width = max(7, min(longest, _room(shown), 30))
    heads = "  ".join(f"{head:{align}}" for head, align, _ in shown)

    def row(k: int) -> str:
        i = int(order[k])
        name = names[i] if len(names[i]) <= width else names[i][: width - 3] + "..."
        rank = f"{k + 1:,} " if selection.mask[i] else f"({k + 1:,})"
        cells = [f"{unsigned_zero(posterior.log_odds[i], '.2f'):>9}", f"{posterior.probability[i]:>7.4f}"]
        cells += [f"{text(i):{align}}" for _, align, text in shown]
        return "  ".join([f"{rank:>8}", f"{name:<{width}}", *cells]).rstrip()

    lines = [
        f"{'rank':>7}   {'feature':<{width}}  {'log-odds':>9}  {'prob.':>7}  {heads}".rstrip(),
        *map(row, best),
    ]
    lines += [f"{'...':>7}   around the cut:", *map(row, edge)] if edge else []
    listed = all(selection.mask[int(order[k])] for k in best + edge)
    return lines if listed else [*lines, f"{'':>7}   (ranks in brackets: not selected)"]


def _room(shown: Sequence[Shown]) -> int:
    """Characters that are left for a name beside the columns shown."""
    return _WIDTH - 8 - 2 - (2 + 9) - (2 + 7) - sum(2 + int(align[1:]) for _, align, _ in shown)


_NUMBERS = (
    ("mean_difference", "mean diff.", 11, "+.4g"),
    ("log_variance_ratio", "log var. ratio", 14, "+.3g"),
    ("log_rate_ratio", "log rate ratio", 14, "+.3g"),
    ("slope", "slope", 10, "+.3g"),
    ("correlation", "correlation", 11, "+.2f"),
    ("log_odds_pooled", "pooled", 9, ".2f"),
    ("least_log_odds", "least", 9, ".2f"),
)
_FIRST_TO_GO = ("log var. ratio", "pooled", "mean diff.", "log rate ratio", "least")
_WORDS = (("kind", "kind"), ("pattern", "pattern"), ("likelihood", "likelihood"))


def _columns(selection: Selection) -> list[Shown]:
    """Heading, alignment and text of the columns that say most about this screen."""
    posterior = selection.posterior
    table = class_statistics(posterior)
    for finding in posterior.findings:
        table |= finding.columns(posterior)
    for name in ("mean_difference", "log_variance_ratio"):  # of all blocks together would show the blocks
        table[name] = table.get(f"{name}_within", table.get(name))
    if len(posterior.classes) == 1:
        table["mean_difference"] = table[f"mean_{posterior.classes[0]}"]
    found = [
        (head, f">{size}", _number(table[name], form))
        for name, head, size, form in _NUMBERS
        if table.get(name) is not None
    ]
    rows = posterior.ranking[: max(_BEST, selection.n_selected)].tolist()
    for name, head in _WORDS:
        if name in table:
            size = max(len(head), *(len(table[name][i]) for i in rows))
            found.append((head, f"<{size}", table[name].__getitem__))
    return found


def _number(values: Any, form: str) -> Callable[[int], str]:
    return lambda i: "" if np.isnan(values[i]) else unsigned_zero(values[i], form)
