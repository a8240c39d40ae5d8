"""``bayesieve plan``: pilots of all kinds, stated effects, files, and clear words about mistakes."""

from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest
from commands import inside

import bayesieve as bs


@pytest.fixture
def bayesieve(tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TERM", "dumb")
    monkeypatch.setenv("COLUMNS", "200")
    rng = np.random.default_rng(2)
    values = rng.normal(size=(20, 250)).round(6)
    values[10:, :15] += 1.5
    head = ",".join(["stage", *(f"g{j}" for j in range(250))])
    rows = [",".join(["ab"[i // 10], *(f"{value}" for value in row)]) for i, row in enumerate(values)]
    (tmp_path / "t.csv").write_text("\n".join([head, *rows]) + "\n")
    return lambda *arguments: inside(capfd, monkeypatch, *arguments)


FEW = ("--per-class", "15,30", "--futures", "20", "--shuffles", "5")


def test_numbers_are_those_of_the_function(bayesieve, tmp_path):
    done = bayesieve("plan", "t.csv", "--labels", "stage", *FEW, "--rules", "mnc,fdr:0.2", "--seed", "3", "--out",
                     "p.csv", "--power-out", "w.json", "--report", "p.html", "--figure", "f.svg")  # fmt: skip
    assert done.code == 0, done.err
    table = bs.read_table(tmp_path / "t.csv", labels="stage")
    own = bs.plan(table, per_class="15,30", futures=20, shuffles=5, rules=("mnc", "fdr:0.2"), seed=3)
    assert done.out == own.summary() + "\n"
    assert pl.read_csv("p.csv")["true"].to_list() == pytest.approx(own.to_dict()["true"])
    assert json.loads((tmp_path / "w.json").read_text())
    assert "What each study would list" in (tmp_path / "p.html").read_text()
    assert (tmp_path / "f.svg").exists()
    assert (tmp_path / "f-power.svg").exists()
    assert "Wrote p.csv, w.json, p.html, f.svg." in done.said


def test_a_result_and_a_statistics_file_are_pilots(bayesieve):
    assert bayesieve("screen", "t.csv", "--labels", "stage", "--out", "r.csv").code == 0
    assert bayesieve("stats", "t.csv", "--labels", "stage", "--out", "s.stats.parquet").code == 0
    result, statistics = (bayesieve("plan", name, *FEW) for name in ("r.csv", "s.stats.parquet"))
    assert result.code == statistics.code == 0, result.err + statistics.err
    assert "the pilot is a stored result" in result.said
    assert "labels were not shuffled" in statistics.out


def test_without_a_pilot(bayesieve, tmp_path):
    done = bayesieve("plan", "--no-pilot", "--n-features", "400", "--n-markers", "20", "--differences", "1.5",
                     *FEW, "--goal", "10 markers at 80% right", "--config-out", "c.toml")  # fmt: skip
    assert done.code == 0, done.err
    assert "The cheapest study with 10 true markers" in done.out
    again = bayesieve("plan", "--config", "c.toml")
    assert again.out == done.out, again.err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("plan",), "neither was given"),
        (("plan", "t.csv", "--no-pilot"), "both were given"),
        (("plan", "absent.csv"), "absent.csv"),
        (("plan", "t.csv", "--labels", "stage", "--per-class", "1"), "no spread"),
        (("plan", "t.csv", "--labels", "stage", "--ratio", "0:1"), "--ratio"),
        (("plan", "t.csv", "--labels", "stage", "--figure", "f.gif"), "not as 'gif'"),
        (("plan", "t.csv", "--labels", "stage", "--report", "p.txt"), "HTML"),
        (("plan", "t.csv", "--labels", "stage", "--out", "t.csv"), "overwrite"),
        (("plan", "t.csv", "--labels", "stage", "--goal", "lots"), "--goal"),
        (("plan", "--no-pilot", "--differences", "big"), "--differences"),
        (("plan", "t.csv", "--labels", "stage", "--classes", "a"), "at least two classes"),
    ],
)
def test_mistakes_get_one_paragraph(bayesieve, arguments, words):
    done = bayesieve(*arguments)
    assert done.code == 2
    assert words in done.said
    assert "Traceback" not in done.err
