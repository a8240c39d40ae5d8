"""A table with columns of numbers and of text, each column a feature of its own kind; held in memory."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from bayesieve.data import NONE, Block, LabelledMatrix, MixedMatrix, in_blocks, is_sparse, kind_of, mixture
from bayesieve.io.tables.summary import ReadRecord, Summary
from bayesieve.models import CategoricalModel, MixedModel
from bayesieve.stats import MixedStatistics, split_blocks
from bayesieve.utils import DataError, DataWarning, FileError, IntArray, LabelError, OptionError, Wording, option

_REFUSED = ("pairs", "exposures")
_TEXTS = "not numeric"


@dataclass(slots=True)
class MixedTable:
    """A table of features of several kinds, reduced to statistics; its values are in memory.

    Parameters
    ----------
    source
        The reading of its numbers, or of its texts if it has no numbers.
    matrix
        Values, labels and kinds.
    statistics, blocked
        Statistics of the classes, and of the classes of every block.
    strata
        Block of every sample, None without blocks.
    """

    source: Summary
    matrix: MixedMatrix
    statistics: MixedStatistics
    blocked: dict[str, Any]
    strata: tuple[str, ...] | None
    profile: None = None
    transform: str = "none"
    normalise: str = "none"
    n_pairs: int = 0
    n_incomplete: int = 0

    @property
    def feature_names(self) -> tuple[str, ...]:
        """Names of the features."""
        return self.matrix.feature_names or ()

    @property
    def class_counts(self) -> dict[str, int]:
        """Number of samples by class."""
        return self.source.class_counts

    @property
    def block_class_counts(self) -> dict[str, dict[str, int]]:
        """Number of samples by block and class."""
        return self.source.block_class_counts

    @property
    def sample_names(self) -> tuple[str, ...]:
        """Ids of the samples."""
        return self.source.sample_names

    @property
    def label_map(self) -> dict[str, str]:
        """Class by raw label."""
        return self.source.label_map

    @property
    def labels_are_ids(self) -> bool:
        """Whether every sample has a label of its own."""
        return self.source.labels_are_ids

    @property
    def repeated(self) -> dict[str, int]:
        """How often feature ids occur that are not distinct."""
        return self.source.repeated

    @property
    def record(self) -> ReadRecord:
        """What was read and what was left out: texts are features here."""
        found, mine = self.source.record, set(self.feature_names)
        kept = []
        for group in found.left_out:
            texts = group.reason == f", {_TEXTS}"
            names = tuple(name for name in group.names if name not in mine)
            if names or not group.names:
                why = ", ids, dates or comments" if texts else group.reason
                kept.append(replace(group, names=names, n=len(names) or group.n, reason=why))
        absent = np.isnan(self.matrix.values[:, self.matrix.kinds != NONE]).sum()
        return replace(found, n_features=len(self.feature_names), left_out=tuple(kept), n_missing=int(absent))

    def blocks(self, which: IntArray) -> Iterator[Block]:
        """Yield the values of some features; of categories their codes."""
        yield Block(self.matrix.labels.codes, 0, self.matrix.values[:, which])

    def in_memory(self) -> tuple[LabelledMatrix, tuple[str, ...] | None]:
        """All values with their labels, and the block of every sample."""
        return self.matrix, self.strata


def read_mixed(
    path: str | os.PathLike[str], model: MixedModel, options: Mapping[str, Any], read: Callable[..., Summary]
) -> MixedTable:
    """Read the numbers of a table, then its texts, and put them together.

    Parameters
    ----------
    path, model
        The table, and the model.
    options
        Options of :func:`bayesieve.read_table`.
    read
        That function.
    """
    for name in _REFUSED:
        if options.get(name) is not None:
            raise OptionError(
                option(name), " does not go with ", option("model", "auto"), ".", hint="Leave one of them out."
            )
    if options["transform"] != "none" or options["normalise"] != "none":
        raise OptionError(
            "Features of several kinds are not transformed together.",
            hint=("Leave ", option("transform"), " and ", option("normalise"), " out."),
        )
    numbers = _numbers(path, options, read)
    texts = _texts(path, options, read, numbers)
    held = [each for each in (numbers, texts) if each is not None]
    if not held:
        raise DataError(f"{path} has no column of numbers or of text that could be a feature. Check its columns.")
    return _together(held, model, str(path), options)


def _numbers(path: Any, options: Mapping[str, Any], read: Callable[..., Summary]) -> Summary | None:
    """Read the columns of numbers; None if there are none."""
    with warnings.catch_warnings():  # whatever describes samples is what is compared here
        warnings.filterwarnings("ignore", message=".*to describe the samples", category=DataWarning)
        try:
            return read(path, **options, keep_values=True)
        except FileError as error:
            if error.message.kind != "no-numbers":
                raise
            return None


def _texts(
    path: Any, options: Mapping[str, Any], read: Callable[..., Summary], numbers: Summary | None
) -> Summary | None:
    """Read the columns of text; None if there are none."""
    gone: tuple[str, ...] = tuple(options["ignore"])
    if numbers is not None:
        table = numbers.chunks.table
        if not table.left_out.get(_TEXTS):
            return None
        about = tuple(name for reason, names in table.left_out.items() if reason != _TEXTS for name in names)
        known = (*numbers.feature_names, *numbers.repeated, *about)
        gone = tuple(dict.fromkeys((*gone, *known)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)  # all was said at the first reading
        try:
            return read(path, **{**options, "ignore": gone}, model=CategoricalModel(), keep_values=True)
        except DataError as error:
            if error.message.kind != "too-many-levels":
                raise
            ids: list[str] = error.message.numbers["names"]
    if numbers is not None and set(ids) >= set(numbers.chunks.table.left_out[_TEXTS]):
        return None
    return _texts(path, {**options, "ignore": (*options["ignore"], *ids)}, read, numbers)


def _together(held: list[Summary], model: MixedModel, path: str, options: Mapping[str, Any]) -> MixedTable:
    columns: list[Any] = []
    names: list[str] = []
    strata: tuple[str, ...] | None = None
    first: LabelledMatrix | None = None
    for summary in held:
        found = summary.in_memory()
        if found is None:
            raise DataError(
                f"{path} is too large to be held in memory, which a table of several kinds has to be.",
                hint=("Give more ", Wording("memory=...", "--memory"), ", or say which kind all features are: ",
                      option("model"), "."),
            )  # fmt: skip
        matrix, strata = found
        if first is not None and (
            held[0].sample_names != summary.sample_names
            or not np.array_equal(first.labels.codes, matrix.labels.codes)
        ):
            raise LabelError(
                f"{path}: the samples of its columns of text are not those of its columns of numbers.",
                hint=("Name the column of the sample ids: ", option("id_column", "COLUMN"), "."),
            )
        first = first or matrix
        names += summary.feature_names
        values: Any = matrix.values.toarray() if is_sparse(matrix.values) else np.asarray(matrix.values)
        if matrix.levels is None:
            columns += [*values.astype(np.float64).T]
        else:
            words = [*matrix.levels, None]
            columns += [[words[code] for code in column] for column in values.T.tolist()]
    assert first is not None
    kept = [
        k for k, column in enumerate(columns) if names[k] in (model.likelihoods or {}) or kind_of(column) != NONE
    ]
    if not kept:
        raise DataError(f"{path} has no column that could be a feature: all look like ids, dates or comments.")
    columns, names = [columns[k] for k in kept], [names[k] for k in kept]
    labels = [first.labels.classes[code] for code in first.labels.codes.tolist()]
    made = mixture(columns, names, labels, first.labels.classes, model.likelihoods)
    joint = made if strata is None else in_blocks(made, list(strata))
    whole: Any = model.summarise(joint, missing=options["missing"], n_threads=options["n_threads"])
    statistics, blocked = (whole, {}) if strata is None else split_blocks(whole, first.labels.classes)
    return MixedTable(held[0], made, statistics, blocked, strata)
