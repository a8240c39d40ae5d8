r"""Data whose parameters come from the priors of a Gaussian model (section 2.3).

Every feature is a marker with its prior probability. A marker draws a mean and a variance for each class from the
prior of that class, a non-marker one pair from the pooled prior. Screened with the same priors, probabilities are
calibrated by definition: of the features at probability q a share q are markers.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from bayesieve.models import GaussianModel, NormalInverseGamma
from bayesieve.simulation.synthetic_data import (
    LAYOUT,
    STATISTICS,
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
    draw_whole,
    generator,
    seed_sequence,
)
from bayesieve.stats import Moments
from bayesieve.utils import PROPER, FloatArray, PriorError, check_whole


@dataclass(frozen=True, slots=True, eq=False)
class PriorDesign:
    r"""A design drawn from proper priors; by default those of section 6, PP.

    Parameters
    ----------
    n_features
        Number of features.
    prior_probability
        Probability of a marker: a number, or one per feature.
    model
        A model for two classes with proper priors; section 6's PP when not given.
    """

    n_features: int = 20_000
    prior_probability: float | FloatArray = 0.005
    model: GaussianModel | None = None

    def __post_init__(self) -> None:
        check_whole("n_features", self.n_features, 1, PriorError)
        model = GaussianModel.proper() if self.model is None else self.model
        if not model.is_proper:
            raise PriorError(
                "Parameters can be drawn from proper priors only, and one of the model's is improper. Use ",
                PROPER,
                ", or give every prior positive hyper-parameters.",
            )
        if len(model.class_priors) > 2:
            raise PriorError(f"The design has two classes; the model has {len(model.class_priors)} class priors.")
        lengths = {prior.n_features for prior in (*model.class_priors, model.pooled_prior)}
        lengths.add(np.size(self.prior_probability) if np.ndim(self.prior_probability) else None)
        if lengths - {None, self.n_features}:
            raise PriorError(
                f"Hyper-parameters or prior probabilities are given for {max(filter(None, lengths)):,} features, "
                f"but n_features is {self.n_features:,}."
            )
        chance = np.asarray(self.prior_probability, dtype=np.float64)
        if not ((chance >= 0) & (chance <= 1)).all():
            raise PriorError("prior_probability must lie between 0 and 1.")
        object.__setattr__(self, "model", model)

    def draw(
        self, n_samples: int | tuple[int, int], *, seed: Seed = None, n_threads: int | None = None
    ) -> SyntheticData:
        """Draw parameters, and values given them."""
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
        """Draw the same data as :meth:`draw` in pieces: some samples, or some features, at a time."""
        return draw_pieces(self.source(n_samples, seed=seed), by, size, n_threads)

    def draw_moments(self, n_samples: int | tuple[int, int], *, seed: Seed = None) -> SyntheticMoments:
        """Draw parameters, and counts, means and centred squares given them; no values are drawn.

        The parameters are those of :meth:`draw` with the same seed.
        """
        source = self.source(n_samples, seed=seed)
        rng = generator(source.seed, STATISTICS)
        count = np.array(source.sizes, dtype=np.int64)
        deviation = source.spread
        mean = source.location + deviation / np.sqrt(count)[:, None] * rng.standard_normal(deviation.shape)
        freedom = 0.5 * (count - 1.0)[:, None]
        squares = deviation**2 * (2.0 * rng.standard_gamma(freedom, deviation.shape))
        moments = Moments.trusted((0, 1), count, mean, squares, np.zeros_like(mean))
        return SyntheticMoments(moments, source.kind, source.group)

    def source(self, n_samples: int | tuple[int, int], *, seed: Seed = None) -> PriorValues:
        """Draw the parameters; the values given them are drawn tile by tile."""
        sizes = class_sizes_of(n_samples)
        sequence = seed_sequence(seed)
        rng = generator(sequence, LAYOUT)
        assert self.model is not None
        is_marker = rng.random(self.n_features) < self.prior_probability
        pooled = _parameters(self.model.pooled_prior, self.n_features, rng)
        own = [_parameters(self.model.prior_of(k, 2), self.n_features, rng) for k in (0, 1)]
        location, spread = (
            np.where(is_marker, [own[0][i], own[1][i]], pooled[i]) for i in (0, 1)
        )  # classes x features
        kind = np.where(is_marker, Kind.MARKER, Kind.NON_MARKER).astype(np.int8)
        return PriorValues(sizes, sequence, kind, location, spread)


def proper_design(
    *,
    n_features: int = 20_000,
    prior_probability: float = 0.005,
    variance_dof: float = 3.0,
    variance_scale: float = 0.5,
    mean_strength: float = 0.1,
    mean_locations: tuple[float, ...] = (0.0, 0.2),
    pooled_location: float = 0.0,
) -> PriorDesign:
    """Return a design from plain numbers, which mean what they do in :meth:`bayesieve.GaussianModel.proper`."""
    model = GaussianModel.proper(
        variance_dof=variance_dof,
        variance_scale=variance_scale,
        mean_strength=mean_strength,
        mean_locations=mean_locations,
        pooled_location=pooled_location,
    )
    return PriorDesign(n_features, prior_probability, model)


def _parameters(
    prior: NormalInverseGamma, n_features: int, rng: np.random.Generator
) -> tuple[FloatArray, FloatArray]:
    """Mean and standard deviation of every feature."""
    shape = np.broadcast_to(0.5 * np.asarray(prior.variance_dof), (n_features,))
    variance = 0.5 * np.asarray(prior.variance_scale) / rng.standard_gamma(shape)
    mean = prior.mean_location + np.sqrt(variance / prior.mean_strength) * rng.standard_normal(n_features)
    return mean, np.sqrt(variance)


@dataclass(frozen=True, slots=True, eq=False)
class PriorValues:
    """A source of tiles: means and standard deviations per class and feature.

    Parameters
    ----------
    sizes, seed
        Sizes of the classes; what the streams are derived from.
    kind
        Marker or not, per feature.
    location, spread
        Means and standard deviations, classes x features.
    """

    sizes: tuple[int, int]
    seed: np.random.SeedSequence
    kind: KindArray
    location: FloatArray
    spread: FloatArray

    def __post_init__(self) -> None:
        for array in (self.kind, self.location, self.spread):
            array.flags.writeable = False

    @property
    def group(self) -> KindArray:
        """There is one group."""
        return np.zeros_like(self.kind)

    def strip(self, number: int, rows: Range) -> TileMaker:
        """Return what makes the tiles of some samples."""
        return functools.partial(self._tile, number, rows)

    def _tile(self, strip: int, rows: Range, number: int, columns: Range) -> FloatArray:
        rng = generator(self.seed, TILE, strip, number)
        values = rng.standard_normal((rows[1] - rows[0], columns[1] - columns[0]))
        second = (np.arange(*rows) >= self.sizes[0]).astype(np.intp)
        part = slice(*columns)
        values *= self.spread[second, part]
        values += self.location[second, part]
        return values
