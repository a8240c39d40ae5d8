"""Log Bayes factors of all features, with those that have no usable variance taken care of."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import numpy.typing as npt

from bayesieve.data import is_sparse
from bayesieve.data.matrix import ValueBlocks
from bayesieve.errors import DataError, DegenerateFeatureError, DegenerateFeatureWarning
from bayesieve.models import GaussianModel
from bayesieve.models.degenerate import Degeneracy, find_degenerate, repair
from bayesieve.stats import Moments

_TINY = 1e-150


def bayes_factors(
    model: GaussianModel,
    moments: Moments,
    table: ValueBlocks | None,
    names: tuple[str, ...] | None,
    resolution: Any,
    policy: str,
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.int8]]:
    """Log Bayes factor and degeneracy flag of every feature."""
    _check_policy(policy)
    used = moments if resolution is None else moments.with_resolution(resolution)
    with np.errstate(over="ignore", invalid="ignore"):  # what overflows is found and named below
        cells = model.cells(used)
        _check_range(names, *(np.isfinite(cell.scale) for cell in cells))
    flags = find_degenerate(cells, moments.n_features)
    if resolution is not None:  # a step between values makes up for equal ones, not for absent ones
        bare = find_degenerate(model.cells(moments), moments.n_features)
        flags = np.where(bare == Degeneracy.TOO_FEW_VALUES, bare, flags)
    if flags.any():
        log_bf = _degenerate_bayes_factor(model, used, table, flags, policy, names)
    else:
        with np.errstate(divide="ignore"):
            log_bf = model.combine(cells, used)
    _check_range(names, np.isfinite(log_bf))
    return log_bf, flags


def _check_policy(policy: str) -> None:
    if policy not in ("floor", "exclude", "raise"):
        raise DataError(f"degenerate must be 'floor', 'exclude' or 'raise', not {policy!r}.")


def _check_range(names: tuple[str, ...] | None, *defined: npt.NDArray[np.bool_]) -> None:
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


def _degenerate_bayes_factor(
    model: GaussianModel,
    moments: Moments,
    table: ValueBlocks | None,
    flags: npt.NDArray[np.int8],
    policy: str,
    names: tuple[str, ...] | None,
) -> npt.NDArray[np.float64]:
    """Log Bayes factors where some features have no usable variance; one warning counts them."""
    if table is not None:
        _check_underflow(table, moments, flags)
    found = f"{int((flags != 0).sum())} of {flags.size} features have no usable variance ({_reasons(flags)})"
    if policy == "raise":
        shown = ", ".join(_name(names, i) for i in np.flatnonzero(flags)[:5].tolist())
        raise DegenerateFeatureError(
            f"{found}, for example {shown}. Drop them, use degenerate='floor' or 'exclude', or state the "
            "instrument's resolution."
        )
    repaired = repair(model, moments, flags, policy, table)
    what = "left at the prior" if repaired.excluded[flags != 0].all() else "given a floor or left at the prior"
    warnings.warn(f"{found}; they are flagged in .degenerate and {what}.", DegenerateFeatureWarning, stacklevel=4)
    return np.where(repaired.excluded, 0.0, model.log_bayes_factor(repaired.moments))


def _reasons(flags: npt.NDArray[np.int8]) -> str:
    counts = {flag: int((flags == flag).sum()) for flag in Degeneracy if flag}
    return ", ".join(f"{count} {flag.reason}" for flag, count in counts.items() if count)
