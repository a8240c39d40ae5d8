"""Input of a screen: a model, and sufficient statistics of the classes, of batches (blocks), or of pairs."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from bayesieve.data import (
    Covariates,
    LabelledMatrix,
    Labels,
    ValueBlocks,
    dense_values,
    in_blocks,
)
from bayesieve.models import CalibratedModel, MixedModel, Model, WithinSubjects
from bayesieve.screening.spread import Spread
from bayesieve.screening.summarised_table import SummedAgain, SummedSamples
from bayesieve.stats import (
    ClassStatistics,
    FactorFit,
    ValueProfile,
    ValueSample,
    fit_factors,
    split_blocks,
)
from bayesieve.utils import (
    FloatArray,
    IntArray,
    PriorError,
)


@functools.cache
def _default_model() -> Model:
    return CalibratedModel()


def check_model(model: Any) -> Model:
    """Return the model, the calibrated one when none was given."""
    if model is None:
        return _default_model()
    if isinstance(model, str) and model == "auto":
        return MixedModel()
    if not isinstance(model, Model):
        raise PriorError(
            f"model must be a Model, for example CalibratedModel() or GaussianModel.jeffreys(), or "
            f"'auto', not {model!r}."
        )
    return model


BLOCK = "block"  # what blocks are called as a covariate
_TRIES = 50  # times as many draws as shuffles wanted, before all labellings count as found


@dataclass(slots=True, eq=False)
class ScreenInput:
    """The data of a screen.

    Parameters
    ----------
    table
        Values that can be looked at again; None from ready statistics.
    statistics
        Statistics of the classes, or of the differences within pairs.
    names
        Names of the features.
    blocked
        Statistics by block.
    samples
        Number of samples per class, by block (None is the key without blocks), as far as it is known.
    n_pairs, n_incomplete
        Pairs used and left out; 0 if samples are not paired.
    shufflable
        The samples, if their labels can be shuffled.
    factors
        What was taken out of the values, if anything.
    whole
        The table as it was given, of arrays; None otherwise.
    covariates
        What the values were adjusted for, if anything.
    outcome
        What a trend is along, one number per sample; None for classes.
    within, subjects
        What subjects with several samples say, and whose sample each is.
    relabels
        Samples of a table in blocks: their labels are shuffled only if a number of times is said.
    summed
        Samples summed with their covariates, whose values are not in memory.
    """

    table: ValueBlocks | None
    statistics: ClassStatistics
    names: tuple[str, ...] | None
    blocked: dict[Any, ClassStatistics] = field(default_factory=dict)
    samples: dict[Any, npt.NDArray[np.int64]] = field(default_factory=dict)
    n_pairs: int = 0
    n_incomplete: int = 0
    shufflable: Shufflable | None = None
    factors: FactorFit | None = None
    whole: LabelledMatrix | None = None
    covariates: Covariates | None = None
    outcome: FloatArray | None = None
    within: WithinSubjects | None = None
    subjects: Labels | None = None
    relabels: BlockShuffles | None = None
    summed: SummedSamples | None = None

    def settled(self, block_model: str, patterns: Any) -> tuple[str, Any]:
        """Return what blocks share and how classes may differ, where the design leaves no choice."""
        return block_model if self.covariates is None else "own", patterns if self.outcome is None else "distinct"

    def profile(self, *, extremes: bool = True) -> ValueProfile | None:
        """Look at the values before any transformation, of arrays at a sample of them only if that is enough."""
        if self.whole is not None:
            return ValueSample.of(self.whole.values, self.whole.labels.codes, extremes=extremes).profile()
        return getattr(self.table, "profile", None)

    def samples_to_shuffle(self, shuffles: Any) -> Shufflable | None:
        """Samples whose labels will be shuffled; of a table in blocks only if a number of times was said."""
        return self.shufflable if self.relabels is None or isinstance(shuffles, str) else self.relabels

    @property
    def transform(self) -> str | None:
        """How the values of a file were transformed; None of arrays, of which it is not known."""
        return getattr(self.table, "transform", None)

    @property
    def normalise(self) -> str:
        """How the samples of a file were normalised."""
        return getattr(self.table, "normalise", "none")


@dataclass(frozen=True, slots=True, eq=False)
class Shufflable:
    """Samples whose labels can be dealt anew.

    Parameters
    ----------
    matrix
        Values and labels; of pairs, the differences within them, whose sign is shuffled.
    strata
        Batch of every sample (or pair); None without batches.
    n_pairs
        Number of pairs, 0 if samples are not paired.
    n_factors
        Factors to be taken out of the values, given the labels.
    spread
        Variances that go with the labels however they are dealt; None if values go to another class as they are.
    """

    matrix: LabelledMatrix
    strata: tuple[Any, ...] | None = None
    n_pairs: int = 0
    n_factors: int = 0
    spread: Spread | None = None

    @property
    def labels(self) -> Labels:
        """Class of every sample."""
        return self.matrix.labels

    @property
    def scheme(self) -> str:
        """Among whom labels are shuffled."""
        return "pairs" if self.n_pairs else "batches" if self.strata is not None else "samples"

    def draw(self, n: int, seed: Any) -> tuple[list[IntArray], bool]:
        """Draw labellings (or signs of pairs) that differ from each other and from the true one."""
        rng = np.random.default_rng(seed)
        own = np.ones(self.n_pairs, np.int64) if self.n_pairs else self.matrix.labels.codes
        parts = self._strata()
        mirrored = self._mirrored(parts)
        seen = {own.tobytes(), mirrored(own).tobytes()}
        found: list[IntArray] = []
        n_ways = self._n_ways(parts)
        for _ in range(_TRIES * n):
            if len(found) >= min(n, n_ways):
                break
            codes = own.copy()
            for part in parts:
                codes[part] = rng.choice((-1, 1), part.size) if self.n_pairs else rng.permutation(own[part])
            key = codes.tobytes()
            if key not in seen:
                seen |= {key, mirrored(codes).tobytes()}
                found.append(codes)
        return found, len(found) >= n_ways

    def _strata(self) -> list[IntArray]:
        if self.strata is None:
            return [np.arange(self.matrix.n_samples)]
        names = list(dict.fromkeys(self.strata))
        codes = np.array([names.index(name) for name in self.strata])
        return [np.flatnonzero(codes == k) for k in range(len(names))]

    def _mirrored(self, parts: list[IntArray]) -> Callable[[IntArray], IntArray]:
        """Return what makes the labelling that says the same: all signs turned, or two equal classes exchanged."""
        if self.n_pairs:
            return np.negative
        codes, counts = self.matrix.labels.codes, self.matrix.labels.counts
        equal = counts.size == 2 and all(2 * int(codes[part].sum()) == part.size for part in parts)
        return (lambda labels: 1 - labels) if equal else (lambda labels: labels)

    def _n_ways(self, parts: list[IntArray]) -> int:
        """How many labellings there are beside the true one, as far as that is a small number."""
        if self.n_pairs:
            return int(2 ** min(self.n_pairs - 1, 40)) - 1
        own = self.matrix.labels.codes
        ways, twice = 1, self._mirrored(parts)(own).tobytes() != own.tobytes()
        for part in parts:
            counts = np.bincount(self.matrix.labels.codes[part]).tolist()
            left = sum(counts)
            for count in counts:
                ways *= math.comb(left, count)
                left -= count
            if ways > 2**40:
                break
        return (ways // 2 if twice else ways) - 1

    def relabel(self, labellings: Sequence[IntArray], model: Model) -> Iterator[ScreenInput]:
        """Yield the data of a screen under each of several labellings."""
        yield from (self.relabelled(codes, model) for codes in labellings)

    def relabelled(self, codes: IntArray, model: Model) -> ScreenInput:
        """Return the data of a screen under other labels."""
        if self.n_pairs:
            return self._flipped(codes, model)
        labels = Labels(self.matrix.labels.classes, codes)
        matrix, factors = replace(self.matrix, labels=labels), None
        if self.spread is not None:
            matrix = replace(matrix, values=self.spread.follow(self.matrix, codes, self.strata))
        if self.n_factors:
            factors = fit_factors(dense_values(matrix), codes, self.n_factors)
            matrix = replace(matrix, values=factors.values)
        counts = {None: labels.counts}
        if self.strata is None:
            whole = model.summarise(matrix, missing="omit")
            return ScreenInput(matrix, whole, matrix.feature_names, samples=counts, factors=factors)
        joint = in_blocks(matrix, list(self.strata))
        statistics, blocked = split_blocks(model.summarise(joint, missing="omit"), labels.classes)
        by_block = joint.labels.counts.reshape(len(blocked), len(labels.classes))
        samples = {**counts, **dict(zip(blocked, by_block, strict=True))}
        return ScreenInput(matrix, statistics, matrix.feature_names, blocked, samples)

    def _flipped(self, signs: IntArray, model: Model) -> ScreenInput:
        matrix = replace(self.matrix, values=np.asarray(self.matrix.values) * signs[:, None])
        joint = matrix if self.strata is None else in_blocks(matrix, list(self.strata))
        whole = model.summarise(joint, missing="omit")
        statistics, blocked = (whole, {}) if self.strata is None else split_blocks(whole, matrix.labels.classes)
        return ScreenInput(matrix, statistics, matrix.feature_names, blocked, n_pairs=self.n_pairs)


@dataclass(frozen=True, slots=True, eq=False)
class BlockShuffles(Shufflable):
    """Samples of a table in blocks whose labels can be dealt anew: many labellings in one pass over the blocks.

    Parameters
    ----------
    lazy
        The table.
    """

    lazy: SummedAgain | None = None

    def relabel(self, labellings: Sequence[IntArray], model: Model) -> Iterator[ScreenInput]:
        """Yield the data of a screen under each of several labellings."""
        assert self.lazy is not None
        made = [replace(self.matrix, labels=Labels(self.matrix.labels.classes, codes)) for codes in labellings]
        joint = made if self.strata is None else [in_blocks(matrix, list(self.strata)) for matrix in made]
        sums = self.lazy.relabelled(model, [matrix.labels for matrix in joint])
        for matrix, whole in zip(joint, sums, strict=True):
            yield of_sums(self.lazy, whole, matrix.labels, self.matrix.labels.classes, self.strata is not None)


def of_sums(lazy: SummedAgain, whole: Any, joint: Labels, classes: tuple[Any, ...], blocked: bool) -> ScreenInput:
    """Return the data of a screen from the sums over a table in blocks, by class or by batch and class."""
    if not blocked:
        return ScreenInput(lazy, whole, lazy.feature_names, samples={None: joint.counts})
    statistics, parts = split_blocks(whole, classes)
    counts = joint.counts.reshape(len(parts), len(classes))
    samples = {None: counts.sum(axis=0), **dict(zip(parts, counts, strict=True))}
    return ScreenInput(lazy, statistics, lazy.feature_names, parts, samples)
