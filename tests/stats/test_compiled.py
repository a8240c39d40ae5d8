"""Kernels work without a cache, say that they compile, and start quickly with one."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

import bayesieve
from bayesieve.utils.compilation import compiled_code_folder

PROGRAM = """
import bayesieve as bs
posterior = bs.screen([[0.1], [-0.4], [0.3], [6.8], [7.7], [8.1]], [0, 0, 0, 1, 1, 1],
                      model=bs.GaussianModel.proper())
print(posterior.log_odds.tolist())
"""


def run(before="", **environment):
    env = {name: value for name, value in os.environ.items() if name != "NUMBA_CACHE_DIR"} | environment
    program = f"{before}\n{PROGRAM}"
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, env=env)


def copy_package(folder):
    package = folder / "bayesieve"
    shutil.copytree(Path(bayesieve.__file__).parent, package, ignore=shutil.ignore_patterns("__pycache__"))
    return package


def test_no_place_for_a_cache_breaks_nothing(tmp_path):
    """Files stand where every cache folder would be: not even root can create one."""
    blocked = tmp_path / "file"
    blocked.write_text("not a folder")
    package = copy_package(tmp_path / "copy")
    for folder in (package, *[entry for entry in package.rglob("*") if entry.is_dir()]):
        (folder / "__pycache__").write_text("not a folder")
    nowhere = str(blocked / "cache")
    places = {"NUMBA_CACHE_DIR": nowhere, "HOME": nowhere, "XDG_CACHE_HOME": nowhere, "LOCALAPPDATA": nowhere}
    no_temporary = f"import tempfile; tempfile.tempdir = {nowhere!r}"
    without = run(no_temporary, **places, PYTHONPATH=str(package.parent))
    assert "compiling" in without.stderr
    again = run(no_temporary, **places, PYTHONPATH=str(package.parent))
    assert "compiling" in again.stderr
    assert json.loads(without.stdout) == pytest.approx(json.loads(run().stdout), rel=1e-13)


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


def test_nothing_is_left_among_the_sources(tmp_path):
    """What an installer did not put there it does not remove, and a folder that is left imports."""
    package, cache = copy_package(tmp_path / "copy"), tmp_path / "cache"
    places = {"XDG_CACHE_HOME": str(cache), "HOME": str(cache), "LOCALAPPDATA": str(cache)}
    first = run(**places, PYTHONPATH=str(package.parent))
    assert first.stderr.count("compiling") == 1
    assert not run(**places, PYTHONPATH=str(package.parent)).stderr
    assert {path.suffix for path in package.rglob("__pycache__/*")} <= {".pyc"}
    (folder,) = cache.rglob("bayesieve/compiled/*")
    assert folder.name.startswith(f"{bayesieve.__version__}-")
    assert list(folder.rglob("*.nbc"))


def test_a_private_folder_for_temporary_files_is_the_last_resort(tmp_path, monkeypatch):
    blocked, place = tmp_path / "file", tmp_path / "tmp"
    blocked.write_text("not a folder")
    place.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(place))
    for name in ("NUMBA_CACHE_DIR", "HOME", "XDG_CACHE_HOME", "LOCALAPPDATA", "USERPROFILE"):
        monkeypatch.setenv(name, str(blocked / "cache"))
    compiled_code_folder.cache_clear()
    try:
        folder = compiled_code_folder()
        assert place in folder.parents
        if os.name == "posix":
            (private,) = place.iterdir()
            assert private.stat().st_mode & 0o777 == 0o700
            private.chmod(0o777)  # whoever can write there could have anything run
            compiled_code_folder.cache_clear()
            assert compiled_code_folder() is None
    finally:
        compiled_code_folder.cache_clear()
