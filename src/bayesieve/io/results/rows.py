"""Rows of a delimited text, every one of which must be whole."""

from __future__ import annotations

import numpy as np

from bayesieve.utils import FileError

_QUOTE, _END, _RETURN = b'"\n\r'


def check_rows(path: str, data: bytes, delimiter: str) -> None:
    r"""Raise if a row of a delimited text has been cut short."""
    signs = np.frombuffer(data, dtype=np.uint8)
    open_ = np.bitwise_xor.accumulate(signs == _QUOTE) if _QUOTE in data else np.zeros(1, dtype=bool)
    ends = np.flatnonzero((signs == _END) & ~open_)
    if not ends.size or ends[-1] != signs.size - 1:
        raise FileError(
            f"{path} is damaged: it does not end with a line break, as every table of bayesieve screen does, so "
            "that its last row may have been cut. Write it again with bayesieve screen --out, or add the line "
            "break if the row is whole."
        )
    marks = np.flatnonzero((signs == ord(delimiter)) & ~open_)
    cells = np.diff(np.searchsorted(marks, ends), prepend=0) + 1
    starts = np.concatenate([[0], ends[:-1] + 1])
    empty = (ends - starts == 0) | ((ends - starts == 1) & (signs[starts] == _RETURN))
    wrong = np.flatnonzero((cells != cells[0]) & ~empty)
    if wrong.size:
        n, row = int(cells[wrong[0]]), int(wrong[0])
        raise FileError(
            f"{path} is damaged: row {row:,} has {n:,} cell{'s' * (n != 1)}, the header has {int(cells[0]):,}"
            f"{f' ({wrong.size:,} rows are like that)' if wrong.size > 1 else ''}. It has been cut short or "
            "changed; write it again with bayesieve screen --out."
        )
