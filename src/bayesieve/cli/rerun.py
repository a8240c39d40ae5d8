"""A screen run again from its manifest: the same inputs, the same settings, and whether the same came out."""

from __future__ import annotations

import inspect
import os
from collections.abc import Mapping
from typing import Any

import typer

from bayesieve import __version__
from bayesieve.cli.choices import (
    RULE_NUMBERS,
    check_findings,
    check_prior_name,
    chosen_rule,
    model_of_values,
)
from bayesieve.cli.console import Talk
from bayesieve.cli.inputs import Input, check_classes, read_input
from bayesieve.cli.manifest import file_hash
from bayesieve.cli.options import plain_params
from bayesieve.cli.screen import selected
from bayesieve.errors import DataWarning, FileError
from bayesieve.selection import Rule, Selection, results_hash
from bayesieve.utils import listed, warn


def screen_defaults() -> dict[str, Any]:
    """Options of ``bayesieve screen`` and what they are if they are not given."""
    from bayesieve.cli.app import screen  # noqa: PLC0415 - the commands know this module

    parameters = inspect.signature(screen).parameters.values()
    return plain_params({p.name: p.default for p in parameters if p.default is not p.empty})


def rule_of(settings: Mapping[str, Any]) -> Rule:
    """Return the rule that settings of a screen name."""
    return chosen_rule(settings.get("criterion"), {name: settings.get(name) for name in RULE_NUMBERS})


def screened(settings: Mapping[str, Any], talk: Talk) -> tuple[Input, Rule, Selection]:
    """Read and screen as ``bayesieve screen`` does, and write nothing."""
    rule = rule_of(settings)
    check_prior_name(settings["prior"], settings["prior_ratio"], settings["model"])
    check_findings(settings)
    model = model_of_values(settings)
    with talk.timed("read"):
        given = read_input(settings, talk, model)
    check_classes(given)
    with talk.timed("screen"):
        return given, rule, selected(settings, given, model, rule, talk)


def recorded_settings(content: Mapping[str, Any], path: str) -> dict[str, Any]:
    """Return all settings of the run a manifest records; one that is not understood is an error."""
    from typer.main import get_command  # noqa: PLC0415

    from bayesieve.cli.app import app  # noqa: PLC0415 - the commands know this module

    defaults, recorded = screen_defaults(), dict(content["settings"])
    unknown = [name for name in recorded if name not in {*defaults, "table"}]
    if unknown or "table" not in recorded:
        versions = content.get("versions")
        writer = versions.get("bayesieve") if isinstance(versions, dict) else None
        what = f"there is no setting {listed(unknown)}" if unknown else "it names no table"
        raise FileError(
            f"{path} cannot be run again: {what}. It was written by bayesieve {writer or 'of another version'}, "
            f"this is {__version__}. Give the result table instead."
        )
    commands: Any = get_command(app)
    command = commands.commands["screen"]
    context = typer.Context(command)
    for parameter in command.params:
        if parameter.name in recorded and parameter.name != "config":
            try:
                parameter.process_value(context, recorded[parameter.name])
            except (typer.BadParameter, TypeError, ValueError) as error:
                raise FileError(
                    f"{path} cannot be run again: its setting {parameter.name} = {recorded[parameter.name]!r} is "
                    f"not understood ({str(error).rstrip('.')}). Give the result table instead."
                ) from None
    kept = {**defaults, **recorded}
    return kept | dict.fromkeys(("out", "manifest", "config", "config_out", "report"))


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


def compared(content: Mapping[str, Any], path: str, selection: Selection, n_inputs: int) -> str:
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
    warn(
        DataWarning,
        said,
    )
    return said
