"""The synthetic microarray: its numbers, its distributions, its constants."""

from __future__ import annotations

import numpy as np
import pytest

import bayesieve as bs
from bayesieve.simulation import Kind, SynergeticModel


def test_constants_of_section_6():
    model = SynergeticModel()
    assert (model.n_features, model.n_markers, model.n_groups, model.n_blocks) == (20_000, 100, 4, 2400)
    assert (model.block_size, model.correlation, model.n_subclasses) == (5, 0.8, 2)
    assert model.class_variances == ((0.16, 0.16), (0.49, 0.49), (0.09, 0.25), (0.49, 0.64))
    np.testing.assert_array_equal(model.shifts, [1, 1 / 2, 1 / 3, 1 / 4, 1 / 5])
    assert model.blocks_by_subclass == (2, 2)
    assert (model.mixture_shift, model.mixture_range) == (1.0, (0.0, 1.0))
    layout = model.layout
    assert np.bincount(layout.kind).tolist() == [20, 80, 11_900, 8_000]
    for group in range(4):
        assert np.bincount(layout.kind[layout.group == group]).tolist() == [5, 20, 2975, 2000]
        mixed = (layout.kind == Kind.HETEROGENEOUS_MARKER) & (layout.group == group)
        assert np.bincount(layout.subclass[mixed]).tolist() == [10, 10]
    assert np.bincount(layout.block).tolist() == [5] * 2400 + [8000]


def test_kinds_of_features():
    model = SynergeticModel()
    data = model.draw(10, seed=0)
    assert data.values.shape == (10, 20_000)
    assert np.bincount(data.kind).tolist() == [20, 80, 11_900, 8_000]
    assert data.true_markers.sum() == 100
    assert [int((data.group[data.true_markers] == g).sum()) for g in range(4)] == [25] * 4
    assert data.labels.tolist() == [0] * 5 + [1] * 5
    again = model.draw(10, seed=0)
    np.testing.assert_array_equal(data.values, again.values)
    assert (model.draw(10, seed=1).values != data.values).any()
    assert not data.values.flags.writeable
    places = np.flatnonzero(data.true_markers)
    assert places.max() > 15_000  # scattered
    assert np.flatnonzero(model.draw(10, seed=0, shuffle=False).true_markers).max() < 13_000


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
            Kind.HETEROGENEOUS_MARKER: (shift / 2, (v0 + v1) / 2 + shift**2 / 4),
            Kind.LOW_VARIANCE_NON_MARKER: (0.0, v0),
        }[kind]
        assert x0.mean() == pytest.approx(0.0, abs=5 * np.sqrt(v0 / half))
        assert x0.var() == pytest.approx(v0, rel=0.05)
        assert x1.mean() == pytest.approx(mean, abs=5 * np.sqrt(variance / half))
        assert x1.var() == pytest.approx(variance, rel=0.05)


def test_correlation_within_blocks_only(large):
    model, data = large
    for label in (0, 1):
        everything = np.corrcoef(data.values[data.labels == label].T)
        block = model.layout.block
        same = (block[:, None] == block) & (block < model.n_blocks) & ~np.eye(block.size, dtype=bool)
        rigid = model.layout.kind != Kind.HETEROGENEOUS_MARKER  # mixtures of subclasses correlate otherwise
        np.testing.assert_allclose(everything[same & (rigid | (label == 0))], model.correlation, atol=0.02)
        mixed = model.layout.kind == Kind.HETEROGENEOUS_MARKER
        apart = ~same & ~np.eye(block.size, dtype=bool) & ~(mixed & mixed[:, None])
        assert np.abs(everything[apart]).max() < 5.5 / np.sqrt(30_000)


def test_subclasses_of_the_second_class(large):
    model, data = large
    quarter = 45_000
    for subclass in (0, 1):
        column = np.flatnonzero(model.layout.subclass == subclass)[0]
        means = data.values[30_000:quarter, column].mean(), data.values[quarter:, column].mean()
        assert means[subclass] == pytest.approx(1.0, abs=0.03)
        assert means[1 - subclass] == pytest.approx(0.0, abs=0.03)


def test_odd_classes_give_the_first_subclass_one_more():
    model = SynergeticModel(
        class_variances=((1e-6, 1e-6),), heterogeneous_blocks=2, low_variance_blocks=0, high_variance_features=0
    )
    values = model.draw((3, 7), seed=0, shuffle=False).values.round(1)
    first = {k: np.flatnonzero(model.layout.subclass == k)[0] for k in (0, 1)}
    assert values[:, first[0]].tolist() == [0] * 3 + [1] * 4 + [0] * 3
    assert values[:, first[1]].tolist() == [0] * 3 + [0] * 4 + [1] * 3


def test_other_constants_by_almost_noiseless_data():
    """Three subclasses, blocks of two, own shifts, own mixture: read off from data with hardly any noise."""
    tiny = 1e-8
    model = SynergeticModel(
        block_size=2,
        correlation=0.5,
        class_variances=((tiny, tiny), (tiny, 2 * tiny), (tiny, tiny)),
        global_blocks=2,
        heterogeneous_blocks=(1, 0, 2),
        low_variance_blocks=4,
        high_variance_features=5,
        n_subclasses=3,
        mean_shifts=(3.0, -2.0),
        mixture_shift=7.0,
        mixture_range=(0.25, 0.5),
    )
    assert (model.n_features, model.n_markers) == (3 * (9 * 2 + 5), 3 * 5 * 2)
    data = model.draw((4000, 8000), seed=1, shuffle=False)
    rounded = data.values.round()
    parts = np.repeat([0, 1, 2, 3], [4000, 2667, 2667, 2666])
    layout = model.layout
    for column in range(model.n_features - 15):
        shift = (3.0, -2.0)[layout.position[column]]
        means = [np.unique(rounded[parts == part, column]).tolist() for part in range(4)]
        if layout.kind[column] == Kind.GLOBAL_MARKER:
            assert means == [[0.0], [shift], [shift], [shift]]
        elif layout.kind[column] == Kind.HETEROGENEOUS_MARKER:
            assert means == [[0.0], *([shift if k == layout.subclass[column] else 0.0] for k in range(3))]
        else:
            assert means == [[0.0]] * 4
    mixed = rounded[:, -15:]
    assert set(np.unique(mixed)) == {0.0, 7.0}
    share = (mixed == 0).mean(axis=0)
    assert (share > 0.22).all()
    assert (share < 0.53).all()
    moments = model.draw_moments((4_000_000, 8_000_000), seed=1, shuffle=False).moments
    np.testing.assert_allclose(moments.mean[1], data.values[4000:].mean(axis=0), atol=7 * 0.5 * 5 / np.sqrt(8000))
    np.testing.assert_allclose(moments.mean[0], data.values[:4000].mean(axis=0), atol=7 * 0.5 * 5 / np.sqrt(4000))


def test_lists_are_taken_for_tuples():
    given = {"class_variances": [[0.1, 0.2]], "heterogeneous_blocks": [1, 2], "mean_shifts": [1, 1, 1, 1, 1]}
    model = SynergeticModel(**given, low_variance_blocks=1, high_variance_features=1)
    assert model.class_variances == ((0.1, 0.2),)
    assert model.draw(4, seed=0).values.shape == (4, 26)
    assert hash(model) == hash(SynergeticModel(**given, low_variance_blocks=1, high_variance_features=1))


def test_one_subclass_makes_every_marker_global():
    model = SynergeticModel(n_subclasses=1, low_variance_blocks=0, high_variance_features=0)
    moments = model.draw_moments(4_000_000, seed=0, shuffle=False).moments
    np.testing.assert_allclose(moments.mean_difference, np.tile(1 / np.arange(1, 6), 20), atol=0.005)


@pytest.mark.parametrize(
    ("constants", "words"),
    [
        ({"n_subclasses": 0}, "at least 1"),
        ({"heterogeneous_blocks": (1, 2, 3)}, "holds 3 numbers; give one for each of the 2"),
        ({"heterogeneous_blocks": -1}, "at least 0"),
        ({"block_size": 2.5}, "whole numbers"),
        ({"class_variances": ()}, "Some feature is needed"),
        ({"class_variances": ((1.0,),)}, "two for every group"),
        ({"mean_shifts": (1.0, 2.0)}, "must be 5 finite numbers"),
        ({"mean_shifts": (1.0, 2.0, 3.0, 4.0, 0.0)}, "A marker must differ"),
        ({"mixture_range": (0.5, 0.2)}, "lower end first"),
        ({"mixture_range": 0.5}, "two numbers"),
        ({"mixture_shift": np.inf}, "finite"),
        ({"class_variances": 3.0}, "two for every group"),
        ({"class_variances": ((1.0, 2.0), (1.0,))}, "two for every group"),
        ({"class_variances": ((1.0, np.nan),)}, "two for every group"),
        ({"class_variances": ((1.0, 2.0),) * 128}, "127 groups at most"),
        ({"correlation": "0.5"}, "correlation"),
        ({"correlation": -0.1}, "correlation"),
    ],
)
def test_constants_that_make_no_sense(constants, words):
    with pytest.raises(bs.DataError, match=words):
        SynergeticModel(**constants)


@pytest.mark.parametrize("n_samples", [7, 0, True, 2.0, (3,), (0, 4), (1.5, 2), "10"])
def test_sizes_that_make_no_sense(n_samples):
    model = SynergeticModel()
    for draw in (model.draw, model.draw_moments, model.chunks):
        with pytest.raises(bs.DataError, match=r"even and at least 2|two whole numbers"):
            draw(n_samples, seed=0)


@pytest.mark.parametrize("seed", [-1, 1.5, "a", True])
def test_seeds_that_make_no_sense(seed):
    with pytest.raises(bs.OptionError, match="whole number of at least 0"):
        SynergeticModel().draw(10, seed=seed)


def test_accuracies_of_the_screen_on_raw_data():
    """Features labelled correctly at n = 50, against averages of 600 draws of another implementation."""
    reference = {"MNC-JP": 19893.6, "MNC-PP": 19904.1, "CMNC-JP": 19841.6, "CMNC-PP": 19842.6}
    rounds, scores = 10, {name: [] for name in reference}
    for seed in range(rounds):
        data = SynergeticModel().draw(50, seed=seed)
        for name, model in (("JP", bs.GaussianModel.jeffreys()), ("PP", bs.GaussianModel.proper())):
            posterior = bs.screen(data.values, data.labels, model=model, prior_probability=0.005)
            for rule_name, rule in (("MNC", bs.MinimalRisk(0.5)), ("CMNC", bs.FixedSize(100))):
                mask = rule.select(posterior).mask
                scores[f"{rule_name}-{name}"].append(int((mask == data.true_markers).sum()))
    for name, expected in reference.items():
        error = np.std(scores[name], ddof=1) / np.sqrt(rounds)
        assert np.mean(scores[name]) == pytest.approx(expected, abs=4 * error + 0.3), name
