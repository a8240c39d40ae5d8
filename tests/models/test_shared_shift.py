"""Blocks with a shared shift: against brute-force integration of the likelihood over every parameter."""

from __future__ import annotations

import math

import numpy as np
import pytest

import bayesieve as bs
from bayesieve.models.gaussian.shared_shift import shared_shift_log_bayes_factor

GRID = np.arange(-8.4, 8.5, 0.6)  # a trapezoidal sum over a normal density on this grid is exact to 1e-11
STEP = 0.2

TWO_BLOCKS = [([0.1, -0.4, 0.3], [1.2, 0.7]), ([5.2, 4.7], [6.1, 5.9, 6.6])]
OPPOSED = [([0.1, -0.4, 0.3], [1.2, 0.7]), ([6.2, 5.7], [4.1, 4.9, 4.6])]
LACKING = [*TWO_BLOCKS, ([2.0, 2.2, 3.1], []), ([], [7.0, 9.0]), ([1.0], []), ([], [])]


def block_moments(blocks):
    return [
        bs.Moments.from_matrix(np.array([*x0, *x1], float)[:, None], [0] * len(x0) + [1] * len(x1), classes=(0, 1))
        if x0 or x1
        else bs.Moments((0, 1), [0, 0], np.zeros((2, 1)), np.zeros((2, 1)))
        for x0, x1 in blocks
    ]


def log_normal(values, mean, variance):
    total = np.zeros(np.broadcast_shapes(np.shape(mean), np.shape(variance)))
    for x in values:
        total += -0.5 * np.log(2 * np.pi * variance) - 0.5 * (x - mean) ** 2 / variance
    return total


def over_location(x0, x1, shift, v0, v1):
    """Integrate one block's likelihood over its location, with the prior density of the location."""
    n = len(x0) + len(x1)
    precision = len(x0) / v0 + len(x1) / v1
    centre = (sum(x0) / v0 + (sum(x1) - len(x1) * shift) / v1) / precision
    location = centre[..., None] + GRID / np.sqrt(precision)[..., None]
    total = log_normal(x0, location, v0[..., None]) + log_normal(x1, location + shift[..., None], v1[..., None])
    prior = np.sqrt(precision / n)
    return np.exp(total).sum(axis=-1) * 0.6 / np.sqrt(precision) * prior


def brute_log_bayes_factor(blocks):
    """Sums over locations, shift and log variances, from the raw values and the priors as stated; L = 1."""
    blocks = [block for block in blocks if block[0] or block[1]]
    N0, N1 = (sum(len(block[y]) for block in blocks) for y in (0, 1))
    v = np.exp(np.arange(-6.0, 46.0 / min(N0, N1), STEP))
    single = np.ones_like(v)
    for x0, x1 in blocks:
        single = single * over_location(x0, x1, np.zeros_like(v), v, v)
    v0, v1 = np.meshgrid(v, v, indexing="ij")
    centre, width = np.zeros_like(v0), np.zeros_like(v0)
    for x0, x1 in blocks:
        if x0 and x1:
            weight = 1 / (v0 / len(x0) + v1 / len(x1))
            centre, width = centre + weight * (np.mean(x1) - np.mean(x0)), width + weight
    shift = (centre / width)[..., None] + GRID / np.sqrt(width)[..., None]
    w0, w1 = (np.broadcast_to(w[..., None], shift.shape) for w in (v0, v1))
    total = ((N0 * w1 + N1 * w0) / (N0 + N1)) ** -0.5
    for x0, x1 in blocks:
        total = total * over_location(x0, x1, shift, w0, w1)
    marker = (total.sum(axis=-1) * 0.6 / np.sqrt(width)).sum() * STEP**2
    return math.log(marker / (single.sum() * STEP))


@pytest.mark.parametrize("blocks", [TWO_BLOCKS, OPPOSED, LACKING], ids=["alike", "opposed", "lacking"])
def test_against_brute_force_over_all_parameters(blocks):
    found = shared_shift_log_bayes_factor(block_moments(blocks), 1.0)
    assert found[0] == pytest.approx(brute_log_bayes_factor(blocks), abs=1e-8)


def test_one_block_is_two_class_obf(rng):
    x = rng.normal(size=(13, 50)) * rng.lognormal(size=50)
    x[6:] += rng.normal(size=50)
    moments = bs.Moments.from_matrix(x, [0] * 6 + [1] * 7)
    expected = bs.GaussianModel.jeffreys(0.1).log_bayes_factor(moments)
    assert shared_shift_log_bayes_factor([moments], 0.1) == pytest.approx(expected, rel=1e-11, abs=1e-11)


def test_blocks_without_values_and_the_order_of_blocks_change_nothing():
    blocks = block_moments(TWO_BLOCKS)
    plain = shared_shift_log_bayes_factor(blocks, 0.1)
    empty = block_moments([([], [])])
    assert shared_shift_log_bayes_factor([*blocks, *empty], 0.1) == pytest.approx(plain, rel=1e-13)
    assert shared_shift_log_bayes_factor(blocks[::-1], 0.1) == pytest.approx(plain, rel=1e-13)


def test_invariant_under_block_shifts_a_common_scale_and_swapped_classes():
    plain = shared_shift_log_bayes_factor(block_moments(LACKING), 0.1)
    moved = [
        ([-3.0 * x + 100.0 * b for x in x0], [-3.0 * x + 100.0 * b for x in x1])
        for b, (x0, x1) in enumerate(LACKING)
    ]
    assert shared_shift_log_bayes_factor(block_moments(moved), 0.1) == pytest.approx(plain, rel=1e-10)
    swapped = [(x1, x0) for x0, x1 in LACKING]
    assert shared_shift_log_bayes_factor(block_moments(swapped), 0.1) == pytest.approx(plain, rel=1e-11)


def test_a_shift_that_agrees_tells_more_than_shifts_that_oppose():
    alike, opposed = (shared_shift_log_bayes_factor(block_moments(b), 0.1)[0] for b in (TWO_BLOCKS, OPPOSED))
    assert alike > opposed + 3.0


def test_more_power_than_adding_up_blocks(rng):
    """Eight blocks of 3 + 3, a shift of one standard deviation, block effects of five."""
    values = rng.normal(size=(8, 6, 400)) + 5.0 * rng.normal(size=(8, 1, 400))
    values[:, 3:, :200] += 1.0
    blocks = [bs.Moments.from_matrix(block, [0] * 3 + [1] * 3) for block in values]
    shared = shared_shift_log_bayes_factor(blocks, 0.1)
    added = sum(bs.GaussianModel.jeffreys(0.1).log_bayes_factor(block) for block in blocks)

    def separation(score):
        return (score[:200, None] > score[None, 200:]).mean()

    assert separation(shared) > separation(added) + 0.05


def test_features_without_an_answer_are_nan():
    x = np.array([[1.0, 1.0, 1.0], [1.0, 2.0, 3.0], [1.0, 4.0, np.nan], [5.0, 5.0, np.nan], [7.0, 9.0, np.nan]])
    y = [0, 0, 0, 1, 1]
    first = bs.Moments.from_matrix(x, y, missing="omit")
    second = bs.Moments.from_matrix(x[3:], y[3:], classes=(0, 1), missing="omit")
    found = shared_shift_log_bayes_factor([first, second], 0.1)
    assert np.isfinite(found).tolist() == [False, True, False]
    never_together = block_moments([([1.0, 2.0, 4.0], []), ([], [5.0, 7.0])])
    assert np.isnan(shared_shift_log_bayes_factor(never_together, 0.1)).all()


def test_prior_ratio_enters_once_and_may_depend_on_the_totals():
    blocks = block_moments(TWO_BLOCKS)
    plain = shared_shift_log_bayes_factor(blocks, 1.0)
    assert shared_shift_log_bayes_factor(blocks, 0.1) - plain == pytest.approx(math.log(0.1))
    by_size = shared_shift_log_bayes_factor(blocks, lambda n0, n1: 1.0 / (n0 + n1))
    assert by_size - plain == pytest.approx(-math.log(10))


def test_unusable_blocks_are_refused():
    blocks = block_moments(TWO_BLOCKS)
    with pytest.raises(bs.DataError, match="At least one block"):
        shared_shift_log_bayes_factor([], 0.1)
    with pytest.raises(bs.LabelError, match="Block 2"):
        shared_shift_log_bayes_factor([blocks[0], blocks[1].pick([1, 0])], 0.1)
    with pytest.raises(bs.LabelError, match="two classes"):
        shared_shift_log_bayes_factor([blocks[0].pick([0])], 0.1)
    wide = bs.Moments((0, 1), [2, 2], np.zeros((2, 2)), np.ones((2, 2)))
    with pytest.raises(bs.DataError, match="features"):
        shared_shift_log_bayes_factor([blocks[0], wide], 0.1)
