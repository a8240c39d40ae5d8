"""Blocks: batches, sites or plates keep their own parameters and share whether a feature is a marker."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from bayesieve.data.labels import told_apart
from bayesieve.errors import DegenerateFeatureWarning, OptionError, PriorError
from bayesieve.models import GaussianModel, Model
from bayesieve.models.comparing import PatternShares
from bayesieve.models.comparison import Comparison
from bayesieve.models.degenerate import Degeneracy
from bayesieve.models.patterns import Patterns
from bayesieve.models.prior_ratio import log_prior_ratio
from bayesieve.posterior.block_evidence import BlockEvidence, within_blocks
from bayesieve.posterior.chance import is_jeffreys
from bayesieve.screening.evidence import Handling, Prepared, check_range, prepared
from bayesieve.screening.missingness import absence
from bayesieve.stats.statistics import ClassStatistics, largest_counts

FloatArray = npt.NDArray[np.float64]
Flags = npt.NDArray[np.int8]


def screen_blocks(
    model: Model,
    blocked: dict[Any, ClassStatistics],
    patterns: Patterns,
    handling: Handling,
    pooled: FloatArray,
    samples: dict[Any, Any] | None,
) -> tuple[Comparison, FloatArray, Flags, PatternShares | None, BlockEvidence]:
    """Add up the evidence of blocks that each have their own parameters."""
    ready, unused = _usable(model, blocked, patterns, replace(handling, aloud=False))
    parts = [each.with_say for each in ready.values()]
    if samples is not None:
        parts += [absence(samples.get(name), blocked[name]) for name in ready]
    comparison = Comparison(patterns, tuple(parts))
    log_bf, shares = comparison.in_detail()
    check_range(handling.names, np.isfinite(log_bf))
    contributions = np.array([log_bf - _without(comparison, k, len(ready)) for k in range(len(ready))])
    sizes = [largest_counts(each.part.statistics) for each in ready.values()]
    used = [blocked[name] for name in ready]
    finding = BlockEvidence(
        tuple(told_apart(list(ready))),
        contributions,
        pooled,
        "own",
        within_blocks(used),
        unused,
        _ratio(model, sizes),
    )
    return comparison, log_bf, _flags(ready), shares, finding


def _usable(
    model: Model, blocked: dict[Any, ClassStatistics], patterns: Patterns, handling: Handling
) -> tuple[dict[Any, Prepared], tuple[tuple[str, str], ...]]:
    """Blocks that have every class in sufficient number, and why others have not."""
    ready, unused = {}, []
    for name, statistics in blocked.items():
        counts = largest_counts(statistics)
        absent = [str(label) for label, n in zip(statistics.classes, counts, strict=True) if not n]
        if absent:
            unused.append((str(name), f"it has no sample of class {', '.join(absent)}"))
            continue
        try:
            found = prepared(model, statistics, patterns, handling)
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


def _flags(ready: dict[Any, Prepared]) -> Flags:
    """Degenerate is a feature about which no block has a say, or that was given a floor in one; one warning."""
    flags = np.array([each.flags for each in ready.values()])
    excluded = np.array([each.excluded for each in ready.values()])
    floored = np.where(excluded, np.int8(0), flags).max(axis=0)
    found = np.where(excluded.all(axis=0), flags.max(axis=0), floored)
    if floored.any():
        warnings.warn(
            f"{int((floored > 0).sum())} of {floored.size} features are constant in a class of some block and "
            "were given a floor there; they are flagged in .degenerate.",
            DegenerateFeatureWarning,
            stacklevel=5,
        )
    return np.asarray(found, dtype=np.int8)


def _ratio(model: Model, sizes: Sequence[Sequence[int]]) -> float | None:
    """Return what the prior ratio multiplies to; None for proper priors and ratios per feature."""
    ratio = model.prior_ratio
    if ratio is None or isinstance(ratio, np.ndarray):
        return None
    return float(np.exp(sum(float(log_prior_ratio(ratio, *each[:2])) for each in sizes)))


def screen_shift(
    model: Model, blocked: dict[Any, ClassStatistics], patterns: Patterns, pooled: FloatArray
) -> tuple[Any, FloatArray, Flags, BlockEvidence]:
    """Compare blocks that have their own location and share the class shift and the variances."""
    from bayesieve.models.shift_comparison import ShiftComparison  # noqa: PLC0415 - compiles kernels of its own

    if len(patterns.classes) != 2 or not isinstance(model, GaussianModel) or not is_jeffreys(model):
        raise OptionError(
            "block_model='shift' compares two classes of Gaussian data under Jeffreys' prior. Use "
            "block_model='own' for more classes, other models and other priors."
        )
    comparison = ShiftComparison(tuple(blocked.values()), model)  # type: ignore[arg-type]
    log_bf = comparison.log_bayes_factor()
    undefined = ~np.isfinite(log_bf)
    if undefined.all():
        raise PriorError(
            "No feature can be judged: no block holds samples of both classes, or they have no spread. Merge "
            "blocks, or leave them out."
        )
    if undefined.any():
        warnings.warn(
            f"{int(undefined.sum())} of {undefined.size} features have no spread within blocks in a class, or "
            "classes that never meet in a block; they are flagged in .degenerate and left at the prior.",
            DegenerateFeatureWarning,
            stacklevel=5,
        )
    log_bf = np.where(undefined, 0.0, log_bf)
    contributions = np.array([log_bf - comparison.without(k) for k in range(len(blocked))])
    sizes = [sum(each) for each in zip(*(largest_counts(part) for part in blocked.values()), strict=True)]
    finding = BlockEvidence(
        tuple(told_apart(list(blocked))),
        contributions,
        pooled,
        "shift",
        within_blocks(tuple(blocked.values())),
        (),
        _ratio(model, [sizes]),
    )
    return comparison, log_bf, np.where(undefined, np.int8(Degeneracy.NO_EVIDENCE), np.int8(0)), finding
