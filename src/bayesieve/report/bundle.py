"""Bundling: ES modules put into one function, each after those it imports from."""

from __future__ import annotations

import re
from collections.abc import Callable

_IMPORT = re.compile(r'^import \{([^}]*)\} from "\./(\w+)\.js";\n', re.MULTILINE)
_TYPES = re.compile(r"^/\*\* @import .*\*/\n", re.MULTILINE)  # of comments, for the checks only
_DECLARED = re.compile(r"^(export )?(?:(?:async )?function|const|let|class) (\w+)", re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:async )?function|const|let|class)", re.MULTILINE)
_OTHER = re.compile(r"^(?:(?:import|export|var)\b|(?:const|let) [{\[]).*|\bimport\(.*", re.MULTILINE)


def bundle(entry: str, read: Callable[[str], str]) -> str:
    """Return a module and all it needs as one script; ``read`` gives the text of a module by its name."""
    order = _ordered(entry, read, (), {})
    owners: dict[str, str] = {}
    exported = {name: _names(name, text, owners) for name, text in order.items()}
    for name, text in order.items():
        for wanted, source in _imports(text):
            if missing := sorted(wanted - exported[source]):
                raise ValueError(f"{name}.js imports {', '.join(missing)}, which {source}.js does not export.")
    parts = (_stripped(name, text) for name, text in order.items())
    return '"use strict";\n(() => {\n' + "\n".join(parts) + "\n})();\n"


def _ordered(
    name: str, read: Callable[[str], str], path: tuple[str, ...], known: dict[str, str]
) -> dict[str, str]:
    """Texts by name, every module after those it imports from."""
    if name in path:
        circle = " -> ".join(f"{each}.js" for each in (*path[path.index(name) :], name))
        raise ValueError(f"Modules import each other in a circle: {circle}.")
    if name not in known:
        text = read(name)
        for _, source in _imports(text):
            _ordered(source, read, (*path, name), known)
        known[name] = text
    return known


def _imports(text: str) -> list[tuple[set[str], str]]:
    """Names imported, with the module they come from."""
    found = _IMPORT.findall(text)
    return [({each.strip() for each in names.split(",")} - {""}, source) for names, source in found]


def _names(name: str, text: str, owners: dict[str, str]) -> set[str]:
    """Return what a module exports, and note all its names: in one function they must differ."""
    exported = set()
    for export, declared in _DECLARED.findall(text):
        if declared in owners:
            raise ValueError(f"{owners[declared]}.js and {name}.js both declare {declared}: rename one of them.")
        owners[declared] = name
        if export:
            exported.add(declared)
    return exported


def _stripped(name: str, text: str) -> str:
    """Return a module without its imports and the word export."""
    bare = _EXPORT.sub("", _TYPES.sub("", _IMPORT.sub("", text)))
    if other := _OTHER.search(bare):
        raise ValueError(
            f"{name}.js: cannot bundle {other[0]!r}. Import names in braces from a file beside it, and write "
            "export before a function, class, const or let of one name."
        )
    return bare
