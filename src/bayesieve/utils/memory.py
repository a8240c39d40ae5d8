"""How much memory there is."""

from __future__ import annotations

import re
from pathlib import Path

_CONTROL = Path("/sys/fs/cgroup")  # where Linux tells what a container or a job of a cluster may use
_TOLD = (  # limit, use, and what of it are copies of files that give way, in versions 2 and 1
    ("memory.max", "memory.current", "memory.stat", "inactive_file"),
    ("memory/memory.limit_in_bytes", "memory/memory.usage_in_bytes", "memory/memory.stat", "total_inactive_file"),
)


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
