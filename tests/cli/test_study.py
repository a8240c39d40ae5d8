"""``bayesieve study`` as people type it: results, going on, lists, mistakes, Ctrl-C."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time

import polars as pl
import pytest
from commands import environment, executable, inside, outside
from small_studies import reproducible, small_study

from bayesieve.errors import MissingExtraError
from bayesieve.study import StudyDesign, StudyResults, built_in, built_in_names, run_study
from bayesieve.study.store import Database


@pytest.fixture
def study(capfd, monkeypatch, tmp_path):
    """Run the command in a folder that holds small.toml, without figures, which take seconds."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "small.toml").write_text(small_study().to_toml(), encoding="utf-8")

    def refuse(*_, **__):
        raise MissingExtraError("Figures need matplotlib.")

    def run(*arguments, figures=False):
        with monkeypatch.context() as patched:
            if not figures:
                patched.setattr("bayesieve.cli.study.write_report", refuse)
            return inside(capfd, patched, "study", *arguments)

    return run


def test_a_study_of_ones_own(study, tmp_path):
    done = study("small.toml", "--workers", 1, figures=True)
    assert done.code == 0, done.err
    assert "3 methods, 3 sizes from n = 20 to 60, 5 iterations, seed 1; 1 process." in done.said
    assert "small/study.sqlite" in done.said
    head, columns, first, *others = done.out.splitlines()
    assert head == "Correctly labelled of 280 features: mean over iterations (standard error)."
    assert columns.split() == ["method", "n", "=", "20", "n", "=", "40", "n", "=", "60"]
    assert len(others) == 2
    expected = run_study(small_study(), tmp_path / "again.sqlite", workers=1)
    cells = [f"{row['mean']:.1f} ({row['standard_error']:.1f})" for row in expected.means().to_dicts()[:3]]
    assert first.split("  ", 1)[1].split() == " ".join(cells).split()
    assert reproducible(StudyResults.load(tmp_path / "small")).equals(reproducible(expected))
    table = pl.read_csv(tmp_path / "small" / "results.csv")
    assert table["correct"].to_list() == pytest.approx(expected.means()["mean"].to_list(), abs=1e-5)
    assert "bayesieve study small.toml --workers 1" in (tmp_path / "small" / "summary.md").read_text()
    assert "summary.html (also .md), results.csv and" in done.said
    assert {"small.png", "small.svg", "small.pdf", "summary.html"} <= {
        path.name for path in (tmp_path / "small").iterdir()
    }


def test_going_on_says_what_is_there_and_grows(study, tmp_path):
    study("small.toml", "--workers", 1, "--iterations", 2, "--sizes", "20,40", "--methods", "welch,mnc", "-o", "a")
    done = study("small.toml", "--workers", 1, "--out", "a")
    assert "there already" not in done.said  # not one data set with all its methods
    assert done.code == 0
    again = study("small.toml", "--workers", 1, "--out", "a")
    assert "15 of 15 data sets are there already." in again.said
    assert again.out == done.out
    design = StudyDesign.from_toml("small.toml")
    assert StudyResults.load("a").wide.height == design.units
    other = study("small.toml", "--workers", 1, "--out", "a", "--seed", 2)
    assert other.code == 2
    assert "holds another study than the one asked for: seed is 1 there and 2 here" in other.said


def test_lists(study):
    everything = study("--list")
    assert [line.split()[0] for line in everything.out.splitlines()] == [
        *built_in_names(),
        "trust",
        "correlations",
    ]
    for name in built_in_names():
        shown = study(name, "--list")
        assert shown.out == built_in(name).to_toml()
    shown = study("figure-1b", "--list", "--iterations", 7, "--sizes", "100,300", "--methods", "bd")
    assert shown.out == built_in("figure-1b").changed(iterations=7, sizes=[100, 300], methods=["bd"]).to_toml()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "Name a study (figure-1a, figure-1b"),
        (("figure-2",), "There is no study 'figure-2'. Studies are figure-1a"),
        (("nothing.toml",), "There is no file nothing.toml."),
        (("small.toml", "--sizes", "20,x"), "--sizes takes whole numbers"),
        (("small.toml", "--sizes", "21"), "must be even"),
        (("small.toml", "--methods", "bd"), "Its methods are mnc, pp, welch."),
        (("small.toml", "--out", "small.toml"), "Cannot make the folder small.toml"),
    ],
)
def test_mistakes_end_with_code_2_and_one_paragraph(study, arguments, said):
    done = study(*arguments)
    assert done.code == 2
    assert said in done.said
    assert "Traceback" not in done.err


def test_quiet_and_json(study, tmp_path):
    quiet = study("small.toml", "--workers", 1, "--quiet", "--iterations", 1)
    assert quiet.messages == []
    assert quiet.out.startswith("Correctly labelled")
    logged = study("small.toml", "--workers", 1, "--json-log", "--iterations", 2)
    events = [json.loads(line)["event"] for line in logged.err.splitlines()]
    assert events[:2] == ["study", "resumed"]
    assert events[-1] == "report"


def test_tables_of_costs_and_of_errors(study, tmp_path):
    costs = {**built_in("table-1").changed(iterations=1, methods=["cmnc-obf-jp", "bd"]).to_dict(), "sizes": [20]}
    costs["constants"] = small_study().constants
    (tmp_path / "costs.toml").write_text(StudyDesign.from_dict(costs).to_toml())
    done = study("costs.toml", "--workers", 1)
    assert done.code == 0, done.err
    assert done.out.splitlines()[0].startswith("Time in units of CMNC-OBF-JP")
    method, n, milliseconds, times, memory = done.out.splitlines()[2].split()
    assert (method, n, times) == ("CMNC-OBF-JP", "20", "1.00")
    assert float(milliseconds) > 0 <= float(memory)
    errors = built_in("calibration").changed(iterations=2, sizes=[20]).to_dict()
    errors["constants"] = {"n_features": 200, "prior_probability": 0.005}
    for method in errors["methods"]:
        method["n_selected"] = 20
    (tmp_path / "errors.toml").write_text(StudyDesign.from_dict(errors).to_toml())
    done = study("errors.toml", "--workers", 1)
    assert done.code == 0, done.err
    assert done.out.splitlines()[0] == "False positives in the list, expected / true: means over iterations."
    assert len(done.out.splitlines()) == 2 + 6


def test_without_matplotlib_the_table_is_written_and_the_way_to_figures_told(tmp_path):
    (tmp_path / "small.toml").write_text(small_study(iterations=1, sizes=(20, 40)).to_toml())
    fake = tmp_path / "fake"
    fake.mkdir()
    (fake / "matplotlib.py").write_text(
        "raise ModuleNotFoundError(\"No module named 'matplotlib'\", name='matplotlib')"
    )
    paths = os.pathsep.join([str(fake), *filter(None, [os.environ.get("PYTHONPATH")])])
    done = outside("study", "small.toml", "--workers", "1", folder=tmp_path, PYTHONPATH=paths)
    assert done.code == 0, done.err
    assert "figures" in done.said
    assert '[figures]"' in done.said
    assert pl.read_csv(tmp_path / "small" / "results.csv").height == 6


def test_ctrl_c_says_how_to_go_on(tmp_path):
    design = small_study(iterations=3000)
    (tmp_path / "small.toml").write_text(design.to_toml())
    command = [executable(), "study", "small.toml", "--workers", "2"]
    process = subprocess.Popen(
        command, cwd=tmp_path, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment(),
        start_new_session=True,
    )  # fmt: skip
    store = tmp_path / "small" / "study.sqlite"
    while process.poll() is None and not (store.is_file() and _number(store) > 30):
        time.sleep(0.05)
    os.killpg(process.pid, signal.SIGINT)
    out, errors = process.communicate(timeout=60)
    assert process.returncode == 130, errors
    assert out == ""
    told = " ".join(errors.split())
    assert "bayesieve: interrupted; " in told
    assert "of 9,000 data sets are finished and stored in small" in told
    assert "Run the same command again to go on." in told
    assert "Traceback" not in errors
    stored = int(told.partition("interrupted; ")[2].split()[0].replace(",", ""))
    assert _number(store) == 3 * stored


def _number(store):
    with Database(store) as database:
        try:
            return len(database.done())
        except ValueError:  # not yet made
            return 0


def test_a_plain_command_does_not_load_studies():
    code = "import sys, bayesieve, bayesieve.cli.app; sys.exit('bayesieve.study' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
