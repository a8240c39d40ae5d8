"""What tables in blocks promise: categories, events, sparse blocks, lazy elements, and whoever sums them."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anndata
import dask
import dask.array as da
import dask.dataframe as dd
import h5py
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import zarr
from digests import digest
from distributed import Client, LocalCluster

import bayesieve as bs

N, P = 120, 9
pytestmark = pytest.mark.filterwarnings("ignore:.*deprecated:DeprecationWarning:distributed")


@pytest.fixture(scope="module")
def counts() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(8)
    values, y = (
        rng.poisson(1.5, size=(N, P)).astype(float),
        np.sort(rng.integers(0, 3, N)),
    )  # classes in few blocks
    return values, y


def test_frames_of_categories_and_labels_of_a_series(counts: tuple[np.ndarray, np.ndarray]) -> None:
    values, y = counts
    words = pd.DataFrame(np.array(["a", "b", "c"])[np.minimum(values, 2).astype(int)]).rename(columns="g{}".format)
    expected = bs.screen(words, y, model=bs.CategoricalModel(), shuffles=0)
    for kind in ("category", "object", "str"):
        lazy = dd.from_pandas(words.astype(kind), npartitions=4)
        labels = dd.from_pandas(pd.Series(y), npartitions=3)
        found = bs.screen(lazy, labels, model=bs.CategoricalModel(), shuffles=0)
        assert found.feature_names == expected.feature_names
        np.testing.assert_array_equal(found.log_odds, expected.log_odds)
    with pytest.raises(bs.DataError, match="9 of 9 columns do not hold numbers"):
        bs.screen(dd.from_pandas(words, npartitions=2), y, shuffles=0)
    with pytest.raises(bs.DataError, match="which a table in blocks never is"):
        bs.screen_pairs(da.from_array(values, chunks=40), y)


def test_totals_of_events(counts: tuple[np.ndarray, np.ndarray]) -> None:
    values, y = counts
    exposures = np.linspace(0.5, 2.0, N)
    for form in (None, sp.csr_array, sp.csc_matrix):
        X = da.from_array(values, chunks=(50, 4))
        X = X if form is None else X.map_blocks(form)
        found = bs.EventTotals.from_matrix(X, y, exposures=exposures)
        for k in range(3):
            assert (found.total[k] == values[y == k].sum(axis=0)).all()
    spoilt = values.copy()
    spoilt[60, 2] = -1.0
    with pytest.raises(bs.DataError, match=r"Block 1, 0 \(samples 50 to 99.*sample 60, feature column 2: -1"):
        bs.EventTotals.from_matrix(da.from_array(spoilt, chunks=(50, 4)), y)


@pytest.mark.parametrize("form", [sp.csr_array, sp.csc_array, sp.csr_matrix, sp.csc_matrix])
@pytest.mark.parametrize("declared", [True, False])
def test_sparse_blocks_of_every_kind(
    counts: tuple[np.ndarray, np.ndarray], form: Callable[[Any], Any], declared: bool
) -> None:
    values, y = counts
    meta = {"meta": form((0, 0))} if declared else {}  # type: ignore[arg-type]
    X = da.from_array(values, chunks=((50, 0, 70), (5, 4))).map_blocks(form, **meta)
    found, expected = (bs.Moments.from_matrix(each, y) for each in (X, values))
    for k in range(3):
        np.testing.assert_allclose(found.mean[k], values[y == k].mean(axis=0), rtol=1e-13)
    np.testing.assert_allclose(found.centred_fourths, expected.centred_fourths, rtol=1e-10)


@pytest.mark.filterwarnings("ignore::FutureWarning")
@pytest.mark.filterwarnings("ignore::UserWarning:anndata")
def test_lazy_elements_of_files(counts: tuple[np.ndarray, np.ndarray], tmp_path: Path) -> None:
    values, y = counts
    expected = bs.screen(values, y, shuffles=0).log_odds
    for name, form in (("csr", sp.csr_matrix), ("csc", sp.csc_matrix), ("dense", np.asarray)):
        held = anndata.AnnData(form(values))
        held.write_zarr(tmp_path / f"{name}.zarr")
        held.write_h5ad(tmp_path / f"{name}.h5ad")
        with h5py.File(tmp_path / f"{name}.h5ad") as file:
            for group in (zarr.open_group(tmp_path / f"{name}.zarr", mode="r"), file):
                lazy = anndata.experimental.read_elem_lazy(group["X"])
                assert isinstance(lazy, da.Array)
                found = bs.screen(lazy, y, shuffles=0).log_odds
                np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)


def test_processes_and_one_worker_give_the_same_bits(counts: tuple[np.ndarray, np.ndarray]) -> None:
    values, y = counts[0] + 0.1, counts[1]
    tables = [  # blocks that are views with gaps, of columns, and frames: they travel in another layout
        da.from_array(values, chunks=(20, 4)),
        da.from_array(np.asfortranarray(values), chunks=(50, 9)),
        dd.from_pandas(pd.DataFrame(values), npartitions=4),
    ]

    def digests() -> list[str]:
        return [digest(bs.Moments.from_matrix(X, y)) for X in tables]

    with dask.config.set(scheduler="sync"):
        expected = digests()
    with dask.config.set(scheduler="processes", num_workers=2):
        assert digest(bs.Moments.from_matrix(tables[0], y)) == expected[0]
    with (
        LocalCluster(
            n_workers=1, threads_per_worker=2, processes=False, dashboard_address=":0", silence_logs=50
        ) as cluster,
        Client(cluster),
    ):
        assert digests() == expected


def end_it(values: np.ndarray, block_id: tuple[int, int]) -> np.ndarray:
    """End the process at one block, as a want of memory does."""
    if block_id == (1, 0):
        os._exit(1)
    return values


def test_a_block_that_ends_its_workers_is_named(counts: tuple[np.ndarray, np.ndarray]) -> None:
    values, y = counts
    X = da.from_array(values, chunks=(50, 9)).map_blocks(end_it, dtype=float)
    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 1}),
        LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=":0", silence_logs=50) as cluster,
        Client(cluster),
        pytest.raises(bs.DataError, match=r"Block [12], 0 .* workers that tried died, 2 of them") as raised,
    ):
        bs.Moments.from_matrix(X, y)
    assert "X.rechunk" in str(raised.value)
