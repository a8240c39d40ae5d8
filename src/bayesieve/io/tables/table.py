"""What every file format offers: values in chunks, by sample or by feature, with ids and labels as texts."""

from __future__ import annotations

import abc
import math
import numbers
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from bayesieve.data import is_sparse
from bayesieve.utils import FileError, IntArray, Message, OptionError

Progress = Callable[[int, int], None]  # done, total: bytes of the file, or any other measure

MISSING_WORDS = (
    "", "NA", "N/A", "n/a", "NaN", "nan", "NAN", "-nan", "#N/A", "null", "NULL", "None", "none", ".", "-", "?",
    "#DIV/0!", "#VALUE!", "#NUM!", "#REF!", "#NAME?", "#NULL!",
)  # fmt: skip


class Chosen(Protocol):
    """Some of the samples of a table."""

    def of_table(self, table: SampleTable | FeatureTable) -> SampleTable | FeatureTable:
        """Return a table of these samples alone."""
        ...


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
        Further columns or rows of the table that describe its samples, by role (``"blocks"``, ``"pairs"``,
        ``"exposures"``); they are no features.
    missing_words
        Further spellings of a missing value.
    categories
        ``""``: values are numbers. ``"found"``: they are categories, and texts if most features are.
        ``"text"``: they are categories and texts.
    duplicates
        What to do about features with the same id: ``"number"``, ``"mean"`` or ``"error"``.
    encoding, decimal, delimiter
        Of text; None: find out.
    skip_rows
        Lines of text above the header.
    layer
        AnnData: ``None`` for X, ``"raw"``, or the name of a layer.
    modality
        MuData: the name of a modality; 10x: a type of features, or a genome; GEO SOFT: a platform.
    part
        Which samples are read; None for all.
    memory
        Bytes that may be used for data.
    n_threads
        Threads, None for all cores.
    progress
        Called with the amount read so far and the total.
    client
        Of the cluster whose workers read blocks of the table; None for this process.
    """

    labels: str | None = None
    known_ids: frozenset[str] | None = None
    samples_in: str | None = None
    id_column: str | None = None
    ignore: tuple[str, ...] = ()
    missing_words: tuple[str, ...] = ()
    encoding: str | None = None
    decimal: str | None = None
    delimiter: str | None = None
    layer: str | None = None
    memory: int = 2**30
    n_threads: int | None = None
    progress: Progress | None = None
    described: Mapping[str, str] = field(default_factory=dict)
    categories: str = ""
    duplicates: str = "number"
    skip_rows: int = 0
    modality: str | None = None
    client: Any = None
    part: Chosen | None = None

    @property
    def columns(self) -> dict[str, str]:
        """Columns of the table that describe its samples, by role: that of the labels and the further ones."""
        return {**({} if self.labels is None else {"labels": self.labels}), **self.described}

    def are_texts(self, n_texts: int, n_numbers: int) -> bool:
        """Tell whether values are categories in texts, given how many features hold texts and numbers."""
        return self.categories == "text" or (self.categories == "found" and n_texts > n_numbers)


@dataclass(frozen=True, slots=True)
class SampleChunk:
    """Some samples with all chosen features.

    Parameters
    ----------
    ids
        Sample ids, or None if the table has none.
    columns
        Texts of each sample by role, as :attr:`ReadOptions.columns` names them; None where one is missing.
    values
        (n_samples, n_features): a float64 array in C order with NaN where a value is missing, or any
        numeric array or CSR matrix that :class:`bayesieve.Moments` reads.
    levels
        The texts that ``values`` are positions in (-1 is missing); None if they are numbers.
    """

    ids: list[str] | None
    columns: Mapping[str, list[str | None]]
    values: Any
    levels: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class FeatureChunk:
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
    notes
        What was found out about the file and deserves to be said.
    candidates
        Columns that could hold labels, with the number of samples by label; found out where no labels are named.
    declared
        All labels in the order that the file declares for their column; empty if it does not.
    about_samples
        Names of the columns that describe the samples, where the format keeps them apart.
    """

    path: str
    form: str
    samples_in: str
    left_out: dict[str, list[str]] = field(default_factory=dict)
    notes: list[Message] = field(default_factory=list, kw_only=True)
    candidates: Mapping[str, Mapping[str, int]] = field(default_factory=dict, kw_only=True)
    about_samples: tuple[str, ...] = field(default=(), kw_only=True)
    declared: tuple[str, ...] = field(default=(), kw_only=True)

    def close(self) -> None:  # noqa: B027 - most formats keep nothing open
        """Close the file."""


@dataclass(slots=True)
class SampleTable(Table):
    """A table whose chunks are groups of samples; all features are known beforehand."""

    feature_ids: tuple[str, ...] = ()

    @abc.abstractmethod
    def chunks(self, features: slice = slice(None)) -> Iterator[SampleChunk]:
        """Yield all samples in order, from the start, with a range of the features.

        The number of samples in a chunk depends on the number of features of the table alone (not on
        memory or threads), so that sums over chunks are the same to the last bit.
        """


@dataclass(slots=True)
class FeatureTable(Table):
    """A table whose chunks are groups of features; all samples and what describes them are known beforehand."""

    sample_ids: tuple[str, ...] | None = None
    n_samples: int = 0
    columns: Mapping[str, list[str | None]] = field(default_factory=dict)

    @abc.abstractmethod
    def chunks(self, samples: IntArray) -> Iterator[FeatureChunk]:
        """Yield all features in order, from the start, with the values of the samples at these positions."""


def samples_per_chunk(n_features: int) -> int:
    """Return how many samples a chunk holds: a function of the number of features alone, a multiple of 8."""
    return max(8, min(4096, 8 * (2**17 // n_features)))


MOST_BYTES = 2**26


def cut(n_rows: int, size: int, options: ReadOptions) -> Iterator[slice]:
    """Yield consecutive ranges of ``size`` rows, and report progress once each has been used."""
    for start in range(0, n_rows, size):
        stop = min(start + size, n_rows)
        yield slice(start, stop)
        if options.progress is not None:
            options.progress(stop, n_rows)


def features_per_chunk(n_samples: int, options: ReadOptions, most: int = MOST_BYTES) -> int:
    """Return how many features fit a chunk of ``most`` bytes or a quarter of the memory, at least one."""
    return max(1, min(most, options.memory // 4) // (8 * max(1, n_samples)))


def take_samples(values: Any, samples: IntArray) -> Any:
    """Return some columns of a features x samples block, without a copy if they are all of them in order."""
    n_samples = values.shape[1]
    if len(samples) == n_samples and np.array_equal(samples, np.arange(n_samples)):
        return values
    return values[:, samples] if is_sparse(values) else np.take(values, samples, axis=1)


def without_words(values: Any, options: ReadOptions) -> Any:
    """Put NaN for numbers that stand for a missing value, such as -999; the block given is not changed."""
    words = missing_numbers(options)
    if not words:
        return values
    if is_sparse(values):
        if 0.0 in words:
            raise OptionError("A sparse table does not store its zeros, so 0 cannot stand for a missing value.")
        data = without_words(values.data[None, :], options)[0]
        return values if data is values.data else type(values)((data, values.indices, values.indptr), values.shape)
    gone = np.isin(values, words)
    return np.where(gone, np.nan, values) if gone.any() else values


def missing_numbers(options: ReadOptions) -> list[float]:
    """Return the numbers among the spellings of a missing value."""
    found = []
    for word in options.missing_words:
        try:
            found.append(float(word))
        except ValueError:
            continue
    return [number for number in found if not np.isnan(number)]


_NO_LABEL = frozenset(
    {"", "NA", "N/A", "n/a", "NaN", "nan", "NAN", "#N/A", "null", "NULL"}
)  # "none" may be a class
_EXACT = 2**53  # whole numbers up to here are exact in a float


def label_text(value: Any, missing_words: Collection[str] = ()) -> str | None:
    """Return a label as text, None if it is missing.

    Whole numbers lose their point, so that the same labels read from different formats are the same.
    """
    text = id_text(value)
    return None if text in _NO_LABEL or text in missing_words else text


def id_text(value: Any) -> str:
    """Return an id as text, written as :func:`label_text` would; missing ones are empty."""
    if isinstance(value, str | bytes):
        return (value if isinstance(value, str) else value.decode("utf-8", "replace")).strip()
    if value is None or type(value).__name__ in ("NAType", "NaTType"):  # of pandas
        return ""
    if isinstance(value, bool | np.bool_ | numbers.Integral):
        return str(value)
    return _number_text(value)


def exact_ids(path: str, values: Iterable[Any]) -> list[str]:
    """Return ids as texts; raise if some are numbers with a point that have lost digits."""
    found = list(values)
    points = [float(value) for value in found if isinstance(value, (float, np.floating))]
    lost = [value for value in points if _EXACT <= abs(value) < 2.0**64]
    if lost:
        raise FileError(
            f"{path}: {len(lost):,} of {len(found):,} ids are numbers with a point beyond 2**53, the first "
            f"{lost[0]!r}: their last digits are lost, so that different ids may look alike. Write ids as texts.",
            kind="rounded",
        )
    return [id_text(value) for value in found]


def _number_text(value: Any) -> str:
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        return str(value).strip()  # a date, say
    if math.isnan(number):
        return ""
    return str(int(number)) if abs(number) <= _EXACT and number.is_integer() else str(value)
