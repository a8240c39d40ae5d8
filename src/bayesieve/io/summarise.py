"""From the slabs of a table to the moments of its classes, in one pass."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from bayesieve.data import LabelledMatrix, Labels, is_sparse
from bayesieve.data.matrix import Block
from bayesieve.errors import DataError, FileError, LabelError, MissingValueError
from bayesieve.io.labelling import Labeller
from bayesieve.io.roles import check_distinct
from bayesieve.io.slabs import Missing, Slab, Slabs
from bayesieve.io.table import IntArray
from bayesieve.stats import Moments
from bayesieve.stats.accumulate import SMALLEST_SQUARES
from bayesieve.stats.reshaping import plain_counts
from bayesieve.stats.streaming import FeatureStream, MomentStream


@dataclass(slots=True)
class Summary:
    """A table reduced to the moments of its classes; its values can be looked at again.

    Parameters
    ----------
    moments
        Count, mean and centred squares per class and feature.
    feature_names
        Ids of the features.
    slabs, labeller
        The table, and how its samples get their classes.
    missing
        How many values are missing.
    class_counts
        Number of samples by class.
    """

    moments: Moments
    feature_names: tuple[str, ...]
    slabs: Slabs
    labeller: Labeller
    missing: Missing
    class_counts: dict[str, int] = field(default_factory=dict)

    def blocks(self, which: npt.NDArray[np.int64]) -> Iterator[Block]:
        """Read the file again, for some features only."""
        labeller = self.labeller.afresh()
        done = 0
        for slab in self.slabs.walk(labeller, Missing()):
            codes = self._final(labeller)[slab.codes]
            last = slab.first + len(slab.features)
            columns = which[(which >= slab.first) & (which < last)] - slab.first
            if columns.size and codes.size:
                values = slab.values[:, columns]
                yield Block(codes, done, values.tocsc() if is_sparse(values) else values)
            done += columns.size if self.slabs.whole_features else 0

    def _final(self, labeller: Labeller) -> IntArray:
        """From the order in which classes were met to the order of the moments."""
        return np.array([self.moments.classes.index(name) for name in labeller.encoder.classes], np.int64)


def summarise(slabs: Slabs, labeller: Labeller, *, missing: str, n_threads: int | None) -> Summary:
    """Read a table once and reduce it to the moments of its classes.

    Parameters
    ----------
    slabs
        The table.
    labeller
        Gives samples their classes.
    missing
        ``"raise"``: missing values are an error. ``"omit"``: every feature uses the values it has.
    n_threads
        Threads, None for all cores.
    """
    path, absent = slabs.table.path, Missing()
    walk = slabs.walk(labeller, absent)
    moments, codes, samples, features = (
        _side_by_side(walk, path, labeller, n_threads)
        if slabs.whole_features
        else _one_after_the_other(walk, labeller, n_threads)
    )
    labeller.finish(path, slabs.table.left_out.get("not in the label file", ()))
    _check_range(path, moments, features)
    order = _checked_order(path, labeller, codes)
    check_distinct(path, samples, "sample")
    check_distinct(path, features, "feature")
    counts = {name: int((codes == k).sum()) for k, name in enumerate(labeller.encoder.classes)}
    if absent.total and missing == "raise":
        _raise_missing(absent, moments, codes.size, path)
    if tuple(order) != moments.classes:
        moments = plain_counts(moments.pick(order))
    return Summary(moments, tuple(features), slabs, labeller, absent, {name: counts[name] for name in order})


def _checked_order(path: str, labeller: Labeller, codes: IntArray) -> list[str]:
    order = labeller.encoder.order()
    if not codes.size:
        raise LabelError(f"{path}: no sample is left, because none has a usable label. Check the label column.")
    counts = np.bincount(codes, minlength=len(order))
    for name, count in zip(labeller.encoder.classes, counts.tolist(), strict=True):
        if not count:
            raise LabelError(f"{path}: class {name!r} has no samples. Check the classes and the label column.")
    return order


def _side_by_side(
    walk: Iterator[Slab], path: str, labeller: Labeller, n_threads: int | None
) -> tuple[Moments, IntArray, list[str], list[str]]:
    """Slabs of features, each with all samples."""
    stream, codes = FeatureStream(n_threads), np.empty(0, np.int64)
    features: list[str] = []
    samples: list[str] = []
    for slab in walk:
        if not features:
            codes, samples = slab.codes, list(slab.samples)
            _checked_order(path, labeller, codes)
        labels = Labels(tuple(labeller.encoder.classes), codes)
        stream.add(LabelledMatrix(slab.values, labels, tuple(slab.features), tuple(samples) or None))
        features += slab.features
    if not features:
        raise FileError(f"{path} holds no features. Check how it was written or downloaded.")
    return stream.moments(), codes, samples, features


def _one_after_the_other(
    walk: Iterator[Slab], labeller: Labeller, n_threads: int | None
) -> tuple[Moments, IntArray, list[str], list[str]]:
    """Slabs of samples, each with all features."""
    stream, codes = None, [np.empty(0, np.int64)]
    samples: list[str] = []
    features: list[str] = []
    for slab in walk:
        if stream is None:
            stream, features = MomentStream(len(slab.features), n_threads), list(slab.features)
        stream.add(slab.values, slab.codes, len(labeller.encoder.classes))
        codes.append(slab.codes)
        samples += slab.samples
    stream = stream or MomentStream(1)
    return stream.moments(labeller.encoder.classes), np.concatenate(codes), samples, features


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


def _raise_missing(missing: Missing, moments: Moments, n_samples: int, path: str) -> None:
    counts = np.broadcast_to(moments.counts, moments.mean.shape).sum(axis=0)
    raise MissingValueError(
        f"{path} holds {missing.total:,} missing value(s) in {int((counts < n_samples).sum()):,} of "
        f"{moments.n_features:,} features, the first at {missing.first.removesuffix(f' of {path}')}. Say "
        "--missing omit (in Python missing='omit') to use the values that are there, which is exact if values are "
        "missing at random, or fill them in first."
    )
