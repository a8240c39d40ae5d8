"""Site effects: what each site's samples alone say about a feature, beside the pooled estimate."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from bayesieve.models import Comparison, GaussianModel, Model
from bayesieve.posterior import FeaturePosterior, effects
from bayesieve.screening.obf import screen
from bayesieve.stats import Moments, as_moments
from bayesieve.utils import BayesieveError, DataError, FloatArray, list_names

_MOST = 50


@dataclass(frozen=True, slots=True, eq=False)
class Intervals:
    """Differences of means with their intervals, and log Bayes factors: one number per feature.

    Parameters
    ----------
    difference, low, high
        Second class minus first, and the interval of the difference under Jeffreys' prior; None unless
        there are two classes, NaN where a class has fewer than two values that differ.
    log_bayes_factor
        Under the model of the screen; NaN where these samples say nothing.
    """

    difference: FloatArray | None
    low: FloatArray | None
    high: FloatArray | None
    log_bayes_factor: FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class SiteView:
    r"""The strongest features, site by site.

    Parameters
    ----------
    names
        Names of the sites.
    classes, counts
        Classes, and samples of each in every site: ``(n_sites, n_classes)``.
    places, features
        Numbers and names of the features, from the strongest.
    sites
        What every site says alone.
    pooled
        What all samples say, thrown together.
    combined
        Sum of the sites' own log Bayes factors: every site with its own means and variances.
    level
        Probability of the intervals.
    used
        Which of the two is the evidence of the screen: ``"pooled"``, ``"combined"``, or neither (empty).
    """

    names: tuple[str, ...]
    classes: tuple[str, ...]
    counts: npt.NDArray[np.int64]
    places: npt.NDArray[np.int64]
    features: tuple[str, ...]
    sites: tuple[Intervals, ...]
    pooled: Intervals
    combined: FloatArray
    level: float
    used: str = ""

    @classmethod
    def of(
        cls, posterior: FeaturePosterior, by_site: Mapping[Any, Moments], *, n_features: int = _MOST,
        level: float = 0.95,
    ) -> SiteView:  # fmt: skip
        """Look at the first features of a screen in every site."""
        _check(posterior, by_site)
        wanted = list(posterior.classes)
        by_site = {
            name: part if list(part.classes) == wanted else part.pick(wanted) for name, part in by_site.items()
        }
        places = posterior.ranking[:n_features]
        parts = [part.take(places) for part in by_site.values()]
        whole = parts[0]
        for part in parts[1:]:
            whole = whole.merge(part)
        model, n = posterior.model, posterior.n_features
        step = np.asarray(posterior.resolution)
        taken = model.take(places, n), step[places] if step.ndim else step, level
        sites = tuple(_alone(part, *taken) for part in parts)
        own = np.array([site.log_bayes_factor for site in sites])
        every, pooled = posterior.names, _alone(whole, *taken)
        combined = np.where(np.isnan(own).all(axis=0), np.nan, np.nansum(own, axis=0))
        return cls(
            tuple(map(str, by_site)), tuple(map(str, whole.classes)),
            np.array([np.broadcast_to(part.counts, part.mean.shape).max(axis=1) for part in by_site.values()]),
            places, tuple(every[i] for i in places.tolist()), sites, pooled, combined, level,
            _used(posterior.log_bayes_factor[places], pooled.log_bayes_factor, combined),
        )  # fmt: skip

    @classmethod
    def of_blocks(cls, posterior: FeaturePosterior, *, n_features: int = _MOST) -> SiteView | None:
        """Take the blocks of a screen for sites; None if there are none, or none that hold moments."""
        evidence, compared = posterior.block_evidence, posterior.comparison
        if evidence is None:
            return None
        if isinstance(compared, Comparison):
            blocks: list[Any] = [part.before or part.statistics for part in compared.parts[: len(evidence.names)]]
        else:
            blocks = list(getattr(compared, "blocks", getattr(compared, "parts", ())))
        several = len(blocks) == len(evidence.names) > 1
        if not several or not all(as_moments(block) and len(block.classes) > 1 for block in blocks):
            return None
        return cls.of(posterior, dict(zip(evidence.names, blocks, strict=True)), n_features=n_features)

    @property
    def title(self) -> str:
        """What is drawn, in words; empty unless there are two classes."""
        if len(self.classes) != 2:
            return ""
        return f"difference of means ({self.classes[1]} minus {self.classes[0]})"


def _check(posterior: FeaturePosterior, by_site: Mapping[Any, Moments]) -> None:
    if not by_site:
        raise DataError("A view of sites needs at least one site.")
    wanted = list_names(posterior.classes, quote=False)
    for name, moments in by_site.items():
        if moments.n_features != posterior.n_features or set(moments.classes) != set(posterior.classes):
            raise DataError(
                f"Site {name!r} has {moments.n_features:,} features and classes "
                f"{list_names(moments.classes, quote=False)}, the screen {posterior.n_features:,} features and "
                f"classes {wanted}."
            )


def _used(evidence: FloatArray, pooled: FloatArray, combined: FloatArray) -> str:
    """Which of two ways to take sites together gave the evidence of a screen."""
    for name, way in (("pooled", pooled), ("combined", combined)):
        known = ~np.isnan(way)
        if known.any() and np.allclose(way[known], evidence[known], rtol=1e-6, atol=1e-6):
            return name
    return ""


def _alone(part: Moments, model: Model, step: Any, level: float) -> Intervals:
    """What some samples say by themselves."""
    counted = np.broadcast_to(part.counts, part.mean.shape)
    held = (counted > 0).all(axis=0)
    # counts per feature: a feature with too few values is then told apart and no error
    each = Moments.trusted(
        part.classes, counted.copy(), part.mean, part.centred_squares, np.asarray(part.residual),
        shape=part.shape(),
    )  # fmt: skip
    evidence = _screen_quietly(each, model, step)
    log_bf = np.full(part.n_features, np.nan)
    if evidence is not None:
        log_bf = np.where(held & ~evidence.degenerate, evidence.log_bayes_factor, np.nan)
    if len(part.classes) != 2:
        return Intervals(None, None, None, log_bf)
    jeffreys = _screen_quietly(each, GaussianModel.jeffreys(), step)
    if jeffreys is None:
        nothing = np.full(part.n_features, np.nan)
        return Intervals(nothing, nothing, nothing, log_bf)
    found = effects(jeffreys, level=level)
    difference = np.where(held, part.mean_difference, np.nan)
    return Intervals(difference, found.mean_difference_low, found.mean_difference_high, log_bf)


def _screen_quietly(moments: Moments, model: Model, step: Any) -> FeaturePosterior | None:
    """Screen some samples, quietly; None if they are too few for the prior in every feature."""
    resolution = step if np.any(step) else None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return screen(moments, model=model, degenerate="exclude", resolution=resolution, shuffles=0)
    except BayesieveError:
        return None
