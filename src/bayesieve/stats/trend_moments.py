"""Moments of samples along an outcome (dose, age, stage): what a slope needs, and groups to look at."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from bayesieve.data import Label, LabelledMatrix, Labels
from bayesieve.stats.adjusted_moments import AdjustedMoments, solve
from bayesieve.stats.design_moments import DesignMoments
from bayesieve.stats.moments.moments import Moments
from bayesieve.stats.moments.shape import Shape
from bayesieve.utils import FloatArray

_ROUNDING = 1e-13  # below this share of what was there, squares that are left are rounding


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class TrendMoments(Moments):
    """Moments of groups of samples in the order of an outcome, and those of the outcome with all samples.

    Parameters
    ----------
    trend
        Moments of all samples as one class, whose first covariate is the outcome.
    scores
        Outcome of every group, if all its samples have the same; else None.
    """

    trend: DesignMoments | None = None
    scores: FloatArray | None = None

    @classmethod
    def along(
        cls,
        matrix: LabelledMatrix,
        outcome: FloatArray,
        covariates: FloatArray,
        *,
        names: Sequence[str] | None = None,
        shown: LabelledMatrix | None = None,
        levels: bool = False,
        n_threads: int | None = None,
    ) -> Moments:
        """Sum a table along an outcome.

        Parameters
        ----------
        matrix
            Values, and groups of the samples.
        outcome, covariates
            One number, and one row, per sample.
        names
            Names of the covariates.
        shown
            Values whose moments are those of the groups, if not the same.
        levels
            Whether the samples of a group have the same outcome.
        n_threads
            Threads.
        """
        whole = LabelledMatrix(matrix.values, Labels((0,), np.zeros(matrix.n_samples, np.int64)), None)
        columns = np.column_stack([outcome, covariates])
        names = [f"z{k}" for k in range(1, columns.shape[1])] if names is None else names
        design = DesignMoments.from_labelled(
            whole, columns, names=("outcome", *names), missing="omit", n_threads=n_threads, shape=False
        )
        moments = Moments.from_labelled(
            matrix if shown is None else shown, missing="omit", n_threads=n_threads, shape=True
        )
        codes = matrix.labels.codes
        scores = np.array([outcome[codes == k].mean() for k in range(len(moments.classes))]) if levels else None
        return cls._linked(moments, design, scores)

    @classmethod
    def of_groups(
        cls,
        design: DesignMoments,
        scores: FloatArray | None = None,
        slopes: FloatArray | None = None,
        powers: Shape | None = None,
    ) -> Moments:
        """Return the same from sums.

        Parameters
        ----------
        design
            Moments of groups of samples; the first covariate is the outcome.
        scores
            Outcome of every group, if all its samples have the same.
        slopes
            Slopes on the other covariates, by which the moments of the groups are adjusted.
        powers
            Third and fourth powers of the adjusted values.
        """
        trend = design.pool()
        trend = DesignMoments(
            trend.moments.renamed((0,)), ("outcome", *design.covariates[1:]), trend.location, trend.scatter,
            trend.cross,
        )  # fmt: skip
        moments = design.moments
        if slopes is not None:
            others = design.columns(design.covariates[1:])
            moments = AdjustedMoments.of(others, powers, np.zeros(others.n_covariates), slopes)
        return cls._linked(moments, trend, scores)

    @classmethod
    def trusted(
        cls, classes: tuple[Label, ...], *arrays: Any, shape: tuple[FloatArray, ...] | None = None
    ) -> Moments:
        """Build plain moments: what is merged or pooled is no longer of one outcome."""
        return Moments.trusted(classes, *arrays, shape=shape)

    def take(self, places: Any) -> Moments:
        """Moments of some features."""
        assert self.trend is not None
        return self._linked(Moments.take(self, places), self.trend.take(places), self.scores)

    @classmethod
    def _linked(cls, moments: Moments, trend: DesignMoments, scores: FloatArray | None) -> Moments:
        made = object.__new__(cls)
        for each in fields(Moments):
            object.__setattr__(made, each.name, getattr(moments, each.name))
        object.__setattr__(made, "trend", trend)
        object.__setattr__(made, "scores", scores)
        return made


@dataclass(frozen=True, slots=True, eq=False)
class Slopes:
    r"""Regression of every feature on an outcome, given covariates.

    With centred products :math:`A` of outcome and covariates, :math:`b` with the feature and its squares
    :math:`S`, the outcome less what covariates explain of it has the squares
    :math:`N = A_{tt} - A_{tz} A_{zz}^{-1} A_{zt}`, the slope is :math:`(b_t - A_{tz} A_{zz}^{-1} b_z) / N`, and
    :math:`S - b_z^T A_{zz}^{-1} b_z` less its square times :math:`N` is left.

    Parameters
    ----------
    size
        Squares N of the outcome, given covariates; a number or one per feature.
    slope, left
        Slopes, and squares about the regression.
    freedom
        Degrees of freedom of these; a number or one per feature.
    """

    size: FloatArray
    slope: FloatArray
    left: FloatArray
    freedom: FloatArray

    @classmethod
    def of(cls, trend: DesignMoments) -> Slopes:
        """Regress on the first covariate, given the others."""
        inner, outer = trend.scatter[0], trend.cross[0]
        squares = trend.moments.centred_squares[0]
        sides = inner[1:, 0] if trend.by_feature else inner[1:, 0][:, None]
        of_feature = solve(inner[1:, 1:], outer[1:])
        of_outcome = solve(inner[1:, 1:], np.ascontiguousarray(sides))
        size = np.atleast_1d(inner[0, 0]) - (sides * of_outcome).sum(axis=0)
        product = outer[0] - (sides * of_feature).sum(axis=0)
        with np.errstate(divide="ignore", invalid="ignore"):
            slope = np.where(size > _ROUNDING * inner[0, 0], product / size, 0.0)
        left = squares - (outer[1:] * of_feature).sum(axis=0) - size * slope**2
        left = np.where(left <= _ROUNDING * squares, 0.0, left)
        counts = np.asarray(trend.counts, dtype=np.float64)[0]
        return cls(size, slope, left, np.atleast_1d(counts) - 1.0 - trend.n_covariates)
