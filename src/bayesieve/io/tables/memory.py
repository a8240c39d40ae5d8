"""How much memory values may take."""

from __future__ import annotations

_MOST_KEPT = 2**30  # bytes of values kept for a second look, if memory is not stated


def bytes_kept(wanted: bool, stated: int | None, memory: int) -> int:
    """How much of the values may be kept: half of the memory, of memory that nobody stated less."""
    if not wanted:
        return 0
    return memory // 2 if stated else min(memory // 2, _MOST_KEPT)
