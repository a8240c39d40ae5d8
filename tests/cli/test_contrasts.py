"""``bayesieve screen --contrasts``: files for pipelines and MultiQC."""

from __future__ import annotations

import json
import re

import numpy as np
import pandas as pd
import pytest
import yaml
from commands import inside, read_exactly

import bayesieve as bs
from bayesieve.cli import contrasts as command

RNG = np.random.default_rng(1)
N, G = 18, 40
LEVELS = ["control"] * 6 + ["drug"] * 6 + ["high"] * 6
VALUES = RNG.normal(8.0, 1.0, size=(N, G)).round(3)
VALUES[6:12, :3] += 5.0
VALUES[12:, 3:5] -= 5.0
CONTRASTS = "id,variable,reference,target,blocking\ndrug,dose,control,drug,\nhigh,dose,control,high,batch\n"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    frame = pd.DataFrame(VALUES.T, columns=[f"S{i}" for i in range(N)])
    frame.insert(0, "gene_id", [f"ENSG{j:03d}" for j in range(G)])
    frame.insert(1, "gene_name", [f"SYM{j}" for j in range(G)])
    frame.to_csv("counts.tsv", sep="\t", index=False)
    sheet = pd.DataFrame({"sample": frame.columns[2:], "dose": LEVELS, "batch": ["1", "2"] * 9})
    sheet.to_csv("samplesheet.csv", index=False)
    (tmp_path / "contrasts.csv").write_text(CONTRASTS)
    return tmp_path


def screen(capfd, monkeypatch, *more):
    basic = ("screen", "counts.tsv", "--labels", "samplesheet.csv", "--contrasts", "contrasts.csv")
    return inside(capfd, monkeypatch, *basic, "--out", "res", "--shuffles", "5", *more)


def results(name):
    return read_exactly(f"res/{name}.bayesieve.results.tsv", sep="\t")


def test_a_page_for_each_contrast(folder, capfd, monkeypatch):
    """Each is the page of the contrast screened alone: the same numbers, names and values."""
    done = screen(capfd, monkeypatch, "--report", "pages")
    assert done.code == 0
    assert "Wrote 2 pages to pages" in done.said
    assert sorted(path.name for path in (folder / "pages").iterdir()) == [
        "drug.bayesieve.html", "high.bayesieve.html",
    ]  # fmt: skip
    alone = ("screen", "counts.tsv", "--labels", "samplesheet.csv:dose", "--classes", "control; drug")
    inside(capfd, monkeypatch, *alone, "--shuffles", "5", "--report", "alone.html")
    page, wanted = payload(folder / "pages" / "drug.bayesieve.html"), payload(folder / "alone.html")
    assert page["names"] == wanted["names"]
    assert page["columns"] == wanted["columns"]
    assert payload(folder / "pages" / "high.bayesieve.html")["names"] != wanted["names"]


def payload(path):
    """Numbers of a page, as its scripts read them."""
    return json.loads(re.search(r"<script[^>]*application/json[^>]*>(.*?)</script>", path.read_text(), re.S)[1])


def test_files_for_a_pipeline(folder, capfd, monkeypatch):
    done = screen(capfd, monkeypatch, "--log-scale", "log2", "--process-name", "NF:BAYESIEVE")
    assert done.code == 0
    assert max(map(len, done.err.splitlines())) <= 80
    assert "drug - control" in done.said
    table = results("drug")
    assert list(table.columns[:7]) == [
        "gene_id", "logFC", "log_odds", "posterior", "local_fdr", "expected_fdr", "selected",
    ]  # fmt: skip
    alone = bs.read_table("counts.tsv", labels="samplesheet.csv:dose", classes="control; drug")
    wanted = bs.screen(alone, shuffles=5)
    assert table["gene_id"].tolist() == [wanted.names[i] for i in wanted.ranking]
    assert np.array_equal(table["log_odds"], wanted.log_odds[wanted.ranking])
    change = VALUES[6:12].mean(axis=0) - VALUES[:6].mean(axis=0)
    assert table["logFC"].to_numpy() == pytest.approx(change[wanted.ranking], abs=1e-12)
    assert table["local_fdr"].to_numpy() == pytest.approx(1.0 - table["posterior"].to_numpy(), abs=1e-12)
    versions = yaml.safe_load((folder / "res/versions.yml").read_text())
    assert versions["NF:BAYESIEVE"]["bayesieve"] == bs.__version__
    assert versions["NF:BAYESIEVE"].keys() >= {"python", "numpy"}
    summary = json.loads((folder / "res/bayesieve.contrasts.json").read_text())
    chosen = table[table["selected"]]
    facts = summary["contrasts"][0]
    assert (facts["n_selected"], facts["n_up"]) == (len(chosen), (chosen["logFC"] > 0).sum())
    assert read_exactly("res/bayesieve.contrasts.tsv", sep="\t")["id"].tolist() == ["drug", "high"]
    assert (summary["failed"], summary["not_done"]) == ({}, [])


def test_within_blocks_changes_are_those_within(folder, capfd, monkeypatch):
    screen(capfd, monkeypatch, "--log-scale", "ln")
    table = results("high").set_index("gene_id")
    batch = np.arange(N) % 2
    parts = [VALUES[12:][batch[12:] == k].mean(axis=0) - VALUES[:6][batch[:6] == k].mean(axis=0) for k in (0, 1)]
    wanted = np.mean(parts, axis=0) / np.log(2.0)  # blocks of the same size
    assert table.loc[[f"ENSG{j:03d}" for j in range(G)], "logFC"].to_numpy() == pytest.approx(wanted, abs=1e-10)


def test_a_fold_change_needs_declared_logarithms(folder, capfd, monkeypatch):
    screen(capfd, monkeypatch)
    assert "logFC" not in results("drug").columns
    screen(capfd, monkeypatch, "--transform", "log1p")
    table = results("drug")
    raw = np.log2(1.0 + VALUES)
    change = dict(zip([f"ENSG{j:03d}" for j in range(G)], raw[6:12].mean(0) - raw[:6].mean(0), strict=True))
    assert table["logFC"].to_numpy() == pytest.approx([change[name] for name in table["gene_id"]], abs=1e-12)
    done = screen(capfd, monkeypatch, "--transform", "log1p", "--log-scale", "ln")
    assert done.code == 2
    assert "transform them again" in done.said


def test_rates_have_fold_changes(folder, capfd, monkeypatch):
    frame = pd.read_csv("counts.tsv", sep="\t")
    frame.iloc[:, 2:] = frame.iloc[:, 2:].round().clip(lower=0).astype(int)
    frame.to_csv("counts.tsv", sep="\t", index=False)
    assert screen(capfd, monkeypatch, "--model", "poisson").code == 0
    table = results("drug")
    assert table["logFC"].to_numpy() == pytest.approx(table["log_rate_ratio"].to_numpy() / np.log(2.0))


def test_content_for_multiqc(folder, capfd, monkeypatch):
    """The documented fields of custom content; MultiQC itself is too heavy for a test."""
    screen(capfd, monkeypatch, "--multiqc")
    found = {path.name: json.loads(path.read_text()) for path in (folder / "res").glob("*_mqc.json")}
    assert set(found) == {
        "bayesieve_general_mqc.json", "bayesieve_contrasts_mqc.json", "bayesieve_selected_mqc.json",
        "drug.bayesieve_mqc.json", "high.bayesieve_mqc.json",
    }  # fmt: skip
    kinds = {name: each["plot_type"] for name, each in found.items()}
    assert kinds["bayesieve_general_mqc.json"] == "generalstats"
    assert kinds["bayesieve_selected_mqc.json"] == "bargraph"
    assert kinds["drug.bayesieve_mqc.json"] == kinds["bayesieve_contrasts_mqc.json"] == "table"
    assert len({each["id"] for each in found.values()}) == len(found)
    for each in found.values():
        heads = each.get("headers", each.get("categories"))
        for row in each["data"].values():
            assert set(row) <= set(heads)
        if each["plot_type"] != "generalstats":
            assert each["parent_id"] == "bayesieve"
            assert {"section_name", "description", "pconfig"} <= set(each)
            assert {"id", "title"} <= set(each["pconfig"])
    table = results("drug")
    bars = found["bayesieve_selected_mqc.json"]["data"]["drug"]
    chosen = table[table["selected"]]
    assert bars["n_up"] == (chosen["mean_difference"] > 0).sum() > 0
    assert list(found["drug.bayesieve_mqc.json"]["data"])[:3] == table["gene_id"].tolist()[:3]


def test_one_that_fails_does_not_lose_the_others(folder, capfd, monkeypatch):
    frame = pd.read_csv("counts.tsv", sep="\t")
    frame.loc[3, "S7"] = np.nan  # of the level drug
    frame.to_csv("counts.tsv", sep="\t", index=False)
    (folder / "contrasts.csv").write_text(CONTRASTS.replace("drug,dose", "a,dose"))
    done = screen(capfd, monkeypatch)
    assert done.code == 2
    assert "1 of 2 contrasts could not be screened: 'a'; the others are written" in done.said
    assert "1 missing value" in done.said
    assert not (folder / "res/a.bayesieve.results.tsv").exists()
    assert len(results("high")) == G
    assert "missing value" in json.loads((folder / "res/bayesieve.contrasts.json").read_text())["failed"]["a"]


def test_an_interruption_keeps_what_is_done(folder, capfd, monkeypatch):
    before, calls = command.select_features, []

    def select(*arguments):
        calls.append(arguments)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return before(*arguments)

    monkeypatch.setattr(command, "select_features", select)
    assert screen(capfd, monkeypatch).code == 130
    assert len(results("drug")) == G
    assert json.loads((folder / "res/bayesieve.contrasts.json").read_text())["not_done"] == ["high"]
    assert not (folder / "res/high.bayesieve.results.tsv").exists()


def test_annotations_genes_and_lists(folder, capfd, monkeypatch):
    names = pd.DataFrame({"id": [f"ENSG{j:03d}" for j in range(G)], "symbol": [f"SYM{j}" for j in range(G)]})
    names.to_csv("genes.csv", index=False)
    screen(capfd, monkeypatch, "--features", "genes.csv", "--only-selected", "-n", "4")
    assert results("drug")["symbol"].tolist()[:1] == [
        "SYM" + results("drug")["gene_id"][0][4:].lstrip("0").zfill(1)
    ]
    assert len(results("drug")) == 4
    screen(capfd, monkeypatch, "--gene-map", "genes.csv:symbol")
    assert results("drug").columns[0] == "gene"
    assert set(results("drug")["gene"]) == set(names["symbol"])


@pytest.mark.parametrize(("more", "words"), [
    (("--classes", "a; b"), "--classes does not go with --contrasts"),
    (("--report", "r.html"), "Name their folder, not r.html"),
    (("--report", "samplesheet.csv"), "samplesheet.csv (--report) is a file"),
    (("--out", "counts.tsv"), "counts.tsv (--out) is a file"),
])  # fmt: skip
def test_options_of_one_comparison_are_refused(folder, capfd, monkeypatch, more, words):
    done = screen(capfd, monkeypatch, *more)
    assert done.code == 2
    assert words in done.said


def test_a_folder_is_asked_for(folder, capfd, monkeypatch):
    done = inside(capfd, monkeypatch, "screen", "counts.tsv", "--contrasts", "contrasts.csv")
    assert done.code == 2
    assert "--out FOLDER" in done.said
