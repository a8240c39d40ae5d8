"""write_groups(): the markers of many groups as one HTML file, with an index and a page for every group."""

from __future__ import annotations

import functools
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from bayesieve.data import Label
from bayesieve.report.page import bundle, hash_of, read_part, style, template
from bayesieve.screening import EACH, GroupSelection
from bayesieve.utils import OptionError, check_writable, plural, replacing

LARGEST = 6_000_000  # bytes
_ROWS, _MOST_ROWS, _FEWEST_ROWS = 12_000, 200, 5  # of all pages together, and of one page
_SHOWN = 5  # names in the index
_BAR = 120  # pixels of the longest bar

_COLUMNS = (
    ("rank", "rank", "d"), ("feature", "feature", "text"), ("direction", "in this group", "text"),
    ("log_odds", "log-odds", ".2f"), ("probability", "probability", "probability"),
    ("expected_fdr", "expected FDR", ".2g"),
    ("difference", "difference", "+.3g"), ("log_rate_ratio", "log rate ratio", "+.3g"),
    ("log2_fold_change", "log2 fold change", "+.2f"), ("mean_group", "mean", ".3g"),
    ("mean_reference", "mean of reference", ".3g"),
)  # fmt: skip


def write_groups(
    lists: GroupSelection, path: str | os.PathLike[str], *, title: str | None = None, described: Sequence[str] = ()
) -> Path:
    """Write the lists of all groups as one HTML file that needs no network, below 6 MB.

    Parameters
    ----------
    lists
        What :meth:`bayesieve.GroupMarkers.select` returned.
    path
        The file to write or replace; it ends in ``.html``.
    title
        Title of the page.
    described
        Sentences about the data, to stand above those about the result.

    Returns
    -------
    pathlib.Path
        The file.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import numpy as np
    >>> import bayesieve as bs
    >>> X, clusters = np.random.default_rng(0).normal(size=(90, 50)), np.repeat(["B", "NK", "T"], 30)
    >>> lists = bs.screen_groups(X, clusters, shuffles=0).select()
    >>> bs.report.write_groups(lists, pathlib.Path(tempfile.mkdtemp()) / "markers.html").name
    'markers.html'
    """
    if Path(path).suffix.lower() not in (".html", ".htm"):
        raise OptionError(f"A report is an HTML file; let {os.fspath(path)} end in .html.")
    check_writable(path)
    from markupsafe import Markup  # noqa: PLC0415 - only for reports

    groups = lists.markers.groups
    n_rows = min(max(_ROWS // len(groups), _FEWEST_ROWS), _MOST_ROWS, lists.markers.n_features)
    lead, *lines = lists.lines()
    while True:
        pages = [_page(lists, k, n_rows) for k in range(len(groups))]
        _add_bars(pages)
        content = template("groups.html.j2").render(
            title=title or f"Markers of {len(groups)} groups", lead=lead, lines=[*lines, *described], pages=pages,
            csp=_policy(), style=Markup(_style()), script=Markup(_script()),
        )  # fmt: skip
        data = str(content).encode("utf-8", "xmlcharrefreplace")
        if len(data) < LARGEST or n_rows <= 1:
            break
        n_rows //= 2
    with replacing(path) as file:
        file.write(data)
    return Path(path)


@functools.cache
def _style() -> str:
    return style() + "\n" + read_part("styles", "groups.css")


@functools.cache
def _script() -> str:
    return bundle("groups_page", lambda name: read_part("scripts", f"{name}.js"))


def _policy() -> str:
    return (
        f"default-src 'none'; script-src {hash_of(_script())}; style-src {hash_of(_style())}; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


def _add_bars(pages: list[dict[str, Any]]) -> None:
    """Add the lengths of two bars to every group: markers that are higher and lower in it."""
    most = max((sum(page["counts"]) for page in pages), default=0) or 1
    for page in pages:
        page["bar"] = [round(_BAR * count / most, 1) for count in page["counts"]]


def _page(lists: GroupSelection, k: int, n_rows: int) -> dict[str, Any]:
    """What the template needs to know of a group."""
    markers = lists.markers
    group = markers.groups[k]
    table, counts = _strongest(lists, group, n_rows)
    known = [
        ("reference", "against", "text"),
        *(column for column in _COLUMNS if column[0] in table),
    ]
    known = known if markers.reference == EACH else known[1:]
    cells = [[_text(value, form) for value in table[name]] for name, _, form in known]
    texts = [form == "text" for *_, form in known]
    rows = [
        {"selected": bool(chosen), "cells": list(zip(row, texts, strict=True))}
        for chosen, row in zip(table["selected"], zip(*cells, strict=True), strict=True)
    ]
    n = counts["selected"]
    size = markers.group_sizes[group]
    about = (
        f"{plural(size, 'sample')}; {plural(n, 'marker')}, of which {counts['higher']:,} are higher in this group "
        f"and {counts['lower']:,} lower. The {len(rows):,} strongest features are shown; grey ones are not "
        "selected."
    )
    return {
        "id": f"group-{k}", "group": str(group), "size": f"{size:,}", "selected": f"{n:,}",
        "higher": f"{counts['higher']:,}", "lower": f"{counts['lower']:,}", "about": about,
        "counts": (counts["higher"], counts["lower"]),
        "strongest": ", ".join(lists.names(group)[:_SHOWN]),
        "columns": [(head, form == "text") for _, head, form in known],
        "rows": rows, "before": f"group-{k - 1}" if k else "",
        "after": f"group-{k + 1}" if k + 1 < len(markers.groups) else "",
    }  # fmt: skip


def _strongest(lists: GroupSelection, group: Label, n_rows: int) -> tuple[dict[str, Any], dict[str, int]]:
    """The first rows of a group, the largest log-odds first, and how many features of it are selected."""
    markers = lists.markers
    counts = {"selected": 0, "higher": 0, "lower": 0}
    for i, turned in markers.places(group):
        sign = -markers.direction[i] if turned else markers.direction[i]
        chosen = lists.mask[i]
        counts["selected"] += int(chosen.sum())
        counts["higher"] += int((chosen & (sign > 0)).sum())
        counts["lower"] += int((chosen & (sign < 0)).sum())
    table = lists.to_dict(groups=[group], n_rows=n_rows)
    order = np.argsort(-np.asarray(table["log_odds"]), kind="stable")[:n_rows].tolist()
    return {name: [column[i] for i in order] for name, column in table.items()}, counts


def _text(value: Any, form: str) -> str:
    if form == "probability":
        return ">0.9999" if value > 0.9999 else f"{value:.4f}"
    return str(value) if form == "text" else "" if value != value else format(value, form)  # noqa: PLR0124 - NaN
