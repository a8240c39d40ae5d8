"""Commands about data whose truth is known: simulate, study and demo."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from bayesieve.cli import options as o
from bayesieve.cli.console import endings
from bayesieve.cli.options import plain_params


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
