"""The result on one screen."""

from __future__ import annotations

import textwrap

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
    counts = list(given.class_counts.items())
    first, second = counts[0], counts[1]
    lines += _wrap(
        f"Classes: {first[0]} ({first[1]:,}) and {second[0]} ({second[1]:,}); differences are {second[0]} minus "
        f"{first[0]}."
    )
    lines.append("")
    head, *others = lines_of_selection(selection)
    for text in (head.partition("; classes ")[0] + ".", *others):
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
    heads = f"{'log-odds':>9}  {'prob.':>7}  {'mean diff.':>11}  {'log var. ratio':>14}"
    statistics = class_statistics(posterior)

    def row(k: int) -> str:
        i = int(order[k])
        name = names[i] if len(names[i]) <= width else names[i][: width - 3] + "..."
        mark = "" if selection.mask[i] else "  (not selected)"
        return (
            f"{k + 1:>7,}  {name:<{width}}  {posterior.log_odds[i]:>9.2f}  {posterior.probability[i]:>7.4f}  "
            f"{statistics['mean_difference'][i]:>+11.4g}  {statistics['log_variance_ratio'][i]:>+14.3g}{mark}"
        )

    lines = [f"{'rank':>7}  {'feature':<{width}}  {heads}", *map(row, best)]
    return [*lines, f"{'...':>7}  around the cut:", *map(row, edge)] if edge else lines
