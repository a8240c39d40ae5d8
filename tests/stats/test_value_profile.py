"""Profiles of values against plain NumPy, and the same whatever the chunks, the layout and the order."""

from __future__ import annotations

import itertools
import math
from dataclasses import astuple, fields

import numpy as np
import pytest
import scipy.sparse as sp
import scipy.stats
from hypothesis import given, settings, strategies as st

from bayesieve.stats import ValueProfile, ValueSample
from bayesieve.stats.value_profile import MOST_DISTINCT, MOST_FEATURES, MOST_SAMPLES

RNG = np.random.default_rng(20)
GROUPS = np.arange(60) % 2
TABLES = {
    "gaussian": RNG.normal(8, 1, size=(60, 40)),
    "counts": RNG.negative_binomial(2, 0.05, size=(60, 40)),
    "genotypes": RNG.integers(0, 3, size=(60, 40)).astype(np.int8),
    "intensities": np.exp(RNG.normal(5, 2, size=40) + RNG.normal(0, 0.7, size=(60, 40))),
    "betas": RNG.beta(0.5, 0.5, size=40) * 0.9 + RNG.uniform(0, 0.1, size=(60, 40)),
    "float32": RNG.normal(size=(60, 40)).astype(np.float32),
    "booleans": RNG.random((60, 40)) < 0.3,
    "zeros": np.zeros((60, 40)),
    "missing": np.where(RNG.random((60, 40)) < 0.2, np.nan, RNG.normal(size=(60, 40))),
}


def same(one: ValueProfile, two: ValueProfile) -> bool:
    return all(a == b or np.isnan([a, b]).all() for a, b in zip(astuple(one), astuple(two), strict=True))


def median_shape(values, groups, shape):
    """Median over features of SciPy's skewness or kurtosis of what is left of class means."""
    found = []
    for column in np.asarray(values, float).T:
        left = np.concatenate([part - part.mean() for g in (0, 1) if (part := here(column[groups == g])).size])
        if np.ptp(left) > 1e-9:
            found.append(shape(left))
    return np.median(found) if found else math.nan


def here(column):
    return column[~np.isnan(column)]


@pytest.mark.parametrize("name", TABLES)
def test_a_profile_is_what_numpy_says(name):
    table = TABLES[name]
    found = ValueSample.of(table, GROUPS).profile()
    plain = np.asarray(table, float)
    values = here(plain.ravel())
    nonzero = [x for x in values.tolist() if x]
    assert (found.n_samples, found.n_features, found.n_values) == (60, 40, values.size)
    assert (found.smallest, found.largest) == (min(values), max(values))
    assert found.share_whole == pytest.approx(sum(x.is_integer() for x in nonzero) / max(len(nonzero), 1))
    assert found.share_zero == pytest.approx(1 - len(nonzero) / values.size)
    assert found.share_negative == pytest.approx(sum(x < 0 for x in nonzero) / values.size)
    assert found.share_unit == pytest.approx(np.mean([0 <= x <= 1 for x in values]))
    positive = [x for x in nonzero if x > 0]
    assert found.median_positive == pytest.approx(np.median(positive) if positive else math.nan, nan_ok=True)
    assert found.n_distinct == min(len(set(values.tolist())), MOST_DISTINCT)
    assert found.most_distinct == min(max(len(set(here(c).tolist())) for c in plain.T), MOST_DISTINCT)
    assert found.skewness == pytest.approx(median_shape(plain, GROUPS, scipy.stats.skew), rel=1e-9, nan_ok=True)
    assert found.kurtosis == pytest.approx(
        median_shape(plain, GROUPS, scipy.stats.kurtosis), rel=1e-9, nan_ok=True
    )
    if not found.smallest > 0:
        return
    logs = np.log(plain)
    assert found.log_skewness == pytest.approx(median_shape(logs, GROUPS, scipy.stats.skew), rel=1e-9)
    classes = [plain[::2], plain[1::2]]  # groups 0 and 1
    deviations = np.concatenate([part - part.mean(axis=0) for part in classes]).std(axis=0)
    slope = np.polyfit(np.log(plain.mean(axis=0)), np.log(deviations), 1)[0]
    assert found.level_spread == pytest.approx(slope, rel=1e-6)


def test_a_floor_is_half_of_a_class_at_the_smallest_value():
    table = RNG.normal(10, 1, size=(60, 20))
    table[GROUPS == 0, 0] = np.where(np.arange(30) < 15, 4.0, 9.0)  # half of class 0
    table[GROUPS == 0, 1] = np.where(np.arange(30) < 14, 4.0, 9.0)  # not quite
    table[:, 2] = 4.0  # constant: another matter
    table[GROUPS == 1, 3] = 4.0  # all of class 1
    table[GROUPS == 1, 4] = 20.0  # equal values, but none of them the smallest
    found = ValueSample.of(table, GROUPS).profile()
    assert found.share_floored == 2 / 20
    assert found.floor == 4.0
    table[GROUPS == 1, 3] = 3.0
    assert math.isnan(ValueSample.of(table, GROUPS).profile().floor)  # two floors, none of most features
    few = ValueSample.of(table[:8], GROUPS[:8]).profile()
    assert few.share_floored == 0  # four values of a class are too few


def test_shares_near_the_ends_and_from_end_to_end():
    table = np.tile([0.02, 0.5, 0.95, 0.97], (30, 1)) + RNG.uniform(0, 0.01, size=(30, 4))
    found = ValueSample.of(table, np.zeros(30, int)).profile()
    assert (found.share_near_zero, found.share_near_one, found.share_spanning) == (0.25, 0.5, 0)
    scaled = (table - table.min(axis=0)) / np.ptp(table, axis=0)
    assert ValueSample.of(scaled, np.zeros(30, int)).profile().share_spanning == 1
    assert ValueSample.of(table + 1, np.zeros(30, int)).profile().share_near_one == 0  # of [0, 1] only


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("form", ["csr", "csc", "fortran", "transposed"])
def test_the_layout_in_memory_does_not_matter(name, form):
    table = TABLES[name]
    other = {
        "csr": lambda: sp.csr_matrix(table),
        "csc": lambda: sp.csc_array(table),
        "fortran": lambda: np.asfortranarray(table),
        "transposed": lambda: np.ascontiguousarray(table.T).T,
    }[form]()
    assert same(ValueSample.of(table, GROUPS).profile(), ValueSample.of(other, GROUPS).profile())


def test_a_large_table_is_looked_at_in_part_and_its_extremes_in_full():
    table = RNG.normal(size=(700, 900))
    table[123, 456], table[650, 3] = 99.0, -77.0
    sample = ValueSample.of(table, np.arange(700) % 3)
    assert sample.values.shape == (MOST_FEATURES, MOST_SAMPLES)
    np.testing.assert_array_equal(sample.values, table[np.ix_(sample.samples, sample.features)].T)
    np.testing.assert_array_equal(sample.groups, sample.samples % 3)
    found = sample.profile()
    assert (found.smallest, found.largest, found.n_values) == (-77.0, 99.0, MOST_FEATURES * MOST_SAMPLES)
    for places, n in ((sample.samples, 700), (sample.features, 900)):  # spread over the table, not its beginning
        assert abs(places.mean() / n - 0.5) < 0.1
        assert len(set(places.tolist())) == places.size


@st.composite
def cuts(draw, n):
    inner = draw(st.sets(st.integers(1, n - 1), max_size=6))
    return [0, *sorted(inner), n]


def part(table, groups, rows, columns):
    return ValueSample.of(table[rows, columns], groups[rows], rows.start, columns.start)


@settings(deadline=None, max_examples=60)
@given(data=st.data())
def test_any_cut_by_samples_or_by_features_merges_to_the_whole(data):
    n, p = data.draw(st.integers(2, 400)), data.draw(st.integers(2, 600))
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    table = rng.normal(size=(n, p)).round(data.draw(st.integers(0, 3)))
    table[rng.random((n, p)) < data.draw(st.sampled_from([0.0, 0.3]))] = data.draw(st.sampled_from([0.0, np.nan]))
    groups = rng.integers(0, 3, size=n)
    whole = ValueSample.of(table, groups)
    by_samples = data.draw(st.booleans())
    ends = data.draw(cuts(n if by_samples else p))
    ranges = [slice(a, b) for a, b in itertools.pairwise(ends)]
    everything = slice(0, p if by_samples else n)
    parts = [
        part(table, groups, *((each, everything) if by_samples else (everything, each)))
        for each in data.draw(st.permutations(ranges))
    ]
    middle = data.draw(st.integers(0, len(parts)))
    halves = [_merged(half) for half in (parts[:middle], parts[middle:]) if half]
    merged = _merged(halves)
    for field in fields(ValueSample):
        np.testing.assert_array_equal(getattr(merged, field.name), getattr(whole, field.name))
    assert same(merged.profile(), whole.profile())


def _merged(parts):
    total = parts[0]
    for other in parts[1:]:
        total = total.merge(other)
    return total


def test_parts_of_sparse_tables_without_a_stored_value_hold_zeros():
    empty = ValueSample.of(sp.csr_matrix((5, 4)), np.zeros(5, int))
    assert (empty.smallest, empty.largest) == (0.0, 0.0)
    full = ValueSample.of(sp.csr_matrix(np.full((5, 4), 3.0)), np.zeros(5, int))
    assert (full.smallest, full.largest) == (3.0, 3.0)
    negative = ValueSample.of(sp.csr_matrix(np.diag([-1.0, -2.0, -3.0])), np.zeros(3, int))
    assert (negative.smallest, negative.largest) == (-3.0, 0.0)


def test_a_table_of_missing_values_has_no_profile_to_speak_of():
    found = ValueSample.of(np.full((12, 30), np.nan), np.zeros(12, int)).profile()
    assert found.n_values == found.n_distinct == 0
    assert math.isnan(found.smallest)
    assert math.isnan(found.skewness)
