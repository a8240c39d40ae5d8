"""LazyTable: a table in blocks (Dask, zarr) reduced to statistics, whose values are read again only if asked for.

Every further look is a pass over the blocks, and is made only if somebody asks: shuffled labels by a number of
shuffles, values of some features by a report.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial, reduce
from typing import Any

import numpy as np

from bayesieve.data import Block, Covariates, LabelledMatrix, Labels, check_names, is_sparse
from bayesieve.distributed import (
    Leaf,
    OneThread,
    Place,
    blocks_of,
    labels_of,
    passes_for,
    sum_blocks,
    sum_labellings,
)
from bayesieve.models import Model
from bayesieve.stats import (
    BlockSums,
    DesignMoments,
    Looked,
    Shape,
    ValueProfile,
    ValueSample,
    adjusted_values,
    exposures_of,
    plain_counts,
)
from bayesieve.utils import FloatArray, IntArray, LabelError, OptionError, option

AT_ONCE = 2**27  # bytes of statistics of shuffled labels that a worker holds together

Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True, eq=False)
class Columns:
    """What samples are summed with.

    Parameters
    ----------
    labels
        Groups of the samples that are summed.
    names, values
        Covariates, samples x columns.
    """

    labels: Labels
    names: tuple[str, ...]
    values: FloatArray


Plan = Callable[
    [Labels, "tuple[Any, ...] | None"], Columns
]  # of the labels as given, and of the block of every sample


@dataclass(frozen=True, slots=True)
class _DesignSums:
    """Sums a block with its covariates, and looks at its values."""

    names: tuple[str, ...]
    shape: bool

    def __call__(self, matrix: LabelledMatrix, place: Place, covariates: FloatArray) -> Looked:
        of_design = partial(DesignMoments.from_labelled, names=self.names, shape=self.shape)
        statistics = OneThread(of_design)(matrix, place, covariates)
        corner = place.first_sample, place.first_feature
        return Looked(statistics, ValueSample.of(matrix.values, matrix.labels.codes, *corner))


@dataclass(frozen=True, slots=True)
class _AdjustedPowers:
    """Sums powers of the values of a block less slopes times covariates."""

    slopes: FloatArray

    def __call__(self, matrix: LabelledMatrix, place: Place, covariates: FloatArray) -> Any:
        own = self.slopes[:, place.first_feature : place.first_feature + matrix.n_features]
        adjusted = replace(matrix, values=adjusted_values(matrix, covariates, own, centred=True, n_threads=1))
        return Shape.of(adjusted, 1)


@dataclass(frozen=True, slots=True, eq=False)
class _OpenPairs:
    """Sums of the pairs of which both samples were met, and the values of samples whose partner was not.

    Parameters
    ----------
    sums
        Statistics of the differences, by block; None as long as there is none.
    pairs, codes, strata, values
        Pair, class, block and values of every other sample, in the order of the pairs.
    sample
        What the values look like.
    made
        Makes the statistics of differences and their blocks.
    """

    sums: Any
    pairs: IntArray
    codes: IntArray
    strata: IntArray
    values: Any
    sample: ValueSample | None
    made: Callable[[Any, IntArray], Any]

    def merge(self, other: _OpenPairs) -> _OpenPairs:
        """Both samples together; partners that meet are subtracted."""
        pairs, codes, strata = (
            np.concatenate([getattr(part, name) for part in (self, other)])
            for name in ("pairs", "codes", "strata")
        )
        values = np.concatenate([self.values, other.values])
        sample = None if self.sample is None or other.sample is None else self.sample.merge(other.sample)
        closed = self._replace(sample, pairs, codes, strata, values).closed()
        parts = [part for part in (self.sums, other.sums, closed.sums) if part is not None]
        sums = reduce(lambda one, two: one.merge(two), parts) if parts else None
        return replace(closed, sums=sums)

    def _replace(
        self, sample: ValueSample | None, pairs: IntArray, codes: IntArray, strata: IntArray, values: Any
    ) -> _OpenPairs:
        return _OpenPairs(None, pairs, codes, strata, values, sample, self.made)

    def closed(self) -> _OpenPairs:
        """Subtract partners that are here."""
        order = np.lexsort((self.codes, self.pairs))
        pairs = self.pairs[order]
        first = np.flatnonzero(pairs[1:] == pairs[:-1])
        left = np.setdiff1d(np.arange(pairs.size), np.concatenate([first, first + 1]), assume_unique=True)
        rest = order[left]
        found = self._replace(
            self.sample, self.pairs[rest], self.codes[rest], self.strata[rest], self.values[rest]
        )
        if not first.size:
            return found
        one, two = order[first], order[first + 1]
        return replace(found, sums=self.made(self.values[two] - self.values[one], self.strata[one]))

    @staticmethod
    def join(parts: Sequence[_OpenPairs]) -> _OpenPairs:
        """Features of the same samples, side by side."""
        sample = parts[0].sample
        for part in parts[1:]:
            sample = None if sample is None or part.sample is None else sample.merge(part.sample)
        sums = type(parts[0].sums).join([part.sums for part in parts])
        return replace(parts[0], sums=sums, sample=sample, values=np.empty((0, 0)))


@dataclass(frozen=True, slots=True)
class _PairSums:
    """Sums differences within the pairs of a block; samples without their partner go up the tree."""

    model: Model
    n_strata: int

    def __call__(self, matrix: LabelledMatrix, place: Place, said: FloatArray) -> _OpenPairs:
        codes, (pairs, strata) = matrix.labels.codes, said.astype(np.int64).T
        sample = ValueSample.of(matrix.values, codes, place.first_sample, place.first_feature)
        values: Any = matrix.values.toarray() if is_sparse(matrix.values) else matrix.values
        held = np.asarray(values, dtype=np.float64)
        return _OpenPairs(None, pairs, codes, strata, held, sample, self.differences).closed()

    def differences(self, values: Any, strata: IntArray) -> Any:
        """Statistics of some differences by block."""
        matrix = LabelledMatrix(values, Labels(tuple(range(self.n_strata)), strata), None)
        return OneThread(self.model.summarise)(matrix, Place())


@dataclass(frozen=True, slots=True, eq=False)
class PairedBlocks:
    """Differences within the pairs of a table in blocks, read again.

    Parameters
    ----------
    table
        The table.
    places
        Positions of the samples of the first and of the second class, pair by pair.
    """

    table: LazyTable
    places: IntArray

    @property
    def feature_names(self) -> tuple[str, ...] | None:
        """Names of the features."""
        return self.table.feature_names

    @property
    def profile(self) -> ValueProfile | None:
        """What the values look like."""
        return self.table.profile

    def blocks(self, which: IntArray) -> Iterator[Block]:
        """Yield the differences of some features, as many as lie in the same blocks at a time."""
        parts: dict[int, list[Any]] = {}
        for block in self.table.blocks(which):
            values: Any = block.values.toarray() if is_sparse(block.values) else block.values
            parts.setdefault(block.first, []).append(np.asarray(values, dtype=np.float64))
        for first, part in sorted(parts.items()):
            whole = np.concatenate(part)
            yield Block(
                np.zeros(self.places.shape[1], np.int64), first, whole[self.places[1]] - whole[self.places[0]]
            )


@dataclass(frozen=True, slots=True, eq=False)
class LazySamples:
    """Samples of a table in blocks that were summed with their covariates.

    Parameters
    ----------
    labels, strata
        Class, or outcome, and block of every sample.
    sums
        Moments of the classes, or of the classes of every block.
    """

    labels: Labels
    strata: tuple[Any, ...] | None
    sums: DesignMoments

    def design(self, covariates: Covariates) -> DesignMoments:
        """Moments of the classes and of the columns of the covariates."""
        classes = self.labels.classes
        if self.strata is None:
            return self.sums.columns(covariates.names)
        cells: list[Any] = list(self.sums.classes)
        groups = [[cell for cell in cells if cell[1] == label] for label in classes]
        return self.sums.columns(covariates.names).grouped(groups, classes)

    def along(self, groups: Labels, outcome: FloatArray, covariates: Covariates | None) -> DesignMoments:
        """Moments of groups of samples along an outcome, as they were summed."""
        del groups, outcome, covariates
        return self.sums


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
    columns, design
        Covariates that the samples are summed with, and the sums.
    """

    held: Any
    matrix: LabelledMatrix
    profile: ValueProfile | None = None
    columns: Columns | None = None
    design: DesignMoments | None = None

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

    def planned(self, columns: Columns) -> LazyTable:
        """Return the table whose samples are summed with covariates."""
        return replace(self, columns=columns, matrix=replace(self.matrix, labels=columns.labels))

    def powers(self, labels: Labels, covariates: FloatArray, slopes: FloatArray) -> Shape:
        """Third and fourth powers of values less slopes times covariates, which takes one more pass."""
        leaf = Leaf(_AdjustedPowers(slopes), len(labels.classes))
        found: Shape = sum_blocks(self.held, labels.codes, leaf, numbers=covariates)
        return found

    def differences(
        self, model: Model, places: IntArray, strata: Labels, progress: Progress | None = None
    ) -> tuple[Any, PairedBlocks]:
        """Return the statistics of the differences within pairs by block, and the table that reads them again."""
        n_samples, n_pairs = self.matrix.n_samples, places.shape[1]
        said, codes = np.zeros((n_samples, 2)), np.full(n_samples, -1)
        for k in (0, 1):
            codes[places[k]] = k
            said[places[k]] = np.column_stack([np.arange(n_pairs), strata.codes])
        self._check_apart(places)
        found = sum_blocks(
            self.held, codes, Leaf(_PairSums(model, len(strata.classes)), 2), numbers=said, progress=progress
        )
        table = replace(self, profile=None if found.sample is None else found.sample.profile())
        return plain_counts(found.sums.renamed(strata.classes)), PairedBlocks(table, places)

    def _check_apart(self, places: IntArray) -> None:
        """Raise if so many pairs lie in two blocks that their values would have to be held at once."""
        starts = np.cumsum(self.held.array.chunks[0])
        first, second = (np.searchsorted(starts, each, side="right") for each in places)
        n_apart = int((first != second).sum())
        size = 8 * n_apart * max(self.held.array.chunks[1])
        if size > AT_ONCE:
            raise OptionError(
                f"{n_apart:,} of {places.shape[1]:,} pairs have their samples in different blocks of the table; "
                f"until both are read, {size / 1e6:,.0f} MB of values would have to be held.",
                hint="Bring the samples of a pair together, for example order = np.argsort(pairs, kind='stable') "
                "and X = X[order], with y and pairs in the same order; or make blocks narrower with X.rechunk.",
                kind="capability",
            )  # fmt: skip

    def summarise(self, model: Model, labels: Labels, progress: Progress | None = None) -> tuple[Any, LazyTable]:
        """Return the statistics of the classes, and the table that knows what its values look like."""
        n_classes, columns = len(labels.classes), self.columns
        if columns is None:
            leaf, numbers = self._leaf(model, n_classes, looks=model.supports("moments")), self._numbers
        else:
            sums = _DesignSums(columns.names, model.supports("effect-sizes"))
            leaf, numbers = Leaf(sums, n_classes, model.matrix), columns.values
        found = sum_blocks(self.held, labels.codes, leaf, numbers=numbers, progress=progress)
        if found is None:
            raise LabelError("No sample is of any class.")
        profile = None if found.sample is None else found.sample.profile()
        whole = found.statistics.renamed(labels.classes)
        if columns is None:
            return plain_counts(whole), replace(self, profile=profile)
        return plain_counts(whole.moments), replace(self, profile=profile, design=whole)

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
