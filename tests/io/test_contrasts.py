"""Contrast files, and several contrasts from one reading of a table."""

from __future__ import annotations

import sys

import anndata
import numpy as np
import pandas as pd
import pytest

import bayesieve as bs
from bayesieve.io import ContrastTables

RNG = np.random.default_rng(3)
N, G = 18, 12
LEVELS = ["control"] * 6 + ["drug"] * 6 + ["high"] * 6
BATCH, SEX = ["1", "2"] * 9, ["f", "m", "m"] * 6
VALUES = RNG.gamma(3.0, 2.0, size=(N, G)).round(3)
VALUES[6:12, 0] += 9.0
CONTRASTS = "id,variable,reference,target,blocking\nd,dose,control,drug,\nh,dose,control,high,batch\n"


def write(folder, text, name):
    path = folder / name
    path.write_text(text)
    return path


def matrix(values, ids=None, names=None):
    """Write a table as nf-core pipelines do: gene_id, gene_name, one column per sample."""
    ids = ids or [f"S{i}" for i in range(N)]
    names = names or [f"G{j}" for j in range(values.shape[1])]
    lines = ["\t".join(["gene_id", "gene_name", *ids])]
    for j, name in enumerate(names):
        cells = ["" if np.isnan(value) else repr(value) for value in values[:, j].tolist()]
        lines.append("\t".join([name, f"SYM{j}", *cells]))
    return "\n".join(lines) + "\n"


SHEET = "sample,fastq_1,dose,batch,sex\n" + "".join(
    f"S{i},S{i}_R1.fastq.gz,{LEVELS[i]},{BATCH[i]},{SEX[i]}\n" for i in range(N)
)


@pytest.fixture
def study(tmp_path):
    return write(tmp_path, matrix(VALUES), "counts.tsv"), write(tmp_path, SHEET, "samplesheet.csv")


def same(found, wanted):
    assert found.classes == wanted.classes
    assert found.names == wanted.names
    assert np.array_equal(found.log_odds, wanted.log_odds, equal_nan=True)


def test_contrasts_are_those_of_separate_screens(study, tmp_path):
    table, sheet = study
    found = bs.screen_contrasts(table, write(tmp_path, CONTRASTS, "c.csv"), sheet, shuffles=3)
    assert list(found) == ["d", "h"]
    alone = bs.read_table(table, labels=f"{sheet}:dose", classes="control; drug")
    wanted = bs.screen(alone, shuffles=3)
    same(found["d"], wanted)
    assert np.array_equal(found["d"].shuffled.reaching, wanted.shuffled.reaching)
    assert float(found["d"].statistics.mean[1, 0] - found["d"].statistics.mean[0, 0]) > 5.0  # target - reference
    alone = bs.read_table(table, labels=f"{sheet}:dose", classes="control; high", blocks=f"{sheet}:batch")
    same(found["h"], bs.screen(alone, shuffles=3))


def test_several_blocking_factors_are_crossed(study):
    table, sheet = study
    contrast = bs.Contrast("c", "dose", "control", "drug", blocking=("batch", "sex"))
    found = bs.screen_contrasts(table, [contrast], sheet, shuffles=0)["c"]
    crossed = [f"{batch}{sex}" for batch, sex in zip(BATCH, SEX, strict=True)][:12]
    y = LEVELS[:12]
    wanted = bs.screen(VALUES[:12], y, blocks=crossed, shuffles=0, classes=("control", "drug"))
    assert found.log_odds == pytest.approx(wanted.log_odds, abs=1e-10)


def test_samples_are_excluded(study):
    table, sheet = study
    contrast = bs.Contrast("c", "dose", "control", "drug", exclude_column="sex", exclude_values=("f",))
    tables = ContrastTables.read(table, [contrast], sheet)
    summary = tables.summary(contrast)
    kept = np.array(SEX[:12]) == "m"
    wanted = bs.screen(VALUES[:12][kept], np.array(LEVELS[:12])[kept], shuffles=0)
    assert bs.screen(summary, shuffles=0).log_odds == pytest.approx(wanted.log_odds, abs=1e-10)
    said = " ".join(str(message) for message in summary.record.messages())
    assert "6 samples left out by 'sex'." in said
    assert "without a label" not in said
    assert "outside the classes: high (4)" in said


@pytest.mark.parametrize("options", [
    {"transform": "log1p"},
    {"transform": "rank-normal"},
    {"duplicates": "mean"},
    {"model": bs.PoissonModel(), "exposures": "total"},
    {"pairs": "pair"},
], ids=str)  # fmt: skip
def test_options_of_reading_apply_to_all(tmp_path, options):
    names = ["G0", "G0", *(f"G{j}" for j in range(2, G))]
    values = np.round(VALUES) if "model" in options else VALUES
    table = write(tmp_path, matrix(values, names=names), "t.tsv")
    pairs = [f"p{i % 6}" for i in range(N)]
    sheet = write(
        tmp_path, "sample,dose,pair\n" + "".join(f"S{i},{LEVELS[i]},{pairs[i]}\n" for i in range(N)), "s.csv"
    )
    contrast = bs.Contrast("c", "dose", "control", "high")
    found = bs.screen_contrasts(table, [contrast], sheet, shuffles=0, **options)["c"]
    reading = {**options, **({"pairs": f"{sheet}:pair"} if "pairs" in options else {})}
    alone = bs.read_table(table, labels=f"{sheet}:dose", classes="control; high", **reading)
    same(found, bs.screen(alone, model=options.get("model"), shuffles=0))


def test_columns_of_the_table_itself(tmp_path):
    lines = ["id,dose,batch," + ",".join(f"G{j}" for j in range(G))]
    lines += [f"S{i},{LEVELS[i]},{BATCH[i]}," + ",".join(map(repr, VALUES[i].tolist())) for i in range(N)]
    table = write(tmp_path, "\n".join(lines) + "\n", "t.csv")
    found = bs.screen_contrasts(table, write(tmp_path, CONTRASTS, "c.csv"), shuffles=0)
    alone = bs.read_table(table, labels="dose", classes="control; high", blocks="batch")
    same(found["h"], bs.screen(alone, shuffles=0))
    alone = bs.read_table(table, labels="dose", classes="control; drug", ignore=["batch"])
    same(found["d"], bs.screen(alone, shuffles=0))


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_obs_of_anndata(tmp_path):
    obs = pd.DataFrame({"dose": LEVELS, "batch": BATCH}, index=[f"S{i}" for i in range(N)])
    data = anndata.AnnData(VALUES, obs, pd.DataFrame(index=[f"G{j}" for j in range(G)]))
    data.write_h5ad(tmp_path / "t.h5ad")
    found = bs.screen_contrasts(tmp_path / "t.h5ad", write(tmp_path, CONTRASTS, "c.csv"), shuffles=0)["h"]
    alone = bs.read_table(tmp_path / "t.h5ad", labels="dose", classes="control; high", blocks="batch")
    same(found, bs.screen(alone, shuffles=0))


def test_the_table_is_read_once(study, tmp_path):
    table, sheet = study
    tables = ContrastTables.read(table, bs.read_contrasts(write(tmp_path, CONTRASTS, "c.csv")), sheet)
    table.unlink()
    assert [summary.class_counts for _, summary in tables] == [
        {"control": 6, "drug": 6}, {"control": 6, "high": 6},
    ]  # fmt: skip


@pytest.mark.parametrize("in_rows", [False, True])
def test_a_table_too_large_to_hold_is_read_again(study, tmp_path, in_rows):
    table, sheet = study
    if in_rows:
        frame = pd.DataFrame(VALUES, [f"S{i}" for i in range(N)], [f"G{j}" for j in range(G)])
        frame.to_csv(tmp_path / "rows.csv", index_label="sample")
        table = tmp_path / "rows.csv"
    contrasts = bs.read_contrasts(write(tmp_path, CONTRASTS, "c.csv"))
    small = ContrastTables.read(table, contrasts, sheet, memory=200)
    assert small.table.held is None
    large = ContrastTables.read(table, contrasts, sheet)
    for contrast in contrasts:
        a, b = small.summary(contrast), large.summary(contrast)
        assert np.array_equal(a.moments.mean, b.moments.mean)


def test_ids_that_are_written_differently_and_a_sheet_of_more(study, tmp_path):
    table = write(tmp_path, matrix(VALUES, ids=[f"S{i}.CEL.gz" for i in range(N)]), "cel.tsv")
    sheet = write(tmp_path, SHEET + "S99,x,control,1,f\n", "more.csv")
    contrast = bs.Contrast("c", "dose", "control", "drug")
    summary = ContrastTables.read(table, [contrast], sheet).summary(contrast)
    said = " ".join(str(message) for message in summary.record.messages())
    assert "1 id of " in said
    assert "S99" in said
    assert "CEL" in said
    assert summary.class_counts == {"control": 6, "drug": 6}


def test_yaml_is_the_same_as_csv(tmp_path):
    text = """
contrasts:
  - id: d
    comparison: [dose, control, drug]
  - id: h
    comparison: ["dose", "control", "high"]
    blocking_factors: ["batch"]
    exclude_samples_col: sex
    exclude_samples_values: [f, no]
"""
    table = (
        "id,variable,reference,target,blocking,exclude_samples_col,exclude_samples_values\n"
        "d,dose,control,drug,,,\nh,dose,control,high,batch,sex,f;no\n,,,,,,\n"
    )
    a, b = (bs.read_contrasts(write(tmp_path, *each)) for each in ((text, "c.yaml"), (table, "c.csv")))
    for one, two in zip(a, b, strict=True):
        assert [getattr(one, name) for name in one.__slots__ if name != "place"] == [
            getattr(two, name) for name in two.__slots__ if name != "place"
        ]
    assert a[1].exclude_values == ("f", "no")  # not False


def test_a_formula_is_refused(tmp_path):
    path = write(tmp_path, "contrasts:\n  - id: f\n    formula: '~ dose'\n", "c.yml")
    with pytest.raises(bs.OptionError, match=r"contrast 1 \('f'\) is a formula, '~ dose'.*comparison"):
        bs.read_contrasts(path)


@pytest.mark.parametrize(("text", "words"), [
    ("contrasts:\n  - id: [a\n", "line 3: this is no YAML"),
    ("id: a\n", "holds no list of contrasts"),
    ("contrasts:\n  - a\n", "contrast 1: 'a' is no entry with an id"),
    ("contrasts:\n  - id: a\n    comparison: [dose, x]\n", "comparison is not of the form"),
    ("- id: a\n  comparison: [dose, x, x]\n", "contrast 1 .'a'.: reference and target are both 'x'"),
], ids=range(5))  # fmt: skip
def test_mistakes_in_yaml(tmp_path, text, words):
    with pytest.raises(bs.BayesieveError, match=words):
        bs.read_contrasts(write(tmp_path, text, "c.yaml"))


def test_without_pyyaml_there_is_advice(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "yaml", None)
    with pytest.raises(bs.MissingExtraError, match=r"PyYAML.*pip install.*\[yaml\].*CSV"):
        bs.read_contrasts(write(tmp_path, "contrasts: []\n", "c.yml"))


HEAD = "id,variable,reference,target,blocking,exclude_samples_col,exclude_samples_values\n"


@pytest.mark.parametrize(("text", "words"), [
    ("id,variable,reference\na,b,c\n", r"has no column 'target'.*this one has: 'id', 'variable', 'reference'"),
    (HEAD, "a header and no data"),
    (HEAD + "a,dose,control,drug,,,\na,dose,control,high,,,\n", r"row 2: the id 'a' stands twice.*row 1"),
    (HEAD + "a,dose,drug,drug,,,\n", r"row 1 \('a'\): reference and target are both 'drug'"),
    (HEAD + "a/b,dose,control,drug,,,\n", "row 1: the id 'a/b' is to name files"),
    (HEAD + "a,,control,drug,,,\n", "row 1: 'variable' is empty"),
    (HEAD + "a,dose,control,drug,dose,,\n", "both compared and a blocking factor"),
    (HEAD + "a,dose,control,drug,,sex,\n", "belong together"),
    (HEAD + "a,dosis,control,drug,,,\n", r"variable 'dosis' is no column of .*Did you mean 'dose'.*'batch'"),
    (HEAD + 'a,dose,control,drug,"batch,sex",,\n', r"blocking factor 'batch,sex'.*separated by semicolons"),
    (HEAD + "a,dose,control,drg,,,\n", r"target 'drg'.*mean 'drug'.*control \(6\), drug \(6\), high \(6\)"),
    (HEAD + "a,dose,control,drg,,,\nb,dose,x,high,,,\n", "1 other contrast cannot be used either"),
    (HEAD + "a,dose,control,drug,,sex,q\n", r"no sample has 'q' in 'sex'.*f \(6\), m \(12\)"),
    (HEAD + "a,dose,control,drug,,fastq_1,S0_R1.fastq.gz;S1_R1.fastq.gz;S2_R1.fastq.gz;S3_R1.fastq.gz;"
     "S4_R1.fastq.gz\n", r"'control' has 1 sample in the table.*does not exclude.*\(6 with that level"),
    (HEAD + "a,dose,control,drug,fastq_1,,\n", "no block of fastq_1 holds samples of both"),
], ids=range(15))  # fmt: skip
def test_mistakes_are_found_before_anything_is_computed(study, tmp_path, text, words):
    table, sheet = study
    with pytest.raises(bs.BayesieveError, match=words):
        bs.screen_contrasts(table, write(tmp_path, text, "c.csv"), sheet)


def test_a_sheet_is_named_without_a_column(study):
    table, sheet = study
    with pytest.raises(bs.OptionError, match="the contrasts name the columns"):
        bs.screen_contrasts(table, [bs.Contrast("a", "dose", "control", "drug")], f"{sheet}:dose")


def test_a_table_without_these_columns_asks_for_the_sheet(study):
    with pytest.raises(bs.BayesieveError, match=r"no column 'dose'.*name it: samples='samplesheet.csv'"):
        bs.screen_contrasts(study[0], [bs.Contrast("a", "dose", "control", "drug")])


def test_columns_about_the_samples_are_left_out(tmp_path):
    frame = pd.DataFrame(VALUES, [f"S{i}" for i in range(N)], [f"G{j}" for j in range(G)])
    frame.insert(3, "age", np.arange(40, 40 + N))
    frame.to_csv(tmp_path / "t.csv", index_label="sample")
    sheet = frame[["age"]].assign(dose=LEVELS)
    sheet.to_csv(tmp_path / "s.csv", index_label="sample")
    contrasts = [bs.Contrast("d", "dose", "control", "drug"), bs.Contrast("h", "dose", "control", "high")]
    tables = ContrastTables.read(tmp_path / "t.csv", contrasts, tmp_path / "s.csv")
    for _, summary in tables:
        assert "age" not in summary.feature_names
        assert "'age' (also in" in " ".join(map(str, summary.record.messages()))
