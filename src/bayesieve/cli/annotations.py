"""Columns about the features, from a table of their own (``--features``)."""

from __future__ import annotations

import os
from collections.abc import Sequence

from bayesieve.errors import FileError
from bayesieve.io.columns import read_columns

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
    return {name: table.keyed(key, name) for name in table.names if name != key}
