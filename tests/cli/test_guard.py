"""A library that takes its process down must not leave the user without a word."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import polars as pl
import pytest

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no second process without fork")
BAYESIEVE = shutil.which("bayesieve", path=str(Path(sys.executable).parent)) or "bayesieve"


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "a.parquet"
    values = {f"g{j}": [float(i * j % 7) + 0.1 * i for i in range(12)] for j in range(1, 6)}
    pl.DataFrame({"id": [f"s{i}" for i in range(12)], "y": ["a", "b"] * 6, **values}).write_parquet(path)
    return path


def run_with_polars(table, code, **options):
    """Run the command with a polars that does something else when it is imported."""
    fake = table.parent / "fake"
    fake.mkdir()
    (fake / "polars.py").write_text(code)
    environment = {**os.environ, "PYTHONPATH": str(fake)}
    command = [BAYESIEVE, "screen", str(table), "--labels", "y", "--out", str(table.parent / "out.csv")]
    return subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment, **options)


@pytest.mark.parametrize("death", ["SIGABRT", "SIGSEGV"])
def test_a_crash_of_the_reading_library_is_told_in_a_sentence(table, death):
    process = run_with_polars(table, f"import os, signal\nos.kill(os.getpid(), signal.{death})\n")
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 2
    assert f"bayesieve: {table} seems to be damaged" in errors
    assert death in errors
    assert "Fetch or write the file again." in errors


def test_a_sound_file_is_screened_and_exit_codes_pass_through(table):
    for labels, code in (("y", 0), ("nothing", 2)):
        command = [BAYESIEVE, "screen", str(table), "--labels", labels]
        assert subprocess.run(command, capture_output=True, timeout=60, check=False).returncode == code


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, -signal.SIGTERM)])
def test_signals_reach_the_one_who_works(table, number, code):
    ready = table.parent / "ready"
    waiting = f"import time, pathlib\npathlib.Path({str(ready)!r}).touch()\ntime.sleep(60)\n"
    process = run_with_polars(table, waiting, start_new_session=True)
    while not ready.exists():
        assert process.poll() is None
        time.sleep(0.02)
    target = os.killpg if number == signal.SIGINT else os.kill  # a terminal tells the whole group
    target(process.pid, number)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == code
    assert "Traceback" not in errors
