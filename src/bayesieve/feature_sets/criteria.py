"""The criteria of section 3 under any model: each is solved on its own, over all sets of features.

Under the independent model they reduce to filtering, and agree with the rules of :mod:`bayesieve.selection`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from bayesieve.errors import RuleError
from bayesieve.feature_sets.feature_set import FeatureSet
from bayesieve.feature_sets.masks import members, set_sizes, sums_over_sets
from bayesieve.feature_sets.set_posterior import SetPosterior
from bayesieve.posterior.logistic import expit
from bayesieve.selection import (
    FalseDiscovery,
    FixedSize,
    MinimalRisk,
    MostProbable,
    NeymanPearson,
    Rule,
    as_rule,
)

FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]

_TIE = 1e-12


def select(posterior: SetPosterior, rule: Rule | str) -> FeatureSet:
    r"""Select features by one of the criteria of section 3, without taking features as independent.

    ``MostProbable()`` is MAP (3.1) and ``MostProbable(size=D)`` CMAP (3.2), the largest :math:`p(G \mid S)`;
    ``MinimalRisk(T)`` is MR (3.4), the least expected loss when a false positive costs :math:`T` and a false
    negative :math:`1 - T`; ``FixedSize(D)`` is CMNC (3.10), the least expected number of wrong labels;
    ``NeymanPearson(alpha)`` is NP (3.12), the most expected true positives within the bound;
    ``FalseDiscovery(q)`` is the largest set within the bound, and of these the one with the most expected
    true positives.

    Parameters
    ----------
    posterior
        The probability of every set.
    rule
        A rule, or ``"MAP"`` or ``"MNC"``.

    Notes
    -----
    Sets whose objectives agree to a relative 1e-12 are tied; the smallest bit mask wins.

    Examples
    --------
    >>> import numpy as np
    >>> import bayesieve as bs
    >>> from bayesieve.feature_sets.criteria import select
    >>> posterior = bs.SetPosterior.of_log_likelihood(np.log([0.4, 0.0001, 0.3, 0.3]), 0.5)
    >>> select(posterior, bs.MostProbable()).names, select(posterior, bs.MinimalRisk(0.5)).names
    ((), ('x1',))
    """
    rule = as_rule(rule)
    for kind, criterion in _CRITERIA.items():
        if isinstance(rule, kind):
            best, words = criterion(posterior, rule)
            return FeatureSet.of(posterior, np.array(members(best), dtype=np.int64), words)
    raise RuleError(
        f"{type(rule).__name__} is not defined for sets of features. Those that are: "
        f"{', '.join(kind.__name__ for kind in _CRITERIA)}."
    )


def _most_probable(posterior: SetPosterior, rule: MostProbable) -> tuple[int, str]:
    if rule.size is None:
        return _largest(posterior.log_probability), "the most probable set"
    of_size = _of_size(posterior, rule.size)
    return _largest(posterior.log_probability, of_size), f"the most probable set of {rule.size}"


def _minimal_risk(posterior: SetPosterior, rule: MinimalRisk) -> tuple[int, str]:
    wrong, missed = expit(-posterior.log_odds), expit(posterior.log_odds)
    risk = sums_over_sets(rule.threshold * wrong, (1.0 - rule.threshold) * missed)
    return int(np.argmax(risk <= risk.min() * (1.0 + _TIE))), f"probability over {rule.threshold:g}"


def _fixed_size(posterior: SetPosterior, rule: FixedSize) -> tuple[int, str]:
    return _most_true_positives(posterior, _of_size(posterior, rule.n)), f"the {rule.n} most probable"


def _neyman_pearson(posterior: SetPosterior, rule: NeymanPearson) -> tuple[int, str]:
    allowed = rule.expected_false_positives
    slack = _TIE * max(1.0, allowed) if allowed else 0.0
    within = sums_over_sets(expit(-posterior.log_odds)) <= allowed + slack
    return _most_true_positives(posterior, within), f"at most {allowed:g} false positives expected"


def _false_discovery(posterior: SetPosterior, rule: FalseDiscovery) -> tuple[int, str]:
    if rule.confidence is not None:
        raise RuleError(
            "FalseDiscovery with a confidence is defined for independent features only. Leave confidence out, or "
            "look at the law false_positives of a set."
        )
    sizes = set_sizes(posterior.n_features)
    wrong = sums_over_sets(expit(-posterior.log_odds))
    within = wrong <= rule.proportion * sizes * (1.0 + _TIE) + 1e-300
    within &= sizes == sizes[within].max()
    words = f"expected false-discovery rate at most {rule.proportion:g}"
    return _most_true_positives(posterior, within), words


_CRITERIA: dict[type, Callable[[SetPosterior, Any], tuple[int, str]]] = {
    MostProbable: _most_probable,
    MinimalRisk: _minimal_risk,
    FixedSize: _fixed_size,
    NeymanPearson: _neyman_pearson,
    FalseDiscovery: _false_discovery,
}


def _of_size(posterior: SetPosterior, size: int) -> BoolArray:
    if size > posterior.n_features:
        raise RuleError(
            f"{size} features are asked for, but there are only {posterior.n_features}. Ask for fewer."
        )
    return np.equal(set_sizes(posterior.n_features), size)


def _most_true_positives(posterior: SetPosterior, allowed: BoolArray) -> int:
    """Largest sum of probabilities; where that saturates at 1, the largest sum of log-odds."""
    found = sums_over_sets(expit(posterior.log_odds))
    tied = allowed & (found >= found[allowed].max() * (1.0 - _TIE))
    known = np.isfinite(posterior.log_odds)
    beyond = 1.0 + 2.0 * np.abs(posterior.log_odds[known]).max(initial=0.0)
    return _largest(sums_over_sets(np.clip(posterior.log_odds, -beyond, beyond)), tied)


def _largest(objective: FloatArray, allowed: BoolArray | None = None) -> int:
    """Smallest bit mask among the sets with the largest objective."""
    values = objective if allowed is None else np.where(allowed, objective, -np.inf)
    top = values.max()
    if top == -np.inf:
        raise RuleError("No set of this kind has a positive probability. Ask for another size.")
    return int(np.argmax(values >= top - _TIE * max(1.0, abs(top))))
