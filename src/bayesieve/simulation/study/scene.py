"""Scene: the results of a study as figures and statements look at them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bayesieve.simulation.study.estimates import Estimate, Measured
from bayesieve.simulation.study.methods import model_of

if TYPE_CHECKING:
    from bayesieve.simulation.study.method import Method
    from bayesieve.simulation.study.store import StudyResults

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

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from bayesieve.simulation.study import built_in, run_study
    >>> from bayesieve.simulation.study.scene import Scene
    >>> design = built_in("figure-1b").changed(sizes=[100], iterations=2, methods=["mnc-obf-jp", "bd"])
    >>> scene = Scene(run_study(design, pathlib.Path(tempfile.mkdtemp()) / "study.sqlite", workers=1))
    >>> scene.n_features, scene.n_markers, scene.named("bd"), scene.named("welch")
    (20000, 100.0, 'bd', None)
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
