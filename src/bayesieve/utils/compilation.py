"""Compilation of kernels by numba: on first use, without the GIL, cached on disk where a disk can be written.

A kernel is compiled again when its own file changes, and only then: kernels that call each other stand in one
file, and constants that they use as well.
"""

from __future__ import annotations

import logging
import os
import shutil
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, cast

import numba
from numba.core import event

Function = TypeVar("Function", bound=Callable[..., Any])

logger = logging.getLogger("bayesieve")

_ROOM = 50_000_000  # bytes that a disk must have left to take compiled code
_kernels: set[int] = set()


def compiled(*, fastmath: set[str] | None = None) -> Callable[[Function], Function]:
    """Compile a function with numba when it is first called.

    Parameters
    ----------
    fastmath
        LLVM liberties, for example ``{"contract"}``; none by default, since exact tricks such as
        the two-sum must not be reordered.
    """
    options: dict[str, Any] = {"nogil": True, "error_model": "numpy", "fastmath": fastmath or False}

    def decorate(function: Function) -> Function:
        try:
            kernel = numba.njit(cache=_disk_has_room(), **options)(function)
        except (RuntimeError, OSError):  # no folder for a cache can be written: compile for this process only
            kernel = numba.njit(**options)(function)
        _kernels.add(id(kernel))
        return cast("Function", kernel)

    return decorate


def _disk_has_room() -> bool:
    """Whether the cache has room: numba lets the error of a full disk through to the user."""
    place = Path(os.environ.get("NUMBA_CACHE_DIR") or __file__)
    while not place.exists():
        place = place.parent
    return shutil.disk_usage(place).free > _ROOM


def _said_before() -> bool:
    """Whether compilation was announced in this installation before; note that it is now."""
    place = Path(os.environ.get("NUMBA_CACHE_DIR") or Path(__file__).parent / "__pycache__")
    note = place / "bayesieve-compiles.txt"
    try:
        if note.exists():
            return True
        place.mkdir(parents=True, exist_ok=True)
        note.write_text("Compilation was announced.\n", encoding="ascii")
    except OSError:
        pass
    return False


class _Announcement(event.Listener):
    """Announce, once in an installation, that compilation is under way: it takes seconds and looks like a hang.

    That it was said is noted beside the compiled code; where nothing can be written, it is said once in a process.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._made = False

    def on_start(self, event: Any) -> None:
        with self._lock:
            if self._made or id(event.data.get("dispatcher")) not in _kernels:
                return
            self._made = True
        if _said_before():
            return
        logger.warning("bayesieve: compiling for this machine; this takes a few seconds and happens once.")

    def on_end(self, event: Any) -> None:
        """Nothing to announce at the end."""


event.register("numba:compile", _Announcement())  # type: ignore[no-untyped-call]
