"""When a study may go on: what has to stay the same, and what may grow."""

from __future__ import annotations

import json
import os
import warnings
from dataclasses import replace
from typing import Any

from bayesieve.errors import DataWarning
from bayesieve.simulation.study.design import StudyDesign


def differences(old: StudyDesign, new: StudyDesign) -> list[str]:
    """Say what keeps a study from going on as another one; what may grow is no difference.

    Examples
    --------
    >>> from bayesieve.simulation.study import built_in
    >>> from bayesieve.simulation.study.continuing import differences
    >>> differences(built_in("figure-1b"), built_in("figure-1b").changed(seed=2, iterations=9))
    ['seed is 1 there and 2 here']
    """
    pairs = [("", old.definition, new.definition)]
    known = {method.name: method for method in old.methods}
    pairs += [
        (f"of method {each.name} ", known[each.name].definition, each.definition)
        for each in new.methods
        if each.name in known
    ]
    return [
        f"{whose}{key} is {_short(before[key])} there and {_short(after[key])} here"
        for whose, before, after in pairs
        for key in before
        if before[key] != after[key]
    ]


def _short(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) <= 80 else f"{text[:77]}..."


def together(old: StudyDesign, new: StudyDesign) -> StudyDesign:
    """Return the study that holds both.

    Examples
    --------
    >>> from bayesieve.simulation.study import built_in
    >>> from bayesieve.simulation.study.continuing import together
    >>> parts = [built_in("figure-1b").changed(sizes=[n]) for n in (100, 200)]
    >>> together(*parts).sizes
    (100, 200)
    """
    names = {method.name for method in new.methods}
    return replace(
        new,
        sizes=tuple({*old.sizes, *new.sizes}),
        iterations=max(old.iterations, new.iterations),
        methods=(*new.methods, *(method for method in old.methods if method.name not in names)),
    )


def warn_about_version(began: str, path: str | os.PathLike[str]) -> None:
    """Warn if a study goes on with another version of the library.

    Examples
    --------
    >>> import bayesieve
    >>> from bayesieve.simulation.study.continuing import warn_about_version
    >>> warn_about_version(bayesieve.__version__, "study.sqlite")
    """
    from bayesieve import __version__  # noqa: PLC0415 - the package imports this room lazily

    if began != __version__:
        warnings.warn(
            f"{os.fspath(path)} was begun with bayesieve {began} and goes on with {__version__}; if the methods "
            "or the data changed in between, its numbers do not belong together.",
            DataWarning,
            stacklevel=4,
        )
