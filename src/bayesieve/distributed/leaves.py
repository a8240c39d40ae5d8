"""Leaves of the tree: the statistic of one block of a table, with one thread."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from bayesieve.data import LabelledMatrix, is_sparse
from bayesieve.distributed.tree import Mergeable, merge_two
from bayesieve.utils import BayesieveError, DataError, LabelError

LEFT_OUT = -1  # code of a sample that is in no class
NUMBERS = 48  # bytes per class and feature of a statistic
RETRIES = 3  # times that a block is tried again after a failure or the death of a worker


def smallest_codes(codes: npt.ArrayLike) -> npt.NDArray[Any]:
    """Return codes of classes in the smallest type of signed integers that holds them; -1 is left out."""
    array = np.asarray(codes)
    return array.astype(np.min_scalar_type(-int(array.max(initial=0)) - 1))


@dataclass(frozen=True, slots=True)
class Place:
    """Where a block lies in its table.

    Parameters
    ----------
    first_sample, first_feature
        Position of its first sample and of its first feature.
    number
        Its number along the samples (and along the features).
    source
        The file it comes from, where that is known.
    """

    first_sample: int = 0
    first_feature: int = 0
    number: tuple[int, ...] = (0,)
    source: str = ""

    def describe(self, n_samples: int, n_features: int) -> str:
        """Name the block for a message."""
        where = f" of {self.source}" if self.source else ""
        rows = f"samples {self.first_sample:,} to {self.first_sample + n_samples - 1:,}"
        columns = f"features {self.first_feature:,} to {self.first_feature + n_features - 1:,}"
        return f"Block {', '.join(map(str, self.number))}{where} ({rows}, {columns})"


class _Bare(str):
    """A name that stands in messages without quotes: the position of a sample in the whole table."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


@dataclass(frozen=True, slots=True)
class Leaf:
    """Makes the statistic of a block; it travels to where the block is.

    Parameters
    ----------
    summarise
        Statistic of a matrix with the codes of the classes as its labels, given where it lies, and further numbers
        of its samples if there are any; it uses one thread.
    n_classes
        Number of classes; all of them are in the statistic, whether or not they occur in the block.
    matrix
        Puts values and labels together, for example ``model.matrix``.
    """

    summarise: Callable[..., Mergeable]
    n_classes: int
    matrix: Callable[..., LabelledMatrix] = LabelledMatrix.from_arrays

    def __call__(self, values: Any, codes: Any, place: Place, numbers: Any = None) -> Any:
        """Return the statistic; None if the block holds no sample of a class."""
        codes = np.asarray(codes)
        shape = np.shape(values)
        values = _laid_out(values)
        if shape[0] != codes.size:
            raise LabelError(
                f"{place.describe(*shape)} holds {shape[0]:,} samples, but there are {codes.size:,} labels for it."
            )
        kept = np.flatnonzero(codes >= 0)
        if not kept.size or 0 in shape:
            return None
        if kept.size < codes.size:
            values = _rows(values, kept)
            numbers = None if numbers is None else np.asarray(numbers)[kept]
        try:
            made = self.matrix(values, codes[kept].astype(np.int64), classes=tuple(range(self.n_classes)))
        except BayesieveError as error:
            raise _placed(error, place, shape) from None
        more = () if numbers is None else (numbers,)
        try:
            return self.summarise(made, place, *more)
        except BayesieveError as error:
            self._say_where(made, kept, place, error, more)
            raise _placed(error, place, made.values.shape) from None

    def _say_where(
        self, made: LabelledMatrix, kept: Any, place: Place, error: BayesieveError, more: tuple[Any, ...]
    ) -> None:
        """Try once more with samples and features named by their places in the whole table, for the message."""
        samples = tuple(_Bare(place.first_sample + k) for k in kept.tolist())
        features = tuple(_Bare(f"column {place.first_feature + j}") for j in range(made.n_features))
        try:
            self.summarise(replace(made, sample_names=samples, feature_names=features), place, *more)
        except type(error) as named:
            raise _placed(named, place, made.values.shape) from None


def _laid_out(values: Any) -> Any:
    """Lay an array out row by row: views and frames travel in another layout, which sums in another order."""
    return np.ascontiguousarray(values) if isinstance(values, np.ndarray) else values


def _rows(values: Any, kept: npt.NDArray[np.int64]) -> Any:
    """Some rows of a block, in the order that they have."""
    if hasattr(values, "iloc"):
        return values.iloc[kept]
    return (values.tocsr() if is_sparse(values) else np.asarray(values))[kept]


def _placed(error: BayesieveError, place: Place, shape: Sequence[int]) -> BayesieveError:
    """The same error with the block before it."""
    message = error.message
    where = f"{place.describe(shape[0], shape[1])}: "
    numbers = {**message.numbers, "first_sample": place.first_sample, "first_feature": place.first_feature}
    return type(error)(where, *message.text, hint=message.hint, kind=message.kind, numbers=numbers)


def failed_block(who: str, error: Exception, retries: int) -> DataError:
    """Say which block could not be read or summed, how often that was tried, and why.

    Parameters
    ----------
    who
        The block, as :meth:`Place.describe` names it.
    error
        What happened last.
    retries
        How often it was tried again.
    """
    tried = f" {retries + 1} times" if retries else ""
    why = str(error) if isinstance(error, BayesieveError) else f"{type(error).__name__}: {error}"
    return DataError(f"{who} could not be read or summed{tried}: {why}", kind="failed-block")


@dataclass(frozen=True, slots=True)
class SeveralLeaves:
    """Makes the statistics of a block under several labellings at once; its codes are samples x labellings.

    Parameters
    ----------
    leaf
        Makes the statistic of one labelling.
    """

    leaf: Leaf

    def __call__(self, values: Any, codes: Any, place: Place, numbers: Any = None) -> Any:
        """Return one statistic per labelling; None if the block holds no sample of a class."""
        parts = tuple(self.leaf(values, codes[:, k], place, numbers) for k in range(codes.shape[1]))
        return None if all(part is None for part in parts) else Several(parts)


@dataclass(frozen=True, slots=True, eq=False)
class Several:
    """Statistics of the same samples under several labellings, merged side by side.

    Parameters
    ----------
    parts
        One statistic per labelling.
    """

    parts: tuple[Any, ...]

    def merge(self, other: Several) -> Several:
        """Both samples together."""
        return Several(tuple(merge_two(*each) for each in zip(self.parts, other.parts, strict=True)))

    @staticmethod
    def join(parts: Sequence[Several]) -> Several:
        """Features of several statistics of the same samples, side by side."""
        each = zip(*(part.parts for part in parts), strict=True)
        return Several(tuple(type(together[0]).join(together) for together in each))


def picked(values: Any, places: Any) -> Any:
    """Return some columns of a block; those of a sparse one by column."""
    return values.tocsc()[:, places] if is_sparse(values) else np.asarray(values)[:, places]
