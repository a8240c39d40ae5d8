"""Normalised, transformed and mixed tables on the command line."""

from __future__ import annotations

import json
import re

import numpy as np
import pandas as pd
import pytest
from commands import inside

import bayesieve as bs

N, P = 20, 40
GROUP = np.repeat(["a", "b"], N // 2)


def made_counts():
    rng = np.random.default_rng(2)
    depth = rng.uniform(0.5, 2.0, size=(N, 1))
    mean = depth * rng.gamma(3.0, 20.0, size=P) * np.where((np.arange(P) < 3) & (GROUP == "b")[:, None], 3, 1)
    return rng.negative_binomial(6, 6 / (6 + mean))


COUNTS = made_counts()
GENES = [f"g{j}" for j in range(P)]


@pytest.fixture
def bayesieve(tmp_path, monkeypatch, capfd):
    """Run commands in a folder with a table of counts and a mixed one."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TERM", "dumb")
    monkeypatch.setenv("COLUMNS", "200")
    table = pd.DataFrame(COUNTS, columns=GENES)
    table.insert(0, "group", GROUP)
    table.insert(0, "id", [f"s{i}" for i in range(N)])
    table.to_csv("counts.csv", index=False)
    rng = np.random.default_rng(0)
    mixed = table[["id", "group", "g0", "g5"]].assign(
        crp=rng.normal(size=N) + 4.0 * (GROUP == "b"),
        smoker=np.where(GROUP == "b", "yes", "no"),
        sex=["f", "m"] * 10,
    )
    mixed.loc[0, "smoker"] = "yes"
    mixed.to_csv("mixed.csv", index=False)
    return lambda *arguments: inside(capfd, monkeypatch, *arguments)


def log_odds(path):
    return pd.read_csv(path).set_index("feature")["log_odds"][GENES].to_numpy()


@pytest.mark.parametrize(
    ("normalise", "transform", "word"),
    [
        ("total", "log1p", "total+log1p"),
        ("median-ratios", "vst:0.2", "median-ratios+vst:0.2"),
        ("none", "clr:0.5", "clr:0.5"),
    ],
)
def test_one_command_does_what_the_functions_do(bayesieve, normalise, transform, word):
    ways = ("-l", "group", "--normalise", normalise, "--transform", transform, "--shuffles", "0")
    files = ("--out", "ranked.csv", "--report", "page.html", "--config-out", "run.toml")
    done = bayesieve("screen", "counts.csv", *ways, *files)
    assert done.code == 0, done.err
    wanted = bs.screen(bs.transform(bs.normalise(COUNTS, normalise), transform), GROUP, shuffles=0)
    np.testing.assert_allclose(log_odds("ranked.csv"), wanted.log_odds, rtol=1e-9, atol=1e-9)
    assert set(pd.read_csv("ranked.csv")["transform"]) == {word}
    with open("ranked.csv.json", encoding="utf-8") as file:
        record = json.load(file)
    assert record["transform"] == word
    assert record["settings"].get("normalise", "none") == normalise
    assert bs.read_result("ranked.csv").record.spec.normalise == normalise
    with open("page.html", encoding="utf-8") as file:
        assert word in file.read()
    again = bayesieve("screen", "counts.csv", "--config", "run.toml", "--out", "again.csv")
    assert again.code == 0, again.err
    np.testing.assert_array_equal(log_odds("again.csv"), log_odds("ranked.csv"))
    said = re.sub(r"\s+", " ", done.err + done.out)
    assert ("normalised by" in said) == (normalise != "none")


def test_python_lines_of_the_report_repeat_it(bayesieve):
    spec = bs.read_table("counts.csv", labels="group", normalise="total", transform="vst")
    from bayesieve.screening import ScreenSpec  # noqa: PLC0415

    lines = ScreenSpec(table="counts.csv", labels="group", normalise="total", transform="vst", shuffles=0).python()
    found: dict = {}
    exec(lines, found)
    np.testing.assert_array_equal(found["posterior"].log_odds, bs.screen(spec, shuffles=0).log_odds)
    lines = ScreenSpec(
        table="mixed.csv", labels="group", model="auto", likelihoods="sex=category", shuffles=0
    ).python()
    assert "bs.MixedModel(likelihoods={'sex': 'category'})" in lines
    exec(lines, found)
    assert found["posterior"].n_features == 5


REFUSED = {
    "counts": (("--model", "poisson", "--normalise", "total"), "Say --exposures total instead"),
    "categories": (
        ("--model", "categorical", "--normalise", "total"),
        "--normalise belongs to the Gaussian model",
    ),
    "unknown": (("--normalise", "tmm"), "There are: none, total, median-ratios"),
    "transform": (("--transform", "log10"), "There are: none, log2, log1p, logit, clr, vst, rank-normal"),
    "likelihoods": (("--likelihoods", "g1=count"), "which --model auto asks"),
    "kind": (("--model", "auto", "--likelihoods", "g1=ordinal"), "age=measurement; grade=category"),
    "auto": (("--model", "auto", "--transform", "log2"), "--transform belongs to the Gaussian model"),
    "prior": (("--model", "auto", "--prior", "jeffreys"), "has its own prior"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_contradictions_are_refused(bayesieve, case):
    options, words = REFUSED[case]
    done = bayesieve("screen", "counts.csv", "-l", "group", *options)
    assert done.code == 2
    assert words in done.err


def test_sites_need_a_stated_total(bayesieve):
    for options, words in (
        (("--normalise", "total"), "--normalise total:10000"),
        (("--normalise", "median-ratios"), "--normalise total:10000"),
        (("--transform", "vst"), "vst:0.05"),
    ):
        done = bayesieve("stats", "counts.csv", "-l", "group", *options, "-o", "a.stats.parquet")
        assert done.code == 2
        assert words in done.err
    table = pd.read_csv("counts.csv")
    half = np.arange(N) % 2 == 0
    stated = ("--normalise", "total:10000", "--transform", "log1p")
    for name, rows in (("a", half), ("b", ~half)):
        table[rows].to_csv(f"{name}.csv", index=False)
        done = bayesieve("stats", f"{name}.csv", "-l", "group", *stated, "-o", f"{name}.stats.parquet")
        assert done.code == 0, done.err
    assert bayesieve("merge", "a.stats.parquet", "b.stats.parquet", "-o", "m.stats.parquet").code == 0
    assert bayesieve("screen", "m.stats.parquet", "-o", "merged.csv").code == 0
    assert set(pd.read_csv("merged.csv")["transform"]) == {"total:10000+log1p"}
    assert (
        bayesieve("screen", "counts.csv", "-l", "group", *stated, "-o", "pooled.csv", "--shuffles", "0").code == 0
    )
    np.testing.assert_allclose(log_odds("merged.csv"), log_odds("pooled.csv"), rtol=1e-8)


def test_mixed_tables(bayesieve):
    done = bayesieve("screen", "mixed.csv", "-l", "group", "--model", "auto", "-o", "ranked.csv", "--report",
                     "page.html", "--shuffles", "5")  # fmt: skip
    assert done.code == 0, done.err
    found = pd.read_csv("ranked.csv").set_index("feature")
    assert found["likelihood"].to_dict() == {
        "g0": "count", "g5": "measurement", "crp": "measurement", "smoker": "category", "sex": "category",
    }  # fmt: skip
    table = pd.read_csv("mixed.csv")
    wanted = bs.screen(table.drop(columns=["id", "group"]), table["group"], model="auto", shuffles=0)
    own = dict(zip(wanted.names, wanted.log_odds.tolist(), strict=True))
    assert found["log_odds"].to_dict() == pytest.approx(own, rel=1e-9)
    said = re.sub(r"\s+", " ", done.err + done.out)
    assert "Likelihoods: 2 measurements, 1 count and 2 categories" in said
    assert "nan" not in said
    stored = bs.read_result("ranked.csv")
    assert stored.selection.posterior.to_dict()["likelihood"][0] in ("count", "measurement", "category")
    assert bayesieve("report", "ranked.csv", "--out", "again.html").code == 0
