"""A report without any sample: no culprits in its table, no ids in its sentences."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np

from bayesieve.io import StoredColumns
from bayesieve.posterior import FeaturePosterior, Finding, Fragility
from bayesieve.selection import Selection

_BEFORE_IDS = (", most often sample ", ", for example ")


@dataclass(frozen=True, slots=True, eq=False)
class NamelessFragility(Fragility):
    """Fragility that does not tell on which sample a feature hangs.

    Parameters
    ----------
    said
        What is said about it.
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
    """Return a finding that says the same and names no sample."""
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
    """Return a selection whose findings name no sample."""
    posterior = selection.posterior
    findings = tuple(nameless(finding) for finding in posterior.findings)
    return replace(selection, posterior=replace(posterior, findings=findings))


def without_ids(texts: Iterable[str]) -> list[str]:
    """Cut sentences off where ids of samples begin."""
    return [_cut(text) for text in texts]


def _cut(text: str) -> str:
    first = min((place for mark in _BEFORE_IDS if (place := text.find(mark)) >= 0), default=None)
    return text if first is None else text[:first] + "."


def manifest_without_samples(manifest: Mapping[str, Any]) -> dict[str, Any]:
    """Return a manifest that names no sample; of what was read only the first sentence stays."""
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
