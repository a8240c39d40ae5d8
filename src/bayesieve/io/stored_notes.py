"""Notes of a result, each stored with the kind of finding that it is about."""

from __future__ import annotations

from typing import Any

from bayesieve.posterior.block_evidence import BlockEvidence
from bayesieve.posterior.finding import Finding
from bayesieve.posterior.fragility import Fragility


def note_kind(finding: Finding) -> str:
    """Return under which kind the notes of a finding are stored.

    Examples
    --------
    >>> from bayesieve.io.stored_notes import note_kind
    >>> from bayesieve.posterior.finding import Remark
    >>> note_kind(Remark(("20 pairs.",)))
    'other'
    """
    if isinstance(finding, Fragility):
        return "fragility"
    return "blocks" if isinstance(finding, BlockEvidence) else "other"


def stored_notes(said: Any) -> dict[str, list[str]]:
    """Return notes by kind; notes without one are of no certain kind.

    Examples
    --------
    >>> from bayesieve.io.stored_notes import stored_notes
    >>> stored_notes([{"kind": "blocks", "text": "3 blocks."}, "Something else."])["other"]
    ['Something else.']
    """
    found: dict[str, list[str]] = {"fragility": [], "blocks": [], "other": []}
    for note in said if isinstance(said, list) else ():
        kind, text = (note.get("kind"), note.get("text")) if isinstance(note, dict) else ("other", note)
        if isinstance(text, str):
            found[kind if kind in found else "other"].append(text)
    return found
