"""``bayesieve pairs``: the same numbers as the library, a table that can be read, mistakes that are explained."""

from __future__ import annotations

import io
import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from commands import gene_names, halves, in_rows, inside, numbers, read_exactly

import bayesieve as bs

LABELS = halves(60)
VALUES = numbers(n_samples=60, n_features=30, seed=4)
SIGN = np.where(np.array(LABELS) == LABELS[0], 1.0, -1.0)
VALUES[:, 11] = (10.0 + SIGN * 0.9 * (VALUES[:, 10] - 10.0) + 0.3 * (VALUES[:, 11] - 10.0)).round(4)
NAMES = gene_names(30)


@pytest.fixture
def bayesieve(tmp_path, monkeypatch, capfd):
    """Run commands in an empty folder that holds a table."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TERM", "dumb")
    monkeypatch.setenv("COLUMNS", "200")
    Path("table.csv").write_text(in_rows(VALUES, LABELS), encoding="utf-8")

    def run(*arguments):
        return inside(capfd, monkeypatch, *arguments)

    return run


def assert_table(found, expected):
    table = expected.to_dict()
    assert list(found.columns) == list(table)
    for name, column in table.items():
        if name in ("feature", "partner", "kind"):
            assert found[name].tolist() == list(column)
        else:
            np.testing.assert_allclose(found[name], column, rtol=1e-9, atol=1e-9)


def test_pairs_are_listed_as_the_library_does(bayesieve):
    result = bayesieve("pairs", "table.csv", "--labels", "stage", "--top", 12, "--out", "pairs.csv")
    assert result.code == 0, result.err
    expected = bs.screen_pairs(VALUES, LABELS, feature_names=NAMES, top=12)
    assert_table(read_exactly("pairs.csv"), expected)
    assert expected.pairs[0] == (NAMES[10], NAMES[11])
    for line in expected.summary().splitlines():
        assert line in result.said
    first = next(line for line in result.err.splitlines() if line.startswith(NAMES[10]))
    assert first.split()[1] == NAMES[11]
    assert "reversed" in first
    assert first.endswith("<0.05")
    assert "Wrote 12 rows to pairs.csv." in result.err


def test_options_reach_the_library(bayesieve):
    result = bayesieve(
        "pairs", "table.csv", "--labels", "stage", "--top", 5, "--by", "evidence", "--prior", "pp",
        "--shuffles", 3,
        "--seed", 9, "--threads", 2,
    )  # fmt: skip
    assert result.code == 0, result.err
    expected = bs.screen_pairs(
        VALUES, LABELS, feature_names=NAMES, by="evidence", prior="pp", top=5, shuffles=3, seed=9
    )
    assert_table(read_exactly(io.StringIO(result.out)), expected)
    none = bayesieve("pairs", "table.csv", "--labels", "stage", "--shuffles", 0, "--top", 5)
    assert "not shuffled" in none.said
    assert "by chance" not in none.said
    assert "by_chance" not in none.out


def test_blocks_are_written_and_told(bayesieve):
    result = bayesieve("pairs", "table.csv", "--labels", "stage", "--out", "p.json", "--blocks-out", "blocks.csv")
    assert result.code == 0, result.err
    expected = bs.score(VALUES, LABELS, method="spm", feature_names=NAMES, shuffles=5).diagnostics
    table = pl.read_csv("blocks.csv")
    assert table.columns == ["block", "step", "feature", "log_gain"]
    blocks = [part["feature"].to_list() for part in table.partition_by("block", maintain_order=True)]
    assert blocks == [list(block) for block in expected["blocks"]]
    assert f"SPM finds {len(blocks)} block" in result.said
    assert f"1. {', '.join(blocks[0])}" in result.said
    assert json.loads(Path("p.json").read_text())["n_pairs"] == 435
    plain = bayesieve("pairs", "table.csv", "--labels", "stage", "--shuffles", 0, "--blocks-out", "blocks.csv")
    assert "labels were not shuffled, and correlated features make seeds by chance" in plain.said


def test_settings_can_be_repeated(bayesieve):
    first = bayesieve(
        "pairs", "table.csv", "--labels", "stage", "--prior", "pp", "--shuffles", 2, "--config-out", "run.toml"
    )
    assert first.code == 0, first.err
    assert 'prior = "pp"' in Path("run.toml").read_text()
    again = bayesieve("pairs", "table.csv", "--config", "run.toml")
    assert again.code == 0, again.err
    assert again.out == first.out


def test_three_classes_are_refused_with_a_way_out(bayesieve):
    labels = ["a", "b", "c"] * 20
    Path("three.csv").write_text(in_rows(VALUES, labels), encoding="utf-8")
    result = bayesieve("pairs", "three.csv", "--labels", "stage")
    assert result.code == 2
    assert 'two classes, but three.csv has 3. Pick or merge some, for example --classes "a; b"' in result.said
    assert bayesieve("pairs", "three.csv", "--labels", "stage", "--classes", "a; b").code == 0


def test_missing_values_are_refused(bayesieve):
    values = VALUES.copy()
    values[3, 4] = np.nan
    Path("missing.csv").write_text(in_rows(values, LABELS).replace("nan", "NA"), encoding="utf-8")
    result = bayesieve("pairs", "missing.csv", "--labels", "stage")
    assert result.code == 2
    assert "1 missing value(s)" in result.said
    assert "fill them in first" in result.said
    assert "--missing" not in result.said


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--blocks-out", "blocks.pdf"), "blocks.pdf"),
        (("--blocks-out", "table.csv"), "overwrite table.csv"),
        (("--out", "a.csv", "--blocks-out", "a.csv"), "also --out"),
        (("--by", "strength"), "together"),
        (("--prior", "calibrated"), "jp"),
        (("--top", "0"), "--top"),
    ],
)
def test_mistakes(bayesieve, arguments, words):
    result = bayesieve("pairs", "table.csv", "--labels", "stage", *arguments)
    assert result.code == 2
    assert words in result.said


def test_statistics_files_hold_no_pairs(bayesieve):
    assert bayesieve("stats", "table.csv", "--labels", "stage", "--out", "site.stats.parquet").code == 0
    result = bayesieve("pairs", "site.stats.parquet")
    assert result.code == 2
    assert "no samples" in result.said


def test_an_interruption_ends_quietly(tmp_path):
    """Ctrl-C in the middle of many shuffles: exit code 130, one line, no file."""
    values = np.random.default_rng(0).normal(size=(40, 1500)).round(3)
    (tmp_path / "big.csv").write_text(in_rows(values, halves(40)), encoding="utf-8")
    start = "from bayesieve.cli import command; command()"
    options = ["--labels", "stage", "--shuffles", "100000", "--out", "out.csv"]
    command = [sys.executable, "-c", start, "pairs", "big.csv", *options]
    with subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True) as process:
        time.sleep(4)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=30)
    assert process.returncode == 130, said
    assert "interrupted" in said
    assert "Traceback" not in said
    assert not (tmp_path / "out.csv").exists()
