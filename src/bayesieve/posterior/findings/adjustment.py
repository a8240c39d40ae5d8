"""Adjustment: what the classes were compared at equal values of, and the differences that are left."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from bayesieve.utils import DataError, FloatArray, Message, join_words

if TYPE_CHECKING:
    from bayesieve.posterior.feature_posterior import FeaturePosterior

_LEVEL = 0.975  # of the interval's upper end
_MOST_SLOPES = 12


@dataclass(frozen=True, slots=True, eq=False)
class Adjustment:
    """Covariates of a comparison.

    Parameters
    ----------
    covariates
        Covariates in words.
    names, slopes
        Columns of the regression, and their slopes in units of the values per unit of the covariate, ``(n_columns,
        n_features)``.
    unadjusted
        Log Bayes factors without covariates.
    sizes
        Of two classes, the number N that the variance of a difference is the variance of a value over; else empty.
    freedom
        Degrees of freedom that classes and slopes leave, one per feature.
    alone
        Levels whose samples are all of one class.
    samples
        Columns of the regression about their means, samples x columns, to adjust values that are shown.
    shown
        Adjusted values themselves, samples x features, where they do not follow from slopes.
    how
        How classes are compared, before the covariates in words.
    """

    covariates: str
    names: tuple[str, ...]
    slopes: FloatArray
    unadjusted: FloatArray
    sizes: FloatArray
    freedom: npt.NDArray[Any]
    alone: tuple[str, ...] = ()
    samples: FloatArray | None = None
    shown: FloatArray | None = None
    how: str = "at equal"

    def adjusted(self, values: FloatArray, which: Any) -> FloatArray:
        """Adjust values of some features, features x samples in the order of the screen."""
        if self.shown is not None and len(self.shown) == values.shape[1]:
            return np.asarray(self.shown[:, which].T)
        if self.samples is None or len(self.samples) != values.shape[1]:
            raise DataError(
                "The values are to be adjusted for covariates, which are known of the samples of the screen "
                "only. Hand "
                "over the same samples in the same order."
            )
        return np.asarray(values - self.slopes[:, which].T @ self.samples.T)

    def interval(self, posterior: FeaturePosterior) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Difference of the adjusted means of two classes, the half of its 95% interval, and its effect size."""
        from scipy.special import stdtrit  # noqa: PLC0415 - slow to import

        moments = posterior.moments
        freedom = np.maximum(self.freedom, 1)
        with np.errstate(divide="ignore", invalid="ignore"):
            deviation = np.sqrt(moments.centred_squares.sum(axis=0) / freedom)
            half = stdtrit(freedom, _LEVEL) * deviation / np.sqrt(self.sizes)
            size = moments.mean_difference / deviation
        known = self.freedom > 0
        return moments.mean_difference, np.where(known, half, np.nan), np.where(known, size, np.nan)

    def columns(self, posterior: FeaturePosterior) -> dict[str, Any]:
        """Columns: log-odds without covariates, interval and size of the adjusted difference, slopes."""
        table: dict[str, Any] = {"log_odds_unadjusted": posterior.prior_log_odds + self.unadjusted}
        if self.sizes.size:
            difference, half, size = self.interval(posterior)
            table |= {"difference_low": difference - half, "difference_high": difference + half,
                      "adjusted_effect_size": size}  # fmt: skip
        slopes = zip(self.names[:_MOST_SLOPES], self.slopes, strict=False)
        return table | {f"slope_{name}": slope for name, slope in slopes}

    def take(self, places: Any) -> Adjustment:
        """Some features."""
        return replace(
            self, slopes=self.slopes[:, places], unadjusted=self.unadjusted[places], freedom=self.freedom[places],
            sizes=self.sizes[places] if self.sizes.size else self.sizes,
            shown=None if self.shown is None else self.shown[:, places],
        )  # fmt: skip

    def notes(self) -> list[Message]:
        """Say what was adjusted for, and what says nothing about it."""
        how = "values less slopes times covariates about their means"
        if self.shown is not None:
            how = "values less the location of their subject"
        lines = [
            f"Compared {self.how} {self.covariates}: means, differences and values are adjusted ({how}); the "
            "column "
            "log_odds_unadjusted ignores them."
        ]
        if self.alone:
            shown = join_words(
                [*self.alone[:5], *([f"{len(self.alone) - 5} more"] if len(self.alone) > 5 else [])]
            )
            lines.append(f"Samples of one class only, which say nothing about a difference: {shown}.")
        return [Message.of(line, kind="adjusted") for line in lines]
