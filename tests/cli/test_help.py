"""The help of every command, in a terminal of 80 columns."""

from __future__ import annotations

import re

import pytest
from commands import inside
from typer.main import get_command

from bayesieve.cli.app import app

COMMANDS = sorted(get_command(app).commands)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_option_is_shown_whole(command, capfd, monkeypatch):
    for name, value in {"COLUMNS": "80", "TERM": "dumb", "TERMINAL_WIDTH": "80"}.items():
        monkeypatch.setenv(name, value)
    shown = inside(capfd, monkeypatch, command, "--help").out
    assert max(map(len, shown.splitlines())) <= 80
    assert "<bool>" not in shown
    assert "<int range>" not in shown
    assert "list[" not in shown
    assert "…" not in shown
    for param in get_command(app).commands[command].params:
        for spelling in param.opts:
            if spelling.startswith("-"):
                assert re.search(rf"(?<![\w-]){spelling}(?![\w-])", shown), spelling


def test_the_first_page(capfd, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    shown = inside(capfd, monkeypatch, "--help").out
    assert "<bool>" not in shown
    assert all(command in shown for command in COMMANDS)


def test_words_that_an_option_takes_are_in_its_help(capfd, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    shown = " ".join(inside(capfd, monkeypatch, "screen", "--help").out.replace("│", " ").split())
    assert "log2, log1p, logit, clr or clr:0.5, vst or vst:0.05, rank-normal" in shown
    assert "gaussian, categorical, poisson, negative-binomial" in shown
