"""Transformations of the values, always declared and never guessed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from bayesieve.data.lazy import is_lazy_array
from bayesieve.data.matrix import as_values, is_sparse
from bayesieve.data.normalise import NamedNumber, check_normalise, divide_rows
from bayesieve.utils import DataError, FloatArray, IntArray, OptionError, for_each, n_threads_for, option

TRANSFORMS = ("none", "log2", "log1p", "logit", "clr", "vst", "rank-normal")
NEEDS_ALL_SAMPLES = frozenset({"rank-normal"})
_NUMBERED = ("clr", "vst")  # clr:0.5 is added to every value, vst:0.05 is the dispersion

_INWARDS = (
    "It is for shares such as methylation levels: move values of exactly 0 and 1 inwards first, say by 0.001, or "
    "use rank-normal."
)
_CURES = {
    "log2": "log1p takes zeros; for values below zero, as of background-corrected intensities, use rank-normal, "
    "or clip them first.",
    "log1p": "Use rank-normal, or clip such values first.",
    "logit": _INWARDS,
    "clr": "Zeros have no logarithm: state what is to be added to every value first, for counts commonly 0.5 "
    "(clr:0.5).",
    "vst": "It is for counts; log1p and rank-normal take other values.",
}
_COLUMNS = 64  # ranked at a time
Where = Callable[[int, int], str]  # (sample, feature) of the piece, in words


def check_transform(name: Any) -> NamedNumber:
    """Return the transformation that is meant, and its number if it has one; or say which there are."""
    return NamedNumber.read(name, TRANSFORMS, _NUMBERED, "transformation")


def check_treatment(normalise: Any, transform: Any) -> str:
    """Check what is done to values before they are screened, and return it as one word: ``total+log1p``."""
    samples, values = check_normalise(normalise), check_transform(transform)
    if values.name == "vst" and samples.number is not None:
        raise OptionError(
            f"vst is for counts at their own scale, and {normalise} gives them another.",
            hint=("Say ", option("normalise", "total"), " or ", option("normalise", "median-ratios"), "."),
        )
    return transform if samples.name == "none" else f"{normalise}+{transform}"


def split_treatment(treatment: str) -> tuple[str, str]:
    """Return normalisation and transformation of what :func:`check_treatment` made one word of."""
    first, plus, last = treatment.rpartition("+")
    return (first, last) if plus else ("none", treatment)


def looks_at_all_samples(transform: str, normalise: str = "none") -> bool:
    """Tell whether a sample's values become what they do because of other samples."""
    values, samples = check_transform(transform), check_normalise(normalise)
    own = values.name in ("none", "log2", "log1p", "logit", "clr") or (values.name == "vst" and values.number)
    return not (own and (samples.name == "none" or samples.number))


@dataclass(frozen=True, slots=True, eq=False)
class SampleScales:
    """What a transformation has to know beyond a value.

    Parameters
    ----------
    factors
        Of every sample: by what its values are divided; None if they are not.
    centres
        Of every sample, for clr: the mean logarithm of its values; None if not needed.
    dispersion
        For vst.
    """

    factors: FloatArray | None = None
    centres: FloatArray | None = None
    dispersion: float | None = None

    def take(self, which: slice) -> SampleScales:
        """Return what is known of some of the samples."""
        factors, centres = (None if each is None else each[which] for each in (self.factors, self.centres))
        return SampleScales(factors, centres, self.dispersion)

    def divide(self, values: Any) -> Any:
        """Divide the values of samples by their factors."""
        return values if self.factors is None else divide_rows(values, self.factors)


_BY_VALUE = ("none", "log2", "log1p", "logit")  # each value by itself


def transform(X: Any, name: str) -> Any:
    """Transform samples x features in memory, as ``--transform`` does with those of a file.

    Parameters
    ----------
    X
        Samples x features: an array, a frame, a CSR or CSC matrix. ``log1p`` and ``vst`` keep it sparse. A Dask
        array stays one.
    name
        ``"log2"``, ``"log1p"``, ``"logit"``, ``"clr"`` (``"clr:0.5"``), ``"vst"`` (``"vst:0.05"``) or
        ``"rank-normal"``; see :func:`bayesieve.data.transform.apply_transform` for the formulas.

    Examples
    --------
    >>> import bayesieve as bs
    >>> counts = [[10, 0, 4], [35, 2, 3], [12, 1, 2]]
    >>> bs.transform(bs.normalise(counts, "total"), "log1p").round(2).tolist()
    [[2.46, 0.0, 1.67], [2.65, 0.56, 0.75], [2.56, 0.69, 1.1]]
    >>> bs.transform([[1.0, 100.0]], "clr").round(3).tolist()
    [[-2.303, 2.303]]
    """
    if is_lazy_array(X):
        return _transform_blocks(X, name)
    values, _ = as_values(X)
    return apply_transform(name, values, _cell)


def _cell(i: int, j: int) -> str:
    return f"sample {i}, feature {j}"


def _transform_blocks(X: Any, name: str) -> Any:
    """Return a Dask array that is transformed block by block when it is computed."""
    if check_transform(name).name not in _BY_VALUE:
        raise OptionError(
            f"{name} looks at several values of a sample or a feature at once; of a table in blocks there are "
            f"{', '.join(_BY_VALUE)}.",
            kind="capability",
        )
    return X.map_blocks(_transform_block, name, dtype=np.float64)


def _transform_block(values: Any, name: str) -> Any:
    return apply_transform(name, values, _cell) if 0 not in values.shape else values


def apply_transform(name: str, values: Any, where: Where, scales: SampleScales | None = None) -> Any:
    r"""Apply a transformation to samples x features, dense or sparse.

    ``log2`` is for values above 0, ``log1p`` (the natural logarithm of 1 + x) for values above -1. ``logit`` is
    log2(x / (1 - x)), which makes M-values of methylation levels; it is for values between 0 and 1.
    ``clr`` is the centred log-ratio, for parts of a whole: the natural logarithm less its mean over all features
    of the sample; ``clr:0.5`` adds 0.5 to every value first. ``vst`` stabilises the variance of counts whose
    variance is :math:`\mu + \alpha\mu^2`: :math:`\operatorname{acosh}(2\alpha x + 1) / \sqrt\alpha`, which is
    :math:`2\sqrt x` for :math:`\alpha = 0`; ``vst:0.05`` states the dispersion :math:`\alpha`, otherwise it is
    the data's (:func:`estimate_dispersion`).
    ``rank-normal`` replaces the values of a feature by normal scores of their ranks among all its
    samples, the normal quantile of (rank - 3/8) / (n + 1/4) (Blom 1958); ties share their mean rank.

    Parameters
    ----------
    name
        One of :data:`TRANSFORMS`, those that have a number with it behind a colon.
    values
        Samples x features; NaN stays NaN.
    where
        Names a cell in words, for messages.
    scales
        Mean logarithms and dispersion, where ``values`` are a part of the table only.
    """
    wanted, known = check_transform(name), scales or SampleScales()
    if wanted.name == "none":
        return values
    if wanted.name == "rank-normal":
        return _normal_scores(np.asarray(values.toarray() if is_sparse(values) else values, dtype=np.float64))
    if wanted.name == "clr":
        centres = known.centres
        if centres is None:
            centres = np.nanmean(log_shifted(values, wanted.number or 0.0, where), axis=1)
        return log_shifted(values, wanted.number or 0.0, where) - centres[:, None]
    if wanted.name == "vst":
        dispersion = wanted.number if known.dispersion is None else known.dispersion
        if dispersion is None:
            spread = FeatureSpread()
            spread.add(values)
            dispersion = estimate_dispersion(spread.mean, spread.variance)
        return _stabilised(values, dispersion, where)
    return _logarithm(wanted.name, values, where)


def _logarithm(name: str, values: Any, where: Where) -> Any:
    """Return log2, log1p or logit."""
    if is_sparse(values):
        if name in ("log2", "logit"):
            raise DataError(
                f"{name} needs values above 0, but in a sparse table most are 0. log1p takes zeros and keeps them."
            )
        _check_domain(name, values.data[None], -1.0, lambda _, k: _sparse_where(values, k, where))
        return _each_stored(values, lambda data: np.log1p(data, dtype=np.float64))
    values = np.asarray(values)
    if values.dtype.kind != "f":
        values = values.astype(np.float64)
    _check_domain(name, values, -1.0 if name == "log1p" else 0.0, where)
    if name == "logit":
        return _logit(values, where)
    return np.log2(values, dtype=np.float64) if name == "log2" else np.log1p(values, dtype=np.float64)


def log_shifted(values: Any, shift: float, where: Where) -> npt.NDArray[np.float64]:
    """Natural logarithms of the values and what is added to them."""
    dense = np.asarray(values.toarray() if is_sparse(values) else values, dtype=np.float64)
    _check_domain("clr", dense, -shift, where)
    return np.asarray(np.log(dense + shift))


def _stabilised(values: Any, dispersion: float, where: Where) -> Any:
    r"""Return acosh(2ax + 1) / sqrt(a), written as 2 asinh(sqrt(ax)) / sqrt(a), which is accurate for small a."""

    def each(x: Any) -> Any:
        root = np.sqrt(np.asarray(x, dtype=np.float64))
        return 2.0 * root if dispersion == 0.0 else np.arcsinh(root * dispersion**0.5) * (2.0 / dispersion**0.5)

    if not is_sparse(values):
        values = np.asarray(values)
        _check_domain("vst", values, 0.0, where, itself=True)
        return np.asarray(each(values))
    _check_domain("vst", values.data[None], 0.0, lambda _, k: _sparse_where(values, k, where), itself=True)
    return _each_stored(values, each)


def _each_stored(values: Any, change: Callable[[Any], FloatArray]) -> Any:
    """Return a sparse table with every stored value changed, in 64-bit numbers whatever it held; 0 stays 0."""
    return type(values)((change(values.data), values.indices, values.indptr), values.shape)


_LEAST_MEAN, _FEWEST = 1.0, 20  # features with a smaller mean say little about dispersion


def estimate_dispersion(mean: FloatArray, variance: FloatArray, noise: float = 1.0) -> float:
    r"""Return the dispersion that a typical feature has: variance = noise * mean + dispersion * mean squared.

    The median of :math:`(s^2 - c\bar x) / \bar x^2` over the features whose mean is 1 at least (the 20 with the
    largest mean, if fewer), 0 if that is negative. Classes play no part in it, so that shuffled labels give the
    same.

    Parameters
    ----------
    mean, variance
        Of every feature, over all samples.
    noise
        Mean of one over the size factors: what counting adds to values that were divided by them.
    """
    there = np.flatnonzero(np.isfinite(variance) & (mean > 0))
    if not there.size:
        return 0.0
    strong = there[mean[there] >= _LEAST_MEAN]
    if strong.size < _FEWEST:
        strong = there[np.argsort(-mean[there], kind="stable")[:_FEWEST]]
    found = (variance[strong] - noise * mean[strong]) / mean[strong] ** 2
    return max(float(np.median(found)), 0.0)


@dataclass(slots=True)
class FeatureSpread:
    """Mean and variance of every feature over all samples, which come all at once or some at a time."""

    n: FloatArray | None = None
    mean: FloatArray = field(default_factory=lambda: np.empty(0))
    squares: FloatArray = field(default_factory=lambda: np.empty(0))

    def add(self, values: Any) -> None:
        """Take further samples of the same features."""
        if not values.shape[0]:
            return
        n, mean, squares = _spread(values)
        if self.n is None:
            self.n, self.mean, self.squares = n, mean, squares
            return
        both = np.maximum(self.n + n, 1.0)
        moved = mean - self.mean
        self.squares = self.squares + squares + moved**2 * self.n * n / both
        self.mean = self.mean + moved * n / both
        self.n = self.n + n

    @property
    def variance(self) -> FloatArray:
        """Variance with n - 1; NaN of one value."""
        assert self.n is not None
        return np.where(self.n > 1, self.squares / np.maximum(self.n - 1, 1.0), np.nan)


def _spread(values: Any) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Number, mean and centred squares of every column."""
    n_rows, n_columns = values.shape
    if is_sparse(values):
        columns = values.tocsc()
        data = columns.data.astype(np.float64)
        place = np.repeat(np.arange(n_columns), np.diff(columns.indptr))
        mean = np.bincount(place, data, n_columns) / n_rows
        squares = np.bincount(place, (data - mean[place]) ** 2, n_columns)
        return np.full(n_columns, float(n_rows)), mean, squares + mean**2 * (n_rows - np.diff(columns.indptr))
    dense = np.asarray(values, dtype=np.float64)
    there = ~np.isnan(dense)
    n = there.sum(axis=0).astype(np.float64)
    mean = np.where(there, dense, 0.0).sum(axis=0) / np.maximum(n, 1.0)
    return n, mean, (np.where(there, dense - mean, 0.0) ** 2).sum(axis=0)


def _logit(values: npt.NDArray[Any], where: Where) -> npt.NDArray[np.float64]:
    outside = values >= 1.0
    if outside.any():
        i, j = (int(k) for k in np.argwhere(outside)[0])
        raise DataError(
            f"logit needs values below 1, but {int(outside.sum()):,} or more are not, the first is "
            f"{values[i, j]:g} at {where(i, j)}. {_INWARDS}"
        )
    values = values.astype(np.float64)
    return np.asarray(np.log2(values) - np.log1p(-values) / np.log(2.0))


def _check_domain(
    name: str, values: npt.NDArray[Any], bound: float, where: Where, *, itself: bool = False
) -> None:
    """Raise if values are below a bound; they may be the bound ``itself``, or not."""
    outside = values < bound if itself else values <= bound
    if not outside.any():
        return
    i, j = (int(k) for k in np.argwhere(outside)[0])
    cure = _CURES[name]
    above = f"of {bound:g} or more" if itself else f"above {bound:g}"
    raise DataError(
        f"{name} needs values {above}, but {int(outside.sum()):,} or more are not, the first is "
        f"{values[i, j]:g} at {where(i, j)}. {cure}"
    )


def _sparse_where(values: Any, k: int, where: Where) -> str:
    matrix = values.tocoo()
    return where(int(matrix.row[k]), int(matrix.col[k]))


def _normal_scores(values: FloatArray) -> FloatArray:
    """Normal scores of the ranks of every column, a few columns at a time; missing values stay missing."""
    from scipy.special import ndtri  # noqa: PLC0415 - slow to import

    n = values.shape[0]
    scores = np.empty(values.shape)
    whole = ndtri((0.5 * np.arange(2 * n - 1) + 0.625) / (n + 0.25))  # by twice the rank, from 0

    def work(lo: int) -> None:
        tile = np.array(values[:, lo : lo + _COLUMNS].T, order="C")  # a copy: it is written to
        there = n - np.isnan(tile).sum(axis=1)
        order = np.argsort(tile, axis=1, kind="stable")  # missing values come last
        twice = _twice_mean_ranks(np.take_along_axis(tile, order, axis=1))
        found = whole[twice]
        for j in np.flatnonzero(there < n).tolist():
            found[j] = ndtri((0.5 * twice[j] + 0.625) / (there[j] + 0.25))
            found[j, there[j] :] = np.nan
        np.put_along_axis(tile, order, found, axis=1)
        scores[:, lo : lo + _COLUMNS] = tile.T

    for_each(work, range(0, values.shape[1], _COLUMNS), n_threads_for(None, values.size))
    return scores


def _twice_mean_ranks(ordered: FloatArray) -> IntArray:
    """Twice the ranks, from 0, of rows in order; equal values share the mean of their ranks."""
    rows, n = ordered.shape
    first, last = np.zeros((rows, n), np.int64), np.full((rows, n), n - 1)
    new = ordered[:, 1:] != ordered[:, :-1]
    places = np.arange(1, n)
    first[:, 1:] = np.maximum.accumulate(np.where(new, places, 0), axis=1)
    last[:, :-1] = np.minimum.accumulate(np.where(new, places - 1, n - 1)[:, ::-1], axis=1)[:, ::-1]
    total: IntArray = first + last
    return total
