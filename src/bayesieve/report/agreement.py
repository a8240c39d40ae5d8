"""Ranks and p-values by other methods, so that a reader can ask whether they agree."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from bayesieve.report.data import ReportData
from bayesieve.report.encoding import encode_array, encode_numbers
from bayesieve.rivals import score
from bayesieve.utils import BayesieveError, DegenerateFeatureWarning, FloatArray, IntArray

MOST_COMPARED = 10_000  # ranks further down say little
METHODS = {"welch": "Welch's t", "limma": "moderated t (limma)"}


def agreement(report: ReportData, order: IntArray) -> list[dict[str, Any]]:
    """Return ranks among all features and p-values by methods that need moments only, where they apply.

    Parameters
    ----------
    report
        The report.
    order
        Features that the page tells about, by rank.
    """
    posterior = report.posterior
    if len(posterior.classes) != 2 or not posterior.has_moments or posterior.block_evidence is not None:
        return []
    if posterior.adjustment is not None:
        return []
    found = []
    for method, title in METHODS.items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DegenerateFeatureWarning)  # the screen has said so
            try:
                scores = score(posterior.moments, method=method)
            except BayesieveError:  # too few values for this method
                continue
        ranks = encode_numbers(scores.rank[order[:MOST_COMPARED]])
        found.append({
            "key": method, "title": title, "rank": ranks, "minus_log10_p": _encoded(scores.log_p_value, order),
        })  # fmt: skip
    return found


def _encoded(log_p_value: FloatArray | None, order: IntArray) -> dict[str, Any] | None:
    """Minus the decimal logarithm of the p-values, by rank; not a number where there is none."""
    if log_p_value is None:
        return None
    places = -log_p_value[order] / np.log(10.0)
    return encode_array(np.where(np.isfinite(places), np.maximum(places, 0.0), np.nan), "f4")
