"""``bayesieve check``: the numbers of check_table, files, and clear words about what cannot be checked."""

from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest
from commands import inside

from bayesieve.study import check_table

pytestmark = pytest.mark.usefixtures("table")


@pytest.fixture
def bayesieve(table, monkeypatch, capfd):
    """Run commands in a folder that holds a table."""
    monkeypatch.setenv("TERM", "dumb")
    monkeypatch.setenv("COLUMNS", "200")
    return lambda *arguments: inside(capfd, monkeypatch, *arguments)


@pytest.fixture
def table(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    values = np.random.default_rng(2).standard_t(4, size=(24, 80)).round(6)
    head = ",".join(["stage", *(f"g{j}" for j in range(80))])
    rows = [",".join(["ab"[i % 2], *(f"{value}" for value in row)]) for i, row in enumerate(values)]
    (tmp_path / "t.csv").write_text("\n".join([head, *rows]) + "\n")
    return values


FEW = ("--labels", "stage", "--repeats", "3", "--shuffles", "25")


def test_numbers_are_those_of_the_function(bayesieve, table, tmp_path):
    done = bayesieve("check", "t.csv", *FEW, "--out", "c.csv", "--seed", "4", "-p", "0.05")
    assert done.code == 0, done.err
    own = check_table(table, list("ab" * 12), repeats=3, shuffles=25, seed=4, prior_probability=0.05)
    assert done.out == own.summary() + "\n"
    written = pl.read_csv(tmp_path / "c.csv")
    assert written.height == 12
    assert written["false_positives"].to_list() == own.to_dict()["false_positives"]
    assert written["claimed_false_positives"].to_list() == pytest.approx(own.to_dict()["claimed_false_positives"])


def test_rule_methods_and_json(bayesieve, table, tmp_path):
    done = bayesieve("check", "t.csv", *FEW, "--proportion", "0.2", "-m", "obf-jp,obf-pp", "--out", "c.json")
    assert done.code == 0, done.err
    own = check_table(table, list("ab" * 12), repeats=3, rule="fdr:0.2", methods=["obf-jp", "obf-pp"])
    written = json.loads((tmp_path / "c.json").read_text())
    assert [row["method"] for row in written["summary"]] == ["obf-jp", "obf-jp", "obf-pp", "obf-pp"]
    for row, known in zip(written["summary"], own.summary_rows(), strict=True):
        assert row.keys() == known.keys()
        for name, value in known.items():
            exact = value is None or isinstance(value, (str, bool))
            assert row[name] == (value if exact else pytest.approx(value, rel=1e-12)), name


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("-m", "welch"), "Screens to check are obf, obf-jp, obf-pp, not welch"),
        (("--spiked-share", "0"), "spiked_share"),
        (("--spiked-share", "0.9", "--ignore", "g1"), ""),
        (("--out", "c.xyz"), "Cannot tell the format"),
        (("-p", "t.csv:g1"), "one prior probability"),
    ],
)
def test_mistakes_are_explained(bayesieve, arguments, said):
    done = bayesieve("check", "t.csv", *FEW, *arguments)
    assert done.code == (2 if said else 0), done.err
    assert said in done.said
    assert "Traceback" not in done.err


def test_an_interruption_is_told(bayesieve, monkeypatch):
    def stop(*_, progress, **__):
        progress(3, 12)
        raise KeyboardInterrupt

    monkeypatch.setattr("bayesieve.cli.check.check_table", stop)
    done = bayesieve("check", "t.csv", *FEW, "--out", "c.csv")
    assert done.code == 130
    assert "interrupted after 3 screens; nothing was written" in done.said
