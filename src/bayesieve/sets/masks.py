"""Sets of features as bit masks, and checks of what users hand over about them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from bayesieve.models import set_sizes, sums_over_sets
from bayesieve.posterior import MOST_FEATURES
from bayesieve.utils import BayesieveError, FloatArray, OptionError, PriorError, check_whole, is_number, is_whole

__all__ = [
    "log_sum",
    "log_sums_over_sets",
    "marginal_log_odds",
    "mask_of",
    "members",
    "set_sizes",
    "sums_over_sets",
]


def log_sums_over_sets(inside: FloatArray, outside: FloatArray) -> FloatArray:
    r"""Return :math:`\log(\sum_{f \in G} e^{a_f} + \sum_{f \notin G} e^{b_f})` for every set, by doubling."""
    sums = np.full(1, -np.inf)
    for with_it, without in zip(inside.tolist(), outside.tolist(), strict=True):
        sums = np.concatenate((np.logaddexp(sums, without), np.logaddexp(sums, with_it)))
    return sums


def log_sum(values: FloatArray, axis: int | tuple[int, ...] | None = None) -> FloatArray:
    """Return the log of the sum of exponentials; minus infinity for a sum of nothing."""
    top = values.max(axis=axis, keepdims=True, initial=-np.inf)
    shift = np.where(np.isfinite(top), top, 0.0)
    with np.errstate(divide="ignore"):
        total = np.log(np.exp(values - shift).sum(axis=axis, keepdims=True))
    return np.asarray(np.squeeze(total + shift, axis=axis))


def marginal_log_odds(log_weights: FloatArray) -> FloatArray:
    r"""Return the log-odds of every feature: sets that hold it against sets that do not, equation (2.7)."""
    n_features = log_weights.size.bit_length() - 1
    odds = np.empty(n_features)
    for f in range(n_features):
        split = log_weights.reshape(-1, 2, 2**f)
        odds[f] = log_sum(split[:, 1]) - log_sum(split[:, 0])
    return odds


def members(mask: int) -> tuple[int, ...]:
    """Return the positions of the features in a set."""
    return tuple(f for f in range(mask.bit_length()) if mask >> f & 1)


def mask_of(features: Iterable[int]) -> int:
    """Return the bit mask of a set of positions."""
    return sum(1 << f for f in {int(f) for f in features})


def check_number(n_features: int, most: int = MOST_FEATURES) -> None:
    """Raise if all sets of so many features are too many to look at."""
    if check_whole("n_features", n_features) <= most:
        return
    number = f"{2**n_features:,}" if n_features <= 60 else f"2^{n_features:,}"
    raise OptionError(
        f"{n_features:,} features have {number} sets, and every one would be looked at; {most} features are the "
        "most that can be done here. Look at fewer of them, or use screen() for independent features and "
        "with_size_prior() for a prior on the number of markers: both take any number of features."
    )


def number_of_features(names: Any, n_features: Any, of_values: int | None = None) -> int:
    """Work out the number of features from names, a given number, or numbers for all sets; they must agree."""
    numbers_of_features = {
        None if n_features is None else check_whole("n_features", n_features, 1),
        len(names) if isinstance(names, tuple) else None,
        of_values,
    } - {None}
    if len(numbers_of_features) != 1:
        numbers = ", ".join(map(str, sorted(filter(None, numbers_of_features)))) or "none is given"
        raise OptionError(
            f"The number of features is not clear ({numbers}). Give n_features or feature_names, in agreement "
            "with the likelihood."
        )
    (number,) = numbers_of_features
    assert number is not None
    return number


def check_set_values(values: Any, what: str, error: type[BayesieveError]) -> FloatArray:
    """Copy one number below infinity for every set, by bit mask, or raise."""
    try:
        numbers = np.array(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise error(f"The {what} must be numbers: one for every set of p features, by bit mask.") from None
    if numbers.ndim != 1 or numbers.size < 2 or numbers.size & (numbers.size - 1):
        shape = f"{numbers.size} numbers" if numbers.ndim == 1 else f"numbers of shape {numbers.shape}"
        raise error(f"The {what} was given as {shape}; 2^p are needed, one for every set of p features.")
    odd = np.flatnonzero(~(numbers < np.inf))
    if odd.size:
        raise error(
            f"The {what} of {odd.size:,} of {numbers.size:,} sets is infinite or not a number, the first is that "
            f"of {format_set(members(int(odd[0])))}."
        )
    return numbers


def evaluate_sets(
    function: Callable[[frozenset[int]], Any], n_features: int, what: str, error: type[BayesieveError]
) -> FloatArray:
    """Ask a function for a number for every set, by bit mask."""
    check_number(n_features)
    values = np.empty(2**n_features)
    for mask in range(values.size):
        features = frozenset(members(mask))
        try:
            value = function(features)
        except Exception as problem:
            raise error(
                f"The {what} function failed for the set {format_set(features)} ({type(problem).__name__}: "
                f"{problem}). It is called with a frozenset of positions and returns a number."
            ) from problem
        truth = isinstance(value, (bool, np.bool_))  # counts as 0 or 1
        if not (truth or is_number(value)) or np.isnan(value):
            raise error(f"The {what} function gave {value!r} for the set {format_set(features)}, not a number.")
        values[mask] = value
    return values


def positions(features: Any) -> tuple[int, ...]:
    """Return positions of features that somebody has given, or raise."""
    try:
        listed = (None,) if isinstance(features, (str, bytes)) else tuple(features)
    except TypeError:
        listed = (None,)
    if not all(is_whole(f) and f >= 0 for f in listed):
        raise PriorError(f"Features are given by their positions, such as (0, 2), not by {features!r}.")
    return tuple(int(f) for f in listed)


def format_set(features: Iterable[int]) -> str:
    """Write a set of positions for a message."""
    return "{" + ", ".join(map(str, sorted(features))) + "}"
