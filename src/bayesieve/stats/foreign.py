"""Statistics that other software computed: tidy tables of moments (SQL, Spark), groups of an AnnData object."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from bayesieve.data import as_frame, in_memory, is_annotated, obs_column
from bayesieve.stats.moments.moments import Moments
from bayesieve.stats.sites import SiteStatistics, StatisticsSet
from bayesieve.utils import DataError, FloatArray, IntArray, LabelError, OptionError, did_you_mean, list_names

MOMENT_KEYS = ("class", "feature")
MOMENT_NUMBERS = ("count", "mean", "centred_squares")
POWERS = ("centred_cubes", "centred_fourths")

_SITE, _ONLY = "site", "all"
_N = "n_obs_aggregated"  # where scanpy writes the sizes of groups, if it does
_ROUNDING = 1e-6  # of the mean square: a variance below 0 by less is one of 0


def column_places(names: Sequence[str]) -> dict[str, str] | None:
    """Return which columns of a table hold what, whatever their case; None if it is no table of moments."""
    found = {name.strip().casefold().replace("centered", "centred"): name for name in names}
    return found if all(name in found for name in (*MOMENT_KEYS, *MOMENT_NUMBERS)) else None


def tidy_statistics(
    frame: Any, *, transform: str = "none", site: str = _ONLY, name: str = "The table of moments"
) -> StatisticsSet:
    """Take a tidy table of moments, as a database or Spark writes it, for statistics.

    Parameters
    ----------
    frame
        One row per class and feature (and site): a data frame (pandas, polars, Arrow, DuckDB) or a mapping with
        the columns ``class``, ``feature``, ``count``, ``mean`` and ``centred_squares`` (sum of squared distances
        from the mean: the population variance times the count), whatever their case; ``site`` if there are
        several.
        ``centred_cubes`` and ``centred_fourths`` (sums of their third and fourth powers) let the calibrated prior
        compare variances, too.
    transform
        What was done to the values first: ``"none"``, ``"log2"``, ``"log1p"`` or ``"logit"``.
    site
        Name of the site, if the table has no such column.
    name
        What messages call the table.

    Returns
    -------
    StatisticsSet
        To be handed to :func:`bayesieve.screen`; features and classes are sorted.

    Examples
    --------
    >>> import bayesieve as bs
    >>> rows = {"class": ["a", "b"], "feature": ["TP53", "TP53"], "count": [3, 3], "mean": [0.0, 7.5],
    ...         "centred_squares": [0.26, 0.9]}
    >>> bs.screen(bs.tidy_statistics(rows), model=bs.GaussianModel.proper()).names
    ('TP53',)
    """
    columns = _columns(frame, name)
    sites = columns.pop(_SITE, [site] * len(columns["class"]))
    keys = [
        _texts(values, what, name) for what, values in ((_SITE, sites), *((k, columns[k]) for k in MOMENT_KEYS))
    ]
    numbers = {what: _numbers(columns[what], what, name) for what in columns if what not in MOMENT_KEYS}
    rows = list(zip(*keys, strict=True))
    _check_rows(rows, numbers, name)
    names = [sorted(set(each)) for each in keys]
    place = [{text: k for k, text in enumerate(each)} for each in names]
    codes = [np.array([place[k][text] for text in each]) for k, each in enumerate(keys)]
    filled = np.zeros(tuple(map(len, names)), dtype=bool)
    filled[tuple(codes)] = True
    _check_complete(filled, names, name)
    arrays = {what: np.zeros(filled.shape) for what in numbers}
    for what, array in arrays.items():
        array[tuple(codes)] = numbers[what]
    made = []
    for k, each in enumerate(names[0]):
        powers = [arrays[what][k] for what in POWERS if what in arrays]
        moments = Moments(
            tuple(names[1]), arrays["count"][k].astype(np.int64), arrays["mean"][k], arrays["centred_squares"][k],
            None, *powers,
        )  # fmt: skip
        made.append(SiteStatistics(each, moments, tuple(names[2]), transform))
    return StatisticsSet(tuple(made))


def _columns(frame: Any, name: str) -> dict[str, Any]:
    """Return the columns that count, by their name here."""
    table = frame if isinstance(frame, Mapping) else as_frame(frame)
    try:
        known = [str(each) for each in (table if isinstance(table, Mapping) else table.columns)]
    except AttributeError:
        raise DataError(f"A table of moments is a data frame or a mapping of columns, not {frame!r}.") from None
    places = column_places(known)
    if places is None:
        folded = [each.strip().casefold() for each in known]
        absent = [
            what
            for what in (*MOMENT_KEYS, *MOMENT_NUMBERS)
            if what not in folded and what.replace("red", "ered") not in folded
        ]
        raise DataError(
            f"{name} has no column {list_names(absent)}.{did_you_mean(absent[0], known)} A table of moments has "
            f"class, feature, count, mean and centred_squares, and perhaps site; this one has {list_names(known)}."
        )
    both = [what for what in POWERS if what in places]
    if len(both) == 1:
        raise DataError(f"{name} has {both[0]} alone. Give both {' and '.join(POWERS)}, or neither.")
    wanted = [what for what in (_SITE, *MOMENT_KEYS, *MOMENT_NUMBERS, *POWERS) if what in places]
    columns = {what: list(table[places[what]]) for what in wanted}
    if not columns["class"]:
        raise DataError(f"{name} holds no rows.")
    return columns


def _is_null(value: Any) -> bool:
    missing = value is None or type(value).__name__ in {"NAType", "NaTType"}
    return missing or (isinstance(value, float) and value != value)  # noqa: PLR0124 - only NaN differs from itself


def _texts(values: Sequence[Any], what: str, name: str) -> list[str]:
    gaps = [i for i, value in enumerate(values) if _is_null(value)]
    if gaps:
        raise DataError(
            f"{name}: {len(gaps):,} rows have no {what}, the first is row {gaps[0] + 1}. Leave them out."
        )
    return [str(int(value)) if isinstance(value, float) and value.is_integer() else str(value) for value in values]


def _numbers(values: Sequence[Any], what: str, name: str) -> FloatArray:
    found = np.empty(len(values))
    for i, value in enumerate(values):
        try:
            found[i] = np.nan if _is_null(value) else float(value)
        except (TypeError, ValueError):
            raise DataError(f"{name}, row {i + 1}: {what} is {value!r}, which is no number.") from None
    return found


def _check_rows(rows: list[tuple[str, ...]], numbers: Mapping[str, FloatArray], name: str) -> None:
    """Raise if a row cannot be, or is there twice."""
    count, squares = numbers["count"], numbers["centred_squares"]

    def refuse(bad: npt.NDArray[np.bool_], what: str, why: str) -> None:
        if bad.any():
            i = int(np.flatnonzero(bad)[0])
            raise DataError(
                f"{name}: {int(bad.sum()):,} of {len(rows):,} rows {why}, the first is row {i + 1} "
                f"({_shown(rows[i])}) with {numbers[what][i]:g}."
                + (
                    " The difference of a sum of squares and a squared sum loses all its digits: add up squared "
                    "distances from the mean, or take var_pop(x) * count(x)."
                    if what == "centred_squares" and numbers[what][i] < 0
                    else ""
                )
            )

    whole = np.isfinite(count) & (count == np.round(count))
    refuse(~(whole & (count >= 1)), "count", "have a count that is no whole number of at least 1")
    for what in numbers:
        refuse(~np.isfinite(numbers[what]), what, f"have a {what} that is missing or not finite")
    refuse(squares < 0, "centred_squares", "have negative centred_squares")
    refuse((count == 1) & (squares > 0), "centred_squares", "have one value, but centred_squares over 0")
    if "centred_fourths" in numbers:
        refuse(numbers["centred_fourths"] < 0, "centred_fourths", "have negative centred_fourths")
    twice = [(row, n) for row, n in Counter(rows).items() if n > 1]
    if twice:
        raise DataError(
            f"{name}: {len(twice):,} combinations of site, class and feature occur more than once, for example "
            f"{_shown(twice[0][0])} ({twice[0][1]} times). Group by all three."
        )


def _shown(row: tuple[str, ...]) -> str:
    return f"site {row[0]!r}, class {row[1]!r}, feature {row[2]!r}"


def _check_complete(filled: npt.NDArray[np.bool_], names: Sequence[Sequence[str]], name: str) -> None:
    """Raise if a feature lacks a class that its site has, or a site lacks a feature."""
    needed = np.broadcast_to(filled.any(axis=2, keepdims=True), filled.shape)
    absent = np.argwhere(needed & ~filled)
    if absent.size:
        k, c, f = absent[0].tolist()
        raise DataError(
            f"{name}: {len(absent):,} combinations of site, class and feature are not there, for example "
            f"{_shown((names[0][k], names[1][c], names[2][f]))}. Leave such features out, or add their rows."
        )


def aggregated_statistics(
    adata: Any,
    labels: str,
    *,
    counts: Any = None,
    sites: str | None = None,
    ddof: int = 1,
    transform: str = "none",
) -> StatisticsSet:
    """Take means and variances of groups, as ``scanpy.get.aggregate`` writes them, for statistics.

    Parameters
    ----------
    adata
        What ``sc.get.aggregate(adata, by, func=["mean", "var"])`` returned: layers ``mean`` and ``var``, and a row
        for each group.
    labels
        Column of ``obs`` with the classes.
    counts
        Number of samples (cells) of each group: a mapping from names of rows, such as
        ``adata.obs["condition"].value_counts()``, a column of ``obs``, or one number per row. Not needed where
        ``obs`` has ``n_obs_aggregated``, or a layer ``sum`` says it (``func=["sum", "mean", "var"]``).
    sites
        Column of ``obs`` with the sites (batches), where groups are those of class and site.
    ddof
        What was taken from the count in the denominator of the variance: 1 in scanpy.
    transform
        What was done to the values first, as in :func:`tidy_statistics`.

    Returns
    -------
    StatisticsSet
        To be handed to :func:`bayesieve.screen`. Without fourth powers the calibrated prior compares means only.

    Examples
    --------
    >>> import anndata, numpy as np, pandas as pd
    >>> import bayesieve as bs
    >>> groups = anndata.AnnData(
    ...     obs=pd.DataFrame({"condition": ["sick", "well"]}, index=["sick", "well"]),
    ...     var=pd.DataFrame(index=["TP53"]),
    ...     layers={"mean": np.array([[7.5], [0.1]]), "var": np.array([[0.3], [0.2]])},
    ... )
    >>> statistics = bs.aggregated_statistics(groups, "condition", counts={"sick": 4, "well": 5})
    >>> statistics.pooled().centred_squares.round(6).tolist()
    [[0.9], [0.8]]
    """
    names = ("mean", "var", "sum") if is_annotated(adata) else ()
    layers = {name: adata.layers[name] for name in names if name in adata.layers}
    if not {"mean", "var"} <= set(layers):
        raise DataError(
            "Layers 'mean' and 'var' of an AnnData object are needed, as sc.get.aggregate(adata, by, "
            "func=['mean', 'var']) makes them."
        )
    values = {name: _dense(layer) for name, layer in layers.items()}
    n = _sizes(adata, counts, values)
    squares = _squares(values["mean"], values["var"], n, ddof)
    classes = [str(label) for label in obs_column(adata, labels)]
    places = [_ONLY] * n.size if sites is None else [str(each) for each in obs_column(adata, sites)]
    twice = [key for key, times in Counter(zip(places, classes, strict=True)).items() if times > 1]
    if twice:
        raise LabelError(
            f"{len(twice):,} combinations of site and class have several rows, for example {twice[0][1]!r}: the "
            "groups are finer than the classes. Name the other column with sites=, or aggregate by classes alone."
        )
    n_features = values["mean"].shape[1]
    features = [str(name) for name in adata.var_names]
    keys = {
        "site": np.repeat(places, n_features),
        "class": np.repeat(classes, n_features),
        "feature": features * n.size,
    }
    numbers = {
        "count": np.repeat(n, n_features),
        "mean": values["mean"].ravel(),
        "centred_squares": squares.ravel(),
    }
    return tidy_statistics({**keys, **numbers}, transform=transform, name="The aggregated AnnData object")


def _dense(layer: Any) -> FloatArray:
    values = in_memory(layer)
    return np.asarray(values.toarray() if hasattr(values, "toarray") else values, dtype=np.float64)


def _sizes(adata: Any, counts: Any, values: Mapping[str, FloatArray]) -> IntArray:
    """Return the number of samples of each group."""
    names = [str(name) for name in adata.obs_names]
    if counts is None and _N in adata.obs:
        counts = _N
    if isinstance(counts, str):
        counts = obs_column(adata, counts)
    elif hasattr(counts, "items"):
        given = {str(key): value for key, value in counts.items()}
        absent = [name for name in names if name not in given]
        if absent:
            raise OptionError(
                f"counts say nothing of the groups {list_names(absent)}. Their names: {list_names(names)}."
            )
        counts = [given[name] for name in names]
    elif counts is None and "sum" in values:
        told = values["mean"] != 0
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = np.where(told, values["sum"] / values["mean"], np.nan)
        if told.any(axis=1).all():
            counts = np.round(np.nanmedian(ratio, axis=1))
    if counts is None:
        raise OptionError(
            "How many cells each group has is not said. Give counts=adata.obs['condition'].value_counts() (of the "
            "cells), or aggregate with func=['sum', 'mean', 'var']."
        )
    found = np.asarray(counts, dtype=np.float64)
    if found.shape != (len(names),) or not ((found >= 1) & (found == np.round(found))).all():
        raise OptionError(f"counts must be a whole number of at least 1 for each of the {len(names)} groups.")
    return found.astype(np.int64)


def _squares(mean: FloatArray, var: FloatArray, n: IntArray, ddof: int) -> FloatArray:
    """Return sums of squared distances from the mean; rounding may have brought a variance of 0 below it."""
    wide = n[:, None].astype(np.float64)
    squares = np.where(wide > 1, var * (wide - ddof), 0.0)
    bad = ~(squares >= -_ROUNDING * wide * np.maximum(mean * mean, 1e-300))
    if bad.any():
        i, j = np.argwhere(bad)[0].tolist()
        raise DataError(
            f"{int(bad.sum()):,} variances are negative or no numbers, the first in row {i + 1}, column {j + 1}: "
            f"{var[i, j]:g}. Aggregate again, in double precision."
        )
    return np.maximum(squares, 0.0)
