"""Moments of covariates over the samples whose values are there, feature by feature."""

from __future__ import annotations

from typing import Any

import numpy as np

from bayesieve.data import LabelledMatrix, is_sparse
from bayesieve.stats.moments.moments import Moments
from bayesieve.utils import FloatArray, compiled, for_each

_TILE = 2048  # columns whose products are summed together


def with_missing(
    matrix: LabelledMatrix,
    Z: FloatArray,
    moments: Moments,
    location: FloatArray,
    scatter: FloatArray,
    cross: FloatArray,
    threads: int,
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Moments of the covariates of every feature, over the samples whose values are there."""
    n_features, codes = moments.n_features, matrix.labels.codes
    whole = [np.repeat(array[..., None], n_features, axis=-1) for array in (location, scatter)]
    short = np.flatnonzero((moments.count != matrix.labels.counts[:, None]).any(axis=0))
    order = np.argsort(codes, kind="stable")
    starts = np.searchsorted(codes[order], np.arange(len(moments.classes) + 1))
    values = matrix.values.tocsc() if is_sparse(matrix.values) else matrix.values

    def work(lo: int) -> None:
        columns = short[lo : lo + _TILE]
        tile = values[:, columns]
        tile = np.ascontiguousarray((tile.toarray() if is_sparse(tile) else np.asarray(tile)).T, np.float64)
        p, n_classes = Z.shape[1], starts.size - 1
        place, products = np.zeros((n_classes, p, columns.size)), np.zeros((n_classes, p, p, columns.size))
        crossed = np.zeros((n_classes, p, columns.size))
        _sum_present(tile, Z, order, starts, moments.mean[:, columns], place, products, crossed)
        whole[0][..., columns], whole[1][..., columns], cross[..., columns] = place, products, crossed

    for_each(work, range(0, short.size, _TILE), threads)
    return whole[0], whole[1], cross


@compiled()
def _sum_present(
    V: Any, Z: Any, order: Any, starts: Any, mean: Any, location: Any, scatter: Any, cross: Any
) -> None:
    """Sum features x samples over the values that are there."""
    here = np.empty(Z.shape[0], np.int64)
    for j in range(V.shape[0]):
        for c in range(starts.shape[0] - 1):
            n = 0
            for i in order[starts[c] : starts[c + 1]]:
                if not np.isnan(V[j, i]):
                    here[n] = i
                    n += 1
            if n:
                _sum_cell(V[j], Z, here[:n], mean[c, j], location[c, :, j], scatter[c, :, :, j], cross[c, :, j])


@compiled()
def _sum_cell(x: Any, Z: Any, rows: Any, mean: float, location: Any, scatter: Any, cross: Any) -> None:
    """Means of the covariates over some rows in one sweep, products in another."""
    p = Z.shape[1]
    for k in range(p):
        for i in rows:
            location[k] += Z[i, k]
        location[k] /= rows.shape[0]
    for k in range(p):
        for i in rows:
            cross[k] += (Z[i, k] - location[k]) * (x[i] - mean)
        for h in range(k + 1):
            for i in rows:
                scatter[k, h] += (Z[i, k] - location[k]) * (Z[i, h] - location[h])
            scatter[h, k] = scatter[k, h]
