"""SetPosterior: the probability of every set of features, under any prior and likelihood (section 2.1)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import numpy.typing as npt

from bayesieve.data.matrix import checked_names
from bayesieve.errors import DataError, PriorError
from bayesieve.feature_sets import masks
from bayesieve.feature_sets.priors import as_prior, numbers_of_sets
from bayesieve.posterior import CountLaw, FeaturePosterior
from bayesieve.posterior.error_analysis import as_mask
from bayesieve.posterior.logistic import expit
from bayesieve.selection import Rule

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl

    from bayesieve.feature_sets.feature_set import FeatureSet

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class SetPosterior:
    r"""Log probability that each set of features is the set of markers, :math:`\log p(G \mid S)`, equation (2.6).

    Sets are bit masks: entry ``g`` of an array belongs to the set of the features whose bits in ``g`` are 1.

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
    log_probability
        Log posterior probability of every set; probabilities add up to 1.
    log_odds
        Marginal log-odds of every feature: sets that hold it against sets that do not.

    Examples
    --------
    >>> import numpy as np
    >>> import bayesieve as bs
    >>> posterior = bs.SetPosterior.of_log_likelihood(np.log([0.1, 0.2, 0.3, 0.4]), 0.5)
    >>> posterior.probability.round(6).tolist(), posterior.marginal_probability.round(6).tolist()
    ([0.1, 0.2, 0.3, 0.4], [0.6, 0.7])
    """

    log_likelihood: FloatArray
    log_prior: FloatArray
    feature_names: tuple[str, ...] | None = None
    notes: tuple[str, ...] = ()
    log_probability: FloatArray = field(init=False, repr=False)
    log_odds: FloatArray = field(init=False, repr=False)

    def __post_init__(self) -> None:
        if not (self.log_likelihood < np.inf).all():
            raise DataError("The log likelihood of some set is infinite or not a number.")
        weights = self.log_prior + self.log_likelihood
        if weights.max() == -np.inf:
            raise PriorError("No set that the prior allows is possible given the data.")
        normalised = weights - masks.log_sum(weights)
        object.__setattr__(self, "log_probability", normalised)
        object.__setattr__(self, "log_odds", masks.marginal_log_odds(normalised))
        for array in (self.log_likelihood, self.log_prior, self.log_probability, self.log_odds):
            array.flags.writeable = False

    @classmethod
    def of_features(cls, posterior: FeaturePosterior, prior: Any) -> SetPosterior:
        r"""Features that are independent given the set of markers: a screen under another prior over sets.

        Of the screen only the log Bayes factors are used: they add up to :math:`\log p(S \mid G)`.

        Parameters
        ----------
        posterior
            What :func:`bayesieve.screen` returns.
        prior
            A :class:`SetPrior`, or prior probabilities of independent features.

        Examples
        --------
        >>> import bayesieve as bs
        >>> X = [[0.1, 5.0], [-0.4, 4.1], [0.3, 5.2], [6.8, 4.7], [7.7, 4.4], [8.1, 4.6]]
        >>> screened = bs.screen(X, [0, 0, 0, 1, 1, 1], model=bs.GaussianModel.proper())
        >>> bs.SetPosterior.of_features(screened, bs.SizePrior.fixed(1)).marginal_probability.round(3).tolist()
        [1.0, 0.0]
        """
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
            A :class:`SetPrior`, or prior probabilities of independent features.
        feature_names, n_features
            Names or number of the features; one of them is needed for a function.

        Examples
        --------
        >>> import bayesieve as bs
        >>> posterior = bs.SetPosterior.of_log_likelihood(lambda features: 2.0 * len(features), 0.5, n_features=2)
        >>> posterior.log_odds.round(6).tolist()
        [2.0, 2.0]
        """
        n = masks.number_of_features(log_likelihood, feature_names, n_features)
        masks.check_number(n)
        if callable(log_likelihood):
            log_likelihood = numbers_of_sets(log_likelihood, n, "likelihood")
        values = np.array(log_likelihood, dtype=np.float64)
        return cls(values, as_prior(prior).log_probability(n), checked_names(feature_names, n))

    def with_prior(self, prior: Any) -> SetPosterior:
        """Re-weigh with another prior over sets, without looking at the data again.

        Examples
        --------
        >>> import numpy as np
        >>> import bayesieve as bs
        >>> posterior = bs.SetPosterior.of_log_likelihood(np.log([0.1, 0.2, 0.3, 0.4]), 0.5)
        >>> posterior.with_prior(bs.SetTable({(0,): 1.0, (1,): 1.0})).marginal_probability.round(6).tolist()
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
    def probability(self) -> FloatArray:
        r"""Probability of every set, :math:`p(G \mid S)`, by bit mask."""
        return np.exp(self.log_probability)

    @property
    def marginal_probability(self) -> FloatArray:
        r"""Probability of every feature, :math:`\pi^*(f) = \sum_{G \ni f} p(G \mid S)`, equation (2.7)."""
        return expit(self.log_odds)

    @property
    def number_of_markers(self) -> CountLaw:
        """Law of the number of markers."""
        return CountLaw.of_masses(np.bincount(masks.set_sizes(self.n_features), self.probability))

    @property
    def expected_markers(self) -> float:
        r"""Expected number of markers, :math:`\sum_f \pi^*(f)`, equation (2.8)."""
        return float(self.marginal_probability.sum())

    def log_probability_of(self, features: Any) -> float:
        """Log probability that exactly these features, by name, position or mask, are the markers.

        Examples
        --------
        >>> import bayesieve as bs
        >>> round(bs.SetPosterior.of_log_likelihood([0.0, 1.0], 0.5).log_probability_of(["x0"]), 6)
        -0.313262
        """
        mask = as_mask(cast("FeaturePosterior", self), features)  # asks for names and their number only
        return float(self.log_probability[int(mask @ 2 ** np.arange(mask.size))])

    def top(self, n: int = 10) -> list[tuple[tuple[str, ...], float]]:
        """Return the most probable sets, with their probabilities.

        Examples
        --------
        >>> import numpy as np
        >>> import bayesieve as bs
        >>> posterior = bs.SetPosterior.of_log_likelihood(np.log([0.1, 0.2, 0.3, 0.4]), 0.5)
        >>> [(names, round(probability, 6)) for names, probability in posterior.top(2)]
        [(('x0', 'x1'), 0.4), (('x1',), 0.3)]
        """
        names, probability, best = self.names, self.probability, self._best(n).tolist()
        return [(tuple(names[f] for f in masks.members(g)), float(probability[g])) for g in best]

    def select(self, rule: Rule | str) -> FeatureSet:
        """Select features by a criterion of section 3, each solved over all sets; see :mod:`.criteria`.

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
        from bayesieve.feature_sets.criteria import select  # noqa: PLC0415 - it needs this module

        return select(self, rule)

    def to_dict(self, n: int | None = None) -> dict[str, Any]:
        """Table of the ``n`` most probable sets, all by default, the most probable first.

        Examples
        --------
        >>> import bayesieve as bs
        >>> bs.SetPosterior.of_log_likelihood([0.1, 0.2, 0.3, 0.4], 0.5).to_dict()["set"]
        ['x0, x1', 'x1', 'x0', '']
        """
        best, names = self._best(n), self.names
        return {
            "set": [", ".join(names[f] for f in masks.members(g)) for g in best.tolist()],
            "size": masks.set_sizes(self.n_features)[best],
            "log_probability": self.log_probability[best],
            "probability": np.exp(self.log_probability[best]),
        }

    def features(self) -> dict[str, Any]:
        """Table of the features: marginal log-odds and probabilities, in feature order.

        Examples
        --------
        >>> import bayesieve as bs
        >>> bs.SetPosterior.of_log_likelihood([0.0, 1.0], 0.5).features()["feature"]
        ['x0']
        """
        return {
            "feature": list(self.names),
            "log_odds": self.log_odds,
            "probability": self.marginal_probability,
            "prior_probability": expit(masks.marginal_log_odds(self.log_prior)),
        }

    def to_pandas(self, n: int | None = None) -> pd.DataFrame:
        """Return the table of :meth:`to_dict` as a pandas frame.

        Examples
        --------
        >>> import bayesieve as bs
        >>> bs.SetPosterior.of_log_likelihood([0.0, 1.0], 0.5).to_pandas()["size"].tolist()
        [1, 0]
        """
        import pandas as pd  # noqa: PLC0415 - optional

        return pd.DataFrame(self.to_dict(n))

    def to_polars(self, n: int | None = None) -> pl.DataFrame:
        """Return the table of :meth:`to_dict` as a polars frame.

        Examples
        --------
        >>> import bayesieve as bs
        >>> bs.SetPosterior.of_log_likelihood([0.0, 1.0], 0.5).to_polars()["size"].to_list()
        [1, 0]
        """
        import polars as pl  # noqa: PLC0415 - slow to import

        return pl.DataFrame(self.to_dict(n))

    def __str__(self) -> str:
        (best, probability), *_ = self.top(1)
        number = f"{self.log_probability.size:,} sets of {self.n_features} features; "
        first = f"Most probable set: {{{', '.join(best)}}}, probability {probability:.3g}."
        return "\n".join([f"{number}{self.expected_markers:.3g} markers expected.", first, *self.notes])

    def _best(self, n: int | None) -> npt.NDArray[np.int64]:
        """Bit masks of the most probable sets, the most probable first."""
        return np.argsort(-self.log_probability, kind="stable")[:n]
