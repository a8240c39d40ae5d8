r"""Which features of a set are distributed jointly: the form of :math:`p(S_y^G \mid G)` in section 2.1.

The features of :math:`G` are one part in every class, the others one part in the pooled sample. A structure
turns the log evidences of all sets, each taken as one jointly distributed block, into those of all sets,
each taken as a part.
"""

from __future__ import annotations

import abc
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bayesieve.errors import OptionError
from bayesieve.feature_sets.given import check_number, is_number, is_whole
from bayesieve.feature_sets.masks import FloatArray, mask_of, set_sizes, sums_over_sets
from bayesieve.posterior.over_sets import MOST_FEATURES
from bayesieve.stats.compiled import compiled

_MOST_AVERAGED = 16


class Structure(abc.ABC):
    """What is distributed jointly within a part.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve.feature_sets.structures import as_structures
    >>> good, bad = as_structures(("joint", "diagonal"), 2)
    >>> blocks = np.array([0.0, -1.0, -2.0, -5.0])
    >>> good.log_evidence(blocks).tolist(), bad.log_evidence(blocks).tolist()
    ([0.0, -1.0, -2.0, -5.0], [0.0, -1.0, -2.0, -3.0])
    """

    @abc.abstractmethod
    def log_evidence(self, blocks: FloatArray) -> FloatArray:
        """Log evidence of every set as a part, from those of every set as one block."""

    def largest_blocks(self, n_features: int) -> tuple[int, ...]:
        """Bit masks of blocks such that only they and their subsets are ever one block."""
        return (2**n_features - 1,)

    @property
    def most_features(self) -> int:
        """The largest number of features this can be worked out for."""
        return MOST_FEATURES


@dataclass(frozen=True, slots=True)
class Joint(Structure):
    """All features of a part are one block.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve.feature_sets.structures import Joint
    >>> Joint().log_evidence(np.array([0.0, -1.5])).tolist()
    [0.0, -1.5]
    """

    def log_evidence(self, blocks: FloatArray) -> FloatArray:
        """Return the evidences as they are."""
        return blocks


@dataclass(frozen=True, slots=True)
class Diagonal(Structure):
    """Every feature is a block of its own.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve.feature_sets.structures import Diagonal
    >>> Diagonal().log_evidence(np.array([0.0, -1.0, -2.0, -9.0])).tolist()
    [0.0, -1.0, -2.0, -3.0]
    """

    def log_evidence(self, blocks: FloatArray) -> FloatArray:
        """Add up the evidences of single features."""
        n_features = blocks.size.bit_length() - 1
        return sums_over_sets(blocks[2 ** np.arange(n_features)])

    def largest_blocks(self, n_features: int) -> tuple[int, ...]:
        """Single features."""
        return tuple(1 << f for f in range(n_features))


@dataclass(frozen=True, slots=True)
class Partition(Structure):
    """Given blocks, of which a part holds the features that belong to it.

    Parameters
    ----------
    blocks
        Disjoint blocks as bit masks that together hold all features.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve.feature_sets.structures import Partition
    >>> Partition((0b01, 0b10)).log_evidence(np.array([0.0, -1.0, -2.0, -9.0])).tolist()
    [0.0, -1.0, -2.0, -3.0]
    """

    blocks: tuple[int, ...]

    def log_evidence(self, blocks: FloatArray) -> FloatArray:
        """Add up the evidences of the blocks, each as far as it belongs to the part."""
        sets = np.arange(blocks.size)
        total = np.zeros(blocks.size)
        for block in self.blocks:
            total += blocks[sets & block]
        return total

    def largest_blocks(self, n_features: int) -> tuple[int, ...]:
        """The blocks themselves."""
        del n_features
        return self.blocks


@dataclass(frozen=True, slots=True)
class Average(Structure):
    r"""The partition of a part into blocks is unknown, and averaged over: all partitions are possible.

    Every class has its own partition of the features of :math:`G`, since section 2.1 takes the parameters of
    the classes as independent given :math:`G`.

    Parameters
    ----------
    cohesion
        Function of the size of a block; a partition has the weight of the product over its blocks,
        normalised within each part. None gives every partition the same weight.

    Notes
    -----
    With :math:`c` the cohesion and :math:`w` the evidence of a block, :math:`T(A) = \sum_{D} c(|D|) w(D)
    T(A \setminus D)` over the subsets :math:`D` of :math:`A` that hold its lowest feature: :math:`3^{|F|}`
    steps in all.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve.feature_sets.structures import Average
    >>> Average().log_evidence(np.log([1.0, 0.5, 0.5, 0.75])).round(6).tolist()  # (0.75 + 0.5 * 0.5) / 2
    [0.0, -0.693147, -0.693147, -0.693147]
    """

    cohesion: Callable[[int], float] | None = None

    @property
    def most_features(self) -> int:
        """The largest number of features this can be worked out for."""
        return _MOST_AVERAGED

    def log_evidence(self, blocks: FloatArray) -> FloatArray:
        """Average over all partitions of every set."""
        n_features = blocks.size.bit_length() - 1
        log_cohesion = np.array([_log_cohesion(self.cohesion, size) for size in range(1, n_features + 1)])
        sizes = set_sizes(n_features)
        weighted = blocks + np.concatenate(([0.0], log_cohesion))[sizes]
        return np.asarray(partition_sums(weighted) - _log_normaliser(log_cohesion)[sizes])


@compiled()
def partition_sums(blocks: Any) -> Any:
    """Log of the sum, over all partitions of each set, of the product of the weights of their blocks."""
    total = np.empty(blocks.shape[0])
    total[0] = 0.0
    for whole in range(1, blocks.shape[0]):
        low = whole & -whole
        rest = whole ^ low
        top = -math.inf
        others = rest
        while True:  # others: the subsets of the rest, which stay outside the block of the lowest feature
            top = max(top, blocks[whole ^ others] + total[others])
            if others == 0:
                break
            others = (others - 1) & rest
        summed = 0.0
        if top > -math.inf:
            others = rest
            while True:
                summed += math.exp(blocks[whole ^ others] + total[others] - top)
                if others == 0:
                    break
                others = (others - 1) & rest
        total[whole] = top + math.log(summed) if summed > 0.0 else -math.inf
    return total


def as_structures(structure: Any, n_features: int) -> tuple[Structure, Structure]:
    """Understand a structure, one for both parts or a pair for markers and non-markers.

    Parameters
    ----------
    structure
        ``"joint"``, ``"diagonal"``, ``"average"``, blocks of positions such as ``[[0, 2], [1]]`` (features
        that are not named stand alone), or a pair of these.
    n_features
        Number of features.

    Examples
    --------
    >>> from bayesieve.feature_sets.structures import as_structures
    >>> as_structures([[0, 2]], 3)[0]
    Partition(blocks=(5, 2))
    """
    good, bad = _pair(structure)
    found = _as_structure(good, n_features), _as_structure(bad, n_features)
    check_number(n_features, min(each.most_features for each in found))
    return found


def all_independent(structure: Any) -> bool:
    """Whether every feature stands alone, among markers and among the others.

    Examples
    --------
    >>> from bayesieve.feature_sets.structures import Diagonal, all_independent
    >>> all_independent("diagonal"), all_independent((Diagonal(), "diagonal")), all_independent("joint")
    (True, True, False)
    """
    return all(
        isinstance(NAMED.get(part) if isinstance(part, str) else part, Diagonal) for part in _pair(structure)
    )


def _pair(structure: Any) -> tuple[Any, Any]:
    """Return the structures of markers and of the others."""
    if isinstance(structure, tuple) and len(structure) == 2 and not any(map(_is_block, structure)):
        return structure
    return structure, structure


NAMED: dict[str, Structure] = {"diagonal": Diagonal(), "joint": Joint(), "average": Average()}


def _as_structure(structure: Any, n_features: int) -> Structure:
    if isinstance(structure, Structure):
        return structure
    if isinstance(structure, str) and structure in NAMED:
        return NAMED[structure]
    if isinstance(structure, str) or not isinstance(structure, Iterable) or not all(map(_is_block, structure)):
        raise OptionError(
            f"structure must be one of {', '.join(map(repr, NAMED))}, blocks of positions such as [[0, 2], [1]], "
            f"or a pair of these for markers and non-markers, not {structure!r}."
        )
    return _partition(list(structure), n_features)


def _partition(blocks: Sequence[Any], n_features: int) -> Partition:
    named = [f for block in blocks for f in block]
    wrong = [f for f in named if not 0 <= f < n_features]
    if wrong:
        raise OptionError(f"A block holds feature {wrong[0]}, but there are {n_features}, counted from 0.")
    if len(set(named)) < len(named):
        twice = next(f for f in named if named.count(f) > 1)
        raise OptionError(f"Feature {twice} is named more than once. Every feature belongs to one block.")
    alone = [1 << f for f in range(n_features) if f not in named]
    return Partition((*(mask_of(block) for block in blocks), *alone))


def _is_block(value: Any) -> bool:
    """Whether this is a sequence of positions, at least one."""
    if isinstance(value, (str, Structure)) or not isinstance(value, Sequence | np.ndarray) or not len(value):
        return False
    return all(map(is_whole, value))


def _log_cohesion(cohesion: Callable[[int], float] | None, size: int) -> float:
    value = 1.0 if cohesion is None else cohesion(size)
    if not is_number(value) or not 0.0 < value < math.inf:
        raise OptionError(
            f"The cohesion of a block of {size} features must be positive and finite, not {value!r}."
        )
    return math.log(value)


def _log_normaliser(log_cohesion: FloatArray) -> FloatArray:
    """Log of the sum of the weights of all partitions of 0, 1, ... features; Bell numbers if all are 1."""
    totals = [1.0]
    for size in range(1, log_cohesion.size + 1):
        terms = [math.comb(size - 1, k - 1) * math.exp(log_cohesion[k - 1]) * totals[size - k]
                 for k in range(1, size + 1)]  # fmt: skip
        totals.append(math.fsum(terms))
    return np.log(totals)
