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


for command in (report, figures, simulate, study, demo):
    app.command()(command)
