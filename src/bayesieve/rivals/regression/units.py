"""Units of long work on one table: in parallel over processes, seeded, stored one by one, and taken up again."""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import os
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, Self

import numpy as np
import numpy.typing as npt

from bayesieve.utils import (
    BayesieveError,
    FileError,
    FloatArray,
    OptionError,
    check_whole,
    decoding,
    has_tables,
    meta_of,
    n_threads_for,
    one_blas_thread,
    open_store,
    parse_json,
    read_arrays,
    run_in_processes,
    using_store,
    wrap_read_errors,
)

Progress = Callable[[int, int], None]
Unit = Mapping[str, npt.NDArray[Any]]

_FORMAT = "bayesieve units 1"
_KIND, _AGAIN = "the units of a method", "Delete the file and start again."
_WORTH = 6.0  # seconds of work from which on starting processes pays


class Job(Protocol):
    """What is done on a table, unit by unit; sent to other processes."""

    @property
    def definition(self) -> Mapping[str, Any]:
        """All that decides what a unit gives, as plain values."""
        ...

    def run(self, values: FloatArray, y: FloatArray, number: int) -> Unit:
        """Do one unit on the values, in column order, and the classes."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class Running:
    """How long work is done.

    Parameters
    ----------
    workers
        Processes. By default one per core, where there is enough to do; 1 does the work in this process.
    store
        SQLite file that keeps every unit when it is done, so that the work can be taken up again; None for none.
    progress
        Called with the number of units done and to be done.
    """

    workers: int | None = None
    store: str | os.PathLike[str] | None = None
    progress: Progress | None = None


def run_units(job: Job, values: FloatArray, y: FloatArray, n_units: int, running: Running) -> list[Unit]:
    """Do the units 0, 1, ... of a job, and return them in this order, however they were done."""
    workers = None if running.workers is None else check_whole("workers", running.workers, 1)
    with contextlib.ExitStack() as stack:
        store = (
            stack.enter_context(UnitStore(running.store, job, values, y)) if running.store is not None else None
        )
        found: dict[int, Unit] = {} if store is None else store.read(n_units)

        def keep(done: tuple[int, Unit]) -> None:
            if store is not None:
                store.add(*done)
            found[done[0]] = done[1]
            if running.progress is not None:
                running.progress(len(found), n_units)

        if running.progress is not None:
            running.progress(len(found), n_units)
        due = [number for number in range(n_units) if number not in found]
        due = _in_this_process(job, values, y, due, keep, alone=workers == 1, patient=workers is None)
        if due:
            _in_parallel(job, values, y, due, min(workers or n_threads_for(None, 1 << 30), len(due)), keep)
    return [found[number] for number in range(n_units)]


def _in_this_process(
    job: Job,
    values: FloatArray,
    y: FloatArray,
    due: Sequence[int],
    keep: Callable[[tuple[int, Unit]], None],
    *,
    alone: bool,
    patient: bool,
) -> list[int]:
    """Do units here: the first, and the others unless processes would do them sooner; return what is left."""
    alone = alone or (patient and n_threads_for(None, 1 << 30) == 1)
    at_least, took = (2 if patient else 1), 0.0  # the first loads and compiles, and shows nothing
    with one_blas_thread():
        for k, number in enumerate(due):
            if not alone and k >= at_least and not (patient and took * (len(due) - k) < _WORTH):
                return list(due[k:])
            start = time.perf_counter()
            keep((number, job.run(values, y, number)))
            took = time.perf_counter() - start
    return []


def _in_parallel(
    job: Job,
    values: FloatArray,
    y: FloatArray,
    due: Sequence[int],
    workers: int,
    keep: Callable[[tuple[int, Unit]], None],
) -> None:
    """Do units in other processes, which share the values by way of a file."""
    with tempfile.TemporaryDirectory(prefix="bayesieve-", ignore_cleanup_errors=True) as folder:
        path = Path(folder, "values.npy")
        try:
            np.save(path, values)
        except OSError as error:
            raise FileError(
                f"The table cannot be shared with other processes: {error}. Set TMPDIR to a folder with room for "
                f"{values.nbytes / 1e6:.0f} MB, or use workers=1."
            ) from None
        try:
            run_in_processes(
                _run_here,
                ((number,) for number in due),
                workers,
                keep,
                setup=_open_here,
                setup_arguments=(job, path, y),
                import_main=False,
            )
        except BrokenProcessPool:
            raise BayesieveError(
                "A worker process died, perhaps for want of memory. Use fewer workers (workers=1); units that are "
                "in a store are not done again."
            ) from None


_here: dict[str, Any] = {}


def _open_here(job: Job, path: Path, y: FloatArray) -> None:
    """Let a worker see the table."""
    _here["job"], _here["y"] = job, y
    _here["values"] = np.asarray(np.load(path, mmap_mode="c"))  # as writable as in the parent: one compilation


def _run_here(number: int) -> tuple[int, Unit]:
    return number, _here["job"].run(_here["values"], _here["y"], number)


class UnitStore:
    """An open store: each unit is there as a whole or not at all, and belongs to one job on one table.

    Parameters
    ----------
    path
        The file.
    job, values, y
        What it is for; a store of anything else is refused.
    """

    def __init__(self, path: str | os.PathLike[str], job: Job, values: FloatArray, y: FloatArray) -> None:
        self.path = os.fspath(path)
        data = hashlib.blake2b(np.ascontiguousarray(values.T).data, digest_size=16)
        data.update(repr(values.shape).encode() + y.tobytes())
        self._meta = {
            "format": _FORMAT,
            "job": json.dumps(dict(job.definition), sort_keys=True),
            "data": data.hexdigest(),
        }
        with self._failing_clearly():
            self._connection = open_store(self.path)
            try:
                self._begin()
            except BaseException:
                self._connection.close()
                raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._connection.close()

    def read(self, n_units: int) -> dict[int, Unit]:
        """Return the units that are there, of those numbered below ``n_units``."""
        with self._failing_clearly():
            asked = "SELECT number, content FROM units WHERE number >= 0 AND number < ?"
            rows = self._connection.execute(asked, (n_units,)).fetchall()
        return {number: self._decode(number, content) for number, content in rows}

    def add(self, number: int, unit: Unit) -> None:
        """Store one unit."""
        target = io.BytesIO()
        arrays: dict[str, Any] = dict(unit)
        np.savez(target, **arrays)
        content = target.getvalue()
        with self._failing_clearly():
            self._connection.execute(
                "INSERT OR REPLACE INTO units VALUES (?, ?)", (number, _digest(content) + content)
            )

    def _decode(self, number: int, content: Any) -> Unit:
        if not isinstance(content, bytes) or content[:16] != _digest(content[16:]):
            raise FileError(
                f"{self.path} is damaged: unit {number} cannot be read. Delete the file and start again."
            )
        with wrap_read_errors(self.path, "the store of a method", "delete it and start again"):
            return read_arrays(io.BytesIO(content[16:]), self.path)

    def _begin(self) -> None:
        """Make the tables of a new store, or check that an old one is of the same job on the same table."""
        if not has_tables(self._connection, self.path, ("meta", "units"), _KIND):
            self._connection.execute("BEGIN IMMEDIATE")
            self._connection.execute("CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL)")
            self._connection.execute("CREATE TABLE units (number INTEGER PRIMARY KEY, content BLOB NOT NULL)")
            self._connection.executemany("INSERT INTO meta VALUES (?, ?)", self._meta.items())
            self._connection.execute("COMMIT")
            return
        held = meta_of(self._connection, self.path, self._meta)
        if held["format"] != _FORMAT:
            raise FileError(f"{self.path} holds something else than {_KIND}. Choose another name.")
        if held["data"] != self._meta["data"]:
            raise OptionError(f"{self.path} belongs to another table or other classes. Choose another name.")
        if held["job"] != self._meta["job"]:
            before, now = parse_json(held["job"], self.path, _AGAIN), json.loads(self._meta["job"])
            with decoding(self.path, _AGAIN):
                other = [key for key in {**before, **now} if before.get(key) != now.get(key)]
            raise OptionError(
                f"{self.path} was made with other options: {', '.join(sorted(other))}. Choose another name, or "
                "the same options; only the number of units may grow."
            )

    def _failing_clearly(self) -> contextlib.AbstractContextManager[None]:
        return using_store(self.path, _KIND)


def _digest(content: bytes) -> bytes:
    return hashlib.blake2b(content, digest_size=16).digest()
