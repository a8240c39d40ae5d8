"""Commands about stored results: report and figures."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from bayesieve.cli import compared as c, options as o
from bayesieve.cli.console import endings
from bayesieve.cli.options import CHOICE, INPUT, OUTPUT, option, plain_params

ResultArgument = Annotated[
    Path,
    typer.Argument(
        metavar="RESULT",
        help="What screen --out wrote (.csv, .tsv, .parquet, .json), a statistics file, or a manifest.",
        show_default=False,
    ),
]
WrittenBy = Annotated[
    Path | None,
    option(
        INPUT, "--manifest", metavar="FILE", help="Manifest of the run that wrote the result, if there is one."
    ),
]
Prior = Annotated[
    str | None,
    option(
        CHOICE,
        "--prior-probability",
        "-p",
        metavar="P|FILE:COLUMN",
        help="Another share of markers believed in than the result's.",
    ),
]
Annotation = Annotated[
    Path | None,
    option(INPUT, "--features", "--annotation", metavar="FILE", help="Table of feature annotations for the page."),
]


def report(  # noqa: PLR0913, PLR0917 - every option of the command
    ctx: typer.Context,
    result: ResultArgument,
    manifest: WrittenBy = None,
    features: Annotation = None,
    classes: o.Classes = None,
    blocks: c.Blocks = None,
    prior_ratio: o.PriorRatio = None,
    prior_probability: Prior = None,
    criterion: o.CriterionOption = None,
    threshold: o.Threshold = None,
    n_selected: o.NSelected = None,
    expected_false_positives: o.ExpectedFalse = None,
    proportion: o.Proportion = None,
    confidence: o.Confidence = None,
    out: Annotated[
        Path | None,
        option(OUTPUT, "--out", "-o", metavar="FILE", help="The page; RESULT.report.html if not given."),
    ] = None,
    title: Annotated[str | None, option(OUTPUT, "--title", metavar="TEXT", help="Title of the page.")] = None,
    report_values: o.ReportValues = None,
    quiet: o.Quiet = False,
    verbose: o.Verbose = False,
    json_log: o.JsonLog = False,
) -> None:  # fmt: skip
    """Write the report of a RESULT: one HTML file with live rules, charts and the whole table.

    bayesieve report ranked.csv --manifest run.json --out report.html
    """
    with endings():
        from bayesieve.cli.reporting import run_report  # noqa: PLC0415 - imports numba and more

        run_report(plain_params(ctx.params), str(result), title)


def figures(  # noqa: PLR0913, PLR0917 - every option of the command
    ctx: typer.Context,
    result: ResultArgument,
    out: Annotated[
        Path,
        option(OUTPUT, "--out", "-o", metavar="FOLDER", help="Folder of the figures; made if it is not there.",
               show_default=False),
    ],
    manifest: WrittenBy = None,
    classes: o.Classes = None,
    blocks: c.Blocks = None,
    prior_ratio: o.PriorRatio = None,
    prior_probability: Prior = None,
    criterion: o.CriterionOption = None,
    threshold: o.Threshold = None,
    n_selected: o.NSelected = None,
    expected_false_positives: o.ExpectedFalse = None,
    proportion: o.Proportion = None,
    confidence: o.Confidence = None,
    format_: Annotated[
        str, option(OUTPUT, "--format", metavar="NAMES", help="With commas between: svg, pdf, png.")
    ] = "svg,pdf,png",
    feature: Annotated[
        list[str] | None,
        option(OUTPUT, "--feature", metavar="NAME", help="Also draw this feature by itself; may be repeated."),
    ] = None,
    quiet: o.Quiet = False,
    verbose: o.Verbose = False,
    json_log: o.JsonLog = False,
) -> None:  # fmt: skip
    """Write the figures of a RESULT for a paper or a talk; needs the extra figures.

    bayesieve figures ranked.csv --out figures --format pdf --feature TP53
    """
    with endings():
        from bayesieve.cli.reporting import run_figures  # noqa: PLC0415 - imports numba and more

        run_figures(plain_params(ctx.params), str(result), format_, feature or ())
