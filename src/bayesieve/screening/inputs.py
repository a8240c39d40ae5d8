"""What goes into a screen: a model, and the statistics of the classes, of blocks, or of pairs."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from bayesieve.data import (
    LabelledMatrix,
    ValueBlocks,
    checked_names,
    differences,
    in_blocks,
    is_sparse,
    one_each,
)
from bayesieve.models import (
    GaussianModel,
    Model,
)
from bayesieve.posterior import FeaturePosterior
from bayesieve.stats import (
    ClassStatistics,
    ValueProfile,
    ValueSample,
    checked_exposures,
    largest_counts,
    split_blocks,
)
from bayesieve.utils import DataError, FloatArray, IntArray, LabelError, OptionError, PriorError, Wording


@functools.cache
def _default_model() -> GaussianModel:
    return GaussianModel.jeffreys(prior_ratio=0.1)


def checked_model(model: Any) -> Model:
    """Return the model, Jeffreys' prior with the paper's ratio when none was given."""
    if model is None:
        return _default_model()
    if not isinstance(model, Model):
        raise PriorError(f"model must be a Model, for example GaussianModel.jeffreys(), not {model!r}.")
    return model


@runtime_checkable
class Summarised(ValueBlocks, Protocol):
    """A table whose statistics are known and whose values can be looked at again, such as a file."""

    @property
    def statistics(self) -> ClassStatistics:
        """Statistics of its classes, or of differences within pairs."""
        ...

    @property
    def blocked(self) -> Mapping[str, ClassStatistics]:
        """Statistics by block; empty without blocks."""
        ...

    @property
    def class_counts(self) -> Mapping[str, int]:
        """Number of samples by class."""
        ...

    @property
    def block_class_counts(self) -> Mapping[str, Mapping[str, int]]:
        """Number of samples by block and class."""
        ...

    @property
    def n_pairs(self) -> int:
        """Number of pairs; 0 if samples are not paired."""
        ...

    @property
    def n_incomplete(self) -> int:
        """Number of pairs left out because one of their samples is not there."""
        ...


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
    whole
        The table as it was given, of arrays; None otherwise.
    """

    table: ValueBlocks | None
    statistics: ClassStatistics
    names: tuple[str, ...] | None
    blocked: dict[Any, ClassStatistics] = field(default_factory=dict)
    samples: dict[Any, npt.NDArray[np.int64]] = field(default_factory=dict)
    n_pairs: int = 0
    n_incomplete: int = 0
    whole: LabelledMatrix | None = None

    def profile(self) -> ValueProfile | None:
        """Look at the values before any transformation; None of ready statistics."""
        if self.whole is not None:
            return ValueSample.of(self.whole.values, self.whole.labels.codes).profile()
        return getattr(self.table, "profile", None)

    @property
    def transform(self) -> str | None:
        """How the values of a file were transformed; None of arrays, of which it is not known."""
        return getattr(self.table, "transform", None)


def screen_input(
    X: Any, y: Any, model: Model, classes: Any, feature_names: Any, missing: str, n_threads: int | None,
    blocks: Any = None, pairs: Any = None, exposures: Any = None,
) -> ScreenInput:  # fmt: skip
    """Reduce the data to statistics, reading them once."""
    if isinstance(X, Summarised):
        if any(value is not None for value in (y, classes, feature_names, blocks, pairs, exposures)):
            raise LabelError(
                "The table already holds its classes, features, blocks and pairs; call screen(table) without "
                "them and say them to read_table."
            )
        return _checked_type(model, _of_summary(X))
    if isinstance(X, ClassStatistics):
        if y is not None or pairs is not None or exposures is not None:
            raise LabelError(f"{type(X).__name__} already hold the classes; call screen(statistics) without y.")
        return _checked_type(model, _of_statistics(X, classes, feature_names, blocks))
    matrix = _checked_matrix(model, model.matrix(X, y, classes=classes, feature_names=feature_names), exposures)
    if pairs is not None:
        return _of_pairs(matrix, model, pairs, blocks, missing, n_threads)
    labels = matrix.labels
    if blocks is None:
        whole = model.summarise(matrix, missing=missing, n_threads=n_threads)
        return ScreenInput(matrix, whole, matrix.feature_names, samples={None: labels.counts}, whole=matrix)
    joint = in_blocks(matrix, blocks)
    whole = model.summarise(joint, missing=missing, n_threads=n_threads)
    statistics, blocked = split_blocks(whole, labels.classes)
    counts = joint.labels.counts.reshape(len(blocked), len(labels.classes))
    samples = {None: labels.counts, **dict(zip(blocked, counts, strict=True))}
    return ScreenInput(matrix, statistics, matrix.feature_names, blocked, samples, whole=joint)


def _checked_matrix(model: Model, matrix: LabelledMatrix, exposures: Any) -> LabelledMatrix:
    """Check that there are classes to compare, and exposures where they are of use."""
    if len(matrix.labels.classes) == 1:
        raise LabelError(
            f"All {matrix.n_samples} samples are of class {matrix.labels.classes[0]!r}. A screen compares at "
            "least two classes: check the label column."
        )
    absent = [str(label) for label, n in zip(matrix.labels.classes, matrix.labels.counts, strict=True) if not n]
    if absent and not model.supports("empty-classes"):
        raise LabelError(f"No sample is of class {', '.join(absent)}. Check classes, or leave it out.")
    if exposures is not None:
        if not model.takes_exposures:
            name = type(model).__name__
            raise OptionError(
                f"exposures are for models of counts; {name} has no use for them.", kind="capability"
            )
        matrix = replace(matrix, exposures=checked_exposures(exposures, matrix.n_samples))
        model.check_exposures(matrix.exposures)
    return matrix


def _of_summary(summary: Summarised) -> ScreenInput:
    classes = summary.statistics.classes
    made = ScreenInput(
        summary, summary.statistics, summary.feature_names, dict(summary.blocked), n_pairs=summary.n_pairs,
        n_incomplete=summary.n_incomplete,
    )  # fmt: skip
    if not summary.n_pairs:
        made.samples = {None: np.array([summary.class_counts[str(label)] for label in classes])}
        for block, counts in summary.block_class_counts.items():
            made.samples[block] = np.array([counts.get(str(label), 0) for label in classes])
    return made


def _of_statistics(statistics: ClassStatistics, classes: Any, feature_names: Any, blocks: Any) -> ScreenInput:
    chosen = statistics if classes is None else statistics.pick(classes)
    if len(chosen.classes) == 1:
        raise LabelError(f"A screen compares at least two classes, but there is only {chosen.classes[0]!r}.")
    made = ScreenInput(None, chosen, checked_names(feature_names, chosen.n_features))
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
        whole=matrix,
    )  # fmt: skip


def _checked_type(model: Model, made: ScreenInput) -> ScreenInput:
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


def values_of(table: ValueBlocks, which: IntArray) -> tuple[IntArray, FloatArray]:
    """Class of all samples, and their values of some features."""
    codes: list[IntArray] = []
    parts: dict[int, list[FloatArray]] = {}
    for block in table.blocks(which):
        if block.first == 0:
            codes.append(block.codes)
        dense: Any = block.values.toarray() if is_sparse(block.values) else block.values
        parts.setdefault(block.first, []).append(np.asarray(dense, dtype=np.float64))
    whole = [part[0] if len(part) == 1 else np.concatenate(part) for _, part in sorted(parts.items())]
    values = whole[0] if len(whole) == 1 else np.concatenate(whole, axis=1)
    return np.concatenate(codes), np.ascontiguousarray(values)


def check_same_data(statistics: ClassStatistics, posterior: FeaturePosterior) -> None:
    """Raise if statistics are not, to six digits, those of the screen."""
    labels = [str(k) for k in range(len(posterior.classes))]
    same = statistics.n_features == posterior.n_features and len(statistics.classes) == len(labels)
    if same:
        now, then = (each.describe(labels) for each in (statistics, posterior.statistics))
        same = all(np.allclose(now[name], then.get(name, np.nan), rtol=1e-6, equal_nan=True) for name in now)
    if not same:
        raise DataError(
            f"The table is not the one that was screened, with {posterior.n_features:,} features and "
            f"{largest_counts(posterior.statistics)} samples in the classes.",
            hint="Give the same table and labels, and the exposures that the screen had.",
        )
