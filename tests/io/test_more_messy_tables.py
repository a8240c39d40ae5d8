"""Tables as people have them: what programs add, what Excel does to numbers, and files that are no tables."""

from __future__ import annotations

import json
import warnings

import numpy as np
import pytest
import xlsxwriter
from commands import inside

import bayesieve as bs

RNG = np.random.default_rng(9)
VALUES = RNG.normal(8.0, 1.0, size=(12, 5)).round(3)
LABELS = ["ctl"] * 6 + ["case"] * 6
GENES = ["TP53", "KRAS", "ACTB", "MYC", "EGFR"]
HEADER = ["id", "grp", *GENES]


def write(folder, name="t.csv", sep=",", form=str, header=HEADER):
    rows = [[f"s{i}", LABELS[i], *map(form, VALUES[i].tolist())] for i in range(12)]
    (folder / name).write_text("\n".join(sep.join(row) for row in [header, *rows]) + "\n", encoding="utf-8")
    return folder / name


def across(folder, more):
    """Genes in rows, and more rows."""
    rows = [["gene", *(f"s{i}" for i in range(12))]]
    rows += [[gene, *map(str, VALUES[:, j].tolist())] for j, gene in enumerate(GENES)]
    rows += [[name, *map(str, range(100, 112))] for name in more]
    (folder / "a.csv").write_text("\n".join(",".join(row) for row in rows) + "\n")
    (folder / "sheet.csv").write_text("id,grp\n" + "".join(f"s{i},{c}\n" for i, c in enumerate(LABELS)))
    return {"path": folder / "a.csv", "labels": f"{folder / 'sheet.csv'}:grp"}


def test_lines_of_counting_programs_are_no_genes(tmp_path):
    files = across(tmp_path, ["__no_feature", "__ambiguous", "N_unmapped"])
    table = bs.read_table(**files)
    assert table.feature_names == tuple(GENES)
    (note,) = (str(message) for message in table.record.messages() if message.kind == "metadata")
    assert "3 rows of numbers are about the samples and no features: '__no_feature', '__ambiguous', 'N_unm" in note
    assert "not counted for a gene" in note
    assert "__ambiguous" in bs.read_table(**files, keep=["__ambiguous"]).feature_names


def test_a_row_of_totals_is_doubted(tmp_path):
    files = across(tmp_path, ["Total"])
    with pytest.warns(bs.DataWarning, match=r"1 row of numbers is screened as a feature .*'Total'"):
        bs.read_table(**files)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert bs.read_table(**files, ignore=["Total"]).feature_names == tuple(GENES)


@pytest.mark.parametrize(
    ("sep", "form"),
    [
        (",", lambda x: f"{x - 9:.3f}".replace("-", "\u2212")),
        (",", lambda x: f"\u00a0{x - 9:.3f}"),
        (";", lambda x: f"{x - 9:.6E}".replace(".", ",")),
        (";", lambda x: f"{x - 9:.3E}".replace(".", ",")),
    ],
    ids=["printed minus", "space of Word", "powers", "powers with three decimals"],
)
def test_numbers_as_they_are_printed(tmp_path, sep, form):
    table = bs.read_table(write(tmp_path, sep=sep, form=form), labels="grp")
    np.testing.assert_allclose(table.moments.mean[1], VALUES[:6].mean(axis=0) - 9, atol=2e-3)


def test_errors_of_excel_are_missing_values(tmp_path):
    table = write(tmp_path, form=lambda x: "#DIV/0!" if x == VALUES[3, 2] else str(x))
    assert bs.read_table(table, labels="grp", missing="omit").missing.total == 1


def test_advice_on_other_texts(tmp_path):
    path = write(tmp_path, form=lambda x: "<7.5" if x < 7.5 else str(x))
    with pytest.raises(bs.FileError, match=r"'<7\.5' is not a number.*limit of detection.*na_values=\['<7\.5'\]"):
        bs.read_table(path, labels="grp")
    marks = {float(VALUES[2, 0]): "ND", float(VALUES[4, 3]): "n.d."}
    path = write(tmp_path, form=lambda x: marks.get(x, str(x)))
    with pytest.raises(bs.FileError, match=r"1 more such cell nearby.*na_values=\['ND', 'n\.d\.'\]"):
        bs.read_table(path, labels="grp")
    path = write(tmp_path, sep=";", form=lambda x: f"{1000 * x:,.1f}".replace(",", "\u00a0").replace(".", ","))
    with (
        pytest.warns(bs.DataWarning, match="numbers with other signs"),
        pytest.raises(bs.FileError, match="no column of numbers"),
    ):
        bs.read_table(path, labels="grp")


def test_long_form_gets_its_own_advice(tmp_path):
    lines = [f"s{i},{LABELS[i]},{gene},{VALUES[i, j]}" for i in range(12) for j, gene in enumerate(GENES)]
    (tmp_path / "long.csv").write_text("\n".join(["id,grp,gene,value", *lines]) + "\n")
    with pytest.raises(bs.FileError, match=r"long form.*read_csv\('long\.csv'\)\.pivot"):
        bs.read_table(tmp_path / "long.csv", labels="grp")


def test_hidden_sheets_are_passed_over_unless_named(tmp_path):
    path = tmp_path / "t.xlsx"
    with xlsxwriter.Workbook(str(path)) as book:
        book.add_worksheet("Empty")
        sheets = [book.add_worksheet("Old"), book.add_worksheet("Data")]
        sheets[0].hide()
        for k, sheet in enumerate(sheets):
            sheet.write_row(0, 0, HEADER)
            for i in range(12):
                sheet.write_row(i + 1, 0, [f"s{i}", LABELS[i], *(VALUES[i] + k).tolist()])
    shown, old = bs.read_table(path, labels="grp"), bs.read_table(f"{path}:Old", labels="grp")
    np.testing.assert_allclose(shown.moments.mean - old.moments.mean, 1.0)


@pytest.mark.parametrize(
    ("name", "text", "what"),
    [
        ("t.json", json.dumps([{"id": "s1", "g": 1}]), "a JSON file"),
        ("t.txt", '{"id": ["s1"], "g": [1]}', "a JSON file"),
        ("t.arff", "% made by Weka\n@RELATION x\n@attribute a numeric\n@data\n1\n", "an ARFF file"),
        ("t.txt", "| id | g |\n|---|:---:|\n| s1 | 2 |\n", "a Markdown table"),
    ],
)
def test_texts_that_are_no_tables_are_named(tmp_path, name, text, what):
    (tmp_path / name).write_text(text)
    with pytest.raises(bs.FileError, match=rf"is not a table but {what}"):
        bs.read_table(tmp_path / name, labels="g")


def test_a_name_with_a_newline_stays_on_its_line(tmp_path, capfd, monkeypatch):
    path = write(tmp_path, header=["id", "grp", '"TP53\n(ng/mL)"', *GENES[1:]])
    done = inside(capfd, monkeypatch, "screen", path, "--labels", "grp", "-o", tmp_path / "o.csv", "--shuffles", 0)
    assert "TP53 (ng/mL)" in done.err


def test_a_matrix_that_nothing_describes_is_asked_for_a_file(tmp_path):
    np.save(tmp_path / "t.npy", VALUES)
    with pytest.raises(bs.LabelError, match=r"nothing in it describes them\. Give a file .* in their order"):
        bs.read_table(tmp_path / "t.npy")


def test_a_finished_test_is_told_from_values(tmp_path):
    table, labels = tmp_path / "deseq.csv", tmp_path / "pheno.csv"
    table.write_text(
        '"","baseMean","log2FoldChange","lfcSE","stat","pvalue","padj"\n"g1",9,1,1,1,.3,.3\n"g2",8,1,1,1,.3,.3\n'
    )
    labels.write_text("id,y\ns1,a\ns2,a\ns3,b\ns4,b\n")
    with pytest.raises(bs.LabelError, match="those of a finished test, as DESeq2"):
        bs.read_table(table, labels=f"{labels}:y")
