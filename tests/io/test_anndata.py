"""AnnData files: X, layers and raw, dense and sparse; labels; damaged files."""

import contextlib
import sys
import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from tables import dense, whole

import bayesieve as bs
from bayesieve.io.formats.hdf5 import open_hdf5
from bayesieve.io.tables.table import FeatureTable, ReadOptions, SampleTable, samples_per_chunk

anndata = pytest.importorskip("anndata")
h5py = pytest.importorskip("h5py")

COUNTS = np.random.default_rng(5).poisson(1.0, size=(9, 5))
FORMS = {"dense": np.asarray, "csr": sp.csr_matrix, "csc": sp.csc_matrix}


def cells(form="dense", dtype="f4"):
    obs = pd.DataFrame(
        {
            "state": pd.Categorical(["well", "sick", None] * 3),
            "text": ["a", "b", "NA"] * 3,
            "whole": [1.0, 2.0, np.nan] * 3,
            "flag": [True, False, True] * 3,
            "number": np.arange(9),
            "donor": [f"d{i}" for i in range(9)],
        },
        index=[f"c{i}" for i in range(9)],
    )
    var = pd.DataFrame(index=[f"g{j}" for j in range(5)])
    values = FORMS[form](COUNTS.astype(dtype))
    adata = anndata.AnnData(values, obs=obs, var=var, layers={"counts": FORMS[form](COUNTS * 2)})
    adata.raw = adata
    return adata[:, :4].copy()


def write(adata, path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        adata.write_h5ad(path)
    return path


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("dtype", ["f4", "f8", "i4"])
@pytest.mark.parametrize("layer", [None, "raw", "counts"])
def test_values(tmp_path, form, dtype, layer):
    path = write(cells(form, dtype), tmp_path / "a.h5ad")
    expected = {None: COUNTS[:, :4], "raw": COUNTS, "counts": COUNTS[:, :4] * 2}[layer]
    for memory in (1, 2**30):
        with contextlib.closing(open_hdf5(path, ReadOptions(layer=layer, memory=memory))) as table:
            assert isinstance(table, FeatureTable if form == "csc" else SampleTable)
            np.testing.assert_array_equal(whole(table), expected)
            assert table.form == ("AnnData" if layer is None else f"AnnData, layer {layer}")


def test_by_sample(tmp_path):
    path = write(cells("csr"), tmp_path / "a.h5ad")
    seen = []
    options = ReadOptions(labels="state", ignore=("g1",), progress=lambda done, total: seen.append((done, total)))
    with contextlib.closing(open_hdf5(path, options)) as table:
        assert table.feature_ids == ("g0", "g2", "g3")
        (chunk,) = table.chunks(slice(1, 3))
        assert sp.issparse(chunk.values)
        assert chunk.values.format == "csr"
        np.testing.assert_array_equal(chunk.values.toarray(), COUNTS[:, [2, 3]])
    assert chunk.ids == [f"c{i}" for i in range(9)]
    assert chunk.columns["labels"] == ["well", "sick", None] * 3
    assert seen == [(9, 9)]


def test_by_feature(tmp_path):
    path = write(cells("csc"), tmp_path / "a.h5ad")
    with contextlib.closing(open_hdf5(path, ReadOptions(labels="state", ignore=("g1",), memory=1))) as table:
        assert table.sample_ids == tuple(f"c{i}" for i in range(9))
        assert table.columns["labels"] == ["well", "sick", None] * 3
        chunks = list(table.chunks(np.array([8, 0, 3])))
    assert [name for chunk in chunks for name in chunk.ids] == ["g0", "g2", "g3"]
    np.testing.assert_array_equal(np.vstack([dense(p.values) for p in chunks]), COUNTS[[8, 0, 3]][:, [0, 2, 3]].T)


def test_pieces_of_dense_values(tmp_path):
    values = np.random.default_rng(0).normal(size=(40, 60_000)).astype("f4")
    path = write(anndata.AnnData(values), tmp_path / "a.h5ad")
    with contextlib.closing(open_hdf5(path, ReadOptions(memory=1))) as table:
        chunks = list(table.chunks(slice(7, 9)))
    assert [len(chunk.values) for chunk in chunks] == [samples_per_chunk(60_000)] * 2 + [8]
    np.testing.assert_array_equal(np.vstack([chunk.values for chunk in chunks]), values[:, 7:9])


@pytest.mark.parametrize(
    ("name", "labels"),
    [
        ("state", ["well", "sick", None]),
        ("text", ["a", "b", None]),
        ("whole", ["1", "2", None]),
        ("flag", ["True", "False", "True"]),
        ("number", ["0", "1", "2"]),
    ],
)
def test_labels(tmp_path, name, labels):
    path = write(cells(), tmp_path / "a.h5ad")
    with contextlib.closing(open_hdf5(path, ReadOptions(labels=name, id_column="donor"))) as table:
        (chunk,) = table.chunks()
    assert chunk.columns["labels"][:3] == labels
    assert chunk.ids == [f"d{i}" for i in range(9)]


@pytest.mark.parametrize(
    ("options", "kind", "words"),
    [
        ({"labels": "states"}, bs.LabelError, "no obs column 'states'. Did you mean 'state'.*'state', 'text'"),
        ({"id_column": "donors"}, bs.LabelError, "Did you mean 'donor'"),
        ({"id_column": "text"}, bs.FileError, "sample ids must be distinct"),
        ({"layer": "count"}, bs.OptionError, r"no layer 'count'. Did you mean 'counts'\? It has: 'counts', 'raw'"),
        ({"ignore": ("g9",)}, bs.OptionError, "'g9'"),
        ({"samples_in": "columns"}, bs.OptionError, "always have samples in rows"),
        ({"known_ids": frozenset({"x1"})}, bs.LabelError, "'x1'.*'c0', 'c1', 'c2'"),
    ],
)
def test_errors_say_what_to_do(tmp_path, options, kind, words):
    path = write(cells(), tmp_path / "a.h5ad")
    with pytest.raises(kind, match=words) as caught:
        open_hdf5(path, ReadOptions(**options))
    assert "a.h5ad" in str(caught.value)


def test_known_ids(tmp_path):
    path = write(cells(), tmp_path / "a.h5ad")
    with contextlib.closing(open_hdf5(path, ReadOptions(known_ids=frozenset({"c3", "z"})))) as table:
        (chunk,) = table.chunks()
    assert "labels" not in chunk.columns


def test_repeated_features(tmp_path):
    adata = cells()
    adata.var_names = ["g", "g", "h", "i"]
    with pytest.raises(bs.FileError, match=r"var_names_make_unique\(\)"):
        open_hdf5(write(adata, tmp_path / "a.h5ad"), ReadOptions(duplicates="error"))


def test_without_x_or_values(tmp_path):
    adata = cells()
    adata.X = None
    with pytest.raises(bs.FileError, match=r"no X\. Choose one of its layers: 'counts'"):
        open_hdf5(write(adata, tmp_path / "a.h5ad"), ReadOptions())
    with pytest.raises(bs.FileError, match="no values"):
        open_hdf5(write(anndata.AnnData(np.zeros((0, 3))), tmp_path / "b.h5ad"), ReadOptions())


def test_numbers_that_mean_missing(tmp_path):
    path = write(cells("csr"), tmp_path / "a.h5ad")
    with contextlib.closing(open_hdf5(path, ReadOptions(missing_words=("2",)))) as table:
        np.testing.assert_array_equal(whole(table), np.where(COUNTS == 2, np.nan, COUNTS)[:, :4])


def test_foreign_files(tmp_path):
    path = tmp_path / "a.h5ad"
    with h5py.File(path, "w") as file:
        file["table"] = np.zeros((2, 2))
    with pytest.raises(bs.FileError, match="not an AnnData file"):
        open_hdf5(path, ReadOptions())
    path.write_bytes(b"<html>not found</html>")
    with pytest.raises(bs.FileError, match="damaged"):
        open_hdf5(path, ReadOptions())
    with pytest.raises(bs.FileError, match="no file"):
        open_hdf5(tmp_path / "b.h5ad", ReadOptions())


def test_without_the_package(tmp_path, monkeypatch):
    path = write(cells(), tmp_path / "a.h5ad")
    monkeypatch.setitem(sys.modules, "anndata", None)
    with pytest.raises(bs.MissingExtraError, match=r"python -m pip install .*\[anndata\]"):
        open_hdf5(path, ReadOptions())


@pytest.fixture
def in_this_process(monkeypatch):
    """Do without the look from another process, which tests/io/test_crashes.py is about; it takes time."""
    monkeypatch.setattr("bayesieve.io.formats.hdf5.survive_crash", lambda path, look: contextlib.nullcontext())


@pytest.mark.usefixtures("in_this_process")
@pytest.mark.parametrize("form", FORMS)
def test_files_cut_short_raise(tmp_path, form):
    good = write(cells(form), tmp_path / "a.h5ad").read_bytes()
    for number, end in enumerate(np.linspace(1, len(good) - 1, 50).astype(int)):
        path = tmp_path / f"{number}.h5ad"
        path.write_bytes(good[:end])
        with pytest.raises(bs.FileError, match=path.name):
            open_hdf5(path, ReadOptions(labels="state"))


@pytest.mark.usefixtures("in_this_process")
@pytest.mark.parametrize("form", ["csr", "csc"])
@pytest.mark.parametrize("part", ["indptr", "indices", "data"])
def test_changed_numbers_read_or_raise(tmp_path, form, part):
    """Only the numbers: changed structures of HDF5 can crash its library, which cannot be caught."""
    rng = np.random.default_rng(3)
    for number in range(30):
        path = write(cells(form), tmp_path / f"{number}.h5ad")
        with h5py.File(path, "r+") as file:
            values = file["X"][part][:]
            values[rng.integers(len(values))] = rng.integers(-(2**20), 2**20)
            file["X"][part][:] = values
        try:
            with contextlib.closing(open_hdf5(path, ReadOptions())) as table:
                assert whole(table).shape == cells(form).shape
        except bs.FileError as error:
            assert path.name in str(error)  # noqa: PT017 - either is fine, but nothing else
