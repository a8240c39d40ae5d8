"""Reports for the tests in a browser, each with the posterior it was written from."""

from __future__ import annotations

import csv
import functools
import warnings
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from commands import outside
from jeffreys import screen

import bayesieve as bs

if TYPE_CHECKING:
    from collections.abc import Callable

unshuffled = functools.partial(screen, shuffles=0)
PAPER = ("--prior", "jeffreys", "--shuffles", "0")

HOSTILE = (
    "</script><img src=x onerror=alert(1)>",
    '"><svg onload=alert(2)>',
    "${alert(3)}",
    "javascript:alert(4)",
    "<!--<script>alert(5)",
    "'+alert(6)+'",
    "line\u2028break",
    "\u202eright to left",
)


@dataclass(frozen=True, eq=False)
class Study:
    """A report, the posterior behind it, and what else a test may want to know."""

    path: Path
    posterior: bs.FeaturePosterior
    values: np.ndarray | None = None
    labels: list[str] = field(default_factory=list)

    @functools.cached_property
    def ranking(self) -> list[str]:
        """Names, the strongest feature first, ties in the order of the table."""
        names = self.posterior.names
        return [names[i] for i in np.argsort(-self.posterior.log_odds, kind="stable")]


def measured(n_samples: int, n_features: int, n_markers: int, seed: int) -> tuple[np.ndarray, list[str]]:
    """Draw two classes in which the first features differ, some of them in the variance."""
    rng = np.random.default_rng(seed)
    labels = ["control"] * (n_samples // 2) + ["case"] * (n_samples - n_samples // 2)
    values = rng.normal(8.0, 1.0, size=(n_samples, n_features))
    case = np.array(labels) == "case"
    values[np.ix_(case, np.arange(n_markers))] += rng.uniform(-2.0, 2.0, n_markers)
    values[np.ix_(case, np.arange(0, n_markers, 3))] *= 1.3
    return values.round(3), labels


def written(path: Path, posterior: bs.FeaturePosterior, **options: Any) -> Path:
    bs.report.write(posterior, path, **options)
    return path


def two_classes(folder: Path) -> Study:
    """2,000 features of which 60 are markers, with raw values."""
    values, labels = measured(60, 2000, 60, seed=1)
    posterior = unshuffled(values, labels, classes=["control", "case"], prior_probability=0.03)
    path = written(folder / "report.html", posterior, data=values, labels=labels)
    return Study(path, posterior, values, labels)


def from_the_command_line(folder: Path) -> Study:
    """A table in a file and the report of the command, with annotation."""
    values, labels = measured(40, 300, 12, seed=2)
    genes = [f"gene {j}" for j in range(300)]
    with (folder / "my study.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["id", "state", *genes])
        writer.writerows([[f"s{i}", labels[i], *row] for i, row in enumerate(values.tolist())])
    with (folder / "genes.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["gene", "chromosome"])
        writer.writerows([[gene, f"chr{j % 5}"] for j, gene in enumerate(genes)])
    words = ["my study.csv", "--labels", "state", "--classes", "control, case", "--prior-probability", "0.05"]
    more = [*PAPER, "--fragility", "--features", "genes.csv", "--out", "first.csv", "--report", "report.html"]
    result = outside("screen", *words, *more, folder=folder)
    assert result.code == 0, result.err
    summary = bs.read_table(folder / "my study.csv", labels="state", classes="control, case")
    posterior = unshuffled(summary, prior_probability=0.05)
    return Study(folder / "report.html", posterior, values, labels)


def hostile(folder: Path) -> Study:
    """Names of features, classes, samples and annotation that try to be more than names."""
    values, labels = measured(30, 40, len(HOSTILE), seed=3)
    names = [*HOSTILE, *(f"g{j}" for j in range(40 - len(HOSTILE)))]
    classes = {"control": HOSTILE[0], "case": HOSTILE[1]}
    hostile_labels = [classes[label] for label in labels]
    posterior = unshuffled(
        values, hostile_labels, classes=list(classes.values()), feature_names=names, prior_probability=0.2
    )
    annotation = {HOSTILE[0]: [HOSTILE[j % len(HOSTILE)] for j in range(40)]}
    path = written(
        folder / "report.html",
        posterior,
        data=values,
        labels=hostile_labels,
        annotation=annotation,
        title=HOSTILE[0],
    )
    return Study(path, posterior, values, hostile_labels)


def own_priors(folder: Path) -> Study:
    """One prior probability for each feature."""
    values, labels = measured(40, 200, 20, seed=4)
    priors = np.linspace(0.01, 0.4, 200)
    posterior = unshuffled(values, labels, classes=["control", "case"], prior_probability=priors)
    return Study(written(folder / "report.html", posterior), posterior, values, labels)


def three_classes(folder: Path) -> Study:
    values, _ = measured(60, 100, 10, seed=5)
    labels = ["low", "middle", "high"] * 20
    values[np.array(labels) == "high", :5] += 3.0
    values[:, 99] = 5.0  # never varies: degenerate
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", bs.DegenerateFeatureWarning)
        posterior = unshuffled(values, labels)
    return Study(written(folder / "report.html", posterior, data=values, labels=labels), posterior)


def pairs(folder: Path) -> Study:
    values, labels = measured(40, 80, 8, seed=6)
    patients = [f"p{i % 20}" for i in range(40)]
    posterior = unshuffled(values, labels, classes=["control", "case"], pairs=patients)
    return Study(written(folder / "report.html", posterior), posterior)


def counts(folder: Path) -> Study:
    rng = np.random.default_rng(7)
    labels = ["control", "case"] * 20
    rates = np.where(np.array(labels)[:, None] == "case", np.where(np.arange(50) < 5, 20.0, 8.0), 8.0)
    posterior = unshuffled(rng.poisson(rates), labels, model=bs.PoissonModel(), exposures=np.ones(40))
    return Study(written(folder / "report.html", posterior), posterior)


def categories(folder: Path) -> Study:
    rng = np.random.default_rng(8)
    labels = ["control", "case"] * 30
    values = rng.integers(0, 3, size=(60, 30))
    values[np.array(labels) == "case", :3] = 2
    posterior = unshuffled(values, labels, model=bs.CategoricalModel())
    return Study(written(folder / "report.html", posterior), posterior)


def sites(folder: Path) -> Study:
    """Three hospitals, each with statistics of its own, put together and screened."""
    values, labels = measured(90, 60, 6, seed=9)
    for k, site in enumerate(("Oslo", "Bonn", "Lyon")):
        with (folder / f"{site}.csv").open("w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(["id", "state", *(f"g{j}" for j in range(60))])
            writer.writerows([[f"s{i}", labels[i], *values[i].tolist()] for i in range(k, 90, 3)])
        ready = outside(
            "stats", f"{site}.csv", "--labels", "state", "--out", f"{site}.stats.parquet", folder=folder
        )
        assert ready.code == 0, ready.err
    files = [f"{site}.stats.parquet" for site in ("Oslo", "Bonn", "Lyon")]
    merged = outside("merge", *files, "--out", "all.stats.parquet", folder=folder)
    assert merged.code == 0, merged.err
    words = [
        "all.stats.parquet",
        "--classes",
        "control, case",
        "--out",
        "list.csv",
        "--report",
        "report.html",
        *PAPER,
    ]
    result = outside("screen", *words, folder=folder)
    assert result.code == 0, result.err
    genes = [f"g{j}" for j in range(60)]
    return Study(
        folder / "report.html", unshuffled(values, labels, classes=["control", "case"], feature_names=genes)
    )


def no_values(folder: Path) -> Study:
    values, labels = measured(40, 120, 12, seed=10)
    posterior = unshuffled(values, labels)
    return Study(written(folder / "report.html", posterior, rule=bs.FixedSize(7)), posterior)


def nothing_selected(folder: Path) -> Study:
    values, labels = measured(20, 50, 0, seed=11)
    posterior = unshuffled(values, labels, prior_probability=0.001)
    assert not np.any(posterior.log_odds > 0.0)
    return Study(written(folder / "report.html", posterior, data=values, labels=labels), posterior)


def one_feature(folder: Path) -> Study:
    values, labels = measured(12, 1, 1, seed=12)
    posterior = unshuffled(values, labels, prior_probability=0.3)
    return Study(written(folder / "report.html", posterior, data=values, labels=labels), posterior)


def many(folder: Path) -> Study:
    """More features than the page could hold as rows."""
    values, labels = measured(20, 100_000, 100, seed=13)
    posterior = unshuffled(values, labels)
    return Study(written(folder / "report.html", posterior), posterior)


def shuffled(folder: Path) -> Study:
    """The default: calibrated prior and shuffled labels."""
    values, labels = measured(40, 800, 40, seed=14)
    posterior = bs.screen(values, labels, classes=["control", "case"], prior_probability=0.03, shuffles=40)
    path = written(folder / "report.html", posterior, data=values, labels=labels)
    return Study(path, posterior, values, labels)


def cut_short(folder: Path) -> Study:
    """Samples that share a factor, so that shuffled labels list many features, too, and the list was shortened."""
    rng = np.random.default_rng(15)
    factor = rng.normal(size=(40, 1))
    values = 1.5 * factor + rng.normal(size=(40, 300))
    case = rng.permutation(40) < 20
    values[case, :4] += 4.0
    posterior = bs.screen(values, np.where(case, "case", "control").tolist(), prior_probability=0.3, shuffles=60)
    return Study(written(folder / "report.html", posterior, rule=bs.MinimalRisk(0.35)), posterior)


def together(folder: Path) -> Study:
    """Features that differ together, with the section of pairs."""
    values, labels = measured(80, 50, 5, seed=16)
    case = np.array(labels) == "case"
    values[:, 11] = np.where(case, -0.9, 0.9) * (values[:, 10] - 8.0) + 0.4 * values[:, 11]
    names = [*HOSTILE[:4], *(f"g{j}" for j in range(4, 50))]
    posterior = bs.screen(values, labels, classes=["control", "case"], feature_names=names, shuffles=20)
    pairs = bs.screen_pairs(values, labels, classes=["control", "case"], feature_names=names, top=30)
    path = written(folder / "report.html", posterior, data=values, labels=labels, pairs=pairs)
    return Study(path, posterior, values, labels)


def doubtful(folder: Path) -> Study:
    """A bad sample, a batch that goes with the classes, and the label under another name."""
    values, labels = measured(40, 400, 20, seed=17)
    case = np.array(labels) == "case"
    batch = case ^ (np.arange(40) % 10 == 0)
    values[:, 50:90] += 3.0 * batch[:, None]
    values[25, 200:240] += 12.0
    values[:, 399] = np.where(case, 2.0, 1.0)
    names = [*HOSTILE, *(f"g{j}" for j in range(8, 400))]
    columns = {"</script><b>batch": np.where(batch, "B1", "B2"), "age": np.arange(40) % 7 + 50.5}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the label has no variance in a class
        posterior = bs.screen(
            values, labels, classes=["control", "case"], feature_names=names, sample_columns=columns, shuffles=40,
            model=bs.GaussianModel.jeffreys(prior_ratio=0.1),
        )  # fmt: skip
    return Study(written(folder / "report.html", posterior, data=values, labels=labels), posterior)


MAKERS: dict[str, Callable[[Path], Study]] = {
    "two classes": two_classes,
    "command line": from_the_command_line,
    "hostile names": hostile,
    "own priors": own_priors,
    "three classes": three_classes,
    "pairs": pairs,
    "counts": counts,
    "categories": categories,
    "sites": sites,
    "no values": no_values,
    "nothing selected": nothing_selected,
    "one feature": one_feature,
    "many": many,
    "shuffled": shuffled,
    "cut short": cut_short,
    "together": together,
    "doubtful": doubtful,
}
