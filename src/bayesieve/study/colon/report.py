"""The report of the application: tables as CSV, figures, and one page as Markdown and as HTML."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import bayesieve
from bayesieve.study.colon.figures import captions_of, figures_of
from bayesieve.study.colon.published import TITLES, published
from bayesieve.study.colon.run import ColonResults
from bayesieve.study.colon.section import Section, columns_of
from bayesieve.study.colon.series import READINGS, codes_of
from bayesieve.study.colon.statements import statements_of
from bayesieve.study.colon.tables import sections_of
from bayesieve.study.colon.work import QUICK, REGRESSIONS, options_of
from bayesieve.study.report import draw_pictures, origin, render_pages
from bayesieve.utils import FORMATS, normalise_formats, write_files

NAME = "colon"
TITLE = "The paper's application: colon cancer, early against late stages, from probes to genes and pathways"
_MADE = (
    "THE DATA ARE MADE by this command and are no patients': nothing here says anything about colon cancer or "
    "about the paper's findings. They show that every step runs on a series of this shape, and what it costs. "
)
_CHECKS = "First what the paper's own numbers decide, then what this run decides for its own data."


def write_colon_report(
    results: ColonResults,
    folder: str | os.PathLike[str],
    *,
    command: str = "",
    formats: Sequence[str] = FORMATS,
) -> tuple[Path, ...]:
    """Write every table as CSV, the figures, ``summary.md`` and ``summary.html``, each whole or not at all.

    Parameters
    ----------
    results
        What :func:`run_colon` returned.
    folder, command, formats
        As for :func:`write_report`.

    Raises
    ------
    MissingExtraError
        If matplotlib is not installed; everything but the figures is written first.

    Examples
    --------
    >>> import tempfile
    >>> from bayesieve.study import ColonDesign, run_colon, write_colon_report
    >>> folder = tempfile.mkdtemp()
    >>> design = ColonDesign(synthetic=True, features=400, methods=("obf-jp", "welch"))
    >>> files = write_colon_report(run_colon(design, folder), folder, formats=["svg"])
    >>> sorted(path.name for path in files)[:3]
    ['colon-s1.svg', 'colon-s3.svg', 'colon.svg']
    """
    sections = list(sections_of(results))
    files, pictures, missing = draw_pictures(
        NAME, figures_of(results), captions_of(results), "s2", normalise_formats(formats)
    )
    for section in sections:
        files[f"{section.name}.csv"] = _csv(section)
    files["results.csv"] = _ranks_csv(results)
    files |= render_pages(_page(results, sections, pictures, command))
    paths = write_files(folder, files)
    if missing is not None:
        raise missing
    return paths


def _csv(section: Section) -> bytes:
    """Return a table as CSV; a column that holds texts and numbers is one of texts."""
    columns = {}
    for name, cells in columns_of(section).items():
        texts = any(isinstance(cell, str) for cell in cells)
        plain = [None if cell is None else str(cell) for cell in cells] if texts else list(cells)
        columns[name] = pl.Series(name, plain, strict=False)
    return pl.DataFrame(columns).write_csv().encode()  # p-values keep their digits


def _ranks_csv(results: ColonResults) -> bytes:
    """Return the rank of every gene by every method, in the order of the first."""
    columns: dict[str, Any] = {}
    order: dict[str, int] = {}
    for (method, reading), found in results.rankings.items():
        if not order:
            order = {gene: k for k, gene in enumerate(found.genes.genes)}
            columns = {"gene": list(order), "probe": list(found.genes.features)}
        ranks = np.zeros(len(order), dtype=np.int64)
        for rank, gene in enumerate(found.genes.genes, 1):
            if gene in order:
                ranks[order[gene]] = rank
        name = method if len(results.readings) == 1 else f"{method}, {reading}"
        columns[name] = [rank or None for rank in ranks.tolist()]
    return pl.DataFrame(columns).write_csv().encode()


def _page(
    results: ColonResults, sections: Sequence[Section], pictures: list[dict[str, str]], command: str
) -> dict[str, Any]:
    return {
        "name": NAME,
        "title": f"{TITLE}.",
        "design": _describe(results),
        "method_columns": ("method", "name", "works on", "seconds", "options"),
        "methods": list(_method_rows(results)),
        "pictures": pictures,
        "numbers": [
            {"title": each.title, "lead": each.lead, "head": each.head, "rows": each.shown()} for each in sections
        ],
        "lead_of_checks": _CHECKS,
        "checks": list(statements_of(results)),
        "command": command,
        "origin": origin(bayesieve.__version__),
    }


def _describe(results: ColonResults) -> str:
    table, design = results.table, results.design
    sizes = np.bincount(codes_of(table.stages, results.reading)[table.stages >= 0], minlength=2)
    text = _MADE if design.synthetic else ""
    text += (
        f"{table.path} ({table.form}): {table.stages.size:,} samples, {len(table.features):,} of "
        f"{results.n_probes:,} features with a gene, {results.n_genes:,} genes and families by "
        f"{results.gene_map.source}. Classes: {READINGS[results.reading]}, {sizes[0]} v {sizes[1]}; "
    )
    text += (
        "quick methods also by the other reading. " if len(results.readings) > 1
        else "there are no adenomas, so that both readings are the same. " if not table.n_adenomas
        else "the other reading was not asked for. "
    )  # fmt: skip
    if design.table is not None and design.platform is None:
        text += "Features are genes here: where a table says probes, genes are meant. "
    if table.processing and not design.synthetic:
        text += f"The series says about its values: {table.processing[:300]} "
    if table.values.max() > 100:
        text += "Values above 100 are no logarithms: the paper works on logarithms to base 2. "
    notes = [*results.notes]
    for found in results.rankings.values():
        notes += [f"{TITLES[found.method]}: {text}" for text in found.warnings]
    return text + " ".join(dict.fromkeys(notes))


def _method_rows(results: ColonResults) -> list[tuple[str, ...]]:
    rows: list[tuple[str, ...]] = []
    for method in results.design.methods:
        seconds = results.seconds.get(f"{method}-{results.reading}")
        took = "" if seconds is None else f"{seconds:.1f}"
        if method in REGRESSIONS:
            kind = published()["regressions"][method]["title"]
            repeats = results.design.repeats
            words = f"penalties 0.005 to 0.2; 10 folds x {repeats}; {10 * repeats} subsamples of 90% of a class"
            rows.append((kind, method, "all probes", took, words))
            continue
        options = options_of(method)
        screen = options.pop("screen", None)
        on = "all probes" if method in QUICK else f"the first probes of {screen}"
        words = ", ".join(f"{name} = {value}" for name, value in options.items()) or "defaults"
        rows.append((TITLES[method], method, on, took, words))
    return rows
