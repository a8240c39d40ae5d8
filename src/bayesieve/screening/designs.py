"""Designs of studies: batches (blocks) and pairs of samples."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from bayesieve.data import disambiguate
from bayesieve.models import (
    PAIR_CONSTANT,
    CalibratedModel,
    Comparison,
    Degeneracy,
    EffectPairs,
    EffectShift,
    Model,
    PairedComparison,
    Part,
    Patterns,
    PatternShares,
    log_prior_ratio,
)
from bayesieve.posterior import BlockEvidence, Finding, Remark, within_blocks
from bayesieve.screening.degenerate import DegeneratePolicy, PreparedData, check_range, prepare
from bayesieve.screening.inputs import ScreenInput
from bayesieve.stats import ClassStatistics, Moments, largest_counts
from bayesieve.utils import (
    FLAGGED,
    DataError,
    DataWarning,
    DegenerateFeatureError,
    DegenerateFeatureWarning,
    FloatArray,
    LabelError,
    OptionError,
    PriorError,
    Wording,
    option,
    warn,
)

Flags = npt.NDArray[np.int8]


def screen_blocks(
    model: Model,
    blocked: dict[Any, ClassStatistics],
    patterns: Patterns,
    handling: DegeneratePolicy,
    pooled: FloatArray,
    samples: dict[Any, Any] | None,
    *,
    detail: bool = True,
) -> tuple[Comparison, FloatArray, Flags, PatternShares | None, tuple[BlockEvidence, ...]]:
    """Add up the evidence of blocks that each have their own parameters."""
    ready, unused = _usable(model, blocked, patterns, replace(handling, warns=False))
    parts = [each.informative for each in ready.values()]
    if samples is not None:
        parts += [absence(samples.get(name), blocked[name]) for name in ready]
    comparison = Comparison(patterns, tuple(parts))
    log_bf, shares = comparison.in_detail()
    check_range(handling.names, np.isfinite(log_bf))
    if not detail:
        return comparison, log_bf, np.zeros(log_bf.size, np.int8), shares, ()
    contributions = np.array([log_bf - _without(comparison, k, len(ready)) for k in range(len(ready))])
    sizes = [largest_counts(each.part.statistics) for each in ready.values()]
    used = [blocked[name] for name in ready]
    names, within = tuple(disambiguate(list(ready))), within_blocks(used)
    finding = BlockEvidence(
        names, contributions, pooled, "own", within, unused, _ratio(model, sizes), model.family
    )
    return comparison, log_bf, _flags(model, ready), shares, (finding,)


def _usable(
    model: Model, blocked: dict[Any, ClassStatistics], patterns: Patterns, handling: DegeneratePolicy
) -> tuple[dict[Any, PreparedData], tuple[tuple[str, str], ...]]:
    """Blocks that have every class in sufficient number, and why others have not."""
    ready, unused = {}, []
    for name, statistics in blocked.items():
        counts = largest_counts(statistics)
        absent = [str(label) for label, n in zip(statistics.classes, counts, strict=True) if not n]
        if absent:
            unused.append((str(name), f"it has no sample of class {', '.join(absent)}"))
            continue
        try:
            found = prepare(model, statistics, patterns, handling)
        except PriorError:
            found = None
        if found is not None and not found.excluded.all():
            ready[name] = found
        else:
            sizes = ", ".join(f"{n} of {label}" for label, n in zip(statistics.classes, counts, strict=True))
            unused.append((str(name), f"it is too small for the prior ({sizes})"))
    if not ready:
        reasons = "; ".join(f"{name}: {reason}" for name, reason in unused[:5])
        raise PriorError(
            f"No block can be used ({reasons}). A block needs samples of every class, with an improper prior at "
            "least 2 each that differ. Merge blocks, or leave blocks out."
        )
    return ready, tuple(unused)


def _without(comparison: Comparison, k: int, n_blocks: int) -> FloatArray | float:
    """Log Bayes factor of all blocks but one; what a block says about absence goes with it."""
    left = [part for i, part in enumerate(comparison.parts) if i % n_blocks != k]
    if not left:
        return 0.0
    return Comparison(comparison.patterns, tuple(left)).log_bayes_factor()


def _flags(model: Model, ready: dict[Any, PreparedData]) -> Flags:
    """Degenerate is a feature about which no block has a say, or that was given a floor in one; one warning."""
    flags = np.array([each.flags for each in ready.values()])
    excluded = np.array([each.excluded for each in ready.values()])
    floored = np.where(excluded, np.int8(0), flags).max(axis=0)
    found = np.where(excluded.all(axis=0), flags.max(axis=0), floored)
    if floored.any() and model.supports("floors"):
        warn(
            DegenerateFeatureWarning,
            f"{int((floored > 0).sum())} of {floored.size} features are constant in a class of some block and "
            "were given a floor there; they are ",
            FLAGGED,
            ".",
            kind="degenerate",
        )
    return np.asarray(found, dtype=np.int8)


def _ratio(model: Model, sizes: Sequence[Sequence[int]]) -> float | None:
    """Return what the prior ratio multiplies to; None for proper priors and ratios per feature."""
    ratio = model.prior_ratio
    if ratio is None or isinstance(ratio, np.ndarray):
        return None
    return float(np.exp(sum(float(log_prior_ratio(ratio, *each[:2])) for each in sizes)))


def screen_shift(
    model: Any, blocked: dict[Any, Any], patterns: Patterns, pooled: FloatArray, *, detail: bool = True
) -> tuple[Any, FloatArray, Flags, tuple[BlockEvidence, ...]]:
    """Compare blocks that have their own location and share the class shift and the variances."""
    from bayesieve.models import ShiftComparison  # noqa: PLC0415 - compiles kernels of its own

    calibrated = model.supports("effect-sizes")
    if len(patterns.classes) != 2 or not (model.is_jeffreys or calibrated):
        raise OptionError(
            option("block_model", "shift"),
            " compares two classes of Gaussian data under the calibrated or Jeffreys' prior.",
            hint=("Use ", option("block_model", "own"), " for more classes, other models and other priors."),
            kind="capability",
        )
    parts = tuple(blocked.values())
    comparison: Any = EffectShift(parts, model) if calibrated else ShiftComparison(parts, model)
    log_bf = comparison.log_bayes_factor()
    undefined = ~np.isfinite(log_bf)
    if undefined.all():
        raise PriorError(
            "No feature can be judged: no block holds samples of both classes, or they have no spread. Merge "
            "blocks, or leave them out."
        )
    if undefined.any():
        warn(
            DegenerateFeatureWarning,
            f"{int(undefined.sum())} of {undefined.size} features have no spread within blocks in a class, or "
            "classes that never meet in a block; they are ",
            FLAGGED,
            " and left at the prior.",
            kind="degenerate",
        )
    log_bf = np.where(undefined, 0.0, log_bf)
    flags = np.where(undefined, np.int8(Degeneracy.NO_EVIDENCE), np.int8(0))
    if not detail:
        return comparison, log_bf, flags, ()
    contributions = np.array([log_bf - comparison.without(k) for k in range(len(blocked))])
    sizes = [sum(each) for each in zip(*(largest_counts(part) for part in blocked.values()), strict=True)]
    names, within = tuple(disambiguate(list(blocked))), within_blocks(tuple(blocked.values()))
    finding = BlockEvidence(names, contributions, pooled, "shift", within, (), _ratio(model, [sizes]))
    return comparison, log_bf, flags, (finding,)


PairFlags = npt.NDArray[np.int8]


def _remark(n_pairs: int, n_incomplete: int, *, constant: bool) -> Remark:
    """Say what pairs can show."""
    left = f"; {n_incomplete:,} incomplete pair{'s are' if n_incomplete > 1 else ' is'} left out" * bool(
        n_incomplete
    )
    return Remark((
        f"{n_pairs:,} pairs{left}. Differences within pairs see the mean only: a difference in variance between "
        "the classes does not count." + f" Constant of the further mean: {PAIR_CONSTANT:.4f}." * constant,
    ))  # fmt: skip


def screen_pairs(
    model: Model, found: ScreenInput, handling: DegeneratePolicy
) -> tuple[Any, FloatArray, PairFlags, tuple[Finding, ...]]:
    """Compare differences within pairs with differences of mean 0, block by block if there are blocks."""
    calibrated = model.supports("effect-sizes")
    if not (model.is_jeffreys or calibrated):
        raise OptionError(
            "Pairs are compared under the calibrated or Jeffreys' prior; leave ",
            Wording("the model (or the prior)", "--prior"),
            " out.",
            kind="capability",
        )
    model.check_features(found.statistics.n_features)
    if found.n_pairs < 2:
        raise LabelError(f"There is only {found.n_pairs} complete pair, and at least 2 that differ are needed.")
    blocks: Any = found.blocked or {None: found.statistics}
    repaired = [_repair(part, handling) for part in blocks.values()]
    step = 0.0 if handling.resolution is None else _step(handling.resolution)
    parts, kept = tuple(each[0] for each in repaired), tuple(each[1] == 0 for each in repaired)

    def compare(some: tuple[Moments, ...], told: tuple[Any, ...]) -> Any:
        if calibrated:
            return EffectPairs(some, told, cast("CalibratedModel", model))
        return PairedComparison(some, told, step)

    comparison = compare(parts, kept)
    contributions = comparison.contributions()
    log_bf = contributions.sum(axis=0)
    flags = np.min([flag for _, flag in repaired], axis=0)
    _tell(flags, handling)
    pairing = _remark(found.n_pairs, found.n_incomplete, constant=not calibrated)
    if not found.blocked:
        return comparison, log_bf, flags, (pairing,)
    whole, silent = _repair(cast("Moments", found.statistics), handling)
    pooled = compare((whole,), (silent == 0,)).log_bayes_factor()
    evidence = BlockEvidence(tuple(disambiguate(list(blocks))), contributions, pooled, "pairs", np.empty((0, 0)))
    return comparison, log_bf, flags, (pairing, evidence)


def _repair(differences: Moments, handling: DegeneratePolicy) -> tuple[Moments, PairFlags]:
    """Flag features without enough differences, or whose differences are all the same."""
    used = differences
    if handling.resolution is not None:
        used = differences.with_resolution(_step(handling.resolution))
    counts = np.broadcast_to(differences.counts, differences.mean.shape)[0]
    flags = np.zeros(used.n_features, np.int8)
    flags[used.centred_squares[0] == 0] = Degeneracy.CONSTANT
    flags[counts < 2] = Degeneracy.TOO_FEW_VALUES
    squares = np.where(flags > 0, 1.0, used.centred_squares)
    count = used.count if used.count.ndim == 1 else np.maximum(used.count, 1)
    return Moments.trusted(used.classes, count, used.mean, squares, np.asarray(used.residual)), flags


def _step(resolution: Any) -> Any:
    """A difference of two rounded values has twice the rounding variance."""
    return np.sqrt(2.0) * np.asarray(resolution, dtype=np.float64)


def _tell(flags: PairFlags, handling: DegeneratePolicy) -> None:
    n = int((flags > 0).sum())
    if not n:
        return
    found = f"{n} of {flags.size} features have no two differences that differ"
    if handling.policy == "raise":
        raise DegenerateFeatureError(f"{found}. Drop them, or state the instrument's resolution.")
    warn(
        DegenerateFeatureWarning,
        f"{found}; they are ",
        FLAGGED,
        " and left at the prior.",
        hint="State the resolution to have features judged whose differences are all the same.",
        kind="degenerate",
    )


_LEVELS = ("absent", "present")


def absence(samples: npt.NDArray[np.int64] | None, statistics: ClassStatistics) -> Part:
    r"""Count absent and present values of every class, under a uniform prior for their share.

    Absent counts :math:`u_y` of :math:`n_y` multiply the Bayes factor by

    .. math:: \frac{B(1 + u_0, 1 + n_0 - u_0)\, B(1 + u_1, 1 + n_1 - u_1)}{B(1, 1)\, B(1 + u, 1 + n - u)}
    """
    from bayesieve.models import CategoricalModel  # noqa: PLC0415 - most screens do without
    from bayesieve.stats import CategoryCounts  # noqa: PLC0415

    if samples is None:
        raise DataError(
            option("informative_missing"),
            " needs the number of samples per class, which ready statistics do not tell.",
            hint="Hand over the table itself.",
            kind="no-samples",
        )
    shape = (len(statistics.classes), statistics.n_features)
    present: Any = np.broadcast_to(statistics.counts, shape)
    table = np.stack([samples[:, None] - present, present], axis=1)
    counts = CategoryCounts(statistics.classes, _LEVELS, table)
    return Part(CategoricalModel(1.0, levels=_LEVELS), counts)


def of_absence(statistics: ClassStatistics, part: Part) -> Remark:
    """Say what counting absent values did; warn if there are none, when it can only count against a difference."""
    absent: Any = part.statistics
    n_features = int((absent.table[:, 0].sum(axis=0) > 0).sum())
    if not n_features:
        warn(
            DataWarning,
            option("informative_missing"),
            " was asked for, but no value is missing: every feature then pays for classes that are alike in this.",
            hint="Leave it out.",
            kind="nothing-missing",
        )
    text = f"Missing values of {n_features:,} of {statistics.n_features:,} features count as evidence, too"
    return Remark((f"{text}; features that lack none pay for classes that are alike in this.",))
