"""Independent evaluation of normal-inverse-Wishart blocks with mpmath, from raw data, at 50 digits.

Written from the definition (explicit determinants and multivariate gamma functions), without touching the package.
"""

from __future__ import annotations

import mpmath as mp
import numpy as np


def block_log_marginal(X, kappa_1, s, nu, m, digits=50):
    """Log evidence of the rows of X under the family grown from one-feature priors; all zeros is Jeffreys'."""
    with mp.workdps(digits):
        n, d = X.shape
        s, m = (np.broadcast_to(value, (d,)) for value in (s, m))
        x = mp.matrix([[mp.mpf(float(value)) for value in row] for row in X])
        mean = [mp.fsum(x[i, a] for i in range(n)) / n for a in range(d)]
        nu, improper = mp.mpf(float(nu)), not nu
        pull = 0 if improper else nu * n / (nu + n)
        scale = mp.matrix(d, d)
        for a in range(d):
            for b in range(d):
                scale[a, b] = mp.fsum((x[i, a] - mean[a]) * (x[i, b] - mean[b]) for i in range(n))
                scale[a, b] += pull * (mean[a] - mp.mpf(float(m[a]))) * (mean[b] - mp.mpf(float(m[b])))
                scale[a, b] += mp.mpf(float(s[a])) if a == b else 0
        kappa = mp.mpf(0) if improper else mp.mpf(float(kappa_1)) + d - 1
        result = -mp.mpf(n * d) / 2 * mp.log(mp.pi) + log_multigamma((kappa + n) / 2, d)
        result -= (kappa + n) / 2 * mp.log(mp.det(scale))
        if improper:  # the constants of the prior are 1, also that of the Gaussian prior of the means
            return result - mp.mpf(d) / 2 * mp.log(mp.mpf(n) / (2 * mp.pi))
        result += mp.mpf(d) / 2 * mp.log(nu / (nu + n)) - log_multigamma(kappa / 2, d)
        return result + kappa / 2 * mp.fsum(mp.log(mp.mpf(float(value))) for value in s)


def log_multigamma(x, d):
    """Log of the multivariate gamma function."""
    return mp.mpf(d * (d - 1)) / 4 * mp.log(mp.pi) + mp.fsum(mp.loggamma(x - mp.mpf(j) / 2) for j in range(d))
