"""In which order the rows are summed: fixed blocks, inside a block class by class."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

IntArray = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class RowPlan:
    """Rows grouped by block and class, as an index and not as a copy.

    Parameters
    ----------
    rows
        Row numbers, sorted by block, then by class.
    starts
        ``starts[b, c]`` is where class ``c`` of block ``b`` begins in ``rows``; one more column
        closes the block.
    seen
        ``seen[b, c]`` samples of class ``c`` come before block ``b``.

    Notes
    -----
    Blocks are fixed by row number alone. Sums over a block and the order in which blocks are
    merged are therefore the same whatever the number of threads.
    """

    rows: IntArray
    starts: IntArray
    seen: IntArray

    @classmethod
    def build(cls, codes: IntArray, n_classes: int, block: int) -> RowPlan:
        """Plan the sums for the class codes of all samples.

        Examples
        --------
        >>> import numpy as np
        >>> from bayesieve.stats.row_plan import RowPlan
        >>> RowPlan.build(np.array([1, 0, 1, 0]), 2, 2).rows.tolist()
        [1, 0, 3, 2]
        """
        n = codes.size
        n_blocks = -(-n // block)
        key = (np.arange(n) // block) * n_classes + codes
        sizes = np.bincount(key, minlength=n_blocks * n_classes).reshape(n_blocks, n_classes)
        ends = np.cumsum(sizes).reshape(n_blocks, n_classes)
        starts = np.empty((n_blocks, n_classes + 1), dtype=np.int64)
        starts[:, 1:] = ends
        starts[:, 0] = ends[:, 0] - sizes[:, 0]
        seen = np.zeros((n_blocks, n_classes), dtype=np.int64)
        np.cumsum(sizes[:-1], axis=0, out=seen[1:])
        small = key.astype(np.uint16) if n_blocks * n_classes < 2**16 else key  # sorted by radix
        return cls(np.argsort(small, kind="stable"), starts, seen)

    @property
    def n_blocks(self) -> int:
        """Number of row blocks."""
        return int(self.starts.shape[0])
