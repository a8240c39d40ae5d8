"""Priors over sets of features: independent, on a graph, from a table, from a function (section 2.1).

A set of features is written as a bit mask: feature ``f`` belongs to set ``g`` if bit ``f`` of ``g`` is 1,
so that an array of :math:`2^{|F|}` numbers holds one for every set.
"""

from __future__ import annotations

import abc
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from bayesieve.posterior import check_log_odds
from bayesieve.sets.masks import (
    check_number,
    check_set_values,
    evaluate_sets,
    format_set,
    log_sum,
    mask_of,
    members,
    positions,
    sums_over_sets,
)
from bayesieve.utils import FloatArray, PriorError, is_number, is_whole


class SetPrior(abc.ABC):
    r"""A prior over sets of features.

    Subclasses say :meth:`log_weights`; weights need not add up to 1.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve.sets.priors import SetPrior
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
            log_weights = check_set_values(log_weights, "log weight", PriorError)
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
        try:
            values = np.array(self.prior_probability, dtype=np.float64)
        except (TypeError, ValueError):
            raise PriorError(
                f"Prior probabilities are a number, or one per feature, not {self.prior_probability!r}."
            ) from None
        check_log_odds(values, values.size)
        values.flags.writeable = False
        object.__setattr__(self, "prior_probability", values if values.ndim else float(values))

    def log_weights(self, n_features: int) -> FloatArray:
        """Log probability of every set, by bit mask.

        Examples
        --------
        >>> import bayesieve as bs
        >>> bs.ProductPrior(0.5).log_weights(1).round(6).tolist()
        [-0.693147, -0.693147]
        """
        check_number(n_features)
        check_log_odds(self.prior_probability, n_features)  # raises unless there is one, or one per feature
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
        if isinstance(self.edges, str) or not isinstance(self.edges, Iterable):
            raise PriorError(f"edges are pairs of positions, such as [(0, 1), (1, 3)], not {self.edges!r}.")
        edges = tuple(map(_edge, self.edges))
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
        check_number(n_features)
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
        if not isinstance(self.weights, Mapping):
            raise PriorError(
                f"Sets and their weights are a mapping, such as {{(0, 2): 1.0}}, not {self.weights!r}."
            )
        table: dict[frozenset[int], float] = {}
        for key, weight in self.weights.items():
            named = frozenset(positions((key,) if is_whole(key) else key))
            if named in table:
                raise PriorError(f"The set {format_set(named)} is given more than once.")
            if not is_number(weight) or not 0 <= weight < math.inf:
                raise PriorError(f"The set {format_set(named)} has the weight {weight!r}; weights are at least 0.")
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
        check_number(n_features)
        weights = np.zeros(2**n_features)
        for named, weight in self.weights.items():
            if max(named, default=-1) >= n_features:
                raise PriorError(
                    f"The set {format_set(named)} holds feature {max(named)}, but there are {n_features}, counted "
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
    >>> from bayesieve.sets.priors import CallablePrior
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
        >>> from bayesieve.sets.priors import CallablePrior
        >>> CallablePrior(lambda features: 1.0 - 2.0 * len(features), log=True).log_weights(1).tolist()
        [1.0, -1.0]
        """
        values = evaluate_sets(self.function, n_features, "prior", PriorError)
        if self.log:
            return values
        if not (values >= 0).all():
            first = members(int(np.flatnonzero(~(values >= 0))[0]))
            raise PriorError(
                f"The prior function gave the set {format_set(first)} a weight below 0. Weights are at least 0; "
                "for log weights say log=True."
            )
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(values))


def as_prior(prior: Any) -> SetPrior:
    """Return the prior over sets that is meant."""
    if isinstance(prior, SetPrior):
        return prior
    if isinstance(prior, type):
        raise PriorError(f"A prior is needed, such as SizePrior.fixed(2); {prior.__name__} is the class of one.")
    if isinstance(prior, Mapping):
        return SetTable(prior)
    return CallablePrior(prior) if callable(prior) else ProductPrior(prior)


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
    ends = frozenset(positions(edge))
    if len(ends) != 2:
        raise PriorError(f"An edge joins two different features, such as (0, 3); {edge!r} does not.")
    return max(ends), min(ends)
