"""What is measured when a method has labelled the features of a data set whose truth is known."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from bayesieve.posterior import ErrorAnalysis, FeaturePosterior, expected_under_null
from bayesieve.selection import Selection
from bayesieve.utils import BoolArray, IntArray

LABELS = ("correct", "n_selected", "true_positives", "false_positives")
ERRORS = (
    "expected_false_positives",
    "interval_low",
    "interval_high",
    "interval_probability",
    "expected_under_null",
    "expected_markers",
)
CLAIMED, CLAIM_HOLDS = "claimed_false_positives", "claim_holds"
SHORTENED, EMPTIED = "was_shortened", "was_emptied"
FALSE_SHARES = (1.5e-4, 5e-4, 1.5e-3)
"""Shares of false positives among all features at which rankings are compared: 3, 10 and 30 of 20,000."""
FOUND_AT = tuple(f"found_at_{round(20_000 * share)}" for share in FALSE_SHARES)
TRUST = (CLAIMED, "claimed_low", "claimed_high", CLAIM_HOLDS, SHORTENED, EMPTIED, "expected_under_null", *FOUND_AT)
SECONDS, PEAK = "seconds", "peak_bytes"
COSTS = (SECONDS, PEAK)
"""Measures of the machine; all others follow from the design and its seed."""

Row = tuple[int, int, str, dict[str, float]]
"""Number of samples, iteration, name of the method, and what was measured."""

CONFIDENCE = 0.9
EDGES = (0.0, 0.01, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.99, 1.0)
"""Edges of the bins of probability."""


def measure_names(measures: Sequence[str]) -> tuple[str, ...]:
    """Names of the numbers that a study stores for each method and data set."""
    names = list(LABELS)
    names += ERRORS if "errors" in measures else ()
    if "reliability" in measures:
        for k in range(len(EDGES) - 1):
            names += bin_names(k)
    names += [name for name in TRUST if name not in names] if "trust" in measures else ()
    return (*names, *(COSTS if "costs" in measures else (SECONDS,)))


def bin_names(k: int) -> tuple[str, str, str]:
    """Names of what is counted in a bin of probability: features, their probabilities added up, and markers."""
    return f"bin_{k}_features", f"bin_{k}_probability", f"bin_{k}_markers"


def label_measures(selected: BoolArray, truth: BoolArray) -> dict[str, float]:
    """Count right and wrong labels, equation (2.1) of the paper and section 6."""
    n_selected, found = int(selected.sum()), int((selected & truth).sum())
    correct = int((selected == truth).sum())
    return dict(zip(LABELS, map(float, (correct, n_selected, found, n_selected - found)), strict=True))


def error_measures(posterior: FeaturePosterior, selected: BoolArray, cut: float) -> dict[str, float]:
    """How many false positives OBF expects in its list, within which bounds, and how many under the global null.

    The bounds hold 90% of the distribution of false positives (or a little more, because they are whole numbers;
    how much is the ``interval_probability``). The last is known exactly under the prior of Jeffreys and left out
    elsewhere.
    """
    errors = ErrorAnalysis(posterior, selected)
    distribution = errors.false_positives
    low, high = distribution.interval(CONFIDENCE)
    found = {
        "expected_false_positives": errors.expected_false_positives,
        "interval_low": float(low),
        "interval_high": float(high),
        "interval_probability": float(distribution.cdf(high) - distribution.cdf(low - 1)),
        "expected_markers": posterior.expected_markers,
    }
    if posterior.model.is_jeffreys:
        found["expected_under_null"] = expected_under_null(posterior, cut)
    return found


def reliability_measures(posterior: FeaturePosterior, truth: BoolArray) -> dict[str, float]:
    """Count features, expected markers and true markers in each bin of probability."""
    probability = posterior.probability
    place = np.searchsorted(EDGES[1:-1], probability, side="right")
    n = len(EDGES) - 1
    counts = [np.bincount(place, weights, n) for weights in (None, probability, truth.astype(np.float64))]
    return {name: float(count[k]) for k in range(n) for name, count in zip(bin_names(k), counts, strict=True)}


def claim_measures(selection: Selection, n_false: int) -> dict[str, float]:
    """What a list says about its false positives, and whether its interval holds their true number.

    With shuffled labels the number is what passes under them, without it is the expectation of the model. Ends of
    intervals count as they are printed, as whole numbers.
    """
    claim = selection.false_positive_estimate
    low, high = float(round(claim.low)), float(round(claim.high))
    found = {
        CLAIMED: float(claim.expected),
        "claimed_low": low,
        "claimed_high": high,
        CLAIM_HOLDS: float(low <= n_false <= high),
        SHORTENED: float(selection.was_cut and selection.n_selected > 0),
        EMPTIED: float(selection.was_cut and selection.n_selected == 0),
    }
    if selection.posterior.model.is_jeffreys:
        found["expected_under_null"] = expected_under_null(selection.posterior, selection.cut)
    return found


def ranking_measures(ranking: IntArray, truth: BoolArray) -> dict[str, float]:
    """True positives before one false positive too many, at each of :data:`FALSE_SHARES` (one at least)."""
    in_order = truth[ranking]
    wrong = np.flatnonzero(~in_order)
    found = {}
    for name, share in zip(FOUND_AT, FALSE_SHARES, strict=True):
        allowed = max(1, math.ceil(share * truth.size - 1e-9))
        end = int(wrong[allowed]) if wrong.size > allowed else truth.size
        found[name] = float(in_order[:end].sum())
    return found
