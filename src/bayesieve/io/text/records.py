"""A text file as batches of whole records (lines, unless a quoted field holds a newline)."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from bayesieve.io.text.fields import find_records
from bayesieve.io.text.files import TextBytes
from bayesieve.io.text.footers import HELD, Footers
from bayesieve.utils import FileError, option

_LONGEST = 2**28  # bytes of one record


@dataclass(frozen=True, slots=True, eq=False)
class Batch:
    """Whole records: their bytes, and where each begins and ends (at its newline).

    Parameters
    ----------
    name
        The file, for messages.
    data, buffer
        The bytes, and the same as an array.
    starts, ends
        Position of the first byte and of the newline of each record.
    first_line
        Number of the line in the file with which ``data`` begins.
    """

    name: str
    data: bytes | bytearray
    buffer: npt.NDArray[np.uint8]
    starts: npt.NDArray[np.int64]
    ends: npt.NDArray[np.int64]
    first_line: int

    def __len__(self) -> int:
        return int(self.starts.size)

    def line(self, record: int) -> int:
        """Return the number of the line, from 1, on which a record begins."""
        return self.first_line + self.data.count(b"\n", 0, int(self.starts[record]))

    def record(self, record: int) -> str:
        """Return a record as text, without its newline."""
        return self.text(int(self.starts[record]), int(self.ends[record]), record).rstrip("\r")

    def text(self, lo: int, hi: int, record: int) -> str:
        """Decode some bytes of a record."""
        try:
            return self.data[lo:hi].decode("utf-8").replace('""', '"')
        except UnicodeDecodeError:
            raise FileError(
                f"{self.name}, line {self.line(record)}: the text is not UTF-8.",
                hint=(
                    "Name its encoding, for example ",
                    option("encoding", "latin-1"),
                    " (files from older Windows programs: ",
                    option("encoding", "cp1252"),
                    ").",
                ),
            ) from None


def batches(
    stream: TextBytes, delimiter: str, *, group: int, block: int, first_line: int = 1, stop: bytes | None = None,
    footers: Footers | None = None,
) -> Iterator[Batch]:  # fmt: skip
    """Cut a stream into batches of a multiple of ``group`` records; the last one holds what is left.

    Remarks below the table are left out, if there may be any.
    """
    with ThreadPoolExecutor(1) as pool:
        ahead, n_rest, ended = pool.submit(stream.read, block), 0, False
        while not ended:
            data = ahead.result()
            ended = len(data) == n_rest
            if stop is not None:
                data, ended, stop = _until(stream.name, data, stop, ended)
            whole_lines = data[-1:] == b"\n"
            data += b"\n" if ended and data and not whole_lines else b""
            starts, ends, whole, n_lines = _records(data, ord(delimiter))
            if ended and whole < len(data):
                _raise_unfinished(stream.name, data, whole, first_line)
            ready = len(starts)
            if footers is not None and ended:
                ready -= footers.count(data, starts, ends, ended=whole_lines)
            elif footers is not None:  # remarks come together with the last records
                ready = int(np.searchsorted(ends, len(data) - HELD)) if len(data) >= block else 0
            keep = ready if ended else ready - ready % group
            cut = whole if keep == len(starts) else int(starts[keep])
            if not keep:
                cut, n_lines = 0, 0
                if len(data) - (int(starts[-1]) if len(starts) else 0) > _LONGEST:
                    _raise_unfinished(stream.name, data, whole, first_line)
            if not ended:
                n_rest = len(data) - cut
                ahead = pool.submit(stream.read, block if keep else max(block, len(data)), data[cut:])
            if keep:
                buffer = np.frombuffer(data, np.uint8)
                yield Batch(stream.name, data, buffer, starts[:keep], ends[:keep], first_line)
            first_line += n_lines - (data.count(b"\n", cut, whole) if cut else 0)


def _until(
    name: str, data: bytes | bytearray, stop: bytes, ended: bool
) -> tuple[bytes | bytearray, bool, bytes | None]:
    """Cut the data where the table ends; it must end."""
    found = _line_with(data, stop)
    if found >= 0:
        return data[:found], True, None
    if ended:
        raise FileError(
            f"{name} is cut short: the line {stop.decode()} that ends its table is not there. Fetch it again."
        )
    return data, ended, stop


def _line_with(data: bytes | bytearray, words: bytes) -> int:
    found = data.find(words)
    while found > 0 and data[found - 1] != 10:
        found = data.find(words, found + 1)
    return found


def _records(data: bytes | bytearray, delimiter: int) -> tuple[Any, Any, int, int]:
    buffer = np.frombuffer(data, np.uint8)
    starts, ends, whole, n_lines, size = [], [], 0, 0, 4096
    while True:
        begin, end = np.empty(size, np.int64), np.empty(size, np.int64)
        n, rest, passed = find_records(buffer, whole, buffer.size, delimiter, begin, end)
        starts.append(begin[:n])
        ends.append(end[:n])
        whole, n_lines = int(rest), n_lines + passed
        if n < size:
            return np.concatenate(starts), np.concatenate(ends), whole, n_lines
        size *= 4


def _raise_unfinished(name: str, data: bytes | bytearray, whole: int, first_line: int) -> None:
    line = first_line + data.count(b"\n", 0, whole)
    raise FileError(
        f"{name}, line {line}: a quotation mark is opened and never closed, so that the record has no end. "
        "Close or remove it."
    )
