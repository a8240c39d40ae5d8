"""The screen under many labellings: sums by matrix products, the comparison of the screen, and counting."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from bayesieve.data import LabelledMatrix, Labels
from bayesieve.models import Comparison, Degeneracy, Patterns, compare
from bayesieve.posterior import (
    FeaturePosterior,
    PermutationNull,
    benjamini_hochberg,
    can_be_null,
    expected_under_null,
)
from bayesieve.screening.degenerate import DegeneratePolicy, prepare
from bayesieve.stats import (
    CentredValues,
    Moments,
    Relabellings,
    Thresholds,
    count_exceedances,
    deal,
    reach,
    share_under_null,
)
from bayesieve.utils import BoolArray, FloatArray, IntArray, OptionError, for_each

_VALUES_AT_ONCE = 2**22  # dealt anew together
_TILE = 2**15  # features x permutations compared together, so that they stay in the processor's cache


@dataclass(frozen=True, slots=True, eq=False)
class Question:
    """What is asked of every labelling.

    Parameters
    ----------
    posterior
        The screen with the labels as they are.
    patterns
        What was compared.
    cut
        Log-odds over which features pass.
    policy
        What to do where a class has no variance: ``"floor"`` or ``"exclude"``.
    pool
        Features whose permuted values make the pool.
    one_prior
        Whether all features have the same hyper-parameters.
    """

    posterior: FeaturePosterior
    patterns: Patterns
    cut: float
    policy: str
    pool: BoolArray
    one_prior: bool

    @classmethod
    def of(cls, posterior: FeaturePosterior, cut: float, policy: str) -> Question:
        """Ask what a screen asked; the pool is of features that could be null."""
        DegeneratePolicy(policy)  # checks it
        patterns = getattr(posterior.comparison, "patterns", None) or Patterns.of("any", posterior.classes)
        model: Any = posterior.model
        priors = (*model.class_priors, model.pooled_prior) if model.supports("moments") else ()
        one_prior = not isinstance(model.prior_ratio, np.ndarray) and all(
            prior.n_features is None for prior in priors
        )
        return cls(posterior, patterns, float(cut), policy, can_be_null(posterior), one_prior)

    def without(self, left_out: BoolArray) -> Question:
        """Leave features out of the pool."""
        pool = self.pool & ~left_out
        if not pool.any():
            raise OptionError(
                f"No feature is left for the pool: {int((~self.pool).sum()):,} of {pool.size:,} are degenerate or "
                f"certain beforehand and {int(left_out.sum()):,} were left out."
            )
        return replace(self, pool=pool)

    @property
    def features(self) -> IntArray:
        """Features to go through: all that are not the same whatever the labels."""
        posterior = self.posterior
        dumb = (posterior.log_bayes_factor == 0.0) | (posterior.degenerate_codes == Degeneracy.CONSTANT)
        return np.flatnonzero(~(posterior.degenerate & dumb))

    @property
    def n_usable(self) -> int:
        """Features that could be null."""
        return int(can_be_null(self.posterior).sum())

    @property
    def prior_log_odds(self) -> FloatArray:
        """Prior log-odds of the features in the pool, NaN for others."""
        return np.where(self.pool, self.posterior.prior_log_odds, np.nan)

    def compared(self, moments: Moments, features: IntArray) -> FloatArray:
        """Log Bayes factors of moments whose columns are these features; not finite where undefined."""
        step = self._step(features)
        used = moments if step is None else moments.with_resolution(step)
        with np.errstate(divide="ignore", invalid="ignore"):
            return compare(self._model(features).evidences(used), self.patterns)

    def screened(self, matrix: LabelledMatrix, features: IntArray) -> tuple[FloatArray, BoolArray]:
        """Log Bayes factors of a table by the way of the screen, and which columns are degenerate."""
        handling = DegeneratePolicy(self.policy, self._step(features), matrix, None, warns=False)
        moments = Moments.from_labelled(matrix, missing="omit", n_threads=1)
        ready = prepare(self._model(features), moments, self.patterns, handling)
        found = Comparison(self.patterns, (ready.part,)).log_bayes_factor()
        return np.where(ready.excluded, 0.0, found), ready.flags != 0

    def rescreened(self, matrix: LabelledMatrix, codes: IntArray) -> tuple[FloatArray, BoolArray]:
        """Log Bayes factors of all features of a table under other labels, for models without moments.

        What the model took from all features with the labels as they are, such as the trend of dispersions, is
        held fixed: with true markers it is a little lower than permuted labels would have it, and errs to the safe
        side.
        """
        model, labels = self.posterior.model.quick(), Labels(self.posterior.classes, codes)
        statistics = model.summarise(replace(matrix, labels=labels), missing="omit")
        ready = prepare(model, statistics, self.patterns, DegeneratePolicy(self.policy, warns=False))
        with np.errstate(divide="ignore", invalid="ignore"):
            found = compare(ready.evidences, self.patterns)
        undefined = ready.excluded | ~np.isfinite(found)
        return np.where(undefined, 0.0, found), undefined

    def _model(self, features: IntArray) -> Any:
        model = self.posterior.model
        return model if self.one_prior else model.take(features, self.posterior.n_features)

    def _step(self, features: IntArray) -> Any:
        step = self.posterior.resolution
        if not np.any(step):
            return None
        return step[features] if isinstance(step, np.ndarray) and step.ndim else step


@dataclass(frozen=True, slots=True, eq=False)
class PermutationChunk:
    """Some features under some permutations.

    Parameters
    ----------
    features
        Their positions in the table.
    values
        Samples x features, NaN where missing.
    which
        The permutations.
    """

    features: IntArray
    values: FloatArray
    which: slice

    @property
    def n_permutations(self) -> int:
        """Number of permutations."""
        return int(self.which.stop - self.which.start)

    def take(self, rows: slice) -> PermutationChunk:
        """Some of the features."""
        return PermutationChunk(self.features[rows], self.values[:, rows], self.which)


@dataclass(slots=True, eq=False)
class Counts:
    """What has been counted; only sums and maxima, so that the order of the work does not matter.

    Parameters
    ----------
    question, relabellings
        What is asked, and under which labels.
    n_kept
        How many of the largest log-odds of the pool to keep.
    thresholds
        What usable features show with the labels as they are.
    places
        For every thread: how many values of the pool reach exactly so many thresholds.
    n_reaching, passing, largest, tail, n_degenerate
        As in :class:`~bayesieve.posterior.null.permutation_null.PermutationNull`.
    """

    question: Question
    relabellings: Relabellings
    n_kept: int
    thresholds: Thresholds
    places: IntArray
    n_reaching: IntArray
    passing: IntArray
    largest: FloatArray
    tail: FloatArray
    n_degenerate: int = 0

    @classmethod
    def none(cls, question: Question, relabellings: Relabellings, n_kept: int, n_threads: int) -> Counts:
        """Before any permutation; features whose evidence never changes are reached by all of them."""
        posterior, n = question.posterior, relabellings.n_permutations
        n_reaching = np.full(posterior.n_features, n, np.int64)
        n_reaching[question.features] = 0
        thresholds = Thresholds.of(reach(posterior.log_bayes_factor[~posterior.degenerate]))
        places = np.zeros((n_threads, thresholds.values.size + 1), np.int64)
        most, nothing = np.full(n, -np.inf), np.zeros(n, np.int64)
        return cls(question, relabellings, n_kept, thresholds, places, n_reaching, nothing, most, np.empty(0))

    def add(self, lot: PermutationChunk) -> None:
        """Go through some features under some permutations, on as many threads as there are counters."""
        n_threads, n, asked = len(self.places), lot.n_permutations, self.question
        sums = CentredValues.of(lot.values).sums(self.relabellings, lot.which)
        rows = max(1, _TILE // (n * max(1, len(asked.patterns.growths) // 4)))
        tiles = [slice(lo, min(lo + rows, lot.features.size)) for lo in range(0, lot.features.size, rows)]
        passing, largest = np.zeros((n_threads, n), np.int64), np.full((n_threads, n), -np.inf)
        bound = self.tail[-1] if self.tail.size == self.n_kept else -np.inf
        own, prior = reach(asked.posterior.log_bayes_factor), asked.prior_log_odds
        above: list[FloatArray] = []
        n_degenerate: list[int] = []

        def work(k: int) -> None:
            for tile in tiles[k::n_threads]:
                part = lot.take(tile)
                found, undefined = self._compare(part, *sums.moments(asked.posterior.classes, tile))
                mine, reaching = part.features, np.zeros(part.features.size, np.int64)
                into = reaching, self.places[k], passing[k], largest[k]
                count_exceedances(found, own[mine], prior[mine], asked.cut, self.thresholds, into)
                self.n_reaching[mine] += reaching
                found += prior[mine, None]
                above.append(found[found > bound])
                n_degenerate.append(undefined)

        for_each(work, range(n_threads), n_threads)
        self.passing[lot.which] += passing.sum(axis=0)
        self.largest[lot.which] = np.maximum(self.largest[lot.which], largest.max(axis=0))
        if any(found.size for found in above):
            self.tail = np.sort(np.concatenate([self.tail, *above]))[::-1][: self.n_kept]
        self.n_degenerate += sum(n_degenerate)

    def add_rescreened(self, matrix: LabelledMatrix, which: slice) -> None:
        """Screen the whole table again under some permutations, for models without moments."""
        asked, features = self.question, self.question.features
        codes = self.relabellings.codes[which]
        found, reaching = np.empty((features.size, len(codes))), np.zeros(features.size, np.int64)
        for column, labels in enumerate(codes):
            values, undefined = asked.rescreened(matrix, labels)
            found[:, column] = values[features]
            self.n_degenerate += int(undefined[features].sum())
        own, prior = reach(asked.posterior.log_bayes_factor)[features], asked.prior_log_odds[features]
        passing, largest = self.passing[which].copy(), self.largest[which].copy()
        into = reaching, self.places[0], passing, largest
        count_exceedances(found, own, prior, asked.cut, self.thresholds, into)
        self.passing[which], self.largest[which] = passing, largest
        self.n_reaching[features] += reaching
        found += prior[:, None]
        bound = self.tail[-1] if self.tail.size == self.n_kept else -np.inf
        self.tail = np.sort(np.concatenate([self.tail, found[found > bound]]))[::-1][: self.n_kept]

    def _compare(self, part: PermutationChunk, moments: Moments, unsure: BoolArray) -> tuple[FloatArray, int]:
        """Log Bayes factors, ``(n_features, n_permutations)``, and how many of them are degenerate."""
        each = np.repeat(part.features, part.n_permutations)
        found = self.question.compared(moments, each).reshape(unsure.shape)
        unsure |= ~np.isfinite(found)
        rows, columns = np.nonzero(unsure)
        width, n_degenerate = max(1, _VALUES_AT_ONCE // len(part.values)), 0
        counts = self.relabellings.counts
        labels = Labels(self.question.posterior.classes, np.repeat(np.arange(counts.size), counts))
        for lo in range(0, rows.size, width):
            j, r = rows[lo : lo + width], columns[lo : lo + width]
            drawn, place = np.unique(r, return_inverse=True)
            order = np.argsort(self.relabellings.codes[part.which][drawn], axis=1, kind="stable")
            dealt = np.empty((j.size, labels.codes.size))
            deal(part.values, j, order, place.reshape(-1), dealt)
            matrix = LabelledMatrix(dealt.T, labels, None)
            found[j, r], undefined = self.question.screened(matrix, part.features[j])
            n_degenerate += int(undefined.sum())
        return found, n_degenerate

    def result(self) -> PermutationNull:
        """Return what was counted."""
        posterior, usable = self.question.posterior, ~self.question.posterior.degenerate
        reached = np.cumsum(self.places.sum(axis=0)[::-1])[::-1]  # by at least so many thresholds
        pooled = np.full(posterior.n_features, -1, np.int64)
        place = np.searchsorted(self.thresholds.values, reach(posterior.log_bayes_factor[usable]), side="left")
        pooled[usable] = reached[place + 1]
        nothing = np.full(usable.size, np.nan)
        found = PermutationNull(
            posterior, self.n_reaching, pooled, nothing, nothing, nothing, self.passing, self.largest,
            self.tail.copy(),
            n_pool=int(self.question.pool.sum()), n_usable=self.question.n_usable, n_degenerate=self.n_degenerate,
            gaussian_under_null=expected_under_null(posterior, self.question.cut), cut=self.question.cut,
            complete=self.relabellings.complete,
        )  # fmt: skip
        return _with_estimates(found)


def _with_estimates(found: PermutationNull) -> PermutationNull:
    """Add what looks at all features together: adjusted p-values and shares of false discoveries."""
    usable, pooled = found.n_reaching_pooled >= 0, found.n_reaching_pooled
    share = np.full(usable.size, np.nan)
    expected = pooled[usable] * (found.n_usable / (found.n_pool * found.n_permutations))
    share[usable] = share_under_null(found.full.log_bayes_factor[usable], expected)
    pool, own = benjamini_hochberg(found.p_value), benjamini_hochberg(found.feature_p_value)
    return replace(found, share=share, adjusted_p_value=pool, adjusted_feature_p_value=own)
