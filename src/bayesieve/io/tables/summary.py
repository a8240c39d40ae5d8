"""Summary of a table: sufficient statistics of its classes, added up chunk by chunk in one pass."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from bayesieve.data import Block, Label, LabelledMatrix, Labels, is_sparse
from bayesieve.errors import DataError, FileError, MissingValueError, option
from bayesieve.io.tables.chunks import Missing, Slab, Slabs
from bayesieve.io.tables.roles import check_distinct
from bayesieve.io.tables.samples import Labeller, Samples
from bayesieve.models import Model
from bayesieve.stats import (
    SMALLEST_SQUARES,
    ClassStatistics,
    FeatureStream,
    Moments,
    MomentStream,
    as_moments,
    plain_counts,
    split_blocks,
)
from bayesieve.utils import FloatArray, IntArray


class Stream(Protocol):
    """Statistics that grow slab by slab."""

    def add(self, slab: Slab, samples: Samples) -> None:
        """Add a slab."""
        ...

    def whole(self, samples: Samples) -> Any:
        """Return the statistics of all cells, those without samples included."""
        ...


@dataclass(slots=True)
class Total:
    """What adding up a table gives.

    Parameters
    ----------
    statistics
        Statistics of the cells; None if the table holds no samples that are used.
    codes, samples, features
        Cell of every sample, its name, and the features, in the order of the file.
    """

    statistics: Any
    codes: IntArray
    samples: list[str]
    features: list[str]


def add_up(slabs: Slabs, samples: Samples, missing: Missing, model: Model | None, n_threads: int | None) -> Total:
    """Read a table once and add it up.

    Parameters
    ----------
    slabs, samples
        The table, and who its samples are.
    missing
        Counts missing values.
    model
        The model; None for the Gaussian.
    n_threads
        Threads, None for all cores.
    """
    codes = [np.empty(0, np.int64)]
    names: list[str] = []
    features: list[str] = []
    stream: Stream | None = None
    for slab in slabs.walk(samples, missing):
        if stream is None:
            if slabs.whole_features:
                samples.checked_order(slabs.table.path, slab.codes)
            stream = _stream(slabs.whole_features, len(slab.features), model, n_threads)
        stream.add(slab, samples)
        if slab.first == 0:  # with whole features every slab holds the same samples
            codes.append(slab.codes)
            names += slab.samples
        if slabs.whole_features or not features:
            features += slab.features
    if slabs.whole_features and not features:
        raise FileError(f"{slabs.table.path} holds no features. Check how it was written or downloaded.")
    whole = None if stream is None else stream.whole(samples)
    return Total(whole, np.concatenate(codes), names, features)


def _stream(whole_features: bool, n_features: int, model: Model | None, n_threads: int | None) -> Stream:
    if model is None:
        return MomentsByFeature(n_threads) if whole_features else MomentsBySample(n_features, n_threads)
    return ModelByFeature(model, n_threads) if whole_features else ModelBySample(model, n_threads)


class MomentsByFeature:
    """Moments of slabs of features."""

    def __init__(self, n_threads: int | None) -> None:
        self._stream = FeatureStream(n_threads)

    def add(self, slab: Slab, samples: Samples) -> None:
        """Add some features."""
        self._stream.add(_matrix(slab, samples))

    def whole(self, samples: Samples) -> Any:
        """Return the moments."""
        del samples
        return self._stream.moments()


class MomentsBySample:
    """Moments of slabs of samples."""

    def __init__(self, n_features: int, n_threads: int | None) -> None:
        self._stream = MomentStream(n_features, n_threads)

    def add(self, slab: Slab, samples: Samples) -> None:
        """Add some samples."""
        self._stream.add(slab.values, slab.codes, len(samples.cells()))

    def whole(self, samples: Samples) -> Any:
        """Return the moments; a cell that was never met has count 0."""
        return self._stream.moments(samples.cells(complete=True))


@dataclass(slots=True)
class ModelByFeature:
    """A model's statistics of slabs of features; small parts are joined to larger ones as they come."""

    model: Model
    n_threads: int | None
    parts: list[ClassStatistics] = field(default_factory=list)

    def add(self, slab: Slab, samples: Samples) -> None:
        """Add some features."""
        matrix = _matrix(_in_levels(slab, self.model), samples)
        part = self.model.summarise(matrix, missing="omit", n_threads=self.n_threads)
        self.parts.append(part)
        while len(self.parts) > 1 and self.parts[-1].n_features >= self.parts[-2].n_features:
            self._join(2)

    def _join(self, n: int) -> None:
        last = self.parts[-n:]
        del self.parts[-n:]
        kind: Any = type(last[0])
        self.parts.append(kind.join(last))

    def whole(self, samples: Samples) -> Any:
        """Return the statistics of all features."""
        del samples
        if len(self.parts) > 1:
            self._join(len(self.parts))
        return self.parts[0]


@dataclass(slots=True)
class ModelBySample:
    """A model's statistics of slabs of samples, merged as they come."""

    model: Model
    n_threads: int | None
    features: tuple[str, ...] = ()
    statistics: Any = None

    def add(self, slab: Slab, samples: Samples) -> None:
        """Add some samples; classes that the slab lacks are left to others."""
        self.features = self.features or tuple(slab.features)
        if not slab.codes.size:
            return
        here, codes = np.unique(slab.codes, return_inverse=True)
        cells = samples.cells()
        labels = Labels(tuple(cells[k] for k in here.tolist()), codes.reshape(-1))
        self._merge(_labelled(_in_levels(slab, self.model), labels))

    def whole(self, samples: Samples) -> Any:
        """Return the statistics; a cell without samples gets those of a sample without values."""
        cells = samples.cells(complete=True)
        absent = tuple(cell for cell in cells if self.statistics is None or cell not in self.statistics.classes)
        if absent and self.statistics is not None:
            values = np.full((len(absent), len(self.features)), np.nan)
            labels = Labels(absent, np.arange(len(absent)))
            nothing = Slab(values, labels.codes, (), 0, self.features, np.ones(len(absent)))
            self._merge(_labelled(nothing, labels))
        return self.statistics

    def _merge(self, matrix: LabelledMatrix) -> None:
        part = self.model.summarise(matrix, missing="omit", n_threads=self.n_threads)
        self.statistics = part if self.statistics is None else self.statistics.merge(part)


def _in_levels(slab: Slab, model: Model) -> Slab:
    """Express texts in the levels that the model declares, if it does."""
    declared = getattr(model, "levels", None)
    if slab.levels is None or declared is None:
        return slab
    from bayesieve.io.formats.text_categories import recoded  # noqa: PLC0415 - most tables hold numbers

    return recoded(slab, declared)


def _matrix(slab: Slab, samples: Samples) -> LabelledMatrix:
    return _labelled(slab, Labels(tuple(samples.cells(complete=True)), slab.codes))


def _labelled(slab: Slab, labels: Labels) -> LabelledMatrix:
    names = tuple(slab.samples) or None
    return LabelledMatrix(slab.values, labels, tuple(slab.features), names, slab.exposures, slab.levels)


def sample_totals(slabs: Slabs, samples: Samples) -> FloatArray:
    """Return the total of every sample that is used over all features, divided by their mean.

    Values are added one after the other in the order of the features, so that it does not matter in how
    many pieces they come.
    """
    totals: list[FloatArray] = []
    names: list[str] = []
    for slab in slabs.walk(samples, Missing()):
        if slab.first == 0:
            totals.append(np.zeros(slab.codes.size))
            names += slab.samples
        totals[-1] = _added(totals[-1], slab.values)
    whole = np.concatenate([np.empty(0), *totals])
    odd = np.flatnonzero(~(whole > 0))
    if odd.size:
        i = int(odd[0])
        who = repr(names[i]) if names else f"number {i + 1}"
        raise DataError(
            f"{slabs.table.path}: the values of sample {who} add up to {whole[i]:g}, so that its total cannot be "
            "its exposure. Leave it out, or give exposures in a column of their own: --exposures COLUMN."
        )
    return whole / whole.mean() if whole.size else whole


def _added(total: FloatArray, values: Any) -> FloatArray:
    if is_sparse(values):
        return np.asarray(total + np.asarray(values.sum(axis=1, dtype=np.float64)).ravel())
    present = np.nan_to_num(np.asarray(values, dtype=np.float64), nan=0.0)
    sums: FloatArray = np.cumsum(np.concatenate([total[:, None], present], axis=1), axis=1)[:, -1]
    return sums


@dataclass(slots=True)
class Summary:
    """A table reduced to the statistics of its classes; its values can be looked at again.

    Parameters
    ----------
    statistics
        Statistics per class and feature; of pairs, the moments of their differences, as one class.
    feature_names
        Ids of the features.
    slabs, samples
        The table, and who its samples are.
    missing
        How many values are missing.
    class_counts
        Number of samples by class.
    blocked, block_class_counts
        Statistics, and number of samples by class, of every block. A class that a block lacks has count 0.
    sample_names
        Ids of the samples used (of the pairs, if they are paired), in the order of the file; none if the
        table has none.
    n_pairs
        Number of pairs, 0 if samples are not paired.
    """

    statistics: ClassStatistics
    feature_names: tuple[str, ...]
    slabs: Slabs
    samples: Samples
    missing: Missing
    class_counts: dict[str, int] = field(default_factory=dict)
    blocked: dict[str, ClassStatistics] = field(default_factory=dict)
    block_class_counts: dict[str, dict[str, int]] = field(default_factory=dict)
    sample_names: tuple[str, ...] = ()
    n_pairs: int = 0

    @property
    def moments(self) -> Moments:
        """The statistics of the Gaussian model."""
        moments = as_moments(self.statistics)
        if moments is None:
            raise AttributeError(f"The table was summed for another model, to {type(self.statistics).__name__}.")
        return moments

    @property
    def labeller(self) -> Labeller:
        """Who gives samples their class."""
        return self.samples.labeller

    @property
    def n_incomplete(self) -> int:
        """Number of pairs that lack a class and are left out."""
        return len(self.samples.incomplete)

    @property
    def extra_left_out(self) -> list[str]:
        """What was left out for want of a block, a pair or an exposure, in words."""
        return self.samples.left_out()

    def blocks(self, which: npt.NDArray[np.int64]) -> Iterator[Block]:
        """Read the file again, for some features only; pairs come as differences."""
        samples = self.samples.afresh()
        done = 0
        for slab in self.slabs.walk(samples, Missing()):
            last = slab.first + len(slab.features)
            columns = which[(which >= slab.first) & (which < last)] - slab.first
            if columns.size and slab.codes.size:
                codes = samples.classes_of(slab.codes, self.statistics.classes)
                values = self._values(slab)[:, columns]
                yield Block(codes, done, values.tocsc() if is_sparse(values) else values)
            done += columns.size if self.slabs.whole_features else 0

    def _values(self, slab: Slab) -> Any:
        """Values of a slab; texts as positions among all levels of the table."""
        if slab.levels is None:
            return slab.values
        position = {str(level): k for k, level in enumerate(getattr(self.statistics, "levels", slab.levels))}
        return np.array([*(position[level] for level in slab.levels), -1], np.int16)[slab.values]


def summarise(
    slabs: Slabs,
    samples: Samples,
    *,
    missing: str,
    n_threads: int | None,
    model: Model | None = None,
    by_total: bool = False,
) -> Summary:
    """Read a table once and reduce it to the statistics of its classes.

    Parameters
    ----------
    slabs
        The table.
    samples
        Gives samples their classes, and what else is known of them.
    missing
        ``"raise"``: missing values are an error. ``"omit"``: every feature uses the values it has.
    n_threads
        Threads, None for all cores.
    model
        Which statistics to sum; None for the moments of the Gaussian model.
    by_total
        Whether the total of a sample is its exposure; it takes one more reading of the table.
    """
    path, absent = slabs.table.path, Missing()
    if by_total:
        samples.totals = sample_totals(slabs, samples.afresh())
    total = add_up(slabs, samples, absent, model, n_threads)
    samples.finish(path, slabs.table.left_out.get("not in the label file", ()))
    if model is not None and samples.exposures:
        model.check_exposures(samples.exposures)
    order = samples.checked_order(path, total.codes)
    check_distinct(path, total.samples, "sample")
    check_distinct(path, total.features, "feature")
    if as_moments(total.statistics):
        _check_range(path, total.statistics, total.features)
    elif getattr(model, "levels", ()) is None and any(isinstance(text, str) for text in total.statistics.levels):
        from bayesieve.io.formats.text_categories import check_levels  # noqa: PLC0415 - most tables hold numbers

        check_levels(path, total.statistics, total.features)
    if absent.total and missing == "raise":
        _raise_missing(absent, total.statistics, total.codes.size, path)
    statistics, blocked = _split(total.statistics, order, samples.blocks())
    counts, by_block = _sample_counts(total, samples, order)
    return Summary(
        statistics, tuple(total.features), slabs, samples, absent, counts, blocked, by_block, tuple(total.samples),
        n_pairs=total.codes.size if samples.paired else 0,
    )  # fmt: skip


def _split(cells: Any, order: list[Label], blocks: list[str]) -> tuple[Any, dict[str, Any]]:
    """Statistics of the classes, and of the classes of every block, from those of all cells."""
    if not blocks:
        return (cells if tuple(order) == cells.classes else plain_counts(cells.pick(order))), {}
    return split_blocks(cells.pick([(name, label) for name in blocks for label in order]), order)


def _sample_counts(
    total: Total, samples: Samples, order: list[Label]
) -> tuple[dict[str, int], dict[str, dict[str, int]]]:
    """Number of samples by class, and by block and class; both samples of a pair count."""
    cells = samples.cells()
    counts = np.bincount(total.codes, minlength=len(cells))
    by_cell = dict(zip(cells, counts.tolist(), strict=True))
    names = samples.labeller.encoder.order()
    labels = order * 2 if samples.paired else order
    blocks = {
        block: {name: by_cell.get((block, label), 0) for name, label in zip(names, labels, strict=True)}
        for block in samples.blocks()
    }
    if blocks:
        return {name: sum(block[name] for block in blocks.values()) for name in names}, blocks
    return {name: by_cell[label] for name, label in zip(names, labels, strict=True)}, {}


def _check_range(path: str, moments: Moments, features: list[str]) -> None:
    """Raise if sums of squares have left the range of 64-bit numbers."""
    squares = moments.centred_squares
    lost = ~np.isfinite(moments.mean + squares) | ((squares > 0) & (squares < SMALLEST_SQUARES))
    if lost.any():
        beyond = np.flatnonzero(lost.any(axis=0))
        raise DataError(
            f"{path}: the squares of {beyond.size:,} feature(s) leave the range of 64-bit numbers, the first is "
            f"{features[int(beyond[0])]!r}. Bring its values between 1e-150 and 1e150, by another unit or a "
            "logarithm."
        )


def _raise_missing(missing: Missing, statistics: ClassStatistics, n_samples: int, path: str) -> None:
    shape = (len(statistics.classes), statistics.n_features)
    counts = np.broadcast_to(statistics.counts, shape).sum(axis=0)
    raise MissingValueError(
        f"{path} holds {missing.total:,} missing value(s) in {int((counts < n_samples).sum()):,} of "
        f"{statistics.n_features:,} features, the first at {missing.first.removesuffix(f' of {path}')}.",
        hint=(
            "Say ",
            option("missing", "omit"),
            " to use the values that are there, which is exact if values are missing at random, or fill them in "
            "first.",
        ),
        kind="missing-values",
    )
