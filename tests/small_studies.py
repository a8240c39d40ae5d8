"""A study of a few hundred features for tests, and what of its results has to be the same every time."""

from __future__ import annotations

from bayesieve.study import Method, StudyDesign
from bayesieve.study.measures import COSTS

CONSTANTS = {"low_variance_blocks": 5, "high_variance_features": 20}  # 280 features, 100 of them markers


def small_study(**changes):
    """Return a study that draws moments: log-odds with a rule, and two top lists."""
    settings = {
        "methods": (
            Method("mnc", "MNC", "obf-jp", "mnc", options={"prior_probability": 0.3}),
            Method("pp", "PP", "obf-pp", n_selected=80, options={"prior_probability": 0.3}),
            Method("welch", "Welch t", "welch", n_selected=80),
        ),
        "sizes": (20, 40, 60),
        "iterations": 5,
        "constants": CONSTANTS,
    }
    return StudyDesign("small", **(settings | changes))


def reproducible(results):
    """Return all numbers of a study but those that the machine decides."""
    table = results.table()
    kept = table.filter(~table["measure"].is_in(list(COSTS)))
    return kept.sort("measure", "n", "iteration", "method")
