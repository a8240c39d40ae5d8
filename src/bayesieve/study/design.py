"""Design of a simulation study: data, numbers of samples, methods with their rules, iterations and a seed."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any

from bayesieve.errors import OptionError
from bayesieve.selection import FalseDiscovery, MinimalRisk, MostProbable, NeymanPearson, Rule
from bayesieve.utils import check_whole

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._=+-]*")


@dataclass(frozen=True, slots=True)
class Method:
    """A way to label features: scores, and a rule that turns them into a list.

    Parameters
    ----------
    name
        Short name, unique in a study.
    title
        Name in tables and figures.
    scores
        Name of a rival, such as ``"welch"``; see :func:`bayesieve.rivals.registry.rival`.
    rule
        ``"top"`` for the ``n_selected`` features of the largest score; for scores that are log-odds also
        ``"mnc"``, ``"mr:0.9"``, ``"np:5"``, ``"fdr:0.1"`` or ``"fdp:0.1:0.9"``; for p-values ``"bh:0.05"``.
    n_selected
        How many features ``"top"`` takes.
    options
        Options of the scores.
    sizes, iterations
        The method's own numbers of samples, and its own number of iterations; those of the study if None.

    Examples
    --------
    >>> from bayesieve.study import Method
    >>> Method("bd", "Bhattacharyya", "bd").rule
    'top'
    """

    name: str
    title: str
    scores: str
    rule: str = "top"
    n_selected: int = 100
    options: Mapping[str, Any] = field(default_factory=dict)
    sizes: tuple[int, ...] | None = None
    iterations: int | None = None

    def __post_init__(self) -> None:
        check_name("method", self.name)
        if not isinstance(self.title, str):
            raise OptionError(f"The title of {self.name} must be a text, not {self.title!r}.")
        check_rule(self.rule)
        check_whole(f"n_selected of {self.name}", self.n_selected, 0)
        if not isinstance(self.options, Mapping):
            raise OptionError(f"options of {self.name} must be a table of names and values, not {self.options!r}.")
        if self.sizes is not None:
            object.__setattr__(self, "sizes", checked_sizes(self.sizes))
        if self.iterations is not None:
            check_whole(f"iterations of {self.name}", self.iterations, 1)

    @property
    def definition(self) -> dict[str, Any]:
        """What decides the method's numbers, as plain values."""
        return plain({name: getattr(self, name) for name in ("scores", "rule", "n_selected", "options")})


def checked_sizes(sizes: Any) -> tuple[int, ...]:
    """Numbers of samples, increasing and without repetition."""
    try:
        given = list(sizes)
    except TypeError:
        given = [sizes]
    for n in given:
        check_whole("A number of samples", n, 4)
    odd = [n for n in given if n % 2]
    if odd:
        raise OptionError(f"Numbers of samples must be even, for two equal classes; {odd[0]} is not.")
    return tuple(sorted({int(n) for n in given}))


def check_name(what: str, name: Any) -> None:
    """Raise unless a name can stand in files and on the command line."""
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise OptionError(f"The name of a {what} is made of letters, digits and . _ = + -, not {name!r}.")


def plain(value: dict[str, Any]) -> dict[str, Any]:
    """Turn tuples to lists and the like, as JSON does."""
    try:
        made: dict[str, Any] = json.loads(json.dumps(value))
    except (TypeError, ValueError) as error:
        raise OptionError(f"A study is made of numbers, texts, lists and tables: {error}.") from None
    return made


_NUMBERS = {"top": 0, "mnc": 0, "map": 0, "mr": 1, "np": 1, "fdr": 1, "fdp": 2, "bh": 1}
"""How many numbers a rule takes."""

_EXAMPLES = "top, mnc, map, mr:0.9, np:5, fdr:0.1, fdp:0.1:0.9 and bh:0.05"


def check_rule(rule: str) -> None:
    """Raise if a rule is not understood."""
    name, numbers = parsed_rule(rule)
    if name == "bh":
        if not 0.0 <= numbers[0] <= 1.0:
            raise OptionError(f"The level of the rule {rule!r} must lie between 0 and 1.")
    elif name != "top":
        rule_of_posterior(rule)


def parsed_rule(rule: str) -> tuple[str, tuple[float, ...]]:
    """Return the name of a rule and its numbers."""
    name, *texts = str(rule).strip().lower().split(":")
    if name not in _NUMBERS or len(texts) != _NUMBERS[name]:
        raise OptionError(f"The rule {rule!r} is not understood. Rules are {_EXAMPLES}.")
    try:
        return name, tuple(float(text) for text in texts)
    except ValueError:
        raise OptionError(f"The rule {rule!r} needs a number behind the colon. Rules are {_EXAMPLES}.") from None


def rule_of_posterior(rule: str) -> Rule:
    """Return the rule that reads log-odds."""
    name, numbers = parsed_rule(rule)
    makers = {
        "mnc": MinimalRisk,
        "map": MostProbable,
        "mr": MinimalRisk,
        "np": NeymanPearson,
        "fdr": FalseDiscovery,
        "fdp": FalseDiscovery,
    }
    made: Rule = makers[name](*numbers)
    return made


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
    >>> from bayesieve.study import Method, StudyDesign
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
        >>> from bayesieve.study import built_in
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
        >>> from bayesieve.study import built_in
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
        >>> from bayesieve.study import StudyDesign, built_in
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
        >>> from bayesieve.study import StudyDesign
        >>> design = StudyDesign.from_dict({"name": "a", "sizes": [20], "methods": [{"scores": "welch"}]})
        >>> design.methods[0].name, design.methods[0].title
        ('welch', 'Welch t')
        """
        from bayesieve.study.toml import design_from  # noqa: PLC0415 - it builds designs

        return design_from(settings, where)

    @classmethod
    def from_toml(cls, path: str | os.PathLike[str]) -> StudyDesign:
        """Read a study from a TOML file, such as :meth:`to_toml` writes.

        Examples
        --------
        >>> import pathlib, tempfile
        >>> from bayesieve.study import StudyDesign
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "mine.toml"
        >>> _ = path.write_text('sizes = [20, 40]' + chr(10) + '[[methods]]' + chr(10) + 'scores = "bd"')
        >>> StudyDesign.from_toml(path).name
        'mine'
        """
        from bayesieve.study.toml import read_design  # noqa: PLC0415

        return read_design(path)

    def to_toml(self) -> str:
        """Write the study as TOML.

        Examples
        --------
        >>> from bayesieve.study import built_in
        >>> print(built_in("figure-1b").to_toml().splitlines()[0])
        name = "figure-1b"
        """
        from bayesieve.study.toml import design_text  # noqa: PLC0415

        return design_text(self)
