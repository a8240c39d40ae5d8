"""A flowchart of rows (``flowchart TB`` of Mermaid, as the page on architecture has it) as plain HTML."""

from __future__ import annotations

import html
import re
from typing import TYPE_CHECKING

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

if TYPE_CHECKING:
    from sphinx.application import Sphinx

_BOX = re.compile(r'^\s*(\w+)\["<b>(\w+)</b><br>(.*)"\]$')


def rows_of(chart: str) -> list[list[str]]:
    """Return the names of a chart, row below row."""
    rows: list[list[str]] = []
    for line in chart.splitlines():
        for part in line.split("-->") if "-->" in line else ():
            row = [name.strip() for name in part.split("&")]
            if row not in rows:
                rows.append(row)
    return rows


class Mermaid(SphinxDirective):
    """Boxes in rows."""

    has_content = True

    def run(self) -> list[nodes.Node]:
        """Return the chart as an ordered list of rows."""
        boxes = {found[1]: (found[2], found[3]) for line in self.content if (found := _BOX.match(line))}
        rows = rows_of("\n".join(self.content))
        missing = {name for row in rows for name in row} ^ set(boxes)
        if missing:
            raise self.error(f"boxes without an arrow, or arrows without a box: {sorted(missing)}")
        made = []
        for row in rows:
            cells = (f"<div><b>{html.escape(boxes[n][0])}</b> {html.escape(boxes[n][1])}</div>" for n in row)
            made.append(f"<li>{''.join(cells)}</li>")
        return [nodes.raw("", f'<ol class="rooms">{"".join(made)}</ol>', format="html")]


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the directive."""
    app.add_directive("mermaid", Mermaid)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
