r"""SPM: blocks of correlated features, each grown from a seed by Schur complements.

Seeds are the features with the largest POFAC. A block :math:`U` takes the feature with the largest

.. math:: \sum_y \left[\log p_y(U \cup f) - \log p_y(U) - \log p_y(f)\right] - \log t_1 - t_2 |U| \log n

as long as that is positive. The residual share of every feature after regression on the block is kept for each
class, so that a step costs one product of a column with the table.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from bayesieve.data import LabelledMatrix
from bayesieve.rivals.feature_scores import FeatureScores, Rival
from bayesieve.rivals.pairs.evidence import PairEvidence, log_constant
from bayesieve.rivals.pairs.kernels import COLLINEAR
from bayesieve.rivals.pairs.sweep import Progress, of_several, sweep, warn_left_out
from bayesieve.stats import Correlations, ValueCorrelations
from bayesieve.utils import BoolArray, FloatArray, check_between, check_whole


def spm(
    matrix: LabelledMatrix,
    *,
    prior: Any = "jp",
    prior_probability: float = 0.005,
    t1: float | None = None,
    t2: float = 1.0,
    log_t4: float | None = None,
    shuffles: int = 0,
    seed: int = 0,
    progress: Progress | None = None,
    n_threads: int | None = None,
) -> FeatureScores:
    r"""Find blocks of markers that are correlated with each other.

    Parameters
    ----------
    matrix, prior, progress, n_threads
        As for :func:`bayesieve.rivals.pairs.sums.two_mnc_robust`.
    prior_probability
        Share of features believed to be markers, :math:`\pi`, from which the defaults of ``t1`` and ``log_t4``
        follow.
    t1
        What a feature must bring to join a block; :math:`1/\pi` by default.
    t2
        The price of each parameter that ties it to the features of the block, in units of :math:`\log n`.
    log_t4
        Least log POFAC of a seed; :math:`\log((1 - \pi)/\pi)` by default: a marker is then the better guess.
    shuffles, seed
        Raise ``log_t4`` to the largest log POFAC that so many tables with shuffled labels give. Without them
        correlated features with heavy tails, as most real ones are, make seeds of nearly all features.

    Returns
    -------
    FeatureScores
        ``selected`` is the union of the blocks. The score is the log POFAC of the block's seed, of the feature
        itself if it belongs to none; ties are broken by the order of joining. ``block`` (counted from 1) and
        ``log_beta`` are in ``details``, and ``blocks``, names in the order of joining, and ``gains``, what each
        brought, in ``diagnostics``.
    """
    chance = check_between("prior_probability", prior_probability, 0.0, 1.0, open_ends=True)
    entry = check_between("t1", 1.0 / chance if t1 is None else t1, 0.0, math.inf, open_ends=True)
    odds = math.log1p(-chance) - math.log(chance)
    least = check_between("log_t4", odds if log_t4 is None else log_t4, -math.inf, math.inf)
    t2, seed = check_between("t2", t2, 0.0, math.inf), check_whole("seed", seed)
    n_passes = 1 + check_whole("shuffles", shuffles)
    source = ValueCorrelations.of(matrix, n_threads=n_threads)
    evidence = PairEvidence.of(source.moments, prior)
    first = of_several(progress, 0, n_passes)
    found = sweep(source, evidence, n_sums=2, n_threads=n_threads, progress=first)
    warn_left_out(matrix.feature_names, evidence, found.n_collinear)
    beta = found.sums[1].log_mean
    for k, other in enumerate(source.shuffled(shuffles, seed, n_threads=n_threads), 1):
        step = of_several(progress, k, n_passes)
        part = PairEvidence.of(other.moments, prior)
        by_chance = sweep(other, part, n_sums=2, n_threads=n_threads, progress=step)
        least = max(least, float(by_chance.sums[1].log_mean.max()))
    blocks, gains = _blocks(source, evidence, beta, least, (math.log(entry), t2 * math.log(matrix.n_samples)))
    score = np.where(np.isfinite(beta), beta, np.nan)
    order, number = np.zeros(beta.size), np.full(beta.size, np.nan)
    for k, block in enumerate(blocks):
        score[block], order[block], number[block] = beta[block[0]], -np.arange(len(block)), k + 1
    names = matrix.feature_names or tuple(f"x{i}" for i in range(beta.size))
    diagnostics = {
        "blocks": tuple(tuple(names[i] for i in block) for block in blocks), "gains": gains,
        "t1": entry, "t2": t2, "log_t4": least, "n_collinear_pairs": found.n_collinear,
        "n_left_out": int((~evidence.usable).sum()),
    }  # fmt: skip
    details = {"block": number, "log_beta": np.where(np.isfinite(beta), beta, np.nan)}
    return FeatureScores(
        "spm", score, matrix.feature_names, details=details, selected=~np.isnan(number), tie_break=order,
        diagnostics=diagnostics,
    )  # fmt: skip


def _blocks(
    source: Correlations, evidence: PairEvidence, beta: FloatArray, least: float, price: tuple[float, float]
) -> tuple[list[list[int]], tuple[tuple[float, ...], ...]]:
    """Grow a block from every seed that is left; also return what each feature brought."""
    free = evidence.usable & np.isfinite(beta)
    most = max(min(evidence.counts) - 3, 1)
    blocks, gains = [], []
    while free.any():
        seed = int(np.argmax(np.where(free, beta, -np.inf)))
        if not beta[seed] > least:
            break
        block, brought = _grow(source, evidence, seed, free, most, price)
        free[block] = False
        blocks.append(block)
        gains.append((float(beta[seed]), *brought))
    return blocks, tuple(gains)


def _grow(
    source: Correlations,
    evidence: PairEvidence,
    seed: int,
    free: BoolArray,
    most: int,
    price: tuple[float, float],
) -> tuple[list[int], list[float]]:
    cells = [ClassBlock(evidence, k) for k in range(2)]
    block, gains, new = [seed], [], seed
    candidates = free.copy()
    while len(block) < most:
        candidates[new] = False
        for cell, row in zip(cells, source.with_one(new), strict=True):
            cell.add(new, row)
        gain = np.where(candidates, sum(cell.log_gain() for cell in cells), -np.inf)
        new = int(np.argmax(gain))
        value = float(gain[new]) - price[0] - price[1] * len(block)
        if not value > 0.0:
            break
        block.append(new)
        gains.append(value)
    return block, gains


class ClassBlock:
    """A growing block in one class: the residual share of all other features after regression on it.

    Parameters
    ----------
    evidence
        Units, shares and shifts of all features.
    k
        The class.
    """

    def __init__(self, evidence: PairEvidence, k: int) -> None:
        self._root, self._least, self._shift = evidence.shares[k], evidence.least[k], evidence.shifts[k]
        self._prior, self._n, self._proper = evidence.model.prior_of(k, 2), evidence.counts[k], evidence.proper
        self._along: list[FloatArray] = []
        self._left = np.ones(self._root.size)  # of the unit
        self._beyond = self._shift.copy()  # shift that the block does not explain
        self._form = 1.0
        self._log_shares = 0.0

    def add(self, feature: int, correlations: FloatArray) -> None:
        """Let a feature join, whose correlations with all are given."""
        along = correlations * (self._root * self._root[feature])
        along[feature] = 1.0
        for each in self._along:
            along = along - each[feature] * each
        self._log_shares += math.log(self._schur()[feature])
        pivot = math.sqrt(self._left[feature])
        along = along / pivot
        offset = float(self._beyond[feature]) / pivot
        if self._proper:
            self._log_shares -= math.log(self._least[feature])
        self._left = np.maximum(self._left - along * along, self._least)
        self._beyond = self._beyond - offset * along
        self._form += offset * offset
        self._along.append(along)

    def log_gain(self) -> FloatArray:
        """Log evidence of every feature with the block, against both by themselves; -inf if it is collinear."""
        d, n = len(self._along), self._n
        constant = [log_constant(self._prior, size, n, self._proper) for size in (1, d, d + 1)]
        start = constant[2] - constant[1] - constant[0]
        if not self._proper:
            clear = self._left > COLLINEAR
            return np.where(clear, start - 0.5 * n * np.log(np.where(clear, self._left, 1.0)), -np.inf)
        dof = float(np.ravel(self._prior.variance_dof)[0]) + n
        gain = 0.5 * (d * np.log(self._least) + dof * np.log1p(self._shift**2) - (dof + d) * np.log(self._schur()))
        return np.asarray(start - 0.5 * self._log_shares + gain)

    def _schur(self) -> FloatArray:
        return np.asarray(self._left + self._beyond * self._beyond / self._form)


RIVAL = Rival("spm", "SPM", "values", spm)
