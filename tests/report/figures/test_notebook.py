"""Figures in a notebook, run by a kernel of its own."""

from __future__ import annotations

import os
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

import bayesieve as bs

_SCREEN = """
import numpy as np
import bayesieve as bs
from bayesieve.report import figures
values = np.random.default_rng(0).normal(size=(40, 50))
posterior = bs.screen(values, ["a"] * 20 + ["b"] * 20, shuffles=0)
"""


pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of the kernel's own parts
NOTEBOOKS = sorted((Path(__file__).parents[3] / "docs" / "notebooks").glob("*.ipynb"))


@pytest.fixture
def execute(monkeypatch, tmp_path):
    """Run a notebook in a kernel of its own and in a folder of its own."""
    source = Path(bs.__file__).parents[1]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(source), os.environ.get("PYTHONPATH", "")]))
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))

    def run(notebook):
        where = {"metadata": {"path": tmp_path}}
        NotebookClient(notebook, timeout=300, kernel_name="python3", resources=where).execute()
        return notebook

    return run


def texts_of(notebook):
    """What every cell says in words."""
    outputs = [cell.get("outputs", []) for cell in notebook.cells]
    return [[each.get("text") or each.get("data", {}).get("text/plain") for each in cell] for cell in outputs]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=[path.stem for path in NOTEBOOKS])
def test_notebooks_of_the_documentation_run_and_say_what_they_show(path, execute):
    shown = nbformat.read(path, as_version=4)
    assert len(shown.cells) > 5
    again = execute(nbformat.read(path, as_version=4))
    assert texts_of(again) == texts_of(shown)


def test_every_figure_shows_ours_and_the_users(execute):
    texts = (
        f"{_SCREEN}figures.effect_map(posterior);",
        "figures.log_odds_by_rank(posterior);",
        "with figures.journal_style():\n    pass",
        "import matplotlib.pyplot as plt\nplt.plot([1, 2]);",
    )
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(text) for text in texts])
    execute(notebook)
    shown = [[each.data for each in cell.outputs if "data" in each] for cell in notebook.cells]
    assert [["image/png" in data for data in cell] for cell in shown] == [[True], [True], [], [True]]
