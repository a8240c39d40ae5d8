r"""How fast markers are found and non-markers dropped (sections 5 and S6): log-odds along growing samples.

Odds of a marker grow like :math:`e^{rn}` with the rate of Lemma S2's limit, those of a non-marker fall like
:math:`n^{p-1}`, where :math:`L \sim c\, n^p`. Neither Gaussian data nor independent features are needed.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from bayesieve.errors import DataError, RuleError
from bayesieve.models import GaussianModel
from bayesieve.posterior.consistency import consistency_report
from bayesieve.posterior.logistic import checked_log_odds, log_expit
from bayesieve.simulation.growing_samples import FeatureKind, growing_moments

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]

KINDS = (
    FeatureKind("mean", means=(0.0, 0.5)),
    FeatureKind("variance", variances=(1.0, 1.6)),
    FeatureKind("mean and variance", means=(0.0, 0.4), variances=(1.0, 0.6)),
    FeatureKind("non-marker"),
)
"""Three kinds of markers and one of non-markers."""


@dataclass(frozen=True, slots=True)
class FittedRate:
    """Slope of the log-odds of one kind of feature, and its limit.

    Parameters
    ----------
    name
        The kind.
    against
        ``"n"`` for a marker, ``"log n"`` for a non-marker.
    slope, standard_error
        Mean over the paths and its standard error (NaN for a single path).
    limit
        What the theory says.

    Examples
    --------
    >>> from bayesieve.simulation.rates import FittedRate
    >>> round(FittedRate("non-marker", "log n", -0.98, 0.02, -1.0).error_in_standard_errors, 6)
    1.0
    """

    name: str
    against: str
    slope: float
    standard_error: float
    limit: float

    @property
    def error_in_standard_errors(self) -> float:
        """How far slope and limit are apart."""
        return (self.slope - self.limit) / self.standard_error

    def __str__(self) -> str:
        return (
            f"{self.name}: {self.slope:.5f} per {self.against} (standard error {self.standard_error:.5f}), "
            f"limit {self.limit:.5f}"
        )


@dataclass(frozen=True, slots=True, eq=False)
class RatePaths:
    r"""Log-odds along growing samples.

    Parameters
    ----------
    sizes
        Numbers of samples.
    kinds
        The features: one of each kind on every path.
    log_odds
        Kinds x paths x sizes.
    share
        Share of the first class.
    exponent
        The power :math:`p` in :math:`L \sim c\, n^p`; NaN if there is none.

    Examples
    --------
    >>> from bayesieve.simulation.rates import consistency_paths
    >>> paths = consistency_paths([100, 1000, 10_000], n_paths=5)
    >>> paths.log_odds.shape
    (4, 5, 3)
    """

    sizes: IntArray
    kinds: tuple[FeatureKind, ...]
    log_odds: FloatArray
    share: float = 0.5
    exponent: float = 0.0

    def __post_init__(self) -> None:
        for array in (self.sizes, self.log_odds):
            array.flags.writeable = False

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the kinds."""
        return tuple(kind.name for kind in self.kinds)

    @property
    def markers(self) -> npt.NDArray[np.bool_]:
        """Which kinds are markers."""
        return np.array([kind.is_marker for kind in self.kinds])

    @property
    def log_probability_of_truth(self) -> FloatArray:
        r"""Log posterior probability of the true set, :math:`\log p(\bar G \mid S_n)`: paths x sizes."""
        towards_truth = np.where(self.markers[:, None, None], self.log_odds, -self.log_odds)
        return np.asarray(log_expit(towards_truth).sum(axis=0))

    def settled(self, threshold: float = 0.5) -> IntArray:
        """Smallest n from which on the selection by minimal risk is the truth at every size; -1 if at none.

        Parameters
        ----------
        threshold
            Probability over which a feature is selected.

        Examples
        --------
        >>> from bayesieve.simulation.rates import consistency_paths
        >>> paths = consistency_paths([100, 100_000, 1_000_000], n_paths=5)
        >>> paths.settled().tolist()
        [100000, 100000, 100000, 100000, 100000]
        """
        if not 0.0 < threshold < 1.0:
            raise RuleError(f"threshold must lie between 0 and 1, not {threshold!r}.")
        selected = self.log_odds > math.log(threshold / (1.0 - threshold))
        wrong = (selected != self.markers[:, None, None]).any(axis=0)
        last_wrong = np.where(wrong, np.arange(self.sizes.size), -1).max(axis=1)
        return np.asarray(np.append(self.sizes, -1)[last_wrong + 1])

    def rates(self) -> tuple[FittedRate, ...]:
        r"""Fit a slope to every kind: against n for markers, against log n for non-markers.

        The log-odds of a marker are a random walk with drift plus :math:`(p - 1) \log n`. That term, of Lemma S1,
        is taken away; the best estimate of the drift is then the slope between the ends of the path. Non-markers
        fluctuate about a line in log n, fitted by least squares.

        Examples
        --------
        >>> from bayesieve.simulation.rates import consistency_paths
        >>> marker, *_ = consistency_paths([1000, 1_000_000], n_paths=50, seed=1).rates()
        >>> marker.against, round(marker.limit, 5), abs(marker.error_in_standard_errors) < 4
        ('n', 0.03031, True)
        """
        if self.sizes.size < 2:
            raise DataError("A slope needs log-odds at two sizes at least.")
        return tuple(
            self._fitted(kind, log_odds) for kind, log_odds in zip(self.kinds, self.log_odds, strict=True)
        )

    def _fitted(self, kind: FeatureKind, log_odds: FloatArray) -> FittedRate:
        if kind.is_marker:
            known = (self.exponent - 1.0) * np.log(self.sizes)
            slopes = (log_odds - known)[:, [0, -1]] @ [-1.0, 1.0] / (self.sizes[-1] - self.sizes[0])
            against, limit = "n", kind.limit_rate(self.share)
        else:
            x = np.log(self.sizes) - np.log(self.sizes).mean()
            slopes = log_odds @ x / (x @ x)
            against, limit = "log n", self.exponent - 1.0
        error = slopes.std(ddof=1) / math.sqrt(slopes.size) if slopes.size > 1 else math.nan
        return FittedRate(kind.name, against, float(slopes.mean()), float(error), limit)


def consistency_paths(
    sizes: Sequence[int],
    kinds: Sequence[FeatureKind] = KINDS,
    *,
    n_paths: int = 20,
    share: float = 0.5,
    model: GaussianModel | None = None,
    prior_probability: float = 0.01,
    noise: str = "gaussian",
    seed: int = 0,
) -> RatePaths:
    r"""Follow the log-odds of features while one sample grows.

    Parameters
    ----------
    sizes
        Numbers of samples, increasing; two at least for slopes.
    kinds
        One feature of each kind per path; three kinds of markers and a non-marker by default.
    n_paths
        Independent repetitions.
    share
        Share of the first class.
    model, prior_probability
        As in :func:`bayesieve.screen`.
    noise, seed
        As in :func:`~bayesieve.simulation.growing_samples.growing_moments`.

    Examples
    --------
    >>> import bayesieve as bs
    >>> from bayesieve.simulation.rates import consistency_paths
    >>> model = bs.GaussianModel.jeffreys("n_decay")
    >>> rate = consistency_paths([100, 1000, 10_000, 100_000], n_paths=2000, model=model).rates()[-1]
    >>> rate.limit, abs(rate.slope + 2.0) < 0.02
    (-2.0, True)
    """
    model = GaussianModel.jeffreys() if model is None else model
    prior = checked_log_odds(prior_probability, 1)
    grown = growing_moments(sizes, kinds, n_paths=n_paths, share=share, noise=noise, seed=seed)
    log_odds = np.stack([prior + model.log_bayes_factor(moments) for moments in grown], axis=-1)
    exponent = consistency_report(model).exponent
    by_kind = np.ascontiguousarray(log_odds.reshape(n_paths, len(kinds), -1).transpose(1, 0, 2))
    return RatePaths(
        np.array(sizes, dtype=np.int64), tuple(kinds), by_kind, share, math.nan if exponent is None else exponent
    )
