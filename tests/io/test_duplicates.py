"""Features whose id occurs several times."""

from __future__ import annotations

import anndata as ad
import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from commands import inside
from hypothesis import given, strategies as st

import bayesieve as bs
from bayesieve.io.tables.duplicates import number_names

RNG = np.random.default_rng(3)
IDS = ["A", "B", "A", "C", "B", "A", "A.2"]
VALUES = RNG.normal(6.0, 1.0, size=(20, 7)).round(3)
VALUES[10:, 0] += 4.0
LABELS = ["ctl"] * 10 + ["case"] * 10
SAMPLES = [f"s{i}" for i in range(20)]
MEANS = {name: VALUES[:, [k for k, each in enumerate(IDS) if each == name]].mean(axis=1) for name in "ABC"}
MEANS["A.2"] = VALUES[:, 6]


def write(folder, form):
    """The table in a format, and what read_table takes for it."""
    labels = folder / "labels.csv"
    labels.write_text("id,grp\n" + "".join(f"{s},{c}\n" for s, c in zip(SAMPLES, LABELS, strict=True)))
    by_file = {"labels": f"{labels}:grp"}
    across = pd.DataFrame(VALUES.T, columns=SAMPLES)
    across.insert(0, "gene", IDS)
    if form == "rows":
        path = folder / "t.csv"
        lines = [",".join(["id", "grp", *IDS])]
        rows = zip(SAMPLES, LABELS, VALUES.tolist(), strict=True)
        lines += [",".join([s, c, *map(str, row)]) for s, c, row in rows]
        path.write_text("\n".join(lines) + "\n")
        return path, {"labels": "grp"}
    if form == "columns":
        across.to_csv(folder / "t.tsv", sep="\t", index=False)
        return folder / "t.tsv", by_file
    if form == "parquet":
        pl.from_pandas(across).write_parquet(folder / "t.parquet")
        return folder / "t.parquet", by_file
    values = {"csr": sp.csr_matrix, "csc": sp.csc_matrix}.get(form, np.asarray)(VALUES)
    var = pd.DataFrame(index=IDS)
    with pytest.warns(UserWarning, match="not unique"):
        adata = ad.AnnData(values, obs=pd.DataFrame({"grp": LABELS}, index=SAMPLES), var=var)
    adata.write_h5ad(folder / "t.h5ad")
    return folder / "t.h5ad", {"labels": "grp"}


FORMS = ["rows", "columns", "parquet", "dense", "csr", "csc"]


@pytest.mark.parametrize("form", FORMS)
def test_numbers_tell_features_apart(tmp_path, form):
    path, options = write(tmp_path, form)
    table = bs.read_table(path, **options)
    assert table.feature_names == ("A", "B", "A.3", "C", "B.2", "A.4", "A.2")
    np.testing.assert_allclose(table.moments.mean[1], VALUES[:10].mean(axis=0), rtol=1e-12)
    said = " ".join(str(message) for message in table.record.messages())
    assert "2 feature ids occur more than once: A (3 times), B (2 times)." in said
    assert bs.screen(table, shuffles=0).names[0] == "A"


@pytest.mark.parametrize("transform", ["none", "rank-normal", "log1p"])
@pytest.mark.parametrize("form", FORMS)
def test_means(tmp_path, form, transform):
    path, options = write(tmp_path, form)
    table = bs.read_table(path, duplicates="mean", transform=transform, **options)
    assert sorted(table.feature_names) == ["A", "A.2", "B", "C"]
    given = np.stack([MEANS[name] for name in table.feature_names], axis=1)
    plain = tmp_path / "plain.csv"
    frame = pd.DataFrame(given, columns=[f"g{k}" for k in range(4)]).assign(grp=LABELS)
    frame.to_csv(plain, index=False)
    wanted = bs.read_table(plain, labels="grp", transform=transform)
    np.testing.assert_allclose(table.moments.mean, wanted.moments.mean, rtol=1e-10)
    np.testing.assert_allclose(table.moments.centred_squares, wanted.moments.centred_squares, rtol=1e-8)
    said = " ".join(str(message) for message in table.record.messages())
    assert "Of the 5 features each sample has the mean." in said


@pytest.mark.parametrize("form", FORMS)
def test_an_error_on_demand(tmp_path, form):
    path, options = write(tmp_path, form)
    with pytest.raises(
        bs.FileError, match=r"feature ids must be distinct, but 2 of them are repeated: 'A' \(3 times"
    ):
        bs.read_table(path, duplicates="error", **options)


def test_a_mean_leaves_missing_values_out(tmp_path):
    (tmp_path / "t.csv").write_text("id,y,a,a,b\n1,p,1,,4\n2,p,3,5,6\n3,q,,,7\n4,q,8,9,1\n")
    table = bs.read_table(tmp_path / "t.csv", labels="y", duplicates="mean", missing="omit")
    assert table.moments.mean.tolist() == [[2.5, 5.0], [8.5, 4.0]]


def test_the_mean_of_counts_is_no_count(tmp_path):
    path, options = write(tmp_path, "rows")
    with pytest.raises(bs.OptionError, match="PoissonModel takes counts or categories"):
        bs.read_table(path, duplicates="mean", model=bs.PoissonModel(), **options)


def test_labels_and_ids_are_named_once(tmp_path):
    (tmp_path / "t.csv").write_text("id,y,y,b\n1,p,1,4\n2,p,3,6\n3,q,2,7\n4,q,8,1\n")
    with pytest.raises(bs.FileError, match=r"column names must be distinct.*'y' \(2 times\)"):
        bs.read_table(tmp_path / "t.csv", labels="y")


def test_all_features_of_an_ignored_name_are_left_out(tmp_path):
    path, options = write(tmp_path, "rows")
    assert bs.read_table(path, ignore=["A"], **options).feature_names == ("B", "C", "B.2", "A.2")


@given(st.lists(st.sampled_from(["a", "a.2", "a.3", "a.2.2", "b", "b.2", ""]), max_size=12))
def test_numbered_names_are_distinct_and_first_ones_stay(ids):
    names, repeated = number_names(ids)
    assert len(set(names)) == len(names) == len(ids)
    assert all(names[ids.index(name)] == name for name in ids)
    assert repeated == {name: ids.count(name) for name in ids if ids.count(name) > 1}
    assert all(made == name or made.startswith(f"{name}.") for made, name in zip(names, ids, strict=True))


def test_numbers_are_no_names_that_sites_share(tmp_path, capfd, monkeypatch):
    path, _ = write(tmp_path, "rows")
    to = ["stats", path, "-l", "grp", "-o", tmp_path / "a.stats.parquet", "--min-cell", "1"]
    result = inside(capfd, monkeypatch, *to)
    assert result.code == 0
    assert "2 feature ids are repeated and told apart by their order in this table" in result.said
    assert "--duplicates mean at every site" in result.said
    again = inside(capfd, monkeypatch, *to, "--duplicates", "mean")
    assert again.code == 0
    assert "told apart" not in again.said
