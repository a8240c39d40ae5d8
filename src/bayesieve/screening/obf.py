"""screen(): the posterior of every feature from a table, a file or sufficient statistics."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from bayesieve.data import Label
from bayesieve.models import (
    Compared,
    Comparison,
    GaussianModel,
    Model,
    Part,
    Patterns,
    PatternShares,
    compare,
    warn_unless_semi_proper,
)
from bayesieve.posterior import (
    ESTIMATE,
    Differences,
    FeaturePosterior,
    Finding,
    check_log_odds,
    expected_under_null,
    no_shuffles,
)
from bayesieve.screening.degenerate import DegeneratePolicy, prepare, settle
from bayesieve.screening.designs import absence, of_absence
from bayesieve.screening.inputs import ScreenInput, check_model, screen_input
from bayesieve.screening.shuffles import (
    Progress,
    believe_estimate,
    number_of_shuffles,
    shuffle_labels,
)
from bayesieve.screening.value_advice import values_unjudged, warn_about_values
from bayesieve.stats import Moments, check_resolution, largest_counts
from bayesieve.utils import (
    JEFFREYS,
    CalibrationWarning,
    OptionError,
    PriorWarning,
    Wording,
    check_choice,
    option,
    warn,
)

_FEW_SAMPLES = 5
_UNTIL_ESTIMATED = 0.01  # prior probability before it is estimated
_FEW_IN_A_BLOCK, _MANY_UNDER_NULL = 15, 0.005
_FITTING_SCALE = (0.02, 200.0)  # pooled variance over the prior's, beyond which PP-like priors mislead


def advise(posterior: FeaturePosterior) -> None:
    """Warn of tiny classes, odd prior ratios and a scale the prior does not fit."""
    model: Any = posterior.model
    if not model.supports("moments") or model.supports("effect-sizes"):
        return
    moments, sizes = posterior.moments, largest_counts(posterior.statistics)
    smallest = min(sizes)
    if model.is_proper:
        _warn_about_scale(model, moments)
        return
    blocks = posterior.block_evidence
    if blocks is not None and blocks.block_model == "own" and len(sizes) > 1:
        _warn_about_blocks(posterior, len(blocks.names))
        return
    if len(sizes) == 1:  # differences within pairs
        return
    if model.prior_ratio is not None and callable(model.prior_ratio):
        warn_unless_semi_proper(model.prior_ratio, *sizes)
    if 0 < smallest < _FEW_SAMPLES:
        under_null = expected_under_null(posterior, 0.0)
        label = moments.classes[sizes.index(smallest)]
        warn(
            CalibrationWarning,
            f"Class {label!r} has only {smallest} samples. With an improper prior, about {under_null:,.0f} of "
            f"{posterior.n_features:,} features would exceed a probability of 0.5 under the global null (no "
            "feature differs, Gaussian values).",
            hint=("Prefer ", Wording("FixedSize(n)", "--n-selected N"), ", a proper prior, or more samples."),
            kind="small-class",
        )


def _warn_about_blocks(posterior: FeaturePosterior, n_blocks: int) -> None:
    """Small blocks under an improper prior: evidence of noise adds up, and so does the arbitrary ratio."""
    comparison = posterior.comparison
    smallest = min(min(largest_counts(part.statistics)) for part in getattr(comparison, "parts", ()))
    if smallest >= _FEW_IN_A_BLOCK or comparison is None:
        return
    drawn = comparison.null_log_bayes_factor(np.random.default_rng(0))
    share = 0.0 if drawn is None else float(np.mean(drawn > -np.asarray(posterior.prior_log_odds)))
    if share > _MANY_UNDER_NULL:
        warn(
            CalibrationWarning,
            f"{n_blocks} blocks, some with only {smallest} samples of a class, under an improper prior: about "
            f"{share:.1%} of the features would exceed a probability of 0.5 under the global null (no feature "
            "differs, Gaussian values), because the prior ratio enters once per block.",
            hint=("Prefer ", option("block_model", "shift"), ", larger blocks or a proper prior."),
            kind="small-blocks",
        )


def _warn_about_scale(model: GaussianModel, moments: Moments) -> None:
    prior = model.pooled_prior
    if np.ndim(prior.variance_scale) or np.ndim(prior.variance_dof):
        return
    dof = float(np.asarray(prior.variance_dof))
    typical = float(np.asarray(prior.variance_scale)) / (dof - 2.0 if dof > 2.0 else dof)
    variance = moments.pool().variance[0]
    median = float(np.nanmedian(variance)) if np.isfinite(variance).any() else typical
    if not _FITTING_SCALE[0] * typical <= median <= _FITTING_SCALE[1] * typical:
        warn(
            PriorWarning,
            f"The median variance of the features is {median:.3g}, but this proper prior expects about "
            f"{typical:.3g}. Probabilities will mislead: rescale the data, ",
            Wording("set variance_scale (and mean_strength) to fit", "give a --prior file whose scale fits"),
            ", or use ",
            JEFFREYS,
            ", which has no scale.",
            kind="prior-scale",
        )


def screen(  # noqa: PLR0913 - all that can be said about a study
    X: Any,
    y: Any = None,
    *,
    model: Model | None = None,
    prior_probability: npt.ArrayLike | str = 0.01,
    classes: Sequence[Label] | None = None,
    feature_names: Sequence[str] | None = None,
    patterns: Any = "any",
    blocks: Any = None,
    block_model: str = "own",
    pairs: Any = None,
    exposures: Any = None,
    informative_missing: bool = False,
    missing: str = "raise",
    degenerate: str = "floor",
    resolution: npt.ArrayLike | None = None,
    n_threads: int | None = None,
    shuffles: int | str | None = "auto",
    seed: Any = 0,
    progress: Progress | None = None,
) -> FeaturePosterior:
    r"""Find, for every feature, how probable it is that the classes differ (in mean or variance, if Gaussian).

    The data are read once. Log-odds are exact, equation (2.18): prior log-odds plus the log Bayes
    factor of "each class has its own mean and variance" against "all classes share them". With more
    than two classes, "some classes differ" is a sum over the ways in which they may.

    Parameters
    ----------
    X
        Samples x features (array, pandas or polars frame, CSR or CSC matrix), what
        :func:`read_table` returns, or ready statistics such as :class:`Moments`; ``y``, ``missing`` and
        ``n_threads`` do not apply to the latter two.
    y
        One class label per sample; two classes or more.
    model
        Likelihood and priors; :class:`CalibratedModel` by default, the paper's is
        ``GaussianModel.jeffreys(prior_ratio=0.1)``.
    prior_probability
        Share of features believed to be markers beforehand, or one probability per feature. ``"estimate"``: the
        share that the Bayes factors suggest, as far as it exceeds what shuffled labels suggest (the 95% point),
        one feature at least and half of them at most; no feature is listed then whose own evidence speaks
        against it.
    classes
        Order of the classes; sorted by default. Differences are second minus first.
    feature_names
        Names; taken from a data frame, otherwise ``x0``, ``x1``, ...
    patterns
        For more than two classes, in which ways they may differ: ``"any"`` (all, for at most 8 classes),
        ``"distinct"`` (all from each other), ``"one-versus-rest"``, or given ones such as
        ``"control | mild, severe; control, mild | severe"``; see
        :meth:`bayesieve.models.patterns.Patterns.of`.
    blocks
        Batch, site or plate of each sample (for ready statistics: a mapping from names to statistics).
        Every block has its own means and variances and shares whether the feature is a marker.
    block_model
        ``"own"``, or ``"shift"``: every block has its own location, and blocks share the difference between
        the two classes and their variances, which keeps more power.
    pairs
        Pair (patient) of each sample: the differences within pairs are compared with 0. They see the mean only.
    exposures
        For counts: a positive number per sample, how long or how deeply it was looked at.
    informative_missing
        Count a different share of missing values in the classes as evidence, too; use with
        ``missing="omit"``.
    missing
        ``"raise"``: NaN is an error. ``"omit"``: every feature uses the values it has, which is
        exact if values are missing at random.
    degenerate
        What to do with features without variance where the prior needs it: ``"floor"`` puts in the
        rounding variance of the data, ``"exclude"`` leaves their log Bayes factor at 0, ``"raise"``
        is an error.
    resolution
        Step to which values are rounded, in the units of the data (a number or one per feature).
        Adds the rounding variance ``resolution**2 / 12`` to every group, after which equal values are
        no difficulty; too few values still are.
    n_threads
        Threads, all cores by default; the result does not depend on it.
    shuffles
        How often the screen is repeated with the labels of the samples shuffled (within blocks; between the
        samples of a pair), to see what it lists when the classes mean nothing: 20 to 100 times by the size of the
        table, or a number of times, 0 for never. Ready statistics hold no samples to shuffle.
    seed
        Of the shuffles, for NumPy's generator.
    progress
        Called with the number of shuffles done and their total.

    Returns
    -------
    FeaturePosterior
        Log-odds and all that follows from them; hand it to a rule such as ``MinimalRisk(0.5)``.

    Examples
    --------
    >>> import numpy as np
    >>> import bayesieve as bs
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(40, 1000))
    >>> X[20:, 0] += 3.0        # feature 0 differs in mean
    >>> X[20:, 1] *= 5.0        # feature 1 differs in variance
    >>> y = ["control"] * 20 + ["case"] * 20
    >>> posterior = bs.screen(X, y, classes=("control", "case"), prior_probability=0.002)
    >>> bs.MinimalRisk(0.5).select(posterior).names
    ('x1', 'x0')
    """
    model = check_model(model)
    found = screen_input(X, y, model, classes, feature_names, missing, n_threads, blocks, pairs, exposures)
    estimated = isinstance(prior_probability, str) and prior_probability == ESTIMATE
    if estimated and (found.shufflable is None or shuffles in (0, None, False)):
        raise no_shuffles()
    believed_share = _UNTIL_ESTIMATED if estimated else prior_probability
    prior_log_odds = check_log_odds(believed_share, found.statistics.n_features)
    handling = DegeneratePolicy(degenerate, resolution, found.table, found.names)

    def compare_data(believed: Model, data: ScreenInput) -> Any:
        ready = believed.estimate(_parts_of(data, resolution))
        policy = "floor" if degenerate == "raise" else degenerate
        quiet = replace(handling, policy=policy, table=data.table, warns=False)
        return _compare(
            ready, data, patterns, block_model, informative_missing, quiet, detail=False
        ).log_bayes_factor

    believed, model = model, model.estimate(_parts_of(found, resolution))
    result = _compare(model, found, patterns, block_model, informative_missing, handling)
    step = 0.0 if resolution is None else check_resolution(resolution, found.statistics.n_features)
    posterior = FeaturePosterior(
        result.log_bayes_factor, prior_log_odds, found.names, result.flags, found.statistics, model, step,
        result.comparison, result.findings,
    )  # fmt: skip
    advise(posterior)
    warn_about_values(found, model, resolution is not None)
    if found.shufflable is None:
        _say_unshuffled(found, shuffles)
        return posterior
    n_shuffles = number_of_shuffles(shuffles, found.shufflable.matrix.n_samples, posterior.n_features)
    if not n_shuffles:
        return posterior
    shuffled = shuffle_labels(
        found.shufflable,
        believed,
        compare_data,
        posterior.log_bayes_factor,
        prior_log_odds,
        n_shuffles,
        seed,
        progress,
    )
    posterior = replace(posterior, shuffled=shuffled)
    return believe_estimate(posterior) if estimated else posterior


def _say_unshuffled(found: ScreenInput, shuffles: Any) -> None:
    """Say so where there were samples to shuffle, but their values are not at hand any more."""
    n_samples = sum(getattr(found.table, "class_counts", {}).values())
    if not n_samples or not number_of_shuffles(shuffles, n_samples, found.statistics.n_features):
        return
    size = 8 * n_samples * found.statistics.n_features / 1e6
    warn(
        CalibrationWarning,
        f"The values of the table (about {size:,.0f} MB) were not kept in memory, so that labels could not be "
        "shuffled: numbers of false positives are those of the model alone.",
        hint=(
            Wording("Read the table with keep_values=True and ", "Give "),
            Wording(f"memory={4 * size:.0f}_000_000", f"--memory {4 * size:.0f}MB"),
            " or more, or say ",
            option("shuffles", 0),
            ".",
        ),
        kind="not-shuffled",
    )


def rescreen(*data: Any, **options: Any) -> FeaturePosterior:
    """Screen inside another analysis: values are not judged again, and labels not shuffled."""
    with values_unjudged():
        return screen(*data, shuffles=0, **options)


BLOCK_MODELS = ("own", "shift")


def _parts_of(found: ScreenInput, resolution: Any) -> list[Any]:
    """Independent parts of the data: blocks, or all of them together."""
    parts: list[Any] = list(found.blocked.values()) or [found.statistics]
    return parts if resolution is None else [part.with_resolution(resolution) for part in parts]


@dataclass(frozen=True, slots=True, eq=False)
class _Result:
    comparison: Compared
    log_bayes_factor: npt.NDArray[np.float64]
    flags: npt.NDArray[np.int8]
    findings: tuple[Finding, ...] = ()


def _compare(
    model: Model,
    found: ScreenInput,
    patterns: Any,
    block_model: str,
    informative: bool,
    handling: DegeneratePolicy,
    *,
    detail: bool = True,
) -> _Result:
    """Compare classes, blocks of classes, or pairs; without detail, log Bayes factors alone."""
    _check_options(found, patterns, block_model, informative, handling)
    if found.n_pairs:
        from bayesieve.screening.designs import screen_pairs  # noqa: PLC0415 - most screens do without

        return _Result(*screen_pairs(model, found, handling))
    chosen = Patterns.of(patterns, found.statistics.classes)
    ready = prepare(model, found.statistics, chosen, handling)
    parts: tuple[Part, ...] = (ready.part,)
    findings: tuple[Finding, ...] = ()
    if informative:
        parts = (ready.informative, absence(found.samples.get(None), found.statistics))
        findings = (of_absence(found.statistics, parts[1]),)
    comparison = Comparison(chosen, parts)
    if len(parts) == 1 and (len(chosen.classes) == 2 or not detail):
        with np.errstate(divide="ignore", invalid="ignore"):
            log_bf, shares = compare(ready.evidences, chosen), None
    else:
        log_bf, shares = comparison.in_detail()
    log_bf, flags = settle(log_bf, ready, found.names, alone=not informative)
    if not found.blocked:
        return _Result(comparison, log_bf, flags, (*_of_patterns(shares), *findings))
    from bayesieve.screening.designs import screen_blocks, screen_shift  # noqa: PLC0415

    if block_model == "shift":
        compared, log_bf, flags, finding = screen_shift(model, found.blocked, chosen, log_bf, detail=detail)
        return _Result(compared, log_bf, flags, finding)
    samples = found.samples if informative else None
    blocked, log_bf, flags, shares, finding = screen_blocks(
        model, found.blocked, chosen, handling, log_bf, samples, detail=detail
    )
    return _Result(blocked, log_bf, flags, (*_of_patterns(shares), *finding, *findings))


def _check_options(
    found: ScreenInput, patterns: Any, block_model: str, informative: bool, handling: DegeneratePolicy
) -> None:
    """Raise if options contradict each other."""
    check_choice("block_model", block_model, BLOCK_MODELS)
    if block_model != "own" and not found.blocked:
        raise OptionError(
            Wording(f"block_model={block_model!r}", "--block-model"),
            " says what blocks share",
            Wording("", " (--blocks)"),
            ", but there are no blocks.",
            kind="options",
        )
    if block_model == "shift" and (informative or handling.resolution is not None):
        unknown = (option("informative_missing"), " nor ", option("resolution"))
        raise OptionError(
            option("block_model", "shift"),
            " knows neither ",
            *unknown,
            ".",
            hint="Leave them out.",
            kind="options",
        )
    plain = isinstance(patterns, str) and patterns == "any"
    if found.n_pairs and (informative or block_model != "own" or not plain):
        raise OptionError(
            "Pairs know no ",
            option("patterns"),
            ", ",
            option("informative_missing"),
            " or ",
            option("block_model"),
            ".",
            hint="Leave them out.",
            kind="options",
        )


def _of_patterns(shares: PatternShares | None) -> tuple[Finding, ...]:
    return () if shares is None else (Differences(shares),)
