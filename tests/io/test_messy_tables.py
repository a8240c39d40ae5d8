"""Tables with title lines, units, decimal commas and annotation columns, as programs write them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

import bayesieve as bs
from bayesieve.io.text.sniffing import Form, find_decimal, sniff

RNG = np.random.default_rng(11)
VALUES = RNG.normal(8.0, 1.0, size=(12, 5)).round(2)
LABELS = ["ctl"] * 6 + ["case"] * 6
GENES = [f"g{j}" for j in range(5)]


def lines_of(sep=",", comma=False):
    rows = [["id", "grp", *GENES]]
    rows += [[f"s{i}", LABELS[i], *map(str, VALUES[i].tolist())] for i in range(12)]
    text = [sep.join(row) for row in rows]
    return [line.replace(".", ",") for line in text] if comma else text


def read(folder, lines, name="t.csv", **options):
    (folder / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
    return bs.read_table(folder / name, **{"labels": "grp", **options})


def assert_whole(table):
    assert table.feature_names == tuple(GENES)
    assert table.class_counts == {"case": 6, "ctl": 6}
    np.testing.assert_allclose(table.moments.mean[1], VALUES[:6].mean(axis=0), rtol=1e-12)


def said(table, kind):
    return " ".join(str(message) for message in table.record.messages() if message.kind == kind)


@pytest.mark.parametrize("sep", [";", "\t", "|"])
@pytest.mark.parametrize("name", ["t.csv", "t.tsv"])
def test_decimal_commas_are_found_out_and_said(tmp_path, sep, name):
    table = read(tmp_path, lines_of(sep, comma=True), name)
    assert_whole(table)
    assert "Numbers have decimal commas, which was found out." in said(table, "decimal-commas")
    assert "between thousands" in said(table, "decimal-commas")
    assert not said(read(tmp_path, lines_of(sep, comma=True), name, decimal=","), "decimal-commas")
    assert not said(read(tmp_path, lines_of(sep), name), "decimal-commas")


def test_thousands_are_no_decimals(tmp_path):
    lines = ["id;grp;g0;g1", *(f"s{i};{LABELS[i]};1,{200 + i};2,{300 - i}" for i in range(12))]
    with pytest.raises(bs.FileError, match="decimal=','"):
        read(tmp_path, lines)


@pytest.mark.parametrize("sep", [",", ";", "\t"])
@pytest.mark.parametrize(
    "titles",
    [
        ["Supplementary Table 3"],
        ["Table S1. Genes, proteins, and others", "", "Measured in Oslo"],
        ["Title{0}{0}{0}{0}{0}{0}", "{0}{0}{0}{0}{0}{0}"],
        ["# comment", "Exported by Lab; 12.03.2021"],
        ["Instrument{0}CLARIOstar", "User{0}anna", "", "Date{0}12.03.2021"],
    ],
)
def test_titles_above_the_header_are_skipped_and_said(tmp_path, sep, titles):
    above = [title.format(sep) for title in titles]
    table = read(tmp_path, [*above, *lines_of(sep)])
    assert_whole(table)
    assert "above the header of" in said(table, "titles")
    shown = next(line for line in above if not line.startswith("#")).strip(" ,;\t|")
    assert repr(shown) in said(table, "titles")
    assert_whole(read(tmp_path, [*above, *lines_of(sep)], skip_rows=len(above)))


def test_remarks_below_the_table_do_not_hide_the_titles_above(tmp_path):
    table = read(tmp_path, ["Instrument;A", "User;anna", *lines_of(";"), "End of export"])
    assert_whole(table)
    assert "2 lines above the header" in said(table, "titles")
    assert "1 line below the table" in said(table, "footers")
    with pytest.raises(bs.FileError, match=r"line 14: 1 field where the header has 7.*remarks below the table"):
        read(tmp_path, [*lines_of(";"), "s13", *lines_of(";")[2:]])


def test_lines_that_look_like_data_are_skipped_on_demand_only(tmp_path):
    above = ["a,b,c,d,e,f,g", "1,2,3,4,5,6,7"]
    with pytest.raises(bs.BayesieveError):
        read(tmp_path, [*above, *lines_of()])
    assert_whole(read(tmp_path, [*above, *lines_of()], skip_rows=2))
    np.save(tmp_path / "t.npy", VALUES)
    with pytest.raises(bs.OptionError, match="skip_rows is for delimited text"):
        bs.read_table(tmp_path / "t.npy", labels="x", skip_rows=1)


def test_a_header_that_is_too_short_is_no_title(tmp_path):
    lines = lines_of()
    with pytest.raises(bs.FileError, match=r"line 2: 7 fields where the header has 4.*skip_rows"):
        read(tmp_path, ["id,grp,g0,g1", *lines[1:]])


@pytest.mark.parametrize("units", [[",,mg/dL,mg/dL,mmol/L,U/L,%"], ["unit,,a,b,c,d,e", "method,,x,x,y,y,z"]])
def test_units_below_the_header_are_left_out_and_said(tmp_path, units):
    lines = lines_of()
    table = read(tmp_path, [lines[0], *units, *lines[1:]])
    assert_whole(table)
    assert "text where numbers follow" in said(table, "units")
    assert repr(units[0]) in said(table, "units")


def test_a_row_of_labels_is_no_row_of_units(tmp_path):
    across = [",".join(["gene", *(f"s{i}" for i in range(12))]), ",".join(["grp", *LABELS])]
    across += [",".join([gene, *map(str, VALUES[:, j].tolist())]) for j, gene in enumerate(GENES)]
    assert_whole(read(tmp_path, across))


def test_one_cell_of_text_is_still_a_mistake(tmp_path):
    lines = lines_of()
    lines[1] = lines[1].rpartition(",")[0] + ",high"
    with pytest.raises(bs.FileError, match="'high' is not a number"):
        read(tmp_path, lines)


def sheet(folder, ids, column="Sample"):
    (folder / "sheet.csv").write_text(
        f"{column},grp\n" + "".join(f"{a},{b}\n" for a, b in zip(ids, LABELS, strict=True))
    )
    return f"{folder / 'sheet.csv'}:grp"


def tall(folder, name, columns):
    """Write columns of texts or numbers, one line per protein."""
    n = max(len(values) for values in columns.values())
    lines = ["\t".join(columns)] + ["\t".join(str(values[i]) for values in columns.values()) for i in range(n)]
    (folder / name).write_text("\n".join(lines) + "\n")
    return folder / name


def test_maxquant_with_its_sample_sheet_alone(tmp_path):
    ids = [f"P{i:02}" for i in range(1, 13)]
    columns = {"Protein IDs": GENES, "Gene names": [g.upper() for g in GENES], "Mol. weight [kDa]": [51.2] * 5}
    columns |= {f"Peptides {s}": [3] * 5 for s in ids}
    columns |= {f"Intensity {s}": [1.0] * 5 for s in ids}
    columns |= {f"LFQ intensity {s}": VALUES[i].tolist() for i, s in enumerate(ids)}
    columns |= {"Reverse": ["", "+", "", "", ""], "id": list(range(5))}
    table = bs.read_table(tall(tmp_path, "proteinGroups.txt", columns), labels=sheet(tmp_path, ids))
    assert_whole(table)
    assert "differ in the beginning 'LFQ intensity '" in said(table, "matched-ids")
    assert "columns that" in said(table, "left-out")
    assert "Mol. weight" in said(table, "left-out")
    given = {key: values for key, values in columns.items() if "LFQ" not in key}
    other = bs.read_table(tall(tmp_path, "proteinGroups.txt", given), labels=sheet(tmp_path, ids))
    assert "the beginning 'Intensity '" in said(other, "matched-ids")


def test_proteome_discoverer_with_its_sample_sheet_alone(tmp_path):
    ids = [f"F{i}" for i in range(1, 13)]
    columns = {"Accession": GENES, "Description": ["a protein"] * 5, "# Peptides": [3] * 5, "MW [kDa]": [5.1] * 5}
    columns |= {f"Abundance: {s}: Sample": [1.0] * 5 for s in ids}
    columns |= {f"Abundances (Normalized): {s}: Sample": VALUES[i].tolist() for i, s in enumerate(ids)}
    table = bs.read_table(tall(tmp_path, "pd.txt", columns), labels=sheet(tmp_path, ids))
    assert_whole(table)
    assert "Abundances (Normalized): " in said(table, "matched-ids")


def test_feature_counts_with_their_sample_sheet_alone(tmp_path):
    ids = [f"S{i}" for i in range(1, 13)]
    columns = {"Geneid": GENES, "Chr": ["1;1"] * 5, "Start": [7] * 5, "Strand": ["+"] * 5, "Length": [800] * 5}
    columns |= {f"/scratch/map/{s}.sorted.bam": VALUES[i].tolist() for i, s in enumerate(ids)}
    path = tall(tmp_path, "counts.txt", columns)
    path.write_text("# Program:featureCounts v2.0; Command:x\n" + path.read_text())
    table = bs.read_table(path, labels=sheet(tmp_path, ids))
    assert_whole(table)
    assert "the beginning '/scratch/map/' and the ending '.sorted.bam'" in said(table, "matched-ids")


def test_counts_of_deseq2_with_their_sample_sheet_alone(tmp_path):
    ids = [f"S{i}" for i in range(1, 13)]
    columns = {"gene_id": GENES, "gene_name": [g.upper() for g in GENES], "length": [800.5] * 5}
    columns |= {s: VALUES[i].tolist() for i, s in enumerate(ids)}
    table = bs.read_table(tall(tmp_path, "counts.tsv", columns), labels=sheet(tmp_path, ids))
    assert_whole(table)
    assert "1 column that" in said(table, "left-out")
    assert "length" in said(table, "left-out")


CELL = st.one_of(
    st.sampled_from(["1,5", "2.5", "1,234", "-0,1", "3", "", "ab", '"x"', "1,2,3", "#", "1e5"]),
    st.text(max_size=3),
)


@given(
    st.lists(st.lists(CELL, min_size=1, max_size=6).map(";".join), min_size=1, max_size=12),
    st.sampled_from(";\t,"),
)
def test_any_first_lines_give_a_form_or_an_error(lines, sep):
    lines = [line.replace(";", sep).replace("\n", " ").replace("\r", " ") for line in lines]
    try:
        form = sniff("t", lines, ".csv", None, ".")
    except bs.FileError:
        return
    assert isinstance(form, Form)
    assert 1 <= form.skipped <= len(lines)
    assert find_decimal(lines, form) in (".", ",")
    if form.delimiter == ",":
        assert find_decimal(lines, form) == "."


@given(st.lists(st.floats(-1e6, 1e6).map(lambda x: f"{x:.2f}"), min_size=6, max_size=6), st.integers(0, 3))
def test_titles_are_found_whatever_the_numbers(values, n_titles):
    lines = [f"Title {k} of a table" for k in range(n_titles)]
    lines += ["a;b;c;d;e;f", *(";".join(values) for _ in range(4))]
    form = sniff("t", lines, ".csv", None, ".")
    assert (form.names, form.skipped) == (tuple("abcdef"), n_titles + 1)


@pytest.mark.parametrize("column", ["cell:type", "a:b:c", "disease state:"])
@pytest.mark.parametrize("where", ["table", "file"])
def test_columns_whose_name_holds_a_colon(tmp_path, monkeypatch, column, where):
    monkeypatch.chdir(tmp_path)
    lines = lines_of()
    if where == "table":
        assert_whole(read(tmp_path, [lines[0].replace("grp", column), *lines[1:]], labels=column))
        return
    (tmp_path / "ph.csv").write_text(f"id,{column}\n" + "".join(f"s{i},{LABELS[i]}\n" for i in range(12)))
    (tmp_path / "cell").mkdir()  # a folder is no label file
    lines = [line.replace("grp", "note").replace("ctl", "x").replace("case", "y") for line in lines]
    assert_whole(read(tmp_path, lines, labels=f"ph.csv:{column}"))
