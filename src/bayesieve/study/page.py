"""A page that can be read as Markdown and as one HTML file: headings, paragraphs, lists, tables, pictures."""

from __future__ import annotations

import base64
import html
import re
from collections.abc import Sequence
from dataclasses import dataclass

_SPECIAL = re.compile(r"([\\`*_\[\]|#~$])")
_STYLE = """
body { font-family: system-ui, sans-serif; line-height: 1.45; max-width: 60rem; margin: 2rem auto;
       padding: 0 1rem; }
figure { margin: 1.5rem 0; } img { max-width: 100%; height: auto; } figcaption { font-size: 0.9rem; }
.wide { overflow-x: auto; } table { border-collapse: collapse; font-size: 0.85rem; }
th, td { padding: 0.2rem 0.6rem; text-align: right; border-bottom: 1px solid #ccc; white-space: nowrap; }
th:first-child, td:first-child, .words th, .words td { text-align: left; }
code { background: #f2f2f2; padding: 0.1rem 0.3rem; }
"""


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading of level 1, 2 or 3."""

    text: str
    level: int = 2

    def markdown(self) -> str:
        """As Markdown."""
        return f"{'#' * self.level} {in_markdown(self.text)}"

    def html(self) -> str:
        """As HTML."""
        return f"<h{self.level}>{html.escape(self.text)}</h{self.level}>"


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A paragraph."""

    text: str

    def markdown(self) -> str:
        """As Markdown."""
        return in_markdown(self.text)

    def html(self) -> str:
        """As HTML."""
        return f"<p>{html.escape(self.text)}</p>"


@dataclass(frozen=True, slots=True)
class Command:
    """A command line."""

    text: str

    def markdown(self) -> str:
        """As Markdown; indented, so that nothing in it can end the block."""
        return "\n".join(f"    {line}" for line in self.text.splitlines())

    def html(self) -> str:
        """As HTML."""
        return f"<pre><code>{html.escape(self.text)}</code></pre>"


@dataclass(frozen=True, slots=True)
class Bullets:
    """A list."""

    items: tuple[str, ...]

    def markdown(self) -> str:
        """As Markdown."""
        return "\n".join(f"- {in_markdown(item)}" for item in self.items)

    def html(self) -> str:
        """As HTML."""
        return "<ul>" + "".join(f"<li>{html.escape(item)}</li>" for item in self.items) + "</ul>"


@dataclass(frozen=True, slots=True)
class Table:
    """A table; all columns but the first hold numbers, unless it is one of words."""

    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    words: bool = False

    def markdown(self) -> str:
        """As Markdown."""
        ruler = ["---", *["---" if self.words else "--:"] * (len(self.header) - 1)]
        cells = [map(in_markdown, self.header), ruler, *(map(in_markdown, row) for row in self.rows)]
        return "\n".join(f"| {' | '.join(row)} |" for row in cells)

    def html(self) -> str:
        """As HTML."""
        head = "".join(f"<th>{html.escape(cell)}</th>" for cell in self.header)
        body = ("".join(f"<td>{html.escape(cell)}</td>" for cell in row) for row in self.rows)
        rows = "".join(f"<tr>{row}</tr>\n" for row in body)
        kind = ' class="words"' if self.words else ""
        table = f"<table{kind}>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{rows}</tbody></table>"
        return f'<div class="wide">{table}</div>'


@dataclass(frozen=True, slots=True)
class Picture:
    """A figure: a file beside the Markdown, and part of the HTML."""

    file: str
    name: str
    caption: str
    svg: bytes

    def markdown(self) -> str:
        """As Markdown."""
        return f"![{in_markdown(self.name)}]({self.file})\n\n{in_markdown(self.caption)}"

    def html(self) -> str:
        """As HTML, with the picture in it."""
        data, words = base64.b64encode(self.svg).decode("ascii"), html.escape(self.caption)
        image = f'<img src="data:image/svg+xml;base64,{data}" alt="{words}">'
        return f"<figure>{image}<figcaption>{words}</figcaption></figure>"


Block = Heading | Paragraph | Command | Bullets | Table | Picture


def markdown_page(blocks: Sequence[Block]) -> str:
    r"""Write blocks as Markdown; what they hold is text, never markup."""
    return "\n\n".join(block.markdown() for block in blocks) + "\n"


def html_page(title: str, blocks: Sequence[Block]) -> str:
    """Write blocks as one HTML file that needs no other, and runs no script."""
    body = "\n".join(block.html() for block in blocks)
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{html.escape(title)}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n{body}\n</body>\n</html>\n"
    )


def in_markdown(text: str) -> str:
    r"""Escape what Markdown would read as markup; one line stays one line."""
    line = " ".join(text.split())
    return _SPECIAL.sub(r"\\\1", line.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;"))
