"""The synthetic microarray: its numbers, its distributions, and the accuracies of the screen on it."""

from __future__ import annotations

import numpy as np
import pytest

import bayesieve as bs
from bayesieve.simulation import SynergeticModel
from bayesieve.simulation.synergetic import Kind


def test_kinds_of_features():
    model = SynergeticModel()
    data = model.draw(10, seed=0)
    assert data.values.shape == (10, 20_000)
    assert np.bincount(data.kind).tolist() == [20, 40, 40, 11_900, 8_000]
    assert [int((data.group[data.true_markers] == g).sum()) for g in range(4)] == [25] * 4
    assert data.labels.tolist() == [0] * 5 + [1] * 5
    again = model.draw(10, seed=0)
    np.testing.assert_array_equal(data.values, again.values)
    assert (model.draw(10, seed=1).values != data.values).any()


@pytest.fixture(scope="module")
def large():
    """Many samples of a small arrangement, in order: the columns are known."""
    model = SynergeticModel(low_variance_blocks=2, high_variance_features=3)
    return model, model.draw(60_000, seed=3, shuffle=False)


def test_moments_of_every_kind(large):
    model, data = large
    y = data.labels
    half = 30_000
    for column in range(model.n_features):
        kind, group = Kind(int(data.kind[column])), int(data.group[column])
        v0, v1 = model.class_variances[group]
        x0, x1 = data.values[y == 0, column], data.values[y == 1, column]
        if kind == Kind.HIGH_VARIANCE_NON_MARKER:
            assert x0.mean() == pytest.approx(x1.mean(), abs=0.05)
            assert 0.0 - 0.02 <= x0.mean() <= 1.0 + 0.02
            share = 1 - np.concatenate([x0, x1]).mean()
            spread = share * v0 + (1 - share) * v1 + share * (1 - share)
            assert np.concatenate([x0, x1]).var() == pytest.approx(spread, rel=0.05)
            continue
        shift = 1 / (1 + column % 5)
        mean, variance = {
            Kind.GLOBAL_MARKER: (shift, v1),
            Kind.HETEROGENEOUS_MARKER_A: (shift / 2, (v0 + v1) / 2 + shift**2 / 4),
            Kind.HETEROGENEOUS_MARKER_B: (shift / 2, (v0 + v1) / 2 + shift**2 / 4),
            Kind.LOW_VARIANCE_NON_MARKER: (0.0, v0),
        }[kind]
        assert x0.mean() == pytest.approx(0.0, abs=5 * np.sqrt(v0 / half))
        assert x0.var() == pytest.approx(v0, rel=0.05)
        assert x1.mean() == pytest.approx(mean, abs=5 * np.sqrt(variance / half))
        assert x1.var() == pytest.approx(variance, rel=0.05)


def test_correlation_within_blocks_only(large):
    model, data = large
    block = np.corrcoef(data.values[data.labels == 0, :10].T)
    np.testing.assert_allclose(block[:5, :5][~np.eye(5, dtype=bool)], model.correlation, atol=0.02)
    np.testing.assert_allclose(block[:5, 5:], 0.0, atol=0.03)


def test_subclasses_of_the_second_class(large):
    _, data = large
    first = np.flatnonzero(data.kind == Kind.HETEROGENEOUS_MARKER_A)[0]
    second = np.flatnonzero(data.kind == Kind.HETEROGENEOUS_MARKER_B)[0]
    quarter = 45_000
    assert data.values[30_000:quarter, first].mean() == pytest.approx(0.0, abs=0.03)
    assert data.values[quarter:, first].mean() == pytest.approx(1.0, abs=0.03)
    assert data.values[30_000:quarter, second].mean() == pytest.approx(1.0, abs=0.03)
    assert data.values[quarter:, second].mean() == pytest.approx(0.0, abs=0.03)


REFERENCE = {  # features labelled correctly of 20,000, averages of many draws of an exact simulation
    50: {"MNC-JP": 19893.6, "MNC-PP": 19904.1, "CMNC-JP": 19841.6, "CMNC-PP": 19842.6},
    200: {"MNC-JP": 19933.8, "MNC-PP": 19934.0, "CMNC-JP": 19902.0, "CMNC-PP": 19902.4},
}


@pytest.mark.parametrize(("n", "rounds"), [(50, 40), (200, 20)])
def test_accuracies_of_the_screen(n, rounds):
    scores: dict[str, list[int]] = {name: [] for name in REFERENCE[n]}
    for seed in range(rounds):
        data = SynergeticModel().draw(n, seed=seed)
        for name, model in (("JP", bs.GaussianModel.jeffreys()), ("PP", bs.GaussianModel.proper())):
            posterior = bs.screen(data.values, data.labels, model=model, prior_probability=0.005)
            for rule_name, rule in (("MNC", bs.MinimalRisk(0.5)), ("CMNC", bs.FixedSize(100))):
                mask = rule.select(posterior).mask
                scores[f"{rule_name}-{name}"].append(int((mask == data.true_markers).sum()))
    for name, reference in REFERENCE[n].items():
        error = np.std(scores[name], ddof=1) / np.sqrt(rounds)
        assert np.mean(scores[name]) == pytest.approx(reference, abs=4 * error + 0.3), name
