"""Pages link as on a code host; here their links, and the menus that follow from them, are made to fit.

A link to a page outside ``docs`` leads to the page that stands for it here, one to a source file becomes its name.
The menu of a folder has the pages in the order in which the ``README.md`` of the folder names them.
"""

from __future__ import annotations

import os
import re
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from names import menus

if TYPE_CHECKING:
    from sphinx.application import Sphinx

DOCS = Path(__file__).resolve().parents[1]
ROOT = DOCS.parent

STAND_INS = {  # pages outside docs, and the page that shows them here
    "README.md": "project/overview",
    "CONTRIBUTING.md": "project/contributing",
    "CHANGELOG.md": "project/changelog",
}
PYTHON = "reference/python"
ALL = ("",)
MENUS: dict[str, tuple[str, ...]] = {  # pages with a menu, and the folders whose pages belong to it
    "index": ALL,
    "tutorials/README": ("tutorials/",),
    "how-to/README": ("how-to/", "notebooks/"),
    "reference/README": ALL,
    "understand/README": ALL,
    "project/README": ALL,
    "theory/README": ("theory/",),
    "methods/README": ("methods/",),
    "results/README": ("results/",),
    "decisions/README": ("decisions/",),
}

_LINK = re.compile(r"(!?)\[([^\[\]]*)\]\(([^()\s#:]+)(#[\w-]+)?\)")
_ROW = re.compile(rf"^\| {_LINK.pattern} \|", re.MULTILINE)  # of a table of pages


def relink(text: str, origin: str, place: str) -> str:
    """Return Markdown of the file ``origin`` (from the root) as it must be on the page ``place`` (from docs)."""
    at, here = PurePosixPath(origin).parent, PurePosixPath("docs", place).parent

    def found(match: re.Match[str]) -> str:
        image, words, path, anchor = match[1], match[2], match[3], match[4] or ""
        target = os.path.normpath(at / path).replace(os.sep, "/")
        if target in STAND_INS:
            target = f"docs/{STAND_INS[target]}.md"
        elif not target.startswith("docs/"):
            return words if "`" in words else f"`{words}`"
        return f"{image}[{words}]({os.path.relpath(target, here).replace(os.sep, '/')}{anchor})"

    return _LINK.sub(found, text)


def menu(text: str, docname: str) -> list[tuple[str, str]]:
    """Return label and page of every page of the menu of ``docname``, in the order of its text."""
    folder, found = PurePosixPath(docname).parent, {}
    named = _ROW.findall(text) if MENUS[docname] == ALL else _LINK.findall(text)
    for _, words, path, _ in named:
        target = os.path.normpath(folder / path).replace(os.sep, "/")
        page, ending = os.path.splitext(target)
        if ending in (".md", ".ipynb", ".rst") and target.startswith(MENUS[docname]) and page != docname:
            found.setdefault(page, words.replace("`", ""))
    return [(label, page) for page, label in found.items()]


def sections(text: str, docname: str) -> list[tuple[str, list[tuple[str, str]]]]:
    """Return the menu by the headings of the page; without a heading above all that it names."""
    parts = re.split(r"^## (.+)\n", text, flags=re.MULTILINE) if docname == "how-to/README" else [text]
    found, seen = [], set()
    for heading, part in zip(["", *parts[1::2]], parts[::2], strict=True):
        entries = [entry for entry in menu(part, docname) if entry[1] not in seen]
        seen.update(page for _, page in entries)
        if entries:
            found.append((heading, entries))
    return found


def toctree(heading: str, entries: list[tuple[str, str]]) -> str:
    caption = f":caption: {heading}\n" if heading else ""
    listed = "\n".join(f"{label} </{page}>" for label, page in entries)
    return f"\n\n```{{toctree}}\n:hidden:\n{caption}\n{listed}\n```\n"


def page_text(docname: str, text: str) -> str:
    """Return the Markdown of a page with links that fit and its menu."""
    stands_for = next((path for path, page in STAND_INS.items() if page == docname), None)
    if stands_for is not None:
        return relink((ROOT / stands_for).read_text(encoding="utf-8"), stands_for, docname)
    text = relink(text, f"docs/{docname}.md", docname)
    if docname in MENUS:
        text += "".join(toctree(heading, entries) for heading, entries in sections(text, docname))
    return text + menus() if docname == PYTHON else text


def on_source_read(app: Sphinx, docname: str, source: list[str]) -> None:
    if str(app.env.doc2path(docname)).endswith(".md"):
        source[0] = page_text(docname, source[0].replace("\n```mermaid\n", "\n```{mermaid}\n"))


def setup(app: Sphinx) -> dict[str, bool]:
    """Connect to the reading of pages."""
    app.connect("source-read", on_source_read)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
