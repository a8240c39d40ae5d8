"""Checks of what a table was reduced to: squares within range, levels that are categories, nothing missing."""

from __future__ import annotations

from typing import Any

import numpy as np

from bayesieve.data import MOST_LEVELS
from bayesieve.io.tables.missing_values import Missing
from bayesieve.io.tables.roles import ignore_option
from bayesieve.stats import SMALLEST_SQUARES, ClassStatistics, Moments
from bayesieve.utils import DataError, MissingValueError, option


def check_range(path: str, moments: Moments, features: list[str]) -> None:
    """Raise if sums of squares have left the range of 64-bit numbers."""
    squares = moments.centred_squares
    lost = ~np.isfinite(moments.mean + squares) | ((squares > 0) & (squares < SMALLEST_SQUARES))
    if lost.any():
        beyond = np.flatnonzero(lost.any(axis=0))
        raise DataError(
            f"{path}: the squares of {beyond.size:,} feature(s) leave the range of 64-bit numbers, the first is "
            f"{features[int(beyond[0])]!r}.",
            hint="Bring its values between 1e-150 and 1e150, by another unit or a logarithm.",
        )


def check_levels(path: str, counts: Any, features: list[str]) -> None:
    """Raise if features take so many different texts that they are names or measurements."""
    several = (counts.table.sum(axis=0) > 0).sum(axis=0)
    odd = np.flatnonzero(several > MOST_LEVELS)
    if odd.size:
        raise DataError(
            f"{path}: {odd.size:,} feature(s) take more than {MOST_LEVELS} different values, the first is "
            f"{features[int(odd[0])]!r} with {int(several[odd[0]]):,}: they look like names or measurements, not "
            "categories.",
            hint=("Leave them out: ", ignore_option(features[int(odd[0])]), "."),
            kind="too-many-levels",
            numbers={"names": [features[k] for k in odd.tolist()]},
        )


def raise_missing(missing: Missing, statistics: ClassStatistics, n_samples: int, path: str) -> None:
    """Raise because values are missing: how many, in how many features, and where the first one is."""
    shape = (len(statistics.classes), statistics.n_features)
    counts = np.broadcast_to(statistics.counts, shape).sum(axis=0)
    n_features = int((counts < n_samples).sum())
    raise MissingValueError(
        f"{path} holds {missing.total:,} missing value(s) in {n_features:,} of {statistics.n_features:,} "
        "features, the first at ",
        *missing.first,
        ".",
        hint=(
            "Say ",
            option("missing", "omit"),
            " to use the values that are there, which is exact if values are missing at random, or fill them in "
            "first.",
        ),
        kind="missing-values",
        numbers={"n": missing.total, "n_features": n_features},
    )
