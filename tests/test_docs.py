"""The pages say what happens: their Python and their commands run, and print what stands below them."""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import shutil
import subprocess
import sys
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import pytest

import bayesieve
from bayesieve.cli import main

ROOT = Path(__file__).resolve().parents[1]
HOW_TO = ROOT / "docs" / "how-to"
THEORY = ROOT / "docs" / "theory"
METHODS = ROOT / "docs" / "methods"
GUIDES, THEOREMS, RIVALS = (
    [page for page in sorted(room.glob("*.md")) if page.stem != "README"] for room in (HOW_TO, THEORY, METHODS)
)
PAGES = [ROOT / "README.md", *GUIDES, *THEOREMS, *RIVALS]
MAIN_COMMAND = "python -m pip install . && bayesieve demo"
TEST_COMMAND = 'python -m pip install ".[test]" && python -m pytest -n auto --dist worksteal'

_FENCED = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_EXPECTED = re.compile(r"`(\w+Warning)`\s+is\s+expected")
_WORD = re.compile(r"[^\s,│┆┌┐└┘├┤┬┴┼─═╞╡╪]+")
_DECIMAL = re.compile(r"(\W*)(\d+\.\d+(?:e[+-]?\d+)?)(\W*)")
_EXIT_CODE = re.compile(r"exits\s+with\s+code\s+(\d+)")
_COMMAND = re.compile(r"(bayesieve|cat|head|for) ")
_SHELL = re.compile(r"[|<>$&;*`]")  # for a shell to understand
_COMPILING = "bayesieve: compiling for this machine"  # said when it happens to be the first time


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
        warnings.filterwarnings("ignore", message="The .* option is deprecated")  # anndata with pandas 3
        if announced:
            with pytest.warns(getattr(bayesieve, announced[1])):
                exec(code, namespace)
        else:
            exec(code, namespace)
    return printed.getvalue()


def run_commands(block: Block, folder: Path) -> str:
    """Execute a block of commands and return all they say; they must succeed unless the text says otherwise."""
    lines = block.text.replace("\\\n", " ").splitlines()
    assert all(_COMMAND.match(line) for line in lines), lines
    announced = _EXIT_CODE.search(block.above)
    plain = all(line.startswith("bayesieve ") and not _SHELL.search(line) for line in lines)
    said, code = (run_here if plain else run_in_shell)(lines, folder)
    assert code == (int(announced[1]) if announced else 0), said
    return "".join(line for line in said.splitlines(True) if not line.startswith(_COMPILING))


def run_here(lines: list[str], folder: Path) -> tuple[str, int]:
    """Run commands inside this process, which saves starting one each; return what they say and the exit code."""
    code = 0
    with (folder / "said.txt").open("w+b") as file, pytest.MonkeyPatch.context() as patch:
        patch.setenv("COLUMNS", "80")
        patch.setenv("TERM", "dumb")
        patch.chdir(folder)
        for name in ("FORCE_COLOR", "NO_COLOR"):
            patch.delenv(name, raising=False)
        for line in lines:
            patch.setattr(sys, "argv", shlex.split(line))
            with both_streams(file, patch), warnings.catch_warnings():
                warnings.resetwarnings()
                warnings.filterwarnings("ignore", category=DeprecationWarning)  # as an executable has it
                try:
                    main()
                except SystemExit as ending:
                    code = int(ending.code or 0)
            if code:
                break
        file.seek(0)
        return file.read().decode("utf-8"), code


@contextlib.contextmanager
def both_streams(file: IO[bytes], patch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let standard output and error, also those of compiled code, go to one file in the order they are written."""
    kept = [os.dup(number) for number in (1, 2)]
    for number in (1, 2):
        os.dup2(file.fileno(), number)
    streams = [io.TextIOWrapper(io.FileIO(n, "w", closefd=False), "utf-8", write_through=True) for n in (1, 2)]
    for name, stream in zip(("stdout", "stderr"), streams, strict=True):
        patch.setattr(sys, name, stream)
    try:
        yield
    finally:
        for stream in streams:
            stream.close()
        for number, copy in zip((1, 2), kept, strict=True):
            os.dup2(copy, number)
            os.close(copy)


def run_in_shell(lines: list[str], folder: Path) -> tuple[str, int]:
    """Run commands that are piped or are not ours; return what they say and the exit code."""
    if shutil.which("bash") is None:
        pytest.skip("there is no bash to run the commands of the page")
    kept = {name: value for name, value in os.environ.items() if name not in ("FORCE_COLOR", "NO_COLOR")}
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    done = subprocess.run(
        ["bash", "-e", "-o", "pipefail", "-c", "exec 2>&1\n" + "\n".join(lines)],
        cwd=folder,
        env={**kept, "PATH": path, "COLUMNS": "80", "TERM": "dumb", "PYTHONIOENCODING": "utf-8"},
        capture_output=True,
        encoding="utf-8",
        timeout=300,
        check=False,
    )
    return done.stdout, done.returncode


def is_same_word(word: str, other: str) -> bool:
    """Whether two words are equal; numbers may differ in what rounding does to their last digits."""
    numbers = _DECIMAL.fullmatch(word), _DECIMAL.fullmatch(other)  # whole numbers must agree
    if word == other or numbers[0] is None or numbers[1] is None:
        return word == other
    around = [(number[1], number[3]) for number in numbers if number]
    return around[0] == around[1] and float(numbers[0][2]) == pytest.approx(float(numbers[1][2]), rel=1e-3)


def is_same_text(printed: str, shown: str) -> bool:
    words, expected = _WORD.findall(printed), _WORD.findall(shown)
    return len(words) == len(expected) and all(map(is_same_word, words, expected))


def assert_same_text(printed: str, shown: str) -> None:
    """Compare word by word; a line of three dots stands for any number of lines."""
    parts = re.split(r"^\.\.\.\n", shown, flags=re.MULTILINE)
    if len(parts) == 1:
        assert is_same_text(printed, shown), printed
        return
    lines, least = printed.splitlines(), 0
    for k, part in enumerate(parts):
        size = len(part.splitlines())
        last = len(lines) - size
        starts = range(least, last + 1) if 0 < k < len(parts) - 1 else [last if k else 0]
        found = [at for at in starts if at >= least and is_same_text("\n".join(lines[at : at + size]), part)]
        assert found, printed
        least = found[0] + size


@pytest.mark.shuffles
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_blocks_run_and_print_what_is_shown(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    namespace: dict[str, object] = {"__name__": "page"}
    blocks = [
        block for block in blocks_of(page.read_text(encoding="utf-8")) if block.language in ("python", "bash")
    ]
    assert any(block.language == "python" for block in blocks)
    for block in blocks:
        if block.language == "python":
            assert_same_text(run(block, page, namespace), block.output or "")
        elif block.text.strip() not in (MAIN_COMMAND, TEST_COMMAND):
            printed = run_commands(block, tmp_path)
            if block.output is not None:
                assert_same_text(printed, block.output)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_commands_run_in_every_shell(page):
    """Also in PowerShell and in cmd: one line each, no pipes, no tools of one system, double quotes only."""
    blocks = [block for block in blocks_of(page.read_text(encoding="utf-8")) if block.language == "bash"]
    lines = [line for block in blocks for line in block.text.splitlines()]
    if page.stem == "slurm":  # runs on Linux alone
        return
    odd = [
        line
        for line in lines
        if not re.fullmatch(r"(bayesieve|python -m) [^|<>$`'\\]*( && bayesieve \w+)?", _quoted(line))
    ]
    assert not odd


def _quoted(line: str) -> str:
    """A line without what stands in double quotes, where a shell sees nothing of its own."""
    return re.sub(r'"[^"$`\\]*"', "", line)


def test_an_announced_warning_must_come_and_others_must_not(tmp_path):
    quiet = "A `PriorWarning` is expected.\n\n```python\npass\n```\n"
    loud = "Text.\n\n```python\nimport warnings\nwarnings.warn('surprise', UserWarning)\n```\n"
    with pytest.raises(pytest.fail.Exception, match="DID NOT WARN"):
        run(blocks_of(quiet)[0], tmp_path, {})
    with pytest.raises(UserWarning, match="surprise"):
        run(blocks_of(loud)[0], tmp_path, {})


def test_output_that_differs_is_noticed():
    assert_same_text("│ 1.00000001 │", "1.0")
    assert_same_text("1,gene7,23.59681,(-0.25001).", "1,gene7,23.59680,(-0.25).")
    for printed, shown in [
        ("3000 selected", "3001 selected"),
        ("0.17", "0.18"),
        ("+1.5", "-1.5"),
        ("1.5 of", "1.5"),
        ("version 1.2.3", "version 1.2.4"),
    ]:
        with pytest.raises(AssertionError):
            assert_same_text(printed, shown)


def test_three_dots_stand_for_lines_left_out():
    printed = "one 1.00001\ntwo\nthree\nfour\nfive\n"
    for shown in (
        "one 1.0\n...\nfive\n",
        "...\nthree\n...\n",
        "one 1.0\ntwo\n...\n",
        "...\n",
        "...\nfour\nfive\n",
    ):
        assert_same_text(printed, shown)
    for shown in ("two\n...\n", "...\nfour\n", "...\nthree\n...\ntwo\n...\n", "one 1.0\n...\none 1.0\n"):
        with pytest.raises(AssertionError):
            assert_same_text(printed, shown)


@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash")
def test_a_command_must_succeed_unless_its_failure_is_announced(tmp_path):
    failing = "```bash\nbayesieve screen nothing.csv | cat\n```\n"
    with pytest.raises(AssertionError, match=r"There is no file nothing\.csv"):
        run_commands(blocks_of(failing)[0], tmp_path)
    announced = "This exits\nwith code 2:\n\n" + failing
    assert "There is no file nothing.csv" in run_commands(blocks_of(announced)[0], tmp_path)
    with pytest.raises(AssertionError):
        run_commands(blocks_of("This exits with code 2:\n\n```bash\ncat /dev/null\n```\n")[0], tmp_path)
    with pytest.raises(AssertionError, match="rm"):
        run_commands(blocks_of("```bash\nrm nothing.csv\n```\n")[0], tmp_path)


@pytest.mark.parametrize("pages", [GUIDES, THEOREMS], ids=["how-to", "theory"])
def test_every_page_is_in_the_index_of_its_folder(pages):
    index = (pages[0].parent / "README.md").read_text(encoding="utf-8")
    assert [page.name for page in pages if f"]({page.name})" not in index] == []


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
