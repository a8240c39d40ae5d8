"""SpanTable: a table in a file whose blocks are read by whoever sums them: threads here, or workers elsewhere."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

import numpy as np

from bayesieve.distributed.leaves import (
    NUMBERS,
    RETRIES,
    Leaf,
    Place,
    Several,
    SeveralLeaves,
    failed_block,
    picked,
)
from bayesieve.distributed.tree import Tree
from bayesieve.utils import FileError, IntArray, n_threads_for, run

_COPIES = 3.0  # of a block: as it is stored, as it is unpacked, and as it is transformed

Progress = Callable[[int, int], None]


class BlockReader(Protocol):
    """Reads blocks of a file; it travels, and opens the file where it arrives."""

    @property
    def source(self) -> str:
        """The file."""
        ...

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of samples and features."""
        ...

    @property
    def dtype(self) -> Any:
        """Kind of the values."""
        ...

    @property
    def sparse(self) -> bool:
        """Whether blocks are sparse."""
        ...

    @property
    def sizes(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Sizes of the blocks along samples and features, which depend on the file alone."""
        ...

    @property
    def n_bytes(self) -> int:
        """Bytes of the largest block, about."""
        ...

    def __getitem__(self, place: tuple[slice, slice]) -> Any:
        """Return the values of some samples and features."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class SpanTable:
    """A table in a file, read block by block.

    Parameters
    ----------
    reader
        Reads a block. Which blocks there are depends on the file alone, so that sums do, too.
    memory
        Bytes that blocks may take together.
    n_threads
        Threads, all cores by default.
    client
        Of the cluster whose workers are to read the file; None for this process.
    """

    reader: BlockReader
    memory: int
    n_threads: int | None = None
    client: Any = None

    @property
    def starts(self) -> tuple[IntArray, IntArray]:
        """Where blocks begin, along samples and features, with the ends."""
        rows, columns = (np.concatenate([[0], np.cumsum(sizes)]) for sizes in self.reader.sizes)
        return rows, columns

    @property
    def n_blocks(self) -> int:
        """Number of blocks."""
        return len(self.reader.sizes[0]) * len(self.reader.sizes[1])

    def describe_pass(self) -> str:
        """Say what one more reading of the table takes."""
        return f"one more pass over {self.reader.source} ({self.n_blocks:,} blocks)"

    def sum(
        self, codes: Any, leaf: Leaf | SeveralLeaves, numbers: Any = None, retries: int = RETRIES,
        progress: Progress | None = None,
    ) -> Any:  # fmt: skip
        """Sum the blocks in threads of this process, and merge the sums in the fixed tree."""
        rows, columns = self.starts
        n_classes = leaf.leaf.n_classes * codes.shape[1] if isinstance(leaf, SeveralLeaves) else leaf.n_classes
        held = NUMBERS * n_classes * max(self.reader.sizes[1])

        def work(block: tuple[int, int]) -> Any:
            i, j = block
            part = slice(int(rows[i]), int(rows[i + 1]))
            values = self._read(block, retries)
            place = Place(part.start, int(columns[j]), block, self.reader.source)
            return leaf(values, codes[part], place, None if numbers is None else numbers[part])

        blocks = [(i, j) for j in range(len(columns) - 1) for i in range(len(rows) - 1)]
        tree: Tree[Any] = Tree()
        tops: list[Any] = []
        found = run(work, blocks, self._threads(held))
        for done, ((i, _), part) in enumerate(zip(blocks, found, strict=True), start=1):
            tree.put(i, part)
            if i == len(rows) - 2:
                tops.append(tree.result())
                tree = Tree()
            if progress is not None:
                progress(done, len(blocks))
        return tops[0] if len(tops) == 1 or tops[0] is None else type(tops[0]).join(tops)

    def columns(self, which: IntArray) -> Iterator[tuple[slice, int, Any]]:
        """Read some features again: rows, position of the first one among those asked for, and values.

        Parameters
        ----------
        which
            Positions of the features, in ascending order.
        """
        if self.client is not None:
            with self.on_cluster() as blocks:
                yield from blocks.columns(which)
            return
        rows, starts = self.starts
        for j in range(len(starts) - 1):
            lo, hi = np.searchsorted(which, starts[j : j + 2])
            if lo == hi:
                continue
            pick = partial(self._pick, j=j, places=which[lo:hi] - starts[j])
            values = run(pick, range(len(rows) - 1), self._threads(0))
            for i, part in enumerate(values):
                yield slice(int(rows[i]), int(rows[i + 1])), int(lo), part

    @contextlib.contextmanager
    def on_cluster(self) -> Iterator[Any]:
        """Make the blocks those of an array that the workers of the cluster read."""
        import dask  # noqa: PLC0415 - an extra

        from bayesieve.distributed.block_table import BlockTable  # noqa: PLC0415 - needs Dask

        with self.client.as_current(), dask.config.set(scheduler="dask.distributed"):
            self._check_workers()
            yield BlockTable.of_file(self.reader)

    def _check_workers(self) -> None:
        """Raise unless every worker finds the file."""
        path = os.path.abspath(self.reader.source)
        found = self.client.run(os.path.exists, path)
        without = [where for where, there in found.items() if not there]
        if without:
            raise FileError(
                f"{len(without)} of {len(found)} workers do not find {path}, the first is {without[0]}.",
                hint="Put the file where all of them see it, under the same name.",
                kind="workers-without-file",
            )

    def block(self, first_sample: int, first_feature: int) -> tuple[slice, slice]:
        """Return the samples and features of the block that begins at a place."""
        found = []
        for first, starts in zip((first_sample, first_feature), self.starts, strict=True):
            k = int(np.searchsorted(starts, first, side="right"))
            found.append(slice(int(starts[k - 1]), int(starts[k])))
        return found[0], found[1]

    def _pick(self, i: int, j: int, places: IntArray) -> Any:
        return picked(self._read((i, j), RETRIES), places)

    def _read(self, block: tuple[int, int], retries: int) -> Any:
        """Read a block; one that cannot be read is tried again, and then named."""
        rows, columns = (
            slice(int(starts[k]), int(starts[k + 1])) for k, starts in zip(block, self.starts, strict=True)
        )
        for attempt in range(retries + 1):
            try:
                return self.reader[rows, columns]
            except Exception as error:
                if attempt == retries:
                    place = Place(rows.start, columns.start, block, self.reader.source)
                    who = place.describe(rows.stop - rows.start, columns.stop - columns.start)
                    raise failed_block(who, error, retries) from error
        raise AssertionError("every attempt returns or raises")

    def _threads(self, held: int) -> int:
        """How many blocks are in memory at a time."""
        n_values = self.reader.shape[0] * self.reader.shape[1]
        room = int(self.memory // (_COPIES * self.reader.n_bytes + held))
        return max(1, min(n_threads_for(self.n_threads, n_values), room, self.n_blocks))


def passes_for(n_labellings: int, n_classes: int, n_features: int, most: int) -> tuple[int, int]:
    """Return how many labellings are summed in one pass, and how many passes all of them take.

    Parameters
    ----------
    n_labellings
        How many there are.
    n_classes, n_features
        Size of a statistic.
    most
        Bytes of statistics that a worker holds together.
    """
    together = max(1, most // (NUMBERS * n_classes * n_features))
    return together, -(-n_labellings // together)


def sum_labellings(
    total: Callable[[Any, SeveralLeaves], Several], leaf: Leaf, labellings: Any, together: int
) -> Iterator[Any]:
    """Yield a statistic for each labelling; so many at a time are summed in one pass.

    Parameters
    ----------
    total
        Sums the blocks, given the codes (samples x labellings) and the leaf.
    leaf
        Makes the statistic of one labelling.
    labellings
        Codes of all samples, one array for each.
    together
        How many are summed in one pass.
    """
    for lo in range(0, len(labellings), together):
        yield from total(np.column_stack(labellings[lo : lo + together]), SeveralLeaves(leaf)).parts
