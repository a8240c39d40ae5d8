"""write_groups(): the markers of many groups as one HTML file, with an index and a page for every group."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from bayesieve.data import Label
from bayesieve.screening import EACH, GroupSelection
from bayesieve.utils import OptionError, check_writable, plural, replacing

LARGEST = 6_000_000  # bytes
_ROWS, _MOST_ROWS, _FEWEST_ROWS = 12_000, 200, 5  # of all pages together, and of one page
_SHOWN = 5  # names in the index

_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>{{ title }}</title>
<style>
:root { color-scheme: light dark; }
body { font: 15px/1.5 system-ui, sans-serif; margin: 0 auto; max-width: 72rem; padding: 1rem; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: .15rem .7rem .15rem 0; text-align: right; vertical-align: top; }
th { border-bottom: 1px solid; }
th.text, td.text { text-align: left; overflow-wrap: anywhere; }
tr.out { opacity: .55; }
.scroll { overflow-x: auto; }
nav a { margin-right: .6rem; }
@media screen {
  section { display: none; }
  section:target { display: block; }
  body:not(:has(section:target)) #index { display: block; }
}
</style>
</head>
<body>
<section id="index">
<h1>{{ title }}</h1>
{% for line in lines %}<p>{{ line }}</p>
{% endfor %}<div class="scroll"><table>
<thead><tr><th class="text" scope="col">group</th><th scope="col">samples</th><th scope="col">markers</th>
<th scope="col">higher</th><th scope="col">lower</th><th class="text" scope="col">strongest</th></tr></thead>
<tbody>
{% for page in pages %}<tr><td class="text"><a href="#{{ page.id }}">{{ page.group }}</a></td>
<td>{{ page.size }}</td><td>{{ page.selected }}</td><td>{{ page.higher }}</td><td>{{ page.lower }}</td>
<td class="text">{{ page.strongest }}</td></tr>
{% endfor %}</tbody></table></div>
</section>
{% for page in pages %}<section id="{{ page.id }}">
<nav><a href="#index">All groups</a>{% if page.before %}<a href="#{{ page.before }}">Previous</a>{% endif %}
{% if page.after %}<a href="#{{ page.after }}">Next</a>{% endif %}</nav>
<h1>{{ page.group }}</h1>
<p>{{ page.about }}</p>
<div class="scroll"><table>
<thead><tr>{% for name, text in page.columns %}<th scope="col"{% if text %} class="text"{% endif %}>
{{ name }}</th>{% endfor %}</tr></thead>
<tbody>
{% for row in page.rows %}<tr{% if not row.selected %} class="out"{% endif %}>{% for cell, text in row.cells %}
<td{% if text %} class="text"{% endif %}>{{ cell }}</td>{% endfor %}</tr>
{% endfor %}</tbody></table></div>
</section>
{% endfor %}</body>
</html>
"""
_COLUMNS = (
    ("rank", "rank", "d"), ("feature", "feature", "text"), ("direction", "in this group", "text"),
    ("log_odds", "log-odds", ".2f"), ("probability", "probability", ".4f"),
    ("expected_fdr", "expected FDR", ".2g"),
    ("difference", "difference", "+.3g"), ("log_rate_ratio", "log rate ratio", "+.3g"),
    ("log2_fold_change", "log2 fold change", "+.2f"), ("mean_group", "mean", ".3g"),
    ("mean_reference", "mean of reference", ".3g"),
)  # fmt: skip


def write_groups(
    lists: GroupSelection, path: str | os.PathLike[str], *, title: str | None = None, described: Sequence[str] = ()
) -> Path:
    """Write the lists of all groups as one HTML file without scripts, below 6 MB.

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
    from jinja2 import Environment  # noqa: PLC0415 - slow to import

    template = Environment(autoescape=True, trim_blocks=False).from_string(_PAGE)
    groups = lists.markers.groups
    n_rows = min(max(_ROWS // len(groups), _FEWEST_ROWS), _MOST_ROWS, lists.markers.n_features)
    lines = [*described, *lists.lines()]
    while True:
        pages = [_page(lists, k, n_rows) for k in range(len(groups))]
        content = template.render(title=title or f"Markers of {len(groups)} groups", lines=lines, pages=pages)
        data = content.encode("utf-8", "replace")
        if len(data) < LARGEST or n_rows <= 1:
            break
        n_rows //= 2
    with replacing(path) as file:
        file.write(data)
    return Path(path)


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
    return str(value) if form == "text" else "" if value != value else format(value, form)  # noqa: PLR0124 - NaN
