"""A second process for formats whose libraries may take the whole process down when a file is damaged.

A wrong size in a Parquet, Arrow or HDF5 file can make the compiled library that reads it ask for
petabytes of memory or follow a wild pointer; Python cannot catch that. The work is then done in a
child process, made before anything is imported, and the parent says what happened.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from pathlib import Path
from types import FrameType

_RISKY = {".parquet", ".pq", ".arrow", ".feather", ".ipc", ".arrows", ".h5ad"}
_DEATHS = {"SIGABRT", "SIGSEGV", "SIGBUS", "SIGILL", "SIGFPE"}


def risky_files(arguments: list[str]) -> list[str]:
    """Return the arguments that name existing files of such formats."""
    names = [part for argument in arguments for part in (argument, argument.rpartition(":")[0])]
    return [name for name in names if Path(name).suffix.lower() in _RISKY and os.path.isfile(name)]


def guarded(arguments: list[str]) -> None:
    """Go on in a child process if a file could crash it; the parent never returns."""
    files = risky_files(arguments)
    if not files or not hasattr(os, "fork"):
        return
    sys.stdout.flush()
    sys.stderr.flush()
    child = os.fork()
    if child == 0:
        return

    def forward(number: int, frame: FrameType | None) -> None:
        del frame
        with contextlib.suppress(OSError):
            os.kill(child, number)

    signal.signal(signal.SIGTERM, forward)
    signal.signal(signal.SIGINT, lambda *_: None)  # the terminal tells the child too
    _, status = os.waitpid(child, 0)
    code = os.waitstatus_to_exitcode(status)
    if code < 0 and signal.Signals(-code).name in _DEATHS:
        sys.stderr.write(
            f"bayesieve: {files[0]} seems to be damaged: the library that reads this format crashed "
            f"({signal.Signals(-code).name}). Fetch or write the file again.\n"
        )
        os._exit(2)
    if code < 0:
        signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    os._exit(code)
