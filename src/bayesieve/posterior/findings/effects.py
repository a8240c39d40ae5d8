r"""Effect sizes: direction and size of differences from the posterior of means and variances (Behrens-Fisher).

It is a mixture of Student distributions, see :mod:`bayesieve.posterior.findings.effects`: given
:math:`\pi \sim \mathrm{Beta}(\kappa_1/2, \kappa_0/2)`, and in units of
:math:`\sqrt{(a_0 + a_1)/K}` with :math:`a_y = s_y/\nu_y` and :math:`K = \kappa_0 + \kappa_1`, the
difference is t with K degrees of freedom and squared scale :math:`(1-c)/(1-\pi) + c/\pi`, where
:math:`c = a_1 / (a_0 + a_1)`.

In each class the variance is inverse-gamma(:math:`\kappa_y/2, s_y/2`) and the mean, given the
variance, normal around :math:`m_y` with variance :math:`\sigma_y/\nu_y` (section 2.3, the updated
values). Let :math:`\pi = (s_1/\sigma_1) / (s_0/\sigma_0 + s_1/\sigma_1)`. Then

* :math:`\pi \sim \mathrm{Beta}(\kappa_1/2, \kappa_0/2)`, which gives the ratio of the variances;
* given :math:`\pi`, and with :math:`K = \kappa_0 + \kappa_1`, the difference of the means is exactly
  Student's t with K degrees of freedom around :math:`m_1 - m_0`, with squared scale
  :math:`[s_0/(\nu_0 (1-\pi)) + s_1/(\nu_1 \pi)] / K`.

The distribution of the difference (of Behrens and Fisher) is thus one integral over :math:`\pi`, here a
trapezoidal sum in :math:`\mathrm{logit}\,\pi`, which converges exponentially; see
:mod:`bayesieve.posterior.findings.effects`.
"""

from __future__ import annotations

import math
import threading
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from bayesieve.models import GaussianModel, any_nonzero, model_of_classes
from bayesieve.posterior.feature_posterior import FeaturePosterior
from bayesieve.posterior.findings.kinds import gaussian_moments
from bayesieve.stats import Moments
from bayesieve.utils import FloatArray, Message, OptionError, for_each, n_threads_for

_ONE_AT_A_TIME = threading.Lock()  # up to SciPy 1.11, quantiles of Student's t are not safe in threads

_DEPTH = 64.0  # nodes reach down to exp(-64) of the highest weight
_STEP = 0.35
_GROWTH = 1.2
_MOST_STEPS = 100
_NEAR = 1e-5  # after a step this small, what is left is of the order of its square


@dataclass(frozen=True, slots=True, eq=False)
class BehrensFisher:
    """The distribution of many differences at once, as weighted sums of Student distributions.

    Parameters
    ----------
    dof
        K, shape ``(1, 1)`` or ``(n, 1)``.
    weights
        Weights of the nodes, adding up to 1: ``(1, n_nodes)`` or ``(n, n_nodes)``.
    scales
        Scale of the Student distribution at each node: ``(n, n_nodes)``.
    near_dof, near_scale
        One Student distribution that comes near, ``(n,)`` each: where the search for quantiles starts.
    """

    dof: FloatArray
    weights: FloatArray
    scales: FloatArray
    near_dof: FloatArray
    near_scale: FloatArray

    @classmethod
    def of(cls, dof0: FloatArray, dof1: FloatArray, share: FloatArray) -> BehrensFisher:
        r"""Choose the nodes for degrees of freedom :math:`\kappa_0, \kappa_1` and shares :math:`c`."""
        k0, k1, c = (np.asarray(value, dtype=np.float64)[:, None] for value in (dof0, dof1, share))
        middle = np.log(k1) - np.log(k0)
        step = np.minimum(_STEP, 0.7 * np.sqrt(2.0 / k0 + 2.0 / k1))
        left, right = (_reach(k0, k1, middle, side * step) for side in (-1.0, 1.0))
        n_nodes = int(np.ceil(((left + right) / step).max())) + 1
        logits = middle - left + (left + right) * np.linspace(0.0, 1.0, n_nodes)
        weights = np.exp(-_drop(k0, k1, middle, logits))
        weights /= weights.sum(axis=1, keepdims=True)
        return cls(k0 + k1, weights, _scale(c, logits), *_near(k0, k1, c, middle))

    def tail(self, x: FloatArray) -> FloatArray:
        """Probability of a difference that exceeds the centre by more than ``x``."""
        from scipy.special import stdtr  # noqa: PLC0415 - SciPy is slow to import

        return np.asarray((self.weights * stdtr(self.dof, -x[:, None] / self.scales)).sum(axis=1))

    def quantile(self, tail: float) -> FloatArray:
        """Distance from the centre that is exceeded with probability ``tail``, below one half.

        Newton's method on the logarithms of both, where heavy tails are straight lines.
        """
        from scipy.special import stdtrit  # noqa: PLC0415 - SciPy is slow to import

        with _ONE_AT_A_TIME:
            x = np.asarray(-stdtrit(self.near_dof, tail) * self.near_scale)
        distribution, rows = self, np.arange(x.size)
        for _ in range(_MOST_STEPS):
            now = x[rows]
            beyond = distribution.tail(now)
            move = np.clip(np.log(beyond / tail) * beyond / (now * distribution._density(now)), -1.0, 1.0)
            x[rows] = now * np.exp(move)
            far = np.abs(move) > _NEAR
            if not far.any():
                break
            distribution, rows = distribution._rows(far), rows[far]
        return x

    def _rows(self, which: npt.NDArray[np.bool_]) -> BehrensFisher:
        arrays = (self.dof, self.weights, self.scales, self.near_dof, self.near_scale)
        return BehrensFisher(*(array[which] if len(array) == which.size else array for array in arrays))

    def _density(self, x: FloatArray) -> FloatArray:
        from scipy.special import betaln  # noqa: PLC0415 - SciPy is slow to import

        k = self.dof
        z = x[:, None] / self.scales
        constant = -betaln(0.5 * k, 0.5) - 0.5 * np.log(k)
        density = np.exp(constant - 0.5 * (k + 1.0) * np.log1p(z * z / k)) / self.scales
        return np.asarray((self.weights * density).sum(axis=1))


def _near(k0: FloatArray, k1: FloatArray, c: FloatArray, middle: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Student distribution with the variance and the fourth moment of the difference, if it has them."""
    total = k0 + k1
    parts = [share * total / np.maximum(k - 2.0, 3.0) for share, k in ((1.0 - c, k0), (c, k1))]
    variance = parts[0] + parts[1]
    heaviness = parts[0] ** 2 / np.maximum(k0 - 4.0, 1.0) + parts[1] ** 2 / np.maximum(k1 - 4.0, 1.0)
    dof = 4.0 + variance**2 / heaviness
    plain = np.minimum(k0, k1) < 5.0  # no such moments
    scale = np.where(plain, _scale(c, middle), np.sqrt(variance * (dof - 2.0) / dof))
    return np.where(plain, total, dof)[:, 0], scale[:, 0]


def _scale(share: FloatArray, logits: FloatArray) -> FloatArray:
    return np.sqrt((1.0 - share) * (1.0 + np.exp(logits)) + share * (1.0 + np.exp(-logits)))


def _drop(k0: FloatArray, k1: FloatArray, middle: FloatArray, logits: FloatArray) -> FloatArray:
    """How far the log density of the logit lies below its highest value, at ``middle``."""
    moved = logits - middle
    rest = -np.logaddexp(0.0, middle)  # log(1 - pi) at the middle
    return 0.5 * (k0 + k1) * np.logaddexp(rest, rest + middle + moved) - 0.5 * k1 * moved


def _reach(k0: FloatArray, k1: FloatArray, middle: FloatArray, step: FloatArray) -> FloatArray:
    """How far from the middle, in the direction of ``step``, the log density has dropped by the depth."""
    reach = step
    for _ in range(math.ceil(math.log(1e6) / math.log(_GROWTH))):
        near = _drop(k0, k1, middle, middle + reach) < _DEPTH
        if not near.any():
            break
        reach = np.where(near, _GROWTH * reach, reach)
    return np.abs(reach)


_CHUNK = 512
_WORK = 1024  # a feature costs about as much as reading this many values


@dataclass(frozen=True, slots=True, eq=False)
class Effects:
    """Effect sizes: direction and size of the difference between two classes, second minus first.

    Parameters
    ----------
    level
        Probability of the intervals, which leave out equal tails.
    mean_difference
        Posterior mean and median of the difference between the class means.
    mean_difference_low, mean_difference_high
        Its credible interval.
    probability_mean_higher, probability_mean_lower
        Probability that the mean is higher (lower) in the second class; each accurate when tiny.
    log_variance_ratio_low, log_variance_ratio_high
        Credible interval of the log ratio of the variances.
    probability_variance_higher, probability_variance_lower
        Probability that the variance is higher (lower) in the second class.
    standardised_difference
        ``mean_difference`` over the root of the mean of the two class variances, each taken at the
        inverse of its expected precision: ``scale / dof``, under Jeffreys' prior the squares over n.
    under_jeffreys
        Whether the classes have Jeffreys' prior here, because the screen puts none on each class.

    Examples
    --------
    >>> import bayesieve as bs
    >>> from bayesieve.posterior.findings.effects import effects
    >>> X = [[0.1], [-0.4], [0.3], [0.8], [1.2], [0.7], [2.1], [1.5]]
    >>> found = effects(bs.screen(X, ["a"] * 4 + ["b"] * 4, model=bs.GaussianModel.proper()))
    >>> found.probability_mean_higher.round(4).tolist()
    [0.9968]
    """

    level: float
    mean_difference: FloatArray
    mean_difference_low: FloatArray
    mean_difference_high: FloatArray
    probability_mean_higher: FloatArray
    probability_mean_lower: FloatArray
    log_variance_ratio_low: FloatArray
    log_variance_ratio_high: FloatArray
    probability_variance_higher: FloatArray
    probability_variance_lower: FloatArray
    standardised_difference: FloatArray
    under_jeffreys: bool = False

    def __post_init__(self) -> None:
        for array in self._arrays().values():
            array.flags.writeable = False

    @property
    def n_features(self) -> int:
        """Number of features."""
        return int(self.mean_difference.size)

    def columns(self, posterior: FeaturePosterior | None = None) -> dict[str, Any]:
        """Columns for the result table, which has the sample's ``mean_difference`` already.

        Examples
        --------
        >>> import bayesieve as bs
        >>> from bayesieve.posterior.findings.effects import effects
        >>> X = [[0.1], [-0.4], [0.3], [1.2], [0.7], [2.1]]
        >>> found = effects(bs.screen(X, [0, 0, 0, 1, 1, 1], model=bs.GaussianModel.proper()))
        >>> [name for name in found.columns() if name.startswith("mean")]
        ['mean_difference_low', 'mean_difference_high']
        """
        inner = ("mean_difference", "probability_mean_lower", "probability_variance_lower")
        return {name: array for name, array in self._arrays().items() if name not in inner}

    def take(self, places: npt.ArrayLike) -> Effects:
        """Some of the features, in the order given.

        Examples
        --------
        >>> import bayesieve as bs
        >>> from bayesieve.posterior.findings.effects import effects
        >>> X = [[0.1, 5.0], [-0.4, 4.0], [0.3, 4.5], [1.2, 4.1], [0.7, 4.4], [2.1, 4.2]]
        >>> found = effects(bs.screen(X, [0, 0, 0, 1, 1, 1], model=bs.GaussianModel.proper()))
        >>> found.take([1]).n_features
        1
        """
        where = np.asarray(places)
        return replace(self, **{name: array[where] for name, array in self._arrays().items()})

    def notes(self) -> list[Message]:
        """Sentences that belong below a table with these columns.

        Examples
        --------
        >>> import bayesieve as bs
        >>> from bayesieve.posterior.findings.effects import effects
        >>> X = [[0.1], [-0.4], [0.3], [1.2], [0.7], [2.1]]
        >>> found = effects(bs.screen(X, [0, 0, 0, 1, 1, 1], model=bs.GaussianModel.proper()))
        >>> found.notes()[0].render()[:29]
        'Intervals hold 95% of the pos'
        """
        text = (
            f"Intervals hold {100 * self.level:g}% of the posterior of a feature whose classes differ; they are "
            "not adjusted for having been selected. Differences are second class minus first."
        )
        if self.under_jeffreys:
            text += " Each class has Jeffreys' prior here, so that the data alone speak."
        return [Message.of(text, kind="effects")]

    def _arrays(self) -> dict[str, FloatArray]:
        plain = ("level", "under_jeffreys")
        return {field.name: getattr(self, field.name) for field in fields(self) if field.name not in plain}


def effects(
    posterior: FeaturePosterior,
    *,
    level: float = 0.95,
    which: npt.ArrayLike | None = None,
    n_threads: int | None = None,
) -> Effects:
    """Directions and effect sizes with credible intervals, from each class's own posterior.

    They describe a feature supposed to be a marker: each class has its own mean and variance. A
    feature that is degenerate in the screen has none (NaN). A :class:`CalibratedModel` has priors on differences
    and none on a class, so that the classes have Jeffreys' prior here: the intervals are those of a screen under
    ``GaussianModel.jeffreys()``.

    Parameters
    ----------
    posterior
        The result of a screen of two classes of Gaussian data.
    level
        Probability of the intervals.
    which
        Features to work on, as indices or a mask; all by default. The others are NaN.
    n_threads
        Threads to use, all cores by default; the result is the same to the last bit.

    Examples
    --------
    >>> import bayesieve as bs
    >>> from bayesieve.posterior.findings.effects import effects
    >>> X = [[0.1], [-0.4], [0.3], [0.8], [1.2], [0.7], [2.1], [1.5]]
    >>> found = effects(bs.screen(X, ["a"] * 4 + ["b"] * 4, model=bs.GaussianModel.proper()))
    >>> round(float(found.mean_difference_low[0]), 3), round(float(found.mean_difference_high[0]), 3)
    (0.403, 1.9)
    """
    tail = _check_tail(level)
    moments = gaussian_moments(posterior)
    name = type(posterior.model).__name__
    posterior.model.require("moments", f"Effects need a GaussianModel; this screen used {name}.")
    model = model_of_classes(posterior.model)
    distributions = _class_distributions(model, moments)
    chosen = np.zeros(moments.n_features, dtype=bool)
    try:
        chosen[slice(None) if which is None else np.asarray(which)] = True
    except IndexError:
        raise OptionError(f"which={which!r} names a feature that is not there; there are {chosen.size}.") from None
    chosen &= ~posterior.degenerate
    for value in (*distributions[0], *distributions[1]):
        chosen &= np.greater(value, 0)
    places = np.flatnonzero(chosen)
    (dof0, scale0, strength0), (dof1, scale1, strength1) = (
        tuple(value[places] if np.ndim(value) and np.size(value) > 1 else value for value in distribution)
        for distribution in distributions
    )
    difference = _difference(model, moments)[places]
    found = _means(difference, (dof0, dof1), (scale0 / strength0, scale1 / strength1), tail, n_threads)
    found |= _variances((dof0, dof1), (scale0, scale1), tail)
    found["standardised_difference"] = difference / np.sqrt(0.5 * (scale0 / dof0 + scale1 / dof1))
    spread: dict[str, FloatArray] = {name: np.full(moments.n_features, np.nan) for name in found}
    for name, values in found.items():
        spread[name][places] = values
    return Effects(level=1.0 - 2.0 * tail, under_jeffreys=model is not posterior.model, **spread)


def _check_tail(level: Any) -> float:
    if isinstance(level, bool) or not isinstance(level, (int, float)) or not 0.0 < level < 1.0:
        raise OptionError(f"level must lie between 0 and 1, for example 0.95, not {level!r}.")
    return 0.5 * (1.0 - float(level))


def _class_distributions(model: GaussianModel, moments: Moments) -> list[tuple[Any, Any, Any]]:
    """Degrees of freedom, scale and strength of each class's posterior."""
    distributions = []
    for k, label in enumerate(moments.classes):
        dof, scale, strength, _ = model.prior_of(k, 2).updated_values(moments.group(label))
        distributions.append(
            (np.atleast_1d(dof), np.broadcast_to(scale, (moments.n_features,)), np.atleast_1d(strength))
        )
    return distributions


def _difference(model: GaussianModel, moments: Moments) -> FloatArray:
    """Posterior mean of the difference; where priors are flat, with the digits that rounding took."""
    priors = [model.prior_of(k, 2) for k in range(2)]
    if not any(any_nonzero(prior.mean_strength) for prior in priors):
        return moments.mean_difference
    groups = zip(priors, (moments.group(label) for label in moments.classes), strict=True)
    first, second = (prior.updated_values(group)[3] for prior, group in groups)
    return np.asarray(second - first)


def _variances(dofs: tuple[Any, Any], scales: tuple[Any, Any], tail: float) -> dict[str, FloatArray]:
    """F distribution of the variance ratio: logit of a beta variable, moved by the log ratio of the scales."""
    from scipy.special import betainc, fdtri  # noqa: PLC0415 - SciPy is slow to import

    a0, a1 = 0.5 * dofs[0], 0.5 * dofs[1]
    centre, whole = np.log(scales[1]) - np.log(scales[0]), scales[0] + scales[1]
    return {
        "log_variance_ratio_low": centre + np.log(fdtri(2 * a0, 2 * a1, tail) * (a0 / a1)),
        "log_variance_ratio_high": centre - np.log(fdtri(2 * a1, 2 * a0, tail) * (a1 / a0)),
        "probability_variance_higher": betainc(a1, a0, scales[1] / whole),
        "probability_variance_lower": betainc(a0, a1, scales[0] / whole),
    }


def _means(
    difference: FloatArray, dofs: tuple[Any, Any], spreads: tuple[Any, Any], tail: float, n_threads: int | None
) -> dict[str, FloatArray]:
    """Distribution of the difference of the means, in units of the root of the two spreads together."""
    n = difference.size
    unit = np.sqrt((spreads[0] + spreads[1]) / (dofs[0] + dofs[1]))
    distance, share = np.abs(difference) / unit, spreads[1] / (spreads[0] + spreads[1])
    beyond, quantile = np.empty(n), np.empty(n)

    def work(first: int) -> None:
        part = slice(first, first + _CHUNK)
        dof0, dof1 = (dof[part] if dof.size > 1 else dof for dof in dofs)
        distribution = BehrensFisher.of(dof0, dof1, share[part])
        beyond[part] = distribution.tail(distance[part])
        quantile[part] = distribution.quantile(tail)

    for_each(work, range(0, n, _CHUNK), n_threads_for(n_threads, _WORK * n))
    higher = np.where(difference >= 0, 1.0 - beyond, beyond)
    lower = np.where(difference >= 0, beyond, 1.0 - beyond)
    return {
        "mean_difference": difference,
        "mean_difference_low": difference - unit * quantile,
        "mean_difference_high": difference + unit * quantile,
        "probability_mean_higher": higher,
        "probability_mean_lower": lower,
    }
