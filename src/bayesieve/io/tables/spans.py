"""Files that are read block by block, in any order: sums of a screen, values of some features, other labels."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from bayesieve.data import Block, LabelledMatrix, Labels, is_sparse
from bayesieve.distributed import Leaf, Place, SpanTable, passes_for, sum_blocks, sum_labellings
from bayesieve.io.tables.chunks import Chunk, Chunks, Sums, stacked, sum_chunks
from bayesieve.io.tables.missing_values import Missing
from bayesieve.io.tables.samples import SampleRoles, Samples
from bayesieve.models import Model
from bayesieve.stats import BlockSums, Moments, check_no_infinity, plain_counts
from bayesieve.utils import BayesieveError, IntArray, OptionError, Wording, option

_AT_ONCE = 2**27  # bytes of statistics of shuffled labels that are held together
_moments = partial(Moments.from_labelled, shape=True)


@dataclass(frozen=True, slots=True)
class _Summarise:
    """Sums a block by the moments (``model`` is None), or by another model."""

    model: Model | None

    def __call__(self, matrix: LabelledMatrix, *, missing: str, n_threads: int) -> Any:
        if self.model is None:
            return _moments(matrix, missing=missing, n_threads=n_threads)
        if missing == "omit":  # these models take an infinity for one more value, or for none
            check_no_infinity(matrix.values)
        return self.model.summarise(matrix, missing=missing, n_threads=n_threads)


@dataclass(slots=True)
class _Kept:
    """Values of blocks that are kept in memory, by their places, as long as there is room."""

    room: int
    values: dict[tuple[int, ...], Any] = field(default_factory=dict)
    full: bool = False

    def __call__(self, values: Any, place: Place) -> None:
        size = values.data.nbytes + values.indices.nbytes if is_sparse(values) else values.nbytes
        self.room -= int(size)
        if self.full or self.room < 0:
            self.full = True
            self.values.clear()
        else:
            self.values[place.number] = values


@dataclass(frozen=True, slots=True, eq=False)
class Spans:
    """A table in a file, its samples, and what is done to their values.

    Parameters
    ----------
    table
        The blocks.
    chunks
        The same table from the start to the end, for words about what is wrong with a value.
    roles
        Which samples are used, and as what.
    progress
        Called with the number of blocks that are summed and their total.
    """

    table: SpanTable
    chunks: Chunks
    roles: SampleRoles
    progress: Any = None

    @classmethod
    def of(cls, chunks: Chunks, samples: Samples, n_threads: int | None) -> Spans | None:
        """Look whether a table can be read in blocks, and for what is asked of it; if so find its samples."""
        table: Any = chunks.table
        stored = getattr(table, "stored", None)
        together = chunks.aggregation is not None or samples.paired or bool(chunks.covariates)
        alone = not together and not chunks.transform.startswith("rank")
        if stored is None or not alone or stored.shape[0] != table.n_samples:
            cls._refuse_cluster(chunks)
            return None
        ids = table.sample_ids if chunks.whole_features else table.ids
        roles = samples.roles(table.path, ids, table.columns, table.n_samples)
        blocks = SpanTable(stored, chunks.memory, n_threads, table.options.client)
        return cls(blocks, chunks, roles, table.options.progress)

    @staticmethod
    def _refuse_cluster(chunks: Chunks) -> None:
        """Raise if the workers of a cluster were to read what only one process can."""
        table: Any = chunks.table
        options: Any = getattr(table, "options", None)
        if getattr(options, "client", None) is None:
            return
        why = f"{table.path} ({table.form}) is read from the start to the end"
        if options.part is not None:
            why = "a part of the samples is read from its start to its end"
        elif getattr(table, "stored", None) is not None:
            why = "samples put together or paired, covariates and ranks need more than the values of a block"
        raise OptionError(
            f"Only one process can do this: {why}.",
            hint=(
                "Leave ",
                Wording("client", "--dask"),
                " out; workers read AnnData files (.h5ad) and zarr stores.",
            ),
            kind="capability",
        )

    @property
    def features(self) -> tuple[str, ...]:
        """Names of the features."""
        table: Any = self.chunks.table
        if not self.chunks.whole_features:
            return tuple(table.feature_ids)
        ignored = set(table.options.ignore)
        return tuple(name for name in table.feature_ids if name not in ignored)

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of samples used and of features."""
        return self.roles.rows.size, self.table.reader.shape[1]

    def sums(self, samples: Samples, model: Model | None, keep: int) -> Sums:
        """Sum the table in one pass; keep so many bytes of values at most, if they are read here."""
        path, cells = self.chunks.table.path, samples.cells(complete=True)
        samples.check_order(path, self.roles.cells)
        kept = _Kept(keep if self.table.client is None else 0)
        looks = self.chunks.look is not None
        leaf = self._leaf(model, len(cells), looks=looks, keep=kept if kept.room else None)
        try:
            found = sum_blocks(
                self.table,
                self._everywhere(self.roles.cells, -1),
                leaf,
                numbers=self._numbers(),
                progress=self._told,
            )
        except BayesieveError as error:
            self._explain(error, model, cells)
            raise
        if self.chunks.look is not None:
            self.chunks.look.sample = found.sample
        statistics = plain_counts(found.statistics.renamed(tuple(cells)))
        values = None if kept.full or not keep or self.table.client is not None else self._chunks(kept)
        return Sums(statistics, self.roles.cells, list(self.roles.units), list(self.features), values)

    def missing(self, sums: Sums, *, located: bool) -> Missing:
        """Count the missing values by the sums; find out where the first one is, if that has to be said."""
        counts = np.asarray(sums.statistics.counts)
        expected = np.bincount(sums.cells, minlength=len(counts))[:, None]
        shape = (len(counts), self.shape[1])
        found = Missing(int(np.broadcast_to(expected - counts, shape).sum()))
        if found.total and located:
            found.first = self._find().first
        return found

    def _find(self) -> Missing:
        """Read block by block until a value is missing: the first one in the first such sample."""
        rows, columns = self.table.starts
        for i in range(len(rows) - 1):
            found: list[tuple[int, int, Missing]] = []
            for j in range(len(columns) - 1):
                missing = Missing()
                block = slice(int(rows[i]), int(rows[i + 1])), slice(int(columns[j]), int(columns[j + 1]))
                chunk = self._chunk(*block, missing)
                if missing.total:
                    found.append((_first_gap(chunk.values), j, missing))
            if found:
                return min(found, key=lambda each: each[:2])[2]
        return Missing()

    def blocks(self, which: IntArray, codes: IntArray) -> Iterator[Block]:
        """Read the values of some features again; ``codes`` are the classes of the samples used."""
        for rows, first, values in self.table.columns(which):
            lo, hi = np.searchsorted(self.roles.rows, (rows.start, rows.stop))
            if lo == hi:
                continue
            used = values if hi - lo == values.shape[0] else values[self.roles.rows[lo:hi] - rows.start]
            places = which[first : first + used.shape[1]]
            names = [self.features[j] for j in places.tolist()]
            chunk = self._treated(used, slice(int(lo), int(hi)), 0, names, Missing())
            yield Block(codes[lo:hi], first, chunk.tocsc() if is_sparse(chunk) else chunk)

    def relabelled(self, model: Model, labellings: Sequence[Labels]) -> Iterator[Any]:
        """Yield statistics of the samples used under other labels; as many at a time as fit in one pass."""
        classes = labellings[0].classes
        together, _ = passes_for(1, len(classes), self.shape[1], _AT_ONCE)
        total = partial(sum_blocks, self.table, numbers=self._numbers())
        codes = [self._everywhere(labels.codes, -1) for labels in labellings]
        for part in sum_labellings(total, self._leaf(model, len(classes)), codes, together):
            yield plain_counts(part.statistics.renamed(classes))

    def _leaf(self, model: Model | None, n_classes: int, *, looks: bool = False, keep: Any = None) -> Leaf:
        scales = self.chunks.scales
        sums = BlockSums(
            _Summarise(model), looks, tuple(self._by_sample()), self.chunks.transform, scales.dispersion, keep
        )
        return Leaf(sums, n_classes, _plain)

    def _by_sample(self) -> dict[str, Any]:
        """Further numbers of the samples used, by name."""
        scales = self.chunks.scales
        named = {"factors": scales.factors, "centres": scales.centres, "exposures": self.roles.exposures}
        return {name: values for name, values in named.items() if values is not None}

    def _numbers(self) -> Any:
        columns = [self._everywhere(values, 1.0) for values in self._by_sample().values()]
        return np.column_stack(columns) if columns else None

    def _everywhere(self, values: Any, other: Any) -> Any:
        """Numbers of the samples used as numbers of all samples of the file."""
        whole = np.full(self.table.reader.shape[0], other, np.asarray(values).dtype)
        whole[self.roles.rows] = values
        return whole

    def _told(self, done: int, total: int) -> None:
        """Say how much is read, in bytes."""
        if self.progress is not None:
            self.progress(done * self.table.reader.n_bytes, total * self.table.reader.n_bytes)

    def _explain(self, error: BayesieveError, model: Model | None, cells: Sequence[Any]) -> None:
        """Read the block that is wrong once more, and name its sample and feature as the file does."""
        numbers = error.message.numbers
        if "first_sample" not in numbers:
            return
        rows, columns = self.table.block(numbers["first_sample"], numbers["first_feature"])
        chunk = self._chunk(rows, columns, Missing())
        if model is not None:
            model.summarise(chunk.matrix(Labels(tuple(cells), chunk.roles.cells)), missing="omit")

    def _chunk(self, rows: slice, columns: slice, missing: Missing) -> Chunk:
        """Read a block as the walk from start to end would."""
        lo, hi = np.searchsorted(self.roles.rows, (rows.start, rows.stop))
        values = self.table.reader[rows, columns][self.roles.rows[lo:hi] - rows.start]
        part = slice(int(lo), int(hi))
        treated = self._treated(values, part, columns.start, self.features[columns], missing)
        return Chunk(treated, _part_of(self.roles, part), columns.start, self.features[columns])

    def _treated(self, values: Any, part: slice, first: int, features: Sequence[str], missing: Missing) -> Any:
        chunks = replace(self.chunks, look=None)
        return chunks.prepared(
            values, _part_of(self.roles, part), first, features, missing, done=part.start
        ).values

    def _chunks(self, kept: _Kept) -> list[Chunk]:
        """The values that were kept, as the walk from start to end would have kept them."""
        rows, columns = self.table.starts
        chunks = []
        for i in range(len(rows) - 1):
            lo, hi = np.searchsorted(self.roles.rows, rows[i : i + 2])
            parts = [kept.values[i, j] for j in range(len(columns) - 1) if (i, j) in kept.values]
            roles = _part_of(self.roles, slice(int(lo), int(hi)))
            if not parts:
                continue
            if self.chunks.whole_features:
                chunks += [
                    Chunk(part, roles, int(start), self.features[start:stop])
                    for part, start, stop in zip(parts, columns[:-1], columns[1:], strict=True)
                ]
                continue
            chunks.append(Chunk(stacked(parts, axis=1), roles, 0, self.features))
        return chunks


@dataclass(frozen=True, slots=True, eq=False)
class LabelledSpans:
    """A table in a file with the classes of its samples, to be summed again under others.

    Parameters
    ----------
    spans
        The table.
    codes, n_classes
        Class of every sample used, and how many classes there are, those within blocks included.
    feature_names
        Names of the features.
    """

    spans: Spans
    codes: IntArray
    n_classes: int
    feature_names: tuple[str, ...] | None

    @property
    def n_blocks(self) -> int:
        """Number of blocks that a pass reads."""
        return self.spans.table.n_blocks

    def n_passes(self, n_labellings: int) -> int:
        """How many passes over the file other labels take."""
        return passes_for(n_labellings, self.n_classes, self.spans.shape[1], _AT_ONCE)[1]

    def relabelled(self, model: Model, labellings: Sequence[Labels]) -> Iterator[Any]:
        """Yield statistics under other labels."""
        return self.spans.relabelled(model, labellings)

    def blocks(self, which: IntArray) -> Iterator[Block]:
        """Read the values of some features again."""
        return self.spans.blocks(which, self.codes)


def _part_of(roles: SampleRoles, part: slice) -> SampleRoles:
    """Return what is known of some of the samples used."""
    exposures = None if roles.exposures is None else roles.exposures[part]
    said = {role: texts[part] for role, texts in roles.said.items()}
    names = roles.names[part]
    return SampleRoles(roles.rows[part], names, roles.cells[part], names, exposures, said=said)


def _first_gap(values: Any) -> int:
    """Row of the first missing value."""
    if is_sparse(values):
        entries = values.tocoo()
        return int(entries.row[np.isnan(entries.data)].min())
    return int(np.flatnonzero(np.isnan(values).any(axis=1))[0])


def _plain(values: Any, codes: Any, *, classes: Any) -> LabelledMatrix:
    """Put a block and its codes together; the values are of a kind that kernels read."""
    return LabelledMatrix(values, Labels(classes, codes), None)


def sum_file(
    chunks: Chunks, samples: Samples, model: Model | None, n_threads: int | None, keep: int, *, located: bool
) -> tuple[Sums, Missing, Spans | None]:
    """Sum a table block by block where its file can be read so, otherwise from the start to the end.

    Return the sums, what is missing (with its place if ``located``), and the blocks if there are any.
    """
    absent, spans = Missing(), Spans.of(chunks, samples, n_threads)
    if spans is None:
        sums = sum_chunks(chunks, samples, absent, model, n_threads, keep)
    else:
        sums = spans.sums(samples, model, keep)
        absent = spans.missing(sums, located=located)
    absent.rounded.warn(chunks.table.path, option("ignore", "COLUMN"))
    return sums, absent, spans
