"""Scatter matrices and cross-products: the sufficient statistics of correlated Gaussian features."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from bayesieve.data import Label, LabelledMatrix, check_classes, is_sparse, union_of_classes
from bayesieve.stats.moments.checks import check_moments, check_same_features
from bayesieve.stats.moments.kernels import merge
from bayesieve.stats.moments.moments import Moments, complete_moments
from bayesieve.utils import CountArray, DataError, FloatArray, IntArray, LabelError, compiled


def cross_products(
    values: Any, rows: IntArray, lo: int, hi: int, partners: FloatArray, mean: FloatArray
) -> FloatArray:
    r"""Centred sums of products :math:`\sum_i z_{ik} (x_{ij} - \bar x_j)` over some rows, partners x columns.

    Parameters
    ----------
    values
        Table, dense or CSC.
    rows
        Rows to sum over.
    lo, hi
        Columns ``lo`` to ``hi - 1``.
    partners
        The few features :math:`z`, rows x partners, already centred.
    mean
        Means of the columns over these rows.
    """
    first = lo
    if is_sparse(values):
        values, first = np.ascontiguousarray(values[:, lo:hi].toarray(), dtype=np.float64), 0
    elif (
        values.dtype not in (np.float64, np.float32) or not values.flags.c_contiguous or not values.dtype.isnative
    ):
        values, first = np.ascontiguousarray(values[:, lo:hi], dtype=np.float64), 0
    view = values.view()
    view.flags.writeable = False  # one compiled kernel for all
    out = np.zeros((partners.shape[1], hi - lo))
    _add(view, rows, first, np.ascontiguousarray(partners.T), np.array(mean), out)
    return out


@compiled(fastmath={"contract"})
def _add(X: Any, rows: Any, lo: int, partners: Any, mean: Any, out: Any) -> None:
    n, width = rows.shape[0], mean.shape[0]
    for k in range(partners.shape[0]):
        z, total = partners[k], out[k]
        i = 0
        while i + 4 <= n:
            a, b, c, d = X[rows[i], lo:], X[rows[i + 1], lo:], X[rows[i + 2], lo:], X[rows[i + 3], lo:]
            za, zb, zc, zd = z[i], z[i + 1], z[i + 2], z[i + 3]
            for j in range(width):
                m = mean[j]
                total[j] += (za * (a[j] - m) + zb * (b[j] - m)) + (zc * (c[j] - m) + zd * (d[j] - m))
            i += 4
        while i < n:
            a, za = X[rows[i], lo:], z[i]
            for j in range(width):
                total[j] += za * (a[j] - mean[j])
            i += 1


_ROWS = 4096  # summed together before they join the total: errors grow with the number of blocks, not of rows
_SLACK = 1e-8
_MOST_FEATURES = 4096


@dataclass(frozen=True, slots=True, eq=False)
class Scatter:
    r"""Counts, means and centred sums of products of each class of samples, for features seen together.

    Parameters
    ----------
    classes
        Class labels, in order.
    count
        Number of samples, ``(n_classes,)``.
    mean
        Class means, ``(n_classes, n_features)``; 0 where the count is 0.
    products
        :math:`\sum_i (x_i - \bar x)(x_i - \bar x)^T`, ``(n_classes, n_features, n_features)``.
    residual
        What rounding took from ``mean``: the mean is ``mean + residual``. Zero when not given.

    Notes
    -----
    Memory is of the order of the square of the number of features: meant for tens of them, not for
    thousands. Features all have the same samples: there is no room for missing values.
    """

    classes: tuple[Label, ...]
    count: CountArray
    mean: FloatArray
    products: FloatArray
    residual: FloatArray | None = None

    def __post_init__(self) -> None:
        products = _check_products(self.products)
        squares = np.diagonal(products, axis1=1, axis2=2)
        classes, count, mean, _, residual = check_moments(
            self.classes, self.count, self.mean, squares, self.residual
        )
        if count.ndim != 1:
            raise DataError(f"count has shape {count.shape}; all features of a set share their samples.")
        object.__setattr__(self, "classes", classes)
        named = {"count": count, "mean": mean, "products": products, "residual": residual}
        for name, array in named.items():
            view = array.view()
            view.flags.writeable = False
            object.__setattr__(self, name, view)

    @classmethod
    def from_matrix(cls, X: Any, y: Any, *, classes: Sequence[Label] | None = None) -> Scatter:
        """Sum a samples x features table class by class, about the class means."""
        return cls.from_labelled(LabelledMatrix.from_arrays(X, y, classes=classes))

    @classmethod
    def from_labelled(cls, matrix: LabelledMatrix) -> Scatter:
        """Sum a matrix that has been checked already; see :meth:`from_matrix`."""
        d = matrix.n_features
        if d > _MOST_FEATURES:
            raise DataError(
                f"All pairs of {d:,} features are too many to hold. Choose at most {_MOST_FEATURES:,} of them."
            )
        moments = complete_moments(matrix, "Features seen together need all values", n_threads=1)
        values = matrix.values.toarray() if is_sparse(matrix.values) else np.asarray(matrix.values)
        products = np.zeros((len(moments.classes), d, d))
        for k, total in enumerate(products):
            rows = np.flatnonzero(matrix.labels.codes == k)
            for lo in range(0, rows.size, _ROWS):
                part = values[rows[lo : lo + _ROWS]].astype(np.float64)
                part -= moments.mean[k]
                part -= np.asarray(moments.residual)[k]
                add_products(np.ascontiguousarray(part), total)
        return cls(moments.classes, moments.count, moments.mean, products, moments.residual)

    @property
    def n_features(self) -> int:
        """Number of features."""
        return int(self.mean.shape[1])

    def group(self, label: Label) -> Scatter:
        """Scatter of one class alone."""
        self._check_known([label])
        return self._of((label,), [self._part(label)])

    def pool(self, classes: Sequence[Label] | None = None) -> Scatter:
        """Scatter of several classes taken together, as one class whose label is the tuple of theirs."""
        chosen = self.classes if classes is None else tuple(check_classes(classes))
        self._check_known(chosen)
        whole, *others = (self._part(label) for label in chosen)
        for other in others:
            whole = _merged(whole, other)
        return self._of((chosen,), [whole])

    def merge(self, other: Scatter) -> Scatter:
        """Scatter of both samples together; a part may lack a class."""
        if not isinstance(other, Scatter):
            raise DataError(f"Scatter merges with Scatter, not with {type(other).__name__}.")
        check_same_features(self.n_features, other.n_features)
        classes = union_of_classes(self.classes, other.classes)
        return self._of(classes, [_merged(self._part(label), other._part(label)) for label in classes])

    def take(self, places: Any) -> Scatter:
        """Scatter of some features, by position, in the order given."""
        at = np.atleast_1d(np.arange(self.n_features)[places])
        products = self.products[:, at[:, None], at[None, :]]
        return Scatter(self.classes, self.count, self.mean[:, at], products, np.asarray(self.residual)[:, at])

    def moments(self) -> Moments:
        """Moments of every feature by itself."""
        squares = np.diagonal(self.products, axis1=1, axis2=2)
        return Moments(self.classes, self.count, self.mean, squares, self.residual)

    def _part(self, label: Label) -> tuple[Any, Any, Any, Any]:
        """Count, mean, residual and products of a class; nothing if it is not there."""
        if label not in self.classes:
            d = self.n_features
            return 0, np.zeros(d), np.zeros(d), np.zeros((d, d))
        k = self.classes.index(label)
        return self.count[k], self.mean[k], np.asarray(self.residual)[k], self.products[k]

    def _check_known(self, labels: Iterable[Label]) -> None:
        for label in labels:
            if label not in self.classes:
                raise LabelError(f"There is no class {label!r}; the classes are {list(self.classes)!r}.")

    @classmethod
    def _of(cls, classes: tuple[Label, ...], parts: Sequence[tuple[Any, Any, Any, Any]]) -> Self:
        count, mean, residual, products = (np.array([part[i] for part in parts]) for i in range(4))
        return cls(classes, count, mean, products, residual)


@compiled()
def add_products(centred: Any, total: Any) -> None:
    """Add the products of all pairs of columns to ``total``, every pair in the order of the rows."""
    n, d = centred.shape
    block = np.zeros((d, d))
    for i in range(n):
        row = centred[i]
        for a in range(d):
            value, into = row[a], block[a]
            for b in range(d):
                into[b] += value * row[b]
    for a in range(d):
        for b in range(d):
            total[a, b] += block[a, b]


def _merged(first: tuple[Any, Any, Any, Any], second: tuple[Any, Any, Any, Any]) -> tuple[Any, Any, Any, Any]:
    """Two parts together, as in :func:`bayesieve.stats.moments.kernels.merge_parts`."""
    n0, mean0, residual0, products0 = first
    n1, mean1, residual1, products1 = second
    mean, residual, _ = merge(n0, mean0, residual0, 0.0, n1, mean1, residual1, 0.0)
    delta = (mean1 - mean0) + (residual1 - residual0)
    weight = n0 * (n1 / (n0 + n1)) if n0 and n1 else 0.0
    return n0 + n1, mean, residual, (products0 + products1) + weight * np.multiply.outer(delta, delta)


def _check_products(products: Any) -> FloatArray:
    try:
        array = np.asarray(products, dtype=np.float64)
    except (TypeError, ValueError):
        array = np.empty(0)
    if array.ndim != 3 or array.shape[1] != array.shape[2] or not np.isfinite(array).all():
        raise DataError("products must be finite numbers, (n_classes, n_features, n_features).")
    squares = np.diagonal(array, axis1=1, axis2=2)
    most = np.sqrt(np.maximum(squares, 0.0))[:, :, None] * np.sqrt(np.maximum(squares, 0.0))[:, None, :]
    odd = (array != array.transpose(0, 2, 1)) | (np.abs(array) > (1.0 + _SLACK) * most)
    if odd.any():
        raise DataError(
            f"{int(odd.sum())} of the products cannot be those of data: they must be symmetric, and none may "
            "exceed the root of the product of the two features' centred squares."
        )
    return array
