"""The glossary of the site: the terms of the report, each with what other fields call it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

from bayesieve.report.glossary import SYNONYMS, all_terms

if TYPE_CHECKING:
    from sphinx.application import Sphinx


class Terms(SphinxDirective):
    """All terms as a definition list, in the order of the alphabet."""

    def run(self) -> list[nodes.Node]:
        """Return the list."""
        terms = nodes.definition_list(classes=["terms"])
        for key, word, meaning in sorted(all_terms(), key=lambda term: term[1].casefold()):
            item = nodes.definition_list_item()
            item += nodes.term("", word, ids=[key])
            text = nodes.definition("", nodes.paragraph("", meaning))
            if key in SYNONYMS:
                also = nodes.paragraph(
                    "", "", nodes.emphasis("", "Elsewhere: "), nodes.Text("; ".join(SYNONYMS[key]) + ".")
                )
                text += also
            item += text
            terms += item
        return [terms]


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the directive."""
    app.add_directive("terms", Terms)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
