"""What executed pages share: a table that looks like those of the text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from IPython.display import Markdown

if TYPE_CHECKING:
    from collections.abc import Mapping


def shown(*rows: Mapping[str, Any]) -> Markdown:
    """Return a table with a row for each mapping; numbers stand right."""
    heads = list(rows[0])
    ruler = ["---" if isinstance(rows[0][head], str) else "---:" for head in heads]
    cells = [heads, ruler, *([str(row[head]) for head in heads] for row in rows)]
    return Markdown("\n".join("| " + " | ".join(line) + " |" for line in cells))


def counted(listed: Any, truth: Any, words: Mapping[int, str]) -> dict[str, int]:
    """Return how many features of a list are of each kind of truth."""
    return {word: int((listed & (truth == kind)).sum()) for kind, word in words.items()}
