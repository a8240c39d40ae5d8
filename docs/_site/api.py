"""The reference: a page for every name of the package and for every room, and references that name what exists."""

from __future__ import annotations

import importlib
import inspect
import re
import shutil
from functools import cache
from pathlib import Path
from pydoc import locate
from types import GenericAlias
from typing import TYPE_CHECKING, Any

from names import GROUPS, SOURCE, file_name, names_of_face, rooms
from sphinx.addnodes import pending_xref
from sphinx.util.nodes import make_refnode

import bayesieve

if TYPE_CHECKING:
    from docutils.nodes import Element, Node
    from sphinx.application import Sphinx

PLACE = Path(__file__).resolve().parents[1] / "reference" / "api"


def directive(module: str, name: str) -> str:
    """Return the lines that document one name."""
    found = inspect.getattr_static(importlib.import_module(module), name, None)
    found = getattr(importlib.import_module(module), name) if found is None else found
    if inspect.isclass(found) and not isinstance(found, GenericAlias):
        kind = "exception" if issubclass(found, Exception) else "class"
        return f".. auto{kind}:: {name}\n" + ("   :members:\n" if kind == "class" else "")
    if isinstance(found, GenericAlias):
        return f".. py:data:: {name}\n\n   The type ``{found}``.\n"
    return f".. autofunction:: {name}\n" if inspect.isroutine(found) else f".. autodata:: {name}\n"


def page_of_name(name: str) -> str:
    title = f"bayesieve.{name}"
    return f"{title}\n{'=' * len(title)}\n\n.. currentmodule:: bayesieve\n\n{directive('bayesieve', name)}"


def page_of_room(room: str) -> str:
    """Return the page of a room: what is said about it, and every name that is not on a page of its own."""
    module, at_top = f"bayesieve.{room}", set(names_of_face()[0])
    names, _ = names_of_face(room)
    lines = [module, "=" * len(module), "", f".. automodule:: {module}", "   :no-members:", ""]
    elsewhere = [f":doc:`{name} <{name}>`" for name in names if name in at_top]
    if elsewhere:
        lines += ["On pages of their own: " + ", ".join(elsewhere) + ".", ""]
    lines += [f".. currentmodule:: {module}", ""]
    return "\n".join([*lines, *(directive(module, name) for name in names if name not in at_top)])


def index_of_group(title: str, names: tuple[str, ...]) -> str:
    entries = "\n".join(f"   {name} <{name}>" for name in names)
    rows = "\n".join(f"   * - :doc:`{name} <{name}>`\n     - {first_line(name)}" for name in names)
    table = f".. list-table::\n   :widths: 30 70\n\n{rows}\n"
    return f"{title}\n{'=' * len(title)}\n\n{table}\n.. toctree::\n   :hidden:\n\n{entries}\n"


def first_line(name: str) -> str:
    return (inspect.getdoc(getattr(bayesieve, name)) or "").split("\n\n")[0].replace("\n", " ")


def write_pages(_: Sphinx | None = None, place: Path = PLACE) -> None:
    """Write the pages of the reference; those of an earlier time go."""
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir()
    for title, names in GROUPS.items():
        (place / f"{file_name(title)}.rst").write_text(index_of_group(title, names), encoding="utf-8")
        for name in names:
            (place / f"{name}.rst").write_text(page_of_name(name), encoding="utf-8")
    for room in rooms():
        (place / f"room-{room}.rst").write_text(page_of_room(room), encoding="utf-8")


@cache
def existing_names() -> frozenset[str]:
    """Return every name that the source gives to a module, class, function, attribute or other value."""
    defined = re.compile(r"^\s*(?:class|def) (\w+)|^\s*(\w+(?:, \w+)*)(?:: [^=\n]+)? =|^\s+(\w+):", re.MULTILINE)
    found = {path.stem for path in SOURCE.rglob("*") if path.is_dir() or path.suffix == ".py"}
    for path in SOURCE.rglob("*.py"):
        for match in defined.finditer(path.read_text(encoding="utf-8")):
            found.update(name for names in match.groups("") for name in names.split(", "))
    return frozenset(found)


def on_missing_reference(app: Sphinx, env: Any, node: Element, contnode: Node) -> Node | None:
    """Lead a reference to the one page that documents it; a name of a module without a page stays plain."""
    if node.get("refdomain") != "py":
        return None
    target = node["reftarget"].lstrip(".~")
    parts = target.split(".")
    objects = env.domains["py"].objects
    for k in range(len(parts)):
        ending = "." + ".".join(parts[k:])
        if len(parts) - k == 1 and len(parts) > 1 and node["reftype"] == "meth":
            break  # a method of this name may be that of any class
        found = [(full, entry) for full, entry in objects.items() if f".{full}".endswith(ending)]
        if len(found) == 1:
            full, entry = found[0]
            return make_refnode(app.builder, node["refdoc"], entry.docname, entry.node_id, contnode, full)
    return contnode if parts[-1] in existing_names() or locate(target) is not None else None


def on_doctree_read(_app: Sphinx, doctree: Element) -> None:
    """Take an attribute that a class lists for one of that class, not of any other."""
    for node in doctree.findall(pending_xref):
        if node.get("reftype") == "obj" and node.get("py:class") and "." not in node["reftarget"]:
            node["reftarget"] = f"{node['py:class']}.{node['reftarget']}"


def on_skip_member(_app: Sphinx, _what: str, _name: str, found: Any, skip: bool, _options: Any) -> bool | None:
    """Leave out what scikit-learn adds to an estimator: its documentation explains it."""
    return True if not skip and str(getattr(found, "__module__", "")).startswith("sklearn") else None


def setup(app: Sphinx) -> dict[str, bool]:
    """Write the pages before any is read."""
    app.connect("builder-inited", write_pages)
    app.connect("doctree-read", on_doctree_read)
    app.connect("autodoc-skip-member", on_skip_member)
    app.connect("missing-reference", on_missing_reference)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
