"""write(): a report as one file - template, styles, script and payload put together, asking for nothing else."""

from __future__ import annotations

import base64
import functools
import hashlib
import os
import re
from collections.abc import Callable
from importlib import resources
from pathlib import Path
from typing import Any

from bayesieve.enrichment import Enrichment
from bayesieve.posterior import FeaturePosterior
from bayesieve.report.context import make_context
from bayesieve.report.data import ReportData
from bayesieve.report.encoding import script_json
from bayesieve.report.payload import payload
from bayesieve.screening import RunRecord
from bayesieve.selection import Rule, Selection
from bayesieve.utils import OptionError, check_writable, replacing

_OPTION = re.compile(r"((?<![\w-])--[a-z][a-z0-9-]*)")
_IMPORT = re.compile(r'^import \{([^}]*)\} from "\./(\w+)\.js";\n', re.MULTILINE)
_TYPES = re.compile(r"^/\*\* @import .*\*/\n", re.MULTILINE)  # of comments, for the checks only
_COMMENT = re.compile(r"^ *(?:/\*\*(?:[^*]|\*(?!/))*\*/|//.*)\n|/\*\* @(?:[^*]|\*(?!/))*\*/ ?", re.MULTILINE)
_INDENT = re.compile(r"^ +", re.MULTILINE)
_DECLARED = re.compile(r"^(export )?(?:(?:async )?function|const|let|class) (\w+)", re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:async )?function|const|let|class)", re.MULTILINE)
_OTHER = re.compile(r"^(?:(?:import|export|var)\b|(?:const|let) [{\[]).*|\bimport\(.*", re.MULTILINE)
STYLES = (
    "tokens",
    "base",
    "layout",
    "controls",
    "checks",
    "glossary",
    "table",
    "pairs",
    "views",
    "narrow",
    "print",
)


def write(  # noqa: PLR0913 - everything that may be known
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
    pairs: Any = None,
    plan: Any = None,
    sets: Enrichment | None = None,
    sample_columns: Any = None,
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
    pairs
        What :func:`bayesieve.screen_pairs` found in the same data; the strongest are drawn if there is ``data``.
    plan
        What :func:`bayesieve.plan` says about a further study of which this one is the pilot.
    sets
        Gene sets of the list, which :func:`bayesieve.enrich` returned.
    sample_columns
        Other columns about the samples, to be shown beside their values: a mapping from names to one entry per
        sample in the order of ``data``, or a data frame; those of the table or of the screen when not given.

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
    report = ReportData.of(
        found, rule=rule, data=data, labels=labels, n_values=n_values, annotation=annotation, title=title,
        record=RunRecord(transform=transform), sites=sites, pairs=pairs, plan=plan,
        sets=sets, sample_columns=sample_columns,
    )  # fmt: skip
    return write_page(report, path)


def write_page(report: ReportData, path: str | os.PathLike[str]) -> Path:
    """Write the page of a report, or leave what stood there as it was."""
    content = page(report)
    with replacing(path) as file:
        file.write(content)
    return Path(path)


def page(report: ReportData) -> bytes:
    """Return the whole page, in UTF-8."""
    from markupsafe import Markup  # noqa: PLC0415 - only for reports

    more = () if report.plan is None else ("plan",)
    text = template().render(
        csp=policy(*more),
        style=Markup(style(*more)),
        script=Markup(script()),
        payload=Markup(script_json(payload(report))),
        page=make_context(report),
    )
    return str(text).encode("utf-8", "xmlcharrefreplace")  # half a surrogate pair is no character


@functools.cache
def script() -> str:
    """Return the script: the module ``main`` and all it imports, in one function."""
    return bundle("main", lambda name: read_part("scripts", f"{name}.js"))


@functools.cache
def style(*more: str) -> str:
    """Return the style sheet: all its files, in order, and those of parts that not every page has."""
    return "\n".join(read_part("styles", f"{name}.css") for name in (*STYLES, *more))


def policy(*more: str) -> str:
    """Return the content security policy: nothing but the page's own script and style, by their hashes."""
    rules = (
        "default-src 'none'",
        f"script-src {hash_of(script())}",
        f"style-src {hash_of(style(*more))}",
        "img-src data:",
        "base-uri 'none'",
        "form-action 'none'",
    )
    return "; ".join(rules)


def hash_of(text: str) -> str:
    """Return the hash of a text as a content security policy names it."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def read_part(folder: str, name: str) -> str:
    """Return the text of a template, a style or a script."""
    found = resources.files("bayesieve.report") / folder / name
    return found.read_text(encoding="utf-8").replace("\r\n", "\n")


@functools.cache
def template(name: str = "report.html.j2") -> Any:
    """Return a template."""
    from jinja2 import Environment, FunctionLoader, StrictUndefined  # noqa: PLC0415 - only for reports

    loader = FunctionLoader(functools.partial(read_part, "templates"))
    environment = Environment(
        loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters["whole_options"] = _whole_options
    return environment.get_template(name)


def _whole_options(text: str) -> Any:
    """Mark options of the command line, which no line may break."""
    from markupsafe import Markup, escape  # noqa: PLC0415 - only for reports

    parts = _OPTION.split(text)
    marked = (Markup('<span class="option">{}</span>').format(part) if k % 2 else escape(part)
              for k, part in enumerate(parts))  # fmt: skip
    return Markup("").join(marked)


def write_plain(path: str | os.PathLike[str], name: str, content: Any) -> Path:
    """Write a page without script: a template and a style of that name, and what it tells.

    Parameters
    ----------
    path
        The file to write or replace; it ends in ``.html``.
    name
        Name of template and style.
    content
        What the template calls ``page``.

    Returns
    -------
    pathlib.Path
        The file.
    """
    check_writable(path)
    if Path(path).suffix.lower() not in (".html", ".htm"):
        raise OptionError(f"A report is an HTML file; let {os.fspath(path)!r} end in .html.")
    from markupsafe import Markup  # noqa: PLC0415 - only for reports

    sheet = style(name)
    rules = f"default-src 'none'; style-src {hash_of(sheet)}; img-src data:; base-uri 'none'; form-action 'none'"
    text = template(f"{name}.html.j2").render(csp=rules, style=Markup(sheet), page=content)
    with replacing(path) as file:
        file.write(str(text).encode("utf-8", "xmlcharrefreplace"))
    return Path(path)


def bundle(entry: str, read: Callable[[str], str]) -> str:
    """Return a module and all it needs as one script; ``read`` gives the text of a module by its name."""
    order = _order(entry, read, (), {})
    owners: dict[str, str] = {}
    exported = {name: _names(name, text, owners) for name, text in order.items()}
    for name, text in order.items():
        for wanted, source in _imports(text):
            if missing := sorted(wanted - exported[source]):
                raise ValueError(f"{name}.js imports {', '.join(missing)}, which {source}.js does not export.")
    parts = (_strip(name, text) for name, text in order.items())
    return '"use strict";\n(() => {\n' + "\n".join(parts) + "\n})();\n"


def _order(name: str, read: Callable[[str], str], path: tuple[str, ...], known: dict[str, str]) -> dict[str, str]:
    """Texts by name, every module after those it imports from."""
    if name in path:
        circle = " -> ".join(f"{each}.js" for each in (*path[path.index(name) :], name))
        raise ValueError(f"Modules import each other in a circle: {circle}.")
    if name not in known:
        text = read(name)
        for _, source in _imports(text):
            _order(source, read, (*path, name), known)
        known[name] = text
    return known


def _imports(text: str) -> list[tuple[set[str], str]]:
    """Names imported, with the module they come from."""
    found = _IMPORT.findall(text)
    return [({each.strip() for each in names.split(",")} - {""}, source) for names, source in found]


def _names(name: str, text: str, owners: dict[str, str]) -> set[str]:
    """Return what a module exports, and note all its names: in one function they must differ."""
    exported = set()
    for export, declared in _DECLARED.findall(text):
        if declared in owners:
            raise ValueError(f"{owners[declared]}.js and {name}.js both declare {declared}: rename one of them.")
        owners[declared] = name
        if export:
            exported.add(declared)
    return exported


def _strip(name: str, text: str) -> str:
    """Return a module without its imports, the word export, comments of their own lines, types and indentation."""
    bare = _EXPORT.sub("", _TYPES.sub("", _IMPORT.sub("", text)))
    if other := _OTHER.search(bare):
        raise ValueError(
            f"{name}.js: cannot bundle {other[0]!r}. Import names in braces from a file beside it, and write "
            "export before a function, class, const or let of one name."
        )
    return _INDENT.sub("", _COMMENT.sub("", bare))
