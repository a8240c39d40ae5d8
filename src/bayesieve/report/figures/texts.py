"""Texts in figures: names of any kind made readable, and numbers for people."""

from __future__ import annotations

import math
import textwrap
import unicodedata
from typing import Any

_LONGEST, _MINUS = 28, "\N{MINUS SIGN}"


def plain(name: Any, longest: int = _LONGEST) -> str:
    r"""Turn a name into one line of readable text: no control characters, not too long.

    Examples
    --------
    >>> from bayesieve.report.figures.texts import plain
    >>> plain("A\nB\t$x$"), plain("abcdefgh", 5)
    ('A B $x$', 'abcd…')
    """
    text = "".join(" " if unicodedata.category(c) in ("Cc", "Zl", "Zp") else c for c in str(name))
    text = "".join("\ufffd" if unicodedata.category(c) == "Cs" else c for c in " ".join(text.split()))
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


def in_lines(title: str, width: int) -> str:
    """Break a long title, after a comma or semicolon if that will do.

    Examples
    --------
    >>> from bayesieve.report.figures.texts import in_lines
    >>> in_lines("mean difference, case minus control", 20).splitlines()
    ['mean difference,', 'case minus control']
    """
    text = plain(title, 4 * width)
    if len(text) <= width:
        return text
    stops = [i + 1 for i, c in enumerate(text) if c in ",;" and i < width and len(text) - i - 2 <= width]
    if stops:
        return f"{text[: stops[-1]]}\n{text[stops[-1] :].strip()}"
    return "\n".join(textwrap.wrap(text, width, break_long_words=True))


def said(number: float, digits: int = 3) -> str:
    r"""Write a number for people, with a true minus sign.

    Examples
    --------
    >>> from bayesieve.report.figures.texts import said
    >>> said(12345.6), said(0.01234), said(-5.0) == "\N{MINUS SIGN}5"
    ('12,346', '0.0123', True)
    """
    if not math.isfinite(number):
        return "unknown" if math.isnan(number) else ("∞" if number > 0 else f"{_MINUS}∞")
    text = f"{number:,.0f}" if abs(number) >= 10**digits else f"{number:,.{digits}g}"
    return text.replace("-", _MINUS)


def said_probability(probability: float) -> str:
    """Write a probability; one that rounding would make certain is said to be beyond 0.9999.

    Examples
    --------
    >>> from bayesieve.report.figures.texts import said_probability
    >>> said_probability(0.98765), said_probability(1.0), said_probability(1e-9)
    ('0.988', 'over 0.9999', 'under 0.0001')
    """
    if probability > 0.9999:
        return "over 0.9999"
    return "under 0.0001" if probability < 0.0001 else f"{probability:.{4 if probability > 0.99 else 3}g}"
