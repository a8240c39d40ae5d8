"""The prior ratio, :math:`L` in the paper: what an improper prior leaves open (sections 2.3, S5 and S6).

Under improper priors the constants :math:`A, B` of the three priors do not exist, and their ratio
:math:`L = A_0 B_0 A_1 B_1 / (A B)` has to be given.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from bayesieve.models.log_terms import log_gamma_rest
from bayesieve.utils import PriorError, PriorWarning, warn

PriorRatio: TypeAlias = "float | npt.NDArray[np.float64] | Callable[[int, int], float] | str"

_PROBES = tuple(10**k for k in range(3, 10))
_SETTLED = 2e-3


def jeffreys_constant(n0: Any, n1: Any) -> Any:
    r"""Return :math:`K(n_0, n_1)`, by which :math:`\log BF = \log L + K - \log\lambda` under Jeffreys' prior.

    .. math::
        K = \tfrac12 \log\frac{2\pi n}{n_0 n_1} + \log\frac{\Gamma(n_0/2)\Gamma(n_1/2)}{\Gamma(n/2)}
            + \tfrac12 (n \log n - n_0 \log n_0 - n_1 \log n_1)

    All that grows faster than log n cancels, and what Stirling's formula leaves of the gamma functions remains.
    """
    n0, n1 = np.asarray(n0, dtype=np.float64), np.asarray(n1, dtype=np.float64)
    n = n0 + n1
    return 0.5 * (math.log(2.0 * math.pi) + np.log(n) - np.log(n0) - np.log(n1)) + (
        log_gamma_rest(n0 / 2) + log_gamma_rest(n1 / 2) - log_gamma_rest(n / 2)
    )


def _log_bic(n0: Any, n1: Any) -> Any:
    return -np.log(np.asarray(n0) + n1) - jeffreys_constant(n0, n1)


NAMED_LOG_RATIOS: dict[str, Callable[[Any, Any], Any]] = {
    "paper": lambda n0, n1: math.log(0.1),
    "sqrt2pi": lambda n0, n1: -0.5 * math.log(2.0 * math.pi),
    "half_sqrt2pi": lambda n0, n1: -0.5 * math.log(8.0 * math.pi),
    "n_decay": lambda n0, n1: -0.5 * math.log(2.0 * math.pi) - np.log(np.asarray(n0) + n1),
    "bic": _log_bic,
}
"""Named choices: the paper's 0.1; (2 pi)^-1/2; half of it, the true limit of S6; (2 pi)^-1/2 / n; and
the one that gives ``log BF = -log(lambda) - log(n)`` under Jeffreys' prior."""


def check_prior_ratio(prior_ratio: Any) -> PriorRatio:
    """Check the form of a prior ratio as far as that is possible without data."""
    if isinstance(prior_ratio, str):
        if prior_ratio not in NAMED_LOG_RATIOS:
            raise PriorError(
                f"There is no prior ratio called {prior_ratio!r}. Named choices are "
                f"{', '.join(map(repr, NAMED_LOG_RATIOS))}; a positive number works too."
            )
        return prior_ratio
    if callable(prior_ratio):
        return prior_ratio  # type: ignore[no-any-return]
    try:
        value = np.array(prior_ratio, dtype=np.float64)
    except (TypeError, ValueError):
        value = np.array([np.nan])
    except OverflowError:
        raise PriorError("prior_ratio is beyond 1e308, the largest number that can be used.") from None
    if value.ndim > 1 or not (np.isfinite(value) & (value > 0)).all():
        raise PriorError(
            f"prior_ratio must be positive and finite (a number, one per feature, a function of the two "
            f"class sizes, or a name), not {prior_ratio!r}."
        )
    value.flags.writeable = False
    return float(value) if value.ndim == 0 else value


def depends_on_sizes(name: str) -> bool:
    """Whether a named ratio depends on the sizes of two classes."""
    return name in ("n_decay", "bic")


def log_prior_ratio(prior_ratio: PriorRatio, n0: Any, n1: Any) -> Any:
    """Logarithm of a prior ratio at the class sizes of the data, scalar or per feature."""
    if isinstance(prior_ratio, str):
        return NAMED_LOG_RATIOS[prior_ratio](n0, n1)
    if not callable(prior_ratio):
        return np.log(prior_ratio)
    if np.ndim(n0) == 0 and np.ndim(n1) == 0:
        return _log_of(prior_ratio, int(n0), int(n1))
    pairs = np.stack(np.broadcast_arrays(n0, n1), axis=1)
    distinct, inverse = np.unique(pairs, axis=0, return_inverse=True)
    values = np.array([_log_of(prior_ratio, int(a), int(b)) if a and b else 0.0 for a, b in distinct])
    return values[inverse.reshape(-1)]


def warn_unless_semi_proper(prior_ratio: PriorRatio, n0: int, n1: int) -> None:
    """Probe a user's function at growing sample sizes and warn if consistency is not assured.

    Theorem 3 needs a semi-proper prior (Definition 3): the ratio grows like ``c * n ** p`` with
    ``p < 1``. The function is asked at sizes up to 1e9 with the data's class proportions.
    """
    reason = power_of_n(prior_ratio, n0 / (n0 + n1))[1] if callable(prior_ratio) else ""
    if reason:
        warn(
            PriorWarning,
            f"prior_ratio is not semi-proper in the sense of Definition 3 of the paper: {reason}. "
            "The selected features are then not assured to converge to the true ones as samples grow.",
        )


def power_of_n(prior_ratio: PriorRatio, share: float = 0.5) -> tuple[float, str]:
    """Return the power ``p`` of Definition 3, and what speaks against it: nothing if ``c * n ** p``, ``p < 1``.

    A function is asked at 1e3 to 1e9 samples; the power is NaN if it cannot be evaluated there or has none.
    """
    if not callable(prior_ratio) and not isinstance(prior_ratio, str):
        return 0.0, ""
    sizes = [(max(1, round(n * share)), max(1, n - round(n * share))) for n in _PROBES]
    try:
        logs = np.array([log_prior_ratio(prior_ratio, *each) for each in sizes])
    except Exception as error:
        return math.nan, f"it could not be evaluated at larger samples ({type(error).__name__}: {error})"
    slopes = np.diff(logs) / math.log(10.0)
    power = round(float(slopes[-1]), 5) + 0.0
    if slopes[-1] >= 1.0 - _SETTLED:
        near = slopes[-1] < 1.0 - 1e-9
        bound = "too near to n to tell whether the power is below 1" if near else "and the power must stay below 1"
        return power, f"it grows like n ** {slopes[-1]:.4g}, {bound}"
    if abs(slopes[-1] - slopes[-2]) > _SETTLED:
        return math.nan, f"its power of n does not settle (last {slopes[-2]:.4g}, then {slopes[-1]:.4g})"
    return power, ""


def _log_of(function: Callable[[int, int], float], n0: int, n1: int) -> float:
    try:
        value = float(function(n0, n1))
    except (TypeError, ValueError, ArithmeticError) as error:
        raise PriorError(
            f"The prior_ratio function could not be evaluated for class sizes {n0} and {n1}: {error}. "
            "It takes the two sizes and returns a positive and finite number."
        ) from None
    if not (math.isfinite(value) and value > 0):
        raise PriorError(
            f"The prior_ratio function gave {value!r} for class sizes {n0} and {n1}; "
            "it must be positive and finite."
        )
    return math.log(value)
