"""A few mutated inputs for every reader and store; ``python tests/fuzz/run.py`` makes as many as one likes."""

from __future__ import annotations

import signal

import pytest
from fuzz import binary_targets, mutations, run, targets
from fuzz.binary_targets import TARGETS
from fuzz.run import Fuzzer

pytestmark = pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="time is limited by a signal")


@pytest.fixture(autouse=True)
def guarded(monkeypatch):
    monkeypatch.setattr(binary_targets, "GUARDED", True)


@pytest.mark.parametrize("name", list(TARGETS))
def test_mutated_files_end_in_a_sentence(name, tmp_path):
    fuzzer = Fuzzer(name, tmp_path)
    fuzzer.try_valid()
    found = {number: fuzzer.execute(number) for number in range(TARGETS[name].in_ci)}
    assert {number: wrong for number, wrong in found.items() if wrong} == {}


class _Reader:
    """A reader with every mistake that the fuzzer has to find."""

    def __init__(self, wrong):
        self.wrong = wrong

    def __call__(self, folder, names):
        if (folder / names[0]).read_bytes() != b"valid":
            self.wrong()


def _hang():
    while True:
        pass


def _raise():
    raise KeyError("x")


@pytest.mark.parametrize(("wrong", "said"), [(_hang, "hang"), (_raise, "traceback: KeyError")])
def test_the_fuzzer_finds_what_it_looks_for(wrong, said, tmp_path, monkeypatch):
    monkeypatch.setattr(run, "SECONDS", 0.2)
    target = targets.Target(lambda: [{"f": b"valid"}], _Reader(wrong), targets.by(mutations.of_bytes), 1, 1)
    monkeypatch.setitem(TARGETS, "wrong", target)
    fuzzer = Fuzzer("wrong", tmp_path)
    fuzzer.try_valid()
    assert str(next(filter(None, map(fuzzer.execute, range(9))))).startswith(said)
