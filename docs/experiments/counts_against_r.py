"""Counts: what edgeR, DESeq2 and our negative binomial screen list, on made counts and under random labels.

Usage: ``python docs/experiments/counts_against_r.py [FOLDER]``; needs Rscript with edgeR and DESeq2. The made
counts are those of ``benchmarks/counts.py`` (2,000 genes, 100 of which change two- to fourfold), read to depths
from 0.6 to 1.6. With a folder that holds the RSEM counts named below, samples of it get random labels as well,
so that whatever is listed is false. Writes ``counts_against_r.csv`` beside itself; its first line names the
versions. The table stands in docs/experiments/counts_against_r.md.
"""

import csv
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

import numpy as np
import polars as pl

import bayesieve as bs

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parents[1] / "benchmarks"))
from counts import simulate  # noqa: E402 - a script of another folder

GENES, ROUNDS, TOP = 2000, 3, 100
TABLE = "CMScaller_TCGA_crc_92x16863_rsem_counts.csv.gz"
R = """
suppressMessages({library(edgeR); library(DESeq2)})
x <- as.matrix(read.csv("counts.csv", header = FALSE))
storage.mode(x) <- "integer"
rownames(x) <- seq_len(nrow(x))
class <- factor(scan("class.csv", quiet = TRUE))
design <- model.matrix(~ class)
edge <- calcNormFactors(DGEList(x, group = class))
edge <- estimateDisp(edge, design)
edge <- glmQLFTest(glmQLFit(edge, design), coef = 2)$table$PValue
deseq <- DESeq(DESeqDataSetFromMatrix(x, data.frame(class), ~ class), quiet = TRUE)
deseq <- results(deseq, alpha = 0.1)
out <- data.frame(edge, edge_q = p.adjust(edge, "BH"), deseq = deseq$pvalue, deseq_q = deseq$padj)
out[is.na(out)] <- 1
write.csv(out, "out.csv", row.names = FALSE)
cat(R.version.string, ", edgeR ", as.character(packageVersion("edgeR")), ", DESeq2 ",
    as.character(packageVersion("DESeq2")), sep = "")
"""


def others(X, y):
    """Return ranks (p-values) and lists at an adjusted p-value below 0.1 of edgeR and DESeq2, and the versions."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        np.savetxt(folder / "counts.csv", X.T, delimiter=",", fmt="%d")
        np.savetxt(folder / "class.csv", y, fmt="%d")
        (folder / "run.R").write_text(R)
        done = subprocess.run(["Rscript", "run.R"], cwd=folder, check=True, capture_output=True, text=True)
        edge, edge_q, deseq, deseq_q = np.loadtxt(folder / "out.csv", delimiter=",", skiprows=1).T
    found = {
        "edgeR, adjusted p below 0.1": (edge, edge_q < 0.1),
        "DESeq2, adjusted p below 0.1": (deseq, deseq_q < 0.1),
    }
    return {name: (p, mask, 0.1 * mask.sum()) for name, (p, mask) in found.items()}, done.stdout.splitlines()[-1]


def ours(X, y, prior):
    """Return the same of a screen: ranks, lists, and the false positives that it claims."""
    exposures = bs.size_factors(X, "median-ratios")
    found = bs.screen(X, y, model=bs.NegativeBinomialModel(), exposures=exposures, prior_probability=prior,
                      shuffles=20, n_threads=1)  # fmt: skip
    rules = {"ours, probability over 0.5": bs.MinimalRisk(0.5), "ours, FDR 0.1": bs.FalseDiscovery(0.1)}
    lists = {name: rule.select(found) for name, rule in rules.items()}
    return {
        name: (-found.log_odds, each.mask, each.false_positive_estimate.expected) for name, each in lists.items()
    }


def compare(setting, number, X, y, marker, prior):
    """Return a row for every method, and the versions of R."""
    found, version = others(X, y)
    found |= ours(X.astype(float), y, prior)
    rows = []
    for name, (score, mask, claimed) in found.items():
        first = np.argsort(score, kind="stable")[:TOP]
        rows.append((setting, number, name, int(mask.sum()), round(float(claimed), 2), int((mask & ~marker).sum()),
                     int((mask & marker).sum()), int(marker[first].sum())))  # fmt: skip
    print(rows, flush=True)
    return rows, version


def studies(folder):
    """Draw the studies: made counts, then the real table under random labels."""
    for n in (3, 5, 10):
        for k in range(ROUNDS):
            rng = np.random.default_rng((n, k))
            X, y, marker = simulate(rng, n, GENES)
            deep = rng.poisson(X * rng.uniform(0.6, 1.6, 2 * n)[:, None])
            kept = deep.sum(axis=0) > 0
            yield f"made, {n} + {n}", k, deep[:, kept], y, marker[kept], 0.05
    if folder is None:
        return
    table = pl.read_csv(Path(folder) / TABLE, null_values="NA")
    values = table.drop("sample", "CMS", "MSI", "gender").to_numpy().round().astype(int)[:, ::5]
    for n in (5, 20):
        for k in range(ROUNDS):
            rows = np.random.default_rng((n, k)).permutation(values.shape[0])[: 2 * n]
            kept = values[rows].sum(axis=0) > 0
            X, y = values[rows][:, kept], np.repeat([0, 1], n)
            yield f"random labels, {n} + {n}", k, X, y, np.zeros(X.shape[1], bool), 0.01


def main(folder):
    """Write what was listed, and print averages."""
    rows, version = [], ""
    for study in studies(folder):
        found, version = compare(*study)
        rows += found
    with (HERE / "counts_against_r.csv").open("w", newline="") as file:
        file.write(f"# {version}\n")
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(
            ["setting", "number", "list", "listed", "claimed_false", "false", "true", f"true_of_{TOP}"]
        )
        writer.writerows(rows)
    for setting, name in dict.fromkeys((row[0], row[2]) for row in rows):
        each = np.array([row[3:] for row in rows if (row[0], row[2]) == (setting, name)])
        numbers = " | ".join(f"{mean:.1f}" for mean in each.mean(axis=0))
        print(f"| {setting} | {name} | {numbers} | {(each[:, 0] > 0).sum()} of {len(each)} |")


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main(sys.argv[1] if len(sys.argv) > 1 else None)
