"""Fuzz all readers and stores: ``python tests/fuzz/run.py --executions 1000000``.

Every execution follows from the name of its target and its number alone; ``--only NUMBER`` repeats one. Each target
runs in a process of its own, so that a crash of a library is noticed, told with its number, and passed over.
"""

from __future__ import annotations

import argparse
import collections
import contextlib
import faulthandler
import io
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback
import warnings
from pathlib import Path

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

with contextlib.suppress(ImportError):  # not on Windows
    import resource

from bayesieve.errors import BayesieveError, BayesieveWarning

SECONDS = 10  # of processor time for one input
FLOOR = 300_000_000  # bytes that reading may take whatever the input; beyond, ten times the input
CEILING = 6 * 2**30  # address space of a process
DATED = (DeprecationWarning, PendingDeprecationWarning, FutureWarning, ImportWarning)


class HangError(BaseException):
    """An input that took too long."""


class Fuzzer:
    """One target at work.

    Parameters
    ----------
    name
        Of the target.
    folder
        Where its files are.
    """

    def __init__(self, name, folder):
        from fuzz.binary_targets import TARGETS  # noqa: PLC0415 - slow to import

        self.name, self.target, self.folder = name, TARGETS[name], Path(folder)
        self.hung = False
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self.seeds = self.target.seeds()
        for k, files in enumerate(self.seeds):
            for each, content in files.items():
                path = self.folder / str(k) / each
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(content)

    def _hang(self, *_):
        self.hung = True
        raise HangError

    def try_valid(self):
        """Read every file as it is; that must work."""
        for k, files in enumerate(self.seeds):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                self.target.read(self.folder / str(k), list(files))

    def mutate(self, number):
        """Return the seed, the file in it that is changed, and its new bytes."""
        rng = random.Random(f"{self.name}:{number}")
        k = rng.randrange(len(self.seeds))
        each = rng.choice(list(self.seeds[k]))
        change = rng.choice(self.target.mutate(each))
        with contextlib.suppress(Exception):  # a mutation that cannot be made
            return k, each, change(rng, self.seeds[k][each])
        return k, each, self.seeds[k][each][: rng.randrange(len(self.seeds[k][each]))]

    def execute(self, number):
        """Read one mutated input; return what went wrong in a few words, or nothing."""
        k, each, content = self.mutate(number)
        path, before = self.folder / str(k) / each, _peak()
        path.write_bytes(content)
        self.hung = False
        before_alarm = signal.signal(signal.SIGPROF, self._hang)
        try:
            with warnings.catch_warnings(record=True) as warned, contextlib.redirect_stdout(io.StringIO()):
                warnings.simplefilter("always")
                signal.setitimer(signal.ITIMER_PROF, SECONDS)
                wrong = self._read(k)
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
            signal.signal(signal.SIGPROF, before_alarm)
            self._restore(k, each)
        grown = _peak() - before
        odd = [w for w in warned if not issubclass(w.category, (BayesieveWarning, *DATED))]
        if self.hung:
            return f"hang: more than {SECONDS} s"
        if grown > FLOOR + 10 * len(content):
            return f"memory: {grown / 1e6:.0f} MB for an input of {len(content)} bytes"
        if wrong is None and odd:
            return f"warning: {odd[0].category.__name__}: {str(odd[0].message)[:100]} at {Path(odd[0].filename).name}:{odd[0].lineno}"
        return wrong

    def _read(self, k):
        try:
            self.target.read(self.folder / str(k), list(self.seeds[k]))
        except BayesieveError as error:
            said = error.message.render(command=True)
            if "\n" in said or not said.strip() or len(said) > 3000:
                return f"message: {said[:200]!r}"
        except (KeyboardInterrupt, HangError):
            if not self.hung:
                raise
        except BaseException as error:
            frames = [f for f in traceback.extract_tb(error.__traceback__) if "bayesieve" in f.filename]
            at = f"{Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else "?"
            return f"traceback: {type(error).__name__} at {at}: {str(error)[:100]!r}"
        return None

    def _restore(self, k, each):
        """Bring back what the input or its reader has changed."""
        for name, content in self.seeds[k].items():
            path = self.folder / str(k) / name
            if name == each or not path.exists():
                path.write_bytes(content)
        for extra in ("-wal", "-shm", "-journal"):
            with contextlib.suppress(OSError):
                os.remove(f"{self.folder / str(k) / each}{extra}")


def _peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def work(name, start, stop, seconds, told):
    """Run a part of a target; ``told`` holds the number of the execution at work."""
    faulthandler.enable()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_AS, (CEILING, CEILING))
    folder = tempfile.mkdtemp(dir="/dev/shm" if os.path.isdir("/dev/shm") else None)
    end = time.monotonic() + seconds
    try:
        fuzzer = Fuzzer(name, folder)
        fuzzer.try_valid()
        for number in range(start, stop):
            os.pwrite(told, f"{number:20d}".encode(), 0)
            faulthandler.dump_traceback_later(120, exit=True)
            wrong = fuzzer.execute(number)
            faulthandler.cancel_dump_traceback_later()
            if wrong:
                print(f"{number}\t{wrong}", flush=True)
            if time.monotonic() > end:
                break
        os.pwrite(told, f"{number + 1:20d}".encode(), 0)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def supervise(name, start, n, seconds):
    """Run a target in processes of its own until it is done; return how many it made and what it found."""
    found, number, end, survived = [], start, time.monotonic() + seconds, 0
    with tempfile.TemporaryFile() as told:
        while number < start + n and time.monotonic() < end:
            os.pwrite(told.fileno(), f"{number:20d}".encode(), 0)
            command = [
                sys.executable,
                __file__,
                "--work",
                name,
                "--start",
                str(number),
                "--executions",
                str(start + n - number),
            ]
            command += ["--seconds", str(end - time.monotonic()), "--told", str(told.fileno())]
            done = subprocess.run(command, pass_fds=[told.fileno()], capture_output=True, text=True, check=False)
            found += [line for line in done.stdout.splitlines() if "\t" in line]
            number = int(os.pread(told.fileno(), 20, 0))
            if done.returncode == 0:
                break
            if guarded(name, number):  # told in a sentence where nothing is switched off
                survived += 1
                number += 1
                continue
            last = [line for line in done.stderr.splitlines() if "File" in line or "memory" in line][:1]
            found.append(f"{number}\tcrash: exit code {done.returncode} {last or done.stderr.splitlines()[-1:]}")
            number += 1
    return number - start, found, survived


def guarded(name, number):
    """Whether an input that crashes a library ends in a sentence when it is first read in another process."""
    command = [sys.executable, __file__, "--target", name, "--only", str(number)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.returncode == 0 and "seems to be damaged" in done.stdout


def main():
    """Run all targets, or one."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--executions", type=int, default=10_000, help="in all, shared out over the targets")
    parser.add_argument("--target", action="append", help="one of them; then it gets all executions")
    parser.add_argument("--start", type=int, default=0, help="number of the first execution")
    parser.add_argument("--seconds", type=float, default=1e9, help="at most for each target")
    parser.add_argument("--only", type=int, help="repeat one execution, with its traceback")
    parser.add_argument("--work", help=argparse.SUPPRESS)
    parser.add_argument("--told", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.work:
        work(options.work, options.start, options.start + options.executions, options.seconds, options.told)
        return
    from fuzz.binary_targets import TARGETS  # noqa: PLC0415 - slow to import

    if options.only is not None:
        repeat(options.target[0], options.only)
        return
    names = options.target or list(TARGETS)
    total = sum(TARGETS[name].share for name in names)
    print(f"{'target':<20} {'executions':>10} {'seconds':>8} {'findings':>8} {'crashes told':>12}")
    for name in names:
        begin = time.monotonic()
        n, found, survived = supervise(
            name, options.start, -(-options.executions * TARGETS[name].share // total), options.seconds
        )
        print(f"{name:<20} {n:>10,} {time.monotonic() - begin:>8.0f} {len(found):>8,} {survived:>12,}", flush=True)
        kinds = collections.Counter(line.partition("\t")[2][:70] for line in found)
        first = {line.partition("\t")[2][:70]: line.partition("\t")[0] for line in reversed(found)}
        for kind, times in kinds.most_common():
            print(f"    {times:>6} x {kind} (--target {name!r} --only {first[kind]})", flush=True)


def repeat(name, number):
    """Do one execution and show what it raises."""
    from fuzz import binary_targets  # noqa: PLC0415 - slow to import

    folder = tempfile.mkdtemp()
    fuzzer = Fuzzer(name, folder)
    k, each, content = fuzzer.mutate(number)
    (fuzzer.folder / str(k) / each).write_bytes(content)
    print(f"{folder}/{k}/{each}")
    binary_targets.GUARDED = True
    try:
        fuzzer.target.read(fuzzer.folder / str(k), list(fuzzer.seeds[k]))
    except BayesieveError as error:
        print(f"{type(error).__name__}: {error.message.render(command=True)}")


if __name__ == "__main__":
    main()
