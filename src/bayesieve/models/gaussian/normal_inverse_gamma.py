"""The conjugate prior of a Gaussian with unknown mean and variance (section 2.3)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from bayesieve.models.log_terms import log_gamma_rest, tangent_gap
from bayesieve.stats import Moments
from bayesieve.utils import PriorError, PriorWarning, warn

FloatArray: TypeAlias = npt.NDArray[np.float64]
Hyperparameter: TypeAlias = "float | FloatArray"

_LOG_2PI = math.log(2.0 * math.pi)


@dataclass(frozen=True, slots=True, eq=False)
class NormalInverseGamma:
    r"""Prior (or posterior) of the mean and the variance of one group of samples.

    The variance is inverse-gamma(``variance_dof / 2``, ``variance_scale / 2``); given the variance,
    the mean is normal around ``mean_location`` with variance ``variance / mean_strength``.

    Parameters
    ----------
    variance_dof
        The paper's :math:`\kappa`; a number or one per feature.
    variance_scale
        :math:`s`.
    mean_strength
        :math:`\nu`. At 0 the mean is uniform and ``mean_location`` is not used.
    mean_location
        :math:`m`.
    allow_negative
        Accept negative :math:`\kappa`, :math:`s` or :math:`\nu` (an improper prior that is legal as
        long as the data make the updated values positive), with a warning.

    Notes
    -----
    The prior is proper where :math:`\kappa, s, \nu > 0`. All zeros is Jeffreys' prior.

    Examples
    --------
    >>> import bayesieve as bs
    >>> prior = bs.NormalInverseGamma(variance_dof=3.0, variance_scale=0.5, mean_strength=0.1)
    >>> prior.is_proper
    True
    >>> bs.NormalInverseGamma().is_proper
    False
    """

    variance_dof: Hyperparameter = 0.0
    variance_scale: Hyperparameter = 0.0
    mean_strength: Hyperparameter = 0.0
    mean_location: Hyperparameter = 0.0
    allow_negative: bool = False

    def __post_init__(self) -> None:
        for name in ("variance_dof", "variance_scale", "mean_strength", "mean_location"):
            value = _number_or_vector(name, getattr(self, name))
            if name != "mean_location" and np.any(np.asarray(value) < 0):
                if not self.allow_negative:
                    raise PriorError(
                        f"{name} holds a negative value. Hyper-parameters of at least 0 are meant; if a "
                        "negative one is intended, pass allow_negative=True."
                    )
                warn(
                    PriorWarning,
                    f"{name} is negative: an improper prior that few people mean. Results are defined "
                    "only where the updated values are positive.",
                )
            object.__setattr__(self, name, value)
        _ = self.n_features  # raises if the lengths differ

    @property
    def proper(self) -> npt.NDArray[np.bool_]:
        """Where the prior is proper: a scalar or one flag per feature."""
        return np.asarray(
            (np.asarray(self.variance_dof) > 0)
            & (np.asarray(self.variance_scale) > 0)
            & (np.asarray(self.mean_strength) > 0)
        )

    @property
    def is_proper(self) -> bool:
        """Whether the prior is proper for every feature."""
        return bool(self.proper.all())

    @property
    def is_jeffreys(self) -> bool:
        """Whether this is Jeffreys' prior for every feature: all hyper-parameters but the location are 0."""
        return not any(map(any_nonzero, (self.variance_dof, self.variance_scale, self.mean_strength)))

    @property
    def n_features(self) -> int | None:
        """Number of features the hyper-parameters are given for; None if all are plain numbers."""
        sizes = {
            np.size(value)
            for value in (self.variance_dof, self.variance_scale, self.mean_strength, self.mean_location)
            if np.ndim(value)
        }
        if len(sizes) > 1:
            raise PriorError(f"Hyper-parameters are given for different numbers of features: {sorted(sizes)}.")
        return sizes.pop() if sizes else None

    def updated(self, group: Moments) -> NormalInverseGamma:
        r"""Posterior after one group of samples: :math:`\kappa^*, s^*, \nu^*, m^*` of section 2.3.

        Parameters
        ----------
        group
            Moments with a single class, for example ``moments.pool()`` or ``moments.group(label)``.

        Examples
        --------
        >>> import bayesieve as bs
        >>> group = bs.Moments.from_matrix([[1.0], [3.0]], ["a", "a"])
        >>> posterior = bs.NormalInverseGamma().updated(group)
        >>> float(posterior.variance_dof), posterior.variance_scale.tolist()
        (2.0, [2.0])
        """
        return NormalInverseGamma(*self.updated_values(group), allow_negative=self.allow_negative)

    def updated_values(self, group: Moments) -> tuple[Any, Any, Any, Any]:
        """Return the updated hyper-parameters as they come, positive or not; see :meth:`updated`.

        Examples
        --------
        >>> import bayesieve as bs
        >>> group = bs.Moments.from_matrix([[1.0], [3.0]], ["a", "a"])
        >>> dof, scale, strength, location = bs.NormalInverseGamma().updated_values(group)
        >>> int(dof), scale.tolist(), int(strength), location.tolist()
        (2, [2.0], 2, [2.0])
        """
        count, mean, residual, squares = single_group(group)
        strength = self.mean_strength + count
        location, further = mean, self.further_squares(group)
        if any_nonzero(self.mean_strength):
            weight = np.divide(count, strength, out=np.zeros(np.shape(strength)), where=strength != 0)
            location = self.mean_location + weight * ((mean - self.mean_location) + residual)
        scale = squares + further if any_nonzero(further) else squares
        return self.variance_dof + count, scale, strength, location

    def further_squares(self, group: Moments) -> Any:
        r"""Return what the prior adds to centred squares: :math:`s + \frac{\nu n}{\nu + n} (\bar x - m)^2`.

        Examples
        --------
        >>> import bayesieve as bs
        >>> group = bs.Moments.from_matrix([[1.0], [3.0]], ["a", "a"])
        >>> bs.NormalInverseGamma(3.0, 0.5, 2.0).further_squares(group).tolist()
        [4.5]
        """
        further: Any = self.variance_scale
        if any_nonzero(self.mean_strength):
            count, mean, residual, _ = single_group(group)
            strength = self.mean_strength + count
            weight = np.divide(count, strength, out=np.zeros(np.shape(strength)), where=strength != 0)
            distance = (mean - self.mean_location) + residual
            further = further + self.mean_strength * weight * (distance * distance)
        return further

    def log_constant(self) -> Any:
        r"""Logarithm of the normalising constant, :math:`\log(A B)` of section 2.3.

        .. math::
            \tfrac{\kappa}{2} \log\tfrac{s}{2} - \log\Gamma(\tfrac{\kappa}{2})
            + \tfrac12 \log\tfrac{\nu}{2\pi}

        Defined where the prior is proper.

        Examples
        --------
        >>> import bayesieve as bs
        >>> prior = bs.NormalInverseGamma(3.0, 0.5, 0.1)
        >>> round(prior.log_constant(), 7)
        -4.0288904
        """
        constant = _log_constant(self.variance_dof, self.variance_scale, self.mean_strength)
        return constant if self.n_features else float(constant)


def log_evidence(prior: NormalInverseGamma, group: Moments) -> Any:
    r"""Log marginal likelihood of one group of samples, feature by feature.

    Equation (2.16) for a class and (2.17) for the pooled sample. Where the prior is improper its
    constant does not exist and is taken as 1 (what is missing is the model's ``prior_ratio``).

    Parameters
    ----------
    prior
        The prior of the group.
    group
        Moments with a single class.

    Examples
    --------
    >>> import bayesieve as bs
    >>> group = bs.Moments.from_matrix([[0.1], [-0.4], [0.3], [0.8]], ["a"] * 4)
    >>> bs.log_evidence(bs.NormalInverseGamma(3.0, 0.5, 0.1), group).round(6).tolist()
    [-4.628098]
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        constant = np.where(prior.proper, prior.log_constant(), 0.0) if prior.proper.any() else 0.0
    return constant + log_kernel(prior.updated_values(group)[:3], group.count[0])


@dataclass(frozen=True, slots=True, eq=False)
class Cell:
    r"""One group of classes under its prior: the updated :math:`\kappa^*, s^*, \nu^*` of section 2.3.

    Parameters
    ----------
    name
        The group in words.
    prior
        Its prior.
    count, dof, scale, strength
        Number of samples, and what the prior became.
    further
        What ``scale`` holds beyond the squares within the single classes: those between the classes of the group
        and those of the prior.
    within
        The squares within every class.
    """

    name: str
    prior: NormalInverseGamma
    count: Any
    dof: Any
    scale: Any
    strength: Any
    further: Any
    within: tuple[FloatArray, ...]

    def log_evidence(self, pooled: Cell) -> FloatArray:
        r"""Log evidence without the constant of the prior and without what all ways to group the classes share.

        With :math:`h = \kappa^*/2`, the squares :math:`e` beyond those within classes, the unit
        :math:`u = s^*/\kappa^*` of the pooled sample (index +) and :math:`r = \frac{s^*}{\kappa^* u}` it is

        .. math::
            h (r - 1 - \log r) - h_+ \frac{e}{s^*_+} + \rho(h) - \tfrac12 \log\tfrac{\nu^*}{2\pi}
            - \tfrac{\kappa}{2} \log u

        No term but that of a real difference grows with the number of samples; see
        :mod:`bayesieve.models.log_terms`. Left out are :math:`h_+ / s^*_+` times the squares within classes and
        powers of :math:`2 \pi u`, the same for every grouping. Where most of :math:`s^*` is :math:`e`, the
        first two terms would cancel and are put together.
        """
        half, whole = 0.5 * np.asarray(self.dof), 0.5 * np.asarray(pooled.dof)
        shape = np.broadcast_shapes((1,), np.shape(self.scale), np.shape(pooled.scale), half.shape)
        part = np.empty(shape)  # worked out in place: for many features, fresh memory costs more than arithmetic
        np.divide(self.scale, pooled.scale, out=part)
        part *= whole / half
        found = np.zeros(shape) if self is pooled else tangent_gap(part)
        found *= half
        if any_nonzero(self.further):
            mostly = np.broadcast_to(np.greater(self.further, 0.5 * np.asarray(self.scale)), shape)
            if mostly.any():
                together = sum(self.within) / pooled.scale * whole - half * (1.0 + np.log(part))
            np.divide(self.further, pooled.scale, out=part)
            part *= whole
            found -= part
            found = np.where(mostly, together, found) if mostly.any() else found
        if any_nonzero(self.prior.variance_dof):
            np.log(np.divide(pooled.scale, pooled.dof, out=part), out=part)
            part *= 0.5 * np.asarray(self.prior.variance_dof)
            found -= part
        found += log_gamma_rest(half) - 0.5 * (np.log(self.strength) - _LOG_2PI)
        return found


def log_kernel(updated: tuple[Any, Any, Any], count: Any) -> Any:
    r"""Log evidence without the constant of the prior, from its updated hyper-parameters.

    .. math::
        -\tfrac{\kappa^*}{2} \log\tfrac{s^*}{2} + \log\Gamma(\tfrac{\kappa^*}{2})
        - \tfrac12 \log\tfrac{\nu^*}{2\pi} - \tfrac{n}{2}\log 2\pi
    """
    return -_log_constant(*updated) - 0.5 * _LOG_2PI * count


def _log_constant(dof: Any, scale: Any, strength: Any) -> Any:
    half = 0.5 * np.asarray(dof)
    return half * np.log(0.5 * np.asarray(scale)) + 0.5 * (np.log(strength) - _LOG_2PI) - log_gamma(half)


def single_group(group: Moments) -> tuple[Any, FloatArray, FloatArray, FloatArray]:
    """Count, mean, residual and centred squares of moments that hold one class only."""
    if len(group.classes) != 1:
        raise PriorError(
            f"One group of samples is needed, but these moments hold {len(group.classes)} classes. "
            "Use moments.group(label) or moments.pool()."
        )
    assert group.residual is not None
    return group.count[0], group.mean[0], group.residual[0], group.centred_squares[0]


def any_nonzero(value: Hyperparameter) -> bool:
    """Whether a hyper-parameter is anything but zero; quick for plain numbers."""
    return value != 0.0 if isinstance(value, float) else bool(np.any(value))


def log_gamma(x: Any) -> Any:
    """Log of the gamma function; plain numbers take the quick way."""
    if np.ndim(x) == 0:
        return math.lgamma(float(x)) if float(x) > 0 else math.inf
    from scipy.special import gammaln  # noqa: PLC0415 - SciPy takes a while to import

    return gammaln(x)


def _number_or_vector(name: str, value: Any) -> Hyperparameter:
    try:
        array = np.array(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise PriorError(f"{name} must be a number or one number per feature, not {value!r}.") from None
    except OverflowError:
        raise PriorError(f"{name} holds a number beyond 1e308, the largest that can be used.") from None
    if array.ndim > 1:
        raise PriorError(f"{name} must be a number or one number per feature, not of shape {array.shape}.")
    if not np.isfinite(array).all():
        raise PriorError(f"{name} holds a value that is not finite. Use 0 for a flat prior.")
    if array.ndim == 0:
        return float(array)
    array.flags.writeable = False
    return array
