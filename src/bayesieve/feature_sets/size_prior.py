r"""SizePrior: a prior that depends on the number of markers only.

With :math:`p_k` the probability of :math:`k` markers among :math:`n` features, every set of :math:`k`
has the probability :math:`p_k / \binom{n}{k}`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from bayesieve.errors import PriorError
from bayesieve.feature_sets.given import check_number, checked_whole, is_number, is_whole
from bayesieve.feature_sets.masks import log_sum, set_sizes
from bayesieve.feature_sets.set_prior import SetPrior
from bayesieve.feature_sets.size_laws import (
    AtMost,
    BetaBinomial,
    Binomial,
    Fixed,
    Function,
    SizeLaw,
    Table,
    checked_weights,
    log_choose,
)
from bayesieve.models import GaussianModel, Model
from bayesieve.posterior import CountLaw
from bayesieve.posterior.finding import PriorRemark

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class SizePrior(SetPrior):
    r"""A prior on the number of markers; all sets of one size are equally probable.

    Parameters
    ----------
    law
        Weights of 0, 1, 2, ... markers, zero beyond the last; or a function that returns the weight of a
        number of markers. Weights need not add up to 1. For laws with a name see :meth:`uniform`,
        :meth:`beta_binomial`, :meth:`binomial`, :meth:`fixed` and :meth:`at_most`.

    Examples
    --------
    >>> import numpy as np
    >>> import bayesieve as bs
    >>> prior = bs.SizePrior([0.5, 0.3, 0.2])
    >>> np.exp(prior.log_sizes(3)).round(6).tolist()
    [0.5, 0.3, 0.2, 0.0]
    >>> np.exp(prior.log_probability(3)).round(6).tolist()
    [0.5, 0.1, 0.1, 0.066667, 0.1, 0.066667, 0.066667, 0.0]
    >>> round(bs.SizePrior(lambda k: 0.5**k).prior_probability(2), 6)
    0.285714
    """

    law: Any

    def __post_init__(self) -> None:
        law = self.law
        if isinstance(law, SizeLaw):
            return
        object.__setattr__(self, "law", Function(law) if callable(law) else Table(checked_weights(law)))

    @classmethod
    def fixed(cls, size: int) -> SizePrior:
        """Exactly this many markers.

        Examples
        --------
        >>> import bayesieve as bs
        >>> bs.SizePrior.fixed(2).log_sizes(3).tolist()
        [-inf, -inf, 0.0, -inf]
        """
        return cls(Fixed(_whole(size)))

    @classmethod
    def at_most(cls, size: int) -> SizePrior:
        """Up to this many markers, each number equally probable.

        Examples
        --------
        >>> import numpy as np
        >>> import bayesieve as bs
        >>> np.exp(bs.SizePrior.at_most(1).log_sizes(3)).round(6).tolist()
        [0.5, 0.5, 0.0, 0.0]
        """
        return cls(AtMost(_whole(size)))

    @classmethod
    def binomial(cls, prior_probability: float) -> SizePrior:
        """Independent features with one prior probability: what :func:`bayesieve.screen` supposes.

        Examples
        --------
        >>> import numpy as np
        >>> import bayesieve as bs
        >>> np.exp(bs.SizePrior.binomial(0.5).log_sizes(2)).round(6).tolist()
        [0.25, 0.5, 0.25]
        """
        if not _real(prior_probability) or not 0 <= prior_probability <= 1:
            raise PriorError(f"prior_probability must lie between 0 and 1, not {prior_probability!r}.")
        return cls(Binomial(float(prior_probability)))

    @classmethod
    def beta_binomial(cls, a: float, b: float) -> SizePrior:
        r"""Independent features whose prior probability is unknown and follows a Beta(a, b) law.

        Examples
        --------
        >>> import bayesieve as bs
        >>> round(bs.SizePrior.beta_binomial(1, 99).prior_probability(500), 9)
        0.01
        """
        if not all(_real(value) and 0 < value < math.inf for value in (a, b)):
            raise PriorError(f"a and b of a beta-binomial prior must be positive numbers, not {a!r} and {b!r}.")
        return cls(BetaBinomial(float(a), float(b)))

    @classmethod
    def uniform(cls) -> SizePrior:
        """Every number of markers equally probable, the same as ``beta_binomial(1, 1)``.

        Examples
        --------
        >>> import numpy as np
        >>> import bayesieve as bs
        >>> np.exp(bs.SizePrior.uniform().log_sizes(3)).round(6).tolist()
        [0.25, 0.25, 0.25, 0.25]
        """
        return cls.beta_binomial(1.0, 1.0)

    def log_per_set(self, n_features: int) -> FloatArray:
        r"""Log probability of one set of :math:`k = 0, ..., n` markers, :math:`\log p_k - \log \binom{n}{k}`.

        Examples
        --------
        >>> import numpy as np
        >>> import bayesieve as bs
        >>> np.exp(bs.SizePrior.uniform().log_per_set(2)).round(6).tolist()
        [0.333333, 0.166667, 0.333333]
        """
        checked_whole("n_features", n_features)
        weights = self.law.log_per_set(n_features)
        total = log_sum(weights + log_choose(n_features))
        if total == -np.inf:
            raise PriorError(f"The prior on the number of markers gives no weight to 0 to {n_features} markers.")
        return np.asarray(weights - total, dtype=np.float64)

    def log_sizes(self, n_features: int) -> FloatArray:
        """Log probability of every number of markers, from 0 to ``n_features``.

        Examples
        --------
        >>> import bayesieve as bs
        >>> bs.SizePrior.fixed(0).log_sizes(1).tolist()
        [0.0, -inf]
        """
        return self.log_per_set(n_features) + log_choose(n_features)

    def log_weights(self, n_features: int) -> FloatArray:
        """Log probability of every set, by bit mask.

        Examples
        --------
        >>> import numpy as np
        >>> import bayesieve as bs
        >>> np.exp(bs.SizePrior.fixed(1).log_weights(2)).round(6).tolist()
        [0.0, 0.5, 0.5, 0.0]
        """
        check_number(n_features)
        return self.log_per_set(n_features)[set_sizes(n_features)]

    def prior_probability(self, n_features: int) -> float:
        """Prior probability that any one feature is a marker: the expected share of markers.

        Examples
        --------
        >>> import bayesieve as bs
        >>> bs.SizePrior.fixed(5).prior_probability(100)
        0.05
        """
        checked_whole("n_features", n_features, 1)
        share = np.arange(n_features + 1) / n_features
        return float(share @ np.exp(self.log_sizes(n_features)))

    @property
    def words(self) -> str:
        """The prior in words."""
        return str(self.law.words)


def about_size(prior: SizePrior, law: CountLaw, model: Model) -> PriorRemark:
    """Say what was believed about the number of markers, and what is believed now.

    Examples
    --------
    >>> import bayesieve as bs
    >>> from bayesieve.feature_sets.size_prior import about_size
    >>> law, model = bs.CountLaw.of_masses([0.0] * 7 + [1.0]), bs.GaussianModel.proper()
    >>> about_size(bs.SizePrior.fixed(7), law, model).sentences[0]
    'The prior is on the number of markers: exactly 7 markers. Given the data 7.0 are expected, with a 90% interval
    of 7 to 7.'
    """
    low, high = law.interval(0.9)
    number = f"Given the data {law.mean:,.1f} are expected, with a 90% interval of {low:,} to {high:,}."
    dependent = "Under this prior features are not independent: ask false_positives() of the size posterior."
    said = [f"The prior is on the number of markers: {prior.words}. {number}", dependent]
    if isinstance(model, GaussianModel) and not model.is_proper:
        said.append(
            "Under an improper prior the number of markers is one given its prior_ratio: another ratio, another "
            "number."
        )
    return PriorRemark(tuple(said))


def _real(value: Any) -> bool:
    return is_number(value) and not isinstance(value, (bool, np.bool_))


def _whole(size: Any) -> int:
    if not is_whole(size) or size < 0:
        raise PriorError(f"A number of markers must be a whole number of at least 0, not {size!r}.")
    return int(size)
