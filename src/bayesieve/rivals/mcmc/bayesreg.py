r"""Bayesian regression with shrinkage priors (Makalic and Schmidt, 2016; section 6, BayesReg).

.. math::
    z_i = b_0 + x_i' b + e_i, \quad e_i \sim N(0, \sigma^2 / \omega_i), \quad
    b_j \sim N(0, \sigma^2 \tau^2 \lambda_j^2)

The columns of X have mean 0 and length 1. Linear: z are the labels 0 and 1, :math:`\omega = 1`,
:math:`p(\sigma^2) \propto 1/\sigma^2`. Logit: :math:`\sigma^2 = 1`, :math:`\omega_i \sim PG(1, b_0 + x_i' b)`,
:math:`z_i = (y_i - 1/2) / \omega_i`. LASSO: :math:`\lambda_j^2 \sim \text{Exp}(1)`,
:math:`\tau^2 \sim IG(1, 1)`. Horseshoe: :math:`\lambda_j, \tau \sim C^+(0, 1)`, each as a mixture of two inverse
gamma distributions. The prior of :math:`b_0` is flat.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from bayesieve.data import LabelledMatrix
from bayesieve.rivals.feature_scores import FeatureScores, Rival
from bayesieve.rivals.mcmc.chains import Progress, Schedule, diagnose, run_chains
from bayesieve.rivals.mcmc.designs import Design
from bayesieve.rivals.mcmc.polya_gamma import laplace_scales, polya_gamma
from bayesieve.rivals.prescreen import on_strongest
from bayesieve.utils import BoolArray, FloatArray, check_choice, check_whole, compiled

LINKS, PRIORS = ("linear", "logit"), ("l1", "hs")
_LEAST, _MOST = 1e-10, 1e10  # of local scales
_TINY = 1e-300


@compiled()
def _solve_both(lower: Any, right: Any, drawn: Any, mean: Any) -> None:
    """Solve LL' mean = right and L' drawn = L' mean + drawn, in place: quicker than LAPACK with its threads."""
    p = right.size
    for i in range(p):
        total = right[i]
        for k in range(i):
            total -= lower[i, k] * mean[k]
        mean[i] = total / lower[i, i]
        drawn[i] += mean[i]
    for i in range(p - 1, -1, -1):
        mean[i] /= lower[i, i]
        drawn[i] /= lower[i, i]
        for k in range(i):
            mean[k] -= mean[i] * lower[i, k]
            drawn[k] -= drawn[i] * lower[i, k]


class RegressionChain:
    """One chain of the sampler.

    Parameters
    ----------
    columns
        Features x samples, of mean 0 and length 1.
    is_second
        Samples of the second class.
    link, prior
        ``"linear"`` or ``"logit"``; ``"l1"`` or ``"hs"``.
    schedule
        Which sweeps are kept.
    rng
        Stream of random numbers.
    among_samples
        Solve systems among samples (Bhattacharya et al., 2016) or among features (Rue, 2001); by default whichever
        are fewer. Both draw from the same distribution.
    intercept_precision, noise_prior
        Proper priors instead of the flat ones: of the intercept, and shape and scale of the noise variance.
    """

    def __init__(
        self,
        columns: FloatArray,
        is_second: BoolArray,
        link: str,
        prior: str,
        schedule: Schedule,
        rng: np.random.Generator,
        *,
        among_samples: bool | None = None,
        intercept_precision: float = 0.0,
        noise_prior: tuple[float, float] = (0.0, 0.0),
    ) -> None:
        p, n = columns.shape
        self.columns, self.labels = columns, is_second.astype(np.float64)
        self.link, self.prior, self.plan, self.rng = link, prior, schedule, rng
        self.among_samples = p >= n if among_samples is None else among_samples
        self._intercept_precision, self._noise_prior = intercept_precision, noise_prior
        self._gram = columns @ columns.T if link == "linear" and not self.among_samples else None
        self.b: FloatArray = np.asarray(rng.standard_normal(p))
        self.b0 = 0.0
        self.mean = np.zeros(p)  # of b given all else
        self.noise = self.tau = 1.0  # variances
        self.scales, self.omega = np.ones(p), np.ones(n)  # lambda squared; weights
        self._nu, self._xi = np.ones(p), 1e-3
        self.predictor: FloatArray = np.dot(self.b, columns)
        size = n if self.among_samples else p
        self._scaled, self._system = (
            np.empty((p, n)),
            np.empty((size, size)),
        )  # kept: new pages cost more than sums
        self.n_done = 0
        self.draws = np.zeros((schedule.draws, p))
        self.mean_sum = np.zeros(p)

    def advance(self, n_sweeps: int) -> None:
        """Do some sweeps."""
        for _ in range(n_sweeps):
            self.sweep()
            self.n_done += 1
            kept, rest = divmod(self.n_done - self.plan.burn_in, self.plan.thin)
            if kept > 0 and rest == 0:
                self.draws[kept - 1] = self.b
                self.mean_sum += self.mean

    def sweep(self) -> None:
        """Draw everything once."""
        self.draw_intercept()
        self.draw_coefficients()
        if self.link == "linear":
            self.draw_noise()
        else:
            polya_gamma(self.rng, self.predictor + self.b0, self.omega)
            np.maximum(self.omega, _TINY, out=self.omega)
        self.draw_global_scale()
        self.draw_local_scales()

    def draw_intercept(self) -> None:
        """Draw the intercept given the coefficients."""
        weight = self.omega.sum() / self.noise + self._intercept_precision
        total = (self._weighted_response() - self.omega * self.predictor).sum() / self.noise
        self.b0 = total / weight + self.rng.standard_normal() / np.sqrt(weight)

    def draw_coefficients(self) -> None:
        r"""Draw all coefficients at once.

        With :math:`T = S X' \Omega^{1/2} / \sigma`, where S holds the prior standard deviations, b = S g has
        :math:`g \sim N((TT' + I)^{-1} T a, (TT' + I)^{-1})`: never ill-conditioned, however small the scales.
        """
        spread = np.sqrt(self.tau * self.scales)  # times sigma, which cancels in T
        root = np.sqrt(self.omega)
        a = (self._weighted_response() - self.omega * self.b0) / (root * np.sqrt(self.noise))
        if self.among_samples:
            drawn, mean = self._among_samples(spread, root, a)
        else:
            drawn, mean = self._among_features(spread, root, a)
        spread *= np.sqrt(self.noise)
        self.b, self.mean = spread * drawn, spread * mean
        self.predictor = np.dot(self.b, self.columns)

    def _among_features(
        self, spread: FloatArray, root: FloatArray, a: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        if self._gram is not None:
            np.multiply(self._gram, spread, out=self._system)
            self._system *= spread[:, None]
        else:
            scaled = self._scale(spread, root)
            np.matmul(scaled, scaled.T, out=self._system)
        self._system.flat[:: spread.size + 1] += 1.0
        try:
            lower = np.linalg.cholesky(self._system)
        except np.linalg.LinAlgError:  # scales so far apart that products lose their digits
            stacked = np.vstack([self._scale(spread, root).T, np.eye(spread.size)])
            lower = np.ascontiguousarray(np.transpose(np.linalg.qr(stacked, mode="r")))
        right = spread * (self.columns @ (root * a))
        drawn, mean = self.rng.standard_normal(right.size), np.empty(right.size)
        _solve_both(lower, right, drawn, mean)
        return drawn, mean

    def _among_samples(self, spread: FloatArray, root: FloatArray, a: FloatArray) -> tuple[FloatArray, FloatArray]:
        scaled = self._scale(spread, root)
        np.matmul(scaled.T, scaled, out=self._system)
        self._system.flat[:: root.size + 1] += 1.0
        prior = self.rng.standard_normal(spread.size)
        response = prior @ scaled + self.rng.standard_normal(root.size)
        solved = np.linalg.solve(self._system, np.column_stack([a - response, a]))
        back = scaled @ solved
        return prior + back[:, 0], back[:, 1]

    def _scale(self, spread: FloatArray, root: FloatArray) -> FloatArray:
        """Return the matrix T, features x samples."""
        np.multiply(self.columns, spread[:, None], out=self._scaled)
        self._scaled *= root
        return self._scaled

    def draw_noise(self) -> None:
        """Draw the variance of the noise."""
        p, n = self.columns.shape
        rest = self.labels - self.b0 - self.predictor
        shape, scale = self._noise_prior
        scale += 0.5 * float(rest @ rest + (self.b / (self.tau * self.scales)) @ self.b)
        self.noise = max(float(scale / self.rng.standard_gamma(0.5 * (n + p) + shape)), _TINY)

    def draw_global_scale(self) -> None:
        """Draw the scale that all coefficients share."""
        p, total = self.b.size, 0.5 * (self.b / (self.noise * self.scales)) @ self.b
        if self.prior == "l1":
            tau = (1.0 + total) / self.rng.standard_gamma(0.5 * p + 1.0)
        else:
            tau = (1.0 / self._xi + total) / self.rng.standard_gamma(0.5 * (p + 1.0))
            self._xi = float((1.0 + 1.0 / tau) / self.rng.standard_exponential())
        self.tau = float(np.clip(tau, 1e-30, 1e30))

    def draw_local_scales(self) -> None:
        """Draw the scale of every coefficient."""
        squares = self.b * self.b / (self.tau * self.noise)
        if self.prior == "l1":
            laplace_scales(self.rng, squares, self.scales)
        else:
            self.scales = (1.0 / self._nu + 0.5 * squares) / self.rng.standard_exponential(squares.size)
        np.clip(self.scales, _LEAST, _MOST, out=self.scales)
        if self.prior == "hs":
            self._nu = (1.0 + 1.0 / self.scales) / self.rng.standard_exponential(squares.size)

    def _weighted_response(self) -> FloatArray:
        """The response times its weights."""
        return self.labels if self.link == "linear" else self.labels - 0.5


def shrinkage_regression(
    matrix: LabelledMatrix,
    link: str,
    prior: str,
    plan: Schedule,
    *,
    screen: str | None = "bd:300",
    progress: Progress | None = None,
    n_threads: int | None = None,
) -> FeatureScores:
    """Score features by the t statistic of their coefficient in a Bayesian regression.

    Parameters
    ----------
    matrix
        A table of two classes.
    link
        ``"linear"``: least squares on labels 0 and 1. ``"logit"``: logistic regression.
    prior
        ``"l1"``: Laplace, as in the LASSO. ``"hs"``: horseshoe.
    plan
        Chains and draws.
    screen, progress, n_threads
        As for :func:`bayesieve.rivals.mcmc.bpm.probit_inclusion`.

    Returns
    -------
    FeatureScores
        The score is the absolute value of the posterior mean over the posterior standard deviation: the mean of
        conditional means over draws, the deviation of the draws. Both are in ``details``, per unit of the feature,
        with R-hat and the effective sample size.
    """
    check_choice("link", link, LINKS)
    check_choice("prior", prior, PRIORS)
    name = f"bayesreg-{link}-{prior}"

    def run(part: LabelledMatrix, _: FloatArray | None) -> FeatureScores:
        design = Design.of(part, name)
        length = np.sqrt(part.n_samples)
        columns = design.columns / length
        members = [RegressionChain(columns, design.is_second, link, prior, plan, rng) for rng in plan.generators()]
        seconds = run_chains(members, plan.n_sweeps, n_threads=n_threads, progress=progress)
        traces = np.stack([chain.draws for chain in members])
        mean = np.sum([chain.mean_sum for chain in members], axis=0) / (plan.chains * plan.draws)
        deviation = traces.reshape(-1, mean.size).std(axis=0, ddof=1)
        with np.errstate(divide="ignore", invalid="ignore"):
            t = np.where(deviation > 0, mean / deviation, 0.0)
        columns_found, numbers = diagnose(name, traces, np.abs(t))
        unit = design.spread * length
        details = {"t": t, "coefficient": mean / unit, "deviation": deviation / unit, **columns_found}
        diagnostics = {"chains": plan.chains, "sweeps": plan.n_sweeps, "seconds": seconds, **numbers}
        return design.scores(name.replace("-", "_"), np.abs(t), details, diagnostics, part.feature_names)

    return on_strongest(matrix, screen, run, n_threads=n_threads)


def _variant(link: str, prior: str) -> Callable[..., FeatureScores]:
    """Return the method of a link and a prior."""

    def run(
        matrix: LabelledMatrix,
        *,
        screen: str | None = "bd:300",
        draws: int = 1000,
        burn_in: int = 1000,
        thin: int = 5,
        chains: int = 2,
        seed: int = 0,
        progress: Progress | None = None,
        n_threads: int | None = None,
    ) -> FeatureScores:
        plan = Schedule(draws, burn_in, thin, chains, seed)
        return shrinkage_regression(
            matrix, link, prior, plan, screen=screen, progress=progress, n_threads=n_threads
        )

    return run


def _rival(link: str, prior: str) -> Rival:
    titles: dict[str, Any] = {"l1": "LASSO", "hs": "horseshoe"}
    return Rival(
        f"bayesreg-{link}-{prior}", f"BayesReg ({link}, {titles[prior]})", "values", _variant(link, prior)
    )


def all_variants(
    matrix: LabelledMatrix,
    *,
    screen: str | None = "bd:300",
    draws: int = 1000,
    burn_in: int = 1000,
    thin: int = 5,
    chains: int = 2,
    seed: int = 0,
    n_selected: int = 100,
    n_threads: int | None = None,
) -> FeatureScores:
    """Score features by the mean of all four variants, whose own lists a study may choose from.

    Parameters
    ----------
    matrix
        A table of two classes without missing values.
    screen, draws, burn_in, thin, chains, seed
        As for one variant.
    n_selected
        Length of the list of each variant.
    """
    plan, found = Schedule(draws, burn_in, thin, chains, seed), {}
    for link, prior in itertools.product(LINKS, PRIORS):
        found[f"{link}-{prior}"] = shrinkage_regression(
            matrix, link, prior, plan, screen=screen, n_threads=n_threads
        )
    lists = np.zeros((len(found), matrix.n_features), dtype=np.bool_)
    for place, scores in zip(lists, found.values(), strict=True):
        first = scores.ranking[: check_whole("n_selected", n_selected, 1)]
        place[first[~np.isnan(scores.score[first])]] = True
    one = next(iter(found.values()))
    return replace(
        one,
        method="bayesreg",
        score=np.mean([scores.score for scores in found.values()], axis=0),
        details={f"score_{name.replace('-', '_')}": scores.score for name, scores in found.items()},
        diagnostics={
            **{name: scores.diagnostics for name, scores in found.items()},
            "n_screened": one.diagnostics.get("n_screened"),
            "list_names": tuple(found),
            "lists": lists,
        },
    )


ALL = Rival("bayesreg", "BayesReg (mean of four)", "values", all_variants)
LINEAR_L1, LINEAR_HS = _rival("linear", "l1"), _rival("linear", "hs")
LOGIT_L1, LOGIT_HS = _rival("logit", "l1"), _rival("logit", "hs")
