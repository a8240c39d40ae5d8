"""The report of a study: figures, the table of means, and a summary as Markdown and as HTML."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from bayesieve.errors import DataError, FileError, MissingExtraError
from bayesieve.study.drawing import FORMATS, rendered, write_whole
from bayesieve.study.figures import figures_of
from bayesieve.study.measures import COSTS
from bayesieve.study.page import html_page, markdown_page
from bayesieve.study.scene import Scene
from bayesieve.study.summary import study_page

if TYPE_CHECKING:
    import polars as pl

    from bayesieve.study.store import StudyResults


_MAIN = ("accuracy", "sensitivity", "costs")  # the figure that has the name of the study


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
    target = Path(folder)
    try:
        target.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileError(f"Cannot make the folder {target}: {error.strerror or error}.") from error
    scene = Scene(results)
    files, pictures, missing = _figures(scene, formats)
    page = study_page(scene, pictures, command)
    files["results.csv"] = means_table(results).write_csv(float_precision=6).encode()
    files["summary.md"] = markdown_page(page).encode()
    files["summary.html"] = html_page(f"Study {scene.design.name}", page).encode()
    for name, data in files.items():
        write_whole(target / name, data)
    if missing is not None:
        raise missing
    return tuple(target / name for name in files)


def _figures(
    scene: Scene, formats: Sequence[str]
) -> tuple[dict[str, bytes], dict[str, tuple[str, bytes]], MissingExtraError | None]:
    """Files of the figures; file and SVG of each for the page; and what is missing if they cannot be drawn."""
    files: dict[str, bytes] = {}
    pictures: dict[str, tuple[str, bytes]] = {}
    for name, draw in figures_of(scene).items():
        stem = scene.design.name if name in _MAIN else f"{scene.design.name}-{name}"
        try:
            figure = draw()
        except MissingExtraError as error:
            return {}, {}, error
        made = {form: rendered(figure, form) for form in dict.fromkeys([*formats, "svg"])}
        files |= {f"{stem}.{form}": made[form] for form in formats}
        pictures[name] = (f"{stem}.{_shown(formats)}", made["svg"])
    return files, pictures, None


def _shown(formats: Sequence[str]) -> str:
    """The format that Markdown shows: PNG rather than SVG, which some readers block."""
    return next((form for form in ("png", "svg") if form in formats), "svg")


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
