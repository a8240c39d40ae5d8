"""The pages say what happens: their Python runs, and it prints what stands below it."""

from __future__ import annotations

import contextlib
import io
import re
import warnings
from dataclasses import dataclass
from pathlib import Path

import pytest

import bayesieve

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs" / "how-to").glob("*.md"))]
MAIN_COMMAND = "python -m pip install . && bayesieve demo"
TEST_COMMAND = 'python -m pip install ".[test]" && python -m pytest'

_FENCED = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_EXPECTED = re.compile(r"`(\w+Warning)`\s+is\s+expected")
_WORD = re.compile(r"[^\s│┆┌┐└┘├┤┬┴┼─═╞╡╪]+")


@dataclass(frozen=True)
class Block:
    """A fenced block, the paragraph above it, and the output shown directly below it."""

    language: str
    text: str
    line: int
    above: str
    output: str | None


def blocks_of(page: str) -> list[Block]:
    found = list(_FENCED.finditer(page))
    ends = [0, *(match.end() for match in found)]
    blocks = []
    for i, match in enumerate(found):
        below = found[i + 1] if i + 1 < len(found) else None
        shown = below is not None and below[1] == "text" and not page[match.end() : below.start()].strip()
        above = page[ends[i] : match.start()].strip().rpartition("\n\n")[2]
        line = page.count("\n", 0, match.start(2))
        blocks.append(Block(match[1], match[2], line, above, below[2] if shown and below else None))
    return blocks


def run(block: Block, page: Path, namespace: dict[str, object]) -> str:
    """Execute a block and return what it prints; a warning is an error unless the text announces it."""
    code = compile("\n" * block.line + block.text, str(page), "exec")
    announced = _EXPECTED.search(block.above)
    printed = io.StringIO()
    with warnings.catch_warnings(), contextlib.redirect_stdout(printed):
        warnings.simplefilter("error")
        if announced:
            with pytest.warns(getattr(bayesieve, announced[1])):
                exec(code, namespace)
        else:
            exec(code, namespace)
    return printed.getvalue()


def assert_same_text(printed: str, shown: str) -> None:
    """Compare word by word; numbers may differ in what rounding does to their last digits."""
    words, expected = _WORD.findall(printed), _WORD.findall(shown)
    assert len(words) == len(expected), printed
    for word, other in zip(words, expected, strict=True):
        if word != other:
            assert "." in word, printed  # whole numbers must agree
            assert float(word) == pytest.approx(float(other), rel=1e-3), printed


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_python_blocks_run_and_print_what_is_shown(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    namespace: dict[str, object] = {"__name__": "page"}
    python = [block for block in blocks_of(page.read_text(encoding="utf-8")) if block.language == "python"]
    assert python
    for block in python:
        printed = run(block, page, namespace)
        assert_same_text(printed, block.output or "")


def test_an_announced_warning_must_come_and_others_must_not(tmp_path):
    quiet = "A `PriorWarning` is expected.\n\n```python\npass\n```\n"
    loud = "Text.\n\n```python\nimport warnings\nwarnings.warn('surprise', UserWarning)\n```\n"
    with pytest.raises(pytest.fail.Exception, match="DID NOT WARN"):
        run(blocks_of(quiet)[0], tmp_path, {})
    with pytest.raises(UserWarning, match="surprise"):
        run(blocks_of(loud)[0], tmp_path, {})


def test_output_that_differs_is_noticed():
    assert_same_text("│ 1.00000001 │", "1.0")
    with pytest.raises(AssertionError):
        assert_same_text("3000 selected", "3001 selected")
    with pytest.raises(AssertionError):
        assert_same_text("0.17", "0.18")


def test_readme_gives_the_two_commands_in_blocks_of_their_own():
    page = (ROOT / "README.md").read_text(encoding="utf-8")
    commands = [block.text.strip() for block in blocks_of(page) if block.language == "bash"]
    assert commands.count(MAIN_COMMAND) == 1
    assert commands.count(TEST_COMMAND) == 1
    heading = page.index("## Run the tests")
    assert heading < page.index(f"```bash\n{TEST_COMMAND}\n```")
    assert "\n## " not in page[heading + 2 : page.index(TEST_COMMAND)]


@pytest.mark.skipif(not (ROOT / ".ci").is_dir(), reason="a source archive holds no .ci")
def test_the_test_command_is_the_one_that_is_run_automatically():
    lines = (ROOT / ".ci" / "run").read_text(encoding="utf-8").splitlines()
    assert TEST_COMMAND in lines


@pytest.mark.skipif(not (ROOT / "docs").is_dir(), reason="a source archive holds no docs")
@pytest.mark.parametrize(
    "page", [*ROOT.glob("*.md"), *sorted((ROOT / "docs").rglob("*.md"))], ids=lambda p: p.name
)
def test_links_to_files_lead_somewhere(page):
    links = re.findall(r"\]\((?!https?:|#)([^)#]+)", page.read_text(encoding="utf-8"))
    missing = [link for link in links if not (page.parent / link).exists()]
    assert not missing
