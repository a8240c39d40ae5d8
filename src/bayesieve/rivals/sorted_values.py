"""Compiled statistics of sorted values: one sort per feature, shared by every method that needs it.

A tile holds one feature per row. Its rows are sorted, with NaN at the end where values are missing, and
``counts`` says how many values of each class a feature has. Results are tables with one column per feature.
"""

from __future__ import annotations

import importlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from bayesieve.data import LabelledMatrix, is_sparse
from bayesieve.rivals.feature_scores import FeatureScores
from bayesieve.rivals.registry import rival
from bayesieve.utils import (
    DegenerateFeatureWarning,
    FloatArray,
    IntArray,
    LabelError,
    OptionError,
    compiled,
    for_each,
    n_threads_for,
    warn,
)

LARGEST = 1e150  # sums and squares of values beyond it would overflow
_EPSILON = float(np.finfo(np.float64).eps)
_TINY, _HUGE = 1e-100, 1e100  # two factors between them neither vanish nor overflow


@compiled()
def count_present(rows: Any, counts: Any) -> bool:
    """Count the values of every row, and tell whether all of them lie in the range that can be used."""
    usable = True
    for f in range(rows.shape[0]):
        n = rows.shape[1]
        while n > 0 and math.isnan(rows[f, n - 1]):
            n -= 1
        counts[f] = n
        if n > 0 and not (rows[f, 0] >= -LARGEST and rows[f, n - 1] <= LARGEST):
            usable = False
    return usable


@compiled()
def merge(first: Any, second: Any, counts: Any, pooled: Any, is_second: Any) -> None:
    """Merge the sorted rows of two classes; ``is_second`` says where a value comes from."""
    for f in range(pooled.shape[0]):
        a, b, z, mark = first[f], second[f], pooled[f], is_second[f]
        n0, n1 = counts[0, f], counts[1, f]
        i, j = 0, 0
        while i < n0 and j < n1:
            x, y = a[i], b[j]
            later = y < x
            z[i + j] = y if later else x
            mark[i + j] = later
            i += not later
            j += later
        while i < n0:
            z[i + j], mark[i + j] = a[i], False
            i += 1
        while j < n1:
            z[i + j], mark[i + j] = b[j], True
            j += 1


@compiled()
def _least_spacing(values: Any, n: int, order: int) -> float:
    """Smallest positive spacing; infinite if all values are equal."""
    least = np.inf
    for i in range(n - order):
        gap = values[i + order] - values[i]
        if 0.0 < gap < least:
            least = gap
    return least


@compiled()
def resolutions(pooled: Any, counts: Any, resolution: Any) -> None:
    """Smallest step between different values of each feature with ties; 0 without ties or without steps."""
    for f in range(pooled.shape[0]):
        n = counts[0, f] + counts[1, f]
        tied = False
        for i in range(n - 1):
            tied |= pooled[f, i + 1] == pooled[f, i]
        least = _least_spacing(pooled[f], n, 1)
        resolution[f] = least if tied and least < np.inf else 0.0


@compiled()
def _sum_of_logs(values: Any, n: int, order: int, floor: float) -> tuple[float, int]:
    """Sum of the logarithms of the spacings, and their number; without a floor, those of 0 are left out.

    Factors are multiplied as long as the product stays in range: one logarithm serves many.
    """
    total, product, kept = 0.0, 1.0, 0
    for i in range(n - order):
        gap = max(values[i + order] - values[i], floor)
        if gap > _TINY and gap < _HUGE:
            product *= gap
            kept += 1
            if not (product > _TINY and product < _HUGE):
                total += math.log(product)
                product = 1.0
        elif gap > 0.0:
            total += math.log(gap)
            kept += 1
    return total + math.log(product), kept


@compiled()
def spacings(first: Any, second: Any, pooled: Any, counts: Any, order: int, drop: bool, sums: Any) -> None:
    """Sums of log spacings and their numbers: of both classes together, the first and the second.

    ``sums`` has the six rows in this order. A feature with at most ``order`` values in a class is left as it is;
    one whose values are all equal gets zeros.
    """
    for f in range(pooled.shape[0]):
        n0, n1 = counts[0, f], counts[1, f]
        if min(n0, n1) <= order:
            continue
        z, n = pooled[f], n0 + n1
        if z[0] == z[n - 1]:
            sums[:, f] = 0.0
            continue
        floor = 0.0
        if not drop:
            largest = max(abs(z[0]), abs(z[n - 1]))
            floor = max(0.5 * _least_spacing(z, n, order), 4.0 * _EPSILON * largest, 5e-324)
        sums[0, f], sums[1, f] = _sum_of_logs(z, n, order, floor)
        sums[2, f], sums[3, f] = _sum_of_logs(first[f], n0, order, floor)
        sums[4, f], sums[5, f] = _sum_of_logs(second[f], n1, order, floor)


@compiled()
def _mean(values: Any, n: int) -> float:
    total = 0.0
    for i in range(n):
        total += values[i]
    mean, rest = total / n, 0.0
    for i in range(n):
        rest += values[i] - mean
    return mean + rest / n


@compiled()
def _mean_distance(values: Any, n: int) -> float:
    """Mean distance from a value to the nearest other one."""
    before: float = values[1] - values[0]
    total = before
    for i in range(n - 2):
        after = values[i + 2] - values[i + 1]
        total += min(before, after)
        before = after
    return (total + before) / n


@compiled()
def _beyond(values: Any, n: int, threshold: float, sign: float, spread: float) -> float:
    r"""Sum of :math:`\Phi(sign (x - threshold) / spread)`: how much of the kernels is on the wrong side."""
    total = 0.0
    for i in range(n):
        distance = sign * (values[i] - threshold)
        if spread > 0.0:
            total += 0.5 * math.erfc(-distance / spread * math.sqrt(0.5))
        elif distance == 0.0:
            total += 0.5
        elif distance > 0.0:
            total += 1.0
    return total


@compiled()
def bolstered(first: Any, second: Any, counts: Any, alpha: float, result: Any) -> None:
    """Bolstered error, threshold and kernel spreads: the four rows of ``result``, left as they are if n_y < 2."""
    for f in range(first.shape[0]):
        n0, n1 = counts[0, f], counts[1, f]
        if min(n0, n1) < 2:
            continue
        a, b = first[f], second[f]
        mean0, mean1 = _mean(a, n0), _mean(b, n1)
        threshold, error = mean0 + 0.5 * (mean1 - mean0), 0.5
        spread0, spread1 = _mean_distance(a, n0) / alpha, _mean_distance(b, n1) / alpha
        largest = max(abs(a[0]), abs(a[n0 - 1]), abs(b[0]), abs(b[n1 - 1]))
        if abs(mean1 - mean0) > 4.0 * _EPSILON * largest:  # else equal but for rounding
            sign = 1.0 if mean1 > mean0 else -1.0
            wrong = _beyond(a, n0, threshold, sign, spread0) + _beyond(b, n1, threshold, -sign, spread1)
            error = wrong / (n0 + n1)
        result[0, f], result[1, f], result[2, f], result[3, f] = error, threshold, spread0, spread1


@compiled()
def rank_sums(pooled: Any, is_second: Any, counts: Any, result: Any) -> None:
    r"""Mann-Whitney's U of the second class, and :math:`\sum t^3 - t` over groups of t tied values."""
    for f in range(pooled.shape[0]):
        n1 = counts[1, f]
        n, start, ranks, ties = counts[0, f] + n1, 0, 0.0, 0.0
        while start < n:
            end, members = start, 0
            while end < n and pooled[f, end] == pooled[f, start]:
                members += is_second[f, end]
                end += 1
            size = float(end - start)
            ranks += members * (start + 0.5 * (size + 1.0))
            ties += size * size * size - size
            start = end
        result[0, f], result[1, f] = ranks - 0.5 * n1 * (n1 + 1.0), ties


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
            merge(self.first, self.second, self.counts, *self._merged)
        return self._merged

    def jitter(self, seed: int) -> SortedTile:
        """Break ties: add uniform noise, as wide as the smallest step between values, to features with ties."""
        width = np.zeros(self.first.shape[0])
        resolutions(self.merged[0], self.counts, width)
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
    """
    unknown = [name for name in names if name not in _HOMES]
    if unknown:
        raise OptionError(f"{unknown[0]!r} does not look at sorted values; {', '.join(SORTED_RIVALS)} do.")
    wanted = dict.fromkeys(names)
    methods = [_method(name, dict((options or {}).get(name, {}))) for name in wanted]
    return dict(zip(wanted, score_sorted(matrix, methods, n_threads), strict=True))


def score_sorted(
    matrix: LabelledMatrix, methods: Sequence[SortedMethod], n_threads: int | None = None
) -> list[FeatureScores]:
    """Run methods over sorted tiles of a table and collect what they say."""
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
        usable &= count_present(each, number)
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
            warn(
                DegenerateFeatureWarning,
                f"{number} of {scores.n_features} features have no score ({method.name}): {method.lacking}.",
            )


def _explain(matrix: LabelledMatrix, places: IntArray) -> None:
    """Raise the error that says which of these columns hold values that are infinite or too large."""
    odd = [j for j, column in matrix.columns(places) if np.nanmax(np.abs(column)) > LARGEST]
    matrix.explain_non_finite(np.array(odd, np.int64), "omit")
