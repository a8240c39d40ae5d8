"""How long until the first result: import, help, first screen with and without cached kernels.

Run: python benchmarks/startup.py
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

DATA_ONLY = "import numpy as np; X = np.random.default_rng(0).normal(size=(200, 20000))"
FIRST = DATA_ONLY + "; import bayesieve as bs; bs.screen(X, [0, 1] * 100)"


def best(command: list[str], rounds: int = 5, **environment: str) -> float:
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        subprocess.run(command, check=True, capture_output=True, env={**os.environ, **environment})
        times.append(time.perf_counter() - start)
    return min(times)


def main() -> None:
    python = sys.executable
    bare = best([python, "-c", "pass"])
    show = "{:58} {:5.2f} s (bar {})"
    print(show.format("import bayesieve", best([python, "-c", "import bayesieve"]) - bare, "0.1"))
    print(show.format("bayesieve --help", best([str(Path(python).parent / "bayesieve"), "--help"]), "0.3"))
    data = best([python, "-c", DATA_ONLY])
    best([python, "-c", FIRST], 1)
    cached = best([python, "-c", FIRST])
    print(show.format("new process to first screen, cached kernels", cached - data + bare, "1"))
    with tempfile.TemporaryDirectory() as folder:
        cold = best([python, "-c", FIRST], 1, NUMBA_CACHE_DIR=folder)
    print(show.format("the very first use, compiling", cold - data + bare, "5"))


if __name__ == "__main__":
    main()
