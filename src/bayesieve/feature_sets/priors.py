"""Priors over sets of features: independent, on a graph, from a table, from a function (section 2.1)."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from bayesieve.errors import PriorError
from bayesieve.feature_sets.masks import mask_of, members, sums_over_sets
from bayesieve.feature_sets.set_prior import FloatArray, SetPrior
from bayesieve.posterior.logistic import checked_log_odds


@dataclass(frozen=True, slots=True, eq=False)
class ProductPrior(SetPrior):
    r"""Every feature is a marker independently of the others, :math:`\prod_G \pi(g) \prod_B (1 - \pi(b))`, (2.9).

    Parameters
    ----------
    prior_probability
        A number or one per feature; 0 and 1 are allowed.

    Examples
    --------
    >>> import numpy as np
    >>> import bayesieve as bs
    >>> np.exp(bs.ProductPrior([0.5, 0.1]).log_probability(2)).round(6).tolist()
    [0.45, 0.45, 0.05, 0.05]
    """

    prior_probability: npt.ArrayLike

    def __post_init__(self) -> None:
        checked_log_odds(self.prior_probability, np.size(self.prior_probability))
        given = np.array(self.prior_probability, dtype=np.float64)
        given.flags.writeable = False
        object.__setattr__(self, "prior_probability", given if given.ndim else float(given))

    def log_weights(self, n_features: int) -> FloatArray:
        """Log probability of every set, by bit mask.

        Examples
        --------
        >>> import bayesieve as bs
        >>> bs.ProductPrior(0.5).log_weights(1).round(6).tolist()
        [-0.693147, -0.693147]
        """
        checked_log_odds(self.prior_probability, n_features)  # raises unless there is one, or one per feature
        p = np.broadcast_to(np.asarray(self.prior_probability, dtype=np.float64), (n_features,))
        with np.errstate(divide="ignore"):
            return sums_over_sets(np.log(p), np.log1p(-p))


@dataclass(frozen=True, slots=True, eq=False)
class IsingPrior(SetPrior):
    r"""Neighbours in a graph tend to be markers together: :math:`\sum_{f \in G} a_f + \sum_{f \sim f'} c_{ff'}`.

    The second sum goes over the edges with both ends in the set; the log probability is this up to a constant.

    Parameters
    ----------
    field
        :math:`a`, a number or one per feature: the prior log-odds of a feature whose neighbours are no markers.
    coupling
        :math:`c`, a number or one per edge: what a neighbour among the markers adds to them. Negative
        couplings keep neighbours apart.
    edges
        Pairs of positions.

    Examples
    --------
    >>> import numpy as np
    >>> import bayesieve as bs
    >>> prior = bs.IsingPrior(field=-1.0, coupling=1.0, edges=[(0, 1)])
    >>> prior.log_weights(3)[[0b001, 0b011, 0b101]].tolist()
    [-1.0, -1.0, -2.0]
    """

    field: npt.ArrayLike
    coupling: npt.ArrayLike
    edges: Iterable[tuple[int, int]]

    def __post_init__(self) -> None:
        edges = tuple(_edge(edge) for edge in self.edges)
        if len(set(edges)) < len(edges):
            twice = next(edge for edge in edges if edges.count(edge) > 1)
            raise PriorError(f"The edge between features {twice[1]} and {twice[0]} is given more than once.")
        object.__setattr__(self, "edges", edges)
        object.__setattr__(self, "coupling", _numbers("coupling", self.coupling, len(edges), "edge"))

    def log_weights(self, n_features: int) -> FloatArray:
        """Log weight of every set, by bit mask.

        Examples
        --------
        >>> import bayesieve as bs
        >>> bs.IsingPrior(0.0, 2.0, [(0, 1)]).log_weights(2).tolist()
        [0.0, 0.0, 0.0, 2.0]
        """
        field = _numbers("field", self.field, n_features, "feature")
        among = np.zeros((n_features, n_features))
        for (high, low), c in zip(self.edges, np.asarray(self.coupling).tolist(), strict=True):
            if high >= n_features:
                raise PriorError(f"An edge ends at feature {high}, but there are {n_features}, counted from 0.")
            among[high, low] = c
        weights = np.zeros(1)
        for f in range(n_features):
            weights = np.concatenate((weights, weights + (field[f] + sums_over_sets(among[f, :f]))))
        return weights


@dataclass(frozen=True, slots=True, eq=False)
class SetTable(SetPrior):
    """A weight for each set that is possible; sets that are not named have probability 0.

    Parameters
    ----------
    weights
        From sets of positions, such as ``(0, 2)``, to weights; they need not add up to 1.

    Examples
    --------
    >>> import numpy as np
    >>> import bayesieve as bs
    >>> np.exp(bs.SetTable({(): 1.0, (0, 1): 3.0}).log_probability(2)).round(6).tolist()
    [0.25, 0.0, 0.0, 0.75]
    """

    weights: Mapping[Iterable[int], float]

    def __post_init__(self) -> None:
        table: dict[frozenset[int], float] = {}
        for key, weight in dict(self.weights).items():
            named = _positions(key)
            if named in table:
                raise PriorError(f"The set {_written(named)} is given more than once.")
            if not _is_number(weight) or not 0 <= weight < math.inf:
                raise PriorError(f"The set {_written(named)} has the weight {weight!r}; weights are at least 0.")
            table[named] = float(weight)
        object.__setattr__(self, "weights", table)

    def log_weights(self, n_features: int) -> FloatArray:
        """Log weight of every set, by bit mask.

        Examples
        --------
        >>> import bayesieve as bs
        >>> bs.SetTable({(0,): 1.0}).log_weights(1).tolist()
        [-inf, 0.0]
        """
        weights = np.zeros(2**n_features)
        for named, weight in self.weights.items():
            if max(named, default=-1) >= n_features:
                raise PriorError(
                    f"The set {_written(named)} holds feature {max(named)}, but there are {n_features}, counted "
                    "from 0."
                )
            weights[mask_of(named)] = weight
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(weights))


@dataclass(frozen=True, slots=True, eq=False)
class CallablePrior(SetPrior):
    """Any function of a set of positions.

    Parameters
    ----------
    function
        From a frozenset of positions to a weight; called once for every set.
    log
        The function returns log weights.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve.feature_sets.priors import CallablePrior
    >>> at_most_one = CallablePrior(lambda features: len(features) <= 1)
    >>> np.exp(at_most_one.log_probability(2)).round(6).tolist()
    [0.333333, 0.333333, 0.333333, 0.0]
    """

    function: Callable[[frozenset[int]], float]
    log: bool = False

    def log_weights(self, n_features: int) -> FloatArray:
        """Log weight of every set, by bit mask.

        Examples
        --------
        >>> from bayesieve.feature_sets.priors import CallablePrior
        >>> CallablePrior(lambda features: 1.0 - 2.0 * len(features), log=True).log_weights(1).tolist()
        [1.0, -1.0]
        """
        values = numbers_of_sets(self.function, n_features, "prior")
        if self.log:
            return values
        if not (values >= 0).all():
            first = members(int(np.flatnonzero(~(values >= 0))[0]))
            raise PriorError(
                f"The prior function gave the set {_written(first)} a weight below 0. Weights are at least 0; for "
                "log weights say log=True."
            )
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(values))


def numbers_of_sets(function: Callable[[frozenset[int]], Any], n_features: int, what: str) -> FloatArray:
    """Ask a function for a number for every set, by bit mask.

    Examples
    --------
    >>> from bayesieve.feature_sets.priors import numbers_of_sets
    >>> numbers_of_sets(len, 2, "prior").tolist()
    [0.0, 1.0, 1.0, 2.0]
    """
    values = np.empty(2**n_features)
    for mask in range(values.size):
        features = frozenset(members(mask))
        given = function(features)
        if not _is_number(given) or math.isnan(given):
            raise PriorError(f"The {what} function gave {given!r} for the set {_written(features)}, not a number.")
        values[mask] = given
    return values


def as_prior(prior: Any) -> SetPrior:
    """Return the prior over sets; a number or one per feature means :class:`ProductPrior`.

    Examples
    --------
    >>> from bayesieve.feature_sets.priors import as_prior
    >>> as_prior(0.1).prior_probability
    0.1
    """
    return prior if isinstance(prior, SetPrior) else ProductPrior(prior)


def _numbers(name: str, value: npt.ArrayLike, n: int, each: str) -> FloatArray:
    try:
        numbers = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        numbers = np.array(np.nan)
    if numbers.shape not in ((), (n,)) or not np.isfinite(numbers).all():
        raise PriorError(f"{name} must be a finite number, or one for each {each}, of which there are {n}.")
    spread = np.broadcast_to(numbers, (n,)).copy()
    spread.flags.writeable = False
    return spread


def _edge(edge: Any) -> tuple[int, int]:
    ends = _positions(edge)
    if len(ends) != 2:
        raise PriorError(f"An edge joins two different features, such as (0, 3); {edge!r} does not.")
    return max(ends), min(ends)


def _positions(features: Any) -> frozenset[int]:
    if isinstance(features, (int, np.integer)) and not isinstance(features, bool):
        features = (features,)
    whole = not isinstance(features, str) and isinstance(features, Iterable)
    places = tuple(features) if whole else (None,)
    if not all(isinstance(f, (int, np.integer)) and not isinstance(f, bool) and f >= 0 for f in places):
        raise PriorError(f"Sets are given by the positions of their features, such as (0, 2), not {features!r}.")
    return frozenset(int(f) for f in places)


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float, np.number, np.bool_))


def _written(features: Iterable[int]) -> str:
    return "{" + ", ".join(map(str, sorted(features))) + "}"
