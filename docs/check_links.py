"""Check every link of the built site: ``python docs/check_links.py [FOLDER]``.

A link to a page or file of the site must lead somewhere, its anchor included. There is no network: of addresses
elsewhere only the form is checked. Pictures, scripts, styles and fonts must be files of the site.
"""

from __future__ import annotations

import re
import sys
from collections import defaultdict
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

DOCS = Path(__file__).resolve().parent
_FETCHED = {
    "img": "src",
    "script": "src",
    "link": "href",
    "source": "src",
    "iframe": "src",
    "audio": "src",
    "video": "src",
}
_KEPT_LINKS = ("canonical", "prev", "next", "search", "index", "author")  # of link: not fetched
_IN_STYLE = re.compile(r"(?:url\(|@import\s+)['\"]?([^'\")\s;]+)")
_HOST = re.compile(r"[a-z0-9.-]+\.[a-z]{2,}(:\d+)?")


class Page(HTMLParser):
    """What a page links to, what it fetches, and which anchors it has."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.links: list[str] = []
        self.fetched: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note links and anchors."""
        found = {name: value or "" for name, value in attrs}
        self.anchors.update(found[name] for name in ("id", "name") if found.get(name))
        if tag == "a" and "href" in found:
            self.links.append(found["href"])
        address = found.get(_FETCHED.get(tag, ""), "")
        if address and found.get("rel") not in _KEPT_LINKS:
            self.fetched.append(address)


def problem(address: str, fetched: bool, at: Path, pages: dict[Path, Page]) -> str | None:
    """Return what is wrong with an address on the page ``at``, or None."""
    parts = urlsplit(address)
    if parts.scheme in ("mailto", "data"):
        return None
    if parts.scheme or parts.netloc:
        if fetched:
            return "is fetched from elsewhere"
        return None if parts.scheme in ("http", "https") and _HOST.fullmatch(parts.netloc) else "is no address"
    target = (at.parent / unquote(parts.path)).resolve() if parts.path else at
    if not target.is_file():
        return "leads to no file"
    anchor = unquote(parts.fragment)
    return "leads to no anchor" if anchor and target in pages and anchor not in pages[target].anchors else None


def check(folder: Path) -> list[str]:
    """Return a line for everything that is wrong, each address once with the pages that have it."""
    pages = {
        path.resolve(): Page(path.read_text(encoding="utf-8"))
        for path in folder.rglob("*.html")
        if "_static" not in path.parts
    }
    found: dict[str, list[str]] = defaultdict(list)
    for at, page in pages.items():
        for fetched, addresses in ((False, page.links), (True, page.fetched)):
            for address in set(addresses):
                said = problem(address, fetched, at, pages)
                if said is not None:
                    found[f"{address} {said}"].append(str(at.relative_to(folder.resolve())))
    for style in folder.rglob("*.css"):
        for address in _IN_STYLE.findall(style.read_text(encoding="utf-8")):
            said = problem(address, True, style.resolve(), {})
            if said is not None and not address.startswith("#"):
                found[f"{address} {said}"].append(str(style.relative_to(folder)))
    return [f"{said}: {', '.join(sorted(where)[:3])} ({len(where)})" for said, where in sorted(found.items())]


if __name__ == "__main__":
    wrong = check(Path(sys.argv[1] if len(sys.argv) > 1 else DOCS.parent / "build" / "site"))
    print("\n".join(wrong) or "all links lead somewhere")
    sys.exit(bool(wrong))
