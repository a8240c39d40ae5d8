"""Moments in other shapes: some features, other labels, side by side, with rounding variance, as columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from bayesieve.data import Label
from bayesieve.stats.checking import checked_resolution

if TYPE_CHECKING:
    from bayesieve.stats.moments import Moments


class Shapes:
    """Methods of :class:`bayesieve.Moments` that read no data and merge nothing."""

    __slots__ = ()

    def take(self: Moments, places: Any) -> Moments:  # type: ignore[misc]
        """Moments of some features, by position or as a slice, in the order given.

        Examples
        --------
        >>> import bayesieve as bs
        >>> moments = bs.Moments.from_matrix([[1.0, 2.0], [3.0, 5.0]], ["a", "b"])
        >>> moments.take([1]).mean.tolist()
        [[2.0], [5.0]]
        """
        count = self.count if self.count.ndim == 1 else self.count[:, places]
        arrays = (array[:, places] for array in (self.mean, self.centred_squares, np.asarray(self.residual)))
        return self.trusted(self.classes, count, *arrays)

    def renamed(self: Moments, classes: Sequence[Label]) -> Moments:  # type: ignore[misc]
        """Return the same moments under other class labels.

        Examples
        --------
        >>> import bayesieve as bs
        >>> bs.Moments.from_matrix([[1.0], [3.0]], ["a", "b"]).renamed(["x", "y"]).classes
        ('x', 'y')
        """
        arrays = (self.count, self.mean, self.centred_squares, np.asarray(self.residual))
        return self.trusted(tuple(classes), *arrays)

    @staticmethod
    def join(parts: Sequence[Moments]) -> Moments:
        """Put the features of several moments of the same classes side by side.

        Examples
        --------
        >>> import bayesieve as bs
        >>> moments = bs.Moments.from_matrix([[1.0], [3.0]], ["a", "b"])
        >>> bs.Moments.join([moments, moments]).mean.tolist()
        [[1.0, 1.0], [3.0, 3.0]]
        """
        first = parts[0]
        counts = [np.broadcast_to(part.counts, part.mean.shape) for part in parts]
        arrays = [
            np.concatenate([np.asarray(getattr(part, name)) for part in parts], axis=1)
            for name in ("mean", "centred_squares", "residual")
        ]
        return first.trusted(first.classes, np.concatenate(counts, axis=1), *arrays)

    def with_resolution(self: Moments, resolution: npt.ArrayLike) -> Moments:  # type: ignore[misc]
        r"""Add the rounding variance of values recorded to the nearest ``resolution``.

        Every group of :math:`n` values gains :math:`n \delta^2 / 12` centred squares.

        Examples
        --------
        >>> import bayesieve as bs
        >>> moments = bs.Moments.from_matrix([[1.0], [1.0]], ["a", "a"])
        >>> moments.with_resolution(6.0).centred_squares.tolist()
        [[6.0]]
        """
        delta = checked_resolution(resolution, self.n_features)
        extra = self.counts * (delta * delta / 12.0)
        squares = self.centred_squares + extra
        return self.trusted(self.classes, self.count, self.mean, squares, np.asarray(self.residual))

    def describe(self: Moments, labels: Sequence[str]) -> dict[str, Any]:  # type: ignore[misc]
        """Count, mean and standard deviation of every class, and how the second of two differs from the first.

        Examples
        --------
        >>> import bayesieve as bs
        >>> moments = bs.Moments.from_matrix([[0.0], [2.0], [4.0], [8.0]], ["a", "a", "b", "b"])
        >>> moments.describe(["a", "b"])["mean_difference"].tolist()
        [5.0]
        """
        counts, variance = np.broadcast_to(self.counts, self.mean.shape), self.variance
        columns: dict[str, Any] = {}
        for k, label in enumerate(labels):
            columns[f"n_{label}"] = counts[k]
            columns[f"mean_{label}"] = np.where(counts[k] > 0, self.mean[k], np.nan)
            columns[f"sd_{label}"] = np.sqrt(variance[k])
        if len(self.classes) == 2:
            columns["mean_difference"] = np.where((counts > 0).all(axis=0), self.mean_difference, np.nan)
            with np.errstate(divide="ignore", invalid="ignore"):
                columns["log_variance_ratio"] = np.log(variance[1]) - np.log(variance[0])
        return columns
