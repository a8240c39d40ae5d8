"""Gene sets: time for 2,219 sets over 20,000 genes, and what comes out when the classes mean nothing.

Run: python benchmarks/enrichment.py
"""

from __future__ import annotations

import time
import warnings
from typing import Any

import numpy as np

import bayesieve as bs
from bayesieve.enrichment import GeneSets, RankedGenes, collapse, known_markers

N_GENES, N_SETS, BAR = 20_000, 2_219, 1.0  # seconds
N_SMALL, N_BLOCKS, BLOCK = 4_000, 100, 20
N_TABLES, FORCED = 40, 500


def best(call: Any, rounds: int = 5) -> float:
    call()
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return min(times)


def speed() -> None:
    rng = np.random.default_rng(0)
    names = [f"G{i}" for i in range(N_GENES)]
    sizes = np.clip(rng.lognormal(3.3, 1.1, N_SETS).astype(int), 5, 2_000)
    sets = GeneSets.from_dict({f"S{k}": rng.choice(names, n, replace=False) for k, n in enumerate(sizes)})
    probability = np.sort(rng.beta(0.05, 1.0, N_GENES))[::-1]
    genes = RankedGenes(tuple(names), np.arange(N_GENES) < 500, probability)
    n_tested = len(bs.enrich(genes, sets, min_share=0.0))
    seconds = best(lambda: bs.enrich(genes, sets, min_share=0.0).to_dict())
    print(
        f"{N_SETS:,} sets over {N_GENES:,} genes ({n_tested:,} within limits): {seconds:.2f} s (bar {BAR:.0f} s)"
    )
    probes = [f"P{i}" for i in range(54_675)]
    genes_of = bs.GeneMap.from_pairs(
        (p, f"G{g}") for p, g in zip(probes, rng.integers(0, N_GENES, 54_675), strict=True)
    )
    print(f"54,675 ranked probes to genes: {best(lambda: collapse(probes, genes_of)):.2f} s")
    known = rng.choice(names, 36, replace=False)
    print(f"36 known markers among {N_GENES:,} genes: {best(lambda: known_markers(names, known)):.2f} s")


def chance(correlation: float) -> tuple[float, float, float, float]:
    """Tables without markers whose gene sets share a factor: lists and sets that come out."""
    names = [f"G{i}" for i in range(N_SMALL)]
    sets = GeneSets.from_dict({f"S{k}": names[k * BLOCK : (k + 1) * BLOCK] for k in range(N_BLOCKS)})
    own = forced = small = markers = 0.0
    for seed in range(N_TABLES):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(40, N_SMALL)) * np.sqrt(1 - correlation)
        for k in range(N_BLOCKS):
            X[:, k * BLOCK : (k + 1) * BLOCK] += np.sqrt(correlation) * rng.normal(size=(40, 1))
        posterior = bs.screen(X, [0, 1] * 20, feature_names=names, shuffles=20)
        listed = bs.MinimalRisk(0.5).select(posterior)
        own += bool((bs.enrich(listed, sets, min_share=0.0).q_value < 0.05).any())
        found = bs.enrich(posterior, sets, selected=FORCED, min_share=0.0)
        forced += bool((found.q_value < 0.05).any())
        small += float((found.p_value < 0.05).mean())
        markers += float(found.expected_markers.max())
    return own / N_TABLES, forced / N_TABLES, small / N_TABLES, markers / N_TABLES


def main() -> None:
    speed()
    print(f"\n{N_TABLES} tables of 40 x {N_SMALL:,} without markers, {N_BLOCKS} sets of {BLOCK} genes:")
    print(
        "correlation  a set with q < 0.05  the same, top 500  sets with p < 0.05, top 500  most markers of a set"
    )
    for correlation in (0.0, 0.2, 0.5):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            own, forced, small, markers = chance(correlation)
        print(f"{correlation:>11}  {own:>18.0%}  {forced:>17.0%}  {small:>26.1%}  {markers:>22.2f}")


if __name__ == "__main__":
    main()
