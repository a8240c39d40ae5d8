r"""What a pilot tells about the features: a two-group mixture, and draws of the truth from its posterior.

A feature is null, or differs in mean by :math:`\delta` standard deviations, in log variance by :math:`t`, or in
both. Sizes :math:`\delta` are a mixture of narrow parts at ``MEANS`` of either sign: all markers in one of them,
or shares as a log-normal distribution of unknown centre and spread has them, to few large ones among many small;
:math:`t` is normal with one of ``RATIOS`` as standard deviation. Centre, spread and the share of markers have a
posterior on a grid, shares of kinds one given the features drawn, so that everything the pilot leaves open differs
from one draw to the next.

With the moderated t of the pilot, :math:`N = n_0 n_1 / n` and :math:`m` degrees of freedom, the likelihood of a
part :math:`N(c, s^2)` depends on the unknown ratio :math:`r` of estimated and true standard deviation; with
:math:`V = 1 + N s^2` it is

.. math::

    V^{-1/2} \int r^m \exp\left\{-\tfrac{m r^2}{2} - \tfrac{(t r - \sqrt N c)^2}{2 V}\right\} dr
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from bayesieve.planning.pilot import Pilot
from bayesieve.utils import FloatArray, IntArray, OptionError, check_between, check_whole, compiled, option

MEANS = tuple(float(size) for size in 0.25 * 2.0 ** (np.arange(17) / 4.0))
"""Standardised mean differences at which the parts of the mixture lie."""
_MOST_EFFECT = 100.0
_TYPICAL = {
    "differences": "0.5 (weak), 0.8 (medium) and 1.2 (strong) standard deviations",
    "variance_ratios": "1.5 (weak), 2 (medium) and 4 (strong)",
}
RATIOS = (0.35, 0.7, 1.4)
"""Standard deviations of log variance ratios."""
NARROW = 0.1  # standard deviation of a part, as a share of its size
_ALLOWED = 0.2  # the same of differences that are stated
_KIND_PRIOR = (4.0, 0.5, 0.5)  # pseudo-markers that differ in mean, in variance, in both
_SIZE_PRIOR = 0.5  # pseudo-markers of each size of log ratios
_CENTRES, _SPREADS = np.log(MEANS), np.array([0.01, 0.15, 0.35, 0.6, 1.0])
_SPREAD_PRIOR = np.array([4.0, 1.0, 1.0, 1.0, 1.0])  # all alike is as likely as all that spread together
_EM_STEPS, _WARM_UP = 60, 5  # before the first draw
_SHARE_PRIOR = (1.0, 1.0)  # of the beta distribution of the share of markers: any share alike
_MARKERS = 1.0 / (1.0 + np.exp(-np.linspace(-9.5, 2.0, 70)))  # shares of markers


@dataclass(frozen=True, slots=True, eq=False)
class Truth:
    """One draw of what is true.

    Parameters
    ----------
    places
        Features that are markers.
    difference, log_ratio
        Of the markers: mean difference in standard deviations, and log of the ratio of variances.
    expected_over_own
        Of every feature: the variance that all features together suggest, over its own.
    ratio_of_scales
        Of every feature: estimated over true standard deviation in the pilot; empty without a pilot.
    """

    places: IntArray
    difference: FloatArray
    log_ratio: FloatArray
    expected_over_own: FloatArray
    ratio_of_scales: FloatArray


class PilotPosterior:
    """What the pilot says about the share of markers and the sizes of their differences, on a grid.

    Parameters
    ----------
    pilot
        What is known.
    width, ratio_width
        How much wider than in theory the pilot's null is believed to be, of means and of log variance ratios: what
        features have in common.
    """

    def __init__(self, pilot: Pilot, width: float = 1.0, ratio_width: float = 1.0) -> None:
        self.pilot, self.t = pilot, pilot.t / width
        sizes = np.array(MEANS)
        factors = np.empty((pilot.n_features, sizes.size))
        _mean_factors(self.t, pilot.size, pilot.dof, sizes, NARROW * sizes, factors)
        ratios = pilot.log_ratio_factors(RATIOS, ratio_width)
        self.top = np.stack([factors.max(axis=1), ratios.max(axis=1)])
        self.means, self.ratios = np.exp(factors - self.top[:1].T), np.exp(ratios - self.top[1:].T)
        kinds, of_ratio = self._most_probable()
        self.kinds, self.of_ratio = kinds, of_ratio
        fit = np.empty((len(_FAMILIES), _MARKERS.size))
        _grid(self.means, self.ratios, self.top, kinds, of_ratio, _FAMILIES, _MARKERS, fit)
        fit += _SHARE_PRIOR[0] * np.log(_MARKERS) + _SHARE_PRIOR[1] * np.log1p(-_MARKERS)  # even in log-odds
        fit += _FAMILY_PRIOR[:, None]
        chances = np.exp(fit - fit.max()).ravel()
        self._cumulative = np.cumsum(chances) / chances.sum()

    def _most_probable(self) -> tuple[FloatArray, FloatArray]:
        """Shares of the kinds of difference and of the sizes of log ratios, by the EM algorithm."""
        pilot = self.pilot
        kinds = np.array(_KIND_PRIOR) / sum(_KIND_PRIOR)
        of_mean, of_ratio = np.full(len(MEANS), 1.0 / len(MEANS)), np.full(len(RATIOS), 1.0 / len(RATIOS))
        markers = 0.05
        if not pilot.compares_variances:
            return np.array([1.0, 0.0, 0.0]), of_ratio
        for _ in range(_EM_STEPS):
            counts = np.zeros(4 + len(MEANS) + len(RATIOS))
            _expect(self.means, self.ratios, self.top, np.concatenate([[1.0 - markers], markers * kinds]), of_mean,
                    of_ratio, counts)  # fmt: skip
            markers = counts[1:4].sum() / (pilot.n_features + 1.0)
            kinds = (counts[1:4] + _KIND_PRIOR) / (counts[1:4].sum() + sum(_KIND_PRIOR))
            of_mean = (counts[4 : 4 + len(MEANS)] + _SIZE_PRIOR) / (counts[4 : 4 + len(MEANS)] + _SIZE_PRIOR).sum()
            of_ratio = (counts[4 + len(MEANS) :] + _SIZE_PRIOR) / (counts[4 + len(MEANS) :] + _SIZE_PRIOR).sum()
        return kinds, of_ratio

    def draw_shares(self, rng: np.random.Generator) -> tuple[FloatArray, float]:
        """Draw the shares of sizes and the share of markers."""
        place = min(int(np.searchsorted(self._cumulative, rng.random())), self._cumulative.size - 1)
        family, markers = divmod(place, _MARKERS.size)
        return _FAMILIES[family], float(_MARKERS[markers])


class PilotTruths:
    """Draws of the truth given a pilot, one after the other.

    Parameters
    ----------
    posterior
        What the pilot says.
    rng
        Source of random numbers.
    """

    def __init__(self, posterior: PilotPosterior, rng: np.random.Generator) -> None:
        self._posterior, self._pilot, self._rng = posterior, posterior.pilot, rng
        self._kinds, self._of_ratio = posterior.kinds, posterior.of_ratio
        for _ in range(_WARM_UP):
            self._sweep()

    def _sweep(self) -> tuple[IntArray, IntArray, IntArray]:
        """Draw shares, kinds and sizes given the shares of kinds, then these given kinds."""
        rng, known = self._rng, self._posterior
        of_mean, markers = known.draw_shares(rng)
        found = np.zeros((3, self._pilot.n_features), np.int64)
        _draw_parts(known.means, known.ratios, known.top, np.concatenate([[1.0 - markers], markers * self._kinds]),
                    of_mean, self._of_ratio, rng.random((3, self._pilot.n_features)), found)  # fmt: skip
        kind, mean, ratio = found
        if self._pilot.compares_variances:
            self._kinds = rng.dirichlet(np.array(_KIND_PRIOR) + np.bincount(kind, minlength=4)[1:])
            of_ratio = np.bincount(ratio[kind >= 2], minlength=len(RATIOS))
            self._of_ratio = rng.dirichlet(_SIZE_PRIOR + of_ratio)
        return kind, mean, ratio

    def draw(self) -> Truth:
        """Draw the truth about all features."""
        pilot, rng = self._pilot, self._rng
        kind, mean, ratio = self._sweep()
        scales = np.sqrt(2.0 * rng.standard_gamma(0.5 * (pilot.dof + 1.0)) / (pilot.dof + self._posterior.t**2))
        places = np.flatnonzero(kind)
        with_mean = kind[places] != 2
        size = np.where(with_mean, np.array(MEANS)[mean[places]], 0.0)
        difference = np.zeros(places.size)
        own = scales[places]
        known = self._posterior.t[places], pilot.size[places], pilot.dof[places]
        uniform, normal = rng.random((3, places.size)), rng.standard_normal(places.size)
        _draw_differences(*known, size, NARROW, uniform, normal, difference, own)
        scales[places] = own
        log_ratio = np.zeros(places.size)
        differs = kind[places] >= 2
        log_ratio[differs] = pilot.draw_log_ratio(places[differs], np.array(RATIOS)[ratio[places[differs]]], rng)
        return Truth(places, difference, log_ratio, pilot.expected_over_estimated * scales**2, scales)


def _families() -> FloatArray:
    """Shares of the sizes in every family: log-normal, of some centre and spread."""
    logs = np.log(MEANS)
    density = np.exp(-0.5 * ((logs - _CENTRES[:, None, None]) / _SPREADS[:, None]) ** 2).reshape(-1, logs.size)
    return np.asarray(density / density.sum(axis=1, keepdims=True)) * (1.0 - 1e-3) + 1e-3 / logs.size


_FAMILIES = _families()
_FAMILY_PRIOR = np.tile(np.log(_SPREAD_PRIOR / _SPREAD_PRIOR.sum()), _CENTRES.size)


@dataclass(frozen=True, slots=True)
class StatedEffects:
    """Effects that are stated in the place of a pilot.

    Parameters
    ----------
    n_features, n_markers
        Number of features, and of markers among them.
    differences
        Standardised mean differences of the markers, equally frequent; a fifth more or less is allowed.
    variance_ratios
        Ratios of variances, equally frequent among markers that differ in variance.
    variance_share
        Share of markers that differ in variance, and not in mean.
    variance_dof
        How alike the variances of features are: limma's prior degrees of freedom.
    kurtosis
        Excess kurtosis of the values within classes.

    Examples
    --------
    >>> import bayesieve as bs
    >>> bs.StatedEffects(n_features=5000, n_markers=50, differences=(0.8,)).n_markers
    50
    """

    n_features: int = 20_000
    n_markers: int = 100
    differences: tuple[float, ...] = (0.5, 0.8, 1.2)
    variance_ratios: tuple[float, ...] = (2.0, 4.0)
    variance_share: float = 0.0
    variance_dof: float = 4.0
    kurtosis: float = 0.0

    def __post_init__(self) -> None:
        check_whole("n_features", self.n_features, 1)
        check_whole("n_markers", self.n_markers, 1)
        if self.n_markers >= self.n_features:
            raise OptionError(
                f"{self.n_markers:,} markers are expected among {self.n_features:,} features. Expect fewer, or "
                "give the number of all features."
            )
        for name, least in (("differences", 0.0), ("variance_ratios", 1.0)):
            sizes = tuple(float(each) for each in np.atleast_1d(getattr(self, name)))
            object.__setattr__(self, name, sizes)
            if not sizes or not all(least < each < _MOST_EFFECT for each in sizes):
                raise OptionError(
                    option(name), f" takes numbers over {least:g} and under {_MOST_EFFECT:g}, typically "
                    f"{_TYPICAL[name]}; these are {', '.join(f'{each:g}' for each in sizes) or 'none'}.",
                )  # fmt: skip
        check_between("variance_share", self.variance_share)
        check_between("variance_dof", self.variance_dof, 0.1, math.inf)
        check_between("kurtosis", self.kurtosis, 0.0, 1000.0)

    def draw(self, rng: np.random.Generator) -> Truth:
        """Draw the truth about all features.

        Examples
        --------
        >>> import numpy as np
        >>> import bayesieve as bs
        >>> bs.StatedEffects(n_markers=7).draw(np.random.default_rng(0)).places.tolist()
        [0, 1, 2, 3, 4, 5, 6]
        """
        n = self.n_markers
        difference = rng.choice(self.differences, n) * (1.0 + _ALLOWED * rng.standard_normal(n))
        log_ratio = np.zeros(n)
        if self.variance_share:
            differs = rng.random(n) < self.variance_share
            drawn = np.log(rng.choice(self.variance_ratios, n)) * rng.choice((-1.0, 1.0), n)
            difference, log_ratio = np.where(differs, 0.0, difference), np.where(differs, drawn, 0.0)
        own = rng.chisquare(self.variance_dof, self.n_features) / self.variance_dof
        return Truth(np.arange(n), difference, log_ratio, own, np.empty(0))


@compiled()
def _mean_factors(t: Any, size: Any, dof: Any, centres: Any, widths: Any, found: Any) -> None:
    """Log Bayes factor of every part against no difference; either sign."""
    for f in range(t.shape[0]):
        m, n = dof[f], size[f]
        null = math.lgamma(0.5 * (m + 1.0)) + 0.5 * (m + 1.0) * math.log(2.0 / (m + t[f] * t[f])) - math.log(2.0)
        for k in range(centres.shape[0]):
            plus = _log_integral(t[f], n, m, centres[k], widths[k])
            minus = _log_integral(-t[f], n, m, centres[k], widths[k])
            high = max(plus, minus)
            found[f, k] = high + math.log(0.5 * (math.exp(plus - high) + math.exp(minus - high))) - null


@compiled()
def _mode(a: float, b: float, m: float) -> tuple[float, float]:
    """Log of the ratio r at which the integrand over log r is largest, and its curvature there."""
    root = math.sqrt(b * b + 4.0 * a * (m + 1.0))
    r = (b + root) / (2.0 * a) if b > 0.0 else 2.0 * (m + 1.0) / (root - b)
    return math.log(r), 2.0 * a * r * r - b * r


@compiled()
def _log_integral(t: float, n: float, m: float, centre: float, width: float) -> float:
    """Log of the integral over r, by the trapezoidal rule in log r around the mode."""
    v = 1.0 + n * width * width
    a, b = m + t * t / v, t * math.sqrt(n) * centre / v
    mode, curvature = _mode(a, b, m)
    step = 0.5 / math.sqrt(curvature)
    r = math.exp(mode)
    top = (m + 1.0) * mode - 0.5 * a * r * r + b * r
    area, growth, r = 0.0, math.exp(step), math.exp(mode - 16.0 * step)
    for i in range(-16, 17):
        area += math.exp((m + 1.0) * (mode + i * step) - 0.5 * a * r * r + b * r - top)
        r *= growth
    return top + math.log(area * step) - 0.5 * n * centre * centre / v - 0.5 * math.log(v)


@compiled()
def _expect(means: Any, ratios: Any, top: Any, chances: Any, of_mean: Any, of_ratio: Any, counts: Any) -> None:
    """Add up the probabilities of kinds, then of sizes of means and of ratios, over all features."""
    n_means, n_ratios = of_mean.shape[0], of_ratio.shape[0]
    for f in range(means.shape[0]):
        by_mean, by_ratio = 0.0, 0.0
        for k in range(n_means):
            by_mean += of_mean[k] * means[f, k]
        for k in range(n_ratios):
            by_ratio += of_ratio[k] * ratios[f, k]
        lm, lv = math.log(by_mean) + top[0, f], math.log(by_ratio) + top[1, f]
        high = max(0.0, lm, lv, lm + lv)
        none = chances[0] * math.exp(-high)
        mean, ratio = chances[1] * math.exp(lm - high), chances[2] * math.exp(lv - high)
        both = chances[3] * math.exp(lm + lv - high)
        total = none + mean + ratio + both
        counts[0] += none / total
        counts[1] += mean / total
        counts[2] += ratio / total
        counts[3] += both / total
        for k in range(n_means):
            counts[4 + k] += of_mean[k] * means[f, k] / by_mean * (mean + both) / total
        for k in range(n_ratios):
            counts[4 + n_means + k] += of_ratio[k] * ratios[f, k] / by_ratio * (ratio + both) / total


@compiled()
def _grid(  # noqa: C901 - one loop
    means: Any, ratios: Any, top: Any, kinds: Any, of_ratio: Any, families: Any, markers: Any, fit: Any
) -> None:
    """Log likelihood of the pilot for every family of sizes and every share of markers."""
    fit[:] = 0.0
    products = np.empty(markers.shape[0])
    for g in range(families.shape[0]):
        products[:] = 1.0
        for f in range(means.shape[0]):
            by_mean, by_ratio = 0.0, 0.0
            for k in range(families.shape[1]):
                by_mean += families[g, k] * means[f, k]
            for k in range(of_ratio.shape[0]):
                by_ratio += of_ratio[k] * ratios[f, k]
            lm, lv = math.log(by_mean) + top[0, f], math.log(by_ratio) + top[1, f]
            high = max(0.0, lm, lv, lm + lv)
            none = math.exp(-high)
            marker = kinds[0] * math.exp(lm - high) + kinds[1] * math.exp(lv - high)
            gain = (marker + kinds[2] * math.exp(lm + lv - high)) / none - 1.0
            if gain > 1e12:  # certain, whatever the share
                for i in range(markers.shape[0]):
                    fit[g, i] += math.log(markers[i])
                continue
            for i in range(markers.shape[0]):
                products[i] *= 1.0 + markers[i] * gain
            if f % 16 == 15:
                for i in range(markers.shape[0]):
                    fit[g, i] += math.log(products[i])
                    products[i] = 1.0
        for i in range(markers.shape[0]):
            fit[g, i] += math.log(products[i])


@compiled()
def _draw_parts(
    means: Any, ratios: Any, top: Any, chances: Any, of_mean: Any, of_ratio: Any, uniform: Any, found: Any
) -> None:
    """Draw the kind of every feature (0 for none), and the part of its mean and of its ratio."""
    for f in range(means.shape[0]):
        by_mean, by_ratio = 0.0, 0.0
        for k in range(of_mean.shape[0]):
            by_mean += of_mean[k] * means[f, k]
        for k in range(of_ratio.shape[0]):
            by_ratio += of_ratio[k] * ratios[f, k]
        lm, lv = math.log(by_mean) + top[0, f], math.log(by_ratio) + top[1, f]
        high = max(0.0, lm, lv, lm + lv)
        none = chances[0] * math.exp(-high)
        mean, ratio = chances[1] * math.exp(lm - high), chances[2] * math.exp(lv - high)
        both = chances[3] * math.exp(lm + lv - high)
        u = uniform[0, f] * (none + mean + ratio + both)
        if u < none:
            continue
        kind = 1 if u < none + mean else 2 if u < none + mean + ratio else 3
        found[0, f] = kind
        if kind != 2:
            found[1, f] = _pick(means[f], of_mean, uniform[1, f] * by_mean)
        if kind != 1:
            found[2, f] = _pick(ratios[f], of_ratio, uniform[2, f] * by_ratio)


@compiled()
def _pick(factors: Any, weights: Any, u: float) -> int:
    for k in range(weights.shape[0] - 1):
        u -= factors[k] * weights[k]
        if u < 0.0:
            return k
    return int(weights.shape[0] - 1)


@compiled()
def _draw_differences(
    t: Any, size: Any, dof: Any, centres: Any, narrow: float, uniform: Any, normal: Any, found: Any, scales: Any
) -> None:
    """Draw sign, ratio of scales and difference of markers whose means differ, given their part."""
    masses = np.empty(33)
    for f in range(t.shape[0]):
        if centres[f] == 0.0:
            continue
        n, m, width = size[f], dof[f], narrow * centres[f]
        plus = _log_integral(t[f], n, m, centres[f], width)
        minus = _log_integral(-t[f], n, m, centres[f], width)
        sign = 1.0 if uniform[0, f] * (1.0 + math.exp(min(minus - plus, 700.0))) < 1.0 else -1.0
        v = 1.0 + n * width * width
        a, b = m + t[f] * t[f] / v, sign * t[f] * math.sqrt(n) * centres[f] / v
        mode, curvature = _mode(a, b, m)
        step, r0 = 0.5 / math.sqrt(curvature), math.exp(mode)
        top = (m + 1.0) * mode - 0.5 * a * r0 * r0 + b * r0
        total = 0.0
        for i in range(33):
            u = mode + (i - 16) * step
            r = math.exp(u)
            masses[i] = math.exp((m + 1.0) * u - 0.5 * a * r * r + b * r - top)
            total += masses[i]
        left, i = uniform[1, f] * total, 0
        while i < 32 and left > masses[i]:
            left -= masses[i]
            i += 1
        r = math.exp(mode + (i - 16 + uniform[2, f] - 0.5) * step)
        precision = n + 1.0 / (width * width)
        centre = (math.sqrt(n) * t[f] * r + sign * centres[f] / (width * width)) / precision
        found[f] = centre + normal[f] / math.sqrt(precision)
        scales[f] = r
