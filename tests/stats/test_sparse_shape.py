"""Third and fourth powers of sparse rows: the same bits as those of columns."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from bayesieve.data import LabelledMatrix, Labels
from bayesieve.stats.moments import shape
from bayesieve.stats.moments.shape import Shape

POWERS = ("count", "mean", "squares", "cubes", "fourths")


@pytest.mark.parametrize("dtype", [np.int32, np.float32, np.float64])
@pytest.mark.parametrize("block", [8192, 100])
def test_rows_and_columns_give_the_same_bits(monkeypatch, dtype, block):
    rng = np.random.default_rng(0)
    X = sp.random(300, 40, 0.3, format="csr", random_state=1, data_rvs=lambda n: rng.gamma(2.0, 3.0, n) + 1.0)
    X = X.astype(dtype)
    if dtype is not np.int32:
        X.data[::37] = np.nan
    codes = rng.integers(0, 3, 300)
    codes[codes == 1] = 2  # a class without samples
    monkeypatch.setattr(shape, "_ROW_BLOCK", block)
    found = Shape.of(LabelledMatrix(X, Labels((0, 1, 2), codes), None))
    parts = [
        Shape._of_columns(X[lo : lo + block].tocsc(), codes[lo : lo + block], 3) for lo in range(0, 300, block)
    ]
    wanted = parts[0]
    for part in parts[1:]:
        wanted = wanted.merge(part)
    for name in POWERS:
        assert np.array_equal(getattr(found, name), getattr(wanted, name))
    dense = X.toarray().astype(float)[codes == 2]
    mean = np.nanmean(dense, axis=0)
    assert found.fourths[2] == pytest.approx(np.nansum((dense - mean) ** 4, axis=0), rel=1e-10)
