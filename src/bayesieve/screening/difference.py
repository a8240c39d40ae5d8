"""Which difference makes a marker: of means, of variances, or any."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

import numpy as np

from bayesieve.data import dense_values
from bayesieve.models import DIFFERENCES, CalibratedModel, GaussianModel, KindModel, Model
from bayesieve.posterior import Finding, Remark
from bayesieve.screening.inputs import ScreenInput, Shufflable
from bayesieve.screening.spread import Spread
from bayesieve.stats import Moments, TrendMoments, as_moments
from bayesieve.utils import FloatArray, OptionError, Wording, check_choice, option

_MANY_EQUAL = 0.1  # values at one end of a feature: a floor
_LARGEST_RATIO = 4.0  # of log variances that shuffled labels carry along
_SAID = {
    "mean": "Markers are features whose means differ; their variances may differ or not.",
    "variance": "Markers are features whose variances differ; their means may differ or not.",
}


def asked_of(model: Model, difference: str) -> Model:
    """Return the model that asks about a difference; ``"any"`` leaves it as it is."""
    check_choice("difference", difference, DIFFERENCES)
    if difference == "any":
        return model
    model.require(
        "differences",
        option("difference", difference),
        f" is about means and variances of Gaussian measurements, not about {type(model).__name__}.",
        hint="Leave it out, or screen the measurements alone.",
    )
    if model.difference not in ("any", difference):
        raise OptionError(f"The model asks about the {model.difference}, difference={difference!r} does not.")
    return _asking(model, difference)


def _asking(model: Model, difference: str) -> Model:
    if isinstance(model, CalibratedModel):
        return replace(model, difference=difference)
    given = cast("GaussianModel", model)
    priors = given.class_priors, given.pooled_prior, given.prior_ratio
    return GaussianModel(*priors) if difference == "any" else KindModel(*priors, difference)


def fit_to_design(model: Model, found: ScreenInput, block_model: str) -> Model:
    """Return the model as the design can be asked; raise where it cannot."""
    difference = model.difference
    if difference == "any":
        return model
    named = option("difference", difference)
    if found.outcome is not None:
        levels = isinstance(found.statistics, TrendMoments) and found.statistics.scores is not None
        if difference == "variance" and (found.covariates is not None or not levels):
            raise OptionError(
                named, " along an outcome needs several samples of each of its values, at most 8 of them, and no "
                "covariates.", hint="Leave it out.", kind="capability",
            )  # fmt: skip
        return model
    if found.n_pairs or found.within is not None:
        if difference == "mean":  # all that pairs can show
            return _asking(model, "any")
        raise OptionError(
            named, " cannot be told from pairs: differences within pairs see the mean only.",
            hint=("Leave ", option("pairs"), " out."), kind="capability",
        )  # fmt: skip
    classes = found.statistics.classes
    if len(classes) != 2:
        other = "variances" if difference == "mean" else "means"
        raise OptionError(
            named, f" compares two classes; with {len(classes)} the pattern of the {difference}s would have to be "
            f"told apart from that of the {other}.",
            hint=("Name two classes (or two groups of them) with ", option("classes"), ", or leave it out."),
            kind="capability",
        )  # fmt: skip
    if block_model == "shift" and not model.supports("effect-sizes"):
        raise OptionError(
            named, " and ", option("block_model", "shift"), " go together under the calibrated prior only.",
            hint=("Leave ", Wording("the model", "--prior"), " out, or use ", option("block_model", "own"), "."),
            kind="capability",
        )  # fmt: skip
    parts = list(found.blocked.values()) or [found.statistics]
    blind = all(getattr(part, "centred_fourths", None) is None for part in parts)
    if difference == "variance" and model.supports("effect-sizes") and blind:
        raise OptionError(
            named, " needs fourth powers of the values, without which heavy tails cannot be told from a "
            "difference; these statistics do not hold them.",
            hint=("Sum the table anew, or use ", Wording("GaussianModel.jeffreys()", "--prior jeffreys"), "."),
            kind="capability",
        )  # fmt: skip
    return model


def keep_variances(found: ScreenInput, model: Model) -> Shufflable:
    """Return the samples whose labels are shuffled; variances go with the label if only means are asked about.

    A plain shuffle makes variances equal, and with them the null hypothesis narrower than the one of the screen:
    where the smaller class varies more, equal means pass more often than it shows. Values that change their class
    are therefore brought to its spread, as far as the data say that variances differ: by the estimated log ratio
    times the probability of a difference. They spread about the mean of the class that they come from, so that
    differences of means are shuffled as they are. Features with many values at a floor stay as they are, too: what
    rests there does not spread.
    """
    samples = found.shufflable
    assert samples is not None
    if model.difference != "mean" or samples.n_pairs or samples.n_factors or type(samples) is not Shufflable:
        return samples
    parts = [as_moments(part) for part in found.blocked.values() or [found.statistics]]
    told = [part for part in parts if part is not None and (part.has_shape or not model.supports("effect-sizes"))]
    if len(told) < len(parts):
        return samples
    means = np.array([part.mean for part in told])
    log_ratio = np.where(_at_an_end(samples) > _MANY_EQUAL, 0.0, _log_ratio(model, _within(told)))
    return replace(samples, spread=Spread(means, log_ratio, tuple(found.blocked)))


def _at_an_end(samples: Shufflable) -> FloatArray:
    """Share of values that are the smallest, or the largest, of their feature."""
    values = dense_values(samples.matrix)
    ends = np.fmin.reduce(values, axis=0), np.fmax.reduce(values, axis=0)
    return np.asarray(np.max([(values == end).mean(axis=0) for end in ends], axis=0))


def _within(parts: list[Moments]) -> Moments:
    """Spread of the classes about their means in every batch: as of classes with a degree of freedom less each."""
    if len(parts) == 1:
        return parts[0]
    counts = [np.broadcast_to(part.counts, part.mean.shape) for part in parts]
    count = sum(np.maximum(each - 1, 0) for each in counts) + 1
    squares = np.sum([part.centred_squares for part in parts], axis=0)
    shapes = [part.shape() for part in parts]
    powers = None if None in shapes else tuple(np.sum(each, axis=0) for each in zip(*shapes, strict=True))
    nothing = np.zeros(squares.shape)
    return Moments.trusted(parts[0].classes, count, nothing, squares, nothing.copy(), shape=powers)


def _log_ratio(model: Model, moments: Moments) -> FloatArray:
    """Log ratio of the variances of two classes, as far as it is believed; 0 where a class says too little."""
    variances: Any = _asking(model, "variance")
    counts = np.broadcast_to(moments.counts, moments.mean.shape).astype(np.float64)
    usable = ((counts > 2) & (moments.centred_squares > 0)).all(axis=0)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        probability = 1.0 / (1.0 + np.exp(-variances.evidences(moments).pattern([(0,), (1,)])))
        of_classes = np.log(moments.centred_squares / (counts - 1.0))
        believed = probability * (of_classes[1] - of_classes[0])
    return np.where(usable, np.clip(believed, -_LARGEST_RATIO, _LARGEST_RATIO), 0.0)


def of_difference(model: Model) -> tuple[Finding, ...]:
    """Say what makes a marker, if not any difference does."""
    said = _SAID.get(model.difference)
    return () if said is None else (Remark((said,)),)
