"""A grid of studies: the same methods on data of several scenarios, each a study with a store of its own."""

from __future__ import annotations

import os
import tomllib
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib import resources
from pathlib import Path
from typing import Any

from bayesieve.study.design import StudyDesign
from bayesieve.study.runner import check_cluster, due_units, run_study, shared_cluster
from bayesieve.study.store import StudyResults
from bayesieve.utils import OptionError, check_whole, did_you_mean, make_folder, read_toml, toml_line

Progress = Callable[[int, int], None]
GRIDS = ("trust", "correlations")
"""Names of the grids that come with the package."""
_OWN = ("name", "title", "data", "constants")


@dataclass(frozen=True, slots=True)
class Scenario:
    """Data of one kind.

    Parameters
    ----------
    name, title
        Short name, which is that of its folder, and name in tables.
    data, constants
        As for :class:`StudyDesign`; constants are added to those of the grid.

    Examples
    --------
    >>> from bayesieve.study import Scenario
    >>> Scenario("t3", "Student's t, 3 degrees", "shapes", {"noise": "student"}).data
    'shapes'
    """

    name: str
    title: str = ""
    data: str = "shapes"
    constants: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class StudyGrid:
    """The same study on data of several scenarios.

    Parameters
    ----------
    base
        What all scenarios share; its data and constants are those of no scenario.
    scenarios
        The scenarios, each with a name of its own.

    Examples
    --------
    >>> from bayesieve.study import built_in_grid
    >>> grid = built_in_grid("trust").changed(iterations=2, scenarios=["gaussian-mean"], n_features=2000)
    >>> grid.designs["gaussian-mean"].constants["n_features"]
    2000
    """

    base: StudyDesign
    scenarios: tuple[Scenario, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "scenarios", tuple(self.scenarios))
        names = [scenario.name for scenario in self.scenarios]
        if not names:
            raise OptionError("A grid needs at least one scenario.")
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise OptionError(f"The name {twice[0]!r} stands for two scenarios. Give one of them another name.")
        _ = self.designs  # checks names, data and constants

    @property
    def name(self) -> str:
        """Name of the grid."""
        return self.base.name

    @property
    def title(self) -> str:
        """A sentence for figures and reports."""
        return self.base.title

    @property
    def designs(self) -> dict[str, StudyDesign]:
        """The study of each scenario, by its name; its seed follows from that of the grid and the name."""
        return {
            each.name: replace(
                self.base,
                name=each.name,
                title=each.title,
                data=each.data,
                constants=dict(each.constants),
                seed=(self.base.seed << 32) + zlib.crc32(each.name.encode()),
            )
            for each in self.scenarios
        }

    @property
    def n_data_sets(self) -> int:
        """Number of data sets in all."""
        return sum(len(due_units(design, set())) for design in self.designs.values())

    def changed(
        self,
        *,
        iterations: int | None = None,
        sizes: Sequence[int] | None = None,
        methods: Sequence[str] | None = None,
        seed: int | None = None,
        scenarios: Sequence[str] | None = None,
        n_features: int | None = None,
    ) -> StudyGrid:
        """Return the grid with some of it replaced; ``n_features`` is for scenarios of the model ``shapes``.

        The paper's model is made smaller by leaving out non-markers of both kinds in proportion.

        Examples
        --------
        >>> from bayesieve.study import built_in_grid
        >>> built_in_grid("trust").changed(sizes=[20], iterations=1).n_data_sets == len(
        ...     built_in_grid("trust").scenarios)
        True
        """
        base = self.base.changed(iterations=iterations, sizes=sizes, methods=methods, seed=seed)
        kept = self.scenarios
        if scenarios is not None:
            known = {scenario.name: scenario for scenario in self.scenarios}
            for name in scenarios:
                if name not in known:
                    hint = did_you_mean(name, list(known)) or f" Scenarios are {', '.join(known)}."
                    raise OptionError(f"The study {self.name} has no scenario {name!r}.{hint}")
            kept = tuple(known[name] for name in scenarios)
        if n_features is not None:
            check_whole("n_features", n_features, 100)
            kept = tuple(_with_features(scenario, n_features) for scenario in kept)
        return StudyGrid(base, kept)

    @classmethod
    def from_dict(cls, settings: Mapping[str, Any], where: str = "The study") -> StudyGrid:
        """Build a grid from plain values: those of a study, and a list of ``scenarios``.

        Examples
        --------
        >>> from bayesieve.study import StudyGrid
        >>> grid = StudyGrid.from_dict({"name": "g", "sizes": [20], "methods": [{"scores": "welch"}],
        ...                             "scenarios": [{"name": "t", "noise": "student"}]})
        >>> grid.designs["t"].constants
        {'noise': 'student'}
        """
        values = dict(settings)
        listed = values.pop("scenarios", None)
        if not isinstance(listed, list) or not all(isinstance(each, dict) and "name" in each for each in listed):
            raise OptionError(f"{where}: scenarios are a list of tables, each with a name.")
        common = values.pop("constants", {})
        base = StudyDesign.from_dict({**values, "data": "shapes"}, where)
        made = []
        for each in listed:
            own = {key: value for key, value in each.items() if key not in _OWN}
            data = str(each.get("data", "shapes"))
            shared = common if data == "shapes" else {}
            made.append(
                Scenario(str(each["name"]), str(each.get("title", "")), data,
                         {**shared, **own, **each.get("constants", {})})
            )  # fmt: skip
        return cls(base, tuple(made))

    @classmethod
    def from_toml(cls, path: str | os.PathLike[str]) -> StudyGrid:
        """Read a grid from a TOML file; its name is the file's if it has none.

        Examples
        --------
        >>> import pathlib, tempfile
        >>> from bayesieve.study import StudyGrid, built_in_grid
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "mine.toml"
        >>> _ = path.write_text(built_in_grid("trust").to_toml())
        >>> StudyGrid.from_toml(path) == built_in_grid("trust")
        True
        """
        return cls.from_dict({"name": Path(path).stem, **read_toml(path)}, os.fspath(path))

    def to_toml(self) -> str:
        """Write the grid as TOML.

        Examples
        --------
        >>> from bayesieve.study import built_in_grid
        >>> print(built_in_grid("trust").to_toml().splitlines()[0])
        name = "trust"
        """
        head, _, methods = self.base.to_toml().partition("\n[constants]\n")
        head = "\n".join(line for line in head.splitlines() if not line.startswith("data ="))
        lines = ["scenarios = ["]
        for each in self.scenarios:
            plain = {"name": each.name, "title": each.title, "data": each.data, **each.constants}
            pairs = ", ".join(toml_line(key, value) for key, value in plain.items())
            lines.append(f"  {{ {pairs} }},")
        return "\n".join([head, *lines, "]", *methods.splitlines()]) + "\n"


def built_in_grid(name: str) -> StudyGrid:
    """Return a grid that comes with the package: ``"trust"`` or ``"correlations"``.

    Examples
    --------
    >>> from bayesieve.study import built_in_grid
    >>> built_in_grid("trust").base.sizes
    (10, 20, 50, 200)
    """
    if name not in GRIDS:
        raise OptionError(f"There is no grid {name!r}; there are {', '.join(GRIDS)}.")
    text = resources.files("bayesieve.study").joinpath("studies", f"{name}.toml").read_text(encoding="utf-8")
    return StudyGrid.from_dict(tomllib.loads(text), name)


def _with_features(scenario: Scenario, n_features: int) -> Scenario:
    """Return a scenario with another number of features."""
    if scenario.data == "shapes":
        return replace(scenario, constants={**scenario.constants, "n_features": n_features})
    if scenario.data.startswith("synergetic"):
        share = max(n_features - 100, 0) / 19_900  # of the paper's non-markers; its 100 markers stay
        few = {"low_variance_blocks": round(595 * share), "high_variance_features": round(2000 * share)}
        return replace(scenario, constants={**scenario.constants, **few})
    return scenario


def run_grid(
    grid: StudyGrid,
    folder: str | os.PathLike[str],
    *,
    workers: int | None = None,
    dask: Any = None,
    progress: Progress | None = None,
) -> dict[str, StudyResults]:
    """Run a grid, or what is left of it: one store per scenario, in a folder of its name.

    Parameters
    ----------
    grid
        The scenarios and methods.
    folder
        Where the folders of the scenarios are.
    workers, dask, progress
        As for :func:`run_study`.

    Examples
    --------
    >>> import tempfile
    >>> from bayesieve.study import built_in_grid, run_grid
    >>> grid = built_in_grid("trust").changed(
    ...     iterations=1, sizes=[20], scenarios=["gaussian-mean"], n_features=200, methods=["welch"])
    >>> run_grid(grid, tempfile.mkdtemp(), workers=1)["gaussian-mean"].wide.height
    1
    """
    designs = grid.designs
    check_cluster(grid.base, workers, dask)
    totals = {name: len(due_units(design, set())) for name, design in designs.items()}
    found: dict[str, StudyResults] = {}
    before = 0
    with shared_cluster(dask) as client:
        for name, design in designs.items():

            def tell(done: int, due: int, start: int = before, own: int = totals[name]) -> None:
                if progress is not None:
                    progress(start + own - due + done, sum(totals.values()))

            home = make_folder(Path(folder, name))
            found[name] = run_study(design, home, workers=workers, dask=client, progress=tell)
            before += totals[name]
    return found
