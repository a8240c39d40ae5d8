"""What a study says about a claim: verdicts, the numbers behind them, and their words."""

from __future__ import annotations

import enum
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from bayesieve.simulation.study.estimates import FEWEST, Estimate

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
    """Join findings: what fails anywhere fails, what is undecided anywhere is undecided.

    Examples
    --------
    >>> from bayesieve.simulation.study.findings import Finding, Verdict, together
    >>> together([Finding(Verdict.HOLDS, ("A.",)), Finding(Verdict.FAILS, ("B.",))])
    Finding(verdict=<Verdict.FAILS: 'does not hold'>, words=('A.', 'B.'), rows=())
    """
    parts = list(findings)
    verdicts = {part.verdict for part in parts} or {Verdict.UNDECIDED}
    verdict = next((each for each in (Verdict.FAILS, Verdict.UNDECIDED) if each in verdicts), Verdict.HOLDS)
    words, rows = (tuple(each for part in parts for each in getattr(part, name)) for name in ("words", "rows"))
    return Finding(verdict, words, rows)


def signed(value: Estimate, digits: int = 1) -> str:
    """A difference with its sign and, in brackets, its standard error.

    Examples
    --------
    >>> from bayesieve.simulation.study.findings import signed
    >>> from bayesieve.simulation.study.estimates import Estimate
    >>> signed(Estimate(1.26, 0.05, 100))
    '+1.3 (0.05)'
    """
    return f"{value.mean:+,.{digits}f} ({value.standard_error:.2f})".replace("-", _MINUS)


def unsigned(value: Estimate) -> str:
    """A number with its standard error in brackets.

    Examples
    --------
    >>> from bayesieve.simulation.study.estimates import Estimate
    >>> from bayesieve.simulation.study.findings import unsigned
    >>> unsigned(Estimate(1.26, 0.05, 100))
    '1.26 (0.05)'
    """
    digits = 1 if value.mean >= 10 else 2
    return f"{value.mean:,.{digits}f} ({value.standard_error:.2f})"


def told(rows: Rows, digits: int = 1) -> str:
    """The largest difference and the smallest, and where they are positive and negative beyond error.

    Examples
    --------
    >>> from bayesieve.simulation.study.estimates import Estimate
    >>> from bayesieve.simulation.study.findings import Row, told
    >>> told((Row("A minus B", 50, Estimate(2.0, 0.1, 30)), Row("A minus B", 100, Estimate(0.1, 0.1, 30))))
    'A minus B: +2.0 (0.10) at n = 50, +0.1 (0.10) at n = 100; ahead at n = 50.'
    """
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
    """The first, the last and those nearest to a fifth and a half of the way.

    Examples
    --------
    >>> from bayesieve.simulation.study.estimates import Estimate
    >>> from bayesieve.simulation.study.findings import Row, few
    >>> [row.n for row in few(tuple(Row("A", n, Estimate(0.0, 0.1, 9)) for n in range(100, 1100, 100)))]
    [100, 200, 500, 1000]
    """
    wanted = (rows[0].n, rows[-1].n / 5, rows[-1].n / 2, rows[-1].n)
    chosen = {min(range(len(rows)), key=lambda i: abs(rows[i].n - n)) for n in wanted}
    return [rows[i] for i in sorted(chosen)]
