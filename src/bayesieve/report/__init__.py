"""Reports: a screen as one HTML file, and its figures for print."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from bayesieve.report.writing import write

if TYPE_CHECKING:
    from bayesieve.report import figures

__all__ = ["figures", "write"]


def __getattr__(name: str) -> Any:
    if name == "figures":  # needs matplotlib, an extra
        return importlib.import_module("bayesieve.report.figures")
    raise AttributeError(f"module 'bayesieve.report' has no attribute {name!r}")
