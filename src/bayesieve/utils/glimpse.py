"""A result at a glance: a few lines and a small table, as text in a terminal and as HTML in a notebook."""

from __future__ import annotations

import html
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

_LONGEST, _WIDTH, _MOST = 24, 78, 590  # characters of a name, of a line, of the whole text


@dataclass(frozen=True, slots=True)
class Glimpse:
    """What is shown of a result.

    Parameters
    ----------
    title, lines
        What it is, and what else there is to say.
    columns
        A small table, as texts.
    """

    title: str
    lines: Sequence[str] = ()
    columns: Mapping[str, Sequence[str]] = field(default_factory=dict)

    def text(self) -> str:
        """Return the lines and the table as text, under 600 characters whatever the names."""
        said = [textwrap.shorten(self.title, _WIDTH, placeholder="…")]
        said += [f"  {textwrap.shorten(line, _WIDTH - 2, placeholder='…')}" for line in self.lines]
        cells = [[name, *map(shorten, column)] for name, column in self.columns.items()]
        widths = [max(map(len, column)) for column in cells]
        for row in zip(*cells, strict=True):
            said.append("  " + "  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)))
        while sum(map(len, said)) + len(said) > _MOST and len(said) > 1:
            said.pop()
        return "\n".join(line.rstrip() for line in said)

    def html(self) -> str:
        """Return the same as HTML that takes the colours of the page around it, light or dark."""
        rule = "border-bottom:1px solid currentColor"
        cell = "text-align:left;padding:0.1em 0.9em 0.1em 0"
        parts = [f"<div><strong>{html.escape(self.title)}</strong></div>"]
        parts += [f"<div>{html.escape(line)}</div>" for line in self.lines]
        if self.columns:
            head = "".join(f'<th style="{cell};{rule}">{html.escape(name)}</th>' for name in self.columns)
            rows = "".join(
                "<tr>" + "".join(f'<td style="{cell}">{html.escape(shorten(text))}</td>' for text in row) + "</tr>"
                for row in zip(*self.columns.values(), strict=True)
            )
            style = "border-collapse:collapse;margin-top:0.4em;background:transparent;color:inherit"
            parts.append(f'<table style="{style}"><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>')
        return f"<div>{''.join(parts)}</div>"


class Glimpsed(Protocol):
    """A result that is shown at a glance instead of number by number; its dataclass says ``repr=False``."""

    __slots__ = ()

    def _glimpse(self) -> Glimpse:
        """Return what is shown."""
        ...

    def __repr__(self) -> str:
        return self._glimpse().text()

    def _repr_html_(self) -> str:
        return self._glimpse().html()


def shorten(text: object, longest: int = _LONGEST) -> str:
    """Return a text in one line, cut where it is too long."""
    line = " ".join(str(text).split())
    return line if len(line) <= longest else f"{line[: longest - 1]}…"


def numbers(values: object, form: str) -> list[str]:
    """Return numbers as texts, each in a format."""
    return [format(float(value), form) for value in np.asarray(values, dtype=np.float64).ravel()]


def classes_in_words(classes: Sequence[object], counts: Sequence[int]) -> str:
    """Name the classes with their numbers of values, the first six of them."""
    named = [f"{shorten(label)} ({n:,})" for label, n in zip(classes, counts, strict=True)]
    return ", ".join(named[:6]) + (f" and {len(named) - 6:,} more" if len(named) > 6 else "")


def glimpse_of_classes(statistics: Any) -> Glimpse:
    """Return the classes of sufficient statistics with their numbers of values."""
    title = f"{type(statistics).__name__} of {statistics.n_features:,} features"
    counts = [int(n) for n in np.max(statistics.counts, axis=1)]
    return Glimpse(title, (f"classes {classes_in_words(statistics.classes, counts)}",))
