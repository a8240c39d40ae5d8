r"""Four ways two Gaussian classes can relate: the same, or different in mean, in variance, or in both.

This is a model of its own, beside the two-way model of section 2.2. It always works under the
improper prior :math:`d\mu\,\sigma^{-1/2}\,d\sigma/\sigma` (:math:`\sigma` is the variance), so that
every mean and every variance a hypothesis has more than another needs a constant. Balanced
fractional Bayes factors with :math:`b = 4/n` give :math:`(2\pi)^{-1/2}` for a mean and
:math:`1/4` for a variance; their product, 0.0997, is close to the paper's :math:`L = 0.1`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from bayesieve.models.evidences import Evidences, Term
from bayesieve.models.gaussian.gaussian import GaussianEvidences, GaussianModel
from bayesieve.models.gaussian.variance_ratio import log_ratio_integral
from bayesieve.models.model import DIFFERENCES
from bayesieve.models.patterns import Patterns
from bayesieve.stats import Moments
from bayesieve.utils import FloatArray, LabelError, PriorError, Wording, check_choice, option

MEAN_CONSTANT = 1.0 / math.sqrt(2.0 * math.pi)
VARIANCE_CONSTANT = 0.25

_LOG_2PI = math.log(2.0 * math.pi)


def log_evidence_of_kinds(
    moments: Moments,
    *,
    mean_constant: float = MEAN_CONSTANT,
    variance_constant: float = VARIANCE_CONSTANT,
    n_threads: int | None = None,
) -> FloatArray:
    r"""Log evidence of same, mean only, variance only and both, each over that of same.

    With :math:`n = n_0 + n_1`, class centred squares :math:`S_y`, pooled ones :math:`S`, the
    difference of means :math:`d` and :math:`\rho = e^t`:

    .. math::
        \frac{E_{mean}}{E_{same}} &= c_m \sqrt{\frac{2\pi n}{n_0 n_1}}
            \left(\frac{S_0 + S_1}{S}\right)^{-n/2} \\
        \frac{E_{variance}}{E_{same}} &= c_v \int dt\; \rho^{-n_1/2} \left[\frac{S_0 + S_1/\rho
            + d^2 / (1/n_0 + \rho/n_1)}{S}\right]^{-n/2} \\
        \frac{E_{both}}{E_{same}} &= c_m c_v\, \frac{p(S_0)\, p(S_1)}{p(S)}

    Variance only has one mean and two variances. Its mean has the prior density
    :math:`\sqrt{(n_0/\sigma_0 + n_1/\sigma_1)/n}\; d\mu`, the square root of the average precision:
    that of same when the variances are equal, and such that shifting or rescaling the data
    changes no ratio.

    Parameters
    ----------
    moments
        Moments of two classes.
    mean_constant, variance_constant
        :math:`c_m` and :math:`c_v`: the factor of a second mean, and of a second variance.
    n_threads
        Threads to use, all cores by default; the result is the same to the last bit.

    Returns
    -------
    numpy.ndarray
        Shape ``(4, n_features)``, the first row 0. NaN where a class has fewer than two values or
        no spread, which this prior cannot judge.
    """
    log_mean = math.log(_check_constant("mean_constant", mean_constant))
    log_variance = math.log(_check_constant("variance_constant", variance_constant))
    if len(moments.classes) != 2:
        raise LabelError(
            f"Kinds of difference are told apart between two classes, but there are {len(moments.classes)}: "
            f"{list(moments.classes)!r}. Pick two of them with moments.pick(...)."
        )
    defined = kinds_defined(moments)
    usable = _with_spread(moments, defined)
    d, squares = usable.mean_difference, usable.centred_squares
    n0, n1 = usable.counts.astype(np.float64)
    within = squares[0] + squares[1]
    log_shift = 0.5 * (n0 + n1) * np.log1p(n0 * n1 / (n0 + n1) * (d * d / within))
    ratio = log_ratio_integral(squares, usable.counts[None], d[None], free_shift=False, n_threads=n_threads)
    result = np.zeros((4, moments.n_features))
    result[1] = log_mean + 0.5 * (_LOG_2PI + np.log((n0 + n1) / (n0 * n1))) + log_shift
    result[2] = log_variance + ratio
    result[3] = log_mean + log_variance + GaussianModel.jeffreys(1.0).log_bayes_factor(usable)
    result[:, ~defined] = np.nan
    return result


@dataclass(frozen=True, slots=True, eq=False)
class KindModel(GaussianModel):
    """Jeffreys' prior when differences of one kind alone make a marker of two classes.

    Parameters
    ----------
    difference
        ``"mean"``, whether or not variances differ, or ``"variance"``, whether or not means do.
    """

    difference: str = "mean"

    def __post_init__(self) -> None:
        GaussianModel.__post_init__(self)
        check_choice("difference", self.difference, DIFFERENCES[1:])
        if not self.has_jeffreys_priors:
            raise PriorError(
                option("difference", self.difference),
                " is asked under the calibrated or Jeffreys' prior: a prior of the mean and variance of each "
                "class says nothing of classes that share one of the two.",
                hint=("Leave ", Wording("the model", "--prior"), " out."),
                kind="capability",
            )

    def evidences(self, statistics: Any) -> KindEvidences:
        """Prepare the log Bayes factor of the two classes."""
        return KindEvidences(self, statistics)

    @property
    def is_jeffreys(self) -> bool:
        """Log-odds do not depend on the data through lambda alone."""
        return False

    def supports(self, capability: str) -> bool:
        """Whether the model supports something: what rests on lambda, or on evidences of groups, it does not."""
        return capability not in ("leave-one-out", "joint") and GaussianModel.supports(self, capability)


class KindEvidences(GaussianEvidences):
    r"""Two classes that differ in mean against classes that do not, or in variance against classes that do not.

    What is not asked about may differ or not under both hypotheses, with equal probability:

    .. math::
        BF_{mean} = \frac{E_{mean} + E_{both}}{E_{same} + E_{variance}} \qquad
        BF_{variance} = \frac{E_{variance} + E_{both}}{E_{same} + E_{mean}}

    The paper's L is the constant of a further mean and a further variance at once. What is not asked about keeps
    its own, :math:`c_v = 1/4` or :math:`c_m = (2\pi)^{-1/2}`, and what is asked about has the rest:
    :math:`c_m = 4 L`, or :math:`c_v = \sqrt{2\pi} L`. So all log Bayes factors move with log L, as they do when
    any difference counts.
    """

    __slots__ = ("_asked",)

    def __init__(self, model: KindModel, moments: Moments) -> None:
        super().__init__(model, moments)
        self._asked = model.difference

    def pattern(self, groups: Sequence[tuple[int, ...]]) -> FloatArray:
        """Log Bayes factor of the two classes."""
        del groups
        kinds = log_evidence_of_kinds(self._moments, mean_constant=1.0, variance_constant=1.0)
        _, mean, variance, both = kinds
        if self._asked == "mean":
            asked, other, aside = mean, variance, math.log(VARIANCE_CONSTANT)
        else:
            asked, other, aside = variance, mean, math.log(MEAN_CONSTANT)
        log_ratio = self.log_constant(2) - aside
        return np.asarray(log_ratio + np.logaddexp(asked, both + aside) - np.logaddexp(0.0, other + aside))

    def terms(self, patterns: Patterns) -> list[Term]:
        """One term: the hypotheses are no products over groups."""
        return Evidences.terms(self, patterns)


def kinds_defined(moments: Moments) -> npt.NDArray[np.bool_]:
    """Features whose classes have at least two values and some spread each."""
    return np.asarray(((moments.counts >= 2) & (moments.centred_squares > 0)).all(axis=0))


def _with_spread(moments: Moments, defined: npt.NDArray[np.bool_]) -> Moments:
    """Moments in which what is not defined holds harmless numbers."""
    if defined.all():
        return moments
    count = np.where(defined, moments.counts, 2)
    squares = np.where(defined, moments.centred_squares, 1.0)
    assert moments.residual is not None
    mean, residual = (np.where(defined, array, 0.0) for array in (moments.mean, moments.residual))
    return Moments(moments.classes, count, mean, squares, residual)


def _check_constant(name: str, value: Any) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise PriorError(f"{name} must be a positive number, not {value!r}.") from None
    if not (math.isfinite(number) and number > 0):
        raise PriorError(
            f"{name} must be a positive number, not {value!r}. It weighs a hypothesis with one parameter more, "
            "which an improper prior leaves open; leave it out for the documented value."
        )
    return number
