"""Covariates against the real limma: lists of the same values, stored by docs/experiments/limma_covariates.py."""

from __future__ import annotations

import csv
import runpy
from pathlib import Path

import numpy as np
import pytest

import bayesieve as bs
from bayesieve.models import fit_variance_prior

ROOT = Path(__file__).parents[2]
STORED = ROOT / "docs" / "experiments" / "limma_covariates.csv"
pytestmark = pytest.mark.skipif(not STORED.exists(), reason="a source archive holds no experiments")
LIMMA = "limma, adjusted p below 0.1"


@pytest.fixture(scope="module")
def rows():
    version, *lines = STORED.read_text(encoding="utf-8").splitlines()
    assert "R version" in version
    assert "limma 3." in version
    return list(csv.DictReader(lines))


@pytest.fixture(scope="module")
def study():
    return runpy.run_path(str(ROOT / "benchmarks" / "covariates.py"))["made"](0)


def of(rows, covariates, name, seed="0", setting="50 + 50"):
    (row,) = [
        row for row in rows
        if (row["setting"], row["seed"], row["covariates"], row["list"]) == (setting, seed, covariates, name)
    ]  # fmt: skip
    return {key: float(row[key]) for key in ("listed", "false", "true", "largest_t_of_limma")}


def test_the_moderated_t_of_a_regression_is_limmas(rows, study):
    """Least squares by hand with our prior of variances, against the largest t that R found in these values."""
    X, y, covariates, _ = study
    A = np.column_stack([np.ones(y.size), y, covariates["age"], covariates["sex"] == "m"]).astype(float)
    fit = np.linalg.lstsq(A, X, rcond=None)[0]
    dof = y.size - A.shape[1]
    variance = ((X - A @ fit) ** 2).sum(axis=0) / dof
    posterior = fit_variance_prior(variance, dof).posterior(variance, dof)
    t = fit[1] / np.sqrt(posterior * np.linalg.inv(A.T @ A)[1, 1])
    assert np.abs(t).max() == pytest.approx(of(rows, "age, sex", LIMMA)["largest_t_of_limma"], rel=1e-9)


def test_a_screen_has_the_power_of_limma_and_its_errors(rows, study):
    X, y, covariates, differs = study
    found = bs.FalseDiscovery(0.1).select(bs.screen(X, y, covariates=covariates, shuffles=20))
    theirs = of(rows, "age, sex", LIMMA)
    true, false = int((found.mask & differs).sum()), int((found.mask & ~differs).sum())
    assert true >= theirs["true"] - 2
    assert false <= theirs["false"] + 5
    assert of(rows, "none", LIMMA)["false"] > 20 * max(false, 1)  # what age does to both without covariates


def test_over_all_studies_lists_hold_what_they_claim(rows):
    """Of our own stored lists: as many true ones as limma to a twentieth, no list where nothing differs."""
    seeds = {row["seed"] for row in rows}
    for setting in ("50 + 50", "heavy tails"):
        each = [
            [of(rows, "age, sex", name, seed, setting)["true"] for seed in seeds] for name in ("FDR 0.1", LIMMA)
        ]
        assert np.mean(each[0]) >= 0.95 * np.mean(each[1])
    for name in ("FDR 0.1", "probability over 0.5"):
        assert sum(of(rows, "age, sex", name, seed, "no markers")["listed"] for seed in seeds) <= 2
