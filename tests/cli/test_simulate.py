"""``bayesieve simulate``: files that hold what the library draws, and mistakes explained."""

from __future__ import annotations

import csv
import gzip
import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import bayesieve as bs
from bayesieve.cli.simulate import run_simulate, write_data
from bayesieve.simulation import SynergeticModel, SyntheticData, data_model

SMALL = ["low_variance_blocks=2", "high_variance_features=3"]
MODEL = SynergeticModel(low_variance_blocks=2, high_variance_features=3)


@pytest.fixture(autouse=True)
def empty_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def settings(**more):
    return {
        "n": "10", "out": "practice.csv", "model": "synergetic", "seed": 1, "set": SMALL, "decimals": 4,
        "quiet": False, "verbose": False, "json_log": False, **more,
    }  # fmt: skip


def table(path, delimiter=","):
    content = Path(path).read_bytes()
    text = (gzip.decompress(content) if Path(path).suffix == ".gz" else content).decode()
    head, *rows = csv.reader(text.splitlines(), delimiter=delimiter)
    values = np.array([[float(cell) for cell in row[2:]] for row in rows])
    return head, [row[0] for row in rows], [row[1] for row in rows], values


@pytest.mark.parametrize("out", ["practice.csv", "practice.tsv", "practice.csv.gz", "practice.TSV.gz"])
def test_text_files_hold_the_data_and_the_truth(out):
    run_simulate(settings(out=out))
    data = MODEL.draw(10, seed=1)
    head, samples, labels, values = table(out, "," if ".csv" in out else "\t")
    assert head == ["sample", "class", *(f"x{j}" for j in range(152))]
    assert samples == [f"s{i}" for i in range(10)]
    assert labels == ["0"] * 5 + ["1"] * 5
    np.testing.assert_array_equal(values, data.values.round(4))
    truth = pl.read_csv("practice.truth.csv")
    assert truth.columns == ["feature", "marker", "kind", "group"]
    assert truth["feature"].to_list() == head[2:]
    assert truth["marker"].to_list() == data.true_markers.tolist()
    assert set(truth["kind"]) == {
        "global marker", "heterogeneous marker", "no marker, low variance", "no marker, high variance",
    }  # fmt: skip
    assert truth["group"].to_list() == data.group.tolist()
    assert sorted(path.name for path in Path().iterdir()) == sorted([out, "practice.truth.csv"])


def test_parquet():
    run_simulate(settings(out="practice.parquet", n="4,7", decimals=2))
    frame = pl.read_parquet("practice.parquet")
    assert frame["class"].to_list() == [0] * 4 + [1] * 7
    expected = MODEL.draw((4, 7), seed=1).values.round(2)
    np.testing.assert_array_equal(frame.drop("sample", "class").to_numpy(), expected)


@pytest.mark.parametrize("out", ["practice.csv", "practice.parquet"])
def test_files_can_be_screened(out):
    run_simulate(settings(out=out, n="60"))
    read = bs.read_table(out, labels="class")
    posterior = bs.screen(read, prior_probability=0.5)
    data = MODEL.draw(60, seed=1)
    expected = bs.screen(data.values.round(4), data.labels, prior_probability=0.5)
    np.testing.assert_allclose(posterior.log_odds, expected.log_odds, rtol=1e-9)


@pytest.mark.parametrize("name", ["synergetic-heavy-tailed", "synergetic-skewed", "synergetic-outliers", "prior"])
def test_other_models(name):
    chosen = SMALL if name != "prior" else ["n-features=30", "prior-probability=0.5"]
    run_simulate(settings(model=name, set=chosen, decimals=3))
    constants = {key.replace("-", "_"): float(value) for key, value in (item.split("=") for item in chosen)}
    whole = {key: value if key == "prior_probability" else int(value) for key, value in constants.items()}
    np.testing.assert_array_equal(
        table("practice.csv")[3], data_model(name, **whole).draw(10, seed=1).values.round(3)
    )


def test_what_it_says(capsys):
    run_simulate(settings())
    printed = capsys.readouterr()
    assert printed.out == ""
    assert "Drew 10 samples x 152 features, 100 of them true markers (model synergetic, seed 1)." in printed.err
    assert "Wrote practice.csv (classes 0 and 1: 5 and 5 samples) and practice.truth.csv." in printed.err
    assert "Try: bayesieve screen practice.csv --labels class -p 0.66" in printed.err
    run_simulate(settings(quiet=True))
    assert capsys.readouterr().err == ""
    run_simulate(settings(json_log=True))
    lines = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    assert lines[-1]["event"] == "simulated"
    assert lines[-1]["n_markers"] == 100


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"n": "7"}, r"--n must be even.*7 was given.*Try 8, or name the class sizes: 3,4"),
        ({"n": "many"}, r"for example 200 or 80,120, not 'many'"),
        ({"n": "1,2,3"}, r"two class sizes"),
        ({"n": "0"}, r"at least 2"),
        ({"n": "0,5"}, r"at least 1"),
        ({"out": "practice.xlsx"}, r"Cannot tell the format of practice.xlsx"),
        ({"out": "practice.parquet.gz"}, r"Cannot tell the format"),
        ({"out": "no/such/practice.csv"}, r"there is no folder .*such"),
        ({"model": "microarray"}, r"There is no data model 'microarray'; there are synergetic, "),
        ({"set": ["rho=0.5"]}, r"has no constant 'rho'"),
        ({"set": ["correlation"]}, r"--set takes a constant and its value.*not 'correlation'"),
        ({"set": ["correlation=0,5"]}, r"--set takes a constant and its value"),
        ({"set": ["correlation=2"]}, r"correlation must lie in \[0, 1\)"),
        ({"set": ["correlation='high'"]}, r"correlation"),
    ],
)
def test_mistakes_are_explained_and_leave_no_file(changed, words):
    with pytest.raises(bs.BayesieveError, match=words):
        run_simulate(settings(**changed))
    assert list(Path().iterdir()) == []


def test_an_interruption_leaves_the_old_files():
    run_simulate(settings())
    before = {path.name: path.read_bytes() for path in Path().iterdir()}

    def interrupted():
        yield MODEL.draw(4, seed=2)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_data(interrupted(), Path("practice.csv"), 8)
    assert {path.name: path.read_bytes() for path in Path().iterdir()} == before


def test_progress_and_signs_of_zero():
    values = np.array([[-0.00001, 0.0, 1.00004], [1e-9, -2.5, 1234.56789]])
    kind = np.array([0, 2, 3], dtype=np.int8)
    pieces = [SyntheticData(values[i : i + 1], np.array([i]), kind, kind) for i in (0, 1)]
    seen = []
    write_data(pieces, Path("a.csv"), 2, progress=lambda done, total: seen.append((done, total)))
    assert seen == [(1, 2), (2, 2)]
    assert Path("a.csv").read_text() == "sample,class,x0,x1,x2\ns0,0,0.0,0.0,1.0\ns1,1,0.0,-2.5,1234.5679\n"


def test_the_same_seed_gives_the_same_bytes():
    run_simulate(settings(out="a.csv.gz"))
    run_simulate(settings(out="b.csv.gz"))
    assert Path("a.csv.gz").read_bytes() == Path("b.csv.gz").read_bytes()
