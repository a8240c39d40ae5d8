"""The worked example in which the criteria differ: numbers known to six digits, and the same by mpmath."""

from __future__ import annotations

import mpmath as mp
import numpy as np
import pytest
from exact_blocks import block_log_marginal

import bayesieve as bs

X = np.array(
    [
        *[(-1.1, -0.7, -1.0), (0.3, 0.4, -0.7), (0.5, 0.1, -0.3), (1.1, 0.4, -0.1), (-0.8, -0.2, -0.1)],
        *[(-0.2, 0.6, -0.3), (-1.5, 2.0, 0.3), (0.6, -0.9, 0.4), (0.6, -0.9, 0.3), (0.6, 0.5, 0.5)],
        *[(0.6, 0.2, -0.1), (-0.2, 0.0, -0.4)],
    ]
)
Y = np.repeat([0, 1], 6)
MODEL = bs.GaussianModel.proper(mean_locations=(0.0,))  # s = 0.5, kappa_d = d + 2, nu = 0.1, m = 0
EXPECTED = {
    (): 0.016161, (0,): 0.006715, (1,): 0.058245, (2,): 0.356808,
    (0, 1): 0.230461, (0, 2): 0.025926, (1, 2): 0.187164, (0, 1, 2): 0.118519,
}  # fmt: skip


@pytest.fixture(scope="module")
def joint():
    return bs.enumerate_sets(X, Y, model=MODEL, prior=0.5, structure="joint")


def test_probability_of_every_set(joint):
    for features, probability in EXPECTED.items():
        found = np.exp(joint.log_probability_of(np.array(features, dtype=int)))
        assert found == pytest.approx(probability, abs=5.1e-7)
    assert joint.set_probability.sum() == pytest.approx(1.0, abs=1e-14)


def test_marginals(joint):
    np.testing.assert_allclose(joint.probability, [0.381622, 0.594390, 0.688417], atol=5.1e-7)
    assert joint.expected_markers == pytest.approx(0.381622 + 0.594390 + 0.688417, abs=1.6e-6)
    np.testing.assert_allclose(
        joint.number_of_markers.pmf, [0.016161, 0.421768, 0.443551, 0.118519], atol=1.6e-6
    )  # sums of the probabilities above


def test_criteria_differ(joint):
    assert joint.select("MAP").names == ("x2",)
    assert joint.select("MNC").names == ("x1", "x2")
    most_probable, most_correct = joint.select(bs.MostProbable(size=2)), joint.select(bs.FixedSize(2))
    assert most_probable.names == ("x0", "x1")
    assert most_probable.probability == pytest.approx(0.2305, abs=5e-5)
    assert most_correct.names == ("x1", "x2")
    assert most_correct.probability == pytest.approx(0.1872, abs=5e-5)
    assert joint.select(bs.MostProbable(size=1)).names == joint.select(bs.FixedSize(1)).names == ("x2",)


def test_independent_model_on_the_same_data():
    independent = bs.enumerate_sets(X, Y, model=MODEL, prior=0.5)
    np.testing.assert_allclose(independent.probability, [0.071385, 0.320232, 0.779855], atol=5.1e-7)
    assert independent.select("MAP").names == independent.select("MNC").names == ("x2",)


def test_fifty_digits_from_the_definition(joint):
    """Determinants and multivariate gamma functions written out with mpmath, set by set."""
    with mp.workdps(50):
        weights = []
        for g in range(8):
            good = [f for f in range(3) if g >> f & 1]
            bad = [f for f in range(3) if not g >> f & 1]
            parts = ((X[:6], good), (X[6:], good), (X, bad))
            weights.append(mp.exp(mp.fsum(_evidence(values, features) for values, features in parts)))
        expected = [float(mp.log(w / mp.fsum(weights))) for w in weights]
    np.testing.assert_allclose(joint.set_log_probability, expected, rtol=0, atol=1e-12)


def _evidence(values, features):
    return block_log_marginal(values[:, features], 3.0, 0.5, 0.1, 0.0) if features else mp.mpf(0)
