"""10x folders and files, Matrix Market files with and without names beside them."""

from __future__ import annotations

import bz2
import contextlib
import gzip

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp
from made_files import BARCODES, GENE_IDS, NAMES, TENX_COUNTS, tenx_file, tenx_folder
from tables import whole

import bayesieve as bs
from bayesieve.io.tables.opening import open_table
from bayesieve.io.tables.table import ReadOptions

CLUSTER = ["1"] * 15 + ["2"] * 15


@pytest.fixture
def clusters(tmp_path):
    path = tmp_path / "clusters.csv"
    path.write_text("Barcode,Cluster\n" + "".join(f"{a},{b}\n" for a, b in zip(BARCODES, CLUSTER, strict=True)))
    return f"{path}:Cluster"


def check(path, clusters):
    """Compare with the same values in memory."""
    table = bs.read_table(path, labels=clusters)
    assert table.feature_names == tuple(NAMES)
    assert table.class_counts == {"1": 15, "2": 15}
    np.testing.assert_allclose(
        table.moments.mean, [TENX_COUNTS[:15].mean(axis=0), TENX_COUNTS[15:].mean(axis=0)], rtol=1e-14
    )
    return table


@pytest.mark.parametrize("packed", [True, False])
@pytest.mark.parametrize("names", ["features", "genes"])
def test_folders_of_both_versions(tmp_path, clusters, packed, names):
    table = check(tenx_folder(tmp_path / "outs", packed=packed, names=names), clusters)
    assert (table.record.form, table.record.samples_in) == ("10x", "columns")


def test_values_stay_sparse(tmp_path):
    table = open_table(tenx_folder(tmp_path / "outs"), ReadOptions(known_ids=frozenset(BARCODES)))
    for chunk in table.chunks():
        assert sp.issparse(chunk.values)
        assert chunk.values.dtype == np.int32
        assert chunk.values.has_canonical_format
    np.testing.assert_array_equal(whole(table), TENX_COUNTS)


def test_entries_in_any_order(tmp_path):
    order = np.random.default_rng(8).permutation(np.count_nonzero(TENX_COUNTS))
    table = open_table(tenx_folder(tmp_path / "outs", order=order), ReadOptions(known_ids=frozenset(BARCODES)))
    np.testing.assert_array_equal(whole(table), TENX_COUNTS)


def test_the_matrix_itself_and_files_with_a_beginning(tmp_path, clusters):
    check(tenx_folder(tmp_path / "plain") / "matrix.mtx.gz", clusters)
    both = tenx_folder(tmp_path / "geo", prefix="GSM1_")
    tenx_folder(both, prefix="GSM2_")
    check(both / "GSM2_matrix.mtx.gz", clusters)
    with pytest.raises(bs.OptionError, match=r"2 matrices: 'GSM1_matrix.mtx.gz'.*Name one of them"):
        bs.read_table(both, labels=clusters)


def test_feature_types_and_ids(tmp_path, clusters):
    path = tenx_folder(tmp_path / "outs")
    table = bs.read_table(path, labels=clusters, modality="Antibody Capture")
    assert table.feature_names == tuple(NAMES[10:])
    np.testing.assert_allclose(table.moments.mean[0], TENX_COUNTS[:15, 10:].mean(axis=0), rtol=1e-14)
    assert bs.read_table(path, labels=clusters, id_column="id").feature_names == tuple(GENE_IDS)
    left = bs.read_table(path, labels=clusters, modality="Antibody Capture", ignore=["SYM11"])
    assert left.feature_names == ("SYM10",)
    with pytest.raises(bs.OptionError, match=r"no features of type 'Antibody'. Did you mean 'Antibody Capture'"):
        bs.read_table(path, labels=clusters, modality="Antibody")


def test_names_that_do_not_fit_are_said(tmp_path, clusters):
    path = tenx_folder(tmp_path / "outs", packed=False)
    (path / "barcodes.tsv").write_text("".join(f"{cell}\n" for cell in BARCODES[:-1]))
    with pytest.raises(
        bs.FileError, match=r"12 rows and 30 columns, but features.tsv names 12 .*barcodes.tsv names 29"
    ):
        bs.read_table(path, labels=clusters)


def test_samples_in_rows_are_told_by_the_numbers_of_names(tmp_path, clusters):
    path = tenx_folder(tmp_path / "outs", packed=False)
    scipy.io.mmwrite(path / "matrix.mtx", sp.coo_matrix(TENX_COUNTS))
    assert check(path, clusters).record.samples_in == "rows"


def test_columns_beside_the_barcodes_are_labels(tmp_path):
    path = tenx_folder(tmp_path / "outs", packed=False)
    lines = [
        "barcode\tcluster\tdonor",
        *(f"{a}\t{b}\td{i % 2}" for i, (a, b) in enumerate(zip(BARCODES, CLUSTER, strict=True))),
    ]
    (path / "barcodes.tsv").write_text("\n".join(lines) + "\n")
    check(path, "cluster")
    with pytest.raises(bs.LabelError, match=r"'cluster' \(1 15, 2 15\), 'donor' \(d0 15, d1 15\)"):
        bs.read_table(path)


@pytest.mark.parametrize("suffix", [".mtx", ".mtx.gz", ".mtx.bz2", ".txt"])
def test_a_matrix_alone(tmp_path, suffix):
    path = tmp_path / f"counts{suffix}"
    plain = tmp_path / "plain.mtx"
    scipy.io.mmwrite(plain, sp.coo_matrix(TENX_COUNTS), field="integer")
    packing = {".mtx.gz": gzip.compress, ".mtx.bz2": bz2.compress}.get(suffix, bytes)
    path.write_bytes(packing(plain.read_bytes()))
    plain.unlink()
    with pytest.raises(bs.OptionError, match=r"matrix of 30 x 12 without names.*samples_in='rows' or 'columns'"):
        open_table(path, ReadOptions())
    table = open_table(path, ReadOptions(samples_in="rows"))
    np.testing.assert_array_equal(whole(table), TENX_COUNTS)
    assert table.feature_ids[:2] == ("x0", "x1")
    if suffix == ".mtx":
        (tmp_path / "l.csv").write_text("line,cluster\n" + "".join(f"{i},{c}\n" for i, c in enumerate(CLUSTER)))
        found = bs.read_table(path, labels=f"{tmp_path / 'l.csv'}:cluster", samples_in="rows")
        np.testing.assert_allclose(found.moments.mean[1], TENX_COUNTS[15:].mean(axis=0), rtol=1e-14)


@pytest.mark.parametrize("field", ["real", "pattern", "symmetric", "array"])
def test_kinds_of_matrices(tmp_path, field):
    square = TENX_COUNTS[:12] + TENX_COUNTS[:12].T
    values = {
        "real": TENX_COUNTS * 0.5,
        "pattern": (TENX_COUNTS > 0),
        "symmetric": square,
        "array": TENX_COUNTS * 1.0,
    }[field]
    path = tmp_path / "m.mtx"
    if field == "array":
        scipy.io.mmwrite(path, values)
    elif field == "symmetric":
        scipy.io.mmwrite(path, sp.coo_matrix(values), symmetry="symmetric")
    else:
        scipy.io.mmwrite(path, sp.coo_matrix(values.astype(float)), field=field)
    table = open_table(path, ReadOptions(samples_in="rows"))
    np.testing.assert_array_equal(whole(table), values)


@pytest.mark.parametrize("version", [2, 3])
def test_h5_files_of_both_versions(tmp_path, clusters, version):
    path = tenx_file(tmp_path / "filtered_feature_bc_matrix.h5", version)
    assert check(path, clusters).record.form == "10x"
    with contextlib.closing(open_table(path, ReadOptions(known_ids=frozenset(BARCODES)))) as table:
        assert all(sp.issparse(chunk.values) for chunk in table.chunks())
        np.testing.assert_array_equal(whole(table), TENX_COUNTS)


def test_feature_types_and_genomes_of_h5_files(tmp_path, clusters):
    table = bs.read_table(tenx_file(tmp_path / "a.h5"), labels=clusters, modality="Antibody Capture")
    assert table.feature_names == tuple(NAMES[10:])
    two = tenx_file(tmp_path / "b.h5", 2, ("GRCh38", "mm10"))
    with pytest.raises(bs.OptionError, match=r"2 genomes: 'GRCh38', 'mm10'.*modality='GRCh38'"):
        bs.read_table(two, labels=clusters)
    assert bs.read_table(two, labels=clusters, modality="mm10").feature_names == tuple(NAMES)


def test_a_folder_above_the_right_one(tmp_path, clusters):
    (tmp_path / "run").mkdir()
    tenx_folder(tmp_path / "run" / "filtered_feature_bc_matrix")
    with pytest.raises(bs.FileError, match=r"Name what is in it: .*run.filtered_feature_bc_matrix\."):
        bs.read_table(tmp_path / "run", labels=clusters)


def test_the_manifest_holds_the_files_of_a_folder(tmp_path, clusters):
    from bayesieve.cli.outputs import RunOptions, files_read  # noqa: PLC0415
    from bayesieve.screening import ScreenSpec  # noqa: PLC0415

    path = tenx_folder(tmp_path / "outs")
    found = files_read(ScreenSpec(table=str(path), labels=clusters), RunOptions())
    assert {name.rpartition("/")[2] for name in found} == {
        "matrix.mtx.gz", "features.tsv.gz", "barcodes.tsv.gz", "clusters.csv",
    }  # fmt: skip
