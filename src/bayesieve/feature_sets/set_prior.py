r"""SetPrior: what is believed about the set of markers before the data, :math:`p(G)` of section 2.1.

A set of features is written as a bit mask: feature ``f`` belongs to set ``g`` if bit ``f`` of ``g`` is 1,
so that an array of :math:`2^{|F|}` numbers holds one for every set.
"""

from __future__ import annotations

import abc
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from bayesieve.errors import PriorError
from bayesieve.feature_sets.given import check_number, given_for_sets, positions
from bayesieve.feature_sets.masks import log_sum, mask_of

FloatArray = npt.NDArray[np.float64]


class SetPrior(abc.ABC):
    r"""A prior over sets of features.

    Subclasses say :meth:`log_weights`; weights need not add up to 1.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve.feature_sets.set_prior import SetPrior
    >>> class AllEqual(SetPrior):
    ...     def log_weights(self, n_features):
    ...         return np.zeros(2**n_features)
    >>> np.exp(AllEqual().log_probability(2)).tolist()
    [0.25, 0.25, 0.25, 0.25]
    """

    @abc.abstractmethod
    def log_weights(self, n_features: int) -> FloatArray:
        """Log weight of every set, by bit mask; minus infinity for a set that is impossible.

        Examples
        --------
        >>> import bayesieve as bs
        >>> bs.SetTable({(): 1.0, (1,): 1.0}).log_weights(2).tolist()
        [0.0, -inf, 0.0, -inf]
        """

    def log_probability(self, n_features: int) -> FloatArray:
        """Log prior probability of every set, by bit mask.

        Examples
        --------
        >>> import numpy as np
        >>> import bayesieve as bs
        >>> prior = bs.SizePrior.fixed(1).given(non_markers=[2])
        >>> np.exp(prior.log_probability(3)).round(6).tolist()
        [0.0, 0.5, 0.5, 0.0, 0.0, 0.0, 0.0, 0.0]
        """
        check_number(n_features)
        log_weights = np.asarray(self.log_weights(n_features))
        if log_weights.shape != (2**n_features,):
            raise PriorError(
                f"A prior over the sets of {n_features} features needs {2**n_features:,} log weights, by bit "
                f"mask; {type(self).__name__} gave an array of shape {log_weights.shape}."
            )
        if n_features:
            log_weights = given_for_sets(log_weights, "log weight", PriorError)
        total = log_sum(log_weights)
        if total == -np.inf:
            raise PriorError("The prior gives every set of features the probability 0.")
        return np.asarray(log_weights - total)

    def given(self, *, markers: Iterable[int] = (), non_markers: Iterable[int] = ()) -> SetPrior:
        """Condition on features known to be markers, or known not to be; by their positions.

        Examples
        --------
        >>> import numpy as np
        >>> import bayesieve as bs
        >>> prior = bs.SizePrior.fixed(2).given(markers=[0])
        >>> np.exp(prior.log_probability(3)).round(6).tolist()
        [0.0, 0.0, 0.0, 0.5, 0.0, 0.5, 0.0, 0.0]
        """
        return Conditioned(self, positions(markers), positions(non_markers))


@dataclass(frozen=True, slots=True)
class Conditioned(SetPrior):
    r"""A prior given what is known about some features, :math:`p(G \mid K \subseteq \bar G)`.

    Parameters
    ----------
    prior
        The prior before.
    markers, non_markers
        Positions of features whose status is known.

    Examples
    --------
    >>> import bayesieve as bs
    >>> bs.SizePrior.fixed(1).given(markers=[1]).log_probability(2).tolist()
    [-inf, -inf, 0.0, -inf]
    """

    prior: SetPrior
    markers: tuple[int, ...]
    non_markers: tuple[int, ...] = ()

    def log_weights(self, n_features: int) -> FloatArray:
        """Log weight of every set, by bit mask."""
        check_number(n_features)
        for f in (*self.markers, *self.non_markers):
            if f >= n_features:
                raise PriorError(f"There is no feature at position {f}: there are {n_features}, counted from 0.")
        if both := set(self.markers) & set(self.non_markers):
            raise PriorError(f"Feature {min(both)} cannot be known as a marker and as none.")
        needed, barred = mask_of(self.markers), mask_of(self.non_markers)
        sets = np.arange(2**n_features)
        possible = ((sets & needed) == needed) & ((sets & barred) == 0)
        return np.where(possible, self.prior.log_weights(n_features), -np.inf)
