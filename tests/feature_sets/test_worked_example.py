"""The worked example in which the criteria differ: numbers known to six digits, and the same by mpmath."""

from __future__ import annotations

import mpmath as mp
import numpy as np
import pytest

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
    assert joint.probability.sum() == pytest.approx(1.0, abs=1e-14)


def test_marginals(joint):
    np.testing.assert_allclose(joint.marginal_probability, [0.381622, 0.594390, 0.688417], atol=5.1e-7)
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
    np.testing.assert_allclose(independent.marginal_probability, [0.071385, 0.320232, 0.779855], atol=5.1e-7)
    assert independent.select("MAP").names == independent.select("MNC").names == ("x2",)


def test_fifty_digits_from_the_definition(joint):
    """Determinants and multivariate gamma functions written out with mpmath, set by set."""
    with mp.workdps(50):
        weights = []
        for g in range(8):
            good = [f for f in range(3) if g >> f & 1]
            bad = [f for f in range(3) if not g >> f & 1]
            weights.append(mp.exp(_evidence(X[:6], good) + _evidence(X[6:], good) + _evidence(X, bad)))
        expected = [float(mp.log(w / mp.fsum(weights))) for w in weights]
    np.testing.assert_allclose(joint.log_probability, expected, rtol=0, atol=1e-12)


def _evidence(values, features):
    d, n = len(features), len(values)
    if not d:
        return mp.mpf(0)
    rows = [[mp.mpf(float(v)) for v in row] for row in values[:, features]]
    kappa, nu, s = mp.mpf(d + 2), mp.mpf(0.1), mp.mpf("0.5")
    mean = [mp.fsum(row[a] for row in rows) / n for a in range(d)]
    scatter = mp.matrix(d, d)
    for a in range(d):
        for b in range(d):
            scatter[a, b] = mp.fsum((row[a] - mean[a]) * (row[b] - mean[b]) for row in rows)
            scatter[a, b] += nu * n / (nu + n) * mean[a] * mean[b] + (s if a == b else 0)
    result = -mp.mpf(n * d) / 2 * mp.log(mp.pi) + mp.mpf(d) / 2 * mp.log(nu / (nu + n))
    result += kappa / 2 * d * mp.log(s) - (kappa + n) / 2 * mp.log(mp.det(scatter))
    return result + _log_multigamma((kappa + n) / 2, d) - _log_multigamma(kappa / 2, d)


def _log_multigamma(x, d):
    return mp.mpf(d * (d - 1)) / 4 * mp.log(mp.pi) + mp.fsum(mp.loggamma(x - mp.mpf(j) / 2) for j in range(d))
