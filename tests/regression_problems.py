"""Small regression problems and independent checks of their solutions, for tests."""

from __future__ import annotations

import numpy as np
from scipy.special import expit, log_ndtr

from bayesieve.data import LabelledMatrix


def table(n=60, p=200, seed=0, shift=1.0, sizes=None):
    """Gaussian noise with a common factor, and three features that differ in mean."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) + 0.4 * rng.normal(size=(n, 1))
    X = 3.0 * X + rng.normal(size=p)
    y = np.repeat([0, 1], sizes or [n // 2, n - n // 2])
    rng.shuffle(y)
    X[y == 1, :3] += 3.0 * shift
    return X, y


def matrix_of(X, y, **options):
    return LabelledMatrix.from_arrays(X, y, **options)


def standardised(X):
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.nan_to_num((X - X.mean(axis=0)) / X.std(axis=0))


def slope(link, y, eta):
    """Derivative of minus the loss, written out again."""
    sign = 2.0 * y - 1.0
    if link == "linear":
        return y - eta
    if link == "logit":
        return y - expit(eta)
    return sign * np.exp(-0.5 * eta**2 - 0.5 * np.log(2 * np.pi) - log_ndtr(sign * eta))


def violation(Z, y, link, alpha, penalty, b, b0):
    """By how much a solution violates the conditions of the optimum (Karush, Kuhn and Tucker)."""
    u = slope(link, y, Z @ b + b0)
    g = Z.T @ u / y.size - penalty * (1 - alpha) * b
    at = np.where(b != 0, np.abs(g - penalty * alpha * np.sign(b)), np.maximum(np.abs(g) - penalty * alpha, 0.0))
    return max(abs(u.mean()), at.max())
