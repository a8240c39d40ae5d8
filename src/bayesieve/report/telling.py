"""What the template tells: every text of the page, ready to be shown."""

from __future__ import annotations

import importlib.metadata
import json
import platform
import shlex
from dataclasses import dataclass
from typing import Any

from bayesieve import __version__
from bayesieve.report.method import CITATION, method
from bayesieve.report.story import Story
from bayesieve.report.words import facts, figures_of_merit, headline, warnings_said
from bayesieve.selection.results_hash import results_hash
from bayesieve.stats import Moments

_ROWS = 50
_PACKAGES = ("numpy", "scipy", "numba")


@dataclass(frozen=True, slots=True)
class Told:
    """Texts of the page; see the head of the template.

    Examples
    --------
    >>> import bayesieve as bs
    >>> from bayesieve.report.story import Story
    >>> from bayesieve.report.telling import told
    >>> texts = told(Story.of(bs.screen([[0.1], [0.4], [0.3], [0.8], [0.6]] * 2, [0, 1] * 5), title="Practice"))
    >>> texts.title, texts.top[0]["feature"]
    ('Practice', 'x0')
    """

    title: str
    subtitle: str
    created: str
    headline: list[str]
    facts: list[tuple[str, str]]
    figures_of_merit: dict[str, str]
    warnings: list[dict[str, str]]
    method: list[dict[str, Any]]
    audit: list[tuple[str, str]]
    manifest: str
    command: str
    citation: str
    top: list[dict[str, str]]
    has_sites: bool
    has_values: bool
    has_effect: bool
    is_count_like: bool


def told(story: Story) -> Told:
    """Write all texts of a story.

    Examples
    --------
    >>> import bayesieve as bs
    >>> from bayesieve.report.story import Story
    >>> from bayesieve.report.telling import told
    >>> told(Story.of(bs.screen([[0.1], [0.4], [0.3], [0.8], [0.6]] * 2, [0, 1] * 5))).has_values
    False
    """
    return Told(
        title=story.title,
        subtitle=story.subtitle or (story.described[0] if story.described else ""),
        created=story.created,
        headline=headline(story),
        facts=facts(story),
        figures_of_merit=figures_of_merit(story),
        warnings=warnings_said(story),
        method=method(story),
        audit=audit(story),
        manifest=json.dumps(story.manifest, indent=1, ensure_ascii=False, default=str) if story.manifest else "",
        command=shlex.join(story.commands.run),
        citation=CITATION,
        top=_top(story),
        has_sites=story.sites is not None,
        has_values=story.values is not None,
        has_effect=story.effect is not None,
        is_count_like=not isinstance(story.posterior.statistics, Moments),
    )


def audit(story: Story) -> list[tuple[str, str]]:
    """Return what a repetition needs: versions, hashes, date.

    Examples
    --------
    >>> import bayesieve as bs
    >>> from bayesieve.report.story import Story
    >>> from bayesieve.report.telling import audit
    >>> audit(Story.of(bs.screen([[0.1], [0.4], [0.3], [0.8], [0.6]] * 2, [0, 1] * 5)))[0][0]
    'Written'
    """
    found = [
        ("Written", story.created),
        ("bayesieve", __version__),
        ("Python", platform.python_version()),
        *((name, importlib.metadata.version(name)) for name in _PACKAGES),
        ("Hash of the results (SHA-256)", results_hash(story.selection)),
    ]
    found += [
        (f"Input {given.get('path', '')}", f"{given.get('bytes', 0):,} bytes, SHA-256 {given.get('sha256', '')}")
        for given in story.manifest.get("inputs", [])
    ]
    if "settings_hash" in story.manifest:
        found.append(("Hash of the settings (SHA-256)", str(story.manifest["settings_hash"])))
    return found


def _probability(value: float) -> str:
    """Four places that never pretend to be certain, as on the page."""
    return ">0.9999" if value > 0.9999 else "<0.0001" if value < 0.0001 else f"{value:.4f}"


def _top(story: Story) -> list[dict[str, str]]:
    """The first rows of the table, for readers without script."""
    few = story.posterior.take(story.posterior.ranking[:_ROWS])
    listed = story.selection.n_selected
    return [
        {
            "rank": f"{k + 1:,}",
            "feature": name,
            "log_odds": f"{log_odds:.2f}",
            "probability": _probability(probability),
            "in_the_list": "yes" if k < listed else "",
        }
        for k, (name, log_odds, probability) in enumerate(
            zip(few.names, few.log_odds.tolist(), few.probability.tolist(), strict=True)
        )
    ]
