"""Claims checked against the numbers of a study: verdicts, the numbers behind them, and their words."""

from __future__ import annotations

import enum
import itertools
import math
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from bayesieve.study.measures import CONFIDENCE, EDGES, SECONDS, bin_names
from bayesieve.study.scene import FEWEST, STANDARD_ERRORS, Estimate, Measured, Scene

_EVERY = float("inf")


def differences(measured: Measured, method: str, other: str, low: float = 0.0, high: float = _EVERY) -> Rows:
    """Paired differences of two methods at the numbers of samples from ``low`` to ``high``."""
    label = f"{measured.titles[method]} minus {measured.titles[other]}"
    sizes = (n for n in measured.sizes(method, other) if low <= n <= high)
    return tuple(Row(label, n, measured.difference(method, other, n)) for n in sizes)


def distances(measured: Measured, method: str, level: float, label: str, sign: int = 1) -> Rows:
    """Mean of a method minus a level (``sign`` 1), or the level minus the mean (-1)."""
    means = ((n, measured.mean(method, n)) for n in measured.sizes(method))
    return tuple(
        Row(label, n, Estimate(sign * (mean.mean - level), mean.standard_error, mean.iterations))
        for n, mean in means
    )


def ahead(rows: Rows, digits: int = 1) -> Finding:
    """Every difference is positive.

    It does not hold if one is negative by more than four standard errors. It holds if none is negative by more
    than two and at least half of them are positive by more than four.
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
    """No difference is negative by more than four standard errors."""
    found = ahead(rows, digits)
    enough = bool(rows) and min(row.value.iterations for row in rows) >= FEWEST
    settled = found.verdict is Verdict.UNDECIDED and enough
    return Finding(Verdict.HOLDS if settled else found.verdict, found.words, found.rows)


def closing(rows: Rows) -> Finding:
    """The last difference is above the first: a method gains on another as samples grow."""
    if len(rows) < 2:
        return NOTHING
    moved = step(rows[0].value, rows[-1].value)
    verdict = {1: Verdict.HOLDS, -1: Verdict.FAILS, 0: Verdict.UNDECIDED}[moved]
    return Finding(verdict, (told(rows, 1),), rows)


def alike(rows: Rows, tolerance: float) -> Finding:
    """Every difference is at most ``tolerance`` either way."""
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
    """At every number of samples up to ``high`` the best of ours is ahead of the best of the others."""
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
    """Direction from one mean to another that does not depend on it: 1 up, -1 down, 0 neither."""
    error = (first.standard_error**2 + second.standard_error**2) ** 0.5
    return Estimate(second.mean - first.mean, error, min(first.iterations, second.iterations)).direction


_AGREE = 0.1
_FEWEST = 5.0  # markers that a bin must be expected to hold


def expected_errors(scene: Scene) -> Finding:
    """Expected false positives agree with true ones, as a share of the latter (or of one feature)."""
    expected, false = scene.measured("expected_false_positives"), scene.measured("false_positives")
    findings = []
    for method in expected.methods:
        rows = []
        for n in expected.sizes(method):
            unit = max(false.mean(method, n).mean, 1.0)
            gap = scene.expected_minus_true(method, n)
            share = Estimate(gap.mean / unit, gap.standard_error / unit, gap.iterations)
            rows.append(Row(f"Expected minus true, as a share of the true, {expected.titles[method]}", n, share))
        findings.append(alike(tuple(rows), _AGREE))
    return together(findings) if findings else NOTHING


def intervals(scene: Scene) -> Finding:
    """Intervals hold the truth as often as they say, or more often."""
    found = scene.measured("interval_low")
    findings = []
    for method in found.methods:
        label = f"Coverage minus {CONFIDENCE:.0%}, {found.titles[method]}"
        shares = ((n, scene.coverage(method, n)) for n in found.sizes(method))
        findings.append(never_behind(tuple(Row(label, n, _less(share)) for n, share in shares), digits=2))
    return together(findings) if findings else NOTHING


def reliable(scene: Scene) -> Finding:
    """In every bin of probability there are as many markers as the probabilities add up to."""
    methods = scene.measured(bin_names(0)[0]).methods
    rows: list[Row] = []
    for method in methods[:1]:  # methods of such a study share their probabilities
        for k in range(len(EDGES) - 1):
            rows += _bin(scene, method, k)
    if not rows:
        return NOTHING
    off = [row for row in rows if row.value.direction]
    widest = max(rows, key=lambda row: abs(row.value.mean) / row.value.standard_error)
    words = (
        f"{len(off)} of {len(rows)} bins are off by more than four standard errors.",
        f"{widest.label}: at most {signed(widest.value, 2)}, at n = {widest.n:,}.",
    )
    return Finding(Verdict.FAILS if off else Verdict.HOLDS, words, tuple(rows))


def _bin(scene: Scene, method: str, k: int) -> list[Row]:
    """Markers minus expected ones in a bin where five of each kind are expected; errors as the model has them."""
    features, probability, markers = map(scene.measured, bin_names(k))
    label = f"Markers minus their expected number, probability {EDGES[k]:g} to {EDGES[k + 1]:g}"
    rows = []
    for n in markers.sizes(method):
        expected, number = probability.values(method, n), features.values(method, n)
        variance = float((expected * (1.0 - expected / np.maximum(number, 1.0))).sum())
        if variance >= _FEWEST:
            gaps = markers.minus(probability, method, n)
            rows.append(Row(label, n, Estimate(float(gaps.mean()), math.sqrt(variance) / gaps.size, gaps.size)))
    return rows


def larger_lists(scene: Scene) -> Finding:
    """Each larger prior probability, and each larger number L, selects more features than the one before."""
    findings = []
    for option, methods in scene.varied.items():
        numbers = [method for method in methods if not isinstance(method.options[option], str)]
        order = sorted(numbers, key=lambda method: float(method.options[option]))
        for smaller, larger in itertools.pairwise(order):
            findings.append(ahead(differences(scene.measured("n_selected"), larger.name, smaller.name)))
    return together(findings) if findings else NOTHING


def costs_as(scores: Sequence[str], low: float, high: float) -> Callable[[Scene], Finding]:
    """Time of methods, in units of that of CMNC-OBF-JP, lies between two numbers."""

    def check(scene: Scene) -> Finding:
        unit = scene.named("obf-jp")
        seconds = scene.measured(SECONDS)
        names = [name for each in scores if (name := scene.named(each)) is not None]
        if unit is None or not names:
            return NOTHING
        return together(_cost(_ratios(scene, name, unit), low, high) for name in names if name in seconds.titles)

    return check


def _ratios(scene: Scene, name: str, unit: str) -> Rows:
    seconds = scene.measured(SECONDS)
    label = f"{seconds.titles[name]}, times {seconds.titles[unit]}"
    return tuple(
        Row(label, n, Estimate.of(np.divide(*seconds.paired(name, unit, n)))) for n in seconds.sizes(name, unit)
    )


def _cost(rows: Rows, low: float, high: float) -> Finding:
    """Times vary more than their standard error says, so that the verdict looks at the mean alone."""
    inside = all(low <= row.value.mean <= high for row in rows)
    words = ", ".join(f"{row.value.mean:.2g} ({row.value.standard_error:.2g}) at n = {row.n:,}" for row in rows)
    return Finding(Verdict.HOLDS if inside else Verdict.FAILS, (f"{rows[0].label}: {words}.",), rows)


def _less(share: Estimate) -> Estimate:
    return Estimate(share.mean - CONFIDENCE, share.standard_error, share.iterations)


_MINUS = "\N{MINUS SIGN}"


class Verdict(enum.StrEnum):
    """What the numbers say about a claim."""

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
    """Verdict on a claim; by how much, in words; and the numbers it rests on."""

    verdict: Verdict
    words: tuple[str, ...]
    rows: Rows = ()


NOTHING = Finding(Verdict.UNDECIDED, ("The study has no numbers on it.",))


def together(findings: Iterable[Finding]) -> Finding:
    """Join findings: what fails anywhere fails, what is undecided anywhere is undecided."""
    parts = list(findings)
    verdicts = {part.verdict for part in parts} or {Verdict.UNDECIDED}
    verdict = next((each for each in (Verdict.FAILS, Verdict.UNDECIDED) if each in verdicts), Verdict.HOLDS)
    words, rows = (tuple(each for part in parts for each in getattr(part, name)) for name in ("words", "rows"))
    return Finding(verdict, words, rows)


def signed(value: Estimate, digits: int = 1) -> str:
    """A difference with its sign and, in brackets, its standard error."""
    return f"{value.mean:+,.{digits}f} ({value.standard_error:.2f})".replace("-", _MINUS)


def unsigned(value: Estimate) -> str:
    """A number with its standard error in brackets."""
    digits = 1 if value.mean >= 10 else 2
    return f"{value.mean:,.{digits}f} ({value.standard_error:.2f})"


def told(rows: Rows, digits: int = 1) -> str:
    """The largest difference and the smallest, and where they are positive and negative beyond error."""
    ends = sorted({choose(rows, key=lambda row: row.value.mean).n for choose in (max, min)})
    by_size = {row.n: row for row in rows}
    labels = {row.label for row in rows}
    shown = [
        f"{'' if len(labels) == 1 else by_size[n].label + ' '}{signed(by_size[n].value, digits)} at n = {n:,}"
        for n in ends
    ]
    up, down = ([row.n for row in rows if row.value.direction == way] for way in (1, -1))
    places = [f"{word} at {_listed(at, rows)}" for word, at in (("ahead", up), ("behind", down)) if at]
    too_few = min(row.value.iterations for row in rows) < FEWEST
    neither = "too few iterations to tell" if too_few else "level within Monte Carlo error"
    where = ", ".join(places) if places else neither
    head = f"{rows[0].label}: " if len(labels) == 1 else ""
    return f"{head}{', '.join(shown)}; {where}."


def _listed(sizes: Sequence[int], rows: Rows) -> str:
    if len(sizes) == len(rows):
        return "every n" if len(rows) > 1 else f"n = {sizes[0]:,}"
    if len(sizes) == 1:
        return f"n = {sizes[0]:,}"
    unbroken = len([row for row in rows if sizes[0] <= row.n <= sizes[-1]]) == len(sizes)
    span = f"n = {sizes[0]:,} to {sizes[-1]:,}"
    return span if unbroken else f"{len(sizes)} of {len(rows)} sizes ({span})"


def few(rows: Rows) -> list[Row]:
    """The first, the last and those nearest to a fifth and a half of the way."""
    wanted = (rows[0].n, rows[-1].n / 5, rows[-1].n / 2, rows[-1].n)
    chosen = {min(range(len(rows)), key=lambda i: abs(rows[i].n - n)) for n in wanted}
    return [rows[i] for i in sorted(chosen)]
