"""Many futures of several designs, chain by chain in threads; the same whatever the number of threads."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from bayesieve.planning.future import Design, Evidence, Future, Listed
from bayesieve.planning.pilot import Pilot
from bayesieve.planning.truth import PilotPosterior, PilotTruths, StatedEffects
from bayesieve.utils import FloatArray, IntArray, for_each, n_threads_for

Progress = Callable[[int, int], None]
CHAINS = 20
_WIDTHS, _ANOTHER_ORDER = 5, [2, 4, 1, 3, 0]  # widths of means and of variances need not go together


@dataclass(frozen=True, slots=True, eq=False)
class Futures:
    """Futures of several designs; the same truths for all of them.

    Parameters
    ----------
    designs
        The designs.
    listed
        For each design, what was found in every future.
    interim
        The same after half of the samples; empty if not asked for.
    markers
        Number of markers of every future.
    sizes
        Number of markers of every future whose means differ by at least half a standard deviation.
    chain
        Which chain a future comes from.
    n_features
        Number of features.
    """

    designs: tuple[Design, ...]
    listed: tuple[tuple[Listed, ...], ...]
    interim: tuple[tuple[Listed, ...], ...]
    markers: IntArray
    sizes: IntArray
    chain: IntArray
    n_features: int


def draw_futures(
    source: Pilot | StatedEffects, designs: Sequence[Design], *, n_futures: int, seed: int,
    most: int = 0, combined: bool = False, interim: bool = False, n_threads: int | None = None,
    progress: Progress | None = None,
) -> Futures:  # fmt: skip
    """Draw truths, studies of them, and the evidence in these.

    Parameters
    ----------
    source
        The pilot, or effects that are stated.
    designs
        Sizes of the study.
    n_futures
        How many futures.
    seed
        Same seed, same futures.
    most
        Features to keep of each future at least.
    combined
        Whether the pilot's samples are added to those of the study.
    interim
        Whether to look after half of the samples, too.
    n_threads, progress
        Threads, and what is called with the number of futures done and their total.
    """
    n_chains = min(CHAINS, n_futures)
    parts = [chunk.size for chunk in np.array_split(np.arange(n_futures), n_chains)]
    seeds = np.random.SeedSequence(seed).spawn(n_chains)
    added = source.typical_counts if combined and isinstance(source, Pilot) else (0, 0)
    prior_dof, kurtosis = (
        (source.prior_dof, source.kurtosis)
        if isinstance(source, Pilot)
        else (source.variance_dof, source.kurtosis)
    )
    tables = [_table(design, added, prior_dof, kurtosis, seed) for design in designs]
    halves = [_table(design.half(), added, prior_dof, kurtosis, seed) for design in designs] if interim else []
    threads = n_threads_for(n_threads, n_futures * source.n_features * len(designs))
    posteriors = _posteriors(source, threads) if isinstance(source, Pilot) else ()
    found: list[_Chain] = [_Chain([], [], [], []) for _ in range(n_chains)]
    done, lock, stopped = [0], threading.Lock(), threading.Event()

    def work(k: int) -> None:
        rng = np.random.default_rng(seeds[k])
        own = [np.random.default_rng((seed, k, design.n0, design.n1)) for design in designs]
        truths = PilotTruths(posteriors[k % len(posteriors)], rng) if posteriors else None
        for _ in range(parts[k]):
            if stopped.is_set():
                return
            truth = source.draw(rng) if isinstance(source, StatedEffects) else truths.draw()  # type: ignore[union-attr]
            width = _future_width(source, rng)
            listed, early = [], []
            for i, design in enumerate(designs):
                future = Future(truth, width, kurtosis, own[i])
                before = future.pilot_state(source) if added[0] and isinstance(source, Pilot) else None
                if interim:
                    half, spread = future.study(design.half(), before)
                    early.append(future.listed(half, spread, halves[i], most))
                    before = half
                    state, spread = future.study(design.rest(), before)
                else:
                    state, spread = future.study(design, before)
                listed.append(future.listed(state, spread, tables[i], most))
            found[k].add(listed, early, truth)
            if progress is not None:
                with lock:
                    done[0] += 1
                    progress(done[0], n_futures)

    try:
        for_each(work, range(n_chains), threads)
    except BaseException:  # an interruption while this thread waits: the others shall not go on
        stopped.set()
        raise
    return Futures(
        tuple(designs),
        tuple(tuple(each[i] for chain in found for each in chain.listed) for i in range(len(designs))),
        tuple(tuple(each[i] for chain in found for each in chain.interim) for i in range(len(designs) * interim)),
        np.array([n for chain in found for n in chain.markers], dtype=np.int64),
        np.array([n for chain in found for n in chain.sizes], dtype=np.int64),
        np.repeat(np.arange(n_chains), parts),
        source.n_features,
    )


@dataclass(slots=True, eq=False)
class _Chain:
    listed: list[list[Listed]]
    interim: list[list[Listed]]
    markers: list[int]
    sizes: list[int]

    def add(self, listed: list[Listed], interim: list[Listed], truth: object) -> None:
        self.listed.append(listed)
        self.interim.append(interim)
        self.markers.append(int(truth.places.size))  # type: ignore[attr-defined]
        self.sizes.append(int((np.abs(truth.difference) >= 0.5).sum()))  # type: ignore[attr-defined]


def _table(design: Design, added: tuple[int, int], prior_dof: float, kurtosis: float, seed: int) -> Evidence:
    return Evidence(design.n0 + added[0], design.n1 + added[1], design.batches, prior_dof, kurtosis, seed)


def _posteriors(pilot: Pilot, n_threads: int) -> tuple[PilotPosterior, ...]:
    """What the pilot says, for every width of its null that is believed possible.

    What shuffled labels do to the bulk of the features, the true ones may have done as well.
    """
    widths: FloatArray = np.ones((1, 2))
    if pilot.widths.size:
        levels = (np.arange(_WIDTHS) + 0.5) / _WIDTHS
        usual = max(1.0, float(np.median(pilot.ratio_widths)))  # heavy tails, known as kurtosis
        means = np.minimum(pilot.own_width, np.quantile(pilot.widths, levels))
        ratios = np.minimum(pilot.own_ratio_width, np.quantile(pilot.ratio_widths, levels)) / usual
        widths = np.maximum(1.0, np.stack([means, ratios[_ANOTHER_ORDER]], axis=1))
    keys = [(round(float(a), 2), round(float(b), 2)) for a, b in widths]
    apart = list(dict.fromkeys(keys))
    made: dict[tuple[float, float], PilotPosterior] = {}

    def work(key: tuple[float, float]) -> None:
        made[key] = PilotPosterior(pilot, *key)

    for_each(work, apart, n_threads)
    return tuple(made[key] for key in keys)


def _future_width(source: Pilot | StatedEffects, rng: np.random.Generator) -> float:
    if isinstance(source, Pilot) and source.widths.size:
        return float(rng.choice(source.widths))
    return 1.0
