"""The house in numbers: modules, lines, import edges, cycles and broken rules, by room.

Run: python benchmarks/house.py [FOLDER OF THE PACKAGE]

An edge is an import of one module by another at run time, also one inside a function; imports for type checkers
do not count, nor does a module's own package.
"""

from __future__ import annotations

import ast
import sys
from collections import Counter
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[1] / "src" / "bayesieve"
PRIVATE_NUMBA = ("numba.core.caching", "numba.core.runtime", "numba.core.dispatcher", "numba.core.typing")
TEXT_METHODS = {
    "replace",
    "split",
    "partition",
    "rpartition",
    "find",
    "index",
    "startswith",
    "endswith",
    "removeprefix",
}


@dataclass
class Module:
    """One file: its syntax tree and what follows from it."""

    name: str
    path: Path
    source: str = field(repr=False)

    @cached_property
    def tree(self) -> ast.Module:
        """The syntax tree."""
        return ast.parse(self.source)

    @property
    def room(self) -> str:
        """The folder below the package."""
        return self.name.split(".")[1] if "." in self.name else "(top)"

    @property
    def n_lines(self) -> int:
        """All lines."""
        return len(self.source.splitlines())

    @cached_property
    def n_code_lines(self) -> int:
        """Lines that are neither blank nor a comment nor part of a docstring."""
        prose: set[int] = set()
        for node in ast.walk(self.tree):
            if (
                isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef))
                and ast.get_docstring(node) is not None
            ):
                first = node.body[0]
                prose |= set(range(first.lineno, (first.end_lineno or first.lineno) + 1))
        lines = enumerate(self.source.splitlines(), 1)
        return sum(bool(line.strip()) and line.strip()[0] != "#" and i not in prose for i, line in lines)

    @cached_property
    def imported(self) -> set[str]:
        """Everything imported at run time, modules and names alike."""
        typing_only = {
            id(inner)
            for node in ast.walk(self.tree)
            if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test)
            for inner in ast.walk(node)
        }
        found: set[str] = set()
        for node in ast.walk(self.tree):
            if id(node) in typing_only:
                continue
            if isinstance(node, ast.ImportFrom) and node.module and not node.level:
                found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
            elif isinstance(node, ast.Import):
                found |= {alias.name for alias in node.names}
        return found

    def rewritten_messages(self) -> list[int]:
        """Lines where the text of an error is taken apart or replaced."""
        lines = []
        for handler in ast.walk(self.tree):
            if not isinstance(handler, ast.ExceptHandler) or handler.name is None:
                continue
            for node in ast.walk(handler):
                method = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr
                if method in TEXT_METHODS and ast.unparse(node.func.value) == f"str({handler.name})":
                    lines.append(node.lineno)
        return lines


class House:
    """All modules of a package and the imports between them."""

    def __init__(self, package: Path = PACKAGE) -> None:
        self.modules: dict[str, Module] = {}
        for path in sorted(package.rglob("*.py")):
            name = ".".join(path.relative_to(package.parent).with_suffix("").parts).removesuffix(".__init__")
            self.modules[name] = Module(name, path, path.read_text(encoding="utf-8"))

    @cached_property
    def edges(self) -> dict[str, set[str]]:
        """What each module imports."""
        return {
            name: {
                other
                for other in module.imported
                if other in self.modules and other != name and not name.startswith(f"{other}.")
            }
            for name, module in self.modules.items()
        }

    @cached_property
    def importers(self) -> dict[str, set[str]]:
        """Who imports each module."""
        return {name: {other for other in self.edges if name in self.edges[other]} for name in self.modules}

    def cycles(self) -> list[list[str]]:
        """Groups of modules that reach each other."""

        def reached(name: str) -> set[str]:
            seen: set[str] = set()
            waiting = list(self.edges[name])
            while waiting:
                other = waiting.pop()
                if other not in seen:
                    seen.add(other)
                    waiting += self.edges[other]
            return seen

        reach = {name: reached(name) for name in self.modules}
        rings = {frozenset(b for b in reach[a] if a in reach[b]) for a in self.modules if a in reach[a]}
        return sorted(sorted(ring) for ring in rings)

    def own_faces(self) -> list[str]:
        """Modules that import from their own room's face: they would close a ring when loaded."""
        return [
            f"{name} imports {package}"
            for name, module in self.modules.items()
            for package in self.modules
            if package.count(".") and name.startswith(f"{package}.") and self._names_from(module, package)
        ]

    def _names_from(self, module: Module, package: str) -> list[str]:
        return [
            alias.name
            for node in ast.walk(module.tree)
            if isinstance(node, ast.ImportFrom) and node.module == package
            for alias in node.names
            if f"{package}.{alias.name}" not in self.modules
        ]

    def private_numba(self) -> list[str]:
        """Modules that reach below the documented interface of numba."""
        return [
            name
            for name, module in self.modules.items()
            if any(each.startswith(PRIVATE_NUMBA) for each in module.imported) or "._cache" in module.source
        ]


def main() -> None:
    house = House(Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else PACKAGE)
    modules, edges = house.modules.values(), house.edges
    print(
        f"{'room':12} {'modules':>7} {'lines':>7} {'code':>7} {'edges':>6} {'per module':>10} {'one importer':>12}"
    )
    rooms = Counter(module.room for module in modules)
    for room in [*sorted(rooms), "all"]:
        inside = [module for module in modules if room in (module.room, "all")]
        n_edges = sum(len(edges[module.name]) for module in inside)
        single = sum(len(house.importers[module.name]) == 1 for module in inside)
        lines, code = sum(m.n_lines for m in inside), sum(m.n_code_lines for m in inside)
        mean = n_edges / len(inside)
        print(f"{room:12} {len(inside):7} {lines:7,} {code:7,} {n_edges:6,} {mean:10.1f} {single:12}")
    print(f"\ncycles at run time: {len(house.cycles())}")
    for ring in house.cycles():
        print("   " + ", ".join(ring))
    over = sum(module.n_code_lines > 300 or module.n_lines > 600 for module in modules)
    print(f"modules over 300 lines of code or 600 in all: {over}")
    print(f"uses of numba's private interface: {len(house.private_numba())}")
    print(f"messages taken apart or replaced: {sum(len(m.rewritten_messages()) for m in modules)}")


if __name__ == "__main__":
    main()
