"""``screen --report`` and ``demo --report``."""

from __future__ import annotations

import base64
import json
import re
import shlex
import subprocess
import sys

import numpy as np
import pytest
from commands import halves, in_rows, inside, numbers, read_list

import bayesieve as bs
from bayesieve.cli import manifest as manifests

VALUES, LABELS = numbers(24, 30, seed=3), halves(24)


@pytest.fixture
def bayesieve(tmp_path, monkeypatch, capfd):
    """Run commands in a folder with one table."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "table.csv").write_text(in_rows(VALUES, LABELS))
    return lambda *arguments: inside(capfd, monkeypatch, *arguments)


def payload(path):
    found = re.search(
        r'<script type="application/json" id="payload">(.*?)</script>', path.read_text(encoding="utf-8"), re.DOTALL
    )
    return json.loads(found[1])


def array(content):
    kinds = {"f8": "<f8", "f4": "<f4", "u1": "u1"}
    return np.frombuffer(base64.b64decode(content["data"]), kinds[content["type"]])


def test_the_report_holds_the_screen(bayesieve, tmp_path):
    options = ["--labels", "stage", "-p", "0.02", "--report", "r.html", "-o", "l.csv"]
    result = bayesieve("screen", "table.csv", *options)
    assert result.code == 0, result.err
    assert "Wrote the report to r.html" in result.said
    content = payload(tmp_path / "r.html")
    posterior = bs.screen(VALUES, LABELS, prior_probability=0.02)
    np.testing.assert_allclose(
        array(content["log_bayes_factor"]), posterior.log_bayes_factor[posterior.ranking], rtol=1e-12
    )
    assert content["names"] == read_list(tmp_path / "l.csv")["feature"].tolist()
    shown = array(content["values"]["data"]).reshape(30, 24)
    np.testing.assert_array_equal(shown, VALUES.T[posterior.ranking].astype(np.float32))
    assert content["commands"]["cli"] == ["bayesieve", "screen", "table.csv", "--labels", "stage"]
    text = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "bayesieve screen table.csv --labels stage --prior-probability 0.02" in text
    assert "bayesieve-record" in text


def test_the_report_alone_prints_no_table(bayesieve, tmp_path):
    result = bayesieve("screen", "table.csv", "--labels", "stage", "--report", "r.html", "--report-values", "0")
    assert result.code == 0
    assert result.out == ""
    assert "features selected" in result.err
    assert payload(tmp_path / "r.html")["values"] is None


def test_the_commands_of_the_page_give_the_same_again(bayesieve, tmp_path):
    options = [
        "--labels",
        "stage",
        "--transform",
        "log1p",
        "--prior",
        "jeffreys",
        "--prior-ratio",
        "sqrt2pi",
        "--kinds",
    ]
    options += ["--resolution", "0.0001"]
    assert bayesieve("screen", "table.csv", *options, "--report", "r.html").code == 0
    content = payload(tmp_path / "r.html")
    words = content["commands"]["cli"]
    again = bayesieve(*words[1:], "--prior-ratio", str(content["ratio"]["value"]), "--out", "l.csv")
    assert again.code == 0, again.err
    evidence = array(content["log_bayes_factor"])
    np.testing.assert_allclose(read_list(tmp_path / "l.csv")["log_bayes_factor"], evidence, rtol=1e-9, atol=1e-9)
    space: dict[str, object] = {}
    lines = [line.replace("{model}", f"bs.GaussianModel.jeffreys({content['ratio']['value']})")
             for line in content["commands"]["python"]]  # fmt: skip
    exec("\n".join(lines), space)  # what the page tells people to run
    found = space["posterior"]
    np.testing.assert_allclose(found.log_bayes_factor[found.ranking], evidence, rtol=1e-9, atol=1e-9)


def test_annotation_and_rule_are_in_the_report(bayesieve, tmp_path):
    (tmp_path / "genes.csv").write_text("gene,arm\n" + "".join(f"g{j},{'pqr'[j % 3]}\n" for j in range(30)))
    result = bayesieve("screen", "table.csv", "--labels", "stage", "--features", "genes.csv", "--n-selected", "4",
                       "--report", "r.html")  # fmt: skip
    assert result.code == 0, result.err
    content = payload(tmp_path / "r.html")
    assert content["rule"]["name"] == "cmnc"
    assert content["rule"]["n_selected"] == 4
    column = content["columns"][0]
    assert (column["title"], column["annotation"]) == ("arm", True)
    codes = array(column["codes"])
    assert [column["levels"][k] for k in codes] == ["pqr"[int(name[1:]) % 3] for name in content["names"]]


@pytest.mark.parametrize(
    ("target", "said"),
    [
        ("r.txt", "let r.txt (--report) end in .html"),
        ("no/r.html", "there is no folder"),
        ("table.csv", "end in .html"),
    ],
)
def test_places_that_cannot_be_written_are_told_before_the_work(bayesieve, target, said):
    result = bayesieve("screen", "table.csv", "--labels", "stage", "--report", target)
    assert result.code == 2
    assert said in result.said
    assert "selected" not in result.said


def test_one_file_is_not_written_twice(bayesieve):
    result = bayesieve("screen", "table.csv", "--labels", "stage", "--report", "a.html", "--manifest", "a.html")
    assert result.code == 2
    assert "--manifest would overwrite a.html, which is also --report" in result.said


def test_the_settings_of_a_run_leave_the_report_out(bayesieve, tmp_path):
    options = ["-l", "stage", "--report", "r.html", "--config-out", "s.toml"]
    assert bayesieve("screen", "table.csv", *options).code == 0
    assert "r.html" not in (tmp_path / "s.toml").read_text()


def test_the_demo_writes_a_report_with_the_truth(bayesieve, tmp_path):
    result = bayesieve("demo", "--samples", "20", "--report")
    assert result.code == 0, result.err
    content = payload(tmp_path / "bayesieve-demo.html")
    truth = next(column for column in content["columns"] if column["key"] == "in truth")
    assert len(truth["levels"]) > 2
    assert content["n_features"] == 20_000
    text = (tmp_path / "bayesieve-demo.html").read_text(encoding="utf-8")
    command = re.search(r'id="command-report">(.*?)<', text)[1]
    assert shlex.split(command) == ["bayesieve", "demo", "--samples", "20", "--seed", "1", "--report",
                                    "bayesieve-demo.html"]  # fmt: skip


def test_the_demo_takes_a_name_for_the_report(bayesieve, tmp_path):
    assert bayesieve("demo", "--report", "mine.html", "--samples", "20").code == 0
    assert (tmp_path / "mine.html").exists()
    assert not (tmp_path / "bayesieve-demo.html").exists()
    wrong = bayesieve("demo", "mine.html", "--samples", "20")
    assert wrong.code == 2
    assert "say --report mine.html" in wrong.said


def test_numbers_of_an_annotation_file_are_numbers(bayesieve, tmp_path):
    rows = "".join(f"g{j},{j - 9},{j / 7:.3f},00{j}\n" for j in range(30))
    (tmp_path / "genes.csv").write_text("gene,place,length,id\n" + rows)
    options = ["--labels", "stage", "--features", "genes.csv", "--report", "r.html", "--out", "l.parquet"]
    assert bayesieve("screen", "table.csv", *options).code == 0
    assert bayesieve("report", "l.parquet", "--out", "again.html").code == 0
    for name in ("r.html", "again.html"):
        content = payload(tmp_path / name)
        numbers_of = [int(feature[1:]) for feature in content["names"]]
        place, length, other = (column for column in content["columns"] if column.get("annotation"))
        assert (place["kind"], length["kind"], other["kind"]) == ("number", "number", "text")
        wanted = [float(f"{j / 7:.3f}") for j in numbers_of]
        assert np.frombuffer(base64.b64decode(place["values"]["data"]), "<i4").tolist() == [
            j - 9 for j in numbers_of
        ]
        assert array(length["values"]).tolist() == wanted
        assert other["values"] == [f"00{j}" for j in numbers_of]


def test_inputs_are_hashed_once(bayesieve, tmp_path, monkeypatch):
    hashed, file_hash = [], manifests.file_hash
    monkeypatch.setattr(manifests, "file_hash", lambda path: hashed.append(str(path)) or file_hash(path))
    options = ["--labels", "stage", "--report", "r.html", "--manifest", "m.json"]
    assert bayesieve("screen", "table.csv", *options).code == 0
    assert hashed == ["table.csv"]
    recorded = json.loads((tmp_path / "m.json").read_text(encoding="utf-8"))
    assert {"read", "screen", "write", "report"} <= recorded["seconds"].keys()
    assert recorded["settings"]["report"] == "r.html"


def test_the_same_run_writes_the_same_bytes(bayesieve, tmp_path, monkeypatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1600000000")
    for name, zone in (("a.html", "UTC"), ("b.html", "Asia/Tokyo")):
        monkeypatch.setenv("TZ", zone)
        assert bayesieve("screen", "table.csv", "--labels", "stage", "--report", name).code == 0
    first, second = ((tmp_path / name).read_bytes() for name in ("a.html", "b.html"))
    assert first == second
    assert b"2020-09-13 12:26 UTC" in first
    assert b"bayesieve-record" in first
    assert bayesieve("screen", "table.csv", "-l", "stage", "--manifest", "m.json", "-o", "l.csv").code == 0
    for name in ("c.html", "d.html"):
        assert bayesieve("report", "l.csv", "--manifest", "m.json", "--out", name).code == 0
    assert (tmp_path / "c.html").read_bytes() == (tmp_path / "d.html").read_bytes()


@pytest.mark.parametrize("ending", ["csv", "parquet", "json"])
def test_a_table_alone_loads_nothing_of_reports(bayesieve, tmp_path, ending):
    code = (
        "import sys\n"
        "from bayesieve.cli import main\n"
        f"sys.argv = ['bayesieve', 'screen', 'table.csv', '-l', 'stage', '-q', '--out', 'l.{ending}']\n"
        "try:\n    main()\nexcept SystemExit as error:\n    assert not error.code\n"
        "print([name for name in sys.modules if name.startswith(('bayesieve.report', 'jinja2'))])\n"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
    assert (tmp_path / f"l.{ending}").exists()
