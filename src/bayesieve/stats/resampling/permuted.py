"""Permutations of class labels, and the moments of the same values under them.

With values :math:`x_c` about the pooled mean of their feature, the sums of a class under many labellings at
once are two matrix products, :math:`X_c^T Y` and :math:`(X_c^2)^T Y`, where the columns of :math:`Y` say who
belongs to the class. Then

.. math:: SS_k = Q_k - S_k^2 / n_k

is close to :math:`Q_k`, because the pooled mean is near the mean of any random class. Where it is not, digits
are lost; such places are marked, to be summed anew.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from bayesieve.data import Label
from bayesieve.stats.moments.moments import Moments
from bayesieve.utils import BoolArray, FloatArray, OptionError, compiled

Codes = npt.NDArray[np.integer[Any]]


def n_labellings(counts: Sequence[int]) -> int:
    """Return in how many ways samples can be dealt to classes of these sizes."""
    return math.prod(math.comb(sum(counts[: k + 1]), n) for k, n in enumerate(counts))


@dataclass(frozen=True, slots=True, eq=False)
class Relabellings:
    """Permutations of the labels, all different from each other and from the labels as they are.

    Parameters
    ----------
    codes
        Class of every sample under each of them, ``(n_permutations, n_samples)``, in small integers.
    counts
        Samples per class, the same under all.
    complete
        Whether there are no others.
    """

    codes: Codes
    counts: npt.NDArray[np.int64]
    complete: bool

    def __post_init__(self) -> None:
        self.codes.flags.writeable = False

    @classmethod
    def draw(
        cls, codes: npt.NDArray[np.int64], n_classes: int, n_permutations: int, seed: Any = 0
    ) -> Relabellings:
        """Draw permutations without replacement, or take all there are if no more were asked for."""
        counts = np.bincount(codes, minlength=n_classes)
        own = codes.astype(np.min_scalar_type(n_classes))
        others = n_labellings(counts.tolist()) - 1
        if others < 1:
            raise OptionError(
                "Labels can be permuted only if at least two classes have samples: there is one way to deal them."
            )
        complete = others <= n_permutations
        rows: dict[bytes, Any] = {own.tobytes(): None}
        if complete:
            rows.update((row.tobytes(), row) for row in _all_labellings(counts.tolist(), own.dtype))
        rng = np.random.default_rng(seed)
        while len(rows) <= min(n_permutations, others):
            row = rng.permutation(own)
            rows.setdefault(row.tobytes(), row)
        rows.pop(own.tobytes())
        return cls(np.array(list(rows.values())), counts, complete)

    @property
    def n_permutations(self) -> int:
        """How many."""
        return int(self.codes.shape[0])

    @property
    def order(self) -> npt.NDArray[np.int64]:
        """The classes, the largest one last."""
        largest = int(np.argmax(self.counts))
        return np.array([*(k for k in range(self.counts.size) if k != largest), largest])

    def members(self, which: slice) -> list[FloatArray]:
        """Say who belongs to each class but the largest: ``(n_samples, n_permutations)``, 1 or 0."""
        codes = np.ascontiguousarray(self.codes[which].T)
        return [np.asarray(codes == k, dtype=np.float64) for k in self.order[:-1]]


def _all_labellings(counts: list[int], dtype: Any) -> Iterator[Any]:
    """Deal the places of the first class in every way, then those of the others among what is left."""

    def deal(row: Any, k: int) -> Iterator[Any]:
        free = np.flatnonzero(row == len(counts))
        if k == len(counts) - 1:
            row[free] = k
            yield row
            return
        for chosen in itertools.combinations(free.tolist(), counts[k]):
            dealt = row.copy()
            dealt[list(chosen)] = k
            yield from deal(dealt, k + 1)

    yield from deal(np.full(sum(counts), len(counts), dtype), 0)


_CANCELLED = 1e-3  # of the sum of squares is left: three digits are lost


@dataclass(frozen=True, slots=True, eq=False)
class CentredValues:
    """Values of some features about their pooled means.

    Parameters
    ----------
    values
        Samples x features, 0 where missing.
    centre
        What was subtracted from each feature.
    present
        1 where there is a value, 0 elsewhere; None if none is missing.
    """

    values: FloatArray
    centre: FloatArray
    present: FloatArray | None

    @classmethod
    def of(cls, values: FloatArray) -> CentredValues:
        """Centre values; NaN is missing."""
        absent = np.isnan(values)
        if not absent.any():
            centre = values.mean(axis=0)
            return cls(values - centre, centre, None)
        number = np.maximum((~absent).sum(axis=0), 1)
        centre = np.where(absent, 0.0, values).sum(axis=0) / number
        return cls(np.where(absent, 0.0, values - centre), centre, np.asarray(~absent, dtype=np.float64))

    def sums(self, relabellings: Relabellings, which: slice) -> PermutedSums:
        """Sum the classes under some permutations; the largest class follows by difference."""
        members = relabellings.members(which)
        powers = [self.values, self.values * self.values]
        if self.present is not None:
            powers.append(self.present)
        sums = np.array([[power.T @ each for each in members] for power in powers])
        totals = np.array([power.sum(axis=0) for power in powers])
        return PermutedSums(sums, totals, self.centre, relabellings.counts, relabellings.order)


@dataclass(frozen=True, slots=True, eq=False)
class PermutedSums:
    """Sums of all classes but the largest under many permutations; see :meth:`CentredValues.sums`.

    Parameters
    ----------
    sums
        Of values, of their squares and (where some are missing) their number: ``(2 or 3, n_classes - 1,
        n_features, n_permutations)``.
    totals
        The same over all samples, ``(2 or 3, n_features)``.
    centre
        What was subtracted from each feature.
    counts
        Samples per class.
    order
        The classes that were summed and, last, the one that was not.
    """

    sums: FloatArray
    totals: FloatArray
    centre: FloatArray
    counts: npt.NDArray[np.int64]
    order: npt.NDArray[np.int64]

    def moments(self, classes: tuple[Label, ...], rows: slice) -> tuple[Moments, BoolArray]:
        """Moments of some features under all permutations, and where they cannot be trusted.

        Returns
        -------
        Moments
            Of ``n_features * n_permutations`` columns, all permutations of the first feature first. The mean is
            the pooled one; the residual holds how far a class lies from it, so that no digit is lost.
        unsure
            ``(n_features, n_permutations)``: sums of squares that lost more than three digits, and classes
            with fewer than two values because others are missing.
        """
        sums, totals = self.sums[:, :, rows], self.totals[:, rows]
        n_features, n_permutations = sums.shape[2:]
        shape, cells = (len(classes), n_features, n_permutations), n_features * n_permutations
        unsure = np.zeros(shape[1:], bool)
        number = np.empty(shape if len(sums) == 3 else (0, 0, 0), np.int64)
        means, squares = np.empty(shape), np.empty(shape)
        _split(sums, totals, self.counts, self.order, number, means, squares, unsure)
        count = number.reshape(len(classes), cells) if number.size else self.counts.copy()
        centre = np.broadcast_to(np.repeat(self.centre[rows], n_permutations), (len(classes), cells))
        flat = (array.reshape(len(classes), cells) for array in (squares, means))
        return Moments.trusted(classes, count, centre, *flat), unsure


@compiled()
def _class_moments(s: float, q: float, n: float, whole: float) -> tuple[float, float, bool]:
    """Mean and centred squares of a class, and whether too many digits of ``whole`` were lost."""
    if n < 1.5:
        return (s if n > 0.5 else 0.0), 0.0, False
    mean = s / n
    squares = q - s * mean
    return mean, max(squares, 0.0), not squares > _CANCELLED * whole


@compiled()
def _split(
    sums: Any, totals: Any, counts: Any, order: Any, number: Any, means: Any, squares: Any, unsure: Any
) -> None:
    """Turn sums into means about the centre and centred squares; what is left of the totals is the last class."""
    counted, n_summed = number.size > 0, order.size - 1
    last, n_samples = order[n_summed], float(counts.sum())
    for j in range(unsure.shape[0]):
        for r in range(unsure.shape[1]):
            s, q, n, odd = totals[0, j], totals[1, j], n_samples, False
            if counted:
                n = totals[2, j]
            for i in range(n_summed):
                k, s_k, q_k = order[i], sums[0, i, j, r], sums[1, i, j, r]
                n_k = sums[2, i, j, r] if counted else float(counts[k])
                s, q, n = s - s_k, q - q_k, n - n_k
                means[k, j, r], squares[k, j, r], lost = _class_moments(s_k, q_k, n_k, q_k)
                odd = odd or lost or (counted and n_k < 1.5)
                if counted:
                    number[k, j, r] = int(n_k + 0.5)
            means[last, j, r], squares[last, j, r], lost = _class_moments(s, q, n, totals[1, j])
            unsure[j, r] = odd or lost or (counted and n < 1.5)
            if counted:
                number[last, j, r] = int(n + 0.5)


@compiled()
def deal(values: Any, rows: Any, order: Any, places: Any, dealt: Any) -> None:
    """Put the values of some features into some orders: ``dealt[p, i] = values[order[places[p], i], rows[p]]``."""
    for p in range(rows.shape[0]):
        j, k = rows[p], places[p]
        for i in range(dealt.shape[1]):
            dealt[p, i] = values[order[k, i], j]
