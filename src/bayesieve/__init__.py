"""Optimal Bayesian feature filtering: find the features that differ between classes.

>>> import bayesieve as bs
>>> posterior = bs.screen([[0.1], [-0.4], [0.3], [6.8], [7.7], [8.1]], ["a"] * 3 + ["b"] * 3,
...                       model=bs.GaussianModel.proper())
>>> bs.MinimalRisk(0.5).select(posterior).names
('x0',)

Every name is loaded when it is first used, so that importing the package is quick.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

_HOMES = {
    "BayesieveError": "errors",
    "BayesieveWarning": "errors",
    "CalibrationWarning": "errors",
    "CallablePrior": "feature_sets.priors",
    "CategoricalModel": "models.categorical",
    "CategoryCounts": "stats.categories.category_counts",
    "ConsistencyReport": "posterior.consistency",
    "CountLaw": "posterior",
    "DataError": "errors",
    "DataWarning": "errors",
    "DegenerateFeatureError": "errors",
    "DegenerateFeatureWarning": "errors",
    "Effects": "posterior.findings.effects",
    "ErrorAnalysis": "posterior",
    "EventTotals": "stats.events.event_totals",
    "ExpectedROC": "posterior",
    "FalseDiscovery": "selection",
    "FeaturePosterior": "posterior",
    "FeatureScores": "rivals.feature_scores",
    "FeatureSet": "feature_sets.set_posterior",
    "FileError": "errors",
    "FixedSize": "selection",
    "Fragility": "posterior.findings.fragility",
    "GaussianModel": "models",
    "IsingPrior": "feature_sets.priors",
    "Kinds": "posterior.findings.kinds",
    "LabelError": "errors",
    "Loss": "posterior",
    "MethodComparison": "rivals.method_comparison",
    "MinimalRisk": "selection",
    "MissingExtraError": "errors",
    "MissingValueError": "errors",
    "Model": "models",
    "Moments": "stats",
    "MostProbable": "selection",
    "NegativeBinomialModel": "models.counts.negative_binomial",
    "NeymanPearson": "selection",
    "NormalInverseGamma": "models",
    "OBFSelector": "estimator",
    "OptionError": "errors",
    "Patterns": "models.patterns",
    "PermutationNull": "posterior.null.permutation_null",
    "PoissonBinomial": "posterior",
    "PoissonModel": "models.counts.poisson",
    "PriorError": "errors",
    "PriorWarning": "errors",
    "ProductPrior": "feature_sets.priors",
    "Rival": "rivals.registry",
    "RuleError": "errors",
    "Selection": "selection",
    "SetPosterior": "feature_sets.set_posterior",
    "SetPrior": "feature_sets.priors",
    "SetTable": "feature_sets.priors",
    "SiteStatistics": "stats.sites",
    "SizePosterior": "feature_sets.size_posterior",
    "SizePrior": "feature_sets.size_prior",
    "StatisticsSet": "stats.sites",
    "StoredResult": "io.results.read",
    "compare_methods": "rivals.comparison",
    "consistency_report": "posterior.consistency",
    "effects": "posterior.findings.effects",
    "enumerate_sets": "feature_sets.enumeration",
    "expected_by_chance": "posterior",
    "expected_roc": "posterior",
    "fragility": "screening.fragility",
    "kinds": "posterior.findings.kinds",
    "known_markers": "feature_sets.known",
    "log_evidence": "models",
    "merge_statistics": "stats.sites",
    "pearson_neyman": "rivals.pearson_neyman",
    "permutations": "screening.permutations",
    "read_result": "io.results.read",
    "read_statistics": "io.statistics_file",
    "read_table": "io.tables.read_table",
    "score": "rivals.registry",
    "screen": "screening",
    "screen_with_known": "feature_sets.known",
    "size_factors": "stats.events.event_totals",
    "with_size_prior": "feature_sets.size_posterior",
    "write_statistics": "io.statistics_file",
}

_ROOMS = ("report",)  # modules that are used by their own name: bayesieve.report.write(...)

__all__ = [
    "BayesieveError",
    "BayesieveWarning",
    "CalibrationWarning",
    "CallablePrior",
    "CategoricalModel",
    "CategoryCounts",
    "ConsistencyReport",
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
    "enumerate_sets",
    "expected_by_chance",
    "expected_roc",
    "fragility",
    "kinds",
    "known_markers",
    "log_evidence",
    "merge_statistics",
    "pearson_neyman",
    "permutations",
    "read_result",
    "read_statistics",
    "read_table",
    "score",
    "screen",
    "screen_with_known",
    "size_factors",
    "with_size_prior",
    "write_statistics",
]

if TYPE_CHECKING:
    from bayesieve.errors import (
        BayesieveError,
        BayesieveWarning,
        CalibrationWarning,
        DataError,
        DataWarning,
        DegenerateFeatureError,
        DegenerateFeatureWarning,
        FileError,
        LabelError,
        MissingExtraError,
        MissingValueError,
        OptionError,
        PriorError,
        PriorWarning,
        RuleError,
    )
    from bayesieve.estimator import OBFSelector
    from bayesieve.feature_sets.enumeration import enumerate_sets
    from bayesieve.feature_sets.known import known_markers, screen_with_known
    from bayesieve.feature_sets.priors import CallablePrior, IsingPrior, ProductPrior, SetPrior, SetTable
    from bayesieve.feature_sets.set_posterior import FeatureSet, SetPosterior
    from bayesieve.feature_sets.size_posterior import SizePosterior, with_size_prior
    from bayesieve.feature_sets.size_prior import SizePrior
    from bayesieve.io.results.read import StoredResult, read_result
    from bayesieve.io.statistics_file import read_statistics, write_statistics
    from bayesieve.io.tables.read_table import read_table
    from bayesieve.models import GaussianModel, Model, NormalInverseGamma, log_evidence
    from bayesieve.models.categorical import CategoricalModel
    from bayesieve.models.counts.negative_binomial import NegativeBinomialModel
    from bayesieve.models.counts.poisson import PoissonModel
    from bayesieve.models.patterns import Patterns
    from bayesieve.posterior import (
        CountLaw,
        ErrorAnalysis,
        ExpectedROC,
        FeaturePosterior,
        Loss,
        PoissonBinomial,
        expected_by_chance,
        expected_roc,
    )
    from bayesieve.posterior.consistency import ConsistencyReport, consistency_report
    from bayesieve.posterior.findings.effects import Effects, effects
    from bayesieve.posterior.findings.fragility import Fragility
    from bayesieve.posterior.findings.kinds import Kinds, kinds
    from bayesieve.posterior.null.permutation_null import PermutationNull
    from bayesieve.rivals.comparison import compare_methods
    from bayesieve.rivals.feature_scores import FeatureScores
    from bayesieve.rivals.method_comparison import MethodComparison
    from bayesieve.rivals.pearson_neyman import pearson_neyman
    from bayesieve.rivals.registry import Rival, score
    from bayesieve.screening import screen
    from bayesieve.screening.fragility import fragility
    from bayesieve.screening.permutations import permutations
    from bayesieve.selection import FalseDiscovery, FixedSize, MinimalRisk, MostProbable, NeymanPearson, Selection
    from bayesieve.stats import Moments
    from bayesieve.stats.categories.category_counts import CategoryCounts
    from bayesieve.stats.events.event_totals import EventTotals, size_factors
    from bayesieve.stats.sites import SiteStatistics, StatisticsSet, merge_statistics


def __getattr__(name: str) -> Any:
    if name in _ROOMS:
        return importlib.import_module(f"bayesieve.{name}")
    if name not in _HOMES:
        raise AttributeError(f"module 'bayesieve' has no attribute {name!r}")
    value = getattr(importlib.import_module(f"bayesieve.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES, *_ROOMS})
