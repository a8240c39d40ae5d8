from __future__ import annotations

import numpy as np
import pytest


@pytest.fixture
def r1() -> tuple[np.ndarray, np.ndarray]:
    """Reference data set R1: one feature, classes of 4 and 5."""
    values = np.array([0.1, -0.4, 0.3, 0.8, 1.2, 0.7, 2.1, 1.5, 0.9])
    return values[:, None], np.array([0] * 4 + [1] * 5)


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(20260101)
