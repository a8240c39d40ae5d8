"""Computing a sum over blocks where Dask would: with progress, retries, and words about a block that fails."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import dask
from dask.base import get_scheduler
from dask.callbacks import Callback

from bayesieve.distributed.graph import SumGraph
from bayesieve.distributed.leaves import RETRIES, failed_block
from bayesieve.utils import BayesieveError, DataError, FileError

Progress = Callable[[int, int], None]  # blocks done, blocks in all

_WAIT = 0.5  # seconds between two looks at a scheduler


def compute(graph: SumGraph, *, retries: int = RETRIES, progress: Progress | None = None) -> Any:
    """Compute a sum on the scheduler that Dask would use; interrupted, it takes its tasks back.

    Parameters
    ----------
    graph
        The sum.
    retries
        How often a block that fails is tried again.
    progress
        Called with the number of blocks done and their total.
    """
    client = current_client()
    found = _remote(client, graph, retries, progress) if client is not None else _local(graph, retries, progress)
    if isinstance(found, BayesieveError):
        raise found
    return found


def current_client() -> Any:
    """Return the client of the cluster that Dask would use now; None if it would use this process."""
    get: Any = get_scheduler()
    client = getattr(get, "__self__", None)
    return client if hasattr(client, "scheduler_info") else None


class _Watch(Callback):  # type: ignore[misc] # dask is not typed
    """Counts the blocks that are done, and knows those under way."""

    def __init__(self, graph: SumGraph, progress: Progress | None) -> None:
        super().__init__()
        self._graph, self._progress, self._done = graph, progress, 0
        self.under_way: set[tuple[int, int]] = set()

    def _pretask(self, key: Any, dsk: Any, state: Any) -> None:
        block = self._graph.block_of(key)
        if block is not None:
            self.under_way.add(block)

    def _posttask(self, key: Any, result: Any, dsk: Any, state: Any, worker_id: Any) -> None:
        block = self._graph.block_of(key)
        if block is not None and key[0] == self._graph.leaves.name:
            self.under_way.discard(block)
            self._done += 1
            if self._progress is not None:
                self._progress(self._done, self._graph.leaves.npartitions)


def _local(graph: SumGraph, retries: int, progress: Progress | None) -> Any:
    """Compute in this process or in processes of its own."""
    for attempt in range(retries + 1):
        watch = _Watch(graph, progress)
        try:
            with watch:
                return dask.compute(graph.whole, optimize_graph=False)[0]
        except Exception as error:
            failed = _find_failed(graph, watch.under_way, retries)
            if failed is None and attempt < retries:
                continue  # what failed works now
            block = min(watch.under_way, default=None) if failed is None else failed
            raise _failed(graph, block, error, retries) from error
    raise AssertionError("every attempt returns or raises")


def _find_failed(graph: SumGraph, blocks: set[tuple[int, int]], retries: int) -> tuple[int, int] | None:
    """Try the blocks that were under way once more, one by one; return the first that still fails."""
    for block in sorted(blocks):
        for _ in range(max(retries, 1)):
            try:
                dask.compute(graph.leaves.blocks[block].to_delayed().item(), scheduler="sync")
                break
            except Exception:
                continue
        else:
            return block
    return None


def _remote(client: Any, graph: SumGraph, retries: int, progress: Progress | None) -> Any:
    """Compute on a cluster."""
    future = client.compute(graph.whole, optimize_graph=False, retries=retries)
    over = threading.Event()
    watcher = None
    if progress is not None:
        watcher = threading.Thread(target=_follow, args=(client, graph, progress, over), daemon=True)
        watcher.start()
    try:
        return future.result()
    except Exception as error:
        raise _failed(graph, _blamed(client, graph, future, error), error, retries) from error
    finally:
        over.set()
        if watcher is not None:
            watcher.join()
        future.cancel(force=True)


def _follow(client: Any, graph: SumGraph, progress: Progress, over: threading.Event) -> None:
    """Ask the scheduler now and then how many blocks are done."""
    total, done, name = graph.leaves.npartitions, 0, graph.leaves.name
    while not over.wait(_WAIT):
        now = client.run_on_scheduler(_n_done, name=name)
        if now > done:
            done = now
            progress(done, total)
    if done < total:
        progress(total, total)


def _n_done(dask_scheduler: Any, name: str) -> int:
    """Number of blocks that are summed, asked inside the scheduler."""
    group = dask_scheduler.task_groups.get(name)
    return 0 if group is None else sum(group.states.get(state, 0) for state in ("memory", "released", "forgotten"))


def _blamed(client: Any, graph: SumGraph, future: Any, error: Exception) -> tuple[int, int] | None:
    """Return the block that made a sum fail, as far as the scheduler knows."""
    key = getattr(error, "task", None)  # of a worker that died again and again
    if key is None:
        key = client.run_on_scheduler(_blame, key=future.key)
    return graph.block_of(key)


def _blame(dask_scheduler: Any, key: Any) -> Any:
    task = dask_scheduler.tasks.get(key)
    return None if task is None or task.exception_blame is None else task.exception_blame.key


def _failed(graph: SumGraph, block: tuple[int, int] | None, error: Exception, retries: int) -> Exception:
    """Say which block failed, and how."""
    if isinstance(error, BayesieveError) and not isinstance(error, FileError):  # the latter from reading
        return error
    who = "A block" if block is None else graph.place_of(block)
    if type(error).__name__ == "KilledWorker":
        deaths = getattr(error, "allowed_failures", retries) + 1
        return DataError(
            f"{who}, or another that waited beside it, could not be summed: the workers that tried died, {deaths} "
            "of them, most often because their memory was not enough.",
            hint="Make chunks smaller (X.rechunk), or give workers more memory; their logs say which it was.",
            kind="killed-worker",
        )
    return failed_block(who, error, retries)
