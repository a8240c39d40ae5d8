"""Second thoughts about the parts that fields seem to play: what looks like a mistake is said."""

from __future__ import annotations

import re
import warnings
from collections.abc import Sequence

from bayesieve.errors import DataWarning, FileError
from bayesieve.io.roles import listed

COMMA = re.compile(r"[+-]?[0-9]+,[0-9]+")
THOUSANDS = re.compile(r"[+-]?[0-9]{1,3}([,' ][0-9]{3})+(\.[0-9]+)?")
_MARKED = re.compile(r"[<>~=≤≥]?\s*[+-]?[0-9][0-9,.' ]*(e[+-]?[0-9]+)?\s*%?", re.IGNORECASE)
_WHOLE = re.compile(r"[0-9]{1,15}")


def doubt_texts(path: str, columns: dict[str, Sequence[str]], decimal: str) -> None:
    """Doubt that columns are mere text when their cells look like numbers written in another way.

    Parameters
    ----------
    path
        The file.
    columns
        Cells of the columns that would be left out, by name.
    decimal
        The decimal mark that was assumed.
    """
    commas, marked = [], {}
    for name, cells in columns.items():
        filled = [cell for cell in cells if cell]
        if decimal == "." and _most(COMMA, filled):
            commas.append(name)
        elif _most(_MARKED, filled) or _most(THOUSANDS, filled):
            marked[name] = filled[0]
    if commas:
        raise FileError(
            f"{path}: {len(commas):,} column(s) hold numbers with decimal commas: {listed(commas, 3)}. Say so: "
            "--decimal ,"
        )
    if marked:
        name, cell = next(iter(marked.items()))
        warnings.warn(
            f"{path}: {len(marked):,} column(s) that are left out hold numbers with other signs, for example "
            f"{cell!r} in {name!r}. Write plain numbers if they are measurements.",
            DataWarning,
            stacklevel=2,
        )


def _most(pattern: re.Pattern[str], cells: Sequence[str]) -> bool:
    return bool(cells) and sum(pattern.fullmatch(cell) is not None for cell in cells) > len(cells) / 2


def is_running_number(cells: Sequence[str]) -> bool:
    """Tell whether cells count 1, 2, 3, ...: a number of the line, and no measurement.

    Examples
    --------
    >>> from bayesieve.io.text.doubts import is_running_number
    >>> is_running_number(["7", "8", "9"]), is_running_number(["7", "9", "8"])
    (True, False)
    """
    if len(cells) < 3 or not all(_WHOLE.fullmatch(cell) for cell in cells):
        return False
    first = int(cells[0])
    return all(int(cell) == first + k for k, cell in enumerate(cells))


def doubt_samples(path: str, names: Sequence[str]) -> None:
    """Raise if columns that the label file names as samples hold text."""
    if names:
        raise FileError(
            f"{path}: {len(names):,} sample(s) that the label file names hold text instead of numbers: "
            f"{listed(names, 3)}. Correct their columns, or leave them out: --ignore {names[0]!r}."
        )


def doubt_rows(path: str, names: Sequence[str], label: str) -> None:
    """Warn of rows of numbers above the labels: they may describe the samples, and count as features."""
    if names:
        warnings.warn(
            f"{path}: {len(names):,} row(s) above {label!r} hold numbers and are taken for features: "
            f"{listed(names, 3)}. If they describe the samples, leave them out: --ignore {names[0]!r}.",
            DataWarning,
            stacklevel=2,
        )
