"""Files as Excel, R and pandas leave them, and what must not happen silently."""

from __future__ import annotations

import csv
import io
import re

import numpy as np
import pytest
import scipy.sparse as sp
from jeffreys import screen

import bayesieve as bs

RNG = np.random.default_rng(7)
VALUES = np.round(RNG.normal(5, 1, size=(24, 6)), 3)
VALUES[12:, 0] += 4
IDS = [f"S{i + 1}" for i in range(24)]
LABELS = ["ctl"] * 12 + ["case"] * 12
GENES = [f"g{j}" for j in range(6)]


def rows_of(values, ids=IDS, labels=LABELS, genes=GENES, sep=","):
    lines = [sep.join(["id", "grp", *genes])]
    lines += [sep.join([a, b, *map(str, row)]) for a, b, row in zip(ids, labels, values.tolist(), strict=True)]
    return "\n".join(lines) + "\n"


def columns_of(values, ids=IDS, genes=GENES):
    lines = [",".join(["gene", *ids])]
    lines += [",".join([gene, *map(str, row)]) for gene, row in zip(genes, values.T.tolist(), strict=True)]
    return "\n".join(lines) + "\n"


def read(folder, text, name="t.csv", **options):
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return bs.read_table(path, **options)


def assert_whole(table, classes=("case", "ctl")):
    assert table.moments.classes == classes
    assert table.class_counts == {"case": 12, "ctl": 12}
    assert table.feature_names == tuple(GENES)
    np.testing.assert_allclose(table.moments.mean[1], VALUES[:12].mean(axis=0), rtol=1e-12)


def test_an_index_that_pandas_wrote_does_not_pass_for_the_ids(tmp_path):
    """Running numbers match numeric ids as well as the right column does."""
    order = RNG.permutation(24)
    labels = io.StringIO()
    writer = csv.writer(labels)
    writer.writerow(["", "patient", "grp"])
    writer.writerows([[k, int(i), LABELS[i]] for k, i in enumerate(order)])
    (tmp_path / "ph.csv").write_text(labels.getvalue())
    text = (
        rows_of(VALUES, ids=[str(i) for i in range(24)])
        .replace("id,grp,", "id,note,")
        .replace("ctl", "x")
        .replace("case", "y")
    )
    assert_whole(read(tmp_path, text, labels=f"{tmp_path / 'ph.csv'}:grp"))


def test_two_columns_that_know_all_ids_are_not_chosen_between(tmp_path):
    lines = ["run,patient,grp", *(f"{i},{23 - i},{LABELS[i]}" for i in range(24))]
    (tmp_path / "ph.csv").write_text("\n".join(lines))
    text = rows_of(VALUES, ids=[str(i) for i in range(24)], labels=["x"] * 24).replace("id,grp", "id,note")
    with pytest.raises(bs.FileError, match=r"'run', 'patient' know the same number of ids.*id_column='NAME'"):
        read(tmp_path, text, labels=f"{tmp_path / 'ph.csv'}:grp")
    table = read(tmp_path, text, labels=f"{tmp_path / 'ph.csv'}:grp", id_column="patient")
    np.testing.assert_allclose(table.moments.mean[1], VALUES[12:].mean(axis=0), rtol=1e-12)  # ids run backwards
    assert_whole(read(tmp_path, text, labels=f"{tmp_path / 'ph.csv'}:grp", id_column="run"))


def test_ids_in_rows_and_columns_alike_are_asked_about(tmp_path):
    values = RNG.normal(size=(24, 30))
    text = columns_of(values, [str(i) for i in range(24)], [str(j) for j in range(30)])
    (tmp_path / "ph.csv").write_text("id,grp\n" + "".join(f"{i},{LABELS[i]}\n" for i in range(24)))
    with pytest.raises(bs.OptionError, match="samples_in='rows' or 'columns'"):
        read(tmp_path, text, labels=f"{tmp_path / 'ph.csv'}:grp")
    table = read(tmp_path, text, labels=f"{tmp_path / 'ph.csv'}:grp", samples_in="columns")
    assert len(table.feature_names) == 30


@pytest.mark.parametrize("label", ["none", "None", "-", "."])
def test_words_that_stand_for_missing_values_may_be_classes(tmp_path, label):
    labels = [label if name == "ctl" else name for name in LABELS]
    table = read(tmp_path, rows_of(VALUES, labels=labels), labels="grp")
    assert table.class_counts == {label: 12, "case": 12}


def test_columns_with_decimal_commas_are_not_left_out_silently(tmp_path):
    lines = [line.split(";") for line in rows_of(VALUES, sep=";").split("\n")]
    for line in lines:
        line[2:4] = [cell.split(".")[0] for cell in line[2:4]]
        line[4:] = [re.sub(r"\.[0-9]+", ",125", cell) for cell in line[4:]]  # or are they thousands?
    halved = [";".join(line) for line in lines]
    with pytest.raises(bs.FileError, match=r"decimal commas: 'g2', 'g3', 'g4' and 1 more.*decimal=','"):
        read(tmp_path, "\n".join(halved), labels="grp")


@pytest.mark.parametrize("cell", ["{}%", "<{}", "{} %", "> {}"])
def test_numbers_with_signs_are_doubted(tmp_path, cell):
    lines = rows_of(VALUES).split("\n")
    text = (
        "\n".join([lines[0] + ",odd", *(f"{line},{cell.format(k)}" for k, line in enumerate(lines[1:-1]))]) + "\n"
    )
    with pytest.warns(bs.DataWarning, match="'odd'"):
        table = read(tmp_path, text, labels="grp")
    assert table.chunks.table.left_out == {"not numeric": ["odd"]}


def test_plain_text_columns_are_left_out_without_a_warning(tmp_path):
    lines = rows_of(VALUES).split("\n")
    text = "\n".join([lines[0] + ",site", *(f"{line},Oslo {k}a" for k, line in enumerate(lines[1:-1]))]) + "\n"
    assert_whole(read(tmp_path, text, labels="grp"))


@pytest.mark.parametrize("name", ["PatNo", "anything"])
def test_a_running_number_is_an_id(tmp_path, name):
    text = rows_of(VALUES, ids=[str(i + 1) for i in range(24)]).replace("id,", f"{name},", 1)
    assert_whole(read(tmp_path, text, labels="grp"))


def test_text_rows_below_the_first_numbers_are_mistakes_wherever_they_are(tmp_path):
    lines = columns_of(VALUES).split("\n")
    lines[4] = ",".join(["g3", *["below LOD"] * 24])
    (tmp_path / "ph.csv").write_text("id,grp\n" + "".join(f"{i},{g}\n" for i, g in zip(IDS, LABELS, strict=True)))
    with pytest.raises(bs.FileError, match=r"line 5, feature 'g3'.*ignore=\['g3'\]"):
        read(tmp_path, "\n".join(lines), labels=f"{tmp_path / 'ph.csv'}:grp")
    table = read(tmp_path, "\n".join(lines), labels=f"{tmp_path / 'ph.csv'}:grp", ignore=["g3"])
    assert "g3" not in table.feature_names
    assert len(table.feature_names) == 5


def test_a_labelled_sample_of_text_is_a_mistake(tmp_path):
    lines = [line.split(",") for line in columns_of(VALUES).strip().split("\n")]
    for line in lines[1:]:
        line[3] = "failed"
    (tmp_path / "ph.csv").write_text("id,grp\n" + "".join(f"{i},{g}\n" for i, g in zip(IDS, LABELS, strict=True)))
    with pytest.raises(bs.FileError, match=r"hold text instead of numbers: 'S3'"):
        read(tmp_path, "\n".join(map(",".join, lines)), labels=f"{tmp_path / 'ph.csv'}:grp")


def test_numeric_rows_above_the_labels_are_doubted(tmp_path):
    lines = columns_of(VALUES).split("\n")
    lines[1:1] = [
        ",".join(["age", *map(str, range(30, 54))]),
        ",".join(["sex", *"fm" * 12]),
        ",".join(["grp", *LABELS]),
    ]
    with pytest.warns(bs.DataWarning, match=r"above 'grp' hold numbers and are taken for features: 'age'"):
        table = read(tmp_path, "\n".join(lines), labels="grp", keep=["age"])
    assert table.feature_names == ("age", *GENES)
    assert table.chunks.table.left_out == {"rows without numbers": ["sex"]}
    assert_whole(read(tmp_path, "\n".join(lines), labels="grp", ignore=["age"]))


def test_ids_that_differ_in_case_only_are_told_where_they_cannot_be_matched(tmp_path):
    ids = [name.replace("S", "S ") for name in IDS]
    lines = [f"{name.lower() if k % 2 else name},{LABELS[k]}" for k, name in enumerate(ids)]
    (tmp_path / "ph.csv").write_text("id,grp\n" + "\n".join([*lines, "s  2,ctl"]))  # there are two of them
    with pytest.warns(bs.DataWarning, match=r"12 samples .* another spelling, for example 'S 2' and 's  2'"):
        read(tmp_path, columns_of(VALUES, ids=ids), labels=f"{tmp_path / 'ph.csv'}:grp")


@pytest.mark.parametrize(("inside", "outside"), [("{}", "{}.0"), ("{}.0", "{}")])
def test_whole_numbers_written_with_a_point_are_the_same_ids(tmp_path, inside, outside):
    (tmp_path / "ph.csv").write_text(
        "id,grp\n" + "".join(f"{outside.format(i * 7)},{LABELS[i]}\n" for i in range(24))
    )
    ids = [inside.format(i * 7) for i in range(24)]
    for text in (rows_of(VALUES, ids=ids).replace(",grp", ",note"), columns_of(VALUES, ids=ids)):
        assert_whole(read(tmp_path, text, labels=f"{tmp_path / 'ph.csv'}:grp"))


def test_a_first_line_for_excel(tmp_path):
    assert_whole(read(tmp_path, "sep=;\n" + rows_of(VALUES, sep=";"), labels="grp"))


def test_a_label_file_as_r_writes_it(tmp_path):
    (tmp_path / "ph.txt").write_text(
        '"grp"\n' + "".join(f'"{i}" "{g}"\n' for i, g in zip(IDS, LABELS, strict=True))
    )
    assert_whole(read(tmp_path, columns_of(VALUES), labels=f"{tmp_path / 'ph.txt'}:grp"))


def test_empty_columns_and_rows_of_excel(tmp_path):
    (tmp_path / "ph.csv").write_text("id,grp\n" + "".join(f"{i},{g}\n" for i, g in zip(IDS, LABELS, strict=True)))
    for text, labels in ((rows_of(VALUES), "grp"), (columns_of(VALUES), f"{tmp_path / 'ph.csv'}:grp")):
        width = text.split("\n")[0].count(",")
        lines = [line + ",,," for line in text.strip().split("\n")]
        lines += ["," * (width + 3)] * 3
        assert_whole(read(tmp_path, "\n".join(lines) + "\n", labels=labels))


def test_thousands_and_repeated_headers_get_their_own_advice(tmp_path):
    lines = rows_of(VALUES, sep="\t").split("\n")
    cells = lines[5].split("\t")
    cells[4] = "1,036.8"
    with pytest.raises(bs.FileError, match=r"'1,036.8' is not a number. Marks between thousands"):
        read(tmp_path, "\n".join([*lines[:5], "\t".join(cells), *lines[6:]]), "t.tsv", labels="grp")
    with pytest.raises(bs.FileError, match=r"line 6.*The header seems to be repeated"):
        read(tmp_path, "\n".join([*lines[:5], lines[0], *lines[5:]]), "t.tsv", labels="grp")


def test_a_sparse_array_takes_labels_in_order(tmp_path):
    sp.save_npz(tmp_path / "t.npz", sp.csr_matrix(VALUES))
    (tmp_path / "ph.csv").write_text("n,grp\n" + "".join(f"{i},{g}\n" for i, g in enumerate(LABELS)))
    table = bs.read_table(tmp_path / "t.npz", labels=f"{tmp_path / 'ph.csv'}:grp")
    np.testing.assert_allclose(table.moments.mean[1], VALUES[:12].mean(axis=0), rtol=1e-12)


@pytest.mark.parametrize("form", ["dense", "csr", "csc"])
def test_features_without_variance_are_looked_at_again_in_h5ad(tmp_path, form):
    anndata = pytest.importorskip("anndata")
    values = VALUES.copy()
    values[:12, 1] = 3.0
    matrix = {"dense": values, "csr": sp.csr_matrix(values), "csc": sp.csc_matrix(values)}[form]
    data = anndata.AnnData(matrix)
    data.obs_names, data.var_names = IDS, GENES
    data.obs["grp"] = LABELS
    data.write_h5ad(tmp_path / "t.h5ad")
    with pytest.warns(bs.DegenerateFeatureWarning):
        found = screen(bs.read_table(tmp_path / "t.h5ad", labels="grp"))
    with pytest.warns(bs.DegenerateFeatureWarning):
        expected = screen(values, LABELS)
    np.testing.assert_allclose(found.log_odds, expected.log_odds, rtol=1e-10)
