r"""One sample that grows: moments of the first n observations for one n after another (section 5's :math:`S_n`).

Moments of Gaussian data need no data: what a further m observations add to a class is a mean, normal with
variance :math:`\sigma / m`, and centred squares, :math:`\sigma` times chi-squared with m - 1 degrees of freedom,
independent of each other. A million samples cost as much as ten.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from bayesieve.errors import DataError, OptionError
from bayesieve.stats import Moments

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]

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

    Examples
    --------
    >>> from bayesieve.simulation.growing_samples import FeatureKind
    >>> FeatureKind("spread", variances=(1.0, 2.0)).is_marker
    True
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

        Examples
        --------
        >>> from bayesieve.simulation.growing_samples import FeatureKind
        >>> round(FeatureKind("shift", means=(0.0, 1.0)).limit_rate(), 6)
        0.111572
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
    """Give the moments of the first n observations, for every n in ``sizes``.

    Parameters
    ----------
    sizes
        Numbers of samples, increasing.
    kinds
        One feature of each kind per path.
    n_paths
        Independent repetitions; feature number ``path * len(kinds) + kind``.
    share
        Share of the first class among the samples.
    noise
        ``"gaussian"``: statistics are drawn directly. ``"t5"``: independent values from Student's t with five
        degrees of freedom, scaled to the given variances. ``"correlated"``: Gaussian values, of which those of a
        path correlate at 0.8, markers or not. The latter two draw every value; for them what is known at one n
        does not depend on the other sizes.
    seed
        Same seed, same sample.

    Examples
    --------
    >>> from bayesieve.simulation.growing_samples import FeatureKind, growing_moments
    >>> [moments.count.tolist() for moments in growing_moments([10, 1_000_000], [FeatureKind("null")])]
    [[5, 5], [500000, 500000]]
    """
    counts = class_sizes(sizes, share)
    if noise not in NOISES:
        raise OptionError(f"noise must be one of {', '.join(map(repr, NOISES))}, not {noise!r}.")
    if not kinds or n_paths < 1:
        raise DataError("At least one kind of feature and one path are needed.")
    return _grow(counts, tuple(kinds), n_paths, noise, seed)


def class_sizes(sizes: Sequence[int], share: float) -> IntArray:
    """Split numbers of samples between the two classes; neither ever shrinks.

    Examples
    --------
    >>> from bayesieve.simulation.growing_samples import class_sizes
    >>> class_sizes([10, 100], 0.3).tolist()
    [[3, 7], [30, 70]]
    """
    if not 0.0 < share < 1.0:
        raise DataError(f"share must lie between 0 and 1, not {share!r}.")
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
