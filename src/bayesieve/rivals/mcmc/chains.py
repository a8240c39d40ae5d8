"""Several chains of a sampler: run side by side, interrupted at will, and held against each other.

The diagnostics are those of Gelman et al. (2013, sections 11.4 and 11.5): chains are cut in halves, so that a
chain that still drifts disagrees with itself.
"""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from bayesieve.utils import ConvergenceWarning, FloatArray, OptionError, check_whole, n_threads_for, plural, warn

Progress = Callable[[int, int], None]

_SECONDS_PER_BLOCK = 0.2  # how long an interruption may have to wait
_BLOCK_OF_FEATURES = 256
_BAD_R_HAT, _N_STRONGEST = 1.1, 20


class Chain(Protocol):
    """A sampler with a state."""

    def advance(self, n_sweeps: int) -> None:
        """Do some sweeps; how many at a time makes no difference to the draws."""
        ...


@dataclass(frozen=True, slots=True)
class Schedule:
    """How many sweeps a chain does, and which of them are kept.

    Parameters
    ----------
    draws
        Draws that are kept of every chain.
    burn_in
        Sweeps before the first draw that count for nothing.
    thin
        Sweeps per draw.
    chains
        Number of chains.
    seed
        Seed of all of them.
    """

    draws: int
    burn_in: int
    thin: int
    chains: int
    seed: int

    def __post_init__(self) -> None:
        for name, least in (("draws", 4), ("burn_in", 0), ("thin", 1), ("chains", 1), ("seed", 0)):
            object.__setattr__(self, name, check_whole(name, getattr(self, name), least))

    @property
    def n_sweeps(self) -> int:
        """Sweeps of one chain."""
        return self.burn_in + self.draws * self.thin

    def generators(self) -> list[np.random.Generator]:
        """One stream of random numbers per chain."""
        return [np.random.default_rng(child) for child in np.random.SeedSequence(self.seed).spawn(self.chains)]


def run_chains(
    chains: Sequence[Chain], n_sweeps: int, *, n_threads: int | None = None, progress: Progress | None = None
) -> float:
    """Advance every chain by a number of sweeps and return the seconds it took.

    Chains run in threads of their own, while this one waits, tells of progress and listens to Ctrl-C, after which
    every chain stops within a fraction of a second. Linear algebra uses one thread per chain: the draws do
    not depend on how many run at a time.

    Parameters
    ----------
    chains
        The chains.
    n_sweeps
        Sweeps of each.
    n_threads
        Chains at a time; by default as many as there are cores.
    progress
        Called with the sweeps done and to be done, of all chains together.
    """
    import threadpoolctl  # noqa: PLC0415 - looks for libraries that are loaded

    number = min(n_threads_for(n_threads, 1 << 30), len(chains))
    team, start = _Team(chains, n_sweeps), time.perf_counter()
    with threadpoolctl.threadpool_limits(1, user_api="blas"):
        workers = [threading.Thread(target=team.work, daemon=True) for _ in range(number)]
        for worker in workers:
            worker.start()
        try:
            team.watch(progress)
        finally:
            team.stop.set()
            for worker in workers:
                worker.join()
    return time.perf_counter() - start


class _Team:
    """Threads that take one chain after another and report the sweeps they have done."""

    def __init__(self, chains: Sequence[Chain], n_sweeps: int) -> None:
        self.stop = threading.Event()
        self._waiting, self._lock = iter(chains), threading.Lock()
        self._n_sweeps, self._total = n_sweeps, n_sweeps * len(chains)
        self._reports: queue.Queue[int | BaseException] = queue.Queue()

    def work(self) -> None:
        try:
            while not self.stop.is_set():
                with self._lock:
                    chain = next(self._waiting, None)
                if chain is None:
                    return
                self._run(chain)
        except BaseException as error:  # handed to the thread that watches
            self._reports.put(error)

    def _run(self, chain: Chain) -> None:
        left, size = self._n_sweeps, 1
        while left and not self.stop.is_set():
            size, start = min(size, left), time.perf_counter()
            chain.advance(size)
            left -= size
            self._reports.put(size)
            per_sweep = (time.perf_counter() - start) / size
            size = max(1, min(4 * size, int(_SECONDS_PER_BLOCK / max(per_sweep, 1e-6))))

    def watch(self, progress: Progress | None) -> None:
        done = 0
        while done < self._total:
            try:
                report = self._reports.get(timeout=0.2)  # some systems hear Ctrl-C between waits only
            except queue.Empty:
                continue
            if isinstance(report, BaseException):
                raise report
            done += report
            if progress is not None:
                progress(done, self._total)


def split_r_hat(traces: Any) -> FloatArray:
    """Potential scale reduction of every quantity, from chains cut in halves.

    Parameters
    ----------
    traces
        Chains x draws x quantities.

    Returns
    -------
    FloatArray
        Near 1 where chains agree; 1 for what never changes, infinite for what differs between chains that stand
        still.
    """
    found = [_variances(_halves(part))[1:] for part in _parts(traces)]
    within, total = (np.concatenate(each) for each in zip(*found, strict=True))
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.sqrt(total / within)
    return np.where(total == 0, 1.0, ratio)


def effective_sizes(traces: Any) -> FloatArray:
    """Number of independent draws that would tell as much about the mean of every quantity.

    Autocorrelations are summed up to where those of two neighbouring lags together become negative, and may not
    rise on the way (Geyer, 1992).

    Parameters
    ----------
    traces
        Chains x draws x quantities.
    """
    return np.concatenate([_effective_sizes(_halves(part)) for part in _parts(traces)])


def _parts(traces: Any) -> list[FloatArray]:
    """Cut the quantities into pieces of moderate size."""
    if traces.ndim != 3 or traces.shape[1] < 4:
        raise OptionError(f"Diagnostics take chains x 4 or more draws x quantities, not {traces.shape}.")
    starts = range(0, max(traces.shape[2], 1), _BLOCK_OF_FEATURES)
    return [np.asarray(traces[:, :, lo : lo + _BLOCK_OF_FEATURES], dtype=np.float64) for lo in starts]


def _halves(traces: FloatArray) -> FloatArray:
    n = traces.shape[1] // 2
    return np.concatenate([traces[:, :n], traces[:, -n:]])


def _variances(halves: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Chains centred; the variance within them, and that of the posterior as all of them show it."""
    n = halves.shape[1]
    means = halves.mean(axis=1, keepdims=True)
    centred = halves - means
    within = (centred * centred).sum(axis=1).mean(axis=0) / (n - 1)
    return centred, within, within * (n - 1) / n + means[:, 0].var(axis=0, ddof=1)


def _effective_sizes(halves: FloatArray) -> FloatArray:
    from scipy import fft  # noqa: PLC0415 - slow to import

    m, n, n_quantities = halves.shape
    centred, within, total = _variances(halves)
    length = fft.next_fast_len(2 * n, real=True)
    spectrum = fft.rfft(centred, length, axis=1)
    power = (spectrum.real**2 + spectrum.imag**2).mean(axis=0)
    covariance = fft.irfft(power, length, axis=0)[: 2 * (n // 2)] / (n - 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        correlation = 1.0 - (within - covariance) / total
    correlation[0] = 1.0
    pairs = correlation.reshape(-1, 2, n_quantities).sum(axis=1)
    positive = np.logical_and.accumulate(pairs > 0, axis=0)
    time_constant = 2.0 * np.where(positive, np.minimum.accumulate(pairs, axis=0), 0.0).sum(axis=0) - 1.0
    number = float(m * n)
    sizes = number / np.maximum(time_constant, 1.0 / np.log10(number))
    return np.where(total == 0, number, np.minimum(sizes, number * np.log10(number)))


def diagnose(method: str, traces: Any, score: FloatArray) -> tuple[dict[str, FloatArray], dict[str, Any]]:
    """Compare the chains, and warn if they disagree on strong features.

    Parameters
    ----------
    method
        Name of the method, for the warning.
    traces
        Chains x draws x features.
    score
        Of the features: large for strong ones.

    Returns
    -------
    tuple
        R-hat and effective sample size as columns, and in short.
    """
    r_hat, ess = split_r_hat(traces), effective_sizes(traces)
    strongest = np.argsort(-score, kind="stable")[:_N_STRONGEST]
    numbers: dict[str, Any] = {
        "r_hat_worst": float(r_hat.max()),
        "r_hat_top": float(r_hat[strongest].max()),
        "ess_least": float(ess.min()),
        "ess_top": float(ess[strongest].min()),
        "n_top": int(strongest.size),
    }
    n_bad = int((r_hat[strongest] > _BAD_R_HAT).sum())
    if n_bad:
        warn(
            ConvergenceWarning,
            f"{method}: chains disagree on {n_bad} of the {plural(strongest.size, 'strongest feature')} (R-hat "
            f"up to {numbers['r_hat_top']:.2f}, above {_BAD_R_HAT}; {numbers['ess_top']:.0f} or more independent "
            "draws), so that ranks may change with the seed: raise draws and burn_in, or start from fewer "
            "features with screen.",
            kind="convergence",
            **numbers,
        )
    return {"r_hat": r_hat, "ess": ess}, numbers
