"""Costly methods on the strongest features of a quick one: ``bd:300`` and the like."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from bayesieve.data import LabelledMatrix
from bayesieve.rivals.feature_scores import FeatureScores
from bayesieve.rivals.registry import rival
from bayesieve.stats import Moments
from bayesieve.utils import FloatArray, OptionError


def parse_screen(screen: str) -> tuple[str, int]:
    """Return the method and the number of features of a text such as ``bd:300``."""
    name, colon, number = str(screen).strip().rpartition(":")
    if not colon or not number.isdecimal() or int(number) < 1:
        raise OptionError(f"Features to start from are a method and a number, for example bd:300, not {screen!r}.")
    return rival(name).name, int(number)


def on_strongest(
    matrix: LabelledMatrix,
    screen: str | None,
    run: Callable[[LabelledMatrix, FloatArray | None], FeatureScores],
    *,
    n_threads: int | None = None,
) -> FeatureScores:
    """Run a method on the strongest features of another, or on all of them.

    Parameters
    ----------
    matrix
        The table, of two classes.
    screen
        Method and number, such as ``bd:300``; None for all features.
    run
        Called with the table of the features kept, the strongest first, and the scores of the other method, or
        None if there is none.

    Returns
    -------
    FeatureScores
        Of all features: NaN for those left out, which are never selected. The other method breaks ties.
    """
    if screen is None:
        return run(matrix, None)
    name, number = parse_screen(screen)
    other = rival(name)
    if other.uses == "moments":
        first = other.run(Moments.from_labelled(matrix, missing="omit", n_threads=n_threads))
    else:
        first = other.run(matrix, n_threads=n_threads)
    places = first.ranking[:number]
    places = places[~np.isnan(first.score[places])]
    if not places.size:
        raise OptionError(f"{other.title} has no score for any feature, so that {screen} leaves nothing.")
    names = matrix.feature_names
    kept = None if names is None else tuple(names[i] for i in places.tolist())
    part = LabelledMatrix(matrix.values[:, places], matrix.labels, kept)
    return _spread(run(part, first.score[places]), places, first.score, names)


def _spread(
    found: FeatureScores, places: Any, tie_break: FloatArray, names: tuple[str, ...] | None
) -> FeatureScores:
    """Put the scores of some features among all."""

    def among(column: Any, rest: Any) -> Any:
        if column is None:
            return None
        whole = np.full(tie_break.size, rest)
        whole[places] = column
        return whole

    return replace(
        found,
        score=among(found.score, np.nan),
        feature_names=names,
        log_p_value=among(found.log_p_value, np.nan),
        adjusted=among(found.adjusted, np.nan),
        details={name: among(column, np.nan) for name, column in found.details.items()},
        selected=among(found.selected, False),
        tie_break=tie_break,
        diagnostics={**found.diagnostics, "n_screened": int(places.size)},
    )
