"""Compiled loops over a tile of pairs: their evidence, sums of exponentials, the strongest, and counts."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from bayesieve.utils import compiled

COLLINEAR = 1e-11  # a share of the spread that may be rounding only
_NEAR = 1e-9
_FAR = 45.0  # a term so far below the largest does not change a sum of millions of them


@compiled(fastmath={"contract"})
def fill(
    first: Any, second: Any, lo: int, at: int, shares: Any, shifts: Any, least: Any, powers: Any,
    constant: float, usable: Any, proper: bool,
) -> int:  # fmt: skip
    """Turn correlations in both classes into the pair's part of the evidence, in the place of ``first``.

    Rows are features ``lo + i``, columns features ``at + j``. Pairs of a feature with itself or with one before it
    get -inf, as do those that have no evidence. Returns how many pairs are collinear in a class, to which an
    improper prior has no answer.
    """
    n_collinear = 0
    height, width = first.shape
    for i in range(height):
        a = lo + i
        one, other = first[i], second[i]
        if not usable[a]:
            for j in range(width):
                one[j] = -math.inf
            continue
        a0, a1, b0, b1 = shares[0, a], shares[1, a], shares[2, a], shares[3, a]
        v0, v1, v, d = shifts[0, a], shifts[1, a], shifts[2, a], shifts[3, a]
        for j in range(width):
            b = at + j
            if b <= a or not usable[b]:
                one[j] = -math.inf
                continue
            r0, r1 = one[j], other[j]
            q0, q1 = r0 * (a0 * shares[0, b]), r1 * (a1 * shares[1, b])
            q = r0 * (b0 * shares[2, b]) + r1 * (b1 * shares[3, b])
            t0, t1, t = 1.0 - q0 * q0, 1.0 - q1 * q1, 1.0 - q * q
            if t0 < _NEAR or t1 < _NEAR or t < _NEAR:
                t0 = max(t0, least[0, a] + least[0, b] - least[0, a] * least[0, b])
                t1 = max(t1, least[1, a] + least[1, b] - least[1, a] * least[1, b])
                t = max(t, least[2, a] + least[2, b] - least[2, a] * least[2, b])
                if not proper and (t0 < COLLINEAR or t1 < COLLINEAR):
                    n_collinear += 1
                    one[j] = -math.inf
                    continue
            w0, w1, w, e = shifts[0, b], shifts[1, b], shifts[2, b], shifts[3, b]
            if proper:
                t0 += v0 * v0 + w0 * w0 - 2.0 * q0 * v0 * w0
                t1 += v1 * v1 + w1 * w1 - 2.0 * q1 * v1 * w1
                cross = d * w - e * v
                t += (v * v + w * w - 2.0 * q * v * w) + cross * cross
            t += d * d + e * e - 2.0 * q * d * e
            one[j] = constant - (powers[0] * math.log(t0) + powers[1] * math.log(t1) + powers[2] * math.log(t))
    return n_collinear


@compiled()
def add_rows(tile: Any, at: int, weight: Any, best: Any, total: Any, partner: Any) -> None:
    """Add ``exp(tile[i, j] + weight[at + j])`` to the sums of rows: the largest term and a multiple of it."""
    height, width = tile.shape
    for i in range(height):
        row = tile[i]
        most, where = -math.inf, -1
        for j in range(width):
            value = row[j] + weight[at + j]
            if value > most:
                most, where = value, j
        if where < 0:
            continue
        if most > best[i]:
            total[i] = total[i] * math.exp(best[i] - most) if total[i] > 0.0 else 0.0
            best[i], partner[i] = most, at + where
        least, share = best[i] - _FAR, 0.0
        for j in range(width):
            value = row[j] + weight[at + j]
            if value > least:
                share += math.exp(value - best[i])
        total[i] += share


@compiled()
def add_columns(tile: Any, lo: int, weight: Any, best: Any, total: Any, partner: Any) -> None:
    """Add ``exp(tile[i, j] + weight[lo + i])`` to the sums of columns; see :func:`add_rows`."""
    height, width = tile.shape
    for i in range(height):
        row, own = tile[i], weight[lo + i]
        for j in range(width):
            value = row[j] + own
            if value > best[j]:
                total[j] = total[j] * math.exp(best[j] - value) if total[j] > 0.0 else 0.0
                best[j], partner[j] = value, lo + i
            if value > best[j] - _FAR:
                total[j] += math.exp(value - best[j])


@compiled()
def keep_strongest(
    tile: Any, lo: int, at: int, weight: Any, score: Any, one: Any, other: Any, kept: int
) -> int:  # fmt: skip
    """Keep the strongest pairs in a heap whose first is the weakest; ties go to the earlier pair."""
    height, width = tile.shape
    for i in range(height):
        row, own = tile[i], weight[lo + i]
        for j in range(width):
            value = row[j] + own + weight[at + j]
            if value == -math.inf:
                continue
            a, b = lo + i, at + j
            if kept < score.size:
                place = _rise(score, one, other, kept, value, a, b)
                kept += 1
            elif _weaker(score[0], one[0], other[0], value, a, b):
                place = _sink(score, one, other, value, a, b)
            else:
                continue
            score[place], one[place], other[place] = value, a, b
    return kept


@compiled()
def _rise(score: Any, one: Any, other: Any, place: int, value: float, a: int, b: int) -> int:
    """Make room for a pair, from the end of the heap on."""
    while place > 0:
        above = (place - 1) // 2
        if not _weaker(value, a, b, score[above], one[above], other[above]):
            break
        score[place], one[place], other[place] = score[above], one[above], other[above]
        place = above
    return place


@compiled()
def _sink(score: Any, one: Any, other: Any, value: float, a: int, b: int) -> int:
    """Make room for a pair in a full heap, whose first goes."""
    place, room = 0, score.size
    while 2 * place + 1 < room:
        below, next_one = 2 * place + 1, 2 * place + 2
        if next_one < room and _weaker(
            score[next_one], one[next_one], other[next_one], score[below], one[below], other[below]
        ):
            below = next_one
        if not _weaker(score[below], one[below], other[below], value, a, b):
            break
        score[place], one[place], other[place] = score[below], one[below], other[below]
        place = below
    return place


@compiled()
def _weaker(s: float, a: int, b: int, t: float, c: int, d: int) -> bool:
    if s != t:
        return s < t
    return a > c or (a == c and b > d)


@compiled()
def count_reaching(tile: Any, lo: int, at: int, weight: Any, ladder: Any, reached: Any) -> float:
    """Count pairs by the last rung that they reach, ``ladder`` rising; return the largest score."""
    height, width = tile.shape
    most, first = -math.inf, ladder[0] if ladder.size else math.inf
    for i in range(height):
        row, own = tile[i], weight[lo + i]
        for j in range(width):
            value = row[j] + own + weight[at + j]
            most = max(most, value)
            if value >= first:
                reached[np.searchsorted(ladder, value, side="right") - 1] += 1
    return most
