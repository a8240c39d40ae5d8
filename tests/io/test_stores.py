"""zarr stores of AnnData, MuData and loom files, and HDF5 files that are none of them."""

from __future__ import annotations

import contextlib
import warnings

import anndata
import h5py
import numpy as np
import pandas as pd
import pytest
from made_files import CELLS, COUNTS, FORMS, GENES, annotated, loom
from tables import whole

import bayesieve as bs
from bayesieve.io.tables.opening import open_table
from bayesieve.io.tables.table import ReadOptions

RNG = np.random.default_rng(9)


def expect(path, values=COUNTS, genes=GENES, **options):
    table = bs.read_table(path, **{"labels": "state", **options})
    assert table.feature_names == tuple(genes)
    np.testing.assert_allclose(
        table.moments.mean, [values[1::2].mean(axis=0), values[::2].mean(axis=0)], rtol=1e-6
    )
    return table


@pytest.mark.parametrize("form", FORMS)
def test_zarr(tmp_path, form):
    path = tmp_path / "a.zarr"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        annotated(form).write_zarr(path)
    assert expect(path).record.form == "AnnData, zarr"
    expect(path, COUNTS * 2, layer="twice")
    with contextlib.closing(open_table(path, ReadOptions(labels="state"))) as table:
        np.testing.assert_array_equal(whole(table), COUNTS)
    with pytest.raises(bs.LabelError, match=r"'state' \(sick 10, well 10\), 'plate' \(d0 5, d1 5, d2 5, d3 5\)"):
        bs.read_table(path)
    with pytest.raises(bs.OptionError, match="always have samples in rows"):
        bs.read_table(path, labels="state", samples_in="columns")


def test_a_zarr_store_of_something_else(tmp_path):
    (tmp_path / "a.zarr").mkdir()
    (tmp_path / "a.zarr" / "zarr.json").write_text('{"zarr_format": 3, "node_type": "group", "attributes": {}}')
    with pytest.raises(bs.FileError, match="no group 'obs'"):
        bs.read_table(tmp_path / "a.zarr", labels="state")
    (tmp_path / "a.zarr" / "zarr.json").write_text("{")
    with pytest.raises(bs.FileError, match="damaged"):
        bs.read_table(tmp_path / "a.zarr", labels="state")


@pytest.fixture
def mudata_file(tmp_path):
    """Write a MuData file after its public description: groups mod/NAME are AnnData, obs is of all."""
    path = tmp_path / "a.h5mu"
    with warnings.catch_warnings(), h5py.File(path, "w") as file:
        warnings.simplefilter("ignore")
        write_elem = anndata.io.write_elem
        file.attrs["encoding-type"], file.attrs["encoding-version"] = "MuData", "0.1.0"
        write_elem(file, "mod/rna", annotated("csr"))
        write_elem(file, "mod/protein", annotated("dense", COUNTS[:, :3] + 4, ["p0", "p1", "p2"]))
        order = RNG.permutation(20)
        shared = pd.DataFrame({"arm": [["a", "b"][i % 2] for i in order]}, index=[CELLS[i] for i in order])
        write_elem(file, "obs", shared)
        write_elem(file, "var", pd.DataFrame(index=[*GENES, "p0", "p1", "p2"]))
    return path


def test_modalities(mudata_file):
    assert expect(mudata_file, modality="rna").record.form == "MuData, modality rna"
    expect(mudata_file, COUNTS[:, :3] + 4, ["p0", "p1", "p2"], modality="protein")
    arm = bs.read_table(mudata_file, labels="arm", modality="rna")  # said of all modalities, in another order
    np.testing.assert_allclose(arm.moments.mean[0], COUNTS[::2].mean(axis=0), rtol=1e-6)
    with pytest.raises(bs.OptionError, match=r"2 modalities: 'protein', 'rna'.*modality="):
        bs.read_table(mudata_file, labels="state")
    with pytest.raises(bs.OptionError, match=r"no modality 'rnaa'. Did you mean 'rna'"):
        bs.read_table(mudata_file, labels="state", modality="rnaa")


@pytest.mark.parametrize("names", [("Gene", "CellID"), ("var_names", "obs_names")])
def test_loom(tmp_path, names):
    path = loom(tmp_path / "a.loom", names)
    table = expect(path)
    assert (table.record.form, table.record.samples_in) == ("loom", "columns")
    assert table.sample_names == tuple(CELLS)
    assert expect(path, COUNTS * 3, layer="spliced").record.form == "loom, layer spliced"
    for memory in (1, 2**30):
        with contextlib.closing(open_table(path, ReadOptions(labels="state", memory=memory))) as opened:
            np.testing.assert_array_equal(whole(opened), COUNTS)
    assert bs.read_table(path, labels="batch").class_counts == {"0": 7, "1": 7, "2": 6}
    with pytest.raises(bs.LabelError, match=r"'batch' \(0 7, 1 7, 2 6\), 'state' \(sick 10, well 10\)"):
        bs.read_table(path)
    with pytest.raises(bs.LabelError, match=r"no column attribute 'stat'. Did you mean 'state'"):
        bs.read_table(path, labels="stat")
    with pytest.raises(bs.OptionError, match=r"no layer 'unspliced'. Did you mean 'spliced'"):
        bs.read_table(path, labels="state", layer="unspliced")


def test_repeated_names_of_genes_get_their_accession(tmp_path):
    path = loom(tmp_path / "a.loom", genes=["a", "b", "a", "d", "e", "f"])
    expect(path, genes=["a (ENSG0)", "b", "a (ENSG2)", "d", "e", "f"])


@pytest.mark.parametrize(
    ("items", "words"),
    [
        ({"assays/RNA": 1, "meta.data/x": 1}, "Seurat.*Convert"),
        ({"frame/block0_values": 1, "frame/axis0": 1}, "pandas.*to_parquet"),
        ({"#refs#/a": 1, "X": 1}, "MATLAB"),
        ({"barcode_idx": 1, "feature_idx": 1}, "molecules.*filtered_feature_bc_matrix.h5"),
        ({"results/values": 1, "other": 1}, "holds 'other', 'results', and neither AnnData"),
    ],
)
def test_other_hdf5_files_are_named_for_what_they_are(tmp_path, items, words):
    with h5py.File(tmp_path / "a.h5", "w") as file:
        for name, value in items.items():
            file[name] = value
    with pytest.raises(bs.FileError, match=words):
        bs.read_table(tmp_path / "a.h5", labels="state")


def test_an_anndata_file_by_another_name(tmp_path):
    path = tmp_path / "a.h5"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        annotated().write_h5ad(path)
    expect(path)
