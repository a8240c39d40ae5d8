"""A table in chunks: labelled, transformed values of some samples or features, and the sums over all of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from bayesieve.data import (
    NEEDS_ALL_SAMPLES,
    LabelledMatrix,
    Labels,
    SampleScales,
    apply_transform,
    is_sparse,
    outside_levels,
)
from bayesieve.io.tables.aggregation import Aggregation, SampleGroups
from bayesieve.io.tables.covariate_sums import CovariateSums
from bayesieve.io.tables.missing_values import Missing
from bayesieve.io.tables.samples import SampleRoles, Samples
from bayesieve.io.tables.table import FeatureTable, SampleTable
from bayesieve.models import Model
from bayesieve.stats import ClassStatistics, FeatureStream, MomentStream, ValueSample
from bayesieve.utils import FileError, FloatArray, IntArray


@dataclass(frozen=True, slots=True, eq=False)
class Chunk:
    """Values of some samples and some features.

    Parameters
    ----------
    values
        Samples x features, transformed; an array or a sparse matrix. Pairs x features if samples are paired.
    roles
        Which samples they are, and as what they are used.
    first
        Number of the first feature.
    features
        Ids of the features.
    levels
        The texts that the values are positions in (-1 is missing), or None.
    """

    values: Any
    roles: SampleRoles
    first: int
    features: Sequence[str]
    levels: tuple[str, ...] | None = None

    def matrix(self, labels: Labels) -> LabelledMatrix:
        """Return the values with their labels."""
        names = tuple(self.roles.units) or None
        return LabelledMatrix(self.values, labels, tuple(self.features), names, self.roles.exposures, self.levels)

    def recode(self, declared: Sequence[Any] | None) -> Chunk:
        """Bring texts to declared levels, if there are any; raise if a text is none of them."""
        if self.levels is None or declared is None:
            return self
        position = {str(level): k for k, level in enumerate(declared)}
        unknown = [level for level in self.levels if level not in position]
        lookup = np.array([*(position.get(level, -1) for level in self.levels), -1], np.int16)
        odd = np.argwhere((self.values >= 0) & (lookup[self.values] < 0)) if unknown else np.empty((0, 2), int)
        if odd.size:
            i, j = odd[0].tolist()
            where = f"sample {self.roles.name(i)}, feature {self.features[j]!r}"
            raise outside_levels(len(odd), unknown, where, tuple(declared))
        return replace(self, values=lookup[self.values], levels=tuple(declared))


@dataclass(slots=True)
class Look:
    """A sub-table of the values met so far, before they are transformed."""

    sample: ValueSample | None = None
    n_samples: int = 0

    def add(self, values: Any, roles: SampleRoles, first_feature: int) -> None:
        """Look at a chunk; one that begins with the first feature holds further samples."""
        if 0 in values.shape:
            return
        start = self.n_samples if first_feature == 0 else 0
        groups = np.repeat([0, 1], roles.cells.size) if roles.paired else roles.cells
        part = ValueSample.of(values, groups, start, first_feature)
        self.sample = part if self.sample is None else self.sample.merge(part)
        self.n_samples += int(values.shape[0]) if first_feature == 0 else 0


@dataclass(frozen=True, slots=True, eq=False)
class Chunks:
    """All chunks of a table.

    Parameters
    ----------
    table
        The table.
    transform
        Name of the transformation.
    memory
        Bytes for what has to be held whole.
    paired
        Whether samples come in pairs, whose differences are wanted.
    look
        What has been seen of the values, if anybody wants to know.
    aggregation
        How samples are put together before anything else is done to them, if they are.
    normalise
        How samples are normalised before they are transformed.
    scales
        By what samples are divided, and what else the transformation has to know; found out beforehand.
    raw
        Leave values as they are in the file, but for their size factors; pairs stay two samples.
    covariates
        What classes are to be compared at equal values of.
    """

    table: SampleTable | FeatureTable
    transform: str
    memory: int
    paired: bool = False
    look: Look | None = None
    aggregation: Aggregation | None = None
    normalise: str = "none"
    scales: SampleScales = field(default_factory=SampleScales)
    raw: bool = False
    covariates: tuple[str, ...] = ()

    @property
    def treated(self) -> str:
        """Say what is done to values, and what was taken from the data for it."""
        first = "" if self.normalise == "none" else f"normalised by {self.normalise}, "
        found = self.scales.dispersion
        return f"{first}transform {self.transform}{'' if found is None else f' (dispersion {found:.3g})'}"

    @property
    def whole_features(self) -> bool:
        """Whether a chunk holds all samples of its features (else all features of its samples)."""
        return isinstance(self.table, FeatureTable) or self.paired or self.transform in NEEDS_ALL_SAMPLES

    def walk(self, samples: Samples, missing: Missing) -> Iterator[Chunk]:
        """Read the table from the start."""
        if self.aggregation is not None:
            groups = self.aggregation.groups(self.table.path)
            samples.groups = groups
            if isinstance(self.table, FeatureTable):
                return self._grouped_features(self.table, samples, groups, missing)
            return self._grouped_samples(self.table, samples, groups, missing)
        if isinstance(self.table, FeatureTable):
            return self._by_features(self.table, samples, missing)
        if self.whole_features:
            return self._by_ranges(self.table, samples, missing)
        return self._by_samples(self.table, samples, missing)

    def _by_features(self, table: FeatureTable, samples: Samples, missing: Missing) -> Iterator[Chunk]:
        roles = samples.roles(table.path, table.sample_ids, table.columns, table.n_samples)
        first = 0
        for chunk in table.chunks(roles.rows):
            yield self.prepared(chunk.values.T, roles, first, chunk.ids, missing, chunk.levels)
            first += len(chunk.ids)

    def _by_samples(self, table: SampleTable, samples: Samples, missing: Missing) -> Iterator[Chunk]:
        done = 0
        for chunk in table.chunks():
            n_samples = int(chunk.values.shape[0])
            roles = samples.roles(table.path, chunk.ids, chunk.columns, n_samples)
            values = chunk.values if roles.rows.size == n_samples else chunk.values[roles.rows]
            yield self.prepared(values, roles, 0, table.feature_ids, missing, chunk.levels, done)
            done += roles.rows.size

    def _grouped_features(
        self, table: FeatureTable, samples: Samples, groups: SampleGroups, missing: Missing
    ) -> Iterator[Chunk]:
        said = samples.said(table.path, table.sample_ids, table.columns, table.n_samples)
        codes = groups.add(*said)
        used = np.flatnonzero(codes >= 0)
        roles = samples.chosen(table.path, *groups.described(samples.labeller.encoder.classes))
        first = 0
        for chunk in table.chunks(used):
            sums = groups.sums(len(chunk.ids), self.memory)
            sums.add(chunk.values.T, codes[used], groups.n_groups)
            yield self.prepared(sums.values(groups.how)[roles.rows], roles, first, chunk.ids, missing)
            first += len(chunk.ids)

    def _grouped_samples(
        self, table: SampleTable, samples: Samples, groups: SampleGroups, missing: Missing
    ) -> Iterator[Chunk]:
        """All groups at once: they are few."""
        sums = groups.sums(len(table.feature_ids), self.memory)
        for chunk in table.chunks():
            codes = groups.add(*samples.said(table.path, chunk.ids, chunk.columns, int(chunk.values.shape[0])))
            groups.check_size(len(table.feature_ids), self.memory)
            sums.add(chunk.values, codes, groups.n_groups)
        roles = samples.chosen(table.path, *groups.described(samples.labeller.encoder.classes))
        yield self.prepared(sums.values(groups.how)[roles.rows], roles, 0, table.feature_ids, missing)

    def _by_ranges(self, table: SampleTable, samples: Samples, missing: Missing) -> Iterator[Chunk]:
        """As many features at a time as fit into memory, with all their samples."""
        ids: list[str] = []
        columns: dict[str, list[str | None]] = {}
        n_samples = 0
        for chunk in table.chunks(slice(0, 1)):
            n_samples += int(chunk.values.shape[0])
            ids += chunk.ids or []
            for role, texts in chunk.columns.items():
                columns.setdefault(role, []).extend(texts)
        roles = samples.roles(table.path, ids or None, columns, n_samples)
        width = max(1, self.memory // (48 * max(n_samples, 1)))
        for lo in range(0, len(table.feature_ids), width):
            part = slice(lo, lo + width)
            values = np.concatenate([_dense(chunk.values) for chunk in table.chunks(part)])
            yield self.prepared(values[roles.rows], roles, lo, table.feature_ids[part], missing)

    def prepared(
        self, values: Any, roles: SampleRoles, first: int, features: Sequence[str], missing: Missing,
        levels: tuple[str, ...] | None = None, done: int = 0,
    ) -> Chunk:  # fmt: skip
        """Prepare values of some samples; ``done`` of those that are used came before."""

        def where(i: int, j: int) -> str:
            return f"sample {roles.name(i)}, feature {features[j]!r} of {self.table.path}"

        numbers = values if levels is None else np.where(values < 0, np.nan, 0.0)
        missing.count(numbers, roles, features, self.table.path)
        if levels is None:
            if self.look is not None:
                self.look.add(values, roles, first)
            scales = self.scales.take(slice(done, done + values.shape[0]))
            values = scales.divide(values)
            if not self.raw:
                values = roles.differences(apply_transform(self.transform, values, where, scales))
        return Chunk(values, roles, first, features, levels)


def _dense(values: Any) -> FloatArray:
    return np.asarray(values.toarray() if is_sparse(values) else values, dtype=np.float64)


@dataclass(slots=True)
class Sums:
    """The sums over all chunks of a table.

    Parameters
    ----------
    statistics
        Statistics of the cells, those without samples included; None if no sample is used.
    cells, units, features
        Cell and name of every sample or pair, and the features, in the order of the file.
    kept
        The chunks themselves, if they were to be kept and are not too large; else None.
    designed
        Sums with covariates, if there are any and the values were not kept.
    """

    statistics: Any
    cells: IntArray
    units: list[str]
    features: list[str]
    kept: list[Chunk] | None
    designed: CovariateSums | None = None


def sum_chunks(
    chunks: Chunks, samples: Samples, missing: Missing, model: Model | None, n_threads: int | None, keep: int = 0
) -> Sums:
    """Read a table once and add it up."""
    cells = [np.empty(0, np.int64)]
    units: list[str] = []
    features: list[str] = []
    kept: list[Chunk] | None = []
    sums: _Stream | None = None
    designed: CovariateSums | None = None
    with_design = bool(chunks.covariates) and (model is None or model.supports("moments"))
    for chunk in chunks.walk(samples, missing):
        if sums is None:
            if chunks.whole_features:
                samples.check_order(chunks.table.path, chunk.roles.cells)
            sums = _Stream(model, n_threads, chunks.whole_features, tuple(chunk.features))
        sums.add(chunk, samples)
        keep -= _size(chunk.values)
        if keep < 0 and with_design:
            designed = designed or CovariateSums(chunks.covariates, n_threads, chunks.whole_features)
            designed.add([*(kept or ()), chunk], samples)
        kept = None if keep < 0 or kept is None else _with(kept, chunk)
        if chunk.first == 0:  # with whole features every chunk holds the same samples
            cells.append(chunk.roles.cells)
            units += chunk.roles.units
        if chunks.whole_features or not features:
            features += chunk.features
    if chunks.whole_features and not features:
        raise FileError(f"{chunks.table.path} holds no features. Check how it was written or downloaded.")
    total = None if sums is None else sums.total(samples)
    return Sums(total, np.concatenate(cells), units, features, kept, designed)


def _with(kept: list[Chunk], chunk: Chunk) -> list[Chunk]:
    kept.append(chunk)
    return kept


def _size(values: Any) -> int:
    return int(values.data.nbytes + values.indices.nbytes) if is_sparse(values) else int(values.nbytes)


@dataclass(slots=True)
class _Stream:
    """Statistics that grow chunk by chunk: moments (``model`` is None), or those of another model.

    Chunks of features are joined to larger ones as they come, chunks of samples merged.
    """

    model: Model | None
    n_threads: int | None
    whole_features: bool
    features: tuple[str, ...]
    moments: FeatureStream | MomentStream | None = None
    parts: list[ClassStatistics] = field(default_factory=list)

    def __post_init__(self) -> None:
        if self.model is None and self.whole_features:
            self.moments = FeatureStream(self.n_threads)
        elif self.model is None:
            self.moments = MomentStream(len(self.features), self.n_threads)

    def add(self, chunk: Chunk, samples: Samples) -> None:
        """Add a chunk."""
        if isinstance(self.moments, MomentStream):
            self.moments.add(chunk.values, chunk.roles.cells, len(samples.cells()))
        elif self.whole_features:
            labels = Labels(tuple(samples.cells(complete=True)), chunk.roles.cells)
            if self.moments is not None:
                self.moments.add(chunk.matrix(labels))
            else:
                self._join(self._summary(chunk, labels))
        elif chunk.roles.cells.size:  # cells that the chunk lacks are left to others
            here, cells = np.unique(chunk.roles.cells, return_inverse=True)
            known = samples.cells()
            self._merge(self._summary(chunk, Labels(tuple(known[k] for k in here.tolist()), cells.reshape(-1))))

    def total(self, samples: Samples) -> Any:
        """Return the statistics of all cells; a cell that was never met has count 0."""
        if isinstance(self.moments, FeatureStream):
            return self.moments.moments()
        if isinstance(self.moments, MomentStream):
            return self.moments.moments(samples.cells(complete=True))
        if self.whole_features:
            return self.parts[0] if len(self.parts) == 1 else _join_parts(self.parts)
        known = self.parts[0].classes if self.parts else ()
        absent = tuple(cell for cell in samples.cells(complete=True) if cell not in known)
        if absent and self.parts:  # as of a sample without values
            nothing, places = np.full((len(absent), len(self.features)), np.nan), np.arange(len(absent))
            roles = SampleRoles(places, (), places, (), np.ones(len(absent)))
            self._merge(self._summary(Chunk(nothing, roles, 0, self.features), Labels(absent, places)))
        return self.parts[0] if self.parts else None

    def _summary(self, chunk: Chunk, labels: Labels) -> ClassStatistics:
        assert self.model is not None
        matrix = chunk.recode(getattr(self.model, "levels", None)).matrix(labels)
        return self.model.summarise(matrix, missing="omit", n_threads=self.n_threads)

    def _merge(self, part: Any) -> None:
        self.parts = [self.parts[0].merge(part) if self.parts else part]

    def _join(self, part: ClassStatistics) -> None:
        self.parts.append(part)
        while len(self.parts) > 1 and self.parts[-1].n_features >= self.parts[-2].n_features:
            self.parts[-2:] = [_join_parts(self.parts[-2:])]


def _join_parts(parts: Sequence[ClassStatistics]) -> ClassStatistics:
    kind: Any = type(parts[0])
    whole: ClassStatistics = kind.join(list(parts))
    return whole


def stacked(parts: list[Any], axis: int) -> Any:
    """Put parts of a table together, dense or sparse."""
    if len(parts) == 1:
        return parts[0]
    if is_sparse(parts[0]):
        import scipy.sparse as sp  # noqa: PLC0415 - slow to import

        return sp.vstack(parts, format="csr") if axis == 0 else sp.hstack(parts, format="csc")
    return np.concatenate(parts, axis=axis)
