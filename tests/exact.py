"""Independent evaluation of the Gaussian model with mpmath, from raw data, at 50 digits.

Written from the definition (two integrals' closed forms with explicit gamma functions and powers),
without touching the package.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import mpmath as mp


@dataclass(frozen=True)
class Hyper:
    """kappa, s, nu, m of one group."""

    kappa: float = 0.0
    s: float = 0.0
    nu: float = 0.0
    m: float = 0.0

    @property
    def proper(self) -> bool:
        """Whether the prior has a constant."""
        return self.kappa > 0 and self.s > 0 and self.nu > 0


JEFFREYS = Hyper()
PROPER = (Hyper(3, 0.5, 0.1, 0.0), Hyper(3, 0.5, 0.1, 0.2), Hyper(3, 0.5, 0.1, 0.0))


def log_marginal(x: Sequence[float], h: Hyper, *, constant: bool) -> mp.mpf:
    n = len(x)
    values = [mp.mpf(float(v)) for v in x]
    mean = mp.fsum(values) / n if n else mp.mpf(0)
    spread = mp.fsum([(v - mean) ** 2 for v in values])
    kappa, s, nu, m = (mp.mpf(float(v)) for v in (h.kappa, h.s, h.nu, h.m))
    scale = s + spread + (nu * n / (nu + n) * (mean - m) ** 2 if nu else 0)
    result = mp.loggamma((kappa + n) / 2) - mp.mpf(n - 1) / 2 * mp.log(2 * mp.pi)
    result += -mp.log(nu + n) / 2 - (kappa + n) / 2 * mp.log(scale / 2)
    if constant:
        result += kappa / 2 * mp.log(s / 2) - mp.loggamma(kappa / 2) + mp.log(nu / (2 * mp.pi)) / 2
    return result


def log_odds(
    x0: Sequence[float],
    x1: Sequence[float],
    hypers: tuple[Hyper, Hyper, Hyper] = (JEFFREYS, JEFFREYS, JEFFREYS),
    *,
    prior_ratio: float | None = 0.1,
    prior_probability: float = 0.01,
    digits: int = 50,
) -> float:
    """Log posterior odds; ``prior_ratio`` is ignored when all three priors are proper."""
    with mp.workdps(digits):
        proper = all(h.proper for h in hypers)
        pooled = [*x0, *x1]
        parts = [log_marginal(x, h, constant=proper) for x, h in zip((x0, x1, pooled), hypers, strict=True)]
        p = mp.mpf(prior_probability)
        total = parts[0] + parts[1] - parts[2] + mp.log(p) - mp.log(1 - p)
        if not proper:
            total += mp.log(mp.mpf(prior_ratio))
        return total
