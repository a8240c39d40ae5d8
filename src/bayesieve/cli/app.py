"""The commands and their options."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

import bayesieve
from bayesieve.cli import options as o
from bayesieve.cli.options import TALKING
from bayesieve.cli.parameters import INPUT, OUTPUT, REQUIRED, Command, Group, argument, option, with_options, words
from bayesieve.cli.plan_options import PILOT, PLAN
from bayesieve.utils import OptionError

_COLON = "The study colon"

app = typer.Typer(
    name="bayesieve",
    cls=Group,
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
        bool,
        typer.Option("--version", callback=_version, is_eager=True, help="Show the version and exit."),
    ] = False,
) -> None:
    """Which of thousands of features differ between classes? Optimal Bayesian feature filtering."""


@app.command(cls=Command)
@with_options(
    o.TABLE,
    *o.SOURCE,
    o.DASK,
    *o.DESIGN,
    *o.GROUPS,
    *o.PRIOR,
    *o.RULE,
    *o.FINDINGS,
    *o.FILES,
    *o.CONTRASTS,
    *TALKING,
)
def screen(options: dict[str, Any]) -> None:
    """Rank the features of a TABLE by the probability that the classes differ in them.

    bayesieve screen expression.csv --labels pheno.csv:stage --classes "early=1; late=2,3,4" --out ranked.csv
    """
    if options["contrasts"] is not None and options["dask"] is not None:
        raise OptionError("--contrasts are compared from one reading in this process. Leave --dask out.")
    if options["contrasts"] is not None:
        from bayesieve.cli.contrasts import run_contrasts  # noqa: PLC0415 - imports numba and more

        run_contrasts(options)
        return
    from bayesieve.cli.screen import run_screen  # noqa: PLC0415 - imports numba and more

    run_screen(options)


@app.command(cls=Command)
@with_options(o.TABLE, *o.SOURCE, *o.METHODS, o.OUT, o.COMPARISON_REPORT, o.CONFIG_OUT, *TALKING)
def compare(options: dict[str, Any]) -> None:
    """Rank the features of a TABLE by several methods and compare the lists.

    bayesieve compare expression.csv --labels pheno.csv:stage --methods obf-jp,welch,limma,mi --out ranks.csv
    """
    from bayesieve.cli.compare import run_compare  # noqa: PLC0415 - imports numba and more

    run_compare(options, options["methods"], options["top"])


@app.command(cls=Command)
@with_options(o.TABLE, *(each for each in o.SOURCE if each.name != "missing"), *o.PAIRS, o.OUT, o.BLOCKS_OUT,
              o.CONFIG_OUT, *TALKING)  # fmt: skip
def pairs(options: dict[str, Any]) -> None:
    """List the pairs of features of a TABLE that differ between two classes, also where neither does alone.

    bayesieve pairs expression.csv --labels pheno.csv:stage --classes "early; late" --out pairs.csv
    """
    from bayesieve.cli.pairs import run_pairs  # noqa: PLC0415 - imports numba and more

    run_pairs(options)


@app.command(cls=Command)
@with_options(o.TABLE, *o.SOURCE, *o.CHECK, o.OUT, o.CONFIG_OUT, *TALKING)
def check(options: dict[str, Any]) -> None:
    """Check on a TABLE of your own how far a screen can be believed: shuffled labels, known differences.

    bayesieve check expression.csv --labels pheno.csv:stage --repeats 50 --out check.csv
    """
    from bayesieve.cli.check import run_check  # noqa: PLC0415 - imports numba and more

    run_check(options)


@app.command(cls=Command)
@with_options(PILOT, *o.SOURCE, *PLAN, o.CONFIG_OUT, *TALKING)
def plan(options: dict[str, Any]) -> None:
    """Plan a study: how many samples find how many markers, from a pilot TABLE or from stated effects.

    bayesieve plan pilot.csv --labels stage --per-class 20,40 --goal "50 markers at 90% right" --report plan.html
    """
    from bayesieve.cli.plan import run_plan  # noqa: PLC0415 - imports numba and more

    run_plan(options)


@app.command(cls=Command)
@with_options(o.TABLE, o.STATISTICS_OUT, *o.SOURCE, o.DASK, o.COVARIATES, *o.SITE, o.CONFIG_OUT, *TALKING)
def stats(options: dict[str, Any]) -> None:
    """Write the sufficient statistics of a TABLE to a file that may be shared instead of the patients."""
    from bayesieve.cli.stats import run_stats  # noqa: PLC0415 - imports numba and more

    run_stats(options, options["site"], options["min_cell"], options["part"])


@app.command(cls=Command)
@with_options(
    argument("files", list[Path], "Statistics files of several sites."),
    o.STATISTICS_OUT,
    option("join", words("inner", "outer"), "inner", "Options", "Features that all sites have, or that any has."),
    *TALKING,
)
def merge(options: dict[str, Any]) -> None:
    """Merge statistics files of several sites into one, each a block of its own; and parts of a table."""
    from bayesieve.cli.stats import run_merge  # noqa: PLC0415 - imports numba and more

    run_merge(options, options["files"], options["join"])


@app.command(cls=Command)
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


@app.command(cls=Command)
@with_options(
    o.RESULT,
    o.WRITTEN_BY,
    option("features", Path | None, None, INPUT, "Table of feature annotations for the page.", "--annotation",
           metavar="FILE"),
    *o.ANOTHER_RULE,
    o.SETS, o.MIN_SIZE, o.MAX_SIZE,
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


@app.command(cls=Command)
@with_options(
    o.RESULT,
    option("out", Path, REQUIRED, OUTPUT, "Folder of the figures; made if it is not there.", "-o",
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


@app.command(name="enrich", cls=Command)
@with_options(
    argument(
        "result",
        list[Path],
        "What screen --out or compare --out wrote, or names with scores.",
        metavar="RESULT...",
    ),
    *o.ENRICH,
    *TALKING,
)
def enrich_(options: dict[str, Any]) -> None:
    """Find known markers and gene sets (pathways) in a RESULT, or in several.

    bayesieve enrich ranked.csv --known markers.txt --sets reactome.gmt --out sets.csv --figures figures
    """
    from bayesieve.cli.enrich import run_enrich  # noqa: PLC0415 - imports numba and more

    run_enrich(options)


@app.command(cls=Command)
@with_options(
    option("out", Path, REQUIRED, OUTPUT, "Data: .csv, .tsv (also .gz) or .parquet; the truth is written beside "
           "them, as NAME.truth.csv.", "-o", metavar="FILE", show_default=False),
    option("n", str, "200", "Options", "Even number of samples, or sizes of classes 0 and 1.",
           metavar="N or N0,N1"),
    option("model", str, "synergetic", "Options", "synergetic (the paper's), synergetic-heavy-tailed, "
           "synergetic-skewed, synergetic-outliers, prior or shapes.", metavar="NAME"),
    option("seed", int, 1, "Options", "Same seed, same data.", min=0),
    option("set_", list[str] | None, None, "Options", "A constant of the model: correlation=0.5; may be repeated.",
           metavar="KEY=VALUE"),
    option("decimals", int, 4, "Options", "Decimal places of the values.", min=0, max=15),
    *TALKING,
)  # fmt: skip
def simulate(options: dict[str, Any]) -> None:
    """Write synthetic data and their truth, to practise on."""
    from bayesieve.cli.simulate import run_simulate  # noqa: PLC0415 - imports numba and more

    run_simulate({**options, "set": options["set_"]})


@app.command(cls=Command)
@with_options(
    argument("study", str | None, "figure-1a, figure-1b, table-1, calibration, sensitivity, trust, "
             "correlations, colon, or a TOML file.", None,
             metavar="STUDY"),
    option("out", Path | None, None, OUTPUT, "Folder of the results; the study's name.", "-o", metavar="FOLDER"),
    option("iterations", int | None, None, "Options", "Data sets per number of samples; colon: repetitions of "
           "cross-validation, a tenth of the subsamples (10).", min=1),
    option("sizes", str | None, None, "Options", "Numbers of samples.", metavar="N,N,..."),
    option("methods", str | None, None, "Options", "Some of the study's methods.", metavar="NAME,..."),
    option("scenarios", str | None, None, "Options", "trust: some of its scenarios.", metavar="NAME,..."),
    option("features", int | None, None, "Options", "trust: number of features, 20,000 if not given; colon: "
           "probes that --synthetic makes, 54,675 if not given.", min=100),
    option("seed", int | None, None, "Options", "Another seed than the study's.", min=0),
    option("workers", int | None, None, "Options", "Processes; one per core by default.", min=1),
    option("dask", str | None, None, "Options", "Instead a Dask cluster: local:4 (processes), or the address of a "
           "scheduler.", metavar="tcp://HOST:PORT"),
    option("list_", bool, False, "Options", "Show the study as TOML, or all studies, and do nothing."),
    option("series", Path | None, None, _COLON, "GSE17538-GPL570_series_matrix.txt.gz, from GEO.",
           metavar="FILE"),
    option("platform", Path | None, None, _COLON, "GPL570.txt, from GEO: probes and their genes.",
           metavar="FILE"),
    option("sets", Path | None, None, _COLON, "Gene sets (GMT) for Table S5.", metavar="FILE"),
    option("table", Path | None, None, _COLON, "Instead of a series: any table with a column of stages.",
           metavar="FILE"),
    option("labels", str | None, None, _COLON, "Field or column of stages; ajcc_stage, or found by its name.",
           metavar="NAME"),
    option("synthetic", bool, False, _COLON, "Instead of either: make a series of the same shape first."),
    option("reading", words("numbers", "words", "both") | None, None, _COLON,
           "Adenomas: late as in the paper's numbers (28 v 210), early as in its words, or both."),
    option("mcmc", bool, False, _COLON, "Also BPM and BayesReg, which take long."),
    *TALKING,
)  # fmt: skip
def study(options: dict[str, Any]) -> None:
    """Run a simulation study with known truth, or the paper's application to colon cancer.

    Run it again to go on where it was interrupted.

    bayesieve study figure-1b --iterations 60
    """
    from bayesieve.cli.study import run_study_command  # noqa: PLC0415 - imports numba and more

    run_study_command(options)


@app.command(cls=Command)
@with_options(
    argument("file", Path | None, "With --report: the file, bayesieve-demo.html if not given.", None,
             metavar="[FILE.html]"),
    option("report", bool, False, OUTPUT, "Also write a report to look at: bayesieve demo --report demo.html"),
    option("samples", int, 200, "Options", "Even number of samples.", min=4),
    option("seed", int, 1, "Options", "Seed of the synthetic data.", min=0),
    option("top", int, 15, "Options", "Rows of the table.", min=1),
    option("write_data", Path | None, None, OUTPUT, "Also write the data, for practice: .csv, .tsv or .parquet."),
)  # fmt: skip
def demo(options: dict[str, Any]) -> None:
    """Screen the paper's synthetic microarray: 20,000 features, 100 of them true markers."""
    from bayesieve.cli.demo import report_file, run_demo  # noqa: PLC0415 - imports numba and more

    page = report_file(options["report"], options["file"])
    data = options["write_data"] and Path(options["write_data"])
    run_demo(options["samples"], options["seed"], options["top"], data, page)
