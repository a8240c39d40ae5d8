r"""Rates of convergence (sections 5 and S6): log-odds along growing samples.

Moments of Gaussian data need no data: what a further m observations add to a class is a mean, normal with
variance :math:`\sigma / m`, and centred squares, :math:`\sigma` times chi-squared with m - 1 degrees of freedom,
independent of each other. A million samples cost as much as ten.

Odds of a marker grow like :math:`e^{rn}` with the rate of Lemma S2's limit, those of a non-marker fall like
:math:`n^{p-1}`, where :math:`L \sim c\, n^p`. Neither Gaussian data nor independent features are needed.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from bayesieve.models import GaussianModel
from bayesieve.posterior import check_log_odds, consistency_report, log_expit
from bayesieve.stats import Moments
from bayesieve.utils import DataError, FloatArray, IntArray, RuleError, check_between, check_choice

CORRELATION = 0.8
NOISES = ("gaussian", "t5", "correlated")

_VALUES_AT_ONCE = 2**20
_CLASSES = (0, 1)


@dataclass(frozen=True, slots=True)
class FeatureKind:
    """Means and variances of a feature in the two classes.

    Parameters
    ----------
    name
        What to call it.
    means, variances
        One for each class.
    """

    name: str
    means: tuple[float, float] = (0.0, 0.0)
    variances: tuple[float, float] = (1.0, 1.0)

    def __post_init__(self) -> None:
        numbers = (*self.means, *self.variances)
        if len(self.means) != 2 or len(self.variances) != 2 or not all(map(math.isfinite, numbers)):
            raise DataError(f"Feature {self.name!r} needs two finite means and two finite variances.")
        if min(self.variances) <= 0:
            raise DataError(f"Variances of feature {self.name!r} must be positive, not {self.variances}.")

    @property
    def is_marker(self) -> bool:
        """Whether mean or variance differ between the classes (Definition 1)."""
        return self.means[0] != self.means[1] or self.variances[0] != self.variances[1]

    def limit_rate(self, share: float = 0.5) -> float:
        r"""Limit of the log-odds over n, with a share :math:`\rho` of the samples in the first class.

        .. math::
            \lim \frac{\log h}{n} = \frac12 \log \frac{\rho \sigma_0 + (1-\rho) \sigma_1 + \rho (1-\rho) (\mu_0 -
            \mu_1)^2} {\sigma_0^\rho \sigma_1^{1-\rho}}

        It follows from the limit in the proof of Lemma S2, and is 0 for a non-marker only.
        """
        growth = (self.variances[1] - self.variances[0]) / self.variances[0]
        apart = (self.means[1] - self.means[0]) ** 2 / self.variances[0]
        rest = 1.0 - share
        return 0.5 * (math.log1p(rest * growth + share * rest * apart) - rest * math.log1p(growth))


def growing_moments(
    sizes: Sequence[int],
    kinds: Sequence[FeatureKind],
    *,
    n_paths: int = 1,
    share: float = 0.5,
    noise: str = "gaussian",
    seed: int = 0,
) -> Iterator[Moments]:
    """Give the moments of the first n observations, for every n in ``sizes``."""
    counts = class_sizes(sizes, share)
    check_choice("noise", noise, NOISES)
    if not kinds or n_paths < 1:
        raise DataError("At least one kind of feature and one path are needed.")
    return _grow(counts, tuple(kinds), n_paths, noise, seed)


def class_sizes(sizes: Sequence[int], share: float) -> IntArray:
    """Split numbers of samples between the two classes; neither ever shrinks."""
    check_between("share", share, error=DataError, open_ends=True)
    total = np.asarray(sizes)
    if total.ndim != 1 or not total.size or total.dtype.kind not in "iu" or (np.diff(total) <= 0).any():
        raise DataError("sizes must be whole numbers of samples, each larger than the one before.")
    first = np.rint(share * total).astype(np.int64)
    counts = np.stack([first, total - first], axis=1)
    if counts[0].min() < 2:
        raise DataError(
            f"Every class needs two samples from the start; {total[0]} samples give {counts[0].min()}."
        )
    return counts


def _grow(
    counts: IntArray, kinds: tuple[FeatureKind, ...], n_paths: int, noise: str, seed: int
) -> Iterator[Moments]:
    generators = [np.random.default_rng(each) for each in np.random.SeedSequence(seed).spawn(2)]
    means, variances = (
        np.tile(np.array([getattr(kind, name) for kind in kinds]).T, n_paths) for name in ("means", "variances")
    )
    whole: Moments | None = None
    for more in np.diff(counts, axis=0, prepend=0):
        for k in _CLASSES:
            for n, mean, squares in _parts(generators[k], int(more[k]), (n_paths, len(kinds)), noise):
                part = Moments.trusted(
                    (k,), np.array([n]), (means[k] + np.sqrt(variances[k]) * mean)[None],
                    (variances[k] * squares)[None], np.zeros((1, mean.size)),
                )  # fmt: skip
                whole = part if whole is None else whole.merge(part)
        assert whole is not None
        yield whole


def _parts(
    rng: np.random.Generator, n: int, shape: tuple[int, int], noise: str
) -> Iterator[tuple[int, FloatArray, FloatArray]]:
    """Count, mean and centred squares of n further standard observations, in one part or in several."""
    if noise == "gaussian":
        if n:
            size = math.prod(shape)
            mean = rng.standard_normal(size) / math.sqrt(n)
            yield n, mean, rng.chisquare(n - 1, size) if n > 1 else np.zeros(size)
        return
    rows = max(1, _VALUES_AT_ONCE // math.prod(shape))
    for done in range(0, n, rows):
        values = _standard(rng, min(rows, n - done), shape, noise)
        mean = values.mean(axis=0)
        yield len(values), mean, ((values - mean) ** 2).sum(axis=0)


def _standard(rng: np.random.Generator, n: int, shape: tuple[int, int], noise: str) -> Any:
    """Observations with mean 0 and variance 1, row after row from one stream, so that parts do not matter."""
    n_paths, n_kinds = shape
    if noise == "t5":
        return rng.standard_t(5.0, (n, n_paths * n_kinds)) * math.sqrt(3.0 / 5.0)
    drawn = rng.standard_normal((n, n_paths, n_kinds + 1))
    values = math.sqrt(CORRELATION) * drawn[..., :1] + math.sqrt(1.0 - CORRELATION) * drawn[..., 1:]
    return values.reshape(n, -1)


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

    def first_correct_size(self, threshold: float = 0.5) -> IntArray:
        """Smallest n from which on the selection by minimal risk is the truth at every size; -1 if at none."""
        if not 0.0 < threshold < 1.0:
            raise RuleError(f"threshold must lie between 0 and 1, not {threshold!r}.")
        selected = self.log_odds > math.log(threshold / (1.0 - threshold))
        wrong = (selected != self.markers[:, None, None]).any(axis=0)
        last_wrong = np.where(wrong, np.arange(self.sizes.size), -1).max(axis=1)
        return np.asarray(np.append(self.sizes, -1)[last_wrong + 1])

    settled = first_correct_size  # the former name

    def rates(self) -> tuple[FittedRate, ...]:
        r"""Fit a slope to every kind: against n for markers, against log n for non-markers.

        The log-odds of a marker are a random walk with drift plus :math:`(p - 1) \log n`. That term, of Lemma S1,
        is taken away; the best estimate of the drift is then the slope between the ends of the path. Non-markers
        fluctuate about a line in log n, fitted by least squares.
        """
        if self.sizes.size < 2:
            raise DataError("A slope needs log-odds at two sizes at least.")
        return tuple(self._fit(kind, log_odds) for kind, log_odds in zip(self.kinds, self.log_odds, strict=True))

    def _fit(self, kind: FeatureKind, log_odds: FloatArray) -> FittedRate:
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
    r"""Follow the log-odds of features while one sample grows."""
    model = GaussianModel.jeffreys() if model is None else model
    prior = check_log_odds(prior_probability, 1)
    grown = growing_moments(sizes, kinds, n_paths=n_paths, share=share, noise=noise, seed=seed)
    log_odds = np.stack([prior + model.log_bayes_factor(moments) for moments in grown], axis=-1)
    exponent = consistency_report(model).exponent
    by_kind = np.ascontiguousarray(log_odds.reshape(n_paths, len(kinds), -1).transpose(1, 0, 2))
    return RatePaths(
        np.array(sizes, dtype=np.int64), tuple(kinds), by_kind, share, math.nan if exponent is None else exponent
    )
