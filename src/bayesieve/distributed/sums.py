"""Sums over tables in blocks: what every statistic, and every screen of a lazy table, begins with."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bayesieve.data import Label, LabelledMatrix, Labels, aligned, encode_labels
from bayesieve.distributed.leaves import RETRIES, Leaf, Place, SeveralLeaves, smallest_codes
from bayesieve.distributed.spans import SpanTable
from bayesieve.utils import (
    TABLE,
    LabelError,
    MissingExtraError,
    MissingValueError,
    check_missing,
    install_command,
    list_names,
    option,
)

_MOST_SHOWN = 3


@dataclass(frozen=True, slots=True)
class OneThread:
    """Sums a matrix by a function of it, ``missing`` and ``n_threads``; missing values are left out and counted.

    Parameters
    ----------
    function
        The function; of further numbers per sample, too, if they are given.
    """

    function: Callable[..., Any]

    def __call__(self, matrix: LabelledMatrix, place: Place, *numbers: Any) -> Any:
        """Sum, at first as if nothing were missing, which is quicker."""
        del place
        try:
            return self.function(matrix, *numbers, missing="raise", n_threads=1)
        except MissingValueError:
            return self.function(matrix, *numbers, missing="omit", n_threads=1)


def sum_blocks(
    table: Any,
    codes: Any,
    leaf: Leaf | SeveralLeaves,
    *,
    numbers: Any = None,
    retries: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Any:
    """Sum a table block by block, and merge the sums in the fixed tree.

    Parameters
    ----------
    table
        What :func:`blocks_of` returned, or a :class:`SpanTable`.
    codes
        Class of every sample, -1 to leave it out.
    leaf
        Makes the statistic of a block.
    numbers
        Further numbers, one or several per sample.
    retries
        How often a block that fails is tried again; 3 by default.
    progress
        Called with the number of blocks done and their total.
    """
    times = RETRIES if retries is None else retries
    if isinstance(table, SpanTable):
        if table.client is None:
            return table.sum(smallest_codes(codes), leaf, numbers, times, progress)
        with table.on_cluster() as blocks:
            return sum_blocks(blocks, codes, leaf, numbers=numbers, retries=times, progress=progress)
    from bayesieve.distributed.graph import LabelSlices, SumGraph  # noqa: PLC0415 - needs Dask
    from bayesieve.distributed.running import compute, current_client  # noqa: PLC0415

    n_labellings = codes.shape[1] if np.ndim(codes) == 2 else 1
    one = leaf.leaf if isinstance(leaf, SeveralLeaves) else leaf
    table.check_memory(one.n_classes * n_labellings, current_client())
    labels = LabelSlices(table.array.chunks, smallest_codes(codes), numbers, table.source)
    graph = SumGraph.build(table.array, labels, leaf)
    return compute(graph, retries=times, progress=progress)


def sum_labelled(
    X: Any,
    y: Any,
    function: Callable[..., Any],
    *,
    classes: Sequence[Label] | None = None,
    missing: str = "raise",
    matrix: Callable[..., LabelledMatrix] = LabelledMatrix.from_arrays,
    numbers: Any = None,
    texts: bool = False,
) -> Any:
    """Return the statistics of a lazy table with a label per sample.

    Parameters
    ----------
    X, y, classes, missing
        As for :meth:`bayesieve.Moments.from_matrix`.
    function
        Statistic of a matrix, given ``missing`` and ``n_threads``.
    matrix
        Puts the values of a block and its labels together.
    numbers
        Further numbers per sample, handed to ``function`` after the matrix.
    texts
        Whether values may be texts.
    """
    check_missing(missing)
    table = blocks_of(X, texts=texts)
    labels = labels_of(table, aligned(X, y), classes)
    if numbers is not None and len(numbers) != labels.codes.size:
        raise LabelError(
            f"X has {labels.codes.size:,} samples (rows) but there are {len(numbers):,} values beside their "
            "labels. Give one for each sample."
        )
    leaf = Leaf(OneThread(function), len(labels.classes), matrix)
    found = sum_blocks(table, labels.codes, leaf, numbers=numbers).renamed(labels.classes)
    if missing == "raise":
        refuse_missing(found, labels.counts, table.feature_names)
    return found


def blocks_of(X: Any, *, texts: bool = False) -> Any:
    """Return a lazy table as a Dask array of known chunks, with its names: a :class:`BlockTable`."""
    try:
        from bayesieve.distributed.block_table import BlockTable  # noqa: PLC0415 - needs Dask
    except ImportError as error:
        raise MissingExtraError(
            f"Tables in blocks are summed with Dask, which cannot be imported ({error}). Install it: "
            f"{install_command('dask')}."
        ) from error
    return BlockTable.of(X, texts=texts)


def labels_of(table: Any, y: Any, classes: Sequence[Label] | None) -> Labels:
    """Return the labels of a table, one per sample; those of a Dask series or array are computed."""
    y = y.compute() if hasattr(y, "__dask_graph__") else y
    labels = encode_labels(y, classes)
    n_samples = table.array.shape[0]
    if labels.codes.size != n_samples:
        raise LabelError(
            f"X has {n_samples:,} samples (rows) but there are {labels.codes.size:,} labels. They must match; if "
            "samples are in columns, pass X.T."
        )
    return labels


def refuse_missing(statistics: Any, counts: Any, names: Sequence[str] | None) -> None:
    """Raise if values are missing: how many, and in which features.

    Parameters
    ----------
    statistics
        The sums, of what is there.
    counts
        Number of samples of each class.
    names
        Names of the features.
    """
    absent = np.asarray(np.asarray(counts)[:, None] - np.asarray(statistics.counts)).sum(axis=0)
    absent = np.broadcast_to(absent, (statistics.n_features,))
    where = np.flatnonzero(absent)
    if not where.size:
        return
    shown = [names[j] if names else f"column {j}" for j in where[: _MOST_SHOWN + 1].tolist()]
    more = list_names([*shown[:_MOST_SHOWN], *range(where.size - _MOST_SHOWN)], _MOST_SHOWN, quote=bool(names))
    raise MissingValueError(
        TABLE,
        f" holds {int(absent.sum()):,} missing value(s) (NaN) in {where.size:,} of {statistics.n_features:,} "
        f"features: {more}.",
        hint=("Pass ", option("missing", "omit"), " to use the values that are there (exact if values are missing "
              "at random), or fill them in first."),
        kind="missing-values",
        numbers={"n": int(absent.sum()), "n_features": int(where.size)},
    )  # fmt: skip
