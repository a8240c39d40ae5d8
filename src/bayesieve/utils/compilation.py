"""Compilation of kernels by numba: on first use, without the GIL, cached on disk where a disk can be written.

A kernel is compiled again when its own file changes, and only then: kernels that call each other stand in one
file, and constants that they use as well.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba
from numba.core import event

from bayesieve.utils.compiled_code import compiled_code_folder

Function = TypeVar("Function", bound=Callable[..., Any])

logger = logging.getLogger("bayesieve")

_kernels: set[int] = set()
_deciding = threading.Lock()


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
        kernel = _cached(function, options)
        _kernels.add(id(kernel))
        return cast("Function", kernel)

    return decorate


def _cached(function: Function, options: dict[str, Any]) -> Any:
    """Return the kernel, with its place in the cache; without a place it is compiled for this process only."""
    folder = compiled_code_folder()
    if folder is not None:
        with _deciding:  # numba asks once, here, where a kernel's code is kept
            config: Any = numba.config
            before, config.CACHE_DIR = config.CACHE_DIR, str(folder)
            try:
                return numba.njit(cache=True, **options)(function)
            except (RuntimeError, OSError):
                pass
            finally:
                config.CACHE_DIR = before
    return numba.njit(**options)(function)


def _said_before() -> bool:
    """Whether compilation was announced in this installation before; note that it is now."""
    folder = compiled_code_folder()
    if folder is None:
        return False
    note = folder / "bayesieve-compiles.txt"
    try:
        if note.exists():
            return True
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
