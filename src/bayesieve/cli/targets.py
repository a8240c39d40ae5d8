"""Files that a command writes: checked before the work, and never one that it reads."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from bayesieve.errors import OptionError
from bayesieve.io.atomic import check_writable
from bayesieve.io.columns import split_reference

_READ = (
    "table", "files", "labels", "blocks", "pairs", "exposures", "features", "prior", "prior_probability", "config",
)  # fmt: skip


def files_read(settings: Mapping[str, Any]) -> dict[str, str]:
    """Return the files that a command reads, each with the option that names it."""
    found: dict[str, str] = {}
    for name in _READ:
        values = settings.get(name)
        for value in values if isinstance(values, list) else [values]:
            path = split_reference(os.fspath(value))[0] if value is not None else ""
            if path and os.path.isfile(path) and path not in found:
                found[path] = name
    return found


def check_targets(settings: Mapping[str, Any], names: Sequence[str]) -> None:
    """Raise if an output cannot be written, or would replace an input or another output."""
    seen = {os.path.realpath(path): f"read as {_option(name)}" for path, name in files_read(settings).items()}
    for name in names:
        path = settings.get(name)
        if path is None:
            continue
        check_writable(path)
        place = os.path.realpath(path)
        if place in seen:
            raise OptionError(
                f"{_option(name)} would overwrite {path}, which is {seen[place]}. Choose another name."
            )
        seen[place] = f"also {_option(name)}"


def _option(name: str) -> str:
    return name.upper() if name in ("table", "files") else f"--{name.replace('_', '-')}"
