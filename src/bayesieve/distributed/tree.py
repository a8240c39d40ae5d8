"""The fixed tree in which the statistics of blocks are merged.

Neighbours are merged two by two in the order of their numbers, and what is left over at the end of a level goes up
as it is. The shape depends on the number of leaves alone, so that the result is the same to the bit whoever
merges, and when. A node that takes a power of two of neighbours at once does the same merges in another place.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Generic, Protocol, Self, TypeVar

FAN_IN = 8  # neighbours that a node takes; a power of two, which does not change the tree


class Mergeable(Protocol):
    """What has a whole of two parts, such as :class:`bayesieve.Moments`."""

    def merge(self, other: Self) -> Self:
        """Both parts together."""
        ...


Part = TypeVar("Part", bound=Mergeable)


def merge_two(first: Part | None, second: Part | None) -> Part | None:
    """Merge two neighbours, either of which may be empty (None)."""
    if first is None or second is None:
        return second if first is None else first
    return first.merge(second)


def merge_neighbours(parts: Sequence[Part | None]) -> Part | None:
    """Merge parts in the order of their numbers, as the fixed tree does; None if all are empty."""
    level = list(parts)
    while len(level) > 1:
        odd = [level[-1]] if len(level) % 2 else []
        level = [merge_two(*level[k : k + 2]) for k in range(0, len(level) - 1, 2)] + odd
    return level[0] if level else None


class Tree(Generic[Part]):
    """Merge parts as they come, in whatever order: the result is that of :func:`merge_neighbours`.

    Two neighbours are merged as soon as both are there, so that parts that come roughly in order leave about
    ``log2(n)`` partial results in memory.
    """

    def __init__(self) -> None:
        self._held: dict[tuple[int, int], Part | None] = {}  # by level and place in it

    @property
    def n_held(self) -> int:
        """Number of partial results in memory."""
        return len(self._held)

    def put(self, number: int, part: Part | None, *, level: int = 0) -> None:
        """Add a part; None if it is empty.

        Parameters
        ----------
        number
            Its number among the parts of its level, from 0.
        part
            The part.
        level
            0 for a leaf; ``k`` for the whole of ``2**k`` neighbours that were merged elsewhere (fewer at the end).
        """
        if any(number >> (other - level) == place for other, place in self._held if other >= level):
            raise ValueError(f"Part {number} of level {level} was put into the tree before.")
        while (level, number ^ 1) in self._held:
            other = self._held.pop((level, number ^ 1))
            part = merge_two(other, part) if number & 1 else merge_two(part, other)
            level, number = level + 1, number >> 1
        self._held[level, number] = part

    def result(self) -> Any:
        """Return the whole; None if nothing was put in, or only what is empty."""
        ordered = sorted(self._held.items(), key=lambda item: item[0][1] << item[0][0])
        expected = 0
        for (level, place), _ in ordered:
            if place << level != expected:
                raise ValueError(f"Part {expected} is not in the tree.")
            expected = (place + 1) << level
        whole: Part | None = None
        for _, part in reversed(ordered):  # the right edge, from the smallest part up
            whole = merge_two(part, whole)
        return whole


def nodes(n_leaves: int, fan_in: int = FAN_IN) -> list[list[range]]:
    """Return, level by level, which parts of the level below every node takes; the last level has one node.

    Parameters
    ----------
    n_leaves
        Number of leaves, one at least.
    fan_in
        Neighbours that a node takes: a power of two.
    """
    if fan_in < 2 or fan_in & (fan_in - 1):
        raise ValueError(f"fan_in must be a power of two, not {fan_in}: any other changes the tree.")
    levels: list[list[range]] = []
    width = n_leaves
    while width > 1 or not levels:
        levels.append([range(lo, min(lo + fan_in, width)) for lo in range(0, width, fan_in)])
        width = len(levels[-1])
    return levels
