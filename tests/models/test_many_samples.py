"""Log Bayes factors from ten to a hundred million samples, against mpmath with 50 digits from the same sums."""

from __future__ import annotations

import mpmath as mp
import numpy as np
import pytest

import bayesieve as bs
from bayesieve.models import Patterns, jeffreys_constant, two_group_evidence
from bayesieve.models.categorical import CategoricalModel
from bayesieve.models.gaussian.several_effects import several_variances
from bayesieve.stats import CategoryCounts

SIZES = (10, 1000, 10**6, 2 * 10**7)
FLAT, PROPER = (0, 0, 0, 0), ((3, 0.5, 0.1, 0), (3, 0.5, 0.1, 0.2), (3, 0.5, 0.1, 0))
LIMIT = 1e-10  # relative, and absolute where log odds are about 0
digits = mp.workdps(50)


def moments(sizes, seed=1):
    """Sums of features that do not differ, differ by a little in mean or spread, and by much."""
    rng = np.random.default_rng(seed)
    means = rng.normal(size=(len(sizes), 7)) / np.sqrt(sizes)[:, None]
    spread = np.clip(rng.normal(size=means.shape) * np.sqrt(2 / (np.array(sizes) - 1.0))[:, None], -1, 1)
    apart = np.arange(len(sizes))[:, None]
    squares = np.exp(spread + apart * [0, 0, 1e-3, 0.1, 0, 0, 3]) * (np.array(sizes) - 1.0)[:, None]
    return bs.Moments(
        tuple(range(len(sizes))), np.array(sizes), means + apart * [0, 0, 0, 0, 1e-3, 0.3, 20], squares
    )


def groups(made, j):
    """Count, mean and squares of every class as exact numbers."""
    columns = zip(made.count.tolist(), made.mean[:, j].tolist(), made.centred_squares[:, j].tolist(), strict=True)
    return [tuple(map(mp.mpf, each)) for each in columns]


def pooled(parts):
    n = mp.fsum(part[0] for part in parts)
    mean = mp.fsum(part[0] * part[1] for part in parts) / n
    return n, mean, mp.fsum(part[2] + part[0] * (part[1] - mean) ** 2 for part in parts)


def log_marginal(part, hyper, constant):
    """Equation (2.16) with powers and gamma functions written out."""
    n, mean, squares = part
    kappa, s, nu, m = map(mp.mpf, hyper)
    scale = s + squares + (nu * n / (nu + n) * (mean - m) ** 2 if nu else 0)
    found = mp.loggamma((kappa + n) / 2) - (n - 1) / 2 * mp.log(2 * mp.pi) - mp.log(nu + n) / 2
    found -= (kappa + n) / 2 * mp.log(scale / 2)
    if constant:
        found += kappa / 2 * mp.log(s / 2) - mp.loggamma(kappa / 2) + mp.log(nu / (2 * mp.pi)) / 2
    return found


def check(found, expected, limit=LIMIT):
    wrong = [(f, e) for f, e in zip(found, expected, strict=True) if abs(f - e) > limit * max(abs(e), 1)]
    assert not wrong, [(f, float(f - e)) for f, e in wrong]


@digits
@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("share", [0.5, 0.1])
@pytest.mark.parametrize("prior", ["jeffreys", "proper"])
def test_two_gaussian_classes(n, share, prior):
    made = moments([max(2, int(n * share)), n - max(2, int(n * share))])
    hypers = PROPER if prior == "proper" else (FLAT,) * 3
    expected = []
    for j in range(7):
        parts = groups(made, j)
        each = [
            log_marginal(p, h, prior == "proper") for p, h in zip((*parts, pooled(parts)), hypers, strict=True)
        ]
        expected.append(each[0] + each[1] - each[2] + (0 if prior == "proper" else mp.log(mp.mpf(0.1))))
    check(getattr(bs.GaussianModel, prior)().log_bayes_factor(made), expected)


@digits
@pytest.mark.parametrize("n", SIZES)
def test_patterns_of_three_classes(n):
    made = moments([n // 3, n // 3, n - 2 * (n // 3)])
    patterns, expected = Patterns.of("any", made.classes), []
    for j in range(7):
        parts, terms = groups(made, j), []
        for i, log_weight in enumerate(patterns.log_weights):
            chosen = patterns.groups(i)
            term = mp.fsum(log_marginal(pooled([parts[k] for k in group]), FLAT, False) for group in chosen)
            terms.append(mp.mpf(float(log_weight)) + term + (len(chosen) - 1) * mp.log(mp.mpf(0.1)))
        highest = max(terms)
        total = highest + mp.log(mp.fsum(mp.e ** (term - highest) for term in terms))
        expected.append(total - log_marginal(pooled(parts), FLAT, False))
    check(bs.GaussianModel.jeffreys().log_bayes_factor(made), expected)


@digits
def test_the_constant_of_jeffreys_prior():
    for n0, n1 in ((2, 5), (300, 4000), (10**7, 3 * 10**7)):
        a, b = mp.mpf(n0), mp.mpf(n1)
        n = a + b
        exact = mp.log(2 * mp.pi * n / a / b) / 2 + mp.loggamma(a / 2) + mp.loggamma(b / 2) - mp.loggamma(n / 2)
        exact += (n * mp.log(n) - a * mp.log(a) - b * mp.log(b)) / 2
        check([float(jeffreys_constant(n0, n1))], [exact], 1e-13)


@digits
@pytest.mark.parametrize("n", [1000, 10**6, 10**8])
@pytest.mark.parametrize(("concentration", "levels"), [(0.5, None), ([0.3, 0.5, 2.0, 1.0], (0, 1, 2, 3))])
def test_categories(n, concentration, levels):
    rng = np.random.default_rng(2)
    shares = rng.dirichlet(np.ones(3), 5)
    tables = np.array([[rng.multinomial(size, share) for share in shares] for size in (n, n // 10)])
    tables[1, 4] = rng.multinomial(n // 10, shares[0])  # one that differs
    counts = CategoryCounts(["a", "b"], [0, 1, 2], tables.transpose(0, 2, 1))
    alpha = [mp.mpf(each) for each in (concentration if levels else [concentration] * 3)]

    def evidence(ns):
        padded = [*map(int, ns)] + [0] * (len(alpha) - 3)
        total = mp.fsum(mp.loggamma(a + k) - mp.loggamma(a) for a, k in zip(alpha, padded, strict=True))
        return total - mp.loggamma(mp.fsum(alpha) + sum(padded)) + mp.loggamma(mp.fsum(alpha))

    expected = [evidence(a) + evidence(b) - evidence(a + b) for a, b in zip(*tables, strict=True)]
    check(CategoricalModel(concentration, levels).evidences(counts).pattern([(0,), (1,)]), expected)


def integral(log_value, mode):
    """Log of an integral with one mode, by quadrature in units of its width."""
    mode = mp.findroot(lambda t: mp.diff(log_value, t), mode)
    width, top = 1 / mp.sqrt(-mp.diff(log_value, mode, 2)), log_value(mode)
    ends = [mode + width * k for k in (-60, -12, -6, 0, 6, 12, 60)]
    return top + mp.log(mp.quad(lambda t: mp.e ** (log_value(t) - top), ends))


@mp.workdps(30)
@pytest.mark.parametrize("n", [1000, 2 * 10**7])
@pytest.mark.parametrize("share", [0.5, 0.9])
def test_variances_under_the_calibrated_prior(n, share):
    n0, n1, g, omegas = n * share, n * (1 - share), 0.7, np.array([0.02, 2.0])
    apart = 1.5 * np.sqrt(2 / n0 + 2 / n1)
    s0, s1 = n0 * np.exp(apart), n1 * np.exp(-apart)
    mean = (np.array([0.0]), s0 + s1, n0 * n1 / n, 0.5 * n, 0.0)
    variance = (np.array([s0]), np.array([s1]), n0, n1, np.array([g]))
    found = two_group_evidence(mean, variance, (np.array([1.0]), omegas))[1]
    a, b, S0, S1 = map(mp.mpf, (n0, n1, s0, s1))
    total = mp.mpf(0)
    for omega in map(mp.mpf, omegas.tolist()):

        def height(t, omega=omega):
            squares = (S0 * mp.e ** (t / 2) + S1 * mp.e ** (-t / 2)) / (S0 + S1)
            return g * ((a - b) / 4 * t - (a + b) / 2 * mp.log(squares)) - t * t / (2 * omega * omega)

        total += mp.e ** integral(height, mp.log(S1 / b * a / S0)) / (omega * mp.sqrt(2 * mp.pi))
    check(found, [mp.log(total / 2)])


@mp.workdps(30)
@pytest.mark.parametrize(("n", "g"), [(10, 0.4), (2 * 10**7, 1.0)])
@pytest.mark.parametrize("shape", [0.9, 100.0])  # of the widest effects, and of small ones, whose tails are long
def test_variances_of_three_groups(n, g, shape):
    dof = np.array([[n / 3], [n / 3], [max(3.0, n / 50)]])
    squares = dof * np.exp(np.array([[1.0], [-1.0], [1.5]]) * np.sqrt(2 / dof))
    found = several_variances(squares, dof, np.array([g]), np.array([shape]))
    s, m = ([mp.mpf(g) * mp.mpf(float(x)) / 2 for x in column[:, 0]] for column in (squares, dof))
    a, total, within = mp.mpf(shape), mp.fsum(m), mp.fsum(s)

    def height(u):
        return -total * u - mp.fsum((a + k) * mp.log(a + x * mp.e ** (-u)) for k, x in zip(m, s, strict=True))

    exact = integral(height, mp.log(within / total)) - mp.loggamma(total) + total * mp.log(within)
    exact += mp.fsum(a * mp.log(a) - mp.loggamma(a) + mp.loggamma(a + k) for k in m)
    check(found, [exact])
