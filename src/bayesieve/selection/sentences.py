"""The summary of a list in words: how long, how many errors, whether it stands, what was left out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bayesieve.models import SubjectComparison
from bayesieve.posterior import FeaturePosterior, expit, null_resolution
from bayesieve.stats import largest_counts
from bayesieve.utils import Message, Wording, expectation, join_words, plural

if TYPE_CHECKING:
    from bayesieve.selection.selection import Selection

_FAR_SHARE = 2.0  # times what was believed, or less than its inverse
_FAR = 1.5  # the model is contradicted by shuffled labels
_ADVICE = Message.of(
    "To get a list all the same: ",
    Wording("FixedSize(n) takes the n best", "--n-selected 20 takes the 20 best"),
    ", ",
    Wording("MinimalRisk with a lower threshold", "--threshold 0.2"),
    " accepts more false positives, and ",
    Wording("with_prior()", "a larger --prior-probability"),
    " re-weighs if more markers are believed in.",
    kind="nothing-selected",
)


def summary_lines(selection: Selection, *, classes: bool = True) -> list[Message]:
    """Sentences of :meth:`Selection.summary`, with the classes in the first or without them."""
    posterior = selection.posterior
    noun = "classes" if len(posterior.classes) > 1 else "pairs"
    groups = f"; {noun} {describe_groups(selection)}" if classes else ""
    first = f"{selection.n_selected:,} of {posterior.n_features:,} features selected ({selection.rule}){groups}."
    lines: list[str | Message] = [first, *error_lines(selection), *flag_lines(selection)]
    lines += [note for finding in posterior.findings for note in finding.notes()]
    return [Message.of(line) for line in (*lines, posterior.model.caveat) if line]


def describe_groups(selection: Selection) -> str:
    """Classes with their numbers of samples."""
    posterior = selection.posterior
    groups = [f"{c} ({n})" for c, n in zip(posterior.classes, largest_counts(posterior.statistics), strict=True)]
    return join_words(groups)


def error_lines(
    selection: Selection, under_null: float | None = None, *, if_nothing: Message = _ADVICE
) -> list[str | Message]:
    """Errors that are expected of the list, or why there is none, and markers expected among all features."""
    lines: list[str | Message] = [_nothing(selection), if_nothing]
    if selection.n_selected:
        lines = [*_errors(selection, under_null), *count_lines(selection)]
    elif selection.was_cut:
        lines = [*count_lines(selection)]
    expected = f"Expected markers among all features: {expectation(selection.posterior.expected_markers)}."
    return [*lines, expected, *_share_lines(selection.posterior)]


def _share_lines(posterior: FeaturePosterior) -> list[str]:
    """What the data suggest about the share of markers, where it is far from what was believed."""
    share, believed = posterior.estimated_share, 1.0 - posterior.null_share
    if share is None or posterior.shuffled is None or posterior.needs_own_evidence or not posterior.calibrated:
        return []
    if believed <= 0.0 or believed / _FAR_SHARE < share < believed * _FAR_SHARE:
        return []
    aside = f"({_percent(believed)} was believed)"
    if share <= posterior.shuffled.least_share:
        return [f"The share of markers among all cannot be told from none {aside}."]
    least = "at least " if posterior.shuffled.excess_share > share else ""
    return [f"The data suggest that {least}{_percent(share)} of the features are markers {aside}."]


def _percent(share: float) -> str:
    return f"{100.0 * share:.2g}%"


def count_lines(selection: Selection) -> list[str]:
    """What the count test says of the list."""
    test = selection.count_test
    if test is None or not test.lengths[0]:
        return []
    shuffles, at = _shuffles(selection), test.stands_at
    as_long = f"{test.n_as_long[0]:,} of {shuffles}" if test.n_as_long[0] else f"none of {shuffles}"
    gives = "gives" if test.n_as_long[0] <= 1 else "give"
    if not test.can_stand:
        shuffled = selection.posterior.shuffled
        few = (
            f"There are only {test.n_shuffles:,} other ways to deal these labels"
            if shuffled is None or shuffled.complete
            else f"Labels were shuffled only {test.n_shuffles:,} times"
        )
        return [f"{few}, too few to test the list: {as_long} {gives} one as long."]
    if at == 0:
        return [f"The list stands: {as_long} {gives} one as long (p = {test.p_values[0]:.2g})."]
    one = test.lengths[0] == 1
    first = (
        f"{plural(int(test.lengths[0]), 'feature')} {'passes' if one else 'pass'} the cut of the rule, but "
        f"{as_long} {gives} at least as many: {'it may be chance, or ' if one else ''}samples have "
        "something in common, or values do not follow the model."
    )
    if not selection.was_cut:
        return [f"The list does not stand: {first[0].lower()}{first[1:]}"]
    if at is None:
        least = float(test.p_values.min())
        left = "Only features that were certain are listed." if selection.n_selected else "Nothing is listed."
        return [f"{left} {first} No stricter cut stands either (least p = {least:.2g})."]
    cut = float(expit(test.cuts[at]))
    p_value = f"p = {test.p_values[at]:.2g}"
    return [f"{first} The list is that of the first cut which stands, probability over {cut:.4g} ({p_value})."]


def _shuffles(selection: Selection) -> str:
    shuffled = selection.posterior.shuffled
    assert shuffled is not None
    among = {"samples": "", "batches": " within batches", "pairs": " within pairs",
             "residuals": " given the covariates", "subjects": " within subjects"}[shuffled.scheme]  # fmt: skip
    return f"{shuffled.n_shuffles:,} shuffles of the labels{among}"


def flag_lines(selection: Selection) -> list[str]:
    """Features that are degenerate, or left out although they lie at the cut; variances that were not compared."""
    posterior = selection.posterior
    lines, n_degenerate = [], int(posterior.degenerate.sum())
    model: Any = posterior.model
    within = isinstance(posterior.comparison, SubjectComparison)  # says so itself
    if model.supports("effect-sizes") and len(posterior.classes) > 1 and not model.variance_weight and not within:
        lines.append(
            "Variances are taken to be equal: with fewer than three values in a class they cannot be compared."
            if model.difference == "mean"
            else "Only means were compared: without fourth powers of the values, or with fewer than three values "
            "in a class, heavy tails cannot be told from a difference in variance."
        )
    if n_degenerate:
        features = "feature" if n_degenerate == 1 else "features"
        are = "is" if n_degenerate == 1 else "are"
        lines.append(f"{n_degenerate:,} {features} without usable variance {are} flagged as degenerate.")
    if selection.n_tied_out:
        features_lie = "feature lies" if selection.n_tied_out == 1 else "features lie"
        left = "is" if selection.n_tied_out == 1 else "are"
        lines.append(f"{selection.n_tied_out:,} {features_lie} exactly at the cut and {left} left out.")
    return lines


def _errors(selection: Selection, under_null: float | None) -> list[str]:
    missed = f"Markers missed: {expectation(selection.expected_false_negatives)} expected under the model."
    estimate = selection.false_positive_estimate
    if estimate.source == "shuffles":
        return [f"False positives: {estimate.describe()}, from {_shuffles(selection)}.{_aside(selection)}", missed]
    low, high = selection.false_positives.interval(0.9)
    model = f"False positives: {expectation(selection.expected_false_positives)} expected under the model"
    interval = f"(90% interval {low:,} to {high:,} if features are independent)"
    return [f"{model} {interval}{_under_null(selection, under_null)}", missed]


def _aside(selection: Selection) -> str:
    """Say so where the model by itself would expect far fewer false positives."""
    believed, found = selection.expected_false_positives, selection.false_positive_estimate.expected
    if found < _FAR * believed + 0.5:
        return ""
    return f" (The model by itself would expect {expectation(believed)}: the values do not follow it.)"


def _under_null(selection: Selection, under_null: float | None) -> str:
    if not selection.posterior.calibrated:
        return ". These log-odds are the least over several looks, so these numbers are not calibrated."
    under_null = selection.expected_under_null if under_null is None else under_null
    if np.isnan(under_null) and selection.posterior.model.supports("effect-sizes"):
        return ". No labels were shuffled, so that neither this number nor the list has been tested."
    if np.isnan(under_null):
        return f"; the number expected under the global null is {explain_unknown_null(selection.posterior)}."
    family = selection.posterior.model.family
    values = f", {family} values" if family else ""
    number = describe_null(selection.posterior, under_null)
    return f"; {number} expected under the global null (no feature differs{values})."


def describe_null(posterior: FeaturePosterior, under_null: float, digits: str = ",.1f") -> str:
    """Format a number expected under the global null; below what a simulation can resolve, that bound."""
    return expectation(under_null, null_resolution(posterior), digits)


def explain_unknown_null(posterior: FeaturePosterior) -> str:
    """Say why the number expected under the global null is not known, where it is not."""
    nobody = posterior.model.supports("effect-sizes")  # knows it, however much is at hand
    why = "" if nobody else getattr(posterior.comparison, "unknown_because", "")
    return f"not known: {why}" if why else "not known for this model"


def _nothing(selection: Selection) -> str:
    posterior = selection.posterior
    best = int(posterior.ranking[0])
    log_odds = float(posterior.log_odds[best])
    distance = selection.cut - log_odds
    alone = f"; alone it would hold {float(posterior.null_probability[best]):.3g} expected false positives"
    gap = f", {distance:.3g} below the cut in log-odds" if np.isfinite(distance) else alone
    return (
        f"Nothing passes the cut: the best feature, {posterior.names[best]!r}, has probability "
        f"{float(posterior.probability[best]):.3g} (log-odds {log_odds:.3g}{gap})."
    )
