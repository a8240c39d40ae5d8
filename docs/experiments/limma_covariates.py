"""Two classes that differ in age: what the real limma lists, with and without age and sex, and what we list.

Usage: ``python docs/experiments/limma_covariates.py [STUDIES]``; needs Rscript with limma. Draws the studies of
``benchmarks/covariates.py`` (seeds 0, 1, ...), runs ``lmFit`` and ``eBayes`` on ``~ class`` and on ``~ class +
age + sex``, lists what has an adjusted p-value below 0.1, screens the same values, and writes
``limma_covariates.csv`` beside itself; its first line names the versions. The table stands in
docs/how-to/adjust-for-age-and-sex.md, and tests/screening/test_limma_covariates.py holds a screen against the
file.
"""

import csv
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

import numpy as np

import bayesieve as bs

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parents[1] / "benchmarks"))
from covariates import made  # noqa: E402 - a script of another folder

SETTINGS = {"50 + 50": {}, "heavy tails": {"heavy": True}, "no markers": {"effect": 0.0}}
R = """
suppressMessages(library(limma))
x <- as.matrix(read.csv("values.csv", header = FALSE))
d <- read.csv("design.csv")
for (name in c("none", "age, sex")) {
  design <- if (name == "none") model.matrix(~ class, d) else model.matrix(~ class + age + sex, d)
  fit <- eBayes(lmFit(x, design))
  out <- data.frame(t = fit$t[, "class"], q = p.adjust(fit$p.value[, "class"], "BH"))
  write.csv(out, paste0(name, ".csv"), row.names = FALSE)
}
cat(R.version.string, ", limma ", as.character(packageVersion("limma")), sep = "")
"""


def limma(X, y, covariates):
    """Return moderated t and adjusted p-values of the class by covariates, and the versions."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        np.savetxt(folder / "values.csv", X.T, delimiter=",", fmt="%.17g")
        rows = zip(y.tolist(), covariates["age"].tolist(), covariates["sex"].tolist(), strict=True)
        design = "".join(f"{label},{age!r},{sex}\n" for label, age, sex in rows)
        (folder / "design.csv").write_text("class,age,sex\n" + design)
        (folder / "run.R").write_text(R)
        done = subprocess.run(["Rscript", "run.R"], cwd=folder, check=True, capture_output=True, text=True)
        found = {
            each: np.loadtxt(folder / f"{each}.csv", delimiter=",", skiprows=1).T for each in ("none", "age, sex")
        }
    return found, done.stdout.splitlines()[-1]


def ours(X, y, covariates):
    """Return lists of a screen, and the false positives that they claim."""
    posterior = bs.screen(X, y, covariates=covariates, shuffles=40, n_threads=1)
    for name, rule in (("probability over 0.5", bs.MinimalRisk(0.5)), ("FDR 0.1", bs.FalseDiscovery(0.1))):
        found = rule.select(posterior)
        yield name, found.mask, found.false_positive_estimate.expected


def main(studies):
    """Write what was listed."""
    rows, version = [], ""
    for setting, options in SETTINGS.items():
        for seed in range(studies):
            X, y, covariates, differs = made(seed, **options)
            differs = differs & (options.get("effect", 1.0) > 0)
            found, version = limma(X, y, covariates)
            for given in ("none", "age, sex"):
                t, q = found[given]
                lists = [("limma, adjusted p below 0.1", q < 0.1, 0.1 * float((q < 0.1).sum()))]
                lists += ours(X, y, covariates if given != "none" else None)
                for name, mask, claimed in lists:
                    rows.append((setting, seed, given, name, int(mask.sum()), round(claimed, 2),
                                 int((mask & ~differs).sum()), int((mask & differs).sum()),
                                 f"{np.abs(t).max():.12g}"))  # fmt: skip
            print(setting, seed, flush=True)
    with (HERE / "limma_covariates.csv").open("w", newline="") as file:
        file.write(f"# {version}\n")
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["setting", "seed", "covariates", "list", "listed", "claimed_false", "false", "true",
                         "largest_t_of_limma"])  # fmt: skip
        writer.writerows(rows)
    summarise(rows)


def summarise(rows):
    """Print the averages over the studies."""
    for setting, given, name in dict.fromkeys((row[0], row[2], row[3]) for row in rows):
        each = np.array([row[4:8] for row in rows if (row[0], row[2], row[3]) == (setting, given, name)])
        listed, claimed, false, true = each.mean(axis=0)
        print(f"| {setting} | {name} | {given} | {listed:.1f} | {claimed:.1f} | {false:.1f} | {true:.1f} |")


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 6)
