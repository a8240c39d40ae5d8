"""Selection rules, one per criterion of section 3, and lists with a bounded false discovery proportion."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass, replace
from typing import Any, Protocol, cast, runtime_checkable

import numpy as np
import numpy.typing as npt

from bayesieve.posterior import FeaturePosterior, Loss, logit, longest_sure_prefix
from bayesieve.selection.selection import Selection, check_posterior, judge, prefix, read_at_limit
from bayesieve.utils import (
    BoolArray,
    FloatArray,
    OptionError,
    Piece,
    RuleError,
    check_between,
    check_whole,
    option,
)

ROUNDING = 1e-12  # objectives and sums that agree to this are equal
_TINY = 1e-300


def within_number(expected: FloatArray, allowed: float) -> BoolArray:
    """Whether expected numbers of errors are within a bound on that number, as in (3.13)."""
    return np.less_equal(expected, allowed + (ROUNDING * max(1.0, allowed) if allowed else 0.0))


def within_share(expected: FloatArray, number: npt.NDArray[np.int64], proportion: float) -> BoolArray:
    """Whether expected numbers of errors are within a bound on their share of a number of features."""
    return np.less_equal(expected, np.asarray(proportion * number * (1.0 + ROUNDING) + _TINY))


@runtime_checkable
class Rule(Protocol):
    """Anything that turns a posterior into a selection."""

    def select(self, posterior: FeaturePosterior) -> Selection:
        """Pick features."""
        ...


@dataclass(frozen=True, slots=True)
class MinimalRisk:
    r"""Minimal risk (MR): features whose probability exceeds a threshold, equation (3.8).

    With the threshold 0.5 this is the maximum number correct rule (MNC), equation (3.9).

    Parameters
    ----------
    threshold
        The paper's :math:`T`, between 0 and 1; a feature exactly at the threshold is left out.

    Examples
    --------
    >>> import bayesieve as bs
    >>> X = [[0.1, 5.0], [-0.4, 4.1], [0.3, 5.2], [6.8, 4.7], [7.7, 4.4], [8.1, 4.6]]
    >>> posterior = bs.screen(X, [0, 0, 0, 1, 1, 1], model=bs.GaussianModel.proper(), prior_probability=0.1)
    >>> bs.MinimalRisk(0.5).select(posterior).mask.tolist()
    [True, False]
    """

    threshold: float = 0.5

    def __post_init__(self) -> None:
        check_between("threshold", self.threshold, error=RuleError)

    @classmethod
    def from_loss(
        cls,
        *,
        true_positive: float = 0.0,
        false_positive: float = 1.0,
        false_negative: float = 1.0,
        true_negative: float = 0.0,
    ) -> MinimalRisk:
        r"""Minimise the expected loss :math:`\lambda_{GG}|TP| + \lambda_{GB}|FP| + \lambda_{BG}|FN| + \ldots`.

        Examples
        --------
        >>> import bayesieve as bs
        >>> bs.MinimalRisk.from_loss(false_positive=9.0, false_negative=1.0).threshold
        0.9
        """
        return cls(Loss(true_positive, false_positive, false_negative, true_negative).threshold)

    def select(self, posterior: FeaturePosterior) -> Selection:
        """Select the features whose probability exceeds the threshold.

        Examples
        --------
        >>> import bayesieve as bs
        >>> X = [[0.1, 5.0], [-0.4, 4.1], [0.3, 5.2], [6.8, 4.7], [7.7, 4.4], [8.1, 4.6]]
        >>> posterior = bs.screen(X, [0, 0, 0, 1, 1, 1], model=bs.GaussianModel.proper(), prior_probability=0.1)
        >>> bs.MinimalRisk(0.0005).select(posterior).n_selected
        2
        """
        cut = logit(self.threshold)
        log_odds = check_posterior(posterior).log_odds
        mask = log_odds > cut
        mask.flags.writeable = False
        tied = int((log_odds == cut).sum()) if math.isfinite(cut) else 0
        return judge(Selection(posterior, mask, f"probability over {self.threshold:g}", cut, tied))


@dataclass(frozen=True, slots=True)
class FixedSize:
    """Constrained maximum number correct (CMNC): the ``n`` most probable features, equation (3.11).

    Parameters
    ----------
    n
        How many features to select, the paper's :math:`D`.

    Examples
    --------
    >>> import bayesieve as bs
    >>> X = [[0.1, 5.0], [-0.4, 4.1], [0.3, 5.2], [6.8, 4.7], [7.7, 4.4], [8.1, 4.6]]
    >>> posterior = bs.screen(X, [0, 0, 0, 1, 1, 1], model=bs.GaussianModel.proper())
    >>> bs.FixedSize(1).select(posterior).names
    ('x0',)
    """

    n: int

    def __post_init__(self) -> None:
        check_whole("n", self.n, error=RuleError)

    def select(self, posterior: FeaturePosterior) -> Selection:
        """Select the first ``n`` features of the ranking.

        Examples
        --------
        >>> import bayesieve as bs
        >>> X = [[0.1, 5.0], [-0.4, 4.1], [0.3, 5.2], [6.8, 4.7], [7.7, 4.4], [8.1, 4.6]]
        >>> posterior = bs.screen(X, [0, 0, 0, 1, 1, 1], model=bs.GaussianModel.proper(), prior_probability=0.1)
        >>> bs.FixedSize(2).select(posterior).names
        ('x0', 'x1')
        """
        _at_most(self.n, check_posterior(posterior).n_features)
        return judge(prefix(posterior, self.n, f"the {self.n} most probable"), shorten=False)


@dataclass(frozen=True, slots=True)
class NeymanPearson:
    r"""Neyman-Pearson (NP): the most true positives for a bounded expected number of false ones, (3.13).

    Parameters
    ----------
    expected_false_positives
        The paper's :math:`\alpha`: an expected number of features, not a rate.

    Examples
    --------
    >>> import bayesieve as bs
    >>> X = [[0.1, 5.0], [-0.4, 4.1], [0.3, 5.2], [6.8, 4.7], [7.7, 4.4], [8.1, 4.6]]
    >>> posterior = bs.screen(X, [0, 0, 0, 1, 1, 1], model=bs.GaussianModel.proper(), prior_probability=0.1)
    >>> bs.NeymanPearson(0.05).select(posterior).names
    ('x0',)
    """

    expected_false_positives: float

    def __post_init__(self) -> None:
        check_between("expected_false_positives", self.expected_false_positives, 0.0, math.inf, RuleError)

    def select(self, posterior: FeaturePosterior) -> Selection:
        """Add features in the order of the ranking while the expected false positives stay in bounds.

        Examples
        --------
        >>> import bayesieve as bs
        >>> X = [[0.1, 5.0], [-0.4, 4.1], [0.3, 5.2], [6.8, 4.7], [7.7, 4.4], [8.1, 4.6]]
        >>> posterior = bs.screen(X, [0, 0, 0, 1, 1, 1], model=bs.GaussianModel.proper(), prior_probability=0.1)
        >>> bs.NeymanPearson(1.5).select(posterior).n_selected
        2
        """
        allowed, shuffled = self.expected_false_positives, check_posterior(posterior).shuffled
        cost = np.cumsum(posterior.null_probability[posterior.ranking])
        if shuffled is not None:
            cost = posterior.null_share * shuffled.reaching[posterior.ranking]
        size = int(np.count_nonzero(within_number(cost, allowed)))
        judged = judge(prefix(posterior, size, f"at most {allowed:g} false positives expected"))
        return read_at_limit(judged, allowed)


@dataclass(frozen=True, slots=True)
class MostProbable:
    """Maximum a posteriori (MAP), or with a size its constrained form (CMAP), equations (3.1) and (3.2).

    Under the independent model MAP equals MNC and CMAP equals CMNC.

    Parameters
    ----------
    size
        Number of features to select, or None for the most probable set of any size.

    Examples
    --------
    >>> import bayesieve as bs
    >>> X = [[0.1, 5.0], [-0.4, 4.1], [0.3, 5.2], [6.8, 4.7], [7.7, 4.4], [8.1, 4.6]]
    >>> posterior = bs.screen(X, [0, 0, 0, 1, 1, 1], model=bs.GaussianModel.proper(), prior_probability=0.1)
    >>> bs.MostProbable().select(posterior).names
    ('x0',)
    """

    size: int | None = None

    def __post_init__(self) -> None:
        if self.size is not None:
            check_whole("size", self.size, error=RuleError)

    def select(self, posterior: FeaturePosterior) -> Selection:
        """Select the set of highest posterior probability.

        Examples
        --------
        >>> import bayesieve as bs
        >>> X = [[0.1, 5.0], [-0.4, 4.1], [0.3, 5.2], [6.8, 4.7], [7.7, 4.4], [8.1, 4.6]]
        >>> posterior = bs.screen(X, [0, 0, 0, 1, 1, 1], model=bs.GaussianModel.proper(), prior_probability=0.1)
        >>> bs.MostProbable(size=2).select(posterior).names
        ('x0', 'x1')
        """
        if self.size is not None:
            _at_most(self.size, check_posterior(posterior).n_features)
            return judge(prefix(posterior, self.size, f"the most probable set of {self.size}"), shorten=False)
        return replace(MinimalRisk(0.5).select(posterior), rule="the most probable set")


def as_rule(rule: Rule | str) -> Rule:
    """Return the rule itself, or that of the paper's acronym with its numbers: ``"MNC"``, ``"np:5"``."""
    if isinstance(rule, str):
        acronym, *texts = rule.strip().lower().split(":")
        make, names = CRITERIA.get(acronym, (None, ()))
        try:
            pairs = zip(names, texts, strict=True)
            numbers = [(int if name == "n_selected" else float)(text) for name, text in pairs]
        except ValueError:
            make = None
        if make is None:
            raise RuleError(
                f"Unknown rule {rule!r}. 'MNC' and 'MAP' need no number; the others take theirs behind a colon, "
                "as in 'NP:5' or 'FDP:0.1:0.9', or are given as objects: MinimalRisk(0.9) for MR, FixedSize(100) "
                "for CMNC, NeymanPearson(5) for NP, MostProbable(size=100) for CMAP, FalseDiscovery(0.1) for FDR."
            )
        named: Rule = make(*numbers)
        return named
    if not isinstance(rule, Rule) or isinstance(rule, type):
        raise RuleError(f"A rule must have a method select(posterior); {rule!r} has none. Try MinimalRisk(0.5).")
    return rule


def _at_most(n: int, n_features: int) -> None:
    if n > n_features:
        raise RuleError(f"{n} features are asked for, but there are only {n_features}. Ask for fewer.")


@dataclass(frozen=True, slots=True)
class FalseDiscovery:
    r"""The longest list whose share of false discoveries stays below a proportion.

    Parameters
    ----------
    proportion
        Largest share of non-markers in the list.
    confidence
        None: the *expected* share is bounded, and the list is the longest prefix of the ranking for
        which it is. A probability: the share is below ``proportion`` with at least this posterior
        probability, :math:`P(FP_k \le \lfloor \text{proportion} \cdot k \rfloor) \ge` ``confidence``,
        and the list is the longest prefix for which that holds.

    Examples
    --------
    >>> import bayesieve as bs
    >>> X = [[0.1, 5.0], [-0.4, 4.1], [0.3, 5.2], [6.8, 4.7], [7.7, 4.4], [8.1, 4.6]]
    >>> posterior = bs.screen(X, [0, 0, 0, 1, 1, 1], model=bs.GaussianModel.proper(), prior_probability=0.1)
    >>> bs.FalseDiscovery(0.1).select(posterior).names
    ('x0',)
    >>> bs.FalseDiscovery(0.1, confidence=0.9).select(posterior).names
    ('x0',)
    """

    proportion: float
    confidence: float | None = None

    def __post_init__(self) -> None:
        for name in ("proportion", "confidence"):
            value = getattr(self, name)
            if value is None and name == "confidence":
                continue
            if isinstance(value, bool) or not isinstance(value, (int, float, np.number)) or not 0 <= value <= 1:
                raise RuleError(f"{name} must lie between 0 and 1, not {value!r}.")

    def select(self, posterior: FeaturePosterior) -> Selection:
        """Select the longest list that keeps the bound.

        Examples
        --------
        >>> import bayesieve as bs
        >>> X = [[0.1, 5.0], [-0.4, 4.1], [0.3, 5.2], [6.8, 4.7], [7.7, 4.4], [8.1, 4.6]]
        >>> posterior = bs.screen(X, [0, 0, 0, 1, 1, 1], model=bs.GaussianModel.proper(), prior_probability=0.1)
        >>> bs.FalseDiscovery(0.5).select(posterior).n_selected
        2
        """
        null = check_posterior(posterior).null_probability[posterior.ranking]
        number = np.arange(1, null.size + 1)
        if self.confidence is None:
            expected = np.cumsum(null)
            if posterior.shuffled is not None:
                expected = posterior.expected_fdr[posterior.ranking] * number
            allowed = within_share(expected, number, self.proportion)
            size = int(np.flatnonzero(allowed).max(initial=-1)) + 1
            judged = judge(prefix(posterior, size, f"expected false-discovery rate at most {self.proportion:g}"))
            return read_at_limit(judged, self.proportion * size)
        rule = f"false-discovery proportion at most {self.proportion:g} with probability {self.confidence:g}"
        if posterior.shuffled is not None:
            return judge(prefix(posterior, self._sure_size(posterior), rule))
        marker = posterior.probability[posterior.ranking]
        return prefix(posterior, longest_sure_prefix(null, marker, self.proportion, self.confidence), rule)

    def _sure_size(self, posterior: FeaturePosterior) -> int:
        """Length of the longest list that keeps the bound in a share of the shuffles."""
        shuffled, order = posterior.shuffled, posterior.ranking
        assert shuffled is not None
        assert self.confidence is not None
        own = posterior.log_odds[order] if shuffled.by_feature else posterior.log_bayes_factor[order]
        own = own[own > shuffled.least]  # weaker ones were not kept
        counts = np.array([np.searchsorted(-each, -own, side="right") for each in shuffled.values])
        high = np.quantile(counts, self.confidence, axis=0, method="inverted_cdf") * posterior.null_share
        good = within_share(high, np.arange(1, own.size + 1), self.proportion)
        return int(np.flatnonzero(good).max(initial=-1)) + 1


CRITERIA: dict[str, tuple[Any, tuple[str, ...]]] = {
    "map": (MostProbable, ()),
    "mnc": (MinimalRisk, ()),
    "mr": (MinimalRisk, ("threshold",)),
    "cmnc": (FixedSize, ("n_selected",)),
    "cmap": (MostProbable, ("n_selected",)),
    "np": (NeymanPearson, ("expected_false_positives",)),
    "fdr": (FalseDiscovery, ("proportion",)),
    "fdp": (FalseDiscovery, ("proportion", "confidence")),
}
"""Rule and names of its numbers, by the acronym of the criterion."""

RULE_NUMBERS = {
    "threshold": 0.9,
    "n_selected": 100,
    "expected_false_positives": 5,
    "proportion": 0.1,
    "confidence": 0.9,
}
"""Numbers of all rules, each with an example."""

_IMPLIED = {numbers: name for name, (_, numbers) in CRITERIA.items() if name not in ("map", "cmap")}


def make_rule(criterion: str | None, numbers: Mapping[str, Any]) -> Rule:
    """Return the rule that a criterion and its numbers name; numbers alone imply their criterion."""
    known = {name: numbers[name] for name in RULE_NUMBERS if numbers.get(name) is not None}
    if criterion is None:
        if tuple(known) == ("confidence",):
            examples = (option("proportion", 0.1), " ", option("confidence", 0.9), ".")
            raise OptionError(option("confidence"), " needs ", option("proportion"), ", for example ", *examples)
        if tuple(known) not in _IMPLIED:
            raise OptionError(*_options(tuple(known)), " belong to different criteria. Give the options of one.")
        criterion = _IMPLIED[tuple(known)]
    rule, takes = CRITERIA[criterion]
    chosen_rule = option("criterion", criterion)
    wrong = [name for name in known if name not in takes]
    if wrong:
        which = _options(takes) or ["no number"]
        raise OptionError(
            *_options(wrong), " contradicts ", chosen_rule, ", which takes ", *which, ". Leave one out."
        )
    if criterion == "fdp":
        known.setdefault("confidence", 0.9)
    absent = [name for name in takes if name not in known]
    if absent:
        example = option(absent[0], RULE_NUMBERS[absent[0]])
        raise OptionError(chosen_rule, " needs ", *_options(absent), ", for example ", example, ".")
    made: Rule = rule(*(known[name] for name in takes))
    return made


def rule_options(rule: Rule) -> dict[str, Any]:
    """Return criterion and numbers of a rule of this package, the inverse of :func:`make_rule`; else nothing."""
    if rule == MinimalRisk(0.5):
        return {"criterion": "mnc"}
    for criterion, (kind, names) in CRITERIA.items():
        if isinstance(rule, kind):
            numbers = [number for number in astuple(cast(Any, rule)) if number is not None]
            if len(numbers) == len(names):
                return {"criterion": criterion, **dict(zip(names, numbers, strict=True))}
    return {}


def _options(names: Sequence[str]) -> Sequence[Piece]:
    """Pieces of a message: names of options with commas between."""
    return [piece for name in names for piece in (", ", option(name))][1:]
