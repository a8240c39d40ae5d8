"""Copied Python lines: run as they stand in the page, they give the same evidence and the same list."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest
from commands import in_rows, inside

import bayesieve as bs
from bayesieve.report.encoding import decode_array

N, K = 30, 20
RNG = np.random.default_rng(8)
VALUES = RNG.normal(size=(N, K)).round(4)
VALUES[N // 2 :, :3] += 2.5
VALUES[4, 7] = 30.0
COUNTS = RNG.poisson(4.0, size=(N, K))
COUNTS[N // 2 :, :2] += 5
TWO = ["a"] * (N // 2) + ["b"] * (N // 2)
THREE = ["abc"[i * 3 // N] for i in range(N)]
PROPER = "variance_dof = 3\nvariance_scale = 1.5\nmean_strength = 1\n"


@pytest.fixture
def run(tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)

    def command(*arguments, code=0):
        result = inside(capfd, monkeypatch, *arguments)
        assert result.code == code, result.err
        return result

    return command


def write(values, labels, **more):
    lines = in_rows(values, labels).replace("nan", "").splitlines()
    head = ",".join([lines[0], *more])
    rows = [",".join([line, *(column[i] for column in more.values())]) for i, line in enumerate(lines[1:])]
    Path("t.csv").write_text("\n".join([head, *rows]) + "\n")


def gaps(values):
    changed = values.copy()
    changed[RNG.random(values.shape) < 0.1] = np.nan
    return changed


def payload(name):
    page = Path(name).read_text(encoding="utf-8")
    return json.loads(re.search(r'id="payload">(.*?)</script>', page, re.DOTALL)[1])


def check_lines(content):
    """Run the lines, with the model of the page, and compare the evidence and the list."""
    ratio = content["ratio"] and content["ratio"]["value"]
    lines = [
        line.replace("{model}", f"bs.GaussianModel.jeffreys({ratio})") for line in content["commands"]["python"]
    ]
    space: dict[str, object] = {}
    exec("\n".join(lines), space)  # what the page tells people to run
    found = space["posterior"]
    order = found.ranking
    assert [found.names[i] for i in order] == content["names"]
    np.testing.assert_allclose(decode_array(content["log_bayes_factor"]), found.log_bayes_factor[order], rtol=1e-9)
    prior = decode_array(content["prior_log_odds"]) if content["prior_log_odds"] else content["prior"]["log_odds"]
    np.testing.assert_allclose(
        np.broadcast_to(found.prior_log_odds, K)[order], np.broadcast_to(prior, K), rtol=1e-12
    )
    assert found.calibrated == content["calibrated"]
    return lines


CASES = {
    "jeffreys": (VALUES, TWO, {}, ["--prior", "jeffreys", "--prior-ratio", "0.3"]),
    "bic": (VALUES, TWO, {}, ["--prior", "jeffreys", "--prior-ratio", "bic"]),
    "proper": (VALUES, TWO, {}, ["--prior", "proper"]),
    "three proper": (VALUES, THREE, {}, ["--prior", "proper"]),
    "three": (VALUES, THREE, {}, ["--patterns", "one-versus-rest", "--prior", "jeffreys", "--prior-ratio", "0.4"]),
    "per feature": (VALUES, TWO, {}, ["-p", "pp.csv:p"]),
    "toml": (VALUES, TWO, {}, ["--prior", "prior.toml"]),
    "toml of jeffreys": (VALUES, TWO, {}, ["--prior", "ratio.toml"]),
    "three per feature": (VALUES, THREE, {}, ["-p", "pp.csv:p", "--degenerate", "exclude"]),
    "robust": (VALUES, TWO, {}, ["--robust"]),
    "robust proper": (VALUES, TWO, {}, ["--robust", "--prior", "proper", "-p", "pp.csv:p"]),
    "blocks": (VALUES, TWO, {"batch": ["p", "q"] * (N // 2)}, ["--blocks", "batch", "--prior", "prior.toml"]),
    "shift": (VALUES, TWO, {"batch": ["p", "q"] * (N // 2)}, ["--blocks", "batch", "--block-model", "shift"]),
    "pairs": (VALUES, TWO, {"who": [f"w{i % (N // 2)}" for i in range(N)]}, ["--pairs", "who"]),
    "omit": (gaps(VALUES), TWO, {}, ["--missing", "omit", "--informative-missing", "--resolution", "0.01"]),
    "poisson": (COUNTS, TWO, {}, ["--model", "poisson"]),
    "negative binomial": (COUNTS, TWO, {}, ["--model", "negative-binomial"]),
    "categories": (COUNTS % 3, THREE, {}, ["--model", "categorical"]),
    "uniform": (COUNTS % 3, TWO, {}, ["--model", "categorical", "--prior", "uniform", "--levels", "0,1,2,3"]),
}


@pytest.mark.filterwarnings("ignore::bayesieve.BayesieveWarning")
@pytest.mark.parametrize("case", CASES)
def test_python_lines_give_the_same_list(case, run):
    values, labels, more, options = CASES[case]
    write(values, labels, **more)
    prior = np.linspace(0.01, 0.3, K).tolist()
    Path("pp.csv").write_text("gene,p\n" + "".join(f"g{j},{p!r}\n" for j, p in enumerate(prior)))
    Path("prior.toml").write_text(f"[class]\n{PROPER}[pooled]\n{PROPER}")
    Path("ratio.toml").write_text("prior_ratio = 0.7\n")
    run("screen", "t.csv", "-l", "stage", "-q", *options, "--out", "r.parquet", "--report", "s.html")
    run("report", "r.parquet", "-q")
    for name in ("s.html", "r.report.html"):
        check_lines(payload(name))
    if case == "toml of jeffreys":  # the page appends --prior-ratio, which the file would contradict
        words = payload("s.html")["commands"]["cli"]
        assert words[words.index("--prior") + 1] == "jeffreys"


def test_a_prior_given_anew_is_in_both_commands(run):
    write(VALUES, TWO)
    Path("pp.csv").write_text("gene,p\n" + "".join(f"g{j},{0.01 + j / 100}\n" for j in range(K)))
    run("screen", "t.csv", "-l", "stage", "-q", "--prior", "jeffreys", "--out", "r.csv", "--manifest", "m.json")
    for result in (["r.csv"], ["r.csv", "--manifest", "m.json"], ["m.json"]):
        run("report", *result, "-q", "-p", "pp.csv:p", "--out", "a.html")
        content = payload("a.html")
        check_lines(content)
        words = content["commands"]["cli"]
        assert words[words.index("--prior-probability") + 1] == "pp.csv:p"
    run("report", "r.csv", "-q", "--prior-ratio", "0.5", "--out", "b.html")
    content = payload("b.html")
    check_lines(content)
    assert content["ratio"]["value"] == 0.5
    assert content["commands"]["cli"][:3] == ["bayesieve", "screen", "t.csv"]


def test_priors_that_are_gone_cannot_be_repeated(run):
    write(VALUES, TWO)
    Path("prior.toml").write_text(f"[class]\n{PROPER}[pooled]\n{PROPER}")
    run("screen", "t.csv", "-l", "stage", "-q", "--prior", "prior.toml", "--out", "r.parquet")
    Path("prior.toml").unlink()
    run("report", "r.parquet", "-q")
    (line,) = payload("r.report.html")["commands"]["python"]
    assert line.startswith("# Python lines cannot repeat this result: the priors of 'prior.toml' are not")


def test_settings_of_a_file_cannot_bring_in_code_or_options(run):
    write(VALUES, TWO)
    run("screen", "t.csv", "-l", "stage", "-q", "--prior", "jeffreys", "--out", "r.json")
    content = json.loads(Path("r.json").read_text(encoding="utf-8"))
    content["settings"] |= {
        "prior": "x'); import os; os.mkdir('bad') #", "prior_probability": "0.01; os.mkdir('bad')",
        "out --report": "bad.html", "table": "--config=bad.toml", "labels": "'+str(1/0)+'",
    }  # fmt: skip
    Path("r.json").write_text(json.dumps(content), encoding="utf-8")
    run("report", "r.json", "-q")
    commands = payload("r.report.html")["commands"]
    assert commands["cli"][:3] == ["bayesieve", "screen", "./--config=bad.toml"]
    assert not any("report" in word for word in commands["cli"])
    space: dict[str, object] = {}
    with pytest.raises(bs.FileError, match="There is no file"):  # the table: nothing else has run
        exec("\n".join(line.replace("{model}", "None") for line in commands["python"]), space)
    assert not Path("bad").exists()


def test_no_sample_is_in_a_page_without_values(run):
    write(VALUES, TWO)
    head, *rows = Path("t.csv").read_text().splitlines()
    Path("t.csv").write_text("\n".join([head, *(f"Patient_{row}" for row in rows)]) + "\n")
    known = [f"Patient_{row.split(',')[0]},{label}" for row, label in zip(rows[:-2], TWO, strict=False)]
    Path("who.csv").write_text("\n".join(["id,stage", *known, "Stranger_A,a"]) + "\n")
    run("screen", "t.csv", "-l", "who.csv:stage", "--ignore", "stage", "-q", "--fragility", "-p", "0.3",
        "--out", "r.parquet", "--manifest", "m.json", "--report", "with.html")  # fmt: skip
    run("screen", "t.csv", "-l", "who.csv:stage", "--ignore", "stage", "-q", "--fragility", "-p", "0.3",
        "--report", "screen.html", "--report-values", "0", "--out", "r.csv")  # fmt: skip
    zero = ("-q", "--report-values", "0", "--out")
    run("report", "r.parquet", *zero, "parquet.html")
    run("report", "r.csv", *zero, "csv.html")
    run("report", "r.csv", "--manifest", "m.json", *zero, "both.html")
    run("report", "m.json", *zero, "again.html")
    assert "Patient_" in Path("with.html").read_text(encoding="utf-8")
    assert "Stranger_A" in Path("with.html").read_text(encoding="utf-8")
    for name in ("screen", "parquet", "csv", "both", "again"):
        page = Path(f"{name}.html").read_text(encoding="utf-8")
        assert "Patient_" not in page, name
        assert "Stranger_A" not in page, name
        assert "without a certain sample" in page, name
