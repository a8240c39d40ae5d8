"""SetPosterior: the posterior over sets of features, and the best set under each criterion.

Under the independent model they reduce to filtering, and agree with the rules of :mod:`bayesieve.selection`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from bayesieve.data import check_names
from bayesieve.posterior import (
    CountDistribution,
    ExpectedErrors,
    FeaturePosterior,
    Marginals,
    as_mask,
    expit,
    log_expit,
)
from bayesieve.selection import (
    ROUNDING,
    FalseDiscovery,
    FixedSize,
    MinimalRisk,
    MostProbable,
    NeymanPearson,
    Rule,
    as_rule,
    within_number,
    within_share,
)
from bayesieve.sets import masks
from bayesieve.sets.masks import log_sums_over_sets, members, set_sizes, sums_over_sets
from bayesieve.sets.priors import as_prior
from bayesieve.utils import BoolArray, DataError, FloatArray, IntArray, PriorError, RuleError, check_whole


@dataclass(frozen=True, slots=True, eq=False)
class FeatureSet(ExpectedErrors):
    """Features picked by a criterion, or any others; nothing here takes features as independent.

    Expected numbers of errors, rates, ``risk`` (3.7) and ``regret`` are those of
    :class:`~bayesieve.ErrorAnalysis`.

    Parameters
    ----------
    posterior
        The probability of every set.
    mask
        True for the features of the set.
    rule
        The criterion in words.

    Examples
    --------
    >>> import numpy as np
    >>> import bayesieve as bs
    >>> posterior = bs.SetPosterior.of_log_likelihood(np.log([0.4, 0.0001, 0.3, 0.3]), 0.5)
    >>> chosen = posterior.select("MNC")
    >>> chosen.names, round(chosen.probability, 3), round(chosen.expected_false_positives, 3)
    (('x1',), 0.3, 0.4)
    """

    posterior: SetPosterior
    mask: BoolArray
    rule: str = "given"

    def __post_init__(self) -> None:
        object.__setattr__(self, "mask", as_mask(self.posterior, self.mask))

    @classmethod
    def of(cls, posterior: SetPosterior, features: Any, rule: str = "given") -> FeatureSet:
        """Take features given as a mask, as positions or as names.

        Examples
        --------
        >>> import numpy as np
        >>> import bayesieve as bs
        >>> from bayesieve.sets.set_posterior import FeatureSet
        >>> posterior = bs.SetPosterior.of_log_likelihood(np.zeros(4), 0.5)
        >>> FeatureSet.of(posterior, ["x1"]).indices.tolist()
        [1]
        """
        return cls(posterior, as_mask(posterior, features), rule)

    @property
    def bits(self) -> int:
        """The set as a bit mask."""
        return int(self.mask @ 2 ** np.arange(self.mask.size))

    @property
    def indices(self) -> IntArray:
        """Positions of the features, in feature order."""
        return np.flatnonzero(self.mask)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the features, in feature order."""
        names = self.posterior.names
        return tuple(names[f] for f in self.indices.tolist())

    @property
    def log_probability(self) -> float:
        r"""Log probability that the set is exactly the set of markers, :math:`\log p(G \mid S)`."""
        return float(self.posterior.set_log_probability[self.bits])

    @property
    def probability(self) -> float:
        """Probability that the set is exactly the set of markers."""
        return float(np.exp(self.log_probability))

    @property
    def false_positives(self) -> CountDistribution:
        """Distribution of the number of non-markers in the set."""
        return self._distribution(~self._others & self.bits)

    @property
    def false_negatives(self) -> CountDistribution:
        """Distribution of the number of markers left out."""
        return self._distribution(self._others & ~self.bits)

    @property
    def mislabelled(self) -> CountDistribution:
        """Distribution of the number of wrong labels, false positives and false negatives together."""
        return self._distribution(self._others ^ self.bits)

    def summary(self) -> str:
        """Tell the result in a few lines of plain text.

        Examples
        --------
        >>> import numpy as np
        >>> import bayesieve as bs
        >>> posterior = bs.SetPosterior.of_log_likelihood(np.log([0.1, 0.2, 0.3, 0.4]), 0.5)
        >>> print(posterior.select("MAP").summary())
        2 of 2 features selected (the most probable set): x0, x1.
        They are exactly the markers with probability 0.4.
        False positives: 0.7 expected. Markers missed: 0 expected.
        """
        listed = f": {', '.join(self.names)}." if self.n_selected else "."
        exactly = "They are exactly the markers" if self.n_selected else "There is no marker"
        return "\n".join(
            [
                f"{self.n_selected} of {self.mask.size} features selected ({self.rule}){listed}",
                f"{exactly} with probability {self.probability:.3g}.",
                f"False positives: {self.expected_false_positives:.3g} expected. "
                f"Markers missed: {self.expected_false_negatives:.3g} expected.",
                *self.posterior.notes,
            ]
        )

    def __str__(self) -> str:
        return self.summary()

    @property
    def _others(self) -> IntArray:
        return np.arange(self.posterior.set_log_probability.size)

    def _distribution(self, wrong: IntArray) -> CountDistribution:
        """Distribution of the number of bits in ``wrong``, which holds a mask for each true set."""
        return CountDistribution.of_masses(
            np.bincount(set_sizes(self.mask.size)[wrong], self.posterior.set_probability)
        )


@dataclass(frozen=True, slots=True, eq=False)
class SetPosterior(Marginals):
    r"""Log probability that each set of features is the set of markers, :math:`\log p(G \mid S)`, equation (2.6).

    Sets are bit masks: entry ``g`` of an array whose name begins with ``set_`` belongs to the set of the features
    whose bits in ``g`` are 1. Everything else is per feature, as in a :class:`~bayesieve.FeaturePosterior`.

    Parameters
    ----------
    log_likelihood
        :math:`\log p(S \mid G)` of every set, up to a constant.
    log_prior
        :math:`\log p(G)` of every set.
    feature_names
        Names, or None for ``x0``, ``x1``, ...
    notes
        Sentences for the summary.

    Attributes
    ----------
    set_log_probability
        Log posterior probability of every set; probabilities add up to 1.
    log_odds
        Marginal log-odds of every feature: sets that hold it against sets that do not.

    Examples
    --------
    >>> import numpy as np
    >>> import bayesieve as bs
    >>> posterior = bs.SetPosterior.of_log_likelihood(np.log([0.1, 0.2, 0.3, 0.4]), 0.5)
    >>> posterior.set_probability.round(6).tolist(), posterior.probability.round(6).tolist()
    ([0.1, 0.2, 0.3, 0.4], [0.6, 0.7])
    """

    log_likelihood: FloatArray
    log_prior: FloatArray
    feature_names: tuple[str, ...] | None = None
    notes: tuple[str, ...] = ()
    set_log_probability: FloatArray = field(init=False, repr=False)
    log_odds: FloatArray = field(init=False, repr=False)

    def __post_init__(self) -> None:
        likelihood = masks.check_set_values(self.log_likelihood, "log likelihood", DataError)
        prior = masks.check_set_values(self.log_prior, "log prior", PriorError)
        if likelihood.size != prior.size:
            raise DataError(f"There are {likelihood.size} log likelihoods and {prior.size} log priors of sets.")
        weights = prior + likelihood
        if weights.max() == -np.inf:
            nothing = likelihood.max() == -np.inf
            raise (
                DataError("The likelihood of every set is 0.")
                if nothing
                else PriorError("No set that the prior allows is possible given the data.")
            )
        n_features = likelihood.size.bit_length() - 1
        object.__setattr__(self, "feature_names", check_names(self.feature_names, n_features))
        weights -= masks.log_sum(weights)
        odds = masks.marginal_log_odds(weights)
        names = ("log_likelihood", "log_prior", "set_log_probability", "log_odds")
        for name, array in zip(names, (likelihood, prior, weights, odds), strict=True):
            array.flags.writeable = False
            object.__setattr__(self, name, array)

    @classmethod
    def of_features(cls, posterior: FeaturePosterior, prior: Any) -> SetPosterior:
        r"""Features that are independent given the set of markers: a screen under another prior over sets.

        Of the screen only the log Bayes factors are used: they add up to :math:`\log p(S \mid G)`.

        Parameters
        ----------
        posterior
            What :func:`bayesieve.screen` returns.
        prior
            As for :meth:`of_log_likelihood`.

        Examples
        --------
        >>> import bayesieve as bs
        >>> X = [[0.1, 5.0], [-0.4, 4.1], [0.3, 5.2], [6.8, 4.7], [7.7, 4.4], [8.1, 4.6]]
        >>> screened = bs.screen(X, [0, 0, 0, 1, 1, 1], model=bs.GaussianModel.proper())
        >>> bs.SetPosterior.of_features(screened, bs.SizePrior.fixed(1)).probability.round(3).tolist()
        [1.0, 0.0]
        """
        if not isinstance(posterior, FeaturePosterior):
            raise DataError(f"A screen is needed, as screen() returns it, not {type(posterior).__name__}.")
        masks.check_number(posterior.n_features)
        log_likelihood = masks.sums_over_sets(posterior.log_bayes_factor)
        return cls.of_log_likelihood(log_likelihood, prior, feature_names=posterior.feature_names)

    @classmethod
    def of_log_likelihood(
        cls,
        log_likelihood: Callable[[frozenset[int]], float] | npt.ArrayLike,
        prior: Any,
        *,
        feature_names: Sequence[str] | None = None,
        n_features: int | None = None,
    ) -> SetPosterior:
        r"""Combine any likelihood with any prior over sets.

        Parameters
        ----------
        log_likelihood
            :math:`\log p(S \mid G)` up to a constant: one number for every set, by bit mask, or a function of a
            frozenset of positions.
        prior
            A :class:`SetPrior`, prior probabilities of independent features, a mapping from sets of positions to
            weights, or a function of a frozenset of positions.
        feature_names, n_features
            Names or number of the features; one of them is needed for a function.

        Examples
        --------
        >>> import bayesieve as bs
        >>> posterior = bs.SetPosterior.of_log_likelihood(lambda features: 2.0 * len(features), 0.5, n_features=2)
        >>> posterior.log_odds.round(6).tolist()
        [2.0, 2.0]
        """
        if isinstance(feature_names, Iterable) and not isinstance(feature_names, str):
            feature_names = tuple(feature_names)
        if callable(log_likelihood):
            n = masks.number_of_features(feature_names, n_features)
            values = masks.evaluate_sets(log_likelihood, n, "likelihood", DataError)
        else:
            values = masks.check_set_values(log_likelihood, "log likelihood", DataError)
            n = masks.number_of_features(feature_names, n_features, values.size.bit_length() - 1)
        return cls(values, as_prior(prior).log_probability(n), check_names(feature_names, n))

    def with_prior(self, prior: Any) -> SetPosterior:
        """Re-weigh with another prior over sets, without looking at the data again.

        Examples
        --------
        >>> import numpy as np
        >>> import bayesieve as bs
        >>> posterior = bs.SetPosterior.of_log_likelihood(np.log([0.1, 0.2, 0.3, 0.4]), 0.5)
        >>> posterior.with_prior({(0,): 1.0, (1,): 1.0}).probability.round(6).tolist()
        [0.4, 0.6]
        """
        return replace(self, log_prior=as_prior(prior).log_probability(self.n_features))

    @property
    def n_features(self) -> int:
        """Number of features."""
        return int(self.log_odds.size)

    @property
    def names(self) -> tuple[str, ...]:
        """Feature names; made up as ``x0``, ``x1``, ... when none were given."""
        return self.feature_names or tuple(f"x{i}" for i in range(self.n_features))

    @property
    def set_probability(self) -> FloatArray:
        r"""Probability of every set, :math:`p(G \mid S)`, by bit mask."""
        return np.exp(self.set_log_probability)

    @property
    def number_of_markers(self) -> CountDistribution:
        """Distribution of the number of markers."""
        return CountDistribution.of_masses(np.bincount(masks.set_sizes(self.n_features), self.set_probability))

    def log_probability_of(self, features: Any) -> float:
        r"""Log probability that these are all the markers and nothing else is, :math:`\log p(G \mid S)`.

        Parameters
        ----------
        features
            A mask, indices, names or a selection.

        Examples
        --------
        >>> import bayesieve as bs
        >>> round(bs.SetPosterior.of_log_likelihood([0.0, 1.0], 0.5).log_probability_of(["x0"]), 6)
        -0.313262
        """
        mask = as_mask(self, features)
        return float(self.set_log_probability[int(mask @ 2 ** np.arange(mask.size))])

    def top_sets(self, n: int = 10) -> list[tuple[tuple[str, ...], float]]:
        """Return the most probable sets, with their probabilities.

        Examples
        --------
        >>> import numpy as np
        >>> import bayesieve as bs
        >>> posterior = bs.SetPosterior.of_log_likelihood(np.log([0.1, 0.2, 0.3, 0.4]), 0.5)
        >>> [(names, round(probability, 6)) for names, probability in posterior.top_sets(2)]
        [(('x0', 'x1'), 0.4), (('x1',), 0.3)]
        """
        best, names = self._best(n), self.names
        found = [tuple(names[f] for f in masks.members(g)) for g in best.tolist()]
        return list(zip(found, self.set_probability[best].tolist(), strict=True))

    def sets(self, n: int | None = None) -> dict[str, Any]:
        """Table of the ``n`` most probable sets, all by default, the most probable first.

        Examples
        --------
        >>> import bayesieve as bs
        >>> bs.SetPosterior.of_log_likelihood([0.1, 0.2, 0.3, 0.4], 0.5).sets()["set"]
        ['x0, x1', 'x1', 'x0', '']
        """
        best, names = self._best(self.set_log_probability.size if n is None else n), self.names
        return {
            "set": [", ".join(names[f] for f in masks.members(g)) for g in best.tolist()],
            "size": masks.set_sizes(self.n_features)[best],
            "log_probability": self.set_log_probability[best],
            "probability": self.set_probability[best],
        }

    def select(self, rule: Rule | str) -> FeatureSet:
        """Select features by a criterion of section 3, each solved over all sets.

        Parameters
        ----------
        rule
            A rule such as ``MostProbable()`` or ``MinimalRisk(0.5)``, or ``"MAP"`` or ``"MNC"``.

        Examples
        --------
        >>> import numpy as np
        >>> import bayesieve as bs
        >>> posterior = bs.SetPosterior.of_log_likelihood(np.log([0.4, 0.0001, 0.3, 0.3]), 0.5)
        >>> posterior.select("MAP").names, posterior.select("MNC").names
        ((), ('x1',))
        """
        return select(self, rule)

    def to_dict(self) -> dict[str, Any]:
        """Table of the features as columns, in feature order: ranks, marginal log-odds and probabilities.

        Examples
        --------
        >>> import bayesieve as bs
        >>> list(bs.SetPosterior.of_log_likelihood([0.0, 1.0], 0.5).to_dict())
        ['rank', 'feature', 'log_odds', 'probability', 'prior_probability']
        """
        return {
            "rank": self.rank,
            "feature": list(self.names),
            "log_odds": self.log_odds,
            "probability": self.probability,
            "prior_probability": expit(masks.marginal_log_odds(self.log_prior)),
        }

    def summary(self) -> str:
        """Tell the result in a few lines of plain text.

        Examples
        --------
        >>> import bayesieve as bs
        >>> print(bs.SetPosterior.of_log_likelihood([0.0, 1.0], 0.5).summary())
        2 sets of 1 features; 0.731 markers expected.
        Most probable set: {x0}, probability 0.731.
        """
        (best, probability), *_ = self.top_sets(1)
        number = f"{self.set_log_probability.size:,} sets of {self.n_features} features; "
        first = f"Most probable set: {{{', '.join(best)}}}, probability {probability:.3g}."
        return "\n".join([f"{number}{self.expected_markers:.3g} markers expected.", first, *self.notes])

    def __str__(self) -> str:
        return self.summary()

    def _best(self, n: int) -> npt.NDArray[np.int64]:
        """Bit masks of the most probable sets, the most probable first."""
        return np.argsort(-self.set_log_probability, kind="stable")[: check_whole("n", n)]


def select(posterior: SetPosterior, rule: Rule | str) -> FeatureSet:
    r"""Select features by one of the criteria of section 3, without taking features as independent.

    ``MostProbable()`` is MAP (3.1) and ``MostProbable(size=D)`` CMAP (3.2), the largest :math:`p(G \mid S)`;
    ``MinimalRisk(T)`` is MR (3.4), the least expected loss when a false positive costs :math:`T` and a false
    negative :math:`1 - T`; ``FixedSize(D)`` is CMNC (3.10), the least expected number of wrong labels;
    ``NeymanPearson(alpha)`` is NP (3.12), the most expected true positives within the bound;
    ``FalseDiscovery(q)`` is the largest set within the bound, and of these the one with the most expected
    true positives.

    Notes
    -----
    The most expected true positives are the fewest expected false negatives; these are compared, by their
    logarithms, so that improbable features are still told apart. Sets whose objectives agree to a relative
    1e-12 are tied. Of sets that miss equally few markers the larger wins, then the one with the larger sum of
    log-odds. The last word has the smallest bit mask.
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
            "look at the distribution false_positives of a set."
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
