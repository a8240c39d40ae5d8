"""The integral over the ratio of two variances: against mpmath at 30 digits, and a dense sum for many samples."""

from __future__ import annotations

import math

import mpmath as mp
import numpy as np
import pytest

from bayesieve.models.gaussian.variance_ratio import log_ratio_integral


def exact_log_integral(squares, counts, differences, free):
    """30 digits with mpmath, Gauss-Legendre over the cells that a scan in float64 finds to matter."""
    squares = [mp.mpf(float(s)) for s in squares]
    counts = [[mp.mpf(int(k)) for k in block] for block in counts]
    total = [sum(block[y] for block in counts) for y in (0, 1)]
    n = total[0] + total[1]
    full = [(*block, mp.mpf(float(d))) for block, d in zip(counts, differences, strict=True) if min(block) > 0]
    unit = sum(squares) + sum(n0 * n1 / (n0 + n1) * d**2 for n0, n1, d in full)

    def height(t, exp=mp.exp, log=mp.log, number=mp.mpf):
        ratio, s0, s1 = exp(t), number(squares[0]), number(squares[1])
        inverse = [1 / (1 / number(n0) + ratio / number(n1)) for n0, n1, _ in full]
        gaps = [number(d) for *_, d in full]
        w = sum(inverse)
        shift = sum(i * d for i, d in zip(inverse, gaps, strict=True)) / w if free else 0
        q = sum(i * (d - shift) ** 2 for i, d in zip(inverse, gaps, strict=True))
        value = -number(total[1]) * t / 2 - number(n) / 2 * log((s0 + s1 / ratio + q) / number(unit))
        return value - log(w * (number(total[0]) * ratio + number(total[1])) / number(n)) / 2 if free else value

    width = min(0.5, math.sqrt(2 / total[0] + 2 / total[1]))
    grid = np.arange(-130.0, 130.0, 2.0 * width)
    seen = height(grid, np.exp, np.log, float)
    top = seen.max()
    matters = np.flatnonzero(np.maximum(seen[:-1], seen[1:]) > top - 70)
    with mp.workdps(30):
        nodes = mp.calculus.quadrature.GaussLegendre(mp.mp).calc_nodes(4, 110)
        parts = []
        for i in matters:
            middle, half = mp.mpf(grid[i] + grid[i + 1]) / 2, mp.mpf(grid[i + 1] - grid[i]) / 2
            parts += [half * weight * mp.exp(height(middle + half * x) - top) for x, weight in nodes]
        return float(mp.log(mp.fsum(parts)) + top)


@pytest.mark.parametrize(
    ("squares", "counts", "differences", "free"),
    [
        ((1.0, 3.0), [(2, 2)], [0.7], False),
        ((1.0, 1e-6), [(3, 20)], [0.5], False),
        ((3.0, 3.0), [(6, 6)], [4.0], False),  # two modes that overlap
        ((1.0, 1.0), [(2, 2)], [1e6], False),  # two modes far apart
        ((1.0, 1.3), [(50, 50)], [20.0], False),  # two modes, one dominates
        ((1e-12, 1e-12), [(20, 30)], [1.0], False),
        ((1e-12, 1.0), [(5, 7)], [1.0], False),
        ((1.0, 2.0), [(3, 4), (5, 2)], [1.0, -3.0], True),
        ((1.0, 2.0), [(3, 4), (5, 2), (7, 0), (0, 3), (0, 0)], [1.0, -3.0, 9.0, 9.0, 9.0], True),
        ((1e-3, 2e-3), [(3, 4), (5, 2), (9, 9)], [1.0, -3.0, 100.0], True),
    ],
)
def test_the_integral_against_mpmath(squares, counts, differences, free):
    found = log_ratio_integral(
        np.array(squares)[:, None], np.array(counts)[:, :, None], np.array(differences)[:, None], free_shift=free
    )
    exact = exact_log_integral(squares, counts, differences, free)
    assert found[0] == pytest.approx(exact, rel=1e-12, abs=1e-12)


@pytest.mark.parametrize(
    ("squares", "n0", "n1", "difference"),
    [((1e6, 1.2e6), 10**6, 10**6, 0.001), ((1e6, 2.0), 10**6, 2, 0.5), ((1.0, 1.0), 2, 50_000, 1.0)],
)
def test_extreme_sizes_against_the_saddle_point_grid(squares, n0, n1, difference):
    """A dense sum on a fixed grid in extended precision, around the highest point of a scan."""
    s0, s1, d = (np.longdouble(v) for v in (*squares, difference))
    unit = s0 + s1 + np.longdouble(n0) * n1 / (n0 + n1) * d * d

    def height(t):
        ratio = np.exp(t)
        spread = s0 + s1 / ratio + d * d / (1 / np.longdouble(n0) + ratio / n1)
        return -np.longdouble(n1) / 2 * t - np.longdouble(n0 + n1) / 2 * np.log(spread / unit)

    coarse = np.arange(-40, 40, 1e-3, dtype=np.longdouble)
    peak = coarse[np.argmax(height(coarse))]
    width = math.sqrt(2 / n0 + 2 / n1)
    t = peak + np.linspace(-1, 1, 400_001, dtype=np.longdouble) * min(60.0, 40 * width)
    top = height(t).max()
    exact = float(top + np.log(np.sum(np.exp(height(t) - top)) * (t[1] - t[0])))
    found = log_ratio_integral(
        np.array(squares)[:, None], [[[n0], [n1]]], np.array([[difference]]), free_shift=False
    )
    assert found[0] == pytest.approx(exact, rel=1e-11, abs=1e-10)


def test_the_integral_exists_only_where_it_converges():
    squares = np.array([[1.0, 0.0, 1.0, 1.0], [1.0, 1.0, 0.0, 1.0]])
    counts = np.array([[[3, 3, 3, 3], [3, 3, 3, 1]]])
    found = log_ratio_integral(squares, counts, np.ones((1, 4)), free_shift=False)
    assert np.isfinite(found).tolist() == [True, False, False, False]


def test_threads_and_chunks_do_not_show(rng):
    squares, difference = rng.chisquare(8, size=(2, 9000)), rng.normal(size=(1, 9000))
    counts = np.array([[[9], [9]]])
    one, three = (
        log_ratio_integral(squares, counts, difference, free_shift=False, n_threads=threads) for threads in (1, 3)
    )
    few = log_ratio_integral(squares[:, 5000:5010], counts, difference[:, 5000:5010], free_shift=False)
    assert np.array_equal(one, three)
    assert np.array_equal(one[5000:5010], few)
