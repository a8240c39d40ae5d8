"""Float64 to a short decimal that reads back as the same number, in the form of Python's ``repr``.

Seventeen significant digits are cut from the product with a 128-bit power of five. Fifteen or
sixteen are used instead where reading them gives the number again; that is tried, not derived, so
whatever is written does round-trip. What cannot be settled this way is left to ``repr``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from bayesieve.io.text.fields import FIRST_POWER, LAST_POWER, POWERS_OF_FIVE, product, scaled
from bayesieve.utils import compiled

_LONGEST = 26  # bytes of one number and its newline
_NEWLINE, _POINT, _MINUS, _PLUS, _ZERO, _E = 10, 46, 45, 43, 48, 101


@compiled()
def _seventeen(x: float, k: Any) -> tuple[Any, Any]:
    """Cut ``x / 10**(k - 16)`` to a whole number, for positive ``x``; the second is 1 if it should go up."""
    q = 16 - k
    fraction, exponent = math.frexp(x)
    m = np.uint64(fraction * 9007199254740992.0) << np.uint64(11)
    low, high = product(m, POWERS_OF_FIVE[q - FIRST_POWER, 0])
    _, more = product(m, POWERS_OF_FIVE[q - FIRST_POWER, 1])
    low += more
    if low < more:
        high += np.uint64(1)
    shift = 63 - exponent - ((152170 * q) >> 16) - q  # of the high word
    if shift <= 0 or shift >= 64:
        return np.uint64(0), np.uint64(0)
    return high >> np.uint64(shift), (high >> np.uint64(shift - 1)) & np.uint64(1)


@compiled()
def _shortest(x: float) -> tuple[Any, Any, bool]:
    """Digits as a whole number, power of ten, and whether they read back as ``x``."""
    k: Any = np.int64(math.floor(math.log10(x)))
    if 16 - k < FIRST_POWER or 16 - k > LAST_POWER:
        return np.uint64(0), 0, False
    digits, up = _seventeen(x, k)
    if digits < np.uint64(10**16):
        k -= 1
        digits, up = _seventeen(x, k)
    elif digits >= np.uint64(10**17):
        k += 1
        digits, up = _seventeen(x, k)
    sixteen = (digits + np.uint64(5)) // np.uint64(10)
    fifteen = (digits + np.uint64(50)) // np.uint64(100)
    value, sure = scaled(sixteen, k - 15)
    if (sure and value == x) or fifteen * np.uint64(10) == sixteen:
        shorter, surely = scaled(fifteen, k - 14)
        if surely and shorter == x:
            return fifteen, k - 14, True
    if sure and value == x:
        return sixteen, k - 15, True
    digits += up
    value, sure = scaled(digits, k - 16)
    return digits, k - 16, bool(sure and value == x)


@compiled()
def _put_digits(out: Any, at: int, digits: Any, n: int) -> None:
    for i in range(n - 1, -1, -1):
        rest = digits // np.uint64(10)
        out[at + i] = np.uint8(digits - rest * np.uint64(10)) + _ZERO
        digits = rest


@compiled()
def _put_zeros(out: Any, at: int, n: int) -> int:
    for i in range(n):
        out[at + i] = _ZERO
    return at + max(n, 0)


@compiled()
def _put(out: Any, at: int, digits: Any, power: int) -> int:
    """Write ``digits * 10**power`` as ``repr`` does; return where it ends."""
    while digits % np.uint64(10) == np.uint64(0):
        digits //= np.uint64(10)
        power += 1
    n, rest = 1, digits // np.uint64(10)
    while rest > np.uint64(0):
        n += 1
        rest //= np.uint64(10)
    exponent = n - 1 + power
    if exponent < -4 or exponent >= 16:
        _put_digits(out, at + (n > 1), digits, n)
        if n > 1:
            out[at] = out[at + 1]
            out[at + 1] = _POINT
        at += n + (n > 1)
        out[at] = _E
        out[at + 1] = _MINUS if exponent < 0 else _PLUS
        size = 3 if abs(exponent) >= 100 else 2
        _put_digits(out, at + 2, np.uint64(abs(exponent)), size)
        return at + 2 + size
    if exponent < 0:  # 0.00ddd
        out[at] = _ZERO
        out[at + 1] = _POINT
        at = _put_zeros(out, at + 2, -exponent - 1)
        _put_digits(out, at, digits, n)
        return at + n
    if power >= 0:  # ddd00.0
        _put_digits(out, at, digits, n)
        at = _put_zeros(out, at + n, power)
        out[at] = _POINT
        out[at + 1] = _ZERO
        return at + 2
    _put_digits(out, at + 1, digits, n)  # dd.ddd
    for i in range(n + power):
        out[at + i] = out[at + i + 1]
    out[at + n + power] = _POINT
    return at + n + 1


@compiled()
def _print_all(values: Any, out: Any, left: Any) -> tuple[int, int]:
    at, n_left = 0, 0
    for i in range(values.shape[0]):
        x = values[i]
        done = False
        if np.isfinite(x) and x != 0.0:
            digits, power, done = _shortest(abs(x))
            if done:
                if x < 0.0:
                    out[at] = _MINUS
                    at += 1
                at = _put(out, at, digits, power)
        if not done:
            left[n_left] = i
            n_left += 1
        out[at] = _NEWLINE
        at += 1
    return at, n_left


def number_bytes(values: npt.ArrayLike) -> bytes:
    r"""Return numbers as texts that read back exactly, each ended by a newline; NaN is an empty text."""
    array = np.ascontiguousarray(values, dtype=np.float64).view()
    array.flags.writeable = False
    out, left = np.empty(_LONGEST * array.size + 1, np.uint8), np.empty(array.size, np.int64)
    end, n_left = _print_all(array, out, left)
    printed = out[:end].tobytes()
    if not n_left:
        return printed
    texts = printed.split(b"\n")
    for i in left[:n_left].tolist():
        value = float(array[i])
        texts[i] = b"" if math.isnan(value) else repr(value).encode()
    return b"\n".join(texts)


@compiled()
def _interleave(joined: Any, cursors: Any, n_rows: int, delimiter: int, out: Any) -> None:
    at = 0
    for _ in range(n_rows):
        for k in range(cursors.shape[0]):
            p = cursors[k]
            while joined[p] != _NEWLINE:
                out[at] = joined[p]
                at += 1
                p += 1
            cursors[k] = p + 1
            out[at] = delimiter if k < cursors.shape[0] - 1 else _NEWLINE
            at += 1


def side_by_side(columns: Sequence[bytes], n_rows: int, delimiter: str) -> bytes:
    r"""Put columns, each of ``n_rows`` texts ended by newlines, beside each other."""
    joined = np.frombuffer(b"".join(columns), np.uint8)
    cursors = np.cumsum([0, *map(len, columns)])[:-1]
    out = np.empty(joined.size, np.uint8)
    _interleave(joined, cursors, n_rows, ord(delimiter), out)
    return out.tobytes()
