"""Readers of binary formats and of folders, and the table of all targets."""

from __future__ import annotations

import contextlib
import io
from unittest import mock

import made_files as made_by_library
import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import scipy.sparse as sp
from fuzz import mutations as m, targets as t
from fuzz.targets import PLAIN, Target, by, by_ending, made
from made_xlsb import write_xlsb

import bayesieve as bs
from bayesieve.io.formats import columnar, hdf5, workbook

ROWS = [["id", "y", "g0", "g1"], *([f"s{i}", "ab"[i % 2], i * 1.5, i * i] for i in range(8))]


GUARDED = False
"""Whether files that can crash a library are looked through in another process first, as users have it."""


def alone(module, guard):
    """Switch a look in another process off, which takes longer than reading."""
    return (
        contextlib.nullcontext()
        if GUARDED
        else mock.patch.object(module, guard, return_value=contextlib.nullcontext())
    )


def numpy_seeds():
    """Arrays, archives and sparse matrices."""
    values = np.random.default_rng(0).normal(size=(8, 3))
    one, many, sparse = io.BytesIO(), io.BytesIO(), io.BytesIO()
    np.save(one, values)
    np.savez(many, X=values, y=np.array(t.CLASSES), feature_names=np.array(["g0", "g1", "g2"]))
    sp.save_npz(sparse, sp.csr_matrix(values.round()))
    beside = b"id,y\n" + "".join(f"s{i},{y}\n" for i, y in enumerate(t.CLASSES)).encode()
    return [
        {"t.npz": many.getvalue()},
        {"t.npy": one.getvalue(), "u.csv": beside},
        {"t.npz": sparse.getvalue(), "u.csv": beside},
    ]


def read_numpy(folder, names):
    """Read an array, with its labels beside it if there are."""
    labels = f"{folder / names[1]}:y" if len(names) > 1 else "y"
    bs.read_table(folder / names[0], labels=labels, memory=2**20, n_threads=1)


def columnar_seeds():
    """Parquet and Arrow of polars and pyarrow."""
    frame = pl.DataFrame({name: [row[k] for row in ROWS[1:]] for k, name in enumerate(ROWS[0])}, strict=False)
    held = [io.BytesIO() for _ in range(4)]
    frame.write_parquet(held[0])
    pq.write_table(pa.table(frame.to_dict(as_series=False)), held[1], compression="none", use_dictionary=False)
    frame.write_ipc(held[2])
    frame.write_ipc_stream(held[3])
    names = ("t.parquet", "t.parquet", "t.arrow", "t.arrows")
    return [{name: data.getvalue()} for name, data in zip(names, held, strict=True)]


def workbook_seeds():
    """Workbooks of three kinds."""

    def xlsb(folder):
        write_xlsb(folder / "t.xlsb", {"data": ROWS})

    return [
        made(lambda f: made_by_library.workbook(f / "t.xlsx", data=ROWS)), made(xlsb),
        made(lambda f: made_by_library.ods(f / "t.ods", ROWS)),
    ]  # fmt: skip


def hdf5_seeds():
    """AnnData dense and sparse, and loom."""
    forms = ("dense", "csr", "csc")
    return [*(made(lambda f, form=form: made_by_library.annotated(form).write_h5ad(f / "t.h5ad")) for form in forms),
            made(lambda f: made_by_library.loom(f / "t.loom"))]  # fmt: skip


def read_columnar(folder, names):
    """Read in this process; a crash of the library is then looked for in another one."""
    with alone(columnar, "look_through_once"):
        t.table()(folder, names)


def read_workbook(folder, names):
    """Read in this process, as above."""
    with alone(workbook, "look_through_once"):
        t.table()(folder, names)


def read_hdf5(folder, names):
    """Read in this process: whether a file can crash the library is looked at in another one, which takes long."""
    with alone(hdf5, "survive_crash"):
        bs.read_table(folder / names[0], labels="state", memory=2**20, n_threads=1)


def tenx_seeds():
    """Files and folders of 10x."""
    labels = "id,state\n" + "".join(f"{cell},{'ab'[i % 2]}\n" for i, cell in enumerate(made_by_library.BARCODES))
    seeds = [
        made(lambda f: made_by_library.tenx_folder(f / "t", packed=False)),
        made(lambda f: made_by_library.tenx_folder(f / "t", packed=True)),
        made(lambda f: made_by_library.tenx_file(f / "t.h5")),
    ]
    return [{**files, "u.csv": labels.encode()} for files in seeds]


def read_tenx(folder, names):
    """Read a file or folder of 10x with its labels."""
    path = folder / ("t.h5" if "t.h5" in names else "t")
    with alone(hdf5, "survive_crash"):
        bs.read_table(path, labels=f"{folder / 'u.csv'}:state", memory=2**20, n_threads=1)


def zarr_seeds():
    """Stores of AnnData."""
    return [
        made(lambda f, form=form: made_by_library.annotated(form).write_zarr(f / "t.zarr"))
        for form in ("dense", "csr")
    ]


def read_zarr(folder, _):
    """Read a store."""
    bs.read_table(folder / "t.zarr", labels="state", memory=2**20, n_threads=1)


def soft_seeds():
    """A family of GEO."""
    return [
        made(
            lambda f: made_by_library.soft_family(
                f / "t_family.soft", *map(made_by_library.soft_sample, range(10))
            )
        )
    ]


ANNOTATION = b"feature\tgene\tnote\ng0\tTP53\tx\ng1\tKRAS\ty\ng2\tMYC /// FOS\tz\n"
GMT = b"hallmark\thttp://x\tTP53\tKRAS\tMYC\nother\tna\tFOS\tJUN\n"
CONTRASTS = b"id,variable,reference,target,blocking\nc1,y,a,b,\nc2,y,b,a,batch;sex\n"
YAML = b"contrasts:\n  - id: c1\n    comparison: [y, a, b]\n  - id: c2\n    comparison: [y, b, a]\n    blocking_factors: [batch]\n"


def side_seeds():
    """Files beside tables: genes, gene sets, lists, contrasts."""
    files = {
        "g.tsv": ANNOTATION,
        "s.gmt": GMT,
        "l.txt": b"TP53\nKRAS\n",
        "c.csv": CONTRASTS,
        "c.yaml": YAML,
        "r.csv": b"gene,p\na,0.1\nb,0.2\n",
    }
    return [{name: data} for name, data in files.items()]


def read_side(folder, names):
    """Read what stands beside a table."""
    from bayesieve.io import read_gene_map, read_gene_sets, read_ids, read_rankings  # noqa: PLC0415

    readers = {"g.tsv": read_gene_map, "s.gmt": read_gene_sets, "l.txt": read_ids, "c.csv": bs.read_contrasts,
               "c.yaml": bs.read_contrasts, "r.csv": read_rankings}  # fmt: skip
    readers[names[0]](folder / names[0])


OF_RESULT = by_ending({".json": (m.of_json,), ".parquet": (t.of_parquet,), ".gz": (m.of_packed,)})
OF_FOLDER = by_ending(
    {".json": (m.of_json, m.of_text), ".gz": (m.of_packed,), ".h5": (m.of_hdf5,), ".csv": PLAIN},
    (m.of_text, m.of_bytes),
)
TARGETS = {
    "text opening": Target(t.packed_seeds, t.read_bytes, by(t.of_opening), 400, 200),
    "compressed tables": Target(t.packed_seeds, t.table(), by(t.of_opening), 60, 30),
    "text tables": Target(t.text_seeds, t.table(missing="omit"), by(*PLAIN), 100, 30),
    "label files": Target(t.beside_seeds, t.read_beside, by(*PLAIN), 50, 20),
    "SOFT": Target(soft_seeds, t.table(labels="tissue"), by(*PLAIN), 10, 10),
    "side files": Target(side_seeds, read_side, by(*PLAIN), 80, 60),
    "results": Target(t.result_seeds, t.read_result, OF_RESULT, 70, 60),
    "reports": Target(t.result_seeds, t.report, OF_RESULT, 3, 4),
    "statistics": Target(t.statistics_seeds, t.read_statistics, by_ending({".parquet": (t.of_statistics,)}), 40, 40),
    "priors": Target(lambda: [{"p.toml": t.PRIOR.encode()}], t.read_prior, by(m.of_toml), 30, 30),
    "study designs": Target(t.design_seeds, t.read_design, by(m.of_toml), 20, 20),
    "study stores": Target(t.store_seeds, t.read_store, by(m.of_sqlite), 30, 40),
    "unit stores": Target(t.unit_seeds, t.read_units, by(m.of_sqlite), 40, 40),
    "NumPy": Target(numpy_seeds, read_numpy, by_ending({".npz": (m.of_zip,), ".npy": (m.of_bytes,)}), 40, 30),
    "Parquet and Arrow": Target(columnar_seeds, read_columnar, by(m.of_bytes), 10, 3),
    "workbooks": Target(workbook_seeds, read_workbook, by(m.of_zip), 10, 6),
    "HDF5": Target(hdf5_seeds, read_hdf5, by(m.of_hdf5), 10, 2),
    "10x": Target(tenx_seeds, read_tenx, OF_FOLDER, 10, 5),
    "zarr": Target(zarr_seeds, read_zarr, OF_FOLDER, 5, 4),
}  # fmt: skip
