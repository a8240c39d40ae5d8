"""What a simulation study consists of: data, numbers of samples, methods, iterations and a seed."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any

from bayesieve.errors import OptionError
from bayesieve.simulation.study.method import Method, check_name, check_whole, checked_sizes, plain

MEASURES = ("labels", "errors", "reliability", "costs")
"""What can be measured: true labels (always), errors that OBF expects, how probabilities fare, time and memory."""

__all__ = ["MEASURES", "Method", "StudyDesign"]


@dataclass(frozen=True, slots=True)
class StudyDesign:
    """A simulation study.

    Each iteration at ``n`` samples draws data with the seed (``seed``, ``n``, iteration), which all methods
    share, so that no result depends on what else is run, nor on the order.

    Parameters
    ----------
    name
        Name of the study.
    methods
        What is compared.
    sizes
        Numbers of samples; even, because both classes get half of them.
    iterations
        Data sets per number of samples.
    seed
        Seed of the study.
    data, constants
        Name of a data model (see :func:`bayesieve.simulation.data_model`) and its constants.
    raw
        Whether values are drawn, as methods that use values need; otherwise means and variances are drawn from
        their exact law, at a cost that does not depend on the number of samples.
    measures
        What is measured besides the labels: see :data:`MEASURES`.
    title
        A sentence for figures and reports.

    Examples
    --------
    >>> from bayesieve.simulation.study import Method, StudyDesign
    >>> design = StudyDesign("small", (Method("bd", "Bhattacharyya", "bd"),), sizes=(20, 40), iterations=10)
    >>> design.units
    20
    """

    name: str
    methods: tuple[Method, ...]
    sizes: tuple[int, ...]
    iterations: int = 100
    seed: int = 1
    data: str = "synergetic"
    constants: Mapping[str, Any] = field(default_factory=dict)
    raw: bool = False
    measures: tuple[str, ...] = ("labels", "errors")
    title: str = ""

    def __post_init__(self) -> None:
        check_name("study", self.name)
        object.__setattr__(self, "methods", tuple(self.methods))
        object.__setattr__(self, "measures", tuple(self.measures))
        object.__setattr__(self, "sizes", checked_sizes(self.sizes))
        check_whole("iterations", self.iterations, 1)
        check_whole("seed", self.seed, 0)
        self._check_methods()
        unknown = [name for name in self.measures if name not in MEASURES]
        if unknown:
            raise OptionError(f"There is no measure {unknown[0]!r}. Measures are {', '.join(MEASURES)}.")

    def _check_methods(self) -> None:
        names = [method.name for method in self.methods]
        if not names:
            raise OptionError("A study needs at least one method.")
        if not any(self.sizes_of(method) for method in self.methods):
            raise OptionError("There is no number of samples at which a method would be run. Give other sizes.")
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise OptionError(f"The name {twice[0]!r} stands for two methods. Give one of them another name.")

    @property
    def definition(self) -> dict[str, Any]:
        """What decides the data and the measures, as plain values; it may not change when a study goes on."""
        return plain({name: getattr(self, name) for name in ("data", "constants", "seed", "raw", "measures")})

    @property
    def units(self) -> int:
        """How often a method is run on a data set in all."""
        return sum(self.iterations_of(method) * len(self.sizes_of(method)) for method in self.methods)

    def sizes_of(self, method: Method) -> tuple[int, ...]:
        """Numbers of samples at which a method is run."""
        return self.sizes if method.sizes is None else method.sizes

    def iterations_of(self, method: Method) -> int:
        """Number of iterations of a method."""
        return self.iterations if method.iterations is None else method.iterations

    def method(self, name: str) -> Method:
        """Return the method of a name.

        Examples
        --------
        >>> from bayesieve.simulation.study import built_in
        >>> built_in("figure-1b").method("welch").title
        'Welch t'
        """
        for method in self.methods:
            if method.name == name:
                return method
        known = ", ".join(method.name for method in self.methods)
        raise OptionError(f"The study {self.name} has no method {name!r}. Its methods are {known}.")

    def changed(
        self,
        *,
        iterations: int | None = None,
        sizes: Sequence[int] | None = None,
        methods: Sequence[str] | None = None,
        seed: int | None = None,
    ) -> StudyDesign:
        """Return the study with some of it replaced; ``iterations`` and ``sizes`` also bound the methods' own.

        Examples
        --------
        >>> from bayesieve.simulation.study import built_in
        >>> built_in("figure-1b").changed(iterations=2, sizes=[100, 200], methods=["bd", "welch"]).units
        8
        """
        chosen = self.methods if methods is None else tuple(self.method(name) for name in methods)
        if iterations is not None:
            check_whole("iterations", iterations, 1)
            chosen = tuple(
                each if each.iterations is None else replace(each, iterations=min(each.iterations, iterations))
                for each in chosen
            )
        if sizes is not None:
            kept = set(sizes)
            chosen = tuple(
                each if each.sizes is None else replace(each, sizes=tuple(n for n in each.sizes if n in kept))
                for each in chosen
            )
        return replace(
            self,
            methods=chosen,
            iterations=self.iterations if iterations is None else iterations,
            sizes=self.sizes if sizes is None else checked_sizes(sizes),
            seed=self.seed if seed is None else seed,
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain values, such as JSON can hold.

        Examples
        --------
        >>> from bayesieve.simulation.study import StudyDesign, built_in
        >>> design = built_in("table-1")
        >>> StudyDesign.from_dict(design.to_dict()) == design
        True
        """
        own = {each.name: getattr(self, each.name) for each in fields(self) if each.name != "methods"}
        methods = [{each.name: getattr(method, each.name) for each in fields(method)} for method in self.methods]
        given = [{key: value for key, value in method.items() if value is not None} for method in methods]
        return plain({**own, "methods": given})

    @classmethod
    def from_dict(cls, settings: Mapping[str, Any], where: str = "The study") -> StudyDesign:
        """Build a study from plain values; ``where`` names their origin in messages.

        A method needs ``scores`` only; its name and title then follow from them and from the rule.

        Examples
        --------
        >>> from bayesieve.simulation.study import StudyDesign
        >>> design = StudyDesign.from_dict({"name": "a", "sizes": [20], "methods": [{"scores": "welch"}]})
        >>> design.methods[0].name, design.methods[0].title
        ('welch', 'Welch t')
        """
        from bayesieve.simulation.study.toml import design_from  # noqa: PLC0415 - it builds designs

        return design_from(settings, where)

    @classmethod
    def from_toml(cls, path: str | os.PathLike[str]) -> StudyDesign:
        """Read a study from a TOML file, such as :meth:`to_toml` writes.

        Examples
        --------
        >>> import pathlib, tempfile
        >>> from bayesieve.simulation.study import StudyDesign
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "mine.toml"
        >>> _ = path.write_text('sizes = [20, 40]' + chr(10) + '[[methods]]' + chr(10) + 'scores = "bd"')
        >>> StudyDesign.from_toml(path).name
        'mine'
        """
        from bayesieve.simulation.study.toml import read_design  # noqa: PLC0415

        return read_design(path)

    def to_toml(self) -> str:
        """Write the study as TOML.

        Examples
        --------
        >>> from bayesieve.simulation.study import built_in
        >>> print(built_in("figure-1b").to_toml().splitlines()[0])
        name = "figure-1b"
        """
        from bayesieve.simulation.study.toml import design_text  # noqa: PLC0415

        return design_text(self)
