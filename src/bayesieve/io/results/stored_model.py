"""Which model gave the log Bayes factors of a stored result: as said, if that holds, or worked out."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bayesieve.errors import BayesieveError
from bayesieve.io.priors import read_model
from bayesieve.io.results.stored_parts import StoredModel, Unrepeatable
from bayesieve.models import Compared, Comparison, GaussianModel, Model, PairedComparison, Part, Patterns
from bayesieve.stats import Moments
from bayesieve.utils import BoolArray, FloatArray

_CLOSE = 1e-6
_NAMED = ("jeffreys", "proper")
_UNKNOWN = (
    "The file does not say which prior gave its log Bayes factors, and they are not those of Jeffreys' prior on "
    "the stored means and standard deviations: the number of features that would pass by chance is not known."
)
_OF_BLOCKS = (
    "The file does not say which prior was used. The one named here was worked out from the log-odds of all "
    "samples pooled; what the blocks say cannot be worked out again from the table."
)
_LEAST = (
    "The file does not say which prior was used, and it cannot be worked out from log-odds that are the least "
    "over leaving any one sample out."
)


@dataclass(frozen=True, slots=True, eq=False)
class Origin:
    """Where log Bayes factors came from.

    Parameters
    ----------
    model
        The model, a :class:`~bayesieve.io.results.stored_parts.StoredModel` if it is not known.
    comparison
        What was compared, as far as it can be done again; None for two classes of moments.
    resolution
        Step to which values were rounded, 0 if none was stated.
    remark
        How the model was found out, in words; empty if it was said and holds.
    """

    model: Model
    comparison: Compared | None
    resolution: float = 0.0
    remark: str = ""


def origin_of(
    moments: Moments, log_bayes_factor: FloatArray, usable: BoolArray, settings: Mapping[str, Any],
    names: Sequence[str], **how: bool,
) -> Origin:  # fmt: skip
    """Find the model of Gaussian data whose log Bayes factors these are.

    Parameters
    ----------
    moments
        Statistics of the classes (of pairs: of the differences).
    log_bayes_factor
        What all samples together say.
    usable
        Features that are not degenerate.
    settings
        Options of the screen, as far as they are known.
    names
        Names of the features, for priors that give one number each.
    how
        ``blocks=True``: the log Bayes factors are those of the pooled samples, the result has blocks.
        ``robust=True``: they are the least over leaving samples out, and fit no model.
    """
    step = float(settings.get("resolution") or 0.0)
    if len(moments.classes) == 1:
        return _of_pairs(moments, log_bayes_factor, usable, step, blocks=how.get("blocks", False))
    places = np.flatnonzero(usable)
    used = (moments.with_resolution(step) if step else moments).take(places)
    wanted, patterns = log_bayes_factor[places], settings.get("patterns", "any")
    for model, remark in _candidates(moments, settings, names, used, wanted):
        if how.get("robust") and not remark:
            return Origin(model, None, step)
        try:
            found = model.take(places, moments.n_features).log_bayes_factor(used, patterns)
        except BayesieveError:
            continue
        if places.size and (np.abs(found - wanted) <= _CLOSE * (1.0 + np.abs(wanted))).all():
            said = _OF_BLOCKS if remark and how.get("blocks") else remark
            return Origin(model, _comparison(model, moments, patterns, step, how), step, said)
    remark = _gone(settings) or (_LEAST if how.get("robust") else _UNKNOWN)
    return Origin(StoredModel("Gaussian"), Unrepeatable(), step, remark)


def _gone(settings: Mapping[str, Any]) -> str:
    """Say that the file of a prior is of no use any more; nothing if there was none."""
    prior = str(settings.get("prior", "jeffreys"))
    if prior in _NAMED:
        return ""
    return (
        f"The priors of {prior}, with which this was screened, are not there any more or have changed: the number "
        "of features that would pass by chance is not known."
    )


def _comparison(
    model: Model, moments: Moments, patterns: Any, step: float, how: Mapping[str, bool]
) -> Compared | None:
    """What can be drawn again: blocks cannot, since only their sum is stored."""
    if how.get("blocks"):
        return Unrepeatable()
    if len(moments.classes) == 2:
        return None
    part = Part(model, moments, None, step, moments) if step else Part(model, moments)
    return Comparison(Patterns.of(patterns, moments.classes), (part,))


def _of_pairs(moments: Moments, log_bf: FloatArray, usable: BoolArray, step: float, *, blocks: bool) -> Origin:
    model, width = GaussianModel.jeffreys(), math.sqrt(2.0) * step
    used = moments.with_resolution(width) if step else moments
    squares = np.where(usable, used.centred_squares, 1.0)
    count = used.count if used.count.ndim == 1 else np.maximum(used.count, 1)
    part = Moments.trusted(used.classes, count, used.mean, squares, np.asarray(used.residual))
    comparison = PairedComparison((part,), (usable,), width)
    wanted, found = log_bf[usable], comparison.log_bayes_factor()[usable]
    if blocks or not (np.abs(found - wanted) <= _CLOSE * (1.0 + np.abs(wanted))).all():
        return Origin(model, Unrepeatable(), step)
    return Origin(model, comparison, step)


def _candidates(
    moments: Moments, settings: Mapping[str, Any], names: Sequence[str], used: Moments, wanted: FloatArray
) -> Iterator[tuple[GaussianModel, str]]:
    """Models to try, the one that was said first, each with how it was come by."""
    if "prior" in settings or "prior_ratio" in settings:
        model = _said(moments, settings, names)
        if model is not None:
            yield model, ""
    two = len(moments.classes) == 2
    worked_out = _ratio(used, wanted) if two else 0.1
    if worked_out is not None:
        yield (
            GaussianModel.jeffreys(worked_out),
            (
                f"The file does not say which prior was used. Its log Bayes factors are those of Jeffreys' "
                f"prior with the prior ratio L = {worked_out:.6g}, worked out from the stored means and "
                "standard deviations."
            ),
        )
    for name in ("bic", "n_decay") if two else ():
        yield (
            GaussianModel.jeffreys(name),
            (
                f"The file does not say which prior was used. Its log Bayes factors are those of Jeffreys' "
                f"prior with the prior ratio {name!r}."
            ),
        )
    yield (
        GaussianModel.proper() if two else GaussianModel.proper(mean_locations=(0.0,)),
        "The file does not say which prior was used. Its log Bayes factors are those of the paper's proper prior.",
    )


def _said(moments: Moments, settings: Mapping[str, Any], names: Sequence[str]) -> GaussianModel | None:
    """Return the model that the settings name; None if its file has gone."""
    prior, ratio = str(settings.get("prior", "jeffreys")), settings.get("prior_ratio")
    try:
        number: Any = None if ratio is None else float(ratio)
    except (TypeError, ValueError):
        number = str(ratio)
    try:
        if prior == "jeffreys":
            return GaussianModel.jeffreys(0.1 if number is None else number)
        if prior == "proper":
            two = len(moments.classes) == 2
            return GaussianModel.proper() if two else GaussianModel.proper(mean_locations=(0.0,))
        labels = [str(label) for label in moments.classes]
        return read_model(prior, labels, names, number) if os.path.exists(prior) else None
    except BayesieveError:
        return None


def _ratio(moments: Moments, wanted: FloatArray) -> float | None:
    """Return the prior ratio under which Jeffreys' prior gives these log Bayes factors, as a plain number."""
    if not wanted.size:
        return None
    try:
        log_ratio = float(np.median(wanted - GaussianModel.jeffreys(1.0).log_bayes_factor(moments)))
    except BayesieveError:
        return None
    if not abs(log_ratio) < 300.0:
        return None
    return float(f"{math.exp(log_ratio):.9g}")


def model_of_counts(settings: Mapping[str, Any]) -> Model:
    """Return the model that the settings name, for its words: no evidence can be worked out from the table."""
    name = settings.get("model")
    if name == "poisson":
        from bayesieve.models import PoissonModel  # noqa: PLC0415 - loaded when asked for

        return PoissonModel()
    if name == "negative-binomial":
        from bayesieve.models import NegativeBinomialModel  # noqa: PLC0415

        return NegativeBinomialModel()
    if name == "categorical":
        from bayesieve.models import CategoricalModel  # noqa: PLC0415

        return CategoricalModel(1.0 if settings.get("prior") == "uniform" else 0.5)
    return StoredModel()
