"""Shuffled labels from the command line: told, logged, stored, drawn, and given up cleanly."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from pathlib import Path

import numpy as np
import pytest
from commands import environment, executable, gene_names, in_rows, inside

import bayesieve as bs
from bayesieve.report.encoding import decode_array
from bayesieve.screening import ScreenSpec

N, P = 30, 120
LABELS = ["a", "b"] * (N // 2)


def drawn(seed=1, markers=8, shift=2.0):
    values = np.random.default_rng(seed).normal(size=(N, P)).round(6)
    values[1::2, :markers] += shift
    return values


@pytest.fixture
def run(tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    Path("t.csv").write_text(in_rows(drawn(), LABELS))

    def command(*arguments, code=0):
        result = inside(capfd, monkeypatch, *arguments)
        assert result.code == code, result.err
        return result

    return command


SCREEN = ("screen", "t.csv", "--labels", "stage", "--shuffles", "40")


def payload(name):
    page = Path(name).read_text(encoding="utf-8")
    return json.loads(page.split('id="payload">')[1].split("</script>")[0])


def test_the_summary_and_the_log_tell_the_number_of_the_shuffles(run):
    posterior = bs.screen(drawn(), LABELS, feature_names=gene_names(P), shuffles=40)
    selection = bs.MinimalRisk(0.5).select(posterior)
    said = run(*SCREEN).said
    assert f"False positives: {selection.false_positive_estimate.describe()}, from 40 shuffles" in said
    assert "The list stands" in said
    assert "global null" not in said
    lines = [json.loads(line) for line in run(*SCREEN, "--json-log").err.splitlines()]
    (last,) = (line for line in lines if line["event"] == "result")
    estimate = selection.false_positive_estimate
    assert last["false_positives"] == {
        "expected": estimate.expected, "low": estimate.low, "high": estimate.high, "source": "shuffles",
        "n_shuffles": 40, "scheme": "samples",
    }  # fmt: skip
    assert last["count_test"]["n_as_long"][0] == selection.count_test.n_as_long[0]
    assert last["expected_under_null"] is None  # JSON knows no NaN


def test_a_seed_gives_the_same_and_another_one_something_else(run):
    shown = [run(*SCREEN, "--seed", seed, "--out", f"{k}.csv") for k, seed in enumerate(("5", "5", "6"))]
    held = [json.loads(Path(f"{k}.csv.json").read_text())["shuffled"]["values"] for k in range(3)]
    assert held[0] == held[1] != held[2]
    assert len({Path(f"{k}.csv").read_text().split("\n")[1].split(",")[2] for k in range(3)}) == 1  # log-odds
    assert shown[0].code == 0
    plain = run(*SCREEN[:4], "--shuffles", "0", "--out", "plain.csv")
    assert "expected under the model" in plain.said
    assert "shuffled" not in json.loads(Path("plain.csv.json").read_text())


def test_a_report_of_a_stored_result_is_that_of_the_run(run):
    run(*SCREEN, "--criterion", "fdr", "--proportion", "0.2", "--out", "r.csv", "--report", "now.html")
    run("report", "r.csv", "--out", "later.html")
    now, later = payload("now.html"), payload("later.html")
    for name in ("shuffled", "list", "rule"):
        assert now[name] == later[name]
    assert now["shuffled"]["n"] == 40
    page = Path("later.html").read_text(encoding="utf-8")
    assert "from 40 shuffles of the labels" in page
    run("report", "r.csv", "--threshold", "0.9", "-p", "0.05", "--out", "other.html")
    posterior = bs.screen(drawn(), LABELS, feature_names=gene_names(P), shuffles=40).with_prior(0.05)
    selection = bs.MinimalRisk(0.9).select(posterior)
    other = payload("other.html")
    assert other["list"]["size"] == selection.n_selected
    told = selection.false_positive_estimate.describe()
    assert f"False positives: {told}, from" in Path("other.html").read_text(encoding="utf-8")


def test_figures_of_a_stored_result(run):
    pytest.importorskip("matplotlib")
    run(*SCREEN, "--out", "r.parquet")
    written = run("figures", "r.parquet", "--out", "pictures", "--format", "svg", "--feature", "g0")
    assert "composition" in written.said


def test_a_prior_ratio_given_anew_moves_the_shuffles_with_it(run):
    paper = ("--prior", "jeffreys", "--out", "r.csv")
    run(*SCREEN, *paper)
    run("report", "r.csv", "--prior-ratio", "0.5", "--out", "a.html")
    posterior = bs.screen(
        drawn(), LABELS, feature_names=gene_names(P), shuffles=40, model=bs.GaussianModel.jeffreys(0.5)
    )
    wanted = bs.MinimalRisk(0.5).select(posterior).false_positive_estimate
    assert wanted.expected > 0
    assert f"False positives: {wanted.describe()}, from" in Path("a.html").read_text(encoding="utf-8")


def test_tables_too_large_to_keep_say_so(run, tmp_path):
    rng = np.random.default_rng(2)
    Path("large.csv").write_text(in_rows(rng.normal(size=(N, 4000)).round(4), LABELS))
    options = ("screen", "large.csv", "--labels", "stage", "-o", "r.csv")
    small = run(*options, "--shuffles", "20", "--memory", "1MB")
    assert small.said.count("labels could not be shuffled") == 1
    assert "Give --memory 4MB or more, or say --shuffles 0." in small.said
    assert "expected under the model" in small.said or "Nothing passes" in small.said
    assert "could not be shuffled" not in run(*options, "--shuffles", "0", "--memory", "1MB").said
    assert "could not be shuffled" not in run(*options, "--shuffles", "20", "--memory", "4MB").said
    with pytest.warns(bs.CalibrationWarning, match="keep_values=True"):
        bs.screen(bs.read_table("large.csv", labels="stage", keep_values=False), shuffles=20)


def test_a_list_that_is_implausibly_long_is_warned_of(run):
    Path("most.csv").write_text(in_rows(drawn(markers=80, shift=3.0), LABELS))
    options = ("screen", "most.csv", "--labels", "stage", "--out", "r.csv")
    assert "either most features differ" in run(*options, "--shuffles", "20").said
    without = run(*options, "--shuffles", "0").said
    assert "See what shuffled labels give: --shuffles 100." in without
    assert "either most features differ" not in run(*options, "--n-selected", "80").said
    warned = json.loads(Path("r.csv.json").read_text())["warnings"]
    assert warned == []


def test_python_lines_hold_shuffles_and_seed():
    spec = ScreenSpec(table="t.csv", labels="stage", shuffles=30, seed=4)
    assert "shuffles=30, seed=4" in spec.python(("a", "b"))
    assert ScreenSpec.from_options(spec.to_dict()) == spec
    assert spec.command_words()[-4:] == ("--shuffles", "30", "--seed", "4")


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
def test_an_interruption_while_labels_are_shuffled_leaves_everything_as_it_was(tmp_path):
    rng = np.random.default_rng(3)
    np.save(tmp_path / "x.npy", rng.normal(size=(100, 4000)))
    (tmp_path / "t.csv").write_text(in_rows(rng.normal(size=(N, 2000)).round(4), LABELS))
    (tmp_path / "r.csv").write_text("before")
    command = [executable(), "screen", "t.csv", "--labels", "stage", "--shuffles", "100000", "--out", "r.csv"]
    with subprocess.Popen(
        command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment(), text=True
    ) as process:
        time.sleep(8)
        assert process.poll() is None
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=30)
    assert process.returncode == 130
    assert "interrupted" in said
    assert "Traceback" not in said
    assert (tmp_path / "r.csv").read_text() == "before"
    assert not (tmp_path / "r.csv.json").exists()


def test_the_page_holds_what_any_cut_needs(run):
    run(*SCREEN, "--report", "a.html")
    held = payload("a.html")["shuffled"]
    cuts, counts = decode_array(held["cut"]), decode_array(held["counts"]).reshape(-1, 40)
    posterior = bs.screen(drawn(), LABELS, feature_names=gene_names(P), shuffles=40)
    for k in range(0, cuts.size, 17):
        wanted = sorted(int((values > cuts[k]).sum()) for values in posterior.shuffled.values)
        assert counts[k].tolist() == wanted
