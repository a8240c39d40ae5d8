r"""Evidence of a pair of features: jointly Gaussian in each class, or with one distribution for both.

.. math:: H_2(i, j) = \sum_y \log p_y(x_i, x_j) - \log p(x_i, x_j)

with normal-inverse-Wishart evidences of the family grown from one-feature priors (see
:mod:`bayesieve.models.normal_inverse_wishart`). Every 2 x 2 determinant is written as the product of two units,
which belong to one feature each, and of a sum of terms that cannot be negative, so that no digits are lost where
means lie far apart or far from the prior's.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from bayesieve.models import GaussianModel, NormalInverseGamma, check_family, log_prior_ratio
from bayesieve.stats import Moments
from bayesieve.utils import BoolArray, FloatArray, LabelError, PriorError, check_choice

PRIORS = ("jp", "pp")
_LOG_PI, _LOG_2PI = math.log(math.pi), math.log(2.0 * math.pi)
_FEWEST = 3  # samples of a class: a pair of features needs one more than features


def pair_model(prior: Any) -> GaussianModel:
    r"""Return the model of a name: ``"jp"``, Jeffreys' prior with :math:`L = (2\pi)^{-1/2}`, or ``"pp"``."""
    if isinstance(prior, GaussianModel):
        return prior
    check_choice("prior", prior, PRIORS)
    return GaussianModel.jeffreys("sqrt2pi") if prior == "jp" else GaussianModel.proper()


@dataclass(frozen=True, slots=True, eq=False)
class PairEvidence:
    r"""What the evidence of pairs needs to know of every feature; cells are class 0, class 1 and both pooled.

    Parameters
    ----------
    single
        :math:`H_1`: the log Bayes factor of every feature by itself; -inf where the prior has no answer.
    margin
        The part of :math:`H_2` that belongs to one feature: :math:`H_2 = t_{ij} + m_i + m_j`.
    shares
        Roots of the shares that class 0 and 1 have of the unit of their own cell (first two), and of the pooled
        cell (last two).
    shifts
        Root-weighted distance of the mean from the prior's in each cell, then of the two class means from each
        other, in units of the cell.
    least
        The prior's share of the unit of each cell; 0 under Jeffreys' prior.
    powers
        Exponents of the determinants: :math:`\kappa_2^*/2` of each cell, the pooled one negative.
    constant
        What all pairs share.
    usable
        Features that have an evidence.
    proper
        Whether the prior is proper.
    counts
        Samples of each class.
    model
        The priors.
    """

    single: FloatArray
    margin: FloatArray
    shares: FloatArray
    shifts: FloatArray
    least: FloatArray
    powers: FloatArray
    constant: float
    usable: BoolArray
    proper: bool
    counts: tuple[int, int]
    model: GaussianModel

    @classmethod
    def of(cls, moments: Moments, prior: Any = "jp") -> PairEvidence:
        """Bring the moments of two classes together with a prior."""
        model = pair_model(prior)
        counts = _check_counts(moments)
        parts = [moments.group(label) for label in moments.classes]
        cells = [(part, model.prior_of(k, 2)) for k, part in enumerate(parts)]
        cells.append((moments.pool(), model.pooled_prior))
        proper = _check_priors([prior for _, prior in cells], moments.n_features)
        within = np.array([part.centred_squares[0] for part in parts])
        usable = np.asarray((within > 0.0).all(axis=0) | proper, dtype=np.bool_)
        squares = [*np.where(usable, within, 1.0), np.where(usable, within, 1.0).sum(axis=0)]
        apart = (parts[1].mean[0] - parts[0].mean[0]) + (_residual(parts[1]) - _residual(parts[0]))
        n = [*counts, sum(counts)]
        scale = [np.broadcast_to(prior.variance_scale, usable.shape) for _, prior in cells]
        unit = [square + own for square, own in zip(squares, scale, strict=True)]
        shifts = [
            _shift(part, prior, own, n[c]) for c, ((part, prior), own) in enumerate(zip(cells, unit, strict=True))
        ]
        shifts.append(apart * np.sqrt(n[0] * (n[1] / n[2]) / unit[2]))
        shares = [squares[0] / unit[0], squares[1] / unit[1], squares[0] / unit[2], squares[1] / unit[2]]
        logs = [np.log(unit[0] / unit[2]), np.log(unit[1] / unit[2]), np.log(unit[2])]
        form = [np.log1p(shifts[0] ** 2), np.log1p(shifts[1] ** 2), np.log1p(shifts[2] ** 2 + shifts[3] ** 2)]
        signs = (1.0, 1.0, -1.0)
        by_size: list[tuple[FloatArray, float, FloatArray]] = []  # margin, constant and exponents for d = 1, 2
        for d in (1, 2):
            constant, margin, powers = 0.0, np.zeros(usable.size), np.empty(3)
            for c, (_, each) in enumerate(cells):
                dof = float(np.ravel(each.variance_dof)[0]) + d - 1.0 if proper else 0.0
                powers[c] = signs[c] * 0.5 * (dof + n[c])
                constant += signs[c] * log_constant(each, d, n[c], proper)
                if proper:
                    margin += signs[c] * 0.5 * dof * np.log(scale[c])
            margin -= powers[0] * logs[0] + powers[1] * logs[1] + powers.sum() * logs[2]
            by_size.append((margin, constant, powers))
        if not proper:
            assert model.prior_ratio is not None
            ratio = log_prior_ratio(model.prior_ratio, *counts)
            by_size = [(margin + ratio, constant, powers) for margin, constant, powers in by_size]
        (alone, constant, powers), (margin, pair_constant, pair_powers) = by_size
        single = constant + alone - sum(power * each for power, each in zip(powers, form, strict=True))
        return cls(
            np.where(usable, single, -np.inf), margin, np.sqrt(shares), np.array(shifts),
            np.array([own / each for own, each in zip(scale, unit, strict=True)]), pair_powers, pair_constant,
            usable, proper, counts, model,
        )  # fmt: skip

    @property
    def n_features(self) -> int:
        """Number of features."""
        return int(self.single.size)

    @property
    def beyond(self) -> FloatArray:
        """What a feature adds to a pair beyond its own evidence: margin less single."""
        return np.where(self.usable, self.margin - self.single, 0.0)


def log_constant(prior: NormalInverseGamma, d: int, n: int, proper: bool) -> float:
    """Return the part of the log evidence of d features in n samples that knows neither data nor scale."""
    if proper:
        dof, strength = (float(np.ravel(value)[0]) for value in (prior.variance_dof, prior.mean_strength))
        before = _log_gamma(0.5 * (dof + d - 1.0), d)
        after = _log_gamma(0.5 * (dof + d - 1.0 + n), d)
        return 0.5 * d * (math.log(strength / (strength + n)) - n * _LOG_PI) + after - before
    return 0.5 * d * (_LOG_2PI - math.log(n) - n * _LOG_PI) + _log_gamma(0.5 * n, d)


def _log_gamma(x: float, d: int) -> float:
    """Log of the multivariate gamma function."""
    return 0.25 * d * (d - 1) * _LOG_PI + sum(math.lgamma(x - 0.5 * j) for j in range(d))


def _shift(part: Moments, prior: NormalInverseGamma, unit: FloatArray, n: int) -> FloatArray:
    strength = float(np.ravel(prior.mean_strength)[0])
    if not strength:
        return np.zeros(unit.size)
    distance = (part.mean[0] - prior.mean_location) + _residual(part)
    return np.asarray(distance * np.sqrt(strength * (n / (strength + n)) / unit))


def _residual(part: Moments) -> FloatArray:
    return np.array(np.asarray(part.residual)[0], dtype=np.float64)


def _check_counts(moments: Moments) -> tuple[int, int]:
    if len(moments.classes) != 2:
        raise LabelError(f"Pairs of features are compared in two classes, not {len(moments.classes)}.")
    first, second = (int(count) for count in moments.count)
    if min(first, second) < _FEWEST:
        raise LabelError(
            f"Pairs of features need at least {_FEWEST} samples of each class, but there are {first} of class "
            f"{moments.classes[0]!r} and {second} of class {moments.classes[1]!r}."
        )
    return first, second


def _check_priors(priors: list[NormalInverseGamma], n_features: int) -> bool:
    """Return whether the priors of all cells are proper; raise if some are and some are not."""
    proper = {check_family(prior, n_features)[2] for prior in priors}
    if len(proper) > 1:
        raise PriorError("The priors of a pair must be proper in both classes and pooled, or Jeffreys' in all.")
    return proper.pop()
