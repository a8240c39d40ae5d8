"""Tables over one matrix, dense or sparse, in memory or in a file: NumPy and AnnData."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from bayesieve.data import is_sparse
from bayesieve.errors import FileError
from bayesieve.io.cutting import cut, take_samples, without_words
from bayesieve.io.roles import check_distinct, check_ignored, matches, no_match
from bayesieve.io.table import FeaturePiece, FeatureTable, IntArray, ReadOptions, SamplePiece, SampleTable

SPARSE_ROWS = 8192
_BYTES_PER_ENTRY = 16  # of a sparse matrix: a value and its place


@dataclass(slots=True)
class MatrixSamples(SampleTable):
    """Samples of a matrix, some at a time.

    Parameters
    ----------
    read
        Returns the block of some samples and a range of the features.
    size
        Samples in a piece.
    kept
        Places of the features that are not ignored, None for all.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve.io.matrices import MatrixSamples
    >>> X = np.arange(6.0).reshape(3, 2)
    >>> table = MatrixSamples(
    ...     "x.npy", "NumPy", "rows", feature_ids=("a", "b"), read=lambda rows, columns: X[rows, columns],
    ...     n_samples=3, size=2,
    ... )  # fmt: skip
    >>> [piece.values.tolist() for piece in table.pieces(slice(1, 2))]
    [[[1.0], [3.0]], [[5.0]]]
    """

    read: Callable[[slice, slice], Any] = field(kw_only=True)
    n_samples: int = field(kw_only=True)
    size: int = field(kw_only=True)
    ids: list[str] | None = field(default=None, kw_only=True)
    labels: list[str | None] | None = field(default=None, kw_only=True)
    kept: IntArray | None = field(default=None, kw_only=True)
    options: ReadOptions = field(default_factory=ReadOptions, kw_only=True)
    closing: Callable[[], None] | None = field(default=None, kw_only=True)

    def pieces(self, features: slice = slice(None)) -> Iterator[SamplePiece]:
        """Yield all samples in order."""
        for part in cut(self.n_samples, self.size, self.options):
            if self.kept is None:
                values = self.read(part, features)
            else:
                values = self.read(part, slice(None))[:, self.kept[features]]
            yield SamplePiece(
                None if self.ids is None else self.ids[part],
                None if self.labels is None else self.labels[part],
                without_words(native(values), self.options),
            )

    def close(self) -> None:
        """Close the file."""
        if self.closing is not None:
            self.closing()


@dataclass(slots=True)
class MatrixFeatures(FeatureTable):
    """Features of a matrix, some at a time.

    Parameters
    ----------
    feature_ids
        All features of the matrix.
    read
        Returns the features x samples block of a range of features.
    size
        Features in a piece.
    ignored
        Features to leave out.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve.io.matrices import MatrixFeatures
    >>> X = np.arange(6.0).reshape(3, 2)
    >>> table = MatrixFeatures(
    ...     "x.npy", "NumPy", "rows", n_samples=3, feature_ids=["a", "b"], read=lambda part: X.T[part], size=9
    ... )
    >>> [(piece.ids, piece.values.tolist()) for piece in table.pieces(np.array([2, 0]))]
    [(['a', 'b'], [[4.0, 0.0], [5.0, 1.0]])]
    """

    feature_ids: list[str] = field(kw_only=True)
    read: Callable[[slice], Any] = field(kw_only=True)
    size: int = field(kw_only=True)
    ignored: frozenset[str] = field(default=frozenset(), kw_only=True)
    options: ReadOptions = field(default_factory=ReadOptions, kw_only=True)
    closing: Callable[[], None] | None = field(default=None, kw_only=True)

    def pieces(self, samples: IntArray) -> Iterator[FeaturePiece]:
        """Yield all features in order."""
        for part in cut(len(self.feature_ids), self.size, self.options):
            names, values = self.feature_ids[part], self.read(part)
            if not self.ignored.isdisjoint(names):
                kept = [place for place, name in enumerate(names) if name not in self.ignored]
                names, values = [names[place] for place in kept], values[kept]
            if names:
                yield FeaturePiece(names, without_words(native(take_samples(values, samples)), self.options))

    def close(self) -> None:
        """Close the file."""
        if self.closing is not None:
            self.closing()


def check_names(
    path: str,
    features: Sequence[str],
    ids: Sequence[str] | None,
    options: ReadOptions,
    hints: tuple[str, str] = ("", ""),
) -> None:
    """Raise unless names are distinct, ignored features exist, others remain, and the label file knows a sample.

    Parameters
    ----------
    path
        The file.
    features, ids
        Names of features and of samples, if there are any.
    options
        What the user said.
    hints
        What to do about repeated features and repeated samples.

    Examples
    --------
    >>> from bayesieve.io.matrices import check_names
    >>> from bayesieve.io.table import ReadOptions
    >>> check_names("x.npy", ["a", "b"], None, ReadOptions(ignore=("b",)))
    """
    check_distinct(path, features, "feature", hints[0])
    check_ignored(path, options.ignore, features)
    if len(set(options.ignore)) == len(features):
        raise FileError(f"{path}: all {len(features):,} features are ignored. Keep at least one.")
    if ids is not None:
        check_distinct(path, ids, "sample", hints[1])
        if options.known_ids is not None and not matches(options.known_ids, ids):
            raise no_match(path, options.known_ids, ids)


def sparse_features_per_piece(n_entries: int, n_features: int, options: ReadOptions) -> int:
    """Return how many features of a sparse matrix make a piece of at most 64 MB on average.

    Examples
    --------
    >>> from bayesieve.io.matrices import sparse_features_per_piece
    >>> from bayesieve.io.table import ReadOptions
    >>> sparse_features_per_piece(10**9, 20_000, ReadOptions())
    83
    """
    return max(1, int(min(2**26, options.memory // 4) / (_BYTES_PER_ENTRY * max(1.0, n_entries / n_features))))


def native(values: Any) -> Any:
    """Return values the kernels read: in C order, native bytes, at most 64 bits; sparse ones as CSR.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve.io.matrices import native
    >>> native(np.ones((2, 2), dtype=">f4")).dtype
    dtype('float64')
    """
    dtype = values.dtype
    usual = dtype.isnative and dtype.itemsize <= 8 and dtype != np.float16
    if is_sparse(values):
        return values.tocsr() if usual else values.tocsr().astype(np.float64)
    return np.ascontiguousarray(values, dtype=None if usual else np.float64)
