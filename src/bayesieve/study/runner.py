"""Running a study: in parallel, in any order, interrupted or not, with the same result."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Iterator
from concurrent.futures.process import BrokenProcessPool
from typing import Any

from bayesieve.distributed import check_cluster_name, n_threads_of, open_cluster, run_on_cluster
from bayesieve.study.design import StudyDesign
from bayesieve.study.measures import Row
from bayesieve.study.methods import Unit, check_runnable, rivals_of, run_unit
from bayesieve.study.store import Database, StudyResults
from bayesieve.utils import (
    BayesieveError,
    OptionError,
    check_whole,
    n_threads_for,
    one_blas_thread,
    option,
    run_in_processes,
)

Progress = Callable[[int, int], None]
Batch = tuple[int, float, list[Row]]
"""Number of units, seconds they took, and their rows."""

_SECONDS_PER_BATCH = 1.5
_MOST_UNITS = 256


def run_study(
    design: StudyDesign,
    store: str | os.PathLike[str],
    *,
    workers: int | None = None,
    dask: Any = None,
    iterations: int | None = None,
    progress: Progress | None = None,
) -> StudyResults:
    """Run a study, or what is left of it, and return its results.

    Whatever is in the store is not repeated. Results do not depend on the number of workers, on the order, nor
    on interruptions: after one, run the study again with the same store. In a script of your own, call this
    under ``if __name__ == "__main__":`` if there are several workers, because each begins by importing it.

    Parameters
    ----------
    design
        The study.
    store
        SQLite file that holds the results, or a folder in which it is called ``study.sqlite``.
    workers
        Processes, one per core by default; 1 does the work in this process. Costs are measured by one.
    dask
        Instead of ``workers`` a cluster, with the same numbers: ``"local:4"``, the address of a scheduler such as
        ``"tcp://host:8786"``, or a client. Only this process writes to the store, and a data set whose worker
        dies is drawn again by another one. Files of methods of your own must be where workers find them.
    iterations
        Iterations, if other than those of the design.
    progress
        Called with the number of data sets done and to be done.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from bayesieve.study import built_in, run_study
    >>> design = built_in("figure-1b").changed(sizes=[100, 200], methods=["mnc-obf-jp"])
    >>> results = run_study(design, pathlib.Path(tempfile.mkdtemp()), workers=1, iterations=2)
    >>> results.means()["n"].to_list()
    [100, 200]
    """
    if iterations is not None:
        design = design.changed(iterations=iterations)
    check_runnable(design)
    check_cluster(design, workers, dask)
    number = n_workers(design, workers)
    with Database(store) as database:
        database.prepare(design)
        units = due_units(design, database.done())
        tally = _Tally(database, len(units), progress)
        with shared_cluster(dask if len(units) > 1 else None) as client:
            alone = number == 1 and dask is None
            _in_this_process(design, units if alone else units[:1], tally)  # compiles what workers find ready
            if client is not None:
                _on_cluster(design, units[1:], client, tally)
            elif not alone:
                _in_parallel(design, units[1:], number, tally)
    return StudyResults.load(store).restricted(design)


def n_workers(design: StudyDesign, workers: int | None) -> int:
    """Return how many processes are used: as asked, otherwise one per core; one alone to measure costs."""
    if workers is None:
        return 1 if "costs" in design.measures else n_threads_for(None, 1 << 30)
    number = check_whole("workers", workers, 1)
    return 1 if "costs" in design.measures else number


def check_cluster(design: StudyDesign, workers: int | None, dask: Any) -> None:
    """Raise if a study cannot run on a cluster; nothing is started.

    Parameters
    ----------
    design
        The study.
    workers, dask
        As for :func:`run_study`.
    """
    if dask is None:
        return
    if workers is not None:
        raise OptionError(
            option("workers"), " and ", option("dask"), " exclude each other: a cluster has workers."
        )
    if "costs" in design.measures:
        raise OptionError(
            "Costs are measured by one process that has the machine to itself, not on a cluster. Leave ",
            option("dask"), " out.",
        )  # fmt: skip
    if isinstance(dask, str):
        check_cluster_name(dask)


@contextlib.contextmanager
def shared_cluster(dask: Any) -> Iterator[Any]:
    """Open a cluster, or use one that is open; None stays None."""
    if dask is None:
        yield None
        return
    with open_cluster(dask) as client:
        yield client


def due_units(design: StudyDesign, done: set[tuple[int, int, str]]) -> list[Unit]:
    """List the data sets to be drawn and the methods to be run on them, first iterations first."""
    methods: dict[tuple[int, int], list[str]] = {}
    for method in design.methods:
        for n in design.sizes_of(method):
            for iteration in range(design.iterations_of(method)):
                if (n, iteration, method.name) not in done:
                    methods.setdefault((iteration, n), []).append(method.name)
    return [Unit(n, iteration, tuple(names)) for (iteration, n), names in sorted(methods.items())]


class _Tally:
    """Stores batches as they come in, and reckons how large the next should be."""

    def __init__(self, database: Database, n_units: int, progress: Progress | None) -> None:
        self._database, self._progress = database, progress
        self.n_units, self.n_done, self._seconds = n_units, 0, 0.0
        self._tell()

    def keep(self, batch: Batch) -> None:
        n_units, seconds, rows = batch
        self._database.add(rows)
        self.n_done += n_units
        self._seconds += seconds
        self._tell()

    @property
    def batch_size(self) -> int:
        """As many units as take a second or two; the first batch shows how long one takes."""
        if not self.n_done:
            return 1
        return int(min(max(_SECONDS_PER_BATCH * self.n_done / max(self._seconds, 1e-9), 1), _MOST_UNITS))

    def _tell(self) -> None:
        if self._progress is not None:
            self._progress(self.n_done, self.n_units)


def _run_batch(design: StudyDesign, units: list[Unit]) -> Batch:
    start = time.perf_counter()
    rivals = rivals_of(design)
    rows = [row for unit in units for row in run_unit(design, unit, rivals)]
    return len(units), time.perf_counter() - start, rows


def _in_this_process(design: StudyDesign, units: list[Unit], tally: _Tally) -> None:
    with one_blas_thread():
        place = 0
        while place < len(units):
            batch = units[place : place + tally.batch_size]
            tally.keep(_run_batch(design, batch))
            place += len(batch)


def _in_parallel(design: StudyDesign, units: list[Unit], workers: int, tally: _Tally) -> None:
    """Hand out batches; only this process writes. Whatever happens, finished batches are kept."""
    if not units:
        return
    workers = min(workers, len(units))
    try:
        run_in_processes(_run_batch, _batches(design, units, workers, tally), workers, tally.keep)
    except BrokenProcessPool:
        raise BayesieveError(
            f"A worker process died, perhaps for want of memory. The {tally.n_done:,} data sets finished in this "
            "run are stored; run the study again with fewer workers (--workers 1) to go on."
        ) from None


def _on_cluster(design: StudyDesign, units: list[Unit], client: Any, tally: _Tally) -> None:
    """Hand out batches to a cluster; what a worker that dies had not finished is done by another one."""
    try:
        run_on_cluster(client, _run_batch, _batches(design, units, n_threads_of(client), tally), tally.keep)
    except Exception as error:
        if type(error).__name__ != "KilledWorker":
            raise
        raise BayesieveError(
            f"The same data sets ended several workers, perhaps for want of memory. The {tally.n_done:,} "
            "finished in this run are stored; run the study again on workers with more memory to go on.",
            kind="killed-worker",
        ) from None


def _batches(
    design: StudyDesign, units: list[Unit], workers: int, tally: _Tally
) -> Iterator[tuple[StudyDesign, list[Unit]]]:
    """Cut units into batches of a second or two, and so that every worker gets some."""
    place = 0
    while place < len(units):
        batch = units[place : place + min(tally.batch_size, -(-len(units) // max(workers, 1)))]
        yield design, batch
        place += len(batch)
