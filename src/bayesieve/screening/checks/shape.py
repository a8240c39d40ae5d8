"""Shape: heavy tails and skew within classes, what another scale would change, and an implausibly long list."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from bayesieve.data import LabelledMatrix, apply_transform, dense_values
from bayesieve.posterior import Check, expit
from bayesieve.screening.checks.view import ListView, make, not_checked, percent
from bayesieve.screening.value_advice import advise_on_share
from bayesieve.stats import Shape
from bayesieve.utils import FloatArray, Piece, option

NAME, TITLE, LINK = "shape", "Shape", "look"
BEYOND = 3.29  # standard errors of the Gaussian law: one in a thousand
MANY = 0.2  # share of features beyond it
SKEW, TAILS = 0.5, 0.5  # of a typical feature
CHANGED, LEAST_CHANGE = 2.0, 10  # times as long, and features
_LEAST_CLASS, _LEAST_FEATURES = 5, 20
_MOST_RANKED, _MOST = 20_000_000, 100_000_000  # values put on another scale: though nothing is the matter, at all
_BY_CHANCE = 0.1  # share of the list, below which shuffled labels do not explain it


@dataclass(frozen=True, slots=True)
class ShapeOfValues:
    """Third and fourth moments of values standardised within their classes, against their Gaussian law.

    Parameters
    ----------
    skewness, excess
        Of every feature: skewness, and kurtosis less what Gaussian values of such classes have on average.
    skewness_error, excess_error
        Standard deviations of both for Gaussian values.
    """

    skewness: FloatArray
    excess: FloatArray
    skewness_error: FloatArray
    excess_error: FloatArray

    @classmethod
    def of(cls, sums: Shape) -> ShapeOfValues:
        """Average both moments over classes, by their numbers of values; features without spread are left out."""
        n, squares = sums.count, sums.squares
        used = (n >= _LEAST_CLASS) & (squares > 0)
        weight = np.where(used, n, 0.0)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            skew = np.where(used, np.sqrt(n) * sums.cubes / squares**1.5, 0.0)
            kurtosis = np.where(used, n * (np.sqrt(sums.fourths) / squares) ** 2 - 3.0 * (n - 1) / (n + 1), 0.0)
            skew_law = 6.0 * (n - 2) / ((n + 1) * (n + 3))
            tail_law = 24.0 * n * (n - 2) * (n - 3) / ((n + 1) ** 2 * (n + 3) * (n + 5))
            total = weight.sum(axis=0)
            known = total > 0
            found = [
                (weight * skew).sum(axis=0) / total,
                (weight * kurtosis).sum(axis=0) / total,
                np.sqrt((weight**2 * np.where(used, skew_law, 0.0)).sum(axis=0)) / total,
                np.sqrt((weight**2 * np.where(used, tail_law, 0.0)).sum(axis=0)) / total,
            ]
        known &= np.isfinite(found[0]) & np.isfinite(found[1])
        return cls(*(each[known] for each in found))

    @property
    def share_beyond(self) -> float:
        """Share of features outside the Gaussian law."""
        if not self.skewness.size:
            return 0.0
        far = np.abs(self.skewness) > BEYOND * self.skewness_error
        return float((far | (self.excess > BEYOND * self.excess_error)).mean())

    @property
    def typical_skewness(self) -> float:
        """Size of the skewness of a typical feature beyond that of Gaussian values, with the sign of most."""
        if not self.skewness.size:
            return 0.0
        of_chi2 = 0.4549364231195724  # median of its square for Gaussian values of unit variance
        size = np.median(self.skewness**2) / of_chi2 - np.median(self.skewness_error**2)
        return float(np.sqrt(max(size, 0.0)) * (np.sign(np.median(self.skewness)) or 1.0))

    @property
    def typical_excess(self) -> float:
        """Excess kurtosis of a typical feature."""
        return float(np.median(self.excess)) if self.excess.size else 0.0


def check_shape(view: ListView) -> Check:
    """Compare the values with Gaussian ones, and the length of the list with what was believed."""
    if not view.is_numeric:
        return _of_share(view, "values are counts or categories, whose shape belongs to the model")
    if view.matrix is None:
        return _of_share(view, "the values of the samples are not at hand")
    if view.posterior.n_features < _LEAST_FEATURES:
        return _of_share(view, "too few features to tell the shape of their values")
    shape = ShapeOfValues.of(Shape.of(view.matrix))
    skew, tails, beyond = shape.typical_skewness, shape.typical_excess, shape.share_beyond
    odd = beyond >= MANY and (abs(skew) >= SKEW or tails >= TAILS)
    n, of, lengths = view.selection.n_selected, view.posterior.n_features, _lengths(view, skew, odd)
    changed = any(_is_change(n, length) for length in lengths.values())
    long = _is_long(view)
    state = "alarm" if long or (odd and changed) else "attention" if odd else "good"
    shown = f"kurtosis {_signed(tails)}"
    law = f", {percent(beyond)} of the features outside the Gaussian law" if odd else ""
    far = "are far from" if odd else "look"
    sizes = f"typical skewness {_signed(skew)}, excess kurtosis {_signed(tails)}"
    told = f"within classes values {far} Gaussian ({sizes}{law})"
    told = f"{_implausible(view)}; {told}" if long else f"{told[0].upper()}{told[1:]}"
    pieces = (told, _would(n, lengths), ".")
    return make(
        NAME, TITLE, LINK, state, n / of if long else beyond, f"{percent(n / of)} selected" if long else shown,
        *pieces, hint=_hint(view, state, lengths), skewness=skew, excess_kurtosis=tails, share_beyond=beyond,
        n_listed=n, share_selected=n / of, implausibly_many=long,
        **{f"n_listed_{words.split()[0]}": length for words, length in lengths.items()},
    )  # fmt: skip


def _would(n: int, lengths: dict[str, int]) -> str:
    """What other scales would list."""
    if all(length == n for length in lengths.values()):
        return f"; {' and '.join(lengths)} would list {'as many' if n else 'nothing, either'}" if lengths else ""
    would = " and ".join(f"{words} would list {length:,}" for words, length in lengths.items())
    return f"; {would} instead of {n:,}"


def _signed(x: float) -> str:
    text = f"{x:+.1f}"
    return "0.0" if text in ("+0.0", "-0.0") else text


def _hint(view: ListView, state: str, lengths: dict[str, int]) -> tuple[Piece, ...]:
    if state == "good":
        return ()
    of_file = view.transform is not None
    if "logarithms" in lengths:
        return ("Take logarithms first", *((": ", option("transform", "log2")) if of_file else ()), ".")
    if lengths:
        words: tuple[Piece, ...] = (": ", option("transform", "rank-normal")) if of_file else ()
        return ("Compare with a list of ranks", *words, ", which sees differences in location only.")
    return ()


def _of_share(view: ListView, why: str) -> Check:
    """Judge the length of the list alone."""
    if not _is_long(view):
        return not_checked(NAME, TITLE, LINK, why)
    share = view.selection.n_selected / view.posterior.n_features
    return make(NAME, TITLE, LINK, "alarm", share, f"{percent(share)} selected", f"{_implausible(view)}.",
                share_selected=share, implausibly_many=True)  # fmt: skip


def _is_long(view: ListView) -> bool:
    selection = view.selection
    prior = expit(np.asarray(view.posterior.prior_log_odds, dtype=np.float64))
    return advise_on_share(selection.n_selected, view.posterior.n_features, prior) is not None


def _implausible(view: ListView) -> str:
    n, of = view.selection.n_selected, view.posterior.n_features
    believed = 1.0 - view.posterior.null_share
    share = f"{percent(n / of)} of all features are selected"
    estimate, shuffled = view.selection.false_positive_estimate, view.posterior.shuffled
    real = shuffled is not None and estimate.expected <= _BY_CHANCE * n
    unless = " unless the classes differ in much else, too (batch, tissue, quality)" if real else ""
    return f"{share} where {100 * believed:.2g}% were believed, an implausible share{unless}"


def _is_change(n: int, length: int) -> bool:
    low, high = sorted((n, length))
    return high - low >= LEAST_CHANGE and high >= CHANGED * low


def _lengths(view: ListView, skew: float, odd: bool) -> dict[str, int]:
    """Length of the list on other scales: logarithms where there are any and values are skewed, and ranks."""
    matrix = view.matrix
    assert matrix is not None
    size = matrix.n_samples * matrix.n_features
    if view.length_of is None or size > (_MOST if odd else _MOST_RANKED):
        return {}
    values, found = dense_values(matrix), {}
    least = float(np.nanmin(values)) if values.size else -1.0
    if view.transform in (None, "none") and least >= 0 and skew >= SKEW:
        found["logarithms"] = view.length_of(_on_scale(matrix, "log2" if least > 0 else "log1p", values))
    if view.transform != "rank-normal":
        found["ranks"] = view.length_of(_on_scale(matrix, "rank-normal", values))
    return found


def _on_scale(matrix: LabelledMatrix, name: str, values: FloatArray) -> LabelledMatrix:
    return replace(matrix, values=apply_transform(name, values, lambda i, j: f"row {i}, column {j}"))
