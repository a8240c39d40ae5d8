"""LazyTable: a table in blocks (Dask, zarr) reduced to statistics, whose values are read again only if asked for.

Every further look is a pass over the blocks, and is made only if somebody asks: shuffled labels by a number of
shuffles, values of some features by a report.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from bayesieve.data import Block, LabelledMatrix, Labels, check_names
from bayesieve.distributed import (
    Leaf,
    OneThread,
    Place,
    SeveralLeaves,
    blocks_of,
    labels_of,
    sum_blocks,
)
from bayesieve.models import Model
from bayesieve.stats import ValueProfile, ValueSample, exposures_of, plain_counts
from bayesieve.utils import FloatArray, IntArray, LabelError, OptionError, option

_AT_ONCE = 2**27  # bytes of statistics of shuffled labels that a worker holds together
_NUMBERS = 48  # bytes per class and feature of a statistic

Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class _Looked:
    """Statistics of a block together with a look at its values; they merge and join as both do.

    Parameters
    ----------
    statistics, sample
        What was summed, and what the values look like; None if nobody asks.
    """

    statistics: Any
    sample: ValueSample | None

    def merge(self, other: _Looked) -> _Looked:
        sample = None if self.sample is None or other.sample is None else self.sample.merge(other.sample)
        return _Looked(self.statistics.merge(other.statistics), sample)

    @staticmethod
    def join(parts: Sequence[_Looked]) -> _Looked:
        sample = parts[0].sample
        for part in parts[1:]:
            sample = None if sample is None or part.sample is None else sample.merge(part.sample)
        return _Looked(type(parts[0].statistics).join([part.statistics for part in parts]), sample)


@dataclass(frozen=True, slots=True)
class _ModelSums:
    """Sums a block as a model does, and looks at its values if asked to."""

    model: Model
    looks: bool = False

    def __call__(self, matrix: LabelledMatrix, place: Place, *exposures: FloatArray) -> Any:
        exposed = replace(matrix, exposures=exposures[0]) if exposures else matrix
        statistics = OneThread(self.model.summarise)(exposed, place)
        sample = None
        if self.looks:
            corner = place.first_sample, place.first_feature
            sample = ValueSample.of(matrix.values, matrix.labels.codes, *corner)
        return _Looked(statistics, sample)


@dataclass(frozen=True, slots=True, eq=False)
class LazyTable:
    """A table in blocks, with the labels of its samples.

    Parameters
    ----------
    held
        The blocks.
    matrix
        The labels, names and exposures; its values are the Dask array itself.
    profile
        What the values look like; None if they have not been looked at.
    """

    held: Any
    matrix: LabelledMatrix
    profile: ValueProfile | None = None

    @classmethod
    def of(cls, X: Any, y: Any, model: Model, classes: Any, feature_names: Any) -> LazyTable:
        """Check a lazy table and its labels."""
        if model.supports("mixed"):
            raise OptionError(
                "The kinds of features are told by all of their values, which a table in blocks does not show at "
                "once.",
                hint="Name a model of one kind.",
                kind="capability",
            )
        held = blocks_of(X, texts=model.supports("categories"))
        labels = labels_of(held, y, classes)
        names = check_names(held.feature_names if feature_names is None else feature_names, held.shape[1])
        return cls(held, LabelledMatrix(held.array, labels, names))

    @property
    def feature_names(self) -> tuple[str, ...] | None:
        """Names of the features."""
        return self.matrix.feature_names

    @property
    def class_counts(self) -> dict[str, int]:
        """Number of samples by class."""
        labels = self.matrix.labels
        return dict(zip(map(str, labels.classes), labels.counts.tolist(), strict=True))

    def exposed(self, exposures: Any) -> FloatArray:
        """Return exposures, one per sample; ``"total"`` takes a pass over the blocks."""
        if isinstance(exposures, str) and exposures == "total":
            return exposures_of(self.held.row_totals()[:, None], exposures)
        return exposures_of(self.matrix.values, exposures)

    def summarise(self, model: Model, labels: Labels, progress: Progress | None = None) -> tuple[Any, LazyTable]:
        """Return the statistics of the classes, and the table that knows what its values look like."""
        leaf = Leaf(_ModelSums(model, looks=model.supports("moments")), len(labels.classes), model.matrix)
        found = sum_blocks(self.held, labels.codes, leaf, numbers=self.matrix.exposures, progress=progress)
        if found is None:
            raise LabelError("No sample is of any class.")
        profile = None if found.sample is None else found.sample.profile()
        return plain_counts(found.statistics.renamed(labels.classes)), replace(self, profile=profile)

    def relabelled(self, model: Model, labellings: Sequence[Labels]) -> Iterator[Any]:
        """Yield statistics under other labels; as many at a time as fit are summed in one pass."""
        classes = labellings[0].classes
        size = _NUMBERS * len(classes) * self.matrix.n_features
        together = max(1, _AT_ONCE // size)
        leaf = SeveralLeaves(Leaf(_ModelSums(model), len(classes), model.matrix))
        for lo in range(0, len(labellings), together):
            codes = np.column_stack([labels.codes for labels in labellings[lo : lo + together]])
            found = sum_blocks(self.held, codes, leaf, numbers=self.matrix.exposures)
            yield from (plain_counts(part.statistics.renamed(classes)) for part in found.parts)

    def n_passes(self, n_labellings: int) -> int:
        """How many passes over the blocks other labels take."""
        size = _NUMBERS * len(self.matrix.labels.classes) * self.matrix.n_features
        return -(-n_labellings // max(1, _AT_ONCE // size))

    def blocks(self, which: IntArray) -> Iterator[Block]:
        """Read the values of some features again, block by block."""
        codes = self.matrix.labels.codes
        for rows, first, values in self.held.columns(which):
            yield Block(codes[rows], first, values)


def refuse_design(**given: Any) -> None:
    """Raise if a table in blocks is asked for what needs all values of a sample or of a feature at once."""
    for name, value in given.items():
        if value is not None and value is not False:
            raise OptionError(
                option(name), " needs the values in memory, and a table in blocks never is.",
                hint="Leave it out, or hand over a part that fits: X.compute().", kind="capability",
            )  # fmt: skip
