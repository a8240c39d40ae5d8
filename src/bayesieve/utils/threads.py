"""Our own threads: kernels release the GIL, so plain Python threads are enough and always safe."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from bayesieve.utils.checks import check_whole
from bayesieve.utils.errors import DataError

Task = TypeVar("Task")
Result = TypeVar("Result")


def n_threads_for(n_threads: int | None, n_values: int) -> int:
    """Return the number of threads to use: as asked, otherwise every core unless the table is small."""
    if n_threads is not None:
        return check_whole("n_threads", n_threads, 1, DataError, instead=" or None")
    if n_values < 200_000:
        return 1
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def run(work: Callable[[Task], Result], tasks: Iterable[Task], n_threads: int) -> Iterator[Result]:
    """Yield the results in the order of the tasks, whatever the number of threads."""
    if n_threads == 1:
        yield from map(work, tasks)
        return
    with ThreadPoolExecutor(n_threads) as pool:
        yield from pool.map(work, tasks)


def for_each(work: Callable[[Task], None], tasks: Sequence[Task], n_threads: int) -> None:
    """Do all tasks, the calling thread taking its part: cheaper to start than a pool."""
    waiting = iter(tasks)
    lock = threading.Lock()
    errors: list[BaseException] = []

    def take() -> None:
        while not errors:
            with lock:
                task = next(waiting, None)
            if task is None:
                return
            try:
                work(task)
            except BaseException as error:  # handed to the caller below
                errors.append(error)

    helpers = [threading.Thread(target=take) for _ in range(min(n_threads, len(tasks)) - 1)]
    for helper in helpers:
        helper.start()
    take()
    for helper in helpers:
        helper.join()
    if errors:
        raise errors[0]


def share(n_items: int, n_threads: int) -> list[tuple[int, int]]:
    """Cut a range into even-sized parts, a few per thread: starting a part costs some microseconds."""
    n_parts = 1 if n_threads == 1 else 4 * n_threads
    step = max(2, 2 * -(-n_items // (2 * n_parts)))
    return [(lo, min(lo + step, n_items)) for lo in range(0, n_items, step)]
