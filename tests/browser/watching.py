"""An eye on what a page does that a report must not do."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Page

WATCH = """window.refusedByPolicy = [];
document.addEventListener("securitypolicyviolation", (event) => {
  window.refusedByPolicy.push(`${event.violatedDirective} ${event.blockedURI} ${event.sample}`);
});"""


class Watch:
    """What a page did that a report must not do."""

    def __init__(self, page: Page, path: Path) -> None:
        self.page = page
        self.problems: list[str] = []
        own = path.resolve().as_uri()  # of a folder: all that is in it
        page.add_init_script(WATCH)
        page.on("console", lambda said: self._said(said.type, said.text))
        page.on("pageerror", lambda error: self.problems.append(f"thrown: {error}"))
        page.on("request", lambda request: self._asked(request.url, own))
        page.on("dialog", self._dialog)

    def _said(self, kind: str, text: str) -> None:
        if kind in ("error", "warning", "assert"):
            self.problems.append(f"console {kind}: {text}")

    def _asked(self, url: str, own: str) -> None:
        if url.partition("#")[0] != own and not url.startswith((f"{own}/", "data:,", "blob:")):
            self.problems.append(f"request: {url[:200]}")

    def _dialog(self, dialog: Any) -> None:
        self.problems.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    def found(self) -> list[str]:
        """Return all that went wrong so far."""
        refused = [] if self.page.is_closed() else self.page.evaluate("window.refusedByPolicy")
        return [*self.problems, *(f"refused by the policy: {what}" for what in refused)]
