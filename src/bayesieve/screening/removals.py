"""What leaving one sample out does: the numbers of every feature, and the removals under priors on differences."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np

from bayesieve.data import LabelledMatrix, Labels, ValueBlocks, is_sparse
from bayesieve.models import DIFFERENCES, CalibratedModel, least_without
from bayesieve.posterior import FeaturePosterior, Fragility
from bayesieve.screening.second_look import values_of
from bayesieve.utils import BoolArray, FloatArray, IntArray, for_each, n_threads_for

VALUES_AT_ONCE = 2**23  # held in memory when all samples of some features are looked at
_COLUMNS_AT_ONCE = 256
_WORK_PER_VALUE = 64  # next to reading it


@dataclass(frozen=True, slots=True, eq=False)
class Removals:
    """What was found out, feature by feature; see :class:`~bayesieve.posterior.findings.fragility.Fragility`."""

    least: FloatArray
    culprit: IntArray
    n_below: IntArray
    n_skipped: IntArray
    n_removals: IntArray

    @classmethod
    def none(cls, n_features: int) -> Removals:
        """Before any removal."""
        numbers = (np.zeros(n_features, np.int64) for _ in range(3))
        return cls(np.full(n_features, np.inf), np.full(n_features, -1, np.int64), *numbers)

    def fragility(self, full: FeaturePosterior, cut: float, sample_names: tuple[str, ...] | None) -> Fragility:
        """Return the result; where nothing could be removed, the full data's log Bayes factor stands."""
        least = np.where(self.culprit < 0, full.log_bayes_factor, self.least)
        return Fragility(
            full, least, self.culprit, self.n_below, self.n_skipped, self.n_removals, cut, sample_names
        )


def leave_effects_out(
    table: ValueBlocks, posterior: FeaturePosterior, cut: float, n_threads: int | None
) -> Removals:
    """Leave out any one sample of two classes under priors on differences, what all features gave held fixed."""
    model, n = cast("CalibratedModel", posterior.model), posterior.n_features
    grids, found = model.grids(posterior.moments), Removals.none(n)
    dof, scale = model.variance_dof or 0.0, model.variance_scale or 0.0
    least = model.kurtosis or 0.0 if posterior.moments.has_shape else np.inf
    weights, asked = (model.variance_weight or 0.0, model.both_share or 0.0), DIFFERENCES.index(model.difference)
    constants = np.array([dof, dof * scale, *weights, least, asked])
    steps = np.broadcast_to(np.asarray(posterior.resolution, dtype=np.float64), (n,))
    limits = np.where(posterior.log_odds > cut, cut - np.asarray(posterior.prior_log_odds), -np.inf)
    floored = posterior.degenerate
    counts = np.broadcast_to(posterior.moments.counts, posterior.moments.mean.shape)
    in_memory = isinstance(table, LabelledMatrix)

    def work(which: IntArray) -> None:
        codes, values = values_of(table, which)
        least, numbers = np.empty(which.size), np.zeros((4, which.size), np.int64)
        least_without(
            np.ascontiguousarray(values.T), codes, steps[which], floored[which], limits[which], constants, *grids,
            model.nodes, least, numbers,
        )  # fmt: skip
        found.least[which] = least
        found.culprit[which], found.n_below[which], found.n_skipped[which], found.n_removals[which] = numbers

    dumb = floored & (posterior.log_bayes_factor == 0.0)
    chunks = feature_chunks(np.flatnonzero(~dumb), counts, in_memory)
    threads = n_threads_for(n_threads, int(counts.sum(axis=0).max()) * n * _WORK_PER_VALUE) if in_memory else 1
    for_each(work, chunks, threads)
    return found


def feature_chunks(which: IntArray, counts: IntArray, in_memory: bool) -> list[IntArray]:
    """Cut features into pieces; a file is read again for each, so they are as large as memory allows."""
    width = max(1, VALUES_AT_ONCE // max(1, int(counts.sum(axis=0).max())))
    width = min(width, _COLUMNS_AT_ONCE) if in_memory else width
    return [which[lo : lo + width] for lo in range(0, which.size, width)]


def rows_of(matrix: LabelledMatrix, kept: BoolArray) -> LabelledMatrix:
    """Return some samples of a table."""
    labels = Labels(matrix.labels.classes, matrix.labels.codes[kept])
    exposures = None if matrix.exposures is None else matrix.exposures[kept]
    return replace(matrix, values=matrix.values[kept], labels=labels, sample_names=None, exposures=exposures)


def without_culprits(posterior: FeaturePosterior, matrix: LabelledMatrix, culprit: IntArray) -> Any:
    """Return the statistics of every feature without the sample that was found, another one for each."""
    codes, n = matrix.labels.codes, len(matrix.labels.classes)
    taken = np.full((n, culprit.size), np.nan)
    for number in np.unique(culprit[culprit >= 0]).tolist():
        features, one = culprit == number, rows_of(matrix, np.arange(codes.size) == number)
        row: Any = one.values
        values = np.asarray(row.toarray() if is_sparse(row) else row, dtype=np.float64)[0]
        share = 1.0 if one.exposures is None else 1.0 / one.exposures[0]
        taken[codes[number], features] = values[features] * share
    alone = replace(
        matrix, values=taken, labels=Labels(matrix.labels.classes, np.arange(n)), sample_names=None, exposures=None
    )
    return posterior.statistics.remove(posterior.model.summarise(alone, missing="omit"))
