"""Input of a screen: a model, and sufficient statistics of the classes, of batches (blocks), or of pairs."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from bayesieve.data import (
    Covariates,
    LabelledMatrix,
    Labels,
    ValueBlocks,
    aligned,
    check_names,
    dense_values,
    differences,
    in_blocks,
    is_lazy,
    one_each,
)
from bayesieve.distributed import refuse_missing
from bayesieve.models import CalibratedModel, MixedModel, Model, WithinSubjects
from bayesieve.screening.lazy_table import LazyTable, refuse_design
from bayesieve.screening.spread import Spread
from bayesieve.screening.summarised_table import SummarisedTable
from bayesieve.stats import (
    ClassStatistics,
    FactorFit,
    StatisticsSet,
    ValueProfile,
    ValueSample,
    exposures_of,
    fit_factors,
    split_blocks,
)
from bayesieve.utils import (
    DataError,
    FloatArray,
    IntArray,
    LabelError,
    OptionError,
    PriorError,
    Wording,
    check_missing,
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


SITES = ("sites", "site")
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

    lazy: LazyTable | None = None

    def relabel(self, labellings: Sequence[IntArray], model: Model) -> Iterator[ScreenInput]:
        """Yield the data of a screen under each of several labellings."""
        assert self.lazy is not None
        made = [replace(self.matrix, labels=Labels(self.matrix.labels.classes, codes)) for codes in labellings]
        joint = made if self.strata is None else [in_blocks(matrix, list(self.strata)) for matrix in made]
        sums = self.lazy.relabelled(model, [matrix.labels for matrix in joint])
        for matrix, whole in zip(joint, sums, strict=True):
            yield _of_sums(self.lazy, whole, matrix.labels, self.matrix.labels.classes, self.strata is not None)


def _of_sums(lazy: LazyTable, whole: Any, joint: Labels, classes: tuple[Any, ...], blocked: bool) -> ScreenInput:
    """Return the data of a screen from the sums over a table in blocks, by class or by batch and class."""
    if not blocked:
        return ScreenInput(lazy, whole, lazy.feature_names, samples={None: joint.counts})
    statistics, parts = split_blocks(whole, classes)
    counts = joint.counts.reshape(len(parts), len(classes))
    samples = {None: counts.sum(axis=0), **dict(zip(parts, counts, strict=True))}
    return ScreenInput(lazy, statistics, lazy.feature_names, parts, samples)


def _of_lazy(
    table: LazyTable, model: Model, blocks: Any, exposures: Any, missing: str, progress: Any
) -> ScreenInput:
    """Sum a table in blocks, and look at its values, in one pass."""
    check_missing(missing)
    matrix = _check_classes(model, table.matrix)
    if exposures is not None:
        _refuse_exposures(model)
        matrix = replace(matrix, exposures=table.exposed(exposures))
        model.check_exposures(matrix.exposures)
        table = replace(table, matrix=matrix)
    joint = matrix if blocks is None else in_blocks(matrix, blocks)
    whole, table = table.summarise(model, joint.labels, progress)
    if missing == "raise":
        refuse_missing(whole, joint.labels.counts, table.feature_names)
    found = _of_sums(table, whole, joint.labels, matrix.labels.classes, blocks is not None)
    strata = None if blocks is None else _strata(joint)
    return replace(found, relabels=BlockShuffles(matrix, strata, lazy=table))


def screen_input(
    X: Any, y: Any, model: Model, classes: Any, feature_names: Any, missing: str, n_threads: int | None,
    blocks: Any = None, pairs: Any = None, exposures: Any = None, *, progress: Any = None,
) -> ScreenInput:  # fmt: skip
    """Reduce the data to statistics, reading them once."""
    if is_lazy(X):
        refuse_design(pairs=pairs)
        table = LazyTable.of(X, aligned(X, y), model, classes, feature_names)
        return _of_lazy(table, model, blocks, exposures, missing, progress)
    if isinstance(X, SummarisedTable):
        if any(value is not None for value in (y, classes, feature_names, blocks, pairs, exposures)):
            raise LabelError(
                "The table already holds its classes, features, blocks and pairs; call screen(table) without "
                "them and say them to read_table."
            )
        return _check_type(model, _of_summary(X))
    if isinstance(X, StatisticsSet):
        feature_names = X.feature_ids if feature_names is None else feature_names
        X, blocks = X.pooled(), _sites_of(X, blocks)
    if isinstance(X, ClassStatistics):
        if y is not None or pairs is not None or exposures is not None:
            raise LabelError(f"{type(X).__name__} already hold the classes; call screen(statistics) without y.")
        return _check_type(model, _of_statistics(X, classes, feature_names, blocks))
    matrix = _check_matrix(model, model.matrix(X, y, classes=classes, feature_names=feature_names), exposures)
    if pairs is not None:
        return _of_pairs(matrix, model, pairs, blocks, missing, n_threads)
    labels = matrix.labels
    if blocks is None:
        whole = model.summarise(matrix, missing=missing, n_threads=n_threads)
        return ScreenInput(
            matrix, whole, matrix.feature_names, samples={None: labels.counts}, shufflable=Shufflable(matrix),
            whole=matrix,
        )  # fmt: skip
    joint = in_blocks(matrix, blocks)
    whole = model.summarise(joint, missing=missing, n_threads=n_threads)
    statistics, blocked = split_blocks(whole, labels.classes)
    counts = joint.labels.counts.reshape(len(blocked), len(labels.classes))
    samples = {None: labels.counts, **dict(zip(blocked, counts, strict=True))}
    shufflable = Shufflable(matrix, _strata(joint))
    return ScreenInput(
        matrix, statistics, matrix.feature_names, blocked, samples, shufflable=shufflable, whole=joint
    )


def _sites_of(statistics: StatisticsSet, blocks: Any) -> Any:
    """Return statistics by site, if sites are to be the blocks."""
    if not isinstance(blocks, str):
        return blocks
    if blocks not in SITES:
        raise OptionError(f"The blocks of statistics are their sites: blocks='sites', not {blocks!r}.")
    return statistics.by_site()


def _strata(joint: LabelledMatrix) -> tuple[Any, ...]:
    """Block of every sample of a matrix whose labels are pairs of block and class."""
    labels: Any = joint.labels
    return tuple(labels.classes[code][0] for code in labels.codes.tolist())


def _check_classes(model: Model, matrix: LabelledMatrix) -> LabelledMatrix:
    """Check that there are classes to compare."""
    if len(matrix.labels.classes) == 1:
        raise LabelError(
            f"All {matrix.n_samples} samples are of class {matrix.labels.classes[0]!r}. A screen compares at "
            "least two classes: check the label column."
        )
    absent = [str(label) for label, n in zip(matrix.labels.classes, matrix.labels.counts, strict=True) if not n]
    if absent and not model.supports("empty-classes"):
        raise LabelError(f"No sample is of class {', '.join(absent)}. Check classes, or leave it out.")
    return matrix


def _refuse_exposures(model: Model) -> None:
    """Raise if exposures are of no use to a model."""
    if not model.takes_exposures:
        name = type(model).__name__
        raise OptionError(f"exposures are for models of counts; {name} has no use for them.", kind="capability")


def _check_matrix(model: Model, matrix: LabelledMatrix, exposures: Any) -> LabelledMatrix:
    """Check that there are classes to compare, and exposures where they are of use."""
    matrix = _check_classes(model, matrix)
    if exposures is not None:
        _refuse_exposures(model)
        matrix = replace(matrix, exposures=exposures_of(matrix.values, exposures))
        model.check_exposures(matrix.exposures)
    return matrix


def _of_summary(summary: SummarisedTable) -> ScreenInput:
    classes = summary.statistics.classes
    made = ScreenInput(
        summary, summary.statistics, summary.feature_names, dict(summary.blocked), n_pairs=summary.n_pairs,
        n_incomplete=summary.n_incomplete,
    )  # fmt: skip
    if not summary.n_pairs:
        made.samples = {None: np.array([summary.class_counts[str(label)] for label in classes])}
        for block, counts in summary.block_class_counts.items():
            made.samples[block] = np.array([counts.get(str(label), 0) for label in classes])
    held = summary.in_memory()
    if held is not None:
        made.shufflable = Shufflable(*held, n_pairs=summary.n_pairs)
    return made


def _of_statistics(statistics: ClassStatistics, classes: Any, feature_names: Any, blocks: Any) -> ScreenInput:
    chosen = statistics if classes is None else statistics.pick(classes)
    if len(chosen.classes) == 1:
        raise LabelError(f"A screen compares at least two classes, but there is only {chosen.classes[0]!r}.")
    made = ScreenInput(None, chosen, check_names(feature_names, chosen.n_features))
    if blocks is not None:
        if not isinstance(blocks, Mapping) or not blocks:
            raise LabelError("Blocks of ready statistics are a mapping from block names to their statistics.")
        made.blocked = {name: _block(name, part, chosen) for name, part in blocks.items()}
        shape = (len(chosen.classes), chosen.n_features)
        counts: Any = np.sum([np.broadcast_to(part.counts, shape) for part in made.blocked.values()], axis=0)
        if (counts != chosen.counts).any():
            raise DataError("The blocks do not add up to the whole: their numbers of values differ from its own.")
    return made


def _block(name: Any, part: Any, whole: Any) -> Any:
    """Check the ready statistics of a block; a class that it lacks has no values."""
    if not isinstance(part, type(whole)) or part.n_features != whole.n_features:
        raise DataError(
            f"Block {name!r} must be {type(whole).__name__} of the same {whole.n_features} features as the whole."
        )
    if set(whole.classes) <= set(part.classes):
        return part.pick(whole.classes)
    return part.merge(whole.remove(whole)).pick(whole.classes)


def _of_pairs(
    matrix: LabelledMatrix, model: Model, pairs: Any, blocks: Any, missing: str, n_threads: int | None
) -> ScreenInput:
    name = type(model).__name__
    model.require("pairs", f"Pairs are compared by their differences, which {name} does not know.")
    made, incomplete, places = differences(matrix, pairs)
    joint = made
    if blocks is not None:
        first, second = (one_each("blocks", blocks, matrix.n_samples).codes[each] for each in places)
        if (first != second).any():
            raise LabelError(f"{int((first != second).sum())} pairs have their samples in different blocks.")
        joint = in_blocks(made, np.asarray(blocks, dtype=object)[places[0]].tolist())
    whole = model.summarise(joint, missing=missing, n_threads=n_threads)
    statistics, blocked = (whole, {}) if blocks is None else split_blocks(whole, made.labels.classes)
    return ScreenInput(
        made, statistics, matrix.feature_names, blocked, n_pairs=made.n_samples, n_incomplete=len(incomplete),
        shufflable=Shufflable(made, None if blocks is None else _strata(joint), made.n_samples),
        whole=matrix,
    )  # fmt: skip


def _check_type(model: Model, made: ScreenInput) -> ScreenInput:
    wanted = model.statistics_type
    if not isinstance(made.statistics, wanted):
        raise DataError(
            f"{type(model).__name__} works on {wanted.__name__}, but the data were reduced to "
            f"{type(made.statistics).__name__}. Hand over the table itself",
            Wording(", or read it with model=...", ""),
            ".",
            kind="statistics",
        )
    return made
