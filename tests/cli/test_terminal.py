"""Names that hold escape sequences are shown by the command and not obeyed by the terminal."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

ESCAPE = "\x1b[2J\x1b]0;title\x07\x9b31m\u202e"
ROWS = [["id", "y", f"g{ESCAPE}", "h"], *([f"s{i}{ESCAPE}", f"{'ab'[i % 2]}{ESCAPE}", i, i * i] for i in range(8))]


def run(folder, *arguments):
    command = [sys.executable, "-c", "from bayesieve.cli import command; command()", *arguments]
    made = subprocess.run(
        command, cwd=folder, capture_output=True, env={**os.environ, "NO_COLOR": "1"}, check=False
    )
    return made.returncode, made.stderr.decode(), made.stdout.decode()


@pytest.fixture
def table(tmp_path):
    text = "".join(",".join(map(str, row)) + "\n" for row in ROWS)
    (tmp_path / f"t{ESCAPE}.csv").write_text(text, encoding="utf-8")
    (tmp_path / "bad.csv").write_text(text.replace("49", f"4{ESCAPE}9"), encoding="utf-8")
    return tmp_path


@pytest.mark.skipif(os.name == "nt", reason="no such file names there")
@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("screen", f"t{ESCAPE}.csv", "--labels", "y", "--out", "r.csv", "--shuffles", "0"), 0),
        (("screen", "bad.csv", "--labels", "y", "--json-log"), 2),
        (("screen", "bad.csv", "--labels", "y"), 2),
        (("screen", f"no{ESCAPE}.csv", "--labels", "y"), 2),
        (("screen", "bad.csv", f"--{ESCAPE}"), 2),
        (("screen", "bad.csv", "--memory", ESCAPE), 2),
        ((ESCAPE,), 2),
    ],
)
def test_nothing_is_obeyed(table, arguments, code):
    returned, said, _ = run(table, *arguments)
    assert returned == code, said
    for sign in "\x1b\x07\x9b\u202e":
        assert sign not in said
    assert "x1b" in said or "u001b" in said
    assert "Traceback" not in said
