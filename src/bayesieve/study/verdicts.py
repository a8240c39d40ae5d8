"""Verdicts on statements: what a row of differences with Monte Carlo errors says, and in which words."""

from __future__ import annotations

import enum
import itertools
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from bayesieve.study.results_view import FEWEST, STANDARD_ERRORS, Estimate

_MINUS = "\N{MINUS SIGN}"


class Verdict(enum.StrEnum):
    """What the numbers say about a statement."""

    HOLDS = "holds"
    FAILS = "does not hold"
    UNDECIDED = "cannot tell"


@dataclass(frozen=True, slots=True)
class Row:
    """One number behind a verdict: what it is, at which number of samples, and how it came out."""

    label: str
    n: int
    value: Estimate


Rows = tuple[Row, ...]


@dataclass(frozen=True, slots=True)
class Finding:
    """Verdict on a statement; by how much, in words; and the numbers it rests on, none if the study has none."""

    verdict: Verdict
    words: tuple[str, ...]
    rows: Rows = ()


NOTHING = Finding(Verdict.UNDECIDED, ("The study has no numbers on it.",))


def join(findings: Iterable[Finding]) -> Finding:
    """Join findings: what fails anywhere fails, what is undecided anywhere is undecided."""
    parts = list(findings)
    if not parts:
        return NOTHING
    verdicts = {part.verdict for part in parts}
    verdict = next((each for each in (Verdict.FAILS, Verdict.UNDECIDED) if each in verdicts), Verdict.HOLDS)
    words, rows = (tuple(each for part in parts for each in getattr(part, name)) for name in ("words", "rows"))
    return Finding(verdict, words, rows)


def judge_lead(rows: Rows, digits: int = 1) -> Finding:
    """Every difference is positive.

    It does not hold if one is negative by more than four standard errors. It holds if none is negative by more
    than two and at least half of them are positive by more than four.
    """
    if not rows:
        return NOTHING
    directions = [row.value.direction for row in rows]
    doubtful = any(row.value.mean < -2.0 * row.value.standard_error for row in rows)
    certain = 2 * directions.count(1) >= len(rows) and not doubtful
    verdict = Verdict.FAILS if -1 in directions else Verdict.HOLDS if certain else Verdict.UNDECIDED
    return Finding(verdict, (_describe(rows, digits),), rows)


def judge_no_deficit(rows: Rows, digits: int = 1) -> Finding:
    """No difference is negative by more than four standard errors."""
    found = judge_lead(rows, digits)
    enough = bool(rows) and min(row.value.iterations for row in rows) >= FEWEST
    holds = found.verdict is Verdict.UNDECIDED and enough
    return Finding(Verdict.HOLDS if holds else found.verdict, found.words, found.rows)


def judge_gain(rows: Rows) -> Finding:
    """The last difference is above the first: a method gains on another as samples grow."""
    if len(rows) < 2:
        return NOTHING
    verdicts = {1: Verdict.HOLDS, -1: Verdict.FAILS, 0: Verdict.UNDECIDED}
    return Finding(verdicts[step(rows[0].value, rows[-1].value)], (_describe(rows),), rows)


def judge_equality(rows: Rows, tolerance: float) -> Finding:
    """Every difference is at most ``tolerance`` either way."""
    if not rows:
        return NOTHING
    gaps = [(abs(row.value.mean), row.value.standard_error) for row in rows]
    if any(gap - STANDARD_ERRORS * error > tolerance for gap, error in gaps):
        verdict = Verdict.FAILS
    else:
        within = all(gap + 2.0 * error <= tolerance for gap, error in gaps)
        verdict = Verdict.HOLDS if within else Verdict.UNDECIDED
    return Finding(verdict, (at_most(max(rows, key=lambda row: abs(row.value.mean))),), rows)


def judge_decline(rows: Rows, near: float) -> Finding:
    """Errors fall towards 0: they never rise from one number of samples to the next, and end at most at ``near``.

    Errors that end higher are undecided while they still fall over the last doubling of n, and fail otherwise.
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
    nearest = {min(range(len(rows)), key=lambda i: abs(rows[i].n - n))
               for n in (rows[0].n, last.n / 5, last.n / 2, last.n)}  # fmt: skip
    shown = [
        f"{row.value.mean:,.{1 if row.value.mean >= 10 else 2}f} ({row.value.standard_error:.2f}) at n = {row.n:,}"
        for row in (rows[i] for i in sorted(nearest))
    ]
    return Finding(verdict, (f"{last.label}: {', '.join(shown)}.",), rows)


def step(first: Estimate, second: Estimate) -> int:
    """Direction from one mean to another that does not depend on it: 1 up, -1 down, 0 neither."""
    error = math.hypot(first.standard_error, second.standard_error)
    return Estimate(second.mean - first.mean, error, min(first.iterations, second.iterations)).direction


def _format_signed(value: Estimate, digits: int) -> str:
    return f"{value.mean:+,.{digits}f} ({value.standard_error:.2f})".replace("-", _MINUS)


def at_most(row: Row) -> str:
    """Say how large the largest difference is."""
    return f"{row.label}: at most {_format_signed(row.value, 2)}, at n = {row.n:,}."


def _describe(rows: Rows, digits: int = 1) -> str:
    """The largest difference and the smallest, and where they are positive and negative beyond error."""
    ends = sorted({pick(rows, key=lambda row: row.value.mean).n for pick in (max, min)})
    by_size = {row.n: row for row in rows}
    one_label = len({row.label for row in rows}) == 1
    shown = [
        f"{'' if one_label else by_size[n].label + ' '}{_format_signed(by_size[n].value, digits)} at n = {n:,}"
        for n in ends
    ]
    up, down = ([row.n for row in rows if row.value.direction == way] for way in (1, -1))
    places = [f"{word} at {_range(at, rows)}" for word, at in (("ahead", up), ("behind", down)) if at]
    too_few = min(row.value.iterations for row in rows) < FEWEST
    neither = "too few iterations to tell" if too_few else "level within Monte Carlo error"
    head = f"{rows[0].label}: " if one_label else ""
    return f"{head}{', '.join(shown)}; {', '.join(places) or neither}."


def _range(sizes: Sequence[int], rows: Rows) -> str:
    if len(sizes) == len(rows) > 1:
        return "every n"
    if len(sizes) == 1:
        return f"n = {sizes[0]:,}"
    unbroken = len([row for row in rows if sizes[0] <= row.n <= sizes[-1]]) == len(sizes)
    span = f"n = {sizes[0]:,} to {sizes[-1]:,}"
    return span if unbroken else f"{len(sizes)} of {len(rows)} sizes ({span})"
