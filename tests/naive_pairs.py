"""Correlation-aware filters written from their definitions, one determinant at a time, without the package."""

from __future__ import annotations

import math

import numpy as np
from scipy.special import logsumexp, multigammaln

PP = {"kappa": 3.0, "s": 0.5, "nu": 0.1, "locations": (0.0, 0.2, 0.0)}


def log_marginal(X, prior, cell):
    """Log evidence of the rows of X as one correlated block; ``prior`` None is Jeffreys', constants as in I6."""
    n, d = X.shape
    centred = X - X.mean(axis=0)
    scale = centred.T @ centred
    if prior is None:
        return (
            -0.5 * n * d * math.log(math.pi) - 0.5 * d * math.log(n) + multigammaln(n / 2, d)
            - 0.5 * n * np.linalg.slogdet(scale)[1]
        )  # fmt: skip
    kappa, s, nu = prior["kappa"] + d - 1, prior["s"], prior["nu"]
    distance = X.mean(axis=0) - prior["locations"][cell]
    scale = scale + s * np.eye(d) + nu * n / (nu + n) * np.outer(distance, distance)
    return (
        -0.5 * n * d * math.log(math.pi) + 0.5 * d * math.log(nu / (nu + n)) + 0.5 * kappa * d * math.log(s)
        - 0.5 * (kappa + n) * np.linalg.slogdet(scale)[1] + multigammaln((kappa + n) / 2, d)
        - multigammaln(kappa / 2, d)
    )  # fmt: skip


def log_factor(X, y, features, prior):
    """Log Bayes factor of some features as one block: different classes against the same."""
    X = X[:, list(features)]
    apart = log_marginal(X[y == 0], prior, 0) + log_marginal(X[y == 1], prior, 1)
    return apart - log_marginal(X, prior, 2)


def singles(X, y, prior):
    return np.array([log_factor(X, y, [f], prior) for f in range(X.shape[1])])


def pair_table(X, y, prior):
    p = X.shape[1]
    table = np.full((p, p), -np.inf)
    for i in range(p):
        for j in range(i):
            table[i, j] = table[j, i] = log_factor(X, y, [i, j], prior)
    return table


def two_mnc(X, y, prior):
    return logsumexp(pair_table(X, y, prior), axis=1)


def log_pofac(X, y, prior):
    table = pair_table(X, y, prior) - singles(X, y, prior)
    return logsumexp(table, axis=1) - math.log(X.shape[1] - 1)


def remain(X, y, prior, t1, t2):
    """Return the features in the order of the steps that took them, one set for each step."""
    whole = pair_table(X, y, prior)
    left, order = list(range(X.shape[1])), []
    while len(left) > 1:
        table = np.exp(whole[np.ix_(left, left)] - whole[np.ix_(left, left)].max())
        table *= 2.0 / table.sum()
        taken = []
        while True:
            shares = table.sum(axis=0)
            found = [k for k in range(len(left)) if shares[k] > t1 and k not in taken]
            if not found:
                break
            order.append({left[k] for k in found})
            taken += found
            table[:, found] = 0.0
            if table.sum() == 0.0:
                break
            table *= 2.0 / table.sum()
        if not taken:
            break
        left = [f for k, f in enumerate(left) if k not in taken]
        if len(left) < 2 or whole[np.ix_(left, left)].max() < t2:
            break
    return order


def spm(X, y, prior, t1, t2, log_t4):
    beta, n = log_pofac(X, y, prior), len(y)
    left, blocks = set(range(X.shape[1])), []
    most = min((y == 0).sum(), (y == 1).sum()) - 3
    while left:
        seed = max(sorted(left), key=lambda f: beta[f])
        if not beta[seed] > log_t4:
            break
        block = [seed]
        while len(block) < most:
            gains = {}
            for f in sorted(left - set(block)):
                gains[f] = -math.log(t1) - t2 * len(block) * math.log(n)
                for k in (0, 1):
                    part = X[y == k]
                    gains[f] += log_marginal(part[:, [*block, f]], prior, k)
                    gains[f] -= log_marginal(part[:, block], prior, k) + log_marginal(part[:, [f]], prior, k)
            if not gains or max(gains.values()) <= 0:
                break
            block.append(max(gains, key=gains.__getitem__))
        left -= set(block)
        blocks.append(block)
    return blocks
