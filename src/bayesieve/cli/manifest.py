"""The manifest of a run: what went in, what was set, what came out; and whether a repetition gave the same."""

from __future__ import annotations

import hashlib
import importlib.metadata
import json
import os
import platform
import time
import warnings
from collections.abc import Iterable, Mapping
from typing import Any

from bayesieve import __version__
from bayesieve.cli.console import Talk
from bayesieve.cli.inputs import Input
from bayesieve.cli.outputs import RunOptions, files_read
from bayesieve.cli.words import for_the_command_line
from bayesieve.errors import DataWarning, FileError, OptionError
from bayesieve.io import note_kind
from bayesieve.screening import ScreenSpec
from bayesieve.selection import Selection, results_hash
from bayesieve.utils import listed, replacing

_PACKAGES = ("numpy", "scipy", "numba", "polars")
_NO_RESULT = ("report_values", "memory", "threads")
_HIDDEN = (
    "Columns of --ignore and labels of --classes that may be ids of samples are not named; the words in capitals "
    "stand for them. To repeat the run, screen the table again and name them. The hash is the SHA-256 of the "
    "names, sorted, with a NUL between."
)


def file_hash(path: str | os.PathLike[str]) -> str:
    """SHA-256 of a file."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def manifest_content(given: Input, run: RunOptions, talk: Talk, selection: Selection) -> dict[str, Any]:
    """Return everything that is needed to repeat a run and to see that it gave the same; no id of a sample.

    Inputs are hashed if the manifest is a file of its own, by which they can be checked.
    """
    low, high = selection.false_positives.interval(0.9)
    return {
        "format": "bayesieve-manifest",
        "schema_version": 1,
        "command": "screen",
        "created": time.strftime("%Y-%m-%dT%H:%M:%S%z"),
        "inputs": [_input(name, hashed=run.manifest is not None) for name in files_read(given.spec, run)],
        "classes": given.class_counts,
        "label_map": {} if "classes" in given.ids_in else given.label_map,
        "sites": list(given.sites),
        "described": given.discreet,
        "settings": {**given.public_spec().to_dict(defaults=True), **run.to_dict()},
        "settings_hash": _settings_hash(given.spec, run),
        **_hidden(given),
        "results": {
            "sha256": results_hash(selection),
            "n_features": selection.posterior.n_features,
            "n_selected": selection.n_selected,
            "rule": selection.rule,
            "expected_false_positives": selection.expected_false_positives,
            "false_positives_90": [int(low), int(high)],
            "expected_by_chance": selection.expected_by_chance,
            "n_degenerate": int(selection.posterior.degenerate.sum()),
            "notes": [{**note, "text": _redact(note["text"])} for note in _notes(selection)],
        },
        "warnings": [_redact(text) for text in talk.warned(ids=False)],
        "versions": {"bayesieve": __version__, "python": platform.python_version()}
        | {name: importlib.metadata.version(name) for name in _PACKAGES},
        "platform": platform.platform(),
        "seconds": _seconds(talk),
    }


def _redact(text: str) -> str:
    from bayesieve.report import without_ids  # noqa: PLC0415 - most runs write neither report nor manifest

    return without_ids([text])[0]


def _input(path: str, *, hashed: bool) -> dict[str, Any]:
    size = {"path": path, "bytes": os.path.getsize(path)}
    return size | ({"sha256": file_hash(path)} if hashed else {})


def _settings_hash(spec: ScreenSpec, run: RunOptions) -> str:
    kept = {name: value for name, value in run.lasting().items() if name not in _NO_RESULT}
    return hashlib.sha256(json.dumps(spec.to_dict(defaults=True) | kept, sort_keys=True).encode()).hexdigest()


def _hidden(given: Input) -> dict[str, Any]:
    """Say which options are not told because they may name samples: how many names, and their hash."""
    public, labels = given.public_spec(), [label for label in given.label_map if label != "*"]
    names = {"ignore": given.spec.ignore} if public.ignore != given.spec.ignore else {}
    names |= {"classes": tuple(labels)} if public.classes != given.spec.classes else {}
    if not names:
        return {}
    return {"hidden": {name: {"n": len(each), "sha256": _hash(each)} for name, each in names.items()},
            "hidden_note": _HIDDEN}  # fmt: skip


def _hash(names: Iterable[str]) -> str:
    return hashlib.sha256("\0".join(sorted(names)).encode("utf-8", "surrogatepass")).hexdigest()


def same_in_every_run(content: Mapping[str, Any]) -> dict[str, Any]:
    """Return what is the same in every repetition of a run: no dates, no times, no name of the report."""
    settings = {name: value for name, value in content["settings"].items() if name != "report"}
    kept = {key: value for key, value in content.items() if key not in ("created", "seconds")}
    return kept | {"settings": settings}


def result_settings(selection: Selection, given: Input, run: RunOptions) -> dict[str, Any]:
    """What a result file says of its origin, so that a report can be written of it alone."""
    spec = given.spec.redacted(ignore=False, classes="classes" in given.ids_in)
    return {
        "bayesieve_version": __version__,
        "n_features": selection.posterior.n_features,
        "settings": {**spec.to_dict(defaults=True), **run.lasting()},
        "notes": _notes(selection),
    }


def _seconds(talk: Talk) -> dict[str, float]:
    return {name: round(seconds, 4) for name, seconds in talk.timings.items()}


def _notes(selection: Selection) -> list[dict[str, str]]:
    """Sentences about the findings, each with the kind of finding that it is about."""
    return [
        {"kind": note_kind(finding), "text": for_the_command_line(note)}
        for finding in selection.posterior.findings
        for note in finding.notes()
    ]


def write_manifest(path: str | os.PathLike[str], content: Mapping[str, Any], talk: Talk) -> None:
    """Write a manifest, with the warnings and timings since it was made."""
    since = {"warnings": [_redact(text) for text in talk.warned(ids=False)], "seconds": _seconds(talk)}
    text = json.dumps({**content, **since}, indent=1, ensure_ascii=False)
    with replacing(path) as file:
        file.write(f"{text}\n".encode())


def recorded_run(content: Mapping[str, Any], path: str) -> tuple[ScreenSpec, RunOptions]:
    """Return the specification and the options of the run that a manifest records; raise if it cannot be repeated.

    Files of the run itself are left out: a repetition writes its own.
    """
    settings, versions = content["settings"], content.get("versions")
    if content.get("hidden"):
        raise FileError(
            f"{path} cannot be run again: {listed(list(content['hidden']))} of the run may name samples, which a "
            "manifest does not. Screen the table again with all its options, or give the result table instead."
        )
    others = set(RunOptions.__slots__)
    unknown = [name for name in settings if name not in {*ScreenSpec.names(), *others}]
    if unknown or not settings.get("table"):
        writer = versions.get("bayesieve") if isinstance(versions, dict) else None
        what = f"there is no setting {listed(unknown)}" if unknown else "it names no table"
        raise FileError(
            f"{path} cannot be run again: {what}. It was written by bayesieve {writer or 'of another version'}, "
            f"this is {__version__}. Give the result table instead."
        )
    try:
        spec = ScreenSpec.from_dict({name: value for name, value in settings.items() if name not in others})
    except OptionError as error:
        why = f"{path} cannot be run again, because a setting is not understood: "
        raise FileError(why, *error.message.text, hint="Give the result table instead.") from None
    features = settings.get("features")
    return spec, RunOptions(features=None if features is None else str(features))


def check_inputs(content: Mapping[str, Any], path: str) -> int:
    """Return the number of inputs of a run, all of them there and unchanged; raise otherwise."""
    gone, changed = [], []
    for each in content["inputs"]:
        name, wanted = (each.get("path"), each.get("sha256")) if isinstance(each, dict) else (None, None)
        if not isinstance(name, str) or not os.path.isfile(name):
            gone.append(str(name))
        elif file_hash(name) != wanted:
            changed.append(name)
    if gone or changed:
        said = [
            f"{', '.join(names)} {word}" for names, word in ((gone, "not found"), (changed, "changed")) if names
        ]
        n = len(content["inputs"])
        raise FileError(
            f"{path} cannot be run again: {len(gone) + len(changed)} of {n} input{'s' * (n > 1)} cannot be used "
            f"({'; '.join(said)}). Run the command in the folder where the screen was run, with the files as they "
            "were; or give the result table instead: bayesieve report RESULT."
        )
    return len(content["inputs"])


def compare_results(content: Mapping[str, Any], path: str, selection: Selection, n_inputs: int) -> str:
    """Say whether a run gave what its manifest records; a difference is warned of, too."""
    recorded, now = content["results"], results_hash(selection)
    inputs = f"its {n_inputs} inputs are unchanged" if n_inputs > 1 else "its input is unchanged"
    if recorded.get("sha256") == now:
        return f"Run again from {path}: {inputs}, and the results are the same to the last bit (SHA-256 {now})."
    versions = content.get("versions")
    writer = versions.get("bayesieve") if isinstance(versions, dict) else "another version"
    said = (
        f"Run again from {path}: {inputs}, but the results differ from those recorded (SHA-256 {now}, recorded "
        f"{recorded.get('sha256')}): {selection.n_selected:,} features are selected, {recorded.get('n_selected')} "
        f"were. The record is of bayesieve {writer} on {content.get('platform')}; this is {__version__}."
    )
    warnings.warn(said, DataWarning, stacklevel=2)
    return said
