"""``bayesieve screen`` on tables as they are found in the wild, and everything it writes and says."""

from __future__ import annotations

import bz2
import gzip
import hashlib
import io
import json
import lzma
import os
import re
import signal
import subprocess
import sys
import time
import tomllib
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
import zstandard
from commands import (
    check_list,
    environment,
    executable,
    gene_names,
    halves,
    in_columns,
    in_rows,
    inside,
    label_file,
    numbers,
    outside,
    read_exactly,
    read_list,
    sample_names,
)

import bayesieve as bs

VALUES = numbers()
LABELS = halves(12)
GOOD = in_rows(VALUES, LABELS)
LINES = GOOD.splitlines()
PHENO = label_file(LABELS)
ESCAPE = "\x1b"


@pytest.fixture
def bayesieve(tmp_path, monkeypatch, capfd):
    """Run commands in an empty folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TERM", "dumb")
    monkeypatch.setenv("COLUMNS", "200")

    def run(*arguments):
        return inside(capfd, monkeypatch, *arguments)

    return run


def write(name, content):
    Path(name).write_bytes(content.encode() if isinstance(content, str) else content)


def expected(values=VALUES, labels=LABELS, **settings):
    """Screen in memory; what it warns about is not the point here."""
    names = settings.pop("feature_names", gene_names(np.shape(values)[1]))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", bs.BayesieveWarning)
        return bs.screen(values, labels, feature_names=names, **settings)


def list_names(result):
    """Parse the list on standard output."""
    assert result.code == 0, result.err
    return read_list(io.StringIO(result.out))


def quoted(lines):
    return [",".join(f'"{cell}"' for cell in line.split(",")) for line in lines]


# What text tables look like


SPELLINGS = {
    "unix": ("t.csv", GOOD, ()),
    "windows": ("t.csv", GOOD.replace("\n", "\r\n"), ()),
    "old Mac": ("t.csv", GOOD.replace("\n", "\r"), ()),
    "no newline at the end": ("t.csv", GOOD.rstrip("\n"), ()),
    "byte-order mark": ("t.csv", b"\xef\xbb\xbf" + GOOD.encode(), ()),
    "UTF-16": ("t.csv", GOOD.encode("utf-16"), ()),
    "UTF-16, big end first": ("t.csv", b"\xfe\xff" + GOOD.encode("utf-16-be"), ()),
    "UTF-16 without a mark": ("t.csv", GOOD.encode("utf-16-le"), ()),
    "UTF-16 without a mark, big end first": ("t.csv", GOOD.encode("utf-16-be"), ()),
    "UTF-16 as said": ("t.csv", GOOD.encode("utf-16"), ("--encoding", "utf-16")),
    "UTF-16 as said, big end first": ("t.csv", b"\xfe\xff" + GOOD.encode("utf-16-be"), ("--encoding", "utf-16")),
    "UTF-32": ("t.csv", GOOD.encode("utf-32"), ()),
    "all quoted": ("t.csv", "\n".join(quoted(LINES)), ()),
    "quoted numbers, Windows": ("t.csv", "\r\n".join(quoted(LINES)), ()),
    "spaces around fields": ("t.csv", GOOD.replace(",", " , "), ()),
    "blank lines": ("t.csv", GOOD.replace("\ns4,", "\n\n\ns4,"), ()),
    "tabs": ("t.tsv", GOOD.replace(",", "\t"), ()),
    "tabs in CSV": ("t.csv", GOOD.replace(",", "\t"), ()),
    "no ending": ("t", GOOD.replace(",", "\t"), ()),
    "semicolons": ("t.csv", GOOD.replace(",", ";"), ()),
    "bars": ("t.txt", GOOD.replace(",", "|"), ()),
    "spaces": ("t.txt", GOOD.replace(",", " "), ()),
    "carets, named": ("t.txt", GOOD.replace(",", "^"), ("--delimiter", "^")),
    "tab, named": ("t.txt", GOOD.replace(",", "\t"), ("--delimiter", "tab")),
    "decimal commas": ("t.csv", GOOD.replace(",", ";").replace(".", ","), ("--decimal", ",")),
    "decimal commas and tabs": ("t.tsv", GOOD.replace(",", "\t").replace(".", ","), ("--decimal", ",")),
    "as R writes row names": ("t.csv", "\n".join([LINES[0].removeprefix("id,"), *LINES[1:]]), ()),
    "comments": ("t.csv", "# made by hand\n# on a Monday, in haste\n" + GOOD, ()),
    "comments and blank lines": ("t.csv", "\n# made by hand\n\n" + GOOD, ()),
    "header behind a hash": ("t.csv", "#" + GOOD, ()),
    "trailing delimiters": ("t.csv", GOOD.replace("\n", ",\n"), ()),
    "many comments": ("t.csv", "# one of many\n" * 100 + GOOD, ()),
    "explicit signs": ("t.csv", re.sub(r",(\d)", r",+\1", GOOD), ()),
    "many zeros": ("t.csv", re.sub(r",(\d+\.\d+)", r",000\g<1>0000000000000000000000", GOOD), ()),
    "exponents": ("t.csv", re.sub(r",(\d+)\.(\d+)", lambda m: f",{m[1]}{m[2]}e-{len(m[2])}", GOOD), ()),
    "gzip": ("t.csv.gz", gzip.compress(GOOD.encode()), ()),
    "gzip in two members": (
        "t.csv.gz",
        gzip.compress(GOOD[:300].encode()) + gzip.compress(GOOD[300:].encode()),
        (),
    ),
    "bzip2": ("t.csv.bz2", bz2.compress(GOOD.encode()), ()),
    "xz": ("t.csv.xz", lzma.compress(GOOD.encode()), ()),
    "zstd": ("t.csv.zst", zstandard.compress(GOOD.encode()), ()),
    "zstd in two frames": (
        "t.csv.zst",
        zstandard.compress(GOOD[:300].encode()) + zstandard.compress(GOOD[300:].encode()),
        (),
    ),
    "gzip without the ending": ("t.csv", gzip.compress(GOOD.encode()), ()),
    "gzip of UTF-16": ("t.csv.gz", gzip.compress(GOOD.encode("utf-16")), ()),
}


@pytest.mark.parametrize(
    "spelling",
    [pytest.param(name, id=name) for name in SPELLINGS],
)
def test_the_same_table_in_other_spellings(spelling, bayesieve):
    name, content, options = SPELLINGS[spelling]
    write(name, content)
    result = bayesieve("screen", name, "--labels", "stage", *options)
    check_list(list_names(result), expected())
    assert "12 samples x 5 features" in result.said


def test_trailing_delimiters_in_the_data_alone_do_not_move_the_names(bayesieve):
    """Either the names stay where they are, or the file is refused; pandas has an option for such files."""
    head, *rows = in_rows(VALUES).splitlines()
    write("t.csv", "\n".join([head, *(f"{row}," for row in rows)]) + "\n")
    write("p.csv", PHENO)
    result = bayesieve("screen", "t.csv", "--labels", "p.csv:stage", "--missing", "omit")
    if result.code == 2:
        assert "t.csv, line 2" in result.said
    else:
        check_list(list_names(result), expected())


def test_old_mac_line_ends_after_a_long_header(bayesieve):
    values = numbers(12, 1500)
    write("t.csv", in_rows(values, LABELS).replace("\n", "\r"))
    check_list(list_names(bayesieve("screen", "t.csv", "--labels", "stage")), expected(values))


def test_latin_1_is_read_when_named(bayesieve):
    write(
        "t.csv",
        GOOD.replace(",a,", ",früh,").replace(",b,", ",spät,").replace(",g0,", ",größe,").encode("latin-1"),
    )
    found = list_names(bayesieve("screen", "t.csv", "--labels", "stage", "--encoding", "latin-1"))
    assert found["feature"][0] == "größe"
    assert {"mean_früh", "mean_spät"} <= set(found.columns)
    np.testing.assert_allclose(found["log_odds"][0], expected().log_odds[0], rtol=1e-10)


def test_quoted_fields_may_hold_delimiters_quotes_and_newlines(bayesieve):
    names = ["a,b", 'say ""x""', "c;d", "e f", "plain"]
    head = ",".join(["id", "stage", *(f'"{name}"' for name in names)])
    write("t.csv", "\n".join([head, *LINES[1:]]) + "\n")
    found = list_names(bayesieve("screen", "t.csv", "--labels", "stage"))
    check_list(found, expected(feature_names=[name.replace('""', '"') for name in names]))


def test_names_of_columns_may_hold_newlines(bayesieve):
    write("t.csv", GOOD.replace(",g1,", ',"g\n1",', 1))
    found = list_names(bayesieve("screen", "t.csv", "--labels", "stage"))
    check_list(found, expected(feature_names=["g0", "g\n1", "g2", "g3", "g4"]))


def test_quoted_sample_ids_may_hold_newlines(bayesieve):
    write("t.csv", GOOD.replace("s3,", '"s\n3",').replace("s5,", '"s,5",'))
    write("p.csv", PHENO.replace("s3,", '"s\n3",').replace("s5,", '"s,5",'))
    stage = bayesieve("screen", "t.csv", "--labels", "stage")
    pheno = bayesieve("screen", "t.csv", "--labels", "p.csv:stage", "--ignore", "stage")
    check_list(list_names(stage), expected())
    check_list(list_names(pheno), expected())


SPELLINGS_OF_MISSING = [
    "",
    "NA",
    "N/A",
    "n/a",
    "NaN",
    "nan",
    "NAN",
    "#N/A",
    "null",
    "NULL",
    "None",
    ".",
    "-",
    "?",
    " NA ",
    '"NA"',
]


@pytest.mark.parametrize("word", SPELLINGS_OF_MISSING)
def test_usual_spellings_of_a_missing_value(word, bayesieve):
    values = VALUES.copy()
    values[[2, 8], [1, 1]] = np.nan
    values[5, 4] = np.nan
    text = in_rows(values, LABELS).replace(",,", f",{word},").replace(",\n", f",{word}\n")
    write("t.csv", text)
    result = bayesieve("screen", "t.csv", "--labels", "stage", "--missing", "omit")
    check_list(list_names(result), expected(values, missing="omit"))
    assert "3 missing values are left out" in result.said


def test_further_spellings_of_a_missing_value(bayesieve):
    values = VALUES.copy()
    values[2, 1] = values[8, 3] = values[4, 4] = np.nan
    write(
        "t.csv",
        in_rows(np.nan_to_num(values, nan=-999.0), LABELS)
        .replace("-999.0", "-999", 1)
        .replace("-999.0", "bdl", 1),
    )
    result = bayesieve(
        "screen", "t.csv", "--labels", "stage", "--missing", "omit", "--na-values", "-999", "--na-values", "bdl"
    )
    check_list(list_names(result), expected(values, missing="omit"))
    assert "3 missing values" in result.said


def test_missing_labels_are_counted(bayesieve):
    labels = [*LABELS[:-2], "NA", ""]
    write("t.csv", in_rows(VALUES, labels))
    result = bayesieve("screen", "t.csv", "--labels", "stage")
    check_list(list_names(result), expected(VALUES[:-2], LABELS[:-2]))
    assert "10 samples x 5 features" in result.said
    assert "2 samples without a label" in result.said


# Labels and orientation


def test_labels_in_a_file_in_another_order(bayesieve):
    order = [7, 2, 11, 0, 5, 9, 1, 10, 3, 6, 8, 4]
    write("t.csv", in_rows(VALUES))
    write("p.tsv", label_file([LABELS[i] for i in order], [f"s{i}" for i in order], "\t"))
    result = bayesieve("screen", "t.csv", "--labels", "p.tsv:stage")
    check_list(list_names(result), expected())
    assert "samples in rows" in result.said


def test_label_file_with_two_columns_needs_no_column_name(bayesieve):
    write("t.csv", in_rows(VALUES))
    write("p.csv", PHENO)
    check_list(list_names(bayesieve("screen", "t.csv", "--labels", "p.csv")), expected())


@pytest.mark.parametrize("across", [False, True], ids=["rows", "columns"])
def test_partly_unmatched_ids_are_counted_on_both_sides(across, bayesieve):
    write("t.csv", in_columns(VALUES) if across else in_rows(VALUES))
    write("p.csv", PHENO.replace("s3,", "x3,").replace("s4,", "x4,") + "y1,a\n")
    result = bayesieve("screen", "t.csv", "--labels", "p.csv:stage")
    kept = [i for i in range(12) if i not in (3, 4)]
    check_list(list_names(result), expected(VALUES[kept], [LABELS[i] for i in kept]))
    assert f"samples in {'columns' if across else 'rows'}; 10 samples" in result.said
    assert f"2 {'columns' if across else 'samples'} that p.csv does not know (s3, s4)" in result.said
    assert "3 ids of p.csv are not in the table (x3, x4, y1)" in result.said


def test_samples_in_columns_are_found_by_their_ids(bayesieve):
    write("t.tsv", in_columns(VALUES))
    write("p.csv", PHENO)
    result = bayesieve("screen", "t.tsv", "--labels", "p.csv:stage")
    check_list(list_names(result), expected())
    assert "t.tsv: TSV, samples in columns; 12 samples x 5 features" in result.said


def test_orientation_can_be_said(bayesieve):
    """A square table whose ids could be samples either way."""
    values = numbers(12, 12)
    names = sample_names(12)
    table = pd.DataFrame(values, index=pd.Index(names, name="id"), columns=names)
    table.to_csv("t.csv")
    write("p.csv", PHENO)
    for where, content in (("rows", values), ("columns", values.T)):
        result = bayesieve("screen", "t.csv", "--labels", "p.csv:stage", "--samples-in", where)
        check_list(list_names(result), expected(content, feature_names=names))
        assert f"samples in {where}" in result.said


def test_label_row_on_top_of_samples_in_columns(bayesieve):
    head, *rows = in_columns(VALUES).splitlines()
    write("t.tsv", "\n".join([head, "\t".join(["stage", *LABELS]), *rows]) + "\n")
    result = bayesieve("screen", "t.tsv", "--labels", "stage")
    check_list(list_names(result), expected())
    assert "samples in columns; 12 samples x 5 features" in result.said


def test_numeric_label_row_on_top_of_samples_in_columns(bayesieve):
    head, *rows = in_columns(VALUES).splitlines()
    stage = ["0" if label == "a" else "1" for label in LABELS]
    write("t.tsv", "\n".join([head, "\t".join(["stage", *stage]), *rows]) + "\n")
    result = bayesieve("screen", "t.tsv", "--labels", "stage")
    check_list(list_names(result), expected(labels=stage))


def test_annotation_beside_samples_in_columns_is_left_out(bayesieve):
    head, *rows = in_columns(VALUES).splitlines()
    lines = [head.replace("gene", "gene\tsymbol", 1)] + [row.replace("\t", "\tTP53\t", 1) for row in rows]
    write("t.tsv", "\n".join(lines) + "\n")
    write("p.csv", PHENO)
    result = bayesieve("screen", "t.tsv", "--labels", "p.csv:stage")
    check_list(list_names(result), expected())
    assert "not numeric: symbol" in result.said


def test_columns_that_are_not_numeric_are_reported(bayesieve):
    head, *rows = LINES
    lines = [f"{head},sex"] + [f"{row},{'mf'[i % 2]}" for i, row in enumerate(rows)]
    write("t.csv", "\n".join(lines) + "\n")
    result = bayesieve("screen", "t.csv", "--labels", "stage")
    check_list(list_names(result), expected())
    assert "1 column, not numeric: sex" in result.said


def test_ignored_columns_are_left_out_and_reported(bayesieve):
    write("t.csv", GOOD)
    result = bayesieve("screen", "t.csv", "--labels", "stage", "--ignore", "g1", "--ignore", "g3")
    kept = [0, 2, 4]
    check_list(list_names(result), expected(VALUES[:, kept], feature_names=[f"g{j}" for j in kept]))
    assert "2 columns, ignored: g1, g3" in result.said


def test_ids_may_stand_in_any_column(bayesieve):
    head, *rows = LINES
    write("t.csv", "\n".join([f"batch,{head}", *(f"{i % 3},{row}" for i, row in enumerate(rows))]) + "\n")
    write("p.csv", PHENO.replace("stage", "group"))
    result = bayesieve("screen", "t.csv", "--labels", "p.csv:group", "--id-column", "id", "--ignore", "batch")
    check_list(list_names(result), expected())


# Classes


STAGES = ["1", "2", "3", "4", "adenoma", "unclear"]
OF_TWELVE = [STAGES[i % 6] for i in range(12)]


@pytest.mark.parametrize(
    ("classes", "members", "outside_said"),
    [
        ("early=1,adenoma; late=2,3,4", {"early": {"1", "adenoma"}, "late": {"2", "3", "4"}}, "unclear (2)"),
        ("late=3,4 ;early= 1 , 2", {"late": {"3", "4"}, "early": {"1", "2"}}, "4 samples outside the classes"),
        ("mild=1,2; rest=*", {"mild": {"1", "2"}, "rest": {"3", "4", "adenoma", "unclear"}}, None),
    ],
    ids=["merged", "ordered", "rest"],
)
def test_classes_are_merged_named_and_ordered(classes, members, outside_said, bayesieve):
    values = numbers(seed=3)
    write("t.csv", in_rows(values, OF_TWELVE))
    result = bayesieve("screen", "t.csv", "--labels", "stage", "--classes", classes)
    named = [next((name for name, of in members.items() if label in of), None) for label in OF_TWELVE]
    kept = [i for i, name in enumerate(named) if name is not None]
    check_list(list_names(result), expected(values[kept], [named[i] for i in kept], classes=tuple(members)))
    (first, n_first), (second, n_second) = ((name, named.count(name)) for name in members)
    assert (
        f"Classes: {first} ({n_first}) and {second} ({n_second}); differences are {second} minus {first}."
        in result.said
    )
    assert outside_said is None or outside_said in result.said


def test_two_of_several_classes_are_picked_in_order(bayesieve):
    values = numbers(24, seed=4)
    labels = [("c", "a", "b")[i % 3] for i in range(24)]
    write("t.csv", in_rows(values, labels))
    result = bayesieve("screen", "t.csv", "--labels", "stage", "--classes", "c, a")
    kept = [i for i, label in enumerate(labels) if label != "b"]
    found = list_names(result)
    check_list(found, expected(values[kept], [labels[i] for i in kept], classes=("c", "a")))
    means = values[np.array(labels) == "a"].mean(axis=0) - values[np.array(labels) == "c"].mean(axis=0)
    by_name = found.set_index("feature")["mean_difference"]
    np.testing.assert_allclose(by_name[gene_names(5)], means, rtol=1e-9)
    assert "8 samples outside the classes: b (8)" in result.said


def test_numeric_classes_are_sorted_as_numbers(bayesieve):
    labels = ["10" if label == "a" else "9.0" for label in LABELS]
    write("t.csv", in_rows(VALUES, labels))
    result = bayesieve("screen", "t.csv", "--labels", "stage")
    assert "Classes: 9 (6) and 10 (6)" in result.said
    check_list(list_names(result), expected(labels=[9 if label == "9.0" else 10 for label in labels]))


# What is written


def test_every_output_format_holds_the_same_numbers(bayesieve):
    values = VALUES.copy()
    values[:6, 2] = 1.0  # without variance in one class
    write("t.csv", in_rows(values, LABELS))
    for ending in ("csv", "tsv", "json", "parquet"):
        result = bayesieve("screen", "t.csv", "--labels", "stage", "--out", f"list.{ending}")
        assert (result.code, result.out) == (0, "")
        assert f"Wrote 5 rows to list.{ending}." in result.said
    frames = {
        "csv": read_list("list.csv"),
        "tsv": read_exactly("list.tsv", sep="\t"),
        "json": pd.DataFrame(json.loads(Path("list.json").read_text())["features"]),
    }
    exact = pl.read_parquet("list.parquet").to_pandas()
    check_list(exact, expected(values))
    for frame in frames.values():
        assert frame.columns.tolist() == exact.columns.tolist()
        for name in exact.columns:
            same = frame[name].where(frame[name].notna(), None) if frame[name].dtype == object else frame[name]
            if exact[name].dtype == float:
                assert frame[name].to_numpy(float).tobytes() == exact[name].to_numpy(float).tobytes()
            elif exact[name].dtype != object and str(exact[name].dtype) != "str":
                assert same.tolist() == exact[name].tolist()
    about = json.loads(Path("list.json").read_text())
    assert about["classes"] == {"a": 6, "b": 6}
    assert about["results"]["n_selected"] == int(exact["selected"].sum()) > 0


def test_columns_of_the_list(bayesieve):
    write("t.csv", GOOD)
    found = list_names(bayesieve("screen", "t.csv", "--labels", "stage", "--transform", "log2")).set_index(
        "feature"
    )
    logs = np.log2(VALUES)
    for j, name in enumerate(gene_names(5)):
        assert found.loc[name, "n_a"] == 6
        for label, part in (("a", logs[:6, j]), ("b", logs[6:, j])):
            assert found.loc[name, f"mean_{label}"] == pytest.approx(part.mean(), rel=1e-12)
            assert found.loc[name, f"sd_{label}"] == pytest.approx(part.std(ddof=1), rel=1e-9)
    assert set(found["transform"]) == {"log2"}
    check_list(found.reset_index(), expected(logs))


@pytest.mark.parametrize("transform", ["log2", "log1p"])
@pytest.mark.parametrize("across", [False, True], ids=["rows", "columns"])
def test_transforms(transform, across, bayesieve):
    write("t.csv", in_columns(VALUES, ",") if across else in_rows(VALUES))
    write("p.csv", PHENO)
    found = list_names(bayesieve("screen", "t.csv", "--labels", "p.csv:stage", "--transform", transform))
    check_list(found, expected(np.log2(VALUES) if transform == "log2" else np.log1p(VALUES)))


def test_feature_annotation_is_added(bayesieve):
    write("t.csv", GOOD)
    write("f.tsv", "probe\tsymbol\trank\ng3\tKRAS\tlow\ng0\tTP53\thigh\nzz\tEGFR\tnone\n")
    result = bayesieve("screen", "t.csv", "--labels", "stage", "--features", "f.tsv")
    found = list_names(result).set_index("feature")
    assert found.loc[["g0", "g3"], "symbol"].tolist() == ["TP53", "KRAS"]
    assert found["symbol"].isna().sum() == 3
    assert found.loc["g0", "annotation_rank"] == "high"
    check_list(found.reset_index(), expected())


def test_degenerate_features_are_flagged_or_left_out(bayesieve):
    values = VALUES.copy()
    values[:, 2] = 7.0
    write("t.csv", in_rows(values, LABELS))
    flagged = bayesieve("screen", "t.csv", "--labels", "stage")
    assert list_names(flagged).set_index("feature").loc["g2", "degenerate"]
    assert "1 feature without usable variance" in flagged.said
    excluded = list_names(bayesieve("screen", "t.csv", "--labels", "stage", "--degenerate", "exclude"))
    assert excluded.set_index("feature").loc["g2", "log_bayes_factor"] == 0.0
    refused = bayesieve("screen", "t.csv", "--labels", "stage", "--degenerate", "raise")
    assert refused.code == 2
    assert "g2" in refused.said


# Priors and rules


def test_named_priors_and_ratios(bayesieve):
    write("t.csv", GOOD)
    for options, model in [
        (("--prior", "jeffreys", "--prior-ratio", "2.5"), bs.GaussianModel.jeffreys(2.5)),
        (("--prior", "jeffreys", "--prior-ratio", "bic"), bs.GaussianModel.jeffreys("bic")),
        (("--prior", "proper"), bs.GaussianModel.proper()),
    ]:
        found = list_names(bayesieve("screen", "t.csv", "--labels", "stage", "-p", "0.2", *options))
        check_list(found, expected(model=model, prior_probability=0.2))


def test_prior_file_with_numbers(bayesieve):
    write("t.csv", GOOD)
    write(
        "prior.toml",
        "[class]\nvariance_dof = 4\nvariance_scale = 3.5\nmean_strength = 0.5\nmean_location = 10\n"
        "[classes.b]\nvariance_dof = 5\nvariance_scale = 2\nmean_strength = 0.25\nmean_location = 12\n"
        "[pooled]\nvariance_dof = 3\nvariance_scale = 3\nmean_strength = 1\nmean_location = 11\n",
    )
    model = bs.GaussianModel(
        (bs.NormalInverseGamma(4, 3.5, 0.5, 10), bs.NormalInverseGamma(5, 2, 0.25, 12)),
        bs.NormalInverseGamma(3, 3, 1, 11),
    )
    found = list_names(bayesieve("screen", "t.csv", "--labels", "stage", "--prior", "prior.toml"))
    check_list(found, expected(model=model))


def test_prior_file_with_columns_by_feature(bayesieve):
    """Columns are matched by id, not by order, and the file is looked for beside the TOML file."""
    write("t.csv", GOOD)
    Path("priors").mkdir()
    scale, location = np.array([1.0, 2.0, 3.0, 4.0, 5.0]), np.array([9.0, 9.5, 10.0, 10.5, 11.0])
    order = [3, 0, 4, 1, 2]
    write(
        "priors/by-gene.csv",
        "where,gene,scale\n" + "".join(f"{location[j]},g{j},{scale[j]}\n" for j in order),
    )
    each = (
        'variance_dof = 4\nvariance_scale = "by-gene.csv:scale"\n'
        'mean_strength = 1\nmean_location = "by-gene.csv:where"\n'
    )
    write("priors/prior.toml", f"[class]\n{each}[pooled]\n{each}")
    prior = bs.NormalInverseGamma(4, scale, 1, location)
    found = list_names(bayesieve("screen", "t.csv", "--labels", "stage", "--prior", "priors/prior.toml"))
    check_list(found, expected(model=bs.GaussianModel((prior, prior), prior)))


def test_prior_probability_by_feature(bayesieve):
    write("t.csv", GOOD)
    write("w.csv", "gene,weight\n" + "".join(f"g{j},{(j + 1) / 10}\n" for j in (4, 2, 0, 1, 3)))
    found = list_names(bayesieve("screen", "t.csv", "--labels", "stage", "--prior-probability", "w.csv:weight"))
    check_list(found, expected(prior_probability=np.arange(1, 6) / 10))


RULES = {
    "default": ((), bs.MinimalRisk(0.5)),
    "mnc": (("--criterion", "mnc"), bs.MinimalRisk(0.5)),
    "map": (("--criterion", "map"), bs.MostProbable()),
    "cmap": (("--criterion", "cmap", "-n", "7"), bs.MostProbable(7)),
    "mr": (("--criterion", "mr", "--threshold", "0.05"), bs.MinimalRisk(0.05)),
    "threshold alone": (("--threshold", "0.95"), bs.MinimalRisk(0.95)),
    "cmnc": (("--criterion", "cmnc", "--n-selected", "9"), bs.FixedSize(9)),
    "list length alone": (("-n", "4"), bs.FixedSize(4)),
    "np": (("--criterion", "np", "--expected-false-positives", "2.5"), bs.NeymanPearson(2.5)),
    "false positives alone": (("--expected-false-positives", "0.75"), bs.NeymanPearson(0.75)),
    "fdr": (("--criterion", "fdr", "--proportion", "0.2"), bs.FalseDiscovery(0.2)),
    "fdp": (("--criterion", "fdp", "--proportion", "0.2", "--confidence", "0.8"), bs.FalseDiscovery(0.2, 0.8)),
    "fdp with the usual confidence": (("--criterion", "fdp", "--proportion", "0.2"), bs.FalseDiscovery(0.2, 0.9)),
    "proportion and confidence alone": (
        ("--proportion", "0.3", "--confidence", "0.5"),
        bs.FalseDiscovery(0.3, 0.5),
    ),
}


@pytest.mark.parametrize("name", list(RULES))
def test_criteria_select_what_the_rules_of_the_library_select(name, bayesieve):
    options, rule = RULES[name]
    rng = np.random.default_rng(5)
    values = rng.normal(size=(20, 40)).round(3)
    values[10:] += np.linspace(0, 3, 40).round(3)
    labels = halves(20)
    write("t.csv", in_rows(values, labels))
    found = list_names(bayesieve("screen", "t.csv", "--labels", "stage", "-p", "0.1", *options))
    posterior = expected(values, labels, prior_probability=0.1)
    check_list(found, posterior)
    selection = rule.select(posterior)
    assert set(found["feature"][found["selected"]]) == set(selection.names)
    assert 0 < selection.n_selected < 40


def test_nothing_selected_says_what_would_be_needed(bayesieve):
    values = np.random.default_rng(6).normal(size=(12, 5)).round(3)
    write("t.csv", in_rows(values, LABELS))
    result = bayesieve("screen", "t.csv", "--labels", "stage", "-p", "0.0001")
    assert not list_names(result)["selected"].any()
    best = expected(values, prior_probability=0.0001)
    name = best.names[best.ranking[0]]
    assert f"Nothing passes the cut: the best feature, '{name}', has probability" in result.said
    assert f"log-odds {best.log_odds.max():.3g}" in result.said
    for option in ("--n-selected 20", "--threshold 0.2", "--prior-probability"):
        assert option in result.said
    assert "FixedSize" not in result.said


# What is said, and where


def test_pipes_get_a_clean_list_and_the_summary_goes_to_standard_error(tmp_path):
    (tmp_path / "t.csv").write_text(GOOD)
    result = outside("screen", "t.csv", "--labels", "stage", folder=tmp_path)
    check_list(list_names(result), expected())
    assert ESCAPE not in result.out + result.err
    assert len(result.out.splitlines()) == 6
    for words in (
        "12 samples x 5 features",
        "1 of 5 features selected",
        "False positives: ",
        "shuffles of the labels",
        "g0",
    ):
        assert words in result.said
    assert max(map(len, result.err.splitlines())) <= 100


def test_a_reader_that_has_seen_enough_is_no_error(tmp_path):
    values = numbers(8, 3000)
    (tmp_path / "t.csv").write_text(in_rows(values, halves(8)))
    with subprocess.Popen(
        [executable(), "screen", "t.csv", "--labels", "stage", "-q"],
        cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment(),
    ) as process:  # fmt: skip
        assert process.stdout.readline().startswith(b"rank,feature,")
        process.stdout.close()
        said = process.stderr.read().decode()
        assert process.wait(60) == 0
    assert "Traceback" not in said
    assert "BrokenPipe" not in said


def test_quiet_says_nothing(bayesieve):
    values = numbers(6)
    write("t.csv", in_rows(values, halves(6)))  # so few samples that there is a warning
    options = ("--labels", "stage", "--prior", "jeffreys")
    loud = bayesieve("screen", "t.csv", *options, "--out", "loud.csv")
    quiet = bayesieve("screen", "t.csv", *options, "--out", "quiet.csv", "--quiet")
    assert "bayesieve: warning: " in loud.err
    assert (quiet.code, quiet.out, quiet.err) == (0, "", "")
    assert Path("loud.csv").read_bytes() == Path("quiet.csv").read_bytes()


def test_verbose_tells_timings(bayesieve):
    write("t.csv", GOOD)
    plain = bayesieve("screen", "t.csv", "--labels", "stage")
    verbose = bayesieve("screen", "t.csv", "--labels", "stage", "--verbose")
    assert verbose.out == plain.out
    for step in ("read", "screen", "write"):
        assert re.search(rf"^{step}: [\d.]+ s$", verbose.err, re.M)
        assert not re.search(rf"^{step}: [\d.]+ s$", plain.err, re.M)


def test_json_log_lines_are_json(bayesieve):
    write("t.csv", in_rows(numbers(6), halves(6)))
    result = bayesieve("screen", "t.csv", "--labels", "stage", "--json-log", "--prior", "jeffreys")
    lines = [json.loads(line) for line in result.err.splitlines()]
    assert {line["event"] for line in lines} == {"timing", "warning", "result"}
    (last,) = (line for line in lines if line["event"] == "result")
    assert last["n_features"] == 5
    assert last["classes"] == {"a": 3, "b": 3}
    assert last["n_selected"] == int(list_names(result)["selected"].sum())
    assert all("time" in line and "message" in line for line in lines)


def test_json_log_of_a_mistake_is_json(bayesieve):
    result = bayesieve("screen", "nowhere.csv", "--json-log")
    assert result.code == 2
    (line,) = map(json.loads, result.err.splitlines())
    assert line["event"] == "error"
    assert "nowhere.csv" in line["message"]


def on_a_terminal(folder, *arguments, **more):
    """Run the command with standard error on a pseudo-terminal; return its exit code, list and what was shown."""
    pty = pytest.importorskip("pty")
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        [executable(), *arguments], cwd=folder, stdout=subprocess.PIPE, stderr=theirs,
        env=environment(TERM="xterm-256color", **more),
    ) as process:  # fmt: skip
        os.close(theirs)
        shown = b""
        while True:
            try:
                block = os.read(ours, 4096)
            except OSError:  # the other end is closed
                break
            if not block:
                break
            shown += block
        out = process.stdout.read()
        code = process.wait(60)
    os.close(ours)
    return code, out.decode(), shown.decode()


def test_progress_is_shown_on_a_terminal_only(tmp_path):
    (tmp_path / "t.csv").write_text(GOOD)
    command = ("screen", "t.csv", "--labels", "stage")
    code, out, shown = on_a_terminal(tmp_path, *command)
    assert code == 0
    assert "Reading t.csv" in shown
    assert ESCAPE in shown
    check_list(read_list(io.StringIO(out)), expected())
    code, out, shown = on_a_terminal(tmp_path, *command, "--quiet")
    assert (code, shown) == (0, "")
    code, out, shown = on_a_terminal(tmp_path, *command, NO_COLOR="1")
    assert "Reading t.csv" in shown
    assert not re.search(r"\x1b\[[0-9;]*3[0-9][0-9;]*m", shown)  # no colours
    plain = outside(*command, folder=tmp_path)
    assert "Reading" not in plain.err


def test_summary_marks_what_is_not_selected_and_aligns_its_columns(bayesieve):
    write("t.csv", GOOD)
    lines = bayesieve("screen", "t.csv", "--labels", "stage").err.splitlines()
    at = next(i for i, line in enumerate(lines) if line.split()[:2] == ["rank", "feature"])
    head, *rows = lines[at : at + 6]
    ranks = ["1", "(2)", "(3)", "(4)", "(5)"]
    names = [expected().names[i] for i in expected().ranking]
    assert [row.split()[:2] for row in rows] == [list(both) for both in zip(ranks, names, strict=True)]
    assert "ranks in brackets: not selected" in lines[at + 6]
    assert {len(row) for row in rows} == {len(head)}


# Settings and manifests


def manifest_of(name):
    return json.loads(Path(name).read_text())


def test_config_out_and_config_give_the_same_results(bayesieve):
    values = VALUES.copy()
    values[1, 1] = -999
    write("t.csv", in_rows(values, OF_TWELVE, ";"))
    first = bayesieve(
        "screen", "t.csv", "--labels", "stage", "--classes", "x=1,2,3; y=*", "--na-values", "-999", "--missing",
        "omit", "--transform", "log2", "-p", "0.3", "--criterion", "fdr", "--proportion", "0.4", "--ignore", "g4",
        "--memory", "50MB", "--delimiter", ";", "--manifest", "one.json", "--config-out", "run.toml",
    )  # fmt: skip
    assert first.code == 0, first.err
    settings = tomllib.loads(Path("run.toml").read_text())
    assert settings["command"] == "screen"
    assert settings["bayesieve_version"] == bs.__version__
    again = bayesieve("screen", "t.csv", "--config", "run.toml", "--manifest", "two.json")
    assert again.code == 0, again.err
    assert again.out == first.out
    one, two = manifest_of("one.json"), manifest_of("two.json")
    assert one["results"] == two["results"]
    assert one["settings_hash"] == two["settings_hash"]


def test_command_line_wins_over_config(bayesieve):
    write("t.csv", GOOD)
    write("run.toml", 'labels = "stage"\nprior-probability = "0.5"\nn_selected = 3\nquiet = true\n')
    config = bayesieve("screen", "t.csv", "--config", "run.toml")
    check_list(list_names(config), expected(prior_probability=0.5))
    assert list_names(config)["selected"].sum() == 3
    assert config.err == ""
    both = bayesieve("screen", "t.csv", "--config", "run.toml", "-p", "0.2", "--n-selected", "2")
    check_list(list_names(both), expected(prior_probability=0.2))
    assert list_names(both)["selected"].sum() == 2


def test_numbers_in_config_may_be_numbers(bayesieve):
    write("t.csv", GOOD)
    write("run.toml", 'labels = "stage"\nprior-probability = 0.5\nprior = "jeffreys"\nprior-ratio = 2.5\n')
    found = list_names(bayesieve("screen", "t.csv", "--config", "run.toml"))
    check_list(found, expected(prior_probability=0.5, model=bs.GaussianModel.jeffreys(2.5)))


def test_manifest_holds_hashes_settings_and_results(bayesieve):
    write("t.csv", in_rows(VALUES))
    write("p.csv", PHENO)
    write("f.csv", "gene,symbol\ng0,TP53\n")
    write("w.csv", "gene,weight\n" + "".join(f"g{j},0.1\n" for j in range(5)))
    write("prior.toml", "prior_ratio = 0.1\n")
    result = bayesieve(
        "screen", "t.csv", "--labels", "p.csv:stage", "--features", "f.csv", "-p", "w.csv:weight", "--prior",
        "prior.toml", "--manifest", "m.json",
    )  # fmt: skip
    assert result.code == 0, result.err
    manifest = manifest_of("m.json")
    inputs = {entry["path"]: entry for entry in manifest["inputs"]}
    assert set(inputs) == {"t.csv", "p.csv", "f.csv", "w.csv", "prior.toml"}
    for name, entry in inputs.items():
        content = Path(name).read_bytes()
        assert entry["sha256"] == hashlib.sha256(content).hexdigest()
        assert entry["bytes"] == len(content)
    assert manifest["classes"] == {"a": 6, "b": 6}
    assert manifest["settings"]["prior_probability"] == "w.csv:weight"
    paper = bs.GaussianModel.jeffreys(0.1)
    selection = bs.MinimalRisk(0.5).select(expected(prior_probability=0.1, model=paper))
    assert manifest["results"]["n_selected"] == selection.n_selected
    assert manifest["results"]["expected_false_positives"] == pytest.approx(selection.expected_false_positives)
    assert manifest["versions"]["numpy"] == np.__version__


@pytest.mark.parametrize("missing", [False, True], ids=["complete", "gaps"])
@pytest.mark.parametrize("across", [False, True], ids=["rows", "columns"])
def test_results_hash_does_not_depend_on_memory_and_threads(across, missing, bayesieve):
    values = numbers(200, 250, seed=7)
    if missing:
        values[np.random.default_rng(8).random(values.shape) < 0.05] = np.nan
    labels = halves(200)
    write("t.csv", in_columns(values, ",") if across else in_rows(values))
    write("p.csv", label_file(labels))
    hashes, changed = set(), set()
    for i, options in enumerate([("1MB", "1"), ("3MB", "2"), ("500MB", "3")]):
        result = bayesieve(
            "screen", "t.csv", "--labels", "p.csv:stage", "--missing", "omit", "--memory", options[0], "--threads",
            options[1], "--manifest", f"{i}.json", "--out", f"{i}.csv",
        )  # fmt: skip
        assert result.code == 0, result.err
        hashes.add(manifest_of(f"{i}.json")["results"]["sha256"])
        changed.add(Path(f"{i}.csv").read_bytes())
    assert len(hashes) == len(changed) == 1
    check_list(read_list("0.csv"), expected(values, labels, missing="omit"))
    other = bayesieve(
        "screen", "t.csv", "--labels", "p.csv:stage", "--missing", "omit", "-p", "0.02", "--manifest", "other.json"
    )
    assert other.code == 0
    assert manifest_of("other.json")["results"]["sha256"] not in hashes


# The rest of the command


def test_shell_completion_is_offered():
    """Asked as shells ask; ``--show-completion`` prints the same after a look at the parent process."""
    assert "--show-completion" in outside("--help").out
    script = outside(_BAYESIEVE_COMPLETE="source_bash")
    assert script.code == 0
    assert "_BAYESIEVE_COMPLETE=complete_bash" in script.out
    found = outside(_BAYESIEVE_COMPLETE="complete_bash", COMP_WORDS="bayesieve s", COMP_CWORD="1")
    assert sorted(found.out.split()) == ["screen", "simulate", "stats", "study"]


def test_demo_data_can_be_screened(bayesieve, tmp_path):
    result = bayesieve("demo", "--samples", "20", "--seed", "2", "--write-data", "demo.csv")
    assert result.code == 0, result.err
    assert "bayesieve screen demo.csv --labels class -p 0.005" in " ".join(result.out.split())
    found = list_names(
        bayesieve("screen", "demo.csv", "--labels", "class", "-p", "0.005", "--features", "demo.truth.csv")
    )
    data = read_exactly("demo.csv", index_col="sample")
    values = data.drop(columns="class").to_numpy()
    check_list(
        found, expected(values, data["class"], feature_names=list(data.columns[1:]), prior_probability=0.005)
    )
    truth = pd.read_csv("demo.truth.csv").set_index("feature")["marker"]
    assert truth.sum() == 100
    assert found["marker"].tolist() == truth[found["feature"]].tolist()
    assert found["marker"][:20].mean() > 10 * truth.mean()


def test_bugs_show_a_traceback_and_how_to_report(bayesieve, monkeypatch):
    def broken(*_, **__):
        raise RuntimeError("boom")

    monkeypatch.setattr("bayesieve.cli.screen.screen", broken)
    write("t.csv", GOOD)
    write("list.csv", "old\n")
    result = bayesieve("screen", "t.csv", "--labels", "stage", "--out", "list.csv")
    assert (result.code, result.out) == (1, "")
    assert "Traceback" in result.err
    assert "RuntimeError: boom" in result.err
    assert "this is a bug, not your mistake. Please report it" in result.said
    assert "bayesieve --version" in result.said
    assert Path("list.csv").read_text() == "old\n"


def test_lack_of_memory_is_explained(bayesieve, monkeypatch):
    def greedy(*_, **__):
        raise MemoryError

    monkeypatch.setattr("bayesieve.cli.screen.screen", greedy)
    write("t.csv", GOOD)
    result = bayesieve("screen", "t.csv", "--labels", "stage")
    assert (result.code, result.out) == (2, "")
    assert "--memory 1GB" in result.said
    assert "Traceback" not in result.err


def parts(folder):
    return [path.name for path in folder.iterdir() if path.name.endswith(".part")]


def waited_for(happened, process, seconds=60):
    """Wait until something happens or the process ends; tell whether it happened."""
    end = time.monotonic() + seconds
    while time.monotonic() < end and process.poll() is None:
        if happened():
            return True
        time.sleep(0.0005)
    return False


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
def test_interruption_leaves_the_old_file(tmp_path):
    rng = np.random.default_rng(9)
    body = in_rows(rng.normal(size=(500, 60)).round(3), halves(500)).splitlines()
    with (tmp_path / "t.csv").open("w") as file:
        file.write(body[0] + "\n")
        for k in range(40):
            file.writelines(f"k{k}{line}\n" for line in body[1:])
    (tmp_path / "list.csv").write_text("old\n")
    command = [
        executable(),
        "screen",
        "t.csv",
        "--labels",
        "stage",
        "--out",
        "list.csv",
        "--transform",
        "rank-normal",
    ]
    with subprocess.Popen(
        [*command, "--memory", "1MB"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(),
    ) as process:
        opened = Path(f"/proc/{process.pid}/fd")

        def reading():
            try:
                return any(os.path.realpath(link).endswith("t.csv") for link in opened.iterdir())
            except OSError:  # closed while we look
                return False

        assert waited_for(reading, process)
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
        out, said = process.communicate(timeout=60)
    assert process.returncode == 130, said.decode()
    assert out == b""
    assert b"Traceback" not in said
    assert (tmp_path / "list.csv").read_text() == "old\n"
    assert parts(tmp_path) == []


def test_interruption_is_said(bayesieve, monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("bayesieve.cli.screen.screen", interrupted)
    write("t.csv", GOOD)
    result = bayesieve("screen", "t.csv", "--labels", "stage", "--out", "list.csv")
    assert (result.code, result.out) == (130, "")
    assert "interrupted" in result.err
    assert not Path("list.csv").exists()


def test_interruption_while_a_compiled_module_loads_is_no_bug(bayesieve, monkeypatch):
    def interrupted(*_, **__):
        try:
            raise KeyboardInterrupt
        except KeyboardInterrupt as pressed:
            raise ImportError("initialization failed") from pressed

    monkeypatch.setattr("bayesieve.cli.screen.screen", interrupted)
    write("t.csv", GOOD)
    result = bayesieve("screen", "t.csv", "--labels", "stage", "--out", "list.csv")
    assert (result.code, result.out) == (130, "")
    assert "interrupted" in result.err
    assert "Traceback" not in result.err


def test_interruption_while_something_is_cleared_away_is_not_lost(bayesieve, monkeypatch):
    def cleared():
        try:
            yield 1
        finally:
            raise KeyboardInterrupt

    def interrupted(*_, **__):
        waiting = cleared()
        next(waiting)
        del waiting  # raises where nothing can be raised
        time.sleep(5.0)
        raise AssertionError("the interruption was lost")

    monkeypatch.setattr("bayesieve.cli.screen.screen", interrupted)
    write("t.csv", GOOD)
    result = bayesieve("screen", "t.csv", "--labels", "stage", "--out", "list.csv")
    assert (result.code, result.out) == (130, "")
    assert "interrupted" in result.err


def test_killing_leaves_the_old_file_or_the_new_one(tmp_path):
    rng = np.random.default_rng(10)
    names = "\n".join(
        f"p{j}\t" + "\t".join(f"{x:.2f}" for x in row) for j, row in enumerate(rng.normal(size=(30_000, 6)))
    )
    (tmp_path / "t.tsv").write_text("gene\t" + "\t".join(sample_names(6)) + "\n" + names + "\n")
    (tmp_path / "p.csv").write_text(label_file(halves(6)))
    command = [executable(), "screen", "t.tsv", "--labels", "p.csv:stage", "-q", "--out"]
    subprocess.run([*command, "new.csv"], cwd=tmp_path, check=True, timeout=120, env=environment())
    new = (tmp_path / "new.csv").read_bytes()
    assert new.count(b"\n") == 30_001
    seen = set()
    for delay in (0.0, 0.02, 0.1):
        folder = tmp_path / f"after-{delay}"
        folder.mkdir()
        (folder / "list.csv").write_text("old\n")
        with subprocess.Popen([*command, folder / "list.csv"], cwd=tmp_path, env=environment()) as process:
            waited_for(lambda folder=folder: parts(folder), process)
            time.sleep(delay)
            process.kill()
        content = (folder / "list.csv").read_bytes()
        assert content in (b"old\n", new)
        seen.add(content)
    assert b"old\n" in seen


def test_the_next_study_in_the_report_of_a_screen(bayesieve):
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(20, 250)).round(4), np.repeat(["early", "late"], 10)
    X[10:, :15] += 2.0
    rows = [",".join(["stage", *(f"g{j}" for j in range(250))])]
    rows += [",".join([label, *map(str, row)]) for label, row in zip(y, X.tolist(), strict=True)]
    Path("t.csv").write_text("\n".join(rows) + "\n")
    plain = ("screen", "t.csv", "--labels", "stage", "--out", "l.csv", "--shuffles", "5")
    result = bayesieve(*plain, "--report", "r.html", "--report-plan", "15,30")
    assert result.code == 0, result.err
    page = Path("r.html").read_text()
    assert 'href="#plan"' in page
    plan = bs.plan(bs.read_table("t.csv", labels="stage"), per_class="15,30", futures=400, shuffles=5)
    for row in plan.cells():
        assert all(f">{cell}</t" in page for cell in row)
    assert plan.sentences()[0] in page
    for more, words in (
        ((), "--report-plan is about the report"),
        (("--report", "r.html", "--model", "poisson"), "--model asks for something else"),
        (("--report", "r.html", "--covariates", "g0"), "--covariates asks for something else"),
    ):
        Path("l.csv").unlink(missing_ok=True)
        result = bayesieve(*plain, "--report-plan", "20", *more)
        assert result.code == 2
        assert words in result.err
        assert not Path("l.csv").exists()


def test_pairs_in_the_report_of_a_screen(bayesieve):
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(40, 6)), np.repeat(["early", "late"], 20)
    X[:, 1] = np.where(y == "early", 0.9, -0.9) * X[:, 0] + 0.4 * X[:, 1]
    rows = [",".join(["stage", *(f"g{j}" for j in range(6))])]
    rows += [",".join([label, *(f"{value:.4f}" for value in row)]) for label, row in zip(y, X, strict=True)]
    Path("t.csv").write_text("\n".join(rows) + "\n")
    result = bayesieve("screen", "t.csv", "--labels", "stage", "--report", "r.html", "--report-pairs", "3")
    assert result.code == 0, result.err
    page = Path("r.html").read_text()
    assert "<strong>g0</strong> (across) and <strong>g1</strong>" in page
    result = bayesieve("screen", "t.csv", "--labels", "stage", "--out", "l.csv", "--report-pairs", "3")
    assert result.code == 2
    assert "bayesieve pairs" in result.err
    assert not Path("l.csv").exists()
