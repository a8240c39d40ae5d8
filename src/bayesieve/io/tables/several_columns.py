"""Options that name several columns about the samples: the role of each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bayesieve.data import named_columns, plain_name
from bayesieve.io.tables.columns import is_reference, split_reference
from bayesieve.io.tables.description import label_files
from bayesieve.io.tables.table import ReadOptions
from bayesieve.utils import OptionError, option

MOST = 20  # columns of one option


def roles_of(given: Mapping[str, Any], options: ReadOptions) -> dict[str, str]:
    """Return columns by role: the first of an option has its name, further ones a number at its end.

    A name that the label file knows is looked up there, any other in the table.
    """
    found: dict[str, str] = {}
    for name, columns in given.items():
        names = named_columns(columns) if columns is not None else []
        if names is None or len(names) > MOST or len(set(names)) < len(names):
            raise OptionError(
                option(name), f" takes the names of up to {MOST} different columns, not {columns!r}."
            )
        for k, column in enumerate(names):
            found[name if not k else f"{name}{k + 1}"] = plain_name(column)
    plain = [column for column in found.values() if not is_reference(column)]
    if not plain or options.labels is None or not is_reference(options.labels):
        return found
    path = split_reference(options.labels)[0]
    known = {column for file in label_files(options) for column in file.names}
    return {role: f"{path}:{column}" if column in known else column for role, column in found.items()}


def short_names(columns: Any) -> tuple[str, ...]:
    """Return names of covariates without the files that they are of; ``C(NAME)`` keeps its mark."""
    found = []
    for name in (named_columns(columns) or ()) if columns is not None else ():
        own = plain_name(name)
        short = (split_reference(own)[1] or own).rpartition(":")[2] if is_reference(own) else own
        found.append(short if own == name else f"C({short})")
    return tuple(found)


def labels_or_outcome(labels: str | None, outcome: str | None) -> str | None:
    """Return who says what samples are compared by: classes, or an outcome in their place."""
    if outcome is not None and labels is not None:
        raise OptionError(
            option("labels"), " and ", option("outcome"), " exclude each other.", hint="Leave one out."
        )
    return labels if outcome is None else outcome
