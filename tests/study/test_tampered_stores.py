"""Stores that somebody has changed, and studies that ask for too much, end in one sentence."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys

import pytest
from small_studies import small_study

from bayesieve.errors import BayesieveError, FileError, OptionError
from bayesieve.study import StudyDesign, StudyResults, run_study
from bayesieve.study.methods import check_runnable
from bayesieve.study.store import Database

CHANGES = {
    "DELETE FROM meta WHERE key = 'design'": "does not say its 'design'",
    "DELETE FROM meta WHERE key = 'bayesieve'": "does not say its 'bayesieve'",
    "UPDATE meta SET value = x'ff00' WHERE key = 'design'": "does not say its 'design'",
    "UPDATE meta SET value = substr(value, 1, 40) WHERE key = 'design'": "cannot be read as JSON",
    "UPDATE meta SET value = '3' WHERE key = 'design'": "is damaged",
    "UPDATE meta SET value = '[]' WHERE key = 'design'": "does not say sizes and methods",
    "UPDATE meta SET value = json_set(value, '$.methods', 3) WHERE key = 'design'": "methods are tables",
    "UPDATE meta SET value = json_set(value, '$.measures[0]', 3) WHERE key = 'design'": "no measure 3",
    "UPDATE meta SET value = json_remove(value, '$.name') WHERE key = 'design'": "is damaged",
    "UPDATE results SET correct = 'many'": "cells of the column 'correct' do not hold a number",
    "UPDATE results SET correct = x'00'": "cells of the column 'correct' do not hold a number",
    "INSERT INTO results (n, iteration, method) VALUES ('x', 0, 'mnc')": "1 of 4 cells of the column 'n'",
    "INSERT INTO results (n, iteration, method) VALUES (-4, 0, 'mnc')": "do not hold a whole number",
    "INSERT INTO results (n, iteration, method) VALUES (4, 0, x'ff')": "do not hold a text",
    "ALTER TABLE results RENAME COLUMN iteration TO x": "no column 'iteration'",
    "DROP TABLE results": "holds something else than a study",
    "CREATE TRIGGER t AFTER INSERT ON results BEGIN DELETE FROM results; END": "holds something else",
    "DROP TABLE results; CREATE VIEW results AS WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) "
    "SELECT n, 0 AS iteration, 'mnc' AS method FROM r": "holds something else",
}


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    folder = tmp_path_factory.mktemp("store")
    run_study(small_study(iterations=1, sizes=(20,)), folder, workers=1)
    with sqlite3.connect(folder / "study.sqlite") as base:
        base.execute("PRAGMA journal_mode = DELETE")
    base.close()
    return (folder / "study.sqlite").read_bytes()


def change(folder, whole, sql):
    path = folder / "study.sqlite"
    path.write_bytes(whole)
    with sqlite3.connect(path) as base:
        base.executescript(sql)
    base.close()
    return path


def go_on(path):
    with Database(path) as store:
        store.prepare(small_study(iterations=1, sizes=(20,)))
        store.done()
        store.columns()


@pytest.mark.parametrize("sql", CHANGES)
def test_what_was_changed_is_told(tmp_path, whole, sql):
    path = change(tmp_path, whole, sql)
    with pytest.raises(BayesieveError) as caught:
        StudyResults.load(path)
    assert CHANGES[sql] in str(caught.value)
    assert str(path) in str(caught.value) or isinstance(caught.value, OptionError)
    assert "\n" not in str(caught.value)
    with pytest.raises(BayesieveError):
        go_on(path)


def test_the_command_ends_with_2_and_a_sentence(tmp_path, whole):
    change(tmp_path, whole, "DELETE FROM meta WHERE key = 'design'")
    (tmp_path / "s.toml").write_text(small_study(iterations=1, sizes=(20,)).to_toml())
    code = "from bayesieve.cli import command; command()"
    done = subprocess.run(
        [sys.executable, "-c", code, "study", str(tmp_path / "s.toml"), "--out", str(tmp_path), "-q"],
        capture_output=True, text=True, check=False, env={**os.environ, "NO_COLOR": "1"},
    )  # fmt: skip
    assert done.returncode == 2
    assert "does not say its 'design'" in done.stderr
    assert "Traceback" not in done.stderr


BASE = {"name": "s", "sizes": [20], "methods": [{"scores": "welch"}]}


@pytest.mark.parametrize(
    "asked",
    [
        {"sizes": {"from": 4, "to": 10**10, "step": 2}},
        {"sizes": {"from": 4, "to": 10**9, "step": 2}},
        {"sizes": [10**12]},
        {"iterations": 10**10},
        {"iterations": 10**400},
        {"iterations": 10**7, "sizes": [20, 40]},
        {"seed": -1},
        {"methods": [{"scores": "welch", "iterations": 10**10}]},
        {"methods": [{"scores": "welch", "n_selected": 10**400}]},
        {"data": "shapes", "constants": {"n_features": 10**13}},
        {"constants": {"high_variance_features": 10**400}},
        {"raw": True, "sizes": [10**9]},
        {"name": "CON"},
    ],
)
def test_studies_that_ask_for_too_much_are_refused_at_once(asked):
    with pytest.raises(OptionError) as caught:
        check_runnable(StudyDesign.from_dict({**BASE, **asked}))
    assert len(str(caught.value)) < 400


def test_a_file_that_is_no_database_is_told(tmp_path):
    (tmp_path / "study.sqlite").write_bytes(b"SQLite format 3\0" + bytes(2000))
    with pytest.raises(FileError):
        StudyResults.load(tmp_path)
