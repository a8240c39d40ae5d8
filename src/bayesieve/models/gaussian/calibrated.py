"""CalibratedModel: Gaussian classes with proper priors on their differences, safe against heavy tails."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, NoReturn, cast

import numpy as np
import numpy.typing as npt

from bayesieve.data import LabelledMatrix
from bayesieve.models.evidences import Evidences
from bayesieve.models.gaussian.degenerate import Degeneracy
from bayesieve.models.gaussian.effect_mixture import (
    EXACT,
    QUICK,
    effect_sizes,
    mix_kinds,
    two_group_evidence,
)
from bayesieve.models.gaussian.gaussian import GaussianModel
from bayesieve.models.gaussian.heavy_tails import nuisance_share, tempering, typical_kurtosis
from bayesieve.models.gaussian.mean_difference import mean_evidence
from bayesieve.models.gaussian.several_effects import several_means, several_variances
from bayesieve.models.gaussian.slope_effects import kinds_given_slopes
from bayesieve.models.gaussian.slopes import grouped
from bayesieve.models.gaussian.trend import kinds_of_trend, trend_sizes
from bayesieve.models.gaussian.variance_prior import fit_variance_prior, trigamma_inverse
from bayesieve.models.model import DIFFERENCES, Model
from bayesieve.stats import Moments, Slopes, TrendMoments
from bayesieve.utils import DataError, FloatArray, PriorError, check_choice

_FEW_FEATURES = 10  # fewer say nothing about the variance of another
_MOST_PRIOR_DOF = 4.0  # times the number of samples
_LEAST_WEIGHT, _MOST_WEIGHT = 0.1, 0.5  # prior weight of variance differences
_LEAST_BOTH, _MOST_BOTH = 0.1, 0.9  # of these, prior weight of a mean difference as well
STRONG = 3.0  # log Bayes factor over which a feature has a say about these weights
_OF_NUISANCE = 0.5  # probability that variances differ, where only means are asked about

Groups = Sequence[tuple[int, ...]]


@dataclass(frozen=True, slots=True, eq=False)
class CalibratedModel(Model):
    r"""Differences with a prior of their own, in units that the data set: the default of :func:`bayesieve.screen`.

    Means differ by a share of the standard deviation, or variances by a factor, or both, each with a fixed mixture
    of sizes; what the classes share has flat priors under both hypotheses. So there is no scale to choose and no
    arbitrary constant. Variances are moderated by those of all features, and evidence from variances counts only
    as far as the kurtosis of the values (of the feature, or of the median feature if that is larger) allows, so
    that heavy tails and outliers are not taken for differences.

    Parameters
    ----------
    variance_weight
        Prior probability that a marker differs in variance, alone or besides its mean. None: from the data,
        between 0.1 and 0.5, less where tails are heavy.
    variance_dof, variance_scale
        What all features together say about the variance of one, as limma's :math:`d_0` and :math:`s_0^2`. None:
        from the data.
    mean_sizes, ratio_sizes
        Standard deviations of standardised mean differences and of log variance ratios, equally probable. None:
        from twice the standard error up to 4 and 2, in steps of 2.
    both_share
        Share that differs in mean as well, of markers that differ in variance. None: from the data, 0.1 to 0.9.
    kurtosis
        Excess kurtosis that the values of every feature have at least. None: that of the median feature, if it is
        not negative.
    nodes
        Step, in standard deviations, and number of nodes on each side of the mode of the integral over log
        variance ratios.
    n_factors, penalty
        Factors that were taken out of the values, and what that adds to the variance factor of a mean difference;
        see :mod:`bayesieve.stats.factors`.
    held
        Evidence of the data that the constants were taken from, for internal use; empty if it is to be held.
    difference
        What makes a marker of two classes: ``"any"``; ``"mean"``, when variances may differ or not under both
        hypotheses (``variance_weight`` is the probability that they do, 1/2 by default); or ``"variance"``, when
        means may.

    Examples
    --------
    >>> import numpy as np
    >>> import bayesieve as bs
    >>> X = np.random.default_rng(0).standard_t(3, size=(40, 1000))
    >>> X[20:, 0] += 5.0
    >>> posterior = bs.screen(X, [0] * 20 + [1] * 20, model=bs.CalibratedModel())
    >>> bs.MinimalRisk(0.5).select(posterior).names
    ('x0',)
    """

    variance_weight: float | None = None
    variance_dof: float | None = None
    variance_scale: float | None = None
    mean_sizes: tuple[float, ...] | None = None
    ratio_sizes: tuple[float, ...] | None = None
    both_share: float | None = None
    kurtosis: float | None = None
    nodes: tuple[float, int] = EXACT
    n_factors: int = 0
    penalty: float = 0.0
    held: Any = field(default=None, repr=False)
    difference: str = "any"
    statistics_type: ClassVar[type] = Moments
    family: ClassVar[str] = "Gaussian"
    capabilities: ClassVar[frozenset[str]] = frozenset(
        ("moments", "pairs", "resolution", "effect-sizes", "differences")
    )

    def __post_init__(self) -> None:
        check_choice("difference", self.difference, DIFFERENCES)
        if self.variance_weight is not None and not 0.0 <= self.variance_weight < 1.0:
            raise PriorError(f"variance_weight is a probability below 1, not {self.variance_weight!r}.")
        if self.both_share is not None and not 0.0 <= self.both_share < 1.0:
            raise PriorError(f"both_share is a probability below 1, not {self.both_share!r}.")
        if (self.variance_dof is None) != (self.variance_scale is None):
            raise PriorError("Give both variance_dof and variance_scale, or neither.")
        for name in ("kurtosis", "variance_dof", "variance_scale"):
            value = getattr(self, name)
            if value is not None and not (0.0 <= value < math.inf):
                raise PriorError(f"{name} must be a number of at least 0, not {value!r}.")
        for name in ("mean_sizes", "ratio_sizes"):
            sizes = getattr(self, name)
            if sizes is not None:
                object.__setattr__(self, name, tuple(float(size) for size in sizes))
                if not all(0.0 < size < math.inf for size in getattr(self, name)):
                    raise PriorError(f"{name} must be positive numbers, not {sizes!r}.")
        if self.mean_sizes == ():
            raise PriorError("mean_sizes must hold at least one effect size.")

    def statistic(self, values: FloatArray) -> Moments:
        """Moments of one group, with their third and fourth powers.

        Examples
        --------
        >>> import numpy as np
        >>> import bayesieve as bs
        >>> bs.CalibratedModel().statistic(np.array([[1.0], [3.0]])).mean.tolist()
        [[2.0]]
        """
        return Moments.from_matrix(values, np.zeros(len(values), np.int64), missing="omit", shape=True)

    def merge(self, first: Moments, second: Moments) -> Moments:
        """Moments of two groups together.

        Examples
        --------
        >>> import numpy as np
        >>> import bayesieve as bs
        >>> model = bs.CalibratedModel()
        >>> one, two = model.statistic(np.array([[1.0]])), model.statistic(np.array([[3.0]]))
        >>> model.merge(one, two).mean.tolist()
        [[2.0]]
        """
        return first.merge(second.renamed(first.classes))

    def log_evidence(self, group: Any) -> NoReturn:
        """Raise: priors are on differences between groups, so that a group alone has no evidence.

        Examples
        --------
        >>> import bayesieve as bs
        >>> bs.CalibratedModel().supports("effect-sizes")
        True
        """
        del group
        raise DataError(
            "The calibrated model has priors on differences between groups; a group alone has no evidence.",
            kind="capability",
        )

    def summarise(
        self, matrix: LabelledMatrix, *, missing: str = "raise", n_threads: int | None = None
    ) -> Moments:
        """Sum a table class by class, up to the fourth powers.

        Examples
        --------
        >>> import bayesieve as bs
        >>> model = bs.CalibratedModel()
        >>> model.summarise(model.matrix([[1.0], [2.0]], ["a", "b"])).mean.tolist()
        [[1.0], [2.0]]
        """
        return Moments.from_labelled(matrix, missing=missing, n_threads=n_threads, shape=True)

    def estimate(self, parts: Sequence[Any]) -> CalibratedModel:
        """Return the model with what was left open taken from all features of independent parts of the data.

        Examples
        --------
        >>> import numpy as np
        >>> import bayesieve as bs
        >>> moments = bs.Moments.from_matrix(np.random.default_rng(0).normal(size=(20, 100)), [0] * 10 + [1] * 10)
        >>> bs.CalibratedModel().estimate([moments]).mean_sizes
        (0.8944271909999159, 1.7888543819998317, 3.5777087639996634)
        """
        model = self
        if model.variance_dof is None:
            dof, scale = _variance_prior(parts, model.n_factors)
            model = replace(model, variance_dof=dof, variance_scale=scale)
        if model.mean_sizes is None or model.ratio_sizes is None:
            means, ratios = (tuple(grid.tolist()) for grid in model.grids(parts[0]))
            model = replace(model, mean_sizes=means, ratio_sizes=ratios)
        if model.kurtosis is None:
            model = replace(model, kurtosis=typical_kurtosis(parts))
        if model.difference != "any":
            told = _OF_NUISANCE if model.variance_weight is None else model.variance_weight
            return replace(model, variance_weight=told if model.ratio_sizes else 0.0, both_share=0.0)
        if model.variance_weight is None or model.both_share is None:
            weight, both, held = _weights(model, parts)
            model = replace(
                model,
                variance_weight=weight if model.variance_weight is None else model.variance_weight,
                both_share=both if model.both_share is None else model.both_share,
                held=held if model.nodes == QUICK or model.held is not None else None,
            )
        return model

    def quick(self) -> CalibratedModel:
        """Return the model with fewer nodes: log Bayes factors to 1e-6.

        Examples
        --------
        >>> import bayesieve as bs
        >>> bs.CalibratedModel().quick().nodes
        (0.7, 8)
        """
        return replace(self, nodes=QUICK)

    def holding(self) -> CalibratedModel:
        """Return the model that holds the evidence from which it estimates constants, as it is needed again.

        Examples
        --------
        >>> import bayesieve as bs
        >>> bs.CalibratedModel().holding().held
        ()
        """
        return replace(self, held=())

    def evidences(self, statistics: Any) -> EffectEvidences:
        """Prepare the Bayes factors of patterns of classes.

        Examples
        --------
        >>> import bayesieve as bs
        >>> moments = bs.Moments.from_matrix([[1.0], [2.0], [4.0], [7.0]], ["a", "a", "b", "b"])
        >>> bs.CalibratedModel().evidences(moments).pattern([(0,), (1,)]).shape
        (1,)
        """
        return EffectEvidences(self.estimate([statistics]), statistics)

    def grids(self, moments: Moments) -> tuple[FloatArray, FloatArray]:
        """Effect sizes of means and of log variance ratios.

        Examples
        --------
        >>> import bayesieve as bs
        >>> moments = bs.Moments.from_matrix([[1.0], [2.0], [4.0], [7.0]], ["a", "a", "b", "b"])
        >>> bs.CalibratedModel().grids(moments)[0].tolist()
        [2.0, 4.0]
        """
        counts = np.sort(np.broadcast_to(moments.counts, moments.mean.shape).max(axis=1).astype(np.float64))
        if isinstance(moments, TrendMoments):
            means, ratios = trend_sizes(moments)
        elif counts.size == 1:  # differences within pairs
            means, ratios = effect_sizes(max(counts[0], 1.0), math.inf)
        else:
            n0, n1 = np.maximum(counts[-2:], 1.0)
            variance = 2.0 / (n0 - 1.0) + 2.0 / (n1 - 1.0) if n0 > 2 else math.inf
            means, ratios = effect_sizes(n0 * n1 / (n0 + n1), variance)
        return (
            means if self.mean_sizes is None else np.array(self.mean_sizes),
            ratios if self.ratio_sizes is None else np.array(self.ratio_sizes),
        )

    def flag(self, statistics: Any) -> tuple[npt.NDArray[np.int8], npt.NDArray[np.bool_]]:
        """Say which features are degenerate, and which of them have no evidence at all.

        Examples
        --------
        >>> import bayesieve as bs
        >>> moments = bs.Moments.from_matrix([[1.0, 2.0], [1.0, 2.5], [1.0, 3.0]], ["a", "a", "b"])
        >>> bs.CalibratedModel().flag(moments)[1].tolist()
        [True, False]
        """
        counts = np.broadcast_to(statistics.counts, statistics.mean.shape)
        squares = statistics.centred_squares
        flags = np.zeros(statistics.n_features, np.int8)
        if isinstance(statistics, TrendMoments):
            return self._flag_trend(statistics)
        flags[((squares == 0) & (counts > 1)).any(axis=0)] = Degeneracy.CONSTANT_IN_A_CLASS
        constant = (squares == 0).all(axis=0)
        if constant.any():
            constant &= statistics.pool().centred_squares[0] == 0
            flags[constant] = Degeneracy.CONSTANT
        few = (counts < 1).any(axis=0) | (counts.sum(axis=0) < min(3, 2 + len(statistics.classes) - 1))
        bare = (squares == 0).all(axis=0) & ~constant & (not self.variance_dof)
        flags[few | (bare & (flags == Degeneracy.NONE))] = Degeneracy.TOO_FEW_VALUES
        return flags, constant | few | bare

    def _flag_trend(self, statistics: TrendMoments) -> tuple[npt.NDArray[np.int8], npt.NDArray[np.bool_]]:
        """Flag features of which a slope cannot be told."""
        trend = statistics.trend
        assert trend is not None
        slopes = Slopes.of(trend)
        constant = trend.moments.centred_squares[0] == 0
        bare = (slopes.left == 0) & ~constant & (not self.variance_dof)
        few = np.broadcast_to((slopes.freedom < 1) | (slopes.size <= 0), constant.shape)
        flags = np.where(constant, np.int8(Degeneracy.CONSTANT), np.int8(0))
        flags[few | bare] = Degeneracy.TOO_FEW_VALUES
        return flags, constant | few | bare


def model_of_classes(model: Any) -> GaussianModel:
    """Return a model that gives every class a posterior of its own: Jeffreys' if priors are on differences."""
    return GaussianModel.jeffreys() if model.supports("effect-sizes") else cast("GaussianModel", model)


def _variance_prior(parts: Sequence[Any], n_factors: int) -> tuple[float, float]:
    """Degrees of freedom and scale of the prior of variances, from variances within classes of all parts."""
    squares = sum(part.centred_squares.sum(axis=0) for part in parts)
    dof = sum(np.maximum(np.broadcast_to(part.counts, part.mean.shape) - 1, 0).sum(axis=0) for part in parts)
    if isinstance(parts[0], TrendMoments) and parts[0].trend is not None:
        slopes = Slopes.of(parts[0].trend)
        squares, dof = slopes.left, np.broadcast_to(slopes.freedom, slopes.left.shape)
    n = float(sum(np.broadcast_to(part.counts, part.mean.shape).max(axis=1).sum() for part in parts))
    dof = dof - n_factors - sum(part.design.n_covariates for part in parts if getattr(part, "design", None))
    used = (squares > 0) & (dof > 0)
    if used.sum() < _FEW_FEATURES:
        return 0.0, 0.0
    common = dof[used]
    prior = fit_variance_prior(squares[used] / common, common[0] if (common == common[0]).all() else common)
    return min(prior.dof, _MOST_PRIOR_DOF * n), float(prior.scale)


def _weights(model: CalibratedModel, parts: Sequence[Any]) -> tuple[float, float, Any]:
    """Share of variance differences among strong features, and of mean differences among these, within bounds.

    Heavy tails lower the first bound. Also returns the evidence of the only part, if there is one, which is needed
    again.
    """
    means: Any = 0.0
    ratios: Any = 0.0
    shares = []
    for part in parts:
        if len(part.classes) < 2:
            return 0.0, 0.0, None
        if (part.counts.max(axis=-1) < 1).any():
            continue
        nodes = QUICK if model.held is None else model.nodes
        each = EffectEvidences(replace(model, variance_weight=0.5, nodes=nodes, held=None), part)
        mean, ratio = each.kinds([(k,) for k in range(len(part.classes))])
        means, ratios = means + mean, ratios + ratio
        varies = part.centred_squares.sum(axis=0) > 0
        shares.append(float(np.median(each.share[varies])) if varies.any() else 0.0)
    held = (parts[0], means, ratios) if len(parts) == 1 else None
    if not shares or max(shares) == 0.0:
        return 0.0, 0.0, held
    kinds = np.array([means, ratios, means + ratios])
    strongest = kinds.argmax(axis=0)[kinds.max(axis=0) > STRONG]
    return (*weights_of_kinds(np.bincount(strongest, minlength=3), float(np.mean(shares))), held)


def weights_of_kinds(counts: Any, share: float) -> tuple[float, float]:
    """Prior probability that variances differ, and that means do as well if variances do.

    Parameters
    ----------
    counts
        Features with strong evidence (a log Bayes factor over :data:`STRONG`) of which a difference in mean, in
        variance, or in both is the best account.
    share
        Share of the evidence from variances that heavy tails leave to the median feature.
    """
    of_mean, of_ratio, of_both = np.asarray(counts) + 1.0
    weight = np.clip(
        (of_ratio + of_both) / (of_mean + of_ratio + of_both),
        _LEAST_WEIGHT,
        max(_LEAST_WEIGHT, _MOST_WEIGHT * share),
    )
    return float(weight), float(np.clip(of_both / (of_ratio + of_both), _LEAST_BOTH, _MOST_BOTH))


class EffectEvidences(Evidences):
    """Bayes factors of patterns of classes under a :class:`CalibratedModel` whose constants are known.

    Parameters
    ----------
    model
        The model.
    moments
        Moments of the classes, with fourth powers if variances are to have a say.
    """

    __slots__ = ("_model", "_moments", "_share")

    def __init__(self, model: CalibratedModel, moments: Moments) -> None:
        self._model, self._moments = model, moments
        self._share: FloatArray | None = None

    @property
    def share(self) -> FloatArray:
        """Share of the variance evidence that the kurtosis of the values leaves."""
        if self._share is None:
            self._share = tempering(self._moments, self._model.kurtosis or 0.0)
        return self._share

    @property
    def variance_weight(self) -> float:
        """Prior probability that a marker differs in variance."""
        return self._model.variance_weight or 0.0

    @property
    def both_share(self) -> float:
        """Share of these that differs in mean, too."""
        return self._model.both_share or 0.0

    def pattern(self, groups: Groups) -> FloatArray:
        """Log Bayes factor of groups of classes that differ in mean, in variance or in both."""
        if self._model.difference == "mean":
            return self.kinds(groups)[0] if self._in_a_design else self._of_means(groups)
        if self._model.difference == "variance":
            return self.kinds(groups)[1]
        return mix_kinds(*self.kinds(groups), self.variance_weight, self.both_share)

    @property
    def _in_a_design(self) -> bool:
        """Whether there are covariates or an outcome: slopes are compared with one variance for all samples."""
        return getattr(self._moments, "design", None) is not None or isinstance(self._moments, TrendMoments)

    def kinds(self, groups: Groups) -> tuple[FloatArray, FloatArray]:
        """Log Bayes factors of groups that differ in mean, and in variance."""
        model, moments = self._model, _grouped(self._moments, groups)
        if model.held and model.held[0] is moments:
            return model.held[1], model.held[2]
        design = getattr(self._moments, "design", None)
        if design is not None:
            return self._given_slopes(design, groups)
        if isinstance(self._moments, TrendMoments):
            prior, grids = (model.variance_dof or 0.0, model.variance_scale or 0.0), model.grids(self._moments)
            share = self.share if grids[1].size else np.zeros(1)
            return kinds_of_trend(self._moments, prior, share, grids, model.nodes)
        counts = np.broadcast_to(moments.counts, moments.mean.shape).astype(np.float64)
        total = counts[:, :1].sum(axis=0) if moments.count.ndim == 1 else counts.sum(axis=0)
        dof, scale = model.variance_dof or 0.0, model.variance_scale or 0.0
        half_dof, within = 0.5 * (total - 1.0 - model.n_factors + dof), moments.centred_squares.sum(axis=0)
        means, ratios = model.grids(self._moments)
        if len(groups) > 2:
            places = (
                moments.mean - moments.mean[0] + (np.asarray(moments.residual) - np.asarray(moments.residual)[0])
            )
            shapes = np.array([trigamma_inverse(0.5 * omega * omega) for omega in ratios.tolist()])
            with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
                of_means = several_means(counts, places, within, dof * scale, half_dof, means)
            of_ratios = (
                several_variances(moments.centred_squares, counts - 1.0, self.share, shapes, model.nodes)
                if shapes.size else np.zeros(moments.n_features)
            )  # fmt: skip
            return np.where(within + dof * scale > 0, of_means, 0.0), of_ratios
        n0, n1 = counts if moments.count.ndim == 2 else counts[:, :1]
        size = n0 * n1 / np.maximum(n0 + n1, 1.0)
        left = 1.0
        if model.n_factors:  # given factors, see stats/factors.py
            size = size / (1.0 + model.penalty * size)
            left = 1.0 - model.n_factors / np.maximum(n0 + n1 - 2.0, 1.0)
        share = self.share if ratios.size else np.zeros(1)
        with np.errstate(over="ignore"):  # what overflows is found and named later
            between = size * moments.mean_difference**2
        return two_group_evidence(
            (between, within, size, half_dof, dof * scale),
            (*moments.centred_squares, left * (n0 - 1.0), left * (n1 - 1.0), share), (means, ratios), model.nodes,
        )  # fmt: skip

    def _given_slopes(self, design: Any, groups: Groups) -> tuple[FloatArray, FloatArray]:
        """Log Bayes factors of both kinds given covariates."""
        model, grids = self._model, self._model.grids(self._moments)
        prior = (model.variance_dof or 0.0, model.variance_scale or 0.0)
        several = grids[1].tolist() if len(groups) > 2 else []
        shapes = np.array([trigamma_inverse(0.5 * omega * omega) for omega in several])
        share = self.share if grids[1].size else np.zeros(1)
        return kinds_given_slopes(grouped(design, groups), prior, share, grids, shapes, model.nodes)

    def _of_means(self, groups: Groups) -> FloatArray:
        """Log Bayes factor of two groups that differ in mean, the ratio of their variances integrated out."""
        model, moments = self._model, _grouped(self._moments, groups)
        n0, n1 = np.broadcast_to(moments.counts, moments.mean.shape).astype(np.float64)
        dof, scale, n = model.variance_dof or 0.0, model.variance_scale or 0.0, n0 + n1
        left = 1.0 - model.n_factors / np.maximum(n - 2.0, 1.0)
        return mean_evidence(
            (n0, n1, moments.mean_difference),
            (*moments.centred_squares, left * (n0 - 1.0), left * (n1 - 1.0), nuisance_share(moments, self.share)),
            (0.5 * (n - 1.0 - model.n_factors + dof), dof * scale, model.penalty),
            model.grids(self._moments), self.variance_weight, model.nodes,
        )  # fmt: skip


def _grouped(moments: Moments, groups: Groups) -> Moments:
    """Moments of groups of classes."""
    if [tuple(group) for group in groups] == [(k,) for k in range(len(moments.classes))]:
        return moments
    labels = moments.classes
    pooled = [moments.pool([labels[k] for k in group]).renamed([i]) for i, group in enumerate(groups)]
    whole = pooled[0]
    for part in pooled[1:]:
        whole = whole.merge(part)
    return whole
