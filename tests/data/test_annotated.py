"""AnnData objects as they are in memory, as views and in files."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import bayesieve as bs
from bayesieve.data import annotated, is_annotated, obs_column

anndata = pytest.importorskip("anndata")
pd = pytest.importorskip("pandas")

N, F = 24, 6


def made(form="dense", seed=0):
    """Counts of 24 cells, two conditions, three batches; with a layer and raw values of other features."""
    rng = np.random.default_rng(seed)
    counts = rng.poisson(3.0, size=(N, F)).astype(np.float32)
    held = {"dense": np.asarray, "csr": sp.csr_matrix, "csc": sp.csc_matrix}[form]
    obs = pd.DataFrame(
        {
            "condition": pd.Categorical(["well", "sick"] * (N // 2)),
            "batch": ["one", "two", "three"] * (N // 3),
            "age": rng.normal(50, 5, N),
        },
        index=[f"cell{i}" for i in range(N)],
    )
    var = pd.DataFrame({"highly": [True, False] * (F // 2)}, index=[f"gene{j}" for j in range(F)])
    adata = anndata.AnnData(held(counts), obs=obs, var=var)
    adata.raw = adata
    adata.X = held(np.log1p(counts))
    adata.layers["counts"] = held(counts)
    return adata, counts


def dense(values):
    return values.toarray() if sp.issparse(values) else values


@pytest.mark.parametrize("form", ["dense", "csr", "csc"])
def test_values_and_names(form):
    adata, counts = made(form)
    found = annotated(adata)
    assert is_annotated(adata)
    assert is_annotated(found)
    assert annotated(found) is found
    assert found.feature_names == tuple(adata.var_names)
    assert found.sample_names == tuple(adata.obs_names)
    assert found.shape == (N, F)
    np.testing.assert_array_equal(dense(found.values), np.log1p(counts))
    for options in ({"layer": "counts"}, {"layer": "raw"}, {"use_raw": True}):
        np.testing.assert_array_equal(dense(annotated(adata, **options).values), counts)


@pytest.mark.parametrize("form", ["dense", "csr", "csc"])
def test_views_become_plain(form):
    adata, counts = made(form)
    part = adata[[5, 3, 9], [4, 0]]
    found = annotated(part, layer="counts")
    np.testing.assert_array_equal(dense(found.values), counts[np.ix_([5, 3, 9], [4, 0])])
    assert type(found.values).__module__.startswith(("numpy", "scipy.sparse"))
    assert found.sample_names == ("cell5", "cell3", "cell9")
    assert found.column("condition").tolist() == adata.obs["condition"].iloc[[5, 3, 9]].tolist()


@pytest.mark.parametrize("form", ["dense", "csr", "csc"])
def test_backed_files_are_read(form, tmp_path):
    adata, counts = made(form)
    adata.write_h5ad(tmp_path / "cells.h5ad")
    backed = anndata.read_h5ad(tmp_path / "cells.h5ad", backed="r")
    try:
        for options in ({}, {"layer": "counts"}, {"use_raw": True}):
            wanted = counts if options else np.log1p(counts)
            np.testing.assert_array_equal(dense(annotated(backed, **options).values), wanted)
        np.testing.assert_array_equal(dense(annotated(backed[3:9]).values), np.log1p(counts[3:9]))
    finally:
        backed.file.close()


@pytest.mark.filterwarnings("ignore:Writing zarr v2")
@pytest.mark.parametrize("form", ["dense", "csr"])
def test_elements_in_a_zarr_store_are_read(form, tmp_path):
    zarr = pytest.importorskip("zarr")
    adata, counts = made(form)
    adata.write_zarr(tmp_path / "cells.zarr")
    store = zarr.open_group(str(tmp_path / "cells.zarr"), mode="r")
    held = store["layers"]["counts"] if form == "dense" else anndata.io.sparse_dataset(store["layers"]["counts"])
    adata = anndata.AnnData(obs=adata.obs, var=adata.var, layers={"counts": held})
    np.testing.assert_array_equal(dense(annotated(adata, layer="counts").values), counts)


def test_chosen_features():
    adata, counts = made()
    for mask in ("highly", adata.var["highly"].to_numpy(), adata.var["highly"]):
        found = annotated(adata, layer="counts", mask_var=mask)
        assert found.feature_names == ("gene0", "gene2", "gene4")
        np.testing.assert_array_equal(found.values, counts[:, ::2])
    for mask, words in (("highy", "Did you mean 'highly'"), ([True], "6 features"), ([False] * F, "no feature")):
        with pytest.raises(bs.OptionError, match=words):
            annotated(adata, mask_var=mask)


def test_columns_are_plain():
    adata, _ = made()
    adata.obs["flag"] = pd.array([True, None] * (N // 2), dtype="boolean")
    adata.obs["gap"] = pd.Categorical(["a", None] * (N // 2))
    assert obs_column(adata, "condition").tolist() == ["well", "sick"] * (N // 2)
    assert obs_column(adata, "age").dtype == np.float64
    assert obs_column(adata, "flag").tolist() == [True, None] * (N // 2)
    assert obs_column(adata, "gap").tolist() == ["a", None] * (N // 2)


def test_what_is_not_there_is_said():
    adata, _ = made()
    with pytest.raises(bs.LabelError, match=r"no column 'conditon'\. Did you mean 'condition'\? .*"
                       r"'condition' \(sick 12, well 12\), 'batch' \(one 8, three 8, two 8\)"):  # fmt: skip
        obs_column(adata, "conditon")
    with pytest.raises(bs.OptionError, match=r"no layer 'count'\. Did you mean 'counts'\? It has: 'counts', 'r"):
        annotated(adata, layer="count")
    with pytest.raises(bs.OptionError, match="different values"):
        annotated(adata, layer="counts", use_raw=True)
    bare = anndata.AnnData(obs=adata.obs[[]], var=adata.var, layers=dict(adata.layers))
    with pytest.raises(bs.DataError, match=r"no X\. Name one of its layers: layer='counts'"):
        annotated(bare)
    with pytest.raises(bs.OptionError, match=r"adata\.raw is None"):
        annotated(bare, use_raw=True)
    with pytest.raises(bs.LabelError, match="no columns at all"):
        obs_column(bare, "condition")
    with pytest.raises(bs.DataError, match="ndarray is none"):
        annotated(np.zeros((2, 2)))
    with pytest.raises(bs.OptionError, match="taken already"):
        annotated(annotated(adata), layer="counts")


def test_a_view_of_a_file_is_recognised_without_reading_it(tmp_path, monkeypatch):
    adata, _ = made()
    monkeypatch.setattr(type(adata), "X", property(lambda self: pytest.fail("values were read")))
    assert is_annotated(adata)
