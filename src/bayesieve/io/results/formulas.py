"""Names that a spreadsheet would take for formulas, made texts, and back."""

from __future__ import annotations

_BEGINS = ("=", "+", "-", "@", "\t", "\r")


def quote_formula(text: str) -> str:
    """Put an apostrophe before what begins like a formula, and before what would look like that."""
    return f"'{text}" if text.lstrip("'").startswith(_BEGINS) else text


def unquote_formula(text: str) -> str:
    """Undo :func:`quote_formula`."""
    return text[1:] if text.startswith("'") and text.lstrip("'").startswith(_BEGINS) else text
