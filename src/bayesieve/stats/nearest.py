"""A second look at chosen columns: how far a class's constant is from the nearest other value."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from bayesieve.data import is_sparse
from bayesieve.data.matrix import ValueBlocks
from bayesieve.stats.compiled import compiled

FloatArray = npt.NDArray[np.float64]


def nearest_distance(table: ValueBlocks, which: npt.NDArray[np.int64], constants: FloatArray) -> FloatArray:
    """Distance from each constant to the nearest different value of its column, 0 if there is none.

    Parameters
    ----------
    table
        The table.
    which
        Columns to look at.
    constants
        One value per class and chosen column, ``(n_classes, which.size)``.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve.data import LabelledMatrix
    >>> from bayesieve.stats.nearest import nearest_distance
    >>> matrix = LabelledMatrix.from_arrays([[0.0], [0.0], [3.0], [5.0]], ["a", "a", "b", "b"])
    >>> nearest_distance(matrix, np.array([0]), np.array([[0.0], [4.0]])).tolist()
    [[3.0], [1.0]]
    """
    steps = np.full(constants.shape, np.inf)
    for block in table.blocks(which):
        values = block.values
        if is_sparse(values):
            _look_sparse(
                values.data.astype(np.float64), values.indptr, values.shape[0], block.first, constants, steps
            )
        else:
            _look_dense(np.ascontiguousarray(values.T, dtype=np.float64), block.first, constants, steps)
    steps[np.isinf(steps)] = 0.0
    return steps


@compiled()
def _closer(value: float, column: int, constants: Any, steps: Any) -> None:
    for c in range(steps.shape[0]):
        distance = abs(value - constants[c, column])
        if 0.0 < distance < steps[c, column]:  # a NaN is neither
            steps[c, column] = distance


@compiled()
def _look_dense(block: Any, lo: int, constants: Any, steps: Any) -> None:
    for j in range(block.shape[0]):
        for i in range(block.shape[1]):
            _closer(block[j, i], lo + j, constants, steps)


@compiled()
def _look_sparse(data: Any, indptr: Any, n_rows: int, lo: int, constants: Any, steps: Any) -> None:
    for j in range(indptr.shape[0] - 1):
        if indptr[j + 1] - indptr[j] < n_rows:  # there is an implicit zero
            _closer(0.0, lo + j, constants, steps)
        for t in range(indptr[j], indptr[j + 1]):
            _closer(data[t], lo + j, constants, steps)
