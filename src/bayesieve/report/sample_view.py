"""Samples: the order of the heatmap, the principal components of the list, and columns about the samples."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from bayesieve.report.cells import column_content
from bayesieve.report.data import ReportData
from bayesieve.report.encoding import encode_array, encode_numbers
from bayesieve.utils import FloatArray, IntArray

SIZES = (50, 20, 100)  # features of the heatmap, the usual number first
_MOST_CLUSTERED = 2000  # samples of a class; more stay in the order of the table
_MOST_COLUMNS = 12
_MOST_LEVELS = 0.5  # of the samples; a column with more distinct texts names samples and is not shown


def sample_view(report: ReportData) -> dict[str, Any] | None:
    """Return what the charts of samples need beside the values; None without values or with one sample."""
    raw = report.values
    if raw is None or raw.codes.size < 2 or not len(raw.values):
        return None
    n_listed = report.selection.n_selected
    used = min(n_listed, len(raw.values)) if n_listed > 1 else min(SIZES[0], len(raw.values))
    scaled = standardise(raw.values[: max(used, *SIZES)])
    columns = [track(name, values) for name, values in report.sample_columns.items() if _tells(values)]
    return {
        "sizes": [_arranged(scaled[:n], raw.codes) for n in dict.fromkeys(min(n, len(scaled)) for n in SIZES)],
        "components": components(scaled[:used]),
        "columns": columns[:_MOST_COLUMNS],
    }


def _arranged(shown: FloatArray, codes: IntArray) -> dict[str, Any]:
    """Order of the samples and of the strongest features in a heatmap of so many."""
    return {
        "n": len(shown),
        "samples": encode_numbers(sample_order(shown, codes)),
        "features": encode_numbers(clustered(shown) if len(shown) > 2 else np.arange(len(shown))),
    }


def standardise(values: npt.ArrayLike) -> FloatArray:
    """Values of every feature in standard deviations from its mean; 0 where missing or where it never varies."""
    array = np.asarray(values, dtype=np.float64)
    there = np.isfinite(array)
    number = np.maximum(there.sum(axis=1, keepdims=True), 1)
    largest = np.abs(np.where(there, array, 0.0)).max(axis=1, keepdims=True, initial=0.0)
    filled = np.where(there, array, 0.0) / np.where(largest > 0, largest, 1.0)  # squares stay in range
    mean = filled.sum(axis=1, keepdims=True) / number
    centred = np.where(there, filled - mean, 0.0)
    spread = np.sqrt((centred**2).sum(axis=1, keepdims=True) / np.maximum(number - 1, 1))
    return np.asarray(np.where(spread > 0, centred / np.where(spread > 0, spread, 1.0), 0.0))


def clustered(rows: FloatArray) -> IntArray:
    """Order rows by average linkage of Euclidean distances, the nearest leaves side by side."""
    from scipy.cluster.hierarchy import leaves_list, linkage, optimal_leaf_ordering  # noqa: PLC0415 - slow
    from scipy.spatial.distance import pdist  # noqa: PLC0415 - slow to import

    if len(rows) < 3 or len(rows) > _MOST_CLUSTERED:
        return np.arange(len(rows))
    distances = pdist(rows)
    tree = linkage(distances, "average")
    if len(rows) <= 250:  # costs the cube of the number
        tree = optimal_leaf_ordering(tree, distances)
    return np.asarray(leaves_list(tree), dtype=np.int64)


def sample_order(scaled: FloatArray, codes: IntArray) -> IntArray:
    """Order samples by class, and within a class by likeness."""
    parts = []
    for k in np.unique(codes):
        mine = np.flatnonzero(codes == k)
        parts.append(mine[clustered(scaled[:, mine].T)])
    return np.concatenate(parts)


def components(scaled: FloatArray) -> dict[str, Any] | None:
    """Return the first two principal components of the samples; the largest weight of each is positive."""
    if min(scaled.shape) < 2 or not scaled.any():
        return None
    from scipy.linalg import eigh  # noqa: PLC0415 - slow to import

    centred = scaled - scaled.mean(axis=1, keepdims=True)
    product = centred @ centred.T if scaled.shape[0] <= scaled.shape[1] else centred.T @ centred
    values, vectors = eigh(product, subset_by_index=(len(product) - 2, len(product) - 1))
    values, vectors = values[::-1], vectors[:, ::-1]
    if scaled.shape[0] <= scaled.shape[1]:
        weights, places = vectors, centred.T @ vectors
    else:
        places = vectors * np.sqrt(np.maximum(values, 0.0))
        weights = centred @ vectors
    sign = np.where(weights[np.abs(weights).argmax(axis=0), [0, 1]] < 0, -1.0, 1.0)
    share = np.maximum(values, 0.0) / np.trace(product)
    return {
        "n": len(scaled),
        "x": encode_array(places[:, 0] * sign[0], "f4"),
        "y": encode_array(places[:, 1] * sign[1], "f4"),
        "share": [round(float(each), 6) for each in share],
    }


def track(name: str, values: Sequence[Any]) -> dict[str, Any]:
    """Encode a column about the samples."""
    return column_content(name, values, annotation=True)


def _tells(values: Sequence[Any]) -> bool:
    """Whether a column is more than an id or one text for all."""
    texts = ["" if value is None else str(value) for value in values]
    distinct = len(set(texts) - {""})
    if distinct < 2:
        return False
    numbers = column_content("", values, annotation=True)["kind"] != "text"
    return numbers or distinct <= max(2, _MOST_LEVELS * len(texts))
