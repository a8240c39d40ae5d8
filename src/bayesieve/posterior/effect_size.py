"""Standardised effect sizes of all features, for the map of effects."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt

from bayesieve.data import disambiguate
from bayesieve.models import Comparison, EffectShift
from bayesieve.posterior.feature_posterior import FeaturePosterior
from bayesieve.stats import CategoryCounts, EventTotals, Moments
from bayesieve.utils import FloatArray

_HALF = 0.5  # events added to each class, so that a class without any has a place on the map


@dataclass(frozen=True, slots=True, eq=False)
class Effect:
    """Coordinates of all features, in feature order, with the titles of the axes.

    Parameters
    ----------
    kind
        ``"map"``: two effects, to be coloured by log-odds. ``"volcano"``: one effect, against the log-odds.
    x, y
        Coordinates, NaN where they are not defined; ``y`` is None for a volcano.
    x_title, y_title
        What they are, in words.
    """

    kind: str
    x: FloatArray
    y: FloatArray | None
    x_title: str
    y_title: str


def effect_of(posterior: FeaturePosterior) -> Effect | None:
    """Say where the features lie; None for models whose statistics show no effect.

    Two Gaussian classes: difference of the means over the root of the mean variance, and log ratio of the
    variances, both within blocks where there are blocks. More classes: the largest standardised difference
    between two of them, and the log ratio of the largest variance to the smallest. Pairs: mean over standard
    deviation of the differences. Counts: log ratio of the rates. Categories: the largest difference of a share.
    """
    statistics, names = posterior.statistics, disambiguate(posterior.classes)
    with np.errstate(all="ignore"):  # what is not finite is put to NaN
        match statistics:
            case Moments():
                return _of_moments(posterior, statistics, names)
            case EventTotals():
                return _of_rates(statistics, names)
            case CategoryCounts():
                x = _largest_share(statistics.table)
                return _volcano(x, "largest difference of a category's share between two classes")
        ratio = _column(posterior, "log_rate_ratio")
        return None if ratio is None else _volcano(ratio, f"log rate ratio{_over(names)}")


def _of_moments(posterior: FeaturePosterior, moments: Moments, names: Sequence[str]) -> Effect:
    if len(names) == 1:
        mean = moments.mean[0] + np.asarray(moments.residual)[0]
        return _volcano(mean / np.sqrt(moments.variance[0]), f"mean of {names[0]} in standard deviations")
    if len(names) == 2:
        return _of_two(posterior, moments, names)
    variance = moments.variance
    differences = [
        np.abs(moments.pick([moments.classes[i], moments.classes[j]]).mean_difference)
        / np.sqrt((variance[i] + variance[j]) / 2.0)
        for i, j in combinations(range(len(names)), 2)
    ]
    logs = np.log(np.where(variance > 0, variance, np.nan))
    return Effect(
        "map", _finite(_largest(np.array(differences))), _finite(_largest(logs) + _largest(-logs)),
        "largest mean difference between two classes, in standard deviations",
        "log ratio of the largest class variance to the smallest",
    )  # fmt: skip


def _of_two(posterior: FeaturePosterior, moments: Moments, names: Sequence[str]) -> Effect:
    variance, difference = moments.variance, moments.mean_difference
    ratio = np.log(variance[1]) - np.log(variance[0])
    within, place = _within(posterior), ""
    if within is not None:
        (difference, ratio), place = within, " within blocks"
        variance = _variance_within(posterior, moments)
    return Effect(
        "map", _finite(difference / np.sqrt((variance[0] + variance[1]) / 2.0)), _finite(ratio),
        f"mean difference{place} in standard deviations, {names[1]} minus {names[0]}",
        f"log variance ratio{place}{_over(names)}",
    )  # fmt: skip


def _of_rates(totals: EventTotals, names: Sequence[str]) -> Effect:
    exposure = totals.exposure if totals.exposure.ndim == 2 else totals.exposure[:, None]
    rate = np.where(exposure > 0, np.log(totals.total + _HALF) - np.log(exposure), np.nan)
    if len(names) == 2:
        return _volcano(rate[1] - rate[0], f"log rate ratio{_over(names)}; half an event added to each")
    return _volcano(
        _largest(rate) + _largest(-rate),
        "log ratio of the largest class rate to the smallest; half an event added",
    )


def _largest_share(table: npt.NDArray[np.int64]) -> FloatArray:
    share = table / table.sum(axis=1, keepdims=True)
    return np.asarray(np.max(_largest(share) + _largest(-share), axis=0))


def _largest(values: FloatArray) -> FloatArray:
    """Largest along the first axis of those that are there; NaN if none is."""
    best = np.max(np.where(np.isnan(values), -np.inf, values), axis=0)
    return np.where(np.isfinite(best), best, np.nan)


def _over(names: Sequence[str]) -> str:
    return f", {names[1]} over {names[0]}" if len(names) == 2 else ""


def _volcano(x: Any, title: str) -> Effect:
    return Effect("volcano", _finite(np.asarray(x, dtype=np.float64)), None, title, "log-odds of being a marker")


def _finite(values: FloatArray) -> FloatArray:
    return np.where(np.isfinite(values), values, np.nan)


def _within(posterior: FeaturePosterior) -> tuple[FloatArray, FloatArray] | None:
    """Difference of means and log ratio of variances within blocks; None without blocks of two classes."""
    evidence = posterior.block_evidence
    if evidence is not None:
        return (evidence.within[0], evidence.within[1]) if evidence.within.size else None
    found = [_column(posterior, f"{key}_within") for key in ("mean_difference", "log_variance_ratio")]
    return (found[0], found[1]) if found[0] is not None and found[1] is not None else None


def _variance_within(posterior: FeaturePosterior, moments: Moments) -> FloatArray:
    """Variance of the classes within blocks; of all samples together where the blocks are not known any more."""
    blocks = _blocks(posterior)
    if not blocks:
        return moments.variance
    squares, freedom = np.zeros(moments.mean.shape), np.zeros(moments.mean.shape)
    for block, kept in blocks:
        squares += np.where(kept, block.centred_squares, 0.0)
        freedom += np.where(kept, np.maximum(block.counts - 1.0, 0.0), 0.0)
    return squares / freedom


def _blocks(posterior: FeaturePosterior) -> list[tuple[Moments, Any]]:
    """Moments of every block, and where it has a say."""
    compared = posterior.comparison
    if isinstance(compared, Comparison):
        parts = [(part.before or part.statistics, part.kept) for part in compared.parts]
        return [(block, True if kept is None else kept) for block, kept in parts if isinstance(block, Moments)]
    return [(block, True) for block in _shifted(compared)]


def _shifted(compared: Any) -> Sequence[Moments]:
    """Moments of blocks that share the class difference."""
    return compared.parts if isinstance(compared, EffectShift) else getattr(compared, "blocks", ())


def _column(posterior: FeaturePosterior, name: str) -> FloatArray | None:
    """Look up a column of numbers among the findings, as a stored result has them; None if there is none."""
    for finding in posterior.findings:
        column = finding.columns(posterior).get(name)
        if column is not None:
            return np.asarray(column, dtype=np.float64)
    return None
