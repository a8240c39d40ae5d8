"""Every door that takes a table and labels takes an AnnData object and names of its columns, and other frames."""

from __future__ import annotations

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

import bayesieve as bs
from bayesieve.data import annotated

anndata = pytest.importorskip("anndata")

N, F = 40, 12
RNG = np.random.default_rng(3)
COUNTS = RNG.poisson(4.0, size=(N, F)).astype(np.float32)
COUNTS[N // 2 :, 2] += 8
VALUES = np.log1p(COUNTS)
GENES = [f"gene{j}" for j in range(F)]
CONDITION = np.repeat(["control", "case"], N // 2)
BATCH = np.array(["one", "two"] * (N // 2))
PATIENT = np.array([*range(N // 2)] * 2)
DEPTH = RNG.uniform(0.5, 2.0, N)


def cells(form="dense"):
    held = {"dense": np.asarray, "csr": sp.csr_matrix, "csc": sp.csc_matrix}[form]
    obs = pd.DataFrame(
        {"condition": pd.Categorical(CONDITION), "batch": BATCH, "patient": PATIENT, "depth": DEPTH},
        index=[f"cell{i}" for i in range(N)],
    )
    return anndata.AnnData(
        held(VALUES), obs=obs, var=pd.DataFrame(index=GENES), layers={"counts": held(COUNTS)}
    )  # fmt: skip


def screened(X, y="condition", **options):
    return bs.screen(X, y, shuffles=0, **options)


@pytest.mark.parametrize("form", ["dense", "csr", "csc"])
def test_screen_by_names_of_columns(form):
    adata = cells(form)
    plain = sp.csr_matrix(VALUES) if form != "dense" else VALUES
    for ours, theirs in (
        ({}, {}),
        ({"blocks": "batch"}, {"blocks": BATCH}),
        ({"pairs": "patient"}, {"pairs": PATIENT}),
        ({"pairs": "patient", "blocks": "batch"}, {"pairs": PATIENT, "blocks": BATCH}),
    ):
        found = screened(adata, **ours)
        assert found.feature_names == tuple(GENES)
        np.testing.assert_allclose(found.log_odds, screened(plain, CONDITION, **theirs).log_odds, rtol=1e-12)
    model = bs.NegativeBinomialModel()
    found = screened(adata, layer="counts", exposures="depth", model=model)
    np.testing.assert_allclose(
        found.log_odds, screened(COUNTS, CONDITION, exposures=DEPTH, model=model).log_odds, rtol=1e-12
    )


def test_total_is_a_column_if_there_is_one_and_else_the_sum():
    adata, model = cells(), bs.PoissonModel()
    by_sum = screened(adata, layer="counts", exposures="total", model=model).log_odds
    np.testing.assert_array_equal(
        by_sum, screened(COUNTS, CONDITION, exposures=bs.size_factors(COUNTS), model=model).log_odds
    )
    np.testing.assert_array_equal(by_sum, screened(COUNTS, CONDITION, exposures="total", model=model).log_odds)
    adata.obs["total"] = DEPTH
    np.testing.assert_array_equal(
        screened(adata, layer="counts", exposures="total", model=model).log_odds,
        screened(COUNTS, CONDITION, exposures=DEPTH, model=model).log_odds,
    )


def test_labels_of_their_own_are_aligned():
    adata, order = cells(), RNG.permutation(N)
    expected = screened(adata).log_odds
    for labels in (CONDITION, adata.obs["condition"], adata.obs["condition"].iloc[order]):
        np.testing.assert_array_equal(screened(adata, labels).log_odds, expected)
    with pytest.raises(bs.LabelError, match="The index of y is not that of X"):
        screened(adata, adata.obs["condition"].iloc[1:])


def test_parts_views_and_files(tmp_path):
    adata = cells("csr")
    keep = RNG.permutation(N)[:30]
    expected = screened(VALUES[keep], CONDITION[keep]).log_odds
    np.testing.assert_allclose(screened(adata[keep]).log_odds, expected, rtol=1e-12)
    np.testing.assert_allclose(screened(adata[keep].X, CONDITION[keep]).log_odds, expected, rtol=1e-12)
    adata.write_h5ad(tmp_path / "cells.h5ad")
    backed = anndata.read_h5ad(tmp_path / "cells.h5ad", backed="r")
    try:
        for found in (screened(backed), screened(backed.X, backed.obs["condition"])):
            np.testing.assert_allclose(found.log_odds, screened(VALUES, CONDITION).log_odds, rtol=1e-12)
        np.testing.assert_allclose(screened(backed[np.sort(keep)]).log_odds, expected, rtol=1e-9)
    finally:
        backed.file.close()


def test_the_table_is_not_walked_row_by_row(monkeypatch):
    """NumPy takes an AnnData object for a sequence of rows, and each of its rows for another one."""
    rows = []
    kind = type(cells())
    taken = kind.__getitem__
    monkeypatch.setattr(kind, "__getitem__", lambda self, index: rows.append(index) or taken(self, index))
    adata = cells("csr")
    screened(adata)
    selector = bs.OBFSelector(shuffles=0).fit(adata, "condition")
    assert selector.transform(adata).shape == (N, 1)
    assert rows == []


@pytest.mark.parametrize(
    "door",
    [
        lambda X, y: bs.score(X, y, method="welch").score,
        lambda X, y: bs.score(X, y, method="wilcoxon").score,
        lambda X, y: bs.screen_pairs(X, y, shuffles=2).score,
        lambda X, y: bs.compare_methods(X, y, methods=["obf", "welch"]).ranks,
        lambda X, y: bs.LabelledMatrix.from_arrays(X, y).labels.codes,
        lambda X, y: bs.Moments.from_matrix(X, y).mean,
        lambda X, y: bs.fragility(X, y, posterior=screened(X, y)).least_log_odds,
        lambda X, y: bs.permutations(X, y, n_permutations=20, model=bs.GaussianModel.jeffreys()).p_value,
        lambda X, y: bs.OBFSelector(shuffles=0).fit(X, y).scores_,
    ],
    ids=lambda door: "_".join(door.__code__.co_names[:2]),
)
def test_other_doors(door):
    frame = pd.DataFrame(VALUES, columns=GENES)
    np.testing.assert_array_equal(door(cells(), "condition"), door(frame, CONDITION))


def test_counts_and_categories_by_other_doors():
    adata, model = cells(), bs.PoissonModel()
    held = annotated(adata, layer="counts")
    posterior = screened(held, exposures="depth", model=model)
    found = bs.fragility(held, "condition", exposures="depth", posterior=posterior)
    other = bs.fragility(COUNTS, CONDITION, exposures=DEPTH, posterior=posterior)
    np.testing.assert_array_equal(found.least_log_odds, other.least_log_odds)
    assert found.sample_names == tuple(adata.obs_names)
    categories = bs.CategoricalModel()
    adata.layers["many"] = (COUNTS > 4).astype(np.int8)
    found = screened(adata, layer="many", model=categories)
    assert found.feature_names == tuple(GENES)
    np.testing.assert_array_equal(
        found.log_odds, screened(adata.layers["many"], CONDITION, model=categories).log_odds
    )


def test_a_selector_knows_the_names():
    adata = cells("csr")
    selector = bs.OBFSelector(shuffles=0).fit(adata, "condition", blocks="batch")
    assert selector.get_feature_names_out().tolist() == ["gene2"]
    np.testing.assert_array_equal(selector.transform(adata).toarray(), VALUES[:, [2]])
    by_parts = bs.OBFSelector(shuffles=0).fit(adata.X, adata.obs["condition"], blocks=adata.obs["batch"])
    np.testing.assert_array_equal(by_parts.scores_, selector.scores_)
    pipeline = make_pipeline(bs.OBFSelector(shuffles=0), LogisticRegression()).fit(adata, CONDITION)
    assert pipeline.score(adata, CONDITION) > 0.8
    again = bs.OBFSelector(shuffles=0).partial_fit(adata[:30], "condition").partial_fit(adata[30:], "condition")
    at_once = bs.OBFSelector(shuffles=0).fit(adata, "condition")
    np.testing.assert_allclose(again.scores_, at_once.scores_, rtol=1e-9)
    with pytest.raises(bs.DataError, match=r"'gene11' where fit saw 'gene0'"):
        at_once.transform(adata[:, ::-1])


def test_a_report_shows_the_values(tmp_path):
    adata = cells("csr")
    path = bs.report.write(screened(adata), tmp_path / "report.html", data=adata, labels="condition")
    assert "cell7" in path.read_text(encoding="utf-8")


def test_what_is_wrong_is_said():
    adata = cells()
    with pytest.raises(bs.LabelError, match=r"no column 'codition'\. Did you mean 'condition'.*case 20,"):
        screened(adata, "codition")
    with pytest.raises(bs.LabelError, match=r"no column 'bach'\. Did you mean 'batch'"):
        screened(adata, blocks="bach")
    with pytest.raises(bs.LabelError, match="y is None"):
        screened(adata, None)
    with pytest.raises(bs.DataError, match=r"Only an AnnData object has layers; ndarray is none"):
        screened(VALUES, CONDITION, layer="counts")
    adata.obs["condition"] = adata.obs["condition"].where(np.arange(N) > 1)
    with pytest.raises(bs.LabelError, match=r"2 of 40 samples have no label .* the first at position 0, 1\."):
        screened(adata)
    adata.var_names = ["gene0", *GENES[:-1]]
    with pytest.raises(bs.DataError, match=r"1 feature name\(s\) occur more than once.*var_names_make_unique"):
        screened(adata, "batch")


@pytest.mark.parametrize("kind", ["pandas", "polars", "arrow", "duckdb"])
def test_frames_of_any_make(kind):
    table = pl.DataFrame(dict(zip(GENES, VALUES.T, strict=True))).with_columns(gene0=pl.col("gene0").round(0))
    table = table.with_columns(gene1=pl.col("gene0").cast(pl.Int32))
    labels = pl.DataFrame({"condition": CONDITION})
    texts = table.select(pl.when(pl.all() > 1.5).then(pl.lit("high")).otherwise(pl.lit("low")).name.keep())
    connection = duckdb.connect()
    make = {
        "pandas": pl.DataFrame.to_pandas,
        "polars": lambda frame: frame,
        "arrow": pl.DataFrame.to_arrow,
        "duckdb": lambda frame: connection.from_arrow(frame.to_arrow()),
    }[kind]
    X, y = make(table), make(labels) if kind == "duckdb" else make(labels)["condition"]
    expected = screened(table.to_numpy(), CONDITION).log_odds
    found = screened(X, y)
    assert found.feature_names == tuple(GENES)
    np.testing.assert_array_equal(found.log_odds, expected)
    selector = bs.OBFSelector(shuffles=0).fit(X, y)
    assert selector.get_feature_names_out().tolist() == ["gene2"]
    np.testing.assert_array_equal(selector.scores_, expected)
    model = bs.CategoricalModel()
    np.testing.assert_array_equal(
        screened(make(texts), y, model=model).log_odds,
        screened(texts.to_numpy(), CONDITION, model=model).log_odds,
    )


def test_a_text_column_of_an_arrow_table_is_named():
    table = pa.table({"gene": VALUES[:, 0], "who": CONDITION})
    for fit in (screened, lambda X, y: bs.OBFSelector(shuffles=0).fit(X, y)):
        with pytest.raises(bs.DataError, match="1 of 2 columns do not hold numbers: 'who'"):
            fit(table, CONDITION)
