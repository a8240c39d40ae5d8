"""What the package promises by name: nothing appears or goes unnoticed, and everything is explained."""

from __future__ import annotations

import importlib.metadata
import inspect
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import bayesieve as bs

PUBLIC = [
    "BayesieveError",
    "BayesieveWarning",
    "CalibrationWarning",
    "CallablePrior",
    "CategoricalModel",
    "CategoryCounts",
    "ConsistencyReport",
    "CountDistribution",
    "CountLaw",
    "DataError",
    "DataWarning",
    "DegenerateFeatureError",
    "DegenerateFeatureWarning",
    "Effects",
    "ErrorAnalysis",
    "EventTotals",
    "ExpectedROC",
    "FalseDiscovery",
    "FeaturePosterior",
    "FeatureScores",
    "FeatureSet",
    "FileError",
    "FixedSize",
    "Fragility",
    "GaussianModel",
    "GeneMap",
    "IsingPrior",
    "Kinds",
    "LabelError",
    "Loss",
    "MethodComparison",
    "MinimalRisk",
    "MissingExtraError",
    "MissingValueError",
    "Model",
    "Moments",
    "MostProbable",
    "NegativeBinomialModel",
    "NeymanPearson",
    "NormalInverseGamma",
    "OBFSelector",
    "OptionError",
    "Patterns",
    "PermutationNull",
    "PoissonBinomial",
    "PoissonModel",
    "PriorError",
    "PriorWarning",
    "ProductPrior",
    "Rival",
    "RuleError",
    "Selection",
    "SetPosterior",
    "SetPrior",
    "SetTable",
    "SiteStatistics",
    "SizePosterior",
    "SizePrior",
    "StatisticsSet",
    "StoredResult",
    "compare_methods",
    "consistency_report",
    "effects",
    "enrich",
    "enumerate_sets",
    "expected_by_chance",
    "expected_roc",
    "expected_under_null",
    "fragility",
    "kinds",
    "known_markers",
    "log_evidence",
    "merge_statistics",
    "pearson_neyman",
    "permutations",
    "read_gene_map",
    "read_gene_sets",
    "read_result",
    "read_statistics",
    "read_table",
    "score",
    "screen",
    "screen_with_known",
    "size_factors",
    "with_size_prior",
    "write_result",
    "write_statistics",
]


def explained():
    """Yield every public function and class, and the public methods that a class defines itself."""
    for name in PUBLIC:
        thing = getattr(bs, name)
        yield name, thing
        for method, value in vars(thing).items() if inspect.isclass(thing) else ():
            plain = getattr(value, "__func__", value)
            if not method.startswith("_") and inspect.isfunction(plain):
                yield f"{name}.{method}", plain


FORMER = {"CountLaw": "CountDistribution", "expected_by_chance": "expected_under_null"}


def run_python(code):
    """Return what the code prints as JSON, run by a fresh interpreter on the package under test."""
    environment = {**os.environ, "PYTHONPATH": str(Path(bs.__file__).parents[1])}
    command = [sys.executable, "-c", code]
    result = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60, env=environment)
    return json.loads(result.stdout)


def test_the_list_of_public_names():
    assert sorted(set(PUBLIC)) == PUBLIC
    assert set(bs.__all__) < set(PUBLIC)
    assert len(bs.__all__) <= 35, "the top of the package is for what most people need; rooms hold the rest"
    for name in PUBLIC:
        assert getattr(bs, name).__module__.startswith("bayesieve.")
        assert getattr(bs, name).__name__ == FORMER.get(name, name)


def test_former_names_mean_the_same():
    for name, now in FORMER.items():
        assert getattr(bs, name) is getattr(bs, now)
    assert bs.Selection.expected_by_chance is bs.Selection.expected_under_null
    null = bs.PermutationNull
    assert null.expected_by_chance is null.expected_under_null
    assert null.chance_interval is null.null_interval


def test_rooms_are_reached_by_their_name():
    rooms = ("enrichment", "errors", "report", "rivals", "sets", "simulation", "study")
    found = run_python(
        f"import bayesieve as bs, json; print(json.dumps([getattr(bs, r).__name__ for r in {rooms}]))"
    )
    assert found == [f"bayesieve.{room}" for room in rooms]


def test_public_names_have_examples():
    """Errors and warnings are explained by their one line."""
    plain = [
        name
        for name, thing in explained()
        if not (inspect.isclass(thing) and issubclass(thing, Exception))
        and "\nExamples\n--------\n" not in (inspect.getdoc(thing) or "")
    ]
    assert plain == []
    assert all(inspect.getdoc(thing) for _, thing in explained())


def test_properties_are_documented():
    bare = [
        f"{name}.{key}"
        for name in PUBLIC
        if inspect.isclass(getattr(bs, name))
        for key, value in vars(getattr(bs, name)).items()
        if isinstance(value, property) and key[0] != "_" and not value.__doc__
    ]
    assert bare == []


def test_the_walk_over_methods_finds_them():
    """A guard of the guard."""
    names = [name for name, _ in explained()]
    for name in ("Moments.merge", "Moments.from_matrix", "OBFSelector.partial_fit", "Selection.summary"):
        assert name in names
    assert "Selection.risk" not in names  # inherited
    assert "Selection.names" not in names  # a property


def test_importing_the_package_imports_nothing_heavy():
    heavy = ["numpy", "scipy", "sklearn", "pandas", "polars", "numba", "rich", "typer"]
    loaded = run_python(
        f"import bayesieve, sys, json; print(json.dumps([m for m in {heavy} if m in sys.modules]))"
    )
    assert loaded == []


def test_screening_arrays_imports_neither_frames_nor_scikit_learn():
    code = (
        "import bayesieve as bs, sys, json; "
        "bs.screen([[0.1], [-0.4], [0.3], [6.8]], [0, 0, 1, 1], model=bs.GaussianModel.proper()); "
        "print(json.dumps([m for m in ['pandas', 'polars', 'sklearn'] if m in sys.modules]))"
    )
    assert run_python(code) == []


def test_dir_lists_every_public_name_before_it_is_loaded():
    listed = run_python("import bayesieve, json; print(json.dumps(dir(bayesieve)))")
    assert set(PUBLIC) <= set(listed)


def test_names_are_loaded_once():
    assert bs.screen is bs.screen
    assert "screen" in vars(bs)


def test_star_import():
    names = run_python(
        "from bayesieve import *; import json; print(json.dumps(sorted(k for k in dir() if k[0] != '_')))"
    )
    assert set(bs.__all__) <= set(names)


def test_unknown_names():
    with pytest.raises(AttributeError, match="scren"):
        _ = bs.scren
    assert not hasattr(bs, "sklearn")


def test_version():
    assert importlib.metadata.version("bayesieve") == bs.__version__
