"""RawValues: the values of the strongest features, checked to be those that were screened."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from bayesieve.data import Label, LabelledMatrix, ValueBlocks, aligned, disambiguate, encode_labels
from bayesieve.models import PairedComparison
from bayesieve.posterior import Adjustment, FeaturePosterior, TrendSlopes
from bayesieve.screening import SummarisedTable, values_of
from bayesieve.stats import ClassStatistics, EventTotals, Moments
from bayesieve.utils import DataError, FloatArray, IntArray, LabelError, OptionError, is_whole

_CLOSE = 1e-6  # of a standard deviation, or of a total
_SINGLE = 2.0**-22  # what four bytes per number may change


def check_agreement(posterior: FeaturePosterior, which: IntArray, values: FloatArray, codes: IntArray) -> None:
    """Raise unless values of some features are those that were screened, class by class.

    Compared are numbers of values and, for Gaussian data, means and standard deviations, for counts totals.
    Values rounded to four bytes per number pass.

    Parameters
    ----------
    posterior
        The screen.
    which
        Features.
    values
        Their values, features x samples; NaN where one is missing.
    codes
        Class of every sample.
    """
    statistics: Any = posterior.statistics.take(which)
    counts = np.broadcast_to(statistics.counts, (len(posterior.classes), which.size))
    for k in range(len(posterior.classes)):
        mine = values[:, codes == k]
        there = ~np.isnan(mine)
        number = there.sum(axis=1)
        _check(posterior, which, k, "{:,.0f} values", number, counts[k], np.zeros(which.size))
        if isinstance(statistics, Moments):
            _check_moments(posterior, which, k, mine, statistics)
        elif isinstance(statistics, EventTotals) and (statistics.total == np.rint(statistics.total)).all():
            total = statistics.total[k]  # totals brought to equal exposures are no whole numbers, nor compared
            found = np.where(there, mine, 0.0).sum(axis=1)
            _check(posterior, which, k, "{:,.6g} events", found, total, _CLOSE * np.abs(total))


def _check_moments(
    posterior: FeaturePosterior, which: IntArray, k: int, values: FloatArray, moments: Moments
) -> None:
    there = ~np.isnan(values)
    number = there.sum(axis=1)
    filled = np.where(there, values, 0.0)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = filled.sum(axis=1) / number
        squares = np.where(there, values - mean[:, None], 0.0)
        deviation = np.sqrt((squares**2).sum(axis=1) / (number - 1))
        wanted = np.sqrt(moments.variance[k])
    allowed = _CLOSE * np.nan_to_num(wanted) + _SINGLE * np.abs(filled).max(axis=1, initial=0.0)
    _check(posterior, which, k, "mean {:.6g}", mean, moments.mean[k], allowed)
    _check(posterior, which, k, "standard deviation {:.6g}", deviation, wanted, allowed)


def _check(
    posterior: FeaturePosterior, which: IntArray, k: int, words: str, found: Any, wanted: Any, allowed: FloatArray
) -> None:
    """Compare one number per feature; what is not defined in either is not compared."""
    with np.errstate(invalid="ignore"):
        far = np.flatnonzero(np.abs(np.asarray(found, dtype=np.float64) - wanted) > allowed)
    if far.size:
        i = int(far[0])
        more = f" ({far.size:,} of {which.size:,} features differ)" if far.size > 1 else ""
        raise DataError(
            f"The data are not those that were screened: feature {posterior.names[int(which[i])]!r} has "
            f"{words.format(float(found[i]))} in class {disambiguate(posterior.classes)[k]}, the screen "
            f"{words.format(float(wanted[i]))}{more}. Hand over the values as they were screened, with the same "
            "transform, samples and labels."
        )


MOST_CLASSES = 255


@dataclass(frozen=True, slots=True, eq=False)
class RawValues:
    """Values of some features and all samples.

    Parameters
    ----------
    values
        Features x samples, the strongest feature first; NaN where a value is missing.
    codes
        Class of every sample, as its position among the classes.
    sample_names
        Names of the samples; none if there are none.
    """

    values: npt.NDArray[np.float64]
    codes: IntArray
    sample_names: tuple[str, ...] = ()


def raw_values(posterior: FeaturePosterior, data: Any, labels: Any = None, n: int = 500) -> RawValues | None:
    """Pick the values of the ``n`` strongest features; a file is read once more, and held for them only.

    Parameters
    ----------
    posterior
        The screen.
    data
        What was screened: a table (samples x features), a :class:`~bayesieve.data.LabelledMatrix`, or what
        :func:`bayesieve.read_table` returned. Features are matched by name where both have names.
    labels
        Class of every sample, for a plain table.
    n
        Number of features.

    Returns
    -------
    RawValues or None
        None for categories, for ready statistics, and if ``n`` is 0.
    """
    if n == 0 or isinstance(data, ClassStatistics) or posterior.model.supports("categories"):
        return None
    if len(posterior.classes) > MOST_CLASSES:
        return None
    table, names = _table(
        posterior.classes, data, labels, paired=isinstance(posterior.comparison, PairedComparison)
    )
    wanted = posterior.ranking[: min(n, posterior.n_features)]
    places = _places(posterior.feature_names, posterior.n_features, table, wanted)
    order = np.argsort(places, kind="stable")
    codes, values = values_of(table, places[order])
    found = np.empty((places.size, codes.size))
    found[order] = values.T
    for finding in posterior.findings:
        if isinstance(finding, (Adjustment, TrendSlopes)):
            found = finding.adjusted(found, wanted)
        if isinstance(finding, TrendSlopes):
            codes = finding.codes  # labels are values of the outcome
    check_agreement(posterior, wanted, found, codes)
    return RawValues(found, codes, names if len(names) == codes.size else ())


def values_of_features(
    data: Any, labels: Any, classes: Sequence[Label], names: tuple[str, ...], which: IntArray
) -> tuple[IntArray, FloatArray]:
    """Class of every sample, and the values of some features, samples x features.

    Parameters
    ----------
    data, labels
        As for :func:`raw_values`.
    classes, names, which
        The classes; names of all features, and positions among them.
    """
    table, _ = _table(tuple(classes), data, labels)
    places = _places(names if table.feature_names is not None else None, len(names), table, which)
    order = np.argsort(places, kind="stable")
    codes, values = values_of(table, places[order])
    found = np.empty(values.shape)
    found[:, order] = values
    return codes, found


def check_n_values(n_values: Any) -> int:
    """Return the number of features to show values of, or raise."""
    if is_whole(n_values) and n_values >= 0:
        return int(n_values)
    raise OptionError(
        f"n_values is {n_values!r}, but it is the number of features whose values are shown: a whole number, 0 "
        "for none."
    )


def check_sample_columns(
    values: RawValues | None, columns: Mapping[str, Sequence[Any]] | None, of_table: Any = None
) -> dict[str, list[Any]]:
    """Return other columns about the samples as lists; none without values of single samples.

    Parameters
    ----------
    values
        The values shown.
    columns
        Columns by name, each with one entry per sample in the order of ``data``; a data frame will do.
    of_table
        Columns that came with the table, used if none are given; those of other samples (pairs, say) are left out.
    """
    if values is None:
        return {}
    if columns is None:
        found = {} if of_table is None else {str(name): list(of_table[name]) for name in of_table}
        return {name: column for name, column in found.items() if len(column) == values.codes.size}
    found = {str(name): list(columns[name]) for name in columns}
    for name, column in found.items():
        if len(column) != values.codes.size:
            raise DataError(
                f"The column {name!r} of the samples has {len(column):,} entries, but there are "
                f"{values.codes.size:,} samples. Give one entry per sample, in the order of the data."
            )
    return found


def sample_counts(posterior: FeaturePosterior, data: Any, labels: Any = None) -> list[int] | None:
    """Count the samples of every class, or the pairs; None where that cannot be told."""
    paired = isinstance(posterior.comparison, PairedComparison)
    if isinstance(data, SummarisedTable):
        by_class = {"": data.n_pairs} if paired else dict(data.class_counts)
        wanted = [""] if paired else [str(label) for label in posterior.classes]
        return [by_class[label] for label in wanted] if set(wanted) <= set(by_class) else None
    if paired or isinstance(data, ClassStatistics):
        return None
    if isinstance(data, LabelledMatrix):
        number = dict(zip(data.labels.classes, data.labels.counts.tolist(), strict=True))
        return [number.get(label, 0) for label in posterior.classes]
    return None if labels is None else encode_labels(aligned(data, labels), posterior.classes).counts.tolist()


def _table(
    classes: tuple[Label, ...], data: Any, labels: Any, *, paired: bool = False
) -> tuple[ValueBlocks, tuple[str, ...]]:
    """Return a table that can be looked at, and the names of its samples."""
    if isinstance(data, SummarisedTable):
        return data, tuple(getattr(data, "sample_names", None) or ())
    if paired:
        raise OptionError(
            "The values shown of pairs are differences, which a plain table does not hold. Give what "
            "read_table(..., pairs=...) returned as data, or leave data out."
        )
    if isinstance(data, LabelledMatrix):
        matrix = data
        if set(matrix.labels.classes) - set(classes):
            raise LabelError(
                f"The data hold the classes {list(matrix.labels.classes)!r}, the screen "
                f"{list(classes)!r}. Give the data that were screened."
            )
        if matrix.labels.classes != classes:
            written = [matrix.labels.classes[k] for k in matrix.labels.codes.tolist()]
            matrix = replace(matrix, labels=encode_labels(written, classes))
    else:
        if labels is None:
            raise LabelError("The class of every sample is needed with data: write(..., data=X, labels=y).")
        matrix = LabelledMatrix.from_arrays(data, labels, classes=classes)
    index = getattr(data, "index", None) if hasattr(data, "iloc") else None
    if index is not None and index.dtype.kind not in "iuf":
        return matrix, tuple(str(name) for name in index)
    return matrix, tuple(matrix.sample_names or ())


def _places(ours: tuple[str, ...] | None, n_features: int, table: ValueBlocks, wanted: IntArray) -> IntArray:
    """Where the features of the screen are in the table: by name, by number if either has no names."""
    theirs = table.feature_names
    n = len(theirs) if theirs is not None else int(table.values.shape[1])  # type: ignore[attr-defined]
    if theirs is None or ours is None or theirs == ours:
        if n != n_features:
            raise DataError(
                f"The data have {n:,} features, but {n_features:,} were screened. Give the data that "
                "were screened, or name the features in both."
            )
        return wanted
    place = {name: i for i, name in enumerate(theirs)}
    absent = [ours[i] for i in wanted.tolist() if ours[i] not in place]
    if absent:
        raise DataError(
            f"The data do not hold {len(absent):,} of the {wanted.size:,} strongest features, for example "
            f"{', '.join(map(repr, absent[:3]))}. Give the data that were screened."
        )
    return np.array([place[ours[i]] for i in wanted.tolist()], dtype=np.int64)
