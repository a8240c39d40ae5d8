"""Rows of the summary: one line each at 80 columns, and no zero with a sign."""

from __future__ import annotations

import numpy as np
import pytest

import bayesieve as bs
from bayesieve.cli.feature_rows import feature_rows
from bayesieve.cli.layout import unsigned_zero


@pytest.mark.parametrize(
    ("value", "form", "text"),
    [
        (-0.004, ".2f", "0.00"),
        (0.0, "+.3g", "0"),
        (-0.0, "+.3g", "0"),
        (-0.005001, ".2f", "-0.01"),
        (0.2, "+.3g", "+0.2"),
    ],
)
def test_a_zero_has_no_sign(value, form, text):
    assert unsigned_zero(value, form) == text


@pytest.mark.parametrize("length", [3, 12, 20, 200])
def test_rows_stay_in_one_line_whatever_the_names(length):
    values = np.random.default_rng(0).normal(size=(40, 30))
    values[1::2, :8] += 2.0
    names = [f"{i}{'n' * length}" for i in range(30)]
    posterior = bs.screen(values, ["a", "b"] * 20, feature_names=names, shuffles=0)
    posterior = posterior.with_finding(bs.kinds(posterior))
    rows = feature_rows(bs.MinimalRisk(0.5).select(posterior))
    assert max(map(len, rows)) < 80
    heads = rows[0].split("  ")
    assert "log-odds" in rows[0]
    assert len(heads) > 3
