r"""Size factors of samples, by which counts are divided before they are transformed.

``total``: the sum of a sample's values, over the median sum of all samples (or over a stated number:
``total:10000`` makes counts per ten thousand). ``median-ratios`` (Anders and Huber 2010): the median, over the
features without a zero, of the ratio of a sample's value to the feature's geometric mean.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from bayesieve.data.lazy import is_lazy_array
from bayesieve.data.matrix import as_values, is_sparse
from bayesieve.utils import DataError, FloatArray, OptionError, Wording, list_names, option

NORMALISATIONS = ("none", "total", "median-ratios")
_AT_ONCE = 2**22  # values looked at together
_MOST_SHOWN = 3


@dataclass(frozen=True, slots=True)
class NamedNumber:
    """A word with a number behind a colon, or without: ``total``, ``total:10000``, ``clr:0.5``."""

    name: str
    number: float | None = None

    @classmethod
    def read(cls, text: Any, names: Sequence[str], numbered: Sequence[str], what: str) -> NamedNumber:
        """Read one of some words; those that are ``numbered`` may have a positive number."""
        if isinstance(text, NamedNumber):
            return text
        name, colon, end = text.partition(":") if isinstance(text, str) else (text, "", "")
        if name not in names:
            raise OptionError(f"There is no {what} {text!r}. There are: {', '.join(names)}.")
        if not colon:
            return cls(str(name))
        try:
            number = float(end)
        except ValueError:
            number = math.nan
        if name not in numbered or not 0 < number < math.inf:
            those = ", ".join(f"{word}:NUMBER" for word in numbered)
            raise OptionError(f"{text!r} is no {what}. A positive number may stand behind: {those}.")
        return cls(str(name), number)


def check_normalise(how: Any) -> NamedNumber:
    """Return how samples are normalised, or say which ways there are."""
    return NamedNumber.read(how, NORMALISATIONS, ("total",), "normalisation")


def size_factors(X: Any, kind: str = "total") -> FloatArray:
    r"""Return a size factor per sample: how deeply it was looked at, relative to others.

    .. math:: e_i = \frac{t_i}{\bar t}, \quad t_i = \sum_f x_{if} \qquad\text{or}\qquad
              e_i = \operatorname{median}_f \frac{x_{if}}{(\prod_k x_{kf})^{1/n}}

    They serve as ``exposures`` of models of counts, or divide the values (:func:`bayesieve.normalise`).

    Parameters
    ----------
    X
        Samples x features: an array, a frame, a CSR or CSC matrix of counts, without missing values.
    kind
        ``"total"``: totals of the samples over their mean. ``"median-ratios"``: the median over features of a
        sample's value over the geometric mean of all samples; features with a zero in any sample are left out.

    Examples
    --------
    >>> import bayesieve as bs
    >>> bs.size_factors([[1, 3], [6, 6]]).tolist()
    [0.5, 1.5]
    >>> bs.size_factors([[1, 2, 9], [4, 8, 0]], "median-ratios").round(12).tolist()
    [0.5, 2.0]
    """
    if kind not in NORMALISATIONS[1:]:
        raise OptionError(f"There is no kind {kind!r} of size factors; there are total and median-ratios.")
    values, _ = as_values(X)
    if kind == "median-ratios":
        ratios = LogRatios()
        width = max(1, _AT_ONCE // values.shape[0])
        for lo in range(0, values.shape[1], width):
            ratios.add(values[:, lo : lo + width])
        return ratios.factors()
    totals = np.asarray(values.sum(axis=1, dtype=np.float64), dtype=np.float64).reshape(-1)
    check_totals_of_samples(totals)
    return np.asarray(totals / totals.mean())


def check_totals_of_samples(totals: FloatArray, names: Sequence[str] = (), path: str = "") -> None:
    """Raise if the values of a sample do not add up to more than 0."""
    bad = np.flatnonzero(~(np.isfinite(totals) & (totals > 0)))
    if not bad.size:
        return
    shown = [names[i] if names else str(i) for i in bad.tolist()]
    who = list_names(shown, _MOST_SHOWN, quote=bool(names))
    where, cure = (f"{path}: ", ": a sample without a label is not used") if path else ("", "")
    raise DataError(
        f"{where}{bad.size} of {totals.size} samples have no total above 0 (no event at all, or a value that is "
        f"missing, infinite or negative): sample {who}; the first adds up to {totals[bad[0]]:g}. Leave these "
        f"samples out{cure or ', or give exposures of your own'}.",
        kind="no-total",
    )


def normalise(X: Any, how: str = "total") -> Any:
    """Divide the values of every sample by its size factor, as ``--normalise`` does.

    Parameters
    ----------
    X
        Samples x features, counts or other values that are not negative: an array, a frame, a CSR or CSC matrix
        (which stays sparse). A Dask array stays one; totals of its samples take a pass over it.
    how
        ``"total"``: afterwards all samples have the same total, the median of their totals; ``"total:10000"``:
        that total. ``"median-ratios"``: see :func:`bayesieve.size_factors`.

    Returns
    -------
    ndarray or sparse matrix
        Of 64-bit numbers.

    Examples
    --------
    >>> import bayesieve as bs
    >>> bs.normalise([[1, 3], [6, 6], [4, 4]]).tolist()
    [[2.0, 6.0], [4.0, 4.0], [4.0, 4.0]]
    """
    way = check_normalise(how)
    if is_lazy_array(X):
        return _normalise_blocks(X, way)
    values, _ = as_values(X)
    stored = values.data if is_sparse(values) else values
    if way.name == "none":
        return values
    if not np.isfinite(stored).all() or (stored < 0).any():
        raise DataError(
            f"Only counts and other values from 0 upwards can be normalised, but "
            f"{int((~(stored >= 0) | np.isinf(stored)).sum()):,} are negative, missing or infinite."
        )
    if way.name == "median-ratios":
        return divide_rows(values, size_factors(values, "median-ratios"))
    totals = np.asarray(values.sum(axis=1, dtype=np.float64), dtype=np.float64).reshape(-1)
    check_totals_of_samples(totals)
    return divide_rows(values, total_factors(totals, way.number))


def _normalise_blocks(X: Any, way: NamedNumber) -> Any:
    """Return a Dask array that is divided block by block when it is computed; totals take a pass over it now."""
    if way.name == "none":
        return X
    if way.name != "total":
        raise OptionError(
            f"{way.name} looks at all samples of a feature at once; of a table in blocks there is total.",
            kind="capability",
        )
    import dask.array as da  # noqa: PLC0415 - X is one of its arrays

    chunks = (X.chunks[0], (1,) * X.numblocks[1])
    parts = X.map_blocks(row_totals, chunks=chunks, dtype=np.float64, meta=np.empty((0, 0)))
    totals = np.asarray(parts.sum(axis=1).compute())
    check_totals_of_samples(totals)
    factors = da.from_array(total_factors(totals, way.number)[:, None], chunks=(X.chunks[0], 1))
    return da.map_blocks(_divide_block, X, factors, dtype=np.float64)


def row_totals(values: Any) -> FloatArray:
    """Sums of the rows of a table, dense or sparse, as a column."""
    return np.asarray(values.sum(axis=1, dtype=np.float64), dtype=np.float64).reshape(-1, 1)


def _divide_block(values: Any, factors: FloatArray) -> Any:
    return divide_rows(values, factors[:, 0])


def total_factors(totals: FloatArray, target: float | None) -> FloatArray:
    """By what samples are divided so that their totals are a target; the median total if none is stated."""
    return np.asarray(totals / (np.median(totals) if target is None else target), dtype=np.float64)


def divide_rows(values: Any, factors: FloatArray) -> Any:
    """Divide every sample by its factor; what is sparse stays so."""
    if not is_sparse(values):
        return np.asarray(values, dtype=np.float64) / factors[:, None]
    by_row = values.format == "csr"
    each = np.repeat(factors, np.diff(values.indptr)) if by_row else factors[values.indices]
    made = values.astype(np.float64)  # a copy
    made.data /= each
    return made


@dataclass(slots=True)
class LogRatios:
    """Log ratios to the geometric mean of each feature, of the features that are above 0 in all samples."""

    kept: list[FloatArray] = field(default_factory=list)
    n_features: int = 0

    def add(self, values: Any) -> None:
        """Look at some features of all samples."""
        self.n_features += values.shape[1]
        if is_sparse(values):
            columns = values.tocsc()
            full = np.flatnonzero(np.diff(columns.indptr) == values.shape[0])
            values = columns[:, full].toarray()
        dense = np.asarray(values, dtype=np.float64)
        dense = dense[:, (dense > 0).all(axis=0)]  # NaN is not above 0
        if dense.size:
            logs = np.log(dense)
            self.kept.append(logs - logs.mean(axis=0))

    def factors(self, path: str = "") -> FloatArray:
        """Return the size factor of every sample."""
        if not self.kept:
            raise DataError(
                f"{path}{': ' if path else ''}none of {self.n_features:,} features is above 0 in every sample, so "
                "that there is none by which the ratios of samples could be taken.",
                hint=(
                    "Cells and sparse counts are normalised by their totals: ",
                    option("normalise", "total"),
                    "; or leave out samples that are nearly empty.",
                ),
                kind="no-ratios",
            )
        return np.exp(np.median(np.concatenate(self.kept, axis=1), axis=1))

    @property
    def n_used(self) -> int:
        """Number of features that are above 0 in every sample."""
        return sum(each.shape[1] for each in self.kept)


def refuse_for_counts(model_name: str) -> OptionError:
    """Return the error of normalised values for a model of counts."""
    return OptionError(
        option("normalise"),
        f" makes measurements of counts, but {model_name} takes the counts themselves, and the totals of the "
        "samples as exposures.",
        hint=("Say ", Wording("exposures='total'", "--exposures total"), " instead."),
    )
