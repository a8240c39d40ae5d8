"""The real ``bayesieve`` command, run as a user runs it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import bayesieve as bs
from bayesieve.simulation import SynergeticModel


def executable():
    beside = shutil.which("bayesieve", path=str(Path(sys.executable).parent))
    found = beside or shutil.which("bayesieve")
    assert found is not None, "the command is not installed: pip install -e ."
    return found


def run(*arguments, columns=80):
    return subprocess.run(
        [executable(), *arguments],
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=120,
        check=False,
        env={**os.environ, "COLUMNS": str(columns), "PYTHONIOENCODING": "utf-8", "TERM": "dumb"},
    )


def in_one_line(text):
    """Undo the wrapping of lines and the frames around them."""
    return " ".join(re.sub(r"[│╭╮╰╯─]", " ", text).split())


@pytest.fixture(scope="module")
def demo():
    return run("demo", "--samples", "60", "--seed", "3", "--top", "12")


def test_version():
    result = run("--version")
    assert (result.returncode, result.stdout, result.stderr) == (0, f"bayesieve {bs.__version__}\n", "")


def test_help():
    result = run("--help")
    assert result.returncode == 0
    assert result.stderr == ""
    text = in_one_line(result.stdout)
    for words in (
        "Usage: bayesieve",
        "Which of thousands of features differ between classes?",
        "--version",
        "demo",
    ):
        assert words in text


def test_help_of_the_demo():
    result = run("demo", "--help")
    assert result.returncode == 0
    for option in ("--samples", "--seed", "--top"):
        assert option in result.stdout


def test_no_arguments_show_the_help():
    assert "Usage: bayesieve" in in_one_line(run().stdout)


def test_demo_tells_expected_and_true_errors(demo):
    """The numbers are those of the library on the same data."""
    assert demo.returncode == 0
    text = in_one_line(demo.stdout)
    data = SynergeticModel().draw(60, seed=3)
    posterior = bs.screen(data.values, data.labels, prior_probability=0.005, shuffles=100)
    selection = bs.MinimalRisk(0.5).select(posterior)
    wrong = int((selection.mask & ~data.true_markers).sum())
    missed = int((~selection.mask & data.true_markers).sum())
    right = int((selection.mask == data.true_markers).sum())
    assert "60 samples x 20,000 features, 100 true markers (seed 3)" in text
    assert f"{selection.n_selected} features selected" in text
    assert f"False positives: {selection.false_positive_estimate.describe()}" in text
    assert f"in truth {wrong}." in text
    missing = f"Markers missed: {selection.expected_false_negatives:.1f} expected under the model"
    assert f"{missing}; in truth {missed} of 100." in text
    assert f"Correctly labelled: {right:,} of 20,000 features." in text
    assert selection.n_selected > 0
    assert wrong > 0
    assert re.search(r"Time: [\d.]+ ms to screen 10 MB", text)


def test_demo_ranks_the_strongest_features(demo):
    rows = re.findall(
        r"^ +(\d+) +(x\d+) +(-?[\d.]+) +([\d.]+) +([+-][\d.]+) +([+-][\d.]+) +(.+?) *$", demo.stdout, re.M
    )
    assert [int(row[0]) for row in rows] == list(range(1, 13))
    data = SynergeticModel().draw(60, seed=3)
    posterior = bs.screen(data.values, data.labels, prior_probability=0.005, shuffles=0)
    best = posterior.ranking[:12]
    assert [row[1] for row in rows] == [f"x{i}" for i in best]
    assert [row[2] for row in rows] == [f"{posterior.log_odds[i]:.1f}" for i in best]
    assert ["no marker" not in row[6] for row in rows] == data.true_markers[best].tolist()


def test_demo_fits_into_eighty_plain_columns(demo):
    assert max(map(len, demo.stdout.splitlines())) <= 80
    assert "…" not in demo.stdout
    assert "\x1b" not in demo.stdout


def test_demo_is_reproducible(demo):
    again = run("demo", "--samples", "60", "--seed", "3", "--top", "12")
    first, second = (result.stdout.partition("Time:")[0] for result in (demo, again))
    assert first == second


@pytest.mark.parametrize("samples", ["7", "201"])
def test_odd_numbers_of_samples(samples):
    result = run("demo", "--samples", samples)
    assert result.returncode == 2
    assert result.stdout == ""
    assert result.stderr.startswith("bayesieve: ")
    assert result.stderr.count("\n") == 1  # one paragraph
    assert "Traceback" not in result.stderr
    for words in ("--samples must be even", f"{samples} was given", f"Try {int(samples) + 1}."):
        assert words in result.stderr


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--nope"], "--nope"),
        (["demo", "--nope"], "--nope"),
        (["nope"], "nope"),
        (["demo", "--samples", "many"], "--samples"),
        (["demo", "--samples", "2"], "--samples"),
        (["demo", "--top", "0"], "--top"),
    ],
    ids=" ".join,
)
def test_mistakes_on_the_command_line(arguments, words):
    result = run(*arguments)
    assert result.returncode == 2
    assert result.stdout == ""
    assert words in result.stderr
    assert "--help" in result.stderr
    assert "Traceback" not in result.stderr


def test_warnings_are_paragraphs_and_not_source_code():
    result = run("demo", "--samples", "6", "--top", "1")
    assert result.returncode == 0
    assert result.stderr.startswith("bayesieve: warning: Class 0 has only 3 samples.")
    assert result.stderr.count("\n") == 1
    assert "demo.py" not in result.stderr
