"""Which model gave the log Bayes factors of a stored result: as said, if that holds, or worked out."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bayesieve.errors import BayesieveError
from bayesieve.io.priors import read_model
from bayesieve.io.results.stored_parts import StoredModel, Unrepeatable
from bayesieve.models import Compared, Comparison, GaussianModel, Model, PairedComparison, Part, Patterns
from bayesieve.screening import ScreenSpec
from bayesieve.stats import Moments
from bayesieve.utils import BoolArray, FloatArray

_CLOSE = 1e-6
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
    moments: Moments, log_bayes_factor: FloatArray, usable: BoolArray, spec: ScreenSpec | None,
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
    spec
        Specification of the screen, if it is known.
    names
        Names of the features, for priors that give one number each.
    how
        ``blocks=True``: the log Bayes factors are those of the pooled samples, the result has blocks.
        ``robust=True``: they are the least over leaving samples out, and fit no model.
    """
    step = 0.0 if spec is None else spec.resolution or 0.0
    if len(moments.classes) == 1:
        return _of_pairs(moments, log_bayes_factor, usable, step, blocks=how.get("blocks", False))
    places = np.flatnonzero(usable)
    used = (moments.with_resolution(step) if step else moments).take(places)
    wanted, patterns = log_bayes_factor[places], "any" if spec is None else spec.patterns
    for model, remark in _candidates(moments, spec, names, used, wanted):
        if how.get("robust") and not remark:
            return Origin(model, None, step)
        try:
            found = model.take(places, moments.n_features).log_bayes_factor(used, patterns)
        except BayesieveError:
            continue
        if places.size and (np.abs(found - wanted) <= _CLOSE * (1.0 + np.abs(wanted))).all():
            said = _OF_BLOCKS if remark and how.get("blocks") else remark
            return Origin(model, _comparison(model, moments, patterns, step, how), step, said)
    remark = _gone(spec) or (_LEAST if how.get("robust") else _UNKNOWN)
    return Origin(StoredModel("Gaussian"), Unrepeatable(), step, remark)


def _gone(spec: ScreenSpec | None) -> str:
    """Say that the file of a prior is of no use any more; nothing if there was none."""
    if spec is None or not spec.has_prior_file:
        return ""
    return (
        f"The priors of {spec.prior}, with which this was screened, are not there any more or have changed: the "
        "number of features that would pass by chance is not known."
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
    moments: Moments, spec: ScreenSpec | None, names: Sequence[str], used: Moments, wanted: FloatArray
) -> Iterator[tuple[GaussianModel, str]]:
    """Models to try, the one that was said first, each with how it was come by."""
    model = None if spec is None else _stated_model(moments, spec, names)
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


def _stated_model(moments: Moments, spec: ScreenSpec, names: Sequence[str]) -> GaussianModel | None:
    """Return the model of the specification; None if its file has gone."""
    try:
        spec.check_files()
        model = spec.make_model([str(label) for label in moments.classes], names, read_model)
    except BayesieveError:
        return None
    return model if isinstance(model, GaussianModel) else None


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
