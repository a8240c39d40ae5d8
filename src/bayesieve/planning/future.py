r"""Futures: moments of a study that has not been made, and the evidence that the default screen would find.

Given the truth, means of the classes are normal and centred squares follow chi-square distributions, so that no
values are drawn. The evidence of :class:`bayesieve.CalibratedModel` depends on two numbers of a feature only (what
its means explain, and the ratio of its centred squares) besides the share that heavy tails leave; it is
tabulated once for a design by the model's own functions and interpolated by cubic polynomials.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from bayesieve.models import QUICK, STRONG, effect_sizes, tempering, two_group_evidence, weights_of_kinds
from bayesieve.planning.pilot import Pilot
from bayesieve.planning.truth import Truth
from bayesieve.stats import Moments
from bayesieve.utils import FloatArray, IntArray, compiled

PROBES = (0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 2.0, 2.5)
"""Standardised differences at which power is worked out."""
RATIO_PROBES = (1.5, 2.0, 3.0, 5.0, 10.0)
"""Ratios of variances at which power is worked out."""
_EACH = 16  # probes of each in a future
FLOOR = 0.0  # log Bayes factor over which features of a future are kept
_GAIN_STEP, _MOST_GAIN = 0.05, 60.0
_RATIO_STEP, _MOST_RATIO = 0.02, 8.0
_SHARES = np.linspace(0.0, 1.0, 21)
_POOL, _POOL_VALUES = 2048, 400_000
_MOST_PRIOR_DOF = 4.0  # times the samples, as the model has it


@dataclass(frozen=True, slots=True, order=True)
class Design:
    """Size of a study.

    Parameters
    ----------
    n0, n1
        Samples of the two classes.
    batches
        Batches of equal make-up, each with a location of its own.
    """

    n0: int
    n1: int
    batches: int = 1

    @property
    def n_samples(self) -> int:
        """Samples in all."""
        return self.n0 + self.n1

    def half(self) -> Design:
        """Return the first half of the study."""
        return Design(max(self.n0 // 2, 2), max(self.n1 // 2, 2), self.batches)

    def rest(self) -> Design:
        """Return what is left after the first half."""
        half = self.half()
        return Design(self.n0 - half.n0, self.n1 - half.n1, self.batches)

    def __str__(self) -> str:
        return f"{self.n0} + {self.n1}"


@dataclass(slots=True, eq=False)
class State:
    """Moments of both classes so far, in units of each feature's standard deviation."""

    n0: float
    n1: float
    mean0: Any
    mean1: Any
    squares0: Any
    squares1: Any


class Evidence:
    """Tables of the evidence for studies of one size.

    Parameters
    ----------
    n0, n1, batches
        Samples of the classes, and batches.
    prior_dof
        Degrees of freedom that the variances of other features are worth.
    kurtosis
        Excess kurtosis of the values.
    seed
        Of the shares that heavy tails leave, as samples of this size show them.
    """

    def __init__(self, n0: float, n1: float, batches: int, prior_dof: float, kurtosis: float, seed: int) -> None:
        n = n0 + n1
        self.prior_dof = min(prior_dof, _MOST_PRIOR_DOF * n)
        self.size, self.half_dof = n0 * n1 / n, 0.5 * (n - batches + self.prior_dof)
        dof = n0 - batches, n1 - batches
        few = min(n0, n1) <= 2 or min(dof) < 1
        taus, omegas = effect_sizes(self.size, math.inf if few else 2.0 / (n0 - 1.0) + 2.0 / (n1 - 1.0))
        gains = np.arange(0.0, _MOST_GAIN + _GAIN_STEP, _GAIN_STEP)
        explained = np.expm1(gains / self.half_dof)
        nothing = (1.0, 1.0, 1.0, 1.0, 0.0)
        self.means = two_group_evidence(
            (explained, 1.0, self.size, self.half_dof, 0.0), nothing, (taus, np.ones(1)), QUICK
        )[0]
        logs = np.arange(-_MOST_RATIO, _MOST_RATIO + _RATIO_STEP, _RATIO_STEP)
        self.ratios = np.zeros((_SHARES.size, logs.size))
        for i, share in enumerate(_SHARES if omegas.size else ()):
            columns = (np.ones(logs.size), np.exp(logs + math.log(dof[1] / dof[0])), *dof, float(share))
            self.ratios[i] = two_group_evidence(
                (np.zeros(logs.size), *nothing[1:]), columns, (taus, omegas), QUICK
            )[1]
        self.log_dof = math.log(dof[1] / dof[0]) if omegas.size else 0.0
        self.shares = _pool(int(n0), int(n1), kurtosis, seed) if omegas.size else np.zeros(1)
        self.typical_share = float(np.median(self.shares))

    def log_bayes_factor(
        self, state: State, prior: FloatArray, spread: Any, n_real: int, rng: np.random.Generator
    ) -> FloatArray:
        """Evidence of every feature as the default model would weigh it, minus infinity where it is below 0.

        Parameters
        ----------
        state
            Moments.
        prior
            Variance that all features suggest, over each one's own.
        spread
            Squares by which batches differ in their class differences.
        n_real
            Features of the study; those behind them have no say about the weights of kinds.
        rng
            Source of random numbers.
        """
        n = prior.size
        pick = rng.integers(0, self.shares.size, n) if self.shares.size > 1 else np.zeros(n, np.int64)
        mean, ratio = np.empty(n), np.empty(n)
        counts = np.zeros(3, np.int64)
        spreads = np.broadcast_to(np.asarray(spread, np.float64), (n,))
        _evidence(
            state.mean0, state.mean1, state.squares0, state.squares1, prior, spreads, self.shares, pick,
            (self.size, self.half_dof, self.prior_dof, self.log_dof, STRONG), self.means, self.ratios, n_real,
            mean, ratio, counts,
        )  # fmt: skip
        weight, both = weights_of_kinds(counts, self.typical_share) if self.typical_share > 0.0 else (0.0, 0.0)
        _mix(mean, ratio, weight, both, FLOOR)
        return mean


def _pool(n0: int, n1: int, kurtosis: float, seed: int) -> FloatArray:
    """Shares that heavy tails leave to the variance, as samples of this size and kurtosis show them."""
    number = int(min(_POOL, max(_POOL_VALUES // (n0 + n1), 200)))
    rng = np.random.default_rng((seed, n0, n1))
    shape = (n0 + n1, number)
    values = rng.standard_t(4.0 + 6.0 / kurtosis, shape) if kurtosis > 0.05 else rng.standard_normal(shape)
    moments = Moments.from_matrix(values, [0] * n0 + [1] * n1, shape=True)
    return tempering(moments, kurtosis)


@dataclass(frozen=True, slots=True, eq=False)
class Listed:
    """What was found in a future about the features with evidence for a difference, the strongest first.

    Parameters
    ----------
    log_bayes_factor, place, true
        Of each: evidence, which feature it is, and whether it is a marker.
    probes
        Evidence of the probes, ``(n_sizes, n_each)``.
    """

    log_bayes_factor: FloatArray
    place: IntArray
    true: Any
    probes: FloatArray


class Future:
    """One future: a truth, and the studies that may be made of it.

    Parameters
    ----------
    truth
        What is true.
    width
        How much wider or narrower than in theory means of non-markers vary together in this study.
    kurtosis
        Excess kurtosis of the values.
    rng
        Source of random numbers.
    """

    def __init__(self, truth: Truth, width: float, kurtosis: float, rng: np.random.Generator) -> None:
        self._truth, self._width, self._kurtosis, self._rng = truth, width, kurtosis, rng
        p = truth.expected_over_own.size
        n = p + _EACH * (len(PROBES) + len(RATIO_PROBES))
        self.difference, self._log_ratio = np.zeros(n), np.zeros(n)
        self.difference[truth.places] = truth.difference
        self._log_ratio[truth.places] = truth.log_ratio
        middle = p + _EACH * len(PROBES)
        self.difference[p:middle] = np.repeat(PROBES, _EACH)
        self._log_ratio[middle:] = np.repeat(np.log(RATIO_PROBES), _EACH)
        again = rng.integers(0, p, n - p)
        self._prior = np.concatenate([truth.expected_over_own, truth.expected_over_own[again]])
        self._n_real = p
        self._location: Any = 0.0
        self._deviations = np.exp(-0.25 * self._log_ratio), np.exp(0.25 * self._log_ratio)

    def study(self, design: Design, before: State | None = None) -> tuple[State, Any]:
        """Draw the moments of a study, added to what was known before, and the spread between its batches."""
        rng, n = self._rng, self.difference.size
        drawn = []
        for count, deviation, centre in zip((design.n0, design.n1), self._deviations, (0.0, self.difference),
                                            strict=True):  # fmt: skip
            dof = count - design.batches
            squares = 2.0 * rng.standard_gamma(0.5 * dof, n) * deviation**2 if dof else np.zeros(n)
            noise = self._width / math.sqrt(count) * deviation
            drawn.append((self._location + centre + noise * rng.standard_normal(n), squares))
        spread = 2.0 * rng.standard_gamma(0.5 * (design.batches - 1), n) if design.batches > 1 else 0.0
        (mean0, squares0), (mean1, squares1) = drawn
        if self._kurtosis > 0.0:
            squares0, squares1 = self._with_tails(design, squares0, squares1)
        new = State(design.n0, design.n1, mean0, mean1, squares0, squares1)
        return (new if before is None else _merged(before, new)), spread

    def _with_tails(
        self, design: Design, squares0: FloatArray, squares1: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Let variances differ by accident as much as heavy tails make them, and leave their sum as it is.

        The sum is what differences of means are held against: an outlier moves both, so that heavy tails make no
        means differ.
        """
        variance = self._kurtosis * (1.0 / design.n0 + 1.0 / design.n1)
        tilt = np.exp(0.5 * math.sqrt(variance) * self._rng.standard_normal(squares0.size))
        squares0, squares1, whole = squares0 / tilt, squares1 * tilt, squares0 + squares1
        with np.errstate(invalid="ignore"):
            kept = np.nan_to_num(whole / (squares0 + squares1), nan=1.0)
        return kept * squares0, kept * squares1

    def pilot_state(self, pilot: Pilot) -> State:
        """Return the pilot's moments in units of the drawn standard deviations, about its first mean.

        Probes have no pilot of their own: theirs is drawn.
        """
        rng, p, n = self._rng, self._n_real, self.difference.size
        scales = self._truth.ratio_of_scales
        n0, n1 = pilot.typical_counts
        probes, _ = self.study(Design(n0, n1))
        difference = pilot.t * scales / np.sqrt(pilot.size)
        self._location = np.zeros(n)
        weight = n1 / (n0 + n1)
        self._location[:p] = weight * (difference - self.difference[:p]) + rng.standard_normal(p) / math.sqrt(
            n0 + n1
        )
        mean0, mean1, squares0, squares1 = (
            np.array(each) for each in (probes.mean0, probes.mean1, probes.squares0, probes.squares1)
        )
        mean0[:p], mean1[:p] = 0.0, difference
        squares0[:p], squares1[:p] = pilot.squares * scales**2
        return State(n0, n1, mean0, mean1, squares0, squares1)

    def listed(self, state: State, spread: Any, evidence: Evidence, most: int) -> Listed:
        """Keep the features with evidence for a difference, and at least so many."""
        found = evidence.log_bayes_factor(state, self._prior, spread, self._n_real, self._rng)
        probes = found[self._n_real :].reshape(-1, _EACH)
        real = found[: self._n_real]
        kept = np.flatnonzero(real > FLOOR)
        order = kept[np.argsort(-real[kept], kind="stable")]
        if order.size < most:  # the rest says little: in any order
            others = np.flatnonzero(~(real > FLOOR))
            order = np.concatenate([order, self._rng.permutation(others)[: most - order.size]])
        true = np.zeros(self._n_real, bool)
        true[self._truth.places] = True
        return Listed(real[order], order, true[order], probes.copy())


def _merged(first: State, second: State) -> State:
    """Moments of two studies together."""
    made: dict[str, Any] = {}
    for k in ("0", "1"):
        n, m = getattr(first, f"n{k}"), getattr(second, f"n{k}")
        a, b = getattr(first, f"mean{k}"), getattr(second, f"mean{k}")
        made[f"mean{k}"] = (n * a + m * b) / (n + m)
        made[f"squares{k}"] = (
            getattr(first, f"squares{k}") + getattr(second, f"squares{k}") + n * m / (n + m) * (a - b) ** 2
        )
        made[f"n{k}"] = n + m
    return State(**made)


@compiled()
def _evidence(  # noqa: PLR0913, PLR0917 - a kernel takes arrays one by one
    mean0: Any, mean1: Any, squares0: Any, squares1: Any, prior: Any, spread: Any, shares: Any, pick: Any,
    sizes: Any, of_gain: Any, of_ratio: Any, n_real: int, mean: Any, ratio: Any, counts: Any,
) -> None:  # fmt: skip
    """Log Bayes factors of means and of variances by the tables; strong features are counted by kind."""
    size, half_dof, prior_dof, log_dof, strong = sizes
    last, end, n_shares = of_gain.shape[0] - 3, of_ratio.shape[1] - 3, of_ratio.shape[0] - 1
    for f in range(mean.shape[0]):
        difference, s0, s1 = mean1[f] - mean0[f], squares0[f], squares1[f]
        between = size * difference * difference
        gain = half_dof * math.log1p(between / (s0 + s1 + spread[f] + prior_dof * prior[f]))
        place = gain / _GAIN_STEP
        if place < last:
            mean[f] = _cubic(of_gain, int(place), place - int(place))
        else:  # the table goes on as a straight line
            slope = of_gain[last] - of_gain[last - 1]
            mean[f] = of_gain[last] + slope * (place - last)
        ratio[f] = 0.0
        share = shares[pick[f]]
        if share > 0.0 and s0 > 0.0 and s1 > 0.0:
            x = (math.log(s1 / s0) - log_dof + _MOST_RATIO) / _RATIO_STEP
            level = share * n_shares
            low = min(int(level), n_shares - 1)
            part = level - low
            inside = min(max(x, 1.0), end - 1.0)
            k = int(inside)
            below = _cubic(of_ratio[low], k, inside - k)
            above = _cubic(of_ratio[low + 1], k, inside - k)
            ratio[f] = below + part * (above - below)
        if f < n_real:
            both = mean[f] + ratio[f]
            if max(mean[f], ratio[f], both) > strong:
                counts[0 if mean[f] >= max(ratio[f], both) else 1 if ratio[f] >= both else 2] += 1


@compiled()
def _cubic(values: Any, k: int, part: float) -> float:
    """Interpolate between k and k + 1 by the polynomial through four points."""
    if k == 0:
        a, b, c, d = values[0], values[1], values[2], values[3]
        x = part
    else:
        a, b, c, d = values[k - 1], values[k], values[k + 1], values[k + 2]
        x = part + 1.0
    return float(
        -a * (x - 1.0) * (x - 2.0) * (x - 3.0) / 6.0
        + 0.5 * b * x * (x - 2.0) * (x - 3.0)
        - 0.5 * c * x * (x - 1.0) * (x - 3.0)
        + d * x * (x - 1.0) * (x - 2.0) / 6.0
    )


@compiled()
def _mix(mean: Any, ratio: Any, weight: float, both: float, floor: float) -> None:
    """Put the evidence of all kinds together in the place of that of means; minus infinity below the floor."""
    for f in range(mean.shape[0]):
        m, v = mean[f], ratio[f]
        high = max(m, v, m + v)
        if high <= floor:
            mean[f] = -np.inf
            continue
        total = (1.0 - weight) * math.exp(m - high) + weight * (1.0 - both) * math.exp(v - high)
        value = high + math.log(total + weight * both * math.exp(m + v - high))
        mean[f] = value if value > floor else -np.inf
