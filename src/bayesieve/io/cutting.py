"""Cutting values into pieces of bounded size, and what is done to every piece."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from bayesieve.data import is_sparse
from bayesieve.errors import OptionError
from bayesieve.io.table import IntArray, ReadOptions

MOST_BYTES = 2**26


def cut(n_rows: int, size: int, options: ReadOptions) -> Iterator[slice]:
    """Yield consecutive ranges of ``size`` rows, and report progress once each has been used.

    Examples
    --------
    >>> from bayesieve.io.cutting import cut
    >>> from bayesieve.io.table import ReadOptions
    >>> list(cut(5, 2, ReadOptions()))
    [slice(0, 2, None), slice(2, 4, None), slice(4, 5, None)]
    """
    for start in range(0, n_rows, size):
        stop = min(start + size, n_rows)
        yield slice(start, stop)
        if options.progress is not None:
            options.progress(stop, n_rows)


def features_per_piece(n_samples: int, options: ReadOptions, most: int = MOST_BYTES) -> int:
    """Return how many features fit a piece of ``most`` bytes or a quarter of the memory, at least one.

    Examples
    --------
    >>> from bayesieve.io.cutting import features_per_piece
    >>> from bayesieve.io.table import ReadOptions
    >>> features_per_piece(238, ReadOptions()), features_per_piece(238, ReadOptions(memory=2**20))
    (35246, 137)
    """
    return max(1, min(most, options.memory // 4) // (8 * max(1, n_samples)))


def take_samples(values: Any, samples: IntArray) -> Any:
    """Return some columns of a features x samples block, without a copy if they are all of them in order.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve.io.cutting import take_samples
    >>> take_samples(np.eye(2), np.array([1])).tolist()
    [[0.0], [1.0]]
    """
    n_samples = values.shape[1]
    if len(samples) == n_samples and np.array_equal(samples, np.arange(n_samples)):
        return values
    return values[:, samples] if is_sparse(values) else np.take(values, samples, axis=1)


def without_words(values: Any, options: ReadOptions) -> Any:
    """Put NaN for numbers that stand for a missing value, such as -999; the block given is not changed.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve.io.cutting import without_words
    >>> from bayesieve.io.table import ReadOptions
    >>> without_words(np.array([[1, -999]]), ReadOptions(missing_words=("-999", "unknown"))).tolist()
    [[1.0, nan]]
    """
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
    """Return the numbers among the spellings of a missing value.

    Examples
    --------
    >>> from bayesieve.io.cutting import missing_numbers
    >>> from bayesieve.io.table import ReadOptions
    >>> missing_numbers(ReadOptions(missing_words=("-999", "unknown", "nan")))
    [-999.0]
    """
    found = []
    for word in options.missing_words:
        try:
            found.append(float(word))
        except ValueError:
            continue
    return [number for number in found if not np.isnan(number)]
