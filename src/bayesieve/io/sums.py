"""Adding up the slabs of a table: moments for the Gaussian model, any other model's own statistics."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from bayesieve.data import LabelledMatrix, Labels, is_sparse
from bayesieve.errors import DataError, FileError
from bayesieve.io.samples import FloatArray, Samples
from bayesieve.io.slabs import Missing, Slab, Slabs
from bayesieve.io.table import IntArray
from bayesieve.models.model import Model
from bayesieve.stats.statistics import ClassStatistics
from bayesieve.stats.streaming import FeatureStream, MomentStream


class Stream(Protocol):
    """Statistics that grow slab by slab."""

    def add(self, slab: Slab, samples: Samples) -> None:
        """Add a slab."""
        ...

    def whole(self, samples: Samples) -> Any:
        """Return the statistics of all cells, those without samples included."""
        ...


@dataclass(slots=True)
class Total:
    """What adding up a table gives.

    Parameters
    ----------
    statistics
        Statistics of the cells; None if the table holds no samples that are used.
    codes, samples, features
        Cell of every sample, its name, and the features, in the order of the file.
    """

    statistics: Any
    codes: IntArray
    samples: list[str]
    features: list[str]


def add_up(slabs: Slabs, samples: Samples, missing: Missing, model: Model | None, n_threads: int | None) -> Total:
    """Read a table once and add it up.

    Parameters
    ----------
    slabs, samples
        The table, and who its samples are.
    missing
        Counts missing values.
    model
        The model; None for the Gaussian.
    n_threads
        Threads, None for all cores.
    """
    codes = [np.empty(0, np.int64)]
    names: list[str] = []
    features: list[str] = []
    stream: Stream | None = None
    for slab in slabs.walk(samples, missing):
        if stream is None:
            if slabs.whole_features:
                samples.checked_order(slabs.table.path, slab.codes)
            stream = _stream(slabs.whole_features, len(slab.features), model, n_threads)
        stream.add(slab, samples)
        if slab.first == 0:  # with whole features every slab holds the same samples
            codes.append(slab.codes)
            names += slab.samples
        if slabs.whole_features or not features:
            features += slab.features
    if slabs.whole_features and not features:
        raise FileError(f"{slabs.table.path} holds no features. Check how it was written or downloaded.")
    whole = None if stream is None else stream.whole(samples)
    return Total(whole, np.concatenate(codes), names, features)


def _stream(whole_features: bool, n_features: int, model: Model | None, n_threads: int | None) -> Stream:
    if model is None:
        return MomentsByFeature(n_threads) if whole_features else MomentsBySample(n_features, n_threads)
    return ModelByFeature(model, n_threads) if whole_features else ModelBySample(model, n_threads)


class MomentsByFeature:
    """Moments of slabs of features."""

    def __init__(self, n_threads: int | None) -> None:
        self._stream = FeatureStream(n_threads)

    def add(self, slab: Slab, samples: Samples) -> None:
        """Add some features."""
        self._stream.add(_matrix(slab, samples))

    def whole(self, samples: Samples) -> Any:
        """Return the moments."""
        del samples
        return self._stream.moments()


class MomentsBySample:
    """Moments of slabs of samples."""

    def __init__(self, n_features: int, n_threads: int | None) -> None:
        self._stream = MomentStream(n_features, n_threads)

    def add(self, slab: Slab, samples: Samples) -> None:
        """Add some samples."""
        self._stream.add(slab.values, slab.codes, len(samples.cells()))

    def whole(self, samples: Samples) -> Any:
        """Return the moments; a cell that was never met has count 0."""
        return self._stream.moments(samples.cells(complete=True))


@dataclass(slots=True)
class ModelByFeature:
    """A model's statistics of slabs of features; small parts are joined to larger ones as they come."""

    model: Model
    n_threads: int | None
    parts: list[ClassStatistics] = field(default_factory=list)

    def add(self, slab: Slab, samples: Samples) -> None:
        """Add some features."""
        matrix = _matrix(_in_levels(slab, self.model), samples)
        part = self.model.summarise(matrix, missing="omit", n_threads=self.n_threads)
        self.parts.append(part)
        while len(self.parts) > 1 and self.parts[-1].n_features >= self.parts[-2].n_features:
            self._join(2)

    def _join(self, n: int) -> None:
        last = self.parts[-n:]
        del self.parts[-n:]
        kind: Any = type(last[0])
        self.parts.append(kind.join(last))

    def whole(self, samples: Samples) -> Any:
        """Return the statistics of all features."""
        del samples
        if len(self.parts) > 1:
            self._join(len(self.parts))
        return self.parts[0]


@dataclass(slots=True)
class ModelBySample:
    """A model's statistics of slabs of samples, merged as they come."""

    model: Model
    n_threads: int | None
    features: tuple[str, ...] = ()
    statistics: Any = None

    def add(self, slab: Slab, samples: Samples) -> None:
        """Add some samples; classes that the slab lacks are left to others."""
        self.features = self.features or tuple(slab.features)
        if not slab.codes.size:
            return
        here, codes = np.unique(slab.codes, return_inverse=True)
        cells = samples.cells()
        labels = Labels(tuple(cells[k] for k in here.tolist()), codes.reshape(-1))
        self._merge(_labelled(_in_levels(slab, self.model), labels))

    def whole(self, samples: Samples) -> Any:
        """Return the statistics; a cell without samples gets those of a sample without values."""
        cells = samples.cells(complete=True)
        absent = tuple(cell for cell in cells if self.statistics is None or cell not in self.statistics.classes)
        if absent and self.statistics is not None:
            values = np.full((len(absent), len(self.features)), np.nan)
            labels = Labels(absent, np.arange(len(absent)))
            nothing = Slab(values, labels.codes, (), 0, self.features, np.ones(len(absent)))
            self._merge(_labelled(nothing, labels))
        return self.statistics

    def _merge(self, matrix: LabelledMatrix) -> None:
        part = self.model.summarise(matrix, missing="omit", n_threads=self.n_threads)
        self.statistics = part if self.statistics is None else self.statistics.merge(part)


def _in_levels(slab: Slab, model: Model) -> Slab:
    """Express texts in the levels that the model declares, if it does."""
    declared = getattr(model, "levels", None)
    if slab.levels is None or declared is None:
        return slab
    from bayesieve.io.text_categories import recoded  # noqa: PLC0415 - most tables hold numbers

    return recoded(slab, declared)


def _matrix(slab: Slab, samples: Samples) -> LabelledMatrix:
    return _labelled(slab, Labels(tuple(samples.cells(complete=True)), slab.codes))


def _labelled(slab: Slab, labels: Labels) -> LabelledMatrix:
    names = tuple(slab.samples) or None
    return LabelledMatrix(slab.values, labels, tuple(slab.features), names, slab.exposures, slab.levels)


def sample_totals(slabs: Slabs, samples: Samples) -> FloatArray:
    """Return the total of every sample that is used over all features, divided by their mean.

    Values are added one after the other in the order of the features, so that it does not matter in how
    many pieces they come.
    """
    totals: list[FloatArray] = []
    names: list[str] = []
    for slab in slabs.walk(samples, Missing()):
        if slab.first == 0:
            totals.append(np.zeros(slab.codes.size))
            names += slab.samples
        totals[-1] = _added(totals[-1], slab.values)
    whole = np.concatenate([np.empty(0), *totals])
    odd = np.flatnonzero(~(whole > 0))
    if odd.size:
        i = int(odd[0])
        who = repr(names[i]) if names else f"number {i + 1}"
        raise DataError(
            f"{slabs.table.path}: the values of sample {who} add up to {whole[i]:g}, so that its total cannot be "
            "its exposure. Leave it out, or give exposures in a column of their own: --exposures COLUMN."
        )
    return whole / whole.mean() if whole.size else whole


def _added(total: FloatArray, values: Any) -> FloatArray:
    if is_sparse(values):
        return np.asarray(total + np.asarray(values.sum(axis=1, dtype=np.float64)).ravel())
    present = np.nan_to_num(np.asarray(values, dtype=np.float64), nan=0.0)
    sums: FloatArray = np.cumsum(np.concatenate([total[:, None], present], axis=1), axis=1)[:, -1]
    return sums
