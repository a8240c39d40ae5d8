"""screen(): the posterior of every feature from a table, a file or sufficient statistics."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from bayesieve.data import GeneMap, Label, aligned, annotated, is_lazy
from bayesieve.models import (
    CalibratedModel,
    Compared,
    Comparison,
    Model,
    Part,
    Patterns,
    PatternShares,
    compare,
)
from bayesieve.posterior import (
    ESTIMATE,
    Differences,
    FeaturePosterior,
    Finding,
    Likelihoods,
    Remark,
    check_log_odds,
    no_shuffles,
)
from bayesieve.screening.checks import ValueChecks, check_columns
from bayesieve.screening.covariates import to_be_checked
from bayesieve.screening.degenerate import DegeneratePolicy, prepare, settle
from bayesieve.screening.designs import absence, of_absence
from bayesieve.screening.difference import asked_of, fit_to_design, keep_variances, of_difference
from bayesieve.screening.genes import GeneCollapse
from bayesieve.screening.inputs import ScreenInput, check_model
from bayesieve.screening.lazy_table import refuse_design
from bayesieve.screening.outcome import outcome_or_labels
from bayesieve.screening.prior_advice import advise
from bayesieve.screening.second_look import values_of
from bayesieve.screening.shuffles import (
    Progress,
    believe_estimate,
    given_factors,
    of_factors,
    shuffle_labels,
    times_to_shuffle,
)
from bayesieve.screening.study_design import designed, of_design, planned
from bayesieve.screening.subjects import knowing_subjects, screen_subjects
from bayesieve.screening.table_input import screen_input
from bayesieve.screening.value_advice import (
    ask_about_donors,
    is_judged,
    values_unjudged,
    warn_about_values,
)
from bayesieve.stats import check_resolution, first_factor_share
from bayesieve.utils import (
    Message,
    OptionError,
    Wording,
    check_choice,
    option,
)

_UNTIL_ESTIMATED = 0.01  # prior probability before it is estimated
_STRONGEST, _FEW_STRONG, _MOST_FACTOR = 200, 10, 0.5  # features looked at, and the share of one factor


def screen(  # noqa: PLR0913 - all that can be said about a study
    X: Any,
    y: Any = None,
    *,
    model: Model | str | None = None,
    prior_probability: npt.ArrayLike | str = 0.01,
    classes: Sequence[Label] | None = None,
    feature_names: Sequence[str] | None = None,
    layer: str | None = None,
    patterns: Any = "any",
    blocks: Any = None,
    block_model: str = "own",
    covariates: Any = None,
    outcome: Any = None,
    subject: Any = None,
    pairs: Any = None,
    exposures: Any = None,
    informative_missing: bool = False,
    missing: str = "raise",
    degenerate: str = "floor",
    resolution: npt.ArrayLike | None = None,
    n_threads: int | None = None,
    shuffles: int | str | None = "auto",
    factors: int | str | None = None,
    seed: Any = 0,
    progress: Progress | None = None,
    gene_map: GeneMap | None = None,
    collapse: str = "best",
    unmapped: str = "drop",
    sample_columns: Any = None,
    difference: str = "any",
) -> FeaturePosterior:
    r"""Find, for every feature, how probable it is that the classes differ (in mean or variance, if Gaussian).

    The data are read once. Log-odds are exact, equation (2.18): prior log-odds plus the log Bayes
    factor of "each class has its own mean and variance" against "all classes share them". With more
    than two classes, "some classes differ" is a sum over the ways in which they may.

    Parameters
    ----------
    X
        Samples x features (array, data frame of pandas, polars, Arrow or DuckDB, CSR or CSC matrix, AnnData
        object; also Dask arrays and frames, zarr arrays and lazy AnnData objects, which are summed block by block
        and never brought into memory), what :func:`read_table` returns, or ready statistics such as
        :class:`Moments` and :class:`StatisticsSet`; ``y``, ``missing`` and ``n_threads`` do not apply to these
        two.
    y
        One class label per sample; two classes or more. If ``X`` and ``y`` are pandas objects, their index says
        which label belongs to which sample, whatever its order. Of an AnnData object, the name of a column of
        ``obs``; so may be ``blocks``, ``pairs`` and ``exposures``.
    model
        Likelihood and priors; :class:`CalibratedModel` by default, the paper's is
        ``GaussianModel.jeffreys(prior_ratio=0.1)``. ``"auto"`` gives every feature the likelihood of its kind:
        measurement, count or category; see :class:`MixedModel`.
    prior_probability
        Share of features believed to be markers beforehand, or one probability per feature. ``"estimate"``: the
        share that the Bayes factors suggest, as far as it exceeds what shuffled labels suggest (the 95% point),
        one feature at least and half of them at most; no feature is listed then whose own evidence speaks
        against it.
    classes
        Order of the classes. By default that of an ordered categorical (pandas, polars Enum, a column of ``obs``),
        without levels that no sample has; other labels are sorted. Differences are second minus first. A class
        without samples is refused.
    feature_names
        Names; taken from a data frame or an AnnData object, otherwise ``x0``, ``x1``, ...
    layer
        AnnData: a layer, or ``"raw"``; X when not given.
    patterns
        For more than two classes, in which ways they may differ: ``"any"`` (all, for at most 8 classes),
        ``"distinct"`` (all from each other), ``"one-versus-rest"``, or given ones such as
        ``"control | mild, severe; control, mild | severe"``; see
        :meth:`bayesieve.models.patterns.Patterns.of`.
    blocks
        Batch, site or plate of each sample (for ready statistics: a mapping from names to statistics, or
        ``"sites"``). Several columns of a data frame are crossed.
        Every block has its own means and variances and shares whether the feature is a marker.
    block_model
        ``"own"``, or ``"shift"``: every block has its own location, and blocks share the difference between
        the two classes and their variances, which keeps more power.
    covariates
        What to compare the classes at equal values of (age, sex, batch): a mapping or data frame of columns with
        one
        value per sample, an array, samples x columns, or of an AnnData object names of columns of ``obs``. Numbers
        have a slope, other values a location per level, which the classes share; means and differences are
        adjusted.
        Blocks have locations of their own then. See :mod:`bayesieve.models.gaussian.slopes`.
    outcome
        Look for features that change with a number (dose, age) or along ordered classes (stage, in the order of
        ``classes``) instead of differing between classes: one value per sample, in the place of ``y``. A slope is
        compared with none, with ``covariates`` at equal values of these; where at most 8 values occur, variances
        that rise or fall along them count, too. See :mod:`bayesieve.models.gaussian.trend`.
    subject
        Whose sample each is, any number of samples each (repeated measures): every subject has a location of its
        own,
        and classes are compared within subjects. They see the mean only.
    pairs
        Pair (patient) of each sample: the differences within pairs are compared with 0. They see the mean only.
    exposures
        For counts: a positive number per sample, how long or how deeply it was looked at; ``"total"``: its values
        added up, divided by the mean.
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
        table, or a number of times, 0 for never. Ready statistics hold no samples to shuffle; those of a table in
        blocks are shuffled only if a number is given, which takes further passes.
    factors
        Compare two classes given factors that samples share beyond them (quality, mixture of cells, an unknown
        batch): a number of them, or ``"auto"`` for as many as parallel analysis finds. See
        :mod:`bayesieve.stats.factors`.
    seed
        Of the shuffles, for NumPy's generator.
    progress
        Called with the number of shuffles done and their total; before, of a table in blocks, with the number of
        blocks.
    gene_map
        Genes of the features (:func:`bayesieve.read_gene_map`): the result is that of genes, or of lists of them.
    collapse
        Which of the features with exactly the same genes stands for them: ``"best"``, the best ranked, chosen in
        every shuffle anew, or ``"max-mean"``, the one with the largest mean over all samples.
    unmapped
        Features without a gene: ``"drop"`` them, or ``"keep"`` each under its own name.
    sample_columns
        What else is known of the samples (batch, sex, age, site): a data frame with one row per sample, or a
        mapping from names to one value per sample. ``posterior.checks`` compares every column with the classes.
        Tables that were read bring their other columns with them.
    difference
        What makes a marker of two classes of measurements: ``"any"``; ``"mean"``: means that differ, whether or
        not variances do; ``"variance"``: variances that differ, whether or not means do. Bayes factors, shuffled
        labels and all that follows are those of this question.

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
    ('x0', 'x1')
    """
    model = asked_of(check_model(model), difference)
    X = X if layer is None else annotated(X, layer=layer, lazy=True)
    y = outcome_or_labels(y, outcome, pairs)
    said = {"blocks": blocks, "pairs": pairs, "exposures": exposures}
    in_order = (aligned(X, values, what) for what, values in said.items())
    if is_lazy(X):
        refuse_design(factors=factors, subject=subject, gene_map=gene_map)
    design = {"outcome": outcome, "classes": classes, "subject": subject, "covariates": covariates}
    found = screen_input(
        X,
        y,
        model,
        classes,
        feature_names,
        missing,
        n_threads,
        *in_order,
        progress=progress,
        plan=planned(X, design),
    )
    columns = check_columns(sample_columns, X, None if found.whole is None else found.whole.n_samples)
    given = found
    estimated = isinstance(prior_probability, str) and prior_probability == ESTIMATE
    if estimated and (found.samples_to_shuffle(shuffles) is None or shuffles in (0, None, False)):
        raise no_shuffles()
    believed_share = _UNTIL_ESTIMATED if estimated else prior_probability
    prior_log_odds = check_log_odds(believed_share, found.statistics.n_features)
    genes = GeneCollapse.of(found, gene_map, collapse, unmapped)
    if genes is not None:
        found, model, prior_log_odds, resolution = genes.restrict(found, model, prior_log_odds, resolution)
    if factors is not None:
        found = given_factors(found, model, factors, seed)
    raw, others = found, {"factors": factors, "resolution": resolution, "informative_missing": informative_missing}
    found = designed(found, model, X, design, others, n_threads)
    block_model, patterns = found.settled(block_model, patterns)
    asked, model = of_difference(model), fit_to_design(model, found, block_model)
    handling = DegeneratePolicy(degenerate, resolution, found.table, found.names)

    def compare_data(believed: Model, data: ScreenInput) -> Any:
        ready = _given(believed, data).estimate(_parts_of(data, resolution))
        policy = "floor" if degenerate == "raise" else degenerate
        quiet = replace(handling, policy=policy, table=data.table, warns=False)
        return _compare(
            ready, data, patterns, block_model, informative_missing, quiet, detail=False
        ).log_bayes_factor

    believed, model = model, _given(model, found).estimate(_parts_of(found, resolution))
    result = _compare(model, found, patterns, block_model, informative_missing, handling)
    label = str(getattr(y, "name", None) or getattr(given.table, "label_name", ""))
    step = 0.0 if resolution is None else check_resolution(resolution, found.statistics.n_features)
    posterior = FeaturePosterior(
        result.log_bayes_factor, prior_log_odds, found.names, result.flags, found.statistics, model, step,
        result.comparison, (*asked, *result.findings, *of_factors(found), *_of_kinds(found),
                            *of_design(found, lambda: compare_data(believed, raw), label)),
    )  # fmt: skip
    if is_judged():
        of_table = partial(getattr, given.table, "sample_columns", {})
        checker = ValueChecks(to_be_checked(found) if genes is None else given, believed, compare_data,
                              (lambda: columns) if columns else of_table, label)  # fmt: skip
        posterior = replace(posterior, checker=checker)
    advise(posterior)
    warn_about_values(found, model, resolution is not None)
    ask_about_donors(X, y, found, y, blocks)
    genes = None if genes is None else genes.settled(posterior.log_odds)
    n_shuffles = times_to_shuffle(found, believed, shuffles)
    if not n_shuffles:
        return posterior if genes is None else genes.apply(posterior, None)
    shuffled = shuffle_labels(
        found.relabels or keep_variances(found, model),
        believed,
        compare_data,
        posterior.log_bayes_factor,
        prior_log_odds,
        n_shuffles,
        seed,
        progress,
        None if genes is None else genes.best,
    )
    posterior = replace(posterior, findings=(*posterior.findings, *_common_factor(found, posterior)))
    posterior = replace(posterior, shuffled=shuffled) if genes is None else genes.apply(posterior, shuffled)
    return believe_estimate(posterior) if estimated else posterior


def rescreen(*data: Any, **options: Any) -> FeaturePosterior:
    """Screen inside another analysis: values are not judged again, and labels not shuffled."""
    with values_unjudged():
        return screen(*data, shuffles=0, **options)


BLOCK_MODELS = ("own", "shift")


def _given(model: Model, found: ScreenInput) -> Model:
    """Return the model that knows of factors taken out of the values."""
    if found.factors is None:
        return knowing_subjects(model, found)
    calibrated = cast("CalibratedModel", model)
    return replace(calibrated, n_factors=found.factors.n_factors, penalty=found.factors.penalty)


def _of_kinds(found: ScreenInput) -> tuple[Finding, ...]:
    """Say which likelihood each feature has, if not all have the same."""
    kinds = getattr(found.statistics, "kinds", None)
    return () if kinds is None else (Likelihoods(kinds),)


def _common_factor(found: ScreenInput, posterior: FeaturePosterior) -> tuple[Finding, ...]:
    """Say so if one factor carries most of what the strongest features vary within their classes."""
    samples = found.shufflable
    if samples is None or samples.n_factors or not posterior.has_moments or samples.scheme != "samples":
        return ()
    strongest = posterior.ranking[:_STRONGEST]
    strongest = strongest[posterior.log_bayes_factor[strongest] > 0]
    if strongest.size < _FEW_STRONG:
        return ()
    codes, values = values_of(samples.matrix, np.sort(strongest))
    share = 0.0 if np.isnan(values).any() else first_factor_share(values, codes)
    if share < _MOST_FACTOR:
        return ()
    text = (
        f"One factor carries {share:.0%} of what the {strongest.size:,} strongest features vary within classes. "
        "Samples share something beyond them, and where it differs between classes it passes for many markers."
    )
    return (Remark((Message.of(text, hint=("Compare with ", option("factors", "auto"), "."), kind="factor"),)),)


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
    if found.within is not None:
        return _Result(*screen_subjects(model, found, patterns))
    if found.n_pairs:
        from bayesieve.screening.designs import screen_pairs  # noqa: PLC0415 - most screens do without

        return _Result(*screen_pairs(model, found, handling))
    chosen = Patterns.of(patterns, found.statistics.classes)
    detail = detail and found.outcome is None
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
