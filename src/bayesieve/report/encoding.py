"""Numbers and texts as the page reads them: typed arrays in base64, JSON that is safe inside a script element."""

from __future__ import annotations

import base64
import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

_TYPES = {"f8": "<f8", "f4": "<f4", "i4": "<i4", "u2": "<u2", "u1": "u1"}
_FEW_LEVELS = 2**16
_ESCAPES = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"}


def encode_array(values: npt.ArrayLike, kind: str) -> dict[str, str]:
    """Return an array as ``{"type": ..., "data": base64}``, little-endian."""
    with np.errstate(over="ignore"):  # what is too large for 32 bits is shown as infinite
        array = np.ascontiguousarray(np.asarray(values), dtype=_TYPES[kind])
    return {"type": kind, "data": base64.b64encode(array.data if array.size else b"").decode("ascii")}


def decode_array(array: Mapping[str, str]) -> npt.NDArray[Any]:
    """Return the numbers of what :func:`encode_array` made."""
    return np.frombuffer(base64.b64decode(array["data"]), dtype=_TYPES[array["type"]])


def encode_numbers(values: npt.ArrayLike, *, exact: bool = False) -> dict[str, str]:
    """Encode numbers in as few bytes as show them: whole ones as they are, others to seven digits."""
    array = np.asarray(values)
    if array.dtype.kind in "iub" and array.size:
        low, high = int(array.min()), int(array.max())
        for kind in ("u1", "u2", "i4"):
            limits = np.iinfo(np.dtype(_TYPES[kind]))
            if limits.min <= low and high <= limits.max:
                return encode_array(array, kind)
        return encode_array(array, "f8")
    with np.errstate(over="ignore"):
        loses = exact and not np.array_equal(array, array.astype(np.float32), equal_nan=True)
    return encode_array(array, "f8" if loses else "f4")


def encode_texts(values: Sequence[Any]) -> dict[str, Any]:
    """Encode a column of texts: as numbers of their levels where texts recur, else as they are."""
    texts = ["" if value is None else str(value) for value in values]
    levels = {text: k for k, text in enumerate(dict.fromkeys(texts))}
    if len(levels) > min(_FEW_LEVELS, len(texts) // 2):
        return {"kind": "text", "values": texts}
    codes = np.fromiter((levels[text] for text in texts), np.int64, len(texts))
    return {
        "kind": "text",
        "levels": list(levels),
        "codes": encode_array(codes, "u1" if len(levels) <= 256 else "u2"),
    }


def finite(value: Any) -> float | None:
    """Return a number that JSON knows, None for one that is not finite."""
    number = float(value)
    return number if math.isfinite(number) else None


def script_json(content: Any) -> str:
    r"""Write JSON that may stand inside a script element: no ``<``, ``>`` or ``&``, and ASCII only."""
    text = json.dumps(content, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    for character, escape in _ESCAPES.items():
        text = text.replace(character, escape)
    return text
