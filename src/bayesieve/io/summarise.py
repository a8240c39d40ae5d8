"""From the slabs of a table to the statistics of its classes, in one pass."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from bayesieve.data import Label, is_sparse
from bayesieve.data.matrix import Block
from bayesieve.errors import DataError, MissingValueError
from bayesieve.io.labelling import Labeller
from bayesieve.io.roles import check_distinct
from bayesieve.io.samples import Samples
from bayesieve.io.slabs import Missing, Slab, Slabs
from bayesieve.io.sums import Total, add_up, sample_totals
from bayesieve.models.model import Model
from bayesieve.stats import Moments
from bayesieve.stats.accumulate import SMALLEST_SQUARES
from bayesieve.stats.reshaping import plain_counts, split_blocks
from bayesieve.stats.statistics import ClassStatistics


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
        if not isinstance(self.statistics, Moments):
            raise AttributeError(f"The table was summed for another model, to {type(self.statistics).__name__}.")
        return self.statistics

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
    if isinstance(total.statistics, Moments):
        _check_range(path, total.statistics, total.features)
    elif getattr(model, "levels", ()) is None and any(isinstance(text, str) for text in total.statistics.levels):
        from bayesieve.io.text_categories import check_levels  # noqa: PLC0415 - most tables hold numbers

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
        return (cells if tuple(order) == cells.classes else _plain(cells.pick(order))), {}
    return split_blocks(cells.pick([(name, label) for name in blocks for label in order]), order)


def _plain(statistics: Any) -> Any:
    return plain_counts(statistics) if isinstance(statistics, Moments) else statistics


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
        f"{statistics.n_features:,} features, the first at {missing.first.removesuffix(f' of {path}')}. Say "
        "--missing omit (in Python missing='omit') to use the values that are there, which is exact if values are "
        "missing at random, or fill them in first."
    )
