r"""Leave-one-out log Bayes factor of two Gaussian classes, as a function of the sample that is taken out.

In the compiled loops ``centres``, ``lags``, ``scales``, ``steps`` and ``sizes`` are the arrays of
:class:`Downdates`. ``curves`` (:math:`q` of both classes, :math:`Q`) and ``constants`` (:math:`c` of both classes)
hold some features only, from ``lo`` on: fresh memory costs more than arithmetic.

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

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from bayesieve.models.gaussian.gaussian import GaussianModel
from bayesieve.models.gaussian.normal_inverse_gamma import (
    NormalInverseGamma,
    any_nonzero,
    log_kernel,
    single_group,
)
from bayesieve.stats import Moments
from bayesieve.utils import BoolArray, FloatArray, compiled

POWER, HALF_DOF, WEIGHT, LONE, CONSTANT = range(5)  # rows of sizes
_POOL = 2
_NEARLY_ALL = 0.999  # of the scale leaves with the sample: too many digits are gone
_CLOSE = 1e-6
_STEPS = 60
_SMALLEST = 1e-200  # leading coefficient of the cubic


@compiled()
def fill_terms(scales: Any, steps: Any, sizes: Any, lo: int, hi: int, curves: Any, constants: Any) -> None:
    r"""Work out :math:`q, Q` and :math:`c`, the logarithms relative to the pooled scale."""
    pooled = scales[_POOL]
    for c in range(2):
        own, other = scales[c], scales[1 - c]
        for j in range(lo, hi):
            k, step = min(j, sizes.shape[2] - 1), steps[min(j, steps.shape[0] - 1)]
            p, half = sizes[c, POWER, k], sizes[1 - c, HALF_DOF, k]
            surplus = sizes[_POOL, POWER, k] - p - half
            constant = sizes[c, CONSTANT, k] - p * math.log(own[j] / pooled[j])
            constant -= half * math.log((other[j] + step) / pooled[j])
            constants[c, j - lo] = constant + surplus * math.log(pooled[j]) if surplus != 0.0 else constant
            curves[c, j - lo] = sizes[c, WEIGHT, k] / own[j]
            curves[_POOL, j - lo] = sizes[_POOL, WEIGHT, k] / pooled[j]


@compiled()
def log_bayes_factor_without(
    d: float, e: float, c: int, j: int, lo: int, sizes: Any, curves: Any, constants: Any
) -> float:
    r"""Return :math:`f(x)` of feature ``j`` for a value of class ``c``; NaN where it has to be found otherwise.

    That is where the downdate loses digits, or where all other values of the group may be equal. ``d`` and ``e``
    are the distances of the value from the updated means of the class and of the pooled sample.
    """
    k = min(j, sizes.shape[2] - 1)
    share, pooled_share = curves[c, j - lo] * d * d, curves[_POOL, j - lo] * e * e
    lone, pooled_lone = sizes[c, LONE, k], sizes[_POOL, LONE, k]
    if (
        not (share < _NEARLY_ALL and pooled_share < _NEARLY_ALL)
        or abs(share - lone) < _CLOSE * lone
        or abs(pooled_share - pooled_lone) < _CLOSE * pooled_lone
    ):
        return np.nan
    change = sizes[_POOL, POWER, k] * math.log1p(-pooled_share) - sizes[c, POWER, k] * math.log1p(-share)
    return float(constants[c, j - lo] + change)


@compiled()
def _outer(k: float) -> float:
    """Solve ``y**3 - 3 * y = k`` for ``y >= 1``, to a few digits if ``-2 <= k <= 2``."""
    if k > 2.0:
        root = math.exp(math.log(0.5 * (k + math.sqrt(k * k - 4.0))) / 3.0)
        return float(root + 1.0 / root)
    beyond = math.sqrt(max(k + 2.0, 0.0) / 3.0)
    return 1.0 + beyond / math.sqrt(1.0 + beyond / 3.0)


@compiled()
def _only(k: float) -> float:
    """Solve ``y**3 + 3 * y = k``."""
    root = math.exp(math.log(0.5 * (abs(k) + math.sqrt(k * k + 4.0))) / 3.0)
    return math.copysign(root - 1.0 / root, k)


@compiled()
def _value(a: float, b: float, c: float, d: float, z: float) -> float:
    return ((a * z + b) * z + c) * z + d


@compiled()
def _root(a: float, b: float, c: float, d: float, guess: float, bend: float, end: float) -> float:
    """Return the root between a bend of the cubic and infinity on the side of ``end``, 1 or -1.

    The cubic bends one way there, so that Newton's method from the end is monotone.
    """
    if bend * end >= 1.0 or _value(a, b, c, d, end) * end <= 0.0:
        return end * np.inf
    if bend * end < -1.0 and _value(a, b, c, d, -end) * end >= 0.0:
        return -end * np.inf
    z = guess if bend * end < guess * end < 1.0 else end
    for _ in range(_STEPS):
        slope = (3.0 * a * z + 2.0 * b) * z + c
        step = _value(a, b, c, d, z) / slope
        z = z - step if slope > 0.0 and abs(z - step) < 1.0 else end
        if abs(step) < _CLOSE:  # what is left is about its square
            break
    return z


@compiled()
def turning_points(a: float, b: float, c: float, d: float) -> tuple[float, float]:
    """Where a cubic with ``a > 0`` goes from negative to positive, infinite outside [-1, 1].

    There are one or two such places; a single one is returned twice. Relative to its point of inflection,
    and in units of the distance from there to its bends, a cubic is ``y**3 - 3 * y + k`` or, without
    bends, ``y**3 + 3 * y + k``, which gives a first guess.
    """
    inside, centre = b * b - 3.0 * a * c, -b / (3.0 * a)
    unit = math.sqrt(abs(inside)) / (3.0 * a)
    k = _value(a, b, c, d, centre) / (a * unit * unit * unit)
    low = high = centre
    if inside > 0.0:
        total = -(b + math.copysign(math.sqrt(inside), b))
        low, high = total / (3.0 * a), c / total
        if low > high:
            low, high = high, low
    first = second = np.nan
    if _value(a, b, c, d, low) >= 0.0:  # a root before the first bend
        guess = centre - unit * (_outer(k) if inside > 0.0 else _only(k))
        first = second = _root(a, b, c, d, guess, low, -1.0)
    if not _value(a, b, c, d, high) >= 0.0:  # a root after the second
        guess = centre + unit * (_outer(-k) if inside > 0.0 else _only(-k))
        second = _root(a, b, c, d, guess, high, 1.0)
    return second if np.isnan(first) else first, second


@compiled()
def find_thresholds(
    centres: Any, lags: Any, sizes: Any, curves: Any, lo: int, hi: int, thresholds: Any, awkward: Any
) -> None:
    """Find, for features ``lo : hi``, the values at which the log Bayes factor without them is locally least."""
    for c in range(2):
        centre, lag, pooled_centre, pooled_lag = centres[c], lags[c], centres[_POOL], lags[_POOL]
        for j in range(lo, hi):
            k = min(j, sizes.shape[2] - 1)
            q, p, Q, P = curves[c, j - lo], sizes[c, POWER, k], curves[_POOL, j - lo], sizes[_POOL, POWER, k]
            gap = (centre[j] - pooled_centre[j]) + (lag[j] - pooled_lag[j])
            unit = 1.0 / math.sqrt(q)
            ratio, slant = Q * unit * unit, Q * gap * unit
            if not (P - p) * ratio > _SMALLEST:
                awkward[j] = True
            first, second = turning_points(
                (P - p) * ratio, (P - 2.0 * p) * slant, p * (1.0 - Q * gap * gap) - P * ratio, -P * slant
            )
            place = centre[j] + lag[j]
            thresholds[c, 0, j - lo], thresholds[c, 1, j - lo] = place + first * unit, place + second * unit


@compiled()
def choose_least(
    centres: Any, lags: Any, sizes: Any, curves: Any, constants: Any, values: Any, positions: Any,
    lo: int, least: Any, culprit: Any, awkward: Any,
) -> None:  # fmt: skip
    """Evaluate the candidates of features from ``lo`` on and keep the least, the first class first."""
    for c in range(2):
        centre, lag, pooled_centre, pooled_lag = centres[c], lags[c], centres[_POOL], lags[_POOL]
        for j in range(lo, lo + values.shape[2]):
            if np.isnan(constants[c, j - lo]):
                continue
            for part in range(4):
                place = positions[c, part, j - lo]
                if place < 0.0 or (part > 1 and place == positions[c, part - 2, j - lo]):
                    continue
                x = values[c, part, j - lo]
                d, e = (x - centre[j]) - lag[j], (x - pooled_centre[j]) - pooled_lag[j]
                found = log_bayes_factor_without(d, e, c, j, lo, sizes, curves, constants)
                if found < least[j]:
                    least[j], culprit[j] = found, np.int64(place)
                elif np.isnan(found):
                    awkward[j] = True


@compiled()
def evaluate_all(
    values: Any, codes: Any, centres: Any, lags: Any, sizes: Any, curves: Any, constants: Any, direct: Any,
    found: Any, awkward: Any,
) -> None:  # fmt: skip
    """Evaluate every value of a samples x features table; NaN where there is none or nothing to leave."""
    for i in range(values.shape[0]):
        c = codes[i]
        centre, lag, pooled_centre, pooled_lag = centres[c], lags[c], centres[_POOL], lags[_POOL]
        for j in range(values.shape[1]):
            x = values[i, j]
            if np.isnan(x) or np.isnan(constants[c, j]):
                continue
            d, e = (x - centre[j]) - lag[j], (x - pooled_centre[j]) - pooled_lag[j]
            if not direct[c, j]:
                found[i, j] = log_bayes_factor_without(d, e, c, j, 0, sizes, curves, constants)
            awkward[i, j] = np.isnan(found[i, j])


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
        """Prepare the removal of any one sample."""
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
        r"""Return :math:`q, Q` and :math:`c` of some features."""
        curves, constants = np.empty((3, hi - lo)), np.empty((2, hi - lo))
        fill_terms(self.scales, self.steps, self.sizes, lo, hi, curves, constants)
        return curves, constants

    def take(self, places: npt.NDArray[np.int64]) -> Downdates:
        """Some of the features."""
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
        """Whether a sample can leave at all: see :func:`bayesieve.models.gaussian.degenerate.find_degenerate`."""
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
    log_bf = log_kernel((other.dof, 1.0, other.strength), other.count)
    log_bf = log_bf + log_kernel((own.dof - 1, 1.0, own.strength - 1), own.count - 1)
    log_bf = log_bf - log_kernel((pooled.dof - 1, 1.0, pooled.strength - 1), pooled.count - 1)
    return np.where(usable, log_bf + model.log_prior_ratio(reduced), np.nan)
