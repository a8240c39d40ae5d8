"""Where the live controls of the page start: the rule, the prior probability, and the prior ratio if it moves."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from bayesieve.models import (
    NAMED_LOG_RATIOS,
    Comparison,
    PairedComparison,
    Part,
    ShiftComparison,
    UnknownComparison,
    UnknownModel,
    depends_on_sizes,
)
from bayesieve.posterior import FeaturePosterior, check_log_odds, expit
from bayesieve.selection import MinimalRisk, Rule, Selection, as_rule, rule_options
from bayesieve.utils import RuleError


def prior_probability(posterior: FeaturePosterior) -> float | None:
    """Return the prior probability in the fewest digits that give its log-odds; None if features differ."""
    values = np.unique(np.asarray(posterior.prior_log_odds, dtype=np.float64))
    if values.size != 1:
        return None
    log_odds = float(values[0])
    found = float(expit(log_odds))
    for shorter in (float(f"{found:.{digits}g}") for digits in range(1, 18)):
        if math.isclose(float(check_log_odds(shorter, 1)), log_odds, rel_tol=4e-16, abs_tol=1e-300):
            return shorter
    return found


@dataclass(frozen=True, slots=True)
class RatioState:
    """The prior ratio of an improper prior.

    Parameters
    ----------
    value
        The ratio; None if it cannot be moved.
    power
        How many times it enters every log Bayes factor.
    reason
        Why it cannot be moved; empty if it can.
    """

    value: float | None
    power: int = 1
    reason: str = ""


def ratio_state(posterior: FeaturePosterior) -> RatioState:
    """Find out whether another prior ratio would move all log-odds by the same, and how often it enters them."""
    model: Any = posterior.model
    value = _scalar(model.prior_ratio)
    reason, power = "", 1
    if isinstance(model, UnknownModel):
        reason = "The prior ratio cannot be moved: the prior of this stored result is not known."
    elif not model.supports("moments"):
        reason = f"There is no prior ratio: the priors of {_kind(posterior)} are proper."
    elif isinstance(posterior.comparison, PairedComparison) and not model.supports("effect-sizes"):
        reason = "There is no prior ratio: pairs have a constant of their own."
    elif model.supports("effect-sizes"):
        reason = "There is no prior ratio: differences have proper priors, in units that the data set."
    elif model.is_proper:
        reason = "The prior ratio follows from the proper priors and cannot be moved."
    elif model.proper_mask.any():
        reason = "The prior ratio cannot be moved: some features have proper priors, others have not."
    elif len(posterior.classes) != 2:
        reason = "The prior ratio cannot be moved: it enters patterns with more groups of classes more often."
    elif value is None:
        reason = "The prior ratio cannot be moved: it is one per feature, or depends on the numbers of samples."
    else:
        power, reason = _power(posterior)
        reason = reason or _unmoved(posterior)
    return RatioState(None, 1, reason) if reason else RatioState(value, power)


def ratio_moves(posterior: FeaturePosterior) -> str:
    """Say how log-odds and ranks depend on the prior ratio L of an improper prior."""
    state, comparison = ratio_state(posterior), posterior.comparison
    if state.value is not None:
        often = f"{state.power} log L, once per block" if state.power > 1 else "log L"
        return f"all log-odds move with {often}, and ranks do not depend on it."
    if len(posterior.classes) > 2:
        return (
            "log-odds move with log L once for every group of classes beyond the first, patterns with more groups "
            "further than others, so that ranks may depend on it."
        )
    if getattr(posterior.model, "proper_mask", np.array(False)).any():
        return "log-odds move with log L where priors are improper and stay elsewhere, so that ranks depend on it."
    in_blocks = posterior.block_evidence is not None and not isinstance(comparison, ShiftComparison)
    if in_blocks or isinstance(comparison, UnknownComparison):
        return (
            "log-odds move with log L, once for every block that a feature is known from if blocks have "
            "distributions of their own. Ranks do not depend on it only if features are known from equally many."
        )
    if _unmoved(posterior):
        return "log-odds move with log L, but for features without evidence, which stay at the prior."
    return "log-odds move with log L. Ranks do not depend on it only if all features have the same."


def _scalar(ratio: object) -> float | None:
    if isinstance(ratio, str):
        return None if depends_on_sizes(ratio) else _round(math.exp(NAMED_LOG_RATIOS[ratio](2, 2)))
    return float(ratio) if isinstance(ratio, (int, float)) else None


def _round(value: float) -> float:
    shorter = float(f"{value:.12g}")
    return shorter if math.isclose(shorter, value, rel_tol=1e-15) else value


def _power(posterior: FeaturePosterior) -> tuple[int, str]:
    """How often the ratio enters, or why that differs from feature to feature."""
    comparison = posterior.comparison
    if comparison is None or isinstance(comparison, ShiftComparison):
        return 1, ""
    if isinstance(comparison, UnknownComparison):
        return 1, "The prior ratio cannot be moved: a stored result does not hold its blocks one by one."
    if not isinstance(comparison, Comparison):
        return 1, "The prior ratio cannot be moved: the evidence is given that of other features."
    parts = [part for part in comparison.parts if part.model.supports("moments")]
    usable = ~posterior.degenerate
    if any(not _complete(part, usable) for part in parts):
        return 1, "The prior ratio cannot be moved: some features are known from fewer blocks than others."
    return len(parts), ""


def _unmoved(posterior: FeaturePosterior) -> str:
    """Features without any evidence stay at the prior, so that the others would move past them."""
    n = int((posterior.degenerate & np.equal(posterior.log_bayes_factor, 0.0)).sum())
    if not n:
        return ""
    stay = f"{n:,} features without evidence stay" if n > 1 else "a feature without evidence stays"
    return f"The prior ratio cannot be moved: {stay} at the prior whatever the ratio, so that ranks would change."


def _complete(part: Part, usable: np.ndarray) -> bool:
    return part.kept is None or bool(part.kept[usable].all())


def _kind(posterior: FeaturePosterior) -> str:
    return f"the {posterior.model.family} model" if posterior.model.family else "this model"


_USUAL_SIZE = 100


@dataclass(frozen=True, slots=True)
class RuleState:
    """A rule by the acronym of its criterion, with a number for every control.

    Parameters
    ----------
    name
        ``mnc``, ``mr``, ``cmnc``, ``np``, ``fdr`` or ``fdp``.
    threshold, n_selected, expected_false_positives, proportion, confidence
        Numbers of the rules; those of other rules are where their controls start.
    """

    name: str = "mnc"
    threshold: float = 0.5
    n_selected: int = _USUAL_SIZE
    expected_false_positives: float = 5.0
    proportion: float = 0.1
    confidence: float = 0.9

    @classmethod
    def of(cls, rule: Rule) -> RuleState | None:
        """Read off a rule of this package; None for another one."""
        numbers = rule_options(rule)
        criterion = numbers.pop("criterion", "")
        if not criterion or not all(map(math.isfinite, numbers.values())):
            return None
        plain: dict[str, Any] = {name: int(n) if name == "n_selected" else float(n) for name, n in numbers.items()}
        return cls({"map": "mnc", "cmap": "cmnc"}.get(criterion, criterion), **plain)

    def content(self) -> dict[str, Any]:
        """Return the numbers by name, as the page takes them."""
        return asdict(self)


def start_of_controls(found: FeaturePosterior | Selection, rule: Rule | str | None) -> tuple[Selection, RuleState]:
    """Return the list that the page starts with, and the state of the controls that gives it."""
    if isinstance(found, Selection):
        wanted = None if rule is None else as_rule(rule)
        state = None if wanted is None else RuleState.of(wanted)
        if wanted is not None and (wanted.select(found.posterior).mask != found.mask).any():
            raise RuleError(
                f"The rule {wanted!r} selects {wanted.select(found.posterior).n_selected:,} features, the "
                f"selection holds {found.n_selected:,}. Give the posterior and the rule, or the selection alone."
            )
        return found, _with_size(found, state or _infer(found))
    wanted = as_rule("MNC" if rule is None else rule)
    selection = wanted.select(found)
    return selection, _with_size(selection, RuleState.of(wanted) or _infer(selection))


def _infer(selection: Selection) -> RuleState:
    """Find the controls that give a list: probability over a half, or a fixed size."""
    posterior, size = selection.posterior, selection.n_selected
    if (MinimalRisk(0.5).select(posterior).mask == selection.mask).all():
        return RuleState("mnc")
    ranking = posterior.ranking
    if not selection.mask[ranking[:size]].all():
        first = int(np.flatnonzero(~selection.mask[ranking])[0])
        last = int(np.flatnonzero(selection.mask[ranking])[-1])
        raise RuleError(
            f"The page shows lists that hold the most probable features, but this selection of {size:,} leaves "
            f"out {posterior.names[int(ranking[first])]!r} (rank {first + 1:,}) and holds "
            f"{posterior.names[int(ranking[last])]!r} (rank {last + 1:,}). Write the report of the posterior with "
            "a rule, and say in annotation which features were selected otherwise."
        )
    return RuleState("cmnc", n_selected=size)


def _with_size(selection: Selection, state: RuleState) -> RuleState:
    """Let the control of the size start at the list's own."""
    if state.name == "cmnc":
        return state
    return replace(state, n_selected=min(selection.n_selected or _USUAL_SIZE, selection.posterior.n_features))
