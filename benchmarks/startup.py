"""How long until the first result: import, help, first screen with and without cached kernels.

Run: python benchmarks/startup.py
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

DATA_ONLY = "import numpy as np; X = np.random.default_rng(0).normal(size=(200, 20000))"
FIRST = (
    DATA_ONLY
    + "; import bayesieve as bs; bs.screen(X, [0, 1] * 100, model=bs.GaussianModel.jeffreys(), shuffles=0)"
)


def median(command: list[str], rounds: int = 10, **environment: str) -> float:
    """Return the median time of a new process, with byte code on disk as after an installation."""
    shared = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        subprocess.run(command, check=True, capture_output=True, env={**shared, **environment})
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def small_table(folder: Path) -> Path:
    """Write 60 samples of 200 features."""
    values = np.random.default_rng(0).normal(size=(60, 200)).round(3)
    lines = [",".join(["id", "y", *(f"g{j}" for j in range(200))])]
    lines += [",".join([f"s{i}", "ab"[i % 2], *map(str, row)]) for i, row in enumerate(values.tolist())]
    path = folder / "small.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


def main() -> None:
    python = sys.executable
    bare = median([python, "-c", "pass"])
    show = "{:58} {:5.2f} s (bar {})"
    print(show.format("import bayesieve", median([python, "-c", "import bayesieve"]) - bare, "0.1"))
    print(show.format("bayesieve --help", median([str(Path(python).parent / "bayesieve"), "--help"]), "0.3"))
    data = median([python, "-c", DATA_ONLY])
    median([python, "-c", FIRST], 1)
    cached = median([python, "-c", FIRST])
    print(show.format("new process to first screen, cached kernels", cached - data + bare, "1"))
    with tempfile.TemporaryDirectory() as folder:
        table = small_table(Path(folder))
        command = [str(Path(python).parent / "bayesieve"), "screen", str(table), "--labels", "y", "-q"]
        median(command, 1)
        print(show.format("bayesieve screen of a small table, cached kernels", median(command), "0.8"))
        cold = median([python, "-c", FIRST], 1, NUMBA_CACHE_DIR=folder)
    print(show.format("the very first use, compiling", cold - data + bare, "5"))


if __name__ == "__main__":
    main()
