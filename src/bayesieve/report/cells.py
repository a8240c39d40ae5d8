"""Columns of the page: numbers, flags or texts, whatever a table or a data frame held."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import numpy.typing as npt

from bayesieve.posterior import depends_on_prior
from bayesieve.report.encoding import encode_array, encode_numbers, encode_texts

_WORDS = {"sd": "SD", "p": "p"}
_DECIMAL = re.compile(r"[+-]?(?:(?:0|[1-9][0-9]*)(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_WHOLE = re.compile(r"[+-]?[0-9]+")
_MISSING = ("", "NA", "N/A", "NaN", "nan", "null")
_EXACT = 2**53  # whole numbers up to here are exact in a float


def column_content(name: str, values: Any, *, annotation: bool = False) -> dict[str, Any]:
    """Encode one column: numbers, flags or texts."""
    content: dict[str, Any] = {"key": name, "title": name if annotation else _title(name)}
    array = _plain(values)
    if annotation and array.dtype.kind == "O":
        array = _of_decimals(array)
    if array.dtype.kind == "b":
        content |= {"kind": "flag", "values": encode_array(array, "u1")}
    elif array.dtype.kind in "iuf":
        content |= {"kind": "number", "values": encode_numbers(array, exact="p_value" in name or annotation)}
    else:
        content |= encode_texts(array.tolist())
    if annotation:
        content["annotation"] = True
    elif depends_on_prior(name):
        content["of_prior"] = True
    return content


def _title(name: str) -> str:
    return " ".join(_WORDS.get(word, word) for word in name.split("_")).replace("p value", "p-value")


def _plain(values: Any) -> npt.NDArray[Any]:
    """Return an array of numbers, of flags, or of objects, in which None is missing; texts stay texts."""
    if isinstance(values, np.ndarray) and values.dtype.kind in "biuf":
        return values
    cells = [None if _is_missing(value) else value for value in values]
    known_cells = [value for value in cells if value is not None]
    flags = [isinstance(value, (bool, np.bool_)) for value in known_cells]
    if known_cells and all(flags) and len(known_cells) == len(cells):
        return np.array(cells, dtype=bool)
    if cells and not any(flags) and all(isinstance(value, (int, float, np.number)) for value in known_cells):
        return _numbers(cells, whole=all(isinstance(value, (int, np.integer)) for value in known_cells))
    texts = np.empty(len(cells), dtype=object)
    texts[:] = cells
    return texts


def _is_missing(value: Any) -> bool:
    if isinstance(value, (float, np.floating)):
        return bool(np.isnan(value))
    return value is None or type(value).__name__ in ("NAType", "NaTType")  # of pandas


def _numbers(cells: list[Any], *, whole: bool) -> npt.NDArray[Any]:
    if whole and None not in cells:
        return np.array([int(cell) for cell in cells])
    return np.array([np.nan if cell is None else float(cell) for cell in cells])


def _of_decimals(texts: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return the numbers of texts that are all plain decimals, so that they sort as such; others as they are."""
    cells = [None if text is None or text in _MISSING else text for text in texts.tolist()]
    known_cells = [cell for cell in cells if cell is not None]
    if not known_cells or not all(isinstance(cell, str) and _DECIMAL.fullmatch(cell) for cell in known_cells):
        return texts
    whole = [_WHOLE.fullmatch(cell) is not None for cell in known_cells]
    lost = any(is_whole and abs(int(cell)) > _EXACT for cell, is_whole in zip(known_cells, whole, strict=True))
    if lost or not all(np.isfinite(float(cell)) for cell in known_cells):
        return texts
    return _numbers(cells, whole=all(whole))
