"""A library that takes its process down must not leave the user without a word."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
import warnings

import numpy as np
import pandas as pd
import pytest

import bayesieve as bs
from bayesieve.io.formats import hdf5

anndata = pytest.importorskip("anndata")
pytestmark = pytest.mark.skipif(os.name != "posix", reason="elsewhere a process does not die of a signal")
KILLED = "import os, signal\nos.kill(os.getpid(), signal.{})\n"
COMMAND = """
import sys
from bayesieve.cli import command
from bayesieve.io.formats import hdf5
look, *sys.argv[1:] = sys.argv[1:]
hdf5._LOOK_THROUGH = look or hdf5._LOOK_THROUGH
command()
"""


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "a.h5ad"
    values = np.random.default_rng(0).normal(size=(12, 5))
    obs = pd.DataFrame({"y": ["a", "b"] * 6}, index=[f"s{i}" for i in range(12)])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        anndata.AnnData(values, obs=obs, var=pd.DataFrame(index=[f"g{j}" for j in range(5)])).write_h5ad(path)
    return path


def start(table, look="", labels="y", **options):
    """Run the command with another look at the file in the child."""
    command = [sys.executable, "-c", COMMAND, look, "screen", str(table), "--labels", labels, "-q"]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, **options)


@pytest.mark.parametrize("death", ["SIGABRT", "SIGSEGV"])
def test_a_crash_of_the_reading_library_is_an_error(table, monkeypatch, death):
    monkeypatch.setattr(hdf5, "_LOOK_THROUGH", KILLED.format(death))
    with pytest.raises(bs.FileError, match=death) as caught:
        bs.read_table(table, labels="y")
    assert caught.value.message.kind == "crash"
    assert str(table) in str(caught.value)


@pytest.mark.parametrize("look", ["raise SystemExit(3)", "import no_such_module"])
def test_only_a_crash_counts(table, monkeypatch, look):
    monkeypatch.setattr(hdf5, "_LOOK_THROUGH", look)
    assert bs.read_table(table, labels="y").class_counts == {"a": 6, "b": 6}


def test_the_look_goes_through_the_whole_file_and_stops_at_damage(table):
    def look():
        command = [sys.executable, "-c", hdf5._LOOK_THROUGH, str(table)]
        return subprocess.run(command, capture_output=True, check=False).returncode

    assert look() == 0
    content = bytearray(table.read_bytes())
    table.write_bytes(content[: len(content) // 2])
    assert look() == 1
    with pytest.raises(bs.FileError, match="damaged"):
        bs.read_table(table, labels="y")


def test_the_command_tells_it_in_a_sentence(table):
    process = start(table, KILLED.format("SIGSEGV"))
    _, errors = process.communicate(timeout=100)
    assert process.returncode == 2
    assert errors.startswith(f"bayesieve: {table} seems to be damaged")
    assert len(errors.splitlines()) == 1


@pytest.mark.parametrize(("labels", "code"), [("y", 0), ("nothing", 2)])
def test_exit_codes_of_a_sound_file(table, labels, code):
    process = start(table, labels=labels)
    process.communicate(timeout=100)
    assert process.returncode == code


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, -signal.SIGTERM)])
def test_a_signal_ends_the_wait(table, number, code):
    ready = table.parent / "ready"
    look = f"import time, pathlib\npathlib.Path({str(ready)!r}).touch()\ntime.sleep(60)\n"
    process = start(table, look, start_new_session=True)
    while not ready.exists():
        assert process.poll() is None
        time.sleep(0.02)
    time.sleep(0.5)
    os.killpg(process.pid, number)  # a terminal tells the whole group
    _, errors = process.communicate(timeout=50)
    assert process.returncode == code
    assert "Traceback" not in errors
