"""One pass over all pairs of features, a tile at a time: never more than a few tiles in memory.

A tile is a block of features against another. Its correlations are one matrix product per class; everything asked
of its pairs is done while it is at hand, for both features of a pair, and tiles below the diagonal are never made.
What a row of tiles gives is joined in the order of the rows, so that the number of threads changes nothing.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from bayesieve.rivals.pairs import kernels
from bayesieve.rivals.pairs.evidence import PairEvidence
from bayesieve.stats import Correlations
from bayesieve.utils import (
    DegenerateFeatureWarning,
    FloatArray,
    IntArray,
    list_names,
    n_threads_for,
    one_blas_thread,
    option,
    run,
    warn,
)

Progress = Callable[[int, int], None]
ORDERS = ("together", "evidence")
TILE = 256


@dataclass(frozen=True, slots=True, eq=False)
class RowSums:
    r"""Sums over partners, :math:`\sum_j \exp(H_2(i, j) - c_j)`, by feature.

    Parameters
    ----------
    log_sum
        Their logarithms; -inf for a feature without partners.
    best, partner
        The largest term's logarithm and whose it is; -inf and -1 without partners.
    """

    log_sum: FloatArray
    best: FloatArray
    partner: IntArray

    @property
    def log_mean(self) -> FloatArray:
        """Logarithms of the means over partners."""
        return self.log_sum - math.log(max(int((self.partner >= 0).sum()) - 1, 1))


@dataclass(frozen=True, slots=True, eq=False)
class Sweep:
    """What a pass over all pairs found.

    Parameters
    ----------
    sums
        Sums over partners: of the evidence, then of the evidence less the partner's own, as far as asked for.
    score, first, second
        The strongest pairs by the chosen score, the strongest first; ``first < second`` are features.
    reached
        How many pairs reach each rung of the ladder.
    largest
        The largest score of any pair; -inf if no pair has one.
    n_pairs, n_collinear
        Pairs of features that have an evidence, and pairs left out since they are collinear in a class.
    """

    sums: tuple[RowSums, ...]
    score: FloatArray
    first: IntArray
    second: IntArray
    reached: IntArray
    largest: float
    n_pairs: int
    n_collinear: int


def sweep(
    source: Correlations,
    evidence: PairEvidence,
    *,
    n_sums: int = 0,
    order: str = "together",
    top: int = 0,
    ladder: FloatArray | None = None,
    n_threads: int | None = None,
    progress: Progress | None = None,
    tile: int = TILE,
) -> Sweep:
    """Go through all pairs once.

    Parameters
    ----------
    source, evidence
        Correlations, and what the evidence needs to know of every feature.
    n_sums
        0 for no sums over partners, 1 for that of the evidence, 2 for both.
    order
        What pairs are ordered and counted by: ``"evidence"`` or ``"together"``, the evidence less that of both
        features alone.
    top
        Number of pairs to keep.
    ladder
        Scores, rising, that pairs are counted against.
    n_threads, progress
        Threads, and a function called with the number of pairs done and of all.
    tile
        Features of a block.
    """
    p = evidence.n_features
    rungs = np.empty(0) if ladder is None else np.asarray(ladder, dtype=np.float64)
    weight = evidence.margin if order == "evidence" else evidence.beyond
    weights = (evidence.margin, evidence.beyond)[:n_sums]
    room = min(top, p * (p - 1) // 2)

    def work(lo: int) -> _Row:
        row = _Row((lo, min(lo + tile, p)), p, n_sums, room, rungs.size)
        rows = source.rows(*row.span)
        for at in range(lo, p, tile):
            both = np.empty((2, row.span[1] - lo, min(tile, p - at)))
            for k in range(2):
                source.tile(rows, k, at, at + both.shape[2], both[k])
            row.n_collinear += kernels.fill(
                both[0], both[1], lo, at, evidence.shares, evidence.shifts, evidence.least, evidence.powers,
                evidence.constant, evidence.usable, evidence.proper,
            )  # fmt: skip
            row.add(both[0], at, weight, weights, rungs)
        return row

    joined = _Row((0, p), p, n_sums, room, rungs.size)
    done, total = 0, p * (p - 1) // 2
    with one_blas_thread():
        for row in run(work, range(0, p, tile), n_threads_for(n_threads, p * p)):
            joined.join(row)
            lo, hi = row.span
            done += (hi - lo) * (p - hi) + (hi - lo) * (hi - lo - 1) // 2
            if progress is not None:
                progress(done, total)
    n = int(evidence.usable.sum())
    strongest = np.lexsort((joined.second, joined.first, -joined.score))
    strongest = strongest[joined.score[strongest] > -np.inf]
    return Sweep(
        joined.sums(evidence.margin), joined.score[strongest], joined.first[strongest], joined.second[strongest],
        joined.reached[::-1].cumsum()[::-1], joined.largest, n * (n - 1) // 2 - joined.n_collinear,
        joined.n_collinear,
    )  # fmt: skip


class _Row:
    """What a row of tiles gives: a block of features against itself and all later ones."""

    def __init__(self, span: tuple[int, int], p: int, n_sums: int, room: int, n_rungs: int) -> None:
        self.span = span
        self.best = np.full((n_sums, p), -np.inf)
        self.total = np.zeros((n_sums, p))
        self.partner = np.full((n_sums, p), -1, dtype=np.int64)
        self.score = np.full(room, -np.inf)
        self.first, self.second = np.zeros(room, dtype=np.int64), np.zeros(room, dtype=np.int64)
        self.kept = self.n_collinear = 0
        self.reached = np.zeros(n_rungs, dtype=np.int64)
        self.largest = -np.inf

    def add(
        self, pairs: FloatArray, at: int, weight: FloatArray, weights: tuple[FloatArray, ...], rungs: FloatArray
    ) -> None:
        """Take what is asked for from a tile."""
        lo, hi = self.span
        for k, each in enumerate(weights):
            own, others = slice(lo, hi), slice(at, at + pairs.shape[1])
            for add, first, to in ((kernels.add_rows, at, own), (kernels.add_columns, lo, others)):
                add(pairs, first, each, self.best[k, to], self.total[k, to], self.partner[k, to])
        if self.score.size:
            self.kept = kernels.keep_strongest(
                pairs, lo, at, weight, self.score, self.first, self.second, self.kept
            )
        if self.score.size or rungs.size:
            most = kernels.count_reaching(pairs, lo, at, weight, rungs, self.reached)
            self.largest = max(self.largest, float(most))

    def join(self, other: _Row) -> None:
        """Take over what another row found."""
        most = np.maximum(self.best, other.best)
        with np.errstate(invalid="ignore"):  # -inf less -inf where there is nothing on either side
            shares = [np.where(row.total > 0.0, row.total * np.exp(row.best - most), 0.0) for row in (self, other)]
        self.partner = np.where(other.best > self.best, other.partner, self.partner)
        self.best, self.total = most, shares[0] + shares[1]
        pairs = [np.concatenate(each) for each in zip(self._pairs(), other._pairs(), strict=True)]
        kept = np.lexsort((pairs[2], pairs[1], -pairs[0]))[: self.score.size]
        self.score, self.first, self.second = (each[kept] for each in pairs)
        self.reached = self.reached + other.reached
        self.largest = max(self.largest, other.largest)
        self.n_collinear += other.n_collinear

    def _pairs(self) -> tuple[FloatArray, IntArray, IntArray]:
        return self.score, self.first, self.second

    def sums(self, margin: FloatArray) -> tuple[RowSums, ...]:
        """Sums over partners; a feature's own margin belongs to all its terms."""
        with np.errstate(divide="ignore"):
            return tuple(
                RowSums(margin + best + np.log(total), margin + best, partner)
                for best, total, partner in zip(self.best, self.total, self.partner, strict=True)
            )


def of_several(progress: Progress | None, k: int, n_passes: int) -> Progress | None:
    """Return the progress of pass ``k`` of several."""
    if progress is None:
        return None
    return lambda done, total: progress(k * total + done, n_passes * total)


def warn_left_out(names: tuple[str, ...] | None, evidence: PairEvidence, n_collinear: int = 0) -> None:
    """Say which features and how many pairs have no evidence under an improper prior."""
    out = np.flatnonzero(~evidence.usable)
    parts = []
    if out.size:
        some = list_names([names[i] if names else f"x{i}" for i in out.tolist()])
        parts.append(
            f"{out.size:,} of {evidence.n_features:,} features are constant in a class and belong to no pair: "
            f"{some}"
        )
    if n_collinear:
        lie = "pair lies" if n_collinear == 1 else "pairs lie"
        parts.append(
            f"{n_collinear:,} {lie} on a straight line in a class (copies of each other, or nearly all zero) and "
            f"{'is' if n_collinear == 1 else 'are'} left out"
        )
    if parts:
        warn(
            DegenerateFeatureWarning,
            "; ".join(parts) + ". Jeffreys' prior has no answer to them.",
            hint=("A proper prior has one: ", option("prior", "pp"), "."),
        )
