"""The result on one screen."""

from __future__ import annotations

import textwrap
from collections.abc import Callable

from bayesieve.cli.inputs import Input
from bayesieve.cli.words import for_the_command_line
from bayesieve.posterior.table import class_statistics
from bayesieve.selection import Selection
from bayesieve.selection.summary import summary_lines as lines_of_selection

_WIDTH = 79
_BEST, _BORDERLINE = 5, 2


def summary_lines(selection: Selection, given: Input) -> list[str]:
    """Say what was compared, what was found, how wrong it may be, and which features to look at first."""
    lines = [wrapped for text in given.described for wrapped in _wrap(text)]
    counts = [f"{label} ({count:,})" for label, count in given.class_counts.items()]
    named = list(given.class_counts)
    minus = f"; differences are {named[1]} minus {named[0]}" if len(named) == 2 else ""
    lines += _wrap(f"Classes: {', '.join(counts[:-1])} and {counts[-1]}{minus}.")
    lines.append("")
    head, *others = lines_of_selection(selection)
    for text in (head.rpartition("; ")[0] + ".", *others):
        lines += _wrap(for_the_command_line(text))
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
    heads = "  ".join(f"{head:>{size}}" for head, size, _ in shown)

    def row(k: int) -> str:
        i = int(order[k])
        name = names[i] if len(names[i]) <= width else names[i][: width - 3] + "..."
        mark = "" if selection.mask[i] else "  (not selected)"
        cells = "  ".join(f"{text(i):>{size}}" for _, size, text in shown)
        return (
            f"{k + 1:>7,}  {name:<{width}}  {posterior.log_odds[i]:>9.2f}  {posterior.probability[i]:>7.4f}  "
            f"{cells}{mark}"
        ).rstrip()

    lines = [f"{'rank':>7}  {'feature':<{width}}  {'log-odds':>9}  {'prob.':>7}  {heads}", *map(row, best)]
    return [*lines, f"{'...':>7}  around the cut:", *map(row, edge)] if edge else lines


_NUMBERS = (
    ("mean_difference", "mean diff.", 11, "+11.4g"),
    ("log_variance_ratio", "log var. ratio", 14, "+14.3g"),
    ("log_rate_ratio", "log rate ratio", 14, "+14.3g"),
    ("log_odds_pooled", "pooled", 9, "9.2f"),
    ("least_log_odds", "least", 9, "9.2f"),
)
_WORDS = (("pattern", "most probable pattern"), ("kind", "kind"))


def _columns(selection: Selection) -> list[tuple[str, int, Callable[[int], str]]]:
    """Heading, width and text of the columns that say most about this screen."""
    table = class_statistics(selection.posterior)
    for finding in selection.posterior.findings:
        table |= finding.columns(selection.posterior)
    found: list[tuple[str, int, Callable[[int], str]]] = []
    for name, head, size, form in _NUMBERS:
        if name in table:
            found.append((head, size, lambda i, values=table[name], form=form: f"{values[i]:{form}}"))  # type: ignore[misc]
    for name, head in _WORDS:
        if name in table:
            longest = max(
                len(table[name][i]) for i in selection.posterior.ranking[: max(_BEST, selection.n_selected)]
            )
            size = max(len(head), longest)
            found.append((head, size, lambda i, values=table[name]: values[i]))  # type: ignore[misc]
    return found
