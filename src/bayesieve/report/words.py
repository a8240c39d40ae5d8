"""The result in words: the headline, the facts beside it, and what to keep in mind."""

from __future__ import annotations

import numpy as np

from bayesieve.models import GaussianModel
from bayesieve.posterior import Fragility, expit, is_jeffreys
from bayesieve.report.controls import prior_probability, ratio_moves
from bayesieve.report.story import Story, is_paired
from bayesieve.selection import by_chance_said, counted, flagged_lines, found_lines, listed

_SMALL_CLASS = 10
_IF_NOTHING = (
    "To get a list all the same, move the controls below: a list of fixed length, a lower threshold, or a larger "
    "prior probability if more markers are believed in."
)


def headline(story: Story) -> list[str]:
    """Sentences of the headline: what was compared and selected, the errors to expect, markers among all."""
    selection, posterior = story.selection, story.posterior
    n = selection.n_selected
    lead = (
        f"{n:,} of {counted(posterior.n_features, 'feature')} {'is' if n == 1 else 'are'} selected "
        f"({selection.rule}) in a comparison of {compared(story)}."
    )
    sentences = [lead, *found_lines(selection, story.by_chance, if_nothing=_IF_NOTHING)]
    return [story.say(sentence) for sentence in sentences]


def compared(story: Story) -> str:
    """Name the classes with their numbers of samples, or the pairs."""
    if is_paired(story.posterior):
        label, number = next(iter(story.class_counts.items()))
        return f"{'' if story.counted else 'up to '}{counted(number, 'pair')}, {label}"
    what, up_to = ("sample", "") if story.counted else ("value", "up to ")
    said = [f"{label} ({up_to}{counted(number, what)})" for label, number in story.class_counts.items()]
    return " with ".join(said) if len(said) == 2 else listed(said)


def facts(story: Story) -> list[tuple[str, str]]:
    """Labels and values beside the headline."""
    posterior = story.posterior
    up_to = "" if story.counted else "up to "
    counts = "; ".join(f"{label}: {up_to}{n:,}" for label, n in story.class_counts.items())
    samples = "Samples" if story.counted else "Values of a feature"
    found = [
        ("Pairs" if is_paired(posterior) else samples, counts),
        ("Features", f"{posterior.n_features:,}"),
        ("Transform", story.transform),
        ("Model", model_said(story)),
        ("Prior probability", prior_said(story)),
        ("Rule", story.selection.rule),
    ]  # fmt: skip
    if story.sites is not None:
        found.append(("Sites", "shown one by one below"))
    n_shown = 0 if story.values is None else len(story.values.values)
    if n_shown:
        found.append(("Values", f"of the {n_shown:,} strongest" if n_shown > 1 else "of the strongest"))
    if story.n_detailed < posterior.n_features:
        found.append(("Details", f"of the {story.n_detailed:,} strongest features; of others the evidence only"))
    return found


def model_said(story: Story) -> str:
    """Name the model and its prior."""
    model = story.posterior.model
    law = model.law or type(model).__name__
    if not isinstance(model, GaussianModel):
        return law
    if is_paired(story.posterior):
        return f"{law} differences within pairs, Jeffreys' prior"
    ratio = "" if model.is_proper else f", prior ratio {ratio_said(model)}"
    prior = "Jeffreys' prior" if is_jeffreys(model) else "proper priors" if model.is_proper else "improper priors"
    return f"{law}, {prior}{ratio}"


def ratio_said(model: GaussianModel) -> str:
    """Say what the prior ratio is."""
    ratio = model.prior_ratio
    if isinstance(ratio, np.ndarray):
        return f"of every feature its own, {ratio.min():.3g} to {ratio.max():.3g}"
    return "a function of the class sizes" if callable(ratio) else f"{ratio}"


def prior_said(story: Story) -> str:
    """Say what was believed beforehand."""
    shared = prior_probability(story.posterior)
    if shared is not None:
        return f"{shared:g}"
    values = expit(story.posterior.prior_log_odds)
    ends = f"{values.min():.3g} to {values.max():.3g}"
    return f"one per feature, {ends} ({values.sum():,.1f} markers expected beforehand)"


def figures_of_merit(story: Story) -> dict[str, str]:
    """Numbers of the list, for readers without script."""
    selection = story.selection
    low, high = selection.false_positives.interval(0.9)
    share = selection.expected_false_discovery_rate
    by_chance = "not known" if np.isnan(story.by_chance) else by_chance_said(story.posterior, story.by_chance)
    return {
        "List length": f"{selection.n_selected:,} of {story.posterior.n_features:,}",
        "Expected markers in it": f"{selection.expected_true_positives:,.1f}",
        "Expected false positives": (
            f"{selection.expected_false_positives:,.1f} (90% interval {low:,} to {high:,})"
        ),
        "Expected share of them": f"{100 * share:.2g}%",
        "By chance over this cut": by_chance,
        "Expected markers missed": f"{selection.expected_false_negatives:,.1f}",
        "Expected markers among all": f"{story.posterior.expected_markers:,.1f}",
    }


def warnings_said(story: Story) -> list[dict[str, str]]:
    """Return what to keep in mind: limits of the data, of the model and of this list, by kind."""
    found = [("data", line) for line in story.described[1:]] + [("warning", line) for line in story.warned]
    found += [("degenerate", line) for line in flagged_lines(story.selection)]
    found += [("missing", line) for line in _missing(story)]
    found += [("small", line) for line in _small(story)]
    for finding in story.posterior.findings:
        kind = "fragile" if isinstance(finding, Fragility) else "note"
        found += [(kind, line) for line in finding.notes()]
    found += [("calibration", line) for line in _calibration(story)]
    found.append((
        "dependence",
        "Intervals assume that features are independent given the data. Correlated features, such as genes of one "
        "pathway, leave the expected numbers as they are and make the intervals too narrow.",
    ))  # fmt: skip
    if story.posterior.model.caveat:
        found.append(("model", story.posterior.model.caveat))
    found += [("ratio", line) for line in _ratio(story)]
    said = {story.say(text): kind for kind, text in reversed(found)}  # once each, the first kind counts
    return [{"kind": kind, "text": text} for text, kind in reversed(said.items())]


def _missing(story: Story) -> list[str]:
    counts = np.asarray(story.posterior.statistics.counts)
    short = (counts < np.max(counts, axis=1, keepdims=True)).any(axis=0)
    if counts.shape[1] < 2 or not short.any():
        return []
    return [
        f"{counted(int(short.sum()), 'feature')} of {story.posterior.n_features:,} "
        f"{'lacks' if short.sum() == 1 else 'lack'} values of some samples. Every feature is judged by the values "
        "it has, which is exact if values are missing at random."
    ]


def _small(story: Story) -> list[str]:
    few = [f"{label} ({n})" for label, n in story.class_counts.items() if n < _SMALL_CLASS]
    if not few:
        return []
    what = "pairs" if is_paired(story.posterior) else "samples" if story.counted else "values"
    return [
        f"Fewer than {_SMALL_CLASS} {what} in {listed(few)}: the "
        "prior and the shape of the data weigh heavily in such small classes, and single samples may decide."
    ]


def _calibration(story: Story) -> list[str]:
    if not story.posterior.calibrated:
        return [
            "The log-odds are the least over leaving any one sample out: a cautious ranking. Expected numbers of "
            "markers and errors that follow from them are not calibrated."
        ]
    law = story.posterior.model.law
    return [
        "The expected number of false positives is that of the model, the number by chance that of features none "
        f"of which is a marker: where it is the larger, trust it. Values far from {law} may raise both."
    ] if law == "Gaussian" and not np.isnan(story.by_chance) and story.selection.n_selected else []  # fmt: skip


def _ratio(story: Story) -> list[str]:
    model = story.posterior.model
    if not isinstance(model, GaussianModel) or model.is_proper or is_paired(story.posterior):
        return []
    return [
        f"The prior is improper, so that its ratio L ({ratio_said(model)}) is a choice and not a finding: "
        f"{ratio_moves(story.posterior)}"
    ]
