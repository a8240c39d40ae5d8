"""One sort per feature, shared by every method that looks at sorted values."""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from bayesieve.data import LabelledMatrix, is_sparse
from bayesieve.errors import DegenerateFeatureWarning, LabelError, OptionError
from bayesieve.rivals import sorted_kernels as kernels
from bayesieve.rivals.feature_scores import FeatureScores
from bayesieve.rivals.rival import rival
from bayesieve.stats.threads import for_each, n_threads_for

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]

_TILE_VALUES, _NARROWEST, _WIDEST = 1 << 16, 8, 128  # values that a cache holds; columns side by side

_HOMES = {
    "mi": "spacing_information:spacing_method",
    "mi-literal": "spacing_information:literal_method",
    "nmc": "bolstered_error:bolstered_method",
    "wilcoxon": "wilcoxon:wilcoxon_method",
}
SORTED_RIVALS = tuple(_HOMES)


@dataclass(slots=True, eq=False)
class SortedTile:
    """Sorted values of some features of two classes.

    Parameters
    ----------
    start
        Place of the first feature in the table.
    first, second
        Features x samples of a class: rows in ascending order, NaN at the end where values are missing.
    counts
        Values per class and feature.
    """

    start: int
    first: FloatArray
    second: FloatArray
    counts: IntArray
    _merged: tuple[FloatArray, npt.NDArray[np.bool_]] | None = field(default=None, repr=False)

    @property
    def merged(self) -> tuple[FloatArray, npt.NDArray[np.bool_]]:
        """Values of both classes in order, and where those of the second class are; merged when first asked."""
        if self._merged is None:
            shape = (self.first.shape[0], self.first.shape[1] + self.second.shape[1])
            self._merged = np.empty(shape), np.empty(shape, np.bool_)
            kernels.merge(self.first, self.second, self.counts, *self._merged)
        return self._merged

    def jittered(self, seed: int) -> SortedTile:
        """Break ties: add uniform noise, as wide as the smallest step between values, to features with ties.

        Parameters
        ----------
        seed
            Of the noise, which also depends on the place of the tile.
        """
        width = np.zeros(self.first.shape[0])
        kernels.resolutions(self.merged[0], self.counts, width)
        if not width.any():
            return self
        rng = np.random.default_rng([seed, self.start])
        rows = [each + (rng.random(each.shape) - 0.5) * width[:, None] for each in (self.first, self.second)]
        for each in rows:
            each.sort(axis=1)
        return SortedTile(self.start, rows[0], rows[1], self.counts)


class SortedMethod(Protocol):
    """A method that looks at sorted values."""

    @property
    def name(self) -> str:
        """Name of the method, for messages."""
        ...

    @property
    def fewest(self) -> int:
        """Values that each class must have."""
        ...

    @property
    def lacking(self) -> str:
        """Why a feature may have no score, for a warning."""
        ...

    def look(self, tile: SortedTile) -> FloatArray:
        """Reduce a tile to a few numbers per feature, one row each."""
        ...

    def scores(self, found: FloatArray, counts: IntArray, names: tuple[str, ...] | None) -> FeatureScores:
        """Turn the numbers of all features into scores."""
        ...


def sorted_scores(
    matrix: LabelledMatrix,
    names: Sequence[str],
    *,
    options: Mapping[str, Mapping[str, Any]] | None = None,
    n_threads: int | None = None,
) -> dict[str, FeatureScores]:
    """Score every feature by several methods, sorting each feature once.

    Parameters
    ----------
    matrix
        Values of two classes; NaN is a missing value.
    names
        Of :data:`SORTED_RIVALS`: ``"mi"``, ``"mi-literal"``, ``"nmc"``, ``"wilcoxon"``.
    options
        Options of the methods, by name.
    n_threads
        Threads to use; all cores by default. The result does not depend on it.

    Returns
    -------
    dict
        Scores by name. A warning counts the features without a score.

    Examples
    --------
    >>> from bayesieve.data import LabelledMatrix
    >>> from bayesieve.rivals.sorted_values import sorted_scores
    >>> X = [[0.1], [-0.4], [0.3], [0.8], [1.2], [0.7], [2.1], [1.5], [0.9]]
    >>> matrix = LabelledMatrix.from_arrays(X, [0] * 4 + [1] * 5)
    >>> for name, scores in sorted_scores(matrix, ["mi", "nmc", "wilcoxon"]).items():
    ...     print(name, scores.score.round(6).tolist())
    mi [0.364402]
    nmc [-0.221261]
    wilcoxon [3.449988]
    """
    unknown = [name for name in names if name not in _HOMES]
    if unknown:
        raise OptionError(f"{unknown[0]!r} does not look at sorted values; {', '.join(SORTED_RIVALS)} do.")
    wanted = dict.fromkeys(names)
    methods = [_method(name, dict((options or {}).get(name, {}))) for name in wanted]
    return dict(zip(wanted, scored(matrix, methods, n_threads), strict=True))


def scored(
    matrix: LabelledMatrix, methods: Sequence[SortedMethod], n_threads: int | None = None
) -> list[FeatureScores]:
    """Run methods over sorted tiles of a table and collect what they say.

    Parameters
    ----------
    matrix
        Values of two classes; NaN is a missing value.
    methods
        What to do with each tile.
    n_threads
        Threads to use; all cores by default.

    Examples
    --------
    >>> from bayesieve.data import LabelledMatrix
    >>> from bayesieve.rivals.bolstered_error import bolstered_method
    >>> from bayesieve.rivals.sorted_values import scored
    >>> matrix = LabelledMatrix.from_arrays([[0.0], [1.0], [5.0], [6.0]], [0, 0, 1, 1])
    >>> scored(matrix, [bolstered_method()])[0].details["error"].round(4).tolist()
    [0.0551]
    """
    _check_classes(matrix, methods)
    values = matrix.values.tocsc() if is_sparse(matrix.values) else matrix.values
    members = [np.flatnonzero(matrix.labels.codes == code) for code in range(2)]
    n_samples, n_features = matrix.n_samples, matrix.n_features
    width = min(max(_NARROWEST, _TILE_VALUES // n_samples), _WIDEST)
    counts = np.empty((2, n_features), np.int64)
    found: list[list[FloatArray]] = [[] for _ in range(-(-n_features // width))]
    suspects: list[int] = []

    def work(number: int) -> None:
        tile, usable = _sorted_tile(values, members, number * width, min((number + 1) * width, n_features))
        if not usable:
            suspects.append(number)
            return
        counts[:, tile.start : tile.start + tile.counts.shape[1]] = tile.counts
        found[number] = [method.look(tile) for method in methods]

    for_each(work, range(len(found)), n_threads_for(n_threads, n_samples * n_features))
    if suspects:
        places = np.concatenate([np.arange(n * width, min((n + 1) * width, n_features)) for n in sorted(suspects)])
        _explain(matrix, places)
    results = [
        method.scores(np.concatenate(parts, axis=1), counts, matrix.feature_names)
        for method, parts in zip(methods, zip(*found, strict=True), strict=True)
    ]
    _warn(methods, results)
    return results


def _method(name: str, options: dict[str, Any]) -> SortedMethod:
    home, _, maker = _HOMES[name].partition(":")
    rival(name).check_options(*options)
    made: SortedMethod = getattr(importlib.import_module(f"bayesieve.rivals.{home}"), maker)(**options)
    return made


def _sorted_tile(values: Any, members: list[IntArray], lo: int, hi: int) -> tuple[SortedTile, bool]:
    """Copy some columns class by class and sort them; False if values lie outside the usable range."""
    block = values[:, lo:hi]
    block = block.toarray() if is_sparse(block) else block
    rows = [np.ascontiguousarray(block[each].T, dtype=np.float64) for each in members]
    counts = np.empty((2, hi - lo), np.int64)
    usable = True
    for each, number in zip(rows, counts, strict=True):
        each.sort(axis=1)
        usable &= kernels.count_present(each, number)
    return SortedTile(lo, rows[0], rows[1], counts), usable


def _check_classes(matrix: LabelledMatrix, methods: Sequence[SortedMethod]) -> None:
    """Raise unless there are two classes, with enough samples for every method."""
    classes, sizes = matrix.labels.classes, matrix.labels.counts
    for method in methods:
        if len(classes) != 2:
            raise LabelError(f"{method.name} compares two classes, not {len(classes)}.")
        for label, size in zip(classes, sizes.tolist(), strict=True):
            if size < method.fewest:
                raise LabelError(
                    f"{method.name} needs at least {method.fewest} samples of each class, but class {label!r} has "
                    f"{size}. Merge classes or add samples."
                )


def _warn(methods: Sequence[SortedMethod], results: Sequence[FeatureScores]) -> None:
    """Count the features without a score."""
    for method, scores in zip(methods, results, strict=True):
        number = int(np.isnan(scores.score).sum())
        if number:
            warnings.warn(
                f"{number} of {scores.n_features} features have no score ({method.name}): {method.lacking}.",
                DegenerateFeatureWarning,
                stacklevel=5,
            )


def _explain(matrix: LabelledMatrix, places: IntArray) -> None:
    """Raise the error that says which of these columns hold values that are infinite or too large."""
    odd = [j for j, column in matrix.columns(places) if np.nanmax(np.abs(column)) > kernels.LARGEST]
    matrix.explain_non_finite(np.array(odd, np.int64), "omit")
