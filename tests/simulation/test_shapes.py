"""Data of one shape: moments known from theory, effects as said, and the same whatever pieces are drawn."""

from __future__ import annotations

import numpy as np
import pytest

from bayesieve.errors import DataError, OptionError
from bayesieve.simulation import ShapedModel, data_model


def noise(n=400, **constants):
    model = ShapedModel(n_features=300, marker_share=0.0, deviation_spread=0.0, **constants)
    return model.draw(n, seed=1).values


@pytest.mark.parametrize(
    ("constants", "variance", "kurtosis"),
    [
        ({}, 1.0, 3.0),
        ({"noise": "student", "degrees_of_freedom": 10.0}, 1.0, 4.0),
        ({"noise": "contaminated"}, 1.24, 3.0 * (0.99 + 0.01 * 625) / 1.24**2),
        ({"noise": "lognormal", "log_deviation": 0.25}, 1.0, 4.0959),
    ],
)
def test_noise_has_the_moments_of_its_distribution(constants, variance, kurtosis):
    """Kurtosis of the log-normal: exp(4 s) + 2 exp(3 s) + 3 exp(2 s) - 3 with s = 0.25^2."""
    drawn = noise(**constants)
    assert drawn.mean() == pytest.approx(0.0, abs=4 / np.sqrt(drawn.size))
    assert drawn.var() == pytest.approx(variance, rel=0.03)
    assert (drawn**4).mean() / drawn.var() ** 2 == pytest.approx(kurtosis, rel=0.1)


def test_one_outlier_in_some_features():
    plain, moved = noise(40), noise(40, noise="outlier", outlier_share=0.3)
    changed = plain != moved
    assert set(changed.sum(axis=0)) == {0, 1}
    assert 0.2 < changed.any(axis=0).mean() < 0.4
    np.testing.assert_allclose(np.abs(moved - plain)[changed], 8.0)


def test_blocks_are_correlated_and_others_are_not():
    drawn = noise(2000, block_size=30, correlation=0.5)
    correlation = np.corrcoef(drawn[:, :60].T)
    same = np.kron(np.eye(2), np.ones((30, 30))).astype(bool) & ~np.eye(60, dtype=bool)
    other = ~np.kron(np.eye(2), np.ones((30, 30))).astype(bool)
    assert correlation[same].mean() == pytest.approx(0.5, abs=0.05)
    assert correlation[other].mean() == pytest.approx(0.0, abs=0.05)


@pytest.mark.parametrize("effect", ["mean", "variance", "both"])
def test_markers_differ_as_said_and_others_not_at_all(effect):
    model = ShapedModel(n_features=1000, marker_share=0.05, effect=effect)
    source = model.source((10, 14), seed=2)
    truth = model.draw((10, 14), seed=2).true_markers
    shift, ratio = source.location[1], np.log(source.spread[1] / source.spread[0]) * 2
    assert truth.sum() == model.n_markers == 50
    assert not shift[~truth].any()
    assert np.allclose(ratio[~truth], 0.0)
    assert (effect != "variance") == bool(shift[truth].all())
    np.testing.assert_allclose(np.abs(ratio[truth]), 0.0 if effect == "mean" else 0.9, atol=1e-12)


def test_pieces_are_those_of_the_whole():
    model = ShapedModel(n_features=2500, noise="student", block_size=7, correlation=0.3)
    whole = model.draw(70, seed=5, n_threads=1).values
    rows = np.concatenate([piece.values for piece in model.chunks(70, seed=5, size=33)])
    columns = np.concatenate([piece.values for piece in model.chunks(70, seed=5, by="features", size=900)], axis=1)
    np.testing.assert_array_equal(rows, whole)
    np.testing.assert_array_equal(columns, whole)
    moments = model.draw_moments(70, seed=5).moments
    np.testing.assert_allclose(moments.mean[0], whole[:35].mean(axis=0), atol=1e-12)


@pytest.mark.parametrize(
    "wrong",
    [{"noise": "pink"}, {"effect": "none"}, {"marker_share": 2.0}, {"degrees_of_freedom": 2.0}, {"block_size": 0}],
)
def test_constants_are_checked(wrong):
    with pytest.raises((DataError, OptionError), match=next(iter(wrong))):
        data_model("shapes", **wrong)


def test_only_correlations_of_markers_differ_where_covariances_do():
    model = ShapedModel(n_features=40, marker_share=0.15, block_size=3, correlation=0.3, marker_correlation=0.8,
                        effect="covariance", deviation_spread=0.2)  # fmt: skip
    data = model.draw(40_000, seed=5)
    markers = np.flatnonzero(data.true_markers)
    assert markers.size == 6
    assert set(markers // 3) == {markers[0] // 3, markers[-1] // 3}  # whole blocks
    first, second = (data.values[data.labels == k] for k in (0, 1))
    one, other = np.corrcoef(first.T), np.corrcoef(second.T)
    for block in range(13):
        a, b, c = 3 * block + np.arange(3)
        here = a in markers
        assert one[a, b] == pytest.approx(0.8 if here else 0.3, abs=0.03)
        assert other[a, b] == pytest.approx(-0.8 if here else 0.3, abs=0.03)
        assert other[a, c] == pytest.approx(0.8 if here else 0.3, abs=0.03)
        assert other[b, c] == pytest.approx(-0.8 if here else 0.3, abs=0.03)
    assert np.abs(first.mean(axis=0) - second.mean(axis=0)).max() < 0.06
    assert np.abs(np.log(first.std(axis=0) / second.std(axis=0))).max() < 0.03


def test_all_markers_may_be_shifted_alike():
    data = ShapedModel(
        n_features=50, marker_share=0.1, mean_shift=2.0, mean_deviation=0.0, deviation_spread=0.0
    ).draw(20_000, seed=1)
    gap = data.values[data.labels == 1].mean(axis=0) - data.values[data.labels == 0].mean(axis=0)
    assert gap[data.true_markers] == pytest.approx(2.0, abs=0.07)
    assert np.abs(gap[~data.true_markers]).max() < 0.07
