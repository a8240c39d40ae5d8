"""check_table(): what a screen claims about one's own table, with shuffled labels and spikes as known truth.

Labels are shuffled, so that no feature differs but by accident; then known differences are put into some features
chosen at random. All others are true non-markers with the distributions and correlations of the table, whatever
they are. Screened as the table itself would be, claimed false positives can be held against true ones.
"""

from __future__ import annotations

import itertools
import math
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from bayesieve.data import Label, LabelledMatrix, Labels, is_sparse
from bayesieve.posterior import FeaturePosterior
from bayesieve.rivals import OBF_MODELS, obf_posterior, rival, two_class_values
from bayesieve.selection import MinimalRisk, Rule, as_rule
from bayesieve.study.measures import CLAIM_HOLDS, CLAIMED, EMPTIED, SHORTENED, claim_measures
from bayesieve.study.results_view import Estimate
from bayesieve.utils import (
    BayesieveWarning,
    DataError,
    FloatArray,
    IntArray,
    OptionError,
    check_between,
    check_whole,
)

Progress = Callable[[int, int], None]
MEAN_SHIFTS, VARIANCE_FACTORS = (0.5, 1.0, 2.0), (2.0, 4.0)
"""Spikes: differences of means in standard deviations within classes, and ratios of variances."""
_METHODS = ("obf", "obf-jp")
_SHUFFLES = 100
_MOST_LABELLINGS = 1_000


@dataclass(frozen=True, slots=True)
class Spike:
    """A known difference.

    Parameters
    ----------
    kind, size
        ``"mean"`` and a number of standard deviations within classes, or ``"variance"`` and a factor.
    """

    kind: str
    size: float

    @property
    def words(self) -> str:
        """The spike as people call it."""
        return f"mean {self.size:g} sd" if self.kind == "mean" else f"variance x {self.size:g}"

    def apply(self, column: FloatArray, codes: IntArray, sign: float) -> FloatArray:
        """Put the difference into the second class of a feature; with sign -1 the other way."""
        second, made = codes == 1, column.copy()
        if self.kind == "variance":
            centre = np.nanmean(column[second])
            made[second] = centre + (column[second] - centre) * self.size ** (0.5 * sign)
            return made
        squares = sum(np.nansum((column[codes == k] - np.nanmean(column[codes == k])) ** 2) for k in (0, 1))
        freedom = max(int((~np.isnan(column)).sum()) - 2, 1)
        made[second] += sign * self.size * math.sqrt(squares / freedom)
        return made


@dataclass(frozen=True, slots=True, eq=False)
class TableCheck:
    """Screens of a table under shuffled labels, with known differences and without.

    Parameters
    ----------
    rows
        One for each method and shuffle, with and without spikes: what was listed, claimed and true.
    spikes
        The differences, each put into the same number of features.
    n_spiked
        Number of features with each of them.
    n_features, class_counts
        Of the table.
    methods
        Titles of the methods, by name.
    complete
        Whether there are no other labellings than these.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve.study import check_table
    >>> X = np.random.default_rng(0).standard_t(4, size=(40, 500))
    >>> found = check_table(X, [0] * 20 + [1] * 20, repeats=3, shuffles=40)
    >>> len(found.rows), found.n_repeats
    (12, 3)
    """

    rows: tuple[dict[str, Any], ...]
    spikes: tuple[Spike, ...]
    n_spiked: int
    n_features: int
    class_counts: dict[str, int]
    methods: dict[str, str]
    complete: bool = False

    @property
    def n_repeats(self) -> int:
        """Number of shuffles."""
        return len({row["repeat"] for row in self.rows})

    def values(self, name: str, method: str, *, spiked: bool = True) -> FloatArray:
        """Return a number of every shuffle, with spikes or without."""
        rows = (row for row in self.rows if row["method"] == method and row["spiked"] is spiked)
        return np.array([row[name] for row in rows], dtype=np.float64)

    def level(self, method: str) -> Estimate:
        """Share of shuffles without spikes in which anything is listed; all of it would be false."""
        return Estimate.share(self.values("n_selected", method, spiked=False) > 0)

    def ratio(self, method: str, *, spiked: bool = True) -> Estimate:
        """Claimed over true false positives; NaN if there are none."""
        claimed, true = (self.values(name, method, spiked=spiked) for name in (CLAIMED, "false_positives"))
        return Estimate.ratio(claimed, true) if true.sum() else Estimate(math.nan, math.nan, true.size)

    def to_dict(self) -> dict[str, list[Any]]:
        """The rows as columns.

        Examples
        --------
        >>> import numpy as np
        >>> from bayesieve.study import check_table
        >>> X = np.random.default_rng(0).normal(size=(40, 500))
        >>> check_table(X, [0] * 20 + [1] * 20, repeats=2, shuffles=20).to_dict()["spiked"]
        [False, True, False, True, False, True, False, True]
        """
        return {name: [row[name] for row in self.rows] for name in self.rows[0]}

    def summary_rows(self) -> list[dict[str, Any]]:
        """Means over the shuffles with their standard errors, a row for each method, with spikes and without."""
        made = []
        for method, spiked in itertools.product(self.methods, (False, True)):
            row: dict[str, Any] = {"method": method, "spiked": spiked, "shuffles": self.n_repeats}
            for name in ("n_selected", CLAIMED, "false_positives", *self._found(spiked)):
                mean = Estimate.of(self.values(name, method, spiked=spiked))
                row |= {name: mean.mean, f"{name}_standard_error": _known(mean.standard_error)}
            ratio = self.ratio(method, spiked=spiked)
            row |= {"claimed_over_true": _known(ratio.mean)}
            row |= {"claimed_over_true_standard_error": _known(ratio.standard_error)}
            for name in (CLAIM_HOLDS, SHORTENED, EMPTIED):
                row[name] = float(self.values(name, method, spiked=spiked).mean())
            made.append(row)
        return made

    def _found(self, spiked: bool) -> list[str]:
        return [spike.words for spike in self.spikes] if spiked else []

    def summary(self) -> str:
        """Tell the result in a table of plain text.

        Examples
        --------
        >>> import numpy as np
        >>> from bayesieve.study import check_table
        >>> X = np.random.default_rng(0).normal(size=(40, 500))
        >>> print(check_table(X, [0] * 20 + [1] * 20, repeats=5, shuffles=20).summary().splitlines()[0])
        5 shuffles of the labels, 500 features; 5 of them spiked with each of 5 known differences.
        """
        all_of = "all " if self.complete else ""
        lines = [
            f"{all_of}{self.n_repeats:,} shuffles of the labels, {self.n_features:,} features; {self.n_spiked:,} "
            f"of them spiked with each of {len(self.spikes)} known differences.".capitalize(),
            "Means over shuffles, standard errors in brackets.",
            "",
            *_align([["", *self.methods.values()], *self._lines()]),
        ]
        return "\n".join(lines)

    def _lines(self) -> Iterator[list[str]]:
        def cells(words: str, tell: Callable[[str], str]) -> list[str]:
            return [words, *map(tell, self.methods)]

        def mean(name: str, spiked: bool) -> Callable[[str], str]:
            return lambda method: _number(Estimate.of(self.values(name, method, spiked=spiked)))

        yield cells("without spikes: shuffles that give a list", lambda method: _share(self.level(method)))
        yield cells("  features listed, all of them false", mean("false_positives", False))
        yield cells("  false positives claimed", mean(CLAIMED, False))
        yield cells("with spikes: false positives claimed", mean(CLAIMED, True))
        yield cells("  false positives in truth", mean("false_positives", True))
        yield cells("  claimed / true", lambda method: _number(self.ratio(method), 2))
        holds = "  90% intervals that hold the truth"
        yield cells(holds, lambda method: _share(Estimate.share(self.values(CLAIM_HOLDS, method) > 0)))
        for spike in self.spikes:
            yield cells(f"  found of {self.n_spiked:,} with {spike.words}", mean(spike.words, True))


def _known(value: float) -> float | None:
    return None if math.isnan(value) else value


def _number(value: Estimate, digits: int = 1) -> str:
    return "-" if math.isnan(value.mean) else f"{value.mean:,.{digits}f} ({value.standard_error:.{digits}f})"


def _share(value: Estimate) -> str:
    return f"{value.mean:.0%} ({value.standard_error:.0%})"


def _align(rows: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(
            text.rjust(width) if k else text.ljust(width)
            for k, (text, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]


def check_table(  # noqa: PLR0913 - all that can be said about a check
    X: Any,
    y: Any = None,
    *,
    repeats: int = 20,
    spiked_share: float = 0.05,
    mean_shifts: Sequence[float] = MEAN_SHIFTS,
    variance_factors: Sequence[float] = VARIANCE_FACTORS,
    methods: Sequence[str] = _METHODS,
    rule: Rule | str | None = None,
    prior_probability: float = 0.01,
    shuffles: int = _SHUFFLES,
    classes: Sequence[Label] | None = None,
    missing: str = "raise",
    n_threads: int | None = None,
    seed: int = 0,
    progress: Progress | None = None,
) -> TableCheck:
    """Find out on a table of one's own how far the numbers of a screen can be believed.

    Parameters
    ----------
    X, y, classes, missing, n_threads
        As for :func:`bayesieve.screen`; two classes, neither blocks nor pairs.
    repeats
        How often labels are shuffled; each shuffle is screened with spikes and without. If there are no more
        labellings than that, all of them are taken.
    spiked_share
        Share of the features that get a known difference, dealt out equally among the differences.
    mean_shifts, variance_factors
        Differences of means, in standard deviations within classes, and ratios of variances; up or down at random.
    methods
        Names of screens: ``"obf"`` (calibrated), ``"obf-jp"``, ``"obf-pp"``.
    rule
        Rule of the list; a probability over one half if not given.
    prior_probability
        Share of features believed to be markers.
    shuffles
        Shuffles inside every calibrated screen, which judge its list; the paper's lists are not judged.
    seed
        Of shuffles and spikes.
    progress
        Called with the number of screens done and their total.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve.study import check_table
    >>> X = np.random.default_rng(0).standard_t(4, size=(40, 500))
    >>> found = check_table(X, [0] * 20 + [1] * 20, repeats=5, shuffles=40)
    >>> claimed, true = (found.values(name, "obf-jp") for name in ("claimed_false_positives", "false_positives"))
    >>> bool(claimed.mean() < true.mean())
    True
    """
    titles = _check_methods(methods)
    chosen = MinimalRisk(0.5) if rule is None else as_rule(rule)
    check_whole("repeats", repeats, 1)
    check_whole("shuffles", shuffles, 0)
    check_between("spiked_share", spiked_share, open_ends=True)
    spikes = _check_spikes(mean_shifts, variance_factors)
    matrix = two_class_values(X, y, "check_table", classes, None, missing)
    values = _dense(matrix)
    usable = _spikable(values, matrix.labels.codes)
    n_spiked = _n_spiked(spiked_share, values.shape[1], usable.size, len(spikes))
    labellings, complete = draw_labellings(matrix.labels.codes, repeats, np.random.default_rng((seed, 0)))
    rows: list[dict[str, Any]] = []
    total = 2 * len(titles) * len(labellings)
    for repeat, codes in enumerate(labellings):
        rng = np.random.default_rng((seed, 1, repeat))
        truth, made = put_spikes(values, codes, spikes, rng.permutation(usable)[: n_spiked * len(spikes)], rng)
        for method, (used, spiked) in itertools.product(titles, ((values, False), (made, True))):
            labelled = LabelledMatrix(used, Labels(matrix.labels.classes, codes), matrix.feature_names)
            options: dict[str, Any] = {"shuffles": shuffles * (method == "obf"), "seed": repeat}
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", BayesieveWarning)
                found = obf_posterior(
                    method, labelled, prior_probability=prior_probability, n_threads=n_threads, **options
                )
            known = truth if spiked else np.full_like(truth, -1)
            measured = _measure(found, chosen, known, spikes)
            rows.append({"method": method, "repeat": repeat, "spiked": spiked} | measured)
            if progress is not None:
                progress(len(rows), total)
    counts = {str(label): int(n) for label, n in zip(matrix.labels.classes, matrix.labels.counts, strict=True)}
    order = sorted(rows, key=lambda row: (list(titles).index(row["method"]), row["repeat"], row["spiked"]))
    return TableCheck(tuple(order), spikes, n_spiked, values.shape[1], counts, titles, complete)


def _check_methods(methods: Sequence[str]) -> dict[str, str]:
    found = {rival(name).name: rival(name).title for name in methods}
    wrong = [name for name in found if name not in OBF_MODELS]
    if wrong or not found:
        raise OptionError(f"Screens to check are {', '.join(OBF_MODELS)}, not {', '.join(wrong) or 'none'}.")
    return found


def _check_spikes(mean_shifts: Sequence[float], variance_factors: Sequence[float]) -> tuple[Spike, ...]:
    spikes = tuple(
        Spike(kind, float(size))
        for kind, sizes in (("mean", mean_shifts), ("variance", variance_factors))
        for size in sizes
    )
    if not spikes or not all(0.0 < spike.size < math.inf for spike in spikes):
        raise OptionError(
            "Known differences are positive numbers: standard deviations for means, factors for variances."
        )
    return spikes


def _dense(matrix: LabelledMatrix) -> FloatArray:
    values: Any = matrix.values.toarray() if is_sparse(matrix.values) else matrix.values
    return np.asarray(values, dtype=np.float64)


def _spikable(values: FloatArray, codes: IntArray) -> IntArray:
    """Features with some spread, and with values enough for two in each class however they are dealt."""
    smallest = int(np.bincount(codes, minlength=2).min())
    if smallest < 2:
        raise DataError(f"A class has only {smallest} sample. At least two of each are needed to shuffle labels.")
    present = (~np.isnan(values)).sum(axis=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        spread = np.nanmax(values, axis=0) > np.nanmin(values, axis=0)
    return np.flatnonzero(spread & (present > len(values) - smallest + 1))


def _n_spiked(share: float, n_features: int, n_usable: int, n_kinds: int) -> int:
    """Return how many features get each of the differences."""
    number = max(1, round(share * n_features / n_kinds))
    if number * n_kinds > n_usable:
        raise DataError(
            f"{number * n_kinds:,} features are to be spiked, but only {n_usable:,} of {n_features:,} vary and "
            "have values enough. Spike fewer, with a smaller share or fewer differences."
        )
    return number


def draw_labellings(
    codes: IntArray, number: int, rng: np.random.Generator
) -> tuple[list[npt.NDArray[np.int64]], bool]:
    """Deal the labels of two classes anew ``number`` times; all ways, the true one too, if there are no more."""
    n, second = codes.size, int(codes.sum())
    if math.comb(n, second) <= min(number, _MOST_LABELLINGS):
        made = []
        for chosen in itertools.combinations(range(n), second):
            dealt = np.zeros(n, np.int64)
            dealt[list(chosen)] = 1
            made.append(dealt)
        return made, True
    return [rng.permutation(codes).astype(np.int64) for _ in range(number)], False


def put_spikes(
    values: FloatArray, codes: IntArray, spikes: Sequence[Spike], features: IntArray, rng: np.random.Generator
) -> tuple[npt.NDArray[np.int64], FloatArray]:
    """Put each difference into its share of some features.

    Returns
    -------
    tuple
        For every feature the place of its difference, -1 for none; and the values.
    """
    truth, made = np.full(values.shape[1], -1, np.int64), values.copy()
    for k, feature in enumerate(features.tolist()):
        truth[feature] = k % len(spikes)
        made[:, feature] = spikes[truth[feature]].apply(values[:, feature], codes, float(rng.choice([-1.0, 1.0])))
    return truth, made


def _measure(
    posterior: FeaturePosterior, rule: Rule, truth: npt.NDArray[np.int64], spikes: Sequence[Spike]
) -> dict[str, Any]:
    """What was listed, what was claimed, and what is true; found differences by kind."""
    selection = rule.select(posterior)
    n_false = int((selection.mask & (truth < 0)).sum())
    claims = claim_measures(selection, n_false)
    row: dict[str, Any] = {"n_selected": selection.n_selected, "false_positives": n_false}
    row |= {
        name: claims[name] for name in (CLAIMED, "claimed_low", "claimed_high", CLAIM_HOLDS, SHORTENED, EMPTIED)
    }
    return row | {spike.words: int((selection.mask & (truth == k)).sum()) for k, spike in enumerate(spikes)}
