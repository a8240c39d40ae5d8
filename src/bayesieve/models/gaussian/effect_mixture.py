r"""Bayes factors of differences in mean, in variance and in both, with proper priors on the differences alone.

Two groups of samples share their location (flat) and scale (:math:`1/\sigma^2`, moderated by what all features say
about variances) under both hypotheses, so that no arbitrary constant remains. Either the means differ by
:math:`\delta \sigma` with :math:`\delta \sim N(0, \tau^2)`, or the variances by a factor :math:`e^t` with
:math:`t \sim N(0, \omega^2)`:

.. math::

    \log BF_M(\tau) &= -\tfrac12 \log(1 + N \tau^2)
        + \tfrac{\nu + 1 + d_0}{2} \left[\log(1 + b) - \log\left(1 + \tfrac{b}{1 + N \tau^2}\right)\right],
        \quad b = \frac{N d^2}{d_0 s_0^2 + W}

    \log BF_V(\omega) &= \log \int e^{g h(t)} N(t; 0, \omega^2) dt, \quad h(t) = \tfrac{\nu_0 - \nu_1}{4} t
        - \tfrac{\nu_0 + \nu_1}{2} \log \frac{S_0 e^{t/2} + S_1 e^{-t/2}}{W}

with the difference of means :math:`d`, :math:`N = n_0 n_1 / n`, the squares within groups :math:`W = S_0 + S_1` on
:math:`\nu` degrees of freedom, and the share :math:`g` of the variance evidence that heavy tails leave. Under the
null, what one depends on is independent of what the other does, so that their product is a Bayes factor too: that
of means and variances which both differ. Effect sizes are mixtures over grids of :math:`\tau` and
:math:`\omega`. More than two groups have their own forms at the end.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from bayesieve.models.gaussian.variance_likelihood import (
    LARGEST_EXPONENT,
    highest_likelihood,
    log_variance_ratio,
    variance_part_of_many,
)
from bayesieve.utils import FloatArray, compiled, for_each, n_threads_for

_TILE = 2048  # features of one task
_VERY_MANY = 1e5  # half the degrees of freedom from which on likelihoods are taken from their maximum down
_LARGEST_TAU, _LARGEST_OMEGA = 4.0, 2.0
EXACT = (0.3, 33)  # step in standard deviations and number of nodes on each side: 1e-10 and better
QUICK = (0.7, 8)  # 1e-6, for permuted labels
_FEW, _FEWER = (0.5, 20), (0.75, 12)
_NARROW, _NARROWER, _MANY = 1.0, 0.4, 50.0  # effect sizes, and degrees of freedom of the smaller group times g
_FARTHEST, _WIDEST = 0.7, 0.3  # of a shared mode, in its standard deviations; share of precision the prior may add
_GAUSS_NODES, _GAUSS_WEIGHTS = np.polynomial.hermite_e.hermegauss(7)
_GAUSS = (
    _GAUSS_NODES,
    np.log(_GAUSS_WEIGHTS) + 0.5 * _GAUSS_NODES**2,
)  # as good where the integrand is nearly normal:
_STRAIGHT = 6e-3, 2e-3  # its third and fourth derivative, in standard deviations
_MOST_STEPS, _NEAR = 60, 1e-3  # of the search for a mode, and how near, in squared standard deviations
_VECTOR = 8  # numbers that loops take in one step
_LARGEST = 1e300
_SHIFT, _TWO_52, _ROOT_HALF = 1.5 * 2.0**52, 0x4330000000000000, 0x3FE6A09E667F3BCD  # float64 in bits
_LOG_2 = 6.93147180369123816490e-01, 1.90821492927058770002e-10  # 32 bits, and the others


def effect_sizes(size: float, variance: float) -> tuple[FloatArray, FloatArray]:
    """Standard deviations of standardised mean differences, and of log variance ratios, in steps of 2.

    Parameters
    ----------
    size
        N of two groups; smaller effects than twice its standard error cannot be seen.
    variance
        Sampling variance of the log variance ratio; infinite if there is none.
    """
    return _doubled(math.sqrt(4.0 / size), _LARGEST_TAU), _doubled(math.sqrt(4.0 * variance), _LARGEST_OMEGA)


def _doubled(first: float, last: float) -> FloatArray:
    if not math.isfinite(first):
        return np.empty(0)
    number = 1 + max(0, math.floor(math.log2(last / first) + 1e-9))
    return np.asarray(min(first, last) * 2.0 ** np.arange(number))


def two_group_evidence(
    mean: tuple[Any, ...],
    variance: tuple[Any, ...],
    grids: tuple[FloatArray, FloatArray],
    nodes: tuple[float, int] = EXACT,
    least: float = -math.inf,
) -> tuple[FloatArray, FloatArray]:
    """Log Bayes factors of a mean and of a variance difference, feature by feature.

    Parameters
    ----------
    mean
        Squares between the groups (N d^2), squares within, N, half the degrees of freedom with those of the prior
        and one more, and the prior's squares; numbers or one each per feature.
    variance
        Centred squares and degrees of freedom of both groups, and the share g.
    grids
        Effect sizes, :func:`effect_sizes`.
    nodes
        :data:`EXACT` or :data:`QUICK`.
    least
        Where neither Bayes factor nor their product can exceed this, both are minus infinity: a shortcut for
        permuted labels.
    """
    n = int(np.asarray(mean[0]).size)
    columns = tuple(_column(each, n) for each in (*mean, *variance))
    found = np.empty((2, n))

    def work(lo: int) -> None:
        where = slice(lo, min(lo + _TILE, n))
        part = tuple(each if each.shape[0] == 1 else each[where] for each in columns)
        _two_groups(part, *grids, *nodes, least, found[:, where])

    for_each(work, range(0, n, _TILE), n_threads_for(None, n * 256))
    return found[0], found[1]


def _column(values: Any, n: int) -> FloatArray:
    """Return one read-only vector, of length 1 for a number."""
    array = np.ascontiguousarray(np.asarray(values, dtype=np.float64).reshape(-1)).view()
    if array.size not in (1, n):
        array = np.ascontiguousarray(np.broadcast_to(array, (n,))).view()
    array.flags.writeable = False
    return array


def mix_kinds(mean: FloatArray, ratio: FloatArray, weight: float, both: float) -> FloatArray:
    """Log of the mean Bayes factor over kinds of difference: in mean alone, in variance alone, in both.

    Parameters
    ----------
    mean, ratio
        Log Bayes factors of a mean and of a variance difference.
    weight, both
        Probability that variances differ, and that means do, too, if variances do.
    """
    if weight == 0.0:
        return mean
    found = np.logaddexp(math.log1p(-weight) + mean, math.log(weight) + math.log1p(-both) + ratio)
    return found if both == 0.0 else np.logaddexp(found, math.log(weight * both) + mean + ratio)


@compiled()
def _two_groups(columns: Any, taus: Any, omegas: Any, step: float, half: int, least: float, found: Any) -> None:
    between, within, size, half_dof, prior, squares0, squares1, dof0, dof1, share = columns
    room = room_for(taus, omegas, half)
    for f in range(found.shape[1]):
        n, dof = size[f % size.shape[0]], half_dof[f % half_dof.shape[0]]
        n0, n1 = dof0[f % dof0.shape[0]], dof1[f % dof1.shape[0]]
        s0, s1 = squares0[f % squares0.shape[0]], squares1[f % squares1.shape[0]]
        g = share[f % share.shape[0]]
        q = within[f % within.shape[0]] + prior[f % prior.shape[0]]
        b = between[f % between.shape[0]] / q if q > 0.0 else 0.0
        if omegas.shape[0] == 0 or not (s0 > 0.0 and s1 > 0.0 and n0 > 0.0 and n1 > 0.0):
            g = 0.0
        gain = dof * math.log1p(b)
        theta = log_variance_ratio(s0, s1, n0, n1) if g > 0.0 else 0.0
        if least > -np.inf:
            top = g * highest_likelihood(s0, s1, n0, n1) if g > 0.0 else 0.0
            if gain + top <= least:
                found[0, f], found[1, f] = -np.inf, -np.inf
                continue
        found[0, f] = mean_part(b, n, dof, gain, taus, room)
        found[1, f] = variance_part(theta, s0, s1, n0, n1, g, omegas, step, half, room) if g > 0.0 else 0.0


@compiled()
def room_for(taus: Any, omegas: Any, half: int) -> Any:
    """Room for the nodes of one feature: what goes with a node, with an effect size, and whole numbers of these.

    Loops over it are long enough for the processor to take several numbers at once; rows end on full vectors.
    """
    n_sizes = _VECTOR * (max(taus.shape[0], omegas.shape[0]) // _VECTOR + 1)
    n_nodes = _VECTOR * (n_sizes * (2 * max(half, _FEWER[1]) + 1) // _VECTOR + 2)
    nodes = np.zeros(n_nodes), np.zeros(n_nodes)  # rows of one array would be strided
    return nodes, np.ones((7, n_sizes)), np.zeros((2, n_sizes), np.int64)


@compiled(fastmath={"contract"})
def _exp(x: float) -> float:
    """Exponential to an ulp without a branch, so that several are taken at once; 1e-304 of less than -700."""
    x = max(x, -700.0)
    shifted = x * 1.4426950408889634 + _SHIFT  # its last bits are the power of 2
    power = shifted - _SHIFT
    r = x - power * _LOG_2[0] - power * _LOG_2[1]
    s = 1.0 / 40320.0 + r * (1.0 / 362880.0 + r * (1.0 / 3628800.0 + r * (1.0 / 39916800.0 + r / 479001600.0)))
    s = 1.0 / 24.0 + r * (1.0 / 120.0 + r * (1.0 / 720.0 + r * (1.0 / 5040.0 + r * (s + r**5 / 6227020800.0))))
    s = 1.0 + r * (1.0 + r * (0.5 + r * (1.0 / 6.0 + r * s)))
    bits = (np.float64(shifted).view(np.int64) + np.int64(1023)) << np.int64(52)
    return s * np.int64(bits).view(np.float64)


@compiled(fastmath={"contract"})
def _log(y: float) -> float:
    """Logarithm of a positive normal number to two ulps without a branch, by the series of the artanh."""
    bits = np.float64(y).view(np.int64)
    power = ((bits - _ROOT_HALF + (np.int64(1023) << np.int64(52))) >> np.int64(52)) & np.int64(0x7FF)
    exponent = np.int64(power | _TWO_52).view(np.float64) - (4503599627370496.0 + 1023.0)
    f = np.int64(bits - ((power - np.int64(1023)) << np.int64(52))).view(np.float64) - 1.0
    s = f / (2.0 + f)
    z = s * s
    high = 2.0 / 13.0 + z * (2.0 / 15.0 + z * (2.0 / 17.0 + z * (2.0 / 19.0 + z * (2.0 / 21.0))))
    low = 2.0 / 3.0 + z * (0.4 + z * (2.0 / 7.0 + z * (2.0 / 9.0 + z * (2.0 / 11.0 + z * high))))
    return exponent * _LOG_2[0] + (exponent * _LOG_2[1] + s * z * low + 2.0 * s)


@compiled(fastmath={"contract"})
def _exp_all(x: Any, n: int) -> None:
    """Replace the first numbers, up to a full vector, by their exponentials."""
    for i in range((n + _VECTOR - 1) // _VECTOR * _VECTOR):
        x[i] = _exp(x[i])


@compiled()
def mean_part(b: float, n: float, dof: float, gain: float, taus: Any, room: Any) -> float:
    """Log of the mean Bayes factor over the grid."""
    terms, scales, n_sizes = room[1][0], room[1][1], taus.shape[0]
    for k in range(n_sizes):
        scales[k] = 1.0 + n * taus[k] * taus[k]
    if b < _LARGEST:
        _mean_terms(b, dof, gain, n_sizes, scales, terms)
    else:
        for k in range(n_sizes):
            terms[k] = -0.5 * math.log(scales[k]) + gain - dof * math.log1p(b / scales[k])
    largest, total = -np.inf, 0.0
    for k in range(n_sizes):
        largest = max(largest, terms[k])
    for k in range(n_sizes):
        terms[k] -= largest
    _exp_all(terms, n_sizes)
    for k in range(n_sizes):
        total += terms[k]
    return largest + math.log(total / n_sizes)


@compiled(fastmath={"contract"})
def _mean_terms(b: float, dof: float, gain: float, n_sizes: int, scales: Any, terms: Any) -> None:
    """Log Bayes factors of the effect sizes of means; the logarithm of 1 + x as exact as x."""
    for k in range((n_sizes + _VECTOR - 1) // _VECTOR * _VECTOR):
        x = b / scales[k]
        whole = 1.0 + x
        terms[k] = gain - 0.5 * _log(scales[k]) - dof * (_log(whole) + (x - (whole - 1.0)) / whole)


@compiled()
def _log_likelihood(t: float, s0: float, s1: float, n0: float, n1: float) -> float:
    """h(t) of the module's formula, stable for large t of either sign."""
    p0, p1 = s0 / (s0 + s1), s1 / (s0 + s1)
    small = math.exp(-abs(t))
    log_sum = 0.5 * abs(t) + math.log(p0 + p1 * small if t > 0.0 else p1 + p0 * small)
    return 0.25 * (n0 - n1) * t - 0.5 * (n0 + n1) * log_sum


@compiled()
def variance_part(
    theta: float, s0: float, s1: float, n0: float, n1: float, g: float, omegas: Any, step: float, half: int,
    room: Any,
) -> float:  # fmt: skip
    """Log of the mean Bayes factor over the grid; each by the trapezoidal rule around the mode.

    The rule converges exponentially for smooth functions that vanish at both ends. Nodes are placed by Newton's
    method from the mode of the normal approximation (the function has one mode), and by the curvature there. Where
    many values make the likelihood narrow, priors that hardly move its mode share its values on one set of nodes,
    and Gauss-Hermite quadrature is as good where the integrand is nearly normal.
    """
    p0, p1 = s0 / (s0 + s1), s1 / (s0 + s1)
    if not p0 + p1 > 0.5:
        return np.nan
    if 0.5 * g * (n0 + n1) >= _VERY_MANY:
        return variance_part_of_many(theta, s0, s1, n0, n1, g, omegas, step, half)
    tilt, power = 0.5 * g * n0, 0.5 * g * (n0 + n1)  # g h(t) = tilt t - power log(p1 + p0 e^t)
    told = tilt * (1.0 - tilt / power)  # precision of the likelihood at its mode, theta
    (nodes, values), sizes, places = room
    _find_modes(theta, math.log(s1 / s0), tilt, power, g / (2.0 / n0 + 2.0 / n1), omegas, sizes)
    n_nodes = _lay_nodes(theta, told, g * min(n0, n1) >= _MANY, omegas, (step, half), sizes, nodes, values, places)
    _log_likelihoods(nodes, n_nodes, p0, p1, tilt, power, values)
    precisions, widths, tops, areas, highest = sizes[3], sizes[4], sizes[5], sizes[6], -np.inf
    for k in range(omegas.shape[0]):
        first, number = places[0, k], places[1, k]
        if number == 0:  # nodes too far out for the short forms
            tops[k], areas[k] = _far_area(k, first, s0, s1, n0, n1, g, sizes)
        else:
            centre, bend = first + number // 2, 0.5 * precisions[k]
            tops[k] = values[centre] - bend * nodes[centre] * nodes[centre]
            areas[k] = _area(nodes[first:], values[first:], number, bend, tops[k])
        areas[k] *= widths[k] / omegas[k]
        highest = max(highest, tops[k])
    total = 0.0
    for k in range(omegas.shape[0]):
        total += areas[k] * math.exp(tops[k] - highest)
    return highest + math.log(total / (omegas.shape[0] * math.sqrt(2.0 * math.pi)))


@compiled(fastmath={"contract", "reassoc"})
def _find_modes(
    theta: float, centre: float, tilt: float, power: float, normal: float, omegas: Any, sizes: Any
) -> None:
    """Modes of likelihood times prior, curvature there and share of e^t, for all effect sizes at once."""
    modes, curvatures, shares, precisions, left = sizes[0], sizes[1], sizes[2], sizes[3], sizes[4]
    n = (omegas.shape[0] + _VECTOR - 1) // _VECTOR * _VECTOR
    for k in range(n):
        omega = omegas[min(k, omegas.shape[0] - 1)]
        precisions[k] = 1.0 / (omega * omega)
        modes[k], left[k] = theta * normal / (precisions[k] + normal), 1.0
    for _ in range(_MOST_STEPS):
        for k in range(n):
            x = modes[k] - centre
            small = _exp(-abs(x))
            share = (1.0 if x > 0.0 else small) / (1.0 + small)
            curvature = precisions[k] + power * share * (1.0 - share)
            change = (tilt - power * share - precisions[k] * modes[k]) / curvature
            change = max(-2.0, min(2.0, change))
            go = left[k] > 0.0
            shares[k] = share if go else shares[k]
            curvatures[k] = curvature if go else curvatures[k]
            modes[k] += change if go else 0.0
            left[k] = 0.0 if change * change * curvature < _NEAR else left[k]
        n_left = 0.0
        for k in range(n):
            n_left += left[k]
        if n_left == 0.0:
            break


@compiled()
def _lay_nodes(
    theta: float, told: float, many: bool, omegas: Any, whole: Any, sizes: Any, nodes: Any, values: Any,
    places: Any,
) -> int:  # fmt: skip
    """Lay the nodes of all effect sizes; say where each begins, how many they are, and their width."""
    n_nodes, shared = 0, -1
    modes, curvatures, shares, precisions, widths = sizes[0], sizes[1], sizes[2], sizes[3], sizes[4]
    for k in range(omegas.shape[0]):
        mode, curvature, share, precision = modes[k], curvatures[k], shares[k], precisions[k]
        step, half = whole
        if half > _FEW[1] and (many or omegas[k] <= _NARROW):
            step, half = _FEWER if many or omegas[k] <= _NARROWER else _FEW
        width = step / math.sqrt(max(curvature, precision))
        third = (curvature - precision) * abs(1.0 - 2.0 * share) / (curvature * math.sqrt(curvature))
        fourth = (curvature - precision) * (1.0 + 6.0 * share * (1.0 - share)) / (curvature * curvature)
        moved, wide = theta * precision / (precision + told), _FEWER[0] / math.sqrt(told)
        if (
            many and precision < _WIDEST * told and moved * moved * told < _FARTHEST * _FARTHEST
            and abs(theta) + _FEWER[1] * wide < LARGEST_EXPONENT
        ):  # fmt: skip
            mode, half, width = theta, _FEWER[1], wide
            places[0, k], places[1, k], widths[k] = shared, 2 * half + 1, width
            if shared >= 0:
                continue
            shared = n_nodes
        elif many and third < _STRAIGHT[0] and fourth < _STRAIGHT[1] and abs(mode) < 1.0:
            half, width = _GAUSS[0].shape[0] // 2, 1.0 / math.sqrt(curvature)
            places[0, k], places[1, k], widths[k] = n_nodes, 2 * half + 1, width
            for i in range(2 * half + 1):
                nodes[n_nodes + i], values[n_nodes + i] = mode + _GAUSS[0][i] * width, _GAUSS[1][i]
            n_nodes += 2 * half + 1
            continue
        elif not abs(mode) + half * width < LARGEST_EXPONENT:
            places[0, k], places[1, k], widths[k] = half, 0, width
            continue
        places[0, k], places[1, k], widths[k] = n_nodes, 2 * half + 1, width
        values[n_nodes : n_nodes + 2 * half + 1] = 0.0
        for i in range(2 * half + 1):
            nodes[n_nodes + i] = mode + (i - half) * width
        n_nodes += 2 * half + 1
    return n_nodes


@compiled(fastmath={"contract"})
def _log_likelihoods(nodes: Any, n: int, p0: float, p1: float, tilt: float, power: float, values: Any) -> None:
    """Add g h(t) at the first nodes, up to a full vector."""
    for i in range((n + _VECTOR - 1) // _VECTOR * _VECTOR):
        values[i] += tilt * nodes[i] - power * _log(p1 + p0 * _exp(nodes[i]))


@compiled(fastmath={"contract", "reassoc"})
def _area(nodes: Any, values: Any, number: int, bend: float, top: float) -> float:
    """Sum of the exponentials of the first values, with the log density of a prior and less their top."""
    total = 0.0
    for i in range((number + _VECTOR - 1) // _VECTOR * _VECTOR):
        term = _exp(values[i] - bend * nodes[i] * nodes[i] - top)
        total += term if i < number else 0.0
    return total


@compiled()
def _far_area(
    k: int, half: int, s0: float, s1: float, n0: float, n1: float, g: float, sizes: Any
) -> tuple[float, float]:
    """Log of the largest term and sum of all of them, in units of it, on nodes where e^t leaves float64."""
    mode, precision, width = sizes[0][k], sizes[3][k], sizes[4][k]
    high, area = g * _log_likelihood(mode, s0, s1, n0, n1) - 0.5 * precision * mode * mode, 0.0
    for i in range(-half, half + 1):
        t = mode + i * width
        area += math.exp(g * _log_likelihood(t, s0, s1, n0, n1) - 0.5 * precision * t * t - high)
    return high, area
