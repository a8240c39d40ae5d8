"""Ranks by other methods, so that a reader can ask whether they agree."""

from __future__ import annotations

import warnings
from typing import Any

from bayesieve.report.data import ReportData
from bayesieve.report.encoding import encode_numbers
from bayesieve.rivals import score
from bayesieve.utils import BayesieveError, DegenerateFeatureWarning, IntArray

MOST_COMPARED = 10_000  # ranks further down say little
METHODS = {"welch": "Welch's t", "limma": "moderated t (limma)"}


def agreement(report: ReportData, order: IntArray) -> list[dict[str, Any]]:
    """Return the rank among all features by methods that need moments only; none where they do not apply.

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
                ranks = score(posterior.moments, method=method).rank
            except BayesieveError:  # too few values for this method
                continue
        found.append({"key": method, "title": title, "rank": encode_numbers(ranks[order[:MOST_COMPARED]])})
    return found
