"""Repeated stratified cross-validation of the penalty of a regression (supplement S2; spec E2)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from bayesieve.data import LabelledMatrix
from bayesieve.rivals.regression.links import class_scores, deviance, null_intercept
from bayesieve.rivals.regression.path import Design, Regression, columns_of, fit_path, warn_unfinished
from bayesieve.rivals.regression.penalties import penalties_of
from bayesieve.rivals.regression.units import Running, Unit, run_units
from bayesieve.utils import (
    BoolArray,
    FloatArray,
    IntArray,
    LabelError,
    OptionError,
    check_choice,
    check_whole,
    is_number,
)

CRITERIA = ("accuracy", "balanced_accuracy", "deviance")
_FEWEST = 3  # samples of a class: two are left to learn from
_SAME = 1e-12


@dataclass(frozen=True, slots=True, eq=False)
class CrossValidation:
    """What every penalty is worth on samples that were left out.

    Parameters
    ----------
    penalties
        Penalties, falling.
    criterion
        What decides: ``"accuracy"``, ``"balanced_accuracy"`` or ``"deviance"``.
    scores
        Mean over all folds of all repetitions, one array per criterion. Where both classes are equally probable, a
        sample counts as half right.
    standard_errors
        Standard error of a mean over the folds of one repetition, one array per criterion. Repetitions share their
        samples and are no further evidence.
    baselines
        The same three numbers without any feature: the larger class, and its deviance.
    converged
        False for penalties at which the solver gave up in a fold.
    n_fits
        Number of folds times repetitions.
    """

    penalties: FloatArray
    criterion: str
    scores: Mapping[str, FloatArray]
    standard_errors: Mapping[str, FloatArray]
    baselines: Mapping[str, float]
    converged: BoolArray
    n_fits: int

    @property
    def best(self) -> int:
        """Place of the best penalty; of equally good ones, of the largest."""
        return int(np.flatnonzero(self._gain >= self._gain.max() - _SAME)[0])

    @property
    def within_one_standard_error(self) -> int:
        """Place of the largest penalty that is within one standard error of the best."""
        allowed = self._gain[self.best] - self.standard_errors[self.criterion][self.best]
        return int(np.flatnonzero(self._gain >= allowed - _SAME)[0])

    @property
    def beats_baseline(self) -> bool:
        """Whether the best penalty does better than no feature at all."""
        gain = self._gain[self.best] - self._sign * self.baselines[self.criterion]
        return bool(gain > _SAME)

    @property
    def _sign(self) -> float:
        return -1.0 if self.criterion == "deviance" else 1.0

    @property
    def _gain(self) -> FloatArray:
        return np.asarray(self._sign * self.scores[self.criterion])


def cross_validate(
    matrix: LabelledMatrix,
    regression: Regression,
    penalties: Any = "path",
    *,
    criterion: str = "accuracy",
    folds: int = 10,
    repeats: int = 10,
    seed: int = 0,
    running: Running | None = None,
    method: str = "Cross-validation",
) -> CrossValidation:
    """Try penalties on samples left out: every sample once per repetition, each class spread over the folds.

    Features are standardised by the samples learnt from alone.

    Parameters
    ----------
    matrix
        A table of two classes without missing values.
    regression
        What to fit.
    penalties
        As :func:`bayesieve.rivals.regression.penalties.penalties_of` takes them; a path is that of all samples.
    criterion
        What decides; all three are computed.
    folds, repeats
        Parts into which samples are cut, and how often.
    seed
        Of the folds. More repetitions keep the first ones.
    running
        Processes, store and progress.
    method
        Who asks, for messages.
    """
    check_choice("criterion", criterion, CRITERIA)
    folds, repeats = check_whole("folds", folds, 2), check_whole("repeats", repeats, 1)
    seed = check_whole("seed", seed)
    values, y = columns_of(matrix, method, _FEWEST)
    if folds > y.size:
        raise LabelError(
            f"{method} cannot cut {y.size} samples into {folds} folds. Say folds={min(10, y.size)} or fewer."
        )
    if isinstance(penalties, str):
        largest = Design.of(values, y, standardise=regression.standardise).largest(regression)
        penalties = penalties_of(penalties, y.size, largest)
    tried = np.unique(penalties_of(penalties, y.size, 1.0))[::-1]
    job = _Folds(regression, tuple(tried.tolist()), folds, seed)
    units = run_units(job, values, y, folds * repeats, running or Running())
    stacked = {name: np.stack([unit[name] for unit in units]) for name in units[0]}
    converged = np.asarray(stacked["converged"].all(axis=0))
    warn_unfinished(method, tried, ~converged)
    shape = (repeats, folds, tried.size)
    scores = {name: stacked[name].mean(axis=0) for name in CRITERIA}
    errors = {
        name: np.sqrt(stacked[name].reshape(shape).var(axis=1, ddof=1).mean(axis=0) / folds) for name in CRITERIA
    }
    baselines = {
        "accuracy": float(stacked["null_accuracy"].mean()),  # folds differ in size: not the share of a class
        "balanced_accuracy": 0.5,
        "deviance": float(stacked["null_deviance"].mean()),
    }
    return CrossValidation(tried, criterion, scores, errors, baselines, converged, len(units))


@dataclass(frozen=True, slots=True)
class _Folds:
    """A unit is one fold of one repetition; a :class:`bayesieve.rivals.regression.units.Job`."""

    regression: Regression
    penalties: tuple[float, ...]
    folds: int
    seed: int

    @property
    def definition(self) -> Mapping[str, Any]:
        return {"job": "cross-validation", "version": 2, **asdict(self)}

    def run(self, values: FloatArray, y: FloatArray, number: int) -> Unit:
        repetition, fold = divmod(number, self.folds)
        home = fold_of_samples(y, self.folds, self.seed, repetition)
        inside, outside = np.flatnonzero(home != fold), np.flatnonzero(home == fold)
        design = Design.of(values, y, inside, standardise=self.regression.standardise)
        path = fit_path(design, self.regression, self.penalties)
        link, truth = self.regression.link, y[outside][:, None]
        eta = path.predictors(values[outside])
        right = 0.5 * (1.0 + np.sign(class_scores(link, eta)) * (2.0 * truth - 1.0))
        sizes = np.array([(y == 0).sum(), (y == 1).sum()])
        weight = (y.size / (2.0 * sizes))[truth.astype(np.int64)] * self.folds / y.size
        null = np.full(outside.size, null_intercept(link, float(design.y.mean())))
        return {
            "accuracy": right.mean(axis=0),
            "balanced_accuracy": (weight * right).sum(axis=0),  # its mean over the folds is the balanced accuracy
            "deviance": deviance(link, truth, eta).mean(axis=0),
            "null_deviance": deviance(link, y[outside], null).mean(),
            "null_accuracy": 0.5 + (np.sign(design.y.mean() - 0.5) * (y[outside] - 0.5)).mean(),
            "converged": path.converged,
        }


def fold_of_samples(y: FloatArray, folds: int, seed: int, repetition: int) -> IntArray:
    """Deal shuffled samples to folds, class by class, so that folds differ by one sample at most in all."""
    rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(repetition,)))
    dealt = np.concatenate([rng.permutation(np.flatnonzero(y == label)) for label in (y[0], 1.0 - y[0])])
    home = np.empty(y.size, dtype=np.int64)
    home[dealt] = np.arange(y.size) % folds
    return home


def check_penalty(penalty: Any) -> FloatArray:
    """Return a single penalty, or raise."""
    if not is_number(penalty):
        raise OptionError(f"penalty must be a number above 0, or 'cv' for cross-validation, not {penalty!r}.")
    return np.array(penalties_of(penalty, 2, 1.0))
