"""The command ``bayesieve`` for tests: inside this process, or as the real executable."""

from __future__ import annotations

import math
import os
import shutil
import subprocess
import sys
import warnings
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from bayesieve.cli import main


class Outcome(NamedTuple):
    """What a command did; ``code`` is its exit code."""

    code: int
    out: str
    err: str

    @property
    def said(self):
        """What it said on standard error, lines put together."""
        return " ".join(self.err.split())

    @property
    def messages(self):
        """Lines on standard error that are no warnings."""
        return [line for line in self.err.splitlines() if not line.startswith("bayesieve: warning: ")]


def read_exactly(source, **options):
    """Read a table with pandas so that every float is the nearest; some versions find the wish old-fashioned."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return pd.read_csv(source, float_precision="round_trip", **options)


def inside(capfd, monkeypatch, *arguments):
    """Run ``bayesieve.cli.main`` here; what it changes in the process is put back."""
    monkeypatch.setattr(sys, "argv", ["bayesieve", *map(str, arguments)])
    capfd.readouterr()
    with warnings.catch_warnings():
        try:
            main()
            code = 0
        except SystemExit as error:
            code = error.code or 0
    captured = capfd.readouterr()
    return Outcome(code, captured.out, _without_compiling(captured.err))


def _without_compiling(text):
    """Leave out the line that appears once after every change of the sources."""
    return "".join(line for line in text.splitlines(keepends=True) if "compiling for this machine" not in line)


def executable():
    beside = shutil.which("bayesieve", path=str(Path(sys.executable).parent))
    found = beside or shutil.which("bayesieve")
    assert found is not None, "the command is not installed: pip install -e ."
    return found


def environment(**more):
    """Variables of a plain terminal of 80 columns."""
    kept = {key: value for key, value in os.environ.items() if key not in ("FORCE_COLOR", "NO_COLOR")}
    return {**kept, "COLUMNS": "80", "PYTHONIOENCODING": "utf-8", "TERM": "dumb", **more}


def outside(*arguments, folder=None, **more):
    """Run the real command as a user runs it."""
    result = subprocess.run(
        [executable(), *map(str, arguments)],
        capture_output=True,
        timeout=120,
        check=False,
        cwd=folder,
        env=environment(**more),
    )
    return Outcome(result.returncode, result.stdout.decode(), _without_compiling(result.stderr.decode()))


def numbers(n_samples=12, n_features=5, seed=0):
    """Draw values, of which the first feature differs between the halves, rounded as tables have them."""
    rng = np.random.default_rng(seed)
    values = rng.normal(10.0, 1.0, size=(n_samples, n_features)).round(4)
    values[n_samples // 2 :, 0] += 6.0
    return values


def sample_names(n_samples):
    return [f"s{i}" for i in range(n_samples)]


def gene_names(n_features):
    return [f"g{j}" for j in range(n_features)]


def halves(n_samples):
    """Label the first half ``a`` and the second ``b``."""
    return ["a"] * (n_samples // 2) + ["b"] * (n_samples - n_samples // 2)


def in_rows(values, labels=None, delimiter=",", samples=None):
    """Write a table with samples in rows: id, stage (unless there are no labels), values."""
    samples = samples or sample_names(len(values))
    heads = ["id", *(["stage"] if labels is not None else []), *gene_names(values.shape[1])]
    lines = [delimiter.join(heads)]
    for i, row in enumerate(values.tolist()):
        cells = [samples[i], *([labels[i]] if labels is not None else []), *map(repr, row)]
        lines.append(delimiter.join("" if cell == "nan" else cell for cell in cells))
    return "\n".join(lines) + "\n"


def in_columns(values, delimiter="\t", samples=None):
    """Write the same table with samples in columns."""
    lines = [delimiter.join(["gene", *(samples or sample_names(len(values)))])]
    for name, row in zip(gene_names(values.shape[1]), values.T.tolist(), strict=True):
        lines.append(delimiter.join([name, *("" if math.isnan(value) else repr(value) for value in row)]))
    return "\n".join(lines) + "\n"


def label_file(labels, samples=None, delimiter=","):
    """Write a label file with the columns id and stage."""
    pairs = zip(samples or sample_names(len(labels)), labels, strict=True)
    return "".join(f"{delimiter.join(pair)}\n" for pair in [("id", "stage"), *pairs])


def read_list(source):
    """Read a result table with pandas, every float as it was written."""
    return read_exactly(source)


def check_list(found, posterior):
    """Compare a result table with a posterior of the library: order, log-odds, probabilities."""
    order = posterior.ranking
    assert found["feature"].tolist() == [posterior.names[i] for i in order]
    assert found["rank"].tolist() == list(range(1, order.size + 1))
    np.testing.assert_allclose(found["log_odds"], posterior.log_odds[order], rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(found["probability"], posterior.probability[order], rtol=1e-10)
