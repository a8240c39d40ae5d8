"""``bayesieve demo``: the main job on data whose truth is known."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from bayesieve.cli.outputs import check_report
from bayesieve.cli.simulate import check_out, truth_path, write_data as write_practice
from bayesieve.models import CalibratedModel, GaussianModel, Model
from bayesieve.posterior import FeaturePosterior, class_statistics
from bayesieve.screening import screen
from bayesieve.selection import MinimalRisk, Selection, count_lines
from bayesieve.simulation import Kind, SynergeticModel, SyntheticData
from bayesieve.utils import DataError, OptionError, check_writable, printable

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
            escape(
                printable(
                    f"Wrote {write_data} and {truth_path(write_data)}; "
                    f"try: bayesieve screen {write_data} --labels class -p {_PRIOR_PROBABILITY}"
                )
            )
        )
    first = _time(data)
    again = min(_time(data) for _ in range(5))
    lists = {name: _select(data, model) for name, model in _priors().items()}
    selection = next(iter(lists.values()))
    console.print(_ranked_table(selection.posterior, data, n_rows))
    console.print(_verdict(selection, data), soft_wrap=False)
    console.print(_comparison(lists, data))
    if report is not None:
        _write_report(selection, data, report, seed)
        console.print(escape(printable(f"\nWrote the report to {report}; open it in a browser.")), soft_wrap=True)
    console.print(
        f"\nTime: {again * 1e3:.1f} ms to screen {data.values.nbytes / 1e6:.0f} MB once "
        f"(first call, which loads or compiles the kernels: {first:.2f} s)."
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


def _priors() -> dict[str, Model]:
    """The default, and the two priors of the paper."""
    return {
        "calibrated": CalibratedModel(),
        "Jeffreys (JP)": GaussianModel.jeffreys(0.1),
        "proper (PP)": GaussianModel.proper(),
    }


def _select(data: SyntheticData, model: Model) -> Selection:
    posterior = screen(data.values, data.labels, model=model, prior_probability=_PRIOR_PROBABILITY)
    return MinimalRisk(0.5).select(posterior)


def _time(data: SyntheticData) -> float:
    """Seconds of a screen without shuffles."""
    start = time.perf_counter()
    screen(data.values, data.labels, prior_probability=_PRIOR_PROBABILITY, shuffles=0)
    return time.perf_counter() - start


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
    found = selection.false_positive_estimate.describe()
    n_shuffles = 0 if selection.posterior.shuffled is None else selection.posterior.shuffled.n_shuffles
    source = f"from {n_shuffles} shuffles of the labels" if n_shuffles else "under the model"
    judged = "".join(f"{line}\n" for line in count_lines(selection))
    return (
        f"\n{selection.n_selected} features selected (probability over 0.5, prior probability "
        f"{_PRIOR_PROBABILITY}).\n"
        f"False positives: {found}, {source}; in truth {false_positives}.\n{judged}"
        f"Markers missed: {selection.expected_false_negatives:.1f} expected under the model; in truth {missed} of "
        f"{int(truth.sum())}.\n"
        f"Correctly labelled: {correct:,} of {np.size(truth):,} features."
    )


def _comparison(lists: dict[str, Selection], data: SyntheticData) -> Table:
    """The same data under the three priors, and what the lists hold in truth."""
    title = "\nThe same under other priors: false positives expected, by the model alone, and in truth"
    table = Table(title=title, title_justify="left", box=SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    for heading in ("prior", "selected", "expected", "by model", "in truth", "markers found"):
        table.add_column(heading, justify="left" if heading == "prior" else "right", no_wrap=True)
    for name, selection in lists.items():
        found = selection.mask & data.true_markers
        table.add_row(
            name,
            f"{selection.n_selected:,}",
            f"{selection.false_positive_estimate.expected:.1f}",
            f"{selection.expected_false_positives:.1f}",
            f"{selection.n_selected - int(found.sum()):,}",
            f"{int(found.sum()):,}",
        )
    return table
