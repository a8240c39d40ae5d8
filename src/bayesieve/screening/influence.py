"""Leave-one-out influence of a screened table: what is left of the log-odds without any one sample."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from bayesieve.data import LabelledMatrix, Labels, ValueBlocks, is_sparse
from bayesieve.models import (
    CONSTANT,
    Comparison,
    Downdates,
    GaussianModel,
    Model,
    choose_least,
    evaluate_all,
    find_thresholds,
)
from bayesieve.posterior import FeaturePosterior, Fragility
from bayesieve.screening.covariates import adjusted_statistics
from bayesieve.screening.degenerate import DegeneratePolicy, prepare
from bayesieve.screening.removals import (
    VALUES_AT_ONCE,
    Removals,
    feature_chunks,
    leave_effects_out,
    rows_of,
    without_culprits,
)
from bayesieve.screening.second_look import held_matrix, values_of
from bayesieve.stats import (
    TILE,
    CategoryCounts,
    ClassStatistics,
    EventTotals,
    Moments,
    Neighbours,
    TrendMoments,
    whole_plan,
)
from bayesieve.utils import FloatArray, IntArray, OptionError, PriorError, Wording, for_each, n_threads_for

_MOST_COMPARED = 500_000  # samples times features: more are compared again only where they pass


def influence(
    table: ValueBlocks,
    posterior: FeaturePosterior,
    cut: float,
    names: tuple[str, ...] | None = None,
    n_threads: int | None = None,
) -> Fragility:
    """Leave any one sample of a screened table out.

    Parameters
    ----------
    table
        The table that was screened.
    posterior
        The screen.
    cut
        Log-odds over which features pass, held fixed.
    names
        Names of the samples.
    n_threads
        Threads, all cores by default.
    """
    if posterior.adjustment is not None:
        return _given_covariates(table, posterior, cut, names)
    if posterior.model.supports("effect-sizes") and len(posterior.classes) == 2:
        return leave_effects_out(table, posterior, cut, n_threads).fragility(posterior, cut, names)
    if posterior.model.supports("leave-one-out") and len(posterior.classes) == 2:
        found = leave_one_out(table, posterior, cut, n_threads)
        _add_degenerate(found, table, posterior, cut)
        return found.fragility(posterior, cut, names)
    matrix = table if isinstance(table, LabelledMatrix) else _in_memory(table, posterior)
    return _in_general(posterior, matrix, cut, names)


def _given_covariates(
    table: ValueBlocks, posterior: FeaturePosterior, cut: float, names: tuple[str, ...] | None
) -> Fragility:
    """Sum features again without each sample: all, or if that is much work, those that pass."""
    passing = np.flatnonzero(posterior.log_odds > cut)
    n_samples = int(np.max(posterior.statistics.counts, axis=1).sum())
    which = np.arange(posterior.n_features) if n_samples * posterior.n_features <= _MOST_COMPARED else passing
    found = Removals.none(posterior.n_features)
    if which.size:
        codes, values = values_of(table, which)
        matrix = LabelledMatrix(values, Labels(posterior.classes, codes), None)
        some = _in_general(posterior.take(which), matrix, cut, None)
        _put(found, some, which)
    return found.fragility(posterior, cut, names)


def leave_one_out(table: ValueBlocks, posterior: FeaturePosterior, cut: float, n_threads: int | None) -> Removals:
    """Leave out any one sample of a two-class Gaussian screen."""
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

    for_each(work, feature_chunks(again, counts, in_memory), threads)
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
    width, labels = max(1, VALUES_AT_ONCE // codes.size), Labels(posterior.classes, codes)
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


def one_by_one(
    posterior: FeaturePosterior,
    reduced: Iterable[ClassStatistics | None],
    log_bayes_factor: Callable[[Any], FloatArray],
    *,
    cut: float = 0.0,
    sample_names: tuple[str, ...] | None = None,
) -> Fragility:
    """Work out the evidence again without each sample in turn: slow, but for any model."""
    found, usable = Removals.none(posterior.n_features), np.ones(posterior.n_features, bool)
    passing, counts = posterior.log_odds > cut, posterior.statistics.counts.sum(axis=0)
    for number, statistics in enumerate(reduced):
        there, without = usable, np.full(posterior.n_features, np.nan)
        if statistics is not None:
            there = usable & (statistics.counts.sum(axis=0) < counts)
            without = log_bayes_factor(statistics)
        defined = there & ~np.isnan(without)
        lower = defined & (without < found.least)
        found.least[lower], found.culprit[lower] = without[lower], number
        found.n_below[defined & passing & (posterior.prior_log_odds + without <= cut)] += 1
        found.n_removals[defined] += 1
        found.n_skipped[there & ~defined] += 1
    return found.fragility(posterior, cut, sample_names)


def _in_memory(table: ValueBlocks, posterior: FeaturePosterior) -> LabelledMatrix:
    """Hold the values of a file: the slow route sums them once for every sample."""
    if not posterior.model.supports("moments"):
        return held_matrix(table)
    codes, values = values_of(table, np.arange(posterior.n_features))
    return LabelledMatrix(values, Labels(posterior.classes, codes), posterior.feature_names)


def _in_general(
    posterior: FeaturePosterior, matrix: LabelledMatrix, cut: float, names: tuple[str, ...] | None
) -> Fragility:
    """Compare again without each sample; sums are those of the rest, or of all less those of the sample."""
    comparison, downdated = posterior.comparison, isinstance(posterior.statistics, (EventTotals, CategoryCounts))
    assert isinstance(comparison, Comparison)
    step, covariates = posterior.resolution if np.any(posterior.resolution) else None, _covariates_of(posterior)
    floored, left = posterior.degenerate, matrix
    model = posterior.model.quick() if downdated else posterior.model

    def without(number: int) -> ClassStatistics | None:
        nonlocal left
        rest = np.arange(matrix.n_samples) != number
        if not np.bincount(matrix.labels.codes[rest], minlength=len(matrix.labels.classes)).all():
            return None
        if downdated:  # whole numbers are taken off without loss
            return posterior.statistics.remove(model.summarise(rows_of(matrix, ~rest), missing="omit"))
        if covariates is not None:
            return adjusted_statistics(rows_of(matrix, rest), covariates[rest], model)
        return model.summarise(left := rows_of(matrix, rest), missing="omit")

    def log_bayes_factor(statistics: ClassStatistics, model: Model = model) -> FloatArray:
        table = None if downdated else left
        handling = DegeneratePolicy("floor", step, table, posterior.feature_names, warns=False)
        try:
            ready = prepare(model, statistics, comparison.patterns, handling)
        except PriorError:  # a class is too small for its prior
            return np.full(posterior.n_features, np.nan)
        found = Comparison(comparison.patterns, (ready.part,)).log_bayes_factor()
        found = np.where(ready.excluded, 0.0, found)  # the data say nothing any more
        lost = ((ready.flags != 0) & ~floored) | ~np.isfinite(found)
        return np.where(lost, np.nan, found)

    reduced = map(without, range(matrix.n_samples))
    found = one_by_one(posterior, reduced, log_bayes_factor, cut=cut, sample_names=names)
    if model is posterior.model or not downdated:
        return found
    exact = log_bayes_factor(without_culprits(posterior, matrix, found.culprit), posterior.model)
    known = (found.culprit >= 0) & np.isfinite(exact)
    return replace(found, least_log_bayes_factor=np.where(known, exact, found.least_log_bayes_factor))


def _add_degenerate(found: Removals, table: ValueBlocks, posterior: FeaturePosterior, cut: float) -> None:
    """Features that were given a floor are judged without each sample in turn, with the floor of what is left."""
    which = np.flatnonzero(posterior.degenerate & (posterior.log_bayes_factor != 0.0))
    if not which.size:
        return
    codes, values = values_of(table, which)
    matrix = LabelledMatrix(values, Labels(posterior.classes, codes), None)
    _put(found, _in_general(posterior.take(which), matrix, cut, None), which)


def _put(found: Removals, some: Fragility, which: IntArray) -> None:
    """Put in what was found of some features."""
    for mine, theirs in zip(
        (found.least, found.culprit, found.n_below, found.n_skipped, found.n_removals),
        (some.least_log_bayes_factor, some.culprit, some.n_below, some.n_skipped, some.n_removals),
        strict=True,
    ):
        mine[which] = theirs


def _covariates_of(posterior: FeaturePosterior) -> FloatArray | None:
    """Covariates of the samples of a screen; None without any."""
    given = posterior.adjustment
    return None if given is None else given.samples


def check_comparison(posterior: FeaturePosterior) -> None:
    """Raise if other samples than those of plain classes were compared."""
    compared = posterior.comparison
    plain = compared is None or (isinstance(compared, Comparison) and len(compared.parts) == 1)
    given = posterior.adjustment
    trend = isinstance(posterior.statistics, TrendMoments)
    within = given is not None and given.samples is None
    if not plain or posterior.block_evidence is not None or within or trend:
        raise OptionError(
            "Fragility is found for classes, also given covariates, not for blocks, subjects, outcomes, pairs or "
            "informative missing values. Screen "
            "without them, or look at what each block says in ",
            Wording("posterior.block_evidence", "the columns block_..."),
            ".",
            kind="capability",
        )
