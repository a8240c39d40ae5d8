"""Tables of categories written as texts, in the formats that can hold them."""

import gzip

import numpy as np
import pandas as pd
import polars as pl
import pytest

import bayesieve as bs
from bayesieve.io import read_table
from bayesieve.models import CategoricalModel

N, P = 30, 6
RNG = np.random.default_rng(11)
GENOTYPES = np.array(["AA", "AG", "GG", "NA"])[RNG.choice(4, size=(N, P), p=[0.4, 0.3, 0.2, 0.1])]
GENOTYPES[:, 5] = np.array(["0", "1"])[RNG.integers(0, 2, N)]  # one feature is coded in numbers
STAGE = np.array(["early", "late"])[np.arange(N) % 2]
SITE = np.array(["Oslo", "Bonn", "Rome"])[np.arange(N) // 10]
IDS = [f"s{i}" for i in range(N)]
SNPS = [f"rs{j}" for j in range(P)]


def frame():
    columns = {snp: GENOTYPES[:, j] for j, snp in enumerate(SNPS)}
    return pd.DataFrame({"id": IDS, "stage": STAGE, "site": SITE, **columns})


def rows(path, table):
    table.to_csv(path / "a.tsv", sep="\t", index=False)
    return path / "a.tsv"


def zipped(path, table):
    with gzip.open(path / "a.csv.gz", "wt", encoding="utf-8") as file:
        file.write(table.to_csv(index=False))
    return path / "a.csv.gz"


def columns(path, table):
    table.set_index("id").T.to_csv(path / "c.csv", index_label="name")
    return path / "c.csv"


def parquet(path, table):
    pl.DataFrame({name: table[name].tolist() for name in table}).write_parquet(path / "a.parquet")
    return path / "a.parquet"


FORMATS = [rows, zipped, columns, parquet]


def check(counts, here):
    assert counts.levels == ("0", "1", "AA", "AG", "GG")
    assert counts.classes == ("early", "late")
    for k, label in enumerate(counts.classes):
        for m, level in enumerate(counts.levels):
            expected = (GENOTYPES[here & (label == STAGE)] == level).sum(axis=0)
            np.testing.assert_array_equal(counts.table[k, m], expected)


@pytest.mark.parametrize("write", FORMATS)
@pytest.mark.parametrize("memory", [1, None])
def test_counts_of_every_format_against_numpy(tmp_path, write, memory, monkeypatch):
    monkeypatch.setattr("bayesieve.io.text.reader.samples_per_chunk", lambda n_features: 8)
    found = read_table(
        write(tmp_path, frame()), labels="stage", blocks="site", model=CategoricalModel(), missing="omit",
        memory=memory,
    )  # fmt: skip
    assert found.feature_names == tuple(SNPS)
    check(found.statistics, np.full(N, True))
    assert list(found.blocked) == ["Bonn", "Oslo", "Rome"]
    for name, counts in found.blocked.items():
        check(counts, name == SITE)
    assert found.missing.total == (GENOTYPES == "NA").sum()


@pytest.mark.parametrize("write", FORMATS)
def test_a_second_look_gives_positions_among_all_levels(tmp_path, write, monkeypatch):
    monkeypatch.setattr("bayesieve.io.text.reader.samples_per_chunk", lambda n_features: 8)
    found = read_table(
        write(tmp_path, frame()),
        labels="stage",
        model=CategoricalModel(),
        missing="omit",
        ignore=["site"],
        memory=1,
    )
    levels = np.array([*found.statistics.levels, "NA"])
    blocks = list(found.blocks(np.arange(P)))
    seen = np.concatenate([block.values for block in blocks], axis=1 if found.chunks.whole_features else 0)
    np.testing.assert_array_equal(levels[seen], GENOTYPES)


@pytest.mark.parametrize("write", FORMATS)
def test_missing_values_are_an_error_with_a_place(tmp_path, write):
    with pytest.raises(bs.MissingValueError, match=r"holds \d+ missing value") as error:
        read_table(write(tmp_path, frame()), labels="stage", model=CategoricalModel(), ignore=["site"])
    assert "sample 's" in str(error.value)


@pytest.mark.parametrize("write", FORMATS)
def test_labels_of_another_file(tmp_path, write):
    frame()[["id", "stage", "site"]].iloc[1:].to_csv(tmp_path / "pheno.csv", index=False)
    found = read_table(
        write(tmp_path, frame()[["id", *SNPS]]), labels=f"{tmp_path / 'pheno.csv'}:stage",
        blocks=f"{tmp_path / 'pheno.csv'}:site", model=CategoricalModel(), missing="omit",
    )  # fmt: skip
    check(found.statistics, np.arange(N) > 0)


def test_numbers_stay_numbers_unless_levels_are_texts(tmp_path):
    table = frame()[["id", "stage", "rs5"]]
    assert read_table(rows(tmp_path, table), labels="stage", model=CategoricalModel()).statistics.levels == (0, 1)
    texts = CategoricalModel(levels=["0", "1", "2"])
    for write in FORMATS:
        found = read_table(write(tmp_path, table), labels="stage", model=texts)
        assert found.statistics.levels == ("0", "1", "2")
        np.testing.assert_array_equal(
            found.statistics.table.sum(axis=(0, 2)), [*np.bincount(GENOTYPES[:, 5] == "1"), 0]
        )


@pytest.mark.parametrize("write", FORMATS)
def test_declared_levels(tmp_path, write):
    model = CategoricalModel(levels=["GG", "AG", "AA", "TT"])
    table = frame()[["id", "stage", *SNPS[:5]]]
    found = read_table(write(tmp_path, table), labels="stage", model=model, missing="omit")
    assert found.statistics.levels == ("GG", "AG", "AA", "TT")
    for m, level in enumerate(found.statistics.levels):
        np.testing.assert_array_equal(
            found.statistics.table[:, m].sum(axis=0), (GENOTYPES[:, :5] == level).sum(axis=0)
        )
    with pytest.raises(
        bs.DataError, match=r"not among the declared levels \['GG', 'AG'\]: 'AA', the first at sample"
    ):
        read_table(
            write(tmp_path, table), labels="stage", model=CategoricalModel(levels=["GG", "AG"]), missing="omit"
        )


def test_spellings_of_missing_values(tmp_path):
    table = frame()
    table.loc[0, "rs0"], table.loc[1, "rs0"], table.loc[2, "rs0"] = ".", "./.", "-"
    found = read_table(
        rows(tmp_path, table), labels="stage", model=CategoricalModel(), missing="omit", na_values=["./."],
        ignore=["site"],
    )  # fmt: skip
    assert found.statistics.levels == ("-", "0", "1", "AA", "AG", "GG")


def test_a_column_of_names_is_no_category(tmp_path):
    n = 200
    table = pd.DataFrame(
        {
            "id": range(n),
            "y": ["a", "b"] * (n // 2),
            "name": [f"n{i}" for i in range(n)],
            "rs1": ["AA", "AG"] * 100,
        }
    )
    path = rows(tmp_path, table)
    with pytest.raises(bs.DataError, match="take more than 64 different values, the first is 'name' with 200"):
        read_table(path, labels="y", model=CategoricalModel())
    found = read_table(path, labels="y", model=CategoricalModel(), ignore=["name"])
    assert found.feature_names == ("rs1",)


def test_categories_are_not_transformed(tmp_path):
    with pytest.raises(bs.OptionError, match="Categories cannot be transformed"):
        read_table(rows(tmp_path, frame()), labels="stage", model=CategoricalModel(), transform="log2")


def test_a_gaussian_screen_leaves_texts_out(tmp_path):
    table = frame().assign(psa=np.arange(N))
    found = read_table(rows(tmp_path, table), labels="stage")
    assert found.feature_names == ("rs5", "psa")
