"""A report without any sample: no culprits in its table, no ids in its manifest."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from bayesieve.selection import Selection

_MAY_NAME_SAMPLES = ("described", "warnings", "notes")


def without_samples(selection: Selection) -> Selection:
    """Return a selection whose findings have no column of samples; :class:`Story` leaves ids out of sentences."""
    posterior = selection.posterior
    findings = tuple(
        finding.without_samples() if hasattr(finding, "without_samples") else finding
        for finding in posterior.findings
    )
    return replace(selection, posterior=replace(posterior, findings=findings))


def manifest_without_samples(manifest: Mapping[str, Any]) -> dict[str, Any]:
    """Return a manifest that names no sample: of its sentences only the first, about the table, stays."""
    kept = {name: value for name, value in manifest.items() if name not in _MAY_NAME_SAMPLES}
    if "described" in manifest:
        kept["described"] = list(manifest["described"])[:1]
    results = manifest.get("results")
    if isinstance(results, Mapping):
        kept["results"] = {name: value for name, value in results.items() if name not in _MAY_NAME_SAMPLES}
    return kept
