"""How much memory there is."""

from __future__ import annotations

import numbers
import os
from typing import Any

from bayesieve.utils.errors import OptionError

_UNITS = {"k": 10**3, "m": 10**6, "g": 10**9, "ki": 2**10, "mi": 2**20, "gi": 2**30}
_LEAST = 10**6  # of what people write; of numbers any is taken, so that chunks can be made small


def free_memory() -> int:
    """Return the number of bytes that could be used without pushing others out."""
    try:
        with open("/proc/meminfo", encoding="ascii") as lines:
            for line in lines:
                if line.startswith("MemAvailable:"):
                    return int(line.split()[1]) * 1024
    except (OSError, ValueError, IndexError):
        pass
    try:
        return int(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")) // 2
    except (AttributeError, ValueError, OSError):
        return 2**31


def memory_bytes(value: Any) -> int:
    """Return an amount of memory in bytes: a text such as 300MB, 2GB, 512MiB, or a number of bytes."""
    if isinstance(value, numbers.Integral) and not isinstance(value, bool) and int(value) > 0:
        return int(value)
    size = 0
    if isinstance(value, str):
        text = value.strip().lower().removesuffix("b")
        unit = next((unit for unit in sorted(_UNITS, key=len, reverse=True) if text.endswith(unit)), "")
        try:
            size = int(float(text.removesuffix(unit)) * _UNITS.get(unit, 1))
        except (ValueError, OverflowError):
            size = 0
    if size < _LEAST:
        raise OptionError(f"{value!r} is no amount of memory of at least 1MB. Write, for example, 300MB or 2GB.")
    return size
