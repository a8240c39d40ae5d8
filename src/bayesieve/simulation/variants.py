"""The synthetic microarray with noise that is not Gaussian: heavy tails, skewness, outliers.

Means are those of the Gaussian model, variances too except where outliers add to them; markers stay markers and
non-markers have the same distribution in both classes. Statistics come from the values, some samples at a time.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from bayesieve.simulation.synergetic import SynergeticModel, check_constants
from bayesieve.simulation.synergetic_sampling import Noise
from bayesieve.simulation.synthetic_data import Seed, SyntheticMoments, draw_statistics
from bayesieve.utils import DataError, FloatArray, IntArray


class _FromValues(SynergeticModel):
    """A model without an exact sampler of its statistics."""

    __slots__ = ()

    def draw_moments(
        self, n_samples: int | tuple[int, int], *, seed: Seed = None, shuffle: bool = True
    ) -> SyntheticMoments:
        """Counts, means and centred squares of what :meth:`draw` draws; the values are never held all at once."""
        return draw_statistics(self._values(n_samples, seed, shuffle))


@dataclass(frozen=True, slots=True)
class HeavyTailedModel(_FromValues):
    r"""The synthetic microarray with Student's t in the place of the Gaussian.

    The features of a block are jointly t: they share the divisor, so that they correlate as before.

    Parameters
    ----------
    degrees_of_freedom
        Above 2, where variances exist; at 4 or below fourth moments do not. Values are scaled to the variances
        of the Gaussian model.

    Other constants are those of :class:`bayesieve.simulation.SynergeticModel`.
    """

    degrees_of_freedom: float = 5.0

    def __post_init__(self) -> None:
        check_constants(self)
        if not 2.0 < self.degrees_of_freedom < math.inf:
            raise DataError(f"degrees_of_freedom must be over 2 and finite, not {self.degrees_of_freedom!r}.")

    def noise(self) -> Noise:
        """Noise of Student's t with variance 1."""
        return _Student(self.degrees_of_freedom)


@dataclass(frozen=True, slots=True)
class SkewedModel(_FromValues):
    r"""The synthetic microarray with log-normal noise, shifted and scaled to mean 0 and variance 1.

    Noise :math:`e` becomes :math:`(e^{\tau e - \tau^2/2} - 1) / \sqrt{e^{\tau^2} - 1}`, of skewness
    :math:`(e^{\tau^2} + 2) \sqrt{e^{\tau^2} - 1}` (1.75 by default). Correlations within blocks become
    :math:`(e^{\rho\tau^2} - 1) / (e^{\tau^2} - 1)`, a little weaker.

    Parameters
    ----------
    log_deviation
        Standard deviation :math:`\tau` of the logarithm; above 0.

    Other constants are those of :class:`bayesieve.simulation.SynergeticModel`.
    """

    log_deviation: float = 0.5

    def __post_init__(self) -> None:
        check_constants(self)
        if not 0.0 < self.log_deviation <= 5.0:
            raise DataError(f"log_deviation must be over 0 and at most 5, not {self.log_deviation!r}.")

    def noise(self) -> Noise:
        """Log-normal noise with mean 0 and variance 1."""
        return _LogNormal(self.log_deviation)


@dataclass(frozen=True, slots=True)
class OutlierModel(_FromValues):
    r"""The synthetic microarray with gross errors.

    Every value is, with a small probability and independently of all others, moved up or down by a number of
    its standard deviations. Means stay; the variance around them grows by the factor
    :math:`1 + \text{share} \cdot \text{shift}^2`, in both classes alike.

    Parameters
    ----------
    outlier_share
        Probability that a value is moved.
    outlier_shift
        By how many standard deviations.

    Other constants are those of :class:`bayesieve.simulation.SynergeticModel`.
    """

    outlier_share: float = 0.01
    outlier_shift: float = 8.0

    def __post_init__(self) -> None:
        check_constants(self)
        if not 0.0 <= self.outlier_share <= 1.0 or not math.isfinite(self.outlier_shift):
            raise DataError("outlier_share must lie between 0 and 1, and outlier_shift must be finite.")

    def noise(self) -> Noise:
        """Gaussian noise of which some values are moved."""
        return _Outliers(self.outlier_share, self.outlier_shift)


@dataclass(frozen=True, slots=True)
class _Student:
    freedom: float

    def shared(self, rng: np.random.Generator, n_rows: int, n_blocks: int) -> FloatArray:
        return self._factor(rng, (n_rows, n_blocks + 1))

    def reshape(
        self, values: FloatArray, shared: FloatArray | None, block: IntArray, rng: np.random.Generator
    ) -> None:
        assert shared is not None
        factor = np.take(shared, block, axis=1)
        alone = block == shared.shape[1] - 1
        factor[:, alone] = self._factor(rng, (len(values), int(alone.sum())))
        values *= factor

    def _factor(self, rng: np.random.Generator, shape: tuple[int, int]) -> FloatArray:
        """Turn a standard Gaussian into Student's t with variance 1."""
        return np.sqrt((self.freedom - 2.0) / rng.chisquare(self.freedom, shape))


@dataclass(frozen=True, slots=True)
class _LogNormal:
    log_deviation: float

    def shared(self, rng: np.random.Generator, n_rows: int, n_blocks: int) -> None:
        del rng, n_rows, n_blocks

    def reshape(
        self, values: FloatArray, shared: FloatArray | None, block: IntArray, rng: np.random.Generator
    ) -> None:
        del shared, block, rng
        square = self.log_deviation**2
        values *= self.log_deviation
        values -= 0.5 * square
        np.expm1(values, out=values)
        values /= math.sqrt(math.expm1(square))


@dataclass(frozen=True, slots=True)
class _Outliers:
    share: float
    shift: float

    def shared(self, rng: np.random.Generator, n_rows: int, n_blocks: int) -> None:
        del rng, n_rows, n_blocks

    def reshape(
        self, values: FloatArray, shared: FloatArray | None, block: IntArray, rng: np.random.Generator
    ) -> None:
        del shared, block
        chance = rng.random(values.shape)
        values[chance < self.share] += self.shift
        values[chance < 0.5 * self.share] -= 2.0 * self.shift
