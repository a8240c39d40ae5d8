r"""Features of one shape each: noise that is Gaussian or is not, and markers that differ by a known amount.

A value is :math:`\sigma_f (\mu_{yf} + e^{\theta_{yf}/2}\, z)`, where :math:`z` is noise of mean 0. Non-markers
have the same distribution in both classes, whatever its shape: every one of them in a list is a false positive.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from bayesieve.simulation.synthetic_data import (
    LAYOUT,
    STRIP,
    TILE,
    Kind,
    KindArray,
    Range,
    Seed,
    SyntheticData,
    SyntheticMoments,
    TileMaker,
    class_sizes_of,
    draw_pieces,
    draw_statistics,
    draw_whole,
    generator,
    seed_sequence,
)
from bayesieve.utils import BoolArray, DataError, FloatArray, IntArray, check_choice, check_whole

NOISES = ("gaussian", "student", "lognormal", "outlier", "contaminated")
EFFECTS = ("mean", "variance", "both", "covariance")


@dataclass(frozen=True, slots=True)
class ShapedModel:
    r"""Independent features, or blocks of correlated ones, with noise of one shape.

    Parameters
    ----------
    n_features, marker_share
        Number of features, and the share of them that are markers (rounded to whole features).
    noise
        ``"gaussian"``; ``"student"`` and ``"lognormal"``, scaled to variance 1; ``"outlier"``: Gaussian, but in
        some features one value is moved; ``"contaminated"``: Gaussian, but some values have a larger deviation.
    effect
        In what markers differ: ``"mean"``, ``"variance"``, ``"both"``, or ``"covariance"``: correlations between
        every second feature of a block and the others change their sign in class 1, each feature by itself is the
        same in both classes.
    mean_deviation, mean_shift
        Standard deviation and mean of the differences of means, in standard deviations of the noise.
    log_variance_ratio
        Size of the logarithms of variance ratios; up or down at random.
    deviation_spread
        Standard deviation of the logarithms of the features' own standard deviations.
    degrees_of_freedom, log_deviation
        Of Student's t, over 2; and of the logarithm of log-normal noise.
    outlier_share, outlier_shift
        Share of features with an outlier, and by how many standard deviations it is moved, up or down.
    contaminated_share, contaminated_deviation
        Share of values with a larger deviation, and that deviation.
    block_size, correlation
        Size of the blocks of features, and the correlation of the underlying Gaussian noise within them.
    marker_correlation
        If given, markers fill whole blocks, and this is the correlation within them.

    Examples
    --------
    >>> from bayesieve.simulation import ShapedModel
    >>> model = ShapedModel(n_features=500, marker_share=0.02, noise="student", degrees_of_freedom=3)
    >>> data = model.draw(20, seed=1)
    >>> data.values.shape, int(data.true_markers.sum())
    ((20, 500), 10)
    """

    n_features: int = 20_000
    marker_share: float = 0.01
    noise: str = "gaussian"
    effect: str = "mean"
    mean_deviation: float = 1.0
    log_variance_ratio: float = 0.9
    deviation_spread: float = 0.3
    degrees_of_freedom: float = 5.0
    log_deviation: float = 0.5
    outlier_share: float = 0.05
    outlier_shift: float = 8.0
    contaminated_share: float = 0.01
    contaminated_deviation: float = 5.0
    block_size: int = 1
    correlation: float = 0.0
    marker_correlation: float | None = None
    mean_shift: float = 0.0

    def __post_init__(self) -> None:
        check_whole("n_features", self.n_features, 1)
        check_whole("block_size", self.block_size, 1)
        check_choice("noise", self.noise, NOISES)
        check_choice("effect", self.effect, EFFECTS)
        if self.effect == "covariance" and not (self.block_size > 1 and self.marker_correlation):
            raise DataError("Covariances differ within blocks of markers: give block_size and marker_correlation.")
        shares = ["marker_share", "outlier_share", "contaminated_share", "correlation"]
        for name in shares if self.marker_correlation is None else [*shares, "marker_correlation"]:
            if not 0.0 <= getattr(self, name) <= 1.0:
                raise DataError(f"{name} must lie between 0 and 1, not {getattr(self, name)!r}.")
        for name, least in (("degrees_of_freedom", 2.0), ("log_deviation", 0.0), ("contaminated_deviation", 0.0)):
            if not least < getattr(self, name) < math.inf:
                raise DataError(f"{name} must be over {least:g} and finite, not {getattr(self, name)!r}.")
        for name in ("mean_deviation", "log_variance_ratio", "deviation_spread", "outlier_shift"):
            if not 0.0 <= getattr(self, name) < math.inf:
                raise DataError(f"{name} must be at least 0 and finite, not {getattr(self, name)!r}.")
        if not math.isfinite(self.mean_shift):
            raise DataError(f"mean_shift must be finite, not {self.mean_shift!r}.")

    @property
    def n_markers(self) -> int:
        """Number of markers."""
        number = round(self.marker_share * self.n_features)
        if self.marker_correlation is None:
            return number
        n_whole = self.n_features // self.block_size
        return self.block_size * min(round(number / self.block_size), n_whole)

    def _place_markers(self, rng: np.random.Generator) -> BoolArray:
        """Choose the features that are markers: any, or whole blocks."""
        p, size = self.n_features, self.block_size
        is_marker = np.zeros(p, dtype=bool)
        if self.marker_correlation is None:
            is_marker[rng.permutation(p)[: self.n_markers]] = True
        else:
            blocks = rng.permutation(p // size)[: self.n_markers // size]
            is_marker[(size * blocks[:, None] + np.arange(size)).ravel()] = True
        return is_marker

    def draw(
        self, n_samples: int | tuple[int, int], *, seed: Seed = None, n_threads: int | None = None
    ) -> SyntheticData:
        """Draw effects, and values given them.

        Examples
        --------
        >>> from bayesieve.simulation import ShapedModel
        >>> ShapedModel(n_features=30).draw((3, 5), seed=0).labels.tolist()
        [0, 0, 0, 1, 1, 1, 1, 1]
        """
        return draw_whole(self.source(n_samples, seed=seed), n_threads)

    def chunks(
        self,
        n_samples: int | tuple[int, int],
        *,
        seed: Seed = None,
        by: str = "samples",
        size: int | None = None,
        n_threads: int | None = None,
    ) -> Iterator[SyntheticData]:
        """Draw the same data as :meth:`draw` in pieces: some samples, or some features, at a time.

        Examples
        --------
        >>> from bayesieve.simulation import ShapedModel
        >>> [piece.values.shape for piece in ShapedModel(n_features=30).chunks(6, seed=0, size=4)]
        [(4, 30), (2, 30)]
        """
        return draw_pieces(self.source(n_samples, seed=seed), by, size, n_threads)

    def draw_moments(self, n_samples: int | tuple[int, int], *, seed: Seed = None) -> SyntheticMoments:
        """Sufficient statistics of what :meth:`draw` draws; the values are never held all at once.

        Examples
        --------
        >>> from bayesieve.simulation import ShapedModel
        >>> ShapedModel(n_features=30).draw_moments(6, seed=0).moments.count.tolist()
        [3, 3]
        """
        return draw_statistics(self.source(n_samples, seed=seed))

    def source(self, n_samples: int | tuple[int, int], *, seed: Seed = None) -> ShapedValues:
        """Draw markers, effects, deviations and outliers; values are drawn tile by tile.

        Examples
        --------
        >>> from bayesieve.simulation import ShapedModel
        >>> ShapedModel(n_features=300).source(6, seed=0).location.shape
        (2, 300)
        """
        sizes, sequence, p = class_sizes_of(n_samples), seed_sequence(seed), self.n_features
        rng = generator(sequence, LAYOUT)
        is_marker = self._place_markers(rng)
        deviation = np.exp(self.deviation_spread * rng.standard_normal(p))
        shift = np.where(is_marker, self.mean_shift + self.mean_deviation * rng.standard_normal(p), 0.0)
        half = np.where(is_marker, 0.5 * self.log_variance_ratio * rng.choice([-1.0, 1.0], p), 0.0)
        shift *= self.effect in ("mean", "both")
        half *= self.effect in ("variance", "both")
        row = np.where(rng.random(p) < self.outlier_share, rng.integers(0, sum(sizes), p), -1)
        moved = self.outlier_shift * rng.choice([-1.0, 1.0], p)
        kind = np.where(is_marker, Kind.MARKER, Kind.NON_MARKER).astype(np.int8)
        location = np.array([np.zeros(p), deviation * shift])
        spread = np.array([deviation, deviation * np.exp(half)])
        return ShapedValues(self, sizes, sequence, kind, location, spread, row, moved)


@dataclass(frozen=True, slots=True, eq=False)
class ShapedValues:
    """A source of tiles: a shape, and what every feature draws for itself.

    Parameters
    ----------
    model
        The shape of the noise.
    sizes, seed
        Sizes of the classes; what the streams are derived from.
    kind
        Marker or not, per feature.
    location, spread
        Means and standard deviations, classes x features.
    row, moved
        Sample of the outlier of each feature, -1 for none, and by how much it is moved.
    """

    model: ShapedModel
    sizes: tuple[int, int]
    seed: np.random.SeedSequence
    kind: KindArray
    location: FloatArray
    spread: FloatArray
    row: IntArray
    moved: FloatArray

    def __post_init__(self) -> None:
        for array in (self.kind, self.location, self.spread, self.row, self.moved):
            array.flags.writeable = False

    @property
    def group(self) -> KindArray:
        """There is one group."""
        return np.zeros_like(self.kind)

    def strip(self, number: int, rows: Range) -> TileMaker:
        """Draw what the features of a block share, and return what makes the tiles of some samples."""
        shared = None
        if self.model.block_size > 1 and (self.model.correlation or self.model.marker_correlation):
            n_blocks = -(-self.kind.size // self.model.block_size)
            shared = generator(self.seed, STRIP, number).standard_normal((rows[1] - rows[0], n_blocks))
        return functools.partial(self._tile, number, rows, shared)

    def _tile(self, strip: int, rows: Range, shared: FloatArray | None, number: int, columns: Range) -> FloatArray:
        rng = generator(self.seed, TILE, strip, number)
        values = rng.standard_normal((rows[1] - rows[0], columns[1] - columns[0]))
        second = (np.arange(*rows) >= self.sizes[0]).astype(np.intp)
        if shared is not None:
            own, common = self._weights(columns)
            values *= own
            values += common[second] * shared[:, np.arange(*columns) // self.model.block_size]
        self._reshape(values, rng, rows, slice(*columns))
        values *= self.spread[second, slice(*columns)]
        values += self.location[second, slice(*columns)]
        return values

    def _weights(self, columns: Range) -> tuple[FloatArray, FloatArray]:
        """Weights of a feature's own noise, and of what its block shares, the latter in each class."""
        model, places = self.model, np.arange(*columns)
        correlation = np.full(places.size, model.correlation)
        is_marker = self.kind[slice(*columns)] == Kind.MARKER
        if model.marker_correlation is not None:
            correlation[is_marker] = model.marker_correlation
        common = np.array([np.sqrt(correlation)] * 2)
        if model.effect == "covariance":
            common[1, is_marker & (places % model.block_size % 2 == 1)] *= -1.0
        return np.sqrt(1.0 - correlation), common

    def _reshape(self, values: FloatArray, rng: np.random.Generator, rows: Range, part: slice) -> None:
        """Give Gaussian noise the shape of the model."""
        model = self.model
        if model.noise == "student":
            values *= np.sqrt(
                (model.degrees_of_freedom - 2.0) / rng.chisquare(model.degrees_of_freedom, values.shape)
            )
        elif model.noise == "lognormal":
            square = model.log_deviation**2
            values[:] = np.expm1(model.log_deviation * values - 0.5 * square) / math.sqrt(math.expm1(square))
        elif model.noise == "contaminated":
            values[rng.random(values.shape) < model.contaminated_share] *= model.contaminated_deviation
        elif model.noise == "outlier":
            here = np.flatnonzero((self.row[part] >= rows[0]) & (self.row[part] < rows[1]))
            values[self.row[part][here] - rows[0], here] += self.moved[part][here]
