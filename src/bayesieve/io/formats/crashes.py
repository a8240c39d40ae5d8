"""Files that can end the process of the library that reads them: another process looks through them first."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from bayesieve.utils import FileError

_PATIENCE = 120  # seconds; sound files take a few milliseconds
_MOST = 2**26  # bytes of a file that is looked through before it is read
_DEATHS = {"SIGABRT", "SIGSEGV", "SIGBUS", "SIGILL", "SIGFPE"}


@contextmanager
def survive_crash(path: str, look: str) -> Iterator[None]:
    """Look through a file with a program in another process meanwhile: damaged structures can crash a library.

    Only a crash is told here; whatever can be caught is met again, and explained, when the file is opened.
    """
    if not sys.executable or getattr(sys, "frozen", False):  # Python is part of another program
        yield
        return
    nowhere = subprocess.DEVNULL
    command = [sys.executable, "-c", look, path]
    with subprocess.Popen(command, stdin=nowhere, stdout=nowhere, stderr=nowhere) as child:
        try:
            yield
            code = child.wait(_PATIENCE)
        except subprocess.TimeoutExpired:  # damaged links can lead in a circle
            code = -signal.SIGABRT
        finally:
            child.kill()
    death = signal.Signals(-code).name if code < 0 else ""
    if death in _DEATHS:
        raise FileError(
            f"{path} seems to be damaged: the library that reads this format crashed or found no end ({death}).",
            hint="Fetch or write the file again.",
            kind="crash",
        )


_looked: set[tuple[str, int, int]] = set()


def look_through_once(path: str, look: str) -> None:
    """Look through a file of at most 64 MB before it is read here; what was found sound is not looked at again.

    Larger ones are not, because that would take as long as reading them.
    """
    try:
        told = os.stat(path)
    except OSError:  # whoever opens it says why
        return
    key = (os.path.abspath(path), told.st_size, told.st_mtime_ns)
    if told.st_size > _MOST or key in _looked:
        return
    with survive_crash(path, look):
        pass
    _looked.add(key)


def look_at_columns(reader: str) -> str:
    """Return a program that reads a whole file by a function of polars, for which no name is a pattern."""
    return f"import sys, polars\nwith open(sys.argv[1], 'rb') as file:\n    polars.{reader}(file)"
