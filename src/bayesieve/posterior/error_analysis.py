"""Expected numbers of false positives and negatives of any set of features, and their loss (section 3)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import numpy.typing as npt

from bayesieve.posterior.count_distribution import PoissonBinomial
from bayesieve.posterior.feature_posterior import FeaturePosterior
from bayesieve.posterior.marginals import Marginals, Named
from bayesieve.utils import BoolArray, FloatArray, RuleError


@dataclass(frozen=True, slots=True)
class Loss:
    r"""Loss per feature for each of the four outcomes.

    Parameters
    ----------
    true_positive, false_positive, false_negative, true_negative
        The paper's :math:`\lambda_{GG}, \lambda_{GB}, \lambda_{BG}, \lambda_{BB}`. A false positive
        must cost at least as much as a true negative, a false negative as much as a true positive.

    Examples
    --------
    >>> import bayesieve as bs
    >>> bs.Loss(false_positive=4.0).threshold
    0.8
    """

    true_positive: float = 0.0
    false_positive: float = 1.0
    false_negative: float = 1.0
    true_negative: float = 0.0

    def __post_init__(self) -> None:
        values = [getattr(self, field.name) for field in fields(self)]
        if not all(isinstance(value, (int, float, np.number)) and math.isfinite(value) for value in values):
            raise RuleError(f"Losses must be finite numbers, not {values}.")
        if self.false_positive < self.true_negative or self.false_negative < self.true_positive:
            raise RuleError(
                "An error must not cost less than the right decision: false_positive >= true_negative "
                "and false_negative >= true_positive are needed."
            )

    @property
    def threshold(self) -> float:
        r"""Probability above which a feature is worth selecting, :math:`T` of equation (3.8)."""
        cost = self.false_positive - self.true_negative
        total = cost + self.false_negative - self.true_positive
        if total == 0:
            raise RuleError(
                "With these losses every selection costs the same, so no threshold follows from them. "
                "Let an error cost more than the right decision."
            )
        return cost / total


class ExpectedErrors:
    """Expected errors of a set of features: they follow from the marginals, independent features or not."""

    __slots__ = ()

    posterior: Marginals
    mask: BoolArray

    @property
    def n_selected(self) -> int:
        """Number of features in the set."""
        return int(self.mask.sum())

    @property
    def expected_true_positives(self) -> float:
        r"""Expected number of markers in the set, equation (3.5)."""
        return float(self.posterior.probability[self.mask].sum())

    @property
    def expected_false_positives(self) -> float:
        r"""Expected number of non-markers in the set, equation (3.6)."""
        return float(self.posterior.null_probability[self.mask].sum())

    @property
    def expected_false_negatives(self) -> float:
        """Expected number of markers left out."""
        return float(self.posterior.probability[~self.mask].sum())

    @property
    def expected_true_negatives(self) -> float:
        """Expected number of non-markers left out."""
        return float(self.posterior.null_probability[~self.mask].sum())

    @property
    def expected_mislabelled(self) -> float:
        """Expected number of wrong labels, false positives and false negatives together."""
        return self.expected_false_positives + self.expected_false_negatives

    @property
    def expected_false_discovery_rate(self) -> float:
        """Expected share of non-markers in the set; 0 if the set is empty."""
        return self.expected_false_positives / self.n_selected if self.n_selected else 0.0

    @property
    def expected_false_omission_rate(self) -> float:
        """Expected share of markers among the features left out; 0 if none is."""
        n_left = self.mask.size - self.n_selected
        return self.expected_false_negatives / n_left if n_left else 0.0

    def risk(self, loss: Loss | None = None) -> float:
        """Return the expected loss, equation (3.7); by default the expected number of wrong labels.

        Examples
        --------
        >>> import bayesieve as bs
        >>> X = [[0.1], [-0.4], [0.3], [6.8], [7.7], [8.1]]
        >>> posterior = bs.screen(X, [0, 0, 0, 1, 1, 1], model=bs.GaussianModel.proper())
        >>> risk = bs.ErrorAnalysis.of(posterior, [True]).risk()
        >>> bool(risk == posterior.null_probability[0])
        True
        """
        loss = loss or Loss()
        return (
            loss.true_positive * self.expected_true_positives
            + loss.false_positive * self.expected_false_positives
            + loss.false_negative * self.expected_false_negatives
            + loss.true_negative * self.expected_true_negatives
        )

    def regret(self, loss: Loss | None = None) -> float:
        """Return how much larger the risk is than the least possible, that of the minimal-risk set.

        Examples
        --------
        >>> import bayesieve as bs
        >>> X = [[0.1, 5.0], [-0.4, 4.1], [0.3, 5.2], [6.8, 4.7], [7.7, 4.4], [8.1, 4.6]]
        >>> posterior = bs.screen(X, [0, 0, 0, 1, 1, 1], model=bs.GaussianModel.proper(), prior_probability=0.1)
        >>> bs.ErrorAnalysis.of(posterior, [0]).regret()
        0.0
        >>> round(bs.ErrorAnalysis.of(posterior, [1]).regret(), 3)
        1.996
        """
        loss = loss or Loss()
        p, q = self.posterior.probability, self.posterior.null_probability
        inside = loss.true_positive * p + loss.false_positive * q
        outside = loss.false_negative * p + loss.true_negative * q
        chosen = np.where(self.mask, inside, outside)
        return float((chosen - np.minimum(inside, outside)).sum())


@dataclass(frozen=True, slots=True, eq=False)
class ErrorAnalysis(ExpectedErrors):
    """Expected errors of a set of features, and their exact distributions.

    Expectations of counts hold whenever the probabilities are right. Distributions, intervals and ratios
    further assume that features are independent given the data, as the model does; with correlated
    features intervals are too narrow.

    Parameters
    ----------
    posterior
        Where the probabilities come from.
    mask
        True for the features of the set.

    Examples
    --------
    >>> import bayesieve as bs
    >>> X = [[0.1, 5.0], [-0.4, 4.1], [0.3, 5.2], [6.8, 4.7], [7.7, 4.4], [8.1, 4.6]]
    >>> posterior = bs.screen(X, ["a"] * 3 + ["b"] * 3, model=bs.GaussianModel.proper(), prior_probability=0.1)
    >>> errors = bs.ErrorAnalysis.of(posterior, ["x0"])
    >>> round(errors.expected_false_positives, 4), round(errors.expected_false_negatives, 4)
    (0.0001, 0.0019)
    """

    posterior: FeaturePosterior
    mask: BoolArray

    @classmethod
    def of(cls, posterior: FeaturePosterior, features: npt.ArrayLike | Sequence[Any]) -> ErrorAnalysis:
        """Analyse features given as a mask, as indices or as names.

        Examples
        --------
        >>> import bayesieve as bs
        >>> X = [[0.1, 5.0], [-0.4, 4.1], [0.3, 5.2], [6.8, 4.7], [7.7, 4.4], [8.1, 4.6]]
        >>> posterior = bs.screen(X, [0, 0, 0, 1, 1, 1], model=bs.GaussianModel.proper())
        >>> bs.ErrorAnalysis.of(posterior, [1]).mask.tolist()
        [False, True]
        """
        return cls(posterior, as_mask(posterior, features))

    @property
    def true_positives(self) -> PoissonBinomial:
        """Distribution of the number of markers in the set."""
        p, q = self.posterior.probability, self.posterior.null_probability
        return PoissonBinomial.of(p[self.mask], q[self.mask])

    @property
    def false_positives(self) -> PoissonBinomial:
        """Distribution of the number of non-markers in the set."""
        p, q = self.posterior.probability, self.posterior.null_probability
        return PoissonBinomial.of(q[self.mask], p[self.mask])

    @property
    def false_negatives(self) -> PoissonBinomial:
        """Distribution of the number of markers left out."""
        p, q = self.posterior.probability, self.posterior.null_probability
        return PoissonBinomial.of(p[~self.mask], q[~self.mask])

    @property
    def true_negatives(self) -> PoissonBinomial:
        """Distribution of the number of non-markers left out."""
        p, q = self.posterior.probability, self.posterior.null_probability
        return PoissonBinomial.of(q[~self.mask], p[~self.mask])

    @property
    def mislabelled(self) -> PoissonBinomial:
        """Distribution of the number of wrong labels, false positives and false negatives together."""
        p, q = self.posterior.probability, self.posterior.null_probability
        return PoissonBinomial.of(np.where(self.mask, q, p), np.where(self.mask, p, q))

    @property
    def log_probability(self) -> float:
        r"""Log probability that the set is exactly the set of markers, :math:`\log p(G|S)`, (2.15)."""
        terms = np.where(self.mask, self.posterior.log_probability, self.posterior.log_null_probability)
        return float(terms.sum())

    @property
    def expected_sensitivity(self) -> float:
        r"""Expected share of the markers that the set holds, :math:`E[TP / (TP + FN)]`; 1 if there are none."""
        return _expected_share(self.true_positives, self.false_negatives)

    @property
    def expected_specificity(self) -> float:
        r"""Expected share of the non-markers left out, :math:`E[TN / (TN + FP)]`; 1 if there are none."""
        return _expected_share(self.true_negatives, self.false_positives)

    @property
    def expected_f1(self) -> float:
        r"""Expected F1 score, :math:`E[2 TP / (|G| + TP + FN)]`; 1 if the set and the markers are empty."""
        found, missed = self.true_positives, self.false_negatives
        t, m = found.support[:, None], missed.support[None, :]
        total = self.n_selected + t + m
        score = np.where(total > 0, 2.0 * t / np.maximum(total, 1), 1.0)
        return float(found.pmf @ score @ missed.pmf)

    def hit_rate_probability(self, hit_rate: float) -> float:
        """Probability that at least this share of the set are markers.

        Examples
        --------
        >>> import bayesieve as bs
        >>> X = [[0.1, 5.0], [-0.4, 4.1], [0.3, 5.2], [6.8, 4.7], [7.7, 4.4], [8.1, 4.6]]
        >>> posterior = bs.screen(X, [0, 0, 0, 1, 1, 1], model=bs.GaussianModel.proper())
        >>> 0.5 < bs.ErrorAnalysis.of(posterior, [0]).hit_rate_probability(0.9) < 1.0
        True
        """
        if not (isinstance(hit_rate, (int, float, np.number)) and 0 <= hit_rate <= 1):
            raise RuleError(f"A hit rate lies between 0 and 1; {hit_rate!r} was given.")
        return self.false_positives.cdf((1.0 - hit_rate) * self.n_selected + 1e-9)

    def risk_sd(self, loss: Loss | None = None) -> float:
        """Return the standard deviation of the loss.

        Examples
        --------
        >>> import bayesieve as bs
        >>> X = [[0.1, 5.0], [-0.4, 4.1], [0.3, 5.2], [6.8, 4.7], [7.7, 4.4], [8.1, 4.6]]
        >>> posterior = bs.screen(X, [0, 0, 0, 1, 1, 1], model=bs.GaussianModel.proper(), prior_probability=0.1)
        >>> errors = bs.ErrorAnalysis.of(posterior, [0])
        >>> errors.risk_sd() == errors.mislabelled.sd
        True
        """
        loss = loss or Loss()
        spread = self.posterior.probability * self.posterior.null_probability
        inside, outside = float(spread[self.mask].sum()), float(spread[~self.mask].sum())
        return float(
            np.sqrt(
                (loss.true_positive - loss.false_positive) ** 2 * inside
                + (loss.false_negative - loss.true_negative) ** 2 * outside
            )
        )


def as_mask(posterior: Named, features: Any) -> BoolArray:
    """Turn a mask, indices, names or a selection into a read-only mask."""
    try:
        places = np.asarray(features.mask if isinstance(features, ExpectedErrors) else features)
    except ValueError:  # a ragged list
        places = np.array(0.5)
    n = posterior.n_features
    if places.dtype == np.bool_:
        if places.shape != (n,):
            raise RuleError(f"The mask has shape {places.shape}, but there are {n} features.")
        mask = places.copy()
    else:
        mask = np.zeros(n, dtype=bool)
        if places.dtype.kind in "US" or (places.size and all(isinstance(name, str) for name in places.flat)):
            place = {name: i for i, name in enumerate(posterior.names)}
            unknown = [str(name) for name in places.ravel().tolist() if name not in place]
            if unknown:
                raise RuleError(f"There are no features called {', '.join(map(repr, unknown[:5]))}.")
            places = np.array([place[name] for name in places.ravel().tolist()])
        elif places.size and places.dtype.kind not in "iu":
            raise RuleError("Give features as a mask of True and False, as indices or as names.")
        if places.size and (places.min() < 0 or places.max() >= n):
            raise RuleError(f"Feature indices run from 0 to {n - 1}.")
        mask[places.astype(np.int64)] = True
    mask.flags.writeable = False
    return mask


def _expected_share(found: PoissonBinomial, missed: PoissonBinomial) -> float:
    t, m = found.support[:, None], missed.support[None, :]
    share = np.where(t + m > 0, t / np.maximum(t + m, 1), 1.0)
    return float(found.pmf @ share @ missed.pmf)


@dataclass(frozen=True, slots=True, eq=False)
class ExpectedROC:
    """Expected false and true positives of the first k features of a ranking, k = 0, 1, ...

    Parameters
    ----------
    false_positives, true_positives
        The curve; both start at 0.
    true_positives_sd
        Posterior standard deviation of the true positives, were features independent given the data.

    Examples
    --------
    >>> import bayesieve as bs
    >>> X = [[0.1, 5.0], [-0.4, 4.1], [0.3, 5.2], [6.8, 4.7], [7.7, 4.4], [8.1, 4.6]]
    >>> posterior = bs.screen(X, [0, 0, 0, 1, 1, 1], model=bs.GaussianModel.proper())
    >>> curve = bs.expected_roc(posterior)
    >>> curve.true_positives.size, curve.precision.size, 0.5 < curve.area < 1.0
    (3, 2, True)
    """

    false_positives: FloatArray
    true_positives: FloatArray
    true_positives_sd: FloatArray

    @property
    def area(self) -> float:
        """Normalised area under the curve, between 0 and 1; NaN if one kind of feature is impossible."""
        box = self.false_positives[-1] * self.true_positives[-1]
        under = np.sum(np.diff(self.false_positives) * 0.5 * (self.true_positives[1:] + self.true_positives[:-1]))
        return float(under / box) if box > 0 else float("nan")

    @property
    def precision(self) -> FloatArray:
        """Expected share of markers among the first k features, k = 1, 2, ..."""
        return np.asarray(self.true_positives[1:] / np.arange(1, self.true_positives.size))

    @property
    def recall(self) -> FloatArray:
        """Expected markers among the first k = 1, 2, ... features over all expected; NaN if there are none."""
        total = self.true_positives[-1]
        return np.asarray(self.true_positives[1:] / (total if total > 0 else np.nan))


def expected_roc(posterior: Marginals, ranking: npt.ArrayLike | None = None) -> ExpectedROC:
    """Expected ROC curve, equation (3.14), of the posterior's own ranking or of any other.

    Parameters
    ----------
    posterior
        Where the probabilities come from: a screen, or a posterior over sets.
    ranking
        Feature indices from best to worst; the posterior's ranking, which no other beats, by default.

    Examples
    --------
    >>> import bayesieve as bs
    >>> X = [[0.1, 5.0], [-0.4, 4.1], [0.3, 5.2], [6.8, 4.7], [7.7, 4.4], [8.1, 4.6]]
    >>> posterior = bs.screen(X, [0, 0, 0, 1, 1, 1], model=bs.GaussianModel.proper())
    >>> bs.expected_roc(posterior).area > bs.expected_roc(posterior, [1, 0]).area
    True
    """
    n = posterior.n_features
    order = posterior.ranking if ranking is None else np.asarray(ranking)
    if order.shape != (n,) or order.dtype.kind not in "iu" or not np.array_equal(np.sort(order), np.arange(n)):
        raise RuleError(f"A ranking lists every feature index from 0 to {n - 1} exactly once.")
    p, q = posterior.probability[order], posterior.null_probability[order]
    curves = [np.concatenate(([0.0], np.cumsum(steps))) for steps in (q, p, p * q)]
    return ExpectedROC(curves[0], curves[1], np.sqrt(curves[2]))
