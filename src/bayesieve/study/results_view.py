"""Results of a study as figures and checks see them: means with Monte Carlo errors, paired differences, costs."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

from bayesieve.study.design import Method
from bayesieve.study.measures import PEAK, SECONDS
from bayesieve.study.methods import model_of
from bayesieve.study.store import StudyResults
from bayesieve.utils import FloatArray, OptionError

Draws = tuple[npt.NDArray[np.int64], FloatArray]  # iterations, increasing, and what was measured in each

STANDARD_ERRORS = 4.0
"""How many standard errors make a difference that counts: chance exceeds them once in 16,000 comparisons."""

FEWEST = 5
"""Iterations below which no difference counts, because its error is hardly known."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean over iterations.

    Parameters
    ----------
    mean
        The mean.
    standard_error
        Its Monte Carlo standard error; NaN for a single iteration.
    iterations
        How many there were.
    """

    mean: float
    standard_error: float
    iterations: int

    @classmethod
    def of(cls, values: npt.ArrayLike) -> Estimate:
        """Mean and standard error of numbers that do not depend on each other; NaN ones do not count."""
        drawn = np.asarray(values, dtype=np.float64)
        drawn = drawn[~np.isnan(drawn)]
        if not drawn.size:
            return cls(math.nan, math.nan, 0)
        error = float(drawn.std(ddof=1)) / math.sqrt(drawn.size) if drawn.size > 1 else math.nan
        return cls(float(drawn.mean()), error, int(drawn.size))

    @classmethod
    def share(cls, hits: npt.ArrayLike) -> Estimate:
        """Share of hits; its error is that of Agresti and Coull (1998), which is not 0 for a share of 0 or 1."""
        hit = np.asarray(hits, dtype=bool)
        if not hit.size:
            return cls(math.nan, math.nan, 0)
        moved = (hit.sum() + 2.0) / (hit.size + 4.0)
        return cls(float(hit.mean()), math.sqrt(moved * (1.0 - moved) / (hit.size + 4.0)), int(hit.size))

    @classmethod
    def ratio(cls, above: FloatArray, below: FloatArray) -> Estimate:
        """Quotient of two means over the same iterations, with its standard error to first order."""
        quotient = float(above.mean() / below.mean())
        return cls(quotient, cls.of((above - quotient * below) / below.mean()).standard_error, above.size)

    @property
    def direction(self) -> int:
        """1 for a mean above 0 by more than four standard errors, -1 for one as far below, else 0."""
        if self.iterations < FEWEST or not abs(self.mean) > STANDARD_ERRORS * self.standard_error:
            return 0
        return 1 if self.mean > 0 else -1


@dataclass(frozen=True, slots=True, eq=False)
class Measure:
    """One measure of a study: what came out in each iteration, for every method and number of samples.

    Parameters
    ----------
    titles
        Titles of the methods by their names, in the order of the design.
    draws
        Method -> number of samples -> iterations and values.
    """

    titles: Mapping[str, str]
    draws: Mapping[str, Mapping[int, Draws]]

    @property
    def methods(self) -> tuple[str, ...]:
        """Names of the methods, in the order of the design."""
        return tuple(self.titles)

    def sizes(self, *methods: str) -> tuple[int, ...]:
        """Numbers of samples, increasing, for which all of these methods (or any at all) were measured."""
        if not methods:
            return tuple(sorted({n for each in self.draws.values() for n in each}))
        return tuple(sorted(set.intersection(*(set(self.draws.get(method, ())) for method in methods))))

    @property
    def cells(self) -> tuple[tuple[str, int], ...]:
        """Methods and numbers of samples for which there are values."""
        return tuple((method, n) for method in self.methods for n in self.sizes(method))

    def mean(self, method: str, n: int) -> Estimate:
        """Mean of a method at ``n`` samples."""
        return Estimate.of(self.draws[method][n][1])

    def values(self, method: str, n: int) -> FloatArray:
        """What was measured in each iteration."""
        return self.draws[method][n][1]

    def pair(self, method: str, other: str, n: int) -> tuple[FloatArray, FloatArray]:
        """What two methods measured in the iterations that both have seen."""
        return _match(self.draws[method][n], self.draws[other][n])

    def difference(self, method: str, other: str, n: int) -> Estimate:
        """Mean of method minus other, over the iterations both have seen.

        Methods of an iteration share its data, so the error of a difference is far below that of the means.
        """
        return Estimate.of(np.subtract(*self.pair(method, other, n)))

    def minus(self, other: Measure, method: str, n: int) -> FloatArray:
        """Return this measure minus another one of the same method, iteration by iteration."""
        return np.subtract(*_match(self.draws[method][n], other.draws[method][n]))

    def plus(self, other: Measure, method: str, n: int) -> FloatArray:
        """Return this measure plus another one of the same method, iteration by iteration."""
        return np.add(*_match(self.draws[method][n], other.draws[method][n]))

    def best(self, n: int) -> str:
        """Name of the method with the largest mean at ``n`` samples; the first of several."""
        return max(
            (method for method in self.methods if n in self.draws[method]), key=lambda m: self.mean(m, n).mean
        )


def spread(sizes: Sequence[int], number: int) -> tuple[int, ...]:
    """Some of the sizes, at most ``number``, in steps of about the same ratio from the first to the last."""
    if len(sizes) <= number:
        return tuple(sizes)
    ratio = math.log(sizes[-1] / sizes[0]) / (number - 1)
    wanted = [math.log(sizes[0]) + ratio * k for k in range(number)]
    return tuple(sorted({min(sizes, key=lambda n: abs(math.log(n) - each)) for each in wanted}))


def _match(one: Draws, other: Draws) -> tuple[FloatArray, FloatArray]:
    _, left, right = np.intersect1d(one[0], other[0], assume_unique=True, return_indices=True)
    return one[1][left], other[1][right]


Role = tuple[str, str]
"""What a method does: its scores and its rule."""

PAPER = {"prior_probability": 0.005, "prior_ratio": 0.1}
"""Options of the prior whose influence a study may show, and what the paper takes."""


class ResultsView:
    """Measures of a study, read once; methods by what they do; and the truth.

    Parameters
    ----------
    results
        The results.
    """

    def __init__(self, results: StudyResults) -> None:
        self.results = results
        self.design = results.design
        self._measures: dict[str, Measure] = {}

    def measure(self, name: str = "correct") -> Measure:
        """One of the measures; methods that were not measured so are left out."""
        if name not in self._measures:
            self._measures[name] = self._read(name)
        return self._measures[name]

    def _read(self, name: str) -> Measure:
        if name not in self.results.measures:
            return Measure({}, {})
        frame = self.results.wide.select("n", "iteration", "method", name).drop_nulls().sort("iteration")
        draws: dict[str, dict[int, Draws]] = {}
        for (method, n), part in frame.group_by(["method", "n"], maintain_order=True):
            values = part[name].to_numpy().astype(np.float64)
            draws.setdefault(str(method), {})[int(str(n))] = (part["iteration"].to_numpy(), values)
        return Measure({each.name: each.title for each in self.design.methods if each.name in draws}, draws)

    def find(self, scores: str, rule: str = "top") -> str | None:
        """Name of the method with these scores, this rule and the paper's prior; None if the results have none."""
        return next(
            (
                each.name
                for each in self.methods
                if (each.scores, each.rule) == (scores, rule)
                and all(PAPER[option] == value for option, value in each.options.items() if option in PAPER)
            ),
            None,
        )

    @property
    def methods(self) -> tuple[Method, ...]:
        """Methods that the results hold."""
        known = self.measure().titles
        return tuple(method for method in self.design.methods if method.name in known)

    @property
    def varied(self) -> dict[str, list[Method]]:
        """Methods that differ in one option of the prior, by that option; where it has three values or more."""
        found: dict[str, list[Method]] = {}
        for method in self.methods:
            if len(method.options) == 1 and next(iter(method.options)) in PAPER:
                found.setdefault(next(iter(method.options)), []).append(method)
        return {
            option: methods
            for option, methods in found.items()
            if len({str(method.options[option]) for method in methods}) > 2
        }

    @property
    def on_data_of_the_paper(self) -> bool:
        """Whether the data are those of section 6, with its constants."""
        return self.design.data == "synergetic" and not self.design.constants

    @property
    def n_features(self) -> int:
        """Number of features."""
        return model_of(self.design).n_features

    @property
    def trivial(self) -> float:
        """How many features are labelled correctly when nothing is selected: the non-markers, on average."""
        right = self.measure()
        method = right.methods[0]
        return float(
            np.mean([right.mean(method, n).mean - self.gain(method, n).mean for n in right.sizes(method)])
        )

    @property
    def n_markers(self) -> float:
        """Number of markers, on average."""
        return self.n_features - self.trivial

    def gain(self, method: str, n: int) -> Estimate:
        """How many more labels are right than if nothing were selected: true minus false positives."""
        true, false = self.measure("true_positives"), self.measure("false_positives")
        return Estimate.of(true.minus(false, method, n))

    def wrong_labels(self, method: str, n: int) -> Estimate:
        """Features that were labelled wrongly."""
        right = self.measure().mean(method, n)
        return Estimate(self.n_features - right.mean, right.standard_error, right.iterations)

    def missed_markers(self, method: str, n: int) -> Estimate:
        """Markers that were not selected: wrong labels but for the false positives."""
        right, false = self.measure(), self.measure("false_positives")
        return Estimate.of(self.n_features - right.plus(false, method, n))

    def coverage(self, method: str, n: int) -> Estimate:
        """How often the interval of false positives held their true number."""
        false, low, high = map(self.measure, ("false_positives", "interval_low", "interval_high"))
        inside = (false.minus(low, method, n) >= 0) & (false.minus(high, method, n) <= 0)
        return Estimate.share(inside)

    def expected_minus_true(self, method: str, n: int) -> Estimate:
        """Expected false positives minus true ones."""
        expected, false = map(self.measure, ("expected_false_positives", "false_positives"))
        return Estimate.of(expected.minus(false, method, n))


def relative_costs(results: StudyResults, reference: str | None = None) -> pl.DataFrame:
    """Mean seconds and peak megabytes of every method, and how many times those of a reference they are.

    Parameters
    ----------
    results
        A study that measured costs.
    reference
        Name of the method that is the unit of time; the first of the study by default.
    """
    if "costs" not in results.design.measures:
        raise OptionError(f"The study {results.design.name} did not measure costs. Run bayesieve study table-1.")
    unit = results.design.method(reference or results.design.methods[0].name).name
    time_taken, memory = results.means(SECONDS), results.means(PEAK)
    joined = time_taken.join(memory.select("method", "n", peak="mean"), on=["method", "n"], maintain_order="left")
    of_unit = time_taken.filter(pl.col("method") == unit).select("n", reference="mean")
    joined = joined.join(of_unit, on="n", how="left", maintain_order="left")
    return joined.select(
        "method",
        "title",
        "n",
        seconds="mean",
        standard_error="standard_error",
        times_reference=pl.col("mean") / pl.col("reference"),
        peak_megabytes=pl.col("peak") / 1e6,
        iterations="iterations",
    )
