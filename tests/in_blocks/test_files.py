"""Files read block by block: the same bits in threads, within any memory and on a cluster; wrong values named."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import anndata
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import zarr
from commands import executable, inside
from digests import digest
from distributed import Client

import bayesieve as bs
from bayesieve.distributed import SpanTable, open_cluster
from bayesieve.io.formats import stored_matrix
from bayesieve.screening import values_of

N, P = 2_500, 60  # three blocks of cells where blocks are low
KINDS = ("dense.h5ad", "csc.h5ad", "gzip.h5ad", "layer.h5ad", "dense.zarr", "csr.zarr", "columns.zarr")
pytestmark = pytest.mark.filterwarnings(
    "ignore:.*deprecated:DeprecationWarning:distributed", "ignore::UserWarning:anndata", "ignore::FutureWarning"
)


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Cut files of a few kilobytes as if they were large."""
    monkeypatch.setattr(stored_matrix, "BLOCK_BYTES", 2**14)


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    with open_cluster("local:2", memory=2 * 10**9) as made:
        yield made


@pytest.fixture(scope="module")
def cells() -> anndata.AnnData:
    """Counts whose second class is not in the first block, and whose last class is rare."""
    rng = np.random.default_rng(7)
    values = rng.poisson(0.6, size=(N, P)).astype(np.float32)
    kind = np.array(["B", "T", "NK"])[np.where(np.arange(N) < 1_100, 0, rng.integers(0, 2, N))]
    kind[-20:] = "NK"
    values[kind == "T", :5] += 2
    obs = pd.DataFrame({"kind": kind, "batch": np.arange(N) % 3}, index=[f"c{i}" for i in range(N)]).astype(str)
    return anndata.AnnData(values, obs=obs, var=pd.DataFrame(index=[f"g{j}" for j in range(P)]))


@pytest.fixture(scope="module")
def write(cells: anndata.AnnData, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Return what writes the cells in one of the forms, once."""
    folder = tmp_path_factory.mktemp("cells")

    def made(name: str) -> Path:
        path = folder / name
        if path.exists():
            return path
        how = name.split(".", maxsplit=1)[0]
        forms = {"csr": sp.csr_matrix, "gzip": sp.csr_matrix, "csc": sp.csc_matrix}
        held = cells.copy()
        held.X = forms.get(how, np.asarray)(cells.X)
        if how == "layer":
            held.layers["counts"], held.X = sp.csr_matrix(cells.X), None
        if path.suffix == ".h5ad":
            held.write_h5ad(path, compression="gzip" if how == "gzip" else None)
        else:
            held.write_zarr(path, chunks=(N, 7) if how == "columns" else (300, 25) if how == "dense" else None)
        return path

    return made


def read(path: Path, **options: Any) -> Any:
    layer = "counts" if path.stem == "layer" else None
    return bs.read_table(path, labels="kind", layer=layer, **{"keep_values": False, **options})


@pytest.mark.parametrize("name", KINDS)
def test_the_bits_do_not_depend_on_who_reads_nor_on_memory(
    write: Callable[[str], Path], cells: anndata.AnnData, client: Client, name: str
) -> None:
    path = write(name)
    serial = read(path, n_threads=1)
    assert serial.spans.table.n_blocks > 1
    expected = digest(serial.statistics)
    for options in ({"n_threads": 3}, {"memory": 10**6}, {"keep_values": True}, {"client": client}):
        found = read(path, **options)
        assert digest(found.statistics) == expected, options
        assert (found.kept is not None) == ("keep_values" in options)
    whole = bs.Moments.from_matrix(cells.X, cells.obs["kind"].to_numpy())
    np.testing.assert_allclose(serial.moments.mean, whole.mean, rtol=1e-12)
    np.testing.assert_allclose(serial.moments.centred_squares, whole.centred_squares, rtol=1e-10)
    assert serial.class_counts == cells.obs["kind"].value_counts().to_dict()
    sample = serial.profile
    assert (sample.n_samples, sample.n_features, sample.smallest, sample.largest) == (N, P, 0.0, cells.X.max())


@pytest.mark.parametrize("name", ["csr.h5ad", "dense.zarr", "columns.zarr"])
def test_a_screen_with_second_passes_is_that_of_values_in_memory(
    write: Callable[[str], Path], cells: anndata.AnnData, client: Client, name: str
) -> None:
    path, treated = write(name), {"normalise": "total", "transform": "log1p", "blocks": "batch", "classes": "B, T"}
    options: dict[str, Any] = {"shuffles": 4, "resolution": 0.05}
    near, far = (
        bs.screen(read(path, **treated, **where), **options) for where in ({"n_threads": 2}, {"client": client})
    )
    assert digest(near.log_odds) == digest(far.log_odds)
    assert digest(near.shuffled) == digest(far.shuffled)
    assert near.shuffled.scheme == "batches"
    chosen = cells[cells.obs["kind"].isin(["B", "T"])]
    values = bs.transform(bs.normalise(chosen.X, "total"), "log1p")
    whole = bs.screen(values, chosen.obs["kind"].tolist(), blocks=chosen.obs["batch"].tolist(), **options)
    np.testing.assert_allclose(near.log_odds, whole.log_odds, rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(near.shuffled.own_share, whole.shuffled.own_share, rtol=1e-7)
    table = read(path, **treated, client=client)
    which = np.array([2, 9, 31, 58])
    codes, again = values_of(table, which)
    np.testing.assert_allclose(again, values[:, which], rtol=1e-6)
    assert (codes == (chosen.obs["kind"] == "T")).all()


@pytest.mark.filterwarnings("ignore::bayesieve.BayesieveWarning")
def test_models_of_counts_and_groups(write: Callable[[str], Path], cells: anndata.AnnData, client: Client) -> None:
    path, model = write("csr.h5ad"), bs.PoissonModel()
    near, far = (
        bs.screen(read(path, model=model, exposures="total", classes="B, T", **where), model=model, shuffles=0)
        for where in ({"keep_values": True}, {"client": client})
    )
    assert digest(near.log_odds) == digest(far.log_odds)
    groups = [
        bs.screen_groups(read(path, **where), shuffles=2) for where in ({"keep_values": True}, {"client": client})
    ]
    assert digest(groups[0].log_odds) == digest(groups[1].log_odds)
    np.testing.assert_allclose(*(each.posterior.shuffled.shares for each in groups), rtol=1e-6)


def damaged(cells: anndata.AnnData, path: Path, places: dict[tuple[int, int], float]) -> Path:
    held = cells.copy()
    for place, value in places.items():
        held.X[place] = value
    held.write_h5ad(path)
    return path


@pytest.mark.parametrize("cluster", [False, True])
def test_what_is_wrong_with_a_value_is_said_in_the_names_of_the_file(
    cells: anndata.AnnData, tmp_path: Path, client: Client, cluster: bool
) -> None:
    where = {"client": client} if cluster else {"n_threads": 2}
    gaps = damaged(cells, tmp_path / "gaps.h5ad", {(2_100, 7): np.nan, (1_500, 9): np.nan, (1_600, 7): np.nan})
    with pytest.raises(
        bs.MissingValueError, match=r"3 missing value\(s\) in 2 of 60 .*sample 'c1500', feature 'g9'"
    ):
        read(gaps, **where)
    omitted = read(gaps, missing="omit", **where)
    assert omitted.record.n_missing == 3
    assert omitted.moments.counts.sum() == N * P - 3
    odd = damaged(cells, tmp_path / "odd.h5ad", {(2_100, 7): np.inf, (50, 7): np.nan})
    with pytest.raises(bs.DataError, match=r"infinite value .inf. at sample 'c2100', feature 'g7'"):
        read(odd, missing="omit", **where)
    below = damaged(cells, tmp_path / "below.h5ad", {(1_999, 3): -4.0})
    with pytest.raises(bs.DataError, match=r"log1p.*sample 'c1999', feature 'g3'"):
        read(below, transform="log1p", **where)


def test_a_block_that_cannot_be_read_is_tried_again_and_then_named(
    write: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write("csr.h5ad")
    expected, true, times = digest(read(path).statistics), stored_matrix.Compressed.block, [0, 0]

    def failing(self: Any, part: slice) -> Any:
        if part.start == 1_024:
            times[0] += 1
            if times[0] <= times[1]:
                raise OSError("the disk is away")
        return true(self, part)

    monkeypatch.setattr(stored_matrix.Compressed, "block", failing)
    times[1] = 3
    assert digest(read(path).statistics) == expected
    times[:] = [0, 99]
    with pytest.raises(bs.DataError, match="disk is away") as raised:
        read(path)
    assert (
        f"Block 1, 0 of {path} (samples 1,024 to 2,047, features 0 to 59) could not be read or summed 4 times"
        in str(raised.value)
    )


def test_memory_bounds_the_number_of_blocks_at_a_time(write: Callable[[str], Path]) -> None:
    reader = read(write("dense.zarr")).spans.table.reader
    threads = [SpanTable(reader, memory, 8)._threads(0) for memory in (1, 8 * reader.n_bytes, 10**9)]
    assert threads == [1, 2, 8]


def test_plain_arrays_and_folders_of_parquet(cells: anndata.AnnData, tmp_path: Path, client: Client) -> None:
    kind = cells.obs["kind"].to_numpy()
    zarr.create_array(tmp_path / "plain.zarr", data=cells.X, chunks=(400, 20))
    cells.obs[["kind"]].to_csv(tmp_path / "kind.csv")
    options = {"labels": f"{tmp_path / 'kind.csv'}:kind", "keep_values": False}
    expected = bs.Moments.from_matrix(cells.X, kind)
    plain = bs.read_table(tmp_path / "plain.zarr", **options)
    np.testing.assert_allclose(plain.moments.mean, expected.mean, rtol=1e-12)
    assert digest(bs.read_table(tmp_path / "plain.zarr", client=client, **options).statistics) == digest(
        plain.statistics
    )
    (tmp_path / "short.csv").write_text("cell,kind\n" + "c,B\nd,T\n" * 20, encoding="utf-8")
    with pytest.raises(bs.LabelError, match="40"):
        bs.read_table(tmp_path / "plain.zarr", labels=f"{tmp_path / 'short.csv'}:kind")
    frame = pd.DataFrame(cells.X, columns=cells.var_names).assign(kind=kind, cell=cells.obs_names)
    (tmp_path / "parts").mkdir()
    for k, lo in enumerate((0, 900, 901)):
        part = frame.iloc[lo : (900, 901, N)[k]]
        part.to_parquet(tmp_path / "parts" / f"part-{k}.parquet", row_group_size=500, index=False)
    (tmp_path / "parts" / "_SUCCESS").touch()
    folder = bs.read_table(tmp_path / "parts", labels="kind")
    np.testing.assert_allclose(folder.moments.mean, expected.mean, rtol=1e-12)
    with pytest.raises(bs.OptionError, match=r"Only one process can do this: .*Parquet"):
        bs.read_table(tmp_path / "parts", labels="kind", client=client)


def test_the_command_gives_the_same_file_on_a_cluster(
    write: Callable[[str], Path], tmp_path: Path, client: Client, capfd: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, outs = write("csr.zarr"), [tmp_path / "near.csv", tmp_path / "far.csv"]
    common = ("screen", path, "-l", "kind", "-c", "B, T", "--shuffles", 3)
    for out, where in zip(outs, (("--memory", "1MB"), ("--dask", client.scheduler.address)), strict=True):
        ended = inside(capfd, monkeypatch, *common, *where, "-o", out)
        assert ended.code == 0, ended.err
        assert "3 shuffles: the table is read once more." in ended.said
    assert outs[0].read_bytes() == outs[1].read_bytes()
    ended = inside(capfd, monkeypatch, "screen", path, "-l", "kind", "--dask", "locl")
    assert (ended.code, "names no cluster" in ended.said) == (2, True)


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="looks for processes in /proc")
def test_interrupted_it_ends_with_its_workers(cells: anndata.AnnData, tmp_path: Path) -> None:
    obs = pd.DataFrame({"kind": np.tile(cells.obs["kind"], 40)}, index=[f"c{i}" for i in range(40 * N)])
    many = anndata.AnnData(np.tile(cells.X, (40, 20)), obs=obs)
    many.write_h5ad(tmp_path / "many.h5ad", compression="gzip")
    arguments = (
        "screen",
        "many.h5ad",
        "-l",
        "kind",
        "-c",
        "B, T",
        "--shuffles",
        40,
        "--dask",
        "local:2",
        "-o",
        "x.csv",
    )
    line = [executable(), *map(str, arguments)]
    run = subprocess.Popen(line, stderr=subprocess.PIPE, text=True, cwd=tmp_path, start_new_session=True)
    deadline = time.monotonic() + 120
    while len(in_session(run.pid)) < 4 and run.poll() is None:  # itself, two workers and what tracks them
        assert time.monotonic() < deadline
        time.sleep(0.1)
    time.sleep(1.0)
    os.kill(run.pid, signal.SIGINT)
    said = run.communicate(timeout=120)[1]
    assert run.returncode == 130, said
    assert "interrupted" in said
    while left := in_session(run.pid):
        assert time.monotonic() < deadline + 60, left
        time.sleep(0.1)
    assert not (tmp_path / "x.csv").exists()


def in_session(leader: int) -> list[int]:
    """Processes of the session of a command."""
    found = []
    for each in Path("/proc").iterdir():
        if each.name.isdigit():
            try:
                fields = (each / "stat").read_text(encoding="utf-8").rpartition(")")[2].split()
            except OSError:
                continue
            if int(fields[3]) == leader and fields[0] != "Z":
                found.append(int(each.name))
    return found
