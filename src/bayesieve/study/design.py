"""Design of a simulation study: data, numbers of samples, methods with their rules; in Python or as TOML."""

from __future__ import annotations

import itertools
import json
import os
import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence, Sized
from dataclasses import dataclass, field, fields, replace
from importlib import resources
from pathlib import Path
from typing import Any

from bayesieve.rivals import rival
from bayesieve.selection import Rule, as_rule
from bayesieve.utils import OptionError, RuleError, check_whole, did_you_mean, is_device, read_toml, toml_line

MEASURES = ("labels", "errors", "reliability", "costs", "trust")
"""What can be measured: true labels (always), errors that OBF expects, how probabilities fare, time and memory,
and what each list claims about its false positives."""

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._=+-]*")
_STEPS = ("from", "to", "step")
_MOST_SAMPLES, _MOST_SIZES = 10**9, 10_000
_MOST_RUNS = 10_000_000  # of methods on data sets, which are listed before the first is begun
_BUILT_IN = ("figure-1a", "figure-1b", "table-1", "calibration", "sensitivity")


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
        ``"own"`` takes the list that a method chooses by itself, and ``"best"`` of a method with many lists the
        one that labels most features correctly on average over iterations, which only a study can know; so is
        ``"true-number"``, as many features of the largest score as there are markers.
    n_selected
        How many features ``"top"`` takes.
    options
        Options of the scores.
    sizes, iterations
        The method's own numbers of samples, and its own number of iterations; those of the study if None.
    shuffles
        For log-odds: how often the screen is repeated with shuffled labels, which then judge the list. 0: never.

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
    shuffles: int = 0

    def __post_init__(self) -> None:
        _check_name("method", self.name)
        if not isinstance(self.title, str):
            raise OptionError(f"The title of {self.name} must be a text, not {self.title!r}.")
        parse_rule(self.rule)
        check_whole(f"n_selected of {self.name}", self.n_selected, 0, most=_MOST_SAMPLES)
        check_whole(f"shuffles of {self.name}", self.shuffles, 0, most=_MOST_RUNS)
        if not isinstance(self.options, Mapping):
            raise OptionError(f"options of {self.name} must be a table of names and values, not {self.options!r}.")
        if self.sizes is not None:
            object.__setattr__(self, "sizes", _as_sizes(self.sizes))
        if self.iterations is not None:
            check_whole(f"iterations of {self.name}", self.iterations, 1, most=_MOST_RUNS)

    @property
    def definition(self) -> dict[str, Any]:
        """What decides the method's numbers, as plain values."""
        names = ("scores", "rule", "n_selected", "options", "shuffles")
        return _as_plain({name: getattr(self, name) for name in names})


def _as_sizes(sizes: Any) -> tuple[int, ...]:
    """Numbers of samples, increasing and without repetition."""
    if isinstance(sizes, Sized) and len(sizes) > _MOST_SIZES:
        raise OptionError(
            f"A study has at most {_MOST_SIZES:,} numbers of samples, not {len(sizes):,}. Take a larger step."
        )
    numbers = list(sizes) if isinstance(sizes, Iterable) else [sizes]
    for n in numbers:
        check_whole("A number of samples", n, 4, most=_MOST_SAMPLES)
    odd = [n for n in numbers if n % 2]
    if odd:
        raise OptionError(f"Numbers of samples must be even, for two equal classes; {odd[0]} is not.")
    return tuple(sorted(set(numbers)))


def _check_name(what: str, name: Any) -> None:
    """Raise unless a name can stand in files and on the command line."""
    if not isinstance(name, str) or not _NAME.fullmatch(name) or is_device(name):
        raise OptionError(
            f"The name of a {what} is made of letters, digits and . _ = + -, and no device of Windows, not "
            f"{name!r}."
        )


def _as_plain(value: dict[str, Any]) -> dict[str, Any]:
    """Turn tuples to lists and the like, as JSON does."""
    try:
        made: dict[str, Any] = json.loads(json.dumps(value))
    except (TypeError, ValueError) as error:
        raise OptionError(f"A study is made of numbers, texts, lists and tables: {error}.") from None
    return made


OWN, BEST, TRUE_NUMBER = "own", "best", "true-number"


def parse_rule(rule: str) -> Rule | float | str | None:
    """Return None for ``top``, the level of ``bh:LEVEL``, a word of its own, or the rule on log-odds of a text."""
    name, colon, number = str(rule).strip().lower().partition(":")
    if name == "top" and not colon:
        return None
    if name in (OWN, BEST, TRUE_NUMBER) and not colon:
        return name
    try:
        if name != "bh":
            return as_rule(str(rule))
        if not 0.0 <= (level := float(number)) <= 1.0:
            raise ValueError
    except RuleError as error:
        raise OptionError(
            f"{error} A study also takes 'top', 'true-number', 'own', 'best' and, for p-values, 'bh:0.05'."
        ) from None
    except ValueError:
        raise OptionError(f"The rule {rule!r} needs a level between 0 and 1, for example bh:0.05.") from None
    return level


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
        their exact distribution, at a cost that does not depend on the number of samples.
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
        _check_name("study", self.name)
        object.__setattr__(self, "methods", tuple(self.methods))
        object.__setattr__(self, "measures", tuple(self.measures))
        object.__setattr__(self, "sizes", _as_sizes(self.sizes))
        check_whole("iterations", self.iterations, 1, most=_MOST_RUNS)
        check_whole("seed", self.seed, 0)
        self._check_methods()
        if self.units > _MOST_RUNS:
            raise OptionError(
                f"The study {self.name} would run methods {self.units:,} times; at most {_MOST_RUNS:,} are "
                "allowed. "
                "Take fewer iterations or numbers of samples, or make several studies of it."
            )
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
        return _as_plain({name: getattr(self, name) for name in ("data", "constants", "seed", "raw", "measures")})

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
        kept = self.methods if methods is None else tuple(self.method(name) for name in methods)
        if iterations is not None:
            check_whole("iterations", iterations, 1)
            kept = tuple(
                each if each.iterations is None else replace(each, iterations=min(each.iterations, iterations))
                for each in kept
            )
        if sizes is not None:
            kept = tuple(
                each if each.sizes is None else replace(each, sizes=tuple(n for n in each.sizes if n in sizes))
                for each in kept
            )
        return replace(
            self,
            methods=kept,
            iterations=self.iterations if iterations is None else iterations,
            sizes=self.sizes if sizes is None else _as_sizes(sizes),
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
        values = [{key: value for key, value in method.items() if value is not None} for method in methods]
        return _as_plain({**own, "methods": values})

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
        values = {key.replace("-", "_"): value for key, value in settings.items()}
        _check_settings(cls, values, where)
        absent = [key for key in ("sizes", "methods") if key not in values]
        if absent:
            raise OptionError(
                f"{where} does not say {' and '.join(absent)}. Look at bayesieve study figure-1b --list."
            )
        methods = values.pop("methods")
        if not isinstance(methods, list) or not all(isinstance(each, dict) for each in methods):
            raise OptionError(f"{where}: methods are tables, each under a line [[methods]].")
        values["sizes"] = _from_steps(values["sizes"], where)
        made = [_method_from(each, f"{where}, method {k + 1}") for k, each in enumerate(methods)]
        titles = [method.title for method in made]
        distinct = (replace(m, title=f"{m.title} ({m.name})") if titles.count(m.title) > 1 else m for m in made)
        return cls(methods=tuple(distinct), **values)

    @classmethod
    def from_toml(cls, path: str | os.PathLike[str]) -> StudyDesign:
        """Read a study from a TOML file, such as :meth:`to_toml` writes; its name is the file's if it has none.

        Examples
        --------
        >>> import pathlib, tempfile
        >>> from bayesieve.study import StudyDesign
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "mine.toml"
        >>> _ = path.write_text('sizes = [20, 40]' + chr(10) + '[[methods]]' + chr(10) + 'scores = "bd"')
        >>> StudyDesign.from_toml(path).name
        'mine'
        """
        return cls.from_dict({"name": Path(path).stem, **read_toml(path)}, os.fspath(path))

    def to_toml(self) -> str:
        """Write the study as TOML.

        Examples
        --------
        >>> from bayesieve.study import built_in
        >>> print(built_in("figure-1b").to_toml().splitlines()[0])
        name = "figure-1b"
        """
        settings = self.to_dict()
        methods, constants = settings.pop("methods"), settings.pop("constants")
        lines = [*_toml_lines(settings), "", "[constants]", *_toml_lines(constants)]
        for method in methods:
            filled = {key: value for key, value in method.items() if value not in ({}, [])}
            lines += ["", "[[methods]]", *_toml_lines(filled)]
        return "\n".join(lines) + "\n"


def built_in_names() -> tuple[str, ...]:
    """Names of the studies that come with the package.

    Examples
    --------
    >>> from bayesieve.study import built_in_names
    >>> built_in_names()
    ('figure-1a', 'figure-1b', 'table-1', 'calibration', 'sensitivity')
    """
    return _BUILT_IN


def built_in(name: str) -> StudyDesign:
    """Return a study that comes with the package.

    Examples
    --------
    >>> from bayesieve.study import built_in
    >>> built_in("figure-1b").sizes[:3], built_in("figure-1b").iterations
    ((100, 200, 300), 600)
    """
    if name not in _BUILT_IN:
        raise OptionError(f"There is no study {name!r}. Studies are {', '.join(_BUILT_IN)}, or a TOML file.")
    text = resources.files("bayesieve.study").joinpath("studies", f"{name}.toml").read_text(encoding="utf-8")
    return StudyDesign.from_dict(tomllib.loads(text), name)


def _method_from(settings: Mapping[str, Any], where: str) -> Method:
    """Build a method from plain values; name and title follow from scores and rule where they are not given."""
    values = {key.replace("-", "_"): value for key, value in settings.items()}
    _check_settings(Method, values, where)
    if not isinstance(values.get("scores"), str):
        raise OptionError(f'{where} does not say where its scores come from, for example scores = "welch".')
    rule = values.get("rule", "top")
    plain = values["scores"].rpartition("/")[2].partition(":")[0].removesuffix(".py")
    is_top = parse_rule(rule) is None
    values.setdefault("name", plain if is_top else f"{str(rule).replace(':', '-')}-{plain}")
    if "title" not in values:
        own = ":" in values["scores"] or values["scores"].endswith(".py")  # not run merely to be listed
        title = plain if own else rival(values["scores"]).title
        values["title"] = title if is_top else f"{title}, {str(rule).upper().replace(':', ' ')}"
    if values.get("sizes") is not None:
        values["sizes"] = _from_steps(values["sizes"], where)
    return Method(**values)


def _from_steps(sizes: Any, where: str) -> Any:
    """Numbers of samples from a list, or from the first, the last and the step."""
    if not isinstance(sizes, dict):
        return sizes
    whole = set(sizes) == set(_STEPS) and all(type(value) is int for value in sizes.values())
    if not whole or sizes["step"] < 1 or max(map(abs, sizes.values())) > _MOST_SAMPLES:
        raise OptionError(f"{where}: give sizes as a list, or as {{ from = 100, to = 1000, step = 100 }}.")
    return range(sizes["from"], sizes["to"] + 1, sizes["step"])


def _check_settings(kind: type[Method | StudyDesign], values: Mapping[str, Any], where: str) -> None:
    """Raise unless settings are known and, those of a study, of the right type."""
    known = tuple(each.name for each in fields(kind))
    for name in values:
        if name not in known:
            hint = did_you_mean(name, known) or f" Known are {', '.join(known)}."
            raise OptionError(f"{where}: there is no setting {name!r}.{hint}")
    if kind is Method:
        return
    kinds = {"name": str, "title": str, "data": str, "constants": dict, "raw": bool, "measures": list}
    words = {str: "a text", dict: "a table", bool: "true or false", list: "a list"}
    for name, wanted in kinds.items():
        if name in values and not isinstance(values[name], wanted):
            raise OptionError(f"{where}: {name} must be {words[wanted]}, not {values[name]!r}.")


def _toml_lines(settings: Mapping[str, Any]) -> Iterable[str]:
    """Lines of a table; many sizes at equal distances become the first, the last and the step."""
    for key, value in settings.items():
        steps = {b - a for a, b in itertools.pairwise(value)} if key == "sizes" and len(value) > 3 else ()
        short = dict(zip(_STEPS, (value[0], value[-1], *steps), strict=True)) if len(steps) == 1 else value
        yield toml_line(key, short)
