"""Formulas become MathML when the site is built: no script, no font, and a text for those who listen."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from docutils import nodes
from latex2mathml.converter import convert

if TYPE_CHECKING:
    from sphinx.application import Sphinx


def mathml(latex: str, display: str) -> str:
    """Return a formula as MathML, with its source as the alternative text."""
    made = convert(latex.strip(), display=display)
    text = " ".join(latex.split()).replace("&", "&amp;").replace('"', "&quot;").replace("<", "&lt;")
    return made.replace("<math ", f'<math alttext="{text}" ', 1)


def inline(translator: Any, node: nodes.math) -> None:
    translator.body.append(mathml(node.astext(), "inline"))
    raise nodes.SkipNode


def block(translator: Any, node: nodes.math_block) -> None:
    translator.body.append(f'<div class="formula" tabindex="0">{mathml(node.astext(), "block")}</div>')
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the renderer."""
    app.add_html_math_renderer("mathml", inline_renderers=(inline, None), block_renderers=(block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
