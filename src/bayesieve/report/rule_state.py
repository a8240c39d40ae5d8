"""RuleState: where the live controls of the page start, read off a rule or a selection."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from bayesieve.errors import RuleError
from bayesieve.posterior import FeaturePosterior
from bayesieve.selection import MinimalRisk, Rule, Selection, as_rule, rule_options

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
    """Return the list that the page starts with, and the state of the controls that gives it.

    Parameters
    ----------
    found
        A screen, or the selection of a rule.
    rule
        The rule; None for MNC on a screen, and for whatever gave a selection.
    """
    if isinstance(found, Selection):
        given = None if rule is None else as_rule(rule)
        state = None if given is None else RuleState.of(given)
        if given is not None and (given.select(found.posterior).mask != found.mask).any():
            raise RuleError(
                f"The rule {given!r} selects {given.select(found.posterior).n_selected:,} features, the selection "
                f"holds {found.n_selected:,}. Give the posterior and the rule, or the selection alone."
            )
        return found, _with_size(found, state or _infer(found))
    given = as_rule("MNC" if rule is None else rule)
    selection = given.select(found)
    return selection, _with_size(selection, RuleState.of(given) or _infer(selection))


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
