"""Compilation of kernels by numba: on first use, without the GIL, cached on disk where a disk can be written.

A kernel is compiled again when its own file changes, and only then: kernels that call each other stand in one
file, and constants that they use as well.
"""

from __future__ import annotations

import functools
import hashlib
import logging
import os
import shutil
import stat
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar, cast

import numba
from numba.core import event

Function = TypeVar("Function", bound=Callable[..., Any])

logger = logging.getLogger("bayesieve")

_ROOM = 50_000_000  # bytes that a disk must have left to take compiled code
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


@functools.cache
def compiled_code_folder() -> Path | None:
    """Return a folder that can be written, of this version and this copy of the package; None if there is none.

    ``NUMBA_CACHE_DIR`` comes first, then the user's cache, then a private folder for temporary files.
    """
    return next((place for place in _places() if _can_be_written(place)), None)


def _places() -> Iterator[Path]:
    package = Path(__file__).resolve().parent.parent
    own = f"{_version()}-{hashlib.sha256(os.fsencode(package)).hexdigest()[:12]}"
    stated = os.environ.get("NUMBA_CACHE_DIR")
    if stated:
        yield Path(stated)
    cache = _user_cache()
    if cache is not None:
        yield cache / "bayesieve" / "compiled" / own
    private = _private_temporary()
    if private is not None:
        yield private / "compiled" / own


def _version() -> str:
    return str(getattr(sys.modules.get("bayesieve"), "__version__", "0"))


def _user_cache() -> Path | None:
    """The folder where programs of this user keep what can be made again."""
    stated = os.environ.get("LOCALAPPDATA" if os.name == "nt" else "XDG_CACHE_HOME")
    if stated and os.path.isabs(stated):
        return Path(stated)
    try:
        home = Path.home()
    except RuntimeError:
        return None
    if os.name == "nt":
        return home / "AppData" / "Local"
    return home / "Library" / "Caches" if sys.platform == "darwin" else home / ".cache"


def _private_temporary() -> Path | None:
    """A folder for temporary files that no other user can write: compiled code is run."""
    if not hasattr(os, "getuid"):
        return Path(tempfile.gettempdir()) / "bayesieve"
    place = Path(tempfile.gettempdir()) / f"bayesieve-{os.getuid()}"
    try:
        place.mkdir(mode=0o700, exist_ok=True)
        found = place.lstat()
    except OSError:
        return None
    private = stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid() and not found.st_mode & 0o022
    return place if private else None


def _can_be_written(place: Path) -> bool:
    """Whether files can be made there; numba lets the error of a full disk through to the user."""
    try:
        place.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=place):
            return shutil.disk_usage(place).free > _ROOM
    except OSError:
        return False


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
