"""Compiled parsing: text cut into records and fields, decimal numbers correctly rounded to float64.

Numbers of up to 19 digits are exact as integers. Small ones take one division or multiplication
that rounds once (Clinger 1990); the others take a product with a 128-bit power of five, of which
the leading bits are certain (Lemire 2021, "Number parsing at a gigabyte per second"). What neither
can decide is left to Python, which always can.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bayesieve.utils import compiled

FIRST_POWER, LAST_POWER = -300, 300  # powers of ten with a table entry; beyond, Python decides
_EXACT = 9007199254740992  # 2**53
_ONES = 0xFFFFFFFFFFFFFFFF
_POWERS_OF_TEN = 10.0 ** np.arange(23)
_SMALLEST = 53  # biased exponent below which a power of two leaves the normal numbers
_POWERS_OF_TWO = 2.0 ** (np.arange(_SMALLEST, 2047) - 1075)


def _power_table() -> Any:
    """Leading 128 bits of 5**q, rounded up for negative q, as pairs of 64-bit words."""
    table = np.empty((LAST_POWER - FIRST_POWER + 1, 2), dtype=np.uint64)
    for q in range(FIRST_POWER, LAST_POWER + 1):
        five = 5 ** abs(q)
        if q >= 0:
            shift = five.bit_length() - 128
            bits = five >> shift if shift > 0 else five << -shift
        else:
            bits = (1 << (five.bit_length() + 127)) // five + 1 if q >= -27 else (
                (1 << (2 * five.bit_length() + 128)) // five + 1
            )  # fmt: skip
            bits >>= max(bits.bit_length() - 128, 0)
        table[q - FIRST_POWER] = bits >> 64, bits & _ONES
    return table


POWERS_OF_FIVE = _power_table()


@compiled()
def product(a: Any, b: Any) -> tuple[Any, Any]:
    """Both words, low and high, of the product of two 64-bit words."""
    mask, half = np.uint64(0xFFFFFFFF), np.uint64(32)
    a0, a1, b0, b1 = a & mask, a >> half, b & mask, b >> half
    low, mid1, mid2, high = a0 * b0, a1 * b0, a0 * b1, a1 * b1
    carry = (low >> half) + (mid1 & mask) + (mid2 & mask)
    return (low & mask) | (carry << half), high + (mid1 >> half) + (mid2 >> half) + (carry >> half)


@compiled()
def _leading_zeros(w: Any) -> Any:
    n = np.uint64(0)
    for step in (32, 16, 8, 4, 2, 1):
        if w >> np.uint64(64 - step) == np.uint64(0):
            w = w << np.uint64(step)
            n += np.uint64(step)
    return n


@compiled()
def scaled(w: Any, q: int) -> tuple[float, bool]:
    """``w * 10**q`` rounded to the nearest float64, and whether that is certain."""
    if w <= np.uint64(_EXACT) and -22 <= q <= 22:
        value = np.float64(w)
        return (value / _POWERS_OF_TEN[-q] if q < 0 else value * _POWERS_OF_TEN[q]), True
    if w == np.uint64(0):
        return 0.0, True
    if q < FIRST_POWER or q > LAST_POWER:
        return 0.0, False
    zeros = _leading_zeros(w)
    w = w << zeros
    low, high = product(w, POWERS_OF_FIVE[q - FIRST_POWER, 0])
    if high & np.uint64(0x1FF) == np.uint64(0x1FF):  # the second word of the power may matter
        _, more = product(w, POWERS_OF_FIVE[q - FIRST_POWER, 1])
        low += more
        if more > low:
            high += np.uint64(1)
    if low == np.uint64(_ONES) or (low <= np.uint64(1) and -5 < q < 24):
        return 0.0, False  # next to a boundary, or possibly half-way between two numbers
    top = high >> np.uint64(63)
    bits = high >> (top + np.uint64(9))
    exponent = ((217706 * q) >> 16) + 63 + np.int64(top) - np.int64(zeros) + 1023
    bits = (bits + (bits & np.uint64(1))) >> np.uint64(1)
    if bits >= np.uint64(_EXACT):
        bits = bits >> np.uint64(1)
        exponent += 1
    if exponent < _SMALLEST or exponent >= 2047:
        return 0.0, False
    return np.float64(bits) * _POWERS_OF_TWO[exponent - _SMALLEST], True


SKIP = -1  # code of a field that is not wanted; 0, 1, ... are columns of values, -2, -3, ... are texts
_NEWLINE, _RETURN, _QUOTE, _SPACE = 10, 13, 34, 32
_NOT, _SURE, _UNSURE = 0, 1, 2


@compiled()
def _plain(buffer: Any, p: Any) -> bool:
    """Tell whether the next 64 bytes hold neither a newline nor a quotation mark."""
    part, hits = buffer[p : p + np.uint64(64)], np.uint8(0)
    for k in range(64):
        hits |= np.uint8(part[k] == _NEWLINE) | np.uint8(part[k] == _QUOTE)
    return bool(hits == 0)


@compiled()
def _blank(buffer: Any, p: Any, last: Any, delimiter: int) -> bool:
    """Tell whether a line holds nothing but delimiters, as Excel writes empty rows."""
    while p < last and (buffer[p] == delimiter or buffer[p] == _RETURN):
        p += np.uint64(1)
    return bool(p == last)


@compiled()
def find_records(
    buffer: Any, begin: int, end: int, delimiter: int, starts: Any, ends: Any
) -> tuple[int, Any, int]:
    """Find the records between two positions; blank lines are none.

    A newline inside quotes belongs to its field. Quotes count where a field begins.

    Returns
    -------
    number, rest, n_lines
        How many records were found (at most ``starts.size``), where the first unfinished one begins,
        and how many lines lie before that.
    """
    n, n_lines, lines_in_quotes, p, first = 0, 0, 0, np.uint64(begin), np.uint64(begin)
    stop, one, stride, quoted = np.uint64(end), np.uint64(1), np.uint64(64), False
    while p < stop and n < starts.shape[0]:
        if p + stride <= stop and _plain(buffer, p):
            p += stride
            continue
        limit = min(p + stride, stop)
        while p < limit:
            c = buffer[p]
            if quoted:
                quoted = c != _QUOTE
                lines_in_quotes += c == _NEWLINE
            elif c == _QUOTE:
                quoted = p == first or buffer[p - one] == delimiter or buffer[p - one] == _QUOTE
            elif c == _NEWLINE:
                if not _blank(buffer, first, p, delimiter):
                    starts[n], ends[n] = first, p
                    n += 1
                n_lines += 1 + lines_in_quotes
                first, lines_in_quotes = p + one, 0
                if n == starts.shape[0]:
                    break
            p += one
    return n, np.int64(first), n_lines


@compiled()
def _read_number(buffer: Any, p: Any, decimal: int) -> tuple[float, Any, int]:
    """Read a number that begins at ``p``: its value, where it ends, and whether it is one."""
    one, ten, zero, nine = np.uint64(1), np.uint64(10), np.uint64(48), np.uint64(9)
    negative = buffer[p] == 45
    if negative or buffer[p] == 43:
        p += one
    w, q, begin = np.uint64(0), 0, p
    digit = np.uint64(buffer[p]) - zero
    while digit <= nine:
        w = w * ten + digit
        p += one
        digit = np.uint64(buffer[p]) - zero
    n_digits = p - begin
    if buffer[p] == decimal:
        p += one
        point = p
        digit = np.uint64(buffer[p]) - zero
        while digit <= nine:
            w = w * ten + digit
            p += one
            digit = np.uint64(buffer[p]) - zero
        q = -np.int64(p - point)  # type: ignore[assignment]
        n_digits += p - point
    if n_digits == np.uint64(0):
        return 0.0, p, _NOT
    end = p
    if buffer[p] == 101 or buffer[p] == 69:
        power, p, fine = _read_power(buffer, p + one)
        if not fine:
            return 0.0, p, _NOT
        q += power
    if n_digits > np.uint64(19):
        value, sure = _long(buffer, begin, end, decimal, q)
    else:
        value, sure = scaled(w, q)
    return (-value if negative else value), p, (_SURE if sure else _UNSURE)


@compiled()
def _read_power(buffer: Any, p: Any) -> tuple[int, Any, bool]:
    one, zero, nine = np.uint64(1), np.uint64(48), np.uint64(9)
    negative = buffer[p] == 45
    if negative or buffer[p] == 43:
        p += one
    power, begin = 0, p
    digit = np.uint64(buffer[p]) - zero
    while digit <= nine:
        if power < 100_000:
            power = power * 10 + np.int64(digit)  # type: ignore[assignment]
        p += one
        digit = np.uint64(buffer[p]) - zero
    return (-power if negative else power), p, p > begin


@compiled()
def _long(buffer: Any, begin: Any, end: Any, decimal: int, q: int) -> tuple[float, bool]:
    """More than 19 digits: the first 19 decide unless the next whole number would give another result."""
    w, n, dropped, p = np.uint64(0), 0, 0, begin
    while p < end:
        if buffer[p] != decimal:
            digit = np.uint64(buffer[p]) - np.uint64(48)
            if n < 19:
                w = w * np.uint64(10) + digit
                n += 1 if w > np.uint64(0) else 0
            else:
                dropped += 1
        p += np.uint64(1)
    low, sure = scaled(w, q + dropped)
    if dropped == 0:
        return low, sure
    high, sure_too = scaled(w + np.uint64(1), q + dropped)
    return low, sure and sure_too and low == high


@compiled()
def _is_missing(buffer: Any, lo: Any, hi: Any, words: Any, lengths: Any) -> bool:
    size = np.int64(hi - lo)
    for k in range(words.shape[0]):
        if lengths[k] == size:
            same = True
            for j in range(size):
                if buffer[lo + np.uint64(j)] != words[k, j]:
                    same = False
                    break
            if same:
                return True
    return False


@compiled()
def _field(buffer: Any, p: Any, last: Any, delimiter: int) -> tuple[Any, Any, Any]:
    """Where the content of a field begins and ends, and where the delimiter or the end of its record is."""
    one = np.uint64(1)
    if buffer[p] == _QUOTE and p < last:
        lo = p + one
        p = lo
        while p < last:
            if buffer[p] == _QUOTE:
                if buffer[p + one] != _QUOTE:
                    break
                p += one
            p += one
        hi = p
        while p < last and buffer[p] != delimiter:
            p += one
    else:
        lo = p
        while p < last and buffer[p] != delimiter:
            p += one
        hi = p
    while hi > lo and (buffer[hi - one] == _RETURN or buffer[hi - one] == _SPACE):
        hi -= one
    while lo < hi and buffer[lo] == _SPACE:
        lo += one
    return lo, hi, p


@compiled()
def gather_texts(buffer: Any, spans: Any, out: Any) -> int:
    """Copy texts one after the other, each followed by a newline; return the number of bytes."""
    at = 0
    for i in range(spans.shape[0]):
        for p in range(spans[i, 0], spans[i, 1]):
            out[at] = buffer[p]
            at += 1
        out[at] = _NEWLINE
        at += 1
    return at


@compiled()
def read_fields(  # noqa: C901 - one loop, compiled
    buffer: Any, starts: Any, ends: Any, rows: Any, form: Any, codes: Any, missing: Any,
    values: Any, spans: Any, odd: Any,
) -> tuple[int, int]:  # fmt: skip
    """Read the records ``rows[0] : rows[1]`` into ``values`` and ``spans``.

    Returns
    -------
    n_odd, bad
        How many odd fields there are (more than fit into ``odd`` are only counted), and the first
        record with a wrong number of fields, or -1.
    """
    n_odd, n_fields = 0, codes.shape[0]
    one = np.uint64(1)
    delimiter, decimal = form
    words, lengths = missing
    for i in range(rows[0], rows[1]):
        p, last = np.uint64(starts[i]), np.uint64(ends[i])
        for f in range(n_fields):
            code = codes[f]
            done = False
            if code >= 0:
                value, after, state = _read_number(buffer, p, decimal)
                if state == _SURE and (buffer[after] == delimiter or after == last):
                    values[i, code] = value
                    p, done = after, True
            if not done:
                lo, hi, p = _field(buffer, p, last, delimiter)
                if code >= 0:
                    values[i, code] = np.nan
                    value, after, state = _read_number(buffer, lo, decimal)
                    if state == _SURE and after == hi and hi > lo:
                        values[i, code] = value
                    elif not _is_missing(buffer, lo, hi, words, lengths):
                        if n_odd < odd.shape[0]:
                            odd[n_odd, 0], odd[n_odd, 1] = i, f
                            odd[n_odd, 2], odd[n_odd, 3] = lo, hi
                        n_odd += 1
                elif code < SKIP:
                    spans[i, -2 - code, 0], spans[i, -2 - code, 1] = lo, hi
            if (p < last) != (f < n_fields - 1):
                return n_odd, i
            p += one
    return n_odd, -1
