r"""Probit regression with inclusion indicators (Lee et al., 2003; section 6, BPM).

.. math::
    y_i = 1 \iff z_i > 0, \quad z \mid \beta, \gamma \sim N(X_\gamma \beta_\gamma, I), \quad
    \beta_\gamma \mid \gamma \sim N(0, c\, (X_\gamma' X_\gamma)^{-1}), \quad \gamma_j \sim \text{Bernoulli}(\pi)

Where columns depend on each other the inverse is the generalised one, so that the prior knows their span only.
"""

from __future__ import annotations

import numpy as np

from bayesieve.data import LabelledMatrix
from bayesieve.rivals.feature_scores import FeatureScores, Rival
from bayesieve.rivals.mcmc import probit_sampler as kernels
from bayesieve.rivals.mcmc.chains import Progress, Schedule, diagnose, run_chains
from bayesieve.rivals.mcmc.designs import Design
from bayesieve.rivals.prescreen import on_strongest
from bayesieve.utils import BoolArray, FloatArray, IntArray, OptionError, check_between, check_choice, check_whole

INTERCEPTS = ("none", "flat")
ESTIMATES = ("rao-blackwell", "frequency")
_EXPECTED = 10.0  # features included a priori


class ProbitChain:
    """One chain of the sampler.

    Parameters
    ----------
    columns
        Features x samples, of mean 0 and mean square 1.
    is_second
        Samples of the second class.
    start
        Features included at first, as far as there is room: two fewer than samples.
    settings
        ``(pi, c, intercept, swaps)``.
    schedule
        Which sweeps are kept.
    rng
        Stream of random numbers.
    """

    def __init__(
        self,
        columns: FloatArray,
        is_second: BoolArray,
        start: IntArray,
        settings: tuple[float, float, bool, int],
        schedule: Schedule,
        rng: np.random.Generator,
    ) -> None:
        (p, n), (pi, c, intercept, swaps) = columns.shape, settings
        most = min(n - 2, p)
        z = np.abs(rng.standard_normal(n)) * np.where(is_second, 1.0, -1.0)
        with np.errstate(divide="ignore"):
            log_prior_odds = np.log(pi) - np.log1p(-pi)
        self.state = kernels.ProbitState(
            np.ascontiguousarray(columns), is_second, z,
            np.zeros((most, n)), np.zeros((most, most)), np.zeros(most), np.zeros(most, dtype=np.int64),
            np.full(p, -1), np.zeros(p), np.zeros(p), np.zeros(3, dtype=np.int64),
            np.array([log_prior_odds, c, intercept, swaps, most], dtype=np.float64),
            np.zeros(p), np.zeros(n), np.zeros(p), np.zeros(most),
        )  # fmt: skip
        kernels.refresh(self.state)
        for j in start[:most].tolist():
            kernels.flip(self.state, j)
        self._rng, self._schedule = rng, schedule
        self.sums = np.zeros((2, p))
        self.traces = np.zeros((schedule.draws, p), dtype=np.float32)
        self.sizes = np.zeros(schedule.draws)

    @property
    def included(self) -> BoolArray:
        """Features included now."""
        return np.not_equal(self.state.place, -1)

    def advance(self, n_sweeps: int) -> None:
        """Do some sweeps."""
        plan = self._schedule
        kernels.advance(
            self.state, self._rng, n_sweeps, plan.burn_in, plan.thin, self.sums, self.traces, self.sizes
        )


def probit_inclusion(  # noqa: PLR0913 - options are keywords
    matrix: LabelledMatrix,
    *,
    screen: str | None = "bd:300",
    draws: int = 5000,
    burn_in: int = 0,
    thin: int = 1,
    chains: int = 2,
    seed: int = 0,
    c: float = 100.0,
    pi: float | None = None,
    intercept: str = "none",
    swap: int = 0,
    start: int = 100,
    estimate: str = "rao-blackwell",
    progress: Progress | None = None,
    n_threads: int | None = None,
) -> FeatureScores:
    """Score features by their posterior probability to be in a probit regression.

    Parameters
    ----------
    matrix
        A table of two classes.
    screen
        The features to start from, such as ``bd:300``: the 300 strongest by the Bhattacharyya distance. None for
        all.
    draws, burn_in, thin, chains, seed
        Draws kept of each chain, sweeps before the first, sweeps per draw, number of chains, and their seed.
    c
        How much wider the prior of the coefficients is than their sampling distribution.
    pi
        Prior probability of a feature to be included; 10 over the number of features by default, at most 1/2.
    intercept
        ``"none"``, as published, or ``"flat"``: an intercept with a flat prior, for classes of different size.
    swap
        Exchanges of an included feature for another to be proposed after every sweep: they help where features are
        correlated.
    start
        The first chain starts from so many features with the largest Bhattacharyya distance, the others from
        as many at random, so that chains which agree have forgotten where they began.
    estimate
        ``"rao-blackwell"``: mean over sweeps of the probability to be included given all else, or ``"frequency"``:
        share of sweeps in which the feature was included; many are then tied at 0.
    progress
        Called with the sweeps done and to be done.
    n_threads
        Chains at a time; the draws do not depend on it.

    Returns
    -------
    FeatureScores
        The score is the probability to be included; both estimates, R-hat and effective sample size are in
        ``details``. Ties are broken by the Bhattacharyya distance. A warning says if chains disagree on strong
        features.
    """
    plan = Schedule(draws, burn_in, thin, chains, seed)
    c = check_between("c", c, 0.0, np.inf, open_ends=True)
    if pi is not None and check_between("pi", pi) == 1.0:
        raise OptionError("pi must be below 1: not every feature can be certain to be included.")
    check_choice("intercept", intercept, INTERCEPTS)
    check_choice("estimate", estimate, ESTIMATES)
    swap, start = check_whole("swap", swap), check_whole("start", start)

    def run(part: LabelledMatrix, _: FloatArray | None) -> FeatureScores:
        design = Design.of(part, "bpm")
        p = design.columns.shape[0]
        prior = min(_EXPECTED / p, 0.5) if pi is None else float(pi)
        settings = prior, c, intercept == "flat", swap
        members = [
            ProbitChain(design.columns, design.is_second, _start(design, start, k, rng), settings, plan, rng)
            for k, rng in enumerate(plan.generators())
        ]
        seconds = run_chains(members, plan.n_sweeps, n_threads=n_threads, progress=progress)
        total = plan.chains * (plan.n_sweeps - plan.burn_in)
        chance, frequency = np.sum([chain.sums for chain in members], axis=0) / total
        score = chance if estimate == "rao-blackwell" else frequency
        columns, numbers = diagnose("bpm", np.stack([chain.traces for chain in members]), score)
        details = {"inclusion": chance, "frequency": frequency, **columns}
        sizes = np.concatenate([chain.sizes for chain in members])
        diagnostics = {
            "chains": plan.chains, "sweeps": plan.n_sweeps, "seconds": seconds, **numbers,
            "pi": prior, "n_included": float(sizes.mean()), "n_included_most": int(sizes.max()),
        }  # fmt: skip
        return design.scores("bpm", score, details, diagnostics, part.feature_names)

    return on_strongest(matrix, screen, run, n_threads=n_threads)


def _start(design: Design, number: int, chain: int, rng: np.random.Generator) -> IntArray:
    """Features that a chain starts from."""
    if chain == 0:
        return np.argsort(-design.distance, kind="stable")[:number]
    return rng.permutation(design.distance.size)[:number]


RIVAL = Rival("bpm", "BPM", "values", probit_inclusion)
