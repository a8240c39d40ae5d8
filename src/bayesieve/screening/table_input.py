"""screen_input(): the data of a screen from what was given: arrays, tables that were read, blocks, statistics."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from bayesieve.data import (
    LabelledMatrix,
    Labels,
    aligned,
    check_names,
    difference_label,
    differences,
    in_blocks,
    is_lazy,
    one_each,
    places_of_pairs,
)
from bayesieve.distributed import refuse_missing
from bayesieve.models import Model
from bayesieve.screening.inputs import BlockShuffles, ScreenInput, Shufflable, of_sums
from bayesieve.screening.lazy_table import LazySamples, LazyTable, Plan
from bayesieve.screening.summarised_table import SummarisedTable
from bayesieve.stats import ClassStatistics, Moments, StatisticsSet, exposures_of, split_blocks
from bayesieve.utils import DataError, LabelError, OptionError, Wording, check_missing

SITES = ("sites", "site")


def _of_lazy(
    table: LazyTable, model: Model, said: tuple[Any, Any, Any], missing: str, progress: Any, plan: Plan | None
) -> ScreenInput:
    """Sum a table in blocks with its covariates, and look at its values, in one pass."""
    check_missing(missing)
    blocks, pairs, exposures = said
    if pairs is not None:
        return _of_lazy_pairs(table, model, pairs, blocks, missing, progress)
    given = table.matrix.labels
    strata = None if blocks is None else _strata(in_blocks(table.matrix, blocks))
    if plan is not None:
        planned = plan(given, strata)
        table, blocks = table.planned(planned), blocks if planned.labels is given else None
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
    found = of_sums(table, whole, joint.labels, matrix.labels.classes, blocks is not None)
    if table.design is not None:
        return replace(found, summed=LazySamples(given, strata, table.design))
    return replace(found, relabels=BlockShuffles(matrix, strata, lazy=table))


def _of_lazy_pairs(
    table: LazyTable, model: Model, pairs: Any, blocks: Any, missing: str, progress: Any
) -> ScreenInput:
    """Sum differences within the pairs of a table in blocks."""
    _require_pairs(model)
    places, incomplete = places_of_pairs(table.matrix, pairs)
    label, n_pairs = difference_label(table.matrix.labels.classes), places.shape[1]
    strata = Labels((label,), np.zeros(n_pairs, np.int64))
    if blocks is not None:
        found = _blocks_of_pairs(blocks, places, table.matrix.n_samples)
        strata = Labels(tuple((block, label) for block in found.classes), found.codes)
    whole, differences = table.differences(model, places, strata, progress)
    if missing == "raise":
        refuse_missing(whole, strata.counts, table.feature_names)
    statistics, blocked = (whole, {}) if blocks is None else split_blocks(whole, (label,))
    return ScreenInput(
        differences, statistics, table.feature_names, blocked, n_pairs=n_pairs, n_incomplete=len(incomplete)
    )


def _require_pairs(model: Model) -> None:
    name = type(model).__name__
    model.require("pairs", f"Pairs are compared by their differences, which {name} does not know.")


def _blocks_of_pairs(blocks: Any, places: Any, n_samples: int) -> Labels:
    """Block of every pair; raise if its samples are in two."""
    found = one_each("blocks", blocks, n_samples)
    first, second = (found.codes[each] for each in places)
    if (first != second).any():
        raise LabelError(f"{int((first != second).sum())} pairs have their samples in different blocks.")
    used = np.unique(first)
    return Labels(tuple(found.classes[k] for k in used.tolist()), np.searchsorted(used, first))


def screen_input(  # noqa: PLR0913 - all that says who the samples are
    X: Any, y: Any, model: Model, classes: Any, feature_names: Any, missing: str, n_threads: int | None,
    blocks: Any = None, pairs: Any = None, exposures: Any = None, *, progress: Any = None,
    plan: Plan | None = None,
) -> ScreenInput:  # fmt: skip
    """Reduce the data to statistics, reading them once; a table in blocks with the columns of a plan."""
    if is_lazy(X):
        table = LazyTable.of(X, aligned(X, y), model, classes, feature_names)
        return _of_lazy(table, model, (blocks, pairs, exposures), missing, progress, plan)
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
    if absent:  # whatever the model: nothing can be said of it, and patterns with it would take prior weight
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
    if isinstance(summary.statistics, Moments) and not summary.n_pairs:
        made.summed = getattr(summary, "summed", None)
    again = getattr(summary, "labelled", lambda: None)()  # of a file that can be read again block by block
    if again is not None:
        matrix, strata, table = again
        made.relabels = BlockShuffles(matrix, strata, lazy=table)
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
    _require_pairs(model)
    made, incomplete, places = differences(matrix, pairs)
    joint = made
    if blocks is not None:
        found = _blocks_of_pairs(blocks, places, matrix.n_samples)
        joint = in_blocks(made, [found.classes[k] for k in found.codes.tolist()])
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
