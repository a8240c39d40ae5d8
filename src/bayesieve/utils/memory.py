"""How much memory there is."""

from __future__ import annotations

import numbers
import re
from pathlib import Path
from typing import Any

from bayesieve.utils.errors import OptionError

_CONTROL = Path("/sys/fs/cgroup")  # where Linux tells what a container or a job of a cluster may use
_TOLD = (  # limit, use, and what of it are copies of files that give way, in versions 2 and 1
    ("memory.max", "memory.current", "memory.stat", "inactive_file"),
    ("memory/memory.limit_in_bytes", "memory/memory.usage_in_bytes", "memory/memory.stat", "total_inactive_file"),
)
_UNITS = {"k": 10**3, "m": 10**6, "g": 10**9, "ki": 2**10, "mi": 2**20, "gi": 2**30}
_LEAST = 10**6  # of what people write; of numbers any is taken, so that chunks can be made small


def free_memory() -> int:
    """Return the number of bytes that could be used without pushing others out; a container may have less."""
    import psutil  # noqa: PLC0415 - takes a while, and few commands ask

    return min([int(psutil.virtual_memory().available), *_left_in_container()])


def _left_in_container() -> list[int]:
    left = []
    for limit, used, details, cached in _TOLD:
        try:
            most, now = (int((_CONTROL / name).read_text("ascii")) for name in (limit, used))
            found = re.search(rf"^{cached} (\d+)$", (_CONTROL / details).read_text("ascii"), re.MULTILINE)
        except (OSError, ValueError):  # not there, or "max"
            continue
        left.append(max(0, most - now + (int(found[1]) if found else 0)))
    return left


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
