"""What is said of classes of one sample, of a prior at another level, of installing, and of compiling."""

from __future__ import annotations

import importlib.metadata
import json
import os
import subprocess
import sys

import numpy as np
import pytest
from commands import in_rows, inside, numbers

import bayesieve as bs
from bayesieve.utils import install_command
from bayesieve.utils.installation import _requirement


@pytest.fixture
def run(tmp_path, capfd, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return lambda *words: inside(capfd, monkeypatch, *words, "--shuffles", "0")


THREE = ["ctl"] * 6 + ["mild"] * 5 + ["severe"]


def test_a_class_of_one_sample_is_an_error_where_the_prior_needs_two(run, tmp_path):
    (tmp_path / "t.csv").write_text(in_rows(numbers(12, 5), THREE))
    result = run("screen", "t.csv", "-l", "stage", "--prior", "jeffreys")
    assert result.code == 2
    assert "class 'severe' has one sample, and one sample shows no spread to compare" in result.said
    assert 'Leave it out: --classes "ctl; mild"' in result.said
    assert 'merge it with another: --classes "ctl; mild+severe=mild,severe".' in result.said
    for classes in ("ctl; mild", "ctl; mild+severe=mild,severe"):  # what it says can be typed
        assert run("screen", "t.csv", "-l", "stage", "--prior", "jeffreys", "--classes", classes).code == 0


def test_a_class_of_one_sample_is_warned_about_otherwise(run, tmp_path):
    (tmp_path / "t.csv").write_text(in_rows(numbers(12, 5), THREE))
    result = run("screen", "t.csv", "-l", "stage", "--classes", "low=ctl; mid=mild; high=severe")
    assert result.code == 0
    assert "warning: t.csv: class 'high' has one sample" in result.said
    assert '--classes "low=ctl; mid=mild"' in result.said
    assert '--classes "low=ctl; mid+high=mild,severe"' in result.said


def test_a_proper_prior_is_held_against_the_level_of_the_data():
    X = np.random.default_rng(0).normal(size=(40, 50))
    y = ["a", "b"] * 20
    model = bs.GaussianModel.proper()
    bs.screen(X, y, model=model, shuffles=0)
    with pytest.warns(
        bs.PriorWarning, match=r"median mean of the features is 9.98.*expects 0 within about 2.2.*mean_location"
    ):
        bs.screen(X + 10, y, model=model, shuffles=0)
    there = bs.GaussianModel.proper(mean_locations=(10.0, 10.2), pooled_location=10.0)
    bs.screen(X + 10, y, model=there, shuffles=0)


ORIGINS = {
    "index": ({}, '"bayesieve[x]"'),
    "folder": ({"url": "file:///home/me/my%20code", "dir_info": {}}, '"/home/me/my code[x]"'),
    "editable": ({"url": "file:///src/b", "dir_info": {"editable": True}}, '-e "/src/b[x]"'),
    "repository": (
        {"url": "https://example.org/b.git", "vcs_info": {"vcs": "git", "commit_id": "abc"}},
        '"bayesieve[x] @ git+https://example.org/b.git@abc"',
    ),
    "archive": (
        {"url": "https://example.org/b.whl", "archive_info": {}},
        '"bayesieve[x] @ https://example.org/b.whl"',
    ),
}


@pytest.mark.skipif(os.name == "nt", reason="paths of POSIX")
@pytest.mark.parametrize("origin", ORIGINS)
def test_install_advice_fits_where_it_was_installed_from(origin, monkeypatch):
    noted, wanted = ORIGINS[origin]
    assert _requirement(noted, "[x]") == wanted

    class Distribution:
        def read_text(self, name):
            assert name == "direct_url.json"
            return json.dumps(noted) if noted else None

    monkeypatch.setattr(importlib.metadata, "distribution", lambda _: Distribution())
    assert install_command("x") == f"python -m pip install {wanted}"


def test_compiling_is_said_once_in_an_installation(tmp_path):
    """Also where the second process compiles other kernels."""
    first = "from bayesieve.io.text.fields import product; import numpy as np; product(np.uint64(3), np.uint64(4))"
    second = "from bayesieve.io.text.fields import scaled; import numpy as np; scaled(np.uint64(3), 2)"
    said = [
        subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True,
            env={**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)},
        ).stderr.count("compiling for this machine")
        for code in (first, second, first)
    ]  # fmt: skip
    assert said == [1, 0, 0]
