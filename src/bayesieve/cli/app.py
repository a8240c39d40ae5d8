"""The commands and their options."""

from __future__ import annotations

from typing import Annotated

import typer

import bayesieve

app = typer.Typer(
    name="bayesieve",
    help="Which of thousands of features differ between two classes? Optimal Bayesian feature filtering.",
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
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
    """Which of thousands of features differ between two classes? Optimal Bayesian feature filtering."""


@app.command()
def demo(
    samples: Annotated[int, typer.Option(help="Even number of samples.", min=4)] = 200,
    seed: Annotated[int, typer.Option(help="Seed of the synthetic data.", min=0)] = 1,
    top: Annotated[int, typer.Option(help="Rows of the table.", min=1)] = 15,
) -> None:
    """Screen the paper's synthetic microarray: 20,000 features, 100 of them true markers."""
    from bayesieve.cli.demo import run_demo  # noqa: PLC0415 - imports numba and more

    run_demo(samples, seed, top)
