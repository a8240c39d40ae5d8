r"""Moments of values that are adjusted for covariates: what is left when shared slopes are taken out.

.. math:: x' = x - (z - \bar z)^T \hat\beta, \quad \hat\beta = A^{-1} b, \quad A = \sum_y A_y, \; b = \sum_y b_y

with the centred products within classes of :class:`bayesieve.stats.DesignMoments`, from which all of it follows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bayesieve.data import Label, LabelledMatrix, is_sparse
from bayesieve.stats.design_moments import DesignMoments
from bayesieve.stats.moments.moments import Moments
from bayesieve.stats.moments.shape import Shape
from bayesieve.utils import BoolArray, FloatArray, compiled, for_each, n_threads_for

_ROUNDING = 1e-13  # below this share of what was there, squares that are left are rounding
_RANK = 1e-10  # least eigenvalue of covariates in units of their own spread
_TILE = 2048


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class AdjustedMoments(Moments):
    """Moments of adjusted values, and the design that they were adjusted for.

    Parameters
    ----------
    design
        Moments of the values as measured and of the covariates.
    """

    design: DesignMoments | None = None

    @classmethod
    def of(
        cls,
        design: DesignMoments,
        powers: Shape | None = None,
        centre: FloatArray | None = None,
        slopes: FloatArray | None = None,
    ) -> Moments:
        """Adjust the moments of a design.

        Parameters
        ----------
        design
            Moments of a design.
        powers
            Third and fourth powers of the adjusted values; without them those of the values as measured.
        centre
            Values of the covariates that means are given at; their means over the samples of the feature if not
            given.
        slopes
            Slopes, if not those that the classes share.
        """
        slopes = shared_slopes(design) if slopes is None else slopes
        raw = design.moments
        counts = np.broadcast_to(raw.counts, raw.mean.shape)
        weights = counts / np.maximum(counts.sum(axis=0), 1)
        wide = design.by_feature
        place = design.location if wide else design.location[..., None]
        away = place - ((weights[:, None] * place).sum(axis=0) if centre is None else centre[:, None])
        moved = (away * slopes).sum(axis=1)
        mean = raw.mean - moved
        residual = np.asarray(raw.residual) + ((raw.mean - mean) - moved)
        scatter = design.scatter if wide else design.scatter[..., None]
        squares = raw.centred_squares - 2.0 * (slopes * design.cross).sum(axis=1)
        squares += np.einsum(
            "kabf,af,bf->kf", np.broadcast_to(scatter, (*scatter.shape[:3], slopes.shape[1])), slopes, slopes
        )
        squares = np.where(squares <= _ROUNDING * raw.centred_squares, 0.0, squares)
        shape = raw.shape() if powers is None else (powers.cubes, powers.fourths)
        return cls._linked(Moments.trusted(raw.classes, raw.count, mean, squares, residual, shape=shape), design)

    @classmethod
    def trusted(
        cls, classes: tuple[Label, ...], *arrays: Any, shape: tuple[FloatArray, ...] | None = None
    ) -> Moments:
        """Build plain moments: what is merged or pooled is no longer of one design."""
        return Moments.trusted(classes, *arrays, shape=shape)

    def take(self, places: Any) -> Moments:
        """Moments of some features."""
        return self._linked(Moments.take(self, places), self._design.take(places))

    def pick(self, classes: Sequence[Label]) -> Moments:
        """Moments of some classes, adjusted by the slopes that these share."""
        return AdjustedMoments.of(self._design.pick(classes))

    def renamed(self, classes: Sequence[Label]) -> Moments:
        """The same under other class labels."""
        return self._linked(Moments.renamed(self, classes), self._design.renamed(classes))

    @property
    def _design(self) -> DesignMoments:
        assert self.design is not None
        return self.design

    @classmethod
    def _linked(cls, moments: Moments, design: DesignMoments) -> Moments:
        made = object.__new__(cls)
        for name in (
            "classes",
            "count",
            "mean",
            "centred_squares",
            "residual",
            "centred_cubes",
            "centred_fourths",
        ):
            object.__setattr__(made, name, getattr(moments, name))
        object.__setattr__(made, "design", design)
        return made


def solve(products: FloatArray, targets: FloatArray) -> FloatArray:
    """Solve ``(p, p)`` or ``(p, p, n_features)`` against ``(p, n_features)``; least squares if singular."""
    if not targets.shape[0]:
        return np.zeros(targets.shape)
    if products.ndim == 2:
        if full_rank(products).all():
            return np.asarray(np.linalg.solve(products, targets))
        return np.asarray(np.linalg.pinv(products, rcond=_RANK, hermitian=True) @ targets)
    stacked = np.moveaxis(products, -1, 0)
    singular = ~full_rank(products)
    if singular.any():
        inverse = np.linalg.pinv(stacked[singular], rcond=_RANK, hermitian=True)
        stacked = stacked.copy()
        stacked[singular] = np.eye(len(products))
    found = np.linalg.solve(stacked, targets.T[..., None])[..., 0].T
    if singular.any():
        found[:, singular] = np.einsum("fab,bf->af", inverse, targets[:, singular])
    return np.asarray(found)


def full_rank(products: FloatArray) -> BoolArray:
    """Whether covariates tell more than each other: for the design, or for every feature."""
    stacked = np.moveaxis(products, -1, 0) if products.ndim == 3 else products[None]
    if not stacked.shape[1]:
        return np.ones(len(stacked), np.bool_)
    size = np.sqrt(np.diagonal(stacked, axis1=1, axis2=2))
    unit = np.where(size > 0, size, 1.0)
    least = np.linalg.eigvalsh(stacked / unit[:, :, None] / unit[:, None, :])[:, 0]
    return np.asarray((least > _RANK) & (size > 0).all(axis=1))


def shared_slopes(design: DesignMoments) -> FloatArray:
    """Slopes that all classes share, by least squares: ``(n_covariates, n_features)``."""
    return solve(design.scatter.sum(axis=0), design.cross.sum(axis=0))


def adjusted_values(
    matrix: LabelledMatrix,
    covariates: Any,
    slopes: FloatArray,
    *,
    centred: bool = False,
    n_threads: int | None = None,
) -> FloatArray:
    """Values less slopes times covariates about their means; missing values stay missing.

    ``centred`` says that covariates are about their means already, those of all samples of which these are some.
    """
    Z = np.asarray(covariates, dtype=np.float64)
    Z = np.ascontiguousarray(Z if centred else Z - Z.mean(axis=0))
    values: Any = matrix.values.tocsc() if is_sparse(matrix.values) else matrix.values
    out = np.empty(values.shape)

    def work(lo: int) -> None:
        part = values[:, lo : lo + _TILE]
        part = np.ascontiguousarray(part.toarray() if is_sparse(part) else part, dtype=np.float64)
        _less_slopes(part, Z, np.ascontiguousarray(slopes[:, lo : lo + _TILE]), out[:, lo : lo + _TILE])

    for_each(work, range(0, values.shape[1], _TILE), n_threads_for(n_threads, out.size))
    return out


@compiled(fastmath={"contract"})
def _less_slopes(X: Any, Z: Any, slopes: Any, out: Any) -> None:
    for i in range(X.shape[0]):
        for j in range(X.shape[1]):
            out[i, j] = X[i, j]
        for k in range(Z.shape[1]):
            z = Z[i, k]
            for j in range(X.shape[1]):
                out[i, j] -= z * slopes[k, j]
