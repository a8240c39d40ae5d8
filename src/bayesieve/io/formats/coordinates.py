"""Whole numbers of Matrix Market files, as programs for single cells write them: parsed by threads, to 32 bits.

Files that hold anything else, or anything odd, are left to SciPy, which reads them or says what is wrong.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from bayesieve.utils import compiled, for_each, n_threads_for, share

_BLOCK = 2**22  # bytes parsed together
_BEGIN = 2**12  # bytes with the header and its comments
_HEAD = ("%%matrixmarket", "matrix", "coordinate", "integer", "general")
_MOST = 2**31
Places = npt.NDArray[np.int32]


@dataclass(frozen=True, slots=True, eq=False)
class Coordinates:
    """Entries of a sparse matrix in the order of the file; ``row`` and ``col`` begin with 0."""

    shape: tuple[int, int]
    row: Places
    col: Places
    data: Places


def read_coordinates(read: Callable[[int], bytes], n_threads: int | None = None) -> Coordinates | None:
    """Read a matrix of whole numbers; None if the file is another one, or not as simple as usual."""
    blocks = _whole_lines(read)
    first = next(blocks, b"")
    head = _header(first)
    if head is None:
        return None
    n_rows, n_columns, n_entries, start = head
    if not (0 < n_rows < _MOST and 0 < n_columns < _MOST and 0 <= n_entries <= n_rows * n_columns):
        return None
    try:
        found = Coordinates((n_rows, n_columns), *(np.empty(n_entries, np.int32) for _ in range(3)))
    except MemoryError:  # a number of entries that cannot be meant
        return None
    done = _parse_all(blocks, first, start, found, n_threads_for(n_threads, n_entries))
    return found if done == n_entries else None


def _parse_all(blocks: Iterator[bytes], block: bytes, start: int, found: Coordinates, threads: int) -> int:
    """Parse all blocks, while further ones are read; return the number of entries, -1 if something is odd."""
    done = 0
    waiting: deque[Future[bool]] = deque()
    with ThreadPoolExecutor(threads) as pool:
        while block:
            text = np.frombuffer(block, dtype=np.uint8)
            end = done + _count_lines(text, start, text.size)
            if end > found.data.size:
                return -1
            places = (*found.shape, found.row, found.col, found.data, done, end)
            waiting.append(pool.submit(_parse, text, start, text.size, *places))
            if len(waiting) > 2 * threads and not waiting.popleft().result():
                return -1
            block, start, done = next(blocks, b""), 0, end
        return done if all(part.result() for part in waiting) else -1


def _header(block: bytes) -> tuple[int, int, int, int] | None:
    """Rows, columns and entries, and where the entries begin."""
    end = block.find(b"\n") + 1
    if tuple(block[:end].decode("ascii", "replace").lower().split()) != _HEAD:
        return None
    while block[end : end + 1] == b"%":
        end = block.find(b"\n", end) + 1
    stop = block.find(b"\n", end) + 1
    sizes = block[end:stop].split()
    if not end or len(sizes) != 3 or not all(size.isdigit() and len(size) < 18 for size in sizes):
        return None
    return int(sizes[0]), int(sizes[1]), int(sizes[2]), stop


def _whole_lines(read: Callable[[int], bytes]) -> Iterator[bytes]:
    """Yield blocks that end with a line."""
    rest, size = b"", max(_BLOCK, _BEGIN)
    while block := read(size):
        size, end = _BLOCK, block.rfind(b"\n") + 1
        if end:
            yield b"".join((rest, memoryview(block)[:end]))
            rest = b""
        rest += block[end:]
    if rest:
        yield rest + b"\n"


@compiled()
def _count_lines(text: Any, lo: int, hi: int) -> int:
    found = 0
    for begin in range(lo, hi, 128):  # few enough to be counted in bytes, many at a time
        few: Any = np.uint8(0)
        for i in range(begin, min(begin + 128, hi)):
            few += np.uint8(text[i] == 10)
        found += few
    return found


@compiled()
def _parse(
    text: Any, lo: int, hi: int, n_rows: int, n_columns: int, row: Any, col: Any, data: Any, at: int, end: int
) -> bool:
    """Parse whole lines ``row column value``; False if one is anything else. No number goes beyond its line."""
    i = lo
    while i < hi:
        first, i = _whole(text, i)
        i = _skip_blanks(text, i)
        second, i = _whole(text, i)
        i = _skip_blanks(text, i)
        if i < 0 or first < 1 or first > n_rows or second < 1 or second > n_columns:
            return False
        sign = 1
        if text[i] == 45:
            sign, i = -1, i + 1
        value, i = _whole(text, i)
        if i >= 0 and text[i] == 13:
            i += 1
        if i < 0 or text[i] != 10 or value > 2147483647 or at >= end:
            return False
        row[at], col[at], data[at] = first - 1, second - 1, sign * value
        i, at = i + 1, at + 1
    return at == end


@compiled()
def _whole(text: Any, i: int) -> tuple[int, int]:
    """A number of one to ten digits and the place behind it, which is -1 if there is none."""
    if i < 0:
        return 0, -1
    value: Any = 0
    begin, digit = i, np.int64(text[i]) - 48
    while 0 <= digit <= 9:
        value = 10 * value + digit
        i += 1
        digit = np.int64(text[i]) - 48
    return (value, i) if 0 < i - begin <= 10 else (0, -1)


@compiled()
def _skip_blanks(text: Any, i: int) -> int:
    """The place behind one or more blanks; -1 if there is none."""
    if i < 0 or (text[i] != 32 and text[i] != 9):
        return -1
    while text[i] == 32 or text[i] == 9:
        i += 1
    return i


def is_ascending(major: Any, minor: Any, n_threads: int | None = None) -> bool:
    """Whether entries are in order, none of them twice."""
    threads = n_threads_for(n_threads, major.size)
    parts = share(max(major.size - 1, 1), threads)
    right = np.zeros(len(parts), dtype=bool)

    def look(k: int) -> None:
        right[k] = _ascending(major, minor, *parts[k])

    for_each(look, range(len(parts)), threads)
    return bool(right.all())


@compiled()
def _ascending(major: Any, minor: Any, lo: int, hi: int) -> bool:
    """Whether each of some entries comes before the next one."""
    odd = 0
    for k in range(lo, min(hi, major.shape[0] - 1)):
        later = major[k + 1] > major[k] or (major[k + 1] == major[k] and minor[k + 1] > minor[k])
        odd += 0 if later else 1
    return odd == 0
