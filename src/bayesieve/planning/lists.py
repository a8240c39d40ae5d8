"""Lists of futures: what every rule would list, and how much of it is true."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from bayesieve.planning.future import Listed
from bayesieve.posterior import logit
from bayesieve.selection import (
    FalseDiscovery,
    FixedSize,
    MinimalRisk,
    MostProbable,
    NeymanPearson,
    as_rule,
    rule_options,
    within_number,
    within_share,
)
from bayesieve.utils import FloatArray, IntArray, RuleError

_POOL = 50  # futures whose non-markers stand for shuffled labels


@dataclass(frozen=True, slots=True, eq=False)
class NullPool:
    """Evidence of the non-markers of some futures, in the place of shuffled labels.

    Parameters
    ----------
    values
        Of each future the log Bayes factors over 0 of as many non-markers as there are features, falling.
    n_features, null_share
        Number of features, and share of non-markers believed in beforehand.
    """

    values: tuple[FloatArray, ...]
    n_features: int
    null_share: float
    _all: FloatArray = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_all", np.sort(-np.concatenate([*self.values, np.empty(0)])))

    @classmethod
    def of(
        cls, futures: Sequence[Listed], n_features: int, n_markers: Sequence[int], null_share: float
    ) -> NullPool:
        """Collect the non-markers of the first futures."""
        chosen = range(min(_POOL, len(futures)))
        values = tuple(futures[i].log_bayes_factor[~futures[i].true] for i in chosen)
        scale = float(np.mean([n_features / max(n_features - n_markers[i], 1) for i in chosen])) if values else 1.0
        return cls(values, n_features, null_share * scale)

    def expected(self, evidence: FloatArray) -> FloatArray:
        """Mean number of features that come as far by chance."""
        reached = np.searchsorted(self._all, -evidence, side="right")
        return np.asarray(self.null_share * reached / max(len(self.values), 1))

    def likely(self, evidence: FloatArray, confidence: float) -> FloatArray:
        """Quantile of the number of features that come as far by chance."""
        counts = np.array([np.searchsorted(-each, -evidence, side="right") for each in self.values])
        return np.asarray(self.null_share * np.quantile(counts, confidence, axis=0, method="inverted_cdf"))


def check_rules(rules: Any) -> dict[str, Any]:
    """Return the rules by name, in the order given; others than those of the package are refused."""
    given = [rules] if isinstance(rules, str) or hasattr(rules, "select") else list(rules)
    if not given:
        raise RuleError("Give at least one rule, for example 'mnc'.")
    found: dict[str, Any] = {}
    for each in given:
        rule = as_rule(each)
        words = rule_options(rule)
        if not words:
            raise RuleError(
                f"A plan knows the rules of the package only, such as 'mnc' and 'fdr:0.1', not {rule!r}."
            )
        numbers = [f"{value:g}" for name, value in words.items() if name != "criterion"]
        found[":".join([str(words["criterion"]), *numbers])] = rule
    return found


def most_listed(rules: Sequence[Any]) -> int:
    """Return the length that a rule promises, which has to be kept of every future; 0 if none does."""
    lengths = [getattr(rule, "n", None) or getattr(rule, "size", None) or 0 for rule in rules]
    return max(lengths, default=0)


def length_of(rule: Any, evidence: FloatArray, prior_log_odds: float, pool: NullPool) -> int:
    """Return how many of the features, the strongest first, a rule lists.

    As :func:`bayesieve.screen` does it: false positives of the rules that bound them are counted with shuffled
    labels, whose place the non-markers of other futures take.
    """
    if isinstance(rule, FixedSize):
        return min(rule.n, evidence.size)
    if isinstance(rule, MostProbable) and rule.size is not None:
        return min(rule.size, evidence.size)
    if isinstance(rule, (MinimalRisk, MostProbable)):
        cut = logit(getattr(rule, "threshold", 0.5)) - prior_log_odds
        return int(np.searchsorted(-evidence, -cut, side="left"))
    own = evidence[evidence > 0.0]
    number = np.arange(1, own.size + 1)
    if isinstance(rule, NeymanPearson):
        return int(np.count_nonzero(within_number(pool.expected(own), rule.expected_false_positives)))
    assert isinstance(rule, FalseDiscovery)
    expected = pool.expected(own) if rule.confidence is None else pool.likely(own, rule.confidence)
    return int(np.flatnonzero(within_share(expected, number, rule.proportion)).max(initial=-1)) + 1


@dataclass(frozen=True, slots=True, eq=False)
class Counts:
    """Lists of one rule in the futures of one design.

    Parameters
    ----------
    listed, true
        Features listed, and markers among them, of every future.
    markers
        Markers that there are.
    cuts
        Log Bayes factor of the last feature listed; infinite where nothing is.
    chain
        Which chain of draws a future comes from.
    power
        Share of the probes listed, ``(n_futures, n_sizes)``.
    """

    listed: IntArray
    true: IntArray
    markers: IntArray
    cuts: FloatArray
    chain: IntArray
    power: FloatArray

    @property
    def false(self) -> IntArray:
        """Non-markers listed."""
        return self.listed - self.true

    @property
    def share_right(self) -> FloatArray:
        """Share of the list that is right; NaN where nothing is listed."""
        with np.errstate(invalid="ignore"):
            return np.where(self.listed > 0, self.true / np.maximum(self.listed, 1), np.nan)

    def error(self, values: Any) -> float:
        """Monte Carlo error of a mean: from the means of the chains, within which draws follow each other."""
        values = np.asarray(values, dtype=np.float64)
        chains = np.unique(self.chain)
        if chains.size < 2:
            return float(np.std(values, ddof=1) / math.sqrt(values.size)) if values.size > 1 else math.nan
        means = np.array([values[self.chain == k].mean() for k in chains])
        return float(means.std(ddof=1) / math.sqrt(chains.size))


def count_lists(
    rule: Any, futures: Sequence[Listed], markers: IntArray, chain: IntArray, prior_log_odds: float, pool: NullPool
) -> Counts:
    """Apply a rule to all futures of a design."""
    listed, true = np.zeros(len(futures), np.int64), np.zeros(len(futures), np.int64)
    cuts = np.full(len(futures), math.inf)
    power = np.zeros((len(futures), len(futures[0].probes)))
    for i, future in enumerate(futures):
        length = length_of(rule, future.log_bayes_factor, prior_log_odds, pool)
        listed[i], true[i] = length, int(future.true[:length].sum())
        if length:
            cuts[i] = future.log_bayes_factor[length - 1]
            power[i] = (future.probes >= cuts[i]).mean(axis=1)
    return Counts(listed, true, markers, cuts, chain, power)
