"""Pilot: the numbers of a first study from which the next one is planned."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from scipy.special import ndtri, polygamma, stdtr, stdtrit

from bayesieve.models import CalibratedModel, tempering, two_group_evidence
from bayesieve.posterior import FeaturePosterior
from bayesieve.screening import screen_input
from bayesieve.stats import Moments
from bayesieve.utils import DataError, FloatArray, IntArray, LabelError, OptionError, option

Progress = Callable[[int, int], None]
SHUFFLES = 40
_MOST_PRIOR_DOF = 3.99  # times the samples: more is as good as equal variances
_LEVELS = (0.5, 0.8, 0.9)  # of the quantiles by which a null is measured
_PLACES = 0.5 * (1.0 + np.array(_LEVELS))
_USUAL, _LIKELY = (0.5, 1.0, 2.0), (0.001, 0.003, 0.01, 0.03, 0.1, 0.3)  # differences, and shares of markers
_MANY = 200  # features that show how wide a null is


@dataclass(frozen=True, slots=True, eq=False)
class Pilot:
    """What a pilot says about every feature, free of location and scale.

    Parameters
    ----------
    t, size, dof
        Moderated t of the difference of means (without its sign), N of the two classes, and degrees of freedom.
    squares
        Centred squares of the two classes, in units of the moderated variance, by a common factor such that
        neither class has the larger ones on the whole: one noisy sample would make markers of all features.
    counts
        Values of the two classes.
    share
        Share of the evidence from variances that heavy tails leave.
    expected_over_estimated
        Variance that all features together suggest, over the moderated one; 0 if they suggest none.
    prior_dof
        How many degrees of freedom that is worth, infinite if all features have one variance.
    kurtosis
        Excess kurtosis of the median feature.
    own_width, widths
        How wide the bulk of the moderated t is, over what it is in theory; with shuffled labels.
    own_ratio_width, ratio_widths
        The same of log variance ratios, in theory those of Gaussian values.
    class_counts
        Number of samples of the classes, by name.
    own_evidence, evidences
        How much better the moderated t fit with markers than without (a log likelihood ratio, as if features were
        independent); with shuffled labels.
    """

    t: FloatArray
    size: FloatArray
    dof: FloatArray
    squares: FloatArray
    counts: FloatArray
    share: FloatArray
    expected_over_estimated: FloatArray
    prior_dof: float
    kurtosis: float
    class_counts: dict[str, int]
    own_width: float = 1.0
    widths: FloatArray = field(default_factory=lambda: np.empty(0))
    own_ratio_width: float = 1.0
    ratio_widths: FloatArray = field(default_factory=lambda: np.empty(0))
    own_evidence: float = 0.0
    evidences: FloatArray = field(default_factory=lambda: np.empty(0))

    @classmethod
    def of(cls, moments: Moments, kurtosis: float | None = None) -> Pilot:
        """Take from the moments of two classes what matters; values have at least that excess kurtosis."""
        _check_classes(moments)
        model = CalibratedModel(variance_weight=0.1, both_share=0.1, kurtosis=kurtosis).quick().estimate([moments])
        counts = np.broadcast_to(moments.counts, moments.mean.shape).astype(np.float64)
        usable = (counts.sum(axis=0) > 2) & (counts > 0).all(axis=0)
        within, prior_dof = moments.centred_squares.sum(axis=0), model.variance_dof or 0.0
        scale = model.variance_scale or 0.0
        dof = counts.sum(axis=0) - 2.0 + prior_dof
        variance = (within + prior_dof * scale) / np.maximum(dof, 1.0)
        usable &= (variance > 0) & np.isfinite(variance) & (moments.pool().centred_squares[0] > 0)
        if not usable.any():
            raise DataError("No feature of the pilot varies within the classes: nothing follows from it.")
        counts, moments = counts[:, usable], moments.take(np.flatnonzero(usable))
        dof, variance = dof[usable], variance[usable]
        size = counts.prod(axis=0) / counts.sum(axis=0)
        t = np.abs(moments.mean_difference) * np.sqrt(size / variance)
        n = float(counts.max(axis=1).sum())
        share = tempering(moments, model.kurtosis or 0.0) if model.grids(moments)[1].size else np.zeros(t.size)
        named = {str(label): int(k) for label, k in zip(moments.classes, counts.max(axis=1), strict=True)}
        made = cls(
            t, size, dof, _levelled(moments.centred_squares / variance), counts, share, scale / variance,
            math.inf if prior_dof >= _MOST_PRIOR_DOF * n else prior_dof, model.kurtosis or 0.0, named,
            _width(t, np.asarray(stdtrit(float(np.median(dof)), _PLACES), np.float64)),
            own_evidence=_evidence(t, size, dof),
        )  # fmt: skip
        return replace(made, own_ratio_width=made._ratio_width())

    def _ratio_width(self) -> float:
        if not self.compares_variances:
            return 1.0
        dof, known = self.counts - 1.0, (self.share > 0) & (self.squares > 0).all(axis=0)
        theory = np.sqrt(polygamma(1, 0.5 * dof).sum(axis=0))
        with np.errstate(divide="ignore", invalid="ignore"):
            seen = np.log(self.squares[1] / dof[1]) - np.log(self.squares[0] / dof[0])
        return _width(np.abs(seen / theory)[known], ndtri(_PLACES))

    @property
    def n_features(self) -> int:
        """Number of features that can be used."""
        return int(self.t.size)

    @property
    def by_chance(self) -> tuple[int, int]:
        """How many of the shuffles show as much evidence as the true labels, and how many there are."""
        return int((self.evidences >= self.own_evidence).sum()), self.evidences.size

    @property
    def typical_counts(self) -> tuple[int, int]:
        """Values of the two classes, of the median feature."""
        n0, n1 = (int(np.median(each)) for each in self.counts)
        return n0, n1

    @property
    def compares_variances(self) -> bool:
        """Whether variances can be told apart at all."""
        return bool((self.share > 0).any())

    def tails(self, width: float) -> float:
        """Return the excess kurtosis that makes log variance ratios so many times as wide as Gaussian values do.

        The kurtosis of few values is too small; how far their variances spread is not.
        """
        counts = np.median(self.counts, axis=1)
        ideal, weight = float((2.0 / (counts - 1.0)).sum()), float((1.0 / counts).sum())
        return max(width * width - 1.0, 0.0) * ideal / weight

    def log_ratio_factors(self, sizes: Sequence[float], width: float = 1.0) -> FloatArray:
        """Log Bayes factors of log variance ratios of these sizes, a column for each, the null being wider."""
        nothing = np.zeros(self.n_features)
        variance = (*self.squares, *np.maximum(self.counts - 1.0, 0.0), self.share / width**2)
        columns = [
            two_group_evidence((nothing, 1.0, 1.0, 1.0, 0.0), variance, (np.ones(1), np.array([size])), (0.7, 8))[
                1
            ]
            for size in sizes
        ]
        return np.stack(columns, axis=1)

    def draw_log_ratio(self, places: IntArray, sizes: FloatArray, rng: np.random.Generator) -> FloatArray:
        """Draw log variance ratios of features, given the sizes that they are believed to have."""
        dof, squares = self.counts[:, places] - 1.0, self.squares[:, places]
        seen = np.log(squares[1] / dof[1]) - np.log(squares[0] / dof[0])
        known = self.share[places] / (2.0 / dof).sum(axis=0)
        precision = 1.0 / sizes**2 + known
        return np.asarray(seen * known / precision + rng.standard_normal(places.size) / np.sqrt(precision))


def read_pilot(
    data: Any, y: Any = None, *, classes: Any = None, missing: str = "raise", shuffles: int = SHUFFLES,
    seed: int = 0, n_threads: int | None = None, progress: Progress | None = None,
) -> Pilot:  # fmt: skip
    """Take the pilot from a table, statistics or a screen; shuffle its labels if there are any."""
    if isinstance(data, FeaturePosterior):
        return _of_posterior(data)
    model = CalibratedModel()
    found = screen_input(data, y, model, classes, None, missing, n_threads)
    if found.n_pairs or found.blocked:
        raise OptionError(
            "A plan is made from two independent classes; this pilot has pairs or batches.",
            hint=("Leave ", option("pairs"), " and ", option("blocks"), " out; ", option("batches", 3),
                  " states how many batches the next study will have."),
        )  # fmt: skip
    pilot = Pilot.of(_moments(found.statistics))
    samples = found.shufflable
    if samples is None or pilot.n_features < _MANY or not shuffles:
        return pilot
    labellings, _ = samples.draw(shuffles, seed)
    found_by_chance = []
    for done, codes in enumerate(labellings):
        moved = Pilot.of(_moments(samples.relabelled(codes, model).statistics))
        found_by_chance.append((moved.own_width, moved.own_ratio_width, moved.own_evidence))
        if progress is not None:
            progress(done + 1, len(labellings))
    *widths, evidences = np.array(found_by_chance).T
    means, ratios = (_beyond_noise(each, pilot.n_features) for each in widths)
    tails = pilot.tails(float(np.median(ratios)))
    if tails > pilot.kurtosis:
        pilot = Pilot.of(_moments(found.statistics), tails)
    return replace(pilot, widths=means, ratio_widths=ratios, evidences=evidences)


def _of_posterior(posterior: FeaturePosterior) -> Pilot:
    """Take the pilot from a screen: its moments; without samples there is nothing to shuffle."""
    model: Any = posterior.model
    if not posterior.has_moments:
        raise DataError(
            f"A plan needs the means and variances of the classes, and this screen holds "
            f"{model.family or 'other'} statistics. Counts and categories cannot be planned for: log-transform "
            "counts and screen them as measurements (transform log1p).",
            kind="capability",
        )
    if len(posterior.classes) == 1 or posterior.block_evidence is not None:
        raise OptionError("A plan is made from two independent classes; this screen has pairs or batches.")
    return Pilot.of(posterior.moments)


def _moments(statistics: Any) -> Moments:
    if not isinstance(statistics, Moments):
        raise DataError(
            f"A plan needs the means and variances of two classes, not {type(statistics).__name__}. Counts and "
            "categories cannot be planned for: log-transform counts and screen them as measurements.",
            kind="capability",
        )
    return statistics


def _check_classes(moments: Moments) -> None:
    k = len(moments.classes)
    if k != 2:
        raise LabelError(
            f"A plan is made for two classes; the pilot has {k}. Pick or merge some with ",
            option("classes"), ".",
        )  # fmt: skip
    counts = np.broadcast_to(moments.counts, moments.mean.shape).max(axis=1)
    few = [f"{label!r} ({n})" for label, n in zip(moments.classes, counts.tolist(), strict=True) if n < 2]
    if few:
        raise DataError(
            f"Every class of a pilot needs at least two samples to show how far values spread: {', '.join(few)}. "
            "Add samples, or state the effects that you expect: ",
            option("no_pilot"), ".",
        )  # fmt: skip


def _levelled(squares: FloatArray) -> FloatArray:
    """Divide the squares of the classes by what their ratio is for the median feature."""
    known = (squares > 0).all(axis=0)
    if known.sum() < _MANY:
        return squares
    half = 0.5 * float(np.median(np.log(squares[1, known] / squares[0, known])))
    return np.asarray(squares * np.array([[math.exp(half)], [math.exp(-half)]]))


def _width(found: FloatArray, theory: FloatArray) -> float:
    """How wide the bulk of some statistics is (their sizes at :data:`_LEVELS`) over what it is in theory."""
    return float(np.mean(np.quantile(found, _LEVELS) / theory)) if found.size >= _MANY else 1.0


def _evidence(t: FloatArray, size: FloatArray, dof: FloatArray) -> float:
    """Log likelihood ratio of markers, at their most likely share, against none: to be held against shuffles.

    Differences of 0.5, 1 and 2 standard deviations are equally frequent; t is turned into a normal score.
    """
    squares = ndtri(np.maximum(stdtr(dof, -t), 1e-300)) ** 2
    ratios = np.zeros(t.size)
    for deviation in _USUAL:
        variance = size * deviation**2
        ratios += np.exp(0.5 * (squares * variance / (1.0 + variance) - np.log1p(variance))) / len(_USUAL)
    return max(0.0, *(float(np.log1p(share * (ratios - 1.0)).sum()) for share in _LIKELY))


def _beyond_noise(widths: FloatArray, n_features: int) -> FloatArray:
    """Draw widths together by what independent features would vary, whose quantiles are uncertain as well."""
    levels, places = np.array(_LEVELS), ndtri(_PLACES)
    density = 2.0 * np.exp(-0.5 * places**2) / math.sqrt(2.0 * math.pi) * places
    shared = np.minimum.outer(levels, levels) - np.outer(levels, levels)
    noise = float((shared / np.outer(density, density)).mean()) / n_features
    spread = float(widths.var())
    left = math.sqrt(max(0.0, 1.0 - noise / spread)) if spread > 0.0 else 0.0
    return np.asarray(widths.mean() + left * (widths - widths.mean()))
