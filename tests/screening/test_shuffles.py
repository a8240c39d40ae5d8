"""Screens with shuffled labels are screens with shuffled labels: the same numbers as calling screen() on them."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import scipy.sparse as sp

import bayesieve as bs
from bayesieve.errors import OptionError
from bayesieve.posterior.null.shuffled import ShuffledLabels
from bayesieve.screening.inputs import Shufflable
from bayesieve.screening.shuffles import number_of_shuffles

MODELS = {
    "calibrated": bs.CalibratedModel(),
    "jeffreys": bs.GaussianModel.jeffreys(),
    "proper": bs.GaussianModel.proper(),
}


def table(rng, n=24, p=60, shift=2.0):
    X = rng.normal(size=(n, p))
    X[n // 2 :, :3] += shift
    return X, np.repeat(["a", "b"], n // 2)


def labellings(X, y, n, seed=0, **design):
    """The labels that screen() used, drawn again."""
    matrix = bs.LabelledMatrix.from_arrays(X, y)
    return Shufflable(matrix, **design).draw(n, seed)[0]


@pytest.mark.parametrize("name", MODELS)
def test_every_shuffle_is_a_screen_of_its_own(rng, name):
    X, y = table(rng)
    posterior = bs.screen(X, y, model=MODELS[name], shuffles=7, seed=5)
    for values, codes in zip(posterior.shuffled.values, labellings(X, y, 7, 5), strict=True):
        labels = np.array(["a", "b"])[codes]
        alone = bs.screen(X, labels, model=MODELS[name], shuffles=0).log_bayes_factor
        np.testing.assert_allclose(values, np.sort(alone[alone > 0])[::-1], atol=5e-6)


def test_shares_are_counts_of_what_reaches_as_far(rng):
    X, y = table(rng)
    posterior = bs.screen(X, y, shuffles=9)
    null = []
    for codes in labellings(X, y, 9):
        alone = bs.screen(X, np.array(["a", "b"])[codes], model=bs.CalibratedModel().quick(), shuffles=0)
        null.append(alone.log_bayes_factor)
    own, null = posterior.log_bayes_factor, np.array(null)
    rate = np.array([(null >= each - 1e-6).sum() / 9 / (own >= each).sum() for each in own])
    expected = np.array([min(1.0, rate[own <= each].min()) for each in own])
    np.testing.assert_allclose(posterior.shuffled.share, expected, atol=1e-12)
    np.testing.assert_allclose(posterior.expected_fdr, 0.99 * expected, atol=1e-12)


def test_kinds_of_tables_agree(rng):
    counts = 0.25 * rng.poisson(2.0, size=(30, 40))
    y = np.repeat([0, 1], 15)
    dense = bs.screen(counts, y, shuffles=5).shuffled
    for X in (sp.csr_matrix(counts), sp.csc_matrix(counts), np.asfortranarray(counts), counts.astype(np.float32)):
        other = bs.screen(X, y, shuffles=5).shuffled
        for one, two in zip(dense.values, other.values, strict=True):
            np.testing.assert_allclose(one, two, rtol=1e-9)


def test_batches_keep_their_class_sizes(rng):
    X, y = table(rng)
    blocks = np.repeat(["one", "two", "three"], 8)[rng.permutation(24)]
    posterior = bs.screen(X, y, blocks=blocks, shuffles=6)
    assert posterior.shuffled.scheme == "batches"
    drawn = labellings(X, y, 6, strata=tuple(blocks))
    own = bs.LabelledMatrix.from_arrays(X, y).labels.codes
    for values, codes in zip(posterior.shuffled.values, drawn, strict=True):
        for name in set(blocks):
            assert codes[blocks == name].sum() == own[blocks == name].sum()
        labels = np.array(["a", "b"])[codes]
        alone = bs.screen(X, labels, blocks=blocks, model=bs.CalibratedModel().quick(), shuffles=0)
        found = alone.log_bayes_factor
        np.testing.assert_allclose(values, np.sort(found[found > 0])[::-1], atol=1e-9)


@pytest.mark.parametrize("design", ["own", "shift"])
def test_block_models_are_those_of_the_screen(rng, design):
    X, y = table(rng)
    blocks = np.tile([0, 1], 12)
    posterior = bs.screen(X, y, blocks=blocks, block_model=design, shuffles=3)
    codes = labellings(X, y, 3, strata=tuple(blocks.tolist()))[0]
    alone = bs.screen(X, codes, blocks=blocks, block_model=design, model=bs.CalibratedModel().quick(), shuffles=0)
    found = alone.log_bayes_factor
    np.testing.assert_allclose(posterior.shuffled.values[0], np.sort(found[found > 0])[::-1], atol=1e-9)


def test_pairs_exchange_their_samples(rng):
    n = 9
    X = rng.normal(size=(2 * n, 30))
    X[n:, 0] += 2.0
    y, pairs = np.repeat([0, 1], n), np.tile(np.arange(n), 2)
    posterior = bs.screen(X, y, pairs=pairs, shuffles=8)
    assert posterior.shuffled.scheme == "pairs"
    differences = X[n:] - X[:n]
    rng_again = np.random.default_rng(0)
    signs = []
    while len(signs) < 8:
        drawn = rng_again.choice((-1, 1), n)
        if not any((drawn == each).all() or (drawn == -each).all() for each in (*signs, np.ones(n))):
            signs.append(drawn)
    for values, sign in zip(posterior.shuffled.values, signs, strict=True):
        flipped = X.copy()
        flipped[n:] = X[:n] + sign[:, None] * differences
        alone = bs.screen(flipped, y, pairs=pairs, model=bs.CalibratedModel().quick(), shuffles=0)
        found = alone.log_bayes_factor
        np.testing.assert_allclose(values, np.sort(found[found > 0])[::-1], atol=1e-9)


def test_counts_and_categories_are_shuffled_too(rng):
    counts = rng.poisson(4.0, size=(20, 25))
    y, exposures = np.repeat([0, 1], 10), rng.uniform(0.5, 2.0, 20)
    for model in (bs.PoissonModel(), bs.NegativeBinomialModel()):
        posterior = bs.screen(counts, y, model=model, exposures=exposures, shuffles=3)
        codes = labellings(counts, y, 3)[1]
        alone = bs.screen(counts, codes, model=model.quick(), exposures=exposures, shuffles=0).log_bayes_factor
        np.testing.assert_allclose(posterior.shuffled.values[1], np.sort(alone[alone > 0])[::-1], rtol=1e-12)
    genotypes = rng.integers(0, 3, size=(20, 25))
    posterior = bs.screen(genotypes, y, model=bs.CategoricalModel(), shuffles=3)
    alone = bs.screen(genotypes, labellings(genotypes, y, 3)[2], model=bs.CategoricalModel(), shuffles=0)
    found = alone.log_bayes_factor
    np.testing.assert_allclose(posterior.shuffled.values[2], np.sort(found[found > 0])[::-1], rtol=1e-12)


def test_three_classes_and_missing_values(rng):
    X, y = rng.normal(size=(21, 15)), np.arange(21) % 3
    X[rng.random(X.shape) < 0.1] = np.nan
    posterior = bs.screen(X, y, missing="omit", shuffles=4)
    codes = labellings(X, y, 4)[3]
    alone = bs.screen(X, codes, missing="omit", model=bs.CalibratedModel().quick(), shuffles=0).log_bayes_factor
    np.testing.assert_allclose(posterior.shuffled.values[3], np.sort(alone[alone > 0])[::-1], atol=1e-9)


def test_few_labellings_are_all_taken_and_mirror_images_are_one():
    X = np.random.default_rng(0).normal(size=(6, 5))
    shuffled = bs.screen(X, [0, 0, 0, 1, 1, 1], shuffles=100).shuffled
    assert shuffled.complete
    assert shuffled.n_shuffles == 9  # 20 ways, less the true one, mirror images counted once
    assert bs.screen(X, [0, 0, 1, 1, 1, 1], shuffles=100).shuffled.n_shuffles == 14
    drawn = labellings(X, [0, 0, 0, 1, 1, 1], 100)
    everyone = {tuple(codes) for codes in drawn} | {tuple(1 - codes) for codes in drawn}
    ways = {tuple(np.isin(np.arange(6), c).astype(int)) for c in itertools.combinations(range(6), 3)}
    assert everyone == ways - {(0, 0, 0, 1, 1, 1), (1, 1, 1, 0, 0, 0)}


def test_the_same_seed_gives_the_same_shuffles(rng):
    X, y = table(rng)
    one, two, three = (bs.screen(X, y, shuffles=5, seed=seed).shuffled for seed in (1, 1, 2))
    assert all(np.array_equal(a, b) for a, b in zip(one.values, two.values, strict=True))
    assert not all(np.array_equal(a, b) for a, b in zip(one.values, three.values, strict=True))


def test_another_prior_probability_moves_the_counts_with_the_list(rng):
    X, y = table(rng)
    posterior = bs.screen(X, y, shuffles=9)
    moved = posterior.with_prior(0.2)
    again = bs.screen(X, y, shuffles=9, prior_probability=0.2)
    assert (
        moved.shuffled.counts(0.0, moved.prior_log_odds).tolist()
        == again.shuffled.counts(0.0, again.prior_log_odds).tolist()
    )
    assert posterior.with_prior(np.full(60, 0.1)).shuffled is None


def test_prior_probabilities_of_features_enter_their_shuffles(rng):
    X, y = table(rng)
    prior = rng.uniform(0.01, 0.4, 60)
    posterior = bs.screen(X, y, prior_probability=prior, shuffles=4)
    for k, codes in enumerate(labellings(X, y, 4)):
        model = bs.CalibratedModel().quick()
        alone = bs.screen(X, codes, model=model, prior_probability=prior, shuffles=0).log_odds
        assert posterior.shuffled.counts(0.3, posterior.prior_log_odds)[k] == (alone > 0.3).sum()


def test_the_number_of_shuffles_follows_the_size(monkeypatch):
    monkeypatch.setattr("bayesieve.screening.shuffles.FEWEST", 20)
    monkeypatch.setattr("bayesieve.screening.shuffles.MOST", 100)
    assert number_of_shuffles("auto", 200, 20_000) == 100
    assert number_of_shuffles("auto", 238, 54_675) == 30
    assert number_of_shuffles("auto", 1000, 500_000) == 20
    assert number_of_shuffles(3, 10, 10) == 3
    assert number_of_shuffles(None, 10, 10) == number_of_shuffles(0, 10, 10) == 0
    for wrong in ("many", -1, 2.5):
        with pytest.raises(OptionError, match="shuffles"):
            number_of_shuffles(wrong, 10, 10)


def test_ready_statistics_hold_no_labels(rng):
    X, y = table(rng)
    posterior = bs.screen(bs.Moments.from_matrix(X, y), shuffles=5)
    assert posterior.shuffled is None
    assert bs.MinimalRisk(0.5).select(posterior).false_positive_estimate.source == "model"


def test_progress_is_told(rng):
    seen = []
    X, y = table(rng)
    bs.screen(X, y, shuffles=4, progress=lambda done, total: seen.append((done, total)))
    assert seen == [(1, 4), (2, 4), (3, 4), (4, 4)]


def test_a_file_is_shuffled_as_its_array(rng, tmp_path):
    X, y = table(rng)
    path = tmp_path / "table.csv"
    lines = ["class," + ",".join(f"g{j}" for j in range(60))]
    lines += [label + "," + ",".join(map(repr, map(float, row))) for label, row in zip(y, X, strict=True)]
    path.write_text("\n".join(lines), encoding="utf-8")
    posterior = bs.screen(bs.read_table(path, labels="class", keep_values=True), shuffles=5)
    expected = bs.screen(X, y, shuffles=5)
    for one, two in zip(posterior.shuffled.values, expected.shuffled.values, strict=True):
        np.testing.assert_allclose(one, two, rtol=1e-9)


def test_intervals_are_quantiles_over_the_shuffles():
    values = [np.arange(1.0, k + 1) for k in range(20)]
    found = ShuffledLabels.collect(np.zeros(20), [np.pad(v, (0, 20 - v.size)) for v in values])
    counts = np.arange(20)
    assert found.counts(0.0, 0.0).tolist() == counts.tolist()
    assert found.expected(0.0, 0.0) == counts.mean()
    assert found.interval(0.0, 0.0) == tuple(np.quantile(counts, [0.05, 0.95], method="inverted_cdf"))
