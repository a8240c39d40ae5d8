"""Results of limma, DESeq2 and scanpy on made data, stored for the page of frequent questions.

    python docs/experiments/differences.py --scanpy PYTHON [--rscript Rscript]

PYTHON is an interpreter that has scanpy; Rscript needs limma and DESeq2. The data are made by the functions here,
and the page makes them by the same. Written are tables in ``docs/experiments/differences/``; their first
lines say what made them.
"""

from __future__ import annotations

import argparse
import subprocess
import tempfile
from pathlib import Path

import numpy as np

HERE = Path(__file__).parent
STORED = HERE / "differences"
SEED = 7


def arrays() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Make 12 + 12 samples of 1,000 features: 30 differ in mean, 30 in variance; return also which (1 and 2)."""
    rng = np.random.default_rng(SEED)
    spread = np.sqrt(4.0 / rng.chisquare(8.0, 1000) * 2.0)
    values = spread * rng.normal(size=(24, 1000))
    values[12:, :30] += 1.8 * spread[:30] * rng.choice([-1.0, 1.0], 30)
    values[12:, 30:60] *= 4.0
    truth = np.repeat([1, 2, 0], [30, 30, 940])
    return values, np.repeat(["control", "case"], 12), truth


def reads() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Make counts of 4 + 4 samples and 1,000 genes, of which 80 change about threefold."""
    rng = np.random.default_rng(SEED + 1)
    rate = np.tile(rng.lognormal(4.0, 1.3, 1000), (8, 1))
    rate[4:, :80] *= 2.0 ** (rng.choice([-1.0, 1.0], 80) * rng.normal(1.6, 0.3, 80))
    rate *= rng.uniform(0.6, 1.6, (8, 1))
    dispersion = 0.05 + 1.0 / rng.lognormal(4.0, 1.0, 1000)
    counts = rng.poisson(rate * rng.gamma(1.0 / dispersion, dispersion, rate.shape))
    return counts, np.repeat(["control", "case"], 4), np.repeat([1, 0], [80, 920])


def cells() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Make logarithms of counts of 960 cells of 8 donors, four of them sick; no gene responds to that."""
    rng = np.random.default_rng(SEED + 2)
    donor = np.repeat(np.arange(8), 120)
    rate = rng.gamma(2.0, 1.0, 1000) * np.exp(rng.normal(scale=0.3, size=(8, 1000)))
    counts = rng.poisson(rate[donor] * rng.gamma(5.0, 0.2, (960, 1)))
    return np.log1p(counts), np.where(donor < 4, "well", "sick"), donor


IN_R = """
arguments <- commandArgs(trailingOnly = TRUE)
table <- function(name) as.matrix(read.csv(file.path(arguments[1], name), header = FALSE))
group <- function(n) factor(rep(c("control", "case"), each = n), levels = c("control", "case"))
write <- function(found, name) write.csv(found, file.path(arguments[1], name), row.names = FALSE)
suppressMessages({library(limma); library(DESeq2)})
fit <- eBayes(lmFit(t(table("arrays.csv")), model.matrix(~ group(12))))
write(data.frame(statistic = fit$t[, 2], p_value = fit$p.value[, 2]), "limma.csv")
counts <- t(table("reads.csv")); mode(counts) <- "integer"; colnames(counts) <- paste0("s", 1:8)
dds <- DESeqDataSetFromMatrix(counts, data.frame(group = group(4)), ~ group)
found <- results(DESeq(dds, quiet = TRUE), alpha = 0.1)
write(data.frame(statistic = found$stat, p_value = found$pvalue, adjusted = found$padj), "deseq2.csv")
cat(sprintf("R %s, limma %s, DESeq2 %s", getRversion(), packageVersion("limma"), packageVersion("DESeq2")))
"""

IN_SCANPY = """
import sys
import anndata as ad, numpy as np, pandas as pd, scanpy as sc
folder = sys.argv[1]
values, group = np.load(folder + "/cells.npy"), np.load(folder + "/group.npy")
obs = pd.DataFrame({"group": pd.Categorical(group)}, index=[f"c{i}" for i in range(len(group))])
adata = ad.AnnData(values, obs=obs)
adata.uns["log1p"] = {"base": None}
found = pd.DataFrame(index=adata.var_names)
for method in ("t-test", "wilcoxon"):
    sc.tl.rank_genes_groups(adata, "group", groups=["sick"], reference="well", method=method)
    table = sc.get.rank_genes_groups_df(adata, "sick").set_index("names").reindex(adata.var_names)
    found[method] = table["pvals_adj"]
found["log_fold_change"] = table["logfoldchanges"]
found.to_csv(folder + "/scanpy.csv", index=False)
print(f"scanpy {sc.__version__}", end="")
"""


def stored(name: str) -> tuple[dict[str, np.ndarray], str]:
    """Return the columns of a stored table, and the line that says what made it."""
    said, header, *rows = (STORED / f"{name}.csv").read_text(encoding="utf-8").splitlines()
    values = np.array([[float(cell) if cell != "NA" else np.nan for cell in row.split(",")] for row in rows])
    return dict(zip(header.split(","), values.T, strict=True)), said.removeprefix("# ")


def store(folder: Path, name: str, said: str) -> None:
    """Keep a table of five digits, with what made it above."""
    header, *rows = (folder / f"{name}.csv").read_text(encoding="utf-8").replace('"', "").splitlines()
    lines = [",".join(f"{float(c):.5g}" if c not in ("NA", "") else "NA" for c in row.split(",")) for row in rows]
    text = "\n".join([f"# {said}; NumPy {np.__version__}, seed {SEED}; differences.py", header, *lines, ""])
    (STORED / f"{name}.csv").write_text(text, encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scanpy", required=True)
    parser.add_argument("--rscript", default="Rscript")
    chosen = parser.parse_args()
    STORED.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        np.savetxt(folder / "arrays.csv", arrays()[0], delimiter=",")
        np.savetxt(folder / "reads.csv", reads()[0], delimiter=",", fmt="%d")
        np.save(folder / "cells.npy", cells()[0])
        np.save(folder / "group.npy", cells()[1])
        (folder / "run.R").write_text(IN_R, encoding="utf-8")
        (folder / "run.py").write_text(IN_SCANPY, encoding="utf-8")
        for command, script, names in (
            (chosen.rscript, "run.R", ("limma", "deseq2")),
            (chosen.scanpy, "run.py", ("scanpy",)),
        ):
            done = subprocess.run([command, folder / script, made], capture_output=True, text=True, check=True)
            for name in names:
                store(folder, name, done.stdout.strip())


if __name__ == "__main__":
    main()
