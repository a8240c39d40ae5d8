"""The commands and their options."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

import bayesieve
from bayesieve.cli import options as o
from bayesieve.cli.options import INPUT, OUTPUT, TALKING, argument, option, with_options
from bayesieve.cli.synthetic import demo, simulate, study

app = typer.Typer(
    name="bayesieve",
    help="Which of thousands of features differ between classes? Optimal Bayesian feature filtering.",
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["--help", "-h"]},
)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"bayesieve {bayesieve.__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Which of thousands of features differ between classes? Optimal Bayesian feature filtering."""


@app.command()
@with_options(o.TABLE, *o.SOURCE, *o.DESIGN, *o.PRIOR, *o.RULE, *o.FINDINGS, *o.FILES, *TALKING)
def screen(options: dict[str, Any]) -> None:
    """Rank the features of a TABLE by the probability that the classes differ in them.

    bayesieve screen expression.csv --labels pheno.csv:stage --classes "early=1; late=2,3,4" --out ranked.csv
    """
    from bayesieve.cli.screen import run_screen  # noqa: PLC0415 - imports numba and more

    run_screen(options)


@app.command()
@with_options(o.TABLE, *o.SOURCE, *o.METHODS, o.OUT, o.CONFIG_OUT, *TALKING)
def compare(options: dict[str, Any]) -> None:
    """Rank the features of a TABLE by several methods and compare the lists.

    bayesieve compare expression.csv --labels pheno.csv:stage --methods obf-jp,welch,limma,mi --out ranks.csv
    """
    from bayesieve.cli.compare import run_compare  # noqa: PLC0415 - imports numba and more

    run_compare(options, options["methods"], options["top"])


@app.command()
@with_options(o.TABLE, o.STATISTICS_OUT, *o.SOURCE, *o.SITE, o.CONFIG_OUT, *TALKING)
def stats(options: dict[str, Any]) -> None:
    """Write the statistics of a TABLE to a file that may be shared instead of the patients."""
    from bayesieve.cli.stats import run_stats  # noqa: PLC0415 - imports numba and more

    run_stats(options, options["site"], options["min_cell"])


@app.command()
@with_options(
    argument("files", list[Path], "Statistics files of several sites."),
    o.STATISTICS_OUT,
    option(
        "join", o.words("inner", "outer"), "inner", "Options", "Features that all sites have, or that any has."
    ),
    *TALKING,
)
def merge(options: dict[str, Any]) -> None:
    """Merge statistics files of several sites into one; each stays a block of its own."""
    from bayesieve.cli.stats import run_merge  # noqa: PLC0415 - imports numba and more

    run_merge(options, options["files"], options["join"])


@app.command()
@with_options(
    argument("file", Path, "Merged statistics file."),
    argument("site", str, "Name of the site to drop."),
    option("out", Path | None, None, "Options", "Write here instead of replacing the file.", "-o"),
    *TALKING,
)
def remove(options: dict[str, Any]) -> None:
    """Drop one site from a merged statistics file."""
    from bayesieve.cli.stats import run_remove  # noqa: PLC0415 - imports numba and more

    run_remove(options, options["file"], options["site"])


@app.command()
@with_options(
    o.RESULT,
    o.WRITTEN_BY,
    option("features", Path | None, None, INPUT, "Table of feature annotations for the page.", "--annotation",
           metavar="FILE"),
    *o.ANOTHER_RULE,
    option("out", Path | None, None, OUTPUT, "The page; RESULT.report.html if not given.", "-o", metavar="FILE"),
    option("title", str | None, None, OUTPUT, "Title of the page.", metavar="TEXT"),
    o.REPORT_VALUES,
    *TALKING,
)  # fmt: skip
def report(options: dict[str, Any]) -> None:
    """Write the report of a RESULT: one HTML file with live rules, charts and the whole table.

    bayesieve report ranked.csv --manifest run.json --out report.html
    """
    from bayesieve.cli.report import run_report  # noqa: PLC0415 - imports numba and more

    run_report(options, options["result"], options["title"])


@app.command()
@with_options(
    o.RESULT,
    option("out", Path, o.REQUIRED, OUTPUT, "Folder of the figures; made if it is not there.", "-o",
           metavar="FOLDER", show_default=False),
    o.WRITTEN_BY,
    *o.ANOTHER_RULE,
    option("format_", str, "svg,pdf,png", OUTPUT, "With commas between: svg, pdf, png.", metavar="NAMES"),
    option("feature", list[str] | None, None, OUTPUT, "Also draw this feature by itself; may be repeated.",
           metavar="NAME"),
    *TALKING,
)  # fmt: skip
def figures(options: dict[str, Any]) -> None:
    """Write the figures of a RESULT for a paper or a talk; needs the extra figures.

    bayesieve figures ranked.csv --out figures --format pdf --feature TP53
    """
    from bayesieve.cli.report import run_figures  # noqa: PLC0415 - imports numba and more

    run_figures(options, options["result"], options["format_"], options["feature"] or ())


for command in (simulate, study, demo):
    app.command()(command)
