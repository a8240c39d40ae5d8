"""A report without any sample: no culprits in its table, no ids in its sentences."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np

from bayesieve.io.results.stored_parts import StoredColumns
from bayesieve.posterior import FeaturePosterior
from bayesieve.posterior.findings.finding import Finding
from bayesieve.posterior.findings.fragility import Fragility
from bayesieve.selection import Selection

_BEFORE_IDS = (", most often sample ", ", for example ")


@dataclass(frozen=True, slots=True, eq=False)
class NamelessFragility(Fragility):
    """Fragility that does not tell on which sample a feature hangs.

    Parameters
    ----------
    said
        What is said about it.

    Examples
    --------
    >>> from bayesieve.report.discreet import nameless
    >>> from bayesieve.screening.fragility import fragility
    >>> X = [[0.1], [-0.4], [0.3], [0.2], [-0.1], [0.1], [0.2], [-0.2], [0.0], [9.0]]
    >>> found = nameless(fragility(X, ["a"] * 5 + ["b"] * 5, prior_probability=0.1))
    >>> found.notes()
    ['1 of 1 feature over the cut would not pass without a certain sample.']
    >>> list(found.columns(found.full))
    ['least_log_odds', 'n_fragile_removals']
    """

    said: tuple[str, ...] = ()

    def columns(self, posterior: FeaturePosterior) -> dict[str, Any]:
        """Columns for the result table, without the culprit."""
        found = Fragility.columns(self, posterior)
        return {name: column for name, column in found.items() if name != "culprit"}

    def take(self, places: Any) -> NamelessFragility:
        """Some of the features, in the order given."""
        return cast("NamelessFragility", Fragility.take(self, places))

    def notes(self) -> list[str]:
        """Sentences for a summary, without the name of a sample."""
        return list(self.said)


def nameless(finding: Finding) -> Finding:
    """Return a finding that says the same and names no sample.

    Examples
    --------
    >>> from bayesieve.posterior.findings.finding import Remark
    >>> from bayesieve.report.discreet import nameless
    >>> nameless(Remark(("20 pairs.",))).notes()
    ['20 pairs.']
    """
    if isinstance(finding, StoredColumns):
        held = {name: column for name, column in finding.held.items() if name != "culprit"}
        return StoredColumns(held, tuple(without_ids(finding.sentences)))
    if not isinstance(finding, Fragility):
        return finding
    return NamelessFragility(
        finding.full, finding.least_log_bayes_factor, np.full(finding.culprit.size, -1), finding.n_below,
        finding.n_skipped, finding.n_removals, finding.cut, None, tuple(without_ids(finding.notes())),
    )  # fmt: skip


def without_samples(selection: Selection) -> Selection:
    """Return a selection whose findings name no sample.

    Examples
    --------
    >>> import bayesieve as bs
    >>> from bayesieve.report.discreet import without_samples
    >>> X, y = [[0.1], [-0.4], [0.3], [0.2], [-0.1], [0.1], [0.2], [-0.2], [0.0], [9.0]], ["a"] * 5 + ["b"] * 5
    >>> found = bs.fragility(X, y)
    >>> selection = bs.MinimalRisk(0.5).select(found.full.with_finding(found))
    >>> "culprit" in selection.to_dict(), "culprit" in without_samples(selection).to_dict()
    (True, False)
    """
    posterior = selection.posterior
    findings = tuple(nameless(finding) for finding in posterior.findings)
    return replace(selection, posterior=replace(posterior, findings=findings))


def without_ids(texts: Iterable[str]) -> list[str]:
    """Cut sentences off where ids of samples begin.

    Examples
    --------
    >>> from bayesieve.report.discreet import without_ids
    >>> without_ids(["2 of 3 features hang on one sample, most often sample P7 (2 of them).", "20 pairs."])
    ['2 of 3 features hang on one sample.', '20 pairs.']
    """
    return [_cut(text) for text in texts]


def _cut(text: str) -> str:
    first = min((place for mark in _BEFORE_IDS if (place := text.find(mark)) >= 0), default=None)
    return text if first is None else text[:first] + "."


def manifest_without_samples(manifest: Mapping[str, Any]) -> dict[str, Any]:
    """Return a manifest that names no sample; of what was read only the first sentence stays.

    Examples
    --------
    >>> from bayesieve.report.discreet import manifest_without_samples
    >>> manifest_without_samples({"described": ["a.csv: 20 samples.", "Left out: P7."], "command": "screen"})
    {'described': ['a.csv: 20 samples.'], 'command': 'screen'}
    """
    kept = dict(manifest)
    for name, texts in (
        ("described", _texts(kept.get("described"))[:1]),
        ("warnings", _texts(kept.get("warnings"))),
    ):
        if name in kept:
            kept[name] = without_ids(texts)
    results = kept.get("results")
    if isinstance(results, Mapping) and isinstance(results.get("notes"), list):
        kept["results"] = {**results, "notes": [_note(note) for note in results["notes"]]}
    return kept


def _texts(value: Any) -> list[str]:
    return [text for text in value if isinstance(text, str)] if isinstance(value, list) else []


def _note(note: Any) -> Any:
    if isinstance(note, Mapping):
        return {**note, "text": _cut(str(note.get("text", "")))}
    return _cut(str(note))
