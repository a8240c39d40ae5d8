"""Which names the reference has: those of the package by what they are for, and those of its rooms."""

from __future__ import annotations

import ast
import importlib
from pathlib import Path
from typing import Any

import bayesieve

SOURCE = Path(bayesieve.__file__).parent

GROUPS: dict[str, tuple[str, ...]] = {  # names of the package by what they are for
    "Screening": (
        "screen", "screen_groups", "screen_contrasts", "screen_pairs", "screen_with_known", "permutations",
        "OBFSelector",
    ),
    "Results": (
        "FeaturePosterior", "Selection", "GroupMarkers", "GroupSelection", "PairScreen", "PermutationNull",
        "Check", "Checks",
    ),
    "Selection rules": (
        "Rule", "MinimalRisk", "FixedSize", "NeymanPearson", "FalseDiscovery", "MostProbable", "Loss",
    ),
    "Findings": (
        "kinds", "Kinds", "effects", "Effects", "fragility", "Fragility", "Finding",
    ),
    "Expected errors": (
        "ErrorAnalysis", "ExpectedROC", "expected_roc", "expected_by_chance", "expected_under_null",
        "CountDistribution", "CountLaw", "PoissonBinomial", "ConsistencyReport", "consistency_report",
    ),
    "Models and priors": (
        "Model", "CalibratedModel", "GaussianModel", "NormalInverseGamma", "log_evidence", "PoissonModel",
        "NegativeBinomialModel", "CategoricalModel", "MixedModel", "Patterns",
    ),
    "Reading and writing": (
        "read_table", "Summary", "read_result", "StoredResult", "write_result", "read_contrasts", "Contrast",
        "read_gene_map", "GeneMap", "read_gene_sets",
    ),
    "Values and labels": (
        "LabelledMatrix", "aggregate", "normalise", "size_factors", "transform",
    ),
    "Statistics of sites": (
        "Moments", "CategoryCounts", "EventTotals", "SiteStatistics", "StatisticsSet", "merge_statistics",
        "read_statistics", "write_statistics", "aggregated_statistics", "tidy_statistics",
    ),
    "Planning": (
        "plan", "Plan", "StatedEffects",
    ),
    "Other methods and gene sets": (
        "score", "compare_methods", "MethodComparison", "FeatureScores", "Rival", "pearson_neyman", "enrich",
    ),
    "Sets of features": (
        "known_markers", "with_size_prior", "SizePrior", "SizePosterior", "enumerate_sets", "SetPosterior",
        "FeatureSet", "SetPrior", "ProductPrior", "IsingPrior", "SetTable", "CallablePrior",
    ),
    "Errors and warnings": (
        "BayesieveError", "DataError", "DegenerateFeatureError", "FileError", "LabelError", "MissingExtraError",
        "MissingValueError", "OptionError", "PriorError", "RuleError", "BayesieveWarning", "CalibrationWarning",
        "DataWarning", "DegenerateFeatureWarning", "PriorWarning",
    ),
}  # fmt: skip


def names_of_face(room: str = "") -> tuple[list[str], list[str]]:
    """Return what a room (the package itself if none is named) exports: its own names, and rooms below it."""
    face = SOURCE.joinpath(*room.split(".")) / "__init__.pyi"
    if not face.exists():
        module = importlib.import_module(f"bayesieve.{room}")
        return sorted(getattr(module, "__all__", None) or _own_names(module)), []
    names, rooms = [], []
    for statement in ast.parse(face.read_text(encoding="utf-8")).body:
        if isinstance(statement, ast.ImportFrom):
            (rooms if statement.module is None else names).extend(alias.name for alias in statement.names)
    return names, rooms


def _own_names(module: Any) -> list[str]:
    return [
        n for n, v in vars(module).items() if n[0] != "_" and getattr(v, "__module__", None) == module.__name__
    ]


def rooms() -> list[str]:
    """Return all public rooms, those inside rooms included."""
    found = []
    for room in names_of_face()[1]:
        found += [room, *(f"{room}.{inner}" for inner in names_of_face(room)[1])]
    return found


def file_name(title: str) -> str:
    return "_" + title.casefold().replace(" ", "-")


def menus() -> str:
    """Return the menus of the page about Python: what names are for, and the rooms."""
    groups = "\n".join(f"{title} </reference/api/{file_name(title)}>" for title in GROUPS)
    inner = "\n".join(f"bayesieve.{room} </reference/api/room-{room}>" for room in rooms())
    return "".join(
        f"\n\n## {title}\n\n```{{toctree}}\n:maxdepth: {depth}\n:includehidden:\n\n{entries}\n```\n"
        for title, depth, entries in (("By purpose", 2, groups), ("By room", 1, inner))
    )
