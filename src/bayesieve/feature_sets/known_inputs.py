"""What is said about known markers: names, column numbers and weights; checked, or explained."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from bayesieve.data.matrix import checked_names
from bayesieve.errors import DataError, OptionError, PriorError
from bayesieve.feature_sets.given import is_whole

IntArray = npt.NDArray[np.int64]

_SHOWN = 5


def named_features(feature_names: Any) -> tuple[str, ...]:
    """Return the names of all features.

    Examples
    --------
    >>> from bayesieve.feature_sets.known_inputs import named_features
    >>> named_features(["a", "b"])
    ('a', 'b')
    """
    listed = None if isinstance(feature_names, str) else _listed(feature_names)
    if not listed:
        raise DataError(
            f"feature_names must be a sequence with the names of all features, in order, not {feature_names!r}."
        )
    return checked_names(listed, len(listed)) or ()


def known_places(names: tuple[str, ...] | None, n_features: int, known: Any) -> IntArray:
    """Columns of the known markers, given by name or number.

    Examples
    --------
    >>> from bayesieve.feature_sets.known_inputs import known_places
    >>> known_places(("a", "b", "c"), 3, ["c", "a"]).tolist(), known_places(None, 3, 1).tolist()
    ([2, 0], [1])
    """
    listed = listed_names([known] if is_whole(known) else known, "known", " or of column numbers")
    numbers = [is_whole(each) for each in listed]
    if not listed:
        raise OptionError("No known marker was given. Name at least one, or call screen().")
    if not any(numbers):
        places = places_of(names or tuple(f"x{i}" for i in range(n_features)), listed, "known")
    elif not all(numbers):
        raise OptionError("Give known markers all by name, or all by column number.")
    else:
        places = np.array([int(each) for each in listed], dtype=np.int64)
        outside = places[(places < 0) | (places >= n_features)]
        if outside.size:
            raise OptionError(
                f"{outside.size} of {places.size} known markers are not among the {n_features:,} columns, "
                f"counted from 0: {', '.join(map(str, outside[:_SHOWN].tolist()))}."
            )
    if np.unique(places).size < places.size:
        raise OptionError("A known marker was given more than once. Name each once.")
    return places


def places_of(names: tuple[str, ...], wanted: Sequence[Any], option: str) -> IntArray:
    """Columns of some names; unknown ones are an error that lists them.

    Examples
    --------
    >>> from bayesieve.feature_sets.known_inputs import places_of
    >>> places_of(("a", "b"), ["b"], "certain").tolist()
    [1]
    """
    where = dict(zip(names, range(len(names)), strict=True))
    absent = [name for name in wanted if str(name) not in where]
    if absent:
        shown = ", ".join(repr(str(name)) for name in absent[:_SHOWN])
        more = f" and {len(absent) - _SHOWN} more" if len(absent) > _SHOWN else ""
        raise OptionError(
            f"{option}: {len(absent)} of {len(wanted)} names are not among the {len(names):,} features: "
            f"{shown}{more}. Names must match to the letter; leave out what was not measured."
        )
    return np.array([where[str(name)] for name in wanted], dtype=np.int64)


def listed_names(given: Any, option: str, also: str = "") -> list[Any]:
    """Return names, or one alone, as a list; ``also`` says what else may be in it.

    Examples
    --------
    >>> from bayesieve.feature_sets.known_inputs import listed_names
    >>> listed_names("a", "known"), listed_names(("a", "b"), "known")
    (['a'], ['a', 'b'])
    """
    listed = _listed(given)
    if listed is None:
        raise OptionError(f"{option} must be a name or a list of names{also}, such as ['TP53'], not {given!r}.")
    return listed


def checked_weights(weights: Any) -> dict[Any, float]:
    """Return what is to be added to the log-odds, by name.

    Examples
    --------
    >>> from bayesieve.feature_sets.known_inputs import checked_weights
    >>> checked_weights({"a": 2}), checked_weights(None)
    ({'a': 2.0}, {})
    """
    if weights is not None and not isinstance(weights, Mapping):
        raise OptionError(
            f"weights must be a mapping from names to numbers, such as {{'TP53': 2.3}}, not {weights!r}."
        )
    return {name: _number(name, value) for name, value in (weights or {}).items()}


def checked_weight(weight: Any) -> float:
    """Return a probability, or raise.

    Examples
    --------
    >>> from bayesieve.feature_sets.known_inputs import checked_weight
    >>> checked_weight(0.5)
    0.5
    """
    if isinstance(weight, bool) or not isinstance(weight, (int, float, np.number)) or not 0.0 <= weight <= 1.0:
        raise PriorError(f"weight must lie between 0 and 1, for example 0.5, not {weight!r}.")
    return float(weight)


def _listed(given: Any) -> list[Any] | None:
    """Return what was given as a list; None if it cannot be one."""
    if isinstance(given, str):
        return [given]
    try:
        return list(given)
    except TypeError:
        return None


def _number(name: Any, value: Any) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = np.nan
    if not np.isfinite(number):
        raise PriorError(f"The weight of {name!r} must be a finite number to add to its log-odds, not {value!r}.")
    return number
