"""Covariates, several blocking factors and subjects on the command line, by the numbers of Python."""

from __future__ import annotations

import commands
import numpy as np
import pandas as pd
import pytest

import bayesieve as bs

N = 40


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A table with columns about its samples, and the same with a label file and samples in columns."""
    rng = np.random.default_rng(5)
    place = tmp_path_factory.mktemp("covariates")
    y = np.arange(N) % 2
    frame = pd.DataFrame({
        "id": [f"s{i}" for i in range(N)], "state": np.where(y, "sick", "well"),
        "age": (rng.normal(60, 10, N) + 8 * y).round(), "sex": rng.choice(["f", "m"], N),
        "batch": rng.integers(1, 4, N), "who": [f"p{i // 4}" for i in range(N)],
    })  # fmt: skip
    values = pd.DataFrame(rng.normal(size=(N, 60)).round(4), columns=[f"g{j}" for j in range(60)])
    values.loc[y == 1, ["g0", "g1"]] += 3.0
    pd.concat([frame, values], axis=1).to_csv(place / "whole.csv", index=False)
    frame.to_csv(place / "about.csv", index=False)
    values.assign(id=frame["id"]).set_index("id").T.to_csv(place / "values.csv", index_label="gene")
    return place, frame, values


def run(folder, capfd, monkeypatch, *arguments):
    monkeypatch.chdir(folder[0])
    return commands.inside(capfd, monkeypatch, "screen", *arguments)


def log_odds(folder, name="out.csv"):
    table = commands.read_exactly(folder[0] / name).set_index("feature")
    return table.loc[folder[2].columns, "log_odds"].to_numpy()


@pytest.mark.parametrize(
    ("arguments", "columns"),
    [
        (["whole.csv", "-l", "state", "--covariates", "age,sex", "--ignore", "batch"], ["age", "sex"]),
        (
            ["values.csv", "-l", "about.csv:state", "--covariates", "age", "--covariates", "about.csv:sex"],
            ["age", "sex"],
        ),
        (["values.csv", "-l", "about.csv:state", "--covariates", "C(batch),age"], ["batch", "age"]),
    ],
)
def test_numbers_are_those_of_python(folder, capfd, monkeypatch, arguments, columns):
    outcome = run(folder, capfd, monkeypatch, *arguments, "--shuffles", "0", "--out", "out.csv")
    assert outcome.code == 0, outcome.err
    _, frame, values = folder
    given = {f"C({name})" if name == "batch" else name: frame[name].to_numpy() for name in columns}
    wanted = bs.screen(values.to_numpy(), frame["state"].to_numpy(), covariates=given, shuffles=0)
    np.testing.assert_allclose(log_odds(folder), wanted.log_odds, atol=1e-8)
    assert "Compared at equal" in outcome.said


def test_blocks_add_up_and_are_crossed(folder, capfd, monkeypatch):
    _, frame, values = folder
    source = [
        "values.csv",
        "-l",
        "about.csv:state",
        "--shuffles",
        "0",
        "--out",
        "out.csv",
        "--block-model",
        "shift",
    ]
    crossed = (frame["batch"].astype(str) + " x " + frame["sex"]).to_numpy()
    wanted = bs.screen(
        values.to_numpy(), frame["state"].to_numpy(), blocks=crossed, block_model="shift", shuffles=0
    ).log_odds
    for blocks in (["--blocks", "batch,sex"], ["--blocks", "batch", "--blocks", "sex"]):
        outcome = run(folder, capfd, monkeypatch, *source, *blocks)
        assert outcome.code == 0, outcome.err
        np.testing.assert_allclose(log_odds(folder), wanted, atol=1e-8)


def test_subjects_and_reports(folder, capfd, monkeypatch):
    _, frame, values = folder
    arguments = ("whole.csv", "-l", "state", "--subject", "who", "--ignore", "age", "--ignore", "batch")
    outcome = run(
        folder, capfd, monkeypatch, *arguments, "--shuffles", "2", "--out", "out.csv", "--report", "page.html"
    )
    assert outcome.code == 0, outcome.err
    wanted = bs.screen(values.to_numpy(), frame["state"].to_numpy(), subject=frame["who"].to_numpy(), shuffles=0)
    np.testing.assert_allclose(log_odds(folder), wanted.log_odds, atol=1e-8)
    assert "Compared within 10 subjects" in (folder[0] / "page.html").read_text()
    arguments = ("values.csv", "-l", "about.csv:state", "--covariates", "age,sex", "--report", "page.html")
    assert run(folder, capfd, monkeypatch, *arguments, "--shuffles", "2", "--out", "out.csv").code == 0
    assert "Compared at equal age (a slope)" in (folder[0] / "page.html").read_text()


def test_a_sample_without_a_covariate_is_left_out_and_counted(folder, capfd, monkeypatch):
    about = folder[1].copy().astype({"age": object})
    about.loc[3, "age"] = ""
    about.to_csv(folder[0] / "gap.csv", index=False)
    outcome = run(folder, capfd, monkeypatch, "values.csv", "-l", "gap.csv:state", "--covariates", "age",
    "--shuffles", "0",
                  "--out", "out.csv")  # fmt: skip
    assert outcome.code == 0
    assert "1 sample without a value of" in outcome.said


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (
            ["--covariates", "age", "--model", "poisson"],
            "Compare within groups of samples that are alike: --blocks",
        ),
        (["--covariates", "age", "--kinds"], "--covariates does not go with --kinds"),
        (["--covariates", "nothing"], "nothing"),
        (["--covariates", "state"], "Classes and covariates are two things"),
        (["--covariates", "age,age"], "different columns"),
        (["--subject", "who", "--blocks", "batch"], "--subject does not go with --blocks"),
        (["--groups", "rest", "--covariates", "age"], "--groups does not go with --covariates"),
    ],
)
def test_what_cannot_be_asked_for(folder, capfd, monkeypatch, arguments, words):
    outcome = run(folder, capfd, monkeypatch, "whole.csv", "-l", "state", *arguments)
    assert outcome.code == 2
    assert words in outcome.said
