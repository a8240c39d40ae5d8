"""What is fuzzed: every reader and every store, with valid files that code makes."""

from __future__ import annotations

import functools
import gzip
import io
import json
import sqlite3
import tempfile
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from fuzz import mutations as m

import bayesieve as bs
from bayesieve.io import is_statistics_file
from bayesieve.stats import SiteStatistics, StatisticsSet

Files = dict[str, bytes]
PLAIN = (m.of_text, m.of_text, m.of_bytes)


@dataclass(frozen=True)
class Target:
    """A reader or a store.

    Parameters
    ----------
    seeds
        Makes the valid files: name to contents, each set in a folder of its own.
    read
        Reads what stands in a folder.
    mutate
        Mutations that are chosen from for a file of that name.
    share
        How many of a thousand executions it gets.
    in_ci
        How many executions every run of the tests makes.
    """

    seeds: Callable[[], list[Files]]
    read: Callable[[Path, list[str]], None]
    mutate: Callable[[str], tuple]
    share: int
    in_ci: int


def by(*kinds):
    """One choice of mutations for all files."""
    return lambda name: kinds


def by_ending(endings, other=PLAIN):
    """Return mutations by the ending of the name."""
    return lambda name: next((kinds for ending, kinds in endings.items() if name.endswith(ending)), other)


def made(write):
    """Files that something writes to a folder."""
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        write(Path(folder))
        files = sorted(path for path in Path(folder).rglob("*") if path.is_file())
        return {str(path.relative_to(folder)): path.read_bytes() for path in files}


# Text

CLASSES = ["a", "b"] * 4


def lines(delimiter=",", *, columns=False, decimal="."):
    """Return a table of eight samples and three features as text."""
    values = np.random.default_rng(0).normal(size=(8, 3)).round(3)
    rows = [["id", "y", "g0", "g1", "g2"]] + [
        [f"s{i}", y, *map(str, v)] for i, (y, v) in enumerate(zip(CLASSES, values, strict=True))
    ]
    rows = [list(column) for column in zip(*rows, strict=True)] if columns else rows
    return "".join(delimiter.join(row) + "\n" for row in rows).replace(".", decimal)


def text_seeds():
    """CSV, TSV, decimal commas, quotes, GCT and series matrix."""
    plain = lines()
    quoted = "\r\n".join(",".join(f'"{cell}"' for cell in line.split(",")) for line in plain.splitlines()) + "\r\n"
    body = lines("\t", columns=True).splitlines()
    gct = "\n".join(["#1.3", "3\t8\t0\t1", *body]) + "\n"
    series = "\n".join(['!Series_title\t"t"', "!Sample_geo_accession\t" + "\t".join(f'"s{i}"' for i in range(8)),
                        "!Sample_characteristics_ch1\t" + "\t".join(f'"y: {y}"' for y in CLASSES),
                        "!series_matrix_table_begin", body[0].replace("id", "ID_REF"), *body[2:], "!series_matrix_table_end", ""])  # fmt: skip
    return [{"t.csv": plain.encode()}, {"t.csv": quoted.encode()}, {"t.tsv": "\n".join(body).encode()}, {"t.gct": gct.encode()},
            {"t.csv": lines(";", decimal=",").encode()}, {"GSE1_series_matrix.txt": series.encode()}]  # fmt: skip


def packed_seeds():
    """Compressed text and text of two or four bytes a letter."""
    text = lines()
    wide = [{"t.csv": text.encode(name)} for name in ("utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-8-sig")]
    return [*({f"t.csv{ending}": pack(text.encode())} for ending, (pack, _) in m.PACKERS.items()), *wide]


def of_opening(rng, content):
    """Mutate what is compressed as such, the rest as bytes."""
    packed = content.startswith((b"\x1f\x8b", b"BZh", b"\xfd7z", b"(\xb5"))
    return (m.of_packed if packed else m.of_bytes)(rng, content)


def read_bytes(folder, names):
    """Read a text to its end: decompression and decoding alone."""
    from bayesieve.io.text.files import TextBytes  # noqa: PLC0415 - an inner door

    with TextBytes(folder / names[0], None) as stream:
        while stream.read(2**16):
            pass


def table(**options):
    """Read a table and do nothing with it."""

    def read(folder, names):
        bs.read_table(folder / names[0], memory=2**20, n_threads=1, **{"labels": "y", **options})

    return read


def read_beside(folder, names):
    """Read a table whose labels stand in another file."""
    bs.read_table(folder / "t.csv", labels=f"{folder / names[-1]}:y", memory=2**20, n_threads=1)


def beside_seeds():
    """A table, and the labels of its samples."""
    labels = "id,y,age\n" + "".join(f"s{i},{y},{30 + i}\n" for i, y in enumerate(CLASSES))
    values = "".join(
        ",".join(cell for k, cell in enumerate(line.split(",")) if k != 1) + "\n" for line in lines().splitlines()
    )
    return [{"t.csv": values.encode(), "u.csv": labels.encode()}]


# Results, manifests, statistics


@functools.cache
def posterior():
    """Return the screen of a small table."""
    values = np.random.default_rng(1).normal(size=(12, 6))
    values[6:, 0] += 3
    return bs.screen(values, ["a"] * 6 + ["b"] * 6, prior_probability=0.2, shuffles=3)


def result_seeds():
    """Results of every kind, with their records."""
    selection = bs.MinimalRisk(0.5).select(posterior())

    def write(ending):
        return made(lambda folder: bs.write_result(folder / f"r{ending}", selection))

    alone = {"r.csv": write(".csv")["r.csv"]}
    plain = bs.FixedSize(2).select(
        bs.screen(
            np.random.default_rng(2).normal(size=(8, 4)), CLASSES, model=bs.GaussianModel.jeffreys(), shuffles=0
        )
    )
    return [
        write(".csv"),
        write(".json"),
        write(".parquet"),
        alone,
        made(lambda f: bs.write_result(f / "r.tsv", plain)),
        {"r.csv.gz": gzip.compress(write(".csv")["r.csv"], 1, mtime=0)},
    ]


def of_parquet(rng, content):
    """Change the description in a Parquet file of ours, or its bytes."""
    import polars as pl  # noqa: PLC0415 - slow to import

    about = pl.read_parquet_metadata(io.BytesIO(content)).get("bayesieve", "")
    if rng.randrange(3) or not about:
        return m.of_bytes(rng, content)
    held = io.BytesIO()
    changed = m.of_json(rng, about.encode()).decode("utf-8", "replace").replace("\0", "")
    pl.read_parquet(io.BytesIO(content)).write_parquet(held, metadata={"bayesieve": changed})
    return held.getvalue()


def read_result(folder, names):
    """Read a result, with everything that a report asks of it."""
    stored = bs.read_result(folder / names[0])
    stored.selection.summary()


def report(folder, names):
    """Write the report of a result as the command does."""
    from bayesieve.cli.report import run_report  # noqa: PLC0415 - slow to import

    options = {"out": str(folder / "page.html"), "quiet": True, "verbose": False, "json_log": False}
    run_report(options, str(folder / names[0]), None)


def statistics_seeds():
    """Sums of one site, sealed and as a tidy table."""
    moments = bs.Moments.from_matrix(np.random.default_rng(0).normal(size=(8, 3)), CLASSES)
    sites = StatisticsSet((SiteStatistics("Oslo", moments, ("g0", "g1", "g2")),))
    sealed = made(lambda folder: bs.write_statistics(sites, folder / "s.stats.parquet"))
    tidy = "feature,class,n,mean,sd\n" + "".join(f"g{j},{c},8,{j}.5,1.25\n" for j in range(3) for c in "ab")
    return [sealed, {"s.csv": tidy.encode()}]


def of_statistics(rng, content):
    """Change the description or the numbers of a statistics file and make its hash anew, or change bytes."""
    import polars as pl  # noqa: PLC0415 - slow to import

    from bayesieve.io.statistics_file import _protect, _unprotect  # noqa: PLC0415

    if rng.randrange(3) == 0:
        return m.of_bytes(rng, content)
    held = io.BytesIO(_unprotect(content))
    about = json.loads(pl.read_parquet_metadata(held)["bayesieve"])
    frame = pl.read_parquet(held)
    if rng.randrange(3):
        about = m.of_tree(rng, about)
    else:
        frame = frame.with_columns(
            pl.lit(rng.choice([None, "x", -1, 2**60, float("inf")])).alias(rng.choice(frame.columns))
        )
    new = io.BytesIO()
    frame.write_parquet(new, metadata={"bayesieve": json.dumps(about)})
    return _protect(new.getvalue())


def read_statistics(folder, names):
    """Read sums of sites."""
    path = folder / names[0]
    if is_statistics_file(path):
        bs.read_statistics(path).pooled()


# Settings

PRIOR = """prior_ratio = 0.5
[class]
variance_dof = 2.5
variance_scale = 1.5
mean_strength = 0.5
[classes.a]
variance_dof = 3
mean_location = 1.5
[pooled]
variance_dof = 2
variance_scale = 1
mean_strength = 1
"""


def read_prior(folder, names):
    """Read a prior and screen with it."""
    from bayesieve.io import read_model  # noqa: PLC0415 - slow to import

    model = read_model(folder / names[0], ["a", "b"], [f"x{j}" for j in range(4)])
    values = np.random.default_rng(2).normal(size=(8, 4))
    bs.screen(values, CLASSES, model=model, shuffles=0)


def design_seeds():
    """Studies that come with the package."""
    from bayesieve.study import built_in, built_in_grid  # noqa: PLC0415 - slow to import

    names = ("figure-1a", "figure-1b", "table-1", "calibration")
    return [
        *({"d.toml": built_in(name).to_toml().encode()} for name in names),
        {"g.toml": built_in_grid("trust").to_toml().encode()},
    ]


def read_design(folder, names):
    """Read a study, count its data sets and draw the smallest of them where that is quick."""
    from bayesieve.study import StudyDesign, StudyGrid, due_units  # noqa: PLC0415 - slow to import
    from bayesieve.study.methods import check_runnable  # noqa: PLC0415

    if names[0] == "g.toml":
        grid = StudyGrid.from_toml(folder / names[0])
        assert grid.n_data_sets > 0
        for design in grid.designs.values():
            check_runnable(design)
        return
    design = StudyDesign.from_toml(folder / names[0])
    check_runnable(design)
    assert due_units(design, set())
    assert design.to_toml()


# Stores


@functools.cache
def small_design():
    """Return a study of a second."""
    from small_studies import small_study  # noqa: PLC0415 - slow to import

    return small_study(iterations=2, sizes=(20, 40))


def without_wal(path):
    """Return the bytes of a database that stands in one file."""
    with sqlite3.connect(path) as base:
        base.execute("PRAGMA journal_mode = DELETE")
    base.close()
    return path.read_bytes()


def store_seeds():
    """The store of a finished study."""
    from bayesieve.study import run_study  # noqa: PLC0415 - slow to import

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "study.sqlite"
        run_study(small_design(), path, workers=1)
        return [{"study.sqlite": without_wal(path)}]


def read_store(folder, names):
    """Read a store, and go on with it where nothing is left to do."""
    from bayesieve.study.store import Database, StudyResults  # noqa: PLC0415 - slow to import

    results = StudyResults.load(folder / names[0])
    results.means("n_selected")
    with Database(folder / names[0]) as base:
        base.prepare(results.design)
        base.done()


def unit_seeds():
    """The store of a slow rival."""
    from bayesieve.rivals.regression.units import UnitStore  # noqa: PLC0415 - an inner door

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "units.sqlite"
        with UnitStore(path, _Work(), *_unit_data()) as store:
            for k in range(3):
                store.add(k, {"a": np.arange(3.0), "b": np.array(k)})
        return [{"units.sqlite": without_wal(path)}]


class _Work:
    """A job of which nothing is done."""

    definition = {"method": "fuzz", "n": 2}  # noqa: RUF012 - never changed


def _unit_data():
    return np.zeros((4, 2)), np.array([0.0, 0.0, 1.0, 1.0])


def read_units(folder, names):
    """Read the units of a slow rival."""
    from bayesieve.rivals.regression.units import UnitStore  # noqa: PLC0415 - an inner door

    with UnitStore(folder / names[0], _Work(), *_unit_data()) as store:
        store.read(5)
