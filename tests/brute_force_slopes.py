"""Bayes factors given one covariate, by sums over grids of every parameter: no closed form is used.

The trapezoidal rule converges exponentially for these integrands: means and slopes are Gaussian given the
variances,
and log variances have tails that fall exponentially.
"""

from __future__ import annotations

import numpy as np

_STEP = 0.7  # standard deviations
_WIDE = _STEP * np.arange(-13, 14)


def slope_grid(x, z, y):
    """Values of the slope around that of least squares within classes, wide enough for any weighting."""
    centred = [(x[y == k] - x[y == k].mean(), z[y == k] - z[y == k].mean()) for k in np.unique(y)]
    within = sum((b**2).sum() for _, b in centred)
    slope = sum((a * b).sum() for a, b in centred) / within
    spread = np.sqrt(sum(((a - slope * b) ** 2).sum() for a, b in centred) / within)
    u, step = np.linspace(-6.0, 6.0, 151, retstep=True)
    return slope + spread * np.sinh(u), spread * np.cosh(u) * step


def summed_mean(x, z, variance, slope):
    """Likelihood of one group, its mean summed over a grid: (variances, slopes)."""
    n = x.size
    centre = x.mean() - slope * z.mean()
    total = np.zeros((variance.size, slope.size))
    width = np.sqrt(variance / n)[:, None]
    for u in _WIDE:
        mean = centre[None] + u * width
        squares = sum((x[i] - z[i] * slope[None] - mean) ** 2 for i in range(n))
        total += np.exp(-0.5 * squares / variance[:, None]) * _STEP * width
    return total * (2 * np.pi * variance[:, None]) ** (-n / 2)


def jeffreys(x, z, y, ratio):
    """Log Bayes factor under Jeffreys' prior of each mean and variance, flat slopes, and the ratio L."""
    slope, weight = slope_grid(x, z, y)
    step = 0.2
    log_variance = np.log(x.var()) + np.arange(-14.0, 22.0, step)
    variance = np.exp(log_variance)
    prior = variance**-1.5 * variance * step  # d sigma = sigma d log sigma
    groups = [(summed_mean(x[y == k], z[y == k], variance, slope) * prior[:, None]).sum(axis=0) for k in (0, 1)]
    single = (summed_mean(x, z, variance, slope) * prior[:, None]).sum(axis=0)
    return np.log(ratio) + np.log((groups[0] * groups[1] * weight).sum()) - np.log((single * weight).sum())


def proper(x, z, y, model):
    """Log Bayes factor under proper priors of mean (at the mean covariate) and variance, flat slopes."""
    slope, weight = slope_grid(x, z, y)
    z = z - z.mean()
    step = 0.2
    variance = np.exp(np.log(x.var()) + np.arange(-10.0, 18.0, step))

    def evidence(some, prior):
        a, b, n = x[some], z[some], some.sum()
        kappa, s, nu, m = prior.variance_dof, prior.variance_scale, prior.mean_strength, prior.mean_location
        precision = (nu + n) / variance[:, None]
        centre = (nu * m + n * (a.mean() - slope * b.mean()))[None] / (nu + n)
        total = np.zeros((variance.size, slope.size))
        for u in _WIDE:
            mean = centre + u / np.sqrt(precision)
            squares = sum((a[i] - b[i] * slope[None] - mean) ** 2 for i in range(n)) + nu * (mean - m) ** 2 + s
            total += np.exp(-0.5 * squares / variance[:, None]) * _STEP / np.sqrt(precision)
        total *= variance[:, None] ** (-(n + kappa + 3) / 2 + 1) * step
        return total.sum(axis=0) * np.exp(prior.log_constant()) * (2 * np.pi) ** (-n / 2)

    groups = [evidence(y == k, model.prior_of(k, 2)) for k in (0, 1)]
    single = evidence(y >= 0, model.pooled_prior)
    return np.log((groups[0] * groups[1] * weight).sum()) - np.log((single * weight).sum())


def mean_difference(x, z, y, tau, dof, scale):
    """Log Bayes factor of a difference in mean of N(0, tau^2) standard deviations, variances moderated."""
    slope, weight = slope_grid(x, z, y)
    step = 0.3
    variance = np.exp(np.log(x.var()) + np.arange(-9.0, 14.0, step))[:, None, None]
    prior = (variance ** (-(dof + x.size) / 2) * np.exp(-0.5 * dof * scale / variance))[:, 0, 0]  # d sigma / sigma
    u = _STEP * np.arange(-13, 14)
    width = np.sqrt(variance / x.size)

    def likelihood(size):
        moved = size * np.sqrt(variance)
        mean = x.mean() - slope[None, :, None] * z.mean() - y.mean() * moved + width * u
        squares = sum((x[i] - z[i] * slope[None, :, None] - moved * y[i] - mean) ** 2 for i in range(x.size))
        return ((np.exp(-0.5 * squares / variance) * width).sum(axis=2) * weight).sum(axis=1) @ prior

    sizes = 0.4 * np.arange(-18, 19)
    terms = [likelihood(tau * v) * np.exp(-0.5 * v * v) / np.sqrt(2 * np.pi) * 0.4 for v in sizes]
    return np.log(sum(terms)) - np.log(likelihood(0.0))


def variance_ratio(x, z, y, omega, share=1.0):
    """Log Bayes factor of a log ratio of variances of N(0, omega^2), with means and slope free."""
    slope, weight = slope_grid(x, z, y)
    log_variance = np.log(x.var()) + np.arange(-9.0, 14.0, 0.3)

    def likelihood(t):
        first = summed_mean(x[y == 0], z[y == 0], np.exp(log_variance - t / 2), slope)
        second = summed_mean(x[y == 1], z[y == 1], np.exp(log_variance + t / 2), slope)
        return (first * second * weight).sum()

    steps, null = 0.4 * np.arange(-21, 22), likelihood(0.0)
    terms = [
        (likelihood(omega * u) / null) ** share * np.exp(-0.5 * u * u) / np.sqrt(2 * np.pi) * 0.4 for u in steps
    ]
    return np.log(sum(terms))
