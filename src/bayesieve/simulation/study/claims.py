"""Ways of checking a claim against the numbers of a study: methods ahead, methods alike, errors that vanish."""

from __future__ import annotations

import itertools
from collections.abc import Collection

from bayesieve.simulation.study.estimates import FEWEST, STANDARD_ERRORS, Estimate, Measured
from bayesieve.simulation.study.findings import (
    NOTHING,
    Finding,
    Row,
    Rows,
    Verdict,
    few,
    signed,
    told,
    unsigned,
)

_EVERY = float("inf")


def differences(measured: Measured, method: str, other: str, low: float = 0.0, high: float = _EVERY) -> Rows:
    """Paired differences of two methods at the numbers of samples from ``low`` to ``high``.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve.simulation.study.claims import differences
    >>> from bayesieve.simulation.study.estimates import Measured
    >>> at = np.arange(5)
    >>> drawn = {"a": {50: (at, at + 1.0)}, "b": {50: (at, 2.0 * at)}}
    >>> measured = Measured("correct", {"a": "A", "b": "B"}, drawn)
    >>> [(row.label, row.n, row.value.mean) for row in differences(measured, "a", "b")]
    [('A minus B', 50, -1.0)]
    """
    label = f"{measured.titles[method]} minus {measured.titles[other]}"
    sizes = (n for n in measured.sizes(method, other) if low <= n <= high)
    return tuple(Row(label, n, measured.difference(method, other, n)) for n in sizes)


def distances(measured: Measured, method: str, level: float, label: str, sign: int = 1) -> Rows:
    """Mean of a method minus a level (``sign`` 1), or the level minus the mean (-1).

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve.simulation.study.claims import distances
    >>> from bayesieve.simulation.study.estimates import Measured
    >>> at = np.arange(5)
    >>> drawn = {"a": {50: (at, at + 1.0)}, "b": {50: (at, 2.0 * at)}}
    >>> measured = Measured("correct", {"a": "A", "b": "B"}, drawn)
    >>> [row.value.mean for row in distances(measured, "a", 10.0, "Wrong labels", sign=-1)]
    [7.0]
    """
    means = ((n, measured.mean(method, n)) for n in measured.sizes(method))
    return tuple(
        Row(label, n, Estimate(sign * (mean.mean - level), mean.standard_error, mean.iterations))
        for n, mean in means
    )


def ahead(rows: Rows, digits: int = 1) -> Finding:
    """Every difference is positive.

    It does not hold if one is negative by more than four standard errors. It holds if none is negative by more
    than two and at least half of them are positive by more than four.

    Examples
    --------
    >>> from bayesieve.simulation.study.claims import ahead
    >>> from bayesieve.simulation.study.estimates import Estimate
    >>> from bayesieve.simulation.study.findings import Row
    >>> rows = Row("A minus B", 50, Estimate(2.0, 0.1, 30)), Row("A minus B", 100, Estimate(-1.0, 0.1, 30))
    >>> found = ahead(rows)
    >>> found.verdict.value
    'does not hold'
    >>> print(*found.words)
    A minus B: +2.0 (0.10) at n = 50, ...1.0 (0.10) at n = 100; ahead at n = 50, behind at n = 100.
    """
    if not rows:
        return NOTHING
    directions = [row.value.direction for row in rows]
    if -1 in directions:
        return Finding(Verdict.FAILS, (told(rows, digits),), rows)
    doubtful = any(row.value.mean < -2.0 * row.value.standard_error for row in rows)
    settled = 2 * directions.count(1) >= len(rows) and not doubtful
    return Finding(Verdict.HOLDS if settled else Verdict.UNDECIDED, (told(rows, digits),), rows)


def never_behind(rows: Rows, digits: int = 1) -> Finding:
    """No difference is negative by more than four standard errors.

    Examples
    --------
    >>> from bayesieve.simulation.study.claims import never_behind
    >>> from bayesieve.simulation.study.estimates import Estimate
    >>> from bayesieve.simulation.study.findings import Row
    >>> never_behind((Row("A minus B", 50, Estimate(0.1, 0.1, 30)),)).verdict.value
    'holds'
    """
    found = ahead(rows, digits)
    enough = bool(rows) and min(row.value.iterations for row in rows) >= FEWEST
    settled = found.verdict is Verdict.UNDECIDED and enough
    return Finding(Verdict.HOLDS if settled else found.verdict, found.words, found.rows)


def closing(rows: Rows) -> Finding:
    """The last difference is above the first: a method gains on another as samples grow.

    Examples
    --------
    >>> from bayesieve.simulation.study.claims import closing
    >>> from bayesieve.simulation.study.estimates import Estimate
    >>> from bayesieve.simulation.study.findings import Row
    >>> rows = Row("A minus B", 50, Estimate(-2.0, 0.1, 30)), Row("A minus B", 100, Estimate(-1.0, 0.1, 30))
    >>> closing(rows).verdict.value
    'holds'
    """
    if len(rows) < 2:
        return NOTHING
    moved = step(rows[0].value, rows[-1].value)
    verdict = {1: Verdict.HOLDS, -1: Verdict.FAILS, 0: Verdict.UNDECIDED}[moved]
    return Finding(verdict, (told(rows, 1),), rows)


def alike(rows: Rows, tolerance: float) -> Finding:
    """Every difference is at most ``tolerance`` either way.

    Examples
    --------
    >>> from bayesieve.simulation.study.claims import alike
    >>> from bayesieve.simulation.study.estimates import Estimate
    >>> from bayesieve.simulation.study.findings import Row
    >>> print(*alike((Row("A minus B", 50, Estimate(0.2, 0.1, 30)),), 1.0).words)
    A minus B: at most +0.20 (0.10), at n = 50.
    """
    if not rows:
        return NOTHING
    apart = [(abs(row.value.mean), row.value.standard_error) for row in rows]
    if any(gap - STANDARD_ERRORS * error > tolerance for gap, error in apart):
        verdict = Verdict.FAILS
    else:
        within = all(gap + 2.0 * error <= tolerance for gap, error in apart)
        verdict = Verdict.HOLDS if within else Verdict.UNDECIDED
    widest = max(rows, key=lambda row: abs(row.value.mean))
    return Finding(verdict, (f"{widest.label}: at most {signed(widest.value, 2)}, at n = {widest.n:,}.",), rows)


def vanishing(rows: Rows, near: float) -> Finding:
    """Errors fall towards 0: they never rise from one number of samples to the next, and end at most at ``near``.

    Errors that end higher are undecided while they still fall over the last doubling of n, and fail otherwise.

    Examples
    --------
    >>> from bayesieve.simulation.study.claims import vanishing
    >>> from bayesieve.simulation.study.estimates import Estimate
    >>> from bayesieve.simulation.study.findings import Row
    >>> rows = Row("Wrong labels", 50, Estimate(9.0, 0.1, 30)), Row("Wrong labels", 100, Estimate(2.0, 0.1, 30))
    >>> print(*vanishing(rows, near=3.0).words)
    Wrong labels: 9.00 (0.10) at n = 50, 2.00 (0.10) at n = 100.
    """
    if len(rows) < 2:
        return NOTHING
    steps = [step(first.value, second.value) for first, second in itertools.pairwise(rows)]
    last = rows[-1]
    half = [row for row in rows if 2 * row.n <= last.n] or [rows[0]]
    still_falling = step(half[-1].value, last.value) < 0
    if 1 in steps or not (still_falling or last.value.mean <= near):
        verdict = Verdict.FAILS
    else:
        verdict = Verdict.HOLDS if last.value.mean <= near else Verdict.UNDECIDED
    shown = ", ".join(f"{unsigned(row.value)} at n = {row.n:,}" for row in few(rows))
    return Finding(verdict, (f"{last.label}: {shown}.",), rows)


def first_place(measured: Measured, ours: Collection[str], high: float = _EVERY) -> Finding:
    """At every number of samples up to ``high`` the best of ours is ahead of the best of the others.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve.simulation.study.claims import first_place
    >>> from bayesieve.simulation.study.estimates import Measured
    >>> at = np.arange(5)
    >>> drawn = {"a": {50: (at, at + 1.0)}, "b": {50: (at, 2.0 * at)}}
    >>> measured = Measured("correct", {"a": "A", "b": "B"}, drawn)
    >>> first_place(measured, {"b"}).rows[0].value.mean
    1.0
    """
    rows = []
    for n in (n for n in measured.sizes() if n <= high):
        present = [method for method in measured.methods if n in measured.drawn[method]]
        groups = [m for m in present if m in ours], [m for m in present if m not in ours]
        if all(groups):
            first, second = (max(group, key=lambda m: measured.mean(m, n).mean) for group in groups)
            label = f"{measured.titles[first]} minus {measured.titles[second]}"
            rows.append(Row(label, n, measured.difference(first, second, n)))
    return ahead(tuple(rows))


def step(first: Estimate, second: Estimate) -> int:
    """Direction from one mean to another that does not depend on it: 1 up, -1 down, 0 neither.

    Examples
    --------
    >>> from bayesieve.simulation.study.claims import step
    >>> from bayesieve.simulation.study.estimates import Estimate
    >>> step(Estimate(5.0, 0.1, 100), Estimate(7.0, 0.1, 100))
    1
    """
    error = (first.standard_error**2 + second.standard_error**2) ** 0.5
    return Estimate(second.mean - first.mean, error, min(first.iterations, second.iterations)).direction
