"""``bayesieve enrich`` and ``bayesieve screen --gene-map``: the library's numbers, kinds of files, mistakes."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import numpy as np
import pytest
from commands import inside, outside, read_exactly

import bayesieve as bs
from bayesieve.enrichment import known_markers, marker_probability

N = 150
RNG = np.random.default_rng(8)
VALUES = RNG.normal(size=(30, N)).round(4)
VALUES[15:, :12] += 3.0
LABELS = ["early"] * 15 + ["late"] * 15
PROBES = [f"{1000 + i}_at" for i in range(N)]
GENES = {name: f"GENE{i // 2}" for i, name in enumerate(PROBES)}
GENES[PROBES[-1]] = ""
GENES[PROBES[0]] = "GENE0 /// OTHER"
SETS = {f"set{k}": [f"GENE{i}" for i in range(5 * k, 5 * k + 12)] for k in range(12)}


def written(labels):
    lines = [",".join(["label", *PROBES])]
    lines += [",".join([label, *map(repr, row)]) for label, row in zip(labels, VALUES.tolist(), strict=True)]
    return "\n".join(lines) + "\n"


@pytest.fixture
def bayesieve(tmp_path, monkeypatch, capfd):
    """Run commands in a folder that holds a table, a platform, gene sets and known markers."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TERM", "dumb")
    monkeypatch.setenv("COLUMNS", "200")
    Path("table.csv").write_text(written(LABELS), encoding="utf-8")
    rows = "".join(f"{name}\tacc\t{gene}\n" for name, gene in GENES.items())
    Path("GPL.txt").write_text(f"^PLATFORM\n#ID = probe\nID\tGB_ACC\tGene Symbol\n{rows}", encoding="utf-8")
    lines = "".join(f"{name}%source\tabout\t" + "\t".join(genes) + "\n" for name, genes in SETS.items())
    Path("sets.gmt.gz").write_bytes(gzip.compress(lines.encode()))
    Path("known.txt").write_text("GENE1\nGENE3\nGENE40\nNOBODY\n", encoding="utf-8")

    def run(*arguments):
        return inside(capfd, monkeypatch, *arguments)

    return run


def screened(bayesieve, *more, out="genes.csv"):
    done = bayesieve("screen", "table.csv", "-l", "label", "--gene-map", "GPL.txt", "--shuffles", "20", "-o", out,
                     *more)  # fmt: skip
    assert done.code == 0, done.err
    return done


def library(collapse="best"):
    genes = bs.read_gene_map("GPL.txt")
    posterior = bs.screen(VALUES, LABELS, feature_names=PROBES, gene_map=genes, collapse=collapse, shuffles=20)
    return bs.MinimalRisk(0.5).select(posterior)


@pytest.mark.parametrize("collapse", ["best", "max-mean"])
def test_a_screen_of_genes_is_that_of_the_library(bayesieve, collapse):
    done = screened(bayesieve, "--collapse", collapse, "--report", "page.html", "--manifest", "run.json",
                    "--config-out", "run.toml")  # fmt: skip
    selection = library(collapse)
    table = read_exactly("genes.csv")
    order = selection.posterior.ranking
    assert table["feature"].tolist() == [selection.posterior.names[i] for i in order]
    np.testing.assert_allclose(table["log_odds"], selection.posterior.log_odds[order], rtol=1e-9)
    assert table["kept_feature"].tolist() == [selection.posterior.to_dict()["kept_feature"][i] for i in order]
    assert (
        "150 features collapsed to 76 genes: 1 feature without a gene dropped; 1 feature with several" in done.said
    )
    record = json.loads(Path("genes.csv.json").read_text())
    assert record["settings"]["gene_map"] == "GPL.txt"
    (numbers,) = [
        note["numbers"] for each in record["findings"] for note in each["notes"] if note["kind"] == "genes"
    ]
    assert (numbers["n_features"], numbers["n_dropped"], numbers["n_genes"]) == (150, 1, 76)
    again = bayesieve("report", "run.json", "-o", "again.html")
    assert "the results are the same to the last bit" in again.said
    assert "2 inputs are unchanged" in again.said
    once_more = bayesieve("screen", "table.csv", "--config", "run.toml", "-o", "second.csv")
    assert once_more.code == 0
    assert Path("second.csv").read_bytes() == Path("genes.csv").read_bytes()
    assert "GENE1" in Path("page.html").read_text(encoding="utf-8")


def test_fragility_and_raw_values_are_those_of_the_features_kept(bayesieve):
    screened(bayesieve, "--fragility", "--unmapped", "keep", "--report", "page.html")
    table = read_exactly("genes.csv").set_index("feature")
    assert "1149_at" in table.index
    best = table.iloc[0]
    k = PROBES.index(best["kept_feature"])
    posterior = bs.screen(VALUES, LABELS, feature_names=PROBES, shuffles=0)
    fragile = bs.fragility(VALUES, LABELS, posterior=posterior)
    assert best["least_log_odds"] == pytest.approx(fragile.columns(posterior)["least_log_odds"][k], rel=1e-2)


def test_a_statistics_file_can_be_collapsed(bayesieve):
    assert bayesieve("stats", "table.csv", "-l", "label", "-o", "site.stats.parquet").code == 0
    done = bayesieve("screen", "site.stats.parquet", "--gene-map", "GPL.txt", "-o", "sites.csv")
    assert done.code == 0
    assert len(read_exactly("sites.csv")) == 76
    assert "does not know that each is the best of several" in done.said or "best of several" in done.said


def test_known_markers_and_sets_are_those_of_the_library(bayesieve):
    screened(bayesieve)
    done = bayesieve("enrich", "genes.csv", "--known", "known.txt", "--top", "5,10,1000", "--sets", "sets.gmt.gz",
                     "-o", "sets.csv", "--known-out", "ranks.csv", "--top-out", "top.csv", "--rnk", "genes.rnk",
                     "--figures", "figures", "--format", "png")  # fmt: skip
    assert done.code == 0, done.err
    selection = library()
    wanted = bs.enrich(selection, bs.read_gene_sets("sets.gmt.gz"))
    table = read_exactly("sets.csv")
    assert list(table.columns) == list(wanted.to_dict())
    for name, column in wanted.to_dict().items():
        if name in ("set", "interval", "features"):
            assert table[name].fillna("").tolist() == column
        else:
            np.testing.assert_allclose(table[name], column, rtol=1e-9)
    order = selection.posterior.ranking
    known = known_markers([selection.posterior.names[i] for i in order], ["GENE1", "GENE3", "GENE40"], [5, 10])
    top = read_exactly("top.csv")
    np.testing.assert_allclose(top["p_value"], known.p_value, rtol=1e-9)
    np.testing.assert_allclose(top["p_value_paper"], known.p_value_paper, rtol=1e-9)
    ranks = read_exactly("ranks.csv")
    assert ranks["gene"].tolist() == [*known.genes, "NOBODY"]
    assert ranks["rank"].iloc[:3].tolist() == known.rank.tolist()
    assert "not ranked: 'NOBODY'" in done.said
    assert "Top 1000: there are only 76 genes." in done.said
    assert "p-values take genes for independent" in done.said
    assert {path.name for path in Path("figures").iterdir()} == {"recovery.png", "set_dots.png"}
    lines = [line.split("\t") for line in Path("genes.rnk").read_text().splitlines()]
    scores = {gene: float(score) for gene, score in lines}
    assert len(scores) == len(lines) == 76  # GENE0 /// OTHER is two, and GENE0 has a row of its own
    assert [float(score) for _, score in lines] == sorted(scores.values(), reverse=True)
    rows = read_exactly("genes.csv").set_index("feature")
    for gene in ("GENE1", "GENE40"):
        sign = np.sign(rows.loc[gene, "mean_difference"])
        assert scores[gene] == pytest.approx(-sign * np.log10(rows.loc[gene, "local_fdr"]), rel=1e-6)


def test_a_table_without_its_record_keeps_what_shuffles_said(bayesieve):
    screened(bayesieve)
    bayesieve("enrich", "genes.csv", "--sets", "sets.gmt.gz", "-o", "with.csv")
    Path("genes.csv.json").unlink()
    bayesieve("enrich", "genes.csv", "--sets", "sets.gmt.gz", "-o", "without.csv")
    one, other = read_exactly("with.csv"), read_exactly("without.csv")
    assert one["set"].tolist() == other["set"].tolist()
    np.testing.assert_allclose(one["expected_markers"], other["expected_markers"], rtol=1e-9)
    rows = read_exactly("genes.csv")
    p = marker_probability(rows["probability"].to_numpy(), rows["expected_fdr"].to_numpy())
    inside_set = rows["feature"].str.split(" /// ").apply(lambda genes: bool(set(genes) & set(SETS["set0"])))
    table = read_exactly("without.csv").set_index("set")
    assert table.loc["set0%source", "expected_markers"] == pytest.approx(p[inside_set].sum())


@pytest.mark.parametrize("ending", ["parquet", "json", "tsv"])
def test_results_of_every_format(bayesieve, ending):
    screened(bayesieve, out=f"genes.{ending}")
    done = bayesieve("enrich", f"genes.{ending}", "--sets", "sets.gmt.gz", "-o", f"sets.{ending}")
    assert done.code == 0, done.err
    assert Path(f"sets.{ending}").stat().st_size


def test_several_results_and_comparisons_side_by_side(bayesieve):
    screened(bayesieve)
    bayesieve("compare", "table.csv", "-l", "label", "-m", "obf-jp,welch,bd", "-o", "methods.csv")
    done = bayesieve("enrich", "methods.csv", "--gene-map", "GPL.txt", "--known", "GENE1,GENE3,GENE40", "--top",
                     "10", "--known-out", "ranks.csv", "--figures", "f", "--format", "svg")  # fmt: skip
    assert done.code == 0, done.err
    assert list(read_exactly("ranks.csv").columns) == ["gene", "rank_obf_jp", "rank_welch", "rank_bd"]
    text = Path("f/recovery.svg").read_text(encoding="utf-8")
    assert all(name in text for name in ("obf_jp", "welch", "bd"))
    assert "chosen after the screen" in done.said
    both = bayesieve("enrich", "genes.csv", "methods.csv", "--known", "GENE1,1000_at", "--top", "10")
    assert both.code == 0, both.err
    assert "genes: 1 of 2 known markers" in both.said
    one = bayesieve("enrich", "methods.csv", "--method", "welch", "--gene-map", "GPL.txt", "--sets", "sets.gmt.gz",
                    "-n", "15", "-o", "sets.csv")  # fmt: skip
    assert one.code == 0, one.err
    assert read_exactly("sets.csv")["selected"].max() > 3


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("mine.rnk", "GENE3\t9.5\nGENE1\t-2\nGENE2\t0.5\n"),
        ("mine.csv", "gene,rank\nGENE1,3\nGENE3,1\nGENE2,2\n"),
        ("mine.txt", "GENE3\nGENE2\nGENE1\n"),
        ("mine.txt", "gene\nGENE3\nGENE2\nGENE1\n"),
    ],
)
def test_rankings_of_other_programs(bayesieve, name, text):
    Path(name).write_text(text, encoding="utf-8")
    done = bayesieve("enrich", name, "--known", "GENE1,GENE3", "--top", "1,2", "--known-out", "ranks.csv")
    assert done.code == 0, done.err
    assert read_exactly("ranks.csv")["gene"].tolist() == ["GENE3", "GENE1"]
    assert read_exactly("ranks.csv")["rank"].tolist() == [1, 3]


def test_shuffled_labels_give_an_empty_list_and_no_sets(bayesieve):
    order = np.random.default_rng(3).permutation(30)
    Path("noise.csv").write_text(written([LABELS[i] for i in order]), encoding="utf-8")
    bayesieve("screen", "noise.csv", "-l", "label", "--gene-map", "GPL.txt", "-o", "noise.out.csv")
    done = bayesieve("enrich", "noise.out.csv", "--sets", "sets.gmt.gz", "-o", "sets.csv")
    assert "Nothing was selected, so that no set can hold more than its share" in done.said
    table = read_exactly("sets.csv")
    assert (table["q_value"] == 1).all()
    assert table["expected_markers"].max() < 1
    forced = bayesieve("enrich", "noise.out.csv", "--sets", "sets.gmt.gz", "-n", "30")
    assert "sets that they fall into may be noise" in forced.said


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["enrich", "genes.csv"], "Say what to look for"),
        (["enrich", "absent.csv", "--known", "A"], "There is no file absent.csv"),
        (["enrich", "genes.csv", "--sets", "absent.gmt"], "There is no file absent.gmt (--sets)"),
        (["enrich", "genes.csv", "--known", "GENE1", "--top", "ten"], "--top takes whole numbers"),
        (["enrich", "genes.csv", "--known", "GENE1", "-o", "x.csv"], "--out is a table about --sets"),
        (["enrich", "genes.csv", "--sets", "sets.gmt.gz", "-o", "genes.csv"], "would overwrite genes.csv"),
        (["enrich", "genes.csv", "--sets", "sets.gmt.gz", "-o", "x.doc"], "Cannot tell the format"),
        (["enrich", "genes.csv", "genes.csv", "--sets", "sets.gmt.gz"], "Gene sets are tested on one ranking"),
        (["enrich", "genes.csv", "--known", "7157"], "Use the same kind of ids"),
        (["enrich", "genes.csv", "--sets", "GPL.txt"], "is no file of gene sets"),
        (["enrich", "known.txt", "--sets", "sets.gmt.gz"], "a ranking without a list"),
        (["enrich", "known.txt", "--rnk", "x.rnk"], "holds ranks alone"),
        (["enrich", "table.csv", "--known", "GENE1"], "no table of bayesieve screen or bayesieve compare"),
        (["enrich", "genes.csv", "--method", "t", "--known", "GENE1"], "no ranking 't'"),
        (["enrich", "genes.csv", "--known", "GENE1", "--gene-map", "GPL.txt"], "knows none of the 76 features"),
        (["enrich", "genes.csv", "--known", "GENE1", "--figures", "known.txt"], "it is a file. Name a folder"),
        (["enrich", "genes.csv", "--known", "GENE1", "--figures", "f", "--format", "gif"], "not as 'gif'"),
        (["enrich", "genes.csv", "--sets", "sets.gmt.gz", "--min-size", "40", "--max-size", "9"], "smaller first"),
        (["screen", "table.csv", "-l", "label", "--gene-map", "absent.txt"], "There is no file absent.txt"),
        (["screen", "table.csv", "-l", "label", "--gene-map", "GPL.txt:Symbl"], "has no column 'Symbl'"),
        (["screen", "table.csv", "-l", "label", "--collapse", "max-mean"], "Add --gene-map FILE"),
        (["screen", "table.csv", "-l", "label", "--gene-map", "GPL.txt", "--p-values"], "looks at one feature"),
        (["screen", "table.csv", "-l", "label", "--gene-map", "known.txt"], "single column"),
    ],
)  # fmt: skip
def test_a_mistake_is_one_paragraph(bayesieve, words, message):
    screened(bayesieve)
    done = bayesieve(*words)
    assert done.code == 2
    assert message in done.said
    assert "Traceback" not in done.err


def test_the_json_log_holds_the_numbers(bayesieve):
    screened(bayesieve)
    done = bayesieve(
        "enrich", "genes.csv", "--known", "GENE1", "--top", "10", "--sets", "sets.gmt.gz", "--json-log"
    )
    last = json.loads(done.err.splitlines()[-1])
    assert last["sets"]["n_universe"] == 76
    assert last["known"][0]["top"] == [10]


def test_the_executable_knows_the_command(tmp_path):
    assert "known markers and gene sets" in outside("enrich", "--help", folder=tmp_path).out


def test_a_report_of_a_result_shows_gene_sets(bayesieve):
    screened(bayesieve)
    done = bayesieve("report", "genes.csv", "--sets", "sets.gmt.gz", "--min-size", "5", "-o", "page.html")
    assert done.code == 0, done.err
    page = Path("page.html").read_text(encoding="utf-8")
    section = page[page.index('id="gene-sets"') :]
    assert ">set0<" in section
    absent = bayesieve("report", "genes.csv", "--sets", "absent.gmt", "-o", "page.html")
    assert absent.code == 2
    assert "There is no file absent.gmt (--sets)" in absent.said
