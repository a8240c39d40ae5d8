"""On a real cluster of two workers: the same bits as in one process, whoever dies."""

from __future__ import annotations

import os
import re
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import dask
import dask.array as da
import numpy as np
import pytest
import scipy.sparse as sp
from digests import digest
from distributed import Client, LocalCluster

import bayesieve as bs

N_BLOCKS, ROWS, COLUMNS = 40, 50, 60
pytestmark = pytest.mark.filterwarnings("ignore:.*deprecated:DeprecationWarning:distributed")


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    """Two workers, processes of one thread each, with nannies that start them again."""
    with (
        dask.config.set(
            {"distributed.scheduler.allowed-failures": 10, "distributed.worker.memory.terminate": False}
        ),
        LocalCluster(
            n_workers=2, threads_per_worker=1, memory_limit="600MB", dashboard_address=":0", silence_logs=50
        ) as cluster,
        Client(cluster, set_as_default=False) as made,
    ):
        yield made


def slow_block(values: np.ndarray, wait: float) -> np.ndarray:
    time.sleep(wait)
    return values + 1.0


def table(seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    values, y = rng.normal(size=(N_BLOCKS * ROWS, COLUMNS)), rng.integers(0, 2, N_BLOCKS * ROWS)
    values[y == 1, :5] += 0.5
    return values, y


def on(client: Client, function: Any, *args: Any, **options: Any) -> Any:
    """Call a function while the client is the one that Dask uses."""
    with client.as_current(), dask.config.set(scheduler="dask.distributed"):
        return function(*args, **options)


def wait_for_both(client: Client) -> None:
    """Wait until a worker that died is there again."""
    deadline = time.monotonic() + 20.0
    while len(client.run(os.getpid, on_error="ignore")) < 2:
        assert time.monotonic() < deadline, "the nanny has not started the worker again"
        time.sleep(0.1)


def kill_one(client: Client, after: float, killed: list[int]) -> None:
    time.sleep(after)
    pids = list(client.run(os.getpid).values())
    if pids:
        killed.append(pids[0])
        os.kill(pids[0], signal.SIGKILL)


def test_the_bits_do_not_depend_on_where_blocks_are_summed(client: Client) -> None:
    values, y = table()
    X = da.from_array(values, chunks=(ROWS, 25))
    with dask.config.set(scheduler="sync"):
        expected = digest(bs.Moments.from_matrix(X, y))
    with dask.config.set(scheduler="threads", num_workers=3):
        assert digest(bs.Moments.from_matrix(X, y)) == expected
    assert digest(on(client, bs.Moments.from_matrix, X, y)) == expected


@pytest.mark.parametrize("after", [0.2, 0.5])
def test_a_worker_that_dies_changes_no_bit(client: Client, after: float) -> None:
    values, y = table()
    X = da.from_array(values, chunks=(ROWS, COLUMNS))
    expected = digest(bs.Moments.from_matrix(X + 1.0, y))
    wait_for_both(client)
    killed: list[int] = []
    killer = threading.Thread(target=kill_one, args=(client, after, killed))
    killer.start()
    found = on(client, bs.Moments.from_matrix, X.map_blocks(slow_block, wait=0.05, dtype=float), y)
    killer.join()
    assert killed
    assert digest(found) == expected


def test_a_whole_screen_with_shuffles_on_a_cluster(client: Client) -> None:
    values, y = table()
    X = da.from_array(values, chunks=(500, 30)).map_blocks(sp.csr_matrix)
    done: list[tuple[int, int]] = []
    far = on(client, bs.screen, X, y, shuffles=4, progress=lambda *now: done.append(now))
    with dask.config.set(scheduler="sync"):
        near = bs.screen(X, y, shuffles=4)
    assert digest(far.log_odds) == digest(near.log_odds)
    assert far.shuffled.n_shuffles == near.shuffled.n_shuffles == 4
    assert digest(far.shuffled) == digest(near.shuffled)
    assert (8, 8) in done  # blocks of the first pass
    assert done[-1] == (4, 4)  # shuffles
    inside = bs.screen(values, y, shuffles=0)
    np.testing.assert_allclose(far.log_odds, inside.log_odds, rtol=1e-9, atol=1e-9)


def break_in(values: np.ndarray, block_id: tuple[int, int], folder: str, times: int) -> np.ndarray:
    """Fail at one block, for the first so many times."""
    if block_id == (3, 1):
        tries = len(list(Path(folder).iterdir()))
        (Path(folder) / str(tries)).touch()
        if tries < times:
            raise OSError("the disk is away")
    return values


def test_a_block_that_fails_is_tried_again_and_then_named(client: Client, tmp_path: Path) -> None:
    values, y = table()
    X = da.from_array(values, chunks=(500, 30))
    for times, folder in ((2, tmp_path / "some"), (99, tmp_path / "all")):
        folder.mkdir()
        broken = X.map_blocks(break_in, folder=str(folder), times=times, dtype=float)
        if times == 2:
            assert digest(on(client, bs.Moments.from_matrix, broken, y)) == digest(bs.Moments.from_matrix(X, y))
            continue
        with pytest.raises(bs.DataError, match="disk is away") as raised:
            on(client, bs.Moments.from_matrix, broken, y)
        assert str(raised.value).startswith("Block 3, 1 (samples 1,500 to 1,999, features 30 to 59) could not")
        assert "4 times" in str(raised.value)


def test_chunks_too_large_for_a_worker_are_refused_with_the_call_that_mends_them(client: Client) -> None:
    X = da.zeros((100_000, 2_000), chunks=(50_000, 2_000))
    y = np.arange(100_000) % 2
    with pytest.raises(bs.DataError, match="too large") as raised:
        on(client, bs.Moments.from_matrix, X, y)
    rows = int(str(raised.value).split("X.rechunk({0: ")[1].split("}")[0])
    assert 1_000 < rows < 50_000


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the system does not tell peaks of memory")
def test_a_table_larger_than_the_memory_of_a_worker_keeps_within_it(client: Client) -> None:
    X = da.ones((400_000, 500), chunks=(10_000, 500)).map_blocks(np.cumsum, axis=1, dtype=float)  # 1.6 GB in all
    y = np.arange(X.shape[0]) % 2
    found = on(client, bs.Moments.from_matrix, X, y, shape=False)
    np.testing.assert_allclose(found.mean[0], np.arange(1.0, 501.0))
    peaks = client.run(peak_memory)
    assert max(peaks.values()) < 600e6


def peak_memory() -> float:
    """Of this process alone: what ``getrusage`` tells includes the process that started it."""
    line = re.search(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text(encoding="ascii"))
    assert line is not None
    return int(line[1]) * 1024.0


def test_interrupted_it_takes_its_tasks_back(client: Client) -> None:
    values, y = table()
    X = da.from_array(values, chunks=(ROWS, COLUMNS)).map_blocks(slow_block, wait=0.2, dtype=float)
    timer = threading.Timer(0.7, signal.raise_signal, (signal.SIGINT,))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        on(client, bs.Moments.from_matrix, X, y)
    timer.join()
    deadline = time.monotonic() + 10.0
    while left := client.run_on_scheduler(n_tasks):
        assert time.monotonic() < deadline, f"{left} tasks are left"
        time.sleep(0.1)


def n_tasks(dask_scheduler: Any) -> int:
    return len(dask_scheduler.tasks)
