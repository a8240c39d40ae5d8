"""Markers of clusters where scanpy looks for them: its schema, and its own functions on what is written."""

from __future__ import annotations

import anndata
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import bayesieve as bs

TYPES = {
    "names": "O", "scores": "float32", "logfoldchanges": "float32", "pvals": "float64", "pvals_adj": "float64",
}  # fmt: skip
PARAMS = {"groupby", "reference", "method", "use_raw", "layer", "corr_method"}
CLUSTERS = ["T/CD4", "B", "NK cells"]  # the order of the categories, not of the alphabet


@pytest.fixture
def adata(rng):
    cluster = pd.Categorical(rng.choice(CLUSTERS, 150), categories=CLUSTERS)
    counts = rng.poisson(np.exp(rng.normal(0.0, 0.7, 30)), (150, 30))
    counts[cluster == "B", 3] += rng.poisson(6.0, (cluster == "B").sum())
    counts[cluster == "T/CD4", 4] = 0
    obs = pd.DataFrame({"leiden": cluster}, index=[f"cell{i}" for i in range(150)])
    var = pd.DataFrame({"variable": np.arange(30) % 2 == 0}, index=[f"gene{j}" for j in range(30)])
    made = anndata.AnnData(sp.csr_matrix(np.log1p(counts).astype(np.float32)), obs=obs, var=var)
    made.layers["counts"] = sp.csr_matrix(counts)
    made.uns["log1p"] = {"base": None}
    return made


def check_schema(found, clusters=CLUSTERS, n=30):
    assert set(found) == {"params", *TYPES}
    assert set(found["params"]) >= PARAMS
    for name, kind in TYPES.items():
        assert found[name].dtype.names == tuple(clusters)
        assert len(found[name]) == n
        if name != "names":  # texts come back from a file in a type of their own
            assert {found[name].dtype[k] for k in range(len(clusters))} == {np.dtype(kind)}


def test_schema(adata):
    assert bs.tl.rank_markers(adata, "leiden", shuffles=3) is None
    found = adata.uns["bayesieve"]
    check_schema(found)
    assert {found["names"].dtype[k] for k in range(3)} == {np.dtype("O")}
    assert found["params"]["groupby"] == "leiden"
    assert found["params"]["use_raw"] is False
    assert "no p-values" in found["params"]["pvals"]
    for cluster in CLUSTERS:
        assert (np.diff(found["scores"][cluster]) <= 0).all()
        size = np.abs(found["scores"][cluster]).astype(np.float64)
        np.testing.assert_allclose(found["pvals"][cluster], np.exp(-size), rtol=1e-4)
    assert found["names"]["B"][0] == "gene3"
    assert found["names"]["T/CD4"][-1] == "gene4"
    assert found["logfoldchanges"]["T/CD4"][-1] < -5


def test_numbers_are_those_of_screen_groups(adata):
    bs.tl.rank_markers(adata, "leiden", shuffles=2, key_added="ours")
    markers = bs.screen_groups(adata, "leiden", log_scale="log1p", shuffles=2)
    where = {name: j for j, name in enumerate(markers.feature_names)}
    found = adata.uns["ours"]
    for i, (cluster, _) in enumerate(markers.comparisons):
        rows = [where[name] for name in found["names"][cluster]]
        np.testing.assert_array_equal(found["scores"][cluster], markers.score[i, rows].astype(np.float32))
        np.testing.assert_array_equal(found["pvals"][cluster], markers.local_fdr[i, rows])
        np.testing.assert_array_equal(found["pvals_adj"][cluster], markers.expected_fdr[i, rows])
        column = cluster.replace("/", "|")
        np.testing.assert_array_equal(adata.varm["ours"][f"{column}: log_odds"], markers.log_odds[i])
        np.testing.assert_array_equal(adata.varm["ours"][f"{column}: selected"], markers.select().mask[i])


def test_some_groups_against_one(adata):
    bs.tl.rank_markers(adata, "leiden", ["B"], "NK cells", n_genes=5, shuffles=0)
    check_schema(adata.uns["bayesieve"], ["B"], 5)
    assert adata.uns["bayesieve"]["params"]["reference"] == "NK cells"
    bs.tl.rank_markers(adata, "leiden", n_genes=3, rankby_abs=True, shuffles=0)
    assert adata.uns["bayesieve"]["names"]["T/CD4"][0] == "gene4"
    assert adata.uns["bayesieve"]["scores"]["T/CD4"][0] < 0


def test_copies_masks_layers_and_raw(adata):
    other = bs.tl.rank_markers(adata, "leiden", mask_var="variable", copy=True, shuffles=0)
    assert "bayesieve" not in adata.uns
    assert set(other.uns["bayesieve"]["names"]["B"]) == set(adata.var_names[::2])
    assert other.varm["bayesieve"]["B: log_odds"].isna().tolist() == [j % 2 == 1 for j in range(30)]
    assert not other.varm["bayesieve"]["B: selected"].iloc[1]
    with pytest.warns(bs.DataWarning) as said:
        bs.tl.rank_markers(adata, "leiden", layer="counts", shuffles=0)
    assert any("log fold changes are left empty" in str(each.message) for each in said)
    assert np.isnan(adata.uns["bayesieve"]["logfoldchanges"]["B"]).all()
    adata.raw = adata
    few = adata[:, :10].copy()
    bs.tl.rank_markers(few, "leiden", shuffles=0)
    assert few.uns["bayesieve"]["params"]["use_raw"] is True
    check_schema(few.uns["bayesieve"])
    assert few.varm["bayesieve"].shape[0] == 10


def test_refusals(adata):
    with pytest.raises(bs.OptionError, match=r"screen_groups\(adata, groupby, reference='each'\)"):
        bs.tl.rank_markers(adata, "leiden", reference="each")
    with pytest.raises(bs.DataError, match=r"AnnData object, not into ndarray.*screen_groups"):
        bs.tl.rank_markers(np.ones((3, 2)), "leiden")
    with pytest.raises(bs.OptionError, match=r"write \['B'\]"):
        bs.tl.rank_markers(adata, "leiden", "B")
    with pytest.raises(bs.LabelError, match="no column 'louvain'"):
        bs.tl.rank_markers(adata, "louvain")


def test_files_keep_the_schema(adata, tmp_path):
    bs.tl.rank_markers(adata, "leiden", shuffles=0)
    adata.write_h5ad(tmp_path / "cells.h5ad")
    back = anndata.read_h5ad(tmp_path / "cells.h5ad")
    before, after = adata.uns["bayesieve"], back.uns["bayesieve"]
    check_schema({**after, "params": {"layer": None, **after["params"]}})  # None is not stored
    for name in TYPES:
        for cluster in CLUSTERS:
            np.testing.assert_array_equal(
                after[name][cluster].astype(before[name][cluster].dtype), before[name][cluster]
            )
    pd.testing.assert_frame_equal(back.varm["bayesieve"], adata.varm["bayesieve"], check_names=False)


@pytest.mark.filterwarnings("ignore")  # those of scanpy and its libraries
@pytest.mark.parametrize("stored", [False, True])
def test_scanpy_reads_it(adata, tmp_path, stored):
    sc = pytest.importorskip("scanpy")
    plt = pytest.importorskip("matplotlib.pyplot")
    plt.switch_backend("Agg")
    adata.X = adata.X.toarray()  # scanpy's dendrogram of few genes wants it so
    sc.tl.rank_genes_groups(adata, "leiden", method="t-test", key_added="scanpy")
    bs.tl.rank_markers(adata, "leiden", shuffles=0)
    if stored:
        adata.write_h5ad(tmp_path / "cells.h5ad")
        adata = anndata.read_h5ad(tmp_path / "cells.h5ad")
    ours, theirs = (
        sc.get.rank_genes_groups_df(adata, None, key=key).set_index(["group", "names"])
        for key in ("bayesieve", "scanpy")
    )
    assert list(ours.columns) == list(theirs.columns)
    theirs = theirs.loc[ours.index]
    finite = np.abs(theirs.logfoldchanges) < 20
    np.testing.assert_allclose(ours.logfoldchanges[finite], theirs.logfoldchanges[finite], atol=1e-4)
    assert (np.sign(ours.scores) == np.sign(theirs.scores))[np.abs(theirs.scores) > 0.01].all()
    assert ours.scores.corr(theirs.scores, method="spearman") > 0.9
    for name in TYPES:
        mine, other = adata.uns["bayesieve"][name], adata.uns["scanpy"][name]
        assert mine.dtype == other.dtype
    assert set(adata.uns["scanpy"]["params"]) <= set(adata.uns["bayesieve"]["params"])
    for plot in ("", "_dotplot", "_matrixplot", "_heatmap", "_stacked_violin", "_violin"):
        getattr(sc.pl, f"rank_genes_groups{plot}")(adata, n_genes=3, key="bayesieve", show=False)
        plt.close("all")
    sc.tl.filter_rank_genes_groups(adata, key="bayesieve", min_fold_change=0.5)
