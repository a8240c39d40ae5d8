"""The commands and their options."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

import bayesieve
from bayesieve.cli import compared as c, options as o
from bayesieve.cli.console import endings
from bayesieve.cli.enums import BlockModel, DegeneratePolicy, Join, MissingPolicy, ModelName, Transform
from bayesieve.cli.options import plain_params
from bayesieve.cli.report import figures, report

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
def screen(  # noqa: PLR0913, PLR0917 - every option of the command
    ctx: typer.Context,
    table: o.TableArgument,
    labels: o.Labels = None,
    classes: o.Classes = None,
    samples_in: o.SamplesIn = None,
    id_column: o.IdColumn = None,
    ignore: o.Ignore = None,
    transform: o.TransformOption = Transform.none,
    missing: o.MissingOption = MissingPolicy.raise_,
    na_values: o.NaValues = None,
    encoding: o.Encoding = None,
    decimal: o.Decimal = ".",
    delimiter: o.Delimiter = None,
    layer: o.Layer = None,
    memory: o.MemoryOption = None,
    threads: o.Threads = None,
    config: o.Config = None,
    model: c.ModelOption = ModelName.gaussian,
    levels: c.LevelsOption = None,
    patterns: c.PatternsOption = "any",
    blocks: c.Blocks = None,
    block_model: c.BlockModelOption = BlockModel.own,
    pairs: c.Pairs = None,
    exposures: c.Exposures = None,
    informative_missing: c.InformativeMissing = False,
    prior: o.PriorOption = "jeffreys",
    prior_ratio: o.PriorRatio = None,
    prior_probability: o.PriorProbability = "0.01",
    resolution: o.Resolution = None,
    degenerate: o.Degenerate = DegeneratePolicy.floor,
    criterion: o.CriterionOption = None,
    threshold: o.Threshold = None,
    n_selected: o.NSelected = None,
    expected_false_positives: o.ExpectedFalse = None,
    proportion: o.Proportion = None,
    confidence: o.Confidence = None,
    robust: c.Robust = False,
    kinds: c.KindsOption = False,
    effects: c.EffectsOption = False,
    fragility: c.FragilityOption = False,
    p_values: c.PValuesOption = False,
    permutations: c.PermutationsOption = None,
    seed: c.SeedOption = None,
    out: o.Out = None,
    report: o.Report = None,
    report_values: o.ReportValues = None,
    features: o.Features = None,
    manifest: o.ManifestOption = None,
    config_out: o.ConfigOut = None,
    quiet: o.Quiet = False,
    verbose: o.Verbose = False,
    json_log: o.JsonLog = False,
) -> None:
    """Rank the features of a TABLE by the probability that the classes differ in them.

    bayesieve screen expression.csv --labels pheno.csv:stage --classes "early=1; late=2,3,4" --out ranked.csv
    """
    with endings():
        from bayesieve.cli.screen import run_screen  # noqa: PLC0415 - imports numba and more

        run_screen(plain_params(ctx.params))


@app.command()
def compare(  # noqa: PLR0913, PLR0917 - every option of the command
    ctx: typer.Context,
    table: o.TableArgument,
    labels: o.Labels = None,
    classes: o.Classes = None,
    samples_in: o.SamplesIn = None,
    id_column: o.IdColumn = None,
    ignore: o.Ignore = None,
    transform: o.TransformOption = Transform.none,
    missing: o.MissingOption = MissingPolicy.raise_,
    na_values: o.NaValues = None,
    encoding: o.Encoding = None,
    decimal: o.Decimal = ".",
    delimiter: o.Delimiter = None,
    layer: o.Layer = None,
    memory: o.MemoryOption = None,
    threads: o.Threads = None,
    config: o.Config = None,
    methods: c.MethodsOption = "obf-jp,welch,limma,bd",
    top: c.TopOption = None,
    out: o.Out = None,
    config_out: o.ConfigOut = None,
    quiet: o.Quiet = False,
    verbose: o.Verbose = False,
    json_log: o.JsonLog = False,
) -> None:
    """Rank the features of a TABLE by several methods and compare the lists.

    bayesieve compare expression.csv --labels pheno.csv:stage --methods obf-jp,welch,limma,mi --out ranks.csv
    """
    with endings():
        from bayesieve.cli.compare import run_compare  # noqa: PLC0415 - imports numba and more

        run_compare(plain_params(ctx.params))


@app.command()
def stats(  # noqa: PLR0913, PLR0917 - every option of the command
    ctx: typer.Context,
    table: o.TableArgument,
    out: o.StatisticsOut,
    labels: o.Labels = None,
    classes: o.Classes = None,
    samples_in: o.SamplesIn = None,
    id_column: o.IdColumn = None,
    ignore: o.Ignore = None,
    transform: o.TransformOption = Transform.none,
    missing: o.MissingOption = MissingPolicy.raise_,
    na_values: o.NaValues = None,
    encoding: o.Encoding = None,
    decimal: o.Decimal = ".",
    delimiter: o.Delimiter = None,
    layer: o.Layer = None,
    memory: o.MemoryOption = None,
    threads: o.Threads = None,
    config: o.Config = None,
    site: o.Site = None,
    min_cell: o.MinCell = 5,
    config_out: o.ConfigOut = None,
    quiet: o.Quiet = False,
    verbose: o.Verbose = False,
    json_log: o.JsonLog = False,
) -> None:
    """Write the statistics of a TABLE to a file that may be shared instead of the patients."""
    with endings():
        from bayesieve.cli.federated import run_stats  # noqa: PLC0415 - imports numba and more

        run_stats(plain_params(ctx.params))


@app.command()
def merge(
    files: Annotated[list[Path], typer.Argument(help="Statistics files of several sites.", show_default=False)],
    out: o.StatisticsOut,
    join: Annotated[Join, typer.Option(help="Features that all sites have, or that any has.")] = Join.inner,
    quiet: o.Quiet = False,
    verbose: o.Verbose = False,
    json_log: o.JsonLog = False,
) -> None:
    """Merge statistics files of several sites into one; each stays a block of its own."""
    with endings():
        from bayesieve.cli.console import Talk  # noqa: PLC0415
        from bayesieve.cli.federated import run_merge  # noqa: PLC0415 - imports numba and more

        run_merge(files, out, "outer" if join is Join.outer else "inner", Talk(quiet, verbose, json_log))


@app.command()
def remove(
    file: Annotated[Path, typer.Argument(help="Merged statistics file.", show_default=False)],
    site: Annotated[str, typer.Argument(help="Name of the site to drop.", show_default=False)],
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Write here instead of replacing the file.")
    ] = None,
    quiet: o.Quiet = False,
    verbose: o.Verbose = False,
    json_log: o.JsonLog = False,
) -> None:
    """Drop one site from a merged statistics file."""
    with endings():
        from bayesieve.cli.console import Talk  # noqa: PLC0415
        from bayesieve.cli.federated import run_remove  # noqa: PLC0415 - imports numba and more

        run_remove(file, site, out, Talk(quiet, verbose, json_log))


for command in (report, figures):
    app.command()(command)


@app.command()
def simulate(
    ctx: typer.Context,
    out: Annotated[
        Path,
        typer.Option(
            "--out",
            "-o",
            metavar="FILE",
            show_default=False,
            help="Data: .csv, .tsv (also .gz) or .parquet; the truth is written beside them, as NAME.truth.csv.",
        ),
    ],
    n: Annotated[
        str, typer.Option("--n", metavar="N or N0,N1", help="Even number of samples, or sizes of classes 0 and 1.")
    ] = "200",
    model: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="synergetic (the paper's), synergetic-heavy-tailed, synergetic-skewed, synergetic-outliers "
            "or prior.",
        ),
    ] = "synergetic",
    seed: Annotated[int, typer.Option(min=0, help="Same seed, same data.")] = 1,
    set_: Annotated[
        list[str] | None,
        typer.Option(
            "--set", metavar="KEY=VALUE", help="A constant of the model: correlation=0.5; may be repeated."
        ),
    ] = None,
    decimals: Annotated[int, typer.Option(min=0, max=15, help="Decimal places of the values.")] = 4,
    quiet: o.Quiet = False,
    verbose: o.Verbose = False,
    json_log: o.JsonLog = False,
) -> None:
    """Write synthetic data and their truth, to practise on."""
    with endings():
        from bayesieve.cli.simulate import run_simulate  # noqa: PLC0415 - imports numba and more

        given = plain_params(ctx.params)
        run_simulate({**given, "set": given.pop("set_")})


@app.command()
def study(  # noqa: PLR0913, PLR0917 - every option of the command
    ctx: typer.Context,
    study: Annotated[
        str | None,
        typer.Argument(
            metavar="STUDY",
            help="figure-1a, figure-1b, table-1, calibration, sensitivity, or a TOML file.",
            show_default=False,
        ),
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", metavar="FOLDER", help="Folder of the results; the study's name.")
    ] = None,
    iterations: Annotated[int | None, typer.Option(help="Data sets per number of samples.", min=1)] = None,
    sizes: Annotated[str | None, typer.Option(metavar="N,N,...", help="Numbers of samples.")] = None,
    methods: Annotated[str | None, typer.Option(metavar="NAME,...", help="Some of the study's methods.")] = None,
    seed: Annotated[int | None, typer.Option(help="Another seed than the study's.", min=0)] = None,
    workers: Annotated[int | None, typer.Option(help="Processes; one per core by default.", min=1)] = None,
    list_: Annotated[
        bool, typer.Option("--list", help="Show the study as TOML, or all studies, and do nothing.")
    ] = False,
    quiet: o.Quiet = False,
    verbose: o.Verbose = False,
    json_log: o.JsonLog = False,
) -> None:
    """Run a simulation study with known truth; run it again to go on where it was interrupted.

    bayesieve study figure-1b --iterations 60
    """
    with endings():
        from bayesieve.cli.study import run_study_command  # noqa: PLC0415 - imports numba and more

        run_study_command(plain_params(ctx.params))


@app.command()
def demo(
    file: Annotated[
        Path | None,
        typer.Argument(
            metavar="[FILE.html]",
            help="With --report: the file, bayesieve-demo.html if not given.",
            show_default=False,
        ),
    ] = None,
    report: Annotated[
        bool, typer.Option("--report", help="Also write a report to look at: bayesieve demo --report demo.html")
    ] = False,
    samples: Annotated[int, typer.Option(help="Even number of samples.", min=4)] = 200,
    seed: Annotated[int, typer.Option(help="Seed of the synthetic data.", min=0)] = 1,
    top: Annotated[int, typer.Option(help="Rows of the table.", min=1)] = 15,
    write_data: Annotated[
        Path | None,
        typer.Option("--write-data", help="Also write the data, for practice: .csv, .tsv or .parquet."),
    ] = None,
) -> None:
    """Screen the paper's synthetic microarray: 20,000 features, 100 of them true markers."""
    with endings():
        from bayesieve.cli.demo import report_file, run_demo  # noqa: PLC0415 - imports numba and more

        run_demo(samples, seed, top, write_data, report_file(report, file))
