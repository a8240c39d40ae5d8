"""Missing values among labels, categories and cells of a frame."""

from __future__ import annotations

from numbers import Number
from typing import Any


def is_missing(value: Any) -> bool:
    """Tell None, NaN, NaT and ``pandas.NA`` from values, without importing pandas."""
    if value is None or type(value).__name__ in {"NAType", "NaTType"}:
        return True
    return isinstance(value, Number) and bool(value != value)  # noqa: PLR0124 - only NaN differs from itself
