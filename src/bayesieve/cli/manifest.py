"""The manifest of a run: what went in, what was set, what came out; and whether a repetition gave the same."""

from __future__ import annotations

import hashlib
import json
import os
import time
import warnings
from dataclasses import replace
from typing import Any

from bayesieve import __version__
from bayesieve.cli.console import Talk
from bayesieve.cli.inputs import Input
from bayesieve.cli.outputs import RunOptions, files_read
from bayesieve.io import record_bytes
from bayesieve.screening import RunRecord, ScreenSpec
from bayesieve.selection import Selection, results_hash
from bayesieve.utils import DataWarning, FileError, hash_of_written, list_names, read_json, replacing, warn

_NO_RESULT = ("report_values", "memory", "threads")
_HIDDEN = (
    "Columns of --ignore and labels of --classes that may be ids of samples are not named; the words in capitals "
    "stand for them. To repeat the run, screen the table again and name them. The hash is the SHA-256 of the "
    "names, sorted, with a NUL between."
)


file_hash = hash_of_written  # of inputs


def make_record(source: Input, run: RunOptions, talk: Talk, selection: Selection) -> RunRecord:
    """Return what is known of a run after the screen."""
    options, warned = run.lasting(), tuple(talk.messages)
    record = replace(source.record, options=options, warnings=warned).with_result(selection)
    kept = {name: value for name, value in options.items() if name not in _NO_RESULT}
    settings = json.dumps(source.spec.to_dict(defaults=True) | kept, sort_keys=True)
    return replace(record, settings_hash=hashlib.sha256(settings.encode()).hexdigest())


def with_inputs(record: RunRecord, run: RunOptions) -> RunRecord:
    """Add the files that were read; hashed if there is a manifest, by which they can be checked."""
    assert record.spec is not None
    read = files_read(record.spec, run)
    return replace(record, inputs=tuple(_input(name, hashed=run.manifest is not None) for name in read))


def _input(path: str, *, hashed: bool) -> dict[str, Any]:
    size = {"path": path, "bytes": os.path.getsize(path)}
    return size | ({"sha256": file_hash(path)} if hashed else {})


def write_manifest(path: str | os.PathLike[str], record: RunRecord, run: RunOptions, talk: Talk) -> None:
    """Write the manifest of a run: its record with dates and times; it names no sample, and no folder."""
    public = replace(record, options=run.to_dict(), warnings=tuple(talk.messages)).redacted().without_folders()
    content = public.to_dict() | {
        "format": "bayesieve-manifest",
        "command": "screen",
        "created": time.strftime("%Y-%m-%dT%H:%M:%S%z"),
        "seconds": {name: round(seconds, 4) for name, seconds in talk.timings.items()},
    }
    written = {name: getattr(run, name) for name in ("out", "report", "config_out")}
    content["outputs"] = {
        name: {"file": os.path.basename(file), "sha256": hash_of_written(file)}
        for name, file in written.items()
        if file is not None and (os.path.isfile(file) or not os.path.exists(file))
    }
    if public.hidden:
        content["hidden_note"] = _HIDDEN
    with replacing(path) as file:
        file.write(record_bytes(content))


def check_outputs_of(path: str | os.PathLike[str]) -> None:
    """Warn of files beside a manifest that are not those which were written together with it."""
    content = read_json(path)
    outputs = content.get("outputs") if isinstance(content, dict) else None
    found: dict[str, str] = {}
    for each in outputs.values() if isinstance(outputs, dict) else ():
        if isinstance(each, dict) and isinstance(each.get("file"), str):
            beside = os.path.join(os.path.dirname(path), os.path.basename(each["file"]))
            if os.path.isfile(beside) and hash_of_written(beside) != each.get("sha256"):
                found[beside] = each["file"]
    if found:
        are = "are" if len(found) > 1 else "is"
        warn(
            DataWarning,
            f"{list_names(list(found.values()))} beside {os.fspath(path)} {are} not of the run that the manifest "
            "records: changed since, written by another run, or a run was stopped while its files were renamed.",
            hint="Run the command again to have files that belong together.",
            kind="other-run",
        )


def restore_run(record: RunRecord, path: str) -> tuple[ScreenSpec, RunOptions]:
    """Return the specification and the options of the run that a manifest records; raise if it cannot be repeated.

    Files of the run itself are left out: a repetition writes its own.
    """
    if record.hidden:
        raise FileError(
            f"{path} cannot be run again: {list_names(list(record.hidden))} of the run may name samples, which a "
            "manifest does not. Screen the table again with all its options, or give the result table instead."
        )
    unknown = [name for name in record.options if name not in RunOptions.__slots__]
    if unknown or record.spec is None or not record.spec.table:
        what = f"there is no setting {list_names(unknown)}" if unknown else "it names no table"
        raise FileError(
            f"{path} cannot be run again: {what}. It was written by bayesieve "
            f"{record.versions.get('bayesieve', 'of another version')}, this is {__version__}. Give the result "
            "table instead."
        )
    features, label = (
        None if (value := record.options.get(name)) is None else str(value)
        for name in ("features", "label_column")
    )
    return record.spec, RunOptions(features=features, label_column=label)


def check_inputs(record: RunRecord, path: str) -> int:
    """Return the number of inputs of a run, all of them there and unchanged; raise otherwise."""
    gone, changed = [], []
    for each in record.inputs:
        name, wanted = each.get("path"), each.get("sha256")
        if not isinstance(name, str) or not os.path.isfile(name):
            gone.append(str(name))
        elif file_hash(name) != wanted:
            changed.append(name)
    if gone or changed:
        changes = [
            f"{', '.join(names)} {word}" for names, word in ((gone, "not found"), (changed, "changed")) if names
        ]
        n = len(record.inputs)
        raise FileError(
            f"{path} cannot be run again: {len(gone) + len(changed)} of {n} input{'s' * (n > 1)} cannot be used "
            f"({'; '.join(changes)}). Run the command in the folder where the screen was run, with the files as "
            "they were; or give the result table instead: bayesieve report RESULT."
        )
    return len(record.inputs)


def compare_results(record: RunRecord, path: str, selection: Selection, n_inputs: int) -> str:
    """Say whether a run gave what its manifest records; a difference is warned of, too."""
    now = results_hash(selection)
    inputs = f"its {n_inputs} inputs are unchanged" if n_inputs > 1 else "its input is unchanged"
    if record.results_hash == now:
        return f"Run again from {path}: {inputs}, and the results are the same to the last bit (SHA-256 {now})."
    text = (
        f"Run again from {path}: {inputs}, but the results differ from those recorded (SHA-256 {now}, recorded "
        f"{record.results_hash}): {selection.n_selected:,} features are selected, "
        f"{record.results.get('n_selected')} "
        f"were. The record is of bayesieve {record.versions.get('bayesieve')} on {record.platform}; this is "
        f"{__version__}."
    )
    warnings.warn(text, DataWarning, stacklevel=2)
    return text
