"""Findings of the command under its default prior."""

from __future__ import annotations

import csv
import json

import numpy as np
import pytest
from commands import inside

import bayesieve as bs


@pytest.fixture
def run(capfd, monkeypatch):
    def call(*arguments, code=0):
        done = inside(capfd, monkeypatch, *arguments)
        assert done.code == code, done.err
        return done.said

    return call


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    rng = np.random.default_rng(11)
    X, y = rng.normal(size=(40, 60)), np.repeat(["case", "control"], 20)
    X[:20, :6] += 2.0
    X[:20, 6:12] *= 4.0
    X[3, 20] = 30.0
    path = tmp_path_factory.mktemp("calibrated") / "t.csv"
    lines = [",".join(["id", "y", *(f"g{j}" for j in range(60))])]
    lines += [",".join([f"s{i}", y[i], *map(repr, X[i].tolist())]) for i in range(40)]
    path.write_text("\n".join(lines) + "\n")
    return path, X, y


def test_all_findings_at_once(run, table, tmp_path):
    path, X, y = table
    out = tmp_path / "out.csv"
    done = run(
        "screen", path, "--labels", "y", "--kinds", "--effects", "--fragility", "--p-values", "--shuffles", "20",
        "--out", out,
    )  # fmt: skip
    with open(out) as file:
        rows = {row["feature"]: row for row in csv.DictReader(file)}
    posterior = bs.screen(X, y, shuffles=0)
    found, least = bs.kinds(posterior), bs.fragility(X, y, posterior=posterior)
    for j in (0, 7, 20, 40):
        row = rows[f"g{j}"]
        assert row["kind"] == found.kind[j]
        assert float(row["probability_both"]) == pytest.approx(found.both[j], rel=1e-6)
        assert float(row["least_log_odds"]) == pytest.approx(least.least_log_odds[j], rel=1e-9, abs=1e-9)
        assert float(row["mean_difference_low"]) < float(row["mean_difference"])
    assert rows["g0"]["kind"] == "mean"
    assert rows["g7"]["kind"] == "variance"
    assert "both at once" in done
    assert "Jeffreys' prior" in done


def test_robust_lists_are_judged_by_the_model(run, table, tmp_path):
    path, _, _ = table
    done = run("screen", path, "--labels", "y", "--robust", "--shuffles", "20", "--out", tmp_path / "o.csv")
    assert "these numbers are not calibrated" in done
    assert "shuffles of the labels" not in done


def test_the_prior_probability_can_be_estimated(run, table, tmp_path):
    path, X, y = table
    out = tmp_path / "out.json"
    done = run(
        "screen", path, "--labels", "y", "--prior-probability", "estimate", "--shuffles", "20", "--out", out
    )
    assert "The prior probability is estimated" in done
    share = bs.screen(X, y, shuffles=20).estimated_share
    assert f"{share:.2%} is believed" in done
    assert json.loads(out.read_text())
    refused = run("screen", path, "--labels", "y", "--prior-probability", "estimate", "--shuffles", "0", code=2)
    assert "--prior-probability estimate holds the data's estimate" in refused
    wrong = run("screen", path, "--labels", "y", "--prior-probability", "guess", code=2)
    assert "a number between 0 and 1, estimate, or FILE:COLUMN" in wrong
