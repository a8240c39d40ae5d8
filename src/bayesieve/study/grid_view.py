"""Results of a grid: numbers of each scenario, size and method."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from bayesieve.study.grid import StudyGrid
from bayesieve.study.measures import COSTS
from bayesieve.study.results_view import Estimate, ResultsView
from bayesieve.study.store import StudyResults


class GridView:
    """Results of a grid: numbers of each scenario, size and method.

    Parameters
    ----------
    grid, results
        The grid, and the results of its scenarios by name.
    """

    def __init__(self, grid: StudyGrid, results: Mapping[str, StudyResults]) -> None:
        self.grid = grid
        self.views = {name: ResultsView(found) for name, found in results.items() if found.wide.height}
        self.titles = {each.name: each.title or each.name for each in grid.scenarios if each.name in self.views}
        self.constants: dict[str, Mapping[str, Any]] = {
            each.name: {"data": each.data, **each.constants} for each in grid.scenarios
        }
        self.sizes = tuple(sorted({n for view in self.views.values() for n in view.measure().sizes()}))

    @property
    def methods(self) -> dict[str, str]:
        """Titles of the methods, by name."""
        return {each.name: each.title for each in self.grid.base.methods}

    def find(self, scores: str, rule: str | None = None) -> str | None:
        """Name of the first method with these scores and this rule."""
        for each in self.grid.base.methods:
            if each.scores == scores and rule in (None, each.rule):
                return each.name
        return None

    def values(self, measure: str, scenario: str, method: str, n: int) -> Any:
        """What was measured in each data set; None if it was not."""
        draws = self.views[scenario].measure(measure).draws
        return draws[method][n][1] if n in draws.get(method, {}) else None

    def mean(self, measure: str, scenario: str, method: str, n: int) -> Estimate:
        """Mean of a measure; of no data sets if it was not measured."""
        values = self.values(measure, scenario, method, n)
        return Estimate.of([] if values is None else values)

    def pick(self, test: Callable[[Mapping[str, Any]], bool]) -> list[str]:
        """Names of the scenarios whose constants pass a test."""
        return [name for name in self.views if test(self.constants[name])]

    def cells(self, scenarios: Iterable[str], least: int = 0) -> Iterator[tuple[str, int]]:
        """Scenarios and sizes, from some number of samples on."""
        return ((name, n) for name in scenarios for n in self.sizes if n >= least)

    def place(self, scenario: str, n: int) -> str:
        """Say which scenario and size."""
        return f"{self.titles[scenario]}, n = {n:,}"


def means_of_grid(view: GridView) -> list[dict[str, Any]]:
    """Mean and standard error of every measure but costs, for each scenario, number of samples and method."""
    rows = []
    for name, found in view.views.items():
        for n in view.sizes:
            for method, title in view.methods.items():
                first = view.values("correct", name, method, n)
                if first is None:
                    continue
                row: dict[str, Any] = {
                    "scenario": name, "n": n, "method": method, "title": title, "iterations": first.size,
                    "n_features": found.n_features,
                }  # fmt: skip
                for measure in (each for each in found.results.measures if each not in COSTS):
                    mean = view.mean(measure, name, method, n)
                    row[measure] = mean.mean if mean.iterations else None
                    row[f"{measure}_standard_error"] = mean.standard_error if mean.iterations else None
                rows.append(row)
    return rows
