"""LazyTable: a table in blocks (Dask, zarr) reduced to statistics, whose values are read again only if asked for.

Every further look is a pass over the blocks, and is made only if somebody asks: shuffled labels by a number of
shuffles, values of some features by a report.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from bayesieve.data import Block, LabelledMatrix, Labels, check_names
from bayesieve.distributed import Leaf, blocks_of, labels_of, passes_for, sum_blocks, sum_labellings
from bayesieve.models import Model
from bayesieve.stats import BlockSums, ValueProfile, exposures_of, plain_counts
from bayesieve.utils import FloatArray, IntArray, LabelError, OptionError, option

AT_ONCE = 2**27  # bytes of statistics of shuffled labels that a worker holds together

Progress = Callable[[int, int], None]


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
        leaf = self._leaf(model, len(labels.classes), looks=model.supports("moments"))
        found = sum_blocks(self.held, labels.codes, leaf, numbers=self._numbers, progress=progress)
        if found is None:
            raise LabelError("No sample is of any class.")
        profile = None if found.sample is None else found.sample.profile()
        return plain_counts(found.statistics.renamed(labels.classes)), replace(self, profile=profile)

    def relabelled(self, model: Model, labellings: Sequence[Labels]) -> Iterator[Any]:
        """Yield statistics under other labels; as many at a time as fit are summed in one pass."""
        classes = labellings[0].classes
        together, _ = passes_for(1, len(classes), self.matrix.n_features, AT_ONCE)
        total = partial(sum_blocks, self.held, numbers=self._numbers)
        codes = [labels.codes for labels in labellings]
        for part in sum_labellings(total, self._leaf(model, len(classes)), codes, together):
            yield plain_counts(part.statistics.renamed(classes))

    @property
    def n_blocks(self) -> int:
        """Number of blocks."""
        return int(self.held.n_blocks)

    def n_passes(self, n_labellings: int) -> int:
        """How many passes over the blocks other labels take."""
        return passes_for(n_labellings, len(self.matrix.labels.classes), self.matrix.n_features, AT_ONCE)[1]

    @property
    def _numbers(self) -> FloatArray | None:
        return None if self.matrix.exposures is None else self.matrix.exposures[:, None]

    def _leaf(self, model: Model, n_classes: int, *, looks: bool = False) -> Leaf:
        numbers = () if self.matrix.exposures is None else ("exposures",)
        return Leaf(BlockSums(model.summarise, looks, numbers), n_classes, model.matrix)

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
