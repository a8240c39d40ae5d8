"""Files that a command reads beside the table and writes: checked before the work."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from bayesieve.errors import FileError, OptionError
from bayesieve.io import read_columns, split_reference
from bayesieve.utils import check_writable

Annotations = dict[str, dict[str, str | None]]


def annotation_file(
    path: str | os.PathLike[str] | None, names: Sequence[str], encoding: str | None = None
) -> Annotations:
    """Columns of a table of annotations, each by feature id; none without a file."""
    if path is None:
        return {}
    table = read_columns(path, encoding=encoding)
    key, known = table.id_column(names)
    if not known:
        raise FileError(
            f"{path} (--features) names none of the features: it has ids like "
            f"{table.column(table.names[0])[:1]}, the table {names[0]!r}. Use the same ids in both."
        )
    return {name: table.by_key(key, name) for name in table.names if name != key}


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
