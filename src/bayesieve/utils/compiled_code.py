"""Where compiled code is kept: in the cache of the user, so that nothing is left behind among the sources."""

from __future__ import annotations

import functools
import hashlib
import os
import shutil
import stat
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

_ROOM = 50_000_000  # bytes that a disk must have left to take compiled code


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
