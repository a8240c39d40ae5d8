"""Decimal numbers to float64, correctly rounded, as fast as the bytes come in.

Numbers of up to 19 digits are exact as integers. Small ones take one division or multiplication
that rounds once (Clinger 1990); the others take a product with a 128-bit power of five, of which
the leading bits are certain (Lemire 2021, "Number parsing at a gigabyte per second"). What neither
can decide is left to Python, which always can.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bayesieve.stats.compiled import compiled

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
    """``w * 10**q`` rounded to the nearest float64, and whether that is certain.

    Parameters
    ----------
    w
        Whole number below 2**64, as uint64.
    q
        Power of ten.
    """
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
