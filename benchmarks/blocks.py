"""Tables in blocks: overhead of Dask, two workers against one, deaths of workers, memory, size of the graph.

    python benchmarks/blocks.py --folder SCRATCH [--gigabytes 8] [--kills 20] [--only overhead,workers,...]

A dense float32 table is made once as a zarr array in the folder. Times are ratios of runs that alternate.
"""

from __future__ import annotations

import argparse
import dataclasses
import hashlib
import os
import pickle
import random
import signal
import statistics
import threading
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import dask
import dask.array as da
import numpy as np
import zarr
from distributed import Client, LocalCluster

import bayesieve as bs
from bayesieve.distributed import Leaf, OneThread, Place, Tree, smallest_codes
from bayesieve.distributed.graph import LabelSlices, SumGraph

N_FEATURES, ROWS = 10_000, 2_000  # blocks of 80 MB
REPEATS = 3


def make(folder: Path, gigabytes: float) -> Path:
    """Write the table, block by block; one that is there is taken as it is."""
    n_rows = int(gigabytes * 1e9 / 4 / N_FEATURES) // ROWS * ROWS
    path = folder / f"dense-{n_rows}x{N_FEATURES}.zarr"
    if path.exists():
        return path
    made = zarr.create_array(
        str(path) + ".part", shape=(n_rows, N_FEATURES), chunks=(ROWS, N_FEATURES), dtype="f4", compressors=None
    )
    rng = np.random.default_rng(0)
    for lo in range(0, n_rows, ROWS):
        made[lo : lo + ROWS] = rng.random((ROWS, N_FEATURES), dtype=np.float32)
    os.rename(str(path) + ".part", path)
    return path


def digest(moments: bs.Moments) -> str:
    made = hashlib.sha256()
    for field in dataclasses.fields(moments):
        value = getattr(moments, field.name)
        if isinstance(value, np.ndarray):
            made.update(np.ascontiguousarray(value).tobytes())
    return made.hexdigest()[:16]


def labels_of(array: Any) -> Any:
    return np.random.default_rng(1).integers(0, 2, array.shape[0])


def plain_loop(array: Any, y: Any) -> bs.Moments:
    """The same leaves and the same tree in one thread, without Dask."""
    tree: Tree[bs.Moments] = Tree()
    leaf = Leaf(OneThread(bs.Moments.from_labelled), 2)
    for number, lo in enumerate(range(0, array.shape[0], ROWS)):
        tree.put(number, leaf(array[lo : lo + ROWS], y[lo : lo + ROWS], Place(lo)))
    whole: bs.Moments = tree.result()
    return whole


def timed(work: Callable[[], Any]) -> tuple[float, float, Any]:
    """Wall and processor seconds of this process, and the result."""
    wall, processor = time.perf_counter(), time.process_time()
    found = work()
    return time.perf_counter() - wall, time.process_time() - processor, found


def cluster(n_workers: int, memory: str = "1GB") -> LocalCluster:
    return LocalCluster(
        n_workers=n_workers, threads_per_worker=1, memory_limit=memory, dashboard_address=":0", silence_logs=50
    )


def overhead(path: Path, n_rows: int) -> None:
    """One thread of Dask against a plain loop over the same blocks."""
    array = zarr.open_array(str(path), mode="r")[:n_rows]  # in memory: the disk is left out
    y = labels_of(array)
    X = da.from_array(array, chunks=(ROWS, N_FEATURES))
    times: dict[str, list[float]] = {"plain loop": [], "Dask, synchronous": [], "Dask, one thread": []}
    found = set()
    for _ in range(REPEATS + 1):
        for name, each in times.items():
            if name == "plain loop":
                seconds, _, made = timed(lambda: plain_loop(array, y))
            else:
                kind = "sync" if "sync" in name else "threads"
                with dask.config.set(scheduler=kind, num_workers=1):
                    seconds, _, made = timed(lambda: bs.Moments.from_matrix(X, y))
            each.append(seconds)
            found.add(digest(made))
    base = statistics.median(times["plain loop"][1:])
    for name, seconds in times.items():
        middle = statistics.median(seconds[1:])
        print(f"  {name}: {middle:.2f} s, {middle / base - 1:+.1%}")
    print(f"  {array.nbytes / 1e9:.2g} GB in {len(range(0, n_rows, ROWS))} blocks; digests: {found}")


def workers(path: Path, n_rows: int) -> None:
    """One worker of one thread against two, in turns."""
    stored = zarr.open_array(str(path), mode="r")
    X = da.from_array(stored, chunks=(ROWS, N_FEATURES), inline_array=True)[:n_rows]
    y = labels_of(X)
    times: dict[int, list[float]] = {1: [], 2: []}
    found = set()
    with cluster(1) as one, cluster(2) as two:
        clients = {1: Client(one, set_as_default=False), 2: Client(two, set_as_default=False)}
        for _ in range(REPEATS + 1):
            for n, client in clients.items():
                with client.as_current(), dask.config.set(scheduler="dask.distributed"):
                    seconds, _, made = timed(lambda: bs.Moments.from_matrix(X, y))
                times[n].append(seconds)
                found.add(digest(made))
        for client in clients.values():
            client.close()
    middle = {n: statistics.median(each[1:]) for n, each in times.items()}
    print(f"  one worker {middle[1]:.2f} s, two {middle[2]:.2f} s: {middle[1] / middle[2]:.2f} times as fast")
    print(f"  each run: {times}; digests: {found}")


def kills(path: Path, n_rows: int, n_kills: int) -> None:
    """SIGKILL to a worker at a random moment of every run."""
    stored = zarr.open_array(str(path), mode="r")
    X = da.from_array(stored, chunks=(ROWS, N_FEATURES), inline_array=True)[:n_rows]
    y = labels_of(X)
    with dask.config.set(scheduler="sync"):
        expected = digest(bs.Moments.from_matrix(X, y))
    rng, same, died = random.Random(0), 0, 0
    settings = {"distributed.scheduler.allowed-failures": 10}
    with dask.config.set(settings), cluster(2) as two, Client(two, set_as_default=False) as client:  # noqa: SIM117 - a client must be there
        with client.as_current(), dask.config.set(scheduler="dask.distributed"):
            usual = timed(lambda: bs.Moments.from_matrix(X, y))[0]
            usual = min(usual, timed(lambda: bs.Moments.from_matrix(X, y))[0])
            for _ in range(n_kills):
                deadline = time.monotonic() + 8.0
                while len(pids := list(client.run(os.getpid, on_error="ignore").values())) < 2:
                    time.sleep(0.2)
                    if time.monotonic() > deadline:  # a nanny has given up: scale as a scheduler of jobs would
                        two.scale(0)
                        two.scale(2)
                        deadline += 8.0
                time.sleep(1.0)  # a worker that dies before its nanny calls it running is not started again
                timer = threading.Timer(rng.uniform(0.0, usual), os.kill, (rng.choice(pids), signal.SIGKILL))
                timer.start()
                found = digest(bs.Moments.from_matrix(X, y))
                died += not timer.is_alive()
                timer.join()
                same += found == expected
                print(f"  {same} equal, {died} died", flush=True)
    print(f"  {same} of {n_kills} runs equal to the bit; {died} workers died before the end; {usual:.1f} s a run")


def memory(path: Path) -> None:
    """Peak memory of two workers of 1 GB each on the whole table."""
    stored = zarr.open_array(str(path), mode="r")
    with cluster(2) as two, Client(two, set_as_default=False) as client:
        with client.as_current(), dask.config.set(scheduler="dask.distributed"):
            seconds, processor, made = timed(lambda: bs.Moments.from_matrix(stored, labels_of(stored)))
        peaks = client.run(peak_memory)
        pids = len(set(client.run(os.getpid).values()))
    shown = ", ".join(f"{peak / 1e6:.0f} MB" for peak in peaks.values())
    size = stored.nbytes / 1e9
    print(f"  {size:.1f} GB in {seconds:.1f} s (client {processor:.1f} s of processor); peaks of workers {shown}; "
          f"{pids} workers; digest {digest(made)}")  # fmt: skip


def peak_memory() -> float:
    """Largest memory of this process, in bytes."""
    text = Path("/proc/self/status").read_text(encoding="ascii")
    return float(text.split("VmHWM:")[1].split()[0]) * 1024.0


def graph() -> None:
    """Pickled size of the graph of 10,000 blocks, as it is sent to a scheduler."""
    for rows in (10, 50, 1_000):
        X = da.zeros((10_000 * rows, 100), chunks=(rows, 100))
        codes = smallest_codes(np.arange(X.shape[0]) % 2)
        made = SumGraph.build(X, LabelSlices(X.chunks, codes), Leaf(OneThread(bs.Moments.from_labelled), 2))
        size = len(pickle.dumps(made.whole.dask))
        labels = codes.nbytes / 1e6
        print(f"  10,000 blocks of {rows:,} rows: {size / 1e6:.2f} MB, of which {labels:.2f} MB are labels")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--gigabytes", type=float, default=8.0)
    parser.add_argument("--part", type=float, default=1.6, help="gigabytes of the table for ratios and deaths")
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--only", default="graph,overhead,workers,kills,memory")
    asked = parser.parse_args()
    asked.folder.mkdir(parents=True, exist_ok=True)
    n_rows = int(asked.part * 1e9 / 4 / N_FEATURES) // ROWS * ROWS
    path = make(asked.folder, asked.gigabytes) if asked.only != "graph" else Path()
    parts: dict[str, Callable[[], None]] = {
        "graph": graph,
        "overhead": partial(overhead, path, n_rows),
        "workers": partial(workers, path, n_rows),
        "kills": partial(kills, path, n_rows, asked.kills),
        "memory": partial(memory, path),
    }
    for name in asked.only.split(","):
        print(f"{name}:", flush=True)
        parts[name]()


if __name__ == "__main__":
    main()
