"""Cross-validation against scikit-learn's predictions; its ties, seeds and baselines."""

from __future__ import annotations

import numpy as np
import pytest
from regression_problems import matrix_of, table
from sklearn.linear_model import ElasticNet
from sklearn.metrics import balanced_accuracy_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import bayesieve as bs
from bayesieve.errors import LabelError, OptionError
from bayesieve.rivals.regression.cross_validation import CrossValidation, cross_validate, fold_of_samples
from bayesieve.rivals.regression.path import Regression
from bayesieve.rivals.regression.units import Running

PENALTIES = (0.3, 0.2, 0.1, 0.05)


def made(scores, errors=0.0, criterion="accuracy"):
    scores = np.array(scores, dtype=float)
    return CrossValidation(
        np.linspace(1.0, 0.1, scores.size),
        criterion,
        {criterion: scores},
        {criterion: np.full(scores.size, errors)},
        {criterion: 0.7},
        np.ones(scores.size, dtype=bool),
        10,
    )


@pytest.mark.parametrize("sizes", [(28, 210), (7, 6), (3, 30)])
def test_folds_are_stratified_and_of_even_size(sizes):
    y = np.random.default_rng(0).permutation(np.repeat([0.0, 1.0], sizes))
    homes = [fold_of_samples(y, 5, 3, repetition) for repetition in range(3)]
    for home in homes:
        for members in (y >= 0, y == 0, y == 1):
            counts = np.bincount(home[members], minlength=5)
            assert counts.max() - counts.min() <= 1
    assert not np.array_equal(homes[0], homes[1])
    np.testing.assert_array_equal(homes[1], fold_of_samples(y, 5, 3, 1))
    np.testing.assert_array_equal(homes[1], fold_of_samples(1.0 - y, 5, 3, 1))


def test_scores_are_those_of_scikit_learn():
    """Elastic net in the same folds, standardised within each: accuracy, balanced accuracy and squared error."""
    X, y = table(48, 40, 1, sizes=(18, 30))
    found = cross_validate(
        matrix_of(X, y), Regression("linear", 0.5), PENALTIES, folds=4, repeats=2, running=Running(1)
    )
    for k, penalty in enumerate(PENALTIES):
        accuracy, squares, balanced, baseline = [], [], [], []
        for repetition in range(2):
            home = fold_of_samples(y.astype(float), 4, 0, repetition)
            eta = np.empty(48)
            for fold in range(4):
                model = make_pipeline(
                    StandardScaler(), ElasticNet(alpha=penalty, l1_ratio=0.5, tol=1e-10, max_iter=10**6)
                )
                inside, outside = home != fold, home == fold
                eta[outside] = model.fit(X[inside], y[inside]).predict(X[outside])
                accuracy.append(((eta[outside] > 0.5) == y[outside]).mean())
                squares.append(((eta[outside] - y[outside]) ** 2).mean())
                baseline.append(((y[inside].mean() - y[outside]) ** 2).mean())
            balanced.append(balanced_accuracy_score(y, eta > 0.5))
        assert found.scores["accuracy"][k] == pytest.approx(np.mean(accuracy), abs=1e-9)
        assert found.scores["deviance"][k] == pytest.approx(np.mean(squares), abs=1e-5)
        assert found.scores["balanced_accuracy"][k] == pytest.approx(np.mean(balanced), abs=1e-9)
        spread = np.reshape(squares, (2, 4)).var(axis=1, ddof=1).mean()
        assert found.standard_errors["deviance"][k] == pytest.approx(np.sqrt(spread / 4), abs=1e-5)
        assert found.baselines["deviance"] == pytest.approx(np.mean(baseline), abs=1e-9)
    assert found.baselines["accuracy"] == pytest.approx(30 / 48)
    assert found.n_fits == 8


def test_ties_go_to_the_larger_penalty():
    assert made([0.5, 0.8, 0.8 + 1e-15, 0.7]).best == 1
    assert made([0.9, 0.3, 0.3 + 1e-15, 0.5], criterion="deviance").best == 1


def test_one_standard_error_goes_to_a_larger_penalty():
    found = made([0.5, 0.78, 0.8, 0.81, 0.6], errors=0.035)
    assert (found.best, found.within_one_standard_error) == (3, 1)
    found = made([0.9, 0.33, 0.3], errors=0.035, criterion="deviance")
    assert (found.best, found.within_one_standard_error) == (2, 1)


def test_the_baseline_is_the_larger_class():
    assert made([0.6, 0.71]).beats_baseline
    assert not made([0.6, 0.7]).beats_baseline
    assert made([0.9, 0.69], criterion="deviance").beats_baseline


def test_without_features_balanced_classes_are_half_right():
    X, y = table(40, 10, 2)
    found = cross_validate(matrix_of(X, y), Regression(), [10.0], folds=5, repeats=2, running=Running(1))
    assert found.scores["balanced_accuracy"][0] == pytest.approx(0.5)
    assert found.scores["deviance"][0] == pytest.approx(found.baselines["deviance"])


@pytest.mark.parametrize("sizes", [(12, 35), (35, 12), (19, 24)])
def test_no_feature_does_not_beat_itself_where_folds_differ_in_size(sizes):
    X, y = table(sum(sizes), 10, 4, sizes=sizes)
    found = cross_validate(matrix_of(X, y), Regression(), [10.0], folds=10, repeats=3, running=Running(1))
    assert found.scores["accuracy"][0] == pytest.approx(found.baselines["accuracy"], abs=1e-15)
    assert not found.beats_baseline


def test_more_repetitions_keep_the_first_and_the_order_of_classes_is_irrelevant():
    X, y = table(40, 60, 3, sizes=(16, 24))
    options = {"folds": 4, "repeats": 2, "running": Running(1)}
    one = cross_validate(matrix_of(X, y), Regression(), PENALTIES, **options)
    other = cross_validate(matrix_of(X, y, classes=[1, 0]), Regression(), PENALTIES, **options)
    np.testing.assert_array_equal(one.scores["accuracy"], other.scores["accuracy"])
    np.testing.assert_allclose(one.scores["deviance"], other.scores["deviance"], rtol=1e-12)
    again = cross_validate(matrix_of(X, y), Regression(), PENALTIES, seed=1, **options)
    assert not np.array_equal(one.scores["deviance"], again.scores["deviance"])


def test_a_rival_chooses_its_penalty_by_cross_validation():
    X, y = table(60, 80, 4, shift=1.5, sizes=(20, 40))
    labels = np.where(y == 1, "ill", "well")
    options = {"folds": 4, "repeats": 2, "n_threads": 1}
    found = bs.score(X, labels, method="lasso-logit", **options)
    tried = cross_validate(matrix_of(X, y), Regression(), "path", folds=4, repeats=2, running=Running(1))
    assert found.diagnostics["penalty"] == tried.penalties[tried.best]
    assert found.diagnostics["accuracy"] == tried.scores["accuracy"].max()
    assert (found.diagnostics["majority_class"], found.diagnostics["majority_share"]) == ("ill", 40 / 60)
    assert found.diagnostics["baseline"] == 40 / 60
    assert found.diagnostics["beats_baseline"]
    assert found.caveat == ""
    fixed = bs.score(X, labels, method="lasso-logit", penalty=found.diagnostics["penalty"])
    np.testing.assert_allclose(found.score, fixed.score, atol=1e-5)
    simple = bs.score(X, labels, method="lasso-logit", one_standard_error=True, **options)
    assert simple.diagnostics["penalty"] >= found.diagnostics["penalty"]
    by_deviance = bs.score(X, labels, method="elastic-net-probit", criterion="deviance", **options)
    assert by_deviance.diagnostics["baseline"] > by_deviance.diagnostics["deviance"]


def test_noise_is_no_better_than_the_larger_class_and_it_is_said():
    rng = np.random.default_rng(5)
    X, y = rng.normal(size=(60, 300)), np.repeat([0, 1], [45, 15])
    found = bs.score(X, y, method="lasso", folds=5, repeats=3, n_threads=1)
    assert "no penalty that predicts better than no feature at all (accuracy 0.75 against 0.75)" in str(
        found.caveat
    )
    assert found.selection == ()
    assert found.notes()[0].render().startswith("lasso_logit chooses 0 of 300 features.")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"criterion": "auc"}, "criterion must be 'accuracy', 'balanced_accuracy' or 'deviance'"),
        ({"folds": 1}, "folds must be a whole number of at least 2"),
        ({"repeats": 0}, "repeats must be"),
        ({"seed": -1}, "seed must be"),
        ({"n_threads": 0}, "workers must be"),
        ({"penalty": "best"}, "penalty must be a number above 0, or 'cv'"),
        ({"penalty": 0.0}, "penalties are no numbers above 0"),
        ({"penalty": [0.1]}, "penalty must be a number above 0"),
        ({"links": "logit"}, "has no option 'links'"),
    ],
)
def test_bad_options_are_refused(options, message):
    X, y = table(20, 5)
    with pytest.raises(OptionError, match=message):
        bs.score(X, y, method="lasso-logit", **options)


def test_too_few_samples_are_refused():
    X, y = table(20, 5)
    with pytest.raises(LabelError, match="lasso-probit needs at least 3 samples of each class, but there are 18"):
        bs.score(X, np.repeat([0, 1], [18, 2]), method="lasso-probit")
    with pytest.raises(LabelError, match=r"cannot cut 20 samples into 30 folds\. Say folds=10"):
        bs.score(X, y, method="lasso-linear", folds=30)
