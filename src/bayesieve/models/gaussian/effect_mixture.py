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

The likelihood of a log variance ratio is taken from its maximum down, at
:math:`\theta = \log\frac{S_1 / \nu_1}{S_0 / \nu_0}`, so that no digits are lost where there are many samples:

.. math::

    h(t) = \sum_y \tfrac{\nu_y}{2} (r_y - 1 - \log r_y) - \tfrac{\nu}{2} \lambda_{\nu_0/\nu}(t - \theta), \quad
        r_y = \frac{S_y / \nu_y}{W / \nu}, \quad \lambda_p(x) = \log(1 - p + p\, e^x) - p x
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from bayesieve.models.log_terms import log_gamma_rest
from bayesieve.utils import FloatArray, compiled, for_each, n_threads_for

_TILE = 2048  # features of one task
_LARGEST_EXPONENT = 300.0
_FURTHEST_RATIO = 1e290  # of squares, and its inverse
_SMALL_POWER = 1e3  # times the rounding of a number near 1: 1e-13
_LARGEST_TAU, _LARGEST_OMEGA = 4.0, 2.0
EXACT = (0.3, 33)  # step in standard deviations and number of nodes on each side: 1e-10 and better
QUICK = (0.7, 8)  # 1e-6, for permuted labels
_FEW, _FEWER = (0.5, 20), (0.75, 12)
_NARROW, _NARROWER, _MANY = 1.0, 0.4, 50.0  # effect sizes, and degrees of freedom of the smaller group times g
_FARTHEST, _WIDEST = 0.7, 0.3  # of a shared mode, in its standard deviations; share of precision the prior may add
_GAUSS = np.polynomial.hermite_e.hermegauss(7)  # nodes and weights, as good where the integrand is nearly normal:
_STRAIGHT = 6e-3, 2e-3  # its third and fourth derivative, in standard deviations
_LEAST_TERMS, _MOST_NODES = (1e-15, 1e-8), 400  # of the sum over the log of a common variance
_MOST_STEPS, _NEAR = 60, 1e-3  # of the search for a mode, and how near, in squared standard deviations


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
        top = g * highest_likelihood(s0, s1, n0, n1) if g > 0.0 else 0.0
        if gain + top <= least:
            found[0, f], found[1, f] = -np.inf, -np.inf
            continue
        found[0, f] = mean_part(b, n, dof, gain, taus)
        found[1, f] = variance_part(theta, s0, s1, n0, n1, g, omegas, step, half) if g > 0.0 else 0.0


@compiled()
def add_exp(total: float, largest: float, term: float) -> tuple[float, float]:
    """Add the exponential of a term to a sum in units of the exponential of its largest."""
    if term > largest:
        return total * math.exp(largest - term) + 1.0, term
    return total + math.exp(term - largest), largest


@compiled()
def mean_part(b: float, n: float, dof: float, gain: float, taus: Any) -> float:
    """Log of the mean Bayes factor over the grid."""
    largest, total = -np.inf, 0.0
    for k in range(taus.shape[0]):
        scale = 1.0 + n * taus[k] * taus[k]
        term = -0.5 * math.log(scale) + gain - dof * math.log1p(b / scale)
        total, largest = add_exp(total, largest, term)
    return largest + math.log(total / taus.shape[0])


@compiled()
def log_variance_ratio(s0: float, s1: float, n0: float, n1: float) -> float:
    """Log ratio of two variances, of squares on degrees of freedom."""
    ratio = s1 / s0 if s0 * _FURTHEST_RATIO > s1 > s0 / _FURTHEST_RATIO else 0.0
    return math.log(ratio * (n0 / n1)) if ratio > 0.0 else math.log(s1 / n1) - math.log(s0 / n0)


@compiled()
def highest_likelihood(s0: float, s1: float, n0: float, n1: float) -> float:
    """Maximum of h(t) of the module's formula; h(0) is 0."""
    r0, r1 = s0 / (s0 + s1) * ((n0 + n1) / n0), s1 / (s0 + s1) * ((n0 + n1) / n1)
    return 0.5 * (n0 * ((r0 - 1.0) - math.log(r0)) + n1 * ((r1 - 1.0) - math.log(r1)))


@compiled()
def fall(x: float, p: float, power: float) -> float:
    """Return the module's lambda of a share p, at least 0 and flat at 0, to be multiplied by a power.

    Small powers take the way with fewer digits, which is twice as quick.
    """
    if p > 0.5:  # the smaller share loses no digits
        p, x = 1.0 - p, -x
    if x > _LARGEST_EXPONENT:
        return x + math.log(p) - p * x
    if power < _SMALL_POWER:
        return math.log(1.0 - p + p * math.exp(x)) - p * x
    return math.log1p(p * math.expm1(x)) - p * x


@compiled()
def _logistic(x: float) -> float:
    small = math.exp(-abs(x))
    return 1.0 / (1.0 + small) if x > 0.0 else small / (1.0 + small)


@compiled()
def variance_part(
    theta: float, s0: float, s1: float, n0: float, n1: float, g: float, omegas: Any, step: float, half: int
) -> float:
    """Log of the mean Bayes factor over the grid; each by the trapezoidal rule around the mode.

    The rule converges exponentially for smooth functions that vanish at both ends. Nodes are placed by Newton's
    method from the mode of the normal approximation (the function has one mode), and by the curvature there. Where
    many values make the likelihood narrow, priors that hardly move its mode share its values on one set of nodes.
    """
    variance, centre = 2.0 / n0 + 2.0 / n1, theta + math.log(n1 / n0)
    largest, total = -np.inf, 0.0
    top, power = g * highest_likelihood(s0, s1, n0, n1), 0.5 * g * (n0 + n1)
    p, side = min(n0, n1) / (n0 + n1), 1.0 if n0 <= n1 else -1.0  # g h(t) = top - power fall(side (t - theta), p)
    many, whole = g * min(n0, n1) >= _MANY, (step, half)
    told = power * p * (1.0 - p)  # precision of the likelihood at its mode, theta
    likelihood = _likelihood_at(_FEWER[0] / math.sqrt(told), side, p, power) if many else np.empty(0)
    for k in range(omegas.shape[0]):
        precision = 1.0 / (omegas[k] * omegas[k])
        moved = theta * precision / (precision + told)
        if many and precision < _WIDEST * told and moved * moved * told < _FARTHEST * _FARTHEST:
            term = top + _shared_nodes(theta, _FEWER[0] / math.sqrt(told), likelihood, precision)
            total, largest = add_exp(total, largest, term)
            continue
        step, half = whole
        if whole[1] > _FEW[1] and (many or omegas[k] <= _NARROW):
            step, half = _FEWER if many or omegas[k] <= _NARROWER else _FEW
        mode = theta * (g / variance) / (precision + g / variance)
        curvature = precision + g / variance
        for _ in range(_MOST_STEPS):
            share = _logistic(mode - centre)
            slope = g * (0.25 * (n0 - n1) - 0.25 * (n0 + n1) * (2.0 * share - 1.0)) - precision * mode
            curvature = precision + g * 0.5 * (n0 + n1) * share * (1.0 - share)
            change = max(-2.0, min(2.0, slope / curvature))
            mode += change
            if change * change * curvature < _NEAR:
                break
        width = step / math.sqrt(max(curvature, precision))
        depth = power * fall(side * (mode - theta), p, power)
        high = top - depth - 0.5 * precision * mode * mode
        third = (curvature - precision) * abs(1.0 - 2.0 * share) / (curvature * math.sqrt(curvature))
        fourth = (curvature - precision) * (1.0 + 6.0 * share * (1.0 - share)) / (curvature * curvature)
        if many and third < _STRAIGHT[0] and fourth < _STRAIGHT[1] and abs(mode) < 1.0:
            area = _nearly_normal(mode, theta, curvature, precision, side, p, power, depth)
            term = high + math.log(area / (omegas[k] * math.sqrt(curvature)))
            total, largest = add_exp(total, largest, term)
            continue
        area, quick = 0.0, power < _SMALL_POWER and abs(mode - theta) + half * width < _LARGEST_EXPONENT
        factor, growing = math.exp(side * width), math.exp(side * (mode - half * width - theta)) if quick else 0.0
        for i in range(-half, half + 1):
            t = mode + i * width
            x = side * (t - theta)
            fallen = math.log(1.0 - p + p * growing) - p * x if quick else fall(x, p, power)
            area += math.exp(depth - power * fallen - 0.5 * precision * (t - mode) * (t + mode))
            growing *= factor
        term = high + math.log(area * width / (omegas[k] * math.sqrt(2.0 * math.pi)))
        total, largest = add_exp(total, largest, term)
    return largest + math.log(total / omegas.shape[0])


@compiled()
def _nearly_normal(
    mode: float,
    theta: float,
    curvature: float,
    precision: float,
    side: float,
    p: float,
    power: float,
    depth: float,
) -> float:
    """Mean of the integrand over the normal density at its mode, by Gauss-Hermite quadrature."""
    area, width = 0.0, 1.0 / math.sqrt(curvature)
    for i in range(_GAUSS[0].shape[0]):
        x = _GAUSS[0][i]
        t = mode + x * width
        value = depth - power * fall(side * (t - theta), p, power) - 0.5 * precision * (t - mode) * (t + mode)
        area += _GAUSS[1][i] * math.exp(value + 0.5 * x * x)
    return area / math.sqrt(2.0 * math.pi)


@compiled()
def _likelihood_at(width: float, side: float, p: float, power: float) -> Any:
    """Likelihood of log variance ratios on nodes around its mode, in units of its value there."""
    half = _FEWER[1]
    values = np.empty(2 * half + 1)
    for i in range(2 * half + 1):
        values[i] = math.exp(-power * fall(side * (i - half) * width, p, power))
    return values


@compiled()
def _shared_nodes(mode: float, width: float, likelihood: Any, precision: float) -> float:
    """Log of the mean likelihood under one normal prior, whose density goes from node to node by products."""
    half = likelihood.shape[0] // 2
    area, bend = likelihood[half], math.exp(-precision * width * width)
    for side in (-1.0, 1.0):
        density, ratio = 1.0, math.exp(-precision * width * (side * mode + 0.5 * width))
        for i in range(1, half + 1):
            density *= ratio
            ratio *= bend
            area += likelihood[half + int(side) * i] * density
    return math.log(area * width * math.sqrt(precision / (2.0 * math.pi))) - 0.5 * precision * mode * mode


def several_means(
    counts: FloatArray, means: FloatArray, within: FloatArray, prior: Any, half_dof: Any, taus: FloatArray
) -> FloatArray:
    r"""Log Bayes factor of means that differ between three or more groups.

    Deviations of the group means are :math:`N(0, \sigma^2 \tau^2 / 2)`, so that two of them differ as two groups
    do. With :math:`v_g = 1 / (\tau^2/2 + 1/n_g)` and :math:`Q_\tau = \sum_g v_g (\bar x_g - \bar x_v)^2`,

    .. math::

        \log BF = \tfrac12 \sum_g \log \frac{v_g}{n_g} - \tfrac12 \log \frac{\sum_g v_g}{n}
            + \tfrac{n - 1 + d_0}{2} \left[\log\left(1 + \tfrac{Q_0}{A + W}\right)
            - \log\left(1 + \tfrac{Q_\tau}{A + W}\right)\right]

    Parameters
    ----------
    counts, means
        Of the groups, ``(n_groups, n_features)``; means may be taken about any common value.
    within, prior, half_dof
        Squares within groups, those of the prior, and half the degrees of freedom of both and one more mean.
    taus
        Effect sizes, of which the mean Bayes factor is taken.
    """
    total, scale = counts.sum(axis=0), within + prior

    def spread(weights: FloatArray) -> FloatArray:
        centre = (weights * means).sum(axis=0) / weights.sum(axis=0)
        return np.asarray((weights * (means - centre) ** 2).sum(axis=0) / scale)

    gain = half_dof * np.log1p(spread(counts))
    terms = []
    for tau in taus.tolist():
        weights = 1.0 / (0.5 * tau * tau + 1.0 / counts)
        constant = 0.5 * (np.log(weights / counts).sum(axis=0) - np.log(weights.sum(axis=0) / total))
        terms.append(constant + gain - half_dof * np.log1p(spread(weights)))
    return np.asarray(np.logaddexp.reduce(terms) - math.log(len(terms)))


def several_variances(
    squares: FloatArray, dof: FloatArray, share: FloatArray, shapes: FloatArray, nodes: tuple[float, int] = EXACT
) -> FloatArray:
    r"""Log Bayes factor of variances that differ between three or more groups.

    Precisions of the groups are a common one times :math:`\xi_g \sim \text{Gamma}(a, a)`, with :math:`\psi'(a) =
    \omega^2 / 2`, so that two log variances differ by a variance of :math:`\omega^2`. The :math:`\xi_g` are
    integrated in closed form, the common scale by the trapezoidal rule.

    Parameters
    ----------
    squares, dof
        Centred squares and degrees of freedom of the groups, ``(n_groups, n_features)``.
    share
        Share g of the evidence that heavy tails leave, one per feature.
    shapes
        Shapes a, of which the mean Bayes factor is taken.
    """
    n = squares.shape[1]
    found = np.empty(n)
    freedom = np.broadcast_to(np.asarray(dof, dtype=np.float64), squares.shape)
    defined = (share > 0.0) & (squares > 0.0).all(axis=0) & (freedom > 0.0).all(axis=0)

    def work(lo: int) -> None:
        where = slice(lo, min(lo + _TILE, n))
        halves = 0.5 * np.where(defined[where], share[where], 1.0) * np.maximum(freedom[:, where], 1e-9)
        rests = [
            (log_gamma_rest(halves + a) - log_gamma_rest(a)).sum(axis=0) - log_gamma_rest(halves.sum(axis=0))
            for a in shapes.tolist()
        ]
        part = np.ascontiguousarray(squares[:, where])
        _several_variances(part, halves, defined[where], np.array(rests), shapes, *nodes, found[where])

    for_each(work, range(0, n, _TILE), n_threads_for(None, n * 512))
    return found


@compiled()
def _several_variances(
    squares: Any, halves: Any, defined: Any, rests: Any, shapes: Any, step: float, half: int, found: Any
) -> None:
    n_groups = squares.shape[0]
    v, inverse, m = np.empty(n_groups), np.empty(n_groups), np.empty(n_groups)  # variances over the common one
    for f in range(found.shape[0]):
        if not defined[f]:
            found[f] = 0.0
            continue
        within, total, top = squares[:, f].sum(), halves[:, f].sum(), 0.0
        for k in range(n_groups):
            m[k] = halves[k, f]
            ratio = squares[k, f] / within * (total / m[k])
            v[k], inverse[k] = math.log(ratio), 1.0 / ratio
            top += m[k] * ((ratio - 1.0) - v[k])
        largest, sum_of_terms = -np.inf, 0.0
        for i in range(shapes.shape[0]):
            term = top + rests[i, f] + _common_scale(v, inverse, m, shapes[i], step, half)
            sum_of_terms, largest = add_exp(sum_of_terms, largest, term)
        found[f] = largest + math.log(sum_of_terms / shapes.shape[0])


@compiled()
def _common_scale(v: Any, inverse: Any, m: Any, a: float, step: float, half: int) -> float:
    """Log integral over the log of the common variance; the integrand has one mode."""
    mode, curvature = 0.0, 1.0
    for _ in range(30):
        slope, curvature = 0.0, 0.0
        for k in range(v.shape[0]):
            x = m[k] * math.exp(v[k] - mode)
            weight = (a + m[k]) / (a + x)
            slope += weight * x - m[k]
            curvature += weight * x * a / (a + x)
        change = max(-2.0, min(2.0, slope / curvature))
        mode += change
        if abs(change) < 1e-6:
            break
    width, least = step / math.sqrt(curvature), _LEAST_TERMS[0 if half > _FEW[1] else 1]
    high, area = _at_scale(mode, v, inverse, m, a), 1.0
    for side in (-1.0, 1.0):
        term, i = 1.0, 0
        while term > least and i < _MOST_NODES:  # tails are exponential where there are few values
            i += 1
            term = math.exp(_at_scale(mode + side * i * width, v, inverse, m, a) - high)
            area += term
    return high + math.log(area * width)


@compiled()
def _at_scale(u: float, v: Any, inverse: Any, m: Any, a: float) -> float:
    """Log integrand at the log of a common variance, less its maximum over all variances of the groups."""
    value, root = 0.0, math.exp(min(u, _LARGEST_EXPONENT))
    for k in range(v.shape[0]):
        power, x = a + m[k], u - v[k]
        if power < _SMALL_POWER and abs(x) < _LARGEST_EXPONENT:
            value -= power * math.log((m[k] + a * (root * inverse[k])) / power) - a * x
        else:
            value -= power * fall(x, a / power, power)
    return value
