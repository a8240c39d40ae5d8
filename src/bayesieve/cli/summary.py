"""The result on one screen."""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from typing import Any

from bayesieve.cli.inputs import Input
from bayesieve.posterior import class_statistics
from bayesieve.selection import Selection, summary_lines as lines_of_selection
from bayesieve.utils import join_words

_WIDTH = 79
_BEST, _BORDERLINE = 5, 2


def summary_lines(selection: Selection, given: Input) -> list[str]:
    """Say what was compared, what was found, how wrong it may be, and which features to look at first."""
    lines = [wrapped for text in given.described for wrapped in _wrap(text)]
    counts = [f"{label} ({count:,})" for label, count in given.class_counts.items()]
    named = list(given.class_counts)
    signed = len(named) == 2 and not hasattr(selection.posterior.statistics, "levels")  # categories have no sign
    minus = f"; differences are {named[1]} minus {named[0]}" if signed else ""
    lines += _wrap(f"Classes: {join_words(counts)}{minus}.")
    lines.append("")
    for line in lines_of_selection(selection, classes=False):
        lines += _wrap(line.render(command=True))
    return [*lines, "", *_features(selection)]


def _wrap(text: str) -> list[str]:
    return textwrap.wrap(text, _WIDTH, break_long_words=False, break_on_hyphens=False)


def _features(selection: Selection) -> list[str]:
    posterior, n = selection.posterior, selection.n_selected
    order, names = posterior.ranking, posterior.names
    best = list(range(min(_BEST, order.size)))
    edge = [k for k in range(n - _BORDERLINE, n + _BORDERLINE) if best[-1] < k < order.size] if n else []
    width = max(7, min(max(len(names[int(order[k])]) for k in best + edge), 30))
    shown = _columns(selection)
    heads = "  ".join(f"{head:{align}}" for head, align, _ in shown)

    def row(k: int) -> str:
        i = int(order[k])
        name = names[i] if len(names[i]) <= width else names[i][: width - 3] + "..."
        mark = "" if selection.mask[i] else "(not selected)"
        cells = [f"{posterior.log_odds[i]:>9.2f}", f"{posterior.probability[i]:>7.4f}"]
        cells += [f"{text(i):{align}}" for _, align, text in shown]
        return "  ".join([f"{k + 1:>7,}", f"{name:<{width}}", *cells, mark]).rstrip()

    lines = [
        f"{'rank':>7}  {'feature':<{width}}  {'log-odds':>9}  {'prob.':>7}  {heads}".rstrip(),
        *map(row, best),
    ]
    return [*lines, f"{'...':>7}  around the cut:", *map(row, edge)] if edge else lines


_NUMBERS = (
    ("mean_difference", "mean diff.", 11, "+.4g"),
    ("log_variance_ratio", "log var. ratio", 14, "+.3g"),
    ("log_rate_ratio", "log rate ratio", 14, "+.3g"),
    ("log_odds_pooled", "pooled", 9, ".2f"),
    ("least_log_odds", "least", 9, ".2f"),
)
_WORDS = (("kind", "kind"), ("pattern", "pattern"))
Shown = tuple[str, str, Callable[[int], str]]


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
    return lambda i: f"{values[i]:{form}}"
