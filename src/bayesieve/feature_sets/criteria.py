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
from bayesieve.feature_sets.masks import log_sums_over_sets, members, set_sizes, sums_over_sets
from bayesieve.feature_sets.set_posterior import SetPosterior
from bayesieve.posterior.logistic import log_expit
from bayesieve.selection import (
    FalseDiscovery,
    FixedSize,
    MinimalRisk,
    MostProbable,
    NeymanPearson,
    Rule,
    as_rule,
)
from bayesieve.selection.bounds import ROUNDING, within_number, within_share

FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]


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
    The most expected true positives are the fewest expected false negatives; these are compared, by their
    logarithms, so that improbable features are still told apart. Sets whose objectives agree to a relative
    1e-12 are tied. Of sets that miss equally few markers the larger wins, then the one with the larger sum of
    log-odds. The last word has the smallest bit mask.

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
            chosen = members(int(np.argmax(best)))
            return FeatureSet.of(posterior, np.array(chosen, dtype=np.int64), words)
    raise RuleError(
        f"{type(rule).__name__} is not defined for sets of features. Those that are: "
        f"{', '.join(kind.__name__ for kind in _CRITERIA)}."
    )


def _most_probable(posterior: SetPosterior, rule: MostProbable) -> tuple[BoolArray, str]:
    log_probability, words = posterior.set_log_probability, "the most probable set"
    if rule.size is None:
        return _largest(log_probability), words
    of_size = _of_size(posterior, rule.size)
    if (log_probability[of_size] == -np.inf).all():
        raise RuleError(f"No set of {rule.size} features has a positive probability. Ask for another size.")
    return _largest(log_probability, of_size), f"{words} of {rule.size}"


def _minimal_risk(posterior: SetPosterior, rule: MinimalRisk) -> tuple[BoolArray, str]:
    with np.errstate(divide="ignore"):
        cost_wrong, cost_missed = np.log(rule.threshold), np.log1p(-rule.threshold)
    wrong, missed = log_expit(-posterior.log_odds), log_expit(posterior.log_odds)
    log_risk = log_sums_over_sets(cost_wrong + wrong, cost_missed + missed)
    return _largest(-log_risk), f"probability over {rule.threshold:g}"


def _fixed_size(posterior: SetPosterior, rule: FixedSize) -> tuple[BoolArray, str]:
    return _fewest_missed(posterior, _of_size(posterior, rule.n)), f"the {rule.n} most probable"


def _neyman_pearson(posterior: SetPosterior, rule: NeymanPearson) -> tuple[BoolArray, str]:
    allowed = rule.expected_false_positives
    within = within_number(sums_over_sets(posterior.null_probability), allowed)
    return _fewest_missed(posterior, within), f"at most {allowed:g} false positives expected"


def _false_discovery(posterior: SetPosterior, rule: FalseDiscovery) -> tuple[BoolArray, str]:
    if rule.confidence is not None:
        raise RuleError(
            "FalseDiscovery with a confidence is defined for independent features only. Leave confidence out, or "
            "look at the law false_positives of a set."
        )
    sizes = set_sizes(posterior.n_features)
    within = within_share(sums_over_sets(posterior.null_probability), sizes, rule.proportion)
    within &= sizes == sizes[within].max()
    words = f"expected false-discovery rate at most {rule.proportion:g}"
    return _fewest_missed(posterior, within), words


_CRITERIA: dict[type, Callable[[SetPosterior, Any], tuple[BoolArray, str]]] = {
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


def _fewest_missed(posterior: SetPosterior, allowed: BoolArray) -> BoolArray:
    """Sets with the fewest expected false negatives; where probabilities are too near to 1, log-odds decide."""
    log_odds = posterior.log_odds
    missed = log_sums_over_sets(np.full(log_odds.shape, -np.inf), log_expit(log_odds))
    tied = _largest(-missed, allowed)
    sizes = set_sizes(posterior.n_features)
    tied &= sizes == sizes[tied].max()
    beyond = 1.0 + 2.0 * np.abs(log_odds[np.isfinite(log_odds)]).max(initial=0.0)
    return _largest(sums_over_sets(np.clip(log_odds, -beyond, beyond)), tied)


def _largest(objective: FloatArray, allowed: BoolArray | None = None) -> BoolArray:
    """Sets whose objective is the largest of those allowed, up to rounding."""
    among = np.True_ if allowed is None else allowed
    top = float(objective.max(initial=-np.inf, where=among))
    least = top - ROUNDING * max(1.0, abs(top)) if np.isfinite(top) else top
    return np.logical_and(among, objective >= least)
