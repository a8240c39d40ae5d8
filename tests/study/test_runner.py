"""The same numbers whatever happens: workers, order, growth, kill -9, Ctrl-C, and workers that die."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from small_studies import reproducible, small_study

import bayesieve as bs
from bayesieve.errors import BayesieveError, OptionError
from bayesieve.study import Method, StudyResults, run_study, runner
from bayesieve.study.methods import draw_data
from bayesieve.study.store import Database

SCRIPT = """
import sys
import time
from bayesieve.study import StudyDesign, run_study, runner

path, store, log, workers = sys.argv[1:]
plain = runner.run_unit


def run_unit(design, unit, rivals):
    with open(log, "a") as file:
        file.write(f"{unit.n} {unit.iteration}\\n")
    time.sleep(0.02)  # slow enough to be caught in the act
    return plain(design, unit, rivals)


runner.run_unit, runner._SECONDS_PER_BATCH = run_unit, 0.05  # workers import this, too

if __name__ == "__main__":
    try:
        run_study(StudyDesign.from_toml(path), store, workers=int(workers))
    except KeyboardInterrupt:
        sys.exit(130)
"""


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    return reproducible(run_study(small_study(), tmp_path_factory.mktemp("study"), workers=1))


@pytest.fixture
def begun(tmp_path):
    """Begin a study in a process of its own, as often as one likes."""
    design, log = small_study(iterations=60), tmp_path / "log.txt"
    (tmp_path / "run.py").write_text(SCRIPT)
    (tmp_path / "small.toml").write_text(design.to_toml())
    log.touch()

    def begin(workers):
        arguments = [tmp_path / "run.py", tmp_path / "small.toml", tmp_path, log, workers]
        return subprocess.Popen(
            [sys.executable, *map(str, arguments)], stderr=subprocess.PIPE, start_new_session=True, text=True
        )

    return design, begin, log


def stored(folder):
    if not (folder / "study.sqlite").is_file():
        return set()
    with Database(folder) as store:
        try:
            return store.done()
        except bs.FileError:  # killed before there was a table
            return set()


def test_several_workers_give_the_same(undisturbed, tmp_path):
    assert reproducible(run_study(small_study(), tmp_path, workers=3)).equals(undisturbed)


def test_any_order_gives_the_same(undisturbed, tmp_path, monkeypatch):
    plain = runner.due_units

    def shuffled(design, done):
        units = plain(design, done)
        random.Random(4).shuffle(units)
        return units

    monkeypatch.setattr(runner, "due_units", shuffled)
    assert reproducible(run_study(small_study(), tmp_path, workers=1)).equals(undisturbed)


def test_a_study_that_grows_is_the_same_as_one_begun_at_full_size(undisturbed, tmp_path):
    design = small_study()
    steps = [
        design.changed(iterations=2, sizes=[40], methods=["welch"]),
        design.changed(iterations=3, sizes=[20, 40], methods=["mnc", "welch"]),
        design.changed(methods=["pp"]),
    ]
    sizes = []
    for step in steps:
        run_study(step, tmp_path, workers=1)
        sizes.append(len(stored(tmp_path)))
    assert sizes == [2, 12, 27]
    assert reproducible(run_study(design, tmp_path, workers=1)).equals(undisturbed)
    assert reproducible(StudyResults.load(tmp_path)).equals(undisturbed)


def test_nothing_is_repeated(tmp_path, monkeypatch):
    run_study(small_study(), tmp_path, workers=1, iterations=3)
    ran = []
    plain = runner.run_unit
    monkeypatch.setattr(runner, "run_unit", lambda *given: (ran.append(given[1]), plain(*given))[1])
    seen = []
    run_study(small_study(), tmp_path, workers=1, progress=lambda *given: seen.append(given))
    assert [(unit.iteration, unit.n) for unit in ran] == [(i, n) for i in (3, 4) for n in (20, 40, 60)]
    assert (seen[0], seen[-1]) == ((0, 6), (6, 6))
    run_study(small_study(), tmp_path, workers=2)
    assert len(ran) == 6


def test_methods_with_their_own_grid_run_on_that_only(tmp_path):
    own = Method("own", "Own", "welch", n_selected=80, sizes=(40,), iterations=2)
    results = run_study(small_study(methods=(*small_study().methods, own)), tmp_path, workers=1)
    assert results.means().filter(results.means()["method"] == "own").select("n", "iterations").rows() == [(40, 2)]
    table = reproducible(results)
    same = [
        table.filter((table["method"] == name) & (table["n"] == 40) & (table["iteration"] < 2))
        for name in ("own", "welch")
    ]
    assert same[0]["value"].equals(same[1]["value"])


def test_killed_five_times_and_gone_on_equals_undisturbed(begun, tmp_path, tmp_path_factory):
    design, begin, log = begun
    rng = random.Random(1)
    killed = 0
    for k in range(5):
        workers = 2 if k in (1, 4) else 1
        there, seen = stored(tmp_path), log.stat().st_size
        process = begin(workers)
        if k < 4:  # wait for the first new result, so that each run gets somewhere; others die at any time
            deadline = time.monotonic() + 60
            while len(stored(tmp_path)) == len(there) and process.poll() is None and time.monotonic() < deadline:
                time.sleep(0.02)
        time.sleep(rng.uniform(0.0, 0.15 if k < 4 else 1.0))
        killed += process.poll() is None
        process.kill()
        process.communicate()
        if workers > 1:
            assert is_gone(process.pid), "workers go on without their parent"
        kept = stored(tmp_path)
        assert there <= kept
        if k < 4:
            assert len(kept) > len(there)
        repeated = {tuple(map(int, line.split())) for line in log.read_text()[seen:].splitlines()}
        assert not repeated & {(n, iteration) for n, iteration, method in there if method == "welch"}
    assert killed == 5
    assert 0 < len(stored(tmp_path)) < design.units
    resumed = run_study(design, tmp_path, workers=1)
    whole = run_study(design, tmp_path_factory.mktemp("whole"), workers=1)
    assert reproducible(resumed).equals(reproducible(whole))


def is_gone(group):
    """Wait for the end of all processes of a group."""
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.02)
    return False


def test_an_interruption_keeps_what_is_finished(begun, tmp_path, tmp_path_factory):
    design, begin, _ = begun
    process = begin(2)
    while len(stored(tmp_path)) < 6 and process.poll() is None:
        time.sleep(0.02)
    os.killpg(process.pid, signal.SIGINT)  # a terminal tells all
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "Traceback" not in errors
    assert is_gone(process.pid)
    assert 6 <= len(stored(tmp_path)) < design.units
    fewer = design.changed(iterations=10)
    assert reproducible(run_study(fewer, tmp_path, workers=1)).equals(
        reproducible(run_study(fewer, tmp_path_factory.mktemp("whole"), workers=1))
    )


def test_an_interruption_of_one_process_alone(undisturbed, tmp_path, monkeypatch):
    plain = runner.run_unit

    def interrupted(design, unit, rivals):
        if unit.iteration == 3:
            raise KeyboardInterrupt
        return plain(design, unit, rivals)

    monkeypatch.setattr(runner, "_SECONDS_PER_BATCH", 0.0)
    monkeypatch.setattr(runner, "run_unit", interrupted)
    with pytest.raises(KeyboardInterrupt):
        run_study(small_study(), tmp_path, workers=1)
    assert len(stored(tmp_path)) == 3 * 3 * 3
    monkeypatch.undo()
    assert reproducible(run_study(small_study(), tmp_path, workers=1)).equals(undisturbed)


@pytest.fixture
def deadly(tmp_path):
    """Return a study with a method that ends its process in the third iteration, or raises there."""

    def make(deed):
        path = tmp_path / "mine.py"
        path.write_text(
            "import os, signal, pathlib\nimport bayesieve as bs\n"
            "def run(moments):\n"
            f"    if moments.n_features == 280 and moments.mean[0, 0] == MARK:\n        {deed}\n"
            "    return bs.FeatureScores('mine', abs(moments.mean_difference))\n"
            "RIVAL = bs.Rival('mine', 'Mine', 'moments', run)\n"
        )
        design = small_study(methods=(Method("mine", "Mine", str(path), n_selected=80),))
        mark = runner_mark(design)
        path.write_text(path.read_text().replace("MARK", repr(mark)))
        return design, path

    return make


def runner_mark(design):
    return float(draw_data(design, 40, 2).moments.mean[0, 0])


def test_a_worker_that_dies_loses_nothing_else(deadly, tmp_path):
    design, path = deadly("os.kill(os.getpid(), signal.SIGKILL)")
    with pytest.raises(BayesieveError, match="A worker process died"):
        run_study(design, tmp_path, workers=2)
    kept = stored(tmp_path)
    assert kept
    assert (40, 2, "mine") not in kept
    path.write_text(path.read_text().replace("== 280", "== 0"))
    resumed = reproducible(run_study(design, tmp_path, workers=1))
    assert resumed.equals(reproducible(run_study(design, tmp_path / "whole.sqlite", workers=1)))


def test_a_method_that_fails_loses_nothing_else(deadly, tmp_path):
    design, _ = deadly("raise ValueError('bad day')")
    with pytest.raises(
        BayesieveError, match=r"'mine' failed with 40 samples in iteration 2: .*ValueError: bad day"
    ):
        run_study(design, tmp_path, workers=2)
    kept = stored(tmp_path)
    assert kept
    assert (40, 2, "mine") not in kept


def test_workers_are_checked(tmp_path):
    for wrong in (0, -1, 1.5, True, "2"):
        with pytest.raises(OptionError, match="workers"):
            run_study(small_study(), tmp_path, workers=wrong)
    assert not (tmp_path / "study.sqlite").exists()
    assert Path(tmp_path).is_dir()
