"""Build the site without a network: ``python docs/build.py [FOLDER]`` writes it to ``build/site`` or FOLDER.

It needs the extra ``docs``. A warning, or a reference that leads nowhere, is an error.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from sphinx.cmd.build import main

DOCS = Path(__file__).resolve().parent
_FIRST = "import bayesieve as bs; bs.Moments.from_matrix([[1.0], [2.0]], ['a', 'b'])"  # says that it compiles


def build(folder: Path) -> int:
    """Build all pages anew with one process per core and return the exit code."""
    for old in (folder, folder.parent / f"{folder.name}.doctrees"):
        shutil.rmtree(old, ignore_errors=True)
    subprocess.run([sys.executable, "-c", _FIRST], stderr=subprocess.DEVNULL, check=True)
    workers = max(2, os.cpu_count() or 1)
    options = ["-b", "html", "-n", "-W", "--keep-going", "-E", "-a", "-q", "-j", str(workers)]
    return main([*options, "-d", str(folder.parent / f"{folder.name}.doctrees"), str(DOCS), str(folder)])


if __name__ == "__main__":
    sys.exit(build(Path(sys.argv[1] if len(sys.argv) > 1 else DOCS.parent / "build" / "site").resolve()))
