"""Kernels work without a cache, say that they compile, and start quickly with one."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import bayesieve

PROGRAM = """
import bayesieve as bs
posterior = bs.screen([[0.1], [-0.4], [0.3], [6.8], [7.7], [8.1]], [0, 0, 0, 1, 1, 1],
                      model=bs.GaussianModel.proper())
print(posterior.log_odds.tolist())
"""


def run(**environment):
    env = {**os.environ, **environment}
    return subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True, env=env)


def test_no_place_for_a_cache_breaks_nothing(tmp_path):
    """Files stand where every cache folder would be: not even root can create one."""
    blocked = tmp_path / "file"
    blocked.write_text("not a folder")
    package = tmp_path / "copy" / "bayesieve"
    shutil.copytree(Path(bayesieve.__file__).parent, package, ignore=shutil.ignore_patterns("__pycache__"))
    for folder in (package, *[entry for entry in package.rglob("*") if entry.is_dir()]):
        (folder / "__pycache__").write_text("not a folder")
    nowhere = str(blocked / "cache")
    places = {"NUMBA_CACHE_DIR": nowhere, "HOME": nowhere, "XDG_CACHE_HOME": nowhere}
    without = run(**places, PYTHONPATH=str(package.parent))
    assert "compiling" in without.stderr
    again = run(**places, PYTHONPATH=str(package.parent))
    assert "compiling" in again.stderr
    assert without.stdout == run().stdout


def test_compilation_is_announced_once_and_then_cached(tmp_path):
    first = run(NUMBA_CACHE_DIR=str(tmp_path))
    second = run(NUMBA_CACHE_DIR=str(tmp_path))
    assert first.stderr.count("bayesieve: compiling for this machine") == 1
    assert second.stderr == ""
    assert first.stdout == second.stdout


def test_a_full_disk_breaks_nothing(tmp_path):
    """Without room on the disk nothing is cached, and kernels work."""
    program = (
        "import shutil\n"
        "from types import SimpleNamespace\n"
        "shutil.disk_usage = lambda place: SimpleNamespace(free=1000)\n" + PROGRAM
    )
    env = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False, env=env)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("[")
    assert not list(tmp_path.rglob("*.nbc"))
