"""What the page offers for copying makes the same list."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from pathlib import Path

import pytest
from browser.handling import list_names, set_to, until
from commands import environment, read_list

STATES = [
    {"rule": "mr", "threshold": 0.9, "prior": 0.2},
    {"rule": "cmnc", "n_selected": 7, "prior": 0.01},
    {"rule": "fdp", "proportion": 0.2, "confidence": 0.8, "ratio": 0.03},
]


def in_a_shell(command, folder):
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    run = subprocess.run(
        command, shell=True, cwd=folder, capture_output=True, text=True, check=False, env=environment(PATH=path)
    )
    assert run.returncode == 0, run.stderr


@pytest.mark.parametrize("state", STATES, ids=lambda state: state["rule"])
def test_the_command_makes_the_list(opened, made, state):
    study = made("command line")
    page = opened(study.path)
    set_to(page, state)
    names = list_names(page)
    assert 0 < len(names) < 300
    command = page.locator("#command-cli").inner_text()
    target = study.path.with_name(f"{state['rule']}.csv")
    in_a_shell(f"{command} --out {target.name}", study.path.parent)
    table = read_list(target)
    assert table.loc[table["selected"], "feature"].tolist() == names


@pytest.mark.parametrize("state", STATES, ids=lambda state: state["rule"])
def test_the_python_lines_make_the_list(opened, made, state):
    study = made("command line")
    page = opened(study.path)
    set_to(page, state)
    names = list_names(page)
    known = {}
    with contextlib.chdir(study.path.parent):
        exec(page.locator("#command-python").inner_text(), known)
    assert [name for name in study.ranking if name in set(known["selection"].names)] == names


@pytest.mark.parametrize("state", STATES, ids=lambda state: state["rule"])
def test_the_python_lines_of_a_report_from_memory_make_the_list(opened, made, state):
    study = made("two classes")
    page = opened(study.path)
    set_to(page, state)
    names = list_names(page)
    known = {"X": study.values, "y": study.labels}
    exec(page.locator("#command-python").inner_text(), known)
    assert [name for name in study.ranking if name in set(known["selection"].names)] == names


@pytest.mark.parametrize("which", ["command-cli", "command-python"])
def test_the_buttons_copy(opened, made, which):
    page = opened(made("command line").path)
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.locator(f"[data-copy={which}]").click()
    until(page, "() => document.getElementById('copy-message').textContent !== ''")
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied.strip() == page.locator(f"#{which}").inner_text().strip()
