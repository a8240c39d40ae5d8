"""Which feature of the synthetic microarray is what, and which constants make sense."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesieve.errors import DataError
from bayesieve.simulation.data_model import IntArray, Kind, KindArray, frozen

if TYPE_CHECKING:
    from bayesieve.simulation.synergetic import SynergeticModel


@dataclass(frozen=True, slots=True, eq=False)
class Layout:
    """What every feature is, in some order of the columns.

    Parameters
    ----------
    kind, group
        Kind and group of variances.
    block
        Number of the block; the number of blocks for features outside of any.
    position
        Place within the block, from 0.
    subclass
        The subclass of class 1 in which a heterogeneous marker differs; -1 for other features.
    order
        Place of the feature in the orderly arrangement: blocks first, group after group, high-variance
        non-markers last.

    Examples
    --------
    >>> from bayesieve.simulation import SynergeticModel
    >>> layout = SynergeticModel().layout
    >>> layout.kind[:6].tolist(), layout.block[:6].tolist(), layout.subclass[:6].tolist()
    ([0, 0, 0, 0, 0, 1], [0, 0, 0, 0, 0, 1], [-1, -1, -1, -1, -1, 1])
    """

    kind: KindArray
    group: KindArray
    block: IntArray
    position: IntArray
    subclass: IntArray
    order: IntArray

    def __post_init__(self) -> None:
        for array in self._arrays():
            array.flags.writeable = False

    def taken(self, order: IntArray) -> Layout:
        """Return the features in another order."""
        return Layout(*(array[order] for array in self._arrays()))

    def _arrays(self) -> tuple[Any, ...]:
        return self.kind, self.group, self.block, self.position, self.subclass, self.order


def even_parts(n: int, n_parts: int) -> tuple[int, ...]:
    """Cut n into parts that differ by 1 at most, the larger first.

    Examples
    --------
    >>> from bayesieve.simulation.synergetic_layout import even_parts
    >>> even_parts(7, 2), even_parts(1, 3)
    ((4, 3), (1, 0, 0))
    """
    return tuple(n // n_parts + (k < n % n_parts) for k in range(n_parts))


def _blocks_of_a_group(model: SynergeticModel) -> list[tuple[Kind, int]]:
    """Kind and subclass of the blocks of a group; heterogeneous ones that differ in the last subclass first."""
    mixed = [
        (Kind.HETEROGENEOUS_MARKER, k)
        for k in reversed(range(model.n_subclasses))
        for _ in range(model.blocks_by_subclass[k])
    ]
    alike = [(Kind.LOW_VARIANCE_NON_MARKER, -1)] * model.low_variance_blocks
    return [(Kind.GLOBAL_MARKER, -1)] * model.global_blocks + mixed + alike


@functools.lru_cache(maxsize=16)
def orderly_layout(model: SynergeticModel) -> Layout:
    """Return what the features are, blocks first and group after group; made once for every model.

    Examples
    --------
    >>> from bayesieve.simulation import SynergeticModel
    >>> from bayesieve.simulation.synergetic_layout import orderly_layout
    >>> orderly_layout(SynergeticModel()).order.tolist()[-1]
    19999
    """
    blocks = np.array(_blocks_of_a_group(model) * model.n_groups, dtype=np.int64).reshape(-1, 2)
    n_blocks, k = len(blocks), model.block_size
    alone = model.n_groups * model.high_variance_features
    names = np.arange(model.n_groups, dtype=np.int8)
    kind = np.append(np.repeat(blocks[:, 0], k), np.full(alone, Kind.HIGH_VARIANCE_NON_MARKER))
    group = np.append(
        np.repeat(names, n_blocks * k // model.n_groups), np.repeat(names, model.high_variance_features)
    )
    return Layout(
        kind.astype(np.int8),
        group,
        np.append(np.repeat(np.arange(n_blocks), k), np.full(alone, n_blocks)),
        np.append(np.tile(np.arange(k), n_blocks), np.zeros(alone, dtype=np.int64)),
        np.append(np.repeat(blocks[:, 1], k), np.full(alone, -1)),
        np.arange(n_blocks * k + alone),
    )


def settle(model: SynergeticModel) -> None:
    """Turn lists among the constants into tuples, and raise unless the constants make sense.

    Examples
    --------
    >>> from bayesieve.simulation import SynergeticModel
    >>> SynergeticModel(class_variances=[[0.1, 0.2]]).class_variances
    ((0.1, 0.2),)
    """
    for name in ("class_variances", "heterogeneous_blocks", "mean_shifts", "mixture_range"):
        object.__setattr__(model, name, frozen(getattr(model, name)))
    _check_variances(model.class_variances)
    _check_numbers(model)
    _check_the_rest(model)


def _check_variances(variances: Any) -> None:
    array = _reals(variances)
    if array is None or (array.size and array.shape[1:] != (2,)) or (array <= 0).any() or len(array) > 127:
        raise DataError(
            f"Variances must be positive, two for every group (127 groups at most), not {variances!r}."
        )


def _check_numbers(model: SynergeticModel) -> None:
    given = model.heterogeneous_blocks
    mixed = given if isinstance(given, tuple) else (given,)
    counts = (model.global_blocks, *mixed, model.low_variance_blocks, model.high_variance_features)
    sizes = (model.block_size, model.n_subclasses)
    if not all(isinstance(n, (int, np.integer)) and not isinstance(n, bool) for n in (*counts, *sizes)):
        raise DataError("Block size and numbers of blocks, features and subclasses must be whole numbers.")
    if min(sizes) < 1 or min(counts) < 0:
        raise DataError("Block size and number of subclasses must be at least 1, other numbers at least 0.")
    if isinstance(given, tuple) and len(given) != model.n_subclasses:
        raise DataError(
            f"heterogeneous_blocks holds {len(given)} numbers; give one for each of the {model.n_subclasses} "
            "subclasses, or a single one."
        )
    if model.n_features < 1:
        raise DataError("Some feature is needed: all numbers of blocks and features are 0, or there is no group.")


def _check_the_rest(model: SynergeticModel) -> None:
    if (rho := _reals(model.correlation)) is None or rho.shape or not 0 <= rho < 1:
        raise DataError(f"correlation must lie in [0, 1), not {model.correlation!r}.")
    if model.mean_shifts is not None:
        shifts = _reals(model.mean_shifts)
        if shifts is None or shifts.shape != (model.block_size,):
            raise DataError(f"mean_shifts must be {model.block_size} finite numbers, one per feature of a block.")
    if model.n_markers and 0.0 in model.shifts and any(first == second for first, second in model.class_variances):
        raise DataError("A marker must differ: mean_shifts holds 0, and a group has equal variances.")
    mixture, shift = _reals(model.mixture_range), _reals(model.mixture_shift)
    if mixture is None or mixture.shape != (2,) or not 0 <= mixture[0] <= mixture[1] <= 1:
        raise DataError("mixture_range must be two numbers between 0 and 1, lower end first.")
    if shift is None or shift.shape:
        raise DataError(f"mixture_shift must be a finite number, not {model.mixture_shift!r}.")


def _reals(value: Any) -> Any:
    """Return finite numbers as an array, or None if there is anything else."""
    try:
        array = np.asarray(value)
        if array.dtype.kind not in "iuf":
            return None
    except ValueError:  # rows of different lengths
        return None
    return array.astype(np.float64) if np.isfinite(array).all() else None
