"""TrendSlopes: how every feature changes with an outcome, with an interval."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesieve.utils import DataError, FloatArray, IntArray, Message, join_words

if TYPE_CHECKING:
    from bayesieve.posterior.feature_posterior import FeaturePosterior

_LEVEL = 0.975  # of the interval's upper end


@dataclass(frozen=True, slots=True, eq=False)
class TrendSlopes:
    """Slopes on an outcome.

    Parameters
    ----------
    outcome, extent, groups
        Its name, its least and largest value and their number, and the groups of samples that are shown.
    slope, size, left, freedom
        Slopes per unit of the outcome, the squares of the outcome (given covariates), the squares that are left
        and their degrees of freedom, one per feature.
    given
        Covariates in words; empty without.
    covariate_slopes, samples
        Slopes on the columns of the covariates, and these about their means, to adjust values that are shown.
    codes
        Group of every sample.
    variances
        Whether variances that change with the outcome count, too.
    """

    outcome: str
    extent: tuple[float, float, int]
    groups: tuple[str, ...]
    slope: FloatArray
    size: FloatArray
    left: FloatArray
    freedom: FloatArray
    given: str
    covariate_slopes: FloatArray
    samples: FloatArray
    codes: IntArray
    variances: bool = False

    def adjusted(self, values: FloatArray, which: Any) -> FloatArray:
        """Adjust values of some features, features x samples in the order of the screen."""
        if len(self.samples) != values.shape[1]:
            raise DataError("A trend is known of the samples of the screen only. Hand over the same samples.")
        if not self.samples.shape[1]:
            return values
        return np.asarray(values - self.covariate_slopes[:, which].T @ self.samples.T)

    def columns(self, posterior: FeaturePosterior) -> dict[str, Any]:
        """Columns: slope with its 95% interval, and the correlation (given covariates)."""
        from scipy.special import stdtrit  # noqa: PLC0415 - slow to import

        del posterior
        with np.errstate(divide="ignore", invalid="ignore"):
            half = stdtrit(np.maximum(self.freedom, 1), _LEVEL) * np.sqrt(self.left / self.freedom / self.size)
            between = self.size * self.slope**2
            correlation = np.sign(self.slope) * np.sqrt(between / (between + self.left))
        half = np.where(self.freedom > 0, half, np.nan)
        return {
            "slope": self.slope, "slope_low": self.slope - half, "slope_high": self.slope + half,
            "correlation": correlation,
        }  # fmt: skip

    def take(self, places: Any) -> TrendSlopes:
        """Some features."""
        return replace(
            self, slope=self.slope[places], size=self.size[places], left=self.left[places],
            freedom=self.freedom[places], covariate_slopes=self.covariate_slopes[:, places],
        )  # fmt: skip

    def notes(self) -> list[Message]:
        """Say what was compared with what."""
        low, high, n = self.extent
        given = f", at equal {self.given}" * bool(self.given)
        also = ", or variances that rise or fall with it" if self.variances else ""
        return [
            Message.of(
                f"Trend along {self.outcome} ({low:g} to {high:g}, {n:,} samples){given}: a slope{also} against "
                f"none. Groups of samples ({join_words(self.groups)}) are there to look at; the evidence is that "
                "of the slope over all samples.",
                kind="trend",
            )
        ]
