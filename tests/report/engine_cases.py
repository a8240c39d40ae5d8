"""Settings of the report's controls, and the numbers that the Python rules give under each of them."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any
from unittest import mock

import numpy as np

import bayesieve as bs
from bayesieve.selection import Rule, rules

_THRESHOLDS = (0.0, 0.05, 0.5, 0.8, 0.9, 0.99, 0.9999, 1.0)
_BOUNDS = (0.0, 0.01, 0.5, 1.0, 5.0, 37.5)
_SHARES = (0.0, 0.01, 0.05, 0.1, 0.3, 1.0)
_SURE = ((0.1, 0.9), (0.1, 0.5), (0.05, 0.99), (0.2, 0.9), (0.3, 0.25), (0.0, 0.9))
_PRIORS = (1e-6, 0.001, 0.01, 0.1, 0.5, 0.9)
_RATIOS = (0.001, 0.05, 0.3989, 2.0)
_FACTORS = (0.01, 0.5, 3.0, 100.0)


def settings(posterior: bs.FeaturePosterior) -> list[dict[str, Any]]:
    """States of the controls over all six rules, under the stored and under other priors and prior ratios.

    A state holds the rule and its numbers; ``prior`` (or ``odds_factor``, with one prior per feature) and
    ``ratio`` only where they differ from the stored ones.
    """
    rules = _rules(posterior.n_features)
    moved: list[dict[str, Any]] = [
        {"rule": "mnc"},
        {"rule": "mr", "threshold": 0.9},
        {"rule": "cmnc", "n_selected": min(30, posterior.n_features)},
        {"rule": "np", "expected_false_positives": 2.0},
        {"rule": "fdr", "proportion": 0.1},
        {"rule": "fdp", "proportion": 0.1, "confidence": 0.9},
    ]
    priors = _priors(posterior)
    states = rules + [rule | prior for rule, prior in zip(moved * 2, priors * 3, strict=False)]
    if _ratio(posterior) is not None:
        states += [rule | {"ratio": ratio} for rule, ratio in zip(moved, _RATIOS * 2, strict=False)]
        states += [rule | prior | {"ratio": 0.02} for rule, prior in zip(moved, priors * 2, strict=False)]
    return states


def _rules(n_features: int) -> list[dict[str, Any]]:
    """Every rule with several numbers."""
    sizes = sorted({0, 1, min(10, n_features), n_features // 2, n_features})
    rules: list[dict[str, Any]] = [{"rule": "mnc"}]
    rules += [{"rule": "mr", "threshold": threshold} for threshold in _THRESHOLDS]
    rules += [{"rule": "cmnc", "n_selected": size} for size in (min(48, n_features), *sizes)]
    rules += [{"rule": "np", "expected_false_positives": bound} for bound in _BOUNDS]
    rules += [{"rule": "fdr", "proportion": share} for share in _SHARES]
    return rules + [{"rule": "fdp", "proportion": share, "confidence": sure} for share, sure in _SURE]


def _priors(posterior: bs.FeaturePosterior) -> list[dict[str, float]]:
    """Other priors: probabilities, or factors of the odds with one prior per feature."""
    if np.ndim(posterior.prior_log_odds):
        return [{"odds_factor": factor} for factor in _FACTORS]
    certain = np.isinf(posterior.prior_log_odds)  # the data do not rank the features, and the control is fixed
    return [] if certain else [{"prior": prior} for prior in _PRIORS]


def _ratio(posterior: bs.FeaturePosterior) -> float | None:
    """Return the stored prior ratio, if it is a number that can be moved for all features alike."""
    ratio = getattr(posterior.model, "prior_ratio", None)
    left_at_the_prior = posterior.degenerate & (posterior.log_bayes_factor == 0.0)
    plain = len(posterior.classes) == 2 and not left_at_the_prior.any()
    return float(ratio) if isinstance(ratio, (int, float)) and plain else None


def expected(posterior: bs.FeaturePosterior, state: dict[str, Any]) -> dict[str, float]:
    """Return what Python says of the list of a state, under the names of the page's ``data-result``."""
    selection = selected(posterior, state)
    now, n, estimate = selection.posterior, selection.n_selected, selection.false_positive_estimate
    found = {
        "n_selected": n,
        "expected_true": selection.expected_true_positives,
        "expected_false": estimate.expected,
        "interval_low": estimate.low,
        "interval_high": estimate.high,
        "under_null": selection.expected_under_null if now.shuffled is None else math.nan,
        "hit_rate": selection.hit_rate_probability(0.9),
        "expected_missed": selection.expected_false_negatives,
        "expected_markers": selection.posterior.expected_markers,
        "cut": selection.cut,
        "false_discovery_rate": selection.expected_false_discovery_rate,
        "model_false": selection.expected_false_positives,
    }
    if now.shuffled is None:
        return found
    counts = now.shuffled.counts(selection.cut, now.prior_log_odds)
    kept = int((selection.mask & now.shuffled.kept(now.log_odds, now.prior_log_odds)).sum())
    return found | {
        "expected_true": max(n - estimate.expected, 0.0),
        "false_discovery_rate": estimate.expected / n if n else 0.0,
        "hit_rate": float(np.mean(now.null_share * counts <= 0.1 * n * (1 + 1e-12))),
        "n_as_long": int((counts >= kept).sum()),
    }


def selected(posterior: bs.FeaturePosterior, state: dict[str, Any]) -> bs.Selection:
    """Return the list of a state as its rule gives it: lists that are chosen live are not tested."""
    with mock.patch.object(rules, "judge", lambda selection, **_: selection):
        return rule_of(state).select(reweighed(posterior, state))


def rule_of(state: dict[str, Any]) -> Rule:
    """Return the rule of a state."""
    makers: dict[str, Any] = {
        "mnc": lambda: bs.MinimalRisk(0.5),
        "mr": lambda: bs.MinimalRisk(state["threshold"]),
        "cmnc": lambda: bs.FixedSize(state["n_selected"]),
        "np": lambda: bs.NeymanPearson(state["expected_false_positives"]),
        "fdr": lambda: bs.FalseDiscovery(state["proportion"]),
        "fdp": lambda: bs.FalseDiscovery(state["proportion"], confidence=state["confidence"]),
    }
    rule: Rule = makers[state["rule"]]()
    return rule


def reweighed(posterior: bs.FeaturePosterior, state: dict[str, Any]) -> bs.FeaturePosterior:
    """Put the prior ratio and the prior probability of a state in the place of the stored ones."""
    if "ratio" in state:
        old = _ratio(posterior)
        assert old is not None, "the prior ratio of this screen cannot be moved"
        posterior = replace(
            posterior,
            log_bayes_factor=posterior.log_bayes_factor + math.log(state["ratio"] / old),
            model=bs.GaussianModel.jeffreys(state["ratio"]),
            shuffled=posterior.shuffled and posterior.shuffled.moved(math.log(state["ratio"] / old)),
        )
    if "odds_factor" in state:
        odds = np.exp(-np.asarray(posterior.prior_log_odds)) / state["odds_factor"]
        return posterior.with_prior(1.0 / (1.0 + odds))
    return posterior.with_prior(state["prior"]) if "prior" in state else posterior
