"""Lists with a bounded share of false discoveries, on average or with a guarantee."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from bayesieve.errors import RuleError
from bayesieve.posterior import FeaturePosterior
from bayesieve.posterior.poisson_binomial import convolve_coin
from bayesieve.selection.bounds import within_share
from bayesieve.selection.selection import Selection, checked_posterior, prefix
from bayesieve.stats.compiled import compiled


@dataclass(frozen=True, slots=True)
class FalseDiscovery:
    r"""The longest list whose share of false discoveries stays below a proportion.

    Parameters
    ----------
    proportion
        Largest share of non-markers in the list.
    confidence
        None: the *expected* share is bounded, and the list is the longest prefix of the ranking for
        which it is. A probability: the share is below ``proportion`` with at least this posterior
        probability, :math:`P(FP_k \le \lfloor \text{proportion} \cdot k \rfloor) \ge` ``confidence``,
        and the list is the longest prefix for which that holds.

    Examples
    --------
    >>> import bayesieve as bs
    >>> X = [[0.1, 5.0], [-0.4, 4.1], [0.3, 5.2], [6.8, 4.7], [7.7, 4.4], [8.1, 4.6]]
    >>> posterior = bs.screen(X, [0, 0, 0, 1, 1, 1], model=bs.GaussianModel.proper(), prior_probability=0.1)
    >>> bs.FalseDiscovery(0.1).select(posterior).names
    ('x0',)
    >>> bs.FalseDiscovery(0.1, confidence=0.9).select(posterior).names
    ('x0',)
    """

    proportion: float
    confidence: float | None = None

    def __post_init__(self) -> None:
        for name in ("proportion", "confidence"):
            value = getattr(self, name)
            if value is None and name == "confidence":
                continue
            if isinstance(value, bool) or not isinstance(value, (int, float, np.number)) or not 0 <= value <= 1:
                raise RuleError(f"{name} must lie between 0 and 1, not {value!r}.")

    def select(self, posterior: FeaturePosterior) -> Selection:
        """Select the longest list that keeps the bound.

        Examples
        --------
        >>> import bayesieve as bs
        >>> X = [[0.1, 5.0], [-0.4, 4.1], [0.3, 5.2], [6.8, 4.7], [7.7, 4.4], [8.1, 4.6]]
        >>> posterior = bs.screen(X, [0, 0, 0, 1, 1, 1], model=bs.GaussianModel.proper(), prior_probability=0.1)
        >>> bs.FalseDiscovery(0.5).select(posterior).n_selected
        2
        """
        null = checked_posterior(posterior).null_probability[posterior.ranking]
        if self.confidence is None:
            number = np.arange(1, null.size + 1)
            allowed = within_share(np.cumsum(null), number, self.proportion)
            size = int(np.flatnonzero(allowed).max(initial=-1)) + 1
            return prefix(posterior, size, f"expected false-discovery rate at most {self.proportion:g}")
        marker = posterior.probability[posterior.ranking]
        size = _longest_sure_prefix(null, marker, self.proportion, self.confidence)
        rule = f"false-discovery proportion at most {self.proportion:g} with probability {self.confidence:g}"
        return prefix(posterior, size, rule)


@compiled()
def _longest_sure_prefix(null: Any, marker: Any, proportion: float, confidence: float) -> int:
    """Try every prefix: the condition is not monotone in its length."""
    mass = np.zeros(null.shape[0] + 2)
    mass[0] = 1.0
    low, high, longest = 0, 1, 0
    for i in range(null.shape[0]):
        low, high = convolve_coin(mass, low, high, null[i], marker[i])
        allowed = math.floor(proportion * (i + 1) + 1e-9)
        reached = 0.0 if allowed < low else 1.0
        if low <= allowed < high - 1:
            reached = mass[low : allowed + 1].sum()
        if reached >= confidence:
            longest = i + 1
    return longest
