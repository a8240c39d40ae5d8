"""Columns about the samples: what else is known of them, and how it goes with their classes."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from bayesieve.data import aligned
from bayesieve.utils import FloatArray, IntArray, LabelError, OptionError

_MISSING = ("", "na", "n/a", "nan", "null", "none", "?")
_FEW_LEVELS, _MOST_LEVELS, _LEAST_OF_LEVEL = 6, 8, 3
_PERMUTATIONS = 2000


def check_columns(given: Any, X: Any, n_samples: int | None = None) -> dict[str, list[Any]]:
    """Return columns about the samples, in the order of the table.

    Parameters
    ----------
    given
        A mapping from names to one value per sample, or a pandas or polars frame; None for nothing.
    X
        The table; if both are pandas objects, their index says who is who.
    n_samples
        Number of samples of the table, if it is known.
    """
    if given is None:
        return {}
    frame = aligned(X, given, "sample_columns")
    if not (hasattr(frame, "columns") or isinstance(frame, Mapping)):
        raise OptionError(
            "sample_columns is a data frame with one row per sample, or a mapping from names of columns to one "
            f"value per sample, not {type(given).__name__}."
        )
    names: Any = getattr(frame, "columns", frame)
    found = {str(name): _cells(frame[name]) for name in names}
    n = n_samples if n_samples is not None else max((len(cells) for cells in found.values()), default=0)
    wrong = next((name for name, cells in found.items() if len(cells) != n), None)
    if wrong is not None:
        raise LabelError(
            f"Column {wrong!r} of sample_columns has {len(found[wrong]):,} values, but there are {n:,} samples. "
            "Give one value per sample, None where it is not known."
        )
    return found


def _cells(column: Any) -> list[Any]:
    values = column.to_list() if hasattr(column, "to_list") else np.asarray(column, dtype=object).tolist()
    return [None if _is_missing(value) else value for value in values]


def _is_missing(value: Any) -> bool:
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    if isinstance(value, str):
        return value.strip().casefold() in _MISSING
    return isinstance(value, (float, np.floating)) and math.isnan(value)


@dataclass(frozen=True, slots=True, eq=False)
class SampleColumn:
    """A column about the samples, as groups.

    Parameters
    ----------
    name
        Its name.
    groups
        Group of every sample, -1 where it is not known: levels, rare ones together, or halves of a number.
    numbers
        The numbers, NaN where one is missing; None of levels.
    """

    name: str
    groups: IntArray
    numbers: FloatArray | None = None

    @classmethod
    def of(cls, name: str, cells: list[Any]) -> SampleColumn | None:
        """Make groups of a column; None if it tells no samples apart, or every one from all others."""
        known = [cell for cell in cells if cell is not None]
        texts = [str(cell).strip() for cell in known]
        n_levels = len(set(texts))
        if n_levels < 2:
            return None
        numbers = np.array([_number(cell) for cell in cells])
        there = np.isfinite(numbers)
        if n_levels > _FEW_LEVELS and there.sum() >= 0.9 * len(known):
            high = numbers > np.median(numbers[there])
            groups = np.where(there, high.astype(np.int64), -1)
            return cls(name, groups, numbers) if len(np.unique(groups[there])) == 2 else None
        if n_levels > len(known) / 2:  # ids
            return None
        counts = {level: texts.count(level) for level in dict.fromkeys(texts)}
        kept = sorted((each for each in counts if counts[each] >= _LEAST_OF_LEVEL), key=lambda each: -counts[each])
        place = {level: k for k, level in enumerate(kept[: _MOST_LEVELS - 1])}
        others = sum(count for level, count in counts.items() if level not in place)
        rest = len(place) if others >= _LEAST_OF_LEVEL else -1
        codes = [-1 if cell is None else place.get(str(cell).strip(), rest) for cell in cells]
        groups = np.array(codes, np.int64)
        return cls(name, groups) if np.unique(groups[groups >= 0]).size > 1 else None

    def association(self, codes: IntArray, seed: int = 0) -> tuple[float, float]:
        """Return how strongly the column goes with the classes, from 0 to 1, and a p-value.

        Levels: Cramer's V, with Fisher's exact test of two by two and permutations otherwise. Numbers: the
        correlation ratio, with Welch's test of two classes and permutations otherwise.
        """
        if self.numbers is not None:
            there = np.isfinite(self.numbers)
            return _of_numbers(self.numbers[there], codes[there], seed)
        there = self.groups >= 0
        return _of_levels(self.groups[there], codes[there], seed)


def _number(cell: Any) -> float:
    if isinstance(cell, (bool, np.bool_)):
        return math.nan
    try:
        return float(cell)
    except (TypeError, ValueError):
        return math.nan


def _table(groups: IntArray, codes: IntArray) -> FloatArray:
    _, rows = np.unique(groups, return_inverse=True)
    _, columns = np.unique(codes, return_inverse=True)
    table = np.zeros((int(rows.max(initial=0)) + 1, int(columns.max(initial=0)) + 1))
    np.add.at(table, (rows, columns), 1.0)
    return table


def _chi_squared(table: FloatArray) -> float:
    expected = table.sum(axis=1, keepdims=True) * table.sum(axis=0) / table.sum()
    return float(((table - expected) ** 2 / expected).sum())


def _of_levels(groups: IntArray, codes: IntArray, seed: int) -> tuple[float, float]:
    table = _table(groups, codes)
    least = min(table.shape) - 1
    if least < 1:
        return 0.0, 1.0
    chi2, n = _chi_squared(table), table.sum()
    strength = math.sqrt(min(chi2 / (n * least), 1.0))
    if table.shape == (2, 2):
        return strength, fisher_exact(table)
    rng = np.random.default_rng(seed)
    as_far = sum(
        _chi_squared(_table(groups, rng.permutation(codes))) >= chi2 * (1 - 1e-12) for _ in range(_PERMUTATIONS)
    )
    return strength, (1 + as_far) / (1 + _PERMUTATIONS)


def fisher_exact(table: FloatArray) -> float:
    """Two-sided p-value of Fisher's exact test of a table of two by two."""
    from scipy.special import gammaln  # noqa: PLC0415 - slow to import

    (a, b), (c, d) = table
    row, column, n = a + b, a + c, a + b + c + d
    x = np.arange(max(0.0, row + column - n), min(row, column) + 1)
    log_p = -np.sum([gammaln(each + 1) for each in (x, row - x, column - x, n - row - column + x)], axis=0)
    p = np.exp(log_p - log_p.max())
    own = p[np.searchsorted(x, a)]
    return float(p[p <= own * (1 + 1e-7)].sum() / p.sum())


def _of_numbers(numbers: FloatArray, codes: IntArray, seed: int) -> tuple[float, float]:
    classes = np.unique(codes)
    spread = float(((numbers - numbers.mean()) ** 2).sum()) if numbers.size else 0.0
    sizes = [int((codes == k).sum()) for k in classes]
    if len(classes) < 2 or min(sizes) < 2 or spread <= 0.0:
        return 0.0, 1.0

    def between(labels: IntArray) -> float:
        parts = (numbers[labels == k] for k in classes)
        return float(sum(part.size * (part.mean() - numbers.mean()) ** 2 for part in parts))

    own = between(codes)
    strength = math.sqrt(min(own / spread, 1.0))
    if len(classes) == 2:
        return strength, welch(*(numbers[codes == k] for k in classes))
    rng = np.random.default_rng(seed)
    as_far = sum(between(rng.permutation(codes)) >= own * (1 - 1e-12) for _ in range(_PERMUTATIONS))
    return strength, (1 + as_far) / (1 + _PERMUTATIONS)


def welch(first: FloatArray, second: FloatArray) -> float:
    """Two-sided p-value of Welch's t-test."""
    from scipy.special import stdtr  # noqa: PLC0415 - slow to import

    a, b = (each.var(ddof=1) / each.size for each in (first, second))
    if a + b <= 0.0:
        return 0.0 if first.mean() != second.mean() else 1.0
    t = abs(first.mean() - second.mean()) / math.sqrt(a + b)
    dof = (a + b) ** 2 / (a**2 / (first.size - 1) + b**2 / (second.size - 1))
    return float(min(2.0 * stdtr(dof, -t), 1.0))
