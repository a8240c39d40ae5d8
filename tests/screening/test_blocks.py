"""Blocks of samples: evidence adds up, and what every block says can be seen."""

from __future__ import annotations

import math

import jeffreys
import numpy as np
import pytest

import bayesieve as bs


def batches(n=30, p=200, seed=0, shift=4.0):
    """Three batches with their own location; the first ten features are markers."""
    rng = np.random.default_rng(seed)
    y = np.array(["case", "control"])[rng.permutation(np.arange(3 * n) % 2)]
    batch = np.repeat(["p", "q", "r"], n)
    X = rng.normal(size=(3 * n, p))
    X[y == "case", :10] += 2.0
    X += shift * rng.normal(size=(3, p)).repeat(n, axis=0)
    return X, y, batch


def test_log_bayes_factors_of_blocks_add_up():
    """Against three screens of their own."""
    X, y, batch = batches()
    posterior = jeffreys.screen(X, y, blocks=batch)
    alone = np.array([jeffreys.screen(X[batch == b], y[batch == b]).log_bayes_factor for b in "pqr"])
    np.testing.assert_allclose(posterior.log_bayes_factor, alone.sum(axis=0), rtol=1e-11)
    evidence = posterior.block_evidence
    assert evidence.names == ("p", "q", "r")
    np.testing.assert_allclose(evidence.contributions, alone, rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(evidence.pooled_log_bayes_factor, jeffreys.screen(X, y).log_bayes_factor, rtol=1e-9)
    np.testing.assert_allclose(
        evidence.without(posterior, "q"), posterior.prior_log_odds + alone[0] + alone[2], rtol=1e-8
    )


def test_columns_and_notes_show_pooled_and_blocked_side_by_side():
    X, y, batch = batches()
    posterior = jeffreys.screen(X, y, blocks=batch)
    table = posterior.to_dict()
    assert {
        "log_odds_pooled",
        "log_odds_without_a_block",
        "without_block",
        "block_p",
        "block_q",
        "block_r",
    } <= set(table)
    worst = np.array([posterior.block_evidence.without(posterior, b) for b in "pqr"]).min(axis=0)
    np.testing.assert_allclose(table["log_odds_without_a_block"], worst, rtol=1e-9)
    said = bs.MinimalRisk(0.5).select(posterior).summary()
    assert "3 blocks (p, q, r)" in said
    assert "enters 3 times: 0.001 in all" in said
    assert posterior.take([5]).to_dict()["block_q"][0] == table["block_q"][5]


def test_blocks_keep_batch_effects_from_passing_for_differences():
    """Unbalanced batches with own locations: pooling finds nulls, blocks do not."""
    rng = np.random.default_rng(3)
    batch = np.repeat([0, 1], 60)
    y = np.where(rng.random(120) < np.where(batch == 0, 0.75, 0.25), "a", "b")
    X = rng.normal(size=(120, 500)) + 2.0 * batch[:, None]
    pooled = (bs.screen(X, y).log_odds > 0).sum()
    for block_model in ("own", "shift"):
        assert (bs.screen(X, y, blocks=batch, block_model=block_model).log_odds > 0).sum() <= 3
    assert pooled > 100


def test_small_blocks_with_own_parameters_are_warned_of_and_the_shared_shift_is_not():
    """Monte Carlo: ten batches of eight; the arbitrary prior ratio enters ten times and swamps the evidence."""
    rng = np.random.default_rng(1)
    y, batch = np.array(["a", "b"] * 40), np.repeat(np.arange(10), 8)
    X = rng.normal(size=(80, 400)) + 4 * rng.normal(size=(10, 400)).repeat(8, axis=0)
    X[y == "b", :200] += 0.9
    with pytest.warns(bs.CalibrationWarning, match=r"10 blocks.*under the global null.*shift"):
        own = jeffreys.screen(X, y, blocks=batch)
    shared = jeffreys.screen(X, y, blocks=batch, block_model="shift")
    assert (own.log_odds[200:] > 0).sum() > 50
    assert (shared.log_odds[200:] > 0).sum() <= 3
    assert bs.expected_under_null(own, 0.0) > 100
    assert bs.expected_under_null(shared, 0.0) < 3
    assert (shared.log_odds[:200] > 0).sum() > 100


def test_the_shared_shift_finds_what_pooling_misses():
    """Monte Carlo: a shift of the same sign in every batch, hidden by the locations of the batches."""
    X, y, batch = batches(n=24, p=400, seed=1)
    X[y == "case", :200] += 0.9
    shared = jeffreys.screen(X, y, blocks=batch, block_model="shift")
    assert (shared.log_odds[:200] > 0).sum() > 50 > 10 * (jeffreys.screen(X, y).log_odds[10:200] > 0).sum()
    assert (shared.log_odds[200:] > 0).sum() <= 3
    assert "the class shift and the variances shared" in bs.MinimalRisk(0.5).select(shared).summary()
    left = jeffreys.screen(X[batch != "q"], y[batch != "q"], blocks=batch[batch != "q"], block_model="shift")
    np.testing.assert_allclose(shared.block_evidence.without(shared, "q"), left.log_odds, rtol=1e-8, atol=1e-8)


def test_one_block_is_the_plain_screen():
    X, y, _ = batches()
    plain = bs.screen(X, y)
    for block_model in ("own", "shift"):
        got = bs.screen(X, y, blocks=["all"] * len(y), block_model=block_model)
        np.testing.assert_allclose(got.log_odds, plain.log_odds, rtol=1e-9, atol=1e-9)


@pytest.mark.filterwarnings("ignore::bayesieve.CalibrationWarning")
def test_blocks_that_have_no_say_are_reported():
    X, y, batch = batches()
    batch = batch.astype(object)
    batch[np.flatnonzero(y == "case")[:4]] = "lacking"
    batch[[np.flatnonzero(y == "case")[5], np.flatnonzero(y == "control")[5]]] = "tiny"
    posterior = jeffreys.screen(X, y, blocks=batch)
    used = ~np.isin(batch.astype(str), ["lacking", "tiny"])
    np.testing.assert_allclose(
        posterior.log_odds, jeffreys.screen(X[used], y[used], blocks=batch[used]).log_odds, rtol=1e-11
    )
    said = bs.MinimalRisk(0.5).select(posterior).summary()
    assert "Block lacking contributes nothing: it has no sample of class control" in said
    assert "Block tiny contributes nothing: it is too small for the prior (1 of case, 1 of control)" in said
    with pytest.raises(bs.PriorError, match="No block can be used"):
        jeffreys.screen(X, y, blocks=y)


@pytest.mark.filterwarnings("ignore::bayesieve.CalibrationWarning")
def test_a_feature_absent_from_a_block_uses_the_others():
    X, y, batch = batches()
    X[batch == "q", 0] = np.nan
    X[:, 1] = np.nan
    with pytest.warns(bs.DegenerateFeatureWarning):
        got = jeffreys.screen(X, y, blocks=batch, missing="omit")
    others = batch != "q"
    np.testing.assert_allclose(
        got.log_odds[0], jeffreys.screen(X[others, :1], y[others], blocks=batch[others]).log_odds[0], rtol=1e-11
    )
    assert got.log_bayes_factor[1] == 0.0
    assert got.degenerate.tolist()[:3] == [False, True, False]


def test_blocks_of_ready_statistics():
    X, y, batch = batches()
    by_block = {b: bs.Moments.from_matrix(X[batch == b], y[batch == b]) for b in "pqr"}
    pooled = by_block["p"].merge(by_block["q"]).merge(by_block["r"])
    np.testing.assert_allclose(
        bs.screen(pooled, blocks=by_block).log_odds, bs.screen(X, y, blocks=batch).log_odds, rtol=1e-11
    )


def test_many_classes_share_the_pattern_over_blocks():
    """Evidences of every pattern add up over blocks before patterns are weighed, by hand for three classes."""
    rng = np.random.default_rng(5)
    y, batch = np.array(list("abc") * 20), np.repeat([0, 1], 30)
    X = rng.normal(size=(60, 4)) + 1.0 * (y == "b")[:, None]
    model = bs.GaussianModel.jeffreys()
    posterior = jeffreys.screen(X, y, blocks=batch, prior_probability=0.5)
    patterns = ["a,b | c", "a,c | b", "b,c | a", "a | b | c"]
    weights = [1 / 6, 1 / 6, 1 / 6, 1 / 2]
    by_pattern = np.array([
        sum(model.log_bayes_factor(bs.Moments.from_matrix(X[batch == b], y[batch == b]), pattern) for b in (0, 1))
        for pattern in patterns
    ])  # fmt: skip
    expected = np.log((np.array(weights)[:, None] * np.exp(by_pattern)).sum(axis=0))
    np.testing.assert_allclose(posterior.log_bayes_factor, expected, rtol=1e-10)


def test_blocks_with_other_models():
    rng = np.random.default_rng(6)
    y, batch = np.array(["a", "b"] * 30), np.repeat([0, 1, 2], 20)
    X = rng.poisson(5, size=(60, 8))
    for model in (bs.PoissonModel(), bs.CategoricalModel()):
        got = bs.screen(X, y, blocks=batch, model=model).log_bayes_factor
        alone = sum(bs.screen(X[batch == b], y[batch == b], model=model).log_bayes_factor for b in range(3))
        np.testing.assert_allclose(got, alone, rtol=1e-10, atol=1e-10)


@pytest.mark.filterwarnings("ignore::bayesieve.CalibrationWarning")
@pytest.mark.parametrize("block_model", ["own", "shift"])
def test_chance_of_blocks_is_what_null_data_show(block_model):
    """Monte Carlo: the number under the global null against fresh Gaussian null data."""
    rng = np.random.default_rng(7)
    y, batch = ["a", "b"] * 20, np.repeat([0, 1], 20)
    model = bs.GaussianModel.jeffreys(1.0)
    posterior = bs.screen(
        rng.normal(size=(40, 10_000)), y, blocks=batch, block_model=block_model, model=model, prior_probability=0.1
    )
    seen, expected = int((posterior.log_odds > 0).sum()), bs.expected_under_null(posterior, 0.0)
    assert expected > 20
    assert abs(seen - expected) < 5 * math.sqrt(expected * 1.3)


def test_block_options_that_do_not_fit():
    X, y, batch = batches(p=3)
    with pytest.raises(bs.LabelError, match="blocks holds 5 values for 90 samples"):
        jeffreys.screen(X, y, blocks=batch[:5])
    with pytest.raises(bs.LabelError, match=r"blocks: 1 of 90 samples have no value.*give them one"):
        jeffreys.screen(X, y, blocks=[None, *batch[1:]])
    with pytest.raises(bs.OptionError, match="'own' or 'shift'"):
        jeffreys.screen(X, y, blocks=batch, block_model="none")
    with pytest.raises(bs.OptionError, match="two classes of Gaussian data under the calibrated or Jeffreys'"):
        jeffreys.screen(X, y, blocks=batch, block_model="shift", model=bs.GaussianModel.proper())
    with pytest.raises(bs.LabelError, match="mapping"):
        jeffreys.screen(bs.Moments.from_matrix(X, y), blocks=batch)


@pytest.mark.filterwarnings("ignore::bayesieve.CalibrationWarning")
def test_chance_of_some_features_is_their_own():
    """Blocks, pairs and a shared shift: half of the features have half of the number under the global null."""
    rng = np.random.default_rng(8)
    y, batch, pair = ["a", "b"] * 20, np.repeat([0, 1], 20), np.repeat(np.arange(20), 2)
    X = rng.normal(size=(40, 4000))
    for options in ({"blocks": batch}, {"blocks": batch, "block_model": "shift"}, {"pairs": pair}):
        posterior = bs.screen(X, y, model=bs.GaussianModel.jeffreys(0.4), prior_probability=0.2, **options)
        whole = bs.expected_under_null(posterior, 0.0)
        half = bs.expected_under_null(posterior.take(np.arange(2000)), 0.0)
        assert half == pytest.approx(whole / 2, rel=0.15)


@pytest.mark.filterwarnings("ignore::bayesieve.CalibrationWarning")
def test_a_floor_inside_a_block_is_flagged_and_told():
    X, y, batch = batches(p=4)
    X[(batch == "q") & (y == "case"), 1] = 0.25  # constant in one class of one block
    with pytest.warns(bs.DegenerateFeatureWarning, match="1 of 4 features are constant in a class of some block"):
        posterior = jeffreys.screen(X, y, blocks=batch)
    assert posterior.degenerate.tolist() == [False, True, False, False]


@pytest.mark.filterwarnings("ignore::bayesieve.CalibrationWarning")
def test_a_block_too_small_is_reported_although_values_are_missing():
    X, y, batch = batches(p=5)
    batch = batch.astype(object)
    batch[[np.flatnonzero(y == "case")[5], np.flatnonzero(y == "control")[5]]] = "tiny"
    X[0, 0] = np.nan
    evidence = jeffreys.screen(X, y, blocks=batch, missing="omit").block_evidence
    assert evidence.names == ("p", "q", "r")
    assert evidence.unused == (("tiny", "it is too small for the prior (1 of case, 1 of control)"),)
    assert evidence.prior_ratio == pytest.approx(1e-3)


def test_ready_blocks_are_checked_and_may_lack_a_class():
    X, y, batch = batches(p=4)
    whole = bs.Moments.from_matrix(X, y)
    by_block = {b: bs.Moments.from_matrix(X[batch == b], y[batch == b]) for b in "pq"}
    lone = (batch == "r") & (y == "case")
    by_block["cases"] = bs.Moments.from_matrix(X[lone], y[lone])
    used = (batch != "r") | lone
    whole = bs.Moments.from_matrix(X[used], y[used])
    evidence = bs.screen(whole, blocks=by_block).block_evidence
    assert evidence.unused == (("cases", "it has no sample of class control"),)
    with pytest.raises(bs.DataError, match="'p' must be Moments of the same 4 features"):
        bs.screen(whole, blocks={"p": bs.Moments.from_matrix(X[:, :3], y)})
    with pytest.raises(bs.DataError, match="do not add up to the whole"):
        bs.screen(whole, blocks={"p": by_block["p"]})
    with pytest.raises(bs.DataError, match="'p' must be Moments"):
        bs.screen(whole, blocks={"p": 3})
    with pytest.raises(bs.OptionError, match="no block 'z'"):
        evidence.without(bs.screen(whole, blocks=by_block), "z")


def test_shared_shift_with_missing_values_equals_each_feature_alone():
    X, y, batch = batches(p=6)
    X[np.random.default_rng(0).random(X.shape) < 0.2] = np.nan
    got = jeffreys.screen(X, y, blocks=batch, block_model="shift", missing="omit").log_odds
    for j in range(6):
        kept = np.isfinite(X[:, j])
        alone = jeffreys.screen(X[kept, j : j + 1], y[kept], blocks=batch[kept], block_model="shift").log_odds
        assert got[j] == pytest.approx(alone[0], rel=1e-9)


@pytest.mark.filterwarnings("ignore:1 of 3 features have no usable variance")
def test_options_that_the_shared_shift_does_not_know():
    X, y, batch = batches(p=3)
    for options in ({"informative_missing": True}, {"resolution": 0.1}):
        with pytest.raises(bs.OptionError, match="neither informative_missing nor resolution"):
            jeffreys.screen(X, y, blocks=batch, block_model="shift", **options)
    with pytest.raises(bs.OptionError, match="there are no blocks"):
        jeffreys.screen(X, y, block_model="shift")
    X[:, 1] = (y == "case") * 1.0
    with pytest.warns(bs.DegenerateFeatureWarning, match="no spread within blocks"):
        posterior = jeffreys.screen(X, y, blocks=batch, block_model="shift")
    assert posterior.degenerate.tolist() == [False, True, False]


def test_distinct_classes_in_blocks_have_pattern_columns():
    rng = np.random.default_rng(9)
    y, batch = list("abc") * 20, np.repeat([0, 1], 30)
    table = bs.screen(rng.normal(size=(60, 3)), y, blocks=batch, patterns="distinct").to_dict()
    assert "pattern" in table


def test_blocks_of_numbers_texts_and_dates_have_their_own_columns():
    X, y, _ = batches(p=3)
    mixed = np.array([1, "1"] * 45, dtype=object)
    assert {"block_1", "block_'1'"} <= set(bs.screen(X, y, blocks=mixed).to_dict())
    dates = np.repeat(np.array(["2026-01-05", "2026-02-07"], dtype="datetime64[ns]"), 45)
    assert any("2026-02-07" in name for name in bs.screen(X, y, blocks=dates).to_dict())


def test_blocks_in_which_classes_never_meet():
    X, y, _ = batches(p=3)
    with pytest.raises(bs.PriorError, match="No feature can be judged"):
        bs.screen(X, y, blocks=y, block_model="shift")


@pytest.mark.parametrize(("model", "words"), [(None, "means and variances"), (bs.PoissonModel(), "rates")])
def test_what_is_a_blocks_own_is_said_in_the_words_of_its_model(model, words):
    counts = np.random.default_rng(0).poisson(9.0, size=(24, 30))
    found = bs.screen(counts, [0, 1] * 12, blocks=["a"] * 12 + ["b"] * 12, model=model, shuffles=0)
    assert f"each with its own {words};" in str(found.findings[0].notes()[0])
