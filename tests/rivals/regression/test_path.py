"""Paths of regressions against scikit-learn, adelie, a generic optimiser and the conditions of the optimum."""

from __future__ import annotations

import importlib.util
import logging
import math
import os
import subprocess
import sys
import warnings

import numpy as np
import pytest
from regression_problems import matrix_of, slope, standardised, table, violation
from scipy import optimize, sparse
from scipy.special import log_ndtr
from scipy.stats import norm
from sklearn.linear_model import ElasticNet, LogisticRegression

import bayesieve as bs
from bayesieve import DataWarning
from bayesieve.errors import DataError, LabelError, MissingExtraError, OptionError
from bayesieve.rivals.regression import path as module, solver
from bayesieve.rivals.regression.every import ALL_REGRESSIONS, all_regressions
from bayesieve.rivals.regression.links import LINKS, deviance
from bayesieve.rivals.regression.path import Regression, regression_path
from bayesieve.rivals.regression.penalties import PAPER_NAMES, paper_penalties, penalties_of

FALLING = (0.3, 0.2, 0.1, 0.05, 0.02, 0.01)
HAS_ADELIE = importlib.util.find_spec("adelie") is not None
needs_adelie = pytest.mark.skipif(not HAS_ADELIE, reason="adelie is not installed")


def dense(path):
    return path.coefficients.toarray()


@pytest.mark.parametrize("alpha", [1.0, 0.5, 0.2])
def test_linear_path_agrees_with_scikit_learn(alpha):
    X, y = table()
    path = regression_path(matrix_of(X, y), FALLING, link="linear", alpha=alpha)
    for k, penalty in enumerate(FALLING):
        theirs = ElasticNet(alpha=penalty, l1_ratio=alpha, tol=1e-12, max_iter=1_000_000).fit(standardised(X), y)
        np.testing.assert_allclose(dense(path)[k], theirs.coef_, atol=1e-5)
        assert path.intercepts[k] == pytest.approx(theirs.intercept_, abs=1e-5)


@pytest.mark.parametrize("alpha", [1.0, 0.5])
def test_logit_path_agrees_with_scikit_learn(alpha):
    X, y = table(80, 30, 1)
    penalties = (0.2, 0.1, 0.05)
    path = regression_path(matrix_of(X, y), penalties, link="logit", alpha=alpha)
    for k, penalty in enumerate(penalties):
        theirs = LogisticRegression(
            C=1 / (80 * penalty), l1_ratio=alpha, solver="saga", tol=1e-10, max_iter=100_000, random_state=0
        )
        with warnings.catch_warnings():
            warnings.simplefilter(
                "ignore", FutureWarning
            )  # older releases want penalty="elasticnet" beside l1_ratio
            if "penalty" in theirs.get_params() and theirs.get_params()["penalty"] in ("l2", "deprecated"):
                theirs.set_params(penalty="elasticnet")
            theirs.fit(standardised(X), y)
        np.testing.assert_allclose(dense(path)[k], theirs.coef_[0], atol=1e-5)
        assert path.intercepts[k] == pytest.approx(theirs.intercept_[0], abs=1e-5)


@pytest.mark.parametrize("alpha", [1.0, 0.5])
@pytest.mark.parametrize("link", LINKS)
def test_a_generic_optimiser_finds_the_same(link, alpha):
    """With b = v - w and v, w >= 0 the objective is smooth."""
    X, y = table(40, 6, 2)
    Z, penalty = standardised(X), 0.08

    def loss(eta):
        if link == "linear":
            return ((y - eta) ** 2).mean() / 2
        sign = 2 * y - 1
        return (np.logaddexp(0, -sign * eta) if link == "logit" else -log_ndtr(sign * eta)).mean()

    def objective(theta):
        b0, v, w = theta[0], theta[1:7], theta[7:]
        b, eta = v - w, theta[0] + Z @ (v - w)
        value = loss(eta) + penalty * (alpha * (v + w).sum() + (1 - alpha) / 2 * (b**2).sum())
        u = slope(link, y, eta)
        toward = -Z.T @ u / y.size + penalty * (1 - alpha) * b
        del b0
        return value, np.concatenate([[-u.mean()], toward + penalty * alpha, -toward + penalty * alpha])

    found = optimize.minimize(
        objective,
        np.zeros(13),
        jac=True,
        method="L-BFGS-B",
        bounds=[(None, None)] + [(0, None)] * 12,
        options={"ftol": 1e-16, "gtol": 1e-10, "maxiter": 10_000},
    ).x
    path = regression_path(matrix_of(X, y), penalty, link=link, alpha=alpha)
    np.testing.assert_allclose(dense(path)[0], found[1:7] - found[7:], atol=1e-5)
    assert path.intercepts[0] == pytest.approx(found[0], abs=1e-5)


@pytest.mark.parametrize("solver_name", ["descent", pytest.param("adelie", marks=needs_adelie)])
@pytest.mark.parametrize("sizes", [None, (12, 48)])
@pytest.mark.parametrize("alpha", [1.0, 0.5])
@pytest.mark.parametrize("link", LINKS)
def test_conditions_of_the_optimum_hold_at_every_penalty(link, alpha, sizes, solver_name):
    X, y = table(60, 400, 3, sizes=sizes)
    path = regression_path(matrix_of(X, y), "paper", link=link, alpha=alpha, solver=solver_name)
    Z, b = standardised(X), dense(path)
    assert path.n_selected.max() > 10
    for k, penalty in enumerate(path.penalties):
        assert violation(Z, y, link, alpha, penalty, b[k], path.intercepts[k]) < 1e-4


@needs_adelie
@pytest.mark.parametrize("link", LINKS)
def test_our_solver_agrees_with_adelie(link):
    X, y = table(60, 400, 4)
    penalties = (0.2, 0.1, 0.05)
    ours, theirs = (
        regression_path(matrix_of(X, y), penalties, link=link, solver=each) for each in ("descent", "adelie")
    )
    np.testing.assert_allclose(dense(ours), dense(theirs), atol=2e-4)
    np.testing.assert_array_equal(ours.selected, theirs.selected)


@pytest.mark.parametrize("alpha", [1.0, 0.5])
@pytest.mark.parametrize("link", LINKS)
def test_the_largest_penalty_is_the_first_that_selects_nothing(link, alpha):
    X, y = table(61, 300, 5, sizes=(20, 41))
    share, Z = 41 / 61, standardised(X)
    start = {"linear": share, "logit": math.log(share / (1 - share)), "probit": norm.ppf(share)}[link]
    expected = np.abs(Z.T @ slope(link, y, np.full(61, start))).max() / (61 * alpha)
    path = regression_path(
        matrix_of(X, y), [expected, 1.001 * expected, 0.98 * expected, 10.0], link=link, alpha=alpha
    )
    assert path.largest == pytest.approx(expected, rel=1e-12)
    assert path.n_selected.tolist()[:2] == [0, 0]
    assert path.n_selected[2] >= 1
    assert path.n_selected[3] == 0
    assert path.intercepts[0] == pytest.approx(start, rel=1e-12)


def test_balanced_classes_scale_the_probit():
    """Spec D3: the largest penalty of the probit is that of the linear model times 2 * 0.7979."""
    X, y = table(60, 300, 6)
    linear, probit = (regression_path(matrix_of(X, y), 1.0, link=link).largest for link in ("linear", "probit"))
    assert probit / linear == pytest.approx(2 * math.sqrt(2 / math.pi), rel=1e-10)


@pytest.mark.parametrize("link", LINKS)
def test_the_order_of_the_classes_is_irrelevant(link):
    X, y = table(50, 300, 7, sizes=(15, 35))
    one, other = (
        regression_path(matrix_of(X, y, classes=order), FALLING, link=link) for order in ([0, 1], [1, 0])
    )
    np.testing.assert_array_equal(one.selected, other.selected)
    np.testing.assert_array_equal(dense(one), -dense(other))


def test_constant_features_are_never_selected():
    X, y = table(40, 50, 8)
    plain = regression_path(matrix_of(X, y), FALLING)
    wide = np.insert(X, [0, 25, 50], 1e17 / 3, axis=1)
    path = regression_path(matrix_of(wide, y), FALLING)
    assert not path.selected[:, [0, 26, 52]].any()
    assert path.varies.sum() == 50
    np.testing.assert_array_equal(dense(path)[:, path.varies], dense(plain))
    flat = regression_path(matrix_of(np.ones((40, 3)), y), FALLING)
    assert not flat.selected.any()
    assert flat.largest == 0.0


def test_equal_penalties_are_fitted_once_and_penalties_may_come_in_any_order(monkeypatch):
    fitted = []
    plain = module.solve
    monkeypatch.setattr(module, "solve", lambda *given: (fitted.append(given[4]), plain(*given))[1])
    X, y = table()
    asked = [0.05, 0.2, 0.05, 0.1, 5.0, 0.2]
    path = regression_path(matrix_of(X, y), asked)
    assert [each.tolist() for each in fitted] == [[0.2, 0.1, 0.05]]
    falling = regression_path(matrix_of(X, y), (0.2, 0.1, 0.05))
    np.testing.assert_array_equal(dense(path)[[1, 3, 0]], dense(falling))
    np.testing.assert_array_equal(dense(path)[[0, 1]], dense(path)[[2, 5]])
    assert path.penalties.tolist() == asked


@pytest.mark.parametrize("link", LINKS)
def test_a_penalty_beside_the_deviance_counts_half(link):
    X, y = table()
    one = regression_path(matrix_of(X, y), FALLING, link=link)
    other = regression_path(matrix_of(X, y), [2 * each for each in FALLING], link=link, lambda_scale="deviance")
    np.testing.assert_array_equal(dense(one), dense(other))
    assert other.largest == pytest.approx(2 * one.largest)


@pytest.mark.parametrize("link", LINKS)
def test_separable_classes_have_finite_coefficients(link):
    X, y = table(30, 100, 9, shift=20.0)
    path = regression_path(matrix_of(X, y), np.geomspace(0.5, 1e-4, 30), link=link)
    assert path.converged.all()
    assert np.isfinite(dense(path)).all()
    Z, b = standardised(X), dense(path)
    for k, penalty in enumerate(path.penalties):
        assert violation(Z, y, link, 1.0, penalty, b[k], path.intercepts[k]) < 0.02 * penalty + 1e-8
    assert (np.sign(path.predictors(X)[:, -1] - (0.5 if link == "linear" else 0.0)) == 2 * y - 1).all()


def test_units_do_not_matter_unless_asked():
    X, y = table(40, 60, 10)
    units = np.geomspace(1e-150, 1e150, 60)
    plain, scaled = (regression_path(matrix_of(each, y), FALLING) for each in (X, X * units + units))
    np.testing.assert_allclose(dense(plain), dense(scaled), atol=1e-9)
    Z = X - X.mean(axis=0)
    path = regression_path(matrix_of(X, y), (0.3, 0.1), standardise=False)
    for k in range(2):
        assert violation(Z, y, "logit", 1.0, path.penalties[k], dense(path)[k], path.intercepts[k]) < 1e-5
    assert not np.array_equal(path.selected[1], plain.selected[2])


def test_tables_of_any_kind_give_the_same():
    X, y = table(40, 60, 11)
    X = np.where(X > 1, np.round(X), 0.0)
    plain = dense(regression_path(matrix_of(X, y), FALLING))
    for form in (
        sparse.csr_array(X),
        sparse.csc_array(X),
        X.astype(np.float32),
        X.astype(np.int32),
        X[:, ::1].T.copy().T,
    ):
        np.testing.assert_array_equal(dense(regression_path(matrix_of(form, y), FALLING)), plain)


def test_predictors_are_those_of_the_original_values():
    X, y = table(40, 60, 12)
    path = regression_path(matrix_of(X, y), FALLING)
    expected = standardised(X) @ dense(path).T + path.intercepts
    np.testing.assert_allclose(path.predictors(X), expected, atol=1e-12)


@pytest.mark.parametrize("link", LINKS)
def test_deviance_is_twice_minus_the_log_likelihood(link):
    eta, y = np.array([-3.0, 0.2, 40.0, -45.0]), np.array([0.0, 1.0, 0.0, 1.0])
    p = {"linear": None, "logit": lambda e: -np.logaddexp(0, -e), "probit": norm.logcdf}[link]
    expected = (y - eta) ** 2 if p is None else -2 * p(np.where(y == 1, eta, -eta))
    np.testing.assert_allclose(deviance(link, y, eta), expected, rtol=1e-12)


def test_the_penalties_of_the_paper():
    found = dict(zip(PAPER_NAMES, paper_penalties(100), strict=True))
    assert len(found) == 14
    assert found["0.2"] == 0.2
    assert found["5/sqrt(n)"] == pytest.approx(0.5)
    assert found["log(n)^1.5/n"] == pytest.approx(math.log(100) ** 1.5 / 100)
    assert penalties_of("supplement", 100, 1.0) == tuple(k / 200 for k in range(1, 41))
    path = penalties_of("path", 100, 2.0)
    assert (len(path), path[0], path[-1]) == (50, 2.0, pytest.approx(0.02))


def test_all_84_regressions():
    X, y = table(50, 150, 13)
    found = all_regressions(matrix_of(X, y), n_threads=2)
    assert found.names == ALL_REGRESSIONS
    assert len(set(ALL_REGRESSIONS)) == 84
    assert found.selected.shape == (84, 150)
    for name in ("lasso-logit@0.1", "elastic-net-probit@2/sqrt(n)", "lasso-linear@log(n)^0.5/n"):
        k = ALL_REGRESSIONS.index(name)
        link, alpha = name.split("@")[0].split("-")[-1], 1.0 if name.startswith("lasso") else 0.5
        path = regression_path(matrix_of(X, y), "paper", link=link, alpha=alpha)
        place = PAPER_NAMES.index(name.split("@")[1])
        np.testing.assert_array_equal(found.selected[k], path.selected[place])
        assert found.penalties[k] == path.penalties[place]
    truth = np.arange(150) < 3
    assert found.n_correct(truth).tolist() == [int((row == truth).sum()) for row in found.selected]
    assert found.n_correct(truth)[ALL_REGRESSIONS.index("lasso-linear@10/sqrt(n)")] == 147
    assert found.converged.all()


@pytest.mark.parametrize("solver_name", ["descent", pytest.param("adelie", marks=needs_adelie)])
def test_no_convergence_is_told_and_the_last_solution_kept(solver_name, capfd):
    X, y = table()
    matrix = matrix_of(X, y)
    with pytest.warns(DataWarning, match=r"did not converge at \d of 3 penalties.*max_iterations"):
        path = regression_path(matrix, (0.2, 0.01, 0.0001), link="probit", max_iterations=25, solver=solver_name)
    assert path.converged.tolist()[0]
    assert not path.converged[-1]
    last = int(path.converged.sum()) - 1
    np.testing.assert_array_equal(dense(path)[last], dense(path)[-1])
    assert capfd.readouterr() == ("", "")
    with pytest.warns(DataWarning, match="3 of 3 penalties, from 0.2 downwards"):
        path = regression_path(matrix, (0.2, 0.01, 0.0001), max_iterations=1, solver=solver_name)
    assert not path.selected.any()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"link": "cloglog"}, "link must be 'linear', 'logit' or 'probit'"),
        ({"alpha": 0}, "ridge regression"),
        ({"alpha": 1.5}, "at most 1"),
        ({"alpha": "lasso"}, "alpha must be"),
        ({"lambda_scale": "matlab"}, "lambda_scale must be"),
        ({"standardise": 1}, "standardise must be True or False"),
        ({"max_iterations": 0}, "max_iterations must be"),
        ({"solver": "glmnet"}, "solver must be 'descent' or 'adelie'"),
        ({"penalties": "all"}, "numbers above 0, or one of 'paper'"),
        ({"penalties": []}, "numbers above 0"),
        ({"penalties": [0.1, 0.0, math.inf]}, "2 of 3 penalties are no numbers above 0, the first is 0.0"),
        ({"penalties": -1.0}, "1 of 1 penalties"),
        ({"penalties": None}, "numbers above 0"),
    ],
)
def test_bad_options_are_refused(options, message):
    X, y = table(20, 5)
    with pytest.raises(OptionError, match=message):
        regression_path(matrix_of(X, y), **{"penalties": 0.1, **options})


def test_tables_that_cannot_be_regressed_are_refused():
    X, y = table(20, 5)
    with pytest.raises(LabelError, match="at least 2 samples of each class, but there are 19 of class 0 and 1"):
        regression_path(matrix_of(X, np.repeat([0, 1], [19, 1])), method="lasso-logit")
    with pytest.raises(LabelError, match="two classes, not 3"):
        regression_path(matrix_of(X, np.arange(20) % 3))
    with pytest.raises(LabelError, match="two classes, not 1"):
        regression_path(matrix_of(X, np.zeros(20, dtype=int)))
    X[3, 2] = X[4, 2] = np.nan
    with pytest.raises(
        DataError, match="2 values in 1 of 5 features are missing or infinite, the first in feature 'c'"
    ):
        regression_path(matrix_of(X, y, feature_names=list("abcde")))
    huge = np.full((20, 5), 1.7e308)
    huge[::2] = -1e308
    assert regression_path(matrix_of(huge, y), 0.1).varies.all()


def test_a_missing_adelie_is_told(monkeypatch):
    monkeypatch.setitem(sys.modules, "adelie", None)
    solver.load_adelie.cache_clear()
    X, y = table(20, 5)
    try:
        with pytest.raises(MissingExtraError, match=r'pip install .*\[regression\]".*solver="descent"'):
            regression_path(matrix_of(X, y), 0.1, solver="adelie")
    finally:
        solver.load_adelie.cache_clear()


@needs_adelie
def test_adelie_leaves_the_process_as_it_was():
    code = """
import logging, os
before = dict(os.environ), len(logging.getLogger().handlers), getattr(os, "sched_getaffinity", lambda pid: 0)(0)
from bayesieve.rivals.regression.solver import load_adelie
load_adelie()
after = dict(os.environ), len(logging.getLogger().handlers), getattr(os, "sched_getaffinity", lambda pid: 0)(0)
added = set(after[0]) - set(before[0]) - {"KMP_INIT_AT_FORK"}  # scikit-learn's
assert not added, added
assert before[1:] == after[1:], (before[1:], after[1:])
"""
    subprocess.run([sys.executable, "-c", code], check=True, env=dict(os.environ))
    assert logging.getLogger("adelie").propagate is False or "adelie" not in sys.modules


def test_a_regression_is_compared_by_value():
    assert Regression("probit", 0.5) == Regression("probit", 0.5)
    assert Regression().unit == 2 * Regression(lambda_scale="deviance").unit


def test_the_84_regressions_as_one_method_offer_their_lists():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(40, 30))
    X[20:, 4] += 2.5
    found = bs.score(X, [0] * 20 + [1] * 20, method="regressions")
    lists, names = found.diagnostics["lists"], found.diagnostics["list_names"]
    assert len(names) == len(set(names)) == 84
    assert lists.shape == (84, 30)
    assert found.top(1) == ("x4",)
    np.testing.assert_allclose(found.score, lists.mean(axis=0))
    one = bs.score(X, [0] * 20 + [1] * 20, method="lasso-logit", penalty=0.1)
    assert np.array_equal(one.selected, lists[names.index("lasso-logit@0.1")])
