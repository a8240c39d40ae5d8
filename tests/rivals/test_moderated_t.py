"""Moderated t: against limma (R), mpmath from raw data, and the numbers of the specification."""

from __future__ import annotations

import csv
import math
import shutil
import subprocess
from pathlib import Path

import mpmath as mp
import numpy as np
import pytest
from scipy import stats

import bayesieve as bs
from bayesieve.errors import DataError, DegenerateFeatureWarning, LabelError, OptionError
from bayesieve.models.gaussian.variance_prior import (
    VariancePrior,
    fit_variance_prior,
    natural_spline,
    trigamma_inverse,
)
from bayesieve.rivals import score
from bayesieve.rivals.moderated_t import moderated_t

FOLDER = Path(__file__).parents[1] / "reference" / "limma"
TABLES = sorted(file.stem for file in FOLDER.glob("*.csv") if not file.stem.endswith(".limma"))


def table(name):
    rows = list(csv.reader((FOLDER / f"{name}.csv").read_text(encoding="utf-8").splitlines()))
    values = np.array([[float("nan") if x == "NA" else float(x) for x in row] for row in rows[1:]])
    return values.T, [int(x) for x in rows[0]]


def limma(name, folder=FOLDER):
    rows = list(csv.DictReader((folder / f"{name}.limma.csv").read_text(encoding="utf-8").splitlines()))
    return {key: np.array([float(row[key].replace("NA", "nan")) for row in rows]) for key in rows[0]}


def ours(name):
    X, y = table(name)
    moments = bs.Moments.from_matrix(X, y, missing="omit")
    if "missing" in name or "zero" in name:
        with pytest.warns(DegenerateFeatureWarning):
            return moderated_t(moments, trend=name.startswith("trend"))
    return moderated_t(moments, trend=name.startswith("trend"))


def test_there_are_references_with_finite_and_infinite_prior_dof():
    finite = {name: math.isfinite(limma(name)["df_prior"][0]) for name in TABLES}
    assert len(TABLES) == 16
    assert [name for name in TABLES if not finite[name]] == ["one_variance", "trend_one_variance", "trend_two"]


@pytest.mark.parametrize("name", TABLES)
def test_equal_to_limma(name):
    got, expected = ours(name), limma(name)
    np.testing.assert_allclose(got.details["t"], expected["t"], rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(got.log_p_value, expected["log_p"], rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(got.p_value, expected["p"], rtol=1e-8, atol=0)
    np.testing.assert_allclose(got.details["prior_variance"], expected["s2_prior"], rtol=1e-10)
    np.testing.assert_allclose(got.details["prior_dof"], expected["df_prior"], rtol=1e-10)
    np.testing.assert_allclose(got.details["dof"], expected["df_total"], rtol=1e-10)
    np.testing.assert_array_equal(got.score, -got.log_p_value)


def has_limma():
    command = ["Rscript", "-e", "suppressMessages(library(limma))"]
    return (
        bool(shutil.which("Rscript")) and not subprocess.run(command, check=False, capture_output=True).returncode
    )


@pytest.mark.parametrize("trend", [False, True])
def test_equal_to_limma_run_here_on_a_large_table(tmp_path, rng, trend):
    if not has_limma():
        pytest.skip("Rscript with limma is not installed")
    spread = np.sqrt(4.0 / rng.chisquare(4.0, 3000))
    X = np.round(rng.uniform(0.0, 12.0, 3000) + spread * rng.normal(size=(21, 3000)), 4)
    y = [0] * 12 + [1] * 9
    rows = [",".join(map(str, row)) for row in [y, *X.T.tolist()]]
    name = "trend" if trend else "plain"
    (tmp_path / f"{name}.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    subprocess.run(["Rscript", str(FOLDER / "run_limma.R")], cwd=tmp_path, check=True, capture_output=True)
    got, expected = moderated_t(bs.Moments.from_matrix(X, y), trend=trend), limma(name, tmp_path)
    np.testing.assert_allclose(got.details["t"], expected["t"], rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(got.log_p_value, expected["log_p"], rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(got.details["prior_dof"], expected["df_prior"], rtol=1e-10)


def test_numbers_of_the_specification():
    variance = np.array([0.5, 1.0, 2.0, 4.0, 8.0])
    prior = fit_variance_prior(variance, 4)
    assert prior.dof == pytest.approx(4.5074599329, abs=1e-10)
    assert prior.scale == pytest.approx(2.0658599803, abs=1e-10)
    assert trigamma_inverse(0.5561984679) == pytest.approx(4.5074599329 / 2, abs=1e-9)
    expected = [1.32963084, 1.56471863, 2.03489423, 2.97524541, 4.85594777]
    np.testing.assert_allclose(prior.posterior(variance, 4), expected, atol=5e-9)
    alike = fit_variance_prior([1, 1.1, 0.9, 1.05, 0.95], 4)
    assert alike.dof == math.inf
    assert alike.scale == pytest.approx(1.0, abs=1e-15)


def test_recovers_the_distribution_it_assumes_by_simulation():
    """0.3 F(8, 10): the specification found (0.2993, 10.01) in one draw; ours within its spread."""
    drawn = 0.3 * stats.f(8, 10).rvs(200_000, random_state=np.random.default_rng(0))
    prior = fit_variance_prior(drawn, 8)
    assert prior.scale == pytest.approx(0.3, rel=0.01)
    assert prior.dof == pytest.approx(10.0, rel=0.03)


def test_prior_by_mpmath_root_finding(rng):
    """evar, d0 and s0^2 from their definitions with 40 digits, degrees of freedom differing by feature."""
    dof = rng.integers(1, 9, size=60)
    variance = rng.chisquare(3, size=60) * rng.chisquare(dof) / dof
    got = fit_variance_prior(variance, dof)
    with mp.workdps(40):
        half = [mp.mpf(int(d)) / 2 for d in dof]
        e = [mp.log(mp.mpf(float(x))) - mp.digamma(h) + mp.log(h) for x, h in zip(variance, half, strict=True)]
        mean = mp.fsum(e) / 60
        left = mp.fsum([(x - mean) ** 2 for x in e]) / 59 - mp.fsum([mp.psi(1, h) for h in half]) / 60
        root = mp.findroot(lambda y: mp.psi(1, y) - left, float(got.dof) / 2 * 1.1)
        scale = mp.exp(mean + mp.digamma(root) - mp.log(root))
    assert got.dof == pytest.approx(float(2 * root), rel=1e-11)
    assert got.scale == pytest.approx(float(scale), rel=1e-11)


@pytest.mark.parametrize("y", [1e-3, 0.02, 0.5, 1.0, 3.7, 40.0, 1e3, 9e5])
def test_trigamma_inverse_by_mpmath(y):
    assert trigamma_inverse(float(mp.psi(1, y))) == pytest.approx(y, rel=1e-10)


def test_trigamma_inverse_beyond_newton_is_the_leading_term():
    assert trigamma_inverse(4e8) == pytest.approx(5e-5, rel=1e-15)
    assert trigamma_inverse(1e-7) == pytest.approx(1e7, rel=1e-15)


def test_limits_are_the_ordinary_t_and_the_difference_of_means(rng):
    variance = rng.chisquare(3, size=7)
    np.testing.assert_array_equal(VariancePrior(0.0, 5.0).posterior(variance, 4.0), variance)
    np.testing.assert_allclose(VariancePrior(1e-12, 5.0).posterior(variance, 4.0), variance, rtol=1e-11)
    np.testing.assert_allclose(VariancePrior(1e15, 5.0).posterior(variance, 4.0), 5.0, rtol=1e-13)
    np.testing.assert_array_equal(VariancePrior(np.inf, 5.0).posterior(variance, 4.0), np.full(7, 5.0))


def test_one_feature_is_students_test_of_scipy(r1):
    X, y = r1
    got = moderated_t(bs.Moments.from_matrix(X, y))
    expected = stats.ttest_ind(X[4:, 0], X[:4, 0])
    assert got.details["t"][0] == pytest.approx(expected.statistic, rel=1e-13)
    assert got.p_value[0] == pytest.approx(expected.pvalue, rel=1e-12)
    assert got.details["prior_dof"][0] == 0


def test_limit_scale_before_2017_is_the_exponential_of_the_mean():
    variance = np.array([1, 1.1, 0.9, 1.05, 0.95])
    got = fit_variance_prior(variance, 4, limit_scale="log_mean")
    expected = np.exp(np.mean(np.log(variance)) - float(mp.digamma(2)) + np.log(2))
    assert got.dof == math.inf
    assert got.scale == pytest.approx(expected, rel=1e-13)
    with pytest.raises(OptionError, match="limit_scale must be"):
        fit_variance_prior(variance, 4, limit_scale="median")


def test_without_p_values_the_ranking_is_the_same():
    for name in ("small", "one_variance", "trend"):
        X, y = table(name)
        moments = bs.Moments.from_matrix(X, y)
        quick = moderated_t(moments, p_values=False)
        assert quick.log_p_value is None
        np.testing.assert_array_equal(quick.ranking, moderated_t(moments).ranking)
        np.testing.assert_array_equal(quick.score, np.abs(quick.details["t"]))


def test_p_values_are_kept_where_the_ranking_needs_them():
    X, y = table("missing")
    moments = bs.Moments.from_matrix(X, y, missing="omit")
    with pytest.warns(DegenerateFeatureWarning, match="5 of 60 features .*5 not tested: no value in a class"):
        assert moderated_t(moments, p_values=False).log_p_value is not None
    with pytest.warns(DegenerateFeatureWarning):
        assert moderated_t(moments, p_values=False, score="abs_t").log_p_value is None


def test_differences_survive_a_large_offset(rng):
    X, y = np.round(rng.normal(size=(12, 50)), 3), [0] * 6 + [1] * 6
    plain = moderated_t(bs.Moments.from_matrix(X, y))
    shifted = moderated_t(bs.Moments.from_matrix(X * 1024 + 2.0**27, y))
    np.testing.assert_allclose(shifted.details["t"], plain.details["t"], rtol=1e-9, atol=1e-9)


def test_natural_spline_is_smooth_and_straight_outside_by_finite_differences():
    knots = np.array([-1.0, 0.3, 0.8, 2.0])
    h = 1e-4
    for at in knots:
        x = at + h * np.array([-2, -1, 0, 1, 2.0])
        second = np.diff(natural_spline(x, knots), n=2, axis=0) / h**2
        assert np.abs(np.diff(second, axis=0)).max() < 0.01  # second derivative without a jump
    for x in (np.array([-4.0, -3.0, -2.0]), np.array([2.5, 3.5, 4.5])):
        assert np.abs(np.diff(natural_spline(x, knots), n=2, axis=0)).max() < 1e-12
    assert np.linalg.matrix_rank(natural_spline(np.linspace(-1, 2, 50), knots)) == 4


def test_trend_of_a_constant_average_is_no_trend(rng):
    variance = rng.chisquare(4, size=40) * rng.chisquare(6, size=40)
    flat = fit_variance_prior(variance, 6, np.full(40, 7.0))
    plain = fit_variance_prior(variance, 6)
    assert flat.dof == plain.dof
    np.testing.assert_allclose(flat.scale, plain.scale, rtol=1e-15)


def test_most_variances_zero_is_said(rng):
    X = np.zeros((8, 5))
    X[:, 0] = rng.normal(size=8)
    with pytest.warns(DegenerateFeatureWarning) as caught:
        moderated_t(bs.Moments.from_matrix(X, [0] * 4 + [1] * 4))
    said = [str(warning.message) for warning in caught]
    assert any("4 of 5 residual variances are 0" in text for text in said)
    assert any("4 constant in each class" in text for text in said)


def test_too_few_samples_are_refused():
    with pytest.raises(LabelError, match="needs at least 3 samples"):
        score([[1.0], [2.0]], [0, 1], method="limma")
    with pytest.raises(LabelError, match="at least 1 sample of each class, but class 1 has 0"):
        moderated_t(bs.Moments.from_matrix([[1.0], [2.0], [3.0]], [0, 0, 0], classes=[0, 1]))
    with pytest.raises(DataError, match="No feature has a residual variance"):
        fit_variance_prior([1.0, 2.0], 0)
