"""Third and fourth powers of sparse rows: one sweep holds the digits that two would."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp

from bayesieve.data import LabelledMatrix, Labels
from bayesieve.stats.moments import shape
from bayesieve.stats.moments.shape import Shape

POWERS = ("count", "mean", "squares", "cubes", "fourths")


def hard_table(rng):
    """Columns that are sparse, dense, dense in one class only, far from zero, constant in a class, empty."""
    X = np.where(rng.random((300, 40)) < 0.3, rng.gamma(2.0, 3.0, (300, 40)) + 1.0, 0.0)
    codes = rng.integers(0, 3, 300)
    codes[codes == 1] = 2  # a class without samples
    X[:, 3] = 1000.0 + rng.normal(size=300)
    X[codes == 0, 5] = 50.0 + rng.normal(size=(codes == 0).sum())
    X[:, 7] = 1e6 + rng.integers(0, 3, 300)
    X[codes == 2, 9] = 0.7
    X[:, 11] = 0.0
    return X, codes


@pytest.mark.parametrize("dtype", [np.int32, np.float32, np.float64])
@pytest.mark.parametrize("rows", [4096, 50])
def test_powers_of_rows_are_those_of_exact_numbers(monkeypatch, dtype, rows):
    rng = np.random.default_rng(0)
    X, codes = hard_table(rng)
    X = X.astype(dtype)
    if dtype is not np.int32:
        X[rng.random(X.shape) < 0.02] = np.nan
        X[rng.random(300) < 0.5, 7] = np.nan
    monkeypatch.setattr(shape, "_ROWS", rows)
    matrix = LabelledMatrix(sp.csr_matrix(X), Labels((0, 1, 2), codes), None)
    found, alone = Shape.of(matrix, 3), Shape.of(matrix, 1)
    for name in POWERS:
        assert np.array_equal(getattr(found, name), getattr(alone, name))
        assert not getattr(found, name)[1].any()
    for c in (0, 2):
        for j in range(X.shape[1]):
            values = [Fraction(float(x)) for x in X[codes == c, j] if not np.isnan(x)]
            mean = sum(values) / len(values)
            sums = [float(sum((x - mean) ** k for x in values)) for k in (2, 3, 4)]
            assert found.count[c, j] == len(values)
            assert found.mean[c, j] == pytest.approx(float(mean), rel=1e-15)
            assert found.squares[c, j] == pytest.approx(sums[0], rel=1e-13, abs=1e-24)
            assert found.cubes[c, j] == pytest.approx(sums[1], rel=1e-11, abs=1e-13 * sums[0] ** 1.5 + 1e-24)
            assert found.fourths[c, j] == pytest.approx(sums[2], rel=2e-13, abs=1e-24)
    assert (found.squares[:, 11] == 0.0).all()


def test_rows_are_summed_as_columns_are():
    X, codes = hard_table(np.random.default_rng(1))
    labels = Labels((0, 1, 2), codes)
    rows = Shape.of(LabelledMatrix(sp.csr_matrix(X), labels, None))
    columns = Shape.of(LabelledMatrix(sp.csc_matrix(X), labels, None), 3)
    for name in POWERS:
        assert getattr(rows, name) == pytest.approx(getattr(columns, name), rel=1e-11, abs=1e-9)


def test_infinities_are_not_hidden():
    X, codes = hard_table(np.random.default_rng(2))
    X[3, 0], X[4, 3] = np.inf, -np.inf
    found = Shape.of(LabelledMatrix(sp.csr_matrix(X), Labels((0, 1, 2), codes), None))
    assert not np.isfinite(found.fourths[codes[3], 0])
    assert not np.isfinite(found.fourths[codes[4], 3])
    assert not found.is_complete(np.bincount(codes, minlength=3))
