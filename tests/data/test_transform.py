"""Transformations give the same 64-bit numbers whatever kind of numbers a table holds."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.sparse as sp

import bayesieve as bs
from bayesieve.errors import DataError

KINDS = (np.int8, np.uint8, np.int16, np.int32, np.int64, np.uint32, np.float32)
HOLDERS = (np.asarray, sp.csr_matrix, sp.csc_array)
COUNTS = np.random.default_rng(0).integers(0, 100, size=(30, 4))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("holder", HOLDERS)
@pytest.mark.parametrize("name", ["log1p", "clr:0.5", "vst:0.05", "vst", "rank-normal", "total", "total:100"])
def test_numbers_of_every_kind(kind, holder, name):
    change = bs.normalise if name.startswith("total") else bs.transform
    found = change(holder(COUNTS.astype(kind)), name)
    dense = found.toarray() if sp.issparse(found) else found
    assert dense.dtype == np.float64
    np.testing.assert_allclose(dense, change(COUNTS.astype(np.float64), name), rtol=1e-14, atol=1e-14)


def test_logarithms_are_those_of_the_standard_library():
    values = np.random.default_rng(1).random((40, 3)).astype(np.float32)
    for name, exact in (("log1p", math.log1p), ("log2", math.log2), ("logit", lambda x: math.log2(x / (1 - x)))):
        wanted = [[exact(float(x)) for x in row] for row in values]
        np.testing.assert_allclose(bs.transform(values, name), wanted, rtol=1e-13)
        if name == "log1p":
            np.testing.assert_allclose(bs.transform(sp.csr_matrix(values), name).toarray(), wanted, rtol=1e-14)
        else:
            with pytest.raises(DataError, match="sparse"):
                bs.transform(sp.csr_matrix(values), name)


def test_log_odds_of_sparse_single_precision_are_those_of_double(rng):
    counts = rng.poisson(2.0, size=(4000, 5))
    y = np.arange(4000) % 2
    exact, single = (
        bs.screen(bs.transform(table, "log1p"), y, shuffles=0, model=bs.GaussianModel.jeffreys()).log_odds
        for table in (counts.astype(float), sp.csr_matrix(counts.astype(np.float32)))
    )
    np.testing.assert_allclose(single, exact, rtol=0, atol=1e-10)
