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
from scipy.special import logsumexp

from bayesieve.errors import PriorError
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
        if not _number(prior_probability) or not 0 <= prior_probability <= 1:
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
        if not all(_number(value) and 0 < value < math.inf for value in (a, b)):
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
        weights = self.law.log_per_set(n_features)
        total = logsumexp(weights + log_choose(n_features))
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
        sizes = np.zeros(1, dtype=np.intp)
        for _ in range(n_features):
            sizes = np.concatenate([sizes, sizes + 1])
        return self.log_per_set(n_features)[sizes]

    def prior_probability(self, n_features: int) -> float:
        """Prior probability that any one feature is a marker: the expected share of markers.

        Examples
        --------
        >>> import bayesieve as bs
        >>> bs.SizePrior.fixed(5).prior_probability(100)
        0.05
        """
        if n_features < 1:
            raise PriorError("A share of markers needs at least one feature.")
        share = np.arange(n_features + 1) / n_features
        return float(share @ np.exp(self.log_sizes(n_features)))

    @property
    def words(self) -> str:
        """The prior in words."""
        return str(self.law.words)


def _number(value: Any) -> bool:
    return isinstance(value, (int, float, np.number)) and not isinstance(value, bool)


def _whole(size: Any) -> int:
    if isinstance(size, bool) or not isinstance(size, (int, np.integer)) or size < 0:
        raise PriorError(f"A number of markers must be a whole number of at least 0, not {size!r}.")
    return int(size)
