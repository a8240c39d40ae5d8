"""Confounding by age: what is listed with and without covariates, claimed and true; and how long a screen takes.

Values are Gaussian; age differs between the classes by one standard deviation; 30% of the features depend on
age, 2% differ between the classes. The regression is limma's method in NumPy: least squares on class, age and sex,
variances moderated by :func:`bayesieve.models.fit_variance_prior`, Benjamini and Hochberg's q-values below 0.1.
"""

from __future__ import annotations

import sys
import time
import warnings

import numpy as np
from scipy.stats import t as student

import bayesieve as bs
from bayesieve.models import fit_variance_prior


def made(seed, n=100, n_features=2000, shift=1.0, effect=1.0, heavy=False):
    """Draw a study: values, classes, covariates and which features differ."""
    rng = np.random.default_rng(seed)
    y = np.repeat([0, 1], n // 2)
    age, sex = rng.normal(60, 10, n) + 10 * shift * y, rng.choice(["f", "m"], n)
    X = rng.standard_t(4, size=(n, n_features)) / np.sqrt(2) if heavy else rng.normal(size=(n, n_features))
    depends, differs = rng.random(n_features) < 0.3, rng.random(n_features) < 0.02
    X += ((age - 65) / 10)[:, None] * np.where(depends, rng.normal(0, 0.7, n_features), 0.0)
    X += (sex == "m")[:, None] * np.where(rng.random(n_features) < 0.1, 1.0, 0.0)
    X += y[:, None] * np.where(differs, effect * rng.choice([-1, 1], n_features), 0.0)
    return X, y, {"age": age, "sex": sex}, differs


def regression(X, y, covariates):
    """Return limma's choice: moderated t-statistics of the class in a regression."""
    columns = [np.ones(len(y)), y]
    if covariates:
        columns += [covariates["age"] - 65, covariates["sex"] == "m"]
    A = np.column_stack(columns).astype(float)
    fit = np.linalg.lstsq(A, X, rcond=None)[0]
    dof = len(y) - A.shape[1]
    variance = ((X - A @ fit) ** 2).sum(axis=0) / dof
    prior = fit_variance_prior(variance, dof)
    moderated = (
        (prior.dof * prior.scale + dof * variance) / (prior.dof + dof) if np.isfinite(prior.dof) else prior.scale
    )
    t = fit[1] / np.sqrt(moderated * np.linalg.inv(A.T @ A)[1, 1])
    p = 2 * student.sf(np.abs(t), min(prior.dof + dof, 1e6))
    order = np.argsort(p)
    q = np.minimum.accumulate((p[order] * p.size / np.arange(1, p.size + 1))[::-1])[::-1]
    return np.isin(np.arange(p.size), order[q < 0.1])


def claims(seeds, **options):
    """Average lists over studies: listed, claimed false, true false, found."""
    rows = {}
    for seed in seeds:
        X, y, covariates, differs = made(seed, **options)
        for name, given in (("without covariates", None), ("age and sex", covariates)):
            posterior = bs.screen(X, y, covariates=given, shuffles=40)
            for rule, list_of in (("MNC", bs.MinimalRisk(0.5)), ("FDR 0.1", bs.FalseDiscovery(0.1))):
                found = list_of.select(posterior)
                claimed = found.false_positive_estimate.expected
                row = (found.n_selected, claimed, (found.mask & ~differs).sum(), (found.mask & differs).sum())
                rows.setdefault((name, rule), []).append(row)
            mask = regression(X, y, given)
            row = (mask.sum(), np.nan, (mask & ~differs).sum(), (mask & differs).sum())
            rows.setdefault((name, "limma's method, q < 0.1"), []).append(row)
    for (name, rule), each in rows.items():
        listed, claimed, false, true = np.mean(each, axis=0)
        head = f"{name:20} {rule:24} listed {listed:6.1f}"
        print(f"{head}  claimed false {claimed:5.1f}  false {false:6.1f}  found {true:5.1f}")


def seconds(repeats=6):
    """Print processor time of screens of 200 x 20,000 with five columns, without shuffles: the best, in turns."""
    rng = np.random.default_rng(0)
    X, Z = rng.normal(size=(200, 20_000)), rng.normal(size=(200, 5))
    for n_classes in (2, 3):
        y = np.arange(200) % n_classes
        for name, model in (("calibrated", None), ("Jeffreys", bs.GaussianModel.jeffreys())):
            best = {}
            for _ in range(repeats):
                for given in (False, True):
                    start = time.process_time()
                    bs.screen(X, y, model=model, covariates=Z if given else None, shuffles=0)
                    best[given] = min(best.get(given, np.inf), time.process_time() - start)
            ratio = best[True] / best[False]
            head = f"{n_classes} classes, {name:12} {best[False]:.3f} s"
            print(f"{head}, with 5 columns {best[True]:.3f} s: {ratio:.1f}")


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    n = int(sys.argv[1]) if len(sys.argv) > 1 else 10
    seconds()
    for label, options in (("50 + 50", {}), ("heavy tails", {"heavy": True}), ("no markers", {"effect": 0.0})):
        print(label)
        claims(range(n), **options)
