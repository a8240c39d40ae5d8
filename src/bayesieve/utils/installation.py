"""How this copy of bayesieve was installed, and how more of it is installed in the same way."""

from __future__ import annotations

import importlib.metadata
import json
from typing import Any
from urllib.parse import unquote, urlparse
from urllib.request import url2pathname


def install_command(extra: str = "") -> str:
    """Return the command that adds an extra to this copy: from the index, a folder, a repository or an archive."""
    return f"python -m pip install {_requirement(_origin(), f'[{extra}]' if extra else '')}"


def _origin() -> dict[str, Any]:
    """What pip noted about a copy that did not come from an index (PEP 610); empty otherwise."""
    try:
        text = importlib.metadata.distribution("bayesieve").read_text("direct_url.json")
        found = json.loads(text) if text else {}
    except (importlib.metadata.PackageNotFoundError, OSError, ValueError):
        return {}
    return found if isinstance(found, dict) and isinstance(found.get("url"), str) else {}


def _requirement(origin: dict[str, Any], extra: str) -> str:
    url = origin.get("url", "")
    if not url:
        return f'"bayesieve{extra}"'
    if "dir_info" in origin:
        path = url2pathname(unquote(urlparse(url).path))
        return f'{"-e " if origin["dir_info"].get("editable") else ""}"{path}{extra}"'
    if "vcs_info" in origin:
        vcs = origin["vcs_info"]
        wanted = vcs.get("requested_revision") or vcs.get("commit_id")
        return f'"bayesieve{extra} @ {vcs.get("vcs", "git")}+{url}{"@" + wanted if wanted else ""}"'
    return f'"bayesieve{extra} @ {url}"'
