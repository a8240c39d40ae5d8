"""The manifest of a run: what went in, what was set, what came out."""

from __future__ import annotations

import hashlib
import importlib.metadata
import json
import os
import platform
import time
from collections.abc import Mapping
from typing import Any

from bayesieve import __version__
from bayesieve.cli.config import plain_settings
from bayesieve.cli.console import Talk
from bayesieve.cli.inputs import Input
from bayesieve.cli.outputs import files_read
from bayesieve.errors import Message
from bayesieve.io import note_kind
from bayesieve.selection import Selection, results_hash
from bayesieve.utils import replacing

_PACKAGES = ("numpy", "scipy", "numba", "polars")
_NOT_RESULTS = {"memory", "threads", "quiet", "verbose", "json_log", "out", "report", "report_values", "manifest",
                "config_out"}  # fmt: skip


_NOT_OF_THE_TABLE = ("out", "manifest", "config", "config_out", "report", "quiet", "verbose", "json_log")


def file_hash(path: str | os.PathLike[str]) -> str:
    """SHA-256 of a file."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def manifest_content(
    command: str, settings: Mapping[str, Any], given: Input, talk: Talk, selection: Selection
) -> dict[str, Any]:
    """Return everything that is needed to repeat a run and to see that it gave the same."""
    low, high = selection.false_positives.interval(0.9)
    return {
        "format": "bayesieve-manifest",
        "schema_version": 1,
        "command": command,
        "created": time.strftime("%Y-%m-%dT%H:%M:%S%z"),
        "inputs": [
            {"path": name, "bytes": os.path.getsize(name), "sha256": file_hash(name)}
            for name in files_read(settings)
        ],
        "classes": given.class_counts,
        "label_map": given.label_map,
        "sites": list(given.sites),
        "described": given.described,
        "settings": dict(settings),
        "settings_hash": hashlib.sha256(
            json.dumps({k: v for k, v in settings.items() if k not in _NOT_RESULTS}, sort_keys=True).encode()
        ).hexdigest(),
        "results": {
            "sha256": results_hash(selection),
            "n_features": selection.posterior.n_features,
            "n_selected": selection.n_selected,
            "rule": selection.rule,
            "expected_false_positives": selection.expected_false_positives,
            "false_positives_90": [int(low), int(high)],
            "expected_by_chance": selection.expected_by_chance,
            "n_degenerate": int(selection.posterior.degenerate.sum()),
            "notes": _notes(selection),
        },
        "warnings": _warnings(talk),
        "versions": {"bayesieve": __version__, "python": platform.python_version()}
        | {name: importlib.metadata.version(name) for name in _PACKAGES},
        "platform": platform.platform(),
        "seconds": _seconds(talk),
    }


def finished(content: Mapping[str, Any], talk: Talk) -> dict[str, Any]:
    """Return a manifest with what has been measured and said since it was made."""
    return {**content, "warnings": _warnings(talk), "seconds": _seconds(talk)}


def lasting(content: Mapping[str, Any]) -> dict[str, Any]:
    """Return what is the same in every repetition of a run: no dates, no times, no name of the report."""
    settings = {name: value for name, value in content["settings"].items() if name != "report"}
    kept = {key: value for key, value in content.items() if key not in ("created", "seconds")}
    return kept | {"settings": settings}


def about_settings(selection: Selection, settings: Mapping[str, Any]) -> dict[str, Any]:
    """What a result file says of its origin, so that a report can be written of it alone."""
    plain = {name: value for name, value in plain_settings(settings).items() if name not in _NOT_OF_THE_TABLE}
    return {
        "bayesieve_version": __version__,
        "n_features": selection.posterior.n_features,
        "settings": plain,
        "notes": _notes(selection),
    }


def _seconds(talk: Talk) -> dict[str, float]:
    return {name: round(seconds, 4) for name, seconds in talk.timings.items()}


def _notes(selection: Selection) -> list[dict[str, str]]:
    """Sentences about the findings, each with the kind of finding that it is about."""
    return [
        {"kind": note_kind(note), "text": note.render(command=True)}
        for finding in selection.posterior.findings
        for note in map(Message.of, finding.notes())
    ]


def _warnings(talk: Talk) -> list[str]:
    return [said.render(command=True) for said in talk.warned]


def write_content(path: str | os.PathLike[str], content: Mapping[str, Any]) -> None:
    """Write a manifest."""
    with replacing(path) as file:
        file.write((json.dumps(content, indent=1, ensure_ascii=False) + "\n").encode())
