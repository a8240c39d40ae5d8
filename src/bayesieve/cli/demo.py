"""``bayesieve demo``: the main job on data whose truth is known."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from bayesieve.cli.outputs import check_report
from bayesieve.cli.simulate import check_out, truth_path, write_data as write_practice
from bayesieve.models import CalibratedModel, GaussianModel, Model
from bayesieve.posterior import FeaturePosterior, class_statistics
from bayesieve.screening import screen
from bayesieve.selection import MinimalRisk, Selection
from bayesieve.simulation import Kind, SynergeticModel, SyntheticData
from bayesieve.utils import DataError, OptionError, check_writable

_PRIOR_PROBABILITY = 0.005


def report_file(wanted: bool, file: str | None) -> Path | None:
    """Return the file of the report: the one named after ``--report``, or one of its own."""
    if file is not None and not wanted:
        raise OptionError(f"The demo reads no file. If {file} is to be the report, say --report {file}.")
    chosen = Path(file or "bayesieve-demo.html") if wanted else None
    check_report(chosen)
    if chosen is not None:
        check_writable(chosen)
    return chosen


def run_demo(
    n_samples: int, seed: int, n_rows: int, write_data: Path | None = None, report: Path | None = None
) -> None:
    """Draw the synthetic microarray of section 6, screen it and print what was found."""
    if n_samples % 2:
        raise DataError(
            f"--samples must be even, because both classes get half of them; {n_samples} was given. "
            f"Try {n_samples + 1}."
        )
    if write_data is not None:
        check_out(write_data)
    console = Console()
    model = SynergeticModel()
    console.print(
        f"Drawing the synthetic microarray of the paper: {n_samples} samples x {model.n_features:,} features, "
        f"{model.n_markers} true markers (seed {seed})."
    )
    data = model.draw(n_samples, seed=seed)
    if write_data is not None:
        write_practice(iter([data]), write_data, n_samples)
        console.print(
            f"Wrote {write_data} and {truth_path(write_data)}; "
            f"try: bayesieve screen {write_data} --labels class -p {_PRIOR_PROBABILITY}"
        )
    posterior, first = _time(data)
    again = min(_time(data)[1] for _ in range(5))
    start = time.perf_counter()
    posterior = _screen(data, CalibratedModel(), shuffles="auto")
    judged = time.perf_counter() - start
    selection = MinimalRisk(0.5).select(posterior)
    console.print(_ranked_table(posterior, data, n_rows))
    console.print(_verdict(selection, data), soft_wrap=False)
    console.print(_side_by_side(selection, data))
    if report is not None:
        _write_report(selection, data, report, seed)
        console.print(f"\nWrote the report to {report}; open it in a browser.", soft_wrap=True)
    console.print(
        f"Time: {again * 1e3:.1f} ms to screen {data.values.nbytes / 1e6:.0f} MB, {judged:.1f} s with shuffled "
        f"labels (first call, which loads or compiles the kernels: {first:.2f} s)."
    )
    console.print(
        "Next: bayesieve screen YOUR.csv --labels COLUMN does this for your own table (in Python, "
        "bayesieve.screen(X, y)); the README has examples."
    )


def _write_report(selection: Selection, data: SyntheticData, path: Path, seed: int) -> None:
    """Write the report, with the truth as a column beside the features."""
    from bayesieve.report import Commands, ReportData, write_page  # noqa: PLC0415 - slow to import

    n = data.labels.size
    usual = Commands.of_arrays(selection.posterior)
    lines = (
        "import bayesieve as bs",
        "from bayesieve.simulation import SynergeticModel",
        f"data = SynergeticModel().draw({n}, seed={seed})",
        usual.python[-1].replace("(X, y,", "(data.values, data.labels,"),
    )
    drawn = ("bayesieve", "demo", "--samples", str(n), "--seed", str(seed))
    commands = Commands(
        ("bayesieve", "screen", "practice.csv", "--labels", "class"), lines, (*drawn, "--report", str(path)),
        before=" ".join((*drawn, "--write-data", "practice.csv")),
    )  # fmt: skip
    truth = [Kind(int(kind)).words for kind in data.kind]
    report = ReportData.of(
        selection,
        rule=MinimalRisk(0.5),
        data=data.values,
        labels=data.labels,
        annotation={"in truth": truth},
        title="Synthetic microarray",
        subtitle=f"The paper's synthetic data: {n} samples, {data.values.shape[1]:,} features, "
        f'{int(data.true_markers.sum())} true markers; the column "in truth" tells them.',
        commands=commands,
    )
    write_page(report, path)


def _time(data: SyntheticData) -> tuple[FeaturePosterior, float]:
    start = time.perf_counter()
    posterior = _screen(data, CalibratedModel())
    return posterior, time.perf_counter() - start


def _screen(data: SyntheticData, model: Model, shuffles: int | str = 0) -> FeaturePosterior:
    return screen(data.values, data.labels, model=model, prior_probability=_PRIOR_PROBABILITY, shuffles=shuffles)


def _ranked_table(posterior: FeaturePosterior, data: SyntheticData, n_rows: int) -> Table:
    title = "\nThe strongest features (differences: class 1 minus class 0)"
    table = Table(title=title, title_justify="left", box=SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    for heading in ("rank", "feature", "log-odds", "prob.", "mean", "log var."):
        table.add_column(heading, justify="left" if heading == "feature" else "right", no_wrap=True)
    table.add_column("in truth", no_wrap=True)
    statistics, names = class_statistics(posterior), posterior.names
    log_odds, probability = posterior.log_odds, posterior.probability
    for rank, i in enumerate(posterior.ranking[:n_rows].tolist(), start=1):
        table.add_row(
            str(rank),
            names[i],
            f"{log_odds[i]:.1f}",
            f"{probability[i]:.4f}",
            f"{statistics['mean_difference'][i]:+.2f}",
            f"{statistics['log_variance_ratio'][i]:+.2f}",
            Kind(int(data.kind[i])).words,
        )
    return table


def _verdict(selection: Selection, data: SyntheticData) -> str:
    truth = data.true_markers
    false_positives = int((selection.mask & ~truth).sum())
    missed = int((~selection.mask & truth).sum())
    correct = int((selection.mask == truth).sum())
    shuffled = selection.posterior.shuffled
    source = "under the model" if shuffled is None else f"from {shuffled.n_shuffles} shuffles of the labels"
    cut = "; shortened, because shuffled labels give lists as long" if selection.was_cut else ""
    return (
        f"\n{selection.n_selected} features selected (probability over 0.5, prior probability "
        f"{_PRIOR_PROBABILITY}{cut}).\n"
        f"False positives: {selection.false_positive_estimate.describe()}, {source}; in truth {false_positives}.\n"
        f"Markers missed: {selection.expected_false_negatives:.1f} expected under the model; in truth {missed} of "
        f"{int(truth.sum())}.\n"
        f"Correctly labelled: {correct:,} of {np.size(truth):,} features."
    )


def _side_by_side(selection: Selection, data: SyntheticData) -> Table:
    """The list beside those of the paper's priors, whose errors are expected under the model."""
    title = "\nThe same data under other priors (false positives claimed by each, and true)"
    table = Table(title=title, title_justify="left", box=SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    for heading in ("prior", "selected", "claimed false", "truly false", "markers found"):
        table.add_column(heading, justify="left" if heading == "prior" else "right", no_wrap=True)
    others = {"Jeffreys (the paper's JP)": GaussianModel.jeffreys(0.1), "proper (PP)": GaussianModel.proper()}
    lists = {"calibrated (default)": selection}
    lists |= {name: MinimalRisk(0.5).select(_screen(data, model)) for name, model in others.items()}
    truth = data.true_markers
    for name, each in lists.items():
        wrong, found = int((each.mask & ~truth).sum()), int((each.mask & truth).sum())
        claimed = f"{each.false_positive_estimate.expected:.1f}"
        table.add_row(name, f"{each.n_selected:,}", claimed, f"{wrong:,}", f"{found:,}")
    return table
