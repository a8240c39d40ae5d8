"""The page: template, styles, script and payload put together into one file that asks for nothing else."""

from __future__ import annotations

import base64
import functools
import hashlib
from importlib import resources
from typing import Any

from bayesieve.report.bundle import bundle
from bayesieve.report.encoding import script_json
from bayesieve.report.payload import payload
from bayesieve.report.story import Story
from bayesieve.report.telling import page_text

STYLES = ("tokens", "base", "layout", "controls", "table", "narrow", "print")


def page(story: Story) -> bytes:
    """Return the whole page, in UTF-8.

    Parameters
    ----------
    story
        What is told.
    """
    from markupsafe import Markup  # noqa: PLC0415 - only for reports

    text = _template().render(
        csp=policy(),
        style=Markup(style()),
        script=Markup(script()),
        payload=Markup(script_json(payload(story))),
        story=page_text(story),
    )
    return str(text).encode("utf-8", "xmlcharrefreplace")  # half a surrogate pair is no character


@functools.cache
def script() -> str:
    """Return the script: the module ``main`` and all it imports, in one function."""
    return bundle("main", lambda name: _text("scripts", f"{name}.js"))


@functools.cache
def style() -> str:
    """Return the style sheet: all its files, in order."""
    return "\n".join(_text("styles", f"{name}.css") for name in STYLES)


def policy() -> str:
    """Return the content security policy: nothing but the page's own script and style, by their hashes."""
    rules = (
        "default-src 'none'",
        f"script-src {_hash(script())}",
        f"style-src {_hash(style())}",
        "img-src data:",
        "base-uri 'none'",
        "form-action 'none'",
    )
    return "; ".join(rules)


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _text(folder: str, name: str) -> str:
    found = resources.files("bayesieve.report") / folder / name
    return found.read_text(encoding="utf-8").replace("\r\n", "\n")


@functools.cache
def _template() -> Any:
    from jinja2 import Environment, FunctionLoader, StrictUndefined  # noqa: PLC0415 - only for reports

    loader = FunctionLoader(functools.partial(_text, "templates"))
    environment = Environment(
        loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    return environment.get_template("report.html.j2")
