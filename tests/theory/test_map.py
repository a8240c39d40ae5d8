"""The map from the paper to the code names nothing that does not exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
MAP = ROOT / "docs" / "theory" / "README.md"
pytestmark = pytest.mark.skipif(not MAP.exists(), reason="a source archive holds no docs")

_TICKED = re.compile(r"`([^`]+)`")
_MODULE = re.compile(r"`((?:\w+/)*\w+\.py)`((?:[:,] `[A-Za-z_]\w*`)*)")


def modules() -> list[tuple[str, list[str]]]:
    """Every module that is mentioned, with the names that stand behind a colon."""
    return [(path, _TICKED.findall(names)) for path, names in _MODULE.findall(MAP.read_text(encoding="utf-8"))]


def home(path: str) -> Path:
    return ROOT / path if path.startswith("tests/") else ROOT / "src" / "bayesieve" / path


def test_the_map_mentions_all_rooms_of_the_theory():
    rooms = {path.split("/")[0] for path, _ in modules()}
    assert {"sets", "rivals", "models", "posterior", "selection", "simulation", "screening"} <= rooms


@pytest.mark.parametrize("path", sorted({path for path, _ in modules()}))
def test_modules_and_tests_exist(path):
    assert home(path).is_file()


@pytest.mark.parametrize(("path", "name"), sorted({(path, name) for path, names in modules() for name in names}))
def test_names_stand_in_their_module(path, name):
    text = home(path).read_text(encoding="utf-8")
    assert re.search(rf"^\s*(def {name}\b|class {name}\b|{name}:? )", text, re.MULTILINE), name


def test_every_row_of_sections_two_to_five_names_a_test_or_says_why_not():
    page = MAP.read_text(encoding="utf-8")
    rows = re.findall(
        r"^\| .* \|$", page[page.index("## Section 2.1") : page.index("### A reading")], re.MULTILINE
    )
    bare = [
        row
        for row in rows
        if not row.startswith(("| part", "| equation", "| extension", "| ---", "| `")) and "tests/" not in row
    ]
    assert all("not used" in row for row in bare), bare
