"""Log evidences of groups of classes: what every comparison of patterns is made of."""

from __future__ import annotations

import abc
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from bayesieve.data import Label
from bayesieve.models.prior_ratio import checked_prior_ratio
from bayesieve.stats.statistics import ClassStatistics, Parts

FloatArray = npt.NDArray[np.float64]


class Evidences(abc.ABC):
    """Log evidences of groups of classes; what is common to all groupings of the same data may be left out."""

    __slots__ = ()

    @abc.abstractmethod
    def pooled(self) -> FloatArray:
        """Log evidence of all classes together, as of a feature that is no marker."""

    @abc.abstractmethod
    def group(self, members: tuple[int, ...], law: int) -> FloatArray:
        """Log evidence of some classes that share their parameters.

        Parameters
        ----------
        members
            Positions of the classes.
        law
            Number of the group within its pattern: a model may have a prior for each.
        """

    @abc.abstractmethod
    def log_constant(self, n_groups: int) -> Any:
        """Return what a pattern of so many groups gains by the constants of the priors, or by the prior ratio."""

    @property
    def has_one_law(self) -> bool:
        """Whether all groups of a pattern have the same prior."""
        return True


class GroupEvidences(Evidences):
    """Evidences of a model with one prior for every group.

    Parameters
    ----------
    log_evidence
        Log evidence of one group from its statistic.
    statistics
        Statistics of the classes.
    prior_ratio
        What every group but the first contributes where the prior is improper; None for a proper prior.
    """

    __slots__ = ("_log_evidence", "_prior_ratio", "_statistics")

    def __init__(
        self, log_evidence: Callable[[Any], FloatArray], statistics: ClassStatistics, prior_ratio: Any
    ) -> None:
        self._log_evidence, self._statistics, self._prior_ratio = log_evidence, statistics, prior_ratio

    def pooled(self) -> FloatArray:
        """Log evidence of all classes together."""
        return self._of(self._statistics.classes)

    def group(self, members: tuple[int, ...], law: int) -> FloatArray:
        """Log evidence of some classes."""
        del law
        return self._of(tuple(self._statistics.classes[k] for k in members))

    def _of(self, classes: tuple[Label, ...]) -> FloatArray:
        group: Any = self._statistics.pool(classes)
        with np.errstate(divide="ignore", invalid="ignore"):  # what is not finite is found later
            return np.asarray(self._log_evidence(group.parts[0] if isinstance(group, Parts) else group))

    def log_constant(self, n_groups: int) -> Any:
        """Return the log prior ratio for every group but the first; 0 for a proper prior."""
        if self._prior_ratio is None:
            return 0.0
        ratio: Any = checked_prior_ratio(self._prior_ratio)
        return (n_groups - 1) * np.log(ratio)


class SumOfEvidences(Evidences):
    """Independent data about the same grouping: blocks of samples, or values and their absence.

    Parameters
    ----------
    parts
        Evidences over the same classes and features.
    kept
        For each part the features it has a say about; None for all.
    """

    __slots__ = ("_kept", "_parts")

    def __init__(
        self, parts: Sequence[Evidences], kept: Sequence[npt.NDArray[np.bool_] | None] | None = None
    ) -> None:
        self._parts = tuple(parts)
        self._kept = tuple(kept) if kept is not None else (None,) * len(self._parts)

    def pooled(self) -> FloatArray:
        """Sum over the parts."""
        return np.asarray(self._sum([part.pooled() for part in self._parts]))

    def group(self, members: tuple[int, ...], law: int) -> FloatArray:
        """Sum over the parts."""
        return np.asarray(self._sum([part.group(members, law) for part in self._parts]))

    def log_constant(self, n_groups: int) -> Any:
        """Sum over the parts: the prior ratio enters once for each."""
        return self._sum([part.log_constant(n_groups) for part in self._parts])

    def _sum(self, terms: Sequence[Any]) -> Any:
        return sum(
            term if kept is None else np.where(kept, term, 0.0)
            for term, kept in zip(terms, self._kept, strict=True)
        )

    @property
    def has_one_law(self) -> bool:
        """Whether all groups of a pattern have the same prior."""
        return all(part.has_one_law for part in self._parts)
