"""Settings of a run as a TOML file, read and written."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping
from typing import Any

from bayesieve import __version__
from bayesieve.errors import OptionError
from bayesieve.utils import did_you_mean, read_toml, replacing, toml_line

_NOT_KEPT = {"config", "config_out"}
_NOT_REPEATED = {
    "out",
    "report",
    "manifest",
    "quiet",
    "verbose",
    "json_log",
}  # a repetition must not overwrite the first run


def read_settings(path: str | os.PathLike[str], known: Collection[str], command: str) -> dict[str, Any]:
    """Read settings and check their names; dashes and underscores are the same."""
    settings = {}
    for key, value in read_toml(path).items():
        name = key.replace("-", "_")
        if name == "bayesieve_version" or (name == "command" and value == command):
            continue
        if name == "command":
            raise OptionError(
                f"{os.fspath(path)} holds settings of bayesieve {value}, not of bayesieve {command}."
            )
        if name not in known:
            raise OptionError(
                f"{os.fspath(path)}: there is no setting {key!r}.{did_you_mean(name, known)} Settings are "
                "called as the options of the command are, without the leading dashes."
            )
        if isinstance(value, dict):
            raise OptionError(f"{os.fspath(path)}: {key!r} is a table; settings are plain values.")
        settings[name] = value
    return settings


def write_settings(path: str | os.PathLike[str], command: str, settings: Mapping[str, Any]) -> None:
    """Write settings so that they can be read again, without what is not set and without names of outputs."""
    kept = {key.replace("_", "-"): value for key, value in settings.items() if key not in _NOT_REPEATED}
    lines = [toml_line(*pair) for pair in {"bayesieve_version": __version__, "command": command, **kept}.items()]
    with replacing(path) as file:
        file.write(("\n".join(lines) + "\n").encode())


def plain_settings(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Settings as plain values (texts, numbers, lists), without those that are not set."""
    return {
        key: value
        for key, value in settings.items()
        if value is not None and value not in ([], ()) and key not in _NOT_KEPT
    }
