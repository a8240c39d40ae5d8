"""The payload: columns and arrays that the script of the page works with, in rank order and encoded."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from bayesieve import __version__
from bayesieve.data import disambiguate
from bayesieve.models import Degeneracy, pairs_of
from bayesieve.posterior import (
    FeaturePosterior,
    Fragility,
    class_statistics,
    composition_of,
    predictive,
)
from bayesieve.report.agreement import agreement
from bayesieve.report.cells import column_content
from bayesieve.report.controls import prior_probability, ratio_state
from bayesieve.report.data import ReportData, is_paired
from bayesieve.report.encoding import encode_array, encode_numbers, finite
from bayesieve.report.sample_view import sample_view
from bayesieve.report.shuffled_curve import judgement
from bayesieve.report.surface import surface
from bayesieve.screening import SiteView
from bayesieve.stats import as_moments
from bayesieve.utils import IntArray

_SHOWN_ELSEWHERE = {
    "rank", "feature", "log_odds", "probability", "log_bayes_factor", "degenerate", "degenerate_reason",
    "selected",
}  # fmt: skip
_OF_THE_PAGE = ("kind", "pattern", "culprit", "fragile", "without_block", "least_log_odds")
_OF_THE_CLASSES = ("n_", "mean_", "sd_", "equal_", "block_")
_SECOND = " (2)"  # added to a column whose name was taken


def result_columns(detailed: FeaturePosterior) -> dict[str, Any]:
    """Columns of findings and class statistics; counts, means and deviations of Gaussian data are apart."""
    table: dict[str, Any] = {}
    apart = ("mean_difference", "log_variance_ratio") if detailed.has_moments else None
    of_classes = {k: v for k, v in class_statistics(detailed).items() if apart is None or k in apart}
    for columns in (of_classes, *(finding.columns(detailed) for finding in detailed.findings)):
        for name, values in columns.items():
            if name not in _SHOWN_ELSEWHERE:
                table[name if name not in table else name + _SECOND] = values
    return table


def all_columns(
    detailed: FeaturePosterior, annotation: Mapping[str, Any], order: IntArray
) -> list[dict[str, Any]]:
    """Encode annotation first, then what the screen says."""
    own = result_columns(detailed)
    labels = disambiguate(detailed.classes)
    owners = _owners(own, disambiguate(detailed.classes, "difference")) | _pairs(own, labels)
    places, used, made = order.tolist(), {*own, *_SHOWN_ELSEWHERE}, []
    for name, values in annotation.items():
        taken = values[order] if isinstance(values, np.ndarray) else [values[i] for i in places]
        key = f"annotation_{name}" if _is_of_the_page(name, labels) else name
        while key in used:
            key = f"annotation_{key}"
        used.add(key)
        made.append(column_content(key, taken, annotation=True) | {"title": name})
    return made + [column_content(name, values) | owners.get(name, {}) for name, values in own.items()]


def _is_of_the_page(name: str, labels: Sequence[str]) -> bool:
    """Whether the page looks for a column of the screen under this name."""
    if name == "n_sites":  # of statistics files
        return "sites" in labels
    return name in _OF_THE_PAGE or name.startswith(_OF_THE_CLASSES)


def _owners(names: Iterable[str], labels: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Class and level of every share and rate: they follow the number of values of their class."""
    found: dict[str, dict[str, Any]] = {}
    k = -1
    for name in names:
        spelt = (name, name.removesuffix(_SECOND))
        if k + 1 < len(labels) and f"n_{labels[k + 1]}" in spelt:
            k += 1
        elif k >= 0 and f"rate_{labels[k]}" in spelt:
            found[name] = {"class": k, "level": ""}
        elif k >= 0 and name.startswith("share_"):
            whole = next((each for each in spelt if each.endswith(f"_{labels[k]}")), None)
            if whole is not None:
                found[name] = {"class": k, "level": whole[len("share_") : -len(labels[k]) - 1]}
    return found


def _pairs(names: Iterable[str], labels: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Classes of every probability that two of them are equal."""
    equal = [name for name in names if name.startswith("equal_")]
    pairs = pairs_of(len(labels))
    return {
        name: {"pair": [a, b]}
        for name, (a, b) in zip(equal, pairs if len(equal) == len(pairs) else (), strict=False)
        if name in (f"equal_{labels[a]}_{labels[b]}", f"equal_{labels[a]}|{labels[b]}")
    }


SCHEMA = 1
_WITH_DISTRIBUTIONS = 500


def payload(report: ReportData) -> dict[str, Any]:
    """Return the content of the page's JSON."""
    posterior = report.posterior
    ranking = posterior.ranking
    order = ranking[: report.n_detailed]
    detailed = posterior.take(order)
    content = {
        "schema": SCHEMA,
        "version": __version__,
        "title": report.title,
        "created": report.created,
        "classes": list(report.class_counts),
        "class_counts": list(report.class_counts.values()),
        "paired": is_paired(posterior),
        "n_features": posterior.n_features,
        "n_detailed": report.n_detailed,
        "family": posterior.model.family,
        "calibrated": posterior.calibrated,
        "rule": report.rule.content(),
        "names": list(detailed.names),
        "commands": report.commands.content(),
    }
    content |= _evidence(report, ranking)
    content |= _flags(detailed)
    content |= {
        "hanging": _hanging(report, order),
        "effect": _effect(report, order),
        "statistics": _statistics(detailed),
        "columns": all_columns(detailed, report.annotation, order),
        "predictive": _predictive(report, order),
        "values": _values(report),
        "composition": _composition(detailed),
        "sites": None if report.sites is None else sites_payload(report.sites),
        "sample_view": sample_view(report),
        "surface": surface(report),
        "agreement": agreement(report, order),
    }
    return content | judgement(report)


def _evidence(report: ReportData, ranking: IntArray) -> dict[str, Any]:
    """Bayes factors, prior and numbers expected under the global null."""
    posterior, null = report.posterior, report.null_grid
    probability, ratio = prior_probability(posterior), ratio_state(posterior)
    prior = np.broadcast_to(posterior.prior_log_odds, (posterior.n_features,))
    shared = probability is not None
    return {
        "prior": {"log_odds": finite(prior[0]) if shared else None, "probability": probability},
        "estimated_share": _estimated_share(posterior),
        "prior_log_odds": None if shared else encode_array(prior[ranking], "f8"),
        "ratio": None if ratio.value is None else {"value": ratio.value, "power": ratio.power},
        "ratio_reason": ratio.reason,
        "log_bayes_factor": encode_array(posterior.log_bayes_factor[ranking], "f8"),
        "under_null": None if null is None else {
            "cut": encode_array(null.cuts, "f8"), "log_expected": encode_array(null.log_expected, "f8"),
            **({"resolution": null.resolution} if null.resolution else {}),
        },
    }  # fmt: skip


def _estimated_share(posterior: FeaturePosterior) -> float | None:
    """Share of markers that the data suggest; None if unknown, 0 if no more than shuffled labels do."""
    share, shuffled = posterior.estimated_share, posterior.shuffled
    if share is None or shuffled is None or not posterior.calibrated:
        return None
    return 0.0 if share <= shuffled.least_share else share


def _flags(detailed: FeaturePosterior) -> dict[str, Any]:
    fragile = next((found.fragile for found in detailed.findings if isinstance(found, Fragility)), None)
    some = bool(detailed.degenerate.any())
    return {
        "degenerate": encode_array(detailed.degenerate_codes, "u1") if some else None,
        "degenerate_reasons": [flag.reason for flag in Degeneracy],
        "fragile": None if fragile is None else encode_array(fragile, "u1"),
    }


def _hanging(report: ReportData, order: IntArray) -> dict[str, Any] | None:
    """Sample on which each feature of the list hangs, by rank, as the check of single samples found it."""
    influence = report.checks.influence
    if influence is None or report.discreet or influence.discreet:
        return None
    place = {name: k for k, name in enumerate(influence.full.names)}
    names = report.posterior.names
    at = np.array([place.get(names[i], -1) for i in order.tolist()], dtype=np.int64)
    at = at[: int(np.flatnonzero(at >= 0)[-1]) + 1] if (at >= 0).any() else at[:0]  # of the list only
    known = at >= 0
    return {
        "culprit": encode_array(np.where(known, influence.culprit[at], -1), "i4"),
        "fragile": encode_array(known & influence.fragile[at], "u1"),
    }


def _effect(report: ReportData, order: IntArray) -> dict[str, Any] | None:
    effect = report.effect
    if effect is None:
        return None
    return {
        "kind": effect.kind,
        "x": encode_array(effect.x[order], "f4"),
        "y": None if effect.y is None else encode_array(effect.y[order], "f4"),
        "x_title": effect.x_title,
        "y_title": effect.y_title,
    }


def _statistics(detailed: FeaturePosterior) -> dict[str, Any] | None:
    """Counts, means and standard deviations of Gaussian data."""
    moments = as_moments(detailed.statistics)
    if moments is None:
        return None
    counts = np.broadcast_to(moments.counts, moments.mean.shape)
    with np.errstate(invalid="ignore"):
        deviation = np.sqrt(moments.variance)
    return {
        "count": [int(row[0]) if (row == row[0]).all() else encode_array(row, "i4") for row in counts],
        "mean": [
            encode_array(np.where(n > 0, row, np.nan), "f4") for n, row in zip(counts, moments.mean, strict=True)
        ],
        "sd": [encode_array(row, "f4") for row in deviation],
    }


def _predictive(report: ReportData, order: IntArray) -> dict[str, Any] | None:
    n = max(_WITH_DISTRIBUTIONS, 0 if report.values is None else len(report.values.values))
    distributions = predictive(report.posterior, order[:n])
    if distributions is None:
        return None
    rows = {"dof": distributions.dof, "location": distributions.location, "scale": distributions.scale}
    return {"n": distributions.n_features} | {
        name: [encode_array(row, "f4") for row in each] for name, each in rows.items()
    }


def _values(report: ReportData) -> dict[str, Any] | None:
    values = report.values
    if values is None:
        return None
    return {
        "n": len(values.values),
        "class": encode_array(values.codes, "u1"),
        "samples": list(values.sample_names) or [str(i) for i in range(values.codes.size)],
        "data": encode_array(values.values, "f4"),
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
    if parts.kind == "effects":
        return {"kind": "terms", "names": list(parts.names), "first": encode_array(parts.terms[0], "f4")}
    if parts.kind != "jeffreys":
        return None
    log_ratio, constant = parts.terms[0], parts.terms[1]
    if np.unique(log_ratio[np.isfinite(log_ratio)]).size != 1:
        log_ratio, constant = np.zeros(1), log_ratio + constant
    distinct = np.unique(constant[np.isfinite(constant)])
    return {
        "kind": "jeffreys",
        "log_ratio": finite(log_ratio[np.isfinite(log_ratio)][0]),
        "constant": finite(distinct[0]) if distinct.size == 1 else encode_numbers(constant),
    }


def sites_payload(view: SiteView) -> dict[str, Any]:
    """Return the view of the sites as the page reads it."""
    pooled, plain = view.pooled, len(view.classes) == 2
    return {
        "n": int(view.places.size),
        "names": list(view.names),
        "counts": view.counts.tolist(),
        **{
            key: [encode_array(getattr(site, key), "f4") for site in view.sites] if plain else None
            for key in ("difference", "low", "high")
        },
        "log_bayes_factor": [encode_array(site.log_bayes_factor, "f4") for site in view.sites],
        "pooled": {
            **{
                key: encode_array(getattr(pooled, key), "f4") if plain else None
                for key in ("difference", "low", "high")
            },
            "log_bayes_factor": encode_array(pooled.log_bayes_factor, "f4"),
        },
        "combined": encode_array(view.combined, "f4"),
        "used": view.used,
        "level": view.level,
        "title": view.title,
    }
