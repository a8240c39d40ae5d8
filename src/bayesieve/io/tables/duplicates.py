"""Features whose id occurs several times: told apart by a number, averaged, or the strongest stands for them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from bayesieve.data import is_sparse
from bayesieve.io.tables.table import FeatureChunk, FeatureTable, SampleChunk, SampleTable
from bayesieve.models import Model
from bayesieve.utils import FloatArray, IntArray, Message, OptionError, Wording, list_names, option, plural

DUPLICATES = ("number", "mean", "strongest", "error")
_OTHERWISE = (
    "Their mean instead: ", option("duplicates", "mean"), "; the strongest of them: ",
    option("duplicates", "strongest"), ".",
)  # fmt: skip


def number_names(ids: Sequence[str]) -> tuple[tuple[str, ...], dict[str, int]]:
    """Return distinct names, and how often each repeated id occurs.

    The first occurrence keeps its id, the next ones are ``GENE.2``, ``GENE.3``, ...; a number that makes the name
    of another feature is passed over.
    """
    repeated = repeats(ids)
    if not repeated:
        return tuple(ids), {}
    taken, met, names = set(ids), dict.fromkeys(repeated, 0), []
    for name in ids:
        if name in repeated:
            met[name] += 1
            if met[name] > 1:
                while f"{name}.{met[name]}" in taken:
                    met[name] += 1
                name = f"{name}.{met[name]}"  # noqa: PLW2901 - its name from here on
                taken.add(name)
        names.append(name)
    return tuple(names), repeated


def repeats(ids: Sequence[str]) -> dict[str, int]:
    """Return how often each repeated id occurs."""
    if len(set(ids)) == len(ids):
        return {}
    return {name: count for name, count in Counter(ids).items() if count > 1}


def describe(repeated: dict[str, int], rule: str) -> Message:
    """Say how many ids are repeated, and what became of their features."""
    n = len(repeated)
    shown = list_names([f"{name} ({count} times)" for name, count in list(repeated.items())[:3]], quote=False)
    more = f" and {n - 3:,} more" if n > 3 else ""
    text = f"{plural(n, 'feature id')} {'occurs' if n == 1 else 'occur'} more than once: {shown}{more}."
    first = next(iter(repeated))
    if rule == "mean":
        text += f" Of the {sum(repeated.values()):,} features each sample has the mean."
        return Message.of(text, kind="duplicates")
    if rule == "strongest":
        return Message.of(text, kind="duplicates")  # a screen says what becomes of them
    return Message.of(
        f"{text} They are told apart by numbers, as in {first}.2.", hint=_OTHERWISE, kind="duplicates"
    )


def unstable_numbers(repeated: dict[str, int]) -> Message:
    """Say that numbered ids are no names that another table shares."""
    are = "is" if len(repeated) == 1 else "are"
    return Message.of(
        f"{plural(len(repeated), 'feature id')} {are} repeated and told apart by "
        "their order in this table. In the table of another site the order may differ, and then other features "
        "would be put together.",
        hint=("Say ", Wording("duplicates='mean'", "--duplicates mean"), " at every site, or use distinct ids."),
        kind="duplicates-of-sites",
    )


def averaged(table: SampleTable | FeatureTable, model: Model | None) -> SampleTable | FeatureTable:
    """Return the table in which features with the same id are one, their mean."""
    if model is not None:
        raise OptionError(
            option("duplicates", "mean"),
            f" averages measurements, but {type(model).__name__} takes counts or categories.",
            hint=("Say ", option("duplicates", "number"), "."),
        )
    if isinstance(table, SampleTable):
        ids: Sequence[str] = table.feature_ids
    else:  # ids come with the values: one sample is enough to see them all
        ids = [name for chunk in table.chunks(np.zeros(1, np.int64)) for name in chunk.ids]
    repeated = repeats(ids)
    if not repeated:
        return table
    notes = table.notes  # the same list: remarks below a table are found while it is read
    notes.append(describe(repeated, "mean"))
    about = (table.path, table.form, table.samples_in, table.left_out)
    if isinstance(table, FeatureTable):
        return AveragedFeatures(
            *about, table.sample_ids, table.n_samples, table.columns, notes=notes, table=table, repeated=repeated
        )
    members: dict[str, list[int]] = {}
    for place, name in enumerate(ids):
        members.setdefault(name, []).append(place)
    places = tuple(members.values())
    return AveragedSamples(*about, tuple(members), notes=notes, table=table, members=places)


@dataclass(slots=True)
class AveragedSamples(SampleTable):
    """A table of samples in which some features are means of others; ``members`` says of which."""

    table: SampleTable = field(kw_only=True)
    members: tuple[list[int], ...] = field(kw_only=True)

    def chunks(self, features: slice = slice(None)) -> Iterator[SampleChunk]:
        """Yield all samples in order, with a range of the features."""
        wanted = self.members[features]
        low, high = min(map(min, wanted), default=0), max(map(max, wanted), default=-1) + 1
        here = [[place - low for place in places] for places in wanted]
        for chunk in self.table.chunks(slice(low, high)):
            yield SampleChunk(chunk.ids, chunk.columns, _averaged_columns(chunk.values, here))

    def close(self) -> None:
        """Close the file."""
        self.table.close()


def _averaged_columns(values: Any, members: list[list[int]]) -> Any:
    several = [k for k, places in enumerate(members) if len(places) > 1]
    made: Any = values[:, [places[0] for places in members]].astype(np.float64)
    means = [_mean(_dense(values[:, members[k]]), axis=1) for k in several]
    if not is_sparse(values):
        for k, mean in zip(several, means, strict=True):
            made[:, k] = mean
        return made
    if not several:
        return made
    return _replace_rows(made.T.tocsr(), dict(zip(several, means, strict=True))).T.tocsr()


def _dense(values: Any) -> FloatArray:
    return np.asarray(values.toarray() if is_sparse(values) else values, dtype=np.float64)


def _mean(values: FloatArray, axis: int) -> FloatArray:
    """Mean of the values that are there; NaN where none is."""
    there = ~np.isnan(values)
    n = there.sum(axis=axis)
    mean: FloatArray = np.where(there, values, 0.0).sum(axis=axis) / np.maximum(n, 1)
    return np.where(n > 0, mean, np.nan)


def _replace_rows(values: Any, rows: dict[int, FloatArray]) -> Any:
    """Put dense rows in the place of some rows of a sparse matrix."""
    import scipy.sparse as sp  # noqa: PLC0415 - slow to import

    kept = np.array([k for k in range(values.shape[0]) if k not in rows], np.int64)
    joined = sp.vstack([values[kept], sp.csr_matrix(np.array(list(rows.values())))], format="csr")
    order = np.argsort(np.concatenate([kept, np.array(list(rows), np.int64)]))
    return joined[order]


@dataclass(slots=True)
class AveragedFeatures(FeatureTable):
    """A table of features in which those with the same id are one, in the place of the last of them."""

    table: FeatureTable = field(kw_only=True)
    repeated: dict[str, int] = field(kw_only=True)

    def chunks(self, samples: IntArray) -> Iterator[FeatureChunk]:
        """Yield all features in order, with the values of chosen samples."""
        waiting: dict[str, list[FloatArray]] = {}
        for chunk in self.table.chunks(samples):
            kept: list[int] = []
            means: dict[int, FloatArray] = {}
            for k, name in enumerate(chunk.ids):
                if name in self.repeated:
                    rows = waiting.setdefault(name, [])
                    rows.append(_dense(chunk.values[[k]])[0])
                    if len(rows) < self.repeated[name]:
                        continue
                    means[len(kept)] = _mean(np.array(waiting.pop(name)), axis=0)
                kept.append(k)
            if not kept:
                continue
            values = chunk.values
            if len(kept) < len(chunk.ids) or means:
                values = values[kept].astype(np.float64)
                if is_sparse(values):
                    values = _replace_rows(values.tocsr(), means) if means else values
                else:
                    for k, mean in means.items():
                        values[k] = mean
            yield FeatureChunk([chunk.ids[k] for k in kept], values)

    def close(self) -> None:
        """Close the file."""
        self.table.close()
