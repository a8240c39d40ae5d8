"""Means over the iterations of a study with their Monte Carlo errors, as figures and statements look at them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from bayesieve.study.methods import model_of
from bayesieve.utils import FloatArray

if TYPE_CHECKING:
    from bayesieve.study.design import Method
    from bayesieve.study.store import StudyResults


Drawn = tuple[npt.NDArray[np.int64], FloatArray]  # iterations, increasing, and what was measured in each

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

    @property
    def direction(self) -> int:
        """1 for a mean above 0 by more than four standard errors, -1 for one as far below, else 0."""
        if self.iterations < FEWEST or not abs(self.mean) > STANDARD_ERRORS * self.standard_error:
            return 0
        return 1 if self.mean > 0 else -1

    def __str__(self) -> str:
        return f"{self.mean:,.1f} ({self.standard_error:.2f})"


@dataclass(frozen=True, slots=True, eq=False)
class Measured:
    """One measure of a study: what came out in each iteration, for every method and number of samples.

    Parameters
    ----------
    measure
        Its name, for example ``"correct"``.
    titles
        Titles of the methods by their names, in the order of the design.
    drawn
        Method -> number of samples -> iterations and values.
    """

    measure: str
    titles: Mapping[str, str]
    drawn: Mapping[str, Mapping[int, Drawn]]

    @classmethod
    def of(cls, results: StudyResults, measure: str = "correct") -> Measured:
        """Take one measure out of the results of a study; methods that were not measured so are left out."""
        if measure not in results.measures:
            return cls(measure, {}, {})
        frame = results.wide.select("n", "iteration", "method", measure).drop_nulls().sort("iteration")
        drawn: dict[str, dict[int, Drawn]] = {}
        for (method, n), part in frame.group_by(["method", "n"], maintain_order=True):
            values = part[measure].to_numpy().astype(np.float64)
            drawn.setdefault(str(method), {})[int(str(n))] = (part["iteration"].to_numpy(), values)
        titles = {method.name: method.title for method in results.design.methods if method.name in drawn}
        return cls(measure, titles, drawn)

    @property
    def methods(self) -> tuple[str, ...]:
        """Names of the methods, in the order of the design."""
        return tuple(self.titles)

    def sizes(self, *methods: str) -> tuple[int, ...]:
        """Numbers of samples, increasing, for which all of these methods (or any at all) were measured."""
        if not methods:
            return tuple(sorted({n for each in self.drawn.values() for n in each}))
        return tuple(sorted(set.intersection(*(set(self.drawn.get(method, ())) for method in methods))))

    def mean(self, method: str, n: int) -> Estimate:
        """Mean of a method at ``n`` samples."""
        return Estimate.of(self.drawn[method][n][1])

    def values(self, method: str, n: int) -> FloatArray:
        """What was measured in each iteration."""
        return self.drawn[method][n][1]

    def paired(self, method: str, other: str, n: int) -> tuple[FloatArray, FloatArray]:
        """What two methods measured in the iterations that both have seen."""
        return _shared(self.drawn[method][n], self.drawn[other][n])

    def difference(self, method: str, other: str, n: int) -> Estimate:
        """Mean of method minus other, over the iterations both have seen.

        Methods of an iteration share its data, so the error of a difference is far below that of the means.
        """
        return Estimate.of(np.subtract(*self.paired(method, other, n)))

    def minus(self, other: Measured, method: str, n: int) -> FloatArray:
        """Return this measure minus another one of the same method, iteration by iteration."""
        return np.subtract(*_shared(self.drawn[method][n], other.drawn[method][n]))

    def plus(self, other: Measured, method: str, n: int) -> FloatArray:
        """Return this measure plus another one of the same method, iteration by iteration."""
        return np.add(*_shared(self.drawn[method][n], other.drawn[method][n]))

    def best(self, n: int) -> str:
        """Name of the method with the largest mean at ``n`` samples; the first of several."""
        return max(
            (method for method in self.methods if n in self.drawn[method]), key=lambda m: self.mean(m, n).mean
        )


def spread(sizes: Sequence[int], number: int) -> tuple[int, ...]:
    """Some of the sizes, at most ``number``, in steps of about the same ratio from the first to the last."""
    if len(sizes) <= number:
        return tuple(sizes)
    ratio = math.log(sizes[-1] / sizes[0]) / (number - 1)
    wanted = [math.log(sizes[0]) + ratio * k for k in range(number)]
    return tuple(sorted({min(sizes, key=lambda n: abs(math.log(n) - each)) for each in wanted}))


def _shared(one: Drawn, other: Drawn) -> tuple[FloatArray, FloatArray]:
    _, left, right = np.intersect1d(one[0], other[0], assume_unique=True, return_indices=True)
    return one[1][left], other[1][right]


Role = tuple[str, str]
"""What a method does: its scores and its rule."""

PAPER = {"prior_probability": 0.005, "prior_ratio": 0.1}
"""Options of the prior whose influence a study may show, and what the paper takes."""


class Scene:
    """Measures of a study, read once; methods by what they do; and the truth.

    Parameters
    ----------
    results
        The results.
    """

    def __init__(self, results: StudyResults) -> None:
        self.results = results
        self.design = results.design
        self._measured: dict[str, Measured] = {}

    @classmethod
    def of(cls, results: StudyResults | Scene) -> Scene:
        """Make a scene of results, unless they are one."""
        return results if isinstance(results, Scene) else cls(results)

    def measured(self, measure: str = "correct") -> Measured:
        """One of the measures; without methods if nothing was measured."""
        if measure not in self._measured:
            self._measured[measure] = Measured.of(self.results, measure)
        return self._measured[measure]

    def named(self, scores: str, rule: str = "top") -> str | None:
        """Name of the method with these scores, this rule and the paper's prior; None if the results have none."""
        return next(
            (
                each.name
                for each in self.methods
                if (each.scores, each.rule) == (scores, rule)
                and all(PAPER.get(option) == value for option, value in each.options.items())
            ),
            None,
        )

    @property
    def methods(self) -> tuple[Method, ...]:
        """Methods that the results hold."""
        known = self.measured().titles
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
        right = self.measured()
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
        true, false = self.measured("true_positives"), self.measured("false_positives")
        return Estimate.of(true.minus(false, method, n))

    def missed(self, method: str, n: int) -> Estimate:
        """Markers that were not selected: wrong labels but for the false positives."""
        right, false = self.measured(), self.measured("false_positives")
        return Estimate.of(self.n_features - right.plus(false, method, n))

    def coverage(self, method: str, n: int) -> Estimate:
        """How often the interval of false positives held their true number."""
        false, low, high = map(self.measured, ("false_positives", "interval_low", "interval_high"))
        inside = (false.minus(low, method, n) >= 0) & (false.minus(high, method, n) <= 0)
        return Estimate.share(inside)

    def expected_minus_true(self, method: str, n: int) -> Estimate:
        """Expected false positives minus true ones."""
        expected, false = map(self.measured, ("expected_false_positives", "false_positives"))
        return Estimate.of(expected.minus(false, method, n))
