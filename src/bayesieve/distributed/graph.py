"""The task graph of a sum over the blocks of a Dask array: one task per block, and the nodes of the tree.

Every block gets its own slice of the labels, inside a layer that stays symbolic: what is sent to a scheduler is
the labels themselves, a few bytes per node of the tree, and nothing per block.
"""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import dask
import dask.array as da
import numpy as np
import numpy.typing as npt
from dask.array.optimization import optimize
from dask.blockwise import Blockwise
from dask.delayed import Delayed
from dask.highlevelgraph import HighLevelGraph
from dask.layers import ArrayBlockwiseDep

from bayesieve.distributed.leaves import Leaf, Place, SeveralLeaves
from bayesieve.distributed.tree import merge_neighbours, nodes
from bayesieve.utils import BayesieveError


@dataclass(frozen=True, slots=True, eq=False)
class BlockLabels:
    """What is said of the samples of one block.

    Parameters
    ----------
    place
        Where the block lies.
    codes
        Class of each of its samples; samples x labellings if there are several.
    numbers
        Further numbers per sample, such as exposures; None if there are none.
    """

    place: Place
    codes: npt.NDArray[Any]
    numbers: npt.NDArray[Any] | None


class LabelSlices(ArrayBlockwiseDep):  # type: ignore[misc] # dask is not typed
    """Gives every block of an array its slice of the labels when tasks are made of the layer.

    Parameters
    ----------
    chunks
        Of the array.
    codes, numbers
        Of all samples.
    source
        Where the array comes from, for messages.
    """

    def __init__(self, chunks: Any, codes: npt.NDArray[Any], numbers: Any = None, source: str = "") -> None:
        super().__init__(chunks)
        self.codes, self.numbers, self.source = codes, numbers, source
        self.starts = [np.concatenate([[0], np.cumsum(sizes)]) for sizes in chunks]

    def __getitem__(self, idx: tuple[int, ...]) -> BlockLabels:
        """Return what belongs to one block."""
        i, j = idx
        first, last = int(self.starts[0][i]), int(self.starts[0][i + 1])
        place = Place(first, int(self.starts[1][j]), (i, j), self.source)
        numbers = None if self.numbers is None else self.numbers[first:last]
        return BlockLabels(place, self.codes[first:last], numbers)


@dataclass(frozen=True, slots=True)
class _BlockSum:
    """Sums one block; what is wrong with its values comes back as a value, since it would be wrong again."""

    leaf: Leaf | SeveralLeaves

    def __call__(self, values: Any, said: BlockLabels) -> Any:
        try:
            return self.leaf(values, said.codes, said.place, said.numbers)
        except BayesieveError as error:
            return error


def _merge(parts: Sequence[Any]) -> Any:
    """Merge neighbours; of errors the first."""
    return next((part for part in parts if isinstance(part, BayesieveError)), None) or merge_neighbours(parts)


def _join(parts: Sequence[Any]) -> Any:
    """Put the sums of all columns side by side."""
    error = next((part for part in parts if isinstance(part, BayesieveError)), None)
    if error is not None or len(parts) == 1 or parts[0] is None:
        return error or parts[0]
    return type(parts[0]).join(parts)


@dataclass(frozen=True, slots=True, eq=False)
class SumGraph:
    """The sum over the blocks of an array, not yet computed.

    Parameters
    ----------
    whole
        The sum.
    leaves
        The sums of the blocks.
    array
        The array that is summed.
    source
        Where it comes from, for messages.
    """

    whole: Delayed
    leaves: da.Array
    array: da.Array
    source: str = ""

    @classmethod
    def build(cls, array: Any, labels: LabelSlices, leaf: Leaf | SeveralLeaves) -> SumGraph:
        """Plan the sum of an array whose labels are given."""
        name = f"bayesieve-sum-{uuid.uuid4().hex}"
        leaves = da.blockwise(
            _BlockSum(leaf), "ij", array, "ij", labels, "ij", name=name, dtype=object,
            meta=np.empty((0, 0), dtype=object), align_arrays=False,
        )  # fmt: skip
        graph = _fused(leaves)
        tree, top = _tree(name, *leaves.numblocks)
        made = HighLevelGraph(
            {**graph.layers, f"{name}-tree": tree}, {**graph.dependencies, f"{name}-tree": {name}}
        )
        return cls(Delayed(top, made, layer=f"{name}-tree"), leaves, array, labels.source)

    def block_of(self, key: Any) -> tuple[int, int] | None:
        """Return which block a task reads or sums; None if it does something else."""
        if isinstance(key, tuple) and len(key) == 3 and str(key[0]).endswith(self.leaves.name):
            return int(key[1]), int(key[2])  # fused, the name of what is read stands before
        return None

    def place_of(self, block: tuple[int, int]) -> str:
        """Name a block for a message."""
        rows, columns = self.array.chunks
        place = Place(sum(rows[: block[0]]), sum(columns[: block[1]]), block, self.source)
        return place.describe(rows[block[0]], columns[block[1]])


def _fused(leaves: Any) -> HighLevelGraph:
    """Return the graph of the leaves in which reading and summing a block is one task."""
    graph = leaves.__dask_graph__()
    symbolic = all(isinstance(layer, Blockwise) for layer in graph.layers.values())
    with dask.config.set({"optimization.fuse.active": False if symbolic else None}):
        made = optimize(graph, list(leaves.__dask_keys__()))
    if isinstance(made, HighLevelGraph):
        return made
    return HighLevelGraph({leaves.name: made}, {leaves.name: set()})


def _tree(name: str, n_rows: int, n_columns: int) -> tuple[dict[Any, Any], str]:
    """Return the tasks of one tree per chunk of columns, and the key of their columns side by side."""
    tasks: dict[Any, Any] = {}
    tops = []
    for j in range(n_columns):
        below: list[Any] = [(name, i, j) for i in range(n_rows)]
        for level, groups in enumerate(nodes(n_rows)):
            here: list[Any] = [(f"{name}-{level}", k, j) for k in range(len(groups))]
            for key, group in zip(here, groups, strict=True):
                tasks[key] = (_merge, below[group.start : group.stop])
            below = here
        tops += below
    top = f"{name}-whole"
    tasks[top] = (_join, tops)
    return tasks, top
