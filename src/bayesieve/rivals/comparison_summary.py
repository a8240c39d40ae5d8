"""A comparison of methods in words."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from bayesieve.rivals.standard_errors import MEANS_MAY_NOT, VARIANCES_DIFFER

if TYPE_CHECKING:
    from bayesieve.rivals.method_comparison import MethodComparison


def summary_lines(comparison: MethodComparison) -> list[str]:
    """Sentences: what the lists share, who stands alone, and why.

    Examples
    --------
    >>> import bayesieve as bs
    >>> from bayesieve.rivals.comparison_summary import summary_lines
    >>> X = [[0.0, 1.0, 5.0], [1.0, 0.0, 7.0], [8.0, 2.0, 5.5], [9.0, 1.5, 7.5], [8.5, 2.5, 6.0]]
    >>> summary_lines(bs.compare_methods(X, [0, 0, 1, 1, 1], ["welch"]))
    ['1 method ranked 3 features; classes 0 (2) and 1 (3).']
    """
    classes = " and ".join(f"{label} ({count:,})" for label, count in comparison.class_counts.items())
    n_methods = len(comparison.methods)
    ranked = f"{n_methods} method{'' if n_methods == 1 else 's'} ranked"
    lines = [f"{ranked} {comparison.n_features:,} feature{_s(comparison.n_features)}; classes {classes}."]
    if n_methods > 1:
        lines += [_common(comparison), *_extremes(comparison), *_alone(comparison), *_variances(comparison)]
    return [*lines, *_odd(comparison)]


def _common(comparison: MethodComparison) -> str:
    """How many features all lists hold, for every length."""
    n_methods = len(comparison.methods)
    shared = [int((comparison.n_lists(n) == n_methods).sum()) for n in comparison.top]
    words = [f"{count:,} of the {n:,} strongest" for count, n in zip(shared, comparison.top, strict=True)]
    return f"On {'both' if n_methods == 2 else f'all {n_methods}'} lists: {', '.join(words)}."


def _extremes(comparison: MethodComparison) -> list[str]:
    """Which two lists are most alike, and which least."""
    if len(comparison.methods) < 3:
        return []
    shared, length = comparison.overlap(), comparison.top[-1]
    pairs = list(combinations(range(len(comparison.methods)), 2))
    titles = [comparison.titles[name] for name in comparison.methods]
    counts = [int(shared[pair]) for pair in pairs]
    most, least = pairs[int(np.argmax(counts))], pairs[int(np.argmin(counts))]
    if shared[most] == shared[least]:
        return []
    words = [f"{titles[a]} and {titles[b]} ({shared[a, b]:,} of {length:,})" for a, b in (most, least)]
    return [f"Most alike: {words[0]}; least alike: {words[1]}."]


def _alone(comparison: MethodComparison) -> list[str]:
    """Which methods have features on their list that no other has."""
    lines, names = [], comparison.names
    of_variance = {names[i] for i in np.flatnonzero(comparison.variance_alone).tolist()}
    for name in comparison.methods:
        only = comparison.only(name)
        if not only:
            continue
        best = ", ".join(only[:3]) + (", ..." if len(only) > 3 else "")
        count = len(of_variance.intersection(only))
        why = f"; {count:,} of them differ{_s(count, 's', '')} in variance alone" if count else ""
        lines.append(
            f"Of the {comparison.top[-1]:,} strongest of {comparison.titles[name]}, {len(only):,} "
            f"{_s(len(only), 'is', 'are')} on no other list ({best}){why}."
        )
    return lines


def _variances(comparison: MethodComparison) -> list[str]:
    """How many of the features on any list differ in variance alone."""
    union = comparison.union()
    count = int(comparison.variance_alone[union].sum())
    if not count:
        return []
    differ = f"differ{_s(count, 's', '')} in variance alone"
    tests = f"p-value of the F test below {VARIANCES_DIFFER:g}, of Welch's t test above {MEANS_MAY_NOT:g}"
    return [
        f"{count:,} of the {union.size:,} features on any list {differ} ({tests}, for Gaussian data): methods "
        f"that compare means do not see {_s(count, 'it', 'them')}."
    ]


def _odd(comparison: MethodComparison) -> list[str]:
    """Features without a score, and lists whose end is a tie."""
    lines, length = [], comparison.top[-1]
    for name, scores in comparison.scores.items():
        title, absent = comparison.titles[name], int(np.isnan(scores.score).sum())
        if absent:
            lines.append(f"{title} has no score for {absent:,} feature{_s(absent)}, ranked last.")
        first, last = _tie(scores.score, int(comparison.ranking(name)[length - 1]))
        if first <= length < last:
            lines.append(
                f"Ranks {first:,} to {last:,} of {title} are a tie: the order of the table decides which of these "
                f"are among the first {length:,}."
            )
    return lines


def _tie(score: npt.NDArray[np.float64], at: int) -> tuple[int, int]:
    """First and last rank of those with the same score as a feature; (0, 0) if that feature has none."""
    if np.isnan(score[at]):
        return 0, 0
    above = int((score > score[at]).sum())
    return above + 1, above + int((score == score[at]).sum())


def _s(count: int, one: str = "", many: str = "s") -> str:
    return one if count == 1 else many
