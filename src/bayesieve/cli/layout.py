"""Texts and tables of the console: wrapped lines, columns under their headings."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

_WIDTH = 79


def wrap(text: str) -> list[str]:
    """Break a text into lines, between words."""
    return textwrap.wrap(text, _WIDTH, break_long_words=False, break_on_hyphens=False)


def short(name: str, most: int = 30) -> str:
    """Cut a long name."""
    return name if len(name) <= most else name[: most - 3] + "..."


def align(columns: Sequence[tuple[str, Sequence[str]]], most: int | None = None) -> list[str]:
    """Lay out the first rows of columns under headings: the first to the left, the others to the right."""
    shown = [(head, list(cells)[:most]) for head, cells in columns]
    widths = [max([len(head), *map(len, cells)]) for head, cells in shown]
    rows = zip(*([head, *cells] for head, cells in shown), strict=True)
    lines = [
        "  ".join(
            f"{cell:<{width}}" if k == 0 else f"{cell:>{width}}"
            for k, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]
    more = 0 if most is None else len(columns[0][1]) - most
    return [*lines, f"... and {more:,} more"] if more > 0 else lines


def unsigned_zero(value: float, form: str) -> str:
    """Write a number; one that rounds to zero has no sign."""
    text = format(value, form)
    return text.lstrip("+-") if not text.strip("+-0.") else text
