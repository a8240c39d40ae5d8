"""A table of the report: cells as they are for its file, and as texts for the page."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

_NONE = "-"


@dataclass(frozen=True, slots=True)
class Section:
    """A table with what is to be said about it.

    Parameters
    ----------
    name
        Name of its CSV file.
    title, lead
        Heading, and a paragraph.
    head, rows
        Names of the columns, and cells: texts, numbers, or None where there is nothing.
    """

    name: str
    title: str
    lead: str
    head: tuple[str, ...]
    rows: list[tuple[Any, ...]]

    def shown(self) -> list[tuple[str, ...]]:
        """Return the cells as texts."""
        return [tuple(map(show, row)) for row in self.rows]


def show(value: Any) -> str:
    """Write a cell: whole numbers with commas, other numbers with three digits."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return _NONE
    if isinstance(value, (bool, str)):
        return str(value)
    if isinstance(value, (int, np.integer)):
        return f"{value:,}"
    return f"{value:.3g}"


def columns_of(section: Section) -> dict[str, Sequence[Any]]:
    """Return a table as columns, for its file."""
    cells = zip(*section.rows, strict=True) if section.rows else [()] * len(section.head)
    return dict(zip(section.head, map(list, cells), strict=True))
