"""Words of messages: lists of names, plurals, and the nearest choice."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from typing import Any

_MOST_LISTED = 8


def did_you_mean(word: str, choices: Iterable[str]) -> str:
    """Return a question that names the most similar choice, or nothing."""
    folded: dict[str, str] = {}
    for choice in choices:
        folded.setdefault(choice.casefold(), choice)
    found = difflib.get_close_matches(word.casefold(), folded, 1)
    return f" Did you mean {folded[found[0]]!r}?" if found else ""


def listed(names: Sequence[Any], most: int = _MOST_LISTED) -> str:
    """Return the first few names and how many more there are."""
    more = f" and {len(names) - most:,} more" if len(names) > most else ""
    return ", ".join(repr(name) for name in names[:most]) + more
