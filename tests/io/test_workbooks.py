"""Workbooks: sheets and columns by name, exact numbers, title rows, dates for genes, results as .xlsx."""

from __future__ import annotations

import datetime
import json
import logging
import sys

import numpy as np
import polars as pl
import pytest
from commands import inside
from made_files import ods, old_workbook, workbook
from tables import whole

import bayesieve as bs
from bayesieve.io.formats.workbook import open_workbook
from bayesieve.io.tables.columns import read_columns, read_reference, split_reference
from bayesieve.io.tables.table import ReadOptions

RNG = np.random.default_rng(4)
VALUES = RNG.normal(5, 1, size=(16, 7))
VALUES[8:, 0] += 6
VALUES[0, 1] = 1.234567890123456e-13
IDS = [f"P{i}" for i in range(16)]
GENES = [f"g{j}" for j in range(7)]
STAGE = ["early"] * 8 + ["late"] * 8
ROWS = [["id", "stage", *GENES], *([a, b, *row] for a, b, row in zip(IDS, STAGE, VALUES.tolist(), strict=True))]
ACROSS = [["gene", *IDS], *([gene, *row] for gene, row in zip(GENES, VALUES.T.tolist(), strict=True))]
PATIENTS = [
    ["patient", "stage", "age"],
    *([a, b, 40 + i] for i, (a, b) in enumerate(zip(IDS, STAGE, strict=True))),
]


def means(table, order=("early", "late")):
    return np.array([table.moments.mean[table.moments.classes.index(name)] for name in order])


EXPECTED = np.array([VALUES[:8].mean(axis=0), VALUES[8:].mean(axis=0)])


def read(path, **options):
    with np.errstate(all="raise"):
        return bs.read_table(path, **options)


def test_samples_in_rows(tmp_path):
    table = read(workbook(tmp_path / "t.xlsx", data=ROWS), labels="stage")
    np.testing.assert_allclose(means(table), EXPECTED, rtol=1e-14)
    assert table.feature_names == tuple(GENES)
    assert table.record.form == "Excel, sheet 'data'"


def test_values_are_exact(tmp_path):
    path = workbook(tmp_path / "t.xlsx", data=[[f"c{j}" for j in range(7)], *VALUES.tolist()])
    written = np.array([[float(f"{x:.16G}") for x in row] for row in VALUES.tolist()])  # as xlsxwriter writes them
    np.testing.assert_array_equal(whole(open_workbook(path, ReadOptions(labels="c0"))), written[:, 1:])


@pytest.mark.parametrize("word", ["NA", "n.d.", "<LOD"])
def test_numbers_among_texts_are_exact(tmp_path, word):
    rows = [list(row) for row in ROWS]
    rows[5][3] = word
    options = {"labels": "stage", "missing": "omit", "na_values": [word]}
    table = read(workbook(tmp_path / "t.xlsx", data=rows), **options)
    early = np.delete(VALUES[:8, 1], 4)
    assert early.min() < 1e-12  # nine decimals would lose it
    assert table.moments.mean[0, 1] == pytest.approx(early.mean(), rel=1e-14)


def test_samples_in_columns_and_a_label_row(tmp_path):
    rows = [ACROSS[0], ["stage", *STAGE], *ACROSS[1:]]
    table = read(workbook(tmp_path / "t.xlsx", data=rows), labels="stage")
    np.testing.assert_allclose(means(table), EXPECTED, rtol=1e-14)


def test_titles_and_empty_rows_and_columns(tmp_path):
    rows = [["Table S1. Expression"], [], *([*row, None, None] for row in ROWS[:9]), [], *ROWS[9:], [], []]
    table = read(workbook(tmp_path / "t.xlsx", data=rows), labels="stage")
    np.testing.assert_allclose(means(table), EXPECTED, rtol=1e-14)
    assert table.record.form == "Excel, sheet 'data', from row 3"


def test_the_only_sheet_that_looks_like_a_table_is_taken(tmp_path):
    remarks = [["Written by Anna"], ["Units: log2"]]
    path = workbook(tmp_path / "t.xlsx", remarks=remarks, values=ACROSS, patients=PATIENTS)
    for labels in (f"{path}:patients:stage", f"{path}:stage"):
        table = read(path, labels=labels)
        np.testing.assert_allclose(means(table), EXPECTED, rtol=1e-14)
        assert table.record.form == "Excel, sheet 'values'"


def test_sheets_by_name(tmp_path):
    other = [[*row[:2], *(0.0 if isinstance(cell, float) else cell for cell in row[2:])] for row in ROWS]
    path = workbook(tmp_path / "t.xlsx", first=ROWS, second=other)
    np.testing.assert_allclose(means(read(f"{path}:first", labels="stage")), EXPECTED, rtol=1e-14)
    assert (means(read(f"{path}:SECOND", labels="stage")) == 0).all()
    with pytest.raises(
        bs.OptionError, match=r"several sheets.*'first' \(17 rows x 9 columns\), 'second'.*t.xlsx:SHEET"
    ):
        read(path, labels="stage")
    with pytest.raises(bs.OptionError, match=r"no sheet 'frist'. Did you mean 'first'.*'first', 'second'"):
        read(f"{path}:frist", labels="stage")


def test_one_name_is_a_column_two_are_a_sheet_and_a_column(tmp_path):
    path = str(workbook(tmp_path / "p.xlsx", stage=[["patient", "code"], ["P1", "x"]], more=PATIENTS))
    assert split_reference(f"{path}:more:stage") == (path, "more:stage")
    for reference, sheet, column in (
        (f"{path}:more:stage", "more", "stage"),
        (f"{path}:stage", "more", "stage"),  # also the name of a sheet
        (f"{path}:age", "more", "age"),
        (f"{path}:stage:code", "stage", "code"),
        (f"{path}:more", "more", None),
    ):
        found, named = read_reference(reference)
        assert (found.path, named) == (f"{path}:{sheet}", column)
    assert read_columns(f"{path}:more").column("age")[:2] == ["40", "41"]
    with pytest.raises(bs.FileError, match=r"p.xlsx:more has no column 'sage'. Did you mean"):
        read_reference(f"{path}:more:sage")[0].column("sage")


def test_labels_that_stand_on_several_sheets_are_asked_about(tmp_path):
    path = workbook(tmp_path / "p.xlsx", one=PATIENTS, two=PATIENTS)
    with pytest.raises(bs.OptionError, match=r"'one' .*'two' .*p.xlsx:SHEET:stage"):
        read_reference(f"{path}:stage")


def test_whole_numbers_and_ids_stay_what_they_are(tmp_path):
    rows = [["Entrez", *IDS], *([1000 + j, *row] for j, row in enumerate(VALUES.T.tolist()))]
    (tmp_path / "p.csv").write_text("id,stage\n" + "".join(f"{a},{b}\n" for a, b in zip(IDS, STAGE, strict=True)))
    table = read(workbook(tmp_path / "t.xlsx", data=rows), labels=f"{tmp_path / 'p.csv'}:stage")
    assert table.feature_names[:2] == ("1000", "1001")
    ids = [["id", "x"], ["007", 1.0], ["7", 2.0], ["0010", 3.5]]
    assert read_columns(workbook(tmp_path / "i.xlsx", data=ids)).columns == {
        "id": ["007", "7", "0010"],
        "x": ["1.0", "2.0", "3.5"],
    }


def test_names_that_became_dates_are_warned_of(tmp_path):
    genes = [datetime.date(2024, 3, 1), "2-Sep", "Sep-07", *GENES[3:]]
    rows = [["gene", *IDS], *([gene, *row] for gene, row in zip(genes, VALUES.T.tolist(), strict=True))]
    path = workbook(tmp_path / "t.xlsx", data=rows, patients=PATIENTS)
    with pytest.warns(
        bs.DataWarning, match=r"3 feature names of 7.*'2024-03-01', '2-Sep', 'Sep-07'.*MARCH1, SEPT2"
    ):
        table = read(f"{path}:data", labels=f"{path}:stage")
    np.testing.assert_allclose(means(table), EXPECTED, rtol=1e-14)
    text = "\n".join("\t".join(map(str, row)) for row in rows).replace("2024-03-01", "1-Mar")
    (tmp_path / "t.tsv").write_text(text + "\n")
    with pytest.warns(bs.DataWarning, match="'1-Mar'.*MARCHF1, SEPTIN2, SEPTIN7"):
        read(tmp_path / "t.tsv", labels=f"{path}:stage")


@pytest.mark.parametrize("genes", [["MARCH1", "SEPT2", "DEC1", "Mar1", "A-1-Mar", "1-2-3", "NOV"], None])
def test_names_that_are_no_dates_or_all_dates_are_not_warned_of(tmp_path, genes):
    genes = genes or [f"2024-03-{day:02d}" for day in range(1, 8)]
    rows = [["id", "stage", *genes], *ROWS[1:]]
    assert read(workbook(tmp_path / "t.xlsx", data=rows), labels="stage").feature_names == tuple(genes)


def test_opendocument(tmp_path):
    table = read(ods(tmp_path / "t.ods", ROWS), labels="stage")
    np.testing.assert_allclose(means(table), EXPECTED, rtol=1e-14)
    assert table.record.form == "OpenDocument, sheet 'data'"


def test_the_excel_of_long_ago(tmp_path):
    table = read(old_workbook(tmp_path / "t.xls", ROWS), labels="stage")
    np.testing.assert_allclose(means(table), EXPECTED, rtol=1e-14)
    assert table.record.form == "Excel, sheet 'data'"


def test_lines_are_counted_as_the_sheet_counts_them(tmp_path):
    rows = [["Title"], [], *(list(row) for row in ROWS)]
    rows[8][4] = "n.d."
    with pytest.raises(bs.FileError, match=r"t.xlsx, line 9, column 'g2' \(field 5\): 'n.d.'"):
        read(workbook(tmp_path / "t.xlsx", data=rows), labels="stage")


def test_bytes_count_more_than_names(tmp_path):
    path = workbook(tmp_path / "t.xlsx", data=ROWS).rename(tmp_path / "t.csv")
    np.testing.assert_allclose(means(read(path, labels="stage")), EXPECTED, rtol=1e-14)
    text = tmp_path / "t.xls"  # as many programs call what they write with tabs
    text.write_text("\n".join("\t".join(map(str, row)) for row in ROWS) + "\n")
    np.testing.assert_allclose(means(read(text, labels="stage")), EXPECTED, rtol=1e-14)
    labels = tmp_path / "p.xls"
    labels.write_text("\n".join("\t".join(map(str, row)) for row in PATIENTS) + "\n")
    assert read_reference(f"{labels}:stage")[0].names == ["patient", "stage", "age"]


def test_nothing_is_logged_by_the_reader(tmp_path, caplog):
    rows = [[*row, None, cell] for row, cell in zip(ROWS, ["odd", *(None for _ in IDS)], strict=True)]
    with caplog.at_level(logging.DEBUG):
        read(workbook(tmp_path / "t.xlsx", data=rows), labels="stage", missing="omit", ignore=["odd"])
    assert not [record for record in caplog.records if record.name.startswith("fastexcel")]


def test_without_the_packages(tmp_path, monkeypatch):
    path = workbook(tmp_path / "t.xlsx", data=ROWS)
    selection = bs.FixedSize(1).select(bs.screen(VALUES, STAGE))
    monkeypatch.setitem(sys.modules, "fastexcel", None)
    monkeypatch.setitem(sys.modules, "xlsxwriter", None)
    with pytest.raises(bs.MissingExtraError, match=r'python -m pip install "bayesieve\[excel\]".*as CSV'):
        read(path, labels="stage")
    with pytest.raises(bs.MissingExtraError, match=r'"bayesieve\[excel\]"'):
        bs.write_result(tmp_path / "list.xlsx", selection)


def test_results_as_a_workbook(tmp_path):
    names = ["=1+1", "http://x.org", "MARCH1", "007", *GENES[4:]]
    selection = bs.FixedSize(2).select(bs.screen(VALUES, STAGE, feature_names=names))
    path = bs.write_result(tmp_path / "list.xlsx", selection)
    frame = pl.read_excel(path, sheet_name="ranked", infer_schema_length=None)
    order = selection.posterior.ranking
    assert frame["feature"].to_list() == [names[j] for j in order]
    np.testing.assert_allclose(frame["log_odds"].to_numpy(), selection.posterior.log_odds[order], rtol=1e-15)
    assert frame["selected"].to_list() == [True] * 2 + [False] * 5
    about = dict(pl.read_excel(path, sheet_name="about", has_header=False).select(pl.nth(0, 1)).rows())
    assert about["format"] == "bayesieve-record"
    with pytest.raises(bs.FileError, match=r"15 digits.*\.csv or \.parquet"):
        bs.read_result(path)


def test_a_password_is_said(tmp_path):
    path = tmp_path / "t.xlsx"
    path.write_bytes(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600) + "EncryptedPackage".encode("utf-16-le"))
    with pytest.raises(bs.FileError, match="protected by a password"):
        read(path, labels="stage")


def test_annotations_and_probabilities_from_workbooks(tmp_path, capfd, monkeypatch):
    table = workbook(tmp_path / "t.xlsx", data=ROWS)
    notes = [["gene", "symbol", "prior"], *([gene, f"S-{gene}", 0.1 + 0.1 * j] for j, gene in enumerate(GENES))]
    book = workbook(tmp_path / "genes.xlsx", cover=[["Genes"]], notes=notes)
    out = tmp_path / "list.csv"
    prior = f"{book}:notes:prior"
    for features in (f"{book}:notes", book):
        found = inside(
            capfd, monkeypatch, "screen", table, "-l", "stage", "--features", features, "-p", prior,
            "--shuffles", "0", "--out", out, "--manifest", tmp_path / "m.json",
        )  # fmt: skip
        assert found.code == 0, found.err
        ranked = pl.read_csv(out)
        assert ranked["symbol"].to_list() == [f"S-{gene}" for gene in ranked["feature"]]
    paths = [each["path"] for each in json.loads((tmp_path / "m.json").read_text())["inputs"]]
    assert sorted(paths) == ["genes.xlsx", "t.xlsx"]  # no folder of a path
    found = inside(capfd, monkeypatch, "screen", table, "-l", "stage", "--features", f"{book}:note")
    assert found.code == 2
    assert "no sheet 'note'. Did you mean 'notes'?" in found.said


@pytest.mark.parametrize("rows", [[["only"]], [["a", "b"]], [["a", "b"], ["x", "y"]]])
def test_sheets_without_a_table(tmp_path, rows):
    with pytest.raises((bs.FileError, bs.LabelError), match=r"t\.xlsx"):
        read(workbook(tmp_path / "t.xlsx", data=rows), labels="a")
