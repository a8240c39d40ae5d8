"""2MNC-Robust, POFAC, REMAIN and SPM against their definitions, enumeration and what they are for."""

from __future__ import annotations

import itertools

import naive_pairs
import numpy as np
import pytest
from scipy.special import logsumexp

import bayesieve as bs
from bayesieve.rivals import rival

PRIORS = {"jp": None, "pp": naive_pairs.PP}


def made(p=14, n=(16, 20), seed=0):
    """Two correlated markers in mean, a pair whose correlation flips, and noise."""
    rng = np.random.default_rng(seed)
    y = np.repeat([0, 1], n)
    X = rng.normal(size=(y.size, p))
    X[y == 1, :2] += 1.2
    if p > 3:
        X[:, 1] = 0.8 * X[:, 0] + 0.6 * X[:, 1]
        X[:, 3] = np.where(y == 1, -0.9, 0.9) * X[:, 2] + np.sqrt(0.19) * X[:, 3]
    return X, y


def flipped(seed, p=200, n=60, marker=True):
    """A pair whose correlation is 0.8 in one class and -0.8 in the other, and a marker in mean."""
    rng = np.random.default_rng(seed)
    y = np.repeat([0, 1], n)
    X = rng.normal(size=(2 * n, p))
    X[:, 1] = np.where(y == 1, -0.8, 0.8) * X[:, 0] + 0.6 * X[:, 1]
    X[y == 1, 2] += 1.0 if marker else 0.0
    return X, y


@pytest.mark.parametrize("prior", PRIORS)
@pytest.mark.parametrize("seed", range(3))
def test_scores_equal_their_definition(prior, seed):
    X, y = made(seed=seed)
    found = bs.score(X, y, method="2mnc-robust", prior=prior)
    assert np.allclose(found.score, naive_pairs.two_mnc(X, y, PRIORS[prior]), rtol=0, atol=1e-10)
    found = bs.score(X, y, method="pofac", prior=prior)
    assert np.allclose(found.score, naive_pairs.log_pofac(X, y, PRIORS[prior]), rtol=0, atol=1e-10)
    assert np.allclose(found.details["log_bayes_factor"], naive_pairs.singles(X, y, PRIORS[prior]), atol=1e-10)


@pytest.mark.parametrize(("prior", "model"), [
    ("jp", bs.GaussianModel.jeffreys("sqrt2pi")), ("pp", bs.GaussianModel.proper()),
])  # fmt: skip
def test_2mnc_is_the_marginal_over_all_sets_of_two(prior, model):
    """The evidence of every pair by enumeration with it as a block, then all 64 sets with a prior on two."""
    X, y = made(6)
    likelihood = {}
    for pair in itertools.combinations(range(6), 2):
        blocks = [list(pair), *([f] for f in range(6) if f not in pair)]
        found = bs.enumerate_sets(X, y, model=model, prior={pair: 0.5, (): 0.5}, structure=blocks)
        likelihood[frozenset(pair)] = found.log_odds[pair[0]]
    posterior = bs.SetPosterior.of_log_likelihood(
        lambda features: likelihood.get(features, 0.0), dict.fromkeys(likelihood, 1.0), n_features=6
    )
    score = bs.score(X, y, method="2mnc-robust", prior=prior).score
    assert np.allclose(score - logsumexp(score) + np.log(2), np.log(posterior.probability), rtol=0, atol=1e-10)


@pytest.mark.parametrize("prior", PRIORS)
@pytest.mark.parametrize(("t1", "t2"), [(0.3, 5.0), (0.1, 0.0), (0.6, 2.0), (0.05, -50.0), (0.3, 1000.0)])
def test_remain_equals_its_definition(prior, t1, t2):
    X, y = made()
    order = naive_pairs.remain(X, y, PRIORS[prior], t1, t2)
    found = bs.score(X, y, method="remain", prior=prior, t1=t1, t2=t2)
    assert set(np.flatnonzero(found.selected)) == set().union(*order)
    for step, features in enumerate(order):
        assert set(np.flatnonzero(found.score == -step)) == features
    assert found.selection == tuple(found.top(int(found.selected.sum())))


@pytest.mark.parametrize("prior", PRIORS)
@pytest.mark.parametrize(("t1", "t2", "log_t4"), [(10.0, 1.0, 2.0), (1.0, 0.2, -1.0), (1.0, 0.0, -50.0)])
def test_spm_equals_its_definition(prior, t1, t2, log_t4):
    X, y = made(10, (12, 9))
    X = X @ (np.eye(10) + 0.5 * np.random.default_rng(1).normal(size=(10, 10)))
    blocks = naive_pairs.spm(X, y, PRIORS[prior], t1, t2, log_t4)
    found = bs.score(X, y, method="spm", prior=prior, t1=t1, t2=t2, log_t4=log_t4)
    assert [[int(name[1:]) for name in block] for block in found.diagnostics["blocks"]] == blocks
    assert set(np.flatnonzero(found.selected)) == set(itertools.chain(*blocks))
    for block, gains in zip(blocks, found.diagnostics["gains"], strict=True):
        for d in range(1, len(block)):
            price = np.log(t1) + t2 * d * np.log(21)
            expected = -price
            for k in (0, 1):
                part = X[y == k]
                for sign, which in ((1, block[: d + 1]), (-1, block[:d]), (-1, block[d : d + 1])):
                    expected += sign * naive_pairs.log_marginal(part[:, which], PRIORS[prior], k)
            assert gains[d] == pytest.approx(expected, abs=1e-9)
    if log_t4 == -50.0:
        assert found.selected.all()
        assert prior == "pp" or max(map(len, blocks)) == 6  # the smaller class allows no more


def test_two_features_share_their_score():
    X, y = made(2)
    for prior in PRIORS:
        score = bs.score(X, y, method="2mnc-robust", prior=prior).score
        assert score[0] == score[1]
    for method in ("pofac", "remain", "spm"):
        assert np.isfinite(bs.score(X, y, method=method).score).all()


def test_one_feature_has_no_partner():
    X, y = made(1)
    for method in ("2mnc-robust", "pofac", "remain", "spm"):
        found = bs.score(X, y, method=method)
        assert found.selected is None or not found.selected.any()


def test_a_flipped_correlation_is_found_where_the_filter_is_blind():
    ranks = {name: [] for name in ("2mnc-robust", "pofac", "obf-jp")}
    for seed in range(12):
        X, y = flipped(seed)
        for name, each in ranks.items():
            each.append(bs.score(X, y, method=name).rank[:3])
    for name in ("2mnc-robust", "pofac"):
        assert np.array_equal(np.sort(np.median(np.sort(np.array(ranks[name])[:, :2], axis=1), axis=0)), [1, 2])
    assert np.median(np.array(ranks["2mnc-robust"])[:, 2]) == 3
    blind = np.array(ranks["obf-jp"])[:, :2]
    assert 60 < blind.mean() < 140  # 100.5 by chance, with a standard error of 12


def test_a_flipped_correlation_is_not_found_without_one():
    """The null of the test above: independent features in its place rank anywhere."""
    ranks = []
    for seed in range(12):
        X, y = flipped(seed, marker=False)
        X[:, 1] = np.random.default_rng(seed + 100).normal(size=y.size)
        ranks.append(bs.score(X, y, method="2mnc-robust").rank[:2])
    assert 60 < np.mean(ranks) < 140


def test_remain_returns_the_three_markers():
    """Spec I7: T1 = 0.3, T2 = 5 under Jeffreys' prior; in most data sets a few others follow them."""
    found = [bs.score(*flipped(seed), method="remain", t1=0.3, t2=5.0) for seed in range(10)]
    assert np.flatnonzero(found[0].selected).tolist() == [0, 1, 2]
    assert all(each.selected[:3].all() for each in found)
    assert all(set(each.top(3)) == {"x0", "x1", "x2"} for each in found)
    assert np.mean([each.selected.sum() for each in found]) < 8


@pytest.mark.parametrize("t2", [1.0, 2.0])
@pytest.mark.parametrize("kind", ["means", "variances"])
def test_spm_returns_the_two_blocks(kind, t2):
    """Spec I7: two blocks of 5 features (correlation 0.8) among 40; t1 = 10, log T4 = 5 under Jeffreys' prior."""
    exact = 0
    for seed in range(8):
        rng = np.random.default_rng(seed)
        y = np.repeat([0, 1], 60)
        X = rng.normal(size=(120, 40))
        for first in (0, 5):
            X[:, first : first + 5] = np.sqrt(0.2) * X[:, first : first + 5] + np.sqrt(0.8) * rng.normal(
                size=(120, 1)
            )
        if kind == "means":
            X[y == 1, :10] += np.tile(1.0 / np.arange(1, 6), 2)
        else:
            X[y == 1, :10] *= 1.6
        found = bs.score(X, y, method="spm", t1=10, t2=t2, log_t4=5)
        sets = {frozenset(block) for block in found.diagnostics["blocks"]}
        exact += sets == {frozenset(f"x{i}" for i in range(k, k + 5)) for k in (0, 5)}
    assert exact >= 7


def test_features_without_evidence_are_said_and_have_no_score():
    X, y = made()
    X[:, 5] = 1.0
    X[:, 7] = X[:, 6]
    for method in ("2mnc-robust", "pofac", "remain", "spm"):
        with pytest.warns(bs.DegenerateFeatureWarning, match=r"1 of 14 features .* 'x5'; 1 pairs? "):
            found = bs.score(X, y, method=method)
        assert np.flatnonzero(np.isnan(found.score)).tolist() == [5]
        assert found.diagnostics["n_collinear_pairs"] == 1
        assert np.isfinite(bs.score(X, y, method=method, prior="pp").score).all()


def test_options_and_data_that_do_not_fit():
    X, y = made()
    for options in ({"t1": 1.0}, {"t1": 0.0}, {"t2": "n"}):
        with pytest.raises(bs.OptionError, match=next(iter(options))):
            bs.score(X, y, method="remain", **options)
    for options in ({"t1": 0.0}, {"t2": -1.0}, {"prior_probability": 1.0}, {"log_t4": None, "t1": -1}):
        with pytest.raises(bs.OptionError):
            bs.score(X, y, method="spm", **options)
    with pytest.raises(bs.OptionError, match="prior must be"):
        bs.score(X, y, method="pofac", prior="proper")
    with pytest.raises(bs.LabelError, match="two classes, not 3"):
        bs.score(X, np.arange(36) % 3, method="pofac")
    X[0, 0] = np.nan
    with pytest.raises(bs.MissingValueError):
        bs.score(X, y, method="2mnc-robust")
    with pytest.raises(bs.MissingValueError, match="fill them in first"):
        bs.score(X, y, method="2mnc-robust", missing="omit")


def test_names_and_defaults():
    X, y = made()
    assert rival("2mnc").name == "2mnc-robust"
    told = bs.score(X, y, method="spm").diagnostics
    assert told["t1"] == pytest.approx(200)
    assert told["log_t4"] == pytest.approx(np.log(199))
    assert bs.score(X, y, method="remain").diagnostics["t2"] == 36
    again = [bs.score(X, y, method="spm", n_threads=k).score for k in (1, 4)]
    assert again[0].tobytes() == again[1].tobytes()
    compared = bs.compare_methods(X, y, methods=["obf-jp", "2mnc-robust", "pofac", "remain", "spm"])
    assert compared.methods[1] == "2mnc-robust"
