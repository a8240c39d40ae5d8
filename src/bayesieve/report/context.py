"""Context of the template: every text of the page, the method in plain words among them."""

from __future__ import annotations

import importlib.metadata
import json
import platform
import shlex
from typing import Any

import numpy as np

from bayesieve import __version__
from bayesieve.enrichment import Enrichment, set_title
from bayesieve.posterior import Check, follows_lambda
from bayesieve.report.controls import prior_probability
from bayesieve.report.data import ReportData, trend_title
from bayesieve.report.evidence import describe_evidence, method_part
from bayesieve.report.glossary import glossary
from bayesieve.report.sentences import (
    describe_comparison,
    describe_prior,
    describe_warnings,
    facts,
    figures_of_merit,
    headline,
)
from bayesieve.selection import count_lines, describe_null, explain_unknown_null, results_hash
from bayesieve.utils import Message, expectation, list_names, plural

CITATION = 'A. Foroughi pour and L. A. Dalton, "Theory of Optimal Bayesian Feature Filtering".'


def method(report: ReportData) -> list[dict[str, Any]]:
    """Return the parts of the method: a heading, paragraphs, and a formula where one helps."""
    judge = _global_null if report.posterior.shuffled is None else _shuffled
    return [_prior_probability(report), describe_evidence(report), _rule(report), _errors(report), judge(report)]


def _what_differs(report: ReportData) -> str:
    along, difference = trend_title(report.posterior), report.posterior.model.difference
    if along:
        groups = describe_comparison(report)
        return f"it changes with {along.removeprefix('Trend along ')} (groups to look at: {groups})"
    what = "distribution" if difference == "any" else difference
    return f"its {what} differs between the classes, here {describe_comparison(report)}"


def _prior_probability(report: ReportData) -> dict[str, Any]:
    shared = prior_probability(report.posterior)
    formula = "log-odds = log(p / (1 - p)) + log BF,   probability = 1 / (1 + exp(-log-odds))"
    if shared is not None and 0 < shared < 1:
        odds = float(np.ravel(report.posterior.prior_log_odds)[0])
        formula += f"\np = {shared:g}:   log(p / (1 - p)) = {odds:.4f}"
    return method_part(
        "Probability of a feature",
        f"A feature is a marker if {_what_differs(report)}. Features are judged one by one: before the data a "
        "feature is a marker with probability p "
        f"({describe_prior(report)}), and the data change its odds by the Bayes factor BF, the probability of its "
        "values if it is a marker over that if it is not (section 2.2, equation 2.13).",
        formula=formula,
    )


_RULES = {
    "mnc": "Maximum number correct (MNC, equation 3.9): features whose probability is over one half. No other "
    "list is expected to label more features correctly.",
    "mr": "Minimal risk (MR, equation 3.8): features whose probability is over T = {threshold:g}. It minimises "
    "the expected loss if a false positive costs {cost} as much as a missed marker.",
    "cmnc": "Fixed size (CMNC, equation 3.11): the {n_selected:,} most probable features. No other list of that "
    "length is expected to hold more markers.",
    "np": "Bounded false positives (NP, equation 3.13): the longest list of the most probable features with at "
    "most {expected_false_positives:g} expected false positives.",
    "fdr": "False-discovery rate: the longest list of the most probable features whose expected share of false "
    "positives is at most {proportion:g}.",
    "fdp": "False-discovery proportion (FDP): the longest list of the most probable features in which the share "
    "of false positives is at most {proportion:g} with probability {confidence:g} or more {judge}.",
}


def _rule(report: ReportData) -> dict[str, Any]:
    state = report.rule.content()
    threshold = state["threshold"]
    cost = f"{threshold / (1 - threshold):.3g} times" if threshold < 1 else "infinitely"
    cut = report.selection.cut
    shown = f"cut at log-odds {cut:.4g}, probability {report.selection.threshold:.4g}" if np.isfinite(cut) else ""
    judge = "under the model" if report.posterior.shuffled is None else "as shuffled labels show"
    paragraphs = [_RULES[state["name"]].format(**state, cost=cost, judge=judge)]
    if report.selection.was_cut:
        paragraphs.append("The count test below has shortened the list of the rule.")
    return method_part("The list", *paragraphs, formula=shown)


def _errors(report: ReportData) -> dict[str, Any]:
    if report.posterior.shuffled is not None:
        return method_part(
            "Errors to expect",
            "The number of false positives is taken from shuffled labels: the mean number of features that pass "
            "the cut of the list with them, times the share of features believed to be no markers. Its interval "
            "runs from the 5% to the 95% point over the shuffles. Missed markers are those of the model: the sum "
            "of the probabilities outside the list (equation 3.6). The model by itself would expect the sum of "
            f"(1 - probability) over the list, {expectation(report.selection.expected_false_positives)}.",
            formula="E[FP] = (1 - p) mean over shuffles of the number of features over the cut",
        )
    return method_part(
        "Errors to expect",
        "The expected number of false positives is the sum of (1 - probability) over the list, that of missed "
        "markers the sum of the probabilities outside it (equations 3.5 and 3.6). The distribution of the number "
        "of false positives is Poisson-binomial, worked out exactly: the number of heads of independent coins, "
        "one per listed feature. Its interval leaves at most 5% on either side.",
        formula="E[FP] = sum over the list of (1 - probability)",
    )


def _shuffled(report: ReportData) -> dict[str, Any]:
    """The count test, in general and of this list."""
    shuffled = report.posterior.shuffled
    assert shuffled is not None
    among = {"samples": "among all samples", "batches": "within batches", "pairs": "within pairs",
             "residuals": "given the covariates", "subjects": "within subjects"}[shuffled.scheme]  # fmt: skip
    every = "all other ways to deal them" if shuffled.complete else "drawn at random"
    return method_part(
        "The list against shuffled labels",
        f"The screen was repeated {shuffled.n_shuffles:,} times with labels shuffled {among} ({every}); all "
        "that it takes from the data was taken anew. Features keep their distributions and what they have in "
        "common. The length of the list at its cut and at stricter ones (probability 0.8, 0.9, 0.95, 0.99, 0.999) "
        "is ranked among the lengths that shuffled labels give, and the least rank is compared with theirs, so "
        "that trying several cuts costs what it must. A list stands if p is at most 0.05; otherwise it is that of "
        "the first stricter cut which stands, or empty. Log-odds and ranks are not changed.",
        *map(report.say, count_lines(report.selection)),
    )


_NULL_TITLE = "False positives expected under the global null"


def _global_null(report: ReportData) -> dict[str, Any]:
    if report.null_grid is None:
        known, looks = report.posterior.calibrated, "left out, as the log-odds are the least over several looks"
        why = explain_unknown_null(report.posterior) if known else looks
        return method_part(_NULL_TITLE, f"How many features would pass the cut if no feature differed is {why}.")
    exact = follows_lambda(report.posterior)
    how = (
        "from the exact distribution of lambda"
        if exact
        else "by drawing non-markers from every feature's own pooled distribution"
    )
    improper = report.posterior.model.supports("prior-ratio")
    return method_part(
        _NULL_TITLE,
        f"How many features would pass the cut if no feature differed between the classes, worked out {how}: "
        f"{describe_null(report.posterior, report.under_null, ',.3g')} "
        + ("here." if exact else "here, with the error of a simulation: small numbers are rough.")
        + (
            " It stands beside the expected number, which under an improper prior is not calibrated even on ideal "
            "data."
            if improper
            else " It stands beside the expected number, which holds under the priors."
        ),
    )


_ROWS = 50
_PACKAGES = ("numpy", "scipy", "numba")


def make_context(report: ReportData) -> dict[str, Any]:
    """Return all texts of the page by name; see the head of the template."""
    return {
        "title": report.title,
        "subtitle": report.subtitle or "".join(map(report.say, report.record.described[:1])),
        "created": report.created,
        "headline": headline(report),
        "facts": facts(report),
        "figures_of_merit": figures_of_merit(report),
        "checks": describe_checks(report),
        "sample_columns": _sample_columns(report),
        "warnings": describe_warnings(report),
        "method": method(report),
        "audit": audit(report),
        "manifest": _manifest(report),
        "command": shlex.join(report.commands.run),
        "citation": CITATION,
        "top": _top(report),
        "glossary": glossary(report),
        "pairs": report.pairs,
        "plan": report.plan,
        "sets": None if report.sets is None else _gene_sets(report.sets),
        "has_sites": report.sites is not None,
        "has_values": report.values is not None,
        "has_samples": _has_samples(report),
        "has_effect": report.effect is not None,
        "is_count_like": not report.posterior.has_moments,
        "n_shuffles": _number_of_shuffles(report),
    }


_PLACES = {"table": "To the table", "look": "To the charts", "decide": "To the numbers",
           "samples": "To the samples", "sample-columns": "To the columns"}  # fmt: skip


def _link(report: ReportData, check: Check) -> str:
    """Where the page shows what a check is about; nothing if it does not."""
    if check.name == "one-sample" and check.state == "unknown":
        return ""
    if check.name == "one-sample" and _has_samples(report):
        return "samples"  # its bars
    return "" if check.link == "sample-columns" and not _sample_columns(report) else check.link


def _has_samples(report: ReportData) -> bool:
    return report.values is not None and report.values.codes.size > 1 and len(report.values.values) > 0


def describe_checks(report: ReportData) -> list[dict[str, str]]:
    """Return the checks of the list as texts, with a link to where each can be looked at."""
    return [
        {
            "name": check.name,
            "title": check.title,
            "state": check.state,
            "word": check.word,
            "shown": check.shown,
            "sentence": report.say(Message(check.sentence.text)),
            "hint": report.say(check.hint),
            "link": _link(report, check),
            "place": _PLACES.get(_link(report, check), ""),
        }
        for check in report.checks
    ]


def _sample_columns(report: ReportData) -> list[list[str]]:
    """How columns about the samples go with the classes: name, strength, p-value, share of the list."""
    found = next((check for check in report.checks if check.name == "confounding"), None)
    columns = {} if found is None else found.numbers.get("columns", {})
    return [
        [
            name,
            f"{each['strength']:.2f}",
            f"{each['p_value']:.2g}",
            "" if each["share_explained"] is None else f"{each['share_explained']:.0%}",
        ]
        for name, each in columns.items()
    ]


_SET_HEADS = (("set", "text"), ("genes", ""), ("selected", ""), ("expected", ""), ("p-value", ""), ("q-value", ""),
              ("markers expected", ""), ("90% interval", ""), ("selected genes", "text"))  # fmt: skip
_SETS_SHOWN, _GENES_SHOWN = 50, 6


def _gene_sets(found: Enrichment) -> dict[str, Any]:
    """Gene sets in words and as a table of texts."""
    few, kinds = int((found.q_value < 0.05).sum()), found.overlap
    sentences = [
        f"{found.n_selected:,} of {found.n_universe:,} genes are in the list this page was written with, whatever "
        f"rule is chosen above; {few:,} of {plural(len(found), 'set')} have a q-value (Benjamini-Hochberg over "
        f"all of them) below 0.05. {found.n_outside:,} more were left out because of their size. "
        f"{kinds.n_matched:,} of {kinds.n_ids:,} ids ({kinds.kind}) are in a set.",
        "p-values (hypergeometric, all genes screened as universe) take genes for independent of each other. "
        "Genes of a set go together, so that a list that holds one by chance holds others, too: they say how "
        "uneven the list is, not whether it is right. The number of markers needs no list: it adds up the "
        "probabilities of all genes of a set, as far as shuffled labels let them stand, and its interval is exact "
        "for independent genes.",
    ]
    table, shown = found.to_dict(), min(_SETS_SHOWN, len(found))
    rows = [
        [
            set_title(table["set"][k]), f"{table['in_universe'][k]:,}", f"{table['selected'][k]:,}",
            f"{table['expected'][k]:.2f}", f"{table['p_value'][k]:.2g}", f"{table['q_value'][k]:.2g}",
            f"{table['expected_markers'][k]:.1f}", table["interval"][k],
            list_names(found.features[k], _GENES_SHOWN, quote=False),
        ]
        for k in range(shown)
    ]  # fmt: skip
    caption = f"The first {shown:,} of {plural(len(found), 'gene set')}, by p-value"
    return {"sentences": sentences, "caption": caption, "heads": _SET_HEADS, "rows": rows}


def _number_of_shuffles(report: ReportData) -> str:
    shuffled = report.posterior.shuffled
    return "" if shuffled is None else f"{shuffled.n_shuffles:,}"


def audit(report: ReportData) -> list[tuple[str, str]]:
    """Return what a repetition needs: versions, hashes, date."""
    found = [
        ("Written", report.created),
        ("bayesieve", __version__),
        ("Python", platform.python_version()),
        *((name, importlib.metadata.version(name)) for name in _PACKAGES),
        ("Hash of the results (SHA-256)", results_hash(report.selection)),
    ]
    found += [
        (
            f"Input {given.get('path', '')}",
            f"{given.get('bytes', 0):,} bytes" + (f", SHA-256 {given['sha256']}" if "sha256" in given else ""),
        )
        for given in report.record.inputs
    ]
    if report.record.settings_hash:
        found.append(("Hash of the settings (SHA-256)", report.record.settings_hash))
    return found


def _manifest(report: ReportData) -> str:
    """What is known of a run as JSON, without what the page shows in other ways."""
    if report.record.spec is None:
        return ""
    content = report.record.to_dict()
    shown = {
        name: value for name, value in content.items() if name not in ("model", "design", "findings", "shuffled")
    }
    return json.dumps(shown, indent=1, ensure_ascii=False)


def _probability(value: float) -> str:
    """Four places that never pretend to be certain, as on the page."""
    return ">0.9999" if value > 0.9999 else "<0.0001" if value < 0.0001 else f"{value:.4f}"


def _top(report: ReportData) -> list[dict[str, str]]:
    """The first rows of the table, for readers without script."""
    few = report.posterior.take(report.posterior.ranking[:_ROWS])
    listed = report.selection.n_selected
    return [
        {
            "rank": f"{k + 1:,}",
            "feature": name,
            "log_odds": f"{log_odds:.2f}",
            "probability": _probability(probability),
            "in_the_list": "yes" if k < listed else "",
        }
        for k, (name, log_odds, probability) in enumerate(
            zip(few.names, few.log_odds.tolist(), few.probability.tolist(), strict=True)
        )
    ]
