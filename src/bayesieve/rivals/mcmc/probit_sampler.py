r"""Compiled sweeps of the probit model with inclusion indicators: :math:`z = X_\gamma \beta_\gamma + e`.

The columns included are kept as an orthonormal basis: :math:`x_{j_i} = \sum_{l \le i} L_{il} q_l`. Columns that
lie in the span of others included before (duplicates, say) are remembered apart, as they change nothing but the
number of features. With :math:`r_j` the squared length of the part of :math:`x_j` outside the span and
:math:`s_j` the product of that part with z, including a feature raises :math:`z' P_\gamma z` by
:math:`s_j^2 / r_j`. When a direction q enters or leaves, :math:`v = Xq` updates all of them:
:math:`r \mp v^2, s \mp v\, q'z`.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from bayesieve.utils import BoolArray, FloatArray, IntArray, compiled

_OUT, _WITHIN = -1, -2  # places of features: not included; included, in the span of the others
_NEGLIGIBLE = 1e-10  # share of a column outside the span that counts as none
_REFRESH = 50  # sweeps after which the basis is built anew
_RANK, _INCLUDED, _SWEEP = 0, 1, 2


class ProbitState(NamedTuple):
    """Where a chain stands.

    Parameters
    ----------
    columns
        Features x samples, of mean 0 and mean square 1.
    positive
        Samples whose z is above 0.
    z
        Latent values.
    basis, triangle, basis_z
        The rows of Q and of L, and Q'z, as many as the rank.
    members
        The feature behind each row of L.
    place
        Of every feature: its row of L, or -1 if it is not included, or -2 if it is but lies in the span.
    outside, outside_z
        r and s.
    numbers
        Rank, features included, sweeps done.
    settings
        Prior log-odds, c, 1 for an intercept, swaps per sweep, most features to include.
    chances
        Of every feature: probability to be included given all others, when it was last drawn.
    fit
        Linear predictor, from which z was drawn.
    work, direction
        Scratch: one number per feature, one per row of L.
    """

    columns: FloatArray
    positive: BoolArray
    z: FloatArray
    basis: FloatArray
    triangle: FloatArray
    basis_z: FloatArray
    members: IntArray
    place: IntArray
    outside: FloatArray
    outside_z: FloatArray
    numbers: IntArray
    settings: FloatArray
    chances: FloatArray
    fit: FloatArray
    work: FloatArray
    direction: FloatArray


@compiled()
def truncated_normal(rng: Any, low: float) -> float:
    """Draw a standard normal number above ``low``: plainly, or from an exponential in the tail (Robert, 1995)."""
    if low < 0.45:
        while True:
            x = rng.standard_normal()
            if x > low:
                return float(x)
    rate = 0.5 * (low + math.sqrt(low * low + 4.0))
    while True:
        x = low + rng.standard_exponential() / rate
        if 2.0 * rng.standard_exponential() >= (x - rate) * (x - rate):
            return float(x)


@compiled()
def _add(target: Any, factor: float, other: Any) -> None:
    """Add a multiple of another vector; a plain loop compiles in a fraction of the time of an expression."""
    for i in range(target.size):
        target[i] += factor * other[i]


@compiled()
def _extend(state: Any, j: int) -> None:
    """Add a column to the basis; orthogonalised twice, which is enough."""
    k = state.numbers[_RANK]
    row, coordinates = state.basis[k], state.triangle[k]
    for i in range(row.size):
        row[i] = state.columns[j, i]
    for i in range(k):
        coordinates[i] = 0.0
    for _ in range(2):
        for i in range(k):
            shared = np.dot(state.basis[i], row)
            coordinates[i] += shared
            _add(row, -shared, state.basis[i])
    length = math.sqrt(np.dot(row, row))
    for i in range(row.size):
        row[i] /= length
    coordinates[k] = length
    state.basis_z[k] = np.dot(row, state.z)
    state.members[k], state.place[j] = j, k
    state.numbers[_RANK] = k + 1
    _move(state, k, -1.0)


@compiled()
def _move(state: Any, row: int, sign: float) -> None:
    """Let a direction enter the span (-1) or leave it (+1)."""
    along_z = state.basis_z[row]
    np.dot(state.columns, state.basis[row], state.work)
    for j in range(state.work.size):
        v = state.work[j]
        state.outside[j] += sign * v * v
        state.outside_z[j] += sign * v * along_z


@compiled()
def _shrink(state: Any, row: int) -> None:
    """Take a column out of the basis: rotations bring the direction it alone holds to the end."""
    L, Q, t, k = state.triangle, state.basis, state.basis_z, state.numbers[_RANK]
    state.place[state.members[row]] = _OUT
    for i in range(row, k - 1):
        for m in range(i + 2):
            L[i, m] = L[i + 1, m]
        state.members[i] = state.members[i + 1]
        state.place[state.members[i]] = i
    for i in range(row, k - 1):
        length = math.hypot(L[i, i], L[i, i + 1])
        cosine, sine = L[i, i] / length, L[i, i + 1] / length
        for m in range(i, k - 1):
            a, b = L[m, i], L[m, i + 1]
            L[m, i], L[m, i + 1] = cosine * a + sine * b, cosine * b - sine * a
        for m in range(Q.shape[1]):
            a, b = Q[i, m], Q[i + 1, m]
            Q[i, m], Q[i + 1, m] = cosine * a + sine * b, cosine * b - sine * a
        t[i], t[i + 1] = cosine * t[i] + sine * t[i + 1], cosine * t[i + 1] - sine * t[i]
    state.numbers[_RANK] = k - 1
    _move(state, k - 1, 1.0)


@compiled()
def _own_direction(state: Any, row: int) -> None:
    """Find what a column has outside the span of the others, as a unit vector in the basis."""
    L, w, k = state.triangle, state.direction, state.numbers[_RANK]
    for i in range(row):
        w[i] = 0.0
    w[row], total = 1.0, 1.0
    for i in range(row + 1, k):
        shared = 0.0
        for m in range(row, i):
            shared += L[i, m] * w[m]
        w[i] = -shared / L[i, i]
        total += w[i] * w[i]
    for i in range(row, k):
        w[i] /= math.sqrt(total)


@compiled()
def _along(state: Any, j: int) -> float:
    """Product of a column and the direction found last."""
    total = 0.0
    for i in range(state.numbers[_RANK]):
        if state.direction[i] != 0.0:
            total += state.direction[i] * np.dot(state.basis[i], state.columns[j])
    return total


@compiled()
def _stand_in(state: Any, row: int) -> int:
    """Find a feature that is included and would hold the direction of a column without it; -1 if none does."""
    if state.numbers[_INCLUDED] == state.numbers[_RANK]:
        return -1
    _own_direction(state, row)
    for d in range(state.place.size):
        if state.place[d] == _WITHIN and _along(state, d) ** 2 > _NEGLIGIBLE * state.z.size:
            return d
    return -1


@compiled()
def _gain(state: Any, j: int) -> float:
    """Log-odds that a feature has from the data, given all others."""
    c, row = state.settings[1], state.place[j]
    if row == _WITHIN or (row == _OUT and state.outside[j] <= _NEGLIGIBLE * state.z.size):
        return 0.0
    if row == _OUT:
        raised = state.outside_z[j] * state.outside_z[j] / state.outside[j]
    else:
        if _stand_in(state, row) >= 0:
            return 0.0
        _own_direction(state, row)
        along, k = 0.0, state.numbers[_RANK]
        for i in range(row, k):
            along += state.direction[i] * state.basis_z[i]
        raised = along * along
    return float(0.5 * (c / (1.0 + c) * raised - math.log1p(c)))


@compiled()
def flip(state: Any, j: int) -> None:
    """Include a feature that is not, or the other way round."""
    row = state.place[j]
    other = _stand_in(state, row) if row >= 0 else -1
    state.numbers[_INCLUDED] += 1 if row == _OUT else -1
    if row == _WITHIN:
        state.place[j] = _OUT
    elif row == _OUT:
        if state.outside[j] > _NEGLIGIBLE * state.z.size:
            _extend(state, j)
        else:
            state.place[j] = _WITHIN
    else:
        _shrink(state, row)
        if other >= 0:
            _extend(state, other)


@compiled()
def log_odds(state: Any, j: int) -> float:
    """Log-odds of a feature to be included given z and all others, the coefficients integrated out."""
    if state.place[j] == _OUT and state.numbers[_INCLUDED] >= state.settings[4]:
        return -np.inf
    return float(state.settings[0] + _gain(state, j))


@compiled()
def _swap(state: Any, rng: Any) -> None:
    """Propose to exchange an included feature, at random, for one that is not."""
    p, k = state.place.size, state.numbers[_INCLUDED]
    if k in (0, p):
        return
    inside, outside = int(rng.random() * k), int(rng.random() * (p - k))
    i, j = -1, -1
    for f in range(p):
        if state.place[f] == _OUT:
            if outside == 0:
                j = f
            outside -= 1
        else:
            if inside == 0:
                i = f
            inside -= 1
    gain, row = -_gain(state, i), state.place[i]
    r, s = state.outside[j], state.outside_z[j]
    if row >= 0 and _stand_in(state, row) < 0:  # the span loses the direction of i
        _own_direction(state, row)
        v, along_z = _along(state, j), 0.0
        for m in range(row, state.numbers[_RANK]):
            along_z += state.direction[m] * state.basis_z[m]
        r += v * v
        s += v * along_z
    if r > _NEGLIGIBLE * state.z.size:
        c = state.settings[1]
        gain += 0.5 * (c / (1.0 + c) * s * s / r - math.log1p(c))
    if -rng.standard_exponential() < gain:
        flip(state, i)
        flip(state, j)


@compiled()
def _draw_latent(state: Any, rng: Any) -> None:
    """Draw the coefficients, which matter by their fit only, then z given the fit."""
    k, n, fit = state.numbers[_RANK], state.z.size, state.fit
    shrinkage = state.settings[1] / (1.0 + state.settings[1])
    start = 0.0
    if state.settings[2]:
        for m in range(n):
            start += state.z[m] / n
        start += rng.standard_normal() / math.sqrt(n)
    for m in range(n):
        fit[m] = start
    for i in range(k):
        coefficient = shrinkage * state.basis_z[i] + math.sqrt(shrinkage) * rng.standard_normal()
        _add(fit, coefficient, state.basis[i])
    for m in range(n):
        mean = fit[m]
        if state.positive[m]:
            state.z[m] = mean + truncated_normal(rng, -mean)
        else:
            state.z[m] = mean - truncated_normal(rng, mean)


@compiled()
def project(state: Any) -> None:
    """Follow a new z: one product with all columns."""
    rest = state.z.copy()
    for i in range(state.numbers[_RANK]):
        state.basis_z[i] = np.dot(state.basis[i], state.z)
        _add(rest, -state.basis_z[i], state.basis[i])
    np.dot(state.columns, rest, state.outside_z)


@compiled()
def refresh(state: Any) -> None:
    """Build the basis anew, against rounding errors that add up."""
    k = state.numbers[_RANK]
    members = state.members.copy()
    state.numbers[_RANK] = 0
    np.dot(state.columns, state.z, state.outside_z)
    for j in range(state.outside.size):
        state.outside[j] = np.dot(state.columns[j], state.columns[j])
    for i in range(k):
        j = members[i]
        if state.outside[j] > _NEGLIGIBLE * state.z.size:
            _extend(state, j)
        else:
            state.place[j] = _WITHIN


@compiled()
def _sweep(state: Any, rng: Any, order: Any) -> None:
    """Draw everything once: indicators in random order, swaps, coefficients, latent values."""
    p = state.place.size
    for i in range(p):
        order[i] = i
    for i in range(p - 1, -1, -1):
        other = int(rng.random() * (i + 1))
        j = order[other]
        order[other] = order[i]
        chance = 1.0 / (1.0 + math.exp(-log_odds(state, j)))
        state.chances[j] = chance
        if (rng.random() < chance) != (state.place[j] != _OUT):
            flip(state, j)
    for _ in range(int(state.settings[3])):
        _swap(state, rng)
    _draw_latent(state, rng)
    project(state)


@compiled()
def advance(
    state: Any, rng: Any, n_sweeps: int, first: int, thin: int, sums: Any, traces: Any, sizes: Any
) -> None:
    """Do some sweeps.

    From sweep ``first`` on, ``sums`` adds up the chances to be included and the visits; every ``thin``-th of these
    sweeps leaves its chances in ``traces`` and the number of features in ``sizes``.
    """
    p = state.place.size
    order = np.arange(p)
    for _ in range(n_sweeps):
        sweep = state.numbers[_SWEEP]
        if sweep % _REFRESH == 0:
            refresh(state)
        _sweep(state, rng, order)
        state.numbers[_SWEEP] = sweep + 1
        if sweep >= first:
            kept, rest = (sweep - first + 1) // thin - 1, (sweep - first + 1) % thin
            for j in range(p):
                sums[0, j] += state.chances[j]
                sums[1, j] += state.place[j] != _OUT
                if rest == 0:
                    traces[kept, j] = state.chances[j]
            if rest == 0:
                sizes[kept] = state.numbers[_INCLUDED]
