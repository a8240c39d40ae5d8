"""How much memory there is, and how much of it values may take."""

from __future__ import annotations

import os

_MOST_KEPT = 2**30  # bytes of values kept for a second look, if memory is not stated


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


def bytes_kept(wanted: bool, stated: int | None, memory: int) -> int:
    """How much of the values may be kept: half of the memory, of memory that nobody stated less."""
    if not wanted:
        return 0
    return memory // 2 if stated else min(memory // 2, _MOST_KEPT)
