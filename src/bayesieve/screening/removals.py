"""Every removal of one sample, in a few sweeps: candidates for most features, all samples for some."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from bayesieve.data import LabelledMatrix, Labels, ValueBlocks, is_sparse
from bayesieve.models import CONSTANT, Downdates, GaussianModel, choose_least, evaluate_all, find_thresholds
from bayesieve.posterior import FeaturePosterior, Fragility
from bayesieve.stats import TILE, Moments, Neighbours, whole_plan
from bayesieve.utils import FloatArray, IntArray, for_each, n_threads_for

_VALUES_AT_ONCE = 2**23  # held in memory when all samples of some features are looked at
_COLUMNS_AT_ONCE = 256


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


def leave_one_out(table: ValueBlocks, posterior: FeaturePosterior, cut: float, n_threads: int | None) -> Removals:
    """Leave out any one sample of a two-class Gaussian screen.

    Parameters
    ----------
    table
        The values that were screened.
    posterior
        The screen.
    cut
        Log-odds over which features pass.
    n_threads
        Threads; the result does not depend on it.
    """
    model, moments = cast("GaussianModel", posterior.model), posterior.moments
    parts = Downdates.of(model, moments, posterior.resolution)
    found, awkward = _at_candidates(table, parts, n_threads)
    counts = np.broadcast_to(moments.counts, moments.mean.shape)
    usable = ~np.isnan(parts.sizes[:2, CONSTANT])
    found.n_skipped[:] = np.where(usable, 0, counts).sum(axis=0)
    found.n_removals[:] = np.where(usable, counts, 0).sum(axis=0)
    aside, in_memory = posterior.degenerate, isinstance(table, LabelledMatrix)
    for array, value in ((found.culprit, -1), (found.n_skipped, 0), (found.n_removals, 0)):
        array[aside] = value
    crossed = (posterior.log_odds > cut) & (posterior.prior_log_odds + found.least <= cut)
    again = np.flatnonzero((awkward | parts.irregular | crossed) & usable.any(axis=0) & ~aside)
    threads = n_threads_for(n_threads, int(counts.sum(axis=0).max()) * again.size) if in_memory else 1

    def work(which: IntArray) -> None:
        _at_every_sample(table, model, posterior, parts.take(which), which, cut, found)

    for_each(work, _chunks(again, counts, in_memory), threads)
    return found


def _at_candidates(
    table: ValueBlocks, parts: Downdates, n_threads: int | None
) -> tuple[Removals, npt.NDArray[np.bool_]]:
    """Evaluate the values next to the turning points; also return the features that need a closer look."""
    n_features = parts.irregular.size
    found, awkward = Removals.none(n_features), np.zeros(n_features, bool)

    def candidates(lo: int, hi: int, look: Callable[[Neighbours, FloatArray], None]) -> None:
        thresholds, near = np.empty((2, 2, hi - lo)), Neighbours.nothing(2, hi - lo)
        curves, constants = parts.terms(lo, hi)
        find_thresholds(*parts.places, curves, lo, hi, thresholds, awkward)
        look(near, thresholds)
        choose_least(
            *parts.places, curves, constants, near.values, near.positions, lo, found.least, found.culprit,
            awkward,
        )  # fmt: skip

    if isinstance(table, LabelledMatrix):
        values = table.values.tocsc() if is_sparse(table.values) else table.values
        plan = whole_plan(table.labels.codes, 2)

        def work(lo: int) -> None:  # little at a time: fresh memory costs more than arithmetic
            hi = min(lo + TILE, n_features)
            candidates(lo, hi, lambda near, thresholds: near.look(values, plan, thresholds, lo=lo))

        for_each(work, range(0, n_features, TILE), n_threads_for(n_threads, table.n_samples * n_features))
    else:
        candidates(0, n_features, lambda near, thresholds: _look_again(table, near, thresholds))
    return found, awkward


def _look_again(table: ValueBlocks, near: Neighbours, thresholds: FloatArray) -> None:
    """Read a file: blocks of samples, or of features with all their samples."""
    seen = np.zeros(thresholds.shape[2], np.int64)
    for block in table.blocks(np.arange(seen.size)):
        first = block.first
        near.look(block.values, whole_plan(block.codes, 2), thresholds, at=first, sample=int(seen[first]))
        seen[first : first + block.values.shape[1]] += block.codes.size


def _chunks(which: IntArray, counts: IntArray, in_memory: bool) -> list[IntArray]:
    """Cut features into pieces; a file is read again for each, so they are as large as memory allows."""
    width = max(1, _VALUES_AT_ONCE // max(1, int(counts.sum(axis=0).max())))
    width = min(width, _COLUMNS_AT_ONCE) if in_memory else width
    return [which[lo : lo + width] for lo in range(0, which.size, width)]


def _at_every_sample(
    table: ValueBlocks, model: GaussianModel, posterior: FeaturePosterior, parts: Downdates, which: IntArray,
    cut: float, found: Removals,
) -> None:  # fmt: skip
    """Leave out each sample of some features; where the sums lose digits, sum again without it."""
    codes, values = values_of(table, which)
    without, awkward = np.full(values.shape, np.nan), np.zeros(values.shape, bool)
    terms = parts.terms(0, which.size)
    evaluate_all(values, codes, *parts.places, *terms, parts.direct, without, awkward)
    samples, places = np.nonzero(awkward)
    width, labels = max(1, _VALUES_AT_ONCE // codes.size), Labels(posterior.classes, codes)
    step = np.broadcast_to(posterior.resolution, (posterior.n_features,))
    for lo in range(0, samples.size, width):
        rows, columns = samples[lo : lo + width], places[lo : lo + width]
        rest = values[:, columns]
        rest[rows, np.arange(rows.size)] = np.nan
        moments = Moments.from_labelled(LabelledMatrix(rest, labels, None), missing="omit")
        chosen = which[columns]
        without[rows, columns] = _where_defined(model.take(chosen, step.size), moments, step[chosen])
    prior = np.broadcast_to(posterior.prior_log_odds, (posterior.n_features,))[which]
    there, defined = ~np.isnan(values), ~np.isnan(without)
    found.n_removals[which] = defined.sum(axis=0)
    found.n_skipped[which] = (there & ~defined).sum(axis=0)
    passing = posterior.log_odds[which] > cut
    found.n_below[which] = np.where(passing, (defined & (prior + without <= cut)).sum(axis=0), 0)
    filled = np.where(defined, without, np.inf)
    found.least[which] = filled.min(axis=0)
    found.culprit[which] = np.where(defined.any(axis=0), filled.argmin(axis=0), -1)


def values_of(table: ValueBlocks, which: IntArray) -> tuple[IntArray, FloatArray]:
    """Class of all samples, and their values of some features."""
    codes: list[IntArray] = []
    parts: dict[int, list[FloatArray]] = {}
    for block in table.blocks(which):
        if block.first == 0:
            codes.append(block.codes)
        dense: Any = block.values.toarray() if is_sparse(block.values) else block.values
        parts.setdefault(block.first, []).append(np.asarray(dense, dtype=np.float64))
    whole = [part[0] if len(part) == 1 else np.concatenate(part) for _, part in sorted(parts.items())]
    values = whole[0] if len(whole) == 1 else np.concatenate(whole, axis=1)
    return np.concatenate(codes), np.ascontiguousarray(values)


def _where_defined(model: GaussianModel, moments: Moments, resolution: FloatArray) -> FloatArray:
    """Log Bayes factor, NaN where a group is undefined under its prior."""
    used = moments.with_resolution(resolution) if resolution.any() else moments
    defined = np.ones(moments.n_features, bool)
    for k, label in enumerate((*moments.classes, None)):
        prior = model.pooled_prior if label is None else model.prior_of(k, len(moments.classes))
        bare, group = ((x.pool() if label is None else x.group(label)) for x in (moments, used))
        dof, scale, strength, _ = prior.updated_values(group)
        empty = np.less(group.count[0], 2) & np.equal(prior.updated_values(bare)[1], 0)
        defined &= np.greater(dof, 0) & np.greater(strength, 0) & np.greater(scale, 0) & ~empty
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(defined, model.log_bayes_factor(used), np.nan)
