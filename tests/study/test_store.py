"""The store: what it keeps, what it refuses, and its tables against NumPy."""

from __future__ import annotations

import sqlite3

import numpy as np
import pytest
from small_studies import reproducible, small_study

from bayesieve.errors import DataWarning, FileError, OptionError
from bayesieve.study import Method, StudyResults, run_study
from bayesieve.study.store import Database


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    return run_study(small_study(), tmp_path_factory.mktemp("study"), workers=1)


def test_means_and_errors_are_those_of_numpy(results):
    table = results.table()
    for row in results.means("correct").iter_rows(named=True):
        kept = (table["method"] == row["method"]) & (table["n"] == row["n"]) & (table["measure"] == "correct")
        values = table.filter(kept)["value"].to_numpy()
        assert row["iterations"] == values.size == 5
        assert row["mean"] == pytest.approx(values.mean(), rel=1e-14)
        assert row["standard_error"] == pytest.approx(values.std(ddof=1) / np.sqrt(5), rel=1e-12)
    assert results.means().select("method", "n").rows()[:4] == [("mnc", 20), ("mnc", 40), ("mnc", 60), ("pp", 20)]


def test_a_measure_that_only_some_methods_have(results):
    assert set(results.means("expected_false_positives")["method"]) == {"mnc", "pp"}
    assert set(results.means("expected_under_null")["method"]) == {"mnc"}
    with pytest.raises(OptionError, match="did not measure 'speed', but correct"):
        results.means("speed")


def test_one_iteration_has_no_standard_error(results):
    single = results.restricted(small_study(iterations=1))
    assert single.means()["standard_error"].is_nan().all()


def test_numbers_survive_the_store_to_the_last_bit(tmp_path):
    with Database(tmp_path) as store:
        store.prepare(small_study())
        numbers = {"correct": 0.1 + 0.2, "seconds": 5e-324, "interval_low": 1e300}
        store.add([(20, 0, "mnc", numbers), (20, 1, "mnc", {"correct": float("nan")})])
        store.add([(20, 0, "mnc", {"correct": 5.0})])  # what is there stays
        columns = store.columns()
    assert [columns[name][0] for name in numbers] == list(numbers.values())
    assert columns["correct"][1] is None
    assert StudyResults.load(tmp_path).table().height == 3


def test_a_batch_is_stored_as_a_whole_or_not_at_all(tmp_path):
    with Database(tmp_path) as store:
        store.prepare(small_study())
        with pytest.raises(FileError, match="cannot be used"):
            store.add([(20, 0, "mnc", {"correct": 1.0}), (20, 1, "mnc", {"no such column": 1.0})])
        assert store.done() == set()


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"seed": 2}, "seed is 1 there and 2 here"),
        ({"raw": True}, "raw is false there and true here"),
        ({"constants": {"low_variance_blocks": 6}}, "constants is"),
        ({"measures": ("labels",)}, "measures is"),
        ({"methods": (Method("mnc", "MNC", "obf-jp", "mnc"),)}, "of method mnc options is"),
        ({"methods": (Method("welch", "Welch", "welch", n_selected=7),)}, "n_selected is 80 there and 7 here"),
    ],
)
def test_another_study_under_the_same_name_is_refused(changes, said, tmp_path):
    run_study(small_study(iterations=1, sizes=(20,)), tmp_path, workers=1)
    with pytest.raises(OptionError, match=said):
        run_study(small_study(**changes), tmp_path, workers=1)


def test_a_title_may_change(tmp_path):
    run_study(small_study(iterations=1, sizes=(20,)), tmp_path, workers=1)
    renamed = tuple(
        Method(m.name, "New", m.scores, m.rule, m.n_selected, m.options) for m in small_study().methods
    )
    again = run_study(small_study(iterations=1, sizes=(20,), methods=renamed), tmp_path, workers=1)
    assert set(again.means()["title"]) == {"New"}


def test_files_that_are_no_store(tmp_path):
    text = tmp_path / "text.sqlite"
    text.write_text("not a database, but long enough to be taken for one" * 50)
    other = tmp_path / "other.sqlite"
    with sqlite3.connect(other) as connection:
        connection.execute("CREATE TABLE patients (name TEXT)")
    connection.close()
    for path, said in [(text, "not the store of a study"), (other, "something else than a study")]:
        with pytest.raises(FileError, match=said):
            run_study(small_study(), path, workers=1)
    with pytest.raises(FileError, match="There is no study in"):
        StudyResults.load(tmp_path)
    with pytest.raises(FileError, match="cannot be used"):
        run_study(small_study(), tmp_path / "no" / "folder.sqlite", workers=1)
    with pytest.raises(FileError, match="something else than a study"):
        StudyResults.load(other)


def test_a_store_of_another_format_is_refused(tmp_path):
    with Database(tmp_path) as store:
        store.prepare(small_study())
    with sqlite3.connect(tmp_path / "study.sqlite") as connection:
        connection.execute("UPDATE meta SET value = 'bayesieve study 99' WHERE key = 'format'")
    connection.close()
    with pytest.raises(FileError, match="not written by a study of this version"):
        StudyResults.load(tmp_path)


def test_going_on_with_another_version_is_told(tmp_path):
    design = small_study(iterations=1, sizes=(20,))
    run_study(design, tmp_path, workers=1)
    with sqlite3.connect(tmp_path / "study.sqlite") as connection:
        connection.execute("UPDATE meta SET value = '0.0.1' WHERE key = 'bayesieve'")
    connection.close()
    with pytest.warns(DataWarning, match=r"begun with bayesieve 0\.0\.1"):
        run_study(design, tmp_path, workers=1)


def test_results_are_those_asked_for_and_the_store_keeps_all(tmp_path):
    wide = run_study(small_study(), tmp_path, workers=1)
    narrow = run_study(small_study().changed(sizes=[40], iterations=2, methods=["welch"]), tmp_path, workers=1)
    assert narrow.wide.select("n", "iteration", "method").rows() == [(40, 0, "welch"), (40, 1, "welch")]
    loaded = StudyResults.load(tmp_path)
    assert loaded.design.sizes == (20, 40, 60)
    assert reproducible(loaded).equals(reproducible(wide))
    assert loaded.version == wide.version != ""


def test_a_method_without_results_may_be_mended(tmp_path):
    wrong, right = (
        small_study(methods=(Method("a", "A", "obf-jp", "mnc", options={"prior_probability": p}),))
        for p in (0.2, 0.3)
    )
    for design in (wrong, right):
        with Database(tmp_path / "study.sqlite") as store:
            store.prepare(design)
    results = run_study(right, tmp_path, workers=1, iterations=1)
    assert results.design.methods[0].options == {"prior_probability": 0.3}
    with pytest.raises(OptionError, match="holds another study"):
        run_study(wrong, tmp_path, workers=1)


def test_a_store_with_the_former_name_of_a_measure_is_read_and_goes_on(tmp_path):
    with Database(tmp_path) as store:
        store.prepare(small_study())
        store.add([(20, 0, "mnc", {"correct": 1.0, "expected_under_null": 2.5})])
    with sqlite3.connect(tmp_path / "study.sqlite") as connection:
        connection.execute("ALTER TABLE results RENAME COLUMN expected_under_null TO expected_by_chance")
    connection.close()
    assert StudyResults.load(tmp_path).means("expected_under_null")["mean"].to_list() == [2.5]
    with Database(tmp_path) as store:
        store.prepare(small_study())
        store.add([(20, 1, "mnc", {"correct": 1.0, "expected_under_null": 3.5})])
        assert store.columns()["expected_under_null"] == [2.5, 3.5]
