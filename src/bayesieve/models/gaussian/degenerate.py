r"""Degenerate features, for which the evidence is undefined, and what is done about them.

A class (or the whole feature) without variance makes :math:`s^* = 0` under a prior with
``variance_scale`` 0, and the evidence infinite. But a variance of zero really means "below the
resolution of the instrument": a value recorded to the nearest :math:`\delta` carries a rounding
variance of :math:`\delta^2 / 12`. The floor policy puts that in.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from bayesieve.data import ValueBlocks, is_sparse
from bayesieve.models.gaussian.gaussian import GaussianModel
from bayesieve.models.gaussian.normal_inverse_gamma import Cell
from bayesieve.stats import Moments
from bayesieve.utils import PROPER, FloatArray, Message, PriorError, compiled


def nearest_distance(table: ValueBlocks, which: npt.NDArray[np.int64], constants: FloatArray) -> FloatArray:
    """Distance from each constant to the nearest different value of its column, 0 if there is none.

    Parameters
    ----------
    table
        The table.
    which
        Columns to look at.
    constants
        One value per class and chosen column, ``(n_classes, which.size)``.
    """
    steps = np.full(constants.shape, np.inf)
    for block in table.blocks(which):
        values = block.values
        if is_sparse(values):
            _look_sparse(
                values.data.astype(np.float64), values.indptr, values.shape[0], block.first, constants, steps
            )
        else:
            _look_dense(np.ascontiguousarray(values.T, dtype=np.float64), block.first, constants, steps)
    steps[np.isinf(steps)] = 0.0
    return steps


@compiled()
def _closer(value: float, column: int, constants: Any, steps: Any) -> None:
    for c in range(steps.shape[0]):
        distance = abs(value - constants[c, column])
        if 0.0 < distance < steps[c, column]:  # a NaN is neither
            steps[c, column] = distance


@compiled()
def _look_dense(block: Any, lo: int, constants: Any, steps: Any) -> None:
    for j in range(block.shape[0]):
        for i in range(block.shape[1]):
            _closer(block[j, i], lo + j, constants, steps)


@compiled()
def _look_sparse(data: Any, indptr: Any, n_rows: int, lo: int, constants: Any, steps: Any) -> None:
    for j in range(indptr.shape[0] - 1):
        if indptr[j + 1] - indptr[j] < n_rows:  # there is an implicit zero
            _closer(0.0, lo + j, constants, steps)
        for t in range(indptr[j], indptr[j + 1]):
            _closer(data[t], lo + j, constants, steps)


class Degeneracy(enum.IntEnum):
    """Why a feature has no evidence of its own."""

    NONE = 0
    CONSTANT = 1
    CONSTANT_IN_A_CLASS = 2
    TOO_FEW_VALUES = 3
    NO_EVIDENCE = 4
    TOO_MANY_LEVELS = 5

    @property
    def reason(self) -> str:
        """The flag in words."""
        reasons = (
            "", "constant in all samples", "constant in a class", "too few values in a class",
            "no evidence under this prior", "nearly every value is a level of its own",
        )  # fmt: skip
        return reasons[self]


@dataclass(frozen=True, slots=True, eq=False)
class RepairedMoments:
    """Moments under which every evidence is defined, and what had to be done for it.

    Parameters
    ----------
    moments
        Moments with floors in place.
    degenerate
        A :class:`Degeneracy` per feature, as int8.
    excluded
        Features whose log Bayes factor is to be 0: the data say nothing.
    """

    moments: Moments
    degenerate: npt.NDArray[np.int8]
    excluded: npt.NDArray[np.bool_]


def find_degenerate(cells: tuple[Cell, ...], n_features: int) -> npt.NDArray[np.int8]:
    """Flag the features whose evidence is undefined; raise if the prior itself does not fit the data."""
    flags = np.zeros(n_features, dtype=np.int8)
    if all(min(np.min(x) for x in (cell.dof, cell.scale, cell.strength)) > 0 for cell in cells):
        return flags
    *classes, pooled = cells
    for cell in classes:
        lacking = _lacking(cell)
        flat = np.broadcast_to(np.equal(cell.scale, 0), flags.shape)
        if flat.any():
            flags[flat & (flags == 0)] = Degeneracy.CONSTANT_IN_A_CLASS
        if np.any(lacking):
            flags[np.broadcast_to(lacking, flags.shape)] = Degeneracy.TOO_FEW_VALUES
    lacking = _lacking(pooled)
    if np.any(lacking):
        flags[np.broadcast_to(lacking, flags.shape)] = Degeneracy.TOO_FEW_VALUES
    flat = np.broadcast_to(np.equal(pooled.scale, 0), flags.shape)
    if flat.any():
        flags[flat & (flags != Degeneracy.TOO_FEW_VALUES)] = Degeneracy.CONSTANT
    return flags


def _lacking(cell: Cell) -> Any:
    """Where a group has too few values for its prior; an error if that holds for the group as such."""
    if (np.less(cell.scale, 0) | (np.equal(cell.scale, 0) & np.less(cell.prior.variance_scale, 0))).any():
        raise PriorError(
            f"A negative variance_scale leaves no positive updated scale for {cell.name} in at least one "
            "feature. Use a variance_scale of at least 0."
        )
    lacking = np.less_equal(cell.dof, 0) | np.less_equal(cell.strength, 0)
    if np.min(cell.count) < 2:
        lacking = lacking | (np.less(cell.count, 2) & np.equal(cell.scale, 0))
    if np.ndim(cell.count) == 0 and np.any(lacking):
        raise PriorError(_too_small(cell))
    return lacking


def repair(
    model: GaussianModel, moments: Moments, flags: npt.NDArray[np.int8], policy: str, table: ValueBlocks | None
) -> RepairedMoments:
    """Give degenerate features a floor, or mark them as excluded."""
    if not flags.any():
        return RepairedMoments(moments, flags, np.zeros(flags.shape, dtype=bool))
    squares = moments.centred_squares.copy()
    counts = np.broadcast_to(np.maximum(moments.counts, 1.0), squares.shape)
    excluded = flags == Degeneracy.TOO_FEW_VALUES
    constant = flags == Degeneracy.CONSTANT
    partly = np.flatnonzero(flags == Degeneracy.CONSTANT_IN_A_CLASS)
    if policy == "exclude":
        excluded = flags != Degeneracy.NONE
    else:
        excluded = excluded | (constant & ~_scale_free(model, len(moments.classes), flags.size))
        if table is None:
            excluded[partly] = True
        elif partly.size:
            steps = nearest_distance(table, partly, moments.mean[:, partly])
            squares[:, partly] = _floored(squares[:, partly], counts[:, partly], steps)
            excluded[partly] = (squares[:, partly] == 0).any(axis=0)
    aside = excluded | constant
    squares[:, aside] = counts[:, aside]
    count = moments.count
    if excluded.any() and count.ndim == 2:
        count = np.where(excluded & (count < 2), 2, count)
    repaired = Moments.trusted(moments.classes, count, moments.mean, squares, moments.residual)
    return RepairedMoments(repaired, flags, excluded)


def _floored(squares: FloatArray, counts: FloatArray, step: FloatArray) -> FloatArray:
    """Give classes without spread the rounding variance, but no more than the largest of the other classes.

    A class that never varies must not pass for more variable than one that does: with many samples
    and a single odd value, the rounding variance alone would say so.
    """
    flat = squares == 0
    largest = (squares / counts).max(axis=0)
    floor = step**2 / 12.0
    floor = np.where(largest > 0, np.minimum(floor, largest), floor)
    return np.where(flat, counts * floor, squares)


def _scale_free(model: GaussianModel, n_classes: int, n_features: int) -> npt.NDArray[np.bool_]:
    """Where a common factor of all values cancels, so that a constant feature has a finite limit."""
    priors = (*model.class_priors, model.pooled_prior)
    flat = [(np.asarray(p.variance_scale) == 0) & (np.asarray(p.mean_strength) == 0) for p in priors]
    dof: Any = [np.asarray(p.variance_dof) for p in model.class_priors]
    for n_groups in range(2, n_classes + 1):
        total = dof[0] * n_groups if len(dof) == 1 else sum(dof[:n_groups])
        flat.append(np.isclose(total, model.pooled_prior.variance_dof))
    return np.broadcast_to(np.logical_and.reduce(np.broadcast_arrays(*flat)), (n_features,))


def _too_small(cell: Cell) -> Message:
    prior, count = cell.prior, int(cell.count)
    negative = np.less(prior.variance_dof, 0).any() or np.less(prior.mean_strength, 0).any()
    needs = "is too negative for them" if negative else "needs at least 2 that differ"
    return Message.of(
        f"{cell.name[0].upper()}{cell.name[1:]} has {count} sample{'' if count == 1 else 's'}, but a prior with "
        f"variance_scale {prior.variance_scale}, variance_dof {prior.variance_dof} and mean_strength "
        f"{prior.mean_strength} {needs}: its updated values must be positive.",
        hint=("Leave the class out or merge it with another, add samples, or use a proper prior: ", PROPER, "."),
        kind="class-too-small",
    )
