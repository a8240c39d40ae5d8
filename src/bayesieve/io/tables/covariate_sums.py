"""Sums of a table with its covariates while it is read: products with them are held, and no values.

Which columns a covariate makes is known at the end only. A text gives its level a column of zeros and ones when it
first occurs, which was 0 in all samples before. A number is summed as it is, and as a level, too, until so many
different ones have come that they are no names.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from bayesieve.data import Covariates, Label, LabelledMatrix, Labels, plain_name
from bayesieve.io.tables.roles import columns_of
from bayesieve.io.tables.samples import Samples
from bayesieve.stats import DesignMoments, DesignStream
from bayesieve.utils import FloatArray, IntArray, OptionError, Wording

_MOST_NAMES = 12  # different numbers that may turn out to be names
_MOST_LEVELS = 100


@dataclass(slots=True)
class _Column:
    """One covariate: whether it is a number as far as it was met, and its levels, None of what is surely none."""

    name: str
    is_number: bool
    levels: dict[str, int] | None = field(default_factory=dict)

    @property
    def names(self) -> list[str]:
        """Names of its columns."""
        return [self.name] * self.is_number + [f"{self.name}={level}" for level in self.levels or ()]

    def add(self, texts: Sequence[str]) -> FloatArray:
        """Turn texts into columns, of which some may be new."""
        numbers = np.array([_number(text) for text in texts])
        stripped = [text.strip() for text in texts]
        finite = np.isfinite(numbers)
        if self.levels is None:
            if not finite.all():
                raise _no_number(self.name, texts[int(np.flatnonzero(~finite)[0])])
            return numbers[:, None]
        self.is_number = self.is_number and bool(finite.all())
        for text in stripped:
            self.levels.setdefault(text, len(self.levels))
        if self.is_number and len(self.levels) > _MOST_NAMES:
            self.levels = None
            return numbers[:, None]
        if len(self.levels) > _MOST_LEVELS:
            raise OptionError(
                f"Covariate {self.name!r} takes more than {_MOST_LEVELS} different values, for example "
                f"{stripped[0]!r}: they look like ids, not like levels. Leave it out, or merge levels.",
                kind="covariates",
            )
        of_levels = np.zeros((len(texts), len(self.levels)))
        of_levels[np.arange(len(texts)), [self.levels[text] for text in stripped]] = 1.0
        return np.column_stack([numbers, of_levels]) if self.is_number else of_levels


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return math.nan


def _no_number(name: str, text: str) -> OptionError:
    return OptionError(
        f"Covariate {name!r} is a number in the first samples of the table and {text!r} in a later one.",
        hint=("Correct it, or say that its numbers are names: ",
              Wording(f"C({name})", f"--covariates 'C({name})'"), "."),
        kind="covariates",
    )  # fmt: skip


class CovariateSums:
    """Products of features with covariates that grow as the table is read.

    Parameters
    ----------
    covariates
        Names of the covariates; numbers of ``C(NAME)`` are names.
    n_threads
        Threads.
    whole_features
        Whether a chunk has all samples of its features.
    """

    def __init__(self, covariates: Sequence[str], n_threads: int | None, whole_features: bool) -> None:
        self._whole_features = whole_features
        self._columns = [_Column(plain_name(name), plain_name(name) == name) for name in covariates]
        self._given, self._n_threads = tuple(covariates), n_threads
        self._stream, self._parts = DesignStream((), n_threads), list[DesignMoments]()
        self.texts: list[list[str]] = [[] for _ in covariates]

    def add(self, chunks: Sequence[Any], samples: Samples) -> None:
        """Add chunks: some features of all samples, or all features of some."""
        for chunk in chunks:
            if self._whole_features:
                self._add_features(chunk, samples.cells(complete=True))
            else:
                self._add_samples(chunk, len(samples.cells()))

    def _add_samples(self, chunk: Any, n_cells: int) -> None:
        if not chunk.roles.cells.size:
            return
        texts = columns_of("covariates", [chunk], first=False)
        for k, new in enumerate(texts):
            self.texts[k] += new
        made = [column.add(new) for column, new in zip(self._columns, texts, strict=True)]
        names = [name for column in self._columns for name in column.names]
        self._stream.add(chunk.values, chunk.roles.cells, n_cells, np.column_stack(made), names)

    def _add_features(self, chunk: Any, cells: Sequence[Label]) -> None:
        if not self._parts:
            self.texts = columns_of("covariates", [chunk], first=True)
        about = Covariates.of(dict(zip(self._given, self.texts, strict=True)))
        labels = Labels(tuple(range(len(cells))), chunk.roles.cells)
        matrix = LabelledMatrix(chunk.values, labels, None)
        self._parts.append(
            DesignMoments.from_labelled(
                matrix, about.as_given, names=about.names, missing="omit", n_threads=self._n_threads
            )
        )

    def total(self, n_cells: int) -> DesignMoments:
        """Return the moments of everything added, with the number of the cell as its class."""
        return DesignMoments.join(self._parts) if self._parts else self._stream.statistics(range(n_cells))


@dataclass(frozen=True, slots=True, eq=False)
class SummedSamples:
    """Samples of a table that were summed, with their covariates if there are any.

    Parameters
    ----------
    statistics
        Statistics of the cells.
    sums
        Sums with covariates; None if there are none, or the values were kept.
    samples
        Who the samples are.
    cells
        Cell of every sample.
    classes
        Classes in their final order.
    """

    statistics: Any
    sums: CovariateSums | None
    samples: Samples
    cells: IntArray
    classes: tuple[Label, ...]

    @property
    def labels(self) -> Labels:
        """Class of every sample."""
        return Labels(self.classes, self.samples.classes_of(self.cells, self.classes))

    @property
    def strata(self) -> tuple[str, ...] | None:
        """Block of every sample; None without blocks."""
        names = [_block(cell) for cell in self.samples.cells()]
        return tuple(names[k] for k in self.cells.tolist()) if "blocks" in self.samples.extras else None

    def design(self, covariates: Covariates, *, as_given: bool = False) -> DesignMoments:
        """Return the moments of the classes and of the columns that covariates make in the end.

        Parameters
        ----------
        covariates
            The covariates of all samples; one that was not summed is the block.
        as_given
            Leave columns in their own units.
        """
        summed, known = self._of_cells()
        p = len(covariates)
        centres, units = (np.zeros(p), np.ones(p)) if as_given else (covariates.centres, covariates.units)
        found = _in_blocks(summed, known, covariates).columns(covariates.names, centres, units)
        own = [cell[1] if isinstance(cell, tuple) else cell for cell in known]
        groups = [
            [k for k, name in zip(found.classes, own, strict=True) if name == label] for label in self.classes
        ]
        return found.grouped(groups, self.classes)

    def along(self, groups: Labels, outcome: FloatArray, covariates: Covariates | None) -> DesignMoments:
        """Moments of groups of classes, whose first covariate is an outcome that each class has one value of."""
        nothing = Covariates((), np.empty((outcome.size, 0)), (), np.empty(0), {}, np.empty(0))
        design = self.design(nothing if covariates is None else covariates)
        _, first = np.unique(self.labels.codes, return_index=True)
        design = design.with_constants(("outcome",), outcome[first, None])
        members = [[self.classes[k] for k in np.flatnonzero(groups.codes[first] == g).tolist()]
                   for g in range(len(groups.classes))]  # fmt: skip
        return design.grouped(members, groups.classes)

    def _of_cells(self) -> tuple[DesignMoments, list[Label]]:
        """Moments of the cells that were met, and these."""
        cells = self.samples.cells()
        if self.sums is None:
            n, k = self.statistics.n_features, len(self.statistics.classes)
            arrays = np.empty((k, 0)), np.empty((k, 0, 0)), np.empty((k, 0, n))
            return DesignMoments(self.statistics, (), *arrays).renamed(range(k)), list(self.statistics.classes)
        summed = self.sums.total(len(cells))
        return summed, [cells[k] for k in range(len(summed.classes))]


def _in_blocks(found: DesignMoments, cells: Sequence[Label], covariates: Covariates) -> DesignMoments:
    """Give cells of a block its indicator, which is the same in all of their samples."""
    whose = {name.partition("=")[0] for name in found.covariates} | set(found.covariates)
    both = zip(covariates.names, covariates.sources, strict=True)
    names = {name: source for name, source in both if source not in whose}
    told = [[f"{source}={_block(cell)}" == name for name, source in names.items()] for cell in cells]
    return found.with_constants(tuple(names), np.array(told, dtype=np.float64)) if names else found


def _block(cell: Label) -> str:
    return str(cell[0]) if isinstance(cell, tuple) else ""
