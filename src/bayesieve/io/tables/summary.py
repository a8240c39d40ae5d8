"""Summary of a table: sufficient statistics of its classes from one pass, and a record of what was read."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from bayesieve.data import Block, Label, LabelledMatrix, Labels, is_sparse
from bayesieve.io.tables.chunks import Chunk, Chunks, Look, Sums, stacked
from bayesieve.io.tables.covariate_sums import SummedSamples
from bayesieve.io.tables.dates import warn_of_dates
from bayesieve.io.tables.duplicates import describe, number_names, repeats
from bayesieve.io.tables.missing_values import Missing
from bayesieve.io.tables.roles import check_distinct, columns_of, long_form_advice
from bayesieve.io.tables.samples import Samples
from bayesieve.io.tables.scales import sample_totals, with_scales
from bayesieve.io.tables.spans import LabelledSpans, Spans, sum_file
from bayesieve.io.tables.value_checks import check_levels, check_range, raise_missing
from bayesieve.models import Model
from bayesieve.stats import (
    ClassStatistics,
    Moments,
    ValueProfile,
    as_moments,
    plain_counts,
    split_blocks,
)
from bayesieve.utils import Message, SampleIds, plural


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Some samples, columns or rows of a table that were not used.

    Parameters
    ----------
    n, what
        How many, and of what: ``"sample"``, ``"column"``, ``"row"``.
    reason
        Why, as the end of a sentence that begins with the number.
    sample_ids, names
        Which: ids of samples or pairs, or names of columns and rows.
    """

    n: int
    what: str
    reason: str
    sample_ids: tuple[str, ...] = ()
    names: tuple[str, ...] = ()

    def pieces(self) -> tuple[str | SampleIds, ...]:
        """Say it; names of columns may be those of samples, and are left out with them."""
        named = (SampleIds(self.names, ": "),) if self.names else _in_brackets(self.sample_ids)
        return f"{plural(self.n, self.what)}{self.reason}", *named


def _in_brackets(ids: tuple[str, ...]) -> tuple[SampleIds, ...]:
    return (SampleIds(ids, " ("), SampleIds((")",))) if ids else ()  # the bracket goes with the ids


@dataclass(frozen=True, slots=True)
class ReadRecord:
    """What was read from a table and what was left out.

    Parameters
    ----------
    path, form, samples_in, transform
        The file, its format, where its samples are, and how its values were transformed.
    n_samples, n_features
        What is used of it.
    left_out
        What is not.
    labels_in_order
        The file whose lines give the labels in order, for a table without sample ids.
    label_file, unmatched
        The file that gives labels by id, and those of its ids that are not in the table.
    ids_in
        Where ids were found in the label file, if not in its first column.
    n_missing
        Number of missing values.
    notes
        What else was found out.
    treated
        In words, what was done to values, with what was taken from the data for it.
    """

    path: str
    form: str
    samples_in: str
    transform: str
    n_samples: int
    n_features: int
    left_out: tuple[LeftOut, ...] = ()
    labels_in_order: str = ""
    label_file: str = ""
    unmatched: tuple[str, ...] = ()
    ids_in: str = ""
    n_missing: int = 0
    notes: tuple[Message, ...] = ()
    treated: str = ""

    def messages(self) -> list[Message]:
        """Return sentences about shape, orientation and what was left out."""
        sentences: list[tuple[str, tuple[str | SampleIds, ...]]] = [("shape", (self._shape(),))]
        if self.left_out:
            groups = [("; " if k else "", *group.pieces()) for k, group in enumerate(self.left_out)]
            sentences.append(("left-out", ("Left out: ", *(piece for group in groups for piece in group), ".")))
        if self.labels_in_order:
            text = f"The table has no sample ids: labels are taken in the order of {self.labels_in_order}."
            sentences.append(("labels", (text,)))
        if self.unmatched:
            n, are = len(self.unmatched), "is" if len(self.unmatched) == 1 else "are"
            text = f"{plural(n, 'id')} of {self.label_file} {are} not in the table"
            sentences.append(("labels", (text, *_in_brackets(self.unmatched), ".")))
        if self.ids_in:
            sentences.append(("labels", (f"Samples are looked up in {self.ids_in}.",)))
        if self.n_missing:
            are = "is" if self.n_missing == 1 else "are"
            text = f"{plural(self.n_missing, 'missing value')} {are} left out, feature by feature."
            sentences.append(("missing-values", (text,)))
        return [*(Message(pieces, kind=kind) for kind, pieces in sentences), *self.notes]

    def _shape(self) -> str:
        return (
            f"{self.path}: {self.form}, samples in {self.samples_in}; {self.n_samples:,} samples x "
            f"{plural(self.n_features, 'feature')}, {self.treated or f'transform {self.transform}'}."
        )


@dataclass(slots=True)
class Summary:
    """A table reduced to the sufficient statistics of its classes; its values can be looked at again.

    Parameters
    ----------
    statistics
        Statistics per class and feature; of pairs, the moments of their differences, as one class.
    feature_names
        Ids of the features.
    chunks, samples
        The table, and who its samples are.
    missing
        How many values are missing.
    class_counts
        Number of samples by class.
    blocked, block_class_counts
        Statistics, and number of samples by class, of every block. A class that a block lacks has count 0.
    sample_names
        Ids of the samples used (of the pairs, if they are paired), in the order of the file; none if the
        table has none.
    n_pairs
        Number of pairs, 0 if samples are not paired.
    kept
        All chunks with their values, if they were kept for a second look.
    spans
        The blocks of the file, if they can be read in any order.
    profile
        What the values look like before any transformation; None if they were not read for a Gaussian model.
    repeated
        How often each feature id occurs that is not distinct in the table; its features have numbers at their end.
    numbered
        Ids of these features by their names.
    duplicates
        What becomes of them: ``"strongest"``, a screen lets the strongest stand for its id.
    label_name
        What the column of the labels is called.
    summed
        The samples as they were summed; with their covariates, if the values were not kept.
    is_outcome, is_ordered
        Whether labels are the values of an outcome, and whether their order was given.
    describe
        Reads what else is known of the samples.
    """

    statistics: ClassStatistics
    feature_names: tuple[str, ...]
    chunks: Chunks
    samples: Samples
    missing: Missing
    class_counts: dict[str, int] = field(default_factory=dict)
    blocked: dict[str, ClassStatistics] = field(default_factory=dict)
    block_class_counts: dict[str, dict[str, int]] = field(default_factory=dict)
    sample_names: tuple[str, ...] = ()
    n_pairs: int = 0
    kept: list[Chunk] | None = None
    spans: Spans | None = None
    profile: ValueProfile | None = None
    repeated: dict[str, int] = field(default_factory=dict)
    numbered: dict[str, str] = field(default_factory=dict)
    duplicates: str = "number"
    label_name: str = ""
    summed: SummedSamples | None = None
    is_outcome: bool = False
    is_ordered: bool = False
    describe: Callable[[], dict[str, list[Any]]] | None = None
    _described: dict[str, list[Any]] | None = None

    @property
    def sample_columns(self) -> dict[str, list[Any]]:
        """What else the table and its label file say of the samples used, by column; read when first asked for."""
        if self._described is None:
            self._described = {} if self.describe is None else self.describe()
        return self._described

    @property
    def covariates(self) -> dict[str, list[str]]:
        """Covariates by name, one text per sample; no texts if the values were not kept."""
        said = columns_of("covariates", self.kept, first=self.chunks.whole_features)
        said = said if self.summed is None or self.summed.sums is None else self.summed.sums.texts
        return {name: said[k] if said else [] for k, name in enumerate(self.chunks.covariates)}

    @property
    def subject(self) -> list[str] | None:
        """Whose sample each is; None if that was not said, nothing if the values were not kept."""
        said = columns_of("subject", self.kept, first=self.chunks.whole_features)
        return said[0] if said else [] if "subject" in self.samples.extras else None

    @property
    def transform(self) -> str:
        """How the values were transformed."""
        return self.chunks.transform

    @property
    def normalise(self) -> str:
        """How samples were normalised before."""
        return self.chunks.normalise

    @property
    def moments(self) -> Moments:
        """The statistics of the Gaussian model."""
        moments = as_moments(self.statistics)
        if moments is None:
            raise AttributeError(f"The table was summed for another model, to {type(self.statistics).__name__}.")
        return moments

    @property
    def label_map(self) -> dict[str, str]:
        """Class by raw label; ``"*"`` stands for every label not named otherwise."""
        encoder = self.samples.labeller.encoder
        return (
            {label: label for label in encoder.classes} if encoder.wanted is None else dict(encoder.wanted.members)
        )

    @property
    def labels_are_ids(self) -> bool:
        """Whether every sample has a label of its own, so that classes were put together by ids."""
        encoder = self.samples.labeller.encoder
        return encoder.wanted is not None and max(encoder.seen.values(), default=0) <= 1

    @property
    def n_incomplete(self) -> int:
        """Number of pairs that lack a class and are left out."""
        return len(self.samples.incomplete)

    @property
    def record(self) -> ReadRecord:
        """What was read from the table and what was left out."""
        table, labeller = self.chunks.table, self.samples.labeller
        known = labeller.by_id or {}
        return ReadRecord(
            table.path, table.form, table.samples_in, self.chunks.transform, sum(self.class_counts.values()),
            len(self.feature_names), tuple(self._left_out()),
            labels_in_order="" if labeller.in_order is None else labeller.source, label_file=labeller.source,
            unmatched=tuple(name for name in known if name not in labeller.matched), ids_in=labeller.ids_in,
            n_missing=self.missing.total, notes=(*self._matched(), *table.notes),
            treated=self.chunks.treated,
        )  # fmt: skip

    def _matched(self) -> Iterator[Message]:
        for labeller in (self.samples.labeller, *self.samples.extras.values()):
            if labeller.match is not None and labeller.by_match:
                yield labeller.match.describe(labeller.by_match, labeller.source)

    def _left_out(self) -> Iterator[LeftOut]:
        table, samples = self.chunks.table, self.samples
        labeller, encoder = samples.labeller, samples.labeller.encoder
        if encoder.n_unlabelled:
            yield LeftOut(encoder.n_unlabelled, "sample", " without a label")
        if encoder.outside:
            shown = ", ".join(f"{label} ({count})" for label, count in encoder.outside.most_common(5))
            ids: tuple[str, ...]
            end, ids = ("", (shown,)) if self.labels_are_ids else (f": {shown}", ())
            yield LeftOut(encoder.outside.total(), "sample", f" outside the classes{end}", names=ids)
        for role, n in samples.lacking.items():
            if n:
                yield LeftOut(n, "sample", f" without a value of {samples.names[role]!r}")
        if samples.incomplete:
            pairs = tuple(map(repr, samples.incomplete))
            yield LeftOut(len(pairs), "incomplete pair", f" of {samples.names['pairs']!r}", pairs)
        unknown = (*labeller.unmatched, *table.left_out.get("not in the label file", ()))
        if unknown:
            what = "column" if unknown == tuple(table.left_out.get("not in the label file", ())) else "sample"
            yield LeftOut(len(unknown), what, f" that {labeller.source} does not know", unknown)
        for reason, names in table.left_out.items():
            if reason == "rows without numbers":
                yield LeftOut(len(names), "row", " without numbers", names=tuple(names))
            elif reason != "not in the label file":
                yield LeftOut(len(names), "column", f", {reason}", names=tuple(names))

    def blocks(self, which: npt.NDArray[np.int64]) -> Iterator[Block]:
        """Yield the values of some features, kept ones or read again; pairs come as differences."""
        if self.kept is None and self.spans is not None:
            codes = self.samples.classes_of(self.spans.roles.cells, self.statistics.classes)
            yield from self.spans.blocks(which, codes)
            return
        samples = self.samples if self.kept is not None else self.samples.restart()
        chunks = self.kept if self.kept is not None else self.chunks.walk(samples, Missing())
        done = 0
        for chunk in chunks:
            last = chunk.first + len(chunk.features)
            columns = which[(which >= chunk.first) & (which < last)] - chunk.first
            if columns.size and chunk.roles.cells.size:
                codes = samples.classes_of(chunk.roles.cells, self.statistics.classes)
                values = self._values(chunk)[:, columns]
                yield Block(codes, done, values.tocsc() if is_sparse(values) else values)
            done += columns.size if self.chunks.whole_features else 0

    def in_memory(self) -> tuple[LabelledMatrix, tuple[str, ...] | None] | None:
        """All values with their labels, and the block of every sample; None if the values were not kept."""
        if self.kept is None or not any(chunk.roles.cells.size for chunk in self.kept):
            return None
        chunks = [chunk for chunk in self.kept if chunk.roles.cells.size]
        roles = [chunks[0].roles] if self.chunks.whole_features else [chunk.roles for chunk in chunks]
        cells = np.concatenate([each.cells for each in roles])
        values = stacked([self._values(chunk) for chunk in chunks], axis=1 if self.chunks.whole_features else 0)
        exposures = None
        if all(each.exposures is not None for each in roles):
            exposures = np.concatenate([np.asarray(each.exposures) for each in roles])
        labels = Labels(self.statistics.classes, self.samples.classes_of(cells, self.statistics.classes))
        levels = getattr(self.statistics, "levels", None) if chunks[0].levels is not None else None
        matrix = LabelledMatrix(values, labels, self.feature_names, None, exposures, levels)
        return matrix, self._strata(cells)

    def labelled(self) -> tuple[LabelledMatrix, tuple[str, ...] | None, LabelledSpans] | None:
        """Labels and blocks of the samples, without values, if the file can be read again block by block."""
        if self.spans is None:
            return None
        cells = self.spans.roles.cells
        labels = Labels(self.statistics.classes, self.samples.classes_of(cells, self.statistics.classes))
        nothing = np.broadcast_to(np.float64(0.0), self.spans.shape)
        matrix = LabelledMatrix(nothing, labels, self.feature_names, None, self.spans.roles.exposures)
        n_cells = len(labels.classes) * max(1, len(self.blocked))
        return matrix, self._strata(cells), LabelledSpans(self.spans, labels.codes, n_cells, self.feature_names)

    def _strata(self, cells: Any) -> tuple[str, ...] | None:
        """Block of every sample; None without blocks."""
        names: list[Any] = self.samples.cells()
        return tuple(str(names[k][0]) for k in cells.tolist()) if self.blocked else None

    def _values(self, chunk: Chunk) -> Any:
        """Values of a chunk; texts as positions among all levels of the table."""
        if chunk.levels is None:
            return chunk.values
        position = {str(level): k for k, level in enumerate(getattr(self.statistics, "levels", chunk.levels))}
        return np.array([*(position[level] for level in chunk.levels), -1], np.int16)[chunk.values]


def summarise(
    chunks: Chunks,
    samples: Samples,
    *,
    missing: str,
    n_threads: int | None,
    model: Model | None = None,
    by_total: bool = False,
    keep: int = 0,
    duplicates: str = "number",
) -> Summary:
    """Read a table once and reduce it to the statistics of its classes; keep so many bytes of values at most."""
    path, look = chunks.table.path, Look()
    if by_total:
        samples.totals = sample_totals(chunks, samples.restart())
    chunks = with_scales(chunks, samples)
    looked = replace(chunks, look=look) if model is None or model.supports("moments") else chunks
    sums, absent, spans = sum_file(looked, samples, model, n_threads, keep, located=missing == "raise")
    samples.finish(path, chunks.table.left_out.get("not in the label file", ()))
    if model is not None and samples.exposures:
        model.check_exposures(samples.exposures)
    order = samples.check_order(path, sums.cells)
    check_distinct(path, sums.units, "sample", long_form_advice(path, sums.units))
    warn_of_dates(path, sums.features)
    names, repeated = sums.features, repeats(sums.features)
    numbered: dict[str, str] = {}
    if repeated and duplicates == "error":
        check_distinct(path, names, "feature")
    elif repeated:
        ids, names = names, list(number_names(names)[0])
        numbered = {name: own for name, own in zip(names, ids, strict=True) if own in repeated}
        chunks.table.notes.append(describe(repeated, duplicates))
    if as_moments(sums.statistics):
        check_range(path, sums.statistics, names)
    elif getattr(model, "levels", ()) is None and any(isinstance(text, str) for text in sums.statistics.levels):
        check_levels(path, sums.statistics, names)
    if absent.total and missing == "raise":
        raise_missing(absent, sums.statistics, sums.cells.size, path)
    statistics, blocked = _split(sums.statistics, order, samples.blocks())
    counts, by_block = _sample_counts(sums, samples, order)
    summed = SummedSamples(sums.statistics, sums.designed, samples, sums.cells, tuple(order))
    return Summary(
        statistics, tuple(names), chunks, samples, absent, counts, blocked, by_block, tuple(sums.units),
        n_pairs=sums.cells.size if samples.paired else 0, kept=sums.kept if keep else None,
        spans=spans,
        profile=None if look.sample is None else look.sample.profile(), repeated=repeated,
        numbered=numbered, duplicates=duplicates, summed=summed,
    )  # fmt: skip


def _split(cells: Any, order: list[Label], blocks: list[str]) -> tuple[Any, dict[str, Any]]:
    """Statistics of the classes, and of the classes of every block, from those of all cells."""
    if not blocks:
        return (cells if tuple(order) == cells.classes else plain_counts(cells.pick(order))), {}
    return split_blocks(cells.pick([(name, label) for name in blocks for label in order]), order)


def _sample_counts(
    sums: Sums, samples: Samples, order: list[Label]
) -> tuple[dict[str, int], dict[str, dict[str, int]]]:
    """Number of samples by class, and by block and class; both samples of a pair count."""
    cells = samples.cells()
    counts = np.bincount(sums.cells, minlength=len(cells))
    by_cell = dict(zip(cells, counts.tolist(), strict=True))
    names = samples.labeller.encoder.order()
    labels = order * 2 if samples.paired else order
    blocks = {
        block: {name: by_cell.get((block, label), 0) for name, label in zip(names, labels, strict=True)}
        for block in samples.blocks()
    }
    if blocks:
        return {name: sum(block[name] for block in blocks.values()) for name in names}, blocks
    return {name: by_cell[label] for name, label in zip(names, labels, strict=True)}, {}
