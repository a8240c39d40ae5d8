"""Kinds of difference: in mean, in variance or in both."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from bayesieve.models import MEAN_CONSTANT, VARIANCE_CONSTANT, log_evidence_of_kinds
from bayesieve.posterior.feature_posterior import FeaturePosterior
from bayesieve.posterior.marginals import check_log_odds, log_expit
from bayesieve.stats import Moments, as_moments
from bayesieve.utils import FloatArray, Message, OptionError, PriorError, Wording, option

KINDS = ("same", "mean", "variance", "mean and variance")
UNDEFINED = "undefined"
_OF_ITS_OWN = (
    "Kinds of difference come from a model of their own with four hypotheses (same, mean only, variance only, "
    "both); 'probability' and the ranking remain those of the two-way screen."
)
_OF_SCREEN = "Kinds of difference are the parts of the screen's own Bayes factor: mean, variance, or both at once."


@dataclass(frozen=True, slots=True, eq=False)
class Kinds:
    """Probabilities of the four kinds of difference between two classes, feature by feature.

    They belong to a model of their own with four hypotheses: ``1 - same`` is not the ``probability``
    of the screen, which compares two. Under a :class:`CalibratedModel` they are the parts of the screen's own
    Bayes factor: ``1 - same`` is its ``probability``.

    Parameters
    ----------
    log_evidence
        Log evidence of same, mean only, variance only and both over that of same:
        ``(4, n_features)``; NaN where a class has too few values or no spread.
    prior_log_odds
        Prior log-odds of any difference: a number or one per feature.
    weights
        How the prior probability is shared among mean only, variance only and both; adds up to 1.
    fixed_prior
        Whether the prior is this model's own and does not follow that of the screen.
    of_screen
        Whether they are parts of the screen's own Bayes factor.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve.posterior.findings.kinds import Kinds
    >>> found = Kinds(np.log([[1.0], [8.0], [1.0], [2.0]]), np.log(3.0))
    >>> found.kind, found.mean_only.round(4).tolist()
    (('mean',), [0.6667])
    """

    log_evidence: FloatArray
    prior_log_odds: float | FloatArray
    weights: tuple[float, float, float] = (1 / 3, 1 / 3, 1 / 3)
    fixed_prior: bool = False
    of_screen: bool = False

    def __post_init__(self) -> None:
        self.log_evidence.flags.writeable = False

    @property
    def n_features(self) -> int:
        """Number of features."""
        return int(self.log_evidence.shape[1])

    @property
    def log_prior(self) -> FloatArray:
        """Log prior probability of the four kinds: ``(4, 1)``, or ``(4, n_features)`` if it varies."""
        odds = np.atleast_1d(np.asarray(self.prior_log_odds, dtype=np.float64))
        with np.errstate(divide="ignore"):  # a share of 0 rules a kind out
            log_shares = np.log(np.asarray(self.weights))[:, None]
        return np.concatenate([log_expit(-odds)[None], log_expit(odds) + log_shares])

    @property
    def log_probability(self) -> FloatArray:
        """Log posterior probability of the four kinds, ``(4, n_features)``."""
        weighed = self.log_evidence + self.log_prior
        with np.errstate(invalid="ignore"):  # NaN where a feature has no kind
            return np.asarray(weighed - np.logaddexp.reduce(weighed, axis=0))

    @property
    def probability(self) -> FloatArray:
        """Posterior probability of the four kinds, ``(4, n_features)``, accurate when it is tiny."""
        return np.exp(self.log_probability)

    @property
    def same(self) -> FloatArray:
        """Probability that the classes share mean and variance."""
        return np.asarray(self.probability[0])

    @property
    def mean_only(self) -> FloatArray:
        """Probability that only the means differ."""
        return np.asarray(self.probability[1])

    @property
    def variance_only(self) -> FloatArray:
        """Probability that only the variances differ."""
        return np.asarray(self.probability[2])

    @property
    def both(self) -> FloatArray:
        """Probability that means and variances differ."""
        return np.asarray(self.probability[3])

    @property
    def means_differ(self) -> FloatArray:
        """Probability that the means differ, whatever the variances do."""
        return self.mean_only + self.both

    @property
    def variances_differ(self) -> FloatArray:
        """Probability that the variances differ, whatever the means do."""
        return self.variance_only + self.both

    @property
    def defined(self) -> npt.NDArray[np.bool_]:
        """Features the four-way model can judge."""
        return np.logical_not(np.isnan(self.log_evidence).any(axis=0))

    @property
    def kind(self) -> tuple[str, ...]:
        """The most probable kind in words; ``"undefined"`` where there is none."""
        best = np.where(self.defined, np.argmax(self.log_evidence + self.log_prior, axis=0), len(KINDS))
        words = (*KINDS, UNDEFINED)
        return tuple(words[k] for k in best.tolist())

    def columns(self, posterior: FeaturePosterior | None = None) -> dict[str, Any]:
        """Columns for the result table; the screen's ``probability`` is not among them and stays as it is.

        Parameters
        ----------
        posterior
            The screen whose prior probability holds now, unless :func:`kinds` was given one of its own.

        Examples
        --------
        >>> import numpy as np
        >>> from bayesieve.posterior.findings.kinds import Kinds
        >>> list(Kinds(np.zeros((4, 1)), 0.0).columns())
        ['kind', 'probability_same', 'probability_mean_only', 'probability_variance_only', 'probability_both']
        """
        now = self
        if posterior is not None and not self.fixed_prior:
            now = replace(self, prior_log_odds=posterior.prior_log_odds)
        same, mean_only, variance_only, both = now.probability
        return {
            "kind": list(now.kind),
            "probability_same": same,
            "probability_mean_only": mean_only,
            "probability_variance_only": variance_only,
            "probability_both": both,
        }

    def take(self, places: npt.ArrayLike) -> Kinds:
        """Some of the features, in the order given.

        Examples
        --------
        >>> import numpy as np
        >>> from bayesieve.posterior.findings.kinds import Kinds
        >>> Kinds(np.zeros((4, 3)), 0.0).take([2]).n_features
        1
        """
        where = np.asarray(places)
        odds = self.prior_log_odds
        odds = odds[where] if isinstance(odds, np.ndarray) and odds.ndim else odds
        return replace(self, log_evidence=self.log_evidence[:, where], prior_log_odds=odds)

    def notes(self) -> list[Message]:
        """Sentences that belong below a table with these columns.

        Examples
        --------
        >>> import numpy as np
        >>> from bayesieve.posterior.findings.kinds import Kinds
        >>> len(Kinds(np.zeros((4, 1)), 0.0).notes())
        1
        """
        notes = [_OF_SCREEN if self.of_screen else _OF_ITS_OWN]
        undefined = int((~self.defined).sum())
        if undefined:
            notes.append(
                f"{undefined} of {self.n_features} features have no kind: a class has fewer than two values or no "
                "spread."
            )
        return [Message.of(note, kind="kinds") for note in notes]


def kinds(
    found: FeaturePosterior | Moments,
    *,
    prior_probability: npt.ArrayLike | None = None,
    weights: tuple[float, float, float] | None = None,
    mean_constant: float = MEAN_CONSTANT,
    variance_constant: float = VARIANCE_CONSTANT,
    n_threads: int | None = None,
) -> Kinds:
    r"""Tell apart differences in mean, in variance, and in both.

    For a screen under a :class:`CalibratedModel`, the parts of its own Bayes factor: given that a feature is a
    marker, :math:`(1-w) BF_M`, :math:`w (1-u) BF_V` and :math:`w u BF_M BF_V` over their sum, with the weight
    :math:`w` of variance differences and the share :math:`u` of these in which means differ as well.

    For other models and for moments, a four-way model of its own under Jeffreys' prior; see
    :func:`~bayesieve.models.gaussian.kinds.log_evidence_of_kinds` for its formulas and constants.

    Parameters
    ----------
    found
        The result of a screen of two classes, or the :class:`Moments` of two classes.
    prior_probability
        Prior probability of any difference; that of the screen by default. Needed with moments.
    weights
        How it is shared among mean only, variance only and both: three shares that add up to 1,
        thirds by default. Of the four-way model only, as the constants.
    mean_constant, variance_constant
        Factors of a second mean and of a second variance: :math:`(2\pi)^{-1/2}` and 1/4.
    n_threads
        Threads to use, all cores by default; the result is the same to the last bit.

    Examples
    --------
    >>> import bayesieve as bs
    >>> from bayesieve.posterior.findings.kinds import kinds
    >>> X = [[0.1, 0.1], [-0.4, 0.9], [0.3, 0.4], [0.2, 0.6], [7.8, 9.0], [8.2, -9.5], [7.9, 5.0], [8.3, -4.1]]
    >>> kinds(bs.screen(X, ["a"] * 4 + ["b"] * 4, model=bs.GaussianModel.proper())).kind
    ('mean', 'variance')
    """
    moments = gaussian_moments(found) if isinstance(found, FeaturePosterior) else found
    if isinstance(found, FeaturePosterior) and found.model.difference != "any":
        raise OptionError(
            f"This screen asks about the {found.model.difference} only, so that it has no kinds of difference.",
            hint=("Leave ", option("difference"), " out", Wording(
                ", or call kinds(posterior.moments, prior_probability=0.01) for a model of its own.", ".")),
            kind="capability",
        )  # fmt: skip
    if prior_probability is not None:
        log_odds = check_log_odds(prior_probability, moments.n_features)
    elif isinstance(found, FeaturePosterior):
        log_odds = found.prior_log_odds
    else:
        raise PriorError("With moments, prior_probability must be given, for example prior_probability=0.01.")
    if isinstance(found, FeaturePosterior) and found.model.supports("effect-sizes"):
        if weights is not None or (mean_constant, variance_constant) != (MEAN_CONSTANT, VARIANCE_CONSTANT):
            raise OptionError(
                "weights and constants belong to the four-way model, and this screen has parts of its own.",
                hint="Leave them out, or call kinds(posterior.moments, prior_probability=0.01, ...).",
                kind="capability",
            )
        return _parts(found, moments, log_odds, fixed=prior_probability is not None)
    shares = (1 / 3, 1 / 3, 1 / 3) if weights is None else _check_shares(weights)
    evidence = log_evidence_of_kinds(
        moments, mean_constant=mean_constant, variance_constant=variance_constant, n_threads=n_threads
    )
    if isinstance(found, FeaturePosterior):
        evidence[:, found.degenerate] = np.nan
    return Kinds(evidence, log_odds, shares, prior_probability is not None)


def _parts(posterior: FeaturePosterior, moments: Moments, log_odds: Any, *, fixed: bool) -> Kinds:
    """Take the log Bayes factor of a screen apart; what else it holds (absent values) goes to all parts."""
    model: Any = posterior.model
    evidences = model.evidences(moments)
    weight, both, groups = evidences.variance_weight, evidences.both_share, [(0,), (1,)]
    rest = posterior.log_bayes_factor - evidences.pattern(groups)
    mean, variance = evidences.kinds(groups)
    evidence = np.array([np.zeros(mean.size), mean + rest, variance + rest, mean + variance + rest])
    evidence[:, posterior.degenerate] = np.nan
    shares = (1.0 - weight, weight * (1.0 - both), weight * both)
    return Kinds(evidence, log_odds, shares, fixed, of_screen=True)


def gaussian_moments(posterior: FeaturePosterior) -> Moments:
    """Moments behind a screen of two classes, with the rounding variance of its resolution."""
    moments = as_moments(posterior.statistics)
    if moments is None or len(moments.classes) != 2:
        raise OptionError(
            "Kinds of difference and effects are those of means and variances of two classes; this screen has "
            + (
                "pairs, whose differences tell about the mean only."
                if len(posterior.classes) == 1
                else f"{len(posterior.classes)} classes under {type(posterior.model).__name__}."
            )
        )
    if posterior.block_evidence is not None:
        raise OptionError(
            "Kinds of difference and effects look at all samples together, but this screen has blocks, whose own "
            "locations would pass for differences. Ask for them without blocks, or block by block."
        )
    if posterior.adjustment is not None:
        raise OptionError(
            "Kinds of difference and effects look at plain classes, but this screen is given covariates or "
            "subjects: its "
            "table has adjusted differences with their intervals. Ask for kinds without covariates."
        )
    return moments.with_resolution(posterior.resolution) if np.any(posterior.resolution) else moments


def _check_shares(weights: Any) -> tuple[float, float, float]:
    try:
        mean, variance, both = (float(share) for share in weights)
    except (TypeError, ValueError):
        mean = variance = both = -1.0
    total = mean + variance + both
    if not (min(mean, variance, both) >= 0 and abs(total - 1.0) <= 1e-9):
        raise PriorError(
            f"weights must be three shares that add up to 1 (mean only, variance only, both), not {weights!r}."
        )
    return mean / total, variance / total, both / total
