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


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of the kernel's own parts
def test_every_figure_shows_ours_and_the_users(monkeypatch, tmp_path):
    source = Path(bs.__file__).parents[1]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(source), os.environ.get("PYTHONPATH", "")]))
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    texts = (
        f"{_SCREEN}figures.effect_map(posterior);",
        "figures.log_odds_by_rank(posterior);",
        "with figures.journal_style():\n    pass",
        "import matplotlib.pyplot as plt\nplt.plot([1, 2]);",
    )
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(text) for text in texts])
    NotebookClient(
        notebook, timeout=120, kernel_name="python3", resources={"metadata": {"path": tmp_path}}
    ).execute()
    shown = [[each.data for each in cell.outputs if "data" in each] for cell in notebook.cells]
    assert [["image/png" in data for data in cell] for cell in shown] == [[True], [True], [], [True]]
