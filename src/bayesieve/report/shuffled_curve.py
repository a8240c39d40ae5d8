"""Shuffled labels on the page: the list of the run and its test, and what any other cut needs."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from bayesieve.posterior import FeaturePosterior
from bayesieve.report.data import ReportData
from bayesieve.report.encoding import encode_array
from bayesieve.selection import Selection, count_lines
from bayesieve.utils import FloatArray

_EACH, _STEP = 200, 1.02  # strongest features, shuffled and not, that have a cut each; growth of numbers beyond


@dataclass(frozen=True, slots=True, eq=False)
class ShuffledCurve:
    """Numbers of features that pass with shuffled labels, over cuts on the log Bayes factor (or log-odds).

    Between two cuts the numbers of the lower one hold: exactly where few features pass, elsewhere up to one part
    in fifty too large.

    Parameters
    ----------
    cuts
        Cuts, increasing.
    counts
        For every cut the numbers of all shuffles, from the smallest to the largest.
    reached
        For every feature, in rank order, the features that come as far, all shuffles together.
    """

    cuts: FloatArray
    counts: npt.NDArray[np.int32]
    reached: npt.NDArray[np.int32]


def make_shuffled_curve(posterior: FeaturePosterior, cut: float) -> ShuffledCurve | None:
    """Reduce shuffled labels to what any cut needs; the cut of the list is among those of the curve."""
    shuffled = posterior.shuffled
    if shuffled is None:
        return None
    prior = np.asarray(posterior.prior_log_odds)
    over = cut if shuffled.by_feature else cut - float(prior)
    least = shuffled.least
    falling = -np.sort(-np.concatenate(shuffled.values))
    n_steps = math.ceil(math.log(max(falling.size / _EACH, 1.0)) / math.log(_STEP)) + 1
    places = np.concatenate([np.arange(_EACH), np.ceil(_EACH * _STEP ** np.arange(n_steps)).astype(np.int64)])
    own = posterior.log_odds if shuffled.by_feature else posterior.log_bayes_factor
    first = own[posterior.ranking[:_EACH]]
    before = first - 1e-13 * (1.0 + np.abs(first))  # the page asks for as many as come as far as a feature
    extra = [each for each in (least, over) if np.isfinite(each)]
    cuts = np.unique(np.concatenate([falling[places[places < falling.size]], before[before > least], extra]))
    rows = [each.size - np.searchsorted(each[::-1], cuts, side="right") for each in shuffled.values]
    reached = np.rint(shuffled.reaching[posterior.ranking] * shuffled.n_shuffles)
    return ShuffledCurve(cuts, np.sort(np.array(rows, np.int32).T, axis=1), reached.astype(np.int32))


def judgement(report: ReportData) -> dict[str, Any]:
    """The list of the run with what the count test says of it, and shuffled labels for other cuts."""
    selection, shuffled = report.selection, report.posterior.shuffled
    found: dict[str, Any] = {
        "list": {
            "size": selection.n_selected, "cut": _number(selection.cut), "tied_out": selection.n_tied_out,
            "claim": _claim(selection), "was_cut": selection.was_cut,
            "judgement": [*map(report.say, count_lines(selection))],
        },
        "shuffled": None,
    }  # fmt: skip
    curve = make_shuffled_curve(report.posterior, selection.cut)
    if shuffled is not None and curve is not None:
        found["shuffled"] = {
            "n": shuffled.n_shuffles, "scheme": shuffled.scheme, "by_feature": shuffled.by_feature,
            "least": _number(shuffled.least),
            "cut": encode_array(curve.cuts, "f8"), "reached": encode_array(curve.reached, "i4"),
            "counts": encode_array(curve.counts.ravel(), "u2" if curve.counts.max() < 2**16 else "i4"),
        }  # fmt: skip
    return found


def _claim(selection: Selection) -> dict[str, float] | None:
    """What the list of the run claims about its false positives, if labels were shuffled."""
    if selection.posterior.shuffled is None:
        return None
    claim = selection.false_positive_estimate
    return {"expected": float(claim.expected), "low": float(claim.low), "high": float(claim.high)}


def _number(value: float) -> float | str:
    """A number that JSON knows, or the name that JavaScript has for it."""
    return float(value) if np.isfinite(value) else "Infinity" if value > 0 else "-Infinity"
