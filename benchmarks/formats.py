"""Workbooks, 10x folders and wide Parquet against bare reading by polars and SciPy, and against CSV.

Run with ``python benchmarks/formats.py`` (about two minutes, 700 MB of disk). Times are the best of several
runs in turn; compare them within one run only.
"""

from __future__ import annotations

import gzip
import shutil
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import scipy.io
import xlsxwriter

import bayesieve as bs
from bayesieve.io.tables.read_table import open_table
from bayesieve.io.tables.table import ReadOptions

CELLS, GENES, PER_CELL, RUNS = 20_000, 20_000, 1_000, 3
ROWS, COLUMNS = 150, 55_000


def write_workbook(path: Path) -> None:
    rng = np.random.default_rng(0)
    with xlsxwriter.Workbook(str(path)) as book:
        sheet = book.add_worksheet()
        sheet.write_row(0, 0, ["id", "stage", *(f"g{j}" for j in range(5_000))])
        for i in range(200):
            sheet.write_row(i + 1, 0, [f"s{i}", "ab"[i % 2], *rng.normal(size=5_000).tolist()])


def write_folder(folder: Path) -> None:
    """Write a folder as Cell Ranger does, once plain and once compressed."""
    rng = np.random.default_rng(0)
    plain, packed = folder / "plain", folder / "packed"
    plain.mkdir()
    packed.mkdir()
    with (plain / "matrix.mtx").open("wb") as file:
        file.write(b"%%MatrixMarket matrix coordinate integer general\n")
        file.write(f"{GENES} {CELLS} {CELLS * PER_CELL}\n".encode())
        for lo in range(0, CELLS, 2_000):
            genes = np.concatenate([np.sort(rng.choice(GENES, PER_CELL, replace=False)) for _ in range(2_000)]) + 1
            cells = np.repeat(np.arange(lo, lo + 2_000), PER_CELL) + 1
            frame = pl.DataFrame({"gene": genes, "cell": cells, "count": rng.geometric(0.5, size=genes.size)})
            file.write(frame.write_csv(include_header=False, separator=" ").encode())
    features = "".join(f"ENSG{j:011d}\tSYM{j}\tGene Expression\n" for j in range(GENES))
    (plain / "features.tsv").write_text(features)
    (plain / "barcodes.tsv").write_text("".join(f"B{i:015d}-1\n" for i in range(CELLS)))
    labels = "".join(f"B{i:015d}-1,{i % 3}\n" for i in range(CELLS))
    (folder / "labels.csv").write_text(f"barcode,cluster\n{labels}")
    for file_name in ("matrix.mtx", "features.tsv", "barcodes.tsv"):
        with (
            (plain / file_name).open("rb") as source,
            gzip.open(packed / f"{file_name}.gz", "wb", compresslevel=3) as target,
        ):
            shutil.copyfileobj(source, target, 2**20)


def write_wide(folder: Path) -> None:
    """Write samples in rows with many columns, as CSV and as Parquet."""
    rng = np.random.default_rng(0)
    values = rng.normal(8.0, 1.0, size=(ROWS, COLUMNS)).round(4)
    about = {"id": [f"s{i}" for i in range(ROWS)], "stage": ["ab"[i % 2] for i in range(ROWS)]}
    frame = pl.DataFrame({**about, **{f"g{j}": values[:, j] for j in range(COLUMNS)}})
    frame.write_csv(folder / "wide.csv")
    frame.write_parquet(folder / "wide.parquet")
    frame.write_ipc(folder / "wide.arrow")


def bare_readings(file: Path) -> dict[str, Callable[[], Any]]:
    """Return what libraries take to read a Parquet file and do nothing with it; those that are installed."""
    lazy = pl.scan_parquet(file)
    places = np.array_split(np.arange(COLUMNS + 2), 2)
    calls: dict[str, Callable[[], Any]] = {
        "Parquet: polars.read_parquet alone": lambda: pl.read_parquet(file),
        "Parquet: polars, schema alone": lambda: pl.read_parquet_schema(file),
        "Parquet: polars, two slices of one lazy frame": lambda: [
            lazy.select(pl.nth(part.tolist())).collect() for part in places
        ],
    }
    try:
        import pyarrow.parquet as pq  # noqa: PLC0415

        for threads in (False, True):
            calls[f"Parquet: pyarrow alone, {'all threads' if threads else 'one thread'}"] = lambda t=threads: (
                pq.ParquetFile(file, memory_map=True).read(use_threads=t)
            )
    except ImportError:
        pass
    try:
        import duckdb  # noqa: PLC0415

        calls["Parquet: DuckDB to Arrow"] = lambda: duckdb.sql(f"select * from '{file}'").arrow()
    except ImportError:
        pass
    return calls


def compare(calls: dict[str, Callable[[], Any]]) -> None:
    """Run calls in turn; print the best times of each by clock and processor, and ratios to the first."""
    best = {name: np.array([np.inf, np.inf]) for name in calls}
    for _ in range(RUNS):
        for name, call in calls.items():
            start = np.array([time.perf_counter(), time.process_time()])
            call()
            best[name] = np.minimum(best[name], np.array([time.perf_counter(), time.process_time()]) - start)
    first = next(iter(best.values()))
    print(f"{'':52} {'clock':>15}  {'processor':>15}")
    for name, seconds in best.items():
        parts = (f"{each:6.2f} s {ratio:6.2f}" for each, ratio in zip(seconds, seconds / first, strict=True))
        print(f"{name:52} {'  '.join(parts)}")
    print()


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        book, labels = folder / "t.xlsx", f"{folder / 'labels.csv'}:cluster"
        write_workbook(book)
        compare(
            {
                "xlsx 200 x 5,000: polars.read_excel": lambda: pl.read_excel(book, engine="calamine"),
                "bs.read_table": lambda: bs.read_table(book, labels="stage"),
            }
        )
        write_wide(folder)
        compare(
            {
                "150 x 55,000 CSV: bs.read_table": lambda: bs.read_table(folder / "wide.csv", labels="stage"),
                "Parquet": lambda: bs.read_table(folder / "wide.parquet", labels="stage"),
                "Arrow IPC": lambda: bs.read_table(folder / "wide.arrow", labels="stage"),
                **bare_readings(folder / "wide.parquet"),
            }
        )
        write_folder(folder)
        for kind, matrix in (("plain", "matrix.mtx"), ("packed", "matrix.mtx.gz")):
            place = folder / kind
            compare(
                {
                    f"10x 20,000 x 20,000, {kind}: scipy.io.mmread": lambda p=place / matrix: scipy.io.mmread(p),
                    "mmread, tocsr": lambda p=place / matrix: scipy.io.mmread(p).tocsr(),
                    "opened by bayesieve": lambda p=place: open_table(p, ReadOptions()),
                    "bs.read_table (opened and summed)": lambda p=place: bs.read_table(
                        p, labels=labels, keep_values=False
                    ),
                }
            )


if __name__ == "__main__":
    main()
