"""Files that were made to do harm: links, bombs, programs, names, and numbers that lose their digits."""

from __future__ import annotations

import bz2
import contextlib
import gzip
import io
import json
import lzma
import os
import re
import sqlite3
import struct
import warnings
import zipfile

import h5py
import made_files as made
import numpy as np
import polars as pl
import pytest
import scipy.sparse as sp
import zstandard

import bayesieve as bs
from bayesieve.io.formats import contents, hdf5
from bayesieve.io.formats.contents import check_hdf5, check_zarr
from bayesieve.io.results.formulas import quote_formula, unquote_formula
from bayesieve.io.text.files import TextBytes
from bayesieve.rivals.regression.units import UnitStore
from bayesieve.utils import can_name_files, memory_bytes, printable, read_arrays, read_toml, unpacking

LABELS = ["a", "b"] * 4
TABLE = "id,y,g,h\n" + "".join(f"s{i},{y},{i}.5,{i * i}\n" for i, y in enumerate(LABELS))


def refused(call, *words):
    with pytest.raises(bs.FileError) as caught:
        call()
    said = str(caught.value)
    assert "\n" not in said
    for word in words:
        assert word in said
    return said


# Links


@pytest.fixture
def alone(monkeypatch):
    """Without a look in another process, which has tests of its own."""
    monkeypatch.setattr(hdf5, "survive_crash", lambda *_: contextlib.nullcontext())


@pytest.mark.parametrize(
    ("link", "word"),
    [
        (h5py.ExternalLink("other.h5", "/secret"), "other.h5"),
        (h5py.SoftLink("/layers/spliced"), "/layers/spliced"),
        (h5py.ExternalLink("/etc/passwd", "/x"), "/etc/passwd"),
    ],
)
@pytest.mark.parametrize("place", ["matrix", "col_attrs/state", "attrs_of_mine"])
def test_links_in_hdf5_are_refused(tmp_path, alone, link, word, place):
    path = made.loom(tmp_path / "t.loom")
    with h5py.File(path, "r+") as file:
        if place in file:
            del file[place]
        file[place] = link
    refused(lambda: bs.read_table(path, labels="state"), place, word, "is a link to")


def test_values_in_other_files_are_refused(tmp_path):
    (tmp_path / "raw.bin").write_bytes(np.arange(9.0).tobytes())
    with h5py.File(tmp_path / "t.h5", "w") as file:
        file.create_dataset("x", (9,), "f8", external=[(str(tmp_path / "raw.bin"), 0, 72)])
        layout = h5py.VirtualLayout((9,), "f8")
        layout[:] = h5py.VirtualSource(str(tmp_path / "other.h5"), "x", (9,))
        file.create_virtual_dataset("v", layout)
    for name in ("v", "x"):  # one after the other
        with h5py.File(tmp_path / "t.h5", "r+") as file:
            refused(lambda file=file: check_hdf5("t.h5", file), f"/{name}", "other files")
            del file[name]


def test_hdf5_that_leads_back_to_itself_has_an_end(tmp_path):
    with h5py.File(tmp_path / "t.h5", "w") as file:
        file.create_group("a/b")
        file["a/b/c"] = file["a"]
        file["d"] = np.arange(3)
        check_hdf5("t.h5", file)


@pytest.fixture
def store(tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        made.annotated("dense").write_zarr(tmp_path / "t.zarr")
    return tmp_path / "t.zarr"


@pytest.mark.skipif(os.name == "nt", reason="links need rights there")
def test_zarr_stores_that_lead_out_of_their_folder_are_refused(store, tmp_path):
    check_zarr(str(store))
    outside = tmp_path / "outside"
    (store / "X").rename(outside)
    (store / "X").symlink_to(outside)
    refused(lambda: bs.read_table(store, labels="state"), "'X'", "outside of the store")


def test_zarr_stores_that_run_programs_are_refused(store):
    described = store / "X" / ("zarr.json" if (store / "X" / "zarr.json").exists() else ".zarray")
    content = json.loads(described.read_text())
    content["filters"] = [{"id": "pickle", "protocol": 5}]
    described.write_text(json.dumps(content))
    refused(lambda: bs.read_table(store, labels="state"), "pickle", "any program")


# Bombs


@pytest.fixture
def small_limit(monkeypatch):
    """A limit that is reached in a moment; the rule is the same."""
    monkeypatch.setattr(unpacking, "LARGEST", 2**22)
    monkeypatch.setattr(contents, "RATIO", unpacking.RATIO)


ZEROS = b"0," * 2**22
PACKED = {
    ".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress, ".zst": zstandard.ZstdCompressor().compress,
}  # fmt: skip


@pytest.mark.parametrize("ending", PACKED)
def test_packed_texts_stop_before_they_fill_a_memory(tmp_path, small_limit, ending):
    path = tmp_path / f"t.csv{ending}"
    path.write_bytes(PACKED[ending](ZEROS))

    def read():
        with TextBytes(path) as stream:
            while stream.read(2**20):
                pass

    refused(read, "made to fill a memory", "unpack the file first")
    path.write_bytes(PACKED[ending](np.random.default_rng(0).bytes(2**15).hex().encode() * 200))
    read()  # larger than the limit, but with something in it


def test_zstd_unpacks_a_little_at_a_time(tmp_path):
    (tmp_path / "t.csv.zst").write_bytes(zstandard.ZstdCompressor().compress(b"0,1\n" * 2**25))
    with TextBytes(tmp_path / "t.csv.zst") as stream:
        assert len(stream.read(2**16)) < 2**28


def test_archives_stop_before_they_fill_a_memory(tmp_path, small_limit):
    np.savez_compressed(tmp_path / "t.npz", X=np.zeros((2**10, 2**10)), y=np.zeros(2**10))
    refused(lambda: bs.read_table(tmp_path / "t.npz", labels="y"), "made to fill a memory", "numpy.savez")
    with zipfile.ZipFile(made.workbook(tmp_path / "t.xlsx", data=[["id", "y", "g"], ["s", "a", 1]]), "a") as book:
        book.writestr("xl/media/x.bin", bytes(2**24), zipfile.ZIP_DEFLATED)
    refused(lambda: bs.read_table(tmp_path / "t.xlsx", labels="y"), "made to fill a memory", "as CSV")


def test_arrays_that_promise_more_than_there_is(tmp_path):
    header = b"\x93NUMPY\x01\x00" + struct.pack("<H", 118)
    header += b"{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000, 1000), }".ljust(117) + b"\n"
    (tmp_path / "t.npy").write_bytes(header + bytes(80))
    refused(lambda: bs.read_table(tmp_path / "t.npy", labels="y"))
    with zipfile.ZipFile(tmp_path / "t.npz", "w") as archive:
        archive.writestr("X.npy", header + bytes(80))
    refused(lambda: bs.read_table(tmp_path / "t.npz", labels="y"), "should take 8,000,000,000,128 bytes")
    refused(lambda: read_arrays(tmp_path / "t.npz", "t.npz"), "should take")


@pytest.mark.parametrize("kind", ["integer", "real"])
def test_sparse_matrices_of_an_extent_that_cannot_be_meant(tmp_path, kind):
    (tmp_path / "t.mtx").write_text(f"%%MatrixMarket matrix coordinate {kind} general\n3 1000000000 1\n1 1 1\n")
    (tmp_path / "u.csv").write_text("id,y\n0,a\n1,b\n2,a\n")
    refused(
        lambda: bs.read_table(tmp_path / "t.mtx", labels=f"{tmp_path}/u.csv:y", samples_in="rows"),
        "cannot be meant",
    )
    sp.save_npz(tmp_path / "t.npz", sp.csr_matrix(([1.0], ([0], [0])), shape=(3, 10**9)))
    refused(lambda: bs.read_table(tmp_path / "t.npz", labels=f"{tmp_path}/u.csv:y"), "cannot be meant")


def test_objects_in_arrays_are_not_read(tmp_path):
    held = io.BytesIO()
    np.savez(held, X=np.array([{}, {}], dtype=object), y=np.array(["a", "b"]))
    (tmp_path / "t.npz").write_bytes(held.getvalue())
    refused(lambda: bs.read_table(tmp_path / "t.npz", labels="y"), "pickle")
    with pytest.raises(ValueError, match="allow_pickle"):
        read_arrays(io.BytesIO(held.getvalue()), "t.npz")


def test_chunks_of_hdf5_that_were_never_written(tmp_path, alone):
    path = made.loom(tmp_path / "t.loom")
    with h5py.File(path, "r+") as file:
        del file["matrix"]
        file.create_dataset("matrix", (6, 2**40), "f4", chunks=(1, 2**20), compression="gzip")
    refused(lambda: bs.read_table(path, labels="state"), "'/matrix'", "made to fill a memory")


def test_zarr_arrays_that_were_never_written(store):
    described = store / "X" / ("zarr.json" if (store / "X" / "zarr.json").exists() else ".zarray")
    content = json.loads(described.read_text())
    content["shape"] = [2**20, 2**20]
    described.write_text(json.dumps(content))
    refused(lambda: bs.read_table(store, labels="state"), "'X'", "made to fill a memory")


def test_references_of_yaml_that_would_fill_a_memory(tmp_path):
    pytest.importorskip("yaml")
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{k}: &a{k} [{', '.join([f'*a{k - 1}'] * 10)}]" for k in range(1, 9)]
    path = tmp_path / "c.yaml"
    path.write_text("\n".join([*lines, "contrasts:\n  - id: c\n    comparison: *a8\n"]))
    refused(lambda: bs.read_contrasts(path), "fill a memory")
    path.write_text("contrasts: &b [*b]\n")
    refused(lambda: bs.read_contrasts(path), "no YAML")
    path.write_text("contrasts: " + "[" * 5000 + "]" * 5000)
    refused(lambda: bs.read_contrasts(path), "nested too deeply")


@pytest.mark.parametrize("value", ["[" * 5000 + "]" * 5000, "1" + "0" * 5000])
def test_toml_that_python_cannot_hold(tmp_path, value):
    (tmp_path / "t.toml").write_text(f"x = {value}\n")
    refused(lambda: read_toml(tmp_path / "t.toml"), "is not a TOML file")


# Crashes of libraries


def test_a_page_of_parquet_that_ends_the_process_is_told(tmp_path):
    frame = pl.DataFrame({"id": [f"s{i}" for i in range(8)], "y": LABELS, "g": [0.5 * i for i in range(8)]})
    held = io.BytesIO()
    frame.write_parquet(held)
    found = []
    for k in (place for place, byte in enumerate(held.getvalue()) if byte == 0x10):  # 8 values, as a varint
        content = bytearray(held.getvalue())
        content[k] = 0x11  # -9 values
        path = tmp_path / f"{k}.parquet"
        path.write_bytes(content)
        try:
            bs.read_table(path, labels="y")
        except bs.BayesieveError as error:
            found.append(error.message.kind)
    assert found  # and this process is still there


# Names


def test_names_are_shown_and_not_obeyed():
    assert printable("a\x1b[2Jb\r\x9b1m\u202ec\ud800\n\td") == r"a\x1b[2Jb\r\x9b1m\u202ec\ud800" + "\n\td"
    assert printable("Größe µ 漢 é") == "Größe µ 漢 é"


@pytest.mark.parametrize(
    "name",
    [
        "",
        ".",
        "..",
        "../x",
        "a/b",
        "a\\b",
        "C:x",
        "CON",
        "con",
        "nul.txt",
        "COM1",
        "lpt9.x",
        "x.",
        " x",
        "x" * 200,
        "a\x00",
    ],
)
def test_names_that_cannot_name_files(name):
    assert not can_name_files(name)
    with pytest.raises(bs.LabelError):
        bs.Contrast(name, "y", "a", "b")


@pytest.mark.parametrize("name", ["drug", "a.b-c_d", "Größe", "console", "com", "nullify", "x" * 150])
def test_names_that_can(name):
    assert can_name_files(name)


@pytest.mark.parametrize("name", ["=1+1", "+x", "-1", "@x", "\tx", "'=x", "''-x", "x", "", "'x", "a=b"])
def test_quotes_before_formulas_are_taken_away_again(name):
    quoted = quote_formula(name)
    assert unquote_formula(quoted) == name
    assert not quoted.startswith(("=", "+", "-", "@", "\t"))


@pytest.mark.parametrize("ending", [".csv", ".tsv"])
def test_a_result_with_names_like_formulas_comes_back(tmp_path, ending):
    X = np.random.default_rng(0).normal(size=(12, 5))
    names = ["=cmd|' /C calc'!A0", "+x", "'=q", "-1", "plain"]
    posterior = bs.screen(X, ["a"] * 6 + ["=b"] * 6, feature_names=names, shuffles=2)
    selection = bs.FixedSize(2).select(posterior)
    path = bs.write_result(tmp_path / f"r{ending}", selection, quote_formulas=True)
    cells = [cell for line in path.read_text().splitlines() for cell in line.split(pl_delimiter(ending))]
    assert not [cell for cell in cells if cell.strip('"').startswith(("=", "+", "@"))]
    stored = bs.read_result(path)
    assert stored.posterior.names == tuple(names[i] for i in posterior.ranking)
    assert stored.selection.summary() == selection.summary()


def pl_delimiter(ending):
    return "," if ending == ".csv" else "\t"


# Numbers


@pytest.mark.parametrize(
    ("memory", "bytes_"), [("300MB", 300_000_000), ("2GiB", 2**31), (5, 5), ("1000000", 10**6)]
)
def test_memory_as_text(tmp_path, memory, bytes_):
    assert memory_bytes(memory) == bytes_
    (tmp_path / "t.csv").write_text(TABLE)
    assert bs.read_table(tmp_path / "t.csv", labels="y", memory=memory).class_counts == {"a": 4, "b": 4}


@pytest.mark.parametrize("memory", [-5, 0, True, False, 1.5, "x", "", "-3GB", "1e999GB", "nan", "3"])
def test_what_is_no_memory(tmp_path, memory):
    (tmp_path / "t.csv").write_text(TABLE)
    with pytest.raises(bs.OptionError, match="no amount of memory"):
        bs.read_table(tmp_path / "t.csv", labels="y", memory=memory)


LARGE = 2**53 + 1


def warned(call):
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        call()
    return [str(each.message) for each in found if "2**53" in str(each.message)]


@pytest.mark.parametrize("form", ["csv", "columns", "parquet", "npz", "array", "uint64"])
def test_whole_numbers_that_are_rounded_are_told_once(tmp_path, form):
    g = [*range(6), LARGE, -LARGE]
    path = tmp_path / "t.csv"
    if form in ("csv", "columns"):
        rows = [["id", "y", "g", "h"], *([f"s{i}", y, str(g[i]), "1.5"] for i, y in enumerate(LABELS))]
        if form == "columns":
            (tmp_path / "u.csv").write_text("".join(f"{a},{b}\n" for a, b, *_ in rows))
            rows = [list(row) for row in zip(*rows, strict=True) if row[0] != "y"]
        path.write_text("".join(",".join(row) + "\n" for row in rows))
    frame = pl.DataFrame({"id": [f"s{i}" for i in range(8)], "y": LABELS, "g": g, "h": [1.5] * 8})
    X = np.array([g, range(8)]).T
    if form == "parquet":
        path = tmp_path / "t.parquet"
        frame.write_parquet(path)
    if form == "npz":
        path = tmp_path / "t.npz"
        np.savez(path, X=X, y=LABELS, features=["g", "h"])
    labels = f"{tmp_path}/u.csv:y" if form == "columns" else "y"
    if form in ("array", "uint64"):
        X = np.abs(X).astype(np.uint64) if form == "uint64" else X
        said = warned(lambda: bs.screen(X, LABELS, feature_names=["g", "h"], shuffles=0))
    else:
        said = warned(lambda: bs.read_table(path, labels=labels, keep=["g"]))
    assert len(said) == 1
    assert "2 whole numbers beyond 2**53" in said[0]
    assert re.search(r"at sample (number )?('s)?[67]'?, feature 'g'", said[0])


@pytest.mark.parametrize("value", [2.0**53 - 1, 1e30, 0.5])
def test_other_large_numbers_are_not(value):
    assert not warned(lambda: bs.screen([[value, i] for i in range(8)], LABELS, shuffles=0))


def test_ids_that_have_lost_digits_are_refused(tmp_path):
    frame = pl.DataFrame({"id": [1e17 + 16 * i for i in range(8)], "y": LABELS, "g": [0.5 * i for i in range(8)]})
    frame.write_parquet(tmp_path / "t.parquet")
    refused(lambda: bs.read_table(tmp_path / "t.parquet", labels="y", id_column="id"), "8 of 8 ids", "as texts")
    whole = frame.with_columns(pl.col("id").cast(pl.Int64) + 1)
    whole.write_parquet(tmp_path / "u.parquet")
    assert bs.read_table(tmp_path / "u.parquet", labels="y", id_column="id").class_counts == {"a": 4, "b": 4}


# Stores


class _Job:
    definition = {"n": 1}  # noqa: RUF012 - never changed


@pytest.mark.parametrize("sql", [
    "DROP TABLE meta", "DELETE FROM meta WHERE key = 'job'", "UPDATE meta SET value = x'ff' WHERE key = 'job'",
    "UPDATE meta SET value = '[1' WHERE key = 'job'", "UPDATE meta SET value = '[1]' WHERE key = 'job'",
    "UPDATE units SET content = 3.5", "UPDATE units SET content = NULL", "UPDATE units SET content = 'x'",
    "CREATE VIEW v AS SELECT 1", "CREATE TRIGGER t AFTER INSERT ON units BEGIN DELETE FROM units; END",
])  # fmt: skip
def test_tampered_units_are_refused(tmp_path, sql):
    values, y = np.zeros((4, 2)), np.array([0.0, 0, 1, 1])
    with UnitStore(tmp_path / "u.sqlite", _Job(), values, y) as units:
        units.add(0, {"a": np.arange(3.0)})
    with sqlite3.connect(tmp_path / "u.sqlite") as base:
        base.executescript(f"CREATE TABLE copy AS SELECT number, content FROM units; DROP TABLE units;"
                           f"ALTER TABLE copy RENAME TO units; {sql};")  # fmt: skip
    base.close()

    def read():
        with UnitStore(tmp_path / "u.sqlite", _Job(), values, y) as units:
            units.read(3)

    refused(read, "u.sqlite")
