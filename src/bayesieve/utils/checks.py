"""Checks of single values that callers hand over; every one raises an error that says what was meant."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from bayesieve.utils.errors import BayesieveError, DataError, OptionError

Error = type[BayesieveError]


def is_whole(value: Any) -> bool:
    """Whether this is a whole number, and no truth value."""
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


def is_number(value: Any) -> bool:
    """Whether this is a real number, and no truth value."""
    return isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)


def check_whole(
    name: str,
    value: Any,
    least: int = 0,
    error: Error = OptionError,
    *,
    most: int | None = None,
    instead: str = "",
) -> int:
    """Return a whole number of at least ``least``, or raise; ``instead`` says what else may be given."""
    if not is_whole(value) or value < least or (most is not None and value > most):
        bounds = f"of at least {least}" if most is None else f"between {least} and {most:,}"
        shown = (
            f"a number of {math.ceil(math.log10(value)):,} digits"
            if is_whole(value) and value > 10**30
            else repr(value)
        )
        raise error(f"{name} must be a whole number {bounds}{instead}, not {shown}.", kind="whole-number")
    return int(value)


def check_between(
    name: str,
    value: Any,
    low: float = 0.0,
    high: float = 1.0,
    error: Error = OptionError,
    *,
    open_ends: bool = False,
) -> float:
    """Return a number between two ends, which it may reach unless they are open, or raise."""
    if not is_number(value) or not (low < value < high if open_ends else low <= value <= high):
        bounds = f"between {low:g} and {high:g}" if math.isfinite(high) else f"of at least {low:g}"
        raise error(f"{name} must be a number {bounds}, not {value!r}.", kind="number")
    return float(value)


def check_choice(name: str, value: Any, choices: Sequence[str], error: Error = OptionError) -> str:
    """Return one of a few words, or raise."""
    if value not in choices:
        *most, last = map(repr, choices)
        raise error(f"{name} must be {', '.join(most)} or {last}, not {value!r}.", kind="choice")
    return str(value)


def check_missing(missing: Any) -> bool:
    """Return whether missing values are to be left out, or raise."""
    return check_choice("missing", missing, ("raise", "omit"), DataError) == "omit"
