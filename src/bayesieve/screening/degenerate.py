"""Statistics under which every evidence is defined, and the log Bayes factors of all features."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from bayesieve.data import ValueBlocks, is_sparse
from bayesieve.models import (
    Degeneracy,
    Evidences,
    GaussianModel,
    Model,
    Part,
    Patterns,
    RepairedMoments,
    find_degenerate,
    repair,
)
from bayesieve.stats import Moments
from bayesieve.utils import (
    FLAGGED,
    BoolArray,
    DataError,
    DegenerateFeatureError,
    DegenerateFeatureWarning,
    Wording,
    check_choice,
    warn,
)

_TINY, _FEW_LEVELS = 1e-150, 8


@dataclass(frozen=True, slots=True, eq=False)
class PreparedData:
    """Data ready to be compared.

    Parameters
    ----------
    part
        The data, with floors in place.
    evidences
        Their log evidences.
    flags
        A :class:`~bayesieve.models.gaussian.degenerate.Degeneracy` per feature.
    excluded
        Features whose log Bayes factor is to be 0: the data say nothing.
    """

    part: Part
    evidences: Evidences
    flags: npt.NDArray[np.int8]
    excluded: BoolArray

    @property
    def informative(self) -> Part:
        """The data, without a say about the excluded features."""
        return replace(self.part, kept=~self.excluded) if self.excluded.any() else self.part


@dataclass(frozen=True, slots=True, eq=False)
class DegeneratePolicy:
    """What the user says about features without variance.

    Parameters
    ----------
    policy
        ``"floor"``, ``"exclude"`` or ``"raise"``.
    resolution
        Step to which values are rounded, None if not known.
    table
        Values to look at again.
    names
        Names of the features.
    warns
        Whether to warn.
    """

    policy: str = "floor"
    resolution: Any = None
    table: ValueBlocks | None = None
    names: tuple[str, ...] | None = None
    warns: bool = True

    def __post_init__(self) -> None:
        check_choice("degenerate", self.policy, ("floor", "exclude", "raise"), DataError)


def prepare(model: Any, statistics: Any, patterns: Patterns, handling: DegeneratePolicy) -> PreparedData:
    """Give features without usable variance a floor, or mark them as excluded."""
    if handling.resolution is not None:
        name = type(model).__name__
        model.require("resolution", f"resolution is the step of measurements; {name} has no use for it.")
    used = statistics if handling.resolution is None else statistics.with_resolution(handling.resolution)
    if not model.supports("floors"):
        flags, excluded = model.flag(used)
        if handling.table is not None and handling.warns and isinstance(used, Moments):
            _check_underflow(handling.table, used, flags)
        odd = _too_many_levels(model, statistics, handling)
        excluded = (flags != 0 if handling.policy == "exclude" else excluded) | (odd != 0)
        _tell_excluded(flags, excluded, handling)
        return PreparedData(Part(model, used), model.evidences(used), np.maximum(flags, odd), excluded)
    with np.errstate(over="ignore", invalid="ignore"):  # what overflows is found and named below
        evidences = model.evidences(used)
        cells = evidences.cells(patterns)
        check_range(handling.names, *(np.isfinite(cell.scale) for cell in cells))
    flags = find_degenerate(cells, used.n_features)
    if handling.resolution is not None:  # a step between values makes up for equal ones, not for absent ones
        bare = find_degenerate(model.evidences(statistics).cells(patterns), used.n_features)
        flags = np.where(bare == Degeneracy.TOO_FEW_VALUES, bare, flags)
    if not flags.any():
        part = Part(model, used, None, handling.resolution, None if handling.resolution is None else statistics)
        return PreparedData(part, evidences, flags, np.zeros(flags.shape, dtype=bool))
    return _repair(model, statistics, used, flags, handling)


def _tell_excluded(flags: npt.NDArray[np.int8], excluded: BoolArray, handling: DegeneratePolicy) -> None:
    """Raise or warn because of features without usable variance."""
    if handling.policy == "raise" and flags.any():
        raise _without_variance(flags, handling)
    if excluded[flags != 0].any() and handling.warns:
        left = np.where(excluded, flags, np.int8(0))
        found = f"{int((left != 0).sum())} of {flags.size} features have no usable variance ({_reasons(left)})"
        warn(
            DegenerateFeatureWarning, f"{found}; they are ", FLAGGED, " and left at the prior.", kind="degenerate"
        )


def _without_variance(flags: npt.NDArray[np.int8], handling: DegeneratePolicy) -> DegenerateFeatureError:
    """Return the error that names features without variance."""
    shown = ", ".join(_name(handling.names, i) for i in np.flatnonzero(flags)[:5].tolist())
    return DegenerateFeatureError(
        f"{int((flags != 0).sum())} of {flags.size} features have no usable variance ({_reasons(flags)}), for "
        f"example {shown}.",
        hint=(
            "Drop them, use ",
            Wording("degenerate='floor' or 'exclude'", "--degenerate floor or exclude"),
            ", or state the instrument's resolution.",
        ),
        kind="degenerate",
    )


def _too_many_levels(model: Model, statistics: Any, handling: DegeneratePolicy) -> npt.NDArray[np.int8]:
    """Flag ids, dates and the like: levels that were not declared and of which nearly all occur once."""
    flags = np.zeros(statistics.n_features, np.int8)
    if getattr(model, "levels", ()) is not None or not hasattr(statistics, "table"):
        return flags
    n_levels = (statistics.table.sum(axis=0) > 0).sum(axis=0)
    odd = (n_levels > _FEW_LEVELS) & (statistics.counts.sum(axis=0) < 2 * n_levels)
    flags[odd] = Degeneracy.TOO_MANY_LEVELS
    if odd.any() and handling.warns:
        shown = ", ".join(_name(handling.names, i) for i in np.flatnonzero(odd)[:5].tolist())
        warn(
            DegenerateFeatureWarning,
            f"{int(odd.sum())} of {odd.size} features have so many levels that nearly every value is one of its "
            f"own, for example {shown}: they look like ids or dates, are ",
            FLAGGED,
            " and left at the prior.",
            hint="Declare the levels if they are meant.",
            kind="degenerate",
        )
    return flags


def _repair(
    model: GaussianModel,
    before: Moments,
    moments: Moments,
    flags: npt.NDArray[np.int8],
    handling: DegeneratePolicy,
) -> PreparedData:
    """Repair degenerate features; one warning counts them."""
    if handling.table is not None and handling.warns:
        _check_underflow(handling.table, moments, flags)
    found = f"{int((flags != 0).sum())} of {flags.size} features have no usable variance ({_reasons(flags)})"
    if handling.policy == "raise":
        raise _without_variance(flags, handling)
    if getattr(moments, "design", None) is not None:  # given covariates there is no floor to put in
        repaired = RepairedMoments(moments, flags, flags != Degeneracy.NONE)
    else:
        repaired = repair(model, moments, flags, handling.policy, handling.table)
    what = "left at the prior" if repaired.excluded[flags != 0].all() else "given a floor or left at the prior"
    if handling.warns:
        warn(DegenerateFeatureWarning, f"{found}; they are ", FLAGGED, f" and {what}.", kind="degenerate")
    part = Part(
        model, repaired.moments, None, handling.resolution, None if handling.resolution is None else before
    )
    return PreparedData(part, model.evidences(repaired.moments), flags, repaired.excluded)


def settle(
    log_bf: npt.NDArray[np.float64], ready: PreparedData, names: tuple[str, ...] | None, *, alone: bool = True
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.int8]]:
    """Put 0 where the data say nothing (unless other data speak); raise where numbers have left float64."""
    if ready.excluded.any() and alone:
        log_bf = np.where(ready.excluded, 0.0, log_bf)
    given = getattr(ready.part.statistics, "design", None) is not None
    if ready.part.model.supports("moments") and not given:  # evidence is defined, so that it has left the range
        check_range(names, np.isfinite(log_bf))
        return log_bf, ready.flags
    undefined = ~np.isfinite(log_bf)
    if not undefined.any():
        return log_bf, ready.flags
    warn(
        DegenerateFeatureWarning,
        f"{int(undefined.sum())} of {undefined.size} features have no evidence under this prior; they are ",
        FLAGGED,
        " and left at the prior.",
        kind="degenerate",
    )
    flags = np.where(undefined, np.int8(Degeneracy.NO_EVIDENCE), ready.flags)
    return np.where(undefined, 0.0, log_bf), flags


def check_range(names: tuple[str, ...] | None, *defined: BoolArray) -> None:
    """Raise if squares of the values, or their ratios, have left the range of 64-bit numbers."""
    if all(mask.all() for mask in defined):
        return
    beyond = np.flatnonzero(~np.logical_and.reduce(defined))
    raise DataError(
        f"The squares of {beyond.size} of {defined[0].size} feature(s) leave the range of 64-bit numbers, the "
        f"first is {_name(names, int(beyond[0]))}. Divide the table by a constant, or subtract one, so that "
        "values stay between 1e-150 and 1e150."
    )


def _check_underflow(table: ValueBlocks, moments: Moments, flags: npt.NDArray[np.int8]) -> None:
    """Raise if values only seem constant because they are so small that their squares are 0."""
    tiny = (moments.centred_squares == 0) & (moments.mean != 0) & (np.abs(moments.mean) < _TINY)
    suspects = np.flatnonzero(tiny.any(axis=0) & (flags != Degeneracy.NONE))
    if not suspects.size:
        return
    vanished = np.zeros(suspects.size, dtype=bool)
    for block in table.blocks(suspects):
        values = block.values.toarray() if is_sparse(block.values) else np.asarray(block.values)
        columns = slice(block.first, block.first + values.shape[1])
        means = moments.mean[:, suspects[columns]][block.codes]
        differs = (values != means) & ~np.isnan(values) & tiny[:, suspects[columns]][block.codes]
        vanished[columns] |= differs.any(axis=0)
    if vanished.any():
        raise DataError(
            f"The values of {int(vanished.sum())} feature(s) are so small that their squares vanish, the first is "
            f"{_name(table.feature_names, int(suspects[vanished][0]))}. Multiply the table by a constant so that "
            "values stay above 1e-150."
        )


def _name(names: tuple[str, ...] | None, j: int) -> str:
    return repr(names[j]) if names else f"x{j}"


def _reasons(flags: npt.NDArray[np.int8]) -> str:
    counts = {flag: int((flags == flag).sum()) for flag in Degeneracy if flag}
    return ", ".join(f"{count} {flag.reason}" for flag, count in counts.items() if count)
