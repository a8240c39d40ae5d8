"""The report's scripts under Node, without a browser, against what the Python rules say."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from scripts import make_fixtures

HERE = Path(__file__).parent


@pytest.fixture(scope="module")
def node() -> str:
    found = shutil.which("node")
    if found is None:
        pytest.skip("there is no node on the path")
    return found


@pytest.fixture(scope="module")
def fixtures(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("fixtures")
    make_fixtures.write(folder)
    return folder


def run(node: str, folder: Path, *files: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "BAYESIEVE_FIXTURES": str(folder)}
    words = [node, "--test", "--test-reporter=tap", *files]
    return subprocess.run(words, cwd=HERE, env=environment, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("name", sorted(path.name for path in HERE.glob("*.test.mjs")))
def test_scripts(node, fixtures, name):
    done = run(node, fixtures, name)
    assert done.returncode == 0, done.stdout + done.stderr
    passed = re.search(r"^# pass (\d+)$", done.stdout, re.MULTILINE)
    assert passed is not None
    assert int(passed[1]) == len(re.findall(r"^ok ", done.stdout, re.MULTILINE)) > 3


def test_a_wrong_number_fails(node, fixtures, tmp_path):
    for path in fixtures.iterdir():
        shutil.copy(path, tmp_path)
    text = (tmp_path / "studies.json").read_text(encoding="utf-8")
    known = re.search(r'"known": ?\{"n_selected": ?(?=\d)', text)
    assert known is not None
    wrong = f"{text[: known.end()]}9{text[known.end() :]}"
    (tmp_path / "studies.json").write_text(wrong, encoding="utf-8")
    done = run(node, tmp_path, "rules.test.mjs")
    assert done.returncode != 0
    assert re.search(r"size", done.stdout)
