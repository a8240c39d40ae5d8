import numpy as np
import pytest

import bayesieve as bs
from bayesieve.data import LabelledMatrix
from bayesieve.rivals.feature_scores import FeatureScores
from bayesieve.rivals.prescreen import on_strongest, parse_screen


@pytest.fixture
def matrix():
    X = np.random.default_rng(3).normal(size=(20, 12))
    X[10:, 4] += 5.0
    X[10:, 7] += 3.0
    return LabelledMatrix.from_arrays(X, [0] * 10 + [1] * 10)


def test_only_the_strongest_features_reach_the_method_and_the_rest_have_no_score(matrix):
    seen = {}

    def run(part, first):
        seen["values"], seen["first"] = part.values, first
        return FeatureScores("flat", np.zeros(part.n_features), selected=np.ones(part.n_features, bool))

    found = on_strongest(matrix, "welch:3", run)
    order = np.argsort(-bs.score(matrix.values, matrix.labels.codes, method="welch").score)[:3]
    assert np.array_equal(seen["values"], matrix.values[:, order])
    assert np.all(np.diff(seen["first"]) <= 0)
    assert np.isnan(found.score).sum() == 9
    assert found.ranking[:3].tolist() == order.tolist()  # equal scores stand in the order of the first method
    assert found.selection == tuple(f"x{i}" for i in order)
    assert found.diagnostics["n_screened"] == 3


def test_without_a_screen_all_features_are_used(matrix):
    found = on_strongest(matrix, None, lambda part, first: FeatureScores("n", np.arange(12.0)))
    assert found.tie_break is None
    assert found.top(1) == ("x11",)


@pytest.mark.parametrize("text", ["bd", "bd:", "bd:0", "bd:-3", "bd:x", "300", "nothing:3"])
def test_a_screen_that_cannot_be_read_is_refused(text):
    with pytest.raises(bs.errors.OptionError, match=r"bd:300|no method"):
        parse_screen(text)


def test_a_list_of_its_own_is_told_apart_from_a_ranking():
    scores = FeatureScores("lasso", [0.0, 2.0, 1.0], selected=[False, True, True])
    assert scores.selection == ("x1", "x2")
    assert scores.take([2, 0]).selected.tolist() == [True, False]
    assert scores.to_dict()["selected"].tolist() == [False, True, True]
    assert "chooses 2 of 3 features" in str(scores.notes()[0].text)
    with pytest.raises(bs.errors.RuleError, match="no list of its own"):
        _ = FeatureScores("bd", [1.0]).selection
    with pytest.raises(bs.errors.DataError, match="truth values"):
        FeatureScores("lasso", [1.0, 2.0], selected=[True])
