"""Habits of data scientists: pandas with an index, weights, mixed frames, grids over rules, empty lists."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

import bayesieve as bs

RNG = np.random.default_rng(4)
IDS = [f"s{i}" for i in range(40)]
X = pd.DataFrame(RNG.normal(size=(40, 30)), index=IDS, columns=[f"g{j}" for j in range(30)])
X.iloc[20:, 3] += 3.0
Y = pd.Series(["a"] * 20 + ["b"] * 20, index=IDS, name="y")
ORDER = RNG.permutation(40)


def test_labels_are_aligned_by_their_index():
    expected = bs.screen(X, Y, shuffles=0).log_odds
    np.testing.assert_array_equal(bs.screen(X, Y.iloc[ORDER], shuffles=0).log_odds, expected)
    np.testing.assert_array_equal(bs.screen(X, Y.iloc[ORDER].to_frame(), shuffles=0).log_odds, expected)
    categories = bs.CategoricalModel()
    small = (X > 0).astype(int)
    np.testing.assert_array_equal(
        bs.screen(small, Y.iloc[ORDER], model=categories, shuffles=0).log_odds,
        bs.screen(small, Y, model=categories, shuffles=0).log_odds,
    )
    selector = bs.OBFSelector(shuffles=0)
    np.testing.assert_array_equal(selector.fit(X, Y.iloc[ORDER]).scores_, expected)


def test_blocks_and_pairs_are_aligned_by_their_index():
    blocks = pd.Series(["p", "q"] * 20, index=IDS)
    expected = bs.screen(X, Y, blocks=blocks, shuffles=0).log_odds
    np.testing.assert_array_equal(bs.screen(X, Y, blocks=blocks.iloc[ORDER], shuffles=0).log_odds, expected)
    pairs = pd.Series([*range(20)] * 2, index=IDS)
    expected = bs.OBFSelector(shuffles=0).fit(X, Y, pairs=pairs).scores_
    np.testing.assert_array_equal(bs.OBFSelector(shuffles=0).fit(X, Y, pairs=pairs.iloc[ORDER]).scores_, expected)


@pytest.mark.parametrize("fit", [bs.screen, lambda X, y: bs.OBFSelector().fit(X, y)])
def test_another_index_is_refused(fit):
    with pytest.raises(
        bs.LabelError, match=r"The index of y is not that of X: 40 of the 40 samples.*to_numpy\(\)"
    ):
        fit(X, Y.reset_index(drop=True))
    with pytest.raises(bs.LabelError, match=r"1 of the 40 samples of X are not in it.*'s0'"):
        fit(X, Y.rename(index={"s0": "S0"}))
    with pytest.raises(bs.LabelError, match=r"entries are repeated"):
        fit(X, Y.rename(index={"s0": "s1"}))


def test_what_has_no_index_is_taken_by_position():
    expected = bs.screen(X, Y, shuffles=0).log_odds
    for y in (Y.to_numpy(), list(Y), pl.Series(Y.tolist())):
        np.testing.assert_array_equal(bs.screen(X, y, shuffles=0).log_odds, expected)
    np.testing.assert_array_equal(bs.screen(X.to_numpy(), Y.iloc[::-1].iloc[::-1], shuffles=0).log_odds, expected)


def test_weights_are_refused_with_the_reason():
    with pytest.raises(bs.OptionError, match=r"sample_weight is not taken: .* evidence"):
        bs.OBFSelector().fit(X, Y, sample_weight=np.ones(40))
    bs.OBFSelector(shuffles=0).fit(X, Y, sample_weight=None)
    with pytest.raises(TypeError, match="unexpected keyword argument 'weights'"):
        bs.OBFSelector().fit(X, Y, weights=1)


@pytest.mark.parametrize("frame", [X.assign(sex="m"), pl.from_pandas(X.assign(sex="m"))], ids=["pandas", "polars"])
def test_mixed_frames_are_refused_by_the_name_of_the_column(frame):
    y = Y.to_numpy()
    with pytest.raises(bs.DataError, match=r"1 of 31 columns do not hold numbers: 'sex'"):
        bs.OBFSelector().fit(frame, y)


def test_numbers_of_a_rule_are_parameters():
    selector = bs.OBFSelector(rule=bs.FixedSize(3), shuffles=0)
    assert selector.get_params()["rule__n"] == 3
    assert "rule__n" not in selector.get_params(deep=False)
    assert clone(selector).set_params(rule__n=5).fit(X, Y).get_support().sum() == 5
    assert bs.OBFSelector(rule="NP:5").set_params(rule__expected_false_positives=2).rule == bs.NeymanPearson(2)
    with pytest.raises(bs.OptionError, match=r"has no parameter 'size'. It has: 'n'"):
        selector.set_params(rule__size=2)
    pipe = make_pipeline(selector, LogisticRegression())
    grid = GridSearchCV(pipe, {"obfselector__rule__n": [1, 2, 4]}, cv=3).fit(X, Y)
    assert grid.best_params_["obfselector__rule__n"] in (1, 2, 4)
    assert selector.rule == bs.FixedSize(3)


def test_a_pipeline_stays_alive_when_nothing_passes():
    noise = X.drop(columns="g3")
    selector = bs.OBFSelector(rule=bs.MinimalRisk(0.999999), shuffles=0, min_features=2)
    with pytest.warns(
        bs.DataWarning, match=r"The rule selects 0 of 29 features; the 2 strongest are kept because"
    ):
        selector.fit(noise, Y)
    assert selector.get_support().sum() == 2
    assert selector.selection_.n_selected == 0
    assert selector.get_support()[np.argmax(selector.scores_)]
    assert bs.OBFSelector(shuffles=0, min_features=1).fit(X, Y).get_support().sum() >= 1  # no warning
    with pytest.raises(bs.OptionError, match="min_features must be a whole number"):
        bs.OBFSelector(shuffles=0, min_features=-1).fit(X, Y)
