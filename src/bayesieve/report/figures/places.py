"""Which feature is meant: by name, or by number."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from bayesieve.errors import DataError
from bayesieve.posterior import FeaturePosterior

_MOST_COMPARED = 50_000


def place_of(posterior: FeaturePosterior, feature: Any) -> int:
    """Find a feature by its name or by its number in the order of the columns.

    Examples
    --------
    >>> import bayesieve as bs
    >>> from bayesieve.report.figures.places import place_of
    >>> X = [[0.1, 5.0], [-0.4, 4.1], [0.3, 5.2], [6.8, 4.7], [7.7, 4.4], [8.1, 4.6]]
    >>> posterior = bs.screen(X, [0, 0, 0, 1, 1, 1], model=bs.GaussianModel.proper())
    >>> place_of(posterior, "x1"), place_of(posterior, -1)
    (1, 1)
    """
    return int(places_of(posterior, [feature])[0])


def places_of(posterior: FeaturePosterior, features: Sequence[Any]) -> npt.NDArray[np.int64]:
    """Find several features; see :func:`place_of`.

    Examples
    --------
    >>> import bayesieve as bs
    >>> from bayesieve.report.figures.places import places_of
    >>> posterior = bs.screen([[0.1], [0.4], [0.3], [6.8]], [0, 0, 1, 1], model=bs.GaussianModel.proper())
    >>> try:
    ...     places_of(posterior, ["x10"])
    ... except bs.DataError as error:
    ...     print(error)
    There is no feature 'x10' among the 1 of this screen. Did you mean x0?
    """
    asked = [features] if isinstance(features, str) else list(features)
    if not asked:
        return np.empty(0, np.int64)
    names, n = posterior.names, posterior.n_features
    number = {name: i for i, name in reversed(list(enumerate(names)))}  # the first of two that share a name
    found = []
    for each in asked:
        if isinstance(each, str):
            if each not in number:
                raise DataError(
                    f"There is no feature {each!r} among the {n:,} of this screen.{_like(each, names)}"
                )
            found.append(number[each])
        elif isinstance(each, (int, np.integer)) and -n <= each < n:
            found.append(int(each) % n)
        else:
            raise DataError(
                f"There is no feature number {each!r}: numbers go from 0 to {n - 1:,}, names are text."
            )
    return np.array(found, dtype=np.int64)


def _like(name: str, names: tuple[str, ...]) -> str:
    near = difflib.get_close_matches(name, names[:_MOST_COMPARED], n=3)
    return f" Did you mean {', '.join(near)}?" if near else " Names are case-sensitive."
