"""What executed pages share: commands, figures, and tables that look like those of the text."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING, Any

from IPython import get_ipython
from IPython.display import Markdown

if TYPE_CHECKING:
    from collections.abc import Mapping


def bash(_line: str, cell: str) -> None:
    """Run commands and print all they say in one piece and in order, which IPython's own ``%%bash`` does not."""
    lines = ["bash", "-e", "-o", "pipefail", "-c", f"exec 2>&1\n{cell}"]
    done = subprocess.run(lines, stdout=subprocess.PIPE, encoding="utf-8", check=False)
    said = [line for line in done.stdout.splitlines() if not line.startswith("bayesieve: compiling for this")]
    if said:
        print("\n".join(said))
    if done.returncode:
        raise RuntimeError(f"the commands ended with code {done.returncode}")


def prepare() -> None:
    """Make figures of a page sharp, and its commands quiet about progress."""
    shell = get_ipython()
    shell.run_line_magic("matplotlib", "inline")
    shell.run_line_magic("config", 'InlineBackend.figure_formats = ["svg"]')
    shell.register_magic_function(bash, "cell", "bash")


def shown(*rows: Mapping[str, Any]) -> Markdown:
    """Return a table with a row for each mapping; numbers stand right."""
    heads = list(rows[0])
    ruler = ["---" if isinstance(rows[0][head], str) else "---:" for head in heads]
    cells = [heads, ruler, *([str(row[head]) for head in heads] for row in rows)]
    return Markdown("\n".join("| " + " | ".join(line) + " |" for line in cells))


def counted(listed: Any, truth: Any, words: Mapping[int, str]) -> dict[str, int]:
    """Return how many features of a list are of each kind of truth."""
    return {word: int((listed & (truth == kind)).sum()) for kind, word in words.items()}
