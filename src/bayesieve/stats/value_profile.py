"""ValueProfile: what the values of a table look like, from a small sub-table that does not depend on chunks."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from bayesieve.data import is_sparse
from bayesieve.utils import BoolArray, FloatArray, IntArray

MOST_SAMPLES, MOST_FEATURES = 128, 256  # looked at closely: 32,768 values, which take about 2 ms
MOST_DISTINCT = 20  # different values are counted up to here
FLOOR_SHARE = 0.5  # of the values of a class that equal the feature's smallest: it rests on a floor
_LEAST_IN_A_GROUP = 5  # values of a class, to tell a floor from a few ties
_LEAST_FOR_SHAPE = 3  # values of a class, to have residuals
_AT_ONCE = 2**16  # values that stay in the cache while both extremes are looked for


@dataclass(frozen=True, slots=True)
class ValueProfile:
    """What the values of a table look like, before any transformation.

    ``smallest`` and ``largest`` are of all values. Everything else is of a sub-table: at most
    :data:`MOST_SAMPLES` samples and :data:`MOST_FEATURES` features, which are picked by a hash of their position,
    so that the same table gives the same profile in whatever chunks, format or orientation it comes.

    Parameters
    ----------
    n_samples, n_features
        Shape of the table.
    n_values
        Values looked at, missing ones left out.
    n_features_seen
        Features looked at.
    smallest, largest
        Of all values; NaN if there are none.
    share_whole
        Share of whole numbers among the values that are not 0; 0 if all are 0.
    share_zero, share_negative, share_unit
        Share of values that are 0, below 0, and within [0, 1].
    median_positive
        Median of the values above 0; NaN if there are none.
    n_distinct, most_distinct
        Number of different values in the table, and the largest number in any one feature;
        :data:`MOST_DISTINCT` stands for that many or more.
    skewness, kurtosis
        Skewness and excess kurtosis of deviations from the class means, median over features; NaN if no feature
        varies.
    log_skewness
        The same skewness for logarithms of the values above 0.
    level_spread
        Slope of log standard deviation on log mean over features: about 1 where noise is proportional to the
        level (raw intensities), about 0 for log ratios; NaN if fewer than three features vary about a mean above
        0.
    share_near_zero, share_near_one, share_spanning
        For values within [0, 1]: share of features whose median is below 0.1, of those whose median is above 0.9,
        and of those that reach from the smallest to the largest value of the table.
    share_floored
        Share of features where, in some class, at least half of the values (five or more) equal the smallest
        value of the feature, which is not constant.
    floor
        The smallest value that most of these features share, else NaN.
    """

    n_samples: int
    n_features: int
    n_values: int
    n_features_seen: int
    smallest: float
    largest: float
    share_whole: float
    share_zero: float
    share_negative: float
    share_unit: float
    median_positive: float
    n_distinct: int
    most_distinct: int
    skewness: float
    kurtosis: float
    log_skewness: float
    level_spread: float
    share_near_zero: float
    share_near_one: float
    share_spanning: float
    share_floored: float
    floor: float

    @property
    def largest_over_median(self) -> float:
        """Largest value over the median of those above 0; NaN without any."""
        return self.largest / self.median_positive


@dataclass(frozen=True, slots=True, eq=False)
class ValueSample:
    """A sub-table of some samples and features, with the extremes of the whole; it merges exactly.

    Parameters
    ----------
    n_samples, n_features
        Shape of the part of the table seen so far.
    smallest, largest
        Its extremes; NaN if it holds no value.
    samples, features
        Positions, in the table, of the samples and features kept.
    groups
        Class of each sample kept.
    values
        Features x samples, as float64 with NaN where a value is missing.
    """

    n_samples: int
    n_features: int
    smallest: float
    largest: float
    samples: IntArray
    features: IntArray
    groups: IntArray
    values: FloatArray

    @classmethod
    def of(
        cls, values: Any, groups: IntArray, first_sample: int = 0, first_feature: int = 0, *, extremes: bool = True
    ) -> ValueSample:
        """Take the sub-table of a part of a table.

        Parameters
        ----------
        values
            Samples x features: a numeric array, or a CSR or CSC matrix, whose implicit zeros count.
        groups
            Class of each sample.
        first_sample, first_feature
            Position of the part in the table.
        extremes
            Whether to look for the extremes among all values; else those of the sub-table stand in for them.
        """
        n_samples, n_features = values.shape
        samples = _pick(first_sample, n_samples, MOST_SAMPLES)
        features = _pick(first_feature, n_features, MOST_FEATURES)
        rows, columns = samples - first_sample, features - first_feature
        cut = _cut(values, rows, columns)
        ends = _extremes(values if extremes else cut)
        return cls(n_samples, n_features, *ends, samples, features, groups[rows], cut)

    def merge(self, other: ValueSample) -> ValueSample:
        """Put two parts together: more features of the same samples, or more samples of the same features."""
        lowest = float(np.fmin(self.smallest, other.smallest))
        highest = float(np.fmax(self.largest, other.largest))
        if np.array_equal(self.samples, other.samples) and self.n_samples == other.n_samples:
            features, kept = _least(np.concatenate([self.features, other.features]), MOST_FEATURES)
            values = np.concatenate([self.values, other.values])[kept]
            n_features = self.n_features + other.n_features
            return ValueSample(
                self.n_samples, n_features, lowest, highest, self.samples, features, self.groups, values
            )
        samples, kept = _least(np.concatenate([self.samples, other.samples]), MOST_SAMPLES)
        values = np.concatenate([self.values, other.values], axis=1)[:, kept]
        groups, n_samples = np.concatenate([self.groups, other.groups])[kept], self.n_samples + other.n_samples
        return ValueSample(n_samples, self.n_features, lowest, highest, samples, self.features, groups, values)

    def profile(self) -> ValueProfile:
        """Describe the values."""
        present = ~np.isnan(self.values)
        values = self.values[present]
        n, positive = max(values.size, 1), values[values > 0]
        n_zero = int(np.count_nonzero(values == 0))
        n_whole = int(np.count_nonzero(values == np.rint(values))) - n_zero
        n_distinct, most_distinct = _distinct(self.values, values)
        skewness, kurtosis, spread = _shape(self.values, self.groups)
        share_floored, floor = _floors(self.values, present, self.groups)
        near_zero, near_one, spanning = _ends(self.values, self.smallest, self.largest)
        return ValueProfile(
            n_samples=self.n_samples,
            n_features=self.n_features,
            n_values=values.size,
            n_features_seen=len(self.features),
            smallest=self.smallest,
            largest=self.largest,
            share_whole=n_whole / max(values.size - n_zero, 1),
            share_zero=n_zero / n,
            share_negative=int(np.count_nonzero(values < 0)) / n,
            share_unit=int(np.count_nonzero((values >= 0) & (values <= 1))) / n,
            median_positive=float(np.median(positive)) if positive.size else math.nan,
            n_distinct=n_distinct,
            most_distinct=most_distinct,
            skewness=skewness,
            kurtosis=kurtosis,
            log_skewness=_log_skewness(self.values, self.groups),
            level_spread=spread,
            share_near_zero=near_zero,
            share_near_one=near_one,
            share_spanning=spanning,
            share_floored=share_floored,
            floor=floor,
        )


def _hash(positions: IntArray) -> npt.NDArray[np.uint64]:
    """Return a pseudo-random number for each position, all of them different (the finaliser of splitmix64)."""
    with np.errstate(over="ignore"):
        z = positions.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15) + np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return z ^ (z >> np.uint64(31))


def _least(positions: IntArray, most: int) -> tuple[IntArray, IntArray]:
    """Return the positions of least hash in ascending order, and where they were."""
    kept = np.argsort(_hash(positions))[:most] if positions.size > most else np.arange(positions.size)
    kept = kept[np.argsort(positions[kept])]
    return positions[kept], kept


@functools.lru_cache(maxsize=4)
def _pick(first: int, n: int, most: int) -> IntArray:
    """Return at most so many positions of a range, picked by their hash."""
    return _least(np.arange(first, first + n), most)[0]


def _extremes(values: Any) -> tuple[float, float]:
    """Smallest and largest value, NaN left out."""
    stored = values.data if is_sparse(values) else values
    if not stored.size:
        return (0.0, 0.0) if 0 not in values.shape else (math.nan, math.nan)
    if stored.ndim == 2 and abs(stored.strides[0]) < abs(stored.strides[1]):
        stored = stored.T  # by rows of the memory
    step = max(1, _AT_ONCE // max(stored[0].size, 1))
    low = high = math.nan
    for k in range(0, len(stored), step):
        part = stored[k : k + step]
        least, most = part.min(), part.max()
        if np.isnan(least):
            least, most = (each.reduce(part, axis=None) for each in (np.fmin, np.fmax))
        low, high = float(np.fmin(low, least)), float(np.fmax(high, most))
    if is_sparse(values) and values.nnz < math.prod(values.shape):
        low, high = float(np.fmin(low, 0.0)), float(np.fmax(high, 0.0))
    return low, high


def _cut(values: Any, rows: IntArray, columns: IntArray) -> FloatArray:
    """Some samples and features of a part, features x samples."""
    if is_sparse(values):
        part = values[:, columns][rows] if values.format == "csc" else values[rows][:, columns]
        return np.ascontiguousarray(part.toarray().T, dtype=np.float64)
    return np.ascontiguousarray(values[np.ix_(rows, columns)].T, dtype=np.float64)


def _distinct(table: FloatArray, values: FloatArray) -> tuple[int, int]:
    """Number of different values in all, and the largest number in a feature, as far as they are few."""
    if not values.size:
        return 0, 0
    ordered = np.sort(table, axis=1)  # NaN last
    several = (np.diff(ordered, axis=1) > 0).sum(axis=1) + ~np.isnan(ordered[:, 0])
    most = min(int(several.max()), MOST_DISTINCT)
    return (MOST_DISTINCT if most == MOST_DISTINCT else min(np.unique(values).size, MOST_DISTINCT)), most


def _residuals(table: FloatArray, groups: IntArray) -> FloatArray:
    """Deviations from the mean of the class; NaN in classes of less than three values."""
    left = np.full_like(table, np.nan)
    for group in np.unique(groups):
        here = groups == group
        part = table[:, here]
        n = np.count_nonzero(~np.isnan(part), axis=1)
        mean = np.where(n >= _LEAST_FOR_SHAPE, np.nansum(part, axis=1) / np.maximum(n, 1), np.nan)
        left[:, here] = part - mean[:, None]
    return left


def _moments(residuals: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Mean square, cube and fourth power of the deviations of each feature, in units of the largest one."""
    there = ~np.isnan(residuals)
    x = np.where(there, residuals, 0.0)
    largest = np.abs(x).max(axis=1, initial=0.0)
    x = x / np.where(largest > 0, largest, 1.0)[:, None]
    n = np.maximum(there.sum(axis=1), 1)
    square = x * x
    return square.sum(axis=1) / n, (square * x).sum(axis=1) / n, (square * square).sum(axis=1) / n


def _varies(table: FloatArray, residuals: FloatArray) -> BoolArray:
    """Tell which features deviate from their class means by more than rounding."""
    with np.errstate(invalid="ignore"):
        largest = np.fmax.reduce(np.abs(residuals), axis=1, initial=0.0)
        return np.asarray(largest > 1e-9 * np.fmax.reduce(np.abs(table), axis=1, initial=0.0))


def _shape(table: FloatArray, groups: IntArray) -> tuple[float, float, float]:
    """Skewness and excess kurtosis of a typical feature, and how spread grows with level over features."""
    residuals = _residuals(table, groups)
    kept = _varies(table, residuals)
    if not kept.any():
        return math.nan, math.nan, math.nan
    table, residuals = table[kept], residuals[kept]
    second, third, fourth = _moments(residuals)
    skewness, kurtosis = float(np.median(third / second**1.5)), float(np.median(fourth / second**2) - 3.0)
    scale = np.fmax.reduce(np.abs(residuals), axis=1)
    mean = np.nansum(table, axis=1) / np.count_nonzero(~np.isnan(table), axis=1)
    above = mean > 0
    if np.count_nonzero(above) < 3:
        return skewness, kurtosis, math.nan
    x, y = np.log(mean[above]), np.log(np.sqrt(second[above]) * scale[above])
    deviation = x - x.mean()
    total = float(deviation @ deviation)
    return skewness, kurtosis, float(deviation @ y) / total if total > 0 else math.nan


def _log_skewness(table: FloatArray, groups: IntArray) -> float:
    """Skewness of the logarithms of a typical feature."""
    logs = np.log(np.where(table > 0, table, np.nan))
    residuals = _residuals(logs, groups)
    kept = _varies(logs, residuals)
    if not kept.any():
        return math.nan
    second, third, _ = _moments(residuals[kept])
    return float(np.median(third / second**1.5))


def _ends(table: FloatArray, smallest: float, largest: float) -> tuple[float, float, float]:
    """Share of features near 0, near 1, and of those that reach from end to end, for values within [0, 1]."""
    seen = ~np.isnan(table).all(axis=1)
    if not (smallest >= 0.0 and largest <= 1.0 and seen.any()):
        return 0.0, 0.0, 0.0
    part = table[seen]
    middle = np.nanmedian(part, axis=1)
    spans = (np.fmin.reduce(part, axis=1) == smallest) & (np.fmax.reduce(part, axis=1) == largest)
    return float(np.mean(middle < 0.1)), float(np.mean(middle > 0.9)), float(np.mean(spans))


def _floors(table: FloatArray, present: BoolArray, groups: IntArray) -> tuple[float, float]:
    """Share of features that rest on a floor in some class, and the floor that most of them share."""
    if not table.size:
        return 0.0, math.nan
    lowest = np.fmin.reduce(table, axis=1)
    at_floor = table == lowest[:, None]
    on = np.zeros(len(table), bool)
    for group in np.unique(groups):
        here = groups == group
        n, there = at_floor[:, here].sum(axis=1), present[:, here].sum(axis=1)
        on |= (n >= _LEAST_IN_A_GROUP) & (n >= FLOOR_SHARE * there)
    on &= np.fmax.reduce(table, axis=1) > lowest
    if not on.any():
        return 0.0, math.nan
    found, counts = np.unique(lowest[on], return_counts=True)
    floor = float(found[counts.argmax()]) if 2 * counts.max() > on.sum() else math.nan
    return float(on.mean()), floor
