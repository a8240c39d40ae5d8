"""Names of features from a table of annotations, and the list alone."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest
from commands import in_rows, inside, numbers

import bayesieve as bs

VALUES = numbers(12, 5)
LABELS = ["a"] * 6 + ["b"] * 6
GENES = "probe,symbol,chromosome\ng0,TP53,17\ng1,KRAS,12\ng2,KRAS,12\ng3,,7\n"


@pytest.fixture
def run(tmp_path, capfd, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.csv").write_text(in_rows(VALUES, LABELS))
    (tmp_path / "genes.csv").write_text(GENES)
    return lambda *words: inside(capfd, monkeypatch, *words)


SCREEN = ("screen", "t.csv", "-l", "stage", "--features", "genes.csv", "--label-column", "symbol")


def test_a_column_of_annotations_names_the_features(run):
    result = run(*SCREEN, "-o", "list.csv", "--report", "r.html", "--manifest", "m.json")
    assert result.code == 0, result.err
    assert " TP53 " in result.said
    table = pd.read_csv("list.csv").set_index("feature")
    assert set(table.index) == {"TP53", "KRAS", "KRAS.2", "g3", "g4"}
    assert table.loc["KRAS.2", "feature_id"] == "g2"
    assert table.loc["TP53", "chromosome"] == 17
    assert "symbol" not in table
    assert "TP53" in Path("r.html").read_text()
    stored = bs.read_result("list.csv")
    assert stored.posterior.names[0] == "TP53"
    again = run("report", "m.json", "-o", "again.html")
    assert again.code == 0, again.err
    assert "TP53" in Path("again.html").read_text()
    assert "results differ" not in again.said


def test_a_column_that_is_not_there(run):
    result = run(*SCREEN[:-1], "symbl")
    assert result.code == 2
    assert "--label-column names the column 'symbl'" in result.said
    assert "Did you mean 'symbol'?" in result.said
    alone = run("screen", "t.csv", "-l", "stage", "--label-column", "symbol")
    assert alone.code == 2
    assert "--features FILE" in alone.said


@pytest.mark.parametrize("ending", ["csv", "tsv", "json", "parquet"])
def test_the_list_alone(run, ending):
    result = run(*SCREEN, "-n", "2", "--only-selected", "-o", f"list.{ending}")
    assert result.code == 0, result.err
    assert f"Wrote 2 rows to list.{ending}." in result.said
    if ending == "json":
        features = json.loads(Path("list.json").read_text())["features"]
        assert features[0]["feature"] == "TP53"
        assert len(features) == 2
        return
    read = (
        pd.read_parquet
        if ending == "parquet"
        else lambda path: pd.read_csv(path, sep="\t" if ending == "tsv" else ",")
    )
    table = read(f"list.{ending}")
    assert table["rank"].tolist() == [1, 2]
    assert table["selected"].all()


def test_the_list_alone_on_standard_output(run):
    result = run(*SCREEN, "-n", "3", "--only-selected")
    assert len(result.out.splitlines()) == 4


def test_a_list_alone_is_no_whole_result(run):
    run(*SCREEN, "-n", "2", "--only-selected", "-o", "list.csv")
    result = run("report", "list.csv", "-o", "r.html")
    assert result.code in (0, 2)
    assert "Traceback" not in result.err
