"""What the theme leaves unsaid: the buttons that unfold a menu get a name."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sphinx.application import Sphinx

_BUTTON = re.compile(r'(<a class="reference internal" href="[^"]*">([^<]*)</a><details[^>]*>)<summary>')


def named(text: str) -> str:
    """Return a page whose buttons say which pages they unfold."""
    return _BUTTON.sub(r'\1<summary aria-label="Pages of \2">', text)


def on_build_finished(app: Sphinx, exception: Exception | None) -> None:
    for path in Path(app.outdir).rglob("*.html") if exception is None else ():
        text = path.read_text(encoding="utf-8")
        if "<summary>" in text:
            path.write_text(named(text), encoding="utf-8")


def setup(app: Sphinx) -> dict[str, bool]:
    """Connect to the end of the build."""
    app.connect("build-finished", on_build_finished)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
