"""Random tables in tiles: the same numbers for any slice, any chunk and any number of threads; models by name."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import bayesieve as bs
from bayesieve.simulation import SynergeticModel, SyntheticData, class_sizes_of, data_model, synthetic_data
from bayesieve.simulation.data_model import data_model_names
from bayesieve.simulation.synthetic_data import COLUMNS, ROWS, generator, seed_sequence

SMALL = {"low_variance_blocks": 60, "high_variance_features": 300}
MODELS = {
    **{name: data_model(name, **SMALL) for name in data_model_names() if name not in ("prior", "shapes")},
    "prior": data_model("prior", n_features=2 * COLUMNS + 5),
    "shapes": data_model("shapes", n_features=2 * COLUMNS + 5, noise="student", block_size=7, correlation=0.4),
}
models = pytest.mark.parametrize("model", MODELS.values(), ids=MODELS.keys())


def together(pieces, by):
    pieces = list(pieces)
    axis = 0 if by == "samples" else 1
    values = np.concatenate([piece.values for piece in pieces], axis=axis)
    labels = np.concatenate([piece.labels for piece in pieces]) if axis == 0 else pieces[0].labels
    kind = np.concatenate([piece.kind for piece in pieces]) if axis == 1 else pieces[0].kind
    return values, labels, kind


@models
@pytest.mark.parametrize("sizes", [(4, 9), (ROWS + 3, ROWS)], ids=str)
def test_chunks_and_threads_change_no_bit(model, sizes):
    whole = model.draw(sizes, seed=7, n_threads=1)
    n, p = whole.values.shape
    np.testing.assert_array_equal(whole.values, model.draw(sizes, seed=7, n_threads=3).values)
    cuts = [("samples", size) for size in (1, 5, ROWS, ROWS + 1, n, None)]
    cuts += [("features", size) for size in (COLUMNS - 1, 700, p, None)]
    for (by, size), n_threads in zip(cuts, itertools.cycle((1, 2)), strict=False):
        found = together(model.chunks(sizes, seed=7, by=by, size=size, n_threads=n_threads), by)
        for mine, expected in zip(found, (whole.values, whole.labels, whole.kind), strict=True):
            np.testing.assert_array_equal(mine, expected)


@models
def test_statistics_do_not_depend_on_threads(model, monkeypatch):
    drawn = []
    for n_threads in (1, 3):
        monkeypatch.setattr(synthetic_data, "n_threads_for", lambda *_, n=n_threads: n)
        drawn.append(model.draw_moments((70, 31), seed=3).moments)
    assert drawn[0].count.tolist() == [70, 31]
    np.testing.assert_array_equal(drawn[0].mean, drawn[1].mean)
    np.testing.assert_array_equal(drawn[0].centred_squares, drawn[1].centred_squares)


def test_statistics_summed_in_parts_are_those_of_the_whole(monkeypatch):
    monkeypatch.setattr(synthetic_data, "_VALUES_AT_ONCE", 1)  # a strip at a time
    model = MODELS["synergetic-heavy-tailed"]
    data, drawn = model.draw((70, 81), seed=3), model.draw_moments((70, 81), seed=3)
    assert len(list(model.chunks((70, 81), seed=3))) == 5
    raw = bs.Moments.from_matrix(data.values, data.labels)
    np.testing.assert_allclose(drawn.moments.mean, raw.mean, rtol=1e-10, atol=1e-13)
    np.testing.assert_allclose(drawn.moments.centred_squares, raw.centred_squares, rtol=1e-11)


@models
def test_seeds(model):
    data = model.draw(6, seed=11)
    assert isinstance(data, SyntheticData)
    sequence = np.random.SeedSequence(11)
    np.testing.assert_array_equal(data.values, model.draw(6, seed=sequence).values)
    assert sequence.n_children_spawned == 0  # drawing leaves a seed as it was
    np.testing.assert_array_equal(data.values, model.draw(6, seed=sequence).values)
    child, other = np.random.SeedSequence(11).spawn(2)
    drawn = [model.draw(6, seed=seed).values for seed in (child, other, np.random.SeedSequence(12), None, None)]
    for one, two in itertools.combinations([data.values, *drawn], 2):
        assert (one != two).mean() > 0.99
    assert np.isfinite(data.values).all()


def test_tiles_and_strips_are_independent_of_each_other():
    """No two tiles repeat each other, and rows and columns correlate as little as chance allows."""
    model = SynergeticModel(
        class_variances=((1.0, 2.0),), global_blocks=0, heterogeneous_blocks=0, low_variance_blocks=0,
        high_variance_features=2 * COLUMNS, mixture_range=(1.0, 1.0),
    )  # fmt: skip
    values = model.draw(4 * ROWS, seed=0).values
    assert np.unique(values).size == values.size
    tiles = [
        values[r : r + ROWS, c : c + COLUMNS].ravel()
        for r in range(0, 4 * ROWS, ROWS)
        for c in range(0, 2 * COLUMNS, COLUMNS)
    ]
    correlations = np.corrcoef(tiles)[~np.eye(len(tiles), dtype=bool)]
    assert np.abs(correlations).max() < 5 / np.sqrt(ROWS * COLUMNS)


def test_keys_of_streams_are_apart_from_children_of_the_caller():
    seed = np.random.SeedSequence(5)
    mine = generator(seed, 0).integers(0, 2**63, 4).tolist()
    children = [np.random.Generator(np.random.SFC64(child)) for child in np.random.SeedSequence(5).spawn(10)]
    assert mine not in [child.integers(0, 2**63, 4).tolist() for child in children]
    assert generator(seed_sequence(5), 1, 2).random() != generator(seed_sequence(5), 2, 1).random()


def test_chunks_that_make_no_sense():
    with pytest.raises(bs.OptionError, match="'samples' or 'features'"):
        SynergeticModel().chunks(10, by="genes")
    with pytest.raises(bs.OptionError, match="at least 1"):
        SynergeticModel().chunks(10, size=0)


def test_models_by_name():
    assert data_model_names() == (
        "synergetic", "synergetic-heavy-tailed", "synergetic-skewed", "synergetic-outliers", "prior", "shapes",
    )  # fmt: skip
    assert [data_model(name).n_features for name in data_model_names()] == [20_000] * 6
    listed = data_model("synergetic", class_variances=[[1.0, 2.0]], heterogeneous_blocks=[1, 2])
    assert listed == SynergeticModel(class_variances=((1.0, 2.0),), heterogeneous_blocks=(1, 2))
    assert data_model("synergetic-skewed", log_deviation=0.1).log_deviation == 0.1
    assert data_model("prior", variance_scale=2.0).model.pooled_prior.variance_scale == 2.0
    with pytest.raises(bs.OptionError, match="There is no data model 'synthetic'; there are synergetic, "):
        data_model("synthetic")
    with pytest.raises(bs.OptionError, match="has no constant 'rho'; its constants are block_size, correlation"):
        data_model("synergetic", rho=0.5)


def test_class_sizes():
    assert class_sizes_of(np.int64(10)) == (5, 5)
    assert class_sizes_of([3, 4]) == (3, 4)
