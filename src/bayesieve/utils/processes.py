"""Our own processes: started clean, single-threaded, deaf to Ctrl-C, and never outliving the one that asked."""

from __future__ import annotations

import contextlib
import logging
import multiprocessing
import os
import signal
import sys
import threading
import types
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from typing import Any, TypeVar

Result = TypeVar("Result")

_AHEAD = 2  # tasks per worker that are under way or waiting
_held = contextlib.ExitStack()  # a limit that nobody holds is lifted when it is collected


def run_in_processes(
    work: Callable[..., Result],
    tasks: Iterable[tuple[Any, ...]],
    workers: int,
    keep: Callable[[Result], None],
    *,
    setup: Callable[..., None] | None = None,
    setup_arguments: tuple[Any, ...] = (),
    import_main: bool = True,
) -> None:
    """Hand out tasks as workers become free. Whatever happens, results that are there are kept.

    Parameters
    ----------
    work
        Called in a worker with the arguments of a task.
    tasks
        Arguments, asked for one after the other, shortly before they are needed.
    workers
        Processes.
    keep
        Called in this process with every result, in the order in which they come.
    setup, setup_arguments
        Called in every worker once.
    import_main
        Whether workers import the main module, as they must to find functions that it defines. Scripts must then
        stand under ``if __name__ == "__main__":``.

    Raises
    ------
    concurrent.futures.process.BrokenProcessPool
        If a worker dies.
    """
    context = multiprocessing.get_context("spawn")
    others = set(multiprocessing.active_children())
    pool = ProcessPoolExecutor(
        workers, mp_context=context, initializer=_prepare, initargs=(setup, setup_arguments)
    )
    waiting: set[Future[Result]] = set()
    left = iter(tasks)
    try:
        while True:
            while len(waiting) < _AHEAD * workers and (task := next(left, None)) is not None:
                with no_interruption(), contextlib.nullcontext() if import_main else _no_main():
                    waiting.add(pool.submit(work, *task))
            if not waiting:
                break
            finished, waiting = wait(waiting, return_when=FIRST_COMPLETED)
            _keep_all(finished, keep)
    except BaseException:
        try:
            _keep_all({future for future in waiting if future.done() and not future.exception()}, keep)
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
            for process in set(multiprocessing.active_children()) - others:
                process.terminate()
        raise
    pool.shutdown()


def _keep_all(finished: set[Future[Result]], keep: Callable[[Result], None]) -> None:
    """Keep what is there, then say what went wrong, if anything did."""
    errors = []
    for future in finished:
        error = future.exception()
        if error is None:
            keep(future.result())
        else:
            errors.append(error)
    if errors:
        raise errors[0]


def _prepare(setup: Callable[..., None] | None, arguments: tuple[Any, ...]) -> None:
    """Leave interruptions and talking to the parent, end with it, and use one thread."""
    with contextlib.suppress(ValueError):
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    logging.getLogger("bayesieve").addHandler(logging.NullHandler())
    logging.getLogger("bayesieve").propagate = False
    threading.Thread(target=_end_with_parent, daemon=True).start()
    _held.enter_context(one_blas_thread())
    if setup is not None:
        setup(*arguments)


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


@contextlib.contextmanager
def no_interruption() -> Iterator[None]:
    """Start processes with Ctrl-C blocked, which they inherit: a terminal sends it to them, too."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    from multiprocessing import resource_tracker  # noqa: PLC0415 - not on every system

    resource_tracker.ensure_running()  # started later, it would let Ctrl-C through again
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextlib.contextmanager
def _no_main() -> Iterator[None]:
    """Start processes that do not import the main module, so that a plain script may ask for them."""
    main = sys.modules["__main__"]
    sys.modules["__main__"] = types.ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = main


@contextlib.contextmanager
def one_blas_thread() -> Iterator[None]:
    """Keep linear algebra to one thread where threadpoolctl, which scikit-learn brings, is there."""
    import scipy.linalg.blas  # noqa: F401, PLC0415 - a limit holds for libraries that are loaded, and SciPy has its own

    try:
        from threadpoolctl import threadpool_limits  # type: ignore[import-untyped, unused-ignore]  # noqa: PLC0415
    except ImportError:  # pragma: no cover
        yield
        return
    with threadpool_limits(1):
        yield
