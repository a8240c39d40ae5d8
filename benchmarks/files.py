"""From a file to a ranked table: whole processes, against bare reading and against what people script today.

Run with ``python benchmarks/files.py`` (about two minutes), or with ``--large`` for the memory of a 2 GB
table read with ``--memory 300MB``. Times are the best of several runs, by the clock and of the processors (all
threads of the process together); compare them within one run only, and on a busy machine those of the processors.
Our screen shuffles labels; "no shuffles" is what it takes without, as the others do.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

FEATURES, SAMPLES = 54_675, 238
BAYESIEVE = shutil.which("bayesieve", path=str(Path(sys.executable).parent)) or "bayesieve"

PANDAS = """
import sys, numpy as np, pandas as pd
from scipy.stats import ttest_ind
table, labels, out, wide = sys.argv[1:]
if wide == "wide":
    X = pd.read_csv(table, index_col=0)
    y = X.pop("stage")
else:
    X = pd.read_csv(table, index_col=0).T
    y = pd.read_csv(labels, index_col=0)["stage"].reindex(X.index)
a, b = X[(y == "early").to_numpy()], X[(y == "late").to_numpy()]
test = ttest_ind(a.to_numpy(), b.to_numpy(), equal_var=False)
result = pd.DataFrame({"feature": X.columns, "t": test.statistic, "p": test.pvalue, "n_early": len(a),
    "mean_early": a.mean().to_numpy(), "sd_early": a.std().to_numpy(), "n_late": len(b),
    "mean_late": b.mean().to_numpy(), "sd_late": b.std().to_numpy()})
result.sort_values("p").to_csv(out, index=False)
"""

LIMMA = """
args <- commandArgs(TRUE)
library(limma)
x <- as.matrix(read.csv(args[1], row.names = 1, check.names = FALSE))
y <- read.csv(args[2], row.names = 1)[colnames(x), "stage"]
fit <- eBayes(lmFit(x, model.matrix(~ y)))
write.csv(topTable(fit, coef = 2, number = Inf), args[3])
"""


def make(folder: Path) -> None:
    """Write the same data tall, wide, and their labels."""
    rng = np.random.default_rng(0)
    text = np.char.mod("%.4f", rng.normal(8, 2, size=(FEATURES, SAMPLES)))
    samples = [f"GSM{437000 + i}" for i in range(SAMPLES)]
    stage = ["late" if i % 3 == 0 else "early" for i in range(SAMPLES)]
    probes = [f"{i}_at" for i in range(FEATURES)]
    with (folder / "tall.csv").open("w") as file:
        file.write(",".join(["ID_REF", *samples]) + "\n")
        file.writelines(",".join([name, *row]) + "\n" for name, row in zip(probes, text.tolist(), strict=True))
    with (folder / "wide.csv").open("w") as file:
        file.write(",".join(["sample", "stage", *probes]) + "\n")
        for name, label, row in zip(samples, stage, text.T.tolist(), strict=True):
            file.write(",".join([name, label, *row]) + "\n")
    rows = (f"{name},{label}\n" for name, label in zip(samples, stage, strict=True))
    (folder / "pheno.csv").write_text("sample,stage\n" + "".join(rows))


def run(command: list[str]) -> tuple[float, float]:
    """Seconds of one process: by the clock, and of the processors."""
    start, before = time.perf_counter(), os.times()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    after = os.times()
    used = after.children_user - before.children_user + after.children_system - before.children_system
    return time.perf_counter() - start, used


def contenders(folder: Path, kind: str) -> dict[str, list[str]]:
    table, labels = str(folder / f"{kind}.csv"), str(folder / "pheno.csv")
    where = f"{labels}:stage" if kind == "tall" else "stage"
    out = str(folder / "out.csv")
    found = {
        "polars.read_csv alone": [sys.executable, "-c", f"import polars; polars.read_csv({table!r})"],
        "bayesieve screen": [BAYESIEVE, "screen", table, "--labels", where, "--out", out],
        "the same, no shuffles": [BAYESIEVE, "screen", table, "--labels", where, "--out", out, "--shuffles", "0"],
        "pandas + scipy Welch": [sys.executable, "-c", PANDAS, table, labels, out, kind],
    }
    if kind == "tall" and shutil.which("Rscript"):
        script = folder / "limma.R"
        script.write_text(LIMMA)
        found["Rscript with limma"] = ["Rscript", str(script), table, labels, out]
    return found


def speed(repeats: int) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        make(folder)
        for kind in ("tall", "wide"):
            size = (folder / f"{kind}.csv").stat().st_size / 1e6
            shape = f"{FEATURES:,} x {SAMPLES}" if kind == "tall" else f"{SAMPLES} x {FEATURES:,}"
            print(f"\n{kind}: {shape}, {size:.0f} MB, whole process, best of {repeats} (range)")
            commands = contenders(folder, kind)
            times: dict[str, list[tuple[float, float]]] = {what: [] for what in commands}
            run(commands["bayesieve screen"])  # compiles
            for _ in range(repeats):  # taken in turn, so that noise meets all
                for what, command in commands.items():
                    times[what].append(run(command))
            best = {what: np.min(seen, axis=0) for what, seen in times.items()}
            for what, seen in times.items():
                clock = [each for each, _ in seen]
                print(f"  {what:24s} {best[what][0]:6.2f} s  ({min(clock):.2f}-{max(clock):.2f}), processors "
                      f"{best[what][1]:6.2f} s")  # fmt: skip
            ours, bare = best["bayesieve screen"], best["polars.read_csv alone"]
            if kind == "tall":
                print(f"  beyond the bare read: {ours[0] - bare[0]:+.2f} s (bar: +0.70)")
            else:
                print(f"  share of the bare read: {ours[0] / bare[0]:.2f} (bar: 0.60)")
            for what, bar in (("pandas + scipy Welch", 2), ("Rscript with limma", 10)):
                for mine in ("bayesieve screen", "the same, no shuffles") if what in best else ():
                    clock, used = best[what] / best[mine]
                    print(f"  {what} over {mine}: {clock:.1f} times, processors {used:.1f} (bar: {bar})")


def memory() -> None:
    """Peak resident memory of a 2 GB table with ``--memory 300MB``."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        rng = np.random.default_rng(0)
        for kind, columns in (("tall", SAMPLES), ("wide", FEATURES)):
            drawn = np.char.mod("%.4f", rng.normal(8, 2, (50, columns))).tolist()
            lines = [",".join(row) for row in drawn]
            table = folder / f"{kind}.csv"
            n_rows = 2_000_000_000 // (len(lines[0]) + 12)
            with table.open("w") as file:
                file.write(",".join(["id", *(f"c{j}" for j in range(columns))]) + "\n")
                file.writelines(f"r{i},{lines[i % 50]}\n" for i in range(n_rows))
            ids = [f"c{j}" for j in range(columns)] if kind == "tall" else [f"r{i}" for i in range(n_rows)]
            labels = "".join(f"{name},{'ab'[i % 2]}\n" for i, name in enumerate(ids))
            (folder / "labels.csv").write_text("id,class\n" + labels)
            command = [
                BAYESIEVE, "screen", str(table), "--labels", f"{folder / 'labels.csv'}:class", "--memory", "300MB",
                "--out", str(folder / "out.csv"), "--quiet",
            ]  # fmt: skip
            start = time.perf_counter()
            process = subprocess.Popen(command)
            _, status, usage = os.wait4(process.pid, 0)
            size = table.stat().st_size / 1e9
            print(
                f"{kind}: {size:.2f} GB, {n_rows:,} rows, exit {status}: "
                f"{time.perf_counter() - start:.1f} s, peak {usage.ru_maxrss / 1024:.0f} MB (bar: 500)"
            )
            table.unlink()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--large", action="store_true", help="measure memory with 2 GB tables")
    arguments = parser.parse_args()
    memory() if arguments.large else speed(arguments.repeats)
