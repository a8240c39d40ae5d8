"""The rival: kernels from all values, then a Bayes factor for every feature and a list of the strongest."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from bayesieve.data import LabelledMatrix, is_sparse
from bayesieve.posterior import ESTIMATE, estimate_share
from bayesieve.rivals.feature_scores import FeatureScores, Rival
from bayesieve.rivals.prescreen import on_strongest, parse_screen
from bayesieve.rivals.skbs.dictionary import choose_n_kernels, fit_kernels
from bayesieve.rivals.skbs.evidence import MOST_KERNELS, exact_log_bayes_factor
from bayesieve.rivals.skbs.options import AUTO, ESTIMATIONS, EVIDENCES, Options, Rule, check_n_kernels
from bayesieve.rivals.skbs.sampling import sample_kernels, sample_posterior
from bayesieve.rivals.skbs.shared_kernels import SharedKernels, check_support
from bayesieve.rivals.t_tests import warn_degenerate
from bayesieve.utils import (
    BoolArray,
    DataError,
    DataWarning,
    FloatArray,
    IntArray,
    LabelError,
    check_choice,
    check_whole,
    n_threads_for,
    warn,
)

_DICTIONARY_FEATURES, _DICTIONARY_VALUES = 1000, 250_000
_TILE_VALUES = 1 << 21
_LARGEST = 1e150  # squares of values beyond it would overflow
_FEW = 10  # features about which nothing is said in general
_MOST_BETWEEN, _UNLIKE = 0.5, 5.0  # share of variance between features; ratio of standard deviations
_WEAK = 0.5
_PASSES = 20  # over the values when kernels are estimated, at least


def shared_kernel_screening(  # noqa: PLR0913 - all that can be said about a screen
    matrix: LabelledMatrix,
    *,
    n_kernels: int | str = 2,
    rule: str = "cmnc:100",
    screen: str | None = AUTO,
    prior_probability: float | str = 0.5,
    standardise: bool = False,
    support: tuple[float, float] | None = None,
    evidence: str = AUTO,
    estimation: str = "em",
    draws: int = 5000,
    burn_in: int = 1000,
    seed: int = 0,
    n_threads: int | None = None,
) -> FeatureScores:
    r"""Score features by shared-kernel Bayesian screening (SKBS; Lock and Dunson, 2015).

    All features are mixtures of the same few Gaussian kernels, estimated from all values without labels. A marker
    has weights of its own in each class.

    Parameters
    ----------
    matrix
        Values of two classes on one common scale; NaN is a missing value.
    n_kernels
        Number of kernels, or ``"cv"``: of 2 to 7 the one under which values held out are most likely.
    rule
        The list: ``"cmnc:100"`` for the 100 strongest features, ``"mr:0.9"`` for those whose posterior probability
        exceeds 0.9.
    screen
        Features to work on, such as ``"bd:300"``; None for all. ``"auto"`` is all of them for two kernels without
        sampling, up to ``bd:5000`` for three, and up to ``bd:300`` where Gibbs sampling is used or may be.
    prior_probability
        Share of features believed to be markers, or ``"estimate"`` for the share that the Bayes factors suggest.
    standardise
        Bring every feature to mean 0 and variance 1 over all samples first. Weights then hardly vary among
        features, so that Bayes factors shrink towards 1: a ranking remains, of which a warning tells.
    support
        Two ends at which kernels are cut off, such as ``(0, 1)``.
    evidence
        ``"exact"`` for integrals by quadrature (up to three kernels), ``"gibbs"``, or ``"averaged"`` for the
        sampler of the released code, which is slightly biased. ``"auto"`` is exact if it can be.
    estimation
        Of the kernels: ``"em"`` or ``"gibbs"`` (1,000 draws).
    draws, burn_in
        Of Gibbs sampling, by feature.
    seed
        Of random numbers, and of the features that the kernels are estimated from.

    Returns
    -------
    FeatureScores
        The score is the log Bayes factor of a difference. ``details`` hold the posterior ``probability``, with its
        ``probability_error`` if it was sampled; ``diagnostics`` the kernels. A feature that is constant, or has no
        value in a class, has no score; a warning counts them.
    """
    asked = Options(
        check_n_kernels(n_kernels), Rule.parse(rule), prior_probability, standardise, check_support(support),
        check_choice("evidence", evidence, EVIDENCES), check_choice("estimation", estimation, ESTIMATIONS),
        check_whole("draws", draws, 1), check_whole("burn_in", burn_in), check_whole("seed", seed),
    )  # fmt: skip
    _check_classes(matrix)
    chosen = _strongest(screen, matrix.n_features, asked)
    found = on_strongest(matrix, chosen, lambda part, _: _score(part, asked, n_threads), n_threads=n_threads)
    return replace(found, diagnostics={**found.diagnostics, "screen": chosen})


def _check_classes(matrix: LabelledMatrix) -> None:
    classes, sizes = matrix.labels.classes, matrix.labels.counts.tolist()
    if len(classes) != 2:
        raise LabelError(f"skbs compares two classes, not {len(classes)}.")
    for label, size in zip(classes, sizes, strict=True):
        if size < 2:
            raise LabelError(
                f"skbs needs at least 2 samples of each class, but class {label!r} has {size}. Merge classes or "
                "add samples."
            )


def _strongest(screen: str | None, n_features: int, asked: Options) -> str | None:
    """Return the features to start from: as asked, or as many as the way of working allows."""
    if screen != AUTO:
        if screen is not None:
            parse_screen(screen)
        return screen
    most = n_features
    if asked.n_kernels == "cv" or asked.route(int(asked.n_kernels)) != "exact":
        most = 300
    elif int(asked.n_kernels) == MOST_KERNELS:
        most = 5000
    return None if n_features <= most else f"bd:{most}"


def _score(matrix: LabelledMatrix, asked: Options, n_threads: int | None) -> FeatureScores:
    table = _Table(matrix, asked)
    threads = n_threads_for(n_threads, matrix.n_samples * matrix.n_features)
    kernels, diagnostics = _estimate(table.sample(), asked, n_threads)
    route = asked.route(kernels.n_kernels)
    first_prior = 0.5 if asked.prior_probability == ESTIMATE else float(asked.prior_probability)
    score = np.full(matrix.n_features, np.nan)
    details = {} if route == "exact" else {"probability_error": np.full(matrix.n_features, np.nan)}
    constant, lacking = np.zeros((2, matrix.n_features), dtype=bool)
    seeds = np.random.SeedSequence(asked.seed, spawn_key=(3,)).generate_state(len(table.tiles))
    for (lo, hi), seed in zip(table.tiles, seeds.tolist(), strict=True):
        rows = table.rows(np.arange(lo, hi))
        constant[lo:hi], lacking[lo:hi] = _constant(rows), table.lacking(rows)
        kept = ~(constant[lo:hi] | lacking[lo:hi])
        places, rows = np.arange(lo, hi)[kept], rows[kept]
        if route == "exact":
            score[places], diagnostics["evidence_error"] = exact_log_bayes_factor(
                rows, table.n_first, kernels, n_threads=threads
            )
            continue
        drawn = sample_posterior(
            rows, table.n_first, kernels, prior_probability=first_prior, draws=asked.draws, burn_in=asked.burn_in,
            averaged=route == "averaged", seed=seed, n_threads=threads,
        )  # fmt: skip
        score[places], details["probability_error"][places] = drawn.log_bayes_factor, drawn.error
    warn_degenerate(
        matrix.n_features,
        (constant, "constant in all samples, without a score"),
        (lacking & ~constant, "without a value in a class, without a score"),
    )
    _warn_of_blindness(score, kernels)
    share = first_prior
    if asked.prior_probability == ESTIMATE:
        known = score[~np.isnan(score)]
        least = 0.5 / max(known.size, 1)
        share = float(np.clip(estimate_share(known), least, 1.0 - least))
    with np.errstate(over="ignore"):
        probability = 1.0 / (1.0 + np.exp(-(score + np.log(share) - np.log1p(-share))))
    return FeatureScores(
        "skbs",
        score,
        matrix.feature_names,
        details={"probability": probability, **details},
        selected=asked.rule.select(score, probability),
        diagnostics={**diagnostics, "evidence": route, "prior_probability": share},
    )


def _estimate(rows: FloatArray, asked: Options, most_threads: int | None) -> tuple[SharedKernels, dict[str, Any]]:
    """Estimate the kernels, and their number if that is asked for."""
    n_threads = n_threads_for(most_threads, _PASSES * rows.size)
    diagnostics: dict[str, Any] = {"n_dictionary_features": rows.shape[0]}
    number, support = asked.n_kernels, asked.support
    if not asked.standardise:
        _warn_of_scales(rows)
    if isinstance(number, str):
        number, scores = choose_n_kernels(rows, support=support, seed=asked.seed, n_threads=n_threads)
        diagnostics["held_out_log_density"] = scores
    if asked.estimation == "gibbs":
        kernels = sample_kernels(rows, number, support=support, seed=asked.seed, n_threads=n_threads)
    else:
        fitted = fit_kernels(rows, number, support=support, n_threads=n_threads)
        kernels = fitted.kernels
        diagnostics["converged"] = fitted.converged
        if not fitted.converged:
            warn(
                DataWarning,
                f"The {number} kernels of skbs have not settled: the data tell them apart badly. Take fewer "
                "kernels, or look at those of estimation='gibbs'.",
            )
    diagnostics |= {
        "n_kernels": kernels.n_kernels,
        "kernel_mean": kernels.mean.tolist(),
        "kernel_sd": kernels.sd.tolist(),
        "alpha": kernels.alpha.tolist(),
    }
    return kernels, diagnostics


def _warn_of_scales(rows: FloatArray) -> None:
    """Warn of features on scales so different that a kernel tells features apart, and not samples."""
    if rows.shape[0] < _FEW:
        return
    sd, mean = np.nanstd(rows, axis=1), np.nanmean(rows, axis=1)
    between = float(mean.var() / (mean.var() + np.mean(sd**2)))
    narrow, wide = np.quantile(sd, [0.1, 0.9])
    if between > _MOST_BETWEEN or wide > _UNLIKE * narrow:
        warn(
            DataWarning,
            f"skbs takes all features to be on one scale, but here {between:.0%} of the variance of all values "
            "lies between features, and the standard deviations of the middle 80% differ by a factor of "
            f"{wide / narrow:.1f}. Kernels then tell features apart rather than samples, and differences within "
            "a kernel are missed. Take logarithms of intensities or counts, or choose a method that looks at each "
            "feature by itself, such as 'obf'; standardise=True removes the scales, but often the evidence too.",
        )


def _warn_of_blindness(score: FloatArray, kernels: SharedKernels) -> None:
    """Warn where weights vary so little among features that the model expects no difference of classes either."""
    if kernels.n_kernels == 1 or score.size < _FEW or np.isnan(score).all():
        return
    if np.nanmax(score) < _WEAK and np.nanmedian(np.abs(score)) < 0.2 * _WEAK:
        warn(
            DataWarning,
            f"No Bayes factor of skbs exceeds {np.exp(np.nanmax(score)):.2g}: its kernels are nearly the same, or "
            "their weights hardly vary among features, so that the model expects no difference of classes either. "
            "The ranking may still say something, posterior probabilities do not.",
        )


class _Table:
    """Values as rows of features, the samples of the first class first."""

    def __init__(self, matrix: LabelledMatrix, asked: Options) -> None:
        self._values = matrix.values.tocsc() if is_sparse(matrix.values) else matrix.values
        self._order = np.argsort(matrix.labels.codes, kind="stable")
        self._asked = asked
        self.n_features, self.n_samples = matrix.n_features, matrix.n_samples
        self.n_first = int(matrix.labels.counts[0])
        width = max(1, _TILE_VALUES // self.n_samples)
        self.tiles = [(lo, min(lo + width, self.n_features)) for lo in range(0, self.n_features, width)]

    def rows(self, places: IntArray) -> FloatArray:
        """Some features; standardised if that is asked for."""
        block = self._values[:, places]
        block = block.toarray() if is_sparse(block) else block
        rows = np.ascontiguousarray(np.asarray(block, dtype=np.float64)[self._order].T)
        self._check(rows)
        if self._asked.standardise:
            usable = ~_constant(rows)
            part = rows[usable]
            part -= np.nanmean(part, axis=1, keepdims=True)
            rows[usable] = part / np.nanstd(part, axis=1, keepdims=True)
        return rows

    def sample(self) -> FloatArray:
        """Random features for the dictionary, those that vary."""
        most = min(_DICTIONARY_FEATURES, max(_DICTIONARY_VALUES // self.n_samples, 100))
        order = np.random.default_rng(np.random.SeedSequence(self._asked.seed, spawn_key=(2,))).permutation(
            self.n_features
        )
        found: list[FloatArray] = []
        for lo in range(0, order.size, most):
            rows = self.rows(np.sort(order[lo : lo + most]))
            found.append(rows[~_constant(rows)])
            if sum(map(len, found)) >= most:
                break
        kept = np.concatenate(found)[:most]
        if not kept.size:
            raise DataError(
                f"All {self.n_features} features are constant, so that skbs has nothing to estimate kernels from."
            )
        return kept

    def lacking(self, rows: FloatArray) -> BoolArray:
        """Tell which features have no value in a class."""
        absent = np.isnan(rows)
        return np.asarray(absent[:, : self.n_first].all(axis=1) | absent[:, self.n_first :].all(axis=1))

    def _check(self, rows: FloatArray) -> None:
        if bool((np.abs(rows) > _LARGEST).any()):
            raise DataError(
                f"{int((np.abs(rows) > _LARGEST).sum())} values are infinite or beyond {_LARGEST:g}, which skbs "
                "cannot use. Leave them out, or change the unit."
            )
        if self._asked.support is not None:
            low, high = self._asked.support
            outside = int(((rows < low) | (rows > high)).sum())
            if outside:
                raise DataError(
                    f"{outside} values lie outside the support from {low:g} to {high:g}. Give ends that hold "
                    "all values, or leave support out."
                )


def _constant(rows: FloatArray) -> BoolArray:
    """Tell which features have one value only, or none."""
    with np.errstate(invalid="ignore"):
        absent = np.isnan(rows)
        least = np.where(absent, np.inf, rows).min(axis=1)
        most = np.where(absent, -np.inf, rows).max(axis=1)
    return np.asarray(least >= most)


RIVAL = Rival("skbs", "SKBS", "values", shared_kernel_screening)
