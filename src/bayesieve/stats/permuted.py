r"""Moments of the same values under permuted labels, by matrix products.

With values :math:`x_c` about the pooled mean of their feature, the sums of a class under many labellings at
once are two matrix products, :math:`X_c^T Y` and :math:`(X_c^2)^T Y`, where the columns of :math:`Y` say who
belongs to the class. Then

.. math:: SS_k = Q_k - S_k^2 / n_k

is close to :math:`Q_k`, because the pooled mean is near the mean of any random class. Where it is not, digits
are lost; such places are marked, to be summed anew.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from bayesieve.data import Label
from bayesieve.stats.compiled import compiled
from bayesieve.stats.moments import Moments
from bayesieve.stats.relabellings import Relabellings

FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]

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

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve.stats.permuted import CentredValues
    >>> CentredValues.of(np.array([[1.0], [5.0], [np.nan]])).values.tolist()
    [[-2.0], [2.0], [0.0]]
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
        """Sum the classes under some permutations; the largest class follows by difference.

        Parameters
        ----------
        relabellings
            The permutations.
        which
            Those to look at.

        Examples
        --------
        >>> import numpy as np
        >>> from bayesieve.stats.permuted import CentredValues
        >>> from bayesieve.stats.relabellings import Relabellings
        >>> others = Relabellings.draw(np.array([0, 1, 1]), 2, 1000)
        >>> sums = CentredValues.of(np.array([[1.0], [2.0], [6.0]])).sums(others, slice(0, 2))
        >>> moments, unsure = sums.moments(("a", "b"), slice(0, 1))
        >>> (moments.mean + moments.residual).tolist()
        [[2.0, 6.0], [3.5, 1.5]]
        """
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

        Examples
        --------
        >>> import numpy as np
        >>> from bayesieve.stats.permuted import CentredValues
        >>> from bayesieve.stats.relabellings import Relabellings
        >>> others = Relabellings.draw(np.array([0, 0, 1, 1]), 2, 1000)
        >>> sums = CentredValues.of(np.array([[1.0], [2.0], [6.0], [6.0]])).sums(others, slice(0, 5))
        >>> sums.moments(("a", "b"), slice(0, 1))[0].centred_squares[0].tolist()
        [12.5, 12.5, 8.0, 8.0, 0.0]
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
def _settled(s: float, q: float, n: float, whole: float) -> tuple[float, float, bool]:
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
                means[k, j, r], squares[k, j, r], lost = _settled(s_k, q_k, n_k, q_k)
                odd = odd or lost or (counted and n_k < 1.5)
                if counted:
                    number[k, j, r] = int(n_k + 0.5)
            means[last, j, r], squares[last, j, r], lost = _settled(s, q, n, totals[1, j])
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
