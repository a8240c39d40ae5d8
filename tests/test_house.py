"""The rules of the house (CONTRIBUTING.md), held against the source: sizes, imports, examples, messages."""

from __future__ import annotations

import ast
import importlib.util
import inspect
import re
import sys
from pathlib import Path

import pytest

import bayesieve as bs

ROOT = Path(__file__).resolve().parents[1]
NAMED = {  # one importer in their own room, but a concept with a name of their own
    "bayesieve.distributed.block_table",  # imports Dask, which sums may not do when it is loaded
    "bayesieve.distributed.running",  # the same
    "bayesieve.stats.adjusted_moments",
    "bayesieve.selection.count_test",
    "bayesieve.selection.false_positives",
    "bayesieve.cli.check",
    "bayesieve.cli.plan_options",
    "bayesieve.cli.stats",
    "bayesieve.data.design",
    "bayesieve.io.moment_tables",
    "bayesieve.planning.page",
    "bayesieve.report.page",
    "bayesieve.screening.checks.chance",
    "bayesieve.screening.checks.confounding",
    "bayesieve.screening.checks.floors",
    "bayesieve.screening.checks.leak",
    "bayesieve.screening.checks.one_sample",
    "bayesieve.screening.checks.sample_columns",
    "bayesieve.screening.checks.shape",
    "bayesieve.simulation.prior_design",
    "bayesieve.simulation.shapes",
    "bayesieve.simulation.variants",
    "bayesieve.study.colon.figures",
    "bayesieve.study.runner",
    "bayesieve.utils.checks",
    "bayesieve.utils.installation",
    "bayesieve.utils.messages",
}

pytestmark = pytest.mark.skipif(not (ROOT / "benchmarks").is_dir(), reason="a source archive holds no benchmarks")


@pytest.fixture(scope="module")
def measure():
    spec = importlib.util.spec_from_file_location("house", ROOT / "benchmarks" / "house.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules["house"] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def house(measure):
    return measure.House(Path(bs.__file__).parent)


def test_modules_have_a_readable_size(house):
    long = {
        name: (module.n_code_lines, module.n_lines)
        for name, module in house.modules.items()
        if module.n_code_lines > 300 or module.n_lines > 600
    }
    assert long == {}


def test_nothing_imports_in_a_ring(house):
    assert house.cycles() == []
    assert house.own_faces() == []


def test_a_module_with_one_importer_lives_with_it(house):
    """Unless it is a concept with a name, or both together would be too long to read."""
    apart = []
    for name, importers in house.importers.items():
        (importer,) = importers if len(importers) == 1 else (None,)
        if importer is None or name.rpartition(".")[0] != importer.rpartition(".")[0] or name in NAMED:
            continue
        both = house.modules[name], house.modules[importer]
        if sum(m.n_code_lines for m in both) <= 250 and sum(m.n_lines for m in both) <= 500:
            apart.append(f"{name} is imported by {importer} alone")
    assert apart == []


def test_kernels_use_the_public_interface_of_numba(house):
    assert house.private_numba() == []


def test_no_code_takes_a_message_apart(house):
    assert {name: lines for name, module in house.modules.items() if (lines := module.rewritten_messages())} == {}


def test_a_rewritten_message_is_found(measure, tmp_path):
    """A guard of the guard."""
    source = "try:\n    f()\nexcept ValueError as error:\n    raise TypeError(str(error).replace('a', 'b'))\n"
    assert measure.Module("m", tmp_path, source).rewritten_messages() == [4]


def public_places():
    """Every public function, class and method, as (module, qualified name)."""
    rooms = [
        bs,
        bs.enrichment,
        bs.report,
        bs.report.figures,
        bs.rivals,
        bs.sets,
        bs.simulation,
        bs.study,
        bs.errors,
        bs.tl,
    ]
    for room in rooms:
        for name in dir(room):
            thing = getattr(room, name)
            if inspect.isclass(thing) or inspect.isfunction(thing):
                yield thing.__module__, thing.__qualname__
            for base in thing.__mro__ if inspect.isclass(thing) else ():
                yield from ((base.__module__, f"{base.__qualname__}.{key}") for key in vars(base))


def test_examples_stand_in_the_docstrings_of_public_names_only(house):
    public, found = set(public_places()), []

    def look(module, node, inside):
        for child in node.body:
            if isinstance(child, (ast.FunctionDef, ast.ClassDef)):
                name = f"{inside}{child.name}"
                if "\nExamples\n--------" in (ast.get_docstring(child) or "") and (module, name) not in public:
                    found.append(f"{module}: {name}")
                look(module, child, f"{name}.")

    for name, module in house.modules.items():
        look(name, module.tree, "")
    assert found == []


@pytest.mark.skipif(not (ROOT / "docs").is_dir(), reason="a source archive holds no docs")
def test_every_step_of_the_architecture_page_is_where_it_says(house):
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    steps = re.findall(r"^\| \d+ \| `([\w/]+)\.py` \| `(\w+)` \|", page, flags=re.MULTILINE)
    assert 20 <= len(steps) <= 25
    for module, name in steps:
        tree = house.modules["bayesieve." + module.replace("/", ".")].tree
        defined = {node.name for node in tree.body if isinstance(node, (ast.FunctionDef, ast.ClassDef))}
        assert name in defined, f"{module}.py does not define {name}"
