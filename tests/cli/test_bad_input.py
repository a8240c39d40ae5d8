"""Wrong input of every kind: exit code 2, a clean standard output, one message that says where and what to do."""

from __future__ import annotations

import bz2
import gc
import gzip
import io
import lzma
import re
import warnings
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import zstandard
from commands import gene_names, halves, in_columns, in_rows, inside, label_file, numbers, outside, sample_names

import bayesieve as bs
from bayesieve.io import write_statistics

VALUES = numbers()
LABELS = halves(12)
SAMPLES = sample_names(12)
GOOD = in_rows(VALUES, LABELS)
ACROSS = in_columns(VALUES)
PHENO = label_file(LABELS)
LINES = GOOD.splitlines(keepends=True)
BY_STAGE = ("--labels", "stage")


@dataclass(frozen=True)
class Case:
    """A mistake: the files there are, the command, and words that the message must hold."""

    name: str
    files: dict[str, str | bytes | Callable[[Path], object]]
    command: tuple[str, ...]
    words: tuple[str, ...]


def screen(*arguments):
    return ("screen", *arguments)


def with_cell(row, column, text, table=GOOD):
    """Return a table with another text in one cell; row 0 is the header."""
    cells = [line.split(",") for line in table.splitlines()]
    cells[row][column] = text
    return "".join(",".join(line) + "\n" for line in cells)


def statistics(site="Oslo", classes=("a", "b"), transform="none"):
    """Return a maker of a statistics file."""
    labels = [classes[0]] * 6 + [classes[1]] * 6

    def write(path):
        moments = bs.Moments.from_matrix(VALUES, labels)
        names = tuple(gene_names(VALUES.shape[1]))
        write_statistics(bs.StatisticsSet((bs.SiteStatistics(site, moments, names, transform),)), path)

    return write


def damaged_statistics(path):
    statistics()(path)
    content = bytearray(path.read_bytes())
    content[len(content) // 3] ^= 0xFF
    path.write_bytes(content)


def two_sites(path):
    moments = bs.Moments.from_matrix(VALUES, LABELS)
    names = tuple(gene_names(VALUES.shape[1]))
    write_statistics(
        bs.StatisticsSet(tuple(bs.SiteStatistics(site, moments, names) for site in ("Oslo", "Bonn"))), path
    )


def annotated(path):
    anndata = pytest.importorskip("anndata")
    obs = pd.DataFrame({"stage": LABELS}, index=SAMPLES)
    var = pd.DataFrame(index=gene_names(VALUES.shape[1]))
    anndata.AnnData(VALUES, obs=obs, var=var).write_h5ad(path)


def workbook(path):
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("xl/workbook.xml", "<workbook/>")


def gct(n_features, n_samples):
    heads = "\t".join(["Name", "Description", *(f"s{i}" for i in range(12))])
    rows = ["\t".join([f"g{j}", "na", *map(repr, column)]) for j, column in enumerate(VALUES.T.tolist())]
    return "\n".join(["#1.2", f"{n_features}\t{n_samples}", heads, *rows]) + "\n"


SERIES_HEAD = '!Series_title\t"A series"\n!Sample_geo_accession\t"GSM1"\t"GSM2"\n'
SERIES_EMPTY = '!series_matrix_table_begin\n"ID_REF"\t"GSM1"\t"GSM2"\n!series_matrix_table_end\n'

FILES_THAT_ARE_NO_TABLES = [
    Case("missing", {"genes.csv": GOOD}, screen("gens.csv", *BY_STAGE), ("gens.csv", "Did you mean genes.csv?")),
    Case("directory", {}, screen(".", *BY_STAGE), ("is a folder", "Name the file in it")),
    Case("empty", {"t.csv": ""}, screen("t.csv", *BY_STAGE), ("t.csv is empty", "downloaded")),
    Case("header only", {"t.csv": LINES[0]}, screen("t.csv", *BY_STAGE), ("t.csv", "header and no data")),
    Case("blank lines only", {"t.csv": "\n\n  \n\n"}, screen("t.csv", *BY_STAGE), ("t.csv", "only blank lines")),
    Case(
        "binary junk",
        {"t.csv": bytes(range(256)) * 4},
        screen("t.csv", *BY_STAGE),
        ("t.csv is not a text table", "--encoding"),
    ),
    Case("xlsx", {"t.xlsx": workbook}, screen("t.xlsx", *BY_STAGE), ("t.xlsx", "Excel workbook", "as CSV")),
    Case("PDF", {"t.csv": b"%PDF-1.7\n1 0 obj\n"}, screen("t.csv", *BY_STAGE), ("t.csv", "PDF", "as CSV")),
    Case(
        "HDF5 under another name",
        {"t.csv": b"\x89HDF\r\n\x1a\n" + bytes(100)},
        screen("t.csv", *BY_STAGE),
        ("t.csv", "HDF5 file", "AnnData", "damaged"),
    ),
    Case(
        "one column",
        {"t.csv": "stage\na\nb\na\nb\n"},
        screen("t.csv", *BY_STAGE),
        ("t.csv", "single column", "--delimiter"),
    ),
    Case(
        "truncated gzip",
        {"t.csv.gz": gzip.compress(GOOD.encode())[:-20]},
        screen("t.csv.gz", *BY_STAGE),
        ("t.csv.gz is damaged or cut short", "again"),
    ),
    Case(
        "truncated bzip2",
        {"t.csv.bz2": bz2.compress(GOOD.encode())[:-20]},
        screen("t.csv.bz2", *BY_STAGE),
        ("t.csv.bz2 is damaged or cut short", "again"),
    ),
    Case(
        "truncated xz",
        {"t.csv.xz": lzma.compress(GOOD.encode())[:-20]},
        screen("t.csv.xz", *BY_STAGE),
        ("t.csv.xz is damaged or cut short", "again"),
    ),
    Case(
        "truncated zstd",
        {"t.csv.zst": zstandard.compress(GOOD.encode())[:-20]},
        screen("t.csv.zst", *BY_STAGE),
        ("t.csv.zst is damaged or cut short", "again"),
    ),
    Case(
        "plain text called gz",
        {"t.csv.gz": GOOD},
        screen("t.csv.gz", *BY_STAGE),
        ("t.csv.gz should hold gzip data", "no compressed data", "right name"),
    ),
    Case(
        "bzip2 called gz",
        {"t.csv.gz": bz2.compress(GOOD.encode())},
        screen("t.csv.gz", *BY_STAGE),
        ("t.csv.gz should hold gzip data", "holds bzip2 data"),
    ),
    Case(
        "objects in npy",
        {
            "t.npy": lambda path: np.save(
                path, np.array([["a", 1.0], ["b", None]], dtype=object), allow_pickle=True
            )
        },
        screen("t.npy"),
        ("t.npy", "Python objects", "float array"),
    ),
    Case(
        "GEO without a table",
        {"GSE1_series_matrix.txt": SERIES_HEAD},
        screen("GSE1_series_matrix.txt", *BY_STAGE),
        ("GSE1_series_matrix.txt", "no table", "Download it again"),
    ),
    Case(
        "GEO without expression values",
        {"GSE1_series_matrix.txt": SERIES_HEAD + SERIES_EMPTY},
        screen("GSE1_series_matrix.txt", *BY_STAGE),
        ("GSE1_series_matrix.txt", "2 samples", "no expression values", "supplementary table"),
    ),
    Case(
        "GCT with fewer features than announced",
        {"t.gct": gct(7, 12), "p.csv": PHENO},
        screen("t.gct", "--labels", "p.csv:stage"),
        ("t.gct announces 7 features but holds 5", "second line"),
    ),
    Case(
        "GCT with more samples than announced",
        {"t.gct": gct(5, 11), "p.csv": PHENO},
        screen("t.gct", "--labels", "p.csv:stage"),
        ("t.gct, line 3", "12 samples", "line 2 announces 11", "second line"),
    ),
    Case(
        "GCT without version",
        {"t.gct": ACROSS, "p.csv": PHENO},
        screen("t.gct", "--labels", "p.csv:stage"),
        ("t.gct is no GCT file", "'#1.2'", "another ending"),
    ),
]

CELLS_AND_LINES = [
    Case(
        "too few fields",
        {"t.csv": "".join([*LINES[:4], "s3,a,1.0\n", *LINES[5:]])},
        screen("t.csv", *BY_STAGE),
        ("t.csv, line 5", "3 fields where the header has 7", "--delimiter"),
    ),
    Case(
        "too many fields",
        {"t.csv": "".join([*LINES[:4], LINES[4].rstrip() + ",1,2\n", *LINES[5:]])},
        screen("t.csv", *BY_STAGE),
        ("t.csv, line 5", "9 fields where the header has 7", "Quote fields"),
    ),
    Case(
        "cut short in the last line",
        {"t.csv": GOOD[: GOOD.rindex(",")]},
        screen("t.csv", *BY_STAGE),
        ("t.csv, line 13", "6 fields where the header has 7", "cut short"),
    ),
    Case(
        "ragged lines with samples in columns",
        {"t.tsv": ACROSS.replace("\ng3\t", "\ng3\t7.5\t"), "p.csv": PHENO},
        screen("t.tsv", "--labels", "p.csv:stage"),
        ("t.tsv, line 5", "14 fields where the header has 13"),
    ),
    Case(
        "duplicated sample ids",
        {"t.csv": with_cell(3, 0, "s0")},
        screen("t.csv", *BY_STAGE),
        ("t.csv", "sample ids must be distinct", "'s0' (2 times)", "Rename or remove"),
    ),
    Case(
        "duplicated samples in columns",
        {"t.tsv": ACROSS.replace("\ts1\t", "\ts0\t", 1), "p.csv": PHENO},
        screen("t.tsv", "--labels", "p.csv:stage"),
        ("t.tsv", "sample ids must be distinct", "'s0' (2 times)", "Rename or remove"),
    ),
    Case(
        "duplicated features in rows",
        {"t.csv": with_cell(0, 4, "g0")},
        screen("t.csv", *BY_STAGE, "--duplicates", "error"),
        ("t.csv", "feature ids must be distinct", "'g0' (2 times)", "Rename or remove"),
    ),
    Case(
        "duplicated features in columns",
        {"t.tsv": ACROSS.replace("\ng3\t", "\ng1\t"), "p.csv": PHENO},
        screen("t.tsv", "--labels", "p.csv:stage", "--duplicates", "error"),
        ("t.tsv", "feature ids must be distinct", "'g1' (2 times)", "Rename or remove"),
    ),
    Case(
        "text in a numeric cell",
        {"t.csv": with_cell(4, 3, "below detection")},
        screen("t.csv", *BY_STAGE),
        ("t.csv, line 5, column 'g1' (field 4)", "'below detection' is not a number", "--na-values", "--ignore"),
    ),
    Case(
        "text in a numeric cell, samples in columns",
        {"t.tsv": ACROSS.replace("\ng2\t", "\ng2\tx").replace("\tx", "\tlow", 1), "p.csv": PHENO},
        screen("t.tsv", "--labels", "p.csv:stage"),
        ("t.tsv, line 4, feature 'g2', column 's0' (field 2)", "is not a number", "--na-values", "--ignore 'g2'"),
    ),
    Case(
        "wrong delimiter",
        {"t.csv": GOOD},
        screen("t.csv", *BY_STAGE, "--delimiter", "semicolon"),
        ("t.csv", "--delimiter"),
    ),
    Case(
        "decimal comma, or thousands",
        {"t.csv": re.sub(r"\.\d+", ",125", GOOD.replace(",", ";"))},
        screen("t.csv", *BY_STAGE),
        ("t.csv", "g0", "decimal commas", "--decimal ,"),
    ),
    Case(
        "decimal comma in one cell",
        {"t.csv": in_rows(VALUES, LABELS, ";").replace(repr(float(VALUES[3, 2])), "3,25")},
        screen("t.csv", *BY_STAGE),
        ("t.csv, line 5, column 'g2' (field 5)", "'3,25'", "--decimal ,"),
    ),
    Case(
        "latin-1 in a label",
        {"t.csv": GOOD.replace(",a,", ",früh,").encode("latin-1")},
        screen("t.csv", *BY_STAGE),
        ("t.csv", "not UTF-8", "--encoding latin-1"),
    ),
    Case(
        "latin-1 far down",
        {"t.csv": in_rows(numbers(200), halves(200)).replace("s150,", "sé150,").encode("latin-1")},
        screen("t.csv", *BY_STAGE),
        ("t.csv, line 152", "not UTF-8", "--encoding latin-1"),
    ),
    Case(
        "unknown encoding",
        {"t.csv": GOOD},
        screen("t.csv", *BY_STAGE, "--encoding", "klingon"),
        ("'klingon'", "latin-1", "utf-8"),
    ),
    Case(
        "unclosed quotation mark",
        {"t.csv": with_cell(4, 0, '"s3')},
        screen("t.csv", *BY_STAGE),
        ("t.csv, line 5", "quotation mark", "never closed", "Close or remove"),
    ),
    Case(
        "negative value under log2",
        {"t.csv": with_cell(4, 3, "-2.5")},
        screen("t.csv", *BY_STAGE, "--transform", "log2"),
        ("t.csv", "sample 's3', feature 'g1'", "-2.5", "log2 needs values above 0", "rank-normal"),
    ),
    Case(
        "zero under log2",
        {"t.csv": with_cell(4, 3, "0")},
        screen("t.csv", *BY_STAGE, "--transform", "log2"),
        ("t.csv", "sample 's3', feature 'g1'", "log2 needs values above 0", "log1p takes zeros"),
    ),
    Case(
        "minus one under log1p",
        {"t.csv": with_cell(4, 3, "-1")},
        screen("t.csv", *BY_STAGE, "--transform", "log1p"),
        ("t.csv", "sample 's3', feature 'g1'", "log1p needs values above -1", "clip"),
    ),
    Case(
        "infinity",
        {"t.csv": with_cell(4, 3, "-Inf")},
        screen("t.csv", *BY_STAGE),
        ("t.csv", "sample 's3', feature 'g1'", "infinite", "--na-values"),
    ),
    Case(
        "missing values",
        {"t.csv": with_cell(4, 3, "NA", with_cell(8, 2, ""))},
        screen("t.csv", *BY_STAGE),
        ("t.csv holds 2 missing value(s) in 2 of 5 features", "sample 's3', feature 'g1'", "--missing omit"),
    ),
]

LABELS_AND_CLASSES = [
    Case(
        "no labels", {"t.csv": in_rows(VALUES)}, screen("t.csv"), ("t.csv", "--labels COLUMN", "pheno.csv:COLUMN")
    ),
    Case(
        "no such column",
        {"t.csv": GOOD},
        screen("t.csv", "--labels", "stagee"),
        ("t.csv has no column 'stagee'", "Did you mean 'stage'?"),
    ),
    Case(
        "no such column in the label file",
        {"t.csv": in_rows(VALUES), "p.csv": PHENO},
        screen("t.csv", "--labels", "p.csv:Stages"),
        ("p.csv has no column 'Stages'", "Did you mean 'stage'?"),
    ),
    Case(
        "missing label file",
        {"t.csv": in_rows(VALUES), "pheno.csv": PHENO},
        screen("t.csv", "--labels", "phenos.csv:stage"),
        ("phenos.csv", "Did you mean pheno.csv?"),
    ),
    Case(
        "label file without ids in common",
        {"t.csv": in_rows(VALUES), "p.csv": PHENO.replace("s", "patient-").replace("patient-tage", "stage")},
        screen("t.csv", "--labels", "p.csv:stage"),
        ("t.csv", "'s0'", "patient-", "Check that"),
    ),
    Case(
        "label file without ids in common, orientation given",
        {"t.csv": in_rows(VALUES), "p.csv": PHENO.replace("s", "patient-").replace("patient-tage", "stage")},
        screen("t.csv", "--labels", "p.csv:stage", "--samples-in", "rows"),
        ("t.csv", "p.csv", "Check that"),
    ),
    Case(
        "label file with several columns and none named",
        {"t.csv": in_rows(VALUES), "p.csv": "id,sex,stage\ns0,m,a\ns1,f,b\n"},
        screen("t.csv", "--labels", "p.csv"),
        ("p.csv:COLUMN", "id, sex, stage"),
    ),
    Case(
        "label file with an id twice",
        {"t.csv": in_rows(VALUES), "p.csv": PHENO + "s3,b\n"},
        screen("t.csv", "--labels", "p.csv:stage"),
        ("p.csv", "'s3' (2 times)", "Rename or remove"),
    ),
    Case(
        "samples without ids for a label file",
        {"t.npy": lambda path: np.save(path, VALUES[:-1]), "p.csv": PHENO},
        screen("t.npy", "--labels", "p.csv:stage"),
        ("t.npy", "without ids", "p.csv", "one for every sample"),
    ),
    Case(
        "samples in columns and a label column",
        {"t.csv": GOOD},
        screen("t.csv", *BY_STAGE, "--samples-in", "columns"),
        ("t.csv", "stage", "--samples-in"),
    ),
    Case(
        "one class only",
        {"t.csv": GOOD.replace(",b,", ",a,")},
        screen("t.csv", *BY_STAGE),
        ("t.csv", "'a'", "two classes"),
    ),
    Case(
        "patterns of other classes",
        {"t.csv": GOOD.replace("s5,a", "s5,c").replace("s4,a", "s4,c")},
        screen("t.csv", *BY_STAGE, "--patterns", "a | b, d"),
        ("'a | b, d'", "'d'", "no class", "'a', 'b', 'c'"),
    ),
    Case(
        "a class of one",
        {"t.csv": GOOD.replace(",b,", ",a,", 5)},
        screen("t.csv", *BY_STAGE, "--prior", "jeffreys"),
        ("class 'b' has one sample", "--classes", "leave out --prior jeffreys"),
    ),
    Case(
        "no usable label",
        {"t.csv": GOOD.replace(",a,", ",NA,").replace(",b,", ",,")},
        screen("t.csv", *BY_STAGE),
        ("t.csv", "no sample is left", "label column"),
    ),
    Case(
        "classes ask for an unknown label",
        {"t.csv": GOOD.replace(",a,", ",early,").replace(",b,", ",late,")},
        screen("t.csv", *BY_STAGE, "--classes", "early; lates"),
        ("'lates'", "Did you mean 'late'?", "early (6), late (6)"),
    ),
    Case(
        "classes with a label twice",
        {"t.csv": GOOD},
        screen("t.csv", *BY_STAGE, "--classes", "x=a,b; y=b"),
        ("label 'b' into two classes", "Put it into one"),
    ),
    Case(
        "classes with a class twice",
        {"t.csv": GOOD},
        screen("t.csv", *BY_STAGE, "--classes", "x=a; x=b"),
        ("name 'x' twice", "once"),
    ),
    Case(
        "empty classes",
        {"t.csv": GOOD},
        screen("t.csv", *BY_STAGE, "--classes", " ; "),
        ("name nothing", "early=1"),
    ),
    Case(
        "a class without labels",
        {"t.csv": GOOD},
        screen("t.csv", *BY_STAGE, "--classes", "x=; y=b"),
        ("Cannot read 'x='", "semicolons between classes"),
    ),
    Case(
        "one class asked for",
        {"t.csv": GOOD},
        screen("t.csv", *BY_STAGE, "--classes", "a"),
        ("--classes", "'a'", "two"),
    ),
    Case(
        "unknown column to ignore",
        {"t.csv": GOOD},
        screen("t.csv", *BY_STAGE, "--ignore", "g11"),
        ("t.csv has no column 'g11'", "Did you mean 'g1'?"),
    ),
    Case(
        "unknown id column",
        {"t.csv": GOOD},
        screen("t.csv", *BY_STAGE, "--id-column", "idd"),
        ("t.csv has no column 'idd'", "Did you mean 'id'?"),
    ),
    Case(
        "h5ad without the column",
        {"t.h5ad": annotated},
        screen("t.h5ad", "--labels", "stages"),
        ("t.h5ad", "'stages'", "Did you mean 'stage'?"),
    ),
    Case(
        "labels that are measurements",
        {"t.csv": in_rows(numbers(1200, 2), [str(i / 8) for i in range(1200)])},
        screen("t.csv", *BY_STAGE),
        ("1,000 different values", "another label column"),
    ),
]

OPTIONS_THAT_CONTRADICT = [
    Case(
        "quiet and verbose",
        {"t.csv": GOOD},
        screen("t.csv", *BY_STAGE, "-q", "-v"),
        ("--quiet", "--verbose", "one"),
    ),
    Case(
        "number of another criterion",
        {"t.csv": GOOD},
        screen("t.csv", *BY_STAGE, "--criterion", "cmnc", "--threshold", "0.9"),
        ("--threshold contradicts --criterion cmnc", "--n-selected"),
    ),
    Case(
        "number for a criterion without one",
        {"t.csv": GOOD},
        screen("t.csv", *BY_STAGE, "--criterion", "mnc", "--threshold", "0.9"),
        ("--threshold contradicts --criterion mnc", "no number"),
    ),
    Case(
        "numbers of two criteria",
        {"t.csv": GOOD},
        screen("t.csv", *BY_STAGE, "--threshold", "0.9", "--n-selected", "3"),
        ("--threshold, --n-selected", "different criteria", "Give the options of one"),
    ),
    Case(
        "confidence without proportion",
        {"t.csv": GOOD},
        screen("t.csv", *BY_STAGE, "--confidence", "0.9"),
        ("--confidence", "--proportion"),
    ),
    Case(
        "mr without its number",
        {"t.csv": GOOD},
        screen("t.csv", *BY_STAGE, "--criterion", "mr"),
        ("--criterion mr needs --threshold", "--threshold 0.9"),
    ),
    Case(
        "fdp without its number",
        {"t.csv": GOOD},
        screen("t.csv", *BY_STAGE, "--criterion", "fdp"),
        ("--criterion fdp needs --proportion", "--proportion 0.1"),
    ),
    Case(
        "np without its number",
        {"t.csv": GOOD},
        screen("t.csv", *BY_STAGE, "--criterion", "np"),
        ("--criterion np needs --expected-false-positives",),
    ),
    Case(
        "more selected than there are",
        {"t.csv": GOOD},
        screen("t.csv", *BY_STAGE, "--n-selected", "6"),
        ("6 features", "only 5", "fewer"),
    ),
    Case(
        "prior ratio of a proper prior",
        {"t.csv": GOOD},
        screen("t.csv", *BY_STAGE, "--prior", "proper", "--prior-ratio", "0.1"),
        ("--prior-ratio contradicts --prior proper", "Leave it out"),
    ),
    Case(
        "prior ratio that is no number and no name",
        {"t.csv": GOOD},
        screen("t.csv", *BY_STAGE, "--prior", "jeffreys", "--prior-ratio", "sqrt2pie"),
        ("'sqrt2pie'", "sqrt2pi"),
    ),
    Case(
        "prior file that is not there",
        {"t.csv": GOOD},
        screen("t.csv", *BY_STAGE, "--prior", "prior.toml"),
        ("--prior must be calibrated, jeffreys, proper or a TOML file", "'prior.toml'"),
    ),
    Case(
        "prior file that is no TOML",
        {"t.csv": GOOD, "prior.toml": "[class\nvariance_dof = 2\n"},
        screen("t.csv", *BY_STAGE, "--prior", "prior.toml"),
        ("prior.toml is not a TOML file", "line 1"),
    ),
    Case(
        "prior file with an unknown key",
        {"t.csv": GOOD, "prior.toml": "[class]\nvariance_dofs = 2\n"},
        screen("t.csv", *BY_STAGE, "--prior", "prior.toml"),
        ("prior.toml", "'variance_dofs'", "Did you mean 'variance_dof'?"),
    ),
    Case(
        "prior file with an unknown table",
        {"t.csv": GOOD, "prior.toml": "[pool]\nvariance_dof = 2\n"},
        screen("t.csv", *BY_STAGE, "--prior", "prior.toml"),
        ("prior.toml", "'pool'", "Did you mean 'pooled'?"),
    ),
    Case(
        "prior file with a negative number",
        {"t.csv": GOOD, "prior.toml": "prior_ratio = 0.1\n[class]\nvariance_scale = -3\n"},
        screen("t.csv", *BY_STAGE, "--prior", "prior.toml"),
        ("prior.toml", "variance_scale", "-3"),
    ),
    Case(
        "prior file with an unknown class",
        {"t.csv": GOOD, "prior.toml": "prior_ratio = 0.1\n[classes.A1]\nvariance_scale = 3\n"},
        screen("t.csv", *BY_STAGE, "--prior", "prior.toml"),
        ("prior.toml", "[classes.A1] is not a class of the data", "a, b"),
    ),
    Case(
        "prior ratio twice",
        {"t.csv": GOOD, "prior.toml": "prior_ratio = 0.1\n"},
        screen("t.csv", *BY_STAGE, "--prior", "prior.toml", "--prior-ratio", "2"),
        ("prior.toml", "--prior-ratio", "Give it once"),
    ),
    Case(
        "prior file of the wrong type",
        {"t.csv": GOOD, "prior.toml": "prior_ratio = 0.1\n[class]\nvariance_dof = [1, 2]\n"},
        screen("t.csv", *BY_STAGE, "--prior", "prior.toml"),
        ("prior.toml", "variance_dof"),
    ),
    Case(
        "prior probability over one",
        {"t.csv": GOOD},
        screen("t.csv", *BY_STAGE, "-p", "1.5"),
        ("prior_probability", "between 0 and 1", "1.5"),
    ),
    Case(
        "prior probability that is nothing",
        {"t.csv": GOOD},
        screen("t.csv", *BY_STAGE, "-p", "few"),
        ("--prior-probability", "'few'", "FILE:COLUMN"),
    ),
    Case(
        "per-feature file that lacks features",
        {"t.csv": GOOD, "w.csv": "gene,weight\ng0,0.1\ng1,0.1\ng2,0.1\n"},
        screen("t.csv", *BY_STAGE, "-p", "w.csv:weight"),
        ("w.csv gives no 'weight' for 2 of 5 features", "'g3', 'g4'", "Add them"),
    ),
    Case(
        "per-feature file with a text",
        {
            "t.csv": GOOD,
            "w.csv": "gene,weight\n" + "".join(f"g{j},{'high' if j == 2 else 0.1}\n" for j in range(5)),
        },
        screen("t.csv", *BY_STAGE, "-p", "w.csv:weight"),
        ("w.csv: 'weight' of feature 'g2' is 'high'", "no number"),
    ),
    Case(
        "feature file that matches nothing",
        {"t.csv": GOOD, "f.csv": "probe,symbol\np0,TP53\np1,KRAS\n"},
        screen("t.csv", *BY_STAGE, "--features", "f.csv"),
        ("f.csv", "none of the features", "p0", "'g0'", "same ids"),
    ),
    Case(
        "missing feature file",
        {"t.csv": GOOD},
        screen("t.csv", *BY_STAGE, "--features", "f.csv"),
        ("f.csv", "--features", "Check the name"),
    ),
    Case(
        "memory in words",
        {"t.csv": GOOD},
        screen("t.csv", *BY_STAGE, "--memory", "lots"),
        ("--memory", "'lots'", "300MB"),
    ),
    Case(
        "too little memory",
        {"t.csv": GOOD},
        screen("t.csv", *BY_STAGE, "--memory", "5"),
        ("--memory", "at least 1MB"),
    ),
    Case("no threads", {"t.csv": GOOD}, screen("t.csv", *BY_STAGE, "--threads", "0"), ("--threads", "1")),
    Case(
        "odd decimal mark", {"t.csv": GOOD}, screen("t.csv", *BY_STAGE, "--decimal", "x"), ("decimal mark", "'x'")
    ),
    Case(
        "decimal mark that is the delimiter",
        {"t.csv": GOOD},
        screen("t.csv", *BY_STAGE, "--decimal", ",", "--delimiter", "comma"),
        ("','", "decimal mark", "delimiter", "Change one"),
    ),
    Case(
        "long delimiter",
        {"t.csv": GOOD},
        screen("t.csv", *BY_STAGE, "--delimiter", "::"),
        ("delimiter", "'::'", "tab"),
    ),
    Case(
        "config with an unknown key",
        {"t.csv": GOOD, "run.toml": 'label = "stage"\n'},
        screen("t.csv", "--config", "run.toml"),
        ("run.toml", "'label'", "Did you mean 'labels'?"),
    ),
    Case(
        "config that is no TOML",
        {"t.csv": GOOD, "run.toml": "labels: stage\n"},
        screen("t.csv", "--config", "run.toml"),
        ("run.toml is not a TOML file", "line 1"),
    ),
    Case(
        "config with a wrong type",
        {"t.csv": GOOD, "run.toml": 'labels = "stage"\nn-selected = "many"\n'},
        screen("t.csv", "--config", "run.toml"),
        ("n-selected", "many"),
    ),
    Case(
        "config with a table",
        {"t.csv": GOOD, "run.toml": '[labels]\nfile = "stage"\n'},
        screen("t.csv", "--config", "run.toml"),
        ("run.toml", "'labels' is a table", "plain values"),
    ),
    Case(
        "config that is not there",
        {"t.csv": GOOD},
        screen("t.csv", "--config", "run.toml"),
        ("no file run.toml", "Check the name"),
    ),
]

OUTPUTS = [
    Case(
        "output into no folder",
        {"t.csv": GOOD},
        screen("t.csv", *BY_STAGE, "--out", "results/list.csv"),
        ("results/list.csv", "there is no folder", "Make it first"),
    ),
    Case(
        "output to a directory",
        {"t.csv": GOOD, "list.csv": lambda path: path.mkdir()},
        screen("t.csv", *BY_STAGE, "--out", "list.csv"),
        ("list.csv", "it is a directory", "Name a file in it"),
    ),
    Case(
        "output with an unknown ending",
        {"t.csv": GOOD},
        screen("t.csv", *BY_STAGE, "--out", "list.docx"),
        ("list.docx", "'.docx'", ".csv", ".xlsx", ".parquet"),
    ),
    Case(
        "output over the input",
        {"t.csv": GOOD},
        screen("t.csv", *BY_STAGE, "--out", "./t.csv"),
        ("--out would overwrite", "t.csv", "another name"),
    ),
    Case(
        "output over the label file",
        {"t.csv": in_rows(VALUES), "p.csv": PHENO},
        screen("t.csv", "--labels", "p.csv:stage", "--out", "p.csv"),
        ("--out would overwrite", "p.csv", "another name"),
    ),
    Case(
        "output over the prior file",
        {"t.csv": GOOD, "prior.json": "prior_ratio = 0.1\n"},
        screen("t.csv", *BY_STAGE, "--prior", "prior.json", "--out", "prior.json"),
        ("--out would overwrite", "prior.json", "another name"),
    ),
    Case(
        "output over the file of prior probabilities",
        {"t.csv": GOOD, "w.csv": "gene,weight\n" + "".join(f"g{j},0.1\n" for j in range(5))},
        screen("t.csv", *BY_STAGE, "-p", "w.csv:weight", "--out", "w.csv"),
        ("--out would overwrite", "w.csv", "another name"),
    ),
    Case(
        "manifest over the output",
        {"t.csv": GOOD},
        screen("t.csv", *BY_STAGE, "--out", "a.json", "--manifest", "a.json"),
        ("--manifest would overwrite", "a.json", "another name"),
    ),
    Case(
        "full disk",
        {"t.csv": GOOD, "list.csv": lambda path: path.symlink_to("/dev/full")},
        screen("t.csv", *BY_STAGE, "--out", "list.csv"),
        ("list.csv", "No space left", "has room"),
    ),
]

DEMO = [
    Case(
        "demo data of an unknown format",
        {},
        ("demo", "--write-data", "demo.xlsx"),
        ("demo.xlsx", "end in .csv"),
    ),
    Case(
        "demo data into no folder",
        {},
        ("demo", "--write-data", "a/demo.csv"),
        ("a/demo.csv", "folder"),
    ),
]

STATISTICS = [
    Case(
        "labels for a statistics file",
        {"a.stats.parquet": statistics()},
        screen("a.stats.parquet", *BY_STAGE),
        ("a.stats.parquet is a statistics file", "--labels", "Leave the option out"),
    ),
    Case(
        "another transform for a statistics file",
        {"a.stats.parquet": statistics(transform="log2")},
        screen("a.stats.parquet", "--transform", "log1p"),
        ("a.stats.parquet", "transform log2", "Leave --transform out"),
    ),
    Case(
        "damaged statistics file",
        {"a.stats.parquet": damaged_statistics},
        screen("a.stats.parquet"),
        ("a.stats.parquet has been changed or damaged", "Copy it again"),
    ),
    Case(
        "merging classes of a statistics file",
        {"a.stats.parquet": statistics()},
        screen("a.stats.parquet", "--classes", "x=a; y=b"),
        ("statistics file", "picked and ordered"),
    ),
    Case(
        "picking an unknown class of a statistics file",
        {"a.stats.parquet": statistics(classes=("early", "late"))},
        screen("a.stats.parquet", "--classes", "early, lat"),
        ("'lat'", "'late'"),
    ),
    Case(
        "stats with ranks",
        {"t.csv": GOOD},
        ("stats", "t.csv", *BY_STAGE, "--transform", "rank-normal", "--out", "a.stats.parquet"),
        ("--transform rank-normal", "Use none, log2, log1p or logit"),
    ),
    Case(
        "stats into CSV",
        {"t.csv": GOOD},
        ("stats", "t.csv", *BY_STAGE, "--out", "a.csv"),
        ("a.csv", ".stats.parquet"),
    ),
    Case(
        "stats of statistics",
        {"a.stats.parquet": statistics()},
        ("stats", "a.stats.parquet", "--out", "b.stats.parquet"),
        ("a.stats.parquet is a statistics file already", "bayesieve merge"),
    ),
    Case(
        "stats of groups that are all too small",
        {"t.csv": GOOD},
        ("stats", "t.csv", *BY_STAGE, "--min-cell", "7", "--out", "a.stats.parquet"),
        ("all 5 features", "fewer than 7", "--min-cell"),
    ),
    Case(
        "stats with settings into no folder",
        {"t.csv": GOOD},
        ("stats", "t.csv", *BY_STAGE, "--out", "a.stats.parquet", "--config-out", "runs/a.toml"),
        ("runs/a.toml", "there is no folder", "Make it first"),
    ),
    Case(
        "stats over the label file",
        {
            "t.csv": in_rows(VALUES),
            "p.parquet": lambda path: pd.DataFrame({"id": SAMPLES, "stage": LABELS}).to_parquet(path),
        },
        ("stats", "t.csv", "--labels", "p.parquet:stage", "--out", "p.parquet"),
        ("p.parquet", "overwrite", "another name"),
    ),
    Case(
        "merge of one file",
        {"a.stats.parquet": statistics()},
        ("merge", "a.stats.parquet", "--out", "all.stats.parquet"),
        ("at least two",),
    ),
    Case(
        "merge of different transforms",
        {"a.stats.parquet": statistics("Oslo"), "b.stats.parquet": statistics("Bonn", transform="log2")},
        ("merge", "a.stats.parquet", "b.stats.parquet", "--out", "all.stats.parquet"),
        ("'Oslo'", "'none'", "'Bonn'", "'log2'", "same one"),
    ),
    Case(
        "merge of different classes",
        {"a.stats.parquet": statistics("Oslo"), "b.stats.parquet": statistics("Bonn", ("a", "c"))},
        ("merge", "a.stats.parquet", "b.stats.parquet", "--out", "all.stats.parquet"),
        ("'Oslo'", "'a', 'b'", "'Bonn'", "'a', 'c'", "Have all sites use the same"),
    ),
    Case(
        "merge of the same site twice",
        {"a.stats.parquet": statistics("Oslo"), "b.stats.parquet": statistics("Oslo")},
        ("merge", "a.stats.parquet", "b.stats.parquet", "--out", "all.stats.parquet"),
        ("'Oslo'", "twice", "--site"),
    ),
    Case(
        "merge of a table",
        {"a.stats.parquet": statistics(), "t.csv": GOOD},
        ("merge", "a.stats.parquet", "t.csv", "--out", "all.stats.parquet"),
        ("t.csv is not a statistics file",),
    ),
    Case(
        "merge of a missing file",
        {"a.stats.parquet": statistics()},
        ("merge", "a.stats.parquet", "b.stats.parquet", "--out", "all.stats.parquet"),
        ("b.stats.parquet", "there is no such file"),
    ),
    Case(
        "merge over an input",
        {"a.stats.parquet": statistics("Oslo"), "b.stats.parquet": statistics("Bonn")},
        ("merge", "a.stats.parquet", "b.stats.parquet", "--out", "a.stats.parquet"),
        ("a.stats.parquet", "overwrite", "another name"),
    ),
    Case(
        "remove an unknown site",
        {"a.stats.parquet": statistics("Oslo")},
        ("remove", "a.stats.parquet", "Olso"),
        ("'Olso'", "Did you mean 'Oslo'?"),
    ),
    Case(
        "remove the only site",
        {"a.stats.parquet": statistics("Oslo")},
        ("remove", "a.stats.parquet", "Oslo"),
        ("'Oslo'", "nothing would be left"),
    ),
    Case(
        "remove into CSV",
        {"a.stats.parquet": two_sites},
        ("remove", "a.stats.parquet", "Oslo", "--out", "b.csv"),
        ("b.csv", ".stats.parquet"),
    ),
    Case(
        "remove from a table",
        {"t.csv": GOOD},
        ("remove", "t.csv", "Oslo"),
        ("t.csv is not a statistics file",),
    ),
    Case(
        "remove from a damaged file",
        {"a.stats.parquet": damaged_statistics},
        ("remove", "a.stats.parquet", "Oslo"),
        ("a.stats.parquet has been changed or damaged", "Copy it again"),
    ),
]

CASES = [
    *FILES_THAT_ARE_NO_TABLES,
    *CELLS_AND_LINES,
    *LABELS_AND_CLASSES,
    *OPTIONS_THAT_CONTRADICT,
    *OUTPUTS,
    *DEMO,
    *STATISTICS,
]


def write(folder, files):
    for name, content in files.items():
        if callable(content):
            content(folder / name)
        else:
            (folder / name).write_bytes(content.encode() if isinstance(content, str) else content)


def check(result, words):
    """Exit code 2, clean standard output, one message that says everything needed."""
    assert result.code == 2, result.err
    assert result.out == ""
    assert "Traceback" not in result.err
    text = " ".join(result.said.replace("│", " ").split())
    if "╭─ Error" in result.err:  # the option parser's own frame
        assert result.err.count("╭─ Error") == 1
        assert "--help" in text
    else:
        assert len(result.messages) == 1, result.err
        assert result.messages[0].startswith("bayesieve: ")
        assert result.messages[0].endswith((".", "?", "--decimal ,"))
    for word in words:
        assert word in text


@pytest.mark.parametrize("case", [pytest.param(case, id=case.name) for case in CASES])
def test_mistakes_are_explained(case, tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TERM", "dumb")
    monkeypatch.setenv("COLUMNS", "200")
    write(tmp_path, case.files)
    before = {path.name for path in tmp_path.iterdir()}
    check(inside(capfd, monkeypatch, *case.command), case.words)
    assert {path.name for path in tmp_path.iterdir()} == before  # nothing half-written is left


OUTSIDE = (
    "missing",
    "text in a numeric cell",
    "no such column in the label file",
    "output over the input",
    "damaged statistics file",
    "memory in words",
)


@pytest.mark.parametrize("case", [case for case in CASES if case.name in OUTSIDE], ids=lambda case: case.name)
def test_mistakes_are_explained_by_the_real_command(case, tmp_path):
    write(tmp_path, case.files)
    check(outside(*case.command, folder=tmp_path), case.words)


def test_there_are_many_mistakes_and_all_have_names():
    assert len({case.name for case in CASES}) == len(CASES)
    assert set(OUTSIDE) <= {case.name for case in CASES}


def pieces_of_zstd(text, n_lines):
    """Compress text so that a block ends after some lines; return what is there until then, and everything."""
    buffer = io.BytesIO()
    with zstandard.ZstdCompressor().stream_writer(buffer, closefd=False) as stream:
        lines = text.splitlines(keepends=True)
        stream.write("".join(lines[:n_lines]).encode())
        stream.flush()
        at = buffer.tell()
        stream.write("".join(lines[n_lines:]).encode())
    return buffer.getvalue()[:at], buffer.getvalue()


def test_zstd_cut_at_the_end_of_a_line_is_not_taken_for_a_whole_table(tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    cut, whole = pieces_of_zstd(GOOD, 9)
    write(tmp_path, {"whole.csv.zst": whole, "cut.csv.zst": cut})
    result = inside(capfd, monkeypatch, "screen", "whole.csv.zst", *BY_STAGE)
    assert "12 samples" in result.said
    check(inside(capfd, monkeypatch, "screen", "cut.csv.zst", *BY_STAGE), ("cut.csv.zst is damaged or cut short",))


@pytest.mark.parametrize(
    "content", [b"%PDF-1.7", b"\x1f\x8b\x08junk", bytes(50), b"PK\x03\x04"], ids=["PDF", "gzip", "zeros", "ZIP"]
)
def test_files_are_closed_after_a_mistake(content, tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes(content)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with pytest.raises(bs.FileError):
            bs.read_table(path, labels="stage")
        gc.collect()
    assert [str(warning.message) for warning in caught] == []


def test_old_output_survives_a_mistake(tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    write(tmp_path, {"t.csv": with_cell(12, 6, "oops"), "list.csv": "old\n"})
    check(inside(capfd, monkeypatch, "screen", "t.csv", *BY_STAGE, "--out", "list.csv"), ("line 13", "'oops'"))
    assert (tmp_path / "list.csv").read_text() == "old\n"
