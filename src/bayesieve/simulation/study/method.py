"""Method: scores and a rule, one of the things that a study compares."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from bayesieve.errors import OptionError
from bayesieve.simulation.study.rules import check_rule

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
        Name of a rival, such as ``"welch"``; see :func:`bayesieve.rivals.rival.rival`.
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
    >>> from bayesieve.simulation.study import Method
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
    """Numbers of samples, increasing and without repetition.

    Examples
    --------
    >>> from bayesieve.simulation.study.method import checked_sizes
    >>> checked_sizes([40, 20, 40])
    (20, 40)
    """
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
    """Raise unless a name can stand in files and on the command line.

    Examples
    --------
    >>> from bayesieve.simulation.study.method import check_name
    >>> check_name("study", "figure-1b")
    """
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise OptionError(f"The name of a {what} is made of letters, digits and . _ = + -, not {name!r}.")


def check_whole(name: str, value: Any, least: int) -> None:
    """Raise unless a number is whole and large enough.

    Examples
    --------
    >>> from bayesieve.simulation.study.method import check_whole
    >>> check_whole("iterations", 10, 1)
    """
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise OptionError(f"{name} must be a whole number of at least {least}, not {value!r}.")


def plain(value: dict[str, Any]) -> dict[str, Any]:
    """Turn tuples to lists and the like, as JSON does.

    Examples
    --------
    >>> from bayesieve.simulation.study.method import plain
    >>> plain({"sizes": (20, 40)})
    {'sizes': [20, 40]}
    """
    try:
        made: dict[str, Any] = json.loads(json.dumps(value))
    except (TypeError, ValueError) as error:
        raise OptionError(f"A study is made of numbers, texts, lists and tables: {error}.") from None
    return made
