"""Log-odds, probabilities, tables and re-weighing."""

from __future__ import annotations

import numpy as np
import pytest
from posteriors import posterior_of

import bayesieve as bs


@pytest.fixture
def posterior(rng):
    X = rng.normal(size=(40, 30))
    X[20:, 0] += 2
    return bs.screen(X, ["a"] * 20 + ["b"] * 20, feature_names=[f"g{i}" for i in range(30)])


def test_probabilities_from_log_odds():
    posterior = posterior_of([0.0, 2.0, -2.0, 800.0, -800.0, 40.0])
    np.testing.assert_allclose(
        posterior.probability[:3], [0.5, 1 / (1 + np.exp(-2)), 1 / (1 + np.exp(2))], rtol=1e-15
    )
    assert posterior.null_probability[5] == pytest.approx(np.exp(-40.0), rel=1e-12)
    assert posterior.log_null_probability[3] == -800.0
    assert posterior.log_probability[4] == -800.0
    assert np.isfinite(posterior.log_probability).all()
    assert posterior.expected_markers == pytest.approx(posterior.probability.sum())


def test_re_weighing_equals_screening_again(rng):
    X, y = rng.normal(size=(20, 10)), np.repeat([0, 1], 10)
    priors = rng.uniform(0.01, 0.5, 10)
    again = bs.screen(X, y, prior_probability=priors)
    np.testing.assert_array_equal(bs.screen(X, y).with_prior(priors).log_odds, again.log_odds)
    np.testing.assert_array_equal(
        bs.screen(X, y).with_prior(0.3).log_odds, bs.screen(X, y, prior_probability=0.3).log_odds
    )


def test_screening_moments_equals_screening_data(rng):
    X, y = rng.normal(size=(20, 10)), np.repeat([0, 1], 10)
    np.testing.assert_array_equal(bs.screen(bs.Moments.from_matrix(X, y)).log_odds, bs.screen(X, y).log_odds)


def test_deleting_entries_equals_shortening_the_arrays(rng):
    X, y = rng.normal(size=(24, 8)), np.repeat([0, 1], 12)
    X[rng.random(X.shape) < 0.2] = np.nan
    for model in (bs.GaussianModel.jeffreys("n_decay"), bs.GaussianModel.jeffreys(lambda a, b: 1 / (a + 2 * b)),
                  bs.GaussianModel.proper()):  # fmt: skip
        whole = bs.screen(X, y, missing="omit", model=model).log_odds
        for j in range(8):
            there = ~np.isnan(X[:, j])
            alone = bs.screen(X[there][:, [j]], y[there], model=model).log_odds
            assert whole[j] == pytest.approx(alone[0], rel=1e-11)


@pytest.mark.filterwarnings("ignore:1 of 2 features")
def test_a_feature_that_is_missing_everywhere_returns_its_prior():
    X = np.array([[1.0, np.nan]] * 3 + [[2.0, np.nan]] * 3) + np.arange(6)[:, None] * 0.1
    y = [0, 0, 0, 1, 1, 1]
    proper = bs.screen(X, y, missing="omit", model=bs.GaussianModel.proper(), prior_probability=0.2)
    assert proper.probability[1] == pytest.approx(0.2, rel=1e-12)
    assert not proper.degenerate.any()


def test_ranking_is_stable_and_ranks_count_from_one():
    posterior = posterior_of([1.0, 3.0, 1.0, 3.0])
    assert posterior.ranking.tolist() == [1, 3, 0, 2]
    assert posterior.rank.tolist() == [3, 1, 4, 2]
    assert posterior.names == ("x0", "x1", "x2", "x3")


def test_tables_agree(posterior):
    table = posterior.to_dict()
    assert list(table)[:4] == ["rank", "feature", "log_odds", "probability"]
    frame, other = posterior.to_pandas(), posterior.to_polars()
    assert list(frame.columns) == other.columns == list(table)
    np.testing.assert_array_equal(frame["log_odds"], posterior.log_odds)
    np.testing.assert_array_equal(other["log_odds"].to_numpy(), posterior.log_odds)
    assert other["feature"].to_list()[0] == "g0"
    assert other["n_a"].to_list() == [20] * 30


def test_class_statistics_in_the_table(rng):
    X, y = rng.normal(size=(20, 5)), np.repeat(["a", "b"], 10)
    table = bs.screen(X, y).to_dict()
    np.testing.assert_allclose(table["mean_difference"], X[10:].mean(axis=0) - X[:10].mean(axis=0), rtol=1e-11)
    np.testing.assert_allclose(table["sd_b"], X[10:].std(axis=0, ddof=1), rtol=1e-12)
    ratio = np.log(X[10:].var(axis=0, ddof=1) / X[:10].var(axis=0, ddof=1))
    np.testing.assert_allclose(table["log_variance_ratio"], ratio, rtol=1e-10)
    flipped = bs.screen(X, y, classes=("b", "a")).to_dict()
    np.testing.assert_allclose(flipped["mean_difference"], -table["mean_difference"], rtol=1e-12)


def test_results_cannot_be_changed_by_accident(posterior):
    with pytest.raises(ValueError, match="read-only"):
        posterior.log_bayes_factor[0] = 0.0
    with pytest.raises(ValueError, match="read-only"):
        posterior.moments.mean[0, 0] = 0.0
    with pytest.raises(AttributeError):
        posterior.model = None
