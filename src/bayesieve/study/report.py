"""The report of a study: figures, the table of means, and a summary as Markdown and as HTML."""

from __future__ import annotations

import base64
import functools
import importlib.metadata
import os
import platform
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from bayesieve.study.checks import STATEMENTS, check_statements
from bayesieve.study.figures import STYLE, figures_of
from bayesieve.study.measures import COSTS, bin_names
from bayesieve.study.results_view import ResultsView, relative_costs, spread
from bayesieve.study.store import StudyResults
from bayesieve.study.verdicts import Verdict
from bayesieve.utils import (
    FORMATS,
    DataError,
    MissingExtraError,
    make_folder,
    normalise_formats,
    render,
    write_files,
)

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.figure import Figure

_MAIN = ("accuracy", "sensitivity", "costs")  # the figure that has the name of the study
_DPI = 120
_MOST_SIZES = 14
_PACKAGES = ("numpy", "scipy", "numba", "polars", "matplotlib")
_SPECIAL = re.compile(r"([\\`*_\[\]|#~$])")
_CAPTIONS = {
    "accuracy": (
        "Features labelled correctly against the number of samples. Above: means; grey lines mark all "
        "features right and nothing selected. Below: difference from the method that is best at each n. "
        "Bands are two Monte Carlo standard errors either way; below, of paired differences."
    ),
    "errors": (
        "What OBF expects and what is true; bars are two standard errors either way, and on the grey lines "
        "expectation and truth agree. (a) True against expected false positives, a point for each of some n. (b) "
        "Their quotient. (c) How often the 90% interval of false positives held their number; its ends are whole "
        "numbers, so that somewhat more than 90% is right. "
    ),
    "sensitivity": (
        "MNC-OBF-JP under other prior probabilities (left) and other L (right). Above: difference of "
        "correct labels from the paper's choice; below: number of features selected. Bars are two "
        "standard errors either way."
    ),
    "costs": (
        "Time of each method in units of the first one's, and the peak of memory that Python and NumPy "
        "allocate beyond the data."
    ),
}
_RELIABILITY = "(d) Share of markers among features of a probability, all n together."
_ALONG = (
    "(d) False positives of lists of any length: true, expected under the model, and expected under the global "
    "null (no feature differs; known under JP only)."
)
_CHECKS = (
    "A difference counts if it exceeds four standard errors, which stand in brackets. Differences between methods "
    "are taken within data sets."
)


def write_report(
    results: StudyResults,
    folder: str | os.PathLike[str],
    *,
    command: str = "",
    formats: Sequence[str] = FORMATS,
) -> tuple[Path, ...]:
    """Write figures, ``summary.md``, ``summary.html`` and ``results.csv``, each whole or not at all.

    The main figure has the name of the study, others have their own behind it. The HTML file holds its figures
    and can be mailed by itself; the Markdown file refers to the first of ``formats`` that it can show.

    Parameters
    ----------
    results
        Results of a study, finished or not.
    folder
        Where to; it is made if need be.
    command
        Command line that made them, for the summary.
    formats
        Formats of the figures: ``"svg"``, ``"png"``, ``"pdf"``.

    Returns
    -------
    tuple of Path
        The files.

    Raises
    ------
    MissingExtraError
        If matplotlib is not installed; everything but the figures is written first.
    """
    if not results.wide.height:
        raise DataError(f"The study {results.design.name} has no results yet. Run it first.")
    make_folder(folder)  # says before the work if it cannot be made
    view = ResultsView(results)
    drawn = figures_of(view)
    main = next((name for name in _MAIN if name in drawn), "")
    files, pictures, missing = draw_pictures(
        view.design.name, drawn, _captions_of(view), main, normalise_formats(formats)
    )
    page = summarise(view, pictures, command)
    files["results.csv"] = means_table(results).write_csv(float_precision=6).encode()
    files |= render_pages(page)
    paths = write_files(folder, files)
    if missing is not None:
        raise missing
    return paths


def _captions_of(view: ResultsView) -> dict[str, str]:
    """Captions by figure; the errors have a fourth panel of one kind or another."""
    last = _RELIABILITY if view.measure(bin_names(0)[0]).methods else _ALONG
    return {**_CAPTIONS, "errors": _CAPTIONS["errors"] + last}


def draw_pictures(
    study: str,
    drawn: Mapping[str, Callable[[], Figure]],
    captions: Mapping[str, str],
    main: str,
    formats: Sequence[str],
) -> tuple[dict[str, bytes], list[dict[str, str]], MissingExtraError | None]:
    """Files of the figures; each as the page shows it; and what is missing if they cannot be drawn.

    The main figure has the name of the study, others have their own behind it.
    """
    files: dict[str, bytes] = {}
    pictures = []
    shown = next((form for form in ("png", "svg") if form in formats), "svg")  # some readers block SVG
    for name, draw in drawn.items():
        stem = study if name == main else f"{study}-{name}"
        try:
            figure = draw()
        except MissingExtraError as error:
            return {}, [], error
        made = {
            form: render(figure, form, STYLE, dpi=_DPI, palette=True) for form in dict.fromkeys([*formats, "svg"])
        }
        files |= {f"{stem}.{form}": made[form] for form in formats}
        svg = base64.b64encode(made["svg"]).decode("ascii")
        pictures.append({"name": name, "file": f"{stem}.{shown}", "caption": captions[name], "svg": svg})
    return files, pictures, None


def render_pages(page: Mapping[str, Any]) -> dict[str, bytes]:
    """Return the summary as Markdown and as HTML, by file name."""
    return {name: _template(name).render(page).encode() for name in ("summary.md", "summary.html")}


@functools.cache
def _template(name: str) -> Any:
    """A template of the summary; in HTML everything is escaped, in Markdown what passes the filter."""
    environment = Environment(
        loader=PackageLoader("bayesieve.study"),
        autoescape=name.endswith(".html"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters["markdown"] = escape_markdown
    return environment.get_template(f"{name}.j2")


def escape_markdown(text: str) -> str:
    """Escape what Markdown would read as markup; one line stays one line."""
    line = " ".join(text.split())
    return _SPECIAL.sub(r"\\\1", line.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;"))


def summarise(view: ResultsView, pictures: Sequence[Mapping[str, str]] = (), command: str = "") -> dict[str, Any]:
    """Words, tables and pictures of the summary, as the templates take them."""
    title = view.design.title
    return {
        "name": view.design.name,
        "title": title and f"{title.rstrip('.')}.",
        "design": _describe_design(view),
        "method_columns": ("method", "name", "scores", "rule", "options"),
        "methods": list(_method_rows(view)),
        "pictures": pictures,
        "numbers": list(_number_sections(view)),
        "lead_of_checks": _CHECKS,
        "checks": list(_check_results(view)),
        "command": command,
        "origin": origin(view.results.version),
    }


def _describe_design(view: ResultsView) -> str:
    design, correct = view.design, view.measure()
    sizes = correct.sizes()
    rounds = sorted({correct.mean(*cell).iterations for cell in correct.cells})
    of_each = f"{rounds[0]:,}" if len(rounds) == 1 else f"{rounds[0]:,} to {rounds[-1]:,}"
    many = f"{len(sizes)} numbers of samples from {sizes[0]:,} to {sizes[-1]:,}"
    how = (
        "Every value was drawn." if design.raw else "Means and variances were drawn from their exact distribution."
    )
    constants = ", ".join(f"{name} = {value}" for name, value in design.constants.items())
    sets = "data set" if rounds[-1] == 1 else "data sets"
    average = " on average" if design.data == "prior" else ""
    return (
        f"{of_each} {sets} at {many if len(sizes) > 1 else f'{sizes[0]:,} samples'}, half of the samples in "
        f"each class; {view.n_features:,} features, of which {view.n_markers:,.4g} are markers{average}. Data "
        f"model: {design.data}{f' ({constants})' if constants else ''}, seed {design.seed}. {how} All methods see "
        "the same data."
    )


def _method_rows(view: ResultsView) -> Iterator[tuple[str, ...]]:
    for method in view.methods:
        rule = f"top {method.n_selected:,}" if method.rule == "top" else method.rule
        options = ", ".join(f"{name} = {value}" for name, value in method.options.items())
        yield method.title, method.name, method.scores, rule, options or "defaults"


def _number_sections(view: ResultsView) -> Iterator[dict[str, Any]]:
    """Means and standard errors, at some of the numbers of samples if there are many."""
    if "costs" in view.design.measures:
        yield _cost_section(view)
        return
    measures = [("correct", "Features labelled correctly", 1)]
    if view.measure("expected_false_positives").methods:
        measures += [
            ("false_positives", "False positives", 2),
            ("expected_false_positives", "Expected false positives", 2),
        ]
    every = view.measure().sizes()
    sizes = spread(every, _MOST_SIZES)
    more = "; results.csv has all numbers of samples." if len(sizes) < len(every) else "."
    for name, title, digits in measures:
        measure = view.measure(name)
        means = {cell: measure.mean(*cell) for cell in measure.cells}
        cells = {cell: f"{each.mean:,.{digits}f} ({each.standard_error:.2f})" for cell, each in means.items()}
        yield {
            "title": title,
            "lead": f"Means, with Monte Carlo standard errors in brackets{more}",
            "head": ("n", *measure.titles.values()),
            "rows": [(f"{n:,}", *(cells.get((method, n), "") for method in measure.methods)) for n in sizes],
        }


def _cost_section(view: ResultsView) -> dict[str, Any]:
    columns = ("title", "n", "seconds", "standard_error", "times_reference", "peak_megabytes", "iterations")
    rows = [
        (title, f"{n:,}", f"{1e3 * s:.2f}", f"{1e3 * error:.2f}", f"{times:.2f}", f"{peak:.2f}", f"{count:,}")
        for title, n, s, error, times, peak, count in relative_costs(view.results).select(columns).iter_rows()
    ]
    head = ("method", "n", "milliseconds", "standard error", "times the first", "peak MB", "iterations")
    return {"title": "Time and memory", "lead": "", "head": head, "rows": rows}


def _check_results(view: ResultsView) -> Iterator[dict[str, Any]]:
    """Statements that the study has numbers on: those that hold first, those that cannot be told last."""
    findings = check_statements(view)
    for verdict in Verdict:
        for name, found in findings.items():
            if found.rows and found.verdict is verdict:
                statement = STATEMENTS[name]
                yield {
                    "verdict": str(verdict),
                    "claim": statement.claim,
                    "source": statement.source,
                    "words": found.words,
                }


def origin(version: str) -> str:
    """Versions and machine."""
    versions = [f"bayesieve {version}".strip(), f"Python {platform.python_version()}"]
    for name in _PACKAGES:
        try:
            versions.append(f"{name} {importlib.metadata.version(name)}")
        except importlib.metadata.PackageNotFoundError:
            continue
    return f"{', '.join(versions)}; {platform.machine()}."


def means_table(results: StudyResults) -> pl.DataFrame:
    """Mean and standard error of every measure, one row for each method and number of samples.

    Times are left out unless the study is about them, so that the same study gives the same table anywhere.
    """
    table = results.means().select("method", "title", "n", "iterations")
    for measure in results.measures:
        if measure in COSTS and "costs" not in results.design.measures:
            continue
        means = results.means(measure).select("method", "n", "mean", "standard_error")
        renamed = means.rename({"mean": measure, "standard_error": f"{measure}_standard_error"})
        table = table.join(renamed, on=["method", "n"], how="left", maintain_order="left")
    return table
