"""SummarisedTable: what a screen asks of a table that was read and reduced to statistics."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

from bayesieve.data import Covariates, LabelledMatrix, Labels, ValueBlocks
from bayesieve.models import Model
from bayesieve.stats import ClassStatistics, DesignMoments
from bayesieve.utils import FloatArray


class SummedAgain(ValueBlocks, Protocol):
    """A table whose blocks can be summed once more under other labels, in one pass or several."""

    @property
    def n_blocks(self) -> int:
        """Number of blocks that a pass reads."""
        ...

    def n_passes(self, n_labellings: int) -> int:
        """How many passes other labels take."""
        ...

    def relabelled(self, model: Model, labellings: Sequence[Labels]) -> Iterator[Any]:
        """Yield statistics under other labels."""
        ...


@runtime_checkable
class SummarisedTable(ValueBlocks, Protocol):
    """A table whose statistics are known and whose values can be looked at again, such as a file."""

    @property
    def statistics(self) -> ClassStatistics:
        """Statistics of its classes, or of differences within pairs."""
        ...

    @property
    def blocked(self) -> Mapping[str, ClassStatistics]:
        """Statistics by block; empty without blocks."""
        ...

    @property
    def class_counts(self) -> Mapping[str, int]:
        """Number of samples by class."""
        ...

    @property
    def block_class_counts(self) -> Mapping[str, Mapping[str, int]]:
        """Number of samples by block and class."""
        ...

    @property
    def n_pairs(self) -> int:
        """Number of pairs; 0 if samples are not paired."""
        ...

    @property
    def n_incomplete(self) -> int:
        """Number of pairs left out because one of their samples is not there."""
        ...

    def in_memory(self) -> tuple[LabelledMatrix, tuple[str, ...] | None] | None:
        """All values with their labels, and the block of every sample; None if they are not in memory."""
        ...


class SummedSamples(Protocol):
    """Samples whose values are not in memory, but were summed together with their covariates."""

    @property
    def labels(self) -> Labels:
        """Class of every sample."""
        ...

    @property
    def strata(self) -> tuple[str, ...] | None:
        """Block of every sample; None without blocks."""
        ...

    def design(self, covariates: Covariates) -> DesignMoments:
        """Moments of the classes and of the columns of the covariates."""
        ...

    def along(self, groups: Labels, outcome: FloatArray, covariates: Covariates | None) -> DesignMoments:
        """Moments of groups of samples along an outcome, which is the first covariate."""
        ...
