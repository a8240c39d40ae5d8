"""Baselines of scikit-learn: its own numbers, and p-values that do not vanish."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest
from scipy import sparse, stats
from sklearn import feature_selection

import bayesieve as bs
from bayesieve.data import LabelledMatrix
from bayesieve.rivals.scikit import f_classif, mutual_info_classif


def test_f_is_that_of_scikit_learn_and_the_square_of_student_t(rng):
    X, y = rng.normal(size=(40, 20)), rng.permutation(np.repeat([0, 1], [15, 25]))
    X[y == 1, :5] += 1.0
    scores = f_classif(LabelledMatrix.from_arrays(X, y))
    theirs = feature_selection.f_classif(X, y)
    np.testing.assert_array_equal(scores.score, theirs[0])
    np.testing.assert_allclose(scores.p_value, theirs[1], rtol=1e-10)
    student = stats.ttest_ind(X[y == 0], X[y == 1])
    np.testing.assert_allclose(scores.score, student.statistic**2, rtol=1e-10)
    np.testing.assert_allclose(scores.p_value, student.pvalue, rtol=1e-9)


def test_p_values_below_the_smallest_float_by_mpmath(rng):
    X, y = rng.normal(size=(1000, 3)), np.repeat([0, 1], 500)
    X[y == 1] += np.array([8.0, 30.0, 200.0])
    scores = f_classif(LabelledMatrix.from_arrays(X, y))
    assert feature_selection.f_classif(X, y)[1].tolist() == [0.0, 0.0, 0.0]
    with mpmath.workdps(50):
        for f, log_p in zip(scores.score.tolist(), scores.log_p_value, strict=True):
            tail = mpmath.betainc(499, 0.5, 0, 998 / (998 + mpmath.mpf(f)), regularized=True)
            assert log_p == pytest.approx(float(mpmath.log(tail)), rel=1e-12)


def test_features_without_variance():
    X = np.array([[1.0, 0.0], [1.0, 0.0], [1.0, 2.0], [1.0, 2.0]])
    with pytest.warns(
        bs.DegenerateFeatureWarning, match="1 constant in each class.*; 1 not tested: constant in all"
    ):
        scores = f_classif(LabelledMatrix.from_arrays(X, [0, 0, 1, 1]))
    assert np.isnan([scores.score[0], scores.log_p_value[0]]).all()
    assert scores.score[1] == np.inf
    assert scores.log_p_value[1] == -np.inf


def test_sparse_tables(rng):
    X, y = rng.poisson(0.3, (50, 8)).astype(float), np.repeat([0, 1], 25)
    dense, thin = (f_classif(LabelledMatrix.from_arrays(each, y)) for each in (X, sparse.csr_matrix(X)))
    np.testing.assert_allclose(thin.score, dense.score, rtol=1e-12)
    np.testing.assert_allclose(thin.log_p_value, dense.log_p_value, rtol=1e-11)


def test_mutual_information_is_that_of_scikit_learn(rng):
    X, y = rng.normal(size=(40, 6)), np.repeat([0, 1], 20)
    X[y == 1, 2] += 2.0
    matrix = LabelledMatrix.from_arrays(X, y, feature_names=list("abcdef"))
    scores = mutual_info_classif(matrix)
    np.testing.assert_array_equal(scores.score, feature_selection.mutual_info_classif(X, y, random_state=0))
    assert scores.top(1) == ("c",)
    other = mutual_info_classif(matrix, n_neighbors=5, seed=3).score
    theirs = feature_selection.mutual_info_classif(X, y, n_neighbors=5, random_state=3)
    np.testing.assert_array_equal(other, theirs)


@pytest.mark.parametrize("run", [f_classif, mutual_info_classif])
def test_tables_that_scikit_learn_does_not_take(run, r1):
    X, y = r1
    holes = X.copy()
    holes[[1, 3]] = np.nan
    for table in (holes, sparse.csr_matrix(holes)):
        with pytest.raises(bs.MissingValueError, match=r"takes no missing values, and X holds 2 \(NaN\)"):
            run(LabelledMatrix.from_arrays(table, y))
    with pytest.raises(bs.LabelError, match="compares two classes, not 3"):
        run(LabelledMatrix.from_arrays(X, [0, 1, 2] * 3))
    with pytest.raises(bs.LabelError, match="needs samples of both classes"):
        run(LabelledMatrix.from_arrays(X, [0] * 9, classes=[0, 1]))


@pytest.mark.parametrize("options", [{"n_neighbors": 0}, {"n_neighbors": 1.5}, {"seed": -1}, {"seed": True}])
def test_wrong_options(r1, options):
    with pytest.raises(bs.OptionError, match="must be a whole number of at least"):
        mutual_info_classif(LabelledMatrix.from_arrays(*r1), **options)


def test_mutual_information_of_a_constant_feature_is_no_number(rng):
    X = np.column_stack([rng.normal(size=12), np.full(12, 3.0)])
    scores = bs.score(X, [0, 1] * 6, method="mutual-info")
    assert np.isnan(scores.score).tolist() == [False, True]
