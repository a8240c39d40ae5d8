"""``bayesieve study colon`` as people type it: files, going on, lists, mistakes."""

from __future__ import annotations

import os
import signal
import subprocess
import time

import polars as pl
import pytest
from commands import environment, executable, inside
from made_colon import ADENOMAS, STAGES, write_platform, write_series

from bayesieve.study import built_in_names


@pytest.fixture
def colon(capfd, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    return lambda *arguments: inside(capfd, monkeypatch, "study", *arguments)


def test_made_data_and_going_on(colon, tmp_path):
    command = ("colon", "--synthetic", "--features", 400, "--methods", "obf-jp,obf,bd,welch,lasso-logit",
               "--iterations", 1, "--workers", 1)  # fmt: skip
    done = colon(*command)
    assert done.code == 0, done.err
    assert "238 samples (made, no patients), 311 of 400 features with a gene" in done.out
    assert "CMNC-OBF-JP, words" in done.out
    assert "summary.html (also .md), results.csv and 3 figures (colon, colon-s1, colon-s3)" in done.said
    names = {path.name for path in (tmp_path / "colon").iterdir()}
    assert {"made_series_matrix.txt.gz", "made_platform.txt.gz", "made_sets.gmt", "made_truth.csv"} <= names
    assert {f"table-s{k}.csv" for k in range(1, 6)} | {"regressions.csv", "shuffled.csv", "data.csv"} <= names
    page = (tmp_path / "colon" / "summary.html").read_text()
    assert "THE DATA ARE MADE" in page
    assert "bayesieve study colon --synthetic" in page
    tables = {name: (tmp_path / "colon" / name).read_bytes() for name in ("table-s2.csv", "regressions.csv")}
    again = colon(*command)
    assert "10 of 10 steps were there already." in again.said
    assert again.out == done.out
    assert tables == {name: (tmp_path / "colon" / name).read_bytes() for name in tables}


def test_ctrl_c_says_how_to_go_on(tmp_path):
    command = [executable(), "study", "colon", "--synthetic", "--features", "3000", "--iterations", "40",
               "--methods", "obf-jp,lasso-logit", "--workers", "2"]  # fmt: skip
    process = subprocess.Popen(
        command, cwd=tmp_path, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment(),
        start_new_session=True,
    )  # fmt: skip
    steps = tmp_path / "colon" / "steps"
    while process.poll() is None and not any(steps.glob("lasso-logit-cv-*.sqlite")):
        time.sleep(0.05)
    os.killpg(process.pid, signal.SIGINT)
    out, errors = process.communicate(timeout=120)
    assert process.returncode == 130, errors
    assert out == ""
    assert "bayesieve: interrupted; finished steps are stored in colon. Run the same command again" in errors
    assert "Traceback" not in errors
    assert {path.stem for path in steps.glob("*.npz")} == {"made", "obf-jp-numbers", "obf-jp-words"}


def test_a_series_and_its_platform(colon, tmp_path):
    write_series(tmp_path / "s.txt", STAGES, ADENOMAS)
    write_platform(tmp_path / "p.txt", ["TP53", "KRAS", "AMER1", *(f"G{j}" for j in range(30)), *[""] * 7])
    done = colon("colon", "--series", "s.txt", "--platform", "p.txt", "--methods", "obf-jp,welch", "--out", "out",
                 "--reading", "words")  # fmt: skip
    assert done.code == 0, done.err
    assert "37 samples, 33 of 40 features with a gene, 33 genes." in done.out
    assert "Of 3 known genes" in done.out
    ranks = pl.read_csv(tmp_path / "out" / "table-s1.csv")
    assert ranks.filter(pl.col("CMNC-OBF-JP, here").is_not_null())["gene"].to_list() == ["TP53", "KRAS", "FAM123B"]
    assert "RMA of affy" in (tmp_path / "out" / "summary.md").read_text()


def test_the_study_is_listed(colon):
    listed = colon("--list").out
    assert "colon " in listed
    assert all(name in listed for name in built_in_names())
    assert 'name = "colon"' in colon("colon", "--list").out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["colon"], "Nothing says what the study colon is to run on"),
        (["colon", "--series", "s.txt"], "give the table of its platform as well"),
        (["colon", "--series", "s.txt", "--synthetic"], "both say what"),
        (["colon", "--series", "none.txt", "--platform", "p.txt"], "There is no file none.txt"),
        (["colon", "--series", "p.txt", "--platform", "p.txt"], "no whole GEO series matrix"),
        (["colon", "--series", "s.txt", "--platform", "s.txt"], "s.txt"),
        (["colon", "--series", "s.txt", "--platform", "p.txt", "--labels", "gender"], "Name the one of stages"),
        (["colon", "--series", "s.txt", "--platform", "p.txt", "--sets", "none.gmt"], "There is no file none.gmt"),
        (["colon", "--table", "t.csv", "--labels", "grade"], "holds no stages 1 to 4"),
        (["colon", "--table", "t.csv", "--labels", "stage", "--platform", "p.txt"], "leave --platform out"),
        (["colon", "--synthetic", "--sizes", "20"], "--sizes is not for the study colon"),
        (["colon", "--series", "s.txt", "--platform", "p.txt", "--features", "500"], "that --synthetic makes"),
        (["colon", "--synthetic", "--platform", "p.txt", "--features", "500"], "leave --features out"),
        (["colon", "--synthetic", "--methods", "svm"], "has no method"),
        (["figure-1a", "--series", "s.txt"], "--series is for the study colon"),
        (["trust", "--synthetic"], "--synthetic is for the study colon"),
    ],
)
def test_mistakes_get_one_paragraph(colon, tmp_path, arguments, words):
    write_series(tmp_path / "s.txt", STAGES, ADENOMAS)
    write_platform(tmp_path / "p.txt", [f"G{j}" for j in range(40)])
    (tmp_path / "t.csv").write_text(
        "id,stage,grade,A,B\n" + "".join(f"s{k},{k % 4 + 1},high,{k},{k * k}\n" for k in range(40)),
        encoding="utf-8",
    )
    done = colon(*arguments)
    assert done.code == 2
    assert words in done.said
    (line,) = done.err.rstrip().splitlines()
    assert line.startswith("bayesieve: ")
