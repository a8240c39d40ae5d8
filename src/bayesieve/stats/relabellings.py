"""Permutations of class labels: drawn without replacement, or all of them."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from bayesieve.errors import OptionError

FloatArray = npt.NDArray[np.float64]
Codes = npt.NDArray[np.integer[Any]]


def n_labellings(counts: Sequence[int]) -> int:
    """Return in how many ways samples can be dealt to classes of these sizes.

    Examples
    --------
    >>> from bayesieve.stats.relabellings import n_labellings
    >>> n_labellings([3, 3]), n_labellings([2, 2, 2])
    (20, 90)
    """
    return math.prod(math.comb(sum(counts[: k + 1]), n) for k, n in enumerate(counts))


@dataclass(frozen=True, slots=True, eq=False)
class Relabellings:
    """Permutations of the labels, all different from each other and from the labels as they are.

    Parameters
    ----------
    codes
        Class of every sample under each of them, ``(n_permutations, n_samples)``, in small integers.
    counts
        Samples per class, the same under all.
    complete
        Whether there are no others.
    """

    codes: Codes
    counts: npt.NDArray[np.int64]
    complete: bool

    def __post_init__(self) -> None:
        self.codes.flags.writeable = False

    @classmethod
    def draw(
        cls, codes: npt.NDArray[np.int64], n_classes: int, n_permutations: int, seed: Any = 0
    ) -> Relabellings:
        """Draw permutations without replacement, or take all there are if no more were asked for.

        Parameters
        ----------
        codes
            Class of every sample.
        n_classes
            Number of classes.
        n_permutations
            How many are wanted.
        seed
            Of NumPy's generator, or a generator.

        Examples
        --------
        >>> import numpy as np
        >>> from bayesieve.stats.relabellings import Relabellings
        >>> few = Relabellings.draw(np.array([0, 1, 1]), 2, 1000)
        >>> few.codes.tolist(), few.complete
        ([[1, 0, 1], [1, 1, 0]], True)
        """
        counts = np.bincount(codes, minlength=n_classes)
        own = codes.astype(np.min_scalar_type(n_classes))
        others = n_labellings(counts.tolist()) - 1
        if others < 1:
            raise OptionError(
                "Labels can be permuted only if at least two classes have samples: there is one way to deal them."
            )
        complete = others <= n_permutations
        rows: dict[bytes, Any] = {own.tobytes(): None}
        if complete:
            rows.update((row.tobytes(), row) for row in _all_labellings(counts.tolist(), own.dtype))
        rng = np.random.default_rng(seed)
        while len(rows) <= min(n_permutations, others):
            row = rng.permutation(own)
            rows.setdefault(row.tobytes(), row)
        rows.pop(own.tobytes())
        return cls(np.array(list(rows.values())), counts, complete)

    @property
    def n_permutations(self) -> int:
        """How many."""
        return int(self.codes.shape[0])

    @property
    def order(self) -> npt.NDArray[np.int64]:
        """The classes, the largest one last."""
        largest = int(np.argmax(self.counts))
        return np.array([*(k for k in range(self.counts.size) if k != largest), largest])

    def members(self, which: slice) -> list[FloatArray]:
        """Say who belongs to each class but the largest: ``(n_samples, n_permutations)``, 1 or 0.

        Examples
        --------
        >>> import numpy as np
        >>> from bayesieve.stats.relabellings import Relabellings
        >>> Relabellings.draw(np.array([0, 1, 1]), 2, 1000).members(slice(0, 2))[0].tolist()
        [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]]
        """
        codes = np.ascontiguousarray(self.codes[which].T)
        return [np.asarray(codes == k, dtype=np.float64) for k in self.order[:-1]]


def _all_labellings(counts: list[int], dtype: Any) -> Iterator[Any]:
    """Deal the places of the first class in every way, then those of the others among what is left."""

    def deal(row: Any, k: int) -> Iterator[Any]:
        free = np.flatnonzero(row == len(counts))
        if k == len(counts) - 1:
            row[free] = k
            yield row
            return
        for chosen in itertools.combinations(free.tolist(), counts[k]):
            dealt = row.copy()
            dealt[list(chosen)] = k
            yield from deal(dealt, k + 1)

    yield from deal(np.full(sum(counts), len(counts), dtype), 0)
