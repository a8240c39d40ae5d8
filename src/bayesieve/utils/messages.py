"""Words of messages (lists of names, plurals, the nearest choice), and warnings at the line of the caller."""

from __future__ import annotations

import difflib
import re
import sys
import warnings
from collections.abc import Iterable, Sequence
from typing import Any

from bayesieve.utils.errors import BayesieveWarning, Piece

_MOST_LISTED = 8
_OBEYED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
_OURS = ("bayesieve", "sklearn", "joblib")  # a selector is often called by a pipeline


def nearest(word: str, choices: Iterable[str]) -> str | None:
    """Return the most similar choice, whatever its case; None if there is none."""
    folded: dict[str, str] = {}
    for choice in choices:
        folded.setdefault(choice.casefold(), choice)
    found = difflib.get_close_matches(word.casefold(), folded, 1)
    return folded[found[0]] if found else None


def did_you_mean(word: str, choices: Iterable[str]) -> str:
    """Return a question that names the most similar choice, or nothing."""
    found = nearest(word, choices)
    return f" Did you mean {found!r}?" if found is not None else ""


def list_names(names: Sequence[Any], most: int = _MOST_LISTED, *, quote: bool = True) -> str:
    """Return the first few names and how many more there are."""
    more = f" and {len(names) - most:,} more" if len(names) > most else ""
    return ", ".join(map(repr if quote else str, names[:most])) + more


def join_words(texts: Iterable[str]) -> str:
    """Join texts in a sentence: ``a, b and c``."""
    parts = list(texts)
    return " and ".join([", ".join(parts[:-1]), parts[-1]] if len(parts) > 1 else parts)


def printable(text: str) -> str:
    r"""Return a text as a terminal can show it: escape sequences and marks that reorder are written out.

    Line breaks and tabs stay; a name such as ``\x1b[2J`` then shows what it is, and nothing obeys it.
    """
    return _OBEYED.sub(lambda found: ascii(found[0])[1:-1], text)


def plural(n: int, what: str) -> str:
    """Return a number and what it counts, in the plural where it has to be."""
    return f"{n:,} {what}" if n == 1 else f"{n:,} {what}s"


_SMALLEST = 0.01


def expectation(number: float, step: float = 0.0, digits: str = "") -> str:
    """Return an expected number for people; below 0.01, or below what its source can tell, it is said to be so.

    Parameters
    ----------
    number
        The number.
    step
        The smallest number that its source can tell from 0.
    digits
        How to write it, if not with one decimal, or two where it is small.
    """
    if step and number < step / 2:
        return f"fewer than {step:.2g}" if step >= _SMALLEST else "under 0.01"
    if number < _SMALLEST:
        return "under 0.01"
    if step and number >= 10 and not digits:  # counted in a few shuffles: two digits are all that it has
        return format(float(f"{number:.2g}"), ",.0f")
    return format(number, digits or (",.1f" if number >= 0.095 else ".2f"))


def warn(
    category: type[BayesieveWarning],
    *text: Piece,
    hint: Piece | Iterable[Piece] = (),
    kind: str = "",
    **numbers: Any,
) -> None:
    """Warn at the line outside the package that called it, however deep the reason lies."""
    frame, level = sys._getframe(1), 2  # noqa: SLF001 - as the module warnings does
    while frame.f_back is not None and str(frame.f_globals.get("__name__")).partition(".")[0] in _OURS:
        frame, level = frame.f_back, level + 1
    warnings.warn(category(*text, hint=hint, kind=kind, numbers=numbers), stacklevel=level)
