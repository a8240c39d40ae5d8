"""What every file format offers: the values, sample by sample or feature by feature, piece by piece."""

from __future__ import annotations

import abc
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

IntArray = npt.NDArray[np.int64]
Progress = Callable[[int, int], None]  # done, total: bytes of the file, or any other measure

MISSING_WORDS = (
    "", "NA", "N/A", "n/a", "NaN", "nan", "NAN", "-nan", "#N/A", "null", "NULL", "None", "none", ".", "-", "?",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """How to read a table, as far as the user said.

    Parameters
    ----------
    labels
        Name of the label column (obs column, characteristic, label row) inside the table; None when
        labels come from elsewhere.
    known_ids
        Sample ids that a label file knows; they tell rows from columns. None without a label file.
    samples_in
        ``"rows"``, ``"columns"`` or None: find out.
    id_column
        Column of the table that holds sample ids, None: find out.
    ignore
        Columns to leave out.
    described
        Columns or rows of the table that say more of its samples (their batch, say), and are no features.
    missing_words
        Further spellings of a missing value.
    categories
        ``""``: values are numbers. ``"found"``: they are categories, and texts if most features are.
        ``"text"``: they are categories and texts.
    encoding, decimal, delimiter
        Of text; None: find out (decimal: a point).
    layer
        AnnData: ``None`` for X, ``"raw"``, or the name of a layer.
    memory
        Bytes that may be used for data.
    n_threads
        Threads, None for all cores.
    progress
        Called with the amount read so far and the total.

    Examples
    --------
    >>> from bayesieve.io.table import ReadOptions
    >>> ReadOptions(labels="stage").samples_in is None
    True
    """

    labels: str | None = None
    known_ids: frozenset[str] | None = None
    samples_in: str | None = None
    id_column: str | None = None
    ignore: tuple[str, ...] = ()
    missing_words: tuple[str, ...] = ()
    encoding: str | None = None
    decimal: str = "."
    delimiter: str | None = None
    layer: str | None = None
    memory: int = 2**30
    n_threads: int | None = None
    progress: Progress | None = None
    described: tuple[str, ...] = ()
    categories: str = ""

    def are_texts(self, n_texts: int, n_numbers: int) -> bool:
        """Tell whether values are categories in texts, given how many features hold texts and numbers.

        Examples
        --------
        >>> from bayesieve.io.table import ReadOptions
        >>> ReadOptions(categories="found").are_texts(5, 1), ReadOptions().are_texts(5, 1)
        (True, False)
        """
        return self.categories == "text" or (self.categories == "found" and n_texts > n_numbers)


@dataclass(frozen=True, slots=True)
class SamplePiece:
    """Some samples with all chosen features.

    Parameters
    ----------
    ids
        Sample ids, or None if the table has none.
    labels
        Label of each sample as it stands in the table (None where it is missing), or None if labels
        come from elsewhere.
    values
        (n_samples, n_features): a float64 array in C order with NaN where a value is missing, or any
        numeric array or CSR matrix that :class:`bayesieve.Moments` reads.
    levels
        The texts that ``values`` are positions in (-1 is missing); None if they are numbers.
    """

    ids: list[str] | None
    labels: list[str | None] | None
    values: Any
    levels: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class FeaturePiece:
    """Some features of all chosen samples; ``values`` is (n_features, n_samples), or sparse CSR that way round."""

    ids: list[str]
    values: Any
    levels: tuple[str, ...] | None = None


@dataclass(slots=True)
class Table(abc.ABC):
    """A table in a file.

    Parameters
    ----------
    path
        The file, as the user named it.
    form
        The format in words: ``"CSV"``, ``"AnnData, layer counts"``.
    samples_in
        ``"rows"`` or ``"columns"`` of the file.
    left_out
        Columns that are neither id, label nor values, by reason: ``{"not numeric": ["gender"]}``.
    """

    path: str
    form: str
    samples_in: str
    left_out: dict[str, list[str]] = field(default_factory=dict)

    def close(self) -> None:  # noqa: B027 - most formats keep nothing open
        """Close the file."""


@dataclass(slots=True)
class SampleTable(Table):
    """A table whose pieces are groups of samples; all features are known beforehand."""

    feature_ids: tuple[str, ...] = ()

    @abc.abstractmethod
    def pieces(self, features: slice = slice(None)) -> Iterator[SamplePiece]:
        """Yield all samples in order, from the start, with a range of the features.

        The number of samples in a piece depends on the number of features of the table alone (not on
        memory or threads), so that sums over pieces are the same to the last bit.
        """


@dataclass(slots=True)
class FeatureTable(Table):
    """A table whose pieces are groups of features; all samples and their labels are known beforehand."""

    sample_ids: tuple[str, ...] | None = None
    n_samples: int = 0
    labels: list[str | None] | None = None

    @abc.abstractmethod
    def pieces(self, samples: IntArray) -> Iterator[FeaturePiece]:
        """Yield all features in order, from the start, with the values of the samples at these positions."""


def samples_per_piece(n_features: int) -> int:
    """Return how many samples a piece holds: a function of the number of features alone, a multiple of 8.

    Examples
    --------
    >>> from bayesieve.io.table import samples_per_piece
    >>> samples_per_piece(100), samples_per_piece(54_675), samples_per_piece(2_000_000)
    (4096, 16, 8)
    """
    return max(8, min(4096, 8 * (2**17 // n_features)))
