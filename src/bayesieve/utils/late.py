"""Methods whose work is done in a room above: ``posterior.plot`` and ``selection.report`` live in ``report``.

A posterior must not depend on the report, so it holds the name of what does the work, which is loaded when it is
first asked for. This is the only place of the package where a name is looked up that way.
"""

from __future__ import annotations

import functools
import importlib
from typing import Any


class Late:
    """An attribute made by a function of a module that is loaded when the attribute is first asked for.

    Parameters
    ----------
    module, name
        Where the function is; it is called with the object.
    doc
        What the attribute is.
    """

    def __init__(self, module: str, name: str, doc: str) -> None:
        self._module, self._name = module, name
        self.__doc__ = doc

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        if instance is None:
            return self
        return getattr(importlib.import_module(self._module), self._name)(instance)


class LateMethod(Late):
    """A method that is a function of a module loaded when it is first asked for."""

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        if instance is None:
            return self
        return functools.partial(getattr(importlib.import_module(self._module), self._name), instance)
