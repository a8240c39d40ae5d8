"""Tables in blocks: screens and statistics equal those in memory, whatever the blocks are."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import anndata
import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import zarr
from digests import digest

import bayesieve as bs
from bayesieve.distributed import Leaf, OneThread, blocks_of, smallest_codes, sum_blocks
from bayesieve.distributed.graph import LabelSlices, SumGraph
from bayesieve.screening.second_look import values_of
from bayesieve.screening.table_input import screen_input
from bayesieve.stats import DesignMoments

N, P = 230, 40


@pytest.fixture(scope="module")
def counts() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(5)
    values, y = rng.poisson(1.2, size=(N, P)).astype(np.float32), np.array(["b", "a"])[rng.integers(0, 2, N)]
    values[y == "a", :4] += 2
    return values, y


@pytest.fixture(scope="module")
def logs(counts: tuple[np.ndarray, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    return np.log1p(counts[0]), counts[1]


def in_blocks(values: np.ndarray, kind: str) -> Any:
    """Cut a table into blocks of uneven sizes, one of them empty."""
    rows, columns = (60, 0, 100, 70), (25, 15)
    chunks = {"samples": (rows, (P,)), "features": ((N,), columns)}.get(kind, (rows, columns))
    made = da.from_array(values, chunks=chunks)
    wrap = {"csr": sp.csr_matrix, "csc": sp.csc_matrix, "csr array": sp.csr_array}.get(kind)
    return made if wrap is None else made.map_blocks(wrap)


@pytest.mark.parametrize("kind", ["samples", "features", "both", "csr", "csc", "csr array"])
def test_a_screen_in_blocks_is_that_in_memory(logs: tuple[np.ndarray, np.ndarray], kind: str) -> None:
    values, y = logs
    options: dict[str, Any] = {"shuffles": 3, "resolution": 0.1}
    lazy, whole = bs.screen(in_blocks(values, kind), y, **options), bs.screen(values, y, **options)
    np.testing.assert_allclose(lazy.log_odds, whole.log_odds, rtol=1e-9, atol=1e-9)
    assert lazy.shuffled.n_shuffles == 3
    np.testing.assert_allclose(lazy.shuffled.own_share, whole.shuffled.own_share, rtol=1e-9)
    assert bs.MinimalRisk(0.5).select(lazy).names == bs.MinimalRisk(0.5).select(whole).names


@pytest.mark.parametrize(
    ("model", "options"),
    [
        (bs.NegativeBinomialModel(), {"exposures": "total"}),
        (bs.PoissonModel(), {"exposures": np.linspace(0.5, 2.0, N)}),
        (bs.CategoricalModel(), {}),
        (bs.GaussianModel.jeffreys(), {"blocks": np.arange(N) % 3}),
    ],
)
@pytest.mark.filterwarnings("ignore::bayesieve.BayesieveWarning")
def test_every_model_sums_blocks(counts: tuple[np.ndarray, np.ndarray], model: bs.Model, options: Any) -> None:
    values, y = counts
    lazy = bs.screen(in_blocks(values, "both"), y, model=model, shuffles=2, **options)
    whole = bs.screen(values, y, model=model, shuffles=2, **options)
    np.testing.assert_allclose(lazy.log_odds, whole.log_odds, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(lazy.shuffled.shares, whole.shuffled.shares, rtol=1e-6, atol=1e-9)


def test_groups_in_blocks(counts: tuple[np.ndarray, np.ndarray]) -> None:
    values, _ = counts
    clusters = np.array(["B", "NK", "T"])[np.arange(N) // 80]  # no block holds them all
    lazy = bs.screen_groups(in_blocks(np.log1p(values), "csr"), clusters, shuffles=2)
    whole = bs.screen_groups(np.log1p(values), clusters, shuffles=2)
    np.testing.assert_allclose(lazy.log_odds, whole.log_odds, rtol=1e-6, atol=1e-6)


def test_statistics_of_a_design_and_of_texts(counts: tuple[np.ndarray, np.ndarray]) -> None:
    values, y = counts
    Z = np.random.default_rng(0).normal(size=(N, 2))
    lazy, whole = (DesignMoments.from_matrix(X, y, Z) for X in (in_blocks(values, "both"), values))
    np.testing.assert_allclose(lazy.cross, whole.cross, atol=1e-10)
    np.testing.assert_allclose(lazy.scatter, whole.scatter, atol=1e-10)
    texts = np.array(["red", "blue", "green", "grey"], dtype=object)[np.minimum(values, 3).astype(int)]
    blocks = da.from_array(texts, chunks=((60, 170), (25, 15)))
    found, expected = (bs.CategoryCounts.from_matrix(X, y) for X in (blocks, texts))
    assert found.levels == expected.levels
    assert (found.table == expected.table).all()


def test_frames_zarr_and_lazy_objects(logs: tuple[np.ndarray, np.ndarray], tmp_path: Path) -> None:
    values, y = logs
    expected = bs.screen(values, y, shuffles=0, resolution=0.1).log_odds
    frame = pd.DataFrame(values, columns=[f"g{j}" for j in range(P)])
    from_frame = bs.screen(dd.from_pandas(frame, npartitions=3), y, shuffles=0, resolution=0.1)
    assert from_frame.feature_names[7] == "g7"
    np.testing.assert_allclose(from_frame.log_odds, expected, rtol=1e-9, atol=1e-9)
    for version in (2, 3):
        path = tmp_path / f"v{version}.zarr"
        stored = zarr.create_array(path, shape=(N, P), chunks=(50, 30), dtype="f4", zarr_format=version)
        stored[:] = values
        found = bs.screen(stored, y, shuffles=0, resolution=0.1)
        np.testing.assert_allclose(found.log_odds, expected, rtol=1e-9, atol=1e-9)
    obs = pd.DataFrame({"status": y}, index=[f"c{i}" for i in range(N)])
    adata = anndata.AnnData(in_blocks(values, "csr"), obs=obs, var=pd.DataFrame(index=list(frame.columns)))
    adata.layers["again"] = in_blocks(values, "samples")
    for layer in (None, "again"):
        found = bs.screen(adata, "status", layer=layer, shuffles=0, resolution=0.1)
        assert found.feature_names[7] == "g7"
        np.testing.assert_allclose(found.log_odds, expected, rtol=1e-9, atol=1e-9)
    adata.uns["log1p"] = {"base": None}
    bs.tl.rank_markers(adata, "status", shuffles=0)
    assert hasattr(adata.X, "dask")
    assert set(adata.uns["bayesieve"]["names"]["a"][:4]) == {"g0", "g1", "g2", "g3"}


@pytest.mark.filterwarnings("ignore::UserWarning:anndata")
@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_an_object_that_is_read_lazily(logs: tuple[np.ndarray, np.ndarray], tmp_path: Path) -> None:
    values, y = logs
    obs = pd.DataFrame({"status": pd.Categorical(y)}, index=[f"c{i}" for i in range(N)])
    held = anndata.AnnData(sp.csr_matrix(values), obs=obs)
    held.write_zarr(tmp_path / "cells.zarr")
    lazy = anndata.experimental.read_lazy(tmp_path / "cells.zarr")
    found = bs.screen(lazy, "status", shuffles=0, resolution=0.1)
    expected = bs.screen(values, y, shuffles=0, resolution=0.1)
    np.testing.assert_allclose(found.log_odds, expected.log_odds, rtol=1e-9, atol=1e-9)


def test_the_selector_takes_blocks(logs: tuple[np.ndarray, np.ndarray]) -> None:
    values, y = logs
    X = in_blocks(values, "both")
    lazy = bs.OBFSelector(resolution=0.1, shuffles=0).fit(X, y)
    whole = bs.OBFSelector(resolution=0.1, shuffles=0).fit(values, y)
    assert (lazy.get_support() == whole.get_support()).all()
    chosen = lazy.transform(X)
    assert isinstance(chosen, da.Array)
    assert (chosen.compute() == whole.transform(values)).all()


def test_any_scheduler_gives_the_same_bits(counts: tuple[np.ndarray, np.ndarray]) -> None:
    values, y = counts
    X = in_blocks(values + 0.1, "both")
    found = set()
    for scheduler, workers in (("sync", 1), ("threads", 1), ("threads", 4)):
        with dask.config.set(scheduler=scheduler, num_workers=workers):
            found.add(digest(bs.Moments.from_matrix(X, y)))
    assert len(found) == 1


def test_the_graph_of_ten_thousand_blocks_is_small() -> None:
    X = da.zeros((500_000, 100), chunks=(50, 100))
    codes = smallest_codes(np.arange(500_000) % 3)
    graph = SumGraph.build(X, LabelSlices(X.chunks, codes), Leaf(OneThread(bs.Moments.from_labelled), 3))
    assert graph.leaves.npartitions == 10_000
    assert len(pickle.dumps(graph.whole.dask)) < 1e6


def test_values_of_some_features_are_read_again(logs: tuple[np.ndarray, np.ndarray]) -> None:
    values, y = logs
    for kind in ("both", "csr"):
        found = screen_input(in_blocks(values, kind), y, bs.CalibratedModel(), None, None, "raise", 1)
        which = np.array([0, 3, 24, 25, 39])
        codes, read = values_of(found.table, which)
        assert (read == values[:, which]).all()
        assert (codes == (y == "b")).all()


def test_progress_counts_blocks(logs: tuple[np.ndarray, np.ndarray]) -> None:
    values, y = logs
    said: list[tuple[int, int]] = []
    bs.screen(in_blocks(values, "both"), y, shuffles=0, resolution=0.1, progress=lambda *now: said.append(now))
    assert sorted(said) == [(k, 8) for k in range(1, 9)]


def test_auto_says_what_shuffles_would_take(
    logs: tuple[np.ndarray, np.ndarray], monkeypatch: pytest.MonkeyPatch
) -> None:
    values, y = logs
    monkeypatch.setattr("bayesieve.screening.shuffles.FEWEST", 20)
    monkeypatch.setattr("bayesieve.screening.shuffles.MOST", 100)
    with pytest.warns(bs.CalibrationWarning, match="shuffles=20 takes one more pass over the 8 blocks"):
        bs.screen(in_blocks(values, "both"), y, resolution=0.1)
    with pytest.raises(bs.OptionError, match="shuffle"):
        bs.screen(in_blocks(values, "both"), y, prior_probability="estimate")


def fail(values: np.ndarray, block_id: tuple[int, int]) -> np.ndarray:
    if block_id == (2, 1):
        raise OSError("no such chunk")
    return values


def test_bad_input_is_named(counts: tuple[np.ndarray, np.ndarray]) -> None:
    values, y = counts
    X = in_blocks(values, "both")
    gaps = values.copy()
    gaps[3, 7] = gaps[200, 7] = gaps[100, 30] = np.nan
    infinite = values.copy()
    infinite[200, 30] = np.inf
    where = "Block 3, 1 (samples 160 to 229, features 25 to 39): X holds 1 infinite value(s) (inf), the first at "
    failed = "Block 2, 1 (samples 60 to 159, features 25 to 39) could not be read or summed 4 times: OSError: no"
    absent = "3 missing value(s) (NaN) in 2 of 40 features: column 7, column 30."
    cases: list[tuple[Any, Any, type[Exception], str]] = [
        (X, y[:-1], bs.LabelError, "X has 230 samples (rows) but there are 229 labels"),
        (X, ["a"] * N, bs.LabelError, "All 230 samples are of class 'a'"),
        (in_blocks(gaps, "both"), y, bs.MissingValueError, absent),
        (in_blocks(infinite, "both"), y, bs.DataError, f"{where}sample 200, feature column 30"),
        (X[X[:, 0] > 0], y, bs.DataError, "X.compute_chunk_sizes()"),
        (X.astype(object), y, bs.DataError, "holds Python objects, not numbers"),
        (X[:, 0], y, bs.DataError, "A single feature is X.reshape(-1, 1)"),
        (X[:, :0], y, bs.DataError, "X is empty"),
        (X.map_blocks(fail, dtype="f4"), y, bs.DataError, failed),
    ]
    for table, labels, kind, words in cases:
        with pytest.raises(kind) as raised:
            bs.screen(table, labels, shuffles=0)
        assert words in str(raised.value)
    for name, value in {"subject": y, "factors": 1}.items():
        with pytest.raises(bs.OptionError, match=f"{name} needs the values in memory"):
            bs.screen(X, y, shuffles=0, **{name: value})
    with pytest.raises(bs.OptionError, match="kinds of features"):
        bs.screen(X, y, model="auto")
    omitted = bs.Moments.from_matrix(in_blocks(gaps, "both"), y, missing="omit")
    np.testing.assert_allclose(omitted.mean, bs.Moments.from_matrix(gaps, y, missing="omit").mean, atol=1e-12)


def test_blocks_whose_meta_hides_that_they_are_sparse(counts: tuple[np.ndarray, np.ndarray]) -> None:
    values, y = counts
    hidden = in_blocks(values, "samples").map_blocks(sp.csr_matrix, meta=np.empty((0, 0), np.float32))
    expected = bs.Moments.from_matrix(values, y)
    np.testing.assert_allclose(bs.Moments.from_matrix(hidden, y).mean, expected.mean, atol=1e-12)


def test_a_sum_leaves_out_samples_without_a_class(counts: tuple[np.ndarray, np.ndarray]) -> None:
    values, y = counts
    codes = np.where(y == "a", 0, np.where(np.arange(N) < 160, -1, 1))
    found = sum_blocks(blocks_of(in_blocks(values, "csc")), codes, Leaf(OneThread(bs.Moments.from_labelled), 2))
    kept = codes >= 0
    expected = bs.Moments.from_matrix(values[kept], codes[kept])
    np.testing.assert_allclose(found.mean, expected.mean, atol=1e-12)


@pytest.mark.parametrize("kind", ["both", "csr", "csc"])
def test_normalised_and_transformed_in_blocks(counts: tuple[np.ndarray, np.ndarray], kind: str) -> None:
    values, y = counts
    for how in ("total", "total:10000"):
        lazy = bs.transform(bs.normalise(in_blocks(values, kind), how), "log1p")
        assert isinstance(lazy, da.Array)
        whole = bs.transform(bs.normalise(values, how), "log1p")
        found, expected = (bs.Moments.from_matrix(X, y) for X in (lazy, whole))
        np.testing.assert_allclose(found.mean, expected.mean, rtol=1e-12)
    with pytest.raises(bs.OptionError, match="looks at"):
        bs.transform(in_blocks(values, kind), "rank-normal")
    with pytest.raises(bs.OptionError, match="looks at"):
        bs.normalise(in_blocks(values, kind), "median-ratios")
