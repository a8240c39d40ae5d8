r"""Consistency (section 5): whether more samples are bound to lead to the true markers, and how fast.

Theorem 3 says when :math:`p(\bar G \mid S_n) \to 1` with probability 1. Its conditions (i) to (iii) are about the
data; (iv) and (v) are about what the user puts in, and can be checked before any data are seen.
"""

from __future__ import annotations

import contextlib
import math
import textwrap
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from bayesieve.models import GaussianModel, Model, PriorRatio, depends_on_sizes, log_prior_ratio, power_of_n
from bayesieve.posterior.marginals import check_log_odds
from bayesieve.utils import FloatArray, IntArray, PriorError, check_whole, list_names

MOST_FEATURES = 20  # whose sets can all be looked at


@runtime_checkable
class OverSets(Protocol):
    """A prior that gives every set of features a probability, such as :class:`bayesieve.SetPrior`."""

    def log_weights(self, n_features: int) -> FloatArray:
        """Log weight of every set, by bit mask."""
        ...

    def log_probability(self, n_features: int) -> FloatArray:
        """Log probability of every set, by bit mask."""
        ...


@runtime_checkable
class OverSizes(OverSets, Protocol):
    """One that depends on the number of markers only, such as :class:`bayesieve.SizePrior`."""

    def log_sizes(self, n_features: int) -> FloatArray:
        """Log probability of 0, 1, ..., ``n_features`` markers."""
        ...


_SHARES = (0.1, 0.5, 0.9)
_MOST_LISTED = 5
_SAME_POWER = 2e-3
_ABOUT_DIFFERENCES = (
    "Theorem 3 is about priors of the mean and variance of each class, and this model has priors on differences "
    "only."
)
_SHRINKING_SIZES = (
    "The odds of markers grow exponentially with n. The smallest effect size looked for shrinks like n ** -0.5, "
    "so that effects can be found that are just visible, and the odds of non-markers fall only like 1 / log n, in "
    "probability. Given mean_sizes and ratio_sizes would let them fall like n ** -0.5."
)
_FIXED_SIZES = (
    "The odds of markers grow exponentially with n. Effect sizes do not depend on n, and the odds of non-markers "
    "fall like n ** -0.5, in probability."
)
_VERDICTS = {True: "holds", False: "does not hold", None: "cannot be told"}


@dataclass(frozen=True, slots=True)
class Condition:
    """One condition of Theorem 3.

    Parameters
    ----------
    verdict
        True, False, or None where it depends on what nobody knows, or where the theorem does not apply.
    sentence
        Why.
    """

    verdict: bool | None
    sentence: str


@dataclass(frozen=True, slots=True, eq=False)
class ConsistencyReport:
    r"""What of Theorem 3 depends on the user, and the rates that follow.

    Parameters
    ----------
    condition_iv
        The true set of markers has a positive prior probability.
    condition_v
        The prior is semi-proper: :math:`L(n_0, n_1) \sim c\, n^p` with :math:`p < 1` (Definition 3).
    exponent
        The power :math:`p`, the largest one if features differ; None where there is none.
    never, always
        Positions of features that the prior rules out, and of those that it takes for granted.
    caveats
        What has not been checked, in sentences.

    Examples
    --------
    >>> import bayesieve as bs
    >>> report = bs.consistency_report(bs.GaussianModel.jeffreys("n_decay"), 0.01)
    >>> report.holds, report.exponent, report.summable
    (True, -1.0, True)
    """

    condition_iv: Condition
    condition_v: Condition
    exponent: float | None
    never: IntArray
    always: IntArray
    caveats: tuple[str, ...]

    def __post_init__(self) -> None:
        for array in (self.never, self.always):
            array.flags.writeable = False

    @property
    def holds(self) -> bool | None:
        """Whether both conditions hold; None if neither fails but one cannot be told."""
        verdicts = (self.condition_iv.verdict, self.condition_v.verdict)
        if False in verdicts:
            return False
        return None if None in verdicts else True

    @property
    def summable(self) -> bool | None:
        """Whether a non-marker's probabilities add up to a finite number over all n: if p < 0 (section S6)."""
        return None if self.exponent is None else self.exponent < -_SAME_POWER

    @property
    def rates(self) -> tuple[str, ...]:
        """How fast the odds of markers and non-markers move, in sentences."""
        if self.exponent is None:
            return ()
        if not self.condition_v.verdict:
            return ("The odds of non-markers are not bound to fall as samples are added.",)
        total = "a finite number" if self.summable else "infinity"
        return (
            "The odds of markers grow exponentially with n.",
            f"The odds of non-markers fall like n ** {self.exponent - 1.0:.4g}, give or take powers of log n; "
            f"their probabilities add up to {total} over all n.",
        )

    def __str__(self) -> str:
        head = {
            True: "Consistent by Theorem 3, if the data are as it asks.",
            False: "Not assured to be consistent: a condition of Theorem 3 does not hold.",
            None: "Whether Theorem 3 applies cannot be told.",
        }[self.holds]
        lines = [head]
        for name, condition in (("iv", self.condition_iv), ("v", self.condition_v)):
            lines.append(f"- Condition ({name}) {_VERDICTS[condition.verdict]}: {condition.sentence}")
        lines += [f"- {sentence}" for sentence in (*self.rates, *self.caveats)]
        return "\n".join(textwrap.fill(line, 100, subsequent_indent="  ") for line in lines)


def consistency_report(
    model: Model | None = None, prior_probability: Any = 0.01, *, n_features: int | None = None
) -> ConsistencyReport:
    """Check what of Theorem 3 depends on the user: a positive prior of the true set, and a semi-proper prior.

    Parameters
    ----------
    model
        Likelihood and priors; ``GaussianModel.jeffreys(prior_ratio=0.1)`` by default. The theorem does not speak
        of a :class:`CalibratedModel`; the report says how fast its odds move.
    prior_probability
        A number, one per feature, or a prior over sets such as :class:`bayesieve.SizePrior`.
    n_features
        Number of features; needed for a prior over sets.

    Examples
    --------
    >>> import bayesieve as bs
    >>> print(bs.consistency_report(prior_probability=[0.1, 0.0, 0.1]).condition_iv.sentence)
    1 of 3 features has the prior probability 0 (position 1) and can never be selected. The selection is consistent
    only if this is true of it.
    """
    model = GaussianModel.jeffreys() if model is None else model
    if not isinstance(model, Model):
        raise PriorError(f"model must be a Model, for example GaussianModel.jeffreys(), not {model!r}.")
    if n_features is not None:
        check_whole("n_features", n_features, 1, PriorError)
    if isinstance(prior_probability, OverSets):
        condition_iv, never, always = _of_sets(prior_probability, n_features)
    else:
        odds = _prior_log_odds(prior_probability, n_features)
        n_features = odds.size if odds.ndim else n_features
        condition_iv, never, always = _of_features(odds, n_features)
    if n_features is not None:
        model.check_features(int(n_features))
    condition_v, exponent = _condition_v(model)
    return ConsistencyReport(condition_iv, condition_v, exponent, never, always, _caveats(model))


def _prior_log_odds(prior_probability: Any, n_features: int | None) -> npt.NDArray[np.float64]:
    if n_features is None:
        with contextlib.suppress(TypeError):  # a plain number has no length
            n_features = len(prior_probability)
    return np.asarray(check_log_odds(prior_probability, n_features or 1))


def _of_features(odds: Any, n_features: int | None) -> tuple[Condition, IntArray, IntArray]:
    """Condition (iv) for features that are markers independently of each other."""
    if odds.ndim == 0 and np.isinf(odds):
        places, number = np.arange(n_features or 0), 0 if odds < 0 else 1
        fate, truth = ("never", "there are no markers") if odds < 0 else ("always", "all features are markers")
        sentence = (
            f"The prior probability is {number}, so that features are {fate} selected, whatever the data. The "
            f"selection is consistent only if {truth}."
        )
        return Condition(None, sentence), *((places, places[:0]) if odds < 0 else (places[:0], places))
    never, always = np.flatnonzero(odds == -np.inf), np.flatnonzero(odds == np.inf)
    if never.size + always.size == 0:
        sentence = "Prior probabilities lie between 0 and 1, so every set of features is possible beforehand."
        return Condition(True, sentence), never, always
    whom = "it" if never.size + always.size == 1 else "them"
    sentence = f"{_fates(never, always, odds.size)} The selection is consistent only if this is true of {whom}."
    return Condition(None, sentence), never, always


def _of_sets(prior: OverSets, n_features: int | None) -> tuple[Condition, IntArray, IntArray]:
    """Condition (iv) for a prior over sets, by their sizes or one by one."""
    if n_features is None:
        raise PriorError("A prior over sets needs n_features, the number of features.")
    everything, nothing = np.arange(n_features), np.arange(0)
    if isinstance(prior, OverSizes):
        sizes = np.flatnonzero(np.asarray(prior.log_sizes(n_features)) > -np.inf)
        n_possible, n_all, what = sizes.size, n_features + 1, "numbers of markers"
        never = everything if sizes.max() == 0 else nothing
        always = everything if sizes.min() == n_features else nothing
    elif n_features > MOST_FEATURES:
        raise PriorError(
            f"The sets of {n_features} features are too many to list (up to {MOST_FEATURES} features will do). "
            "Give a SizePrior or one prior probability per feature."
        )
    else:
        sets = np.flatnonzero(np.asarray(prior.log_probability(n_features)) > -np.inf)
        n_possible, n_all, what = sets.size, 2**n_features, "sets of features"
        in_some, in_all = (int(bits) for bits in (np.bitwise_or.reduce(sets), np.bitwise_and.reduce(sets)))
        never = everything[[not in_some >> int(f) & 1 for f in everything]]
        always = everything[[bool(in_all >> int(f) & 1) for f in everything]]
    if n_possible == n_all:
        return Condition(True, "Every set of features has a positive prior probability."), never, always
    sentence = (
        f"The prior gives {n_all - n_possible:,} of {n_all:,} {what} the probability 0. The selection is "
        "consistent only if the truth is not among them."
    )
    if never.size + always.size:
        sentence += f" {_fates(never, always, n_features)}"
    return Condition(None, sentence), never, always


def _fates(never: IntArray, always: IntArray, n_features: int) -> str:
    """Say which features the prior has decided about."""
    parts: list[str] = []
    for places, number, fate in ((never, 0, "can never be"), (always, 1, "will always be")):
        if places.size:
            have = "has" if places.size == 1 else "have"
            count = f"{places.size:,} of {n_features:,} features" if not parts else f"{places.size:,}"
            parts.append(
                f"{count} {have} the prior probability {number} ({_positions(places)}) and {fate} selected"
            )
    return f"{'; '.join(parts)}."


def _positions(places: IntArray) -> str:
    return f"{'position' if places.size == 1 else 'positions'} {list_names(places.tolist(), _MOST_LISTED)}"


def _condition_v(model: Any) -> tuple[Condition, float | None]:
    """Definition 3: how the prior ratio depends on the number of samples."""
    if not model.supports("moments"):
        sentence = f"Theorem 3 is stated for Gaussian models, and {type(model).__name__} is not one."
        return Condition(None, sentence), None
    if model.supports("effect-sizes"):
        return Condition(None, _ABOUT_DIFFERENCES), None
    proper = model.proper_mask
    if proper.all():
        return Condition(True, "All priors are proper, which is semi-proper with p = 0."), 0.0
    assert model.prior_ratio is not None
    condition, exponent = _of_ratio(model.prior_ratio)
    if not proper.any() or exponent is None:
        return condition, exponent
    sentence = f"{condition.sentence} Features whose priors are proper have p = 0."
    return Condition(condition.verdict, sentence), max(exponent, 0.0)


def _of_ratio(ratio: PriorRatio) -> tuple[Condition, float | None]:
    """Condition (v) of a prior ratio that was given."""
    if not callable(ratio) and not (isinstance(ratio, str) and depends_on_sizes(ratio)):
        sentence = "prior_ratio does not depend on the number of samples: semi-proper with p = 0."
        return Condition(True, sentence), 0.0
    log_prior_ratio(ratio, 500, 500)  # a function that cannot be evaluated is an error, not a verdict
    probed = [power_of_n(ratio, share) for share in _SHARES]
    reasons = [reason for _, reason in probed if reason]
    powers = [power for power, _ in probed if not math.isnan(power)]
    exponent = max(powers) if len(powers) == len(probed) else None
    if reasons:
        return Condition(False, f"prior_ratio is not semi-proper: {reasons[0]}."), exponent
    assert exponent is not None
    form = f"behaves like c * n ** {exponent:.4g}" if abs(exponent) > _SAME_POWER else "tends to a constant"
    sentence = f"prior_ratio {form}: semi-proper with p = {exponent:.4g}."
    if exponent - min(powers) > _SAME_POWER:
        sentence += (
            f" The power falls to {min(powers):.4g} in other proportions of the classes, which must settle."
        )
    return Condition(True, sentence), exponent


def _caveats(model: Any) -> tuple[str, ...]:
    """List what a model alone cannot answer for."""
    if not model.supports("moments"):
        return ()
    sentences = [
        "Conditions (i) to (iii) are about the data and are not checked: markers differ in mean or variance and "
        "non-markers in neither, non-markers have finite fourth moments, samples are independent, and no class "
        "dwindles to a share of 0.",
        "The theorem is about two classes without blocks or pairs. A list of fixed size is right in the end only "
        "if the size is the number of markers.",
    ]
    if model.supports("effect-sizes"):
        fixed = model.mean_sizes is not None and model.ratio_sizes is not None
        return (*sentences, _FIXED_SIZES if fixed else _SHRINKING_SIZES)
    priors = (*model.class_priors, model.pooled_prior)
    if any(np.any(np.asarray(prior.variance_scale) <= 0) for prior in priors):
        sentences.append("Without a variance_scale in the prior, variances must be positive in every class.")
    return tuple(sentences)
