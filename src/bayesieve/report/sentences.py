"""The result in words: the headline, the facts beside it, and what to keep in mind."""

from __future__ import annotations

from typing import Any

import numpy as np

from bayesieve.models import Model
from bayesieve.posterior import expit
from bayesieve.report.controls import prior_probability, ratio_moves
from bayesieve.report.data import ReportData, is_paired, trend_title
from bayesieve.selection import describe_null, error_lines, flag_lines
from bayesieve.utils import Message, expectation, join_words, plural

_SMALL_CLASS = 10
_IF_NOTHING = Message.of(
    "To get a list all the same, move the controls below: a list of fixed length, a lower threshold, or a larger "
    "prior probability if more markers are believed in."
)


def headline(report: ReportData) -> list[str]:
    """Sentences of the headline: what was compared and selected, the errors to expect, markers among all."""
    selection, posterior = report.selection, report.posterior
    n = selection.n_selected
    along = trend_title(posterior).removeprefix("Trend ")
    how = f"{along} in {sum(report.class_counts.values()):,} samples" if along else (
        f"in a comparison of {describe_comparison(report)}"
    )  # fmt: skip
    lead = (
        f"{n:,} of {plural(posterior.n_features, 'feature')} {'is' if n == 1 else 'are'} selected "
        f"({selection.rule}) {how}."
    )
    sentences = [lead, *error_lines(selection, report.under_null, if_nothing=_IF_NOTHING)]
    return [report.say(sentence) for sentence in sentences]


def describe_comparison(report: ReportData) -> str:
    """Name the classes with their numbers of samples, or the pairs."""
    if is_paired(report.posterior):
        label, number = next(iter(report.class_counts.items()))
        return f"{'' if report.counted else 'up to '}{plural(number, 'pair')}, {label}"
    what, up_to = ("sample", "") if report.counted else ("value", "up to ")
    groups = [f"{label} ({up_to}{plural(number, what)})" for label, number in report.class_counts.items()]
    return " with ".join(groups) if len(groups) == 2 else join_words(groups)


def facts(report: ReportData) -> list[tuple[str, str]]:
    """Labels and values beside the headline."""
    posterior = report.posterior
    up_to = "" if report.counted else "up to "
    counts = "; ".join(f"{label}: {up_to}{n:,}" for label, n in report.class_counts.items())
    samples = "Samples" if report.counted else "Values of a feature"
    found = [
        ("Pairs" if is_paired(posterior) else samples, counts),
        ("Features", f"{posterior.n_features:,}"),
        ("Transform", report.record.transform or "not known"),
        ("Model", describe_model(report)),
        ("Prior probability", describe_prior(report)),
    ]  # fmt: skip
    if report.sites is not None:
        found.append(("Sites", "shown one by one below"))
    n_shown = 0 if report.values is None else len(report.values.values)
    if n_shown:
        found.append(("Values", f"of the {n_shown:,} strongest" if n_shown > 1 else "of the strongest"))
    if report.n_detailed < posterior.n_features:
        found.append(("Details", f"of the {report.n_detailed:,} strongest features; of others the evidence only"))
    return found


def describe_model(report: ReportData) -> str:
    """Name the model and its prior."""
    model: Any = report.posterior.model
    family = model.family or type(model).__name__.removesuffix("Model").lower()
    if not model.supports("moments"):
        return family
    asked = "" if model.difference == "any" else f", differences of the {model.difference} alone"
    if is_paired(report.posterior):
        prior = "calibrated prior" if model.supports("effect-sizes") else "Jeffreys' prior"
        return f"{family} differences within pairs, {prior}"
    if model.supports("effect-sizes"):
        return f"{family}, calibrated prior{asked}"
    ratio = "" if model.is_proper else f", prior ratio {describe_ratio(model)}"
    prior = (
        "Jeffreys' prior"
        if model.has_jeffreys_priors
        else "proper priors"
        if model.is_proper
        else "improper priors"
    )
    return f"{family}, {prior}{ratio}{asked}"


def describe_ratio(model: Model) -> str:
    """Say what the prior ratio is."""
    ratio = model.prior_ratio
    if isinstance(ratio, np.ndarray):
        return f"of every feature its own, {ratio.min():.3g} to {ratio.max():.3g}"
    return "a function of the class sizes" if callable(ratio) else f"{ratio}"


def describe_prior(report: ReportData) -> str:
    """Say what was believed beforehand."""
    shared = prior_probability(report.posterior)
    if shared is not None:
        return f"{shared:g}"
    values = expit(report.posterior.prior_log_odds)
    ends = f"{values.min():.3g} to {values.max():.3g}"
    return f"one per feature, {ends} ({values.sum():,.1f} markers expected beforehand)"


def figures_of_merit(report: ReportData) -> dict[str, str]:
    """Numbers of the list, for readers without script."""
    selection = report.selection
    estimate, n = selection.false_positive_estimate, selection.n_selected
    shuffled = selection.posterior.shuffled
    by_model = expectation(selection.expected_false_positives) if n else "0"
    judged = {"Expected by the model alone": by_model}
    if shuffled is None:
        known = not np.isnan(report.under_null)
        under_null = describe_null(report.posterior, report.under_null) if known else "not known"
        judged = {"Expected under the global null": under_null}
    elif selection.count_test is not None and selection.count_test.lengths[0]:
        judged["Shuffles with a list as long"] = (
            f"{selection.count_test.n_as_long[0]:,} of {shuffled.n_shuffles:,}"
        )
    return {
        "List length": f"{n:,} of {report.posterior.n_features:,}",
        "Expected markers in it": f"{max(n - estimate.expected, 0.0):,.1f}",
        "Expected false positives": estimate.describe().replace(" expected", ""),
        "Expected share of them": f"{100 * estimate.expected / max(n, 1):.2g}%",
        **judged,
        "Expected markers missed": expectation(selection.expected_false_negatives),
        "Expected markers among all": expectation(report.posterior.expected_markers),
    }


def describe_warnings(report: ReportData) -> list[dict[str, str]]:
    """Return what to keep in mind: limits of the data, of the model and of this list, by kind."""
    found: list[tuple[str, Message | str]] = [("data", line) for line in report.record.described[1:]]
    found += [("warning", line) for line in report.record.warnings]
    found += [("degenerate", line) for line in flag_lines(report.selection)]
    found += [("missing", line) for line in _missing(report)]
    found += [("small", line) for line in _small(report)]
    notes = [Message.of(note) for finding in report.posterior.findings for note in finding.notes()]
    found += [("fragile" if note.kind == "fragility" else "note", note) for note in notes]
    found += [("calibration", line) for line in _calibration(report)]
    if report.posterior.shuffled is None:
        found.append((
            "dependence",
            "Intervals assume that features are independent given the data. Correlated features, such as genes of "
            "one pathway, leave the expected numbers as they are and make the intervals too narrow.",
        ))  # fmt: skip
    else:
        found.append((
            "dependence",
            "Shuffled labels keep what features have in common, so that the interval of the number of false "
            "positives holds for correlated features, too; other expected numbers are those of the model.",
        ))  # fmt: skip
    if report.posterior.model.caveat:
        found.append(("model", report.posterior.model.caveat))
    found += [("ratio", line) for line in _ratio(report)]
    kinds = {report.say(text): kind for kind, text in reversed(found)}  # once each, the first kind counts
    return [{"kind": kind, "text": text} for text, kind in reversed(kinds.items())]


def _missing(report: ReportData) -> list[str]:
    counts = np.asarray(report.posterior.statistics.counts)
    short = (counts < np.max(counts, axis=1, keepdims=True)).any(axis=0)
    if counts.shape[1] < 2 or not short.any():
        return []
    return [
        f"{plural(int(short.sum()), 'feature')} of {report.posterior.n_features:,} "
        f"{'lacks' if short.sum() == 1 else 'lack'} values of some samples. Every feature is judged by the values "
        "it has, which is exact if values are missing at random."
    ]


def _small(report: ReportData) -> list[str]:
    few = [f"{label} ({n})" for label, n in report.class_counts.items() if n < _SMALL_CLASS]
    if not few:
        return []
    what = "pairs" if is_paired(report.posterior) else "samples" if report.counted else "values"
    return [
        f"Fewer than {_SMALL_CLASS} {what} in {join_words(few)}: the "
        "prior and the shape of the data weigh heavily in such small classes, and single samples may decide."
    ]


def _calibration(report: ReportData) -> list[str]:
    if not report.posterior.calibrated:
        return [
            "The log-odds are the least over leaving any one sample out: a cautious ranking. Expected numbers of "
            "markers and errors that follow from them are not calibrated."
        ]
    family = report.posterior.model.family
    if family != "Gaussian" or np.isnan(report.under_null) or not report.selection.n_selected:
        return _unshuffled(report)
    return [
        "The expected number of false positives is that of the model, the number under the global null that of "
        "features none of which differs: where it is the larger, trust it. "
        f"Values far from {family} may raise both."
    ]


def _unshuffled(report: ReportData) -> list[str]:
    """Say so where nothing but the model tells how many false positives there are."""
    if report.posterior.shuffled is not None or not report.selection.n_selected:
        return []
    return ["Labels were not shuffled, so that the numbers of errors hold as far as the values follow the model."]


def _ratio(report: ReportData) -> list[str]:
    model = report.posterior.model
    if not model.supports("prior-ratio") or is_paired(report.posterior):
        return []
    return [
        f"The prior is improper, so that its ratio L ({describe_ratio(model)}) is a choice and not a finding: "
        f"{ratio_moves(report.posterior)}"
    ]
