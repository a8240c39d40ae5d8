"""Classes, moments and prior log-odds, read off the columns of a stored result."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from bayesieve.errors import DataError, FileError, LabelError
from bayesieve.io.results.stored_parts import StoredStatistics
from bayesieve.io.results.stored_table import StoredTable
from bayesieve.posterior import checked_log_odds, expit
from bayesieve.stats import Moments
from bayesieve.utils import FloatArray

_SECOND = " (2)"  # added to a column whose name was taken
_DIFFERENCES = ("mean_difference", "log_variance_ratio")


class ClassColumns(NamedTuple):
    """Where the statistics of the classes stand.

    Parameters
    ----------
    labels
        Class labels, as text.
    kind
        ``"moments"``, or ``"counts"`` where only the sizes serve as statistics.
    columns
        Names of the columns of every class: its count first.
    """

    labels: tuple[str, ...]
    kind: str
    columns: tuple[tuple[str, ...], ...]


def class_columns(names: Sequence[str], labels: Sequence[str] = ()) -> ClassColumns:
    """Find the columns of the classes by the order in which a result has them.

    Parameters
    ----------
    names
        Columns of the result, without those of an annotation.
    labels
        The labels, where the file says them.
    """
    found: list[tuple[str, ...]] = []
    kind = "moments"
    for i, name in enumerate(names):
        if not name.startswith("n_") or i + 1 == len(names):
            continue
        label = name.removesuffix(_SECOND).removeprefix("n_")
        after = [following.removesuffix(_SECOND) for following in names[i + 1 : i + 3]]
        if after[:2] == [f"mean_{label}", f"sd_{label}"]:
            found.append((name, names[i + 1], names[i + 2]))
        elif after[0] == f"rate_{label}" or (after[0].startswith("share_") and after[0].endswith(f"_{label}")):
            found.append((name,))
            kind = "counts"
    if not found:
        trailing = [
            name for name in names if name.startswith("n_") and name not in ("n_fragile_removals", "n_sites")
        ]
        found, kind = [(name,) for name in trailing], "counts"
    said = tuple(columns[0].removesuffix(_SECOND).removeprefix("n_") for columns in found)
    return ClassColumns(tuple(labels) if len(labels) == len(said) else said, kind, tuple(found))


def stored_statistics(table: StoredTable, found: ClassColumns) -> Moments | StoredStatistics:
    """Rebuild the statistics of the classes."""
    if not found.labels:
        raise FileError(
            f"{table.path} says nothing about the classes: there is no column such as n_control for the number of "
            "values in a class. Keep all columns that bayesieve screen writes."
        )
    count = np.array([_whole(table, columns[0]) for columns in found.columns])
    if found.kind == "counts":
        return StoredStatistics(found.labels, count)
    mean, sd = (np.array([table.numbers(columns[k]) for columns in found.columns]) for k in (1, 2))
    absent, alone = count == 0, count < 2
    wrong = (np.isnan(mean) & ~absent) | ((np.isnan(sd) | (sd < 0)) & ~alone)
    if wrong.any():
        k, row = (int(i[0]) for i in np.nonzero(wrong))
        raise FileError(
            f"{table.path}: {int(wrong.any(axis=0).sum()):,} of {table.n_rows:,} rows lack the mean or the "
            f"standard deviation of a class that has values, the first is row {row + 1:,} "
            f"(class {found.labels[k]!r}). Write the file again with bayesieve screen --out."
        )
    mean, squares = np.where(absent, 0.0, mean), np.where(alone, 0.0, sd * sd * (count - 1.0))
    same = (count == count[:, :1]).all()
    try:
        return Moments(found.labels, count[:, 0] if same else count, mean, squares, _residual(table, mean, count))
    except (DataError, LabelError) as error:
        raise FileError(f"{table.path} holds no usable statistics of the classes: {error}") from None


def _whole(table: StoredTable, name: str) -> npt.NDArray[np.int64]:
    values = table.present(name)
    wrong = ~((values >= 0) & (values == np.round(values)) & (values < 2.0**53))
    if wrong.any():
        row = int(np.flatnonzero(wrong)[0])
        raise FileError(
            f"{table.path}: the column {name!r} counts values, but row {row + 1:,} says {values[row]:g}. Write "
            "the file again with bayesieve screen --out."
        )
    return values.astype(np.int64)


def _residual(table: StoredTable, mean: FloatArray, count: npt.NDArray[np.int64]) -> FloatArray | None:
    """What rounding took from the means of two classes; their difference was stored with all its digits."""
    if len(mean) != 2 or "mean_difference" not in table.columns:
        return None
    lost = table.numbers("mean_difference") - (mean[1] - mean[0])
    tiny = np.abs(lost) <= 1e-9 * (np.abs(mean[0]) + np.abs(mean[1]))
    return np.array([np.zeros(lost.size), np.where(tiny & (count > 0).all(axis=0), lost, 0.0)])


def rounded_probabilities(log_odds: float) -> list[float]:
    """Return the probability of log-odds rounded to one digit, to two, and so on until nothing is lost."""
    found = float(expit(log_odds))
    return [float(f"{found:.{digits}g}") for digits in range(1, 18)]


def stored_prior(log_odds: FloatArray, log_bayes_factor: FloatArray, said: Any = None) -> float | FloatArray:
    """Prior log-odds: what log-odds have beyond the log Bayes factor; a number if it is the same for all.

    Parameters
    ----------
    log_odds, log_bayes_factor
        Columns of the result.
    said
        The prior probability, where it is known.
    """
    with np.errstate(invalid="ignore"):
        prior = np.asarray(log_odds - log_bayes_factor)
    nearest = float(prior[np.argmin(np.abs(log_bayes_factor))])
    size = np.maximum(np.abs(log_odds), np.abs(log_bayes_factor)) + 1.0
    with np.errstate(invalid="ignore"):
        same = (prior == nearest) | (np.abs(prior - nearest) <= 4.0 * np.finfo(float).eps * size)
    if not same.all():
        for _ in range(3):  # to the last bit, so that features keep their ranks
            with np.errstate(invalid="ignore"):
                off = log_odds - (prior + log_bayes_factor)
            prior = prior + np.where(np.isfinite(off), off, 0.0)
        return prior
    probabilities = [said] if isinstance(said, float) and 0.0 <= said <= 1.0 else []
    exact = [float(checked_log_odds(p, 1)) for p in (*probabilities, *rounded_probabilities(nearest))]
    ends = np.nextafter(nearest, [-np.inf, np.inf]).tolist() if np.isfinite(nearest) else []
    for choice in (*exact, nearest, *ends):
        if (choice + log_bayes_factor == log_odds).all():
            return float(choice)
    return nearest
