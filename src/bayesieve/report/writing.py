"""write(): a report as one file."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from bayesieve.errors import OptionError
from bayesieve.posterior import FeaturePosterior
from bayesieve.report.page import page
from bayesieve.report.story import Story
from bayesieve.selection import Rule, Selection
from bayesieve.utils import check_writable, replacing


def write(
    found: FeaturePosterior | Selection,
    path: str | os.PathLike[str],
    *,
    rule: Rule | str | None = None,
    data: Any = None,
    labels: Any = None,
    annotation: Any = None,
    title: str | None = None,
    transform: str = "none",
    n_values: int = 500,
    sites: Any = None,
) -> Path:
    """Write a report: one HTML file that needs no network, with live rules, charts and the whole table.

    Parameters
    ----------
    found
        What :func:`bayesieve.screen` returned, or the selection of a rule.
    path
        The file to write or replace; it ends in ``.html``.
    rule
        Rule of the list that the page opens with, for example ``bs.FixedSize(100)``; MNC when not given, and
        for a selection whatever gave it.
    data, labels
        What was screened, to show the values of the strongest features: a table with the class of every sample,
        or what :func:`bayesieve.read_table` returned. Their means are compared with those of the screen.
    annotation
        Columns about the features for the table: a mapping from names of columns to their values (in feature
        order, or by feature name), or a data frame.
    title
        Title of the page; the classes when not given.
    transform
        How values were transformed before the screen, to be said on the page.
    n_values
        Number of features whose values go into the file; 0 leaves out everything about single samples.
    sites
        The same site by site, see :class:`bayesieve.screening.sites.SiteView`.

    Returns
    -------
    pathlib.Path
        The file.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import numpy as np
    >>> import bayesieve as bs
    >>> X, y = np.random.default_rng(0).normal(size=(40, 100)), ["control"] * 20 + ["case"] * 20
    >>> posterior = bs.screen(X, y, classes=("control", "case"))
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "report.html"
    >>> bs.report.write(posterior, path, data=X, labels=y, title="Practice").name
    'report.html'
    """
    check_writable(path)
    if Path(path).suffix.lower() not in (".html", ".htm"):
        raise OptionError(f"A report is an HTML file; let {os.fspath(path)!r} end in .html.")
    story = Story.of(
        found, rule=rule, data=data, labels=labels, n_values=n_values, annotation=annotation, title=title,
        transform=transform, sites=sites,
    )  # fmt: skip
    return write_story(story, path)


def write_story(story: Story, path: str | os.PathLike[str]) -> Path:
    """Write the page of a story, or leave what stood there as it was."""
    content = page(story)
    with replacing(path) as file:
        file.write(content)
    return Path(path)
