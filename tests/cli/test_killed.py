"""Runs that are killed: files of one run stay together, what it left is removed, and nobody else is hurt."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from commands import environment, executable, gene_names, inside

from bayesieve.utils import hash_of_written, replacing, together

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="POSIX locks and signals")
WRITER = """
import itertools, json, pathlib, sys
from bayesieve.utils import hash_of_written, replacing, together
for i in itertools.count(int(sys.argv[1])):
    with together():
        for name in ("a.csv", "b.html"):
            with replacing(name) as file:
                file.write(f"{i}".encode() * 20_000)
        hashes = {name: hash_of_written(name) for name in ("a.csv", "b.html")}
        with replacing("m.json") as file:
            file.write(json.dumps(hashes).encode())
    if i == 1 or not i % 20:
        print(i, flush=True)
"""


def parts(folder):
    return [each.name for each in Path(folder).iterdir() if each.name.endswith(".part")]


def test_files_of_one_run_stay_together_when_it_is_killed(tmp_path):
    rng = np.random.default_rng(0)
    left = 0
    for start in range(1, 13):
        writer = subprocess.Popen(
            [sys.executable, "-c", WRITER, str(1000 * start + 1)], cwd=tmp_path, stdout=subprocess.PIPE,
            env=environment(),
        )  # fmt: skip
        writer.stdout.readline()  # it is at work
        time.sleep(float(rng.uniform(0.0, 0.03)))
        writer.kill()
        writer.communicate()
        files = {name: (tmp_path / name).read_bytes() for name in ("a.csv", "b.html")}
        assert all(len(set(content.decode()[:: len(content) // 20_000])) == 1 for content in files.values())
        wanted = json.loads((tmp_path / "m.json").read_text())
        same = files["a.csv"] == files["b.html"]
        told = all(hash_of_written(tmp_path / name) == value for name, value in wanted.items())
        assert told <= same  # a mixture is never taken for one run
        left += len(parts(tmp_path))
        assert len(parts(tmp_path)) <= 3  # of this writer alone: it removed those of the last one
    assert left > 0  # the kills hit the writing
    with replacing(tmp_path / "other.txt") as file:
        file.write(b"x")
    assert not parts(tmp_path)


def test_files_in_use_and_files_of_others_stay(tmp_path):
    foreign = tmp_path / ".mine.part"
    foreign.write_text("kept")
    (tmp_path / ".dead.csv.0123456789ab.part").write_text("left")
    with replacing(tmp_path / "a.csv") as file:  # while another process writes to the same folder
        code = "import sys\nfrom bayesieve.utils import replacing\nwith replacing('b.csv') as f: f.write(b'b')"
        subprocess.run([sys.executable, "-c", code], cwd=tmp_path, check=True, env=environment())
        assert len(parts(tmp_path)) == 2
        file.write(b"a")
    assert sorted(each.name for each in tmp_path.iterdir()) == [".mine.part", "a.csv", "b.csv"]
    assert (tmp_path / "a.csv").read_bytes() == b"a"


def test_nothing_takes_its_name_if_one_file_fails(tmp_path):
    (tmp_path / "a").write_text("old")
    with pytest.raises(ZeroDivisionError), together():  # noqa: PT012 - the second of two files fails
        with replacing(tmp_path / "a") as file:
            file.write(b"new")
        with replacing(tmp_path / "b") as file:
            raise ZeroDivisionError
    assert [each.name for each in tmp_path.iterdir()] == ["a"]
    assert (tmp_path / "a").read_text() == "old"


OUTPUTS = ("r.csv", "r.csv.json", "r.html", "m.json", "c.toml")


@pytest.fixture
def screened(tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    lines = [",".join(["id", "stage", *gene_names(400)])]
    lines += [",".join([f"s{i}", "ab"[i % 2], *map(str, rng.normal(size=400).round(3))]) for i in range(40)]
    Path("t.csv").write_text("\n".join(lines) + "\n")
    return lambda *more: inside(capfd, monkeypatch, *more)


COMMAND = (
    "screen", "t.csv", "-l", "stage", "--shuffles", "3", "--out", "r.csv", "--report", "r.html", "--manifest",
    "m.json", "--config-out", "c.toml", "-q",
)  # fmt: skip


def test_a_screen_that_is_killed_leaves_the_files_of_the_last_one(screened):
    assert screened(*COMMAND).code == 0
    started = time.perf_counter()
    subprocess.run([executable(), *COMMAND, "--threshold", "0.9"], check=True, env=environment())
    whole = time.perf_counter() - started
    assert screened(*COMMAND).code == 0
    before = {name: Path(name).read_bytes() for name in OUTPUTS}
    for share in (0.6, 0.8, 0.9, 0.95):
        run = subprocess.Popen([executable(), *COMMAND, "--threshold", "0.9"], env=environment())
        time.sleep(share * whole)
        run.kill()
        run.wait()
        changed = [name for name in OUTPUTS if Path(name).read_bytes() != before[name]]
        assert not changed or {"r.csv.json", "m.json"} <= set(changed)  # all of the old, or all of the new
        subprocess.run([executable(), *COMMAND], check=True, env=environment())
        before = {name: Path(name).read_bytes() for name in OUTPUTS}
        assert not parts(".")


def test_a_mixture_of_runs_is_noticed(screened):
    assert screened(*COMMAND).code == 0
    outputs = json.loads(Path("m.json").read_text())["outputs"]
    assert {each["file"] for each in outputs.values()} == {"r.csv", "r.html", "c.toml"}
    assert all(each["sha256"] == hash_of_written(each["file"]) for each in outputs.values())
    assert "not of the run" not in screened("report", "r.csv", "--manifest", "m.json", "--out", "x.html").err
    Path("r.html").write_text("of another run")
    found = screened("report", "r.csv", "--manifest", "m.json", "--out", "x.html")
    assert found.code == 0
    assert "'r.html' beside m.json is not of the run that the manifest records" in found.said
