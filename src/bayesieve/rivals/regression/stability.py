r"""Stability selection (Meinshausen and Buhlmann, 2010; supplement S2; spec E1).

The path is fitted on many subsamples. :math:`\hat\Pi_k^\lambda` is the share of subsamples in which feature k is
selected at penalty :math:`\lambda`, and :math:`\hat\Pi_k` its maximum over the penalties. Features with
:math:`\hat\Pi_k \ge \pi` are selected. With q, the mean number of features selected at any penalty, their equation
(9) bounds the expected number of false ones by :math:`q^2 / ((2 \pi - 1) p)`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from scipy import sparse

from bayesieve.data import LabelledMatrix
from bayesieve.rivals.regression.path import (
    Design,
    Regression,
    RegressionPath,
    columns_of,
    fit_path,
    warn_unfinished,
)
from bayesieve.rivals.regression.penalties import penalties_of
from bayesieve.rivals.regression.units import Running, Unit, run_units
from bayesieve.utils import (
    BoolArray,
    FloatArray,
    IntArray,
    LabelError,
    OptionError,
    check_between,
    check_whole,
)

_FEWEST = 4  # samples of a class: a half holds two


@dataclass(frozen=True, slots=True, eq=False)
class StabilitySelection:
    """How often every feature is selected in subsamples, by penalty.

    Parameters
    ----------
    penalties
        Penalties, falling.
    counts
        Penalties x features, sparse: number of subsamples in which the feature is selected.
    n_subsamples
        Number of subsamples.
    q
        Mean over subsamples of the number of features selected at any of the penalties.
    share
        Share of each class in a subsample.
    pairs
        Whether subsamples are pairs of halves without a common sample.
    converged
        False for penalties at which the solver gave up in a subsample.
    """

    penalties: FloatArray
    counts: Any
    n_subsamples: int
    q: float
    share: float
    pairs: bool
    converged: BoolArray

    @property
    def n_features(self) -> int:
        """Number of features."""
        return int(self.counts.shape[1])

    @property
    def probability(self) -> FloatArray:
        """Largest share of subsamples, over the penalties, in which each feature is selected."""
        return np.asarray(self.counts.max(axis=0).toarray().ravel() / self.n_subsamples)

    @property
    def mean_probability(self) -> FloatArray:
        """Mean of that share over the penalties."""
        return np.asarray(self.counts.sum(axis=0)).ravel() / (self.n_subsamples * self.penalties.size)

    def selected(self, threshold: float) -> BoolArray:
        """Which features are selected in at least this share of the subsamples."""
        return np.asarray(self.probability >= check_threshold(threshold) - 1e-12)

    def expected_false(self, threshold: float) -> float:
        """Return the bound of equation (9) on the expected number of false features; infinite up to 1/2."""
        excess = 2.0 * check_threshold(threshold) - 1.0
        if excess <= 0.0:
            return math.inf if self.q else 0.0
        return self.q**2 / (excess * self.n_features)

    def false_share(self, threshold: float) -> float:
        """Return that bound as a share of the features selected; 0 if there are none."""
        n_selected = int(self.selected(threshold).sum())
        return self.expected_false(threshold) / n_selected if n_selected else 0.0

    def threshold_for(self, expected_false: float) -> float:
        """Return the threshold at which the bound is this number, or raise if there is none."""
        wanted = check_between("pfer", expected_false, 0.0, math.inf, open_ends=True)
        threshold = 0.5 * (1.0 + self.q**2 / (self.n_features * wanted))
        if threshold > 1.0:
            raise OptionError(
                f"No threshold bounds the expected number of false features by {wanted:g}: {self.q:.1f} of "
                f"{self.n_features:,} features are selected per subsample, and even a threshold of 1 bounds it by "
                f"{self.expected_false(1.0):.3g} only. Choose larger penalties, say most="
                f"{max(int(math.sqrt(0.8 * wanted * self.n_features)), 1)} to end paths sooner, or allow more."
            )
        return threshold

    def conditions(self, threshold: float) -> str:
        """Say in a sentence what the bound rests on, and what of it does not hold."""
        if threshold <= 0.5:
            return f"There is no bound on false features for a threshold of {threshold:g}: it must be above 0.5."
        if not math.isclose(self.share, 0.5):
            return (
                f"The bound on false features is proved for halves of the samples; subsamples of {self.share:.0%} "
                "overlap more, so here it is a number and no guarantee."
            )
        if self.pairs:
            return (
                "The bound counts features that a half would select more rarely than a random choice would "
                f"({self.q / max(self.n_features, 1):.2g}); it holds whatever the features depend on."
            )
        return (
            "The bound on false features holds if all false ones are alike (exchangeable) and the regression does "
            "better than guessing; correlated features break the first."
        )


def check_threshold(threshold: Any) -> float:
    """Return a threshold above 0 and at most 1, or raise."""
    return check_between("threshold", threshold, 1e-9, 1.0)


def stability_selection(
    matrix: LabelledMatrix,
    regression: Regression,
    penalties: Any = "supplement",
    *,
    n_subsamples: int = 100,
    share: float = 0.5,
    pairs: bool = False,
    most: int | None = None,
    seed: int = 0,
    running: Running | None = None,
    method: str = "Stability selection",
) -> StabilitySelection:
    """Fit a path on subsamples, and count how often every feature is selected.

    Parameters
    ----------
    matrix
        A table of two classes without missing values.
    regression
        What to fit.
    penalties
        As :func:`bayesieve.rivals.regression.penalties.penalties_of` takes them.
    n_subsamples
        Number of subsamples.
    share
        Share of each class that a subsample takes, rounded down: 0.5 as the theory has it, 0.9 as the paper.
    pairs
        Take subsamples in pairs without a common sample (Shah and Samworth, 2013); the share must be 0.5.
    most
        End the path of a subsample before it has selected more features than this; None for the whole path.
    seed
        Of the subsamples. More subsamples keep the first ones.
    running
        Processes, store and progress.
    method
        Who asks, for messages.
    """
    n_subsamples, seed = check_whole("n_subsamples", n_subsamples, 1), check_whole("seed", seed)
    share = check_between("share", share, 0.0, 1.0, open_ends=True)
    if most is not None:
        most = check_whole("most", most, 1, instead=" or None")
    if pairs and (not math.isclose(share, 0.5) or n_subsamples % 2):
        raise OptionError(
            f"Pairs are two halves each: they need share=0.5 and an even n_subsamples, not share={share:g} and "
            f"n_subsamples={n_subsamples}."
        )
    values, y = columns_of(matrix, method, _FEWEST)
    sizes = matrix.labels.counts
    if (share * sizes.min()) // 1 < 2:
        raise LabelError(
            f"{method} takes {share:g} of each class, which of {sizes.min()} samples leaves fewer than 2. Say a "
            "larger share, or gather more samples."
        )
    if isinstance(penalties, str):
        largest = Design.of(values, y, standardise=regression.standardise).largest(regression)
        penalties = penalties_of(penalties, y.size, largest)
    tried = np.unique(penalties_of(penalties, y.size, 1.0))[::-1]
    job = _Subsamples(regression, tuple(tried.tolist()), share, bool(pairs), most, seed)
    units = run_units(job, values, y, n_subsamples, running or Running())
    converged = np.asarray(np.stack([unit["converged"] for unit in units]).all(axis=0))
    warn_unfinished(method, tried, ~converged)
    counts = _count(units, tried.size, values.shape[1])
    q = float(np.mean([np.unique(unit["features"]).size for unit in units]))
    return StabilitySelection(tried, counts, n_subsamples, q, share, bool(pairs), converged)


def _count(units: Sequence[Unit], n_penalties: int, n_features: int) -> Any:
    """Count, by penalty and feature, the subsamples that select it."""
    shape = (n_penalties, n_features)
    rows, columns = (np.concatenate([unit[name] for unit in units]) for name in ("places", "features"))
    counted = sparse.coo_array((np.ones(rows.size, dtype=np.int64), (rows, columns)), shape=shape)
    return sparse.csc_array(counted)


@dataclass(frozen=True, slots=True)
class _Subsamples:
    """A unit is one subsample; a :class:`bayesieve.rivals.regression.units.Job`."""

    regression: Regression
    penalties: tuple[float, ...]
    share: float
    pairs: bool
    most: int | None
    seed: int

    @property
    def definition(self) -> Mapping[str, Any]:
        return {"job": "stability selection", **asdict(self)}

    def run(self, values: FloatArray, y: FloatArray, number: int) -> Unit:
        rows = subsample(y, self.share, self.seed, number, pairs=self.pairs)
        design = Design.of(values, y, rows, standardise=self.regression.standardise)
        path = fit_path(design, self.regression, self.penalties)
        places, features = path.coefficients.nonzero()
        if self.most is not None:
            kept = places < _n_penalties_within(path, self.most)
            places, features = places[kept], features[kept]
        return {
            "places": places.astype(np.int32),
            "features": features.astype(np.int32),
            "converged": path.converged,
        }


def _n_penalties_within(path: RegressionPath, most: int) -> int:
    """Number of penalties, from the largest on, that together select no more features than allowed."""
    seen: set[int] = set()
    for k in range(path.penalties.size):
        seen.update(path.coefficients[[k]].indices.tolist())
        if len(seen) > most:
            return k
    return int(path.penalties.size)


def subsample(y: FloatArray, share: float, seed: int, number: int, *, pairs: bool = False) -> IntArray:
    """Draw some samples of each class without replacement, in the order of the table."""
    which, half = divmod(number, 2) if pairs else (number, 0)
    rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(which,)))
    rows = []
    for label in (y[0], 1.0 - y[0]):  # the order of the classes is irrelevant
        members = rng.permutation(np.flatnonzero(y == label))
        size = int(share * members.size + 1e-9)
        rows.append(members[half * size : (half + 1) * size])
    return np.sort(np.concatenate(rows))
