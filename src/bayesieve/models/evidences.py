r"""Bayes factors: patterns of differing classes against no difference, from log evidences of groups of classes.

.. math:: \log BF = \log \sum_P w_P \prod_{A \in P} p(S_A) - \log p(S)

With two classes there is one pattern, and this is the paper's :math:`p(S_0) p(S_1) / p(S)`. Blocks of
samples and informative absence of values come in as sums of evidences.
"""

from __future__ import annotations

import abc
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from bayesieve.data import Label
from bayesieve.models.gaussian.prior_ratio import check_prior_ratio
from bayesieve.models.patterns import Patterns
from bayesieve.stats import ClassStatistics, Parts
from bayesieve.utils import FloatArray, for_each, n_threads_for

Term = tuple[list[FloatArray], Any]  # arrays to be added up, and a constant


class Evidences(abc.ABC):
    """What some data say about patterns of classes that differ, against no difference."""

    __slots__ = ()

    @abc.abstractmethod
    def pattern(self, groups: Sequence[tuple[int, ...]]) -> FloatArray:
        """Log Bayes factor of one pattern against no difference, feature by feature."""

    def terms(self, patterns: Patterns) -> list[Term]:
        """For every pattern the parts of its log Bayes factor, to be added up, and a constant."""
        return [([self.pattern(patterns.groups(i))], 0.0) for i in range(len(patterns.log_weights))]


class ProductOfEvidences(Evidences):
    """Log evidences of groups of classes, which multiply; what is common to all groupings may be left out."""

    __slots__ = ()

    @abc.abstractmethod
    def pooled(self) -> FloatArray:
        """Log evidence of all classes together, as of a feature that is no marker."""

    @abc.abstractmethod
    def group(self, members: tuple[int, ...], prior_index: int) -> FloatArray:
        """Log evidence of some classes that share their parameters."""

    @abc.abstractmethod
    def log_constant(self, n_groups: int) -> Any:
        """Return what a pattern of so many groups gains by the constants of the priors, or by the prior ratio."""

    @property
    def has_one_prior(self) -> bool:
        """Whether all groups of a pattern have the same prior."""
        return True

    def pattern(self, groups: Sequence[tuple[int, ...]]) -> FloatArray:
        """Log evidences of the groups less that of all classes together."""
        log_bf = -self.pooled()
        for prior_index, members in enumerate(groups):
            log_bf += self.group(members, prior_index)
        log_bf += self.log_constant(len(groups))
        return np.asarray(log_bf, dtype=np.float64)

    def terms(self, patterns: Patterns) -> list[Term]:
        """Evidences of groups, each worked out once."""
        pooled = self.pooled()
        held: dict[tuple[tuple[int, ...], int], FloatArray] = {}
        constants: dict[int, Any] = {}
        terms: list[Term] = []
        for i in range(len(patterns.log_weights)):
            groups, parts = patterns.groups(i), []
            for prior_index, members in enumerate(groups):
                key = (members, 0 if self.has_one_prior else prior_index)
                if key not in held:  # the group of the first class is the first of its pattern, always
                    held[key] = self.group(members, prior_index) - (pooled if not prior_index else 0.0)
                parts.append(held[key])
            if len(groups) not in constants:
                constants[len(groups)] = self.log_constant(len(groups))
            terms.append((parts, constants[len(groups)]))
        return terms


class GroupEvidences(ProductOfEvidences):
    """Evidences of a model with one prior for every group.

    Parameters
    ----------
    log_evidence
        Log evidence of one group from its statistic.
    statistics
        Statistics of the classes.
    prior_ratio
        What every group but the first contributes where the prior is improper; None for a proper prior.
    """

    __slots__ = ("_log_evidence", "_prior_ratio", "_statistics")

    def __init__(
        self, log_evidence: Callable[[Any], FloatArray], statistics: ClassStatistics, prior_ratio: Any
    ) -> None:
        self._log_evidence, self._statistics, self._prior_ratio = log_evidence, statistics, prior_ratio

    def pooled(self) -> FloatArray:
        """Log evidence of all classes together."""
        return self._of(self._statistics.classes)

    def group(self, members: tuple[int, ...], prior_index: int) -> FloatArray:
        """Log evidence of some classes."""
        del prior_index
        return self._of(tuple(self._statistics.classes[k] for k in members))

    def _of(self, classes: tuple[Label, ...]) -> FloatArray:
        group: Any = self._statistics.pool(classes)
        with np.errstate(divide="ignore", invalid="ignore"):  # what is not finite is found later
            return np.asarray(self._log_evidence(group.parts[0] if isinstance(group, Parts) else group))

    def log_constant(self, n_groups: int) -> Any:
        """Return the log prior ratio for every group but the first; 0 for a proper prior."""
        if self._prior_ratio is None:
            return 0.0
        ratio: Any = check_prior_ratio(self._prior_ratio)
        return (n_groups - 1) * np.log(ratio)


class SumOfEvidences(Evidences):
    """Independent data about the same grouping: blocks of samples, or values and their absence.

    Parameters
    ----------
    parts
        Evidences over the same classes and features.
    kept
        For each part the features it has a say about; None for all.
    """

    __slots__ = ("_kept", "_parts")

    def __init__(
        self, parts: Sequence[Evidences], kept: Sequence[npt.NDArray[np.bool_] | None] | None = None
    ) -> None:
        self._parts = tuple(parts)
        self._kept = tuple(kept) if kept is not None else (None,) * len(self._parts)

    def pattern(self, groups: Sequence[tuple[int, ...]]) -> FloatArray:
        """Sum over the parts: the prior ratio enters once for each."""
        found = [part.pattern(groups) for part in self._parts]
        return np.asarray(sum(_of(each, kept) for each, kept in zip(found, self._kept, strict=True)))

    def terms(self, patterns: Patterns) -> list[Term]:
        """Sums over the parts, each group worked out once."""
        summed: list[list[Term]] = [part.terms(patterns) for part in self._parts]
        terms: list[Term] = []
        for each in zip(*summed, strict=True):
            total: Any = 0.0
            for (parts, constant), kept in zip(each, self._kept, strict=True):
                total = total + _of(np.asarray(sum(parts[1:], parts[0] + constant)), kept)
            terms.append(([total], 0.0))
        return terms


def _of(term: FloatArray, kept: npt.NDArray[np.bool_] | None) -> FloatArray:
    return term if kept is None else np.where(kept, term, 0.0)


_TILE = 4096  # features compared together, so that sums stay in the processor's cache


@dataclass(frozen=True, slots=True, eq=False)
class PatternShares:
    """Which pattern, given that a feature is a marker.

    Parameters
    ----------
    patterns
        The patterns compared.
    best
        Number of the most probable pattern of each feature.
    log_share
        Log probability of that pattern, given that the feature is a marker.
    equal
        For every pair of classes, in the order of :attr:`pairs`, the probability that they share their
        distribution, given that the feature is a marker.
    """

    patterns: Patterns
    best: npt.NDArray[np.int16]
    log_share: FloatArray
    equal: FloatArray

    @classmethod
    def empty(cls, patterns: Patterns, n_features: int) -> PatternShares:
        """Room for the result of a comparison."""
        n_pairs = len(pairs_of(len(patterns.classes)))
        return cls(patterns, np.zeros(n_features, np.int16), np.zeros(n_features), np.zeros((n_pairs, n_features)))

    @property
    def pairs(self) -> list[tuple[int, int]]:
        """Positions of the classes of every pair."""
        return pairs_of(len(self.patterns.classes))

    def take(self, places: Any) -> PatternShares:
        """Some features."""
        return PatternShares(self.patterns, self.best[places], self.log_share[places], self.equal[:, places])


def pairs_of(n: int) -> list[tuple[int, int]]:
    """Pairs of ``n`` things."""
    return [(a, b) for a in range(n) for b in range(a + 1, n)]


def compare(evidences: Evidences, patterns: Patterns, shares: PatternShares | None = None) -> FloatArray:
    """Log Bayes factor of "some pattern" against "no difference", feature by feature."""
    if len(patterns.growths) == 1 and shares is None:
        return evidences.pattern(patterns.groups(0))
    terms = [
        (parts, log_weight, constant)
        for (parts, constant), log_weight in zip(evidences.terms(patterns), patterns.log_weights, strict=True)
    ]
    n = terms[0][0][0].size
    log_bf = np.empty(n)

    def work(lo: int) -> None:
        _tile(slice(lo, lo + _TILE), terms, log_bf, shares)

    for_each(work, range(0, n, _TILE), n_threads_for(None, n * len(terms)))
    return log_bf


def _tile(
    where: slice,
    terms: list[tuple[list[FloatArray], float, Any]],
    log_bf: FloatArray,
    shares: PatternShares | None,
) -> None:
    """Sum over the patterns as they come, for some features: the largest term first, then all of them."""

    def log_term(i: int) -> FloatArray:
        parts, log_weight, constant = terms[i]
        total = parts[0][where] + ((constant[where] if np.ndim(constant) else constant) + log_weight)
        for part in parts[1:]:
            total += part[where]
        return np.asarray(total)

    largest = log_term(0)
    best = np.zeros(largest.size, np.int16)
    for i in range(1, len(terms)):
        term = log_term(i)
        over = term > largest
        best[over] = i
        np.maximum(largest, term, out=largest)
    total = np.zeros(largest.size)
    equal = None if shares is None else np.zeros((shares.equal.shape[0], largest.size))
    for i in range(len(terms)):
        share = np.exp(log_term(i) - largest)
        total += share
        if shares is not None and equal is not None:
            growth = shares.patterns.growths[i]
            for k, (a, b) in enumerate(shares.pairs):
                if growth[a] == growth[b]:
                    equal[k] += share
    log_bf[where] = largest + np.log(total)
    if shares is not None and equal is not None:
        shares.best[where], shares.log_share[where] = best, -np.log(total)
        shares.equal[:, where] = equal / total
