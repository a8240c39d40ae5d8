"""Columns of numbers that describe the samples."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from commands import inside

import bayesieve as bs

N = 20
RNG = np.random.default_rng(2)
FRAME = pl.DataFrame({f"g{j}": RNG.normal(7, 1, N).round(3) for j in range(6)})
FRAME = FRAME.insert_column(0, pl.Series("sample", [f"s{i}" for i in range(N)]))
FRAME = FRAME.insert_column(1, pl.Series("grp", ["ctl"] * 10 + ["case"] * 10))
GENES = tuple(f"g{j}" for j in range(6))
AGES = RNG.integers(30, 80, N)


def write(folder, name="t.csv", **columns):
    frame = FRAME.with_columns(**{key: pl.Series(value) for key, value in columns.items()})
    getattr(frame, "write_csv" if name.endswith("csv") else "write_parquet")(folder / name)
    return folder / name


def notes(table):
    return " ".join(str(message) for message in table.record.messages() if message.kind == "metadata")


@pytest.mark.parametrize("name", ["t.csv", "t.parquet"])
def test_what_is_certain_is_left_out_and_said(tmp_path, name):
    path = write(tmp_path, name, case=[0] * 10 + [1] * 10, patient_id=RNG.permutation(N) + 1000)
    table = bs.read_table(path, labels="grp")
    assert table.feature_names == GENES
    assert "2 columns of numbers are about the samples and no features" in notes(table)
    assert "'case' (the labels again)" in notes(table)
    assert "'patient_id' (numbers of the samples)" in notes(table)
    assert "keep=['case']" in notes(table)
    assert "case" not in str(table.chunks.table.left_out)
    kept = bs.read_table(path, labels="grp", keep=["case", "patient_id"])
    assert kept.feature_names == (*GENES, "case", "patient_id")
    assert not notes(kept)


def test_columns_of_the_label_file_are_left_out_if_they_hold_the_same(tmp_path):
    path = write(tmp_path, psa=AGES / 10, g9=AGES)
    sheet = "sample,stage,psa,g9\n" + "".join(
        f"s{i},{'ab'[i % 2]},{AGES[i] / 10},{i % 3}\n" for i in reversed(range(N))
    )
    (tmp_path / "ph.csv").write_text(sheet)
    table = bs.read_table(path, labels=f"{tmp_path / 'ph.csv'}:stage")
    assert table.feature_names == (*GENES, "g9")  # a gene of the same name with other values stays
    assert f"'psa' (also in {tmp_path / 'ph.csv'})" in notes(table)


@pytest.mark.parametrize("name", ["age", "BMI", "age_at_diagnosis", "Age (years)", "Batch", "patient.sex"])
def test_what_is_probable_is_warned_about(tmp_path, name):
    path = write(tmp_path, **{name: AGES})
    with pytest.warns(bs.DataWarning, match="1 column of numbers is screened as a feature but seems to describe"):
        table = bs.read_table(path, labels="grp")
    assert table.feature_names == (*GENES, name)
    assert bs.read_table(path, labels="grp", ignore=[name]).feature_names == GENES
    assert bs.read_table(path, labels="grp", keep=[name]).feature_names == (*GENES, name)


def test_names_that_only_resemble(tmp_path):
    others = {"Sex hormone-binding globulin": AGES, "AGER": AGES, "STAGE1": AGES, "WEIGHTED": AGES, "ID1": AGES}
    assert len(bs.read_table(write(tmp_path, **others), labels="grp").feature_names) == 11


def test_a_perfect_marker_among_mutations_is_no_repetition_of_the_labels(tmp_path):
    flags = {f"m{j}": RNG.integers(0, 2, N) for j in range(6)}
    frame = FRAME.select("sample", "grp").with_columns(**{k: pl.Series(v) for k, v in flags.items()})
    frame = frame.with_columns(hit=pl.Series([0] * 10 + [1] * 10))
    frame.write_csv(tmp_path / "t.csv")
    with pytest.warns(bs.DataWarning, match="'hit'"):
        table = bs.read_table(tmp_path / "t.csv", labels="grp")
    assert "hit" in table.feature_names


def test_rows_of_a_table_with_samples_in_columns(tmp_path):
    across = FRAME.drop("grp", "sample").transpose(column_names=[f"s{i}" for i in range(N)])
    across = across.insert_column(0, pl.Series("gene", GENES))
    age = pl.DataFrame([["age", *map(float, AGES)]], schema=across.columns, orient="row")
    pl.concat([across, age]).write_csv(tmp_path / "t.csv")
    (tmp_path / "ph.csv").write_text("id,grp\n" + "".join(f"s{i},{'ab'[i // 10]}\n" for i in range(N)))
    with pytest.warns(bs.DataWarning, match="'age'"):
        bs.read_table(tmp_path / "t.csv", labels=f"{tmp_path / 'ph.csv'}:grp")


def test_categories_about_the_samples_are_what_is_compared(tmp_path):
    path = write(tmp_path, smoker=[0, 1] * 10, age=AGES)
    table = bs.read_table(path, labels="grp", model=bs.CategoricalModel(), ignore=GENES)
    assert table.feature_names == ("smoker", "age")


def test_the_command_names_its_options(tmp_path, capfd, monkeypatch):
    path = write(tmp_path, age=AGES, bmi=AGES, code=[0] * 10 + [1] * 10)
    result = inside(capfd, monkeypatch, "screen", path, "-l", "grp", "--shuffles", "0")
    assert result.code == 0
    assert "leave them out: --ignore age --ignore bmi; if not, say --keep age --keep bmi." in result.said
    assert "'code' (the labels again). To screen one all the same, say --keep code." in result.said
    again = inside(
        capfd, monkeypatch, "screen", path, "-l", "grp", "--shuffles", "0", "--keep", "age", "--keep", "bmi"
    )
    assert "warning" not in again.said
    assert "age" in again.out
