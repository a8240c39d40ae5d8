"""The payload: what the script of the page works with, every array in rank order."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from bayesieve import __version__
from bayesieve.models.degenerate import Degeneracy
from bayesieve.posterior import FeaturePosterior
from bayesieve.posterior.fragility import Fragility
from bayesieve.report.columns import all_columns
from bayesieve.report.composition import composition_of
from bayesieve.report.encoding import encoded, encoded_number, finite
from bayesieve.report.predictive import predictive
from bayesieve.report.prior_state import prior_probability, ratio_state
from bayesieve.report.story import Story, is_paired
from bayesieve.stats import Moments

IntArray = npt.NDArray[np.int64]

SCHEMA = 1
_WITH_LAWS = 500


def payload(story: Story) -> dict[str, Any]:
    """Return the content of the page's JSON.

    Parameters
    ----------
    story
        What is told.

    Examples
    --------
    >>> import numpy as np
    >>> import bayesieve as bs
    >>> from bayesieve.report.payload import payload
    >>> from bayesieve.report.story import Story
    >>> X = np.random.default_rng(0).normal(size=(10, 2)) + np.outer([0] * 5 + [1] * 5, [9, 0])
    >>> content = payload(Story.of(bs.screen(X, list("aaaaabbbbb"))))
    >>> content["classes"], content["names"], content["prior"]["probability"]
    (['a', 'b'], ['x0', 'x1'], 0.01)
    """
    posterior = story.posterior
    ranking = posterior.ranking
    order = ranking[: story.n_detailed]
    detailed = posterior.take(order)
    content = {
        "schema": SCHEMA,
        "version": __version__,
        "title": story.title,
        "created": story.created,
        "classes": list(story.class_counts),
        "class_counts": list(story.class_counts.values()),
        "paired": is_paired(posterior),
        "n_features": posterior.n_features,
        "n_detailed": story.n_detailed,
        "law": posterior.model.law,
        "calibrated": posterior.calibrated,
        "rule": story.rule.content(),
        "names": list(detailed.names),
        "commands": story.commands.content(),
    }
    content |= _evidence(story, ranking)
    content |= _flags(detailed)
    content |= {
        "effect": _effect(story, order),
        "statistics": _statistics(detailed),
        "columns": all_columns(detailed, story.annotation, order),
        "predictive": _predictive(story, order),
        "values": _values(story),
        "composition": _composition(detailed),
        "sites": None if story.sites is None else story.sites.payload(),
    }
    return content


def _evidence(story: Story, ranking: IntArray) -> dict[str, Any]:
    """Bayes factors, prior and numbers by chance."""
    posterior, chance = story.posterior, story.chance
    probability, ratio = prior_probability(posterior), ratio_state(posterior)
    prior = np.broadcast_to(posterior.prior_log_odds, (posterior.n_features,))
    shared = probability is not None
    return {
        "prior": {"log_odds": finite(prior[0]) if shared else None, "probability": probability},
        "prior_log_odds": None if shared else encoded(prior[ranking], "f8"),
        "ratio": None if ratio.value is None else {"value": ratio.value, "power": ratio.power},
        "ratio_reason": ratio.reason,
        "log_bayes_factor": encoded(posterior.log_bayes_factor[ranking], "f8"),
        "chance": None if chance is None else {
            "cut": encoded(chance.cuts, "f8"), "log_expected": encoded(chance.log_expected, "f8"),
            **({"resolution": chance.resolution} if chance.resolution else {}),
        },
    }  # fmt: skip


def _flags(detailed: FeaturePosterior) -> dict[str, Any]:
    fragile = next((found.fragile for found in detailed.findings if isinstance(found, Fragility)), None)
    some = bool(detailed.degenerate.any())
    return {
        "degenerate": encoded(detailed.degenerate_codes, "u1") if some else None,
        "degenerate_reasons": [flag.reason for flag in Degeneracy],
        "fragile": None if fragile is None else encoded(fragile, "u1"),
    }


def _effect(story: Story, order: IntArray) -> dict[str, Any] | None:
    effect = story.effect
    if effect is None:
        return None
    return {
        "kind": effect.kind,
        "x": encoded(effect.x[order], "f4"),
        "y": None if effect.y is None else encoded(effect.y[order], "f4"),
        "x_title": effect.x_title,
        "y_title": effect.y_title,
    }


def _statistics(detailed: FeaturePosterior) -> dict[str, Any] | None:
    """Counts, means and standard deviations of Gaussian data."""
    moments = detailed.statistics
    if not isinstance(moments, Moments):
        return None
    counts = np.broadcast_to(moments.counts, moments.mean.shape)
    with np.errstate(invalid="ignore"):
        deviation = np.sqrt(moments.variance)
    return {
        "count": [int(row[0]) if (row == row[0]).all() else encoded(row, "i4") for row in counts],
        "mean": [encoded(np.where(n > 0, row, np.nan), "f4") for n, row in zip(counts, moments.mean, strict=True)],
        "sd": [encoded(row, "f4") for row in deviation],
    }


def _predictive(story: Story, order: IntArray) -> dict[str, Any] | None:
    n = max(_WITH_LAWS, 0 if story.values is None else len(story.values.values))
    laws = predictive(story.posterior, order[:n])
    if laws is None:
        return None
    rows = {"dof": laws.dof, "location": laws.location, "scale": laws.scale}
    return {"n": laws.n_features} | {name: [encoded(row, "f4") for row in each] for name, each in rows.items()}


def _values(story: Story) -> dict[str, Any] | None:
    values = story.values
    if values is None:
        return None
    return {
        "n": len(values.values),
        "class": encoded(values.codes, "u1"),
        "samples": list(values.sample_names) or [str(i) for i in range(values.codes.size)],
        "data": encoded(values.values, "f4"),
    }


def _composition(detailed: FeaturePosterior) -> dict[str, Any] | None:
    """What log Bayes factors are made of, as far as the page can put it together from statistics."""
    evidence = detailed.block_evidence
    if evidence is not None:
        whole = evidence.contributions.sum(axis=0)
        if not np.allclose(whole, detailed.log_bayes_factor, rtol=1e-6, atol=1e-6):
            return None
        keys = [f"block_{name}" for name in evidence.names]
        return {"kind": "blocks", "keys": keys, "names": list(evidence.names)}
    parts = composition_of(detailed)
    if parts is None or parts.kind != "jeffreys":
        return None
    log_ratio, constant = parts.terms[0], parts.terms[1]
    if np.unique(log_ratio[np.isfinite(log_ratio)]).size != 1:
        log_ratio, constant = np.zeros(1), log_ratio + constant
    distinct = np.unique(constant[np.isfinite(constant)])
    return {
        "kind": "jeffreys",
        "log_ratio": finite(log_ratio[np.isfinite(log_ratio)][0]),
        "constant": finite(distinct[0]) if distinct.size == 1 else encoded_number(constant),
    }
