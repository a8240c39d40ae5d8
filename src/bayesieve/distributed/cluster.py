"""Clusters by name: opened within a time limit, compared with this process, used, and closed again.

``local:4`` is four processes of one thread on this machine, which end with the block; ``tcp://host:8786`` is a
scheduler that runs already and goes on afterwards.
"""

from __future__ import annotations

import contextlib
import functools
import re
import warnings
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from bayesieve.utils import (
    BayesieveError,
    DataWarning,
    MissingExtraError,
    OptionError,
    free_memory,
    install_command,
    list_names,
    no_interruption,
    one_blas_thread,
    warn,
)

WAIT = 60.0  # seconds for a scheduler to answer, and for its first worker
_AHEAD = 2  # tasks per thread of a worker that are under way or waiting
_SAME = ("python", "numpy", "scipy", "numba", "dask", "distributed")  # other versions may change the last bits
_REMOTE = ("tcp://", "tls://", "ucx://", "ws://", "wss://")
_held = contextlib.ExitStack()  # of a worker: what holds as long as it lives


@contextlib.contextmanager
def open_cluster(where: Any, *, memory: int | None = None, wait: float = WAIT) -> Iterator[Any]:
    """Open the cluster that a text names, and make it the one that Dask uses.

    Parameters
    ----------
    where
        ``"local"`` (a process per core), ``"local:4"``, the address of a scheduler such as ``"tcp://host:8786"``,
        or a client of Dask, which is left open.
    memory
        Bytes for all workers of a local cluster together; otherwise what is free.
    wait
        Seconds within which a scheduler must answer and have a worker.

    Yields
    ------
    distributed.Client
        The client; it and what was started for it are closed at the end, also after an error.
    """
    number = _local_number(where) if isinstance(where, str) else None
    _check_installed()
    import dask  # noqa: PLC0415 - an extra, and slow to import

    with contextlib.ExitStack() as closing:
        if not isinstance(where, str):
            client = where
        elif number is None:
            client = closing.enter_context(_connect(where, wait))
        else:
            client = closing.enter_context(_start(number, memory))
        _check_workers(client, wait)
        _check_versions(client)
        closing.enter_context(client.as_current())
        closing.enter_context(dask.config.set(scheduler="dask.distributed"))
        yield client


def check_cluster_name(where: str) -> None:
    """Raise unless a text names a cluster that could be opened here; nothing is started.

    Parameters
    ----------
    where
        As for :func:`open_cluster`.
    """
    _local_number(where)
    _check_installed()


def _local_number(where: str) -> int | None:
    """Return the number of processes of a local cluster, 0 for one per core; None for an address."""
    if found := re.fullmatch(r"local(?::(\d+))?", where):
        if found[1] is None or int(found[1]) > 0:
            return int(found[1] or 0)
    elif re.fullmatch(rf"({'|'.join(_REMOTE)})[^/\s]+:\d+/?", where):
        return None
    raise OptionError(
        f"{where!r} names no cluster. Say local:4 for four processes on this machine, or give the address of a "
        "scheduler, such as tcp://host:8786.",
        kind="cluster-name",
    )


def _check_installed() -> None:
    try:
        import dask.array  # noqa: F401, PLC0415
        import distributed  # noqa: F401, PLC0415
    except ImportError as error:
        raise MissingExtraError(
            f"Clusters are used with Dask, which cannot be imported ({error}). Install it: "
            f"{install_command('dask')}."
        ) from error


@contextlib.contextmanager
def _connect(where: str, wait: float) -> Iterator[Any]:
    """Connect to a scheduler that runs already."""
    from distributed import Client  # noqa: PLC0415
    from distributed.versions import VersionMismatchWarning  # noqa: PLC0415

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", VersionMismatchWarning)  # told below, in our words
            client = Client(where, timeout=wait, set_as_default=False)
    except Exception as error:  # of many kinds, as protocols are
        raise OptionError(
            f"The scheduler {where} cannot be reached within {wait:g} seconds ({type(error).__name__}: {error}). "
            "Start one with: dask scheduler; then workers with: dask worker --nthreads 1 " + where + ".",
            kind="no-scheduler",
        ) from None
    with client:
        yield client


@contextlib.contextmanager
def _start(number: int, memory: int | None) -> Iterator[Any]:
    """Start processes of one thread each on this machine."""
    from dask.system import CPU_COUNT  # noqa: PLC0415
    from distributed import Client, LocalCluster  # noqa: PLC0415

    number = number or CPU_COUNT
    total = free_memory() if memory is None else memory
    with no_interruption():  # workers, and those started again for them, inherit it
        cluster = LocalCluster(
            n_workers=number, threads_per_worker=1, processes=True, memory_limit=total // number,
            dashboard_address="127.0.0.1:0", silence_logs=50,
        )  # fmt: skip
    with cluster, Client(cluster, set_as_default=False) as client:
        yield client


def _check_workers(client: Any, wait: float) -> None:
    """Wait for the first worker."""
    try:
        client.wait_for_workers(1, timeout=wait)
    except TimeoutError:
        where = client.scheduler.address
        raise OptionError(
            f"The scheduler {where} has had no worker for {wait:g} seconds. Start one with: "
            f"dask worker --nthreads 1 {where}.",
            kind="no-workers",
        ) from None


def _check_versions(client: Any) -> None:
    """Raise if bayesieve is not everywhere the same; warn of other packages that may change the last bits."""
    found = client.get_versions(packages=["bayesieve", *_SAME])
    here = found["client"]["packages"]
    others = {"the scheduler": found["scheduler"], **found["workers"]}
    for package in ("bayesieve", *_SAME):
        there: dict[str, list[str]] = {}
        for name, each in others.items():
            version = each["packages"].get(package) if each else here[package]
            if version != here[package]:
                there.setdefault(version or "none", []).append(name)
        if not there:
            continue
        told = "; ".join(
            f"{list_names(names, 3, quote=False)} {'have' if len(names) > 1 else 'has'} {version}"
            for version, names in there.items()
        )
        if package == "bayesieve":
            raise OptionError(
                f"The cluster needs bayesieve {here[package]}, as here, but {told}. Install it there, too.",
                kind="versions",
            )
        warn(
            DataWarning,
            f"The cluster has another {package} than this process ({here[package]}): {told}. Results may differ "
            "from those of this machine in their last bits.",
            kind="versions",
        )


def n_threads_of(client: Any) -> int:
    """Return how many tasks a cluster does at once.

    Parameters
    ----------
    client
        Of the cluster.
    """
    return sum(client.nthreads().values())


def run_on_cluster(
    client: Any, work: Callable[..., Any], tasks: Iterable[tuple[Any, ...]], keep: Callable[[Any], None]
) -> None:
    """Hand out tasks as workers become free. Whatever happens, results that are there are kept, each once.

    A task whose worker dies is done by another one. After an error or Ctrl-C tasks that are left are taken back.

    Parameters
    ----------
    client
        Of the cluster.
    work
        Called in a worker with the arguments of a task, linear algebra kept to one thread.
    tasks
        Arguments, asked for one after the other, shortly before they are needed.
    keep
        Called in this thread with every result, in the order in which they come.
    """
    from distributed import CancelledError, as_completed  # noqa: PLC0415
    from distributed.comm import CommClosedError  # noqa: PLC0415

    coming, left = as_completed(loop=client.loop), iter(tasks)
    waiting: set[Any] = set()
    where = client.scheduler.address
    try:
        while True:
            room = _AHEAD * max(n_threads_of(client), 1)  # workers come and go
            while len(waiting) < room and (task := next(left, None)) is not None:
                future = client.submit(_alone, work, task, pure=False)
                waiting.add(future)
                coming.add(future)
            if not waiting:
                return
            future = next(coming)
            waiting.discard(future)
            keep(future.result())
    except Exception as error:
        if client.status == "running" and not isinstance(error, (CancelledError, CommClosedError)):
            raise
        raise BayesieveError(
            f"The scheduler {where} was lost, and with it what its workers had not yet sent. "
            "What was finished before is kept.",
            kind="lost-scheduler",
        ) from None
    finally:
        for future in [each for each in waiting if each.status == "finished"]:
            with contextlib.suppress(Exception):  # an error is on its way already
                keep(future.result(timeout=1.0))
        with contextlib.suppress(Exception):
            client.cancel(list(waiting), force=True)


@functools.cache
def _keep_to_one_thread() -> None:
    """Let linear algebra use one thread as long as this process lives: other numbers change bits."""
    _held.enter_context(one_blas_thread())


def _alone(work: Callable[..., Any], task: tuple[Any, ...]) -> Any:
    """Do a task in a worker."""
    _keep_to_one_thread()
    return work(*task)
