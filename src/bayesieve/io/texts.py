"""Labels and ids as texts, the same from every format."""

from __future__ import annotations

import math
import numbers
from collections.abc import Collection
from typing import Any

import numpy as np

_NO_LABEL = frozenset(
    {"", "NA", "N/A", "n/a", "NaN", "nan", "NAN", "#N/A", "null", "NULL"}
)  # "none" may be a class
_EXACT = 2**53  # whole numbers up to here are exact in a float


def label_text(value: Any, missing_words: Collection[str] = ()) -> str | None:
    """Return a label as text, None if it is missing.

    Whole numbers lose their point, so that the same labels read from different formats are the same.

    Parameters
    ----------
    value
        Text, number, truth value, date; None and NaN are missing.
    missing_words
        Spellings of a missing label besides the usual ones.

    Examples
    --------
    >>> from bayesieve.io.texts import label_text
    >>> [label_text(value) for value in (" II ", 1, 1.0, 0.5, True, float("nan"), "N/A", None)]
    ['II', '1', '1', '0.5', 'True', None, None, None]
    """
    text = id_text(value)
    return None if text in _NO_LABEL or text in missing_words else text


def id_text(value: Any) -> str:
    """Return an id as text, written as :func:`label_text` would; missing ones are empty.

    Examples
    --------
    >>> from bayesieve.io.texts import id_text
    >>> id_text(7.0), id_text("NA"), id_text(None)
    ('7', 'NA', '')
    """
    if isinstance(value, str | bytes):
        return (value if isinstance(value, str) else value.decode("utf-8", "replace")).strip()
    if value is None or type(value).__name__ in ("NAType", "NaTType"):  # of pandas
        return ""
    if isinstance(value, bool | np.bool_ | numbers.Integral):
        return str(value)
    return _number_text(value)


def _number_text(value: Any) -> str:
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        return str(value).strip()  # a date, say
    if math.isnan(number):
        return ""
    return str(int(number)) if abs(number) <= _EXACT and number.is_integer() else str(value)
