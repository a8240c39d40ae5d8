"""Digests of statistics, and tables in blocks that tests share."""

from __future__ import annotations

import dataclasses
import hashlib
from typing import Any

import numpy as np


def digest(value: Any) -> str:
    """Hash every bit of every array of a statistic or a posterior."""
    made = hashlib.sha256()
    for part in _arrays(value):
        made.update(np.ascontiguousarray(part).tobytes())
    return made.hexdigest()


def _arrays(value: Any) -> list[Any]:
    if isinstance(value, np.ndarray):
        return [value]
    if dataclasses.is_dataclass(value):
        return [part for field in dataclasses.fields(value) for part in _arrays(getattr(value, field.name))]
    return []
