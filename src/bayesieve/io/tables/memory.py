"""How much memory values may take."""

from __future__ import annotations

from bayesieve.utils import memory_bytes

_MOST_KEPT = 2**30  # bytes of values kept for a second look, if memory is not stated


def bytes_stated(memory: int | str | None) -> int | None:
    """Return in bytes what was said of memory; None if nothing was."""
    return None if memory is None else memory_bytes(memory)


def bytes_kept(wanted: bool, stated: bool, memory: int) -> int:
    """How much of the values may be kept: half of the memory, of memory that nobody stated less."""
    if not wanted:
        return 0
    return memory // 2 if stated else min(memory // 2, _MOST_KEPT)
