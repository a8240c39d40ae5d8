"""Labels that declare an order keep it, whichever way they come in; differences are second minus first."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
from commands import inside

import bayesieve as bs

LEVELS = ["placebo", "drug", "combined", "never"]  # neither sorted nor all of them there
LABELS = np.array(LEVELS[:2] * 10)
X = np.random.default_rng(0).normal(size=(20, 3))
X[1::2, 0] += 3.0


def ordered():
    return pd.Categorical(LABELS, categories=LEVELS, ordered=True)


WAYS = {
    "pandas categorical": ordered,
    "pandas series": lambda: pd.Series(ordered()),
    "pandas index": lambda: pd.CategoricalIndex(ordered()),
    "pandas frame": lambda: pd.DataFrame({"arm": ordered()}),
    "polars enum": lambda: pl.Series(LABELS.tolist(), dtype=pl.Enum(LEVELS)),
}


@pytest.mark.parametrize("way", WAYS)
def test_arrays_and_frames(way):
    posterior = bs.screen(X, WAYS[way](), shuffles=0)
    assert posterior.classes == ("placebo", "drug")
    assert posterior.moments.mean_difference[0] > 2
    turned = bs.screen(X, WAYS[way](), classes=["drug", "placebo"], shuffles=0)
    np.testing.assert_allclose(turned.moments.mean_difference, -posterior.moments.mean_difference, rtol=1e-12)
    if way != "pandas frame":
        assert bs.OBFSelector(shuffles=0).fit(X, WAYS[way]()).posterior_.classes == ("placebo", "drug")


@pytest.mark.parametrize(
    "labels",
    [
        LABELS,
        LABELS.tolist(),
        pd.Categorical(LABELS, categories=LEVELS),
        pl.Series(LABELS.tolist(), dtype=pl.Categorical),
    ],
    ids=["array", "list", "plain categorical", "polars categorical"],
)
def test_labels_without_an_order_are_sorted(labels):
    assert bs.screen(X, labels, shuffles=0).classes == ("drug", "placebo")


def test_ordered_numbers_and_truth_values():
    y = pd.Categorical([10, 2] * 10, categories=[10, 2], ordered=True)
    assert bs.screen(X, y, shuffles=0).classes == (10, 2)
    y = pd.Categorical([True, False] * 10, categories=[True, False], ordered=True)
    assert bs.screen(X, y, shuffles=0).classes == (True, False)


def test_a_shuffled_series_is_aligned_and_keeps_its_order():
    frame = pd.DataFrame(X, index=[f"s{i}" for i in range(20)])
    y = pd.Series(ordered(), index=frame.index).iloc[::-1]
    assert bs.screen(frame, y, shuffles=0).moments.mean_difference[0] > 2


def test_an_annotated_object_and_its_file(tmp_path):
    ad = pytest.importorskip("anndata")
    adata = ad.AnnData(X.copy(), obs=pd.DataFrame({"arm": ordered()}, index=[f"s{i}" for i in range(20)]))
    assert bs.screen(adata, "arm", shuffles=0).classes == ("placebo", "drug")
    adata.write_h5ad(tmp_path / "a.h5ad")
    table = bs.read_table(tmp_path / "a.h5ad", labels="arm")
    assert table.statistics.classes == ("placebo", "drug")


@pytest.mark.parametrize("name", ["t.parquet", "t.arrow"])
def test_files_of_columns(name, tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    arm = pl.Series("arm", LABELS.tolist(), dtype=pl.Enum(LEVELS))
    ids = pl.Series("id", [f"s{i}" for i in range(20)])
    frame = pl.DataFrame({"id": ids, "arm": arm, **{f"g{j}": X[:, j] for j in range(3)}})
    frame.write_parquet(name) if name.endswith("parquet") else frame.write_ipc(name)
    frame.select("id", "arm").write_parquet("who.parquet")
    frame.drop("arm").write_csv("values.csv")
    for table, labels in ((name, "arm"), ("values.csv", "who.parquet:arm")):
        result = inside(
            capfd, monkeypatch, "screen", table, "-l", labels, "--out", "r.csv", "--shuffles", "0", "-q"
        )
        assert result.code == 0, result.err
        assert "n_placebo" in Path("r.csv").read_text().partition("n_drug")[0]


MODELS = [None, bs.GaussianModel.jeffreys(), bs.GaussianModel.proper(mean_locations=(0.0,)), bs.PoissonModel()]


@pytest.mark.parametrize("model", MODELS)
def test_levels_without_samples_are_left_out_and_classes_without_samples_refused(model):
    """A level of the type is no wish; a class that is asked for is one, under every model alike."""
    counts = np.random.default_rng(0).poisson(5.0, size=(20, 3))
    assert bs.screen(counts, ordered(), model=model, shuffles=0).classes == ("placebo", "drug")
    with pytest.raises(bs.LabelError, match="No sample is of class never"):
        bs.screen(counts, ordered(), model=model, classes=["placebo", "drug", "never"], shuffles=0)
