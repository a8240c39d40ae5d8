"""What section 6 and Theorems 2 and 3 say about the study, each statement checked against the numbers."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from bayesieve.study.measures import CONFIDENCE, EDGES, SECONDS, bin_names
from bayesieve.study.results_view import Estimate, Measure, ResultsView, Role
from bayesieve.study.verdicts import (
    NOTHING,
    Finding,
    Row,
    Rows,
    Verdict,
    at_most,
    join,
    judge_decline,
    judge_equality,
    judge_gain,
    judge_lead,
    judge_no_deficit,
)

_EVERY = float("inf")
_UP_TO = 1000.0  # the text about Figure 1(a) ends there
_LARGE, _VERY_LARGE = 500.0, 3000.0  # samples
_ALIKE = 1.0  # features
_NEAR = 0.1  # as a share of the markers
_AGREE = 0.1  # as a share of the true false positives
_CLOSE, _SMALL = 10.0, 200.0  # features, and samples: "very close to the trivial algorithm under small samples"
_FEWEST_MARKERS = 5.0  # that a bin must be expected to hold


@dataclass(frozen=True, slots=True)
class Statement:
    """Something that is said about a study.

    Parameters
    ----------
    claim, source
        What is said, and where, or that it is a question of ours.
    needs
        Methods without which it cannot be checked, as pairs of scores and rule.
    check
        The check, called with the results and the names of these methods.
    on_costs
        Whether it is about time, for studies that measure it; other statements are for other studies.
    """

    claim: str
    source: str
    needs: tuple[Role, ...]
    check: Callable[..., Finding]
    on_costs: bool = False


def check_statements(view: ResultsView) -> dict[str, Finding]:
    """Check all :data:`STATEMENTS` against the results of a study.

    A difference counts if it exceeds four Monte Carlo standard errors. Differences between methods are taken
    within iterations, since all methods of an iteration see the same data.
    """
    return {name: _check(statement, view) for name, statement in STATEMENTS.items()}


def _check(statement: Statement, view: ResultsView) -> Finding:
    methods = {role: view.find(*role) for role in statement.needs}
    absent = [f"{scores} ({rule})" for (scores, rule), name in methods.items() if name is None]
    elsewhere = statement.source.startswith(_TEXT) and not view.on_data_of_the_paper
    if elsewhere or statement.on_costs != ("costs" in view.design.measures):
        return NOTHING
    if absent:
        return Finding(Verdict.UNDECIDED, (f"The study does without {', '.join(absent)}.",))
    return statement.check(view, *(methods[role] for role in statement.needs))


def _differences(measure: Measure, method: str, other: str, low: float = 0.0, high: float = _EVERY) -> Rows:
    """Paired differences of two methods at the numbers of samples from ``low`` to ``high``."""
    label = f"{measure.titles[method]} minus {measure.titles[other]}"
    sizes = (n for n in measure.sizes(method, other) if low <= n <= high)
    return tuple(Row(label, n, measure.difference(method, other, n)) for n in sizes)


def _rows(label: str, view: ResultsView, method: str, value: Callable[[str, int], Estimate]) -> Rows:
    """A number of a method at each number of samples."""
    return tuple(Row(label, n, value(method, n)) for n in view.measure().sizes(method))


def _lead(view: ResultsView, *methods: str, low: float = 0.0, high: float = _EVERY) -> Finding:
    """Of each two methods the first is ahead of the second."""
    pairs = zip(methods[::2], methods[1::2], strict=True)
    return join(judge_lead(_differences(view.measure(), *pair, low, high)) for pair in pairs)


def _first_place(view: ResultsView, *ours: str, high: float = _EVERY) -> Finding:
    """At every number of samples up to ``high`` the best of ours is ahead of the best of the others."""
    measure, rows = view.measure(), []
    for n in (n for n in measure.sizes() if n <= high):
        present = [method for method in measure.methods if n in measure.draws[method]]
        groups = [m for m in present if m in ours], [m for m in present if m not in ours]
        if all(groups):
            first, second = (max(group, key=lambda m: measure.mean(m, n).mean) for group in groups)
            label = f"{measure.titles[first]} minus {measure.titles[second]}"
            rows.append(Row(label, n, measure.difference(first, second, n)))
    return judge_lead(tuple(rows))


def _last_place(view: ResultsView, own: str) -> Finding:
    """The best of the spacing estimates of mutual information is behind every other method."""
    others = [each.name for each in view.methods if not each.scores.startswith("mi")]
    return join(judge_lead(_differences(view.measure(), other, own)) for other in others)


def _equality(view: ResultsView, first: str, second: str) -> Finding:
    return judge_equality(_differences(view.measure(), first, second), _ALIKE)


def _near(view: ResultsView, first: str, *others: str, low: float = 0.0) -> Finding:
    """A method is close to others from a number of samples on."""
    return join(judge_equality(_differences(view.measure(), first, other, low), _CLOSE) for other in others)


def _near_nothing(view: ResultsView, *methods: str) -> Finding:
    """Under small samples methods label about as many features correctly as if nothing were selected."""
    return join(
        judge_equality(
            tuple(row for row in _rows(f"{view.measure().titles[method]} minus nothing selected", view, method,
                                       view.gain) if row.n <= _SMALL), _CLOSE)
        for method in methods
    )  # fmt: skip


def _gain(view: ResultsView, first: str, second: str) -> Finding:
    rows = _differences(view.measure(), first, second)
    return judge_gain(rows) if rows and rows[-1].n >= _VERY_LARGE else NOTHING


def _consistency(view: ResultsView, *methods: str) -> Finding:
    """Wrong labels vanish."""
    titles, near = view.measure().titles, _NEAR * view.n_markers
    return join(
        judge_decline(_rows(f"Wrong labels of {titles[method]}", view, method, view.wrong_labels), near)
        for method in methods
    )


def _both_errors(view: ResultsView, method: str) -> Finding:
    """False positives and missed markers vanish, each for itself."""
    title, near = view.measure().titles[method], _NEAR * view.n_markers
    false = _rows(f"False positives of {title}", view, method, view.measure("false_positives").mean)
    missed = _rows(f"Markers missed by {title}", view, method, view.missed_markers)
    return join(judge_decline(rows, near) for rows in (false, missed))


def _use(view: ResultsView, method: str) -> Finding:
    label = f"{view.measure().titles[method]} minus nothing selected"
    return judge_lead(_rows(label, view, method, view.gain))


def _expected_errors(view: ResultsView) -> Finding:
    """Expected false positives agree with true ones, as a share of the latter (or of one feature)."""
    expected, false = view.measure("expected_false_positives"), view.measure("false_positives")

    def share(method: str, n: int) -> Estimate:
        unit, gap = max(false.mean(method, n).mean, 1.0), view.expected_minus_true(method, n)
        return Estimate(gap.mean / unit, gap.standard_error / unit, gap.iterations)

    return join(
        judge_equality(_rows(f"Expected minus true, as a share of the true, {title}", view, method, share), _AGREE)
        for method, title in expected.titles.items()
    )


def _intervals(view: ResultsView) -> Finding:
    """Intervals hold the truth as often as they say, or more often."""

    def excess(method: str, n: int) -> Estimate:
        share = view.coverage(method, n)
        return Estimate(share.mean - CONFIDENCE, share.standard_error, share.iterations)

    return join(
        judge_no_deficit(_rows(f"Coverage minus {CONFIDENCE:.0%}, {title}", view, method, excess), digits=2)
        for method, title in view.measure("interval_low").titles.items()
    )


def _reliability(view: ResultsView) -> Finding:
    """In every bin of probability there are as many markers as the probabilities add up to."""
    methods = view.measure(bin_names(0)[0]).methods[:1]  # methods of such a study share their probabilities
    rows = tuple(row for method in methods for k in range(len(EDGES) - 1) for row in _bin(view, method, k))
    if not rows:
        return NOTHING
    off = [row for row in rows if row.value.direction]
    widest = max(rows, key=lambda row: abs(row.value.mean) / row.value.standard_error)
    head = f"{len(off)} of {len(rows)} bins are off by more than four standard errors."
    return Finding(Verdict.FAILS if off else Verdict.HOLDS, (head, at_most(widest)), rows)


def _bin(view: ResultsView, method: str, k: int) -> Iterable[Row]:
    """Markers minus expected ones in a bin where five of each kind are expected; errors as the model has them."""
    features, probability, markers = map(view.measure, bin_names(k))
    label = f"Markers minus their expected number, probability {EDGES[k]:g} to {EDGES[k + 1]:g}"
    for n in markers.sizes(method):
        expected, number = probability.values(method, n), features.values(method, n)
        variance = float((expected * (1.0 - expected / np.maximum(number, 1.0))).sum())
        if variance >= _FEWEST_MARKERS:
            gaps = markers.minus(probability, method, n)
            yield Row(label, n, Estimate(float(gaps.mean()), math.sqrt(variance) / gaps.size, gaps.size))


def _larger_lists(view: ResultsView) -> Finding:
    """Each larger prior probability, and each larger number L, selects more features than the one before."""
    findings = []
    for option, methods in view.varied.items():
        numbers = [method for method in methods if not isinstance(method.options[option], str)]
        order = sorted(numbers, key=lambda method: float(method.options[option]))
        for smaller, larger in itertools.pairwise(order):
            findings.append(judge_lead(_differences(view.measure("n_selected"), larger.name, smaller.name)))
    return join(findings)


def _costs(view: ResultsView, unit: str, *, scores: Sequence[str], low: float, high: float) -> Finding:
    """Times in units of that of a method lie between two numbers; they vary more than their errors say."""
    seconds, findings = view.measure(SECONDS), []
    for name in (name for each in scores if (name := view.find(each) or "") in seconds.titles):
        label = f"{seconds.titles[name]}, times {seconds.titles[unit]}"
        ratios = {n: Estimate.of(np.divide(*seconds.pair(name, unit, n))) for n in seconds.sizes(name, unit)}
        inside = all(low <= ratio.mean <= high for ratio in ratios.values())
        words = ", ".join(
            f"{each.mean:.2g} ({each.standard_error:.2g}) at n = {n:,}" for n, each in ratios.items()
        )
        rows = tuple(Row(label, n, ratio) for n, ratio in ratios.items())
        findings.append(Finding(Verdict.HOLDS if inside else Verdict.FAILS, (f"{label}: {words}.",), rows))
    return join(findings)


MNC_JP, MNC_PP, CMNC_JP, CMNC_PP = ("obf-jp", "mnc"), ("obf-pp", "mnc"), ("obf-jp", "top"), ("obf-pp", "top")
BD, WELCH, LIMMA, MI, NMC = (("bd", "top"), ("welch", "top"), ("limma", "top"), ("mi", "top"), ("nmc", "top"))
_OBF = (MNC_JP, MNC_PP, CMNC_JP, CMNC_PP)
REGULARIZED, SKBS, MR_SKBS = ("regressions", "best"), ("skbs", "top"), ("skbs", "own")
BPM, BAYESREG = ("bpm", "top"), ("bayesreg", "best")
_TEXT, _1A, _1B, _PROOF = "section 6", "section 6, Figure 1(a)", "section 6, Figure 1(b)", "Theorems 2 and 3"
_OURS = "our own question"
_PROMISED = "promised by the model where it is right, as for data drawn from its prior"
_early_lead, _early_first = partial(_lead, high=_UP_TO), partial(_first_place, high=_UP_TO)

STATEMENTS: dict[str, Statement] = {
    "pp-mnc-best": Statement("MNC-OBF-PP is the best method up to n = 1,000", _1A, (MNC_PP,), _early_first),
    "order-of-obf": Statement(
        "MNC-OBF-PP is followed by MNC-OBF-JP, then CMNC-OBF-PP, then CMNC-OBF-JP, up to n = 1,000", _1A,
        (MNC_PP, MNC_JP, MNC_JP, CMNC_PP, CMNC_PP, CMNC_JP), _early_lead),
    "mnc-pp-above-jp": Statement("Under MNC, PP outperforms JP", _1A, (MNC_PP, MNC_JP), _early_lead),
    "cmnc-pp-above-jp": Statement("Under CMNC, PP outperforms JP", _1A, (CMNC_PP, CMNC_JP), _early_lead),
    "jp-mnc-above-cmnc": Statement(
        "Under JP, MNC outperforms CMNC up to n = 1,000", _1A, (MNC_JP, CMNC_JP), _early_lead),
    "pp-mnc-above-cmnc": Statement(
        "Under PP, MNC outperforms CMNC up to n = 1,000", _1A, (MNC_PP, CMNC_PP), _early_lead),
    "cmnc-above-mnc-late": Statement(
        "For large samples (n of 3,000 and more) CMNC slightly outperforms MNC", _TEXT,
        (CMNC_JP, MNC_JP, CMNC_PP, MNC_PP), partial(_lead, low=_VERY_LARGE)),
    "bd-like-cmnc": Statement(
        "CMNC-OBF-JP and BD perform alike (within one feature)", _1A, (BD, CMNC_JP), _equality),
    "bd-above-t": Statement("BD is above the t-test up to n = 1,000", _1A, (BD, WELCH), _early_lead),
    "t-above-nmc": Statement(
        "For large samples (n of 500 and more) NMC is below the t-test", _1A, (WELCH, NMC),
        partial(_lead, low=_LARGE)),
    "near-nothing": Statement(
        "Regularized-best and MR-SKBS are close to selecting nothing under small samples (within 10 features "
        "up to n = 200)", _1A, (REGULARIZED, MR_SKBS), _near_nothing),
    "skbs-first-above-bpm": Statement(
        "CMNC-SKBS is above BPM below n = 300", _1A, (SKBS, BPM), partial(_lead, high=299.0)),
    "skbs-then-below-bpm": Statement(
        "CMNC-SKBS is below BPM above n = 300", _1A, (BPM, SKBS), partial(_lead, low=301.0)),
    "skbs-then-below-limma": Statement(
        "CMNC-SKBS is below the moderated t-test from about n = 650 on", _1A, (LIMMA, SKBS),
        partial(_lead, low=650.0)),
    "after-bd": Statement(
        "For large samples (n of 500 and more) BD is followed by BPM, t-test, CMNC-SKBS, then NMC", _1A,
        (BD, BPM, BPM, WELCH, WELCH, SKBS, SKBS, NMC), partial(_lead, low=_LARGE)),
    "bpm-near-bd": Statement(
        "For large samples (n of 500 and more) BPM is close to BD (within 10 features)", _1A, (BPM, BD),
        partial(_near, low=_LARGE)),
    "bayesreg-like-regularized": Statement(
        "BayesReg-best is comparable to Regularized-best and MR-SKBS (within 10 features)", _1A,
        (BAYESREG, REGULARIZED, MR_SKBS), _near),
    "mi-poorest": Statement("MI is the poorest method at every n", _1A, (MI,), _last_place),
    "obf-best": Statement("The best method is an OBF up to n = 1,000", f"{_TEXT}, on Table 1", _OBF, _early_first),
    "obf-best-throughout": Statement(
        "The best method is an OBF at every n of the study", _OURS, _OBF, _first_place),
    "t-gains": Statement(
        "The t-test becomes more competitive for very large n", _1B, (WELCH, CMNC_JP), _gain),
    "moderation": Statement(
        "Moderating the t-test changes little (less than one feature)", _OURS, (LIMMA, WELCH), _equality),
    "consistent": Statement(
        "The curves of OBF, BD, t-test and moderated t-test approach the number of features (at most a tenth of "
        "the markers wrong at the end)", f"{_PROOF}; {_1B}", (*_OBF, BD, WELCH, LIMMA), _consistency),
    "jp-errors-vanish": Statement(
        "Under MNC-OBF-JP false positives and missed markers both vanish", _PROOF, (MNC_JP,), _both_errors),
    "pp-errors-vanish": Statement(
        "Under MNC-OBF-PP false positives and missed markers both vanish", _PROOF, (MNC_PP,), _both_errors),
    "jp-beats-nothing": Statement(
        "MNC-OBF-JP is better than selecting nothing, at every n", _OURS, (MNC_JP,), _use),
    "pp-beats-nothing": Statement(
        "MNC-OBF-PP is better than selecting nothing, at every n", _OURS, (MNC_PP,), _use),
    "expected-errors": Statement(
        "Expected false positives agree with true ones to 10% (or a tenth of a feature)", _PROMISED, (),
        _expected_errors),
    "intervals": Statement(
        "90% intervals hold the true number of false positives at least as often", _PROMISED, (), _intervals),
    "reliable": Statement("Of features with a probability p, a share p are markers", _PROMISED, (), _reliability),
    "larger-lists": Statement(
        "Larger prior probabilities and larger L select more features", _TEXT, (), _larger_lists),
    "cost-of-t-and-bd": Statement(
        "BD and t-tests take about the time of OBF (within a factor of 2)", "Table 1", (CMNC_JP,),
        partial(_costs, scores=("bd", "welch", "limma"), low=0.5, high=2.0), on_costs=True),
    "cost-of-mi-and-nmc": Statement(
        "MI and NMC take several times the time of OBF (2 times and more)", "Table 1", (CMNC_JP,),
        partial(_costs, scores=("mi", "nmc"), low=2.0, high=_EVERY), on_costs=True),
}  # fmt: skip
"""Statements by short names."""
