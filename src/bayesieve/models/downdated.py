r"""The log Bayes factor of two Gaussian classes as a function of the sample that is taken out.

Without a value :math:`x`, a group of samples with updated :math:`\kappa^*, s^*, \nu^*, m^*` (section 2.3) has

.. math:: \kappa^* - 1, \quad s^* - \frac{\nu^*}{\nu^* - 1} (x - m^*)^2, \quad \nu^* - 1,

so that for the samples of one class (small letters) in the pooled sample (capitals)

.. math:: f(x) = c + P \log\{1 - Q (x - M^*)^2\} - p \log\{1 - q (x - m^*)^2\}

with :math:`p = (\kappa^* - 1) / 2`, :math:`q = \nu^* / \{(\nu^* - 1) s^*\}` and :math:`P, Q` alike. Where values
are rounded to the nearest :math:`\delta`, a rounding variance of :math:`\delta^2 / 12` leaves with the sample.

In units of :math:`z = \sqrt q (x - m^*)`, all values lie in [-1, 1] and :math:`f'` has the sign of a cubic in
:math:`z`. :math:`f` is least next to a root where the cubic goes from negative to positive; there are one or two.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from bayesieve.models.downdate_kernels import fill_terms
from bayesieve.models.gaussian import GaussianModel
from bayesieve.models.normal_inverse_gamma import NormalInverseGamma, any_nonzero, kernel_of, single_group
from bayesieve.stats import Moments

FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]
Triple = tuple[FloatArray, FloatArray, FloatArray]

_NEVER = -1.0


@dataclass(frozen=True, slots=True, eq=False)
class Downdates:
    r"""What :math:`f(x)` needs to know, for both classes and, third, the pooled sample.

    Parameters
    ----------
    centres, lags
        Means, and what is to be added to them: :math:`x - m^*` is ``(x - centre) - lag``.
    scales
        :math:`s^*` of all samples, without the rounding variance of one.
    steps
        That rounding variance, per feature or once for all.
    sizes
        What depends on numbers of samples and on the prior: :math:`p`, half of :math:`\kappa^*`,
        :math:`\nu^* / (\nu^* - 1)`, the value of :math:`q (x - m^*)^2` of all other values where they are equal
        and the scale without :math:`x` may vanish (-1 if it cannot), and the log Bayes factor without a sample
        if all scales were 1, NaN if no sample can leave the class. ``(3, 5, n_features)``, or 1 in place of
        ``n_features`` where all features are alike.
    direct
        ``(2, n_features)``: classes whose samples are to be taken out of the data, not of the sums.
    irregular
        Features in which :math:`f` has to be evaluated at every sample.
    """

    centres: Triple
    lags: Triple
    scales: Triple
    steps: FloatArray
    sizes: FloatArray
    direct: BoolArray
    irregular: BoolArray

    @classmethod
    def of(cls, model: GaussianModel, moments: Moments, resolution: Any = 0.0) -> Downdates:
        """Prepare the removal of any one sample.

        Parameters
        ----------
        model, moments
            What is compared: two classes, without the rounding variance.
        resolution
            Step to which values are rounded, 0 if it was not stated.

        Examples
        --------
        >>> import bayesieve as bs
        >>> from bayesieve.models.downdate_kernels import log_bayes_factor_without
        >>> from bayesieve.models.downdated import Downdates
        >>> X, y = [[0.0], [1.0], [2.0], [9.0], [4.0], [6.0]], [0, 0, 0, 0, 1, 1]
        >>> model = bs.GaussianModel.proper()
        >>> parts = Downdates.of(model, bs.Moments.from_matrix(X, y))
        >>> shorter = bs.Moments.from_matrix(X[:3] + X[4:], y[:3] + y[4:])
        >>> d, e = (float(9.0 - parts.centres[k][0] - parts.lags[k][0]) for k in (0, 2))
        >>> without = log_bayes_factor_without(d, e, 0, 0, 0, parts.sizes, *parts.terms(0, 1))
        >>> bool(abs(without - model.log_bayes_factor(shorter)[0]) < 1e-12)
        True
        """
        steps, n = np.atleast_1d(np.square(resolution) / 12.0), moments.n_features
        groups = [_Group.of(prior, group, steps) for prior, group in _groups(model, moments)]
        direct, irregular = np.zeros((2, n), bool), np.zeros(n, bool)
        for c in range(2):
            direct[c] = groups[c].unsure | groups[2].unsure
            irregular |= direct[c] | groups[c].irregular | groups[2].irregular
        centres, lags, scales = (
            _triple(getattr(group, name) for group in groups) for name in ("centre", "lag", "scale")
        )
        return cls(centres, lags, scales, steps, _sizes(model, moments, groups), direct, irregular)

    @property
    def places(self) -> tuple[Triple, Triple, FloatArray]:
        """What most compiled loops take."""
        return self.centres, self.lags, self.sizes

    def terms(self, lo: int, hi: int) -> tuple[FloatArray, FloatArray]:
        r"""Return :math:`q, Q` and :math:`c` of some features.

        Examples
        --------
        >>> import bayesieve as bs
        >>> from bayesieve.models.downdated import Downdates
        >>> moments = bs.Moments.from_matrix([[1.0], [2.0], [4.0], [7.0]], ["a", "a", "b", "b"])
        >>> [array.shape for array in Downdates.of(bs.GaussianModel.proper(), moments).terms(0, 1)]
        [(3, 1), (2, 1)]
        """
        curves, constants = np.empty((3, hi - lo)), np.empty((2, hi - lo))
        fill_terms(self.scales, self.steps, self.sizes, lo, hi, curves, constants)
        return curves, constants

    def take(self, places: npt.NDArray[np.int64]) -> Downdates:
        """Some of the features.

        Examples
        --------
        >>> import bayesieve as bs, numpy as np
        >>> from bayesieve.models.downdated import Downdates
        >>> X = [[1.0, 2.0], [2.0, 5.0], [4.0, 1.0], [7.0, 3.0]]
        >>> moments = bs.Moments.from_matrix(X, ["a", "a", "b", "b"])
        >>> Downdates.of(bs.GaussianModel.proper(), moments).take(np.array([1])).irregular.shape
        (1,)
        """
        centres, lags, scales = (
            _triple(row[places] for row in rows) for rows in (self.centres, self.lags, self.scales)
        )
        steps = self.steps if self.steps.size == 1 else self.steps[places]
        sizes = self.sizes if self.sizes.shape[2] == 1 else np.ascontiguousarray(self.sizes[:, :, places])
        return Downdates(centres, lags, scales, steps, sizes, self.direct[:, places], self.irregular[places])


def _triple(rows: Iterable[FloatArray]) -> Triple:
    """Return read-only rows: the loops are then compiled for one kind of array only."""
    views = [np.ascontiguousarray(row).view() for row in rows]
    for view in views:
        view.flags.writeable = False
    return views[0], views[1], views[2]


@dataclass(frozen=True, slots=True, eq=False)
class _Group:
    """A class or the pooled sample under its prior; ``scale`` lacks the rounding variance of one sample."""

    prior: NormalInverseGamma
    count: Any
    dof: Any
    scale: FloatArray
    strength: Any
    centre: FloatArray
    lag: FloatArray
    rounded: Any

    @classmethod
    def of(cls, prior: NormalInverseGamma, group: Moments, steps: FloatArray) -> _Group:
        count, mean, lag, _ = single_group(group)
        dof, scale, strength, _ = prior.updated_values(group)
        if any_nonzero(prior.mean_strength):
            distance = (mean - prior.mean_location) + lag
            weight = np.divide(
                prior.mean_strength, strength, out=np.zeros(np.shape(strength)), where=strength != 0
            )
            lag = lag - weight * distance
        rounded = np.greater(steps, 0)
        if rounded.any():
            scale = scale + (count - 1) * steps
        return cls(prior, count, dof, scale, strength, mean, lag, rounded)

    @property
    def scaleless(self) -> Any:
        return np.less_equal(self.prior.variance_scale, 0)

    @property
    def usable(self) -> Any:
        """Whether a sample can leave at all: see :func:`bayesieve.models.degenerate.find_degenerate`."""
        flat = np.less(self.count, 3) & self.scaleless & np.equal(self.prior.mean_strength, 0)
        return np.greater(self.count, 0) & np.greater(self.dof, 1) & np.greater(self.strength, 1) & ~flat

    @property
    def unsure(self) -> Any:
        """Whether equal values make the group undefined in spite of a rounding variance."""
        return np.less(self.count, 3) & self.scaleless & self.rounded

    @property
    def irregular(self) -> Any:
        """Whether updated scales may be negative."""
        return np.less(self.prior.variance_scale, 0) | np.less(self.prior.mean_strength, 0)


def _sizes(model: GaussianModel, moments: Moments, groups: list[_Group]) -> FloatArray:
    """Return what depends on numbers of samples and priors alone, held once where all features are alike."""
    rows: list[Any] = []
    with np.errstate(divide="ignore", invalid="ignore"):
        for c, group in enumerate(groups):
            left = group.strength - 1.0
            lone = np.where(group.scaleless & ~group.rounded, np.divide(1.0, np.square(left)), _NEVER)
            constant = np.zeros(1) if c == 2 else _constant(model, moments, groups, c)
            rows += [0.5 * (group.dof - 1), 0.5 * group.dof, np.divide(group.strength, left), lone, constant]
    return np.stack(np.broadcast_arrays(*rows)).reshape(3, 5, -1)


def _groups(model: GaussianModel, moments: Moments) -> Iterator[tuple[NormalInverseGamma, Moments]]:
    for k, label in enumerate(moments.classes):
        yield model.prior_of(k, 2), moments.group(label)
    yield model.pooled_prior, moments.pool()


def _constant(model: GaussianModel, moments: Moments, groups: list[_Group], c: int) -> Any:
    """Log Bayes factor without a sample of class ``c`` if all scales were 1; NaN where none can leave."""
    own, other, pooled = groups[c], groups[1 - c], groups[2]
    usable = np.atleast_1d(own.usable & pooled.usable)
    if not usable.any():
        return np.full(1, np.nan)
    count = moments.count.copy()
    count[c] = np.maximum(count[c] - 1, 0)
    reduced = Moments.trusted(
        moments.classes, count, moments.mean, moments.centred_squares, np.asarray(moments.residual)
    )
    log_bf = kernel_of(other.prior, (other.dof, 1.0, other.strength), other.count, 1.0)
    log_bf = log_bf + kernel_of(own.prior, (own.dof - 1, 1.0, own.strength - 1), own.count - 1, 1.0)
    log_bf = log_bf - kernel_of(pooled.prior, (pooled.dof - 1, 1.0, pooled.strength - 1), pooled.count - 1, 1.0)
    return np.where(usable, log_bf + model.log_prior_ratio(reduced), np.nan)
