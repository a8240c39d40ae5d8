"""SizePosterior: features and their number under a prior on the number of markers (section 2.1)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from bayesieve.posterior import CountDistribution, ErrorAnalysis, FeaturePosterior, Marginals, PriorRemark, as_mask
from bayesieve.selection import FalseDiscovery, MostProbable, Rule, Selection, as_rule, prefix
from bayesieve.sets.size_prior import SizePrior, about_size, running_sum
from bayesieve.sets.symmetric import SymmetricSums
from bayesieve.utils import BoolArray, DataError, FloatArray, PriorError, RuleError


@dataclass(frozen=True, slots=True, eq=False)
class SizePosterior(Marginals):
    r"""What the data say under a prior on the number of markers; see :func:`with_size_prior`.

    Parameters
    ----------
    posterior
        Marginal log-odds of every feature. Its ``log_bayes_factor`` is what the feature's own data say, its
        ``prior_log_odds`` what the prior and the data of all *other* features say.
    prior
        The prior on the number of markers.
    log_size_probability
        Log probability of 0, 1, ... markers given the data, :math:`\log P(|\bar G| = k \mid S)`; minus infinity
        below about e^-45, 3e-20, of the largest.
    sums
        Sums over all sets of the features of unknown status; None if there are none.
    unknown
        True for features of unknown status: not known as markers or as none before the data.
    n_known_markers
        Number of features known to be markers.

    Examples
    --------
    >>> import numpy as np
    >>> import bayesieve as bs
    >>> rng = np.random.default_rng(2)
    >>> X = rng.normal(size=(60, 500))
    >>> X[30:, :20] += 2.0
    >>> posterior = bs.screen(X, [0] * 30 + [1] * 30, model=bs.GaussianModel.proper())
    >>> found = bs.with_size_prior(posterior, bs.SizePrior.uniform())
    >>> found.mode, found.interval(0.9)
    (23, (21, 26))
    >>> found.select("MNC").n_selected
    20
    """

    posterior: FeaturePosterior
    prior: SizePrior
    log_size_probability: FloatArray
    sums: SymmetricSums | None
    unknown: BoolArray
    n_known_markers: int = 0

    def __post_init__(self) -> None:
        self.log_size_probability.flags.writeable = self.unknown.flags.writeable = False

    @property
    def n_features(self) -> int:
        """Number of features."""
        return self.posterior.n_features

    @property
    def names(self) -> tuple[str, ...]:
        """Feature names; made up as ``x0``, ``x1``, ... when none were given."""
        return self.posterior.names

    @property
    def log_odds(self) -> FloatArray:
        """Marginal log-odds of every feature."""
        return self.posterior.log_odds

    @property
    def size_probability(self) -> FloatArray:
        """Probability of 0, 1, ... markers given the data."""
        return np.exp(self.log_size_probability)

    @property
    def number_of_markers(self) -> CountDistribution:
        """Distribution of the number of markers, with its mean, quantiles and intervals."""
        return CountDistribution.of_masses(self.size_probability)

    @property
    def mode(self) -> int:
        """Most probable number of markers."""
        return int(np.argmax(self.log_size_probability))

    def interval(self, level: float = 0.9) -> tuple[int, int]:
        """Equal-tailed credible interval of the number of markers.

        Examples
        --------
        >>> import bayesieve as bs
        >>> X = [[0.1, 5.0], [-0.4, 4.1], [0.3, 5.2], [6.8, 4.7], [7.7, 4.4], [8.1, 4.6]]
        >>> posterior = bs.screen(X, [0, 0, 0, 1, 1, 1], model=bs.GaussianModel.proper())
        >>> bs.with_size_prior(posterior, bs.SizePrior.uniform()).interval(0.5)
        (1, 1)
        """
        return self.number_of_markers.interval(level)

    def most_probable_set(self, size: int | None = None) -> Selection:
        r"""Most probable set, equation (3.1), or with a size the most probable of that size, (3.2).

        Of each size the set of the largest Bayes factors is the most probable; of all sizes the one with
        the largest :math:`c_k + \sum_{i \le k} \log x_{(i)}`. Unlike for independent features, these are not
        always the features with a probability over one half.

        Examples
        --------
        >>> import bayesieve as bs
        >>> X = [[0.1, 5.0], [-0.4, 4.1], [0.3, 5.2], [6.8, 4.7], [7.7, 4.4], [8.1, 4.6]]
        >>> posterior = bs.screen(X, [0, 0, 0, 1, 1, 1], model=bs.GaussianModel.proper())
        >>> bs.with_size_prior(posterior, bs.SizePrior.uniform()).most_probable_set().names
        ('x0',)
        """
        log_factors = np.sort(self.posterior.log_bayes_factor[self.unknown])[::-1]
        per_set = self.prior.log_per_set(self.n_features)[self.n_known_markers :][: log_factors.size + 1]
        scores = per_set + running_sum(log_factors)
        if size is None:
            return prefix(self.posterior, self.n_known_markers + int(scores.argmax()), "the most probable set")
        rule = MostProbable(size)  # checks that it is a number
        k = size - self.n_known_markers
        if not 0 <= k < scores.size or scores[k] == -np.inf:
            raise RuleError(f"Sets of {size} features are impossible under this prior: {self.prior.words}.")
        return rule.select(self.posterior)

    def log_probability_of(self, features: npt.ArrayLike | Sequence[Any] | ErrorAnalysis) -> float:
        r"""Log probability that these (a mask, indices, names, a selection) are the markers and nothing else is.

        Examples
        --------
        >>> import bayesieve as bs
        >>> X = [[0.1, 5.0], [-0.4, 4.1], [0.3, 5.2], [6.8, 4.7], [7.7, 4.4], [8.1, 4.6]]
        >>> posterior = bs.screen(X, [0, 0, 0, 1, 1, 1], model=bs.GaussianModel.proper())
        >>> found = bs.with_size_prior(posterior, bs.SizePrior.fixed(1))
        >>> found.log_probability_of([0]) > found.log_probability_of([1])
        True
        """
        mask = as_mask(self, features)
        known = ~self.unknown
        if (mask[known] != (self.posterior.prior_log_odds == np.inf)[known]).any():  # type: ignore[index]
            return -np.inf
        return 0.0 if self.sums is None else self.sums.log_probability(mask[self.unknown])

    def false_positives(self, features: npt.ArrayLike | Sequence[Any] | ErrorAnalysis) -> CountDistribution:
        r"""Exact distribution of the number of non-markers in a list, features not being independent.

        The numbers :math:`t` of markers inside and :math:`m` outside have the joint probability
        :math:`\propto e^{c_{t+m}} e_t(x_G) e_m(x_B)`. The list is a mask, indices, names or a selection.

        Examples
        --------
        >>> import bayesieve as bs
        >>> X = [[0.1, 5.0], [-0.4, 4.1], [0.3, 5.2], [6.8, 4.7], [7.7, 4.4], [8.1, 4.6]]
        >>> posterior = bs.screen(X, [0, 0, 0, 1, 1, 1], model=bs.GaussianModel.proper())
        >>> bs.with_size_prior(posterior, bs.SizePrior.fixed(1)).false_positives([0, 1]).interval(0.9)
        (1, 1)
        """
        mask = as_mask(self, features)
        wrong = int((mask & ~self.unknown & (self.posterior.prior_log_odds == -np.inf)).sum())
        inside = np.ones(1) if self.sums is None else self.sums.number_in(mask[self.unknown])
        return CountDistribution.of_masses(np.concatenate([np.zeros(wrong), inside[::-1]]))

    def select(self, rule: Rule | str) -> Selection:
        """Apply a rule to the marginal log-odds; the most probable set is that of :meth:`most_probable_set`.

        Examples
        --------
        >>> import bayesieve as bs
        >>> X = [[0.1, 5.0], [-0.4, 4.1], [0.3, 5.2], [6.8, 4.7], [7.7, 4.4], [8.1, 4.6]]
        >>> posterior = bs.screen(X, [0, 0, 0, 1, 1, 1], model=bs.GaussianModel.proper())
        >>> bs.with_size_prior(posterior, bs.SizePrior.fixed(1)).select(bs.NeymanPearson(0.1)).names
        ('x0',)
        """
        rule = as_rule(rule)
        if isinstance(rule, MostProbable):
            return self.most_probable_set(rule.size)
        if isinstance(rule, FalseDiscovery) and rule.confidence is not None:
            raise RuleError(
                "A false-discovery proportion with a confidence supposes independent features, which they are not "
                "under a prior on their number. Choose a list by another rule and ask false_positives() of it."
            )
        return rule.select(self.posterior)

    def to_dict(self) -> dict[str, Any]:
        """Table of all features as columns, in feature order: that of ``posterior``.

        Examples
        --------
        >>> import bayesieve as bs
        >>> X = [[0.1, 5.0], [-0.4, 4.1], [0.3, 5.2], [6.8, 4.7], [7.7, 4.4], [8.1, 4.6]]
        >>> posterior = bs.screen(X, [0, 0, 0, 1, 1, 1], model=bs.GaussianModel.proper())
        >>> bs.with_size_prior(posterior, bs.SizePrior.fixed(1)).to_dict()["rank"].tolist()
        [1, 2]
        """
        return self.posterior.to_dict()

    def summary(self) -> str:
        """Tell the result in a few lines of plain text.

        Examples
        --------
        >>> import bayesieve as bs
        >>> X = [[0.1, 5.0], [-0.4, 4.1], [0.3, 5.2], [6.8, 4.7], [7.7, 4.4], [8.1, 4.6]]
        >>> posterior = bs.screen(X, [0, 0, 0, 1, 1, 1], model=bs.GaussianModel.proper())
        >>> print(bs.with_size_prior(posterior, bs.SizePrior.fixed(1)).summary())
        2 features, 1 with a probability over 0.5; the most probable set has 1.
        The prior is on the number of markers: exactly 1 marker. Given the data 1.0 are expected, with a 90%
        interval of 1 to 1.
        Under this prior features are not independent: ask false_positives() of the size posterior.
        """
        probable, best = int((self.log_odds > 0).sum()), self.most_probable_set().n_selected
        first = f"{self.n_features:,} features, {probable:,} with a probability over 0.5; "
        remark = about_size(self.prior, self.number_of_markers, self.posterior.model)
        return "\n".join([f"{first}the most probable set has {best:,}.", *map(str, remark.notes())])

    def __str__(self) -> str:
        return self.summary()


def with_size_prior(
    posterior: FeaturePosterior, prior: SizePrior, *, n_threads: int | None = None
) -> SizePosterior:
    r"""Re-weigh a screen with a prior on the number of markers, without looking at the data again.

    Parameters
    ----------
    posterior
        A screen. Its Bayes factors are used, its prior probability is replaced; only features with a prior
        probability of 0 or 1 keep it, and those with 1 count among the markers.
    prior
        What is believed about the number of markers.
    n_threads
        Threads to use; by default all cores for many features. The result does not depend on it.

    Notes
    -----
    Under such a prior features are not independent: if many others are markers, one more is easier to
    believe. The ranking is still that of the Bayes factors. Intervals of a :class:`Selection` suppose
    independence; :meth:`SizePosterior.false_positives` does not. What the screen knew from shuffled labels was
    found under another prior and is dropped. ``expected_under_null`` of a selection asks
    of every feature in turn how probably it passes the cut if it is null, all others being as they are.

    Bayes factors under an improper prior contain its arbitrary ratio :math:`L`. A larger :math:`L` makes
    every feature look more like a marker, so the number of markers is then a number *given* :math:`L`.

    Examples
    --------
    >>> import bayesieve as bs
    >>> X = [[0.1, 5.0], [-0.4, 4.1], [0.3, 5.2], [6.8, 4.7], [7.7, 4.4], [8.1, 4.6]]
    >>> posterior = bs.screen(X, [0, 0, 0, 1, 1, 1], model=bs.GaussianModel.proper())
    >>> found = bs.with_size_prior(posterior, bs.SizePrior.beta_binomial(1, 9))
    >>> found.size_probability.round(3).tolist()
    [0.0, 0.996, 0.004]
    """
    if not isinstance(posterior, FeaturePosterior):
        raise DataError(f"A screen is re-weighed, as screen() returns it, not {type(posterior).__name__}.")
    if not isinstance(prior, SizePrior):
        raise PriorError(
            f"A prior on the number of markers is needed, for example SizePrior.uniform(), not {prior!r}."
        )
    n = posterior.n_features
    before = np.array(np.broadcast_to(posterior.prior_log_odds, (n,)))
    unknown, n_known = np.isfinite(before), int((before == np.inf).sum())
    sizes = slice(n_known, n_known + int(unknown.sum()) + 1)
    log_per_set = prior.log_per_set(n)[sizes]
    if (log_per_set == -np.inf).all():
        raise PriorError(
            f"The prior on the number of markers ({prior.words}) contradicts the {n_known} features known to be "
            f"markers and the {(before == -np.inf).sum()} known to be none."
        )
    if n_odd := int((~np.isfinite(posterior.log_bayes_factor[unknown])).sum()):
        raise DataError(f"{n_odd} features have an infinite or undefined Bayes factor. Leave them out by take().")
    log_sizes, sums = np.full(n + 1, -np.inf), None
    log_sizes[n_known] = 0.0
    if unknown.any():
        share = np.clip(prior.prior_probability(n), 1e-12, 1.0 - 1e-12)
        start = float(np.log(share) - np.log1p(-share))
        sums = SymmetricSums.of(posterior.log_bayes_factor[unknown], log_per_set, start)
        log_sizes[sizes] = sums.log_size_probability
        before[unknown] = sums.log_odds_before(n_threads)
    before.flags.writeable = False
    kept = tuple(finding for finding in posterior.findings if not isinstance(finding, PriorRemark))
    findings = (*kept, about_size(prior, CountDistribution.of_masses(np.exp(log_sizes)), posterior.model))
    marginal = replace(posterior, prior_log_odds=before, findings=findings, shuffled=None)  # as in with_prior()
    return SizePosterior(marginal, prior, log_sizes, sums, unknown, n_known)
