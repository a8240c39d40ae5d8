"""Long work in units: the same in one process or several, stored one by one, interrupted and taken up again."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import time

import numpy as np
import pytest
from regression_problems import matrix_of, table

import bayesieve as bs
from bayesieve.errors import FileError, OptionError
from bayesieve.rivals.regression import stability
from bayesieve.rivals.regression.path import Regression
from bayesieve.rivals.regression.stability import stability_selection
from bayesieve.rivals.regression.units import Running

GRID = (0.2, 0.1, 0.05)


def select(running, X=None, y=None, **options):
    plain = table(40, 60, 1)
    X, y = plain[0] if X is None else X, plain[1] if y is None else y
    options = {"n_subsamples": 6, **options}
    return stability_selection(matrix_of(X, y), Regression(), GRID, running=running, **options)


@pytest.fixture(scope="module")
def undisturbed():
    return select(Running(1)).counts.toarray()


def test_several_processes_give_the_same(undisturbed, tmp_path):
    told = []
    running = Running(2, tmp_path / "units.sqlite", lambda *numbers: told.append(numbers))
    np.testing.assert_array_equal(select(running).counts.toarray(), undisturbed)
    assert told == [(k, 6) for k in range(7)]


SCRIPT = """
import sys, numpy as np, bayesieve as bs
rng = np.random.default_rng(0)
X, y = rng.normal(size=(40, 60)), np.repeat([0, 1], 20)
found = bs.score(X, y, method="stability", n_subsamples=6, n_threads=2, penalties=[0.2, 0.1])
print("once", found.diagnostics["n_subsamples"])
"""


def test_a_plain_script_may_use_several_processes(tmp_path):
    """Workers do not import it, so that it needs no guard."""
    script = tmp_path / "script.py"
    script.write_text(SCRIPT, encoding="utf-8")
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stdout) == (0, "once 6\n"), done.stderr


def count_runs(monkeypatch):
    ran = []
    plain = stability._Subsamples.run
    monkeypatch.setattr(
        stability._Subsamples, "run", lambda job, *given: (ran.append(given[2]), plain(job, *given))[1]
    )
    return ran


def test_work_is_taken_up_where_it_was_interrupted(undisturbed, tmp_path, monkeypatch):
    store = tmp_path / "units.sqlite"

    def stop(done, _):
        if done == 4:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        select(Running(1, store, stop))
    ran = count_runs(monkeypatch)
    told = []
    found = select(Running(1, store, lambda *numbers: told.append(numbers)))
    np.testing.assert_array_equal(found.counts.toarray(), undisturbed)
    assert ran == [4, 5]
    assert told == [(4, 6), (5, 6), (6, 6)]
    ran.clear()
    assert select(Running(1, store), n_subsamples=8).n_subsamples == 8
    assert ran == [6, 7]


LONG = """
import sys, numpy as np, bayesieve as bs
rng = np.random.default_rng(0)
X, y = rng.normal(size=(80, 3000)), np.repeat([0, 1], 40)
def tell(done, total):
    print(done, flush=True)
found = bs.score(X, y, method="stability", n_subsamples=2000, n_threads=2, store=sys.argv[1], progress=tell)
"""


@pytest.mark.skipif(not hasattr(signal, "pthread_sigmask"), reason="signals of POSIX")
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_ctrl_c_and_kill_end_all_processes_and_keep_what_is_done(tmp_path, how):
    script, store = tmp_path / "script.py", tmp_path / "units.sqlite"
    script.write_text(LONG, encoding="utf-8")
    process = subprocess.Popen(
        [sys.executable, script, store],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    for line in process.stdout:
        if int(line) >= 8:
            break
    os.kill(process.pid, how)
    _, errors = process.communicate(timeout=60)
    assert process.returncode != 0
    if how == signal.SIGINT:
        assert "KeyboardInterrupt" in errors
    for _ in range(100):  # nobody of its session is left
        left = subprocess.run(
            ["ps", "-o", "pid=", "-s", str(process.pid)], capture_output=True, text=True, check=False
        )
        if not left.stdout.strip():
            break
        time.sleep(0.1)
    assert not left.stdout.strip()
    with sqlite3.connect(store) as connection:
        (number,) = connection.execute("SELECT count(*) FROM units").fetchone()
    connection.close()
    assert 8 <= number < 2000


def test_a_store_of_something_else_is_refused(tmp_path):
    store = tmp_path / "units.sqlite"
    select(Running(1, store))
    X, y = table(40, 60, 2)
    with pytest.raises(OptionError, match="belongs to another table"):
        select(Running(1, store), X, y)
    with pytest.raises(OptionError, match="other options: seed, share"):
        select(Running(1, store), seed=3, share=0.9)
    other = tmp_path / "other.sqlite"
    with sqlite3.connect(other) as connection:
        connection.execute("CREATE TABLE things (name TEXT)")
    connection.close()
    with pytest.raises(FileError, match="something else than the units of a method"):
        select(Running(1, other))
    text = tmp_path / "text.csv"
    text.write_text("a,b\n" * 1000, encoding="utf-8")
    with pytest.raises(FileError, match="is damaged or not the store of the units"):
        select(Running(1, text))
    with pytest.raises(FileError, match="cannot be used: unable to open"):
        select(Running(1, tmp_path / "no" / "such.sqlite"))


def test_a_damaged_unit_is_refused(tmp_path):
    store = tmp_path / "units.sqlite"
    select(Running(1, store))
    with sqlite3.connect(store) as connection:
        (content,) = connection.execute("SELECT content FROM units WHERE number = 2").fetchone()
        connection.execute("UPDATE units SET content = ? WHERE number = 2", (content[:40] + b"!" + content[41:],))
    connection.close()
    with pytest.raises(FileError, match="is damaged: unit 2 cannot be read"):
        select(Running(1, store))


def test_a_full_disk_is_told(monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(np, "save", full)
    with pytest.raises(FileError, match=r"No space left on device. Set TMPDIR .* or use workers=1"):
        select(Running(2))


def test_cross_validation_is_stored_too(tmp_path):
    X, y = table(40, 60, 3)
    options = {"folds": 3, "n_threads": 1, "store": tmp_path / "cv.sqlite"}
    one = bs.score(X, y, method="lasso-linear", repeats=2, **options)
    told = []
    two = bs.score(X, y, method="lasso-linear", repeats=2, progress=lambda *n: told.append(n), **options)
    assert told == [(6, 6)]
    np.testing.assert_array_equal(one.score, two.score)
    bs.score(X, y, method="lasso-linear", repeats=3, progress=lambda *n: told.append(n), **options)
    assert told[1:] == [(6, 9), (7, 9), (8, 9), (9, 9)]
    with pytest.raises(OptionError, match="other options: penalties, regression"):
        bs.score(
            X, y, method="lasso-linear", repeats=2, alpha=0.9, penalties=one.diagnostics["penalty"], **options
        )
