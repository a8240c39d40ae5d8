r"""A solver of penalised regressions of our own: coordinate descent along the path, compiled.

At each penalty the loss is replaced by its quadratic approximation at the last solution (weights w, the second
derivatives) and coefficients are brought to their optimum one after the other,

.. math:: b_j \leftarrow \frac{S(g_j + h_j b_j,\ \lambda\alpha)}{h_j + \lambda (1 - \alpha)}

with :math:`S` the soft threshold, :math:`g_j = \frac1n \sum_i x_{ij} u_i` and
:math:`h_j = \frac1n \sum_i w_i x_{ij}^2`, until nothing moves; then the approximation is renewed. Only some
features are looked at: in the end all are checked, the strongest of those that violate the conditions of the
optimum (:math:`|g_j| > \lambda\alpha`) are let in, and so on until none does.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from bayesieve.rivals.regression.links import LINKS, null_intercept
from bayesieve.utils import FloatArray, compiled

_LEAST_WEIGHT = 1e-5
_FIRST, _SHARE = 1e-5, 0.01  # how well an approximation is solved: at first, and of what the last one changed
_HALVINGS = 20
_AT_LEAST = 64  # features let in at once, and twice as many as are inside
_FASTMATH = {"reassoc", "contract", "nsz"}


def descend(
    X: FloatArray,
    y: FloatArray,
    link: str,
    alpha: float,
    penalties: FloatArray,
    tolerance: float,
    max_iterations: int,
) -> tuple[FloatArray, FloatArray]:
    """Return coefficients and intercepts at falling penalties, up to the first at which there is no convergence.

    Parameters are those of :func:`bayesieve.rivals.regression.solver.solve`; a coefficient rests when the square
    of its move, times its weight, is below the tolerance.
    """
    coefficients = np.zeros((penalties.size, X.shape[1]))
    intercepts = np.zeros(penalties.size)
    start = null_intercept(link, float(y.mean()))
    n_found = _follow(
        np.asfortranarray(X),
        y,
        LINKS.index(link),
        float(alpha),
        np.ascontiguousarray(penalties, dtype=np.float64),
        tolerance,
        max_iterations,
        start,
        coefficients,
        intercepts,
    )
    return coefficients[:n_found], intercepts[:n_found]


@compiled(fastmath=_FASTMATH)
def _density_ratio(x: float) -> float:
    """Density over distribution function of the standard normal, without underflow."""
    if x > -5.0:
        return math.exp(-0.5 * x * x) / 2.5066282746310002 / (0.5 * math.erfc(-x / 1.4142135623730951))
    # Continued fraction of Mills' ratio, from its far end
    t = -x
    ratio = t
    for k in range(60, 0, -1):
        ratio = t + k / ratio
    return ratio


@compiled(fastmath=_FASTMATH)
def _differentiate(link: int, y: Any, eta: Any, u: Any, w: Any) -> float:
    """First (minus) and second derivative of every sample's loss; return the mean loss."""
    total = 0.0
    for i in range(y.size):
        if link == 0:
            u[i] = y[i] - eta[i]
            w[i] = 1.0
            total += 0.5 * u[i] * u[i]
        elif link == 1:
            p = 1.0 / (1.0 + math.exp(-eta[i])) if eta[i] > -700.0 else 0.0
            u[i] = y[i] - p
            w[i] = max(p * (1.0 - p), _LEAST_WEIGHT)
            s = eta[i] if y[i] == 1.0 else -eta[i]
            total += math.log1p(math.exp(-s)) if s > -35.0 else -s
        else:
            sign = 2.0 * y[i] - 1.0
            s = sign * eta[i]
            ratio = _density_ratio(s)
            u[i] = sign * ratio
            w[i] = max(ratio * (ratio + s), _LEAST_WEIGHT)
            total -= (
                math.log(0.5 * math.erfc(-s / 1.4142135623730951))
                if s > -5.0
                else -0.5 * s * s - 0.9189385332046727 - math.log(ratio)
            )
    return float(total / y.size)


@compiled(fastmath=_FASTMATH)
def _sweep(
    X: Any, w: Any, r: Any, b: Any, h: Any, inside: Any, threshold: float, ridge: float, only_active: bool
) -> float:
    """Bring coefficients to their optimum one after the other; return the largest weighted squared move."""
    n = r.size
    largest = 0.0
    for j in inside:
        if only_active and b[j] == 0.0:
            continue
        if h[j] < 0.0:
            total = 0.0
            for i in range(n):
                total += w[i] * X[i, j] * X[i, j]
            h[j] = total / n
        g = 0.0
        for i in range(n):
            g += X[i, j] * r[i]
        g = g / n + h[j] * b[j]
        new = 0.0
        if g > threshold:
            new = (g - threshold) / (h[j] + ridge)
        elif g < -threshold:
            new = (g + threshold) / (h[j] + ridge)
        move = new - b[j]
        if move != 0.0:
            b[j] = new
            for i in range(n):
                r[i] -= w[i] * X[i, j] * move
            largest = max(largest, h[j] * move * move)
    return largest


@compiled(fastmath=_FASTMATH)
def _centre(w: Any, r: Any) -> float:
    """Bring the intercept to its optimum; return its move."""
    total, weight = 0.0, 0.0
    for i in range(r.size):
        total += r[i]
        weight += w[i]
    move = float(total / weight)
    for i in range(r.size):
        r[i] -= w[i] * move
    return move


@compiled(fastmath=_FASTMATH)
def _predict(X: Any, b: Any, b0: float, inside: Any, eta: Any) -> None:
    """Compute the linear predictors."""
    eta[:] = b0
    for j in inside:
        if b[j] != 0.0:
            for i in range(eta.size):
                eta[i] += X[i, j] * b[j]


@compiled(fastmath=_FASTMATH)
def _let_in(gradient: Any, threshold: float, is_inside: Any) -> bool:
    """Let in features whose gradient exceeds the threshold, the strongest first; tell whether there were any."""
    size = np.abs(gradient)
    outside = np.flatnonzero((size > threshold) & ~is_inside)
    room = 2 * is_inside.sum() + _AT_LEAST
    cut = threshold
    if outside.size > room:
        cut = np.sort(size[outside])[outside.size - room]
    for j in outside:
        if size[j] >= cut:
            is_inside[j] = True
    return bool(outside.size > 0)


@compiled(fastmath=_FASTMATH)
def _norm(b: Any, inside: Any, alpha: float) -> float:
    """Return the penalty of coefficients at a penalty of 1."""
    total = 0.0
    for j in inside:
        total += alpha * abs(b[j]) + 0.5 * (1.0 - alpha) * b[j] * b[j]
    return total


@compiled(fastmath=_FASTMATH)
def _minimise(
    X: Any, w: Any, r: Any, b: Any, h: Any, inside: Any, threshold: float, ridge: float, rest: float, rounds: int
) -> tuple[float, int]:
    """Minimise a quadratic approximation; return the move of the intercept, and how many rounds are left."""
    shift, resting = 0.0, False
    while rounds >= 0 and not resting:
        moved, only_active = rest, False  # all that are inside, then those that are not 0 until they rest
        while rounds >= 0 and moved >= rest:
            move = _centre(w, r)
            shift += move
            moved = max(_sweep(X, w, r, b, h, inside, threshold, ridge, only_active), move * move)
            rounds -= 1
            resting = not only_active and moved < rest
            only_active = True
    return shift, rounds


@compiled(fastmath=_FASTMATH)
def _halve(b0: float, old_b0: float, b: Any, before: Any, inside: Any) -> float:
    """Go half of the way back."""
    for k in range(inside.size):
        j = inside[k]
        b[j] = 0.5 * (b[j] + before[k])
    return 0.5 * (b0 + old_b0)


@compiled(fastmath=_FASTMATH)
def _fit(  # noqa: PLR0913, PLR0917 - arrays one by one
    X: Any, y: Any, link: int, alpha: float, penalty: float, tolerance: float, rounds: int, b0: float, b: Any,
    inside: Any, u: Any, w: Any,
) -> tuple[float, int]:  # fmt: skip
    """Fit at one penalty with the features that are inside; return the intercept, and how many rounds are left."""
    threshold, ridge = penalty * alpha, penalty * (1.0 - alpha)
    h, eta, r = np.empty(b.size), np.empty(y.size), np.empty(y.size)
    _predict(X, b, b0, inside, eta)
    objective = _differentiate(link, y, eta, u, w) + penalty * _norm(b, inside, alpha)
    rest = tolerance if link == 0 else max(_FIRST, tolerance)
    while rounds >= 0:
        before, old_b0 = b[inside], b0
        h[inside] = -1.0  # not known yet
        r[:] = u
        shift, rounds = _minimise(X, w, r, b, h, inside, threshold, ridge, rest, rounds)
        b0 += shift
        for _ in range(_HALVINGS):  # a whole step, or half of it until the objective does not grow
            _predict(X, b, b0, inside, eta)
            new = _differentiate(link, y, eta, u, w) + penalty * _norm(b, inside, alpha)
            if link == 0 or new <= objective + 1e-12 * (1.0 + abs(objective)):
                break
            b0 = _halve(b0, old_b0, b, before, inside)
        objective = new
        moved = (b0 - old_b0) ** 2 * w.mean()
        for k in range(inside.size):
            j = inside[k]
            moved = max(moved, h[j] * (b[j] - before[k]) ** 2)
        if link == 0 or not math.isfinite(objective) or (moved < tolerance and rest == tolerance):
            break
        rest = max(tolerance, min(rest, _SHARE * moved))
    return b0, rounds if math.isfinite(objective) else -1


@compiled(fastmath=_FASTMATH)
def _follow(
    X: Any, y: Any, link: int, alpha: float, penalties: Any, tolerance: float, max_iterations: int, b0: float,
    coefficients: Any, intercepts: Any,
) -> int:  # fmt: skip
    """Follow the path; return at how many penalties it converged."""
    n, p = X.shape
    b, is_inside = np.zeros(p), np.zeros(p, dtype=np.bool_)
    u, w = np.empty(n), np.empty(n)
    _differentiate(link, y, np.full(n, b0), u, w)
    gradient = np.dot(X.T, u) / n
    for k in range(penalties.size):
        rounds, missed = max_iterations, True
        _let_in(gradient, penalties[k] * alpha, is_inside)
        while missed:
            b0, rounds = _fit(
                X, y, link, alpha, penalties[k], tolerance, rounds, b0, b, np.flatnonzero(is_inside), u, w
            )
            if rounds < 0:
                return k
            gradient = np.dot(X.T, u) / n
            missed = _let_in(gradient, penalties[k] * alpha, is_inside)
        coefficients[k] = b
        intercepts[k] = b0
    return int(penalties.size)
