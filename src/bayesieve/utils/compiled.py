"""One way to compile a kernel: lazily, without the GIL, cached on disk where a disk can be written.

numba refuses to compile when it finds no place for its cache, and lets an ``OSError`` through when
the place is full or read-only. A user has done nothing wrong in either case, so both are survived
here: the kernel is compiled for this process only.
"""

from __future__ import annotations

import functools
import logging
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, cast

import numba
from numba.core import event
from numba.core.runtime.nrt import rtsys

Function = TypeVar("Function", bound=Callable[..., Any])

logger = logging.getLogger("bayesieve")

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
            kernel = numba.njit(cache=True, **options)(function)
            kernel._cache = _ForgivingCache(kernel._cache)
        except (RuntimeError, OSError):  # no place for a cache
            kernel = numba.njit(**options)(function)
        _kernels.add(id(kernel))
        return cast("Function", kernel)

    return decorate


@functools.cache
def _package_stamp() -> tuple[tuple[str, int, int], ...]:
    """Name, time and size of every source file of the package."""
    files = sorted(Path(__file__).parents[1].rglob("*.py"))
    return tuple((file.name, file.stat().st_mtime_ns, file.stat().st_size) for file in files)


class _ForgivingCache:
    """numba's cache with three of its habits changed.

    A disk that cannot be written or read is not an error. And what is cached is out of date when
    *any* file of the package has changed: numba looks at a kernel's own file only, although kernels
    of other files are compiled into it. And ready-made code is loaded without the hundreds of
    declarations that only the compiler needs (it fetches them itself), which takes a third of a second.
    """

    def __init__(self, cache: Any) -> None:
        self._cache = cache
        file = getattr(cache, "_cache_file", None)
        if file is not None:
            file._source_stamp = (file._source_stamp, _package_stamp())

    def __getattr__(self, name: str) -> Any:
        return getattr(self._cache, name)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        load = getattr(self._cache, "_load_overload", None)
        try:
            if load is None:
                return self._cache.load_overload(sig, target_context)
            rtsys.initialize(target_context)
            return load(sig, target_context)
        except OSError:
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        try:
            self._cache.save_overload(sig, data)
        except OSError as error:
            logger.debug("the compiled kernel was not cached: %s", error)


class _SayOnce(event.Listener):
    """Say, once in a process, that compilation is under way: it takes seconds and looks like a hang."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._said = False

    def on_start(self, event: Any) -> None:
        with self._lock:
            if self._said or id(event.data.get("dispatcher")) not in _kernels:
                return
            self._said = True
        logger.warning("bayesieve: compiling for this machine; this takes a few seconds and happens once.")

    def on_end(self, event: Any) -> None:
        """Nothing to say at the end."""


event.register("numba:compile", _SayOnce())  # type: ignore[no-untyped-call]
